/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of positions in the source: where the execution paths to a statement have been last. Paths between blocks, and registers
 * that hold a constant on all paths. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

enum { MOST_MOVED = 8 }; /* lines of a block that are searched after moved code */

bool ptx_note_add_position(struct ptx_note_positions *positions, struct ptx_note_position position)
{
    for (unsigned i = 0; i < positions->count; i++) {
        const struct ptx_note_position *at = &positions->at[i];

        if (at->line == position.line && at->notes == position.notes && at->left == position.left && at->back == position.back &&
            at->crossed == position.crossed && at->merges == position.merges && at->none == position.none && at->owed == position.owed)
            return false;
    }
    if (positions->count < PTX_NOTE_POSITIONS) {
        positions->at[positions->count++] = position;
        return true;
    }
    if (positions->more)
        return false;
    positions->more = true;
    return true;
}

bool ptx_note_join_positions(struct ptx_note_positions *to, const struct ptx_note_positions *from, bool back)
{
    const bool first = to->count == 0 && !to->more;
    const uint32_t pending = first ? from->pending : to->pending & from->pending, noted = first ? from->noted : to->noted & from->noted;
    bool changed = (from->more && !to->more) || ((from->doubted & ~to->doubted) | (from->hidden & ~to->hidden)) != 0 ||
                   pending != to->pending || noted != to->noted;

    to->pending = pending;
    to->noted = noted;
    to->more |= from->more;
    to->doubted |= from->doubted;
    to->hidden |= from->hidden;
    for (unsigned i = 0; i < from->count; i++) {
        struct ptx_note_position position = from->at[i];

        position.back |= back;
        position.crossed = true;
        changed |= ptx_note_add_position(to, position);
    }
    return changed;
}

/* Returns whether a path of at least one edge leads from block @from to block @to without block @without (PTX_NONE: any path). If
 * the budget is exhausted, the result is true. */
static bool has_path(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t from, uint32_t to, uint32_t without)
{
    PTX_LIST(uint32_t) work = {0};

    if (noting->seen == NULL)
        noting->seen = PTX_ARRAY(pl->job, uint32_t, noting->blocks.count);
    noting->generation++;
    *PTX_PUSH(pl->job, work) = from;
    while (work.count != 0) {
        const struct ptx_noted_block *block = &noting->blocks.at[work.at[--work.count]];

        if (!ptx_spend(pl, 4))
            return true;
        for (size_t s = 0; s < block->succ.count; s++) {
            const uint32_t next = block->succ.at[s];

            if (next == without || noting->seen[next] == noting->generation)
                continue;
            if (next == to)
                return true;
            noting->seen[next] = noting->generation;
            *PTX_PUSH(pl->job, work) = next;
        }
    }
    return false;
}

bool ptx_note_dominates(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t over, uint32_t to)
{
    if (over == to || over == 0)
        return true;
    return to != 0 && ptx_spend(pl, 1 + noting->blocks.count) && !has_path(pl, noting, 0, to, over);
}

bool ptx_note_reaches(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t from, uint32_t to)
{
    return has_path(pl, noting, from, to, PTX_NONE);
}

void ptx_note_number_blocks(struct ptx_placing *pl, struct ptx_noting *noting)
{
    const uint32_t count = (uint32_t)noting->blocks.count;
    uint32_t *path = PTX_ARRAY(pl->job, uint32_t, count + 1), *next = PTX_ARRAY(pl->job, uint32_t, count + 1);
    uint32_t depth = 0, time = 0;

    noting->entered = PTX_ARRAY(pl->job, uint32_t, count + 1);
    noting->left = PTX_ARRAY(pl->job, uint32_t, count + 1);
    noting->entered[0] = ++time;
    for (path[depth++] = 0; depth != 0;) {
        const uint32_t b = path[depth - 1];

        if (next[b] == noting->blocks.at[b].succ.count) {
            noting->left[b] = ++time;
            depth--;
        } else {
            const uint32_t to = noting->blocks.at[b].succ.at[next[b]++];

            if (noting->entered[to] == 0) {
                noting->entered[to] = ++time;
                path[depth++] = to;
            }
        }
    }
}

bool ptx_note_goes_back(const struct ptx_noting *noting, uint32_t from, uint32_t to)
{
    return noting->entered[to] <= noting->entered[from] && noting->left[to] >= noting->left[from];
}

void ptx_note_find_rounds(struct ptx_placing *pl, struct ptx_noting *noting)
{
    noting->has_round = PTX_ARRAY(pl->job, uint8_t, noting->last_line + 1);
    for (uint32_t b = 0; b < noting->blocks.count; b++)
        for (size_t s = 0; s < noting->blocks.at[b].succ.count; s++) {
            const uint32_t ends[2] = {b, noting->blocks.at[b].succ.at[s]};

            for (unsigned k = 0; k < 2 && ptx_note_goes_back(noting, ends[0], ends[1]); k++)
                for (uint32_t g = noting->first_group[ends[k]]; g < noting->first_group[ends[k] + 1]; g++)
                    if (noting->groups.at[g].line <= noting->last_line)
                        noting->has_round[noting->groups.at[g].line] = 1;
        }
}

bool ptx_debug_note_is_out_of_scope(const struct ptx_placing *pl, const struct ptx_noting *noting,
                                    const struct ptx_noted_variable *variable, uint32_t statement)
{
    const struct ptx_noted_lines *lines = variable->lines != 0 ? &noting->lines.at[variable->lines - 1] : NULL;
    const uint32_t line = ptx_note_line(pl, statement);

    return lines != NULL && lines->end != 0 && ptx_note_in_function(lines, line) && !ptx_note_in_scope(lines, line);
}

bool ptx_note_is_moved_up(struct ptx_placing *pl, const struct ptx_noted_lines *lines, const struct ptx_note_group *group,
                          const struct ptx_note_group *end, uint32_t from)
{
    for (const struct ptx_note_group *next = group + 1; next < end && next <= group + MOST_MOVED && ptx_spend(pl, 1); next++)
        if (next->line > from && next->line < group->line && ptx_note_in_scope(lines, next->line))
            return true;
    return false;
}

bool ptx_note_has_rounds(const struct ptx_noting *noting, uint32_t first, uint32_t last)
{
    for (uint32_t line = first; line <= last && line <= noting->last_line; line++)
        if (noting->has_round[line])
            return true;
    return false;
}

/* Returns whether register @reg has literal @value at an event, whichever path leads there: a move of the literal is on all
 * paths, and no other write of the register is on a path after it. */
static bool holds_literal(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t reg, const struct ptx_noted_event *event,
                          uint64_t value)
{
    const uint32_t block = event->block, statement = event->at / 2; /* may be the end of the function */
    bool moved = false;

    for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1]; k++) {
        const uint32_t at = noting->writes[k], from = noting->block_of[at];
        const struct ptx_insn *in = &pl->fn->insns.at[at];

        if (!ptx_spend(pl, 1))
            return false;
        if (in->op == PTX_MOV && in->guard == PTX_NONE && in->operand_count == 2 && in->operand[1].kind == PTX_O_IMM &&
            in->operand[1].imm == value)
            moved |= from == block ? at < statement : ptx_note_dominates(pl, noting, from, block);
        else if ((from == block && at < statement) || ptx_note_reaches(pl, noting, from, block))
            return false;
    }
    return moved;
}

struct ptx_noted_event ptx_note_with_register(struct ptx_placing *pl, struct ptx_noting *noting,
                                              const struct ptx_noted_variable *variable, struct ptx_noted_event event)
{
    const struct ptx_noted_value *v = &noting->values.at[event.value];

    if (!variable->checked || event.doubts || !ptx_note_is_plain(v) || v->operand[0].kind != PTX_NOTE_CONST)
        return event;
    for (size_t i = 0; i < variable->notes.count && event.also == 0 && ptx_spend(pl, 1); i++) {
        const uint32_t other = variable->notes.at[i].value;
        const struct ptx_noted_value *o = &noting->values.at[other];

        if (!variable->notes.at[i].doubts && ptx_note_is_plain(o) && o->operand[0].kind == PTX_NOTE_REG && o->first == v->first &&
            o->bytes == v->bytes && holds_literal(pl, noting, o->operand[0].reg, &event, v->operand[0].value))
            event.also = 1 + other;
    }
    return event;
}

bool ptx_note_is_literal(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint32_t statement, uint64_t value)
{
    for (uint32_t k = noting->first_write[reg + 1]; k-- > noting->first_write[reg] && ptx_spend(pl, 1);) {
        const struct ptx_insn *in = &pl->fn->insns.at[noting->writes[k]];

        if (noting->writes[k] < statement)
            return noting->block_of[noting->writes[k]] == noting->block_of[statement] && in->op == PTX_MOV && in->guard == PTX_NONE &&
                   in->operand_count == 2 && in->operand[1].kind == PTX_O_IMM && in->operand[1].imm == value;
    }
    return false;
}

bool ptx_note_is_displaced(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t block)
{
    const struct ptx_insn *last = &pl->fn->insns.at[noting->blocks.at[block].end - 1];

    return noting->first_group[block] == noting->first_group[block + 1] && last->guard == PTX_NONE &&
           (last->op == PTX_BRA || last->op == PTX_RET || last->op == PTX_EXIT);
}
