/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ready check: which split of a warp runs, and what keeps its next instruction from issuing.
 */

/* ---- which split runs -------------------------------------------------------------------------- */

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

/** Ask emu which split of the warp runs; where its pc is another than the buffer's, fetches begin
 *  again, in the next cycle or w->look_from. */
static void tim_warp_ready_check(struct tim_core *core, unsigned warp, uint64_t now)
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

/* ---- what keeps it ---------------------------------------------------------------------------- */

/** What keeps a warp's next instruction from issuing, room aside; PICKED: nothing. @again: the cycle
 *  before which that is so unless the warp is touched; UINT64_MAX: it is until then. */
static inline enum tim_cause tim_issue_but_room(const struct tim_core *core,
                                                const struct tim_warp *w, uint64_t now,
                                                uint64_t *again)
{
    const struct tim_static *what;
    enum tim_cause cause;

    *again = UINT64_MAX;
    if (!w->used)
        return TIM_CAUSE_EMPTY;
    if (w->ended)
        return TIM_CAUSE_ENDED;
    if (w->sleep_until > now) {
        *again = w->sleep_until;
        return TIM_CAUSE_SLEEP;
    }
    if (w->split < 0)
        return (enum tim_cause)w->waits;
    if (w->buffered == 0)
        return TIM_CAUSE_FETCH;
    if (w->buffer[0].arrives > now) {
        *again = w->buffer[0].arrives;
        return TIM_CAUSE_FETCH;
    }
    what = tim_head(w);
    if (w->buffer[0].constant && !w->buffer[0].constant_there)
        return TIM_CAUSE_CONSTANT;
    if (what->fence && w->writes_out != 0)
        return TIM_CAUSE_FENCE;
    if (w->not_before > now) {
        *again = w->not_before;
        return w->launching ? TIM_CAUSE_LAUNCH : TIM_CAUSE_STALL;
    }
    cause = tim_depend_look_soon(core, w, what, now);
    return cause == TIM_CAUSE_ISSUED ? TIM_CAUSE_PICKED : cause;
}

/** The same with room; PICKED: nothing. */
static enum tim_cause ready_check(const struct tim_core *core, const struct tim_warp *w, unsigned sched,
                                  uint64_t now)
{
    uint64_t again;
    enum tim_cause cause = tim_issue_but_room(core, w, now, &again);

    if (cause == TIM_CAUSE_PICKED)
        cause = tim_pipe_room(core, sched, tim_head(w), now);
    return cause == TIM_CAUSE_ISSUED ? TIM_CAUSE_PICKED : cause;
}

/** Waiting for a register, a warp lets its next split run, by lowest lanes around. */
static void tim_issue_switch(struct tim_core *core, unsigned warp, uint64_t now)
{
    struct tim_warp *w = &core->warp[warp];
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count = emu_split_views(core->emu, core->block[w->block].slot, w->index, views,
                                     EMU_MAX_LANES);
    unsigned mine = lw_lowest(w->split_lanes), best = 0, distance = EMU_MAX_LANES + 1;

    for (unsigned i = 0; i < count; i++) {
        unsigned d = (lw_lowest(views[i].lanes) - mine + EMU_MAX_LANES) % EMU_MAX_LANES;
        if (views[i].state == EMU_SPLIT_READY && (int)views[i].id != w->split && d < distance) {
            distance = d;
            best = i;
        }
    }
    if (distance > EMU_MAX_LANES)
        return;
    core->moved = true;
    tim_touch(core, warp);
    w->split = (int)views[best].id;
    w->split_lanes = views[best].lanes;
    w->pc = views[best].pc;
    tim_fetch_flush(core, warp, now + 1);
}

/** Which warps of scheduler @s may issue now, room and policies that hold back included: into @ready, a bit for each;
 *  by a check of each. Returns what the slot is counted as if none is picked. */
static enum tim_cause check_all(struct tim_core *core, unsigned s, uint64_t *ready, uint64_t now)
{
    const struct tim_config *c = core->config;
    unsigned count = core->hot.count[s];

    memset(ready, 0, tim_words(core) * sizeof *ready);
    for (unsigned i = 0; i < count; i++) {
        unsigned warp = i * c->issue_schedulers + s;
        struct tim_warp *w = &core->warp[warp];
        enum tim_cause cause = ready_check(core, w, s, now);

        if (c->issue_switch_on_stall && cause == TIM_CAUSE_LOAD && w->split_count > 1) {
            tim_issue_switch(core, warp, now);
            cause = ready_check(core, w, s, now);
        }
        tim_set_cause(core, s, w, cause);
        ready[i / 64] |= (uint64_t)(cause == TIM_CAUSE_PICKED) << i % 64;
    }
    for (unsigned i = 0; tim_limits(core) && i < count; i++) /* of all that are ready */
        if ((ready[i / 64] >> i % 64 & 1) != 0 && tim_issue_held(core, i * c->issue_schedulers + s)) {
            ready[i / 64] &= ~(UINT64_C(1) << i % 64);
            tim_set_cause(core, s, &core->warp[i * c->issue_schedulers + s], TIM_CAUSE_THROTTLED);
        }
    return tim_suggest(core->hot.known[tim_first(core, s) / 64].present);
}
