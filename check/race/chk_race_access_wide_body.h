/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: accesses to consecutive words, several words at a time. chk_race_access_wide.c includes this file once
 * for each set of host instructions. Before that it defines LEVEL(name), LEVEL_TARGET and LEVEL_COUNT(n). LEVEL_COUNT(n) is a
 * constant if all calls have the same n, and otherwise n.
 */
/* If the lanes of an access have consecutive words, n words are checked together. The loops over the words have no branch.
 * They combine the results of all cells. Bit 31 of the combination is set if some cell needs a closer check. */
#define SIGN (UINT32_C(1) << 31)

/* Vector type for the hot words of LEVEL_CELLS cells. */
typedef uint32_t LEVEL(hot_cells) __attribute__((vector_size(4 * RACE_HOT * LEVEL_CELLS)));
#define EACH_QUADS(j) (unsigned j = 0; j < LEVEL_COUNT(n); j += LEVEL_CELLS)

/** Returns a word whose bit 31 is set if @x is not 0, and clear if @x is 0. */
LEVEL_TARGET static inline uint32_t LEVEL(nonzero)(uint32_t x)
{
    return x | (0 - x);
}
/** Returns the bitwise or of the hot word @word of all cells in @all. */
LEVEL_TARGET static inline uint32_t LEVEL(some)(const LEVEL(hot_cells) *all, unsigned word)
{
    uint32_t bits = 0;

    for (unsigned c = 0; c < LEVEL_CELLS; c++)
        bits |= (*all)[RACE_HOT * c + word];
    return bits;
}

/** Returns a word whose bit 31 is set if a record of some cell may be unordered with the access. This is a record that is
 *  later than @base, is not the lane's own, and is not covered by the lane's clocks. With @read the function examines the
 *  read records, otherwise the write records. */
LEVEL_TARGET static uint32_t LEVEL(chunk_unordered)(const struct race_access *ctx,
                                              const struct race_page_shadow *cells, uint32_t i, bool read,
                                              uint32_t self_tid, unsigned shift, uint32_t base, unsigned n)
{
    const uint32_t *hot = cells->hot + (size_t)RACE_HOT * i;
    const uint32_t *pair = race_at(cells, RACE_W + RACE_TID, i);
    const uint32_t vc_block = ctx->vc_block, block_id = ctx->block->block_id;
    uint32_t unordered = 0;

    for (unsigned j = 0; j < LEVEL_COUNT(n); j++, hot += RACE_HOT, pair += RACE_WARM) {
        uint32_t time = read ? hot[RACE_HOT_READ] : hot[RACE_HOT_WRITE];
        uint32_t tid = read ? hot[RACE_HOT_TID] : pair[0];
        uint32_t site = read ? hot[RACE_HOT_SITE] : pair[1];
        uint32_t other = LEVEL(nonzero)((tid ^ (self_tid + (j >> shift))) | site >> RACE_LEVEL_SHIFT);
        /* Bit 31 is set for a record of level RACE_GRID, which also holds an access of another block. */
        uint32_t grid = site & site << 1;
        uint32_t unknown = LEVEL(nonzero)(tid >> RACE_THREAD_BITS ^ block_id) | (vc_block - time) | grid;
        unordered |= (base - time) & other & unknown;
    }
    return unordered & SIGN;
}

/** For each cell, sets the hot words that the masks in @words select. The values of the four hot words are @read, the lane's
 *  thread id, @site and @write. */
LEVEL_TARGET static inline void LEVEL(chunk_set)(uint32_t *hot, uint32_t read, uint32_t self_tid,
                                                 unsigned shift, uint32_t site, uint32_t write,
                                                 const LEVEL(hot_cells) *words, unsigned n)
{
    LEVEL(hot_cells) here = LEVEL_QUADS((read, self_tid, site, write)), old;

    for (unsigned c = 1; c < LEVEL_CELLS; c++)
        here[RACE_HOT * c + RACE_HOT_TID] += c >> shift;
    if (shift == 0 || (*words)[RACE_HOT_TID] == 0) {
        const LEVEL(hot_cells) step = LEVEL_QUADS((0, LEVEL_CELLS, 0, 0));
        for (unsigned j = 0; j < LEVEL_COUNT(n); j += LEVEL_CELLS, hot += RACE_HOT * LEVEL_CELLS, here += step) {
            memcpy(&old, hot, sizeof old);
            old = (old & ~*words) | (here & *words);
            memcpy(hot, &old, sizeof old);
        }
        return;
    }
    for (unsigned j = 0; j < LEVEL_COUNT(n); j++, hot += RACE_HOT) {
        hot[RACE_HOT_READ] = (*words)[RACE_HOT_READ] != 0 ? read : hot[RACE_HOT_READ];
        hot[RACE_HOT_TID] = self_tid + (j >> shift);
        hot[RACE_HOT_SITE] = site;
        hot[RACE_HOT_WRITE] = (*words)[RACE_HOT_WRITE] != 0 ? write : hot[RACE_HOT_WRITE];
    }
}

/** Adds the read to the read record of each cell. If the record is unordered with the read, the record's new level is the
 *  lowest level that contains all readers. */
LEVEL_TARGET static void LEVEL(chunk_merge)(const struct race_access *ctx, struct race_page_shadow *cells, uint32_t i,
                        uint32_t self_tid, unsigned shift, uint32_t base, unsigned n)
{
    uint32_t *hot = cells->hot + (size_t)RACE_HOT * i;
    uint32_t *second = race_at(cells, RACE_R + RACE_CLOCK_2, i);
    const uint32_t now = ctx->race->order.clock, block_id = ctx->block->block_id, here = ctx->site;
    const uint32_t warp = ~(ctx->block->width - 1), vc_block = ctx->vc_block, vc_warp = ctx->warp->vc_warp;

    for (unsigned j = 0; j < LEVEL_COUNT(n); j++, hot += RACE_HOT, second += RACE_WARM) {
        const uint32_t time = hot[RACE_HOT_READ], tid = hot[RACE_HOT_TID];
        const uint32_t site = hot[RACE_HOT_SITE], mine = self_tid + (j >> shift);
        uint32_t old = site >> RACE_LEVEL_SHIFT;
        uint32_t lane = tid != mine, warps = ((tid ^ mine) & warp) != 0;
        uint32_t blocks = tid >> RACE_THREAD_BITS != block_id;
        uint32_t between = lane + warps + blocks, level = old > between ? old : between;
        /* As in race_ordered(), the record is ordered if all of its accesses are ordered, or if the two accesses that
         * it names are. */
        const uint32_t time2 = second[0], who2 = second[1];
        uint32_t last = (time <= base) | !lane | (!blocks & (time <= vc_block)) | (!warps & (time <= vc_warp));
        uint32_t before = (old == RACE_THREAD) | (time2 <= base) | (who2 == mine) |
                          ((who2 >> RACE_THREAD_BITS == block_id) & (time2 <= vc_block)) |
                          ((((who2 ^ mine) & warp) == 0) & (time2 <= vc_warp));
        uint32_t known = (time <= base) | (!blocks & (old <= RACE_BLOCK) & (time <= vc_block)) |
                         (!warps & (old <= RACE_WARP) & (time <= vc_warp)) | (last & before);
        if (!known && between == level) {
            second[0] = time;
            second[1] = tid;
            second[2] = site;
        }
        hot[RACE_HOT_SITE] = here | (known ? 0 : level) << RACE_LEVEL_SHIFT;
        hot[RACE_HOT_TID] = mine;
        hot[RACE_HOT_READ] = now;
    }
}

/** Checks the reads of n words together. Returns false if it has not made the check: each cell must then be checked by
 *  itself. */
LEVEL_TARGET static bool LEVEL(chunk_read)(const struct race_access *ctx, struct race_page_shadow *cells, uint32_t i,
                       uint32_t self_tid, unsigned shift, uint32_t base, unsigned n)
{
    uint32_t *hot = cells->hot + (size_t)RACE_HOT * i;
    const LEVEL(hot_cells) bases = LEVEL_QUADS((base, base, base, base));
    const uint32_t block_id = ctx->block->block_id, now = ctx->race->order.clock, vc_block = ctx->vc_block;
    LEVEL(hot_cells) late = bases ^ bases, all_late, all, differ, at;

    for EACH_QUADS(j) {
        memcpy(&at, hot + RACE_HOT * j, sizeof at);
        late |= bases - at;
    }
    if ((LEVEL(some)(&late, RACE_HOT_WRITE) & SIGN) != 0 &&
        LEVEL(chunk_unordered)(ctx, cells, i, false, self_tid, shift, base, n) != 0)
        return false;
    if (!(LEVEL(some)(&late, RACE_HOT_READ) & SIGN)) {
        const LEVEL(hot_cells) words = LEVEL_QUADS((~0u, ~0u, ~0u, 0));
        LEVEL(chunk_set)(hot, now, self_tid, shift, ctx->site, 0, &words, n);
        return true;
    }
    const LEVEL(hot_cells) mine = LEVEL_QUADS((0, block_id << RACE_THREAD_BITS, ctx->site, 0));
    late ^= late;
    all_late = all = ~late;
    differ = late;
    for EACH_QUADS(j) {
        memcpy(&at, hot + RACE_HOT * j, sizeof at);
        all_late &= bases - at;
        all &= at;
        differ |= at ^ mine;
    }
    if (!ctx->plain || (LEVEL(some)(&differ, RACE_HOT_SITE) & RACE_HOW) != 0)
        return false;
    /* Tests whether the records already include this read. */
    uint32_t level = RACE_GRID, is_late = SIGN;
    for (unsigned c = 0; c < LEVEL_CELLS; c++) {
        level &= all[RACE_HOT * c + RACE_HOT_SITE] >> RACE_LEVEL_SHIFT;
        is_late &= all_late[RACE_HOT * c + RACE_HOT_READ];
    }
    if (is_late != 0 && (LEVEL(some)(&differ, RACE_HOT_SITE) << 2) == 0 &&
        (level == RACE_GRID ||
         (level == RACE_BLOCK && vc_block <= base && LEVEL(some)(&differ, RACE_HOT_TID) >> RACE_THREAD_BITS == 0))) {
        const LEVEL(hot_cells) words = LEVEL_QUADS((~0u, 0, 0, 0));
        LEVEL(chunk_set)(hot, now, 0, shift, 0, 0, &words, n);
    } else {
        LEVEL(chunk_merge)(ctx, cells, i, self_tid, shift, base, n);
    }
    return true;
}

LEVEL_TARGET static bool LEVEL(chunk_write)(const struct race_access *ctx, struct race_page_shadow *cells, uint32_t i,
                        uint32_t self_tid, unsigned shift, uint32_t base, unsigned n)
{
    uint32_t *hot = cells->hot + (size_t)RACE_HOT * i;
    uint32_t *pair = race_at(cells, RACE_W + RACE_TID, i);
    const LEVEL(hot_cells) bases = LEVEL_QUADS((base, base, base, base));
    const LEVEL(hot_cells) words = LEVEL_QUADS((~0u, 0, 0, ~0u));
    LEVEL(hot_cells) late = bases ^ bases, at;

    for EACH_QUADS(j) {
        memcpy(&at, hot + RACE_HOT * j, sizeof at);
        late |= bases - at;
    }
    if (((LEVEL(some)(&late, RACE_HOT_WRITE) & SIGN) != 0 &&
         LEVEL(chunk_unordered)(ctx, cells, i, false, self_tid, shift, base, n) != 0) ||
        ((LEVEL(some)(&late, RACE_HOT_READ) & SIGN) != 0 &&
         LEVEL(chunk_unordered)(ctx, cells, i, true, self_tid, shift, base, n) != 0))
        return false;
    LEVEL(chunk_set)(hot, 0, 0, shift, 0, ctx->race->order.clock, &words, n);
    for (unsigned j = 0; j < LEVEL_COUNT(n); j++) {
        pair[RACE_WARM * j] = self_tid + (j >> shift);
        pair[RACE_WARM * j + 1] = ctx->site;
    }
    return true;
}
#undef SIGN
#undef EACH_QUADS
