/* SPDX-License-Identifier: Apache-2.0 */
/* Grids: launches by the host and by the device. */
#ifndef EMU_GRID_H
#define EMU_GRID_H

#include "emu/emu_machine.h"

struct emu_launch {
    const struct emu_program *program;
    const struct isa_function *kernel;
    uint32_t grid[3], block[3]; /* number of blocks of the grid, and of threads of a block; all are at least 1 */
    uint32_t offset[3];         /* OpenCL global work offset */
    uint32_t work_dim;          /* 1..3 */
    uint32_t dynamic_shared_bytes;
    const void *params; /* values of the kernel's parameters, kernel->param_bytes bytes; copied by emu_grid_launch */
};
/** A launch. The machine's list of grids contains a host launch for ever, and a device launch until it is complete and no slot
 *  holds one of its blocks. */
struct emu_grid {
    uint32_t sequence; /* 1, 2, ... in launch order; never reused */
    struct emu_launch launch;
    uint64_t block_count;
    uint32_t block_threads, block_warps, shared_bytes;
    uint64_t first_warp_id; /* number of warps in all earlier grids (MACHINE 9) */
    uint64_t blocks_placed; /* number of blocks that the engine has made resident; if `placed` is NULL, these are the blocks with
                             * the lowest numbers */
    uint64_t *placed;       /* [block] bit set: the engine has made the block resident; NULL: blocks become resident in the order
                             * of their numbers */
    uint64_t blocks_started, blocks_ended; /* blocks_ended: number of blocks without live lanes; such a block may still hold a
                                            * slot */
    bool started; /* an instruction of the grid has retired */
    bool group; /* launched by launch.group, as a block group */
    unsigned depth; /* nesting depth; host launches: 0 */
    /** Lane that launched the grid; parent.grid is 0 for a host launch. */
    struct {
        uint32_t grid;
        uint64_t block;
        unsigned warp, lane;
        uint64_t pc; /* address of the launch instruction */
    } parent;
    uint64_t stream; /* stream number among the streams of the parent's block; 0: the block's default stream. `stream` is not used
                      * for block groups */
    uint64_t buffer; /* address of the parameter buffer that is freed when the launch is complete, or 0 if there is no such
                      * buffer */
    /** Links between launches that are not complete. launcher: the grid that launched this one; aggregated_into: the kernel's
     *  grid that executes the blocks of this block group, or NULL; stream_prev and stream_next: neighbours in the stream. The
     *  launch may start when stream_prev is NULL. If the launch waits for the end of the launcher's blocks, stream_prev is the
     *  launcher. */
    struct emu_grid *launcher, *aggregated_into, *stream_prev, *stream_next;
    struct emu_block *launcher_block; /* block that launched the grid; after its end, the structure may describe another block */
    uint32_t pending_children, pending_groups; /* pending_children: launches by this grid that are not complete; pending_groups:
                                                * block groups aggregated into this grid that are not complete */
    uint32_t held_launches; /* number of launches by this grid that wait for the end of this grid's blocks */
    uint64_t slots_in_use; /* device launches: number of slots that hold a block of the grid */
    /* values of the kernel's parameters: ISA_CONST_BANK_BYTES bytes, zero after the parameters. bank0 is NULL if the launch is
     * complete and a later launch has taken over the memory. */
    const uint8_t *bank0;
    unsigned bank0_valid; /* number of bytes of parameters */
    bool bank0_short;     /* the memory at bank0 has only bank0_valid bytes, because no block of the launch has started */
    struct emu_grid *next, *previous;
    void *engine_launch; /* for an engine that places blocks itself: its own record about the launch, or NULL */
    /** Used only by emu: links in the list of launches that may start, and in the index of streams. */
    struct {
        struct emu_grid *next, *previous, *stream;
        bool may_start, ends_stream;
    } queue;
};
/** Returns true if all blocks of the grid have ended, and all launches by it or aggregated into it are complete. */
static inline bool emu_grid_complete(const struct emu_grid *grid)
{
    return grid->blocks_ended == grid->block_count && grid->pending_children == 0 &&
           grid->pending_groups == 0;
}
/** Returns true if an engine has made block @block resident, even if the block has ended since. */
static inline bool emu_grid_was_resident(const struct emu_grid *grid, uint64_t block)
{
    return grid->placed == NULL ? block < grid->blocks_placed : (grid->placed[block / 64] >> block % 64 & 1) != 0;
}
/** Records that an engine has made @block resident for the first time. Errors: LW_ENOMEM. */
enum lw_status emu_grid_mark_resident(struct emu_grid *grid, uint64_t block, struct lw_error *err) LW_MUST_CHECK;
/** Queues a launch, after its sizes were checked against the limits of kernel and machine. Errors: LW_ERANGE with a message, if
 *  the block or its shared memory is too large, or if the kernel refuses the warp width. */
enum lw_status emu_grid_launch(struct emu_machine *machine, const struct emu_launch *launch,
                               struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** Returns the first grid that is not complete, or NULL if all grids are complete. A host launch precedes the launches that its
 *  kernel makes. */
struct emu_grid *emu_grid_current(const struct emu_machine *machine);
/** Returns the launch with the lowest number above @sequence, not counting launches before emu_grid_current(). Returns NULL if
 *  there is no such launch. The search time is proportional to the number of later launches. */
struct emu_grid *emu_grid_after(const struct emu_machine *machine, uint32_t sequence);
/** For engines that place blocks themselves: removes the first launch from the list of startable device launches, which wait for
 *  no other launch and have blocks to place. Returns the launch, whose blocks the engine must then place, or NULL if the list is
 *  empty. */
struct emu_grid *emu_grid_take_startable(struct emu_machine *machine);
/** Drops all launches that are not complete, including launches by the device, and their printed text that has not been
 *  written. Memory, programs and completed launches remain. Called after the engine that ran these launches was
 *  destroyed, and before another engine is created. */
void emu_grids_abandon(struct emu_machine *machine);
/** Returns the grid with a sequence number. Returns NULL if no such grid exists, or if the machine no longer lists it. */
struct emu_grid *emu_grid_find(const struct emu_machine *machine, uint32_t sequence);

/** Sets the greatest number of device launches that have not started (emu_config.pending_launches). The new limit is not recorded in a
 *  log. Errors: LW_ERANGE, as for the configuration of a machine. */
enum lw_status emu_pending_limit(struct emu_machine *machine, uint32_t launches, struct lw_error *err) LW_MUST_CHECK;

#endif
