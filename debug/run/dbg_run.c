/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all warps in the order that the engine chooses, and converts stops of the engine to stops of the debugger
 * (MACHINE 9). */
#include "debug/run/dbg_run_priv.h"

#include <stdio.h>

/* ---- stops ---------------------------------------------------------------------- */

bool dbg_arrived(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                 struct dbg_stop *stop)
{
    uint64_t lanes;
    unsigned point, focus = dbg_lane_get(dbg, id);

    if (!dbg_breakpoint_inserted(dbg, pc))
        return false;
    point = dbg_breakpoint_hit(dbg, id, pc, active, &lanes, stop->text, sizeof stop->text);
    if (point == 0)
        return false;
    dbg_stop_on(dbg, stop, DBG_STOP_BREAKPOINT, id,
                lanes >> focus & 1 ? focus : lw_lowest(lanes));
    stop->point = point;
    stop->hit_lanes = lanes;
    return true;
}

static enum lw_status over_breakpoint(struct dbg *dbg, const struct emu_thread_ref *location,
                                      struct dbg_stop *stop, struct lw_error *err);

enum lw_status dbg_engine_stop(struct dbg *dbg, const struct emu_stop *es,
                               struct dbg_stop *stop, struct lw_error *err)
{
    dbg_thread_id id;
    enum lw_status status;
    struct emu_warp_view view;
    struct dbg_warp warp;
    bool more;

    switch (es->kind) {
    case EMU_STOP_BREAK:
        id = dbg_thread_id_of(dbg, es->place.grid, es->place.block, es->place.warp);
        if (dbg_warp_view(dbg, id, &warp, &view) &&
            dbg_arrived(dbg, id, es->place.pc, es->place.lanes & view.exec, stop))
            return LW_OK;
        return over_breakpoint(dbg, &es->place, stop, err);
    case EMU_STOP_FAULT:
        dbg_finding_print(dbg);
        stop->fault = es->fault;
        id = dbg_thread_id_of(dbg, es->fault.grid, es->fault.block, es->fault.warp);
        stop->hit_lanes = es->fault.lanes;
        dbg_stop_on(dbg, stop, DBG_STOP_FAULT, id,
                    es->fault.lanes != 0 ? lw_lowest(es->fault.lanes) : 0);
        return LW_OK;
    case EMU_STOP_HANG:
        stop->hang = es->hang;
        id = dbg_thread_id_of(dbg, es->hang.grid, es->hang.block, es->hang.warp);
        dbg_stop_on(dbg, stop, DBG_STOP_HANG, id,
                    es->hang.lanes != 0 ? lw_lowest(es->hang.lanes) : 0);
        return LW_OK;
    case EMU_STOP_COUNT: /* the run has reached engine->stop_at: set for a recorded finding, or by our caller */
        if (dbg_finding_pending(dbg))
            return dbg_watch_stop(dbg, stop, err);
        return dbg_finish_stop(dbg, DBG_STOP_INTERRUPT, stop, err);
    case EMU_STOP_INTERRUPTED: return dbg_finish_stop(dbg, DBG_STOP_INTERRUPT, stop, err);
    case EMU_STOP_IDLE:
        status = dbg_next_launch(dbg, &more, err);
        if (status == LW_OK && dbg_finding_pending(dbg))
            return dbg_stop_on_finding(dbg, stop, err);
        if (status == LW_OK && !more)
            dbg_stop_ended(dbg, stop);
        return status;
    case EMU_STOP_OBSERVER:
        if (dbg_watch_pending(dbg))
            return dbg_watch_stop(dbg, stop, err);
        return dbg_finish_stop(dbg, DBG_STOP_INTERRUPT, stop, err);
    default: /* A replay does not halt the machine for a finding, so recorded findings are checked after each step. */
        return dbg_finding_pending(dbg) ? dbg_watch_stop(dbg, stop, err) : LW_OK;
    }
}

/* Steps a split over the breakpoint at its pc. */
static enum lw_status over_breakpoint(struct dbg *dbg, const struct emu_thread_ref *location,
                                      struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_event ev;
    struct emu_stop es = {0};
    enum lw_status status = dbg->engine->ops->step_warp(dbg->engine, location, &ev, &es, err);

    if (status != LW_OK)
        return status;
    dbg_reported_lanes_moved(dbg, dbg_thread_id_of(dbg, location->grid, location->block, location->warp),
                      location->lanes);
    if (es.kind == EMU_STOP_FAULT || es.kind == EMU_STOP_HANG || dbg_watch_pending(dbg))
        return dbg_engine_stop(dbg, &es, stop, err);
    return LW_OK;
}

enum lw_status dbg_run_begin(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    memset(stop, 0, sizeof *stop);
    if (dbg->ended)
        return LW_FAIL(err, LW_ESTATE, "nothing is running: all launches have ended");
    dbg->engine->interrupted = 0;
    dbg_reported_lanes_forget(dbg);
    dbg_watch_begin(dbg);
    dbg_finding_begin(dbg);
    return LW_OK;
}

enum lw_status dbg_run_end(struct dbg *dbg, enum lw_status status, struct dbg_stop *stop,
                           struct lw_error *err)
{
    dbg_spin_forget(dbg);
    dbg_finding_end(dbg);
    if (status == LW_OK)
        status = dbg_finding_finish_stop(dbg, stop, err);
    dbg_watch_remove_ended(dbg);
    if (status == LW_OK)
        dbg->stop = *stop;
    return status;
}
/* ---- continue --------------------------------------------------------------------- */

/* Handles a stop of the engine before an instruction: makes the stop if a breakpoint there is hit. Otherwise executes that
 * instruction, which is the engine's next one. The order in which the engine runs warps thus does not change. */
static enum lw_status at_break(struct dbg *dbg, const struct emu_thread_ref *location,
                               struct dbg_stop *stop, struct lw_error *err)
{
    dbg_thread_id id = dbg_thread_id_of(dbg, location->grid, location->block, location->warp);
    struct emu_warp_view view;
    struct emu_stop es = {0};
    struct dbg_warp warp;
    enum lw_status status;

    if (dbg_breakpoint_inserted(dbg, location->pc) && dbg_warp_view(dbg, id, &warp, &view) &&
        dbg_arrived(dbg, id, location->pc, location->lanes & view.exec, stop))
        return LW_OK;
    status = dbg_step_engine(dbg, &es, err);
    if (status != LW_OK)
        return status;
    dbg_reported_lanes_moved(dbg, id, location->lanes);
    if (es.kind == EMU_STOP_FAULT || es.kind == EMU_STOP_HANG || dbg_watch_pending(dbg))
        return dbg_engine_stop(dbg, &es, stop, err);
    return LW_OK;
}

static enum lw_status run_on(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    while (status == LW_OK && stop->kind == DBG_STOP_NONE) {
        struct emu_stop es = {0};

        if (dbg->engine->interrupted) {
            dbg->engine->interrupted = 0;
            return dbg_finish_stop(dbg, DBG_STOP_INTERRUPT, stop, err);
        }
        dbg_watch_filter_next(dbg);
        status = dbg->engine->ops->run(dbg->engine, &es, err);
        if (status == LW_OK)
            status = es.kind == EMU_STOP_BREAK ? at_break(dbg, &es.place, stop, err)
                                               : dbg_engine_stop(dbg, &es, stop, err);
    }
    return status;
}

static enum lw_status run_all(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status;

    dbg_reported_lanes_prune(dbg);
    if (dbg_watch_pending(dbg))
        return dbg_watch_stop(dbg, stop, err);
    dbg_watch_filter_begin(dbg);
    status = run_on(dbg, stop, err);
    dbg_watch_filter_end(dbg);
    return status;
}

enum lw_status dbg_continue(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    return status != LW_OK ? status : dbg_run_end(dbg, run_all(dbg, stop, err), stop, err);
}

void dbg_interrupt(struct dbg *dbg)
{
    emu_engine_interrupt(dbg->engine);
}
/* ---- advance ---------------------------------------------------------------------- */

/* The lane for which dbg_advance() waits. */
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
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    if (status == LW_OK)
        status = dbg_breakpoint_add(dbg, DBG_OWNER_SHELL, pc, NULL, false, &point, err);
    if (status != LW_OK)
        return status;
    status = dbg_stoppoint_set_condition(dbg, point, lane_is_wanted, &wanted, NULL, err);
    if (status == LW_OK)
        status = run_all(dbg, stop, err);
    if (dbg_stoppoint_remove(dbg, point, NULL) == LW_OK)
        dbg->last_point = last; /* the next stoppoint of the user gets this id again */
    if (status == LW_OK && stop->kind == DBG_STOP_BREAKPOINT && stop->point == point) {
        stop->kind = DBG_STOP_STEP;
        stop->point = 0;
        stop->hit_lanes = 0;
    }
    return dbg_run_end(dbg, status, stop, err);
}
