/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism tbc: the warps of a block have one stack, and are compacted at divergent branches. 11.1 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/form_fixture.h"

struct result {
    uint64_t cycles, formed, branches, divergent, compactions, before, after, accesses;
    uint32_t word[16];
    char trace[512]; /* issues from the instruction after the branch up to the bsync */
};

static struct result of(bool on, const char *text, unsigned threads)
{
    struct run *r = form_run();
    struct lw_error err;

    r->config->tbc_on = on;
    run_text(r, text, 1, threads);
    const uint64_t *count = run_engine(r)->stats[0].count;
    struct result result = {.cycles = r->fix->engine->ops->cycles(r->fix->engine), .formed = count[TIM_CORE_formed_warps],
                            .branches = count[TIM_CORE_tbc_branches], .divergent = count[TIM_CORE_tbc_divergent],
                            .compactions = count[TIM_CORE_tbc_compactions], .before = count[TIM_CORE_tbc_static],
                            .after = count[TIM_CORE_tbc_dynamic], .accesses = count[TIM_CORE_accesses]};
    run_trace(r, FIRST, JOIN, result.trace, sizeof result.trace);
    fix_check(emu_global_read(r->fix->machine, r->fix->out, result.word, sizeof result.word, &err), &err);
    run_free(r);
    return result;
}

/* 11.1, grouping vector (a): warps 0 and 1 take opposite lanes, so that each side is one dynamic warp. At the bsync both warps
 * are as before. */
static void each_side_is_compacted(void **state)
{
    struct result base = of(false, SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8),
                  tbc = of(true, SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    /* Instruction 0 is the addition of the other side, 1 its branch, 2 the addition of the taken side. */
    assert_string_equal(base.trace, "w0.0@0 w1.2@1 w0.1@2 w1.0@5 w0.2@6 w1.1@7");
    assert_string_equal(tbc.trace, "w0.0@0 w1.0@0 w1.1@1 w0.1@1 w0.2@4 w1.2@4");
    assert_int_equal(base.branches, 0);
    assert_int_equal(tbc.branches, 1);
    assert_int_equal(tbc.divergent, 1);
    assert_int_equal(tbc.compactions, 3); /* at the branch, before the second side, and at the reconvergence pc */
    assert_int_equal(tbc.before, 6);
    assert_int_equal(tbc.after, 4); /* a dynamic warp for each side, and two static warps */
    assert_int_equal(tbc.formed, 3);
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(tbc.word[t], t + ((t ^ t / 4) % 2 == 0 ? 7 : 9));
}

/* 11.1, grouping vector (b): both warps take the same lanes, and stay two warps on each side. */
static void threads_of_one_lane_are_not_compacted(void **state)
{
    struct result tbc = of(true, SIDES(EQUAL, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    /* both warps run the other side, before any thread runs the taken one */
    assert_string_equal(tbc.trace, "w0.0@0 w1.0@1 w0.1@2 w1.1@3 w0.2@6 w1.2@7");
    assert_int_equal(tbc.before, 6);
    assert_int_equal(tbc.after, 6);
    assert_int_equal(tbc.formed, 0);
}

/* 11.1.2: the k-th dynamic warp takes the k-th thread of every lane. With four warps these are warps 0 and 1, and 2 and 3. */
static void dynamic_warps_take_the_threads_of_a_lane_in_order(void **state)
{
    struct result tbc = of(true, SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 16);

    (void)state;
    assert_string_equal(tbc.trace, "w0.0@0 w1.0@0 w1.1@1 w0.1@1 w2.0@2 w3.0@2 w3.1@3 w2.1@3 w0.2@6 w1.2@6 w2.2@7 w3.2@7");
    assert_int_equal(tbc.before, 12);
    assert_int_equal(tbc.after, 8);
}

/* Threads leave a loop after 1, 2, 3 and 4 iterations, in warp 1 in reverse order. After each iteration the threads that remain
 * are compacted: lanes 1-3 and 0-2, then 2-3 and 0-1, then 3 and 0. The entry of the loop is replaced, and no entries pile up. */
static void each_iteration_of_a_loop_is_compacted(void **state)
{
    struct result tbc = of(true,
                           ".kernel k\n.param ptr.global out\n"
                           "s_mov_b64 s4:5, c[out]\n"
                           "v_s2r v1, %tid.x\n"
                           "v_shl_b32 v7, v1, 2\n"
                           "v_xor_b32 v2, v1, 7\n"
                           "v_min_u32 v2, v2, v1\n"
                           "v_mov_b32 v4, 0\n"
                           "bssy b0, join\n"
                           "loop:\n"
                           "v_add_u32 v4, v4, 1\n"
                           "v_setp_u32.le p0, v4, v2\n"
                           "@p0 bra loop, b0\n"
                           "join:\n"
                           "bsync b0\n"
                           "st.global.b32 [s4:5+v7], v4\n"
                           "exit\n.end\n", 8);

    (void)state;
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(tbc.word[t], t < 4 ? t + 1 : 8 - t);
    assert_int_equal(tbc.branches, 4);
    assert_int_equal(tbc.divergent, 3); /* after the fourth iteration all threads leave */
    assert_int_equal(tbc.compactions, 4);
    assert_int_equal(tbc.before, 8);
    assert_int_equal(tbc.after, 2 + 1 + 1 + 2);
}

/* Threads leave a loop by a break after their own number of iterations, or at the end, after 5. At the end the last threads do not branch:
 * their entry continues, although other threads of their warp wait at the break. */
static void threads_continue_after_a_uniform_branch(void **state)
{
    struct result tbc = of(true,
                           ".kernel k\n.param ptr.global out\n"
                           "s_mov_b64 s4:5, c[out]\n"
                           "v_s2r v1, %tid.x\n"
                           "v_shl_b32 v7, v1, 2\n"
                           "v_mov_b32 v4, 0\n"
                           "bssy b0, join\n"
                           "loop:\n"
                           "v_add_u32 v4, v4, 1\n"
                           "v_setp_u32.eq p0, v4, v1\n"
                           "@p0 bra early, b0\n"
                           "v_setp_u32.lt p0, v4, 5\n"
                           "@p0 bra loop, b0\n"
                           "bra join\n"
                           "early:\n"
                           "v_add_u32 v4, v4, 100\n"
                           "join:\n"
                           "bsync b0\n"
                           "st.global.b32 [s4:5+v7], v4\n"
                           "exit\n.end\n", 8);

    (void)state;
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(tbc.word[t], t >= 1 && t <= 5 ? t + 100 : 5);
}

/* 11.1.1: where only one warp has threads, the lanes of this warp run in lockstep: lane 1 loads what lane 0 has stored. */
static void threads_of_one_warp_run_in_lockstep(void **state)
{
    struct result tbc = of(true,
                           ".kernel k\n.param ptr.global out\n.shared 256\n"
                           "s_mov_b64 s4:5, c[out]\n"
                           "v_s2r v1, %tid.x\n"
                           "v_shl_b32 v7, v1, 2\n"
                           "v_xor_b32 v8, v7, 4\n"
                           "v_and_b32 v2, v1, 6\n"
                           "v_setp_u32.eq p0, v2, 4\n"
                           "v_add_u32 v9, v1, 100\n"
                           "bssy b0, join\n"
                           "@!p0 bra join, b0\n"
                           "st.shared.b32 [v7], v9\n"
                           "ld.shared.b32 v4, [v8]\n"
                           "st.global.b32 [s4:5+v7], v4\n"
                           "join:\n"
                           "bsync b0\n"
                           "exit\n.end\n", 8);

    (void)state;
    assert_int_equal(tbc.word[4], 105);
    assert_int_equal(tbc.word[5], 104);
}

/* The threads of the other side wait at the block barrier; those of the taken side run then, and all threads arrive. */
static void a_block_barrier_in_a_side_does_not_stop_the_block(void **state)
{
    struct result tbc = of(true, SIDES(OPPOSITE, "bar.sync 0\nv_add_u32 v4, v1, 7\n", "bar.sync 0\nv_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(tbc.word[t], t + ((t ^ t / 4) % 2 == 0 ? 7 : 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_side_is_compacted),
        cmocka_unit_test(threads_of_one_lane_are_not_compacted),
        cmocka_unit_test(dynamic_warps_take_the_threads_of_a_lane_in_order),
        cmocka_unit_test(each_iteration_of_a_loop_is_compacted),
        cmocka_unit_test(threads_continue_after_a_uniform_branch),
        cmocka_unit_test(threads_of_one_warp_run_in_lockstep),
        cmocka_unit_test(a_block_barrier_in_a_side_does_not_stop_the_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
