/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the values that variables have at each PTX statement. A value is valid until the next note of the variable, or
 * until one of the value's registers is written again. At a join, a value is valid if it is valid on all paths to the join. This
 * is a forward data-flow analysis over the basic blocks of the statements, for each variable and each piece of it. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

#include <stdlib.h>

/* ---- valid values at statements --------------------------------------------------------------------------- */

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

/* Finds the boundaries of the pieces of a variable. Returns false if there are too many. */
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
        pieces->count = 1; /* one piece: the whole variable */
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

struct following {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    const struct ptx_noted_pieces *pieces;
    PTX_LIST(struct ptx_noted_event) events;
    uint32_t param;
    const struct ptx_noted_variable *variable;
    const struct ptx_noted_lines *lines; /* source lines with which notes are compared, or NULL if notes are not checked */
    uint32_t bytes; /* size of the variable, or 0 if it is unknown */
    uint32_t frame; /* debug entry of the function or inlined call that contains the variable */
};

enum { UNSEEN = PTX_NONE - 1, MOST_EARLY = 8 };

/* Returns the index of the value that is register @reg, for the same piece as value @like. */
static uint32_t value_of_register(const struct following *f, uint32_t reg, uint32_t like)
{
    struct ptx_noting *noting = f->noting;
    struct ptx_noted_value v = noting->values.at[like];
    const uint8_t bits = v.operand[0].kind == PTX_NOTE_REG ? v.operand[0].bits : 64;
    const uint32_t key[4] = {reg, bits, v.first, v.bytes};
    const uint32_t *known = ptx_map_find(&noting->by_register, (const char *)key, sizeof key);

    if (known != NULL)
        return *known;
    v.operand[0] = (struct ptx_note_operand){.kind = PTX_NOTE_REG, .bits = bits, .reg = reg};
    *PTX_PUSH(f->pl->job, noting->values) = v;
    ptx_debug_note_register(f->pl, noting, (uint32_t)noting->values.count - 1);
    return (uint32_t)noting->values.count - 1;
}

/* Returns true if a move of operand @from in @statement copies value @value. */
static bool is_moved(const struct following *f, uint32_t value, const struct ptx_operand *from, uint32_t statement)
{
    const struct ptx_noted_value *v = &f->noting->values.at[value];

    if (!ptx_note_is_plain(v))
        return false;
    if (from->kind == PTX_O_REG) {
        uint64_t literal;

        return v->operand[0].kind == PTX_NOTE_REG ? v->operand[0].reg == from->reg
                                                  : v->operand[0].kind == PTX_NOTE_CONST &&
                                                        ((ptx_debug_literal(f->pl, from->reg, &literal) &&
                                                          literal == v->operand[0].value) ||
                                                         ptx_note_is_literal(f->pl, f->noting, from->reg, statement, v->operand[0].value));
    }
    return from->kind == PTX_O_IMM && v->operand[0].kind == PTX_NOTE_CONST && v->operand[0].value == from->imm;
}

/* Updates the known values for a write of a register. Values that use the register become invalid. If the statement moves a known
 * value to the register, the register is added as an equal value. */
static void apply_write(const struct following *f, const struct ptx_noted_event *event, uint32_t *state)
{
    const struct ptx_insn *in = &f->pl->fn->insns.at[event->at / 2];
    const bool moves = in->op == PTX_MOV && in->guard == PTX_NONE && in->operand_count == 2 && in->operand[0].kind == PTX_O_REG;

    for (uint32_t p = 0; p < f->pieces->count; p++) {
        uint32_t *same = state + p * PTX_NOTE_SAME, kept = 0, moved = PTX_NONE;

        for (uint32_t k = 0; k < PTX_NOTE_SAME && same[k] < UNSEEN; k++) {
            if (moves && moved == PTX_NONE && is_moved(f, same[k], &in->operand[1], event->at / 2))
                moved = same[k];
            if (!ptx_note_uses(f->pl, f->noting, same[k], event->value))
                same[kept++] = same[k];
        }
        if (moved != PTX_NONE && kept < PTX_NOTE_SAME)
            same[kept++] = value_of_register(f, event->value, moved);
        while (same[0] != UNSEEN && kept < PTX_NOTE_SAME)
            same[kept++] = PTX_NONE;
    }
}

/* Updates the known values of each piece for an event. */
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
            uint32_t *known = state + p * PTX_NOTE_SAME;
            bool same = false;

            for (uint32_t k = 0; k < PTX_NOTE_SAME; k++)
                same |= known[k] == event->value;
            for (uint32_t k = 0; k < PTX_NOTE_SAME && !same; k++) /* otherwise the values that equal it remain known */
                known[k] = PTX_NONE;
            if (!same && (v->is_launch || v->operand_count != 0))
                known[0] = event->value;
            for (uint32_t k = 0; k < PTX_NOTE_SAME && event->also != 0 && known[k] != event->also - 1; k++)
                if (known[k] == PTX_NONE) {
                    known[k] = event->also - 1;
                    break;
                }
        }
}

/* Intersects the values of a piece on two paths to a block; returns true if @to has lost a value. */
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

static bool has_left_scope(const struct following *f, const struct ptx_noted_block *block)
{
    return block->end <= f->variable->from || block->first >= f->variable->to;
}

static void reach(struct following *f, uint32_t b)
{
    struct ptx_note_search *search = &f->noting->search;

    if (search->reached[b] == search->generation)
        return;
    search->reached[b] = search->generation;
    search->from[b] = search->to[b] = 0;
    *PTX_PUSH(f->pl->job, search->blocks) = b;
}

/* Lists the blocks in which a value may be known, in ascending order: blocks with notes, and blocks on paths from these to the
 * end of the scope, or everywhere if @everywhere is set. Returns false if the steps are used up. */
static bool find_reached(struct following *f, bool everywhere)
{
    struct ptx_noting *noting = f->noting;
    struct ptx_note_search *search = &noting->search;
    const size_t count = noting->blocks.count;

    if (search->reached == NULL) {
        search->reached = PTX_ARRAY(f->pl->job, uint32_t, count);
        search->from = PTX_ARRAY(f->pl->job, uint32_t, count);
        search->to = PTX_ARRAY(f->pl->job, uint32_t, count);
        search->changed = PTX_ARRAY(f->pl->job, uint8_t, count);
    }
    if (search->positions == NULL)
        search->positions = PTX_ARRAY(f->pl->job, struct ptx_note_positions, count);
    if (search->room < f->pieces->count) {
        search->room = f->pieces->count;
        search->in = PTX_ARRAY(f->pl->job, uint32_t, count * search->room * PTX_NOTE_SAME);
    }
    search->generation++;
    search->blocks.count = 0;
    if (everywhere)
        reach(f, 0);
    for (size_t i = 0; i < f->events.count; i++)
        if (!f->events.at[i].kills)
            reach(f, f->events.at[i].block);
    if (f->lines != NULL && f->variable->from < f->pl->fn->insns.count)
        for (uint32_t b = noting->block_of[f->variable->from]; b < count && noting->blocks.at[b].first < f->variable->to; b++)
            reach(f, b);
    for (size_t i = 0; i < search->blocks.count; i++) {
        const struct ptx_noted_block *block = &noting->blocks.at[search->blocks.at[i]];

        if (!ptx_spend(f->pl, 1 + block->succ.count))
            return false;
        for (size_t s = 0; s < block->succ.count; s++)
            if (search->reached[block->succ.at[s]] != search->generation &&
                (everywhere || !has_left_scope(f, &noting->blocks.at[block->succ.at[s]])))
                reach(f, block->succ.at[s]);
    }
    if (search->blocks.count > 1)
        qsort(search->blocks.at, search->blocks.count, sizeof *search->blocks.at, compare_edges);
    for (size_t e = 0; e < f->events.count; e++) {
        const uint32_t b = f->events.at[e].block;

        if (search->reached[b] != search->generation)
            continue;
        if (search->to[b] == 0)
            search->from[b] = (uint32_t)e;
        search->to[b] = (uint32_t)e + 1;
    }
    return true;
}

static uint32_t *state_of(const struct following *f, uint32_t block)
{
    return f->noting->search.in + (size_t)block * f->pieces->count * PTX_NOTE_SAME;
}

/* Initialises the states at the begin of blocks. At the function's entry, value @launch is known. No value is known at a block
 * that has a predecessor outside the list of reached blocks. All other states are UNSEEN. */
static void begin_states(struct following *f, uint32_t launch)
{
    const struct ptx_note_search *search = &f->noting->search;

    for (size_t i = 0; i < search->blocks.count; i++) {
        const uint32_t b = search->blocks.at[i];
        const struct ptx_noted_block *block = &f->noting->blocks.at[b];
        uint32_t *in = state_of(f, b);
        bool begins = b == 0;

        for (size_t k = 0; k < block->pred.count && !begins; k++)
            begins = search->reached[block->pred.at[k]] != search->generation;
        search->positions[b] = (struct ptx_note_positions){.count = 0};
        search->changed[b] = 1;
        if (begins)
            ptx_note_add_position(&search->positions[b], (struct ptx_note_position){.crossed = true});
        for (uint32_t k = 0; k < f->pieces->count * PTX_NOTE_SAME; k++)
            in[k] = !begins ? (uint32_t)UNSEEN : k % PTX_NOTE_SAME == 0 && b == 0 ? launch : PTX_NONE;
    }
}

static void add_range_in_scope(struct following *f, struct ptx_noted_pieces *pieces, uint32_t from, uint32_t to, const uint32_t *state)
{
    struct ptx_noted_range *last = pieces->ranges.count != 0 ? &pieces->ranges.at[pieces->ranges.count - 1] : NULL;
    const uint32_t all = pieces->count * PTX_NOTE_SAME;
    uint32_t *copy;

    if (from >= to)
        return;
    if (last != NULL && last->to == from && memcmp(last->value, state, all * sizeof *state) == 0) {
        last->to = to;
        return;
    }
    copy = PTX_ARRAY(f->pl->job, uint32_t, all);
    memcpy(copy, state, all * sizeof *copy);
    *PTX_PUSH(f->pl->job, pieces->ranges) = (struct ptx_noted_range){from, to, copy};
}

static void add_range(struct following *f, struct ptx_noted_pieces *pieces, uint32_t from, uint32_t to, const uint32_t *state)
{
    bool known = false;

    for (uint32_t p = 0; p < pieces->count; p++)
        known |= state[p * PTX_NOTE_SAME] < UNSEEN;
    while (known && from < to && ptx_spend(f->pl, 1)) {
        uint32_t next = from;

        while (next < to && !ptx_debug_note_is_out_of_scope(f->pl, f->noting, f->variable, next) && ptx_spend(f->pl, 1))
            next++;
        add_range_in_scope(f, pieces, from, next, state);
        from = next + 1;
    }
}

/* ---- comparison of notes with the source ------------------------------------------------------------------ */

/* State on a path through a block, from the block's begin on. */
struct walk {
    uint32_t block, *state;
    struct ptx_note_positions positions;
    struct ptx_noted_pieces *ranges; /* list to which the ranges of values are added; NULL: ranges are not needed */
    uint32_t from;                   /* first statement at which the values are valid */
    uint32_t given;                  /* bit set of the pieces that the notes of the last counted assignment gave */
    bool counted;                    /* a note was counted since the code of the current line began */
    bool outside;                    /* the path is in code of other functions, such as an inlined call */
    bool ahead;                      /* the path is in code that has moved up in a loop (is_ahead) */
    bool astray;                     /* the path is in code of another inlined call than the sections say (is_astray) */
    bool earlier;                    /* the path is in code of an earlier iteration (doubt_earlier()) */
};

/* Returns whether the path is in the code of an inlined call that is part of a source statement, if this statement assigns to
 * the variable after the call. clang may note the new value before the code of the call, so values are not shown there. */
static bool is_in_call(const struct following *f, const struct walk *w)
{
    for (unsigned i = 0; i < w->positions.count && w->outside; i++)
        if (w->positions.at[i].notes != 0 && ptx_note_assigns_after_call(f->noting, f->lines, w->positions.at[i].line))
            return true;
    return false;
}

static void show_up_to(struct following *f, struct walk *w, uint32_t to)
{
    uint32_t shown[PTX_NOTE_PIECES * PTX_NOTE_SAME];

    if (w->ranges != NULL && !w->ahead && !w->astray && !w->earlier && !is_in_call(f, w) &&
        !ptx_note_is_displaced(f->pl, f->noting, w->block)) {
        memcpy(shown, w->state, f->pieces->count * PTX_NOTE_SAME * sizeof *shown);
        for (uint32_t k = 0; k < f->pieces->count * PTX_NOTE_SAME; k++)
            if ((w->positions.doubted | w->positions.hidden | (w->outside ? w->positions.pending : 0)) >> k / PTX_NOTE_SAME & 1 ||
                (shown[k] < UNSEEN && ptx_debug_note_is_changed(f->pl, f->noting, f->variable, &f->noting->values.at[shown[k]], f->bytes)))
                shown[k] = PTX_NONE;
        add_range(f, w->ranges, w->from, to, shown);
    }
    w->from = to > w->from ? to : w->from;
}

/* Returns whether code of line @at, which follows code of a later line @line, shows that the compiler has moved the later code
 * up: the paths have not passed line @at, and the source assigns between the two lines. */
static bool shows_early(const struct following *f, const struct walk *w, uint32_t line, uint32_t at)
{
    for (unsigned i = 0; i < w->positions.count && at < line; i++)
        if ((w->positions.at[i].line < at && ptx_note_assigns(f->lines, at, line - 1)) ||
            (w->positions.at[i].line == at && ptx_note_assigns(f->lines, at + 1, line - 1) &&
             ptx_note_is_no_round(f->noting, f->lines, line, at)))
            return true;
    return false;
}

/* Does what shows_early() does, for code in a loop that assigns to the variable. */
static bool shows_ahead(const struct following *f, const struct walk *w, uint32_t line, uint32_t at)
{
    (void)w; /* where the path has been does not matter */
    return at < line && ptx_note_loop_assigns(f->lines, at, line);
}

/* Returns a line whose code, after the code of @group, shows that the compiler has moved the code of @group up, or 0. The search
 * continues in the following blocks, but not to another iteration of a loop. @passed: the search ends at code of this line or a lower
 * one. 0: the search ends after MOST_EARLY lines of each block. */
static uint32_t early_line(const struct following *f, const struct walk *w, const struct ptx_note_group *group, uint32_t passed,
                        bool (*shows)(const struct following *f, const struct walk *w, uint32_t line, uint32_t at))
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
static bool is_ahead(struct following *f, const struct walk *w, const struct ptx_note_group *group)
{
    uint32_t passed = 0;

    for (unsigned i = 0; i < w->positions.count; i++)
        if (w->positions.at[i].line < group->line && (passed == 0 || w->positions.at[i].line > passed))
            passed = w->positions.at[i].line;
    return passed != 0 && ptx_note_loop_assigns(f->lines, group->line, group->line) && early_line(f, w, group, passed, shows_ahead) != 0;
}

/* Returns whether code of a line, which is_ahead() takes for moved-up code, may belong to a whole iteration that the compiler has
 * moved out of the loop. Then the source may have assigned to the variable. */
static bool may_be_iteration(const struct following *f, const struct ptx_note_group *group)
{
    for (uint32_t s = group->first; s < group->end && ptx_spend(f->pl, 1); s++) {
        const enum ptx_op op = (enum ptx_op)f->pl->fn->insns.at[s].op;

        if (op == PTX_ST || op == PTX_RED || op == PTX_ATOM || op == PTX_CALL || op == PTX_BAR)
            return true; /* the compiler does not move such an instruction out of a loop alone */
    }
    return ptx_note_may_iterate(f->noting, f->lines, group->line);
}

/* Returns whether the code of an inlined call belongs to another call than the debug sections say. That is so if, by the
 * assignments of the source, the paths to the code do not lead to the line of the call in the variable's function. A scope of
 * DWARF 2 has a single range, which may contain code of other calls. */
static bool is_astray(const struct following *f, const struct walk *w, const struct ptx_note_group *group)
{
    for (uint32_t s = group->first; s < group->end; s++) {
        const uint32_t line = ptx_debug_note_call_line(f->pl, f->noting, s, f->frame);

        if (line == 0 || (s != group->first && f->noting->owner[s] == f->noting->owner[s - 1]))
            continue;
        for (unsigned i = 0; i < w->positions.count; i++)
            if (!ptx_note_leads_to(f->pl, f->noting, f->variable, &w->positions.at[i], line))
                return true;
    }
    return false;
}

/* Returns the position (struct ptx_noted_event.at) of the first note after position @from in a block, or UINT32_MAX if there is
 * none. */
static uint32_t first_note(const struct following *f, uint32_t block, uint32_t from)
{
    const struct ptx_note_search *search = &f->noting->search;

    for (uint32_t e = search->from[block]; search->reached[block] == search->generation && e < search->to[block] && ptx_spend(f->pl, 1); e++)
        if (!f->events.at[e].kills && f->events.at[e].at > from)
            return f->events.at[e].at;
    return UINT32_MAX;
}

/* Returns whether a note before the code of a line may belong to a later assignment. That is so if the source assigns between two
 * lines of the code that follows, on a line without code, and no other note is before the code of the second line. */
static bool is_of_next(const struct following *f, const struct walk *w, const struct ptx_note_group *group)
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

static bool has_piece(const struct following *f, const struct ptx_noted_value *v, uint32_t p)
{
    return v->bytes == 0 || (f->pieces->edge[p] >= v->first && f->pieces->edge[p] < v->first + v->bytes);
}

static bool has_no_value(const struct ptx_noted_value *v)
{
    return v->operand_count == 0 && !v->is_launch;
}

/* Returns whether a note gives a piece a value that is not among the piece's known values. */
static bool is_news(const struct following *f, const struct walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_value *v = &f->noting->values.at[note->value];

    for (uint32_t p = 0; p < f->pieces->count && !has_no_value(v); p++) {
        const uint32_t *known = w->state + p * PTX_NOTE_SAME;
        bool same = !has_piece(f, v, p);

        for (uint32_t k = 0; k < PTX_NOTE_SAME && known[k] < UNSEEN; k++)
            same |= known[k] == note->value || ptx_note_equals(&f->noting->values.at[known[k]], v);
        if (!same)
            return true;
    }
    return false;
}

/* Returns whether a note in the code of a line gives no value, or another value than those known before the code. In that case,
 * a note before the code does not give the value that the line assigns. */
static bool has_second_note(const struct following *f, const struct walk *w, const struct ptx_note_group *group)
{
    const struct ptx_noted_event *event = &f->events.at[f->noting->search.from[w->block]];
    const struct ptx_noted_event *end = &f->events.at[f->noting->search.to[w->block]];

    for (; event < end && event->at <= 2 * group->end && ptx_spend(f->pl, 1); event++)
        if (event->at > 2 * group->first && !event->kills && !event->doubts && f->pieces->count == 1 &&
            (is_news(f, w, event) || has_no_value(&f->noting->values.at[event->value])))
            return true;
    return false;
}

/* Returns whether the source has assigned before line @to, and no note has given the assigned value yet. */
static bool owes(const struct following *f, const struct ptx_note_position *position, uint32_t to)
{
    return position->notes == 0 && position->line != 0 && position->line < to &&
           ptx_note_must_assign(f->pl, f->noting, f->lines, position->line, to);
}

/* Returns whether the notes since @position can only belong to the assignments between @position and the line of @group. @over:
 * the result of ptx_note_agrees(). */
static bool is_sure(const struct following *f, const struct walk *w, const struct ptx_note_position *position,
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
    return !is_of_next(f, w, group) && !(over > 0 && has_second_note(f, w, group));
}

/* Updates the state at the begin of the code of a line. */
static void enter_line(struct following *f, struct walk *w, const struct ptx_note_group *group)
{
    const struct ptx_noted_lines *lines = f->lines;
    struct ptx_note_positions next = {.doubted = w->positions.doubted, .hidden = w->positions.hidden};
    bool agrees = !w->positions.more, confirms = ptx_note_in_scope(lines, group->line);
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
static bool is_at_join(const struct following *f, const struct walk *w, const struct ptx_noted_event *note)
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
static const struct ptx_noted_event *note_after(const struct following *f, const struct walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_event *end = &f->events.at[f->noting->search.to[w->block]];

    do
        note++;
    while (note < end && note->kills);
    return note < end ? note : NULL;
}

/* Returns whether only code of @line, which does not assign, is between a note and the variable's next note in the block. The
 * next note may then give the value of an assignment before the line. */
static bool precedes_another(const struct following *f, const struct walk *w, const struct ptx_noted_event *note, uint32_t line)
{
    const struct ptx_noted_event *next = note_after(f, w, note);
    bool only = next != NULL && !ptx_note_assigns(f->lines, line, line);

    for (uint32_t s = note->at / 2; only && s < next->at / 2 && ptx_spend(f->pl, 1); s++)
        only = ptx_note_line(f->pl, s) == line || ptx_note_line(f->pl, s) == 0;
    return only;
}

/* Returns whether a note at a join gives the value of an assignment after the last line of a path. That is so if the source must
 * assign before the next line, or if that line is the head of a loop and the note is a constant, as in `for (i = 0; ...)`. */
static bool is_of_assignment(const struct following *f, const struct walk *w, const struct ptx_note_position *position,
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
static bool is_uncertain(const struct following *f, const struct walk *w, const struct ptx_noted_event *note)
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

/* Returns whether only minima and maxima are before the variable's next note. clang has then compiled a branch that may assign
 * to the variable, with its condition, to a minimum or maximum. clang 14 moves the note of that assignment before the branch,
 * where it replaces the note of the old value. */
static bool may_be_of_branch(const struct following *f, const struct walk *w, const struct ptx_noted_event *note)
{
    const struct ptx_noted_event *next = note_after(f, w, note);
    const uint32_t known[PTX_NOTE_SAME] = {note->value, PTX_NONE, PTX_NONE};

    if (next == NULL || f->pieces->count != 1)
        return false;
    for (uint32_t s = note->at / 2; s < next->at / 2 && ptx_spend(f->pl, 1); s++)
        if (f->pl->fn->insns.at[s].op != PTX_MIN && f->pl->fn->insns.at[s].op != PTX_MAX)
            return false;
    return ptx_note_merges(f->pl, f->noting, &f->noting->values.at[next->value], known);
}

static void take_note(struct following *f, struct walk *w, const struct ptx_noted_event *note)
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
    if (note->doubts)
        return; /* the earlier value is hidden, but stays in the state: the next note may give it again */
    for (uint32_t p = 0; p < f->pieces->count && news; p++)
        if (has_piece(f, v, p)) {
            w->positions.doubted = (w->positions.doubted & ~(UINT32_C(1) << p)) | (uint32_t)uncertain << p;
            w->positions.pending = (w->positions.pending & ~(UINT32_C(1) << p)) | (uint32_t)!(uncertain && joins) << p;
        }
    if (news && f->lines->step != 0 && f->pieces->count == 1 && (unknown & 1) == 0)
        given.value = ptx_note_derive(f->pl, f->noting, f->lines, note->value, w->state);
    apply(f, &given, w->state);
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

static void walk_block(struct following *f, struct walk *w)
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
            apply(f, event, w->state);
        e++;
    }
    show_up_to(f, w, block->end);
}

/* Follows block @b from its begin, so that @w has the state at the block's end. Returns false if the state at the begin is not
 * known yet, or if the steps are used up. */
static bool pass(struct following *f, uint32_t b, struct walk *w)
{
    const struct ptx_note_search *search = &f->noting->search;
    const uint32_t groups = f->lines != NULL ? f->noting->first_group[b + 1] - f->noting->first_group[b] : 0;

    if (!ptx_spend(f->pl, 1 + groups + f->pieces->count * (1 + search->to[b] - search->from[b])))
        return false;
    memcpy(w->state, state_of(f, b), f->pieces->count * PTX_NOTE_SAME * sizeof *w->state);
    if (w->state[0] == UNSEEN)
        return false;
    w->block = b;
    w->earlier = false;
    w->positions = search->positions[b];
    walk_block(f, w);
    return true;
}

static bool solve(struct following *f)
{
    const struct ptx_noting *noting = f->noting;
    const struct ptx_note_search *search = &noting->search;
    const uint32_t count = f->pieces->count;
    bool changed = true;

    while (changed) { /* Each state changes from UNSEEN to fewer and fewer values, so the loop ends. */
        changed = false;
        for (size_t i = 0; i < search->blocks.count; i++) {
            const uint32_t b = search->blocks.at[i];
            const struct ptx_noted_block *block = &noting->blocks.at[b];
            uint32_t state[PTX_NOTE_PIECES * PTX_NOTE_SAME];
            struct walk w = {.state = state};

            if (!search->changed[b])
                continue;
            search->changed[b] = 0;
            if (!pass(f, b, &w))
                continue;
            for (size_t s = 0; s < block->succ.count; s++) {
                const uint32_t next = block->succ.at[s];
                bool other = false;

                if (search->reached[next] != search->generation)
                    continue;
                for (uint32_t p = 0; p < count; p++)
                    other |= join(state_of(f, next) + p * PTX_NOTE_SAME, state + p * PTX_NOTE_SAME);
                other |= f->lines != NULL && ptx_note_join_positions(&search->positions[next], &w.positions, ptx_note_goes_back(noting, b, next));
                search->changed[next] |= other;
                changed |= other;
            }
        }
    }
    return f->pl->debug->budget != 0;
}

/* Returns whether a note of a kernel parameter is before all code of the kernel's lines. */
static bool is_at_entry(const struct following *f, const struct ptx_noted_event *note)
{
    const uint32_t i = f->variable->lines, function = i != 0 ? f->noting->lines.at[i - 1].function : 0;
    uint32_t s = 0;

    while (i != 0 && 2 * s < note->at && ptx_note_line(f->pl, s) <= function && ptx_spend(f->pl, 1)) /* a line may be 0 */
        s++;
    return i != 0 && note->block == 0 && 2 * s >= note->at;
}

/* Finds the notes of a kernel parameter that give the value of the launch. These are:
 *
 *   - notes of registers into which the parameter is loaded
 *   - notes at the entry, if the source does not assign to the parameter; clang may have noted only the bits that are used
 *   - notes without a value, if they are on all paths to a note with the launch value; LLVM leaves such notes when it moves the
 *     load down
 *
 * Appends all notes of the parameter to f->events, and replaces the values of these notes by the launch value, whose index it
 * stores in @launch. Returns false if all notes have the launch value. */
static bool find_launch_values(struct following *f, const struct ptx_noted_variable *variable, uint32_t *launch)
{
    struct ptx_noting *noting = f->noting;
    bool changes = false;

    *launch = (uint32_t)noting->values.count;
    *PTX_PUSH(f->pl->job, noting->values) = (struct ptx_noted_value){.is_launch = true};
    for (size_t i = variable->notes.count; i-- > 0;) { /* f->events has the last note first, until the loop at the end */
        struct ptx_noted_event event = variable->notes.at[i];
        const struct ptx_noted_value v = noting->values.at[event.value];
        bool same = v.if_parameter ||
                    (is_at_entry(f, &event) && v.operand_count != 0 && noting->lines.at[variable->lines - 1].count == 0) || (ptx_note_is_plain(&v) && v.operand[0].kind == PTX_NOTE_REG &&
                    ptx_note_is_loaded(f->pl, noting, &event, v.operand[0].reg, f->param, v.first));

        for (size_t e = 0; e < f->events.count && v.operand_count == 0 && !event.doubts && !same && ptx_spend(f->pl, 1); e++) {
            const struct ptx_noted_value *later = &noting->values.at[f->events.at[e].value];

            same = later->is_launch && later->first == v.first && later->bytes == v.bytes &&
                   ptx_note_dominates(f->pl, noting, event.block, f->events.at[e].block);
        }
        if (same && ptx_note_is_plain(&v) && v.operand[0].kind == PTX_NOTE_REG)
            event.also = 1 + event.value;
        if (v.bytes != 0 && same) {
            event.value = (uint32_t)noting->values.count;
            *PTX_PUSH(f->pl->job, noting->values) =
                (struct ptx_noted_value){.is_launch = true, .first = v.first, .bytes = v.bytes};
        } else if (same) {
            event.value = *launch;
        } else if (!event.doubts) {
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

/* Adds an event for each statement that writes register @reg, unless the events from index @notes on already have this
 * register. */
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
                                      const struct ptx_noted_variable *variable, uint32_t die, uint32_t param,
                                      struct ptx_noted_pieces *pieces)
{
    struct following f = {.pl = pl, .noting = noting, .pieces = pieces, .param = param, .variable = variable,
                          .lines = variable->checked ? &noting->lines.at[variable->lines - 1] : NULL};
    uint32_t launch = PTX_NONE;

    if (!find_edges(noting, variable, pieces) || noting->entries[variable - noting->variables.at] > 1 ||
        !ptx_spend(pl, variable->notes.count))
        return PTX_NOTED_NOTHING;
    f.bytes = (uint32_t)ptx_debug_type_bytes(pl->debug, die);
    f.frame = pl->debug->dies.at[die].parent;
    while (pl->debug->dies.at[f.frame].tag == ISA_TAG_BLOCK)
        f.frame = pl->debug->dies.at[f.frame].parent;
    if (param != PTX_NONE) {
        if (!find_launch_values(&f, variable, &launch) && f.lines == NULL)
            return PTX_NOTED_LAUNCH; /* the source does not assign to the parameter */
    } else {
        for (size_t i = 0; i < variable->notes.count; i++)
            *PTX_PUSH(pl->job, f.events) = ptx_note_with_register(pl, noting, variable, variable->notes.at[i]);
    }
    const size_t notes = f.events.count;

    for (size_t i = 0; i < notes; i++) {
        const struct ptx_noted_event *event = &f.events.at[i];
        const struct ptx_noted_value v = noting->values.at[event->also != 0 ? event->also - 1 : event->value];

        for (unsigned k = 0; k < v.operand_count && !v.is_launch; k++)
            for (uint32_t reg = v.operand[k].kind == PTX_NOTE_REG ? v.operand[k].reg : PTX_NONE; reg != PTX_NONE;
                 reg = ptx_debug_copied_from(pl, reg))
                add_writes(&f, notes, reg);
    }
    for (size_t e = 0; e < f.events.count; e++)
        f.events.at[e].order = (uint32_t)e;
    qsort(f.events.at, f.events.count, sizeof *f.events.at, compare_events);
    if (!find_reached(&f, launch != PTX_NONE))
        return PTX_NOTED_NOTHING;
    begin_states(&f, launch);
    if (!solve(&f))
        return PTX_NOTED_NOTHING;
    for (size_t i = 0; i < noting->search.blocks.count; i++) {
        uint32_t state[PTX_NOTE_PIECES * PTX_NOTE_SAME];
        struct walk w = {.state = state, .ranges = pieces};

        (void)pass(&f, noting->search.blocks.at[i], &w);
    }
    return pieces->ranges.count != 0 ? PTX_NOTED_RANGES : PTX_NOTED_NOTHING;
}
