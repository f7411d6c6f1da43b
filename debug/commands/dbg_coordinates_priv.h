/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by coordinates of the launch and of the hardware, named as in cuda-gdb. */
#ifndef DBG_COORDINATES_PRIV_H
#define DBG_COORDINATES_PRIV_H

#include "debug/debug_priv.h"

/** Axes of coordinates, in the order in which they are printed. */
enum dbg_axis {
    DBG_AXIS_KERNEL, DBG_AXIS_BLOCK, DBG_AXIS_THREAD, DBG_AXIS_DEVICE, DBG_AXIS_SM, DBG_AXIS_WARP,
    DBG_AXIS_LANE, DBG_AXES
};
enum { DBG_AXES_ALL = (1 << DBG_AXES) - 1 };

/** Parsed coordinates. Each member has a bit for each axis: given as a number, given by name alone or as
 *  `current`, given as `all`. */
struct dbg_coordinates {
    unsigned given, queried, all;
    uint64_t value[DBG_AXES][3]; /* three numbers for block and thread, else one */
};

/** Parses "block 3 thread (5,1,0)", "kernel 1 block", "warp all". Errors: LW_EUSAGE. */
enum lw_status dbg_coordinates_parse(const char *text, struct dbg_coordinates *out,
                                     struct lw_error *err) LW_MUST_CHECK;
/**
 * Finds the lane that coordinates name. Coordinates that are not given are the focus's; for a block without
 * thread, warp or lane the first live warp is taken. `warp` is the index in the block; with `sm` alone it is
 * %warpid.
 * Errors: LW_ERANGE for what does not exist, LW_ESTATE for what has ended, exited or not started yet.
 */
enum lw_status dbg_coordinates_find(struct dbg *dbg, const struct dbg_coordinates *c,
                                    struct dbg_lane_ref *out, struct lw_error *err) LW_MUST_CHECK;
/** Prints "kernel 1, block (3,0,0), thread (17,0,0), ..." with the axes of @which, bits of enum dbg_axis. */
void dbg_coordinates_print(struct dbg *dbg, const struct dbg_thread *thread, unsigned which,
                           struct lw_sink *out);
/** Computes threadIdx of the thread with a linear number in its block. */
void dbg_thread_index(const struct emu_grid *grid, uint64_t linear, uint32_t index[3]);
/** Gets %smid and %warpid of a warp. */
void dbg_hardware_ids(struct dbg *dbg, const struct dbg_thread *thread, uint64_t *sm, uint64_t *warp);
/** Moves both foci to a lane. */
enum lw_status dbg_focus_choose(struct dbg *dbg, const struct dbg_lane_ref *lane_ref, struct lw_error *err)
    LW_MUST_CHECK;

#endif
