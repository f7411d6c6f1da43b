/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: the check of an access, lane by lane and several lanes at a time. */
#ifndef CHK_RACE_ACCESS_PRIV_H
#define CHK_RACE_ACCESS_PRIV_H

#include "check/race/chk_race_order_priv.h"

/** Checks all lanes of an access to consecutive words together. @i: index of the first word's cell. @self_tid: thread id of
 *  the first lane. Each lane accesses 1 << @shift words. Records with a clock up to @base are ordered before the access. @n:
 *  number of words, at most RACE_CHUNK. Returns false if it has not made the check: each lane must then be checked by
 *  itself. */
enum { RACE_CHUNK = 16 };
typedef bool race_chunk_fn(const struct race_access *ctx, struct race_page_shadow *cells, uint32_t i,
                           uint32_t self_tid, unsigned shift, uint32_t base, unsigned n);

void race_chunk_choose(struct chk_race *race);

/** Context of an access whose lanes are checked. */
struct race_access {
    struct chk_race *race;
    const struct emu_hook_access *access;
    struct race_block *block;
    struct race_warp *warp;
    uint32_t self_tid; /* thread id of lane 0 */
    uint32_t site;     /* site word (RACE_SITE_BITS etc.) of the accessing instruction; its level is RACE_THREAD */
    uint32_t vc_block; /* clock of the block up to which the warp is ordered after accesses of its block */
    uint32_t vc_floor; /* clock up to which all accesses to the memory space are ordered before this access */
    bool write, synchronizes; /* synchronizes: an atomic or ordered access, which may release or acquire */
    bool plain;        /* no vector clocks are needed: the clocks of block and warp suffice */
    bool may_defer;    /* the read may be appended to a list of deferred reads */
    uint64_t freed, freed_bytes; /* range that the access frees; 0: it frees nothing */
    const uint32_t *value; /* logged store, which has already been executed: first the value that each lane stored, then the
                            * value that each lane overwrote. Other accesses: NULL */
};

/** Returns true if all lanes of a warp take part in the access, and their addresses form segments. A segment has consecutive
 *  words, or one word. Such a read is deferred in the list of its page, which needs no more words for it than the list of the
 *  allocation. Scattered reads are deferred in the list of the allocation. */
static inline bool race_is_whole_warp(const struct race_access *ctx)
{
    return ctx->access->piece_count != 0 &&
           ctx->access->at.lanes == lw_mask(ctx->block->width);
}
/* ---- the plain path (chk_race_plain.c) --------------------------------- */

static inline enum race_level race_level_of(uint32_t site)
{
    return (enum race_level)(site >> RACE_LEVEL_SHIFT);
}
/** Checks one lane of the access, whose generic address is @at. */
void race_access_at(struct race_access *ctx, unsigned lane, uint64_t at);
/** Checks each of @lanes by race_access_at(). */
void race_access_plain(struct race_access *ctx, uint64_t lanes);
/** Returns the cells of a lane's access. NULL: the memory cannot have races, or there is no memory for the shadow. */
struct race_page_shadow *race_cells_at(struct race_access *ctx, uint64_t at, unsigned bytes, uint32_t *first, uint32_t *count);
/* Parts of race_access_at(), for cell @i of @cells: */
/** Compares the access with record @k. Returns true if the two are unordered. */
bool race_check_record(struct race_access *ctx, const struct race_page_shadow *cells, uint32_t i, unsigned k,
                       unsigned lane, uint64_t at);
/** With @merge, adds the access to record @k; otherwise replaces the record by the access. */
void race_update(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned k, uint32_t self_tid,
                 bool merge);
/** Records the access, which is a read by @lane. */
void race_update_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane);
/** Checks the access against all records of the cell, and records the access. */
void race_check_cell(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane, uint64_t at);

/* ---- faster paths (chk_race_access.c) -------------------------------- */

/** Checks scattered lanes. Prefetches the cells of all lanes before it checks the first. Skips the comparison of vector clocks
 *  for a cell without records after the block's vc_floor, and for a read of a cell that only other blocks have read. */
void race_access_scattered(struct race_access *ctx, const uint64_t *address, uint64_t lanes);
/** Checks all lanes of the access. Depending on the access, uses the packed shadow, defers a read, checks consecutive or
 *  scattered words together, or checks the lanes one by one. */
void race_access_check(struct race_access *ctx);
/** Called before a lane frees an object. Checks the free like a store to all bytes of the object, but does not record
 *  it. */
void race_access_free(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site, unsigned lane,
                    uint64_t address, uint64_t bytes);
/** Checks one lane of a weak access to a word of global memory. @cells: a copy of the cell of this word. */
void race_access_cell(struct race_access *ctx, struct race_page_shadow *cells, unsigned lane, uint64_t at);
/** Checks @lanes together, all of which access the word at @at. @cells: a copy of the cell of this word. Returns false if
 *  it has not made the check: the caller must then check each lane by itself. */
bool race_access_location(struct race_access *ctx, struct race_page_shadow *cells, uint64_t lanes, uint64_t at);

/* ---- batches ----------------------------------------------------------- */

/** Creates the access log. Called when only the race checker observes accesses. */
void race_batch_begin(void *state);
void race_batch_end(struct chk_race *race);
/** Called after an access whose first lane is at @at. If the access may be logged, sets ctx->access->filter so that the
 *  interpreter logs later accesses of the instruction. */
void race_batch_prefetch(struct race_access *ctx, uint64_t at);
/** Appends an access that the interpreter reports, whose first lane is at @at, to the log. Returns false if the access
 *  was not appended: the caller must check it after the accesses in the log. */
bool race_batch_add(struct race_access *ctx, uint64_t at);
/** Stops the logging of all instructions: the interpreter calls the hook for their next accesses. */
void race_batch_revoke(struct chk_race *race);
/** Checks the accesses in the log. */
void race_batch_check(struct chk_race *race);
/** Decodes @e to @access, which belongs to @ctx; @address: the address of each lane. */
void race_batch_decode(const struct race_access *ctx, const struct emu_access_record *e, struct emu_hook_access *access,
                     uint64_t *address);

#endif
