/* SPDX-License-Identifier: Apache-2.0 */
/* Counters by name, their sums over the GPU, interval samples, and ratios of counters. */
#include "timing/tim_priv.h"

#include <math.h>
#include <stdlib.h>

/* ---- names --------------------------------------------------------------------------- */

#define ROW(scope, name, unit, help) {#name, unit, help},
const struct tim_counter tim_gpu_counters[TIM_GPU_COUNT] = {TIM_STATS_GPU(ROW)};
const struct tim_counter tim_core_counters[TIM_CORE_COUNT] = {TIM_STATS_CORE(ROW)};
const struct tim_counter tim_sched_counters[TIM_SCHED_COUNT] = {TIM_STATS_SCHED(ROW)};
const struct tim_counter tim_slice_counters[TIM_SLICE_COUNT] = {TIM_STATS_SLICE(ROW)};
const struct tim_counter tim_channel_counters[TIM_CHANNEL_COUNT] = {TIM_STATS_CHANNEL(ROW)};
const struct tim_counter tim_core_histograms[TIM_CORE_H_COUNT] = {TIM_STATS_CORE_H(ROW)};
const struct tim_counter tim_slice_histograms[TIM_SLICE_H_COUNT] = {TIM_STATS_SLICE_H(ROW)};
const struct tim_counter tim_channel_histograms[TIM_CHANNEL_H_COUNT] = {TIM_STATS_CHANNEL_H(ROW)};
#undef ROW

static const struct {
    const char *name, *message;
} reasons[TIM_STALL_COUNT] = {
#define STALL_REASON(id, name, message) {name, message},
#include "timing/stall_reasons.def"
};

const char *tim_stall_name(enum tim_stall reason)
{
    return (unsigned)reason < TIM_STALL_COUNT ? reasons[reason].name : "?";
}

const char *tim_stall_message(enum tim_stall reason)
{
    return (unsigned)reason < TIM_STALL_COUNT ? reasons[reason].message : "?";
}

/* ---- sums ------------------------------------------------------------------------------- */

static void add(uint64_t *to, const uint64_t *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to[i] += from[i];
}

void tim_sums_take(const struct tim_totals *totals, struct tim_sums *out)
{
    const struct tim_config *config = totals->config;

    memset(out, 0, sizeof *out);
    memcpy(out->gpu, totals->gpu, sizeof out->gpu);
    for (unsigned c = 0; c < config->core_count; c++) {
        const struct tim_core_stats *core = &totals->core[c];

        add(out->core, core->count, TIM_CORE_COUNT);
        for (unsigned s = 0; s < config->issue_schedulers; s++) {
            add(out->sched, core->sched[s].count, TIM_SCHED_COUNT);
            for (unsigned slot = 0; slot < config->issue_width; slot++)
                add(out->reason, core->sched[s].reason[slot], TIM_STALL_COUNT);
        }
    }
    for (unsigned i = 0; i < config->l2_slices; i++)
        add(out->slice, totals->slice[i]->count, TIM_SLICE_COUNT);
    for (unsigned i = 0; i < config->dram_channels; i++)
        add(out->channel, totals->channel[i]->count, TIM_CHANNEL_COUNT);
}

void tim_sums_subtract(struct tim_sums *sums, const struct tim_sums *from)
{
    uint64_t *a = (uint64_t *)(void *)sums;
    const uint64_t *b = (const uint64_t *)(const void *)from;

    /* The struct consists of arrays of counters only. */
    _Static_assert(sizeof *sums == sizeof(uint64_t) *
                       (TIM_GPU_COUNT + TIM_CORE_COUNT + TIM_SCHED_COUNT + TIM_STALL_COUNT +
                        TIM_SLICE_COUNT + TIM_CHANNEL_COUNT), "tim_sums has padding");
    for (size_t i = 0; i < sizeof *sums / sizeof *a; i++)
        a[i] -= b[i];
}

void tim_samples_add(struct tim_samples *samples, uint64_t cycle,
                     const struct tim_totals *totals)
{
    struct tim_sample *s;

    if (samples->full ||
        !lw_grow(&samples->sample, &samples->capacity, samples->count + 1, sizeof *s)) {
        samples->full = true; /* the report lacks later samples; the run continues */
        samples->every = 0;
        return;
    }
    s = &samples->sample[samples->count++];
    s->cycle = cycle;
    tim_sums_take(totals, &s->sums);
}

void tim_samples_fini(struct tim_samples *samples)
{
    free(samples->sample);
    *samples = (struct tim_samples){0};
}

static void add_histograms(struct tim_histogram *to, const struct tim_histogram *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        add(to[i].bucket, from[i].bucket, TIM_BUCKETS);
        to[i].sum += from[i].sum;
        if (from[i].most > to[i].most)
            to[i].most = from[i].most;
    }
}

void tim_histograms_take(const struct tim_totals *totals, struct tim_histograms *out)
{
    const struct tim_config *config = totals->config;

    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < config->core_count; i++)
        add_histograms(out->core, totals->core[i].histogram, TIM_CORE_H_COUNT);
    for (unsigned i = 0; i < config->l2_slices; i++)
        add_histograms(out->slice, totals->slice[i]->histogram, TIM_SLICE_H_COUNT);
    for (unsigned i = 0; i < config->dram_channels; i++)
        add_histograms(out->channel, totals->channel[i]->histogram, TIM_CHANNEL_H_COUNT);
}

uint64_t tim_histogram_count(const struct tim_histogram *h)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < TIM_BUCKETS; i++)
        count += h->bucket[i];
    return count;
}

/* ---- a hash over all counters -------------------------------------------------------------- */

static void hash_counts(struct lw_hash *hash, const uint64_t *count, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_hash_u64(hash, count[i]);
}

static void hash_histograms(struct lw_hash *hash, const struct tim_histogram *h, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        hash_counts(hash, h[i].bucket, TIM_BUCKETS);
        lw_hash_u64(hash, h[i].sum);
        lw_hash_u64(hash, h[i].most);
    }
}

uint64_t tim_totals_hash(const struct tim_totals *totals)
{
    const struct tim_config *config = totals->config;
    struct lw_hash hash;

    lw_hash_init(&hash);
    hash_counts(&hash, totals->gpu, TIM_GPU_COUNT);
    for (unsigned c = 0; c < config->core_count; c++) {
        const struct tim_core_stats *core = &totals->core[c];

        hash_counts(&hash, core->count, TIM_CORE_COUNT);
        for (unsigned s = 0; s < config->issue_schedulers; s++) {
            hash_counts(&hash, core->sched[s].count, TIM_SCHED_COUNT);
            for (unsigned slot = 0; slot < config->issue_width; slot++)
                hash_counts(&hash, core->sched[s].reason[slot], TIM_STALL_COUNT);
        }
        hash_histograms(&hash, core->histogram, TIM_CORE_H_COUNT);
    }
    for (unsigned i = 0; i < config->l2_slices; i++) {
        hash_counts(&hash, totals->slice[i]->count, TIM_SLICE_COUNT);
        hash_histograms(&hash, totals->slice[i]->histogram, TIM_SLICE_H_COUNT);
    }
    for (unsigned i = 0; i < config->dram_channels; i++) {
        hash_counts(&hash, totals->channel[i]->count, TIM_CHANNEL_COUNT);
        hash_histograms(&hash, totals->channel[i]->histogram, TIM_CHANNEL_H_COUNT);
    }
    for (size_t i = 0; i < totals->kernel_count; i++) {
        const struct tim_kernel_stats *k = &totals->kernel[i];

        lw_hash_u64(&hash, k->grid);
        lw_hash_u64(&hash, k->queued);
        lw_hash_u64(&hash, k->dispatched);
        lw_hash_u64(&hash, k->started);
        lw_hash_u64(&hash, k->begun);
        lw_hash_u64(&hash, k->ended);
        lw_hash_u64(&hash, k->blocks);
        lw_hash_u64(&hash, k->warp_instructions);
        lw_hash_u64(&hash, k->thread_instructions);
    }
    return lw_hash_value(&hash);
}

/* ---- ratios ---------------------------------------------------------------------------------------- */

static double over(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

static double cycles(const struct tim_sums *s)
{
    return (double)s->gpu[TIM_GPU_cycles];
}

#define CORE_OF(name) ((double)s->core[TIM_CORE_##name])
#define SCHED_OF(name) ((double)s->sched[TIM_SCHED_##name])
#define SLICE_OF(name) ((double)s->slice[TIM_SLICE_##name])
#define CHANNEL_OF(name) ((double)s->channel[TIM_CHANNEL_##name])

#define RATIO(name, expression)                                                             \
    static double name(const struct tim_sums *s, const struct tim_config *c)                \
    {                                                                                       \
        (void)c;                                                                            \
        return expression;                                                                  \
    }
/* clang-format off */
RATIO(ipc, over(SCHED_OF(instructions), cycles(s)))
RATIO(thread_ipc, over(SCHED_OF(thread_instructions) - CORE_OF(dwr_barrier_lanes), cycles(s)))
RATIO(simd_efficiency, over(SCHED_OF(thread_instructions), SCHED_OF(instructions) * c->core_warp_width))
RATIO(occupancy, over(CORE_OF(warp_cycles), CORE_OF(active_cycles) * c->core_warps))
RATIO(cores_active, over(CORE_OF(active_cycles), cycles(s) * c->core_count))
RATIO(bubbles, c->dvfs_on ? over(CORE_OF(dvfs_bubble_cycles), cycles(s) * c->core_count - CORE_OF(dvfs_lost_cycles)) : NAN)
RATIO(slots_issued, over((double)s->reason[TIM_STALL_ISSUED],
                         cycles(s) * c->core_count * c->issue_schedulers * c->issue_width - (double)s->reason[TIM_STALL_ROTATION]))
RATIO(fetch_hit_rate, over(CORE_OF(fetches) - (c->fetch_l0_bytes != 0 ? CORE_OF(l0_misses) : CORE_OF(fetch_misses)),
                           CORE_OF(fetches)))
RATIO(prefetch_use, over(CORE_OF(prefetches_used), CORE_OF(prefetches)))
RATIO(conflicts_an_instruction, over(CORE_OF(bank_conflicts), SCHED_OF(instructions)))
RATIO(collect_latency, over(CORE_OF(collect_cycles), SCHED_OF(instructions)))
RATIO(rows_allocated, c->rows_on ? over(CORE_OF(rows_on) + CORE_OF(rows_drowsy), CORE_OF(rows_on) + CORE_OF(rows_drowsy) + CORE_OF(rows_off)) : NAN)
RATIO(rows_active, c->rows_on && c->rows_drowsy ? over(CORE_OF(rows_on), CORE_OF(rows_on) + CORE_OF(rows_drowsy)) : NAN)
RATIO(rows_spared, c->rows_on && c->rows_rename ? 1 - over(CORE_OF(rows_on) + CORE_OF(rows_drowsy), CORE_OF(rows_named)) : NAN)
RATIO(passes_an_access, over(CORE_OF(shared_passes), CORE_OF(shared_accesses)))
RATIO(accesses_an_instruction, over(CORE_OF(accesses),
      CORE_OF(global_loads) + CORE_OF(global_stores) + CORE_OF(global_atomics) + CORE_OF(local_accesses)))
RATIO(lanes_an_access, over(CORE_OF(access_lanes), CORE_OF(accesses)))
RATIO(coalescing_rate, over(CORE_OF(access_lanes), CORE_OF(requests)))
RATIO(sectors_an_access, over(CORE_OF(sectors), CORE_OF(accesses)))
RATIO(l1_hit_rate, over(CORE_OF(l1_hits), CORE_OF(l1_hits) + CORE_OF(l1_misses) + CORE_OF(l1_merges)))
RATIO(l1_mpki, over(1000 * CORE_OF(l1_misses), SCHED_OF(thread_instructions)))
RATIO(l1_mpki_warp, over(1000 * CORE_OF(l1_misses), SCHED_OF(instructions)))
RATIO(constant_hit_rate, over(CORE_OF(constant_hits), CORE_OF(constant_hits) + CORE_OF(constant_misses) + CORE_OF(constant_merges)))
RATIO(texture_hit_rate, over(CORE_OF(texture_hits), CORE_OF(texture_hits) + CORE_OF(texture_misses)))
RATIO(load_latency, over(CORE_OF(load_cycles), CORE_OF(loads_done)))
RATIO(shared_latency, over(CORE_OF(shared_load_cycles), CORE_OF(shared_loads_done)))
RATIO(l2_hit_rate, over(SLICE_OF(hits), SLICE_OF(hits) + SLICE_OF(misses) + SLICE_OF(merges)))
RATIO(l2_mpki, over(1000 * SLICE_OF(misses), SCHED_OF(thread_instructions)))
RATIO(l2_queue, over(SLICE_OF(queue_cycles), cycles(s) * c->clocks_l2 / c->clocks_core * c->l2_slices))
RATIO(dram_bandwidth, over((CHANNEL_OF(reads) + CHANNEL_OF(writes)) * c->dram_burst_bytes * c->clocks_core,
                           cycles(s) * 1000))
RATIO(dram_utilisation, over(CHANNEL_OF(busy_cycles),
                             cycles(s) * c->clocks_dram / c->clocks_core * c->dram_channels))
RATIO(dram_efficiency, over(CHANNEL_OF(busy_cycles), CHANNEL_OF(active_cycles)))
RATIO(dram_row_hit_rate, over(CHANNEL_OF(row_hits), CHANNEL_OF(reads) + CHANNEL_OF(writes)))
RATIO(dram_queue, over(CHANNEL_OF(queue_cycles), CHANNEL_OF(active_cycles)))

const struct tim_ratio tim_ratios[] = {
#define ROW(name, share, unit, help) {#name, unit, help, share, name},
ROW(ipc, false, "warp instructions per cycle", "warp instructions that the whole GPU issues per cycle, without replays")
ROW(thread_ipc, false, "thread instructions per cycle", "lanes of the issued splits, including lanes that a guard "
                                                        "disables; explicit LAT barriers (mechanism dwr) are not "
                                                        "counted")
ROW(simd_efficiency, true, "", "average number of lanes of an issued split, as a fraction of the warp width")
ROW(occupancy, true, "", "live warps as a fraction of core.warps, on cores with a resident block")
ROW(cores_active, true, "", "fraction of cores that have a resident block")
ROW(bubbles, true, "", "mechanism dvfs: share of the cores' own cycles with fewer than dvfs.threshold live warps")
ROW(slots_issued, true, "", "fraction of issue slots in which an instruction issued. Slots with stall reason "
                            "rotation are not counted")
ROW(fetch_hit_rate, true, "", "hit rate of the first instruction cache that a fetch looks up")
ROW(prefetch_use, true, "", "fraction of prefetched lines that a fetch used")
ROW(conflicts_an_instruction, false, "operand cycles", "average number of cycles for which the operands of an instruction wait for register banks")
ROW(collect_latency, false, "cycles", "average time of an instruction in its operand collector")
ROW(rows_allocated, true, "", "mechanism rows: allocated register rows as a fraction of the register file")
ROW(rows_active, true, "", "mechanism rows with rows.drowsy: fraction of the allocated register rows that are on")
ROW(rows_spared, true, "", "mechanism rows with rows.rename: fraction of the vector registers of resident warps that have no register row")
ROW(passes_an_access, false, "passes", "average number of passes of a shared memory instruction over the banks; 1: no bank conflicts")
ROW(accesses_an_instruction, false, "accesses", "average number of accesses of a global or local memory instruction; 1: fully coalesced")
ROW(lanes_an_access, false, "lane operations", "average number of lanes that one access serves")
ROW(coalescing_rate, false, "lane operations", "lane operations of memory instructions per packet that leaves a core")
ROW(sectors_an_access, false, "32-byte sectors", "average number of sectors that one access touches")
ROW(l1_hit_rate, true, "", "hit rate of loads in L1. A load of a line that was already requested is not a hit")
ROW(l1_mpki, false, "misses", "misses of L1 per thousand thread instructions")
ROW(l1_mpki_warp, false, "misses", "misses of L1 per thousand warp instructions")
ROW(constant_hit_rate, true, "", "hit rate of the constant caches")
ROW(texture_hit_rate, true, "", "hit rate of the texture caches")
ROW(load_latency, false, "cycles", "average time of a load from issue to the last result. Loads that access only shared memory are not included")
ROW(shared_latency, false, "cycles", "average time from issue to the last result of a load that accesses only shared memory")
ROW(l2_hit_rate, true, "", "hit rate of reads in L2. A read of a line that was already requested is not a hit")
ROW(l2_mpki, false, "misses", "misses of L2 per thousand thread instructions")
ROW(l2_queue, false, "requests", "average number of requests in the input queue of an L2 slice")
ROW(dram_bandwidth, false, "GB/s", "bandwidth of bursts read and written")
ROW(dram_utilisation, true, "", "fraction of all cycles in which the data buses transfer data")
ROW(dram_efficiency, true, "", "fraction of the cycles with requests or outstanding data in which the data buses transfer data")
ROW(dram_row_hit_rate, true, "", "fraction of column accesses that found their DRAM row open")
ROW(dram_queue, false, "requests", "average number of requests in the queue of a controller, over the cycles with requests or outstanding data")
#undef ROW
};
/* clang-format on */
const size_t tim_ratio_count = LW_COUNT_OF(tim_ratios);
