/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as JSON: all counters, grouped by scope, and the unit and meaning of each. */
#include "timing/energy/tim_energy_priv.h"

#include <inttypes.h>
#include <math.h>

/* Prints "name": value, ... */
static void put_counts(struct lw_sink *out, const struct tim_counter *rows, unsigned count,
                       const uint64_t *value)
{
    for (unsigned i = 0; i < count; i++)
        lw_printf(out, "%s\"%s\": %" PRIu64, i != 0 ? ", " : "", rows[i].name, value[i]);
}

static void put_reasons(struct lw_sink *out, const uint64_t *reason)
{
    lw_put(out, "{");
    for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
        lw_printf(out, "%s\"%s\": %" PRIu64, i != 0 ? ", " : "",
                  tim_stall_name((enum tim_stall)i), reason[i]);
    lw_put(out, "}");
}

static void put_ratios(struct lw_sink *out, const struct tim_sums *sums,
                       const struct tim_config *config)
{
    lw_put(out, "{");
    for (size_t i = 0; i < tim_ratio_count; i++) {
        double value = tim_ratios[i].value(sums, config);

        lw_printf(out, "%s\"%s\": ", i != 0 ? ", " : "", tim_ratios[i].name);
        if (isfinite(value))
            lw_printf(out, "%.9g", value);
        else
            lw_put(out, "null");
    }
    lw_put(out, "}");
}

/* Prints the energy estimate for the events in @sums: energy in J, average power in W. */
static void put_energy(struct lw_sink *out, const struct tim_sums *sums, const struct tim_config *config)
{
    struct tim_energy energy;

    tim_energy_of(sums, config, &energy);
    lw_printf(out, "{\"joules\": %.9g, \"watts\": %.9g, ", energy.joules, energy.watts);
    if (config->dvfs_on)
        lw_printf(out, "\"gated\": %.9g, ", energy.gated);
    lw_put(out, "\"components\": {");
    for (unsigned i = 0; i < TIM_COMPONENT_COUNT; i++)
        lw_printf(out, "%s\"%s\": %.9g", i != 0 ? ", " : "", tim_components[i].name, energy.component[i]);
    lw_put(out, "}}");
}

static void put_histogram(struct lw_sink *out, const char *name, const struct tim_histogram *h)
{
    uint64_t count = tim_histogram_count(h);
    unsigned last = TIM_BUCKETS;

    while (last > 0 && h->bucket[last - 1] == 0)
        last--;
    lw_printf(out, "\"%s\": {\"count\": %" PRIu64 ", \"sum\": %" PRIu64 ", \"most\": %" PRIu64
                   ", \"buckets\": [", name, count, h->sum, h->most);
    for (unsigned i = 0; i < last; i++)
        lw_printf(out, "%s%" PRIu64, i != 0 ? ", " : "", h->bucket[i]);
    lw_put(out, "]}");
}

/* Prints "scope": {"name": histogram, ...} */
static void put_histograms(struct lw_sink *out, const char *scope, const struct tim_counter *rows,
                           const struct tim_histogram *h, unsigned count)
{
    lw_printf(out, "\"%s\": {", scope);
    for (unsigned i = 0; i < count; i++) {
        lw_put(out, i != 0 ? ", " : "");
        put_histogram(out, rows[i].name, &h[i]);
    }
    lw_put(out, "}");
}

/** Prints the counters and histograms of slice or channel @i. */
static void put_part(struct lw_sink *out, unsigned i, const struct tim_counter *rows, unsigned count,
                     const uint64_t *value, const struct tim_counter *h_rows, unsigned h_count,
                     const struct tim_histogram *h)
{
    lw_put(out, i != 0 ? ",\n    {" : "\n    {");
    put_counts(out, rows, count, value);
    lw_put(out, ", ");
    put_histograms(out, "histograms", h_rows, h, h_count);
    lw_put(out, "}");
}

/* Prints the sums of all scopes; used for kernels and for samples. */
static void put_sums(struct lw_sink *out, const struct tim_sums *sums)
{
    lw_put(out, "{\"gpu\": {");
    put_counts(out, tim_gpu_counters, TIM_GPU_COUNT, sums->gpu);
    lw_put(out, "}, \"schedulers\": {");
    put_counts(out, tim_sched_counters, TIM_SCHED_COUNT, sums->sched);
    lw_put(out, "}, \"causes\": ");
    put_reasons(out, sums->reason);
    lw_put(out, ", \"cores\": {");
    put_counts(out, tim_core_counters, TIM_CORE_COUNT, sums->core);
    lw_put(out, "}, \"slices\": {");
    put_counts(out, tim_slice_counters, TIM_SLICE_COUNT, sums->slice);
    lw_put(out, "}, \"channels\": {");
    put_counts(out, tim_channel_counters, TIM_CHANNEL_COUNT, sums->channel);
    lw_put(out, "}}");
}

static void put_meaning(struct lw_sink *out, const char *name, const char *unit, const char *help,
                        bool first)
{
    lw_printf(out, "%s\n      \"%s\": {\"unit\": ", first ? "" : ",", name);
    lw_put_json(out, unit);
    lw_put(out, ", \"help\": ");
    lw_put_json(out, help);
    lw_put(out, "}");
}

/* A scope of counters or histograms. `rows` has the name, unit and meaning of each. */
struct scope {
    const char *name;
    const struct tim_counter *rows;
    unsigned count;
};

static void put_scopes(struct lw_sink *out, const struct scope *scopes, unsigned count)
{
    for (unsigned s = 0; s < count; s++) {
        lw_printf(out, "%s\n    \"%s\": {", s != 0 ? "," : "", scopes[s].name);
        for (unsigned i = 0; i < scopes[s].count; i++)
            put_meaning(out, scopes[s].rows[i].name, scopes[s].rows[i].unit,
                        scopes[s].rows[i].help, i == 0);
        lw_put(out, "}");
    }
}

static void put_meanings(struct lw_sink *out)
{
    static const struct scope counters[] = {
        {"gpu", tim_gpu_counters, TIM_GPU_COUNT},
        {"schedulers", tim_sched_counters, TIM_SCHED_COUNT},
        {"cores", tim_core_counters, TIM_CORE_COUNT},
        {"slices", tim_slice_counters, TIM_SLICE_COUNT},
        {"channels", tim_channel_counters, TIM_CHANNEL_COUNT},
    };
    static const struct scope histograms[] = {
        {"cores", tim_core_histograms, TIM_CORE_H_COUNT},
        {"slices", tim_slice_histograms, TIM_SLICE_H_COUNT},
        {"channels", tim_channel_histograms, TIM_CHANNEL_H_COUNT},
    };

    lw_put(out, ",\n  \"units\": {");
    put_scopes(out, counters, LW_COUNT_OF(counters));
    lw_put(out, ",\n    \"causes\": {");
    for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
        put_meaning(out, tim_stall_name((enum tim_stall)i), "issue slots",
                    tim_stall_message((enum tim_stall)i), i == 0);
    lw_put(out, "},\n    \"ratios\": {");
    for (size_t i = 0; i < tim_ratio_count; i++)
        put_meaning(out, tim_ratios[i].name, tim_ratios[i].share ? "of 1" : tim_ratios[i].unit,
                    tim_ratios[i].help, i == 0);
    lw_put(out, "},\n    \"energy\": {");
    for (unsigned i = 0; i < TIM_COMPONENT_COUNT; i++)
        put_meaning(out, tim_components[i].name, tim_components[i].unit, tim_components[i].help, i == 0);
    lw_put(out, "},\n    \"histograms\": {");
    put_scopes(out, histograms, LW_COUNT_OF(histograms));
    lw_put(out, "}}");
}

static void put_core(struct lw_sink *out, const struct tim_core_stats *core,
                     const struct tim_config *config)
{
    lw_put(out, "{");
    put_counts(out, tim_core_counters, TIM_CORE_COUNT, core->count);
    lw_put(out, ", ");
    put_histograms(out, "histograms", tim_core_histograms, core->histogram, TIM_CORE_H_COUNT);
    lw_put(out, ", \"schedulers\": [");
    for (unsigned s = 0; s < config->issue_schedulers; s++) {
        lw_printf(out, "%s{", s != 0 ? ", " : "");
        put_counts(out, tim_sched_counters, TIM_SCHED_COUNT, core->sched[s].count);
        lw_put(out, ", \"causes\": [");
        for (unsigned slot = 0; slot < config->issue_width; slot++) {
            lw_put(out, slot != 0 ? ", " : "");
            put_reasons(out, core->sched[s].reason[slot]);
        }
        lw_put(out, "]}");
    }
    lw_put(out, "]}");
}

/* Prints the counters of each sampling interval. The last interval may be shorter: it ends with the run. */
static void put_samples(struct lw_sink *out, const struct tim_totals *totals)
{
    size_t count = totals->sample_count;
    uint64_t end = totals->gpu[TIM_GPU_cycles];
    bool more = totals->sample_cycles != 0 && (count == 0 || totals->sample[count - 1].cycle < end);

    for (size_t i = 0; i < count + more; i++) {
        struct tim_sums interval;

        if (i < count)
            interval = totals->sample[i].sums;
        else
            tim_sums_take(totals, &interval);
        if (i != 0)
            tim_sums_subtract(&interval, &totals->sample[i - 1].sums);
        lw_printf(out, "%s\n    {\"cycle\": %" PRIu64 ", \"ratios\": ", i != 0 ? "," : "",
                  i < count ? totals->sample[i].cycle : end);
        put_ratios(out, &interval, totals->config);
        lw_put(out, ", \"energy\": ");
        put_energy(out, &interval, totals->config);
        lw_put(out, ", \"sums\": ");
        put_sums(out, &interval);
        lw_put(out, "}");
    }
}

void tim_totals_json(const struct tim_totals *totals, struct lw_sink *out)
{
    const struct tim_config *c = totals->config;
    struct tim_histograms all;
    struct tim_sums sums;

    tim_sums_take(totals, &sums);
    tim_histograms_take(totals, &all);
    lw_put(out, "{\n  \"format_version\": 1,\n  \"machine\": ");
    lw_put_json(out, c->name);
    if (totals->ended != NULL) {
        lw_put(out, ",\n  \"ended\": ");
        lw_put_json(out, totals->ended);
    }
    lw_printf(out, ",\n  \"cycles\": %" PRIu64 ",\n  \"seconds\": %.9g",
              totals->gpu[TIM_GPU_cycles],
              (double)totals->gpu[TIM_GPU_cycles] / c->clocks_core * 1e-6);
    lw_printf(out, ",\n  \"counts_hash\": \"%016" PRIx64 "\"", tim_totals_hash(totals));
    lw_put(out, ",\n  \"ratios\": ");
    put_ratios(out, &sums, c);
    lw_put(out, ",\n  \"energy\": ");
    put_energy(out, &sums, c);
    lw_put(out, ",\n  \"sums\": ");
    put_sums(out, &sums);
    lw_put(out, ",\n  \"histograms\": {\n    ");
    put_histograms(out, "cores", tim_core_histograms, all.core, TIM_CORE_H_COUNT);
    lw_put(out, ",\n    ");
    put_histograms(out, "slices", tim_slice_histograms, all.slice, TIM_SLICE_H_COUNT);
    lw_put(out, ",\n    ");
    put_histograms(out, "channels", tim_channel_histograms, all.channel, TIM_CHANNEL_H_COUNT);
    lw_put(out, "\n  },\n  \"kernels\": [");
    for (size_t i = 0; i < totals->kernel_count; i++) {
        const struct tim_kernel_stats *k = &totals->kernel[i];
        char words[ISA_SYMBOL_BYTES];

        lw_printf(out, "%s\n    {\"name\": ", i != 0 ? "," : "");
        lw_put_json(out, k->name);
        lw_put(out, ", \"plain_name\": ");
        lw_put_json(out, isa_symbol_text(k->name, words));
        lw_printf(out, ", \"grid\": %u, \"queued\": %" PRIu64 ", \"dispatched\": %" PRIu64
                       ", \"started\": %" PRIu64 ", \"begun\": %" PRIu64,
                  k->grid, k->queued, k->dispatched, k->started, k->begun);
        if (k->ended != 0)
            lw_printf(out, ", \"ended\": %" PRIu64 ", \"cycles\": %" PRIu64, k->ended,
                      tim_kernel_cycles(k));
        else
            lw_put(out, ", \"ended\": null, \"cycles\": null");
        lw_printf(out, ", \"blocks\": %" PRIu64 ", \"warp_instructions\": %" PRIu64
                       ", \"thread_instructions\": %" PRIu64, k->blocks, k->warp_instructions,
                  k->thread_instructions);
        if (k->ended != 0) {
            lw_put(out, ", \"ratios\": ");
            put_ratios(out, &k->sums, c);
            lw_put(out, ", \"energy\": ");
            put_energy(out, &k->sums, c);
            lw_put(out, ", \"sums\": ");
            put_sums(out, &k->sums);
        }
        lw_put(out, "}");
    }
    lw_put(out, "\n  ],\n  \"cores\": [");
    for (unsigned i = 0; i < c->core_count; i++) {
        lw_put(out, i != 0 ? ",\n    " : "\n    ");
        put_core(out, &totals->core[i], c);
    }
    lw_put(out, "\n  ],\n  \"slices\": [");
    for (unsigned i = 0; i < c->l2_slices; i++)
        put_part(out, i, tim_slice_counters, TIM_SLICE_COUNT, totals->slice[i]->count, tim_slice_histograms,
                 TIM_SLICE_H_COUNT, totals->slice[i]->histogram);
    lw_put(out, "\n  ],\n  \"channels\": [");
    for (unsigned i = 0; i < c->dram_channels; i++)
        put_part(out, i, tim_channel_counters, TIM_CHANNEL_COUNT, totals->channel[i]->count, tim_channel_histograms,
                 TIM_CHANNEL_H_COUNT, totals->channel[i]->histogram);
    lw_printf(out, "\n  ],\n  \"sample_cycles\": %" PRIu64 ",\n  \"samples\": [",
              totals->sample_cycles);
    put_samples(out, totals);
    lw_put(out, "\n  ]");
    if (totals->more != NULL)
        totals->more(totals->context, true, out);
    put_meanings(out);
    lw_put(out, ",\n  \"config\": ");
    tim_config_json(c, out);
    lw_put(out, "\n}");
}
