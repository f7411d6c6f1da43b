/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes in a function's text say from where on a variable of the source has which value. A value holds
 * until the next note of the variable, or until one of its registers is written again; where ways meet, what
 * all of them agree on. That is a forward analysis over the blocks of the PTX's statements, for each variable
 * and each of its pieces.
 */
#include "ptx/debuginfo/ptx_debug_notes_priv.h"

#include <stdio.h>

#include <stdlib.h>

enum { MOST_BYTES = ISA_EXPRESSION_BYTES };

/* ---- reading ------------------------------------------------------------------------------------ */

struct cursor {
    const char *at, *end;
};

static struct ptx_name take_word(struct cursor *c)
{
    struct ptx_name word;

    while (c->at < c->end && (*c->at == ' ' || *c->at == ',' || *c->at == '\r'))
        c->at++;
    word.text = c->at;
    while (c->at < c->end && *c->at != ' ' && *c->at != ',' && *c->at != '\r')
        c->at++;
    word.size = (size_t)(c->at - word.text);
    return word;
}

static bool read_number(struct ptx_name word, unsigned base, uint64_t *out)
{
    const bool negative = base == 10 && word.size != 0 && word.text[0] == '-';
    uint64_t value = 0;

    for (size_t i = negative; i < word.size; i++) {
        const char c = word.text[i];
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                      : 16;

        if (digit >= base)
            return false;
        value = value * base + digit;
    }
    *out = negative ? -value : value;
    return word.size > negative && word.size <= 20;
}

static bool read_operand(struct ptx_placing *pl, struct ptx_name word, struct ptx_note_operand *out)
{
    char name[32];

    if (ptx_name_is(word, "none"))
        return false;
    *out = (struct ptx_note_operand){.kind = PTX_NOTE_CONST, .bits = 64};
    if (ptx_name_is(word, "frame")) {
        out->kind = PTX_NOTE_FRAME;
        return true;
    }
    if (word.size > 2 && word.text[0] == '0' && (word.text[1] == 'f' || word.text[1] == 'd')) {
        out->bits = word.text[1] == 'f' ? 32 : 64;
        return read_number((struct ptx_name){word.text + 2, word.size - 2}, 16, &out->value);
    }
    if (word.size == 0 || word.text[0] != '%')
        return read_number(word, 10, &out->value);
    if (word.size >= sizeof name)
        return false;
    memcpy(name, word.text, word.size);
    name[word.size] = '\0';
    out->kind = PTX_NOTE_REG;
    out->reg = ptx_debug_register(pl, name);
    return out->reg != PTX_NONE;
}

/* The piece that an expression's last operation names. False: it is none that we can show. */
static bool read_piece(struct ptx_noted_value *v)
{
    struct cursor c = {v->expression, v->expression + v->expression_size};

    for (struct ptx_name word = take_word(&c); word.size != 0; word = take_word(&c)) {
        uint64_t first, bits;

        if (!ptx_name_is(word, "DW_OP_LLVM_fragment"))
            continue;
        if (!read_number(take_word(&c), 10, &first) || !read_number(take_word(&c), 10, &bits) || first % 8 != 0 ||
            bits % 8 != 0 || bits == 0 || first / 8 > MOST_BYTES || bits / 8 > MOST_BYTES || first / 8 + bits / 8 > MOST_BYTES)
            return false;
        v->first = (uint32_t)first / 8;
        v->bytes = (uint32_t)bits / 8;
    }
    return true;
}

/* "(EXPRESSION) OPERAND..." */
static struct ptx_noted_value read_value(struct ptx_placing *pl, struct cursor c)
{
    struct ptx_noted_value v = {0};
    const char *close = c.at < c.end && *c.at == '(' ? memchr(c.at, ')', (size_t)(c.end - c.at)) : NULL;

    if (close == NULL)
        return v;
    v.expression = c.at + 1;
    v.expression_size = (uint32_t)(close - v.expression);
    c.at = close + 1;
    for (struct ptx_name word = take_word(&c); word.size != 0; word = take_word(&c)) {
        v.if_parameter |= ptx_name_is(word, "launch");
        if (v.operand_count == PTX_NOTE_OPERANDS || !read_operand(pl, word, &v.operand[v.operand_count])) {
            v.operand_count = 0;
            break;
        }
        v.operand_count++;
    }
    /* LLVM folds constants. One with operations left is a mistake of its selection of instructions, which has put
     * an operand in the place of the value. */
    if (v.operand_count == 1 && v.operand[0].kind == PTX_NOTE_CONST && v.expression_size != 0 &&
        strncmp(v.expression, "DW_OP_LLVM_fragment", 19) != 0 && strncmp(v.expression, "DW_OP_stack_value", 17) != 0)
        v.operand_count = 0;
    if (!read_piece(&v)) {
        v.operand_count = 0;
        v.first = 0;
        v.bytes = 0; /* of some part: none of it is known any more */
    }
    return v;
}

static uint32_t statements_before(const struct ptx_function *fn, uint32_t line)
{
    uint32_t low = 0, high = (uint32_t)fn->insns.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (fn->insns.at[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- blocks of statements -------------------------------------------------------------------------- */

static bool ends_block(const struct ptx_insn *in)
{
    return in->op == PTX_BRA || in->op == PTX_BRX || in->op == PTX_RET || in->op == PTX_EXIT || in->op == PTX_TRAP;
}

static void each_label(const struct ptx_operand *o, unsigned count, void (*fn)(void *, uint32_t), void *context)
{
    for (unsigned i = 0; i < count; i++) {
        if (o[i].kind == PTX_O_LABEL)
            fn(context, o[i].reg);
        else if (o[i].element != NULL)
            each_label(o[i].element, o[i].count, fn, context);
    }
}

struct labels {
    struct ptx_placing *pl;
    uint8_t *starts;     /* by statement */
    uint32_t *label;     /* by statement: 1 + the last line of a label there that is a target */
    struct ptx_noting *noting;
    struct ptx_noted_block *block;
};

static void mark_target(void *context, uint32_t label)
{
    struct labels *l = context;
    const uint32_t at = l->pl->fn->labels.at[label], line = l->pl->fn->label_lines.at[label];

    l->starts[at] = 1;
    if (l->label[at] < line + 1)
        l->label[at] = line + 1;
}

static void add_target(void *context, uint32_t label)
{
    struct labels *l = context;
    const uint32_t at = l->pl->fn->labels.at[label];

    if (at < l->pl->fn->insns.count)
        *PTX_PUSH(l->pl->job, l->block->succ) = l->noting->block_of[at];
}

static void find_blocks(struct ptx_placing *pl, struct ptx_noting *noting, struct labels *l)
{
    const struct ptx_function *fn = pl->fn;
    const uint32_t n = (uint32_t)fn->insns.count;

    l->starts = PTX_ARRAY(pl->job, uint8_t, n + 2);
    l->label = PTX_ARRAY(pl->job, uint32_t, n + 1);
    noting->block_of = PTX_ARRAY(pl->job, uint32_t, n + 1);
    l->starts[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];

        if (!ends_block(in))
            continue;
        l->starts[i + 1] = 1;
        each_label(in->operand, in->operand_count, mark_target, l);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (l->starts[i])
            *PTX_PUSH(pl->job, noting->blocks) = (struct ptx_noted_block){.first = i};
        noting->block_of[i] = (uint32_t)noting->blocks.count - 1;
        noting->blocks.at[noting->blocks.count - 1].end = i + 1;
    }
    for (uint32_t b = 0; b < noting->blocks.count; b++) {
        const struct ptx_insn *last = &fn->insns.at[noting->blocks.at[b].end - 1];
        const bool leaves = ends_block(last) && last->guard == PTX_NONE;

        l->block = &noting->blocks.at[b];
        if (last->op == PTX_BRA || last->op == PTX_BRX)
            each_label(last->operand, last->operand_count, add_target, l);
        if (!leaves && b + 1 < noting->blocks.count)
            *PTX_PUSH(pl->job, l->block->succ) = b + 1;
    }
}

/* ---- writes of registers ----------------------------------------------------------------------------- */

static void each_written(const struct ptx_operand *o, void (*fn)(void *, uint32_t), void *context)
{
    if (o->element != NULL) {
        for (unsigned i = 0; i < o->count; i++)
            each_written(&o->element[i], fn, context);
    } else if (o->kind == PTX_O_REG) {
        fn(context, o->reg);
    }
}

struct writes {
    struct ptx_noting *noting;
    uint32_t at;
    bool fill;
};

static void count_write(void *context, uint32_t reg)
{
    struct writes *w = context;
    uint32_t *first = w->noting->first_write;

    if (w->fill)
        w->noting->writes[first[reg]++] = w->at;
    else
        first[reg + 1]++;
}

static void find_writes(struct ptx_placing *pl, struct ptx_noting *noting)
{
    const struct ptx_function *fn = pl->fn;
    const uint32_t regs = (uint32_t)fn->regs.count;
    struct writes w = {.noting = noting};
    uint32_t *first = noting->first_write = PTX_ARRAY(pl->job, uint32_t, regs + 2);

    for (unsigned pass = 0; pass < 2; pass++) {
        w.fill = pass == 1;
        for (w.at = 0; w.at < fn->insns.count; w.at++)
            if (fn->insns.at[w.at].operand_count != 0)
                each_written(&fn->insns.at[w.at].operand[0], count_write, &w);
        if (pass == 0) {
            for (uint32_t r = 0; r <= regs; r++)
                first[r + 1] += first[r];
            noting->writes = PTX_ARRAY(pl->job, uint32_t, first[regs] + 1);
        }
    }
    memmove(first + 1, first, regs * sizeof *first); /* first[r] has become where r + 1 begins */
    first[0] = 0;
}

static bool is_plain(const struct ptx_noted_value *v)
{
    return v->operand_count == 1 && !v->is_launch &&
           (v->expression_size == 0 || strncmp(v->expression, "DW_OP_LLVM_fragment", 19) == 0);
}

/* Where values that are a register, or a piece of it, are found again. */
static void enter_register(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t value)
{
    const struct ptx_noted_value *v = &noting->values.at[value];
    uint32_t key[3] = {v->operand[0].reg, v->first, v->bytes};
    char *copy = ptx_new(pl->job, 1, sizeof key);

    memcpy(copy, key, sizeof key);
    ptx_map_put(pl->job, &noting->by_register, copy, sizeof key, value);
}

static bool is_written(const struct ptx_noting *noting, const struct ptx_noted_value *v, uint32_t from, uint32_t to)
{
    for (unsigned k = 0; k < v->operand_count; k++) {
        const uint32_t reg = v->operand[k].kind == PTX_NOTE_REG ? v->operand[k].reg : PTX_NONE;

        for (uint32_t w = reg != PTX_NONE ? noting->first_write[reg] : 0; reg != PTX_NONE && w < noting->first_write[reg + 1]; w++)
            if (noting->writes[w] >= from && noting->writes[w] < to)
                return true;
    }
    return false;
}

/* A note between code of no line and the line that this code is given to: the line begins with what the note says,
 * or, if that code computes it, with nothing known. */
static void note_early(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_note *note,
                       struct ptx_noted_event *event, struct ptx_noted_variable *variable)
{
    const struct ptx_function *fn = pl->fn;
    const struct ptx_noted_value v = noting->values.at[event->value];
    struct ptx_noted_event before = *event;
    size_t low = 0, high = fn->early.count;
    uint32_t start;

    while (low < high) { /* the last one that begins before it */
        const size_t middle = low + (high - low) / 2;

        if (fn->early.at[middle].from <= note->line)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || note->line >= fn->early.at[low - 1].to)
        return;
    start = statements_before(fn, fn->early.at[low - 1].from);
    if (start < noting->blocks.at[event->block].first)
        start = noting->blocks.at[event->block].first;
    if (2 * start >= event->at)
        return;
    if (!is_written(noting, &v, start, event->at / 2)) {
        event->at = 2 * start;
        return;
    }
    before.at = 2 * start;
    before.value = (uint32_t)noting->values.count;
    *PTX_PUSH(pl->job, noting->values) = (struct ptx_noted_value){.first = v.first, .bytes = v.bytes};
    *PTX_PUSH(pl->job, variable->notes) = before;
}

/* clang's strength reduction of loops replaces counters in debug values, and is wrong at times: what it computes, with
 * constants that have a sign, is an iteration off; elsewhere, and in pieces, what has to be added is not said. */
static void drop_reduced(struct ptx_placing *pl, struct ptx_noting *noting)
{
    uint8_t *reduced = PTX_ARRAY(pl->job, uint8_t, pl->fn->regs.count + 1);

    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < noting->values.count; i++) {
            struct ptx_noted_value *v = &noting->values.at[i];
            bool drop = false;

            for (size_t at = 0; pass == 0 && at + 12 <= v->expression_size && !drop; at++)
                drop = memcmp(v->expression + at, "DW_OP_consts", 12) == 0;
            for (unsigned k = 0; k < v->operand_count; k++) {
                const uint32_t reg = v->operand[k].reg;

                if (v->operand[k].kind != PTX_NOTE_REG)
                    continue;
                if (pass == 0 && drop)
                    reduced[reg] = 1;
                else if (pass == 1 && (reduced[reg] || v->bytes != 0) && noting->first_write[reg + 1] > noting->first_write[reg] + 1)
                    drop |= v->bytes != 0 || !is_plain(v);
            }
            if (drop)
                v->operand_count = 0;
        }
}

/* ---- the notes of a function --------------------------------------------------------------------------- */

struct ptx_noting *ptx_debug_notes_read(struct ptx_placing *pl)
{
    const struct ptx_function *fn = pl->fn;
    struct ptx_noting *noting;
    struct ptx_map by_text = {0};
    struct labels labels = {.pl = pl};

    if (fn->notes.count == 0 || fn->insns.count == 0)
        return NULL;
    noting = labels.noting = PTX_NEW(pl->job, struct ptx_noting);
    find_blocks(pl, noting, &labels);
    find_writes(pl, noting);
    for (size_t i = 0; i < fn->notes.count && ptx_spend(pl, 16); i++) {
        const struct ptx_note *note = &fn->notes.at[i];
        struct cursor c = {note->text, note->text + note->size};
        struct ptx_noted_event event = {0};
        const uint32_t *known;
        uint32_t key, before;

        for (unsigned word = 0; word < 3; word++) { /* the third has commas */
            while (c.at < c.end && *c.at != ' ')
                c.at++;
            c.at += c.at < c.end;
        }
        if (c.at >= c.end)
            continue;
        key = (uint32_t)(c.at - 1 - note->text);
        known = ptx_map_find(&by_text, c.at, (size_t)(c.end - c.at));
        if (known == NULL) {
            ptx_map_put(pl->job, &by_text, c.at, (size_t)(c.end - c.at), (uint32_t)noting->values.count);
            event.value = (uint32_t)noting->values.count;
            *PTX_PUSH(pl->job, noting->values) = read_value(pl, c);
            if (is_plain(&noting->values.at[event.value]) && noting->values.at[event.value].operand[0].kind == PTX_NOTE_REG)
                enter_register(pl, noting, event.value);
        } else {
            event.value = *known;
        }
        before = statements_before(fn, note->line);
        event.at = 2 * before;
        if (before == fn->insns.count)
            continue; /* after the last statement */
        event.block = noting->block_of[before];
        if (before != 0 && labels.label[before] > note->line + 1)
            event.block--; /* at the end of the block before the label */
        known = ptx_map_find(&noting->by_key, note->text, key);
        if (known == NULL) {
            ptx_map_put(pl->job, &noting->by_key, note->text, key, (uint32_t)noting->variables.count);
            *PTX_PUSH(pl->job, noting->variables) = (struct ptx_noted_variable){.key = note->text, .key_size = key};
            known = ptx_map_find(&noting->by_key, note->text, key);
        }
        note_early(pl, noting, note, &event, &noting->variables.at[*known]);
        *PTX_PUSH(pl->job, noting->variables.at[*known].notes) = event;
    }
    drop_reduced(pl, noting);
    return noting;
}

static uint64_t number_at(const struct ptx_debug *debug, uint32_t die, unsigned name)
{
    const struct ptx_value *value = ptx_debug_value(debug, die, name);

    return value != NULL && (value->kind == PTX_V_NUMBER || value->kind == PTX_V_SIGNED) ? value->number : 0;
}

const struct ptx_noted_variable *ptx_debug_noted(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t root,
                                                 uint32_t die)
{
    const struct ptx_debug *debug = pl->debug;
    const uint32_t origin = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_ABSTRACT_ORIGIN));
    const uint32_t source = origin != PTX_NONE ? origin : die;
    const struct ptx_value *name = ptx_debug_value(debug, source, ISA_AT_NAME);
    char key[PTX_NAME_BYTES];
    const uint32_t *known;
    int size;
    bool inlined = false;

    if (name == NULL || name->kind != PTX_V_TEXT)
        return NULL;
    size = snprintf(key, sizeof key, "%s %llu ", name->text,
                    (unsigned long long)number_at(debug, source, ISA_AT_DECL_LINE));
    for (uint32_t at = debug->dies.at[die].parent; at != root && at != PTX_NONE; at = debug->dies.at[at].parent) {
        if (debug->dies.at[at].tag != ISA_TAG_INLINED)
            continue;
        if (size < 0 || (size_t)size >= sizeof key)
            return NULL;
        size += snprintf(key + size, sizeof key - (size_t)size, "%s%llu:%llu", inlined ? "," : "",
                         (unsigned long long)number_at(debug, at, ISA_AT_CALL_LINE),
                         (unsigned long long)number_at(debug, at, ISA_AT_CALL_COLUMN));
        inlined = true;
    }
    if (!inlined && size > 0 && (size_t)size + 1 < sizeof key)
        key[size++] = '-';
    if (size < 0 || (size_t)size >= sizeof key)
        return NULL;
    known = ptx_map_find(&noting->by_key, key, (size_t)size);
    return known != NULL ? &noting->variables.at[*known] : NULL;
}

void ptx_debug_notes_count(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t root)
{
    const struct ptx_debug *debug = pl->debug;

    noting->entries = PTX_ARRAY(pl->job, uint8_t, noting->variables.count + 1);
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i++) {
        const unsigned tag = debug->dies.at[i].tag;
        const struct ptx_noted_variable *variable =
            tag == ISA_TAG_VARIABLE || tag == ISA_TAG_PARAMETER ? ptx_debug_noted(pl, noting, root, i) : NULL;

        if (variable != NULL && noting->entries[variable - noting->variables.at] < 2)
            noting->entries[variable - noting->variables.at]++;
    }
}

/* ---- which value holds where ------------------------------------------------------------------------------ */

static int compare_events(const void *a, const void *b)
{
    const struct ptx_noted_event *x = a, *y = b;

    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_edges(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Where pieces begin and end; false: too many. */
static bool find_edges(const struct ptx_noting *noting, const struct ptx_noted_variable *variable,
                       struct ptx_noted_pieces *pieces)
{
    uint32_t edge[2 * PTX_NOTE_PIECES + 2], n = 0, kept = 0;

    for (size_t i = 0; i < variable->notes.count; i++) {
        const struct ptx_noted_value *v = &noting->values.at[variable->notes.at[i].value];
        bool first = v->bytes == 0, last = first;

        for (uint32_t k = 0; k < n; k++) {
            first |= edge[k] == v->first;
            last |= edge[k] == v->first + v->bytes;
        }
        if (n + 2 > LW_COUNT_OF(edge))
            return false;
        if (!first)
            edge[n++] = v->first;
        if (!last)
            edge[n++] = v->first + v->bytes;
    }
    if (n == 0) {
        pieces->count = 1; /* the whole */
        return true;
    }
    qsort(edge, n, sizeof *edge, compare_edges);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || edge[kept - 1] != edge[i])
            edge[kept++] = edge[i];
    if (kept > PTX_NOTE_PIECES + 1)
        return false;
    memcpy(pieces->edge, edge, kept * sizeof *edge);
    pieces->count = kept - 1;
    return true;
}

static bool is_loaded_from(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint32_t param,
                           uint64_t offset, unsigned depth);

/* Whether a statement writes byte @offset of the parameter to a register. */
static bool loads(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_insn *in, uint32_t reg,
                  uint32_t param, uint64_t offset, unsigned depth)
{
    const struct ptx_operand *to = in->operand, *from = in->operand_count == 2 ? &in->operand[1] : NULL;
    unsigned element = 0;

    if (from == NULL || in->guard != PTX_NONE || !ptx_spend(pl, 1))
        return false;
    while (to->element != NULL && element < to->count && to->element[element].reg != reg)
        element++;
    if (in->op == PTX_LD && from->kind == PTX_O_ADDRESS && from->symbol == param && from->reg == PTX_NONE)
        return from->imm + element * ptx_type_bytes(in->type[0]) == offset;
    return (in->op == PTX_CVTA || in->op == PTX_MOV) && to->kind == PTX_O_REG && from->kind == PTX_O_REG && depth < 3 &&
           is_loaded_from(pl, noting, from->reg, param, offset, depth + 1);
}

/* A register that is only ever loaded from byte @offset of the parameter. */
static bool is_loaded_from(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint32_t param,
                           uint64_t offset, unsigned depth)
{
    for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1]; k++)
        if (!loads(pl, noting, &pl->fn->insns.at[noting->writes[k]], reg, param, offset, depth))
            return false;
    return noting->first_write[reg] != noting->first_write[reg + 1];
}

/* Whether a register that may be written for something else later is loaded from it where a note is. */
static bool was_loaded_from(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_event *note,
                            uint32_t reg, uint32_t param, uint64_t offset)
{
    for (uint32_t k = noting->first_write[reg + 1]; k-- > noting->first_write[reg];) {
        const uint32_t at = noting->writes[k];

        if (2 * at < note->at) /* the last one before the note */
            return noting->block_of[at] == note->block && loads(pl, noting, &pl->fn->insns.at[at], reg, param, offset, 0);
    }
    return false;
}

struct following {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    const struct ptx_noted_pieces *pieces;
    PTX_LIST(struct ptx_noted_event) events;
    uint32_t *first; /* by block: its events */
    uint32_t param;
};

enum { UNSEEN = PTX_NONE - 1 };

/* A value is where its registers are, or those that they are copies of. */
static bool uses(const struct following *f, uint32_t value, uint32_t reg)
{
    const struct ptx_noted_value *v = &f->noting->values.at[value];

    for (unsigned i = 0; i < v->operand_count && !v->is_launch; i++)
        for (uint32_t r = v->operand[i].kind == PTX_NOTE_REG ? v->operand[i].reg : PTX_NONE; r != PTX_NONE;
             r = ptx_debug_copied_from(f->pl, r))
            if (r == reg)
                return true;
    return false;
}

/* The value that is register @reg, as @like is another one. */
static uint32_t value_of_register(const struct following *f, uint32_t reg, uint32_t like)
{
    struct ptx_noting *noting = f->noting;
    struct ptx_noted_value v = noting->values.at[like];
    const uint32_t key[3] = {reg, v.first, v.bytes};
    const uint32_t *known = ptx_map_find(&noting->by_register, (const char *)key, sizeof key);

    if (known != NULL)
        return *known;
    v.operand[0] = (struct ptx_note_operand){.kind = PTX_NOTE_REG, .reg = reg};
    *PTX_PUSH(f->pl->job, noting->values) = v;
    enter_register(f->pl, noting, (uint32_t)noting->values.count - 1);
    return (uint32_t)noting->values.count - 1;
}

/* Whether a move of @from copies the value. */
static bool is_moved(const struct following *f, uint32_t value, const struct ptx_operand *from)
{
    const struct ptx_noted_value *v = &f->noting->values.at[value];

    if (!is_plain(v))
        return false;
    if (from->kind == PTX_O_REG) {
        uint64_t literal;

        return v->operand[0].kind == PTX_NOTE_REG ? v->operand[0].reg == from->reg
                                                  : v->operand[0].kind == PTX_NOTE_CONST &&
                                                        ptx_debug_literal(f->pl, from->reg, &literal) &&
                                                        literal == v->operand[0].value;
    }
    return from->kind == PTX_O_IMM && v->operand[0].kind == PTX_NOTE_CONST && v->operand[0].value == from->imm;
}

/* A register is written: what uses it holds no longer; what is moved to it is there, too. */
static void apply_write(const struct following *f, const struct ptx_noted_event *event, uint32_t *state)
{
    const struct ptx_insn *in = &f->pl->fn->insns.at[event->at / 2];
    const bool moves = in->op == PTX_MOV && in->guard == PTX_NONE && in->operand_count == 2 && in->operand[0].kind == PTX_O_REG;

    for (uint32_t p = 0; p < f->pieces->count; p++) {
        uint32_t *same = state + p * PTX_NOTE_SAME, kept = 0, moved = PTX_NONE;

        for (uint32_t k = 0; k < PTX_NOTE_SAME && same[k] < UNSEEN; k++) {
            if (moves && moved == PTX_NONE && is_moved(f, same[k], &in->operand[1]))
                moved = same[k];
            if (!uses(f, same[k], event->value))
                same[kept++] = same[k];
        }
        if (moved != PTX_NONE && kept < PTX_NOTE_SAME)
            same[kept++] = value_of_register(f, event->value, moved);
        while (same[0] != UNSEEN && kept < PTX_NOTE_SAME)
            same[kept++] = PTX_NONE;
    }
}

/* What is known of each piece after an event. */
static void apply(const struct following *f, const struct ptx_noted_event *event, uint32_t *state)
{
    const struct ptx_noted_pieces *pieces = f->pieces;
    const struct ptx_noted_value *v;

    if (event->kills) {
        apply_write(f, event, state);
        return;
    }
    v = &f->noting->values.at[event->value];
    for (uint32_t p = 0; p < pieces->count; p++)
        if (v->bytes == 0 || (pieces->edge[p] >= v->first && pieces->edge[p] < v->first + v->bytes)) {
            for (uint32_t k = 0; k < PTX_NOTE_SAME; k++)
                state[p * PTX_NOTE_SAME + k] = PTX_NONE;
            if (v->operand_count != 0 || v->is_launch)
                state[p * PTX_NOTE_SAME] = event->value;
        }
}

/* What both ways to a block say of a piece; whether that is less than @to said. */
static bool join(uint32_t *to, const uint32_t *from)
{
    uint32_t kept = 0;
    bool changed = false;

    if (to[0] == UNSEEN) {
        memcpy(to, from, PTX_NOTE_SAME * sizeof *to);
        return true;
    }
    for (uint32_t k = 0; k < PTX_NOTE_SAME && to[k] != PTX_NONE; k++) {
        bool both = false;

        for (uint32_t i = 0; i < PTX_NOTE_SAME; i++)
            both |= from[i] == to[k];
        if (both)
            to[kept++] = to[k];
        else
            changed = true;
    }
    while (kept < PTX_NOTE_SAME)
        to[kept++] = PTX_NONE;
    return changed;
}

static bool solve(struct following *f, uint32_t *in)
{
    const struct ptx_noting *noting = f->noting;
    const uint32_t count = f->pieces->count;
    bool changed = true;

    while (changed) { /* unseen, then fewer and fewer values */
        changed = false;
        for (uint32_t b = 0; b < noting->blocks.count; b++) {
            const struct ptx_noted_block *block = &noting->blocks.at[b];
            uint32_t state[PTX_NOTE_PIECES * PTX_NOTE_SAME];

            if (!ptx_spend(f->pl, 1 + count * (1 + f->first[b + 1] - f->first[b])))
                return false;
            memcpy(state, in + b * count * PTX_NOTE_SAME, count * PTX_NOTE_SAME * sizeof *state);
            if (state[0] == UNSEEN)
                continue;
            for (uint32_t e = f->first[b]; e < f->first[b + 1]; e++)
                apply(f, &f->events.at[e], state);
            for (size_t s = 0; s < block->succ.count; s++)
                for (uint32_t p = 0; p < count; p++)
                    changed |= join(in + (block->succ.at[s] * count + p) * PTX_NOTE_SAME, state + p * PTX_NOTE_SAME);
        }
    }
    return true;
}

static void add_range(struct following *f, struct ptx_noted_pieces *pieces, uint32_t from, uint32_t to, const uint32_t *state)
{
    struct ptx_noted_range *last = pieces->ranges.count != 0 ? &pieces->ranges.at[pieces->ranges.count - 1] : NULL;
    const uint32_t all = pieces->count * PTX_NOTE_SAME;
    bool known = false;
    uint32_t *copy;

    for (uint32_t p = 0; p < pieces->count; p++)
        known |= state[p * PTX_NOTE_SAME] < UNSEEN;
    if (from >= to || !known)
        return;
    if (last != NULL && last->to == from && memcmp(last->value, state, all * sizeof *state) == 0) {
        last->to = to;
        return;
    }
    copy = PTX_ARRAY(f->pl->job, uint32_t, all);
    memcpy(copy, state, all * sizeof *copy);
    *PTX_PUSH(f->pl->job, pieces->ranges) = (struct ptx_noted_range){from, to, copy};
}

/* Whether every way from the entry to block @to goes through @over. */
static bool dominates(const struct following *f, uint32_t over, uint32_t to)
{
    struct ptx_noting *noting = f->noting;
    PTX_LIST(uint32_t) work = {0};
    uint32_t *seen;

    if (over == to || over == 0)
        return true;
    if (!ptx_spend(f->pl, 1 + noting->blocks.count))
        return false;
    if (noting->seen == NULL)
        noting->seen = PTX_ARRAY(f->pl->job, uint32_t, noting->blocks.count);
    seen = noting->seen;
    noting->generation++;
    *PTX_PUSH(f->pl->job, work) = 0;
    seen[0] = noting->generation;
    while (work.count != 0) {
        const struct ptx_noted_block *block = &noting->blocks.at[work.at[--work.count]];

        if (!ptx_spend(f->pl, 4))
            return false;
        for (size_t s = 0; s < block->succ.count; s++) {
            const uint32_t next = block->succ.at[s];

            if (next == over || seen[next] == noting->generation)
                continue;
            seen[next] = noting->generation;
            *PTX_PUSH(f->pl->job, work) = next;
        }
    }
    return seen[to] != noting->generation;
}

/* Which notes of a kernel's parameter say what it was launched with: those of registers that are loaded from
 * it, and notes without a value on the way there: LLVM leaves such where it has moved the load down. Events
 * are the notes with a value of that kind in their place. False: all of them say so. */
static bool find_launch_values(struct following *f, const struct ptx_noted_variable *variable, uint32_t *launch)
{
    struct ptx_noting *noting = f->noting;
    bool changes = false;

    *launch = (uint32_t)noting->values.count;
    *PTX_PUSH(f->pl->job, noting->values) = (struct ptx_noted_value){.is_launch = true};
    for (size_t i = variable->notes.count; i-- > 0;) { /* in f->events, the last one first */
        struct ptx_noted_event event = variable->notes.at[i];
        const struct ptx_noted_value v = noting->values.at[event.value];
        const bool plain = v.expression_size == 0 ||
                           (v.bytes != 0 && strncmp(v.expression, "DW_OP_LLVM_fragment", 19) == 0);
        bool same = v.if_parameter || (v.operand_count == 1 && v.operand[0].kind == PTX_NOTE_REG && plain &&
                    (is_loaded_from(f->pl, noting, v.operand[0].reg, f->param, v.first, 0) ||
                     was_loaded_from(f->pl, noting, &event, v.operand[0].reg, f->param, v.first)));

        for (size_t e = 0; e < f->events.count && v.operand_count == 0 && !same && ptx_spend(f->pl, 1); e++) {
            const struct ptx_noted_value *later = &noting->values.at[f->events.at[e].value];

            same = later->is_launch && later->first == v.first && later->bytes == v.bytes &&
                   dominates(f, event.block, f->events.at[e].block);
        }
        if (v.bytes != 0 && same) {
            event.value = (uint32_t)noting->values.count;
            *PTX_PUSH(f->pl->job, noting->values) =
                (struct ptx_noted_value){.is_launch = true, .first = v.first, .bytes = v.bytes};
        } else if (same) {
            event.value = *launch;
        } else {
            changes = true;
        }
        *PTX_PUSH(f->pl->job, f->events) = event;
    }
    for (size_t i = 0; i < f->events.count / 2; i++) {
        const struct ptx_noted_event last = f->events.at[f->events.count - 1 - i];

        f->events.at[f->events.count - 1 - i] = f->events.at[i];
        f->events.at[i] = last;
    }
    return changes;
}

/* Each statement that writes the register, once. */
static void add_writes(struct following *f, size_t notes, uint32_t reg)
{
    const struct ptx_noting *noting = f->noting;

    for (size_t e = notes; e < f->events.count && ptx_spend(f->pl, 1); e++)
        if (f->events.at[e].value == reg)
            return;
    for (uint32_t w = noting->first_write[reg]; w < noting->first_write[reg + 1] && ptx_spend(f->pl, 1); w++)
        *PTX_PUSH(f->pl->job, f->events) = (struct ptx_noted_event){
            .at = 2 * noting->writes[w] + 1, .block = noting->block_of[noting->writes[w]], .value = reg, .kills = true};
}

enum ptx_noted ptx_debug_notes_follow(struct ptx_placing *pl, struct ptx_noting *noting,
                                      const struct ptx_noted_variable *variable, uint32_t param,
                                      struct ptx_noted_pieces *pieces)
{
    struct following f = {.pl = pl, .noting = noting, .pieces = pieces, .param = param};
    const uint32_t blocks = (uint32_t)noting->blocks.count;
    uint32_t *in, launch = PTX_NONE;

    if (!find_edges(noting, variable, pieces) || noting->entries[variable - noting->variables.at] > 1 ||
        !ptx_spend(pl, variable->notes.count + (uint64_t)blocks * pieces->count))
        return PTX_NOTED_NOTHING;
    if (param != PTX_NONE) {
        if (!find_launch_values(&f, variable, &launch))
            return PTX_NOTED_LAUNCH;
    } else {
        for (size_t i = 0; i < variable->notes.count; i++)
            *PTX_PUSH(pl->job, f.events) = variable->notes.at[i];
    }
    const size_t notes = f.events.count;

    for (size_t i = 0; i < notes; i++) {
        const struct ptx_noted_value v = noting->values.at[f.events.at[i].value];

        for (unsigned k = 0; k < v.operand_count && !v.is_launch; k++)
            for (uint32_t reg = v.operand[k].kind == PTX_NOTE_REG ? v.operand[k].reg : PTX_NONE; reg != PTX_NONE;
                 reg = ptx_debug_copied_from(pl, reg))
                add_writes(&f, notes, reg);
    }
    for (size_t e = 0; e < f.events.count; e++)
        f.events.at[e].order = (uint32_t)e;
    qsort(f.events.at, f.events.count, sizeof *f.events.at, compare_events);
    f.first = PTX_ARRAY(pl->job, uint32_t, blocks + 2);
    for (size_t e = 0; e < f.events.count; e++)
        f.first[f.events.at[e].block + 1]++;
    for (uint32_t b = 0; b < blocks; b++)
        f.first[b + 1] += f.first[b];
    const uint32_t all = pieces->count * PTX_NOTE_SAME;

    in = PTX_ARRAY(pl->job, uint32_t, (blocks + 1) * all);
    for (uint32_t i = 0; i < blocks * all; i++)
        in[i] = i >= all ? (uint32_t)UNSEEN : i % PTX_NOTE_SAME == 0 ? launch : PTX_NONE;
    if (!solve(&f, in))
        return PTX_NOTED_NOTHING;
    for (uint32_t b = 0; b < blocks; b++) {
        const struct ptx_noted_block *block = &noting->blocks.at[b];
        uint32_t *state = in + b * all, from = block->first;

        for (uint32_t e = f.first[b]; e < f.first[b + 1]; e++) {
            const uint32_t next = (f.events.at[e].at + 1) / 2; /* the first statement after it */

            add_range(&f, pieces, from, next < block->end ? next : block->end, state);
            from = next > from ? next : from;
            apply(&f, &f.events.at[e], state);
        }
        add_range(&f, pieces, from, block->end, state);
    }
    return pieces->ranges.count != 0 ? PTX_NOTED_RANGES : PTX_NOTED_NOTHING;
}
