/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the instruction words of a function's scopes, which are its blocks and inlined calls.
 *
 * DWARF 2 gives a scope a single range of labels. In optimised code the range also contains code that is not in the
 * scope, for example the caller's code between the copies of an inlined call in an unrolled loop. If such code counted as code of
 * the call, debuggers would not find the caller's variables there, because they search only the scopes up to the inlined
 * function. So the range determines the scope of a word only if there is no better information:
 *
 *  - The comment after a .loc with the inlined calls of its code (ptx_dump_calls.c) determines the inlined call.
 *  - The source lines from a block's first declaration to the block's end determine whether the block contains a line. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_CALLS = 100 };

/* ---- ranges of labels -------------------------------------------------------------------------- */

static bool is_scope(const struct ptx_die *die)
{
    return die->tag == ISA_TAG_BLOCK || die->tag == ISA_TAG_INLINED;
}

static void mark_scope(struct ptx_placing *pl, uint32_t index)
{
    const struct ptx_value *low = ptx_debug_value(pl->debug, index, ISA_AT_LOW_PC);
    const struct ptx_value *high = ptx_debug_value(pl->debug, index, 0x12);
    const struct ptx_value *ranges = ptx_debug_value(pl->debug, index, ISA_AT_RANGES);
    const struct ptx_section *section = pl->debug->ranges;
    uint32_t from, to;
    uint64_t at;

    if (low != NULL && high != NULL && ptx_debug_line_of(pl, low->fixup, &from) && ptx_debug_line_of(pl, high->fixup, &to))
        ptx_debug_mark_lines(pl, from, to);
    if (ranges != NULL && ranges->fixup != NULL &&
        ptx_debug_target(section, ranges->fixup, &at)) {
        for (; at + 16 <= section->bytes.count && ptx_spend(pl, 1); at += 16) {
            const struct ptx_fixup *a = ptx_debug_fixup(section, (uint32_t)at);
            const struct ptx_fixup *b = ptx_debug_fixup(section, (uint32_t)at + 8);

            if (a == NULL && b == NULL)
                break;
            if (ptx_debug_line_of(pl, a, &from) && ptx_debug_line_of(pl, b, &to))
                ptx_debug_mark_lines(pl, from, to);
        }
    }
}

struct scope {
    uint32_t die, size;
};

static int compare_scopes(const void *a, const void *b)
{
    const struct scope *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->die < y->die ? -1 : x->die > y->die;
}

/* Assigns the words of scope @parent to the scopes in it by their ranges. A word in the ranges of two scopes belongs to the scope
 * with fewer words. */
static void assign_by_ranges(struct ptx_placing *pl, uint32_t parent)
{
    const struct ptx_debug *debug = pl->debug;
    PTX_LIST(struct scope) inside = { 0 };

    for (uint32_t i = parent + 1; i < debug->dies.at[parent].end; i = debug->dies.at[i].end) {
        struct scope scope = { .die = i };

        if (!is_scope(&debug->dies.at[i]))
            continue;
        mark_scope(pl, i);
        if (pl->marked_from < pl->marked_to && !ptx_spend(pl, pl->marked_to - pl->marked_from))
            ptx_debug_clear_marks(pl);
        for (uint32_t w = pl->marked_from; w < pl->marked_to; w++)
            scope.size += pl->mark[w] && pl->owner[w] == parent;
        ptx_debug_clear_marks(pl);
        if (scope.size != 0)
            *PTX_PUSH(pl->job, inside) = scope;
    }
    if (inside.count > 1)
        qsort(inside.at, inside.count, sizeof *inside.at, compare_scopes);
    for (size_t i = 0; i < inside.count; i++) {
        mark_scope(pl, inside.at[i].die);
        for (uint32_t w = pl->marked_from; w < pl->marked_to; w++) {
            if (pl->mark[w] && pl->owner[w] == parent)
                pl->owner[w] = inside.at[i].die;
        }
        ptx_debug_clear_marks(pl);
    }
    for (size_t i = 0; i < inside.count; i++) /* the depth of the tree limits the recursion */
        assign_by_ranges(pl, inside.at[i].die);
}

/* ---- inlined calls and lines -------------------------------------------------------------------- */

/** Extent of a scope: lines of the PTX text between the scope's labels, and for a block also lines of the source. Unknown
 *  lines are 0. */
struct extent {
    uint32_t from, to;          /* range of lines of the PTX text */
    uint32_t file, first, last; /* range of lines of the source */
};
struct scoping {
    struct ptx_placing *pl;
    const struct ptx_noting *noting; /* notes of the function, or NULL if it has none */
    uint32_t root;
    bool has_calls;        /* there are inlined calls in the function */
    struct extent *extent; /* by debug entry, counted from @root */
    struct ptx_map chains; /* maps a comment with inlined calls to a number, counted from 0 */
    struct ptx_map known;  /* maps the number of a comment and the scope that the ranges give to the result of scope_of_calls() */
};

static uint64_t number_at(const struct ptx_debug *debug, uint32_t die, unsigned name)
{
    const struct ptx_value *value = ptx_debug_value(debug, die, name);

    return value != NULL && (value->kind == PTX_V_NUMBER || value->kind == PTX_V_SIGNED) ? value->number : 0;
}

/* Returns the last line of the scope of variable @key ("NAME LINE"), or 0 if no note gives it. */
static uint32_t end_of_scope(const struct ptx_noting *noting, const char *key, size_t size)
{
    const uint32_t *lines = ptx_map_find(&noting->lines_by_name, key, size);
    const uint32_t *initialiser = ptx_map_find(&noting->initialisers_by_name, key, size);
    const uint32_t end = lines != NULL ? noting->lines.at[*lines].end : 0;

    return end == 0 && initialiser != NULL ? noting->initialisers.at[*initialiser].end : end;
}

/* Finds the source lines of a block: from its first declaration to the end that notes of its variables give. */
static void find_lines(const struct scoping *s, uint32_t block, struct extent *out)
{
    const struct ptx_debug *debug = s->pl->debug;
    uint32_t last = 0;

    for (uint32_t i = block + 1; i < debug->dies.at[block].end; i = debug->dies.at[i].end) {
        const uint32_t origin = ptx_debug_entry(debug, ptx_debug_value(debug, i, ISA_AT_ABSTRACT_ORIGIN));
        const uint32_t source = origin != PTX_NONE ? origin : i;
        const struct ptx_value *name = ptx_debug_value(debug, source, ISA_AT_NAME);
        const uint32_t line = (uint32_t)number_at(debug, source, ISA_AT_DECL_LINE);
        char key[PTX_NAME_BYTES];
        int size;

        if (debug->dies.at[i].tag != ISA_TAG_VARIABLE || line == 0 || name == NULL || name->kind != PTX_V_TEXT)
            continue;
        out->file = (uint32_t)number_at(debug, source, ISA_AT_DECL_FILE) + debug->file_base;
        out->first = out->first == 0 || line < out->first ? line : out->first;
        size = snprintf(key, sizeof key, "%s %u", name->text, (unsigned)line);
        const uint32_t end = s->noting != NULL && size > 0 && (size_t)size < sizeof key ? end_of_scope(s->noting, key, (size_t)size) : 0;
        last = end > last ? end : last;
    }
    out->last = out->first != 0 && last >= out->first ? last : 0;
}

static void find_extents(struct scoping *s)
{
    const struct ptx_debug *debug = s->pl->debug;
    const uint32_t end = debug->dies.at[s->root].end;

    s->extent = PTX_ARRAY(s->pl->job, struct extent, end - s->root + 1);
    for (uint32_t i = s->root + 1; i < end; i++) {
        struct extent *extent = &s->extent[i - s->root];
        const struct ptx_value *low, *high;

        if (!is_scope(&debug->dies.at[i]) || !ptx_spend(s->pl, 1))
            continue;
        low = ptx_debug_value(debug, i, ISA_AT_LOW_PC);
        high = ptx_debug_value(debug, i, 0x12);
        if (low == NULL || high == NULL || !ptx_debug_line_of(s->pl, low->fixup, &extent->from) ||
            !ptx_debug_line_of(s->pl, high->fixup, &extent->to))
            extent->from = extent->to = 0;
        s->has_calls |= debug->dies.at[i].tag == ISA_TAG_INLINED;
        if (debug->dies.at[i].tag == ISA_TAG_BLOCK)
            find_lines(s, i, extent);
    }
}

static bool is_in(const struct ptx_debug *debug, uint32_t die, uint32_t scope)
{
    return die >= scope && die < debug->dies.at[scope].end;
}

/* Returns the inlined call of a line and column directly in scope @parent or in its blocks, or PTX_NONE. If there are several
 * such calls, returns the one that contains @die, or else the first one. */
static uint32_t find_call(struct ptx_placing *pl, uint32_t parent, uint32_t line, uint32_t column, uint32_t die)
{
    const struct ptx_debug *debug = pl->debug;
    uint32_t first = PTX_NONE;

    for (uint32_t i = parent + 1; i < debug->dies.at[parent].end && ptx_spend(pl, 1);) {
        const struct ptx_die *d = &debug->dies.at[i];

        if (d->tag == ISA_TAG_INLINED && number_at(debug, i, ISA_AT_CALL_LINE) == line &&
            number_at(debug, i, ISA_AT_CALL_COLUMN) == column) {
            if (is_in(debug, die, i))
                return i;
            first = first == PTX_NONE ? i : first;
        }
        i = d->tag == ISA_TAG_BLOCK ? i + 1 : d->end;
    }
    return first;
}

/* Parses a list of inlined calls, such as "13:13,24:18". Returns the number of calls, which is 0 for "-", or -1 if the text is
 * invalid. */
static int read_calls(const struct ptx_loc *loc, uint32_t calls[MAX_CALLS][2])
{
    struct ptx_note_words words = { loc->calls, loc->calls + loc->calls_size };
    int count = 0;

    if (loc->calls_size == 1 && loc->calls[0] == '-')
        return 0;
    for (struct ptx_name word = ptx_note_word(&words); word.size != 0; word = ptx_note_word(&words)) {
        const char *colon = memchr(word.text, ':', word.size);
        uint64_t line, column;

        if (count == MAX_CALLS || colon == NULL)
            return -1;
        if (!ptx_note_number((struct ptx_name){ word.text, (size_t)(colon - word.text) }, 10, &line) ||
            !ptx_note_number((struct ptx_name){ colon + 1, (size_t)(word.text + word.size - colon - 1) }, 10, &column) ||
            line > UINT32_MAX || column > UINT32_MAX)
            return -1;
        calls[count][0] = (uint32_t)line;
        calls[count++][1] = (uint32_t)column;
    }
    return count != 0 ? count : -1;
}

/* Returns the scope of code that has the inlined calls of location @loc. @old: the scope that the ranges give. */
static uint32_t scope_of_calls(struct scoping *s, const struct ptx_loc *loc, uint32_t old)
{
    const struct ptx_debug *debug = s->pl->debug;
    uint32_t calls[MAX_CALLS][2], scope = s->root, at, block = old;
    int count = read_calls(loc, calls);

    if (count < 0)
        return old;
    while (count-- > 0) {
        const uint32_t call = find_call(s->pl, scope, calls[count][0], calls[count][1], old);

        if (call == PTX_NONE) /* the sections have no entry for this call */
            break;
        scope = call;
    }
    if (!is_in(debug, old, scope))
        return scope;
    for (at = old; at != scope; at = debug->dies.at[at].parent)
        if (debug->dies.at[at].tag != ISA_TAG_BLOCK)
            block = debug->dies.at[at].parent;
    return block;
}

static uint32_t assign_by_calls(struct scoping *s, const struct ptx_loc *loc, uint32_t old)
{
    const uint32_t *chain = ptx_map_find(&s->chains, loc->calls, loc->calls_size), *known;
    uint32_t key[2] = { chain != NULL ? *chain : (uint32_t)s->chains.count, old }, scope;
    char *copy;

    if (chain == NULL)
        ptx_map_put(s->pl->job, &s->chains, loc->calls, loc->calls_size, key[0]);
    known = ptx_map_find(&s->known, (const char *)key, sizeof key);
    if (known != NULL)
        return *known;
    scope = scope_of_calls(s, loc, old);
    copy = ptx_new(s->pl->job, 1, sizeof key);
    memcpy(copy, key, sizeof key);
    ptx_map_put(s->pl->job, &s->known, copy, sizeof key, scope);
    return scope;
}

/* Returns the innermost scope of code that has location @loc and is on line @text of the text. Starts at @scope, leaves blocks
 * that do not contain the source line of @loc, and enters blocks that do. */
static uint32_t assign_by_lines(struct scoping *s, const struct ptx_loc *loc, uint32_t scope, uint32_t text)
{
    const struct ptx_debug *debug = s->pl->debug;
    bool enters;

    for (uint32_t at = scope; debug->dies.at[at].tag == ISA_TAG_BLOCK; at = debug->dies.at[at].parent) {
        const struct extent *extent = &s->extent[at - s->root];

        if (extent->last != 0 && (loc->file != extent->file || loc->line < extent->first || loc->line > extent->last))
            scope = debug->dies.at[at].parent;
    }
    do {
        enters = false;
        for (uint32_t i = scope + 1; i < debug->dies.at[scope].end && !enters && ptx_spend(s->pl, 1); i = debug->dies.at[i].end) {
            const struct extent *extent = &s->extent[i - s->root];

            enters = debug->dies.at[i].tag == ISA_TAG_BLOCK && extent->last != 0 && text >= extent->from && text < extent->to &&
                     loc->file == extent->file && loc->line >= extent->first && loc->line <= extent->last;
            if (enters)
                scope = i;
        }
    } while (enters);
    return scope;
}

/* Returns the source location at which the code of a scope is in its enclosing scope. */
static struct ptx_call_site site_of(const struct scoping *s, uint32_t die)
{
    const struct ptx_debug *debug = s->pl->debug;
    struct ptx_call_site site = { .parent = debug->dies.at[die].parent, .is_call = debug->dies.at[die].tag == ISA_TAG_INLINED };

    if (site.is_call) {
        site.file = (uint32_t)number_at(debug, die, ISA_AT_CALL_FILE) + debug->file_base;
        site.line = (uint32_t)number_at(debug, die, ISA_AT_CALL_LINE);
        site.column = (uint32_t)number_at(debug, die, ISA_AT_CALL_COLUMN);
    } else {
        site.file = s->extent[die - s->root].file;
        site.line = s->extent[die - s->root].first;
    }
    return site;
}

bool ptx_debug_call_site(const void *context, uint32_t die, struct ptx_call_site *out)
{
    const struct ptx_placing *pl = context;

    if (die < pl->root) /* @die is no scope of this function */
        return false;
    *out = pl->sites[die - pl->root];
    return out->line != 0;
}

/* Stores the ranges of words of each scope, which include the words of inner scopes. */
static void store_spans(struct scoping *s)
{
    struct ptx_placing *pl = s->pl;
    struct ptx_debug *debug = pl->debug;
    const uint32_t count = debug->dies.at[s->root].end - s->root;
    uint32_t *next = PTX_ARRAY(pl->job, uint32_t, count + 1); /* by entry: 1 + the last word of the scope that was found so far */

    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = s->root + 1; i < s->root + count; i++) {
            struct ptx_die *die = &debug->dies.at[i];

            if (pass == 1 && is_scope(die))
                die->spans = ptx_debug_keep(pl, NULL, die->span_count, sizeof *die->spans);
            if (is_scope(die))
                die->span_count = 0;
            next[i - s->root] = UINT32_MAX;
        }
        for (uint32_t w = 0; w < pl->count; w++) {
            for (uint32_t at = pl->owner[w]; at != s->root && ptx_spend(pl, 1); at = debug->dies.at[at].parent) {
                struct ptx_die *die = &debug->dies.at[at];

                if (next[at - s->root] != w)
                    die->span_count++;
                if (pass == 1 && next[at - s->root] != w)
                    die->spans[die->span_count - 1].from = pl->base + w;
                if (pass == 1)
                    die->spans[die->span_count - 1].to = pl->base + w + 1;
                next[at - s->root] = w + 1;
            }
        }
    }
}

void ptx_debug_find_scopes(struct ptx_placing *pl, uint32_t root, const struct ptx_noting *noting)
{
    const struct ptx_unit *unit = pl->unit;
    struct scoping s = { .pl = pl, .noting = noting, .root = root };
    uint32_t at = 0;

    for (uint32_t w = 0; w < pl->count; w++)
        pl->owner[w] = root;
    assign_by_ranges(pl, root);
    find_extents(&s);
    for (size_t i = 0; i < unit->code.count; i++) {
        const struct ptx_loc *loc;

        if (unit->code.at[i].loc != 0)
            at = unit->code.at[i].loc;
        loc = &pl->module->locs.at[at];
        for (uint32_t w = pl->index[i]; w < pl->index[i + 1] && loc->line != 0; w++) {
            if (loc->calls_size != 0)
                pl->owner[w] = assign_by_calls(&s, loc, pl->owner[w]);
            if (noting != NULL && (loc->calls_size != 0 || !s.has_calls))
                pl->owner[w] = assign_by_lines(&s, loc, pl->owner[w], pl->line_at[w]);
        }
    }
    store_spans(&s);
    pl->root = root;
    pl->sites = PTX_ARRAY(pl->job, struct ptx_call_site, pl->debug->dies.at[root].end - root + 1);
    for (uint32_t i = root + 1; i < pl->debug->dies.at[root].end; i++)
        if (is_scope(&pl->debug->dies.at[i]))
            pl->sites[i - root] = site_of(&s, i);
}
