/* SPDX-License-Identifier: Apache-2.0 */
/* Selects threads by coordinates of the launch (kernel, block, thread) and of the hardware (device, sm, warp, lane), as
 * cuda-gdb does. */
#ifndef DBG_COORDINATES_PRIV_H
#define DBG_COORDINATES_PRIV_H

#include "debug/debug_priv.h"

/** Axes of coordinates, in the order in which they are printed. */
enum dbg_axis {
    DBG_AXIS_KERNEL, DBG_AXIS_BLOCK, DBG_AXIS_THREAD, DBG_AXIS_DEVICE, DBG_AXIS_SM, DBG_AXIS_WARP,
    DBG_AXIS_LANE, DBG_AXES
};
enum { DBG_AXES_ALL = (1 << DBG_AXES) - 1 };

/** Parsed coordinates. Three masks have a bit for each axis. given: the user has typed a number for the axis; queried: the user
 *  has typed the name of the axis alone, or with `current` after the name; all: the user has typed `all` after the name. */
struct dbg_coordinates {
    unsigned given, queried, all;
    uint64_t value[DBG_AXES][3]; /* [axis] three numbers for block and thread, one for any other axis */
};

/** Parses coordinates such as "block 3 thread (5,1,0)", "kernel 1 block" or "warp all". Errors: LW_EUSAGE. */
enum lw_status dbg_coordinates_parse(const char *text, struct dbg_coordinates *out,
                                     struct lw_error *err) LW_MUST_CHECK;
/**
 * Finds the lane that coordinates denote. For a coordinate that is not given, uses that of the focus. But if a block or
 * another kernel is given without thread and warp, uses the first resident warp of this block or kernel. The coordinate
 * `warp` is the index of the warp in its block. If `sm` is given without block and thread, `warp` is %warpid. Errors:
 * LW_EUSAGE if coordinates contradict each other, or are `all`; LW_ERANGE if a coordinate does not exist; LW_ESTATE if
 * the thread has ended or has not started yet.
 */
enum lw_status dbg_coordinates_find(struct dbg *dbg, const struct dbg_coordinates *c,
                                    struct dbg_lane_ref *out, struct lw_error *err) LW_MUST_CHECK;
/** Prints the coordinates of a thread: "kernel 1, block (3,0,0), thread (17,0,0), ...". @which is the mask of the axes to
 *  print: bit n is axis n of enum dbg_axis. */
void dbg_coordinates_print(struct dbg *dbg, const struct dbg_thread *thread, unsigned which,
                           struct lw_sink *out);
/** Computes threadIdx of the thread with linear number @linear in its block. */
void dbg_thread_index(const struct emu_grid *grid, uint64_t linear, uint32_t index[3]);
/** Gets %smid and %warpid of a warp. */
void dbg_hardware_ids(struct dbg *dbg, const struct dbg_thread *thread, uint64_t *sm, uint64_t *warp);
/** Moves both foci to a lane. */
enum lw_status dbg_focus_choose(struct dbg *dbg, const struct dbg_lane_ref *lane_ref, struct lw_error *err)
    LW_MUST_CHECK;

#endif
