/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: the plain path of an access. The plain path is the reference for all other paths, and should be read first.
 * race_access_at() checks each lane by itself against the records of its cells, and updates the records. All other files find
 * the same races in less time. If struct chk_race.fast is false, only this path runs. docs/explanation/race-detection.md
 */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* ---- an access and a record -------------------------------------------------------------------------- */

/** Returns the lowest level (thread, warp, block, grid) that contains both threads. */
static inline enum race_level level_between(const struct race_access *ctx, uint32_t self_tid, uint32_t tid)
{
    if (self_tid >> RACE_THREAD_BITS != tid >> RACE_THREAD_BITS)
        return RACE_GRID;
    return (self_tid & ((1 << RACE_THREAD_BITS) - 1)) / ctx->block->width ==
                   (tid & ((1 << RACE_THREAD_BITS) - 1)) / ctx->block->width
               ? RACE_WARP
               : RACE_BLOCK;
}

/** Returns true if both accesses are strong and each is in the scope of the other, so that they cannot race. */
static inline bool both_strong(const struct race_access *ctx, uint32_t self_tid, uint32_t tid, uint32_t site)
{
    if (!(ctx->site & site & RACE_STRONG))
        return false;
    return ((ctx->site | site) & RACE_CTA) == 0 ||
           self_tid >> RACE_THREAD_BITS == tid >> RACE_THREAD_BITS;
}

/** Checks the access against the weak write that preceded the recorded atomic write. The check is necessary only if the atomic
 *  write is unordered: a thread that is ordered after the atomic write is ordered after the weak write, too. */
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

/** Returns true if the strong writes of the cell's record come before the access of @lane in the order that PTX calls
 *  observation order. This is the case if an atomic or strong read has read the write or, if the record has several atomics,
 *  the last of them, and if this read is ordered before the access. */
static bool was_observed(const struct race_access *ctx, const struct race_page_shadow *cells, uint32_t i,
                         unsigned lane)
{
    const uint32_t tid = *race_at(cells, RACE_W + RACE_TID, i);
    const uint32_t site = *race_at(cells, RACE_W + RACE_SITE, i);
    const uint32_t reader = *race_at(cells, RACE_R + RACE_TID, i);
    const uint32_t read = *race_at(cells, RACE_R + RACE_SITE, i);
    const uint32_t read_time = *race_at(cells, RACE_R + RACE_CLOCK, i);
    const enum race_level level = race_level_of(site);

    if (!(site & RACE_STRONG) || (level != RACE_THREAD && !(site & RACE_ATOMIC)) ||
        (level == RACE_GRID && site & RACE_CTA))
        return false; /* the recorded writes are not a chain in which each atomic has read the write before it */
    if (level != RACE_THREAD &&
        race_ordered_one(ctx, lane, tid, *race_at(cells, RACE_W + RACE_CLOCK, i)) == RACE_ORDERED)
        return true;
    /* A strong read in the record of reads is later than the write, because a write empties a record of strong reads. */
    if (read_time == 0 || !(read & RACE_STRONG) ||
        ((site | read) & RACE_CTA && tid >> RACE_THREAD_BITS != reader >> RACE_THREAD_BITS))
        return false;
    return race_ordered_one(ctx, lane, reader, read_time) == RACE_ORDERED;
}

/** Returns true if the two threads are in the same block (@level RACE_GRID) or in the same warp (@level RACE_BLOCK). The
 *  record with this level also holds a thread of another block or warp. */
static bool is_near(const struct race_access *ctx, uint32_t self_tid, uint32_t tid, enum race_level level)
{
    const uint32_t thread = (uint32_t)lw_mask(RACE_THREAD_BITS);

    if (level < RACE_BLOCK || self_tid >> RACE_THREAD_BITS != tid >> RACE_THREAD_BITS)
        return false;
    return level == RACE_GRID || (self_tid & thread) / ctx->block->width == (tid & thread) / ctx->block->width;
}

/** Compares an access with record @k of a cell. The caller has already found that the record is not ordered before the
 *  access as a whole. Returns true if the two accesses are unordered. */
bool race_check_record(struct race_access *ctx, const struct race_page_shadow *cells, uint32_t i, unsigned k,
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
    /* volatile accesses are not data races by definition, and have their own kinds */
    const bool strong = both_strong(ctx, self_tid, tid, site) && !race_two_sizes(ctx, site);
    const bool is_reported = !strong || ((ctx->site | site) & RACE_VOLATILE) != 0;
    if (k == RACE_W && !(strong && is_reported) && was_observed(ctx, cells, i, lane))
        return false;
    if (race_level_of(site) != RACE_THREAD) { /* The record has two threads. The one to report is selected here. */
        const uint32_t tid_2 = *race_at(cells, k + RACE_TID_2, i), time_2 = *race_at(cells, k + RACE_CLOCK_2, i);
        const bool ordered = race_ordered_one(ctx, lane, tid, time) == RACE_ORDERED;

        if (ordered || (is_near(ctx, self_tid, tid, race_level_of(site)) &&
                        race_ordered_one(ctx, lane, tid_2, time_2) != RACE_ORDERED)) {
            tid = tid_2;
            time = time_2;
            site = (*race_at(cells, k + RACE_SITE_2, i) & (uint32_t)lw_mask(RACE_SITE_BITS)) |
                   (site & ~(uint32_t)lw_mask(RACE_SITE_BITS));
        }
        /* Only the selected access of the record is unordered, so the level of the record does not apply to the race. */
        if (is_near(ctx, self_tid, tid, race_level_of(site)))
            site &= (uint32_t)lw_mask(RACE_LEVEL_SHIFT);
    }
    if (is_reported)
        race_found(ctx, lane, at, tid, time, site, k == RACE_W, order);
    return order == RACE_UNORDERED;
}

/** Updates record @k of a cell, which has reads or strong writes: with @merge adds @self_tid, otherwise replaces the
 *  record. */
void race_update(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned k,
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
        /* the merged site word has the flags that both accesses have, and the narrower of the two scopes */
        how = (ctx->site & ~(uint32_t)RACE_HOW) | (ctx->site & *site & (uint32_t)RACE_HOW) |
              ((ctx->site | *site) & RACE_CTA);
    }
    *race_at(cells, k + RACE_CLOCK, i) = ctx->race->order.clock;
    *tid = self_tid;
    *site = how | level << RACE_LEVEL_SHIFT;
}

void race_update_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane)
{
    const bool merge =
        *race_at(cells, RACE_R + RACE_CLOCK, i) > ctx->vc_floor &&
        ((ctx->plain &&
          *race_at(cells, RACE_R + RACE_TID, i) >> RACE_THREAD_BITS != ctx->block->block_id) ||
         race_ordered(ctx, lane, cells, i, RACE_R) == RACE_UNORDERED);

    race_update(ctx, cells, i, RACE_R, ctx->self_tid + lane, merge);
}

static void check_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane,
                       uint64_t at)
{
    if (*race_at(cells, RACE_W + RACE_CLOCK, i) > ctx->vc_floor)
        (void)race_check_record(ctx, cells, i, RACE_W, lane, at);
    race_update_read(ctx, cells, i, lane);
}

static void check_write(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane,
                        uint64_t at)
{
    bool merge = false;

    if (*race_at(cells, RACE_W + RACE_CLOCK, i) > ctx->vc_floor) {
        uint32_t site = *race_at(cells, RACE_W + RACE_SITE, i);
        merge = race_check_record(ctx, cells, i, RACE_W, lane, at) && (ctx->site & site & RACE_STRONG) != 0;
    }
    if (*race_at(cells, RACE_R + RACE_CLOCK, i) > ctx->vc_floor)
        (void)race_check_record(ctx, cells, i, RACE_R, lane, at);
    /* A strong write keeps the records of earlier weak accesses, because a later strong access can race only with them. */
    const bool strong = (ctx->site & RACE_STRONG) != 0;
    if (strong && !(*race_at(cells, RACE_W + RACE_SITE, i) & RACE_STRONG))
        for (unsigned k = RACE_CLOCK; k <= RACE_SITE; k++)
            *race_at(cells, RACE_WEAK + k, i) = *race_at(cells, RACE_W + k, i);
    race_update(ctx, cells, i, RACE_W, ctx->self_tid + lane, merge);
    if (!strong || *race_at(cells, RACE_R + RACE_SITE, i) & RACE_STRONG)
        *race_at(cells, RACE_R + RACE_CLOCK, i) = 0;
}

void race_check_cell(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, unsigned lane, uint64_t at)
{
    if (ctx->write)
        check_write(ctx, cells, i, lane, at);
    else
        check_read(ctx, cells, i, lane, at);
}

/* ---- the cells of an access --------------------------------------------------------------------------- */

/** Creates the shadow of a block's shared memory. If possible, reuses the shadow of the last block, all of whose
 *  records are older than the start of this block. Returns false if memory is short. */
static bool shared_cells(struct chk_race *race, struct race_block *b)
{
    struct emu_block_view view;

    if (!emu_block_view(b->core, b->slot, &view)) {
        race->chk->short_of_memory = true;
        return false;
    }
    /* A block that started before the last block ended could mistake records of that block for its own. */
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

/** Returns the cells of a lane's access. NULL: memory in which races are impossible, or no memory for the shadow. */
struct race_page_shadow *race_cells_at(struct race_access *ctx, uint64_t at, unsigned bytes,
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
        ctx->vc_floor = race_max(b->start, b->vc_shared); /* covers all accesses that the block's barriers order */
        ctx->vc_block = b->vc_shared;
    } else {
        return NULL;
    }
    if (cells == NULL || cells->hot == NULL ||
        (at & (bytes - 1) & 15) != 0) /* there are no cells; or the address is misaligned, so that the access faults */
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
    struct race_page_shadow *cells = race_cells_at(ctx, at, ctx->access->bytes, &first, &count);

    if (cells == NULL)
        return;
    ctx->race->lane_count++;
    for (uint32_t i = first; i < first + count; i++)
        race_check_cell(ctx, cells, i, lane, at);
    if (ctx->synchronizes)
        race_synchronize(ctx, lane, at,
                         isa_mod_get(ctx->access->at.insn, ISA_MOD_MORDER),
                         kind != EMU_ACCESS_STORE, ctx->write);
}

/** Checks @lanes one by one. chk_race_access.c has the faster counterparts each_lane() and piece(). */
void race_access_plain(struct race_access *ctx, uint64_t lanes)
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
