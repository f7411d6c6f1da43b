/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choice of the split that gets the time slice: the table of policies, selection, quantum and fairness limit, sleeping splits,
 * and steps of parts of a split (MACHINE 1, 2).
 */
#include "emu/simt/emu_split_priv.h"

/* ---- policies ----------------------------------------------------------------------- */

static unsigned low_of(const struct emu_split *s)
{
    return lw_lowest(s->lanes);
}

/** Rotation by lowest lane. The first split is the one whose lowest lane is the next above the lowest lane of the split that was
 *  selected last. If there is no such split, the split with the lowest lane is first. */
static bool before_rr(const struct emu_warp *w, const struct emu_split *a,
                      const struct emu_split *b)
{
    bool wrap_a = low_of(a) <= w->last_low, wrap_b = low_of(b) <= w->last_low;

    return wrap_a != wrap_b ? wrap_b : low_of(a) < low_of(b);
}

static bool before_minpc(const struct emu_warp *w, const struct emu_split *a,
                         const struct emu_split *b)
{
    (void)w;
    return a->pc != b->pc ? a->pc < b->pc : low_of(a) < low_of(b);
}

static bool before_maxpc(const struct emu_warp *w, const struct emu_split *a,
                         const struct emu_split *b)
{
    (void)w;
    return a->pc != b->pc ? a->pc > b->pc : low_of(a) < low_of(b);
}

/** Compares the ranks of the basic blocks in which the splits are (isa_object_ranks); if the ranks are equal, the lower pc is
 *  first. */
static bool before_rank(const struct emu_warp *w, const struct emu_split *a,
                        const struct emu_split *b)
{
    const uint32_t *rank = w->code->program->rank;

    return rank != NULL && rank[a->pc] != rank[b->pc] ? rank[a->pc] < rank[b->pc] : before_minpc(w, a, b);
}

static bool is_at_bsync(const struct emu_warp *w, const struct emu_split *s)
{
    return w->code->insn[s->pc].op == ISA_BSYNC;
}
static bool before_converge(const struct emu_warp *w, const struct emu_split *a,
                            const struct emu_split *b)
{
    const bool at_a = is_at_bsync(w, a), at_b = is_at_bsync(w, b);

    return at_a != at_b ? at_a : before_rank(w, a, b);
}

static bool before_most(const struct emu_warp *w, const struct emu_split *a,
                        const struct emu_split *b)
{
    unsigned n_a = lw_popcount(a->lanes), n_b = lw_popcount(b->lanes);

    (void)w;
    return n_a != n_b ? n_a > n_b : low_of(a) < low_of(b);
}

static bool before_stack(const struct emu_warp *w, const struct emu_split *a,
                         const struct emu_split *b)
{
    (void)w;
    return a->seq != b->seq ? a->seq > b->seq : low_of(a) < low_of(b);
}

/* clang-format off */
static const struct emu_policy policies[] = {
    {"converge",   "a split at a convergence barrier, otherwise the split in the earliest block; chosen after each instruction", 64, false, true, before_converge},
    {"rr_quantum", "round-robin by lowest lane, after a quantum of instructions",   64, false, false, before_rr},
    {"rr",         "round-robin by lowest lane, after each instruction",             1, false, false, before_rr},
    {"minpc",      "the split with the lowest pc, until it blocks",                         0, false, false, before_minpc},
    {"minpc_step", "the split with the lowest pc, chosen after each instruction",     1, false, false, before_minpc},
    {"maxpc",      "the split with the highest pc, until it blocks",                        0, false, false, before_maxpc},
    {"most_lanes", "the split with the most lanes, until it blocks",                     0, false, false, before_most},
    {"stack_like", "the split that was created last, as with a SIMT stack",    0, true,  false, before_stack},
};
/* clang-format on */

const struct emu_policy emu_policy_frontier = {"frontier", "the split in the earliest block, chosen after each instruction", 1, false,
                                               false, before_rank};

const char *const emu_policy_names[] = {"converge",   "rr_quantum", "rr",         "minpc", "minpc_step",
                                        "maxpc",      "most_lanes", "stack_like", NULL};
_Static_assert(LW_COUNT_OF(emu_policy_names) == LW_COUNT_OF(policies) + 1, "one name a row");

const struct emu_policy *emu_policy_find(const char *name)
{
    for (unsigned i = 0; i < LW_COUNT_OF(policies); i++)
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    return NULL;
}

/* ---- waking ------------------------------------------------------------------------- */

/** Makes splits @ids ready without merging any of these splits. The split with the lowest lane gets the first sequence number. */
static void wake(struct emu_warp *w, uint64_t ids)
{
    uint8_t order[EMU_MAX_LANES];
    unsigned count = emu_split_by_low(w, ids, order);

    for (unsigned i = 0; i < count; i++) {
        struct emu_split *s = &w->split[order[i]];
        split_set_state(w, order[i], EMU_SPLIT_READY);
        s->since = w->retired;
        s->seq = ++w->seq_counter;
    }
    if (w->reconv->woken != NULL)
        w->reconv->woken(w);
}

static void wake_sleepers(struct emu_warp *w)
{
    uint64_t now = split_now(w), due = 0;

    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_SLEEPING]))
        if (w->split[id].wake <= now)
            due |= split_bit((unsigned)id);
    if (due != 0)
        wake(w, due);
}

/** For a pc at which other lanes wait for @lanes: returns true if one of @lanes may still reach the pc, because its split is
 *  ready, has yielded, sleeps, or waits for launches. */
static bool on_the_way(const struct emu_warp *w, uint64_t lanes)
{
    uint64_t moving = w->split_in[EMU_SPLIT_READY] | w->split_in[EMU_SPLIT_YIELDED] |
                      w->split_in[EMU_SPLIT_SLEEPING] | w->split_in[EMU_SPLIT_LAUNCH];

    return (emu_split_lanes(w, moving) & lanes) != 0;
}

/** A step of some lanes divides a split into parts, which then wait for each other in the state SUSPENDED. This function wakes each
 *  suspended part whose pc no other part can reach any more, because the other parts have diverged, are blocked, or have exited.
 *  A part waits without a limit for parts that are on the way, for example in a long loop: the instruction at which it waits, such as
 *  a scalar write, would fault without their lanes. */
static void wake_suspended(struct emu_warp *w)
{
    uint64_t due = 0;

    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_SUSPENDED])) {
        const struct emu_split *s = &w->split[id];
        if (!on_the_way(w, s->family & ~s->lanes))
            due |= split_bit((unsigned)id);
    }
    for (LW_EACH_BIT(id, due))
        w->split[id].family = 0;
    if (due != 0)
        wake(w, due);
}

/** If no split of the block can run before a sleeping split wakes, advances the block's time to the first wake-up. */
static void jump_time(const struct emu_warp *mine)
{
    struct emu_block *block = mine->block;
    uint64_t first = UINT64_MAX, now = split_now(mine);

    for (unsigned i = 0; i < block->warp_count; i++) {
        const struct emu_warp *w = &block->warp[i];
        if (w->split_in[EMU_SPLIT_READY] | w->split_in[EMU_SPLIT_YIELDED])
            return;
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_SUSPENDED]))
            if (!on_the_way(w, w->split[id].family & ~w->split[id].lanes))
                return;
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_SLEEPING]))
            first = w->split[id].wake < first ? w->split[id].wake : first;
    }
    if (first > now)
        block->sleep_offset += first - now;
}

/* ---- selection ---------------------------------------------------------------------- */

/** Writes to @out those properties of the split that splits @ids would form together which policies compare. Splits @ids are
 *  ready at the same pc, and are merged if the policy selects them. */
static void join(const struct emu_warp *w, uint64_t ids, struct emu_split *out)
{
    const struct emu_split *s = &w->split[lw_lowest(ids)];

    out->pc = s->pc;
    out->lanes = s->lanes;
    out->seq = s->seq;
    out->since = s->since;
    for (LW_EACH_BIT(id, ids & (ids - 1))) {
        s = &w->split[id];
        out->lanes |= s->lanes;
        out->seq = s->seq > out->seq ? s->seq : out->seq;
        out->since = s->since < out->since ? s->since : out->since;
    }
}

/** Merges splits @ids, which are ready or suspended at one pc, into one split with the lowest id. */
static unsigned merge(struct emu_warp *w, uint64_t ids)
{
    unsigned id = lw_lowest(ids);
    struct emu_split *k = &w->split[id];

    for (LW_EACH_BIT(i, ids & (ids - 1))) {
        struct emu_split *s = &w->split[i];
        if (k->family != 0 || s->family != 0)
            k->family |= s->family | k->lanes | s->lanes;
        if (w->reconv->merged != NULL)
            w->reconv->merged(w, id, (unsigned)i);
        k->lanes |= s->lanes;
        k->seq = s->seq > k->seq ? s->seq : k->seq;
        emu_split_drop(w, (unsigned)i);
        w->core->stats.merges++;
    }
    if ((k->family & w->live & ~k->lanes) == 0)
        k->family = 0;
    return id;
}

static bool is_late(const struct emu_warp *w, const struct emu_split *c)
{
    return w->window != 0 && c->since + w->window <= w->retired;
}

/** Returns true if candidate @a precedes @b: splits that have reached the fairness limit come first. */
static bool goes_before(const struct emu_warp *w, const struct emu_split *a,
                        const struct emu_split *b)
{
    bool late_a = is_late(w, a), late_b = is_late(w, b);

    if (late_a != late_b)
        return late_a;
    if (late_a)
        return a->since != b->since ? a->since < b->since : low_of(a) < low_of(b);
    return w->policy->before(w, a, b);
}

static bool may_merge(const struct emu_warp *w, const struct emu_split *a, const struct emu_split *b)
{
    return a->pc == b->pc && a->flags == b->flags && (w->reconv->may_merge == NULL || w->reconv->may_merge(w, a, b));
}

/** Chooses among several ready splits, and merges the splits of the chosen candidate. Returns the id of the merged split. */
static unsigned choose(struct emu_warp *w, uint64_t ready)
{
    struct emu_split joined[2];
    const struct emu_split *best = &w->split[lw_lowest(ready)];
    uint64_t best_ids = 0, rest = ready & (ready - 1);
    unsigned spare = 0;

    if ((rest & (rest - 1)) == 0) { /* two splits: the usual case */
        const struct emu_split *other = &w->split[lw_lowest(rest)];
        if (w->merge && may_merge(w, best, other))
            return merge(w, ready);
        return goes_before(w, other, best) ? other->id : best->id;
    }
    while (ready != 0) {
        const struct emu_split *c = &w->split[lw_lowest(ready)];
        uint64_t ids = split_bit(c->id);

        if (w->merge)
            for (LW_EACH_BIT(k, ready & (ready - 1)))
                if (may_merge(w, &w->split[k], c))
                    ids |= split_bit((unsigned)k);
        ready &= ~ids;
        if (ids & (ids - 1)) {
            join(w, ids, &joined[spare]);
            c = &joined[spare];
        }
        if (best_ids != 0 && !goes_before(w, c, best))
            continue;
        best = c;
        best_ids = ids;
        if (c == &joined[spare])
            spare ^= 1;
    }
    return merge(w, best_ids);
}

static void run_split(struct emu_warp *w, unsigned id)
{
    struct emu_split *s = &w->split[id];

    w->turn_used = w->policy->steady && !is_late(w, s) ? w->quantum : 0;
    s->since = w->retired;
    w->running = (int)id;
    w->last_low = low_of(s);
    w->di = w->code->insn + s->pc;
    emu_warp_set_lanes(w, s->lanes);
}

bool emu_split_select(struct emu_warp *w)
{
    uint64_t ready;

    if (w->running >= 0)
        return true;
    if (w->split_in[EMU_SPLIT_SLEEPING] != 0)
        wake_sleepers(w);
    if (w->split_in[EMU_SPLIT_SUSPENDED] != 0)
        wake_suspended(w);
    if (w->split_in[EMU_SPLIT_READY] == 0) {
        if (w->split_in[EMU_SPLIT_YIELDED] != 0) {
            wake(w, w->split_in[EMU_SPLIT_YIELDED]);
        } else if (w->split_in[EMU_SPLIT_SLEEPING] != 0) {
            jump_time(w);
            wake_sleepers(w);
        }
    }
    ready = w->split_in[EMU_SPLIT_READY];
    if (ready == 0)
        return false;
    run_split(w, ready & (ready - 1) ? choose(w, ready) : lw_lowest(ready));
    return true;
}

bool emu_split_join(struct emu_warp *w)
{
    uint64_t ids = 0;

    if (w->running < 0 || !w->merge || w->split_count == 1)
        return false;
    w->split[w->running].pc = emu_split_pc(w, (unsigned)w->running);
    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_READY] & ~split_bit((unsigned)w->running)))
        if (may_merge(w, &w->split[id], &w->split[w->running]))
            ids |= split_bit((unsigned)id);
    if (ids == 0)
        return false;
    ids |= split_bit((unsigned)w->running);
    emu_split_block(w);
    run_split(w, merge(w, ids));
    return true;
}

bool emu_block_can_run(const struct emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        const struct emu_warp *w = &block->warp[i];
        if (w->split_in[EMU_SPLIT_READY] | w->split_in[EMU_SPLIT_YIELDED] |
            w->split_in[EMU_SPLIT_SLEEPING] | w->split_in[EMU_SPLIT_SUSPENDED])
            return true;
    }
    return false;
}

/* ---- the length of a time slice ----------------------------------------------------- */

/** Returns how many instructions the running split may still execute before another ready split has waited for w->window
 *  instructions, which is the fairness limit. */
static int64_t window_left(const struct emu_warp *w)
{
    int64_t left = INT64_MAX;

    if (w->window == 0)
        return left;
    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_READY] & ~split_bit((unsigned)w->running))) {
        int64_t n = (int64_t)(w->split[id].since + w->window - w->retired);
        left = n < left ? n : left;
    }
    return left;
}

/** Policy with `steady`: returns true if another ready split precedes the running split, or merges with it. */
static bool is_preceded(struct emu_warp *w)
{
    struct emu_split *s = &w->split[w->running];

    s->pc = (uint32_t)(w->di - w->code->insn);
    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_READY] & ~split_bit((unsigned)w->running)))
        if ((w->merge && may_merge(w, &w->split[id], s)) || w->policy->before(w, &w->split[id], s))
            return true;
    return false;
}

/** Policy with `steady`: returns how many instructions the running split may execute before another ready split may precede it or
 *  merge with it. A jump may have that effect, too. */
static int64_t steady_left(const struct emu_warp *w)
{
    const uint32_t pc = (uint32_t)(w->di - w->code->insn);
    struct emu_split at = w->split[w->running];
    int64_t n = 1;

    for (; n < w->di->run; n++) {
        at.pc = pc + (uint32_t)n;
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_READY] & ~split_bit((unsigned)w->running)))
            if (w->split[id].pc == at.pc || w->policy->before(w, &w->split[id], &at))
                return n;
    }
    return n;
}

int64_t emu_split_allowance(const struct emu_warp *w)
{
    int64_t left;

    if (w->split_count == 1)
        return INT64_MAX;
    left = window_left(w);
    left = left < 1 ? 1 : left;
    if (w->quantum != 0 && w->turn_used < w->quantum && (int64_t)w->quantum - w->turn_used < left)
        left = (int64_t)w->quantum - w->turn_used;
    if (w->policy->steady && w->turn_used >= w->quantum && (w->split_in[EMU_SPLIT_READY] & ~split_bit((unsigned)w->running)) != 0) {
        const int64_t n = steady_left(w);
        left = n < left ? n : left;
    }
    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_SLEEPING])) {
        uint64_t wake_at = w->split[id].wake, now = split_now(w);
        uint64_t n = wake_at <= now ? 1 : wake_at - now;
        left = n < (uint64_t)left ? (int64_t)n : left;
    }
    return left < 1 ? 1 : left;
}

void emu_split_cut_budget(struct emu_warp *w)
{
    int64_t left;

    if (w->running < 0)
        return;
    left = window_left(w);
    left = left < 1 ? 1 : left;
    if (w->policy->steady && w->turn_used >= w->quantum)
        left = 0; /* a split that has become ready may precede the running one */
    if (w->budget > left)
        w->budget = left;
}

void emu_split_block(struct emu_warp *w)
{
    if (w->running < 0)
        return;
    w->split[w->running].pc = (uint32_t)(w->di - w->code->insn);
    split_end_slice(w);
}

void emu_split_ran(struct emu_warp *w, unsigned count)
{
    if (w->reaches && w->reconv->reach(w))
        return;
    if (w->running < 0 || w->split_count == 1)
        return; /* The split is alone in its warp: to end its time slice and select it again would change nothing. */
    w->turn_used += count;
    if (w->policy->steady) {
        if (w->turn_used > w->quantum)
            w->turn_used = w->quantum;
        if (w->split_in[EMU_SPLIT_SLEEPING] != 0)
            wake_sleepers(w);
        if (window_left(w) <= 0 || (w->turn_used >= w->quantum && is_preceded(w)))
            emu_split_block(w);
        return;
    }
    /* Native code does not stop at the end of a quantum if only one split is ready. The interpreter would have selected the same
     * split again after each quantum, so only the instructions of the last quantum count. */
    if (w->quantum != 0 && w->turn_used > w->quantum)
        w->turn_used = (w->turn_used - 1) % w->quantum + 1;
    if (w->split_in[EMU_SPLIT_SLEEPING] != 0)
        wake_sleepers(w);
    if ((w->quantum != 0 && w->turn_used >= w->quantum) || window_left(w) <= 0)
        emu_split_block(w);
}

/* ---- steps of parts ----------------------------------------------------------------- */

/** Returns the ids of split @id and of those parts of the same divided split that wait at its pc. */
static uint64_t family_here(const struct emu_warp *w, unsigned id)
{
    const struct emu_split *s = &w->split[id];
    uint64_t ids = split_bit(id);

    for (LW_EACH_BIT(k, w->split_in[EMU_SPLIT_SUSPENDED]))
        if (w->split[k].pc == s->pc && w->split[k].lanes & s->family)
            ids |= split_bit((unsigned)k);
    return ids;
}

/** Returns whether the next instruction of split @id needs all live lanes of the warp, because it executes once for the warp. */
static bool needs_all_lanes(const struct emu_warp *w, unsigned id)
{
    const struct emu_program *program = w->code->program;
    const uint32_t pc = emu_split_pc(w, id);

    return pc < program->count && isa_op_info((enum isa_op)program->insn[pc].op)->flags & ISA_F_SCALAR;
}

bool emu_split_divide(struct emu_warp *w, unsigned id, uint64_t lanes, bool whole)
{
    struct emu_split *s;
    uint64_t family, here;
    unsigned rest;

    if (emu_split_by_id(w, id) < 0)
        return false;
    s = &w->split[id];
    if ((s->state != EMU_SPLIT_READY && s->state != EMU_SPLIT_SUSPENDED) || lanes == 0 ||
        (lanes & ~s->lanes) != 0 || (w->reconv->lockstep && lanes != s->lanes))
        return false;
    emu_split_forget_parts(w);
    /* Parts that diverge, and join parts of other sides, may no longer know all lanes of the divided split. At a scalar instruction
     * they wait for all live lanes, because without the division the warp would have converged there. */
    if (emu_split_divided(w) && whole && needs_all_lanes(w, id))
        s->family = w->live;
    if (w->running == (int)id && lanes == s->lanes && (!whole || s->family == 0))
        return true;
    if (w->running >= 0)
        emu_split_block(w);
    if (lanes != s->lanes) {
        family = s->family != 0 ? s->family : s->lanes;
        s->family = 0; /* With family 0, emu_split_part() does not treat this division as a divergence. */
        id = emu_split_part(w, id, lanes, &rest);
        w->split[id].family = w->split[rest].family = family;
        w->parts = true;
        s = &w->split[id];
    }
    if (whole && s->family != 0) {
        here = family_here(w, id);
        if ((s->family & w->live & ~emu_split_lanes(w, here)) != 0) {
            /* Some lanes of the divided split are at another pc. If one of these lanes may still reach this pc, the part waits
             * here; otherwise the part continues without them. */
            if (on_the_way(w, s->family & ~emu_split_lanes(w, here))) {
                if (s->state != EMU_SPLIT_SUSPENDED) {
                    split_set_state(w, id, EMU_SPLIT_SUSPENDED);
                    s->since = w->retired;
                }
                emu_count_stalled_step(w);
                return false;
            }
        }
        id = merge(w, here);
        s = &w->split[id];
        s->family = 0;
    }
    split_set_state(w, id, EMU_SPLIT_READY);
    run_split(w, id);
    return true;
}

bool emu_split_divided(const struct emu_warp *w)
{
    return w->parts && w->split_count > 1;
}
