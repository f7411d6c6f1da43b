/* SPDX-License-Identifier: Apache-2.0 */
/* Tests calls, returns, indirect branches, indirect calls and saved barrier registers, in assembly. */
#include "tests/emu/exec/emu_fixture.h"

static const unsigned widths[] = { 4, 8, 16, 32, 64 };
enum { THREADS = 75 };

/* Run the kernel at every warp width with every policy, and, if @stack is set, on the reconvergence engine `stack`, too. */
static void expect_everywhere(const char *text, const uint32_t *expected, bool stack)
{
    for (size_t i = 0; i < LW_COUNT_OF(widths); i++) {
        for (size_t p = 0; emu_policy_names[p] != NULL; p++) {
            for (unsigned k = 0; k < 1 + (unsigned)(stack && p == 0); k++) {
                struct fix *f = fix_new(widths[i]);

                f->config.policy = emu_policy_names[p];
                if (k == 1)
                    f->config.reconv = "stack";
                f->config.hang_window = 1 << 20;
                fix_load(f, text, THREADS);
                fix_go(f);
                if (f->stop.kind != EMU_STOP_IDLE || memcmp(f->word, expected, THREADS * 4) != 0)
                    print_error("W %u, policy %s%s\n", widths[i], emu_policy_names[p],
                                k == 1 ? ", stack" : "");
                fix_expect_words(f, expected, THREADS);
                fix_free(f);
            }
        }
    }
}

static uint32_t fib(uint32_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* The depth and path of the recursion differ between lanes. The function saves b0, since its callers wait at b0. Only
 * the kernel uses b1, so after b1 the lanes of a warp are in one split and may write scalar registers. */
static void recursion_with_saved_barrier_registers_ends_right(void **state)
{
    static const char *const soft[] = { "", ".soft" };
    uint32_t expected[THREADS];

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++)
        expected[t] = fib(t % 11) + (t % 3 == 0 ? 1000 : 0);
    for (size_t i = 0; i < LW_COUNT_OF(soft); i++) {
        char text[2000];

        snprintf(text, sizeof text,
                 "%s.local 1024\nv_mov_b32 v2, 1024\n"
                 "v_rem_u32 v4, v0, 11\nv_mov_b32 v20, v0\nv_rem_u32 v5, v0, 3\n"
                 "v_setp_u32.eq p1, v5, 0\nv_mov_b32 v21, 0\n"
                 "bssy b1, end\nbssy b0, join\n@!p1 bra other, b0\n"
                 "call v0:1, fib\nv_mov_b32 v21, 1000\nbra join\n"
                 "other: call v0:1, fib\n"
                 "join: bsync%s b0\n"
                 "end: bsync b1\ns_mov_b32 s4, 1\n"
                 "v_add_u32 v4, v4, v21\n" FIX_STORE("v4") "exit\n.end\n"
                 ".func fib\n"
                 "v_sub_u32 v2, v2, 32\nst.local.b64 [v2+24], v0:1\n"
                 "v_mov_take_b v6:7, b0\nst.local.b64 [v2+16], v6:7\n"
                 "v_setp_u32.lt p0, v4, 2\nbssy b0, meet\n@p0 bra meet, b0\n"
                 "st.local.b32 [v2], v4\nv_sub_u32 v4, v4, 1\ncall v0:1, fib\n"
                 "ld.local.b32 v5, [v2]\nst.local.b32 [v2+4], v4\nv_sub_u32 v4, v5, 2\n"
                 "call v0:1, fib\nld.local.b32 v5, [v2+4]\nv_add_u32 v4, v4, v5\n"
                 "meet: bsync%s b0\nld.local.b64 v6:7, [v2+16]\nv_mov_give_b b0, v6:7\n"
                 "ld.local.b64 v0:1, [v2+24]\nv_add_u32 v2, v2, 32\nret v0:1\n.end\n",
                 FIX_HEAD, soft[i], soft[i]);
        expect_everywhere(text, expected, false);
    }
}

static void a_stack_that_grows_out_of_local_memory_is_a_fault_there(void **state)
{
    struct fix *f = fix_run(FIX_HEAD ".local 64\nv_mov_b32 v2, 64\ncall v4:5, down\nexit\n.end\n"
                                     ".func down\nv_sub_u32 v2, v2, 16\n"
                                     "st.local.b64 [v2], v4:5\ncall v4:5, down\n"
                                     "ld.local.b64 v4:5, [v2]\nv_add_u32 v2, v2, 16\n"
                                     "ret v4:5\n.end\n",
                            8, 8);
    (void)state;
    fix_expect_fault(f, EMU_FAULT_OUT_OF_BOUNDS, 0xff, "st.local.b64 [v2], v4:5");
    assert_int_equal(f->stop.fault.address, (uint32_t)-16);
    fix_free(f);
}

/* The two sides of a branch call different functions. After the branch, lanes enter different functions by one indirect call. */
static void lanes_that_call_different_functions_reconverge_after(void **state)
{
    uint32_t expected[THREADS];

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++)
        expected[t] = (t < 5 ? t + 3 : t * 7) + (t % 3 == 0 ? 100 : t % 3 == 1 ? 200 : 300);
    expect_everywhere(
        FIX_HEAD "v_setp_u32.lt p0, v0, 5\nv_mov_b32 v4, v0\nbssy b0, join\n"
                 "@p0 bra low, b0\ncall v12:13, times7\nbra join\n"
                 "low: call v12:13, plus3\njoin: bsync b0\ns_mov_b32 s4, 1\n"
                 "v_rem_u32 v5, v0, 3\nv_setp_u32.eq p1, v5, 1\nv_setp_u32.eq p2, v5, 2\n"
                 "v_mov_b32 v6, lo(add1)\nv_mov_b32 v7, hi(add1)\n"
                 "@p1 v_mov_b32 v6, lo(add2)\n@p2 v_mov_b32 v6, lo(add3)\n"
                 "bssy b1, back\ncallx v12:13, v6:7, b1\nback: bsync b1\n"
                 "s_mov_b32 s4, 2\n" FIX_STORE("v4") "exit\n.end\n"
                 ".func plus3\nv_add_u32 v4, v4, 3\nret v12:13\n.end\n"
                 ".func times7\nv_mul_u32 v4, v4, 7\nret v12:13\n.end\n"
                 ".func add1\nv_add_u32 v4, v4, 100\nret v12:13\n.end\n"
                 ".func add2\nv_add_u32 v4, v4, 200\nret v12:13\n.end\n"
                 ".func add3\nv_add_u32 v4, v4, 300\nret v12:13\n.end\n",
        expected, true);
}

/* Lanes call one function from two call sites and may execute it together. Each lane must return to its own call site. */
static void lanes_return_to_where_each_came_from(void **state)
{
    uint32_t expected[THREADS];

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++)
        expected[t] = t & 1 ? (t + 50) * 3 + 1 : (t + 20) * 3 + 2;
    expect_everywhere(
        FIX_HEAD "v_and_b32 v1, v0, 1\nv_setp_u32.ne p0, v1, 0\nbssy b0, join\n"
                 "@p0 bra odd, b0\nv_add_u32 v4, v0, 20\ncall v12:13, f\nv_add_u32 v4, v4, 2\n"
                 "bra join\n"
                 "odd: v_add_u32 v4, v0, 50\ncall v12:13, f\nv_add_u32 v4, v4, 1\n"
                 "join: bsync b0\ns_mov_b32 s4, 1\n" FIX_STORE("v4") "exit\n.end\n"
                 ".func f\nnop\nyield\nv_mul_u32 v4, v4, 3\nnop\nret v12:13\n.end\n",
        expected, true);
}

/* With guards on call and ret, half of the lanes do not call, and half of the lanes return later. */
static void guards_choose_which_lanes_call_and_return(void **state)
{
    uint32_t expected[THREADS];

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++)
        expected[t] = t % 2 == 0 ? 1 : t % 4 == 1 ? 11 : 111;
    expect_everywhere(
        FIX_HEAD "v_and_b32 v1, v0, 1\nv_setp_u32.ne p0, v1, 0\nv_and_b32 v1, v0, 2\n"
                 "v_setp_u32.ne p1, v1, 0\nv_mov_b32 v4, 1\n"
                 "bssy b0, join\n@p0 call v12:13, f, b0\njoin: bsync b0\ns_mov_b32 s4, 1\n"
                 FIX_STORE("v4") "exit\n.end\n"
                 ".func f\nv_add_u32 v4, v4, 10\n@!p1 ret v12:13\nv_add_u32 v4, v4, 100\n"
                 "ret v12:13\n.end\n",
        expected, true);
}

/* The kernel is a switch with a target for each value. Lanes jump to up to eight targets with one instruction. */
static void an_indirect_branch_parts_lanes_by_their_targets(void **state)
{
    uint32_t expected[THREADS];
    char text[3000];
    size_t n = 0;

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++)
        expected[t] = t % 5 == 4 ? 7 : (t * 5 % 8 + 1) * 10;
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "%sv_mul_u32 v1, v0, 5\nv_and_b32 v1, v1, 7\n"
                          "v_mul_u32 v1, v1, %d\nv_mov_b32 v2, lo(k+%d)\nv_mov_b32 v3, hi(k+%d)\n"
                          "v_mov_b32 v5, 0\nv_mov_b32 v4, v1\nv_add_u64 v2:3, v2:3, v4:5\n"
                          "v_rem_u32 v1, v0, 5\nv_setp_u32.ne p0, v1, 4\n"
                          "bssy b0, join\nv_mov_b32 v4, 7\n@p0 brx v2:3, b0\nbra join\n",
                          FIX_HEAD, 2 * ISA_WORD_BYTES, 17 * ISA_WORD_BYTES,
                          17 * ISA_WORD_BYTES);
    for (unsigned k = 1; k <= 8; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "v_mov_b32 v4, %u\nbra join\n", 10 * k);
    snprintf(text + n, sizeof text - n,
             "join: bsync b0\ns_mov_b32 s4, 1\n" FIX_STORE("v4") "exit\n.end\n");
    expect_everywhere(text, expected, true);
}

/* ---- invalid call targets ------------------------------------------------------------------------ */

static void only_lanes_that_call_something_else_than_an_entry_fault(void **state)
{
    static const char *const targets[] = {
        "f+16", "k",            /* an address inside a function, and a kernel's entry */
        "f+4",  "f-16", "g+16", /* an address inside a word, before the code, and after it */
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(targets); i++) {
        char text[800];

        snprintf(text, sizeof text,
                 "%sv_mov_b32 v4, lo(f)\nv_mov_b32 v5, hi(f)\nv_setp_u32.ge p0, v0, 6\n"
                 "@p0 v_mov_b32 v4, lo(%s)\ncallx v12:13, v4:5\nexit\n.end\n"
                 ".func f\nnop\nret v12:13\n.end\n.func g\nret v12:13\n.end\n",
                 FIX_HEAD, targets[i]);
        struct fix *f = fix_run(text, 8, 8);
        fix_expect_fault(f, EMU_FAULT_BAD_CALL, 0xc0, "callx v12:13, v4:5");
        fix_free(f);
    }
}

static void a_null_call_names_the_lanes_and_changes_nothing(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "v_mov_b64 v12:13, 5\nv_mov_b64 v4:5, 0\n"
                                     "v_setp_u32.ne p0, v0, 2\n@p0 callx v12:13, v4:5\n"
                                     "exit\n.end\n",
                            8, 8);
    uint64_t link;
    struct emu_core *core;
    unsigned slot;

    (void)state;
    fix_expect_fault(f, EMU_FAULT_BAD_CALL, 0xfb, "@p0 callx");
    assert_int_equal(f->stop.fault.address, 0);
    assert_non_null(strstr(f->stop.fault.detail, "lane 0 jumps to 0x0"));
    assert_true(f->engine->ops->locate(f->engine, 1, 0, &core, &slot));
    assert_true(emu_reg_read(core, slot, 0, ISA_REG_V, 12, 0, &link));
    assert_int_equal(link, 5); /* the instruction has had no effect */
    fix_free(f);
}

static void wild_branches_and_returns_fault_for_their_lanes(void **state)
{
    static const char *const insns[] = { "brx v4:5", "ret v4:5" };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(insns); i++) {
        char text[600];

        snprintf(text, sizeof text,
                 "%sv_mov_b32 v4, lo(k+96)\nv_mov_b32 v5, hi(k)\nv_setp_u32.eq p0, v0, 4\n"
                 "@p0 v_mov_b32 v4, lo(k+8)\n%s\nexit\n.end\n", FIX_HEAD, insns[i]);
        struct fix *f = fix_run(text, 8, 8);
        fix_expect_fault(f, EMU_FAULT_BAD_PC, 0x10, insns[i]);
        fix_free(f);
    }
}

static void a_scalar_pair_may_hold_the_target(void **state)
{
    uint32_t expected[THREADS];

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++)
        expected[t] = t + 4;
    expect_everywhere(FIX_HEAD "s_mov_b32 s4, lo(f)\ns_mov_b32 s5, hi(f)\nv_mov_b32 v4, v0\n"
                               "callx v12:13, s4:5\n" FIX_STORE("v4") "exit\n.end\n"
                               ".func f\nv_add_u32 v4, v4, 4\nret v12:13\n.end\n",
                      expected, true);
}

/* ---- barrier registers as values ---------------------------------------------------------------- */

/* While the group number of a lane is saved, other lanes do not wait for the lane at the barrier. After the number is
 * restored, other lanes wait for the lane again. */
static void a_restored_number_is_waited_for(void **state)
{
    uint32_t expected[THREADS];

    (void)state;
    for (uint32_t t = 0; t < THREADS; t++)
        expected[t] = t % 4 == 1 ? 3 : 2;
    expect_everywhere(
        FIX_HEAD "v_and_b32 v1, v0, 3\nv_setp_u32.eq p0, v1, 1\nv_mov_b32 v4, 1\n"
                 "bssy b0, join\n"
                 "v_mov_take_b v12:13, b0\nv_mov_give_b b0, v12:13\n" /* one step restores the numbers of all lanes */
                 "@!p0 bra join, b0\n"
                 "v_add_u32 v4, v4, 1\nnop\nnop\nyield\n"
                 "join: bsync b0\ns_mov_b32 s4, 1\nv_add_u32 v4, v4, 1\n" FIX_STORE("v4")
                 "exit\n.end\n",
        expected, false);
}

static void a_taken_number_is_the_groups_and_leaves_zero(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "bssy b3, out\nbssy b3, out\nv_mov_take_b v12:13, b3\n"
                                     "v_mov_take_b v14:15, b3\nv_mad_u32 v4, v14, 16, v12\n"
                                     "v_mov_give_b b4, v12:13\nv_mov_take_b v12:13, b4\n"
                                     "v_mad_u32 v4, v12, 256, v4\n"
                                     "out: bsync b3\n" FIX_STORE("v4") "exit\n.end\n",
                            8, 8);
    (void)state;
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(f->word[t], 2 + 0 * 16 + 2 * 256);
    fix_free(f);
}

/* Each call names a barrier, so each call pushes an entry on the stack of the engine `stack`. */
static void recursion_without_end_is_a_fault_of_the_simt_stack(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n.param ptr.global none\n"
        "bssy b0, back\ncall v10:11, f, b0\nback: bsync b0\nexit\n.end\n"
        ".func f\nbssy b1, l\ncall v10:11, f, b1\nl: bsync b1\nret v10:11\n.end\n";

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(widths); i++) {
        unsigned threads = widths[i] - 1;
        struct fix *f = fix_new(widths[i]);

        f->config.reconv = "stack";
        f->config.hang_window = 1 << 20;
        fix_load(f, text, threads);
        fix_go(f);
        fix_expect_fault(f, EMU_FAULT_SIMT_STACK, (UINT64_C(1) << threads) - 1, "call v10:11");
        assert_non_null(strstr(f->stop.fault.detail, "at most 16384 are allowed"));
        fix_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_with_saved_barrier_registers_ends_right),
        cmocka_unit_test(a_stack_that_grows_out_of_local_memory_is_a_fault_there),
        cmocka_unit_test(recursion_without_end_is_a_fault_of_the_simt_stack),
        cmocka_unit_test(lanes_that_call_different_functions_reconverge_after),
        cmocka_unit_test(lanes_return_to_where_each_came_from),
        cmocka_unit_test(guards_choose_which_lanes_call_and_return),
        cmocka_unit_test(an_indirect_branch_parts_lanes_by_their_targets),
        cmocka_unit_test(only_lanes_that_call_something_else_than_an_entry_fault),
        cmocka_unit_test(a_null_call_names_the_lanes_and_changes_nothing),
        cmocka_unit_test(wild_branches_and_returns_fault_for_their_lanes),
        cmocka_unit_test(a_scalar_pair_may_hold_the_target),
        cmocka_unit_test(a_restored_number_is_waited_for),
        cmocka_unit_test(a_taken_number_is_the_groups_and_leaves_zero),
    };
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
