/* SPDX-License-Identifier: Apache-2.0 */
/* A core: resident blocks and their warps, and single steps of a warp. */
#ifndef EMU_CORE_H
#define EMU_CORE_H

#include "emu/emu_event.h"

/** Values of %smid, %nsmid, %warpid and %nwarpid. %gridid is not among them: it is the grid's sequence number. */
struct emu_hw_ids {
    uint32_t smid, nsmid;     /* default: 0 and the machine's number of cores */
    uint32_t warpid, nwarpid; /* number of the warp's slot, and number of warp slots; default: numbers within the block */
};

/** Callbacks from a core to its engine. If a member is NULL, the core uses the default in the member's comment. */
struct emu_core_ops {
    uint64_t (*clock)(void *context, unsigned slot, unsigned warp);       /* value of %clock; default: the block's
                                                                           * instruction count */
    uint64_t (*globaltimer)(void *context); /* value of %globaltimer; default: the core's instruction count */
    /** Changes the hardware ids of a warp; @ids holds the defaults. */
    void (*hw_ids)(void *context, unsigned slot, unsigned warp, struct emu_hw_ids *ids);
    uint64_t (*sleep_length)(void *context, uint32_t nanoseconds);       /* length of a sleep, in instructions of the block;
                                                                          * default: @nanoseconds */
    /** Called on a memory fault. Returns true to continue the instruction without the faulting lanes: their stores are dropped,
     *  and their loads return @read_value in each 32-bit register. Default: the fault stops the run. */
    bool (*skip_fault)(void *context, const struct emu_fault *fault, uint32_t *read_value);
};

enum lw_status emu_core_create(struct emu_machine *machine, unsigned slots,
                               const struct emu_core_ops *ops, void *context,
                               struct emu_core **out, struct lw_error *err) LW_MUST_CHECK;
void emu_core_destroy(struct emu_core *core);
/** Starts block @block (linear) of @grid in a free slot and creates its state. */
enum lw_status emu_core_block_start(struct emu_core *core, struct emu_grid *grid,
                                    uint64_t block, unsigned *slot, struct lw_error *err)
    LW_MUST_CHECK;
/** Frees a slot whose block has ended. */
void emu_core_block_free(struct emu_core *core, unsigned slot);
/** Returns the state of a warp, which is valid until the warp's slot is freed. */
struct emu_warp *emu_warp_state(const struct emu_core *core, unsigned slot, unsigned warp);
/** Prefetches the state of a warp that will soon execute a step. @state is used only as an address: it need not be valid. */
void emu_warp_prefetch(const struct emu_warp *state);

/**
 * Executes one instruction for some lanes of one split, and fills an event (the watched path, MACHINE 5).
 *  @slot   a slot whose block has started; @warp is a warp of the block, @split the id of a ready split
 *  @lanes  a non-empty subset of the split's lanes; the other lanes remain at their pc as another split
 *  @ev     filled in if the result is LW_OK
 * Errors: LW_ERANGE for invalid arguments; LW_ESTATE if the split is not ready; LW_EAGAIN if the instruction needs the *whole*
 * split (MACHINE 1) and waits for lanes that an earlier call has separated from the split. A guest fault is no error: the result
 * is LW_OK with ev->kind == EMU_EV_FAULT, and the lanes remain at the faulting pc.
 */
enum lw_status emu_warp_step(struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned split, uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err);
/** Executes one instruction of a split as emu_warp_step() does. @state is the warp's state, from emu_warp_state(). */
enum lw_status emu_warp_step_at(struct emu_warp *state, unsigned split, uint64_t lanes,
                                struct emu_event *ev, struct lw_error *err);
/** Event detail: the members of an event that a core fills in. */
enum emu_event_detail {
    EMU_EVENT_FULL,
    /** Detail for engines that only model time. Instructions are executed as usual, but the core fills only these members of an
     *  event: kind, core, grid, block, slot, warp, split, pc, insn, split_lanes, exec, guard, effective, exited, cta.used,
     *  cta.completed, access, warp_ended, block_ended, grid_ended, grid_started, and the fault. The event has one outcome if the
     *  warp continues as a single split, otherwise no outcome. Reads of constant operands are not listed. An access has kind,
     *  space, bytes, order, scope, cache, texture and lanes. If piece_count of an access is not 0, the access has segments and no
     *  arrays, and all lanes are in `space`. If piece_count is 0, the access has the arrays `address` and `lane_space` (NULL: all
     *  lanes are in `space`). If the machine's tags are not off, the core also fills the members for tags. */
    EMU_EVENT_ADDRESSES
};
/** Reports that lanes @lanes of the load @ev have received bytes that differ from memory. Called by an engine whose caches are
 *  not coherent, after it has changed the registers of these lanes by emu_reg_write. Listeners get EMU_MACHINE_STALE.
 *  @address and @bytes describe the access of the lowest lane of @lanes. */
void emu_machine_report_stale(const struct emu_machine *machine, const struct emu_event *ev, uint64_t lanes,
                              uint64_t address, unsigned bytes);
/** Sets the event detail from the next step on; initially EMU_EVENT_FULL. */
void emu_core_set_event_detail(struct emu_core *core, enum emu_event_detail detail);
/** Returns the id of the split that the policy selects for the warp's next time slice, or -1 if no split is ready. If all splits
 *  that could run have yielded, the function first makes them ready. */
int emu_warp_select(struct emu_core *core, unsigned slot, unsigned warp);
/** Merges the split that has the warp's time slice with ready splits at its pc, if there are any and splits may merge. Returns
 *  the id of the split that has the time slice after the merge, or -1 if no split has it. */
int emu_warp_join(struct emu_core *core, unsigned slot, unsigned warp);

#endif
