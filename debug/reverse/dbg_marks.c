/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: names for instruction counts of a run, to which `goto` moves. */
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct dbg_mark *dbg_mark_find(struct dbg *dbg, const char *name)
{
    for (size_t i = 0; i < dbg->mark_count; i++)
        if (strcmp(dbg->marks[i].name, name) == 0)
            return &dbg->marks[i];
    return NULL;
}

enum lw_status dbg_mark_set(struct dbg *dbg, const char *name, struct dbg_mark *out,
                            struct lw_error *err)
{
    struct dbg_lane_ref lane_ref = dbg_history_lane(dbg, dbg->focus[DBG_FOCUS_VIEW]);
    struct dbg_mark mark = {.at = dbg_history_now(dbg), .id = lane_ref.id, .lane = lane_ref.lane};
    struct dbg_mark *old;
    uint64_t number;

    if (name == NULL)
        snprintf(mark.name, sizeof mark.name, "m%u", ++dbg->last_mark);
    else if (strlen(name) >= sizeof mark.name || lw_parse_u64(name, &number) ||
             strcmp(name, "start") == 0 || strcmp(name, "end") == 0)
        return LW_FAIL(err, LW_EUSAGE, "\"%.40s\" cannot be the name of a mark: %s", name,
                       strlen(name) >= sizeof mark.name ? "the name is too long"
                                                        : "`goto` uses this word for something else");
    else
        snprintf(mark.name, sizeof mark.name, "%s", name);
    old = dbg_mark_find(dbg, mark.name);
    if (old == NULL) {
        if (!lw_grow(&dbg->marks, &dbg->mark_capacity, dbg->mark_count + 1, sizeof *dbg->marks))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a mark");
        old = &dbg->marks[dbg->mark_count++];
    }
    *old = *out = mark;
    return LW_OK;
}

void dbg_marks_forget(struct dbg *dbg, uint64_t after)
{
    size_t kept = 0;

    for (size_t i = 0; i < dbg->mark_count; i++)
        if (dbg->marks[i].at <= after)
            dbg->marks[kept++] = dbg->marks[i];
    dbg->mark_count = kept;
}

enum lw_status dbg_mark_goto(struct dbg *dbg, const struct dbg_mark *mark, struct dbg_stop *stop,
                             struct lw_error *err)
{
    struct dbg_lane_ref lane_ref = {mark->id, mark->lane};
    uint64_t at = mark->at;
    enum lw_status status = dbg_history_ready(dbg, stop, err);

    if (status == LW_OK)
        status = dbg_history_seek(dbg, at, DBG_STOP_STEP, &lane_ref, stop, err);
    return dbg_run_end(dbg, status, stop, err);
}
