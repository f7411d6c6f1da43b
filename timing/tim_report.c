/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as tables for people. docs/howto/measure-cycles.md explains the rows. */
#include "timing/energy/tim_energy_priv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Formats 1234567 as "1,234,567". */
static const char *grouped(uint64_t value, char text[32])
{
    char plain[24];
    size_t size = (size_t)snprintf(plain, sizeof plain, "%" PRIu64, value), used = 0;

    for (size_t i = 0; i < size; i++) {
        if (i != 0 && (size - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = plain[i];
    }
    text[used] = '\0';
    return text;
}

/* Formats a ratio for a column: "-" if it is undefined. */
static const char *ratio_text(const struct tim_ratio *ratio, double value, char text[32])
{
    if (isnan(value))
        return "-";
    if (ratio->share)
        snprintf(text, 32, "%.1f %%", 100 * value);
    else
        snprintf(text, 32, value >= 1000 ? "%.0f" : value >= 100 ? "%.1f" : "%.2f", value);
    return text;
}

static void print_ratio(const struct tim_ratio *ratio, const struct tim_sums *sums,
                        const struct tim_config *config, struct lw_sink *out)
{
    double value = ratio->value(sums, config);
    char text[32];

    if (isnan(value))
        return;
    lw_printf(out, "  %-24s %14s  %s%s%s\n", ratio->name, ratio_text(ratio, value, text),
              ratio->unit, *ratio->unit != '\0' && *ratio->help != '\0' ? ": " : "", ratio->help);
}

static void print_gpu(const struct tim_totals *t, const struct tim_sums *sums,
                      struct lw_sink *out)
{
    const struct tim_config *c = t->config;
    char text[32];

    lw_printf(out, "timing: %s, %u core%s of %u warps of %u lanes, %u MHz\n\n", c->name,
              c->core_count, c->core_count == 1 ? "" : "s", c->core_warps, c->core_warp_width,
              c->clocks_core);
    lw_printf(out, "  %-24s %14s  %.3f us\n", "cycles", grouped(t->gpu[TIM_GPU_cycles], text),
              (double)t->gpu[TIM_GPU_cycles] / c->clocks_core);
    for (unsigned i = 0; i < TIM_GPU_COUNT; i++)
        if (i != TIM_GPU_cycles && t->gpu[i] != 0)
            lw_printf(out, "  %-24s %14s  %s%s%s\n", tim_gpu_counters[i].name,
                      grouped(t->gpu[i], text), tim_gpu_counters[i].unit,
                      *tim_gpu_counters[i].help != '\0' ? ": " : "", tim_gpu_counters[i].help);
    for (size_t i = 0; i < tim_ratio_count; i++)
        print_ratio(&tim_ratios[i], sums, c, out);
}

static const struct tim_ratio *find_ratio(const char *name)
{
    for (size_t i = 0; i < tim_ratio_count; i++)
        if (strcmp(tim_ratios[i].name, name) == 0)
            return &tim_ratios[i];
    return &tim_ratios[0];
}

/* Prints a kernel's name in @room columns. Omits the middle of a long name, because both ends distinguish template
 * instances. */
static void print_name(const char *name, unsigned room, struct lw_sink *out)
{
    size_t size = strlen(name);

    if (size <= room)
        lw_printf(out, "%-*s", (int)room, name);
    else
        lw_printf(out, "%.*s..%s", (int)(room / 2 - 1), name, name + size - (room - room / 2 - 1));
}

enum { NAME_CAPACITY = 24 };

static void print_kernels(const struct tim_totals *t, struct lw_sink *out)
{
    static const char *const columns[] = {"ipc", "thread_ipc", "occupancy", "l1_hit_rate",
                                          "l1_mpki", "l2_hit_rate", "dram_efficiency"};
    char text[32], words[ISA_SYMBOL_BYTES];

    if (t->kernel_count == 0)
        return;
    lw_printf(out, "\nkernels%*s grid       start      cycles   blocks     ipc  thr ipc occupancy  "
                   "L1 hits L1 mpki  L2 hits DRAM eff\n", NAME_CAPACITY - 5, "");
    for (size_t k = 0; k < t->kernel_count; k++) {
        const struct tim_kernel_stats *s = &t->kernel[k];
        static const int width[] = {7, 8, 9, 8, 7, 8, 8};

        lw_put(out, "  ");
        print_name(isa_symbol_text(s->name, words), NAME_CAPACITY, out);
        if (s->started == 0) {
            lw_printf(out, " %4u     waiting\n", s->grid);
            continue;
        }
        lw_printf(out, " %4u %11" PRIu64 " ", s->grid, s->started);
        if (s->ended == 0) {
            lw_put(out, "    running\n");
            continue;
        }
        lw_printf(out, "%11" PRIu64 " %8" PRIu64, tim_kernel_cycles(s), s->blocks);
        for (unsigned i = 0; i < LW_COUNT_OF(columns); i++) {
            const struct tim_ratio *r = find_ratio(columns[i]);

            lw_printf(out, " %*s", width[i], ratio_text(r, r->value(&s->sums, t->config), text));
        }
        lw_put(out, "\n");
    }
    lw_put(out, "  (the ratios of a kernel include kernels that run at the same time)\n");
}

static void print_stall_reasons(const struct tim_totals *t, const struct tim_sums *sums,
                         struct lw_sink *out)
{
    const struct tim_config *c = t->config;
    uint64_t slots = 0;
    char text[32];

    for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
        slots += sums->reason[i];
    if (slots == 0)
        return;
    lw_printf(out, "\nissue slots: %s, %u scheduler%s of %u in a cycle, %u core%s\n",
              grouped(slots, text), c->issue_schedulers, c->issue_schedulers == 1 ? "" : "s",
              c->issue_width, c->core_count, c->core_count == 1 ? "" : "s");
    for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
        if (sums->reason[i] != 0)
            lw_printf(out, "  %-24s %14s  %5.1f %%  %s\n", tim_stall_name((enum tim_stall)i),
                      grouped(sums->reason[i], text), 100 * (double)sums->reason[i] / (double)slots,
                      tim_stall_message((enum tim_stall)i));
}

/* Formats 0.00123 as "1.230 m", a number with the prefix of a unit; the caller prints the unit after it. */
static const char *scaled(double value, char text[32])
{
    static const char prefix[] = {0, 'm', 'u', 'n', 'p'};
    unsigned p = 0;

    while (value != 0 && value < 1 && p + 1 < sizeof prefix)
        value *= 1000, p++;
    snprintf(text, 32, prefix[p] != 0 ? "%.3f %c" : "%.3f ", value, prefix[p]);
    return text;
}

/* Prints the energy of each component for the whole run, then for each kernel. */
static void print_energy(const struct tim_totals *t, const struct tim_sums *sums, struct lw_sink *out)
{
    struct tim_energy all;
    char text[32], watts[32];

    tim_energy_of(sums, t->config, &all);
    if (all.joules == 0)
        return;
    lw_printf(out, "\nenergy (an estimate: events times the keys of section energy): %sJ, %sW\n",
              scaled(all.joules, text), scaled(all.watts, watts));
    for (unsigned i = 0; i < TIM_COMPONENT_COUNT; i++)
        if (all.component[i] != 0)
            lw_printf(out, "  %-24s %13sJ  %5.1f %%  %s\n", tim_components[i].name,
                      scaled(all.component[i], text), 100 * all.component[i] / all.joules,
                      tim_components[i].help);
    if (t->config->dvfs_on)
        lw_printf(out, "  %-24s %13sJ  %5.1f %%  saved if cores were switched off in occupancy bubbles\n", "(bubbles)", scaled(all.gated, text),
                  100 * all.gated / all.joules);
    lw_printf(out, "  by kernel, nJ%*s      total        W", NAME_CAPACITY - 14, "");
    for (unsigned i = 0; i < TIM_COMPONENT_COUNT; i++)
        lw_printf(out, " %10s", tim_components[i].name);
    lw_put(out, "\n");
    for (size_t k = 0; k < t->kernel_count; k++) {
        const struct tim_kernel_stats *s = &t->kernel[k];
        struct tim_energy e;
        char words[ISA_SYMBOL_BYTES];

        if (s->ended == 0)
            continue;
        tim_energy_of(&s->sums, t->config, &e);
        lw_put(out, "  ");
        print_name(isa_symbol_text(s->name, words), NAME_CAPACITY, out);
        lw_printf(out, " %10.1f %8.2f", e.joules * 1e9, e.watts);
        for (unsigned i = 0; i < TIM_COMPONENT_COUNT; i++)
            lw_printf(out, " %10.1f", e.component[i] * 1e9);
        lw_put(out, "\n");
    }
}

static void print_histogram(const char *where, const struct tim_counter *row,
                            const struct tim_histogram *h, struct lw_sink *out)
{
    static const char bar[] = "########################################";
    uint64_t values = tim_histogram_count(h);
    char count[32];

    if (values == 0)
        return;
    lw_printf(out, "\n%s %s (%s): %s\n  %s values, mean %.1f, maximum %" PRIu64 "\n", where, row->name,
              row->unit, row->help, grouped(values, count), (double)h->sum / (double)values,
              h->most);
    for (unsigned b = 0; b < TIM_BUCKETS; b++) {
        uint64_t low = b == 0 ? 0 : UINT64_C(1) << (b - 1), high = b == 0 ? 0 : 2 * low - 1;
        double share = (double)h->bucket[b] / (double)values;
        char range[48];

        if (h->bucket[b] == 0)
            continue;
        if (b == TIM_BUCKETS - 1)
            snprintf(range, sizeof range, "%" PRIu64 " and more", low);
        else if (low == high)
            snprintf(range, sizeof range, "%" PRIu64, low);
        else
            snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, low, high);
        lw_printf(out, "  %-24s %14s  %5.1f %%%s%.*s\n", range, grouped(h->bucket[b], count),
                  100 * share, share * 40 >= 0.5 ? "  " : "", (int)(share * 40 + 0.5), bar);
    }
}

static void print_counters(const char *title, const struct tim_counter *rows, unsigned count,
                           const uint64_t *sum, struct lw_sink *out)
{
    bool titled = false;
    char text[32];

    for (unsigned i = 0; i < count; i++) {
        if (sum[i] == 0)
            continue;
        if (!titled)
            lw_printf(out, "\n%s\n", title);
        titled = true;
        lw_printf(out, "  %-24s %14s  %s%s%s\n", rows[i].name, grouped(sum[i], text),
                  rows[i].unit, *rows[i].unit != '\0' && *rows[i].help != '\0' ? ": " : "",
                  rows[i].help);
    }
}

/* The slices or channels with the most and the fewest reads and writes. In a zeroed struct, no slice has been added. */
struct spread {
    uint64_t least, most;
    unsigned at_least, at_most, count;
};

static void spread_add(struct spread *spread, uint64_t reads_and_writes)
{
    if (spread->count == 0 || reads_and_writes < spread->least)
        spread->least = reads_and_writes, spread->at_least = spread->count;
    if (spread->count == 0 || reads_and_writes > spread->most)
        spread->most = reads_and_writes, spread->at_most = spread->count;
    spread->count++;
}

static void print_spread(const char *what, const struct spread *spread, struct lw_sink *out)
{
    char low[32], high[32];

    if (spread->count < 2 || spread->most == 0)
        return;
    lw_printf(out, "  of the %s, %u has the most reads and writes (%s) and %u the fewest (%s)\n", what,
              spread->at_most, grouped(spread->most, high), spread->at_least,
              grouped(spread->least, low));
}

static void print_slices(const struct tim_totals *t, const struct tim_sums *sums,
                         struct lw_sink *out)
{
    struct spread spread = {0};

    print_counters("L2 slices, summed", tim_slice_counters, TIM_SLICE_COUNT, sums->slice, out);
    for (unsigned i = 0; i < t->config->l2_slices; i++)
        spread_add(&spread, t->slice[i]->count[TIM_SLICE_reads] + t->slice[i]->count[TIM_SLICE_writes]);
    print_spread("slices", &spread, out);
}

static void print_channels(const struct tim_totals *t, const struct tim_sums *sums,
                           struct lw_sink *out)
{
    struct spread spread = {0};

    print_counters("DRAM channels, summed", tim_channel_counters, TIM_CHANNEL_COUNT, sums->channel,
                   out);
    for (unsigned i = 0; i < t->config->dram_channels; i++)
        spread_add(&spread, t->channel[i]->count[TIM_CHANNEL_reads] +
                                t->channel[i]->count[TIM_CHANNEL_writes]);
    print_spread("channels", &spread, out);
}

static void print_histograms(const char *where, const struct tim_counter *rows,
                             const struct tim_histogram *h, unsigned count, struct lw_sink *out)
{
    for (unsigned i = 0; i < count; i++)
        print_histogram(where, &rows[i], &h[i], out);
}

void tim_totals_print(const struct tim_totals *totals, struct lw_sink *out)
{
    struct tim_histograms all;
    struct tim_sums sums;

    tim_sums_take(totals, &sums);
    tim_histograms_take(totals, &all);
    if (totals->ended != NULL)
        lw_printf(out, "the counters cover the run until it was ended: %s\n", totals->ended);
    print_gpu(totals, &sums, out);
    print_kernels(totals, out);
    print_energy(totals, &sums, out);
    print_stall_reasons(totals, &sums, out);
    print_counters("schedulers, summed", tim_sched_counters, TIM_SCHED_COUNT, sums.sched, out);
    print_counters("cores, summed", tim_core_counters, TIM_CORE_COUNT, sums.core, out);
    print_slices(totals, &sums, out);
    print_channels(totals, &sums, out);
    print_histograms("cores,", tim_core_histograms, all.core, TIM_CORE_H_COUNT, out);
    print_histograms("L2 slices,", tim_slice_histograms, all.slice, TIM_SLICE_H_COUNT, out);
    print_histograms("DRAM channels,", tim_channel_histograms, all.channel, TIM_CHANNEL_H_COUNT, out);
    if (totals->more != NULL)
        totals->more(totals->context, false, out);
}
