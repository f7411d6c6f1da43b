/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp schedulers. A policy has a name and a function that selects one of the ready warps. Mechanisms
 * (timing/mechanisms/) remove warps from the ready ones before the selection.
 */
#ifndef TIM_SCHED_PRIV_H
#define TIM_SCHED_PRIV_H

#include "timing/tim_priv.h"

/** State of a scheduler. Warps are identified by their slot divided by the number of schedulers. */
struct tim_sched {
    int last;           /* warp that issued last, or -1 if there is none */
    int group;          /* two_level: the current fetch group, or -1 if there is none */
    int last_in_group;  /* two_level: warp of the current fetch group that issued last, or -1 if there is none */
};
/** Input of a policy. */
struct tim_sched_view {
    const struct tim_config *config;
    unsigned count;      /* number of warps of the scheduler */
    const uint64_t *ready; /* set of ready warps; unused bits of its last word are 0 */
    const uint64_t *age; /* [count] a warp that was assigned earlier has a lower age; all ages differ */
    const bool *live;    /* [count] */
};
struct tim_sched_policy {
    const char *name, *summary;
    /** Returns a ready warp, or -1. Changes @sched only if it selects a warp. */
    int (*pick)(struct tim_sched *sched, const struct tim_sched_view *view);
};
static inline bool tim_sched_is_ready(const struct tim_sched_view *view, unsigned w)
{
    return view->ready[w / 64] >> w % 64 & 1;
}
/** The policies, indexed by config->issue_policy, in the order of keys.def. */
extern const struct tim_sched_policy tim_sched_policies[];

#endif
