/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microbenchmarks of a modern core: two levels of instruction caches with a stream buffer, constant caches that use the same
 * link between L0 and L1, and greedy fetch. Expected cycles are published (Huerta et al., MICRO 2025), or computed by hand
 * from docs/reference/timing-core.md.
 */
#include "tests/timing/tim_modern.h"

/** Create a core as published: one fetch per cycle into instruction buffers with three entries. The stream buffer has
 *  @prefetch lines. */
static struct run *levels_new(unsigned prefetch)
{
    struct run *r = modern_window(true);
    struct tim_config *c = r->config;

    c->fetch_perfect = false;
    c->fetch_policy = TIM_FETCH_GREEDY;
    c->fetch_width = c->fetch_group = 1;
    c->fetch_buffer = 3;
    c->fetch_latency = 2;
    c->fetch_word_bytes = 16;
    c->fetch_cache_line = 128;
    c->fetch_cache_ways = 16;
    c->fetch_cache_bytes = 131072;
    c->fetch_cache_mshrs = 64;
    c->fetch_l0_ways = 32;
    c->fetch_l0_bytes = 32768;
    c->fetch_link = 39;
    c->fetch_prefetch = prefetch;
    c->constant_perfect = false;
    c->constant_bytes = 2048;
    c->constant_ways = 8;
    c->constant_l0_bytes = 512;
    modern_memory(c);
    return r;
}

/** Create a machine and launch a kernel with @body. */
static void levels_open(struct run *r, const char *body, unsigned threads)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    lw_printf(&text.sink, ".kernel k\n.param ptr.global out\n.shared 4096\n%sexit {wt=0x3f}\n.end\n", body);
    run_open(r, text.text, 1, threads);
    lw_buffer_fini(&text);
}

/** Write the program's first @lines lines of code to @cache. */
static void fill(const struct run *r, struct tim_cache *cache, unsigned lines)
{
    static const uint64_t whole[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const uint64_t base = emu_program_base(r->fix->program);
    struct tim_cache_result result;

    for (unsigned i = 0; i < lines; i++)
        tim_cache_write(cache, base + 128 * i, whole, true, false, 0xffff, &result);
}

static uint64_t total(const struct run *r, unsigned counter)
{
    return run_engine(r)->stats[0].count[counter];
}

/* ---- straight-line code that is in L1, but not in L0 ----------------------------------------------- */

enum { LINES = 64, A_LINE = 8 };

/** Run 64 lines of code in one warp, and store in @at the cycle in which the first instruction of each line issues. @entries
 *  is the number of lines in the stream buffer. */
static void straight(unsigned entries, bool perfect, uint64_t at[LINES])
{
    struct run *r = levels_new(entries);
    struct lw_buffer body;

    r->config->fetch_perfect = perfect;
    lw_buffer_init(&body);
    for (unsigned i = 0; i < LINES * A_LINE - 1; i++)
        lw_put(&body.sink, "nop {st=1}\n");
    levels_open(r, body.text, 32);
    lw_buffer_fini(&body);
    fill(r, run_engine(r)->core[0]->icache, LINES);
    run_go(r);
    for (unsigned i = 0; i < LINES; i++)
        at[i] = modern_cycle(r, 0, i * A_LINE);
    if (!perfect) {
        assert_int_equal(total(r, TIM_CORE_fetch_requests), LINES);
        assert_int_equal(total(r, TIM_CORE_fetch_misses), 0);
        assert_int_equal(total(r, TIM_CORE_l0_misses), LINES);
        assert_int_equal(total(r, TIM_CORE_l0_hits), LINES * (A_LINE - 1));
        assert_int_equal(total(r, TIM_CORE_prefetches), entries == 0 ? 0 : LINES - 1);
        assert_int_equal(total(r, TIM_CORE_prefetches_used), entries == 0 ? 0 : LINES - 1);
        assert_int_equal(total(r, TIM_CORE_prefetches_unused), 0);
    }
    run_free(r);
}

/* A miss of L0 takes 39 cycles to L1, one cycle for the look-up, and 39 cycles back. The instructions of a line issue in
 * eight cycles. The next miss begins with the fetch of the ninth instruction, so a line takes 87 cycles without a stream
 * buffer. A stream buffer of n lines requests the next n lines, one per cycle after the miss, and one more line whenever a
 * fetch takes a line. The stream buffer delivers n lines in 79 cycles, or in 8 n cycles if that is more. */
static void m37_each_entry_of_the_stream_buffer_hides_more_of_a_miss(void **state)
{
    static const unsigned sizes[] = {0, 1, 2, 4, 8, 9, 10, 16, 64};

    (void)state;
    for (unsigned k = 0; k < LW_COUNT_OF(sizes); k++) {
        unsigned n = sizes[k];
        uint64_t at[LINES];

        straight(n, false, at);
        for (unsigned i = 0; i < LINES; i++) {
            unsigned expected = n == 0              ? 87 * i
                                : 8 * n > 79 || i == 0 ? 8 * i
                                                    : 8 + 79 * ((i - 1) / n) + 8 * ((i - 1) % n);

            if (at[i] != expected)
                fail_msg("%u lines: line %u issues from %u on, expected %u", n, i, (unsigned)at[i], expected);
        }
    }
}

static void perfect_fetch_needs_no_cache(void **state)
{
    uint64_t at[LINES];

    (void)state;
    straight(8, true, at);
    for (unsigned i = 0; i < LINES; i++)
        assert_int_equal(at[i], 8 * i);
}

/* Only the first line of the stream buffer can be fetched: a fetch of a later line misses, even if the buffer has the line. */
static void a_jump_empties_the_stream_buffer(void **state)
{
    struct run *r = levels_new(4);
    struct lw_buffer body;

    (void)state;
    lw_buffer_init(&body);
    lw_put(&body.sink, "bra away\n");
    for (unsigned i = 1; i < 2 * A_LINE; i++)
        lw_put(&body.sink, "nop\n");
    lw_put(&body.sink, "away:\n");
    for (unsigned i = 0; i < 10 * A_LINE; i++)
        lw_put(&body.sink, "nop\n");
    levels_open(r, body.text, 32);
    lw_buffer_fini(&body);
    fill(r, run_engine(r)->core[0]->icache, 13);
    run_go(r);
    /* Line 0 misses, and the stream buffer requests lines 1 to 4. Then line 2 misses and is requested again, with
     * lines 3 to 12 after it. */
    assert_int_equal(total(r, TIM_CORE_l0_misses), 12);
    assert_int_equal(total(r, TIM_CORE_prefetches), 4 + 10);
    assert_int_equal(total(r, TIM_CORE_prefetches_unused), 4);
    assert_int_equal(total(r, TIM_CORE_prefetches_used), 10);
    assert_int_equal(modern_cycle(r, 0, 2 * A_LINE) - modern_cycle(r, 0, 0), 1 + 79 + 2);
    run_free(r);
}

/* ---- figure 4 (a): four warps of 32 instructions, the first half of which is in L0 -------------- */

static void a_warp_that_misses_lets_another_run_that_then_keeps_the_slot(void **state)
{
    (void)state;
    for (unsigned link = 2; link <= 8; link++) { /* with this latency the third line arrives between cycles 18 and 30 */
        struct run *r = levels_new(8);
        struct lw_buffer body;
        char text[500];

        lw_buffer_init(&body);
        lw_put(&body.sink, "ld.shared.b32 v40, [v41] {wr=0,st=2}\n"); /* the measured part begins with full buffers */
        for (unsigned i = 1; i < A_LINE; i++)
            lw_put(&body.sink, "nop {st=1}\n");
        lw_put(&body.sink, "ld.shared.b32 v42, [v41] {wr=1,wt=1,st=0}\n"); /* delays the exits until the measured part is over */
        for (unsigned i = 1; i < 32; i++)
            lw_printf(&body.sink, "v_mov_b32 v%u, 0 {st=0}\n", i);
        r->config->shared_latency = 300;
        r->config->fetch_link = link;
        levels_open(r, body.text, 128);
        lw_buffer_fini(&body);
        fill(r, run_engine(r)->core[0]->icache, 6);
        fill(r, run_engine(r)->core[0]->front->sched[0].code, 3);
        run_go(r);
        modern_intervals_from(r, A_LINE, A_LINE + 32, text, sizeof text);
        if (link < 8) /* the published order */
            assert_string_equal(text, "W3 0-16, W2 16-48, W3 48-64, W1 64-96, W0 96-128");
        else /* the fetch of W2 misses in cycle 29; W3, which fetches after the last fetch of W2, is one cycle too late */
            assert_string_equal(text, "W3 0-16, W2 16-48, W1 48-80, W3 80-96, W0 96-128");
        run_free(r);
    }
}

/* ---- required size of an instruction buffer -------------------------------------------------------- */

/** Check the warps that issue in cycles 1 to 8, with instruction buffers of @entries. W0 issues in cycle 0, so its buffer has
 *  space, and then stalls. W1 and W2, whose buffers are full, may issue. A dot is a cycle without an issue. */
static void buffers_give(unsigned entries, unsigned warps, const char *expected)
{
    struct run *r = levels_new(0);
    struct lw_buffer body;
    char text[20] = "........";

    r->config->fetch_perfect = true;
    r->config->fetch_buffer = entries;
    r->config->shared_latency = 100;
    r->config->lsu_local = 0;
    lw_buffer_init(&body);
    /* After the barrier the loads of W0, W2 and W1 issue one cycle apart, and complete one cycle apart. */
    lw_put(&body.sink, "v_s2r v0, %tid.x {st=15,y}\nnop {st=15,y}\nv_setp_u32.lt p0, v0, 32 {st=15,y}\n@p0 bra first {st=15,y}\n"
                       "bar.sync 0 {st=1}\nld.shared.b32 v40, [v41] {wr=0,st=2}\nnop {wt=1}\n");
    for (unsigned i = 0; i < 20; i++)
        lw_put(&body.sink, "nop {st=1}\n");
    lw_put(&body.sink, "exit {wt=0x3f}\nfirst:\nnop {st=15,y}\nnop {st=15,y}\nnop {st=15,y}\nbar.sync 0 {st=1}\n"
                       "ld.shared.b32 v40, [v41] {wr=0,st=2}\nbra next {wt=1,st=11}\nnop\nnext:\nnop\nnop\nnop\nnop\n");
    levels_open(r, body.text, 32 * warps);
    lw_buffer_fini(&body);
    run_go(r);
    uint64_t start = modern_cycle(r, 0, 4 + 3 + 20 + 1 + 5) + r->issue[0].cycle;
    for (unsigned i = 0; i < r->count; i++)
        if (r->issue[i].cycle > start && r->issue[i].cycle <= start + 8)
            text[r->issue[i].cycle - start - 1] = (char)('0' + r->issue[i].warp);
    assert_string_equal(text, expected);
    run_free(r);
}

static void m36_three_entries_are_enough_for_a_greedy_warp(void **state)
{
    (void)state;
    buffers_give(2, 3, "22112211");
    buffers_give(3, 3, "22222222");
    buffers_give(4, 3, "22222222");
    buffers_give(2, 2, "11.11111");
}

/* ---- operands in constant space ---------------------------------------------------------------------------- */

/* An operand in constant space that misses the L0 cache of operands is fetched from L1 over the link. The first instruction, a
 * load, brings the line of c[out] into L1. */
static void m32_an_operand_that_is_missed_comes_over_the_link(void **state)
{
    struct run *r = levels_new(8);

    (void)state;
    levels_open(r, "ld.const.b32 v4, c[out] {wr=0,st=2}\nnop {wt=1,st=15,y}\nnop {st=1}\n"
                   "v_add_f32 v1, v2, c[out] {st=1}\nnop {st=1}\nv_add_f32 v1, v2, c[out] {st=1}\nnop {st=1}\n", 32);
    run_go(r);
    assert_int_equal(modern_cycle(r, 0, 3) - modern_cycle(r, 0, 2), 1 + 79); /* the published number is 79 */
    assert_int_equal(modern_cycle(r, 0, 5) - modern_cycle(r, 0, 4), 1);
    assert_int_equal(total(r, TIM_CORE_operand_misses), 1);
    assert_int_equal(total(r, TIM_CORE_operand_hits), 1);
    assert_int_equal(total(r, TIM_CORE_constant_misses), 1); /* the miss of the load, which does not use the cache of operands */
    run_free(r);
}

/** Check which of two warps issues in which cycles. Both execute @before instructions, one with an operand in constant space,
 *  and further instructions. After a miss of the operand, the scheduler waits @wait cycles before it switches to the other
 *  warp. @switched is the number of slots in which the scheduler waited although the other warp was ready. */
static void two_warps_are(unsigned before, unsigned link, unsigned wait, unsigned switched, const char *expected)
{
    struct run *r = levels_new(8);
    struct lw_buffer body;
    char text[300];

    r->config->constant_switch = wait;
    r->config->fetch_link = link;
    lw_buffer_init(&body);
    lw_put(&body.sink, "ld.const.b32 v4, c[out] {wr=0,st=2}\nnop {st=1}\nnop {wt=1,st=1}\n");
    for (unsigned i = 0; i < before; i++)
        lw_put(&body.sink, "nop {st=1}\n");
    lw_put(&body.sink, "v_add_f32 v1, v2, c[out] {st=1}\n");
    for (unsigned i = 0; i < 4; i++)
        lw_put(&body.sink, "nop {st=1}\n");
    levels_open(r, body.text, 64);
    lw_buffer_fini(&body);
    fill(r, run_engine(r)->core[0]->icache, 16);
    fill(r, run_engine(r)->core[0]->front->sched[0].code, 16);
    run_go(r);
    modern_intervals_from(r, 2, 3 + before + 5, text, sizeof text);
    assert_int_equal(run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_SWITCH], switched);
    assert_string_equal(text, expected);
    run_free(r);
}

static void m33_a_scheduler_waits_four_cycles_for_an_operand_before_it_switches(void **state)
{
    (void)state;
    /* The operand of W1 misses in cycle 100, and W0 begins in 104. W1 could issue from cycle 179 on, but the greedy scheduler
     * continues with W0 until the exit of W0. */
    two_warps_are(99, 39, 4, 4, "W1 0-100, W0 104-209, W1 210-215");
    two_warps_are(99, 39, 1, 1, "W1 0-100, W0 101-206, W1 207-212");
    two_warps_are(99, 1, 4, 3, "W1 0-100, W1 103-108, W0 109-214"); /* the line arrives before the wait of four cycles ends */
    /* In cycle 104 the operand of W0 also misses: its line, which W1 requested in cycle 50, has not arrived. */
    two_warps_are(49, 39, 4, 4, "W1 0-50, W0 54-104, W0 129-134, W1 135-140");
}

/** Check which of two warps issues in which cycles. In both warps an instruction with an operand in constant space follows four
 *  instructions with stall count 3. While a warp stalls, the other one issues. @rule is the value of
 *  constant.switch_for. */
static void two_stalled_warps_are(unsigned rule, unsigned wait, unsigned switched, const char *expected)
{
    struct run *r = levels_new(8);
    struct lw_buffer body;
    char text[300];

    r->config->constant_switch = wait;
    r->config->constant_switch_for = rule;
    lw_buffer_init(&body);
    lw_put(&body.sink, "ld.const.b32 v4, c[out] {wr=0,st=2}\nnop {st=1}\nnop {wt=1,st=1}\n");
    for (unsigned i = 0; i < 9; i++)
        lw_put(&body.sink, i < 4 ? "nop {st=1}\n" : i == 4 ? "nop {st=10}\n" : "nop {st=3}\n");
    lw_put(&body.sink, "v_add_f32 v1, v2, c[out] {st=1}\n");
    for (unsigned i = 0; i < 4; i++)
        lw_put(&body.sink, "nop {st=1}\n");
    levels_open(r, body.text, 64);
    lw_buffer_fini(&body);
    fill(r, run_engine(r)->core[0]->icache, 16);
    fill(r, run_engine(r)->core[0]->front->sched[0].code, 16);
    run_go(r);
    modern_intervals_from(r, 2, 3 + 9 + 5, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_SWITCH], switched);
    run_free(r);
}

static void o6_a_miss_of_a_warp_that_is_not_greedy_may_stop_the_scheduler_or_not(void **state)
{
    (void)state;
    /* The operand of W1 misses in cycle 27, after W0 has issued in 25. W0 is ready in 28, and again three cycles after its next
     * issue. */
    two_stalled_warps_are(TIM_SWITCH_ANY, 4, 3,
                          "W1 0-6, W0 6-12, W1 15-16, W1 18-19, W1 21-22, W0 22-23, W1 24-25, W0 25-26, W0 31-32, W0 34-35, W0 106-111, W1 112-117");
    two_stalled_warps_are(TIM_SWITCH_ANY, 3, 2,
                          "W1 0-6, W0 6-12, W1 15-16, W1 18-19, W1 21-22, W0 22-23, W1 24-25, W0 25-26, W0 30-31, W0 33-34, W0 106-111, W1 112-117");
    two_stalled_warps_are(TIM_SWITCH_GREEDY, 3, 0,
                          "W1 0-6, W0 6-12, W1 15-16, W1 18-19, W1 21-22, W0 22-23, W1 24-25, W0 25-26, W0 28-29, W0 31-32, W0 106-111, W1 112-117");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m37_each_entry_of_the_stream_buffer_hides_more_of_a_miss),
        cmocka_unit_test(perfect_fetch_needs_no_cache),
        cmocka_unit_test(a_jump_empties_the_stream_buffer),
        cmocka_unit_test(m36_three_entries_are_enough_for_a_greedy_warp),
        cmocka_unit_test(m32_an_operand_that_is_missed_comes_over_the_link),
        cmocka_unit_test(m33_a_scheduler_waits_four_cycles_for_an_operand_before_it_switches),
        cmocka_unit_test(o6_a_miss_of_a_warp_that_is_not_greedy_may_stop_the_scheduler_or_not),
        cmocka_unit_test(a_warp_that_misses_lets_another_run_that_then_keeps_the_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
