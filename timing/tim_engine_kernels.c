/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts for each kernel. A kernel's cycles are the cycles in which it is on the cores: from the cycle after its first
 * block was placed (blocks are placed last in a cycle) to the cycle in which its last block ends, inclusive. GPU
 * counters are therefore read between cycles.
 */
#include "timing/tim_engine_priv.h"

#include <stdlib.h>

/* ---- launches that may start ------------------------------------------------------------------ */

static const struct tim_code *code_of(struct tim_engine *e, const struct emu_program *program)
{
    for (size_t i = 0; i < e->code_count; i++)
        if (e->code[i]->program == program)
            return e->code[i];
    struct tim_code *code = calloc(1, sizeof *code);
    if (code == NULL)
        return NULL;
    if (!lw_grow(&e->code, &e->code_capacity, e->code_count + 1, sizeof *e->code) ||
        !tim_code_fill(&e->config, program, code)) {
        tim_code_fini(code);
        free(code);
        return NULL;
    }
    e->code[e->code_count++] = code;
    return code;
}

/** Returns true for a host launch that waits for an incomplete one in the same hardware queue. */
static bool is_queued(const struct tim_engine *e, const struct emu_grid *grid)
{
    unsigned queues = e->config.kernels_queues;

    for (const struct emu_grid *g = emu_grid_current(e->base.machine); g != grid; g = g->next)
        if (g->parent.grid == 0 && !emu_grid_complete(g) &&
            g->stream % queues == grid->stream % queues)
            return true;
    return false;
}

enum lw_status tim_launches_take(struct tim_engine *e, const struct tim_core *core, struct lw_error *err)
{
    struct emu_grid *first = emu_grid_current(e->base.machine);
    const bool launches = core != NULL && core->issued_what->launch;
    uint64_t delay = core != NULL ? core->launch_cycles : 0;
    struct tim_launcher from = {0};
    enum lw_status status;

    if (launches)
        from = (struct tim_launcher){core->index, core->issued_warp * e->config.core_warp_width};

    if (delay != 0 && e->clocked) /* the delay is in cycles of the core's own clock */
        delay = tim_domain_when(core->domain, core->now + delay) - e->now;
    e->grid.rescan = false;
    for (struct emu_grid *g = first; g != NULL; g = g->next) {
        if (launches && g->stream_prev != NULL && !tim_grid_note(&e->grid, g, e->now, &from))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a launch");
        if (g->stream_prev != NULL || g->blocks_placed == g->block_count ||
            (g->parent.grid == 0 && is_queued(e, g)) || tim_grid_knows(&e->grid, g))
            continue;
        status = tim_core_could_fit(&e->config, g, err);
        if (status != LW_OK)
            return status;
        if (e->grid.reach != NULL) {
            status = tim_reach_add(e->grid.reach, g, err);
            if (status != LW_OK)
                return status;
        }
        const struct tim_code *code = code_of(e, g->launch.program);
        if (code == NULL || !tim_grid_add(&e->grid, g, code, e->now, delay, launches ? &from : NULL, e->kernel_count))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a launch");
        status = tim_kernels_add(e, g, err);
        if (status != LW_OK)
            return status;
    }
    if (launches)
        tim_grid_launched(&e->grid);
    return LW_OK;
}

/* ---- accounts ----------------------------------------------------------------------------------- */

enum lw_status tim_kernels_add(struct tim_engine *e, const struct emu_grid *grid,
                               struct lw_error *err)
{
    /* A kernel is in this cycle's list only once, because it ends in a later cycle than the one in which it starts. */
    if (!lw_grow(&e->kernel, &e->kernel_capacity, e->kernel_count + 1, sizeof *e->kernel) ||
        !lw_grow(&e->turning, &e->rotating_capacity, e->kernel_count + 1, sizeof *e->turning))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the counters of a launch");
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
            e->gpu[TIM_GPU_kernels]++; /* `sums` must not include the kernel yet, as the kernel counts itself */
        } else {
            struct tim_sums own = sums;

            k->ended = e->now - 1;
            tim_sums_subtract(&own, &k->sums);
            k->sums = own;
        }
    }
    e->turning_count = 0;
}
