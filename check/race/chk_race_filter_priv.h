/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: redundant-access filters. */
#ifndef CHK_RACE_FILTER_PRIV_H
#define CHK_RACE_FILTER_PRIV_H

#include "check/race/chk_race_access_priv.h"

/* ---- pages that many blocks read ------------------------------------------------------------------------ */

/** Called before an access to a page. Returns the page's cells if unordered blocks have read the cell at @at, and if
 *  the instruction of the access has read the cell before. Otherwise returns NULL. */
struct race_page_shadow *race_filter_reads_allowed(struct race_access *ctx, uint64_t at);
/** Called after the access. If the page of @at needs no further check, sets ctx->access->filter to this page and the
 *  neighbouring pages that need none. */
void race_filter_reads_prefetch(struct race_access *ctx, uint64_t at, struct race_page_shadow *cells);
/** Ends the filter of a page because it is written, its memory is new, or an instruction other than the one of site
 *  @reader reads it. */
void race_filter_reads_end(struct chk_race *race, uint64_t offset, uint32_t reader);
void race_filter_reads_forget(struct chk_race *race);
void race_code_of(struct chk_race *race, const struct emu_program *program, const struct isa_function *kernel,
                  struct race_code *out);
/** Returns true if there is a filtered page from @first to before @end. */
bool race_filter_reads_enter(const struct chk_race *race, uint64_t first, uint64_t end);

/* ---- shared memory without writes ------------------------------------------------------------ */

/** Returns true for a weak load of shared memory in a barrier interval without a write. Sets access->filter so that
 *  later executions of the instruction in shared memory are not checked. */
bool race_filter_shared_write_free(struct chk_race *race, const struct emu_hook_access *access);
/** Starts a barrier interval: all threads of a block have arrived at a barrier, as in on_cta. @one_pc: all arrived at
 *  one instruction. */
void race_filter_shared_begin(struct chk_race *race, bool one_pc);
/** Drops all barrier intervals. */
void race_phases_end(struct chk_race *race);
void race_phases_destroy(struct chk_race *race);

#endif
