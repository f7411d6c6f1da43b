/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: deferred reads.
 *
 * FastTrack updates the read record of a location at every read. Here a plain read is appended to a list, if its memory has
 * not been written since the last launch by the host. The list belongs to the page or to the allocation of the memory. Such a
 * read cannot race yet, and a read record takes ten times as much memory as a word of the list. The first access of another
 * kind replays the list, in the order and with the clocks of its reads. Most lists are dropped at the next launch by the
 * host, without a replay. Without lists of pages, `reduce` needs 237 MiB instead of 62 MiB. Without lists of allocations,
 * `bfs` needs 177 MiB instead of 130 MiB, and 1.6 times as long (docs/explanation/race-detection.md).
 *
 * While no kernel has written to an allocation, and none of its pages has a shadow, the allocation has a list. This list gets
 * reads of scattered lanes. A page has a list until its shadow is valid. This list gets the reads of whole warps, and the
 * reads that the list of the allocation refuses.
 */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* A list is at most twice as large as its page or allocation. Memory that is read more often may be filtered
 * (chk_race_filter_reads.c), which needs the shadow. */
enum { PAGE_WORDS = 252, PAGE_CHUNKS = 8, POOL_CHUNKS = 64, MOST_POOLS = 1024 };
enum { RANGE_WORDS = 1 << 16, SINGLE_CHUNKS = RACE_DEFER_SINGLE, SLAB_CHUNKS = 7 };
struct race_deferred_chunk {
    struct race_deferred_chunk *next;
    uint32_t used, room; /* number of used words in `data`; number of all words in it */
    uint32_t data[];
};
enum { PAGE_BYTES = sizeof(struct race_deferred_chunk) + 4 * PAGE_WORDS,
       RANGE_BYTES = sizeof(struct race_deferred_chunk) + 4 * (RANGE_WORDS + RACE_WORDS_BEYOND) };
/** The second and later chunks of an allocation are in large pages of the host, which are mapped faster than small
 *  ones. */
struct race_deferred_slab {
    struct race_deferred_slab *next;
    char chunk[SLAB_CHUNKS][RANGE_BYTES];
};
_Static_assert(sizeof(struct race_deferred_slab) <= RACE_SLAB_HOT, "chunks of a large page");

/* A read is stored in several words. The first contains site, form and size. The next is the thread id of lane 0, and two
 * words contain the lanes. Then follows the number of the word that the first lane reads, counted from the start of the
 * page or allocation. The form EACH has the number of each lane's word instead. The form STRIDE also has the distance in
 * words from each lane to the next. If the clocks of a read differ from the clocks of the preceding read, a CLOCK entry
 * precedes the read. A CLOCK entry contains the logical clock, vc_block and vc_warp. */
enum { FORM_CLOCK, FORM_ONE, FORM_RUN, FORM_EACH, FORM_STRIDE };
enum { FORM_SHIFT = RACE_SITE_BITS, SIZE_SHIFT = FORM_SHIFT + 3, FORM_MASK = 7, WORD_SHIFT = 2 };
enum { WORDS_CLOCK = 4, WORDS_HEAD = 4, WORDS_STRIDE = 2 };

/* ---- lists -------------------------------------------------------------------------------------------- */

static struct race_deferred_chunk *page_chunk(struct race_defer *defer)
{
    if (defer->pool_used == defer->pool_count * POOL_CHUNKS) {
        char *pool = NULL;

        if (defer->pool_count == MOST_POOLS ||
            !lw_grow(&defer->pools, &defer->pool_capacity, defer->pool_count + 1, sizeof *defer->pools) ||
            (pool = malloc((size_t)POOL_CHUNKS * PAGE_BYTES)) == NULL)
            return NULL;
        defer->pools[defer->pool_count++] = pool;
    }
    const size_t i = defer->pool_used++;
    struct race_deferred_chunk *chunk = (void *)(defer->pools[i / POOL_CHUNKS] + i % POOL_CHUNKS * PAGE_BYTES);
    chunk->room = PAGE_WORDS;
    return chunk;
}

static struct race_deferred_chunk *range_chunk(struct race_defer *defer)
{
    struct race_deferred_chunk *chunk;

    if (defer->single_count < SINGLE_CHUNKS) {
        chunk = malloc(RANGE_BYTES);
        if (chunk == NULL)
            return NULL;
        defer->single[defer->single_count++] = chunk;
        chunk->room = RANGE_WORDS;
        return chunk;
    }
    struct race_deferred_slab *slab = race_large_make(RACE_SLAB_HOT);
    if (slab == NULL)
        return NULL;
    slab->next = defer->slabs;
    defer->slabs = slab;
    for (unsigned i = SLAB_CHUNKS; i-- > 0;) {
        chunk = (void *)slab->chunk[i];
        chunk->room = RANGE_WORDS;
        chunk->next = defer->free_list[true];
        defer->free_list[true] = chunk;
    }
    defer->free_list[true] = chunk->next;
    return chunk;
}

/** Moves the chunks of a list to the free list. @of_range: the list belongs to an allocation, not to a page. */
static void chunks_free(struct race_defer *defer, const struct race_deferred *list, bool of_range)
{
    list->last->next = defer->free_list[of_range];
    defer->free_list[of_range] = list->first;
}

/** Adds a chunk and returns space for @words in it; NULL: the list is full, or there is no memory. */
static uint32_t *chunk_add(struct race_defer *defer, struct race_deferred *list, const struct race_range *r,
                           unsigned words)
{
    struct race_deferred_chunk **free_list = &defer->free_list[r != NULL], *chunk = *free_list;

    if (r == NULL ? list->chunk_count == PAGE_CHUNKS
                  : race_deferred_words(list) > (r->end - r->first) / 2)
        return NULL;
    if (chunk != NULL)
        *free_list = chunk->next;
    else if ((chunk = r != NULL ? range_chunk(defer) : page_chunk(defer)) == NULL)
        return NULL;
    chunk->next = NULL;
    chunk->used = words;
    defer->range_lists += r != NULL && list->first == NULL;
    *(list->first != NULL ? &list->last->next : &list->first) = chunk;
    list->last = chunk;
    list->chunk_count++;
    list->repeat = NULL;
    return chunk->data;
}

/** Appends the first words of a read at clock @tick, and returns space for @count further words. @r: the allocation that
 *  owns the list; NULL: a page owns the list. Returns NULL if the list is full, or if there is no memory. */
static inline uint32_t *append(const struct race_access *ctx, struct race_deferred *list, const struct race_range *r,
                               uint32_t form, uint64_t lanes, unsigned count, uint32_t tick)
{
    struct chk_race *race = ctx->race;
    const uint32_t now[WORDS_CLOCK - 1] = {tick, ctx->vc_block, ctx->warp->vc_warp};
    const bool same = ((list->clock[0] ^ now[0]) | (list->clock[1] ^ now[1]) | (list->clock[2] ^ now[2])) == 0 &&
                      list->first != NULL;
    const unsigned words = WORDS_HEAD + count + (same ? 0 : WORDS_CLOCK);
    struct race_deferred_chunk *chunk = list->last;
    uint32_t *at;

    if (race->defer.replay_block == NULL)
        race->defer.replay_block = race_replay_block(ctx->block->width);
    if (race->defer.replay_block == NULL)
        return NULL;
    race->defer.replay_block->vc_floor = ctx->block->vc_floor;
    if (chunk == NULL || chunk->used + words > chunk->room) {
        at = chunk_add(&race->defer, list, r, words);
        if (at == NULL)
            return NULL;
    } else {
        at = &chunk->data[chunk->used];
        chunk->used += words;
    }
    list->repeat = same ? NULL : at;
    if (!same) {
        *at++ = FORM_CLOCK << FORM_SHIFT;
        memcpy(at, now, sizeof now);
        memcpy(list->clock, now, sizeof now);
        at += WORDS_CLOCK - 1;
    }
    *at++ = ctx->site | form << FORM_SHIFT;
    *at++ = ctx->self_tid;
    *at++ = (uint32_t)lanes;
    *at++ = (uint32_t)(lanes >> 32);
    return at;
}

struct race_block *race_replay_block(unsigned width)
{
    const unsigned warps = (1 << RACE_THREAD_BITS) / width;
    struct race_block *b = calloc(1, sizeof *b + warps * sizeof b->warp[0]);

    if (b == NULL)
        return NULL;
    b->warp_count = warps;
    b->width = width;
    return b;
}

/** Returns the position after the record at @at. */
static const uint32_t *record_end(const uint32_t *at)
{
    switch (*at >> FORM_SHIFT & FORM_MASK) {
    case FORM_CLOCK: return at + WORDS_CLOCK;
    case FORM_EACH: return at + WORDS_HEAD + lw_popcount(at[2]) + lw_popcount(at[3]);
    case FORM_STRIDE: return at + WORDS_HEAD + WORDS_STRIDE;
    default: return at + WORDS_HEAD + 1;
    }
}

/** Checks the read at @at with the clocks at the time of the read, which the CLOCK entry @clock contains. */
static void replay_read(struct race_access *ctx, uint64_t base, const uint32_t *clock, const uint32_t *at)
{
    struct race_block *b = ctx->race->defer.replay_block;
    const uint32_t form = *at >> FORM_SHIFT & FORM_MASK;
    const uint64_t lanes = at[2] | (uint64_t)at[3] << 32;
    const unsigned low = lw_lowest(lanes);
    struct race_warp *w = &b->warp[(at[1] & ((1 << RACE_THREAD_BITS) - 1)) / b->width];
    /* Saves the clocks, because this replay may run during the replay of another list. */
    const uint32_t block_id = b->block_id, vc_block = b->vc_block, vc_warp = w->vc_warp;
    struct emu_hook_access access = {.kind = EMU_ACCESS_LOAD, .space = ISA_SPACE_GLOBAL,
                                    .bytes = 1u << ((*at >> SIZE_SHIFT) + WORD_SHIFT)};
    uint64_t address[EMU_MAX_LANES];

    ctx->access = &access;
    ctx->site = *at & (uint32_t)lw_mask(RACE_SITE_BITS);
    ctx->self_tid = at[1];
    ctx->warp = w;
    ctx->race->order.clock = clock[1];
    b->vc_block = ctx->vc_block = clock[2];
    w->vc_warp = clock[3];
    b->block_id = ctx->self_tid >> RACE_THREAD_BITS;
    at += WORDS_HEAD;
    if (form == FORM_ONE || form == FORM_RUN) {
        const struct emu_addr_segment piece = {base + 4 * (uint64_t)*at, (uint8_t)low,
                                            (uint8_t)(63 - __builtin_clzll(lanes)), form == FORM_RUN};
        race_access_segment(ctx, &piece, lanes);
    } else {
        for (LW_EACH_BIT(l, lanes))
            address[l] = base + 4 * (uint64_t)(form == FORM_EACH ? *at++ : at[0] + ((uint32_t)l - low) * at[1]);
        race_access_replay(ctx, address, lanes);
    }
    b->block_id = block_id;
    b->vc_block = vc_block;
    w->vc_warp = vc_warp;
}

/** Checks the reads of a list as if they had not been deferred. @base: address of word 0. @of_range: the list belongs to an
 *  allocation, so its reads may be deferred again in lists of pages. */
static void replay(struct chk_race *race, const struct race_deferred *list, uint64_t base, bool of_range)
{
    struct race_access ctx = {.race = race, .block = race->defer.replay_block, .plain = true, .may_defer = of_range};
    const uint32_t now = race->order.clock, *clock = NULL;

    for (const struct race_deferred_chunk *chunk = list->first; chunk != NULL; chunk = chunk->next)
        for (const uint32_t *at = chunk->data, *end = at + chunk->used; at < end; at = record_end(at)) {
            if (*at >> FORM_SHIFT == FORM_CLOCK)
                clock = at;
            else
                replay_read(&ctx, base, clock, at);
        }
    race->order.clock = now;
    chunks_free(&race->defer, list, of_range);
}

void race_deferred_forget(struct chk_race *race)
{
    for (unsigned i = 0; i < race->ranges.count; i++) {
        struct race_range *r = &race->ranges.table[i];

        if (r->deferred.first != NULL)
            chunks_free(&race->defer, &r->deferred, true);
        r->deferred = (struct race_deferred){0};
    }
    race->defer.range_lists = 0;
    race->defer.pool_used = 0; /* The lists of pages belong to an earlier epoch. */
    race->defer.free_list[false] = NULL;
    race->shadow.epoch++;
    race_shadow_is_invalid(&race->shadow);
}

void race_deferred_end(struct chk_race *race)
{
    struct race_defer *defer = &race->defer;

    race_packed_free(race);
    for (size_t i = 0; i < defer->pool_count; i++)
        free(defer->pools[i]);
    free(defer->pools);
    for (unsigned i = 0; i < defer->single_count; i++)
        free(defer->single[i]);
    for (struct race_deferred_slab *slab = defer->slabs, *next; slab != NULL; slab = next) {
        next = slab->next;
        race_large_free(slab, RACE_SLAB_HOT);
    }
    free(race->ranges.table);
    free(defer->replay_block);
}

/* ---- pages -------------------------------------------------------------------------------------------- */

/** Returns true if the read repeats the last read of the list, as in a loop. If so, sets the clock of that read to the current
 *  clock. */
static bool is_repeat(const struct race_access *ctx, struct race_deferred *list, uint32_t form, uint32_t word,
                      uint64_t lanes)
{
    const uint32_t repeated_head[] = {ctx->vc_block, ctx->warp->vc_warp, ctx->site | form << FORM_SHIFT, ctx->self_tid, (uint32_t)lanes,
                              (uint32_t)(lanes >> 32), word};

    if (list->repeat == NULL || memcmp(&list->repeat[2], repeated_head, sizeof repeated_head) != 0)
        return false;
    list->repeat[1] = list->clock[0] = ctx->race->order.clock;
    return true;
}

bool race_defer_page(struct race_access *ctx, uint64_t address, uint32_t step, const uint64_t *each, uint64_t lanes)
{
    struct chk_race *race = ctx->race;
    const uint64_t offset = address - ISA_GLOBAL_BASE;
    struct race_page_shadow *cells = race_shadow_cached(&race->shadow, offset);

    if (race->packed.range_count != 0)
        race_packed_leave(race, offset); /* The page gets ordinary cells, because later writes to packed cells would not
                                          * replay the list. */
    if (race->defer.range_lists != 0)
        race_deferred_allocation_flush(race, offset);
    if (cells == NULL || cells->valid_epoch == race->shadow.epoch)
        return false;
    if (cells->deferred_epoch != race->shadow.epoch) {
        cells->deferred_epoch = race->shadow.epoch;
        cells->deferred = (struct race_deferred){0};
    }
    const uint32_t form = (each != NULL ? FORM_EACH : step != 0 ? FORM_RUN : FORM_ONE) |
                          (uint32_t)(lw_lowest(ctx->access->bytes) - WORD_SHIFT) << (SIZE_SHIFT - FORM_SHIFT);
    const uint32_t first = (uint32_t)(offset & lw_mask(RACE_PAGE_SHIFT)) / 4;
    if (each == NULL && is_repeat(ctx, &cells->deferred, form, first, lanes))
        return true;
    uint32_t *word = append(ctx, &cells->deferred, NULL, form, lanes, each != NULL ? lw_popcount(lanes) : 1, race->order.clock);
    if (word == NULL)
        return false; /* The caller then checks the read, which gives the page a shadow. */
    if (each == NULL)
        *word = first;
    else
        cells->deferred.repeat = NULL;
    for (LW_EACH_BIT(l, each != NULL ? lanes : 0))
        *word++ = (uint32_t)(each[l] & lw_mask(RACE_PAGE_SHIFT)) / 4;
    return true;
}

static void page_replay(struct chk_race *race, struct race_page_shadow *cells, uint64_t offset)
{
    const struct race_deferred list = cells->deferred;

    if (cells->deferred_epoch != race->shadow.epoch)
        return;
    cells->deferred_epoch = 0; /* replayed reads are not deferred again */
    if (list.first != NULL)
        replay(race, &list, ISA_GLOBAL_BASE + (offset >> RACE_PAGE_SHIFT << RACE_PAGE_SHIFT), false);
}

void race_deferred_page_flush(struct chk_race *race, struct race_page_shadow *cells, uint64_t offset)
{
    struct race_shadow *shadow = &race->shadow;

    race_range_page_shadowed(race, offset);
    if (cells->valid_epoch == shadow->epoch)
        return; /* the replay of the allocation's list has filled the shadow of the page */
    if (!race_shadow_rows(shadow, cells)) {
        race->chk->short_of_memory = true;
        return;
    }
    cells->valid_epoch = shadow->epoch;
    race_shadow_is_valid(shadow, cells, offset);
    page_replay(race, cells, offset);
}

/** Returns the shadow of the page at @offset; NULL: the page has never been accessed. */
static struct race_page_shadow *page_at(const struct race_shadow *shadow, uint64_t offset)
{
    const uint64_t page = offset >> RACE_PAGE_SHIFT;
    struct race_page_shadow **table =
        page >> (2 * RACE_TABLE_SHIFT) == 0 ? shadow->table[page >> RACE_TABLE_SHIFT] : NULL;

    return table != NULL ? table[page & ((1 << RACE_TABLE_SHIFT) - 1)] : NULL;
}

bool race_deferred_page_count(const struct race_shadow *shadow, uint64_t offset, uint64_t *count)
{
    const struct race_page_shadow *cells = page_at(shadow, offset);

    if (cells == NULL || cells->deferred_epoch != shadow->epoch)
        return true;
    for (const struct race_deferred_chunk *chunk = cells->deferred.first; chunk != NULL; chunk = chunk->next)
        for (const uint32_t *at = chunk->data, *end = at + chunk->used; at < end; at = record_end(at)) {
            if (*at >> SIZE_SHIFT != 0)
                return false;
            *count += *at >> FORM_SHIFT != FORM_CLOCK;
        }
    return true;
}

uint64_t race_deferred_words(const struct race_deferred *list)
{
    return (uint64_t)list->chunk_count * RANGE_WORDS;
}

void race_deferred_page_move(struct chk_race *race, uint64_t offset)
{
    struct race_page_shadow *cells = page_at(&race->shadow, offset);

    if (cells != NULL)
        page_replay(race, cells, offset);
}

void race_deferred_page_flush_all(struct chk_race *race, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = (offset + bytes - 1) >> RACE_PAGE_SHIFT;

    for (uint64_t page = offset >> RACE_PAGE_SHIFT;
         race->defer.pool_used != 0 && page <= end && page >> (2 * RACE_TABLE_SHIFT) == 0; page++) {
        struct race_page_shadow *cells = page_at(&race->shadow, page << RACE_PAGE_SHIFT);

        if (cells != NULL && cells->valid_epoch != race->shadow.epoch)
            race_deferred_page_flush(race, cells, page << RACE_PAGE_SHIFT);
    }
}

/* ---- allocations -------------------------------------------------------------------------------------- */

void race_deferred_allocation_flush(struct chk_race *race, uint64_t offset)
{
    struct race_range *r = race_range_at(race, offset);

    if (r == NULL || r->deferred.first == NULL)
        return;
    const struct race_deferred list = r->deferred;

    r->deferred = (struct race_deferred){0};
    if (r->state == RACE_DEFERRED) /* replayed reads are not deferred again */
        race_transition(race, r, RACE_SHADOWED, RACE_AT_ACCESS);
    race->defer.range_lists--;
    replay(race, &list, ISA_GLOBAL_BASE + r->first, true);
}

/** Ends the deferral of reads of an allocation, because its list is full: replays the list. Always returns false. */
static bool leave(struct chk_race *race, struct race_range *r)
{
    const bool empty = r->deferred.first == NULL;

    race_deferred_allocation_flush(race, r->first);
    if (empty)
        race_transition(race, r, RACE_SHADOWED, RACE_AT_LIST_FULL);
    return false;
}

/** Gets the distance, in words modulo 2^32, from each lane of @e to the next one. Returns false if the distances are
 *  not whole words. */
static bool stride_of(const struct emu_access_record *e, uint32_t *words)
{
    const unsigned lanes = 63 - (unsigned)__builtin_clzll(e->lanes) - lw_lowest(e->lanes);
    const uint32_t last = e->word[0] + lanes * e->word[1];
    /* Addresses of @e may have units that are smaller than a word. All lanes are in one allocation, so the last lane
     * gives the direction of the stride. */
    const uint64_t step = e->word[1] - (last < e->word[0] ? UINT64_C(1) << 32 : 0);

    *words = e->scale == 2 ? e->word[1] : (uint32_t)((step << e->scale) / 4);
    return e->scale == 2 || (step << e->scale & 3) == 0;
}

bool race_defer_record(const struct race_access *ctx, struct race_range *r, const struct emu_access_record *e,
                       uint32_t now)
{
    static const unsigned forms[] = {FORM_EACH, FORM_RUN, FORM_ONE, FORM_STRIDE};
    typedef uint32_t words __attribute__((vector_size(4 * RACE_WORDS_AT_ONCE)));
    const uint64_t base = e->base - ISA_GLOBAL_BASE - r->first;
    const unsigned n = e->form == EMU_ADDR_GATHER ? e->count : 1;
    uint32_t stride = 0;
    uint64_t odd = 0;

    if (!ctx->plain || !race_range_is_deferring(ctx->race, r))
        return false; /* the read is checked like any other read */
    for (unsigned k = 0; k < n && e->scale < 2; k++)
        odd |= (uint64_t)e->word[k] << e->scale;
    if (((base | odd) & 3) != 0 || (e->form == EMU_ADDR_STRIDED && !stride_of(e, &stride)))
        return false;
    uint32_t *at = append(ctx, &r->deferred, r, forms[e->form], e->lanes,
                          e->form == EMU_ADDR_STRIDED ? WORDS_STRIDE : n, now);
    if (at == NULL)
        return leave(ctx->race, r);
    if (e->scale == 2) {
        const words first = (uint32_t)(base / 4) - (words){0};
        for (unsigned k = 0; k < n; k += RACE_WORDS_AT_ONCE) {
            words some;

            memcpy(&some, &e->word[k], sizeof some);
            some += first;
            memcpy(&at[k], &some, sizeof some);
        }
    } else {
        for (unsigned k = 0; k < n; k++)
            at[k] = (uint32_t)((base + ((uint64_t)e->word[k] << e->scale)) / 4);
    }
    if (e->form == EMU_ADDR_STRIDED)
        at[1] = stride;
    return true;
}

bool race_defer_allocation(const struct race_access *ctx, uint64_t at)
{
    struct chk_race *race = ctx->race;
    const struct emu_hook_access *a = ctx->access;

    if (race->batch.log == NULL || !ctx->may_defer || a->bytes != 4 || ctx->site & RACE_HOW || at < ISA_GLOBAL_BASE)
        return false;
    struct race_range *r = race_range_at(race, at - ISA_GLOBAL_BASE);
    if (r == NULL || !race_range_is_deferring(race, r) || (r->deferred.first == NULL && race_is_whole_warp(ctx)))
        return false;
    const uint64_t base = ISA_GLOBAL_BASE + r->first, bytes = r->end - r->first;
    uint64_t odd = 0;
    bool all = bytes >= 4;
    for (unsigned k = 0; k < a->piece_count; k++) {
        const uint64_t first = a->piece[k].address - base;
        odd |= first;
        all = all && first <= bytes - 4 &&
              first + (a->piece[k].run ? 4u * (a->piece[k].last - a->piece[k].first) : 0) <= bytes - 4;
    }
    for (uint64_t rest = a->piece_count == 0 ? a->at.lanes : 0; rest != 0; rest &= rest - 1) {
        const uint64_t here = a->address[lw_lowest(rest)] - base;
        odd |= here;
        all = all && here <= bytes - 4;
    }
    if (!all || (odd & 3) != 0)
        return false;
    const bool pieces = a->piece_count == 1;
    const struct emu_addr_segment *p = &a->piece[0];
    uint32_t *word = append(ctx, &r->deferred, r, !pieces ? FORM_EACH : p->run ? FORM_RUN : FORM_ONE, a->at.lanes,
                            pieces ? 1 : lw_popcount(a->at.lanes), race->order.clock);
    if (word == NULL)
        return leave(race, r);
    if (pieces)
        *word = (uint32_t)((at - base) / 4);
    for (uint64_t rest = pieces ? 0 : a->at.lanes; rest != 0; rest &= rest - 1) {
        const unsigned l = lw_lowest(rest);
        uint64_t here = a->piece_count == 0 ? a->address[l] : 0;

        for (unsigned k = 0; k < a->piece_count; k++)
            if (l >= a->piece[k].first && l <= a->piece[k].last)
                here = a->piece[k].address + (a->piece[k].run ? 4 * (l - a->piece[k].first) : 0);
        *word++ = (uint32_t)((here - base) / 4);
    }
    return true;
}
