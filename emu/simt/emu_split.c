/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The split table, and division of splits by branches and exits (MACHINE 1).
 *
 * Ids of splits are visible in events, debuggers and schedule logs, so the assignment of ids is defined exactly. When a split is
 * divided, the part with the lowest lane keeps the id, and the other parts get the lowest free ids. If one step divides several
 * splits, they are divided in the order of their creation (`born`).
 */
#include <stdlib.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/simt/emu_split_priv.h"

/* ---- the table ---------------------------------------------------------------------- */

void emu_split_template(struct emu_warp *w)
{
    const struct emu_machine *machine = w->core->machine;
    const struct emu_config *config = &machine->config;

    w->split_count = 1;
    w->split_ids = w->split_in[EMU_SPLIT_READY] = 1;
    w->running = -1;
    w->policy = machine->policy != NULL ? machine->policy : emu_policy_find("converge");
    w->quantum = config->split_quantum != 0 ? config->split_quantum : w->policy->quantum;
    w->window = config->fairness_window;
    if (w->policy->steady && w->window <= UINT32_MAX / EMU_STEADY_WINDOW)
        w->window *= EMU_STEADY_WINDOW; /* lanes that wait for others to join them should wait longer */
    w->merge = config->merge;
    w->stacked = w->policy->stacked;
    w->reconv = machine->reconv != NULL ? machine->reconv : &emu_reconv_cbar;
    w->reaches = w->reconv->reach != NULL;
    if (w->reconv->policy != NULL) {
        if (w->policy != emu_policy_find("minpc_step")) /* the user may choose minpc_step instead, which orders splits by pc: in
                                                         * code whose layout has the order of the ranks, both policies choose the
                                                         * same splits */
            w->policy = w->reconv->policy;
        w->quantum = w->policy->quantum;
        w->window = 0;
        w->merge = true;
        w->stacked = w->policy->stacked;
    }
}

void emu_split_begin(struct emu_warp *w, uint32_t pc)
{
    w->live = w->launched;
    w->split[0] = (struct emu_split){.state = EMU_SPLIT_READY, .pc = pc, .lanes = w->launched};
    if (w->reconv->begin != NULL)
        w->reconv->begin(w);
}

void emu_split_fini(struct emu_warp *w)
{
    free(w->simt.heap);
    w->simt.heap = NULL;
    w->simt.count = 0;
}

int emu_split_by_id(const struct emu_warp *w, unsigned id)
{
    return id < EMU_MAX_LANES && (w->split_ids >> id & 1) ? (int)id : -1;
}

uint64_t emu_split_lanes(const struct emu_warp *w, uint64_t ids)
{
    uint64_t lanes = 0;

    for (LW_EACH_BIT(id, ids))
        lanes |= w->split[id].lanes;
    return lanes;
}

/** If split @s contains all live lanes of its family, clears the family, because the divided split is whole again. */
static void forget_family(struct emu_warp *w, struct emu_split *s)
{
    if ((s->family & w->live & ~s->lanes) == 0)
        s->family = 0;
}

unsigned emu_split_part(struct emu_warp *w, unsigned id, uint64_t lanes, unsigned *rest)
{
    struct emu_split *s = &w->split[id], *n;
    uint64_t others = s->lanes & ~lanes;
    unsigned fresh;

    if (others == 0)
        return id;
    fresh = lw_lowest(~w->split_ids);
    n = &w->split[fresh];
    w->split_ids |= split_bit(fresh);
    w->split_in[s->state] |= split_bit(fresh);
    w->split_count++;
    if (s->state == EMU_SPLIT_BLOCKED)
        w->bform[s->barrier].splits |= split_bit(fresh);
    *n = *s;
    n->id = (uint8_t)fresh;
    w->born_counter++;
    if (lw_lowest(lanes) < lw_lowest(others)) { /* The new part has the lowest lane, so it gets the old id. */
        n->lanes = others;
        s->lanes = lanes;
        s->born = w->born_counter;
        *rest = fresh;
    } else {
        n->lanes = lanes;
        s->lanes = others;
        n->born = w->born_counter;
        *rest = id;
    }
    if (s->family != 0) { /* If a part of a divided split diverges by itself, its sides are no longer parts of one split. */
        n->family &= ~s->lanes;
        s->family &= ~n->lanes;
        forget_family(w, s);
        forget_family(w, n);
    }
    return *rest == id ? fresh : id;
}

void emu_split_drop(struct emu_warp *w, unsigned id)
{
    w->split_ids &= ~split_bit(id);
    w->split_in[w->split[id].state] &= ~split_bit(id);
    w->split_count--;
}

unsigned emu_split_by_low(const struct emu_warp *w, uint64_t ids, uint8_t *out)
{
    unsigned count = 0;

    for (LW_EACH_BIT(id, ids)) {
        unsigned low = lw_lowest(w->split[id].lanes), i = count++;
        for (; i > 0 && lw_lowest(w->split[out[i - 1]].lanes) > low; i--)
            out[i] = out[i - 1];
        out[i] = (uint8_t)id;
    }
    return count;
}

void emu_split_wake(struct emu_warp *w, uint64_t ids)
{
    uint64_t kept = 0;
    uint8_t order[EMU_MAX_LANES];
    unsigned count;

    if (w->flow != NULL)
        w->flow->conv.released |= emu_split_lanes(w, ids);
    for (LW_EACH_BIT(id, ids)) { /* in ascending order, because the lowest id survives a merge */
        struct emu_split *s = &w->split[id];
        uint64_t same = kept;

        if (s->state == EMU_SPLIT_BLOCKED)
            w->bform[s->barrier].splits &= ~split_bit((unsigned)id);
        split_set_state(w, (unsigned)id, EMU_SPLIT_READY);
        s->flags = s->flags & EMU_SPLIT_AT_SYNC ? EMU_SPLIT_SYNCED : 0;
        while (same != 0) {
            struct emu_split *k = &w->split[lw_lowest(same)];
            if (k->pc == s->pc && k->flags == s->flags && (w->reconv->may_merge == NULL || w->reconv->may_merge(w, k, s))) {
                if (w->reconv->merged != NULL)
                    w->reconv->merged(w, k->id, (unsigned)id);
                if (k->family != 0 || s->family != 0)
                    k->family |= s->family | k->lanes | s->lanes;
                k->lanes |= s->lanes;
                break;
            }
            same &= same - 1;
        }
        if (same != 0)
            emu_split_drop(w, (unsigned)id);
        else
            kept |= split_bit((unsigned)id);
    }
    emu_split_forget_parts(w);
    if (w->parts) /* A part no longer waits for lanes of its divided split that are at other pcs. */
        for (LW_EACH_BIT(id, kept)) {
            w->split[id].family &= ~emu_split_lanes(w, kept & ~split_bit((unsigned)id));
            forget_family(w, &w->split[id]);
        }
    if ((kept & (kept - 1)) == 0) {
        order[0] = (uint8_t)lw_lowest(kept);
        count = 1;
    } else {
        count = emu_split_by_low(w, kept, order);
    }
    for (unsigned i = 0; i < count; i++) {
        w->split[order[i]].since = w->retired;
        w->split[order[i]].seq = ++w->seq_counter;
    }
    if (w->reconv->woken != NULL)
        w->reconv->woken(w);
}

void emu_split_outcomes(const struct emu_warp *w, uint64_t m, struct emu_flow *flow)
{
    flow->count = 0;
    for (LW_EACH_BIT(id, w->split_ids)) {
        uint64_t lanes = w->split[id].lanes & m;
        if (lanes == 0)
            continue;
        flow->target[flow->count] = emu_split_pc(w, (unsigned)id);
        flow->outcome[flow->count++] = (struct emu_outcome){.lanes = lanes, .split = (unsigned)id};
    }
}

/* ---- branches ----------------------------------------------------------------------- */

static void cbar_branch2(struct emu_warp *w, uint64_t taken, uint32_t target, uint32_t next)
{
    unsigned other;
    struct emu_split *s = split_end_slice(w);
    uint64_t rest = s->lanes & ~taken;

    if (rest == 0 || target == next) { /* Callers avoid this case, in which only the time slice would end. */
        s->pc = target;
        return;
    }
    /* The following statements have the effect of emu_split_part: for the creation sequence, the side with the lowest lane is the
     * new split, although it keeps the id. */
    bool first = (taken & (s->lanes & (0 - s->lanes))) != 0;
    other = lw_lowest(~w->split_ids);
    struct emu_split *o = &w->split[other];
    w->split_ids |= split_bit(other);
    w->split_in[EMU_SPLIT_READY] |= split_bit(other);
    w->split_count++;
    o->id = (uint8_t)other;
    o->state = EMU_SPLIT_READY;
    o->barrier = o->flags = 0;
    o->pc = first ? next : target;
    o->lanes = first ? rest : taken;
    o->since = w->retired;
    o->born = s->born;
    o->family = 0;
    s->flags = 0;
    s->pc = first ? target : next;
    s->lanes = first ? taken : rest;
    s->born = ++w->born_counter;
    if (s->family != 0) { /* If a part of a divided split diverges by itself, its sides are no longer parts of one split. */
        o->family = s->family & ~s->lanes;
        s->family &= ~o->lanes;
        forget_family(w, s);
        forget_family(w, o);
    }
    if (w->stacked) { /* The larger side is pushed first, below the other side. If both sizes are equal, the fall-through
                       * is on top. */
        unsigned n_taken = lw_popcount(taken), n_rest = lw_popcount(rest);
        bool taken_on_top = n_taken < n_rest;
        (first ? s : o)->seq = w->seq_counter + (taken_on_top ? 2 : 1);
        (first ? o : s)->seq = w->seq_counter + (taken_on_top ? 1 : 2);
        w->seq_counter += 2;
    } else {
        o->seq = 0;
    }
}

void emu_split_block_ends(struct emu_block *block)
{
    block->ended = true;
    block->ends_grid = emu_count_one(block->core->machine, &block->grid->blocks_ended) ==
                       block->grid->block_count;
    if (block->ends_grid)
        emu_grid_blocks_done(block->core->machine, block->grid);
}

static inline void lanes_end(struct emu_warp *w, uint64_t gone)
{
    struct emu_block *block = w->block;

    w->live &= ~gone;
    block->threads_live -= lw_popcount(gone);
    if (w->live == 0)
        block->warps_live--;
    if (block->threads_live == 0)
        emu_split_block_ends(block);
    block->progress++;
}

void emu_split_bury(struct emu_warp *w, unsigned *id, uint64_t gone)
{
    unsigned rest = *id, dead = emu_split_part(w, *id, gone, &rest);

    emu_split_drop(w, dead);
    *id = rest;
    lanes_end(w, gone);
    emu_flow_note(w, EMU_CONV_NONE, 0, EMU_RELEASE_EXIT);
    if (w->flow != NULL)
        w->flow->exited |= gone;
    if (w->parts)
        for (LW_EACH_BIT(i, w->split_ids))
            forget_family(w, &w->split[i]);
}

static void cbar_exit(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    unsigned id = (unsigned)w->running;

    split_end_slice(w)->pc = next;
    if (w->split_count == 1 && lanes == w->live && w->flow == NULL) {
        /* The usual end of a warp, as in emu_split_exit_alone(): no live lane remains, so only CTA barriers of the block may be
         * complete now. */
        emu_split_drop(w, id);
        lanes_end(w, lanes);
        if (w->block->cta_open != 0)
            emu_barriers_after_exit(w, lanes);
        return;
    }
    emu_split_bury(w, &id, lanes);
    emu_barriers_after_exit(w, lanes);
}

/** Returns true if @a is pushed before @b, and is therefore below @b. */
static bool below(const struct split_side *a, const struct split_side *b, uint32_t next, enum emu_push_order push)
{
    unsigned n_a = lw_popcount(a->lanes), n_b = lw_popcount(b->lanes);

    if (push != EMU_PUSH_FALL_THROUGH && n_a != n_b)
        return push == EMU_PUSH_SMALLER ? n_a > n_b : n_a < n_b;
    if ((a->target == next) != (b->target == next))
        return b->target == next;
    return lw_lowest(a->lanes) > lw_lowest(b->lanes);
}

void emu_split_order_sides(const struct split_side *side, unsigned count, uint32_t next, enum emu_push_order push,
                           uint8_t *order)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned k = i;
        for (; k > 0 && below(&side[i], &side[order[k - 1]], next, push); k--)
            order[k] = order[k - 1];
        order[k] = (uint8_t)i;
    }
}

unsigned emu_split_sides(uint64_t lanes, const uint32_t *target, struct split_side *side, uint64_t *gone)
{
    unsigned count = 0;

    *gone = 0;
    while (lanes != 0) {
        uint32_t to = target[lw_lowest(lanes)];
        uint64_t here = 0;
        for (LW_EACH_BIT(l, lanes))
            if (target[l] == to)
                here |= split_bit((unsigned)l);
        if (to == EMU_TARGET_EXIT)
            *gone = here;
        else
            side[count++] = (struct split_side){.lanes = here, .target = to};
        lanes &= ~here;
    }
    return count;
}

void emu_split_part_sides(struct emu_warp *w, unsigned id, struct split_side *side,
                          unsigned count)
{
    unsigned rest = id;

    for (unsigned i = 0; i < count; i++) { /* in the order of the lowest lanes, because the side with the lowest lane keeps the
                                            * id */
        side[i].id = emu_split_part(w, id, side[i].lanes, &rest);
        w->split[side[i].id].pc = side[i].target;
        id = rest;
    }
}

static void cbar_branch(struct emu_warp *w, const uint32_t *target, uint32_t next)
{
    struct split_side side[EMU_MAX_LANES];
    uint8_t order[EMU_MAX_LANES];
    unsigned count, id = (unsigned)w->running;
    struct emu_split *s = split_end_slice(w);
    uint64_t gone;

    count = emu_split_sides(s->lanes, target, side, &gone);
    if (gone != 0)
        emu_split_bury(w, &id, gone);
    emu_split_part_sides(w, id, side, count);
    if (count > 1 && w->stacked) {
        emu_split_order_sides(side, count, next, EMU_PUSH_SMALLER, order);
        for (unsigned i = 0; i < count; i++)
            w->split[side[order[i]].id].seq = ++w->seq_counter;
    }
    if (gone != 0)
        emu_barriers_after_exit(w, gone);
}

const struct emu_reconv emu_reconv_cbar = {
    .name = "cbar",
    .summary = "convergence barriers: lanes have their own pcs and reconverge at bsync",
    .branch = cbar_branch,
    .branch2 = cbar_branch2,
    .exit = cbar_exit,
};

/* The lanes at the pc with the lowest rank run. All other lanes of the warp wait. Lanes reconverge when they are at the same
 * pc. */
const struct emu_reconv emu_reconv_frontier = {
    .name = "frontier",
    .summary = "thread frontiers: lanes in the earliest block run, and lanes at the same pc join",
    .ignores_barriers = true,
    .policy = &emu_policy_frontier,
    .branch = cbar_branch,
    .branch2 = cbar_branch2,
    .exit = cbar_exit,
};

void emu_warp_set_lanes(struct emu_warp *w, uint64_t lanes)
{
    uint64_t e = lanes & emu_exec_mask(w);

    if (lanes != w->m) {
        w->m = lanes;
        w->m_count = (uint8_t)lw_popcount(lanes);
    }
    w->e = e;
    w->full = e == w->all; /* loads in full handlers access all lanes of the vector register */
    if (e != w->mask_lanes) {
        w->core->level->expand_mask(w->mask_row, e, w->n);
        w->mask_lanes = e;
    }
}
