/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locality-aware warp scheduling: warps that access the same lines issue together. Each warp has an access vector, which is
 * computed from the address slices of its kernel. A table has the locality (the number of shared lines or parts) of each pair of
 * warps. Warps of the active group may issue; the other warps of the core are pending:
 *
 *   An active warp that waits for memory becomes pending, at most one warp per cycle.
 *   An active warp that waits at a barrier or ends leaves the active group.
 *   When the active group has space for a warp, the pending warp with most locality with the active warps joins it.
 *
 * A scheduler selects among its ready active warps in this order:
 *
 *   1. a warp of a block that starves: the oldest warp of the oldest such block
 *   2. the warp that issued last
 *   3. the warp with most locality with the warp that issued last; among equal warps the oldest
 *
 * Source: specification of address pre-computation, section 7.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdlib.h>

struct la_w {
    struct tim_mech base;
    unsigned schedulers, warps;
    uint16_t *table;      /* [slot][slot] locality of two warps */
    struct tim_reach_vector **vector; /* [slot] access vector of the live warp, or NULL if it has none */
    bool live[TIM_MAX_WARPS], waits[TIM_MAX_WARPS], active[TIM_MAX_WARPS], starved[TIM_MAX_WARPS]; /* by slot */
    uint64_t age[TIM_MAX_WARPS], block[TIM_MAX_WARPS]; /* by slot: age of the warp; value of `blocks` when it began */
    unsigned actives;     /* number of active warps */
    uint64_t blocks;      /* number of blocks that have begun on the core so far */
    int last[TIM_MAX_SCHEDS]; /* [scheduler] slot of the warp that issued last; -1 if no warp has issued, or after that warp
                               * has ended or begun to wait at a barrier or for its launches */
    enum rule { GREEDY, LOCALITY, OLDEST, FIRST } rule[TIM_MAX_SCHEDS]; /* why chooses() last selected warp `chosen` */
    int chosen[TIM_MAX_SCHEDS]; /* slot selected by chooses(), or -1 if there is none or its warp has issued */
    bool short_of_memory; /* some warps have no vector because the host had no memory; their locality is 0 */
};

static unsigned locality(const struct la_w *la, unsigned a, unsigned b)
{
    return la->table[(size_t)a * la->warps + b];
}

static bool is_older(const struct la_w *la, unsigned a, unsigned b)
{
    return la->age[a] < la->age[b];
}

/* ---- events of warps ---------------------------------------------------------------------------------- */

static void deactivate(struct la_w *la, unsigned warp)
{
    la->actives -= la->active[warp];
    la->active[warp] = false;
}

/** Removes @warp from the active group. If @warp is recorded as the warp that issued last, removes this record. */
static void leave(struct la_w *la, unsigned warp)
{
    deactivate(la, warp);
    for (unsigned s = 0; s < la->schedulers; s++)
        if (la->last[s] == (int)warp)
            la->last[s] = -1;
}

static void resides(struct tim_mech *mech, const struct tim_mech_block *block, bool begins)
{
    struct la_w *la = (struct la_w *)mech;
    const uint64_t most = 2 * (uint64_t)mech->core->config->core_blocks;

    (void)block;
    if (!begins)
        return;
    la->blocks++;
    for (unsigned w = 0; mech->core->config->la_w_starvation && w < la->warps; w++)
        if (la->live[w] && !la->starved[w] && la->blocks - la->block[w] > most) {
            bool counted = false;

            for (unsigned o = 0; o < la->warps; o++)
                counted |= la->live[o] && la->starved[o] && la->block[o] == la->block[w];
            mech->core->count[TIM_CORE_la_w_starved_blocks] += !counted;
            la->starved[w] = true;
        }
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct la_w *la = (struct la_w *)mech;
    const struct tim_mech_core *core = mech->core;
    struct tim_reach_vector *v = malloc(sizeof *v);

    la->live[warp] = true;
    la->waits[warp] = la->active[warp] = la->starved[warp] = false;
    la->age[warp] = age;
    la->block[warp] = la->blocks;
    la->short_of_memory |= v == NULL;
    if (v == NULL || !core->reach(core->context, warp, v)) {
        free(v);
        return;
    }
    la->vector[warp] = v;
    for (unsigned o = 0; o < la->warps; o++) {
        if (!la->live[o] || o == warp)
            continue;
        unsigned common = la->vector[o] == NULL ? 0 : tim_reach_common(v, la->vector[o], core->config->ap_exact);

        la->table[(size_t)warp * la->warps + o] = la->table[(size_t)o * la->warps + warp] = (uint16_t)common;
        tim_histogram_add(&core->histogram[TIM_CORE_H_la_w_ldt], common);
    }
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct la_w *la = (struct la_w *)mech;

    leave(la, warp);
    la->live[warp] = la->waits[warp] = la->starved[warp] = false;
    free(la->vector[warp]);
    la->vector[warp] = NULL;
    for (unsigned o = 0; o < la->warps; o++)
        la->table[(size_t)warp * la->warps + o] = la->table[(size_t)o * la->warps + warp] = 0;
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    struct la_w *la = (struct la_w *)mech;

    la->waits[warp] = begins;
    if (begins)
        leave(la, warp);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    static const uint8_t counter[] = {[GREEDY] = TIM_CORE_la_w_greedy, [LOCALITY] = TIM_CORE_la_w_locality,
                                      [OLDEST] = TIM_CORE_la_w_oldest, [FIRST] = TIM_CORE_la_w_first};
    struct la_w *la = (struct la_w *)mech;
    const unsigned s = issue->warp % la->schedulers;

    if (la->live[issue->warp])
        la->last[s] = (int)issue->warp;
    mech->core->count[la->chosen[s] == (int)issue->warp ? counter[la->rule[s]] : TIM_CORE_la_w_greedy]++;
    la->chosen[s] = -1;
}

/* ---- the active group ---------------------------------------------------------------------------- */

enum state { READY, MISS, OUT };

static enum state state_of(const struct la_w *la, unsigned warp)
{
    struct tim_mech_warp w;

    if (la->waits[warp])
        return OUT;
    la->base.core->look(la->base.core->context, warp, &w);
    switch (w.reason) {
    case TIM_STALL_LOAD: return w.misses ? MISS : READY;
    case TIM_STALL_FENCE: return MISS;
    case TIM_STALL_BARRIER: case TIM_STALL_SLEEP: case TIM_STALL_LAUNCH: return OUT;
    default: return READY;
    }
}

/** Removes from the active group all warps that wait at a barrier or for a launch, or sleep. Also removes one warp that waits for
 *  memory: preferably a warp that issued last on its scheduler, otherwise the oldest. Returns true if the active group has
 *  changed. */
static bool demote(struct la_w *la)
{
    int miss = -1;
    bool changed = false;

    for (unsigned w = 0; w < la->warps; w++) {
        enum state state = la->active[w] ? state_of(la, w) : READY;

        if (state == OUT) {
            leave(la, w);
            changed = true;
        } else if (state == MISS) {
            const bool last = la->last[w % la->schedulers] == (int)w;
            const bool is_last = miss >= 0 && la->last[(unsigned)miss % la->schedulers] == miss;

            if (miss < 0 || (last && !is_last) || (last == is_last && is_older(la, w, (unsigned)miss)))
                miss = (int)w;
        }
    }
    if (miss < 0)
        return changed;
    deactivate(la, (unsigned)miss);
    la->base.core->count[TIM_CORE_la_w_demotions]++;
    return true;
}

static unsigned nearness(const struct la_w *la, unsigned warp)
{
    const bool sums = la->base.core->config->la_w_nearest == TIM_NEAREST_SUM;
    unsigned all = 0;

    for (unsigned a = 0; a < la->warps; a++) {
        const unsigned one = la->active[a] ? locality(la, warp, a) : 0;

        all = sums ? all + one : one > all ? one : all;
    }
    return all;
}

/** Returns the pending warp that joins the active group next, or -1 if there is none. It is a warp of the oldest starved
 *  block or, if no block starves, the warp with most locality with the active warps. Sets *near to that locality. */
static int nearest_pending(const struct la_w *la, unsigned *near)
{
    int found = -1;

    *near = 0;
    for (unsigned w = 0; w < la->warps; w++) {
        if (!la->live[w] || la->active[w] || state_of(la, w) != READY)
            continue;
        const unsigned n = nearness(la, w), best = *near;
        const unsigned f = found < 0 ? w : (unsigned)found;

        if (found < 0 || la->starved[w] > la->starved[f] ||
            (la->starved[w] == la->starved[f] &&
             (la->starved[w] ? la->block[w] < la->block[f] || (la->block[w] == la->block[f] && is_older(la, w, f))
                             : n > best || (n == best && is_older(la, w, f))))) {
            found = (int)w;
            *near = n;
        }
    }
    return found;
}

static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct la_w *la = (struct la_w *)mech;
    bool changed = demote(la);
    unsigned near;

    (void)ready;
    while (la->actives < mech->core->config->la_w_active) {
        int warp = nearest_pending(la, &near);

        if (warp < 0)
            break;
        la->active[warp] = true;
        la->actives++;
        mech->core->count[TIM_CORE_la_w_promotions]++;
        mech->core->count[TIM_CORE_la_w_starved_promotions] += la->starved[warp];
        mech->core->count[TIM_CORE_la_w_zero_promotions] += near == 0 && !la->starved[warp];
        changed = true;
    }
    return changed;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    (void)next;
    return !((const struct la_w *)mech)->active[warp];
}

static int chooses(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    struct la_w *la = (struct la_w *)mech;
    const int last = la->last[sched];
    int found = -1;

    for (unsigned word = 0; word * 64 * la->schedulers < la->warps; word++)
        for (LW_EACH_BIT(b, ready[word])) {
            const unsigned w = (word * 64 + (unsigned)b) * la->schedulers + sched, f = found < 0 ? w : (unsigned)found;
            const unsigned near = last < 0 ? 0 : locality(la, w, (unsigned)last), best = last < 0 ? 0 : locality(la, f, (unsigned)last);
            const bool greedy = (int)w == last, was_greedy = (int)f == last;

            if (found < 0 || la->starved[w] > la->starved[f] ||
                (la->starved[w] == la->starved[f] &&
                 (la->starved[w] ? la->block[w] < la->block[f] || (la->block[w] == la->block[f] && is_older(la, w, f))
                  : greedy != was_greedy ? greedy
                                         : near > best || (near == best && is_older(la, w, f)))))
                found = (int)w;
        }
    if (found < 0)
        return -1;
    la->chosen[sched] = found;
    la->rule[sched] = la->starved[found] ? FIRST : found == last ? GREEDY
                    : last >= 0 && locality(la, (unsigned)found, (unsigned)last) != 0 ? LOCALITY : OLDEST;
    return found / (int)la->schedulers;
}

/* ---- hooks, reports -------------------------------------------------------------------------- */

static bool is_on(const struct tim_config *config)
{
    return config->la_w_on;
}

static void destroy(struct tim_mech *mech)
{
    struct la_w *la = (struct la_w *)mech;

    for (unsigned w = 0; la->vector != NULL && w < la->warps; w++)
        free(la->vector[w]);
    free(la->vector);
    free(la->table);
    free(la);
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct la_w *la = calloc(1, sizeof *la);

    if (la == NULL)
        return NULL;
    la->schedulers = core->config->issue_schedulers;
    la->warps = core->config->core_warps;
    la->table = calloc((size_t)la->warps * la->warps, sizeof *la->table);
    la->vector = calloc(la->warps, sizeof *la->vector);
    for (unsigned s = 0; s < TIM_MAX_SCHEDS; s++)
        la->last[s] = la->chosen[s] = -1;
    if (la->table != NULL && la->vector != NULL)
        return &la->base;
    destroy(&la->base);
    return NULL;
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct la_w *la = (const struct la_w *)mech;

    lw_printf(out, "the warp is not one of the active warps, %u of at most %u; its locality with them is %u shared lines or parts%s",
              la->actives, mech->core->config->la_w_active, nearness(la, warp), la->starved[warp] ? "; its block is starved" : "");
}

static void put_vector(const struct tim_reach_vector *v, unsigned parts, struct lw_sink *out)
{
    for (unsigned a = 0; a < v->arrays; a++) {
        lw_printf(out, " %u:", v->region[a]);
        for (unsigned p = parts; p-- > 0;)
            lw_put(out, v->parts[a] >> p & 1 ? "1" : "0");
    }
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct la_w *la = (const struct la_w *)mech;

    lw_printf(out, "active warps: %u of %u; columns: warp, block, region and parts in each array, lines or parts shared "
                   "with others\n", la->actives,
              mech->core->config->la_w_active);
    for (unsigned w = 0; w < la->warps; w++) {
        if (!la->live[w])
            continue;
        lw_printf(out, "  %s warp %u: block %llu of the core%s;", la->active[w] ? "active " : la->waits[w] ? "waits  " : "pending", w,
                  (unsigned long long)la->block[w], la->starved[w] ? ", starved" : "");
        if (la->vector[w] == NULL)
            lw_put(out, " no slices");
        else
            put_vector(la->vector[w], mech->core->config->ap_subregions, out);
        lw_put(out, ";");
        for (unsigned o = 0; o < la->warps; o++)
            if (locality(la, w, o) != 0)
                lw_printf(out, " %u with %u", locality(la, w, o), o);
        lw_put(out, "\n");
    }
    tim_reach_cost(mech->core->config, out);
}

const struct tim_mechanism tim_la_w = {
    .name = "la_w", .summary = "locality-aware warp scheduling: warps that share lines issue together, from an active group",
    .is_on = is_on, .create = create, .destroy = destroy, .resides = resides, .warp_begins = warp_begins, .warp_ends = warp_ends,
    .waits = waits, .issues = issues, .cycle = cycle, .holds = holds, .chooses = chooses, .why = why, .show = show,
};
