/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic inside a library's functions: reported when the result leaves them. */
#ifndef CHK_FP_TAINT_PRIV_H
#define CHK_FP_TAINT_PRIV_H

#include "check/init/chk_init_priv.h"
#include "check/arith/chk_library_priv.h"

/** The state of the check: values that are followed. */
struct chk_fp_taint;
/** Is an instruction one of a library's? */
bool chk_fp_taint_reads(struct chk_fp_taint *taint, const struct emu_hook_site *site);
/** Follow the warp from this instruction on. True: it is single-stepped from here on, and the checker is
 *  notified of this instruction again. */
bool chk_fp_taint_begin(struct chk_fp_taint *taint, const struct emu_hook_site *site);
/** What the instruction makes in some lanes is to be followed; the warp goes in single steps. */
void chk_fp_taint_generated(struct chk_fp_taint *taint, const struct emu_hook_site *site, enum chk_kind kind, uint64_t lanes);
/** chk_live() of the program, kept; NULL: no memory. */
const struct init_set *chk_fp_taint_live(struct chk_fp_taint *taint, const struct emu_program *program);

/* chk_arith.c */
/** A select: does @lane take registers [@d, @d + @n)? True of other instructions. */
bool chk_arith_takes(const struct emu_hook_site *site, unsigned lane, unsigned d, unsigned n);
/** What instruction @index, of the program of @site, has made in lanes of that warp; @caller: its chk_location's, 0:
 *  as of now. */
void chk_arith_found(struct chk *chk, enum chk_kind kind, const struct emu_hook_site *site, uint32_t index,
                     uint64_t caller, uint64_t lanes);
/** Of the hook. */
bool chk_arith_wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn);
void chk_arith_insn(void *state, const struct emu_hook_site *site);

#endif
