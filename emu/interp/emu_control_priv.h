/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of control instructions (emu_control.c), and the end of a time slice within a handler chain (emu_slice.c). */
#ifndef EMU_CONTROL_PRIV_H
#define EMU_CONTROL_PRIV_H

#include "emu/emu_code_priv.h"

/** Returns the handler of a control instruction or an instruction of the scalar unit (emu_control.c). */
emu_handler_fn *emu_control_handler(enum isa_op op);
/** Gets the full and the masked handler of a decoded control or scalar instruction. */
void emu_control_handlers(const struct isa_insn *insn, const struct emu_dinsn *di,
                          struct emu_handlers *out);
void emu_break_handler(struct emu_warp *w, const struct emu_dinsn *di);
void emu_budget_handler(struct emu_warp *w, const struct emu_dinsn *di);
void emu_bad_pc_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Handler of the layer EMU_LAYER_RPC: tests whether the split waits at the instruction, for reconvergence engines with
 *  emu_reconv.reach. */
void emu_rpc_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Handler of an instruction at which native code can be entered. */
void emu_native_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Handler of bssy, bsync, bbreak and yield under a reconvergence engine that ignores barriers: continues at the next
 *  instruction, without another effect. */
void emu_stalled_step_handler(struct emu_warp *w, const struct emu_dinsn *di);

/** Ends the time slice of @w because no split of @w is ready, or because its running split stops before w->di. Called as the last
 *  action of a handler. Switches to the next warp if core->hand allows direct switches; otherwise @w leaves its chain. */
void emu_switch_to_next_warp(struct emu_warp *w);
/** Called as the last action of a handler that has counted all its instructions, if the straight-line run that starts at @t is
 *  longer than the rest of the time slice. Executes the rest of the time slice. Afterwards the next warp runs, if core->hand
 *  allows direct switches; otherwise @w leaves its chain. */
void emu_slice_expired(struct emu_warp *w, const struct emu_dinsn *t);
/** Removes the slice-end layer that emu_slice_expired() has added to an instruction. Returns false if the layer no longer exists.
 *  Called after the warp has left its chain, and before native code runs. */
bool emu_slice_end_unpatch(struct emu_warp *w);
void emu_slice_end_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Counts the instructions before @di, at which the time slice ends. If the split is alone in its warp, known facts about
 *  addresses (w->proved) stay valid. */
void emu_count_and_keep(struct emu_warp *w, const struct emu_dinsn *di);
/** Ends a warp, all of whose live lanes are one split and exit together, and ends its time slice. The warp's instructions have
 *  been counted, no event of the step is recorded, no CTA barrier of the block is in use, and the reconvergence engine is
 *  cbar. */
void emu_split_exit_alone(struct emu_warp *w);
/** Largest budget that a warp gets at a time. The limit is less than the value at which emu_dinsn.run saturates. */
enum { EMU_LONGEST_BUDGET = 32768 };
/** Full handler of a branch that closes a loop of one straight-line run (emu_control.c). di->aux is a mask of the bits of
 *  w->proved that remain valid in the next iteration. */
void emu_loop_handler(struct emu_warp *w, const struct emu_dinsn *di);

#endif
