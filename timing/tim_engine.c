/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timing engine. It runs cycles in the phases that tim_priv.h lists, and notifies observers of each
 * instruction. The engine can stop between any two instructions, and a stop changes no result: instructions issue in the order
 * (cycle, core, scheduler, slot), with and without a debugger.
 */
#include "timing/tim_engine_priv.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- launches -------------------------------------------------------------------------------------- */

/** Makes warps that cannot run go through the ready check again, because the launch for which they wait may have
 *  completed. Queues suspended blocks that can continue. */
static enum lw_status wake_launchers(struct tim_engine *e, struct lw_error *err)
{
    for (unsigned c = 0; c < e->config.core_count; c++) {
        struct tim_core *core = e->core[c];
        for (unsigned w = 0; w < e->config.core_warps; w++) {
            struct tim_warp *warp = &core->warp[w];
            if (warp->used && !warp->ended && warp->split < 0 &&
                core->block[warp->block].moving == TIM_MOVES_NOT) {
                tim_warp_touch(core, w, TIM_TOUCH_SPLIT);
                if (core->held != NULL) /* L1 data is dropped: the kernel has stored to memory */
                    tim_held_forget(core);
                tim_core_poke(core);
            }
        }
        for (unsigned i = 0; i < core->suspended_count; i++) {
            struct tim_suspended *s = &core->suspended[i];
            if (s->called || !tim_suspended_can_run(core, s))
                continue;
            if (!tim_grid_resume(&e->grid, s->grid, c, s->slot, e->now))
                return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a block that continues");
            s->called = true;
        }
    }
    return LW_OK;
}

static void on_memory_wake(void *context, unsigned core, uint64_t cycle)
{
    struct tim_engine *e = context;

    tim_core_wake(e->core[core], tim_core_own(e->core[core], cycle));
}

static void on_block_ended(void *context, const struct tim_core *core, const struct tim_block *block)
{
    struct tim_engine *e = context;
    bool over;
    size_t kernel = tim_grid_block_ended(&e->grid, block->grid, core->index, block->linear, &over);

    e->gpu[TIM_GPU_blocks]++;
    e->listed = false;
    if (!over)
        return;
    if (e->grid.reach != NULL)
        tim_reach_forget(e->grid.reach, block->grid);
    tim_kernels_rotate(e, kernel);
    e->grid.rescan = true;
    e->wake = true;
}

/** Called before a block leaves its core: reserves an entry for it in the list of warps. Returns false if memory is short. */
static bool on_block_leaves(void *context)
{
    struct tim_engine *e = context;
    size_t need = 2 * (size_t)e->config.core_count * e->config.core_blocks; /* resident and leaving blocks */

    for (unsigned c = 0; c < e->config.core_count; c++)
        need += e->core[c]->suspended_count;
    return lw_grow(&e->list, &e->list_capacity, need, sizeof *e->list);
}

static void on_block_left(void *context, struct emu_grid *grid)
{
    struct tim_engine *e = context;

    tim_grid_block_left(&e->grid, grid);
    e->listed = false;
    e->wake = true; /* the launch for which the block waited may have completed */
}

/* ---- one cycle ------------------------------------------------------------------------------------------ */

/** Sets *out to warp @warp of block @linear of @grid, whose state is in block slot @slot of emu, and to one split of the warp:
 *  the split with lane @lane or, for UINT_MAX, the split that runs. If there is no such split, uses the first split. */
static void location_in(const struct tim_core *core, unsigned slot, const struct emu_grid *grid,
                     uint64_t linear, unsigned warp, unsigned lane, struct emu_thread_ref *out)
{
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count = emu_split_views(core->emu, slot, warp, views, EMU_MAX_LANES);

    *out = (struct emu_thread_ref){.grid = grid->sequence, .block = linear, .warp = warp};
    for (unsigned i = count; i-- > 0;)
        if (i == 0 || (lane != UINT_MAX ? (views[i].lanes >> lane & 1) != 0 : views[i].running)) {
            out->split = views[i].id;
            out->lanes = views[i].lanes;
            out->pc = views[i].pc;
            return;
        }
}
/** Sets *out as location_in() does, for the warp in slot @warp of the core. */
static void location_of(const struct tim_core *core, unsigned warp, unsigned lane,
                     struct emu_thread_ref *out)
{
    const struct tim_warp *w = &core->warp[warp];
    const struct tim_block *block = &core->block[w->block];

    location_in(core, block->slot, block->grid, block->linear, w->index, lane, out);
}

static bool is_target(const struct tim_engine *e, const struct tim_core *core, unsigned warp, uint64_t lanes)
{
    const struct tim_warp *w = &core->warp[warp];
    const struct tim_block *block = &core->block[w->block];

    return e->target.grid == block->grid->sequence && e->target.block == block->linear &&
           e->target.warp == w->index &&
           (e->target.lanes == 0 || (e->target.lanes & lanes) != 0);
}

/** Returns TIM_MAY_ISSUE if the warp is not at a breakpoint, or if a step of any warp is requested. At a breakpoint the
 *  result is usually TIM_STOPS, which ends the run. While a debugger steps one warp, that warp may issue at its breakpoint,
 *  and any other warp is held at its breakpoint (TIM_HELD). */
static enum tim_leave on_refuse(void *context, struct tim_core *core, unsigned warp)
{
    struct tim_engine *e = context;

    if (e->step_any || !emu_breakpoint_at(e->base.machine, core->warp[warp].pc))
        return TIM_MAY_ISSUE;
    if (e->stepping)
        return is_target(e, core, warp, core->warp[warp].split_lanes) ? TIM_MAY_ISSUE : TIM_HELD;
    e->refused = warp;
    return TIM_STOPS;
}

static bool notify(struct tim_engine *e, const struct emu_event *ev)
{
    bool stop = false;

    for (struct emu_observer *o = e->base.observers, *next; o != NULL; o = next) {
        next = o->next;
        stop |= o->on_event(o, ev);
    }
    return stop;
}

/** Makes warps with several splits go through the ready check again after a warp has ended (issue.switch_on_stall). A
 *  launch may have ended with that warp, and a split that is not selected may have waited for the launch. */
static void touch_divided(struct tim_engine *e)
{
    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned w = 0; w < e->config.core_warps; w++)
            if (e->core[c]->warp[w].used && e->core[c]->warp[w].split_count > 1) {
                tim_warp_touch(e->core[c], w, TIM_TOUCH_STALL);
                tim_core_poke(e->core[c]);
            }
}

/** Handles an issued instruction. Sets stop->kind if the run must stop after it. */
static enum lw_status issued(struct tim_engine *e, struct tim_core *core,
                             const struct emu_event *ev, struct emu_stop *stop,
                             struct lw_error *err)
{
    const bool companion = core->formed != NULL && core->formed->companion; /* lanes of a formed warp; its leader is counted */

    if (ev->kind == EMU_EV_FAULT) {
        emu_core_fault_stop(core->emu, ev->slot, ev->warp, stop);
        if (ev->grid == NULL) /* The pc is past the end of the code, so the event has no grid. */
            stop->place.pc = ev->fault.pc;
        return LW_OK;
    }
    const bool halted = emu_machine_consume_halt_request(e->base.machine);
    if (ev->kind == EMU_EV_RETIRED) {
        e->gpu[TIM_GPU_warp_instructions] += !companion;
        e->gpu[TIM_GPU_thread_instructions] += core->issued_lanes;
        e->instructions++;
        tim_kernels_count(e, ev->grid, !companion, core->issued_lanes);
        if (!ev->warp_ended && !core->issued_what->launch && !halted && !e->full_events && e->base.observers == NULL &&
            e->instructions < e->base.stop_at)
            return LW_OK; /* the usual case: the instruction has no observer, and nothing has ended */
    }
    bool is_stepped = e->stepping && is_target(e, core, core->issued_warp, core->formed != NULL ? ev->split_lanes : core->warp[core->issued_warp].split_lanes);
    if (ev->kind == EMU_EV_RETIRED) {
        if (ev->warp_ended && e->config.issue_switch_on_stall)
            touch_divided(e);
        if (core->issued_what->launch || ev->warp_ended) {
            enum lw_status status = tim_launches_take(e, core, err);
            if (status != LW_OK)
                return status;
        }
    }
    /* In any core, even an idle one, a split that waited for the launch may now run instead of a split of its warp that
     * waits for a load. */
    for (unsigned c = 0; ev->grid_ended && e->config.issue_switch_on_stall && c < e->config.core_count; c++)
        tim_core_poke(e->core[c]);
    if (notify(e, ev) | halted | emu_machine_consume_halt_request(e->base.machine)) /* an observer may request a halt */
        stop->kind = EMU_STOP_OBSERVER;
    else if (is_stepped || e->step_any)
        stop->kind = EMU_STOP_STEPPED;
    else if (e->instructions >= e->base.stop_at)
        stop->kind = EMU_STOP_COUNT;
    if (is_stepped)
        e->stepping = false;
    if (stop->kind != EMU_STOP_NONE)
        location_of(core, core->issued_warp, lw_lowest(ev->split_lanes), &stop->place);
    return LW_OK;
}

/** Runs the issue phase of a core from scheduler position e->at to the end. @now is a cycle of the core's own clock. */
static enum lw_status issue(struct tim_engine *e, struct tim_core *core, uint64_t now, struct emu_stop *stop,
                            struct lw_error *err)
{
    const unsigned schedulers = e->config.issue_schedulers, width = e->config.issue_width;
    const bool passable = core->passable && core->replays == 0;
    unsigned s = e->at.sched, slot = e->at.slot, checked = e->at.checked ? s : schedulers;
    enum lw_status status = LW_OK;
    enum tim_step_result result;
    bool stopped;

    while (s < schedulers) {
        if (slot == 0 && ((passable && s != checked && tim_core_idles(core, s, now)) ||
                          (core->mechs.cycle && !core->mechs.picks_every_cycle && core->replays == 0 && tim_has_none_ready(core, s, now)))) {
            s++;
            continue;
        }
        status = e->cycle->issue(core, s, slot, now, e->event, &result, &stopped, err);
        if (status != LW_OK)
            break;
        if (stopped) {
            stop->kind = EMU_STOP_BREAK;
            location_of(core, e->refused, lw_lowest(core->warp[e->refused].split_lanes), &stop->place); /* the refused warp */
            break;
        }
        if (result == TIM_STEP_ISSUED && (slot + 1 < width || (core->formed != NULL && core->formed->next < core->formed->count))) {
            slot++;
        } else {
            slot = 0;
            s++;
        }
        if (result == TIM_STEP_ISSUED) {
            status = issued(e, core, e->event, stop, err);
            if (status != LW_OK || stop->kind != EMU_STOP_NONE)
                break;
        }
    }
    e->at.sched = s;
    e->at.slot = slot;
    e->at.checked = false;
    return status;
}

/** Sets, for all cores, which members events have and whether on_refuse() is called before an issue.
 *  @all: events have all members, which observers need; otherwise only addresses. @asks: on_refuse() is called. */
static void set_event_detail(struct tim_engine *e, bool all, bool asks)
{
    if (e->full_events == all && e->asks == asks)
        return;
    e->full_events = all;
    e->asks = asks;
    for (unsigned c = 0; c < e->config.core_count; c++) {
        e->core[c]->addresses_only = !all;
        e->core[c]->refuses = asks ? on_refuse : NULL;
        emu_core_set_event_detail(e->core[c]->emu, all ? EMU_EVENT_FULL : EMU_EVENT_ADDRESSES);
    }
}

/** Returns the cycle of the core's own clock that falls into the current cycle of clocks.core, and sets core->lag. */
static uint64_t own_cycle(const struct tim_engine *e, struct tim_core *core)
{
    const uint64_t own = tim_domain_own(core->domain, e->now);

    core->lag = e->now - own;
    return own;
}

/** Runs the current cycle from position e->at to its end. If the run stops before the end, sets stop->kind. */
static enum lw_status cycle(struct tim_engine *e, struct emu_stop *stop, struct lw_error *err)
{
    enum lw_status status = LW_OK;
    const bool clocked = e->clocked;
    uint64_t now = e->now;

    if (e->at.phase == TIM_AT_BEGIN) {
        if (e->grid.rescan)
            status = tim_launches_take(e, NULL, err);
        if (status == LW_OK && e->wake)
            status = wake_launchers(e, err);
        if (status != LW_OK)
            return status;
        e->wake = false;
        e->ticked = false;
        e->memory->ops->tick_replies(e->memory, e->now);
        e->at = (struct tim_at){.phase = TIM_AT_CORE};
    }
    while (e->at.core < e->config.core_count) {
        if (e->at.phase == TIM_AT_CORE) {
            e->at.core = tim_next_due(e, e->at.core);
            if (e->at.core == e->config.core_count)
                break;
        }
        struct tim_core *core = e->core[e->at.core];
        if (clocked)
            now = own_cycle(e, core);
        if (e->at.phase == TIM_AT_CORE) {
            if (core->idle && tim_core_is_idle(core, now)) {
                e->at.core++;
                continue;
            }
            e->ticked = true;
            e->at.sched = e->cycle->begin(core, now);
            e->at.phase = TIM_AT_ISSUE;
            e->at.checked = true;
        }
        if (e->at.sched < e->config.issue_schedulers)
            status = issue(e, core, now, stop, err);
        if (status != LW_OK || stop->kind != EMU_STOP_NONE)
            return status;
        e->cycle->end(core, now);
        e->at = (struct tim_at){.phase = TIM_AT_CORE, .core = e->at.core + 1};
    }
    e->memory->ops->tick_requests(e->memory, e->now);
    uint64_t before = e->grid.idle;
    status = tim_grid_tick(&e->grid, e->now, err);
    if (status != LW_OK)
        return status;
    e->listed = false;
    e->gpu[TIM_GPU_dispatch_idle] += e->grid.idle - before;
    tim_visits_next(&e->visits, (e->config.core_count + 63) / 64);
    e->now++;
    e->gpu[TIM_GPU_cycles]++;
    e->at = (struct tim_at){.phase = TIM_AT_BEGIN};
    tim_kernels_account(e);
    if (e->now == tim_samples_next(&e->samples)) {
        struct tim_totals totals;
        tim_engine_totals(e, &totals);
        tim_samples_add(&e->samples, e->now, &totals);
    }
    return LW_OK;
}

/* ---- progress -------------------------------------------------------------------------------------------- */

static bool is_busy(const struct tim_engine *e)
{
    if (e->memory->ops->in_flight(e->memory) != 0 ||
        tim_grid_is_busy(&e->grid, e->now) || e->grid.rescan || e->wake)
        return true;
    for (unsigned c = 0; c < e->config.core_count; c++)
        if (tim_core_is_busy(e->core[c], tim_core_own(e->core[c], e->now)))
            return true;
    return false;
}

/** Called if no part is busy. Returns true if warps wait for launches that find no free resources. */
static bool is_full(const struct tim_engine *e)
{
    if (e->config.kernels_suspend || !tim_grid_has_more(&e->grid))
        return false;
    for (unsigned c = 0; c < e->config.core_count; c++)
        if (e->core[c]->launch_waits)
            return true;
    return false;
}

/** Checks, between cycles, whether all launches are complete, or whether no warp can ever continue. In both cases sets
 *  *stop and *over. */
static enum lw_status between_cycles(struct tim_engine *e, struct emu_stop *stop, bool *over,
                              struct lw_error *err)
{
    *over = false;
    if (e->at.phase != TIM_AT_BEGIN)
        return LW_OK;
    if (emu_grid_current(e->base.machine) == NULL && tim_grid_empty(&e->grid)) {
        stop->kind = EMU_STOP_IDLE;
        *over = true;
        return LW_OK;
    }
    if (e->now < e->check_at)
        return LW_OK;
    e->check_at = e->now + 1024; /* all parts are checked every 1024 cycles */
    if (is_busy(e)) {
        e->tried = false;
    } else if (!e->tried) { /* no hang yet: if all splits sleep, emu advances time at the next check */
        e->tried = true;
        e->check_at = e->now + 2;
        return wake_launchers(e, err);
    } else {
        e->tried = false;
        if (is_full(e))
            return LW_FAIL(err, LW_EUNSUPP,
                           "deadlock: blocks that wait for their device launches occupy all resources of GPU model %s: "
                           "set kernels.suspend, or increase core.blocks, core.warps or kernels.entries",
                           e->config.name);
        tim_engine_forget_spin(e);
        tim_engine_hang(e, stop);
        *over = true;
        return LW_OK;
    }
    if (tim_engine_spins(e)) {
        tim_engine_hang(e, stop);
        tim_engine_forget_spin(e);
        *over = true;
    }
    return LW_OK;
}

uint64_t tim_cores_due_clocked(const struct tim_engine *e, unsigned first)
{
    uint64_t due = 0;

    for (unsigned i = 0; i < 64 && first + i < e->config.core_count; i++) {
        const struct tim_domain *domain = e->core[first + i]->domain;
        const uint64_t own = tim_domain_own(domain, e->now);

        if (tim_domain_own(domain, e->now + 1) != own)
            due |= (uint64_t)(e->tick_at[first + i] <= own) << i;
    }
    return due;
}

/** If all cores are idle, skips to the first cycle in which a part has work, but not past @until. In the reference
 *  model, cores are never idle, so no cycle is skipped. */
static void jump(struct tim_engine *e, uint64_t until)
{
    uint64_t due = until < e->check_at ? until : e->check_at, next;

    if (e->ticked || e->at.phase != TIM_AT_BEGIN || e->grid.rescan || e->wake)
        return;
    next = e->memory->ops->next(e->memory, e->now - 1);
    due = next < due ? next : due;
    next = tim_grid_next(&e->grid, e->now);
    due = next < due ? next : due;
    if (e->samples.every != 0) { /* - 1: a sample is taken at the end of a cycle */
        next = tim_samples_next(&e->samples) - 1;
        due = next < due ? next : due;
    }
    for (unsigned c = 0; c < e->config.core_count; c++) {
        next = e->tick_at[c];
        if (e->clocked) {
            const uint64_t own = tim_domain_own(e->core[c]->domain, e->now);

            next = tim_domain_when(e->core[c]->domain, next < own ? own : next);
        }
        due = next < due ? next : due;
    }
    if (due <= e->now)
        return;
    if (tim_grid_waits(&e->grid)) {
        e->grid.idle += due - e->now;
        e->gpu[TIM_GPU_dispatch_idle] += due - e->now;
    }
    e->gpu[TIM_GPU_cycles] += due - e->now;
    e->now = due;
    tim_visits_clear(&e->visits, due, (e->config.core_count + 63) / 64);
    for (unsigned c = 0; c < e->config.core_count; c++)
        tim_visits_set(&e->visits, c, e->tick_at[c]);
}

static const struct tim_cycle *cycle_of(const struct tim_core *core)
{
    return core->reference ? &tim_cycle_reference : tim_cycle_of(core);
}

/** Opens or closes the window of the trace. While it is open, cores check all warps in every cycle; otherwise the trace
 *  does not slow them down. */
static void rotate_trace(struct tim_engine *e)
{
    bool opens = tim_trace_wants(e->trace, e->now);

    for (unsigned c = 0; c < e->config.core_count; c++)
        tim_core_set_tracing(e->core[c], opens);
    e->cycle = cycle_of(e->core[0]);
    e->trace_rotation = opens ? tim_trace_end(e->trace) : UINT64_MAX;
}

static enum lw_status run_on(struct tim_engine *e, uint64_t until, struct emu_stop *stop,
                                struct lw_error *err)
{
    memset(stop, 0, sizeof *stop);
    if (tim_grid_empty(&e->grid))
        e->grid.rescan = true;
    for (;;) {
        bool watched = e->base.observers != NULL || e->stepping;
        set_event_detail(e, watched || e->step_any || e->core[0]->reference,
                 watched || emu_breakpoint_any(e->base.machine));
        if (__atomic_load_n(&e->base.interrupted, __ATOMIC_RELAXED)) {
            __atomic_store_n(&e->base.interrupted, 0, __ATOMIC_RELAXED);
            stop->kind = EMU_STOP_INTERRUPTED;
            return LW_OK;
        }
        if (e->instructions >= e->base.stop_at) {
            stop->kind = EMU_STOP_COUNT;
            return LW_OK;
        }
        bool over = e->now >= until;
        enum lw_status status = over ? LW_OK : between_cycles(e, stop, &over, err);
        if (status != LW_OK || over)
            return status;
        if (watched != (e->base.observers != NULL || e->stepping))
            continue; /* between_cycles() added or removed an observer, so the event detail must be set again */
        if (e->core[0]->tracing)
            e->trace_rotation = tim_trace_end(e->trace); /* the trace may be full by now */
        jump(e, until < e->trace_rotation ? until : e->trace_rotation);
        if (e->now >= until || e->now >= e->check_at)
            continue; /* The head of the loop runs all checks. */
        if (e->now >= e->trace_rotation && e->at.phase == TIM_AT_BEGIN)
            rotate_trace(e);
        status = cycle(e, stop, err);
        if (status != LW_OK || stop->kind != EMU_STOP_NONE)
            return status;
    }
}

/** Runs until something stops the engine, or cycle @until is reached. */
static enum lw_status run_until(struct tim_engine *e, uint64_t until, struct emu_stop *stop,
                                struct lw_error *err)
{
    enum lw_status status = run_on(e, until, stop, err);

    tim_engine_account(e);
    /* A debugger that reads a clock register thus gets the value that the next issue would read. */
    for (unsigned c = 0; c < e->config.core_count; c++)
        e->core[c]->now = tim_core_own(e->core[c], e->now);
    return status;
}

/* ---- the engine's interface ------------------------------------------------------------------------------------ */

static struct tim_engine *self(struct emu_engine *engine)
{
    return (struct tim_engine *)engine;
}

static enum lw_status engine_run(struct emu_engine *engine, struct emu_stop *stop,
                                 struct lw_error *err)
{
    struct tim_engine *e = self(engine);
    struct emu_event ev;

    e->event = &ev;
    e->stepping = e->step_any = false;
    enum lw_status status = run_until(e, e->stop_cycle, stop, err);
    if (status == LW_OK && stop->kind == EMU_STOP_NONE)
        stop->kind = EMU_STOP_COUNT;
    return status;
}

void tim_engine_stop_at(struct emu_engine *engine, uint64_t cycle)
{
    self(engine)->stop_cycle = cycle;
}

static enum lw_status engine_step(struct emu_engine *engine, struct emu_event *ev,
                                  struct emu_stop *stop, struct lw_error *err)
{
    struct tim_engine *e = self(engine);
    enum lw_status status;

    e->event = ev;
    e->stepping = false;
    e->step_any = true;
    status = run_until(e, UINT64_MAX, stop, err);
    e->step_any = false;
    return status;
}

/** Finds the core and emu slot of a resident or suspended block. Returns false if there is no such block. */
static bool find(const struct tim_engine *e, uint32_t grid, uint64_t linear,
                 struct tim_core **core, unsigned *slot)
{
    for (unsigned c = 0; c < e->config.core_count; c++) {
        *core = e->core[c];
        for (unsigned b = 0; b < e->config.core_blocks; b++) {
            const struct tim_block *block = &e->core[c]->block[b];
            *slot = block->slot;
            if (block->used && block->linear == linear && block->grid->sequence == grid)
                return true;
        }
        for (unsigned i = 0; i < e->core[c]->suspended_count; i++) {
            const struct tim_suspended *s = &e->core[c]->suspended[i];
            *slot = s->slot;
            if (s->linear == linear && s->grid->sequence == grid)
                return true;
        }
    }
    return false;
}

/** Gets the split of @place: the first split with one of its lanes or, if @place has no lanes, the split with its id.
 *  Returns false if there is none. */
static bool split_of(const struct tim_core *core, unsigned slot, const struct emu_thread_ref *place,
                     struct emu_split_view *out)
{
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count = emu_split_views(core->emu, slot, place->warp, views, EMU_MAX_LANES);

    for (unsigned i = 0; i < count; i++)
        if (place->lanes != 0 ? (views[i].lanes & place->lanes) != 0
                              : views[i].id == place->split) {
            *out = views[i];
            return true;
        }
    return false;
}

static enum lw_status engine_step_warp(struct emu_engine *engine, const struct emu_thread_ref *place,
                                       struct emu_event *ev, struct emu_stop *stop,
                                       struct lw_error *err)
{
    struct tim_engine *e = self(engine);
    struct tim_core *core;
    struct emu_warp_view warp;
    struct emu_split_view split;
    enum lw_status status;
    unsigned slot;

    memset(stop, 0, sizeof *stop);
    if (!find(e, place->grid, place->block, &core, &slot) ||
        !emu_warp_view(core->emu, slot, place->warp, &warp))
        return LW_FAIL(err, LW_ERANGE, "block %llu of launch %u is not resident",
                       (unsigned long long)place->block, place->grid);
    if (!split_of(core, slot, place, &split) ||
        (split.state != EMU_SPLIT_READY && split.state != EMU_SPLIT_SLEEPING &&
         split.state != EMU_SPLIT_YIELDED)) {
        stop->kind = EMU_STOP_BLOCKED;
        stop->place = *place;
        snprintf(stop->hang.detail, sizeof stop->hang.detail, "%s",
                 warp.live == 0 ? "the lanes of this split have exited" : emu_split_state_name(split.state));
        return LW_OK;
    }
    e->event = ev;
    e->stepping = true;
    e->target = *place;
    if (e->target.lanes == 0)
        e->target.lanes = split.lanes;
    status = run_until(e, UINT64_MAX, stop, err);
    e->stepping = false;
    return status;
}

enum { OTHERS_CYCLES = 256 };

static enum lw_status engine_run_others(struct emu_engine *engine, const struct emu_thread_ref *place,
                                        struct emu_stop *stop, struct lw_error *err)
{
    struct tim_engine *e = self(engine);
    struct emu_event ev;

    (void)place;
    e->event = &ev;
    e->stepping = e->step_any = false;
    return run_until(e, e->now + OTHERS_CYCLES, stop, err);
}

/* ---- resident blocks and warps ------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct tim_listed *x = a, *y = b;

    if (x->grid != y->grid)
        return x->grid->sequence < y->grid->sequence ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static bool warp_lives(const struct tim_core *core, unsigned slot, unsigned warp)
{
    struct emu_warp_view view;

    return emu_warp_view(core->emu, slot, warp, &view) && view.live != 0;
}

/** Builds e->list: the resident and suspended blocks in (grid, block) order. Numbers the warps that have not ended
 *  consecutively. */
static void list(struct tim_engine *e)
{
    uint64_t now = e->base.ops->instructions(&e->base);
    unsigned first = 0;

    if (e->listed && e->listed_at == now)
        return;
    e->listed_at = now;
    e->list_count = 0;
    for (unsigned c = 0; c < e->config.core_count; c++) {
        for (unsigned b = 0; b < e->config.core_blocks; b++) {
            const struct tim_block *block = &e->core[c]->block[b];
            if (block->used && block->ended < block->warps)
                e->list[e->list_count++] =
                    (struct tim_listed){block->grid, block->linear, c, block->slot, 0};
        }
        for (unsigned i = 0; i < e->core[c]->suspended_count; i++) {
            const struct tim_suspended *s = &e->core[c]->suspended[i];
            e->list[e->list_count++] = (struct tim_listed){s->grid, s->linear, c, s->slot, 0};
        }
    }
    qsort(e->list, e->list_count, sizeof *e->list, by_name);
    for (size_t i = 0; i < e->list_count; i++) {
        e->list[i].first = first;
        for (unsigned w = 0; w < e->list[i].grid->block_warps; w++)
            first += warp_lives(e->core[e->list[i].core], e->list[i].slot, w);
    }
    e->list_warps = first;
    e->listed = true;
}

static unsigned engine_warp_count(const struct emu_engine *engine)
{
    struct tim_engine *e = self((struct emu_engine *)engine);

    list(e);
    return e->list_warps;
}

static bool engine_warp_at(const struct emu_engine *engine, unsigned index, struct emu_thread_ref *place)
{
    struct tim_engine *e = self((struct emu_engine *)engine);
    size_t low = 0, high;

    list(e);
    if (index >= e->list_warps)
        return false;
    high = e->list_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (e->list[middle].first <= index)
            low = middle;
        else
            high = middle;
    }
    const struct tim_listed *l = &e->list[low];
    unsigned warp = 0, nth = index - l->first;

    while (warp < l->grid->block_warps && (!warp_lives(e->core[l->core], l->slot, warp) || nth-- != 0))
        warp++;
    location_in(e->core[l->core], l->slot, l->grid, l->block, warp, UINT_MAX, place);
    return warp < l->grid->block_warps;
}

static bool engine_locate(struct emu_engine *engine, uint32_t grid, uint64_t block,
                          struct emu_core **core, unsigned *slot)
{
    struct tim_core *found;

    if (!find(self(engine), grid, block, &found, slot))
        return false;
    *core = found->emu;
    return true;
}

/** Returns the slot number of a suspended block of core @c or, for EMU_SLOT_WARP, of its first warp. @slot is the block's
 *  slot in emu. These numbers follow the numbers of all slots on cores. Each suspended block has as many numbers of warp
 *  slots as the largest block has warps. */
static uint64_t elsewhere(const struct tim_engine *e, enum emu_slot_kind kind, unsigned c,
                          unsigned slot)
{
    unsigned slots = e->config.core_blocks *
                     (emu_machine_config(e->base.machine)->launch_depth + 1);
    uint64_t block = (uint64_t)c * slots + slot;
    unsigned widest = EMU_MAX_BLOCK_THREADS / e->config.core_warp_width;

    return kind == EMU_SLOT_BLOCK ? (uint64_t)e->config.core_count * e->config.core_blocks + block
                                  : (uint64_t)e->config.core_count * e->config.core_warps +
                                        block * widest;
}

static bool engine_slot_of(const struct emu_engine *engine, enum emu_slot_kind kind,
                           const struct emu_thread_ref *place, unsigned *number)
{
    const struct tim_engine *e = (const struct tim_engine *)engine;
    struct tim_core *core;
    uint64_t at;
    unsigned slot;

    if (!find(e, place->grid, place->block, &core, &slot))
        return false;
    at = elsewhere(e, kind, core->index, slot) + (kind == EMU_SLOT_WARP ? place->warp : 0);
    for (unsigned b = 0; b < e->config.core_blocks; b++) {
        const struct tim_block *block = &core->block[b];
        if (!block->used || block->slot != slot)
            continue;
        at = kind == EMU_SLOT_BLOCK ? core->index * e->config.core_blocks + b
                                    : core->index * e->config.core_warps + block->warp_slot[place->warp];
    }
    *number = (unsigned)at;
    return at <= UINT_MAX;
}

/** Finds the suspended block with slot number @number of elsewhere(). Returns false if there is none. */
static bool waits_at(const struct tim_engine *e, enum emu_slot_kind kind, unsigned number,
                     struct emu_thread_ref *place)
{
    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned i = 0; i < e->core[c]->suspended_count; i++) {
            const struct tim_suspended *s = &e->core[c]->suspended[i];
            uint64_t first = elsewhere(e, kind, c, s->slot);
            if (number < first ||
                number - first >= (kind == EMU_SLOT_BLOCK ? 1 : s->grid->block_warps))
                continue;
            *place = (struct emu_thread_ref){.grid = s->grid->sequence, .block = s->linear,
                                        .warp = (unsigned)(number - first)};
            return true;
        }
    return false;
}

static bool engine_slot_at(const struct emu_engine *engine, enum emu_slot_kind kind,
                           unsigned number, struct emu_thread_ref *place)
{
    const struct tim_engine *e = (const struct tim_engine *)engine;
    unsigned each = kind == EMU_SLOT_BLOCK ? e->config.core_blocks : e->config.core_warps;
    const struct tim_core *core;
    const struct tim_block *block;
    unsigned at = number % each, warp = 0;

    if (number / each >= e->config.core_count)
        return waits_at(e, kind, number, place);
    core = e->core[number / each];
    if (kind == EMU_SLOT_WARP) {
        if (!core->warp[at].used)
            return false;
        warp = core->warp[at].index;
        at = core->warp[at].block;
    }
    block = &core->block[at];
    if (!block->used)
        return false;
    *place = (struct emu_thread_ref){.grid = block->grid->sequence, .block = block->linear,
                                .warp = warp};
    return true;
}

static uint64_t engine_instructions(const struct emu_engine *engine)
{
    return ((const struct tim_engine *)engine)->instructions;
}

static uint64_t engine_cycles(const struct emu_engine *engine)
{
    return ((const struct tim_engine *)engine)->now;
}

static void engine_destroy(struct emu_engine *engine)
{
    struct tim_engine *e = self(engine);

    if (e == NULL)
        return;
    tim_engine_forget_spin(e);
    for (unsigned c = 0; e->core != NULL && c < e->config.core_count; c++)
        tim_core_destroy(e->core[c]);
    if (e->memory != NULL)
        e->memory->ops->destroy(e->memory);
    for (size_t i = 0; i < e->code_count; i++) {
        tim_code_fini(e->code[i]);
        free(e->code[i]);
    }
    tim_grid_fini(&e->grid);
    tim_reach_destroy(e->grid.reach);
    tim_samples_fini(&e->samples);
    tim_trace_destroy(e->trace);
    free(e->code);
    free(e->core);
    free(e->tick_at);
    free(e->stats);
    free(e->slice);
    free(e->channel);
    free(e->kernel);
    free(e->turning);
    free(e->host_launch);
    free(e->list);
    free(e->name);
    tim_profile_release(e->config.profile);
    free(e);
}

static const struct emu_engine_ops ops = {
    .name = "timing",
    .destroy = engine_destroy,
    .run = engine_run,
    .step = engine_step,
    .step_warp = engine_step_warp,
    .run_other_warps = engine_run_others,
    .warp_count = engine_warp_count,
    .warp_at = engine_warp_at,
    .locate = engine_locate,
    .slot_of = engine_slot_of,
    .slot_at = engine_slot_at,
    .instructions = engine_instructions,
    .cycles = engine_cycles,
};

enum lw_status tim_engine_create_over(struct emu_machine *machine, const struct tim_config *config,
                                      const struct tim_options *options,
                                      tim_memory_create_fn create_memory, struct emu_engine **out,
                                      struct lw_error *err)
{
    const struct emu_config *have = emu_machine_config(machine);
    struct tim_engine *e;
    bool fine;

    if (have->warp_width != config->core_warp_width)
        return LW_FAIL(err, LW_EINPUT,
                       "GPU model %s has warps of %u lanes, but this run has warps of %u: do not set the warp width of "
                       "the run, or set core.warp_width", config->name,
                       config->core_warp_width, have->warp_width);
    e = calloc(1, sizeof *e);
    if (e == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a timing model");
    e->base = (struct emu_engine){.ops = &ops, .machine = machine, .stop_at = UINT64_MAX,
                                  .threads = 1};
    e->config = *config;
    e->stop_cycle = UINT64_MAX;
    e->full_events = true;
    e->name = strdup(config->name != NULL ? config->name : "");
    e->config.name = e->name;
    tim_profile_share(e->config.profile);
    e->samples.every = options->sample_cycles;
    e->clocked = config->dvfs_on;
    fine = tim_grid_init(&e->grid, &e->config);
    e->grid.skips = !options->reference;
    e->core = calloc(config->core_count, sizeof *e->core);
    e->tick_at = calloc(config->core_count, sizeof *e->tick_at);
    e->stats = calloc(config->core_count, sizeof *e->stats);
    e->slice = calloc(config->l2_slices, sizeof *e->slice);
    e->channel = calloc(config->dram_channels, sizeof *e->channel);
    fine = fine && lw_grow(&e->list, &e->list_capacity, (size_t)config->core_count * config->core_blocks,
                   sizeof *e->list);
    e->grid.cores = e->core;
    e->grid.distributed = tim_kernels_distributed;
    e->grid.starts = tim_kernels_rotate;
    e->grid.context = e;
    e->grid.gpu = e->gpu;
    if (tim_reach_is_used(config)) {
        e->grid.reach = tim_reach_create(&e->config, machine, e->gpu);
        fine = fine && e->grid.reach != NULL;
    }
    e->memory = e->grid.memory = create_memory(&e->config);
    if (options->trace_to != 0)
        e->trace = tim_trace_create(&e->config, options->trace_from, options->trace_to,
                                    options->trace_events != 0 ? options->trace_events
                                                               : TIM_TRACE_EVENTS);
    fine = fine && e->core != NULL && e->tick_at != NULL && e->stats != NULL && e->slice != NULL &&
           e->channel != NULL && e->memory != NULL && e->name != NULL &&
           (e->trace != NULL || options->trace_to == 0);
    for (unsigned c = 0; fine && c < config->core_count; c++) {
        e->core[c] = tim_core_create(&e->config, machine, e->memory, &e->stats[c], c);
        fine = e->core[c] != NULL && (!e->clocked || tim_domain_create(e->core[c]));
        if (fine) {
            struct tim_core *core = e->core[c];
            core->tick_at = &e->tick_at[c];
            core->visits = &e->visits;
            tim_core_visit(core, 0);
            core->any_poked = &e->poked;
            core->ended = on_block_ended;
            core->leaves = on_block_leaves;
            core->left = on_block_left;
            core->context = e;
            core->mechs.core.could_issue = tim_could_issue;
            core->mechs.core.slices = e->grid.reach;
            core->trace = e->trace;
            fine = tim_core_set_model(core, options->reference);
        }
    }
    if (fine)
        tim_engine_share_caches(e);
    if (!fine) {
        engine_destroy(&e->base);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a timing model of %u cores",
                       config->core_count);
    }
    e->cycle = cycle_of(e->core[0]);
    e->trace_rotation = e->trace != NULL ? options->trace_from : UINT64_MAX;
    e->memory->wake = on_memory_wake;
    e->memory->context = e;
    e->memory->trace = e->trace;
    for (unsigned s = 0; s < config->l2_slices; s++)
        e->slice[s] = e->memory->ops->slice_stats(e->memory, s);
    for (unsigned d = 0; d < config->dram_channels; d++)
        e->channel[d] = e->memory->ops->channel_stats(e->memory, d);
    *out = &e->base;
    return LW_OK;
}

enum lw_status tim_engine_run_cycles(struct emu_engine *engine, uint64_t cycles,
                                     struct emu_stop *stop, struct lw_error *err)
{
    struct tim_engine *e = self(engine);
    struct emu_event ev;

    e->event = &ev;
    e->stepping = e->step_any = false;
    return run_until(e, cycles > UINT64_MAX - e->now ? UINT64_MAX : e->now + cycles, stop, err);
}
