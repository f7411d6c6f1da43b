/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: happens-before. docs/explanation/race-detection.md */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* ---- begin and end ------------------------------------------------------------------------------ */

static bool begin(void *state)
{
    static const unsigned nothing = 0;
    struct chk_race *race = state;

    if (!race_shadow_begin(&race->shadow))
        return false;
    race->machine = race->chk->machine;
    race->kinds = race->chk->options.kinds;
    race->order.clock = 1;
    race->batch.log_used = &nothing;
    race->fast = race->chk->options.counting != CHK_COUNT_REQUESTS; /* If requests are counted, each access needs a call
                                                                     * of the hook. */
    race_chunk_choose(race);
    /* Shared memory is not filtered under a debugger. A debugger may move lanes to another pc, so that they execute earlier
     * reads of the barrier interval again. */
    race->filter.threads_diverged = !race->fast || race->chk->options.found != NULL;
    return true;
}

static void fence_drop(struct race_lane *lane)
{
    race_vclock_drop(lane->fence[RACE_FENCE_GPU].vclock);
    race_vclock_drop(lane->fence[RACE_FENCE_CTA].vclock);
    race_vclock_drop(lane->vclock);
    race_vclock_drop(lane->pending[RACE_FENCE_GPU]);
    race_vclock_drop(lane->pending[RACE_FENCE_CTA]);
}

static void spare_forget(struct chk_race *race)
{
    if (race->shadow.spare_shared.hot != NULL)
        race_page_shadow_free(&race->shadow.spare_shared, &race->shadow.bytes);
}

static void block_destroy(struct chk_race *race, struct race_block *b)
{
    for (unsigned w = 0; w < b->warp_count; w++) {
        for (unsigned l = 0; b->warp[w].lane != NULL && l < b->width; l++)
            fence_drop(&b->warp[w].lane[l]);
        free(b->warp[w].lane);
        free(b->warp[w].vc_lanes);
    }
    race_vclock_drop(b->vclock);
    race_vclock_drop(b->pending[RACE_FENCE_GPU]);
    race_vclock_drop(b->pending[RACE_FENCE_CTA]);
    free(b->vc_warps);
    free(b->fenced);
    race_barriers_free(b);
    if (b->shared.hot != NULL) {
        spare_forget(race);
        race->shadow.spare_shared = b->shared;
        race->shadow.spare_clock = race->order.clock;
    }
    free(b);
}

static void grids_forget(struct chk_race *race)
{
    for (size_t i = 0; i < race->order.grid_count; i++)
        race_vclock_drop(race->order.grids[i].vclock);
    race->order.grid_count = 0;
}

static void variables_forget(struct chk_race *race)
{
    struct race_sync_var *vars = race->order.sync_vars.rows;

    for (size_t i = 0; i < race->order.sync_vars.capacity; i++) {
        race_vclock_drop(vars[i].gpu);
        race_vclock_drop(vars[i].cta);
    }
    free(vars);
    race->order.sync_vars = (struct lw_table){NULL, 0, 0};
}

void chk_race_flush(const struct chk *chk)
{
    struct chk_race *race = chk_state(chk, &chk_race_observer);

    if (race != NULL)
        race_flush(race);
}

static void end(void *state)
{
    struct chk_race *race = state;

    for (size_t i = 0; i < race->order.block_count; i++)
        block_destroy(race, race->order.blocks[i]);
    spare_forget(race);
    grids_forget(race);
    variables_forget(race);
    race_shadow_end(&race->shadow);
    race_filter_reads_forget(race);
    race_phases_destroy(race);
    race_deferred_end(race);
    race_batch_end(race);
    free(race->shadow.uninit);
    free(race->sites.spin);
    free(race->order.blocks);
    free(race->order.block_ids);
    free(race->order.grids);
    free(race->order.codes);
    free(race->pairs.table.rows);
    free(race->sites.word);
}

/* ---- launches and blocks -------------------------------------------------------------------------- */

static struct race_grid *grid_find(struct chk_race *race, uint32_t sequence)
{
    for (size_t i = race->order.grid_count; i > 0; i--)
        if (race->order.grids[i - 1].sequence == sequence)
            return &race->order.grids[i - 1];
    return NULL;
}

static struct race_grid *grid_add(struct chk_race *race, uint32_t sequence)
{
    if (!lw_grow(&race->order.grids, &race->order.grid_capacity, race->order.grid_count + 1, sizeof *race->order.grids)) {
        race->chk->short_of_memory = true;
        return NULL;
    }
    const struct emu_grid *grid = emu_grid_find(race->machine, sequence);
    if (race->order.grid_count != 0 && race->filter.any_page)
        emu_hooks_invalidate_filters(race->machine);
    struct race_grid *g = &race->order.grids[race->order.grid_count++];
    *g = (struct race_grid){.sequence = sequence};
    if (grid != NULL)
        race_code_of(race, grid->launch.program, grid->launch.kernel, &g->code);
    return g;
}

/** Starts a launch by the host while no other launch runs: all earlier accesses are complete, and are ordered before
 *  the launch. */
static struct race_grid *root_begins(struct chk_race *race, uint32_t sequence)
{
    enum { LATE = 1 << 30 };

    grids_forget(race);
    variables_forget(race);
    race_filter_reads_forget(race);
    race_deferred_forget(race);
    race_packed_forget(race);
    race->order.block_id_count = 0;
    race->order.host_launch = sequence;
    if (race->order.clock >= LATE) { /* Clock values have a limit. All recorded accesses are ordered before the new
                                      * launch, so their clocks are not needed. */
        race_shadow_forget(&race->shadow, 0, 0);
        race->shadow.uninit_count = 0; /* the shadow no longer shows which of these ranges kernels have written */
        spare_forget(race);
        race->order.clock = 1;
    }
    struct race_grid *g = grid_add(race, sequence);
    if (g != NULL)
        g->vc_floor = race->order.clock;
    race_clock_advance(race);
    return g;
}

/** Handles a launch that the host has queued. Only streams order launches that are queued while other launches run. */
static void host_launched(struct chk_race *race, const struct emu_grid *grid)
{
    const struct race_grid *root = grid_find(race, race->order.host_launch);
    bool alone = true;

    for (size_t i = 0; i < race->order.grid_count; i++) {
        const struct emu_grid *other = emu_grid_find(race->machine, race->order.grids[i].sequence);
        alone = alone && (race->order.grids[i].parent != 0 || other == NULL || emu_grid_complete(other));
    }
    if (alone || root == NULL) {
        (void)root_begins(race, grid->sequence);
        return;
    }
    const uint32_t base = root->vc_floor;
    struct race_grid *g = grid_add(race, grid->sequence);
    if (g != NULL)
        g->vc_floor = base;
}

/** Called when the first block of a launch by the host starts. Orders the launch after the earlier launches in its stream,
 *  which have ended. */
static void host_begins(struct chk_race *race, struct race_grid *g, const struct emu_grid *grid)
{
    g->begun = true;
    g->stream = grid->stream;
    for (size_t i = 0; i < race->order.grid_count && race->order.grids[i].sequence < g->sequence; i++) {
        const struct race_grid *before = &race->order.grids[i];
        const struct emu_grid *other = emu_grid_find(race->machine, before->sequence);
        struct race_entry over = {race_key(RACE_VC_GRID, before->sequence), UINT32_MAX};

        if (before->parent != 0 || other == NULL || other->stream != g->stream)
            continue;
        struct race_vclock *vclock = race_vclock_create(&over, 1, &race->chk->short_of_memory);
        race_vclock_join(&g->vclock, vclock, race->order.clock, &race->chk->short_of_memory);
        race_vclock_drop(vclock);
    }
}

struct race_block *race_block_at(struct chk_race *race, const struct emu_core *core, unsigned slot)
{
    struct race_block *b = race->order.last_block;

    if (b != NULL && b->core == core && b->slot == slot)
        return b;
    for (size_t i = 0; i < race->order.block_count; i++) {
        b = race->order.blocks[i];
        if (b->core == core && b->slot == slot)
            return race->order.last_block = b;
    }
    return NULL;
}

static void block_ends(struct chk_race *race, struct race_block *b)
{
    for (size_t i = 0; i < race->order.block_count; i++)
        if (race->order.blocks[i] == b)
            race->order.blocks[i] = race->order.blocks[--race->order.block_count];
    race->order.last_block = NULL;
    block_destroy(race, b);
}

static void on_block(void *state, struct emu_core *core, unsigned slot, bool begins)
{
    struct chk_race *race = state;
    struct race_block *b = race_block_at(race, core, slot);
    struct emu_block_view view;

    race_flush(race);
    if (b != NULL)
        block_ends(race, b);
    if (!begins || !emu_block_view(core, slot, &view))
        return;
    struct race_grid *g = grid_find(race, view.grid->sequence);
    if (g == NULL)
        g = root_begins(race, view.grid->sequence);
    if (g != NULL && g->parent == 0 && !g->begun)
        host_begins(race, g, view.grid);
    b = calloc(1, sizeof *b + view.warp_count * sizeof b->warp[0]);
    if (g == NULL || b == NULL || race->order.block_id_count >= RACE_MOST_BLOCKS - 1 ||
        !lw_grow(&race->order.block_ids, &race->order.block_id_capacity, race->order.block_id_count + 2, sizeof *race->order.block_ids) ||
        !lw_grow(&race->order.blocks, &race->order.block_capacity, race->order.block_count + 1, sizeof *race->order.blocks)) {
        race->chk->short_of_memory |= b == NULL || race->order.block_id_count < RACE_MOST_BLOCKS - 1;
        free(b);
        return;
    }
    b->core = core;
    b->slot = slot;
    b->grid = view.grid->sequence;
    b->linear = view.block;
    b->block_id = (uint32_t)++race->order.block_id_count;
    b->start = race->order.clock;
    b->vc_floor = g->vc_floor;
    b->packed_first = race->packed.access_count;
    b->vclock = race_vclock_keep(g->vclock);
    b->warp_count = view.warp_count;
    b->width = emu_machine_config(race->machine)->warp_width;
    for (unsigned w = 0; w < b->warp_count; w++) {
        struct emu_warp_view warp;

        if (emu_warp_view(core, slot, w, &warp))
            b->warp[w].lanes = b->warp[w].logged_lanes = warp.launched;
    }
    race->order.block_ids[b->block_id] = (struct race_block_id){b->grid, b->start, b->linear};
    race->order.blocks[race->order.block_count++] = b;
    race->order.last_block = b;
    race_clock_advance(race);
}

uint64_t race_live(const struct race_block *b, const struct race_warp *w)
{
    struct emu_warp_view view;

    return emu_warp_view(b->core, b->slot, (unsigned)(w - b->warp), &view) ? view.live : 0;
}

/* ---- accesses that are ordered before those of a thread --------------------------------------------- */

uint32_t race_thread_of(const struct race_block *b, const struct race_warp *w, unsigned lane)
{
    return b->block_id << RACE_THREAD_BITS | ((unsigned)(w - b->warp) * b->width + lane);
}

struct race_lane *race_lanes_of(struct chk_race *race, struct race_block *b, struct race_warp *w)
{
    if (w->lane == NULL) {
        w->lane = calloc(b->width, sizeof *w->lane);
        race->chk->short_of_memory |= w->lane == NULL;
        b->any_lane |= w->lane != NULL;
    }
    return w->lane;
}

void race_join(struct chk_race *race, struct race_vclock **into, struct race_vclock *other)
{
    race_vclock_join(into, other, race->order.clock, &race->chk->short_of_memory);
}

/** Returns a vector clock that covers the accesses that a thread is ordered after, except accesses that the scalar clocks
 *  vc_block and vc_warp of its block and warp already cover. */
static struct race_vclock *all_vclock(struct chk_race *race, struct race_block *b, const struct race_warp *w,
                                    unsigned lane)
{
    struct race_vclock *vclock = race_vclock_keep(b->vclock);

    if (w->lane != NULL)
        race_join(race, &vclock, w->lane[lane].vclock);
    if (b->vc_warps == NULL && w->vc_lanes == NULL)
        return vclock;
    /* The rest of this function does what race_ordered_before() does, but for one lane and at less cost, because it runs for
     * each lane of a fence. */
    struct race_entry entry[EMU_MAX_LANES + EMU_MAX_BLOCK_THREADS];
    const unsigned index = (unsigned)(w - b->warp);
    unsigned count = 0;

    for (unsigned k = 0; k < b->width && w->vc_lanes != NULL; k++) {
        const uint32_t time = w->vc_lanes[lane * b->width + k];
        if (k != lane && time > race_max(b->vc_block, w->vc_warp))
            entry[count++] = (struct race_entry){race_key(RACE_VC_THREAD, race_thread_of(b, w, k)), time};
    }
    for (unsigned v = 0; v < b->warp_count && b->vc_warps != NULL; v++) {
        const uint32_t time = b->vc_warps[index * b->warp_count + v];
        if (v != index && time > b->vc_block)
            entry[count++] =
                (struct race_entry){race_key(RACE_VC_WARP, race_thread_of(b, &b->warp[v], 0)), time};
    }
    struct race_vclock *known = race_vclock_create(entry, count, &race->chk->short_of_memory);
    race_join(race, &vclock, known);
    race_vclock_drop(known);
    return vclock;
}

/** Returns the vector clock that a thread releases. The clock covers the accesses that the thread made or was ordered
 *  after at @fence. With @device it also covers the accesses of the block up to device fences before a barrier
 *  (b->fenced). Returns NULL if memory is short. */
static struct race_vclock *vclock_of(struct chk_race *race, struct race_block *b,
                                   struct race_warp *w, unsigned lane, const struct race_fence *fence,
                                   bool device)
{
    const uint32_t thread = race_thread_of(b, w, lane);
    const unsigned index = (unsigned)(w - b->warp), count = b->warp_count;
    struct race_entry *entry = calloc(3 + count, sizeof *entry);
    struct race_vclock *vclock;
    unsigned n = 0;

    if (entry == NULL) {
        race->chk->short_of_memory = true;
        return NULL;
    }
    entry[n++] = (struct race_entry){race_key(RACE_VC_THREAD, thread), fence->time};
    entry[n++] = (struct race_entry){race_key(RACE_VC_WARP, thread - lane), fence->vc_warp};
    entry[n++] = (struct race_entry){race_key(RACE_VC_BLOCK, b->block_id), fence->vc_block};
    for (unsigned v = 0; v < count; v++) {
        const uint32_t time = device && b->fenced != NULL ? b->fenced[v] : 0;

        if (v == index)
            entry[1].time = race_max(entry[1].time, time);
        else if (time != 0)
            entry[n++] = (struct race_entry){
                race_key(RACE_VC_WARP, race_thread_of(b, &b->warp[v], 0)), time};
    }
    vclock = race_vclock_create(entry, n, &race->chk->short_of_memory);
    free(entry);
    race_join(race, &vclock, fence->vclock);
    return vclock;
}

/** Returns true if @vclock covers the whole launch that contains block @block_id, or a launch that directly or indirectly made
 *  that launch. */
static bool launch_over(const struct chk_race *race, const struct race_vclock *vclock, uint32_t block_id)
{
    uint32_t sequence = race->order.block_ids[block_id].grid;

    while (sequence != 0) {
        const struct race_grid *g = grid_find((struct chk_race *)(uintptr_t)race, sequence);

        if (race_vclock_time(vclock, race_key(RACE_VC_GRID, sequence)) != 0)
            return true;
        sequence = g != NULL ? g->parent : 0;
    }
    return false;
}

static bool vclock_covers(const struct chk_race *race, const struct race_vclock *vclock, uint32_t tid,
                      uint32_t warp, uint32_t time)
{
    uint32_t block_id = tid >> RACE_THREAD_BITS;

    if (vclock == NULL)
        return false;
    return race_vclock_time(vclock, race_key(RACE_VC_ALL, 0)) >= time ||
           race_vclock_time(vclock, race_key(RACE_VC_BLOCK, block_id)) >= time ||
           race_vclock_time(vclock, race_key(RACE_VC_WARP, warp)) >= time ||
           race_vclock_time(vclock, race_key(RACE_VC_THREAD, tid)) >= time ||
           race_vclock_time(vclock, race_key(RACE_VC_BLOCKS_OF, race->order.block_ids[block_id].grid)) != 0 ||
           launch_over(race, vclock, block_id);
}

/** Returns true if @lane of the warp in @ctx is ordered after all accesses of its warp up to @time. */
static bool knows_warp(const struct race_access *ctx, unsigned lane, uint32_t time)
{
    const struct race_warp *w = ctx->warp;

    if (w->vc_warp >= time)
        return true;
    for (unsigned k = 0; w->vc_lanes != NULL && k < ctx->block->width; k++)
        if (k != lane && w->vc_lanes[lane * ctx->block->width + k] < time)
            return false;
    return w->vc_lanes != NULL;
}

/** Returns true if @lane is ordered after all accesses of its block up to @time, by other means than barriers of the whole
 *  block. */
static bool knows_block(const struct race_access *ctx, unsigned lane, uint32_t time)
{
    const struct race_block *b = ctx->block;
    const unsigned index = (unsigned)(ctx->warp - b->warp);

    if (b->vc_warps == NULL || !knows_warp(ctx, lane, time))
        return false;
    for (unsigned v = 0; v < b->warp_count; v++)
        if (v != index && b->vc_warps[index * b->warp_count + v] < time)
            return false;
    return true;
}

static bool in_block(const struct race_access *ctx, unsigned lane, uint32_t tid, uint32_t time,
                     enum race_level level)
{
    const struct race_block *b = ctx->block;
    const uint32_t thread = tid & ((1 << RACE_THREAD_BITS) - 1);
    const unsigned index = (unsigned)(ctx->warp - b->warp), other = thread / b->width;

    if (ctx->vc_block >= time)
        return true;
    if (level == RACE_BLOCK)
        return knows_block(ctx, lane, time);
    if (other != index)
        return b->vc_warps != NULL && b->vc_warps[index * b->warp_count + other] >= time;
    if (level == RACE_WARP)
        return knows_warp(ctx, lane, time);
    return thread % b->width == lane || ctx->warp->vc_warp >= time ||
           (ctx->warp->vc_lanes != NULL &&
            ctx->warp->vc_lanes[lane * b->width + thread % b->width] >= time);
}

enum race_order race_ordered_one(const struct race_access *ctx, unsigned lane, uint32_t tid,
                                 uint32_t time)
{
    const struct race_block *b = ctx->block;
    const struct race_lane *own = ctx->warp->lane != NULL ? &ctx->warp->lane[lane] : NULL;
    const uint32_t warp = tid - (tid & ((1 << RACE_THREAD_BITS) - 1)) % b->width;

    if (time <= ctx->vc_floor ||
        (tid >> RACE_THREAD_BITS == b->block_id && in_block(ctx, lane, tid, time, RACE_THREAD)))
        return RACE_ORDERED;
    if (ctx->plain)
        return RACE_UNORDERED;
    if (vclock_covers(ctx->race, b->vclock, tid, warp, time) ||
        (own != NULL && vclock_covers(ctx->race, own->vclock, tid, warp, time)))
        return RACE_ORDERED;
    for (unsigned k = 0; k < 2; k++)
        if (vclock_covers(ctx->race, b->pending[k], tid, warp, time) ||
            (own != NULL && vclock_covers(ctx->race, own->pending[k], tid, warp, time)))
            return RACE_PENDING;
    return RACE_UNORDERED;
}

enum race_order race_ordered(const struct race_access *ctx, unsigned lane,
                             const struct race_page_shadow *cells, uint32_t i, unsigned k)
{
    const uint32_t time = *race_at(cells, k + RACE_CLOCK, i), tid = *race_at(cells, k + RACE_TID, i);
    const enum race_level level =
        (enum race_level)(*race_at(cells, k + RACE_SITE, i) >> RACE_LEVEL_SHIFT);

    if (time <= ctx->vc_floor)
        return RACE_ORDERED;
    if (level == RACE_THREAD)
        return race_ordered_one(ctx, lane, tid, time);
    /* A barrier orders all accesses before it, so all accesses of the record are ordered. Atomics may order the accesses of
     * some threads only up to an earlier time. In that case, only the two accesses that the record names are compared, and its
     * other accesses are ignored. */
    if (level <= RACE_BLOCK && tid >> RACE_THREAD_BITS == ctx->block->block_id &&
        in_block(ctx, lane, tid, time, level))
        return RACE_ORDERED;
    enum race_order last = race_ordered_one(ctx, lane, tid, time);
    enum race_order before = race_ordered_one(ctx, lane, *race_at(cells, k + RACE_TID_2, i),
                                              *race_at(cells, k + RACE_CLOCK_2, i));
    return last < before ? last : before;
}

/* ---- fences and atomics ----------------------------------------------------------------------------- */

static void fence(struct chk_race *race, struct race_block *b, struct race_warp *w, unsigned l,
                  bool gpu)
{
    struct race_lane *lane = &w->lane[l];

    for (unsigned k = gpu ? RACE_FENCE_GPU : RACE_FENCE_CTA; k <= RACE_FENCE_CTA; k++) {
        race_join(race, &lane->vclock, lane->pending[k]);
        race_join(race, &lane->vclock, b->pending[k]);
        race_vclock_drop(lane->pending[k]);
        lane->pending[k] = NULL;
    }
    for (unsigned k = gpu ? RACE_FENCE_GPU : RACE_FENCE_CTA; k <= RACE_FENCE_CTA; k++) {
        race_vclock_drop(lane->fence[k].vclock);
        lane->fence[k] = (struct race_fence){race->order.clock, b->vc_block, race_max(w->vc_warp, b->vc_block),
                                             all_vclock(race, b, w, l)};
    }
    b->any_fence |= gpu;
}

static struct race_sync_var *variable(struct chk_race *race, uint64_t key, bool make)
{
    struct race_sync_var *v = lw_table_find(&race->order.sync_vars, sizeof *v, key);
    bool is_new;

    if (v != NULL && v->key != 0)
        return v;
    if (!make)
        return NULL;
    v = lw_table_add(&race->order.sync_vars, sizeof *v, key, &is_new);
    race->chk->short_of_memory |= v == NULL;
    return v;
}

static void acquire(struct race_access *ctx, unsigned lane, const struct race_sync_var *v,
                    bool at_once)
{
    struct chk_race *race = ctx->race;
    struct race_block *b = ctx->block;
    const bool cta = (ctx->site & RACE_CTA) != 0;
    struct race_vclock *vclock[2] = {cta ? NULL : v->gpu, v->cta_block_id == b->block_id ? v->cta : NULL};

    if ((vclock[0] == NULL && vclock[1] == NULL) || race_lanes_of(race, b, ctx->warp) == NULL)
        return;
    struct race_lane *own = &ctx->warp->lane[lane];
    for (unsigned k = 0; k < 2; k++)
        race_join(race, at_once ? &own->vclock : &own->pending[k], vclock[k]);
}

/** Returns true if vector clock @set already covers all accesses that a thread would release by its fence @f. @device:
 *  as for vclock_of(). */
static bool has(const struct race_vclock *set, const struct race_block *b, uint32_t self_tid,
                const struct race_fence *f, bool device)
{
    if (race_vclock_time(set, race_key(RACE_VC_THREAD, self_tid)) < f->time ||
        race_vclock_time(set, race_key(RACE_VC_BLOCK, b->block_id)) < f->vc_block)
        return false;
    for (unsigned v = 0; device && b->fenced != NULL && v < b->warp_count; v++)
        if (race_vclock_time(set, race_key(RACE_VC_WARP, race_thread_of(b, &b->warp[v], 0))) <
            b->fenced[v])
            return false;
    return true;
}

/** Merges the vector clock of a thread's fence @f into *@set or, with @replace, sets *@set to it. @device: as for
 *  vclock_of(). */
static void release_to(struct race_access *ctx, unsigned lane, struct race_vclock **set,
                       const struct race_fence *f, bool device, bool replace)
{
    struct race_block *b = ctx->block;

    if (f->time != 0 && !replace && has(*set, b, race_thread_of(b, ctx->warp, lane), f, device))
        return;
    if (replace) {
        race_vclock_drop(*set);
        *set = NULL;
    }
    if (f->time == 0)
        return;
    struct race_vclock *vclock = vclock_of(ctx->race, b, ctx->warp, lane, f, device);
    race_join(ctx->race, set, vclock);
    race_vclock_drop(vclock);
}

static void release(struct race_access *ctx, unsigned lane, uint64_t key, bool replace)
{
    static const struct race_lane none;
    struct chk_race *race = ctx->race;
    struct race_block *b = ctx->block;
    const struct race_lane *own = ctx->warp->lane != NULL ? &ctx->warp->lane[lane] : &none;
    const struct race_fence *gpu = &own->fence[RACE_FENCE_GPU], *cta = &own->fence[RACE_FENCE_CTA];
    const bool of_block = (ctx->site & RACE_CTA) != 0;

    struct race_sync_var *v = variable(race, key, cta->time != 0);
    if (v == NULL)
        return;
    if (!of_block)
        release_to(ctx, lane, &v->gpu, gpu, true, replace);
    release_to(ctx, lane, &v->cta, cta, false, replace || v->cta_block_id != b->block_id);
    v->cta_block_id = b->block_id;
}

void race_synchronize(struct race_access *ctx, unsigned lane, uint64_t at, unsigned order,
                      bool reads, bool writes)
{
    struct chk_race *race = ctx->race;
    struct race_block *b = ctx->block;
    const bool shared = at < ISA_LOCAL_BASE;
    const uint64_t key = shared ? at | (uint64_t)b->block_id << 42 : at;

    if (reads && race->order.sync_vars.count != 0) {
        const struct race_sync_var *v = variable(race, key, false);
        if (v != NULL)
            acquire(ctx, lane, v, order == ISA_MORDER_ACQUIRE || order == ISA_MORDER_ACQREL);
    }
    if (!writes)
        return;
    if ((order == ISA_MORDER_RELEASE || order == ISA_MORDER_ACQREL) &&
        race_lanes_of(race, b, ctx->warp) != NULL) {
        fence(race, b, ctx->warp, lane, (ctx->site & RACE_CTA) == 0);
        race_clock_advance(race);
    }
    if (ctx->warp->lane != NULL || race->order.sync_vars.count != 0)
        release(ctx, lane, key, !reads);
}

/* ---- instructions that do not access memory -------------------------------------------------------------- */

static inline bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    enum isa_space space = ISA_SPACE_GLOBAL;

    (void)state, (void)program, (void)index;
    if (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_MEMORY) {
        (void)isa_op_access((enum isa_op)insn->op, &space);
        return space != ISA_SPACE_LOCAL && space != ISA_SPACE_CONST;
    }
    return insn->op == ISA_FENCE || insn->op == ISA_BAR_ARRIVE || insn->op == ISA_LAUNCH_SYNC ||
           insn->op == ISA_FREE;
}

/** Handles launch.sync by @lanes: they are ordered after all launches that the block made. */
static void launches_over(struct chk_race *race, struct race_block *b, struct race_warp *w,
                          uint64_t lanes)
{
    for (size_t i = 0; i < race->order.grid_count; i++) {
        struct race_entry over = {race_key(RACE_VC_GRID, race->order.grids[i].sequence), UINT32_MAX};

        if (race->order.grids[i].block_id != b->block_id || race_lanes_of(race, b, w) == NULL)
            continue;
        struct race_vclock *vclock = race_vclock_create(&over, 1, &race->chk->short_of_memory);
        for (LW_EACH_BIT(l, lanes))
            race_join(race, &w->lane[l].vclock, vclock);
        race_vclock_drop(vclock);
    }
}

/** Handles lanes that are about to free objects of the device's malloc(). A free of any other address is ignored. */
static void lanes_free(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site)
{
    const struct isa_insn *insn = site->insn;
    const enum isa_reg_class from = insn->xkind == ISA_X_VECTOR ? ISA_REG_V : ISA_REG_S;
    uint64_t address[EMU_MAX_LANES], high;
    struct emu_allocation a;

    for (LW_EACH_BIT(l, insn->xkind == ISA_X_VECTOR || insn->xkind == ISA_X_SCALAR ? site->lanes : 0)) {
        bool inside, is_duplicate = false;

        address[l] = 0;
        if (!emu_reg_read(site->core, site->slot, site->warp, from, isa_x_reg(insn->x), (unsigned)l, &address[l]) ||
            !emu_reg_read(site->core, site->slot, site->warp, from, isa_x_reg(insn->x) + 1, (unsigned)l, &high))
            continue;
        address[l] |= high << 32;
        for (LW_EACH_BIT(k, site->lanes & lw_mask((unsigned)l)))
            is_duplicate |= address[k] == address[l];
        if (!is_duplicate && emu_allocation_at(race->machine, address[l], &a, &inside) && inside &&
            a.address == address[l] && (a.flags & (EMU_ALLOC_HEAP | EMU_ALLOC_FREED)) == EMU_ALLOC_HEAP)
            race_access_free(race, b, site, (unsigned)l, a.address, a.size_bytes);
    }
}

static void on_insn(void *state, const struct emu_hook_site *site)
{
    struct chk_race *race = state;
    struct race_block *b;
    struct race_warp *w;

    if (!wants(state, site->program, site->index, site->insn))
        return;
    b = race_block_at(race, site->core, site->slot);
    race_flush(race);
    if (b == NULL)
        return;
    w = &b->warp[site->warp];
    switch (site->insn->op) {
    case ISA_FENCE:
        if (site->lanes == 0 || race_lanes_of(race, b, w) == NULL)
            return;
        for (LW_EACH_BIT(l, site->lanes))
            fence(race, b, w, (unsigned)l,
                  isa_mod_get(site->insn, ISA_MOD_FSCOPE) != ISA_FSCOPE_CTA);
        race_clock_advance(race);
        break;
    case ISA_FREE: lanes_free(race, b, site); break;
    case ISA_LAUNCH_SYNC: launches_over(race, b, w, site->lanes); break;
    case ISA_BAR_ARRIVE: race_arrive(race, b, site); break;
    default: break;
    }
}

/* ---- events other than instructions ---------------------------------------------------------------- */

static void launched(struct chk_race *race, const struct emu_grid *grid)
{
    struct race_block *b = NULL;

    for (size_t i = 0; i < race->order.block_count; i++)
        if (race->order.blocks[i]->grid == grid->parent.grid &&
            race->order.blocks[i]->linear == grid->parent.block)
            b = race->order.blocks[i];
    if (b == NULL)
        return;
    struct race_grid *root = grid_find(race, race->order.host_launch), *g;
    uint32_t base = root != NULL ? root->vc_floor : 0;
    struct race_warp *w = &b->warp[grid->parent.warp];
    struct race_fence here = {race->order.clock, b->vc_block, race_max(w->vc_warp, b->vc_block),
                              all_vclock(race, b, w, grid->parent.lane)};
    g = grid_add(race, grid->sequence);
    if (g == NULL) {
        race_vclock_drop(here.vclock);
        return;
    }
    g->parent = grid->parent.grid;
    g->block_id = b->block_id;
    g->stream = grid->stream;
    g->group = grid->group;
    g->vc_floor = base;
    g->vclock = vclock_of(race, b, w, grid->parent.lane, &here, false);
    race_vclock_drop(here.vclock);
    if (grid->stream_prev == grid->launcher && grid->launcher != NULL) {
        struct race_entry ended = {race_key(RACE_VC_BLOCKS_OF, grid->parent.grid), UINT32_MAX};
        struct race_vclock *vclock = race_vclock_create(&ended, 1, &race->chk->short_of_memory);

        race_join(race, &g->vclock, vclock);
        race_vclock_drop(vclock);
    }
    for (size_t i = 0; i + 1 < race->order.grid_count && !grid->group; i++) {
        const struct race_grid *before = &race->order.grids[i];
        struct race_entry over = {race_key(RACE_VC_GRID, before->sequence), UINT32_MAX};

        if (before->block_id != b->block_id || before->stream != g->stream || before->group)
            continue;
        struct race_vclock *vclock = race_vclock_create(&over, 1, &race->chk->short_of_memory);
        race_join(race, &g->vclock, vclock);
        race_vclock_drop(vclock);
    }
    race_clock_advance(race);
}

/** Called when a debugger has moved a lane to another pc. */
static void on_pc_edited(void *state)
{
    struct chk_race *race = state;

    race_phases_end(race);
    for (size_t i = 0; i < race->order.grid_count; i++) /* the edited pc may be outside the code that the analysis
                                                         * considers reachable */
        race->order.grids[i].code.sync_free = false;
    if (race->filter.any_page)
        race_filter_reads_forget(race);
}

static void mark_uninitialised(void *state, uint64_t address, uint64_t bytes)
{
    race_uninit_set(state, address, bytes, true);
}

/** Tracks which global memory is uninitialised when a kernel reads it. */
static void fill_machine_event(struct chk_race *race, const struct emu_machine_event *event)
{
    struct emu_allocation a;
    bool inside;

    switch (event->kind) {
    case EMU_MACHINE_ALLOC: /* not marked as uninitialised, because variables of a module have initial values */
        race_uninit_set(race, event->address, event->size_bytes,
                       emu_allocation_at(race->machine, event->address, &a, &inside) && inside &&
                           (a.flags & (EMU_ALLOC_MODULE | EMU_ALLOC_READ_ONLY)) == 0);
        break;
    case EMU_MACHINE_FREE:
    case EMU_MACHINE_HOST_WRITE: race_uninit_set(race, event->address, event->size_bytes, false); break;
    default: break;
    }
}

static void on_machine_event(void *state, const struct emu_machine_event *event)
{
    struct chk_race *race = state;

    race_flush(race);
    fill_machine_event(race, event);
    if (event->kind == EMU_MACHINE_LAUNCH && event->grid->parent.grid != 0)
        launched(race, event->grid);
    else if (event->kind == EMU_MACHINE_LAUNCH)
        host_launched(race, event->grid);
    if ((event->kind == EMU_MACHINE_ALLOC || event->kind == EMU_MACHINE_FREE) && event->size_bytes != 0 &&
        event->address >= ISA_GLOBAL_BASE)
        race_range_ends(race, event->address - ISA_GLOBAL_BASE, event->size_bytes);
    if (event->kind == EMU_MACHINE_ALLOC && event->size_bytes != 0 &&
             event->address >= ISA_GLOBAL_BASE) {
        race_deferred_page_flush_all(race, event->address - ISA_GLOBAL_BASE, event->size_bytes);
        race_shadow_forget(&race->shadow, event->address - ISA_GLOBAL_BASE, event->size_bytes);
        for (uint64_t at = 0; race->filter.any_page && at < event->size_bytes; at += 1 << RACE_PAGE_SHIFT)
            race_filter_reads_end(race, event->address - ISA_GLOBAL_BASE + at, 0);
        if (race->filter.any_page)
            race_filter_reads_end(race, event->address - ISA_GLOBAL_BASE + event->size_bytes - 1, 0);
    }
}

const struct chk_observer chk_race_observer = {
    .classes = 1u << CHK_CLASS_RACES, .past = CHK_PAST_NOTED, .state_bytes = sizeof(struct chk_race),
    .begin = begin, .end = end, .wants = wants, .on_insn = on_insn, .on_access = race_on_access,
    .on_alone = race_batch_begin, .on_block = on_block, .on_cta = race_on_cta, .on_warpsync = race_on_warpsync,
    .on_pc_edited = on_pc_edited, .on_machine_event = on_machine_event, .mark_uninitialised = mark_uninitialised};
