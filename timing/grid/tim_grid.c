/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management and block dispatch. Source: specs of the dynamic parallelism thesis 3.2, 3.3;
 * of the book 17.1. The dispatcher takes the launch that arrived first, of equals the device's
 * before the host's, then the lower sequence number, unless the block scheduler has priorities; it
 * carries one at a time. Which block reaches which core is the block scheduler's.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <assert.h>
#include <stdlib.h>

bool tim_grid_init(struct tim_grid *g, const struct tim_config *config)
{
    const struct tim_blocks_policy *row = tim_blocks_policies[config->kernels_policy];

    memset(g, 0, sizeof *g);
    g->config = config;
    g->rescan = true;
    g->blocks = row->create(config);
    if (g->blocks == NULL)
        return false;
    g->blocks->row = row;
    g->blocks->grid = g;
    return true;
}

void tim_grid_fini(struct tim_grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->launch[i]);
    free(g->launch);
    free(g->resume);
    if (g->blocks != NULL)
        g->blocks->row->destroy(g->blocks);
}

/** Something has happened: what was looked at in vain may be possible now. */
static void changed(struct tim_grid *g)
{
    g->still_until = 0;
    g->changes++;
}

/* ---- launches ------------------------------------------------------------------------------- */

static struct tim_launch **list_of(struct tim_grid *g, const struct emu_grid *grid)
{
    return &g->list[(uintptr_t)grid / sizeof *grid % TIM_LAUNCH_LISTS];
}

/** NULL: it is not known. */
static struct tim_launch *find(const struct tim_grid *g, const struct emu_grid *grid)
{
    struct tim_launch *l = *list_of((struct tim_grid *)g, grid);

    while (l != NULL && l->grid != grid)
        l = l->next_alike;
    return l;
}

bool tim_grid_knows(const struct tim_grid *g, const struct emu_grid *grid)
{
    return find(g, grid) != NULL;
}

static struct tim_launch *launch_of(const struct tim_grid *g, const struct emu_grid *grid)
{
    struct tim_launch *l = find(g, grid);

    assert(l != NULL);
    return l;
}

bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code,
                  uint64_t arrived, size_t stats)
{
    struct tim_launch *l, **list = list_of(g, grid);

    if (!lw_grow(&g->launch, &g->room, g->count + 1, sizeof *g->launch))
        return false;
    l = calloc(1, sizeof *l);
    if (l == NULL)
        return false;
    *l = (struct tim_launch){.grid = grid, .code = code, .arrived = arrived, .stats = stats, .next_alike = *list};
    if (g->blocks->row->arrives != NULL && !g->blocks->row->arrives(g->blocks, l)) {
        free(l);
        return false;
    }
    *list = l;
    g->launch[g->count++] = l;
    changed(g);
    return true;
}

/** It is over. */
static void forget(struct tim_grid *g, struct tim_launch *l)
{
    struct tim_launch **at = list_of(g, l->grid);
    size_t i = 0;

    while (*at != l)
        at = &(*at)->next_alike;
    *at = l->next_alike;
    while (g->launch[i] != l)
        i++;
    g->count--;
    memmove(&g->launch[i], &g->launch[i + 1], (g->count - i) * sizeof(struct tim_launch *));
    if (g->busy && !g->resumes && g->dispatching > i)
        g->dispatching--;
    free(l);
}

bool tim_grid_has_level(const struct tim_grid *g, const struct tim_launch *l)
{
    const struct tim_blocks_policy *row = g->blocks->row;

    for (unsigned c = 0; c < g->config->core_count; c++)
        if ((row->allows == NULL || row->allows(g->blocks, l, c)) && !tim_core_level_full(g->cores[c], l->grid))
            return true;
    return false;
}

bool tim_grid_gives(const struct tim_grid *g, const struct tim_launch *l)
{
    return l->grid->blocks_placed < l->grid->block_count && tim_grid_has_level(g, l);
}

/** A suspended block of it has been dispatched, or (@soon) is. */
static bool comes_back(const struct tim_grid *g, const struct tim_launch *l, bool soon)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (g->resume[i].grid == l->grid &&
            (g->resume[i].distributed ||
             (soon && g->busy && g->resumes && g->dispatching == i)))
            return true;
    return false;
}

size_t tim_grid_resume_of(const struct tim_grid *g, const struct tim_launch *l, bool fits)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (g->resume[i].distributed && g->resume[i].grid == l->grid &&
            (!fits || tim_core_has_capacity(g->cores[g->resume[i].core], l->grid)))
            return i;
    return SIZE_MAX;
}

/* ---- the dispatcher ----------------------------------------------------------------------------- */

/** What it may take: a launch, or a block that comes back. */
struct command {
    const struct emu_grid *grid;
    uint64_t arrived;
    bool resumes;
    size_t index;
    unsigned priority; /* for the block scheduler, of one that has arrived */
};

static bool goes_before(const struct command *a, const struct command *b)
{
    bool device_a = a->grid->parent.grid != 0, device_b = b->grid->parent.grid != 0;

    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->arrived != b->arrived)
        return a->arrived < b->arrived;
    if (device_a != device_b)
        return device_a;
    if (a->grid != b->grid)
        return a->grid->sequence < b->grid->sequence;
    return a->resumes && !b->resumes;
}

/** What goes first of what may be dispatched, whenever it arrives, looked at in cycle @now. False: nothing may. */
static bool next_command(const struct tim_grid *g, uint64_t now, struct command *best)
{
    bool entry = g->entries < g->config->kernels_entries, found = false;
    const struct tim_blocks_policy *row = g->blocks->row;

    for (size_t i = 0; entry && i < g->count; i++) {
        const struct tim_launch *l = g->launch[i];
        struct command c = {l->grid, l->arrived, false, i, 0};
        if (l->distributed || !tim_grid_gives(g, l))
            continue;
        if (row->priority != NULL && l->arrived <= now)
            c.priority = 1 + row->priority(g->blocks, l);
        if (!found || goes_before(&c, best))
            *best = c;
        found = true;
    }
    for (size_t i = 0; i < g->resume_count; i++) {
        const struct tim_resume *r = &g->resume[i];
        struct command c = {r->grid, r->arrived, true, i, 0};
        const struct tim_launch *l = launch_of(g, r->grid);
        if (r->distributed || !(entry || l->distributed))
            continue;
        if (row->priority != NULL && r->arrived <= now)
            c.priority = 1 + row->priority(g->blocks, l);
        if (!found || goes_before(&c, best))
            *best = c;
        found = true;
    }
    return found;
}

static void distribute(struct tim_grid *g, uint64_t now)
{
    struct tim_launch *l = g->resumes ? launch_of(g, g->resume[g->dispatching].grid)
                                      : g->launch[g->dispatching];

    if (g->resumes)
        g->resume[g->dispatching].distributed = true;
    if (!l->distributed)
        l->entered = ++g->entered;
    l->distributed = true;
    g->busy = false;
    changed(g);
    if (g->distributed != NULL)
        g->distributed(g->context, l->stats, now);
}

/** Kernels that can do nothing give their entries back. */
static void give_back(struct tim_grid *g)
{
    for (size_t i = 0; i < g->count; i++) {
        struct tim_launch *l = g->launch[i];
        if (l->distributed && l->out == 0 && !tim_grid_gives(g, l) && !comes_back(g, l, true)) {
            l->distributed = false;
            g->entries--;
        }
    }
}

/** Bring what it has to the distributor, take the next. */
static void dispatch(struct tim_grid *g, uint64_t now)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    struct command c;

    if (g->busy && now >= g->ready_at)
        distribute(g, now);
    give_back(g);
    if (g->busy || !next_command(g, now, &c) || c.arrived > now)
        return;
    struct tim_launch *l = launch_of(g, c.grid);
    g->busy = true;
    g->resumes = c.resumes;
    g->dispatching = c.index;
    g->entries += !l->distributed;
    g->ready_at = now + g->config->kernels_latency;
    if (row->costs != NULL)
        g->ready_at += row->costs(g->blocks, l);
    if (g->ready_at == now)
        distribute(g, now);
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

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

/** What the block scheduler has chosen reaches its core. */
static enum lw_status place(struct tim_grid *g, const struct tim_block_choice *choice, uint64_t now,
                            struct lw_error *err)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    struct tim_launch *l = choice->launch;
    struct emu_grid *grid = l->grid;
    const uint64_t linear = grid->blocks_placed;
    enum lw_status status;

    if (choice->resume != SIZE_MAX) {
        bring_back(g, l, choice->resume);
        return LW_OK;
    }
    status = tim_core_occupy(g->cores[choice->core], grid, linear, l->code, err);
    if (status != LW_OK)
        return status;
    if (grid->blocks_placed++ == 0 && g->starts != NULL)
        g->starts(g->context, l->stats);
    l->out++;
    if (row->begins != NULL)
        row->begins(g->blocks, l, choice->core, linear, now);
    return LW_OK;
}

enum lw_status tim_grid_tick(struct tim_grid *g, uint64_t now, struct lw_error *err)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    bool waited = false, moved = false;

    if (g->skips && now < g->still_until) {
        g->idle += g->waited;
        return LW_OK;
    }
    dispatch(g, now);
    for (unsigned n = 0; n < g->config->kernels_blocks_a_cycle; n++) {
        struct tim_block_choice choice;
        if (!row->picks(g->blocks, now, &choice)) {
            waited = n == 0 && row->waits(g->blocks);
            break;
        }
        enum lw_status status = place(g, &choice, now, err);
        if (status != LW_OK)
            return status;
        moved = true;
    }
    g->idle += waited;
    g->waited = waited;
    g->still_until = moved ? now : tim_grid_next(g, now + 1);
    return LW_OK;
}

size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear,
                            bool *over)
{
    struct tim_launch *l = launch_of(g, grid);
    size_t stats = l->stats;

    changed(g);
    l->out--;
    if (g->blocks->row->ends != NULL)
        g->blocks->row->ends(g->blocks, l, core, linear);
    *over = l->out == 0 && l->suspended == 0 && grid->blocks_placed == grid->block_count;
    if (*over) {
        g->entries--;
        forget(g, l);
    }
    return stats;
}

void tim_grid_block_left(struct tim_grid *g, const struct emu_grid *grid)
{
    struct tim_launch *l = launch_of(g, grid);

    changed(g);
    l->out--;
    l->suspended++;
}

bool tim_grid_resume(struct tim_grid *g, struct emu_grid *grid, unsigned core, unsigned slot,
                     uint64_t arrived)
{
    changed(g);
    if (!lw_grow(&g->resume, &g->resume_capacity, g->resume_count + 1, sizeof *g->resume))
        return false;
    g->resume[g->resume_count++] =
        (struct tim_resume){.grid = grid, .core = core, .slot = slot, .arrived = arrived};
    return true;
}

bool tim_grid_is_busy(const struct tim_grid *g, uint64_t now)
{
    struct command c;

    if (g->busy || next_command(g, now, &c))
        return true;
    for (size_t i = 0; i < g->count; i++)
        if (g->launch[i]->arrived > now)
            return true;
    return g->blocks->row->can(g->blocks);
}

uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    uint64_t next = UINT64_MAX;
    struct command c;

    if (row->next != NULL)
        next = row->next(g->blocks, now);
    if (g->busy)
        c.arrived = g->ready_at;
    else if (!next_command(g, now, &c))
        return next;
    if (c.arrived < next)
        next = c.arrived;
    return next < now ? now : next;
}

bool tim_grid_has_more(const struct tim_grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->launch[i]->grid->blocks_placed < g->launch[i]->grid->block_count)
            return true;
    return false;
}

bool tim_grid_waits(const struct tim_grid *g)
{
    return g->blocks->row->waits(g->blocks);
}
