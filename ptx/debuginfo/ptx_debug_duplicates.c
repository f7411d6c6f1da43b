/* SPDX-License-Identifier: Apache-2.0 */
/* Debug scopes of duplicated code: blocks that ptx_node_split.c duplicated, and loops that the compiler unrolled or
 * peeled. Debuggers set a breakpoint on a line once in each scope with code for it, so each duplicate becomes a separate
 * scope, inside the source scope that contains the duplicate.
 *
 * The compiler does not say which code is a duplicate. The analysis compares the code of one scope with itself: code is
 * a duplicate if instructions of the same source locations, with the same operations, are repeated, and the lines
 * go back in between. */
#include "ptx/debuginfo/ptx_debug_priv.h"

#include <stdlib.h>

struct copied {
    uint32_t owner, copy, word;
};

static int compare_copied(const void *a, const void *b)
{
    const struct copied *x = a, *y = b;

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->copy != y->copy)
        return x->copy < y->copy ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static void *keep(struct ptx_unit *unit, const void *list, size_t count, size_t size)
{
    void *copy = lw_arena_alloc(&unit->object->arena, count * size);

    if (copy == NULL)
        ptx_fail(unit->job, 0, LW_ENOMEM, "out of memory");
    memcpy(copy, list, count * size);
    return copy;
}

/* ---- loops that the compiler has unrolled --------------------------------------------------------------- */

#define REPEATED (UINT32_C(1) << 31) /* bit of the numbers of these duplicates */

/* Source location and operation of an instruction. */
struct origin {
    uint32_t file, line, column, op;
};
/* State of an instruction in the scope of which the duplicates are searched. */
struct repeatable {
    uint32_t insn, id; /* id: number of its origin */
    uint32_t run;      /* number of its stretch of code of one line */
    uint32_t repeated; /* number of instructions up to this one whose origin occurs in several stretches */
    uint32_t back;     /* index of the first instruction from it on that begins a stretch of a lower line than the stretch
                        * before; the number of instructions: none */
    bool begins;       /* it begins a duplicate */
};
struct repeating {
    const struct ptx_unit *unit;
    struct origin *origin;  /* by instruction */
    uint32_t *id;           /* by instruction: number of its origin */
    uint32_t *first, *last; /* by id: 1 + index of the scope's first and last instruction of it */
    bool *occurs;           /* by id: in several stretches of the scope */
    PTX_LIST(struct repeatable) code; /* the scope's instructions in ascending order */
};

static void find_origins(struct repeating *r)
{
    const struct ptx_unit *unit = r->unit;
    struct ptx_map known = { 0 };
    uint32_t count = 0, at = 0;

    r->origin = PTX_ARRAY(unit->job, struct origin, unit->code.count + 1);
    r->id = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1);
    for (size_t i = 0; i < unit->code.count; i++) {
        const struct ptx_loc *loc;
        const uint32_t *found;

        if (unit->code.at[i].loc != 0)
            at = unit->code.at[i].loc;
        loc = &unit->module->locs.at[at];
        r->origin[i] = (struct origin){ loc->file, loc->line, loc->column, unit->code.at[i].in.op };
        found = ptx_map_find(&known, (const char *)&r->origin[i], sizeof r->origin[i]);
        if (found == NULL)
            ptx_map_put(unit->job, &known, (const char *)&r->origin[i], sizeof r->origin[i], count);
        r->id[i] = found != NULL ? *found : count++;
    }
    r->first = PTX_ARRAY(unit->job, uint32_t, count + 1);
    r->last = PTX_ARRAY(unit->job, uint32_t, count + 1);
    r->occurs = PTX_ARRAY(unit->job, bool, count + 1);
}

/* Returns the begin of a duplicate between two instructions of the same origin; 0: none. Of the instructions after the
 * first one, half must have origins that occur in several stretches. */
static size_t begin_of_duplicate(const struct repeating *r, size_t first, size_t second)
{
    const struct repeatable *code = r->code.at;

    if (code[first].run == code[second].run || 2 * (size_t)(code[second].repeated - code[first].repeated) < second - first)
        return 0;
    return code[first + 1].back <= second ? code[first + 1].back : 0;
}

/* Finds the stretches in the code of a scope, and the origins that occur in several of them. */
static void find_stretches(struct repeating *r)
{
    struct repeatable *code = r->code.at;
    uint32_t back = (uint32_t)r->code.count, repeated = 0;

    for (size_t k = 0; k < r->code.count; k++) {
        const struct origin *at = &r->origin[code[k].insn], *before = k != 0 ? &r->origin[code[k - 1].insn] : at;
        uint32_t *first = &r->first[code[k].id];

        code[k].run = k == 0 ? 0 : code[k - 1].run + (at->line != before->line || at->file != before->file);
        if (*first == 0)
            *first = 1 + (uint32_t)k;
        r->occurs[code[k].id] |= code[*first - 1].run != code[k].run;
    }
    for (size_t k = 0; k < r->code.count; k++)
        code[k].repeated = repeated += r->occurs[code[k].id];
    for (size_t k = r->code.count; k-- != 0;) {
        const struct origin *at = &r->origin[code[k].insn], *before = k != 0 ? &r->origin[code[k - 1].insn] : at;

        if (at->file == before->file && at->line < before->line)
            back = (uint32_t)k;
        code[k].back = back;
    }
}

/* Numbers the duplicates in the code of a scope, from 1. Code that is none has number 0. */
static void number_duplicates(struct repeating *r, uint32_t *copy)
{
    struct repeatable *code = r->code.at;
    size_t from = 0;
    uint32_t number = 0;

    find_stretches(r);
    for (size_t k = 0; k < r->code.count; k++) {
        const size_t last = r->last[code[k].id];
        const size_t begin = last > from ? begin_of_duplicate(r, last - 1, k) : 0;

        if (begin != 0) {
            code[begin].begins = true;
            from = begin;
        }
        r->last[code[k].id] = 1 + (uint32_t)k;
    }
    for (size_t k = 0; k < r->code.count; k++) {
        number += code[k].begins;
        copy[code[k].insn] = number != 0 ? REPEATED | number : 0;
        r->first[code[k].id] = r->last[code[k].id] = 0;
        r->occurs[code[k].id] = false;
    }
}

uint32_t *ptx_debug_find_copies(const struct ptx_unit *unit, const uint32_t *index, const uint32_t *owner)
{
    PTX_LIST(struct copied) words = { 0 };
    struct repeating r = { .unit = unit };
    uint32_t *copy = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1), at = 0;
    bool any = false;

    for (size_t i = 0; i < unit->code.count; i++) {
        if (unit->code.at[i].loc != 0)
            at = unit->code.at[i].loc;
        copy[i] = unit->module->locs.at[at].copy;
        if (copy[i] == 0 && index[i] != index[i + 1] && unit->module->locs.at[at].line != 0)
            *PTX_PUSH(unit->job, words) = (struct copied){ owner[index[i]], (uint32_t)i, index[i] };
    }
    if (words.count > 1)
        qsort(words.at, words.count, sizeof *words.at, compare_copied);
    find_origins(&r);
    for (size_t from = 0, end; from < words.count; from = end) {
        r.code.count = 0;
        for (end = from; end < words.count && words.at[end].owner == words.at[from].owner; end++)
            *PTX_PUSH(unit->job, r.code) = (struct repeatable){ .insn = words.at[end].copy, .id = r.id[words.at[end].copy] };
        number_duplicates(&r, copy);
    }
    for (size_t i = 0; i < unit->code.count; i++)
        any |= copy[i] != 0;
    return any ? copy : NULL;
}

/* ---- scopes --------------------------------------------------------------------------------------------- */

void ptx_debug_copies(struct ptx_unit *unit, uint32_t base, const uint32_t *index,
                      const uint32_t *owner, const uint32_t *copy, struct ptx_duplicates *of)
{
    PTX_LIST(struct copied) words = { 0 };
    PTX_LIST(struct isa_span) spans = { 0 };

    for (size_t i = 0; i < unit->code.count; i++)
        for (uint32_t w = index[i]; w < index[i + 1] && copy[i] != 0; w++)
            *PTX_PUSH(unit->job, words) = (struct copied){ owner[w], copy[i], w };
    if (words.count > 1)
        qsort(words.at, words.count, sizeof *words.at, compare_copied);
    for (size_t from = 0, end; from < words.count; from = end) {
        uint32_t scope = words.at[from].owner;
        PTX_LIST(struct ptx_copied) copies = { 0 };

        for (end = from; end < words.count && words.at[end].owner == scope;) {
            uint32_t number = words.at[end].copy;

            spans.count = 0;
            for (; end < words.count && words.at[end].owner == scope &&
                   words.at[end].copy == number; end++) {
                uint32_t word = base + words.at[end].word;

                if (spans.count != 0 && spans.at[spans.count - 1].to == word)
                    spans.at[spans.count - 1].to++;
                else
                    *PTX_PUSH(unit->job, spans) = (struct isa_span){ word, word + 1 };
            }
            *PTX_PUSH(unit->job, copies) = (struct ptx_copied){
                keep(unit, spans.at, spans.count, sizeof *spans.at),
                (uint32_t)spans.count
            };
        }
        of[scope] = (struct ptx_duplicates){ keep(unit, copies.at, copies.count, sizeof *copies.at),
                                         (uint32_t)copies.count };
    }
}
