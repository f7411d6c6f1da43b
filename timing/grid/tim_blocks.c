/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of block schedulers, and the first of them: round robin. Blocks leave in the order of the distributor's
 * entries, each for the next core in rotation on which it fits: a kernel whose next block fits nowhere holds up the
 * later ones, unless kernels.bypass lets them pass. Source: specs of the dynamic parallelism thesis 3.3.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <stdlib.h>

const struct tim_blocks_policy *const tim_blocks_policies[] = {&tim_blocks_rr};
const size_t tim_blocks_policy_count = LW_COUNT_OF(tim_blocks_policies);

struct rr {
    struct tim_blocks blocks;
    unsigned next; /* core */
};

static struct tim_blocks *create(const struct tim_config *config)
{
    struct rr *rr = calloc(1, sizeof *rr);

    (void)config;
    return rr != NULL ? &rr->blocks : NULL;
}

static void destroy(struct tim_blocks *blocks)
{
    free(blocks);
}

/** The first entry after @after that has blocks to give; NULL: none. */
static struct tim_launch *next_entry(const struct tim_grid *g, uint64_t after)
{
    struct tim_launch *found = NULL;

    for (size_t i = 0; i < g->count; i++) {
        struct tim_launch *l = g->launch[i];
        if (l->distributed && l->entered > after && (found == NULL || l->entered < found->entered) &&
            (tim_grid_gives(g, l) || tim_grid_resume_of(g, l, false) != SIZE_MAX))
            found = l;
    }
    return found;
}

/** The next core in rotation on which a block fits; -1: none. */
static int next_core(const struct rr *rr, const struct tim_launch *l)
{
    const struct tim_grid *g = rr->blocks.grid;
    unsigned count = g->config->core_count;

    for (unsigned n = 0; n < count; n++) {
        unsigned c = rr->next + n < count ? rr->next + n : rr->next + n - count;
        if (tim_core_fits(g->cores[c], l->grid))
            return (int)c;
    }
    return -1;
}

static bool look(const struct rr *rr, struct tim_block_choice *out)
{
    const struct tim_grid *g = rr->blocks.grid;
    struct tim_launch *l = next_entry(g, 0);

    for (; l != NULL; l = g->config->kernels_bypass ? next_entry(g, l->entered) : NULL) {
        *out = (struct tim_block_choice){.launch = l, .resume = SIZE_MAX};
        if (tim_grid_resume_of(g, l, false) != SIZE_MAX) {
            out->resume = tim_grid_resume_of(g, l, true);
            if (out->resume != SIZE_MAX)
                return true;
            continue;
        }
        int core = next_core(rr, l);
        out->core = (unsigned)core;
        if (core >= 0)
            return true;
    }
    return false;
}

static bool picks(struct tim_blocks *blocks, uint64_t now, struct tim_block_choice *out)
{
    struct rr *rr = (struct rr *)blocks;
    bool found = look(rr, out);

    (void)now;
    if (found && out->resume == SIZE_MAX)
        rr->next = (out->core + 1) % blocks->grid->config->core_count;
    return found;
}

static bool waits(const struct tim_blocks *blocks)
{
    return next_entry(blocks->grid, 0) != NULL;
}

static bool can(const struct tim_blocks *blocks)
{
    struct tim_block_choice choice;

    return look((const struct rr *)blocks, &choice);
}

const struct tim_blocks_policy tim_blocks_rr = {
    .name = "rr",
    .summary = "blocks in the order of the distributor, each for the next core in rotation on which it fits",
    .create = create,
    .destroy = destroy,
    .picks = picks,
    .waits = waits,
    .can = can,
};
