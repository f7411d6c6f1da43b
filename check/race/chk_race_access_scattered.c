/* SPDX-License-Identifier: Apache-2.0 */
/* Races: words of global memory that are looked at by themselves, as scattered lanes have them. */
#include "check/race/chk_race_priv.h"

/** A word that a block has read which nothing orders with @me, who reads it now. @second: what else is
 *  kept of readers. */
static inline void join_readers(const struct race_access *look, uint32_t *quad, uint32_t *second,
                                uint32_t me)
{
    const uint32_t known = (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT | look->site;

    if (quad[RACE_QUAD_SITE] != known) { /* else the record holds this one already */
        second[0] = quad[RACE_QUAD_READ];
        second[1] = quad[RACE_QUAD_WHO];
        second[2] = quad[RACE_QUAD_SITE];
        quad[RACE_QUAD_WHO] = me;
        quad[RACE_QUAD_SITE] = known;
    }
    quad[RACE_QUAD_READ] = look->race->now;
}

/** @me reads a word that another block has written, and both were told of. False: nothing was done.
 *  @write: who and site of the write; @second: as above. */
static inline bool reads_behind(const struct race_access *look, uint32_t *quad, const uint32_t *write,
                                uint32_t *second, uint32_t me)
{
    const uint32_t base = look->block->base, actor = look->block->actor;
    const bool read = quad[RACE_QUAD_READ] > base;

    if (quad[RACE_QUAD_WRITE] <= base || write[0] >> RACE_THREAD_BITS == actor ||
        write[1] & (RACE_HOW | (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT) ||
        (read && (quad[RACE_QUAD_WHO] >> RACE_THREAD_BITS == actor ||
                  quad[RACE_QUAD_SITE] & RACE_HOW)) ||
        !race_found_repeat(look, write[1]))
        return false;
    if (read) {
        join_readers(look, quad, second, me);
        return true;
    }
    quad[RACE_QUAD_READ] = look->race->now;
    quad[RACE_QUAD_WHO] = me;
    quad[RACE_QUAD_SITE] = look->site;
    return true;
}

/** The same where the own block has read it last. As chunk_merge in chk_race_access_wide_body.h. */
static inline void join_own(const struct race_access *look, uint32_t *quad, uint32_t *second, uint32_t me)
{
    const uint32_t base = look->block->base, kb = look->kb, kw = look->warp->kw;
    const uint32_t warp = ~(look->block->width - 1), actor = look->block->actor;
    const uint32_t time = quad[RACE_QUAD_READ], who = quad[RACE_QUAD_WHO];
    const uint32_t old = quad[RACE_QUAD_SITE] >> RACE_LEVEL_SHIFT;
    const bool lane = who != me, warps = ((who ^ me) & warp) != 0;
    const uint32_t between = warps ? RACE_BLOCK : lane ? RACE_WARP : RACE_THREAD;
    const uint32_t level = old > between ? old : between;
    const bool last = !lane || time <= kb || (!warps && time <= kw);
    const bool before = old == RACE_THREAD || second[RACE_TIME] <= base || second[RACE_WHO] == me ||
                        (second[RACE_WHO] >> RACE_THREAD_BITS == actor && second[RACE_TIME] <= kb) ||
                        (((second[RACE_WHO] ^ me) & warp) == 0 && second[RACE_TIME] <= kw);
    const bool known = (old <= RACE_BLOCK && time <= kb) ||
                       (!warps && old <= RACE_WARP && time <= kw) || (last && before);

    if (!known && between == level && level != RACE_THREAD) {
        second[RACE_TIME] = time;
        second[RACE_WHO] = who;
        second[RACE_SITE] = quad[RACE_QUAD_SITE];
    }
    quad[RACE_QUAD_SITE] = look->site | (known ? 0 : level) << RACE_LEVEL_SHIFT;
    quad[RACE_QUAD_WHO] = me;
    quad[RACE_QUAD_READ] = look->race->now;
}

/** @lane stores to a word that other blocks have read or written, as was told, or that it alone has. False:
 *  nothing was done. @write: who and site of the last write; @second: as above. */
static inline bool writes_behind(struct race_access *look, uint32_t *quad, uint32_t *write,
                                 const uint32_t *second, unsigned lane, uint64_t at)
{
    const uint32_t base = look->block->base, actor = look->block->actor, me = look->me + lane;
    uint32_t who = quad[RACE_QUAD_WHO], site = quad[RACE_QUAD_SITE], met[2];
    unsigned count = 0;

    if (quad[RACE_QUAD_WRITE] > base) {
        if (write[0] >> RACE_THREAD_BITS == actor ||
            write[1] & (RACE_HOW | (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT))
            return false;
        met[count++] = write[1];
    }
    if (quad[RACE_QUAD_READ] > base &&
        (who != me || site >> RACE_LEVEL_SHIFT != RACE_THREAD || site & RACE_HOW)) {
        if (site >> RACE_LEVEL_SHIFT != RACE_GRID || site & RACE_HOW)
            return false;
        if (who == me) { /* the reader before it, then */
            if (second[RACE_TIME] <= base)
                return false;
            who = second[RACE_WHO];
            site = second[RACE_SITE];
        }
        if (who >> RACE_THREAD_BITS == actor)
            return false;
        met[count++] = site;
    }
    if (count != 0 && !race_found_lockstep(look, met, count, lane, at))
        return false;
    quad[RACE_QUAD_READ] = 0;
    quad[RACE_QUAD_WRITE] = look->race->now;
    write[0] = me;
    write[1] = look->site;
    return true;
}

void race_words_find(const struct race_access *look, const uint64_t *address, uint64_t lanes,
                       struct race_words *out)
{
    const struct chk_race *race = look->race;
    const bool words = look->access->bytes == 4 && !look->sets && !(look->write && race->any_quiet);
    uint64_t other = words ? 0 : lanes;
    unsigned count = 0;

    for (uint64_t rest = words ? lanes : 0; rest != 0; rest &= rest - 1) {
        const unsigned l = lw_lowest(rest);
        const uint64_t offset = address[l] - ISA_GLOBAL_BASE;
        uint32_t *quad = race_shadow_quads(&race->shadow, offset);

        if ((uintptr_t)quad <= (uintptr_t)RACE_AWAKE || offset % 4 != 0) {
            other |= UINT64_C(1) << l;
            continue;
        }
        quad += (offset & ((1 << RACE_PAGE_SHIFT) - 1)) / 4 * RACE_QUAD;
        __builtin_prefetch(quad, 1);
        out->quad[count] = quad;
        out->lane[count++] = (uint8_t)l;
    }
    out->other = other;
    out->count = count;
}

/** Weak reads where nobody has facts. Which of the cells are new, known, or have another reader changes from each
 *  to the next: no branch asks for it. Those that need a closer look are left. */
static unsigned reads_new(const struct race_access *look, struct race_words *words)
{
    const uint32_t now = look->race->now, base = look->block->base, site = look->site;
    const uint32_t actor = look->block->actor, me = look->me;
    const uint32_t known = (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT | site;
    uint32_t none[RACE_REST];
    unsigned late = 0;

    for (unsigned k = 0; k < words->count; k++) {
        uint32_t *quad = words->quad[k];
        const uint32_t mine = me + words->lane[k];
        const uint32_t time = quad[RACE_QUAD_READ], who = quad[RACE_QUAD_WHO], how = quad[RACE_QUAD_SITE];
        const bool written = quad[RACE_QUAD_WRITE] > base, read = time > base;
        uint32_t *write = race_hot_warm(quad) + RACE_REST * race_hot_index(quad);
        const bool odd = read & ((who >> RACE_THREAD_BITS == actor) | ((how & RACE_HOW) != 0));

        if (__builtin_expect(odd, false) && !written && !(how & RACE_HOW)) {
            join_own(look, quad, write + RACE_REST_READ_2, mine);
            continue;
        }
        /* a word that another block has written, and both were told of, is read as any other */
        if (__builtin_expect(odd, false) ||
            (written && (write[0] >> RACE_THREAD_BITS == actor ||
                         write[1] & (RACE_HOW | (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT) ||
                         !race_found_repeat(look, write[1])))) {
            /* so does each lane behind it that has the same place: their order stays */
            words->lane[late] = words->lane[k];
            words->quad[late++] = quad;
            continue;
        }
        /* as join_readers */
        const uint32_t is_read = 0 - (uint32_t)read, is_known = is_read & (0 - (uint32_t)(how == known));
        uint32_t *const places[2] = {none, write + RACE_REST_READ_2};
        uint32_t *second = places[(is_read & ~is_known) & 1];
        second[0] = time;
        second[1] = who;
        second[2] = how;
        quad[RACE_QUAD_READ] = now;
        quad[RACE_QUAD_WHO] = (who & is_known) | (mine & ~is_known);
        quad[RACE_QUAD_SITE] = (known & is_read) | (site & ~is_read);
    }
    return late;
}

void race_words_new(const struct race_access *look, struct race_words *words)
{
    const uint32_t now = look->race->now, base = look->block->base, site = look->site;
    const uint32_t me = look->me;
    unsigned late = 0;

    if (look->plain && !(site & RACE_HOW) && !look->write) {
        words->count = reads_new(look, words);
        return;
    }
    for (unsigned k = 0; k < words->count; k++) {
        uint32_t *quad = words->quad[k];
        const uint32_t mine = me + words->lane[k];

        if (quad[RACE_QUAD_WRITE] <= base && quad[RACE_QUAD_READ] <= base) {
            if (look->write) {
                uint32_t *write = race_hot_warm(quad) + RACE_REST * race_hot_index(quad);

                quad[RACE_QUAD_READ] = 0;
                quad[RACE_QUAD_WRITE] = now;
                write[0] = mine;
                write[1] = site;
            } else {
                quad[RACE_QUAD_READ] = now;
                quad[RACE_QUAD_WHO] = mine;
                quad[RACE_QUAD_SITE] = site;
            }
            continue;
        }
        /* so does each lane behind it that has the same place: their order stays */
        words->lane[late] = words->lane[k];
        words->quad[late++] = quad;
    }
    words->count = late;
}

void race_words_slow(struct race_access *look, const uint64_t *address, struct race_words *words)
{
    const bool weak = look->plain && !(look->site & RACE_HOW);
    unsigned k = 0;

    while (k < words->count || words->other != 0) {
        const unsigned low = words->other != 0 ? lw_lowest(words->other) : EMU_MAX_LANES;
        unsigned lane = low;

        if (k < words->count && words->lane[k] < low) {
            uint32_t *quad = words->quad[k];
            uint32_t *write = race_hot_warm(quad) + RACE_REST * race_hot_index(quad);
            uint32_t *second = write + RACE_REST_READ_2;

            lane = words->lane[k++];
            if (weak && (look->write ? writes_behind(look, quad, write, second, lane, address[lane])
                                     : reads_behind(look, quad, write, second, look->me + lane)))
                continue;
        } else {
            words->other &= words->other - 1;
        }
        race_access_at(look, lane, address[lane]);
    }
}

void race_words_prefetch(const struct race_words *words)
{
    for (unsigned k = 0; k < words->count; k++) {
        const uint32_t *rest = race_hot_warm(words->quad[k]);

        __builtin_prefetch(&rest[RACE_REST * race_hot_index(words->quad[k])], 1);
    }
}

void race_words_each(struct race_access *look, const uint64_t *address, uint64_t lanes)
{
    struct race_words words;

    race_words_find(look, address, lanes, &words);
    race_words_new(look, &words);
    if (words.count > 1)
        race_words_prefetch(&words);
    if (words.count != 0 || words.other != 0)
        race_words_slow(look, address, &words);
}
