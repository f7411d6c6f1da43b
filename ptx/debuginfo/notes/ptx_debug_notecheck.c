/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the notes of a variable with the assignments of the source on the paths through a block (see ptx_debug_notedoubt.c). */
#include "ptx/debuginfo/notes/ptx_debug_noteflow_priv.h"

#include <string.h>

enum { MOST_EARLY = 8 };

/* Returns whether the path is in the code of an inlined call that is part of a source statement, if this statement assigns to
 * the variable after the call. clang may note the new value before the code of the call, so values are not shown there. */
static bool is_in_call(const struct ptx_note_following *f, const struct ptx_note_walk *w)
{
    for (unsigned i = 0; i < w->positions.count && w->outside; i++)
        if (w->positions.at[i].notes != 0 && ptx_note_assigns_after_call(f->noting, f->lines, w->positions.at[i].line))
            return true;
    return false;
}

static void show_up_to(struct ptx_note_following *f, struct ptx_note_walk *w, uint32_t to)
{
    uint32_t shown[PTX_NOTE_PIECES * PTX_NOTE_SAME];

    if (w->ranges != NULL && !w->ahead && !w->astray && !w->earlier && !is_in_call(f, w) &&
        !ptx_note_is_displaced(f->pl, f->noting, w->block)) {
        memcpy(shown, w->state, f->pieces->count * PTX_NOTE_SAME * sizeof *shown);
        for (uint32_t k = 0; k < f->pieces->count * PTX_NOTE_SAME; k++)
            if ((w->positions.doubted | w->positions.hidden | (w->outside ? w->positions.pending : 0)) >> k / PTX_NOTE_SAME & 1 ||
                (shown[k] < PTX_NOTE_UNSEEN && ptx_debug_note_is_changed(f->pl, f->noting, f->variable, &f->noting->values.at[shown[k]], f->bytes)))
                shown[k] = PTX_NONE;
        ptx_note_add_range(f, w->ranges, w->from, to, shown);
    }
    w->from = to > w->from ? to : w->from;
}

/* Returns whether code of line @at, which follows code of a later line @line, shows that the compiler has moved the later code
 * up: the paths have not passed line @at, and the source assigns between the two lines. */
static bool shows_early(const struct ptx_note_following *f, const struct ptx_note_walk *w, uint32_t line, uint32_t at)
{
    for (unsigned i = 0; i < w->positions.count && at < line; i++)
        if ((w->positions.at[i].line < at && ptx_note_assigns(f->lines, at, line - 1)) ||
            (w->positions.at[i].line == at && ptx_note_assigns(f->lines, at + 1, line - 1) &&
             ptx_note_is_no_round(f->noting, f->lines, line, at)))
            return true;
    return false;
}

/* Does what shows_early() does, for code in a loop that assigns to the variable. */
static bool shows_ahead(const struct ptx_note_following *f, const struct ptx_note_walk *w, uint32_t line, uint32_t at)
{
    (void)w; /* where the path has been does not matter */
    return at < line && ptx_note_loop_assigns(f->lines, at, line);
}

/* Returns a line whose code, after the code of @group, shows that the compiler has moved the code of @group up, or 0. The search
 * continues in the following blocks, but not to another iteration of a loop. @passed: the search ends at code of this line or a lower
 * one. 0: the search ends after MOST_EARLY lines of each block. */
static uint32_t early_line(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_group *group, uint32_t passed,
                        bool (*shows)(const struct ptx_note_following *f, const struct ptx_note_walk *w, uint32_t line, uint32_t at))
{
    const struct ptx_noting *noting = f->noting;
    uint32_t block[MOST_EARLY], count = 0;

    block[count++] = w->block;
    for (uint32_t b = 0; b < count && ptx_spend(f->pl, 1); b++) {
        const struct ptx_noted_block *at = &noting->blocks.at[block[b]];
        const struct ptx_note_group *next = b == 0 ? group + 1 : &noting->groups.at[noting->first_group[block[b]]], *first = next;
        const struct ptx_note_group *end = &noting->groups.at[noting->first_group[block[b] + 1]];

        for (; next < end && (passed != 0 || next < first + MOST_EARLY); next++) {
            if (!ptx_note_in_scope(f->lines, next->line))
                continue;
            if (next->line <= passed)
                break;
            if (shows(f, w, group->line, next->line))
                return next->line;
        }
        for (size_t s = 0; s < at->succ.count && next == end && count < MOST_EARLY; s++)
            if (!ptx_note_goes_back(noting, block[b], at->succ.at[s]))
                block[count++] = at->succ.at[s];
    }
    return 0;
}

/* Returns whether the compiler has moved code of a line up in a loop that assigns to the variable. The moved code may be executed
 * in iterations in which the source does not reach the line. */
static bool is_ahead(struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_group *group)
{
    uint32_t passed = 0;

    for (unsigned i = 0; i < w->positions.count; i++)
        if (w->positions.at[i].line < group->line && (passed == 0 || w->positions.at[i].line > passed))
            passed = w->positions.at[i].line;
    return passed != 0 && ptx_note_loop_assigns(f->lines, group->line, group->line) && early_line(f, w, group, passed, shows_ahead) != 0;
}

/* Returns whether code of a line, which is_ahead() takes for moved-up code, may belong to a whole iteration that the compiler has
 * moved out of the loop. Then the source may have assigned to the variable. */
static bool may_be_iteration(const struct ptx_note_following *f, const struct ptx_note_group *group)
{
    for (uint32_t s = group->first; s < group->end && ptx_spend(f->pl, 1); s++) {
        const enum ptx_op op = (enum ptx_op)f->pl->fn->insns.at[s].op;

        if (op == PTX_ST || op == PTX_RED || op == PTX_ATOM || op == PTX_CALL || op == PTX_BAR)
            return true; /* the compiler does not move such an instruction out of a loop alone */
    }
    return ptx_note_may_iterate(f->noting, f->lines, group->line);
}

/* Returns whether the values of the variable are unknown in the code of an inlined call. That is so in two cases. In the first case,
 * the call may assign to the variable, because it gets the variable's address or a reference. In the second case, the code belongs
 * to another call than the debug sections say: by the assignments of the source, the paths to the code do not lead to the line of
 * the call in the variable's function. A scope of DWARF 2 has a single range, which may contain code of other calls. */
static bool is_astray(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_group *group)
{
    for (uint32_t s = group->first; s < group->end; s++) {
        const uint32_t line = ptx_debug_note_call_line(f->pl, f->noting, s, f->frame);

        if (line == 0 || (s != group->first && f->noting->owner[s] == f->noting->owner[s - 1]))
            continue;
        if (ptx_note_has_mark(f->lines, line, '&'))
            return true;
        for (unsigned i = 0; i < w->positions.count; i++)
            if (!ptx_note_leads_to(f->pl, f->noting, f->variable, &w->positions.at[i], line))
                return true;
    }
    return false;
}

/* Returns the position (struct ptx_noted_event.at) of the first note after position @from in a block, or UINT32_MAX if there is
 * none. */
static uint32_t first_note(const struct ptx_note_following *f, uint32_t block, uint32_t from)
{
    const struct ptx_note_search *search = &f->noting->search;

    for (uint32_t e = search->from[block]; search->reached[block] == search->generation && e < search->to[block] && ptx_spend(f->pl, 1); e++)
        if (!f->events.at[e].kills && f->events.at[e].at > from)
            return f->events.at[e].at;
    return UINT32_MAX;
}

/* Returns whether a note before the code of a line may belong to a later assignment. That is so if the source assigns between two
 * lines of the code that follows, on a line without code, and no other note is before the code of the second line. */
static bool is_of_next(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_group *group)
{
    const struct ptx_noting *noting = f->noting;
    uint32_t block[MOST_EARLY], line[MOST_EARLY], count = 0;

    block[count] = w->block;
    line[count++] = group->line;
    for (uint32_t b = 0; b < count && ptx_spend(f->pl, 1); b++) {
        const struct ptx_noted_block *at = &noting->blocks.at[block[b]];
        const struct ptx_note_group *next = b == 0 ? group + 1 : &noting->groups.at[noting->first_group[block[b]]];
        const struct ptx_note_group *end = &noting->groups.at[noting->first_group[block[b] + 1]];
        const uint32_t noted = first_note(f, block[b], b == 0 ? 2 * group->first : 0);
        bool goes_on = true;

        for (; next < end && 2 * next->first < noted && goes_on; next++) {
            if (next->line == line[b] || !ptx_note_in_scope(f->lines, next->line) ||
                ptx_note_is_moved_up(f->pl, f->lines, next, end, line[b]))
                continue;
            if (next->line > line[b] && !ptx_note_assigns(f->lines, line[b], line[b]) &&
                ptx_note_must_assign(f->pl, noting, f->lines, line[b], next->line))
                return true;
            goes_on = next->line > line[b] && !ptx_note_assigns(f->lines, line[b], next->line);
            line[b] = next->line;
        }
        for (size_t s = 0; s < at->succ.count && goes_on && noted == UINT32_MAX && count < MOST_EARLY; s++)
            if (!ptx_note_goes_back(noting, block[b], at->succ.at[s])) {
                block[count] = at->succ.at[s];
                line[count++] = line[b];
            }
    }
    return false;
}

static bool has_piece(const struct ptx_note_following *f, const struct ptx_noted_value *v, uint32_t p)
{
    return v->bytes == 0 || (f->pieces->edge[p] >= v->first && f->pieces->edge[p] < v->first + v->bytes);
}

static bool has_no_value(const struct ptx_noted_value *v)
{
    return v->operand_count == 0 && !v->is_launch;
}

/* Returns whether a note gives a piece a value that is not among the piece's known values. */
static bool is_news(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_value *v = &f->noting->values.at[note->value];

    for (uint32_t p = 0; p < f->pieces->count && !has_no_value(v); p++) {
        const uint32_t *known = w->state + p * PTX_NOTE_SAME;
        bool same = !has_piece(f, v, p);

        for (uint32_t k = 0; k < PTX_NOTE_SAME && known[k] < PTX_NOTE_UNSEEN; k++)
            same |= known[k] == note->value || ptx_note_equals(&f->noting->values.at[known[k]], v);
        if (!same)
            return true;
    }
    return false;
}

/* Returns whether a note in the code of a line, or in the code after it up to a line that assigns, gives no value, or another value than
 * those known before the code. In that case, a note before the code does not give the value that the line assigns. */
static bool has_second_note(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_group *group)
{
    const struct ptx_noted_event *event = &f->events.at[f->noting->search.from[w->block]];
    const struct ptx_noted_event *end = &f->events.at[f->noting->search.to[w->block]];
    const struct ptx_note_group *next = group + 1, *last = &f->noting->groups.at[f->noting->first_group[w->block + 1]];

    while (next < last && !ptx_note_assigns(f->lines, next->line, next->line) && ptx_spend(f->pl, 1))
        next++;
    for (; event < end && event->at <= 2 * next[-1].end && ptx_spend(f->pl, 1); event++)
        if (event->at > 2 * group->first && !event->kills && !event->doubts && f->pieces->count == 1 &&
            (is_news(f, w, event) || has_no_value(&f->noting->values.at[event->value])))
            return true;
    return false;
}

/* Returns whether the code of a line reads a register that is the value of the variable before the code. Then the code computes the
 * value that the line assigns, and a note before the code does not give this value. */
static bool reads_value(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_group *group)
{
    for (uint32_t s = group->first; s < group->end && ptx_spend(f->pl, 1); s++) {
        const struct ptx_insn *in = &f->pl->fn->insns.at[s];

        for (unsigned i = 1; i < in->operand_count; i++)
            for (uint32_t k = 0; k < PTX_NOTE_SAME * f->pieces->count && in->operand[i].kind == PTX_O_REG; k++) {
                const struct ptx_noted_value *v = w->state[k] < PTX_NOTE_UNSEEN ? &f->noting->values.at[w->state[k]] : NULL;

                if (v != NULL && ptx_note_is_plain(v) && v->operand[0].kind == PTX_NOTE_REG && v->operand[0].reg == in->operand[i].reg)
                    return true;
            }
    }
    return false;
}

/* Returns whether the source has assigned before line @to, and no note has given the assigned value yet. */
static bool owes(const struct ptx_note_following *f, const struct ptx_note_position *position, uint32_t to)
{
    return position->notes == 0 && position->line != 0 && position->line < to &&
           ptx_note_must_assign(f->pl, f->noting, f->lines, position->line, to);
}

/* Returns whether the notes since @position can only belong to the assignments between @position and the line of @group. @over:
 * the result of ptx_note_agrees(). */
static bool is_sure(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_position *position,
                    const struct ptx_note_group *group, int over)
{
    struct ptx_note_position more = *position;

    if (group->merged && ptx_note_left_loop_assigns(f->lines, position->line, group->line))
        return false; /* a store of another iteration may be among the merged stores */
    if (position->notes == 0 || position->notes == UINT8_MAX)
        return true;
    more.notes++; /* a note without a value may be that of an assignment, too */
    if (position->none && position->line != group->line && ptx_note_agrees(f->pl, f->noting, f->variable, &more, group->line) < 0)
        return false;
    if (over > 0 && ptx_note_is_conditional(f->noting, f->lines, group->line))
        return false; /* the note is before the branch that decides whether the source assigns */
    if (is_of_next(f, w, group) || (over > 0 && ptx_note_has_short_loop(f->lines, group->line, group->line + 1) && reads_value(f, w, group)))
        return false;
    return !((over > 0 || ptx_note_has_short_loop(f->lines, position->line, group->line)) && has_second_note(f, w, group));
}

/* Updates the state at the begin of the code of a line. */
static void enter_line(struct ptx_note_following *f, struct ptx_note_walk *w, const struct ptx_note_group *group)
{
    const struct ptx_noted_lines *lines = f->lines;
    struct ptx_note_positions next = {.doubted = w->positions.doubted, .hidden = w->positions.hidden};
    bool agrees = !w->positions.more, confirms = ptx_note_in_scope(lines, group->line);
    bool keeps = false, whole = false; /* keeps: the notes since the last line belong to the line of @group, too */
    uint32_t early = 0; /* a line before the line of @group whose code follows; 0: the code of @group is not moved up */

    if (group->first == group->end && ptx_note_assigns(lines, group->line, group->line))
        return; /* the note of the variable itself */
    if (confirms && is_ahead(f, w, group)) {
        show_up_to(f, w, group->first);
        w->ahead = true;
        if (may_be_iteration(f, group))
            w->positions.doubted = UINT32_MAX;
        return; /* the path continues as if the code were not there */
    }
    show_up_to(f, w, w->ahead || w->astray ? group->first : w->from);
    w->ahead = false;
    if (confirms)
        early = early_line(f, w, group, 0, shows_early);
    agrees &= early == 0;
    if (w->outside == ptx_note_in_function(lines, group->line)) {
        show_up_to(f, w, group->first);
        w->outside = !w->outside;
    }
    if (!ptx_note_in_function(lines, group->line)) {
        const bool astray = is_astray(f, w, group);

        show_up_to(f, w, astray != w->astray ? group->first : w->from);
        w->astray = astray;
        for (unsigned i = 0; i < w->positions.count && group->line >= f->variable->caller && group->line <= f->variable->caller_end; i++)
            w->positions.at[i].left = true;
        return;
    }
    w->astray = false;
    w->counted = false;
    for (unsigned i = 0; i < w->positions.count; i++) {
        struct ptx_note_position position = w->positions.at[i];

        confirms &= position.notes != 0 && position.line != group->line;
        if (ptx_note_in_scope(lines, group->line)) {
            const int over = ptx_note_agrees(f->pl, f->noting, f->variable, &position, group->line);

            agrees &= over >= 0 && is_sure(f, w, &position, group, over);
            keeps |= over > 0 || position.line == group->line;
            whole |= f->pieces->count > 1 && position.line != 0 && position.line != group->line &&
                     ptx_note_must_assign_whole(f->pl, f->noting, lines, position.line, group->line);
            position = (struct ptx_note_position){.line = group->line, .notes = (uint8_t)(over > 0 ? over : 0),
                                                  .none = position.none && position.line == group->line,
                                                  .owed = (position.owed && position.notes == 0) ||
                                                          (over < 0 && owes(f, &position, early != 0 ? early : group->line))};
        } else {
            position.left = true;
            if (position.line == 0 && (!lines->declared_once || f->variable->is_inlined)) {
                agrees &= position.notes == 0;
                position.notes = 0;
            }
        }
        ptx_note_add_position(&next, position);
    }
    if (ptx_note_in_scope(lines, group->line) && keeps)
        next.noted = w->positions.noted;
    if (whole) { /* a piece without a note has lost the note of the assignment to the whole variable */
        show_up_to(f, w, group->first);
        next.hidden |= ~w->positions.noted;
    }
    if (!agrees) {
        show_up_to(f, w, group->first);
        next.doubted = UINT32_MAX;
    } else if (confirms && (next.doubted & w->positions.pending) != 0) {
        show_up_to(f, w, group->first);
        next.doubted &= ~w->positions.pending;
    }
    for (unsigned i = 0; i < next.count && agrees; i++) /* notes that do not belong to the preceding lines remain pending */
        if (next.at[i].notes != 0)
            next.pending = w->positions.pending;
    w->positions = next;
}

/* Returns whether paths join directly before a note. That is so if the note's block has several predecessors, and contains before
 * the note only moves and conversions, which the join needs, and code without a line. */
static bool is_at_join(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_block *block = &f->noting->blocks.at[w->block];

    for (uint32_t s = block->first; 2 * s < note->at && ptx_spend(f->pl, 1); s++) {
        const struct ptx_insn *in = &f->pl->fn->insns.at[s];

        if (in->op != PTX_MOV && in->op != PTX_CVT && ptx_note_line(f->pl, s) != 0 && !f->pl->module->locs.at[in->loc].silent)
            return false;
    }
    return block->pred.count > 1;
}

/* Returns the next note of the variable in the block, or NULL. */
static const struct ptx_noted_event *note_after(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_event *end = &f->events.at[f->noting->search.to[w->block]];

    do
        note++;
    while (note < end && note->kills);
    return note < end ? note : NULL;
}

/* Returns whether only code of @line, which does not assign, is between a note and the variable's next note in the block. The
 * next note may then give the value of an assignment before the line. */
static bool precedes_another(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_noted_event *note, uint32_t line)
{
    const struct ptx_noted_event *next = note_after(f, w, note);
    bool only = next != NULL && !ptx_note_assigns(f->lines, line, line);

    for (uint32_t s = note->at / 2; only && s < next->at / 2 && ptx_spend(f->pl, 1); s++)
        only = ptx_note_line(f->pl, s) == line || ptx_note_line(f->pl, s) == 0;
    return only;
}

/* Returns whether a note at a join gives the value of an assignment after the last line of a path. That is so if the source must
 * assign before the next line, or if that line is the head of a loop and the note is a constant, as in `for (i = 0; ...)`. */
static bool is_of_assignment(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_note_position *position,
                             const struct ptx_noted_event *note, uint32_t next)
{
    const struct ptx_noted_value *v = &f->noting->values.at[note->value];

    if (position->notes != 0 || next <= position->line || !ptx_note_in_scope(f->lines, next) || precedes_another(f, w, note, next))
        return false;
    return ptx_note_must_assign(f->pl, f->noting, f->lines, position->line, next) ||
           (ptx_note_is_plain(v) && v->operand[0].kind == PTX_NOTE_CONST &&
            ptx_note_counts(f->lines, &(struct ptx_note_position){.line = next}));
}

/* Returns whether it is uncertain that an assignment gave the variable the new value of a note. That is so in two cases. In the
 * first case, the code before and after the note is of one line, and this line does not assign. In the second case, paths join at
 * the note, and the last line on one of the paths does not assign, or already has a note for its assignment. The second case
 * ignores paths for which the head of a loop assigns to the variable (ptx_note_counts()) or is_of_assignment() is true, and notes
 * of the next step of a counter. */
static bool is_uncertain(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_block *block = &f->noting->blocks.at[w->block];
    const uint32_t next = note->at / 2 < block->end ? ptx_note_line(f->pl, note->at / 2) : 0;
    const bool known = f->pieces->count == 1 && ((w->positions.doubted | w->positions.hidden) & 1) == 0;
    const bool joins = is_at_join(f, w, note) && !(known && ptx_note_steps(f->pl, f->noting, f->lines, note->value, w->state));

    for (unsigned i = 0; i < w->positions.count; i++) {
        const struct ptx_note_position *position = &w->positions.at[i];
        const bool assigns = ptx_note_assigns(f->lines, position->line, position->line);

        if (position->line == 0 || position->left)
            continue; /* the scope of the variable begins here */
        if ((joins && !ptx_note_counts(f->lines, position) && (!assigns || position->notes != 0) &&
             !is_of_assignment(f, w, position, note, next)) ||
            (!assigns && position->line == next))
            return true;
    }
    return false;
}

/* Returns whether code of only one line is before the variable's next note, and this line has a loop that assigns to the variable, as in
 * `do { if (y < x) x = y; } while (0)`. Then the note may be that of a branch side in the loop, although the code has no branch. */
static bool is_in_short_loop(const struct ptx_note_following *f, const struct ptx_noted_event *note, const struct ptx_noted_event *next)
{
    const uint32_t line = ptx_note_line(f->pl, note->at / 2);

    for (uint32_t s = note->at / 2; s < next->at / 2 && ptx_spend(f->pl, 1); s++)
        if (ptx_note_line(f->pl, s) != line)
            return false;
    return ptx_note_has_short_loop(f->lines, line, line + 1);
}

/* Returns whether a statement of the line computes the value before the note, in the note's block. */
static bool is_computed_on(const struct ptx_note_following *f, const struct ptx_noted_event *note, uint32_t line)
{
    const struct ptx_noted_value *v = &f->noting->values.at[note->value];

    if (!ptx_note_is_plain(v) || v->operand[0].kind != PTX_NOTE_REG)
        return false;
    for (uint32_t s = note->at / 2; s-- > f->noting->blocks.at[note->block].first && ptx_spend(f->pl, 1);)
        if (f->pl->fn->insns.at[s].operand_count != 0 && ptx_note_is_written(f->pl, f->noting, v, s, s + 1))
            return ptx_note_line(f->pl, s) == line;
    return false;
}

/* Returns whether the last line before a note has a loop with a branch for which the code has no branch, and the value is not computed
 * by the code of that line, which selects. */
static bool is_of_side(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_noted_event *note)
{
    for (unsigned i = 0; i < w->positions.count; i++)
        if (ptx_note_is_flat(f->noting, f->lines, w->positions.at[i].line) && !is_computed_on(f, note, w->positions.at[i].line))
            return true;
    return false;
}

/* Returns whether a note may be that of a branch side for which the code has no branch. That is so in three cases. In the first case,
 * only minima and maxima are before the variable's next note: clang has compiled a branch that may assign to the variable, with its
 * condition, to a minimum or maximum. clang 14 moves the note of that assignment before the branch, where it replaces the note of
 * the old value. The other cases are is_of_side() and is_in_short_loop(). */
static bool may_be_of_branch(const struct ptx_note_following *f, const struct ptx_note_walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_event *next = note_after(f, w, note);
    const uint32_t known[PTX_NOTE_SAME] = {note->value, PTX_NONE, PTX_NONE};

    if (is_of_side(f, w, note))
        return true;
    if (next == NULL || f->pieces->count != 1)
        return false;
    if (is_in_short_loop(f, note, next))
        return true;
    for (uint32_t s = note->at / 2; s < next->at / 2 && ptx_spend(f->pl, 1); s++)
        if (f->pl->fn->insns.at[s].op != PTX_MIN && f->pl->fn->insns.at[s].op != PTX_MAX)
            return false;
    return ptx_note_merges(f->pl, f->noting, &f->noting->values.at[next->value], known);
}

static void take_note(struct ptx_note_following *f, struct ptx_note_walk *w, const struct ptx_noted_event *note)
{
    if (note->earlier != 0) {
        w->earlier = note->earlier == 1;
        return;
    }
    const struct ptx_noted_value value = f->noting->values.at[note->value], *v = &value; /* the list may move */
    const bool hides = note->doubts || may_be_of_branch(f, w, note), joins = is_at_join(f, w, note);
    const bool news = !note->doubts && is_news(f, w, note), uncertain = news && is_uncertain(f, w, note);
    const uint32_t unknown = w->positions.doubted | w->positions.hidden;
    const uint32_t end = f->noting->blocks.at[w->block].end, next = note->at / 2 < end ? ptx_note_line(f->pl, note->at / 2) : 0;
    struct ptx_noted_event given = *note;
    uint32_t gives = 0;
    const bool merges = news && !uncertain && f->pieces->count == 1 && w->positions.doubted == 0 &&
                        ptx_note_merges(f->pl, f->noting, v, w->state);

    for (uint32_t p = 0; p < f->pieces->count; p++)
        if (has_piece(f, v, p))
            w->positions.hidden = (w->positions.hidden & ~(UINT32_C(1) << p)) | (uint32_t)hides << p;
    for (uint32_t p = 0; p < f->pieces->count; p++)
        w->positions.noted |= (uint32_t)(has_piece(f, v, p) && !note->doubts) << p;
    if (note->doubts)
        return; /* the earlier value is hidden, but stays in the state: the next note may give it again */
    for (uint32_t p = 0; p < f->pieces->count && news; p++)
        if (has_piece(f, v, p)) {
            w->positions.doubted = (w->positions.doubted & ~(UINT32_C(1) << p)) | (uint32_t)uncertain << p;
            w->positions.pending = (w->positions.pending & ~(UINT32_C(1) << p)) | (uint32_t)!(uncertain && joins) << p;
        }
    if (news && f->lines->step != 0 && f->pieces->count == 1 && (unknown & 1) == 0)
        given.value = ptx_note_derive(f->pl, f->noting, f->lines, note->value, w->state);
    ptx_note_apply(f, &given, w->state);
    for (unsigned i = 0; i < w->positions.count; i++)
        w->positions.at[i].none |= has_no_value(v);
    if (!news || (uncertain && joins))
        return;
    for (uint32_t p = 0; p < f->pieces->count; p++)
        gives |= (uint32_t)has_piece(f, v, p) << p;
    if (!w->counted || (gives & w->given) != 0) { /* otherwise the note is another piece of the same value */
        w->given = 0;
        for (unsigned i = 0; i < w->positions.count; i++) {
            struct ptx_note_position *position = &w->positions.at[i];

            const bool owed = position->owed;

            position->owed = false;
            if (owed && position->line == next && !ptx_note_assigns(f->lines, next, next))
                continue; /* the note is late: it gives the value of an assignment before the line */
            /* If a value was owed, it is unknown whether this note gives the owed value, or that of another assignment. */
            position->notes = owed || position->notes == UINT8_MAX ? UINT8_MAX : position->notes + 1;
            position->merges = merges && position->notes == 1;
        }
    }
    w->counted = true;
    w->given |= gives;
}

void ptx_note_walk_block(struct ptx_note_following *f, struct ptx_note_walk *w)
{
    const struct ptx_noting *noting = f->noting;
    const struct ptx_noted_block *block = &noting->blocks.at[w->block];
    uint32_t g = noting->first_group[w->block], e = noting->search.from[w->block];
    const uint32_t groups = f->lines != NULL ? noting->first_group[w->block + 1] : g, events = noting->search.to[w->block];

    w->from = block->first;
    while (g < groups || e < events) {
        struct ptx_noted_event *event = e < events ? &f->events.at[e] : NULL;

        if (g < groups && (event == NULL || 2 * noting->groups.at[g].first < event->at)) {
            enter_line(f, w, &noting->groups.at[g++]);
            continue;
        }
        show_up_to(f, w, (event->at + 1) / 2 < block->end ? (event->at + 1) / 2 : block->end);
        if (f->lines != NULL && !event->kills)
            take_note(f, w, event);
        else
            ptx_note_apply(f, event, w->state);
        e++;
    }
    show_up_to(f, w, block->end);
}
