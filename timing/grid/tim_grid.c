/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management and block dispatch. Source: specs of the dynamic parallelism thesis 3.2, 3.3;
 * of the book 17.1. The dispatcher takes the launch that arrived first, of equals the device's
 * before the host's, then the lower sequence number; it carries one at a time. Blocks leave in the
 * order of the distributor's entries: a kernel whose next block fits nowhere holds up the later
 * ones, unless kernels.bypass lets them pass.
 */
#include "timing/grid/tim_grid_priv.h"

#include <stdlib.h>

/** Round robin: the next core behind the one that got the last block on which it fits. */
static int pick_rr(const struct tim_blocks_view *view, const struct emu_grid *grid, unsigned *next)
{
    unsigned count = view->config->core_count;

    for (unsigned n = 0; n < count; n++) {
        unsigned c = (*next + n) % count;
        if (tim_core_fits(view->core[c], grid)) {
            *next = (c + 1) % count;
            return (int)c;
        }
    }
    return -1;
}

/* clang-format off */
const struct tim_blocks_policy tim_blocks_policies[] = {
    {"rr", "round robin over the cores on which a block fits", pick_rr},
};
/* clang-format on */

void tim_grid_init(struct tim_grid *g, const struct tim_config *config)
{
    memset(g, 0, sizeof *g);
    g->config = config;
    g->look = true;
}

void tim_grid_fini(struct tim_grid *g)
{
    free(g->launch);
}

bool tim_grid_knows(const struct tim_grid *g, const struct emu_grid *grid)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->launch[i].grid == grid)
            return true;
    return false;
}

bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code,
                  uint64_t arrived, size_t stats)
{
    if (!lw_grow(&g->launch, &g->room, g->count + 1, sizeof *g->launch))
        return false;
    g->launch[g->count++] = (struct tim_launch){.grid = grid, .code = code, .arrived = arrived,
                                                .stats = stats};
    return true;
}

static bool goes_before(const struct tim_launch *a, const struct tim_launch *b)
{
    bool device_a = a->grid->parent.grid != 0, device_b = b->grid->parent.grid != 0;

    if (a->arrived != b->arrived)
        return a->arrived < b->arrived;
    if (device_a != device_b)
        return device_a;
    return a->grid->sequence < b->grid->sequence;
}

/** The dispatcher: bring what it has to the distributor, take the next. */
static void dispatch(struct tim_grid *g, uint64_t now)
{
    size_t best = SIZE_MAX;

    if (g->busy && now >= g->ready_at) {
        g->launch[g->dispatching].distributed = true;
        g->launch[g->dispatching].entered = ++g->entered;
        g->busy = false;
    }
    if (g->busy || g->entries == g->config->kernels_entries)
        return;
    for (size_t i = 0; i < g->count; i++)
        if (!g->launch[i].distributed && g->launch[i].arrived <= now &&
            (best == SIZE_MAX || goes_before(&g->launch[i], &g->launch[best])))
            best = i;
    if (best == SIZE_MAX)
        return;
    g->entries++;
    g->busy = true;
    g->dispatching = best;
    g->ready_at = now + g->config->kernels_latency;
    if (g->config->kernels_latency == 0) {
        g->launch[best].distributed = true;
        g->launch[best].entered = ++g->entered;
        g->busy = false;
    }
}

/** The first entry behind @after that has blocks to give; SIZE_MAX: none. */
static size_t next_entry(const struct tim_grid *g, uint64_t after)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < g->count; i++) {
        const struct tim_launch *l = &g->launch[i];
        if (l->distributed && l->entered > after &&
            l->grid->blocks_placed < l->grid->block_count &&
            (found == SIZE_MAX || l->entered < g->launch[found].entered))
            found = i;
    }
    return found;
}

enum lw_status tim_grid_tick(struct tim_grid *g, struct tim_core *const *cores, uint64_t now,
                             struct lw_error *err)
{
    struct tim_blocks_view view = {g->config, cores};
    enum lw_status status;
    bool waited = false;

    dispatch(g, now);
    for (unsigned n = 0; n < g->config->kernels_blocks_a_cycle; n++) {
        size_t i = next_entry(g, 0);
        int core = -1;
        while (i != SIZE_MAX) {
            core = tim_blocks_policies[g->config->kernels_policy].pick(&view, g->launch[i].grid,
                                                                       &g->next);
            if (core >= 0 || !g->config->kernels_bypass)
                break;
            i = next_entry(g, g->launch[i].entered);
        }
        if (core < 0) {
            waited = next_entry(g, 0) != SIZE_MAX && n == 0;
            break;
        }
        struct emu_grid *grid = g->launch[i].grid;
        status = tim_core_place(cores[core], grid, grid->blocks_placed, g->launch[i].code, err);
        if (status != LW_OK)
            return status;
        grid->blocks_placed++;
        g->launch[i].out++;
    }
    g->idle += waited;
    return LW_OK;
}

size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, bool *over)
{
    size_t i = 0, stats;

    while (g->launch[i].grid != grid)
        i++;
    stats = g->launch[i].stats;
    g->launch[i].out--;
    *over = g->launch[i].out == 0 && grid->blocks_placed == grid->block_count;
    if (*over) {
        g->entries--;
        g->count--;
        memmove(&g->launch[i], &g->launch[i + 1], (g->count - i) * sizeof *g->launch);
        if (g->busy && g->dispatching > i)
            g->dispatching--;
    }
    return stats;
}

bool tim_grid_is_busy(const struct tim_grid *g, struct tim_core *const *cores, uint64_t now)
{
    if (g->busy)
        return true;
    for (size_t i = 0; i < g->count; i++) {
        const struct tim_launch *l = &g->launch[i];
        if (l->arrived > now || (!l->distributed && g->entries < g->config->kernels_entries))
            return true;
    }
    for (size_t i = next_entry(g, 0); i != SIZE_MAX;
         i = g->config->kernels_bypass ? next_entry(g, g->launch[i].entered) : SIZE_MAX)
        for (unsigned c = 0; c < g->config->core_count; c++)
            if (tim_core_fits(cores[c], g->launch[i].grid))
                return true;
    return false;
}

uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now)
{
    uint64_t next = g->busy ? g->ready_at : UINT64_MAX;

    for (size_t i = 0; i < g->count && !g->busy && g->entries < g->config->kernels_entries; i++)
        if (!g->launch[i].distributed && g->launch[i].arrived < next)
            next = g->launch[i].arrived;
    return next < now ? now : next;
}

bool tim_grid_has_more(const struct tim_grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->launch[i].grid->blocks_placed < g->launch[i].grid->block_count)
            return true;
    return false;
}

bool tim_grid_waits(const struct tim_grid *g)
{
    return next_entry(g, 0) != SIZE_MAX;
}
