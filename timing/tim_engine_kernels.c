/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that may start, and the counts of each kernel. The cycles of a kernel are those from its first block to its last.
 * They begin with the cycle after the first block was placed, because blocks are placed at the end of a cycle. They end with
 * the cycle in which the last block ends, inclusive. Therefore the GPU's counters are read between two cycles.
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

/** Adds a launch that may start. It may be dispatched @delay cycles after this cycle, or later. */
static enum lw_status add(struct tim_engine *e, struct emu_grid *g, uint64_t delay, bool launches, struct lw_error *err)
{
    const struct tim_code *code;
    enum lw_status status = tim_core_could_fit(&e->config, g, err);

    if (status == LW_OK && e->grid.reach != NULL)
        status = tim_reach_add(e->grid.reach, g, err);
    if (status != LW_OK)
        return status;
    code = code_of(e, g->launch.program);
    if (code == NULL || !tim_grid_add(&e->grid, g, code, e->now, delay, launches, e->kernel_count))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a launch");
    return tim_kernels_add(e, g, err);
}

/** Records the launches that the machine has received since the last call. Adds launches by the host to host_launch. For
 *  launches by the device records their launcher @from, unless @from is NULL. Returns false if memory is short. */
static bool note_launches(struct tim_engine *e, const struct tim_launcher *from)
{
    for (struct emu_grid *g = emu_grid_after(e->base.machine, e->noted); g != NULL; g = g->next) {
        e->noted = g->sequence;
        if (g->parent.grid == 0) {
            if (!lw_grow(&e->host_launch, &e->host_launch_capacity, e->host_launch_count + 1, sizeof *e->host_launch))
                return false;
            e->host_launch[e->host_launch_count++] = g;
        } else if (from != NULL && !tim_grid_note(&e->grid, g, e->now, from)) {
            return false;
        }
    }
    return true;
}

/** Adds each host launch that is the first incomplete launch of its hardware queue and was not added before. */
static enum lw_status add_host_launches(struct tim_engine *e, uint64_t delay, struct lw_error *err)
{
    uint64_t busy[TIM_QUEUES_MOST / 64] = {0};
    unsigned count = 0;
    enum lw_status status = LW_OK;

    while (e->host_launch_first < e->host_launch_count && emu_grid_complete(e->host_launch[e->host_launch_first]))
        e->host_launch_first++;
    for (size_t i = e->host_launch_first; i < e->host_launch_count && count < e->config.kernels_queues; i++) {
        struct emu_grid *g = e->host_launch[i];
        const unsigned queue = g->stream % e->config.kernels_queues;

        if (emu_grid_complete(g) || (busy[queue / 64] >> queue % 64 & 1) != 0)
            continue;
        busy[queue / 64] |= UINT64_C(1) << queue % 64;
        count++;
        if (g->blocks_placed == g->block_count || tim_grid_knows(g))
            continue;
        status = add(e, g, delay, false, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

enum lw_status tim_launches_take(struct tim_engine *e, const struct tim_core *core, struct lw_error *err)
{
    const bool launches = core != NULL && core->issued_what->launch;
    uint64_t delay = core != NULL ? core->launch_cycles : 0;
    struct tim_launcher from = {0};
    enum lw_status status;

    if (launches)
        from = (struct tim_launcher){core->index, core->issued_warp * e->config.core_warp_width};
    if (delay != 0 && e->clocked) /* the delay is in cycles of the core's own clock */
        delay = tim_domain_when(core->domain, core->now + delay) - e->now;
    e->grid.rescan = false;
    if (!note_launches(e, launches ? &from : NULL))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a launch");
    status = add_host_launches(e, delay, err);
    for (struct emu_grid *g; status == LW_OK && (g = emu_grid_take_startable(e->base.machine)) != NULL;)
        status = add(e, g, delay, launches, err);
    if (status == LW_OK && launches)
        tim_grid_launched(&e->grid);
    return status;
}

/* ---- accounts ----------------------------------------------------------------------------------- */

enum lw_status tim_kernels_add(struct tim_engine *e, const struct emu_grid *grid,
                               struct lw_error *err)
{
    /* `turning` needs at most one entry for each kernel, because a kernel never starts and ends in the same cycle. */
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

void tim_kernels_count(struct tim_engine *e, const struct emu_grid *grid, unsigned instructions, unsigned lanes)
{
    struct tim_kernel_stats *k = &e->kernel[tim_grid_stats(grid)];

    if (k->warp_instructions == 0)
        k->begun = e->now;
    k->warp_instructions += instructions;
    k->thread_instructions += lanes;
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
            e->gpu[TIM_GPU_kernels]++; /* after the copy of the counters, so that the kernel's own count includes it */
        } else {
            struct tim_sums own = sums;

            k->ended = e->now - 1;
            tim_sums_subtract(&own, &k->sums);
            k->sums = own;
        }
    }
    e->turning_count = 0;
}

enum lw_status tim_engine_run_to_warp(struct emu_engine *engine, struct lw_error *err)
{
    struct emu_stop stop = {.kind = EMU_STOP_NONE};
    enum lw_status status = LW_OK;

    while (status == LW_OK && stop.kind != EMU_STOP_IDLE && stop.kind != EMU_STOP_HANG && engine->ops->warp_count(engine) == 0)
        status = tim_engine_run_cycles(engine, 1, &stop, err);
    return status;
}
