/* SPDX-License-Identifier: Apache-2.0 */
/* Mechanisms that decide which loads get a line of L1. A load that bypasses L1 can still hit in L1, and can join an
 * outstanding miss of the same line; otherwise it loads from L2 and leaves L1 unchanged. */
#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_map_priv.h"

#include <stdlib.h>

/*
 * Token warps (priority-based cache allocation): all warps may issue, but only the oldest pcal.tokens warps have a token,
 * and only their loads get lines of L1. Loads of the other warps bypass L1. Together with mechanism swl, issue.limit
 * warps issue, and pcal.tokens of these have a token. Source: specification of the book on GPU architectures, section 16.9, the
 * static form.
 */
struct pcal {
    struct tim_mech base;
    unsigned tokens;
    struct tim_mech_list live; /* warps that have not ended */
};

static bool pcal_is_on(const struct tim_config *config)
{
    return config->pcal_on;
}

static struct tim_mech *pcal_create(const struct tim_mech_core *core)
{
    struct pcal *pcal = calloc(1, sizeof *pcal);

    if (pcal == NULL)
        return NULL;
    pcal->tokens = core->config->pcal_tokens;
    return &pcal->base;
}

static void pcal_destroy(struct tim_mech *mech)
{
    free(mech);
}

static void pcal_warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct pcal *pcal = (struct pcal *)mech;

    pcal->live.age[warp] = age;
    tim_mech_list_add(&pcal->live, warp);
}

static void pcal_warp_ends(struct tim_mech *mech, unsigned warp)
{
    tim_mech_list_remove(&((struct pcal *)mech)->live, warp);
}

/** Returns the number of warps that have a token. */
static unsigned tokens_held(const struct pcal *pcal)
{
    return pcal->live.count < pcal->tokens ? pcal->live.count : pcal->tokens;
}

static bool pcal_bypasses(struct tim_mech *mech, unsigned warp, uint64_t pc)
{
    const struct pcal *pcal = (const struct pcal *)mech;

    (void)pc;
    for (unsigned i = 0; i < tokens_held(pcal); i++)
        if (pcal->live.warp[i] == warp)
            return false;
    return true;
}

static void pcal_show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct pcal *pcal = (const struct pcal *)mech;

    lw_printf(out, "%u tokens, %u warps run; warps that have a token, the oldest first:", pcal->tokens, pcal->live.count);
    for (unsigned i = 0; i < tokens_held(pcal); i++)
        lw_printf(out, " %u", pcal->live.warp[i]);
    lw_put(out, "\n");
}

const struct tim_mechanism tim_pcal = {
    .name = "pcal", .summary = "token warps: only the oldest pcal.tokens warps get lines of L1; loads of other warps bypass L1",
    .is_on = pcal_is_on, .create = pcal_create, .destroy = pcal_destroy, .warp_begins = pcal_warp_begins, .warp_ends = pcal_warp_ends,
    .bypasses = pcal_bypasses, .show = pcal_show,
};

/*
 * Bypass by predicted reuse. The mechanism counts for each load instruction the lines that it has loaded into L1, and
 * how many of these were loaded again from L1. After reuse.sample lines, the instruction bypasses L1 if the share of lines
 * that were loaded again is below reuse.threshold. After reuse.period loads that bypass L1, it is sampled again.
 *
 *                     reuse.sample lines                share below reuse.threshold
 *      +-- sampling ----------------------> computed ------------------------------> bypassing --+
 *      |                                       | share large enough                               |
 *      |                                       +--> sampling anew                                 |
 *      +------------------------------- reuse.period loads --------------------------------------+
 *
 * Source: specification of the book on GPU architectures, section 16.5 (fills and reuse are counted for each pc). The source has
 * no period; reuse.period is a choice of this model.
 */
/** A load instruction. */
struct instruction {
    uint64_t pc;
    uint32_t lines, reused; /* lines: number of lines that it loaded into L1 in this sample; reused: how many of them
                             * were loaded again from L1 */
    uint32_t skipped;       /* number of loads that bypassed L1 since the instruction began to bypass L1 */
    uint32_t sample;        /* number of the sample */
    bool bypasses;
};
struct reuse {
    struct tim_mech base;
    struct instruction *instruction;
    size_t count, capacity;
    struct tim_map index_of; /* maps (pc, 0) to 1 + the index in `instruction` */
    struct tim_map held;     /* maps (line, 0) to 1 + the index of the instruction that loaded the line into L1; the upper 32
                              * bits are the number of that instruction's sample. 0: the line is not in L1, or was loaded
                              * again */
    bool no_memory;          /* some instructions or lines are not counted, because the host had no memory */
};

static bool reuse_is_on(const struct tim_config *config)
{
    return config->reuse_on;
}

static void reuse_destroy(struct tim_mech *mech)
{
    struct reuse *r = (struct reuse *)mech;

    tim_map_fini(&r->index_of);
    tim_map_fini(&r->held);
    free(r->instruction);
    free(r);
}

static struct tim_mech *reuse_create(const struct tim_mech_core *core)
{
    struct reuse *r = calloc(1, sizeof *r);

    (void)core;
    return r == NULL ? NULL : &r->base;
}

/** Returns the entry of the instruction at @pc, or NULL if memory is short. */
static struct instruction *entry_of(struct reuse *r, uint64_t pc)
{
    bool is_new;
    uint64_t *index = tim_map_at(&r->index_of, pc, 0, &is_new);

    if (index != NULL && *index != 0)
        return &r->instruction[*index - 1];
    if (index == NULL || !lw_grow(&r->instruction, &r->capacity, r->count + 1, sizeof *r->instruction)) {
        r->no_memory = true;
        return NULL;
    }
    r->instruction[r->count] = (struct instruction){.pc = pc};
    *index = ++r->count;
    return &r->instruction[r->count - 1];
}

/** Returns the value of @line in r->held, or NULL if memory is short. */
static uint64_t *held_of(struct reuse *r, uint64_t line)
{
    bool is_new;
    uint64_t *held = tim_map_at(&r->held, line, 0, &is_new);

    r->no_memory |= held == NULL;
    return held;
}

static void reuse_access(struct tim_mech *mech, const struct tim_mech_access *access)
{
    struct reuse *r = (struct reuse *)mech;
    uint64_t *held = held_of(r, access->line);
    struct instruction *by;

    if (held == NULL)
        return;
    if (!access->hit && !access->merge) {
        by = entry_of(r, access->pc);
        if (by == NULL)
            return;
        *held = ((uint64_t)(by - r->instruction) + 1) | (uint64_t)by->sample << 32;
        by->lines++;
        mech->core->count[TIM_CORE_reuse_lines]++;
    } else if (*held != 0) {
        by = &r->instruction[(uint32_t)*held - 1];
        by->reused += by->sample == *held >> 32;
        *held = 0;
        mech->core->count[TIM_CORE_reuse_reused]++;
    }
}

static void reuse_evict(struct tim_mech *mech, uint64_t line, unsigned owner)
{
    uint64_t *held = held_of((struct reuse *)mech, line);

    (void)owner;
    if (held != NULL)
        *held = 0;
}

static void reuse_drop(struct tim_mech *mech, uint64_t line)
{
    struct reuse *r = (struct reuse *)mech;

    if (line == UINT64_MAX)
        tim_map_fini(&r->held); /* after tim_map_fini() a map is empty and can be used again */
    else
        reuse_evict(mech, line, 0);
}

static bool reuse_bypasses(struct tim_mech *mech, unsigned warp, uint64_t pc)
{
    const struct tim_config *config = mech->core->config;
    struct instruction *i = entry_of((struct reuse *)mech, pc);

    (void)warp;
    if (i == NULL)
        return false;
    if (!i->bypasses && i->lines >= config->reuse_sample) {
        i->bypasses = (uint64_t)i->reused * 100 < (uint64_t)config->reuse_threshold * i->lines;
        i->lines = i->reused = i->skipped = 0;
        i->sample++;
    }
    if (i->bypasses && i->skipped++ == config->reuse_period)
        i->bypasses = false;
    return i->bypasses;
}

static void reuse_show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct reuse *r = (const struct reuse *)mech;

    for (size_t i = 0; i < r->count; i++) {
        const struct instruction *at = &r->instruction[i];

        lw_printf(out, "the instruction at 0x%llx ", (unsigned long long)at->pc);
        if (at->bypasses)
            lw_printf(out, "bypasses L1: %u of %u loads have bypassed L1\n", at->skipped, mech->core->config->reuse_period);
        else
            lw_printf(out, "has loaded %u of %u lines into L1, of which %u were loaded again\n", at->lines,
                      mech->core->config->reuse_sample, at->reused);
    }
    if (r->no_memory)
        lw_put(out, "the host had no memory for all instructions and lines\n");
}

const struct tim_mechanism tim_reuse = {
    .name = "reuse", .summary = "load instructions whose lines are not loaded again from L1 bypass L1",
    .is_on = reuse_is_on, .create = reuse_create, .destroy = reuse_destroy, .access = reuse_access, .evict = reuse_evict, .drop = reuse_drop,
    .bypasses = reuse_bypasses, .show = reuse_show,
};
