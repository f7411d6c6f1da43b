/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reconvergence engine `stack`: a SIMT stack with immediate post-dominators.
 *
 * An entry states where its lanes continue and where they are popped. The lanes of the top entry run. A branch at which
 * they diverge leaves an entry that waits at the reconvergence pc (rpc), and pushes an entry for each side. A lane's
 * *own* entry is the highest entry that contains the lane, and its own split is the split of this entry, so that the
 * split table shows a warp as it does under `cbar`. Only the split of the top entry may be ready or wait at a barrier;
 * all other splits are EMU_SPLIT_STACKED.
 *
 * For every entry with an rpc, an entry below it has all its lanes and waits at that rpc, at the call depth rdepth. A
 * pop gives the lanes to that entry.
 */
#include <stdlib.h>

#include "emu/simt/emu_split_priv.h"

static struct emu_simt_entry *top_of(const struct emu_warp *w)
{
    return &emu_simt_entries(w)[w->simt.count - 1];
}

static bool stack_capacity(struct emu_warp *w, unsigned sides)
{
    struct emu_simt *st = &w->simt;
    unsigned need = st->count + sides, capacity = st->capacity;
    struct emu_simt_entry *heap;

    if (need <= capacity)
        return true;
    if (need > EMU_SIMT_LIMIT)
        return false;
    while (capacity < need)
        capacity *= 2;
    capacity = capacity < EMU_SIMT_LIMIT ? capacity : EMU_SIMT_LIMIT;
    heap = realloc(st->heap, capacity * sizeof *heap);
    if (heap == NULL)
        return false;
    if (st->heap == NULL)
        memcpy(heap, st->base, st->count * sizeof *heap);
    st->heap = heap;
    st->capacity = capacity;
    return true;
}

static void stack_begin(struct emu_warp *w)
{
    struct emu_simt *st = &w->simt;

    if (st->heap == NULL)
        st->capacity = EMU_SIMT_BASE;
    st->count = 1;
    *top_of(w) = (struct emu_simt_entry){
        .rpc = EMU_NO_RPC, .pc = w->split[0].pc, .lanes = w->launched, .split = 0};
    w->quantum = w->window = 0; /* only one split may run, so there is nothing to choose */
}

/** Moves split @id, whose entry was popped or never pushed, to the entry that waits for it: the highest entry that has
 *  its lanes. */
static const struct emu_simt_entry *hand_down(struct emu_warp *w, unsigned id)
{
    struct emu_simt_entry *e = top_of(w);
    struct emu_split *s = &w->split[id];

    while (!(e->lanes & s->lanes))
        e--;
    split_set_state(w, id, EMU_SPLIT_STACKED);
    s->pc = e->pc;
    s->flags = 0;
    if (e->split < 0) {
        e->split = (int32_t)id;
        return e;
    }
    unsigned keep = (unsigned)e->split < id ? (unsigned)e->split : id;
    unsigned gone = keep == id ? (unsigned)e->split : id;
    w->split[keep].lanes |= w->split[gone].lanes;
    emu_split_drop(w, gone);
    e->split = (int32_t)keep;
    return e;
}

/** Pops finished entries after the top or its pc has changed; then makes the split of the top entry ready unless it
 *  waits. */
static void pop_finished(struct emu_warp *w)
{
    const struct emu_simt_entry *got = NULL;

    while (w->simt.count > 0) {
        struct emu_simt_entry *e = top_of(w);
        unsigned id = (unsigned)e->split;
        struct emu_split *s = &w->split[id];
        if (s->state != EMU_SPLIT_READY && s->state != EMU_SPLIT_STACKED)
            return;
        if (e->rpc == EMU_NO_RPC || s->pc != e->rpc || e->depth != e->rdepth) {
            if (s->state == EMU_SPLIT_STACKED) {
                split_set_state(w, id, EMU_SPLIT_READY);
                s->since = w->retired;
                if (got == e)
                    w->core->stats.reconvergences++;
                if (w->flow != NULL) {
                    w->flow->conv.released |= s->lanes;
                    w->flow->conv.why = EMU_RELEASE_POP;
                }
            }
            return;
        }
        w->simt.count--;
        w->core->stats.stack_pops++;
        got = hand_down(w, id);
    }
}

/** Removes dead lanes from all entries, and empty entries. */
static void forget_lanes(struct emu_warp *w, uint64_t gone)
{
    struct emu_simt_entry *e = emu_simt_entries(w);
    unsigned kept = 0;

    for (unsigned i = 0; i < w->simt.count; i++) {
        e[i].lanes &= ~gone;
        if (e[i].lanes != 0)
            e[kept++] = e[i];
    }
    w->simt.count = kept;
}

/** Returns the change of call depth of lanes that did not continue at the next instruction: +1 for a call, -1
 *  for a return. */
static int depth_change(const struct emu_warp *w, uint32_t index)
{
    const struct isa_insn *insn = &w->code->program->insn[index];

    if (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL)
        return 1;
    return insn->op == ISA_RET ? -1 : 0;
}

/** Divides the lanes of the top entry at the branch before @next into sides, each of which becomes a split at its
 *  target. */
static void diverge(struct emu_warp *w, struct split_side *side, unsigned count, uint32_t next)
{
    struct emu_simt_entry *e = top_of(w);
    uint32_t rpc = w->code->program->rpc[next - 1];
    uint32_t depth = e->depth, rdepth = depth;
    unsigned pushed = 0;
    int change = depth_change(w, next - 1);
    uint8_t order[EMU_MAX_LANES];

    if (rpc == EMU_NO_RPC) { /* The branch has no reconvergence pc, so both sides end where the entry of the branch
                              * ends. */
        rpc = e->rpc;
        rdepth = e->rdepth;
        w->simt.count--;
    } else if (e->rpc == rpc && e->rdepth == rdepth) { /* the entry below already waits at this pc */
        w->simt.count--;
    } else {
        e->pc = rpc;
        e->split = -1;
    }
    emu_split_order_sides(side, count, next, w->core->machine->push_order, order);
    for (unsigned i = 0; i < count; i++) {
        const struct split_side *s = &side[order[i]];
        uint32_t at = depth + (s->target != next ? (uint32_t)change : 0);
        if (rpc != EMU_NO_RPC && s->target == rpc && at == rdepth) {
            (void)hand_down(w, s->id);
            continue;
        }
        if (pushed++ > 0)
            split_set_state(w, (unsigned)top_of(w)->split, EMU_SPLIT_STACKED);
        w->simt.count++;
        *top_of(w) = (struct emu_simt_entry){.rpc = rpc, .rdepth = rdepth, .depth = at,
                                             .pc = s->target, .lanes = s->lanes,
                                             .split = (int32_t)s->id};
    }
    if (w->simt.count > w->core->stats.stack_depth)
        w->core->stats.stack_depth = w->simt.count;
    pop_finished(w);
}

static void stack_branch(struct emu_warp *w, const uint32_t *target, uint32_t next)
{
    struct split_side side[EMU_MAX_LANES];
    unsigned count, id = (unsigned)w->running;
    struct emu_split *s = split_end_slice(w);
    uint64_t gone;

    count = emu_split_sides(s->lanes, target, side, &gone);
    if (gone != 0) {
        emu_split_bury(w, &id, gone);
        if (count != 0)
            top_of(w)->split = (int32_t)id;
        forget_lanes(w, gone);
    }
    if (count == 0) {
        pop_finished(w);
    } else {
        emu_split_part_sides(w, id, side, count);
        diverge(w, side, count, next);
    }
    if (gone != 0)
        emu_barriers_after_exit(w, gone);
}

static void stack_branch2(struct emu_warp *w, uint64_t taken, uint32_t target, uint32_t next)
{
    uint32_t to[EMU_MAX_LANES];

    for (LW_EACH_BIT(l, w->split[w->running].lanes))
        to[l] = taken >> l & 1 ? target : next;
    stack_branch(w, to, next);
}

static void stack_exit(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    unsigned id = (unsigned)w->running;

    split_end_slice(w)->pc = next;
    emu_split_bury(w, &id, lanes);
    if (top_of(w)->lanes & ~lanes)
        top_of(w)->split = (int32_t)id;
    forget_lanes(w, lanes);
    pop_finished(w);
    emu_barriers_after_exit(w, lanes);
}

static void stack_jumped(struct emu_warp *w, uint32_t index)
{
    struct emu_simt_entry *e = top_of(w);
    uint32_t rpc = w->code->program->rpc[index];
    int change = depth_change(w, index);

    if (change > 0 && rpc != EMU_NO_RPC) { /* lanes of a call may return separately */
        struct emu_simt_entry called = {.rpc = rpc, .rdepth = e->depth, .lanes = e->lanes,
                                        .split = e->split, .depth = e->depth};
        if (e->rpc != rpc || e->rdepth != e->depth) {
            e->pc = rpc;
            e->split = -1;
            w->simt.count++;
            if (w->simt.count > w->core->stats.stack_depth)
                w->core->stats.stack_depth = w->simt.count;
        }
        e = top_of(w);
        *e = called;
    }
    e->depth += (uint32_t)change;
}

static bool stack_reach(struct emu_warp *w)
{
    const struct emu_simt_entry *e;

    if (w->live == 0)
        return false;
    e = top_of(w);
    if (w->running < 0 || e->rpc == EMU_NO_RPC || e->depth != e->rdepth ||
        (uint32_t)(w->di - w->code->insn) != e->rpc)
        return false;
    w->split[w->running].pc = e->rpc;
    split_end_slice(w);
    pop_finished(w);
    return true;
}

static void stack_parted(struct emu_warp *w, unsigned waits, unsigned rest)
{
    struct emu_simt_entry *e = top_of(w), on_top = *e;

    e->split = (int32_t)rest;
    e->pc = w->split[rest].pc;
    e->lanes = w->split[rest].lanes;
    on_top.split = (int32_t)waits;
    on_top.lanes = w->split[waits].lanes;
    split_set_state(w, rest, EMU_SPLIT_STACKED);
    w->simt.count++;
    *top_of(w) = on_top;
    if (w->simt.count > w->core->stats.stack_depth)
        w->core->stats.stack_depth = w->simt.count;
}

const struct emu_reconv emu_reconv_stack = {
    .name = "stack",
    .summary = "SIMT stack: runs one side of a branch after the other; lanes reconverge at the branch's reconvergence "
               "pc",
    .lockstep = true,
    .ignores_barriers = true,
    .begin = stack_begin,
    .branch = stack_branch,
    .branch2 = stack_branch2,
    .exit = stack_exit,
    .jumped = stack_jumped,
    .room = stack_capacity,
    .reach = stack_reach,
    .parted = stack_parted,
    .woken = pop_finished,
};
