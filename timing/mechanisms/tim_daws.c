/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divergence-aware warp scheduling. The mechanism tracks in which loop each warp is, and determines which warps may
 * load. A loop has locality if its loads access lines that the same warp has requested before. A warp in a loop with
 * locality is charged for its footprint, which is the number of L1 lines that its active lanes are predicted to need. Each
 * iteration makes a new prediction. The oldest warps get space in L1 first. Loads of warps that get no space are throttled.
 * Source: specification of the warp scheduling thesis, sections 5.4 and 5.5. The thesis leaves some points open (section 11
 * of its specification: A5, A6, A8, A25, A26, A30), which keys decide.
 *
 * Entry of a warp in the footprint prediction table:
 *
 *   none --loop with locality begins--> {loop, lines} <--next iteration of it or of an outer loop: new lines--+
 *    ^                                    |   |  +------------------------------------------------------------+
 *    +--no lane is in the outermost loop--+   +--barrier--> {loop, 0} --released--> {loop, lines}
 *
 * The open loops of a warp are those that contain its lanes. If a loop calls a function, the loops of the function are
 * inside this loop. The open loops are stored in levels, one for each function, beginning with the kernel. A level has
 * the innermost open loop of its function; tim_loop.parent leads to the loops around it in the same function.
 */
#include "timing/mechanisms/tim_daws_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LEVELS = 8 }; /* maximum number of levels; the last level also has the loops of functions at greater call depth */

struct level {
    uint16_t open;             /* 1 + index of the innermost open loop of the function */
    bool calls;                /* lanes in loop `open` have called a function, and no lane has returned from it */
};
/** State of a warp slot. */
struct entry {
    bool lives, allowed;       /* the warp is live; its loads are not throttled */
    bool granted;              /* the warp has space in L1 for its current loop */
    bool charged;              /* daws.closest: the warp has not reached the loop `loop` yet, but is charged as if it
                                * were in it */
    uint8_t levels;            /* number of used elements of `level`, or 0 if the warp is in no loop */
    uint8_t below;             /* number of levels of outer functions whose open loops contain `loop` */
    uint16_t within[LEVELS];   /* [below] value of `open` of each such level when `loop` began */
    struct level level[LEVELS];
    unsigned lanes;            /* active lanes of the warp's last instruction */
    unsigned lines;            /* predicted footprint of the warp, in lines */
    uint64_t loop, end;        /* pcs of the first and last instruction of the loop for which the warp is charged; 0 if there is
                                * none */
    const struct tim_code *code;
};
struct daws {
    struct tim_mech base;
    struct tim_daws_tables tables;
    struct tim_vta *vta;
    uint64_t launch;              /* 1 + sequence number of the latest launch with blocks on this core */
    struct tim_mech_list live;    /* live warps */
    struct entry entry[TIM_MAX_WARPS]; /* by slot */
    unsigned allowed;             /* number of warps that may load */
    bool in_loop;                 /* some warp is charged for a loop that it is in */
    uint64_t sum;                 /* number of lines charged to all warps */
};

static bool is_on(const struct tim_config *config)
{
    return config->daws_on;
}

static void destroy(struct tim_mech *mech)
{
    struct daws *daws = (struct daws *)mech;

    tim_daws_tables_fini(&daws->tables);
    tim_vta_destroy(daws->vta);
    free(daws);
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct daws *daws = calloc(1, sizeof *daws);

    if (daws == NULL)
        return NULL;
    daws->vta = tim_vta_create(config->core_warps, config->daws_entries, config->daws_ways, config->l1_line);
    if (tim_daws_tables_init(&daws->tables, core) && daws->vta != NULL)
        return &daws->base;
    destroy(&daws->base);
    return NULL;
}

static const struct tim_config *config_of(const struct daws *daws)
{
    return daws->tables.config;
}

/* ---- admission --------------------------------------------------------------------------------- */

static bool fits(const struct daws *daws, uint64_t lines)
{
    const struct tim_config *c = config_of(daws);

    return lines * 100 <= (uint64_t)c->daws_assoc * (c->l1_bytes / c->l1_line);
}

/** Sets the loop for which a warp is charged, and predicts its footprint. If @loop is NULL, the warp is not charged. */
static void set_entry(struct daws *daws, struct entry *e, const struct tim_loop *loop, bool charged)
{
    unsigned lanes = config_of(daws)->daws_lanes == TIM_LANES_ALL ? config_of(daws)->core_warp_width : e->lanes;

    if (loop == NULL || e->loop != loop->begin)
        e->granted = false;
    e->loop = loop != NULL ? loop->begin : 0;
    e->end = loop != NULL ? loop->end : 0;
    e->charged = charged && loop != NULL;
    e->lines = loop != NULL ? tim_daws_predict(&daws->tables, loop->begin, lanes) : 0;
    daws->base.core->count[TIM_CORE_daws_too_big] += !fits(daws, e->lines);
}

/** Returns whether the warp may load without being charged. This is the case if its footprint exceeds the available lines or,
 *  with daws.too_big loop, if the footprint of any warp in the same loop exceeds them. */
static bool is_free(const struct daws *daws, const struct entry *e)
{
    if (e->loop == 0 || config_of(daws)->daws_too_big == TIM_TOO_BIG_WARP)
        return !fits(daws, e->lines);
    for (unsigned i = 0; i < daws->live.count; i++) {
        const struct entry *other = &daws->entry[daws->live.warp[i]];
        if (other->loop == e->loop && !fits(daws, other->lines))
            return true;
    }
    return false;
}

/** Charges warps for their footprints, the oldest first, and allows their loads while the sum fits into L1. If @all is set,
 *  considers every warp. Otherwise considers only warps that already had space in their loop (@first is set), or only the
 *  others. */
static void admit_some(struct daws *daws, bool all, bool first)
{
    for (unsigned i = 0; i < daws->live.count; i++) {
        struct entry *e = &daws->entry[daws->live.warp[i]];
        bool had = e->granted;

        if (!all && had != first)
            continue;
        if (is_free(daws, e)) {
            e->allowed = true;
        } else {
            daws->sum += e->lines;
            e->allowed = fits(daws, daws->sum);
            daws->base.core->count[TIM_CORE_daws_removed] += had && !e->allowed;
        }
    }
}

static void note_granted(struct daws *daws)
{
    daws->allowed = 0;
    for (unsigned i = 0; i < daws->live.count; i++) {
        struct entry *e = &daws->entry[daws->live.warp[i]];

        daws->allowed += e->allowed;
        e->granted = e->allowed && e->lines != 0 && !e->charged;
    }
}

/** Determines from all footprints which warps may load. */
static void admit(struct daws *daws)
{
    bool any = false;

    for (unsigned i = 0; i < daws->live.count; i++)
        any |= daws->entry[daws->live.warp[i]].loop != 0 && !daws->entry[daws->live.warp[i]].charged;
    for (unsigned i = 0; i < daws->live.count && !any; i++) /* daws.closest applies only while some warp is in a loop */
        set_entry(daws, &daws->entry[daws->live.warp[i]], NULL, false);
    daws->sum = 0;
    if (config_of(daws)->daws_order == TIM_DAWS_ADMITTED) {
        admit_some(daws, false, true);
        admit_some(daws, false, false);
    } else {
        admit_some(daws, true, false);
    }
    note_granted(daws);
    daws->in_loop = any;
    daws->base.idle_until = daws->allowed == daws->live.count && !(any && config_of(daws)->daws_closest) ? UINT64_MAX : 0;
}

/* ---- footprints -------------------------------------------------------------------------------- */

/** Predicts the footprint of the warp again, for its current number of active lanes. */
static void update_prediction(struct daws *daws, struct entry *e)
{
    struct tim_loop loop = {.begin = e->loop, .end = e->end};

    set_entry(daws, e, &loop, e->charged);
}

static const struct tim_loop *open_loop(const struct entry *e, unsigned level)
{
    return &e->code->loop[e->level[level].open - 1];
}

/** Returns the index of the level of the loop's function, or e->levels if the function has no level yet. */
static unsigned level_of(const struct entry *e, const struct tim_loop *loop)
{
    unsigned level = 0;

    while (level < e->levels && open_loop(e, level)->from != loop->from)
        level++;
    return level;
}

/** Returns whether loop @loop is @inner or contains @inner in the same function. Both are 1 + the index of a loop; 0 is no
 *  loop. */
static bool contains(const struct tim_code *code, unsigned loop, unsigned inner)
{
    while (inner != 0 && inner != loop)
        inner = code->loop[inner - 1].parent;
    return inner != 0;
}

/** Returns whether no lane of the warp is in the loop or in a function that the loop has called. */
static bool is_left(const struct daws *daws, unsigned warp, struct level *level, const struct tim_loop *loop)
{
    const struct tim_mech_core *core = daws->base.core;

    if (core->inside(core->context, warp, loop->begin, loop->end)) {
        level->calls = false;
        return false;
    }
    if (loop->called) /* A lane outside the function is either in a caller and has left the loop, or in a function that
                        * the loop has called and is still in the loop. level->calls distinguishes the two cases. */
        return !level->calls;
    return (loop->from == 0 || !core->inside(core->context, warp, 0, loop->from - 1)) &&
           !core->inside(core->context, warp, loop->to, UINT64_MAX);
}

/** Closes loops of level @at, the innermost first: all of them if @all is set, otherwise those that all lanes have left.
 *  Returns true if the level has no open loop left. */
static bool leave_level(struct daws *daws, unsigned warp, unsigned at, bool all)
{
    struct entry *e = &daws->entry[warp];
    struct level *level = &e->level[at];

    while (level->open != 0) {
        const struct tim_loop *loop = open_loop(e, at);

        if (!all && !is_left(daws, warp, level, loop))
            return false;
        tim_daws_leaves(&daws->tables, loop->begin, warp);
        level->open = loop->parent;
        level->calls = false;
    }
    return true;
}

/** Called after an instruction that may leave loops: closes the loops that contain no lane. If a level has no open loop
 *  left, removes it and all levels of inner functions. Returns true if the outermost loop was closed. */
static bool leave_loops(struct daws *daws, unsigned warp)
{
    struct entry *e = &daws->entry[warp];
    const unsigned levels = e->levels;
    bool left = false;

    for (unsigned at = 0; at < levels; at++) {
        left = leave_level(daws, warp, at, left);
        if (left && e->levels > at)
            e->levels = (uint8_t)at;
    }
    return levels != 0 && e->levels == 0;
}

/** Called when the instruction at @pc has called a function. */
static void note_call(struct entry *e, uint64_t pc)
{
    for (unsigned at = 0; at < e->levels; at++)
        if (pc >= open_loop(e, at)->begin && pc <= open_loop(e, at)->end)
            e->level[at].calls = true;
}

static void loop_begins(struct daws *daws, unsigned warp, unsigned loop)
{
    struct entry *e = &daws->entry[warp];
    const struct tim_loop *l = &e->code->loop[loop - 1];
    const unsigned level = level_of(e, l);
    bool enters = level == e->levels || !contains(e->code, loop, e->level[level].open), real = e->loop != 0 && !e->charged;
    bool around = level < e->below && contains(e->code, loop, e->within[level]);

    if (level == LEVELS)
        return;
    if (enters) {
        e->level[level] = (struct level){.open = (uint16_t)loop};
        e->levels = (uint8_t)(level == e->levels ? level + 1 : e->levels);
        if (around)
            e->below = (uint8_t)level; /* the warp has left the loop within[level] and entered the loop again */
    }
    tim_daws_take_profile(&daws->tables, e->code, l);
    tim_daws_begins(&daws->tables, l->begin, warp, e->lanes, enters);
    if (real && e->loop != l->begin && ((e->loop >= l->begin && e->end <= l->end) || (around && !enters))) {
        update_prediction(daws, e); /* the next iteration of a loop that contains the warp's loop begins */
    } else if (tim_daws_has_locality(&daws->tables, l->begin)) {
        set_entry(daws, e, l, false);
        e->below = (uint8_t)level;
        for (unsigned i = 0; i < level; i++)
            e->within[i] = e->level[i].open;
    } else if (e->charged) {
        set_entry(daws, e, NULL, false);
    } else if (e->loop == l->begin) {
        e->lines = 0;
    }
}

/* ---- events ------------------------------------------------------------------------------------ */

static void block(struct tim_mech *mech, uint64_t launch, bool begins)
{
    struct daws *daws = (struct daws *)mech;

    if (begins && launch >= daws->launch && daws->live.count == 0)
        tim_daws_tables_clear(&daws->tables);
    daws->launch = begins && launch >= daws->launch ? launch + 1 : daws->launch;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct daws *daws = (struct daws *)mech;

    daws->entry[warp] = (struct entry){.lives = true};
    daws->live.age[warp] = age;
    tim_mech_list_add(&daws->live, warp);
    tim_vta_clear(daws->vta, warp);
    admit(daws);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct daws *daws = (struct daws *)mech;

    tim_mech_list_remove(&daws->live, warp);
    daws->entry[warp] = (struct entry){0};
    tim_daws_leaves(&daws->tables, 0, warp);
    admit(daws);
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    struct daws *daws = (struct daws *)mech;
    struct entry *e = &daws->entry[warp];

    if (e->loop == 0)
        return;
    e->lines = 0;
    if (!begins && config_of(daws)->daws_barrier == TIM_BARRIER_RESTORE)
        update_prediction(daws, e);
    admit(daws);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct daws *daws = (struct daws *)mech;
    struct entry *e = &daws->entry[issue->warp];
    unsigned loop = tim_loop_at(issue->code, issue->pc);
    bool left, passed;

    if (tim_is_data_load(issue->what)) {
        tim_histogram_add(&mech->core->histogram[TIM_CORE_H_daws_allowed], daws->allowed);
        tim_histogram_add(&mech->core->histogram[TIM_CORE_H_daws_footprint], daws->sum);
    }
    if (!e->lives || (loop == 0 && e->levels == 0 && !e->charged))
        return;
    e->lanes = issue->lanes;
    e->code = issue->code;
    if (issue->what->calls)
        note_call(e, issue->pc);
    left = issue->what->flow && leave_loops(daws, issue->warp); /* the lanes are at their new pcs already */
    passed = e->charged && issue->pc > e->end;
    if (left || passed)
        set_entry(daws, e, NULL, false);
    if (loop != 0 && issue->code->loop[loop - 1].begin == issue->pc)
        loop_begins(daws, issue->warp, loop);
    else if (!left && !passed)
        return;
    admit(daws);
}

static void access(struct tim_mech *mech, const struct tim_mech_access *a)
{
    struct daws *daws = (struct daws *)mech;
    unsigned loop = tim_loop_at(a->code, a->pc);
    bool lost = !a->hit && !a->merge && tim_vta_find(daws->vta, a->warp, a->line, true);

    if (loop != 0)
        tim_daws_access(&daws->tables, a->code->loop[loop - 1].begin, a, lost);
}

static void evict(struct tim_mech *mech, uint64_t line, unsigned owner)
{
    tim_vta_insert(((struct daws *)mech)->vta, owner, line);
}

/** Returns the first loop after @pc in the function that contains @pc, or NULL if there is none. */
static const struct tim_loop *loop_after(const struct tim_code *code, uint64_t pc)
{
    for (uint32_t i = 0; i < code->loop_count; i++)
        if (code->loop[i].begin > pc)
            return pc >= code->loop[i].from && pc < code->loop[i].to ? &code->loop[i] : NULL;
    return NULL;
}

/* Implements daws.closest: while some warp is in a loop, charges each ready warp whose next instruction is a load before a loop
 * as if it were in that loop. */
static bool picks(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    struct daws *daws = (struct daws *)mech;
    const struct tim_config *c = config_of(daws);
    const bool closest = c->daws_closest && daws->in_loop;
    bool changed = false;

    for (unsigned i = 0; closest && i < TIM_MAX_WARPS / 64 && i * 64 * c->issue_schedulers < c->core_warps; i++)
        for (LW_EACH_BIT(b, ready[i])) {
            unsigned warp = (i * 64 + (unsigned)b) * c->issue_schedulers + sched;
            struct entry *e = &daws->entry[warp];
            const struct tim_loop *loop;
            struct tim_mech_warp w;

            if (!e->lives || e->levels != 0 || (e->loop != 0 && !e->charged))
                continue;
            mech->core->look(mech->core->context, warp, &w);
            if (w.next == NULL || !tim_is_data_load(w.next))
                continue;
            loop = loop_after(w.code, w.pc);
            if (loop == NULL)
                continue;
            if (e->charged && e->loop == loop->begin && e->lanes == lw_popcount(w.lanes))
                continue;
            e->lanes = lw_popcount(w.lanes);
            e->code = w.code;
            tim_daws_take_profile(&daws->tables, w.code, loop);
            if (tim_daws_predict(&daws->tables, loop->begin, e->lanes) == 0)
                continue;
            set_entry(daws, e, loop, true);
            mech->core->count[TIM_CORE_daws_charges]++;
            changed = true;
        }
    if (changed)
        admit(daws);
    return changed;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    const struct entry *e = &((const struct daws *)mech)->entry[warp];

    return e->lives && !e->allowed && tim_is_data_load(next);
}

/* ---- for the debugger and tests ---------------------------------------------------------------- */

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct daws *daws = (const struct daws *)mech;
    const struct entry *e = &daws->entry[warp];
    uint64_t before = 0;

    for (unsigned i = 0; i < daws->live.count && daws->live.warp[i] != warp; i++)
        if (!is_free(daws, &daws->entry[daws->live.warp[i]]))
            before += daws->entry[daws->live.warp[i]].lines;
    if (e->loop != 0)
        lw_printf(out, "%u lines are predicted for the warp in its loop at 0x%" PRIx64 "; ", e->lines, e->loop);
    lw_printf(out, "%" PRIu64 " lines are predicted for older warps, and %u are available for all",
              before, config_of(daws)->daws_assoc * (config_of(daws)->l1_bytes / config_of(daws)->l1_line) / 100);
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    const struct daws *daws = (const struct daws *)mech;

    *name = index == 0 ? "daws: warps that may load" : "daws: number of predicted lines";
    *value = index == 0 ? daws->allowed : daws->sum;
    return true;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct daws *daws = (const struct daws *)mech;
    const struct tim_daws_tables *t = &daws->tables;

    lw_printf(out, "%u of %u warps may load; %" PRIu64 " lines are predicted\nwarp slot               loop  lines  lanes\n",
              daws->allowed, daws->live.count, daws->sum);
    for (unsigned i = 0; i < daws->live.count; i++) {
        const struct entry *e = &daws->entry[daws->live.warp[i]];

        lw_printf(out, "%9u %#18" PRIx64 " %6u %6u%s%s\n", daws->live.warp[i], e->loop, e->lines, e->lanes,
                  e->charged ? "  before it" : "", e->allowed ? "" : "  throttled");
    }
    for (unsigned i = 0; i < t->samples; i++) {
        lw_printf(out, "loop %#" PRIx64 ": locality %d", t->sample[i].loop, t->sample[i].locality);
        if (t->sample[i].warp >= 0)
            lw_printf(out, ", sampled by warp slot %d", t->sample[i].warp);
        lw_put(out, "\n");
    }
    for (unsigned i = 0; i < t->loads; i++)
        lw_printf(out, "load %#" PRIx64 " of loop %#" PRIx64 ": %s (%d), load group %u\n", t->load[i].pc, t->load[i].loop,
                  t->load[i].is_div ? "diverged" : "converged", t->load[i].div, t->load[i].rep);
}

struct tim_daws_tables *tim_daws_tables_of(struct tim_mech *mech)
{
    return &((struct daws *)mech)->tables;
}

unsigned tim_daws_footprint(const struct tim_mech *mech, unsigned warp, uint64_t *loop)
{
    const struct entry *e = &((const struct daws *)mech)->entry[warp];

    *loop = e->loop;
    return e->lines;
}

const struct tim_mechanism tim_daws = {
    .name = "daws", .summary = "divergence-aware warp scheduling: as many warps load as fit into L1 with their predicted footprints",
    .is_on = is_on, .create = create, .destroy = destroy, .block = block, .warp_begins = warp_begins,
    .warp_ends = warp_ends, .waits = waits, .issues = issues, .access = access, .evict = evict, .picks = picks,
    .holds = holds, .why = why, .gauge = gauge, .show = show,
};
