/* SPDX-License-Identifier: Apache-2.0 */
/* A core: resident blocks and their warps, and single steps of a warp. */
#ifndef EMU_CORE_H
#define EMU_CORE_H

#include "emu/emu_event.h"

/** Values of %smid, %nsmid, %warpid and %nwarpid (%gridid is the grid's sequence number). */
struct emu_hw_ids {
    uint32_t smid, nsmid;     /* default: 0 and the machine's number of cores */
    uint32_t warpid, nwarpid; /* warp slot and number of warp slots; default: among the block's own warps */
};

/** Callbacks from a core to its engine. A member that is NULL has the default behaviour that its comment states. */
struct emu_core_ops {
    uint64_t (*clock)(void *context, unsigned slot, unsigned warp);       /* value of %clock; default: the block's
                                                                           * instruction count */
    uint64_t (*globaltimer)(void *context);                              /* value of %globaltimer; default: the
                                                                          * core's instruction count */
    /** Changes the hardware ids of a warp; @ids holds the defaults. */
    void (*hw_ids)(void *context, unsigned slot, unsigned warp, struct emu_hw_ids *ids);
    uint64_t (*sleep_length)(void *context, uint32_t nanoseconds);       /* length of a sleep; default:
                                                                          * @nanoseconds */
    /** Called on a memory fault. Returns true to let the instruction continue without the faulting lanes:
     *  their stores are dropped, and their loads return @read_value in each 32-bit register. Default: the run
     *  stops. */
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
/** Frees the slot of an ended block. */
void emu_core_block_free(struct emu_core *core, unsigned slot);
/** Returns the state of a warp, valid until its slot is freed. */
struct emu_warp *emu_warp_state(const struct emu_core *core, unsigned slot, unsigned warp);
/** Prefetches the state of a warp that will be stepped soon. @state may be any address. */
void emu_warp_prefetch(const struct emu_warp *state);

/**
 * Executes one instruction for some lanes of one split (the watched path).
 * @slot   a started block, @warp in it, @split the id of a ready split
 * @lanes a non-empty subset of the split's lanes; the others remain as another split
 * @ev     filled on LW_OK
 * Errors: LW_ERANGE for bad arguments; LW_ESTATE when the split is not ready;
 *         LW_EAGAIN if an instruction that needs the *whole* split waits for the other lanes of a divided split. A
 *         guest fault is LW_OK with ev->kind == EMU_EV_FAULT; the lanes remain at the faulting pc.
 */
enum lw_status emu_warp_step(struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned split, uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err);
/** Executes one instruction of a split, as emu_warp_step() does, for the warp whose state is @state. */
enum lw_status emu_warp_step_at(struct emu_warp *state, unsigned split, uint64_t lanes,
                                struct emu_event *ev, struct lw_error *err);
/** Members of events that a core fills. */
enum emu_event_detail {
    EMU_EVENT_FULL,
    /** For engines that only model time. Execution is the same, but the core fills only these members of an event:
     *  kind, core, grid, block, slot, warp, split, pc, insn, split_lanes, exec, guard, effective, exited, cta.used,
     *  cta.completed, access, warp_ended, block_ended, grid_ended, grid_started, and the fault. The event has one
     *  outcome if the warp is one split that continues, otherwise none. Constant operands are not listed. An access has
     *  kind, space, bytes, order, scope, cache, texture and lanes. If an access has a piece_count other than 0, it has
     *  segments and no arrays, and all lanes are in `space`. Otherwise the access has the arrays `address` and
     *  `lane_space` (NULL: all lanes are in `space`). If the machine's tags are not off, the core fills the members for
     *  tags as well. */
    EMU_EVENT_ADDRESSES
};
/** For engines whose caches are not coherent: reports that emu_reg_write has given @lanes of the load @ev bytes that
 *  differ from memory. Listeners are notified: EMU_MACHINE_STALE. */
void emu_machine_report_stale(const struct emu_machine *machine, const struct emu_event *ev, uint64_t lanes,
                              uint64_t address, unsigned bytes);
/** Sets the event detail from the next step on; initially EMU_EVENT_FULL. */
void emu_core_set_event_detail(struct emu_core *core, enum emu_event_detail detail);
/** Returns the id of the split to which the policy gives the warp's next time slice, or -1 if no split is ready. If
 *  no other split is ready, the function makes yielded splits ready. */
int emu_warp_select(struct emu_core *core, unsigned slot, unsigned warp);

#endif
