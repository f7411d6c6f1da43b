/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which values may differ between the lanes of a split, and so which branches may part
 * them. A value is divergent when
 *   - it comes from the lane (tid, laneid), from memory that may change, an atomic or
 *     another lane;
 *   - an operand or the guard of its instruction is divergent;
 *   - it is assigned inside the region of a divergent branch (from the branch to its
 *     immediate post-dominator) and lives into that post-dominator, or into a block that
 *     both sides of the branch reach: the lanes come together with different values;
 *   - it is assigned in a loop that a divergent branch leaves, and lives into a block
 *     behind the loop: the lanes leave in different iterations (MACHINE 3).
 * Everything else (parameters, block and grid indices, literals and what is computed from
 * them) is uniform.
 */
#include "ptx/ptx_priv.h"

struct divergence {
    struct ptx_unit *unit;
    PTX_LIST(uint32_t) values;   /* vregs found divergent, to be spread */
    PTX_LIST(uint32_t) branches; /* blocks with a divergent branch, to be spread */
    uint32_t *use_first, *use;   /* by vreg: instructions, or code.count + block */
    uint32_t *def_first, *def;   /* by vreg: blocks with a definition */
    uint32_t *block_of;
    uint32_t *mark;              /* by block: in the region at hand */
    uint8_t *sides;              /* by block: reached from which side */
    uint32_t stamp;
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

static bool is_source(const struct ptx_mi *mi)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);

    if (mi->in.op == ISA_V_S2R || mi->in.op == ISA_V_S2R_B64)
        return !isa_special_info((enum isa_special)mi->in.x)->uniform ||
               isa_special_info((enum isa_special)mi->in.x)->order != ISA_ORDER_NONE;
    if (mi->in.op == ISA_LD_CONST || mi->flags & PTX_MI_READONLY)
        return false; /* as its address */
    if (mi->flags & PTX_MI_PIN)
        return true; /* what a call passes */
    return (info->flags & (ISA_F_MEMORY | ISA_F_CROSS)) != 0;
}

/* Lists of uses and definitions, counted and then filled. */
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

static bool defined_in_region(const struct divergence *d, uint32_t v)
{
    for (uint32_t i = v == 0 ? 0 : d->def_first[v - 1]; i < d->def_first[v]; i++) {
        if (d->mark[d->def[i]] == d->stamp)
            return true;
    }
    return false;
}

static void join_diverges(struct divergence *d, uint32_t block)
{
    const struct ptx_unit *unit = d->unit;

    for (size_t i = 0; i < unit->live_in[block].count; i++) {
        uint32_t v = unit->live_in[block].at[i];

        if (!unit->vregs.at[v].divergent && defined_in_region(d, v))
            value_diverges(d, v);
    }
}

static void loop_exits_diverge(struct divergence *d, uint32_t loop)
{
    struct ptx_unit *unit = d->unit;
    PTX_LIST(uint32_t) work = { 0 };
    PTX_LIST(uint32_t) exits = { 0 };
    uint32_t header = unit->loops.at[loop].header;

    if (unit->loops.at[loop].divergent)
        return;
    unit->loops.at[loop].divergent = true;
    d->stamp++;
    *PTX_PUSH(unit->job, work) = header;
    d->mark[header] = d->stamp;
    while (work.count != 0) {
        uint32_t b = work.at[--work.count];

        for (unsigned k = 0; k < unit->blocks.at[b].succ_count; k++) {
            uint32_t s = unit->blocks.at[b].succ[k];

            if (d->mark[s] == d->stamp)
                continue;
            if (!ptx_in_loop(unit, s, loop)) {
                *PTX_PUSH(unit->job, exits) = s;
                continue;
            }
            d->mark[s] = d->stamp;
            *PTX_PUSH(unit->job, work) = s;
        }
    }
    for (size_t i = 0; i < exits.count; i++)
        join_diverges(d, exits.at[i]);
}

static void branch_diverges(struct divergence *d, uint32_t x)
{
    struct ptx_unit *unit = d->unit;
    const struct ptx_block *from = &unit->blocks.at[x];
    PTX_LIST(uint32_t) work = { 0 };
    PTX_LIST(uint32_t) region = { 0 };
    uint32_t join = from->ipdom;

    d->stamp++;
    for (unsigned side = 0; side < 2; side++) {
        uint8_t bit = (uint8_t)(1 << side);

        *PTX_PUSH(unit->job, work) = from->succ[side];
        while (work.count != 0) {
            uint32_t b = work.at[--work.count];

            if (b == join)
                continue;
            if (d->mark[b] != d->stamp) {
                d->mark[b] = d->stamp;
                d->sides[b] = 0;
                *PTX_PUSH(unit->job, region) = b;
            }
            if (d->sides[b] & bit)
                continue;
            d->sides[b] |= bit;
            for (unsigned k = 0; k < unit->blocks.at[b].succ_count; k++) {
                if (!ptx_is_exit_edge(&unit->blocks.at[b], k))
                    *PTX_PUSH(unit->job, work) = unit->blocks.at[b].succ[k];
            }
        }
    }
    for (size_t i = 0; i < region.count; i++)
        unit->blocks.at[region.at[i]].barrier_flow = true;
    if (join != PTX_NONE)
        join_diverges(d, join);
    for (size_t i = 0; i < region.count; i++) {
        if (d->sides[region.at[i]] == 3)
            join_diverges(d, region.at[i]);
    }
    for (uint32_t l = from->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
        if (ptx_in_loop(unit, from->succ[0], l) && ptx_in_loop(unit, from->succ[1], l))
            break;
        loop_exits_diverge(d, l);
    }
    /* sides that leave an outer loop further on leave it in different iterations, too */
    for (size_t i = 0; i < region.count; i++) {
        const struct ptx_block *b = &unit->blocks.at[region.at[i]];

        for (uint32_t l = b->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
            bool leaves = false;

            if (!ptx_in_loop(unit, x, l))
                continue;
            for (unsigned k = 0; k < b->succ_count; k++)
                leaves |= !ptx_in_loop(unit, b->succ[k], l);
            if (!leaves)
                break;
            if (join == PTX_NONE || !ptx_in_loop(unit, join, l))
                loop_exits_diverge(d, l);
        }
    }
}

void ptx_divergence(struct ptx_unit *unit)
{
    struct divergence d = { .unit = unit };
    size_t n = unit->vregs.count, blocks = unit->blocks.count;
    size_t value = 0, branch = 0;

    ptx_liveness(unit);
    d.use_first = PTX_ARRAY(unit->job, uint32_t, n + 2);
    d.def_first = PTX_ARRAY(unit->job, uint32_t, n + 2);
    d.block_of = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1);
    d.mark = PTX_ARRAY(unit->job, uint32_t, blocks + 1);
    d.sides = PTX_ARRAY(unit->job, uint8_t, blocks + 1);
    index_code(&d, false);
    for (size_t v = 0; v < n; v++) {
        d.use_first[v + 1] += d.use_first[v];
        d.def_first[v + 1] += d.def_first[v];
    }
    d.use = PTX_ARRAY(unit->job, uint32_t, d.use_first[n] + 1);
    d.def = PTX_ARRAY(unit->job, uint32_t, d.def_first[n] + 1);
    index_code(&d, true); /* afterwards the list of v ends at first[v], starts at first[v-1] */
    for (size_t v = 0; v < n; v++)
        unit->vregs.at[v].divergent = false;
    for (size_t i = 0; i < unit->code.count; i++) {
        if (is_source(&unit->code.at[i]))
            written_diverge(&d, &unit->code.at[i]);
    }
    while (value < d.values.count || branch < d.branches.count) {
        if (value < d.values.count) {
            uint32_t v = d.values.at[value++];

            for (uint32_t i = v == 0 ? 0 : d.use_first[v - 1]; i < d.use_first[v]; i++) {
                if (d.use[i] < unit->code.count) {
                    written_diverge(&d, &unit->code.at[d.use[i]]);
                } else {
                    uint32_t b = d.use[i] - (uint32_t)unit->code.count;

                    if (!unit->blocks.at[b].may_diverge && unit->blocks.at[b].exit_side == 0) {
                        unit->blocks.at[b].may_diverge = true;
                        *PTX_PUSH(unit->job, d.branches) = b;
                    }
                }
            }
        } else {
            branch_diverges(&d, d.branches.at[branch++]);
        }
    }
}
