/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of a cache: look-up, LRU by stamps, sectors, dirty bytes, and the lines under way. */
#include "timing/core/tim_cache_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_LINE 0
#define NO_MSHR UINT16_MAX
#define NO_WAITER UINT32_MAX

struct way {
    uint64_t valid[4], dirty[4]; /* bytes; dirty is a part of valid */
    uint16_t mshr;               /* NO_MSHR: nothing is under way */
    uint16_t owner;
    bool doomed; /* evicted while under way: goes when its waiters have been served */
};
struct mshr {
    uint32_t first, last; /* waiters, in order of arrival */
    uint16_t count;
    uint16_t next_free;
};
struct waiter {
    uint32_t id;
    uint32_t next; /* also of the free list */
    uint8_t need;  /* sectors that are not there yet */
};

struct tim_cache {
    struct tim_cache_shape shape;
    unsigned sets, line_shift, sector_count, words;
    uint32_t clock; /* of stamps */
    uint64_t *tag;  /* [set * ways + way]: line number + 1, or NO_LINE */
    uint32_t *stamp;
    uint8_t *pending; /* sectors under way */
    struct way *way;
    struct mshr *mshr;
    struct waiter *waiter;
    uint16_t free_mshr;
    uint32_t free_waiter; /* one for each access that may wait: never short */
    unsigned mshrs_used;
    uint64_t sector_bytes[8][4];
    uint8_t fold[256]; /* pieces of 32 bytes, a set: the sectors that have them */
};

struct tim_cache *tim_cache_create(const struct tim_cache_shape *shape)
{
    struct tim_cache *c = calloc(1, sizeof *c);
    size_t lines, waiters;

    assert(shape->line <= 256 && shape->sector >= 32 && shape->sector <= shape->line);
    assert((shape->line & (shape->line - 1)) == 0 && (shape->sector & (shape->sector - 1)) == 0);
    if (c == NULL)
        return NULL;
    c->shape = *shape;
    c->line_shift = lw_lowest(shape->line);
    c->sector_count = shape->line / shape->sector;
    c->words = (shape->line + 63) / 64;
    for (unsigned set = 0; set < 256; set++)
        for (unsigned piece = 0; piece < 8; piece++)
            if (set >> piece & 1 && piece * 32 < shape->line)
                c->fold[set] |= (uint8_t)(1u << piece * 32 / shape->sector);
    c->sets = shape->bytes / (shape->line * shape->ways);
    if (c->sets == 0)
        c->sets = 1;
    lines = (size_t)c->sets * shape->ways;
    waiters = (size_t)shape->mshrs * shape->merges;
    c->tag = calloc(lines, sizeof *c->tag);
    c->stamp = calloc(lines, sizeof *c->stamp);
    c->pending = calloc(lines, sizeof *c->pending);
    c->way = calloc(lines, sizeof *c->way);
    c->mshr = calloc(c->shape.mshrs, sizeof *c->mshr);
    c->waiter = calloc(waiters, sizeof *c->waiter);
    if (c->tag == NULL || c->stamp == NULL || c->pending == NULL || c->way == NULL ||
        c->mshr == NULL || c->waiter == NULL) {
        tim_cache_destroy(c);
        return NULL;
    }
    for (size_t i = 0; i < lines; i++)
        c->way[i].mshr = NO_MSHR;
    for (unsigned i = 0; i < c->shape.mshrs; i++)
        c->mshr[i].next_free = i + 1 < c->shape.mshrs ? (uint16_t)(i + 1) : NO_MSHR;
    for (size_t i = 0; i < waiters; i++)
        c->waiter[i].next = i + 1 < waiters ? (uint32_t)(i + 1) : NO_WAITER;
    for (unsigned s = 0; s < c->sector_count; s++)
        for (unsigned b = s * shape->sector; b < (s + 1) * shape->sector; b++)
            c->sector_bytes[s][b / 64] |= UINT64_C(1) << b % 64;
    return c;
}

void tim_cache_destroy(struct tim_cache *cache)
{
    if (cache == NULL)
        return;
    free(cache->tag);
    free(cache->stamp);
    free(cache->pending);
    free(cache->way);
    free(cache->mshr);
    free(cache->waiter);
    free(cache);
}

bool tim_cache_result_is_dirty(const struct tim_cache_result *result)
{
    return result->evicted &&
           (result->dirty[0] | result->dirty[1] | result->dirty[2] | result->dirty[3]) != 0;
}

/* ---- masks --------------------------------------------------------------------------------- */

/** Sectors with a byte in @mask that is not in @valid (NULL: none is). */
static unsigned missing_sectors(const struct tim_cache *c, const uint64_t mask[4],
                                const uint64_t *valid)
{
    unsigned pieces = 0;

    for (unsigned w = 0; w < c->words; w++) {
        uint64_t left = valid == NULL ? mask[w] : mask[w] & ~valid[w];

        pieces |= ((left & UINT32_MAX) != 0 ? 1u : 0u) << 2 * w |
                  (left >> 32 != 0 ? 2u : 0u) << 2 * w;
    }
    return c->fold[pieces];
}

unsigned tim_cache_sectors(const struct tim_cache *cache, const uint64_t mask[4])
{
    return missing_sectors(cache, mask, NULL);
}

void tim_cache_sector_bytes(const struct tim_cache *cache, unsigned sectors, uint64_t out[4])
{
    memset(out, 0, 4 * sizeof out[0]);
    for (; sectors != 0; sectors &= sectors - 1)
        for (unsigned w = 0; w < 4; w++)
            out[w] |= cache->sector_bytes[lw_lowest(sectors)][w];
}

/* ---- look-up ------------------------------------------------------------------------------- */

static size_t set_start(const struct tim_cache *c, uint64_t line)
{
    uint64_t number = line >> c->line_shift;

    return (c->sets & (c->sets - 1)) == 0 ? (number & (c->sets - 1)) * c->shape.ways
                                          : number % c->sets * c->shape.ways;
}

/** Index of the line's way, or SIZE_MAX. */
static size_t find(const struct tim_cache *c, uint64_t line)
{
    uint64_t tag = (line >> c->line_shift) + 1;
    size_t start = set_start(c, line);

    for (size_t i = start; i < start + c->shape.ways; i++)
        if (c->tag[i] == tag)
            return i;
    return SIZE_MAX;
}

/** The first empty way of the line's set, else the oldest that is not under way, else SIZE_MAX. */
static size_t find_victim(const struct tim_cache *c, uint64_t line)
{
    size_t start = set_start(c, line), best = SIZE_MAX;

    for (size_t i = start; i < start + c->shape.ways; i++) {
        if (c->tag[i] == NO_LINE)
            return i;
        if (c->pending[i] == 0 && (best == SIZE_MAX || c->stamp[i] < c->stamp[best]))
            best = i;
    }
    return best;
}

static void place(const struct tim_cache *c, size_t index, struct tim_cache_result *out)
{
    out->set = (unsigned)(index / c->shape.ways);
    out->way = (unsigned)(index % c->shape.ways);
}

/** Of an absent line that would take way @index. */
static void describe_victim(const struct tim_cache *c, size_t index, struct tim_cache_result *out)
{
    place(c, index, out);
    if (c->tag[index] == NO_LINE)
        return;
    out->evicted = true;
    out->victim = (c->tag[index] - 1) << c->line_shift;
    out->victim_owner = c->way[index].owner;
    memcpy(out->dirty, c->way[index].dirty, sizeof out->dirty);
}

/** What a read would do; returns its way, SIZE_MAX when blocked. */
static size_t look(const struct tim_cache *c, uint64_t line, const uint64_t mask[4],
                   struct tim_cache_result *out)
{
    size_t index = find(c, line);
    const struct way *way;
    unsigned missing;

    memset(out, 0, sizeof *out);
    if (index == SIZE_MAX) {
        if (c->free_mshr == NO_MSHR) {
            out->answer = TIM_CACHE_NO_MSHR;
            return SIZE_MAX;
        }
        index = find_victim(c, line);
        if (index == SIZE_MAX) {
            out->answer = TIM_CACHE_NO_WAY;
            return SIZE_MAX;
        }
        out->answer = TIM_CACHE_MISS;
        out->fetch = missing_sectors(c, mask, NULL);
        describe_victim(c, index, out);
        return index;
    }
    way = &c->way[index];
    missing = missing_sectors(c, mask, way->valid);
    place(c, index, out);
    if (missing == 0) {
        out->answer = TIM_CACHE_HIT;
        out->owner = way->owner;
    } else if (c->pending[index] != 0) {
        if (c->mshr[way->mshr].count >= c->shape.merges) {
            out->answer = TIM_CACHE_NO_MERGE;
            return SIZE_MAX;
        }
        out->answer = TIM_CACHE_MERGE;
        out->fetch = missing & ~(unsigned)c->pending[index];
    } else if (c->free_mshr == NO_MSHR) {
        out->answer = TIM_CACHE_NO_MSHR;
        return SIZE_MAX;
    } else {
        out->answer = TIM_CACHE_MISS;
        out->fetch = missing;
    }
    return index;
}

void tim_cache_look(const struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    struct tim_cache_result *out)
{
    look(cache, line, mask, out);
}

/* ---- changes ------------------------------------------------------------------------------- */

/** Stamps anew from 1 before the clock would wrap: same order in each set. */
static void renumber(struct tim_cache *c)
{
    size_t lines = (size_t)c->sets * c->shape.ways;

    for (size_t start = 0; start < lines; start += c->shape.ways) {
        uint32_t rank[64];

        for (unsigned a = 0; a < c->shape.ways; a++) {
            rank[a] = 1;
            for (unsigned b = 0; b < c->shape.ways; b++)
                rank[a] += c->stamp[start + b] < c->stamp[start + a];
        }
        memcpy(&c->stamp[start], rank, c->shape.ways * sizeof rank[0]);
    }
    c->clock = c->shape.ways + 1;
}

static void touch(struct tim_cache *c, size_t index)
{
    if (c->clock == UINT32_MAX)
        renumber(c);
    c->stamp[index] = ++c->clock;
}

static void add_waiter(struct tim_cache *c, struct way *way, uint32_t id, unsigned need)
{
    struct mshr *m = &c->mshr[way->mshr];
    uint32_t slot = c->free_waiter;
    struct waiter *w = &c->waiter[slot];

    c->free_waiter = w->next;
    *w = (struct waiter){.id = id, .next = NO_WAITER, .need = (uint8_t)need};
    if (m->count == 0)
        m->first = slot;
    else
        c->waiter[m->last].next = slot;
    m->last = slot;
    m->count++;
}

/** The way is @line's now, without a byte. */
static void take_way(struct tim_cache *c, size_t index, uint64_t line, uint16_t owner)
{
    c->tag[index] = (line >> c->line_shift) + 1;
    c->way[index] = (struct way){.mshr = NO_MSHR, .owner = owner};
}

void tim_cache_read(struct tim_cache *cache, uint64_t line, const uint64_t mask[4],
                    uint32_t waiter, uint16_t owner, struct tim_cache_result *out)
{
    size_t index = look(cache, line, mask, out);
    struct way *way;
    unsigned need;

    if (index == SIZE_MAX)
        return;
    way = &cache->way[index];
    switch (out->answer) {
    case TIM_CACHE_HIT:
        touch(cache, index);
        return;
    case TIM_CACHE_MISS:
        if (cache->tag[index] != (line >> cache->line_shift) + 1)
            take_way(cache, index, line, owner);
        touch(cache, index);
        way->mshr = cache->free_mshr;
        cache->free_mshr = cache->mshr[way->mshr].next_free;
        cache->mshr[way->mshr].count = 0;
        cache->mshrs_used++;
        break;
    default:
        break;
    }
    need = missing_sectors(cache, mask, way->valid);
    cache->pending[index] |= (uint8_t)out->fetch;
    add_waiter(cache, way, waiter, need);
}

bool tim_cache_read_hit(struct tim_cache *cache, uint64_t line, const uint64_t mask[4])
{
    size_t index = find(cache, line);

    if (index == SIZE_MAX || missing_sectors(cache, mask, cache->way[index].valid) != 0)
        return false;
    touch(cache, index);
    return true;
}

static size_t look_write(const struct tim_cache *c, uint64_t line, bool allocate,
                         struct tim_cache_result *out)
{
    size_t index = find(c, line);

    memset(out, 0, sizeof *out);
    if (index != SIZE_MAX) {
        out->answer = TIM_CACHE_HIT;
        out->owner = c->way[index].owner;
        place(c, index, out);
        return index;
    }
    out->answer = TIM_CACHE_MISS;
    if (!allocate)
        return SIZE_MAX;
    index = find_victim(c, line);
    if (index == SIZE_MAX)
        out->answer = TIM_CACHE_NO_WAY;
    else
        describe_victim(c, index, out);
    return index;
}

void tim_cache_look_write(const struct tim_cache *cache, uint64_t line, bool allocate,
                          struct tim_cache_result *out)
{
    look_write(cache, line, allocate, out);
}

void tim_cache_write(struct tim_cache *cache, uint64_t line, const uint64_t mask[4], bool allocate,
                     bool dirty, uint16_t owner, struct tim_cache_result *out)
{
    size_t index = look_write(cache, line, allocate, out);
    struct way *way;

    if (index == SIZE_MAX)
        return;
    if (out->answer == TIM_CACHE_MISS)
        take_way(cache, index, line, owner);
    way = &cache->way[index];
    for (unsigned w = 0; w < 4; w++) {
        way->valid[w] |= mask[w];
        if (dirty)
            way->dirty[w] |= mask[w];
    }
    if (dirty)
        way->doomed = false; /* its new bytes must not be lost */
    touch(cache, index);
}

unsigned tim_cache_fill(struct tim_cache *cache, uint64_t line, unsigned sectors,
                        uint32_t *waiters)
{
    size_t index = find(cache, line);
    struct way *way;
    struct mshr *m;
    uint64_t bytes[4];
    uint32_t *link, last = NO_WAITER;
    unsigned released = 0;

    assert(index != SIZE_MAX);
    way = &cache->way[index];
    assert((sectors & ~(unsigned)cache->pending[index]) == 0 && sectors != 0);
    m = &cache->mshr[way->mshr];
    tim_cache_sector_bytes(cache, sectors, bytes);
    for (unsigned w = 0; w < 4; w++)
        way->valid[w] |= bytes[w];
    cache->pending[index] &= (uint8_t)~sectors;
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
    if (cache->pending[index] == 0) {
        assert(m->count == 0);
        m->next_free = cache->free_mshr;
        cache->free_mshr = way->mshr;
        cache->mshrs_used--;
        way->mshr = NO_MSHR;
        if (way->doomed)
            cache->tag[index] = NO_LINE;
    }
    return released;
}

static void drop(struct tim_cache *c, size_t index)
{
    struct way *way = &c->way[index];

    if (c->pending[index] == 0) {
        c->tag[index] = NO_LINE;
        return;
    }
    memset(way->valid, 0, sizeof way->valid);
    memset(way->dirty, 0, sizeof way->dirty);
    way->doomed = true;
}

bool tim_cache_evict(struct tim_cache *cache, uint64_t line)
{
    size_t index = find(cache, line);

    if (index == SIZE_MAX)
        return false;
    drop(cache, index);
    return true;
}

void tim_cache_clear(struct tim_cache *cache)
{
    size_t lines = (size_t)cache->sets * cache->shape.ways;

    for (size_t i = 0; i < lines; i++)
        if (cache->tag[i] != NO_LINE)
            drop(cache, i);
}

/* ---- for the shell and tests --------------------------------------------------------------- */

unsigned tim_cache_sets(const struct tim_cache *cache)
{
    return cache->sets;
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

    if (cache->tag[index] == NO_LINE)
        return false;
    *out = (struct tim_cache_line){
        .line = (cache->tag[index] - 1) << cache->line_shift,
        .pending = cache->pending[index],
        .waiters = cache->pending[index] != 0 ? cache->mshr[w->mshr].count : 0,
        .owner = w->owner,
    };
    memcpy(out->valid, w->valid, sizeof out->valid);
    memcpy(out->dirty, w->dirty, sizeof out->dirty);
    for (size_t i = start; i < start + cache->shape.ways; i++)
        out->age += cache->tag[i] != NO_LINE && cache->stamp[i] > cache->stamp[index];
    return true;
}
