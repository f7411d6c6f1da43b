/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of control instructions (emu_control.c), and the end of a time slice inside a chain (emu_slice.c). */
#ifndef EMU_CONTROL_PRIV_H
#define EMU_CONTROL_PRIV_H

#include "emu/emu_code_priv.h"

/** Returns the handler of an instruction on the split or the scalar unit (emu_control.c). */
emu_handler_fn *emu_control_handler(enum isa_op op);
/** Gets the handlers of a decoded instruction for both chains. */
void emu_control_handlers(const struct isa_insn *insn, const struct emu_dinsn *di,
                          struct emu_handlers *out);
void emu_break_handler(struct emu_warp *w, const struct emu_dinsn *di);
void emu_budget_handler(struct emu_warp *w, const struct emu_dinsn *di);
void emu_bad_pc_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Handler before instructions that are reconvergence pcs, under `stack`. */
void emu_rpc_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Handler of an instruction at which native code can be entered. */
void emu_native_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Handler of bssy, bsync, bbreak and yield in programs in which these have no effect. */
void emu_stalled_step_handler(struct emu_warp *w, const struct emu_dinsn *di);

/** Ends the slice of @w as the last act of a handler: no split is ready, or its split continues at w->di.
 *  Switches to the next warp where core->hand allows direct switches; otherwise @w leaves its chain. */
void emu_switch_to_next_warp(struct emu_warp *w);
/** Ends the slice inside a run, as the last act of a handler with everything counted: the run at @t is longer
 *  than the rest of the slice. The rest of the slice is executed. Then the next warp runs where core->hand allows
 *  direct switches; otherwise @w leaves its chain. */
void emu_slice_expired(struct emu_warp *w, const struct emu_dinsn *t);
/** Removes the layer that emu_slice_expired() put on the instruction after the slice, if it is still there;
 *  called when the chain was left. */
void emu_slice_end_unpatch(struct emu_warp *w);
void emu_slice_end_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Counts the instructions before @di, where the slice ends and the split continues; known forms of rows are
 *  kept. */
void emu_count_and_keep(struct emu_warp *w, const struct emu_dinsn *di);
/** Ends the slice of a counted warp that exits: all its lanes are one split, which has no observer, no CTA barrier of
 *  the block is open, and the engine is the one with convergence barriers. */
void emu_split_exit_alone(struct emu_warp *w);
/** Limit of a warp's instructions between two checks: below the saturation of emu_dinsn.run. */
enum { EMU_LONGEST_BUDGET = 32768 };
/** Full handler of a branch that closes a loop of one run (emu_control.c): aux selects the part of w->proved
 *  that the next iteration keeps. */
void emu_loop_handler(struct emu_warp *w, const struct emu_dinsn *di);

#endif
