/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block pairs: blocks 2k and 2k + 1 of a launch are placed together on a core that has capacity for both. Some blocks are
 * placed alone: the last block of an odd number of blocks, all blocks of a kernel of which two never fit on a core, and
 * blocks of device launches. The launchers of these blocks may occupy the capacity that a pair needs. Source: specification
 * of address pre-computation, section 6.3.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <stdlib.h>

/** Returns true if block @linear has no partner: it belongs to a device launch, a core is too small for a pair, or it is
 *  the last block of an odd number of blocks. */
static bool is_alone(const struct tim_launch *l, const struct tim_core *core, uint64_t linear)
{
    return l->grid->parent.grid != 0 || !tim_core_fits_pair(core, l->grid, true) ||
           (linear % 2 == 0 && linear + 1 == l->grid->block_count);
}

static bool fits(const struct tim_blocks_rotating *rotating, const struct tim_launch *l, unsigned core)
{
    const struct tim_core *c = rotating->blocks.grid->cores[core];

    if (is_alone(l, c, l->grid->blocks_placed))
        return tim_core_fits(c, l->grid);
    if (l->grid->blocks_placed % 2 != 0)
        return core == l->mark.core && tim_core_fits(c, l->grid);
    return tim_core_fits_pair(c, l->grid, false);
}

static struct tim_blocks *create(const struct tim_config *config)
{
    struct tim_blocks_rotating *rotating = calloc(1, sizeof *rotating);

    (void)config;
    if (rotating == NULL)
        return NULL;
    rotating->fits = fits;
    return &rotating->blocks;
}

static void destroy(struct tim_blocks *blocks)
{
    free(blocks);
}

static void begins(struct tim_blocks *blocks, struct tim_launch *l, unsigned core, uint64_t linear, uint64_t now)
{
    uint64_t *gpu = blocks->grid->gpu;
    const bool alone = is_alone(l, blocks->grid->cores[core], linear);

    (void)now;
    l->mark.core = core;
    gpu[TIM_GPU_bcs_singles] += alone;
    gpu[TIM_GPU_bcs_pairs] += !alone && linear % 2 != 0;
}

static void why_block(const struct tim_blocks *blocks, const struct tim_launch *l, unsigned core, uint64_t linear, struct lw_sink *out)
{
    if (is_alone(l, blocks->grid->cores[core], linear))
        lw_printf(out, "\nthe warp's block was placed alone on core %u, in rotation", core);
    else
        lw_printf(out, "\nthe warp's block was placed as a pair with block %llu", (unsigned long long)(linear ^ 1));
}

const struct tim_blocks_policy tim_blocks_bcs = {
    .name = "bcs",
    .summary = "block pairs: places two neighbouring blocks together on a core that has capacity for both",
    .create = create,
    .destroy = destroy,
    .picks = tim_rotating_picks,
    .waits = tim_rotating_waits,
    .can = tim_rotating_can,
    .next = tim_rotating_next,
    .begins = begins,
    .why_block = why_block,
};
