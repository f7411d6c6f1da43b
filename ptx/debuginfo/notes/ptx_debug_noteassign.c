/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the assignments of the source on the paths between two lines, and compares the count with
 * the number of notes.
 */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

/* Returns the index of the first line in the ascending list that is not before @line. */
size_t ptx_note_find_line(const struct ptx_noted_lines *lines, uint32_t line)
{
    size_t low = 0;

    for (size_t high = lines->count; low < high;) {
        const size_t middle = low + (high - low) / 2;

        if (lines->at[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ptx_note_assigns(const struct ptx_noted_lines *lines, uint32_t first, uint32_t last)
{
    const size_t i = ptx_note_find_line(lines, first);

    return i < lines->count && lines->at[i].line <= last;
}

bool ptx_note_assigns_after_call(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line)
{
    size_t i = ptx_note_find_line(lines, line);

    if (i == lines->count || lines->at[i].line != line)
        return false;
    while (i != 0 && lines->at[i - 1].reached == 0) /* goes back to the first line of the statement */
        i--;
    for (; i < lines->count; i++) {
        if (lines->at[i].line <= noting->last_line && noting->has_call[lines->at[i].line])
            return true;
        if (lines->at[i].line >= line && lines->at[i].reached != 0)
            break;
    }
    return false;
}

bool ptx_note_in_scope(const struct ptx_noted_lines *lines, uint32_t line)
{
    return line >= lines->declared && (lines->end == 0 || line <= lines->end);
}

bool ptx_note_in_function(const struct ptx_noted_lines *lines, uint32_t line)
{
    if (line == 0)
        return false;
    return ptx_note_in_scope(lines, line) || (lines->function != 0 && line >= lines->function && line <= lines->function_end);
}

/* Returns the innermost loop of the source that contains lines @from and @to, or NULL. Searches the last loop that begins before
 * @to, and the loops around it. */
const struct ptx_noted_line *ptx_note_loop_around(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    size_t low = 0;

    for (size_t high = lines->loops.count; low < high;) {
        const size_t middle = low + (high - low) / 2;

        if (lines->loops.at[middle].line <= to)
            low = middle + 1;
        else
            high = middle;
    }
    while (low != 0 && lines->loops.at[low - 1].reached < from)
        low = lines->outer.at[low - 1];
    return low != 0 ? &lines->loops.at[low - 1] : NULL;
}

bool ptx_note_loop_assigns(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    const struct ptx_noted_line *loop = ptx_note_loop_around(lines, from, to);

    return loop != NULL && ptx_note_assigns(lines, loop->line, loop->reached);
}

bool ptx_note_left_loop_assigns(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    for (size_t l = 0; l < lines->loops.count && lines->loops.at[l].line <= from; l++)
        if (lines->loops.at[l].reached >= from && lines->loops.at[l].reached < to &&
            ptx_note_assigns(lines, lines->loops.at[l].line, lines->loops.at[l].reached))
            return true;
    return false;
}

/* Returns the loop of the source that begins on a line, or NULL if there is none. */
const struct ptx_noted_line *ptx_note_loop_from(const struct ptx_noted_lines *lines, uint32_t line)
{
    const struct ptx_noted_line *loop = ptx_note_loop_around(lines, line, line);

    return loop != NULL && loop->line == line ? loop : NULL;
}

bool ptx_note_counts(const struct ptx_noted_lines *lines, const struct ptx_note_position *position)
{
    const uint32_t line = position->line;
    const struct ptx_noted_line *loop = position->back ? ptx_note_loop_around(lines, line, line) : ptx_note_loop_from(lines, line);

    return loop != NULL && ptx_note_assigns(lines, loop->line, loop->line);
}

bool ptx_note_has_short_loop(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    const struct ptx_noted_line *round = from > to ? ptx_note_loop_around(lines, to, from) : NULL;

    if (round != NULL) { /* the path goes from the end of the loop to its begin */
        from = round->line;
        to = round->reached + 1;
    }
    for (size_t l = 0; l < lines->loops.count && lines->loops.at[l].line < to; l++)
        if (lines->loops.at[l].line >= from && lines->loops.at[l].reached == lines->loops.at[l].line &&
            ptx_note_assigns(lines, lines->loops.at[l].line, lines->loops.at[l].line))
            return true;
    return false;
}

enum { MANY = 100 };
/* Minimum and maximum number of assignments on the paths through the source from one line to another. */
struct times {
    struct ptx_placing *pl;
    const struct ptx_noting *noting;
    const struct ptx_noted_lines *lines;
    uint32_t least, most;
    bool whole; /* one of the @least assignments is to the whole variable */
    bool arms; /* the number depends on the path, because a branch side assigns */
    bool lost; /* a branch side that assigns has no code */
    bool same; /* a branch side that assigns is on the line of the branch */
    bool flat; /* a branch side or a loop on the first line assigns, and the code of this line has no branch */
    bool short_loop; /* a loop that assigns is on one line, as in `do { if (y < x) x = y; } while (0)` */
    bool strict; /* left_over() must not accept numbers that depend on the path */
};

static void add_times(struct times *t, uint32_t least, uint32_t most)
{
    t->least += least;
    t->most = t->most + most < MANY ? t->most + most : MANY;
}

/* Returns whether any code has the line number @line. */
static bool has_code(const struct ptx_noting *noting, uint32_t line)
{
    return line <= noting->last_line && noting->has_line[line];
}

/* Returns whether there is a conditional branch of the line. Otherwise the compiler has replaced the branches of the line by
 * selections. */
static bool has_branch(const struct ptx_noting *noting, uint32_t line)
{
    return line <= noting->last_line && noting->has_branch[line];
}

/* Returns whether a loop of a kind (struct ptx_noted_line.other) is on a line. */
static bool has_loop(const struct ptx_noted_lines *lines, uint32_t line, uint32_t kind)
{
    for (size_t l = 0; l < lines->loops.count && lines->loops.at[l].line <= line; l++)
        if (lines->loops.at[l].line == line && lines->loops.at[l].other == kind)
            return true;
    return false;
}

bool ptx_note_is_flat(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line)
{
    return !has_branch(noting, line) && ptx_note_assigns(lines, line, line) && has_loop(lines, line, PTX_LOOP_BRANCHES);
}

bool ptx_note_is_conditional(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line)
{
    if (!has_branch(noting, line) || ptx_note_loop_from(lines, line) != NULL)
        return false;
    for (size_t k = ptx_note_find_line(lines, line); k < lines->count && lines->at[k].line == line; k++)
        if (lines->at[k].begins != 0 && lines->at[k].begins < line)
            return false;
    return true;
}

/* Returns whether line @at is the only line in @loop that assigns. */
static bool is_alone(const struct ptx_noted_lines *lines, const struct ptx_noted_line *at, const struct ptx_noted_line *loop)
{
    const size_t k = (size_t)(at - lines->at);

    return loop != NULL && (k == 0 || at[-1].line < loop->line) && (k + 1 == lines->count || at[1].line > loop->reached);
}

/* Adds the assignments on paths of the source from the code of line @from (inclusive) forwards to the code of line @to, which
 * must be greater than @from. If @ends is set, line @to is the end of a loop, and its assignments count, too. */
static void count_forward(struct times *t, uint32_t from, uint32_t to, bool ends)
{
    const struct ptx_noted_lines *lines = t->lines;

    for (size_t k = ptx_note_find_line(lines, from); k < lines->count && lines->at[k].line < to + ends && ptx_spend(t->pl, 1); k++) {
        const struct ptx_noted_line *at = &lines->at[k], *loop = ptx_note_loop_around(lines, at->line, at->line);
        const bool has_from = from > at->begins && from <= at->reached, has_to = to <= at->reached;

        if (to > at->reached && to <= at->other && from <= at->begins && !ends)
            continue; /* the path goes to the `else` part instead of the block */
        if (loop != NULL && loop->line == at->line) { /* code of this line may belong to any part of the loop's head */
            add_times(t, has_to && has_loop(lines, at->line, PTX_LOOP_EXECUTES), loop->reached < to ? MANY : 2);
            if (loop->reached < to && !has_code(t->noting, at->line)) /* the loop may be on a branch side */
                t->arms = t->lost = true;
            if (loop->reached == at->line) {
                t->short_loop = true;
                t->flat |= from == at->line && !has_branch(t->noting, from);
            }
        } else if (from == at->line && has_from && is_alone(lines, at, loop)) {
            add_times(t, 1, MANY); /* the loop may execute the line several times */
            t->whole |= !ptx_note_has_mark(lines, at->line, '.');
        } else if ((has_to && !(ends && loop != NULL && loop->begins && from != at->line)) ||
                   (has_from && (from == at->line || loop == NULL || !loop->begins || loop->reached >= to + ends))) {
            add_times(t, 1, loop != NULL && loop->reached < to && loop->line > from ? MANY : 1);
            t->whole |= !ptx_note_has_mark(lines, at->line, '.');
        } else {
            add_times(t, 0, loop != NULL && loop->reached < to ? MANY : 1);
            t->arms = true;
            t->lost |= !has_code(t->noting, at->line);
            t->flat |= from == at->line && !has_branch(t->noting, from);
            t->same |= from == at->line && at->reached <= at->line;
        }
    }
}

/* Adds the assignments on paths from the start of the variable's scope to line @to. */
static void count_from_outside(struct times *t, const struct ptx_noted_variable *v, uint32_t to)
{
    if (t->lines->declared <= t->lines->function) /* a parameter */
        add_times(t, v->is_inlined, 1);
    count_forward(t, t->lines->declared, to, false);
}

/* Returns 0 if the number of notes is a possible number of assignments. Returns 1 if there is one note more, which may belong to
 * line @to. Otherwise returns -1. */
static int left_over(const struct times *t, const struct ptx_note_position *position, uint32_t to)
{
    if (t->least == t->most && position->notes == t->most + 1 && ptx_note_assigns(t->lines, to, to))
        return 1;
    if (position->notes < t->least || position->notes > t->most)
        return -1;
    if (t->short_loop && position->notes == 0 && (!position->crossed || t->flat))
        return -1; /* no other block may have the note of the assignment */
    if (position->merges && t->arms && (t->lost || t->same) && !t->strict && t->most == 1)
        return 0; /* the value after the branch */
    return t->arms && (t->strict || t->lost || !position->crossed || t->flat || position->notes != t->least) ? -1 : 0;
}

/* Returns whether all lines of a loop that assign have code. In that case, a path without this code does not go around the
 * loop. */
static bool is_coded(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, const struct ptx_noted_line *loop)
{
    for (size_t k = loop != NULL ? ptx_note_find_line(lines, loop->line) : lines->count; k < lines->count && lines->at[k].line <= loop->reached; k++)
        if (!has_code(noting, lines->at[k].line))
            return false;
    return true;
}

bool ptx_note_may_iterate(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line)
{
    bool coded = true;

    for (size_t l = 0; l < lines->loops.count && lines->loops.at[l].line <= line; l++)
        coded &= lines->loops.at[l].reached < line || is_coded(noting, lines, &lines->loops.at[l]);
    return !coded || ptx_note_assigns(lines, line, line);
}

bool ptx_note_is_no_round(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    const struct ptx_noted_line *loop = ptx_note_loop_around(lines, to, from);

    for (uint32_t l = loop != NULL ? loop->line : to; loop != NULL && l <= loop->reached; l++)
        if ((l < to || l > from) && has_code(noting, l))
            return true;
    return loop == NULL;
}

/* Returns whether a path from line @from to the end of a loop leaves out code of lines that the source executes together with an
 * assignment after @from. Such a path does not go around the loop: the compiler has moved code of line @from. */
static bool skips_code(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, const struct ptx_noted_line *loop, uint32_t from)
{
    for (size_t k = ptx_note_find_line(lines, from + 1); k < lines->count && lines->at[k].line <= loop->reached; k++)
        for (uint32_t l = lines->at[k].line; from > lines->at[k].begins && l <= lines->at[k].reached && l <= loop->reached; l++)
            if (has_code(noting, l))
                return true;
    return false;
}

/* Returns whether a path from the head of a loop to line @to leaves out code of the loop, although the path has not entered
 * another block. Such a path does not begin an iteration: the compiler has moved the code of the head up. */
static bool skips_begin(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, const struct ptx_note_position *position, uint32_t to)
{
    const struct ptx_noted_line *loop = !position->crossed && position->notes != 0 ? ptx_note_loop_from(lines, position->line) : NULL;

    for (uint32_t l = position->line + 1; loop != NULL && to <= loop->reached && l < to; l++)
        if (has_code(noting, l))
            return true;
    return false;
}

/* Returns whether a path from an assignment to the last line of a loop, in one block, leaves out code of the loop. Then the compiler
 * has moved the assignment of the next iteration before the test that ends the loop. */
static bool skips_end(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, const struct ptx_note_position *position,
                      uint32_t to)
{
    const struct ptx_noted_line *loop = !position->crossed && position->notes != 0 ? ptx_note_loop_around(lines, to, position->line) : NULL;

    for (uint32_t l = position->line + 1; loop != NULL && to == loop->reached && l < to; l++)
        if (has_code(noting, l))
            return true;
    return false;
}

/* Returns whether code of line @to follows code of a later line in the same block because the compiler has moved code, and not
 * because another iteration begins: the path leaves out other code of the loop, and no instruction of the two lines has a
 * copy. */
static bool is_moved(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, const struct ptx_note_position *position,
                     uint32_t to)
{
    return !position->crossed && !position->back && position->line <= noting->last_line && !noting->is_repeated[position->line] &&
           !noting->is_repeated[to] && ptx_note_is_no_round(noting, lines, position->line, to);
}

/* Returns whether the source assigns to the variable between line @to and code of line @from after it, including loops that begin
 * after @to and contain @from: the path may have executed these loops. */
static bool assigns_between(const struct ptx_noted_lines *lines, uint32_t to, uint32_t from)
{
    uint32_t last = from;

    for (size_t l = 0; l < lines->loops.count && lines->loops.at[l].line <= from; l++)
        if (lines->loops.at[l].line > to && lines->loops.at[l].reached > last)
            last = lines->loops.at[l].reached;
    return ptx_note_assigns(lines, to, last);
}

/* Returns whether a path enters or leaves a loop of which the code has no iterations, and in which a line after the head assigns
 * and has no code. Then the compiler has removed iterations, and the number of the assignments is unknown. */
static bool may_lack_iterations(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    for (size_t l = 0; l < lines->loops.count && lines->loops.at[l].line <= (from > to ? from : to); l++) {
        const struct ptx_noted_line *loop = &lines->loops.at[l], body = {.line = loop->line + 1, .reached = loop->reached};

        if ((from >= loop->line && from <= loop->reached) != (to >= loop->line && to <= loop->reached) &&
            !is_coded(noting, lines, &body) && !ptx_note_has_rounds(noting, loop->line, loop->reached))
            return true;
    }
    return false;
}

/* Compares notes with assignments as ptx_note_agrees() does. @strict: see struct times. */
static int agree(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *v,
                 const struct ptx_note_position *position, uint32_t to, bool strict)
{
    const struct ptx_noted_lines *lines = &noting->lines.at[v->lines - 1];
    const uint32_t from = position->line;
    const struct ptx_noted_line *loop = from >= to ? ptx_note_loop_around(lines, from, to) : NULL;
    struct times t = {.pl = pl, .noting = noting, .lines = lines, .strict = strict};

    if (from == 0 || (position->left && to <= from)) {
        count_from_outside(&t, v, to);
    } else if (from == to && (!position->back || ptx_note_loop_from(lines, from) != NULL || is_coded(noting, lines, loop))) {
        return position->notes;
    } else if (from < to) {
        if (skips_begin(noting, lines, position, to) || skips_end(noting, lines, position, to))
            return -1;
        count_forward(&t, from, to, false);
    } else if (loop != NULL) {
        if (!position->back && to != loop->line && assigns_between(lines, to, from))
            return -1; /* the compiler may have moved code of one of the lines */
        if (to != loop->line && is_moved(noting, lines, position, to))
            return position->notes == 0 ? 0 : -1;
        if (!loop->begins && skips_code(noting, lines, loop, from)) /* the loop has no jumps such as `continue` */
            return -1;
        count_forward(&t, from, loop->reached, true);
        count_forward(&t, loop->line, to, false);
        if (to != loop->line && ptx_note_assigns(lines, loop->line, loop->line))
            add_times(&t, 1, 0); /* the head of a `for` changes the counter in each iteration */
    } else if (position->notes == 0 && !assigns_between(lines, to, from)) {
        return 0;
    } else if (v->is_inlined && (position->back || position->left)) { /* the path executes the inlined function again */
        count_from_outside(&t, v, to);
    } else {
        return -1;
    }
    return pl->debug->budget != 0 && !may_lack_iterations(noting, lines, from, to) ? left_over(&t, position, to) : -1;
}

bool ptx_note_must_assign(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_lines *lines,
                          uint32_t from, uint32_t to)
{
    struct times t = {.pl = pl, .noting = noting, .lines = lines};

    count_forward(&t, from, to, false);
    return t.least != 0;
}

bool ptx_note_must_assign_whole(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_lines *lines,
                                uint32_t from, uint32_t to)
{
    const struct ptx_noted_line *loop = from > to ? ptx_note_loop_around(lines, from, to) : NULL;
    struct times t = {.pl = pl, .noting = noting, .lines = lines};

    if (from < to) {
        count_forward(&t, from, to, false);
    } else if (loop != NULL) {
        count_forward(&t, from, loop->reached, true);
        count_forward(&t, loop->line, to, false);
    }
    return t.whole;
}

int ptx_note_agrees(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *v,
                    const struct ptx_note_position *position, uint32_t to)
{
    return agree(pl, noting, v, position, to, false);
}

bool ptx_note_leads_to(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *v,
                       const struct ptx_note_position *position, uint32_t to)
{
    return agree(pl, noting, v, position, to, true) >= 0;
}
