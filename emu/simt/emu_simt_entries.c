/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reconvergence engines with a table of entries: `stack` (a SIMT stack with immediate post-dominators), `likely` (a
 * SIMT stack with likely convergence points), `dualpath` (a SIMT stack whose levels have two paths), `multipath` (all paths of
 * a divergent branch may run) and `early` (multipath with opportunistic early reconvergence).
 *
 * An entry states at which pc its lanes continue, and at which pc (rpc) and call depth (rdepth) it ends. A branch at which lanes
 * diverge leaves an entry that waits at the reconvergence pc, and adds an entry for each side. A lane's *own* entry is the last
 * entry that contains the lane, and its own split is the split of this entry, so that the split table shows a warp as it does
 * under `cbar`. For every entry with an rpc, its *parent*, the last entry before it that has its lanes, waits at that rpc. An
 * entry is removed when its lanes reach the rpc; the lanes then wait in the parent as EMU_SPLIT_STACKED. An entry is complete if
 * no later entry contains one of its lanes.
 *
 * `stack`: only the last entry, the top, runs. A pop makes the next entry the top.
 * `likely`: a branch with a likely convergence point (isa/analysis/isa_likely.c) leaves one more entry below its sides. The
 *     additional entry waits at the likely convergence point, and is marked `early`.
 * `dualpath`: the sides of a branch are a level of the stack. A level has one or two entries; the second entry is marked `right`.
 *     A branch with more than two sides adds several levels. All entries of the last level run. An entry of another level waits,
 *     as EMU_SPLIT_STACKED, even if it is complete, which is possible if its sibling has diverged. Source: M. Rhu and M. Erez,
 *     "The dual-path execution model for efficient GPU control flow", HPCA 2013; Aamodt and others, as below.
 * `multipath`: all complete entries run. An entry that becomes complete continues. In the terms of the source, the entries that
 *     run are the split table, and the other entries are the reconvergence table. Source: A. ElTantawy and others, "A scalable
 *     multi-path microarchitecture for efficient GPU control flow", HPCA 2014; T. M. Aamodt and others, "General-Purpose Graphics
 *     Processor Architectures", section 3.4.2.
 * `early`: if a side begins at a pc at which a sibling began, the sibling waits for the side at the pc that the sibling has
 *     reached, in an entry marked `early`. A lane that reaches the rpc of such an entry on another path leaves the entry.
 */
#include <stdlib.h>

#include "emu/simt/emu_split_priv.h"

static struct emu_simt_entry *last_of(const struct emu_warp *w)
{
    return &emu_simt_entries(w)[w->simt.count - 1];
}

/** Returns the last entry before @end that contains one of @lanes, or NULL. */
static struct emu_simt_entry *last_before(const struct emu_warp *w, const struct emu_simt_entry *end, uint64_t lanes)
{
    struct emu_simt_entry *first = emu_simt_entries(w);

    for (struct emu_simt_entry *e = first + (end - first); e-- > first;)
        if (e->lanes & lanes)
            return e;
    return NULL;
}

/** Returns the own entry of @lanes, or NULL if no entry contains these lanes. */
static struct emu_simt_entry *entry_of(const struct emu_warp *w, uint64_t lanes)
{
    return last_before(w, emu_simt_entries(w) + w->simt.count, lanes);
}

static struct emu_simt_entry *parent_of(const struct emu_warp *w, const struct emu_simt_entry *e)
{
    return last_before(w, e, e->lanes);
}

static bool is_complete(const struct emu_warp *w, const struct emu_simt_entry *e)
{
    return e->split >= 0 && w->split[e->split].lanes == e->lanes;
}

static bool has_capacity(struct emu_warp *w, unsigned sides)
{
    struct emu_simt *st = &w->simt;
    unsigned need = st->count + sides + w->reconv->likely, capacity = st->capacity;
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

static void begin(struct emu_warp *w)
{
    struct emu_simt *st = &w->simt;

    if (st->heap == NULL)
        st->capacity = EMU_SIMT_BASE;
    st->count = 1;
    *last_of(w) = (struct emu_simt_entry){
        .rpc = EMU_NO_RPC, .pc = w->split[0].pc, .lanes = w->launched, .split = 0};
    if (w->reconv->one_path)
        w->quantum = w->window = 0; /* only one split may run, so no policy has a choice */
}

static void add(struct emu_warp *w, struct emu_simt_entry entry)
{
    w->simt.count++;
    *last_of(w) = entry;
    if (w->simt.count > w->core->stats.stack_depth)
        w->core->stats.stack_depth = w->simt.count;
}

static void drop(struct emu_warp *w, struct emu_simt_entry *e)
{
    if (e != last_of(w) && e[1].right)
        e[1].right = false; /* the other path of the level is now the only path of this level */
    memmove(e, e + 1, (size_t)(last_of(w) - e) * sizeof *e);
    w->simt.count--;
}

/** Moves split @id, whose entry was removed or never added, to the entry that waits for it, which is the last entry that contains
 *  its lanes. Returns the entry to which the split was moved. */
static struct emu_simt_entry *hand_down(struct emu_warp *w, unsigned id)
{
    struct emu_split *s = &w->split[id];
    struct emu_simt_entry *e = entry_of(w, s->lanes);

    split_set_state(w, id, EMU_SPLIT_STACKED);
    s->pc = e->pc;
    s->flags = 0;
    if (e->split < 0) {
        e->split = (int16_t)id;
        return e;
    }
    unsigned keep = (unsigned)e->split < id ? (unsigned)e->split : id;
    unsigned gone = keep == id ? (unsigned)e->split : id;
    w->split[keep].lanes |= w->split[gone].lanes;
    emu_split_drop(w, gone);
    e->split = (int16_t)keep;
    return e;
}

/** Makes the split of a complete entry ready. */
static void make_ready(struct emu_warp *w, struct emu_simt_entry *e)
{
    struct emu_split *s = &w->split[e->split];

    split_set_state(w, (unsigned)e->split, EMU_SPLIT_READY);
    s->since = w->retired;
    e->early = false;
    if (w->flow != NULL) {
        w->flow->conv.released |= s->lanes;
        w->flow->conv.why = EMU_RELEASE_POP;
    }
}

/** Returns the top of a SIMT stack. Removes entries at the top whose lanes have all left them (leave_early). */
static struct emu_simt_entry *top_of(struct emu_warp *w)
{
    while (last_of(w)->lanes == 0)
        w->simt.count--;
    return last_of(w);
}

/** Removes the lanes of @e from its parent and from all entries between the parent and @last, inclusive. All these entries are
 *  marked `early`. Afterwards @e ends where @last ends. */
static void leave_early(struct emu_warp *w, struct emu_simt_entry *e, const struct emu_simt_entry *last)
{
    struct emu_simt_entry *p;

    do {
        p = parent_of(w, e);
        p->lanes &= ~e->lanes;
        e->rpc = p->rpc;
        e->rdepth = p->rdepth;
        if (!w->reconv->one_path && is_complete(w, p) && w->split[p->split].state == EMU_SPLIT_STACKED)
            make_ready(w, p);
    } while (p != last);
}

/** Returns the entry that ends at @rpc, at call depth @rdepth, and whose end also ends @e: @e itself, or a parent that is marked
 *  early. Returns NULL if no such entry exists. */
static const struct emu_simt_entry *end_of(const struct emu_warp *w, const struct emu_simt_entry *e, uint32_t rpc, uint32_t rdepth)
{
    if (e->rpc == EMU_NO_RPC)
        return NULL;
    if (e->rpc == rpc && e->rdepth == rdepth)
        return e;
    for (const struct emu_simt_entry *p = parent_of(w, e); p != NULL && p->early; p = parent_of(w, p))
        if (p->rpc == rpc && p->rdepth == rdepth)
            return p;
    return NULL;
}

/** Returns true if entry @e ends at @pc. */
static bool ends_at(struct emu_warp *w, struct emu_simt_entry *e, uint32_t pc)
{
    const struct emu_simt_entry *end = end_of(w, e, pc, e->depth);

    if (end != NULL && end != e)
        leave_early(w, e, end);
    return end != NULL;
}

/** Returns true if the split of @e does not run, and waits for no event other than reconvergence. */
static bool is_idle(const struct emu_warp *w, const struct emu_simt_entry *e)
{
    return e->split >= 0 && e->split != w->running &&
           (w->split[e->split].state == EMU_SPLIT_READY || w->split[e->split].state == EMU_SPLIT_STACKED);
}

/** Dual-path stack: returns an entry of the last level whose split has reached its end, or NULL. */
static struct emu_simt_entry *ended_path(struct emu_warp *w)
{
    struct emu_simt_entry *e = last_of(w);

    if (is_idle(w, e) && ends_at(w, e, w->split[e->split].pc))
        return e;
    return e->right && is_idle(w, e - 1) && ends_at(w, e - 1, w->split[e[-1].split].pc) ? e - 1 : NULL;
}

/** Dual-path stack: removes each entry of the last level whose split has reached its end, and repeats this removal with the level
 *  that is then the last one. Makes the splits of the last level ready, and lets the splits of other levels wait. */
static void finish_level(struct emu_warp *w)
{
    struct emu_simt_entry *ended;
    uint64_t arrived = 0;

    while ((ended = ended_path(w)) != NULL) {
        unsigned id = (unsigned)ended->split;

        arrived |= w->split[id].lanes;
        drop(w, ended);
        w->core->stats.stack_pops++;
        (void)hand_down(w, id);
    }
    for (unsigned i = 0; i < w->simt.count; i++) {
        struct emu_simt_entry *e = &emu_simt_entries(w)[i];
        bool last = emu_simt_level_end(w, i) == w->simt.count;

        if (!is_idle(w, e) || (w->split[e->split].state == EMU_SPLIT_READY) == last)
            continue;
        if (last) {
            make_ready(w, e);
            w->core->stats.reconvergences += (e->lanes & arrived) != 0;
        } else {
            split_set_state(w, (unsigned)e->split, EMU_SPLIT_STACKED);
        }
    }
}

/** Removes entry @e if its split has reached the entry's end. Afterwards removes, one after another, each parent that is thereby
 *  complete and whose split has reached its end. Makes the split of the last parent ready, unless the split waits for an event
 *  other than reconvergence. */
static void finish(struct emu_warp *w, struct emu_simt_entry *e)
{
    const struct emu_simt_entry *got = NULL;

    if (w->reconv->two_paths) {
        finish_level(w);
        return;
    }
    for (;;) {
        unsigned id = (unsigned)e->split;
        struct emu_split *s = &w->split[id];
        if (s->state != EMU_SPLIT_READY && s->state != EMU_SPLIT_STACKED)
            return;
        if (!ends_at(w, e, s->pc)) {
            if (s->state == EMU_SPLIT_STACKED) {
                make_ready(w, e);
                if (got == e)
                    w->core->stats.reconvergences++;
            }
            return;
        }
        drop(w, e);
        w->core->stats.stack_pops++;
        got = e = hand_down(w, id);
        if (w->reconv->one_path)
            e = top_of(w);
        else if (!is_complete(w, e))
            return;
    }
}

/** Calls finish() for all entries that may run, after pcs or lanes of entries have changed. */
static void finish_all(struct emu_warp *w)
{
    if (w->simt.count == 0)
        return;
    if (w->reconv->two_paths) {
        finish_level(w);
        return;
    }
    if (w->reconv->one_path) {
        finish(w, top_of(w));
        return;
    }
    /* A removed entry is at or before @i, so all entries that are still to be visited stay before @i. */
    for (unsigned i = w->simt.count; i-- > 0;) {
        struct emu_simt_entry *e = &emu_simt_entries(w)[i];
        if (i < w->simt.count && is_complete(w, e) && e->split != w->running)
            finish(w, e);
    }
}

/** Removes dead lanes from all entries, and removes entries without lanes. */
static void forget_lanes(struct emu_warp *w, uint64_t gone)
{
    struct emu_simt_entry *e = emu_simt_entries(w);
    unsigned kept = 0;

    for (unsigned i = 0; i < w->simt.count; i++) {
        e[i].lanes &= ~gone;
        if (e[i].lanes != 0)
            e[kept++] = e[i];
        else if (i + 1 < w->simt.count && e[i + 1].right)
            e[i + 1].right = false;
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

/** Engine `early`: returns the entry of a ready split that began at the same pc as the new entry @side, and that has the same
 *  parent and end. Returns NULL if there is no such entry. */
static struct emu_simt_entry *began_with(const struct emu_warp *w, const struct emu_simt_entry *side)
{
    const struct emu_simt_entry *parent = entry_of(w, side->lanes);

    for (unsigned i = 0; i < w->simt.count; i++) {
        struct emu_simt_entry *x = &emu_simt_entries(w)[i];

        if (x->began == side->began && x->rpc == side->rpc && x->rdepth == side->rdepth && x->depth == side->depth &&
            is_complete(w, x) && w->split[x->split].state == EMU_SPLIT_READY && parent_of(w, x) == parent)
            return x;
    }
    return NULL;
}

/** Adds the entry of a side. If the side has already reached its end, its lanes instead wait in its parent. Engine `early`: if
 *  another split of the region is at the side's pc, the lanes join that split or its entry. */
static void add_side(struct emu_warp *w, struct emu_simt_entry side)
{
    struct emu_simt_entry *x = emu_simt_entries(w) + w->simt.count++;

    *x = side;
    bool ends = ends_at(w, x, side.pc);
    w->simt.count--;
    if (ends) {
        (void)hand_down(w, (unsigned)side.split);
        return;
    }
    if (w->reconv->one_path && w->simt.count != 0 && last_of(w)->split >= 0)
        split_set_state(w, (unsigned)last_of(w)->split, EMU_SPLIT_STACKED);
    side.began = w->reconv->early ? side.pc + 1 : 0;
    x = w->reconv->early ? began_with(w, &side) : NULL;
    if (x != NULL) {
        unsigned id = (unsigned)x->split;
        uint32_t at = w->split[id].pc;

        x->lanes |= side.lanes;
        if (at == side.pc) {
            unsigned keep = id < (unsigned)side.split ? id : (unsigned)side.split;
            unsigned gone = keep == id ? (unsigned)side.split : id;
            w->split[keep].lanes = x->lanes;
            emu_split_drop(w, gone);
            x->split = (int16_t)keep;
            w->core->stats.merges++;
            return;
        }
        x->pc = at;
        x->early = true;
        x->began = 0;
        split_set_state(w, id, EMU_SPLIT_STACKED);
        side.rpc = at;
        side.rdepth = x->depth;
    }
    add(w, side);
}

/** Divides the lanes of split @id at the branch before @next into sides, each of which becomes a split at its target. */
static void diverge(struct emu_warp *w, struct emu_simt_entry *e, struct split_side *side, unsigned count, uint32_t next)
{
    uint32_t rpc = w->code->program->rpc[next - 1];
    uint32_t depth = e->depth, rdepth = depth;
    uint32_t likely = w->reconv->likely ? w->code->program->lpc[next - 1] : EMU_NO_RPC;
    uint64_t lanes = e->lanes;
    unsigned first;
    int change = depth_change(w, next - 1);
    uint8_t order[EMU_MAX_LANES];

    if (rpc == EMU_NO_RPC || end_of(w, e, rpc, rdepth) != NULL) {
        /* The branch has no reconvergence pc, so its sides end where the entry of the branch ends. The sides also end there if an
         * entry already waits at the reconvergence pc. */
        rpc = e->rpc;
        rdepth = e->rdepth;
        drop(w, e);
    } else {
        e->pc = rpc;
        e->split = -1;
        e->began = 0;
    }
    if (likely != EMU_NO_RPC && (likely != rpc || rdepth != depth)) {
        add(w, (struct emu_simt_entry){.rpc = rpc, .rdepth = rdepth, .depth = depth, .pc = likely, .lanes = lanes, .split = -1,
                                       .early = true});
        rpc = likely;
        rdepth = depth;
    }
    emu_split_order_sides(side, count, next, w->core->machine->push_order, order);
    first = w->simt.count;
    for (unsigned i = 0; i < count; i++) {
        const struct split_side *s = &side[order[i]];
        uint32_t at = depth + (s->target != next ? (uint32_t)change : 0);
        if (w->stacked)
            w->split[s->id].seq = ++w->seq_counter;
        add_side(w, (struct emu_simt_entry){.rpc = rpc, .rdepth = rdepth, .depth = at, .pc = s->target, .lanes = s->lanes,
                                            .split = (int16_t)s->id, .right = w->reconv->two_paths && (w->simt.count - first) % 2 != 0});
    }
    finish_all(w);
}

static void branch(struct emu_warp *w, const uint32_t *target, uint32_t next)
{
    struct split_side side[EMU_MAX_LANES];
    unsigned count, id = (unsigned)w->running;
    struct emu_split *s = split_end_slice(w);
    uint64_t lanes = s->lanes, gone;

    count = emu_split_sides(lanes, target, side, &gone);
    if (gone != 0) {
        struct emu_simt_entry *e = entry_of(w, lanes);
        emu_split_bury(w, &id, gone);
        if (count != 0)
            e->split = (int16_t)id;
        forget_lanes(w, gone);
    }
    if (count == 0) {
        finish_all(w);
    } else {
        emu_split_part_sides(w, id, side, count);
        diverge(w, entry_of(w, lanes & ~gone), side, count, next);
    }
    if (gone != 0)
        emu_barriers_after_exit(w, gone);
}

static void branch2(struct emu_warp *w, uint64_t taken, uint32_t target, uint32_t next)
{
    uint32_t to[EMU_MAX_LANES];

    for (LW_EACH_BIT(l, w->split[w->running].lanes))
        to[l] = taken >> l & 1 ? target : next;
    branch(w, to, next);
}

static void exit_lanes(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    unsigned id = (unsigned)w->running;
    struct emu_simt_entry *e = entry_of(w, w->split[id].lanes);

    split_end_slice(w)->pc = next;
    emu_split_bury(w, &id, lanes);
    if (e->lanes & ~lanes)
        e->split = (int16_t)id;
    forget_lanes(w, lanes);
    finish_all(w);
    emu_barriers_after_exit(w, lanes);
}

static void jumped(struct emu_warp *w, uint32_t index)
{
    struct emu_simt_entry *e = entry_of(w, w->m);
    uint32_t rpc = w->code->program->rpc[index];
    int change = depth_change(w, index);

    if (change > 0 && rpc != EMU_NO_RPC) { /* a call: its lanes may return separately, and then reconverge at rpc */
        struct emu_simt_entry called = {.rpc = rpc, .rdepth = e->depth, .lanes = e->lanes,
                                        .split = e->split, .depth = e->depth};
        called.right = e->rpc == rpc && e->rdepth == e->depth && e->right;
        if (e->rpc != rpc || e->rdepth != e->depth) {
            e->pc = rpc;
            e->split = -1;
            e->began = 0;
            add(w, called);
            e = last_of(w);
        } else {
            *e = called;
        }
    }
    e->depth += (uint32_t)change;
    if (w->reconv->two_paths)
        finish_level(w);
}

static bool reach(struct emu_warp *w)
{
    struct emu_simt_entry *e;

    if (w->live == 0 || w->running < 0)
        return false;
    e = entry_of(w, w->split[w->running].lanes);
    if (!ends_at(w, e, (uint32_t)(w->di - w->code->insn)))
        return false;
    w->split[w->running].pc = e->rpc;
    split_end_slice(w);
    finish(w, e);
    return true;
}

static void parted(struct emu_warp *w, unsigned waits, unsigned rest)
{
    struct emu_simt_entry *e = entry_of(w, w->split[waits].lanes), other = *e;

    e->split = (int16_t)rest;
    e->pc = w->split[rest].pc;
    e->lanes = w->split[rest].lanes;
    other.split = (int16_t)waits;
    other.lanes = w->split[waits].lanes;
    other.right = false;
    if (w->reconv->one_path)
        split_set_state(w, rest, EMU_SPLIT_STACKED);
    add(w, other);
}

/** Returns true if the entries of two ready splits at the same pc may become one entry, because they have the same parent and
 *  end. */
static bool may_merge(const struct emu_warp *w, const struct emu_split *a, const struct emu_split *b)
{
    const struct emu_simt_entry *x = entry_of(w, a->lanes), *y = entry_of(w, b->lanes);

    return x->rpc == y->rpc && x->rdepth == y->rdepth && x->depth == y->depth && parent_of(w, x) == parent_of(w, y);
}

/** Dual-path stack: the two paths of a level become one if their lanes have synchronised at one instruction, which they execute
 *  together. The two paths do not merge anywhere else. */
static bool may_merge_synchronised(const struct emu_warp *w, const struct emu_split *a, const struct emu_split *b)
{
    return (a->flags & EMU_SPLIT_SYNCED) != 0 && may_merge(w, a, b);
}

static void merged(struct emu_warp *w, unsigned keep, unsigned gone)
{
    struct emu_simt_entry *e = entry_of(w, w->split[keep].lanes), *other = entry_of(w, w->split[gone].lanes);

    e->lanes |= other->lanes;
    e->split = (int16_t)keep;
    drop(w, other);
}

#define ENTRIES .lockstep = true, .ignores_barriers = true, .begin = begin, .branch = branch, .branch2 = branch2, \
    .exit = exit_lanes, .jumped = jumped, .room = has_capacity, .reach = reach, .parted = parted, .woken = finish_all

const struct emu_reconv emu_reconv_stack = {
    .name = "stack",
    .summary = "SIMT stack: runs one side of a branch after the other; lanes reconverge at the branch's reconvergence "
               "pc",
    .one_path = true, ENTRIES,
};

const struct emu_reconv emu_reconv_likely = {
    .name = "likely",
    .summary = "SIMT stack with likely convergence points: lanes also reconverge at the first block that both sides of a "
               "branch reach",
    .one_path = true, .likely = true, ENTRIES,
};

const struct emu_reconv emu_reconv_dualpath = {
    .name = "dualpath",
    .summary = "SIMT stack whose levels have two paths: both sides of the branch at the top may run; lanes reconverge at the "
               "branch's reconvergence pc",
    .two_paths = true, ENTRIES, .may_merge = may_merge_synchronised, .merged = merged,
};

const struct emu_reconv emu_reconv_multipath = {
    .name = "multipath",
    .summary = "tables of splits and of reconvergence: all sides of a branch may run; lanes reconverge at the branch's "
               "reconvergence pc",
    ENTRIES, .may_merge = may_merge, .merged = merged,
};

const struct emu_reconv emu_reconv_early = {
    .name = "early",
    .summary = "multipath with opportunistic early reconvergence: a split waits for lanes that begin at the pc where it began",
    .early = true, ENTRIES, .may_merge = may_merge, .merged = merged,
};
