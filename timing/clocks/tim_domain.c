/* SPDX-License-Identifier: Apache-2.0 */
/* Clock domains of cores whose clock changes during a run. Also counts, for the energy estimate, the events of a core at the
 * low voltage.
 * Source: specification of the dynamic parallelism thesis, sections 10.2, 10.4, 10.5. */
#include "timing/clocks/tim_domain_priv.h"
#include "timing/energy/tim_energy_priv.h"

#include <stdlib.h>

bool tim_domain_create(struct tim_core *core)
{
    struct tim_domain *d = calloc(1, sizeof *d);

    core->domain = d;
    if (d == NULL)
        return false;
    d->low = core->config->dvfs_low_mhz;
    d->high = core->config->dvfs_high_mhz;
    /* A core without warps is in an occupancy bubble, unless the threshold is 0. */
    core->lasting[TIM_LASTS_BUBBLE] = core->config->dvfs_threshold != 0;
    return true;
}

uint64_t tim_domain_own(const struct tim_domain *d, uint64_t now)
{
    const uint64_t passed = now > d->from ? now - d->from : 0;

    return d->own + (d->slow ? passed * d->low / d->high : passed);
}

uint64_t tim_domain_when(const struct tim_domain *d, uint64_t own)
{
    const uint64_t more = own > d->own ? own - d->own : 0;

    if (own < d->own || own == UINT64_MAX)
        return own < d->own ? d->from : UINT64_MAX;
    return d->from + (d->slow ? ((more + 1) * d->high + d->low - 1) / d->low - 1 : more);
}

unsigned tim_core_live_warps(const struct tim_core *core)
{
    unsigned live = 0;

    for (unsigned w = 0; w < core->config->core_warps; w++)
        live += core->warp[w].used && !core->warp[w].ended;
    return live;
}

/** Updates the counters of the core, for the cycles before @now. */
static void account(struct tim_core *core, uint64_t now)
{
    const uint64_t own = tim_domain_own(core->domain, now);

    if (own != 0)
        tim_core_account(core, own - 1);
}

void tim_domain_set_slow(struct tim_core *core, bool slow, uint64_t now)
{
    struct tim_domain *d = core->domain;
    const uint64_t own = tim_domain_own(d, now);
    uint64_t crowded = core->crowded;

    if (d->slow == slow)
        return;
    account(core, now);
    /* wake_at has the core's own cycles in which wake-ups are due. After the change of the clock, the core reaches these
     * cycles at other times. So the core is ticked in every cycle until the time at which the last wake-up was due under
     * the old clock. */
    if (core->wakes != 0 && core->wake_at[core->wakes - 1] > crowded)
        crowded = core->wake_at[core->wakes - 1];
    const uint64_t when = crowded >= own ? tim_domain_when(d, crowded) : 0;
    d->own = own;
    d->from = now;
    d->slow = slow;
    core->stats->count[TIM_CORE_dvfs_transitions]++;
    if (when != 0) {
        core->crowded = tim_domain_own(d, when + 1);
        tim_core_poke(core);
    }
}

/** Gets the counters of the core from which tim_energy_of() computes the energy of its events. */
static void take(const struct tim_core *core, struct tim_sums *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->core, core->stats->count, sizeof out->core);
    for (unsigned i = TIM_CORE_dvfs_saved_issue; i <= TIM_CORE_dvfs_saved_l1; i++)
        out->core[i] = 0; /* tim_domain_account() computes these counters from the others */
    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        for (unsigned i = 0; i < TIM_SCHED_COUNT; i++)
            out->sched[i] += core->stats->sched[s].count[i];
}

static void add(struct tim_sums *to, const struct tim_sums *from)
{
    for (unsigned i = 0; i < TIM_CORE_COUNT; i++)
        to->core[i] += from->core[i];
    for (unsigned i = 0; i < TIM_SCHED_COUNT; i++)
        to->sched[i] += from->sched[i];
}

/** Gets the counts of all events at the low voltage so far, including the current span of low voltage. */
static void low_events(const struct tim_core *core, struct tim_sums *out)
{
    const struct tim_domain *d = core->domain;

    memset(out, 0, sizeof *out);
    if (d->span[TIM_SPAN_LOW].on) {
        take(core, out);
        tim_sums_subtract(out, &d->at);
    }
    add(out, &d->events);
}

void tim_domain_set_span(struct tim_core *core, enum tim_span span, bool on, uint64_t now)
{
    struct tim_domain *d = core->domain;

    if (d->span[span].on == on)
        return;
    if (span == TIM_SPAN_LOW) {
        account(core, now);
        if (on) {
            take(core, &d->at);
            d->low_from = tim_domain_own(d, now);
        } else {
            struct tim_sums events;

            low_events(core, &events);
            d->events = events;
            d->low_own += tim_domain_own(d, now) - d->low_from;
        }
    }
    if (!on)
        d->span[span].sum += now - d->span[span].since;
    d->span[span].on = on;
    d->span[span].since = now;
}

void tim_domain_account(struct tim_core *core, uint64_t now)
{
    const struct tim_domain *d = core->domain;
    const uint64_t own = tim_domain_own(d, now);
    const double saves = (1 - tim_energy_at_low(core->config, 2)) * 1e12;
    uint64_t *count = core->stats->count, cycles[TIM_SPANS];
    struct tim_energy energy;
    struct tim_sums events;

    for (unsigned i = 0; i < TIM_SPANS; i++)
        cycles[i] = d->span[i].sum + (d->span[i].on && now > d->span[i].since ? now - d->span[i].since : 0);
    low_events(core, &events);
    tim_energy_of(&events, core->config, &energy);
    count[TIM_CORE_dvfs_diverted_cycles] = cycles[TIM_SPAN_DIVERTED];
    count[TIM_CORE_dvfs_low_cycles] = cycles[TIM_SPAN_LOW];
    count[TIM_CORE_dvfs_lost_cycles] = now - own;
    count[TIM_CORE_dvfs_low_own] = d->low_own + (d->span[TIM_SPAN_LOW].on && own > d->low_from ? own - d->low_from : 0);
    count[TIM_CORE_dvfs_low_active] = events.core[TIM_CORE_active_cycles];
    count[TIM_CORE_dvfs_saved_issue] = (uint64_t)(energy.component[TIM_COMPONENT_ISSUE] * saves);
    count[TIM_CORE_dvfs_saved_registers] = (uint64_t)(energy.component[TIM_COMPONENT_REGISTER] * saves);
    count[TIM_CORE_dvfs_saved_units] = (uint64_t)(energy.component[TIM_COMPONENT_UNITS] * saves);
    count[TIM_CORE_dvfs_saved_l1] = (uint64_t)(energy.component[TIM_COMPONENT_L1] * saves);
}
