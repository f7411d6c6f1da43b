/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp schedulers. A policy is an entry with a name and a function that selects one of the ready warps. Mechanisms
 * (timing/mechanisms/) throttle warps before the selection.
 */
#ifndef TIM_SCHED_PRIV_H
#define TIM_SCHED_PRIV_H

#include "timing/tim_priv.h"

/** State of a scheduler. A warp's number is its slot divided by the number of schedulers. */
struct tim_sched {
    int last;           /* warp that issued last; -1: none */
    int group;          /* two_level: the current fetch group */
    int last_in_group;  /* two_level: warp of that group that issued last */
};
/** Input of a policy. */
struct tim_sched_view {
    const struct tim_config *config;
    unsigned count;      /* number of warps of the scheduler */
    const uint64_t *ready; /* a bit for each warp; higher bits are 0 up to a whole word */
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
/** Indexed by config->issue_policy; in the order of keys.def. */
extern const struct tim_sched_policy tim_sched_policies[];

#endif
