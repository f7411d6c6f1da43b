/* SPDX-License-Identifier: Apache-2.0 */
/* Console notes on a stop, with information that gdb itself does not show. */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>
#include <string.h>

/* Prints a note with the lanes that hit another breakpoint at the same address. gdb does not report that hit, because it
 * evaluates the condition of that breakpoint in the focus lane only. */
static void note_others(struct rsp *rsp, const struct dbg_stop *stop)
{
    const struct rsp_point *point =
        stop->kind == DBG_STOP_BREAKPOINT ? rsp_point_find(rsp, stop->point) : NULL;
    struct lw_buffer text;
    uint64_t others;

    if (point == NULL || !rsp_resident(rsp, stop->thread))
        return;
    others = rsp_point_others(point, stop->thread, dbg_lane_get(rsp->dbg, stop->thread),
                              stop->hit_lanes);
    if (others == 0)
        return;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "note: lanes 0x%08llx hit another breakpoint at this stop\n",
              (unsigned long long)others);
    rsp_send_console(rsp, text.text, text.size);
    lw_buffer_fini(&text);
}

/* Prints a note with the lane that has stopped at the location of `advance` or `until`. The user expects that the focus
 * lane stops there, but gdb stops for the first lane of the warp that reaches the location, and does not name it. */
static void note_first_lane(struct rsp *rsp, const struct dbg_stop *stop)
{
    struct dbg_thread thread;
    struct dbg_frame frame;
    struct lw_buffer text;
    unsigned lane = rsp->shown_lane;

    if (stop->kind != DBG_STOP_BREAKPOINT || rsp->lldb || !rsp_has(rsp, RSP_F_NOTES) || stop->thread != rsp->shown_thread || stop->lane == lane ||
        !rsp->launch_wanted || rsp->goal_count != 1 || rsp_point_find(rsp, stop->point) == NULL || !rsp_is_goal(rsp, stop->pc) ||
        !dbg_thread_get(rsp->dbg, stop->thread, &thread) || (thread.live >> lane & 1) == 0 ||
        !dbg_frame_at(rsp->dbg, stop->thread, lane, 0, &frame))
        return;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "note: the focus is now on lane %u, which reached the location first; lane %u is at ",
              stop->lane, lane);
    dbg_print_location(rsp->dbg, frame.pc, &text.sink);
    lw_put(&text.sink, "\n");
    rsp_send_console(rsp, text.text, text.size);
    lw_buffer_fini(&text);
}

/* Prints a note with a thread's new number. gdb forgets a thread whose warp has ended. If the machine then moves back to a
 * time at which the warp was running, gdb gives the thread another number. */
static void note_number(struct rsp *rsp, dbg_thread_id id)
{
    unsigned now, before = rsp_has(rsp, RSP_F_NOTES) ? rsp_number_before(rsp, id, &now) : 0;
    struct lw_buffer text;

    if (before == 0)
        return;
    lw_buffer_init(&text);
    rsp_warp_print(rsp, id, &text.sink);
    lw_printf(&text.sink, " was thread %u before it ended; after going back gdb calls it thread %u\n", before, now);
    rsp_send_console(rsp, text.text, text.size);
    lw_buffer_fini(&text);
}

/* Prints a note, once, that says how to turn off the line that gdb prints for each new thread. If many blocks start,
 * these lines fill the terminal. */
static void note_crowd(struct rsp *rsp, const struct dbg_stop *stop)
{
    enum { CROWD = 16 };
    unsigned count;
    char text[160];

    /* Steps print no note, because counting new threads among thousands of warps takes too long at each step. */
    if (rsp->config.no_thread_events || rsp->crowd_noted || !rsp_has(rsp, RSP_F_NOTES) || stop->kind == DBG_STOP_STEP)
        return;
    count = rsp_numbers_new(rsp);
    if (count < CROWD)
        return;
    rsp->crowd_noted = true;
    snprintf(text, sizeof text, "note: gdb printed a line for each of %u new warps; `set print thread-events off` "
                                "turns these lines off\n", count);
    rsp_send_console(rsp, text, strlen(text));
}

/* Prints a note, once, that says how to see the variables which gdb shows as `<optimized out>` or does not show at all. */
static void note_missing(struct rsp *rsp, const struct dbg_stop *stop, dbg_thread_id id)
{
    const char *help = "", *advice;
    unsigned missing, lane;
    char text[200];

    if (rsp->missing_noted || !rsp_has(rsp, RSP_F_NOTES) || stop->kind == DBG_STOP_STEP || !rsp_resident(rsp, id))
        return;
    lane = dbg_lane_get(rsp->dbg, id);
    advice = dbg_locals_advice(rsp->dbg, id, lane);
    missing = advice == NULL ? dbg_locals_missing(rsp->dbg, id, lane, &help) : 0;
    if (advice != NULL)
        snprintf(text, sizeof text, "note: no variables are known: %s\n", advice);
    else if (missing != 0)
        snprintf(text, sizeof text, "note: %u variable%s optimized out here; %s\n", missing, missing == 1 ? " is" : "s are",
                 help);
    else
        return;
    rsp->missing_noted = true;
    rsp_send_console(rsp, text, strlen(text));
}

void rsp_note_stop(struct rsp *rsp, const struct dbg_stop *stop, dbg_thread_id id)
{
    note_others(rsp, stop);
    note_first_lane(rsp, stop);
    note_crowd(rsp, stop);
    note_number(rsp, id);
    note_missing(rsp, stop, id);
}
