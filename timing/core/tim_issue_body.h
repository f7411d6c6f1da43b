/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Issue: selects one of the ready warps of a scheduler, and starts its instruction. emu executes the instruction
 * completely at issue. The rest of the model only determines when other instructions may see its effects. The including
 * file must first define tim_ready_warps() and tim_ready_but_held().
 */

#include <assert.h>

/** Called when a barrier of the block may have opened, or when a lane has exited. Makes each warp without a running split ask
 *  emu again for a split that can run. */
static void wake_block(struct tim_core *core, const struct tim_block *block)
{
    for (unsigned k = 0; k < block->warps; k++) {
        struct tim_warp *w = &core->warp[block->warp_slot[k]];
        if (w->split < 0 && !w->ended)
            tim_warp_touch(core, block->warp_slot[k], TIM_TOUCH_SPLIT);
        else if (core->config->issue_switch_on_stall && w->split_count > 1) /* another split of the warp may run now */
            tim_warp_touch(core, block->warp_slot[k], TIM_TOUCH_STALL);
    }
}

/** Called after step @ev of @warp. Records whether the warp and its block have ended, and when the warp may fetch at another
 *  pc. */
static inline void note_step(struct tim_core *core, unsigned warp, const struct emu_event *ev, uint64_t now)
{
    struct tim_warp *w = &core->warp[warp];
    struct tim_block *block = &core->block[w->block];

    if (ev->warp_ended) {
        w->ended = true;
        core->hot.changes += tim_acts();
        tim_set_alive(core, warp, false);
        if (++block->ended == block->warps)
            core->hot.over |= UINT64_C(1) << w->block;
    }
    w->refetch_at = now + 1 + (ev->kind == EMU_EV_RETIRED ? core->config->issue_branch_latency : 0);
}

/** Calls the hook `cycle` of mechanisms with the ready warps of all schedulers, before any scheduler selects a warp. */
static __attribute__((noinline)) void update_mechanisms(struct tim_core *core, uint64_t now)
{
    struct tim_mechs_query *query = &core->mechs.query;

    query->at = now + 1;
    query->lsu_used = core->lsu_used;
    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        query->nearest[s] = (uint8_t)tim_ready_but_held(core, s, query->ready[s], now);
    core->moved |= tim_mechs_cycle(&core->mechs, query->ready);
}

/** Returns the number of cycles for which the warp of event @ev does not issue because of a call for a device launch. Returns 0
 *  if the event is no such call. */
static uint64_t launch_cycles(const struct tim_config *c, const struct emu_event *ev)
{
    unsigned lanes = lw_popcount(ev->effective);
    const bool grouped = c->dtbl_on && (c->dtbl_kernels || ev->insn->op == ISA_LAUNCH_GROUP);

    if (c->kernels_ideal)
        return 0;
    switch (ev->insn->op) {
    case ISA_LAUNCH_STREAM:
        return grouped ? 0 : c->kernels_stream_create;
    case ISA_LAUNCH_BUFFER:
    case ISA_LAUNCH_BUFFER_OF:
        return c->kernels_buffer_base + (uint64_t)c->kernels_buffer_lane * lanes;
    case ISA_LAUNCH_KERNEL:
    case ISA_LAUNCH_GROUP:
        if (grouped)
            return c->dtbl_serial ? c->dtbl_search + lanes : 0;
        return c->kernels_launch_base + (uint64_t)c->kernels_launch_lane * lanes;
    default:
        return 0;
    }
}

/** Called when @what issues. Sets the cycle from which on the warp may issue its next instruction, according to the control field
 *  of @what. */
static inline void apply_control(const struct tim_core *core, unsigned s, struct tim_warp *w,
                                 const struct tim_static *what, uint64_t now)
{
    w->not_before = now + what->stall;
    if (tim_windowed(core))
        w->not_before = tim_window_freeze(core, s, w, now, w->not_before);
    w->yields = what->yields && w->not_before < now + 2;
    if (w->yields)
        w->not_before = now + 2;
    if (what->depbar) {
        w->hold_bar = what->depbar_bar;
        w->hold_most = what->depbar_most;
        w->hold_from = now + core->config->issue_depbar_delay;
    }
}

/** Called for a warp that has issued. If the warp certainly cannot issue in the next cycle because of its stall count, caches
 *  this stall reason without a ready check. Any later change of the warp calls tim_warp_touch(). */
static inline void stall(struct tim_core *core, unsigned s, struct tim_warp *w, uint64_t now)
{
    struct tim_hot *hot = &core->hot;
    unsigned at = w->place;
    struct tim_known *known = &hot->known[at / 64], *first = &hot->known[tim_first(core, s) / 64];
    uint64_t bit = UINT64_C(1) << at % 64;

    if (w->not_before <= now + 1 || w->yields || w->expands || w->launching || w->ended || w->reselect || w->buffered == 0 ||
        w->buffer[0].arrives > now + 1 || w->buffer[0].constant || tim_head(w)->awaits != 0 ||
        w->sleep_until > now)
        return;
    known->recheck &= ~bit;
    known->timed |= bit;
    for (unsigned p = 0; p < LW_COUNT_OF(known->can); p++)
        known->can[p] &= ~bit;
    hot->recheck_at[at] = w->not_before;
    if (w->not_before < first->recheck_min)
        first->recheck_min = w->not_before;
    tim_set_stall(core, s, w, TIM_STALL_STALL);
}

/** Reports to mechanisms which lines of global memory an instruction accesses. */
static __attribute__((noinline)) void touch_lines(struct tim_core *core, const struct tim_op *op)
{
    for (unsigned i = 0; i < op->line_count; i++)
        if (op->line[i].to == TIM_TO_GLOBAL)
            tim_mechs_touch(&core->mechs, op->warp, op->line[i].line.line);
}

/** Returns the number of cycles for which the instruction occupies a pipe, or a scheduler, that starts @lanes lanes per
 *  cycle. @active: the lanes of warp @warp that execute it. */
static unsigned occupied(const struct tim_core *core, unsigned warp, const struct tim_static *what, uint64_t active, unsigned lanes)
{
    const struct tim_config *c = core->config;
    unsigned mode = what->path == TIM_PATH_MEMORY ? TIM_COMPRESS_NONE : c->issue_compression;

    return tim_compressed_cycles(mode, tim_permuted_lanes(c, warp, active, false), c->core_warp_width, lanes);
}

/* Implemented in tim_form_body.h. */
static void tim_form(struct tim_core *core, unsigned s, unsigned leader, uint64_t now);
static enum lw_status tim_form_issue(struct tim_core *core, unsigned s, uint64_t now, struct emu_event *ev,
                                     enum tim_step_result *result, struct lw_error *err);
static void tim_form_led(struct tim_core *core, const struct emu_event *ev, bool issued);

/** Executes the first instruction of a warp's buffer, which is @what. Sets *issued to false if emu did not execute it,
 *  because other lanes of the warp must run first. @second: in the second slot of dual issue. */
static enum lw_status execute(struct tim_core *core, unsigned s, unsigned warp,
                              const struct tim_static *what, bool second, uint64_t now,
                              struct emu_event *ev, bool *issued, struct lw_error *err)
{
    const struct tim_config *c = core->config;
    struct tim_warp *w = &core->warp[warp];
    struct tim_block *block = &core->block[w->block];
    uint64_t *count = core->stats->sched[s].count;
    uint64_t pc = w->pc;
    enum lw_status status;

    *issued = false;
    core->moved = true;
    core->slept = 0;
    status = emu_warp_step_at(w->state, (unsigned)w->split, w->split_lanes, ev, err);
    tim_warp_touch(core, warp, TIM_TOUCH_STALL);
    /* emu has executed nothing, and must be queried again for the split that runs. LW_EAGAIN: the instruction needs lanes that
     * are no longer in the split. LW_ESTATE: the split is not ready. LW_ERANGE: a debugger has changed the pc of lanes, so the
     * split does not exist any more. */
    if (status == LW_EAGAIN || status == LW_ESTATE || status == LW_ERANGE) {
        tim_warp_touch(core, warp, TIM_TOUCH_SPLIT);
        return LW_OK;
    }
    if (status != LW_OK)
        return status;
    *issued = true;
    if (ev->kind == EMU_EV_FAULT)
        return LW_OK;
    if (ev->kind == EMU_EV_RETIRED) {
        if (tim_traces(core))
            tim_trace_warp(core->trace, now + core->lag, core->index, warp, TIM_STALL_ISSUED, ev->insn, pc,
                           ev->split_lanes);
        struct tim_buffered entry = w->buffer[0];

        count[TIM_SCHED_instructions]++;
        core->issued_lanes = tim_count_lanes(core, ev->split_lanes);
        count[TIM_SCHED_thread_instructions] += core->issued_lanes;
        _Static_assert(TIM_SCHED_issued_61_64 - TIM_SCHED_issued_1_4 == EMU_MAX_LANES / 4 - 1, "a bin for four lanes each");
        if (core->issued_lanes != 0)
            count[TIM_SCHED_issued_1_4 + (core->issued_lanes - 1) / 4]++;
        unsigned effective = ev->effective == ev->split_lanes ? core->issued_lanes
                                                              : lw_popcount(ev->effective);
        count[TIM_SCHED_effective] += effective;
        if (tim_issues_by_lanes(core) && what->held == 0 && c->core_warp_width > c->issue_lanes)
            core->issue_at[s] = now + occupied(core, warp, what, ev->effective, c->issue_lanes);
        struct tim_mech_upper upper = {0};
        if (tim_has_mechanisms(core)) {
            const struct tim_mech_issue issue = {.warp = warp, .lanes = core->issued_lanes, .mask = ev->split_lanes, .pc = pc, .what = what,
                                                 .code = w->code, .instruction = core->op_age + 1};

            tim_mechs_issue(&core->mechs, &issue);
            if (tim_acts() && core->mechs.upper != NULL)
                core->mechs.upper->row->upper(core->mechs.upper, &issue, &upper);
        }
        if (tim_divides(core) && w->divided) {
            core->stats->count[TIM_CORE_dws_divisions]++;
            core->stats->count[TIM_CORE_dws_lanes] += core->issued_lanes;
        }
        w->buffered--;
        if (tim_has_operands(core))
            w->operand_held = 0;
        if (w->buffered != 0)
            w->buffer[0] = w->buffer[1];
        for (unsigned i = 1; i < w->buffered; i++) /* most buffers have two entries, so the loop seldom runs */
            w->buffer[i] = w->buffer[i + 1];
        w->pc = pc + ISA_WORD_BYTES;
        tim_warp_touch(core, warp, TIM_TOUCH_FETCH);
        const struct tim_static *as = what;
        struct tim_tagged tagged; /* initialised only if registers have tags */
        unsigned eager = 0;
        if (tim_has_tags(core))
            as = tim_tags_issue(core, w, what, ev, &tagged, &eager);
        count[TIM_SCHED_lanes_int + what->work] += as->held != 0 ? as->held : effective;
        uint64_t left = tim_windowed(core) ? tim_window_issue(core, s, w, what, &tagged, now) : 0;
        if (what->path != TIM_PATH_NONE) {
            uint32_t index = tim_op_take(core);
            if (index == TIM_NONE)
                return LW_FAIL(err, LW_ENOMEM, "the host has no memory for an instruction in flight");
            struct tim_op *op = &core->op[index];
            op->sched = (uint8_t)s;
            op->dual = second;
            if (tim_forms(core))
                core->formed->op = index;
            op->warp = (uint16_t)warp;
            op->what = as;
            op->near_reads = upper.reads;
            op->near_writes = upper.writes;
            op->slow_reads = upper.slow_reads;
            op->slow_writes = upper.slow_writes;
            op->late = upper.late;
            if (tim_has_tags(core)) {
                op->compact_reads = tagged.reads;
                op->compact_writes = tagged.writes;
                op->expands = tagged.expands;
            }
            op->pc = pc;
            op->lanes = ev->split_lanes;
            if (tim_compresses(core))
                op->interval = (uint8_t)occupied(core, warp, as, ev->effective, c->unit[as->unit].lanes);
            op->issued = now;
            tim_depend_issue(core, w, op, &entry, now);
            if (what->path == TIM_PATH_MEMORY && !tim_lsu_issue(core, op, ev))
                return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the accesses of an instruction");
            if (tim_acts() && core->mechs.touches)
                touch_lines(core, op);
            if (core->held != NULL && what->path == TIM_PATH_MEMORY)
                tim_held_step(core, warp, ev, op->cached && !what->to_constant);
            tim_pipe_issue(core, index, left, now);
        } else {
            w->vector_used &= (uint8_t)~entry.own;
            if (core->held != NULL) /* the instruction may be a fence, which drops lines of L1 */
                tim_held_step(core, warp, ev, false);
        }
        w->not_before = what->launch ? launch_cycles(c, ev) : 0;
        w->yields = false;
        if (tim_dependence(core) == TIM_DEP_CONTROL && w->hold_from <= now)
            w->hold_from = 0;
        w->launching = w->not_before != 0;
        core->launch_cycles = w->not_before;
        if (w->launching)
            w->not_before += now;
        else if (tim_dependence(core) == TIM_DEP_CONTROL)
            apply_control(core, s, w, what, now);
        w->expands = eager != 0 && w->not_before < now + 1 + eager;
        if (w->expands) { /* the expansion of tagged registers takes one cycle per register row */
            w->not_before = now + 1 + eager;
            w->yields = w->launching = false;
            core->stats->count[TIM_CORE_register_reads_compact] += eager;
            core->stats->count[TIM_CORE_register_writes] += eager;
        }
        if (what->sleep)
            w->sleep_until = now + ((uint64_t)core->slept * c->clocks_core + 999) / 1000;
    }
    note_step(core, warp, ev, now);
    /* The usual case: after the instruction the warp has only one split, which the event names, so the model need not query
     * the emulator for the split that runs next. With formed warps this query is necessary, because the warp may get the
     * contents of another warp's instruction buffer when the cycle ends. */
    if (core->addresses_only && ev->outcome_count == 1 && !tim_forms(core)) {
        const struct emu_outcome *on = ev->outcomes;

        w->split = (int)on->split;
        w->split_lanes = on->lanes;
        w->split_count = 1;
        if (w->pc != on->pc) {
            w->pc = on->pc;
            tim_fetch_flush(core, warp, w->refetch_at);
        }
        if (tim_operand_check(core) == TIM_CHECK_BARRIERS && tim_quick(core) && tim_width(core) == 1)
            stall(core, s, w, now);
    } else { /* the next split is selected later, so that observers see the state immediately after the instruction */
        tim_warp_touch(core, warp, TIM_TOUCH_SPLIT);
    }
    if (ev->cta.used || ev->exited != 0 || ev->warp_ended)
        wake_block(core, block);
    return LW_OK;
}

static bool any(const uint64_t *words, unsigned count)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < count; i++)
        all |= words[i];
    return all != 0;
}

/** With lsu.replay buffer: returns true if the next instruction of @w, which the scheduler has selected, finds no free
 *  collector. In this case counts a replay: the instruction takes the issue slots but remains in the warp's buffer. */
static bool is_replayed(struct tim_core *core, unsigned s, const struct tim_warp *w, uint64_t now)
{
    if (tim_pipe_free_slots(core, s, tim_head(w), now) != TIM_STALL_COLLECTOR)
        return false;
    core->moved = true; /* the core must not become idle, because idle cycles do not count replays */
    core->stats->count[TIM_CORE_replays_collector]++;
    core->stats->sched[s].count[TIM_SCHED_replays]++;
    for (unsigned slot = 0; slot < tim_width(core); slot++)
        core->stats->sched[s].reason[slot][TIM_STALL_REPLAY]++;
    return true;
}

/** issue.types: removes from @ready the warps that may not issue in another slot of this cycle: warps that have issued in
 *  this cycle, and warps whose next instruction has the type of an instruction that has issued in this cycle. */
static void leave_out_issued(const struct tim_core *core, unsigned s, uint64_t *ready)
{
    for (unsigned i = 0; i < tim_words(core); i++) {
        ready[i] &= ~core->issued_now[i];
        for (LW_EACH_BIT(b, ready[i]))
            if (core->types_issued >> tim_head(&core->warp[(i * 64 + (unsigned)b) * core->config->issue_schedulers + s])->type & 1)
                ready[i] &= ~(UINT64_C(1) << b);
    }
}

/** Counts slot @slot and the later slots of this cycle as slots that issue nothing. */
static inline void count_rest(struct tim_core *core, unsigned s, unsigned slot, enum tim_stall reason)
{
    if (!tim_types(core) || slot == 0) {
        tim_count_idle(core, s, reason);
        return;
    }
    for (unsigned k = slot; k < tim_width(core); k++)
        core->stats->sched[s].reason[k][TIM_STALL_SECOND]++;
}

/** Returns the index, among the warps of the scheduler, of the ready warp that issue.policy or a mechanism in its place
 *  selects, or -1 if there is none. */
static inline int choose(struct tim_core *core, unsigned s, const struct tim_sched_view *view)
{
    struct tim_mech *mech = tim_acts() ? core->mechs.chooses : NULL;
    int pick;

    if (mech == NULL)
        return tim_sched_policies[core->config->issue_policy].pick(&core->sched[s], view);
    pick = mech->row->chooses(mech, s, view->ready);
    if (pick == TIM_CHOICE_OF_POLICY)
        return tim_sched_policies[core->config->issue_policy].pick(&core->sched[s], view);
    core->sched[s].last = pick < 0 ? core->sched[s].last : pick;
    return pick;
}

static enum lw_status tim_core_issue(struct tim_core *core, unsigned s, unsigned slot, uint64_t now,
                              struct emu_event *ev, enum tim_step_result *result, bool *stopped,
                              struct lw_error *err)
{
    const struct tim_config *c = core->config;
    unsigned n = c->issue_schedulers, warp;
    uint64_t ready[TIM_MAX_WARPS / 64];
    bool issued = false;
    uint64_t *reasons;
    enum tim_stall nearest = TIM_STALL_EMPTY;
    enum lw_status status;
    int pick;

    *result = TIM_STEP_DONE;
    *stopped = false;
    if (tim_forms(core) && slot != 0)
        return tim_form_issue(core, s, now, ev, result, err);
    if (tim_passes(core, s, now)) {
        tim_count_rotation(core, s, 1);
        return LW_OK;
    }
    if (!tim_types(core) && tim_width(core) == 2 && slot == 1) { /* dual issue: the second slot may only issue an instruction
                                                                  * of the first slot's warp, to another unit */
        struct tim_warp *w = &core->warp[core->issued_warp];
        const struct tim_static *first = core->issued_what;

        if (w->reselect)
            tim_warp_ready_check(core, core->issued_warp, now);
        if (w->split < 0 || w->ended || first->path == TIM_PATH_NONE ||
            ready_check(core, w, s, now) != TIM_STALL_PICKED || tim_head(w)->unit == first->unit ||
            tim_head(w)->path == TIM_PATH_NONE ||
            (tim_has_mechanisms(core) && tim_core_holder(core, core->issued_warp) != NULL)) {
            core->stats->sched[s].reason[1][TIM_STALL_SECOND]++;
            return LW_OK;
        }
        warp = core->issued_warp;
    } else if (tim_replays(core) && core->replays_wait[s] != 0 && tim_replay_issue(core, s, now)) {
        return LW_OK;
    } else {
        if (tim_types(core) && slot == 0) {
            memset(core->issued_now, 0, sizeof core->issued_now);
            core->types_issued = 0;
        }
        nearest = tim_ready_warps(core, s, ready, now);
        if (tim_types(core))
            leave_out_issued(core, s, ready);
        if (!any(ready, tim_words(core))) {
            count_rest(core, s, slot, nearest);
            return LW_OK;
        }
        struct tim_sched_view view = {c, core->hot.count[s], ready,
                                      core->hot.age + tim_first(core, s),
                                      core->hot.live + tim_first(core, s)};
        struct tim_sched before = core->sched[s];
        enum tim_leave leave = TIM_MAY_ISSUE;
        do {
            pick = choose(core, s, &view);
            if (pick < 0) {
                count_rest(core, s, slot, nearest);
                return LW_OK;
            }
            warp = (unsigned)pick * n + s;
            if (tim_replays(core) && is_replayed(core, s, &core->warp[warp], now))
                return LW_OK;
            if (tim_has_operands(core) && !tim_levels_operand(core, s, warp, before.last == pick, now)) {
                core->sched[s] = before;
                nearest = tim_ready_warps(core, s, ready, now);
                leave = TIM_HELD;
                if (any(ready, tim_words(core))) /* constant.switch_for greedy: another warp may issue in this cycle */
                    continue;
                tim_count_idle(core, s, nearest);
                return LW_OK;
            }
            if (core->refuses == NULL)
                break;
            leave = core->refuses(core->context, core, warp);
            if (leave == TIM_HELD) { /* a debugger holds the warp: the scheduler selects another ready warp, if any */
                ready[pick / 64] &= ~(UINT64_C(1) << pick % 64);
                nearest = TIM_STALL_PICKED;
                core->sched[s] = before;
                if (tim_has_mechanisms(core))
                    tim_mechs_refuse(&core->mechs, warp);
            }
            core->moved |= leave == TIM_HELD; /* the core must not become idle: the warp can issue when the step ends */
        } while (leave == TIM_HELD);
        if (leave == TIM_STOPS) {
            core->sched[s] = before;
            *stopped = true;
            return LW_OK;
        }
        core->stats->sched[s].count[TIM_SCHED_switches] += before.last != pick;
    }
    if (!tim_types(core) && tim_width(core) == 2 && slot == 1 && core->refuses != NULL) {
        enum tim_leave leave = core->refuses(core->context, core, warp);

        *stopped = leave == TIM_STOPS;
        core->stats->sched[s].reason[1][TIM_STALL_SECOND] += leave == TIM_HELD;
        core->moved |= leave == TIM_HELD;
        if (leave != TIM_MAY_ISSUE)
            return LW_OK;
    }
    const struct tim_warp *w = &core->warp[warp];
    const struct tim_static *what = tim_quick(core) && slot == 0 ? w->head : tim_head(w);
    assert(tim_quick(core) || !tim_has_mechanisms(core) || tim_core_holder(core, warp) == NULL);
    if (tim_forms(core))
        tim_form(core, s, warp, now);
    status = execute(core, s, warp, what, slot == 1, now, ev, &issued, err);
    if (status != LW_OK)
        return status;
    reasons = core->stats->sched[s].reason[slot];
    if (tim_forms(core))
        tim_form_led(core, ev, issued);
    if (!issued) { /* other lanes of the warp must run first, which counts as a wait at a barrier */
        for (unsigned k = slot; k < tim_width(core); k++)
            core->stats->sched[s].reason[k][TIM_STALL_BARRIER]++;
        return LW_OK;
    }
    reasons[TIM_STALL_ISSUED] += ev->kind != EMU_EV_FAULT; /* after a fault, which ends the run, the slot has no reason */
    if (!tim_quick(core))
        tim_set_stall(core, s, &core->warp[warp], TIM_STALL_ISSUED);
    if (tim_types(core)) {
        const unsigned at = warp / n;

        core->issued_now[at / 64] |= UINT64_C(1) << at % 64;
        core->types_issued |= 1u << what->type;
    }
    core->issued_warp = warp;
    core->issued_what = what;
    *result = TIM_STEP_ISSUED;
    return LW_OK;
}
