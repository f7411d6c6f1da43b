/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races, between the files that look for them:
 *
 *   chk_race_access.c        accesses: what they meet in the shadow
 *   chk_race_access_wide.c  the same for consecutive words at once
 *   chk_race_access_scattered.c  and for words that are scattered
 *   chk_race_order.c   blocks, fences, atomics, launches: what is ordered before what
 *   chk_race_order_barrier.c   the same of barriers
 *   chk_race_vclock.c  sets of what a thread knows of others
 *   chk_race_shadow.c  the shadow: who last wrote and read each byte
 *   chk_race_shadow_packed.c  the same in less room, of words that blocks access here and there
 *   chk_race_defer.c   reads of what nothing has written yet: deferred
 *   chk_race_batch.c    accesses that the tap writes down, to be looked at some at a time
 *   chk_race_filter_reads.c  pages of which further reads say nothing new
 *   chk_race_filter_shared.c  shared memory between barriers where nobody writes it
 *   chk_race_uninit.c  global memory that nobody has filled in
 *   chk_race_spin_loop.c   loads that a loop waits for
 *   chk_race_report.c   sentences
 *
 * One clock for all, `now`, ticks at whatever orders something. An access carries the tick of its
 * time, so "thread t knows all that u did up to tick x" decides whether an access of u happened
 * before. What all threads of a block or warp know of it is one number each; the rest are facts.
 */
#ifndef CHK_RACE_PRIV_H
#define CHK_RACE_PRIV_H

#include "check/chk_priv.h"

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
/* Differences of ticks have a sign. */
enum { RACE_MOST_TICKS = INT32_MAX - 1 };
/* A record's thread: 22 bits of actor (a block of the running launches), 10 of the thread. */
enum { RACE_THREAD_BITS = 10, RACE_MOST_ACTORS = 1 << 22 };

/* Rows of a record, of writes or reads. Of several threads the last is kept, and of those that are in
 * another lane, warp or block (as the level says) than it the last. */
enum {
    RACE_TIME, RACE_WHO, RACE_SITE, RACE_TIME_2, RACE_WHO_2, RACE_SITE_2, RACE_RECORD_ROWS
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
    size_t pool_count, pool_room, pool_used; /* used: chunks */
    struct race_deferred_chunk *single[RACE_DEFER_SINGLE]; /* an allocation's first ones */
    unsigned single_count, range_lists; /* range_lists: allocations that have a list */
    struct race_deferred_slab *slabs;
};
/** The shadow of a range: `count` cells, of 4 bytes each or of 1. Time 0 is no record. Rows that are
 *  looked at together are: of all cells the quad { time, who and site of the read, time of the write };
 *  then who and site of the write and what else is kept of reads; then what else is kept of writes; then
 *  weak writes. */
struct race_page_shadow {
    uint32_t *base; /* quads, 16-byte aligned; NULL: none */
    uint32_t *rest; /* the other rows, of each cell RACE_REST words */
    uint32_t *seldom; /* and what is seldom used of them, RACE_SELDOM words */
    uint32_t count;
    uint8_t shift; /* 2 or 0: bytes a cell, as a power of two */
    bool borrowed; /* the rows are in a slab */
    uint32_t agreed, agreed_at; /* reads that found their like, in this one of chk_race.roots */
    /* of a page, each good in this race_shadow.epoch: its cells say all; what they do not say yet */
    uint32_t awake_at, later_at;
    struct race_deferred deferred;
};

enum { RACE_QUAD_READ, RACE_QUAD_WHO, RACE_QUAD_SITE, RACE_QUAD_WRITE, RACE_QUAD };
/** In `rest`, of each cell: who and site of writes, and what else is kept of reads; in `seldom` what else is
 *  kept of writes, and weak ones. */
enum { RACE_REST_READ_2 = 2, RACE_REST = 5, RACE_SELDOM_WEAK = 3, RACE_SELDOM = 6 };
/** A row's word of a cell; @row is best a constant. */
static inline uint32_t *race_at(const struct race_page_shadow *cells, unsigned row, size_t i)
{
    if (row == RACE_W + RACE_TIME)
        return &cells->base[RACE_QUAD * i + RACE_QUAD_WRITE];
    if (row >= RACE_R && row <= RACE_R + RACE_SITE)
        return &cells->base[RACE_QUAD * i + (row - RACE_R)];
    if (row <= RACE_W + RACE_SITE)
        return &cells->rest[RACE_REST * i + (row - RACE_WHO)];
    if (row < RACE_R)
        return &cells->seldom[RACE_SELDOM * i + (row - RACE_TIME_2)];
    if (row >= RACE_WEAK)
        return &cells->seldom[RACE_SELDOM * i + RACE_SELDOM_WEAK + (row - RACE_WEAK)];
    return &cells->rest[RACE_REST * i + RACE_REST_READ_2 + (row - RACE_R - RACE_TIME_2)];
}

/** Cells for @bytes; false: no memory. */
bool race_page_shadow_create(struct race_page_shadow *cells, uint32_t bytes, uint64_t *total);
void race_page_shadow_free(struct race_page_shadow *cells, uint64_t *total);
/** One cell a byte from now on. */
bool race_page_shadow_split(struct race_page_shadow *cells, uint64_t *total);

enum { RACE_PAGE_SHIFT = 12, RACE_TABLE_SHIFT = 12, RACE_NEAR = 4096, RACE_SLAB_PAGES = 128,
       RACE_PAGES = 1 << 2 * RACE_TABLE_SHIFT, RACE_PAGE_WORDS = 1 << (RACE_PAGE_SHIFT - 2) };
/** Pages of global memory that were accessed. */
struct race_shadow {
    struct race_page_shadow **table[1 << RACE_TABLE_SHIFT]; /* of 2^12 pages each */
    uint64_t bytes, most;                              /* of all cells, now and at most */
    uint32_t **slabs; /* rows of many pages of whole words: all quads, then all rests, then what is seldom used */
    size_t slab_count, slab_room;
    unsigned slab_used; /* pages of the last */
    uint32_t epoch; /* changes where nothing that was kept for later matters any more */
    /* [RACE_PAGES]: quads of those whose cells say all, or RACE_AWAKE; NULL: any other. The host gives it
     * memory where something is written */
    uint32_t **awake;
    size_t awake_first, awake_end; /* pages beyond have none */
    struct {
        uint64_t page; /* and 1 */
        struct race_page_shadow *cells;
    } near[RACE_NEAR]; /* found lately */
};
/** The page at @offset in global memory, made without rows if need be; NULL: no memory, or beyond 64 GiB. */
struct race_page_shadow *race_shadow_page(struct race_shadow *shadow, uint64_t offset);
/** Rows for a page that has none, in a slab: what nobody touches of them takes no memory of the host.
 *  False: no memory. */
bool race_shadow_rows(struct race_shadow *shadow, struct race_page_shadow *cells);
static inline struct race_page_shadow *race_shadow_cached(struct race_shadow *shadow, uint64_t offset)
{
    const uint64_t page = (offset >> RACE_PAGE_SHIFT) + 1;
    const unsigned at = page % RACE_NEAR;

    if (shadow->near[at].page != page) {
        struct race_page_shadow *cells = race_shadow_page(shadow, offset);
        if (cells == NULL)
            return NULL;
        shadow->near[at].page = page;
        shadow->near[at].cells = cells;
    }
    return shadow->near[at].cells;
}
/** Of a page that is awake, whose rows are not in a slab. */
#define RACE_AWAKE ((uint32_t *)(uintptr_t)4)
/** The quads of the page at @offset, if it is awake and they are in a slab; else RACE_AWAKE. NULL: it is
 *  not awake, or there was no memory to say so. */
static inline uint32_t *race_shadow_quads(const struct race_shadow *shadow, uint64_t offset)
{
    const uint64_t page = offset >> RACE_PAGE_SHIFT;

    return page < RACE_PAGES ? shadow->awake[page] : NULL;
}
/** False: no memory. */
bool race_shadow_begin(struct race_shadow *shadow);
void race_shadow_end(struct race_shadow *shadow);
/** The quads of a slab are one large page of the host, the rest are one and a quarter. */
enum { RACE_PAGE_QUADS = RACE_PAGE_WORDS * RACE_QUAD * 4, RACE_PAGE_REST = RACE_PAGE_WORDS * RACE_REST * 4,
       RACE_PAGE_SELDOM = RACE_PAGE_WORDS * RACE_SELDOM * 4,
       RACE_SLAB_QUADS = RACE_SLAB_PAGES * RACE_PAGE_QUADS };
/** Of a quad in a slab: its number in its page, and the rest of that. */
static inline unsigned race_hot_index(const uint32_t *quad)
{
    return (unsigned)((uintptr_t)quad & (RACE_PAGE_QUADS - 1)) / (RACE_QUAD * 4);
}
static inline uint32_t *race_hot_warm(const uint32_t *quad)
{
    const uintptr_t at = (uintptr_t)quad, slab = at & ~(uintptr_t)(RACE_SLAB_QUADS - 1);

    return (uint32_t *)(slab + RACE_SLAB_QUADS +
                        (at - slab) / RACE_PAGE_QUADS * RACE_PAGE_REST);
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

/* ---- reads that are kept for later ---------------------------------------------------------------- */

struct race_access;
/** A plain read by @lanes of a page that nothing has written, nor strong accesses reached, since the host's last
 *  launch is deferred, until something else reaches the page. Lane l is at @address + (l - first of @lanes) * @step,
 *  or (@each not NULL) each[l]. False: it is not deferred. */
bool race_defer_page(struct race_access *look, uint64_t address, uint32_t step, const uint64_t *each, uint64_t lanes);
/** Replay the reads of a page; from now on its shadow is valid. Without memory for it it has no rows. */
void race_deferred_page_flush(struct chk_race *race, struct race_page_shadow *cells, uint64_t offset);
/** The same of all pages of a range. */
void race_deferred_page_flush_all(struct chk_race *race, uint64_t offset, uint64_t bytes);
/** All lists are dropped, and no page's shadow is valid. */
void race_deferred_forget(struct chk_race *race);
void race_deferred_end(struct chk_race *race);
/** The reads of @address, as each lane of @look had them. */
void race_access_replay(struct race_access *look, const uint64_t *address, uint64_t lanes);
void race_access_segment(struct race_access *look, const struct emu_addr_segment *piece, uint64_t lanes);
/** Adds a page's deferred reads to @count; false: some are not of 4 bytes a lane. */
bool race_deferred_page_count(const struct race_shadow *shadow, uint64_t offset, uint64_t *count);
/** Words that an allocation's list takes, and those of its last chunk that are free. */
uint64_t race_deferred_words(const struct race_deferred *list);
/** Replay them into the packed shadow of their allocation. */
void race_deferred_page_move(struct chk_race *race, uint64_t offset);

/** Words are copied some at a time: so many more than are asked for may be read, and written, behind them. */
enum { RACE_WORDS_AT_ONCE = 4, RACE_WORDS_BEYOND = RACE_WORDS_AT_ONCE };
enum { RACE_MOST_RANGES = 64 };
/** An allocation that a kernel has accessed, in global memory. */
struct race_range {
    uint64_t first, end;
    uint32_t epoch;  /* race_shadow's, in which `keeps` is known */
    bool keeps;      /* reads of it are deferred */
    bool written;    /* some kernel has written it */
    struct race_deferred deferred;
    struct race_packed *brief; /* or NULL */
};
/** The allocation at @offset; NULL: none that is looked at as one. */
struct race_range *race_range_at(struct chk_race *race, uint64_t offset);
/** Of the reads of @r since the host's last launch. */
void race_range_begins(const struct chk_race *race, struct race_range *r);
/** Memory at @offset is freed, or made anew. */
void race_range_ends(struct chk_race *race, uint64_t offset, uint64_t bytes);
/** The read is deferred by its allocation; its first lane is at @at. False: it is not. */
bool race_defer_allocation(const struct race_access *look, uint64_t at);
/** The same of a read in the batch, at the clock @now. */
bool race_defer_record(const struct race_access *look, struct race_range *r, const struct emu_access_record *e,
                       uint32_t now);
/** Replay the reads of the allocation at @offset. */
void race_deferred_allocation_flush(struct chk_race *race, uint64_t offset);
/** The page at @offset gets its shadow: reads of its allocation are deferred no more. */
void race_range_wakes(struct chk_race *race, uint64_t offset);
/** The surrogate of the blocks whose deferred reads are replayed: nothing but their clocks is known. NULL: no memory. */
struct race_block *race_replay_block(unsigned width);

/* ---- brief cells ---------------------------------------------------------------------------------- */

/** An access, if its allocation's cells are brief ones, or become such by it. False: they are ordinary ones now. */
bool race_packed_check(struct race_access *look);
/** The same of lanes that were kept: those of a piece, or (@piece NULL) at @address. */
bool race_packed_replay(struct race_access *look, const struct emu_addr_segment *piece, const uint64_t *address,
                      uint64_t lanes);
/** The same of what was written down in @e, of which race_packed_prefetch was true. @access is look's, not made of @e yet;
 *  @simple: race_packed_simple then. */
bool race_packed_cell(struct race_access *look, struct race_range *r, const struct emu_access_record *e,
                      struct emu_hook_access *access, bool simple);
/** The brief cells of the words of @e, all in @r, whose lanes are scattered, or (of loads) consecutive, are asked for.
 *  False: not all have one. */
bool race_packed_prefetch(const struct chk_race *race, const struct race_range *r, const struct emu_access_record *e);
/** The cells at @offset are ordinary ones from now on. */
void race_packed_leave(struct chk_race *race, uint64_t offset);
/** The allocation is looked at as one no more. */
void race_packed_end(struct chk_race *race, struct race_range *r);
/** What they say does not matter any more. */
void race_packed_forget(struct chk_race *race);
void race_packed_free(struct chk_race *race);

/* ---- facts -------------------------------------------------------------------------------- */

/** What a key says that is known up to its time. */
enum race_vclock_entry { RACE_KNOWS_THREAD, RACE_KNOWS_WARP, RACE_KNOWS_BLOCK, RACE_KNOWS_GRID, RACE_KNOWS_ALL };
static inline uint64_t race_key(enum race_vclock_entry fact, uint32_t who)
{
    return (uint64_t)fact << 32 | who;
}
struct race_entry {
    uint64_t key;
    uint32_t time;
};
/** Sorted by key; not changed once made. NULL is the empty one. */
struct race_vclock {
    unsigned refs, count;
    struct race_entry entry[];
};
struct race_vclock *race_vclock_keep(struct race_vclock *facts);
void race_vclock_drop(struct race_vclock *facts);
uint32_t race_vclock_time(const struct race_vclock *facts, uint64_t key);
/** Of few entries in any order; @now where a set grows too large and becomes "all up to now".
 *  NULL: empty, or no memory: less is known, see @short_of_memory. */
struct race_vclock *race_vclock_create(struct race_entry *entry, unsigned count,
                                   bool *short_of_memory);
/** What is known of a block's own threads goes. */
void race_vclock_prune(struct race_vclock **facts, uint32_t actor);
/** What either knows: @*into becomes it. */
void race_vclock_join(struct race_vclock **into, struct race_vclock *other, uint32_t now,
                     bool *short_of_memory);

/* ---- memory that nobody has filled in ------------------------------------------------------------- */

/** Global memory that the host has made and not written. */
struct race_uninit {
    uint64_t first, end;
};
/** It is such from now on, or no longer. */
void race_uninit_set(struct chk_race *race, uint64_t address, uint64_t bytes, bool fresh);
/** Is some of it such? Kernels may have written there. */
bool race_mark_uninitialised(const struct chk_race *race, uint64_t address, uint64_t bytes);

/* ---- who runs ------------------------------------------------------------------------------- */

/** What a thread has behind its last fence: what an atomic of it may tell others. */
struct race_fence {
    uint32_t time, kb, kw; /* time 0: there was none */
    struct race_vclock *facts;
};
enum { RACE_FENCE_GPU, RACE_FENCE_CTA };
struct race_lane {
    struct race_fence fence[2];  /* by scope; one of the device is one of the block, too */
    struct race_vclock *facts;    /* beside its block's */
    struct race_vclock *pending[2]; /* by relaxed reads without a fence (of a scope) behind them */
};
struct race_warp {
    uint64_t lanes;       /* of the split that accessed last */
    uint64_t noted;       /* the same, of what is written down and not looked at yet, too */
    uint32_t kw;          /* each lane knows all lanes of the warp up to */
    uint32_t converged;   /* tick up to which accesses were made before all lanes were one split */
    uint32_t *known;      /* [lane][lane], where lanes differ; or NULL */
    struct race_lane *lane; /* [width], or NULL */
};
/** What is known of a kernel's code. */
struct race_code {
    const struct isa_function *kernel;
    bool calm;     /* none of its threads tells others of more than barriers do */
    bool launches;
};
struct race_grid {
    uint32_t sequence, parent; /* 0: the host */
    uint32_t actor;            /* the block that launched it */
    uint64_t stream;
    uint32_t base;             /* all up to here is known */
    struct race_vclock *facts;
    struct race_code code;
    bool group, begun;
};
struct race_block {
    struct emu_core *core;
    unsigned slot;
    uint32_t grid;   /* sequence */
    uint64_t linear;
    uint32_t actor;  /* 0: too many blocks: not looked at */
    uint32_t start, base; /* before: another block's shared memory; known, whoever did it */
    uint32_t kb;          /* all threads know the block up to, and what it did in shared memory up to ks */
    uint32_t ks;
    struct race_weak {
        uint32_t time; /* 0: there was none */
        uint64_t pc;
    } weak[2]; /* [in global memory]: the last barrier that does not order that */
    uint32_t brief_first; /* its accesses of words with brief cells have this number, or more */
    uint32_t *fenced;     /* [warp]: its lanes had a fence of the device behind what they did up to,
                             when all last met; NULL: never */
    bool any_fence, any_lane;
    bool opencl, opencl_known; /* its kernel is in OpenCL C */
    unsigned warp_count, width;
    struct race_vclock *facts, *pending[2]; /* of all threads */
    uint32_t *known;      /* [warp][warp], where warps differ; or NULL */
    struct race_barrier_clock *gate[ISA_CTA_BARRIER_COUNT]; /* what came by bar.arrive; or NULL */
    struct race_page_shadow shared;
    struct race_warp warp[];
};
struct race_block_id {
    uint32_t grid, start; /* start: tick at which it began */
    uint64_t linear;
};
/** Where something was released to: an atomic's place. */
struct race_sync_var {
    uint64_t key; /* generic address; of shared memory with the actor above; 0: free */
    struct race_vclock *gpu, *cta;
    uint32_t cta_actor;
};
/** Two sites of which a finding is told. */
struct race_pair {
    uint64_t key; /* 0: free */
    int finding;  /* -1: it is not kept */
    uint64_t access, other; /* the access and other warp of its first time */
    uint64_t counted;       /* the look that was counted last */
};

/** Words that are looked at together, and how: @i is the first cell, @me the thread of the first
 *  lane, which has 1 << @shift words; what is at or before @base is known. @n: how many words, at most RACE_CHUNK.
 *  False: nothing was done, each lane must be looked at by itself. */
enum { RACE_CHUNK = 16 };
typedef bool race_chunk_fn(const struct race_access *look, struct race_page_shadow *cells, uint32_t i,
                           uint32_t me, unsigned shift, uint32_t base, unsigned n);

struct chk_race {
    struct chk *chk;
    struct emu_machine *machine;
    uint64_t kinds;
    uint32_t now;
    struct race_shadow shadow;
    struct race_page_shadow spare;    /* of the shared memory of a block that is over: its records are of times up to */
    uint32_t spare_since;       /* this one */
    struct race_block **blocks; /* those that run */
    size_t block_count, block_room;
    struct race_block *last;
    struct race_block_id *actors;  /* [1..] */
    size_t actor_count, actor_room;
    struct race_grid *grids;    /* since the host's last launch began */
    size_t grid_count, grid_room;
    uint32_t root;              /* the host's last launch that began */
    struct race_sync_var *variables; /* a power of two */
    size_t variable_count, variable_room;
    struct race_pair *pairs;
    size_t pair_count, pair_room;
    uint64_t told_key; /* of a pair of which `told` is the finding, since an access before; 0: none */
    int told;
    const struct emu_program *program; /* whose instructions `site` is of */
    uint64_t program_base;
    uint32_t *site; /* their words, and whether they are known */
    size_t site_room;
    uint64_t access, looks;     /* count; looks: at a lane of an access */
    race_chunk_fn *chunk[2], *few[2]; /* [it writes]: of RACE_CHUNK words, of fewer */
    uint32_t *quiet[1 << RACE_TABLE_SHIFT]; /* [page]: stamps, 0: it is not quiet */
    struct race_prefetch *ahead; /* NULL: all is looked at at once */
    bool is_ahead, settles; /* settles: what was ahead is being looked at */
    struct race_defer defer;
    struct race_batch *log;    /* NULL: accesses are told of */
    const unsigned *written; /* how much is in it; or 0 */
    struct race_range *ranges, *range_last;
    unsigned range_count;
    bool fast;               /* not each lane by itself, where that may be */
    struct race_packed_access *brief_access; /* by number; or NULL */
    unsigned brief_used, brief_room, brief_count;       /* brief_count: allocations that have brief cells now */
    unsigned brief_begun, brief_again;      /* begun counts; again: allocations that may have them soon */
    bool any_quiet;
    struct race_code *codes; /* of kernels that were launched */
    size_t code_count, code_room;
    struct race_phases **phases, *phases_last; /* of programs */
    size_t phases_count, phases_room;
    bool apart;              /* threads were where no phase says that they are, or each access is looked at */
    uint32_t roots;          /* counts launches of the host behind which nothing ran */
    const struct emu_program *waits_of;
    uint8_t *waits;             /* [instruction] of it: does a loop wait for this load? As far as was asked */
    struct race_uninit *fresh;   /* sorted, apart from each other */
    size_t fresh_count, fresh_room;
    bool short_of_memory;
};
void race_chunk_choose(struct chk_race *race);

/** An access, while its lanes are looked at. */
struct race_access {
    struct chk_race *race;
    const struct emu_hook_access *access;
    struct race_block *block;
    struct race_warp *warp;
    uint32_t me;      /* of lane 0 */
    uint32_t site;    /* and how; level 0 */
    uint32_t kb;      /* what the warp knows of the block */
    uint32_t base;    /* of the space that is accessed */
    bool write, sets; /* sets: an atomic or ordered access: it may release or acquire */
    bool plain;       /* nobody has facts or met in part: ticks of block and warp say all */
    bool waits;       /* it may be kept for later */
    bool ahead;       /* it may be looked at before the next one */
    uint64_t freed, freed_bytes; /* it is a free of that; or 0 */
    const uint32_t *value; /* of a store that is executed already: by lanes, then what was there; or NULL */
};

/** Has each lane of a warp a place beside the next one's, or all the same? Lists of pages are as good for such
 *  reads. */
static inline bool race_in_full(const struct race_access *look)
{
    return look->access->piece_count != 0 &&
           look->access->at.lanes == lw_mask(look->block->width);
}
/** Words of global memory, in slabs. */
struct race_words {
    uint64_t other; /* lanes that have none, and are looked at by themselves */
    unsigned count;
    uint32_t *quad[EMU_MAX_LANES];
    uint8_t lane[EMU_MAX_LANES]; /* in this order */
};
/** An access that is looked at later. */
struct race_prefetch {
    struct race_access look;
    struct emu_hook_access access;
    struct race_words words;
    uint64_t address[EMU_MAX_LANES];
};
/** Before anything else is looked at, or happens: look at what is ahead. */
void race_flush_deferred(struct chk_race *race);
static inline void race_flush(struct chk_race *race)
{
    if (race->is_ahead || race->written[0] != 0)
        race_flush_deferred(race);
}
/** As its kind of access is. */
void race_access_check(struct race_access *look);
/** A lane is about to free an object: that is a store to all of it. */
void race_access_free(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site, unsigned lane,
                    uint64_t address, uint64_t bytes);
/** One lane by itself. */
void race_access_at(struct race_access *look, unsigned lane, uint64_t at);
/** The same of a weak access of 4 bytes in global memory, whose cell is @cells alone. */
void race_access_cell(struct race_access *look, struct race_page_shadow *cells, unsigned lane, uint64_t at);
/** Several lanes at that cell, as pieces are. False: nothing was done, each is to be looked at by itself. */
bool race_access_location(struct race_access *look, struct race_page_shadow *cells, uint64_t lanes, uint64_t at);

/** The cells of @lanes, which each have a place of their own, are asked for before one is waited for:
 *  those of whole words of global memory, of which all is known. */
void race_words_find(const struct race_access *look, const uint64_t *address, uint64_t lanes,
                     struct race_words *out);
/** Words of which nothing is known that could meet the lanes need no more than a new record. The others
 *  are left in @words, in their order. */
void race_words_new(const struct race_access *look, struct race_words *words);
/** The words that race_words_new left, and the other lanes. */
void race_words_slow(struct race_access *look, const uint64_t *address, struct race_words *words);
/** What else is known of them is asked for, too. */
void race_words_prefetch(const struct race_words *words);
/** All of that. */
void race_words_each(struct race_access *look, const uint64_t *address, uint64_t lanes);

/* ---- accesses that the tap writes down ----------------------------------------------------------- */

/** From now on; nobody else looks at accesses. */
void race_batch_begin(struct chk_race *race);
void race_batch_end(struct chk_race *race);
/** Behind an access, whose first lane is at @at: says in look->access->quiet that its instruction is
 *  written down, if it may be. */
void race_batch_prefetch(struct race_access *look, uint64_t at);
/** An access that the tap tells of, whose first lane is at @at, is written down behind what is there. False: it
 *  is not, and is to be looked at behind that. */
bool race_batch_add(struct race_access *look, uint64_t at);
/** No instruction is, until it is told of again. */
void race_batch_revoke(struct chk_race *race);
/** Look at what was written down. */
void race_batch_check(struct chk_race *race);
/** @access, which is @look's, is made of @e; @address: [lane]. */
void race_batch_decode(const struct race_access *look, const struct emu_access_record *e, struct emu_hook_access *access,
                     uint64_t *address);

/* ---- pages that are quiet ------------------------------------------------------------------------ */

/** Before an access: did its instruction read the cell at @at before, as blocks that nothing orders did?
 *  The page's cells, or NULL. */
struct race_page_shadow *race_filter_reads_allowed(struct race_access *look, uint64_t at);
/** Behind it: says in look->access->quiet which pages need no look, if the one at @at is such. */
void race_filter_reads_prefetch(struct race_access *look, uint64_t at, struct race_page_shadow *cells);
/** A page is written, or memory there is new, or another instruction than that of the site @reader reads. */
void race_filter_reads_end(struct chk_race *race, uint64_t offset, uint32_t reader);
void race_filter_reads_forget(struct chk_race *race);
void race_code_of(struct chk_race *race, const struct emu_program *program, const struct isa_function *kernel,
                  struct race_code *out);
/** Is there a quiet page from @first to before @end? */
bool race_filter_reads_enter(const struct chk_race *race, uint64_t first, uint64_t end);

/* ---- shared memory that nobody writes ------------------------------------------------------------ */

/** A weak access: is it a load of shared memory in phases in which nothing writes it? Says in access->quiet that
 *  the instruction needs no look in shared memory. */
bool race_filter_shared_write_free(struct chk_race *race, const struct emu_hook_access *access);
/** All threads of a block have met, as on_cta says: at one place? */
void race_filter_shared_begin(struct chk_race *race, bool one_place);
/** No phase is known any more. */
void race_phases_end(struct chk_race *race);
void race_phases_destroy(struct chk_race *race);

/* ---- order -------------------------------------------------------------------------------------- */

enum race_order { RACE_UNORDERED, RACE_PENDING /* but for an acquire */, RACE_ORDERED };
/** Is what one thread did up to @time ordered before what @lane does now? */
enum race_order race_ordered_one(const struct race_access *look, unsigned lane, uint32_t who,
                                 uint32_t time);
/** The same of the record @k of a cell, which is not empty. */
enum race_order race_ordered(const struct race_access *look, unsigned lane,
                             const struct race_page_shadow *cells, uint32_t i, unsigned k);
/** An access of a lane and what a record tells are not ordered (@order), and not both strong in each
 *  other's scope; or they are volatile ones of one warp. @at: the lane's generic address. @written:
 *  the record is of writes. */
void race_found(struct race_access *look, unsigned lane, uint64_t at, uint32_t who, uint32_t time,
                uint32_t site, bool written, enum race_order order);
/** Is the load of a site what a loop waits for? Of the running program's sites. */
bool race_waits_for(struct chk_race *race, uint32_t site);
/** Are the access and that of a record's @site atomics of two sizes? PTX does not make them atomic for each other. */
bool race_two_sizes(const struct race_access *look, uint32_t site);
/** As race_found of a weak load and a weak store of another block, which nothing orders, if their race was
 *  told before this access. False: it was not, nothing is done. */
bool race_found_repeat(const struct race_access *look, uint32_t site);
/** The finding that counts such races, if theirs was told before this access; -1: it was not. */
int race_found_before(const struct race_access *look, uint32_t site);
/** The same of a weak store of @lane and weak accesses of other blocks, at one or two sites; true, too, if
 *  nobody asked for what their races are. */
bool race_found_lockstep(const struct race_access *look, const uint32_t *sites, unsigned count, unsigned lane,
                       uint64_t at);
/** The split of a warp is @lanes from now on, of @live ones: what was done before it was together may count on
 *  lockstep. */
void race_converge(struct chk_race *race, struct race_warp *w, uint64_t lanes, uint64_t live);
/** Does @lane store what is there, and did nobody ask to be told of such races? */
bool race_stores_what_is(const struct race_access *look, unsigned lane, uint64_t at);
/** Do @lanes store one value, so that between them there is no race that somebody asked for? */
bool race_stores_same(const struct race_access *look, uint64_t lanes);
/** An atomic or strong access of @lane to a place, in this order: it reads, it writes. */
void race_synchronize(struct race_access *look, unsigned lane, uint64_t at, unsigned order,
                      bool reads, bool writes);
/** The resident block of a slot, NULL: it is not looked at. */
struct race_block *race_block_at(struct chk_race *race, const struct emu_core *core,
                                 unsigned slot);
/** What lanes know, made when it is needed; NULL: no memory. */
struct race_lane *race_lanes_of(struct chk_race *race, struct race_block *b, struct race_warp *w);
uint32_t race_thread_of(const struct race_block *b, const struct race_warp *w, unsigned lane);
/** race_vclock_join at the present. */
void race_join(struct chk_race *race, struct race_vclock **into, struct race_vclock *other);
/** What lanes[warp] of a block did, and know of it beside what all do, as another learns it. NULL: nothing, or no
 *  memory. */
struct race_vclock *race_ordered_before(struct chk_race *race, const struct race_block *b, const uint64_t *lanes);
void race_gates_free(struct race_block *b);
/** Before a bar.arrive. */
void race_arrive(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site);
/** Lanes of a warp of a resident block that have not ended. */
uint64_t race_live(const struct race_block *b, const struct race_warp *w);
static inline bool race_range_is_deferring(const struct chk_race *race, struct race_range *r)
{
    if (r->epoch != race->shadow.epoch)
        race_range_begins(race, r);
    return r->keeps;
}
/** Is nothing known but ticks of block and warp? */
static inline bool race_is_plain(const struct race_block *b, const struct race_warp *w)
{
    return b->facts == NULL && w->lane == NULL && w->known == NULL && b->known == NULL &&
           b->pending[0] == NULL && b->pending[1] == NULL;
}
/** Has what runs no order but that of barriers, and is it one launch? */
static inline bool race_packed_simple(const struct chk_race *race)
{
    return race->grid_count == 1 && race->grids[0].code.calm && !race->grids[0].code.launches;
}
static inline void race_clock_advance(struct chk_race *race)
{
    race->now += race->now < RACE_MOST_TICKS; /* beyond: all is in order, nothing is found */
}
/** What `now` is behind so many more. */
static inline uint32_t race_ticks(const struct chk_race *race, uint32_t count)
{
    return count < RACE_MOST_TICKS - race->now ? race->now + count : RACE_MOST_TICKS;
}
static inline uint32_t race_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- the checker's own -------------------------------------------------------------------------- */

struct chk_race *chk_race_create(struct chk *chk);
void chk_race_destroy(struct chk_race *race);
bool chk_race_wants(const struct isa_insn *insn);
void chk_race_insn(struct chk_race *race, const struct emu_hook_site *site);
void chk_race_access(struct chk_race *race, const struct emu_hook_access *access);
void chk_race_block(struct chk_race *race, struct emu_core *core, unsigned slot, bool begins);
void chk_race_cta(struct chk_race *race, struct emu_core *core, unsigned slot, unsigned id,
                  const uint64_t *lanes);
void chk_race_warpsync(struct chk_race *race, struct emu_core *core, unsigned slot, unsigned warp,
                       uint64_t lanes);
/** Does nobody else look at accesses of this instruction? */
bool chk_race_alone(const struct chk *chk, const struct emu_program *program, uint32_t index);
/** A debugger has moved a lane. */
void chk_race_pc_edited(struct chk_race *race);
void chk_race_machine_event(struct chk_race *race, const struct emu_machine_event *life);
/** As chk_mark_uninitialised. */
void chk_race_mark_uninitialised(struct chk_race *race, uint64_t address, uint64_t bytes);

#endif
