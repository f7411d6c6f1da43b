/* SPDX-License-Identifier: Apache-2.0 */
/* The ready check: selects the split of a warp that runs, and determines why the warp's next instruction cannot issue. */

/* ---- the split that runs ------------------------------------------------------------------------ */

static enum tim_stall reason_of_splits(const struct emu_split_view *views, unsigned count)
{
    enum tim_stall reason = TIM_STALL_BARRIER;

    for (unsigned i = 0; i < count; i++)
        if (views[i].state == EMU_SPLIT_SLEEPING)
            return TIM_STALL_SLEEP;
        else if (views[i].state == EMU_SPLIT_LAUNCH)
            reason = TIM_STALL_LAUNCH;
    return reason;
}

/** Formed warps: called if the buffer of @warp is empty. If another warp of the scheduler has the instruction at the pc of @warp
 *  in its buffer, copies this instruction and those after it. They can issue from cycle @from on. */
static __attribute__((noinline)) void share_buffer(struct tim_core *core, unsigned warp, uint64_t from)
{
    const struct tim_config *c = core->config;
    struct tim_warp *w = &core->warp[warp];

    for (unsigned i = warp % c->issue_schedulers; i < c->core_warps; i += c->issue_schedulers) {
        const struct tim_warp *other = &core->warp[i];

        if (i == warp || !other->used || other->ended || other->split < 0 || other->code != w->code || w->pc < other->pc ||
            (w->pc - other->pc) / ISA_WORD_BYTES >= other->buffered)
            continue;
        const unsigned first = (unsigned)((w->pc - other->pc) / ISA_WORD_BYTES);
        w->buffered = (uint8_t)(other->buffered - first);
        memcpy(w->buffer, &other->buffer[first], w->buffered * sizeof *w->buffer);
        for (unsigned k = 0; k < w->buffered; k++) { /* constants are not copied: the warp requests them itself */
            w->buffer[k].arrives = w->buffer[k].arrives < from ? from : w->buffer[k].arrives;
            w->buffer[k].constant_requested = w->buffer[k].constant_comes = false;
        }
        w->fetch_pc = w->pc + w->buffered * (uint64_t)ISA_WORD_BYTES;
        tim_warp_touch(core, warp, TIM_TOUCH_STALL | TIM_TOUCH_CONSTANT);
        core->stats->count[TIM_CORE_formed_fetches]++;
        return;
    }
}

/** Pairs of instructions: fills the empty buffer of @warp from a perfect buffer. The instructions can issue from cycle @from
 *  on. */
static __attribute__((noinline)) void fill_second_buffer(struct tim_core *core, unsigned warp, uint64_t from)
{
    struct tim_warp *w = &core->warp[warp];

    for (; w->buffered < core->config->fetch_buffer && w->fetch_pc < w->code->end; w->fetch_pc += ISA_WORD_BYTES) {
        const struct tim_static *what = &w->code->insn[(w->fetch_pc - w->code->base) / ISA_WORD_BYTES];

        w->buffer[w->buffered++] = (struct tim_buffered){.arrives = from, .constant = what->constant && !tim_has_operands(core)};
    }
    tim_warp_touch(core, warp, TIM_TOUCH_STALL | TIM_TOUCH_CONSTANT);
}

/** Pairs of instructions: called if the buffer of @warp is empty. @lanes: lanes of the split that runs from now on. @before:
 *  lanes of the split that ran before. The core has a perfect buffer for lanes that could have issued a second instruction
 *  when the warp last issued. If @lanes are such lanes, takes their instructions from that buffer. From now on, the core has
 *  a perfect buffer for @before instead. */
static void take_second_buffer(struct tim_core *core, unsigned warp, uint64_t lanes, uint64_t before, uint64_t from)
{
    uint64_t *others = &core->formed->others[warp];

    if ((lanes & ~*others) == 0)
        fill_second_buffer(core, warp, from);
    *others = (*others | before) & ~lanes;
}

/** Asks emu which split of the warp runs. If the pc of the split is not the pc of the instruction buffer, empties the
 *  buffer; the warp fetches again in the next cycle or in cycle refetch_at, whichever is later. */
static void tim_warp_ready_check(struct tim_core *core, unsigned warp, uint64_t now)
{
    struct tim_warp *w = &core->warp[warp];
    uint64_t from = w->refetch_at > now + 1 ? w->refetch_at : now + 1;
    const struct tim_block *block = &core->block[w->block];
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count;
    int split, was = w->split;
    uint64_t leads = UINT64_MAX;
    const uint64_t ran = w->split_lanes;

    w->reselect = w->divided = false;
    core->moved = true;
    tim_set(&tim_sets_of(core, warp)->reselect, warp, false);
    tim_set(&tim_sets_of(core, warp)->sleeps, warp, false);
    tim_warp_touch(core, warp, TIM_TOUCH_STALL);
    if (w->ended)
        return;
    if (tim_divides(core) || tim_forms(core))
        (void)emu_warp_join(core->emu, block->slot, w->index);
    split = emu_warp_select(core->emu, block->slot, w->index);
    count = emu_split_views(core->emu, block->slot, w->index, views, EMU_MAX_LANES);
    if (tim_forms(core) && !core->formed->pairs && split >= 0)
        split = core->mechs.forms->row->selects(core->mechs.forms, warp, views, count, split, &leads);
    w->split = -1;
    w->split_count = count;
    for (unsigned i = 0; i < count; i++)
        if ((int)views[i].id == split && views[i].state == EMU_SPLIT_READY) {
            w->split = split;
            w->split_lanes = views[i].lanes & leads;
            if (views[i].pc != w->pc) {
                w->pc = views[i].pc;
                tim_fetch_flush(core, warp, from);
                if (tim_forms(core) && core->formed->pairs)
                    take_second_buffer(core, warp, views[i].lanes, ran, now + 1);
                else if (tim_forms(core))
                    share_buffer(core, warp, from);
            }
        }
    if (w->split < 0) {
        w->waits = (uint8_t)reason_of_splits(views, count);
        core->launch_waits |= w->waits == TIM_STALL_LAUNCH;
        tim_set(&tim_sets_of(core, warp)->sleeps, warp, w->waits == TIM_STALL_SLEEP);
    } else if (was < 0) {
        tim_warp_touch(core, warp, TIM_TOUCH_FETCH | TIM_TOUCH_CONSTANT);
    }
    tim_set_at_barrier(core, warp, w->split < 0 && w->waits == TIM_STALL_BARRIER);
    if (tim_has_mechanisms(core))
        tim_mechs_flow(&core->mechs, warp);
    if (tim_has_mechanisms(core))
        tim_mechs_wait(&core->mechs, warp,
                       w->split < 0 && (w->waits == TIM_STALL_BARRIER || w->waits == TIM_STALL_LAUNCH));
}

static bool sleep_is_over(const struct tim_warp *w, uint64_t now)
{
    return w->split < 0 && w->waits == TIM_STALL_SLEEP && w->sleep_until <= now;
}

/* ---- stall reasons -------------------------------------------------------------------------------- */

/** Returns whether the instruction, a fence, release or barrier, must wait for earlier accesses of the warp. */
static bool awaits_accesses(const struct tim_warp *w, const struct tim_static *what)
{
    return ((what->awaits & TIM_AWAITS_ANSWERS) != 0 && (w->writing != 0 || w->writes_out != 0)) ||
           ((what->awaits & TIM_AWAITS_QUEUE) != 0 && w->unqueued != 0);
}

/** Returns the stall reason of a warp, without regard to capacity (collectors, pipes, queues), or TIM_STALL_PICKED if
 *  it has none. The result is valid up to cycle *recheck_at - 1, or until tim_warp_touch() is called for the warp. If *recheck_at
 *  is UINT64_MAX, time alone does not change the result. Time can also end TIM_STALL_PICKED, because the increment of a
 *  dependence barrier may become visible after the issue of its instruction. */
static inline enum tim_stall tim_issue_but_capacity(const struct tim_core *core,
                                                const struct tim_warp *w, uint64_t now,
                                                uint64_t *recheck_at)
{
    const struct tim_static *what;
    enum tim_stall reason;

    *recheck_at = UINT64_MAX;
    if (!w->used)
        return TIM_STALL_EMPTY;
    if (w->ended)
        return TIM_STALL_ENDED;
    if (w->sleep_until > now) {
        *recheck_at = w->sleep_until;
        return TIM_STALL_SLEEP;
    }
    if (w->split < 0)
        return (enum tim_stall)w->waits;
    if (w->buffered == 0)
        return TIM_STALL_FETCH;
    if (w->buffer[0].arrives > now) {
        *recheck_at = w->buffer[0].arrives;
        return TIM_STALL_FETCH;
    }
    what = tim_head(w);
    if (w->buffer[0].constant && !w->buffer[0].constant_there)
        return TIM_STALL_CONSTANT;
    if (tim_has_operands(core) && w->operand != 0)
        return TIM_STALL_CONSTANT;
    if (what->awaits != 0 && awaits_accesses(w, what))
        return TIM_STALL_FENCE;
    if (w->not_before > now) {
        *recheck_at = w->not_before;
        return w->launching ? TIM_STALL_LAUNCH
               : w->expands ? TIM_STALL_EXPANSION
               : w->yields  ? TIM_STALL_YIELD
                            : TIM_STALL_STALL;
    }
    reason = tim_depend_check_fast(core, w, what, now);
    if (tim_dependence(core) == TIM_DEP_CONTROL)
        *recheck_at = tim_bars_change(core, w, now);
    return reason == TIM_STALL_ISSUED ? TIM_STALL_PICKED : reason;
}

/** Returns whether the warp's next instruction will join a packet that already has a place in the load/store queue. */
static bool has_joined(const struct tim_core *core, const struct tim_warp *w)
{
    struct tim_mech *mech = core->mechs.packets;

    return tim_mech_follows(mech, (unsigned)(w - core->warp));
}

/** Reports to mechanisms that the warp has reached its next instruction, if the instruction waits at most for registers.
 *  @reason: its stall reason without regard to capacity. */
static inline void report_reached(struct tim_core *core, const struct tim_warp *w, enum tim_stall reason)
{
    const uint32_t registers = UINT32_C(1) << TIM_STALL_LOAD | UINT32_C(1) << TIM_STALL_RESULT |
                               UINT32_C(1) << TIM_STALL_WAR | UINT32_C(1) << TIM_STALL_COUNTER |
                               UINT32_C(1) << TIM_STALL_PICKED;

    if ((registers >> reason & 1) != 0)
        tim_mechs_reach(&core->mechs, (unsigned)(w - core->warp), w->pc, tim_head(w));
}

/** Returns the stall reason of a warp, including missing capacity, or TIM_STALL_PICKED if it has none. */
static enum tim_stall ready_check(const struct tim_core *core, const struct tim_warp *w, unsigned sched,
                                  uint64_t now)
{
    uint64_t recheck_at;
    enum tim_stall reason = tim_issue_but_capacity(core, w, now, &recheck_at);

    if (reason == TIM_STALL_PICKED)
        reason = tim_pipe_free_slots(core, sched, tim_head(w), now);
    if (reason == TIM_STALL_LSU && tim_has_packets(core) && has_joined(core, w))
        reason = collectors_used(core, sched, now) < core->config->registers_collectors ? TIM_STALL_ISSUED : TIM_STALL_COLLECTOR;
    return reason == TIM_STALL_ISSUED ? TIM_STALL_PICKED : reason;
}

/** Does what ready_check() does, except that with lsu.replay buffer a warp that only lacks a collector may be selected. Its
 *  instruction then takes the issue slot and remains in the instruction buffer. */
static enum tim_stall pick_check(const struct tim_core *core, const struct tim_warp *w, unsigned sched,
                                 uint64_t now)
{
    enum tim_stall reason = ready_check(core, w, sched, now);

    return reason == TIM_STALL_COLLECTOR && tim_replays(core) ? TIM_STALL_PICKED : reason;
}

/** Returns the number of ready splits whose lowest lane is below the lowest lane of split @i of @views. */
static unsigned ready_before(const struct emu_split_view *views, unsigned count, unsigned i)
{
    unsigned before = 0;

    for (unsigned k = 0; k < count; k++)
        before += views[k].state == EMU_SPLIT_READY && lw_lowest(views[k].lanes) < lw_lowest(views[i].lanes);
    return before;
}

/** Called for a warp that waits for a load. Selects, for its next step, the lanes of the split for which no register of the
 *  next instruction has a pending write. emu divides the split at this step. Returns false if the table of splits is full, if
 *  there are no such lanes, or if the instruction needs all lanes. */
static bool tim_issue_divide(struct tim_core *core, struct tim_warp *w)
{
    const struct tim_static *what = tim_head(w);
    uint64_t pending = 0;

    if (w->divided || what->whole || w->split_count >= core->config->dws_splits)
        return false;
    for (unsigned i = 0; i < what->read_count; i++)
        pending |= w->lanes[what->read[i]];
    for (unsigned i = 0; i < what->write_count; i++)
        pending |= w->lanes[what->write[i]];
    if ((w->split_lanes & ~pending) == 0)
        return false;
    w->split_lanes &= ~pending;
    w->divided = true;
    core->moved = true;
    return true;
}

/** Returns the lanes of a split whose sources and results have a pending write. */
static uint64_t pending_lanes(const struct tim_warp *w, const struct tim_static *what)
{
    uint64_t pending = 0;

    for (unsigned i = 0; i < what->read_count; i++)
        pending |= w->lanes[what->read[i]];
    for (unsigned i = 0; i < what->write_count; i++)
        pending |= w->lanes[what->write[i]];
    return pending;
}

/** Pairs of instructions: called if the next instruction of a warp waits for registers (@reason). If another split of the warp,
 *  whose instructions are in the perfect buffer, has its registers, that split runs from now on. Returns whether it does. */
static bool tim_issue_other_path(struct tim_core *core, struct tim_warp *w, enum tim_stall reason, uint64_t now)
{
    const unsigned warp = (unsigned)(w - core->warp);
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count;

    if ((reason != TIM_STALL_LOAD && reason != TIM_STALL_RESULT) || w->split_count == 1 || core->formed->others[warp] == 0)
        return false;
    count = emu_split_views(core->emu, core->block[w->block].slot, w->index, views, EMU_MAX_LANES);
    for (unsigned i = 0; i < count; i++) {
        const struct tim_static *what;

        if (views[i].state != EMU_SPLIT_READY || (views[i].lanes & ~core->formed->others[warp]) != 0 ||
            (int)views[i].id == w->split || views[i].pc < w->code->base || views[i].pc >= w->code->end)
            continue;
        what = &w->code->insn[(views[i].pc - w->code->base) / ISA_WORD_BYTES];
        if ((pending_lanes(w, what) & views[i].lanes) != 0)
            continue;
        core->formed->others[warp] |= w->split_lanes;
        core->formed->others[warp] &= ~views[i].lanes;
        core->moved = true;
        w->split = (int)views[i].id;
        w->split_lanes = views[i].lanes;
        w->pc = views[i].pc;
        tim_fetch_flush(core, warp, now);
        fill_second_buffer(core, warp, now);
        tim_mechs_flow(&core->mechs, warp);
        return true;
    }
    return false;
}

/** issue.switch_on_stall: selects the next split of a warp whose selected split waits for data of a load. The order of the
 *  splits is cyclic by their lowest lanes. */
static void tim_issue_switch(struct tim_core *core, unsigned warp, uint64_t now)
{
    struct tim_warp *w = &core->warp[warp];
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count = emu_split_views(core->emu, core->block[w->block].slot, w->index, views,
                                     EMU_MAX_LANES);
    unsigned mine = lw_lowest(w->split_lanes), best = 0, distance = EMU_MAX_LANES + 1;

    for (unsigned i = 0; i < count; i++) {
        unsigned d = (lw_lowest(views[i].lanes) - mine + EMU_MAX_LANES) % EMU_MAX_LANES;
        if (views[i].state == EMU_SPLIT_READY && (int)views[i].id != w->split && d < distance &&
            (!tim_divides(core) || ready_before(views, count, i) < core->config->dws_splits)) {
            distance = d;
            best = i;
        }
    }
    if (distance > EMU_MAX_LANES)
        return;
    core->moved = true;
    tim_warp_touch(core, warp, TIM_TOUCH_STALL);
    w->split = (int)views[best].id;
    w->split_lanes = views[best].lanes;
    w->divided = false;
    w->pc = views[best].pc;
    tim_fetch_flush(core, warp, now + 1);
    if (tim_forms(core) && !core->formed->pairs)
        share_buffer(core, warp, now + 1);
    if (tim_has_mechanisms(core))
        tim_mechs_flow(&core->mechs, warp);
}

/** Checks all warps of scheduler @s. Sets @ready to the warps that may issue now and have the capacity that they need. If @hold
 *  is set, @ready excludes warps that mechanisms throttle. Returns the stall reason that the issue slot counts if no warp
 *  is selected. */
static enum tim_stall check_all(struct tim_core *core, unsigned s, uint64_t *ready, bool hold, uint64_t now)
{
    const struct tim_config *c = core->config;
    unsigned count = core->hot.count[s];
    uint64_t recheck_at;

    memset(ready, 0, tim_words(core) * sizeof *ready);
    for (unsigned i = 0; i < count; i++) {
        unsigned warp = i * c->issue_schedulers + s;
        struct tim_warp *w = &core->warp[warp];

        if (tim_types(core) && (core->issued_now[i / 64] >> i % 64 & 1) != 0)
            continue; /* the warp has issued in this cycle */
        if (core->mechs.reaches)
            report_reached(core, w, tim_issue_but_capacity(core, w, now, &recheck_at));
        enum tim_stall reason = pick_check(core, w, s, now);
        if (reason == TIM_STALL_LOAD && tim_divides(core) && tim_issue_divide(core, w))
            reason = pick_check(core, w, s, now);
        if (tim_forms(core) && core->formed->pairs && tim_issue_other_path(core, w, reason, now))
            reason = pick_check(core, w, s, now);
        if (c->issue_switch_on_stall && reason == TIM_STALL_LOAD && w->split_count > 1) {
            tim_issue_switch(core, warp, now);
            reason = pick_check(core, w, s, now);
        }
        tim_set_stall(core, s, w, reason);
        ready[i / 64] |= (uint64_t)(reason == TIM_STALL_PICKED) << i % 64;
    }
    if (hold && tim_has_mechanisms(core)) {
        uint64_t all[TIM_MAX_WARPS / 64];

        memcpy(all, ready, tim_words(core) * sizeof *all);
        tim_core_hold(core, s, ready);
        for (unsigned i = 0; i < tim_words(core); i++)
            for (LW_EACH_BIT(b, all[i] & ~ready[i]))
                tim_set_stall(core, s, &core->warp[tim_warp_at(core, s, tim_first(core, s) + i * 64 + (unsigned)b)],
                              TIM_STALL_THROTTLED);
    }
    return tim_suggest(core->hot.known[tim_first(core, s) / 64].present);
}
