/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that flag ISA_F_PARTIAL is set for exactly the instructions that the arithmetic check can report, except those for
 * which is_sum() is true. Also tests that the translator guards instructions with this flag. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "check/chk_priv.h"

/* Return whether the instruction is a sum or another instruction whose result may overflow, but for which translators
 * generate no guard. */
static bool is_sum(enum isa_op op)
{
    switch (op) {
    case ISA_V_ADD_F32: case ISA_V_SUB_F32: case ISA_V_MUL_F32: case ISA_V_FMA_F32:
    case ISA_V_ADD_F64: case ISA_V_SUB_F64: case ISA_V_MUL_F64: case ISA_V_FMA_F64: return true;
    default: return false;
    }
}

static void what_is_reported_is_what_is_guarded(void **state)
{
    /* a pointer to the checker, as at the start of the state of each check */
    struct chk chk = {.options.kinds = ~UINT64_C(0)}, *of = &chk;

    (void)state;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        struct isa_insn insn = {.op = (uint16_t)op, .guard = ISA_PT, .xkind = ISA_X_VECTOR, .x = 1};
        bool wanted = false;

        for (unsigned from = 0; from <= ISA_DT_F64; from++)
            for (unsigned to = 0; to <= (op == ISA_V_CVT ? ISA_DT_F64 : 0); to++) {
                if (op == ISA_V_CVT) {
                    isa_mod_set(&insn, ISA_MOD_STYPE, from);
                    isa_mod_set(&insn, ISA_MOD_DTYPE, to);
                }
                if (!chk_arith_observer.wants(&of, NULL, 0, &insn))
                    continue;
                wanted = true;
                if (!is_sum((enum isa_op)op) && !isa_insn_is_partial(&insn))
                    fail_msg("%s, types %u to %u: reported, but not guarded", info->mnemonic, from, to);
            }
        if (wanted != (is_sum((enum isa_op)op) || (info->flags & ISA_F_PARTIAL) != 0))
            fail_msg("%s: %s ISA_F_PARTIAL, %s reported", info->mnemonic,
                     info->flags & ISA_F_PARTIAL ? "has" : "lacks", wanted ? "is" : "is not");
    }
}

static void what_an_instruction_says_itself_is_no_reason(void **state)
{
    struct isa_insn insn = {.op = ISA_V_SHL_B32, .guard = ISA_PT, .xkind = ISA_X_IMM, .x = 31};

    (void)state;
    assert_false(isa_insn_is_partial(&insn));
    insn.x = 0;
    assert_false(isa_insn_is_partial(&insn));
    insn.x = 40;
    assert_true(isa_insn_is_partial(&insn));
    insn.op = ISA_V_SHL_B64; /* a shift of 64 bits by 40 is in range */
    assert_false(isa_insn_is_partial(&insn));
    insn.op = ISA_S_SHR_S64;
    assert_false(isa_insn_is_partial(&insn));
    insn.x = 64;
    assert_true(isa_insn_is_partial(&insn));
    insn = (struct isa_insn){.op = ISA_V_DIV_U32, .guard = ISA_PT, .xkind = ISA_X_IMM, .x = 70};
    assert_false(isa_insn_is_partial(&insn));
    insn.x = 0;
    assert_true(isa_insn_is_partial(&insn));
    insn = (struct isa_insn){.op = ISA_V_CVT, .guard = ISA_PT, .xkind = ISA_X_VECTOR};
    isa_mod_set(&insn, ISA_MOD_STYPE, ISA_DT_F32);
    isa_mod_set(&insn, ISA_MOD_DTYPE, ISA_DT_S32);
    assert_true(isa_insn_is_partial(&insn));
    isa_mod_set(&insn, ISA_MOD_CSAT, 1);
    assert_false(isa_insn_is_partial(&insn));
    isa_mod_set(&insn, ISA_MOD_CSAT, 0);
    isa_mod_set(&insn, ISA_MOD_STYPE, ISA_DT_S32);
    isa_mod_set(&insn, ISA_MOD_DTYPE, ISA_DT_F32);
    assert_false(isa_insn_is_partial(&insn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_reported_is_what_is_guarded),
        cmocka_unit_test(what_an_instruction_says_itself_is_no_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
