/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp schedulers: a policy is a row with a name and a function that picks one of the ready warps.
 * What throttles (limits, locality) is a function of its own: it holds warps back before one is
 * picked, and orders nothing.
 */
#ifndef TIM_SCHED_PRIV_H
#define TIM_SCHED_PRIV_H

#include "timing/tim_priv.h"

enum { TIM_MAX_WARPS = 256 };

/** A scheduler's own state. Warps are numbered by their place among the scheduler's: slot divided
 *  by the number of schedulers. */
struct tim_sched {
    int last;           /* warp issued last, -1: none */
    int group;          /* two_level: the fetch group that issues */
    int last_in_group;  /* two_level: of it */
};
/** What a policy may look at. */
struct tim_sched_view {
    const struct tim_config *config;
    unsigned count;      /* warps of the scheduler */
    const uint64_t *ready; /* a bit for each; none after count, up to a whole word */
    const uint64_t *age; /* [count] lower: assigned earlier; ties do not occur */
    const bool *live;    /* [count] */
};
/** What a policy that holds warps back may look at. */
struct tim_limit_view {
    const struct tim_config *config;
    unsigned count;      /* warps of the core that live and do not wait at a barrier */
    const uint64_t *age; /* [count] theirs, the oldest first */
};
/** What the pools of a scheduler ask of a warp. */
enum tim_pool_state {
    TIM_POOL_READY, /* it waits for nothing, or for something near */
    TIM_POOL_MISS,  /* for memory outside the core */
    TIM_POOL_OUT,   /* for other warps, a launch or a time */
    TIM_POOL_GONE   /* it has ended, or there is none */
};
/** The warps of a scheduler that may issue, and the others in the order in which they are to. Warps as in
 *  tim_sched. Zeroed: no warp is in it. */
struct tim_pool {
    uint64_t active[TIM_MAX_WARPS / 64];
    unsigned size;                 /* of `active` */
    unsigned queued;               /* pending: */
    uint16_t queue[TIM_MAX_WARPS];
    uint64_t assigned;             /* the view's at the last update */
    uint64_t updated;              /* 1 + the cycle of that */
    uint64_t known[TIM_MAX_WARPS / 64]; /* active or pending, if `age` is the warp's */
    uint64_t age[TIM_MAX_WARPS];
};
struct tim_pool_view {
    const struct tim_config *config;
    unsigned count;       /* warps of the scheduler */
    const uint64_t *age;  /* [count] */
    uint64_t assigned;    /* it changes whenever a warp comes */
    enum tim_pool_state (*state)(const void *context, unsigned warp);
    const void *context;
};
static inline bool tim_pool_has(const struct tim_pool *pool, unsigned warp)
{
    return pool->active[warp / 64] >> warp % 64 & 1;
}
/** Once in each cycle in which the scheduler picks, before it does. What it does depends on nothing but @pool
 *  and @view; true: it changed @pool. */
bool tim_pool_update(struct tim_pool *pool, const struct tim_pool_view *view);

struct tim_sched_policy {
    const char *name, *summary;
    /** A ready warp, or -1. Notes in @sched what it must know next time only when it picks. */
    int (*pick)(struct tim_sched *sched, const struct tim_sched_view *view);
    /** May a ready warp of this age issue? The slots that it is held back in are `throttled`. The
     *  answer depends on nothing but the view. NULL: all may. */
    bool (*can_issue)(const struct tim_limit_view *view, uint64_t age);
    bool pools; /* only warps of the active pool may issue: tim_pool */
};
static inline bool tim_sched_is_ready(const struct tim_sched_view *view, unsigned w)
{
    return view->ready[w / 64] >> w % 64 & 1;
}
/** By config->issue_policy; in the order of keys.def. */
extern const struct tim_sched_policy tim_sched_policies[];

#endif
