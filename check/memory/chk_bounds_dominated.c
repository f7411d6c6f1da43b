/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that need no check of their own, because the check of an earlier access is sufficient. The earlier
 * access is in the same straight-line code and uses the same registers and the same variable, so that the two
 * addresses differ by a constant. Every lane that reaches the later access has executed the earlier one.
 */
#include "check/chk_priv.h"

#include <stdlib.h>

enum { LEADERS = 8 }; /* maximum number of accesses that can be leaders of the next instruction */

static bool overlaps(unsigned first, unsigned count, unsigned other, unsigned other_count)
{
    return first < other + other_count && other < first + count;
}

static bool has_base(const struct isa_insn *insn)
{
    const unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);

    return mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32;
}

/** Returns true if every lane that reaches the instruction accesses memory, at an address in a vector register. */
static bool may_lead(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    return info->format == ISA_FMT_MEM && !(info->flags & ISA_F_SCALAR) && !insn->a_scalar &&
           insn->guard == ISA_PT && !insn->guard_neg;
}

static bool follows(const struct isa_object *object, const struct isa_insn *first, uint32_t lead,
                    const struct isa_insn *insn, uint32_t index)
{
    const struct isa_bound *a = isa_object_bound_at(object, lead), *b = isa_object_bound_at(object, index);

    return insn->op == first->op && insn->a == first->a &&
           isa_mod_get(insn, ISA_MOD_AMODE) == isa_mod_get(first, ISA_MOD_AMODE) &&
           isa_mod_get(insn, ISA_MOD_ASCALE) == isa_mod_get(first, ISA_MOD_ASCALE) &&
           (!has_base(insn) || insn->c == first->c) && a->kind == b->kind && a->which == b->which &&
           a->bytes == b->bytes;
}

/** Returns true if @insn writes a register from which @lead computes its address, or changes the set of active lanes. */
static bool ends_lead(const struct isa_insn *insn, const struct isa_insn *lead)
{
    struct isa_reg_use use[ISA_MAX_USES];
    const unsigned uses = isa_insn_uses(insn, use);

    for (unsigned u = 0; u < uses; u++) {
        if (!use[u].written)
            continue;
        if (use[u].reg_class == ISA_REG_V && overlaps(use[u].first, use[u].count, lead->a, 2))
            return true;
        if (use[u].reg_class == ISA_REG_S &&
            (overlaps(use[u].first, use[u].count, ISA_S_EXEC, 2) ||
             (has_base(lead) && overlaps(use[u].first, use[u].count, lead->c, 2))))
            return true;
    }
    return false;
}

static void add(struct chk_bounds_lead *all, uint32_t lead, uint32_t index, const struct isa_insn *first,
                const struct isa_insn *insn)
{
    struct chk_bounds_lead *to = &all[lead];
    const int32_t above = isa_x_disp(insn->x) - isa_x_disp(first->x);
    const int32_t over = above + (int32_t)isa_mem_bytes(insn) - (int32_t)isa_mem_bytes(first);

    all[index].lead = lead;
    to->last = index;
    to->below = above < to->below ? above : to->below;
    to->above = over > to->above ? over : to->above;
}

struct chk_bounds_lead *chk_bounds_leads(const struct emu_program *program)
{
    const struct isa_object *object = emu_program_object(program);
    const uint32_t count = (uint32_t)object->text_count;
    struct chk_bounds_lead *all = calloc((size_t)count + 1, sizeof *all);
    bool *entered = calloc((size_t)count + 1, sizeof *entered); /* [instruction] true: a branch leads to the instruction */
    uint32_t open[LEADERS];
    unsigned open_count = 0;

    if (all == NULL || entered == NULL) {
        free(all);
        free(entered);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct isa_insn *insn = chk_insn_at(program, i);
        int64_t target;

        all[i] = (struct chk_bounds_lead){.lead = i, .last = i};
        if (isa_insn_target(insn, i, &target) && target >= 0 && target < count)
            entered[target] = true;
        entered[0] |= insn->op == ISA_BRX; /* an indirect branch may go to any instruction */
    }
    for (uint32_t i = 0; i < count && !entered[0]; i++) {
        const struct isa_insn *insn = chk_insn_at(program, i);
        unsigned k = 0, kept = 0;

        if (entered[i])
            open_count = 0;
        if (may_lead(insn) && isa_object_bound_at(object, i) != NULL) {
            while (k < open_count &&
                   !follows(object, chk_insn_at(program, open[k]), open[k], insn, i))
                k++;
            if (k < open_count)
                add(all, open[k], i, chk_insn_at(program, open[k]), insn);
            else if (open_count < LEADERS)
                open[open_count++] = i;
        }
        if (isa_op_info((enum isa_op)insn->op)->flags & (ISA_F_CONTROL | ISA_F_BRANCH | ISA_F_CALL | ISA_F_BARRIER))
            open_count = 0;
        for (k = 0; k < open_count; k++)
            if (!ends_lead(insn, chk_insn_at(program, open[k])))
                open[kept++] = open[k];
        open_count = kept;
    }
    free(entered);
    return all;
}
