/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp schedulers. Source: specifications of the book, sections 7 and 17.2, and of the warp scheduling thesis, section 3.
 * Where these sources leave a choice open, a comment states what this model does.
 */
#include "timing/policies/tim_sched_priv.h"

/** Returns the first ready warp in [from, end); @end if there is none. */
static unsigned next_ready(const struct tim_sched_view *view, unsigned from, unsigned end)
{
    while (from < end) {
        uint64_t rest = view->ready[from / 64] >> from % 64;

        if (rest != 0) {
            from += lw_lowest(rest);
            return from < end ? from : end;
        }
        from = (from / 64 + 1) * 64;
    }
    return end;
}

/** Returns the first ready warp after @last in the cyclic order of warps [first, first + count), or -1 if no warp is ready. */
static int rotate(const struct tim_sched_view *view, int last, unsigned first, unsigned count)
{
    unsigned from = last < (int)first || last + 1 >= (int)(first + count) ? first
                                                                           : (unsigned)last + 1;
    unsigned w = next_ready(view, from, first + count);

    if (w < first + count)
        return (int)w;
    w = next_ready(view, first, from);
    return w < from ? (int)w : -1;
}

/** Returns the oldest ready warp in [first, first + count), or -1 if no warp is ready. Age counts from the assignment of the
 *  block, so a new warp is young even if its slot was in use before. */
static int oldest(const struct tim_sched_view *view, unsigned first, unsigned count)
{
    uint64_t least = UINT64_MAX;
    unsigned end = first + count;
    int found = -1;

    for (unsigned word = first / 64; word * 64 < end; word++) {
        uint64_t set = view->ready[word];

        if (word == first / 64)
            set &= ~lw_mask(first % 64);
        if (end - word * 64 < 64)
            set &= lw_mask(end - word * 64);
        for (LW_EACH_BIT(b, set)) {
            unsigned w = word * 64 + (unsigned)b;

            if (view->age[w] < least) { /* all ages differ, so ties need no rule */
                least = view->age[w];
                found = (int)w;
            }
        }
    }
    return found;
}

/** Selects the next ready warp in rotation (loose round robin). */
static int pick_lrr(struct tim_sched *sched, const struct tim_sched_view *view)
{
    int w = rotate(view, sched->last, 0, view->count);

    if (w >= 0)
        sched->last = w;
    return w;
}

/** Selects the warp that issued last if it is ready, else the oldest ready warp (greedy then oldest). */
static int pick_gto(struct tim_sched *sched, const struct tim_sched_view *view)
{
    int w = sched->last;

    if (w < 0 || !tim_sched_is_ready(view, (unsigned)w))
        w = oldest(view, 0, view->count);
    if (w >= 0)
        sched->last = w;
    return w;
}

/** Selects the warp that issued last if it is ready, else the youngest ready warp. The youngest warp is the one that was
 *  assigned last; within a block, it is the warp with the highest number. Source: Huerta et al., MICRO 2025, section 5.1.2. The
 *  source does not order warps of different blocks; this model orders them by age. */
static int pick_cggty(struct tim_sched *sched, const struct tim_sched_view *view)
{
    uint64_t most = 0;
    int w = sched->last;

    if (w >= 0 && tim_sched_is_ready(view, (unsigned)w))
        return w;
    w = -1;
    for (unsigned word = 0; word * 64 < view->count; word++)
        for (LW_EACH_BIT(b, view->ready[word]))
            if (w < 0 || view->age[word * 64 + b] > most) { /* all ages differ, so ties need no rule */
                w = (int)(word * 64 + b);
                most = view->age[w];
            }
    if (w >= 0)
        sched->last = w;
    return w;
}

/* ---- two levels: fetch groups of neighbouring slots ------------------------------------------ */

static int pick_in_group(const struct tim_sched *sched, const struct tim_sched_view *view,
                         unsigned group, bool current)
{
    unsigned size = view->config->issue_group, first = group * size;
    unsigned count = first + size <= view->count ? size : view->count - first;
    int last = current ? sched->last_in_group : -1;

    if (view->config->issue_inner == TIM_ORDER_LRR)
        return rotate(view, last, first, count);
    if (last >= 0 && tim_sched_is_ready(view, (unsigned)last))
        return last;
    return oldest(view, first, count);
}

/** Returns the age of the oldest live warp of a fetch group. */
static uint64_t group_age(const struct tim_sched_view *view, unsigned group)
{
    unsigned size = view->config->issue_group;
    uint64_t age = UINT64_MAX;

    for (unsigned w = group * size; w < (group + 1) * size && w < view->count; w++)
        if (view->live[w] && view->age[w] < age)
            age = view->age[w];
    return age;
}

/** Selects a warp of the current fetch group or, if none of its warps is ready, of the next fetch group that has a ready warp, in
 *  rotation or by age (issue.outer). */
static int pick_two_level(struct tim_sched *sched, const struct tim_sched_view *view)
{
    unsigned size = view->config->issue_group, groups = (view->count + size - 1) / size;
    unsigned found = 0;
    int w = sched->group < 0 ? -1 : pick_in_group(sched, view, (unsigned)sched->group, true);

    if (w >= 0) {
        found = (unsigned)sched->group;
    } else {
        uint64_t age = UINT64_MAX;
        for (unsigned k = 1; k <= groups; k++) {
            unsigned g = (unsigned)(sched->group + (int)k + (int)groups) % groups;
            int one = pick_in_group(sched, view, g, false);
            if (one < 0)
                continue;
            if (view->config->issue_outer == TIM_ORDER_LRR) {
                w = one;
                found = g;
                break;
            }
            if (group_age(view, g) < age || w < 0) {
                age = group_age(view, g);
                w = one;
                found = g;
            }
        }
    }
    if (w >= 0) {
        sched->group = (int)found;
        sched->last = sched->last_in_group = w;
    }
    return w;
}

/** Selects a warp of the active pool. timing/mechanisms/tim_pools.c has removed all other warps from view->ready. */
static int pick_active(struct tim_sched *sched, const struct tim_sched_view *view)
{
    return view->config->issue_inner == TIM_ORDER_LRR ? pick_lrr(sched, view) : pick_gto(sched, view);
}

/* clang-format off */
const struct tim_sched_policy tim_sched_policies[] = {
    {"lrr",       "loose round robin",                                        pick_lrr},
    {"gto",       "greedy, then the oldest",                                  pick_gto},
    {"two_level", "fetch groups: one fetch group issues until all its warps wait, then another", pick_two_level},
    {"swl",       "greedy, then the oldest (gto), among the issue.limit oldest warps of the core",       pick_gto},
    {"cggty",     "greedy, then the youngest, as permitted by the control field",  pick_cggty},
    {"active_pending", "a pool of issue.active warps; a warp that waits for memory outside the core leaves the pool", pick_active},
};
/* clang-format on */

bool tim_is_scheduler(const char *name)
{
    for (unsigned i = 0; i < LW_COUNT_OF(tim_sched_policies); i++)
        if (strcmp(tim_sched_policies[i].name, name) == 0)
            return true;
    return false;
}
