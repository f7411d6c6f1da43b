/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: happens-before by barriers of lanes, warps and blocks. docs/explanation/race-detection.md */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/** Returns the lanes of the warp that were launched, including lanes that have exited. */
static uint64_t launched_lanes(const struct race_block *b, const struct race_warp *w)
{
    struct emu_warp_view view;

    return emu_warp_view(b->core, b->slot, (unsigned)(w - b->warp), &view) ? view.launched : 0;
}

/* ---- release and acquire -------------------------------------------------------------------------- */

/** The vector clocks of one or more lanes, merged. The vector clocks exclude accesses that the scalar clocks of block and warp
 *  cover. */
struct sync_clock {
    struct race_vclock *vclock, *pending[2];
};
/** The clocks of a CTA barrier at which warps have arrived by bar.arrive, without waiting. The clocks are valid until the
 *  barrier completes. */
struct race_barrier_clock {
    bool any;
    struct sync_clock arrived; /* vector clocks of the arrived lanes; for lanes that arrived without the rest of their
                                * warp, also all other accesses that they are ordered after */
    /* [warp][other]: for a warp that arrived as a whole, the clock up to which it is ordered after the other warp. If its
     * lanes arrived separately, all clocks of the warp are 0. */
    uint32_t *row;
    uint64_t arrived_lanes[]; /* [warp]: lanes that have arrived by bar.arrive */
};

static void merge(struct chk_race *race, struct sync_clock *all, const struct sync_clock *from)
{
    race_join(race, &all->vclock, from->vclock);
    for (unsigned k = 0; k < 2; k++)
        race_join(race, &all->pending[k], from->pending[k]);
}

static void merge_lanes(struct chk_race *race, struct sync_clock *all, const struct race_warp *w, uint64_t lanes)
{
    for (LW_EACH_BIT(l, w->lane != NULL ? lanes : 0)) {
        const struct race_lane *lane = &w->lane[l];

        merge(race, all, &(struct sync_clock){lane->vclock, {lane->pending[0], lane->pending[1]}});
    }
}

/** Replaces the clocks of a lane by @all, which already covers them. */
static void acquire(struct race_lane *lane, const struct sync_clock *all)
{
    struct race_vclock *const before[3] = {lane->vclock, lane->pending[0], lane->pending[1]};

    lane->vclock = race_vclock_keep(all->vclock);
    for (unsigned k = 0; k < 2; k++)
        lane->pending[k] = race_vclock_keep(all->pending[k]);
    for (unsigned k = 0; k < LW_COUNT_OF(before); k++)
        race_vclock_drop(before[k]);
}

static void sync_clock_drop(struct sync_clock *all)
{
    race_vclock_drop(all->vclock);
    race_vclock_drop(all->pending[0]);
    race_vclock_drop(all->pending[1]);
}

struct race_vclock *race_ordered_before(struct chk_race *race, const struct race_block *b, const uint64_t *lanes)
{
    const unsigned n = b->warp_count, width = b->width;
    uint32_t *of_thread = calloc((size_t)n * (width + 1), sizeof *of_thread);
    uint32_t *of_warp = of_thread != NULL ? of_thread + (size_t)n * width : NULL;
    struct race_entry *entry = calloc(n + (size_t)n * width, sizeof *entry);
    struct race_vclock *vclock = NULL;
    unsigned count = 0;

    for (unsigned v = 0; v < n && of_warp != NULL; v++) {
        const struct race_warp *w = &b->warp[v];

        if (lanes[v] == 0)
            continue;
        for (unsigned x = 0; x < n && b->vc_warps != NULL; x++)
            of_warp[x] = race_max(of_warp[x], b->vc_warps[v * n + x]);
        of_warp[v] = race_max(of_warp[v], (launched_lanes(b, w) & ~lanes[v]) == 0 ? race->order.clock : w->vc_warp);
        for (LW_EACH_BIT(l, lanes[v])) {
            for (unsigned k = 0; k < width && w->vc_lanes != NULL; k++)
                of_thread[v * width + k] = race_max(of_thread[v * width + k], w->vc_lanes[l * width + k]);
            of_thread[v * width + l] = race->order.clock;
        }
    }
    /* The entries are in the order of their keys. Accesses that the block's barriers order get no entries, because all
     * lanes are ordered after them. */
    for (unsigned t = 0; t < n * width && of_warp != NULL && entry != NULL; t++)
        if (of_thread[t] > race_max(b->vc_block, of_warp[t / width]))
            entry[count++] = (struct race_entry){
                race_key(RACE_VC_THREAD, race_thread_of(b, &b->warp[0], t)), of_thread[t]};
    for (unsigned x = 0; x < n && of_warp != NULL && entry != NULL; x++)
        if (of_warp[x] > b->vc_block)
            entry[count++] =
                (struct race_entry){race_key(RACE_VC_WARP, race_thread_of(b, &b->warp[x], 0)), of_warp[x]};
    race->chk->short_of_memory |= of_warp == NULL || entry == NULL;
    vclock = race_vclock_create(entry, count, &race->chk->short_of_memory);
    free(entry);
    free(of_thread);
    return vclock;
}

void race_barriers_free(struct race_block *b)
{
    for (unsigned i = 0; i < LW_COUNT_OF(b->barrier); i++) {
        if (b->barrier[i] == NULL)
            continue;
        sync_clock_drop(&b->barrier[i]->arrived);
        free(b->barrier[i]->row);
        free(b->barrier[i]);
        b->barrier[i] = NULL;
    }
}

/* ---- barriers ----------------------------------------------------------------------------------------- */

/** Synchronises @lanes of a warp, which have arrived at a barrier. Each lane is then ordered after all accesses that the
 *  other lanes have made, and after the accesses that the other lanes are ordered after. */
static void lanes_arrived(struct chk_race *race, struct race_block *b, struct race_warp *w,
                       uint64_t lanes)
{
    const unsigned n = b->width;

    if (w->lane != NULL) {
        struct sync_clock all = {0};

        merge_lanes(race, &all, w, lanes);
        for (LW_EACH_BIT(l, lanes))
            acquire(&w->lane[l], &all);
        sync_clock_drop(&all);
    }
    if ((launched_lanes(b, w) & ~lanes) == 0) { /* All launched lanes have arrived. A lane that has exited has
                                                 * synchronised with no thread, so it counts as not arrived. */
        w->vc_warp = race->order.clock;
        return;
    }
    if (w->vc_lanes == NULL)
        w->vc_lanes = calloc((size_t)n * n, sizeof *w->vc_lanes);
    if (w->vc_lanes == NULL) {
        race->chk->short_of_memory = true;
        w->vc_warp = race->order.clock; /* this clock orders more accesses than the barrier does, which can hide races but adds
                                         * no false positives */
        return;
    }
    uint32_t most[EMU_MAX_LANES] = {0};
    for (LW_EACH_BIT(l, lanes))
        for (unsigned k = 0; k < n; k++)
            most[k] = race_max(most[k], w->vc_lanes[l * n + k]);
    for (LW_EACH_BIT(l, lanes))
        most[l] = race->order.clock;
    for (LW_EACH_BIT(l, lanes))
        memcpy(&w->vc_lanes[l * n], most, n * sizeof *most);
}

void race_on_warpsync(void *state, struct emu_core *core, unsigned slot, unsigned warp, uint64_t lanes)
{
    struct chk_race *race = state;
    struct race_block *b = race_block_at(race, core, slot);

    race_flush(race);
    if (b == NULL || (lanes & (lanes - 1)) == 0)
        return;
    lanes_arrived(race, b, &b->warp[warp], lanes);
    race_clock_advance(race);
}

/** Handles a barrier that does not order all memory. Orders the threads of the block after the accesses that the live lanes
 *  of each warp made before the last fences of these lanes. */
static void fences_arrived(struct chk_race *race, struct race_block *b)
{
    for (unsigned i = 0; i < b->warp_count; i++) {
        const struct race_warp *w = &b->warp[i];
        const uint64_t live = w->lane != NULL ? race_live(b, w) : 0;
        uint32_t fenced = live != 0 ? UINT32_MAX : 0;

        for (LW_EACH_BIT(l, live))
            if (w->lane[l].fence[RACE_FENCE_CTA].time < fenced)
                fenced = w->lane[l].fence[RACE_FENCE_CTA].time;
        if (fenced == 0)
            continue;
        struct race_entry entry = {race_key(RACE_VC_WARP, race_thread_of(b, w, 0)), fenced};
        struct race_vclock *vclock = race_vclock_create(&entry, 1, &race->chk->short_of_memory);
        race_join(race, &b->vclock, vclock);
        race_vclock_drop(vclock);
    }
}

/** Synchronises all live threads of a block. Each thread is then ordered after all accesses of the other threads, and
 *  after the accesses that the other threads are ordered after. */
static void all_arrived(struct chk_race *race, struct race_block *b)
{
    b->vc_block = race->order.clock;
    if (!b->any_lane)
        return;
    b->any_lane = false;
    if (b->any_fence && b->fenced == NULL) {
        b->fenced = calloc(b->warp_count, sizeof *b->fenced);
        race->chk->short_of_memory |= b->fenced == NULL;
    }
    for (unsigned i = 0; i < b->warp_count; i++) {
        struct race_warp *w = &b->warp[i];
        const uint64_t live = w->lane != NULL ? race_live(b, w) : 0;
        uint32_t fenced = live != 0 ? UINT32_MAX : 0;

        bool bare = true; /* no lane has its own clocks */

        if (w->lane == NULL)
            continue;
        for (unsigned l = 0; l < b->width; l++) {
            struct race_lane *lane = &w->lane[l];

            race_join(race, &b->vclock, lane->vclock);
            race_vclock_drop(lane->vclock);
            lane->vclock = NULL;
            for (unsigned k = 0; k < 2; k++) {
                race_join(race, &b->pending[k], lane->pending[k]);
                race_vclock_drop(lane->pending[k]);
                lane->pending[k] = NULL;
            }
            bare = bare && lane->fence[RACE_FENCE_GPU].time == 0 && lane->fence[RACE_FENCE_CTA].time == 0;
            if ((live >> l & 1) != 0 && lane->fence[RACE_FENCE_GPU].time < fenced)
                fenced = lane->fence[RACE_FENCE_GPU].time;
        }
        if (b->fenced != NULL)
            b->fenced[i] = race_max(b->fenced[i], fenced);
        if (bare) {
            free(w->lane);
            w->lane = NULL;
        }
        b->any_lane |= !bare;
    }
    race_vclock_prune(&b->vclock, b->block_id); /* vc_block already includes these entries */
    for (unsigned k = 0; k < 2; k++)
        race_vclock_prune(&b->pending[k], b->block_id);
}

/** Handles a barrier at which all live threads of a block have arrived. A barrier may not order one of the memory spaces
 *  (shared or global). Accesses to this space, and accesses that threads acquired through this space, are then ordered only
 *  if a fence followed them. */
static void block_arrives(struct chk_race *race, struct race_block *b, const struct emu_barrier_arrivals *arrivals)
{
    const struct race_weak weak = {race->order.clock, arrivals->pc};

    if (arrivals->orders_shared)
        b->vc_shared = race->order.clock;
    else
        b->weak[0] = weak;
    if (arrivals->orders_global)
        all_arrived(race, b);
    else
        b->weak[1] = weak;
    if (b->any_lane && (!arrivals->orders_shared || !arrivals->orders_global))
        fences_arrived(race, b);
}

/** Synchronises warps that have arrived at a barrier with all their lanes. The warps that wait are then ordered after all
 *  warps that have arrived. */
static void warps_arrived(struct chk_race *race, struct race_block *b, const uint64_t *lanes,
                       const struct race_barrier_clock *barrier)
{
    const unsigned n = b->warp_count;
    struct sync_clock all = {0};

    if (b->vc_warps == NULL)
        b->vc_warps = calloc((size_t)n * n, sizeof *b->vc_warps);
    uint32_t *most = calloc(n, sizeof *most);
    if (b->vc_warps == NULL || most == NULL) {
        free(most);
        race->chk->short_of_memory = true;
        b->vc_block = b->vc_shared = race->order.clock; /* this clock orders more accesses than the barrier does, which can
                                                         * hide races but adds no false positives */
        return;
    }
    for (unsigned v = 0; v < n; v++) {
        const bool left = barrier != NULL && barrier->arrived_lanes[v] != 0;
        const uint32_t *row = left ? &barrier->row[v * n] : &b->vc_warps[v * n];

        if (lanes[v] == 0)
            continue;
        for (unsigned x = 0; x < n; x++)
            most[x] = race_max(most[x], row[x]);
        if (!left)
            most[v] = race->order.clock;
        merge_lanes(race, &all, &b->warp[v], left ? 0 : lanes[v]);
    }
    if (barrier != NULL)
        merge(race, &all, &barrier->arrived);
    for (unsigned w = 0; w < n; w++) {
        if (lanes[w] == 0 || (barrier != NULL && barrier->arrived_lanes[w] != 0))
            continue;
        for (unsigned x = 0; x < n; x++)
            b->vc_warps[w * n + x] = race_max(b->vc_warps[w * n + x], most[x]);
        lanes_arrived(race, b, &b->warp[w], lanes[w]);
        if ((all.vclock != NULL || all.pending[0] != NULL || all.pending[1] != NULL) &&
            race_lanes_of(race, b, &b->warp[w]) != NULL)
            for (LW_EACH_BIT(l, lanes[w]))
                acquire(&b->warp[w].lane[l], &all);
    }
    sync_clock_drop(&all);
    free(most);
}

/** Synchronises threads at a barrier at which only some lanes of a warp have arrived. Each waiting lane acquires
 *  separately. */
static void parts_arrived(struct chk_race *race, struct race_block *b, const uint64_t *lanes,
                       const struct race_barrier_clock *barrier)
{
    const unsigned n = b->warp_count;
    uint64_t *waits = calloc(n, sizeof *waits);
    struct sync_clock all = {0};

    if (waits == NULL) {
        race->chk->short_of_memory = true;
        b->vc_block = b->vc_shared = race->order.clock; /* this clock orders more accesses than the barrier does, which can
                                                         * hide races but adds no false positives */
        return;
    }
    for (unsigned v = 0; v < n; v++) {
        waits[v] = lanes[v] & ~(barrier != NULL ? barrier->arrived_lanes[v] : 0);
        merge_lanes(race, &all, &b->warp[v], waits[v]);
    }
    struct race_vclock *vclock = race_ordered_before(race, b, waits);
    race_join(race, &all.vclock, vclock);
    race_vclock_drop(vclock);
    for (unsigned v = 0; barrier != NULL && v < n; v++) {
        for (unsigned x = 0; x < n && barrier->arrived_lanes[v] != 0 && barrier->row[v * n + v] != 0; x++) {
            struct race_entry knew = {race_key(RACE_VC_WARP, race_thread_of(b, &b->warp[x], 0)),
                                      barrier->row[v * n + x]};

            if (knew.time <= b->vc_block)
                continue;
            vclock = race_vclock_create(&knew, 1, &race->chk->short_of_memory);
            race_join(race, &all.vclock, vclock);
            race_vclock_drop(vclock);
        }
    }
    if (barrier != NULL)
        merge(race, &all, &barrier->arrived);
    for (unsigned v = 0; v < n; v++)
        if (waits[v] != 0 && race_lanes_of(race, b, &b->warp[v]) != NULL)
            for (LW_EACH_BIT(l, waits[v]))
                acquire(&b->warp[v].lane[l], &all);
    sync_clock_drop(&all);
    free(waits);
}

/** Returns true if each warp has arrived at a barrier with all lanes or with none. Sets *@everyone to whether all warps
 *  have arrived and wait. */
static bool come_whole(const struct race_block *b, const uint64_t *lanes, const struct race_barrier_clock *barrier,
                       bool *everyone)
{
    *everyone = barrier == NULL;
    for (unsigned v = 0; v < b->warp_count; v++) {
        const bool all = lanes[v] == launched_lanes(b, &b->warp[v]);

        *everyone = *everyone && all;
        if ((lanes[v] != 0 && !all) ||
            (barrier != NULL && barrier->arrived_lanes[v] != 0 &&
             (barrier->arrived_lanes[v] != lanes[v] || barrier->row[v * b->warp_count + v] == 0)))
            return false;
    }
    return true;
}

void race_on_cta(void *state, struct emu_core *core, unsigned slot, unsigned id, const uint64_t *lanes)
{
    struct chk_race *race = state;
    struct race_block *b = race_block_at(race, core, slot);
    struct race_barrier_clock *barrier;
    struct emu_barrier_arrivals arrivals;
    bool everyone = true;

    race_flush(race);
    if (b == NULL)
        return;
    emu_block_barrier_arrivals(core, slot, id, lanes, &arrivals);
    barrier = b->barrier[id] != NULL && b->barrier[id]->any ? b->barrier[id] : NULL;
    /* If the barrier did not wait for exited lanes, these have synchronised with no thread. At a barrier for all
     * threads of the block, an exit counts as an arrival. */
    const bool whole =
        (barrier == NULL && arrivals.all && !arrivals.counted) || come_whole(b, lanes, barrier, &everyone);
    if (whole && everyone && arrivals.all) {
        block_arrives(race, b, &arrivals);
        race_filter_shared_begin(race, arrivals.one_pc);
    } else if (whole) {
        warps_arrived(race, b, lanes, barrier);
    } else {
        parts_arrived(race, b, lanes, barrier);
    }
    if (barrier != NULL) {
        sync_clock_drop(&barrier->arrived);
        barrier->arrived = (struct sync_clock){0};
        barrier->any = false;
        memset(barrier->arrived_lanes, 0, b->warp_count * sizeof barrier->arrived_lanes[0]);
    }
    race_clock_advance(race);
}

/** Returns the number of the CTA barrier that an instruction names; -1: the number is invalid, or cannot be read. */
static int barrier_of(const struct emu_hook_site *site)
{
    const struct isa_insn *insn = site->insn;
    const bool vector = insn->xkind == ISA_X_VECTOR;
    uint64_t id;

    if (insn->xkind == ISA_X_IMM)
        return insn->x < ISA_CTA_BARRIER_COUNT ? (int)insn->x : -1;
    if (insn->xkind == ISA_X_CONST || site->lanes == 0 ||
        !emu_reg_read(site->core, site->slot, site->warp, vector ? ISA_REG_V : ISA_REG_S,
                      isa_x_reg(insn->x), lw_lowest(site->lanes), &id))
        return -1;
    return id < ISA_CTA_BARRIER_COUNT ? (int)id : -1;
}

static struct race_barrier_clock *barrier_clock_of(struct race_block *b, unsigned id)
{
    const unsigned n = b->warp_count;
    struct race_barrier_clock *barrier = b->barrier[id];

    if (barrier == NULL) {
        barrier = calloc(1, sizeof *barrier + n * sizeof barrier->arrived_lanes[0]);
        uint32_t *row = calloc((size_t)n * n, sizeof *row);
        if (barrier == NULL || row == NULL) {
            free(barrier);
            free(row);
            return NULL;
        }
        barrier->row = row;
    }
    return b->barrier[id] = barrier;
}

void race_arrive(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site)
{
    const unsigned n = b->warp_count, index = site->warp;
    const int id = barrier_of(site);
    struct race_warp *w = &b->warp[index];
    /* a guard selects the arriving lanes; lanes that exec disables arrive, too */
    const uint64_t lanes = site->insn->guard == ISA_PT && !site->insn->guard_neg ? site->split_lanes : site->lanes;

    if (id < 0 || lanes == 0)
        return;
    struct race_barrier_clock *barrier = barrier_clock_of(b, (unsigned)id);
    uint64_t *tid = calloc(n, sizeof *tid);
    if (barrier == NULL || tid == NULL) {
        race->chk->short_of_memory = true;
        free(tid);
        return;
    }
    barrier->any = true;
    merge_lanes(race, &barrier->arrived, w, lanes);
    uint32_t *row = &barrier->row[index * n];
    memset(row, 0, n * sizeof *row);
    if (barrier->arrived_lanes[index] == 0 && lanes == launched_lanes(b, w)) {
        if (b->vc_warps != NULL)
            memcpy(row, &b->vc_warps[index * n], n * sizeof *row);
        row[index] = race->order.clock;
    } else {
        tid[index] = lanes;
        struct race_vclock *vclock = race_ordered_before(race, b, tid);
        race_join(race, &barrier->arrived.vclock, vclock);
        race_vclock_drop(vclock);
    }
    barrier->arrived_lanes[index] |= lanes;
    free(tid);
    race_clock_advance(race);
}
