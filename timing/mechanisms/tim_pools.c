/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two-level warp pools: warps of the active pool may issue, the others are pending. Source: specification of address
 * pre-computation, sections 7.3 and 7.6. The source leaves two choices open. In this model each scheduler has a pool, and if
 * several warps wait for memory, the one in the lowest slot leaves the active pool first.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdlib.h>

/** The active warps of a scheduler, and the queue of its pending warps. Warps are identified by their slot divided by the
 *  number of schedulers. */
struct pool {
    uint64_t active[TIM_MAX_WARPS / 64];
    uint64_t pending[TIM_MAX_WARPS / 64]; /* the warps in `queue` */
    uint64_t fresh[TIM_MAX_WARPS / 64];   /* slots with a new warp since the last update */
    unsigned size;                        /* number of warps in `active` */
    unsigned queued;                      /* number of pending warps */
    uint16_t queue[TIM_MAX_WARPS];
    bool has_fresh;                       /* `fresh` is not empty */
    bool is_final;                      /* the pool does not change until the state of a warp changes */
    uint32_t changes;                     /* value of tim_mech_core.changes() at the last update */
    uint64_t age[TIM_MAX_WARPS];
};
struct pools {
    struct tim_mech base;
    unsigned schedulers, warps, active; /* schedulers and warps of the core; maximum size of a pool */
    struct pool pool[TIM_MAX_SCHEDS];
};
/** The pool on which a function below acts. It belongs to scheduler `sched`, whose warps are in `words` words of a set. */
struct view {
    const struct pools *pools;
    unsigned sched, words;
};

static struct tim_mech_away away(const struct view *view, unsigned word, uint64_t set)
{
    const struct tim_mech_core *core = view->pools->base.core;

    return core->away(core->context, view->sched, word, set);
}

static bool has(const uint64_t *set, unsigned warp)
{
    return set[warp / 64] >> warp % 64 & 1;
}

static void enqueue(struct pool *pool, unsigned warp)
{
    pool->pending[warp / 64] |= UINT64_C(1) << warp % 64;
    pool->queue[pool->queued++] = (uint16_t)warp;
}

/** Removes from the queue the warps that are no longer in `pending`. */
static void shorten(struct pool *pool)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < pool->queued; i++)
        if (has(pool->pending, pool->queue[i]))
            pool->queue[kept++] = pool->queue[i];
    pool->queued = kept;
}

/** Removes each warp whose slot now has a new warp, and adds the new warps to the queue of pending warps, the oldest first. */
static void take_new(struct pool *pool, const struct view *view)
{
    for (unsigned word = 0; word < view->words; word++) {
        pool->size -= lw_popcount(pool->active[word] & pool->fresh[word]);
        pool->active[word] &= ~pool->fresh[word];
        pool->pending[word] &= ~pool->fresh[word];
        pool->fresh[word] &= ~away(view, word, pool->fresh[word]).gone;
    }
    shorten(pool);
    for (;;) {
        unsigned oldest = TIM_MAX_WARPS;

        for (unsigned word = 0; word < view->words; word++)
            for (LW_EACH_BIT(b, pool->fresh[word])) {
                unsigned w = word * 64 + (unsigned)b;

                if (oldest == TIM_MAX_WARPS || pool->age[w] < pool->age[oldest])
                    oldest = w;
            }
        if (oldest == TIM_MAX_WARPS)
            return;
        pool->fresh[oldest / 64] &= ~(UINT64_C(1) << oldest % 64);
        enqueue(pool, oldest);
    }
}

/** Removes from the active pool all warps that have ended or wait for events other than memory and, of the warps that wait for
 *  memory outside the core, the one in the lowest slot. Removed warps that have not ended become pending. Returns true if it
 *  removed any. */
static bool demote(struct pool *pool, const struct view *view)
{
    bool changed = false, missed = false;

    for (unsigned word = 0; word < view->words; word++) {
        const struct tim_mech_away set = away(view, word, pool->active[word]);
        const uint64_t lowest = missed ? 0 : set.memory & (~set.memory + 1);
        const uint64_t leaving = set.gone | set.others | lowest;

        missed |= lowest != 0;
        if (leaving == 0)
            continue;
        changed = true;
        pool->active[word] &= ~leaving;
        pool->size -= lw_popcount(leaving);
        for (LW_EACH_BIT(b, leaving & ~set.gone))
            enqueue(pool, word * 64 + (unsigned)b);
    }
    return changed;
}

/** Moves pending warps that wait for nothing, or for an event within the core, to the active pool, in the order of the queue,
 *  while the pool has space. Returns true if it moved any. */
static bool promote(struct pool *pool, const struct view *view)
{
    uint64_t ready[TIM_MAX_WARPS / 64], any = 0;

    for (unsigned word = 0; word < view->words; word++) {
        const struct tim_mech_away set = away(view, word, pool->pending[word]);

        ready[word] = pool->pending[word] & ~(set.gone | set.memory | set.others);
        any |= ready[word];
    }
    if (any == 0)
        return false;
    for (unsigned i = 0; i < pool->queued && pool->size < view->pools->active; i++) {
        const unsigned w = pool->queue[i];

        if (has(ready, w)) {
            pool->active[w / 64] |= UINT64_C(1) << w % 64;
            pool->pending[w / 64] &= ~(UINT64_C(1) << w % 64);
            pool->size++;
        }
    }
    shorten(pool);
    return true;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct pools *pools = (struct pools *)mech;
    struct pool *pool = &pools->pool[warp % pools->schedulers];
    const unsigned w = warp / pools->schedulers;

    pool->fresh[w / 64] |= UINT64_C(1) << w % 64;
    pool->age[w] = age;
    pool->has_fresh = true;
}

static bool picks(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    struct pools *pools = (struct pools *)mech;
    struct pool *pool = &pools->pool[sched];
    const unsigned count = (pools->warps - sched + pools->schedulers - 1) / pools->schedulers;
    const struct view view = {pools, sched, (count + 63) / 64};
    const uint32_t changes = mech->core->changes(mech->core->context);
    bool changed = pool->has_fresh;

    (void)ready;
    if (!changed && pool->is_final && changes == pool->changes)
        return false;
    if (changed)
        take_new(pool, &view);
    pool->has_fresh = false;
    changed |= demote(pool, &view);
    if (pool->size < pools->active && pool->queued != 0)
        changed |= promote(pool, &view);
    pool->is_final = !changed;
    pool->changes = changes;
    return changed;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    const struct pools *pools = (const struct pools *)mech;

    (void)next;
    return !has(pools->pool[warp % pools->schedulers].active, warp / pools->schedulers);
}

static bool holds_of(struct tim_mech *mech, unsigned sched, uint64_t *ready)
{
    const struct pools *pools = (const struct pools *)mech;
    const struct pool *pool = &pools->pool[sched];
    uint64_t held = 0;

    for (unsigned word = 0; word * 64 * pools->schedulers < pools->warps; word++) {
        held |= ready[word] & ~pool->active[word];
        ready[word] &= pool->active[word];
    }
    return held != 0;
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
            if (has(pool->active, w))
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
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .picks = picks, .every_cycle = true,
    .holds = holds, .holds_of = holds_of, .why = why, .show = show,
};
