/* SPDX-License-Identifier: Apache-2.0 */
/* Races: words of global memory that are looked at by themselves, as scattered lanes have them. */
#include "check/race/chk_race_priv.h"

/** A word that a block has read which nothing orders with @self_tid, that reads it now. @second: what else is
 *  kept of readers. */
static inline void join_readers(const struct race_access *ctx, uint32_t *hot, uint32_t *second,
                                uint32_t self_tid)
{
    const uint32_t known = (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT | ctx->site;

    if (hot[RACE_HOT_SITE] != known) { /* else the record holds this one already */
        second[0] = hot[RACE_HOT_READ];
        second[1] = hot[RACE_HOT_TID];
        second[2] = hot[RACE_HOT_SITE];
        hot[RACE_HOT_TID] = self_tid;
        hot[RACE_HOT_SITE] = known;
    }
    hot[RACE_HOT_READ] = ctx->race->order.clock;
}

/** @self_tid reads a word that another block has written, and both were reported. False: nothing was done.
 *  @write: who and site of the write; @second: as above. */
static inline bool reads_rest(const struct race_access *ctx, uint32_t *hot, const uint32_t *write,
                                uint32_t *second, uint32_t self_tid)
{
    const uint32_t base = ctx->block->vc_floor, block_id = ctx->block->block_id;
    const bool read = hot[RACE_HOT_READ] > base;

    if (hot[RACE_HOT_WRITE] <= base || write[0] >> RACE_THREAD_BITS == block_id ||
        write[1] & (RACE_HOW | (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT) ||
        (read && (hot[RACE_HOT_TID] >> RACE_THREAD_BITS == block_id ||
                  hot[RACE_HOT_SITE] & RACE_HOW)) ||
        !race_found_repeat(ctx, write[1]))
        return false;
    if (read) {
        join_readers(ctx, hot, second, self_tid);
        return true;
    }
    hot[RACE_HOT_READ] = ctx->race->order.clock;
    hot[RACE_HOT_TID] = self_tid;
    hot[RACE_HOT_SITE] = ctx->site;
    return true;
}

/** The same where the own block has read it last. As chunk_merge in chk_race_access_wide_body.h. */
static inline void join_own(const struct race_access *ctx, uint32_t *hot, uint32_t *second, uint32_t self_tid)
{
    const uint32_t base = ctx->block->vc_floor, vc_block = ctx->vc_block, vc_warp = ctx->warp->vc_warp;
    const uint32_t warp = ~(ctx->block->width - 1), block_id = ctx->block->block_id;
    const uint32_t time = hot[RACE_HOT_READ], tid = hot[RACE_HOT_TID];
    const uint32_t old = hot[RACE_HOT_SITE] >> RACE_LEVEL_SHIFT;
    const bool lane = tid != self_tid, warps = ((tid ^ self_tid) & warp) != 0;
    const uint32_t between = warps ? RACE_BLOCK : lane ? RACE_WARP : RACE_THREAD;
    const uint32_t level = old > between ? old : between;
    const bool last = !lane || time <= vc_block || (!warps && time <= vc_warp);
    const bool before = old == RACE_THREAD || second[RACE_CLOCK] <= base || second[RACE_TID] == self_tid ||
                        (second[RACE_TID] >> RACE_THREAD_BITS == block_id && second[RACE_CLOCK] <= vc_block) ||
                        (((second[RACE_TID] ^ self_tid) & warp) == 0 && second[RACE_CLOCK] <= vc_warp);
    const bool known = (old <= RACE_BLOCK && time <= vc_block) ||
                       (!warps && old <= RACE_WARP && time <= vc_warp) || (last && before);

    if (!known && between == level && level != RACE_THREAD) {
        second[RACE_CLOCK] = time;
        second[RACE_TID] = tid;
        second[RACE_SITE] = hot[RACE_HOT_SITE];
    }
    hot[RACE_HOT_SITE] = ctx->site | (known ? 0 : level) << RACE_LEVEL_SHIFT;
    hot[RACE_HOT_TID] = self_tid;
    hot[RACE_HOT_READ] = ctx->race->order.clock;
}

/** @lane stores to a word that other blocks have read or written, as was reported, or that it alone has. False:
 *  nothing was done. @write: who and site of the last write; @second: as above. */
static inline bool writes_rest(struct race_access *ctx, uint32_t *hot, uint32_t *write,
                                 const uint32_t *second, unsigned lane, uint64_t at)
{
    const uint32_t base = ctx->block->vc_floor, block_id = ctx->block->block_id, self_tid = ctx->self_tid + lane;
    uint32_t tid = hot[RACE_HOT_TID], site = hot[RACE_HOT_SITE], sites[2];
    unsigned count = 0;

    if (hot[RACE_HOT_WRITE] > base) {
        if (write[0] >> RACE_THREAD_BITS == block_id ||
            write[1] & (RACE_HOW | (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT))
            return false;
        sites[count++] = write[1];
    }
    if (hot[RACE_HOT_READ] > base &&
        (tid != self_tid || site >> RACE_LEVEL_SHIFT != RACE_THREAD || site & RACE_HOW)) {
        if (site >> RACE_LEVEL_SHIFT != RACE_GRID || site & RACE_HOW)
            return false;
        if (tid == self_tid) { /* the reader before it, then */
            if (second[RACE_CLOCK] <= base)
                return false;
            tid = second[RACE_TID];
            site = second[RACE_SITE];
        }
        if (tid >> RACE_THREAD_BITS == block_id)
            return false;
        sites[count++] = site;
    }
    if (count != 0 && !race_found_lockstep(ctx, sites, count, lane, at))
        return false;
    hot[RACE_HOT_READ] = 0;
    hot[RACE_HOT_WRITE] = ctx->race->order.clock;
    write[0] = self_tid;
    write[1] = ctx->site;
    return true;
}

void race_words_find(const struct race_access *ctx, const uint64_t *address, uint64_t lanes,
                       struct race_words *out)
{
    const struct chk_race *race = ctx->race;
    const bool words = ctx->access->bytes == 4 && !ctx->synchronizes && !(ctx->write && race->filter.any_page);
    uint64_t other = words ? 0 : lanes;
    unsigned count = 0;

    for (uint64_t rest = words ? lanes : 0; rest != 0; rest &= rest - 1) {
        const unsigned l = lw_lowest(rest);
        const uint64_t offset = address[l] - ISA_GLOBAL_BASE;
        uint32_t *hot = race_shadow_hot(&race->shadow, offset);

        if ((uintptr_t)hot <= (uintptr_t)RACE_VALID || offset % 4 != 0) {
            other |= UINT64_C(1) << l;
            continue;
        }
        hot += (offset & ((1 << RACE_PAGE_SHIFT) - 1)) / 4 * RACE_HOT;
        __builtin_prefetch(hot, 1);
        out->hot[count] = hot;
        out->lane[count++] = (uint8_t)l;
    }
    out->other = other;
    out->count = count;
}

/** Weak reads where no thread has a vector clock. Which of the cells are new, known, or have another reader changes
 *  from each to the next: no branch tests it. Those that need a full check are left. */
static unsigned reads_new(const struct race_access *ctx, struct race_words *words)
{
    const uint32_t now = ctx->race->order.clock, base = ctx->block->vc_floor, site = ctx->site;
    const uint32_t block_id = ctx->block->block_id, self_tid = ctx->self_tid;
    const uint32_t known = (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT | site;
    uint32_t none[RACE_WARM];
    unsigned late = 0;

    for (unsigned k = 0; k < words->count; k++) {
        uint32_t *hot = words->hot[k];
        const uint32_t mine = self_tid + words->lane[k];
        const uint32_t time = hot[RACE_HOT_READ], tid = hot[RACE_HOT_TID], how = hot[RACE_HOT_SITE];
        const bool written = hot[RACE_HOT_WRITE] > base, read = time > base;
        uint32_t *write = race_hot_warm(hot) + RACE_WARM * race_hot_index(hot);
        const bool odd = read & ((tid >> RACE_THREAD_BITS == block_id) | ((how & RACE_HOW) != 0));

        if (__builtin_expect(odd, false) && !written && !(how & RACE_HOW)) {
            join_own(ctx, hot, write + RACE_WARM_READ_2, mine);
            continue;
        }
        /* a word that another block has written, and both were reported, is read as any other */
        if (__builtin_expect(odd, false) ||
            (written && (write[0] >> RACE_THREAD_BITS == block_id ||
                         write[1] & (RACE_HOW | (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT) ||
                         !race_found_repeat(ctx, write[1])))) {
            /* so does each later lane that has the same location: their order stays */
            words->lane[late] = words->lane[k];
            words->hot[late++] = hot;
            continue;
        }
        /* as join_readers */
        const uint32_t is_read = 0 - (uint32_t)read, is_known = is_read & (0 - (uint32_t)(how == known));
        uint32_t *const targets[2] = {none, write + RACE_WARM_READ_2};
        uint32_t *second = targets[(is_read & ~is_known) & 1];
        second[0] = time;
        second[1] = tid;
        second[2] = how;
        hot[RACE_HOT_READ] = now;
        hot[RACE_HOT_TID] = (tid & is_known) | (mine & ~is_known);
        hot[RACE_HOT_SITE] = (known & is_read) | (site & ~is_read);
    }
    return late;
}

void race_words_new(const struct race_access *ctx, struct race_words *words)
{
    const uint32_t now = ctx->race->order.clock, base = ctx->block->vc_floor, site = ctx->site;
    const uint32_t self_tid = ctx->self_tid;
    unsigned late = 0;

    if (ctx->plain && !(site & RACE_HOW) && !ctx->write) {
        words->count = reads_new(ctx, words);
        return;
    }
    for (unsigned k = 0; k < words->count; k++) {
        uint32_t *hot = words->hot[k];
        const uint32_t mine = self_tid + words->lane[k];

        if (hot[RACE_HOT_WRITE] <= base && hot[RACE_HOT_READ] <= base) {
            if (ctx->write) {
                uint32_t *write = race_hot_warm(hot) + RACE_WARM * race_hot_index(hot);

                hot[RACE_HOT_READ] = 0;
                hot[RACE_HOT_WRITE] = now;
                write[0] = mine;
                write[1] = site;
            } else {
                hot[RACE_HOT_READ] = now;
                hot[RACE_HOT_TID] = mine;
                hot[RACE_HOT_SITE] = site;
            }
            continue;
        }
        /* so does each later lane that has the same location: their order stays */
        words->lane[late] = words->lane[k];
        words->hot[late++] = hot;
    }
    words->count = late;
}

void race_words_slow(struct race_access *ctx, const uint64_t *address, struct race_words *words)
{
    const bool weak = ctx->plain && !(ctx->site & RACE_HOW);
    unsigned k = 0;

    while (k < words->count || words->other != 0) {
        const unsigned low = words->other != 0 ? lw_lowest(words->other) : EMU_MAX_LANES;
        unsigned lane = low;

        if (k < words->count && words->lane[k] < low) {
            uint32_t *hot = words->hot[k];
            uint32_t *write = race_hot_warm(hot) + RACE_WARM * race_hot_index(hot);
            uint32_t *second = write + RACE_WARM_READ_2;

            lane = words->lane[k++];
            if (weak && (ctx->write ? writes_rest(ctx, hot, write, second, lane, address[lane])
                                     : reads_rest(ctx, hot, write, second, ctx->self_tid + lane)))
                continue;
        } else {
            words->other &= words->other - 1;
        }
        race_access_at(ctx, lane, address[lane]);
    }
}

void race_words_prefetch(const struct race_words *words)
{
    for (unsigned k = 0; k < words->count; k++) {
        const uint32_t *rest = race_hot_warm(words->hot[k]);

        __builtin_prefetch(&rest[RACE_WARM * race_hot_index(words->hot[k])], 1);
    }
}

void race_words_each(struct race_access *ctx, const uint64_t *address, uint64_t lanes)
{
    struct race_words words;

    race_words_find(ctx, address, lanes, &words);
    race_words_new(ctx, &words);
    if (words.count > 1)
        race_words_prefetch(&words);
    if (words.count != 0 || words.other != 0)
        race_words_slow(ctx, address, &words);
}
