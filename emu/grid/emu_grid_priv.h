/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of the device, and how far a grid is (emu_grid.c). */
#ifndef EMU_GRID_PRIV_H
#define EMU_GRID_PRIV_H

#include "emu/emu_machine_priv.h"

/** What the device adds to a launch beyond struct emu_launch. */
struct emu_device_launch {
    struct emu_block *block; /* of the launching lane */
    unsigned warp, lane;
    bool group;
    uint64_t stream;         /* of kernels */
};
/** Could the machine launch this? Errors: LW_ERANGE with a sentence. */
enum lw_status emu_grid_check(const struct emu_machine *machine, const struct emu_launch *launch,
                              struct lw_error *err) LW_MUST_CHECK;
/** Queue a checked launch of the device; a group aggregates where it can. Errors: LW_ENOMEM. */
enum lw_status emu_grid_launch_device(struct emu_machine *machine, const struct emu_launch *launch,
                                      const struct emu_device_launch *how,
                                      struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** What @on of the lanes at @di, a launch, ask for. False: raised. */
bool emu_launch_lanes(struct emu_warp *w, const struct emu_dinsn *di, uint64_t on, bool group);
/** A grid of a saved state, numbered @sequence, with warp ids from @first_warp_id; no listener is notified.
 *  @device: it is not the host's. */
enum lw_status emu_grid_restore(struct emu_machine *machine, const struct emu_launch *launch,
                                uint32_t sequence, uint64_t first_warp_id, bool device,
                                struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** No block of @grid is left to place: it leaves the list of those that may start, if it is in it. */
void emu_grid_started(struct emu_machine *machine, struct emu_grid *grid);
/** List what may start and what ends a stream, of a state that was loaded. */
void emu_grids_index(struct emu_machine *machine);
/** Forget all device launches; their memory is kept for others. */
void emu_grids_drop_device(struct emu_machine *machine);
void emu_grids_free(struct emu_grid *grids);
/** @grid's last block ended: if nothing of it is open it is complete, and so may be others. */
void emu_grid_blocks_done(struct emu_machine *machine, struct emu_grid *grid);
/** A slot that held a block of @grid, a device launch, is free. */
void emu_grid_unhold(struct emu_machine *machine, struct emu_grid *grid);
/** An instruction of @grid was retired; true: the first. */
bool emu_grid_begin(struct emu_machine *machine, struct emu_grid *grid);
/** "launched by kernel p, block (1,0,0), warp 0, lane 3; that by ..." up to the host's launch;
 *  nothing for a launch of the host. No newline. */
void emu_grid_chain_print(const struct emu_machine *machine, uint32_t sequence,
                          struct lw_sink *out);
static inline bool emu_grid_of_device(const struct emu_grid *grid)
{
    return grid->parent.grid != 0;
}

#endif
