/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reverse commands. Reverse steps read the instruction trace of a lane. reverse-continue replays intervals of history
 * forward, the latest interval first, and moves to the last hit of a stoppoint.
 */
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>
#include <stdio.h>

/** Position at which a command began, to which the session returns if the command is interrupted. */
struct start {
    uint64_t at; /* instruction count; UINT64_MAX: the end of history */
    struct dbg_lane_ref lane_ref;
};

static enum lw_status begin(struct dbg *dbg, dbg_thread_id id, struct start *start,
                            struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_history_info info;
    enum lw_status status = dbg_history_ready(dbg, stop, err);

    if (status != LW_OK)
        return status;
    (void)dbg_history_info(dbg, &info);
    start->at = info.in_past ? info.now : UINT64_MAX;
    start->lane_ref = dbg_history_lane(dbg, id);
    if (start->lane_ref.id == 0)
        return LW_FAIL(err, LW_ESTATE, "no instruction has been executed yet");
    return LW_OK;
}

/* Moves to the position at which an interrupted command began, and makes the stop there. */
static enum lw_status visit(struct dbg *dbg, const struct start *start, struct dbg_stop *stop,
                           struct lw_error *err)
{
    enum lw_status status = dbg_history_seek(dbg, start->at, DBG_STOP_INTERRUPT, &start->lane_ref,
                                             stop, err);

    if (status == LW_OK && stop->kind != DBG_STOP_ENDED)
        stop->kind = DBG_STOP_INTERRUPT;
    return status;
}

/* Makes the stop after the trace has reached the lane's first recorded instruction: before @first or, if @first is NULL, at the
 * position at which the command began. */
static enum lw_status at_beginning(struct dbg *dbg, const struct start *start,
                                   const struct dbg_trace *first, struct dbg_stop *stop,
                                   struct lw_error *err)
{
    struct emu_history_info info = {0};
    char text[400];
    enum lw_status status = dbg_history_seek(dbg, first != NULL ? first->at : start->at,
                                             DBG_STOP_HISTORY_BEGIN, &start->lane_ref, stop, err);

    if (status != LW_OK)
        return status;
    (void)dbg_history_info(dbg, &info);
    if (info.why != NULL && info.why[0] != '\0')
        snprintf(text, sizeof text, "%s", info.why);
    else
        snprintf(text, sizeof text, "lane %u of this warp has executed no earlier instruction",
                 start->lane_ref.lane);
    stop->kind = DBG_STOP_HISTORY_BEGIN;
    snprintf(stop->text, sizeof stop->text, "%s", text);
    return LW_OK;
}

/* Counts a hit in the past and deletes a temporary stoppoint. */
static void count_hit(struct dbg *dbg, unsigned id)
{
    struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, id);

    if (point == NULL)
        return;
    point->pub.hits++;
    if (point->pub.temporary)
        (void)!dbg_stoppoint_remove(dbg, id, NULL);
}

/* Makes the stop if lanes of the mask @active hit a breakpoint at @pc. The focus is on @lane_ref if this lane hit it, else
 * on the lowest lane of its thread that did. */
static void stop_at_point(struct dbg *dbg, const struct dbg_lane_ref *lane_ref, uint64_t pc,
                          uint64_t active, struct dbg_stop *stop)
{
    uint64_t lanes;
    unsigned point;

    point = dbg_breakpoint_peek(dbg, lane_ref->id, pc, active, &lanes);
    if (point == 0)
        return;
    dbg_stop_on(dbg, stop, DBG_STOP_BREAKPOINT, lane_ref->id,
                lanes >> lane_ref->lane & 1 ? lane_ref->lane : lw_lowest(lanes));
    stop->point = point;
    stop->hit_lanes = lanes;
    count_hit(dbg, point);
}

static enum lw_status to_hit(struct dbg *dbg, const struct start *start, const struct dbg_hit *hit,
                             struct dbg_stop *stop, struct lw_error *err)
{
    bool own = start->lane_ref.id == hit->id && hit->lanes >> start->lane_ref.lane & 1;
    struct dbg_lane_ref lane_ref = {hit->id, own ? start->lane_ref.lane : lw_lowest(hit->lanes)};
    enum lw_status status;

    if (hit->touched) {
        status = dbg_history_seek(dbg, hit->at, DBG_STOP_WATCH, &lane_ref, stop, err);
        if (status == LW_OK) {
            dbg_watch_hit_stop(dbg, &hit->touch, stop);
            stop->passed = hit->passed;
            count_hit(dbg, hit->touch.point);
        }
        return status;
    }
    status = dbg_history_move(dbg, hit->at, err);
    if (status != LW_OK)
        return status;
    stop_at_point(dbg, &lane_ref, hit->pc, hit->lanes, stop);
    if (stop->kind == DBG_STOP_NONE)
        dbg_stop_on(dbg, stop, DBG_STOP_STEP, hit->id, lane_ref.lane);
    return LW_OK;
}

/* Number of consecutive instructions at which a reverse step could not end and after which the step calls
 * dbg_reverse_skip(). */
enum { LONG_VISIT = 1 << 15 };

/** A walk: the state of a reverse step that reads the instruction trace of its lane. */
struct walk {
    struct dbg *dbg;
    struct start start;
    struct dbg_lane_trace trace;
    struct dbg_trace executed;  /* the instruction that was read last, if has_trace */
    int depth;               /* call depth at that instruction, relative to the position at which the command began */
    struct dbg_trace target; /* the instruction at which the walk is to end, if has_target */
    bool has_target;
    bool has_trace;
    uint64_t stayed; /* number of consecutive instructions, up to the one read last, at which the walk cannot end */
    uint64_t unwatched; /* from this instruction count on, no hit of a watchpoint or catchpoint has been found */
};

/* Makes the stop if a lane has hit a watchpoint or catchpoint since instruction count @at: a step forward would stop there,
 * too. Does not search instruction counts again that the walk has already searched. The hits found are cached for the next
 * search. */
static enum lw_status look_watched(struct walk *w, uint64_t at, struct dbg_stop *stop, struct lw_error *err)
{
    uint64_t before = w->unwatched;
    struct dbg_hit hit = {0};
    bool found = true, interrupted = false;
    enum lw_status status = LW_OK;

    if (w->dbg->watch == NULL || at >= before)
        return LW_OK;
    w->unwatched = at;
    while (status == LW_OK && found && !interrupted && stop->kind == DBG_STOP_NONE) {
        status = dbg_hit_before(w->dbg, before, at, &hit, &found, &interrupted, err);
        found = found && hit.at >= at;
        before = hit.at; /* the hit is of a breakpoint, perhaps by another lane, and makes no stop here */
        if (status == LW_OK && found && hit.touched)
            status = to_hit(w->dbg, &w->start, &hit, stop, err);
    }
    return status == LW_OK && interrupted ? visit(w->dbg, &w->start, stop, err) : status;
}

/* Makes the stop if the lane hits a breakpoint before the instruction @executed of its trace, or if a watchpoint or
 * catchpoint was hit later. */
static enum lw_status look(struct walk *w, const struct dbg_trace *executed, struct dbg_stop *stop,
                           struct lw_error *err)
{
    const struct dbg_lane_ref *lane_ref = &w->start.lane_ref;
    struct dbg_thread thread;
    enum lw_status status;

    if (!dbg_breakpoint_inserted(w->dbg, executed->pc))
        return LW_OK;
    status = look_watched(w, executed->at, stop, err);
    if (status != LW_OK || stop->kind != DBG_STOP_NONE)
        return status;
    status = dbg_history_move(w->dbg, executed->at, err);
    if (status != LW_OK || !dbg_thread_get(w->dbg, lane_ref->id, &thread))
        return status;
    dbg_lane_pin(w->dbg, lane_ref->id, lane_ref->lane);
    if (dbg_thread_get(w->dbg, lane_ref->id, &thread))
        stop_at_point(w->dbg, lane_ref, executed->pc, thread.active, stop);
    return LW_OK;
}

static enum lw_status walk_begin(struct walk *w, struct dbg *dbg, dbg_thread_id id,
                                 struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status;

    memset(w, 0, sizeof *w);
    w->dbg = dbg;
    status = begin(dbg, id, &w->start, stop, err);
    if (status == LW_OK)
        dbg_lane_trace_init(&w->trace, dbg, &w->start.lane_ref);
    w->unwatched = w->trace.search.low;
    return status;
}

/* Reads the previous instruction of the trace. Makes the stop after an interrupt, or if no earlier instruction is recorded. If
 * no earlier instruction is recorded and a watchpoint or catchpoint was hit, the stop is for that hit. */
static enum lw_status walk_back(struct walk *w, struct dbg_stop *stop, struct lw_error *err)
{
    uint64_t next = w->trace.next_pc;
    struct dbg_trace executed;
    bool found;
    enum lw_status status = dbg_lane_trace_back(&w->trace, &executed, &found, err);

    if (status != LW_OK)
        return status;
    if (w->trace.search.interrupted)
        return visit(w->dbg, &w->start, stop, err);
    if (!found) {
        status = look_watched(w, w->has_trace ? w->executed.at : w->unwatched, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        return at_beginning(w->dbg, &w->start, w->has_trace ? &w->executed : NULL, stop, err);
    }
    w->depth -= dbg_trace_call(&executed, next);
    w->trace.next_pc = executed.pc;
    w->executed = executed;
    w->has_trace = true;
    return LW_OK;
}

/* Skips the rest of a visit if the walk has read many of its instructions. For @row see dbg_reverse_skip_contains(). */
static enum lw_status walk_skip(struct walk *w, const struct isa_line *row, struct dbg_stop *stop,
                                struct lw_error *err)
{
    enum lw_status status;

    if (!w->has_trace || !dbg_reverse_skip_contains(w->dbg, row, w->executed.pc))
        w->stayed = 0;
    else
        w->stayed++;
    if (w->trace.count != 0 || w->stayed < LONG_VISIT)
        return LW_OK;
    w->stayed = 0;
    status = dbg_reverse_skip(&w->trace, row, err);
    return status == LW_OK && w->trace.search.interrupted ? visit(w->dbg, &w->start, stop, err)
                                                          : status;
}

/* Moves to before instruction @target, at which the walk ends, and makes the stop. If a breakpoint is hit there, or a
 * watchpoint or catchpoint was hit later, the stop is for this hit. */
static enum lw_status walk_land(struct walk *w, const struct dbg_trace *target,
                                struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = look_watched(w, target->at, stop, err);

    if (status == LW_OK && stop->kind == DBG_STOP_NONE)
        status = look(w, target, stop, err);
    if (status != LW_OK || stop->kind != DBG_STOP_NONE)
        return status;
    return dbg_history_seek(w->dbg, target->at, DBG_STOP_STEP, &w->start.lane_ref, stop, err);
}

static enum lw_status walk_end(struct walk *w, enum lw_status status, struct dbg_stop *stop,
                               struct lw_error *err)
{
    dbg_lane_trace_fini(&w->trace);
    return dbg_run_end(w->dbg, status, stop, err);
}

enum lw_status dbg_reverse_steps(struct dbg *dbg, dbg_thread_id id, uint64_t count, bool over,
                                 struct dbg_stop *stop, struct lw_error *err)
{
    struct walk w;
    enum lw_status status = walk_begin(&w, dbg, id, stop, err);

    if (status != LW_OK)
        return status;
    for (uint64_t i = 0; status == LW_OK && stop->kind == DBG_STOP_NONE && i < count; i++) {
        int depth = w.depth;

        if (i != 0)
            status = look(&w, &w.executed, stop, err);
        do {
            if (status == LW_OK && stop->kind == DBG_STOP_NONE && w.depth > depth)
                status = walk_skip(&w, NULL, stop, err);
            if (status == LW_OK && stop->kind == DBG_STOP_NONE)
                status = walk_back(&w, stop, err);
        } while (over && status == LW_OK && stop->kind == DBG_STOP_NONE && w.depth > depth);
    }
    if (status == LW_OK && stop->kind == DBG_STOP_NONE)
        status = walk_land(&w, &w.executed, stop, err);
    return walk_end(&w, status, stop, err);
}

enum lw_status dbg_reverse_step(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                struct lw_error *err)
{
    return dbg_reverse_steps(dbg, id, 1, false, stop, err);
}

/* ---- lines ---------------------------------------------------------------------------------- */

/** A reverse step to the beginning of a line. */
struct line_walk {
    struct walk walk;
    const struct isa_line *row; /* line to whose beginning the step goes, or NULL if it is not determined yet */
    int base;                   /* value of walk.depth in the frame of that line */
    bool over, into;            /* over: a call is undone in one step; into: the step has entered a called function at its
                                 * return */
};

/* Returns true if @pc is in the prologue of a function that is no kernel. A reverse step by line does not end there, and
 * neither does a forward step. */
static bool in_prologue(const struct dbg *dbg, uint64_t pc)
{
    const struct isa_function *function = dbg_function_at(dbg, pc);

    return function != NULL && !function->kernel && pc < dbg_function_body(dbg, function);
}

/* Updates the target of the walk, which is the first instruction of the line. Returns true if the instruction read last is
 * outside the line, so that the target is final. */
static bool line_passed(struct line_walk *l)
{
    struct walk *w = &l->walk;
    const struct isa_line *row;
    bool start, known = dbg_row_at(w->dbg, w->executed.pc, &row, &start);

    if (w->depth > l->base) {
        if (l->over || l->into || !known)
            return false;
        /* The step has entered a called function at its return. The step ends at the beginning of the function's last line. */
        l->into = true;
        l->base = w->depth;
        l->row = NULL;
        w->has_target = false;
    } else if (w->depth < l->base) {
        if (w->has_target)
            return true;
        l->base = w->depth; /* the step began in the first line of a function, and ends in the line of the call */
    }
    if (in_prologue(w->dbg, w->executed.pc))
        return w->has_target;
    if (!known)
        return false;
    if (l->row != NULL && (row->line != l->row->line || row->file != l->row->file))
        return true;
    l->row = row;
    w->target = w->executed;
    w->has_target = true;
    return false;
}

enum lw_status dbg_reverse_step_line(struct dbg *dbg, dbg_thread_id id, bool over,
                                     struct dbg_stop *stop, struct lw_error *err)
{
    struct line_walk l = {.over = over};
    struct dbg_thread thread;
    const struct isa_line *row;
    bool start;
    enum lw_status status;

    if (dbg_thread_get(dbg, id, &thread) && !dbg_row_at(dbg, thread.location.pc, &row, &start)) {
        dbg_message(dbg, "no source line is known here: stepped back by one instruction");
        return dbg_reverse_step(dbg, id, stop, err);
    }
    status = walk_begin(&l.walk, dbg, id, stop, err);
    if (status != LW_OK)
        return status;
    while (status == LW_OK && stop->kind == DBG_STOP_NONE) {
        if (l.walk.depth > l.base ? l.over : l.row != NULL)
            status = walk_skip(&l.walk, l.walk.depth > l.base ? NULL : l.row, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            break;
        status = walk_back(&l.walk, stop, err);
        if (status == LW_OK && stop->kind == DBG_STOP_HISTORY_BEGIN && l.walk.has_target) {
            /* The lane executed no other line before this one, so no instruction of another line ends the search for the line's
             * beginning. */
            memset(stop, 0, sizeof *stop);
            status = walk_land(&l.walk, &l.walk.target, stop, err);
            break;
        }
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            break;
        if (line_passed(&l)) {
            status = walk_land(&l.walk, &l.walk.target, stop, err);
            break;
        }
        status = look(&l.walk, &l.walk.executed, stop, err);
    }
    return walk_end(&l.walk, status, stop, err);
}

/* Moves back to the call of the selected frame's function, or to the first instruction of an inlined call. */
enum lw_status dbg_reverse_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                  struct lw_error *err)
{
    struct dbg_frame_location location = {.call = -1};
    struct dbg_frame frame;
    struct dbg_thread thread;
    struct walk w;
    enum lw_status status;

    if (dbg_thread_get(dbg, id, &thread) &&
        dbg_frame_location_at(dbg, id, thread.lane, dbg_frame_number(dbg, id, thread.lane), &location) &&
        !location.inlined && dbg_frame_at(dbg, id, thread.lane, location.frame, &frame) &&
        frame.function != NULL && frame.function->kernel) {
        char name[256];

        dbg_function_short_name(dbg, frame.function, name, sizeof name);
        return LW_FAIL(err, LW_ESTATE,
                       "%s is the kernel and has no caller: `goto start` goes to the start of history",
                       name);
    }
    status = walk_begin(&w, dbg, id, stop, err);
    if (status != LW_OK)
        return status;
    while (status == LW_OK && stop->kind == DBG_STOP_NONE) {
        if (!location.inlined || w.depth != -(int)location.frame)
            status = walk_skip(&w, NULL, stop, err);
        if (status == LW_OK && stop->kind == DBG_STOP_NONE)
            status = walk_back(&w, stop, err);
        if (status == LW_OK && stop->kind == DBG_STOP_HISTORY_BEGIN && w.has_target) {
            memset(stop, 0, sizeof *stop); /* the inlined code is the first code of the kernel */
            status = walk_land(&w, &w.target, stop, err);
            break;
        }
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            break;
        if (location.inlined && w.depth == -(int)location.frame) {
            if (!dbg_in_call(dbg, w.executed.pc, location.call)) {
                status = walk_land(&w, w.has_target ? &w.target : &w.executed, stop, err);
                break;
            }
            w.target = w.executed;
            w.has_target = true;
        }
        if (w.depth < -(int)location.frame) {
            status = walk_land(&w, &w.executed, stop, err);
            break;
        }
        status = look(&w, &w.executed, stop, err);
    }
    return walk_end(&w, status, stop, err);
}

/* ---- the last hit (dbg_reverse_hits.c) ---------------------------------------------------------------- */

static bool any_point(const struct dbg *dbg)
{
    for (size_t i = 0; i < dbg->point_count; i++)
        if (dbg->points[i].pub.enabled)
            return true;
    return false;
}

enum lw_status dbg_reverse_continue(struct dbg *dbg, struct dbg_stop *stop,
                                    struct lw_error *err)
{
    struct dbg_hit hit = {0};
    struct start start = {0};
    bool interrupted = false, found = false, noticed;
    uint64_t earliest, finding = 0;
    enum lw_status status = begin(dbg, dbg->focus[DBG_FOCUS_RUN], &start, stop, err);

    if (status != LW_OK)
        return status;
    earliest = dbg_history_earliest(dbg);
    noticed = dbg_finding_go_back(dbg, &finding) && finding >= earliest;
    if (any_point(dbg))
        status = dbg_hit_before(dbg, dbg_history_now(dbg), noticed ? finding : 0, &hit, &found,
                                &interrupted, err);
    if (status != LW_OK)
        (void)!dbg_history_move(dbg, start.at, NULL); /* an error of this move is ignored: `status` has the first error */
    else if (interrupted)
        status = visit(dbg, &start, stop, err);
    else if (found && (!noticed || hit.at >= finding))
        status = to_hit(dbg, &start, &hit, stop, err);
    else if (noticed)
        status = dbg_finding_seek(dbg, finding, stop, err);
    else
        status = dbg_history_begins(dbg, earliest, &start.lane_ref, NULL, stop, err);
    return dbg_run_end(dbg, status, stop, err);
}
