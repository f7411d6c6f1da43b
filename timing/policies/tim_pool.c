/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two levels of warps: those of the active pool may issue, the others are pending. Source: specification of
 * address pre-computation 7.3 and 7.6. Ours: a pool for each scheduler; which of several warps leaves first.
 */
#include "timing/policies/tim_sched_priv.h"

static void set(uint64_t *set, unsigned warp, bool in)
{
    if (in)
        set[warp / 64] |= UINT64_C(1) << warp % 64;
    else
        set[warp / 64] &= ~(UINT64_C(1) << warp % 64);
}

static bool is_known(const struct tim_pool *pool, const struct tim_pool_view *view, unsigned warp)
{
    return (pool->known[warp / 64] >> warp % 64 & 1) != 0 && pool->age[warp] == view->age[warp];
}

static void enqueue(struct tim_pool *pool, unsigned warp)
{
    pool->queue[pool->queued++] = (uint16_t)warp;
}

/** Warps that began since are pending, the oldest first. A slot's warp of before is forgotten. */
static void take_new(struct tim_pool *pool, const struct tim_pool_view *view)
{
    unsigned queued = 0;

    for (unsigned i = 0; i < pool->queued; i++)
        if (is_known(pool, view, pool->queue[i]))
            pool->queue[queued++] = pool->queue[i];
    pool->queued = queued;
    for (unsigned w = 0; w < view->count; w++)
        if (tim_pool_has(pool, w) && !is_known(pool, view, w)) {
            set(pool->active, w, false);
            pool->size--;
        }
    for (;;) {
        unsigned oldest = view->count;

        for (unsigned w = 0; w < view->count; w++)
            if (!is_known(pool, view, w) && view->state(view->context, w) != TIM_POOL_GONE &&
                (oldest == view->count || view->age[w] < view->age[oldest]))
                oldest = w;
        if (oldest == view->count)
            return;
        set(pool->known, oldest, true);
        pool->age[oldest] = view->age[oldest];
        enqueue(pool, oldest);
    }
}

/** Who ended or waits for others leaves the active pool; of those that wait for memory one, which has the lowest slot. */
static bool demote(struct tim_pool *pool, const struct tim_pool_view *view)
{
    bool changed = false, missed = false;

    for (unsigned word = 0; word * 64 < view->count; word++)
        for (LW_EACH_BIT(b, pool->active[word])) {
            unsigned w = word * 64 + (unsigned)b;
            enum tim_pool_state state = view->state(view->context, w);

            if (state == TIM_POOL_READY || (state == TIM_POOL_MISS && missed))
                continue;
            missed |= state == TIM_POOL_MISS;
            changed = true;
            set(pool->active, w, false);
            pool->size--;
            if (state == TIM_POOL_GONE)
                set(pool->known, w, false);
            else
                enqueue(pool, w);
        }
    return changed;
}

/** The pending ones that wait for nothing, first in first out, while there is room. */
static bool promote(struct tim_pool *pool, const struct tim_pool_view *view)
{
    unsigned kept = 0;
    bool changed = false;

    for (unsigned i = 0; i < pool->queued; i++) {
        unsigned w = pool->queue[i];

        if (pool->size < view->config->issue_active && view->state(view->context, w) == TIM_POOL_READY) {
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

bool tim_pool_update(struct tim_pool *pool, const struct tim_pool_view *view)
{
    bool changed = pool->assigned != view->assigned;

    if (changed)
        take_new(pool, view);
    pool->assigned = view->assigned;
    changed |= demote(pool, view);
    if (pool->size < view->config->issue_active && pool->queued != 0)
        changed |= promote(pool, view);
    return changed;
}
