/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: the path of an access, and the check of several lanes together. chk_race_plain.c has the check of a single
 * lane. */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/** Checks a read of one word by all lanes of @lanes. Returns false if the caller must check the lanes in another way. */
static bool one_read(struct race_access *ctx, struct race_page_shadow *cells, uint32_t i, uint64_t lanes,
                     uint32_t base)
{
    uint32_t *site = race_at(cells, RACE_R + RACE_SITE, i), *tid = race_at(cells, RACE_R + RACE_TID, i);
    const uint32_t wt = *race_at(cells, RACE_W + RACE_CLOCK, i);

    if (wt > base &&
        (*race_at(cells, RACE_W + RACE_TID, i) >> RACE_THREAD_BITS != ctx->block->block_id ||
         wt > ctx->vc_block || race_level_of(*race_at(cells, RACE_W + RACE_SITE, i)) == RACE_GRID))
        return false;
    race_update_read(ctx, cells, i, lw_lowest(lanes));
    if ((lanes & (lanes - 1)) == 0)
        return true;
    /* Records the reads of the lanes after the lowest one. No synchronisation orders them with the lowest lane. */
    if (race_level_of(*site) <= RACE_WARP) {
        *race_at(cells, RACE_R + RACE_CLOCK_2, i) = ctx->race->order.clock;
        *race_at(cells, RACE_R + RACE_TID_2, i) = *tid;
        *race_at(cells, RACE_R + RACE_SITE_2, i) = *site;
        *site = (*site & (uint32_t)lw_mask(RACE_LEVEL_SHIFT)) |
                (uint32_t)RACE_WARP << RACE_LEVEL_SHIFT;
    }
    *tid = ctx->self_tid + 63 - (unsigned)__builtin_clzll(lanes);
    return true;
}

/** Returns true if the store by @lane needs no check. Three conditions must hold: the store writes the value that
 *  memory already has, no enabled kind reports races of such stores, and the cells have only weak accesses. If the
 *  function returns true, it has emptied the read records, as a write does, and the caller records the write. */
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
        race_check_cell(ctx, cells, 0, lw_lowest(lanes), at);
    race_update(ctx, cells, 0, RACE_W, ctx->self_tid + 63 - (unsigned)__builtin_clzll(lanes), false);
    return true;
}

void race_access_cell(struct race_access *ctx, struct race_page_shadow *cells, unsigned lane, uint64_t at)
{
    ctx->vc_floor = ctx->block->vc_floor;
    ctx->race->lane_count++;
    race_check_cell(ctx, cells, 0, lane, at);
}

/** Returns true if the read may be deferred: ctx->may_defer is set, and @address is a global address that is aligned to the
 *  size of the access. */
static inline bool may_defer_at(const struct race_access *ctx, uint64_t address)
{
    return ctx->may_defer && address >= ISA_GLOBAL_BASE &&
           (address & (ctx->access->bytes - 1)) == 0;
}

/** Defers reads of locations that are close to each other where possible. Returns the lanes whose reads are not
 *  deferred. */
static uint64_t lanes_defer(struct race_access *ctx, const uint64_t *address, uint64_t lanes)
{
    enum { FEW = 4 }; /* Fewer than FEW lanes that read one page are deferred only if no other lanes remain. */

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

void race_flush_log(struct chk_race *race)
{
    const struct emu_hook_site *at = race->chk->at;

    if (race->batch.is_flushing)
        return; /* The flush in progress has found a race, and chk_add() has called this function. */
    race->batch.is_flushing = true;
    race->chk->at = NULL; /* The machine has already executed the logged accesses, so it is not stopped at them. */
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
        if (!read || hot[RACE_HOT_SITE] != known) { /* otherwise the record already includes this access */
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

/** Checks @lanes of the access, which are lanes of segment @p. */
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
    if (bytes < 4 || ctx->synchronizes) { /* each lane is checked by itself */
    } else if (!p->run && ctx->write && !alone &&
               race_stores_same(ctx, lanes)) {
        const unsigned last = 63 - (unsigned)__builtin_clzll(lanes);
        struct race_page_shadow *cells = race_cells_at(ctx, p->address, bytes, &first, &count);
        if (!rewrites(ctx, cells, first, count, lw_lowest(lanes), p->address)) {
            race_access_at(ctx, lw_lowest(lanes), p->address);
            cells = race_cells_at(ctx, p->address, bytes, &first, &count);
        }
        for (uint32_t i = first; cells != NULL && i < first + count; i++)
            race_update(ctx, cells, i, RACE_W, ctx->self_tid + last, false);
        return;
    } else if (!p->run && !ctx->write && !(alone && shared)) {
        struct race_page_shadow *cells = race_cells_at(ctx, p->address, bytes, &first, &count);
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
            struct race_page_shadow *cells = race_cells_at(ctx, at, bytes, &first, &count);
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
        if (shared && lanes != 0) { /* in shared memory, fewer than RACE_CHUNK words are checked together, too */
            const unsigned words = (p->last + 1u - lane) << shift;
            struct race_page_shadow *cells =
                race_cells_at(ctx, p->address + (uint64_t)(lane - p->first) * bytes, bytes, &first, &count);
            if (cells != NULL && cells->shift != 0 && first + words <= cells->count &&
                ctx->race->short_chunk[ctx->write](ctx, cells, first, ctx->self_tid + lane, shift, ctx->vc_floor, words))
                return;
        }
    }
    for (LW_EACH_BIT(l, lanes))
        address[l] = p->address + (p->run ? (l - p->first) * bytes : 0);
    each_lane(ctx, address, lanes);
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

/* Flag in the level bits of an entry of race_sites.word, which shows that the entry has been computed. */
#define SITE_KNOWN (UINT32_C(1) << RACE_LEVEL_SHIFT)

/** Computes the site word of @access's instruction, with level RACE_THREAD. The number of the instruction in it is 0 if
 *  RACE_SITE_BITS bits cannot hold the number. */
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
        race_batch_revoke(race); /* the next access must be reported, because the log has no record of the new split */
    }
    access.at.lanes = UINT64_C(1) << lane;
    struct race_access ctx = {.race = race, .access = &access, .block = b, .warp = w, .site = site_of(race, &access),
                             .vc_block = b->vc_block, .self_tid = b->block_id << RACE_THREAD_BITS | site->warp * b->width, .write = true,
                             .plain = race_is_plain(b, w), .freed = address, .freed_bytes = bytes};
    race->access_count++;
    for (uint64_t at = address; at < address + bytes; at += WORD) {
        uint32_t first, count;
        struct race_page_shadow *cells = race_cells_at(&ctx, at, WORD, &first, &count);

        if (cells == NULL) { /* the page has no cells, so its other words are skipped */
            at |= lw_mask(RACE_PAGE_SHIFT) - (WORD - 1);
            continue;
        }
        race->lane_count++;
        for (uint32_t i = first; i < first + count; i++) {
            if (*race_at(cells, RACE_W + RACE_CLOCK, i) > ctx.vc_floor)
                (void)race_check_record(&ctx, cells, i, RACE_W, lane, at);
            if (*race_at(cells, RACE_R + RACE_CLOCK, i) > ctx.vc_floor)
                (void)race_check_record(&ctx, cells, i, RACE_R, lane, at);
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
        race_access_plain(ctx, rest);
    else if (count == 0)
        each_lane(ctx, access->address, rest);
    for (unsigned k = 0; ctx->race->fast && k < count; k++) {
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
    const bool far = race->batch.log != NULL && !write && at >= ISA_GLOBAL_BASE; /* the access may be logged for a
                                                                                  * later check */
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
    /* The cells of scattered lanes are rarely in a cache of the host. Only every eighth of such accesses is therefore
     * considered for the filter. */
    if ((count != 0 && (rest & (rest - 1)) != 0) || race->access_count % 8 == 0)
        known = race_filter_reads_allowed(&ctx, at);
    race_access_check(&ctx);
    if (known != NULL)
        race_filter_reads_prefetch(&ctx, at, known);
    else if (race->batch.log != NULL)
        race_batch_prefetch(&ctx, at);
}
