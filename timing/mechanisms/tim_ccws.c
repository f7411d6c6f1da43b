/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache-conscious warp scheduling (CCWS): while L1 evicts lines that warps need again, fewer warps may load. The victim tags
 * of a warp are the tags of its lines that L1 has evicted. If a load of the warp misses and finds its line in the victim
 * tags, the score of the warp rises above the base score. The score then falls by one per cycle. The warps are ordered by
 * their scores, the highest first. A warp may load if the sum of the scores up to and including its own does not exceed the
 * sum of all base scores. Source: specification of the warp scheduling thesis, section 4. The thesis leaves some points open
 * (section 11 of its specification: A1 to A4, A17), which keys decide.
 *
 * A score is stored as the cycle in which it will have fallen to the base score, so it need not be updated in each cycle.
 */
#include "timing/mechanisms/tim_ccws_priv.h"
#include "timing/tables/tim_vta_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct ccws {
    struct tim_mech base;
    const struct tim_config *config;
    struct tim_vta *vta;
    uint64_t launch;             /* 1 + sequence number of the latest launch with blocks on this core */
    /* VTAHitsTotal and InstIssuedTotal of the source: hits in victim tags and issued instructions since the first block of
     * the launch or, with ccws.window, in the current window */
    uint64_t hits, issued;
    uint64_t window;             /* number of the current window */
    uint64_t counted[TIM_MAX_WARPS]; /* ccws.hit_unit load, by slot: number of the last instruction whose hit was counted */
    struct tim_mech_list live;   /* live warps; after sort(), the highest score first, and warps with equal scores by age */
    uint64_t until[TIM_MAX_WARPS]; /* by slot: cycle before which the warp's score is above the base score */
    bool lives[TIM_MAX_WARPS];   /* by slot: the warp is live */
    bool unsorted;               /* `live` must be sorted again */
    uint64_t last_score, last_at; /* the score computed last and the cycle of that computation, both 0 if there is none */
    unsigned last_warp;           /* slot of the warp of last_score */
    uint64_t most_score;          /* the highest score that was computed */
    /* cycle of the last sort, and the first later cycle in which a score reaches the base score, so that the order may change */
    uint64_t sorted_from, sorted_until;
    uint64_t ranked_from, ranked_until; /* cycles from `ranked_from` to `ranked_until` - 1 have the number `allowed`, if no event happens */
    unsigned allowed;            /* number of leading warps of `live` that may load */
    uint16_t rank[TIM_MAX_WARPS]; /* by slot: index of the warp in `live` */
    uint64_t blocked[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64]; /* by scheduler: set of its live warps that may not load */
    unsigned words;              /* number of words of such a set that are in use */
    uint16_t loop[TIM_MAX_WARPS]; /* by slot: 1 + index of the outermost loop that the warp executes, or 0 if none */
    bool held[TIM_MAX_WARPS];     /* by slot: a load of the warp was throttled since the warp entered this loop */
};

static bool is_on(const struct tim_config *config)
{
    return config->ccws_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct ccws *ccws = calloc(1, sizeof *ccws);

    if (ccws == NULL)
        return NULL;
    ccws->config = config;
    ccws->words = (config->core_warps + 64 * config->issue_schedulers - 1) / (64 * config->issue_schedulers);
    ccws->vta = tim_vta_create(config->core_warps, config->ccws_entries, config->ccws_ways, config->l1_line);
    if (ccws->vta != NULL)
        return &ccws->base;
    free(ccws);
    return NULL;
}

static void destroy(struct tim_mech *mech)
{
    tim_vta_destroy(((struct ccws *)mech)->vta);
    free(mech);
}

/* ---- scores ------------------------------------------------------------------------------------ */

uint64_t tim_ccws_llds(const struct tim_config *config, uint64_t hits, uint64_t issued, unsigned warps)
{
    uint64_t base = config->ccws_base_score, most = config->ccws_score_bits == 0 ? UINT32_MAX : lw_mask(config->ccws_score_bits);
    unsigned __int128 llds = (unsigned __int128)hits * config->ccws_k * warps * base / (issued != 0 ? issued : 1);

    if (llds < base)
        return base;
    return llds > most ? (most > base ? most : base) : (uint64_t)llds;
}

static uint64_t score_at(const struct ccws *ccws, unsigned warp, uint64_t now)
{
    return ccws->config->ccws_base_score + (ccws->until[warp] > now ? ccws->until[warp] - now : 0);
}

uint64_t tim_ccws_score(const struct tim_mech *mech, unsigned warp)
{
    return score_at((const struct ccws *)mech, warp, mech->core->now);
}

static bool goes_before(const struct ccws *ccws, unsigned a, unsigned b, uint64_t now)
{
    uint64_t x = score_at(ccws, a, now), y = score_at(ccws, b, now);

    return x != y ? x > y : ccws->live.age[a] < ccws->live.age[b];
}

/** Moves the warp at index @at of `live` forward to its place by score and age. The warps before it must be sorted. */
static void move_up(struct ccws *ccws, unsigned at, uint64_t now)
{
    const uint16_t warp = ccws->live.warp[at];

    for (; at > 0 && goes_before(ccws, warp, ccws->live.warp[at - 1], now); at--) {
        ccws->live.warp[at] = ccws->live.warp[at - 1];
        ccws->rank[ccws->live.warp[at]] = (uint16_t)at;
    }
    ccws->live.warp[at] = warp;
    ccws->rank[warp] = (uint16_t)at;
    if (ccws->until[warp] > now && ccws->until[warp] < ccws->sorted_until)
        ccws->sorted_until = ccws->until[warp];
}

static void sort(struct ccws *ccws, uint64_t now)
{
    ccws->sorted_from = now;
    ccws->sorted_until = UINT64_MAX;
    for (unsigned i = 0; i < ccws->live.count; i++) /* insertion sort: the list is nearly sorted */
        move_up(ccws, i, now);
    ccws->unsorted = false;
}

/** Returns whether the order of `live` is that of cycle @now. */
static bool is_sorted(const struct ccws *ccws, uint64_t now)
{
    return !ccws->unsorted && now >= ccws->sorted_from && now < ccws->sorted_until;
}

static uint64_t cutoff_of(const struct ccws *ccws)
{
    return (uint64_t)ccws->live.count * ccws->config->ccws_base_score;
}

/** Called when an event may have changed `allowed`. */
static void forget_rank(struct ccws *ccws)
{
    ccws->ranked_until = ccws->base.idle_until = 0;
}

/** Sets `blocked` to the warps from index `allowed` of `live` on. */
static void note_blocked(struct ccws *ccws)
{
    const unsigned schedulers = ccws->config->issue_schedulers;

    for (unsigned s = 0; s < schedulers; s++)
        memset(ccws->blocked[s], 0, ccws->words * sizeof ccws->blocked[s][0]);
    for (unsigned i = ccws->allowed; i < ccws->live.count; i++) {
        const unsigned warp = ccws->live.warp[i], place = warp / schedulers;

        ccws->blocked[warp % schedulers][place / 64] |= UINT64_C(1) << place % 64;
    }
}

/** Updates `live`, `rank`, `allowed` and `blocked` for cycle @now. If all warps may load, the order of `live` is only updated when a score
 *  rises. */
static void rank_all(struct ccws *ccws, uint64_t now)
{
    const uint64_t cutoff = cutoff_of(ccws), base = ccws->config->ccws_base_score;
    const bool starts = ccws->config->ccws_cutoff == TIM_CUTOFF_START;
    uint64_t sum = 0, above = 0, score = 0;
    unsigned i = 0;

    if (now < ccws->ranked_until && now >= ccws->ranked_from)
        return;
    if (!is_sorted(ccws, now))
        sort(ccws, now);
    for (; i < ccws->live.count; i++) {
        score = score_at(ccws, ccws->live.warp[i], now);
        if (i != 0 && sum + (starts ? 0 : score) > cutoff - (starts ? 1 : 0))
            break;
        sum += score;
        above += score > base;
    }
    ccws->allowed = i;
    note_blocked(ccws);
    ccws->ranked_from = now;
    ccws->ranked_until = UINT64_MAX;
    ccws->base.idle_until = i == ccws->live.count ? UINT64_MAX : 0;
    if (i == ccws->live.count)
        return;
    /* One more warp may load as soon as the sum of the scores before it, and with ccws.cutoff end also its own score, is small
     * enough. Each of them that is above the base score falls by one per cycle, and the sum falls with them. */
    if (!starts) {
        sum += score;
        above += score > base;
    }
    uint64_t excess = sum > cutoff ? sum - cutoff : 1;
    uint64_t at = above == 0 ? UINT64_MAX : now + (excess + above - 1) / above;

    ccws->ranked_until = at < ccws->sorted_until ? at : ccws->sorted_until;
}

/* Returns the cycle in which one more warp may load, but never a cycle later than that in which a score reaches the base score. */
static uint64_t next(struct tim_mech *mech, uint64_t now)
{
    struct ccws *ccws = (struct ccws *)mech;

    rank_all(ccws, now);
    return ccws->ranked_until;
}

static void set_score(struct ccws *ccws, unsigned warp, uint64_t score)
{
    const uint64_t now = ccws->base.core->now, base = ccws->config->ccws_base_score;
    uint64_t until = now + (score - base);

    if (until == ccws->until[warp] || (ccws->config->ccws_set == TIM_SCORE_MAX && until < ccws->until[warp]))
        return;
    const bool rises = until > ccws->until[warp] && is_sorted(ccws, now);

    ccws->until[warp] = until;
    if (rises)
        move_up(ccws, ccws->rank[warp], now);
    else
        ccws->unsorted = true;
    forget_rank(ccws);
}

unsigned tim_ccws_allowed(struct tim_mech *mech)
{
    struct ccws *ccws = (struct ccws *)mech;

    rank_all(ccws, mech->core->now);
    return ccws->allowed;
}

/* ---- events ------------------------------------------------------------------------------------ */

/** Resets `hits` and `issued` when a new window begins. If ccws.window is 0, there are no windows: both count from the beginning
 *  of the launch. */
static void open_window(struct ccws *ccws)
{
    uint64_t window = ccws->config->ccws_window == 0 ? 0 : ccws->base.core->now / ccws->config->ccws_window;

    if (window == ccws->window)
        return;
    ccws->window = window;
    ccws->hits = ccws->issued = 0;
}

static void block(struct tim_mech *mech, uint64_t launch, bool begins)
{
    struct ccws *ccws = (struct ccws *)mech;

    if (!begins || launch < ccws->launch) /* blocks of an earlier launch may arrive after blocks of a later one */
        return;
    ccws->launch = launch + 1;
    ccws->hits = ccws->issued = 0;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct ccws *ccws = (struct ccws *)mech;

    ccws->live.age[warp] = age;
    ccws->until[warp] = 0;
    ccws->loop[warp] = 0;
    tim_vta_clear(ccws->vta, warp);
    tim_mech_list_add(&ccws->live, warp);
    ccws->lives[warp] = ccws->unsorted = true;
    forget_rank(ccws);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct ccws *ccws = (struct ccws *)mech;

    tim_mech_list_remove(&ccws->live, warp);
    ccws->lives[warp] = false;
    ccws->unsorted = true;
    forget_rank(ccws);
}

/** Updates the outermost loop that the warp executes, for counter ccws_lost_held. A function that the loop calls counts as part
 *  of the loop. */
static void follow_loop(struct ccws *ccws, const struct tim_mech_issue *issue)
{
    uint16_t *loop = &ccws->loop[issue->warp];
    unsigned at;

    if (issue->code == NULL)
        return;
    if (*loop != 0) {
        const struct tim_loop *open = *loop <= issue->code->loop_count ? &issue->code->loop[*loop - 1] : NULL;

        if (open != NULL && (issue->pc < open->from || issue->pc >= open->to || (issue->pc >= open->begin && issue->pc <= open->end)))
            return;
        *loop = 0;
    }
    at = tim_loop_at(issue->code, issue->pc);
    while (at != 0 && issue->code->loop[at - 1].parent != 0)
        at = issue->code->loop[at - 1].parent;
    *loop = (uint16_t)at;
    ccws->held[issue->warp] = false;
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct ccws *ccws = (struct ccws *)mech;

    follow_loop(ccws, issue);
    open_window(ccws);
    ccws->issued += ccws->config->ccws_inst_unit == TIM_BY_THREAD ? issue->lanes : 1;
    if (tim_is_data_load(issue->what)) {
        rank_all(ccws, mech->core->now);
        tim_histogram_add(&mech->core->histogram[TIM_CORE_H_ccws_allowed], ccws->allowed);
    }
}

static void access(struct tim_mech *mech, const struct tim_mech_access *a)
{
    struct ccws *ccws = (struct ccws *)mech;
    uint64_t llds;

    if (a->hit || a->merge)
        return;
    mech->core->count[TIM_CORE_ccws_probes]++;
    if (!tim_vta_find(ccws->vta, a->warp, a->line, ccws->config->ccws_take))
        return;
    mech->core->count[TIM_CORE_ccws_hits]++;
    mech->core->count[TIM_CORE_ccws_lost_held] += ccws->loop[a->warp] != 0 && ccws->held[a->warp];
    open_window(ccws);
    if (ccws->config->ccws_hit_unit == TIM_BY_LOAD && ccws->counted[a->warp] == a->instruction)
        return;
    ccws->counted[a->warp] = a->instruction;
    ccws->hits++;
    if (!ccws->lives[a->warp]) /* the last loads of a warp may access L1 after the warp has ended */
        return;
    llds = tim_ccws_llds(ccws->config, ccws->hits, ccws->issued, ccws->live.count);
    tim_histogram_add(&mech->core->histogram[TIM_CORE_H_ccws_score], llds);
    ccws->last_score = llds;
    ccws->last_at = mech->core->now;
    ccws->last_warp = a->warp;
    ccws->most_score = llds > ccws->most_score ? llds : ccws->most_score;
    set_score(ccws, a->warp, llds);
}

static void evict(struct tim_mech *mech, uint64_t line, unsigned owner)
{
    mech->core->count[TIM_CORE_ccws_inserts]++;
    tim_vta_insert(((struct ccws *)mech)->vta, owner, line);
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    struct ccws *ccws = (struct ccws *)mech;

    if (!tim_is_data_load(what) || !tim_dynpcal_lets_ccws_throttle(ccws->config, mech->core->now))
        return false;
    rank_all(ccws, mech->core->now);
    return ccws->rank[warp] >= ccws->allowed;
}

static bool holds_of(struct tim_mech *mech, unsigned sched, uint64_t *ready)
{
    struct ccws *ccws = (struct ccws *)mech;
    const struct tim_mech_core *core = mech->core;
    bool held = false;

    if (!tim_dynpcal_lets_ccws_throttle(ccws->config, core->now))
        return false;
    rank_all(ccws, core->now);
    for (unsigned i = 0; i < ccws->words; i++)
        for (LW_EACH_BIT(b, ready[i] & ccws->blocked[sched][i]))
            if (tim_is_data_load(core->next(core->context, tim_mech_slot(ccws->config, sched, i, (unsigned)b)))) {
                ready[i] &= ~(UINT64_C(1) << b);
                held = true;
            }
    return held;
}

/* Records in `held` each ready warp that is in a loop and whose load is throttled. */
static bool picks(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    struct ccws *ccws = (struct ccws *)mech;
    const struct tim_mech_core *core = mech->core;

    rank_all(ccws, core->now);
    for (unsigned i = 0; i < ccws->words; i++)
        for (LW_EACH_BIT(b, ready[i] & ccws->blocked[sched][i])) {
            const unsigned warp = tim_mech_slot(ccws->config, sched, i, (unsigned)b);

            if (ccws->loop[warp] != 0 && !ccws->held[warp])
                ccws->held[warp] = tim_is_data_load(core->next(core->context, warp));
        }
    return false;
}

/* ---- for the debugger -------------------------------------------------------------------------- */

/** Updates `live`, `rank` and `allowed` for the current cycle, also if all warps may load. */
static void update(struct ccws *ccws)
{
    const uint64_t now = ccws->base.core->now;

    rank_all(ccws, now);
    if (!is_sorted(ccws, now))
        sort(ccws, now);
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    struct ccws *ccws = (struct ccws *)mech;

    update(ccws);
    lw_printf(out, "the warp has score %" PRIu64 "; %u of %u warps precede the warp by score, and %u may load; the cutoff "
                                                 "is %" PRIu64,
              score_at(ccws, warp, mech->core->now), ccws->rank[warp], ccws->live.count, ccws->allowed, cutoff_of(ccws));
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    struct ccws *ccws = (struct ccws *)mech;

    update(ccws);
    *name = index == 0 ? "ccws: warps that may load" : "ccws: highest score";
    *value = index == 0 ? ccws->allowed : ccws->live.count != 0 ? score_at(ccws, ccws->live.warp[0], mech->core->now) : 0;
    return true;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    struct ccws *ccws = (struct ccws *)mech;
    uint64_t sum = 0;

    update(ccws);
    lw_printf(out, "%" PRIu64 " hits of victim tags in %" PRIu64 " instructions; cutoff %" PRIu64 ", %u of %u warps may load\n",
              ccws->hits, ccws->issued, cutoff_of(ccws), ccws->allowed, ccws->live.count);
    if (ccws->most_score != 0)
        lw_printf(out, "score computed last: %" PRIu64 ", for warp slot %u in cycle %" PRIu64 "; the highest: %" PRIu64 "\n",
                  ccws->last_score, ccws->last_warp, ccws->last_at, ccws->most_score);
    lw_put(out, "warp slot  score    sum  victim tags\n");
    for (unsigned i = 0; i < ccws->live.count; i++) {
        uint64_t score = score_at(ccws, ccws->live.warp[i], mech->core->now);

        sum += score;
        lw_printf(out, "%9u %6" PRIu64 " %6" PRIu64 " %12u%s\n", ccws->live.warp[i], score, sum,
                  tim_vta_count(ccws->vta, ccws->live.warp[i]), i < ccws->allowed ? "" : "  throttled");
    }
}

struct tim_vta *tim_ccws_victim_tags(struct tim_mech *mech)
{
    return ((struct ccws *)mech)->vta;
}

/* ---- the report -------------------------------------------------------------------------------- */

static void report(struct tim_mech *const *mech, unsigned cores, bool json, struct lw_sink *out)
{
    lw_put(out, json ? "\"ccws\": [" : "ccws: scores       computed last   highest\n");
    for (unsigned c = 0; c < cores; c++) {
        const struct ccws *ccws = (const struct ccws *)mech[c];

        if (json)
            lw_printf(out, "%s{\"core\": %u, \"last_score\": %" PRIu64 ", \"highest_score\": %" PRIu64 "}", c != 0 ? ", " : "", c,
                      ccws->last_score, ccws->most_score);
        else if (ccws->most_score != 0)
            lw_printf(out, "  core %-10u %14" PRIu64 " %9" PRIu64 "\n", c, ccws->last_score, ccws->most_score);
    }
    lw_put(out, json ? "]" : "");
}

const struct tim_mechanism tim_ccws = {
    .name = "ccws", .summary = "cache-conscious warp scheduling: fewer warps may load while warps lose lines of L1 that they need again",
    .is_on = is_on, .create = create, .destroy = destroy, .block = block, .warp_begins = warp_begins,
    .warp_ends = warp_ends, .issues = issues, .access = access, .evict = evict, .picks = picks, .holds = holds,
    .holds_of = holds_of, .next = next, .why = why, .gauge = gauge, .show = show, .report = report,
};
