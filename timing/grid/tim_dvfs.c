/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mechanism dvfs: a core with few warps is diverted (it accepts no new blocks), and when it is empty, its clock and
 * voltage are lowered. Registers DVR (diverted), DRN (draining) and DVFS (clock low or changing) have a bit for each core.
 * DVFS has a further bit for the clocks of all cores together. Decisions are made only at samples:
 *
 *   normal --few warps, another core takes blocks--> draining --empty--> falling, then low --blocks wait--> rising --> normal
 *      ^                                                |
 *      +------------- not empty after dvfs.wait --------+
 *
 * With dvfs.act vote the mechanism diverts no core: at each sample the votes of mechanism equalizer set the clocks of all cores
 * and, with dvfs.memory, those of crossbar, L2 and DRAM.
 * Source: specification of the dynamic parallelism thesis, section 10.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <inttypes.h>
#include <stdlib.h>

struct tim_dvfs *tim_dvfs_create(const struct tim_config *config)
{
    struct tim_dvfs *d = calloc(1, sizeof *d + config->core_count * sizeof *d->core);

    if (d == NULL)
        return NULL;
    d->next = config->dvfs_sample;
    for (unsigned c = 0; c < config->core_count; c++)
        d->core[c].armed = true;
    return d;
}

/** Sets which blocks core @c accepts (enum tim_closed), according to registers DVR, DRN and DVFS. Returns true if this has
 *  changed. */
static bool set_closed(const struct tim_grid *g, unsigned c)
{
    const struct tim_dvfs *d = g->dvfs;
    const bool votes = g->config->dvfs_act == TIM_DVFS_VOTE; /* cores take blocks also with the low clock */
    const enum tim_closed closed = votes ? TIM_OPEN : d->core[c].dvfs || d->dvfs ? TIM_CLOSED_ALL : d->core[c].dvr ? TIM_CLOSED_NEW : TIM_OPEN;
    const bool changes = g->cores[c]->closed != closed;

    g->cores[c]->closed = closed;
    return changes;
}

/** Sets the clock and the voltage that a core has from the next cycle on. The clock is low after a change to the low clock has
 *  ended and until the change back to the high clock has ended. The voltage is low while the clock is low and no change is in
 *  progress. */
static void set_clock(const struct tim_grid *g, unsigned c, uint64_t now)
{
    const struct tim_dvfs *d = g->dvfs;
    const struct tim_dvfs_core *core = &d->core[c];
    const bool own = core->dvfs && (core->done == 0 || core->rising), all = d->dvfs && (d->done == 0 || d->rising);
    const bool slow = g->config->dvfs_act >= TIM_DVFS_SCALE && (own || all);

    tim_domain_set_span(g->cores[c], TIM_SPAN_DIVERTED, g->cores[c]->closed != TIM_OPEN, now + 1);
    tim_domain_set_span(g->cores[c], TIM_SPAN_LOW, slow && ((own && core->done == 0) || (all && d->done == 0)), now + 1);
    tim_domain_set_slow(g->cores[c], slow, now + 1);
}

static bool update(const struct tim_grid *g, unsigned c, uint64_t now)
{
    const bool changes = set_closed(g, c);

    set_clock(g, c, now);
    return changes;
}

/** Begins a change of a core's clock, to the high clock if @rising, else to the low one. */
static void change(const struct tim_grid *g, unsigned c, bool rising, uint64_t now)
{
    struct tim_dvfs_core *core = &g->dvfs->core[c];

    core->dvfs = g->config->dvfs_act == TIM_DVFS_SCALE;
    core->rising = rising;
    core->done = core->dvfs ? now + g->config->dvfs_transition : 0;
}

static void change_all(const struct tim_grid *g, bool rising, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;

    d->dvfs = true;
    d->rising = rising;
    d->done = now + g->config->dvfs_transition;
}

/** Completes the changes that end in cycle @now. Returns true if a core accepts other blocks because of this. */
static bool complete(const struct tim_grid *g, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;
    bool changes = false, all = d->done != 0 && d->done <= now;

    if (all) {
        d->done = 0;
        d->dvfs = !d->rising;
    }
    for (unsigned c = 0; c < g->config->core_count; c++) {
        struct tim_dvfs_core *core = &d->core[c];
        const bool own = core->done != 0 && core->done <= now;

        if (own) {
            core->done = 0;
            core->dvfs = !core->rising;
        }
        if (own || all)
            changes |= update(g, c, now);
    }
    return changes;
}

/* ---- a sample --------------------------------------------------------------------------------- */

/** Returns true if the next block would fit on core @c if the core were not closed. */
static bool has_capacity(const struct tim_grid *g, unsigned c, const struct tim_launch *next)
{
    struct tim_core *core = g->cores[c];
    const enum tim_closed closed = core->closed;

    core->closed = TIM_OPEN;
    const bool fits = next == NULL || tim_core_fits(core, next->grid);
    core->closed = closed;
    return fits && tim_core_live_warps(core) < g->config->core_warps;
}

/** Returns true if a core accepts new blocks. */
static bool is_live(const struct tim_grid *g, unsigned c)
{
    return !g->dvfs->core[c].dvr && !g->dvfs->core[c].dvfs;
}

/** Returns true if another core can accept the blocks that core @c no longer accepts. */
static bool has_destination(const struct tim_grid *g, unsigned c, const struct tim_launch *next)
{
    for (unsigned o = 0; o < g->config->core_count; o++)
        if (o != c && is_live(g, o) && (!g->config->dvfs_busy || tim_core_live_warps(g->cores[o]) >= g->config->dvfs_threshold) &&
            has_capacity(g, o, next))
            return true;
    return false;
}

/** Returns true if a suspended block of core @c can continue, and waits to return to it. */
static bool is_called(const struct tim_grid *g, unsigned c)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (g->resume[i].core == c)
            return true;
    return false;
}

/** Returns the launch of the next block to place, or NULL if no block waits. Sets *wanted to whether blocks wait, but no core
 *  that accepts blocks has capacity. */
static const struct tim_launch *next_block(const struct tim_grid *g, bool *wanted)
{
    const struct tim_launch *entry = tim_grid_entry_after(g, 0), *next = entry == NULL ? NULL : tim_grid_unit(g, entry);

    *wanted = next != NULL;
    for (unsigned c = 0; c < g->config->core_count && *wanted; c++)
        *wanted = !(is_live(g, c) && has_capacity(g, c, next));
    return next;
}

static bool is_idle(const struct tim_grid *g)
{
    if (g->resume_count != 0 || tim_grid_has_more(g))
        return false;
    for (unsigned c = 0; c < g->config->core_count; c++)
        if (g->cores[c]->blocks != 0) /* a block stays until its last store is answered, even if its warps have ended */
            return false;
    return true;
}

/** Diverts a core that has few warps, or, if the core has enough warps, allows that it is diverted again. */
static void consider(const struct tim_grid *g, unsigned c, const struct tim_launch *next, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;
    struct tim_dvfs_core *core = &d->core[c];
    const unsigned warps = tim_core_live_warps(g->cores[c]);

    if (warps >= g->config->dvfs_threshold) {
        core->armed = true;
        return;
    }
    if (!core->armed || is_called(g, c) || !has_destination(g, c, next))
        return;
    core->dvr = true;
    g->gpu[TIM_GPU_dvfs_diversions]++;
    if (warps != 0 && g->config->dvfs_drain) {
        core->drn = true;
        core->drains_from = d->samples;
    } else {
        change(g, c, false, now);
    }
}

static void drain(const struct tim_grid *g, unsigned c, uint64_t now)
{
    struct tim_dvfs_core *core = &g->dvfs->core[c];

    if (tim_core_live_warps(g->cores[c]) == 0) {
        core->drn = false;
        g->gpu[TIM_GPU_dvfs_drained]++;
        change(g, c, false, now);
    } else if (g->dvfs->samples - core->drains_from >= g->config->dvfs_wait) {
        core->drn = core->dvr = core->armed = false;
        g->gpu[TIM_GPU_dvfs_aborts]++;
    }
}

/** Begins a change of the clocks of all cores. Returns true if a core accepts other blocks because of this. */
static bool change_clocks(const struct tim_grid *g, bool rising, uint64_t now)
{
    bool changes = false;

    g->gpu[TIM_GPU_dvfs_gpu_lows] += !rising;
    change_all(g, rising, now);
    if (g->config->dvfs_transition == 0)
        return complete(g, now);
    for (unsigned c = 0; c < g->config->core_count; c++)
        changes |= update(g, c, now);
    return changes;
}

/** Sets the clock that the memory has from the next cycle on. As for cores, the clock is low after a change to the low clock has
 *  ended and until the change back to the high clock has ended. */
static void set_memory(const struct tim_grid *g, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;
    const bool slow = d->memory.low && (d->memory.done == 0 || d->memory.rising);

    tim_dvfs_account(g, now + 1);
    d->memory.slow = slow;
    d->memory.since = now + 1;
    if (g->memory->ops->set_slow != NULL)
        g->memory->ops->set_slow(g->memory, slow, now + 1);
}

static void complete_memory(const struct tim_grid *g, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;

    if (d->memory.done == 0 || d->memory.done > now)
        return;
    d->memory.done = 0;
    d->memory.low = !d->memory.rising;
    set_memory(g, now);
}

/** Begins a change of the clocks of the memory. */
static void change_memory(const struct tim_grid *g, bool rising, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;

    g->gpu[TIM_GPU_dvfs_memory_lows] += !rising;
    d->memory.low = true;
    d->memory.rising = rising;
    d->memory.done = now + g->config->dvfs_transition;
    if (g->config->dvfs_transition == 0)
        complete_memory(g, now);
    else
        set_memory(g, now);
}

/** dvfs.act vote: counts what limits the cores that have live warps. Where most of them are limited by memory, the cores should have
 *  the low clock and the memory the high one; where most are limited by their pipes, the reverse. Where neither holds, clocks
 *  are normal: with dvfs.goal energy the high ones, and with speed the low ones. Source: specification of the book on GPU
 *  architectures, section 17.1. */
static bool count_votes(const struct tim_grid *g, uint64_t now)
{
    const bool fast = g->config->dvfs_goal == TIM_GOAL_SPEED;
    struct tim_dvfs *d = g->dvfs;
    unsigned voters = 0, votes[3] = {0};

    for (unsigned c = 0; c < g->config->core_count; c++)
        if (tim_core_live_warps(g->cores[c]) != 0) {
            voters++;
            votes[tim_equalizer_bound(&g->cores[c]->mechs)]++;
        }
    const bool memory = 2 * votes[TIM_BOUND_MEMORY] > voters, compute = 2 * votes[TIM_BOUND_COMPUTE] > voters;
    const bool cores_low = fast ? !compute : memory, memory_low = fast ? !memory : compute;

    g->gpu[TIM_GPU_dvfs_votes] += memory;
    g->gpu[TIM_GPU_dvfs_compute_votes] += compute;
    if (g->config->dvfs_memory && d->memory.done == 0 && memory_low != d->memory.low)
        change_memory(g, d->memory.low, now);
    return d->done == 0 && cores_low != d->dvfs && change_clocks(g, d->dvfs, now);
}

static bool sample(const struct tim_grid *g, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;
    bool resumed = false, changes = false, wanted;
    const struct tim_launch *next = next_block(g, &wanted);
    const bool scales = g->config->dvfs_act == TIM_DVFS_SCALE;

    d->samples++;
    g->gpu[TIM_GPU_dvfs_samples]++;
    if (g->config->dvfs_act == TIM_DVFS_VOTE)
        return count_votes(g, now);
    if (g->config->dvfs_act == TIM_DVFS_COUNT || d->done != 0)
        return false;
    if (scales && (d->dvfs || is_idle(g))) {
        if (d->dvfs && is_idle(g))
            return false;
        return change_clocks(g, d->dvfs, now);
    }
    for (unsigned c = 0; c < g->config->core_count; c++) {
        struct tim_dvfs_core *core = &d->core[c];

        if (core->done != 0)
            continue;
        if (!core->dvr) {
            consider(g, c, next, now);
        } else if (core->drn) {
            drain(g, c, now);
        } else if (!resumed && (wanted || is_called(g, c))) {
            core->dvr = false;
            change(g, c, true, now);
            resumed = true;
            g->gpu[TIM_GPU_dvfs_resumes]++;
        }
        changes |= update(g, c, now);
    }
    if (g->config->dvfs_transition == 0)
        changes |= complete(g, now);
    return changes;
}

void tim_dvfs_account(const struct tim_grid *g, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;

    if (d->memory.slow && now > d->memory.since) {
        g->gpu[TIM_GPU_dvfs_memory_low_cycles] += now - d->memory.since;
        d->memory.since = now;
    }
}

bool tim_dvfs_tick(struct tim_grid *g, uint64_t now)
{
    struct tim_dvfs *d = g->dvfs;
    bool changes = complete(g, now);

    complete_memory(g, now);
    if (now < d->next)
        return changes;
    d->next += g->config->dvfs_sample;
    return sample(g, now) || changes;
}

uint64_t tim_dvfs_next(const struct tim_grid *g)
{
    const struct tim_dvfs *d = g->dvfs;
    uint64_t next = d->next;

    if (d->done != 0 && d->done < next)
        next = d->done;
    if (d->memory.done != 0 && d->memory.done < next)
        next = d->memory.done;
    for (unsigned c = 0; c < g->config->core_count; c++)
        if (d->core[c].done != 0 && d->core[c].done < next)
            next = d->core[c].done;
    return next;
}

bool tim_dvfs_holds(const struct tim_grid *g)
{
    for (unsigned c = 0; c < g->config->core_count; c++)
        if (g->cores[c]->closed != TIM_OPEN)
            return true;
    return false;
}

unsigned tim_dvfs_bytes(const struct tim_config *config)
{
    /* whole words of 16 bits: DVR, DRN, and DVFS with an additional bit for the whole GPU */
    return 2 * ((config->core_count + 15) / 16 * 2) + (config->core_count + 1 + 15) / 16 * 2;
}

/* ---- words -------------------------------------------------------------------------------------- */

static const char *state_of(const struct tim_dvfs_core *core)
{
    return core->done != 0 ? core->rising ? "rises to the high clock" : "falls to the low clock"
           : core->dvfs    ? "has the low clock"
           : core->drn     ? "drains"
           : core->dvr     ? "is diverted"
           : core->armed   ? "takes blocks"
                           : "takes blocks, and is not diverted before a sample has found enough warps";
}

void tim_dvfs_show(const struct tim_grid *g, uint64_t now, struct lw_sink *out)
{
    const struct tim_dvfs *d = g->dvfs;

    lw_printf(out, "dvfs: hardware cost: %u bytes of registers; next sample in cycle %" PRIu64 "%s\n",
              tim_dvfs_bytes(g->config), d->next,
              !d->dvfs ? "" : d->done == 0 ? ", the clocks of all cores are low" : d->rising ? ", the clocks of all cores are "
                                                                                  "being raised" : ", the "
                                                                                                        "clocks of "
                                                                                                        "all cores "
                                                                                                        "are being "
                                                                                                        "lowered");
    if (g->config->dvfs_memory)
        lw_printf(out, "  the clocks of crossbar, L2 and DRAM are %s\n", d->memory.done != 0 ? d->memory.rising ? "being raised" : "being lowered"
                                                                        : d->memory.low    ? "low" : "high");
    for (unsigned c = 0; c < g->config->core_count; c++) {
        const struct tim_dvfs_core *core = &d->core[c];

        lw_printf(out, "  core %u: %u of %u warps, flags DVR %u, DRN %u, DVFS %u: the core %s", c,
                  tim_core_live_warps(g->cores[c]), g->config->core_warps, core->dvr, core->drn, core->dvfs, state_of(core));
        if (core->done > now)
            lw_printf(out, " in %" PRIu64 " cycles", core->done - now);
        if (core->drn)
            lw_printf(out, ", for %" PRIu64 " of %u samples", d->samples - core->drains_from, g->config->dvfs_wait);
        lw_put(out, "\n");
    }
}

void tim_dvfs_why(const struct tim_grid *g, unsigned core, uint64_t now, struct lw_sink *out)
{
    const struct tim_dvfs_core *is = &g->dvfs->core[core];

    if (g->cores[core]->closed == TIM_OPEN)
        return;
    lw_printf(out, "\ncore %u gets no new blocks (dvfs): the core %s", core, state_of(is));
    if (is->done > now)
        lw_printf(out, " in %" PRIu64 " cycles", is->done - now);
}
