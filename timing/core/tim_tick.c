/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle of a core, phase by phase; which split a warp runs; and cycles that need no tick. */
#include "timing/core/tim_core_priv.h"

/* ---- which split runs -------------------------------------------------------------------------------------- */

static enum tim_cause why_not(const struct emu_split_view *views, unsigned count)
{
    enum tim_cause cause = TIM_CAUSE_BARRIER;

    for (unsigned i = 0; i < count; i++)
        if (views[i].state == EMU_SPLIT_SLEEPING)
            return TIM_CAUSE_SLEEP;
        else if (views[i].state == EMU_SPLIT_LAUNCH)
            cause = TIM_CAUSE_LAUNCH;
    return cause;
}

void tim_warp_ready_check(struct tim_core *core, unsigned warp, uint64_t now)
{
    struct tim_warp *w = &core->warp[warp];
    uint64_t from = w->look_from > now + 1 ? w->look_from : now + 1;
    const struct tim_block *block = &core->block[w->block];
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count;
    int split, was = w->split;

    w->look = false;
    core->moved = true;
    tim_set(&tim_sets_of(core, warp)->may_look, warp, false);
    tim_set(&tim_sets_of(core, warp)->sleeps, warp, false);
    tim_touch(core, warp);
    if (w->ended)
        return;
    split = emu_warp_select(core->emu, block->slot, w->index);
    count = emu_split_views(core->emu, block->slot, w->index, views, EMU_MAX_LANES);
    w->split = -1;
    w->split_count = count;
    for (unsigned i = 0; i < count; i++)
        if ((int)views[i].id == split && views[i].state == EMU_SPLIT_READY) {
            w->split = split;
            w->split_lanes = views[i].lanes;
            if (views[i].pc != w->pc) {
                w->pc = views[i].pc;
                tim_fetch_flush(core, warp, from);
            }
        }
    if (w->split < 0) {
        w->waits = (uint8_t)why_not(views, count);
        core->launch_waits |= w->waits == TIM_CAUSE_LAUNCH;
        tim_set(&tim_sets_of(core, warp)->sleeps, warp, w->waits == TIM_CAUSE_SLEEP);
    } else if (was < 0) {
        tim_want_fetch(core, warp);
        tim_set(&tim_sets_of(core, warp)->may_ask, warp, true);
    }
    tim_set_at_barrier(core, warp, w->split < 0 && w->waits == TIM_CAUSE_BARRIER);
}

static bool sleep_is_over(const struct tim_warp *w, uint64_t now)
{
    return w->split < 0 && w->waits == TIM_CAUSE_SLEEP && w->sleep_until <= now;
}

/* Warps whose split may be another, and those whose sleep may be @over. */
static void look_at_some(struct tim_core *core, bool over, uint64_t now)
{
    for (unsigned i = 0; i < tim_warp_words(core); i++) {
        uint64_t some = core->hot.set[i].may_look | (over ? core->hot.set[i].sleeps : 0);

        for (LW_EACH_BIT(b, some)) {
            unsigned w = i * 64 + (unsigned)b;
            const struct tim_warp *warp = &core->warp[w];
            if (warp->used && (warp->look || (over && sleep_is_over(warp, now))))
                tim_warp_ready_check(core, w, now);
            else if (!warp->used)
                tim_set(&tim_sets_of(core, w)->may_look, w, false);
        }
    }
}

/** Has the warp nothing under way? Once it has ended that stays so. */
static bool is_idle(const struct tim_core *core, const struct tim_block *block, unsigned k)
{
    const struct tim_warp *w = &core->warp[block->warp_slot[k]];

    return w->in_flight == 0 && w->writes_out == 0;
}

static void end_block(struct tim_core *core, unsigned b)
{
    struct tim_block *block = &core->block[b];

    core->hot.over &= ~(UINT64_C(1) << b);
    core->stats->count[TIM_CORE_blocks]++;
    tim_core_unseat(core, b);
    core->ended(core->context, block->grid);
    emu_core_block_free(core->emu, block->slot);
}

/** Blocks whose warps have ended and have nothing under way give their room back. */
static void end_blocks(struct tim_core *core)
{
    if (tim_skips(core)) {
        for (LW_EACH_BIT(b, core->hot.over)) {
            struct tim_block *block = &core->block[b];
            while (block->idle < block->warps && is_idle(core, block, block->idle))
                block->idle++;
            if (block->idle == block->warps)
                end_block(core, (unsigned)b);
        }
        return;
    }
    for (unsigned b = 0; b < core->config->core_blocks; b++) {
        const struct tim_block *block = &core->block[b];
        bool over = block->used && block->ended == block->warps;
        for (unsigned k = 0; over && k < block->warps; k++)
            over = is_idle(core, block, k);
        if (over)
            end_block(core, b);
    }
}

/* ---- the phases ------------------------------------------------------------------------------------------------ */

/* By enum tim_idle_count. Whatever else a tick counts, it has done something. */
static const uint8_t idle_counts[TIM_IDLE_COUNTS] = {
    TIM_CORE_icnt_blocked, TIM_CORE_l1_blocked, TIM_CORE_active_cycles, TIM_CORE_warp_cycles,
    TIM_CORE_barrier_waits};

static inline void before_issue(struct tim_core *core, uint64_t now)
{
    core->now = now;
    memset(core->each, 0, sizeof core->each);
    core->ticking = true;
    core->moved = core->poked;
    core->poked = core->no_room = false;
    if (tim_skips(core)) {
        const struct tim_flight *f = &core->flight;

        if (core->has_packet || core->crowded >= now ||
            (core->wakes != 0 && core->wake_at[0] <= now)) /* it told */
            tim_lsu_receive(core, now);
        if (core->far && core->wakes != 0 && core->wake_at[0] <= now + 2)
            tim_lsu_ahead(core);
        if (f->writing != 0 || f->ring_map >> now % TIM_RING & 1)
            tim_pipe_writeback(core, now);
        if (f->entering != 0 || (f->ready != 0 && f->pipes_at <= now))
            tim_pipe_dispatch(core, now);
        if ((tim_replays(core) && core->replays != 0) ||
            (core->queued != 0 && core->head_at <= now && !core->l1_stuck))
            tim_lsu_tick(core, now);
        else if (core->queued != 0 && core->head_at <= now) /* as its head's access finds */
            core->each[TIM_IDLE_L1]++;
        if (f->collecting != 0)
            tim_pipe_collect(core, now);
        if (tim_any_looks(core, true))
            look_at_some(core, true, now);
        return;
    }
    tim_lsu_receive(core, now);
    tim_pipe_writeback(core, now);
    tim_pipe_dispatch(core, now);
    tim_lsu_tick(core, now);
    tim_pipe_collect(core, now);
    for (unsigned w = 0; w < core->config->core_warps; w++)
        if (core->warp[w].used && (core->warp[w].look || sleep_is_over(&core->warp[w], now)))
            tim_warp_ready_check(core, w, now);
}

unsigned tim_core_begin(struct tim_core *core, uint64_t now)
{
    unsigned schedulers = core->config->issue_schedulers, s = 0;

    before_issue(core, now);
    if (tim_brisk(core))
        while (s < schedulers && tim_core_idles(core, s, now))
            s++;
    return s;
}

/** The reference, and in the window of a trace: a look at all warps. */
static __attribute__((noinline)) void count_warps(struct tim_core *core, uint64_t now)
{
    for (unsigned w = 0; w < core->config->core_warps; w++) {
        const struct tim_warp *warp = &core->warp[w];
        if (tim_traces(core) && warp->cause != TIM_CAUSE_ISSUED) {
            const struct tim_code *code = warp->used ? warp->code : NULL;
            const struct isa_insn *insn =
                code == NULL || warp->split < 0 ? NULL : emu_program_insn(code->program, warp->pc);
            tim_trace_warp(core->trace, now, core->index, w, (enum tim_cause)warp->cause, insn,
                           warp->pc, warp->split_lanes);
        }
        if (!warp->used)
            continue;
        core->each[TIM_IDLE_WARPS] += !warp->ended;
        core->each[TIM_IDLE_BARRIER] +=
            !warp->ended && warp->split < 0 && warp->waits == TIM_CAUSE_BARRIER;
    }
}

static inline void after_issue(struct tim_core *core, uint64_t now)
{
    const struct tim_hot *hot = &core->hot;

    if (tim_skips(core)) {
        if (tim_any_looks(core, false))
            look_at_some(core, false, now);
    } else {
        for (unsigned w = 0; w < core->config->core_warps; w++)
            if (core->warp[w].used && core->warp[w].look)
                tim_warp_ready_check(core, w, now);
    }
    if (!tim_quick(core) || tim_any_fetches(core))
        tim_fetch_tick(core, now);
    if (core->launch_waits || core->moving != 0)
        tim_suspend_tick(core, now);
    core->each[TIM_IDLE_ACTIVE] = core->blocks != 0;
    if (tim_skips(core) && !tim_traces(core)) {
        core->each[TIM_IDLE_WARPS] = hot->alive_count;
        core->each[TIM_IDLE_BARRIER] = hot->at_barrier_count;
        if (hot->over != 0)
            end_blocks(core);
        return;
    }
    count_warps(core, now);
    end_blocks(core);
}

/* ---- cycles without a tick ------------------------------------------------------------------------------------ */

static void sooner(uint64_t *due, uint64_t at, uint64_t now)
{
    if (at > now && at < *due)
        *due = at;
}

/** The first cycle behind @now by which a time that some phase compares with has come. */
static uint64_t next_time(const struct tim_core *core, uint64_t now)
{
    const struct tim_config *c = core->config;
    uint64_t due = tim_pipe_next(core, now);

    if (tim_quick(core)) {
        uint64_t next = tim_select_next(core, now);

        due = next < due ? next : due;
        next = tim_fetch_next(core, now);
        due = next < due ? next : due;
        for (unsigned i = 0; i < tim_warp_words(core); i++)
            for (LW_EACH_BIT(b, core->hot.set[i].sleeps))
                sooner(&due, core->warp[i * 64 + b].sleep_until, now);
        return due;
    }
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        for (unsigned p = 0; p < c->unit[u].pipes; p++) {
            uint64_t free_at = core->pipe[u][p].free_at;
            sooner(&due, free_at, now);
            if (free_at != 0) /* who needs it in the next cycle */
                sooner(&due, free_at - 1, now);
        }
    for (unsigned i = 0; i < c->core_warps; i++) {
        const struct tim_warp *w = &core->warp[i];
        if (!w->used)
            continue;
        sooner(&due, w->fetch_from, now);
        sooner(&due, w->sleep_until, now);
        sooner(&due, w->not_before, now);
        for (unsigned k = 0; k < w->buffered; k++) {
            sooner(&due, w->buffer[k].arrives, now);
            if (w->buffer[k].arrives != 0) /* constants are asked for a cycle earlier */
                sooner(&due, w->buffer[k].arrives - 1, now);
        }
    }
    return due;
}

/** The tick of cycle @now changed nothing but counters: until when would the next ones? */
static __attribute__((noinline)) void go_to_rest(struct tim_core *core, uint64_t now)
{
    core->due = next_time(core, now);
    if (core->due == now + 1)
        return;
    core->resting = true;
    *core->ripe = core->wakes != 0 && core->wake_at[0] < core->due ? core->wake_at[0] : core->due;
}

void tim_core_end(struct tim_core *core, uint64_t now)
{
    after_issue(core, now);
    core->counted = now;
    core->ticking = false;
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++) /* one by one, as they were just written */
        core->sums[i] += core->each[i];
    if (!core->moved && tim_skips(core) && core->crowded <= now && !tim_traces(core))
        go_to_rest(core, now);
}

/** The cycles that it rests, up to the end of cycle @through: as the last tick, again and again. */
static void account_rest(struct tim_core *core, uint64_t through)
{
    uint64_t cycles = through - core->counted;

    if (!core->resting || through <= core->counted)
        return;
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++)
        core->sums[i] += core->each[i] * cycles;
    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        core->hot.idle[s] += cycles;
    core->counted = through;
}

void tim_core_account(struct tim_core *core, uint64_t through)
{
    account_rest(core, through);
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++) { /* of a tick that is not over: what it has */
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
    if (core->wakes == TIM_WAKES) { /* then there is no rest: a tick too many does no harm */
        tim_core_poke(core);
        if (cycle > core->crowded)
            core->crowded = cycle;
        return;
    }
    for (unsigned k = core->wakes; k > i; k--) /* few */
        core->wake_at[k] = core->wake_at[k - 1];
    core->wake_at[i] = cycle;
    core->wakes++;
    if (cycle < *core->ripe)
        *core->ripe = cycle;
}

void tim_core_woken(struct tim_core *core, uint64_t now)
{
    unsigned past = 0;

    while (past < core->wakes && core->wake_at[past] <= now)
        past++;
    core->wakes -= past;
    for (unsigned i = 0; past != 0 && i < core->wakes; i++) /* few */
        core->wake_at[i] = core->wake_at[i + past];
}

bool tim_core_is_idle(struct tim_core *core, uint64_t now)
{
    if (!core->resting)
        return false;
    if (core->wakes != 0 && core->wake_at[0] <= now) {
        tim_core_woken(core, now);
        core->has_packet = core->has_packet || core->memory->ops->receive(core->memory, core->index,
                                                                         now, &core->packet);
        core->poked = core->poked || core->no_room;
    }
    if (now < core->due && !core->poked && !core->has_packet) {
        *core->ripe =
            core->wakes != 0 && core->wake_at[0] < core->due ? core->wake_at[0] : core->due;
        return true;
    }
    account_rest(core, now - 1);
    core->resting = false;
    *core->ripe = 0;
    return false;
}

const struct tim_cycle tim_cycle_functions = {tim_core_begin, tim_core_issue, tim_core_end};
