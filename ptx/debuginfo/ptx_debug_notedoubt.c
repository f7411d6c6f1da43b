/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes variables unknown where clang's debug values are wrong. LLVM passes that rotate, peel and unroll loops lose debug
 * values, or leave old ones in the copies; passes that move code leave debug values at the old place; register coalescing
 * does not end them. The lines of the source that assign to a variable (ptx_assigned.c), the lines of the code, and the loops
 * of the source show such errors:
 *
 *   - Code of an assigning line without a note after it: the note was lost.
 *   - Code that the source reaches through an assigning line, without a note: the note was lost with the line's code.
 *   - A note where the source does not assign must repeat the value known on all paths; otherwise it is outdated.
 *   - A note where the source has assigned must have a new value; otherwise it is outdated.
 *   - A variable is only shown on lines of its scope.
 *
 * At such a place the variable is unknown until the next note.
 */
#include "ptx/debuginfo/ptx_debug_notes_priv.h"

#include <stdlib.h>

/* Consecutive statements of one line in a block. */
struct group {
    uint32_t line, first, end, block;
};
/* Group that the source reaches from an earlier group of its block through an assigning line. */
struct passed {
    uint32_t group, after; /* after: statements before this position belong to the other block, or precede it */
};
struct line_range {
    uint32_t least, greatest;
};
/* Notes of a variable in a block: 1 + the index of the last note; the number and positions of the notes that change
 * the known value. */
struct block_notes {
    uint32_t generation, last, news, first_at, last_at;
};
struct doubting {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    PTX_LIST(struct group) groups; /* in the order of the text */
    uint32_t *group_of;            /* by statement */
    struct line_range *lines_in;   /* by block: least and greatest line */
    uint32_t *seen, generation;    /* by block: where a search has been */
    PTX_LIST(uint32_t) work;       /* blocks where it goes next */
    uint32_t nothing;              /* the value that is not known */
    /* of the lines of a variable */
    uint32_t *last_in;             /* by block: 1 + its last group in the scope, 0: none */
    PTX_LIST(uint32_t) assigning;  /* groups of assigning lines */
    PTX_LIST(struct passed) passed;
    uint32_t *needed;              /* by block: number of assigning lines between its first and its last line */
    PTX_LIST(uint32_t) entered;    /* first groups of blocks that the source enters through an assigning line */
    /* For one variable: */
    struct block_notes *of_block;
    uint32_t note_generation;
    PTX_LIST(uint32_t) before;     /* by note: 1 + the preceding note in its block */
};

static uint32_t line_of(const struct ptx_placing *pl, uint32_t statement)
{
    const struct ptx_insn *in = &pl->fn->insns.at[statement];

    return in->loc != 0 && in->loc < pl->module->locs.count ? pl->module->locs.at[in->loc].line : 0;
}

static void find_groups(struct doubting *d)
{
    const uint32_t n = (uint32_t)d->pl->fn->insns.count;

    d->group_of = PTX_ARRAY(d->pl->job, uint32_t, n + 1);
    d->lines_in = PTX_ARRAY(d->pl->job, struct line_range, d->noting->blocks.count + 1);
    for (uint32_t s = 0; s < n; s++) {
        struct group *last = d->groups.count != 0 ? &d->groups.at[d->groups.count - 1] : NULL;
        const uint32_t line = line_of(d->pl, s), block = d->noting->block_of[s];
        struct line_range *range = &d->lines_in[block];

        if (line != 0 && (range->least == 0 || line < range->least))
            range->least = line;
        if (line > range->greatest)
            range->greatest = line;

        if (last != NULL && last->line == line && last->block == block)
            last->end = s + 1;
        else
            *PTX_PUSH(d->pl->job, d->groups) = (struct group){line, s, s + 1, block};
        d->group_of[s] = (uint32_t)d->groups.count - 1;
    }
}

static const struct ptx_noted_lines *lines_of(const struct doubting *d, const struct ptx_noted_variable *v)
{
    uint32_t size = v->key_size;

    while (size != 0 && v->key[size - 1] != ' ')
        size--;
    const uint32_t *known = size != 0 ? ptx_map_find(&d->noting->lines_by_name, v->key, size - 1) : NULL;

    return known != NULL ? &d->noting->lines.at[*known] : NULL;
}

/* The first of the lines, which ascend, that is @line or after it. */
static size_t find_line(const struct ptx_noted_lines *lines, uint32_t line)
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

/* Returns whether one of the lines is from @first to @last. */
static bool has_line_from(const struct ptx_noted_lines *lines, uint32_t first, uint32_t last)
{
    const size_t i = find_line(lines, first);

    return i < lines->count && lines->at[i].line <= last;
}

static bool has_line(const struct ptx_noted_lines *lines, uint32_t line)
{
    return has_line_from(lines, line, line);
}

static bool in_scope(const struct ptx_noted_lines *lines, uint32_t line)
{
    return line >= lines->declared && (lines->end == 0 || line <= lines->end);
}

/* Returns the innermost loop of the source around both lines; NULL: there is none. It is the last loop that begins
 * before the lines, or a loop around that one. */
static const struct ptx_noted_line *loop_around(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
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

/* Returns true if a path of the source from line @from to line @to passes @line: forwards, or backwards in the
 * innermost loop that contains both. */
static bool is_between(const struct ptx_noted_lines *lines, uint32_t from, uint32_t line, uint32_t to)
{
    const struct ptx_noted_line *loop;

    if (from < to)
        return line > from && line < to;
    loop = loop_around(lines, from, to);
    if (loop == NULL)
        return line > from || (line < to && line != lines->declared);
    return (line > from && line <= loop->reached) || (line >= loop->line && line < to);
}

/* The same of any of the lines. */
static bool passes_line(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    const struct ptx_noted_line *loop;

    if (from < to)
        return has_line_from(lines, from + 1, to - 1);
    loop = loop_around(lines, from, to);
    if (loop == NULL)
        return has_line_from(lines, from + 1, UINT32_MAX) || (to != 0 && has_line_from(lines, lines->declared + 1, to - 1));
    return has_line_from(lines, from + 1, loop->reached) || (to != 0 && has_line_from(lines, loop->line, to - 1));
}

/* Returns whether each path of the source from line @from to line @to passes @at. */
static bool is_passed(const struct ptx_noted_lines *lines, uint32_t from, const struct ptx_noted_line *at, uint32_t to)
{
    const struct ptx_noted_line *loop;

    if (to == PTX_NONE || at->line >= to || at->reached < to)
        return false;
    if (at->line > from)
        return true;
    loop = from >= to ? loop_around(lines, from, to) : NULL;
    return loop != NULL && at->line > loop->line && at->line != from;
}

/* Returns the number of assigning lines that every path from line @first to line @last passes. */
static uint32_t count_passed(const struct ptx_noted_lines *lines, uint32_t first, uint32_t last)
{
    uint32_t count = 0;

    for (size_t k = find_line(lines, first + 1); k < lines->count && lines->at[k].line < last; k++)
        count += lines->at[k].reached >= last;
    return count;
}

/* Returns true if a line is in the function of a variable but not in its scope. */
static bool has_left(const struct ptx_noted_lines *lines, uint32_t line)
{
    return line != 0 && lines->end != 0 && lines->function != 0 && !in_scope(lines, line) && line >= lines->function &&
           line <= lines->function_end;
}

/* Returns true if a path of the source from line @from to line @to may bypass line @at, which is between them,
 * because @at is in one side of a branch. */
static bool is_optional(const struct ptx_noted_lines *lines, uint32_t from, const struct ptx_noted_line *at, uint32_t to)
{
    const struct ptx_noted_line *loop = from >= to ? loop_around(lines, from, to) : NULL;

    return at->reached != 0 && at->reached < (loop != NULL && at->line > from ? loop->reached : to);
}

/* Returns whether a block has no line of the scope. */
static bool is_elsewhere(const struct ptx_noted_lines *lines, const struct line_range *range)
{
    return range->greatest < lines->declared || (lines->end != 0 && range->least > lines->end);
}

/* Returns whether a branch side assigns on a line after @from, up to @to, which the source may skip after line @from. */
static bool has_optional(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to)
{
    const struct ptx_noted_line *loop = loop_around(lines, from, to);
    const uint32_t end = loop != NULL ? loop->reached : lines->end;

    for (size_t k = find_line(lines, from + 1); k < lines->count && lines->at[k].line <= to; k++)
        if (lines->at[k].reached < end)
            return true;
    return false;
}

/* Returns whether a group ends its block with a branch that is not always taken. */
static bool ends_in_branch(const struct doubting *d, const struct group *group)
{
    const struct ptx_insn *last = &d->pl->fn->insns.at[group->end - 1];

    return last->op == PTX_BRA && last->guard != PTX_NONE;
}

/* Finds where the assignments of these lines visibly have no notes. */
static void find_doubtful(struct doubting *d, struct ptx_noted_lines *lines)
{
    const struct group *last = NULL;
    uint32_t first_line = 0, last_line = 0, run = 0, ahead = 0; /* run: where the lines of this iteration begin */
    bool left = false; /* the scope, since @last */

    memset(d->last_in, 0, d->noting->blocks.count * sizeof *d->last_in);
    memset(d->needed, 0, d->noting->blocks.count * sizeof *d->needed);
    d->assigning.count = d->passed.count = d->entered.count = 0;
    for (size_t g = 0; g < d->groups.count && ptx_spend(d->pl, 1); g++) {
        const struct group *group = &d->groups.at[g];

        if ((last == NULL || last->block != group->block) && is_elsewhere(lines, &d->lines_in[group->block])) {
            g = d->group_of[d->noting->blocks.at[group->block].end - 1]; /* on with the next block */
            continue;
        }
        const bool outside = !in_scope(lines, group->line);
        const bool begins = last == NULL || last->block != group->block;
        uint32_t to = group->line;
        bool passes = false, enters = false;

        left |= has_left(lines, to);
        for (size_t n = g + 1; outside && !begins && n < d->groups.count && d->groups.at[n].block == group->block &&
                               !in_scope(lines, to) && ptx_spend(d->pl, 1); n++)
            to = d->groups.at[n].line; /* inlined code of another function: uses the line of the code after it */
        if (!in_scope(lines, to) || !ptx_spend(d->pl, lines->count))
            continue;
        if (has_line(lines, group->line))
            *PTX_PUSH(d->pl->job, d->assigning) = (uint32_t)g;
        if (!begins && last->line != to)
            passes = passes_line(lines, last->line, to);
        for (size_t k = 0; begins && k < lines->count && lines->at[k].line < to && !enters; k++)
            enters = lines->at[k].reached >= to;
        if (!begins && left && last->line >= to) /* it is entered again */
            passes |= has_line(lines, lines->declared);
        if (passes)
            *PTX_PUSH(d->pl->job, d->passed) = (struct passed){(uint32_t)g, last->end};
        if (enters)
            *PTX_PUSH(d->pl->job, d->entered) = (uint32_t)g;
        if (outside)
            continue;
        if (begins || group->line < run || (group->line == run && !ends_in_branch(d, group))) {
            run = ahead = group->line;
        } else if (group->line < ahead && has_optional(lines, group->line, ahead)) {
            *PTX_PUSH(d->pl->job, lines->early) = (struct isa_span){group->first, group->end};
        }
        ahead = group->line > ahead ? group->line : ahead;
        first_line = begins ? group->line : first_line;
        last_line = begins || group->line > last_line ? group->line : last_line;
        d->needed[group->block] = count_passed(lines, first_line, last_line);
        last = group;
        left = false;
        d->last_in[group->block] = (uint32_t)g + 1;
    }
}

static void find_notes(struct doubting *d, const struct ptx_noted_variable *v)
{
    d->note_generation++;
    d->before.count = 0;
    for (size_t i = 0; i < v->notes.count; i++) {
        const struct ptx_noted_event *note = &v->notes.at[i];
        struct block_notes *of = &d->of_block[note->block];

        if (of->generation != d->note_generation)
            *of = (struct block_notes){.generation = d->note_generation, .first_at = UINT32_MAX};
        *PTX_PUSH(d->pl->job, d->before) = of->last;
        of->last = (uint32_t)i + 1;
        if (note->restates)
            continue;
        of->news++;
        if (note->at < of->first_at)
            of->first_at = note->at;
        if (note->at > of->last_at)
            of->last_at = note->at;
    }
}

/* Returns the notes in a block, or NULL. */
static const struct block_notes *notes_in(const struct doubting *d, uint32_t block)
{
    return d->of_block[block].generation == d->note_generation ? &d->of_block[block] : NULL;
}

static void doubt(struct doubting *d, struct ptx_noted_variable *v, uint32_t at, uint32_t block)
{
    *PTX_PUSH(d->pl->job, v->notes) = (struct ptx_noted_event){.at = at, .block = block, .value = d->nothing, .doubts = true};
}

/* Returns whether a group precedes the variable's scope, or, together with all groups that follow, comes after the
 * scope. */
static bool is_before(const struct group *group, const struct ptx_noted_variable *v)
{
    return group->end <= v->from;
}

static bool is_after(const struct group *group, const struct ptx_noted_variable *v)
{
    return group->first >= v->to;
}

/* Code of a line that assigns to the variable, without a note of the variable there: clang has lost the note. */
static void doubt_lost(struct doubting *d, struct ptx_noted_variable *v)
{
    for (size_t k = 0; k < d->assigning.count && ptx_spend(d->pl, 1); k++) {
        const struct group *group = &d->groups.at[d->assigning.at[k]];
        const struct block_notes *notes = notes_in(d, group->block);
        bool said = is_before(group, v);

        if (is_after(group, v))
            break;

        for (uint32_t i = notes != NULL ? notes->last : 0; i != 0 && !said && ptx_spend(d->pl, 1); i = d->before.at[i - 1])
            said = v->notes.at[i - 1].at > 2 * group->first && v->notes.at[i - 1].at <= 2 * group->end;
        if (!said)
            doubt(d, v, 2 * group->first + 1, group->block);
    }
}

/* Returns whether the code before a note writes the note's register. */
static bool is_confirmed(const struct doubting *d, const struct ptx_noted_event *note)
{
    const struct ptx_noting *noting = d->noting;
    const struct ptx_noted_value *v = &noting->values.at[note->value];
    const uint32_t end = note->at / 2;

    if (end <= noting->blocks.at[note->block].first || v->operand_count == 0 || !ptx_note_is_plain(v))
        return false;
    if (v->operand[0].kind != PTX_NOTE_REG)
        return true;
    for (uint32_t k = noting->first_write[v->operand[0].reg]; k < noting->first_write[v->operand[0].reg + 1]; k++)
        if (noting->writes[k] < end && noting->writes[k] >= d->groups.at[d->group_of[end - 1]].first)
            return true;
    return false;
}

/* Some of several consecutive assignments have no note, and the value of the note before them was computed elsewhere.
 * That value may belong to the assignment without a note. */
static void doubt_before(struct doubting *d, struct ptx_noted_variable *v, const struct block_notes *notes, uint32_t at)
{
    for (uint32_t i = notes != NULL ? notes->last : 0; i != 0 && ptx_spend(d->pl, 1); i = d->before.at[i - 1]) {
        struct ptx_noted_event *note = &v->notes.at[i - 1];

        if (note->at > at || note->restates)
            continue;
        if (!is_confirmed(d, note))
            note->value = d->nothing;
        break;
    }
}

/* Code of a later line without a branch between, and no note of it: the assignment between the two is lost, or its
 * code is elsewhere. */
static void doubt_passed(struct doubting *d, struct ptx_noted_variable *v)
{
    for (size_t k = 0; k < d->passed.count && ptx_spend(d->pl, 1); k++) {
        const struct passed *passed = &d->passed.at[k];
        const struct group *group = &d->groups.at[passed->group];
        const struct block_notes *notes = notes_in(d, group->block);
        bool said = false;

        if (is_after(group, v))
            break;
        if (is_before(group, v))
            continue;

        for (uint32_t i = notes != NULL ? notes->last : 0; i != 0 && !said && ptx_spend(d->pl, 1); i = d->before.at[i - 1]) {
            const struct ptx_noted_event *note = &v->notes.at[i - 1];

            said = note->at <= 2 * group->first && note->at >= 2 * passed->after;
        }
        if (notes != NULL && notes->news < d->needed[group->block])
            said = false; /* which of the assignments has one is not known */
        if (said)
            continue;
        doubt_before(d, v, notes, 2 * group->first);
        doubt(d, v, 2 * group->first, group->block);
    }
}

enum { MOST_BEFORE = 16 };
/* Lines in the variable's scope of the last code before a place, one for each path. */
struct before {
    uint32_t line[MOST_BEFORE];
    unsigned count;
    bool begins; /* on some path there is no such code: the scope begins */
    bool more;   /* there are more lines than listed */
};

static void add_line(uint32_t line, struct before *out)
{
    for (unsigned i = 0; i < out->count; i++)
        if (out->line[i] == line)
            return;
    if (out->count == MOST_BEFORE)
        out->more = true;
    else
        out->line[out->count++] = line;
}

/* Adds the predecessors of @block that were not visited yet to the worklist. */
static void search_before(struct doubting *d, uint32_t block)
{
    for (size_t i = 0; i < d->noting->blocks.at[block].pred.count; i++) {
        const uint32_t next = d->noting->blocks.at[block].pred.at[i];

        if (d->seen[next] == d->generation)
            continue;
        d->seen[next] = d->generation;
        *PTX_PUSH(d->pl->job, d->work) = next;
    }
}

/* Finds the lines before the first code of the blocks in d->work. @with_notes: ignores paths with a note after the
 * line. */
static void find_before(struct doubting *d, bool with_notes, struct before *out)
{
    while (d->work.count != 0) {
        const uint32_t block = d->work.at[--d->work.count], g = d->last_in[block];

        if (!ptx_spend(d->pl, 1)) {
            out->more = true;
            d->work.count = 0;
        } else if (g == 0) {
            out->begins |= d->noting->blocks.at[block].pred.count == 0;
            search_before(d, block);
        } else {
            const struct block_notes *notes = with_notes ? notes_in(d, block) : NULL;

            if (notes == NULL || notes->last_at <= 2 * (d->groups.at[g - 1].end - 1))
                add_line(d->groups.at[g - 1].line, out);
        }
    }
}

/* Finds the lines before a note. Code of a line later than @to that follows the note may belong to the preceding
 * iteration. If a block begins with the note, clang may have moved the note up: then the lines before the block
 * count, too. */
static struct before before_note(struct doubting *d, const struct ptx_noted_lines *lines, const struct ptx_noted_event *note, uint32_t to)
{
    struct before before = {.count = 0};
    const uint32_t end = note->at / 2;
    unsigned later = 0;

    for (uint32_t s = end; s > d->noting->blocks.at[note->block].first;) {
        const struct group *group = &d->groups.at[d->group_of[s - 1]];

        if (!ptx_spend(d->pl, 1)) {
            before.more = true;
            return before;
        }
        if (in_scope(lines, group->line)) {
            if (later == 0)
                add_line(group->line, &before);
            if (group->line <= to || ++later > 1)
                return before;
        }
        s = group->first;
    }
    if (later != 0 && (has_line(lines, before.line[0]) || has_line(lines, to)))
        return before;
    const uint32_t moved = later != 0 ? before.line[0] : 0;

    before.count = 0;
    d->generation++;
    before.begins = d->noting->blocks.at[note->block].pred.count == 0;
    search_before(d, note->block);
    find_before(d, false, &before);
    for (unsigned i = 0; i < before.count && later != 0; i++)
        if (before.line[i] >= to)
            before.line[i] = moved; /* the round before */
    if (later != 0) {
        before.begins = false;
        add_line(moved, &before);
    }
    return before;
}

static uint32_t line_after(struct doubting *d, const struct ptx_noted_lines *lines, const struct ptx_noted_event *note)
{
    const uint32_t end = d->noting->blocks.at[note->block].end;

    for (uint32_t s = note->at / 2; s < end && ptx_spend(d->pl, 1); s = d->groups.at[d->group_of[s]].end)
        if (in_scope(lines, d->groups.at[d->group_of[s]].line))
            return d->groups.at[d->group_of[s]].line;
    return PTX_NONE;
}

/* The first code of a block follows an assignment on each path to it, and no path has a note of the assignment: the
 * value is unknown. */
static void doubt_entered(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    for (size_t e = 0; e < d->entered.count && ptx_spend(d->pl, 1); e++) {
        const struct group *group = &d->groups.at[d->entered.at[e]];
        const struct block_notes *notes = notes_in(d, group->block);
        struct before before = {.count = 0};
        bool passes = false;

        if (is_after(group, v))
            break;
        if (is_before(group, v) || (notes != NULL && notes->first_at <= 2 * group->first))
            continue;
        d->generation++;
        search_before(d, group->block);
        d->seen[group->block] = d->generation;
        find_before(d, true, &before);
        for (unsigned n = 0; n < before.count && !passes && ptx_spend(d->pl, lines->count); n++)
            for (size_t k = 0; k < lines->count && !passes; k++) {
                const struct ptx_noted_line *at = &lines->at[k];

                passes = at->reached != 0 && group->line > at->line && group->line <= at->reached &&
                         (before.line[n] < at->line || before.line[n] > at->reached);
            }
        if (passes)
            doubt(d, v, 2 * group->first, group->block);
    }
}

/* Marks notes at which the source does not assign: they must repeat the known value. Marks notes that follow an
 * assignment on each path: they must have a new value. */
static void find_restated(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    for (size_t i = 0; i < v->notes.count; i++) {
        struct ptx_noted_event *note = &v->notes.at[i];
        const uint32_t to = line_after(d, lines, note);
        const struct before before = before_note(d, lines, note, to);
        bool all = true, crossed = true, optional = before.count != 0 && to != PTX_NONE;

        if (before.begins)
            continue;
        for (unsigned n = 0; n < before.count && ptx_spend(d->pl, lines->count); n++) {
            const uint32_t from = before.line[n];
            bool assigned = false, at_line = false, crosses = false;

            for (size_t k = 0; k < lines->count; k++) {
                const uint32_t line = lines->at[k].line;
                const bool between = line == from || (from != to && is_between(lines, from, line, to));

                assigned |= between;
                optional &= !between || (line != from && is_optional(lines, from, &lines->at[k], to));
                at_line |= line == from;
                crosses |= is_passed(lines, from, &lines->at[k], to);
            }
            all &= assigned;
            crossed &= crosses && !at_line;
        }
        note->restates = !all || before.more || (optional && !ptx_note_is_plain(&d->noting->values.at[note->value]));
        note->crosses = all && crossed && before.count != 0;
    }
    /* the code of the assignment has the line after it, so the first note has the old value */
    for (size_t i = 0; i + 1 < v->notes.count; i++) {
        struct ptx_noted_event *note = &v->notes.at[i];
        const struct ptx_noted_event *next = note + 1;

        if (!note->crosses || next->block != note->block || next->at <= note->at || d->group_of[next->at / 2 - 1] != d->group_of[note->at / 2] ||
            has_line(lines, d->groups.at[d->group_of[note->at / 2]].line))
            continue;
        note->crosses = false;
        note->restates = note->denied = true;
    }
}

/* The next code of a line of the function after a note, or before it, in its block. 0: none. */
static uint32_t line_beside(struct doubting *d, const struct ptx_noted_lines *lines, const struct ptx_noted_event *note, bool after)
{
    const struct ptx_noted_block *block = &d->noting->blocks.at[note->block];

    for (uint32_t s = note->at / 2; (after ? s < block->end : s > block->first) && ptx_spend(d->pl, 1);) {
        const struct group *group = &d->groups.at[d->group_of[after ? s : s - 1]];

        if (group->line >= lines->function && group->line <= lines->function_end)
            return group->line;
        s = after ? group->end : group->first;
    }
    return 0;
}

/* A note before code of lines before the declaration, and not after code of the scope, belongs to an assignment that
 * clang has moved up. If the block has several assignments, it is unknown which one, and the values of the other
 * assignments before the note are unknown. */
static void doubt_moved(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    for (size_t i = 0; i < v->notes.count && lines->function != 0 && lines->count > 1 && ptx_spend(d->pl, 1); i++) {
        struct ptx_noted_event *note = &v->notes.at[i];
        const uint32_t before = line_beside(d, lines, note, false), after = line_beside(d, lines, note, true);

        if (after != 0 && after < lines->declared && (before == 0 || !in_scope(lines, before)) &&
            find_line(lines, d->lines_in[note->block].greatest + 1) > 1)
            note->value = d->nothing;
    }
}

static void make_room(struct doubting *d)
{
    const struct ptx_noting *noting = d->noting;

    d->seen = PTX_ARRAY(d->pl->job, uint32_t, noting->blocks.count + 1);
    d->last_in = PTX_ARRAY(d->pl->job, uint32_t, noting->blocks.count + 1);
    d->needed = PTX_ARRAY(d->pl->job, uint32_t, noting->blocks.count + 1);
    d->of_block = PTX_ARRAY(d->pl->job, struct block_notes, noting->blocks.count + 1);
}

bool ptx_debug_note_is_out_of_scope(const struct ptx_placing *pl, const struct ptx_noting *noting,
                                    const struct ptx_noted_variable *variable, uint32_t statement)
{
    const struct ptx_noted_lines *lines = variable->lines != 0 ? &noting->lines.at[variable->lines - 1] : NULL;

    return lines != NULL && has_left(lines, line_of(pl, statement));
}

bool ptx_debug_note_is_outside(const struct ptx_placing *pl, const struct ptx_noting *noting,
                               const struct ptx_noted_variable *variable, uint32_t statement)
{
    const struct ptx_noted_lines *lines = variable->lines != 0 ? &noting->lines.at[variable->lines - 1] : NULL;
    size_t low = 0;

    for (size_t high = lines != NULL ? lines->early.count : 0; low < high;) {
        const size_t middle = low + (high - low) / 2;

        if (lines->early.at[middle].to <= statement)
            low = middle + 1;
        else
            high = middle;
    }
    return (lines != NULL && low < lines->early.count && lines->early.at[low].from <= statement) ||
           ptx_debug_note_is_out_of_scope(pl, noting, variable, statement);
}

/* Values of arguments of inlined calls in a register that is written several times and also holds another variable:
 * clang has coalesced several registers, and does not end debug values of variables that are no longer used. Nothing
 * else shows the error for such an argument. */
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
                else if (pass == 1 && argument && variable[reg] != 0)
                    v->notes.at[k].value = d->nothing;
            }
        }
}

/* Returns true if the last write of a register in the block before a note also reads it. */
static bool is_updated(struct doubting *d, const struct ptx_noted_event *note, uint32_t reg)
{
    const struct ptx_noting *noting = d->noting;

    for (uint32_t k = noting->first_write[reg + 1]; k-- > noting->first_write[reg] && ptx_spend(d->pl, 1);) {
        const uint32_t at = noting->writes[k];
        const struct ptx_insn *in = &d->pl->fn->insns.at[at];

        if (2 * at >= note->at)
            continue;
        for (unsigned i = 1; i < in->operand_count && noting->block_of[at] == note->block; i++)
            if (in->operand[i].kind == PTX_O_REG && in->operand[i].reg == reg)
                return true;
        return false;
    }
    return false;
}

/* Returns true if the value is an extended narrower value. */
static bool is_extended(const struct ptx_noted_value *v)
{
    return memmem(v->expression, v->expression_size, "DW_OP_LLVM_convert", 18) != NULL;
}

/* Drops two kinds of values. Values computed from a register that was just updated: clang has coalesced the registers
 * before and after the update, so it is unknown to which the note refers. Extended values of a variable that was a
 * whole register elsewhere: if only its low bits are still used, clang's high bits are those of a small number. */
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

/* Compares by lines; entries of one list are in the order of the text. */
static int compare_variables(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

void ptx_debug_notes_doubt(struct ptx_placing *pl, struct ptx_noting *noting)
{
    struct doubting d = {.pl = pl, .noting = noting, .nothing = (uint32_t)noting->values.count};
    PTX_LIST(uint64_t) doubtful = {0}; /* lines << 32 | variable: those of an inlined function have the same lines */
    struct ptx_noted_lines *lines = NULL;

    *PTX_PUSH(pl->job, noting->values) = (struct ptx_noted_value){.operand_count = 0};
    find_groups(&d);
    make_room(&d);
    doubt_shared(&d);
    doubt_computed(&d);
    for (uint32_t i = 0; i < noting->variables.count; i++) {
        struct ptx_noted_variable *v = &noting->variables.at[i];

        const struct ptx_noted_lines *its = lines_of(&d, v);

        v->lines = its != NULL ? 1 + (uint32_t)(its - noting->lines.at) : 0;
        if (its == NULL || its->count == 0 || (its->once && v->key[v->key_size - 1] == '-' && v->key[v->key_size - 2] == ' '))
            continue;
        *PTX_PUSH(pl->job, doubtful) = (uint64_t)v->lines << 32 | i;
    }
    if (doubtful.count > 1)
        qsort(doubtful.at, doubtful.count, sizeof *doubtful.at, compare_variables);
    for (size_t i = 0; i < doubtful.count; i++) {
        struct ptx_noted_variable *v = &noting->variables.at[(uint32_t)doubtful.at[i]];

        if (i == 0 || lines != &noting->lines.at[v->lines - 1]) {
            lines = &noting->lines.at[v->lines - 1];
            find_doubtful(&d, lines);
        }
        doubt_moved(&d, v, lines);
        find_restated(&d, v, lines);
        find_notes(&d, v);
        doubt_lost(&d, v);
        doubt_passed(&d, v);
        doubt_entered(&d, v, lines);
    }
}
