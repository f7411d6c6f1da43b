/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reverse searches through intervals of history, and the instruction trace of a lane.
 *
 * A search replays the interval of history before the current count forward with an observer, then the interval before
 * that one, and so on. Each interval is eight times as long as the last. An interval in which the warp executed nothing
 * is skipped. Intervals start at multiples of their size, where an earlier search has left a snapshot. In `gemm` the
 * first reverse step of a lane that ran long ago takes 90 ms, and the next one 1.6 ms (docs/evidence/history.md).
 * Without intervals a search would replay all recorded history.
 */
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/* WINDOW_GROWS: factor by which intervals grow; the first interval is small, because most searches end near their start.
 * LONG_WAIT: a lane that executed nothing in an interval of at least this size counts as waiting. */
enum { WINDOW_GROWS = 8, LONG_WAIT = 1 << 15 };

/* Number of instructions between two progress messages of a search. A search takes some seconds to inspect this number of
 * instructions. */
enum { PROGRESS_INTERVAL = 1 << 24, PROGRESS_INTERVAL_FAST = DBG_LARGEST_FAST_WINDOW };

void dbg_looked_at(struct dbg *dbg, uint64_t count, uint64_t at, bool fast, uint64_t *looked)
{
    uint64_t each = fast ? PROGRESS_INTERVAL_FAST : PROGRESS_INTERVAL, reported = *looked / each;

    *looked += count;
    if (*looked / each != reported)
        dbg_message(dbg, "searching back: %" PRIu64 " instructions so far, back to instruction %" PRIu64
                    "; Ctrl-C stops the search", *looked, at);
}

/* Observer that passes the instructions of an interval to dbg_search.seen. */
struct watcher {
    struct emu_observer observer;
    struct dbg_search *search;
    uint64_t at; /* instruction count before the next instruction */
};

static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct watcher *w = (struct watcher *)(void *)observer;
    struct dbg *dbg = w->search->dbg;

    if (dbg->engine->interrupted) {
        dbg->engine->interrupted = 0;
        w->search->interrupted = true;
    }
    if (w->search->interrupted)
        return true;
    if (ev->kind != EMU_EV_RETIRED)
        return false;
    if (dbg_event_thread(ev) == w->search->only)
        w->search->idle = false;
    return w->search->seen(w->search, ev, w->at++);
}

uint64_t dbg_progress(const struct dbg *dbg, dbg_thread_id id)
{
    struct emu_warp_view view;
    struct dbg_warp warp;

    if (dbg_warp_view(dbg, id, &warp, &view))
        return view.retired;
    return dbg_thread_over(dbg, id) ? UINT64_MAX : 0;
}

enum lw_status dbg_skip_idle(struct dbg *dbg, dbg_thread_id only, uint64_t *low,
                             struct lw_error *err)
{
    struct emu_history *history = dbg->history;
    uint64_t high = *low, there;
    enum lw_status status = emu_history_goto(history, high, err);

    *low = dbg_history_earliest(dbg);
    if (status != LW_OK)
        return status;
    there = dbg_progress(dbg, only);
    status = emu_history_goto(history, *low, err);
    if (status == LW_OK && dbg_progress(dbg, only) == there)
        return LW_OK;
    while (status == LW_OK && high - *low > DBG_FIRST_WINDOW && !dbg->engine->interrupted) {
        uint64_t middle = *low + (high - *low) / 2;

        status = emu_history_goto(history, middle, err);
        if (status == LW_OK && dbg_progress(dbg, only) == there)
            high = middle;
        else
            *low = middle;
    }
    *low = high;
    return status;
}

/** Replays the interval before the current interval, and makes it the current interval. *@found is set to false if no earlier
 *  history is recorded. */
static enum lw_status next_window(struct dbg_search *s, bool *found, struct lw_error *err)
{
    uint64_t earliest = dbg_history_earliest(s->dbg);
    struct watcher w = {.observer = {.on_event = on_event}, .search = s};

    enum lw_status status = LW_OK;

    if (s->idle && s->low > earliest) {
        status = dbg_skip_idle(s->dbg, s->only, &s->low, err);
        s->size = DBG_FIRST_WINDOW;
    }
    *found = s->low > earliest;
    if (status != LW_OK || !*found)
        return status;
    s->idle = s->only != 0;
    s->high = s->low;
    /* Intervals start at multiples of their size. Another search thus uses the same starts, at which this search has left
     * snapshots. */
    s->low = s->high - earliest > s->size ? (s->high - s->size) / s->size * s->size : earliest;
    if (s->low < earliest)
        s->low = earliest;
    if (s->size < DBG_LARGEST_WINDOW)
        s->size *= WINDOW_GROWS;
    w.at = s->low;
    s->dbg->looks_back = true;
    status = emu_history_goto(s->dbg->history, s->low, err);
    if (status == LW_OK && s->dbg->watch != NULL)
        dbg_watch_hit_begin(s->dbg);
    if (status == LW_OK)
        status = emu_history_walk(s->dbg->history, s->low, s->high, &w.observer, err);
    s->dbg->looks_back = false;
    if (status == LW_OK && !s->interrupted)
        dbg_looked_at(s->dbg, s->high - s->low, s->low, false, &s->looked);
    return status;
}

/* ---- the instruction trace of a lane -------------------------------------------------------- */

/* If the instruction is one of the lane's, adds it to the trace (dbg_search.seen). Returns true, which ends the
 * interval, if the host has no memory. */
static bool note(struct dbg_search *search, const struct emu_event *ev, uint64_t at)
{
    struct dbg_lane_trace *trace = search->context;

    if ((ev->split_lanes >> trace->lane_ref.lane & 1) == 0 || dbg_event_thread(ev) != trace->lane_ref.id)
        return false;
    if (!lw_grow(&trace->trace, &trace->capacity, trace->count + 1, sizeof *trace->trace)) {
        trace->short_of_memory = true;
        return true;
    }
    trace->trace[trace->count++] = (struct dbg_trace){at, ev->pc, ev->insn};
    return false;
}

void dbg_lane_trace_init(struct dbg_lane_trace *trace, struct dbg *dbg, const struct dbg_lane_ref *lane_ref)
{
    struct dbg_thread thread;

    *trace = (struct dbg_lane_trace){.dbg = dbg, .lane_ref = *lane_ref};
    trace->search = (struct dbg_search){
        .dbg = dbg, .seen = note, .context = trace, .only = lane_ref->id, .low = dbg_history_now(dbg),
        .size = DBG_FIRST_WINDOW};
    if (dbg_thread_get(dbg, lane_ref->id, &thread) && thread.lane == lane_ref->lane)
        trace->next_pc = thread.location.pc;
}

enum lw_status dbg_lane_trace_back(struct dbg_lane_trace *trace, struct dbg_trace *out, bool *found,
                              struct lw_error *err)
{
    enum lw_status status = LW_OK;

    *found = true;
    while (trace->count == 0) {
        status = next_window(&trace->search, found, err);
        if (status == LW_OK && *found && trace->count == 0 && !trace->short_of_memory &&
            !trace->search.interrupted && trace->search.high - trace->search.low >= LONG_WAIT)
            status = dbg_reverse_skip_wait(trace, err);
        if (status == LW_OK && trace->short_of_memory)
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the search back in history");
        if (trace->search.interrupted)
            *found = false;
        if (status != LW_OK || !*found)
            return status;
    }
    *out = trace->trace[--trace->count];
    return LW_OK;
}

void dbg_lane_trace_fini(struct dbg_lane_trace *trace)
{
    free(trace->trace);
    trace->trace = NULL;
}

int dbg_trace_call(const struct dbg_trace *trace, uint64_t next)
{
    if (next == 0 || next == trace->pc + ISA_WORD_BYTES)
        return 0;
    if (isa_op_info((enum isa_op)trace->insn->op)->flags & ISA_F_CALL)
        return 1;
    return trace->insn->op == ISA_RET ? -1 : 0;
}
