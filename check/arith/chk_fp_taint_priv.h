/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in library functions, which are reported only when the result leaves the library function. */
#ifndef CHK_FP_TAINT_PRIV_H
#define CHK_FP_TAINT_PRIV_H

#include "check/init/chk_init_priv.h"
#include "check/arith/chk_library_priv.h"

/** State of the check: the tracked values. */
struct chk_fp_taint;
/** Returns true if an instruction belongs to a library. */
bool chk_fp_taint_reads(struct chk_fp_taint *taint, const struct emu_hook_site *site);
/** Starts to track results of the instructions of a warp. Returns true if this call has put the warp into single steps.
 *  The hook is then called a second time for the instruction at @site. Returns false if the warp already executes in
 *  single steps, or if memory is short. */
bool chk_fp_taint_begin(struct chk_fp_taint *taint, const struct emu_hook_site *site);
/** Tracks the instruction's result in @lanes. The warp must execute in single steps. */
void chk_fp_taint_generated(struct chk_fp_taint *taint, const struct emu_hook_site *site, enum chk_kind kind, uint64_t lanes);
/** Returns the cached result of chk_live() for the program, or NULL if memory is short. */
const struct init_set *chk_fp_taint_live(struct chk_fp_taint *taint, const struct emu_program *program);

/* Functions of chk_arith.c: */
/** Returns false if the instruction is a select that, in @lane, chooses another source than registers [@d, @d + @n). For
 *  all other instructions returns true. */
bool chk_arith_takes(const struct emu_hook_site *site, unsigned lane, unsigned d, unsigned n);
/** Reports the result that instruction @index computed in @lanes of the warp of @site. @caller: chk_location.caller at the
 *  time of the computation, or 0 if the current caller is to be used. */
void chk_arith_found(struct chk *chk, enum chk_kind kind, const struct emu_hook_site *site, uint32_t index,
                     uint64_t caller, uint64_t lanes);
/** Implements chk_observer.wants. */
bool chk_arith_wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn);
void chk_arith_insn(void *state, const struct emu_hook_site *site);

#endif
