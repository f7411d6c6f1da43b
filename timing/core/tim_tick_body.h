/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle of a core in the event-driven model, phase by phase. Each phase visits only the warps, blocks and instructions
 * for which it may have work. */

/* Queries the running split of each warp for which emu may have selected another split and, if @over is set, of each warp whose
 * sleep has ended. */
static void reselect_some(struct tim_core *core, bool over, uint64_t now)
{
    for (unsigned i = 0; i < tim_warp_words(core); i++) {
        uint64_t some = core->hot.set[i].reselect | (over ? core->hot.set[i].sleeps : 0);

        for (LW_EACH_BIT(b, some)) {
            unsigned w = i * 64 + (unsigned)b;
            const struct tim_warp *warp = &core->warp[w];
            if (warp->used && (warp->reselect || (over && sleep_is_over(warp, now))))
                tim_warp_ready_check(core, w, now);
            else if (!warp->used)
                tim_set(&tim_sets_of(core, w)->reselect, w, false);
        }
    }
}

/** Frees the resources of blocks whose warps have all ended and have no instructions or accesses in flight. */
static void end_blocks(struct tim_core *core)
{
    for (LW_EACH_BIT(b, core->hot.over)) {
        struct tim_block *block = &core->block[b];
        while (block->idle < block->warps && is_idle(core, block, block->idle))
            block->idle++;
        if (block->idle == block->warps)
            end_block(core, (unsigned)b);
    }
}

/* ---- instructions in flight whose time is reached ------------------------------------------------------- */

static void tim_pipe_writeback(struct tim_core *core, uint64_t now)
{
    struct tim_flight *f = &core->flight;
    unsigned left = 0;

    advance_ring(core, now);
    for (unsigned n = 0; n < f->writing; n++)
        if (write_rows(core, &core->op[f->write[n].op], now))
            finish(core, f->write[n].op, now);
        else
            f->write[left++] = f->write[n];
    f->writing = left;
}

/** Returns a cycle before which no pipe is free for the instruction. Reads only the list entry, not the instruction. */
static inline uint64_t pipe_at(const struct tim_core *core, const struct tim_aged *aged, uint64_t now)
{
    return aged->only == 0 ? now : core->pipes[aged->only - 1].free_at;
}

static void tim_pipe_dispatch(struct tim_core *core, uint64_t now)
{
    struct tim_flight *f = &core->flight;
    unsigned left = 0;

    for (unsigned n = 0; n < f->entering; n++)
        enter_reserved(core, &core->op[f->enter[n].op], now);
    f->entering = 0;
    if (f->pipes_at > now)
        return;
    f->pipes_at = UINT64_MAX;
    for (unsigned n = 0; n < f->ready; n++) {
        uint64_t at = pipe_at(core, &f->wait[n], now);

        if (at <= now && enter_ticked(core, &core->op[f->wait[n].op], now))
            continue;
        f->wait[left++] = f->wait[n];
        if (at <= now) /* enter_ticked() found none of several pipes free: try again in the next cycle */
            at = now + 1;
        f->pipes_at = at < f->pipes_at ? at : f->pipes_at;
    }
    f->ready = left;
}

static void tim_pipe_collect(struct tim_core *core, uint64_t now)
{
    struct tim_flight *f = &core->flight;
    unsigned left = 0;

    for (unsigned n = 0; n < f->collecting; n++)
        if (read_rows(core, &core->op[f->collect[n].op], now)) {
            await_pipe(core, f->collect[n].op);
        } else {
            f->collect[left++] = f->collect[n];
        }
    f->collecting = left;
}

/* ---- the phases ------------------------------------------------------------------------------------------------ */

static inline void before_issue(struct tim_core *core, uint64_t now)
{
    const struct tim_flight *f = &core->flight;

    begin_tick(core, now);
    if (tim_has_tags(core) && (core->rows_then != core->rows || core->saved_then != core->rows_saved)) {
        tim_core_account_rows(core, now);
        core->rows_then = core->rows;
        core->saved_then = core->rows_saved;
    }
    if (core->has_packet || core->crowded >= now ||
        (core->wakes != 0 && core->wake_at[0] <= now)) /* memory has woken the core */
        tim_lsu_receive(core, now);
    if (tim_has_levels(core) &&
        (tim_front_arrival(&core->front->down) <= now || tim_front_arrival(&core->front->up) <= now))
        tim_levels_tick(core, now);
    if (tim_has_local(core) && core->reads_next <= now)
        tim_local_reads(core, now);
    if (f->writing != 0 || f->ring_map >> now % TIM_RING & 1)
        tim_pipe_writeback(core, now);
    if (f->entering != 0 || (f->ready != 0 && f->pipes_at <= now))
        tim_pipe_dispatch(core, now);
    if (tim_has_local(core) && tim_local_busy(core))
        tim_local_tick(core, now);
    if (tim_divides(core) && core->early_next <= now)
        tim_early_results(core, now);
    if (tim_orders(core) && core->queued > 1)
        tim_lsu_order(core, now);
    if ((tim_replays(core) && core->replays != 0) || (tim_acts() && tim_mechs_reexecute(&core->mechs)) ||
        (core->queued != 0 && core->head_at <= now && !core->l1_stuck))
        tim_lsu_tick(core, now);
    else if (core->queued != 0 && core->head_at <= now) /* l1_stuck: the access of the queue's head would be blocked again */
        core->each[TIM_IDLE_L1]++;
    if (tim_separate(core))
        tim_sides_tick(core, now);
    if (f->collecting != 0)
        tim_pipe_collect(core, now);
    if (tim_acts() && core->mechs.registers)
        tim_mechs_count(&core->mechs);
    if (tim_any_reselect(core, true))
        reselect_some(core, true, now);
}

static unsigned tim_core_begin(struct tim_core *core, uint64_t now)
{
    unsigned schedulers = core->config->issue_schedulers, s = 0;

    before_issue(core, now);
    if (tim_acts() && core->mechs.cycle)
        update_mechanisms(core, now);
    if (tim_brisk(core))
        while (s < schedulers && tim_core_idles(core, s, now))
            s++;
    return s;
}

static inline void after_issue(struct tim_core *core, uint64_t now)
{
    const struct tim_hot *hot = &core->hot;

    if (tim_any_reselect(core, false))
        reselect_some(core, false, now);
    if (!tim_quick(core) || tim_any_fetches(core))
        tim_fetch_tick(core, now);
    tim_fetch_ahead(core, now);
    if (tim_has_levels(core) && (!tim_quick(core) || core->front->may_request != 0))
        core->moved |= tim_front_grant(core->front, !tim_quick(core), now);
    if (!tim_kind.fixed && tim_has_levels(core))
        core->front->taken = 0;
    for (unsigned s = 0; tim_fetches_greedily(core) && s < core->config->issue_schedulers; s++)
        core->fetch_follows[s] = core->sched[s].last;
    if (core->launch_waits || core->moving != 0)
        tim_suspend_tick(core, now);
    if (tim_traces(core) && tim_has_mechanisms(core))
        tim_mechs_trace(&core->mechs, core->trace, core->index, now + core->lag);
    if (tim_traces(core))
        count_warps(core, now);
    else if (core->recount)
        tim_core_last(core, hot->alive_count, hot->at_barrier_count, now);
    if (hot->over != 0)
        end_blocks(core);
}

/* ---- cycles without a tick ------------------------------------------------------------------------------------ */

static void sooner(uint64_t *due, uint64_t at, uint64_t now)
{
    if (at > now && at < *due)
        *due = at;
}

/** Returns the first cycle after @now in which a phase has work only because that cycle is reached. */
static uint64_t next_time(const struct tim_core *core, uint64_t now)
{
    const struct tim_config *c = core->config;
    uint64_t due = tim_pipe_next(core, now);

    if (tim_has_local(core))
        sooner(&due, tim_local_next(core, now), now);
    if (tim_divides(core))
        sooner(&due, core->early_next, now);
    if (tim_has_levels(core))
        sooner(&due, tim_levels_next(core, now), now);

    /* With issue.rotate, a scheduler processes a time that was reached in the cycle of another scheduler only in its own next
     * cycle. So times since the last cycle of each scheduler count, too. */
    const uint64_t looked = tim_rotates(core) ? now - (c->issue_schedulers - 1) : now;
    if (tim_has_mechanisms(core)) {
        uint64_t next = tim_mechs_next(&core->mechs, looked);

        due = next < due ? next : due;
    }
    if (tim_quick(core)) {
        uint64_t next = tim_select_next(core, looked);

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
            sooner(&due, free_at, looked);
            if (free_at != 0) /* an instruction may issue one cycle before its pipe is free */
                sooner(&due, free_at - 1, looked);
        }
    for (unsigned s = 0; tim_windowed(core) && s < c->issue_schedulers; s++)
        sooner(&due, core->window[s].control_at, now);
    for (unsigned s = 0; tim_has_operands(core) && s < c->issue_schedulers; s++)
        sooner(&due, core->switch_at[s], now);
    for (unsigned s = 0; tim_issues_by_lanes(core) && s < c->issue_schedulers; s++)
        sooner(&due, core->issue_at[s], looked);
    for (unsigned i = 0; i < c->core_warps; i++) {
        const struct tim_warp *w = &core->warp[i];
        if (!w->used)
            continue;
        sooner(&due, w->fetch_from, now);
        sooner(&due, w->sleep_until, looked);
        sooner(&due, w->not_before, looked);
        sooner(&due, w->new_seen, looked);
        sooner(&due, w->hold_from, looked);
        for (unsigned k = 0; k < w->buffered; k++) {
            sooner(&due, w->buffer[k].arrives, looked);
            if (w->buffer[k].arrives != 0) /* a constant is requested one cycle before its instruction may issue */
                sooner(&due, w->buffer[k].arrives - 1, now);
        }
    }
    return due;
}

/** Called if the tick of cycle @now changed only counters. Makes the core idle until the first cycle in which a tick may
 *  change more than counters. */
static __attribute__((noinline)) void go_idle(struct tim_core *core, uint64_t now)
{
    if (tim_rotates(core) && ++core->unmoved < core->config->issue_schedulers)
        return; /* since the last change of a stall reason, some scheduler has had no cycle in which it could issue */
    core->due = next_time(core, now);
    if (core->due <= now + 1)
        return;
    core->unmoved = 0;
    core->idle = true;
    tim_core_visit(core, core->wakes != 0 && core->wake_at[0] < core->due ? core->wake_at[0] : core->due);
}

static void tim_core_end(struct tim_core *core, uint64_t now)
{
    after_issue(core, now);
    end_tick(core, now);
    if (tim_rotates(core) && core->moved)
        core->unmoved = 0;
    if (!core->moved && core->crowded <= now && !tim_traces(core))
        go_idle(core, now);
}
