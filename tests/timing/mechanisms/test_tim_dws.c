/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism dws: lanes whose data is in L1 run ahead of lanes that wait for a load. 11.2 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

/* All lanes load from line 0, so that L1 has this line. Then lanes 0 to 15 hit line 0, and all other lanes wait for line 1.
 * At the end all lanes load the same word of a third line. */
#define AHEAD(between) \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v2, v1, 2\n" \
    "v_and_b32 v10, v2, 60\n" \
    "v_mov_b32 v9, 1024\n" \
    "ld.global.b32 v5, [s4:5+v10]\n" \
    "v_add_u32 v6, v5, 1\n" \
    "ld.global.b32 v3, [s4:5+v2]\n" \
    "v_add_u32 v4, v3, 1\n" \
    between \
    "ld.global.b32 v7, [s4:5+v9]\n" \
    "v_add_u32 v8, v7, v4\n" \
    "exit\n.end\n"

struct result {
    uint64_t cycles, divisions, lanes, instructions, hits; /* hits: number of hits, which include loads of lines that were
                                                            * already requested */
    char trace[256]; /* issues from the second use on, of kernel AHEAD("") */
};

static struct run *machine(bool on)
{
    struct run *r = run_new();

    r->config->l1_line = r->config->l1_sector = 64;
    r->config->l1_ways = 4;
    r->config->l1_bytes = 64 * 4 * 16;
    r->config->l1_latency = 10;
    r->config->dws_on = on;
    r->config->issue_split_lanes = r->config->issue_switch_on_stall = true;
    return r;
}

static struct result result_of(struct run *r)
{
    const struct tim_engine *e = run_engine(r);
    struct result result = {.cycles = r->fix->engine->ops->cycles(r->fix->engine),
                            .divisions = e->stats[0].count[TIM_CORE_dws_divisions],
                            .lanes = e->stats[0].count[TIM_CORE_dws_lanes],
                            .hits = e->stats[0].count[TIM_CORE_l1_hits] + e->stats[0].count[TIM_CORE_l1_merges]};

    result.instructions = r->count;
    run_trace(r, 8, 12, result.trace, sizeof result.trace);
    run_free(r);
    return result;
}

static struct result run_ahead(bool on, unsigned splits, const char *text)
{
    struct run *r = machine(on);

    r->config->dws_splits = splits;
    run_text(r, text, 1, 32);
    return result_of(r);
}

/* 11.2: the lanes that hit load the third line while the other lanes wait for line 1. So the other lanes then hit the third
 * line. The warp waits for memory twice instead of three times. */
static void lanes_that_hit_prefetch_for_the_others(void **state)
{
    struct result base, dws;

    (void)state;
    run_latency = 400;
    base = run_ahead(false, 4, AHEAD(""));
    dws = run_ahead(true, 4, AHEAD(""));
    run_latency = 100;
    assert_true(base.cycles > 3 * 400 && base.cycles < 3 * 400 + 100);
    assert_true(dws.cycles > 2 * 400 && dws.cycles < 2 * 400 + 150);
    assert_int_equal(base.divisions, 0);
    assert_int_equal(dws.hits, base.hits + 1);
    /* The other lanes reach the use of the third load, and both parts join. The data of the two parts does not arrive at the
     * same time, so that the lanes are divided again. Both parts execute the last four instructions. */
    assert_int_equal(dws.divisions, 2);
    assert_int_equal(dws.instructions, base.instructions + 4);
    assert_string_equal(base.trace, "w0.0@0 w0.1@1 w0.2@404 w0.3@405");
    assert_string_equal(dws.trace, "w0.0@0 w0.1@1 w0.0@392 w0.1@393 w0.2@404 w0.3@405 w0.2@407 w0.3@408");
}

/* A scalar instruction needs all lanes: the part waits before this instruction, and the third line is not prefetched. */
static void a_part_waits_at_an_instruction_that_needs_all_lanes(void **state)
{
    struct result base, dws;

    (void)state;
    run_latency = 400;
    base = run_ahead(false, 4, AHEAD("s_add_u32 s9, s9, 1\n"));
    dws = run_ahead(true, 4, AHEAD("s_add_u32 s9, s9, 1\n"));
    run_latency = 100;
    assert_int_equal(dws.divisions, 1);
    assert_true(dws.cycles > 3 * 400);
    assert_int_equal(dws.instructions, base.instructions + 1);
}

/* Lanes 0 to 7 take another path, and wait there for a load. Of the other lanes some hit and some miss. If only two splits
 * are possible, the other lanes are not divided. */
static void a_full_table_prevents_the_division(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_setp_u32.lt p0, v1, 8\n"
        "v_shl_b32 v2, v1, 2\n"
        "v_and_b32 v10, v2, 60\n"
        "ld.global.b32 v5, [s4:5+v10]\n"
        "v_add_u32 v6, v5, 1\n"
        "bssy b0, join\n"
        "@p0 bra far, b0\n"
        "ld.global.b32 v3, [s4:5+v2]\n"
        "v_add_u32 v4, v3, 1\n"
        "bra join\n"
        "far:\n"
        "ld.global.b32 v3, [s4:5+v10+2048]\n"
        "v_add_u32 v4, v3, 1\n"
        "join:\n"
        "bsync b0\n"
        "exit\n.end\n";

    (void)state;
    assert_int_equal(run_ahead(true, 2, text).divisions, 0);
    assert_int_equal(run_ahead(true, 3, text).divisions, 1);
}

static void without_a_hit_nothing_is_divided(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shl_b32 v2, v1, 4\n"
        "ld.global.b32 v5, [s4:5+v2]\n"
        "v_add_u32 v6, v5, 1\n"
        "ld.global.b32 v5, [s4:5+v2]\n"
        "v_add_u32 v6, v5, 1\n"
        "exit\n.end\n";

    (void)state;
    assert_int_equal(run_ahead(true, 64, text).divisions, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_hit_prefetch_for_the_others),
        cmocka_unit_test(a_part_waits_at_an_instruction_that_needs_all_lanes),
        cmocka_unit_test(a_full_table_prevents_the_division),
        cmocka_unit_test(without_a_hit_nothing_is_divided),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
