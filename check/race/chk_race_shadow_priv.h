/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: shadow memory, what is deferred before it exists, and its packed form. */
#ifndef CHK_RACE_SHADOW_PRIV_H
#define CHK_RACE_SHADOW_PRIV_H

#include "check/chk_priv.h"

struct chk_race;
struct race_access;
struct race_block;

/** Who a record is of: one thread, or several that are not ordered: of a warp, a block, a grid. */
enum race_level { RACE_THREAD, RACE_WARP, RACE_BLOCK, RACE_GRID };

/* A record's site word: the instruction (0: not known), how it accessed, and its level. */
enum {
    RACE_SITE_BITS = 26,
    RACE_VOLATILE = 1 << 26,
    RACE_ATOMIC = 1 << 27,
    RACE_CTA = 1 << 28,    /* strong in its block only */
    RACE_STRONG = 1 << 29, /* atomics, volatile and ordered accesses */
    RACE_HOW = RACE_VOLATILE | RACE_ATOMIC | RACE_CTA | RACE_STRONG,
    RACE_LEVEL_SHIFT = 30
};
/* Differences of clocks have a sign. */
enum { RACE_MOST_CLOCK = INT32_MAX - 1 };
/* A record's thread: 22 bits of block id (a block of the running launches), 10 of the thread. */
enum { RACE_THREAD_BITS = 10, RACE_MOST_BLOCKS = 1 << 22 };

/* Rows of a record, of writes or reads. Of several threads the last is kept, and of those that are in
 * another lane, warp or block (as the level says) than it the last. */
enum {
    RACE_CLOCK, RACE_TID, RACE_SITE, RACE_CLOCK_2, RACE_TID_2, RACE_SITE_2, RACE_RECORD_ROWS
};
enum { RACE_W = 0, RACE_R = RACE_RECORD_ROWS,
       RACE_WEAK = 2 * RACE_RECORD_ROWS, /* one thread's: the weak write before atomic ones */
       RACE_ROWS = RACE_WEAK + RACE_SITE + 1 };
/** Reads that are deferred, in their order (chk_race_defer.c). */
struct race_deferred {
    struct race_deferred_chunk *first, *last; /* NULL: none */
    unsigned chunk_count;
    uint32_t clock[3]; /* of the last read */
    uint32_t *repeat;  /* the last read, from its CLOCK on; NULL: it has none of its own */
};
enum { RACE_DEFER_SINGLE = 2 };
/** Memory of deferred reads. */
struct race_defer {
    struct race_block *replay_block;
    struct race_deferred_chunk *free_list[2]; /* [of an allocation's list] */
    char **pools; /* of pages' chunks */
    size_t pool_count, pool_capacity, pool_used; /* used: chunks */
    struct race_deferred_chunk *single[RACE_DEFER_SINGLE]; /* an allocation's first ones */
    unsigned single_count, range_lists; /* range_lists: allocations that have a list */
    struct race_deferred_slab *slabs;
};
/** Shadow of a range: `count` cells, each of 4 bytes or of 1. Clock 0 is no record. Hot, warm and cold rows, by how
 *  often a check needs them: hot has of each cell { clock, tid and site of the read, clock of the write }. */
struct race_page_shadow {
    uint32_t *hot;  /* 16-byte aligned; NULL: none */
    uint32_t *warm; /* of each cell RACE_WARM words */
    uint32_t *cold; /* of each cell RACE_COLD words */
    uint32_t count;
    uint8_t shift; /* 2 or 0: bytes a cell, as a power of two */
    bool in_slab;
    uint32_t redundant_reads, redundant_launch; /* reads that changed nothing but a clock, in this filter.host_launches */
    /* of a page, each good in this race_shadow.epoch: its cells are valid; it has deferred reads */
    uint32_t valid_epoch, deferred_epoch;
    struct race_deferred deferred;
};

enum { RACE_HOT_READ, RACE_HOT_TID, RACE_HOT_SITE, RACE_HOT_WRITE, RACE_HOT };
/** warm: tid and site of the write, and the second record of reads; cold: the second record of writes, and of the weak
 *  write. */
enum { RACE_WARM_READ_2 = 2, RACE_WARM = 5, RACE_COLD_WEAK = 3, RACE_COLD = 6 };
/** A row's word of a cell; @row is best a constant. */
static inline uint32_t *race_at(const struct race_page_shadow *cells, unsigned row, size_t i)
{
    if (row == RACE_W + RACE_CLOCK)
        return &cells->hot[RACE_HOT * i + RACE_HOT_WRITE];
    if (row >= RACE_R && row <= RACE_R + RACE_SITE)
        return &cells->hot[RACE_HOT * i + (row - RACE_R)];
    if (row <= RACE_W + RACE_SITE)
        return &cells->warm[RACE_WARM * i + (row - RACE_TID)];
    if (row < RACE_R)
        return &cells->cold[RACE_COLD * i + (row - RACE_CLOCK_2)];
    if (row >= RACE_WEAK)
        return &cells->cold[RACE_COLD * i + RACE_COLD_WEAK + (row - RACE_WEAK)];
    return &cells->warm[RACE_WARM * i + RACE_WARM_READ_2 + (row - RACE_R - RACE_CLOCK_2)];
}

/** Cells for @bytes; false: no memory. */
bool race_page_shadow_create(struct race_page_shadow *cells, uint32_t bytes, uint64_t *total);
void race_page_shadow_free(struct race_page_shadow *cells, uint64_t *total);
/** One cell a byte from now on. */
bool race_page_shadow_split(struct race_page_shadow *cells, uint64_t *total);

enum { RACE_PAGE_SHIFT = 12, RACE_TABLE_SHIFT = 12, RACE_LOOKUP_CACHE = 4096, RACE_SLAB_PAGES = 128,
       RACE_PAGES = 1 << 2 * RACE_TABLE_SHIFT, RACE_PAGE_WORDS = 1 << (RACE_PAGE_SHIFT - 2) };
/** Pages of global memory that were accessed. */
struct race_shadow {
    struct race_page_shadow **table[1 << RACE_TABLE_SHIFT]; /* of 2^12 pages each */
    uint64_t bytes, most;                              /* of all cells, now and at most */
    uint32_t **slabs; /* of many pages of whole words: all hot rows, then all warm ones, then the cold ones */
    size_t slab_count, slab_capacity;
    unsigned slab_used; /* pages of the last */
    struct race_page_shadow spare_shared; /* of the shared memory of a block that has ended: of clocks up to */
    uint32_t spare_clock;                 /* this one */
    struct race_uninit *uninit;           /* sorted, disjoint */
    size_t uninit_count, uninit_capacity;
    uint32_t epoch; /* advanced where deferred reads are dropped */
    /* [RACE_PAGES]: hot rows of pages whose cells are valid, or RACE_VALID; NULL: any other. The host gives it memory
     * where something is written */
    uint32_t **valid_page;
    size_t valid_first, valid_end; /* pages outside have none */
    struct {
        uint64_t page; /* and 1 */
        struct race_page_shadow *cells;
    } lookup_cache[RACE_LOOKUP_CACHE];
};
/** The page at @offset in global memory, made without rows if need be; NULL: no memory, or beyond 64 GiB. */
struct race_page_shadow *race_shadow_page(struct race_shadow *shadow, uint64_t offset);
/** Rows for a page that has none, in a slab: untouched parts of them take no memory of the host.
 *  False: no memory. */
bool race_shadow_rows(struct race_shadow *shadow, struct race_page_shadow *cells);
static inline struct race_page_shadow *race_shadow_cached(struct race_shadow *shadow, uint64_t offset)
{
    const uint64_t page = (offset >> RACE_PAGE_SHIFT) + 1;
    const unsigned at = page % RACE_LOOKUP_CACHE;

    if (shadow->lookup_cache[at].page != page) {
        struct race_page_shadow *cells = race_shadow_page(shadow, offset);
        if (cells == NULL)
            return NULL;
        shadow->lookup_cache[at].page = page;
        shadow->lookup_cache[at].cells = cells;
    }
    return shadow->lookup_cache[at].cells;
}
/** Of a page whose shadow is materialised but not allocated in a slab. */
#define RACE_VALID ((uint32_t *)(uintptr_t)4)
/** The hot cells of the page at @offset, if it is materialised and they are in a slab; else
 *  RACE_VALID. NULL: it is not materialised, or there was no memory to say so. */
static inline uint32_t *race_shadow_hot(const struct race_shadow *shadow, uint64_t offset)
{
    const uint64_t page = offset >> RACE_PAGE_SHIFT;

    return page < RACE_PAGES ? shadow->valid_page[page] : NULL;
}
/** False: no memory. */
bool race_shadow_begin(struct race_shadow *shadow);
void race_shadow_end(struct race_shadow *shadow);
/** The hot cells of a slab are one large page of the host, the rest are one and a quarter. */
enum { RACE_PAGE_HOT = RACE_PAGE_WORDS * RACE_HOT * 4, RACE_PAGE_WARM = RACE_PAGE_WORDS * RACE_WARM * 4,
       RACE_PAGE_COLD = RACE_PAGE_WORDS * RACE_COLD * 4,
       RACE_SLAB_HOT = RACE_SLAB_PAGES * RACE_PAGE_HOT };
/** Of a hot cell in a slab: its number in its page, and the rest of that. */
static inline unsigned race_hot_index(const uint32_t *hot)
{
    return (unsigned)((uintptr_t)hot & (RACE_PAGE_HOT - 1)) / (RACE_HOT * 4);
}
static inline uint32_t *race_hot_warm(const uint32_t *hot)
{
    const uintptr_t at = (uintptr_t)hot, slab = at & ~(uintptr_t)(RACE_SLAB_HOT - 1);

    return (uint32_t *)(slab + RACE_SLAB_HOT +
                        (at - slab) / RACE_PAGE_HOT * RACE_PAGE_WARM);
}
/** The cells of the page at @offset say all from now on. */
void race_shadow_is_valid(struct race_shadow *shadow, const struct race_page_shadow *cells, uint64_t offset);
/** No page's do. */
void race_shadow_is_invalid(struct race_shadow *shadow);
/** Forget what was accessed in a range, or (@bytes 0) everywhere. */
void race_shadow_forget(struct race_shadow *shadow, uint64_t offset, uint64_t bytes);
/** Zero, on a boundary of large pages of the host, and in such. NULL: no memory. */
void *race_large_make(size_t bytes);
/** Memory that begins on a page is better in large ones, once it is used: only advice. */
void race_large_wish(void *at, size_t bytes);
void race_large_free(void *at, size_t bytes);

/* ---- deferred reads ---------------------------------------------------------------- */

struct race_access;
/** A plain read by @lanes of a page that nothing has written, nor strong accesses reached, since the host's last
 *  launch is deferred, until something else reaches the page. Lane l is at @address + (l - first of @lanes) * @step,
 *  or (@each not NULL) each[l]. False: it is not deferred. */
bool race_defer_page(struct race_access *ctx, uint64_t address, uint32_t step, const uint64_t *each, uint64_t lanes);
/** Replay the reads of a page; from now on its shadow is valid. Without memory for it it has no rows. */
void race_deferred_page_flush(struct chk_race *race, struct race_page_shadow *cells, uint64_t offset);
/** The same of all pages of a range. */
void race_deferred_page_flush_all(struct chk_race *race, uint64_t offset, uint64_t bytes);
/** All lists are dropped, and no page's shadow is valid. */
void race_deferred_forget(struct chk_race *race);
void race_deferred_end(struct chk_race *race);
/** The reads of @address, as each lane of @ctx had them. */
void race_access_replay(struct race_access *ctx, const uint64_t *address, uint64_t lanes);
void race_access_segment(struct race_access *ctx, const struct emu_addr_segment *piece, uint64_t lanes);
/** Adds a page's deferred reads to @count; false: some are not of 4 bytes a lane. */
bool race_deferred_page_count(const struct race_shadow *shadow, uint64_t offset, uint64_t *count);
/** Words that an allocation's list takes, and those of its last chunk that are free. */
uint64_t race_deferred_words(const struct race_deferred *list);
/** Replay them into the packed shadow of their allocation. */
void race_deferred_page_move(struct chk_race *race, uint64_t offset);

/** Words are copied in batches: so many more than requested may be read, and written, after them. */
enum { RACE_WORDS_AT_ONCE = 4, RACE_WORDS_BEYOND = RACE_WORDS_AT_ONCE };
enum { RACE_MOST_RANGES = 64 };
/** Where the reads and writes of an allocation are: chk_race_state.c draws the transitions. */
enum race_state { RACE_SHADOWED, RACE_DEFERRED, RACE_PACKED };
enum race_why { RACE_AT_LAUNCH, RACE_AT_ACCESS, RACE_AT_LIST_FULL, RACE_AT_SCATTERED_STORE, RACE_AT_UNPACKABLE };
struct race_range;
void race_transition(const struct chk_race *race, struct race_range *r, enum race_state to, enum race_why why);
/** An allocation that a kernel has accessed, in global memory. */
struct race_range {
    uint64_t first, end;
    uint32_t epoch;  /* race_shadow's, in which the state is known */
    enum race_state state;
    bool written;    /* some kernel has written it */
    struct race_deferred deferred;
    struct race_packed *packed; /* or NULL */
};
/** The allocation at @offset; NULL: none that is looked at as one. */
struct race_range *race_range_at(struct chk_race *race, uint64_t offset);
/** Of the reads of @r since the host's last launch. */
void race_range_begins(const struct chk_race *race, struct race_range *r);
/** Memory at @offset is freed, or made anew. */
void race_range_ends(struct chk_race *race, uint64_t offset, uint64_t bytes);
/** The read is deferred by its allocation; its first lane is at @at. False: it is not. */
bool race_defer_allocation(const struct race_access *ctx, uint64_t at);
/** The same of a read in the batch, at the clock @now. */
bool race_defer_record(const struct race_access *ctx, struct race_range *r, const struct emu_access_record *e,
                       uint32_t now);
/** Replay the reads of the allocation at @offset. */
void race_deferred_allocation_flush(struct chk_race *race, uint64_t offset);
/** The page at @offset gets its shadow: reads of its allocation are deferred no more. */
void race_range_page_shadowed(struct chk_race *race, uint64_t offset);
/** The surrogate of the blocks whose deferred reads are replayed: nothing but their clocks is known. NULL: no memory. */
struct race_block *race_replay_block(unsigned width);

/* ---- packed shadow ---------------------------------------------------------------------------------- */

/** An access, if its allocation's cells are packed ones, or become such by it. False: they are ordinary ones now. */
bool race_packed_check(struct race_access *ctx);
/** The same of lanes that were kept: those of a piece, or (@piece NULL) at @address. */
bool race_packed_replay(struct race_access *ctx, const struct emu_addr_segment *piece, const uint64_t *address,
                      uint64_t lanes);
/** The same of what was written down in @e, of which race_packed_prefetch was true. @access is ctx's, not made of @e yet;
 *  @simple: race_packed_simple then. */
bool race_packed_cell(struct race_access *ctx, struct race_range *r, const struct emu_access_record *e,
                      struct emu_hook_access *access, bool simple);
/** The packed cells of the words of @e, all in @r, whose lanes are scattered, or (of loads) consecutive, are
 *  prefetched. False: not all have one. */
bool race_packed_prefetch(const struct race_range *r, const struct emu_access_record *e);
/** The cells at @offset are ordinary ones from now on. */
void race_packed_leave(struct chk_race *race, uint64_t offset);
/** The allocation is looked at as one no more. */
void race_packed_end(struct chk_race *race, struct race_range *r);
/** What they say does not matter any more. */
void race_packed_forget(struct chk_race *race);
void race_packed_free(struct chk_race *race);

#endif
