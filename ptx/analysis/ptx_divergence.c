/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds values that may differ between the lanes of a split, and so branches that may diverge. A value
 * is divergent if
 *   - it comes from the lane (tid, laneid), from memory that may change, an atomic or another lane;
 *   - an operand or the guard of its instruction is divergent;
 *   - it is assigned inside the region of a divergent branch (from the branch to its immediate
 *     post-dominator) and is live into that post-dominator, or into a block that both sides of the
 *     branch reach: lanes with different values join there;
 *   - it is assigned in a loop that a divergent branch leaves, and is live into a block after the
 *     loop: the lanes leave in different iterations (MACHINE 3).
 * All other values (parameters, block and grid indices, literals and values computed from them) are
 * uniform.
 */
#include "ptx/ptx_priv.h"

struct divergence {
    struct ptx_unit *unit;
    PTX_LIST(uint32_t) values;   /* worklist of divergent vregs */
    uint64_t *branches;          /* worklist of blocks with a divergent branch: a bit for each block, in reverse post order */
    uint32_t branch_words;       /* number of words of @branches up to the last word with a set bit */
    uint32_t *use_first, *use;   /* by vreg: instructions that use the vreg; a branch is code.count + its block */
    uint32_t *def_first, *def;   /* by vreg: blocks that define the vreg */
    uint32_t *block_of;
    uint32_t *mark;              /* by block: equal to `stamp` if the block is in the current region */
    uint8_t *sides;              /* by block of the current region: bit set of the sides of the branch from which the block
                                  * is reached */
    uint32_t stamp;
    /* A region whose only entry is its branch (a closed region) is traversed once. Outer regions then include only its
     * branch, not its other blocks. By block: */
    uint8_t *closed;             /* the branch of the block was processed, and its region is closed */
    uint32_t *owner;             /* 1 + block of the branch whose closed region directly contains the block, or 0 if none */
    uint32_t *enclosing_loop;    /* if the block ends with the branch of a closed region: depth of the innermost loop that
                                  * the region does not leave, or 0 if there is none */
    PTX_LIST(uint32_t) work, region, exits; /* work: blocks to visit; region: the last result of find_region(); exits: the
                                             * blocks that follow a loop */
};

static void value_diverges(struct divergence *d, uint32_t vreg)
{
    if (d->unit->vregs.at[vreg].divergent)
        return;
    d->unit->vregs.at[vreg].divergent = true;
    *PTX_PUSH(d->unit->job, d->values) = vreg;
}

static void written_diverge(struct divergence *d, const struct ptx_mi *mi)
{
    for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
        if (ptx_mi_writes(mi, (enum ptx_slot)s))
            value_diverges(d, ptx_ref_vreg(mi->ref[s]));
    }
}

bool ptx_diverges_itself(const struct ptx_mi *mi)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);

    if (mi->in.op == ISA_V_S2R || mi->in.op == ISA_V_S2R_B64)
        return !isa_special_info((enum isa_special)mi->in.x)->uniform ||
               isa_special_info((enum isa_special)mi->in.x)->order != ISA_ORDER_NONE;
    if (mi->in.op == ISA_LD_CONST || mi->flags & PTX_MI_READONLY)
        return false; /* Nothing stores to this memory, so lanes that read the same address get the same value. */
    if (mi->flags & PTX_MI_PIN)
        return true; /* The register gets an argument or a result of a call, which may differ between lanes. */
    return (info->flags & (ISA_F_MEMORY | ISA_F_CROSS)) != 0;
}

/* Lists the uses and definitions of each register. The first call counts them, the second (@fill) stores them. */
static void index_code(struct divergence *d, bool fill)
{
    struct ptx_unit *unit = d->unit;

    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        uint32_t bi = unit->rpo[k];
        const struct ptx_block *b = &unit->blocks.at[bi];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            d->block_of[i] = bi;
            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                uint32_t v = ptx_ref_vreg(mi->ref[s]);

                if (ptx_mi_writes(mi, (enum ptx_slot)s)) {
                    if (fill)
                        d->def[d->def_first[v]++] = bi;
                    else
                        d->def_first[v + 1]++;
                } else if (ptx_ref_is_vreg(mi->ref[s])) {
                    if (fill)
                        d->use[d->use_first[v]++] = i;
                    else
                        d->use_first[v + 1]++;
                }
            }
        }
        if (b->end == PTX_END_BRANCH) {
            uint32_t v = ptx_ref_vreg(b->guard);

            if (fill)
                d->use[d->use_first[v]++] = (uint32_t)unit->code.count + bi;
            else
                d->use_first[v + 1]++;
        }
    }
}

/* Returns true if @block is marked. If @regions is true, also returns true if the branch of a closed region that contains
 * the block is marked, because find_region() marks only the branch of such a region. */
static bool is_marked(const struct divergence *d, uint32_t block, bool regions)
{
    while (d->mark[block] != d->stamp) {
        if (!regions || d->owner[block] == 0)
            return false;
        block = d->owner[block] - 1;
    }
    return true;
}

static bool defined_in_region(const struct divergence *d, uint32_t v, bool regions)
{
    for (uint32_t i = v == 0 ? 0 : d->def_first[v - 1]; i < d->def_first[v]; i++) {
        if (is_marked(d, d->def[i], regions))
            return true;
    }
    return false;
}

static void join_diverges(struct divergence *d, uint32_t block, bool regions)
{
    struct ptx_unit *unit = d->unit;

    for (size_t i = 0; i < unit->live_in[block].count; i++) {
        uint32_t v = unit->live_in[block].at[i];

        if ((unit->mixed != NULL ? unit->mixed[v] : unit->vregs.at[v].divergent) ||
            !defined_in_region(d, v, regions))
            continue;
        if (unit->mixed != NULL)
            unit->mixed[v] = 1;
        value_diverges(d, v);
    }
}

static void loop_exits_diverge(struct divergence *d, uint32_t loop)
{
    struct ptx_unit *unit = d->unit;
    uint32_t header = unit->loops.at[loop].header;

    if (unit->loops.at[loop].divergent)
        return;
    unit->loops.at[loop].divergent = true;
    d->stamp++;
    d->exits.count = 0;
    *PTX_PUSH(unit->job, d->work) = header;
    d->mark[header] = d->stamp;
    while (d->work.count != 0) {
        uint32_t b = d->work.at[--d->work.count];

        for (unsigned k = 0; k < unit->blocks.at[b].succ_count; k++) {
            uint32_t s = unit->blocks.at[b].succ[k];

            if (d->mark[s] == d->stamp)
                continue;
            if (!ptx_in_loop(unit, s, loop)) {
                *PTX_PUSH(unit->job, d->exits) = s;
                continue;
            }
            d->mark[s] = d->stamp;
            *PTX_PUSH(unit->job, d->work) = s;
        }
    }
    for (size_t i = 0; i < d->exits.count; i++)
        join_diverges(d, d->exits.at[i], false);
}

/* Returns true if find_region(@x), when it reaches branch @y, skips the region of @y and continues at the join of @y: the
 * region is closed and @x dominates its branch. */
static bool passes_by(const struct divergence *d, uint32_t x, uint32_t y)
{
    return d->closed[y] && y != x && ptx_dominates(d->unit, x, y);
}

/* Stores the blocks of the region of branch @x in d->region. For a closed region inside this region, only the block with the
 * branch of the closed region is stored. */
static void find_region(struct divergence *d, uint32_t x)
{
    const struct ptx_unit *unit = d->unit;
    const struct ptx_block *from = &unit->blocks.at[x];

    d->stamp++;
    d->region.count = 0;
    for (unsigned side = 0; side < 2; side++) {
        uint8_t bit = (uint8_t)(1 << side);

        *PTX_PUSH(unit->job, d->work) = from->succ[side];
        while (d->work.count != 0) {
            uint32_t b = d->work.at[--d->work.count];
            const struct ptx_block *block = &unit->blocks.at[b];

            if (b == from->ipdom)
                continue;
            if (d->mark[b] != d->stamp) {
                d->mark[b] = d->stamp;
                d->sides[b] = 0;
                *PTX_PUSH(unit->job, d->region) = b;
            }
            if (d->sides[b] & bit)
                continue;
            d->sides[b] |= bit;
            if (passes_by(d, x, b)) {
                if (block->ipdom != PTX_NONE)
                    *PTX_PUSH(unit->job, d->work) = block->ipdom;
                continue;
            }
            for (unsigned k = 0; k < block->succ_count; k++) {
                if (!ptx_is_exit_edge(block, k))
                    *PTX_PUSH(unit->job, d->work) = block->succ[k];
            }
        }
    }
}

/* Marks the region of @x, which is in d->region, as closed if @x is its only entry. Outer regions then need not traverse it
 * again. The region stays open if it contains inner blocks of another closed region, because a block has only one owner. */
static void close_region(struct divergence *d, uint32_t x, uint32_t enclosing_loop)
{
    const struct ptx_unit *unit = d->unit;

    for (size_t i = 0; i < d->region.count; i++) {
        uint32_t b = d->region.at[i];

        if (b == x || d->owner[b] != 0 || !ptx_dominates(unit, x, b))
            return;
    }
    for (size_t i = 0; i < d->region.count; i++)
        d->owner[d->region.at[i]] = x + 1;
    d->closed[x] = 1;
    d->enclosing_loop[x] = enclosing_loop == PTX_NONE ? 0 : unit->loops.at[enclosing_loop].depth;
}

static void branch_diverges(struct divergence *d, uint32_t x)
{
    struct ptx_unit *unit = d->unit;
    const struct ptx_block *from = &unit->blocks.at[x];
    uint32_t join = from->ipdom, enclosing_loop = from->loop; /* ends as the innermost loop that the region does not leave */

    find_region(d, x);
    for (size_t i = 0; i < d->region.count; i++)
        unit->blocks.at[d->region.at[i]].barrier_flow = true;
    if (join != PTX_NONE)
        join_diverges(d, join, true);
    for (size_t i = 0; i < d->region.count; i++) {
        if (d->sides[d->region.at[i]] == 3)
            join_diverges(d, d->region.at[i], true);
    }
    for (uint32_t l = from->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
        if (ptx_in_loop(unit, from->succ[0], l) && ptx_in_loop(unit, from->succ[1], l))
            break;
        loop_exits_diverge(d, l);
    }
    /* A side of the branch may leave outer loops later in the region. Lanes then leave these loops in different
     * iterations, too. */
    for (size_t i = 0; i < d->region.count; i++) {
        const struct ptx_block *b = &unit->blocks.at[d->region.at[i]];

        for (unsigned k = 0; k < b->succ_count; k++) {
            while (enclosing_loop != PTX_NONE && !ptx_in_loop(unit, b->succ[k], enclosing_loop))
                enclosing_loop = unit->loops.at[enclosing_loop].parent;
        }
        while (passes_by(d, x, d->region.at[i]) && enclosing_loop != PTX_NONE &&
               unit->loops.at[enclosing_loop].depth > d->enclosing_loop[d->region.at[i]])
            enclosing_loop = unit->loops.at[enclosing_loop].parent;
    }
    for (uint32_t l = from->loop; l != enclosing_loop; l = unit->loops.at[l].parent) {
        if (join == PTX_NONE || !ptx_in_loop(unit, join, l))
            loop_exits_diverge(d, l);
    }
    close_region(d, x, enclosing_loop);
}

/* Takes from the worklist the branch that is last in reverse post order, so that inner branches are processed before outer
 * ones. Returns false if the list is empty. */
static bool next_branch(struct divergence *d, uint32_t *block)
{
    for (; d->branch_words != 0; d->branch_words--) {
        uint64_t *word = &d->branches[d->branch_words - 1];

        if (*word == 0)
            continue;
        unsigned bit = 63 - (unsigned)__builtin_clzll(*word);

        *word &= ~(UINT64_C(1) << bit);
        *block = d->unit->rpo[(d->branch_words - 1) * 64 + bit];
        return true;
    }
    return false;
}

static void guard_diverges(struct divergence *d, uint32_t b)
{
    struct ptx_block *block = &d->unit->blocks.at[b];

    if (block->may_diverge || block->exit_side != 0)
        return;
    block->may_diverge = true;
    d->branches[block->rpo / 64] |= UINT64_C(1) << (block->rpo % 64);
    if (d->branch_words < block->rpo / 64 + 1)
        d->branch_words = block->rpo / 64 + 1;
}

void ptx_divergence(struct ptx_unit *unit)
{
    struct divergence d = { .unit = unit };
    size_t n = unit->vregs.count, blocks = unit->blocks.count;
    size_t value = 0;
    uint32_t branch;

    ptx_liveness(unit);
    if (unit->wants_affine) {
        unit->mixed = PTX_ARRAY(unit->job, uint8_t, n + 1);
        unit->mixed_count = n;
    }
    d.use_first = PTX_ARRAY(unit->job, uint32_t, n + 2);
    d.def_first = PTX_ARRAY(unit->job, uint32_t, n + 2);
    d.block_of = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1);
    d.mark = PTX_ARRAY(unit->job, uint32_t, blocks + 1);
    d.sides = PTX_ARRAY(unit->job, uint8_t, blocks + 1);
    d.branches = PTX_ARRAY(unit->job, uint64_t, blocks / 64 + 1);
    d.closed = PTX_ARRAY(unit->job, uint8_t, blocks + 1);
    d.owner = PTX_ARRAY(unit->job, uint32_t, blocks + 1);
    d.enclosing_loop = PTX_ARRAY(unit->job, uint32_t, blocks + 1);
    index_code(&d, false);
    for (size_t v = 0; v < n; v++) {
        d.use_first[v + 1] += d.use_first[v];
        d.def_first[v + 1] += d.def_first[v];
    }
    d.use = PTX_ARRAY(unit->job, uint32_t, d.use_first[n] + 1);
    d.def = PTX_ARRAY(unit->job, uint32_t, d.def_first[n] + 1);
    index_code(&d, true); /* index_code() has moved the start of each list: the list of v now begins at first[v - 1] and ends
                           * before first[v]. */
    for (size_t v = 0; v < n; v++)
        unit->vregs.at[v].divergent = false;
    for (size_t i = 0; i < unit->code.count; i++) {
        if (ptx_diverges_itself(&unit->code.at[i]))
            written_diverge(&d, &unit->code.at[i]);
    }
    for (;;) {
        if (value < d.values.count) {
            uint32_t v = d.values.at[value++];

            for (uint32_t i = v == 0 ? 0 : d.use_first[v - 1]; i < d.use_first[v]; i++) {
                if (d.use[i] < unit->code.count)
                    written_diverge(&d, &unit->code.at[d.use[i]]);
                else
                    guard_diverges(&d, d.use[i] - (uint32_t)unit->code.count);
            }
        } else if (next_branch(&d, &branch)) {
            branch_diverges(&d, branch);
        } else {
            break;
        }
    }
}
