/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the mechanisms pcal and reuse and the key l1.bypass, by which loads bypass L1. 16.4, 16.5 and 16.9 are sections of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

/* 16.9: the oldest warps have the tokens. When a warp with a token ends, the oldest warp without a token gets the token. */
static void the_oldest_warps_have_tokens(void **state)
{
    struct mech_core *m = mech_new("pcal.on=on pcal.tokens=2", 0);
    struct lw_buffer text;

    (void)state;
    mech_begin(m, 4);
    assert_true(m->mechs.bypasses);
    for (unsigned w = 0; w < 4; w++)
        assert_int_equal(tim_mechs_bypass(&m->mechs, w, 0), w >= 2);
    mech_end(m, 0);
    assert_false(tim_mechs_bypass(&m->mechs, 2, 0));
    assert_true(tim_mechs_bypass(&m->mechs, 3, 0));
    lw_buffer_init(&text);
    m->mechs.mech[0]->row->show(m->mechs.mech[0], &text.sink);
    assert_string_equal(text.text, "2 tokens, 3 warps run; warps that have a token, the oldest first: 1 2\n");
    lw_buffer_fini(&text);
    mech_free(m);
}

/* Execute a load of @line by warp 0, at instruction @at. Return whether the line is in L1 after the load, which means that the
 * load does not bypass L1. */
static bool load(struct mech_core *m, uint64_t line, unsigned at)
{
    if (tim_mechs_bypass(&m->mechs, 0, (uint64_t)at * ISA_WORD_BYTES))
        return false;
    mech_access_at(m, 0, line, at);
    return true;
}

/* 16.5: each load of instruction 1 loads another line, while instruction 2 loads the same two lines repeatedly. After a
 * sample of four lines, three loads of instruction 1 bypass L1. After these three loads, instruction 1 fills lines again,
 * for the next sample. Instruction 2 never bypasses L1. */
static void a_stream_bypasses_and_a_reused_line_does_not(void **state)
{
    struct mech_core *m = mech_new("reuse.on=on reuse.sample=4 reuse.threshold=50 reuse.period=3", 4);
    uint64_t line = 100;

    (void)state;
    mech_begin(m, 1);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(load(m, line++, 1));
        assert_true(load(m, i % 2, 2));
    }
    for (unsigned i = 0; i < 3; i++)
        assert_false(load(m, line++, 1));
    for (unsigned i = 0; i < 4; i++)
        assert_true(load(m, line++, 1));
    assert_false(load(m, line++, 1));
    for (unsigned i = 0; i < 20; i++)
        assert_true(load(m, i % 2, 2));
    assert_int_equal(m->count[TIM_CORE_reuse_lines], 8 + 4); /* instruction 1 evicted the two lines of instruction 2 once */
    assert_true(m->count[TIM_CORE_reuse_reused] >= 2);
    mech_free(m);
}

/* A line that is loaded again counts as reused once, even if it is loaded more often. A line that is evicted before it is loaded
 * again does not count. */
static void a_line_counts_once(void **state)
{
    struct mech_core *m = mech_new("reuse.on=on reuse.sample=2 reuse.threshold=60 reuse.period=1000", 1);

    (void)state;
    mech_begin(m, 1);
    assert_true(load(m, 1, 1));
    assert_true(load(m, 1, 1)); /* this load reuses line 1 */
    assert_true(load(m, 1, 1));
    assert_int_equal(m->count[TIM_CORE_reuse_reused], 1);
    assert_true(load(m, 2, 1)); /* this load evicts line 1 */
    assert_true(m->count[TIM_CORE_reuse_lines] == 2);
    assert_false(load(m, 2, 1)); /* one of two lines was reused, which is 50 % and less than the threshold */
    mech_free(m);
}

/* Kernel in which lane l reads line 4 l of 32 bytes: a column of an array whose rows have four lines. L1 has four sets, and all
 * these lines are in the same set. */
#define COLUMN \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v1, v1, 7\n" \
    "ld.global.b32 v3, [s4:5+v1]\n" \
    "v_add_u32 v4, v3, 1\n" \
    "exit\n.end\n"

static uint64_t column(unsigned bypass, unsigned hash, uint64_t *bypasses)
{
    struct run *r = run_new();
    uint64_t blocked;

    r->config->l1_line = r->config->l1_sector = 32;
    r->config->l1_ways = 8;
    r->config->l1_bytes = 4 * 8 * 32;
    r->config->l1_bypass = bypass;
    r->config->l1_hash = hash;
    run_text(r, COLUMN, 1, 32);
    blocked = run_engine(r)->stats[0].count[TIM_CORE_l1_blocked];
    *bypasses = run_engine(r)->stats[0].count[TIM_CORE_l1_bypasses];
    run_free(r);
    return blocked;
}

/* 16.4: the load of a column waits for free ways of one set. The load does not wait if a hash selects the set, or if
 * accesses bypass L1 when all ways of the set have outstanding misses. */
static void the_access_of_a_column_stalls_unless_it_bypasses(void **state)
{
    uint64_t bypasses;

    (void)state;
    assert_true(column(TIM_BYPASS_NONE, TIM_HASH_NONE, &bypasses) > 100);
    assert_int_equal(bypasses, 0);
    assert_int_equal(column(TIM_BYPASS_STALL, TIM_HASH_NONE, &bypasses), 0);
    assert_int_equal(bypasses, 32 - 8);
    assert_int_equal(column(TIM_BYPASS_NONE, TIM_HASH_XOR, &bypasses), 0);
    assert_int_equal(bypasses, 0);
}

/* Two warps repeatedly read lines of their own, and L1 has space for the lines of one warp. If only the older warp has a token,
 * its loads hit. */
static void a_token_keeps_the_lines_of_a_warp(void **state)
{
    uint64_t hits[2];

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct run *r = run_new();

        r->config->l1_line = r->config->l1_sector = 128;
        r->config->l1_bytes = 8 * 128;
        r->config->l1_ways = 8;
        r->config->issue_policy = TIM_SCHED_LRR;
        r->config->pcal_on = on;
        r->config->pcal_tokens = 1;
        run_text(r, MECH_THRASH, 1, 64);
        hits[on] = run_engine(r)->stats[0].count[TIM_CORE_l1_hits];
        assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_l1_bypasses] != 0, on);
        run_free(r);
    }
    assert_true(hits[1] > 2 * hits[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_warps_have_tokens),
        cmocka_unit_test(a_stream_bypasses_and_a_reused_line_does_not),
        cmocka_unit_test(a_line_counts_once),
        cmocka_unit_test(the_access_of_a_column_stalls_unless_it_bypasses),
        cmocka_unit_test(a_token_keeps_the_lines_of_a_warp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
