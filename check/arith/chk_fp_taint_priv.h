/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic inside a library's functions: reported when the result leaves them. */
#ifndef CHK_FP_TAINT_PRIV_H
#define CHK_FP_TAINT_PRIV_H

#include "check/init/chk_init_priv.h"
#include "check/arith/chk_library_priv.h"

/** Is an instruction one of a library's? */
bool chk_fp_taint_reads(struct chk *chk, const struct emu_hook_site *site);
/** Follow the warp from this instruction on. True: it is single-stepped from here on, and the checker is
 *  notified of this instruction again. */
bool chk_fp_taint_begin(struct chk *chk, const struct emu_hook_site *site);
/** What the instruction makes in some lanes is to be followed; the warp goes in single steps. */
void chk_fp_taint_generated(struct chk *chk, const struct emu_hook_site *site, enum chk_kind kind, uint64_t lanes);
/** Of the hook. */
void chk_fp_taint_step(struct chk *chk, const struct emu_hook_site *site);
bool chk_fp_taint_stepped(struct chk *chk, const struct emu_hook_site *site, bool retired);
void chk_fp_taint_block(struct chk_fp_taint *late, const struct emu_core *core, unsigned slot);
/** The run continues elsewhere. */
void chk_fp_taint_forget(struct chk_fp_taint *late);
void chk_fp_taint_destroy(struct chk_fp_taint *late);
bool chk_fp_taint_out_of_memory(const struct chk_fp_taint *late);

/* chk_arith.c */
/** A select: does @lane take registers [@d, @d + @n)? True of other instructions. */
bool chk_arith_takes(const struct emu_hook_site *site, unsigned lane, unsigned d, unsigned n);
/** What instruction @index, of the program of @site, has made in lanes of that warp; @caller: its chk_location's, 0:
 *  as of now. */
void chk_arith_found(struct chk *chk, enum chk_kind kind, const struct emu_hook_site *site, uint32_t index,
                     uint64_t caller, uint64_t lanes);
/** chk_live() of the program, kept; NULL: no memory. */
const struct init_set *chk_live_of(struct chk *chk, const struct emu_program *program);

#endif
