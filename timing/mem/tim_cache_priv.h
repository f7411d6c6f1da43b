/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of a set-associative cache with LRU replacement, sectors, byte masks, and MSHRs with the accesses that wait
 * for each line. The cache holds no data; emu has the values. L1, constant, texture and instruction caches of cores
 * and the L2 slices all use this implementation.
 *
 * A mask of bytes has four words; bit 0 of the first word is the first byte of the line. In a mask of sectors, bit 0 is
 * the first sector of the line. No memory is allocated after creation.
 */
#ifndef TIM_CACHE_PRIV_H
#define TIM_CACHE_PRIV_H

#include "timing/tim_priv.h"

/** Divides by a fixed number, by a multiplication if that gives the exact quotient (for x below `limit`). */
struct tim_divisor {
    uint64_t by, magic, limit;
};
static inline void tim_divisor_init(struct tim_divisor *d, uint64_t by)
{
    d->by = by;
    d->magic = UINT64_MAX / by + 1; /* magic is 2^64 / by + e with 0 < e <= 1, so the quotient of x is exact if x * by < 2^64 */
    d->limit = by == 1 ? 0 : UINT64_MAX / by;
}
static inline uint64_t tim_divide(const struct tim_divisor *d, uint64_t x)
{
    return x < d->limit ? (uint64_t)((unsigned __int128)x * d->magic >> 64) : x / d->by;
}

struct tim_cache_shape {
    unsigned bytes, line, sector, ways; /* line and sector are powers of two, sector <= line <= 256 */
    unsigned mshrs;                     /* maximum number of requested lines */
    unsigned merges;                    /* maximum number of accesses that wait for one line, including the first */
    bool hash; /* the index of a line's set is an exclusive or of parts of the line number; the number of sets must
                * be a power of two */
};

/** Creates an empty cache. shape.bytes is rounded down to whole sets, but to at least one set. Returns NULL if memory is
 *  short. */
struct tim_cache *tim_cache_create(const struct tim_cache_shape *shape);
void tim_cache_destroy(struct tim_cache *cache);

enum tim_cache_answer {
    TIM_CACHE_HIT,
    TIM_CACHE_MISS,     /* read: the caller must request the sectors `fetch` from the next level; write: the line is absent */
    TIM_CACHE_MERGE,    /* read: the line has already been requested; the caller must also request the sectors `fetch` */
    /* blocked: the access cannot be made now, and has changed nothing */
    TIM_CACHE_NO_MSHR,  /* all MSHRs are in use */
    TIM_CACHE_NO_MERGE, /* as many accesses as allowed already wait for the line */
    TIM_CACHE_NO_WAY    /* all ways of the set have requested lines */
};
static inline bool tim_cache_is_blocked(enum tim_cache_answer answer)
{
    return answer >= TIM_CACHE_NO_MSHR;
}

/** Effect of an access; for tim_cache_lookup() and tim_cache_lookup_write() the effect that the access would have. */
struct tim_cache_result {
    enum tim_cache_answer answer;
    unsigned set, way;      /* place of the line; undefined for a blocked access, and for a write to an absent line */
    unsigned fetch;         /* set of sectors to request */
    unsigned missing;       /* reads: set of absent sectors, requested or not */
    bool evicted;           /* the access evicted another line */
    uint16_t owner;         /* hit: the owner of the line */
    uint16_t victim_owner;  /* evicted: the owner of the evicted line */
    uint64_t victim;        /* evicted: address of the evicted line */
    uint64_t dirty[4];      /* evicted: mask of the bytes that must be written to the next level; the mask may be empty */
    size_t index;           /* internal to the cache */
};
bool tim_cache_result_is_dirty(const struct tim_cache_result *result);

/** Sets *out to the result that tim_cache_read() would give now, and changes nothing. */
void tim_cache_lookup(const struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    struct tim_cache_result *out);
/** Makes the read whose look-up gave @looked, as tim_cache_read() does. The result of the look-up must not be "blocked", and the
 *  cache must not have changed since the look-up. */
void tim_cache_go(struct tim_cache *cache, uint64_t line, uint32_t waiter, uint16_t owner,
                  const struct tim_cache_result *looked);
/** Returns whether a way has the line, or waits for it. */
bool tim_cache_has(const struct tim_cache *cache, uint64_t line);
/** Makes the line of an access with result @out the least recently used line of its set. */
void tim_cache_demote(struct tim_cache *cache, const struct tim_cache_result *out);
/** Reads bytes @mask of the line at @line (a multiple of the line size; @mask is not empty). A miss takes a way and
 *  an MSHR. A miss and a merge add @waiter to the waiters of the line; tim_cache_fill() returns @waiter when all bytes of
 *  @mask are present. A hit and a miss make the line the youngest of the set; a merge does not. A blocked access
 *  changes nothing.
 *  @owner: the warp slot of the access. On a miss this slot becomes the owner of the line, which policies use. */
void tim_cache_read(struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    uint32_t waiter, uint16_t owner, struct tim_cache_result *out);

/** Makes a read as tim_cache_read() does, but only if it is a hit. Returns true for a hit; otherwise changes nothing. */
bool tim_cache_read_hit(struct tim_cache *cache, uint64_t line, const uint64_t mask[4]);
/** Makes a read as tim_cache_read_hit() does, but only if the whole line is present. Otherwise changes nothing and returns
 *  false, even if all requested bytes are present. */
bool tim_cache_read_whole(struct tim_cache *cache, uint64_t line);

/** Writes bytes @mask. If the line is present or has been requested, the bytes become valid, and the access is a hit.
 *  @allocate if the line is absent, the write allocates a way for it, in which only the written bytes are valid; the answer is
 *             TIM_CACHE_MISS or TIM_CACHE_NO_WAY. Without @allocate an absent line remains absent; the answer is
 *             TIM_CACHE_MISS
 *  @dirty     the bytes must be written to the next level when the line is evicted (write-back)
 *  tim_cache_lookup_write() gives the result that tim_cache_write() would give now, and changes nothing. */
void tim_cache_lookup_write(const struct tim_cache *cache, uint64_t line, bool allocate,
                          struct tim_cache_result *out);
void tim_cache_write(struct tim_cache *cache, uint64_t line, const uint64_t mask[4], bool allocate,
                     bool dirty, uint16_t owner, struct tim_cache_result *out);

/** Makes sectors @sectors of a requested line valid, because they have arrived. Stores to @waiters the waiters that lack no
 *  more sectors, in the order in which they were added (at most shape.merges), and returns their number. The MSHR becomes
 *  free when no requested sector is outstanding. */
unsigned tim_cache_fill(struct tim_cache *cache, uint64_t line, unsigned sectors,
                        uint32_t *waiters);

/** Evicts the line without a write to the next level. If the line has been requested and has not arrived, it is evicted after
 *  it has served its waiters. Returns false if the line was absent. */
bool tim_cache_evict(struct tim_cache *cache, uint64_t line);


/** Evicts all lines below address @end that have no dirty bytes and have not been requested. */
void tim_cache_invalidate(struct tim_cache *cache, uint64_t end);

/** Returns the sectors that contain bytes of @mask. */
unsigned tim_cache_sectors(const struct tim_cache *cache, const uint64_t mask[4]);
/** Sets @out to the bytes of @sectors. */
void tim_cache_sector_bytes(const struct tim_cache *cache, unsigned sectors, uint64_t out[4]);

/* ---- for the shell and tests ------------------------------------------------------------- */

unsigned tim_cache_sets(const struct tim_cache *cache);
unsigned tim_cache_set(const struct tim_cache *cache, uint64_t line);
unsigned tim_cache_mshrs_used(const struct tim_cache *cache);
struct tim_cache_line {
    uint64_t line;
    uint64_t valid[4], dirty[4];
    unsigned pending; /* requested sectors */
    unsigned waiters;
    unsigned age;     /* number of lines in the set that were used more recently than this line */
    uint16_t owner;
};
/** Gets the line in way @way of set @set. Returns false if the way is empty. */
bool tim_cache_line(const struct tim_cache *cache, unsigned set, unsigned way,
                    struct tim_cache_line *out);

#endif
