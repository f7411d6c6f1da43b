/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to emu/: functions on cores, programs and machines that the engine needs beyond emu.h. */
#ifndef EMU_CORE_PRIV_H
#define EMU_CORE_PRIV_H

#include "emu/program/emu_decode_priv.h"
#include "emu/simt/emu_split_priv.h"

static inline size_t emu_round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/** Arrays that an event borrows. */
struct emu_step_scratch {
    uint64_t address[EMU_MAX_LANES];
    uint8_t space[EMU_MAX_LANES];
    uint8_t old_value[EMU_MAX_LANES][16], new_value[EMU_MAX_LANES][16];
    uint8_t service[EMU_MAX_LANES];
    struct emu_flow flow;
};
/** Reason for which a warp's slice in its block's rotation ended. */
enum emu_slice_end {
    EMU_SLICE_DONE,   /* the quantum is used up, or none of its splits is ready */
    EMU_SLICE_BREAK,  /* a breakpoint before w->di */
    EMU_SLICE_FAULT,
    EMU_SLICE_WARP_ENDED
};
/** Runs a warp on the fast path for up to @limit instructions, and sets *count to the number retired. If core->hand
 *  permits direct switches, the next warps follow. Then *@w is the warp that ran last, the result and *count are of
 *  its slice, and core->retired includes the instructions of all these warps. */
enum emu_slice_end emu_warp_run_slice(struct emu_warp **w, uint64_t limit, uint64_t *count);
/** Executes exactly the next instruction of the running split, even one with a breakpoint. */
void emu_run_one(struct emu_warp *w);
/** Does emu_warp_step with every member of the event. */
enum lw_status emu_step_addresses(struct emu_core *core, unsigned slot, unsigned warp, unsigned split,
                             uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err) LW_MUST_CHECK;
/** Adds the warp's instruction counts to its block and core. */
void emu_counts_sync(struct emu_warp *w);
/** Adds the counts that a warp keeps itself. */
void emu_warp_count(const struct emu_warp *w, struct emu_stats *to);
/** Adds the counts of a core to @to. They do not include warp_instructions, which a core counts in its member `retired`. */
void emu_stats_add(struct emu_stats *to, const struct emu_stats *from);
/** Moves a core's counts to another core: sums do not change. */
void emu_core_counts_move(struct emu_core *from, struct emu_core *to);
/** Creates the template from which new warps are copied (emu_block.c). Returns NULL without memory. */
struct emu_warp_template *emu_warp_template_create(void);
/** Gets the decoded program of @launch, decoding it at its first launch. */
enum lw_status emu_core_code(struct emu_core *core, const struct emu_launch *launch,
                             struct emu_code **out, struct lw_error *err) LW_MUST_CHECK;
/** Lets warps of @grid run native code until @core has retired @until instructions; 0: no native code. Called before
 *  slices of the grid's blocks. */
void emu_native_use(struct emu_core *core, struct emu_grid *grid, uint64_t until);
/** Sets the block's coordinates from its linear index and grid, and the special registers derived from them. */
void emu_block_specials(struct emu_block *block);


#endif
