/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two-level warp pools: warps of the active pool may issue, the others are pending. Source: specification of address
 * pre-computation, sections 7.3 and 7.6. The source leaves two choices open. In this model each scheduler has a pool, and if
 * several warps wait for memory, the one in the lowest slot leaves the active pool first.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdlib.h>

/** State of a warp, which determines whether it may be in the active pool. */
enum state {
    READY, /* the warp waits for nothing, or for an event within the core */
    MISS,  /* the warp waits for memory outside the core */
    OUT,   /* the warp waits at a barrier, for a launch, or sleeps */
    GONE   /* the warp has ended, or the slot is empty */
};
/** The active warps of a scheduler, and the queue of its pending warps. Warps are identified by their slot divided by the
 *  number of schedulers. */
struct pool {
    uint64_t active[TIM_MAX_WARPS / 64];
    unsigned size;                 /* number of warps in `active` */
    unsigned queued;               /* number of pending warps */
    uint16_t queue[TIM_MAX_WARPS];
    uint64_t assigned;             /* value of tim_mech_core.assigned at the last update */
    uint64_t known[TIM_MAX_WARPS / 64]; /* set of active and pending warps; a bit is valid only if `age` is the age of the slot's
                                         * warp */
    uint64_t age[TIM_MAX_WARPS];   /* age of the warp when it was added */
};
struct pools {
    struct tim_mech base;
    unsigned schedulers, warps, active; /* schedulers and warps of the core; maximum size of a pool */
    struct pool pool[TIM_MAX_SCHEDS];
};
/** The pool on which a function below acts. It belongs to scheduler `sched`, which has `count` warps. */
struct view {
    const struct pools *pools;
    unsigned sched, count;
};

static struct tim_mech_warp look(const struct view *view, unsigned warp)
{
    const struct tim_mech_core *core = view->pools->base.core;
    struct tim_mech_warp out;

    core->look(core->context, warp * view->pools->schedulers + view->sched, &out);
    return out;
}

static enum state state_of(const struct view *view, unsigned warp)
{
    const struct tim_mech_core *core = view->pools->base.core;
    const struct tim_mech_state w = core->state(core->context, warp * view->pools->schedulers + view->sched);

    if (!w.live)
        return GONE;
    switch (w.reason) {
    case TIM_STALL_LOAD: return w.misses ? MISS : READY;
    case TIM_STALL_FENCE: return MISS;
    case TIM_STALL_BARRIER: case TIM_STALL_SLEEP: case TIM_STALL_LAUNCH: return OUT;
    default: return READY;
    }
}

static bool has(const struct pool *pool, unsigned warp)
{
    return pool->active[warp / 64] >> warp % 64 & 1;
}

static void set(uint64_t *set, unsigned warp, bool in)
{
    if (in)
        set[warp / 64] |= UINT64_C(1) << warp % 64;
    else
        set[warp / 64] &= ~(UINT64_C(1) << warp % 64);
}

static bool is_known(const struct pool *pool, const struct view *view, unsigned warp)
{
    return (pool->known[warp / 64] >> warp % 64 & 1) != 0 && pool->age[warp] == look(view, warp).age;
}

static void enqueue(struct pool *pool, unsigned warp)
{
    pool->queue[pool->queued++] = (uint16_t)warp;
}

/** Removes each warp whose slot now has a new warp, and adds the new warps to the queue of pending warps, the oldest first. */
static void take_new(struct pool *pool, const struct view *view)
{
    unsigned queued = 0;

    for (unsigned i = 0; i < pool->queued; i++)
        if (is_known(pool, view, pool->queue[i]))
            pool->queue[queued++] = pool->queue[i];
    pool->queued = queued;
    for (unsigned w = 0; w < view->count; w++)
        if (has(pool, w) && !is_known(pool, view, w)) {
            set(pool->active, w, false);
            pool->size--;
        }
    for (;;) {
        unsigned oldest = view->count;

        for (unsigned w = 0; w < view->count; w++)
            if (!is_known(pool, view, w) && state_of(view, w) != GONE &&
                (oldest == view->count || look(view, w).age < look(view, oldest).age))
                oldest = w;
        if (oldest == view->count)
            return;
        set(pool->known, oldest, true);
        pool->age[oldest] = look(view, oldest).age;
        enqueue(pool, oldest);
    }
}

/** Removes from the active pool all warps in state GONE or OUT and, of the warps in state MISS, the one in the lowest slot.
 *  Removed warps that have not ended become pending. Returns true if it removed any. */
static bool demote(struct pool *pool, const struct view *view)
{
    bool changed = false, missed = false;

    for (unsigned word = 0; word * 64 < view->count; word++)
        for (LW_EACH_BIT(b, pool->active[word])) {
            unsigned w = word * 64 + (unsigned)b;
            enum state state = state_of(view, w);

            if (state == READY || (state == MISS && missed))
                continue;
            missed |= state == MISS;
            changed = true;
            set(pool->active, w, false);
            pool->size--;
            if (state == GONE)
                set(pool->known, w, false);
            else
                enqueue(pool, w);
        }
    return changed;
}

/** Moves pending warps in state READY to the active pool, in the order of the queue, while the pool has space. Returns true
 *  if it moved any. */
static bool promote(struct pool *pool, const struct view *view)
{
    unsigned kept = 0;
    bool changed = false;

    for (unsigned i = 0; i < pool->queued; i++) {
        unsigned w = pool->queue[i];

        if (pool->size < view->pools->active && state_of(view, w) == READY) {
            set(pool->active, w, true);
            pool->size++;
            changed = true;
        } else {
            pool->queue[kept++] = (uint16_t)w;
        }
    }
    pool->queued = kept;
    return changed;
}

static bool picks(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    struct pools *pools = (struct pools *)mech;
    struct pool *pool = &pools->pool[sched];
    struct view view = {pools, sched, (pools->warps - sched + pools->schedulers - 1) / pools->schedulers};
    bool changed = pool->assigned != mech->core->assigned;

    (void)ready;
    if (changed)
        take_new(pool, &view);
    pool->assigned = mech->core->assigned;
    changed |= demote(pool, &view);
    if (pool->size < pools->active && pool->queued != 0)
        changed |= promote(pool, &view);
    return changed;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    const struct pools *pools = (const struct pools *)mech;

    (void)next;
    return !has(&pools->pool[warp % pools->schedulers], warp / pools->schedulers);
}

static bool is_on(const struct tim_config *config)
{
    return config->pools_on || config->issue_policy == TIM_SCHED_ACTIVE_PENDING;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct pools *pools = calloc(1, sizeof *pools);

    if (pools == NULL)
        return NULL;
    pools->schedulers = config->issue_schedulers;
    pools->warps = config->core_warps;
    pools->active = config->issue_active;
    return &pools->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct pools *pools = (const struct pools *)mech;
    const struct pool *pool = &pools->pool[warp % pools->schedulers];
    unsigned before = 0;

    while (before < pool->queued && pool->queue[before] != warp / pools->schedulers)
        before++;
    lw_printf(out, "the warp is pending, after %u others; %u of %u warps are active",
              before, pool->size, pools->active);
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct pools *pools = (const struct pools *)mech;

    for (unsigned s = 0; s < pools->schedulers; s++) {
        const struct pool *pool = &pools->pool[s];

        lw_printf(out, "scheduler %u, active:", s);
        for (unsigned w = 0; w < TIM_MAX_WARPS; w++)
            if (has(pool, w))
                lw_printf(out, " %u", w * pools->schedulers + s);
        lw_put(out, "; pending, the next first:");
        for (unsigned i = 0; i < pool->queued; i++)
            lw_printf(out, " %u", pool->queue[i] * pools->schedulers + s);
        lw_put(out, "\n");
    }
}

const struct tim_mechanism tim_pools = {
    .name = "pools", .summary = "active and pending warps: at most issue.active warps of each scheduler may issue. A "
                                "warp that waits for memory outside the core, a barrier or a launch leaves the "
                                "active warps",
    .is_on = is_on, .create = create, .destroy = destroy, .picks = picks, .every_cycle = true, .holds = holds, .why = why, .show = show,
};
