/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers (MACHINE 2): convergence registers, yield, warpsync, .sync operations, sleep and the block's CTA barriers.
 *
 * A convergence group is the live lanes with the same group number in one barrier register. After each step, every barrier that
 * can be released has been released. Each operation therefore tests only the barriers that it can have completed:
 *   an arrival at bsync           its own convergence groups
 *   bbreak, save, restore, bssy   convergence groups of that register that lanes left
 *   yield, warpsync, bar          convergence groups at soft barriers, for which these lanes now count as arrived
 *   exit                          all barriers of the warp, and the CTA barriers of the block
 * A step changes no other warp except by completing a CTA barrier. The release of a CTA barrier completes no other barrier.
 */
#include <stdio.h>
#include <string.h>

#include "emu/emu_next_priv.h"
#include "emu/simt/emu_split_priv.h"
#include "emu/lane/emu_lane_ops_priv.h"

/* ---- barrier registers -------------------------------------------------------------- */

/** Converts the register to the form with a group number for each lane, so that lanes may hold different numbers. Returns the
 *  array of the group numbers. */
static uint64_t *spread(struct emu_warp *w, unsigned reg)
{
    struct emu_breg_form *b = &w->bform[reg];
    uint64_t *row = w->breg[reg];

    b->lanes &= w->live;
    if (b->number != 0) {
        for (LW_EACH_BIT(l, b->lanes))
            row[l] = b->number;
        b->number = 0;
    }
    return row;
}

/** Converts the register to the form with one number, if all lanes that hold a number hold the same number. */
static void gather(struct emu_warp *w, unsigned reg)
{
    struct emu_breg_form *b = &w->bform[reg];
    const uint64_t *row = w->breg[reg];

    b->lanes &= w->live;
    if (b->number != 0 || b->lanes == 0)
        return;
    for (LW_EACH_BIT(l, b->lanes))
        if (row[l] != row[lw_lowest(b->lanes)])
            return;
    b->number = row[lw_lowest(b->lanes)];
}

/** Returns the lanes of @lanes that hold @number. @row is the barrier register in the form with a number for each lane. */
static uint64_t holders(const uint64_t *row, uint64_t lanes, uint64_t number)
{
    uint64_t out = 0;

    for (LW_EACH_BIT(l, lanes))
        out |= (uint64_t)(row[l] == number) << l;
    return out;
}

/** Returns the lanes for which a soft barrier does not wait: those that have yielded, or wait at a warpsync or a CTA
 *  barrier. */
static uint64_t past_soft(const struct emu_warp *w)
{
    return emu_split_lanes(w, w->split_in[EMU_SPLIT_YIELDED] | w->split_in[EMU_SPLIT_WARPSYNC] |
                                  w->split_in[EMU_SPLIT_CTA]);
}

static bool any_soft(const struct emu_warp *w, uint64_t ids, uint64_t lanes)
{
    for (LW_EACH_BIT(id, ids))
        if (w->split[id].flags & EMU_SPLIT_SOFT && w->split[id].lanes & lanes)
            return true;
    return false;
}

/** Returns true if the convergence group whose lanes @arrived wait at @reg may continue: @need, the members that have not
 *  arrived, is empty, or the barrier is soft and need not wait for any of these members. */
static bool may_open(const struct emu_warp *w, unsigned reg, uint64_t arrived, uint64_t need)
{
    if (need == 0)
        return true;
    if ((w->split_in[EMU_SPLIT_YIELDED] | w->split_in[EMU_SPLIT_WARPSYNC] |
         w->split_in[EMU_SPLIT_CTA]) == 0)
        return false;
    return any_soft(w, w->bform[reg].splits, arrived) && (need & ~past_soft(w)) == 0;
}

/** Divides each split of @ids that has lanes both inside and outside @lanes. The oldest split is divided first. Returns the ids
 *  of the splits that then consist of lanes of @lanes. */
static uint64_t part_all(struct emu_warp *w, uint64_t ids, uint64_t lanes)
{
    uint64_t whole = 0, todo = 0;

    for (LW_EACH_BIT(id, ids)) {
        if ((w->split[id].lanes & lanes) == 0)
            continue;
        if ((w->split[id].lanes & ~lanes) == 0)
            whole |= split_bit((unsigned)id);
        else
            todo |= split_bit((unsigned)id);
    }
    while (todo != 0) {
        unsigned first = lw_lowest(todo), rest;
        for (LW_EACH_BIT(id, todo))
            if (w->split[id].born < w->split[first].born)
                first = (unsigned)id;
        todo &= ~split_bit(first);
        whole |= split_bit(emu_split_part(w, first, w->split[first].lanes & lanes, &rest));
    }
    return whole;
}

/** Releases the convergence group of @lanes, all of which are blocked at @reg. */
static void open_group(struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    struct emu_breg_form *b = &w->bform[reg];
    uint64_t ids = b->splits;

    if (lanes != b->arrived)
        ids = part_all(w, ids, lanes);
    b->lanes &= ~lanes;
    b->arrived &= ~lanes;
    if (b->arrived == 0)
        w->breg_blocked &= ~(UINT32_C(1) << reg);
    if (b->number == 0)
        gather(w, reg);
    w->core->stats.reconvergences++;
    emu_split_wake(w, ids);
}

struct group {
    uint64_t lanes;
    unsigned reg;
};

void emu_conv_release(struct emu_warp *w, uint32_t regs)
{
    struct group open[EMU_MAX_LANES];
    unsigned count = 0;

    regs &= w->breg_blocked;
    for (LW_EACH_BIT(reg, regs)) {
        struct emu_breg_form *b = &w->bform[reg];
        uint64_t todo = b->arrived;
        if (b->number != 0) {
            if (may_open(w, (unsigned)reg, todo, b->lanes & w->live & ~todo))
                open[count++] = (struct group){todo, (unsigned)reg};
            continue;
        }
        while (todo != 0) {
            const uint64_t *row = w->breg[reg];
            uint64_t members = holders(row, b->lanes & w->live, row[lw_lowest(todo)]);
            uint64_t arrived = members & todo;
            todo &= ~members;
            if (may_open(w, (unsigned)reg, arrived, members & ~arrived))
                open[count++] = (struct group){arrived, (unsigned)reg};
        }
    }
    for (unsigned i = 1; i < count; i++) { /* Sorts the convergence groups of all registers by their lowest lane. */
        struct group g = open[i];
        unsigned k = i;
        for (; k > 0 && lw_lowest(open[k - 1].lanes) > lw_lowest(g.lanes); k--)
            open[k] = open[k - 1];
        open[k] = g;
    }
    for (unsigned i = 0; i < count; i++)
        open_group(w, open[i].reg, open[i].lanes);
}

/** Releases convergence groups of @reg that may continue now, because lanes of the running split have left them. */
static void left_groups(struct emu_warp *w, unsigned reg)
{
    if (w->bform[reg].arrived == 0)
        return;
    emu_conv_release(w, UINT32_C(1) << reg);
    emu_split_cut_budget(w);
}

void emu_split_bssy(struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    struct emu_breg_form *b = &w->bform[reg];
    uint64_t others = b->lanes & w->live & ~lanes, number;

    if (lanes == 0)
        return;
    emu_flow_note(w, EMU_CONV_JOIN, reg, EMU_RELEASE_REJOIN);
    number = ++w->group_counter;
    if (w->flow != NULL)
        w->flow->conv.group = number;
    if (others == 0) {
        b->lanes = lanes;
        b->number = number;
        return;
    }
    bool left = (b->lanes & lanes) != 0;
    uint64_t *row = spread(w, reg);
    for (LW_EACH_BIT(l, lanes))
        row[l] = number;
    b->lanes = others | lanes;
    if (left)
        left_groups(w, reg);
}

/** Executes the arrival of split @id at the bsync of register @reg in the usual case: @id is undivided, and its pc is already
 *  after the bsync; the register has only one convergence group, of which @id is the last split to arrive; and all waiting splits continue
 *  at the pc of @id. Then all these splits become one ready split, as if @id had blocked and the barrier had then opened, and
 *  the function returns true. In all other cases it returns false and does nothing. */
static bool meet(struct emu_warp *w, unsigned id, unsigned reg)
{
    struct emu_breg_form *b = &w->bform[reg];
    struct emu_split *s = &w->split[id];
    uint64_t others = b->splits, all = b->arrived | s->lanes, gone;

    if (b->number == 0 || others == 0 || (b->lanes & w->live & ~all) != 0 || w->parts ||
        w->flow != NULL)
        return false;
    for (LW_EACH_BIT(k, others))
        if (w->split[k].pc != s->pc)
            return false;
    unsigned keep = lw_lowest(others | split_bit(id));
    gone = (others | split_bit(id)) & ~split_bit(keep);
    w->split_ids &= ~gone;
    w->split_count -= others & (others - 1) ? lw_popcount(gone) : 1;
    w->split_in[EMU_SPLIT_BLOCKED] &= ~others;
    w->split_in[EMU_SPLIT_READY] =
        (w->split_in[EMU_SPLIT_READY] & ~split_bit(id)) | split_bit(keep);
    b->lanes = b->arrived = b->splits = 0;
    w->breg_blocked &= ~(UINT32_C(1) << reg);
    s = &w->split[keep];
    s->state = EMU_SPLIT_READY;
    s->flags = 0;
    s->lanes = all;
    s->since = w->retired;
    s->seq = ++w->seq_counter;
    w->core->stats.reconvergences++;
    return true;
}

bool emu_split_bsync(struct emu_warp *w, unsigned reg, bool soft, uint64_t lanes, uint32_t next)
{
    struct emu_breg_form *b = &w->bform[reg];
    uint64_t waiting = lanes & b->lanes;
    unsigned id = (unsigned)w->running, rest;
    struct emu_split *s = &w->split[id];

    emu_flow_note(w, EMU_CONV_ARRIVE, reg, EMU_RELEASE_ARRIVAL);
    if (w->flow != NULL) {
        w->flow->conv.soft = soft;
        w->flow->conv.arrived = waiting;
        w->flow->conv.group = waiting != 0 ? emu_breg_number(w, reg, lw_lowest(waiting)) : 0;
    }
    if (emu_split_bsync_uncontended(w, reg, lanes, w->retired))
        return true;
    split_end_slice(w)->pc = next;
    if (waiting == 0)
        return false;
    if (waiting == s->lanes && meet(w, id, reg))
        return false;
    id = emu_split_part(w, id, waiting, &rest);
    s = &w->split[id];
    split_set_state(w, id, EMU_SPLIT_BLOCKED);
    s->barrier = (uint8_t)reg;
    s->flags = soft ? EMU_SPLIT_SOFT : 0;
    b->splits |= split_bit(id);
    b->arrived |= waiting;
    w->breg_blocked |= UINT32_C(1) << reg;
    if (b->number == 0)
        emu_conv_release(w, UINT32_C(1) << reg);
    else if (may_open(w, reg, b->arrived, b->lanes & w->live & ~b->arrived))
        open_group(w, reg, b->arrived);
    return false;
}

static void leave_groups(struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    struct emu_breg_form *b = &w->bform[reg];

    if ((b->lanes & lanes) == 0)
        return;
    b->lanes &= ~lanes;
    left_groups(w, reg);
}

void emu_split_bbreak(struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    emu_flow_note(w, EMU_CONV_BREAK, reg, EMU_RELEASE_BREAK);
    leave_groups(w, reg, lanes);
}

void emu_breg_save(struct emu_warp *w, unsigned reg, uint64_t lanes, uint64_t *number)
{
    emu_flow_note(w, EMU_CONV_SAVE, reg, EMU_RELEASE_BREAK);
    for (LW_EACH_BIT(l, lanes))
        number[l] = emu_breg_number(w, reg, (unsigned)l);
    leave_groups(w, reg, lanes);
}

void emu_breg_restore(struct emu_warp *w, unsigned reg, uint64_t lanes, const uint64_t *number)
{
    struct emu_breg_form *b = &w->bform[reg];
    uint64_t left = b->lanes & lanes, given = 0, *row;

    emu_flow_note(w, EMU_CONV_RESTORE, reg, EMU_RELEASE_REJOIN);
    for (LW_EACH_BIT(l, lanes))
        if (number[l] != 0)
            given |= split_bit((unsigned)l);
    row = spread(w, reg);
    for (LW_EACH_BIT(l, given))
        row[l] = number[l];
    b->lanes = (b->lanes & ~lanes) | given;
    gather(w, reg);
    if (left != 0)
        left_groups(w, reg);
}

void emu_split_yield(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    unsigned id = (unsigned)w->running, rest;

    emu_flow_note(w, EMU_CONV_YIELD, 0, EMU_RELEASE_YIELD);
    split_end_slice(w)->pc = next;
    split_set_state(w, emu_split_part(w, id, lanes, &rest), EMU_SPLIT_YIELDED);
    emu_conv_release(w, w->breg_blocked);
}

/** Makes @lanes of split @id, whose time slice has ended, a separate split before these lanes wait. Returns the id of the new
 *  split. *@rest is set to the id of the split with the other lanes; if there are no other lanes, it is not written. */
static unsigned part_to_wait(struct emu_warp *w, unsigned id, uint64_t lanes, unsigned *rest)
{
    if (w->split[id].lanes == lanes)
        return id;
    unsigned waits = emu_split_part(w, id, lanes, rest);
    if (w->reconv->parted != NULL)
        w->reconv->parted(w, waits, *rest);
    return waits;
}

/** Called after lanes have begun to wait, and after the pc of the other lanes of their split is set, if part_to_wait() divided
 *  the split. A reconvergence engine with the function `woken` may now make these other lanes wait at their pc, too. */
static void rest_may_wait(struct emu_warp *w)
{
    if (w->reconv->woken != NULL)
        w->reconv->woken(w);
}

/* ---- warpsync and .sync operations -------------------------------------------------- */

/** Reports to the hooks that @lanes of the warp have arrived, with their member masks in @member. */
static void report_arrivals(const struct emu_warp *w, uint64_t lanes, const uint64_t *member)
{
    struct emu_hooks *active_hooks = w->core->machine->active_hooks;

    while (active_hooks != NULL && lanes != 0) {
        uint64_t same = holders(member, lanes, member[lw_lowest(lanes)]);
        active_hooks->on_warpsync(active_hooks, w->core, w->block->slot, w->index, same);
        lanes &= ~same;
    }
}

/** Returns true if, for each lane of @lanes, all live members of its mask are in @lanes and have the same mask. */
static bool meet_at_once(const struct emu_warp *w, uint64_t lanes, const uint64_t *member)
{
    if ((lanes & (lanes + 1)) == 0) { /* lanes 0..n-1, which usually have the same member mask */
        unsigned n = lw_popcount(lanes);
        uint64_t differ = 0;
        for (unsigned l = 1; l < n; l++)
            differ |= member[l] ^ member[0];
        if (differ == 0)
            return (member[0] & w->live & ~lanes) == 0;
    }
    while (lanes != 0) {
        uint64_t m = member[lw_lowest(lanes)], same = holders(member, lanes, m);
        if ((m & w->live & ~same) != 0)
            return false;
        lanes &= ~same;
    }
    return true;
}

/** Returns the lanes of @lanes that may continue after their warpsync in lockstep, where the lanes of a split continue together,
 *  and where lanes with the same member mask also continue together. */
static uint64_t may_continue(const struct emu_warp *w, uint64_t lanes)
{
    uint64_t held = 0, before;

    if (meet_at_once(w, lanes, w->member))
        return lanes;
    for (LW_EACH_BIT(l, lanes))
        if ((w->member[l] & w->live & ~holders(w->member, lanes, w->member[l])) != 0)
            held |= split_bit((unsigned)l);
    do {
        before = held;
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_WARPSYNC]))
            if (w->split[id].lanes & held)
                held |= w->split[id].lanes;
        for (LW_EACH_BIT(l, held))
            held |= holders(w->member, lanes, w->member[l]);
    } while (held != before);
    return lanes & ~held;
}

/** Releases each set of lanes that wait with the same mask, if the set contains all live lanes of the mask. */
static void sync_release(struct emu_warp *w)
{
    uint64_t todo = emu_split_lanes(w, w->split_in[EMU_SPLIT_WARPSYNC]), waiting = todo, ids = 0;

    if (w->reconv->lockstep) {
        todo = may_continue(w, waiting);
        report_arrivals(w, todo, w->member);
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_WARPSYNC]))
            ids |= w->split[id].lanes & todo ? split_bit((unsigned)id) : 0;
        if (ids != 0)
            emu_split_wake(w, ids);
        return;
    }
    while (todo != 0) {
        uint64_t m = w->member[lw_lowest(todo)];
        uint64_t same = holders(w->member, waiting, m);
        todo &= ~same;
        if ((m & w->live & ~same) != 0)
            continue;
        report_arrivals(w, same, w->member);
        emu_split_wake(w, part_all(w, w->split_in[EMU_SPLIT_WARPSYNC], same));
    }
}

bool emu_split_warpsync(struct emu_warp *w, uint64_t lanes, const uint64_t *member,
                        uint32_t next, uint64_t *bad)
{
    unsigned id = (unsigned)w->running, rest;
    uint64_t wrong = 0;

    for (LW_EACH_BIT(l, lanes))
        wrong |= ~member[l] & split_bit((unsigned)l);
    if (wrong != 0) {
        *bad = wrong;
        return false;
    }
    for (LW_EACH_BIT(l, lanes))
        w->member[l] = member[l];
    emu_flow_note(w, EMU_CONV_WARPSYNC, 0, EMU_RELEASE_WARPSYNC);
    if (w->flow != NULL)
        w->flow->conv.arrived = lanes;
    split_end_slice(w)->pc = next;
    id = part_to_wait(w, id, lanes, &rest);
    split_set_state(w, id, EMU_SPLIT_WARPSYNC);
    w->split[id].flags = 0;
    sync_release(w);
    rest_may_wait(w);
    emu_conv_release(w, w->breg_blocked);
    return true;
}

uint64_t emu_split_sync(struct emu_warp *w, uint64_t lanes, const uint64_t *member, uint32_t pc)
{
    unsigned id = (unsigned)w->running, rest = id, waits;
    struct emu_split *s = &w->split[id];

    if (s->flags & EMU_SPLIT_SYNCED) {
        bool here = s->pc == pc;
        s->flags = 0;
        if (here)
            return lanes;
    }
    if (meet_at_once(w, lanes, member)) {
        report_arrivals(w, lanes, member);
        return lanes;
    }
    for (LW_EACH_BIT(l, lanes))
        w->member[l] = member[l];
    emu_flow_note(w, EMU_CONV_NONE, 0, EMU_RELEASE_WARPSYNC);
    if (w->flow != NULL)
        w->flow->conv.arrived = lanes;
    split_end_slice(w)->pc = pc;
    waits = part_to_wait(w, id, lanes, &rest);
    if (rest != waits)
        w->split[rest].pc = pc + 1; /* The guard of the remaining lanes is false, so they do not execute the operation. */
    split_set_state(w, waits, EMU_SPLIT_WARPSYNC);
    w->split[waits].flags = EMU_SPLIT_AT_SYNC;
    emu_count_stalled_step(w);
    sync_release(w);
    rest_may_wait(w);
    emu_conv_release(w, w->breg_blocked);
    return 0;
}

void emu_split_sleep(struct emu_warp *w, uint64_t lanes, uint64_t length, uint32_t next)
{
    unsigned id = (unsigned)w->running, rest;
    uint64_t now = split_now(w);

    split_end_slice(w)->pc = next;
    if (!w->reconv->lockstep) /* otherwise the whole split sleeps, and the lanes that need not sleep only lose time */
        id = emu_split_part(w, id, lanes, &rest);
    w->split[id].wake = length < UINT64_MAX - now ? now + length : UINT64_MAX;
    split_set_state(w, id, EMU_SPLIT_SLEEPING);
}

/* ---- launches ----------------------------------------------------------------------- */

void emu_split_launch_wait(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    unsigned id = (unsigned)w->running, rest;

    split_end_slice(w)->pc = next;
    if (!w->reconv->lockstep) /* as in emu_split_sleep(): otherwise the whole split waits */
        id = emu_split_part(w, id, lanes, &rest);
    split_set_state(w, id, EMU_SPLIT_LAUNCH);
    w->split[id].flags = 0;
    w->core->machine->launch_changes++; /* The change makes the engine look for new resident blocks: this block now waits, so that
                                         * the blocks for which it waits may become resident. */
}

bool emu_block_suspended(const struct emu_block *block)
{
    bool waits = false;

    for (unsigned i = 0; block->children != 0 && i < block->warp_count; i++)
        waits = waits || block->warp[i].split_in[EMU_SPLIT_LAUNCH] != 0;
    return waits && !emu_block_can_run(block);
}

/* ---- CTA barriers ------------------------------------------------------------------- */

/** Returns true if the CTA barrier is complete: as many lanes have arrived as its count states, or, without a count, all
 *  live lanes of the block. */
static bool cta_complete(const struct emu_block *block, const struct emu_cta_barrier *c)
{
    return c->has_count ? c->arrived == c->count : c->arrived_live == block->threads_live;
}

/** Releases a barrier at which each warp of the block waits in the state in which emu_split_bar_alone() left it. The effect is as
 *  if emu_split_wake() were called for each warp. */
static void wake_alone(struct emu_block *block, struct emu_cta_barrier *c)
{
    const unsigned count = block->warp_count;

    memset(c->lanes, 0, count * sizeof c->lanes[0]);
    for (struct emu_warp *w = block->warp, *end = w + count; w < end; w++) {
        struct emu_split *s = &w->split[lw_lowest(w->split_ids)];
        s->state = EMU_SPLIT_READY;
        w->split_in[EMU_SPLIT_CTA] = 0;
        w->split_in[EMU_SPLIT_READY] = w->split_ids;
        s->since = w->retired;
        s->seq = ++w->seq_counter;
    }
}

/** Writes the result of the bar.red at instruction @index to @lanes, which have waited for it. @brought lanes took part in
 *  the reduction, and @yes of them had a true predicate. */
static void reduction_result(struct emu_warp *w, uint32_t index, uint64_t lanes, uint32_t brought, uint32_t yes)
{
    const struct emu_dinsn *di = &w->code->insn[index];
    uint32_t *d = emu_row(w, di->d);

    lanes &= emu_exec_mask(w);
    if (di->op == ISA_BAR_RED_POPC) {
        for (LW_EACH_BIT(l, lanes))
            d[l] = yes;
        return;
    }
    bool result = di->op == ISA_BAR_RED_AND ? yes == brought : yes != 0;
    w->p[di->p] = (w->p[di->p] & ~lanes) | (result ? lanes : 0);
}

static void cta_finish(struct emu_block *block, unsigned id)
{
    struct emu_cta_barrier *c = &block->cta[id];

    c->in_use = false;
    block->cta_open &= ~(UINT32_C(1) << id);
    block->core->stats.cta_barriers++; /* counted here, because an arrival or an exit may have completed the barrier */
    if (block->core->machine->active_hooks != NULL)
        block->core->machine->active_hooks->on_cta(block->core->machine->active_hooks, block->core, block->slot, id,
                                          c->lanes);
    if (c->alone == block->warp_count && block->warp->reconv->woken == NULL) {
        wake_alone(block, c);
        return;
    }
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct emu_warp *w = &block->warp[i];
        uint64_t ids = 0;
        c->lanes[i] = 0;
        if (w->split_count == 1 && w->reconv->woken == NULL && w->flow == NULL) {
            /* the usual case: wakes the only split of a warp, as emu_split_wake() would */
            struct emu_split *s = &w->split[lw_lowest(w->split_ids)];
            if (s->state == EMU_SPLIT_CTA && s->barrier == id && s->reduction == 0 &&
                s->family == 0) {
                s->state = EMU_SPLIT_READY;
                w->split_in[EMU_SPLIT_CTA] = 0;
                w->split_in[EMU_SPLIT_READY] = w->split_ids;
                s->flags = 0;
                s->since = w->retired;
                s->seq = ++w->seq_counter;
                continue;
            }
        }
        for (LW_EACH_BIT(k, w->split_in[EMU_SPLIT_CTA])) {
            struct emu_split *s = &w->split[k];
            if (s->barrier != id)
                continue;
            ids |= split_bit((unsigned)k);
            if (s->reduction != 0)
                reduction_result(w, s->reduction - 1, s->lanes, c->brought, c->yes);
            s->reduction = 0;
        }
        if (ids != 0)
            emu_split_wake(w, ids);
    }
}

/** If the block's number of threads is not a multiple of 32, lanes are missing in the last 32 of the block, but a CTA barrier
 *  counts 32. Returns the number of missing lanes if @lanes contain the first of these 32 lanes, with which they count as
 *  arrived; else 0. */
static unsigned phantoms(const struct emu_warp *w, uint64_t lanes)
{
    unsigned threads = w->block->threads, over = threads % 32, first = threads - over;

    if (over == 0 || first / w->width != w->index || !(lanes >> first % w->width & 1))
        return 0;
    return 32 - over;
}

bool emu_split_bar_alone(struct emu_warp *w, unsigned id, uint32_t next)
{
    struct emu_block *block = w->block;
    struct emu_cta_barrier *c = &block->cta[id];
    struct emu_split *s = &w->split[w->running];

    if (!c->in_use) {
        c->in_use = true;
        c->has_count = false;
        c->count = c->arrived = c->arrived_live = c->alone = 0;
        c->brought = c->yes = 0;
        c->generation = ++block->cta_generation;
        block->cta_open |= UINT32_C(1) << id;
    }
    c->arrived += w->m_count;
    c->arrived_live += w->m_count;
    c->alone++;
    c->lanes[w->index] = w->m;
    w->running = -1;
    w->split_in[EMU_SPLIT_READY] = 0; /* No split is ready now, because this split is the only one of its warp. */
    w->split_in[EMU_SPLIT_CTA] = w->split_ids;
    s->since = w->retired;
    s->pc = next;
    s->state = EMU_SPLIT_CTA;
    s->barrier = (uint8_t)id;
    s->flags = 0;
    s->reduction = 0;
    if (c->arrived_live != block->threads_live)
        return true;
    w->leave = EMU_LEAVE_SLICE_END;
    cta_finish(block, id);
    return false;
}

void emu_split_bar_together(struct emu_block *block, unsigned id)
{
    struct emu_cta_barrier *c = &block->cta[id];

    c->has_count = false;
    c->count = c->brought = c->yes = 0;
    c->arrived = c->arrived_live = block->threads_live;
    c->alone = block->warp_count;
    c->generation = ++block->cta_generation;
    block->core->stats.cta_barriers++;
    for (struct emu_warp *w = block->warp, *end = w + block->warp_count; w < end; w++) {
        struct emu_split *s = &w->split[w->running];
        w->running = -1;
        s->barrier = (uint8_t)id;
        s->flags = 0;
        s->reduction = 0;
        s->since = w->retired;
        s->seq = ++w->seq_counter;
    }
}

enum emu_cta_result emu_split_bar(struct emu_warp *w, unsigned id, uint64_t lanes,
                                  bool has_count, uint32_t count, bool wait, uint32_t next,
                                  const struct emu_reduction *red, char *why, size_t why_size)
{
    struct emu_block *block = w->block;
    struct emu_cta_barrier *c = &block->cta[id];
    uint32_t n = (c->in_use ? c->arrived : 0) + lw_popcount(lanes) + phantoms(w, lanes);
    unsigned split = (unsigned)w->running, rest;
    bool complete;

    if (c->in_use) {
        if (c->has_count != has_count || (has_count && c->count != count)) {
            char old[32] = "all lanes", now[32] = "all lanes";
            if (c->has_count)
                snprintf(old, sizeof old, "%u lanes", c->count);
            if (has_count)
                snprintf(now, sizeof now, "%u lanes", count);
            snprintf(why, why_size, "lanes use CTA barrier %u with different thread counts before the barrier is "
                                    "released: %s, then %s",
                     id, old, now);
            return EMU_CTA_BAD;
        }
        if (c->lanes[w->index] & lanes) {
            snprintf(why, why_size, "lane %u arrives at CTA barrier %u twice before the barrier is released",
                     lw_lowest(c->lanes[w->index] & lanes), id);
            return EMU_CTA_BAD;
        }
    }
    if (has_count && n > count) {
        snprintf(why, why_size, "%u lanes arrive at CTA barrier %u, but its thread count is %u", n, id,
                 count);
        return EMU_CTA_BAD;
    }
    if (!c->in_use) {
        c->in_use = true;
        c->has_count = has_count;
        c->count = count;
        c->arrived_live = c->alone = 0;
        c->brought = c->yes = 0;
        c->generation = ++block->cta_generation;
        block->cta_open |= UINT32_C(1) << id;
    }
    c->arrived = n;
    c->arrived_live += lw_popcount(lanes);
    c->lanes[w->index] |= lanes;
    if (red != NULL) {
        c->brought += red->brought;
        c->yes += red->yes;
    }
    complete = cta_complete(block, c);
    emu_flow_note(w, EMU_CONV_NONE, 0, EMU_RELEASE_CTA);
    if (w->flow != NULL)
        w->flow->conv.arrived = lanes;
    if (wait) {
        split_end_slice(w)->pc = next;
        split = part_to_wait(w, split, lanes, &rest);
        split_set_state(w, split, EMU_SPLIT_CTA);
        w->split[split].barrier = (uint8_t)id;
        w->split[split].flags = 0;
        w->split[split].reduction = red != NULL ? red->index + 1 : 0;
    }
    if (complete)
        cta_finish(block, id);
    if (wait)
        rest_may_wait(w);
    if (wait)
        emu_conv_release(w, w->breg_blocked);
    else if (complete)
        emu_split_cut_budget(w);
    return complete ? EMU_CTA_COMPLETED : EMU_CTA_WAITS;
}

void emu_barriers_after_exit(struct emu_warp *w, uint64_t lanes)
{
    struct emu_block *block = w->block;
    uint32_t done = 0;

    for (LW_EACH_BIT(id, block->cta_open)) {
        struct emu_cta_barrier *c = &block->cta[id];
        c->arrived_live -= lw_popcount(c->lanes[w->index] & lanes);
        if (cta_complete(block, c))
            done |= UINT32_C(1) << id;
    }
    while (done != 0) { /* completes barriers in the order of their first arrivals */
        unsigned first = lw_lowest(done);
        for (LW_EACH_BIT(id, done))
            if (block->cta[id].generation < block->cta[first].generation)
                first = (unsigned)id;
        done &= ~(UINT32_C(1) << first);
        cta_finish(block, first);
    }
    if (w->split_in[EMU_SPLIT_WARPSYNC] != 0)
        sync_release(w);
    emu_conv_release(w, w->breg_blocked);
}

void emu_cta_hash(const struct emu_block *block, struct lw_hash *hash)
{
    lw_hash_u64(hash, block->cta_generation);
    for (LW_EACH_BIT(id, block->cta_open)) {
        const struct emu_cta_barrier *c = &block->cta[id];
        lw_hash_u64(hash, id << 40 | (uint64_t)c->has_count << 32 | c->count);
        lw_hash_u64(hash, c->arrived);
        lw_hash_u64(hash, (uint64_t)c->brought << 32 | c->yes);
        lw_hash_u64(hash, c->generation);
        lw_hash_u64(hash, (uint64_t)c->brought << 32 | c->yes);
        for (unsigned i = 0; i < block->warp_count; i++)
            lw_hash_u64(hash, c->lanes[i]);
    }
}

void emu_x_breg_save(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint64_t number[EMU_MAX_LANES];
    uint32_t *d = emu_row(w, di->d), *d_high = d + w->stride / 4;

    emu_breg_save(w, di->sub, lanes, number);
    for (LW_EACH_BIT(l, lanes)) {
        d[l] = (uint32_t)number[l];
        d_high[l] = (uint32_t)(number[l] >> 32);
    }
}

void emu_x_breg_restore(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint64_t number[EMU_MAX_LANES];
    const uint32_t *a = emu_row(w, di->a), *a_high = a + w->stride / 4;

    for (LW_EACH_BIT(l, lanes))
        number[l] = (uint64_t)a_high[l] << 32 | a[l];
    emu_breg_restore(w, di->sub, lanes, number);
}
