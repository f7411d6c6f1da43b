/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the notes of a function's text. A note gives the value of a source variable from its position in the text on. Also finds
 * the basic blocks of the statements, and the registers that statements write. ptx_debug_noteflow.c propagates the values. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = ISA_EXPRESSION_BYTES };

/* ---- reading ------------------------------------------------------------------------------------ */

struct ptx_name ptx_note_word(struct ptx_note_words *words)
{
    struct ptx_name word;

    while (words->at < words->end && (*words->at == ' ' || *words->at == ',' || *words->at == '\r'))
        words->at++;
    word.text = words->at;
    while (words->at < words->end && *words->at != ' ' && *words->at != ',' && *words->at != '\r')
        words->at++;
    word.size = (size_t)(words->at - word.text);
    return word;
}

bool ptx_note_number(struct ptx_name word, unsigned base, uint64_t *out)
{
    const bool negative = base == 10 && word.size != 0 && word.text[0] == '-';
    uint64_t value = 0;

    for (size_t i = negative; i < word.size; i++) {
        const char c = word.text[i];
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                      : 16;

        if (digit >= base || __builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = negative ? -value : value;
    return word.size > negative;
}

static bool read_operand(struct ptx_placing *pl, struct ptx_name word, struct ptx_note_operand *out)
{
    const char *colon = word.size != 0 ? memchr(word.text, ':', word.size) : NULL;
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
        return ptx_note_number((struct ptx_name){word.text + 2, word.size - 2}, 16, &out->value);
    }
    if (word.size == 0 || word.text[0] != '%')
        return ptx_note_number(word, 10, &out->value);
    if (colon != NULL) {
        if (!ptx_note_number((struct ptx_name){colon + 1, word.size - (size_t)(colon + 1 - word.text)}, 10, &out->value) ||
            out->value == 0 || out->value > 64)
            return false;
        out->bits = (uint8_t)out->value;
        out->value = 0;
        word.size = (size_t)(colon - word.text);
    }
    if (word.size >= sizeof name)
        return false;
    memcpy(name, word.text, word.size);
    name[word.size] = '\0';
    out->kind = PTX_NOTE_REG;
    out->reg = ptx_debug_register(pl, name);
    return out->reg != PTX_NONE;
}

/* Reads the piece of the variable from DW_OP_LLVM_fragment, which is the last operation of an expression. Returns false if the
 * piece is too large or does not consist of whole bytes. */
static bool read_piece(struct ptx_noted_value *v)
{
    struct ptx_note_words c = {v->expression, v->expression + v->expression_size};

    for (struct ptx_name word = ptx_note_word(&c); word.size != 0; word = ptx_note_word(&c)) {
        uint64_t first, bits;

        if (!ptx_name_is(word, "DW_OP_LLVM_fragment"))
            continue;
        if (!ptx_note_number(ptx_note_word(&c), 10, &first) || !ptx_note_number(ptx_note_word(&c), 10, &bits) || first % 8 != 0 ||
            bits % 8 != 0 || bits == 0 || first / 8 > MOST_BYTES || bits / 8 > MOST_BYTES || first / 8 + bits / 8 > MOST_BYTES)
            return false;
        v->first = (uint32_t)first / 8;
        v->bytes = (uint32_t)bits / 8;
    }
    return true;
}

/* Matches the sum of a register and a constant, such as "plus_uconst N" or "constu N, or". LLVM uses `or` only if both have
 * no bit in common. */
static void read_sum(struct ptx_noted_value *v)
{
    struct ptx_note_words c = {v->expression, v->expression + v->expression_size};
    struct ptx_name word = ptx_note_word(&c);
    const bool plus = ptx_name_is(word, "DW_OP_plus_uconst");
    uint64_t n;

    if (v->operand_count != 1 || v->operand[0].kind != PTX_NOTE_REG ||
        (!plus && !ptx_name_is(word, "DW_OP_constu") && !ptx_name_is(word, "DW_OP_consts")) || !ptx_note_number(ptx_note_word(&c), 10, &n))
        return;
    word = plus ? ptx_note_word(&c) : word;
    if (!plus) {
        word = ptx_note_word(&c);
        if (ptx_name_is(word, "DW_OP_minus"))
            n = -n;
        else if (!ptx_name_is(word, "DW_OP_plus") && !ptx_name_is(word, "DW_OP_or"))
            return;
        word = ptx_note_word(&c);
    }
    if (!ptx_name_is(word, "DW_OP_stack_value") || ptx_note_word(&c).size != 0)
        return;
    v->is_sum = true;
    v->addend = (int64_t)n;
}

/* Reads "(EXPRESSION) OPERAND...". */
static struct ptx_noted_value read_value(struct ptx_placing *pl, struct ptx_note_words c)
{
    struct ptx_noted_value v = {0};
    const char *close = c.at < c.end && *c.at == '(' ? memchr(c.at, ')', (size_t)(c.end - c.at)) : NULL;

    if (close == NULL)
        return v;
    v.expression = c.at + 1;
    v.expression_size = (uint32_t)(close - v.expression);
    c.at = close + 1;
    for (struct ptx_name word = ptx_note_word(&c); word.size != 0; word = ptx_note_word(&c)) {
        v.if_parameter |= ptx_name_is(word, "launch");
        if (v.operand_count == PTX_NOTE_OPERANDS || !read_operand(pl, word, &v.operand[v.operand_count])) {
            v.operand_count = 0;
            break;
        }
        v.operand_count++;
    }
    /* LLVM folds operations on constants. If such operations remain, instruction selection has replaced a computed value by one
     * of its operands, so the note's value is wrong. */
    if (v.operand_count == 1 && v.operand[0].kind == PTX_NOTE_CONST && v.expression_size != 0 &&
        strncmp(v.expression, "DW_OP_LLVM_fragment", 19) != 0)
        v.operand_count = 0;
    read_sum(&v);
    if (!read_piece(&v)) {
        v.operand_count = 0;
        v.first = 0;
        v.bytes = 0; /* the note does not say which piece of the variable changes, so the note makes the whole variable unknown */
    }
    return v;
}

/* ---- blocks of statements -------------------------------------------------------------------------- */

bool ptx_note_ends_block(const struct ptx_insn *in)
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
    uint8_t *starts;     /* by statement: whether a block starts with the statement */
    uint32_t *label;     /* by statement: 1 + the line of the last label before the statement that branches target, or 0 if
                          * there is no such label */
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

        if (!ptx_note_ends_block(in))
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
        const bool leaves = ptx_note_ends_block(last) && last->guard == PTX_NONE;

        l->block = &noting->blocks.at[b];
        if (last->op == PTX_BRA || last->op == PTX_BRX)
            each_label(last->operand, last->operand_count, add_target, l);
        if (!leaves && b + 1 < noting->blocks.count)
            *PTX_PUSH(pl->job, l->block->succ) = b + 1;
    }
    for (uint32_t b = 0; b < noting->blocks.count; b++)
        for (size_t s = 0; s < noting->blocks.at[b].succ.count; s++)
            *PTX_PUSH(pl->job, noting->blocks.at[noting->blocks.at[b].succ.at[s]].pred) = b;
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
    memmove(first + 1, first, regs * sizeof *first); /* the second pass has advanced first[r] to the start of the list of
                                                      * register r + 1 */
    first[0] = 0;
}

void ptx_debug_note_register(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t value)
{
    const struct ptx_noted_value *v = &noting->values.at[value];
    uint32_t key[4] = {v->operand[0].reg, v->operand[0].bits, v->first, v->bytes};
    char *copy = ptx_new(pl->job, 1, sizeof key);

    memcpy(copy, key, sizeof key);
    ptx_map_put(pl->job, &noting->by_register, copy, sizeof key, value);
}

bool ptx_note_is_written(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_value *v,
                         uint32_t from, uint32_t to)
{
    for (unsigned k = 0; k < v->operand_count; k++) {
        const uint32_t reg = v->operand[k].reg;

        if (v->operand[k].kind != PTX_NOTE_REG)
            continue;
        for (uint32_t w = noting->first_write[reg]; w < noting->first_write[reg + 1]; w++)
            if (!ptx_spend(pl, 1) || (noting->writes[w] >= from && noting->writes[w] < to))
                return true;
    }
    return false;
}

/* Handles a note between instructions that were scheduled before their .loc (struct ptx_early) and this .loc. The value is
 * valid from the start of these instructions on, so an event is added there. If these instructions compute the value, or are
 * in an earlier block, the event makes the value unknown instead. The note remains at its own position, because other notes
 * of the variable may be between the two positions. */
static void note_early(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_note *note,
                       const struct ptx_noted_event *event, struct ptx_noted_variable *variable)
{
    const struct ptx_function *fn = pl->fn;
    const struct ptx_noted_value v = noting->values.at[event->value];
    struct ptx_noted_event before = *event;
    const struct ptx_early *early = ptx_debug_early(fn, note->line);
    uint32_t start;

    if (early == NULL)
        return;
    start = ptx_debug_statements_before(fn, early->given);
    for (; start < noting->blocks.at[event->block].first && ptx_spend(pl, 1); start = noting->blocks.at[before.block].end) {
        before.at = 2 * start;
        before.block = noting->block_of[start];
        before.value = (uint32_t)noting->values.count;
        before.doubts = true;
        *PTX_PUSH(pl->job, noting->values) = (struct ptx_noted_value){.first = v.first, .bytes = v.bytes};
        *PTX_PUSH(pl->job, variable->notes) = before;
    }
    before = *event;
    if (2 * start >= event->at)
        return;
    before.at = 2 * start;
    if (ptx_note_is_written(pl, noting, &v, start, event->at / 2)) {
        before.value = (uint32_t)noting->values.count;
        before.doubts = true;
        *PTX_PUSH(pl->job, noting->values) = (struct ptx_noted_value){.first = v.first, .bytes = v.bytes};
    }
    *PTX_PUSH(pl->job, variable->notes) = before;
}

/* Returns whether several statements write the register, or write a register of which this one is a copy. */
static bool is_counter(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg)
{
    for (unsigned copies = 0; copies < 3; copies++) {
        const uint32_t first = noting->first_write[reg], count = noting->first_write[reg + 1] - first;
        const struct ptx_insn *in = count == 1 ? &pl->fn->insns.at[noting->writes[first]] : NULL;

        if (count > 1)
            return true;
        if (in == NULL || in->op != PTX_MOV || in->operand_count != 2 || in->operand[0].kind != PTX_O_REG || in->operand[1].kind != PTX_O_REG)
            return false;
        reg = in->operand[1].reg;
    }
    return false;
}

/* Drops pieces of variables in a register that is a counter (is_counter()): clang's loop strength reduction replaces the
 * counter of a loop by another counter, and the debug value of a piece omits the constant that must be added to the new
 * counter. */
static void drop_reduced(struct ptx_placing *pl, struct ptx_noting *noting)
{
    for (size_t i = 0; i < noting->values.count; i++) {
        struct ptx_noted_value *v = &noting->values.at[i];

        for (unsigned k = 0; k < v->operand_count && v->bytes != 0; k++)
            if (v->operand[k].kind == PTX_NOTE_REG && is_counter(pl, noting, v->operand[k].reg))
                v->operand_count = 0;
    }
}

static int compare_lines(const void *a, const void *b)
{
    const struct ptx_noted_line *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->reached > y->reached ? -1 : x->reached < y->reached;
}

/* Sorts the lines and loops of a variable, which may be in any order in the text, and finds the innermost loop around each
 * loop. */
static void sort_lines(struct ptx_placing *pl, struct ptx_noted_lines *lines)
{
    if (lines->count > 1)
        qsort(lines->at, lines->count, sizeof *lines->at, compare_lines);
    if (lines->loops.count > 1)
        qsort(lines->loops.at, lines->loops.count, sizeof *lines->loops.at, compare_lines);
    for (size_t i = 0; i < lines->loops.count; i++) {
        uint32_t around = (uint32_t)i;

        while (around != 0 && lines->loops.at[around - 1].reached < lines->loops.at[i].line && ptx_spend(pl, 1))
            around = lines->outer.at[around - 1];
        *PTX_PUSH(pl->job, lines->outer) = around;
    }
}

/* Reads a note about the source of a variable. Returns false if the text is another note. The note has one of three forms, which
 * ptx_values.c describes:
 *
 *   NAME LINE = END,ONCE,BODY,END,LINE:REACHED:BEGIN...,.MEMBER...,&PASSED...,~,+STEP,<LIMIT,-LOOP:END:JUMPS...
 *                            the lines that may assign to the variable, those that only assign to a member, lines
 *                            of calls that may assign to the variable, and loops
 *   NAME LINE @ USE...       the uses of a variable in memory
 *   NAME LINE :END TOKEN...  the initialiser of a variable whose scope ends at line END
 */
static bool read_lines(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_note *note)
{
    struct ptx_note_words c = {note->text, note->text + note->size};
    const struct ptx_name name = ptx_note_word(&c), declared = ptx_note_word(&c);
    struct ptx_noted_lines lines = {0};
    uint32_t head[4];
    uint64_t line;

    const struct ptx_name mark = ptx_note_word(&c);

    if (ptx_name_is(mark, "@")) { /* "NAME LINE @ USE..." */
        ptx_map_put(pl->job, &noting->uses_by_name, name.text, (size_t)(declared.text + declared.size - name.text),
                    (uint32_t)noting->uses.count);
        *PTX_PUSH(pl->job, noting->uses) = (struct ptx_name){c.at, (size_t)(c.end - c.at)};
        return true;
    }
    if (mark.size != 0 && mark.text[0] == ':') { /* "NAME LINE :END TOKEN..." */
        const char *key = name.text;
        const size_t size = (size_t)(declared.text + declared.size - name.text);
        const uint32_t *known = ptx_map_find(&noting->initialisers_by_name, key, size);

        if (known != NULL) {
            noting->initialisers.at[*known] = (struct ptx_noted_initialiser){.end = 0};
            return true;
        }
        if (!ptx_note_number((struct ptx_name){mark.text + 1, mark.size - 1}, 10, &line) || line > UINT32_MAX)
            return true;
        ptx_map_put(pl->job, &noting->initialisers_by_name, key, size, (uint32_t)noting->initialisers.count);
        *PTX_PUSH(pl->job, noting->initialisers) =
            (struct ptx_noted_initialiser){.tokens = {c.at, (size_t)(c.end - c.at)}, .end = (uint32_t)line};
        return true;
    }
    if (!ptx_name_is(mark, "="))
        return false;
    if (!ptx_note_number(declared, 10, &line) || line > UINT32_MAX)
        return true;
    lines.declared = (uint32_t)line;
    for (unsigned k = 0; k < LW_COUNT_OF(head); k++) {
        if (!ptx_note_number(ptx_note_word(&c), 10, &line) || line > UINT32_MAX)
            return true;
        head[k] = (uint32_t)line;
    }
    lines.end = head[0];
    lines.once = head[1] == 1;
    lines.declared_once = head[1] == 2;
    lines.function = head[2];
    lines.function_end = head[3];
    for (struct ptx_name word = ptx_note_word(&c); word.size != 0 && ptx_spend(pl, 1); word = ptx_note_word(&c)) {
        const char *colon = memchr(word.text, ':', word.size);
        const bool loop = word.text[0] == '-';
        const struct ptx_name number = {word.text + loop, colon != NULL ? (size_t)(colon - word.text) - loop : 0};
        const char *second = colon != NULL ? memchr(colon + 1, ':', (size_t)(word.text + word.size - colon - 1)) : NULL;
        const char *end = word.text + word.size;
        uint64_t reached, begins = 0, other = 0;
        const char *third = second != NULL ? memchr(second + 1, ':', (size_t)(end - second - 1)) : NULL;

        if (third != NULL && ptx_note_number((struct ptx_name){third + 1, (size_t)(end - third - 1)}, 10, &other) && other <= UINT32_MAX)
            end = third;
        if (word.text[0] == '+' && ptx_note_number((struct ptx_name){word.text + 1, word.size - 1}, 10, &line))
            lines.step = (int64_t)line;
        if ((word.text[0] == '.' || word.text[0] == '&') && ptx_note_number((struct ptx_name){word.text + 1, word.size - 1}, 10, &line) &&
            line <= UINT32_MAX)
            *PTX_PUSH(pl->job, lines.marks) = (struct ptx_noted_mark){(uint32_t)line, word.text[0]};
        lines.computed |= ptx_name_is(word, "~");
        if (word.text[0] == '<' && ptx_note_number((struct ptx_name){word.text + 1, word.size - 1}, 10, &line)) {
            lines.limit = (int64_t)line;
            lines.has_limit = true;
        }
        if (colon == NULL || !ptx_note_number(number, 10, &line) || line > UINT32_MAX ||
            !ptx_note_number((struct ptx_name){colon + 1, (size_t)((second != NULL ? second : end) - colon - 1)}, 10, &reached) || reached > UINT32_MAX ||
            (second != NULL && (!ptx_note_number((struct ptx_name){second + 1, (size_t)(end - second - 1)}, 10, &begins) || begins > UINT32_MAX)))
            continue;
        if (loop) {
            other = begins >> 1;
            begins &= 1;
        }
        *(loop ? PTX_PUSH(pl->job, lines.loops) : PTX_PUSH(pl->job, lines)) =
            (struct ptx_noted_line){(uint32_t)line, (uint32_t)reached, (uint32_t)begins, (uint32_t)other};
    }
    sort_lines(pl, &lines);
    ptx_map_put(pl->job, &noting->lines_by_name, name.text, (size_t)(declared.text + declared.size - name.text),
                (uint32_t)noting->lines.count);
    *PTX_PUSH(pl->job, noting->lines) = lines;
    return true;
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
        struct ptx_note_words c = {note->text, note->text + note->size};
        struct ptx_noted_event event = {0};
        const uint32_t *known;
        uint32_t key, before;

        if (read_lines(pl, noting, note))
            continue;
        for (unsigned word = 0; word < 3; word++) { /* reads the key "NAME LINE CALLS", whose third word contains commas */
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
            if (ptx_note_is_plain(&noting->values.at[event.value]) && noting->values.at[event.value].operand[0].kind == PTX_NOTE_REG)
                ptx_debug_note_register(pl, noting, event.value);
        } else {
            event.value = *known;
        }
        before = ptx_debug_statements_before(fn, note->line);
        event.at = 2 * before;
        if (before == fn->insns.count)
            continue; /* the note is after the last statement */
        event.block = noting->block_of[before];
        if (before != 0 && labels.label[before] > note->line + 1)
            event.block--; /* the note is before the label, so it belongs to the end of the preceding block */
        known = ptx_map_find(&noting->by_key, note->text, key);
        if (known == NULL) {
            ptx_map_put(pl->job, &noting->by_key, note->text, key, (uint32_t)noting->variables.count);
            *PTX_PUSH(pl->job, noting->variables) = (struct ptx_noted_variable){.key = note->text, .key_size = key, .to = UINT32_MAX};
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

/* Sets the range of statements of a variable: the range of the innermost scope around debug entry @die that has one, extended to
 * all notes of the variable. */
static void find_scope(const struct ptx_placing *pl, struct ptx_noted_variable *variable, uint32_t die)
{
    const struct ptx_debug *debug = pl->debug;
    const struct ptx_mark *low = NULL, *high = NULL;

    for (uint32_t at = debug->dies.at[die].parent; at != PTX_NONE && low == NULL; at = debug->dies.at[at].parent) {
        const struct ptx_value *from = ptx_debug_value(debug, at, ISA_AT_LOW_PC), *to = ptx_debug_value(debug, at, 0x12);

        if (from != NULL && to != NULL && from->fixup != NULL && to->fixup != NULL && from->fixup->addend == 0 &&
            to->fixup->addend == 0) {
            low = ptx_debug_mark(debug, from->fixup);
            high = ptx_debug_mark(debug, to->fixup);
        }
        if (ptx_debug_value(debug, at, ISA_AT_RANGES) != NULL)
            break;
    }
    if (low == NULL || high == NULL || low->function != pl->function || high->function != pl->function)
        return;
    variable->from = ptx_debug_statements_before(pl->fn, low->line);
    variable->to = ptx_debug_statements_before(pl->fn, high->line);
    for (size_t i = 0; i < variable->notes.count; i++) {
        const uint32_t at = variable->notes.at[i].at / 2;

        variable->from = at < variable->from ? at : variable->from;
        variable->to = at + 1 > variable->to ? at + 1 : variable->to;
    }
}

uint32_t ptx_debug_note_call_line(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t statement,
                                  uint32_t frame)
{
    const struct ptx_debug *debug = pl->debug;
    uint32_t call = 0, at = noting->owner[statement];

    for (; at != frame && at != 0 && at != PTX_NONE; at = debug->dies.at[at].parent)
        if (debug->dies.at[at].tag == ISA_TAG_INLINED)
            call = at;
    return at == frame && call != 0 ? (uint32_t)number_at(debug, call, ISA_AT_CALL_LINE) : 0;
}

static void find_owners(struct ptx_placing *pl, struct ptx_noting *noting)
{
    const struct ptx_unit *unit = pl->unit;

    noting->owner = PTX_ARRAY(pl->job, uint32_t, pl->fn->insns.count + 1);
    for (size_t i = 0; pl->owner != NULL && i < unit->code.count; i++) {
        const uint32_t statements = ptx_debug_statements_before(pl->fn, unit->code.at[i].line + 1);

        if (statements != 0 && pl->index[i] != pl->index[i + 1])
            noting->owner[statements - 1] = pl->owner[pl->index[i]];
    }
}

static bool is_loaded_from(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint32_t param,
                           uint64_t offset, unsigned depth);

/* Returns true if a statement loads byte @offset of the parameter into the register. */
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

/* Returns true if all writes of a register are loads from byte @offset of the parameter. */
static bool is_loaded_from(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint32_t param,
                           uint64_t offset, unsigned depth)
{
    for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1]; k++)
        if (!loads(pl, noting, &pl->fn->insns.at[noting->writes[k]], reg, param, offset, depth))
            return false;
    return noting->first_write[reg] != noting->first_write[reg + 1];
}

/* Returns true if the register's last write before @note is in the note's basic block and loads byte @offset of the
 * parameter (loads()). Unlike is_loaded_from(), the function permits other writes of the register. */
static bool was_loaded_from(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_event *note,
                            uint32_t reg, uint32_t param, uint64_t offset)
{
    for (uint32_t k = noting->first_write[reg + 1]; k-- > noting->first_write[reg];) {
        const uint32_t at = noting->writes[k];

        if (2 * at < note->at) /* the loop finds the last write before the note */
            return noting->block_of[at] == note->block && loads(pl, noting, &pl->fn->insns.at[at], reg, param, offset, 0);
    }
    return false;
}

bool ptx_note_is_loaded(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_event *note, uint32_t reg,
                        uint32_t param, uint64_t offset)
{
    return is_loaded_from(pl, noting, reg, param, offset, 0) || was_loaded_from(pl, noting, note, reg, param, offset);
}

void ptx_debug_notes_match(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t root)
{
    const struct ptx_debug *debug = pl->debug;

    noting->entries = PTX_ARRAY(pl->job, uint8_t, noting->variables.count + 1);
    for (uint32_t i = root + 1; i < debug->dies.at[root].end; i++) {
        const unsigned tag = debug->dies.at[i].tag;
        const struct ptx_noted_variable *variable =
            tag == ISA_TAG_VARIABLE || tag == ISA_TAG_PARAMETER ? ptx_debug_noted(pl, noting, root, i) : NULL;
        const size_t index = variable != NULL ? (size_t)(variable - noting->variables.at) : 0;

        if (tag == ISA_TAG_INLINED)
            *PTX_PUSH(pl->job, noting->calls) = (uint32_t)number_at(debug, i, ISA_AT_CALL_LINE);
        if (variable == NULL || noting->entries[index] == 2)
            continue;
        if (noting->entries[index]++ == 0)
            find_scope(pl, &noting->variables.at[index], i);
    }
    find_owners(pl, noting);
    ptx_debug_notes_doubt(pl, noting);
}

