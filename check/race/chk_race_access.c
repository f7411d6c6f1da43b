/* SPDX-License-Identifier: Apache-2.0 */
/* Races: what an access meets in the shadow. docs/explanation/race-detection.md */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

static inline enum race_level level_of(uint32_t site)
{
    return (enum race_level)(site >> RACE_LEVEL_SHIFT);
}

/** The level at which two threads are one. */
static inline enum race_level level_between(const struct race_access *ctx, uint32_t self_tid, uint32_t tid)
{
    if (self_tid >> RACE_THREAD_BITS != tid >> RACE_THREAD_BITS)
        return RACE_GRID;
    return (self_tid & ((1 << RACE_THREAD_BITS) - 1)) / ctx->block->width ==
                   (tid & ((1 << RACE_THREAD_BITS) - 1)) / ctx->block->width
               ? RACE_WARP
               : RACE_BLOCK;
}

/** Both accesses are strong, and each is in the other's scope: they cannot race. */
static inline bool both_strong(const struct race_access *ctx, uint32_t self_tid, uint32_t tid, uint32_t site)
{
    if (!(ctx->site & site & RACE_STRONG))
        return false;
    return ((ctx->site | site) & RACE_CTA) == 0 ||
           self_tid >> RACE_THREAD_BITS == tid >> RACE_THREAD_BITS;
}

/** An access meets an atomic write that nothing orders before it: nor need it order the weak write
 *  before that. Whoever knows the atomic one knows both. */
static void check_weak(struct race_access *ctx, const struct race_page_shadow *cells, uint32_t i,
                       unsigned lane, uint64_t at)
{
    const uint32_t time = *race_at(cells, RACE_WEAK + RACE_CLOCK, i);
    const uint32_t tid = *race_at(cells, RACE_WEAK + RACE_TID, i);

    if (time <= ctx->vc_floor)
        return;
    const enum race_order order = race_ordered_one(ctx, lane, tid, time);
    if (order != RACE_ORDERED)
        race_found(ctx, lane, at, tid, time, *race_at(cells, RACE_WEAK + RACE_SITE, i), true, order);
}

/** What PTX calls observation order: the strong write of the cell's record, and with atomics all of the
 *  record, was read by an atomic or strong read that is ordered before what @lane does now. */
static bool was_observed(const struct race_access *ctx, const struct race_page_shadow *cells, uint32_t i,
                         unsigned lane)
{
    const uint32_t tid = *race_at(cells, RACE_W + RACE_TID, i);
    const uint32_t site = *race_at(cells, RACE_W + RACE_SITE, i);
    const uint32_t reader = *race_at(cells, RACE_R + RACE_TID, i);
    const uint32_t read = *race_at(cells, RACE_R + RACE_SITE, i);
    const uint32_t read_time = *race_at(cells, RACE_R + RACE_CLOCK, i);
    const enum race_level level = level_of(site);

    if (!(site & RACE_STRONG) || (level != RACE_THREAD && !(site & RACE_ATOMIC)) ||
        (level == RACE_GRID && site & RACE_CTA))
        return false; /* not each atomic has read what was before it, or not in its scope */
    if (level != RACE_THREAD &&
        race_ordered_one(ctx, lane, tid, *race_at(cells, RACE_W + RACE_CLOCK, i)) == RACE_ORDERED)
        return true;
    /* a strong read in the record happened after the write */
    if (read_time == 0 || !(read & RACE_STRONG) ||
        ((site | read) & RACE_CTA && tid >> RACE_THREAD_BITS != reader >> RACE_THREAD_BITS))
        return false;
    return race_ordered_one(ctx, lane, reader, read_time) == RACE_ORDERED;
}

/** Are two threads of one warp, or block, of which a record's level says that there is another one? */
static bool is_near(const struct race_access *ctx, uint32_t self_tid, uint32_t tid, enum race_level level)
{
    const uint32_t thread = (uint32_t)lw_mask(RACE_THREAD_BITS);

    if (level < RACE_BLOCK || self_tid >> RACE_THREAD_BITS != tid >> RACE_THREAD_BITS)
        return false;
    return level == RACE_GRID || (self_tid & thread) / ctx->block->width == (tid & thread) / ctx->block->width;
}

/** An access meets the record @k of a cell, which is not obviously ordered before it. True: nothing
 *  orders them. */
static bool check_record(struct race_access *ctx, const struct race_page_shadow *cells, uint32_t i, unsigned k,
                  unsigned lane, uint64_t at)
{
    const uint32_t self_tid = ctx->self_tid + lane;
    uint32_t tid = *race_at(cells, k + RACE_TID, i), site = *race_at(cells, k + RACE_SITE, i);
    uint32_t time = *race_at(cells, k + RACE_CLOCK, i);
    enum race_order order = race_ordered(ctx, lane, cells, i, k);

    if (order == RACE_ORDERED)
        return false;
    if (k == RACE_W && site & RACE_STRONG)
        check_weak(ctx, cells, i, lane, at);
    /* volatile accesses race in no formal sense, but are reported by kinds of their own */
    const bool strong = both_strong(ctx, self_tid, tid, site) && !race_two_sizes(ctx, site);
    const bool is_reported = !strong || ((ctx->site | site) & RACE_VOLATILE) != 0;
    if (k == RACE_W && !(strong && is_reported) && was_observed(ctx, cells, i, lane))
        return false;
    if (level_of(site) != RACE_THREAD) { /* which of the two that are kept? */
        const uint32_t tid_2 = *race_at(cells, k + RACE_TID_2, i), time_2 = *race_at(cells, k + RACE_CLOCK_2, i);
        const bool ordered = race_ordered_one(ctx, lane, tid, time) == RACE_ORDERED;

        if (ordered || (is_near(ctx, self_tid, tid, level_of(site)) &&
                        race_ordered_one(ctx, lane, tid_2, time_2) != RACE_ORDERED)) {
            tid = tid_2;
            time = time_2;
            site = (*race_at(cells, k + RACE_SITE_2, i) & (uint32_t)lw_mask(RACE_SITE_BITS)) |
                   (site & ~(uint32_t)lw_mask(RACE_SITE_BITS));
        }
        if (is_near(ctx, self_tid, tid, level_of(site))) /* it alone, then: the other is in order */
            site &= (uint32_t)lw_mask(RACE_LEVEL_SHIFT);
    }
    if (is_reported)
        race_found(ctx, lane, at, tid, time, site, k == RACE_W, order);
    return order == RACE_UNORDERED;
}

/** The record @k of a cell, of reads or strong writes: @self_tid is added, or is all. */
static void shadow_update(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned k,
                 uint32_t self_tid, bool merge)
{
    uint32_t *tid = race_at(cells, k + RACE_TID, i), *site = race_at(cells, k + RACE_SITE, i);
    uint32_t level = RACE_THREAD, how = ctx->site;

    if (merge) {
        uint32_t between = *tid == self_tid ? RACE_THREAD : level_between(ctx, self_tid, *tid);
        level = *site >> RACE_LEVEL_SHIFT;
        level = level > between ? level : between;
        if (between == level && level != RACE_THREAD) {
            *race_at(cells, k + RACE_CLOCK_2, i) = *race_at(cells, k + RACE_CLOCK, i);
            *race_at(cells, k + RACE_TID_2, i) = *tid;
            *race_at(cells, k + RACE_SITE_2, i) = *site;
        }
        /* strong is what both are */
        how = (ctx->site & ~(uint32_t)RACE_HOW) | (ctx->site & *site & (uint32_t)RACE_HOW) |
              ((ctx->site | *site) & RACE_CTA);
    }
    *race_at(cells, k + RACE_CLOCK, i) = ctx->race->order.clock;
    *tid = self_tid;
    *site = how | level << RACE_LEVEL_SHIFT;
}

static void update_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane)
{
    const bool merge =
        *race_at(cells, RACE_R + RACE_CLOCK, i) > ctx->vc_floor &&
        ((ctx->plain &&
          *race_at(cells, RACE_R + RACE_TID, i) >> RACE_THREAD_BITS != ctx->block->block_id) ||
         race_ordered(ctx, lane, cells, i, RACE_R) == RACE_UNORDERED);

    shadow_update(ctx, cells, i, RACE_R, ctx->self_tid + lane, merge);
}

static void check_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane,
                       uint64_t at)
{
    if (*race_at(cells, RACE_W + RACE_CLOCK, i) > ctx->vc_floor)
        (void)check_record(ctx, cells, i, RACE_W, lane, at);
    update_read(ctx, cells, i, lane);
}

static void check_write(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane,
                        uint64_t at)
{
    bool merge = false;

    if (*race_at(cells, RACE_W + RACE_CLOCK, i) > ctx->vc_floor) {
        uint32_t site = *race_at(cells, RACE_W + RACE_SITE, i);
        merge = check_record(ctx, cells, i, RACE_W, lane, at) && (ctx->site & site & RACE_STRONG) != 0;
    }
    if (*race_at(cells, RACE_R + RACE_CLOCK, i) > ctx->vc_floor)
        (void)check_record(ctx, cells, i, RACE_R, lane, at);
    /* an atomic does not stand for what came before it: another's atomic races with that alone */
    const bool strong = (ctx->site & RACE_STRONG) != 0;
    if (strong && !(*race_at(cells, RACE_W + RACE_SITE, i) & RACE_STRONG))
        for (unsigned k = RACE_CLOCK; k <= RACE_SITE; k++)
            *race_at(cells, RACE_WEAK + k, i) = *race_at(cells, RACE_W + k, i);
    shadow_update(ctx, cells, i, RACE_W, ctx->self_tid + lane, merge);
    if (!strong || *race_at(cells, RACE_R + RACE_SITE, i) & RACE_STRONG)
        *race_at(cells, RACE_R + RACE_CLOCK, i) = 0;
}

/* ---- many cells together ------------------------------------------------------------------------------ */

/** All of @lanes read one word. False: nothing was done. */
static bool one_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, uint64_t lanes,
                     uint32_t base)
{
    uint32_t *site = race_at(cells, RACE_R + RACE_SITE, i), *tid = race_at(cells, RACE_R + RACE_TID, i);
    const uint32_t wt = *race_at(cells, RACE_W + RACE_CLOCK, i);

    if (wt > base &&
        (*race_at(cells, RACE_W + RACE_TID, i) >> RACE_THREAD_BITS != ctx->block->block_id ||
         wt > ctx->vc_block || level_of(*race_at(cells, RACE_W + RACE_SITE, i)) == RACE_GRID))
        return false;
    update_read(ctx, cells, i, lw_lowest(lanes));
    if ((lanes & (lanes - 1)) == 0)
        return true;
    /* the other lanes: nothing orders them with the first */
    if (level_of(*site) <= RACE_WARP) {
        *race_at(cells, RACE_R + RACE_CLOCK_2, i) = ctx->race->order.clock;
        *race_at(cells, RACE_R + RACE_TID_2, i) = *tid;
        *race_at(cells, RACE_R + RACE_SITE_2, i) = *site;
        *site = (*site & (uint32_t)lw_mask(RACE_LEVEL_SHIFT)) |
                (uint32_t)RACE_WARP << RACE_LEVEL_SHIFT;
    }
    *tid = ctx->self_tid + 63 - (unsigned)__builtin_clzll(lanes);
    return true;
}

/** A lane writes what is there already, which no enabled kind reports, where all did weak accesses: its
 *  record would be the next lane's. */
static bool rewrites(const struct race_access *ctx, struct race_page_shadow *cells, uint32_t first,
                         uint32_t count, unsigned lane, uint64_t at)
{
    if (cells == NULL || !ctx->plain || ctx->synchronizes)
        return false;
    for (uint32_t i = first; i < first + count; i++)
        if ((*race_at(cells, RACE_W + RACE_CLOCK, i) > ctx->vc_floor &&
             *race_at(cells, RACE_W + RACE_SITE, i) & RACE_HOW) ||
            (*race_at(cells, RACE_R + RACE_CLOCK, i) > ctx->vc_floor &&
             *race_at(cells, RACE_R + RACE_SITE, i) & RACE_HOW))
            return false;
    if (!race_stores_what_is(ctx, lane, at))
        return false;
    for (uint32_t i = first; i < first + count; i++)
        *race_at(cells, RACE_R + RACE_CLOCK, i) = 0;
    return true;
}

bool race_access_location(struct race_access *ctx, struct race_page_shadow *cells, uint64_t lanes, uint64_t at)
{
    ctx->vc_floor = ctx->block->vc_floor;
    ctx->race->lane_count++;
    if (!ctx->write)
        return one_read(ctx, cells, 0, lanes, ctx->vc_floor);
    if (!race_stores_same(ctx, lanes))
        return false;
    if (!rewrites(ctx, cells, 0, 1, lw_lowest(lanes), at))
        check_write(ctx, cells, 0, lw_lowest(lanes), at);
    shadow_update(ctx, cells, 0, RACE_W, ctx->self_tid + 63 - (unsigned)__builtin_clzll(lanes), false);
    return true;
}

void race_access_cell(struct race_access *ctx, struct race_page_shadow *cells, unsigned lane, uint64_t at)
{
    ctx->vc_floor = ctx->block->vc_floor;
    ctx->race->lane_count++;
    if (ctx->write)
        check_write(ctx, cells, 0, lane, at);
    else
        check_read(ctx, cells, 0, lane, at);
}

/** The shadow of a block's shared memory, the last block's if that will do: what a record has of it is from before
 *  the start of this one. False: no memory. */
static bool shared_cells(struct chk_race *race, struct race_block *b)
{
    struct emu_block_view view;

    if (!emu_block_view(b->core, b->slot, &view)) {
        race->chk->short_of_memory = true;
        return false;
    }
    /* A block that began before the last one ended would take that one's records for its own time's. */
    if (race->shadow.spare_shared.hot != NULL && race->shadow.spare_shared.shift == 2 && race->shadow.spare_clock <= b->start &&
        race->shadow.spare_shared.count == (view.shared_bytes + 3) / 4) {
        b->shared = race->shadow.spare_shared;
        race->shadow.spare_shared = (struct race_page_shadow){0};
        return true;
    }
    if (!race_page_shadow_create(&b->shared, view.shared_bytes, &race->shadow.bytes)) {
        race->chk->short_of_memory = true;
        return false;
    }
    race->shadow.most = race->shadow.bytes > race->shadow.most ? race->shadow.bytes : race->shadow.most;
    return true;
}

/** The cells of a lane's access. NULL: memory without races, or none for the shadow. */
static inline struct race_page_shadow *cells_at(struct race_access *ctx, uint64_t at, unsigned bytes,
                                   uint32_t *first, uint32_t *count)
{
    struct chk_race *race = ctx->race;
    struct race_block *b = ctx->block;
    struct race_page_shadow *cells;
    uint64_t offset;

    if (at >= ISA_GLOBAL_BASE) {
        offset = at - ISA_GLOBAL_BASE;
        if (race->packed.range_count != 0)
            race_packed_leave(race, offset);
        cells = race_shadow_cached(&race->shadow, offset);
        if (race->filter.any_page)
            race_filter_reads_end(race, offset,
                            ctx->write ? 0 : ctx->site & (uint32_t)lw_mask(RACE_SITE_BITS));
        race->chk->short_of_memory |= cells == NULL && offset >> 36 == 0;
        if (cells != NULL && cells->valid_epoch != race->shadow.epoch)
            race_deferred_page_flush(race, cells, offset);
        offset &= (1 << RACE_PAGE_SHIFT) - 1;
        ctx->vc_floor = b->vc_floor;
        ctx->vc_block = b->vc_block;
    } else if (at >= ISA_SHARED_BASE && at < ISA_LOCAL_BASE) {
        offset = at - ISA_SHARED_BASE;
        cells = &b->shared;
        if (cells->hot == NULL && !shared_cells(race, b))
            return NULL;
        ctx->vc_floor = race_max(b->start, b->vc_shared); /* all that the block's barriers made known */
        ctx->vc_block = b->vc_shared;
    } else {
        return NULL;
    }
    if (cells == NULL || cells->hot == NULL ||
        (at & (bytes - 1) & 15) != 0) /* misaligned: it faults */
        return NULL;
    if (bytes < 4 && cells->shift != 0) {
        if (!race_page_shadow_split(cells, &race->shadow.bytes)) {
            race->chk->short_of_memory = true;
            return NULL;
        }
        if (at >= ISA_GLOBAL_BASE)
            race_shadow_is_valid(&race->shadow, cells, at - ISA_GLOBAL_BASE);
    }
    *first = (uint32_t)(offset >> cells->shift);
    *count = bytes >> cells->shift;
    return offset + bytes <= (uint64_t)cells->count << cells->shift ? cells : NULL;
}

void race_access_at(struct race_access *ctx, unsigned lane, uint64_t at)
{
    const enum emu_access_kind kind = ctx->access->kind;
    uint32_t first, count;
    struct race_page_shadow *cells = cells_at(ctx, at, ctx->access->bytes, &first, &count);

    if (cells == NULL)
        return;
    ctx->race->lane_count++;
    for (uint32_t i = first; i < first + count; i++) {
        if (ctx->write)
            check_write(ctx, cells, i, lane, at);
        else
            check_read(ctx, cells, i, lane, at);
    }
    if (ctx->synchronizes)
        race_synchronize(ctx, lane, at,
                         isa_mod_get(ctx->access->at.insn, ISA_MOD_MORDER),
                         kind != EMU_ACCESS_STORE, ctx->write);
}

/** May a read be kept for later, if its page is one? */
static inline bool may_defer_at(const struct race_access *ctx, uint64_t address)
{
    return ctx->may_defer && address >= ISA_GLOBAL_BASE &&
           (address & (ctx->access->bytes - 1)) == 0;
}

/** Keep what can be kept of reads of places that are near each other; returns the other lanes. */
static uint64_t lanes_defer(struct race_access *ctx, const uint64_t *address, uint64_t lanes)
{
    enum { FEW = 4 }; /* fewer lanes a page are looked at, unless there are no others */

    while (lanes != 0) {
        const unsigned low = lw_lowest(lanes);
        const uint64_t page = address[low] >> RACE_PAGE_SHIFT;
        uint64_t here = 0, all = 0;

        if (race_shadow_hot(&ctx->race->shadow, address[low] - ISA_GLOBAL_BASE) != NULL)
            break;
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
            const unsigned l = lw_lowest(rest);
            if (address[l] >> RACE_PAGE_SHIFT != page)
                break;
            here |= rest & (0 - rest);
            all |= address[l];
        }
        if ((here != lanes && lw_popcount(here) < FEW) ||
            (all & (ctx->access->bytes - 1)) != 0 || !may_defer_at(ctx, address[low]) ||
            !race_defer_page(ctx, address[low], 0, address, here))
            break;
        lanes &= ~here;
    }
    return lanes;
}

void race_flush_deferred(struct chk_race *race)
{
    const struct emu_hook_site *at = race->chk->at;

    if (race->batch.is_flushing)
        return; /* a finding of what is looked at here */
    race->batch.is_flushing = true;
    race->chk->at = NULL; /* that was executed before */
    race_batch_check(race);
    race->batch.is_flushing = false;
    race->chk->at = at;
}

void race_access_scattered(struct race_access *ctx, const uint64_t *address, uint64_t lanes)
{
    const bool words = ctx->access->bytes == 4 && !ctx->synchronizes && !(ctx->write && ctx->race->filter.any_page);
    const uint32_t base = ctx->block->vc_floor, now = ctx->race->order.clock, site = ctx->site;
    const uint32_t known = (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT | site;
    const bool weak_read = ctx->plain && !ctx->write && !(site & RACE_HOW);
    const uint32_t block_id = ctx->block->block_id;
    uint32_t *cell[EMU_MAX_LANES];

    for (LW_EACH_BIT(l, lanes)) {
        const uint64_t offset = address[l] - ISA_GLOBAL_BASE;
        uint32_t *hot = words && offset % 4 == 0 ? race_shadow_hot(&ctx->race->shadow, offset) : NULL;

        cell[l] = hot = (uintptr_t)hot > (uintptr_t)RACE_VALID
                      ? hot + (offset & lw_mask(RACE_PAGE_SHIFT)) / 4 * RACE_HOT : NULL;
        if (hot != NULL) {
            __builtin_prefetch(hot, 1);
            __builtin_prefetch(race_hot_warm(hot) + RACE_WARM * race_hot_index(hot), 1);
        }
    }
    for (LW_EACH_BIT(l, lanes)) {
        const uint32_t self_tid = ctx->self_tid + (unsigned)l;
        uint32_t *hot = cell[l];
        uint32_t *write = hot != NULL ? race_hot_warm(hot) + RACE_WARM * race_hot_index(hot) : NULL;
        const bool read = hot != NULL && hot[RACE_HOT_READ] > base;

        if (hot == NULL || (weak_read ? (read && (hot[RACE_HOT_SITE] & RACE_HOW || hot[RACE_HOT_TID] >> RACE_THREAD_BITS == block_id)) ||
                                            (hot[RACE_HOT_WRITE] > base &&
                                             (write[0] >> RACE_THREAD_BITS == block_id ||
                                              write[1] & (RACE_HOW | (uint32_t)RACE_GRID << RACE_LEVEL_SHIFT) ||
                                              !race_found_repeat(ctx, write[1])))
                                      : read || hot[RACE_HOT_WRITE] > base)) {
            race_access_at(ctx, (unsigned)l, address[l]);
            continue;
        }
        if (ctx->write) {
            hot[RACE_HOT_READ] = 0;
            hot[RACE_HOT_WRITE] = now;
            write[0] = self_tid;
            write[1] = site;
            continue;
        }
        if (!read || hot[RACE_HOT_SITE] != known) { /* else the record holds this one already */
            if (read)
                memcpy(write + RACE_WARM_READ_2, hot, 3 * sizeof *hot);
            hot[RACE_HOT_TID] = self_tid;
            hot[RACE_HOT_SITE] = read ? known : site;
        }
        hot[RACE_HOT_READ] = now;
    }
}

static void each_lane(struct race_access *ctx, const uint64_t *address, uint64_t lanes)
{
    if (ctx->may_defer)
        lanes = lanes_defer(ctx, address, lanes);
    race_access_scattered(ctx, address, lanes);
}

/** @lanes of the access, which are those of a piece. */
static void piece(struct race_access *ctx, const struct emu_addr_segment *p, uint64_t lanes)
{
    const unsigned bytes = ctx->access->bytes, shift = bytes >= 4 ? lw_lowest(bytes) - 2 : 0;
    uint64_t address[EMU_MAX_LANES];
    const bool alone = (lanes & (lanes - 1)) == 0, shared = p->address - ISA_SHARED_BASE < ISA_APERTURE_BYTES;
    unsigned lane = p->first;
    uint32_t first, count;

    if (may_defer_at(ctx, p->address)) {
        const unsigned low = lw_lowest(lanes);
        const uint64_t at = p->address + (p->run ? (uint64_t)(low - p->first) * bytes : 0);
        const uint64_t end = p->address + (p->run ? (uint64_t)(p->last - p->first) * bytes : 0);

        if (at >> RACE_PAGE_SHIFT == end >> RACE_PAGE_SHIFT &&
            race_defer_page(ctx, at, p->run ? bytes : 0, NULL, lanes))
            return;
    }
    if (bytes < 4 || ctx->synchronizes) { /* each lane by itself */
    } else if (!p->run && ctx->write && !alone &&
               race_stores_same(ctx, lanes)) {
        const unsigned last = 63 - (unsigned)__builtin_clzll(lanes);
        struct race_page_shadow *cells = cells_at(ctx, p->address, bytes, &first, &count);
        if (!rewrites(ctx, cells, first, count, lw_lowest(lanes), p->address)) {
            race_access_at(ctx, lw_lowest(lanes), p->address);
            cells = cells_at(ctx, p->address, bytes, &first, &count);
        }
        for (uint32_t i = first; cells != NULL && i < first + count; i++)
            shadow_update(ctx, cells, i, RACE_W, ctx->self_tid + last, false);
        return;
    } else if (!p->run && !ctx->write && !(alone && shared)) {
        struct race_page_shadow *cells = cells_at(ctx, p->address, bytes, &first, &count);
        if (cells != NULL && cells->shift != 0) {
            bool all = true;
            for (uint32_t i = first; i < first + count; i++)
                all = one_read(ctx, cells, i, lanes, ctx->vc_floor) && all;
            if (all)
                return;
        }
    } else if ((p->run || alone) && lanes == (lw_mask(p->last + 1u) & ~lw_mask(p->first))) {
        for (; lane + (RACE_CHUNK >> shift) <= p->last + 1u; lane += RACE_CHUNK >> shift) {
            uint64_t at = p->address + (uint64_t)(lane - p->first) * bytes;
            struct race_page_shadow *cells = cells_at(ctx, at, bytes, &first, &count);
            if (cells != NULL && cells->shift != 0 && first + RACE_CHUNK <= cells->count &&
                ctx->race->chunk[ctx->write](ctx, cells, first, ctx->self_tid + lane, shift, ctx->vc_floor,
                                               RACE_CHUNK))
                continue;
            const unsigned end = lane + (RACE_CHUNK >> shift);
            for (unsigned l = lane; l < end; l++)
                address[l] = at + (uint64_t)(l - lane) * bytes;
            race_access_scattered(ctx, address, lw_mask(end) & ~lw_mask(lane));
        }
        lanes &= ~lw_mask(lane);
        if (shared && lanes != 0) { /* what comes of others' blocks is looked at with others of its kind */
            const unsigned words = (p->last + 1u - lane) << shift;
            struct race_page_shadow *cells =
                cells_at(ctx, p->address + (uint64_t)(lane - p->first) * bytes, bytes, &first, &count);
            if (cells != NULL && cells->shift != 0 && first + words <= cells->count &&
                ctx->race->short_chunk[ctx->write](ctx, cells, first, ctx->self_tid + lane, shift, ctx->vc_floor, words))
                return;
        }
    }
    for (LW_EACH_BIT(l, lanes))
        address[l] = p->address + (p->run ? (l - p->first) * bytes : 0);
    each_lane(ctx, address, lanes);
}

/** The plain form of each_lane and piece. */
static void lane_by_lane(struct race_access *ctx, uint64_t lanes)
{
    const struct emu_hook_access *access = ctx->access;

    for (LW_EACH_BIT(l, access->piece_count == 0 ? lanes : 0))
        race_access_at(ctx, (unsigned)l, access->address[l]);
    for (unsigned k = 0; k < access->piece_count; k++) {
        const struct emu_addr_segment *p = &access->piece[k];

        for (LW_EACH_BIT(l, lanes & lw_mask(p->last + 1u) & ~lw_mask(p->first)))
            race_access_at(ctx, (unsigned)l, p->address + (p->run ? (l - p->first) * access->bytes : 0));
    }
}

void race_access_replay(struct race_access *ctx, const uint64_t *address, uint64_t lanes)
{
    if (ctx->race->packed.range_count == 0 || !race_packed_replay(ctx, NULL, address, lanes))
        each_lane(ctx, address, lanes);
}

void race_access_segment(struct race_access *ctx, const struct emu_addr_segment *p, uint64_t lanes)
{
    if (ctx->race->packed.range_count == 0 || !race_packed_replay(ctx, p, NULL, lanes))
        piece(ctx, p, lanes);
}

/* next to a site's word, where the level would be */
#define SITE_KNOWN (UINT32_C(1) << RACE_LEVEL_SHIFT)

/** A site's word of the instruction of @access, level 0. Its site is 0 beyond what a record holds. */
static uint32_t site_make(struct chk_race *race, const struct emu_hook_access *access)
{
    const struct emu_hook_site *at = &access->at;
    const size_t index = at->index;
    uint32_t how = 0;

    if (race->sites.program != at->program) {
        if (race->sites.room != 0)
            memset(race->sites.word, 0, race->sites.room * sizeof *race->sites.word);
        race->sites.program = at->program;
        race->sites.program_base = emu_program_base(at->program);
    }
    if (index >= race->sites.room) {
        size_t before = race->sites.room;
        if (!lw_grow(&race->sites.word, &race->sites.room, index + 1, sizeof *race->sites.word))
            race->chk->short_of_memory = true;
        else
            memset(race->sites.word + before, 0, (race->sites.room - before) * sizeof *race->sites.word);
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
    const uint64_t site = (race->sites.program_base - ISA_CODE_BASE) / ISA_WORD_BYTES + index + 1;
    how |= site < 1 << RACE_SITE_BITS ? (uint32_t)site : 0;
    if (index < race->sites.room)
        race->sites.word[index] = how | SITE_KNOWN;
    return how;
}

static inline uint32_t site_of(struct chk_race *race, const struct emu_hook_access *access)
{
    const struct emu_hook_site *at = &access->at;

    if (race->sites.program == at->program && at->index < race->sites.room &&
        race->sites.word[at->index] & SITE_KNOWN)
        return race->sites.word[at->index] & ~SITE_KNOWN;
    return site_make(race, access);
}

void race_converge(struct chk_race *race, struct race_warp *w, uint64_t lanes, uint64_t live)
{
    race_clock_advance(race);
    if (w->lanes == live || lanes == live)
        w->converged = race->order.clock;
    w->lanes = w->logged_lanes = lanes;
}

void race_access_free(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site, unsigned lane,
                    uint64_t address, uint64_t bytes)
{
    enum { WORD = 4 };
    struct emu_hook_access access = {.at = *site, .kind = EMU_ACCESS_STORE, .space = ISA_SPACE_GLOBAL, .bytes = WORD};
    struct race_warp *w = &b->warp[site->warp];

    if (w->lanes != site->split_lanes) {
        race_converge(race, w, site->split_lanes, race_live(b, w));
        race_batch_revoke(race); /* the interpreter has not seen that: it must report the next split */
    }
    access.at.lanes = UINT64_C(1) << lane;
    struct race_access ctx = {.race = race, .access = &access, .block = b, .warp = w, .site = site_of(race, &access),
                             .vc_block = b->vc_block, .self_tid = b->block_id << RACE_THREAD_BITS | site->warp * b->width, .write = true,
                             .plain = race_is_plain(b, w), .freed = address, .freed_bytes = bytes};
    race->access_count++;
    for (uint64_t at = address; at < address + bytes; at += WORD) {
        uint32_t first, count;
        struct race_page_shadow *cells = cells_at(&ctx, at, WORD, &first, &count);

        if (cells == NULL) { /* no access to that page yet */
            at |= lw_mask(RACE_PAGE_SHIFT) - (WORD - 1);
            continue;
        }
        race->lane_count++;
        for (uint32_t i = first; i < first + count; i++) {
            if (*race_at(cells, RACE_W + RACE_CLOCK, i) > ctx.vc_floor)
                (void)check_record(&ctx, cells, i, RACE_W, lane, at);
            if (*race_at(cells, RACE_R + RACE_CLOCK, i) > ctx.vc_floor)
                (void)check_record(&ctx, cells, i, RACE_R, lane, at);
        }
    }
}

void race_access_check(struct race_access *ctx)
{
    const struct emu_hook_access *access = ctx->access;
    const uint64_t rest = access->at.lanes;
    const unsigned count = access->piece_count;

    if ((ctx->write || ctx->race->packed.range_count + ctx->race->packed.candidate_count != 0) && race_packed_check(ctx))
        return;
    if (ctx->may_defer && (ctx->race->defer.range_lists != 0 || !race_is_whole_warp(ctx)) &&
        race_defer_allocation(ctx, count == 0 ? access->address[lw_lowest(rest)] : access->piece[0].address))
        return;
    if (!ctx->race->fast)
        lane_by_lane(ctx, rest);
    else if (count == 0)
        each_lane(ctx, access->address, rest);
    else if (count == 1)
        piece(ctx, &access->piece[0], rest);
    for (unsigned k = 0; ctx->race->fast && count > 1 && k < count; k++) {
        const struct emu_addr_segment *p = &access->piece[k];

        piece(ctx, p, rest & lw_mask(p->last + 1u) & ~lw_mask(p->first));
    }
}

static inline void flush_and_converge(struct chk_race *race, struct race_block *b, struct race_warp *w,
                                       const struct emu_hook_access *access)
{
    race_flush(race);
    if (w->lanes != access->at.split_lanes)
        race_converge(race, w, access->at.split_lanes, race_live(b, w));
}

void race_on_access(void *state, const struct emu_hook_access *access)
{
    struct chk_race *race = state;
    const uint64_t rest = access->at.lanes;
    const unsigned count = access->piece_count;
    struct race_block *b = race->order.last_block;

    if (b == NULL || b->core != access->at.core || b->slot != access->at.slot)
        b = race_block_at(race, access->at.core, access->at.slot);
    if (b == NULL || access->space == ISA_SPACE_LOCAL || access->space == ISA_SPACE_CONST) {
        race_flush(race);
        return;
    }
    struct race_warp *w = &b->warp[access->at.warp];
    const uint32_t site = site_of(race, access);
    const bool write = access->kind != EMU_ACCESS_LOAD, synchronizes = (site & RACE_STRONG) != 0;
    const uint64_t at = count == 0 ? access->address[lw_lowest(rest)] : access->piece[0].address;
    const bool far = race->batch.log != NULL && !write && at >= ISA_GLOBAL_BASE; /* it may be written down */
    if (!far) {
        flush_and_converge(race, b, w, access);
        if (access->space != ISA_SPACE_GLOBAL && !write && !synchronizes && race_filter_shared_write_free(race, access))
            return;
    }
    const bool plain = race_is_plain(b, w);
    struct race_access ctx = {
        .race = race, .access = access, .block = b, .warp = w, .site = site, .vc_block = b->vc_block,
        .self_tid = b->block_id << RACE_THREAD_BITS | access->at.warp * b->width,
        .write = write, .synchronizes = synchronizes, .plain = plain,
        .may_defer = race->fast && plain && !write && !synchronizes && access->bytes >= 4};
    struct race_page_shadow *known = NULL;

    if (far && race_batch_add(&ctx, at))
        return;
    if (far) {
        flush_and_converge(race, b, w, access);
        if (access->space != ISA_SPACE_GLOBAL && !synchronizes && race_filter_shared_write_free(race, access))
            return;
    }
    race->access_count++;
    /* the cell of one lane, and the first one's of scattered ones, is far away: some are asked */
    if ((count != 0 && (rest & (rest - 1)) != 0) || race->access_count % 8 == 0)
        known = race_filter_reads_allowed(&ctx, at);
    race_access_check(&ctx);
    if (known != NULL)
        race_filter_reads_prefetch(&ctx, at, known);
    else if (race->batch.log != NULL)
        race_batch_prefetch(&ctx, at);
}
