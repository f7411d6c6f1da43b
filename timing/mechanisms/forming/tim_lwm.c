/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large warp is lwm.warps warps of a block. They run in lockstep, and every instruction is compacted. The threads of a
 * large warp that are at its pc issue as sub-warps: a sub-warp takes, for each lane, a thread that has not issued yet. Threads at
 * other pcs wait.
 *
 *   lanes          0 1 2 3   pc                         0  1  2  3
 *   warp 0         x . x .   taken      sub-warps:      w0 w1 w0 w2   taken
 *   warp 1         . x . .   taken                      w2 .  .  .    taken
 *   warp 2         x . . x   taken
 *   all            others    other      wait
 *
 * A step is one instruction of a large warp: all threads that are at its pc when the step begins issue it. The next step is at
 * the lowest pc at which a thread can run. So the threads at this pc catch up with the threads at higher pcs. Threads that wait
 * at a barrier, for launches or after `yield` do not count.
 *
 * Source: specification of the book on GPU architectures, section 11.1.3. Our choices: a step is at the pc at which a SIMT stack
 * would run; a thread waits at bsync for the threads of its own warp; a large warp has warps of one scheduler; threads whose guard
 * is false take a lane. A thread that runs may wait in a loop for a thread that is throttled. Therefore, if the threads of a
 * large warp were not all at one pc for lwm.timeout cycles, none of them is throttled for the next lwm.timeout / 4 cycles.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BLOCKS = 64, NO_GROUP = 0xffff };

/** A large warp. */
struct group {
    unsigned count;            /* number of its warps that have begun */
    uint16_t slot[64];         /* [count] their slots */
    bool dirty;                /* a thread may be at another pc than at the last call of update() */
    bool apart;                /* the threads that can run are at several pcs */
    bool free;                 /* no thread is throttled, until cycle free_until */
    uint64_t pc;               /* UINT64_MAX: no thread can run */
    uint64_t apart_since, free_until;
};
struct lwm {
    struct tim_mech base;
    bool dirty;                              /* at least one large warp is dirty */
    uint16_t open[BLOCKS][TIM_MAX_SCHEDS];   /* by block and scheduler: the large warp that the next warp joins, or NO_GROUP */
    uint16_t group_of[TIM_MAX_WARPS];        /* by slot: large warp of the warp */
    uint64_t pending[TIM_MAX_WARPS];         /* by slot: threads that have not issued the instruction of the step */
    struct group group[];                    /* [warps] by slot of the first warp of the large warp */
};

static bool is_on(const struct tim_config *config)
{
    return config->lwm_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct lwm *lwm = calloc(1, sizeof *lwm + core->config->core_warps * sizeof lwm->group[0]);

    return lwm == NULL ? NULL : &lwm->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

static struct group *group_of(struct lwm *lwm, unsigned warp)
{
    return &lwm->group[lwm->group_of[warp]];
}

/* ---- the pc of a large warp --------------------------------------------------------------------------- */

/** If no thread is left that has to issue the instruction of the step, begins the next step by setting the pc of the large warp.
 *  Returns true if a step begins, for which a thread must be able to run. Also finds out whether the threads of the large warp
 *  are at several pcs. */
static bool find_pc(struct lwm *lwm, struct group *g)
{
    const struct tim_mech_core *core = lwm->base.core;
    uint64_t least = UINT64_MAX, most = 0;
    bool left = false;

    for (unsigned i = 0; i < g->count; i++) {
        struct emu_split_view views[EMU_MAX_LANES];
        const unsigned count = core->views(core->context, g->slot[i], views);

        for (unsigned k = 0; k < count; k++) {
            if (views[k].state != EMU_SPLIT_READY)
                continue;
            left |= views[k].pc == g->pc && (views[k].lanes & lwm->pending[g->slot[i]]) != 0;
            least = views[k].pc < least ? views[k].pc : least;
            most = views[k].pc > most ? views[k].pc : most;
        }
    }
    g->apart = least < most;
    if (left)
        return false;
    g->pc = least;
    for (unsigned i = 0; i < g->count; i++) {
        struct emu_split_view views[EMU_MAX_LANES];
        const unsigned count = core->views(core->context, g->slot[i], views);

        lwm->pending[g->slot[i]] = 0;
        for (unsigned k = 0; k < count; k++)
            if (views[k].state == EMU_SPLIT_READY && views[k].pc == least)
                lwm->pending[g->slot[i]] |= views[k].lanes;
    }
    return least != UINT64_MAX;
}

/** Finds the warps of a large warp whose running threads are not those of the step, and makes these warps select their threads
 *  again. */
static void reselect(struct lwm *lwm, struct group *g)
{
    const struct tim_mech_core *core = lwm->base.core;

    for (unsigned i = 0; i < g->count; i++) {
        struct tim_mech_warp w;

        core->look(core->context, g->slot[i], &w);
        if (w.splits > 1 && (w.pc != g->pc || (w.lanes & lwm->pending[g->slot[i]]) == 0))
            core->reselect(core->context, g->slot[i]);
    }
}

/** Brings a large warp up to date. Returns true if the warps that it throttles may have changed. */
static bool update(struct lwm *lwm, struct group *g)
{
    const struct tim_config *config = lwm->base.core->config;
    const uint64_t now = lwm->base.core->now;
    const bool was_apart = g->apart;
    bool changed = false;

    if (g->dirty && find_pc(lwm, g)) {
        lwm->base.core->count[TIM_CORE_lwm_steps]++;
        changed = true;
    }
    g->dirty = false;
    if (g->apart && !was_apart)
        g->apart_since = now;
    if (g->free && now >= g->free_until) {
        g->free = false;
        g->apart_since = now;
        changed = true;
    } else if (!g->free && g->apart && now >= g->apart_since + config->lwm_timeout) {
        g->free = changed = true;
        g->free_until = now + 1 + config->lwm_timeout / 4;
        lwm->base.core->count[TIM_CORE_lwm_releases]++;
    }
    if (changed)
        reselect(lwm, g);
    return changed;
}

/* ---- hooks ------------------------------------------------------------------------------------------- */

static void resides(struct tim_mech *mech, const struct tim_mech_block *block, bool begins)
{
    struct lwm *lwm = (struct lwm *)mech;

    for (unsigned s = 0; begins && s < TIM_MAX_SCHEDS; s++)
        lwm->open[block->place][s] = NO_GROUP;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct lwm *lwm = (struct lwm *)mech;
    uint16_t *open = &lwm->open[mech->core->block_of(mech->core->context, warp)][warp % mech->core->config->issue_schedulers];
    struct group *g;

    (void)age;
    if (*open == NO_GROUP || lwm->group[*open].count == mech->core->config->lwm_warps) {
        *open = (uint16_t)warp;
        lwm->group[warp] = (struct group){.pc = UINT64_MAX};
    }
    if (*open != warp)
        lwm->group[warp].count = 0; /* the slot was the first of a large warp of an earlier block */
    lwm->group_of[warp] = *open;
    g = &lwm->group[*open];
    g->slot[g->count++] = (uint16_t)warp;
    g->dirty = lwm->dirty = true;
}

static void touch(struct lwm *lwm, unsigned warp)
{
    group_of(lwm, warp)->dirty = lwm->dirty = true;
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    touch((struct lwm *)mech, warp);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    ((struct lwm *)mech)->pending[issue->warp] &= ~issue->mask;
    touch((struct lwm *)mech, issue->warp);
}

static void flows(struct tim_mech *mech, unsigned warp)
{
    touch((struct lwm *)mech, warp);
}

static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct lwm *lwm = (struct lwm *)mech;
    bool changed = false;

    (void)ready;
    lwm->dirty = false;
    for (unsigned i = 0; i < mech->core->config->core_warps; i++)
        if (lwm->group[i].count != 0)
            changed |= update(lwm, &lwm->group[i]);
    return changed;
}

static uint64_t next(struct tim_mech *mech, uint64_t since)
{
    const struct lwm *lwm = (const struct lwm *)mech;
    uint64_t at = lwm->dirty ? since + 1 : UINT64_MAX;

    for (unsigned i = 0; i < mech->core->config->core_warps; i++) {
        const struct group *g = &lwm->group[i];
        const uint64_t due = g->count == 0 ? 0 : g->free ? g->free_until : g->apart ? g->apart_since + mech->core->config->lwm_timeout : 0;

        at = due > since && due < at ? due : at;
    }
    return at;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    const struct group *g = group_of((struct lwm *)mech, warp);
    struct tim_mech_warp w;

    (void)what;
    if (g->free)
        return false;
    mech->core->look(mech->core->context, warp, &w);
    return w.pc != g->pc || (w.lanes & ((const struct lwm *)mech)->pending[warp]) == 0;
}

static int selects(struct tim_mech *mech, unsigned warp, const struct emu_split_view *views, unsigned count, int selected, uint64_t *lanes)
{
    const struct lwm *lwm = (const struct lwm *)mech;
    const struct group *g = group_of((struct lwm *)mech, warp);
    uint64_t least = UINT64_MAX;
    int best = selected;

    (void)lanes;
    for (unsigned i = 0; i < count && !g->free; i++) {
        if (views[i].state != EMU_SPLIT_READY)
            continue;
        if (views[i].pc == g->pc && (views[i].lanes & lwm->pending[warp]) != 0)
            return (int)views[i].id;
        if (views[i].pc < least) {
            least = views[i].pc;
            best = (int)views[i].id;
        }
    }
    return best;
}

static uint64_t accompanies(struct tim_mech *mech, unsigned leader, unsigned warp, uint64_t lanes, uint64_t taken)
{
    const struct lwm *lwm = (const struct lwm *)mech;

    if (lwm->group_of[leader] != lwm->group_of[warp])
        return 0;
    return lanes & ~taken & (lwm->group[lwm->group_of[warp]].free ? UINT64_MAX : lwm->pending[warp]);
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct group *g = group_of((struct lwm *)mech, warp);

    lw_printf(out, "its large warp of %u warps is at pc 0x%" PRIx64, g->count, g->pc);
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct lwm *lwm = (const struct lwm *)mech;
    const uint64_t *count = mech->core->count;

    lw_printf(out, "formed warps: %" PRIu64 ", with %" PRIu64 " lanes of companions; steps of large warps: %" PRIu64 "; times that no warp was throttled: %" PRIu64 "\n",
              count[TIM_CORE_formed_warps], count[TIM_CORE_formed_lanes], count[TIM_CORE_lwm_steps], count[TIM_CORE_lwm_releases]);
    for (unsigned i = 0; i < mech->core->config->core_warps; i++) {
        const struct group *g = &lwm->group[i];

        if (g->count == 0 || g->pc == UINT64_MAX)
            continue;
        lw_printf(out, "pc 0x%" PRIx64 "%s: warps", g->pc, g->free ? ", no warp is throttled" : "");
        for (unsigned k = 0; k < g->count; k++)
            lw_printf(out, " %u", g->slot[k]);
        lw_put(out, "\n");
    }
}

const struct tim_mechanism tim_lwm = {
    .name = "lwm", .summary = "large warps: warps of a block run in lockstep, and their threads are compacted at every instruction",
    .is_on = is_on, .create = create, .destroy = destroy, .resides = resides, .warp_begins = warp_begins, .warp_ends = warp_ends, .issues = issues,
    .flows = flows, .cycle = cycle, .next = next, .holds = holds, .selects = selects, .accompanies = accompanies,
    .packet = tim_mech_formed_packet, .packets_are_wide = true, .why = why, .show = show,
};
