/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microbenchmarks of a modern core: stall counts, yield, dependence barriers and depbar.le, and the order of issue.
 * Expected cycles are published (Huerta et al., MICRO 2025), or computed by hand from docs/reference/timing-core.md.
 */
#include "tests/timing/tim_modern.h"

/** Return the cycles from the issue of an instruction with control field @field to the issue of the next instruction. The
 *  machine has only one warp. */
static uint64_t gap(const char *field)
{
    struct run *r = modern_control();
    char body[256];
    uint64_t cycles;

    snprintf(body, sizeof body, "v_mov_b32 v1, 0 {%s}\nv_mov_b32 v2, 0 {st=1}\n", field);
    modern_run(r, body, 32);
    cycles = modern_cycle(r, 0, 1) - modern_cycle(r, 0, 0);
    run_free(r);
    return cycles;
}

static void m7_to_m9_each_stall_count_and_yield_bit_gives_its_gap(void **state)
{
    (void)state;
    for (unsigned stall = 0; stall < 16; stall++) {
        char field[32];
        uint64_t plain = stall == 0 ? 1 : stall > 11 ? 2 : stall;

        snprintf(field, sizeof field, "st=%u", stall);
        assert_int_equal(gap(field), plain);
        snprintf(field, sizeof field, "st=%u,y", stall);
        assert_int_equal(gap(field), stall == 0 ? 46 : stall == 1 ? 2 : stall);
    }
}

/* ---- four warps of 32 instructions, of which W3 is the youngest (figure 4) ------------------- */

static void four_warps_are(const char *second, unsigned policy, const char *expected)
{
    struct run *r = modern_control();
    struct lw_buffer body;
    char text[400];

    lw_buffer_init(&body);
    lw_put(&body.sink, "ld.shared.b32 v40, [v41] {wr=0}\n"); /* delays the exits until the measurement is over */
    for (unsigned i = 1; i < 32; i++)
        lw_printf(&body.sink, "v_mov_b32 v%u, 0 {%s}\n", i, i == 1 ? second : "st=1");
    lw_put(&body.sink, "exit {wt=1}\n");
    r->config->shared_latency = 500;
    r->config->issue_policy = policy;
    modern_run(r, body.text, 128);
    lw_buffer_fini(&body);
    assert_string_equal(modern_intervals(r, 32, text, sizeof text), expected);
    run_free(r);
}

/* In the figure the warp does not issue for four cycles, as with stall count 5. The paper's text calls this stall count 4. */
static void m10_m11_a_stalled_warp_gives_way_to_the_youngest_other(void **state)
{
    (void)state;
    four_warps_are("st=5", TIM_SCHED_CGGTY,
                   "W3 0-2, W2 2-4, W1 4-6, W3 6-36, W2 36-66, W1 66-96, W0 96-98, W0 102-132");
    four_warps_are("st=4", TIM_SCHED_CGGTY,
                   "W3 0-2, W2 2-4, W1 4-6, W3 6-36, W2 36-66, W1 66-96, W0 96-98, W0 101-131");
}

static void m12_a_warp_that_yields_gives_way_to_the_youngest_other(void **state)
{
    (void)state;
    four_warps_are("st=1,y", TIM_SCHED_CGGTY,
                   "W3 0-2, W2 2-4, W3 4-34, W2 34-64, W1 64-66, W0 66-68, W1 68-98, W0 98-128");
    four_warps_are("st=1,y", TIM_SCHED_GTO,
                   "W0 0-2, W1 2-4, W0 4-34, W1 34-64, W2 64-66, W3 66-68, W2 68-98, W3 98-128");
}

static void m45_a_yield_of_the_only_warp_is_one_bubble(void **state)
{
    struct run *r = modern_control();
    struct lw_buffer body;
    char text[100];

    (void)state;
    lw_buffer_init(&body);
    for (unsigned i = 0; i < 32; i++)
        lw_printf(&body.sink, "v_mov_b32 v%u, 0 {%s}\n", i, i == 1 ? "st=1,y" : "st=1");
    modern_run(r, body.text, 32);
    lw_buffer_fini(&body);
    assert_string_equal(modern_intervals(r, 32, text, sizeof text), "W0 0-2, W0 3-33");
    assert_int_equal(run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_YIELD], 1);
    run_free(r);
}

/* ---- dependence barriers count up two cycles after issue -------------------------------------- */

/** Return the cycles from the issue of a load to the issue of the instruction that waits for its result. The load takes 20
 *  cycles and has control field @field. @stage: the core has the pipeline stage Control, in which an instruction increments its
 *  dependence barriers one cycle after its issue (issue.control_stage). */
static uint64_t user_after(const char *field, bool stage)
{
    struct run *r = modern_control();
    char body[256];
    uint64_t cycles;

    r->config->issue_control_stage = stage;
    r->config->shared_latency = 20;
    snprintf(body, sizeof body, "ld.shared.b32 v3, [v7] {%s}\nv_mov_b32 v4, v3 {wt=1}\n", field);
    modern_run(r, body, 32);
    cycles = modern_cycle(r, 0, 1) - modern_cycle(r, 0, 0);
    run_free(r);
    return cycles;
}

static void a_barrier_is_seen_two_cycles_after_issue(void **state)
{
    const uint64_t late = user_after("wr=0", false);

    (void)state;
    assert_true(late > 20);
    assert_int_equal(user_after("wr=0,st=1", true), 1); /* too early: the barrier does not count the load yet */
    assert_int_equal(user_after("wr=0,st=2", true), late);
    assert_int_equal(user_after("wr=0,st=1,y", true), late);
}

/* Two loads use one dependence barrier. The instruction after the second load issues one cycle after it, before the barrier
 * counts the second load. The instruction therefore waits only if the first load is not complete in that cycle. */
static void a_barrier_is_seen_without_what_the_last_instruction_added(void **state)
{
    static const char *const body = "ld.shared.b32 v3, [v7] {wr=0,st=2}\n"
                                    "v_mov_b32 v1, 0 {st=15,y}\n"
                                    "ld.shared.b32 v4, [v7] {wr=0,st=1}\n"
                                    "v_mov_b32 v5, v3 {wt=1}\n";

    (void)state;
    for (unsigned latency = 10; latency < 22; latency++) {
        struct run *r = modern_control();

        r->config->shared_latency = latency;
        modern_run(r, body, 32);
        uint64_t first = modern_cycle(r, 0, 0), second = modern_cycle(r, 0, 2), user = modern_cycle(r, 0, 3);
        run_free(r);
        assert_int_equal(second, first + 17);
        uint64_t over = first + 2 + latency; /* the cycle in which the barrier no longer counts the first load */
        uint64_t expected = over <= second + 1 ? second + 1 : second + 2 + latency;
        if (user != expected)
            fail_msg("latency %u: %u, expected %u", latency, (unsigned)user, (unsigned)expected);
    }
}

/* ---- depbar.le ---------------------------------------------------------------------------------- */

/** Run four loads, which complete one after the other, `depbar.le 0, @most` with stall count @stall, and two moves. @wait is
 *  further text for the control field of depbar.le. Return the cycle in which the first move issues. */
static uint64_t held(unsigned stall, unsigned most, const char *wait)
{
    struct run *r = modern_control();
    struct lw_buffer body;
    uint64_t cycles;

    r->config->shared_latency = 20;
    lw_buffer_init(&body);
    for (unsigned i = 0; i < 4; i++)
        lw_printf(&body.sink, "ld.shared.b32 v%u, [v7] {wr=0,st=%u}\n", i, i == 3 ? 2 : 1);
    lw_printf(&body.sink, "depbar.le 0, %u {st=%u%s}\nv_mov_b32 v9, 0\nv_mov_b32 v8, 0\n", most, stall, wait);
    modern_run(r, body.text, 32);
    lw_buffer_fini(&body);
    cycles = modern_cycle(r, 0, 5);
    run_free(r);
    return cycles;
}

static void depbar_holds_until_the_barrier_is_low_enough(void **state)
{
    const uint64_t depbar = 5, one = held(4, 3, "");

    (void)state;
    assert_true(one > depbar + 4);
    for (unsigned most = 0; most < 4; most++) /* a load completes in each cycle */
        assert_int_equal(held(4, most, ""), one + 3 - most);
    assert_int_equal(held(4, 4, ""), depbar + 4);
    assert_int_equal(held(4, 63, ""), depbar + 4);
}

/* depbar.le delays only an instruction that issues four or more cycles after it. If the next instruction issues earlier, neither
 * it nor any later instruction is delayed. */
static void depbar_holds_only_what_its_stall_count_leaves(void **state)
{
    (void)state;
    for (unsigned stall = 1; stall < 4; stall++)
        assert_int_equal(held(stall, 0, ""), 5 + stall);
}

static void depbar_itself_waits_by_its_mask(void **state)
{
    (void)state;
    assert_int_equal(held(4, 0, ",wt=1"), held(4, 0, "") + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m7_to_m9_each_stall_count_and_yield_bit_gives_its_gap),
        cmocka_unit_test(m10_m11_a_stalled_warp_gives_way_to_the_youngest_other),
        cmocka_unit_test(m12_a_warp_that_yields_gives_way_to_the_youngest_other),
        cmocka_unit_test(m45_a_yield_of_the_only_warp_is_one_bubble),
        cmocka_unit_test(a_barrier_is_seen_two_cycles_after_issue),
        cmocka_unit_test(a_barrier_is_seen_without_what_the_last_instruction_added),
        cmocka_unit_test(depbar_holds_until_the_barrier_is_low_enough),
        cmocka_unit_test(depbar_holds_only_what_its_stall_count_leaves),
        cmocka_unit_test(depbar_itself_waits_by_its_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
