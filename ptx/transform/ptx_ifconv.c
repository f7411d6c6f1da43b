/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If-conversion: short sides of divergent branches become guarded instructions:
 *
 *         bssy b0, join                      @!p ld.shared.b32 v1, [v2]
 *         @p bra join, b0                    @!p v_add_f32 v3, v1, v3
 *         ld.shared.b32 v1, [v2]             @!p st.shared.b32 [v2], v3
 *         v_add_f32 v3, v1, v3
 *         st.shared.b32 [v2], v3
 *     join:
 *         bsync b0
 *
 * A side ("arm") is one block between the branch and its join, with one predecessor and one successor. Three kinds of
 * instructions get a guard: memory accesses, so that other lanes cannot fault; writes of registers that are live after the
 * side; and operations that are undefined for some operands, such as a division that the branch protects, so that arithmetic
 * checks see only the lanes that execute the side in the source. Other instructions, whose results only the side itself reads,
 * need no guard.
 *
 * Sides are not converted if they contain calls, atomics on which a loop may spin, operations across
 * lanes, reads of the active mask, or guarded instructions. Sides with accesses to local and generic memory are not
 * converted, either: such code is for debuggers, and a breakpoint on a line must only be hit by the lanes that reach
 * it.
 */
#include "ptx/ptx_priv.h"

enum { MAX_INSNS = 8, MAX_MEMORY = 4 };

struct ifconv {
    struct ptx_unit *unit;
    uint32_t *uses;   /* by vreg: number of reads in the whole function */
    uint32_t *inside; /* by vreg: number of reads in the current side */
    uint32_t *into;   /* by block: 1 + the block into which the block was merged */
    bool *taken;      /* by block: whether sides were merged into the block */
};

static bool insn_fits(const struct ptx_mi *mi, uint32_t guard, unsigned *memory)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);

    if (info->flags & (ISA_F_CONTROL | ISA_F_BARRIER | ISA_F_CROSS | ISA_F_SYNC | ISA_F_CALL |
                       ISA_F_SCALAR) ||
        ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]) ||
        mi->flags & (PTX_MI_SPIN | PTX_MI_PIN | PTX_MI_PROLOGUE | PTX_MI_CFA | PTX_MI_NO_GUARD |
                     PTX_MI_LINE))
        return false;
    if (info->flags & ISA_F_MEMORY) {
        switch (mi->in.op) {
        case ISA_LD_GLOBAL: case ISA_ST_GLOBAL: case ISA_RED_GLOBAL:
        case ISA_LD_SHARED: case ISA_ST_SHARED: case ISA_RED_SHARED:
        case ISA_LD_CONST: case ISA_TEX:
            ++*memory;
            break;
        default:
            return false;
        }
    }
    for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
        if (ptx_mi_writes(mi, (enum ptx_slot)s) && ptx_ref_vreg(mi->ref[s]) == guard)
            return false;
    }
    return true;
}

/* Returns the join if @arm is a short side of the branch in @from, otherwise PTX_NONE. */
static uint32_t arm_of(const struct ifconv *ic, uint32_t from, uint32_t arm, unsigned *count,
                       unsigned *memory)
{
    const struct ptx_unit *unit = ic->unit;
    const struct ptx_block *b = &unit->blocks.at[arm];
    uint32_t guard = ptx_ref_vreg(unit->blocks.at[from].guard);

    if (arm == from || b->pred_count != 1 || b->end != PTX_END_NEXT || b->succ_count != 1 ||
        b->succ[0] == arm || ic->taken[arm] || b->loop != unit->blocks.at[from].loop)
        return PTX_NONE;
    *count += b->count;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        if (!insn_fits(&unit->code.at[i], guard, memory))
            return PTX_NONE;
    }
    return b->succ[0];
}

/* Returns the sides that become guarded instructions: bit k for successor k. */
static unsigned arms_of(const struct ifconv *ic, uint32_t from)
{
    const struct ptx_block *b = &ic->unit->blocks.at[from];
    unsigned count[2] = { 0, 0 }, memory[2] = { 0, 0 };
    uint32_t join[2];

    if (b->end != PTX_END_BRANCH || !b->may_diverge || b->exit_side != 0 ||
        b->succ[0] == b->succ[1])
        return 0;
    for (unsigned k = 0; k < 2; k++)
        join[k] = arm_of(ic, from, b->succ[k], &count[k], &memory[k]);
    if (join[0] != PTX_NONE && join[0] == join[1] && count[0] + count[1] <= MAX_INSNS &&
        memory[0] + memory[1] <= MAX_MEMORY)
        return 3;
    for (unsigned k = 0; k < 2; k++) {
        if (join[k] == b->succ[1 - k] && count[k] <= MAX_INSNS && memory[k] <= MAX_MEMORY)
            return 1u << k;
    }
    return 0;
}

static void count_reads(const struct ptx_unit *unit, uint32_t *reads, const struct ptx_block *b)
{
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct ptx_mi *mi = &unit->code.at[i];

        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            if (ptx_mi_reads(mi, (enum ptx_slot)s))
                reads[ptx_ref_vreg(mi->ref[s])]++;
        }
    }
    if (b->end == PTX_END_BRANCH)
        reads[ptx_ref_vreg(b->guard)]++;
}

/* Adds the guard to the instructions of successor @k of @from that need a guard. */
static void guard_arm(struct ifconv *ic, uint32_t from, unsigned k)
{
    struct ptx_unit *unit = ic->unit;
    const struct ptx_block *b = &unit->blocks.at[from];
    const struct ptx_block *arm = &unit->blocks.at[b->succ[k]];

    count_reads(unit, ic->inside, arm);
    for (uint32_t i = arm->first; i < arm->first + arm->count; i++) {
        struct ptx_mi *mi = &unit->code.at[i];
        bool lives_on = false;

        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            uint32_t v = ptx_ref_vreg(mi->ref[s]);

            /* a register that has one definition and is read only in this side is not live after the side */
            if (ptx_mi_writes(mi, (enum ptx_slot)s))
                lives_on |= unit->vregs.at[v].def_count != 1 || !unit->vregs.at[v].ssa ||
                            ic->uses[v] != ic->inside[v];
        }
        if (!lives_on && !(isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_MEMORY) &&
            !isa_insn_is_partial(&mi->in)) {
            /* lanes that do not take the side execute the instruction, too, and a breakpoint must not stop these lanes */
            mi->flags |= PTX_MI_UNHOOKED;
            continue;
        }
        mi->ref[PTX_S_GUARD] = b->guard;
        mi->in.guard_neg = b->guard_neg ^ (k == 1);
        if (lives_on)
            mi->flags |= PTX_MI_PARTIAL;
    }
    for (uint32_t i = arm->first; i < arm->first + arm->count; i++) {
        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            if (ptx_ref_is_vreg(unit->code.at[i].ref[s]))
                ic->inside[ptx_ref_vreg(unit->code.at[i].ref[s])] = 0;
        }
    }
    ic->into[b->succ[k]] = from + 1;
}

/* Moves the terminator of @b to the end of its sides, one of which is successor @side. The terminator remains only if it has to
 * jump over other code. It gets the line of the first instruction after the branch, where the values of variables are right for
 * the lanes of both sides. */
static void end_after_arms(const struct ptx_unit *unit, struct ptx_block *b, unsigned side)
{
    const struct ptx_block *join = &unit->blocks.at[unit->blocks.at[b->succ[side]].succ[0]];

    b->line = join->count != 0 ? unit->code.at[join->first].line : join->line;
    b->merged = true;
}

static void put_block(struct ptx_unit *unit, const struct ptx_mi *old, const struct ptx_block *b)
{
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        *PTX_PUSH(unit->job, unit->code) = old[i];
}

/* Copies the code so that each side follows the block into which it was merged. */
static void move_code(struct ifconv *ic, const uint8_t *arms)
{
    struct ptx_unit *unit = ic->unit;
    const struct ptx_mi *old = unit->code.at;
    size_t retained = 0;

    unit->code.at = NULL;
    unit->code.count = unit->code.capacity = 0;
    for (size_t k = 0; k < unit->order.count; k++) {
        uint32_t bi = unit->order.at[k];
        struct ptx_block *b = &unit->blocks.at[bi];
        uint32_t first = (uint32_t)unit->code.count;

        if (ic->into[bi] != 0)
            continue; /* the block was merged into another block */
        unit->order.at[retained++] = bi;
        put_block(unit, old, b);
        if (arms[bi] != 0) {
            uint32_t side = arms[bi] == 2 ? 1 : 0;
            uint32_t join = unit->blocks.at[b->succ[side]].succ[0];

            for (unsigned s = 0; s < 2; s++) {
                if (arms[bi] >> s & 1)
                    put_block(unit, old, &unit->blocks.at[b->succ[s]]);
            }
            b->end = PTX_END_NEXT;
            b->succ_count = 1;
            b->succ[0] = join;
            b->guard = PTX_NO_REF;
        }
        b->first = first;
        b->count = (uint32_t)unit->code.count - first;
    }
    unit->order.count = retained;
    for (size_t i = 0; i < unit->blocks.count; i++) {
        if (ic->into[i] != 0) {
            unit->blocks.at[i].count = 0;
            unit->blocks.at[i].succ_count = 0;
            unit->blocks.at[i].end = PTX_END_EXIT;
        }
    }
}

static bool convert(struct ptx_unit *unit)
{
    struct ifconv ic = { .unit = unit };
    uint8_t *arms = PTX_ARRAY(unit->job, uint8_t, unit->blocks.count + 1);
    bool any = false;

    ic.into = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count + 1);
    ic.taken = PTX_ARRAY(unit->job, bool, unit->blocks.count + 1);
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        uint32_t from = unit->rpo[k];

        arms[from] = ic.into[from] != 0 ? 0 : (uint8_t)arms_of(&ic, from);
        if (arms[from] == 0)
            continue;
        if (!any) {
            ic.uses = PTX_ARRAY(unit->job, uint32_t, unit->vregs.count + 1);
            ic.inside = PTX_ARRAY(unit->job, uint32_t, unit->vregs.count + 1);
            for (uint32_t i = 0; i < unit->rpo_count; i++)
                count_reads(unit, ic.uses, &unit->blocks.at[unit->rpo[i]]);
        }
        any = true;
        ic.taken[from] = true;
        for (unsigned s = 0; s < 2; s++) {
            if (arms[from] >> s & 1)
                guard_arm(&ic, from, s);
        }
        end_after_arms(unit, &unit->blocks.at[from], arms[from] == 2 ? 1 : 0);
    }
    if (any)
        move_code(&ic, arms);
    return any;
}

/* Places a block directly after its only predecessor if the block is also the only successor of that predecessor. Then no jump
 * is needed. */
static void straighten(struct ptx_unit *unit)
{
    const struct ptx_mi *old = unit->code.at;
    uint32_t *order = PTX_ARRAY(unit->job, uint32_t, unit->order.count + 1);
    size_t n = 0;

    for (size_t k = 0; k < unit->order.count; k++) {
        uint32_t bi = unit->order.at[k];
        const struct ptx_block *b = &unit->blocks.at[bi];

        if (b->rpo == PTX_NONE)
            continue;
        if (bi != unit->entry && b->pred_count == 1 && unit->blocks.at[b->pred[0]].succ_count == 1)
            continue; /* the block was placed after its predecessor */
        for (order[n++] = bi;; order[n++] = bi) {
            b = &unit->blocks.at[bi];
            if (b->succ_count != 1 || unit->blocks.at[b->succ[0]].pred_count != 1 ||
                b->succ[0] == unit->entry)
                break;
            bi = b->succ[0];
        }
    }
    unit->code.at = NULL;
    unit->code.count = unit->code.capacity = 0;
    for (size_t k = 0; k < n; k++) {
        struct ptx_block *b = &unit->blocks.at[order[k]];
        uint32_t first = (uint32_t)unit->code.count;

        put_block(unit, old, b);
        b->first = first;
        unit->order.at[k] = order[k];
    }
    unit->order.count = n;
}

void ptx_ifconv(struct ptx_unit *unit)
{
    if (!convert(unit))
        return;
    ptx_cfg_rebuild(unit);
    straighten(unit);
    ptx_postdominators(unit);
    ptx_divergence(unit);
}
