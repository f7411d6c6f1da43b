/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the cycles in which a core is idle, without a tick for each of them (event-driven simulation). A tick in every
 * cycle would give the same counts. On `fermi`, the cores tick in 73,019 of their 425,580 cycles for gemm, and in
 * 151,989 of 1,033,110 for bfs (callgrind).
 */
#include "timing/core/tim_core_priv.h"

/** issue.rotate: returns the number of cycles up to @through in which scheduler @s may issue. */
static uint64_t cycles_of(const struct tim_core *core, unsigned s, uint64_t through)
{
    const unsigned schedulers = core->config->issue_schedulers;

    return (through + schedulers - s) / schedulers;
}

/** Adds the idle cycles up to the end of cycle @through to the counts. Each idle cycle has the same counts as the last tick. */
static void account_idle(struct tim_core *core, uint64_t through)
{
    uint64_t cycles = through - core->counted;

    if (!core->idle || through <= core->counted)
        return;
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++)
        core->sums[i] += core->each[i] * cycles;
    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        core->hot.idle[s] += cycles;
    for (unsigned s = 0; tim_rotates(core) && s < core->config->issue_schedulers; s++) {
        uint64_t others = cycles - (cycles_of(core, s, through) - cycles_of(core, s, core->counted));

        core->hot.idle[s] -= others;
        tim_count_rotation(core, s, others);
    }
    core->counted = through;
}

/* idle_counts: the counter of each value of enum tim_idle_count. lasting_counts: the counter of each value of
 * enum tim_lasting. After a tick that changes a counter that is in neither table, the core is not idle. */
static const uint8_t idle_counts[TIM_IDLE_COUNTS] = {
    TIM_CORE_icnt_blocked, TIM_CORE_l1_blocked};
static const uint8_t lasting_counts[TIM_LASTS_COUNTS] = {
    TIM_CORE_active_cycles, TIM_CORE_warp_cycles, TIM_CORE_barrier_waits, TIM_CORE_dvfs_bubble_cycles, TIM_CORE_dvfs_bubble_active};

/** Adds the values of `lasting` to the counters, for the cycles before @before. */
static void account_lasting(struct tim_core *core, uint64_t before)
{
    if (before <= core->lasting_since)
        return;
    for (unsigned i = 0; i < (core->domain == NULL ? TIM_LASTS_BUBBLE : TIM_LASTS_COUNTS); i++)
        core->stats->count[lasting_counts[i]] += core->lasting[i] * (before - core->lasting_since);
    core->lasting_since = before;
}

void tim_core_last_on(struct tim_core *core, unsigned warps, unsigned at_barrier, uint64_t now)
{
    account_lasting(core, now);
    core->lasting[TIM_LASTS_ACTIVE] = core->blocks != 0;
    core->lasting[TIM_LASTS_WARPS] = warps;
    core->lasting[TIM_LASTS_BARRIER] = at_barrier;
    if (core->domain != NULL) {
        core->lasting[TIM_LASTS_BUBBLE] = warps < core->config->dvfs_threshold;
        core->lasting[TIM_LASTS_BUBBLE_ACTIVE] = core->lasting[TIM_LASTS_BUBBLE] && core->blocks != 0;
    }
}

void tim_core_account_rows(struct tim_core *core, uint64_t before)
{
    if (before <= core->rows_since)
        return;
    core->stats->count[TIM_CORE_register_rows] += core->rows_then * (before - core->rows_since);
    core->stats->count[TIM_CORE_register_rows_saved] += core->saved_then * (before - core->rows_since);
    core->rows_since = before;
}

void tim_core_account(struct tim_core *core, uint64_t through)
{
    account_idle(core, through);
    core->mechs.core.over = 1 + (core->ticking ? core->now : through);
    if (core->mechs.count != 0)
        tim_mechs_account(&core->mechs);
    account_lasting(core, core->counted + 1);
    if (core->has_tags)
        tim_core_account_rows(core, 1 + (core->ticking ? core->now : through));
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++) { /* includes what a running tick has counted so far */
        uint64_t more = core->ticking ? core->each[i] : 0;

        core->stats->count[idle_counts[i]] += core->sums[i] + more;
        core->sums[i] = 0 - more;
    }
    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        tim_flush_idle(core, s);
}

void tim_core_wake(struct tim_core *core, uint64_t cycle)
{
    unsigned i = core->wakes;

    while (i > 0 && core->wake_at[i - 1] > cycle)
        i--;
    if (i > 0 && core->wake_at[i - 1] == cycle)
        return;
    /* wake_at is full: the core is ticked in every cycle up to @cycle instead; an unnecessary tick changes no result */
    if (core->wakes == TIM_WAKES) {
        tim_core_poke(core);
        if (cycle > core->crowded)
            core->crowded = cycle;
        return;
    }
    for (unsigned k = core->wakes; k > i; k--) /* moves the later entries: the list is short */
        core->wake_at[k] = core->wake_at[k - 1];
    core->wake_at[i] = cycle;
    core->wakes++;
    if (cycle < *core->tick_at)
        tim_core_visit(core, cycle);
}

void tim_core_drop_wakes(struct tim_core *core, uint64_t now)
{
    unsigned past = 0;

    while (past < core->wakes && core->wake_at[past] <= now)
        past++;
    core->wakes -= past;
    for (unsigned i = 0; past != 0 && i < core->wakes; i++) /* moves the remaining entries: the list is short */
        core->wake_at[i] = core->wake_at[i + past];
}

bool tim_core_is_idle(struct tim_core *core, uint64_t now)
{
    if (!core->idle)
        return false;
    if (core->wakes != 0 && core->wake_at[0] <= now) {
        tim_core_drop_wakes(core, now);
        core->has_packet = core->has_packet || core->memory->ops->receive(core->memory, core->index,
                                                                         now + core->lag, &core->packet);
        core->poked = core->poked || core->no_capacity;
    }
    if (now < core->due && !core->poked && !core->has_packet) {
        tim_core_visit(core, core->wakes != 0 && core->wake_at[0] < core->due ? core->wake_at[0] : core->due);
        return true;
    }
    account_idle(core, now - 1);
    core->idle = false;
    core->unmoved = 0;
    tim_core_visit(core, 0);
    return false;
}
