/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management and block dispatch. The dispatcher processes one launch at a time. The launch with the highest
 * priority goes first, if the block scheduler defines priorities; then the launch that arrived first; then launches by
 * the device; then the lowest sequence number. The block scheduler selects each block and its core. Source:
 * specifications of the dynamic parallelism thesis, sections 3.2 and 3.3, and of the book, section 17.1.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

static void list_append(struct tim_launches *list, struct tim_launch *l)
{
    l->previous = list->last;
    l->next = NULL;
    *(l->previous != NULL ? &l->previous->next : &list->first) = l;
    list->last = l;
}

static void list_remove(struct tim_launches *list, struct tim_launch *l)
{
    *(l->previous != NULL ? &l->previous->next : &list->first) = l->next;
    *(l->next != NULL ? &l->next->previous : &list->last) = l->previous;
}

static void free_all(struct tim_launches *list)
{
    for (struct tim_launch *l = list->first, *next; l != NULL; l = next) {
        next = l->next;
        if (l->grid != NULL)
            l->grid->engine_launch = NULL;
        free(l);
    }
}

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
    if (config->dvfs_on) {
        g->dvfs = tim_dvfs_create(config);
        if (g->dvfs == NULL)
            return false;
    }
    if (config->dtbl_on)
        g->table = calloc(config->dtbl_entries, sizeof(struct tim_launch *));
    return g->table != NULL || !config->dtbl_on;
}

void tim_grid_fini(struct tim_grid *g)
{
    free_all(&g->launches);
    free_all(&g->noted);
    free(g->resume);
    free(g->table);
    free(g->dvfs);
    if (g->blocks != NULL)
        g->blocks->row->destroy(g->blocks);
}

/** Records a change after which the block scheduler may find a block to place. */
static void changed(struct tim_grid *g)
{
    g->still_until = 0;
    g->changes++;
}

/* ---- launches ------------------------------------------------------------------------------- */

bool tim_grid_knows(const struct emu_grid *grid)
{
    const struct tim_launch *l = grid->engine_launch;

    return l != NULL && l->code != NULL;
}

static struct tim_launch *launch_of(const struct emu_grid *grid)
{
    assert(tim_grid_knows(grid));
    return grid->engine_launch;
}

size_t tim_grid_stats(const struct emu_grid *grid)
{
    return launch_of(grid)->stats;
}

/** Returns true if the dispatcher processes @a before @b when both have the same priority. */
static bool goes_before(const struct tim_launch *a, const struct tim_launch *b)
{
    const bool device_a = a->of_device, device_b = b->of_device;

    if (a->arrived != b->arrived)
        return a->arrived < b->arrived;
    return device_a != device_b ? device_a : a->sequence < b->sequence;
}

void tim_grid_wait(struct tim_grid *g, struct tim_launch *l)
{
    struct tim_launch *at = g->waiting.last;

    if (g->waiting.first != NULL && goes_before(l, g->waiting.first))
        at = NULL; /* fast path for a launch that lost its entry in the distributor, because the other waiting launches arrived
                    * later */
    while (at != NULL && goes_before(l, at))
        at = at->earlier;
    l->earlier = at;
    l->later = at != NULL ? at->later : g->waiting.first;
    *(at != NULL ? &at->later : &g->waiting.first) = l;
    *(l->later != NULL ? &l->later->earlier : &g->waiting.last) = l;
    l->waits = true;
}

void tim_grid_wait_no_longer(struct tim_grid *g, struct tim_launch *l)
{
    if (!l->waits)
        return;
    *(l->earlier != NULL ? &l->earlier->later : &g->waiting.first) = l->later;
    *(l->later != NULL ? &l->later->earlier : &g->waiting.last) = l->earlier;
    l->waits = false;
}

static struct tim_launch *create(struct emu_grid *grid, uint64_t now)
{
    struct tim_launch *l = calloc(1, sizeof *l);

    if (l != NULL)
        *l = (struct tim_launch){.grid = grid, .sequence = grid->sequence, .launched = now, .from_core = UINT_MAX};
    return l;
}

bool tim_grid_note(struct tim_grid *g, struct emu_grid *grid, uint64_t now, const struct tim_launcher *from)
{
    struct tim_launch *l = create(grid, now);

    if (l == NULL)
        return false;
    l->from_core = from->core;
    l->from_thread = from->thread;
    grid->engine_launch = l;
    list_append(&g->noted, l);
    return true;
}

uint64_t tim_grid_device_arrival(struct tim_grid *g, uint64_t at)
{
    if (g->config->kernels_fixed == 0 || g->config->kernels_ideal)
        return at;
    if (g->device_from == 0)
        g->device_from = at + g->config->kernels_fixed;
    return at > g->device_from ? at : g->device_from;
}

bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code, uint64_t now, uint64_t delay,
                  bool launches, size_t stats)
{
    struct tim_launch *l = grid->engine_launch;

    if (l != NULL)
        list_remove(&g->noted, l);
    else
        l = create(grid, now);
    if (l == NULL)
        return false;
    grid->engine_launch = l;
    list_append(&g->launches, l);
    g->count++;
    l->code = code;
    l->arrived = now + delay;
    l->stats = stats;
    l->shape = grid->launch;
    l->of_device = grid->parent.grid != 0;
    if (l->of_device) {
        l->from_thread += grid->parent.lane;
        l->command = launches ? g->commands + 1 : UINT64_MAX - grid->sequence; /* if @launches is false, a number that no
                                                                                * other launch has */
        l->bytes = (grid->launch.kernel->param_bytes + 32 + 255) / 256 * 256;
    }
    l->asks = tim_dtbl_takes(g->config, grid);
    if (l->of_device && !l->asks)
        l->arrived = tim_grid_device_arrival(g, l->arrived);
    g->asking += l->asks;
    if (g->blocks->row->arrives != NULL)
        g->blocks->row->arrives(g->blocks, l);
    if (!l->asks)
        tim_grid_wait(g, l);
    changed(g);
    return true;
}

/** Separates a launch, whose blocks have all ended, from its grid, because emu may reuse the grid. */
static void detach(struct tim_launch *l)
{
    l->grid->engine_launch = NULL;
    l->grid = NULL;
}

static void forget(struct tim_grid *g, struct tim_launch *l)
{
    tim_grid_wait_no_longer(g, l);
    list_remove(&g->launches, l);
    g->count--;
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
    return l->grid != NULL && l->grid->blocks_placed < l->grid->block_count && tim_grid_has_level(g, l);
}

struct tim_launch *tim_grid_unit(const struct tim_grid *g, const struct tim_launch *entry)
{
    if (tim_grid_gives(g, entry))
        return (struct tim_launch *)entry;
    for (struct tim_launch *l = entry->next_group; l != NULL; l = l->next_group)
        if (tim_grid_gives(g, l))
            return l;
    return NULL;
}

/** Returns true if a suspended block of @l or of its block groups has been dispatched or, if @soon, is in dispatch. */
static bool comes_back(const struct tim_grid *g, const struct tim_launch *l, bool soon)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (tim_grid_owner(launch_of(g->resume[i].grid)) == l &&
            (g->resume[i].distributed ||
             (soon && g->busy && g->resumes && g->resuming == i)))
            return true;
    return false;
}

size_t tim_grid_resume_of(const struct tim_grid *g, const struct tim_launch *l, bool fits)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (g->resume[i].distributed && tim_grid_owner(launch_of(g->resume[i].grid)) == l &&
            (!fits || tim_core_has_capacity(g->cores[g->resume[i].core], g->resume[i].grid)))
            return i;
    return SIZE_MAX;
}

/* ---- the dispatcher ----------------------------------------------------------------------------- */

/** Item to dispatch: a launch, or a suspended block that resumes. */
struct command {
    struct tim_launch *launch;
    uint64_t arrived;
    size_t resume;     /* index in tim_grid.resume of the block that resumes; SIZE_MAX: the item is the launch itself */
    unsigned priority; /* 1 + priority by the block scheduler; 0: the block scheduler defines no priorities, or the item has
                        * not arrived */
};

static bool command_before(const struct command *a, const struct command *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->arrived != b->arrived)
        return a->arrived < b->arrived;
    if (a->launch->of_device != b->launch->of_device)
        return a->launch->of_device;
    if (a->launch != b->launch)
        return a->launch->sequence < b->launch->sequence;
    return a->resume != SIZE_MAX && b->resume == SIZE_MAX;
}

/** Replaces *best by the item for @l, or for block @resume of @l, if the dispatcher processes this item before *best. */
static void consider(const struct tim_grid *g, uint64_t now, struct tim_launch *l, uint64_t arrived, size_t resume,
                     struct command *best)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    struct command c = {l, arrived, resume, 0};

    if (row->priority != NULL && arrived <= now)
        c.priority = 1 + row->priority(g->blocks, l);
    if (best->launch == NULL || command_before(&c, best))
        *best = c;
}

/** Sets *best to the next item to dispatch, which may arrive only after cycle @now. Returns false if there is none. */
static bool next_command(const struct tim_grid *g, uint64_t now, struct command *best)
{
    const bool entry = g->entries < g->config->kernels_entries;

    *best = (struct command){.launch = NULL};
    for (struct tim_launch *l = g->waiting.first; entry && l != NULL; l = l->later) {
        if (l->grid == NULL || tim_grid_unit(g, l) == NULL)
            continue;
        consider(g, now, l, l->arrived, SIZE_MAX, best);
        if (g->blocks->row->priority == NULL) /* without priorities, the list is in dispatch order, so no later launch is
                                               * dispatched before this one */
            break;
    }
    for (size_t i = 0; i < g->resume_count; i++) {
        const struct tim_resume *r = &g->resume[i];
        struct tim_launch *l = launch_of(r->grid);

        if (!r->distributed && (entry || tim_grid_owner(l)->distributed))
            consider(g, now, l, r->arrived, i, best);
    }
    return best->launch != NULL;
}

static void distribute(struct tim_grid *g, uint64_t now)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    struct tim_launch *l = g->resumes ? launch_of(g->resume[g->resuming].grid) : g->dispatching;
    struct tim_launch *owner = tim_grid_owner(l);
    const bool enters = !owner->distributed;

    if (g->resumes)
        g->resume[g->resuming].distributed = true;
    if (enters)
        owner->entered = ++g->entered;
    owner->distributed = true;
    tim_grid_wait_no_longer(g, owner);
    g->busy = false;
    changed(g);
    if (enters && row->enters != NULL && owner->grid != NULL)
        row->enters(g->blocks, owner, now);
    for (struct tim_launch *group = owner->next_group; enters && row->enters != NULL && group != NULL;
         group = group->next_group)
        row->enters(g->blocks, group, now);
    if (g->distributed != NULL)
        g->distributed(g->context, l->stats, now);
}

static void take_entry(struct tim_grid *g, struct tim_launch *l)
{
    unsigned i = 0;

    while (~g->entry_used[i] == 0)
        i++;
    l->entry = i * 64 + lw_lowest(~g->entry_used[i]);
    g->entry_used[i] |= UINT64_C(1) << l->entry % 64;
    g->entry[l->entry] = l;
    g->entries++;
}

static void free_entry(struct tim_grid *g, const struct tim_launch *l)
{
    g->entry_used[l->entry / 64] &= ~(UINT64_C(1) << l->entry % 64);
    g->entries--;
}

/** Removes from the distributor the entries of kernels that have neither blocks on cores nor blocks to place. These kernels wait
 *  for the dispatcher again, because suspended blocks may resume and block groups may join. */
static void give_back(struct tim_grid *g)
{
    for (unsigned i = 0; i < TIM_ENTRIES_MOST / 64; i++)
        for (uint64_t left = g->entry_used[i]; left != 0; left &= left - 1) {
            struct tim_launch *l = g->entry[i * 64 + lw_lowest(left)];

            if (!l->distributed || l->executes != 0 || (l->grid == NULL && l->groups == 0) ||
                tim_grid_unit(g, l) != NULL || comes_back(g, l, true))
                continue;
            l->distributed = false;
            free_entry(g, l);
            tim_grid_wait(g, l);
        }
}

/** With dtbl: removes kernels that have ended and whose block groups have all ended. */
static void release(struct tim_grid *g)
{
    for (struct tim_launch *l = g->launches.first, *next; l != NULL; l = next) {
        next = l->next;
        if (l->grid != NULL || l->groups != 0)
            continue;
        if (l->distributed)
            free_entry(g, l);
        forget(g, l);
    }
}

/** Runs the dispatcher: moves the item in dispatch to the distributor if its dispatch time has passed, and begins to dispatch
 *  the next item. */
static void dispatch(struct tim_grid *g, uint64_t now)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    struct command c;

    if (g->busy && now >= g->ready_at)
        distribute(g, now);
    give_back(g);
    if (g->busy || !next_command(g, now, &c) || c.arrived > now)
        return;
    g->busy = true;
    g->resumes = c.resume != SIZE_MAX;
    g->dispatching = c.launch;
    g->resuming = c.resume;
    if (!tim_grid_owner(c.launch)->distributed)
        take_entry(g, tim_grid_owner(c.launch));
    g->ready_at = now + (g->config->kernels_ideal ? 0 : g->config->kernels_latency);
    if (row->costs != NULL && !g->config->kernels_ideal)
        g->ready_at += row->costs(g->blocks, c.launch);
    if (g->ready_at == now)
        distribute(g, now);
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

static void bring_back(struct tim_grid *g, struct tim_launch *l, size_t i)
{
    tim_core_resume(g->cores[g->resume[i].core], g->resume[i].slot);
    l->out++;
    tim_grid_owner(l)->executes++;
    l->suspended--;
    g->resume_count--;
    memmove(&g->resume[i], &g->resume[i + 1], (g->resume_count - i) * sizeof *g->resume);
    if (g->busy && g->resumes && g->resuming > i)
        g->resuming--;
}

/** Called when the first block of a launch has been placed: updates the counters of the launch. */
static void begins(struct tim_grid *g, struct tim_launch *l, uint64_t now)
{
    if (g->starts != NULL)
        g->starts(g->context, l->stats);
    if (l->grid->parent.grid == 0)
        return;
    g->gpu[TIM_GPU_device_launches]++;
    g->gpu[TIM_GPU_device_wait] += now - l->launched;
    g->gpu[TIM_GPU_device_bytes] += (now - l->launched) * l->bytes;
}

/** Places the selected block on its core. */
static enum lw_status place(struct tim_grid *g, const struct tim_block_choice *choice, uint64_t now,
                            struct lw_error *err)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    struct tim_launch *l = choice->launch;
    struct emu_grid *grid;
    uint64_t linear;
    enum lw_status status;

    if (choice->resume != SIZE_MAX) {
        bring_back(g, launch_of(g->resume[choice->resume].grid), choice->resume);
        return LW_OK;
    }
    grid = l->grid;
    linear = choice->block != UINT64_MAX ? choice->block : grid->blocks_placed;
    status = tim_core_occupy(g->cores[choice->core], grid, linear, l->code, err);
    if (status == LW_OK)
        status = emu_grid_mark_resident(grid, linear, err);
    if (status != LW_OK)
        return status;
    if (grid->blocks_placed == 1)
        begins(g, l, now);
    l->out++;
    tim_grid_owner(l)->executes++;
    g->gpu[TIM_GPU_dtbl_blocks] += l->kernel != NULL;
    if (grid->blocks_placed == grid->block_count)
        tim_dtbl_placed(g, l);
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
    if (g->dvfs != NULL && tim_dvfs_tick(g, now))
        changed(g);
    if (g->config->dtbl_on) {
        if (tim_dtbl_tick(g, now))
            g->changes++;
        release(g);
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
    g->moved = moved;
    g->still_until = moved ? now : tim_grid_next(g, now + 1);
    return LW_OK;
}

size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear,
                            bool *over)
{
    struct tim_launch *l = launch_of(grid);
    size_t stats = l->stats;

    changed(g);
    l->out--;
    tim_grid_owner(l)->executes--;
    if (g->blocks->row->ends != NULL)
        g->blocks->row->ends(g->blocks, l, core, linear);
    *over = l->out == 0 && l->suspended == 0 && grid->blocks_placed == grid->block_count;
    if (!*over)
        return stats;
    detach(l);
    if (l->kernel != NULL) {
        tim_dtbl_over(g, l);
        forget(g, l);
    } else if (!g->config->dtbl_on) { /* with dtbl, block groups may still join the kernel in this cycle; release() removes it */
        free_entry(g, l);
        forget(g, l);
    }
    return stats;
}

void tim_grid_block_left(struct tim_grid *g, const struct emu_grid *grid)
{
    struct tim_launch *l = launch_of(grid);

    changed(g);
    l->out--;
    tim_grid_owner(l)->executes--;
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

    if (g->busy || g->asking != 0 || next_command(g, now, &c))
        return true;
    if (g->waiting.last != NULL && g->waiting.last->arrived > now)
        return true;
    return g->blocks->row->can(g->blocks) || (g->dvfs != NULL && tim_dvfs_holds(g) && g->blocks->row->waits(g->blocks));
}

uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now)
{
    const struct tim_blocks_policy *row = g->blocks->row;
    uint64_t next = UINT64_MAX;
    struct command c;

    if (g->moved) /* more blocks may fit. A core with a low clock may have no cycle of its own in this cycle. */
        return now;
    if (row->next != NULL)
        next = row->next(g->blocks, now);
    if (g->dvfs != NULL && tim_dvfs_next(g) < next)
        next = tim_dvfs_next(g);
    if (g->asking != 0 && tim_dtbl_next(g) < next)
        next = tim_dtbl_next(g);
    if (g->busy)
        next = g->ready_at < next ? g->ready_at : next;
    else if (next_command(g, now, &c))
        next = c.arrived < next ? c.arrived : next;
    return next < now ? now : next;
}

bool tim_grid_has_more(const struct tim_grid *g)
{
    for (const struct tim_launch *l = g->launches.first; l != NULL; l = l->next)
        if (l->grid != NULL && l->grid->blocks_placed < l->grid->block_count)
            return true;
    return false;
}

bool tim_grid_waits(const struct tim_grid *g)
{
    return g->blocks->row->waits(g->blocks);
}
