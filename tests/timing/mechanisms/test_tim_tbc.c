/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism tbc: the warps of a block have one stack, and are compacted at divergent branches; with CAPRI only at those
 * where compaction is predicted to help. 11.1 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/form_fixture.h"
#include "timing/tables/tim_adequacy_priv.h"

struct result {
    uint64_t cycles, formed, branches, divergent, compactions, before, after, accesses, passes, predictions, mispredictions;
    uint32_t word[16];
    char trace[512]; /* issues from the instruction after the branch up to the bsync */
};

/** How a kernel runs: without the mechanism, with it, and with its predictor, which predicts for a new branch that compaction
 *  helps or does not help. */
enum how { STATIC, TBC, CAPRI, CAPRI_INADEQUATE };

static struct result of_permuted(enum how how, unsigned permute, const char *text, unsigned threads)
{
    struct run *r = form_run();
    struct lw_error err;

    r->config->core_permute = permute;
    r->config->tbc_on = how != STATIC;
    r->config->tbc_capri = how >= CAPRI;
    r->config->tbc_capri_initial = how == CAPRI ? TIM_ADEQUATE : TIM_INADEQUATE;
    run_text(r, text, 1, threads);
    const uint64_t *count = run_engine(r)->stats[0].count;
    struct result result = {.cycles = r->fix->engine->ops->cycles(r->fix->engine), .formed = count[TIM_CORE_formed_warps],
                            .branches = count[TIM_CORE_tbc_branches], .divergent = count[TIM_CORE_tbc_divergent],
                            .compactions = count[TIM_CORE_tbc_compactions], .before = count[TIM_CORE_tbc_static],
                            .after = count[TIM_CORE_tbc_dynamic], .accesses = count[TIM_CORE_accesses],
                            .passes = count[TIM_CORE_tbc_passes], .predictions = count[TIM_CORE_tbc_predictions],
                            .mispredictions = count[TIM_CORE_tbc_mispredictions]};
    run_trace(r, FIRST, JOIN, result.trace, sizeof result.trace);
    fix_check(emu_global_read(r->fix->machine, r->fix->out, result.word, sizeof result.word, &err), &err);
    run_free(r);
    return result;
}

static struct result of(enum how how, const char *text, unsigned threads)
{
    return of_permuted(how, TIM_PERMUTE_NONE, text, threads);
}

/* 11.1, grouping vector (a): warps 0 and 1 take opposite lanes, so that each side is one dynamic warp. From the bsync on,
 * both warps issue separately again. */
static void each_side_is_compacted(void **state)
{
    struct result base = of(STATIC, SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8),
                  tbc = of(TBC, SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    /* Instruction 0 is the addition of the other side, 1 its branch, 2 the addition of the taken side. */
    assert_string_equal(base.trace, "w0.0@0 w1.2@1 w0.1@2 w1.0@5 w0.2@6 w1.1@7");
    assert_string_equal(tbc.trace, "w0.0@0 w1.0@0 w1.1@1 w0.1@1 w0.2@4 w1.2@4");
    assert_int_equal(base.branches, 0);
    assert_int_equal(tbc.branches, 1);
    assert_int_equal(tbc.divergent, 1);
    assert_int_equal(tbc.compactions, 3); /* compactions occur at the branch, before the second side, and at the
                                           * reconvergence pc */
    assert_int_equal(tbc.before, 6);
    assert_int_equal(tbc.after, 4); /* a dynamic warp for each side, and two static warps */
    assert_int_equal(tbc.formed, 3);
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(tbc.word[t], t + ((t ^ t / 4) % 2 == 0 ? 7 : 9));
}

/* 11.1, grouping vector (b): both warps take the same lanes, and stay two warps on each side. */
static void threads_of_one_lane_are_not_compacted(void **state)
{
    struct result tbc = of(TBC, SIDES(EQUAL, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    /* both warps run the other side, before any thread runs the taken one */
    assert_string_equal(tbc.trace, "w0.0@0 w1.0@1 w0.1@2 w1.1@3 w0.2@6 w1.2@7");
    assert_int_equal(tbc.before, 6);
    assert_int_equal(tbc.after, 6);
    assert_int_equal(tbc.formed, 0);
}

/* 11.1, grouping vector (c): lane i of warp 1 uses the units of lane i xor 1, so that each side is one dynamic warp, as in
 * vector (a). */
static void threads_of_one_lane_are_compacted_if_lanes_are_permuted(void **state)
{
    struct result tbc = of_permuted(TBC, TIM_PERMUTE_XOR, SIDES(EQUAL, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    assert_string_equal(tbc.trace, "w0.0@0 w1.0@0 w1.1@1 w0.1@1 w0.2@4 w1.2@4");
    assert_int_equal(tbc.before, 6);
    assert_int_equal(tbc.after, 4);
    assert_int_equal(tbc.formed, 3);
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(tbc.word[t], t + (t % 2 == 0 ? 7 : 9));
}

/* 11.1.2: the k-th dynamic warp takes the k-th thread of every lane. With four warps these are warps 0 and 1, and 2 and 3. */
static void dynamic_warps_take_the_threads_of_a_lane_in_order(void **state)
{
    struct result tbc = of(TBC, SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 16);

    (void)state;
    assert_string_equal(tbc.trace, "w0.0@0 w1.0@0 w1.1@1 w0.1@1 w2.0@2 w3.0@2 w3.1@3 w2.1@3 w0.2@6 w1.2@6 w2.2@7 w3.2@7");
    assert_int_equal(tbc.before, 12);
    assert_int_equal(tbc.after, 8);
}

/* Threads leave a loop after 1, 2, 3 and 4 iterations, in warp 1 in reverse order. After each iteration the threads that remain
 * are compacted: lanes 1-3 and 0-2, then 2-3 and 0-1, then 3 and 0. The entry of the loop is replaced, and no entries pile up. */
static void each_iteration_of_a_loop_is_compacted(void **state)
{
    struct result tbc = of(TBC,
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

/* Threads leave a loop by a break after their own number of iterations, or at the end, after 5. At the end the last threads do
 * not branch: their entry continues, although other threads of their warp wait at the break. */
static void threads_continue_after_a_uniform_branch(void **state)
{
    struct result tbc = of(TBC,
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
    struct result tbc = of(TBC,
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

/* The threads of the other side wait at the block barrier. Then the threads of the taken side run, and all threads arrive. */
static void a_block_barrier_in_a_side_does_not_stop_the_block(void **state)
{
    struct result tbc = of(TBC, SIDES(OPPOSITE, "bar.sync 0\nv_add_u32 v4, v1, 7\n", "bar.sync 0\nv_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(tbc.word[t], t + ((t ^ t / 4) % 2 == 0 ? 7 : 9));
}

/* ---- CAPRI ------------------------------------------------------------------------------------------------------------ */

/* 11.1.4: a counter of 2 bits begins at 2 or 1. Above 1 it predicts that compaction helps. */
static void a_saturating_counter_predicts_whether_compaction_helps(void **state)
{
    enum { BRANCH = 4 * ISA_WORD_BYTES, SAME_ROW = 12 * ISA_WORD_BYTES };
    struct tim_adequacy table;

    (void)state;
    assert_true(tim_adequacy_init(&table, 8, 2, true));
    assert_true(tim_adequacy_predicts(&table, BRANCH));
    assert_true(tim_adequacy_train(&table, BRANCH, false)); /* 2 -> 1 */
    assert_false(tim_adequacy_predicts(&table, BRANCH));
    assert_false(tim_adequacy_train(&table, BRANCH, false)); /* 1 -> 0 */
    assert_false(tim_adequacy_train(&table, BRANCH, false)); /* 0 */
    assert_false(tim_adequacy_train(&table, BRANCH, true)); /* 0 -> 1 */
    assert_true(tim_adequacy_train(&table, BRANCH, true)); /* 1 -> 2 */
    assert_false(tim_adequacy_train(&table, BRANCH, true)); /* 2 -> 3 */
    assert_false(tim_adequacy_train(&table, BRANCH, true)); /* 3 */
    assert_false(tim_adequacy_train(&table, BRANCH, false)); /* 3 -> 2 */
    assert_true(tim_adequacy_predicts(&table, BRANCH));
    assert_true(tim_adequacy_train(&table, BRANCH, false)); /* 2 -> 1 */
    /* another branch with the same row has the initial prediction, and removes the first one when it is trained */
    assert_int_equal(tim_adequacy_row(&table, BRANCH), tim_adequacy_row(&table, SAME_ROW));
    assert_true(tim_adequacy_predicts(&table, SAME_ROW));
    assert_true(tim_adequacy_train(&table, SAME_ROW, true));
    assert_true(tim_adequacy_predicts(&table, BRANCH));
    tim_adequacy_fini(&table);
    assert_true(tim_adequacy_init(&table, 8, 1, false)); /* 1 bit: 0 */
    assert_false(tim_adequacy_predicts(&table, BRANCH));
    assert_true(tim_adequacy_train(&table, BRANCH, true)); /* 0 -> 1 */
    assert_false(tim_adequacy_train(&table, BRANCH, true)); /* 1 */
    assert_true(tim_adequacy_train(&table, BRANCH, false)); /* 1 -> 0 */
    tim_adequacy_fini(&table);
}

/* The divergent branch of SIDES, in a loop of three iterations. */
#define LOOPED(pattern) \
    SIDE_OF_LANE(pattern) \
    "v_mov_b32 v4, 0\n" \
    "v_mov_b32 v5, 0\n" \
    "again:\n" \
    "bssy b0, join\n" \
    "@p0 bra taken, b0\n" \
    "v_add_u32 v4, v4, 9\n" \
    "bra join\n" \
    "taken:\n" \
    "v_add_u32 v4, v4, 7\n" \
    "join:\n" \
    "bsync b0\n" \
    "v_add_u32 v5, v5, 1\n" \
    "v_setp_u32.lt p1, v5, 3\n" \
    "@p1 bra again\n" \
    "st.global.b32 [s4:5+v7], v4\n" \
    "exit\n.end\n"

static void check_words(const struct result *result, bool opposite)
{
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(result->word[t], 3 * ((opposite ? t ^ t / 4 : t) % 2 == 0 ? 7 : 9));
}

static void check_predictor(const struct result *result, unsigned branches, unsigned passes, unsigned predictions,
                            unsigned mispredictions)
{
    assert_int_equal(result->branches, branches);
    assert_int_equal(result->passes, passes);
    assert_int_equal(result->predictions, predictions);
    assert_int_equal(result->mispredictions, mispredictions);
}

/* Both warps take the same lanes. The first wait decrements the counter from 2 to 1, so that both warps pass the branch in the
 * second and third iteration. In each of these iterations all 8 threads of the block pass the branch, and the predictor is
 * trained when the eighth one has passed: once in each iteration. */
static void warps_do_not_wait_where_compaction_did_not_help(void **state)
{
    struct result tbc = of(TBC, LOOPED(EQUAL), 8), capri = of(CAPRI, LOOPED(EQUAL), 8);

    (void)state;
    assert_int_equal(tbc.branches, 3);
    assert_int_equal(tbc.predictions, 0);
    check_predictor(&capri, 1, 4, 3, 1);
    assert_int_equal(capri.compactions, 3); /* at the branch, before the second side, and at the reconvergence pc */
    assert_int_equal(capri.formed, 0);
    check_words(&capri, false);
}

/* The warps take opposite lanes. Compaction halves the number of warps in each iteration, and the counter rises from 2 to 3. */
static void warps_wait_where_compaction_helps(void **state)
{
    struct result tbc = of(TBC, LOOPED(OPPOSITE), 8), capri = of(CAPRI, LOOPED(OPPOSITE), 8);

    (void)state;
    check_predictor(&capri, 3, 0, 3, 0);
    assert_int_equal(capri.cycles, tbc.cycles);
    assert_int_equal(capri.formed, tbc.formed);
    check_words(&capri, true);
}

/* Without an initial wait: both warps pass the branch in the first iteration. The outcomes show that compaction would have
 * helped, and the counter rises from 1 to 2, so that the warps wait in the second and third iteration. */
static void warps_that_pass_a_branch_train_the_predictor(void **state)
{
    struct result capri = of(CAPRI_INADEQUATE, LOOPED(OPPOSITE), 8);

    (void)state;
    check_predictor(&capri, 2, 2, 3, 1);
    assert_int_equal(capri.divergent, 2);
    check_words(&capri, true);
}

/* Warps that wait at no branch issue as without the mechanism. */
static void warps_that_never_wait_are_static(void **state)
{
    struct result base = of(STATIC, LOOPED(EQUAL), 8), capri = of(CAPRI_INADEQUATE, LOOPED(EQUAL), 8);

    (void)state;
    check_predictor(&capri, 0, 6, 3, 0);
    assert_int_equal(capri.compactions, 0);
    assert_int_equal(capri.cycles, base.cycles);
    assert_string_equal(capri.trace, base.trace);
}

/* All threads take the branch, so compaction does not reduce the number of warps. From then on, the warps no longer wait for
 * each other. */
static void warps_do_not_wait_at_a_uniform_branch(void **state)
{
    struct result capri = of(CAPRI, LOOPED("v_mov_b32 v2, 0\n"), 8);

    (void)state;
    assert_int_equal(capri.branches, 1);
    assert_int_equal(capri.divergent, 0);
    assert_int_equal(capri.passes, 4);
    assert_int_equal(capri.compactions, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_side_is_compacted),
        cmocka_unit_test(threads_of_one_lane_are_not_compacted),
        cmocka_unit_test(threads_of_one_lane_are_compacted_if_lanes_are_permuted),
        cmocka_unit_test(dynamic_warps_take_the_threads_of_a_lane_in_order),
        cmocka_unit_test(each_iteration_of_a_loop_is_compacted),
        cmocka_unit_test(threads_continue_after_a_uniform_branch),
        cmocka_unit_test(threads_of_one_warp_run_in_lockstep),
        cmocka_unit_test(a_block_barrier_in_a_side_does_not_stop_the_block),
        cmocka_unit_test(a_saturating_counter_predicts_whether_compaction_helps),
        cmocka_unit_test(warps_do_not_wait_where_compaction_did_not_help),
        cmocka_unit_test(warps_wait_where_compaction_helps),
        cmocka_unit_test(warps_that_pass_a_branch_train_the_predictor),
        cmocka_unit_test(warps_that_never_wait_are_static),
        cmocka_unit_test(warps_do_not_wait_at_a_uniform_branch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
