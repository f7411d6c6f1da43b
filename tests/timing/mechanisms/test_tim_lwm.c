/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism lwm: large warps in lockstep, whose threads are compacted at every instruction. 11.1 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/form_fixture.h"

enum { STATIC = 0 };

/** Return a machine with large warps of @warps warps, or with static warps. */
static struct run *lwm_new(unsigned warps)
{
    struct run *r = form_run();

    r->config->lwm_on = warps != STATIC;
    r->config->lwm_warps = warps != STATIC ? warps : 8;
    r->config->issue_policy = TIM_SCHED_GTO;
    return r;
}

/** Run a kernel, and return the issues from instruction @from to @behind - 1. */
static const char *trace_of(unsigned warps, const char *text, unsigned threads, unsigned from, unsigned behind)
{
    static char trace[1024];
    struct run *r = lwm_new(warps);

    run_text(r, text, 1, threads);
    run_trace(r, from, behind, trace, sizeof trace);
    run_free(r);
    return trace;
}

/* Grouping vector (a) of 11.1: warps 0 and 1 take opposite lanes, so that each instruction of a side issues once. The other side has the
 * lower pc. Instruction 0 is its addition, 1 its branch, 2 the addition of the taken side. */
static void sides_are_compacted(void **state)
{
    const char *text = SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n");
    struct run *r = lwm_new(2);
    uint32_t expected[8];
    struct lw_error err;

    (void)state;
    run_text(r, text, 1, 8);
    for (unsigned t = 0; t < 8; t++)
        expected[t] = t + ((t ^ t / 4) % 2 == 0 ? 7 : 9);
    fix_check(emu_global_read(r->fix->machine, r->fix->out, r->fix->word, sizeof r->fix->word, &err), &err);
    r->fix->stop = r->stop;
    fix_expect_words(r->fix, expected, 8);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_formed_warps], 3);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_formed_lanes], 6);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_lwm_releases], 0);
    run_free(r);
    assert_string_equal(trace_of(2, text, 8, FIRST, JOIN), "w0.0@0 w1.0@0 w0.1@1 w1.1@1 w0.2@2 w1.2@2");
    /* grouping vector (b): both warps take the same lanes, so nothing is compacted; the greedy warp is the one that issued
     * last */
    text = SIDES(EQUAL, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n");
    assert_string_equal(trace_of(2, text, 8, FIRST, JOIN), "w1.0@0 w0.0@1 w0.1@2 w1.1@3 w1.2@4 w0.2@5");
    /* grouping vector (c): lane i of warp 1 uses the units of lane i xor 1; warp 1 leads, because it issued last */
    static char trace[1024];
    r = lwm_new(2);
    r->config->core_permute = TIM_PERMUTE_XOR;
    run_text(r, text, 1, 8);
    run_trace(r, FIRST, JOIN, trace, sizeof trace);
    run_free(r);
    assert_string_equal(trace, "w1.0@0 w0.0@0 w1.1@1 w0.1@1 w1.2@2 w0.2@2");
}

/* In warp w only lane w takes the branch. On the other side, each lane has three threads. */
#define DIAGONAL "v_and_b32 v2, v1, 3\nv_xor_b32 v2, v2, v3\nv_min_u32 v2, v2, 1\n"

/** Return the number of instructions that issue for a kernel with four warps. */
static uint64_t issues_of(unsigned warps)
{
    struct run *r = lwm_new(warps);
    uint64_t issues;

    run_text(r, SIDES(DIAGONAL, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 1, 16);
    issues = run_engine(r)->stats[0].sched[0].count[TIM_SCHED_instructions];
    run_free(r);
    return issues;
}

/* A large warp of all four warps issues the taken side once, and each of the two instructions of the other side three times.
 * Two large warps of two warps each issue the taken side twice, and each instruction of the other side 2 * 2 times. Large
 * warps of one warp issue each of the three instructions four times. */
static void warps_are_compacted_within_their_large_warp(void **state)
{
    const uint64_t one = issues_of(1);

    (void)state;
    assert_int_equal(one - issues_of(2), 3 * 4 - (2 + 2 * 2 * 2));
    assert_int_equal(one - issues_of(4), 3 * 4 - (1 + 2 * 3));
    assert_int_equal(issues_of(8), issues_of(4));
}

/* Greedy scheduling runs warp 0 to its end, in cycle 3; the warps of a large warp issue each instruction before the next one. */
static void warps_run_in_lockstep(void **state)
{
    static const char text[] = ".kernel k\nv_mov_b32 v1, 1\nv_mov_b32 v2, 2\nv_mov_b32 v3, 3\nexit\n.end\n";

    (void)state;
    assert_string_equal(trace_of(STATIC, text, 8, 0, 3), "w0.0@0 w0.1@1 w0.2@2 w1.0@4 w1.1@5 w1.2@6");
    assert_string_equal(trace_of(1, text, 8, 0, 3), "w0.0@0 w0.1@1 w0.2@2 w1.0@4 w1.1@5 w1.2@6");
    assert_string_equal(trace_of(2, text, 8, 0, 3), "w0.0@0 w1.0@1 w1.1@2 w0.1@3 w0.2@4 w1.2@5");
}

/* Warp 0 waits in a loop for a store of warp 1, which is throttled at a higher pc. After lwm.timeout cycles warp 1 may issue. */
static void threads_that_wait_too_long_may_issue(void **state)
{
    static const char text[] =
        ".kernel k\n.shared 256\n"
        "v_s2r v1, %tid.x\n"
        "v_shr_u32 v3, v1, 2\n"
        "v_setp_u32.lt p0, v3, 1\n"
        "v_mov_b32 v5, 0\n"
        "@!p0 bra writer\n"
        "loop:\n"
        "ld.shared.b32 v4, [v5]\n"
        "v_setp_u32.lt p1, v4, 1\n"
        "@p1 bra loop\n"
        "exit\n"
        "writer:\n"
        "v_mov_b32 v4, 1\n"
        "st.shared.b32 [v5], v4\n"
        "exit\n.end\n";
    uint64_t cycles[2];

    (void)state;
    for (unsigned slow = 0; slow < 2; slow++) {
        struct run *r = lwm_new(2);

        r->config->lwm_timeout = slow ? 900 : 200;
        run_text(r, text, 1, 8);
        assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_lwm_releases], 1);
        cycles[slow] = r->fix->engine->ops->cycles(r->fix->engine);
        run_free(r);
    }
    assert_true(cycles[1] > cycles[0] + 600 && cycles[1] < cycles[0] + 800);
}

static void combinations_without_sense_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"issue.split_lanes=on tbc.on=on", "tbc.on and lwm.on cannot be combined"},
        {"issue.split_lanes=on dwf.on=on", "dwf.on and lwm.on cannot be combined"},
        {"issue.split_lanes=off", "lwm.on needs issue.split_lanes"},
        {"issue.split_lanes=on daws.on=on", "lwm.on cannot be combined with mechanism daws"},
        {"issue.split_lanes=on prf.on=on", "prf.on cannot be combined with dwf, tbc and lwm"},
    };

    (void)state;
    mech_assert_refused("lwm.on=on core.reconvergence=cbar", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_are_compacted),
        cmocka_unit_test(warps_are_compacted_within_their_large_warp),
        cmocka_unit_test(warps_run_in_lockstep),
        cmocka_unit_test(threads_that_wait_too_long_may_issue),
        cmocka_unit_test(combinations_without_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
