/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the lines that two blocks share if they are on a core at the same time. Counts the shared lines that address slices
 * predict, and those that the accesses of the blocks show. The mechanism throttles no warp. Lines are 128 bytes of global
 * memory. A pair of blocks is counted when both blocks have ended.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_lines_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/** A block on the core, or an ended block that was on the core together with a block that has not ended. */
struct record {
    bool used, over;             /* used: the record has a block; over: the block has ended */
    const struct emu_grid *grid; /* grid of the block, until the block ends */
    uint32_t launch, size[3];    /* sequence number and size of the block's grid */
    uint64_t linear;
    unsigned arrays;             /* number of elements of `range` */
    struct emu_rect range[TIM_REACH_ARRAYS]; /* predicted lines */
    struct tim_lines lines;      /* accessed lines */
};
struct pair {
    uint32_t a, b; /* indexes of two records */
};
struct shares {
    struct tim_mech base;
    struct record *record;
    size_t records, record_capacity;
    struct pair *pair; /* pairs of blocks that were on the core together; at least one block of each pair is still on it */
    size_t pairs, pair_capacity;
    uint32_t *at;      /* [index of the block on the core] 1 + index of its record, or 0 if there is none */
    uint64_t since[TIM_MAX_WARPS]; /* by slot: cycle in which the warp began to wait */
    bool short_of_memory; /* some lines or pairs are not counted, because the host had no memory */
};

static uint64_t predicted(const struct record *a, const struct record *b)
{
    return a->launch != b->launch ? 0 : tim_reach_overlap(a->range, b->range, a->arrays);
}

/* ---- blocks ---------------------------------------------------------------------------------------- */

/** Returns an unused record, or NULL if memory is short. */
static struct record *new_record(struct shares *s)
{
    for (size_t i = 0; i < s->records; i++)
        if (!s->record[i].used)
            return &s->record[i];
    if (!lw_grow(&s->record, &s->record_capacity, s->records + 1, sizeof *s->record))
        return NULL;
    return &s->record[s->records++];
}

static void count_pair(struct shares *s, const struct pair *p)
{
    const struct record *a = &s->record[p->a], *b = &s->record[p->b];
    const uint64_t expected = predicted(a, b), seen = tim_lines_common(&a->lines, &b->lines);
    uint64_t *count = s->base.core->count;

    count[TIM_CORE_shares_pairs]++;
    count[TIM_CORE_shares_predicted] += expected;
    count[TIM_CORE_shares_observed] += seen;
    count[TIM_CORE_shares_agreed] += expected != 0 && seen != 0;
    count[TIM_CORE_shares_only_predicted] += expected != 0 && seen == 0;
    count[TIM_CORE_shares_only_observed] += expected == 0 && seen != 0;
}

/** Frees a record if its block has ended and no pair needs it. */
static void drop(struct shares *s, uint32_t record)
{
    if (!s->record[record].over)
        return;
    for (size_t i = 0; i < s->pairs; i++)
        if (s->pair[i].a == record || s->pair[i].b == record)
            return;
    tim_lines_fini(&s->record[record].lines);
    s->record[record] = (struct record){.used = false};
}

static void block_begins(struct shares *s, const struct tim_mech_block *block)
{
    struct record *r = new_record(s);

    s->at[block->place] = 0;
    if (r == NULL) {
        s->short_of_memory = true;
        return;
    }
    const uint32_t number = (uint32_t)(r - s->record);
    *r = (struct record){.used = true, .grid = block->grid, .launch = block->grid->sequence, .linear = block->linear,
                         .arrays = block->arrays};
    memcpy(r->size, block->grid->launch.grid, sizeof r->size);
    memcpy(r->range, block->range, sizeof r->range);
    s->at[block->place] = number + 1;
    for (uint32_t i = 0; i < s->records; i++) {
        if (!s->record[i].used || s->record[i].over || i == number)
            continue;
        if (!lw_grow(&s->pair, &s->pair_capacity, s->pairs + 1, sizeof *s->pair)) {
            s->short_of_memory = true;
            return;
        }
        s->pair[s->pairs++] = (struct pair){i, number};
    }
}

static void block_ends(struct shares *s, const struct tim_mech_block *block)
{
    const uint32_t number = s->at[block->place] - 1;
    unsigned resident = 0;
    size_t kept = 0;

    for (size_t i = 0; i < s->records; i++)
        resident += s->record[i].used && !s->record[i].over;
    tim_histogram_add(&s->base.core->histogram[TIM_CORE_H_shares_resident], resident);
    if (s->at[block->place] == 0)
        return;
    s->at[block->place] = 0;
    s->record[number].over = true;
    s->base.core->count[TIM_CORE_shares_touched] += s->record[number].lines.count;
    for (size_t i = 0; i < s->pairs; i++) {
        if (s->record[s->pair[i].a].over && s->record[s->pair[i].b].over)
            count_pair(s, &s->pair[i]);
        else
            s->pair[kept++] = s->pair[i];
    }
    s->pairs = kept;
    for (uint32_t i = 0; i < s->records; i++)
        if (s->record[i].used)
            drop(s, i);
}

static void resides(struct tim_mech *mech, const struct tim_mech_block *block, bool begins)
{
    (begins ? block_begins : block_ends)((struct shares *)mech, block);
}

static void touches(struct tim_mech *mech, unsigned warp, uint64_t line)
{
    struct shares *s = (struct shares *)mech;
    const uint32_t at = s->at[mech->core->block_of(mech->core->context, warp)];

    if (at != 0)
        s->short_of_memory |= !tim_lines_add(&s->record[at - 1].lines, line / EMU_RECT_LINE);
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    struct shares *s = (struct shares *)mech;

    if (begins) {
        s->since[warp] = mech->core->now;
        mech->core->count[TIM_CORE_shares_waits]++;
    } else {
        mech->core->count[TIM_CORE_shares_wait_cycles] += mech->core->now - s->since[warp];
    }
}

/* ---- hooks, reports -------------------------------------------------------------------------- */

static bool is_on(const struct tim_config *config)
{
    return config->shares_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct shares *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->at = calloc(core->config->core_blocks, sizeof *s->at);
    if (s->at != NULL)
        return &s->base;
    free(s);
    return NULL;
}

static void destroy(struct tim_mech *mech)
{
    struct shares *s = (struct shares *)mech;

    for (size_t i = 0; i < s->records; i++)
        tim_lines_fini(&s->record[i].lines);
    free(s->record);
    free(s->pair);
    free(s->at);
    free(s);
}

static void put_block(const struct record *r, struct lw_sink *out)
{
    lw_printf(out, "block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ") of launch %u", r->linear % r->size[0],
              r->linear / r->size[0] % r->size[1], r->linear / r->size[0] / r->size[1], r->launch);
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct shares *s = (const struct shares *)mech;
    unsigned resident = 0;

    for (size_t i = 0; i < s->records; i++)
        resident += s->record[i].used && !s->record[i].over;
    lw_printf(out, "blocks on the core: %u; lines that pairs of blocks share, predicted and observed so far:\n", resident);
    for (size_t i = 0; i < s->pairs; i++) {
        const struct record *a = &s->record[s->pair[i].a], *b = &s->record[s->pair[i].b];
        const uint64_t expected = predicted(a, b), seen = tim_lines_common(&a->lines, &b->lines);

        if (a->over || b->over || (expected == 0 && seen == 0))
            continue;
        lw_put(out, "  ");
        put_block(a, out);
        lw_put(out, " and ");
        put_block(b, out);
        lw_printf(out, ": %" PRIu64 " predicted, %" PRIu64 " observed\n", expected, seen);
    }
}

static void report(struct tim_mech *const *mech, unsigned cores, bool json, struct lw_sink *out)
{
    static const struct {
        const char *name, *words;
        unsigned counter;
    } rows[] = {
        {"pairs", "pairs of blocks that were on a core at the same time", TIM_CORE_shares_pairs},
        {"predicted", "lines that pairs share in the prediction", TIM_CORE_shares_predicted},
        {"observed", "lines that pairs share in the observation", TIM_CORE_shares_observed},
        {"agreed", "pairs with shared lines in both the prediction and the observation", TIM_CORE_shares_agreed},
        {"only_predicted", "pairs with shared lines only in the prediction", TIM_CORE_shares_only_predicted},
        {"only_observed", "pairs with shared lines only in the observation", TIM_CORE_shares_only_observed},
    };

    lw_put(out, json ? "\"shares\": {" : "shared lines of blocks\n");
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        uint64_t sum = 0;

        for (unsigned c = 0; c < cores; c++)
            sum += mech[c]->core->count[rows[i].counter];
        if (json)
            lw_printf(out, "%s\"%s\": %" PRIu64, i == 0 ? "" : ", ", rows[i].name, sum);
        else
            lw_printf(out, "  %-50s %12" PRIu64 "\n", rows[i].words, sum);
    }
    lw_put(out, json ? "}" : "");
}

const struct tim_mechanism tim_shares = {
    .name = "shares", .summary = "counts the lines that blocks share while they are on a core together, as predicted "
                                 "and as observed",
    .is_on = is_on, .create = create, .destroy = destroy, .resides = resides, .waits = waits, .touches = touches,
    .show = show, .report = report,
};
