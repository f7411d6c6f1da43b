/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: redundant-access filters. */
#ifndef CHK_RACE_FILTER_PRIV_H
#define CHK_RACE_FILTER_PRIV_H

#include "check/race/chk_race_access_priv.h"

/* ---- pages that are read all over ------------------------------------------------------------------------ */

/** Before an access: did its instruction read the cell at @at before, as blocks that nothing orders did?
 *  The page's cells, or NULL. */
struct race_page_shadow *race_filter_reads_allowed(struct race_access *ctx, uint64_t at);
/** After it: says in ctx->access->filter which pages need no check, if the one at @at is such. */
void race_filter_reads_prefetch(struct race_access *ctx, uint64_t at, struct race_page_shadow *cells);
/** A page is written, or memory there is new, or another instruction than that of the site @reader reads. */
void race_filter_reads_end(struct chk_race *race, uint64_t offset, uint32_t reader);
void race_filter_reads_forget(struct chk_race *race);
void race_code_of(struct chk_race *race, const struct emu_program *program, const struct isa_function *kernel,
                  struct race_code *out);
/** Is there a filtered page from @first to before @end? */
bool race_filter_reads_enter(const struct chk_race *race, uint64_t first, uint64_t end);

/* ---- shared memory without writes ------------------------------------------------------------ */

/** A weak access: is it a load of shared memory in phases in which nothing writes it? Says in access->filter that
 *  the instruction needs no look in shared memory. */
bool race_filter_shared_write_free(struct chk_race *race, const struct emu_hook_access *access);
/** All threads of a block have met, as on_cta says: at one place? */
void race_filter_shared_begin(struct chk_race *race, bool one_pc);
/** No phase is known any more. */
void race_phases_end(struct chk_race *race);
void race_phases_destroy(struct chk_race *race);

#endif
