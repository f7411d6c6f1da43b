/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formed warps (timing/tables/tim_formed_priv.h). After the scheduler has selected a warp, the mechanism determines which lanes
 * of other splits at the same pc are its companions. The leader issues in slot 0 of the cycle. The engine then calls
 * tim_core_issue() once more for each companion, because each companion has its own event. emu divides a split of which only some
 * lanes are companions.
 */

/** Returns whether a mechanism other than the one that forms warps throttles the warp. */
static bool is_held_back(const struct tim_core *core, unsigned warp, const struct tim_static *what)
{
    for (unsigned i = 0; i < core->mechs.count; i++) {
        struct tim_mech *mech = core->mechs.mech[i];

        if (mech != core->mechs.forms && mech->row->holds != NULL && mech->row->holds(mech, warp, what))
            return true;
    }
    return false;
}

/** Returns whether splits of the warp may issue instruction @what together with @leader. */
static bool may_accompany(const struct tim_core *core, unsigned warp, const struct tim_warp *leader, const struct tim_static *what,
                          uint64_t now)
{
    const struct tim_warp *w = &core->warp[warp];

    return w->used && !w->ended && !w->reselect && w->sleep_until <= now && w->not_before <= now && w->code == leader->code &&
           core->block[w->block].grid == core->block[leader->block].grid && !(what->awaits != 0 && awaits_accesses(w, what)) &&
           !may_overtake(core, w, what) && !is_held_back(core, warp, what);
}

/** Adds lanes of a split of warp @warp to the formed warp if the mechanism permits this. @taken: the units' lanes that execute the
 *  formed warp. */
static void add_companion(struct tim_core *core, unsigned leader, unsigned warp, uint64_t lanes, uint64_t *taken)
{
    struct tim_formed *f = core->formed;
    struct tim_mech *mech = core->mechs.forms;
    const uint64_t not_free = tim_permuted_lanes(core->config, warp, *taken, true);
    const uint64_t joins = mech->row->accompanies(mech, leader, warp, lanes, not_free);

    if (joins == 0 || (joins & pending_lanes(&core->warp[warp], f->what)) != 0)
        return;
    assert((joins & (~lanes | not_free)) == 0);
    f->member[f->count++] = (struct tim_companion){warp, joins};
    *taken |= tim_permuted_lanes(core->config, warp, joins, false);
}

/* Implemented in timing/core/pair/tim_pair_body.h. */
static void tim_pair_begin(struct tim_core *core, unsigned leader);
static enum lw_status tim_pair_issue(struct tim_core *core, unsigned s, uint64_t now, struct emu_event *ev, enum tim_step_result *result,
                                     struct lw_error *err);

/** Determines the companions of warp @leader, which scheduler @s has selected. They are splits of the scheduler's warps, searched
 *  from the leader on. */
static void tim_form(struct tim_core *core, unsigned s, unsigned leader, uint64_t now)
{
    const struct tim_warp *lead = &core->warp[leader];
    const unsigned schedulers = core->config->issue_schedulers, count = core->hot.count[s];
    const uint64_t width = lw_mask(core->config->core_warp_width);
    struct tim_formed *f = core->formed;
    uint64_t taken = tim_permuted_lanes(core->config, leader, lead->split_lanes, false);

    if (f->pairs) {
        tim_pair_begin(core, leader);
        return;
    }
    f->count = f->next = f->lanes = 0;
    f->companion = false;
    f->op = TIM_NONE;
    f->pc = lead->pc;
    f->what = tim_head(lead);
    if (f->what->whole || f->what->launch || f->what->sleep || (core->refuses != NULL && emu_breakpoint_at(core->machine, f->pc)))
        return; /* at a breakpoint, each split must stop separately */
    for (unsigned i = 0; i < count && taken != width; i++) {
        const unsigned warp = (leader / schedulers + i) % count * schedulers + s;
        const struct tim_warp *w = &core->warp[warp];

        if (!may_accompany(core, warp, lead, f->what, now))
            continue;
        if (w->split_count == 1) {
            if (w != lead && w->split >= 0 && w->pc == f->pc)
                add_companion(core, leader, warp, w->split_lanes, &taken);
            continue;
        }
        struct emu_split_view views[EMU_MAX_LANES];
        const unsigned splits = emu_split_views(core->emu, core->block[w->block].slot, w->index, views, EMU_MAX_LANES);
        for (unsigned k = 0; k < splits && taken != width; k++)
            if (views[k].state == EMU_SPLIT_READY && views[k].pc == f->pc && (w != lead || (int)views[k].id != w->split))
                add_companion(core, leader, warp, views[k].lanes, &taken);
    }
}

/** Called after the leader's step. If the leader did not issue, removes all companions. */
static void tim_form_led(struct tim_core *core, const struct emu_event *ev, bool issued)
{
    struct tim_formed *f = core->formed;

    f->lanes = issued ? core->issued_lanes : 0;
    if (f->lanes == 0 || ev->kind != EMU_EV_RETIRED)
        f->count = 0;
    f->grown = false;
}

/** Sets *split to the split of @companion, whose lanes must all be in one ready split at the leader's pc. Returns false if there
 *  is none, because the leader or a debugger has changed the state. */
static bool split_of_companion(const struct tim_core *core, const struct tim_companion *companion, unsigned *split)
{
    const struct tim_warp *w = &core->warp[companion->warp];
    struct emu_split_view views[EMU_MAX_LANES];
    const unsigned count = emu_split_views(core->emu, core->block[w->block].slot, w->index, views, EMU_MAX_LANES);

    for (unsigned i = 0; i < count; i++)
        if (views[i].state == EMU_SPLIT_READY && views[i].pc == core->formed->pc && (companion->lanes & ~views[i].lanes) == 0) {
            *split = views[i].id;
            return true;
        }
    return false;
}

/** Adds the lanes of a companion to the counters. A formed warp counts as one instruction. */
static void count_companion(struct tim_core *core, unsigned s, const struct emu_event *ev)
{
    struct tim_formed *f = core->formed;
    uint64_t *count = core->stats->sched[s].count;
    const unsigned lanes = core->issued_lanes, effective = lw_popcount(ev->effective);

    count[TIM_SCHED_thread_instructions] += lanes;
    count[TIM_SCHED_issued_1_4 + (f->lanes - 1) / 4]--;
    f->lanes += lanes;
    count[TIM_SCHED_issued_1_4 + (f->lanes - 1) / 4]++;
    count[TIM_SCHED_effective] += effective;
    count[TIM_SCHED_lanes_int + f->what->work] += f->what->held != 0 ? f->what->held : effective;
    core->stats->count[TIM_CORE_formed_lanes] += lanes;
    core->stats->count[TIM_CORE_formed_warps] += !f->grown;
    f->grown = true;
}

/** Starts the instruction of a companion, which passes the stages together with the leader's instruction. */
static bool start_companion(struct tim_core *core, unsigned s, unsigned warp, const struct emu_event *ev, uint64_t now)
{
    const struct tim_static *what = core->formed->what;
    struct tim_warp *w = &core->warp[warp];
    const uint32_t index = tim_op_take(core);
    uint32_t *last;

    if (index == TIM_NONE)
        return false;
    struct tim_op *op = &core->op[index];
    op->sched = (uint8_t)s;
    op->dual = false;
    op->warp = (uint16_t)warp;
    op->what = what;
    op->pc = core->formed->pc;
    op->lanes = ev->split_lanes;
    op->issued = now;
    op->swizzle = 0;
    tim_depend_issue(core, w, op, &(struct tim_buffered){0}, now);
    if (what->path == TIM_PATH_MEMORY) {
        if (!tim_lsu_issue(core, op, ev))
            return false;
        core->lsu_used += !op->follower;
        w->unqueued++;
        w->writing += what->writes;
        if (core->mechs.touches)
            touch_lines(core, op);
        if (core->held != NULL)
            tim_held_step(core, warp, ev, op->cached && !what->to_constant);
    }
    tim_stage(op, TIM_STAGE_COMPANION);
    for (last = &core->op[core->formed->op].companion; *last != TIM_NONE; last = &core->op[*last].companion)
        ;
    *last = index;
    return true;
}

/** Executes lanes @lanes of split @split of @warp. Their instruction issues together with the instruction of another warp or
 *  split. Sets *@issued to false if emu did not execute the instruction. */
static enum lw_status step_companion(struct tim_core *core, unsigned warp, unsigned split, uint64_t lanes, struct emu_event *ev,
                                  bool *issued, struct lw_error *err)
{
    const enum lw_status status = emu_warp_step_at(core->warp[warp].state, split, lanes, ev, err);

    *issued = status == LW_OK;
    tim_warp_touch(core, warp, TIM_TOUCH_STALL | TIM_TOUCH_SPLIT);
    return status == LW_EAGAIN || status == LW_ESTATE || status == LW_ERANGE ? LW_OK : status;
}
/** Removes the first instruction of the buffer of @warp, which has issued in addition to another one. */
static void leave_buffer(struct tim_core *core, unsigned warp)
{
    struct tim_warp *w = &core->warp[warp];

    w->buffered--;
    for (unsigned i = 0; i < w->buffered; i++)
        w->buffer[i] = w->buffer[i + 1];
    w->pc += ISA_WORD_BYTES;
    tim_warp_touch(core, warp, TIM_TOUCH_FETCH);
}
/** Counts the tags of an instruction that issues in addition to another one. No key of the model uses these tags. */
static void count_tags(struct tim_core *core, struct tim_warp *w, const struct tim_static *what, struct emu_event *ev)
{
    struct tim_tagged tagged;
    unsigned eager = 0;

    if (tim_has_tags(core))
        (void)tim_tags_issue(core, w, what, ev, &tagged, &eager);
}

/** Executes the instruction of a companion. Sets *issued to false if emu did not execute it. */
static enum lw_status execute_companion(struct tim_core *core, unsigned s, const struct tim_companion *companion, uint64_t now,
                                        struct emu_event *ev, bool *issued, struct lw_error *err)
{
    struct tim_warp *w = &core->warp[companion->warp];
    struct tim_formed *f = core->formed;
    enum lw_status status;
    unsigned split;

    *issued = false;
    if (!split_of_companion(core, companion, &split))
        return LW_OK;
    const bool selected = w->split == (int)split && w->pc == f->pc && w->buffered != 0;
    status = step_companion(core, companion->warp, split, companion->lanes, ev, issued, err);
    if (!*issued || ev->kind == EMU_EV_FAULT)
        return status;
    if (ev->kind == EMU_EV_RETIRED) {
        if (tim_traces(core))
            tim_trace_warp(core->trace, now + core->lag, core->index, companion->warp, TIM_STALL_ISSUED, ev->insn, f->pc, ev->split_lanes);
        core->issued_lanes = tim_count_lanes(core, ev->split_lanes);
        count_companion(core, s, ev);
        tim_mechs_issue(&core->mechs, &(struct tim_mech_issue){.warp = companion->warp, .lanes = core->issued_lanes, .mask = ev->split_lanes, .pc = f->pc,
                                                               .what = f->what, .code = w->code, .instruction = core->op_age + 1});
        if (selected)
            leave_buffer(core, companion->warp);
        count_tags(core, w, f->what, ev);
        if (f->op != TIM_NONE && !start_companion(core, s, companion->warp, ev, now))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for an instruction in flight");
        if (f->op == TIM_NONE && core->held != NULL)
            tim_held_step(core, companion->warp, ev, false);
    }
    note_step(core, companion->warp, ev, now);
    if (ev->cta.used || ev->exited != 0 || ev->warp_ended)
        wake_block(core, &core->block[w->block]);
    return LW_OK;
}

/** Issues the next companion that can issue. */
static enum lw_status tim_form_issue(struct tim_core *core, unsigned s, uint64_t now, struct emu_event *ev,
                                     enum tim_step_result *result, struct lw_error *err)
{
    struct tim_formed *f = core->formed;
    enum lw_status status = LW_OK;
    bool issued = false;

    if (f->pairs)
        return tim_pair_issue(core, s, now, ev, result, err);
    while (f->next < f->count && !issued && status == LW_OK) {
        core->issued_warp = f->member[f->next].warp;
        core->issued_what = f->what;
        f->companion = true;
        status = execute_companion(core, s, &f->member[f->next++], now, ev, &issued, err);
    }
    *result = issued ? TIM_STEP_ISSUED : TIM_STEP_DONE;
    return status;
}
