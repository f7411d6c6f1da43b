/* SPDX-License-Identifier: Apache-2.0 */
/* History of a debugging session, based on the history of emu/ (docs/explanation/history.md): records it, moves the
 * machine to an instruction count, and sets foci and reported lanes there. */
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>
#include <stdio.h>

/** Called after an edit in the past: drops hits, marks and findings of later instruction counts. */
static void on_forgotten(void *context)
{
    struct dbg *dbg = context;

    dbg_hits_forget(dbg);
    dbg_marks_forget(dbg, dbg->engine->ops->instructions(dbg->engine));
    dbg_finding_changed(dbg, dbg->engine->ops->instructions(dbg->engine));
    dbg_message(dbg, "a value was changed in the past: history after instruction %" PRIu64 " was deleted, and execution continues from here", dbg->engine->ops->instructions(dbg->engine));
}

enum lw_status dbg_history_start(struct dbg *dbg, uint64_t budget_bytes,
                                 bool (*save_host)(void *context, void **data, size_t *size),
                                 void (*load_host)(void *context, const void *data, size_t size),
                                 void *context, struct lw_error *err)
{
    if (dbg->history != NULL)
        return LW_FAIL(err, LW_ESTATE, "history is recorded already");
    dbg->save_host = save_host;
    dbg->load_host = load_host;
    dbg->host_context = context;
    return dbg_history_attach(dbg, budget_bytes, err);
}

/* Callbacks of emu's history, which call the host's functions. The context of the callbacks is the session. */
static bool on_save_host(void *context, void **data, size_t *size)
{
    struct dbg *dbg = context;

    return dbg->save_host(dbg->host_context, data, size);
}

static void on_load_host(void *context, const void *data, size_t size)
{
    struct dbg *dbg = context;

    dbg->load_host(dbg->host_context, data, size);
}

enum lw_status dbg_history_attach(struct dbg *dbg, uint64_t budget_bytes, struct lw_error *err)
{
    struct emu_history_options options = {
        .budget_bytes = budget_bytes,
        .save_host = dbg->save_host != NULL ? on_save_host : NULL,
        .load_host = dbg->load_host != NULL ? on_load_host : NULL,
        .forgotten = on_forgotten,
        .context = dbg,
    };

    return emu_history_create(dbg->engine, &options, &dbg->history, err);
}

void dbg_history_end(struct dbg *dbg)
{
    emu_history_destroy(dbg->history);
    dbg->history = NULL;
}

void dbg_history_stop(struct dbg *dbg)
{
    dbg_history_end(dbg);
    dbg_marks_forget(dbg, 0);
}

bool dbg_is_searching_back(const struct dbg *dbg)
{
    return dbg->looks_back;
}

/* ---- moves to an instruction count ------------------------------------------------------ */

uint64_t dbg_history_earliest(const struct dbg *dbg)
{
    struct emu_history_info info = {0};

    (void)dbg_history_info(dbg, &info);
    return info.earliest;
}

enum lw_status dbg_history_ready(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_history_info info;

    memset(stop, 0, sizeof *stop);
    if (!dbg_history_info(dbg, &info))
        return dbg->engine->ops->cycles != NULL
                   ? LW_FAIL(err, LW_ESTATE, "no history is recorded in a run with --timing: add --log FILE, then "
                                             "start the shell with --replay FILE and without --timing to go back")
                   : LW_FAIL(err, LW_ESTATE, "cannot go back: no history is recorded; start with --history MIB");
    if (!info.kept)
        return LW_FAIL(err, LW_ESTATE, "history is no longer recorded: %s; start with a larger --history MIB",
                       info.why);
    dbg->engine->interrupted = 0;
    return LW_OK;
}

dbg_thread_id dbg_event_thread(const struct emu_event *ev)
{
    return dbg_grid_thread(ev->grid, ev->block, ev->warp);
}

struct dbg_lane_ref dbg_history_lane(const struct dbg *dbg, dbg_thread_id id)
{
    const struct dbg_focus_lane *pin;
    struct dbg_thread thread;

    if (id != 0 && dbg_thread_get(dbg, id, &thread))
        return (struct dbg_lane_ref){id, thread.lane};
    if (id == 0 || id == dbg->seen.id)
        return (struct dbg_lane_ref){dbg->seen.id, dbg->seen.lane};
    pin = dbg_pin_find(dbg, id);
    return (struct dbg_lane_ref){id, pin != NULL ? pin->lane : 0};
}

enum lw_status dbg_history_move(struct dbg *dbg, uint64_t at, struct lw_error *err)
{
    uint64_t before = dbg_history_now(dbg);
    enum lw_status status = emu_history_goto(dbg->history, at, err);

    if (status != LW_OK && dbg_history_now(dbg) == before)
        return status; /* the machine has not moved */
    dbg_reported_lanes_all_moved(dbg, dbg_history_now(dbg));
    dbg_watch_forget(dbg); /* pending hits are of an instruction at another count */
    dbg_finding_print(dbg);
    dbg->ended = dbg_thread_count(dbg) == 0 && emu_grid_current(dbg->machine) == NULL;
    if (dbg->ended)
        dbg->focus[0] = dbg->focus[1] = 0;
    return status;
}

enum lw_status dbg_history_seek(struct dbg *dbg, uint64_t at, enum dbg_stop_kind kind,
                                const struct dbg_lane_ref *lane_ref, struct dbg_stop *stop,
                                struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = dbg_history_move(dbg, at, err);

    if (status != LW_OK)
        return status;
    if (dbg->ended) {
        stop->kind = DBG_STOP_ENDED;
        return LW_OK;
    }
    if (dbg_thread_get(dbg, lane_ref->id, &thread)) {
        dbg_stop_on(dbg, stop, kind, lane_ref->id,
                    (thread.live >> lane_ref->lane & 1) != 0 ? lane_ref->lane : thread.lane);
        return LW_OK;
    }
    if (!dbg_thread_at(dbg, 0, &thread))
        return LW_FAIL(err, LW_ESTATE, "no warp is resident at instruction %" PRIu64,
                       dbg_history_now(dbg));
    dbg_stop_on(dbg, stop, kind, thread.id, thread.lane);
    return LW_OK;
}

enum lw_status dbg_history_begins(struct dbg *dbg, uint64_t at, const struct dbg_lane_ref *lane_ref,
                                  const char *text, struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_history_info info = {0};
    enum lw_status status = dbg_history_seek(dbg, at, DBG_STOP_HISTORY_BEGIN, lane_ref, stop, err);

    if (text == NULL && dbg_history_info(dbg, &info))
        text = info.why;
    stop->kind = DBG_STOP_HISTORY_BEGIN;
    snprintf(stop->text, sizeof stop->text, "%s", text != NULL ? text : "");
    return status;
}

enum lw_status dbg_goto(struct dbg *dbg, uint64_t instructions, struct dbg_stop *stop,
                        struct lw_error *err)
{
    struct dbg_lane_ref lane_ref = dbg_history_lane(dbg, dbg->focus[DBG_FOCUS_RUN]);
    enum lw_status status = dbg_history_ready(dbg, stop, err);

    if (status == LW_OK)
        status = dbg_history_seek(dbg, instructions, DBG_STOP_STEP, &lane_ref, stop, err);
    return dbg_run_end(dbg, status, stop, err);
}
