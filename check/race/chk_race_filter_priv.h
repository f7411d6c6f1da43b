/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: redundant-access filters. */
#ifndef CHK_RACE_FILTER_PRIV_H
#define CHK_RACE_FILTER_PRIV_H

#include "check/race/chk_race_access_priv.h"

/* ---- pages that many blocks read ------------------------------------------------------------------------ */

/** Called before an access to a page. Returns the page's cells if unordered blocks have read the cell at @at, and if the
 *  instruction of this access made the last of these reads. Otherwise returns NULL. */
struct race_page_shadow *race_filter_reads_allowed(struct race_access *ctx, uint64_t at);
/** Called after the access, with the result of race_filter_reads_allowed() in @cells. If further reads of the page by this
 *  instruction need no check, sets ctx->access->filter to this page and to neighbouring pages of the same kind. */
void race_filter_reads_prefetch(struct race_access *ctx, uint64_t at, struct race_page_shadow *cells);
/** Ends the filter of the page at @offset, unless the page is filtered for reads by the instruction of site @reader, or
 *  for reads by several instructions. With @reader 0, which means a write or new memory, always ends the filter. */
void race_filter_reads_end(struct chk_race *race, uint64_t offset, uint32_t reader);
void race_filter_reads_forget(struct chk_race *race);
void race_code_of(struct chk_race *race, const struct emu_program *program, const struct isa_function *kernel,
                  struct race_code *out);
/** Returns true if a page between the offsets @first and @end (exclusive) has a redundant-access filter. */
bool race_filter_reads_enter(const struct chk_race *race, uint64_t first, uint64_t end);

/* ---- shared memory without writes ------------------------------------------------------------ */

/** Returns true for a weak load of shared memory in a barrier interval without a write. Sets access->filter so that the
 *  interpreter does not report later accesses of the instruction to shared memory. */
bool race_filter_shared_write_free(struct chk_race *race, const struct emu_hook_access *access);
/** Starts a barrier interval, when all threads of a block have arrived at a barrier. If they arrived at different
 *  instructions (@one_pc is false), ends the filter of shared memory. */
void race_filter_shared_begin(struct chk_race *race, bool one_pc);
/** Ends the filter of shared memory for the rest of the run: the interpreter reports all accesses. */
void race_phases_end(struct chk_race *race);
void race_phases_destroy(struct chk_race *race);

#endif
