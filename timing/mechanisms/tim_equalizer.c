/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equalizer: adapts the number of blocks that run on a core to what their warps wait for. The oldest blocks run; warps of
 * the others are throttled. At regular samples the mechanism counts what the warps of running blocks do. At the
 * end of each epoch it compares the averages of the samples:
 *
 *   if excess memory instructions > warps of a block:      one block fewer may run, so that fewer warps share L1
 *   else if excess other instructions > warps of a block:  no change, because the pipes have enough work
 *   else if excess memory instructions > 2:                no change, because the memory has enough work
 *   else if waiting warps > half of the active warps:      one more block may run
 *
 * An excess instruction is one that could issue if there were no others: its warp is ready but not picked, or its queue
 * or pipe is full. Source: specification of the book on GPU architectures, section 17.1. Choices of this model: each
 * scheduler is assumed to pick a ready instruction that does not access memory; at least one block runs; a block whose warps
 * all wait does not count towards the limit. The source also has votes for the frequencies of two clock domains, with which it
 * saves energy or raises the speed: dvfs.act vote (timing/grid/tim_dvfs.c).
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdlib.h>

enum { BLOCKS = 64 };

/** Number of samples and, summed over the samples, the numbers of active warps, of waiting warps, of excess memory instructions
 *  and of other excess instructions. */
struct sums {
    uint64_t samples, active, waiting, memory, other;
};
struct equalizer {
    struct tim_mech base;
    unsigned limit;             /* maximum number of blocks that run */
    uint64_t epoch;             /* number of the current epoch */
    enum tim_bound bound;       /* what limited the warps in the last epoch */
    struct sums sum, last;      /* sum: of the current epoch; last: of the latest epoch that ended while the core had blocks */
    unsigned count;             /* number of blocks with a live warp */
    uint8_t order[BLOCKS];      /* [count] the blocks with a live warp, the oldest first */
    uint8_t block[TIM_MAX_WARPS]; /* by slot: the warp's block */
    uint16_t warps[BLOCKS];     /* by block: number of its warps that have begun */
    uint16_t live[BLOCKS];      /* by block: number of its live warps */
    uint16_t able[BLOCKS];      /* by block: number of its live warps that do not wait at a barrier or for a launch */
    bool runs[BLOCKS];          /* by block: its warps are not throttled */
};

static bool is_on(const struct tim_config *config)
{
    return config->equalizer_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct equalizer *eq = calloc(1, sizeof *eq);

    if (eq == NULL)
        return NULL;
    eq->limit = config->core_blocks;
    return &eq->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

/** Determines which blocks run: the oldest, up to the limit. */
static void select_blocks(struct equalizer *eq)
{
    unsigned left = eq->limit;

    for (unsigned i = 0; i < eq->count; i++) {
        unsigned block = eq->order[i];

        eq->runs[block] = left != 0;
        left -= left != 0 && eq->able[block] != 0;
    }
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct equalizer *eq = (struct equalizer *)mech;
    unsigned block = mech->core->block_of(mech->core->context, warp);

    (void)age; /* not needed: the warps of a block begin after those of all older blocks */
    eq->block[warp] = (uint8_t)block;
    if (eq->live[block]++ == 0) {
        eq->order[eq->count++] = (uint8_t)block;
        eq->warps[block] = eq->able[block] = 0;
    }
    eq->warps[block]++;
    eq->able[block]++;
    select_blocks(eq);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct equalizer *eq = (struct equalizer *)mech;
    unsigned block = eq->block[warp], kept = 0;

    eq->able[block]--;
    eq->live[block]--;
    for (unsigned i = 0; i < eq->count; i++)
        if (eq->live[eq->order[i]] != 0)
            eq->order[kept++] = eq->order[i];
    eq->count = kept;
    select_blocks(eq);
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    struct equalizer *eq = (struct equalizer *)mech;
    uint16_t *able = &eq->able[eq->block[warp]];

    *able = begins ? *able - 1 : *able + 1;
    if (*able == (begins ? 0 : 1))
        select_blocks(eq);
}

static void sample(struct equalizer *eq, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    const struct tim_mech_core *core = eq->base.core;
    const struct tim_config *config = core->config;

    eq->sum.samples++;
    for (unsigned s = 0; s < config->issue_schedulers; s++) {
        unsigned ready_memory = 0, ready_other = 0, left = config->issue_width;

        for (unsigned warp = s; warp < config->core_warps; warp += config->issue_schedulers) {
            struct tim_mech_warp w;

            core->look(core->context, warp, &w);
            if (!w.used || w.ended || w.lanes == 0 || eq->live[eq->block[warp]] == 0 || !eq->runs[eq->block[warp]])
                continue;
            eq->sum.active++;
            if ((ready[s][warp / config->issue_schedulers / 64] >> warp / config->issue_schedulers % 64 & 1) != 0) {
                ready_memory += w.next->path == TIM_PATH_MEMORY;
                ready_other += w.next->path != TIM_PATH_MEMORY;
            } else if (!core->could_issue(core->context, warp)) {
                eq->sum.waiting++;
            } else { /* the warp's instruction could issue if its queue, collector or pipe were not full */
                eq->sum.memory += w.next->path == TIM_PATH_MEMORY;
                eq->sum.other += w.next->path != TIM_PATH_MEMORY;
            }
        }
        for (; left != 0 && ready_memory + ready_other != 0; left--)
            *(ready_other != 0 ? &ready_other : &ready_memory) -= 1;
        eq->sum.memory += ready_memory;
        eq->sum.other += ready_other;
    }
}

/** Changes the maximum number of blocks that run, according to the sums of the epoch. */
static void decide(struct equalizer *eq)
{
    const struct sums *sum = &eq->sum;
    uint64_t *count = eq->base.core->count;
    uint64_t enough = (uint64_t)eq->warps[eq->order[0]] * sum->samples;
    unsigned running = eq->limit < eq->count ? eq->limit : eq->count;

    if (sum->active == 0)
        return;
    if (sum->memory > enough) {
        count[TIM_CORE_equalizer_memory]++;
        if (running > 1) {
            eq->limit = running - 1;
            count[TIM_CORE_equalizer_fewer]++;
        }
    } else if (sum->other > enough) {
        count[TIM_CORE_equalizer_compute]++;
    } else if (sum->memory > 2 * sum->samples) {
        count[TIM_CORE_equalizer_memory]++;
    } else if (2 * sum->waiting > sum->active) {
        count[sum->other > sum->memory ? TIM_CORE_equalizer_compute : TIM_CORE_equalizer_memory]++;
        if (eq->limit < eq->base.core->config->core_blocks) {
            eq->limit++;
            count[TIM_CORE_equalizer_more]++;
        }
    }
}

/* While the core has no block, samples and ends of epochs have no effect, because the event-driven model need not call this hook
 * then. */
static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct equalizer *eq = (struct equalizer *)mech;
    const struct tim_config *config = mech->core->config;
    uint64_t now = mech->core->now;
    unsigned before = eq->limit;

    if (now / config->equalizer_epoch != eq->epoch) {
        eq->epoch = now / config->equalizer_epoch;
        if (now % config->equalizer_epoch == 0 && eq->count != 0) {
            const uint64_t *count = mech->core->count, memory = count[TIM_CORE_equalizer_memory], compute = count[TIM_CORE_equalizer_compute];

            decide(eq);
            eq->bound = count[TIM_CORE_equalizer_memory] != memory ? TIM_BOUND_MEMORY
                        : count[TIM_CORE_equalizer_compute] != compute ? TIM_BOUND_COMPUTE : TIM_BOUND_NONE;
            eq->last = eq->sum;
            select_blocks(eq);
        }
        eq->sum = (struct sums){0};
    }
    if (now % config->equalizer_sample == 0 && eq->count != 0)
        sample(eq, ready);
    return eq->limit != before;
}

enum tim_bound tim_equalizer_bound(const struct tim_mechs *mechs)
{
    for (unsigned i = 0; i < mechs->count; i++)
        if (mechs->mech[i]->row == &tim_equalizer)
            return ((const struct equalizer *)mechs->mech[i])->bound;
    return TIM_BOUND_NONE;
}

static uint64_t next(struct tim_mech *mech, uint64_t since)
{
    const struct tim_config *config = mech->core->config;
    uint64_t sample_at = (since / config->equalizer_sample + 1) * config->equalizer_sample;
    uint64_t end_at = (since / config->equalizer_epoch + 1) * config->equalizer_epoch;

    return sample_at < end_at ? sample_at : end_at;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    const struct equalizer *eq = (const struct equalizer *)mech;

    (void)what;
    return !eq->runs[eq->block[warp]];
}

static unsigned running(const struct equalizer *eq)
{
    unsigned count = 0;

    for (unsigned i = 0; i < eq->count; i++)
        count += eq->runs[eq->order[i]];
    return count;
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct equalizer *eq = (const struct equalizer *)mech;

    (void)warp;
    lw_printf(out, "the block is paused; %u of %u blocks run, the oldest", running(eq), eq->count);
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    *name = "equalizer: blocks that run";
    *value = running((const struct equalizer *)mech);
    return index == 0;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct equalizer *eq = (const struct equalizer *)mech;
    const double samples = eq->last.samples != 0 ? (double)eq->last.samples : 1;

    lw_printf(out, "%u of %u blocks run, at most %u; averages of the last epoch: %.1f active warps, %.1f waiting; excess "
                   "instructions: %.1f of memory, %.1f others\n",
              running(eq), eq->count, eq->limit, (double)eq->last.active / samples, (double)eq->last.waiting / samples,
              (double)eq->last.memory / samples, (double)eq->last.other / samples);
}

const struct tim_mechanism tim_equalizer = {
    .name = "equalizer", .summary = "Equalizer: the number of running blocks depends on what their warps wait for",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .warp_ends = warp_ends, .waits = waits,
    .cycle = cycle, .next = next, .holds = holds, .why = why, .gauge = gauge, .show = show,
};
