/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds hits of stoppoints in the past. Intervals of history are replayed forward, the latest interval first. All hits of
 * the interval replayed last are cached, so that repeated reverse-continue commands do not replay it again. In a reverse
 * search, conditions of gdb's watchpoints must be evaluated before the instruction. These conditions are therefore evaluated
 * in a second pass, in which the machine moves to the count of each hit.
 */
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/* WINDOW_GROWS: factor by which intervals grow. STOPS_AT_ONE: number of stops at one instruction count after which the
 * search fails. MOST_HITS: capacity of the cache. FIRST_CHUNK, MOST_CHUNK: limits of dbg_hits.chunk.
 * PROGRESS_CONDITIONS: number of conditions between two progress messages. */
enum { WINDOW_GROWS = 16, STOPS_AT_ONE = 4096, MOST_HITS = 1 << 16, FIRST_CHUNK = 32, MOST_CHUNK = 1 << 14 };
enum { PROGRESS_CONDITIONS = 1 << 20 };

/** For a gdb watchpoint, the earliest hit found so far at which its condition was false. */
struct passed {
    unsigned point; /* id of the watchpoint; 0: this element is free */
    struct dbg_passed where;
};

/** Cache of the hits in one interval of history. */
struct dbg_hits {
    struct dbg_hit *hit; /* sorted by instruction count; of several hits of one instruction the last element is reported */
    size_t count, capacity;
    uint64_t low, high;  /* the array has all hits in [low, high) */
    bool short_of_memory;
    struct passed passed[8]; /* hits with a false condition in the later intervals that this search has left */
    size_t chunk;            /* number of hits whose conditions are evaluated in one batch */
    uint64_t queried;        /* number of conditions evaluated so far */
};

/* ---- cached hits ------------------------------------------------------------------------- */

void dbg_hits_free(struct dbg *dbg)
{
    if (dbg->hits != NULL)
        free(dbg->hits->hit);
    free(dbg->hits);
    dbg->hits = NULL;
}

/* Drops the older half of the hits. Also drops the hits in the newer half that belong to the same instruction as the last hit
 * of the older half. */
static void drop_half(struct dbg_hits *hits)
{
    size_t half = hits->count / 2;
    uint64_t at = hits->hit[half - 1].at;

    while (half < hits->count && hits->hit[half].at == at)
        half++;
    hits->low = at + 1;
    hits->count -= half;
    memmove(hits->hit, hits->hit + half, hits->count * sizeof *hits->hit);
}

static void add(struct dbg_hits *hits, const struct dbg_hit *hit)
{
    if (hits->count == MOST_HITS)
        drop_half(hits);
    if (lw_grow(&hits->hit, &hits->capacity, hits->count + 1, sizeof *hits->hit))
        hits->hit[hits->count++] = *hit;
    else
        hits->short_of_memory = true;
}

/** Observer that finds the hits of watchpoints and catchpoints. */
struct toucher {
    struct emu_observer observer;
    struct dbg *dbg;
};

static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct toucher *t = (struct toucher *)(void *)observer;
    const struct dbg_watch_hit *touches;

    for (size_t i = dbg_watch_was_hit(t->dbg, ev, &touches); i-- > 0;)
        add(t->dbg->hits,
            &(struct dbg_hit){.at = dbg_history_now(t->dbg) - (ev->kind == EMU_EV_RETIRED),
                              .id = dbg_event_thread(ev), .pc = ev->pc, .lanes = touches[i].lanes,
                              .touched = true, .is = touches[i].asks ? DBG_HIT_ASKS : DBG_HIT_TRUE,
                              .touch = touches[i]});
    return false;
}

/* Records the hit if a split that is about to execute an instruction hits a breakpoint there. Hit counts do not change. */
static void note_break(struct dbg *dbg, const struct emu_thread_ref *location, struct dbg_hits *hits)
{
    dbg_thread_id id = dbg_thread_id_of(dbg, location->grid, location->block, location->warp);
    struct emu_warp_view view;
    struct dbg_warp warp;
    uint64_t active, lanes;

    if (!dbg_warp_view(dbg, id, &warp, &view))
        return;
    active = location->lanes & view.exec;
    if (dbg_breakpoint_peek(dbg, id, location->pc, active, &lanes) != 0)
        add(hits, &(struct dbg_hit){.at = dbg_history_now(dbg), .id = id, .pc = location->pc,
                                    .lanes = active, .is = DBG_HIT_TRUE});
}

/* ---- replay of an interval ----------------------------------------------------------------------- */

/* Replays from the current count up to @high, and records hits of breakpoints in @hits unless @hits is NULL. */
static enum lw_status run_window(struct dbg *dbg, uint64_t high, struct dbg_hits *hits,
                                 struct dbg_watch_filter_search *look, bool *interrupted,
                                 struct lw_error *err)
{
    struct emu_engine *engine = dbg->engine;
    enum lw_status status = LW_OK;
    uint64_t last = UINT64_MAX;
    unsigned stops = 0;

    while (status == LW_OK && dbg_history_now(dbg) < high) {
        struct emu_stop es = {0};
        struct emu_event ev;

        status = engine->ops->run(engine, &es, err);
        if (status != LW_OK || es.kind == EMU_STOP_COUNT)
            return status;
        if (es.kind == EMU_STOP_INTERRUPTED) {
            *interrupted = true;
            return LW_OK;
        }
        /* Several stops can be at one instruction count, because parts of a split may reach a breakpoint one after the other.
         * The number of such stops is limited. */
        stops = dbg_history_now(dbg) == last ? stops + 1 : 0;
        if (stops == STOPS_AT_ONE)
            return LW_FAIL(err, LW_ESTATE,
                           "the search back is stuck at instruction %" PRIu64 ": delete the breakpoint there and "
                                                                              "search again", last);
        last = dbg_history_now(dbg);
        memset(&ev, 0, sizeof ev);
        if (es.kind != EMU_STOP_BREAK) {
            status = engine->ops->step(engine, &ev, &es, err);
            continue;
        }
        if (hits != NULL && dbg_breakpoint_inserted(dbg, es.place.pc))
            note_break(dbg, &es.place, hits);
        if (look != NULL)
            status = dbg_watch_filter_search_step(dbg, look, &es, err);
        else
            status = engine->ops->step_warp(engine, &es.place, &ev, &es, err);
    }
    return status;
}

/* Replays from count @low up to @high and records hits of breakpoints in @hits (NULL if none). @observer (NULL if none) sees the
 * instructions that @look selects. */
static enum lw_status look_between(struct dbg *dbg, uint64_t low, uint64_t high, struct dbg_hits *hits,
                                   struct emu_observer *observer, struct dbg_watch_filter_search *look,
                                   bool *interrupted, struct lw_error *err)
{
    struct emu_engine *engine = dbg->engine;
    struct emu_observer *observers = engine->observers;
    enum lw_status status = dbg_history_move(dbg, low, err);

    if (status != LW_OK)
        return status;
    engine->observers = NULL;
    engine->stop_at = high;
    dbg->looks_back = true;
    if (observer != NULL) {
        dbg_watch_hit_begin(dbg);
        dbg_watch_filter_search_begin(dbg, observer, look);
    }
    status = run_window(dbg, high, hits, observer != NULL ? look : NULL, interrupted, err);
    if (observer != NULL)
        dbg_watch_filter_search_end(dbg, look);
    dbg->looks_back = false;
    engine->stop_at = UINT64_MAX;
    engine->observers = observers;
    return status;
}

/* Returns the size of the next search interval after one of @size. @dense: every instruction is inspected, which makes
 * intervals slow. */
static uint64_t next_size(uint64_t size, bool dense)
{
    uint64_t most = dense ? DBG_LARGEST_WINDOW : DBG_LARGEST_FAST_WINDOW;

    return size < most / WINDOW_GROWS ? size * WINDOW_GROWS : most;
}

enum lw_status dbg_search_between(struct dbg *dbg, uint64_t low, uint64_t high,
                                struct emu_observer *observer, struct dbg_watch_filter_search *look,
                                bool *interrupted, struct lw_error *err)
{
    return look_between(dbg, low, high, NULL, observer, look, interrupted, err);
}

enum lw_status dbg_search_back(struct dbg *dbg, uint64_t before, dbg_thread_id only,
                             struct emu_observer *observer, const bool *found,
                             struct dbg_watch_filter_search *look, bool *interrupted, struct lw_error *err)
{
    uint64_t low = before, size = DBG_FIRST_WINDOW, earliest = dbg_history_earliest(dbg);
    uint64_t looked = 0;
    enum lw_status status = LW_OK;

    *interrupted = false;
    while (status == LW_OK && low > earliest && !*found && !*interrupted) {
        uint64_t high = low, after;

        low = high - earliest > size ? high - size : earliest;
        status = look_between(dbg, low, high, NULL, observer, look, interrupted, err);
        size = next_size(size, look->dense);
        if (status == LW_OK && !*interrupted && !*found)
            dbg_looked_at(dbg, high - low, low, !look->dense, &looked);
        if (status != LW_OK || only == 0 || low == earliest || *found || *interrupted)
            continue;
        after = dbg_progress(dbg, only);
        status = dbg_history_move(dbg, low, err);
        if (status == LW_OK && dbg_progress(dbg, only) == after) {
            status = dbg_skip_idle(dbg, only, &low, err);
            size = DBG_FIRST_WINDOW;
        }
    }
    return status;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* Replaces the cached hits by all hits in the interval [@low, @high). */
static enum lw_status hits_between(struct dbg *dbg, uint64_t low, uint64_t high,
                                   struct dbg_watch_filter_search *look, bool *interrupted,
                                   struct lw_error *err)
{
    bool watches = dbg->watch != NULL && dbg->engine->observers != NULL;
    struct toucher toucher = {{.on_event = on_event}, dbg};
    struct dbg_hits *hits = dbg->hits;
    enum lw_status status;

    hits->count = 0;
    hits->low = low;
    hits->high = high;
    dbg->hits_valid = hits->short_of_memory = false;
    status = look_between(dbg, low, high, hits, watches ? &toucher.observer : NULL, look,
                          interrupted, err);
    if (status == LW_OK && hits->short_of_memory)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the search back in history");
    dbg->hits_valid = status == LW_OK && !*interrupted;
    return status;
}

/* Evaluates the conditions of the hits with indices @from up to @to: moves the machine to before the instruction of each. */
static enum lw_status ask(struct dbg *dbg, size_t from, size_t to, bool *interrupted, struct lw_error *err)
{
    struct dbg_hits *hits = dbg->hits;
    enum lw_status status = LW_OK;

    for (size_t i = from; i < to && status == LW_OK; i++) {
        struct dbg_hit *hit = &hits->hit[i];
        const struct dbg_stoppoint_record *point = dbg_stoppoint_find(dbg, hit->touch.point);
        uint64_t lanes = hit->lanes;

        if (hit->is != DBG_HIT_ASKS)
            continue;
        if (dbg->engine->interrupted) {
            dbg->engine->interrupted = 0;
            *interrupted = true;
            return LW_OK;
        }
        status = emu_history_goto(dbg->history, hit->at, err);
        dbg->looks_back = true;
        if (status == LW_OK && point != NULL)
            lanes = dbg_stoppoint_lanes(dbg, (size_t)(point - dbg->points), hit->id, lanes);
        dbg->looks_back = false;
        hit->is = lanes != 0 ? DBG_HIT_TRUE : DBG_HIT_FALSE;
        if (lanes != 0)
            hit->lanes = hit->touch.lanes = lanes;
        if (++hits->queried % PROGRESS_CONDITIONS == 0)
            dbg_message(dbg, "searching back: %" PRIu64 " conditions tested so far, back to instruction %" PRIu64
                        "; Ctrl-C stops the search", hits->queried, hits->hit[from].at);
    }
    return status;
}

/* Finds the last cached hit before instruction count @before whose condition is true. *@found is set to its index, or to
 * hits->count if there is none. */
static enum lw_status pick(struct dbg *dbg, uint64_t before, size_t *found, bool *interrupted, struct lw_error *err)
{
    struct dbg_hits *hits = dbg->hits;
    enum lw_status status = LW_OK;

    *found = hits->count;
    for (size_t i = lw_lower_bound(hits->hit, hits->count, sizeof *hits->hit, before); i-- > 0 && !*interrupted;) {
        if (hits->hit[i].is == DBG_HIT_ASKS) {
            size_t from = i + 1 > hits->chunk ? i + 1 - hits->chunk : 0;

            status = ask(dbg, from, i + 1, interrupted, err);
            if (status != LW_OK || *interrupted)
                return status;
            if (hits->chunk < MOST_CHUNK)
                hits->chunk *= 4;
        }
        if (hits->hit[i].is == DBG_HIT_TRUE) {
            *found = i;
            return LW_OK;
        }
    }
    return status;
}

static struct dbg_passed passed_at(const struct dbg_hit *hit)
{
    return (struct dbg_passed){hit->at, hit->id, lw_lowest(hit->lanes), true};
}

/* Called before the cached hits are replaced: copies the earliest hit of each watchpoint with a false condition to
 * hits->passed. */
static void keep_passed(struct dbg_hits *hits)
{
    for (size_t i = hits->count; i-- > 0;) {
        struct passed *slot = hits->passed;

        if (hits->hit[i].is != DBG_HIT_FALSE)
            continue;
        while (slot < hits->passed + LW_COUNT_OF(hits->passed) - 1 && slot->point != 0 &&
               slot->point != hits->hit[i].touch.point)
            slot++;
        *slot = (struct passed){hits->hit[i].touch.point, passed_at(&hits->hit[i])};
    }
}

/* Returns the first hit after hit @found of the same stoppoint, if its condition was false. */
static struct dbg_passed passed_after(const struct dbg_hits *hits, size_t found)
{
    const struct dbg_hit *hit = &hits->hit[found];

    for (size_t i = found + 1; hit->touched && i < hits->count; i++)
        if (hits->hit[i].is != DBG_HIT_TRUE && hits->hit[i].touch.point == hit->touch.point)
            return hits->hit[i].is == DBG_HIT_FALSE ? passed_at(&hits->hit[i]) : (struct dbg_passed){0};
    for (size_t i = 0; hit->touched && i < LW_COUNT_OF(hits->passed); i++)
        if (hits->passed[i].point == hit->touch.point)
            return hits->passed[i].where;
    return (struct dbg_passed){0};
}

enum lw_status dbg_hit_before(struct dbg *dbg, uint64_t before, uint64_t from, struct dbg_hit *out,
                              bool *found, bool *interrupted, struct lw_error *err)
{
    uint64_t low, size = DBG_FIRST_WINDOW, earliest = dbg_history_earliest(dbg), looked = 0;
    struct dbg_watch_filter_search look = {0};
    struct dbg_hits *hits = dbg->hits;
    enum lw_status status = LW_OK;
    size_t at = 0;

    *found = *interrupted = false;
    if (from > earliest)
        earliest = from;
    if (hits == NULL)
        hits = dbg->hits = calloc(1, sizeof *hits);
    if (hits == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the search back in history");
    if (!dbg->hits_valid || before < hits->low || before > hits->high) {
        memset(hits->passed, 0, sizeof hits->passed);
        hits->count = 0;
        hits->low = hits->high = before;
    }
    hits->chunk = FIRST_CHUNK;
    for (;;) {
        status = pick(dbg, before, &at, interrupted, err);
        low = hits->low;
        if (status != LW_OK || *interrupted || at < hits->count || low <= earliest)
            break;
        keep_passed(hits);
        status = hits_between(dbg, low - earliest > size ? low - size : earliest, low, &look, interrupted, err);
        if (status != LW_OK || *interrupted)
            break;
        size = next_size(size, look.dense);
        if (hits->count == 0)
            dbg_looked_at(dbg, low - hits->low, hits->low, !look.dense, &looked);
    }
    if (status != LW_OK || *interrupted) {
        dbg->hits_valid = false;
        return status;
    }
    if (at < hits->count) {
        *found = true;
        *out = hits->hit[at];
        out->passed = passed_after(hits, at);
    }
    return LW_OK;
}
