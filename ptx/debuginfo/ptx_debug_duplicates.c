/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the debug scopes of duplicated code. Duplicated code is in blocks that ptx_node_split.c duplicated, and in loops
 * that the compiler unrolled or peeled. Debuggers set a breakpoint on a line once in each scope that has code of the line.
 * So each duplicate becomes a separate scope, inside the source scope that contains the duplicate.
 *
 * PTX does not show which code the compiler has duplicated. So the analysis searches the code of each scope for repetitions:
 * code is a duplicate if instructions with the same source locations and operations are repeated, and the code goes back to an
 * earlier line between the two instructions. When an enclosing scope is analysed, all code of an inner block or inlined call
 * counts as code at the location of the block or call. Code of a call that is in different duplicates of the enclosing scope is
 * in different duplicates of the call's scope, too. */
#include "ptx/debuginfo/ptx_debug_priv.h"

#include <stdlib.h>

/* An instruction word, with its innermost scope and the number of its duplicate in this scope. */
struct copied {
    uint32_t owner, copy, word;
};

static int compare_copied(const void *a, const void *b)
{
    const struct copied *x = a, *y = b;

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->copy != y->copy)
        return x->copy < y->copy ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static void *keep(struct ptx_unit *unit, const void *list, size_t count, size_t size)
{
    void *copy = lw_arena_alloc(&unit->object->arena, count * size);

    if (copy == NULL)
        ptx_fail(unit->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    memcpy(copy, list, count * size);
    return copy;
}

/* ---- loops that the compiler has unrolled --------------------------------------------------------------- */

#define REPEATED (UINT32_C(1) << 31) /* bit that marks the numbers of duplicates that the compiler made */

/* Origin of an instruction, which repeated instructions have in common: the source location that the instruction has in the
 * analysed scope, its own source location, and its operation. */
struct origin {
    uint32_t file, line, column;
    uint32_t own[3], op;
};
/* An instruction in a scope that is searched for duplicates. A stretch is a sequence of instructions of one line. */
struct repeatable {
    uint32_t scope, insn;
    uint32_t id, file, line; /* id: number of the instruction's origin; file, line: source location of the instruction in the
                              * scope */
    uint32_t run;      /* number of the stretch that contains the instruction */
    uint32_t repeated; /* number of instructions, up to and including this one, whose origin occurs in several stretches */
    uint32_t back;     /* index of the first instruction, from this one on, that begins a stretch of a lower line than the
                        * preceding stretch; the number of instructions if there is none */
    bool begins;       /* the instruction begins a duplicate */
    bool in_call;      /* the scope is an inlined call */
    bool in_block;     /* the instruction is in a block that is directly in the scope */
    bool controls;     /* the instruction is on the first line of its block; the head of a loop, for example, is on this line */
};
struct repeating {
    const struct ptx_unit *unit;
    struct ptx_map known;   /* maps the bytes of an origin to the number of the origin */
    uint32_t *first, *last; /* by origin: 1 + index of the scope's first and last instruction with this origin, or 0 */
    bool *occurs;           /* by origin: whether the origin occurs in several stretches of the scope */
    PTX_LIST(struct repeatable) all; /* the instructions of all scopes */
    struct repeatable *code; /* the instructions of the current scope, in ascending order */
    size_t count;
};

static int compare_repeatable(const void *a, const void *b)
{
    const struct repeatable *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* Adds an instruction to its innermost scope, and to all enclosing scopes. */
static void add_instruction(struct repeating *r, uint32_t insn, const struct ptx_loc *loc, uint32_t scope,
                            ptx_call_site_fn call_site, const void *context)
{
    struct origin origin = { loc->file, loc->line, loc->column, { loc->file, loc->line, loc->column },
                             r->unit->code.at[insn].in.op };
    bool in_block = false, more = true;

    while (more) {
        const uint32_t *found = ptx_map_find(&r->known, (const char *)&origin, sizeof origin);
        const uint32_t id = found != NULL ? *found : (uint32_t)r->known.count;
        struct repeatable *added = PTX_PUSH(r->unit->job, r->all);
        struct ptx_call_site site;

        if (found == NULL) {
            char *key = ptx_new(r->unit->job, 1, sizeof origin);

            memcpy(key, &origin, sizeof origin);
            ptx_map_put(r->unit->job, &r->known, key, sizeof origin, id);
        }
        *added = (struct repeatable){ .scope = scope, .insn = insn, .id = id, .file = origin.file, .line = origin.line,
                                      .in_block = in_block };
        more = call_site(context, scope, &site);
        if (!more)
            continue;
        added->in_call = site.is_call;
        added->controls = !site.is_call && site.file == origin.file && site.line == origin.line;
        in_block = !site.is_call;
        origin.file = site.file;
        origin.line = site.line;
        origin.column = site.column;
        scope = site.parent;
    }
}

/* Returns the index of the instruction that begins a duplicate between two instructions of the same origin, or 0 if there is
 * no duplicate. At least half of the instructions after @first, up to @second, must have origins that occur in several
 * stretches. */
static size_t begin_of_duplicate(const struct repeating *r, size_t first, size_t second)
{
    const struct repeatable *code = r->code;

    if (code[first].run == code[second].run || 2 * (size_t)(code[second].repeated - code[first].repeated) < second - first)
        return 0;
    return code[first + 1].back <= second ? code[first + 1].back : 0;
}

/* Finds the stretches in the code of a scope, and the origins that occur in several stretches. */
static void find_stretches(struct repeating *r)
{
    struct repeatable *code = r->code;
    uint32_t back = (uint32_t)r->count, repeated = 0;

    for (size_t k = 0; k < r->count; k++) {
        const struct repeatable *at = &code[k], *before = k != 0 ? &code[k - 1] : at;
        uint32_t *first = &r->first[code[k].id];

        code[k].run = k == 0 ? 0 : code[k - 1].run + (at->line != before->line || at->file != before->file);
        if (*first == 0)
            *first = 1 + (uint32_t)k;
        r->occurs[code[k].id] |= code[*first - 1].run != code[k].run;
    }
    for (size_t k = 0; k < r->count; k++)
        code[k].repeated = repeated += r->occurs[code[k].id];
    for (size_t k = r->count; k-- != 0;) {
        const struct repeatable *at = &code[k], *before = k != 0 ? &code[k - 1] : at;

        if (at->file == before->file && at->line < before->line)
            back = (uint32_t)k;
        code[k].back = back;
    }
}

/* Numbers the duplicates in the code of a scope from 1, and stores for each instruction the number of its duplicate in @copy,
 * or 0 if the instruction is in no duplicate. On entry, @copy contains the numbers for the enclosing scope. */
static void number_duplicates(struct repeating *r, uint32_t *copy)
{
    struct repeatable *code = r->code;
    uint32_t number = 0, outer = copy[code[0].insn];
    bool has_blocks = false;
    size_t from = 0;

    find_stretches(r);
    for (size_t k = 0; k < r->count; k++)
        has_blocks |= code[k].in_block;
    for (size_t k = 0; k < r->count; k++) {
        const size_t last = r->last[code[k].id];
        const bool tells = !code[k].in_block && (!has_blocks || !code[k].controls);
        const size_t begin = tells && last > from ? begin_of_duplicate(r, last - 1, k) : 0;

        if (begin != 0) {
            code[begin].begins = true;
            from = begin;
        }
        r->last[code[k].id] = 1 + (uint32_t)k;
    }
    for (size_t k = 0; k < r->count; k++) {
        number += code[k].begins || (code[k].in_call && copy[code[k].insn] != outer);
        outer = copy[code[k].insn];
        copy[code[k].insn] = number != 0 ? REPEATED | number : 0;
        r->first[code[k].id] = r->last[code[k].id] = 0;
        r->occurs[code[k].id] = false;
    }
}

uint32_t *ptx_debug_find_copies(const struct ptx_unit *unit, const uint32_t *index, const uint32_t *owner,
                                ptx_call_site_fn call_site, const void *context)
{
    struct repeating r = { .unit = unit };
    uint32_t *copy = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1), at = 0;
    bool any = false;

    for (size_t i = 0; i < unit->code.count; i++) {
        if (unit->code.at[i].loc != 0)
            at = unit->code.at[i].loc;
        copy[i] = unit->module->locs.at[at].copy;
        if (copy[i] == 0 && index[i] != index[i + 1] && unit->module->locs.at[at].line != 0)
            add_instruction(&r, (uint32_t)i, &unit->module->locs.at[at], owner[index[i]], call_site, context);
    }
    if (r.all.count > 1)
        qsort(r.all.at, r.all.count, sizeof *r.all.at, compare_repeatable);
    r.first = PTX_ARRAY(unit->job, uint32_t, r.known.count + 1);
    r.last = PTX_ARRAY(unit->job, uint32_t, r.known.count + 1);
    r.occurs = PTX_ARRAY(unit->job, bool, r.known.count + 1);
    for (size_t from = 0, end; from < r.all.count; from = end) { /* enclosing scopes come first, as they have lower numbers */
        for (end = from; end < r.all.count && r.all.at[end].scope == r.all.at[from].scope;)
            end++;
        r.code = r.all.at + from;
        r.count = end - from;
        number_duplicates(&r, copy);
    }
    for (size_t i = 0; i < unit->code.count; i++)
        any |= copy[i] != 0;
    return any ? copy : NULL;
}

/* ---- scopes --------------------------------------------------------------------------------------------- */

void ptx_debug_copies(struct ptx_unit *unit, uint32_t base, const uint32_t *index,
                      const uint32_t *owner, const uint32_t *copy, uint32_t root, struct ptx_duplicates *of)
{
    PTX_LIST(struct copied) words = { 0 };
    PTX_LIST(struct isa_span) spans = { 0 };

    for (size_t i = 0; i < unit->code.count; i++)
        for (uint32_t w = index[i]; w < index[i + 1] && copy[i] != 0; w++)
            *PTX_PUSH(unit->job, words) = (struct copied){ owner[w], copy[i], w };
    if (words.count > 1)
        qsort(words.at, words.count, sizeof *words.at, compare_copied);
    for (size_t from = 0, end; from < words.count; from = end) {
        uint32_t scope = words.at[from].owner;
        PTX_LIST(struct ptx_copied) copies = { 0 };

        for (end = from; end < words.count && words.at[end].owner == scope;) {
            uint32_t number = words.at[end].copy;

            spans.count = 0;
            for (; end < words.count && words.at[end].owner == scope &&
                   words.at[end].copy == number; end++) {
                uint32_t word = base + words.at[end].word;

                if (spans.count != 0 && spans.at[spans.count - 1].to == word)
                    spans.at[spans.count - 1].to++;
                else
                    *PTX_PUSH(unit->job, spans) = (struct isa_span){ word, word + 1 };
            }
            *PTX_PUSH(unit->job, copies) = (struct ptx_copied){
                keep(unit, spans.at, spans.count, sizeof *spans.at),
                (uint32_t)spans.count
            };
        }
        of[scope - root] = (struct ptx_duplicates){ keep(unit, copies.at, copies.count, sizeof *copies.at),
                                         (uint32_t)copies.count };
    }
}
