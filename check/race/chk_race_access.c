/* SPDX-License-Identifier: Apache-2.0 */
/* Races: what an access meets in the shadow. docs/explanation/race-detection.md */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

static inline enum race_level level_of(uint32_t site)
{
    return (enum race_level)(site >> RACE_LEVEL_SHIFT);
}

/** The level at which two threads are one. */
static inline enum race_level level_between(const struct race_access *look, uint32_t me, uint32_t who)
{
    if (me >> RACE_THREAD_BITS != who >> RACE_THREAD_BITS)
        return RACE_GRID;
    return (me & ((1 << RACE_THREAD_BITS) - 1)) / look->block->width ==
                   (who & ((1 << RACE_THREAD_BITS) - 1)) / look->block->width
               ? RACE_WARP
               : RACE_BLOCK;
}

/** Both accesses are strong, and each is in the other's scope: they cannot race. */
static inline bool both_strong(const struct race_access *look, uint32_t me, uint32_t who, uint32_t site)
{
    if (!(look->site & site & RACE_STRONG))
        return false;
    return ((look->site | site) & RACE_CTA) == 0 ||
           me >> RACE_THREAD_BITS == who >> RACE_THREAD_BITS;
}

/** An access meets an atomic write that nothing orders before it: nor need it order the weak write
 *  before that. Whoever knows the atomic one knows both. */
static void meets_weak(struct race_access *look, const struct race_page_shadow *cells, uint32_t i,
                       unsigned lane, uint64_t at)
{
    const uint32_t time = *race_at(cells, RACE_WEAK + RACE_TIME, i);
    const uint32_t who = *race_at(cells, RACE_WEAK + RACE_WHO, i);

    if (time <= look->base)
        return;
    const enum race_order order = race_ordered_one(look, lane, who, time);
    if (order != RACE_ORDERED)
        race_found(look, lane, at, who, time, *race_at(cells, RACE_WEAK + RACE_SITE, i), true, order);
}

/** What PTX calls observation order: the strong write of the cell's record, and with atomics all of the
 *  record, was read by an atomic or strong read that is ordered before what @lane does now. */
static bool was_observed(const struct race_access *look, const struct race_page_shadow *cells, uint32_t i,
                         unsigned lane)
{
    const uint32_t who = *race_at(cells, RACE_W + RACE_WHO, i);
    const uint32_t site = *race_at(cells, RACE_W + RACE_SITE, i);
    const uint32_t reader = *race_at(cells, RACE_R + RACE_WHO, i);
    const uint32_t read = *race_at(cells, RACE_R + RACE_SITE, i);
    const uint32_t read_time = *race_at(cells, RACE_R + RACE_TIME, i);
    const enum race_level level = level_of(site);

    if (!(site & RACE_STRONG) || (level != RACE_THREAD && !(site & RACE_ATOMIC)) ||
        (level == RACE_GRID && site & RACE_CTA))
        return false; /* not each atomic has read what was before it, or not in its scope */
    if (level != RACE_THREAD &&
        race_ordered_one(look, lane, who, *race_at(cells, RACE_W + RACE_TIME, i)) == RACE_ORDERED)
        return true;
    /* a strong read that is kept came behind the write */
    if (read_time == 0 || !(read & RACE_STRONG) ||
        ((site | read) & RACE_CTA && who >> RACE_THREAD_BITS != reader >> RACE_THREAD_BITS))
        return false;
    return race_ordered_one(look, lane, reader, read_time) == RACE_ORDERED;
}

/** Are two threads of one warp, or block, that a record's level says there is another one beside? */
static bool is_near(const struct race_access *look, uint32_t me, uint32_t who, enum race_level level)
{
    const uint32_t thread = (uint32_t)lw_mask(RACE_THREAD_BITS);

    if (level < RACE_BLOCK || me >> RACE_THREAD_BITS != who >> RACE_THREAD_BITS)
        return false;
    return level == RACE_GRID || (me & thread) / look->block->width == (who & thread) / look->block->width;
}

/** An access meets the record @k of a cell, which is not obviously ordered before it. True: nothing
 *  orders them. */
static bool meets(struct race_access *look, const struct race_page_shadow *cells, uint32_t i, unsigned k,
                  unsigned lane, uint64_t at)
{
    const uint32_t me = look->me + lane;
    uint32_t who = *race_at(cells, k + RACE_WHO, i), site = *race_at(cells, k + RACE_SITE, i);
    uint32_t time = *race_at(cells, k + RACE_TIME, i);
    enum race_order order = race_ordered(look, lane, cells, i, k);

    if (order == RACE_ORDERED)
        return false;
    if (k == RACE_W && site & RACE_STRONG)
        meets_weak(look, cells, i, lane, at);
    /* volatile accesses race in no formal sense, but are told of by kinds of their own */
    const bool strong = both_strong(look, me, who, site) && !race_two_sizes(look, site);
    const bool told = !strong || ((look->site | site) & RACE_VOLATILE) != 0;
    if (k == RACE_W && !(strong && told) && was_observed(look, cells, i, lane))
        return false;
    if (level_of(site) != RACE_THREAD) { /* which of the two that are kept? */
        const uint32_t who_2 = *race_at(cells, k + RACE_WHO_2, i), time_2 = *race_at(cells, k + RACE_TIME_2, i);
        const bool ordered = race_ordered_one(look, lane, who, time) == RACE_ORDERED;

        if (ordered || (is_near(look, me, who, level_of(site)) &&
                        race_ordered_one(look, lane, who_2, time_2) != RACE_ORDERED)) {
            who = who_2;
            time = time_2;
            site = (*race_at(cells, k + RACE_SITE_2, i) & (uint32_t)lw_mask(RACE_SITE_BITS)) |
                   (site & ~(uint32_t)lw_mask(RACE_SITE_BITS));
        }
        if (is_near(look, me, who, level_of(site))) /* it alone, then: the other is in order */
            site &= (uint32_t)lw_mask(RACE_LEVEL_SHIFT);
    }
    if (told)
        race_found(look, lane, at, who, time, site, k == RACE_W, order);
    return order == RACE_UNORDERED;
}

/** The record @k of a cell, of reads or strong writes: @me is added, or is all. */
static void note(struct race_access *look, struct race_page_shadow *cells, uint32_t i, unsigned k,
                 uint32_t me, bool merge)
{
    uint32_t *who = race_at(cells, k + RACE_WHO, i), *site = race_at(cells, k + RACE_SITE, i);
    uint32_t level = RACE_THREAD, how = look->site;

    if (merge) {
        uint32_t between = *who == me ? RACE_THREAD : level_between(look, me, *who);
        level = *site >> RACE_LEVEL_SHIFT;
        level = level > between ? level : between;
        if (between == level && level != RACE_THREAD) {
            *race_at(cells, k + RACE_TIME_2, i) = *race_at(cells, k + RACE_TIME, i);
            *race_at(cells, k + RACE_WHO_2, i) = *who;
            *race_at(cells, k + RACE_SITE_2, i) = *site;
        }
        /* strong is what both are */
        how = (look->site & ~(uint32_t)RACE_HOW) | (look->site & *site & (uint32_t)RACE_HOW) |
              ((look->site | *site) & RACE_CTA);
    }
    *race_at(cells, k + RACE_TIME, i) = look->race->now;
    *who = me;
    *site = how | level << RACE_LEVEL_SHIFT;
}

static void note_read(struct race_access *look, struct race_page_shadow *cells, uint32_t i, unsigned lane)
{
    const bool merge =
        *race_at(cells, RACE_R + RACE_TIME, i) > look->base &&
        ((look->plain &&
          *race_at(cells, RACE_R + RACE_WHO, i) >> RACE_THREAD_BITS != look->block->actor) ||
         race_ordered(look, lane, cells, i, RACE_R) == RACE_UNORDERED);

    note(look, cells, i, RACE_R, look->me + lane, merge);
}

static void touch_read(struct race_access *look, struct race_page_shadow *cells, uint32_t i, unsigned lane,
                       uint64_t at)
{
    if (*race_at(cells, RACE_W + RACE_TIME, i) > look->base)
        (void)meets(look, cells, i, RACE_W, lane, at);
    note_read(look, cells, i, lane);
}

static void touch_write(struct race_access *look, struct race_page_shadow *cells, uint32_t i, unsigned lane,
                        uint64_t at)
{
    bool merge = false;

    if (*race_at(cells, RACE_W + RACE_TIME, i) > look->base) {
        uint32_t site = *race_at(cells, RACE_W + RACE_SITE, i);
        merge = meets(look, cells, i, RACE_W, lane, at) && (look->site & site & RACE_STRONG) != 0;
    }
    if (*race_at(cells, RACE_R + RACE_TIME, i) > look->base)
        (void)meets(look, cells, i, RACE_R, lane, at);
    /* an atomic does not stand for what came before it: another's atomic races with that alone */
    const bool strong = (look->site & RACE_STRONG) != 0;
    if (strong && !(*race_at(cells, RACE_W + RACE_SITE, i) & RACE_STRONG))
        for (unsigned k = RACE_TIME; k <= RACE_SITE; k++)
            *race_at(cells, RACE_WEAK + k, i) = *race_at(cells, RACE_W + k, i);
    note(look, cells, i, RACE_W, look->me + lane, merge);
    if (!strong || *race_at(cells, RACE_R + RACE_SITE, i) & RACE_STRONG)
        *race_at(cells, RACE_R + RACE_TIME, i) = 0;
}

/* ---- many cells at once ------------------------------------------------------------------------------ */

/** All of @lanes read one word. False: nothing was done. */
static bool one_read(struct race_access *look, struct race_page_shadow *cells, uint32_t i, uint64_t lanes,
                     uint32_t base)
{
    uint32_t *site = race_at(cells, RACE_R + RACE_SITE, i), *who = race_at(cells, RACE_R + RACE_WHO, i);
    const uint32_t wt = *race_at(cells, RACE_W + RACE_TIME, i);

    if (wt > base &&
        (*race_at(cells, RACE_W + RACE_WHO, i) >> RACE_THREAD_BITS != look->block->actor ||
         wt > look->kb || level_of(*race_at(cells, RACE_W + RACE_SITE, i)) == RACE_GRID))
        return false;
    note_read(look, cells, i, lw_lowest(lanes));
    if ((lanes & (lanes - 1)) == 0)
        return true;
    /* the other lanes: nothing orders them with the first */
    if (level_of(*site) <= RACE_WARP) {
        *race_at(cells, RACE_R + RACE_TIME_2, i) = look->race->now;
        *race_at(cells, RACE_R + RACE_WHO_2, i) = *who;
        *race_at(cells, RACE_R + RACE_SITE_2, i) = *site;
        *site = (*site & (uint32_t)lw_mask(RACE_LEVEL_SHIFT)) |
                (uint32_t)RACE_WARP << RACE_LEVEL_SHIFT;
    }
    *who = look->me + 63 - (unsigned)__builtin_clzll(lanes);
    return true;
}

/** A lane writes what is there already, of which nobody asked to be told, where all did weak accesses: its
 *  record would be the next lane's. */
static bool stores_again(const struct race_access *look, struct race_page_shadow *cells, uint32_t first,
                         uint32_t count, unsigned lane, uint64_t at)
{
    if (cells == NULL || !look->plain || look->sets)
        return false;
    for (uint32_t i = first; i < first + count; i++)
        if ((*race_at(cells, RACE_W + RACE_TIME, i) > look->base &&
             *race_at(cells, RACE_W + RACE_SITE, i) & RACE_HOW) ||
            (*race_at(cells, RACE_R + RACE_TIME, i) > look->base &&
             *race_at(cells, RACE_R + RACE_SITE, i) & RACE_HOW))
            return false;
    if (!race_stores_what_is(look, lane, at))
        return false;
    for (uint32_t i = first; i < first + count; i++)
        *race_at(cells, RACE_R + RACE_TIME, i) = 0;
    return true;
}

bool race_access_location(struct race_access *look, struct race_page_shadow *cells, uint64_t lanes, uint64_t at)
{
    look->base = look->block->base;
    look->race->looks++;
    if (!look->write)
        return one_read(look, cells, 0, lanes, look->base);
    if (!race_stores_same(look, lanes))
        return false;
    if (!stores_again(look, cells, 0, 1, lw_lowest(lanes), at))
        touch_write(look, cells, 0, lw_lowest(lanes), at);
    note(look, cells, 0, RACE_W, look->me + 63 - (unsigned)__builtin_clzll(lanes), false);
    return true;
}

void race_access_cell(struct race_access *look, struct race_page_shadow *cells, unsigned lane, uint64_t at)
{
    look->base = look->block->base;
    look->race->looks++;
    if (look->write)
        touch_write(look, cells, 0, lane, at);
    else
        touch_read(look, cells, 0, lane, at);
}

/** The shadow of a block's shared memory, the last block's if that will do: what a record has of it is from before
 *  the start of this one. False: no memory. */
static bool shared_cells(struct chk_race *race, struct race_block *b)
{
    struct emu_block_view view;

    if (!emu_block_view(b->core, b->slot, &view)) {
        race->short_of_memory = true;
        return false;
    }
    /* A block that began before the last one ended would take that one's records for its own time's. */
    if (race->spare.base != NULL && race->spare.shift == 2 && race->spare_since <= b->start &&
        race->spare.count == (view.shared_bytes + 3) / 4) {
        b->shared = race->spare;
        race->spare = (struct race_page_shadow){0};
        return true;
    }
    if (!race_page_shadow_create(&b->shared, view.shared_bytes, &race->shadow.bytes)) {
        race->short_of_memory = true;
        return false;
    }
    race->shadow.most = race->shadow.bytes > race->shadow.most ? race->shadow.bytes : race->shadow.most;
    return true;
}

/** The cells of a lane's access. NULL: memory without races, or none for the shadow. */
static inline struct race_page_shadow *cells_at(struct race_access *look, uint64_t at, unsigned bytes,
                                   uint32_t *first, uint32_t *count)
{
    struct chk_race *race = look->race;
    struct race_block *b = look->block;
    struct race_page_shadow *cells;
    uint64_t offset;

    if (at >= ISA_GLOBAL_BASE) {
        offset = at - ISA_GLOBAL_BASE;
        if (race->brief_count != 0)
            race_packed_leave(race, offset);
        cells = race_shadow_cached(&race->shadow, offset);
        if (race->any_quiet)
            race_filter_reads_end(race, offset,
                            look->write ? 0 : look->site & (uint32_t)lw_mask(RACE_SITE_BITS));
        race->short_of_memory |= cells == NULL && offset >> 36 == 0;
        if (cells != NULL && cells->awake_at != race->shadow.epoch)
            race_deferred_page_flush(race, cells, offset);
        offset &= (1 << RACE_PAGE_SHIFT) - 1;
        look->base = b->base;
        look->kb = b->kb;
    } else if (at >= ISA_SHARED_BASE && at < ISA_LOCAL_BASE) {
        offset = at - ISA_SHARED_BASE;
        cells = &b->shared;
        if (cells->base == NULL && !shared_cells(race, b))
            return NULL;
        look->base = race_max(b->start, b->ks); /* all that the block's barriers made known */
        look->kb = b->ks;
    } else {
        return NULL;
    }
    if (cells == NULL || cells->base == NULL ||
        (at & (bytes - 1) & 15) != 0) /* misaligned: it faults */
        return NULL;
    if (bytes < 4 && cells->shift != 0) {
        if (!race_page_shadow_split(cells, &race->shadow.bytes)) {
            race->short_of_memory = true;
            return NULL;
        }
        if (at >= ISA_GLOBAL_BASE)
            race_shadow_is_valid(&race->shadow, cells, at - ISA_GLOBAL_BASE);
    }
    *first = (uint32_t)(offset >> cells->shift);
    *count = bytes >> cells->shift;
    return offset + bytes <= (uint64_t)cells->count << cells->shift ? cells : NULL;
}

void race_access_at(struct race_access *look, unsigned lane, uint64_t at)
{
    const enum emu_access_kind kind = look->access->kind;
    uint32_t first, count;
    struct race_page_shadow *cells = cells_at(look, at, look->access->bytes, &first, &count);

    if (cells == NULL)
        return;
    look->race->looks++;
    for (uint32_t i = first; i < first + count; i++) {
        if (look->write)
            touch_write(look, cells, i, lane, at);
        else
            touch_read(look, cells, i, lane, at);
    }
    if (look->sets)
        race_synchronize(look, lane, at,
                         isa_mod_get(look->access->at.insn, ISA_MOD_MORDER),
                         kind != EMU_ACCESS_STORE, look->write);
}

/** May a read be kept for later, if its page is one? */
static inline bool may_wait(const struct race_access *look, uint64_t address)
{
    return look->waits && address >= ISA_GLOBAL_BASE &&
           (address & (look->access->bytes - 1)) == 0;
}

/** Keep what can be kept of reads of places that are near each other; returns the other lanes. */
static uint64_t lanes_wait(struct race_access *look, const uint64_t *address, uint64_t lanes)
{
    enum { FEW = 4 }; /* fewer lanes a page are looked at, unless there are no others */

    while (lanes != 0) {
        const unsigned low = lw_lowest(lanes);
        const uint64_t page = address[low] >> RACE_PAGE_SHIFT;
        uint64_t here = 0, all = 0;

        if (race_shadow_quads(&look->race->shadow, address[low] - ISA_GLOBAL_BASE) != NULL)
            break;
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
            const unsigned l = lw_lowest(rest);
            if (address[l] >> RACE_PAGE_SHIFT != page)
                break;
            here |= rest & (0 - rest);
            all |= address[l];
        }
        if ((here != lanes && lw_popcount(here) < FEW) ||
            (all & (look->access->bytes - 1)) != 0 || !may_wait(look, address[low]) ||
            !race_defer_page(look, address[low], 0, address, here))
            break;
        lanes &= ~here;
    }
    return lanes;
}

void race_flush_deferred(struct chk_race *race)
{
    struct race_prefetch *ahead = race->ahead;
    const struct emu_hook_site *at = race->chk->at;

    if (race->settles)
        return; /* a finding of what is looked at here */
    race->settles = true;
    race->chk->at = NULL; /* that was executed before */
    if (race->is_ahead) {
        race->is_ahead = false;
        race_words_new(&ahead->look, &ahead->words);
        if (ahead->words.count != 0)
            race_words_slow(&ahead->look, ahead->address, &ahead->words);
    }
    if (race->written[0] != 0)
        race_batch_check(race);
    race->settles = false;
    race->chk->at = at;
}

/** Weak reads of scattered places are looked at before the next thing that happens: their cells are on
 *  their way then. Where findings stop the run, there is no such delay. False: nothing was done. */
static bool look_ahead(struct race_access *look, const uint64_t *address, uint64_t lanes)
{
    struct race_prefetch *ahead = look->race->ahead;

    if (look->access->bytes != 4)
        return false;
    race_words_find(look, address, lanes, &ahead->words);
    if (ahead->words.other != 0) { /* it may wake their pages */
        race_words_new(look, &ahead->words);
        race_words_slow(look, address, &ahead->words);
        return true;
    }
    race_words_prefetch(&ahead->words);
    ahead->access = *look->access;
    ahead->access.address = ahead->address;
    ahead->access.piece_count = 0;
    ahead->access.quiet = NULL;
    ahead->look = *look;
    ahead->look.access = &ahead->access;
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1)
        ahead->address[lw_lowest(rest)] = address[lw_lowest(rest)];
    look->race->is_ahead = true;
    return true;
}

static void each_lane(struct race_access *look, const uint64_t *address, uint64_t lanes)
{
    if (look->waits)
        lanes = lanes_wait(look, address, lanes);
    if (lanes != 0 && !(look->ahead && look_ahead(look, address, lanes)))
        race_words_each(look, address, lanes);
}

/** @lanes of the access, which are those of a piece. */
static void piece(struct race_access *look, const struct emu_addr_segment *p, uint64_t lanes)
{
    const unsigned bytes = look->access->bytes, shift = bytes >= 4 ? lw_lowest(bytes) - 2 : 0;
    uint64_t address[EMU_MAX_LANES];
    const bool alone = (lanes & (lanes - 1)) == 0, shared = p->address - ISA_SHARED_BASE < ISA_APERTURE_BYTES;
    unsigned lane = p->first;
    uint32_t first, count;

    if (may_wait(look, p->address)) {
        const unsigned low = lw_lowest(lanes);
        const uint64_t at = p->address + (p->run ? (uint64_t)(low - p->first) * bytes : 0);
        const uint64_t end = p->address + (p->run ? (uint64_t)(p->last - p->first) * bytes : 0);

        if (at >> RACE_PAGE_SHIFT == end >> RACE_PAGE_SHIFT &&
            race_defer_page(look, at, p->run ? bytes : 0, NULL, lanes))
            return;
    }
    if (bytes < 4 || look->sets) { /* each lane by itself */
    } else if (!p->run && look->write && !alone &&
               race_stores_same(look, lanes)) {
        const unsigned last = 63 - (unsigned)__builtin_clzll(lanes);
        struct race_page_shadow *cells = cells_at(look, p->address, bytes, &first, &count);
        if (!stores_again(look, cells, first, count, lw_lowest(lanes), p->address)) {
            race_access_at(look, lw_lowest(lanes), p->address);
            cells = cells_at(look, p->address, bytes, &first, &count);
        }
        for (uint32_t i = first; cells != NULL && i < first + count; i++)
            note(look, cells, i, RACE_W, look->me + last, false);
        return;
    } else if (!p->run && !look->write && !(alone && (look->ahead || shared))) {
        struct race_page_shadow *cells = cells_at(look, p->address, bytes, &first, &count);
        if (cells != NULL && cells->shift != 0) {
            bool all = true;
            for (uint32_t i = first; i < first + count; i++)
                all = one_read(look, cells, i, lanes, look->base) && all;
            if (all)
                return;
        }
    } else if ((p->run || alone) && lanes == (lw_mask(p->last + 1u) & ~lw_mask(p->first))) {
        for (; lane + (RACE_CHUNK >> shift) <= p->last + 1u; lane += RACE_CHUNK >> shift) {
            uint64_t at = p->address + (uint64_t)(lane - p->first) * bytes;
            struct race_page_shadow *cells = cells_at(look, at, bytes, &first, &count);
            if (cells != NULL && cells->shift != 0 && first + RACE_CHUNK <= cells->count &&
                look->race->chunk[look->write](look, cells, first, look->me + lane, shift, look->base,
                                               RACE_CHUNK))
                continue;
            const unsigned end = lane + (RACE_CHUNK >> shift);
            for (unsigned l = lane; l < end; l++)
                address[l] = at + (uint64_t)(l - lane) * bytes;
            race_words_each(look, address, lw_mask(end) & ~lw_mask(lane));
        }
        lanes &= ~lw_mask(lane);
        if (shared && lanes != 0) { /* what comes of others' blocks is looked at with others of its kind */
            const unsigned words = (p->last + 1u - lane) << shift;
            struct race_page_shadow *cells =
                cells_at(look, p->address + (uint64_t)(lane - p->first) * bytes, bytes, &first, &count);
            if (cells != NULL && cells->shift != 0 && first + words <= cells->count &&
                look->race->few[look->write](look, cells, first, look->me + lane, shift, look->base, words))
                return;
        }
    }
    for (LW_EACH_BIT(l, lanes))
        address[l] = p->address + (p->run ? (l - p->first) * bytes : 0);
    each_lane(look, address, lanes);
}

/** The plain form of each_lane and piece. */
static void lane_by_lane(struct race_access *look, uint64_t lanes)
{
    const struct emu_hook_access *access = look->access;

    for (LW_EACH_BIT(l, access->piece_count == 0 ? lanes : 0))
        race_access_at(look, (unsigned)l, access->address[l]);
    for (unsigned k = 0; k < access->piece_count; k++) {
        const struct emu_addr_segment *p = &access->piece[k];

        for (LW_EACH_BIT(l, lanes & lw_mask(p->last + 1u) & ~lw_mask(p->first)))
            race_access_at(look, (unsigned)l, p->address + (p->run ? (l - p->first) * access->bytes : 0));
    }
}

void race_access_replay(struct race_access *look, const uint64_t *address, uint64_t lanes)
{
    if (look->race->brief_count == 0 || !race_packed_replay(look, NULL, address, lanes))
        each_lane(look, address, lanes);
}

void race_access_segment(struct race_access *look, const struct emu_addr_segment *p, uint64_t lanes)
{
    if (look->race->brief_count == 0 || !race_packed_replay(look, p, NULL, lanes))
        piece(look, p, lanes);
}

/* beside a site's word, where the level would be */
#define SITE_KNOWN (UINT32_C(1) << RACE_LEVEL_SHIFT)

/** A site's word of the instruction of @access, level 0. Its site is 0 beyond what a record holds. */
static uint32_t site_make(struct chk_race *race, const struct emu_hook_access *access)
{
    const struct emu_hook_site *at = &access->at;
    const size_t index = at->index;
    uint32_t how = 0;

    if (race->program != at->program) {
        if (race->site_room != 0)
            memset(race->site, 0, race->site_room * sizeof *race->site);
        race->program = at->program;
        race->program_base = emu_program_base(at->program);
    }
    if (index >= race->site_room) {
        size_t before = race->site_room;
        if (!lw_grow(&race->site, &race->site_room, index + 1, sizeof *race->site))
            race->short_of_memory = true;
        else
            memset(race->site + before, 0, (race->site_room - before) * sizeof *race->site);
    }
    if (access->kind >= EMU_ACCESS_ATOMIC)
        how |= RACE_ATOMIC | RACE_STRONG;
    else if (at->insn->op != ISA_FREE && at->insn->op != ISA_TEX && at->insn->op != ISA_LDMATRIX &&
             !(isa_op_info((enum isa_op)at->insn->op)->flags & ISA_F_SCALAR)) {
        unsigned order = isa_mod_get(at->insn, ISA_MOD_MORDER);
        how |= order == ISA_MORDER_VOLATILE ? RACE_VOLATILE : 0;
        how |= order != ISA_MORDER_WEAK ? RACE_STRONG : 0;
    }
    if ((how & RACE_STRONG) != 0 && (how & RACE_VOLATILE) == 0 &&
        isa_mod_get(at->insn, ISA_MOD_SCOPE) == ISA_SCOPE_CTA)
        how |= RACE_CTA;
    const uint64_t site = (race->program_base - ISA_CODE_BASE) / ISA_WORD_BYTES + index + 1;
    how |= site < 1 << RACE_SITE_BITS ? (uint32_t)site : 0;
    if (index < race->site_room)
        race->site[index] = how | SITE_KNOWN;
    return how;
}

static inline uint32_t site_of(struct chk_race *race, const struct emu_hook_access *access)
{
    const struct emu_hook_site *at = &access->at;

    if (race->program == at->program && at->index < race->site_room &&
        race->site[at->index] & SITE_KNOWN)
        return race->site[at->index] & ~SITE_KNOWN;
    return site_make(race, access);
}

void race_converge(struct chk_race *race, struct race_warp *w, uint64_t lanes, uint64_t live)
{
    race_clock_advance(race);
    if (w->lanes == live || lanes == live)
        w->converged = race->now;
    w->lanes = w->noted = lanes;
}

void race_access_free(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site, unsigned lane,
                    uint64_t address, uint64_t bytes)
{
    enum { WORD = 4 };
    struct emu_hook_access access = {.at = *site, .kind = EMU_ACCESS_STORE, .space = ISA_SPACE_GLOBAL, .bytes = WORD};
    struct race_warp *w = &b->warp[site->warp];

    if (w->lanes != site->split_lanes) {
        race_converge(race, w, site->split_lanes, race_live(b, w));
        race_batch_revoke(race); /* the tap has not seen that: it is to tell of the next split */
    }
    access.at.lanes = UINT64_C(1) << lane;
    struct race_access look = {.race = race, .access = &access, .block = b, .warp = w, .site = site_of(race, &access),
                             .kb = b->kb, .me = b->actor << RACE_THREAD_BITS | site->warp * b->width, .write = true,
                             .plain = race_is_plain(b, w), .freed = address, .freed_bytes = bytes};
    race->access++;
    for (uint64_t at = address; at < address + bytes; at += WORD) {
        uint32_t first, count;
        struct race_page_shadow *cells = cells_at(&look, at, WORD, &first, &count);

        if (cells == NULL) { /* nobody came to that page */
            at |= lw_mask(RACE_PAGE_SHIFT) - (WORD - 1);
            continue;
        }
        race->looks++;
        for (uint32_t i = first; i < first + count; i++) {
            if (*race_at(cells, RACE_W + RACE_TIME, i) > look.base)
                (void)meets(&look, cells, i, RACE_W, lane, at);
            if (*race_at(cells, RACE_R + RACE_TIME, i) > look.base)
                (void)meets(&look, cells, i, RACE_R, lane, at);
        }
    }
}

void race_access_check(struct race_access *look)
{
    const struct emu_hook_access *access = look->access;
    const uint64_t rest = access->at.lanes;
    const unsigned count = access->piece_count;

    if ((look->write || look->race->brief_count + look->race->brief_again != 0) && race_packed_check(look))
        return;
    if (look->waits && (look->race->defer.range_lists != 0 || !race_in_full(look)) &&
        race_defer_allocation(look, count == 0 ? access->address[lw_lowest(rest)] : access->piece[0].address))
        return;
    if (!look->race->fast)
        lane_by_lane(look, rest);
    else if (count == 0)
        each_lane(look, access->address, rest);
    else if (count == 1)
        piece(look, &access->piece[0], rest);
    for (unsigned k = 0; look->race->fast && count > 1 && k < count; k++) {
        const struct emu_addr_segment *p = &access->piece[k];

        piece(look, p, rest & lw_mask(p->last + 1u) & ~lw_mask(p->first));
    }
}

static inline void settle_and_converge(struct chk_race *race, struct race_block *b, struct race_warp *w,
                                       const struct emu_hook_access *access)
{
    race_flush(race);
    if (w->lanes != access->at.split_lanes)
        race_converge(race, w, access->at.split_lanes, race_live(b, w));
}

void chk_race_access(struct chk_race *race, const struct emu_hook_access *access)
{
    const uint64_t rest = access->at.lanes;
    const unsigned count = access->piece_count;
    struct race_block *b = race->last;

    if (b == NULL || b->core != access->at.core || b->slot != access->at.slot)
        b = race_block_at(race, access->at.core, access->at.slot);
    if (b == NULL || access->space == ISA_SPACE_LOCAL || access->space == ISA_SPACE_CONST) {
        race_flush(race);
        return;
    }
    struct race_warp *w = &b->warp[access->at.warp];
    const uint32_t site = site_of(race, access);
    const bool write = access->kind != EMU_ACCESS_LOAD, sets = (site & RACE_STRONG) != 0;
    const uint64_t at = count == 0 ? access->address[lw_lowest(rest)] : access->piece[0].address;
    const bool far = race->log != NULL && !write && at >= ISA_GLOBAL_BASE; /* it may be written down */
    if (!far) {
        settle_and_converge(race, b, w, access);
        if (access->space != ISA_SPACE_GLOBAL && !write && !sets && race_filter_shared_write_free(race, access))
            return;
    }
    const bool plain = race_is_plain(b, w);
    struct race_access look = {
        .race = race, .access = access, .block = b, .warp = w, .site = site, .kb = b->kb,
        .me = b->actor << RACE_THREAD_BITS | access->at.warp * b->width,
        .write = write, .sets = sets, .plain = plain,
        .waits = race->fast && plain && !write && !sets && access->bytes >= 4};
    struct race_page_shadow *known = NULL;

    if (far && race_batch_add(&look, at))
        return;
    if (far) {
        settle_and_converge(race, b, w, access);
        if (access->space != ISA_SPACE_GLOBAL && !sets && race_filter_shared_write_free(race, access))
            return;
    }
    race->access++;
    /* the cell of one lane, and the first one's of scattered ones, is far away: some are asked */
    if ((count != 0 && (rest & (rest - 1)) != 0) || race->access % 8 == 0)
        known = race_filter_reads_allowed(&look, at);
    look.ahead = look.waits && known == NULL && count <= 1 && race->ahead != NULL;
    race_access_check(&look);
    if (known != NULL)
        race_filter_reads_prefetch(&look, at, known);
    else if (race->log != NULL)
        race_batch_prefetch(&look, at);
}
