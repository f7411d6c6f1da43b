/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the values that variables have at each PTX statement. A value is valid until the next note of the variable, or
 * until one of the value's registers is written again. At a join, a value is valid if it is valid on all paths to the join. This
 * is a forward data-flow analysis over the basic blocks of the statements, for each variable and each piece of it. */
#include "ptx/debuginfo/notes/ptx_debug_noteflow_priv.h"

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

/* Returns the index of the value that is register @reg, for the same piece as value @like. */
static uint32_t value_of_register(const struct ptx_note_following *f, uint32_t reg, uint32_t like)
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
static bool is_moved(const struct ptx_note_following *f, uint32_t value, const struct ptx_operand *from, uint32_t statement)
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
static void apply_write(const struct ptx_note_following *f, const struct ptx_noted_event *event, uint32_t *state)
{
    const struct ptx_insn *in = &f->pl->fn->insns.at[event->at / 2];
    const bool moves = in->op == PTX_MOV && in->guard == PTX_NONE && in->operand_count == 2 && in->operand[0].kind == PTX_O_REG;

    for (uint32_t p = 0; p < f->pieces->count; p++) {
        uint32_t *same = state + p * PTX_NOTE_SAME, kept = 0, moved = PTX_NONE;

        for (uint32_t k = 0; k < PTX_NOTE_SAME && same[k] < PTX_NOTE_UNSEEN; k++) {
            if (moves && moved == PTX_NONE && is_moved(f, same[k], &in->operand[1], event->at / 2))
                moved = same[k];
            if (!ptx_note_uses(f->pl, f->noting, same[k], event->value))
                same[kept++] = same[k];
        }
        if (moved != PTX_NONE && kept < PTX_NOTE_SAME)
            same[kept++] = value_of_register(f, event->value, moved);
        while (same[0] != PTX_NOTE_UNSEEN && kept < PTX_NOTE_SAME)
            same[kept++] = PTX_NONE;
    }
}

/* Updates the known values of each piece for an event. */
void ptx_note_apply(const struct ptx_note_following *f, const struct ptx_noted_event *event, uint32_t *state)
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

    if (to[0] == PTX_NOTE_UNSEEN) {
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

static bool has_left_scope(const struct ptx_note_following *f, const struct ptx_noted_block *block)
{
    return block->end <= f->variable->from || block->first >= f->variable->to;
}

static void reach(struct ptx_note_following *f, uint32_t b)
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
static bool find_reached(struct ptx_note_following *f, bool everywhere)
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

static uint32_t *state_of(const struct ptx_note_following *f, uint32_t block)
{
    return f->noting->search.in + (size_t)block * f->pieces->count * PTX_NOTE_SAME;
}

/* Initialises the states at the begin of blocks. At the function's entry, value @launch is known. No value is known at a block
 * that has a predecessor outside the list of reached blocks. All other states are PTX_NOTE_UNSEEN. */
static void begin_states(struct ptx_note_following *f, uint32_t launch)
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
            in[k] = !begins ? (uint32_t)PTX_NOTE_UNSEEN : k % PTX_NOTE_SAME == 0 && b == 0 ? launch : PTX_NONE;
    }
}

static void add_range_in_scope(struct ptx_note_following *f, struct ptx_noted_pieces *pieces, uint32_t from, uint32_t to, const uint32_t *state)
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

void ptx_note_add_range(struct ptx_note_following *f, struct ptx_noted_pieces *pieces, uint32_t from, uint32_t to, const uint32_t *state)
{
    bool known = false;

    for (uint32_t p = 0; p < pieces->count; p++)
        known |= state[p * PTX_NOTE_SAME] < PTX_NOTE_UNSEEN;
    while (known && from < to && ptx_spend(f->pl, 1)) {
        uint32_t next = from;

        while (next < to && !ptx_debug_note_is_out_of_scope(f->pl, f->noting, f->variable, next) && ptx_spend(f->pl, 1))
            next++;
        add_range_in_scope(f, pieces, from, next, state);
        from = next + 1;
    }
}

/* Follows block @b from its begin, so that @w has the state at the block's end. Returns false if the state at the begin is not
 * known yet, or if the steps are used up. */
static bool pass(struct ptx_note_following *f, uint32_t b, struct ptx_note_walk *w)
{
    const struct ptx_note_search *search = &f->noting->search;
    const uint32_t groups = f->lines != NULL ? f->noting->first_group[b + 1] - f->noting->first_group[b] : 0;

    if (!ptx_spend(f->pl, 1 + groups + f->pieces->count * (1 + search->to[b] - search->from[b])))
        return false;
    memcpy(w->state, state_of(f, b), f->pieces->count * PTX_NOTE_SAME * sizeof *w->state);
    if (w->state[0] == PTX_NOTE_UNSEEN)
        return false;
    w->block = b;
    w->earlier = false;
    w->positions = search->positions[b];
    ptx_note_walk_block(f, w);
    return true;
}

static bool solve(struct ptx_note_following *f)
{
    const struct ptx_noting *noting = f->noting;
    const struct ptx_note_search *search = &noting->search;
    const uint32_t count = f->pieces->count;
    bool changed = true;

    while (changed) { /* Each state changes from PTX_NOTE_UNSEEN to fewer and fewer values, so the loop ends. */
        changed = false;
        for (size_t i = 0; i < search->blocks.count; i++) {
            const uint32_t b = search->blocks.at[i];
            const struct ptx_noted_block *block = &noting->blocks.at[b];
            uint32_t state[PTX_NOTE_PIECES * PTX_NOTE_SAME];
            struct ptx_note_walk w = {.state = state};

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
static bool is_at_entry(const struct ptx_note_following *f, const struct ptx_noted_event *note)
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
static bool find_launch_values(struct ptx_note_following *f, const struct ptx_noted_variable *variable, uint32_t *launch)
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
static void add_writes(struct ptx_note_following *f, size_t notes, uint32_t reg)
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
    struct ptx_note_following f = {.pl = pl, .noting = noting, .pieces = pieces, .param = param, .variable = variable,
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
        for (size_t i = 0; i < variable->notes.count; i++) {
            struct ptx_noted_event event = ptx_note_with_register(pl, noting, variable, variable->notes.at[i]);

            if (ptx_note_is_replaced(pl, noting, variable, &noting->values.at[event.value], f.bytes)) {
                event.value = (uint32_t)noting->values.count;
                *PTX_PUSH(pl->job, noting->values) = (struct ptx_noted_value){.operand_count = 0};
            }
            *PTX_PUSH(pl->job, f.events) = event;
        }
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
        struct ptx_note_walk w = {.state = state, .ranges = pieces};

        (void)pass(&f, noting->search.blocks.at[i], &w);
    }
    return pieces->ranges.count != 0 ? PTX_NOTED_RANGES : PTX_NOTED_NOTHING;
}
