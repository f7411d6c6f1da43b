/* SPDX-License-Identifier: Apache-2.0 */
/* Computes liveness along the paths of a lane: the registers that may be read before they are written. */
#include "check/init/chk_init_priv.h"

#include <stdlib.h>

static void set_add(struct init_set *set, unsigned number)
{
    set->w[number / 64] |= UINT64_C(1) << number % 64;
}
static void set_join(struct init_set *set, const struct init_set *other)
{
    for (unsigned i = 0; i < INIT_SET_WORDS; i++)
        set->w[i] |= other->w[i];
}

/** Gets the registers that an instruction reads, and the registers that it defines in all lanes. @exec_written: the
 *  program writes exec. */
static void read_insn(const struct isa_insn *insn, bool exec_written, struct init_set *use,
                      struct init_set *def)
{
    const unsigned flags = isa_op_info((enum isa_op)insn->op)->flags;
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, uses);
    const bool guarded = insn->guard != ISA_PT || insn->guard_neg;

    memset(use, 0, sizeof *use);
    memset(def, 0, sizeof *def);
    for (unsigned i = 0; i < count; i++) {
        bool lanes = uses[i].reg_class == ISA_REG_V || uses[i].reg_class == ISA_REG_P;
        /* An instruction without a guard defines a register in all lanes. There are two exceptions: v_writelane, which
         * has ISA_F_SCALAR, writes one lane, and in a program that writes exec any instruction may write only some
         * lanes. */
        bool whole = !guarded && !(lanes && (exec_written || flags & ISA_F_SCALAR));

        for (unsigned k = 0; k < uses[i].count; k++) {
            struct isa_reg_use one = uses[i];
            one.first = (uint8_t)(one.first + k);
            if (uses[i].reg_class == ISA_REG_B)
                continue;
            if (!uses[i].written)
                set_add(use, isa_reg_number(&one));
            else if (whole)
                set_add(def, isa_reg_number(&one));
        }
    }
    if (guarded) {
        struct isa_reg_use one = {.reg_class = insn->guard_scalar ? ISA_REG_SP : ISA_REG_P,
                                  .first = insn->guard, .count = 1};
        if (insn->guard < ISA_PT)
            set_add(use, isa_reg_number(&one));
    }
}

struct init_set *chk_live(const struct emu_program *program)
{
    const struct isa_object *object = emu_program_object(program);
    const uint32_t count = (uint32_t)object->text_count;
    struct init_set *live = calloc((size_t)count + 1, sizeof *live);
    struct init_set returns = {{0}}, entries = {{0}}, anything = {{0}};
    bool exec_written = false, changed = true, indirect = false;

    if (live == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct isa_insn *insn = chk_insn_at(program, i);
        struct isa_reg_use uses[ISA_MAX_USES];
        unsigned n = isa_insn_uses(insn, uses);

        for (unsigned k = 0; k < n; k++)
            exec_written |= uses[k].written && uses[k].reg_class == ISA_REG_S &&
                            uses[k].first + uses[k].count > 126;
        indirect |= insn->op == ISA_BRX;
    }
    while (changed) {
        changed = false;
        for (uint32_t i = count; i-- > 0;) {
            const struct isa_insn *insn = chk_insn_at(program, i);
            const unsigned flags = isa_op_info((enum isa_op)insn->op)->flags;
            struct init_set out = {{0}}, use, def;
            int64_t target;

            if (!isa_insn_ends(insn) || exec_written)
                set_join(&out, &live[i + 1]);
            if (isa_insn_jumps(insn, i, &target) && target >= 0 && target < count)
                set_join(&out, &live[target]);
            if (flags & ISA_F_CALL) {
                if (isa_insn_target(insn, i, &target) && target >= 0 && target < count)
                    set_join(&out, &live[target]);
                else
                    set_join(&out, &entries);
                set_join(&out, &live[i + 1]);
                set_join(&returns, &live[i + 1]);
            }
            if (insn->op == ISA_RET)
                set_join(&out, &returns);
            if (insn->op == ISA_BRX)
                set_join(&out, &anything);
            read_insn(insn, exec_written, &use, &def);
            for (unsigned k = 0; k < INIT_SET_WORDS; k++) {
                uint64_t in = use.w[k] | (out.w[k] & ~def.w[k]);
                changed |= in != live[i].w[k];
                live[i].w[k] = in;
            }
            if (indirect)
                set_join(&anything, &live[i]);
        }
        for (unsigned f = 0; f < object->function_count; f++)
            if (!object->functions[f].kernel)
                set_join(&entries, &live[object->functions[f].first]);
    }
    return live;
}
