/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines which debug values of clang agree with the source. LLVM passes that rotate, peel and unroll loops lose debug
 * values, or leave outdated debug values in the copies of the code. Passes that move code leave debug values at the old position.
 * A debug value does not contain the assignment to which it belongs, but the source contains the assignments to which it may
 * belong (ptx_assigned.c). These are compared:
 *
 *   The lines of the code are a path through the source. Between two successive lines of a variable's function, the
 *   source assigns to the variable a number of times. The notes between these lines must have the same number of new
 *   values. If the notes have a different number, or if the number of assignments is unknown, the variable is unknown
 *   until code that follows the next assignment with a note.
 *
 * ptx_debug_noteflow.c propagates the last lines on all paths (struct ptx_note_position) together with the values. A value that
 * the variable already has is not a new value. Therefore a note at a join needs no assignment if the variable has the note's
 * value on all paths to the join.
 */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

#include <stdlib.h>

enum { MOST_LINES = 1 << 20, MOST_BEFORE = 16, MOST_COPIES = 4 };
struct doubting {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    uint32_t nothing; /* index of the value that stands for an unknown value */
};

static const struct ptx_noted_lines *lines_of(const struct doubting *d, const struct ptx_noted_variable *v)
{
    uint32_t size = v->key_size;

    while (size != 0 && v->key[size - 1] != ' ')
        size--;
    const uint32_t *known = size != 0 ? ptx_map_find(&d->noting->lines_by_name, v->key, size - 1) : NULL;

    return known != NULL ? &d->noting->lines.at[*known] : NULL;
}

static bool names(const struct ptx_operand *o, uint32_t reg)
{
    for (unsigned i = 0; o->element != NULL && i < o->count; i++)
        if (names(&o->element[i], reg))
            return true;
    return o->element == NULL && (o->kind == PTX_O_REG || o->kind == PTX_O_ADDRESS) && o->reg == reg;
}

/* Returns whether a statement from @from up to @to reads register @reg before a write of the register, or the budget of the search is
 * used up. Sets *ends to whether an unguarded write ends the search. */
static bool is_read(struct doubting *d, uint32_t reg, uint32_t from, uint32_t to, bool *ends)
{
    const struct ptx_noting *noting = d->noting;

    *ends = false;
    for (uint32_t s = from; s < to && !*ends; s++) {
        const struct ptx_insn *in = &d->pl->fn->insns.at[s];
        bool writes = false;

        for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1] && !writes; k++)
            writes = noting->writes[k] == s;
        for (unsigned i = writes; i < in->operand_count; i++)
            if (names(&in->operand[i], reg))
                return true;
        if (!ptx_spend(d->pl, 1) || in->guard == reg)
            return true;
        *ends = writes && in->guard == PTX_NONE;
    }
    return false;
}

/* Returns whether code after a note may read register @reg. */
static bool is_needed(struct doubting *d, const struct ptx_noted_event *note, uint32_t reg)
{
    struct ptx_noting *noting = d->noting;
    PTX_LIST(uint32_t) blocks = {0};
    const uint32_t from = (note->at + 1) / 2;

    if (noting->seen == NULL)
        noting->seen = PTX_ARRAY(d->pl->job, uint32_t, noting->blocks.count);
    noting->generation++;
    *PTX_PUSH(d->pl->job, blocks) = note->block;
    for (size_t b = 0; b < blocks.count; b++) {
        const struct ptx_noted_block *at = &noting->blocks.at[blocks.at[b]];
        bool ends;

        if (is_read(d, reg, b == 0 ? from : at->first, at->end, &ends))
            return true;
        for (size_t s = 0; s < at->succ.count && !ends; s++)
            if (noting->seen[at->succ.at[s]] != noting->generation) {
                noting->seen[at->succ.at[s]] = noting->generation;
                *PTX_PUSH(d->pl->job, blocks) = at->succ.at[s];
            }
    }
    return false;
}

/* Drops values of arguments of inlined calls if several statements write the argument's register, and another variable is also in
 * this register, or no code reads it any more. In that case clang has coalesced several registers, and does not end debug values of variables that are no
 * longer used. No other rule finds this error for an argument. */
static void doubt_shared(struct doubting *d)
{
    struct ptx_noting *noting = d->noting;
    uint32_t *variable = PTX_ARRAY(d->pl->job, uint32_t, d->pl->fn->regs.count + 1);

    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < noting->variables.count; i++) {
            struct ptx_noted_variable *v = &noting->variables.at[i];
            const struct ptx_noted_lines *lines = lines_of(d, v);
            const bool argument = v->key_size > 2 && v->key[v->key_size - 1] != '-' && lines != NULL && lines->count == 0;

            for (size_t k = 0; k < v->notes.count && ptx_spend(d->pl, 1); k++) {
                const struct ptx_noted_value *value = &noting->values.at[v->notes.at[k].value];
                const uint32_t reg = value->operand_count == 1 && value->operand[0].kind == PTX_NOTE_REG ? value->operand[0].reg : PTX_NONE;

                if (reg == PTX_NONE || noting->first_write[reg + 1] <= noting->first_write[reg] + 1)
                    continue;
                if (pass == 0 && !argument)
                    variable[reg] = 1 + i;
                else if (pass == 1 && argument && (variable[reg] != 0 || !is_needed(d, &v->notes.at[k], reg)))
                    v->notes.at[k].value = d->nothing;
            }
        }
}

/* Returns the last statement before @end in a block that writes a register, or PTX_NONE if there is none. */
static uint32_t last_write(struct doubting *d, uint32_t block, uint32_t end, uint32_t reg)
{
    const struct ptx_noting *noting = d->noting;

    for (uint32_t k = noting->first_write[reg + 1]; k-- > noting->first_write[reg] && ptx_spend(d->pl, 1);)
        if (noting->writes[k] < end && noting->block_of[noting->writes[k]] == block)
            return noting->writes[k];
    return PTX_NONE;
}

/* Returns true if the last write of a register before a note also reads the register. Searches only paths to the note within one
 * iteration of all loops. */
static bool is_updated(struct doubting *d, const struct ptx_noted_event *note, uint32_t reg)
{
    const struct ptx_noting *noting = d->noting;
    uint32_t block[MOST_BEFORE], count = 0;

    block[count++] = note->block;
    for (uint32_t b = 0; b < count && ptx_spend(d->pl, 1); b++) {
        const struct ptx_noted_block *at = &noting->blocks.at[block[b]];
        const uint32_t write = last_write(d, block[b], b == 0 ? (note->at + 1) / 2 : at->end, reg);
        const struct ptx_insn *in = write != PTX_NONE ? &d->pl->fn->insns.at[write] : NULL;

        for (unsigned i = 1; in != NULL && i < in->operand_count; i++)
            if (in->operand[i].kind == PTX_O_REG && in->operand[i].reg == reg)
                return true;
        for (size_t p = 0; p < at->pred.count && in == NULL && count < MOST_BEFORE; p++)
            if (!ptx_note_goes_back(noting, at->pred.at[p], block[b]))
                block[count++] = at->pred.at[p];
    }
    return false;
}

/* Returns true if the value is the extension of a narrower value. */
static bool is_extended(const struct ptx_noted_value *v)
{
    return memmem(v->expression, v->expression_size, "DW_OP_LLVM_convert", 18) != NULL;
}

/* Drops two kinds of values:
 *
 *   - Values that are computed from a register that the last write before the note has updated. clang has coalesced the registers
 *     before and after the update, so it is unknown to which of the two the note refers.
 *   - Extended values of a variable that is a whole register in other notes. If the code uses only the low bits of the variable
 *     from here on, clang's extension may give the wrong high bits. */
static void doubt_computed(struct doubting *d)
{
    struct ptx_noting *noting = d->noting;

    for (size_t i = 0; i < noting->variables.count; i++) {
        struct ptx_noted_variable *v = &noting->variables.at[i];
        unsigned widest = 0;

        for (unsigned pass = 0; pass < 2; pass++)
            for (size_t n = 0; n < v->notes.count && ptx_spend(d->pl, 1); n++) {
                const struct ptx_noted_value *value = &noting->values.at[v->notes.at[n].value];
                const bool plain = ptx_note_is_plain(value);
                bool wrong = false;

                for (unsigned k = 0; k < value->operand_count && !wrong; k++) {
                    const uint32_t reg = value->operand[k].reg;
                    const unsigned bytes = value->operand[k].kind == PTX_NOTE_REG ? ptx_type_bytes(d->pl->fn->regs.at[reg].type) : 0;

                    if (plain && bytes > widest)
                        widest = bytes;
                    wrong = pass == 1 && bytes != 0 && !plain &&
                            ((bytes < widest && is_extended(value)) || is_updated(d, &v->notes.at[n], reg));
                }
                if (wrong)
                    v->notes.at[n].value = d->nothing;
            }
    }
}

/* Returns true if the value is a multiple or a fraction of its operands. */
static bool is_scaled(const struct ptx_noted_value *v)
{
    static const char *const scales[] = {"DW_OP_mul", "DW_OP_div", "DW_OP_sh"};

    for (size_t i = 0; i < LW_COUNT_OF(scales); i++)
        if (v->expression_size != 0 && memmem(v->expression, v->expression_size, scales[i], strlen(scales[i])) != NULL)
            return true;
    return false;
}

/* Drops the plain values of a variable in a register if another value is scaled from this register. Loop strength reduction
 * has replaced the variable by a multiple of it, and clang also notes the multiple itself as the variable's value after the loop,
 * where iterations that remain from unrolling begin. @scaled: by register: 1 + the last variable with a scaled value. */
static void doubt_scaled(struct doubting *d, uint32_t variable, uint32_t *scaled)
{
    struct ptx_noting *noting = d->noting;
    struct ptx_noted_variable *v = &noting->variables.at[variable];

    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t n = 0; n < v->notes.count && ptx_spend(d->pl, 1); n++) {
            const struct ptx_noted_value *value = &noting->values.at[v->notes.at[n].value];

            for (unsigned k = 0; k < value->operand_count; k++) {
                const uint32_t reg = value->operand[k].kind == PTX_NOTE_REG ? value->operand[k].reg : PTX_NONE;

                if (pass == 0 && reg != PTX_NONE && is_scaled(value))
                    scaled[reg] = 1 + variable;
                else if (pass == 1 && reg != PTX_NONE && ptx_note_is_plain(value) && scaled[reg] == 1 + variable)
                    v->notes.at[n].value = d->nothing;
            }
        }
}

/* Drops values of a variable that is assigned once, if several statements compute the value, and one of these belongs to a later
 * line than the assignment. In that case clang has combined the value with an operation of the later line. */
static void doubt_late(struct doubting *d, const struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    const struct ptx_noting *noting = d->noting;

    for (size_t n = 0; n < v->notes.count && lines->once && lines->count != 0 && ptx_spend(d->pl, 1); n++) {
        const struct ptx_noted_value *value = &noting->values.at[v->notes.at[n].value];
        const uint32_t reg = ptx_note_is_plain(value) && value->operand[0].kind == PTX_NOTE_REG ? value->operand[0].reg : PTX_NONE;

        if (reg == PTX_NONE || noting->first_write[reg + 1] - noting->first_write[reg] < 2)
            continue;
        for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1] && ptx_spend(d->pl, 1); k++) {
            const uint32_t line = ptx_note_line(d->pl, noting->writes[k]);

            if (ptx_note_in_scope(lines, line) && line > lines->at[lines->count - 1].line)
                v->notes.at[n].value = d->nothing;
        }
    }
}

/* Returns true if the branch on line @branch decides whether the source executes line @line, which is in the branch's loop or
 * side. */
static bool depends_on(const struct ptx_noted_lines *lines, uint32_t line, uint32_t branch)
{
    const struct ptx_noted_line *loop = ptx_note_loop_from(lines, branch);

    if (loop != NULL && line > branch && line <= loop->reached)
        return true;
    for (size_t k = ptx_note_find_line(lines, line); k < lines->count && lines->at[k].line == line; k++)
        if (lines->at[k].begins == branch)
            return true;
    return false;
}

/* Drops values of assignments that the compiler has moved up, before the branch that decides whether the source assigns: after
 * the branch's condition, the block computes a value on a line that assigns to the variable and depends on the branch. */
static void doubt_speculated(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    const struct ptx_noting *noting = d->noting;

    for (size_t n = 0; n < v->notes.count && ptx_spend(d->pl, 1); n++) {
        struct ptx_noted_event *note = &v->notes.at[n];
        const struct ptx_noted_value *value = &noting->values.at[note->value];
        const uint32_t reg = ptx_note_is_plain(value) && value->operand[0].kind == PTX_NOTE_REG ? value->operand[0].reg : PTX_NONE;
        const uint32_t computed = reg != PTX_NONE ? last_write(d, note->block, (note->at + 1) / 2, reg) : PTX_NONE;
        const uint32_t branch = noting->blocks.at[note->block].end - 1, guard = d->pl->fn->insns.at[branch].guard;

        if (computed == PTX_NONE || computed == branch || d->pl->fn->insns.at[branch].op != PTX_BRA || guard == PTX_NONE)
            continue;
        const uint32_t condition = last_write(d, note->block, branch, guard), line = ptx_note_line(d->pl, computed);

        if (condition < computed && ptx_note_assigns(lines, line, line) && depends_on(lines, line, ptx_note_line(d->pl, branch))) {
            note->value = d->nothing;
            note->doubts = true;
        }
    }
}

/* ---- code of an earlier iteration ---------------------------------------------------------------- */

/* A statement and its next copy: a statement with the same operation and place in the source, in the same block after code of
 * another line. In a loop that clang has unrolled, the copies belong to different iterations. */
struct copy {
    uint32_t statement, next;
};

/* Statement with what its copies have in common. */
struct placed {
    uint32_t block, line, op, owner, statement;
    uint16_t column;
    uint32_t group; /* index of the group of the statement */
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    const uint32_t one[] = {x->block, x->line, x->column, x->op, x->owner, x->statement};
    const uint32_t other[] = {y->block, y->line, y->column, y->op, y->owner, y->statement};

    for (size_t i = 0; i < LW_COUNT_OF(one); i++)
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    return 0;
}

static int compare_copies(const void *a, const void *b)
{
    const struct copy *x = a, *y = b;

    return x->statement < y->statement ? -1 : x->statement > y->statement;
}

/* Finds all statements that have a copy after them in their block, in the order of the text. */
static struct copy *find_copies(struct doubting *d, size_t *count)
{
    const struct ptx_noting *noting = d->noting;
    const uint32_t n = (uint32_t)d->pl->fn->insns.count;
    struct placed *placed = PTX_ARRAY(d->pl->job, struct placed, n + 1);
    struct copy *copies = PTX_ARRAY(d->pl->job, struct copy, n + 1);
    uint32_t found = 0;

    *count = 0;
    for (uint32_t g = 0; g < noting->groups.count; g++)
        for (uint32_t s = noting->groups.at[g].first; s < noting->groups.at[g].end; s++) {
            const struct ptx_insn *in = &d->pl->fn->insns.at[s];

            if (noting->groups.at[g].line != 0)
                placed[found++] = (struct placed){noting->block_of[s], noting->groups.at[g].line, in->op, noting->owner[s], s,
                                                  d->pl->module->locs.at[in->loc].column, g};
        }
    qsort(placed, found, sizeof *placed, compare_placed);
    for (uint32_t i = 0, k = 0; i < found; i++) {
        struct placed other;

        for (k = k > i ? k : i; k < found && placed[k].group == placed[i].group; k++)
            ;
        if (k == found)
            break;
        other = placed[k];
        other.statement = placed[i].statement;
        if (compare_placed(&placed[i], &other) == 0)
            copies[(*count)++] = (struct copy){placed[i].statement, placed[k].statement};
    }
    qsort(copies, *count, sizeof *copies, compare_copies);
    return copies;
}

/* Finds the lines of which an instruction has copies after code of other lines. */
static void find_repeated(struct doubting *d)
{
    struct ptx_noting *noting = d->noting;
    struct placed *placed = PTX_ARRAY(d->pl->job, struct placed, d->pl->fn->insns.count + 1);
    uint32_t found = 0;

    noting->is_repeated = PTX_ARRAY(d->pl->job, uint8_t, noting->last_line + 1);
    for (uint32_t g = 0; g < noting->groups.count; g++)
        for (uint32_t s = noting->groups.at[g].first; s < noting->groups.at[g].end; s++) {
            const struct ptx_insn *in = &d->pl->fn->insns.at[s];

            if (noting->groups.at[g].line != 0)
                placed[found++] = (struct placed){0, noting->groups.at[g].line, in->op, noting->owner[s], s,
                                                  d->pl->module->locs.at[in->loc].column, g};
        }
    qsort(placed, found, sizeof *placed, compare_placed);
    for (uint32_t i = 0; i + 1 < found; i++) {
        const struct placed *x = &placed[i], *y = x + 1;

        if (x->line == y->line && x->column == y->column && x->op == y->op && x->owner == y->owner && x->group != y->group &&
            x->line <= noting->last_line)
            noting->is_repeated[x->line] = 1;
    }
}

static bool is_of_call(const struct ptx_noted_variable *v)
{
    return v->key_size < 2 || v->key[v->key_size - 1] != '-' || v->key[v->key_size - 2] != ' ';
}

/* Returns true if the variable is an argument of an inlined call and in pieces. clang 14 to 16 may pass the memory of the caller's
 * structure. Its notes then include those of the caller's assignments to the structure. */
static bool is_split_argument(const struct ptx_noting *noting, const struct ptx_noted_variable *v)
{
    return v->is_inlined && v->notes.count != 0 && noting->values.at[v->notes.at[0].value].bytes != 0;
}

/* Returns true if the source assigns to the variable between two executions of code on a line: in the loop around the line, or at
 * the declaration, if the line is in no other loop of the scope. */
static bool assigns_before_next(const struct ptx_noted_variable *v, const struct ptx_noted_lines *lines, uint32_t line)
{
    if (!ptx_note_in_scope(lines, line))
        return false;
    if (ptx_note_loop_around(lines, line, line) != NULL)
        return ptx_note_loop_assigns(lines, line, line);
    if (lines->declared_once && !is_of_call(v))
        return false; /* no second execution of the line in the function */
    return line > lines->declared && ptx_note_assigns(lines, lines->declared, lines->declared);
}

/* Returns the last statement from @from on that has a copy before @to, if the source assigns to the variable between two
 * executions of the statement's line. Returns PTX_NONE if there is none. */
static uint32_t last_copied(struct doubting *d, const struct ptx_noted_variable *v, const struct ptx_noted_lines *lines,
                            const struct copy *copies, size_t count, uint32_t from, uint32_t to)
{
    size_t low = 0;

    for (size_t high = count; low < high;) { /* finds the first statement from @to on */
        const size_t middle = low + (high - low) / 2;

        if (copies[middle].statement < to)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0 && copies[low].statement >= from && ptx_spend(d->pl, 1)) {
        if (copies[low].next < to && assigns_before_next(v, lines, ptx_note_line(d->pl, copies[low].statement)))
            return copies[low].statement;
    }
    return PTX_NONE;
}

/* Searches the first @count notes of a variable for notes of the same piece as @value, or of any piece if @value is NULL.
 * Returns the first of their positions (struct ptx_noted_event.at) from @from up to @to, or @to if there is none. */
static uint32_t next_note(struct doubting *d, const struct ptx_noted_variable *v, size_t count, const struct ptx_noted_value *value,
                          uint32_t from, uint32_t to)
{
    for (size_t k = 0; k < count && ptx_spend(d->pl, 1); k++) {
        const struct ptx_noted_value *other = &d->noting->values.at[v->notes.at[k].value];

        if (v->notes.at[k].at >= from && v->notes.at[k].at < to &&
            (value == NULL || (other->first == value->first && other->bytes == value->bytes)))
            to = v->notes.at[k].at;
    }
    return to;
}

/* Hides the values of a variable in a block from position @from (struct ptx_noted_event.at) to statement @last. */
static void hide(struct doubting *d, struct ptx_noted_variable *v, uint32_t block, uint32_t from, uint32_t last)
{
    for (uint8_t k = 1; k <= 2; k++)
        *PTX_PUSH(d->pl->job, v->notes) = (struct ptx_noted_event){
            .at = k == 1 ? from : 2 * (last + 1), .block = block, .value = d->nothing, .doubts = true, .earlier = k};
}

/* Returns whether clang may have moved a note up, away from the code of its iteration: the note is the constant of a loop's counter,
 * or no code of the loop around the line of statement @last is before the note in its block. */
static bool may_be_moved_up(struct doubting *d, const struct ptx_noted_lines *lines, const struct ptx_noted_event *note, uint32_t last)
{
    const struct ptx_noted_value *value = &d->noting->values.at[note->value];
    const uint32_t line = ptx_note_line(d->pl, last);
    const struct ptx_noted_line *loop = ptx_note_loop_around(lines, line, line);

    if (loop == NULL)
        return false;
    for (size_t l = 0; l < lines->loops.count && lines->loops.at[l].line <= line; l++)
        if (lines->loops.at[l].reached >= line && ptx_note_assigns(lines, lines->loops.at[l].line, lines->loops.at[l].line) &&
            ptx_note_is_plain(value) && value->operand[0].kind == PTX_NOTE_CONST)
            return true;
    for (uint32_t s = d->noting->blocks.at[note->block].first; s < note->at / 2 && ptx_spend(d->pl, 1); s++)
        if (ptx_note_line(d->pl, s) >= loop->line && ptx_note_line(d->pl, s) <= loop->reached)
            return false;
    return true;
}

/* Hides the values of a variable in code of earlier iterations. If clang has unrolled a loop, it may move code of an iteration
 * down, after notes of the next iteration. Then a block has two copies of this code without a note of the variable between them,
 * although each iteration assigns to the variable. The first copy belongs to an iteration before the note. If the first copy
 * follows a note in the block, the note's value is hidden up to this copy, or to the next note if clang may have moved this note
 * up. */
static void doubt_earlier(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines, const struct copy *copies,
                          size_t count)
{
    struct ptx_noting *noting = d->noting;
    const size_t notes = v->notes.count;
    uint32_t first = UINT32_MAX;

    for (size_t n = 0; n < notes; n++) {
        first = v->notes.at[n].at < first ? v->notes.at[n].at : first;
        if (noting->values.at[v->notes.at[n].value].operand[0].kind == PTX_NOTE_FRAME)
            return; /* ptx_debug_notememory.c compares the variable's stores with the source */
    }
    for (size_t n = 0; n < notes && count != 0; n++) {
        struct ptx_noted_event event = v->notes.at[n];
        const struct ptx_noted_value value = noting->values.at[event.value];

        if (event.at == first || event.doubts || value.operand_count == 0)
            continue;
        const uint32_t end = next_note(d, v, notes, &value, event.at + 1, 2 * noting->blocks.at[event.block].end);
        const uint32_t last = last_copied(d, v, lines, copies, count, event.at / 2, (end + 1) / 2);

        if (last == PTX_NONE)
            continue;
        const bool up = may_be_moved_up(d, lines, &event, last);

        v->notes.at[n].value = (uint32_t)noting->values.count;
        v->notes.at[n].doubts = true;
        *PTX_PUSH(d->pl->job, noting->values) = (struct ptx_noted_value){.first = value.first, .bytes = value.bytes};
        if (!up && !ptx_note_is_written(d->pl, noting, &value, event.at / 2, last + 1) && 2 * (last + 1) < end) {
            event.at = 2 * (last + 1);
            *PTX_PUSH(d->pl->job, v->notes) = event;
        }
    }
    for (size_t c = 0; c < count && ptx_spend(d->pl, 1);) {
        const uint32_t b = noting->block_of[copies[c].statement], begin = noting->blocks.at[b].first, end = noting->blocks.at[b].end;

        for (; c < count && copies[c].statement < end; c++)
            ;
        if (first >= 2 * begin || end <= v->from || begin >= v->to)
            continue;
        const uint32_t note = next_note(d, v, notes, NULL, 2 * begin, 2 * end);
        const uint32_t last = last_copied(d, v, lines, copies, count, begin, (note + 1) / 2);

        if (last == PTX_NONE)
            continue;
        hide(d, v, b, 2 * begin, last);
    }
}

/* Finds the lines of the function that contains the call of the variable's function, if that function is inlined. */
static void find_caller(const struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    uint32_t at = v->key_size, call = 0;

    v->caller = v->caller_end = UINT32_MAX;
    while (at != 0 && v->key[at - 1] != ' ')
        at--;
    for (; at < v->key_size && v->key[at] >= '0' && v->key[at] <= '9'; at++)
        call = 10 * call + (uint32_t)(v->key[at] - '0');
    v->is_inlined = call != 0;
    for (size_t i = 0; i < d->noting->lines.count && call != 0 && v->caller == UINT32_MAX && ptx_spend(d->pl, 1); i++) {
        const struct ptx_noted_lines *other = &d->noting->lines.at[i];

        if (other->function != 0 && other->function != lines->function && call >= other->function && call <= other->function_end) {
            v->caller = other->function;
            v->caller_end = other->function_end;
        }
    }
}

/* A place in the text at which a loop's head without code begins another iteration. */
struct head {
    uint32_t block, at, line; /* @at: the statement before which the place is */
};

static int compare_heads(const void *a, const void *b)
{
    const struct head *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Returns true if only the head of a loop, on line @head, assigns to a variable after its declaration, and adds a constant. */
static bool counts_in_head(const struct ptx_noted_lines *lines, uint32_t *head)
{
    if (lines == NULL || lines->step == 0 || lines->count == 0)
        return false;
    *head = lines->at[lines->count - 1].line;
    return ptx_note_loop_from(lines, *head) != NULL && (lines->count == 1 || (lines->count == 2 && lines->at[0].line == lines->declared));
}

/* Finds the heads of unrolled loops, which have no code between two iterations: there clang notes that the loop's counter is the
 * same register as before plus one step more. Returns the heads in the order of the text. */
static const struct head *find_heads(struct doubting *d, size_t *count)
{
    const struct ptx_noting *noting = d->noting;
    PTX_LIST(struct head) heads = {0};
    uint32_t line;

    for (size_t i = 0; i < noting->variables.count; i++) {
        const struct ptx_noted_variable *v = &noting->variables.at[i];
        const struct ptx_noted_lines *lines = lines_of(d, v);

        for (size_t n = 1; counts_in_head(lines, &line) && n < v->notes.count && ptx_spend(d->pl, 1); n++) {
            const struct ptx_noted_event *note = &v->notes.at[n];
            const struct ptx_noted_value *value = &noting->values.at[note->value], *last = &noting->values.at[note[-1].value];

            if (value->is_sum && (last->is_sum || ptx_note_is_plain(last)) && last->operand[0].kind == PTX_NOTE_REG &&
                value->operand[0].reg == last->operand[0].reg && value->addend - last->addend == lines->step)
                *PTX_PUSH(d->pl->job, heads) = (struct head){note->block, note->at / 2, line};
        }
    }
    if (heads.count > 1)
        qsort(heads.at, heads.count, sizeof *heads.at, compare_heads);
    *count = heads.count;
    return heads.at;
}

/* Hides the value of a loop's counter in code of the loop's body if the counter has reached its limit there. The compiler has
 * then moved this code down, after the last iteration. */
static void doubt_ended(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    struct ptx_noting *noting = d->noting;
    const size_t notes = v->notes.count;
    uint32_t head;

    for (size_t n = 0; n < notes && lines->has_limit && counts_in_head(lines, &head); n++) {
        const struct ptx_noted_event event = v->notes.at[n];
        const struct ptx_noted_value *value = &noting->values.at[event.value];
        const uint32_t end = next_note(d, v, notes, NULL, event.at + 1, 2 * noting->blocks.at[event.block].end);
        uint32_t last = PTX_NONE;

        if (event.doubts || !ptx_note_is_plain(value) || value->operand[0].kind != PTX_NOTE_CONST || (int64_t)value->operand[0].value < lines->limit)
            continue;
        for (uint32_t s = event.at / 2; s < end / 2 && ptx_spend(d->pl, 1); s++)
            if (ptx_note_line(d->pl, s) > head && ptx_note_line(d->pl, s) <= ptx_note_loop_from(lines, head)->reached)
                last = s;
        if (last != PTX_NONE)
            hide(d, v, event.block, event.at, last);
    }
}

/* Returns whether a register has another constant at the begin of a loop than the loop's counter, whose value is noted as a constant
 * before the loop. Loop strength reduction has then replaced the counter by the register, whose values have an offset. */
static bool has_offset(struct doubting *d, const struct ptx_noted_variable *v, const struct ptx_noted_lines *lines, uint32_t reg)
{
    const struct ptx_noting *noting = d->noting;

    for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1]; k++) {
        const struct ptx_insn *in = &d->pl->fn->insns.at[noting->writes[k]];
        const struct ptx_noted_event *last = NULL;

        if (in->op != PTX_MOV || in->operand_count != 2 || in->operand[1].kind != PTX_O_IMM || in->operand[1].literal != PTX_LIT_INT)
            continue;
        for (size_t n = 0; n < v->notes.count && v->notes.at[n].at <= 2 * noting->writes[k] && ptx_spend(d->pl, 1); n++)
            last = &v->notes.at[n];
        const struct ptx_noted_value *before = last != NULL ? &noting->values.at[last->value] : NULL;

        if (before != NULL && ptx_note_is_plain(before) && before->operand[0].kind == PTX_NOTE_CONST &&
            (uint32_t)(in->operand[1].imm - before->operand[0].value) != 0 &&
            (uint32_t)(in->operand[1].imm - before->operand[0].value) != (uint32_t)lines->step)
            return true;
    }
    return false;
}

/* Drops the values of a loop's counter that are computed from a register with an offset. clang writes such values. */
static void doubt_offset(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    struct ptx_noting *noting = d->noting;
    uint32_t head, bad = PTX_NONE;

    for (size_t n = 0; n < v->notes.count && counts_in_head(lines, &head) && bad == PTX_NONE; n++) {
        const struct ptx_noted_value *value = &noting->values.at[v->notes.at[n].value];

        if (ptx_note_is_plain(value) && value->operand[0].kind == PTX_NOTE_REG && has_offset(d, v, lines, value->operand[0].reg))
            bad = value->operand[0].reg;
    }
    for (size_t n = 0; n < v->notes.count && bad != PTX_NONE; n++) {
        const struct ptx_noted_value *value = &noting->values.at[v->notes.at[n].value];

        for (unsigned k = 0; k < value->operand_count; k++)
            if (value->operand[k].kind == PTX_NOTE_REG && value->operand[k].reg == bad) {
                v->notes.at[n].value = d->nothing;
                break;
            }
    }
}

/* Returns whether a register may have the value that an operation on a line of the variable computes: such an operation, or code
 * without a line, writes the register, or another register that is copied or converted to it. */
static bool may_be_computed(struct doubting *d, const struct ptx_noted_lines *lines, uint32_t reg, unsigned copies)
{
    const struct ptx_noting *noting = d->noting;

    for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1]; k++) {
        const struct ptx_insn *in = &d->pl->fn->insns.at[noting->writes[k]];
        const uint32_t line = ptx_note_line(d->pl, noting->writes[k]);
        const bool moves = in->op == PTX_MOV || in->op == PTX_CVT;

        if (!ptx_spend(d->pl, 1) || line == 0 || in->no_line || d->pl->module->locs.at[in->loc].silent)
            return true;
        if (moves && in->operand_count == 2 && in->operand[1].kind == PTX_O_REG &&
            (copies == 0 || may_be_computed(d, lines, in->operand[1].reg, copies - 1)))
            return true;
        if (!moves && in->op != PTX_LD && ptx_note_assigns(lines, line, line))
            return true;
    }
    return false;
}

/* Drops values of a variable that clang has replaced by another value, because the code does not use the bits in which they differ: if
 * each assignment to the variable computes its value, an operation on such a line must compute the register. */
static void doubt_replaced(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    for (size_t n = 0; n < v->notes.count && lines->computed && ptx_spend(d->pl, 1); n++) {
        const struct ptx_noted_value *value = &d->noting->values.at[v->notes.at[n].value];
        const uint32_t reg = value->operand_count == 1 && value->operand[0].kind == PTX_NOTE_REG && value->bytes == 0 ? value->operand[0].reg : PTX_NONE;

        if (reg != PTX_NONE && ptx_type_class(d->pl->fn->regs.at[reg].type) != PTX_CLASS_FLOAT && !may_be_computed(d, lines, reg, MOST_COPIES))
            v->notes.at[n].value = d->nothing;
    }
}

bool ptx_note_is_replaced(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable,
                          const struct ptx_noted_value *value, uint32_t bytes)
{
    const struct ptx_noted_lines *lines = variable->lines != 0 ? &noting->lines.at[variable->lines - 1] : NULL;
    const uint32_t reg = value->operand_count == 1 && value->operand[0].kind == PTX_NOTE_REG && value->bytes == 0 ? value->operand[0].reg : PTX_NONE;
    unsigned width;
    uint64_t used = 0;

    if (lines == NULL || !is_of_call(variable) || lines->function == 0 || lines->declared > lines->function || reg == PTX_NONE ||
        ptx_type_class(pl->fn->regs.at[reg].type) == PTX_CLASS_FLOAT)
        return false;
    for (uint32_t s = 0; s < pl->fn->insns.count && ptx_spend(pl, 1); s++)
        if (ptx_note_line(pl, s) >= lines->function && ptx_note_line(pl, s) <= lines->function_end)
            used |= ptx_debug_demand_of(pl, noting, s, reg);
    width = 8 * ptx_type_bytes(pl->fn->regs.at[reg].type);
    width = bytes != 0 && 8 * bytes < width ? 8 * bytes : width;
    return used != 0 && width != 0 && (~used & (UINT64_MAX >> (64 - width))) != 0;
}

static void find_groups(struct doubting *d)
{
    struct ptx_noting *noting = d->noting;
    const uint32_t n = (uint32_t)d->pl->fn->insns.count;
    uint32_t last_block = PTX_NONE;
    bool merged = false;
    size_t count, h = 0;
    const struct head *heads = find_heads(d, &count);

    noting->first_group = PTX_ARRAY(d->pl->job, uint32_t, noting->blocks.count + 1);
    for (uint32_t s = 0; s < n; s++) {
        struct ptx_note_group *last = noting->groups.count != 0 ? &noting->groups.at[noting->groups.count - 1] : NULL;
        const struct ptx_insn *in = &d->pl->fn->insns.at[s];
        const uint32_t line = ptx_note_line(d->pl, s), block = noting->block_of[s];
        const bool silent = in->loc < d->pl->module->locs.count && d->pl->module->locs.at[in->loc].silent;
        bool begins = block != last_block || last->line != line || s != last->end;

        if (s == noting->blocks.at[block].first) {
            noting->first_group[block] = (uint32_t)noting->groups.count;
            merged = false;
        }
        merged |= silent && in->op == PTX_ST;
        for (; h < count && heads[h].at <= s; h++)
            if (heads[h].at == s && heads[h].block == block) {
                *PTX_PUSH(d->pl->job, noting->groups) = (struct ptx_note_group){heads[h].line, s, s, merged};
                begins = true;
            }
        if (silent)
            continue; /* the code may be of any line */
        if (begins)
            *PTX_PUSH(d->pl->job, noting->groups) = (struct ptx_note_group){line, s, s + 1, merged};
        else
            last->end = s + 1;
        last_block = block;
        merged = (merged && !begins) || (in->no_line && in->op == PTX_ST);
    }
    noting->first_group[noting->blocks.count] = (uint32_t)noting->groups.count;
    for (size_t g = 0; g < noting->groups.count; g++)
        if (noting->groups.at[g].line > noting->last_line && noting->groups.at[g].line < MOST_LINES)
            noting->last_line = noting->groups.at[g].line;
    noting->has_line = PTX_ARRAY(d->pl->job, uint8_t, noting->last_line + 1);
    for (size_t g = 0; g < noting->groups.count; g++)
        if (noting->groups.at[g].line <= noting->last_line && noting->groups.at[g].first != noting->groups.at[g].end)
            noting->has_line[noting->groups.at[g].line] = 1;
    noting->has_branch = PTX_ARRAY(d->pl->job, uint8_t, noting->last_line + 1);
    for (uint32_t s = 0; s < n; s++) {
        const uint32_t line = ptx_note_line(d->pl, s);

        if (line <= noting->last_line && d->pl->fn->insns.at[s].op == PTX_BRA && d->pl->fn->insns.at[s].guard != PTX_NONE)
            noting->has_branch[line] = 1;
    }
    noting->has_call = PTX_ARRAY(d->pl->job, uint8_t, noting->last_line + 1);
    for (size_t i = 0; i < noting->calls.count; i++)
        if (noting->calls.at[i] <= noting->last_line)
            noting->has_call[noting->calls.at[i]] = 1;
}

void ptx_debug_notes_doubt(struct ptx_placing *pl, struct ptx_noting *noting)
{
    struct doubting d = {.pl = pl, .noting = noting, .nothing = (uint32_t)noting->values.count};
    uint32_t *scaled = PTX_ARRAY(pl->job, uint32_t, pl->fn->regs.count + 1);

    size_t count;

    *PTX_PUSH(pl->job, noting->values) = (struct ptx_noted_value){.operand_count = 0};
    find_groups(&d);

    const struct copy *copies = find_copies(&d, &count);

    find_repeated(&d);
    ptx_note_number_blocks(pl, noting);
    ptx_note_find_rounds(pl, noting);
    doubt_shared(&d);
    doubt_computed(&d);
    noting->demand = ptx_debug_notes_demand(pl);
    for (uint32_t i = 0; i < noting->variables.count; i++) {
        struct ptx_noted_variable *v = &noting->variables.at[i];
        const struct ptx_noted_lines *its = lines_of(&d, v);

        if (its != NULL) {
            doubt_speculated(&d, v, its);
            doubt_earlier(&d, v, its, copies, count);
            doubt_ended(&d, v, its);
        }
    }
    noting->value_count = (uint32_t)noting->values.count;
    for (uint32_t i = 0; i < noting->variables.count; i++) {
        struct ptx_noted_variable *v = &noting->variables.at[i];
        const struct ptx_noted_lines *its = lines_of(&d, v);

        v->lines = its != NULL ? 1 + (uint32_t)(its - noting->lines.at) : 0;
        doubt_scaled(&d, i, scaled);
        if (its != NULL) {
            doubt_offset(&d, v, its);
            doubt_replaced(&d, v, its);
            find_caller(&d, v, its);
            doubt_late(&d, v, its);
        }
        v->checked = its != NULL && (its->count != 0 || is_split_argument(noting, v)) && !(its->once && !is_of_call(v));
    }
}
