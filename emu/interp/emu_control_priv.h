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
/** Handler of bssy, bsync, bbreak and yield where they have no effect. */
void emu_stalled_step_handler(struct emu_warp *w, const struct emu_dinsn *di);

/** In a handler, as its last act: the slice of @w is over, and nothing of it is ready or its split continues
 *  at w->di. Continues with the next warp where core->hand allows it; else @w leaves its chain. */
void emu_switch_to_next_warp(struct emu_warp *w);
/** In a handler, as its last act, all counted: the run at @t is longer than what is left of the slice. It
 *  is used up there, and the next warp follows, where core->hand allows that; else @w leaves its chain. */
void emu_slice_expired(struct emu_warp *w, const struct emu_dinsn *t);
/** The chain was left: what emu_slice_expired() put after the last instruction of the slice is removed, if it is
 *  still there. */
void emu_slice_end_unpatch(struct emu_warp *w);
void emu_slice_end_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Count what is before @di, where the slice ends and the split continues; forms of rows are kept. */
void emu_count_and_keep(struct emu_warp *w, const struct emu_dinsn *di);
/** The same for a warp that ends there, counted: all its lanes are one split, which is not observed; no
 *  CTA barrier of the block is open, and lanes diverge and reconverge by convergence barriers. */
void emu_split_exit_alone(struct emu_warp *w);
/** Instructions of a warp without a look at it, at most: below the saturation of emu_dinsn.run. */
enum { EMU_LONGEST_BUDGET = 32768 };
/** Full handler of a branch that closes a loop of one run (emu_control.c): aux is what of w->proved
 *  the next pass keeps, as it is in memory. */
void emu_loop_handler(struct emu_warp *w, const struct emu_dinsn *di);

#endif
