/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of block schedulers, and the block scheduler round robin. The blocks of kernels are placed in the order of
 * the distributor's entries, each on the next core in rotation on which it fits. If the next block of a kernel fits on
 * no core, later kernels wait, unless kernels.bypass is on. Source: specification of the dynamic parallelism thesis, section 3.3.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <stdlib.h>

const struct tim_blocks_policy *const tim_blocks_policies[] = {&tim_blocks_rr, &tim_blocks_tb_pri, &tim_blocks_smx_bind,
                                                              &tim_blocks_adaptive, &tim_blocks_bcs, &tim_blocks_la_b};
const size_t tim_blocks_policy_count = LW_COUNT_OF(tim_blocks_policies);

static struct tim_blocks *create(const struct tim_config *config)
{
    struct tim_blocks_rotating *rr = calloc(1, sizeof *rr);

    (void)config;
    return rr != NULL ? &rr->blocks : NULL;
}

static void destroy(struct tim_blocks *blocks)
{
    free(blocks);
}

struct tim_launch *tim_grid_entry_after(const struct tim_grid *g, uint64_t after)
{
    struct tim_launch *found = NULL;

    for (unsigned i = 0; i < TIM_ENTRIES_MOST / 64; i++)
        for (uint64_t left = g->entry_used[i]; left != 0; left &= left - 1) {
            struct tim_launch *l = g->entry[i * 64 + lw_lowest(left)];
            if (l->distributed && l->entered > after && (found == NULL || l->entered < found->entered) &&
                (tim_grid_unit(g, l) != NULL || tim_grid_resume_of(g, l, false) != SIZE_MAX))
                found = l;
        }
    return found;
}

/** Returns the next core in rotation on which the next block of @l may be placed, or -1 if there is none. */
static int next_core(const struct tim_blocks_rotating *rr, const struct tim_launch *l)
{
    const struct tim_grid *g = rr->blocks.grid;
    unsigned count = g->config->core_count;

    for (unsigned n = 0; n < count; n++) {
        unsigned c = rr->next + n < count ? rr->next + n : rr->next + n - count;
        if (rr->fits != NULL ? rr->fits(rr, l, c) : tim_core_fits(g->cores[c], l->grid))
            return (int)c;
    }
    return -1;
}

/** Selects a block as tim_rotating_picks() does, but changes no state. If all blocks wait because the record of a block group has
 *  not been read from memory, sets *record to this block group and returns false; otherwise sets *record to NULL. */
static bool look(const struct tim_blocks_rotating *rr, uint64_t now, struct tim_block_choice *out, struct tim_launch **record)
{
    const struct tim_grid *g = rr->blocks.grid;
    struct tim_launch *l = tim_grid_entry_after(g, 0);

    *record = NULL;
    for (; l != NULL; l = g->config->kernels_bypass ? tim_grid_entry_after(g, l->entered) : NULL) {
        *out = (struct tim_block_choice){.launch = tim_grid_unit(g, l), .resume = SIZE_MAX, .block = UINT64_MAX};
        if (tim_grid_resume_of(g, l, false) != SIZE_MAX) {
            out->resume = tim_grid_resume_of(g, l, true);
            if (out->resume != SIZE_MAX)
                return true;
            continue;
        }
        if (out->launch->spilled && (out->launch->record_at == 0 || out->launch->record_at > now)) {
            *record = out->launch;
            return false;
        }
        int core = next_core(rr, out->launch);
        out->core = (unsigned)core;
        if (core >= 0)
            return true;
    }
    return false;
}

bool tim_rotating_picks(struct tim_blocks *blocks, uint64_t now, struct tim_block_choice *out)
{
    struct tim_blocks_rotating *rr = (struct tim_blocks_rotating *)blocks;
    struct tim_launch *record;
    bool found = look(rr, now, out, &record);

    if (record != NULL && record->record_at == 0) {
        uint64_t takes = blocks->grid->config->kernels_ideal ? 0 : blocks->grid->config->dtbl_spill;

        record->record_at = now + takes;
        blocks->grid->gpu[TIM_GPU_dtbl_spill_cycles] += takes;
        if (takes == 0)
            found = look(rr, now, out, &record);
    }
    if (found && out->resume == SIZE_MAX)
        rr->next = (out->core + 1) % blocks->grid->config->core_count;
    return found;
}

bool tim_rotating_waits(const struct tim_blocks *blocks)
{
    return tim_grid_entry_after(blocks->grid, 0) != NULL;
}

bool tim_rotating_can(const struct tim_blocks *blocks)
{
    struct tim_block_choice choice;
    struct tim_launch *record;

    return look((const struct tim_blocks_rotating *)blocks, UINT64_MAX, &choice, &record) || record != NULL;
}

uint64_t tim_rotating_next(const struct tim_blocks *blocks, uint64_t now)
{
    struct tim_block_choice choice;
    struct tim_launch *record;

    if (!blocks->grid->config->dtbl_on)
        return UINT64_MAX;
    if (look((const struct tim_blocks_rotating *)blocks, now, &choice, &record))
        return now;
    return record == NULL ? UINT64_MAX : record->record_at;
}

const struct tim_blocks_policy tim_blocks_rr = {
    .name = "rr",
    .summary = "places blocks in the order of the distributor, each on the next core in rotation on which it fits",
    .create = create,
    .destroy = destroy,
    .picks = tim_rotating_picks,
    .waits = tim_rotating_waits,
    .can = tim_rotating_can,
    .next = tim_rotating_next,
};
