/* SPDX-License-Identifier: Apache-2.0 */
/* Races: lanes, warps and blocks that meet at barriers. docs/explanation/race-detection.md */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/** Lanes that began, whether they have ended or not. */
static uint64_t launched_lanes(const struct race_block *b, const struct race_warp *w)
{
    struct emu_warp_view view;

    return emu_warp_view(b->core, b->slot, (unsigned)(w - b->warp), &view) ? view.launched : 0;
}

/* ---- what lanes bring and take -------------------------------------------------------------------------- */

/** All that lanes know beside ticks. */
struct knowledge {
    struct race_vclock *facts, *pending[2];
};
/** What came to a CTA barrier by bar.arrive and went on, until it completes. */
struct race_barrier_clock {
    bool any;
    struct knowledge brought; /* beside ticks, where warps came whole */
    uint32_t *row;            /* [warp][warp]: what a warp that came whole knew of each, of itself up to then; its
                                 own is 0: its lanes came by themselves */
    uint64_t left[];          /* [warp]: lanes */
};

static void gather(struct chk_race *race, struct knowledge *all, const struct knowledge *from)
{
    race_join(race, &all->facts, from->facts);
    for (unsigned k = 0; k < 2; k++)
        race_join(race, &all->pending[k], from->pending[k]);
}

static void gather_lanes(struct chk_race *race, struct knowledge *all, const struct race_warp *w, uint64_t lanes)
{
    for (LW_EACH_BIT(l, w->lane != NULL ? lanes : 0)) {
        const struct race_lane *lane = &w->lane[l];

        gather(race, all, &(struct knowledge){lane->facts, {lane->pending[0], lane->pending[1]}});
    }
}

/** To one of whom it was gathered: all are its own, too. */
static void give(struct race_lane *lane, const struct knowledge *all)
{
    struct race_vclock *const before[3] = {lane->facts, lane->pending[0], lane->pending[1]};

    lane->facts = race_vclock_keep(all->facts);
    for (unsigned k = 0; k < 2; k++)
        lane->pending[k] = race_vclock_keep(all->pending[k]);
    for (unsigned k = 0; k < LW_COUNT_OF(before); k++)
        race_vclock_drop(before[k]);
}

static void knowledge_drop(struct knowledge *all)
{
    race_vclock_drop(all->facts);
    race_vclock_drop(all->pending[0]);
    race_vclock_drop(all->pending[1]);
}

struct race_vclock *race_ordered_before(struct chk_race *race, const struct race_block *b, const uint64_t *lanes)
{
    const unsigned n = b->warp_count, width = b->width;
    uint32_t *of_thread = calloc((size_t)n * (width + 1), sizeof *of_thread);
    uint32_t *of_warp = of_thread != NULL ? of_thread + (size_t)n * width : NULL;
    struct race_entry *entry = calloc(n + (size_t)n * width, sizeof *entry);
    struct race_vclock *facts = NULL;
    unsigned count = 0;

    for (unsigned v = 0; v < n && of_warp != NULL; v++) {
        const struct race_warp *w = &b->warp[v];

        if (lanes[v] == 0)
            continue;
        for (unsigned x = 0; x < n && b->known != NULL; x++)
            of_warp[x] = race_max(of_warp[x], b->known[v * n + x]);
        of_warp[v] = race_max(of_warp[v], (launched_lanes(b, w) & ~lanes[v]) == 0 ? race->now : w->kw);
        for (LW_EACH_BIT(l, lanes[v])) {
            for (unsigned k = 0; k < width && w->known != NULL; k++)
                of_thread[v * width + k] = race_max(of_thread[v * width + k], w->known[l * width + k]);
            of_thread[v * width + l] = race->now;
        }
    }
    /* sorted by key; what the block's barriers made known all know */
    for (unsigned t = 0; t < n * width && of_warp != NULL && entry != NULL; t++)
        if (of_thread[t] > race_max(b->kb, of_warp[t / width]))
            entry[count++] = (struct race_entry){
                race_key(RACE_KNOWS_THREAD, race_thread_of(b, &b->warp[0], t)), of_thread[t]};
    for (unsigned x = 0; x < n && of_warp != NULL && entry != NULL; x++)
        if (of_warp[x] > b->kb)
            entry[count++] =
                (struct race_entry){race_key(RACE_KNOWS_WARP, race_thread_of(b, &b->warp[x], 0)), of_warp[x]};
    race->short_of_memory |= of_warp == NULL || entry == NULL;
    facts = race_vclock_create(entry, count, &race->short_of_memory);
    free(entry);
    free(of_thread);
    return facts;
}

void race_gates_free(struct race_block *b)
{
    for (unsigned i = 0; i < LW_COUNT_OF(b->gate); i++) {
        if (b->gate[i] == NULL)
            continue;
        knowledge_drop(&b->gate[i]->brought);
        free(b->gate[i]->row);
        free(b->gate[i]);
        b->gate[i] = NULL;
    }
}

/* ---- barriers ----------------------------------------------------------------------------------------- */

/** Lanes of a warp have met: each knows the others up to now, and what they know. */
static void lanes_meet(struct chk_race *race, struct race_block *b, struct race_warp *w,
                       uint64_t lanes)
{
    const unsigned n = b->width;

    if (w->lane != NULL) {
        struct knowledge all = {0};

        gather_lanes(race, &all, w, lanes);
        for (LW_EACH_BIT(l, lanes))
            give(&w->lane[l], &all);
        knowledge_drop(&all);
    }
    if ((launched_lanes(b, w) & ~lanes) == 0) { /* what ended has met nobody */
        w->kw = race->now;
        return;
    }
    if (w->known == NULL)
        w->known = calloc((size_t)n * n, sizeof *w->known);
    if (w->known == NULL) {
        race->short_of_memory = true;
        w->kw = race->now; /* too much is known: nothing is found that is not there */
        return;
    }
    uint32_t most[EMU_MAX_LANES] = {0};
    for (LW_EACH_BIT(l, lanes))
        for (unsigned k = 0; k < n; k++)
            most[k] = race_max(most[k], w->known[l * n + k]);
    for (LW_EACH_BIT(l, lanes))
        most[l] = race->now;
    for (LW_EACH_BIT(l, lanes))
        memcpy(&w->known[l * n], most, n * sizeof *most);
}

void chk_race_warpsync(struct chk_race *race, struct emu_core *core, unsigned slot, unsigned warp,
                       uint64_t lanes)
{
    struct race_block *b = race_block_at(race, core, slot);

    race_flush(race);
    if (b == NULL || (lanes & (lanes - 1)) == 0)
        return;
    lanes_meet(race, b, &b->warp[warp], lanes);
    race_clock_advance(race);
}

/** What the lanes of a warp had a fence behind when they came to a barrier, all that wait there know. */
static void fences_meet(struct chk_race *race, struct race_block *b)
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
        struct race_entry entry = {race_key(RACE_KNOWS_WARP, race_thread_of(b, w, 0)), fenced};
        struct race_vclock *facts = race_vclock_create(&entry, 1, &race->short_of_memory);
        race_join(race, &b->facts, facts);
        race_vclock_drop(facts);
    }
}

/** All live threads of a block know what all of them did, and what they had learnt of others. */
static void all_meet(struct chk_race *race, struct race_block *b)
{
    b->kb = race->now;
    if (!b->any_lane)
        return;
    b->any_lane = false;
    if (b->any_fence && b->fenced == NULL) {
        b->fenced = calloc(b->warp_count, sizeof *b->fenced);
        race->short_of_memory |= b->fenced == NULL;
    }
    for (unsigned i = 0; i < b->warp_count; i++) {
        struct race_warp *w = &b->warp[i];
        const uint64_t live = w->lane != NULL ? race_live(b, w) : 0;
        uint32_t fenced = live != 0 ? UINT32_MAX : 0;

        bool bare = true; /* no lane has anything of its own left */

        if (w->lane == NULL)
            continue;
        for (unsigned l = 0; l < b->width; l++) {
            struct race_lane *lane = &w->lane[l];

            race_join(race, &b->facts, lane->facts);
            race_vclock_drop(lane->facts);
            lane->facts = NULL;
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
    race_vclock_prune(&b->facts, b->actor); /* kb says that */
    for (unsigned k = 0; k < 2; k++)
        race_vclock_prune(&b->pending[k], b->actor);
}

/** All live threads of a block have met. What they did in memory that the barrier does not order, and what they learnt
 *  of others there, they keep to themselves, but for what they had a fence behind. */
static void block_meets(struct chk_race *race, struct race_block *b, const struct emu_barrier_arrivals *met)
{
    const struct race_weak weak = {race->now, met->pc};

    if (met->orders_shared)
        b->ks = race->now;
    else
        b->weak[0] = weak;
    if (met->orders_global)
        all_meet(race, b);
    else
        b->weak[1] = weak;
    if (b->any_lane && (!met->orders_shared || !met->orders_global))
        fences_meet(race, b);
}

/** Warps of a block have met, each with all its lanes: those that wait know those that came. */
static void warps_meet(struct chk_race *race, struct race_block *b, const uint64_t *lanes,
                       const struct race_barrier_clock *gate)
{
    const unsigned n = b->warp_count;
    struct knowledge all = {0};

    if (b->known == NULL)
        b->known = calloc((size_t)n * n, sizeof *b->known);
    uint32_t *most = calloc(n, sizeof *most);
    if (b->known == NULL || most == NULL) {
        free(most);
        race->short_of_memory = true;
        b->kb = b->ks = race->now; /* too much is known: nothing is found that is not there */
        return;
    }
    for (unsigned v = 0; v < n; v++) {
        const bool left = gate != NULL && gate->left[v] != 0;
        const uint32_t *row = left ? &gate->row[v * n] : &b->known[v * n];

        if (lanes[v] == 0)
            continue;
        for (unsigned x = 0; x < n; x++)
            most[x] = race_max(most[x], row[x]);
        if (!left)
            most[v] = race->now;
        gather_lanes(race, &all, &b->warp[v], left ? 0 : lanes[v]);
    }
    if (gate != NULL)
        gather(race, &all, &gate->brought);
    for (unsigned w = 0; w < n; w++) {
        if (lanes[w] == 0 || (gate != NULL && gate->left[w] != 0))
            continue;
        for (unsigned x = 0; x < n; x++)
            b->known[w * n + x] = race_max(b->known[w * n + x], most[x]);
        lanes_meet(race, b, &b->warp[w], lanes[w]);
        if ((all.facts != NULL || all.pending[0] != NULL || all.pending[1] != NULL) &&
            race_lanes_of(race, b, &b->warp[w]) != NULL)
            for (LW_EACH_BIT(l, lanes[w]))
                give(&b->warp[w].lane[l], &all);
    }
    knowledge_drop(&all);
    free(most);
}

/** The same where some lanes of a warp came and others did not, or not all of them wait: each lane learns it for
 *  itself. */
static void parts_meet(struct chk_race *race, struct race_block *b, const uint64_t *lanes,
                       const struct race_barrier_clock *gate)
{
    const unsigned n = b->warp_count;
    uint64_t *waits = calloc(n, sizeof *waits);
    struct knowledge all = {0};

    if (waits == NULL) {
        race->short_of_memory = true;
        b->kb = b->ks = race->now; /* as above */
        return;
    }
    for (unsigned v = 0; v < n; v++) {
        waits[v] = lanes[v] & ~(gate != NULL ? gate->left[v] : 0);
        gather_lanes(race, &all, &b->warp[v], waits[v]);
    }
    struct race_vclock *facts = race_ordered_before(race, b, waits);
    race_join(race, &all.facts, facts);
    race_vclock_drop(facts);
    for (unsigned v = 0; gate != NULL && v < n; v++) {
        for (unsigned x = 0; x < n && gate->left[v] != 0 && gate->row[v * n + v] != 0; x++) {
            struct race_entry knew = {race_key(RACE_KNOWS_WARP, race_thread_of(b, &b->warp[x], 0)),
                                      gate->row[v * n + x]};

            if (knew.time <= b->kb)
                continue;
            facts = race_vclock_create(&knew, 1, &race->short_of_memory);
            race_join(race, &all.facts, facts);
            race_vclock_drop(facts);
        }
    }
    if (gate != NULL)
        gather(race, &all, &gate->brought);
    for (unsigned v = 0; v < n; v++)
        if (waits[v] != 0 && race_lanes_of(race, b, &b->warp[v]) != NULL)
            for (LW_EACH_BIT(l, waits[v]))
                give(&b->warp[v].lane[l], &all);
    knowledge_drop(&all);
    free(waits);
}

/** Do warps come to a barrier whole, or not at all? *@everyone: and all do, and wait. */
static bool come_whole(const struct race_block *b, const uint64_t *lanes, const struct race_barrier_clock *gate,
                       bool *everyone)
{
    *everyone = gate == NULL;
    for (unsigned v = 0; v < b->warp_count; v++) {
        const bool all = lanes[v] == launched_lanes(b, &b->warp[v]);

        *everyone = *everyone && all;
        if ((lanes[v] != 0 && !all) ||
            (gate != NULL && gate->left[v] != 0 &&
             (gate->left[v] != lanes[v] || gate->row[v * b->warp_count + v] == 0)))
            return false;
    }
    return true;
}

void chk_race_cta(struct chk_race *race, struct emu_core *core, unsigned slot, unsigned id,
                  const uint64_t *lanes)
{
    struct race_block *b = race_block_at(race, core, slot);
    struct race_barrier_clock *gate;
    struct emu_barrier_arrivals met;
    bool everyone = true;

    race_flush(race);
    if (b == NULL)
        return;
    emu_block_barrier_arrivals(core, slot, id, lanes, &met);
    gate = b->gate[id] != NULL && b->gate[id]->any ? b->gate[id] : NULL;
    /* those that have ended met nobody at a barrier that did not wait for them; at one for all, ending counts as
     * coming */
    const bool whole =
        (gate == NULL && met.all && !met.counted) || come_whole(b, lanes, gate, &everyone);
    if (whole && everyone && met.all) {
        block_meets(race, b, &met);
        race_filter_shared_begin(race, met.one_place);
    } else if (whole) {
        warps_meet(race, b, lanes, gate);
    } else {
        parts_meet(race, b, lanes, gate);
    }
    if (gate != NULL) {
        knowledge_drop(&gate->brought);
        gate->brought = (struct knowledge){0};
        gate->any = false;
        memset(gate->left, 0, b->warp_count * sizeof gate->left[0]);
    }
    race_clock_advance(race);
}

/** The CTA barrier that an instruction names; -1: not known here. */
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

static struct race_barrier_clock *gate_of(struct race_block *b, unsigned id)
{
    const unsigned n = b->warp_count;
    struct race_barrier_clock *gate = b->gate[id];

    if (gate == NULL) {
        gate = calloc(1, sizeof *gate + n * sizeof gate->left[0]);
        uint32_t *row = calloc((size_t)n * n, sizeof *row);
        if (gate == NULL || row == NULL) {
            free(gate);
            free(row);
            return NULL;
        }
        gate->row = row;
    }
    return b->gate[id] = gate;
}

void race_arrive(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site)
{
    const unsigned n = b->warp_count, index = site->warp;
    const int id = barrier_of(site);
    struct race_warp *w = &b->warp[index];
    /* a guard names who comes; what exec masks comes, too */
    const uint64_t lanes = site->insn->guard == ISA_PT && !site->insn->guard_neg ? site->split_lanes : site->lanes;

    if (id < 0 || lanes == 0)
        return;
    struct race_barrier_clock *gate = gate_of(b, (unsigned)id);
    uint64_t *who = calloc(n, sizeof *who);
    if (gate == NULL || who == NULL) {
        race->short_of_memory = true;
        free(who);
        return;
    }
    gate->any = true;
    gather_lanes(race, &gate->brought, w, lanes);
    uint32_t *row = &gate->row[index * n];
    memset(row, 0, n * sizeof *row);
    if (gate->left[index] == 0 && lanes == launched_lanes(b, w)) {
        if (b->known != NULL)
            memcpy(row, &b->known[index * n], n * sizeof *row);
        row[index] = race->now;
    } else {
        who[index] = lanes;
        struct race_vclock *facts = race_ordered_before(race, b, who);
        race_join(race, &gate->brought.facts, facts);
        race_vclock_drop(facts);
    }
    gate->left[index] |= lanes;
    free(who);
    race_clock_advance(race);
}
