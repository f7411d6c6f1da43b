/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clang says wrongly of a variable is not shown. Passes of LLVM that rotate, peel and unroll loops lose debug
 * values, or leave old ones in the copies; those that move code leave them where they were; the one that joins
 * registers does not end them. The lines of the source that assign to a variable (ptx_assigned.c), those of the code and the
 * loops of the source show that:
 *
 *   - code of a line that assigns, without a note after it: the note is lost;
 *   - code that the source reaches by a line that assigns, without a note: it is lost with its code;
 *   - a note where the source does not assign repeats what is known, on all ways; else it is an old one;
 *   - a note where the source has assigned says something new; else it is an old one;
 *   - a variable is shown on lines of its scope alone.
 *
 * There the variable has no value until the next note.
 */
#include "ptx/debuginfo/ptx_debug_notes_priv.h"

/* Statements of one line after each other in a block. */
struct group {
    uint32_t line, first, end, block;
};
struct doubting {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    PTX_LIST(struct group) groups; /* in the order of the text */
    uint32_t *by_line;             /* their indices, by line */
    struct block_list {
        uint32_t *at;
        size_t count, capacity;
    } *preds;                      /* by block: those before it */
    uint32_t *seen, generation;    /* by block: where a search has been */
    uint32_t nothing;              /* the value that is not known */
};

static uint32_t line_of(const struct ptx_placing *pl, uint32_t statement)
{
    const struct ptx_insn *in = &pl->fn->insns.at[statement];

    return in->loc != 0 && in->loc < pl->module->locs.count ? pl->module->locs.at[in->loc].line : 0;
}

static void find_groups(struct doubting *d)
{
    const uint32_t n = (uint32_t)d->pl->fn->insns.count;

    for (uint32_t s = 0; s < n; s++) {
        struct group *last = d->groups.count != 0 ? &d->groups.at[d->groups.count - 1] : NULL;
        const uint32_t line = line_of(d->pl, s), block = d->noting->block_of[s];

        if (last != NULL && last->line == line && last->block == block)
            last->end = s + 1;
        else
            *PTX_PUSH(d->pl->job, d->groups) = (struct group){line, s, s + 1, block};
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

static bool has_line(const struct ptx_noted_lines *lines, uint32_t line)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->at[i].line == line)
            return true;
    return false;
}

static bool in_scope(const struct ptx_noted_lines *lines, uint32_t line)
{
    return line >= lines->declared && (lines->end == 0 || line <= lines->end);
}

/* Whether a way of the source from line @from to line @to comes by @line: ahead, or back in the innermost loop around both. */
static bool is_between(const struct ptx_noted_lines *lines, uint32_t from, uint32_t line, uint32_t to)
{
    const struct ptx_noted_line *loop = NULL;

    if (from < to)
        return line > from && line < to;
    for (size_t i = 0; i < lines->loops.count; i++)
        if (lines->loops.at[i].line <= to && lines->loops.at[i].reached >= from)
            loop = &lines->loops.at[i];
    if (loop == NULL)
        return line > from || (line < to && line != lines->declared);
    return (line > from && line <= loop->reached) || (line >= loop->line && line < to);
}

/* Code of a line that assigns to the variable, and no note of it there: clang has lost it. */
static void doubt_lost(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    const size_t notes = v->notes.count;

    for (size_t g = 0; g < d->groups.count && ptx_spend(d->pl, 1 + lines->count); g++) {
        const struct group *group = &d->groups.at[g];
        bool said = false;

        if (!has_line(lines, group->line))
            continue;
        for (size_t i = 0; i < notes && !said && ptx_spend(d->pl, 1); i++)
            said = v->notes.at[i].block == group->block && v->notes.at[i].at > 2 * group->first && v->notes.at[i].at <= 2 * group->end;
        if (!said)
            *PTX_PUSH(d->pl->job, v->notes) =
                (struct ptx_noted_event){.at = 2 * group->first + 1, .block = group->block, .value = d->nothing, .doubts = true};
    }
}

/* Code of a later line without a branch between, and no note of it: the assignment between the two is lost, or its
 * code is elsewhere. */
static void doubt_passed(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines, size_t notes)
{
    const struct group *last = NULL;
    bool in_pieces = false;

    for (size_t i = 0; i < notes; i++)
        in_pieces |= d->noting->values.at[v->notes.at[i].value].bytes != 0;
    for (size_t g = 0; g < d->groups.count && ptx_spend(d->pl, 1); g++) {
        const struct group *group = &d->groups.at[g];
        const bool outside = !in_scope(lines, group->line);
        uint32_t to = group->line;
        bool passes = false, said = false;

        for (size_t n = g + 1; outside && n < d->groups.count && d->groups.at[n].block == group->block && !in_scope(lines, to) &&
                               ptx_spend(d->pl, 1); n++)
            to = d->groups.at[n].line; /* code of a function that is called: what is after it */
        if (!in_scope(lines, to))
            continue;
        if (last != NULL && last->block == group->block && last->line != to && ptx_spend(d->pl, lines->count + 1)) {
            const uint32_t from = last->line;

            for (size_t k = 0; k < lines->count && !passes; k++) {
                const uint32_t line = lines->at[k].line;

                passes = is_between(lines, from, line, to);
            }
            for (size_t i = 0; i < notes && passes && !said && ptx_spend(d->pl, 1); i++)
                said = v->notes.at[i].block == group->block && (v->notes.at[i].at >= 2 * last->end || (from < to && !in_pieces && !v->notes.at[i].restates)) && v->notes.at[i].at <= 2 * group->first;
            if (passes && !said)
                *PTX_PUSH(d->pl->job, v->notes) =
                    (struct ptx_noted_event){.at = 2 * group->first, .block = group->block, .value = d->nothing, .doubts = true};
        }
        last = outside ? last : group;
    }
}

enum { MOST_BEFORE = 16 };
/* Lines of the variable's scope that code before a note is of, one for each way. */
struct before {
    uint32_t line[MOST_BEFORE];
    unsigned count;
    bool begins; /* there is none on some way: the scope begins */
    bool more;   /* than are listed */
};

static void add_before(struct doubting *d, const struct ptx_noted_variable *v, size_t notes, const struct ptx_noted_lines *lines, uint32_t block, uint32_t end, struct before *out)
{
    const struct ptx_noted_block *b = &d->noting->blocks.at[block];

    for (uint32_t s = end; s-- > b->first;) {
        const uint32_t line = line_of(d->pl, s);

        if (!ptx_spend(d->pl, 1)) {
            out->more = true;
            return;
        }
        if (!in_scope(lines, line))
            continue;
        for (size_t i = 0; i < notes && ptx_spend(d->pl, 1); i++)
            if (v->notes.at[i].block == block && v->notes.at[i].at > 2 * s && !v->notes.at[i].restates)
                return; /* said after it */
        for (unsigned i = 0; i < out->count; i++)
            if (out->line[i] == line)
                return;
        if (out->count == MOST_BEFORE)
            out->more = true;
        else
            out->line[out->count++] = line;
        return;
    }
    out->begins |= d->preds[block].count == 0;
    for (size_t i = 0; i < d->preds[block].count; i++) {
        const uint32_t next = d->preds[block].at[i];

        if (d->seen[next] == d->generation)
            continue;
        d->seen[next] = d->generation;
        add_before(d, v, notes, lines, next, d->noting->blocks.at[next].end, out);
    }
}

static uint32_t line_after(struct doubting *d, const struct ptx_noted_lines *lines, const struct ptx_noted_event *note)
{
    const struct ptx_noted_block *b = &d->noting->blocks.at[note->block];

    for (uint32_t s = note->at / 2; s < b->end && ptx_spend(d->pl, 1); s++) {
        const uint32_t line = line_of(d->pl, s);

        if (in_scope(lines, line))
            return line;
    }
    return PTX_NONE;
}

/* The first code of a block is after an assignment that each way to it has passed, and none has a note of it. */
static void doubt_entered(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines, size_t notes)
{
    const struct group *last = NULL;

    for (size_t g = 0; g < d->groups.count && ptx_spend(d->pl, 1); g++) {
        const struct group *group = &d->groups.at[g];
        struct before before = {.count = 0};
        bool passes = false, said = false;

        if (!in_scope(lines, group->line) || (last != NULL && last->block == group->block))
            continue;
        last = group;
        for (size_t i = 0; i < notes && !said && ptx_spend(d->pl, 1); i++)
            said = v->notes.at[i].block == group->block && v->notes.at[i].at <= 2 * group->first && !v->notes.at[i].restates;
        if (said)
            continue;
        d->generation++;
        d->seen[group->block] = d->generation;
        for (size_t i = 0; i < d->preds[group->block].count; i++) {
            const uint32_t next = d->preds[group->block].at[i];

            if (d->seen[next] == d->generation && next != group->block)
                continue;
            d->seen[next] = d->generation;
            add_before(d, v, notes, lines, next, d->noting->blocks.at[next].end, &before);
        }
        for (unsigned n = 0; n < before.count && !passes; n++)
            for (size_t k = 0; k < lines->count && !passes && ptx_spend(d->pl, 1); k++) {
                const struct ptx_noted_line *at = &lines->at[k];

                passes = at->reached != 0 && group->line > at->line && group->line <= at->reached &&
                         (before.line[n] < at->line || before.line[n] > at->reached);
            }
        if (passes)
            *PTX_PUSH(d->pl->job, v->notes) =
                (struct ptx_noted_event){.at = 2 * group->first, .block = group->block, .value = d->nothing, .doubts = true};
    }
}

/* A note where the source does not assign says what is known already. */
static void find_restated(struct doubting *d, struct ptx_noted_variable *v, const struct ptx_noted_lines *lines)
{
    for (size_t i = 0; i < v->notes.count; i++) {
        struct ptx_noted_event *note = &v->notes.at[i];
        const uint32_t to = line_after(d, lines, note);
        struct before before = {.count = 0};
        bool all = true, crossed = true;

        d->generation++;
        add_before(d, NULL, 0, lines, note->block, note->at / 2, &before);
        if (before.begins)
            continue;
        for (unsigned n = 0; n < before.count; n++) {
            const uint32_t from = before.line[n];
            bool assigned = false, at_line = false, crosses = false;

            for (size_t k = 0; k < lines->count; k++) {
                const uint32_t line = lines->at[k].line;

                assigned |= line == from || (from != to && is_between(lines, from, line, to));
                at_line |= line == from;
                crosses |= line > from && line < to && to != PTX_NONE && lines->at[k].reached >= to;
            }
            all &= assigned;
            crossed &= crosses && !at_line;
        }
        note->restates = !all || before.more;
        note->crosses = all && crossed && before.count != 0;
    }
}

static void find_predecessors(struct doubting *d)
{
    const struct ptx_noting *noting = d->noting;

    d->preds = PTX_ARRAY(d->pl->job, struct block_list, noting->blocks.count + 1);
    d->seen = PTX_ARRAY(d->pl->job, uint32_t, noting->blocks.count + 1);
    for (uint32_t b = 0; b < noting->blocks.count; b++)
        for (size_t s = 0; s < noting->blocks.at[b].succ.count; s++)
            *PTX_PUSH(d->pl->job, d->preds[noting->blocks.at[b].succ.at[s]]) = b;
}

bool ptx_debug_note_is_outside(const struct ptx_placing *pl, const struct ptx_noting *noting,
                               const struct ptx_noted_variable *variable, uint32_t statement)
{
    const struct ptx_noted_lines *lines = variable->lines != 0 ? &noting->lines.at[variable->lines - 1] : NULL;
    const uint32_t line = lines != NULL && lines->end != 0 && lines->function != 0 ? line_of(pl, statement) : 0;

    return line != 0 && !in_scope(lines, line) && line >= lines->function && line <= lines->function_end;
}

/* A register that is written more than once and is several variables: clang has joined what was several, and does not
 * end the debug values of those that nothing uses any more. An argument of an inlined call has no other sign of that. */
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

void ptx_debug_notes_doubt(struct ptx_placing *pl, struct ptx_noting *noting)
{
    struct doubting d = {.pl = pl, .noting = noting, .nothing = (uint32_t)noting->values.count};

    *PTX_PUSH(pl->job, noting->values) = (struct ptx_noted_value){.operand_count = 0};
    find_groups(&d);
    find_predecessors(&d);
    doubt_shared(&d);
    for (size_t i = 0; i < noting->variables.count; i++) {
        struct ptx_noted_variable *v = &noting->variables.at[i];
        const struct ptx_noted_lines *lines = lines_of(&d, v);

        v->lines = lines != NULL ? 1 + (uint32_t)(lines - noting->lines.at) : 0;
        if (lines == NULL || lines->count == 0 || (lines->once && v->key[v->key_size - 1] == '-' && v->key[v->key_size - 2] == ' '))
            continue;
        find_restated(&d, v, lines);
        const size_t own = v->notes.count;

        doubt_lost(&d, v, lines);
        doubt_passed(&d, v, lines, own);
        doubt_entered(&d, v, lines, own);
    }
}
