/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mascar: memory-aware scheduling and cache access re-execution. While the memory system of the core is saturated, only one
 * warp, the owner, may access memory. So the data of one warp arrives together, and this warp computes while the next warp
 * loads:
 *
 *   not saturated   all warps issue; instructions that access memory issue before others
 *   saturated       only the owner issues instructions that access memory; all other instructions issue before these
 *                   the owner waits for its loads: the oldest warp that could access memory becomes the owner
 *
 *   owner  W0 ld ld ld use         W1 ld ld ld use         W2 ...
 *                     waits: W1             waits: W2
 *
 * The memory system is saturated while few MSHRs of L1 are free or the core's queue to the crossbar is full. The second part is
 * the re-execution queue (timing/core/lsu/tim_reexecute_body.h): loads whose accesses cannot be made do not block the load/store
 * unit. While the memory system is saturated, loads of warps other than the owner access L1 only if they do not send a request.
 * Source: specification of the book on GPU architectures, section 17.2. Our choices: a core has one owner; the queue to the
 * crossbar takes the place of the source's miss queue; accesses of shared memory and of constants count as computation.
 * Without new requests MSHRs become free, so saturation ends even if the owner does not access memory.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <inttypes.h>
#include <stdlib.h>

struct mascar {
    struct tim_mech base;
    bool saturated;
    int owner;       /* slot of the warp that may access memory, or -1 if there is none; valid while `saturated` is set */
    uint64_t counted; /* the counter of saturated cycles includes the cycles before this cycle */
    int last[TIM_MAX_SCHEDS]; /* by scheduler: slot of the warp that issued last, or -1 if there is none */
};

/** Returns whether the instruction may access memory other than shared memory and constants. */
static bool uses_memory(const struct tim_static *what)
{
    return what->path == TIM_PATH_MEMORY && what->type == TIM_TYPE_MEMORY && !what->of_constants && !what->to_constant;
}

static bool is_on(const struct tim_config *config)
{
    return config->mascar_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct mascar *mascar = calloc(1, sizeof *mascar);

    (void)core;
    if (mascar == NULL)
        return NULL;
    mascar->owner = -1;
    for (unsigned s = 0; s < TIM_MAX_SCHEDS; s++)
        mascar->last[s] = -1;
    return &mascar->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

static unsigned reexecutes(const struct tim_mech *mech)
{
    return mech->core->config->mascar_queue;
}

static bool may_miss(const struct tim_mech *mech, unsigned warp)
{
    const struct mascar *mascar = (const struct mascar *)mech;

    return !mascar->saturated || mascar->owner == (int)warp;
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    ((struct mascar *)mech)->last[issue->warp % mech->core->config->issue_schedulers] = (int)issue->warp;
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct mascar *mascar = (struct mascar *)mech;

    if (mascar->owner == (int)warp)
        mascar->owner = -1;
}

/** Adds the cycles before @before to the counter of saturated cycles. */
static void count_until(struct mascar *mascar, uint64_t before)
{
    if (mascar->saturated && before > mascar->counted)
        mascar->base.core->count[TIM_CORE_mascar_saturated] += before - mascar->counted;
    mascar->counted = before > mascar->counted ? before : mascar->counted;
}

static void account(struct tim_mech *mech)
{
    count_until((struct mascar *)mech, mech->core->over);
}

/** Returns whether the owner waits for data or for other lanes, so that another warp may access memory. */
static bool owner_waits(const struct mascar *mascar)
{
    const struct tim_mech_core *core = mascar->base.core;
    struct tim_mech_warp w;

    core->look(core->context, (unsigned)mascar->owner, &w);
    return !w.used || w.ended || w.lanes == 0 || w.reason == TIM_STALL_LOAD || w.reason == TIM_STALL_FENCE;
}

/** Returns the slot of the oldest warp that could access memory now, or -1 if there is none. */
static int oldest(const struct mascar *mascar)
{
    const struct tim_mech_core *core = mascar->base.core;
    uint64_t least = UINT64_MAX;
    int found = -1;

    for (unsigned warp = 0; warp < core->config->core_warps; warp++) {
        struct tim_mech_warp w;

        core->look(core->context, warp, &w);
        if (!w.used || w.ended || w.lanes == 0 || w.age >= least || !uses_memory(w.next) ||
            !core->could_issue(core->context, warp))
            continue;
        least = w.age;
        found = (int)warp;
    }
    return found;
}

static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct mascar *mascar = (struct mascar *)mech;
    const struct tim_mech_core *core = mech->core;
    const bool before = mascar->saturated;
    const int owned = mascar->owner;

    (void)ready;
    count_until(mascar, core->now);
    mascar->saturated = core->free_mshrs(core->context) <= core->config->mascar_free || !core->can_send(core->context);
    if (!mascar->saturated)
        mascar->owner = -1;
    else if (mascar->owner < 0 || owner_waits(mascar))
        mascar->owner = oldest(mascar);
    core->count[TIM_CORE_mascar_owners] += mascar->owner >= 0 && mascar->owner != owned;
    return mascar->saturated != before || mascar->owner != owned;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    return !may_miss(mech, warp) && uses_memory(next);
}

/** Returns the bit in @set of the warp that issued last or, if that warp is not in @set, of the oldest warp in @set; -1 if @set
 *  is empty. */
static int greedy_then_oldest(const struct mascar *mascar, unsigned sched, const uint64_t *set)
{
    const struct tim_mech_core *core = mascar->base.core;
    uint64_t least = UINT64_MAX;
    int found = -1;

    for (unsigned i = 0; i < TIM_MAX_WARPS / 64 && i * 64 * core->config->issue_schedulers < core->config->core_warps; i++)
        for (LW_EACH_BIT(b, set[i])) {
            const unsigned warp = tim_mech_slot(core->config, sched, i, (unsigned)b);
            struct tim_mech_warp w;

            if ((int)warp == mascar->last[sched])
                return (int)(i * 64 + (unsigned)b);
            core->look(core->context, warp, &w);
            if (w.age >= least)
                continue;
            least = w.age;
            found = (int)(i * 64 + (unsigned)b);
        }
    return found;
}

static int chooses(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    const struct mascar *mascar = (const struct mascar *)mech;
    const struct tim_mech_core *core = mech->core;
    uint64_t memory[TIM_MAX_WARPS / 64] = {0}, other[TIM_MAX_WARPS / 64] = {0};
    int pick;

    if (!core->config->mascar_order)
        return TIM_CHOICE_OF_POLICY;
    for (unsigned i = 0; i < TIM_MAX_WARPS / 64 && i * 64 * core->config->issue_schedulers < core->config->core_warps; i++)
        for (LW_EACH_BIT(b, ready[i])) {
            struct tim_mech_warp w;

            core->look(core->context, tim_mech_slot(core->config, sched, i, (unsigned)b), &w);
            *(uses_memory(w.next) ? &memory[i] : &other[i]) |= UINT64_C(1) << b;
        }
    pick = greedy_then_oldest(mascar, sched, mascar->saturated ? other : memory);
    return pick >= 0 ? pick : greedy_then_oldest(mascar, sched, mascar->saturated ? memory : other);
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct mascar *mascar = (const struct mascar *)mech;

    (void)warp;
    if (mascar->owner < 0)
        lw_put(out, "the memory system is saturated, and no warp is the owner, which may access memory");
    else
        lw_printf(out, "the memory system is saturated, and only warp %d, the owner, may access memory", mascar->owner);
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    const struct mascar *mascar = (const struct mascar *)mech;

    *name = index == 0 ? "mascar: memory system saturated" : "mascar: owner";
    *value = index == 0 ? mascar->saturated : mascar->owner < 0 ? mech->core->config->core_warps : (uint64_t)mascar->owner;
    return index < 2;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct mascar *mascar = (const struct mascar *)mech;
    const uint64_t *count = mech->core->count;

    if (!mascar->saturated)
        lw_put(out, "the memory system is not saturated; ");
    else if (mascar->owner < 0)
        lw_put(out, "the memory system is saturated, without an owner; ");
    else
        lw_printf(out, "the memory system is saturated, owner: warp %d; ", mascar->owner);
    lw_printf(out, "saturated cycles: %" PRIu64 "; owners: %" PRIu64 "; loads moved to the re-execution queue: %" PRIu64 "\n",
              count[TIM_CORE_mascar_saturated], count[TIM_CORE_mascar_owners], count[TIM_CORE_mascar_moves]);
}

const struct tim_mechanism tim_mascar = {
    .name = "mascar",
    .summary = "Mascar: while the memory system is saturated, one warp may access memory, and blocked loads are executed again",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_ends = warp_ends, .issues = issues, .account = account,
    .cycle = cycle, .holds = holds, .chooses = chooses, .reexecutes = reexecutes, .may_miss = may_miss,
    .why = why, .gauge = gauge, .show = show,
};
