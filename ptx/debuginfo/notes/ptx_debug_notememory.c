/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines at which statements the local memory of an optimised function has the value that a variable has in the source.
 * clang keeps such a variable, a structure or an array, at one address, but removes stores that the code does not need, and moves
 * other stores.
 *
 *   The memory has the value of the source only if the path has executed the stores of all assignments so far. A part of the
 *   variable is unknown from the first code after an assignment that has no store to the part, until a store of another
 *   assignment to the part.
 *
 * A note of ptx_values.c contains all uses of the variable in the source with their lines. A PTX statement that stores relative
 * to the variable's address belongs to the assignment on the statement's line. The lines of the code, in their order, are a path
 * through the source, as in ptx_debug_notedoubt.c. These rules decide what is unknown:
 *
 *   - If a path passes the lines of an assignment without the assignment's code, the part is unknown. Exception: if the
 *     assignment is on one side of a branch and has a store elsewhere in the code, the path has not taken this side.
 *   - If the source does not assign to all bytes of a store on the line of the store, the bytes of the store are unknown.
 *   - If the source gives the address of the variable to other code, the variable is unknown from this line on. If the line is in
 *     a loop, the variable is unknown from the beginning of the outermost loop on.
 *   - If the source assigns in a loop, and the code does not have exactly one store in a loop for this assignment, clang has
 *     unrolled or changed the loop. The part is unknown in the loop, and after the loop until a store.
 *   - clang may have moved code up before code of an earlier line, or down after code of a later line. At the moved code, the
 *     parts that the source assigns between the two lines are not shown.
 */
#include "ptx/debuginfo/notes/ptx_debug_memory_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_POSITIONS = 8, MOST_AHEAD = 8 };

/* Line of the source that an execution path to a statement has reached. */
struct position {
    uint32_t line;    /* last line on the path that is in the variable's scope, or 0 if the path is outside the scope */
    uint32_t done;    /* bit set of the pieces that the code of `line` has stored */
    bool element;     /* the code of `line` has stored an array element of unknown index */
    bool back, crossed; /* back: the path has taken a branch back since the code of `line`; crossed: it has entered another
                         * block since then */
};
/* State at a statement: positions of the paths to it, and bit sets of pieces. */
struct ptx_memory_state {
    struct position at[MOST_POSITIONS];
    uint8_t count;
    bool known;       /* the analysis has followed a path to the statement */
    uint32_t doubted; /* pieces whose memory may not have the value of the source */
    uint32_t unnoted; /* pieces whose last debug value is not in memory */
};
/* ---- pieces ------------------------------------------------------------------------------------------------ */

static int compare_edges(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static uint32_t pieces_of(const struct ptx_memory *m, struct ptx_memory_bytes bytes)
{
    uint32_t pieces = 0;

    for (uint32_t p = 0; p < m->pieces.count; p++)
        if (m->pieces.edge[p] < bytes.end && m->pieces.edge[p + 1] > bytes.first)
            pieces |= UINT32_C(1) << p;
    return pieces;
}

/* Returns the pieces that are completely in @bytes. */
static uint32_t whole_pieces_of(const struct ptx_memory *m, struct ptx_memory_bytes bytes)
{
    uint32_t pieces = 0;

    for (uint32_t p = 0; p < m->pieces.count; p++)
        if (m->pieces.edge[p] >= bytes.first && m->pieces.edge[p + 1] <= bytes.end)
            pieces |= UINT32_C(1) << p;
    return pieces;
}

/* Divides the variable into pieces at the bounds of assignments, stores and debug values. If there are more than PTX_NOTE_PIECES
 * pieces, the whole variable is one piece. */
static void divide(struct ptx_memory *m)
{
    PTX_LIST(uint32_t) edges = {0};
    uint32_t count = 0;

    *PTX_PUSH(m->pl->job, edges) = 0;
    *PTX_PUSH(m->pl->job, edges) = m->size;
    for (size_t i = 0; i < m->uses.count; i++) {
        *PTX_PUSH(m->pl->job, edges) = m->uses.at[i].bytes.first;
        *PTX_PUSH(m->pl->job, edges) = m->uses.at[i].bytes.end;
    }
    for (size_t i = 0; i < m->stores.count; i++) {
        *PTX_PUSH(m->pl->job, edges) = m->stores.at[i].bytes.first;
        *PTX_PUSH(m->pl->job, edges) = m->stores.at[i].bytes.end;
    }
    for (size_t i = 0; m->variable != NULL && i < m->variable->notes.count; i++) {
        const struct ptx_noted_value *v = &m->noting->values.at[m->variable->notes.at[i].value];

        *PTX_PUSH(m->pl->job, edges) = v->first < m->size ? v->first : m->size;
        *PTX_PUSH(m->pl->job, edges) = v->first + v->bytes < m->size ? v->first + v->bytes : m->size;
    }
    qsort(edges.at, edges.count, sizeof *edges.at, compare_edges);
    for (size_t i = 0; i < edges.count; i++)
        if (i == 0 || edges.at[i] != edges.at[i - 1])
            edges.at[count++] = edges.at[i];
    if (count > PTX_NOTE_PIECES + 1) {
        edges.at[1] = m->size;
        count = 2;
    }
    memcpy(m->pieces.edge, edges.at, count * sizeof *edges.at);
    m->pieces.count = count - 1;
}

/* Creates for each piece the value that stands for the piece's memory. */
static void make_values(struct ptx_memory *m)
{
    char text[96];

    m->values = PTX_ARRAY(m->pl->job, uint32_t, m->pieces.count);
    for (uint32_t p = 0; p < m->pieces.count; p++) {
        const uint32_t first = m->pieces.edge[p], bytes = m->pieces.edge[p + 1] - first;
        const int size = snprintf(text, sizeof text, "DW_OP_plus_uconst, %llu, DW_OP_deref, DW_OP_LLVM_fragment, %u, %u",
                                  (unsigned long long)m->offset + first, first * 8, bytes * 8);
        char *copy = ptx_new(m->pl->job, 1, (size_t)size + 1);
        struct ptx_noted_value v = {.expression = copy, .expression_size = (uint32_t)size, .operand_count = 1, .is_proven = true, .first = first,
                                    .bytes = bytes};

        memcpy(copy, text, (size_t)size + 1);
        v.operand[0].kind = PTX_NOTE_FRAME;
        m->values[p] = (uint32_t)m->noting->values.count;
        *PTX_PUSH(m->pl->job, m->noting->values) = v;
    }
}

/* ---- lines ------------------------------------------------------------------------------------------------- */

static bool has_line(const struct ptx_memory_use *use, uint32_t line)
{
    return line >= use->first && line <= use->last;
}

/* Finds the line of each statement in the variable's function. Code of an inlined call has the line of the call. */
static void find_lines(struct ptx_memory *m)
{
    const struct ptx_placing *pl = m->pl;
    const struct ptx_function *fn = pl->fn;

    m->line = PTX_ARRAY(pl->job, uint32_t, fn->insns.count + 1);
    for (uint32_t s = 0; s < fn->insns.count && ptx_spend(m->pl, 2); s++) {
        const uint32_t owner = m->noting->owner[s], call = owner != 0 ? ptx_debug_note_call_line(pl, m->noting, s, m->frame) : 0;
        const uint32_t line = ptx_note_line(pl, s);
        uint32_t at = owner;

        while (at != 0 && at != PTX_NONE && at != m->frame && pl->debug->dies.at[at].tag == ISA_TAG_BLOCK)
            at = pl->debug->dies.at[at].parent;
        m->line[s] = call != 0 ? call : at == 0 || at == m->frame ? line : 0;
        if (!ptx_note_in_function(m->lines, m->line[s]))
            m->line[s] = 0;
    }
}

/* Counts the stores on the lines of each assignment, and sets the assignment's members `missing`, `unstored` and `unrolled`. */
static void match_stores(struct ptx_memory *m)
{
    for (size_t i = 0; i < m->uses.count; i++) {
        struct ptx_memory_use *use = &m->uses.at[i];
        unsigned count = 0;
        bool in_loop = true;

        use->pieces = use->unstored = pieces_of(m, use->bytes);
        for (size_t k = 0; k < m->stores.count && ptx_spend(m->pl, 1); k++) {
            const struct ptx_memory_store *store = &m->stores.at[k];

            if (!has_line(use, m->line[store->statement]) || store->bytes.first >= use->bytes.end || store->bytes.end <= use->bytes.first)
                continue;
            count++;
            use->unstored &= store->exact ? ~whole_pieces_of(m, store->bytes) : 0;
            const uint32_t block = m->noting->block_of[store->statement];
            in_loop &= use->loop == 0 || ptx_note_reaches(m->pl, m->noting, block, block);
        }
        use->missing = count == 0;
        use->unrolled = use->loop != 0 && (count != 1 || !in_loop);
    }
}

/* ---- paths ------------------------------------------------------------------------------------------------- */

/* Returns the pieces of the assignments on lines @first to @last that a path from line @from to line @to passes without
 * executing the assignments' code. If @after is set, @first to @last are the lines from @from to the end of a loop around both
 * lines, and the path begins another iteration of this loop. */
static uint32_t passed(const struct ptx_memory *m, const struct position *from, uint32_t to, uint32_t first, uint32_t last, bool after)
{
    uint32_t pieces = 0;

    for (size_t i = 0; i < m->uses.count; i++) {
        const struct ptx_memory_use *use = &m->uses.at[i];
        const bool has_from = from->line > use->begin && from->line <= use->reached, has_to = to > use->begin && to <= use->reached;
        const bool left = use->loop != 0 && (to < use->loop || to > use->loop_end || after) && use->jumps;
        const bool certain = (has_to && !(after && use->jumps)) || (has_from && !left);

        if (use->first < first || use->last > last || has_line(use, to) || has_line(use, from->line))
            continue;
        if (certain || use->reached == 0 || use->missing || !from->crossed)
            pieces |= use->pieces;
    }
    return pieces;
}

/* Returns the innermost loop of the source around both lines, or NULL if there is none. */
static const struct ptx_noted_line *loop_around(const struct ptx_memory *m, uint32_t a, uint32_t b)
{
    const struct ptx_noted_line *found = NULL;

    for (size_t i = 0; i < m->lines->loops.count; i++) {
        const struct ptx_noted_line *loop = &m->lines->loops.at[i];

        if (loop->line <= a && loop->line <= b && loop->reached >= a && loop->reached >= b)
            found = loop;
    }
    return found;
}

/* Returns whether @line is the first line of the loop that has code. */
static bool is_head(const struct ptx_memory *m, const struct ptx_noted_line *loop, uint32_t line)
{
    for (uint32_t l = loop->line; l < line; l++)
        if (l <= m->noting->last_line && m->noting->has_line[l])
            return false;
    return true;
}

/* Returns the pieces that are unknown after a path from one line to code of line @to. */
static uint32_t doubts_between(const struct ptx_memory *m, const struct position *from, uint32_t to)
{
    const struct ptx_noted_line *loop = from->line != 0 && (from->back || from->line > to) ? loop_around(m, from->line, to) : NULL;
    /* The path goes back in the code from the loop's head to a later line, because clang has put the loop's condition at the
     * loop's end. */
    const bool from_head = loop != NULL && from->line < to && from->line == loop->line;
    uint32_t pieces = 0;

    for (size_t i = 0; i < m->uses.count && from->line != 0; i++) { /* adds assignments on the line from which the path comes */
        const struct ptx_memory_use *use = &m->uses.at[i];

        if (has_line(use, from->line) && !(has_line(use, to) && !from->back) && !(use->computed && (from->element || (from->done & use->pieces) != 0)))
            pieces |= use->pieces & ~from->done;
    }
    for (size_t i = 0; i < m->uses.count; i++) { /* adds assignments in loops that the path enters */
        const struct ptx_memory_use *use = &m->uses.at[i];

        if (use->unrolled && to >= use->loop && to <= use->loop_end && (from->line < use->loop || from->line > use->loop_end))
            pieces |= use->pieces;
    }
    if (from->line == 0)
        return pieces | passed(m, from, to, m->lines->declared, to - 1, false);
    if (loop != NULL && !from_head) {
        pieces |= passed(m, from, to, from->line + 1, loop->reached, true) | passed(m, from, to, loop->line, to - 1, false);
        if (from->back || is_head(m, loop, to))
            return pieces;
    } else if (from->back && from->line == to && m->is_body) { /* clang has created a loop in the code for one source statement */
        return pieces;
    } else if (from->back && from->line >= to) { /* the path enters the scope again */
        return pieces | passed(m, from, to, m->lines->declared, to - 1, false);
    } else if (from->line < to) {
        return pieces | passed(m, from, to, from->line + 1, to - 1, false);
    }
    for (size_t i = 0; i < m->uses.count && from->line > to; i++) /* code has moved */
        if (m->uses.at[i].last >= to && m->uses.at[i].first <= from->line)
            pieces |= m->uses.at[i].pieces;
    return pieces;
}

static void add_position(struct ptx_memory_state *place, struct position position)
{
    for (unsigned i = 0; i < place->count; i++) {
        const struct position *at = &place->at[i];

        if (at->line == position.line && at->done == position.done && at->element == position.element && at->back == position.back &&
            at->crossed == position.crossed)
            return;
    }
    if (place->count == MOST_POSITIONS) { /* `at` has no room for this position, so all pieces become unknown */
        place->doubted = UINT32_MAX;
        return;
    }
    place->at[place->count++] = position;
}

/* Returns whether the code of statement @s has moved up: code of an earlier line, which no path has passed, follows in the block,
 * and no loop around both lines assigns to the variable. */
static bool is_ahead(const struct ptx_memory *m, const struct ptx_memory_state *place, uint32_t s, uint32_t end)
{
    const uint32_t line = m->line[s];
    unsigned groups = 0;

    for (uint32_t next = s + 1; next < end && groups < MOST_AHEAD && ptx_spend(m->pl, 1); next++) {
        const uint32_t earlier = m->line[next];
        bool passed_it = earlier == 0 || earlier >= line || !ptx_note_in_scope(m->lines, earlier);

        groups += earlier != m->line[next - 1];
        for (unsigned i = 0; i < place->count; i++)
            passed_it |= place->at[i].line > earlier;
        if (passed_it)
            continue;
        const struct ptx_noted_line *loop = loop_around(m, earlier, line);

        for (size_t i = 0; i < m->uses.count && loop != NULL; i++)
            passed_it |= m->uses.at[i].last >= loop->line && m->uses.at[i].first <= loop->reached;
        if (!passed_it)
            return true;
    }
    return false;
}

/* Returns whether code of a line has moved down: all paths have passed the line, and no loop leads back to the line. */
static bool is_late(const struct ptx_memory *m, const struct ptx_memory_state *place, uint32_t line)
{
    bool late = m->is_body && place->count != 0;

    for (unsigned i = 0; i < place->count; i++)
        late &= place->at[i].line > line && !place->at[i].back && loop_around(m, place->at[i].line, line) == NULL;
    return late;
}

/* Returns the pieces that are not shown at code of a line, although their memory may be known after this code. These are the
 * pieces that an unrolled loop around the line assigns and, if @moved is set, the pieces that the source assigns between the
 * line and the positions. From line m->gives_away on, these are all pieces. */
static uint32_t hidden_at(const struct ptx_memory *m, const struct ptx_memory_state *place, uint32_t line, bool moved)
{
    uint32_t pieces = line >= m->gives_away ? UINT32_MAX : 0;

    for (size_t i = 0; i < m->uses.count; i++) {
        const struct ptx_memory_use *use = &m->uses.at[i];

        if (use->unrolled && line >= use->loop && line <= use->loop_end)
            pieces |= use->pieces;
        for (unsigned k = 0; k < place->count && moved; k++)
            if ((use->first < line && use->last >= place->at[k].line) || (use->last >= line && use->first <= place->at[k].line))
                pieces |= use->pieces;
    }
    return pieces;
}

/* Updates the state where code of another line begins. */
static void enter(const struct ptx_memory *m, struct ptx_memory_state *place, uint32_t line)
{
    struct ptx_memory_state next = {.known = true, .doubted = place->doubted, .unnoted = place->unnoted};
    const bool inside = ptx_note_in_scope(m->lines, line);

    if (!inside && m->is_body)
        return; /* code of a line before the declaration has moved down */
    for (unsigned i = 0; i < place->count; i++) {
        struct position position = place->at[i];

        if (inside && (position.line != line || position.back)) {
            next.doubted |= doubts_between(m, &position, line);
            if (loop_around(m, position.line, line) == NULL || !position.back || position.line != line) {
                bool goes_on = false; /* the new line and the line of the position belong to the same source statement */

                for (size_t k = 0; k < m->uses.count && !position.back; k++)
                    goes_on |= has_line(&m->uses.at[k], line) && has_line(&m->uses.at[k], position.line);
                position.done = goes_on ? position.done : 0;
                position.element &= goes_on;
            } else {
                position.done = 0;
                position.element = false;
            }
        }
        position = inside ? (struct position){.line = line, .done = position.done, .element = position.element} : (struct position){.line = 0};
        add_position(&next, position);
    }
    *place = next;
}

/* Updates the state for a store. The stored pieces become known if the source assigns them on the store's line; otherwise they
 * become unknown. */
static void store(const struct ptx_memory *m, struct ptx_memory_state *place, const struct ptx_memory_store *store)
{
    const uint32_t line = m->line[store->statement], all = pieces_of(m, store->bytes);
    uint32_t allowed = 0, missing = 0;

    for (size_t i = 0; i < m->uses.count; i++) {
        const struct ptx_memory_use *use = &m->uses.at[i];

        if (has_line(use, line) && (store->exact || use->computed))
            allowed |= use->pieces;
        else
            missing |= use->unstored;
    }
    /* clang may combine stores of several lines to one store, which has only one of these lines. */
    if (store->wild || allowed == 0 || (store->exact && (all & ~allowed) != 0)) {
        place->doubted |= all;
        return;
    }
    if (!store->exact) {
        for (unsigned i = 0; i < place->count; i++)
            place->at[i].element = true;
        return;
    }
    const uint32_t stored = whole_pieces_of(m, store->bytes) & ~((all & (all - 1)) != 0 || store->combined ? missing : 0);

    place->doubted = (place->doubted | (all & missing)) & ~stored;
    for (unsigned i = 0; i < place->count; i++)
        place->at[i].done |= stored;
}

static void take_note(const struct ptx_memory *m, struct ptx_memory_state *place, const struct ptx_noted_event *note)
{
    const struct ptx_noted_value *v = &m->noting->values.at[note->value];
    const struct ptx_memory_bytes bytes = {v->bytes != 0 ? v->first : 0, v->bytes != 0 ? v->first + v->bytes : m->size};
    const bool in_memory = v->operand_count == 1 && v->operand[0].kind == PTX_NOTE_FRAME && !note->doubts &&
                           memmem(v->expression, v->expression_size, "DW_OP_deref", 11) != NULL;

    uint32_t done = UINT32_MAX; /* pieces that the code of the line has just stored, so that the memory has their new value */

    for (unsigned i = 0; i < place->count; i++)
        done &= place->at[i].done;
    if (in_memory)
        place->unnoted &= ~whole_pieces_of(m, bytes);
    else
        place->unnoted |= pieces_of(m, bytes) & ~done;
}

static void show(struct ptx_memory *m, uint32_t statement, uint32_t hidden, bool whole)
{
    const uint32_t all = (uint32_t)lw_mask(m->pieces.count), shown = all & ~hidden, room = m->pieces.count * PTX_NOTE_SAME;
    struct ptx_noted_pieces *pieces = &m->pieces;
    struct ptx_noted_range *last = pieces->ranges.count != 0 ? &pieces->ranges.at[pieces->ranges.count - 1] : NULL;
    uint32_t *value;

    if (shown == 0 || whole != (shown == all) || (m->line[statement] != 0 && !ptx_note_in_scope(m->lines, m->line[statement])))
        return;
    value = PTX_ARRAY(m->pl->job, uint32_t, room);
    for (uint32_t k = 0; k < room; k++)
        value[k] = k % PTX_NOTE_SAME == 0 && (shown >> k / PTX_NOTE_SAME & 1) ? m->values[k / PTX_NOTE_SAME] : PTX_NONE;
    if (last != NULL && last->to == statement && memcmp(last->value, value, room * sizeof *value) == 0)
        last->to++;
    else
        *PTX_PUSH(m->pl->job, pieces->ranges) = (struct ptx_noted_range){statement, statement + 1, value};
}

enum { FOLLOW, SHOW_PARTS, SHOW_WHOLE };

/* Updates @place from the start of block @b to its end. If @what is not FOLLOW, adds the known values before each statement
 * to m->pieces. SHOW_WHOLE selects statements at which all pieces are known, and SHOW_PARTS statements at which only some
 * are known. */
static void walk(struct ptx_memory *m, uint32_t b, struct ptx_memory_state *place, unsigned what)
{
    const struct ptx_noted_block *block = &m->noting->blocks.at[b];
    size_t next = 0;
    uint32_t moved = 0, hidden = 0, entered = 0;

    for (size_t high = m->stores.count; next < high;) {
        const size_t middle = next + (high - next) / 2;

        if (m->stores.at[middle].statement < block->first)
            next = middle + 1;
        else
            high = middle;
    }
    for (uint32_t s = block->first; s < block->end && ptx_spend(m->pl, 2); s++) {
        const uint32_t line = m->line[s];

        for (size_t i = 0; m->variable != NULL && i < m->variable->notes.count && ptx_spend(m->pl, 1); i++)
            if (m->variable->notes.at[i].block == b && m->variable->notes.at[i].at == 2 * s)
                take_note(m, place, &m->variable->notes.at[i]);
        if (line != 0 && line != entered && line != moved) {
            bool stores = false;

            if (!ptx_spend(m->pl, 1 + (m->uses.count + m->lines->loops.count) / 4))
                return;
            for (size_t k = next; k < m->stores.count && m->stores.at[k].statement < block->end && ptx_spend(m->pl, 1); k++)
                stores |= m->line[m->stores.at[k].statement] == line;
            moved = 0;
            if (ptx_note_in_scope(m->lines, line) && !stores && (is_ahead(m, place, s, block->end) || is_late(m, place, line))) {
                moved = line;
                hidden = hidden_at(m, place, line, true);
                entered = 0;
            } else {
                enter(m, place, line);
                hidden = hidden_at(m, place, line, false);
                entered = line;
            }
        }
        if (entered == 0 && moved == 0) { /* no earlier code of the block has a line */
            hidden = 0;
            for (unsigned i = 0; i < place->count; i++)
                hidden |= hidden_at(m, place, place->at[i].line, false);
        }
        if (what != FOLLOW)
            show(m, s, place->doubted | place->unnoted | hidden, what == SHOW_WHOLE);
        for (; next < m->stores.count && m->stores.at[next].statement == s; next++)
            store(m, place, &m->stores.at[next]);
    }
}

/* Joins the states of paths; returns whether @to has changed. */
static bool join(struct ptx_memory_state *to, const struct ptx_memory_state *from, bool back)
{
    const struct ptx_memory_state before = *to;

    if (!to->known)
        *to = (struct ptx_memory_state){.known = true};
    to->doubted |= from->doubted;
    to->unnoted |= from->unnoted;
    for (unsigned i = 0; i < from->count; i++) {
        struct position position = from->at[i];

        position.back |= back;
        position.crossed = true;
        add_position(to, position);
    }
    return !before.known || before.count != to->count || before.doubted != to->doubted || before.unnoted != to->unnoted;
}

static bool solve(struct ptx_memory *m)
{
    const size_t count = m->noting->blocks.count;
    uint8_t *changed = PTX_ARRAY(m->pl->job, uint8_t, count);
    bool more = true;

    m->in = PTX_ARRAY(m->pl->job, struct ptx_memory_state, count);
    m->in[0] = (struct ptx_memory_state){.known = true, .count = 1, .unnoted = m->variable != NULL ? UINT32_MAX : 0};
    for (size_t i = 0; i < m->uses.count; i++) /* a variable with an initialiser is unknown before the initialiser */
        if (m->uses.at[i].first == m->lines->declared)
            m->in[0].doubted = UINT32_MAX;
    changed[0] = 1;
    while (more) {
        more = false;
        for (uint32_t b = 0; b < count; b++) {
            const struct ptx_noted_block *block = &m->noting->blocks.at[b];
            struct ptx_memory_state place = m->in[b];

            if (!changed[b])
                continue;
            changed[b] = 0;
            if (!ptx_spend(m->pl, 1 + block->succ.count))
                return false;
            walk(m, b, &place, FOLLOW);
            for (size_t s = 0; s < block->succ.count; s++)
                if (join(&m->in[block->succ.at[s]], &place, ptx_note_goes_back(m->noting, b, block->succ.at[s])))
                    changed[block->succ.at[s]] = more = true;
        }
    }
    return m->pl->debug->budget != 0;
}

/* Stores the variable's offset in local memory in @offset, as the debug values give it, or UINT64_MAX if they do not all
 * give the same offset. Returns false if no debug value is in memory. */
static bool find_noted(const struct ptx_memory *m, uint64_t *offset)
{
    bool found = false;

    for (size_t i = 0; i < m->variable->notes.count; i++) {
        const struct ptx_noted_value *v = &m->noting->values.at[m->variable->notes.at[i].value];
        struct ptx_note_words words = {v->expression, v->expression + v->expression_size};
        uint64_t at = 0, number;
        bool deref = false, other = false;

        if (v->operand_count != 1 || v->operand[0].kind != PTX_NOTE_FRAME)
            continue;
        for (struct ptx_name word = ptx_note_word(&words); word.size != 0 && !deref; word = ptx_note_word(&words)) {
            deref = ptx_name_is(word, "DW_OP_deref");
            if (ptx_name_is(word, "DW_OP_plus_uconst") && ptx_note_number(ptx_note_word(&words), 10, &number))
                at += number;
            else if (!deref)
                other = true;
        }
        if (!deref)
            continue; /* the variable's value is the address itself, not the memory at the address */
        if (other || at < v->first || (found && at - v->first != *offset)) {
            *offset = UINT64_MAX;
            return true;
        }
        *offset = at - v->first;
        found = true;
    }
    return found;
}

bool ptx_debug_memory_noted(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *variable)
{
    const struct ptx_memory m = {.pl = pl, .noting = (struct ptx_noting *)noting, .variable = variable};
    uint64_t offset;

    return find_noted(&m, &offset);
}

/* Records the variable's offset in the kernel's local memory. The offset is valid even where the memory does not have the
 * variable's value. */
static void record_offset(struct ptx_placing *pl, uint32_t die, uint64_t offset)
{
    struct ptx_die *d = &pl->debug->dies.at[die];
    struct isa_var_location location;

    if (!ptx_debug_frame_location(pl, offset, &location) || location.kind != ISA_LOCATION_ADDRESS ||
        location.value - ISA_LOCAL_BASE > UINT32_MAX)
        return;
    d->has_local_offset = true;
    d->local_offset = (uint32_t)(location.value - ISA_LOCAL_BASE);
}

void ptx_debug_memory_locate(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable, uint32_t die,
                             uint64_t offset)
{
    const struct ptx_debug *debug = pl->debug;
    const uint32_t origin = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_ABSTRACT_ORIGIN));
    const uint32_t source = origin != PTX_NONE ? origin : die;
    const struct ptx_value *name = ptx_debug_value(debug, source, ISA_AT_NAME);
    struct ptx_memory m = {.pl = pl, .noting = noting, .variable = variable, .die = source, .offset = offset};
    char key[PTX_NAME_BYTES];
    const uint32_t *uses, *lines;
    int size;

    if (name == NULL || name->kind != PTX_V_TEXT || (variable != NULL && !find_noted(&m, &m.offset)) || m.offset == UINT64_MAX)
        return;
    record_offset(pl, die, m.offset);
    if (variable != NULL && noting->entries[variable - noting->variables.at] > 1)
        return;
    size = snprintf(key, sizeof key, "%s %llu", name->text, (unsigned long long)ptx_debug_memory_number(debug, source, ISA_AT_DECL_LINE, 0));
    if (size < 0 || (size_t)size >= sizeof key)
        return;
    uses = ptx_map_find(&noting->uses_by_name, key, (size_t)size);
    lines = ptx_map_find(&noting->lines_by_name, key, (size_t)size);
    if (uses == NULL || lines == NULL || ptx_debug_memory_size(debug, source) == 0 || ptx_debug_memory_size(debug, source) > UINT32_MAX)
        return;
    m.size = (uint32_t)ptx_debug_memory_size(debug, source);
    m.lines = &noting->lines.at[*lines];
    for (m.frame = debug->dies.at[die].parent; debug->dies.at[m.frame].tag == ISA_TAG_BLOCK;)
        m.frame = debug->dies.at[m.frame].parent;
    m.is_body = m.lines->end == m.lines->function_end && debug->dies.at[m.frame].tag != ISA_TAG_INLINED;
    if (!ptx_debug_memory_uses(&m, noting->uses.at[*uses]))
        return;
    ptx_debug_memory_stores(&m);
    divide(&m);
    make_values(&m);
    find_lines(&m);
    match_stores(&m);
    if (!solve(&m))
        return;
    for (unsigned what = SHOW_PARTS; what <= SHOW_WHOLE; what++) {
        struct ptx_noted_pieces whole = {.count = 1};

        m.pieces.ranges.count = 0;
        for (uint32_t b = 0; b < noting->blocks.count; b++) {
            struct ptx_memory_state place = m.in[b];

            if (place.known)
                walk(&m, b, &place, what);
        }
        if (what == SHOW_PARTS) {
            if (m.size <= ISA_EXPRESSION_BYTES)
                ptx_debug_notes_locate(pl, noting, &m.pieces, PTX_NONE, m.size);
            continue;
        }
        /* In these ranges of statements all pieces are in memory, so the address of the first piece is the address of the
         * whole variable. */
        whole.ranges = m.pieces.ranges;
        ptx_debug_notes_locate(pl, noting, &whole, PTX_NONE, m.size);
    }
}
