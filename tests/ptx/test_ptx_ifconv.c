/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which sides of divergent branches if-conversion converts to guarded instructions. prop_ptx and prop_ptx_eval test the
 * results of the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define KERNEL(body)                                                                         \
    ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p, .param .u32 n) {\n" \
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;\n"                                \
    "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x;\n"                     \
    "mul.wide.u32 %rd2,%r2,4; add.s64 %rd3,%rd1,%rd2; mov.u32 %r3,7;\n"                      \
    "setp.lt.u32 %p1,%r2,9;\n" body "J: st.global.u32 [%rd3],%r3;\nret; }\n"

static void code_of(const char *text, struct lw_buffer *out)
{
    struct isa_object *object;
    struct lw_error err;

    if (ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    lw_buffer_init(out);
    isa_disassemble(object, &out->sink);
    isa_object_destroy(object);
}

static void is_straight(const char *text, const char *has)
{
    struct lw_buffer out;

    code_of(text, &out);
    if (strstr(out.text, "bra ") != NULL || strstr(out.text, "bs") != NULL ||
        (has != NULL && strstr(out.text, has) == NULL))
        fail_msg("%s", out.text);
    lw_buffer_fini(&out);
}

static void branches(const char *text)
{
    struct lw_buffer out;

    code_of(text, &out);
    if (strstr(out.text, "bra ") == NULL)
        fail_msg("%s", out.text);
    lw_buffer_fini(&out);
}

static void accesses_of_an_arm_get_its_guard(void **state)
{
    (void)state;
    is_straight(KERNEL("@%p1 bra J;\nld.global.u32 %r3,[%rd3+4]; st.global.u32 [%rd3+8],%r3;\n"),
                "@!p0 st.global.b32 [s0:1+v0*4+8]");
    is_straight(KERNEL("@%p1 bra J;\nld.global.u32 %r3,[%rd3+4];\n"), "@!p0 ld.global.b32");
}

static void what_only_the_arm_reads_needs_no_guard(void **state)
{
    (void)state;
    /* The sum is live after the branch, but the product is not, so the product needs no guard. */
    is_straight(KERNEL("@%p1 bra J;\nmul.lo.u32 %r4,%r2,%r2; add.u32 %r3,%r3,%r4;\n"),
                "\n    v_mul_u32");
    is_straight(KERNEL("@%p1 bra J;\nmul.lo.u32 %r4,%r2,%r2; add.u32 %r3,%r3,%r4;\n"),
                "@!p0 v_add_u32");
}

static void what_lives_from_round_to_round_keeps_the_guard(void **state)
{
    (void)state;
    /* Only the branch side itself reads the value, but in the next iteration of the loop. */
    struct lw_buffer out;

    code_of(KERNEL("mov.u32 %r4,0; mov.u32 %r5,0;\nL: shr.u32 %r6,%r2,%r5; and.b32 %r6,%r6,1; setp.eq.u32 %p2,%r6,0;\n"
                   "@%p2 bra M; add.u32 %r4,%r4,1; st.global.u32 [%rd3+4],%r4;\n"
                   "M: add.u32 %r5,%r5,1; setp.lt.u32 %p3,%r5,%r1; @%p3 bra L;\n"), &out);
    if (strstr(out.text, "@!p0 v_add_u32") == NULL || strstr(out.text, "@!p0 st.global") == NULL)
        fail_msg("%s", out.text);
    lw_buffer_fini(&out);
}

static void both_arms_of_an_if_with_else_go(void **state)
{
    (void)state;
    is_straight(KERNEL("@%p1 bra E;\nadd.u32 %r3,%r2,5; bra J;\nE: sub.u32 %r3,%r2,%r1;\n"),
                "@p0 v_sub_u32");
}

static void long_sides_and_each_single_reason_keep_their_branch(void **state)
{
    (void)state;
#define FOUR "add.u32 %r3,%r3,%r2; mul.lo.u32 %r3,%r3,%r2; xor.b32 %r3,%r3,%r2; sub.u32 %r3,%r3,%r2;\n"
    is_straight(KERNEL("@%p1 bra J;\n" FOUR FOUR), NULL);
    branches(KERNEL("@%p1 bra J;\n" FOUR FOUR "add.u32 %r3,%r3,%r2;\n"));
    branches(KERNEL("@%p1 bra J;\nbar.sync 0;\n"));
    branches(KERNEL("@%p1 bra J;\nvote.sync.any.pred %p2,%p1,-1; selp.u32 %r3,1,2,%p2;\n"));
    branches(KERNEL("@%p1 bra J;\natom.global.add.u32 %r3,[%rd1],1;\n"));
    branches(KERNEL("@%p1 bra J;\nld.u32 %r3,[%rd3];\n")); /* a generic address, as in code for debuggers */
    branches(KERNEL("@%p1 bra J;\nsetp.lt.u32 %p1,%r2,3; selp.u32 %r3,1,2,%p1;\n"));
    branches(KERNEL("@%p1 bra J;\n@%p1 add.u32 %r3,%r3,1;\n"));
    /* A uniform branch is cheap and skips instructions, so it remains a branch. */
    branches(KERNEL("setp.lt.u32 %p3,%r1,3;\n@%p3 bra J;\nadd.u32 %r3,%r2,1;\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_of_an_arm_get_its_guard),
        cmocka_unit_test(what_only_the_arm_reads_needs_no_guard),
        cmocka_unit_test(what_lives_from_round_to_round_keeps_the_guard),
        cmocka_unit_test(both_arms_of_an_if_with_else_go),
        cmocka_unit_test(long_sides_and_each_single_reason_keep_their_branch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
