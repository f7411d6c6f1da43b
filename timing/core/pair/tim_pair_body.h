/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of instructions (hook `pairs` of a mechanism). After the instruction of the warp that the scheduler has selected, a
 * second instruction may issue in the same cycle for other lanes: of another split of the same warp, or of another warp of the
 * scheduler.
 *
 *      lane                0   1   2   3
 *      first: warp 0       x   .   x   .     v_add
 *      second: warp 0      .   x   .   .     v_mul, of the other side of a branch
 *      pipes               +   *   +   .
 *
 * If both instructions need the same unit for the same time, they share a collector and a pipe of the unit, because each lane has
 * its own register banks and its own part of the pipe. Otherwise the second instruction needs a collector and a pipe of its own.
 */

_Static_assert((int)TIM_FORMED_WARPS == (int)TIM_MAX_WARPS, "an element of `others` for each warp slot");

/** Called before the first instruction, of warp @leader, issues. Records the lanes of other splits that can run now. */
static void tim_pair_begin(struct tim_core *core, unsigned leader)
{
    const struct tim_warp *lead = &core->warp[leader];
    struct tim_formed *f = core->formed;

    f->count = f->next = f->lanes = 0;
    f->companion = false;
    f->op = TIM_NONE;
    f->pc = lead->pc;
    f->what = tim_head(lead);
    f->leader = leader;
    f->taken = tim_permuted_lanes(core->config, leader, lead->split_lanes, false);
    f->others[leader] = 0;
    if (f->what->launch || f->what->sleep)
        return;
    f->count = 1; /* the engine calls tim_core_issue() again for a second instruction */
    if (lead->split_count == 1 || !core->config->interweave_branches)
        return;
    struct emu_split_view views[EMU_MAX_LANES];
    const unsigned splits = emu_split_views(core->emu, core->block[lead->block].slot, lead->index, views, EMU_MAX_LANES);
    for (unsigned k = 0; k < splits; k++)
        f->others[leader] |= views[k].state == EMU_SPLIT_READY ? views[k].lanes & ~lead->split_lanes : 0;
}

/** Returns whether the second instruction can share the collector and the pipe of the first one. */
static bool shares_row(const struct tim_core *core, const struct tim_static *what)
{
    const struct tim_static *first = core->formed->what;

    return core->formed->op != TIM_NONE && first->path == TIM_PATH_COLLECT && what->path == TIM_PATH_COLLECT &&
           first->unit == what->unit && first->pipes == what->pipes && first->latency == what->latency && first->held == what->held;
}

/** Returns whether instruction @what at @pc, which has its operands, may issue in the same cycle as the first instruction. */
static bool may_be_second(const struct tim_core *core, unsigned s, unsigned warp, const struct tim_static *what, uint64_t pc,
                          uint64_t now)
{
    return !what->launch && !what->sleep &&
           (shares_row(core, what) || tim_pipe_free_slots(core, s, what, now) == TIM_STALL_ISSUED) &&
           !(what->constant && tim_has_operands(core)) && !(core->refuses != NULL && emu_breakpoint_at(core->machine, pc)) &&
           !is_held_back(core, warp, what);
}

/** Adds to @second the next instruction of each split of the leader's warp that can issue, except the split that has issued.
 *  The instructions come from a perfect buffer (take_second_buffer()). Instructions with a constant operand are not added,
 *  unless constant.perfect is set. Returns the number of added instructions. */
static unsigned add_splits(const struct tim_core *core, unsigned s, struct tim_mech_second *second, uint64_t now)
{
    const struct tim_formed *f = core->formed;
    const struct tim_warp *w = &core->warp[f->leader];
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count = 0, splits;

    if (f->others[f->leader] == 0 || w->ended || w->sleep_until > now || w->not_before > now)
        return 0;
    splits = emu_split_views(core->emu, core->block[w->block].slot, w->index, views, EMU_MAX_LANES);
    for (unsigned k = 0; k < splits; k++) {
        const struct tim_static *what;

        if (views[k].state != EMU_SPLIT_READY || (views[k].lanes & ~f->others[f->leader]) != 0 || views[k].pc < w->code->base ||
            views[k].pc >= w->code->end)
            continue;
        what = &w->code->insn[(views[k].pc - w->code->base) / ISA_WORD_BYTES];
        if ((what->constant && !core->config->constant_perfect) || (what->awaits != 0 && awaits_accesses(w, what)) ||
            may_overtake(core, w, what) || (pending_lanes(w, what) & views[k].lanes) != 0 ||
            !may_be_second(core, s, f->leader, what, views[k].pc, now))
            continue;
        second[count++] = (struct tim_mech_second){.warp = f->leader, .lanes = views[k].lanes, .pc = views[k].pc, .age = w->age,
                                                   .what = what, .same_warp = true};
    }
    return count;
}

/** Adds to @second the next instruction of each other warp of scheduler @s that can issue on lanes that the leader does not
 *  use. Returns the number of added instructions. */
static unsigned add_warps(const struct tim_core *core, unsigned s, struct tim_mech_second *second, uint64_t now)
{
    const struct tim_formed *f = core->formed;
    unsigned count = 0;
    uint64_t recheck_at;

    if (!core->config->interweave_warps)
        return 0;
    for (unsigned i = 0; i < core->hot.count[s]; i++) {
        const unsigned warp = i * core->config->issue_schedulers + s;
        const struct tim_warp *w = &core->warp[warp];

        if (warp == f->leader || !w->used || w->ended || w->reselect || w->split < 0 ||
            (tim_permuted_lanes(core->config, warp, w->split_lanes, false) & f->taken) != 0 ||
            tim_issue_but_capacity(core, w, now, &recheck_at) != TIM_STALL_PICKED ||
            !may_be_second(core, s, warp, tim_head(w), w->pc, now))
            continue;
        second[count++] = (struct tim_mech_second){.warp = warp, .lanes = w->split_lanes, .pc = w->pc, .age = w->age,
                                                   .what = tim_head(w)};
    }
    return count;
}

/** Starts the second instruction after its issue. Returns false if memory is short. */
static bool start_second(struct tim_core *core, unsigned s, const struct tim_mech_second *second,
                         const struct tim_buffered *entry, const struct emu_event *ev, uint64_t now)
{
    const struct tim_static *what = second->what;
    struct tim_warp *w = &core->warp[second->warp];
    const bool shares = shares_row(core, what);
    const uint32_t index = tim_op_take(core);

    if (index == TIM_NONE)
        return false;
    struct tim_op *op = &core->op[index];
    op->sched = (uint8_t)s;
    op->dual = false;
    op->warp = (uint16_t)second->warp;
    op->what = what;
    op->pc = second->pc;
    op->lanes = ev->split_lanes;
    op->issued = now;
    tim_depend_issue(core, w, op, entry, now);
    if (what->path == TIM_PATH_MEMORY) {
        if (!tim_lsu_issue(core, op, ev))
            return false;
        if (core->mechs.touches)
            touch_lines(core, op);
        if (core->held != NULL)
            tim_held_step(core, second->warp, ev, op->cached && !what->to_constant);
    }
    if (!shares) {
        tim_pipe_issue(core, index, 0, now);
        return true;
    }
    op->swizzle = 0;
    tim_stage(op, TIM_STAGE_COMPANION);
    core->op[core->formed->op].companion = index;
    core->stats->count[TIM_CORE_register_reads] += what->row_reads;
    core->stats->count[TIM_CORE_register_writes] += what->row_writes;
    core->stats->count[TIM_CORE_interweave_shared]++;
    return true;
}

/** Counts the second instruction. If @selected is set, also removes it from its warp's buffer. */
static void count_second(struct tim_core *core, unsigned s, const struct tim_mech_second *second, bool selected,
                         const struct emu_event *ev)
{
    uint64_t *count = core->stats->sched[s].count;
    struct tim_warp *w = &core->warp[second->warp];
    const unsigned effective = lw_popcount(ev->effective);

    core->issued_lanes = tim_count_lanes(core, ev->split_lanes);
    count[TIM_SCHED_instructions]++;
    count[TIM_SCHED_thread_instructions] += core->issued_lanes;
    if (core->issued_lanes != 0)
        count[TIM_SCHED_issued_1_4 + (core->issued_lanes - 1) / 4]++;
    count[TIM_SCHED_effective] += effective;
    count[TIM_SCHED_lanes_int + second->what->work] += second->what->held != 0 ? second->what->held : effective;
    core->stats->count[second->same_warp ? TIM_CORE_interweave_branches : TIM_CORE_interweave_warps]++;
    core->stats->count[TIM_CORE_interweave_lanes] += core->issued_lanes;
    tim_mechs_issue(&core->mechs, &(struct tim_mech_issue){.warp = second->warp, .lanes = core->issued_lanes,
                                                           .mask = ev->split_lanes, .pc = second->pc, .what = second->what,
                                                           .code = w->code, .instruction = core->op_age + 1});
    if (selected)
        leave_buffer(core, second->warp);
}

/** Executes the second instruction. Sets *issued to false if emu did not execute it. */
static enum lw_status execute_second(struct tim_core *core, unsigned s, const struct tim_mech_second *second, unsigned split,
                                     uint64_t now, struct emu_event *ev, bool *issued, struct lw_error *err)
{
    struct tim_warp *w = &core->warp[second->warp];
    const struct tim_buffered entry = second->same_warp ? (struct tim_buffered){0} : w->buffer[0];
    const enum lw_status status = step_companion(core, second->warp, split, second->lanes, ev, issued, err);

    if (!*issued || ev->kind == EMU_EV_FAULT)
        return status;
    if (ev->kind == EMU_EV_RETIRED) {
        if (tim_traces(core))
            tim_trace_warp(core->trace, now + core->lag, core->index, second->warp, TIM_STALL_ISSUED, ev->insn, second->pc,
                           ev->split_lanes);
        count_second(core, s, second, !second->same_warp, ev);
        count_tags(core, w, second->what, ev);
        if (second->what->path != TIM_PATH_NONE && !start_second(core, s, second, &entry, ev, now))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for an instruction in flight");
        if (second->what->path == TIM_PATH_NONE && core->held != NULL)
            tim_held_step(core, second->warp, ev, false);
    }
    note_step(core, second->warp, ev, now);
    if (ev->cta.used || ev->exited != 0 || ev->warp_ended)
        wake_block(core, &core->block[w->block]);
    return LW_OK;
}

/** Issues the second instruction of the pair, if there is one. */
static enum lw_status tim_pair_issue(struct tim_core *core, unsigned s, uint64_t now, struct emu_event *ev,
                                     enum tim_step_result *result, struct lw_error *err)
{
    struct tim_mech_second second[EMU_MAX_LANES + TIM_MAX_WARPS];
    struct tim_mech *mech = core->mechs.forms;
    struct emu_split_view views[EMU_MAX_LANES];
    enum lw_status status = LW_OK;
    unsigned count, splits;
    bool issued = false;
    int selected;

    core->formed->next = core->formed->count;
    count = add_splits(core, s, second, now);
    count += add_warps(core, s, second + count, now);
    selected = count != 0 ? mech->row->pairs(mech, second, count) : -1;
    *result = TIM_STEP_DONE;
    if (selected < 0)
        return LW_OK;
    const struct tim_mech_second *one = &second[selected];
    const struct tim_warp *w = &core->warp[one->warp];
    splits = emu_split_views(core->emu, core->block[w->block].slot, w->index, views, EMU_MAX_LANES);
    for (unsigned i = 0; i < splits; i++)
        if (views[i].state == EMU_SPLIT_READY && views[i].pc == one->pc && views[i].lanes == one->lanes) {
            status = execute_second(core, s, one, views[i].id, now, ev, &issued, err);
            break;
        }
    core->issued_warp = one->warp;
    core->issued_what = one->what;
    *result = issued ? TIM_STEP_ISSUED : TIM_STEP_DONE;
    return status;
}
