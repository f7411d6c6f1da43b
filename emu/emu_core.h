/* SPDX-License-Identifier: Apache-2.0 */
/* A core: resident blocks and their warps, and single steps of a warp. */
#ifndef EMU_CORE_H
#define EMU_CORE_H

#include "emu/emu_event.h"

/** What %smid, %nsmid, %warpid and %nwarpid read (%gridid is the grid's sequence number). */
struct emu_hw_ids {
    uint32_t smid, nsmid;     /* core, cores; default: 0 and the machine's cores */
    uint32_t warpid, nwarpid; /* warp slot, warp slots; default: of the block's own warps */
};

/** Questions that a core asks its engine. Any member may be NULL: the default. */
struct emu_core_ops {
    uint64_t (*clock)(void *context, unsigned slot, unsigned warp);       /* default: block count */
    uint64_t (*globaltimer)(void *context);                              /* default: core count */
    /** Ids of the place where a warp runs; @ids holds the defaults. */
    void (*place_ids)(void *context, unsigned slot, unsigned warp, struct emu_hw_ids *ids);
    uint64_t (*sleep_length)(void *context, uint32_t nanoseconds);       /* default: as is */
    /** A memory fault: true lets the instruction go on without the faulting lanes: what they
     *  store is dropped, what they load is @read_value in each 32-bit register. Default: stop. */
    bool (*skip_fault)(void *context, const struct emu_fault *fault, uint32_t *read_value);
};

enum lw_status emu_core_create(struct emu_machine *machine, unsigned slots,
                               const struct emu_core_ops *ops, void *context,
                               struct emu_core **out, struct lw_error *err) LW_MUST_CHECK;
void emu_core_destroy(struct emu_core *core);
/** Start block @block (linear) of @grid in a free slot. State is made here. */
enum lw_status emu_core_block_start(struct emu_core *core, struct emu_grid *grid,
                                    uint64_t block, unsigned *slot, struct lw_error *err)
    LW_MUST_CHECK;
/** Give an ended block's slot back. */
void emu_core_block_free(struct emu_core *core, unsigned slot);
/** Where a warp's state lies, until its slot is given back; and: a step of it comes soon, its state is
 *  to be in the host's cache by then. Any address does no harm. */
struct emu_warp *emu_warp_state(const struct emu_core *core, unsigned slot, unsigned warp);
void emu_warp_prefetch(const struct emu_warp *state);

/**
 * Execute one instruction for some lanes of one split (the watched path).
 *
 * @slot   a started block, @warp in it, @split the id of a ready split
 * @lanes  a non-empty subset of the split's; the rest stay behind as another split
 * @ev     filled on LW_OK
 * Errors: LW_ERANGE for bad arguments; LW_ESTATE when the split is not ready;
 *         LW_EAGAIN when a *whole* row waits for the rest of a divided split.
 *         A guest fault is LW_OK with ev->kind == EMU_EV_FAULT, lanes left at the pc.
 */
enum lw_status emu_warp_step(struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned split, uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err);
/** The same for the warp whose state is at @state, without looking for it. */
enum lw_status emu_warp_step_at(struct emu_warp *state, unsigned split, uint64_t lanes,
                                struct emu_event *ev, struct lw_error *err);
/** How much the events of a core's steps say. */
enum emu_event_detail {
    EMU_EVENT_FULL,
    /** For engines that only charge time. What happens is the same, but an event holds only: kind,
     *  core, grid, block, slot, warp, split, pc, insn, split_lanes, exec, guard, effective, exited,
     *  cta.used, cta.completed, access, warp_ended, block_ended, grid_ended, grid_started, the fault;
     *  and one outcome if the warp is one split that goes on, else none. No constant operands. Of an
     *  access: kind, space, bytes, order, scope, cache, texture, lanes; then either the pieces (where
     *  piece_count is not 0: no rows; all lanes are in `space`), or the rows `address` and
     *  `lane_space` (NULL: all lanes are in `space`). More is told with tags other than off. */
    EMU_EVENT_ADDRESSES
};
/** From the next step on; at first EMU_EVENT_FULL. */
void emu_core_set_event_detail(struct emu_core *core, enum emu_event_detail tell);
/** The split that the policy gives the next turn in this warp (its id), or -1: nothing is
 *  ready. Yielded splits become ready here when nothing else is. */
int emu_warp_select(struct emu_core *core, unsigned slot, unsigned warp);

#endif
