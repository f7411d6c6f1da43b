/* SPDX-License-Identifier: Apache-2.0 */
/* Computes, for each instruction, the vector registers that a lane may still read from this instruction on. The method is
 * liveness analysis: backwards, to a fixed point. For real hardware, a compiler would provide this information: it would mark
 * the last reads of registers, or add instructions. */
#include "timing/decode/tim_static_priv.h"

#include <stdlib.h>

/* In a program that writes exec, any instruction may write only some lanes. v_writelane, which has ISA_F_SCALAR, writes one lane. */
bool tim_writes_all(const struct tim_code *code, uint32_t i)
{
    const struct isa_insn *insn = tim_insn_at(code, i);

    return insn->guard == ISA_PT && !insn->guard_neg && !code->writes_exec && (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR) == 0;
}

/** Gets the vector registers that instruction @i reads, and those that it writes in all lanes of the split. */
static void read_insn(const struct tim_code *code, uint32_t i, struct tim_vectors *use, struct tim_vectors *def)
{
    const struct isa_insn *insn = tim_insn_at(code, i);
    const bool whole = tim_writes_all(code, i);
    struct isa_reg_use uses[ISA_MAX_USES];
    const unsigned count = isa_insn_uses(insn, uses);

    *use = *def = (struct tim_vectors){{0}};
    for (unsigned u = 0; u < count; u++)
        for (unsigned k = 0; uses[u].reg_class == ISA_REG_V && k < uses[u].count; k++) {
            if (!uses[u].written)
                tim_vectors_add(use, uses[u].first + k);
            else if (whole)
                tim_vectors_add(def, uses[u].first + k);
        }
}

/** Returns whether the program writes exec, the scalar registers from s126 on. */
static bool writes_exec(const struct tim_code *code)
{
    for (uint32_t i = 0; i < code->count; i++) {
        struct isa_reg_use uses[ISA_MAX_USES];
        const unsigned count = isa_insn_uses(tim_insn_at(code, i), uses);

        for (unsigned k = 0; k < count; k++)
            if (uses[k].written && uses[k].reg_class == ISA_REG_S && uses[k].first + uses[k].count > 126)
                return true;
    }
    return false;
}

/* At calls, returns and indirect branches, where another function or an unknown instruction continues, all registers are live. */
void tim_live_after(const struct tim_code *code, uint32_t i, struct tim_vectors *out)
{
    const struct isa_insn *insn = tim_insn_at(code, i);
    int64_t target;

    if ((isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL) != 0 || insn->op == ISA_RET || insn->op == ISA_BRX) {
        memset(out, 0xff, sizeof *out);
        return;
    }
    if (!isa_insn_ends(insn) || code->writes_exec)
        tim_vectors_join(out, &code->live[i + 1]);
    if (isa_insn_jumps(insn, i, &target) && target >= 0 && target < (int64_t)code->count)
        tim_vectors_join(out, &code->live[target]);
}

bool tim_live_fill(struct tim_code *code)
{
    bool changed = true;

    code->writes_exec = writes_exec(code);
    code->live = calloc((size_t)code->count + 1, sizeof *code->live);
    if (code->live == NULL)
        return false;
    while (changed) {
        changed = false;
        for (uint32_t i = code->count; i-- > 0;) {
            struct tim_vectors out = {{0}}, use, def;

            tim_live_after(code, i, &out);
            read_insn(code, i, &use, &def);
            for (unsigned k = 0; k < LW_COUNT_OF(out.word); k++) {
                const uint64_t in = use.word[k] | (out.word[k] & ~def.word[k]);

                changed |= in != code->live[i].word[k];
                code->live[i].word[k] = in;
            }
        }
    }
    return true;
}
