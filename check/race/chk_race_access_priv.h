/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: the check of an access, one by one and in batches. */
#ifndef CHK_RACE_ACCESS_PRIV_H
#define CHK_RACE_ACCESS_PRIV_H

#include "check/race/chk_race_order_priv.h"

/** Checks words together: @i is the first cell, @self_tid the thread of the first lane, which has 1 << @shift words;
 *  what is at or before @base is ordered. @n: how many words, at most RACE_CHUNK. False: nothing was done, each lane
 *  must be checked by itself. */
enum { RACE_CHUNK = 16 };
typedef bool race_chunk_fn(const struct race_access *ctx, struct race_page_shadow *cells, uint32_t i,
                           uint32_t self_tid, unsigned shift, uint32_t base, unsigned n);

void race_chunk_choose(struct chk_race *race);

/** The context of an access whose lanes are checked. */
struct race_access {
    struct chk_race *race;
    const struct emu_hook_access *access;
    struct race_block *block;
    struct race_warp *warp;
    uint32_t self_tid; /* of lane 0 */
    uint32_t site;     /* and how; level 0 */
    uint32_t vc_block; /* what the warp knows of the block */
    uint32_t vc_floor; /* of the space that is accessed */
    bool write, synchronizes; /* synchronizes: an atomic or ordered access: it may release or acquire */
    bool plain;        /* clocks of block and warp are all that is known of others: no vector clocks */
    bool may_defer;    /* it may be appended to a list of deferred reads */
    uint64_t freed, freed_bytes; /* it is a free of that; or 0 */
    const uint32_t *value; /* of a store that is executed already: by lanes, then what was there; or NULL */
};

/** All lanes of a warp, at consecutive locations or at one: pages defer such reads as cheaply as allocations. */
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
/** One lane by itself; all of @lanes so. */
void race_access_at(struct race_access *ctx, unsigned lane, uint64_t at);
void race_access_plain(struct race_access *ctx, uint64_t lanes);
/** The cells of a lane's access. NULL: memory without races, or none for the shadow. */
struct race_page_shadow *race_cells_at(struct race_access *ctx, uint64_t at, unsigned bytes, uint32_t *first, uint32_t *count);
/** Its parts, for cell @i of @cells: meets the record @k, true: nothing orders the two; becomes the record @k, with
 *  what is there (@merge) or alone; is recorded as a read; is checked and recorded as what the access does. */
bool race_check_record(struct race_access *ctx, const struct race_page_shadow *cells, uint32_t i, unsigned k,
                       unsigned lane, uint64_t at);
void race_update(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned k, uint32_t self_tid,
                 bool merge);
void race_update_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane);
void race_check_cell(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane, uint64_t at);

/* ---- what is faster (chk_race_access.c) -------------------------------- */

/** Lanes with a word each: their cells are prefetched before one is used. What is new, and what other blocks have
 *  only read, needs no look at clocks. */
void race_access_scattered(struct race_access *ctx, const uint64_t *address, uint64_t lanes);
/** Check all lanes of the access: in the packed shadow, by deferral, wide, scattered, or one by one. */
void race_access_check(struct race_access *ctx);
/** Called before a lane frees an object: for races, a store to all its bytes. */
void race_access_free(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site, unsigned lane,
                    uint64_t address, uint64_t bytes);
/** One lane of a weak access of 4 bytes in global memory, whose cell is @cells alone. */
void race_access_cell(struct race_access *ctx, struct race_page_shadow *cells, unsigned lane, uint64_t at);
/** Several lanes at that cell, as pieces are. False: nothing was done, each is to be looked at by itself. */
bool race_access_location(struct race_access *ctx, struct race_page_shadow *cells, uint64_t lanes, uint64_t at);

/* ---- batches ----------------------------------------------------------- */

/** From now on; nothing else observes accesses. */
void race_batch_begin(void *state);
void race_batch_end(struct chk_race *race);
/** After an access, whose first lane is at @at: says in ctx->access->filter that its instruction is
 *  logged, if it may be. */
void race_batch_prefetch(struct race_access *ctx, uint64_t at);
/** An access that the interpreter reports, whose first lane is at @at, is appended to the log. False: it
 *  is not, and is to be evaluated after the log. */
bool race_batch_add(struct race_access *ctx, uint64_t at);
/** No instruction is logged, until it is reported again. */
void race_batch_revoke(struct chk_race *race);
/** Look at what was written down. */
void race_batch_check(struct chk_race *race);
/** @access, which is @ctx's, is made of @e; @address: [lane]. */
void race_batch_decode(const struct race_access *ctx, const struct emu_access_record *e, struct emu_hook_access *access,
                     uint64_t *address);

#endif
