/* SPDX-License-Identifier: Apache-2.0 */
/* Clock domains of cores that change while they run. Cycles are cycles of clocks.core unless a comment says
 * otherwise. */
#ifndef TIM_DOMAIN_PRIV_H
#define TIM_DOMAIN_PRIV_H

#include "timing/core/tim_core_priv.h"

/**
 * The clock domain of a core whose clock and voltage change while it runs (mechanism dvfs). All times of a core are
 * cycles of its own clock; times of the engine, of memory and of kernel management are cycles of clocks.core. A cycle
 * of a slow core falls into a cycle of clocks.core, in which the engine ticks the core.
 */
enum tim_span { TIM_SPAN_DIVERTED, TIM_SPAN_LOW, TIM_SPANS };
struct tim_domain {
    unsigned low, high;   /* a slow clock has `low` cycles in the time of `high` cycles of clocks.core */
    bool slow;
    uint64_t from, own;   /* the core had `own` cycles before cycle `from` of clocks.core */
    struct {
        bool on;
        uint64_t since, sum; /* cycles of clocks.core */
    } span[TIM_SPANS];    /* the core gets no blocks; it has the low voltage */
    uint64_t low_from, low_own; /* own cycle in which the low voltage began; number of earlier own cycles at low
                                 * voltages */
    struct tim_sums at, events; /* counters of the core when the low voltage began; events counted earlier at low
                                 * voltages */
};
/** Creates the domain of a core, which frees it. Returns false without memory. */
bool tim_domain_create(struct tim_core *core);
/** Returns the number of cycles that the core has had before cycle @now, which is the number of its first cycle at @now
 *  or later. */
uint64_t tim_domain_own(const struct tim_domain *domain, uint64_t now);
static inline uint64_t tim_core_own(const struct tim_core *core, uint64_t now)
{
    return core->domain == NULL ? now : tim_domain_own(core->domain, now);
}
/** Returns the cycle into which the core's own cycle @own falls. For a cycle before the last change of the clock,
 *  returns the cycle of this change. */
uint64_t tim_domain_when(const struct tim_domain *domain, uint64_t own);
/** Makes the core's clock slow or fast from cycle @now on, which has not begun. */
void tim_domain_set_slow(struct tim_core *core, bool slow, uint64_t now);
/** Begins (@on) or ends @span in cycle @now, which has not begun. */
void tim_domain_set_span(struct tim_core *core, enum tim_span span, bool on, uint64_t now);
/** Updates the counters of the core's domain, for the cycles before @now. */
void tim_domain_account(struct tim_core *core, uint64_t now);
/** Returns the number of live warps on the core. */
unsigned tim_core_live_warps(const struct tim_core *core);

#endif
