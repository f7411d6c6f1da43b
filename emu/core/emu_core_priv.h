/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to emu/: functions on cores, programs and machines for the engine, in addition to the public interface. */
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
/** Reason why a warp's time slice in the rotation of its block ended. */
enum emu_slice_end {
    EMU_SLICE_DONE,   /* the quantum is used up, or no split of the warp is ready */
    EMU_SLICE_BREAK,  /* the instruction at w->di has a breakpoint */
    EMU_SLICE_FAULT,
    EMU_SLICE_WARP_ENDED
};
/** Executes a time slice of warp *@w on the fast path: up to @limit instructions. *@count is set to the number of instructions
 *  retired. If core->hand permits direct switches, slices of the next warps follow. If there was a direct switch, *@w is set to
 *  the warp that ran last, the result and *@count describe the slice of this warp, and core->retired includes the instructions of
 *  all earlier slices. */
enum emu_slice_end emu_warp_run_slice(struct emu_warp **w, uint64_t limit, uint64_t *count);
/** Executes exactly one instruction of the running split, even if it has a breakpoint. */
void emu_run_one(struct emu_warp *w);
/** Executes a step as emu_warp_step does, and fills all members of the event. */
enum lw_status emu_step_addresses(struct emu_core *core, unsigned slot, unsigned warp, unsigned split,
                             uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err) LW_MUST_CHECK;
/** Adds the instructions of the warp's time slice to the counts of its block and core. */
void emu_counts_sync(struct emu_warp *w);
/** Adds to @to the statistics that are counted in the warp's own structure. */
void emu_warp_count(const struct emu_warp *w, struct emu_stats *to);
/** Adds the statistics of a core to @to, except for warp_instructions, which a core counts in its member `retired`. */
void emu_stats_add(struct emu_stats *to, const struct emu_stats *from);
/** Adds the statistics of core @from to those of core @to, and clears them in @from. */
void emu_core_counts_move(struct emu_core *from, struct emu_core *to);
/** Creates an empty warp template (emu_block.c). Returns NULL if there is no memory. */
struct emu_warp_template *emu_warp_template_create(void);
/** Gets the decoded program of a launch for this core. The program is decoded at the first launch that needs it. */
enum lw_status emu_core_code(struct emu_core *core, const struct emu_launch *launch,
                             struct emu_code **out, struct lw_error *err) LW_MUST_CHECK;
/** Returns true if native code may run: there is a translator, and nothing is active that must see single instructions (hooks,
 *  breakpoints, a log, a fault filter). */
bool emu_native_permitted(const struct emu_machine *machine);
/** Requests native code of @grid if a request is due, and lets warps of @block run native code until @core has retired @until
 *  instructions. If @until is 0 or @block is NULL, no native code runs. Called before blocks of the grid begin, and before their
 *  time slices. */
void emu_native_use(struct emu_core *core, struct emu_grid *grid, struct emu_block *block, uint64_t until);
/** Turns @block into block @linear of the same grid. Native code has executed all warps of @block up to their exits
 *  (emu_native_blocks.c), and the core has started no other block since @block. @written: the registers of all warps may have
 *  changed. @spilled[warp]: the registers of this warp may have changed, and some of its lanes may have exited. @spilled NULL:
 *  native code has not left since the block began. */
void emu_core_block_next(struct emu_block *block, uint64_t linear, bool written, const bool *spilled);
/** Sets the coordinates of a block from its linear index, and the special registers that depend on them. */
void emu_block_specials(struct emu_block *block);


#endif
