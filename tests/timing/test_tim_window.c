/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microbenchmarks of a modern core: the two pipeline stages after issue, Control and Allocate, the window of cycles in which an
 * instruction reads its registers, the register-file cache, and the result queue. An instruction reserves the read ports of its
 * registers in stage Allocate. Expected cycles are published (Huerta et al., MICRO 2025), or computed by hand from
 * docs/reference/timing-core.md.
 */
#include "tests/timing/tim_modern.h"

static uint64_t total(const struct run *r, unsigned counter)
{
    return run_engine(r)->stats[0].count[counter];
}

/** Run @body in one warp. Return the cycles from the issue of instruction @from to the issue of instruction @to. */
static uint64_t between(const char *body, unsigned from, unsigned to)
{
    struct run *r = modern_window(false);
    uint64_t cycles;

    modern_run(r, body, 32);
    cycles = modern_cycle(r, 0, to) - modern_cycle(r, 0, from);
    run_free(r);
    return cycles;
}

/* Listing 1 of the paper. Each nop is in the place of an instruction that reads the clock, and issues in the same cycle. */
static void m1_m2_a_conflict_of_reads_delays_what_comes_two_later(void **state)
{
    static const struct {
        const char *sources;
        unsigned cycles;
    } cases[] = {{"v19, v21", 5}, {"v18, v21", 6}, {"v19, v20", 6}, {"v18, v20", 7}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        char body[300];

        snprintf(body, sizeof body, "nop\nnop\nv_fma_f32 v11, v10, v12, v14\nv_fma_f32 v13, v16, %s\nnop\nnop\n",
                 cases[i].sources);
        assert_int_equal(between(body, 0, 5), cases[i].cycles);
        assert_int_equal(between(body, 0, 4), 4); /* only the second nop after the conflict is delayed */
    }
}

/* Listing 2 of the paper, with each stall count. If the stall count is below 4, the user of the result issues before the result
 * is ready: the hardware does not check. */
static void m6_m42_a_stall_count_is_the_gap_whatever_is_read(void **state)
{
    (void)state;
    for (unsigned stall = 1; stall <= 4; stall++) {
        char body[300];

        snprintf(body, sizeof body, "nop\nnop\nv_add_f32 v1, v2, v3 {st=%u}\nv_fma_f32 v5, v1, v1, v1\nnop\nnop\n", stall);
        assert_int_equal(between(body, 0, 5), 4 + stall);
    }
    for (unsigned others = 0; others < 4; others++) { /* the user issues 4 cycles after the addition */
        char body[300];
        int at = snprintf(body, sizeof body, "nop\nnop\nv_add_f32 v1, v2, v3 {st=%u}\n", 4 - others);

        for (unsigned i = 0; i < others; i++)
            at += snprintf(body + at, sizeof body - (unsigned)at, "v_add_f32 v%u, v12, v13\n", 20 + i);
        snprintf(body + at, sizeof body - (unsigned)at, "v_fma_f32 v5, v1, v1, v1\n");
        assert_int_equal(between(body, 2, 3 + others), 4);
    }
}

/** Emit @count instructions with @sources sources, of which the first @n are in bank 0 and the others in bank 1. */
static void put_reads(struct lw_buffer *body, unsigned n, unsigned sources, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        lw_printf(&body->sink, sources == 2 ? "v_mul_f32 v%u" : "v_fma_f32 v%u", 40 + i);
        for (unsigned k = 0; k < sources; k++)
            lw_printf(&body->sink, ", v%u", 2 * k + (k >= n));
        lw_put(&body->sink, "\n");
    }
}

/** Run @body and return the number of cycles in which an instruction waits in Allocate. */
static uint64_t bubbles(const struct lw_buffer *body)
{
    struct run *r = modern_window(false);
    uint64_t holds;

    modern_run(r, body->text, 32);
    holds = total(r, TIM_CORE_allocate_holds);
    run_free(r);
    return holds;
}

static void m3_two_neighbours_conflict_as_the_table_says(void **state)
{
    static const unsigned table[4][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 2}};

    (void)state;
    for (unsigned n1 = 0; n1 < 4; n1++)
        for (unsigned n2 = 0; n2 < 4; n2++) {
            static const char *const reads[] = {"v_mov_b32 v40, 1", "v_mov_b32 v40, v0", "v_mul_f32 v40, v0, v2",
                                                "v_fma_f32 v40, v0, v2, v4"};
            struct lw_buffer body;

            lw_buffer_init(&body);
            lw_printf(&body.sink, "%s\n%s\n", reads[n1], reads[n2]);
            assert_int_equal(bubbles(&body), table[n1][n2]);
            lw_buffer_fini(&body);
        }
}

static void m4_m5_streams_of_conflicts_have_their_rate(void **state)
{
    static const unsigned lengths[] = {1, 2, 3, 4, 8, 16};
    static const struct {
        unsigned n, sources;
        unsigned bubbles[6];
    } streams[] = {{1, 2, {0, 0, 0, 0, 0, 0}},
                   {2, 2, {0, 0, 1, 2, 6, 14}},
                   {2, 3, {0, 0, 1, 2, 6, 14}},
                   {3, 3, {0, 2, 4, 6, 14, 30}}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(streams); i++)
        for (unsigned k = 0; k < LW_COUNT_OF(lengths); k++) {
            struct lw_buffer body;

            lw_buffer_init(&body);
            put_reads(&body, streams[i].n, streams[i].sources, lengths[k]);
            assert_int_equal(bubbles(&body), streams[i].bubbles[k]);
            lw_buffer_fini(&body);
        }
}

/* ---- the register-file cache -------------------------------------------------------------------- */

/** Run @body. Return the number of hits in the register-file cache and the number of cycles in which an instruction waits in
 *  Allocate, as hits * 100 + cycles. */
static unsigned hits_and_bubbles(const char *body, bool rfc)
{
    struct run *r = modern_window(rfc);
    unsigned both;

    modern_run(r, body, 32);
    both = (unsigned)(total(r, TIM_CORE_rfc_hits) * 100 + total(r, TIM_CORE_allocate_holds));
    run_free(r);
    return both;
}

/* Listing 4 of the paper. A stall count of 4 prevents conflicts between the instructions. */
static void m26_to_m29_reuse_bits_keep_a_value_for_the_next_request(void **state)
{
    (void)state;
    assert_int_equal(hits_and_bubbles("v_mad_u32 v1, v2, v3, v4 {ru=1,st=4}\nv_fma_f32 v5, v2, v7, v8 {st=4}\n"
                                      "v_mad_u32 v10, v2, v12, v13 {st=4}\n", true), 100);
    assert_int_equal(hits_and_bubbles("v_mad_u32 v1, v2, v3, v4 {ru=1,st=4}\nv_fma_f32 v5, v2, v7, v8 {ru=1,st=4}\n"
                                      "v_mad_u32 v10, v2, v12, v13 {st=4}\n", true), 200);
    assert_int_equal(hits_and_bubbles("v_mad_u32 v1, v2, v3, v4 {ru=1,st=4}\nv_fma_f32 v5, v7, v2, v8 {st=4}\n"
                                      "v_mad_u32 v10, v2, v12, v13 {st=4}\n", true), 100);
    assert_int_equal(hits_and_bubbles("v_mad_u32 v1, v2, v3, v4 {ru=1,st=4}\nv_fma_f32 v5, v4, v7, v8 {st=4}\n"
                                      "v_mad_u32 v10, v2, v12, v13 {st=4}\n", true), 0);
    assert_int_equal(hits_and_bubbles("v_mad_u32 v1, v2, v3, v4 {ru=1,st=4}\nv_mov_b32 v2, 1 {st=4}\n"
                                      "v_mad_u32 v10, v2, v12, v13 {st=4}\n", true), 0); /* no hit, because v2 was written */
}

static void m30_hits_need_no_slot(void **state)
{
    static const struct {
        const char *insn;
        unsigned bubbles;
    } cases[] = {{"v_fma_f32 v41, v0, v2, v4\n", 30},         {"v_fma_f32 v41, v0, v2, v4 {ru=1}\n", 15},
                 {"v_fma_f32 v41, v0, v2, v4 {ru=3}\n", 0},   {"v_fma_f32 v41, v0, v2, v1\n", 14},
                 {"v_fma_f32 v41, v0, v2, v1 {ru=1}\n", 0}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct lw_buffer body;

        lw_buffer_init(&body);
        for (unsigned k = 0; k < 16; k++)
            lw_put(&body.sink, cases[i].insn);
        assert_int_equal(hits_and_bubbles(body.text, true) % 100, cases[i].bubbles);
        assert_int_equal(hits_and_bubbles(body.text, false), i < 3 ? 30 : 14);
        lw_buffer_fini(&body);
    }
}

static void m31_warps_that_alternate_empty_each_others_cells(void **state)
{
    (void)state;
    for (unsigned warps = 1; warps < 3; warps++) {
        struct run *r = modern_window(true);
        struct lw_buffer body;

        lw_buffer_init(&body);
        for (unsigned k = 0; k < 8; k++)
            lw_put(&body.sink, "v_add_f32 v9, v2, v3 {ru=1,y}\n");
        modern_run(r, body.text, 32 * warps);
        lw_buffer_fini(&body);
        assert_int_equal(total(r, TIM_CORE_rfc_requests), 16 * warps);
        assert_int_equal(total(r, TIM_CORE_rfc_hits), warps == 1 ? 7 : 0);
        run_free(r);
    }
}

/* ---- stall counts are sufficient, whatever conflicts occur ------------------------------------------ */

static void m41_a_held_instruction_stops_the_stall_count(void **state)
{
    static const struct {
        unsigned rule, sources, user;
    } cases[] = {{TIM_FREEZE_HELD, 3, 9}, {TIM_FREEZE_NONE, 3, 7}, {TIM_FREEZE_ALL, 3, 9},
                 {TIM_FREEZE_HELD, 2, 8}, {TIM_FREEZE_NONE, 2, 7}, {TIM_FREEZE_HELD, 1, 7}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct run *r = modern_window(false);
        char body[300];

        snprintf(body, sizeof body, "nop\nnop\nv_fma_f32 v20, v0, v2, v4\nv_fma_f32 v21, v6, %s {st=4}\n"
                                    "v_fma_f32 v22, v1, v3, v5\n",
                 cases[i].sources == 3 ? "v8, v10" : cases[i].sources == 2 ? "v8, v11" : "v9, v11");
        r->config->issue_stall_freeze = cases[i].rule;
        modern_run(r, body, 32);
        assert_int_equal(modern_cycle(r, 0, 4), cases[i].user);
        run_free(r);
    }
}

static void m25_a_chain_takes_its_latency_a_link(void **state)
{
    static const char *const links[] = {"v_fma_f32 v0, v0, v2, v4 {st=4}\n", "v_fma_f32 v0, v0, v1, v2 {st=4}\n"};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(links); i++) {
        struct lw_buffer body;

        lw_buffer_init(&body);
        lw_put(&body.sink, "nop\nnop\n");
        for (unsigned k = 0; k < 8; k++)
            lw_put(&body.sink, links[i]);
        lw_put(&body.sink, "nop\nnop\n");
        assert_int_equal(between(body.text, 0, 11), 35);
        lw_buffer_fini(&body);
    }
}

/* ---- write ports ------------------------------------------------------------------------------------------ */

/** Return the cycle in which the user of a load issues, if an instruction of fixed latency issues @gap cycles after the load.
 *  That instruction writes register @row, whose number selects the bank. */
static uint64_t user_of_load(unsigned gap, unsigned row)
{
    struct run *r = modern_window(false);
    char body[300];
    uint64_t cycle;

    r->config->shared_latency = 20;
    snprintf(body, sizeof body, "ld.shared.b32 v4, [v7] {wr=0,st=%u}\nnop {st=%u}\nv_fma_f32 v%u, v0, v1, v3\n"
                                "v_mov_b32 v9, v4 {wt=1}\n", gap / 2, gap - gap / 2, row);
    modern_run(r, body, 32);
    cycle = modern_cycle(r, 0, 3);
    run_free(r);
    return cycle;
}

static void m24_a_load_waits_for_a_write_port_and_a_fixed_result_does_not(void **state)
{
    const uint64_t alone = user_of_load(4, 40);
    unsigned late = 0;

    (void)state;
    for (unsigned gap = 4; gap < 23; gap++) {
        uint64_t same = user_of_load(gap, 40);

        assert_int_equal(user_of_load(gap, 41), alone); /* a result in the other bank does not delay the load */
        assert_true(same == alone || same == alone + 1);
        late += same != alone;
    }
    assert_int_equal(late, 1); /* at one value of `gap` both instructions write in the same cycle */
}

static void m23_two_fixed_results_that_end_together_are_not_late(void **state)
{
    struct run *r = modern_window(false);

    (void)state;
    r->config->unit[ISA_UNIT_INT].latency = 5;
    modern_run(r, "v_mad_u32 v2, v9, v10, v11 {wr=0}\nv_fma_f32 v4, v0, v1, v3 {wr=1}\nnop\nv_mov_b32 v6, v2 {wt=1}\n"
                  "nop {wt=2}\n", 32);
    assert_int_equal(modern_cycle(r, 0, 3), 5); /* both results arrive five cycles after the first issue */
    assert_int_equal(modern_cycle(r, 0, 4), 6);
    run_free(r);
}

/* A load reads its address in a cycle in which no instruction of fixed latency has reserved the port of the bank. */
static void m40_reads_of_loads_give_way_to_windows(void **state)
{
    uint64_t writer[2];

    (void)state;
    for (unsigned busy = 0; busy < 2; busy++) {
        struct run *r = modern_window(false);
        struct lw_buffer body;

        lw_buffer_init(&body);
        for (unsigned i = 0; i < 4; i++)
            lw_put(&body.sink, busy ? "v_fma_f32 v41, v0, v2, v4\n" : "v_fma_f32 v41, v1, v3, v5\n");
        lw_put(&body.sink, "ld.shared.b32 v9, [v8] {rd=0,st=2}\n");
        for (unsigned i = 0; i < 4; i++)
            lw_put(&body.sink, busy ? "v_fma_f32 v41, v0, v2, v4\n" : "v_fma_f32 v41, v1, v3, v5\n");
        lw_put(&body.sink, "v_mov_b32 v8, 1 {wt=1}\n");
        modern_run(r, body.text, 32);
        lw_buffer_fini(&body);
        writer[busy] = modern_cycle(r, 0, 9) - modern_cycle(r, 0, 4);
        /* each fma after the first waits two cycles, except the one after the load, which issues two cycles later anyway */
        assert_int_equal(total(r, TIM_CORE_allocate_holds), 12);
        run_free(r);
    }
    assert_true(writer[1] > writer[0]);
}

/* ---- greedy fetch ------------------------------------------------------------------------------------------ */

/* With fetch in rotation, warps fetch one instruction each in turn. Greedy fetch fills the buffer of the youngest warp with
 * three instructions, and with one more for the instruction that issues meanwhile, before it fetches for the next warp. */
static void fetches_follow_the_warp_that_issues(void **state)
{
    static const char *const expected[] = {"W0 0-1, W1 1-2, W2 2-3", "W2 0-1, W1 4-5, W0 8-9"};

    (void)state;
    for (unsigned policy = TIM_FETCH_LRR; policy <= TIM_FETCH_GREEDY; policy++) {
        struct run *r = modern_window(false);
        char text[100];

        r->config->fetch_policy = policy;
        r->config->fetch_width = 1;
        r->config->fetch_buffer = 3;
        r->config->fetch_group = 1;
        r->config->fetch_latency = 2;
        modern_run(r, "v_mov_b32 v40, 0 {st=15,y}\nv_mov_b32 v41, 0\nv_mov_b32 v42, 0\nv_mov_b32 v43, 0\n", 96);
        assert_string_equal(modern_intervals(r, 1, text, sizeof text), expected[policy]);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m6_m42_a_stall_count_is_the_gap_whatever_is_read),
        cmocka_unit_test(m1_m2_a_conflict_of_reads_delays_what_comes_two_later),
        cmocka_unit_test(m3_two_neighbours_conflict_as_the_table_says),
        cmocka_unit_test(m4_m5_streams_of_conflicts_have_their_rate),
        cmocka_unit_test(m26_to_m29_reuse_bits_keep_a_value_for_the_next_request),
        cmocka_unit_test(m30_hits_need_no_slot),
        cmocka_unit_test(m31_warps_that_alternate_empty_each_others_cells),
        cmocka_unit_test(m41_a_held_instruction_stops_the_stall_count),
        cmocka_unit_test(m25_a_chain_takes_its_latency_a_link),
        cmocka_unit_test(m24_a_load_waits_for_a_write_port_and_a_fixed_result_does_not),
        cmocka_unit_test(m23_two_fixed_results_that_end_together_are_not_late),
        cmocka_unit_test(m40_reads_of_loads_give_way_to_windows),
        cmocka_unit_test(fetches_follow_the_warp_that_issues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
