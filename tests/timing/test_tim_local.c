/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microbenchmarks of a modern core: the memory unit of each scheduler, the arbiter between these units, and the latencies of
 * memory instructions. Expected cycles are published (Huerta et al., MICRO 2025, tables 1 and 2, figure 2), or computed by
 * hand from docs/reference/timing-core.md.
 */
#include "tests/timing/tim_modern.h"

/** Create a core as published, with @schedulers schedulers. Each has a memory unit of its own. */
static struct run *local_new(unsigned schedulers)
{
    struct run *r = modern_window(true);
    struct tim_config *c = r->config;

    c->issue_schedulers = schedulers;
    modern_memory(c);
    return r;
}

/* ---- table 1: when memory instructions issue -------------------------------------------------------- */

static void m19_loads_issue_as_slots_and_the_arbiter_let_them(void **state)
{
    enum { LOADS = 12 };
    /* For 1 to 4 schedulers: the published cycles of loads 6 to 8, and the cycles between the loads after them. */
    static const unsigned first[4][4] = {{13, 17, 21, 4}, {13, 17, 21, 4}, {13, 19, 25, 6}, {13, 21, 29, 8}};

    (void)state;
    for (unsigned schedulers = 1; schedulers <= 4; schedulers++) {
        struct run *r = local_new(schedulers);
        struct lw_buffer body;

        lw_buffer_init(&body);
        for (unsigned i = 0; i < LOADS; i++)
            lw_printf(&body.sink, "ld.shared.b32 v%u, [v40]\n", i);
        modern_run(r, body.text, 32 * schedulers);
        lw_buffer_fini(&body);
        for (unsigned s = 0; s < schedulers; s++)
            for (unsigned i = 0; i < LOADS; i++) {
                const unsigned *row = first[schedulers - 1];
                unsigned expected = i < 5 ? 2 + i : i < 8 ? row[i - 5] + 2 * s : row[2] + 2 * s + (i - 7) * row[3];

                if (modern_cycle(r, s, i) + 2 != expected) /* in the table the first load issues in cycle 2 */
                    fail_msg("%u schedulers, %u, load %u: %u, expected %u", schedulers, s, i + 1,
                             (unsigned)modern_cycle(r, s, i) + 2, expected);
            }
        assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_local_grants], LOADS * schedulers);
        run_free(r);
    }
}

/* ---- table 2: latencies of hits --------------------------------------------------------------------------- */

struct row {
    const char *insn, *address;
    bool store;
    unsigned read[3], result[3]; /* cycles until sources are read and until the result is ready, for accesses of 32, 64 and 128
                                  * bits; 0 if the table has no value */
};
static const struct row rows[] = {
    {"ld.global", "[s2:3+vz]", false, {9, 9, 9}, {29, 31, 35}},
    {"ld.global", "[v8:9]", false, {11, 11, 11}, {32, 34, 38}},
    {"st.global", "[s2:3+vz]", true, {10, 12, 16}, {0}},
    {"st.global", "[v8:9]", true, {14, 16, 20}, {0}},
    {"ld.shared", "[0]", false, {9, 9, 9}, {23, 23, 25}},
    {"ld.shared", "[v8]", false, {9, 9, 9}, {24, 24, 26}},
    {"st.shared", "[0]", true, {10, 12, 16}, {0}},
    {"st.shared", "[v8]", true, {12, 14, 18}, {0}},
    {"ld.const", "c[out]", false, {10}, {26}},
    {"ld.const", "c[0][v8+0]", false, {29, 29}, {29, 29}},
};

/** Return the cycles from the issue of @row's instruction to the issue of an instruction that waits until its sources are read
 *  (@reads), or until its result is ready. The instruction hits L1, since its line has been loaded before. */
static uint64_t latency(const struct row *row, unsigned wide, bool reads)
{
    static const char *const regs[] = {"v12", "v12:13", "v12:15"};
    static const char *const sizes[] = {"b32", "b64", "v4.b32"};
    const char *space = row->insn + 3;
    struct run *r = local_new(1);
    char insn[120], warm[120], body[700];
    uint64_t cycles;

    snprintf(warm, sizeof warm, "ld.%s.%s %s, %s {wr=0,st=2}\n", space, sizes[wide], regs[wide], row->address);
    if (row->store)
        snprintf(insn, sizeof insn, "%s.%s %s, %s", row->insn, sizes[wide], row->address, regs[wide]);
    else
        snprintf(insn, sizeof insn, "%s.%s %s, %s", row->insn, sizes[wide], regs[wide], row->address);
    snprintf(body, sizeof body,
             "s_ld.const.b64 s2:3, c[out] {wr=0,st=2}\nv_mov_b64 v8:9, c[out] {st=15,y,wt=1}\n%s%s"
             "nop {wt=1,st=15,y}\nnop {st=15,y}\n%s {%s,st=2}\nnop {wt=2}\n",
             strcmp(space, "global") != 0 ? "v_mov_b32 v8, 0 {st=15,y}\n" : "nop\n", warm, insn,
             reads ? "rd=1" : "wr=1");
    modern_run(r, body, 32);
    cycles = modern_cycle(r, 0, 7) - modern_cycle(r, 0, 6);
    run_free(r);
    return cycles;
}

static void m20_m21_latencies_are_those_of_the_table(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++)
        for (unsigned wide = 0; wide < 3 && rows[i].read[wide] != 0; wide++) {
            uint64_t read = latency(&rows[i], wide, true);

            if (read != rows[i].read[wide])
                fail_msg("%s %s, %u bits: sources after %u, expected %u", rows[i].insn, rows[i].address, 32u << wide,
                         (unsigned)read, rows[i].read[wide]);
            if (rows[i].result[wide] == 0)
                continue;
            uint64_t result = latency(&rows[i], wide, false);
            if (result != rows[i].result[wide])
                fail_msg("%s %s, %u bits: result after %u, expected %u", rows[i].insn, rows[i].address, 32u << wide,
                         (unsigned)result, rows[i].result[wide]);
        }
}

/* ---- figure 2 ------------------------------------------------------------------------------------------------- */

/** Check the cycles in which the instructions of the figure issue; the first issues in cycle 1. @latency is the time to the
 *  address calculation, and @stall is the stall count of depbar.le. */
static void figure_is(unsigned latency, unsigned stall, const unsigned *expected)
{
    struct run *r = local_new(1);
    char body[900];

    r->config->lsu_latency = latency;
    snprintf(body, sizeof body,
             "v_mov_b64 v12:13, c[out] {st=6}\nv_mov_b64 v2:3, v12:13 {st=6}\nv_mov_b64 v10:11, v12:13 {st=6}\n"
             "ld.global.b32 v15, [v12:13] {wr=0,st=2}\nld.global.b32 v15, [v12:13+32] {wr=0,st=2}\n"
             "nop {wt=1,st=15,y}\nnop {st=15,y}\n"
             "ld.global.b32 v5, [v12:13] {wr=3}\nld.global.b32 v7, [v2:3] {rd=0,wr=3}\n"
             "ld.global.b32 v15, [v10:11+32] {rd=0,wr=4,st=2}\n%s\ndepbar.le 0, 1 {st=%u}\n"
             "%s\nv_mad_u32 v10, v5, v7, v1 {wt=0x09}\n",
             latency == 6 ? "v_mad_u32 v18, v18, v18, v18" : "v_mov_b32 v18, 0", stall,
             latency == 6 ? "v_mad_u32 v2, v21, v23, v24" : "v_mov_b32 v2, 0");
    modern_run(r, body, 32);
    for (unsigned i = 0; i < 7; i++)
        if (modern_cycle(r, 0, 7 + i) - modern_cycle(r, 0, 7) + 1 != expected[i])
            fail_msg("address after %u, stall %u: instruction %u issues in %u, expected %u", latency, stall, i,
                     (unsigned)(modern_cycle(r, 0, 7 + i) - modern_cycle(r, 0, 7)) + 1, expected[i]);
    run_free(r);
}

static void m14_m15_the_published_trace_comes_out(void **state)
{
    static const unsigned figure[] = {1, 2, 3, 5, 6, 15, 36}, table[] = {1, 2, 3, 5, 6, 16, 37};

    (void)state;
    /* With the latencies of the figure, the instructions after a load wait one cycle less than with those of table 2. The
     * latencies of table 2 are tested with moves in place of additions, which would read registers in the same cycles as the
     * load. */
    figure_is(6, 4, figure);
    figure_is(7, 4, table);
    for (unsigned stall = 1; stall < 4; stall++) {
        unsigned not_held[] = {1, 2, 3, 5, 6, 6 + stall, 37};
        figure_is(7, stall, not_held);
    }
}

/* ---- depbar.le with loads in order --------------------------------------------------------------------------- */

static const char *const warm_line = "v_mov_b64 v8:9, c[out] {st=6}\nld.global.b32 v20, [v8:9] {wr=5,st=2}\n"
                                     "nop {wt=0x20,st=15,y}\nnop {st=15,y}\n";

static void m16_the_first_of_loads_in_order_are_waited_for(void **state)
{
    static const char *const waits[] = {"depbar.le 0, 2 {st=4}\nnop\n", "nop\nnop {wt=1}\n"};
    static const unsigned expected[] = {36, 44};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct run *r = local_new(1);
        char body[600];

        snprintf(body, sizeof body, "%sld.global.b32 v1, [v8:9] {wr=0}\nld.global.b32 v2, [v8:9] {wr=0}\n"
                                    "ld.global.b32 v3, [v8:9] {wr=0}\nld.global.b32 v4, [v8:9] {wr=0,st=2}\n%s",
                 warm_line, waits[i]);
        modern_run(r, body, 32);
        assert_int_equal(modern_cycle(r, 0, 9) - modern_cycle(r, 0, 4), expected[i]);
        run_free(r);
    }
}

static void m18_one_barrier_serves_sources_and_result(void **state)
{
    struct run *r = local_new(1);
    char body[600];

    (void)state;
    snprintf(body, sizeof body, "%sld.global.b32 v4, [v8:9] {wr=0,rd=0,st=2}\ndepbar.le 0, 1 {st=4}\nnop\nnop {wt=1}\n",
             warm_line);
    modern_run(r, body, 32);
    assert_int_equal(modern_cycle(r, 0, 6) - modern_cycle(r, 0, 4), 11);
    assert_int_equal(modern_cycle(r, 0, 7) - modern_cycle(r, 0, 4), 32);
    run_free(r);
}

static void an_instruction_without_lanes_is_over_after_control(void **state)
{
    struct run *r = local_new(1);

    (void)state;
    modern_run(r, "v_setp_u32.ne p0, vz, 0 {st=15,y}\n@p0 ld.shared.b32 v4, [v8] {wr=0,rd=1,st=2}\nnop {wt=3}\n", 32);
    assert_int_equal(modern_cycle(r, 0, 2) - modern_cycle(r, 0, 1), 2);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m19_loads_issue_as_slots_and_the_arbiter_let_them),
        cmocka_unit_test(m20_m21_latencies_are_those_of_the_table),
        cmocka_unit_test(m14_m15_the_published_trace_comes_out),
        cmocka_unit_test(m16_the_first_of_loads_in_order_are_waited_for),
        cmocka_unit_test(m18_one_barrier_serves_sources_and_result),
        cmocka_unit_test(an_instruction_without_lanes_is_over_after_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
