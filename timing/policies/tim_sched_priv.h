/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp schedulers: a policy is a row with a name and a function that picks one of the ready warps. What holds warps
 * back before one is picked is a mechanism (timing/mechanisms/).
 */
#ifndef TIM_SCHED_PRIV_H
#define TIM_SCHED_PRIV_H

#include "timing/tim_priv.h"

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
struct tim_sched_policy {
    const char *name, *summary;
    /** A ready warp, or -1. Notes in @sched what it must know next time only when it picks. */
    int (*pick)(struct tim_sched *sched, const struct tim_sched_view *view);
};
static inline bool tim_sched_is_ready(const struct tim_sched_view *view, unsigned w)
{
    return view->ready[w / 64] >> w % 64 & 1;
}
/** By config->issue_policy; in the order of keys.def. */
extern const struct tim_sched_policy tim_sched_policies[];

#endif
