/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of a cache: look-up, LRU replacement by time stamps, sectors, dirty bytes, requested lines. */
#include "timing/mem/tim_cache_priv.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NO_LINE 0
#define NO_MSHR UINT16_MAX
#define NO_WAITER UINT32_MAX

/* The members of a way that every access uses. Four ways fit in one cache line of the host. Sets with four ways are
 * therefore one cache line, so that an access waits for the host's memory only once. */
struct way {
    uint64_t tag;    /* line number + 1, or NO_LINE */
    uint8_t full;    /* sectors that are completely valid */
    uint8_t partial; /* sectors of which only the bytes in the mask `valid` of struct bytes are valid */
    uint8_t dirty;   /* sectors with bytes to write to the next level */
    uint8_t pending; /* sectors that have been requested and have not arrived */
    uint16_t mshr;   /* index of the line's MSHR, or NO_MSHR if no sector has been requested */
    uint16_t stamp;  /* time stamp of the last use; lines that were used earlier have smaller stamps */
};
enum { WAYS_A_LINE = 4 };
_Static_assert(WAYS_A_LINE * sizeof(struct way) == 64, "four ways are a cache line");
/** Valid bytes of the partial sectors of a way, and dirty bytes of its dirty sectors. Bits of other sectors are undefined. */
struct bytes {
    uint64_t valid[4], dirty[4];
};
struct mshr {
    uint32_t first, last; /* list of waiters, in order of arrival */
    uint16_t count;
    uint16_t next_free;
    bool doomed; /* tim_cache_evict() has evicted the requested line, so the line is removed when its waiters have been served */
};
struct waiter {
    uint32_t id;
    uint32_t next; /* next waiter of the line, or of the free list */
    uint8_t need;  /* sectors that are still missing */
};

struct tim_cache {
    struct tim_cache_shape shape;
    unsigned sets, line_shift, sector_count, words;
    size_t lines;
    unsigned all; /* set of all sectors of a line */
    uint16_t clock; /* the latest stamp */
    struct way *way; /* [set * ways + way] */
    uint16_t *owner; /* [set * ways + way] owner of the line */
    uint64_t *digest; /* [set * digest_words] one byte for each way: digest_of() of the last tag of the way */
    unsigned digest_words; /* words per set, or 0 if digests are not used, because a set fits in one cache line of the host */
    struct bytes *bytes;
    struct mshr *mshr;
    struct waiter *waiter;
    uint16_t free_mshr;
    uint32_t free_waiter; /* first element of the list of free waiters, or NO_WAITER if the list is empty */
    uint32_t fresh_waiter; /* elements of `waiter` from this index on have never been used */
    size_t waiters;        /* size of `waiter`: one for each access that may wait */
    unsigned mshrs_used;
    uint64_t sector_bytes[8][4];
    struct tim_divisor by_sets;
    bool sets_are_a_power;
    /* Two tables, indexed by a bit mask of 32-byte pieces of a line: the sectors that contain at least one of the pieces, and
     * the sectors that the pieces cover completely. */
    uint8_t fold[256];
    uint8_t whole[256];
};

struct tim_cache *tim_cache_create(const struct tim_cache_shape *shape)
{
    struct tim_cache *c = calloc(1, sizeof *c);
    size_t lines;

    assert(shape->line <= 256 && shape->sector >= 32 && shape->sector <= shape->line);
    assert(!shape->hash || (shape->bytes / (shape->line * shape->ways) & (shape->bytes / (shape->line * shape->ways) - 1)) == 0);
    assert((shape->line & (shape->line - 1)) == 0 && (shape->sector & (shape->sector - 1)) == 0);
    if (c == NULL)
        return NULL;
    c->shape = *shape;
    c->line_shift = lw_lowest(shape->line);
    c->sector_count = shape->line / shape->sector;
    c->words = (shape->line + 63) / 64;
    c->all = (unsigned)lw_mask(c->sector_count);
    for (unsigned set = 0; set < 256; set++)
        for (unsigned piece = 0; piece < 8; piece++)
            if (set >> piece & 1 && piece * 32 < shape->line)
                c->fold[set] |= (uint8_t)(1u << piece * 32 / shape->sector);
    for (unsigned set = 0; set < 256; set++)
        c->whole[set] = (uint8_t)(lw_mask(c->sector_count) & ~c->fold[~set & 0xff]);
    c->sets = shape->bytes / (shape->line * shape->ways);
    if (c->sets == 0)
        c->sets = 1;
    c->sets_are_a_power = (c->sets & (c->sets - 1)) == 0;
    tim_divisor_init(&c->by_sets, c->sets);
    lines = (size_t)c->sets * shape->ways;
    c->lines = lines;
    c->waiters = (size_t)shape->mshrs * shape->merges;
    c->way = aligned_alloc(64, (lines * sizeof *c->way + 63) / 64 * 64);
    c->owner = calloc(lines, sizeof *c->owner);
    c->digest_words = shape->ways > WAYS_A_LINE ? (shape->ways + 7) / 8 : 0;
    c->digest = calloc((size_t)c->sets * c->digest_words + 1, sizeof *c->digest);
    c->bytes = lw_reserve(lines * sizeof *c->bytes);
    c->mshr = calloc(c->shape.mshrs, sizeof *c->mshr);
    c->waiter = lw_reserve(c->waiters * sizeof *c->waiter);
    if (c->way == NULL || c->owner == NULL || c->digest == NULL || c->bytes == NULL ||
        c->mshr == NULL || c->waiter == NULL) {
        tim_cache_destroy(c);
        return NULL;
    }
    for (size_t i = 0; i < lines; i++)
        c->way[i] = (struct way){.tag = NO_LINE, .mshr = NO_MSHR};
    for (unsigned i = 0; i < c->shape.mshrs; i++)
        c->mshr[i].next_free = i + 1 < c->shape.mshrs ? (uint16_t)(i + 1) : NO_MSHR;
    c->free_waiter = NO_WAITER;
    for (unsigned s = 0; s < c->sector_count; s++)
        for (unsigned b = s * shape->sector; b < (s + 1) * shape->sector; b++)
            c->sector_bytes[s][b / 64] |= UINT64_C(1) << b % 64;
    return c;
}

void tim_cache_destroy(struct tim_cache *cache)
{
    if (cache == NULL)
        return;
    free(cache->way);
    free(cache->owner);
    free(cache->digest);
    lw_release(cache->bytes, cache->lines * sizeof *cache->bytes);
    free(cache->mshr);
    lw_release(cache->waiter, cache->waiters * sizeof *cache->waiter);
    free(cache);
}

bool tim_cache_result_is_dirty(const struct tim_cache_result *result)
{
    return result->evicted &&
           (result->dirty[0] | result->dirty[1] | result->dirty[2] | result->dirty[3]) != 0;
}

/* ---- masks --------------------------------------------------------------------------------- */

/** Returns a bit mask of the 32-byte pieces that contain a byte of @mask. @mask is one word of a line's byte mask. */
static inline unsigned pieces_of_word(uint64_t mask)
{
    return (unsigned)((uint32_t)mask != 0) | (unsigned)(mask >> 32 != 0) << 1;
}
/** Returns a bit mask of the 32-byte pieces of a line that contain a byte of @mask, the line's byte mask. */
static inline unsigned pieces_of(const struct tim_cache *c, const uint64_t mask[4])
{
    unsigned pieces = pieces_of_word(mask[0]);

    if (c->words > 1)
        pieces |= pieces_of_word(mask[1]) << 2;
    if (c->words > 2)
        pieces |= pieces_of_word(mask[2]) << 4 | pieces_of_word(mask[3]) << 6;
    return pieces;
}

unsigned tim_cache_sectors(const struct tim_cache *cache, const uint64_t mask[4])
{
    return cache->fold[pieces_of(cache, mask)];
}

/** Returns the sectors whose bytes are all in @mask. */
static unsigned whole_sectors(const struct tim_cache *c, const uint64_t mask[4])
{
    uint64_t rest[4] = {0};

    for (unsigned w = 0; w < c->words; w++)
        rest[w] = ~mask[w];
    return c->whole[~pieces_of(c, rest) & 0xff];
}

void tim_cache_sector_bytes(const struct tim_cache *cache, unsigned sectors, uint64_t out[4])
{
    memset(out, 0, 4 * sizeof out[0]);
    for (; sectors != 0; sectors &= sectors - 1)
        for (unsigned w = 0; w < 4; w++)
            out[w] |= cache->sector_bytes[lw_lowest(sectors)][w];
}

/** Returns the sectors in which way @index lacks a byte of @mask. */
static unsigned missing_sectors(const struct tim_cache *c, size_t index, const uint64_t mask[4])
{
    const struct way *way = &c->way[index];
    unsigned missing, partly;
    uint64_t left[4] = {0};

    if (way->full == c->all)
        return 0;
    missing = tim_cache_sectors(c, mask) & ~(unsigned)way->full;
    partly = missing & way->partial;
    if (partly == 0)
        return missing;
    for (unsigned w = 0; w < c->words; w++)
        left[w] = mask[w] & ~c->bytes[index].valid[w];
    return missing & ~(partly & ~tim_cache_sectors(c, left));
}

/** In byte mask @to, keeps the bits of sectors @have, adds the bits that @mask has in sectors @sectors, and clears all other
 *  bits. */
static void merge_bytes(const struct tim_cache *c, uint64_t to[4], unsigned have,
                        const uint64_t mask[4], unsigned sectors)
{
    uint64_t old[4], new[4];

    tim_cache_sector_bytes(c, have, old);
    tim_cache_sector_bytes(c, sectors, new);
    for (unsigned w = 0; w < c->words; w++)
        to[w] = (to[w] & old[w]) | (mask[w] & new[w]);
}

/** Sets @out to the bytes of byte mask @from that are in sectors @sectors. */
static void bytes_of(const struct tim_cache *c, const uint64_t from[4], unsigned sectors,
                     uint64_t out[4])
{
    tim_cache_sector_bytes(c, sectors, out);
    for (unsigned w = 0; w < 4; w++)
        out[w] &= from[w];
}

/** Marks bytes @mask of way @index as valid. */
static void add_valid(struct tim_cache *c, size_t index, const uint64_t mask[4])
{
    struct way *way = &c->way[index];
    unsigned touched = tim_cache_sectors(c, mask) & ~(unsigned)way->full;
    unsigned whole = touched & whole_sectors(c, mask);
    uint64_t there[4];

    way->full |= (uint8_t)whole;
    way->partial &= (uint8_t)~whole;
    touched &= ~whole;
    if (touched == 0)
        return;
    merge_bytes(c, c->bytes[index].valid, way->partial, mask, touched);
    way->partial |= (uint8_t)touched;
    bytes_of(c, c->bytes[index].valid, way->partial, there);
    whole = whole_sectors(c, there);
    way->full |= (uint8_t)whole;
    way->partial &= (uint8_t)~whole;
}

/* ---- look-up ------------------------------------------------------------------------------- */

/** Divides the line number into parts of as many bits as a set index has, and returns the exclusive or of the parts. Lines at a
 *  stride D that is a power of two thus use all sets: if there are N sets, N of the lines 0, D, 2D, ... map to different sets. */
static __attribute__((noinline)) unsigned hashed_set(const struct tim_cache *c, uint64_t number)
{
    unsigned bits = lw_lowest(c->sets), set = 0;

    for (; number != 0 && bits != 0; number >>= bits)
        set ^= (unsigned)number & (c->sets - 1);
    return set;
}

static inline unsigned set_of(const struct tim_cache *c, uint64_t line)
{
    uint64_t number = line >> c->line_shift;

    if (c->shape.hash)
        return hashed_set(c, number);
    return (unsigned)(c->sets_are_a_power ? number & (c->sets - 1)
                                          : number - tim_divide(&c->by_sets, number) * c->sets);
}

/** Returns a hash of a tag in one byte. Adjacent lines have different hashes. */
static inline uint8_t digest_of(uint64_t tag)
{
    return (uint8_t)((tag * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/** Compares the hash of a tag with the eight hashes in word @word of a set's hashes. In the result the top bit of each byte
 *  with an equal hash is set; top bits of other bytes may be set, too. */
static inline uint64_t alike(const uint64_t *digest, unsigned word, uint64_t tag)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t other = digest[word] ^ digest_of(tag) * ones;

    return (other - ones) & ~other & ones << 7; /* finds zero bytes */
}

/** Finds the way of a tag, as find_in() does, in a set that spans several cache lines of the host. Reads only ways whose hash
 *  matches. */
static size_t find_by_digest(const struct tim_cache *c, unsigned set, uint64_t tag)
{
    const uint64_t *digest = &c->digest[(size_t)set * c->digest_words];

    for (unsigned w = 0; w < c->digest_words; w++) {
        for (LW_EACH_BIT(b, alike(digest, w, tag))) {
            unsigned way = w * 8 + (unsigned)b / 8;
            size_t index = (size_t)set * c->shape.ways + way;

            if (way < c->shape.ways && c->way[index].tag == tag)
                return index;
        }
    }
    return SIZE_MAX;
}

/** Returns the index in `way` of the line's way, which is in set @set, or SIZE_MAX if the line is absent. */
static inline size_t find_in(const struct tim_cache *c, unsigned set, uint64_t line)
{
    uint64_t tag = (line >> c->line_shift) + 1;
    size_t start = (size_t)set * c->shape.ways;

    if (c->digest_words != 0)
        return find_by_digest(c, set, tag);
    for (size_t i = start; i < start + c->shape.ways; i++)
        if (c->way[i].tag == tag)
            return i;
    return SIZE_MAX;
}

static inline size_t find(const struct tim_cache *c, uint64_t line)
{
    return find_in(c, set_of(c, line), line);
}

/** Returns the first empty way of a set. If there is none, returns the least recently used way without requested sectors, or
 *  SIZE_MAX if all ways have requested sectors. */
static inline size_t find_victim(const struct tim_cache *c, unsigned set)
{
    size_t start = (size_t)set * c->shape.ways, best = SIZE_MAX;
    unsigned oldest = UINT_MAX;

    for (size_t i = start; i < start + c->shape.ways; i++) {
        const struct way *way = &c->way[i];

        if (way->tag == NO_LINE)
            return i;
        if (way->stamp < oldest && way->pending == 0) {
            oldest = way->stamp;
            best = i;
        }
    }
    return best;
}

static void place(const struct tim_cache *c, unsigned set, size_t index,
                  struct tim_cache_result *out)
{
    out->set = set;
    out->way = (unsigned)(index - (size_t)set * c->shape.ways);
    out->index = index;
}

/** Describes in *out the line that would be evicted if an absent line took way @index. */
static void describe_victim(const struct tim_cache *c, unsigned set, size_t index,
                            struct tim_cache_result *out)
{
    const struct way *way = &c->way[index];

    place(c, set, index, out);
    if (c->way[index].tag == NO_LINE)
        return;
    out->evicted = true;
    out->victim = (c->way[index].tag - 1) << c->line_shift;
    out->victim_owner = c->owner[index];
    if (way->dirty != 0)
        bytes_of(c, c->bytes[index].dirty, way->dirty, out->dirty);
    else
        memset(out->dirty, 0, sizeof out->dirty);
}

static void begin_result(struct tim_cache_result *out)
{
    out->answer = TIM_CACHE_HIT;
    out->set = out->way = out->fetch = out->missing = 0;
    out->evicted = false;
    out->owner = out->victim_owner = 0;
    out->index = SIZE_MAX;
}

void tim_cache_lookup(const struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    struct tim_cache_result *out)
{
    const struct tim_cache *c = cache;
    unsigned set = set_of(c, line), missing;
    size_t index = find_in(c, set, line);
    const struct way *way;

    begin_result(out);
    if (index == SIZE_MAX) {
        if (c->free_mshr == NO_MSHR) {
            out->answer = TIM_CACHE_NO_MSHR;
            return;
        }
        index = find_victim(c, set);
        if (index == SIZE_MAX) {
            out->answer = TIM_CACHE_NO_WAY;
            return;
        }
        out->answer = TIM_CACHE_MISS;
        out->fetch = out->missing = tim_cache_sectors(c, mask);
        describe_victim(c, set, index, out);
        return;
    }
    way = &c->way[index];
    missing = out->missing = missing_sectors(c, index, mask);
    place(c, set, index, out);
    if (missing == 0) {
        out->owner = c->owner[index];
    } else if (way->pending != 0) {
        if (c->mshr[way->mshr].count >= c->shape.merges) {
            out->answer = TIM_CACHE_NO_MERGE;
            return;
        }
        out->answer = TIM_CACHE_MERGE;
        out->fetch = missing & ~(unsigned)way->pending;
    } else if (c->free_mshr == NO_MSHR) {
        out->answer = TIM_CACHE_NO_MSHR;
    } else {
        out->answer = TIM_CACHE_MISS;
        out->fetch = missing;
    }
}

/* ---- changes ------------------------------------------------------------------------------- */

/** Called before the clock overflows. Gives the ways of each set new stamps from 1 on, in the same order. */
static void renumber(struct tim_cache *c)
{
    size_t lines = (size_t)c->sets * c->shape.ways;

    for (size_t start = 0; start < lines; start += c->shape.ways) {
        uint16_t rank[64];

        for (unsigned a = 0; a < c->shape.ways; a++) {
            rank[a] = 1;
            for (unsigned b = 0; b < c->shape.ways; b++)
                rank[a] += c->way[start + b].stamp < c->way[start + a].stamp;
        }
        for (unsigned a = 0; a < c->shape.ways; a++)
            c->way[start + a].stamp = rank[a];
    }
    c->clock = (uint16_t)(c->shape.ways + 1);
}

static inline void touch(struct tim_cache *c, size_t index)
{
    if (c->clock == UINT16_MAX)
        renumber(c);
    c->way[index].stamp = ++c->clock;
}

static void add_waiter(struct tim_cache *c, struct way *way, uint32_t id, unsigned need)
{
    struct mshr *m = &c->mshr[way->mshr];
    uint32_t slot = c->free_waiter != NO_WAITER ? c->free_waiter : c->fresh_waiter++;
    struct waiter *w = &c->waiter[slot];

    assert(slot < c->waiters);
    if (c->free_waiter != NO_WAITER)
        c->free_waiter = w->next;
    *w = (struct waiter){.id = id, .next = NO_WAITER, .need = (uint8_t)need};
    if (m->count == 0)
        m->first = slot;
    else
        c->waiter[m->last].next = slot;
    m->last = slot;
    m->count++;
}

/** Assigns way @index to @line, without valid bytes. */
static void take_way(struct tim_cache *c, size_t index, uint64_t line, uint16_t owner)
{
    const uint64_t tag = (line >> c->line_shift) + 1;

    if (c->digest_words != 0) {
        size_t set = index / c->shape.ways, way = index % c->shape.ways;
        uint64_t *digest = &c->digest[set * c->digest_words + way / 8];

        *digest = (*digest & ~(UINT64_C(0xff) << way % 8 * 8)) | (uint64_t)digest_of(tag) << way % 8 * 8;
    }
    c->way[index] = (struct way){.tag = tag, .mshr = NO_MSHR, .stamp = c->way[index].stamp};
    c->owner[index] = owner;
}

void tim_cache_go(struct tim_cache *cache, uint64_t line, uint32_t waiter, uint16_t owner,
                  const struct tim_cache_result *looked)
{
    size_t index = looked->index;
    struct way *way = &cache->way[index];

    switch (looked->answer) {
    case TIM_CACHE_HIT:
        touch(cache, index);
        return;
    case TIM_CACHE_MISS:
        if (cache->way[index].tag != (line >> cache->line_shift) + 1)
            take_way(cache, index, line, owner);
        touch(cache, index);
        way->mshr = cache->free_mshr;
        cache->free_mshr = cache->mshr[way->mshr].next_free;
        cache->mshr[way->mshr].count = 0;
        cache->mshr[way->mshr].doomed = false;
        cache->mshrs_used++;
        break;
    case TIM_CACHE_MERGE:
        break;
    default:
        return;
    }
    way->pending |= (uint8_t)looked->fetch;
    add_waiter(cache, way, waiter, looked->missing);
}

bool tim_cache_has(const struct tim_cache *cache, uint64_t line)
{
    return find(cache, line) != SIZE_MAX;
}

void tim_cache_demote(struct tim_cache *cache, const struct tim_cache_result *out)
{
    cache->way[out->index].stamp = 0; /* stamps of used lines are larger */
}

bool tim_cache_read_whole(struct tim_cache *cache, uint64_t line)
{
    size_t index = find(cache, line);

    if (index == SIZE_MAX || cache->way[index].full != cache->all)
        return false;
    touch(cache, index);
    return true;
}

bool tim_cache_read_hit(struct tim_cache *cache, uint64_t line, const uint64_t mask[4])
{
    size_t index = find(cache, line);

    if (index == SIZE_MAX || missing_sectors(cache, index, mask) != 0)
        return false;
    touch(cache, index);
    return true;
}

void tim_cache_read(struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    uint32_t waiter, uint16_t owner, struct tim_cache_result *out)
{
    tim_cache_lookup(cache, line, mask, out);
    if (!tim_cache_is_blocked(out->answer))
        tim_cache_go(cache, line, waiter, owner, out);
}

void tim_cache_lookup_write(const struct tim_cache *cache, uint64_t line, bool allocate,
                          struct tim_cache_result *out)
{
    const struct tim_cache *c = cache;
    unsigned set = set_of(c, line);
    size_t index = find_in(c, set, line);

    begin_result(out);
    if (index != SIZE_MAX) {
        out->owner = c->owner[index];
        place(c, set, index, out);
        return;
    }
    out->answer = TIM_CACHE_MISS;
    if (!allocate)
        return;
    index = find_victim(c, set);
    if (index == SIZE_MAX)
        out->answer = TIM_CACHE_NO_WAY;
    else
        describe_victim(c, set, index, out);
}

void tim_cache_write(struct tim_cache *cache, uint64_t line, const uint64_t mask[4], bool allocate,
                     bool dirty, uint16_t owner, struct tim_cache_result *out)
{
    struct way *way;
    size_t index;

    tim_cache_lookup_write(cache, line, allocate, out);
    index = out->index;
    if (index == SIZE_MAX)
        return;
    if (out->answer == TIM_CACHE_MISS)
        take_way(cache, index, line, owner);
    way = &cache->way[index];
    add_valid(cache, index, mask);
    if (dirty) {
        unsigned sectors = tim_cache_sectors(cache, mask);

        merge_bytes(cache, cache->bytes[index].dirty, way->dirty, mask, sectors);
        way->dirty |= (uint8_t)sectors;
        if (way->pending != 0)
            cache->mshr[way->mshr].doomed = false; /* the line must not be removed, because it now has dirty bytes */
    }
    touch(cache, index);
}

unsigned tim_cache_fill(struct tim_cache *cache, uint64_t line, unsigned sectors,
                        uint32_t *waiters)
{
    size_t index = find(cache, line);
    struct way *way;
    struct mshr *m;
    uint32_t *link, last = NO_WAITER;
    unsigned released = 0;

    assert(index != SIZE_MAX);
    way = &cache->way[index];
    assert((sectors & ~(unsigned)way->pending) == 0 && sectors != 0);
    m = &cache->mshr[way->mshr];
    way->full |= (uint8_t)sectors;
    way->partial &= (uint8_t)~sectors;
    way->pending &= (uint8_t)~sectors;
    link = &m->first;
    for (unsigned left = m->count; left > 0; left--) {
        uint32_t slot = *link;
        struct waiter *w = &cache->waiter[slot];

        w->need &= (uint8_t)~sectors;
        if (w->need != 0) {
            last = slot;
            link = &w->next;
            continue;
        }
        waiters[released++] = w->id;
        *link = w->next;
        w->next = cache->free_waiter;
        cache->free_waiter = slot;
        m->count--;
    }
    m->last = last;
    if (way->pending == 0) {
        assert(m->count == 0);
        m->next_free = cache->free_mshr;
        cache->free_mshr = way->mshr;
        cache->mshrs_used--;
        way->mshr = NO_MSHR;
        if (m->doomed)
            cache->way[index].tag = NO_LINE;
    }
    return released;
}

static void drop(struct tim_cache *c, size_t index)
{
    struct way *way = &c->way[index];

    if (way->pending == 0) {
        c->way[index].tag = NO_LINE;
        return;
    }
    way->full = way->partial = way->dirty = 0;
    c->mshr[way->mshr].doomed = true;
}

bool tim_cache_evict(struct tim_cache *cache, uint64_t line)
{
    size_t index = find(cache, line);

    if (index == SIZE_MAX)
        return false;
    drop(cache, index);
    return true;
}

void tim_cache_invalidate(struct tim_cache *cache, uint64_t end)
{
    for (size_t index = 0; index < (size_t)cache->sets * cache->shape.ways; index++) {
        struct way *way = &cache->way[index];

        if (way->tag != NO_LINE && (way->tag - 1) << cache->line_shift < end && way->pending == 0 &&
            way->dirty == 0)
            drop(cache, index);
    }
}

/* ---- for the shell and tests --------------------------------------------------------------- */

unsigned tim_cache_sets(const struct tim_cache *cache)
{
    return cache->sets;
}

unsigned tim_cache_set(const struct tim_cache *cache, uint64_t line)
{
    return set_of(cache, line);
}

unsigned tim_cache_mshrs_used(const struct tim_cache *cache)
{
    return cache->mshrs_used;
}

bool tim_cache_line(const struct tim_cache *cache, unsigned set, unsigned way,
                    struct tim_cache_line *out)
{
    size_t start = (size_t)set * cache->shape.ways, index = start + way;
    const struct way *w = &cache->way[index];

    if (cache->way[index].tag == NO_LINE)
        return false;
    *out = (struct tim_cache_line){
        .line = (cache->way[index].tag - 1) << cache->line_shift,
        .pending = w->pending,
        .waiters = w->pending != 0 ? cache->mshr[w->mshr].count : 0,
        .owner = cache->owner[index],
    };
    uint64_t full[4];

    tim_cache_sector_bytes(cache, w->full, full);
    bytes_of(cache, cache->bytes[index].valid, w->partial, out->valid);
    bytes_of(cache, cache->bytes[index].dirty, w->dirty, out->dirty);
    for (unsigned k = 0; k < 4; k++)
        out->valid[k] |= full[k];
    for (size_t i = start; i < start + cache->shape.ways; i++)
        out->age += cache->way[i].tag != NO_LINE && cache->way[i].stamp > cache->way[index].stamp;
    return true;
}
