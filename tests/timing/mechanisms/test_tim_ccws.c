/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests cache-conscious warp scheduling. C1 to C9 are the unit tests of the warp scheduling thesis's specification 4.8, and the
 * expected values come from tables of the specification. C9 (equal results) is tested by test_tim_kernels.sh, which runs
 * kernels under mechanisms.
 */
#include "tests/timing/mechanisms/mech_fixture.h"
#include "timing/mechanisms/tim_ccws_priv.h"
#include "timing/tables/tim_vta_priv.h"

/** For each digit in @order, let the warp with this number read its four lines. Return the number of hits. */
static unsigned read_in_order(struct mech_core *m, const char *order)
{
    unsigned hits = 0;

    for (; *order != '\0'; order++)
        for (unsigned i = 0; i < 4; i++)
            hits += mech_access(m, (unsigned)(*order - '0'), 4u * (unsigned)(*order - '0') + i);
    return hits;
}

static void c1_the_order_decides_what_a_cache_holds(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on", 4);

    (void)state;
    assert_int_equal(read_in_order(m, "012012"), 0);
    mech_free(m);
    m = mech_new("ccws.on=on", 4);
    assert_int_equal(read_in_order(m, "001122"), 12);
    assert_int_equal(m->count[TIM_CORE_ccws_probes], 12);
    mech_free(m);
}

static void c2_victim_tags_find_what_was_lost(void **state)
{
    static const struct {
        const char *set;
        unsigned hits;
    } rows[] = {{"ccws.on=on ccws.entries=1", 3}, {"ccws.on=on ccws.entries=2", 6}, {"ccws.on=on ccws.entries=4", 12}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct mech_core *m = mech_new(rows[i].set, 4);

        mech_begin(m, 3);
        assert_int_equal(read_in_order(m, "012012"), 0);
        assert_int_equal(m->count[TIM_CORE_ccws_hits], rows[i].hits);
        mech_free(m);
    }
}

/** Return the letters of those of the lines 0 (A) to 5 (F) that are in the victim tags of @warp. */
static const char *victim_tags(struct mech_core *m, unsigned warp)
{
    static char text[8];
    unsigned count = 0;

    for (unsigned line = 0; line < 6; line++)
        if (tim_vta_find(tim_ccws_victim_tags(m->mechs.mech[0]), warp, line * 128, false))
            text[count++] = (char)('A' + line);
    text[count] = '\0';
    assert_int_equal(tim_vta_count(tim_ccws_victim_tags(m->mechs.mech[0]), warp), count);
    return text;
}

static void c3_a_lost_line_is_its_owners(void **state)
{
    enum { A, B, C, D, E, F };
    static const struct {
        unsigned warp, line;
        bool hit, lost;      /* hit: the access hits L1; lost: it hits the warp's victim tags */
        const char *tags[2]; /* victim tags of each warp after the access */
    } rows[] = {{0, A, 0, 0, {"", ""}}, {0, B, 0, 0, {"", ""}},  {1, C, 0, 0, {"", ""}},   {1, D, 0, 0, {"", ""}},
                {0, A, 1, 0, {"", ""}}, {1, A, 1, 0, {"", ""}},  {1, E, 0, 0, {"B", ""}},  {1, F, 0, 0, {"B", "C"}},
                {0, B, 0, 1, {"", "CD"}}, {1, C, 0, 1, {"A", "D"}}, {0, C, 1, 0, {"A", "D"}}};
    struct mech_core *m = mech_new("ccws.on=on ccws.entries=4", 4);

    (void)state;
    mech_begin(m, 2);
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        uint64_t before = m->count[TIM_CORE_ccws_hits];

        assert_int_equal(mech_access(m, rows[i].warp, rows[i].line), rows[i].hit);
        assert_int_equal(m->count[TIM_CORE_ccws_hits] - before, rows[i].lost);
        for (unsigned w = 0; w < 2; w++)
            assert_string_equal(victim_tags(m, w), rows[i].tags[w]);
    }
    assert_int_equal(m->count[TIM_CORE_ccws_inserts], 4); /* B, C, D and A were evicted */
    /* Line A is in the victim tags of warp 0, which fetched it, although warp 1 has read it. Line D is in the victim tags of
     * warp 1. */
    assert_false(mech_access(m, 1, A));
    assert_int_equal(m->count[TIM_CORE_ccws_hits], 2);
    assert_false(mech_access(m, 1, D));
    assert_int_equal(m->count[TIM_CORE_ccws_hits], 3);
    mech_free(m);
}

/** Issue @issued instructions. Then let @warp load a line that L1 has evicted. The load misses L1 and hits the victim tags of
 *  the warp. */
static void lose(struct mech_core *m, unsigned warp, unsigned issued)
{
    mech_issue(m, 0, issued, 32);
    tim_mechs_evict(&m->mechs, 77 * 128, warp);
    assert_false(mech_access(m, warp, 77));
    tim_cache_evict(m->l1, 77 * 128);
}

static void c4_warps_that_lost_most_load(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on", 4);

    (void)state;
    mech_begin(m, 4);
    assert_string_equal(mech_may_load(m, 4), "0 1 2 3");
    lose(m, 2, 16); /* the score is 1 x 8 x 400 / 16 */
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 2), 200);
    assert_string_equal(mech_may_load(m, 4), "0 1 2");
    lose(m, 0, 16);
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 0), 200);
    assert_string_equal(mech_may_load(m, 4), "0 2");
    assert_int_equal(tim_mechs_next(&m->mechs, 0), 50); /* for warp 1 the sum exceeds the cutoff by 100, and falls by 2 per
                                                         * cycle */
    m->mechs.core.now = 99;
    assert_string_equal(mech_may_load(m, 4), "0 1 2"); /* scores 101, 101, 100 and 100 sum to 402 */
    m->mechs.core.now = 100;
    assert_string_equal(mech_may_load(m, 4), "0 1 2 3");
    assert_int_equal(tim_mechs_next(&m->mechs, 100), UINT64_MAX);
    mech_end(m, 2);
    lose(m, 0, 4); /* the score is 3 x 8 x 300 / 36 */
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 0), 200);
    assert_string_equal(mech_may_load(m, 4), "0 1");
    mech_free(m);
}

static void c5_the_formula(void **state)
{
    struct tim_config *c;
    struct lw_error err;

    (void)state;
    assert_int_equal(tim_config_default(&c, &err), LW_OK);
    assert_int_equal(tim_ccws_llds(c, 1, 16, 4), 200);
    assert_int_equal(tim_ccws_llds(c, 50, 10000, 32), 128);
    assert_int_equal(tim_ccws_llds(c, 50, 10000, 16), 100); /* the computed score is 64, but a score is at least 100 */
    assert_int_equal(tim_ccws_llds(c, 39, 10000, 32), 100); /* the computed score is 99, but a score is at least 100 */
    assert_int_equal(tim_ccws_llds(c, 250, 10000, 32), 640);
    assert_int_equal(tim_ccws_llds(c, 500, 10000, 32), 1023); /* the computed score is 1280, but a score has at most ten bits */
    assert_int_equal(tim_ccws_llds(c, 1, 0, 1), 800);
    assert_int_equal(tim_ccws_llds(c, UINT64_MAX, 1, 256), 1023);
    c->ccws_score_bits = 0;
    assert_int_equal(tim_ccws_llds(c, 500, 10000, 32), 1280);
    tim_config_destroy(c);
}

/* The specification's table "Allowed warps when m of 32 warps hold score S and the rest hold 100" (4.5). */
static void the_table_of_allowed_warps(void **state)
{
    static const struct {
        unsigned m, score, allowed;
    } rows[] = {{1, 200, 31}, {4, 200, 28}, {4, 400, 20}, {5, 640, 5}, {4, 800, 4}, {32, 164, 19},
                {32, 300, 10}, {32, 640, 5}, {32, 1023, 3}, {32, 1600, 2}, {32, 3200, 1}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct mech_core *m = mech_new("ccws.on=on ccws.score_bits=0 ccws.k=1 ccws.set=assign", 4);
        unsigned allowed = 0;

        mech_begin(m, 32);
        for (unsigned w = 0; w < rows[i].m; w++) { /* S hits in 3200 instructions give score S */
            tim_mechs_block(&m->mechs, w + 1, true); /* resets the counts of hits and instructions */
            mech_issue(m, 0, 3200, 32);
            for (unsigned hit = 0; hit < rows[i].score; hit++)
                lose(m, w, 0);
            assert_int_equal(tim_ccws_score(m->mechs.mech[0], w), rows[i].score);
        }
        for (unsigned w = 0; w < 32; w++)
            allowed += !mech_holds(m, w, &mech_load);
        assert_int_equal(allowed, rows[i].allowed);
        mech_free(m);
    }
}

/* Section 10: the report has, for each core, the score that was computed last and the highest one. */
static void a_report_has_the_last_score_and_the_highest(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on", 4);
    struct lw_buffer out;

    (void)state;
    mech_begin(m, 4);
    lose(m, 2, 16); /* the score is 1 x 8 x 400 / 16 */
    lose(m, 0, 24); /* the score is 2 x 8 x 400 / 40 */
    lose(m, 0, 10); /* the score is 3 x 8 x 400 / 50 */
    for (unsigned json = 0; json < 2; json++) {
        lw_buffer_init(&out);
        m->mechs.mech[0]->row->report(m->mechs.mech, 1, json != 0, &out.sink);
        if (json != 0)
            assert_string_equal(out.text, "\"ccws\": [{\"core\": 0, \"last_score\": 192, \"highest_score\": 200}]");
        else
            assert_non_null(strstr(out.text, "core 0                     192       200\n"));
        lw_buffer_fini(&out);
    }
    mech_free(m);
}

static void c6_a_score_does_not_add_up(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on ccws.score_bits=0", 4);

    (void)state;
    mech_begin(m, 4);
    mech_issue(m, 0, 160, 32);
    for (unsigned i = 0; i < 10; i++)
        lose(m, 1, 0);
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 1), tim_ccws_llds(m->config, 10, 160, 4));
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 1), 200);
    mech_free(m);
}

static void c7_only_loads_are_held(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on", 4);

    (void)state;
    mech_begin(m, 4);
    lose(m, 2, 1);
    assert_true(mech_holds(m, 3, &mech_load));
    assert_false(mech_holds(m, 3, &mech_store) || mech_holds(m, 3, &mech_alu));
    mech_free(m);
}

static void c7_slots_of_held_loads_are_throttled(void **state)
{
    struct run *r = run_new();
    uint64_t with, without;

    (void)state;
    r->config->l1_line = r->config->l1_sector = 32;
    r->config->l1_bytes = 1024;
    r->config->l1_ways = 32;
    r->config->issue_policy = TIM_SCHED_LRR;
    run_text(r, MECH_THRASH, 1, 128);
    without = run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_THROTTLED];
    assert_int_equal(without, 0);
    run_free(r);
    r = run_new();
    r->config->l1_line = r->config->l1_sector = 32;
    r->config->l1_bytes = 1024;
    r->config->l1_ways = 32;
    r->config->issue_policy = TIM_SCHED_LRR;
    r->config->ccws_on = true;
    run_text(r, MECH_THRASH, 1, 128);
    with = run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_THROTTLED];
    assert_true(with > 0);
    assert_true(run_engine(r)->stats[0].count[TIM_CORE_ccws_hits] > 0);
    run_free(r);
}

/* The warp with the highest score may load, even if its score exceeds the cutoff. */
static void c8_somebody_may_load(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on ccws.score_bits=0", 4);

    (void)state;
    mech_begin(m, 2);
    lose(m, 1, 1);
    assert_true(tim_ccws_score(m->mechs.mech[0], 1) > 200);
    assert_string_equal(mech_may_load(m, 2), "1");
    mech_end(m, 0);
    assert_string_equal(mech_may_load(m, 2), "1");
    mech_free(m);
    m = mech_new("ccws.on=on ccws.score_bits=0 ccws.cutoff=start", 4);
    mech_begin(m, 4);
    lose(m, 1, 11); /* score 290; the scores sum to 390 before the third warp, and to 490 before the fourth */
    assert_string_equal(mech_may_load(m, 4), "0 1 2");
    mech_free(m);
}

/* While all warps may load, the core calls neither `picks` nor `holds` (tim_mech.idle_until). A hit in victim tags, the begin and
 * the end of a warp end this state, and the last fall of a score begins it. */
static void hooks_are_called_only_if_a_warp_may_be_throttled(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on issue.schedulers=1", 4);
    const uint64_t all = 15;

    (void)state;
    mech_begin(m, 4);
    for (unsigned w = 0; w < 4; w++)
        m->warp[w].next = w == 2 ? &mech_alu : &mech_load;
    assert_false(tim_mech_is_idle(&m->mechs, m->mechs.mech[0]));
    (void)tim_mechs_pick(&m->mechs, 0, &all);
    assert_true(tim_mech_is_idle(&m->mechs, m->mechs.mech[0]));
    lose(m, 2, 16);
    assert_false(tim_mech_is_idle(&m->mechs, m->mechs.mech[0]));
    (void)tim_mechs_pick(&m->mechs, 0, &all);
    assert_false(tim_mech_is_idle(&m->mechs, m->mechs.mech[0]));
    assert_int_equal(tim_mechs_next(&m->mechs, 0), 100);
    uint64_t ready[TIM_MAX_WARPS / 64] = {all};
    assert_true(m->mechs.mech[0]->row->holds_of(m->mechs.mech[0], 0, ready));
    assert_int_equal(ready[0], 7); /* the load of warp 3 is throttled */
    m->warp[3].next = &mech_alu;
    ready[0] = all;
    assert_false(m->mechs.mech[0]->row->holds_of(m->mechs.mech[0], 0, ready));
    assert_int_equal(ready[0], all);
    m->mechs.core.now = 100;
    (void)tim_mechs_pick(&m->mechs, 0, &all);
    assert_true(tim_mech_is_idle(&m->mechs, m->mechs.mech[0]));
    m->mechs.calls_all = true; /* as in the reference */
    assert_false(tim_mech_is_idle(&m->mechs, m->mechs.mech[0]));
    m->mechs.calls_all = false;
    mech_end(m, 3);
    assert_false(tim_mech_is_idle(&m->mechs, m->mechs.mech[0]));
    mech_free(m);
}

/* 9.2: a counter counts the lines that a warp loses in a loop after a load of the warp in this loop was throttled. In this
 * test the counter counts one line of warp 0, which was throttled because of the score of warp 1. */
static void lines_lost_after_a_wait_in_a_loop(void **state)
{
    static const unsigned loop[][2] = {{100, 120}};
    const uint64_t both = 3;
    struct mech_core *m = mech_new("ccws.on=on ccws.score_bits=0", 4);

    (void)state;
    mech_loops(m, loop, 1);
    mech_begin(m, 2);
    m->warp[0].next = m->warp[1].next = &mech_load;
    for (unsigned w = 0; w < 2; w++)
        mech_at(m, w, 105, 32);
    lose(m, 0, 20); /* computed score 66: warp 0 may still load */
    lose(m, 1, 0); /* score 133; the score of warp 0 is 100 */
    assert_int_equal(m->count[TIM_CORE_ccws_lost_held], 0);
    assert_string_equal(mech_may_load(m, 2), "1");
    (void)tim_mechs_pick(&m->mechs, 0, &both);
    lose(m, 1, 1);
    assert_int_equal(m->count[TIM_CORE_ccws_lost_held], 0);
    lose(m, 0, 1);
    assert_int_equal(m->count[TIM_CORE_ccws_lost_held], 1);
    mech_at(m, 0, 200, 32); /* warp 0 leaves the loop */
    lose(m, 0, 1);
    mech_at(m, 0, 105, 32);
    lose(m, 0, 1);
    assert_int_equal(m->count[TIM_CORE_ccws_lost_held], 1);
    mech_free(m);
}

/* Keys for points that the specification leaves open. A2: instructions and hits are counted in other units, or within a window
 * of cycles. A4: a computed score replaces a higher one. A17: a hit does not remove the victim tag. */
static void open_points_are_keys(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on ccws.inst_unit=thread", 4);

    (void)state;
    mech_begin(m, 4);
    mech_issue(m, 0, 1, 16);
    lose(m, 2, 0);
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 2), 200);
    mech_free(m);
    m = mech_new("ccws.on=on ccws.hit_unit=load", 4);
    mech_begin(m, 4);
    mech_issue(m, 0, 16, 32);
    for (unsigned i = 0; i < 3; i++) { /* three lines of one load count as one hit */
        m->instructions = 8;
        lose(m, 2, 0);
    }
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 2), 200);
    mech_free(m);
    m = mech_new("ccws.on=on ccws.set=assign ccws.window=1000", 4);
    mech_begin(m, 4);
    lose(m, 2, 8);
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 2), 400);
    lose(m, 2, 24);
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 2), 200);
    m->mechs.core.now = 1000;
    lose(m, 2, 20);
    assert_int_equal(tim_ccws_score(m->mechs.mech[0], 2), 160);
    mech_free(m);
    m = mech_new("ccws.on=on ccws.take=off", 4);
    mech_begin(m, 4);
    lose(m, 2, 8);
    assert_false(mech_access(m, 2, 77));
    assert_int_equal(m->count[TIM_CORE_ccws_hits], 2);
    mech_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c1_the_order_decides_what_a_cache_holds),
        cmocka_unit_test(c2_victim_tags_find_what_was_lost),
        cmocka_unit_test(c3_a_lost_line_is_its_owners),
        cmocka_unit_test(c4_warps_that_lost_most_load),
        cmocka_unit_test(c5_the_formula),
        cmocka_unit_test(the_table_of_allowed_warps),
        cmocka_unit_test(a_report_has_the_last_score_and_the_highest),
        cmocka_unit_test(c6_a_score_does_not_add_up),
        cmocka_unit_test(hooks_are_called_only_if_a_warp_may_be_throttled),
        cmocka_unit_test(c7_only_loads_are_held),
        cmocka_unit_test(c7_slots_of_held_loads_are_throttled),
        cmocka_unit_test(c8_somebody_may_load),
        cmocka_unit_test(lines_lost_after_a_wait_in_a_loop),
        cmocka_unit_test(open_points_are_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
