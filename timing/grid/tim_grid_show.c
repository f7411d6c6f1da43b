/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the state of kernel management: launches, their launchers, what they wait for, and the tables of the block
 * scheduler. */
#include "timing/grid/tim_blocks_priv.h"

#include <inttypes.h>
#include <limits.h>

/** Prints which thread made the launch, and when; prints nothing for a launch by the host. */
static void put_origin(const struct tim_launch *l, uint64_t now, struct lw_sink *out)
{
    const struct emu_grid *grid = l->grid;

    if (grid == NULL || grid->parent.grid == 0)
        return;
    lw_printf(out, "launched by block %" PRIu64 " of launch %u, warp %u, lane %u", grid->parent.block, grid->parent.grid,
              grid->parent.warp, grid->parent.lane);
    if (l->from_core != UINT_MAX)
        lw_printf(out, ", on core %u", l->from_core);
    lw_printf(out, ", %" PRIu64 " cycles ago", now - l->launched);
}

static void put_state(const struct tim_grid *g, const struct tim_launch *l, uint64_t now, struct lw_sink *out)
{
    if (l->asks)
        lw_put(out, "searches for a kernel to join");
    else if (l->kernel != NULL)
        lw_printf(out, "a block group of the kernel of launch %u%s", l->kernel->sequence,
                  l->spilled ? ", with its record in memory" : "");
    else if (l->distributed)
        lw_printf(out, "entry %u of %u", l->entry, g->config->kernels_entries);
    else if (g->busy && !g->resumes && g->dispatching == l)
        lw_printf(out, "in dispatch until cycle %" PRIu64, g->ready_at);
    else if (l->arrived > now)
        lw_printf(out, "arrives in cycle %" PRIu64, l->arrived);
    else
        lw_put(out, "waits for the dispatcher");
    if (l->missed)
        lw_put(out, ", a block group that found no kernel");
}

struct tim_launch_memory tim_grid_memory(const struct tim_config *config, unsigned pending, unsigned depth)
{
    const uint64_t more = pending > config->kernels_reserved_free ? pending - config->kernels_reserved_free : 0;

    return (struct tim_launch_memory){
        .launches = UINT64_C(1024) * config->kernels_reserved_core * config->core_count + more * config->kernels_reserved_launch,
        .levels = UINT64_C(1024) * config->kernels_reserved_level * config->core_count * depth};
}

void tim_grid_show(const struct tim_grid *g, uint64_t now, struct lw_sink *out)
{
    const struct tim_blocks_policy *row = g->blocks->row;

    lw_printf(out, "%zu launches, %" PRIu64 " of %u entries of the distributor taken, block scheduler %s\n", g->count, g->entries,
              g->config->kernels_entries, row->name);
    for (const struct tim_launch *l = g->launches.first; l != NULL; l = l->next) {
        lw_printf(out, "launch %u, %s: ", l->sequence, l->shape.kernel->name);
        put_state(g, l, now, out);
        if (l->grid == NULL) {
            lw_printf(out, "; the launch has completed, but %" PRIu64 " block groups have not\n", l->groups);
            continue;
        }
        lw_printf(out, "; %" PRIu64 " of %" PRIu64 " blocks placed, %" PRIu64 " on cores", l->grid->blocks_placed,
                  l->grid->block_count, l->out);
        if (l->suspended != 0)
            lw_printf(out, ", %" PRIu64 " wait for launches", l->suspended);
        if (l->groups != 0)
            lw_printf(out, ", %" PRIu64 " block groups", l->groups);
        if (row->why != NULL) {
            lw_put(out, "; ");
            row->why(g->blocks, l, out);
        }
        if (l->grid->parent.grid != 0)
            lw_put(out, "\n  ");
        put_origin(l, now, out);
        if (g->reach != NULL) {
            lw_put(out, "\n  ");
            tim_reach_print(g->reach, l->grid, out);
        }
        lw_put(out, "\n");
    }
    if (g->dvfs != NULL)
        tim_dvfs_show(g, now, out);
    if (g->config->dtbl_on)
        tim_dtbl_show(g, out);
    if (row->show != NULL)
        row->show(g->blocks, out);
}

void tim_grid_why(const struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear, uint64_t now,
                  struct lw_sink *out)
{
    const struct tim_blocks_policy *row = g->blocks->row;

    if (g->dvfs != NULL)
        tim_dvfs_why(g, core, now, out);
    for (const struct tim_launch *l = g->launches.first; l != NULL; l = l->next) {
        if (l->grid != grid)
            continue;
        if (row->why_block != NULL)
            row->why_block(g->blocks, l, core, linear, out);
        if (grid->parent.grid == 0)
            continue;
        lw_put(out, "\nthe warp's block: ");
        put_state(g, l, now, out);
        lw_put(out, ", ");
        put_origin(l, now, out);
        if (row->why != NULL) {
            lw_put(out, ", ");
            row->why(g->blocks, l, out);
        }
    }
}
