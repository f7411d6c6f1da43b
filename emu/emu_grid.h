/* SPDX-License-Identifier: Apache-2.0 */
/* Grids: launches by the host and by the device. */
#ifndef EMU_GRID_H
#define EMU_GRID_H

#include "emu/emu_machine.h"

struct emu_launch {
    const struct emu_program *program;
    const struct isa_function *kernel;
    uint32_t grid[3], block[3]; /* blocks of the grid, threads of a block: all >= 1 */
    uint32_t offset[3];         /* OpenCL global work offset */
    uint32_t work_dim;          /* 1..3 */
    uint32_t dynamic_shared_bytes;
    const void *params; /* kernel parameters, param_bytes of the kernel; copied */
};
/** A launch. A host launch remains in the machine's list; a device launch leaves the list when it is complete
 *  and no slot holds a block of it. */
struct emu_grid {
    uint32_t sequence; /* 1, 2, ... in launch order; never reused */
    struct emu_launch launch;
    uint64_t block_count;
    uint32_t block_threads, block_warps, shared_bytes;
    uint64_t first_warp_id; /* number of warps of all earlier grids (MACHINE 9) */
    uint64_t blocks_placed; /* number of blocks that the engine has made resident; if placed is NULL, these are the
                             * first blocks */
    uint64_t *placed;       /* a bit for each block that the engine has made resident; NULL: blocks become resident in
                             * order */
    uint64_t blocks_started, blocks_ended; /* ended: number of blocks without live lanes; a slot may still hold such a
                                            * block */
    bool started; /* an instruction of the grid has retired */
    bool group; /* launched as a group of thread blocks */
    unsigned depth; /* nesting depth; host launches: 0 */
    /** Launching lane; grid 0 is the host. */
    struct {
        uint32_t grid;
        uint64_t block;
        unsigned warp, lane;
        uint64_t pc; /* address of the launch instruction */
    } parent;
    uint64_t stream; /* a stream of the parent's block; 0: that block's default stream. Groups are in no stream */
    uint64_t buffer; /* parameter buffer that is freed when the launch is complete; 0: none */
    /** Links of launches that are not complete: the launching grid, the kernel into which a group is aggregated (or
     *  NULL), the neighbours in the stream. The launch may start when `stream_prev` is NULL. If a launch waits for the
     *  end of the launching grid's blocks, `stream_prev` is that grid. */
    struct emu_grid *launcher, *aggregated_into, *stream_prev, *stream_next;
    struct emu_block *launcher_block; /* launching block; its memory may hold another block now */
    uint32_t pending_children, pending_groups; /* incomplete launches by this grid; incomplete groups that are aggregated
                                                * into this grid */
    uint32_t held_launches; /* launches by this grid that wait for the end of its blocks */
    uint64_t slots_in_use; /* device launches: number of slots that hold a block of the grid */
    /* values of the kernel's parameters: ISA_CONST_BANK_BYTES bytes; the bytes after the parameters are zero. NULL: a
     * later launch has got the memory */
    const uint8_t *bank0;
    unsigned bank0_valid; /* number of bytes in use */
    bool bank0_short;     /* bank0 has only these bytes, because no block of the launch has started */
    struct emu_grid *next, *previous;
    void *engine_launch; /* for an engine that places blocks itself: its record of the launch; NULL: it has none */
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
/** Returns true if an engine has made block @block resident, perhaps long ago. */
static inline bool emu_grid_was_resident(const struct emu_grid *grid, uint64_t block)
{
    return grid->placed == NULL ? block < grid->blocks_placed : (grid->placed[block / 64] >> block % 64 & 1) != 0;
}
/** Records that an engine has made @block resident for the first time. Errors: LW_ENOMEM. */
enum lw_status emu_grid_mark_resident(struct emu_grid *grid, uint64_t block, struct lw_error *err) LW_MUST_CHECK;
/** Checks sizes against the kernel's and machine's limits and queues the grid.
 *  Errors: LW_ERANGE with a message (block too large, W refused, shared memory). */
enum lw_status emu_grid_launch(struct emu_machine *machine, const struct emu_launch *launch,
                               struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** Returns the first grid that is not complete; NULL: idle. A host launch precedes the launches that it
 *  makes. */
struct emu_grid *emu_grid_current(const struct emu_machine *machine);
/** Returns the first launch with a number greater than @sequence that emu_grid_current() does not precede; NULL: none.
 *  The time is proportional to the number of later launches. */
struct emu_grid *emu_grid_after(const struct emu_machine *machine, uint32_t sequence);
/** For engines that place blocks themselves: removes the first device launch from the list of launches that wait for
 *  no other launch and have blocks to place, and returns it. NULL: there is none. The engine must place its blocks. */
struct emu_grid *emu_grid_take_startable(struct emu_machine *machine);
/** Drops all launches that are not complete, including launches by the device, and their printed text that has not been
 *  written. Memory, programs and completed launches remain. Called after the engine that ran these launches was
 *  destroyed, and before another engine is created. */
void emu_grids_abandon(struct emu_machine *machine);
/** Returns the grid with a sequence number; NULL: there is none, or it has left the machine. */
struct emu_grid *emu_grid_find(const struct emu_machine *machine, uint32_t sequence);

#endif
