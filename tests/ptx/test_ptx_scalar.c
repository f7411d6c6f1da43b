/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which instructions the translator moves to the scalar unit, and where this is not permitted (section 3 of
 * docs/reference/machine.md). prop_ptx tests the results of the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define KERNEL(body)                                                                         \
    ".version 7.0\n.target sm_75\n.address_size 64\n"                                        \
    ".const .align 4 .b8 table[64];\n.global .align 4 .b8 room[64];\n"                       \
    ".entry k(.param .u64 p, .param .u32 n) {\n"                                             \
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<4>;\n"               \
    "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x;\n" body "\nret; }\n"

/* Stores in @out a character for each instruction of the kernel: 's' for a scalar instruction, 'S' for a scalar branch, '|' for
 * bssy, '/' for bsync, 'b' for another branch, 'x' for exit, and 'v' for another instruction. Instructions that compute pointers
 * at the entry are omitted. */
static void shape(const char *text, bool no_scalar, char *out, size_t size)
{
    struct isa_object *object;
    struct ptx_options options;
    struct lw_error err;
    size_t n = 0;

    ptx_options_default(&options);
    options.no_scalar = no_scalar;
    if (ptx_translate("t.ptx", text, strlen(text), &options, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < object->text_count && n + 1 < size; i++) {
        struct isa_insn insn;
        unsigned flags;

        assert_true(isa_insn_decode(object->text[i], &insn));
        flags = isa_op_info((enum isa_op)insn.op)->flags;
        if (insn.op == ISA_S_MOV_B64 && insn.xkind == ISA_X_CONST)
            continue;
        out[n++] = insn.op == ISA_S_BRA       ? 'S'
                   : flags & ISA_F_SCALAR     ? 's'
                   : insn.op == ISA_BSSY      ? '|'
                   : insn.op == ISA_BSYNC     ? '/'
                   : insn.op == ISA_EXIT      ? 'x'
                   : flags & ISA_F_BRANCH     ? 'b' : 'v';
    }
    out[n] = '\0';
    isa_object_destroy(object);
}

static void is_shaped(const char *text, const char *want)
{
    char got[200];

    shape(text, false, got, sizeof got);
    assert_string_equal(got, want);
    shape(text, true, got, sizeof got);
    assert_null(strpbrk(got, "sS"));
}

/* A loop of three scalar instructions. The end of the kernel uses the result of the loop. */
#define COUNT(l, r, p)                                                                       \
    "mov.u32 " r ",0;\n" l ": add.u32 " r "," r ",1; setp.lt.u32 " p "," r ",%r1;\n@" p " bra " l ";\n"
#define USE(r) "add.u32 %r2,%r2," r ";\n"
#define STORE "mul.wide.u32 %rd8,%r2,4; add.s64 %rd7,%rd1,%rd8; st.global.u32 [%rd7],%r2;\n"

static void uniform_loops_count_on_the_scalar_unit(void **state)
{
    (void)state;
    is_shaped(KERNEL(COUNT("L", "%r5", "%p5") USE("%r5") STORE), "vsssSvvx");
}

static void nothing_is_written_in_a_divergent_region(void **state)
{
    (void)state;
    is_shaped(KERNEL("setp.lt.u32 %p2,%r2,7; @%p2 bra E;\n" COUNT("L", "%r5", "%p5") USE("%r5")
                     "E:\n" STORE), "vv|bvvvbv/vx");
    /* Uniform loops before a divergent branch and after its join are scalar. */
    is_shaped(KERNEL(COUNT("A", "%r5", "%p5") USE("%r5") "setp.lt.u32 %p2,%r2,7; @%p2 bra E;\n"
                     "ld.u32 %r2,[%rd1];\nE:\n" COUNT("B", "%r6", "%p6") USE("%r6") STORE),
              "vvsssSvv|bv/sssSvvx");
}

static void nothing_is_written_in_a_loop_that_lanes_leave_apart(void **state)
{
    (void)state;
    /* The inner loop is uniform, but the exit of the outer loop is divergent, so no instruction up to the bsync is scalar. */
    is_shaped(KERNEL("mov.u32 %r7,0;\nO:\n" COUNT("L", "%r5", "%p5") "add.u32 %r7,%r7,%r5;\n"
                     "setp.lt.u32 %p2,%r7,%r2; @%p2 bra O;\n" COUNT("M", "%r6", "%p6") USE("%r6") STORE),
              "vv|vvvbvvb/sssSvvx");
}

static void soft_barriers_end_scalar_writes(void **state)
{
    (void)state;
    is_shaped(KERNEL(COUNT("A", "%r5", "%p5") USE("%r5")
                     "W: atom.global.cas.b32 %r9,[%rd1],0,1; setp.ne.u32 %p2,%r9,0; @%p2 bra W;\n"
                     COUNT("B", "%r6", "%p6") USE("%r6") STORE),
              "vvsssSv|vvvbvb/vvvbvvx");
    /* The divergent branch precedes the loop that makes the values divergent. */
    is_shaped(KERNEL("setp.lt.u32 %p3,%r2,7; @%p3 bra E;\nadd.u32 %r2,%r2,1;\n"
                     "W: atom.global.cas.b32 %r9,[%rd1],0,1; setp.ne.u32 %p2,%r9,0; @%p2 bra W;\n"
                     "E:\n" COUNT("B", "%r6", "%p6") USE("%r6") STORE),
              "vvv|bvvvvbvb/vvvbvvx");
}

static void nothing_is_written_after_a_barrier_for_some_lanes(void **state)
{
    (void)state;
    is_shaped(KERNEL("setp.lt.u32 %p2,%r2,7; @%p2 bar.sync 0;\n" COUNT("L", "%r5", "%p5") USE("%r5") STORE),
              "vvvvvvbvvx");
    /* Lanes with different member masks diverge at bar.warp.sync, too. With a full mask no lanes diverge. */
    is_shaped(KERNEL("bar.warp.sync %r2;\n" COUNT("L", "%r5", "%p5") USE("%r5") STORE), "vvvvvbvvx");
    is_shaped(KERNEL("bar.warp.sync -1; bar.sync 0;\n" COUNT("L", "%r5", "%p5") USE("%r5") STORE),
              "vvvsssSvvx");
}

static void nothing_is_written_after_a_call_nor_in_a_function(void **state)
{
    (void)state;
    is_shaped(".version 7.0\n.target sm_75\n.address_size 64\n"
              ".func f(.param .u32 a) { .reg .b32 %r<4>; .reg .pred %p;\nld.param.u32 %r1,[a];\n"
              "mov.u32 %r2,0; L: add.u32 %r2,%r2,1; setp.lt.u32 %p,%r2,%r1; @%p bra L; ret; }\n"
              ".entry k(.param .u64 p, .param .u32 n) {\n"
              ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;\n"
              "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x;\n"
              COUNT("A", "%r5", "%p5") USE("%r5")
              "{ .param .b32 x; st.param.b32 [x],%r2; call f,(x); }\n"
              COUNT("B", "%r6", "%p6") USE("%r6") STORE "ret; }\n", "v|vvb/bvvsssSvvbvvvbvvx");
}

static void values_of_a_divergent_loop_are_divergent_after_it(void **state)
{
    (void)state;
    /* %r5 has the same value in all lanes of an iteration, but lanes leave the loop with different values. */
    is_shaped(KERNEL("mov.u32 %r5,0;\nL: add.u32 %r5,%r5,1; setp.lt.u32 %p1,%r5,%r2; @%p1 bra L;\n"
                     "mov.u32 %r6,0;\nM: add.u32 %r6,%r6,1; setp.lt.u32 %p2,%r6,%r5; @%p2 bra M;\n"
                     USE("%r6") STORE),
              "vv|vvb/v|vvb/vvx");
}

static void lanes_that_exit_leave_the_others_together(void **state)
{
    (void)state;
    is_shaped(KERNEL("setp.ge.u32 %p2,%r2,%r1; @%p2 bra END;\n" COUNT("L", "%r5", "%p5") USE("%r5") STORE
                     "END:\n"), "vvxsssSvvx");
}

static void loads_are_scalar_where_nobody_stores(void **state)
{
    (void)state;
    /* Loads from constant memory, and from memory that PTX declares read-only, become scalar. Loads from other memory do not. */
    is_shaped(KERNEL("mul.wide.u32 %rd2,%r1,4; mov.u64 %rd3,table; add.s64 %rd4,%rd3,%rd2;\n"
                     "ld.const.u32 %r5,[%rd4]; setp.lt.u32 %p1,%r5,%r1; @%p1 bra E;\n"
                     "add.u32 %r2,%r2,1;\nE:\n" STORE), "svsssssssSvvx");
    is_shaped(KERNEL("mul.wide.u32 %rd2,%r1,4; mov.u64 %rd3,room; add.s64 %rd4,%rd3,%rd2;\n"
                     "ld.global.u32 %r5,[%rd4]; setp.lt.u32 %p1,%r5,%r1; @%p1 bra E;\n"
                     "ld.u32 %r2,[%rd1];\nE:\n" STORE), "vsvsssssvv|bv/vx");
}

/* If more uniform values are live than there are scalar registers and predicates, the rest must stay in vector registers. */
static void what_does_not_fit_remains_on_vectors(void **state)
{
    struct lw_buffer text;
    struct isa_object *object;
    struct lw_error err;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, ".version 7.0\n.target sm_75\n.address_size 64\n"
                       ".entry k(.param .u64 p, .param .u32 n) {\n.reg .pred %p<60>;\n"
                       ".reg .b32 %r<400>; .reg .b64 %d<400>, %q;\nld.param.u64 %q,[p];\n"
                       "ld.param.u32 %r0,[n];\n");
    for (unsigned i = 1; i < 200; i++)
        lw_printf(&text.sink, "mad.lo.u32 %%r%u,%%r%u,%u,%%r0;\nmul.wide.u32 %%d%u,%%r%u,%%r0;\n", i,
                  i - 1, i, i, i);
    for (unsigned i = 0; i < 60; i++)
        lw_printf(&text.sink, "setp.lt.u32 %%p%u,%%r0,%u;\n", i, i);
    lw_put(&text.sink, "L:\n");
    for (unsigned i = 1; i < 200; i++)
        lw_printf(&text.sink, "xor.b64 %%d0,%%d0,%%d%u;\nadd.u32 %%r0,%%r0,%%r%u;\n", i, i);
    for (unsigned i = 0; i < 60; i++)
        lw_printf(&text.sink, "@%%p%u bra L;\n", i);
    lw_put(&text.sink, "st.global.u64 [%q],%d0;\nst.global.u32 [%q],%r0;\nret; }\n");
    if (ptx_translate("t.ptx", text.text, text.size, NULL, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_in_range(object->functions[0].sreg_count, 1, ISA_SREG_COUNT);
    assert_in_range(object->functions[0].vreg_count, 100, ISA_VREG_COUNT);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_loops_count_on_the_scalar_unit),
        cmocka_unit_test(nothing_is_written_in_a_divergent_region),
        cmocka_unit_test(nothing_is_written_in_a_loop_that_lanes_leave_apart),
        cmocka_unit_test(soft_barriers_end_scalar_writes),
        cmocka_unit_test(nothing_is_written_after_a_barrier_for_some_lanes),
        cmocka_unit_test(nothing_is_written_after_a_call_nor_in_a_function),
        cmocka_unit_test(values_of_a_divergent_loop_are_divergent_after_it),
        cmocka_unit_test(lanes_that_exit_leave_the_others_together),
        cmocka_unit_test(loads_are_scalar_where_nobody_stores),
        cmocka_unit_test(what_does_not_fit_remains_on_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
