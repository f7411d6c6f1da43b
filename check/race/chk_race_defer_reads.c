/* SPDX-License-Identifier: Apache-2.0 */
/* Races: reads of allocations that no kernel has written. They are kept as one list for each, as they were made,
 * and are looked at only if something else touches the allocation before the host's next launch. */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* A list is at most twice as large as its allocation: what is read more often becomes quiet, for which
 * cells are needed. */
enum { CHUNK_WORDS = 1 << 16 };
enum { FORM_NOW, FORM_ONE, FORM_RUN, FORM_EACH, FORM_STRIDE, FORM_SHIFT = RACE_SITE_BITS };

enum { SLAB_CHUNKS = 7, FEW_CHUNKS = 2 };
struct race_deferred_reads {
    struct race_deferred_reads *next;
    unsigned used; /* words of data */
    bool alone;    /* in no slab */
    uint32_t data[CHUNK_WORDS + RACE_WORDS_BEYOND];
};
/** Where there are more than a few they are in large pages of the host, which come sooner than small ones. */
struct race_deferred_reads_slab {
    struct race_deferred_reads_slab *next;
    struct race_deferred_reads chunk[SLAB_CHUNKS];
};
_Static_assert(sizeof(struct race_deferred_reads_slab) <= RACE_SLAB_QUADS, "chunks of a large page");
/* Of reads: site and form in a word, the thread of lane 0, and lanes; the word in the allocation of the first
 * lane follows, or (FORM_EACH) of all, or (FORM_STRIDE) of the first and how many words a lane is behind the one
 * before it. Before those of which they are not what they were FORM_NOW: the tick, and
 * what the warp knows of its block and of itself. */
enum { WORDS_NOW = 4, WORDS_HEAD = 4, WORDS_STRIDE = 2 };

struct race_range *race_range_at(struct chk_race *race, uint64_t offset)
{
    struct race_range *r = race->range_last;
    struct emu_allocation a;
    bool inside;

    if (r != NULL && offset >= r->first && offset < r->end)
        return r;
    for (unsigned i = 0; i < race->range_count; i++) {
        r = &race->ranges[i];
        if (offset >= r->first && offset < r->end)
            return race->range_last = r;
    }
    if (race->range_count == RACE_MOST_RANGES || offset >> 36 != 0 ||
        !emu_allocation_at(race->machine, ISA_GLOBAL_BASE + offset, &a, &inside) || !inside ||
        a.flags & (EMU_ALLOC_HEAP | EMU_ALLOC_FREED) || a.size_bytes >> 34 != 0)
        return NULL;
    if (race->ranges == NULL)
        race->ranges = malloc(RACE_MOST_RANGES * sizeof *race->ranges);
    if (race->ranges == NULL)
        return NULL; /* it is looked at, then */
    r = &race->ranges[race->range_count++];
    *r = (struct race_range){.first = a.address - ISA_GLOBAL_BASE,
                             .end = a.address - ISA_GLOBAL_BASE + a.size_bytes};
    return race->range_last = r;
}

/** What is kept of a range is of no use any more. */
static void drop(struct chk_race *race, struct race_range *r)
{
    if (r->kept == NULL)
        return;
    race->kept_count--;
    r->last->next = race->kept_spare;
    race->kept_spare = r->kept;
    r->kept = r->last = NULL;
    r->words = 0;
}

void race_deferred_reads_forget(struct chk_race *race)
{
    for (unsigned i = 0; i < race->range_count; i++)
        drop(race, &race->ranges[i]);
}

void race_deferred_reads_end(struct chk_race *race)
{
    race_deferred_reads_forget(race);
    race_packed_free(race);
    for (struct race_deferred_reads *chunk = race->kept_spare, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        if (chunk->alone)
            free(chunk);
    }
    for (struct race_deferred_reads_slab *slab = race->kept_slabs, *next; slab != NULL; slab = next) {
        next = slab->next;
        race_large_free(slab, RACE_SLAB_QUADS);
    }
    free(race->ranges);
    free(race->kept_again);
}

void race_range_begins(const struct chk_race *race, struct race_range *r)
{
    r->epoch = race->shadow.epoch;
    r->keeps = !r->written;
    for (uint64_t page = r->first >> RACE_PAGE_SHIFT;
         r->keeps && page <= (r->end - 1) >> RACE_PAGE_SHIFT; page++)
        r->keeps = race->shadow.awake[page] == NULL;
}

/** Look at a read as it was made, or see when it was. */
static const uint32_t *look_again(struct chk_race *race, struct race_access *look, uint64_t base,
                                  uint32_t *kw, const uint32_t *at)
{
    struct race_block *b = race->kept_again;
    const uint32_t form = *at >> FORM_SHIFT;
    uint64_t address[EMU_MAX_LANES];

    if (form == FORM_NOW) {
        race->now = at[1];
        b->kb = look->kb = at[2];
        *kw = at[3];
        return at + WORDS_NOW;
    }
    const uint64_t lanes = at[2] | (uint64_t)at[3] << 32;
    look->site = *at & (uint32_t)lw_mask(RACE_SITE_BITS);
    look->me = at[1];
    b->actor = look->me >> RACE_THREAD_BITS;
    look->warp = &b->warp[(look->me & ((1 << RACE_THREAD_BITS) - 1)) / b->width];
    look->warp->kw = *kw;
    at += WORDS_HEAD;
    if (form == FORM_ONE || form == FORM_RUN) {
        const struct emu_addr_segment piece = {base + 4 * (uint64_t)*at, (uint8_t)lw_lowest(lanes),
                                            (uint8_t)(63 - __builtin_clzll(lanes)), form == FORM_RUN};
        race_access_segment(look, &piece, lanes);
        return at + 1;
    }
    const unsigned low = lw_lowest(lanes);
    for (LW_EACH_BIT(l, lanes))
        address[l] = base + 4 * (uint64_t)(form == FORM_EACH ? *at++ : at[0] + ((uint32_t)l - low) * at[1]);
    race_access_replay(look, address, lanes);
    return form == FORM_EACH ? at : at + WORDS_STRIDE;
}

void race_deferred_reads_leave(struct chk_race *race, uint64_t offset)
{
    struct race_range *r = race_range_at(race, offset);

    if (r == NULL || r->kept == NULL)
        return;
    struct emu_hook_access access = {.kind = EMU_ACCESS_LOAD, .space = ISA_SPACE_GLOBAL, .bytes = 4};
    struct race_access look = {.race = race, .access = &access, .block = race->kept_again,
                             .plain = true, .waits = true};
    const uint64_t base = ISA_GLOBAL_BASE + r->first;
    const uint32_t now = race->now;
    struct race_deferred_reads *all = r->kept, *last = r->last;
    uint32_t kw = 0;

    r->kept = r->last = NULL; /* what is looked at now is not kept again */
    r->words = 0;
    r->keeps = false;
    race->kept_count--;
    for (struct race_deferred_reads *chunk = all; chunk != NULL; chunk = chunk->next)
        for (const uint32_t *at = chunk->data, *end = at + chunk->used; at < end;)
            at = look_again(race, &look, base, &kw, at);
    race->now = now;
    last->next = race->kept_spare;
    race->kept_spare = all;
}

void race_range_wakes(struct chk_race *race, uint64_t offset)
{
    const uint64_t page = offset >> RACE_PAGE_SHIFT;

    for (unsigned i = 0; i < race->range_count; i++) {
        struct race_range *r = &race->ranges[i];

        if (page < r->first >> RACE_PAGE_SHIFT || page > (r->end - 1) >> RACE_PAGE_SHIFT)
            continue;
        race_deferred_reads_leave(race, r->first);
        r->keeps = false; /* or not known yet: its page says so */
    }
}

/** More chunks that are spare. False: no memory. */
static bool make_chunks(struct chk_race *race)
{
    if (race->kept_chunks < FEW_CHUNKS) {
        struct race_deferred_reads *chunk = malloc(sizeof *chunk);

        if (chunk == NULL)
            return false;
        chunk->alone = true;
        chunk->next = race->kept_spare;
        race->kept_spare = chunk;
        race->kept_chunks++;
        return true;
    }
    struct race_deferred_reads_slab *slab = race_large_make(RACE_SLAB_QUADS);
    if (slab == NULL)
        return false;
    slab->next = race->kept_slabs;
    race->kept_slabs = slab;
    for (unsigned i = SLAB_CHUNKS; i-- > 0;) {
        slab->chunk[i].alone = false;
        slab->chunk[i].next = race->kept_spare;
        race->kept_spare = &slab->chunk[i];
    }
    race->kept_chunks += SLAB_CHUNKS;
    return true;
}

/** Room for more in another chunk; NULL: none, or no memory. */
static uint32_t *more_room(struct chk_race *race, struct race_range *r, unsigned words)
{
    if (r->words > (r->end - r->first) / 2 || (race->kept_spare == NULL && !make_chunks(race)))
        return NULL;
    struct race_deferred_reads *chunk = race->kept_spare;
    race->kept_spare = chunk->next;
    chunk->next = NULL;
    chunk->used = words;
    race->kept_count += r->kept == NULL;
    *(r->kept != NULL ? &r->last->next : &r->kept) = chunk;
    r->last = chunk;
    r->words += CHUNK_WORDS;
    return chunk->data;
}

/** Room for @words at the end of a range's list; NULL: none, or no memory. */
static inline uint32_t *room_for(struct chk_race *race, struct race_range *r, unsigned words)
{
    struct race_deferred_reads *chunk = r->last;

    if (chunk == NULL || chunk->used + words > CHUNK_WORDS)
        return more_room(race, r, words);
    chunk->used += words;
    return &chunk->data[chunk->used - words];
}

static bool stand_in(const struct race_access *look)
{
    struct chk_race *race = look->race;

    if (race->kept_again == NULL)
        race->kept_again = race_replay_block(look->block->width);
    if (race->kept_again != NULL)
        race->kept_again->base = look->block->base;
    return race->kept_again != NULL;
}

/** Room for @count words of a read, whose head is filled; NULL: none. */
static inline uint32_t *keep(const struct race_access *look, struct race_range *r, unsigned form, uint64_t lanes,
                             unsigned count, uint32_t tick)
{
    const uint32_t now[WORDS_NOW - 1] = {tick, look->kb, look->warp->kw};
    const bool same = ((r->now[0] ^ now[0]) | (r->now[1] ^ now[1]) | (r->now[2] ^ now[2])) == 0 && r->kept != NULL;
    uint32_t *at = room_for(look->race, r, WORDS_HEAD + count + (same ? 0 : WORDS_NOW));

    if (at == NULL)
        return NULL;
    if (!same) {
        *at++ = FORM_NOW << FORM_SHIFT;
        memcpy(at, now, sizeof now);
        memcpy(r->now, now, sizeof now);
        at += WORDS_NOW - 1;
    }
    *at++ = look->site | form << FORM_SHIFT;
    *at++ = look->me;
    *at++ = (uint32_t)lanes;
    *at++ = (uint32_t)(lanes >> 32);
    return at;
}

/** It is kept no more: what was kept is looked at. */
static bool leave(struct chk_race *race, struct race_range *r)
{
    race_deferred_reads_leave(race, r->first);
    r->keeps = false;
    return false;
}

/** By how many words each lane of @e is behind the one before it, modulo 2^32; false: they are not whole ones. */
static bool stride_of(const struct emu_access_record *e, uint32_t *words)
{
    const unsigned lanes = 63 - (unsigned)__builtin_clzll(e->lanes) - lw_lowest(e->lanes);
    const uint32_t last = e->word[0] + lanes * e->word[1];
    /* of units that are no words: all are in one allocation, so that the last says where they go */
    const uint64_t step = e->word[1] - (last < e->word[0] ? UINT64_C(1) << 32 : 0);

    *words = e->scale == 2 ? e->word[1] : (uint32_t)((step << e->scale) / 4);
    return e->scale == 2 || (step << e->scale & 3) == 0;
}

bool race_deferred_read(const struct race_access *look, struct race_range *r, const struct emu_access_record *e,
                     uint32_t now)
{
    static const unsigned forms[] = {FORM_EACH, FORM_RUN, FORM_ONE, FORM_STRIDE};
    typedef uint32_t words __attribute__((vector_size(4 * RACE_WORDS_AT_ONCE)));
    const uint64_t base = e->base - ISA_GLOBAL_BASE - r->first;
    const unsigned n = e->form == EMU_ADDR_GATHER ? e->count : 1;
    uint32_t stride = 0;
    uint64_t odd = 0;

    if (!look->plain || !race_range_is_deferring(look->race, r))
        return false; /* as any other is */
    for (unsigned k = 0; k < n && e->scale < 2; k++)
        odd |= (uint64_t)e->word[k] << e->scale;
    if (((base | odd) & 3) != 0 || (e->form == EMU_ADDR_STRIDED && !stride_of(e, &stride)))
        return false;
    uint32_t *at = stand_in(look) ? keep(look, r, forms[e->form], e->lanes,
                                         e->form == EMU_ADDR_STRIDED ? WORDS_STRIDE : n, now) : NULL;
    if (at == NULL)
        return leave(look->race, r);
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

bool race_deferred_reads(const struct race_access *look, uint64_t at)
{
    struct chk_race *race = look->race;
    const struct emu_hook_access *a = look->access;

    if (race->log == NULL || !look->waits || a->bytes != 4 || look->site & RACE_HOW || at < ISA_GLOBAL_BASE)
        return false;
    struct race_range *r = race_range_at(race, at - ISA_GLOBAL_BASE);
    if (r == NULL || !race_range_is_deferring(race, r) || (r->kept == NULL && race_in_full(look)))
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
    if (!stand_in(look))
        return leave(race, r);
    const bool pieces = a->piece_count == 1;
    const struct emu_addr_segment *p = &a->piece[0];
    uint32_t *word = keep(look, r, !pieces ? FORM_EACH : p->run ? FORM_RUN : FORM_ONE, a->at.lanes,
                          pieces ? 1 : lw_popcount(a->at.lanes), race->now);
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

void race_range_ends(struct chk_race *race, uint64_t offset, uint64_t bytes)
{
    for (unsigned i = 0; i < race->range_count; i++) {
        struct race_range *r = &race->ranges[i];

        if (r->first >= offset + bytes || offset >= r->end)
            continue;
        race_deferred_reads_leave(race, r->first);
        race_packed_end(race, r);
        race_batch_revoke(race);
        *r = race->ranges[--race->range_count];
        i--;
        race->range_last = NULL;
    }
}
