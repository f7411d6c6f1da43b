/* SPDX-License-Identifier: Apache-2.0 */
/* Device launches, and the progress of a grid (emu_grid.c). */
#ifndef EMU_GRID_PRIV_H
#define EMU_GRID_PRIV_H

#include "emu/emu_machine_priv.h"

/** Properties of a device launch in addition to struct emu_launch. */
struct emu_device_launch {
    struct emu_block *block; /* block of the launching lane */
    unsigned warp, lane;
    uint64_t pc;             /* address of the launch instruction */
    bool group;
    uint64_t stream;         /* number of the stream; for kernels only */
    bool after;              /* the launch may start when all blocks of the launching grid have ended */
};
/** Checks whether the machine could run a launch. Errors: LW_ERANGE with a message. */
enum lw_status emu_grid_check(const struct emu_machine *machine, const struct emu_launch *launch,
                              struct lw_error *err) LW_MUST_CHECK;
/** Queues a checked device launch; a group is aggregated where possible. Errors: LW_ENOMEM. */
enum lw_status emu_grid_launch_device(struct emu_machine *machine, const struct emu_launch *launch,
                                      const struct emu_device_launch *how,
                                      struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** Launches what lanes @on request at @di. Returns false if a fault was raised. */
bool emu_launch_lanes(struct emu_warp *w, const struct emu_dinsn *di, uint64_t on, bool group);
/** Restores a grid of a saved state with number @sequence and warp ids from @first_warp_id; no listener is
 *  notified. @device: a device launch. */
enum lw_status emu_grid_restore(struct emu_machine *machine, const struct emu_launch *launch,
                                uint32_t sequence, uint64_t first_warp_id, bool device,
                                struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** Removes @grid from the list of launches that may start, after its last block was placed. Does nothing if @grid is
 *  not in the list. */
void emu_grid_started(struct emu_machine *machine, struct emu_grid *grid);
/** Frees the memory of parameters of completed device launches. */
void emu_grid_free_banks(struct emu_machine *machine);
/** Extends bank0 to ISA_CONST_BANK_BYTES bytes, before a block of @grid starts. Returns false without memory. */
bool emu_grid_complete_bank(struct emu_machine *machine, struct emu_grid *grid);
/** Rebuilds the list of launches that may start and the index of streams after a state was loaded. */
void emu_grids_index(struct emu_machine *machine);
/** Drops all device launches; their memory is kept for reuse. */
void emu_grids_drop_device(struct emu_machine *machine);
void emu_grids_free(struct emu_grid *grids);
/** Handles the end of @grid's last block. If all launches of @grid are complete, @grid becomes complete, and possibly
 *  the grids that launched it. */
void emu_grid_blocks_done(struct emu_machine *machine, struct emu_grid *grid);
/** Releases a slot that held a block of @grid, a device launch. */
void emu_grid_unhold(struct emu_machine *machine, struct emu_grid *grid);
/** Marks @grid as started when one of its instructions has retired. Returns true at the first call. */
bool emu_grid_begin(struct emu_machine *machine, struct emu_grid *grid);
/** Prints "launched by kernel p, block (1,0,0), warp 0, lane 3, which was launched by ..." up to the launch by the host; nothing
 *  for a host launch. No newline. */
void emu_grid_chain_print(const struct emu_machine *machine, uint32_t sequence,
                          struct lw_sink *out);
static inline bool emu_grid_of_device(const struct emu_grid *grid)
{
    return grid->parent.grid != 0;
}

#endif
