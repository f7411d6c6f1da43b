/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic priority-based cache allocation: as in mechanism pcal the oldest T warps of a core have a token, and only their
 * loads get lines of L1; here the mechanism searches for the best T while the kernel runs. In mode ccws it also searches for
 * a suitable W, the number of warps that may load. Time is divided into periods of dynpcal.period epochs:
 *
 *   mode max_tlp   | samples of T | the best T ...                              |   W is the number of live warps
 *   mode ccws      | W of ccws | samples of T | the best T, W changes by one ... |
 *
 * In a sample each core has its own T, which is a share of its W. There are dynpcal.shares shares, 1/n, 2/n, ... 1; if there
 * are more shares than cores, the samples take several epochs. The best share is the one whose cores issued most instructions
 * in an epoch, on average; all cores have it until the period ends. In mode ccws mechanism ccws throttles loads in the first
 * epoch, and W is the mean number of warps that could load. After the samples W rises at the end of each epoch in which the
 * memory system of the core was seldom saturated, and falls if it often was. Saturated: L1 has no free MSHR, or the queue to
 * the crossbar is full. The loads of warps other than the W oldest that do not wait at a barrier are throttled. Source:
 * specification of the book on GPU architectures, section 16.9. Choices of this model: shares in place of numbers of warps;
 * periods; which resources count; steps of one warp.
 */
#include "timing/mechanisms/tim_ccws_priv.h"

#include <stdlib.h>

enum { SHARES_MOST = 16 };

struct dynpcal {
    struct tim_mech base;
    unsigned index, cores;      /* index: index of the core; cores: number of cores */
    struct dynpcal *next_core;  /* ring of the cores */
    struct tim_mech_list live;  /* warps that have not ended */
    bool waits[TIM_MAX_WARPS];  /* by slot: the warp waits at a barrier or for a launch */
    uint64_t sampled;           /* 1 + number of the period to which `issued` belongs, or 0 if there is none */
    uint64_t issued[SHARES_MOST]; /* instructions in each epoch of samples */
    uint64_t found;             /* 1 + number of the period to which `share` belongs, or 0 if there is none */
    unsigned share;             /* the best share */
    uint64_t limited;           /* 1 + number of the period to which `limit` belongs, or 0 if there is none */
    unsigned limit;             /* W, in mode ccws after the first epoch of a period */
    uint64_t epoch;             /* number of the epoch of the sums below */
    uint64_t samples, saturated, allowed; /* samples: number of samples of the core's state. saturated: number of samples in
                                           * which the memory system was saturated. allowed: sum, over the samples, of the
                                           * number of warps that ccws permitted to load */
};

static bool is_on(const struct tim_config *config)
{
    return config->dynpcal_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct dynpcal *pcal = calloc(1, sizeof *pcal);

    (void)core;
    if (pcal == NULL)
        return NULL;
    pcal->cores = 1;
    pcal->next_core = pcal;
    return &pcal->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

static void joins(struct tim_mech *const *mech, unsigned cores)
{
    for (unsigned c = 0; c < cores; c++) {
        struct dynpcal *pcal = (struct dynpcal *)mech[c];

        pcal->index = c;
        pcal->cores = cores;
        pcal->next_core = (struct dynpcal *)mech[(c + 1) % cores];
    }
}

/* ---- periods ----------------------------------------------------------------------------------- */

static bool follows_ccws(const struct dynpcal *pcal)
{
    return pcal->base.core->config->dynpcal_mode == TIM_DYNPCAL_CCWS;
}

static uint64_t period_of(const struct tim_config *config, uint64_t now)
{
    return now / config->dynpcal_epoch / config->dynpcal_period;
}

/** Returns the index of the epoch of cycle @now in its period. */
static unsigned phase_of(const struct tim_config *config, uint64_t now)
{
    return (unsigned)(now / config->dynpcal_epoch % config->dynpcal_period);
}

bool tim_dynpcal_lets_ccws_throttle(const struct tim_config *config, uint64_t now)
{
    return !config->dynpcal_on || config->dynpcal_mode != TIM_DYNPCAL_CCWS || phase_of(config, now) == 0;
}

/** Returns the index in its period of the first epoch of samples. */
static unsigned first_sample(const struct dynpcal *pcal)
{
    return follows_ccws(pcal);
}

/** Returns the number of epochs of samples. */
static unsigned sample_epochs(const struct dynpcal *pcal)
{
    const unsigned shares = pcal->base.core->config->dynpcal_shares;

    return (shares + pcal->cores - 1) / pcal->cores;
}

/** Returns the share, from 1 to dynpcal.shares, that core @index samples in epoch @epoch of samples. */
static unsigned sampled_share(const struct dynpcal *pcal, unsigned index, unsigned epoch)
{
    return (epoch * pcal->cores + index) % pcal->base.core->config->dynpcal_shares + 1;
}

/** Returns the best share of the samples in period @period. If several shares are equally good, returns the largest one. */
static unsigned best_share(struct dynpcal *pcal, uint64_t period)
{
    const unsigned shares = pcal->base.core->config->dynpcal_shares;
    uint64_t issued[SHARES_MOST + 1] = {0}, samples[SHARES_MOST + 1] = {0};
    const struct dynpcal *core = pcal;
    unsigned best = shares;

    if (pcal->found == period + 1)
        return pcal->share;
    do {
        for (unsigned e = 0; core->sampled == period + 1 && e < sample_epochs(pcal); e++) {
            const unsigned share = sampled_share(pcal, core->index, e);

            issued[share] += core->issued[e];
            samples[share] += core->issued[e] != 0;
        }
        core = core->next_core;
    } while (core != pcal);
    for (unsigned s = shares; s > 0; s--) /* compares the means without a division; the products do not overflow if an epoch
                                           * has at most 2^32 instructions */
        if (issued[s] * (samples[best] != 0 ? samples[best] : 1) > issued[best] * (samples[s] != 0 ? samples[s] : 1))
            best = s;
    pcal->found = period + 1;
    return pcal->share = best;
}

/** Returns W in cycle @now: how many warps may load. */
static unsigned warps_that_load(const struct dynpcal *pcal, uint64_t now)
{
    const struct tim_config *config = pcal->base.core->config;

    if (!follows_ccws(pcal) || phase_of(config, now) == 0 || pcal->limited != period_of(config, now) + 1 || pcal->limit > pcal->live.count)
        return pcal->live.count;
    return pcal->limit;
}

/** Returns T in cycle @now: how many warps have a token. */
static unsigned tokens(struct dynpcal *pcal, uint64_t now)
{
    const struct tim_config *config = pcal->base.core->config;
    const unsigned phase = phase_of(config, now), first = first_sample(pcal), warps = warps_that_load(pcal, now);
    unsigned share;

    if (phase < first)
        return pcal->live.count;
    share = phase < first + sample_epochs(pcal) ? sampled_share(pcal, pcal->index, phase - first) : best_share(pcal, period_of(config, now));
    return (warps * share + config->dynpcal_shares - 1) / config->dynpcal_shares;
}

/* ---- events ------------------------------------------------------------------------------------ */

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct dynpcal *pcal = (struct dynpcal *)mech;

    pcal->live.age[warp] = age;
    pcal->waits[warp] = false;
    tim_mech_list_add(&pcal->live, warp);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    tim_mech_list_remove(&((struct dynpcal *)mech)->live, warp);
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    ((struct dynpcal *)mech)->waits[warp] = begins;
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct dynpcal *pcal = (struct dynpcal *)mech;
    const struct tim_config *config = mech->core->config;
    const unsigned phase = phase_of(config, mech->core->now), first = first_sample(pcal);
    const uint64_t period = period_of(config, mech->core->now);

    (void)issue;
    if (phase < first || phase >= first + sample_epochs(pcal))
        return;
    if (pcal->sampled != period + 1) {
        pcal->sampled = period + 1;
        for (unsigned i = 0; i < SHARES_MOST; i++)
            pcal->issued[i] = 0;
    }
    pcal->issued[phase - first]++;
}

/** Changes W at the end of an epoch, before phase @phase of period @period. */
static void change_limit(struct dynpcal *pcal, unsigned phase, uint64_t period)
{
    const struct tim_config *config = pcal->base.core->config;
    uint64_t *count = pcal->base.core->count;

    if (phase == 1 && pcal->samples != 0) { /* the epoch of ccws has ended */
        pcal->limit = (unsigned)((pcal->allowed + pcal->samples - 1) / pcal->samples);
        pcal->limited = period + 1;
    } else if (phase > first_sample(pcal) + sample_epochs(pcal) && pcal->limited == period + 1) {
        const uint64_t share = pcal->saturated * 100;

        if (share < config->dynpcal_low * pcal->samples && pcal->limit < config->core_warps) {
            pcal->limit++;
            count[TIM_CORE_dynpcal_more]++;
        } else if (share > config->dynpcal_high * pcal->samples && pcal->limit > 1) {
            pcal->limit--;
            count[TIM_CORE_dynpcal_fewer]++;
        }
    }
}

/* While the core has no warp, this hook has no effect, because the event-driven model need not call it then. */
static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct dynpcal *pcal = (struct dynpcal *)mech;
    const struct tim_mech_core *core = mech->core;
    const struct tim_config *config = core->config;
    const uint64_t now = core->now, epoch = now / config->dynpcal_epoch;
    const bool begins = now % config->dynpcal_epoch == 0 && pcal->live.count != 0;

    (void)ready;
    if (epoch != pcal->epoch) {
        if (begins && follows_ccws(pcal) && epoch == pcal->epoch + 1)
            change_limit(pcal, phase_of(config, now), period_of(config, now));
        pcal->epoch = epoch;
        pcal->samples = pcal->saturated = pcal->allowed = 0;
    }
    if (begins && phase_of(config, now) == first_sample(pcal) + sample_epochs(pcal)) {
        core->count[TIM_CORE_dynpcal_periods]++;
        core->count[TIM_CORE_dynpcal_tokens] += tokens(pcal, now);
        core->count[TIM_CORE_dynpcal_warps] += warps_that_load(pcal, now);
    }
    if (now % config->dynpcal_sample == 0 && pcal->live.count != 0 && follows_ccws(pcal)) {
        pcal->samples++;
        pcal->saturated += core->free_mshrs(core->context) == 0 || !core->can_send(core->context);
        pcal->allowed += tim_ccws_allowed(core->ccws);
    }
    return begins;
}

static uint64_t next(struct tim_mech *mech, uint64_t since)
{
    const struct tim_config *config = mech->core->config;
    const uint64_t sample_at = (since / config->dynpcal_sample + 1) * config->dynpcal_sample;
    const uint64_t end_at = (since / config->dynpcal_epoch + 1) * config->dynpcal_epoch;

    return sample_at < end_at ? sample_at : end_at;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    const struct dynpcal *pcal = (const struct dynpcal *)mech;
    const unsigned most = warps_that_load(pcal, mech->core->now);
    unsigned before = 0;

    if (most == pcal->live.count || !tim_is_data_load(what))
        return false;
    for (unsigned i = 0; i < pcal->live.count && pcal->live.warp[i] != warp; i++)
        before += !pcal->waits[pcal->live.warp[i]];
    return before >= most;
}

static bool bypasses(struct tim_mech *mech, unsigned warp, uint64_t pc)
{
    struct dynpcal *pcal = (struct dynpcal *)mech;
    const unsigned most = tokens(pcal, mech->core->now);

    (void)pc;
    for (unsigned i = 0; i < pcal->live.count && i < most; i++)
        if (pcal->live.warp[i] == warp)
            return false;
    return true;
}

/* ---- for the debugger -------------------------------------------------------------------------- */

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct dynpcal *pcal = (const struct dynpcal *)mech;

    (void)warp;
    lw_printf(out, "%u of %u warps may load, the oldest", warps_that_load(pcal, mech->core->now), pcal->live.count);
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    struct dynpcal *pcal = (struct dynpcal *)mech;

    *name = index == 0 ? "dynpcal: warps with a token" : "dynpcal: warps that may load";
    *value = index == 0 ? tokens(pcal, mech->core->now) : warps_that_load(pcal, mech->core->now);
    return index < 2;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    struct dynpcal *pcal = (struct dynpcal *)mech;
    const struct tim_config *config = mech->core->config;
    const uint64_t now = mech->core->now;
    const unsigned phase = phase_of(config, now), first = first_sample(pcal);

    lw_printf(out, "%u of %u warps may load, %u have a token; epoch %u of %u: %s\n", warps_that_load(pcal, now), pcal->live.count,
              tokens(pcal, now), phase + 1, config->dynpcal_period,
              phase < first ? "ccws limits the warps" : phase < first + sample_epochs(pcal) ? "each core samples a share" : "the best share");
}

const struct tim_mechanism tim_dynpcal = {
    .name = "dynpcal", .summary = "dynamic priority-based cache allocation: cores sample how many of their warps should get lines of L1",
    .is_on = is_on, .create = create, .destroy = destroy, .joins = joins, .warp_begins = warp_begins, .warp_ends = warp_ends, .waits = waits,
    .issues = issues, .bypasses = bypasses, .cycle = cycle, .next = next, .holds = holds, .why = why, .gauge = gauge, .show = show,
};
