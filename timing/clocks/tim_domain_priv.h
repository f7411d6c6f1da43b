/* SPDX-License-Identifier: Apache-2.0 */
/* Clock domains of cores whose clock changes during a run. Unless a comment says otherwise, a cycle is a cycle of
 * clocks.core. */
#ifndef TIM_DOMAIN_PRIV_H
#define TIM_DOMAIN_PRIV_H

#include "timing/core/tim_core_priv.h"

/**
 * The clock domain of a core whose clock and voltage change during a run (mechanism dvfs). All times in struct tim_core
 * are cycles of the core's own clock. Times of the engine, of memory and of kernel management are cycles of clocks.core.
 * For each cycle of a slow clock, the engine ticks the core in one cycle of clocks.core.
 */
enum tim_span { TIM_SPAN_DIVERTED, TIM_SPAN_LOW, TIM_SPANS };
struct tim_domain {
    unsigned low, high;   /* the slow clock has `low` cycles in the time of `high` cycles of clocks.core */
    bool slow;            /* the core has the slow clock now */
    uint64_t from, own;   /* the clock last changed in cycle `from`; before it, the core had `own` cycles of its own clock */
    struct {
        bool on;             /* the span is active now */
        uint64_t since, sum; /* since: first cycle of the active span; sum: number of cycles of the earlier spans */
    } span[TIM_SPANS];    /* DIVERTED: the core gets no blocks; LOW: the core has the low voltage */
    uint64_t low_from, low_own; /* low_from: the core's own cycle in which span LOW began; low_own: number of own cycles of
                                 * earlier LOW spans */
    struct tim_sums at, events; /* at: counters of the core when span LOW began; events: growth of the counters in earlier
                                 * LOW spans */
};
/** Creates the clock domain of @core. The core owns the domain. Returns false if memory is short. */
bool tim_domain_create(struct tim_core *core);
/** Returns the number of cycles of the core's own clock before cycle @now. Own cycles are numbered from 0, so this is also
 *  the number of the first own cycle in cycle @now or later. */
uint64_t tim_domain_own(const struct tim_domain *domain, uint64_t now);
static inline uint64_t tim_core_own(const struct tim_core *core, uint64_t now)
{
    return core->domain == NULL ? now : tim_domain_own(core->domain, now);
}
/** Returns the cycle in which the engine ticks the core's own cycle @own. If @own is before the last change of the
 *  clock, returns the cycle of that change. */
uint64_t tim_domain_when(const struct tim_domain *domain, uint64_t own);
/** Makes the core's clock slow or fast from cycle @now on. Cycle @now must not have begun. */
void tim_domain_set_slow(struct tim_core *core, bool slow, uint64_t now);
/** Begins @span in cycle @now, or ends it if @on is false. Cycle @now must not have begun. */
void tim_domain_set_span(struct tim_core *core, enum tim_span span, bool on, uint64_t now);
/** Updates the counters of the core's domain, for the cycles before @now. */
void tim_domain_account(struct tim_core *core, uint64_t now);
/** Returns the number of live warps on the core. */
unsigned tim_core_live_warps(const struct tim_core *core);

#endif
