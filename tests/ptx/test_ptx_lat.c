/* SPDX-License-Identifier: Apache-2.0 */
/* Tests LAT barriers (ptx_options.lat_barriers): the positions at which the translator inserts the barriers, and that no other
 * code changes. U1 and U2 are unit tests of section 16.1 of dwr.md, the specification of the paper on dynamic warp resizing,
 * which is not part of Lanewise. The code is listing 1 of the paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static struct isa_object *translate(const char *text, bool barriers, unsigned registers)
{
    struct isa_object *object;
    struct ptx_options options;
    struct lw_error err;

    ptx_options_default(&options);
    options.lat_barriers = barriers;
    options.vector_registers = registers;
    if (ptx_translate("t.ptx", text, strlen(text), &options, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    return object;
}

static struct isa_insn insn_of(const struct isa_object *object, uint32_t at)
{
    struct isa_insn insn;

    assert_true(at < object->text_count);
    assert_true(isa_insn_decode(object->text[at], &insn));
    return insn;
}

static bool is_lat(const struct isa_insn *insn)
{
    switch (insn->op) {
    case ISA_LD_GLOBAL:
        return isa_mod_get(insn, ISA_MOD_CONSTANT) != ISA_CONSTANT_ON;
    case ISA_LD_LOCAL: case ISA_LD_GENERIC: case ISA_ST_GLOBAL: case ISA_ST_LOCAL: case ISA_ST_GENERIC:
        return true;
    default:
        return false;
    }
}

/** Returns the mnemonics of an object's instructions in @out, separated by spaces. */
static void names(const struct isa_object *object, char *out, size_t size)
{
    *out = '\0';
    for (uint32_t i = 0; i < object->text_count; i++)
        snprintf(out + strlen(out), size - strlen(out), "%s%s", i == 0 ? "" : " ", isa_op_info((enum isa_op)insn_of(object, i).op)->mnemonic);
}

/** Checks that an unguarded barrier is directly before each LAT, that there are no other such barriers, and that all other code
 *  equals @plain. Returns the number of LATs. */
static unsigned check(const struct isa_object *plain, const struct isa_object *with)
{
    unsigned barriers = 0;
    uint32_t k = 0;

    for (uint32_t i = 0; i < with->text_count; i++) {
        struct isa_insn insn = insn_of(with, i);

        if (insn.op == ISA_BAR_SYNCH_PARTNER) {
            struct isa_insn next = insn_of(with, i + 1);

            assert_int_equal(insn.guard, ISA_PT);
            assert_true(is_lat(&next));
            barriers++;
            continue;
        }
        assert_true(!is_lat(&insn) || insn_of(with, i - 1).op == ISA_BAR_SYNCH_PARTNER);
        assert_int_equal(insn.op, insn_of(plain, k++).op);
    }
    assert_int_equal(k, plain->text_count);
    return barriers;
}

/* In translated code, parameter loads are operands from the constant bank, and the branch is a guarded exit. So the code has 8
 * instructions, and 10 with barriers before the load and the store. The PTX of the listing has 9 and 11. */
static const char fragment[] = HEAD
    ".entry k(.param .u64 p, .param .s32 n) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<5>; .reg .b16 %rh<4>;\n"
    "ld.param.s32 %r3, [n];\n"
    "cvt.s64.s32 %rd1, %r3;\nld.param.u64 %rd2, [p];\nadd.u64 %rd3, %rd2, %rd1;\nld.global.s8 %r5, [%rd3+0];\n"
    "mov.u32 %r6, 0;\nsetp.eq.s32 %p2, %r5, %r6;\n@%p2 bra L;\nmov.u16 %rh2, 0;\nst.global.u8 [%rd3+0], %rh2;\nL: ret; }\n";

static void u1_the_fragment_of_listing_1(void **state)
{
    struct isa_object *plain = translate(fragment, false, 0), *with = translate(fragment, true, 0);
    char text[512];

    (void)state;
    assert_int_equal(with->text_count, plain->text_count + 2);
    assert_int_equal(check(plain, with), 2);
    names(plain, text, sizeof text);
    assert_string_equal(text, "v_cvt v_add_u64 ld.global v_setp_s32 exit v_mov_b32 st.global exit");
    names(with, text, sizeof text);
    assert_string_equal(text, "v_cvt v_add_u64 bar.synch_partner ld.global v_setp_s32 exit v_mov_b32 bar.synch_partner st.global exit");
    isa_object_destroy(plain);
    isa_object_destroy(with);
}

/* The loop begins with a load, and so does the target of the branch that skips the loop. */
static const char targets[] = HEAD
    ".entry k(.param .u64 p, .param .u32 n) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;\n"
    "mov.u32 %r3, 0;\n"
    "L: ld.global.u32 %r4, [%rd2]; add.u32 %r3, %r3, %r4; st.global.u32 [%rd2+4], %r3;\n"
    "setp.lt.u32 %p1, %r3, %r1; @%p1 bra L;\n"
    "setp.lt.u32 %p2, %r4, 5; @%p2 bra M;\n"
    "atom.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd2+8], %r5;\n"
    "M: st.global.u32 [%rd2+12], %r4; ret; }\n";

static void u2_branches_to_a_lat_land_on_its_barrier(void **state)
{
    struct isa_object *plain = translate(targets, false, 0), *with = translate(targets, true, 0);
    unsigned branches = 0, to_barriers = 0;

    (void)state;
    assert_int_equal(check(plain, with), 4); /* the atomic has no barrier */
    for (uint32_t i = 0; i < with->text_count; i++) {
        struct isa_insn insn = insn_of(with, i);

        if (insn.op != ISA_BRA)
            continue;
        branches++;
        assert_false(is_lat(&(struct isa_insn){.op = insn_of(with, i + 1 + insn.x).op}));
        to_barriers += insn_of(with, i + 1 + insn.x).op == ISA_BAR_SYNCH_PARTNER;
    }
    assert_true(branches >= 2);
    assert_true(to_barriers >= 1);
    isa_object_destroy(plain);
    isa_object_destroy(with);
}

static void other_accesses_have_none(void **state)
{
    static const char text[] = HEAD
        ".const .align 4 .b8 table[64];\n.shared .align 4 .b8 room[64];\n"
        ".entry k(.param .u64 p) {\n"
        ".reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd2, %r2; mov.u64 %rd3, table; add.u64 %rd3, %rd3, %rd2;\n"
        "ld.const.u32 %r3, [%rd3]; mov.u32 %r4, room; add.u32 %r4, %r4, %r2; st.shared.u32 [%r4], %r3; bar.sync 0; ld.shared.u32 %r5, [%r4];\n"
        "red.global.add.u32 [%rd1], %r5; ret; }\n";
    struct isa_object *plain = translate(text, false, 0), *with = translate(text, true, 0);

    (void)state;
    assert_int_equal(check(plain, with), 0);
    isa_object_destroy(plain);
    isa_object_destroy(with);
}

/* Accesses to local memory by which the register allocator spills registers have barriers, too. Each barrier remains directly
 * before its access, although the allocator does not handle barriers specially. */
static void spills_have_barriers(void **state)
{
    char text[8192];
    struct isa_object *plain, *with;
    unsigned locals = 0;

    (void)state;
    snprintf(text, sizeof text, "%s", HEAD ".entry k(.param .u64 p) {\n.reg .b32 %r<64>; .reg .b64 %rd<5>;\nld.param.u64 %rd1, [p];\n");
    for (unsigned i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "ld.global.u32 %%r%u, [%%rd1+%u];\n", i, 4 * i);
    for (unsigned i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "st.global.u32 [%%rd1+%u], %%r%u;\n", 4 * i, 39 - i);
    strcat(text, "ret; }\n");
    plain = translate(text, false, 16);
    with = translate(text, true, 16);
    for (uint32_t i = 0; i < with->text_count; i++)
        locals += insn_of(with, i).op == ISA_LD_LOCAL || insn_of(with, i).op == ISA_ST_LOCAL;
    assert_true(locals > 20);
    assert_int_equal(check(plain, with), 80 + locals);
    isa_object_destroy(plain);
    isa_object_destroy(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u1_the_fragment_of_listing_1),
        cmocka_unit_test(u2_branches_to_a_lat_land_on_its_barrier),
        cmocka_unit_test(other_accesses_have_none),
        cmocka_unit_test(spills_have_barriers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
