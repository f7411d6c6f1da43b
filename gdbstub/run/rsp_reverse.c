/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single reverse steps, and the last step of `reverse-finish`. For `reverse-finish` gdb inserts a breakpoint at the
 * function's entry, runs back to it, and makes one reverse step from there. gdb 13 checks which warp has reached the
 * entry, but neither which lane nor which call of the function. When gdb requests that reverse step, the stub first moves back
 * to the entry of the frame that the user saw. The stub recognises the step because gdb has not shown the stop at the entry.
 */
#include "gdbstub/rsp_priv.h"

/* Returns true if the client has a breakpoint at @address; with @bare, one without a condition and commands. */
static bool has_breakpoint(const struct rsp *rsp, uint64_t address, bool bare)
{
    for (size_t i = 0; i < rsp->point_count; i++)
        if (rsp->points[i].size == 0 && rsp->points[i].address == address &&
            (!bare || rsp->points[i].code == NULL))
            return true;
    return false;
}

/* Returns true if the breakpoint existed before the user's present command. Such a breakpoint was set by the user, not by
 * gdb. */
static bool is_usual(const struct rsp *rsp, uint64_t address)
{
    for (unsigned i = 0; i < rsp->usual_count; i++)
        if (rsp->usual[i] == address)
            return true;
    return false;
}

/* Returns true if a frame of the lane returns to @address. gdb's `finish` inserts a breakpoint at such an address. When that
 * breakpoint is hit, gdb itself compares frames, and so distinguishes lanes. */
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

/* Condition function of the breakpoint at the frame's entry. Returns true if @lane is the lane that the user saw and is at the
 * entry of the frame that the user saw. */
static bool enters_frame(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    const struct rsp_leaving *leaving = context;
    struct dbg_frame frame;

    return id == leaving->id && lane == leaving->lane && dbg_frame_at(dbg, id, lane, 0, &frame) &&
           frame.pc == leaving->entry && frame.cfa == leaving->cfa;
}

/* Returns true if the reverse step of thread @id is the last step of `reverse-finish`. This step starts at the function's
 * entry, where no breakpoint is left: a breakpoint there would be gdb's own one, which gdb has not removed yet, or one of the
 * user. */
static bool is_last_step(struct rsp *rsp, dbg_thread_id id)
{
    const struct rsp_leaving *leaving = &rsp->leaving;
    struct dbg_thread thread;

    return leaving->id == id && leaving->entry != 0 && !has_breakpoint(rsp, leaving->entry, false) &&
           dbg_thread_get(rsp->dbg, id, &thread) && thread.location.pc == leaving->entry;
}

/* Runs back to the entry of the user's frame. If the entry is reached, the stop is reported as the end of a step. */
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
    (void)!dbg_stoppoint_remove(rsp->dbg, point, NULL); /* cannot fail, because the breakpoint exists */
    if (status == LW_OK && stop->kind == DBG_STOP_BREAKPOINT && stop->point == point)
        stop->kind = DBG_STOP_STEP;
    return status;
}

enum lw_status rsp_reverse_step(struct rsp *rsp, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err)
{
    enum lw_status status = LW_OK;

    if (is_last_step(rsp, id) && enters_frame(&rsp->leaving, rsp->dbg, id, rsp->leaving.lane)) {
        (void)!dbg_lane_set(rsp->dbg, id, rsp->leaving.lane, NULL); /* cannot fail, because the lane is live */
    } else if (is_last_step(rsp, id)) { /* the breakpoint at the entry was hit by another lane or call */
        status = to_entry(rsp, stop, err);
        rsp->leaving.entry = 0;
        if (status != LW_OK || stop->kind != DBG_STOP_STEP)
            return status;
    }
    return dbg_reverse_step(rsp->dbg, id, stop, err);
}
