/* SPDX-License-Identifier: Apache-2.0 */
/* Inside emu/: what the engine needs of cores, programs and machines beyond emu.h. */
#ifndef EMU_CORE_PRIV_H
#define EMU_CORE_PRIV_H

#include "emu/program/emu_decode_priv.h"
#include "emu/simt/emu_split_priv.h"

static inline size_t emu_round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/** Rows that an event borrows. */
struct emu_step_scratch {
    uint64_t address[EMU_MAX_LANES];
    uint8_t space[EMU_MAX_LANES];
    uint8_t old_value[EMU_MAX_LANES][16], new_value[EMU_MAX_LANES][16];
    uint8_t service[EMU_MAX_LANES];
    struct emu_flow flow;
};
/** How a warp's slice in its block's rotation ended. */
enum emu_slice_end {
    EMU_SLICE_DONE,   /* the quantum is used up, or nothing in it is ready */
    EMU_SLICE_BREAK,  /* a breakpoint before w->di */
    EMU_SLICE_FAULT,
    EMU_SLICE_WARP_ENDED
};
/** Run a warp on the fast path for up to @limit instructions. *count gets those retired. Where
 *  core->hand allows it the next warp follows directly: then *@w is the warp that ran last, the end and
 *  *count are of its slice, and those of all of them are in core->retired. */
enum emu_slice_end emu_warp_run_slice(struct emu_warp **w, uint64_t limit, uint64_t *count);
/** Execute exactly the next instruction of the running split, also one with a breakpoint. */
void emu_run_one(struct emu_warp *w);
/** emu_warp_step with all that an event can say. */
enum lw_status emu_step_addresses(struct emu_core *core, unsigned slot, unsigned warp, unsigned split,
                             uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err) LW_MUST_CHECK;
/** Add the warp's instruction counts to its block and core. */
void emu_counts_sync(struct emu_warp *w);
/** Add what a warp has counted for itself. */
void emu_warp_count(const struct emu_warp *w, struct emu_stats *to);
/** Add what cores count; warp instructions are the core's own field. */
void emu_stats_add(struct emu_stats *to, const struct emu_stats *from);
/** Move a core's counts to another: sums stay. */
void emu_core_counts_move(struct emu_core *from, struct emu_core *to);
/** What new warps are copied from: emu_block.c. NULL: no memory. */
struct emu_warp_template *emu_warp_template_create(void);
/** The decoded program of @launch, made at its first. */
enum lw_status emu_core_code(struct emu_core *core, const struct emu_launch *launch,
                             struct emu_code **out, struct lw_error *err) LW_MUST_CHECK;
/** The place of @block (its linear id and grid are set) and the special registers that go by it. */
void emu_block_specials(struct emu_block *block);


#endif
