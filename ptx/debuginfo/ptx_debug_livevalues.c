/* SPDX-License-Identifier: Apache-2.0 */
/* Corrects location lists of nvcc, which assume that code is executed in the order of the text. A list entry for one side of
 * an `if` continues into the other side, and a list entry for a loop body continues after the loop. On such paths the
 * register of the entry was never written, or has the value of another iteration, and the variable is still at its earlier
 * location. So this file propagates a location to a block if all paths to the block agree on the location, until the next
 * list entry begins. */
#include "ptx/debuginfo/ptx_debug_varloc_priv.h"

static bool spend(struct ptx_placing *pl, uint64_t steps)
{
    if (pl->debug->gap_budget < steps)
        return false;
    pl->debug->gap_budget -= steps;
    return true;
}

static bool holds(struct ptx_placing *pl, uint32_t h, uint32_t word)
{
    const struct ptx_holder *holder = &pl->holders.at[h];

    for (size_t i = 0; i < holder->spans.count && spend(pl, 1); i++) {
        if (word >= holder->spans.at[i].from && word < holder->spans.at[i].to)
            return true;
    }
    return false;
}

static bool is_its(const struct ptx_placing *pl, uint32_t reg)
{
    for (size_t i = 0; i < pl->its.count; i++) {
        if (pl->its.at[i] == reg)
            return true;
    }
    return false;
}

void ptx_debug_list_entry(struct ptx_placing *pl, const struct ptx_list_entry *entry, uint32_t n)
{
    struct ptx_location_expr expr;
    uint32_t reg, line = UINT32_MAX;

    if (ptx_debug_read_location_expr(pl->debug->loc, entry->at, entry->size, &expr) && expr.reg[0] != '\0' &&
        (reg = ptx_debug_register(pl, expr.reg)) != PTX_NONE && !is_its(pl, reg))
        *PTX_PUSH(pl->job, pl->its) = reg;
    for (uint32_t w = pl->marked_from; w < pl->marked_to; w++) {
        if (pl->mark[w] && pl->line_at[w] < line)
            line = pl->line_at[w];
    }
    for (uint32_t w = pl->marked_from; w < pl->marked_to; w++) {
        if (pl->mark[w])
            pl->listed[w] = 2 * (n + 1) + (pl->line_at[w] > line);
    }
}

enum { UNSEEN = 0, NOWHERE = PTX_NONE };

/* State on a path through a block. */
struct way {
    uint32_t at;   /* 1 + index of the holder that has the variable, or NOWHERE if the variable has no location */
    uint32_t last; /* pl->listed of the preceding word in this block, or 1 if pl->listed is 0 there; 0 before the first word */
};

/* Updates the location before a word. At the start of a list entry, the variable has moved or was written, so the location
 * of the entry is used. */
static void before(struct ptx_placing *pl, uint32_t word, struct way *way)
{
    uint32_t listed = pl->listed[word];
    bool begins = way->last != 0 ? way->last / 2 != listed / 2 : listed % 2 == 0;

    if (listed == 0 || begins || way->at == NOWHERE || pl->at[word] == PTX_NONE ||
        !holds(pl, way->at - 1, word))
        way->at = pl->at[word] != 0 ? pl->at[word] : NOWHERE;
    way->last = listed != 0 ? listed : 1;
}

/* Updates the location from before instruction @i to after instruction @i. */
static void advance(struct ptx_placing *pl, size_t i, struct way *way)
{
    const struct ptx_unit *unit = pl->unit;
    const struct ptx_mi *mi = &unit->code.at[i];

    if (pl->index[i] != pl->index[i + 1])
        before(pl, pl->index[i], way);
    for (unsigned s = 0; s < PTX_S_M; s++) {
        if (ptx_mi_writes(mi, (enum ptx_slot)s) &&
            is_its(pl, unit->vregs.at[ptx_ref_vreg(mi->ref[s])].origin))
            way->at = NOWHERE; /* the variable has no location until the next list entry begins */
    }
}

/* Stores in @out for each word 1 + the index of the holder that has the variable. Returns false if the list needs no correction,
 * or if the steps are used up. */
static bool follow(struct ptx_placing *pl, uint32_t *out)
{
    const struct ptx_unit *unit = pl->unit;
    size_t blocks = unit->blocks.count;
    uint32_t *in = PTX_ARRAY(unit->job, uint32_t, blocks + 1);
    bool changed = true, filled = false;

    in[0] = NOWHERE;
    while (changed) { /* a block's state changes at most twice: from UNSEEN to a location, and from a location to NOWHERE */
        changed = false;
        for (size_t b = 0; b < blocks; b++) {
            const struct ptx_block *block = &unit->blocks.at[b];
            struct way way = { .at = in[b] };

            if (way.at == UNSEEN)
                continue;
            if (!spend(pl, block->count))
                return false;
            for (uint32_t i = block->first; i < block->first + block->count; i++)
                advance(pl, i, &way);
            for (unsigned s = 0; s < block->succ_count; s++) {
                uint32_t *next = &in[block->succ[s]];
                uint32_t joined = *next == UNSEEN || *next == way.at ? way.at : NOWHERE;

                changed |= joined != *next;
                *next = joined;
            }
        }
    }
    for (size_t b = 0; b < blocks; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];
        struct way way = { .at = in[b] };

        for (uint32_t i = block->first; in[b] != UNSEEN && i < block->first + block->count; i++) {
            uint32_t word = pl->index[i];

            if (word != pl->index[i + 1]) {
                struct way here = way;

                before(pl, word, &here);
                out[word] = here.at != NOWHERE ? here.at : pl->at[word];
                filled |= out[word] != pl->at[word];
            }
            advance(pl, i, &way);
        }
    }
    return filled;
}

void ptx_debug_gaps(struct ptx_placing *pl)
{
    uint32_t *at;
    size_t retained = 0;

    if (pl->its.count < 2 || !spend(pl, 2 * (uint64_t)pl->count))
        return;
    at = PTX_ARRAY(pl->job, uint32_t, pl->count + 1);
    memcpy(at, pl->at, pl->count * sizeof *at); /* words that no path reaches keep the locations of the list */
    if (!follow(pl, at))
        return;
    for (size_t i = 0; i < pl->locations.count; i++) {
        if (pl->at[pl->locations.at[i].from - pl->base] == PTX_NONE)
            pl->locations.at[retained++] = pl->locations.at[i];
    }
    pl->locations.count = retained;
    for (uint32_t w = 0; w < pl->count; w++) {
        if (at[w] != 0 && at[w] != PTX_NONE)
            *PTX_PUSH(pl->job, pl->locations) = ptx_debug_holder_location(pl, &pl->holders.at[at[w] - 1], w, w + 1);
    }
}
