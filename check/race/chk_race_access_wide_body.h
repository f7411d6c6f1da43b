/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races: an access to consecutive words, some at a time. Included by chk_race_access_wide.c once for each
 * set of host instructions; it defines LEVEL(name), LEVEL_TARGET and LEVEL_COUNT(n): n, or what all calls have.
 */
/* Of an access whose lanes have consecutive words, n words are looked at together. Loops over
 * them have no branch; bit 31 of what they gather says whether some cell needs a closer look. */
#define SIGN (UINT32_C(1) << 31)

/* LEVEL_CELLS quads of cells make a vector */
typedef uint32_t LEVEL(quads) __attribute__((vector_size(4 * RACE_QUAD * LEVEL_CELLS)));
#define EACH_QUADS(j) (unsigned j = 0; j < LEVEL_COUNT(n); j += LEVEL_CELLS)

/** Bit 31: @x is not 0. */
LEVEL_TARGET static inline uint32_t LEVEL(nonzero)(uint32_t x)
{
    return x | (0 - x);
}
/** What some cell has in a word of its quad. */
LEVEL_TARGET static inline uint32_t LEVEL(some)(const LEVEL(quads) *all, unsigned word)
{
    uint32_t bits = 0;

    for (unsigned c = 0; c < LEVEL_CELLS; c++)
        bits |= (*all)[RACE_QUAD * c + word];
    return bits;
}

/** Bit 31: some record of the cells, of writes or (@read) reads, which are not all at or before @base,
 *  is none of the own lane, and not known. */
LEVEL_TARGET static uint32_t LEVEL(chunk_hot)(const struct race_access *look,
                                              const struct race_page_shadow *cells, uint32_t i, bool read,
                                              uint32_t me, unsigned shift, uint32_t base, unsigned n)
{
    const uint32_t *quad = cells->base + (size_t)RACE_QUAD * i;
    const uint32_t *pair = race_at(cells, RACE_W + RACE_WHO, i);
    const uint32_t kb = look->kb, actor = look->block->actor;
    uint32_t hot = 0;

    for (unsigned j = 0; j < LEVEL_COUNT(n); j++, quad += RACE_QUAD, pair += RACE_REST) {
        uint32_t time = read ? quad[RACE_QUAD_READ] : quad[RACE_QUAD_WRITE];
        uint32_t who = read ? quad[RACE_QUAD_WHO] : pair[0];
        uint32_t site = read ? quad[RACE_QUAD_SITE] : pair[1];
        uint32_t other = LEVEL(nonzero)((who ^ (me + (j >> shift))) | site >> RACE_LEVEL_SHIFT);
        /* of a grid: the other reader is in another block */
        uint32_t grid = site & site << 1;
        uint32_t unknown = LEVEL(nonzero)(who >> RACE_THREAD_BITS ^ actor) | (kb - time) | grid;
        hot |= (base - time) & other & unknown;
    }
    return hot & SIGN;
}

/** Each word of a quad is @read, whose lane, @site and @write where it is in @words, else as it was. */
LEVEL_TARGET static inline void LEVEL(chunk_set)(uint32_t *quad, uint32_t read, uint32_t me,
                                                 unsigned shift, uint32_t site, uint32_t write,
                                                 const LEVEL(quads) *words, unsigned n)
{
    LEVEL(quads) here = LEVEL_QUADS((read, me, site, write)), old;

    for (unsigned c = 1; c < LEVEL_CELLS; c++)
        here[RACE_QUAD * c + RACE_QUAD_WHO] += c >> shift;
    if (shift == 0 || (*words)[RACE_QUAD_WHO] == 0) {
        const LEVEL(quads) step = LEVEL_QUADS((0, LEVEL_CELLS, 0, 0));
        for (unsigned j = 0; j < LEVEL_COUNT(n); j += LEVEL_CELLS, quad += RACE_QUAD * LEVEL_CELLS, here += step) {
            memcpy(&old, quad, sizeof old);
            old = (old & ~*words) | (here & *words);
            memcpy(quad, &old, sizeof old);
        }
        return;
    }
    for (unsigned j = 0; j < LEVEL_COUNT(n); j++, quad += RACE_QUAD) {
        quad[RACE_QUAD_READ] = (*words)[RACE_QUAD_READ] != 0 ? read : quad[RACE_QUAD_READ];
        quad[RACE_QUAD_WHO] = me + (j >> shift);
        quad[RACE_QUAD_SITE] = site;
        quad[RACE_QUAD_WRITE] = (*words)[RACE_QUAD_WRITE] != 0 ? write : quad[RACE_QUAD_WRITE];
    }
}

/** Readers that nothing orders are one record: of the least that holds them all. */
LEVEL_TARGET static void LEVEL(chunk_merge)(const struct race_access *look, struct race_page_shadow *cells, uint32_t i,
                        uint32_t me, unsigned shift, uint32_t base, unsigned n)
{
    uint32_t *quad = cells->base + (size_t)RACE_QUAD * i;
    uint32_t *second = race_at(cells, RACE_R + RACE_TIME_2, i);
    const uint32_t now = look->race->now, actor = look->block->actor, here = look->site;
    const uint32_t warp = ~(look->block->width - 1), kb = look->kb, kw = look->warp->kw;

    for (unsigned j = 0; j < LEVEL_COUNT(n); j++, quad += RACE_QUAD, second += RACE_REST) {
        const uint32_t time = quad[RACE_QUAD_READ], who = quad[RACE_QUAD_WHO];
        const uint32_t site = quad[RACE_QUAD_SITE], mine = me + (j >> shift);
        uint32_t old = site >> RACE_LEVEL_SHIFT;
        uint32_t lane = who != mine, warps = ((who ^ mine) & warp) != 0;
        uint32_t blocks = who >> RACE_THREAD_BITS != actor;
        uint32_t between = lane + warps + blocks, level = old > between ? old : between;
        /* as race_ordered: all that the record holds is known, or both that it names are */
        const uint32_t time2 = second[0], who2 = second[1];
        uint32_t last = (time <= base) | !lane | (!blocks & (time <= kb)) | (!warps & (time <= kw));
        uint32_t before = (old == RACE_THREAD) | (time2 <= base) | (who2 == mine) |
                          ((who2 >> RACE_THREAD_BITS == actor) & (time2 <= kb)) |
                          ((((who2 ^ mine) & warp) == 0) & (time2 <= kw));
        uint32_t known = (time <= base) | (!blocks & (old <= RACE_BLOCK) & (time <= kb)) |
                         (!warps & (old <= RACE_WARP) & (time <= kw)) | (last & before);
        if (!known && between == level) {
            second[0] = time;
            second[1] = who;
            second[2] = site;
        }
        quad[RACE_QUAD_SITE] = here | (known ? 0 : level) << RACE_LEVEL_SHIFT;
        quad[RACE_QUAD_WHO] = mine;
        quad[RACE_QUAD_READ] = now;
    }
}

/** False: nothing was done; look at each cell. */
LEVEL_TARGET static bool LEVEL(chunk_read)(const struct race_access *look, struct race_page_shadow *cells, uint32_t i,
                       uint32_t me, unsigned shift, uint32_t base, unsigned n)
{
    uint32_t *quad = cells->base + (size_t)RACE_QUAD * i;
    const LEVEL(quads) bases = LEVEL_QUADS((base, base, base, base));
    const uint32_t actor = look->block->actor, now = look->race->now, kb = look->kb;
    LEVEL(quads) late = bases ^ bases, all_late, all, differ, at;

    for EACH_QUADS(j) {
        memcpy(&at, quad + RACE_QUAD * j, sizeof at);
        late |= bases - at;
    }
    if ((LEVEL(some)(&late, RACE_QUAD_WRITE) & SIGN) != 0 &&
        LEVEL(chunk_hot)(look, cells, i, false, me, shift, base, n) != 0)
        return false;
    if (!(LEVEL(some)(&late, RACE_QUAD_READ) & SIGN)) {
        const LEVEL(quads) words = LEVEL_QUADS((~0u, ~0u, ~0u, 0));
        LEVEL(chunk_set)(quad, now, me, shift, look->site, 0, &words, n);
        return true;
    }
    const LEVEL(quads) mine = LEVEL_QUADS((0, actor << RACE_THREAD_BITS, look->site, 0));
    late ^= late;
    all_late = all = ~late;
    differ = late;
    for EACH_QUADS(j) {
        memcpy(&at, quad + RACE_QUAD * j, sizeof at);
        all_late &= bases - at;
        all &= at;
        differ |= at ^ mine;
    }
    if (!look->plain || (LEVEL(some)(&differ, RACE_QUAD_SITE) & RACE_HOW) != 0)
        return false;
    /* records that hold this one already */
    uint32_t level = RACE_GRID, is_late = SIGN;
    for (unsigned c = 0; c < LEVEL_CELLS; c++) {
        level &= all[RACE_QUAD * c + RACE_QUAD_SITE] >> RACE_LEVEL_SHIFT;
        is_late &= all_late[RACE_QUAD * c + RACE_QUAD_READ];
    }
    if (is_late != 0 && (LEVEL(some)(&differ, RACE_QUAD_SITE) << 2) == 0 &&
        (level == RACE_GRID ||
         (level == RACE_BLOCK && kb <= base && LEVEL(some)(&differ, RACE_QUAD_WHO) >> RACE_THREAD_BITS == 0))) {
        const LEVEL(quads) words = LEVEL_QUADS((~0u, 0, 0, 0));
        LEVEL(chunk_set)(quad, now, 0, shift, 0, 0, &words, n);
    } else {
        LEVEL(chunk_merge)(look, cells, i, me, shift, base, n);
    }
    return true;
}

LEVEL_TARGET static bool LEVEL(chunk_write)(const struct race_access *look, struct race_page_shadow *cells, uint32_t i,
                        uint32_t me, unsigned shift, uint32_t base, unsigned n)
{
    uint32_t *quad = cells->base + (size_t)RACE_QUAD * i;
    uint32_t *pair = race_at(cells, RACE_W + RACE_WHO, i);
    const LEVEL(quads) bases = LEVEL_QUADS((base, base, base, base));
    const LEVEL(quads) words = LEVEL_QUADS((~0u, 0, 0, ~0u));
    LEVEL(quads) late = bases ^ bases, at;

    for EACH_QUADS(j) {
        memcpy(&at, quad + RACE_QUAD * j, sizeof at);
        late |= bases - at;
    }
    if (((LEVEL(some)(&late, RACE_QUAD_WRITE) & SIGN) != 0 &&
         LEVEL(chunk_hot)(look, cells, i, false, me, shift, base, n) != 0) ||
        ((LEVEL(some)(&late, RACE_QUAD_READ) & SIGN) != 0 &&
         LEVEL(chunk_hot)(look, cells, i, true, me, shift, base, n) != 0))
        return false;
    LEVEL(chunk_set)(quad, 0, 0, shift, 0, look->race->now, &words, n);
    for (unsigned j = 0; j < LEVEL_COUNT(n); j++) {
        pair[RACE_REST * j] = me + (j >> shift);
        pair[RACE_REST * j + 1] = look->site;
    }
    return true;
}
#undef SIGN
#undef EACH_QUADS
