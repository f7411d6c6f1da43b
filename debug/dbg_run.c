/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running (MACHINE 9). continue runs all by the engine's own order. A step runs the focus
 * lane's split alone until the lane has retired one instruction; others run only when the
 * lane waits for them. Range, line and finish are loops of that step.
 */
#include "debug/debug_priv.h"

#include <stdio.h>

/* ---- stops ---------------------------------------------------------------------- */

static void stop_at(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                    const struct dbg_thread *thread)
{
    stop->kind = kind;
    stop->thread = thread->id;
    stop->lane = thread->lane;
    stop->pc = thread->place.pc;
    dbg->seen = *thread;
    dbg_arrival_add(dbg, thread->id, thread->place.pc, thread->place.lanes);
}

/* Both foci to @lane of a thread, and the stop there. */
static void stop_on(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                    dbg_thread_id id, unsigned lane)
{
    struct dbg_thread thread;

    dbg_focus_move(dbg, id, lane);
    if (dbg_thread_get(dbg, id, &thread))
        stop_at(dbg, stop, kind, &thread);
    else
        stop->kind = kind;
}

static void stop_ended(struct dbg *dbg, struct dbg_stop *stop)
{
    dbg->ended = true;
    dbg->focus[0] = dbg->focus[1] = 0;
    memset(stop, 0, sizeof *stop);
    stop->kind = DBG_STOP_ENDED;
}

/* Host steps up to the next launch; *more is false when nothing is left. */
static enum lw_status next_launch(struct dbg *dbg, bool *more, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    *more = dbg->config.next != NULL;
    while (*more && emu_grid_current(dbg->machine) == NULL && status == LW_OK)
        status = dbg->config.next(dbg->config.next_context, more, err);
    if (status == LW_OK && emu_grid_current(dbg->machine) != NULL)
        *more = true;
    return status;
}

/* The focus warp is gone: the next of its block, else the first resident one. When none is
 * resident, the host goes on to the next launch; *ended tells that there is none. */
static enum lw_status focus_next(struct dbg *dbg, bool *ended, struct lw_error *err)
{
    struct dbg_thread thread, candidate;
    struct lw_buffer name;
    bool found = false;
    uint32_t grid = dbg->seen.place.grid;

    *ended = false;
    while (dbg_thread_count(dbg) == 0) {
        enum lw_status status;
        struct emu_stop idle;
        bool more;

        if (emu_grid_current(dbg->machine) != NULL) {
            /* Nothing is left to execute: the engine only has to close the grid. */
            status = dbg->engine->ops->run(dbg->engine, &idle, err);
            if (status != LW_OK)
                return status;
            if (emu_grid_current(dbg->machine) != NULL && dbg_thread_count(dbg) == 0)
                return LW_FAIL(err, LW_ESTATE, "the launch has no warps left but does not end");
            continue;
        }
        status = next_launch(dbg, &more, err);
        if (status != LW_OK)
            return status;
        if (!more) {
            *ended = true;
            return LW_OK;
        }
    }
    for (unsigned i = 0; dbg_thread_at(dbg, i, &candidate); i++) {
        if (!found)
            thread = candidate;
        found = true;
        if (candidate.place.grid == dbg->seen.place.grid &&
            candidate.place.block == dbg->seen.place.block) {
            thread = candidate;
            break;
        }
        if (candidate.place.grid > dbg->seen.place.grid ||
            candidate.place.block > dbg->seen.place.block)
            break;
    }
    if (!found) {
        *ended = true;
        return LW_OK;
    }
    dbg_focus_move(dbg, thread.id, thread.lane);
    lw_buffer_init(&name);
    dbg_thread_name(dbg, &thread, &name.sink);
    dbg_message(dbg, "block(%u,%u,%u) w%u has ended; the focus is on %s%s",
                dbg->seen.block_index[0], dbg->seen.block_index[1], dbg->seen.block_index[2],
                dbg->seen.place.warp, name.text != NULL ? name.text : "another warp",
                thread.place.grid != grid ? " of the next launch" : "");
    lw_buffer_fini(&name);
    return LW_OK;
}

/* A stop that does not move the focus by itself: it stays unless its lane or warp is gone. */
static enum lw_status settle(struct dbg *dbg, enum dbg_stop_kind kind, struct dbg_stop *stop,
                             struct lw_error *err)
{
    struct dbg_thread thread;
    bool ended = false;

    if (!dbg_thread_get(dbg, dbg->focus[DBG_FOCUS_RUN], &thread)) {
        enum lw_status status = focus_next(dbg, &ended, err);

        if (status != LW_OK)
            return status;
        if (ended || !dbg_thread_get(dbg, dbg->focus[DBG_FOCUS_RUN], &thread)) {
            stop_ended(dbg, stop);
            return LW_OK;
        }
    } else if (dbg->seen.id == thread.id && dbg->seen.lane != thread.lane &&
               (thread.live >> dbg->seen.lane & 1) == 0) {
        dbg_message(dbg, "lane %u has exited; the focus is on lane %u", dbg->seen.lane,
                    thread.lane);
    }
    dbg_focus_move(dbg, thread.id, thread.lane);
    stop_at(dbg, stop, kind, &thread);
    return LW_OK;
}

/* Is this arrival of a split a hit? Then the stop is made and the focus moves to the first
 * lane that hit. */
static bool arrived(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                    struct dbg_stop *stop)
{
    uint64_t lanes;
    unsigned point;

    if (!dbg_point_armed(dbg, pc))
        return false;
    point = dbg_point_hit(dbg, id, pc, active, &lanes);
    if (point == 0)
        return false;
    stop_on(dbg, stop, DBG_STOP_BREAKPOINT, id, lw_lowest(lanes));
    stop->point = point;
    stop->hit_lanes = lanes;
    return true;
}

static enum lw_status over_breakpoint(struct dbg *dbg, const struct emu_place *place,
                                      struct dbg_stop *stop, struct lw_error *err);

/* What the engine stopped for, as a stop of ours; stop->kind stays NONE when the run goes
 * on (a breakpoint whose condition is false was stepped over, a new launch was queued). */
static enum lw_status engine_stop(struct dbg *dbg, const struct emu_stop *es,
                                  struct dbg_stop *stop, struct lw_error *err)
{
    dbg_thread_id id;
    enum lw_status status;
    struct emu_warp_view view;
    struct dbg_warp warp;
    bool more;

    switch (es->kind) {
    case EMU_STOP_BREAK:
        id = dbg_place_id(dbg, es->place.grid, es->place.block, es->place.warp);
        if (dbg_warp_locate(dbg, id, &warp) &&
            emu_warp_view(warp.core, warp.slot, warp.warp, &view) &&
            arrived(dbg, id, es->place.pc, es->place.lanes & view.exec, stop))
            return LW_OK;
        return over_breakpoint(dbg, &es->place, stop, err);
    case EMU_STOP_FAULT:
        stop->fault = es->fault;
        id = dbg_place_id(dbg, es->fault.grid, es->fault.block, es->fault.warp);
        stop->hit_lanes = es->fault.lanes;
        stop_on(dbg, stop, DBG_STOP_FAULT, id,
                es->fault.lanes != 0 ? lw_lowest(es->fault.lanes) : 0);
        return LW_OK;
    case EMU_STOP_HANG:
        stop->hang = es->hang;
        id = dbg_place_id(dbg, es->hang.grid, es->hang.block, es->hang.warp);
        stop_on(dbg, stop, DBG_STOP_HANG, id,
                es->hang.lanes != 0 ? lw_lowest(es->hang.lanes) : 0);
        return LW_OK;
    case EMU_STOP_INTERRUPTED:
        return settle(dbg, DBG_STOP_INTERRUPT, stop, err);
    case EMU_STOP_IDLE:
        status = next_launch(dbg, &more, err);
        if (status == LW_OK && !more)
            stop_ended(dbg, stop);
        return status;
    case EMU_STOP_OBSERVER:
        return settle(dbg, DBG_STOP_INTERRUPT, stop, err);
    default:
        return LW_OK;
    }
}

/* Step the split over the breakpoint that it stands on: one step, whatever it is. */
static enum lw_status over_breakpoint(struct dbg *dbg, const struct emu_place *place,
                                      struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_event ev;
    struct emu_stop es = {0};
    enum lw_status status = dbg->engine->ops->step_warp(dbg->engine, place, &ev, &es, err);

    if (status != LW_OK)
        return status;
    dbg_arrival_moved(dbg, dbg_place_id(dbg, place->grid, place->block, place->warp),
                      place->lanes);
    if (es.kind == EMU_STOP_FAULT || es.kind == EMU_STOP_HANG)
        return engine_stop(dbg, &es, stop, err);
    return LW_OK;
}

/* Every resuming door begins and ends here. */
static enum lw_status begin(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    memset(stop, 0, sizeof *stop);
    if (dbg->ended)
        return LW_FAIL(err, LW_ESTATE, "nothing is running: every launch has ended");
    dbg->engine->interrupted = 0;
    return LW_OK;
}

static enum lw_status end(struct dbg *dbg, enum lw_status status, const struct dbg_stop *stop)
{
    if (status == LW_OK)
        dbg->stop = *stop;
    return status;
}

/* ---- continue --------------------------------------------------------------------- */

static enum lw_status run_all(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    dbg_arrival_prune(dbg);
    while (status == LW_OK && stop->kind == DBG_STOP_NONE) {
        struct emu_stop es = {0};

        if (dbg->engine->interrupted) {
            dbg->engine->interrupted = 0;
            return settle(dbg, DBG_STOP_INTERRUPT, stop, err);
        }
        status = dbg->engine->ops->run(dbg->engine, &es, err);
        if (status == LW_OK)
            status = engine_stop(dbg, &es, stop, err);
    }
    return status;
}

enum lw_status dbg_continue(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = begin(dbg, stop, err);

    return status != LW_OK ? status : end(dbg, run_all(dbg, stop, err), stop);
}

void dbg_interrupt(struct dbg *dbg)
{
    emu_engine_interrupt(dbg->engine);
}

/* ---- one instruction of a lane ------------------------------------------------------- */

enum outcome {
    RETIRED, /* the lane retired one instruction and lives */
    EXITED,
    STOPPED  /* the stop is made */
};

/** A lane being stepped. Its block cannot go away while it lives. */
struct stepper {
    struct dbg *dbg;
    dbg_thread_id id;
    struct dbg_warp warp;
    unsigned lane;
    bool locked, told;
    int depth;                     /* calls less returns since the start */
    const struct isa_insn *insn;   /* executed last */
};

static bool stepper_where(const struct stepper *s, struct emu_split_view *out)
{
    return emu_lane_where(s->warp.core, s->warp.slot, s->warp.warp, s->lane, out);
}

static void stepper_place(const struct stepper *s, const struct emu_split_view *split,
                          struct emu_place *out)
{
    out->grid = s->warp.grid->sequence;
    out->block = s->warp.block;
    out->warp = s->warp.warp;
    out->split = split->id;
    out->lanes = split->lanes;
    out->pc = split->pc;
}

/* Lanes and warps that a waiting lane waits for, as far as the views tell. */
static void wait_reason(const struct stepper *s, const struct emu_split_view *split,
                        char *text, size_t size)
{
    struct emu_block_view block;
    uint64_t group, there = 0;
    struct emu_split_view splits[EMU_MAX_LANES];
    unsigned count, used;

    switch (split->state) {
    case EMU_SPLIT_BLOCKED:
        group = emu_barrier_group(s->warp.core, s->warp.slot, s->warp.warp, split->barrier,
                                  s->lane, NULL);
        count = emu_split_views(s->warp.core, s->warp.slot, s->warp.warp, splits,
                                EMU_MAX_LANES);
        for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++)
            if (splits[i].state == EMU_SPLIT_BLOCKED && splits[i].barrier == split->barrier)
                there |= splits[i].lanes;
        snprintf(text, size, "lane %u waits at convergence barrier b%u for lanes 0x%llx",
                 s->lane, split->barrier, (unsigned long long)(group & ~there));
        return;
    case EMU_SPLIT_CTA:
        used = (unsigned)snprintf(text, size, "lane %u waits at CTA barrier %u for warps",
                                  s->lane, split->barrier);
        if (!emu_block_view(s->warp.core, s->warp.slot, &block))
            return;
        for (unsigned w = 0; w < block.warp_count && used + 12 < size; w++) {
            uint64_t missing = 0;

            count = emu_split_views(s->warp.core, s->warp.slot, w, splits, EMU_MAX_LANES);
            for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++)
                if (splits[i].state != EMU_SPLIT_CTA || splits[i].barrier != split->barrier)
                    missing |= splits[i].lanes;
            if (missing != 0)
                used += (unsigned)snprintf(text + used, size - used, " %u", w);
        }
        return;
    case EMU_SPLIT_WARPSYNC:
        snprintf(text, size, "lane %u waits at warpsync for other lanes of its warp", s->lane);
        return;
    case EMU_SPLIT_SLEEPING:
        snprintf(text, size, "lane %u sleeps until other warps have run", s->lane);
        return;
    case EMU_SPLIT_SUSPENDED:
        snprintf(text, size, "lane %u waits for the other lanes of its divided split", s->lane);
        return;
    case EMU_SPLIT_YIELDED:
        snprintf(text, size, "lane %u yielded to other splits of its warp", s->lane);
        return;
    case EMU_SPLIT_READY:
        snprintf(text, size, "lane %u waits for its turn", s->lane);
        return;
    }
}

static void stop_waits(struct stepper *s, const struct emu_split_view *split,
                       const char *behind, struct dbg_stop *stop)
{
    char reason[400];

    wait_reason(s, split, reason, sizeof reason);
    stop_on(s->dbg, stop, DBG_STOP_WAITS, s->id, s->lane);
    snprintf(stop->text, sizeof stop->text, "%s%s", reason, behind);
}

/** Stops the others as soon as the lane is free: it must not run on in their turn. */
struct release_watch {
    struct emu_observer observer;
    const struct stepper *stepper;
    bool fired;
};

static bool on_release(struct emu_observer *observer, const struct emu_event *ev)
{
    struct release_watch *watch = (struct release_watch *)(void *)observer;
    struct emu_split_view split;

    (void)ev;
    watch->fired = !stepper_where(watch->stepper, &split) || split.state == EMU_SPLIT_READY;
    return watch->fired;
}

/* The lane stands at a barrier: the engine's rotation, until somebody's step frees it. */
static enum lw_status others_by_engine(struct stepper *s, const struct emu_split_view *split,
                                       struct dbg_stop *stop, struct lw_error *err)
{
    struct release_watch watch = {.observer = {.on_event = on_release}, .stepper = s};
    struct emu_stop es = {0};
    struct emu_place place;
    enum lw_status status;

    stepper_place(s, split, &place);
    emu_observer_add(s->dbg->engine, &watch.observer);
    status = s->dbg->engine->ops->run_others(s->dbg->engine, &place, &es, err);
    emu_observer_remove(s->dbg->engine, &watch.observer);
    if (status != LW_OK || es.kind == EMU_STOP_IDLE ||
        (es.kind == EMU_STOP_OBSERVER && watch.fired))
        return status;
    return engine_stop(s->dbg, &es, stop, err);
}

/* One step of another split. *ran tells that it executed; a hit or a fault makes the stop. */
static enum lw_status step_other(struct stepper *s, unsigned warp,
                                 const struct emu_split_view *split, bool *ran,
                                 struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg *dbg = s->dbg;
    struct emu_stop es = {0};
    struct emu_place place;
    struct emu_event ev;
    struct emu_warp_view view;
    dbg_thread_id id;
    enum lw_status status;

    stepper_place(s, split, &place);
    place.warp = warp;
    id = dbg_place_id(dbg, place.grid, place.block, warp);
    if (dbg_point_armed(dbg, split->pc) &&
        emu_warp_view(s->warp.core, s->warp.slot, warp, &view) &&
        arrived(dbg, id, split->pc, split->lanes & view.exec, stop))
        return LW_OK;
    status = dbg->engine->ops->step_warp(dbg->engine, &place, &ev, &es, err);
    *ran = status == LW_OK && es.kind != EMU_STOP_WAITS;
    if (*ran)
        dbg_arrival_moved(dbg, id, split->lanes);
    if (status == LW_OK && (es.kind == EMU_STOP_FAULT || es.kind == EMU_STOP_HANG))
        return engine_stop(dbg, &es, stop, err);
    return status;
}

/* The next split of a warp that may run and does not hold the focus lane. */
static bool pick_other(const struct stepper *s, unsigned warp, struct emu_split_view *out)
{
    struct emu_split_view splits[EMU_MAX_LANES];
    bool own = warp == s->warp.warp, found = false;
    int chosen = own ? -1 : emu_warp_select(s->warp.core, s->warp.slot, warp);
    unsigned count = emu_split_views(s->warp.core, s->warp.slot, warp, splits, EMU_MAX_LANES);

    for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++) {
        if (!own && (int)splits[i].id == chosen) {
            *out = splits[i];
            return true;
        }
        if (!own || (splits[i].lanes >> s->lane & 1) != 0)
            continue;
        /* Ready ones before those that yielded. */
        if (splits[i].state == EMU_SPLIT_READY ||
            (splits[i].state == EMU_SPLIT_YIELDED && !found)) {
            *out = splits[i];
            found = true;
            if (splits[i].state == EMU_SPLIT_READY)
                return true;
        }
    }
    return found;
}

/* The lane gave its turn away, or sleeps: selecting in its warp could let it run on, so the
 * others are stepped one by one, each warp for its quantum. */
static enum lw_status others_by_steps(struct stepper *s, struct dbg_stop *stop,
                                      struct lw_error *err)
{
    unsigned quantum = emu_machine_config(s->dbg->machine)->warp_quantum;
    struct emu_block_view block;
    enum lw_status status = LW_OK;

    if (!emu_block_view(s->warp.core, s->warp.slot, &block))
        return LW_OK;
    for (unsigned i = 1; i <= block.warp_count; i++) {
        unsigned warp = (s->warp.warp + i) % block.warp_count;
        struct emu_split_view split;

        for (unsigned n = 0; n < quantum && pick_other(s, warp, &split); n++) {
            bool ran = false;

            status = step_other(s, warp, &split, &ran, stop, err);
            if (status != LW_OK || stop->kind != DBG_STOP_NONE)
                return status;
            if (!ran)
                break;
        }
    }
    return status;
}

/* One rotation of the others; says so once a step. */
static enum lw_status let_others_run(struct stepper *s, const struct emu_split_view *split,
                                     struct dbg_stop *stop, struct lw_error *err)
{
    uint64_t before = s->dbg->engine->ops->instructions(s->dbg->engine);
    char reason[400];
    enum lw_status status;

    /* The others may pass points unseen only where none is armed. */
    dbg_arrival_prune(s->dbg);
    wait_reason(s, split, reason, sizeof reason);
    if (split->state == EMU_SPLIT_BLOCKED || split->state == EMU_SPLIT_CTA ||
        split->state == EMU_SPLIT_WARPSYNC) {
        status = others_by_engine(s, split, stop, err);
    } else {
        status = others_by_steps(s, stop, err);
        /* A sleeper that is left alone wakes when its warp selects: time jumps. */
        if (status == LW_OK && split->state == EMU_SPLIT_SLEEPING &&
            s->dbg->engine->ops->instructions(s->dbg->engine) == before)
            (void)!emu_warp_select(s->warp.core, s->warp.slot, s->warp.warp);
    }
    if (!s->told && s->dbg->engine->ops->instructions(s->dbg->engine) != before) {
        dbg_message(s->dbg, "%s: others ran", reason);
        s->told = true;
    }
    return status;
}

/* Until the lane's split is ready again. */
static enum lw_status wait_for_others(struct stepper *s, enum outcome *outcome,
                                      struct dbg_stop *stop, struct lw_error *err)
{
    *outcome = STOPPED;
    for (;;) {
        struct emu_split_view split;
        uint64_t before = s->dbg->engine->ops->instructions(s->dbg->engine);
        enum lw_status status;

        if (!stepper_where(s, &split)) {
            *outcome = EXITED;
            return LW_OK;
        }
        if (split.state == EMU_SPLIT_READY) {
            *outcome = RETIRED;
            return LW_OK;
        }
        if (s->locked) {
            stop_waits(s, &split, ", which may not run", stop);
            return LW_OK;
        }
        if (s->dbg->engine->interrupted) {
            s->dbg->engine->interrupted = 0;
            return settle(s->dbg, DBG_STOP_INTERRUPT, stop, err);
        }
        status = let_others_run(s, &split, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (s->dbg->engine->ops->instructions(s->dbg->engine) == before &&
            stepper_where(s, &split) && split.state != EMU_SPLIT_READY) {
            stop_waits(s, &split, ", and nothing else in the block can run", stop);
            return LW_OK;
        }
    }
}

static enum lw_status step_lane(struct stepper *s, enum outcome *outcome,
                                struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_split_view split;
    struct emu_event ev;
    struct emu_stop es = {0};
    struct emu_place place;
    enum lw_status status;
    uint64_t start;

    s->insn = NULL;
    *outcome = EXITED;
    if (!stepper_where(s, &split))
        return LW_OK;
    start = split.pc;
    for (;;) {
        if (split.state != EMU_SPLIT_READY && split.state != EMU_SPLIT_YIELDED) {
            status = wait_for_others(s, outcome, stop, err);
            if (status != LW_OK || *outcome != RETIRED || !stepper_where(s, &split))
                return status;
            /* The barrier that it stood at is behind it: that was its instruction. */
            if (split.pc != start)
                return LW_OK;
        }
        stepper_place(s, &split, &place);
        memset(&es, 0, sizeof es);
        status = s->dbg->engine->ops->step_warp(s->dbg->engine, &place, &ev, &es, err);
        if (status != LW_OK)
            return status;
        if (es.kind != EMU_STOP_WAITS)
            break;
        if (!stepper_where(s, &split)) {
            *outcome = EXITED;
            return LW_OK;
        }
        if (s->locked) {
            *outcome = STOPPED;
            stop_waits(s, &split, "", stop);
            return LW_OK;
        }
        /* Ready in name only: it yielded, or other lanes must come first. */
        status = let_others_run(s, &split, stop, err);
        *outcome = STOPPED;
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (s->dbg->engine->interrupted) {
            s->dbg->engine->interrupted = 0;
            return settle(s->dbg, DBG_STOP_INTERRUPT, stop, err);
        }
        if (!stepper_where(s, &split)) {
            *outcome = EXITED;
            return LW_OK;
        }
        if (split.pc != start) {
            *outcome = RETIRED;
            return LW_OK;
        }
    }
    dbg_arrival_moved(s->dbg, s->id, place.lanes);
    if (es.kind == EMU_STOP_FAULT || es.kind == EMU_STOP_HANG) {
        *outcome = STOPPED;
        return engine_stop(s->dbg, &es, stop, err);
    }
    *outcome = EXITED;
    s->insn = ev.insn;
    if (!stepper_where(s, &split))
        return LW_OK;
    *outcome = RETIRED;
    if (split.pc != start + ISA_WORD_BYTES && s->insn != NULL) {
        if (isa_op_info((enum isa_op)s->insn->op)->flags & ISA_F_CALL)
            s->depth++;
        else if (s->insn->op == ISA_RET)
            s->depth--;
    }
    switch (split.state) {
    case EMU_SPLIT_READY:
        return LW_OK;
    case EMU_SPLIT_YIELDED:
    case EMU_SPLIT_SLEEPING:
        /* Retired; the others get the turn that it gave away. */
        if (s->locked)
            return LW_OK;
        status = let_others_run(s, &split, stop, err);
        if (stop->kind != DBG_STOP_NONE)
            *outcome = STOPPED;
        else if (!stepper_where(s, &split))
            *outcome = EXITED;
        return status;
    default:
        return wait_for_others(s, outcome, stop, err);
    }
}

static enum lw_status stepper_init(struct stepper *s, struct dbg *dbg, dbg_thread_id id,
                                   bool locked, struct lw_error *err)
{
    struct dbg_thread thread;

    memset(s, 0, sizeof *s);
    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_locate(dbg, id, &s->warp))
        return dbg_gone(dbg, id, err);
    s->dbg = dbg;
    s->id = id;
    s->lane = thread.lane;
    s->locked = locked;
    dbg_focus_move(dbg, id, thread.lane);
    dbg->seen = thread;
    return LW_OK;
}

/* Where the lane stands now; true when that ends the step: a point hit there, an exit, an
 * interrupt. */
static enum lw_status after_step(struct stepper *s, enum outcome outcome, uint64_t *pc,
                                 struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_split_view split;
    struct emu_warp_view view;

    if (outcome == STOPPED)
        return LW_OK;
    if (outcome == EXITED || !stepper_where(s, &split))
        return settle(s->dbg, DBG_STOP_STEP, stop, err);
    *pc = split.pc;
    if (dbg_point_armed(s->dbg, split.pc) &&
        emu_warp_view(s->warp.core, s->warp.slot, s->warp.warp, &view) &&
        arrived(s->dbg, s->id, split.pc, split.lanes & view.exec, stop))
        return LW_OK;
    if (s->dbg->engine->interrupted) {
        s->dbg->engine->interrupted = 0;
        return settle(s->dbg, DBG_STOP_INTERRUPT, stop, err);
    }
    return LW_OK;
}

static enum lw_status step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low,
                                 uint64_t high, bool locked, struct dbg_stop *stop,
                                 struct lw_error *err)
{
    struct stepper s;
    enum lw_status status = stepper_init(&s, dbg, id, locked, err);
    uint64_t pc = 0;

    while (status == LW_OK) {
        enum outcome outcome;

        status = step_lane(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = after_step(&s, outcome, &pc, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (pc < low || pc >= high)
            return settle(dbg, DBG_STOP_STEP, stop, err);
    }
    return status;
}

enum lw_status dbg_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high,
                              bool locked, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = begin(dbg, stop, err);

    if (status != LW_OK)
        return status;
    return end(dbg, step_range(dbg, id, low, high, locked, stop, err), stop);
}

enum lw_status dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked, struct dbg_stop *stop,
                        struct lw_error *err)
{
    /* Every pc is outside the empty range: one instruction. */
    return dbg_step_range(dbg, id, 0, 0, locked, stop, err);
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Has the step by line come to its end at @pc? */
static bool line_done(struct stepper *s, const struct isa_line *from, bool over, uint64_t pc,
                      int *into)
{
    const struct isa_line *row;
    bool start, known = dbg_row_at(s->dbg, pc, &row, &start);

    if (s->depth < 0)
        return true; /* returned: another frame */
    if (s->depth > 0) {
        const struct isa_function *function = dbg_function_at(s->dbg, pc);

        if (over || !known || function == NULL || s->depth > 1)
            return false;
        /* Into a function: on to the end of its prologue. */
        if (*into != s->depth && pc == dbg_function_pc(s->dbg, function))
            *into = s->depth;
        return *into == s->depth && pc >= dbg_function_body(s->dbg, function);
    }
    *into = 0;
    return known && start && (row->line != from->line || row->file != from->file);
}

static enum lw_status step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                                struct dbg_stop *stop, struct lw_error *err)
{
    const struct isa_line *from;
    struct dbg_thread thread;
    struct stepper s;
    enum lw_status status;
    bool start;
    uint64_t pc = 0;
    int into = 0;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_gone(dbg, id, err);
    if (!dbg_row_at(dbg, thread.place.pc, &from, &start)) {
        dbg_message(dbg, "no line is known here: one instruction was stepped");
        return step_range(dbg, id, 0, 0, locked, stop, err);
    }
    status = stepper_init(&s, dbg, id, locked, err);
    while (status == LW_OK) {
        enum outcome outcome;

        status = step_lane(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = after_step(&s, outcome, &pc, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (line_done(&s, from, over, pc, &into))
            return settle(dbg, DBG_STOP_STEP, stop, err);
    }
    return status;
}

enum lw_status dbg_step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                             struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = begin(dbg, stop, err);

    if (status != LW_OK)
        return status;
    return end(dbg, step_line(dbg, id, over, locked, stop, err), stop);
}

/* ---- finish, advance ----------------------------------------------------------------------- */

static enum lw_status finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    const struct isa_function *function;
    struct dbg_thread thread;
    struct stepper s;
    enum lw_status status;
    uint64_t pc = 0;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_gone(dbg, id, err);
    function = dbg_function_at(dbg, thread.place.pc);
    if (function != NULL && function->kernel)
        return LW_FAIL(err, LW_ESTATE,
                       "%s is the kernel: nothing called it; `continue` runs to its end",
                       function->name);
    status = stepper_init(&s, dbg, id, false, err);
    while (status == LW_OK) {
        enum outcome outcome;

        status = step_lane(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = after_step(&s, outcome, &pc, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (s.depth < 0)
            return settle(dbg, DBG_STOP_STEP, stop, err);
    }
    return status;
}

enum lw_status dbg_next_insn(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    struct stepper s;
    enum lw_status status = begin(dbg, stop, err);
    uint64_t pc = 0;

    if (status == LW_OK)
        status = stepper_init(&s, dbg, id, false, err);
    if (status != LW_OK)
        return status;
    do {
        enum outcome outcome;

        status = step_lane(&s, &outcome, stop, err);
        if (status == LW_OK)
            status = after_step(&s, outcome, &pc, stop, err);
    } while (status == LW_OK && stop->kind == DBG_STOP_NONE && s.depth > 0);
    if (status == LW_OK && stop->kind == DBG_STOP_NONE)
        status = settle(dbg, DBG_STOP_STEP, stop, err);
    return end(dbg, status, stop);
}

enum lw_status dbg_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                          struct lw_error *err)
{
    enum lw_status status = begin(dbg, stop, err);

    return status != LW_OK ? status : end(dbg, finish(dbg, id, stop, err), stop);
}

struct lane_wanted {
    dbg_thread_id id;
    unsigned lane;
};

static bool lane_is_wanted(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    const struct lane_wanted *wanted = context;

    (void)dbg;
    return id == wanted->id && lane == wanted->lane;
}

enum lw_status dbg_advance(struct dbg *dbg, dbg_thread_id id, uint64_t pc,
                           struct dbg_stop *stop, struct lw_error *err)
{
    struct lane_wanted wanted = {id, dbg_lane_get(dbg, id)};
    unsigned point, last = dbg->last_point;
    enum lw_status status = begin(dbg, stop, err);

    if (status == LW_OK)
        status = dbg_point_add(dbg, DBG_OWNER_SHELL, pc, NULL, false, &point, err);
    if (status != LW_OK)
        return status;
    status = dbg_point_set_condition(dbg, point, lane_is_wanted, &wanted, NULL, err);
    if (status == LW_OK)
        status = run_all(dbg, stop, err);
    if (dbg_point_remove(dbg, point, NULL) == LW_OK)
        dbg->last_point = last; /* users never see its number */
    if (status == LW_OK && stop->kind == DBG_STOP_BREAKPOINT && stop->point == point) {
        stop->kind = DBG_STOP_STEP;
        stop->point = 0;
        stop->hit_lanes = 0;
    }
    return end(dbg, status, stop);
}
