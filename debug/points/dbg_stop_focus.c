/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that all kinds of stop share: set the focus, record the reported lanes, and handle warps that have ended. */
#include "debug/debug_priv.h"

#include <stdio.h>

void dbg_stop_at(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                    const struct dbg_thread *thread)
{
    stop->kind = kind;
    stop->thread = thread->id;
    stop->lane = thread->lane;
    stop->pc = thread->location.pc;
    dbg->seen = *thread;
    if (thread->ready) /* a split that is blocked at a barrier has not arrived at its pc, where it will continue */
        dbg_reported_lanes_add(dbg, thread->id, thread->location.pc, thread->location.lanes);
    dbg->reported_at = dbg->engine->ops->instructions(dbg->engine);
}

void dbg_stop_on(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                 dbg_thread_id id, unsigned lane)
{
    struct dbg_thread thread;

    dbg_focus_move(dbg, id, lane);
    if (dbg_thread_get(dbg, id, &thread))
        dbg_stop_at(dbg, stop, kind, &thread);
    else
        stop->kind = kind;
}

void dbg_stop_ended(struct dbg *dbg, struct dbg_stop *stop)
{
    dbg->ended = true;
    dbg->focus[0] = dbg->focus[1] = 0;
    memset(stop, 0, sizeof *stop);
    stop->kind = DBG_STOP_ENDED;
    dbg_note_untrue(dbg);
}

enum lw_status dbg_next_launch(struct dbg *dbg, bool *more, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    *more = dbg->config.next != NULL;
    while (*more && emu_grid_current(dbg->machine) == NULL && status == LW_OK)
        status = dbg->config.next(dbg->config.next_context, more, err);
    if (status == LW_OK && emu_grid_current(dbg->machine) != NULL)
        *more = true;
    return status;
}

/* Moves the focus after the focus warp has ended: to a resident warp of the same block, else to the first resident warp.
 * If no warp is resident, executes host steps up to the next launch first. *ended is set to true if no launch follows. */
static enum lw_status focus_next(struct dbg *dbg, bool *ended, struct lw_error *err)
{
    struct dbg_thread thread, candidate;
    struct lw_buffer name;
    bool found = false;
    uint32_t grid = dbg->seen.location.grid;

    *ended = false;
    while (dbg_thread_count(dbg) == 0) {
        enum lw_status status;
        struct emu_stop idle;
        bool more;

        if (emu_grid_current(dbg->machine) != NULL) {
            /* All warps of the grid have exited. The engine therefore executes no instruction in this run, and only
             * completes the grid. */
            status = dbg->engine->ops->run(dbg->engine, &idle, err);
            if (status != LW_OK)
                return status;
            if (emu_grid_current(dbg->machine) != NULL && dbg_thread_count(dbg) == 0)
                return LW_FAIL(err, LW_ESTATE,
                               "internal error: the launch has no live warps but does not complete");
            continue;
        }
        status = dbg_next_launch(dbg, &more, err);
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
        if (candidate.location.grid == dbg->seen.location.grid &&
            candidate.location.block == dbg->seen.location.block) {
            thread = candidate;
            break;
        }
        if (candidate.location.grid > dbg->seen.location.grid ||
            candidate.location.block > dbg->seen.location.block)
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
                dbg->seen.location.warp, name.text != NULL ? name.text : "another warp",
                thread.location.grid != grid ? " of the next launch" : "");
    lw_buffer_fini(&name);
    return LW_OK;
}

enum lw_status dbg_finish_stop(struct dbg *dbg, enum dbg_stop_kind kind, struct dbg_stop *stop,
                          struct lw_error *err)
{
    struct dbg_thread thread;
    bool ended = false;

    if (!dbg_thread_get(dbg, dbg->focus[DBG_FOCUS_RUN], &thread)) {
        enum lw_status status = focus_next(dbg, &ended, err);

        if (status != LW_OK)
            return status;
        if (ended || !dbg_thread_get(dbg, dbg->focus[DBG_FOCUS_RUN], &thread)) {
            dbg_stop_ended(dbg, stop);
            return LW_OK;
        }
    } else if (dbg->seen.id == thread.id && dbg->seen.lane != thread.lane &&
               (thread.live >> dbg->seen.lane & 1) == 0) {
        dbg_message(dbg, "lane %u has exited; the focus is on lane %u", dbg->seen.lane,
                    thread.lane);
    }
    dbg_focus_move(dbg, thread.id, thread.lane);
    dbg_stop_at(dbg, stop, kind, &thread);
    return LW_OK;
}
