/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of a set-associative cache with LRU, sectors, byte masks and the lines that are under way
 * (MSHRs with the accesses that wait for them). No values: those are emu's. L1, constant, texture
 * and instruction caches of cores and the L2 slices are all this.
 *
 * Masks of bytes have four words and count from the first byte of the line; masks of sectors count
 * sectors of the shape. Nothing is allocated after creation.
 */
#ifndef TIM_CACHE_PRIV_H
#define TIM_CACHE_PRIV_H

#include "timing/tim_priv.h"

/** Division by a number that is known: a product, while the quotient is exact so. */
struct tim_divisor {
    uint64_t by, magic, limit;
};
static inline void tim_divisor_init(struct tim_divisor *d, uint64_t by)
{
    d->by = by;
    d->magic = UINT64_MAX / by + 1; /* 2^64 / by + e, e <= 1: exact for x * by < 2^64 */
    d->limit = by == 1 ? 0 : UINT64_MAX / by;
}
static inline uint64_t tim_divide(const struct tim_divisor *d, uint64_t x)
{
    return x < d->limit ? (uint64_t)((unsigned __int128)x * d->magic >> 64) : x / d->by;
}

struct tim_cache_shape {
    unsigned bytes, line, sector, ways; /* line, sector: powers of two, sector <= line <= 256 */
    unsigned mshrs;                     /* lines under way */
    unsigned merges;                    /* accesses that wait for one line, the first included */
    bool hash;                          /* sets by the exclusive or of the bits of the line number; sets a power of two */
};

/** NULL: no memory. bytes is rounded down to whole sets, one at least. */
struct tim_cache *tim_cache_create(const struct tim_cache_shape *shape);
void tim_cache_destroy(struct tim_cache *cache);

enum tim_cache_answer {
    TIM_CACHE_HIT,
    TIM_CACHE_MISS,     /* read: `fetch` is to be requested below; write: not there */
    TIM_CACHE_MERGE,    /* read: the line is under way; `fetch` is 0 unless sectors are added */
    TIM_CACHE_NO_MSHR,  /* blocked, nothing has changed: all MSHRs are taken */
    TIM_CACHE_NO_MERGE, /*   as many accesses wait for the line as may */
    TIM_CACHE_NO_WAY    /*   every way of the set is under way */
};
static inline bool tim_cache_is_blocked(enum tim_cache_answer answer)
{
    return answer >= TIM_CACHE_NO_MSHR;
}

/** What an access did, or (tim_cache_lookup, tim_cache_lookup_write) would do. */
struct tim_cache_result {
    enum tim_cache_answer answer;
    unsigned set, way;      /* not of a blocked access, nor of a write that was not there */
    unsigned fetch;         /* sectors to be requested, */
    unsigned missing;       /* of a look to read: those that are not there */
    bool evicted;           /* another line went */
    uint16_t owner;         /* a hit: who brought the line (its `owner` then) */
    uint16_t victim_owner;  /* evicted: who brought that line */
    uint64_t victim;        /* evicted: its address */
    uint64_t dirty[4];      /* evicted: bytes of it that must be written below; often none */
    size_t index;           /* the cache's own */
};
bool tim_cache_result_is_dirty(const struct tim_cache_result *result);

/** What tim_cache_read would answer now. Changes nothing. */
void tim_cache_lookup(const struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    struct tim_cache_result *out);
/** What tim_cache_read does after a lookup that was not blocked, and after which nothing has changed. */
void tim_cache_go(struct tim_cache *cache, uint64_t line, uint32_t waiter, uint16_t owner,
                  const struct tim_cache_result *looked);
/** Read bytes @mask of the line at @line (a multiple of the line size; @mask is not empty).
 *  A miss takes a way and an MSHR; a miss and a merge put @waiter in the line's list, and
 *  tim_cache_fill hands it back when all its bytes are there. A hit and a miss make the line the
 *  set's youngest, a merge does not; a blocked access changes nothing.
 *  @owner  who brings the line: a warp slot, for policies; kept with the line */
void tim_cache_read(struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    uint32_t waiter, uint16_t owner, struct tim_cache_result *out);

/** tim_cache_read, if that is a hit; else nothing. True: it was. */
bool tim_cache_read_hit(struct tim_cache *cache, uint64_t line, const uint64_t mask[4]);
/** The same of whatever bytes of a line all of which is there; false also where it may be a hit. */
bool tim_cache_read_whole(struct tim_cache *cache, uint64_t line);

/** Write bytes @mask. A line that is there (under way, too) has them from now on; hit.
 *  @allocate  else a way is taken without a read (bytes are valid singly); answer MISS, or TIM_CACHE_NO_WAY.
 *             Without it an absent line is left so; answer MISS
 *  @dirty     the bytes are to be written below when the line goes (write-back) */
void tim_cache_lookup_write(const struct tim_cache *cache, uint64_t line, bool allocate,
                          struct tim_cache_result *out);
void tim_cache_write(struct tim_cache *cache, uint64_t line, const uint64_t mask[4], bool allocate,
                     bool dirty, uint16_t owner, struct tim_cache_result *out);

/** Sectors of a line under way have arrived. Their waiters, in order of arrival, go to @waiters
 *  (room for shape.merges); returns their number. When no sector is missing the MSHR is free. */
unsigned tim_cache_fill(struct tim_cache *cache, uint64_t line, unsigned sectors,
                        uint32_t *waiters);

/** The line goes, without a write below. One under way serves its waiters first. False: it was not
 *  there. */
bool tim_cache_evict(struct tim_cache *cache, uint64_t line);


/** All lines below address @end go that have no dirty bytes and are not under way. */
void tim_cache_invalidate(struct tim_cache *cache, uint64_t end);

/** Sectors that @mask touches, and the bytes of sectors. */
unsigned tim_cache_sectors(const struct tim_cache *cache, const uint64_t mask[4]);
void tim_cache_sector_bytes(const struct tim_cache *cache, unsigned sectors, uint64_t out[4]);

/* ---- for the shell and tests ------------------------------------------------------------- */

unsigned tim_cache_sets(const struct tim_cache *cache);
unsigned tim_cache_set(const struct tim_cache *cache, uint64_t line);
unsigned tim_cache_mshrs_used(const struct tim_cache *cache);
struct tim_cache_line {
    uint64_t line;
    uint64_t valid[4], dirty[4];
    unsigned pending; /* sectors under way */
    unsigned waiters;
    unsigned age;     /* lines of the set that were used later */
    uint16_t owner;
};
/** False: the way is empty. */
bool tim_cache_line(const struct tim_cache *cache, unsigned set, unsigned way,
                    struct tim_cache_line *out);

#endif
