/* SPDX-License-Identifier: Apache-2.0 */
/* Races: reads of what nothing writes. They find nothing, and what they would leave in the shadow is
 * asked for only when something is written in their page, which is seldom: it is kept as a list. */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* Lists are a quarter of what shadow cells take; a page that is read so often that it is not may become
 * quiet, for which cells are needed. */
enum { CHUNK_BYTES = 1024, MOST_CHUNKS = 8, POOL_CHUNKS = 64, MOST_POOLS = 1024 };
enum { LATER_ONE, LATER_RUN, LATER_EACH };

struct race_deferred_page_chunk {
    struct race_deferred_page_chunk *next;
    uint32_t used; /* bytes of data */
    uint32_t data[(CHUNK_BYTES - sizeof(void *) - sizeof(uint32_t)) / sizeof(uint32_t)];
};
/** A read, when it was made; LATER_EACH is followed by the word of each lane, 16 bits. */
struct later {
    uint32_t now, kb, kw, site, me;
    uint16_t word; /* in the page, of the first lane */
    uint8_t shift, form; /* shift: bytes a lane, as a power of two */
    uint32_t lanes[2];
};

static struct race_deferred_page_chunk *chunk_take(struct race_shadow *shadow)
{
    struct race_deferred_page_chunk *chunk = shadow->spare;

    if (chunk != NULL) {
        shadow->spare = chunk->next;
    } else {
        if (shadow->pool_used == shadow->pool_count * POOL_CHUNKS) {
            if (shadow->pool_count == MOST_POOLS ||
                !lw_grow(&shadow->pools, &shadow->pool_room, shadow->pool_count + 1,
                         sizeof *shadow->pools))
                return NULL;
            struct race_deferred_page_chunk *pool = malloc(POOL_CHUNKS * sizeof *pool);
            if (pool == NULL)
                return NULL;
            shadow->pools[shadow->pool_count++] = pool;
        }
        chunk = &shadow->pools[shadow->pool_used / POOL_CHUNKS][shadow->pool_used % POOL_CHUNKS];
        shadow->pool_used++;
    }
    chunk->next = NULL;
    chunk->used = 0;
    return chunk;
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

/** Room for @bytes at the end of a page's list; NULL: none. */
static void *room_for(struct race_shadow *shadow, struct race_page_shadow *cells, unsigned bytes)
{
    struct race_deferred_page_chunk *chunk = cells->last;

    if (chunk == NULL || chunk->used + bytes > sizeof chunk->data) {
        if (cells->chunk_count == MOST_CHUNKS)
            return NULL;
        chunk = chunk_take(shadow);
        if (chunk == NULL)
            return NULL;
        *(cells->last != NULL ? &cells->last->next : &cells->first) = chunk;
        cells->last = chunk;
        cells->chunk_count++;
        cells->repeat_at = 0;
    }
    void *at = &chunk->data[chunk->used / sizeof chunk->data[0]];
    chunk->used += bytes;
    return at;
}

bool race_deferred_page(struct race_access *look, uint64_t address, uint32_t step, const uint64_t *each,
                uint64_t lanes)
{
    struct chk_race *race = look->race;
    struct race_shadow *shadow = &race->shadow;
    const uint64_t offset = address - ISA_GLOBAL_BASE;
    struct race_page_shadow *cells = race_shadow_cached(shadow, offset);

    if (race->brief_count != 0)
        race_packed_leave(race, offset); /* what is written there would not ask for the list */
    if (race->kept_count != 0)
        race_deferred_reads_leave(race, offset);
    if (cells == NULL || cells->awake_at == shadow->epoch)
        return false;
    if (cells->later_at != shadow->epoch) {
        cells->later_at = shadow->epoch;
        cells->first = cells->last = NULL;
        cells->chunk_count = cells->repeat_at = 0;
    }
    const struct later here = {
        .now = race->now, .kb = look->kb, .kw = look->warp->kw, .site = look->site, .me = look->me,
        .word = (uint16_t)((offset & ((1 << RACE_PAGE_SHIFT) - 1)) / 4),
        .shift = (uint8_t)lw_lowest(look->access->bytes),
        .form = each != NULL ? LATER_EACH : step != 0 ? LATER_RUN : LATER_ONE,
        .lanes = {(uint32_t)lanes, (uint32_t)(lanes >> 32)}};
    if (here.form != LATER_EACH && cells->repeat_at != 0) { /* a loop reads the same once more */
        struct later *before =
            (void *)&cells->last->data[(cells->repeat_at - 1) / sizeof cells->last->data[0]];
        struct later same = here;
        same.now = before->now;
        if (before->me == here.me && before->word == here.word &&
            memcmp(before, &same, sizeof same) == 0) {
            before->now = here.now;
            return true;
        }
    }
    const unsigned words = each != NULL ? (lw_popcount(lanes) + 1) / 2 : 0;
    if (race->again == NULL)
        race->again = race_replay_block(look->block->width);
    struct later *at = race->again != NULL ? room_for(shadow, cells, sizeof here + 4 * words) : NULL;
    if (at == NULL)
        return false; /* its page is woken */
    *at = here;
    cells->repeat_at =
        here.form != LATER_EACH ? (unsigned)((char *)at - (char *)cells->last->data) + 1 : 0;
    uint16_t *word = (uint16_t *)(at + 1);
    for (uint64_t rest = each != NULL ? lanes : 0; rest != 0; rest &= rest - 1)
        *word++ = (uint16_t)((each[lw_lowest(rest)] & ((1 << RACE_PAGE_SHIFT) - 1)) / 4);
    race->again->base = look->block->base;
    return true;
}

/** Look at a read as it was made. */
static const void *look_again(struct chk_race *race, const struct later *at, uint64_t page)
{
    struct race_block *b = race->again;
    struct emu_hook_access access = {.kind = EMU_ACCESS_LOAD, .space = ISA_SPACE_GLOBAL,
                                    .bytes = 1u << at->shift};
    const unsigned warp = (at->me & ((1 << RACE_THREAD_BITS) - 1)) / b->width;
    const uint64_t lanes = at->lanes[0] | (uint64_t)at->lanes[1] << 32;
    const uint16_t *word = (const uint16_t *)(at + 1);
    struct race_access look = {.race = race, .access = &access, .block = b, .warp = &b->warp[warp],
                             .me = at->me, .site = at->site, .kb = at->kb, .plain = true};
    uint64_t address[EMU_MAX_LANES];

    b->actor = at->me >> RACE_THREAD_BITS;
    b->kb = at->kb;
    b->warp[warp].kw = at->kw;
    race->now = at->now;
    if (at->form != LATER_EACH) {
        const struct emu_addr_segment piece = {
            page + 4u * at->word, (uint8_t)lw_lowest(lanes),
            (uint8_t)(63 - __builtin_clzll(lanes)), at->form == LATER_RUN};
        race_access_segment(&look, &piece, lanes);
        return at + 1;
    }
    for (LW_EACH_BIT(l, lanes))
        address[l] = page + 4u * *word++;
    race_access_replay(&look, address, lanes);
    return (const uint32_t *)(at + 1) + (lw_popcount(lanes) + 1) / 2;
}

/** All that was kept of the page at the address @page, as if it had been until now. */
static void look_at_all(struct chk_race *race, struct race_page_shadow *cells, uint64_t page)
{
    struct race_shadow *shadow = &race->shadow;
    const uint32_t now = race->now;
    struct race_deferred_page_chunk *next, *chunk = cells->first;

    cells->first = cells->last = NULL;
    cells->later_at = 0; /* what is looked at now is not kept again */
    for (; chunk != NULL; chunk = next) {
        const char *at = (const char *)chunk->data, *end = at + chunk->used;

        while (at < end)
            at = look_again(race, (const void *)at, page);
        next = chunk->next;
        chunk->next = shadow->spare;
        shadow->spare = chunk;
    }
    race->now = now;
}

void race_deferred_page_flush(struct chk_race *race, struct race_page_shadow *cells, uint64_t offset)
{
    struct race_shadow *shadow = &race->shadow;
    const uint64_t page = ISA_GLOBAL_BASE + (offset >> RACE_PAGE_SHIFT << RACE_PAGE_SHIFT);

    race_range_wakes(race, offset);
    if (cells->awake_at == shadow->epoch)
        return; /* what was kept has filled its list */
    if (!race_shadow_rows(shadow, cells)) {
        race->short_of_memory = true;
        return;
    }
    cells->awake_at = shadow->epoch;
    race_shadow_is_valid(shadow, cells, offset);
    if (cells->later_at == shadow->epoch)
        look_at_all(race, cells, page);
}

/** The page at @offset; NULL: nothing is known of it. */
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

    if (cells == NULL || cells->later_at != shadow->epoch)
        return true;
    for (const struct race_deferred_page_chunk *chunk = cells->first; chunk != NULL; chunk = chunk->next) {
        const char *at = (const char *)chunk->data, *end = at + chunk->used;

        while (at < end) {
            const struct later *one = (const void *)at;
            const unsigned lanes = lw_popcount(one->lanes[0]) + lw_popcount(one->lanes[1]);

            if (one->shift != 2)
                return false;
            at = (const char *)(one + 1) + (one->form == LATER_EACH ? (lanes + 1) / 2 * 4 : 0);
            ++*count;
        }
    }
    return true;
}

void race_deferred_page_move(struct chk_race *race, uint64_t offset)
{
    struct race_page_shadow *cells = page_at(&race->shadow, offset);

    if (cells != NULL && cells->later_at == race->shadow.epoch)
        look_at_all(race, cells, ISA_GLOBAL_BASE + (offset >> RACE_PAGE_SHIFT << RACE_PAGE_SHIFT));
}

void race_deferred_page_flush_all(struct chk_race *race, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = (offset + bytes - 1) >> RACE_PAGE_SHIFT;

    for (uint64_t page = offset >> RACE_PAGE_SHIFT;
         race->shadow.pool_used != 0 && page <= end && page >> (2 * RACE_TABLE_SHIFT) == 0; page++) {
        struct race_page_shadow **table = race->shadow.table[page >> RACE_TABLE_SHIFT];
        struct race_page_shadow *cells =
            table != NULL ? table[page & ((1 << RACE_TABLE_SHIFT) - 1)] : NULL;

        if (cells != NULL && cells->awake_at != race->shadow.epoch)
            race_deferred_page_flush(race, cells, page << RACE_PAGE_SHIFT);
    }
}

void race_deferred_page_forget(struct race_shadow *shadow)
{
    shadow->epoch++;
    shadow->pool_used = 0;
    shadow->spare = NULL;
    race_shadow_is_invalid(shadow);
}

void race_deferred_page_end(struct race_shadow *shadow)
{
    for (size_t i = 0; i < shadow->pool_count; i++)
        free(shadow->pools[i]);
    free(shadow->pools);
}
