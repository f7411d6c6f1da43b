/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races: an access to consecutive words, some at a time. Included by chk_race_chunk.c once for each
 * set of host instructions; it defines LEVEL(name) and LEVEL_TARGET.
 */
/* Of an access whose lanes have consecutive words, this many words are looked at together. Loops over
 * them have no branch; bit 31 of what they gather says whether some cell needs a closer look. */
#define CHUNK RACE_CHUNK
#define SIGN (UINT32_C(1) << 31)

/** Bit 31: @x is not 0. */
LEVEL_TARGET static inline uint32_t LEVEL(nonzero)(uint32_t x)
{
    return x | (0 - x);
}

/** Bit 31: some write of the cells is none of the own lane, and not known. */
LEVEL_TARGET static inline uint32_t LEVEL(chunk_writes)(const struct race_look *look, const struct race_cells *cells,
                                    uint32_t i, uint32_t me, unsigned shift, uint32_t base)
{
    const uint32_t *time = cells->row[RACE_W + RACE_TIME] + i, *who = cells->row[RACE_W + RACE_WHO] + i;
    const uint32_t *site = cells->row[RACE_W + RACE_SITE] + i;
    const uint32_t kb = look->kb, actor = look->block->actor;
    uint32_t late = 0, hot = 0;

    for (unsigned j = 0; j < CHUNK; j++)
        late |= base - time[j];
    if (!(late & SIGN))
        return 0;
    for (unsigned j = 0; j < CHUNK; j++) {
        uint32_t other = LEVEL(nonzero)((who[j] ^ (me + (j >> shift))) | site[j] >> RACE_LEVEL_SHIFT);
        uint32_t unknown = LEVEL(nonzero)(who[j] >> RACE_THREAD_BITS ^ actor) | (kb - time[j]);
        hot |= (base - time[j]) & other & unknown;
    }
    return hot & SIGN;
}

LEVEL_TARGET static inline void LEVEL(chunk_set)(const struct race_look *look, struct race_cells *cells, uint32_t i,
                             unsigned k, uint32_t me, unsigned shift)
{
    uint32_t *time = cells->row[k] + i, *who = cells->row[k + 1] + i, *site = cells->row[k + 2] + i;
    const uint32_t now = look->race->now, here = look->site;

    for (unsigned j = 0; j < CHUNK; j++)
        time[j] = now;
    for (unsigned j = 0; j < CHUNK; j++)
        who[j] = me + (j >> shift);
    for (unsigned j = 0; j < CHUNK; j++)
        site[j] = here;
}

/** Readers that nothing orders are one record: of the least that holds them all. */
LEVEL_TARGET static void LEVEL(chunk_merge)(const struct race_look *look, struct race_cells *cells, uint32_t i,
                        uint32_t me, unsigned shift, uint32_t base)
{
    uint32_t *time = cells->row[RACE_R + RACE_TIME] + i, *site = cells->row[RACE_R + RACE_SITE] + i;
    uint32_t *who = cells->row[RACE_R + RACE_WHO] + i;
    uint32_t *who2 = cells->row[RACE_R + RACE_WHO_2] + i, *site2 = cells->row[RACE_R + RACE_SITE_2] + i;
    uint32_t *time2 = cells->row[RACE_R + RACE_TIME_2] + i;
    const uint32_t now = look->race->now, actor = look->block->actor, here = look->site;
    const uint32_t warp = ~(look->block->width - 1), kb = look->kb, kw = look->warp->kw;

    for (unsigned j = 0; j < CHUNK; j++) {
        uint32_t mine = me + (j >> shift), old = site[j] >> RACE_LEVEL_SHIFT;
        uint32_t lane = who[j] != mine, warps = ((who[j] ^ mine) & warp) != 0;
        uint32_t blocks = who[j] >> RACE_THREAD_BITS != actor;
        uint32_t between = lane + warps + blocks, level = old > between ? old : between;
        uint32_t known = (time[j] <= base) | (!blocks & (time[j] <= kb)) |
                         ((level <= RACE_WARP) & (time[j] <= kw));
        uint32_t apart = !known & (between == level);
        who2[j] = apart ? who[j] : who2[j];
        site2[j] = apart ? site[j] : site2[j];
        time2[j] = apart ? time[j] : time2[j];
        site[j] = here | (known ? 0 : level) << RACE_LEVEL_SHIFT;
        who[j] = mine;
        time[j] = now;
    }
}

/** False: nothing was done; look at each cell. */
LEVEL_TARGET static bool LEVEL(chunk_read)(const struct race_look *look, struct race_cells *cells, uint32_t i,
                       uint32_t me, unsigned shift, uint32_t base)
{
    uint32_t *time = cells->row[RACE_R + RACE_TIME] + i;
    const uint32_t *site = cells->row[RACE_R + RACE_SITE] + i;
    const uint32_t now = look->race->now;
    const uint32_t *who = cells->row[RACE_R + RACE_WHO] + i, actor = look->block->actor;
    uint32_t late = 0, all_late = SIGN, level = ~UINT32_C(0), how = 0, blocks = 0;

    if (LEVEL(chunk_writes)(look, cells, i, me, shift, base) != 0)
        return false;
    for (unsigned j = 0; j < CHUNK; j++) {
        late |= base - time[j];
        all_late &= base - time[j];
    }
    if (!(late & SIGN)) {
        LEVEL(chunk_set)(look, cells, i, RACE_R, me, shift);
        return true;
    }
    for (unsigned j = 0; j < CHUNK; j++) {
        level &= site[j];
        how |= site[j] ^ look->site;
        blocks |= who[j] >> RACE_THREAD_BITS ^ actor;
    }
    if (!look->plain || (how & RACE_HOW) != 0)
        return false;
    /* records that hold this one already */
    level >>= RACE_LEVEL_SHIFT;
    if ((all_late & SIGN) != 0 && (level == RACE_GRID || (level == RACE_BLOCK && blocks == 0)))
        for (unsigned j = 0; j < CHUNK; j++)
            time[j] = now;
    else
        LEVEL(chunk_merge)(look, cells, i, me, shift, base);
    return true;
}

LEVEL_TARGET static bool LEVEL(chunk_write)(const struct race_look *look, struct race_cells *cells, uint32_t i,
                        uint32_t me, unsigned shift, uint32_t base)
{
    uint32_t *time = cells->row[RACE_R + RACE_TIME] + i;
    const uint32_t *site = cells->row[RACE_R + RACE_SITE] + i, *who = cells->row[RACE_R + RACE_WHO] + i;
    const uint32_t actor = look->block->actor;
    uint32_t hot = 0, any = 0;

    if (LEVEL(chunk_writes)(look, cells, i, me, shift, base) != 0)
        return false;
    for (unsigned j = 0; j < CHUNK; j++)
        any |= time[j];
    for (unsigned j = 0; any != 0 && j < CHUNK; j++) {
        uint32_t other = LEVEL(nonzero)((who[j] ^ (me + (j >> shift))) | site[j] >> RACE_LEVEL_SHIFT);
        uint32_t unknown = LEVEL(nonzero)(who[j] >> RACE_THREAD_BITS ^ actor) | (look->kb - time[j]);
        hot |= (base - time[j]) & other & unknown;
    }
    if (hot & SIGN)
        return false;
    LEVEL(chunk_set)(look, cells, i, RACE_W, me, shift);
    for (unsigned j = 0; any != 0 && j < CHUNK; j++)
        time[j] = 0;
    return true;
}
#undef CHUNK
#undef SIGN
