/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: shadow memory, its packed form, and deferred reads, which need no shadow. */
#ifndef CHK_RACE_SHADOW_PRIV_H
#define CHK_RACE_SHADOW_PRIV_H

#include "check/chk_priv.h"

struct chk_race;
struct race_access;
struct race_block;

/** Level of a record: its accesses are by one thread, or by several unordered threads of a warp, a block or a grid. */
enum race_level { RACE_THREAD, RACE_WARP, RACE_BLOCK, RACE_GRID };

/* A site word describes a recorded access. A site word contains the number of the instruction (0 if it is not known) in
 * RACE_SITE_BITS bits, the kind of the access as flags, and the level of the record. */
enum {
    RACE_SITE_BITS = 26,
    RACE_VOLATILE = 1 << 26,
    RACE_ATOMIC = 1 << 27,
    RACE_CTA = 1 << 28,    /* the access is strong only in its block */
    RACE_STRONG = 1 << 29, /* atomics, volatile and ordered accesses */
    RACE_HOW = RACE_VOLATILE | RACE_ATOMIC | RACE_CTA | RACE_STRONG,
    RACE_LEVEL_SHIFT = 30
};
/* Limit of the clock: a signed 32-bit number can hold the difference of any two clocks. */
enum { RACE_MOST_CLOCK = INT32_MAX - 1 };
/* A thread id consists of a block id in the upper 22 bits and the number of the thread in its block in the lower 10. */
enum { RACE_THREAD_BITS = 10, RACE_MOST_BLOCKS = 1 << 22 };

/* Words of a record of writes or of reads. A record of several threads holds the last of their accesses. The words with the
 * suffix _2 hold the last access by another lane, another warp or another block. The level of the record says which of the
 * three. */
enum {
    RACE_CLOCK, RACE_TID, RACE_SITE, RACE_CLOCK_2, RACE_TID_2, RACE_SITE_2, RACE_RECORD_ROWS
};
enum { RACE_W = 0, RACE_R = RACE_RECORD_ROWS,
       RACE_WEAK = 2 * RACE_RECORD_ROWS, /* words of the last weak write before the atomic writes in RACE_W */
       RACE_ROWS = RACE_WEAK + RACE_SITE + 1 };
/** List of deferred reads, in the order of the reads (chk_race_defer.c). */
struct race_deferred {
    struct race_deferred_chunk *first, *last; /* first and last chunk of the list; NULL: empty */
    unsigned chunk_count;
    uint32_t clock[3]; /* clocks of the last read in the list: logical clock, vc_block and vc_warp */
    uint32_t *repeat;  /* start of the last read in the list, at its CLOCK entry; NULL: the last read has no CLOCK entry */
};
enum { RACE_DEFER_SINGLE = 2 };
/** Memory of deferred reads. */
struct race_defer {
    struct race_block *replay_block;
    struct race_deferred_chunk *free_list[2]; /* free chunks: [0] for lists of pages, [1] for lists of allocations */
    char **pools; /* memory for the chunks of pages */
    size_t pool_count, pool_capacity, pool_used; /* pool_used: number of chunks that have been taken from the pools */
    struct race_deferred_chunk *single[RACE_DEFER_SINGLE]; /* the first chunks for lists of allocations, which are not in
                                                            * a slab */
    unsigned single_count, range_lists; /* range_lists: number of allocations with a list */
    struct race_deferred_slab *slabs;
};
/** Shadow of a range: `count` cells, each for 4 bytes or for 1 byte. A record with clock 0 is empty. The words of a cell
 *  are hot, warm or cold, by how often a check needs them. The hot words are clock, tid and site of the read, and the
 *  clock of the write. */
struct race_page_shadow {
    uint32_t *hot;  /* RACE_HOT words for each cell, aligned to 16 bytes; NULL: there are no cells yet */
    uint32_t *warm; /* RACE_WARM words for each cell */
    uint32_t *cold; /* RACE_COLD words for each cell */
    uint32_t count;
    uint8_t shift; /* base-2 logarithm of the number of bytes of a cell: 2 or 0 */
    bool in_slab;
    uint32_t redundant_reads, redundant_launch; /* number of reads that changed only a clock, counted since
                                                 * filter.host_launches had the value redundant_launch */
    /* The page's cells are valid while race_shadow.epoch is equal to valid_epoch. `deferred` is valid while race_shadow.epoch
     * is equal to deferred_epoch. */
    uint32_t valid_epoch, deferred_epoch;
    struct race_deferred deferred;
};

enum { RACE_HOT_READ, RACE_HOT_TID, RACE_HOT_SITE, RACE_HOT_WRITE, RACE_HOT };
/** The warm words are tid and site of the write, and the words _2 of the record of reads. The cold words are the words _2 of the
 *  record of writes, and the words RACE_WEAK. */
enum { RACE_WARM_READ_2 = 2, RACE_WARM = 5, RACE_COLD_WEAK = 3, RACE_COLD = 6 };
/** Returns word @row of cell @i. @row should be a constant, so that the compiler removes the branches. */
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

/** Creates the cells of a range of @bytes bytes. Returns false if memory is short. */
bool race_page_shadow_create(struct race_page_shadow *cells, uint32_t bytes, uint64_t *total);
void race_page_shadow_free(struct race_page_shadow *cells, uint64_t *total);
/** Changes the shadow to one cell for each byte. If memory is short, the shadow does not change, and the function
 *  returns false. */
bool race_page_shadow_split(struct race_page_shadow *cells, uint64_t *total);

enum { RACE_PAGE_SHIFT = 12, RACE_TABLE_SHIFT = 12, RACE_LOOKUP_CACHE = 4096, RACE_SLAB_PAGES = 128,
       RACE_PAGES = 1 << 2 * RACE_TABLE_SHIFT, RACE_PAGE_WORDS = 1 << (RACE_PAGE_SHIFT - 2) };
/** Shadow of global memory: pages that were accessed. */
struct race_shadow {
    struct race_page_shadow **table[1 << RACE_TABLE_SHIFT]; /* [page / 2^12][page % 2^12] */
    uint64_t bytes, most;                              /* number of bytes of all cells: current and highest value */
    uint32_t **slabs; /* A slab has the hot words of its pages, then their warm words, then their cold words. */
    size_t slab_count, slab_capacity;
    unsigned slab_used; /* number of used pages of the last slab */
    struct race_page_shadow spare_shared; /* shadow of the shared memory of a block that has ended; a new block may
                                           * reuse it */
    uint32_t spare_clock;                 /* clock of the latest record in spare_shared */
    struct race_uninit *uninit;           /* sorted, disjoint ranges */
    size_t uninit_count, uninit_capacity;
    uint32_t epoch; /* incremented when the deferred reads of all pages are dropped */
    /* [page]: hot words of the page or, if they are not in a slab, RACE_VALID; NULL: the page's cells are not valid. The host
     * allocates memory only for the pointers that are written. */
    uint32_t **valid_page;
    size_t valid_first, valid_end; /* pages outside this range have no valid cells */
    struct {
        uint64_t page; /* page number plus 1; 0: the entry is free */
        struct race_page_shadow *cells;
    } lookup_cache[RACE_LOOKUP_CACHE];
};
/** Returns the page at @offset in global memory, created without words of cells if needed; NULL: there is no memory, or the
 *  offset is beyond 64 GiB. */
struct race_page_shadow *race_shadow_page(struct race_shadow *shadow, uint64_t offset);
/** Allocates the words of the cells of a page in a slab, if the page has none. Parts of a slab that are never touched take no
 *  memory of the host. Returns false if memory is short. */
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
/** Value for a page whose shadow is valid, but whose words are not in a slab. */
#define RACE_VALID ((uint32_t *)(uintptr_t)4)
/** Returns the entry of valid_page for the page at @offset, or NULL if @offset is beyond 64 GiB. */
static inline uint32_t *race_shadow_hot(const struct race_shadow *shadow, uint64_t offset)
{
    const uint64_t page = offset >> RACE_PAGE_SHIFT;

    return page < RACE_PAGES ? shadow->valid_page[page] : NULL;
}
/** Initialises the shadow. Returns false if memory is short. */
bool race_shadow_begin(struct race_shadow *shadow);
void race_shadow_end(struct race_shadow *shadow);
/** The hot words of a slab take one large page of the host, its warm words take one and a quarter, and its cold words take one
 *  and a half. */
enum { RACE_PAGE_HOT = RACE_PAGE_WORDS * RACE_HOT * 4, RACE_PAGE_WARM = RACE_PAGE_WORDS * RACE_WARM * 4,
       RACE_PAGE_COLD = RACE_PAGE_WORDS * RACE_COLD * 4,
       RACE_SLAB_HOT = RACE_SLAB_PAGES * RACE_PAGE_HOT };
/** Returns the index, in its page, of the cell whose hot words are at @hot in a slab. */
static inline unsigned race_hot_index(const uint32_t *hot)
{
    return (unsigned)((uintptr_t)hot & (RACE_PAGE_HOT - 1)) / (RACE_HOT * 4);
}
/** Returns the warm words of the page that has the hot words at @hot in a slab. */
static inline uint32_t *race_hot_warm(const uint32_t *hot)
{
    const uintptr_t at = (uintptr_t)hot, slab = at & ~(uintptr_t)(RACE_SLAB_HOT - 1);

    return (uint32_t *)(slab + RACE_SLAB_HOT +
                        (at - slab) / RACE_PAGE_HOT * RACE_PAGE_WARM);
}
/** Marks the cells of the page at @offset as valid. */
void race_shadow_is_valid(struct race_shadow *shadow, const struct race_page_shadow *cells, uint64_t offset);
/** Marks all pages as not valid. */
void race_shadow_is_invalid(struct race_shadow *shadow);
/** Drops the records of a range or, if @bytes is 0, of all memory. */
void race_shadow_forget(struct race_shadow *shadow, uint64_t offset, uint64_t bytes);
/** Allocates zeroed memory that is aligned to large pages of the host and uses large pages. NULL: no memory. */
void *race_large_make(size_t bytes);
/** Advises the host to use large pages for memory that begins at a page boundary. */
void race_large_wish(void *at, size_t bytes);
void race_large_free(void *at, size_t bytes);

/* ---- deferred reads ---------------------------------------------------------------- */

struct race_access;
/** Defers a plain read of a page by @lanes, if only plain reads have accessed the page since the host's last launch. Any
 *  other access to the page later replays the read. The address of lane l is @address + (l - lowest of @lanes) * @step or,
 *  if @each is not NULL, each[l]. Returns false if it has not deferred the read. */
bool race_defer_page(struct race_access *ctx, uint64_t address, uint32_t step, const uint64_t *each, uint64_t lanes);
/** Replays the deferred reads of a page, after which the page's shadow is valid. If memory is short, the page gets no words of
 *  cells. */
void race_deferred_page_flush(struct chk_race *race, struct race_page_shadow *cells, uint64_t offset);
/** Replays the deferred reads of all pages of a range, after which their shadows are valid. */
void race_deferred_page_flush_all(struct chk_race *race, uint64_t offset, uint64_t bytes);
/** Drops all lists, and marks all pages as not valid. */
void race_deferred_forget(struct chk_race *race);
void race_deferred_end(struct chk_race *race);
/** Checks a replayed read by @lanes, in which lane l reads address[l]. */
void race_access_replay(struct race_access *ctx, const uint64_t *address, uint64_t lanes);
void race_access_segment(struct race_access *ctx, const struct emu_addr_segment *piece, uint64_t lanes);
/** Adds the number of a page's deferred reads to @count. Returns false if some of them do not have 4 bytes for each
 *  lane. */
bool race_deferred_page_count(const struct race_shadow *shadow, uint64_t offset, uint64_t *count);
/** Returns the number of words in the chunks of an allocation's list, including the free words of its last chunk. */
uint64_t race_deferred_words(const struct race_deferred *list);
/** Replays the deferred reads of the page at @offset into the packed shadow of its allocation. */
void race_deferred_page_move(struct chk_race *race, uint64_t offset);

/** Words are copied in batches: a copy may read and write this many words after the requested words. */
enum { RACE_WORDS_AT_ONCE = 4, RACE_WORDS_BEYOND = RACE_WORDS_AT_ONCE };
enum { RACE_MOST_RANGES = 64 };
/** How the accesses to an allocation are recorded. chk_race_state.c draws the transitions. */
enum race_state { RACE_SHADOWED, RACE_DEFERRED, RACE_PACKED };
enum race_why { RACE_AT_LAUNCH, RACE_AT_ACCESS, RACE_AT_LIST_FULL, RACE_AT_SCATTERED_STORE, RACE_AT_UNPACKABLE };
struct race_range;
void race_transition(const struct chk_race *race, struct race_range *r, enum race_state to, enum race_why why);
/** An allocation in global memory that a kernel has accessed. */
struct race_range {
    uint64_t first, end;
    uint32_t epoch;  /* race_shadow.epoch for which the state is valid */
    enum race_state state;
    bool written;    /* a kernel has written the allocation */
    struct race_deferred deferred;
    struct race_packed *packed; /* packed cells of the allocation, or NULL */
};
/** Returns the allocation at @offset; NULL: the allocation there, if any, is not handled as a whole. */
struct race_range *race_range_at(struct chk_race *race, uint64_t offset);
/** Sets the state that @r has at its first access after a launch by the host. */
void race_range_begins(const struct chk_race *race, struct race_range *r);
/** Drops the allocations that overlap the range at @offset, because the range is freed or newly allocated. */
void race_range_ends(struct chk_race *race, uint64_t offset, uint64_t bytes);
/** Defers a read in the list of its allocation; the first lane is at @at. Returns false if it has not deferred the
 *  read. */
bool race_defer_allocation(const struct race_access *ctx, uint64_t at);
/** Defers the logged read @e in the list of allocation @r, with clock @now. Returns false if it has not deferred the
 *  read. */
bool race_defer_record(const struct race_access *ctx, struct race_range *r, const struct emu_access_record *e,
                       uint32_t now);
/** Replays the deferred reads of the allocation at @offset. */
void race_deferred_allocation_flush(struct chk_race *race, uint64_t offset);
/** Called when the page at @offset gets its shadow. Stops the deferral of reads in the list of the page's allocation. */
void race_range_page_shadowed(struct chk_race *race, uint64_t offset);
/** Creates the replay block. During a replay it stands for the block of each read, of which only the clocks are known.
 *  Returns NULL if memory is short. */
struct race_block *race_replay_block(unsigned width);

/* ---- packed shadow ---------------------------------------------------------------------------------- */

/** Checks an access if its allocation has packed cells, or if this access gives it packed cells. Returns false if the
 *  cells are ordinary. */
bool race_packed_check(struct race_access *ctx);
/** Checks deferred reads of @lanes in packed cells, as race_packed_check() checks an access. The addresses of the reads
 *  are in the segment @piece or, if @piece is NULL, in @address. Returns false if the cells are ordinary. */
bool race_packed_replay(struct race_access *ctx, const struct emu_addr_segment *piece, const uint64_t *address,
                      uint64_t lanes);
/** Checks a logged access @e in packed cells, as race_packed_check() checks an access. Returns false if it has not made
 *  the check. race_packed_prefetch() must have returned true for @e. @access: ctx->access, into which @e has not been
 *  decoded yet. @simple: result of race_packed_simple(). */
bool race_packed_cell(struct race_access *ctx, struct race_range *r, const struct emu_access_record *e,
                      struct emu_hook_access *access, bool simple);
/** Prefetches the packed cells of the words of @e, all of which are in @r. The lanes are scattered or, for loads,
 *  consecutive. Returns false if some word has no packed cell. */
bool race_packed_prefetch(const struct race_range *r, const struct emu_access_record *e);
/** If the word at @offset has a packed cell, converts the packed cells of its allocation to ordinary ones. */
void race_packed_leave(struct chk_race *race, uint64_t offset);
/** Ends the packed shadow of an allocation, which is no longer handled as a whole. */
void race_packed_end(struct chk_race *race, struct race_range *r);
/** Drops the records of all packed cells. */
void race_packed_forget(struct chk_race *race);
void race_packed_free(struct chk_race *race);

#endif
