/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts by kernel. A kernel's cycles are those in which it is on the cores: from the cycle after its first
 * block was placed (blocks are placed last in a cycle) to the cycle in which its last block ends, inclusive.
 * So GPU counters are read between cycles.
 */
#include "timing/tim_engine_priv.h"

enum lw_status tim_kernels_add(struct tim_engine *e, const struct emu_grid *grid,
                               struct lw_error *err)
{
    /* A kernel is in this cycle's list only once, because it ends in a later cycle than it starts. */
    if (!lw_grow(&e->kernel, &e->kernel_capacity, e->kernel_count + 1, sizeof *e->kernel) ||
        !lw_grow(&e->turning, &e->rotating_capacity, e->kernel_count + 1, sizeof *e->turning))
        return LW_FAIL(err, LW_ENOMEM, "no memory for the counters of a launch");
    e->kernel[e->kernel_count++] = (struct tim_kernel_stats){
        .name = grid->launch.kernel->name, .grid = grid->sequence, .queued = e->now,
        .blocks = grid->block_count};
    return LW_OK;
}

void tim_kernels_distributed(void *context, size_t kernel, uint64_t now)
{
    struct tim_engine *e = context;

    if (!e->kernel[kernel].is_dispatched)
        e->kernel[kernel].dispatched = now;
    e->kernel[kernel].is_dispatched = true;
}

void tim_kernels_rotate(void *context, size_t kernel)
{
    struct tim_engine *e = context;

    e->turning[e->turning_count++] = kernel;
}

void tim_kernels_count(struct tim_engine *e, const struct emu_grid *grid, unsigned lanes)
{
    for (size_t i = e->kernel_count; i > 0; i--) {
        struct tim_kernel_stats *k = &e->kernel[i - 1];

        if (k->grid != grid->sequence)
            continue;
        if (k->warp_instructions++ == 0)
            k->begun = e->now;
        k->thread_instructions += lanes;
        return;
    }
}

void tim_kernels_account(struct tim_engine *e)
{
    struct tim_totals totals;
    struct tim_sums sums;

    if (e->turning_count == 0)
        return;
    tim_engine_totals(e, &totals);
    tim_sums_take(&totals, &sums);
    for (size_t i = 0; i < e->turning_count; i++) {
        struct tim_kernel_stats *k = &e->kernel[e->turning[i]];

        if (k->started == 0) {
            k->started = e->now;
            k->sums = sums;
            e->gpu[TIM_GPU_kernels]++; /* not yet in `sums`: a kernel is in its own difference */
        } else {
            struct tim_sums own = sums;

            k->ended = e->now - 1;
            tim_sums_subtract(&own, &k->sums);
            k->sums = own;
        }
    }
    e->turning_count = 0;
}
