/* SPDX-License-Identifier: Apache-2.0 */
/* Device launches, and how a grid starts and completes (emu_grid.c). */
#ifndef EMU_GRID_PRIV_H
#define EMU_GRID_PRIV_H

#include "emu/emu_machine_priv.h"

/** Properties of a device launch that struct emu_launch does not have. */
struct emu_device_launch {
    struct emu_block *block; /* block that launches */
    unsigned warp, lane;
    uint64_t pc;             /* address of the launch instruction */
    bool group;
    uint64_t stream;         /* number of the stream; unused for a block group */
    bool after;              /* the launch may start only after all blocks of the launching grid have ended */
};
/** Checks whether the machine can run a launch. Errors: LW_ERANGE with a message. */
enum lw_status emu_grid_check(const struct emu_machine *machine, const struct emu_launch *launch,
                              struct lw_error *err) LW_MUST_CHECK;
/** Queues a device launch that was checked. A block group is aggregated into a running kernel if possible. Errors: LW_ENOMEM. */
enum lw_status emu_grid_launch_device(struct emu_machine *machine, const struct emu_launch *launch,
                                      const struct emu_device_launch *how,
                                      struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** Executes the launch instruction @di for the lanes in @on. Returns false if a fault was raised. */
bool emu_launch_lanes(struct emu_warp *w, const struct emu_dinsn *di, uint64_t on, bool group);
/** Creates a grid while a saved state is loaded. The grid gets number @sequence, and its warps get ids from @first_warp_id on. No
 *  listener is notified. @device: the grid is a device launch. */
enum lw_status emu_grid_restore(struct emu_machine *machine, const struct emu_launch *launch,
                                uint32_t sequence, uint64_t first_warp_id, bool device,
                                struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** Removes @grid from the list of startable device launches, because its last block was placed. Does nothing if @grid is not in
 *  the list. */
void emu_grid_started(struct emu_machine *machine, struct emu_grid *grid);
/** Frees the memory that completed device launches have left for parameters. */
void emu_grid_free_banks(struct emu_machine *machine);
/** Extends bank0 to ISA_CONST_BANK_BYTES bytes, before the first block of @grid starts. Returns false if there is no memory. */
bool emu_grid_complete_bank(struct emu_machine *machine, struct emu_grid *grid);
/** Rebuilds the list of startable device launches, and the index of streams, after a state was loaded. */
void emu_grids_index(struct emu_machine *machine);
/** Removes all device launches from the list; their memory is reused. */
void emu_grids_drop_device(struct emu_machine *machine);
void emu_grids_free(struct emu_grid *grids);
/** Completes launches after the last block of @grid has ended. If all launches by @grid are complete, @grid becomes complete;
 *  then the same rule is applied to the grid that launched @grid. */
void emu_grid_blocks_done(struct emu_machine *machine, struct emu_grid *grid);
/** Records that a slot no longer holds a block of the device launch @grid. */
void emu_grid_unhold(struct emu_machine *machine, struct emu_grid *grid);
/** Records that an instruction of @grid has retired. Returns true at the first call for the grid. */
bool emu_grid_begin(struct emu_machine *machine, struct emu_grid *grid);
/** Prints who launched a grid, for example "launched by kernel p, block (1,0,0), warp 0, lane 3, which was launched by ...", up
 *  to the launch by the host, without a newline. Prints nothing for a host launch. */
void emu_grid_chain_print(const struct emu_machine *machine, uint32_t sequence,
                          struct lw_sink *out);
static inline bool emu_grid_of_device(const struct emu_grid *grid)
{
    return grid->parent.grid != 0;
}

#endif
