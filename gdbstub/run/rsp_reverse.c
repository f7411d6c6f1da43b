/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single steps back, and what gdb makes of them. Its `reverse-finish` is a breakpoint at the
 * function's entry, the way back to it, and from there one step back. gdb 13 checks neither which lane
 * nor which call reached the entry last, only which warp. When it wants that step, without having
 * shown the stop, the stub knows what it is about, and goes back to the entry of the frame that the
 * user saw.
 */
#include "gdbstub/rsp_priv.h"

static bool has_breakpoint(const struct rsp *rsp, uint64_t address, bool bare)
{
    for (size_t i = 0; i < rsp->point_count; i++)
        if (rsp->points[i].size == 0 && rsp->points[i].address == address &&
            (!bare || rsp->points[i].code == NULL))
            return true;
    return false;
}

/* A breakpoint that was there at the user's last command, too, is the user's. */
static bool is_usual(const struct rsp *rsp, uint64_t address)
{
    for (unsigned i = 0; i < rsp->usual_count; i++)
        if (rsp->usual[i] == address)
            return true;
    return false;
}

/* Does the lane return there, from its frame or one above? gdb looks at such a breakpoint's lanes itself. */
static bool returns_to(struct rsp *rsp, dbg_thread_id id, unsigned lane, uint64_t address)
{
    struct dbg_frame frame;

    for (unsigned i = 1; dbg_frame_at(rsp->dbg, id, lane, i, &frame); i++)
        if (frame.pc == address)
            return true;
    return false;
}

bool rsp_is_goal(const struct rsp *rsp, uint64_t address)
{
    for (unsigned i = 0; i < rsp->goal_count; i++)
        if (rsp->goals[i] == address)
            return true;
    return false;
}

void rsp_reverse_begin(struct rsp *rsp, bool back)
{
    dbg_thread_id id = rsp->shown_thread;
    unsigned lane = rsp->shown_lane;
    struct dbg_frame frame;
    uint64_t entry = 0;

    rsp->leaving = (struct rsp_leaving){0};
    if (back && !rsp->lldb && rsp_has(rsp, RSP_F_FINISH_LANE) &&
        dbg_frame_at(rsp->dbg, id, lane, 0, &frame) && frame.function != NULL &&
        !frame.function->kernel)
        entry = frame.entry;
    if (entry != 0 && has_breakpoint(rsp, entry, true) && !is_usual(rsp, entry))
        rsp->leaving = (struct rsp_leaving){id, lane, entry, frame.cfa};
    rsp->goal_count = 0;
    for (size_t i = 0; i < rsp->point_count && rsp->goal_count < LW_COUNT_OF(rsp->goals); i++)
        if (rsp->points[i].size == 0 && rsp->points[i].code == NULL && !is_usual(rsp, rsp->points[i].address) &&
            !returns_to(rsp, id, lane, rsp->points[i].address))
            rsp->goals[rsp->goal_count++] = rsp->points[i].address;
    rsp->usual_count = 0;
    for (size_t i = 0; i < rsp->point_count && rsp->usual_count < LW_COUNT_OF(rsp->usual); i++)
        if (rsp->points[i].size == 0 && rsp->points[i].address != rsp->leaving.entry)
            rsp->usual[rsp->usual_count++] = rsp->points[i].address;
}

/* Is the lane that the user saw at the entry of the frame that the user saw? */
static bool enters_frame(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    const struct rsp_leaving *leaving = context;
    struct dbg_frame frame;

    return id == leaving->id && lane == leaving->lane && dbg_frame_at(dbg, id, lane, 0, &frame) &&
           frame.pc == leaving->entry && frame.cfa == leaving->cfa;
}

/* Is it the last step of `reverse-finish`, from the entry? */
static bool is_last_step(struct rsp *rsp, dbg_thread_id id)
{
    const struct rsp_leaving *leaving = &rsp->leaving;
    struct dbg_thread thread;

    return leaving->id == id && leaving->entry != 0 && !has_breakpoint(rsp, leaving->entry, false) &&
           dbg_thread_get(rsp->dbg, id, &thread) && thread.location.pc == leaving->entry;
}

/* In reverse to the entry of the user's frame. The stop is a step's if that is reached. */
static enum lw_status to_entry(struct rsp *rsp, struct dbg_stop *stop, struct lw_error *err)
{
    unsigned point;
    enum lw_status status = dbg_breakpoint_add(rsp->dbg, DBG_OWNER_GDB, rsp->leaving.entry, NULL, false,
                                          &point, err);

    if (status != LW_OK)
        return status;
    status = dbg_stoppoint_set_condition(rsp->dbg, point, enters_frame, &rsp->leaving, NULL, err);
    if (status == LW_OK)
        status = dbg_reverse_continue(rsp->dbg, stop, err);
    (void)!dbg_stoppoint_remove(rsp->dbg, point, NULL); /* it is there */
    if (status == LW_OK && stop->kind == DBG_STOP_BREAKPOINT && stop->point == point)
        stop->kind = DBG_STOP_STEP;
    return status;
}

enum lw_status rsp_reverse_step(struct rsp *rsp, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    enum lw_status status = LW_OK;

    if (is_last_step(rsp, id) && enters_frame(&rsp->leaving, rsp->dbg, id, rsp->leaving.lane)) {
        (void)!dbg_lane_set(rsp->dbg, id, rsp->leaving.lane, NULL); /* it came with another, and lives */
    } else if (is_last_step(rsp, id)) { /* gdb is at the entry of another frame */
        status = to_entry(rsp, stop, err);
        rsp->leaving.entry = 0;
        if (status != LW_OK || stop->kind != DBG_STOP_STEP)
            return status;
    }
    return dbg_reverse_step(rsp->dbg, id, stop, err);
}
