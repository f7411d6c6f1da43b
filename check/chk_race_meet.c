/* SPDX-License-Identifier: Apache-2.0 */
/* Races: lanes, warps and blocks that meet at barriers. docs/check.md, Races */
#include "check/chk_race_priv.h"

#include <stdlib.h>

/** Lanes that began, whether they have ended or not. */
static uint64_t launched_lanes(const struct race_block *b, const struct race_warp *w)
{
    struct emu_warp_view view;

    return emu_warp_view(b->core, b->slot, (unsigned)(w - b->warp), &view) ? view.launched : 0;
}
/** All that lanes know beside ticks. */
struct knowledge {
    struct race_facts *facts, *pending[2];
};

static void gather(struct chk_race *race, struct knowledge *all, const struct race_lane *lane)
{
    race_join(race, &all->facts, lane->facts);
    for (unsigned k = 0; k < 2; k++)
        race_join(race, &all->pending[k], lane->pending[k]);
}

static void give(struct chk_race *race, struct race_lane *lane, const struct knowledge *all)
{
    race_join(race, &lane->facts, all->facts);
    for (unsigned k = 0; k < 2; k++)
        race_join(race, &lane->pending[k], all->pending[k]);
}

static void knowledge_drop(struct knowledge *all)
{
    race_facts_drop(all->facts);
    race_facts_drop(all->pending[0]);
    race_facts_drop(all->pending[1]);
}

/* ---- barriers ----------------------------------------------------------------------------------------- */

/** Lanes of a warp have met: each knows the others up to now, and what they know. */
static void lanes_meet(struct chk_race *race, struct race_block *b, struct race_warp *w,
                       uint64_t lanes)
{
    const unsigned n = b->width;

    if (w->lane != NULL) {
        struct knowledge all = {0};

        for (LW_EACH_BIT(l, lanes))
            gather(race, &all, &w->lane[l]);
        for (LW_EACH_BIT(l, lanes))
            give(race, &w->lane[l], &all);
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

    race_settle(race);
    if (b == NULL || (lanes & (lanes - 1)) == 0)
        return;
    lanes_meet(race, b, &b->warp[warp], lanes);
    race_tick(race);
}

/** All live threads of a block have met. */
static void block_meets(struct chk_race *race, struct race_block *b)
{
    b->kb = race->now;
    if (!b->any_lane)
        return;
    if (b->any_fence && b->fenced == NULL) {
        b->fenced = calloc(b->warp_count, sizeof *b->fenced);
        race->short_of_memory |= b->fenced == NULL;
    }
    for (unsigned i = 0; i < b->warp_count; i++) {
        struct race_warp *w = &b->warp[i];
        const uint64_t live = w->lane != NULL ? race_live(b, w) : 0;
        uint32_t fenced = live != 0 ? UINT32_MAX : 0;

        if (w->lane == NULL)
            continue;
        for (unsigned l = 0; l < b->width; l++) {
            struct race_lane *lane = &w->lane[l];

            race_join(race, &b->facts, lane->facts);
            race_facts_drop(lane->facts);
            lane->facts = NULL;
            for (unsigned k = 0; k < 2; k++) {
                race_join(race, &b->pending[k], lane->pending[k]);
                race_facts_drop(lane->pending[k]);
                lane->pending[k] = NULL;
            }
            if ((live >> l & 1) != 0 && lane->fence[RACE_FENCE_GPU].time < fenced)
                fenced = lane->fence[RACE_FENCE_GPU].time;
        }
        if (b->fenced != NULL)
            b->fenced[i] = race_max(b->fenced[i], fenced);
    }
}

/** Some warps of a block have met, or lanes of them: those that wait know those that arrived. */
static void warps_meet(struct chk_race *race, struct race_block *b, const uint64_t *lanes,
                       const uint32_t *arrived)
{
    const unsigned n = b->warp_count;
    struct knowledge all = {0};

    if (b->known == NULL)
        b->known = calloc((size_t)n * n, sizeof *b->known);
    uint32_t *most = calloc(n, sizeof *most);
    if (b->known == NULL || most == NULL) {
        free(most);
        race->short_of_memory = true;
        b->kb = race->now;
        return;
    }
    for (unsigned v = 0; v < n; v++) {
        if (lanes[v] == 0)
            continue;
        for (unsigned x = 0; x < n; x++)
            most[x] = race_max(most[x], b->known[v * n + x]);
        for (LW_EACH_BIT(l, b->warp[v].lane != NULL ? lanes[v] : 0))
            gather(race, &all, &b->warp[v].lane[l]);
    }
    for (unsigned v = 0; v < n; v++)
        if (lanes[v] != 0)
            most[v] = arrived != NULL && arrived[v] != 0 ? arrived[v] : race->now;
    for (unsigned w = 0; w < n; w++) {
        if (lanes[w] == 0 || (arrived != NULL && arrived[w] != 0))
            continue;
        for (unsigned x = 0; x < n; x++)
            b->known[w * n + x] = race_max(b->known[w * n + x], most[x]);
        lanes_meet(race, b, &b->warp[w], lanes[w]);
        if ((all.facts != NULL || all.pending[0] != NULL || all.pending[1] != NULL) &&
            race_lanes_of(race, b, &b->warp[w]) != NULL)
            for (LW_EACH_BIT(l, lanes[w]))
                give(race, &b->warp[w].lane[l], &all);
    }
    knowledge_drop(&all);
    free(most);
}

void chk_race_cta(struct chk_race *race, struct emu_core *core, unsigned slot, unsigned id,
                  const uint64_t *lanes)
{
    struct race_block *b = race_block_at(race, core, slot);
    bool only = false, all, one_place;
    uint32_t *arrived = NULL;

    race_settle(race);
    if (b == NULL)
        return;
    emu_block_meets(core, slot, lanes, &all, &one_place);
    if (b->arrived != NULL) {
        arrived = &b->arrived[id * b->warp_count];
        for (unsigned w = 0; w < b->warp_count; w++)
            only |= arrived[w] != 0;
    }
    if (!only && all) {
        block_meets(race, b);
        race_phase_begins(race, one_place);
    } else {
        warps_meet(race, b, lanes, arrived);
    }
    if (arrived != NULL)
        memset(arrived, 0, b->warp_count * sizeof *arrived);
    race_tick(race);
}

/** The CTA barrier that an instruction names; -1: not known here. */
static int barrier_of(const struct emu_tap_site *site)
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

void race_arrive(struct chk_race *race, struct race_block *b, const struct emu_tap_site *site)
{
    const int id = barrier_of(site);

    if (b->arrived == NULL)
        b->arrived = calloc((size_t)ISA_CTA_BARRIER_COUNT * b->warp_count, sizeof *b->arrived);
    if (b->arrived == NULL) {
        race->short_of_memory = true;
        return;
    }
    if (id >= 0)
        b->arrived[(unsigned)id * b->warp_count + site->warp] = race->now;
    race_tick(race);
}
