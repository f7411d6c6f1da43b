/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic warp formation: threads of several warps that are at the same pc issue together. The pool of a scheduler is the set of
 * its warps, sorted by pc. The heuristic chooses the pc, and thereby the leading warp. Threads at the same pc join the leading
 * warp if their lane is free (timing/tables/tim_formed_priv.h).
 *
 *   lanes          0 1 2 3   pc                    0  1  2  3
 *   warp 0         x . x .   taken     formed:     w0 w1 w0 w1   taken
 *   warp 1         . x . x   taken
 *   warp 0         . x . x   other     formed:     w1 w0 w1 w0   other
 *   warp 1         x . x .   other
 *
 * Source: specification of the book on GPU architectures, section 11.1.1, which does not name the five heuristics of the
 * original. Our choices: a thread waits at bsync for the threads of its own warp. So each warp has its own threads again
 * where control flow converges. A scheduler forms warps only from its own warps. A warp leads with one of its splits at a
 * time. If the warp has a split at the pc that the scheduler issued last, it leads with this split; otherwise with the split
 * that the heuristic prefers. So threads that could not join, because their lane was taken, issue next.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdlib.h>

/** Threads of a warp at one pc. */
struct group {
    uint64_t pc;
    unsigned threads;
};
struct dwf {
    struct tim_mech base;
    struct group *group;            /* [warps][EMU_MAX_LANES] the ready splits of each warp that has several splits */
    uint8_t groups[TIM_MAX_WARPS];  /* by slot: number of elements of `group` */
    uint64_t pc[TIM_MAX_SCHEDS];    /* pc of the instruction that each scheduler issued last */
    uint64_t last[TIM_MAX_WARPS];   /* by slot: value of `issues` at the warp's last issue */
    uint64_t issues;                /* number of instructions issued on the core so far */
};

static bool is_on(const struct tim_config *config)
{
    return config->dwf_on;
}

static void destroy(struct tim_mech *mech)
{
    struct dwf *dwf = (struct dwf *)mech;

    free(dwf->group);
    free(dwf);
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct dwf *dwf = calloc(1, sizeof *dwf);

    if (dwf == NULL)
        return NULL;
    dwf->group = calloc((size_t)core->config->core_warps * EMU_MAX_LANES, sizeof *dwf->group);
    if (dwf->group != NULL)
        return &dwf->base;
    free(dwf);
    return NULL;
}

/* ---- the threads of the pool by pc ------------------------------------------------------------------------------- */

/** Returns the number of threads at @pc that can run, in all warps of scheduler @sched. */
static unsigned threads_at(const struct dwf *dwf, unsigned sched, uint64_t pc)
{
    const struct tim_mech_core *core = dwf->base.core;
    unsigned threads = 0;

    for (unsigned warp = sched; warp < core->config->core_warps; warp += core->config->issue_schedulers) {
        const struct group *groups = &dwf->group[warp * EMU_MAX_LANES];
        struct tim_mech_warp w;

        core->look(core->context, warp, &w);
        if (w.lanes == 0)
            continue;
        if (w.splits == 1)
            threads += w.pc == pc ? lw_popcount(w.lanes) : 0;
        for (unsigned i = 0; w.splits != 1 && i < dwf->groups[warp]; i++)
            threads += groups[i].pc == pc ? groups[i].threads : 0;
    }
    return threads;
}

/** Returns the rank of a warp or split at @pc. The one with the lowest rank issues first. */
static uint64_t rank(const struct dwf *dwf, unsigned sched, uint64_t pc)
{
    switch (dwf->base.core->config->dwf_heuristic) {
    case TIM_DWF_MAJORITY: /* all threads at the chosen pc issue before another pc is chosen */
        return pc == dwf->pc[sched] ? 0 : UINT32_MAX - threads_at(dwf, sched, pc);
    case TIM_DWF_MINORITY:
        return pc == dwf->pc[sched] ? 0 : threads_at(dwf, sched, pc);
    case TIM_DWF_TIME:
    case TIM_DWF_POLICY:
        return pc != dwf->pc[sched];
    default:
        return pc;
    }
}

static int chooses(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    const struct dwf *dwf = (const struct dwf *)mech;
    const struct tim_mech_core *core = mech->core;
    const bool by_time = core->config->dwf_heuristic == TIM_DWF_TIME;
    uint64_t least = UINT64_MAX, oldest = 0, last_pc = UINT64_MAX, last_rank = 0;
    int best = -1;

    if (core->config->dwf_heuristic == TIM_DWF_POLICY)
        return TIM_CHOICE_OF_POLICY;
    for (unsigned word = 0; word * 64 * core->config->issue_schedulers < core->config->core_warps; word++)
        for (LW_EACH_BIT(b, ready[word])) {
            const unsigned warp = tim_mech_slot(core->config, sched, word, (unsigned)b);
            struct tim_mech_warp w;

            core->look(core->context, warp, &w);
            if (w.pc != last_pc)
                last_rank = by_time ? dwf->last[warp] : rank(dwf, sched, w.pc);
            last_pc = by_time ? UINT64_MAX : w.pc;
            if (best >= 0 && (last_rank > least || (last_rank == least && w.age > oldest)))
                continue;
            least = last_rank;
            oldest = w.age;
            best = (int)(word * 64 + (unsigned)b);
        }
    return best;
}

static int selects(struct tim_mech *mech, unsigned warp, const struct emu_split_view *views, unsigned count, int selected, uint64_t *lanes)
{
    struct dwf *dwf = (struct dwf *)mech;
    const unsigned sched = warp % mech->core->config->issue_schedulers;
    uint64_t least = UINT64_MAX;
    int best = selected;

    (void)lanes;
    if (count == 1)
        return selected;
    dwf->groups[warp] = 0;
    for (unsigned i = 0; i < count; i++)
        if (views[i].state == EMU_SPLIT_READY)
            dwf->group[warp * EMU_MAX_LANES + dwf->groups[warp]++] = (struct group){views[i].pc, lw_popcount(views[i].lanes)};
    for (unsigned i = 0; i < count; i++) {
        const uint64_t at = views[i].state == EMU_SPLIT_READY ? rank(dwf, sched, views[i].pc) : UINT64_MAX;

        if (at < least || (at == least && (int)views[i].id == selected)) {
            least = at;
            best = (int)views[i].id;
        }
    }
    return best;
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct dwf *dwf = (struct dwf *)mech;

    dwf->pc[issue->warp % mech->core->config->issue_schedulers] = issue->pc;
    dwf->last[issue->warp] = ++dwf->issues;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct dwf *dwf = (struct dwf *)mech;

    (void)age;
    dwf->last[warp] = dwf->issues;
}

static uint64_t accompanies(struct tim_mech *mech, unsigned leader, unsigned warp, uint64_t lanes, uint64_t taken)
{
    const uint64_t free_lanes = lanes & ~taken;

    (void)leader, (void)warp;
    if (free_lanes == lanes)
        return lanes;
    mech->core->count[TIM_CORE_dwf_collisions] += lw_popcount(lanes & taken);
    return mech->core->config->dwf_threads ? free_lanes : 0;
}

/** Returns the lowest pc, not below @from, at which a thread of scheduler @sched's warps can run, or UINT64_MAX if none can. */
static uint64_t next_pc(const struct dwf *dwf, unsigned sched, uint64_t from)
{
    const struct tim_mech_core *core = dwf->base.core;
    uint64_t least = UINT64_MAX;

    for (unsigned warp = sched; warp < core->config->core_warps; warp += core->config->issue_schedulers) {
        struct tim_mech_warp w;

        core->look(core->context, warp, &w);
        if (w.lanes != 0 && w.splits == 1 && w.pc >= from && w.pc < least)
            least = w.pc;
        for (unsigned i = 0; w.lanes != 0 && w.splits != 1 && i < dwf->groups[warp]; i++) {
            const uint64_t pc = dwf->group[warp * EMU_MAX_LANES + i].pc;

            least = pc >= from && pc < least ? pc : least;
        }
    }
    return least;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct dwf *dwf = (const struct dwf *)mech;
    const struct tim_mech_core *core = mech->core;

    lw_printf(out, "formed warps: %llu, with %llu lanes of companions; lanes that were taken: %llu\n",
              (unsigned long long)core->count[TIM_CORE_formed_warps], (unsigned long long)core->count[TIM_CORE_formed_lanes],
              (unsigned long long)core->count[TIM_CORE_dwf_collisions]);
    for (unsigned s = 0; s < core->config->issue_schedulers; s++) {
        lw_printf(out, "scheduler %u, last pc 0x%llx; threads by pc:", s, (unsigned long long)dwf->pc[s]);
        for (uint64_t pc = next_pc(dwf, s, 0); pc != UINT64_MAX; pc = next_pc(dwf, s, pc + 1))
            lw_printf(out, " 0x%llx: %u", (unsigned long long)pc, threads_at(dwf, s, pc));
        lw_put(out, "\n");
    }
}

const struct tim_mechanism tim_dwf = {
    .name = "dwf", .summary = "dynamic warp formation: threads of several warps that are at the same pc issue together, each in its lane",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .issues = issues, .chooses = chooses,
    .accompanies = accompanies, .selects = selects, .packet = tim_mech_formed_packet, .packets_are_wide = true, .show = show,
};
