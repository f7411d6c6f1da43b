/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay with Belady's algorithm. The mechanism records the loads that access L1, and replays them in three caches: L1
 * with LRU replacement, L1 that replaces the line with the furthest next use, and an unbounded cache. It throttles no
 * warp. The replay has no latencies: a line is present immediately after its miss. Source:
 * specification of the warp scheduling thesis, section 3.5.
 */
#include "timing/tables/tim_map_priv.h"
#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/mem/tim_cache_priv.h"

#include <stdlib.h>

/* Events are recorded as numbers. The address of a line (an even number) means that a load read the line. The address of a
 * line + 1 means that the line was removed from L1. ALL means that all lines of global memory were removed. */
static const uint64_t ALL = UINT64_MAX;
enum { TAKEN_OUT = 1 };

struct line {
    uint64_t tag;  /* 1 + address of the line, or 0 if there is none */
    uint64_t used; /* LRU cache: index of the last event of the line; optimal cache: index of the event that next uses it */
};
struct belady {
    struct tim_mech base;
    const struct tim_config *config;
    size_t count, capacity, warp_capacity;
    uint64_t *event;
    uint32_t *warp;        /* by event, for loads: age of the warp, which identifies it */
    uint32_t age[TIM_MAX_WARPS]; /* age of the warp in each slot */
    size_t replayed;       /* number of events that have been replayed and are in the counters */
    struct tim_cache *sets; /* empty cache with the geometry of L1, which is used to map lines to sets */
};

static bool is_on(const struct tim_config *config)
{
    return config->belady_on;
}

static void destroy(struct tim_mech *mech)
{
    struct belady *b = (struct belady *)mech;

    tim_cache_destroy(b->sets);
    free(b->event);
    free(b->warp);
    free(b);
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct belady *b = calloc(1, sizeof *b);

    if (b == NULL)
        return NULL;
    b->config = config;
    b->sets = tim_cache_create(&(struct tim_cache_shape){config->l1_bytes, config->l1_line, config->l1_line, config->l1_ways,
                                                         1, 1, config->l1_hash == TIM_HASH_XOR});
    if (b->sets != NULL)
        return &b->base;
    destroy(&b->base);
    return NULL;
}

/* ---- recording --------------------------------------------------------------------------------- */

static void record(struct belady *b, uint64_t event, uint32_t warp)
{
    if (b->count >= b->config->belady_most || !lw_grow(&b->event, &b->capacity, b->count + 1, sizeof *b->event) ||
        !lw_grow(&b->warp, &b->warp_capacity, b->count + 1, sizeof *b->warp)) {
        b->base.core->count[TIM_CORE_belady_dropped]++;
        return;
    }
    b->event[b->count] = event;
    b->warp[b->count++] = warp;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    ((struct belady *)mech)->age[warp] = (uint32_t)age;
}

static void access(struct tim_mech *mech, const struct tim_mech_access *a)
{
    struct belady *b = (struct belady *)mech;

    record(b, a->line, b->age[a->warp]);
}

static void drop(struct tim_mech *mech, uint64_t line)
{
    record((struct belady *)mech, line == UINT64_MAX ? ALL : line + TAKEN_OUT, 0);
}

/* ---- replay ------------------------------------------------------------------------------------ */

static bool is_global(uint64_t line)
{
    return line < TIM_LOCAL_BASE;
}

/** For each event i that is a load, sets next[i] to the index of the event that next loads the same line. Sets next[i] to
 *  UINT64_MAX if there is no such event, or if the line is removed before that event. Returns false if memory is short. */
static bool find_next(const struct belady *b, uint64_t *next)
{
    struct tim_map lines = {0};
    uint64_t all = 0; /* 1 + the next event that removes all lines, or 0 if there is none */
    bool is_new, fine = true;

    for (size_t i = b->count; fine && i-- > 0;) {
        uint64_t *value;

        if (b->event[i] == ALL) {
            all = i + 1;
            continue;
        }
        value = tim_map_at(&lines, b->event[i] & ~(uint64_t)TAKEN_OUT, 0, &is_new);
        fine = value != NULL;
        if (!fine)
            break;
        next[i] = is_new || *value == 0 || (all != 0 && all < *value && is_global(b->event[i])) ? UINT64_MAX : *value - 1;
        *value = b->event[i] & TAKEN_OUT ? 0 : i + 1;
    }
    tim_map_fini(&lines);
    return fine;
}

/** Returns the way of @set that has the line. If no way has it, returns an empty way or, if the set is full, the way to replace:
 *  the way with the smallest `used` or, if @furthest is set, the largest. Sets *hit to whether the set has the line. */
static struct line *find_way(struct line *set, unsigned ways, uint64_t line, bool furthest, bool *hit)
{
    struct line *victim = set;

    *hit = true;
    for (unsigned w = 0; w < ways; w++)
        if (set[w].tag == line + 1)
            return &set[w];
    *hit = false;
    for (unsigned w = 0; w < ways; w++) {
        if (set[w].tag == 0)
            return &set[w];
        if (furthest ? set[w].used > victim->used : set[w].used < victim->used)
            victim = &set[w];
    }
    return victim;
}

/** Returns the number of misses of a cache with the geometry of L1. The cache replaces the line with the furthest next use
 *  according to @next or, if @next is NULL, the least recently used line. @cache: buffer for its lines. */
static uint64_t replay(const struct belady *b, struct line *cache, const uint64_t *next)
{
    const unsigned ways = b->config->l1_ways, lines = tim_cache_sets(b->sets) * ways;
    uint64_t misses = 0;
    bool hit;

    memset(cache, 0, lines * sizeof *cache);
    for (size_t i = 0; i < b->count; i++) {
        uint64_t line = b->event[i] & ~(uint64_t)TAKEN_OUT;
        struct line *way;

        if (b->event[i] == ALL) {
            for (unsigned l = 0; l < lines; l++)
                cache[l].tag = cache[l].tag != 0 && is_global(cache[l].tag - 1) ? 0 : cache[l].tag;
            continue;
        }
        way = find_way(cache + (size_t)tim_cache_set(b->sets, line) * ways, ways, line, next != NULL, &hit);
        if (b->event[i] & TAKEN_OUT) {
            way->tag = hit ? 0 : way->tag;
            continue;
        }
        misses += !hit;
        *way = (struct line){line + 1, next != NULL ? next[i] : i};
    }
    return misses;
}

/** Counts the hits of the unbounded cache on lines that the same warp first loaded, and on lines that another warp first
 *  loaded. Returns false if memory is short. */
static bool replay_unbounded(const struct belady *b, uint64_t *own, uint64_t *others)
{
    struct tim_map lines = {0};
    bool is_new, fine = true;

    *own = *others = 0;
    for (size_t i = 0; fine && i < b->count; i++) {
        uint64_t *value;

        if (b->event[i] & TAKEN_OUT) /* an unbounded cache keeps all lines, so removals are ignored */
            continue;
        value = tim_map_at(&lines, b->event[i], 0, &is_new);
        fine = value != NULL;
        if (!fine)
            break;
        if (is_new)
            *value = b->warp[i];
        else
            ++*(*value == b->warp[i] ? own : others);
    }
    tim_map_fini(&lines);
    return fine;
}

static void account(struct tim_mech *mech)
{
    struct belady *b = (struct belady *)mech;
    uint64_t *count = mech->core->count, own, others, loads = 0;
    struct line *cache;
    uint64_t *next;

    if (b->replayed == b->count)
        return;
    cache = calloc((size_t)tim_cache_sets(b->sets) * b->config->l1_ways, sizeof *cache);
    next = malloc(b->count * sizeof *next);
    if (cache != NULL && next != NULL && find_next(b, next) && replay_unbounded(b, &own, &others)) {
        for (size_t i = 0; i < b->count; i++)
            loads += (b->event[i] & TAKEN_OUT) == 0;
        count[TIM_CORE_belady_loads] = loads;
        count[TIM_CORE_belady_lru] = replay(b, cache, NULL);
        count[TIM_CORE_belady_opt] = replay(b, cache, next);
        count[TIM_CORE_belady_own] = own;
        count[TIM_CORE_belady_others] = others;
        b->replayed = b->count;
    }
    free(cache);
    free(next);
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct belady *b = (const struct belady *)mech;

    lw_printf(out, "accesses of L1 that are recorded: %zu, of at most %u\n", b->count, b->config->belady_most);
}

const struct tim_mechanism tim_belady = {
    .name = "belady", .summary = "counts misses of L1 with optimal replacement, by a replay; does not delay warps",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .access = access, .drop = drop,
    .account = account, .show = show,
};
