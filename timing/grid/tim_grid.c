/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management and block dispatch. Source: specs of the dynamic parallelism thesis 3.2, 3.3; of the book
 * 17.1. The dispatcher processes one launch at a time: the one that arrived first; of equals the device's
 * before the host's, then the lower sequence number. Blocks leave in the order of the distributor's entries:
 * a kernel whose next block fits nowhere delays later kernels, unless kernels.bypass lets them pass.
 */
#include "timing/grid/tim_grid_priv.h"

#include <stdlib.h>

/** Round robin: returns the next core after that of the last block on which the block fits. */
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
    g->rescan = true;
}

void tim_grid_fini(struct tim_grid *g)
{
    free(g->launch);
    free(g->resume);
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
    g->still_until = 0;
    g->launch[g->count++] = (struct tim_launch){.grid = grid, .code = code, .arrived = arrived,
                                                .stats = stats};
    return true;
}

static struct tim_launch *launch_of(const struct tim_grid *g, const struct emu_grid *grid)
{
    size_t i = 0;

    while (g->launch[i].grid != grid)
        i++;
    return &g->launch[i];
}

/** Returns true if some core has capacity for a block at its nesting level. */
static bool has_level(const struct tim_grid *g, const struct emu_grid *grid)
{
    for (unsigned c = 0; c < g->config->core_count; c++)
        if (!tim_core_level_full(g->cores[c], grid))
            return true;
    return false;
}

/** Returns true if it has blocks that have never been on a core, and may be. */
static bool gives(const struct tim_grid *g, const struct tim_launch *l)
{
    return l->grid->blocks_placed < l->grid->block_count && has_level(g, l->grid);
}

/** Returns true if a suspended block of it has been dispatched, or (@soon) is being dispatched. */
static bool comes_back(const struct tim_grid *g, const struct tim_launch *l, bool soon)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (g->resume[i].grid == l->grid &&
            (g->resume[i].distributed ||
             (soon && g->busy && g->resumes && g->dispatching == i)))
            return true;
    return false;
}

/* ---- the dispatcher ----------------------------------------------------------------------------- */

/** Item to dispatch: a launch, or a block that resumes. */
struct command {
    const struct emu_grid *grid;
    uint64_t arrived;
    bool resumes;
    size_t index;
};

static bool goes_before(const struct command *a, const struct command *b)
{
    bool device_a = a->grid->parent.grid != 0, device_b = b->grid->parent.grid != 0;

    if (a->arrived != b->arrived)
        return a->arrived < b->arrived;
    if (device_a != device_b)
        return device_a;
    if (a->grid != b->grid)
        return a->grid->sequence < b->grid->sequence;
    return a->resumes && !b->resumes;
}

/** Gets the next item to dispatch, even if it arrives later. Returns false if there is none. */
static bool next_command(const struct tim_grid *g, struct command *best)
{
    bool entry = g->entries < g->config->kernels_entries, found = false;

    for (size_t i = 0; entry && i < g->count; i++) {
        const struct tim_launch *l = &g->launch[i];
        struct command c = {l->grid, l->arrived, false, i};
        if (l->distributed || !gives(g, l))
            continue;
        if (!found || goes_before(&c, best))
            *best = c;
        found = true;
    }
    for (size_t i = 0; i < g->resume_count; i++) {
        const struct tim_resume *r = &g->resume[i];
        struct command c = {r->grid, r->arrived, true, i};
        if (r->distributed || !(entry || launch_of(g, r->grid)->distributed))
            continue;
        if (!found || goes_before(&c, best))
            *best = c;
        found = true;
    }
    return found;
}

static void distribute(struct tim_grid *g, uint64_t now)
{
    struct tim_launch *l = g->resumes ? launch_of(g, g->resume[g->dispatching].grid)
                                      : &g->launch[g->dispatching];

    if (g->resumes)
        g->resume[g->dispatching].distributed = true;
    if (!l->distributed)
        l->entered = ++g->entered;
    l->distributed = true;
    g->busy = false;
    if (g->distributed != NULL)
        g->distributed(g->context, l->stats, now);
}

/** Removes the entries of kernels that can do nothing. */
static void give_back(struct tim_grid *g)
{
    for (size_t i = 0; i < g->count; i++) {
        struct tim_launch *l = &g->launch[i];
        if (l->distributed && l->out == 0 && !gives(g, l) && !comes_back(g, l, true)) {
            l->distributed = false;
            g->entries--;
        }
    }
}

/** Brings the current item to the distributor, and takes the next. */
static void dispatch(struct tim_grid *g, uint64_t now)
{
    struct command c;

    if (g->busy && now >= g->ready_at)
        distribute(g, now);
    give_back(g);
    if (g->busy || !next_command(g, &c) || c.arrived > now)
        return;
    g->busy = true;
    g->resumes = c.resumes;
    g->dispatching = c.index;
    g->entries += !launch_of(g, c.grid)->distributed;
    g->ready_at = now + g->config->kernels_latency;
    if (g->config->kernels_latency == 0)
        distribute(g, now);
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

/** Returns the first entry after @after that has blocks to send; SIZE_MAX: none. */
static size_t next_entry(const struct tim_grid *g, uint64_t after)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < g->count; i++) {
        const struct tim_launch *l = &g->launch[i];
        if (l->distributed && l->entered > after && (gives(g, l) || comes_back(g, l, false)) &&
            (found == SIZE_MAX || l->entered < g->launch[found].entered))
            found = i;
    }
    return found;
}

/** Returns the first resuming block of @l for which its core has capacity; SIZE_MAX: none. */
static size_t next_resume(const struct tim_grid *g, const struct tim_launch *l)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (g->resume[i].distributed && g->resume[i].grid == l->grid &&
            tim_core_has_capacity(g->cores[g->resume[i].core], l->grid))
            return i;
    return SIZE_MAX;
}

static void bring_back(struct tim_grid *g, struct tim_launch *l, size_t i)
{
    tim_core_resume(g->cores[g->resume[i].core], g->resume[i].slot);
    l->out++;
    l->suspended--;
    g->resume_count--;
    memmove(&g->resume[i], &g->resume[i + 1], (g->resume_count - i) * sizeof *g->resume);
    if (g->busy && g->resumes && g->dispatching > i)
        g->dispatching--;
}

/** Sends one block of entry @i to a core. *@placed is set if there was capacity. */
static enum lw_status start_one(struct tim_grid *g, size_t i, bool *placed, struct lw_error *err)
{
    struct tim_blocks_view view = {g->config, g->cores};
    struct tim_launch *l = &g->launch[i];
    struct emu_grid *grid = l->grid;
    enum lw_status status = LW_OK;
    int core;

    *placed = false;
    if (comes_back(g, l, false)) {
        size_t resume = next_resume(g, l);
        *placed = resume != SIZE_MAX;
        if (*placed)
            bring_back(g, l, resume);
        return LW_OK;
    }
    core = tim_blocks_policies[g->config->kernels_policy].pick(&view, grid, &g->next);
    if (core < 0)
        return LW_OK;
    status = tim_core_occupy(g->cores[core], grid, grid->blocks_placed, l->code, err);
    if (status != LW_OK)
        return status;
    *placed = true;
    if (grid->blocks_placed++ == 0 && g->starts != NULL)
        g->starts(g->context, l->stats);
    l->out++;
    return LW_OK;
}

enum lw_status tim_grid_tick(struct tim_grid *g, uint64_t now, struct lw_error *err)
{
    bool waited = false, moved = false;

    if (g->skips && now < g->still_until) {
        g->idle += g->waited;
        return LW_OK;
    }
    dispatch(g, now);
    for (unsigned n = 0; n < g->config->kernels_blocks_a_cycle; n++) {
        size_t i = next_entry(g, 0);
        bool placed = false;
        while (i != SIZE_MAX) {
            enum lw_status status = start_one(g, i, &placed, err);
            if (status != LW_OK)
                return status;
            moved = moved || placed;
            if (placed || !g->config->kernels_bypass)
                break;
            i = next_entry(g, g->launch[i].entered);
        }
        if (!placed) {
            waited = n == 0 && next_entry(g, 0) != SIZE_MAX;
            break;
        }
    }
    g->idle += waited;
    g->waited = waited;
    g->still_until = moved ? now : tim_grid_next(g, now + 1);
    return LW_OK;
}

size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, bool *over)
{
    size_t i = (size_t)(launch_of(g, grid) - g->launch), stats = g->launch[i].stats;

    g->still_until = 0;
    g->launch[i].out--;
    *over = g->launch[i].out == 0 && g->launch[i].suspended == 0 &&
            grid->blocks_placed == grid->block_count;
    if (*over) {
        g->entries--;
        g->count--;
        memmove(&g->launch[i], &g->launch[i + 1], (g->count - i) * sizeof *g->launch);
        if (g->busy && !g->resumes && g->dispatching > i)
            g->dispatching--;
    }
    return stats;
}

void tim_grid_block_left(struct tim_grid *g, const struct emu_grid *grid)
{
    struct tim_launch *l = launch_of(g, grid);

    g->still_until = 0;
    l->out--;
    l->suspended++;
}

bool tim_grid_resume(struct tim_grid *g, struct emu_grid *grid, unsigned core, unsigned slot,
                     uint64_t arrived)
{
    g->still_until = 0;
    if (!lw_grow(&g->resume, &g->resume_capacity, g->resume_count + 1, sizeof *g->resume))
        return false;
    g->resume[g->resume_count++] =
        (struct tim_resume){.grid = grid, .core = core, .slot = slot, .arrived = arrived};
    return true;
}

bool tim_grid_is_busy(const struct tim_grid *g, uint64_t now)
{
    struct command c;

    if (g->busy || next_command(g, &c))
        return true;
    for (size_t i = 0; i < g->count; i++)
        if (g->launch[i].arrived > now)
            return true;
    for (size_t i = next_entry(g, 0); i != SIZE_MAX;
         i = g->config->kernels_bypass ? next_entry(g, g->launch[i].entered) : SIZE_MAX) {
        if (comes_back(g, &g->launch[i], false)) {
            if (next_resume(g, &g->launch[i]) != SIZE_MAX)
                return true;
            continue;
        }
        for (unsigned k = 0; k < g->config->core_count; k++)
            if (tim_core_fits(g->cores[k], g->launch[i].grid))
                return true;
    }
    return false;
}

uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now)
{
    struct command c;

    if (g->busy)
        return g->ready_at < now ? now : g->ready_at;
    if (!next_command(g, &c))
        return UINT64_MAX;
    return c.arrived < now ? now : c.arrived;
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
