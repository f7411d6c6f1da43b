/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism dynpcal. While a kernel runs, it searches for the best number of warps with a token, and for a suitable
 * number of warps that may load. 16.9 is a section of the specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

enum { CORES = 4, WARPS = 8, EPOCH = 100 };

/** Execute @cycles cycles, in which no warp is ready. */
static void pass(struct mech_core *m, unsigned cycles)
{
    static const uint64_t none[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64];

    for (unsigned i = 0; i < cycles; i++) {
        m->mechs.core.now++;
        tim_mechs_cycle(&m->mechs, none);
    }
}

/** Return how many of the warps 0 to WARPS - 1 have a token: these must be the oldest. */
static unsigned tokens(struct mech_core *m)
{
    unsigned count = 0;

    for (unsigned w = 0; w < WARPS; w++)
        if (!tim_mechs_bypass(&m->mechs, w, 0)) {
            assert_int_equal(count, w);
            count++;
        }
    return count;
}

static void join(struct mech_core *const *m, unsigned cores)
{
    struct tim_mech *mech[CORES];

    for (unsigned c = 0; c < cores; c++)
        mech[c] = m[c]->mechs.mech[0];
    mech[0]->row->joins(mech, cores);
}

/* 16.9: in the first epoch four cores give tokens to 1/4, 2/4, 3/4 and all of eight warps. The second core issues most, so that all
 * cores give tokens to 2/4 of their warps, until the next samples. */
static void cores_take_the_share_of_the_fastest(void **state)
{
    static const unsigned issued[2][CORES] = {{10, 40, 30, 20}, {10, 20, 20, 5}};
    struct mech_core *m[CORES];
    struct lw_buffer text;

    (void)state;
    for (unsigned c = 0; c < CORES; c++) {
        m[c] = mech_new("dynpcal.on=on dynpcal.shares=4 dynpcal.epoch=100 dynpcal.period=3", 0);
        mech_begin(m[c], WARPS);
    }
    join(m, CORES);
    for (unsigned period = 0; period < 2; period++) {
        for (unsigned c = 0; c < CORES; c++) {
            assert_int_equal(tokens(m[c]), 2 * (c + 1));
            mech_issue(m[c], 0, issued[period][c], 32);
            assert_false(mech_holds(m[c], WARPS - 1, &mech_load));
        }
        for (unsigned c = 0; c < CORES; c++)
            pass(m[c], EPOCH);
        for (unsigned c = 0; c < CORES; c++) {
            assert_int_equal(tokens(m[c]), period == 0 ? 4 : 6); /* of two shares that are equally fast, the larger one */
            mech_issue(m[c], 0, 1000, 32);                       /* instructions after the samples, which do not count */
            pass(m[c], EPOCH);
            assert_int_equal(tokens(m[c]), period == 0 ? 4 : 6);
            assert_int_equal(m[c]->count[TIM_CORE_dynpcal_periods], period + 1);
            pass(m[c], EPOCH);
        }
    }
    assert_int_equal(m[0]->count[TIM_CORE_dynpcal_tokens], 4 + 6);
    assert_int_equal(m[0]->count[TIM_CORE_dynpcal_warps], 8 + 8);
    /* After a warp with a token has ended, the share applies to the remaining warps: 3/4 of 7, rounded up. */
    pass(m[2], EPOCH);
    mech_end(m[2], 0);
    lw_buffer_init(&text);
    m[2]->mechs.mech[0]->row->show(m[2]->mechs.mech[0], &text.sink);
    assert_string_equal(text.text, "7 of 7 warps may load, 7 have a token; epoch 2 of 3: the best share\n"); /* no core has issued in the samples */
    lw_buffer_fini(&text);
    for (unsigned c = 0; c < CORES; c++)
        mech_free(m[c]);
}

/* Two cores sample four shares in two epochs. A share that no core could sample, because it had no instructions, is not compared. */
static void few_cores_sample_in_several_epochs(void **state)
{
    struct mech_core *m[2];

    (void)state;
    for (unsigned c = 0; c < 2; c++) {
        m[c] = mech_new("dynpcal.on=on dynpcal.shares=4 dynpcal.epoch=100 dynpcal.period=4", 0);
        mech_begin(m[c], WARPS);
    }
    join(m, 2);
    assert_int_equal(tokens(m[0]), 2);
    assert_int_equal(tokens(m[1]), 4);
    mech_issue(m[0], 0, 7, 32);
    mech_issue(m[1], 0, 9, 32);
    pass(m[0], EPOCH);
    pass(m[1], EPOCH);
    assert_int_equal(tokens(m[0]), 6);
    assert_int_equal(tokens(m[1]), 8);
    mech_issue(m[0], 0, 8, 32);
    pass(m[0], EPOCH);
    pass(m[1], EPOCH);
    assert_int_equal(tokens(m[0]), 4); /* 9 instructions with 2/4 */
    assert_int_equal(tokens(m[1]), 4);
    mech_free(m[0]);
    mech_free(m[1]);
}

/* 16.9: ccws permits two of four warps to load. From the second epoch on dynpcal permits the two oldest, although the scores would
 * permit others. After an epoch in which no request waits, one more warp may load. After an epoch in which all MSHRs are in
 * use, one warp fewer may load. The third period begins with ccws. */
static void ccws_and_the_memory_system_limit_the_warps(void **state)
{
    struct mech_core *m = mech_new("ccws.on=on ccws.k=3 ccws.score_bits=0 dynpcal.on=on dynpcal.mode=ccws dynpcal.shares=1 dynpcal.epoch=10 "
                                   "dynpcal.period=5 dynpcal.sample=1", 1);

    (void)state;
    m->free_mshrs = 8;
    mech_begin(m, 4);
    mech_issue(m, 0, 4, 32);
    mech_access(m, 0, 1);
    mech_access(m, 1, 2); /* evicts line 1 of warp 0 */
    mech_access(m, 0, 1); /* lost locality: score 1 x 3 x 400 / 4 = 300 */
    assert_string_equal(mech_may_load(m, 4), "0 1"); /* 300 + 100 of 400 */
    pass(m, 9);
    assert_string_equal(mech_may_load(m, 4), "0 1");
    pass(m, 1); /* cycle 10 */
    assert_string_equal(mech_may_load(m, 4), "0 1");
    assert_false(mech_holds(m, 3, &mech_alu));
    tim_mechs_wait(&m->mechs, 0, true); /* warps that wait do not count */
    assert_string_equal(mech_may_load(m, 4), "0 1 2");
    tim_mechs_wait(&m->mechs, 0, false);
    pass(m, 19);
    assert_string_equal(mech_may_load(m, 4), "0 1");
    pass(m, 1); /* cycle 30: the epoch from cycle 20 on has ended */
    assert_string_equal(mech_may_load(m, 4), "0 1 2"); /* ccws would permit two: 270 + 100 */
    assert_int_equal(m->count[TIM_CORE_dynpcal_more], 1);
    m->free_mshrs = 0;
    pass(m, 10);
    assert_string_equal(mech_may_load(m, 4), "0 1");
    assert_int_equal(m->count[TIM_CORE_dynpcal_fewer], 1);
    pass(m, 10); /* cycle 50: a new period, with the scores of ccws */
    assert_string_equal(mech_may_load(m, 4), "0 1");
    pass(m, 50); /* cycle 100: 200 + 100 + 100 of 400 */
    assert_string_equal(mech_may_load(m, 4), "0 1 2");
    m->free_mshrs = 8;
    m->crossbar_is_full = true;
    pass(m, 10); /* the mean of the epoch from cycle 100 on */
    assert_string_equal(mech_may_load(m, 4), "0 1 2");
    pass(m, 20);
    assert_string_equal(mech_may_load(m, 4), "0 1");
    mech_free(m);
}

/* On a GPU model with two cores, both cores take a share, and the loads of warps without a token bypass L1 in the samples. */
static void the_cores_of_a_model_sample(void **state)
{
    struct run *r = run_new();
    uint64_t bypasses = 0;

    (void)state;
    r->config->core_count = 2;
    r->config->l1_line = r->config->l1_sector = 128;
    r->config->l1_bytes = 16 * 128;
    r->config->l1_ways = 16;
    r->config->dynpcal_on = true;
    r->config->dynpcal_shares = 4;
    r->config->dynpcal_epoch = 400;
    r->config->dynpcal_period = 20;
    run_text(r, MECH_THRASH, 4, 64);
    for (unsigned c = 0; c < 2; c++) {
        const uint64_t *count = run_engine(r)->stats[c].count;

        assert_int_equal(count[TIM_CORE_dynpcal_periods], 1);
        assert_in_range(count[TIM_CORE_dynpcal_tokens], 1, 4);
        bypasses += count[TIM_CORE_l1_bypasses];
    }
    assert_true(bypasses != 0);
    run_free(r);
}

static void keys_that_do_not_fit_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"pcal.on=on", "dynpcal.on cannot be combined with mechanism pcal"},
        {"dvfs.on=on", "dynpcal.on cannot be combined with dvfs.on"},
        {"dynpcal.mode=ccws", "dynpcal.mode=ccws needs mechanism ccws"},
        {"dynpcal.mode=ccws ccws.on=on dwf.on=on issue.split_lanes=on core.reconvergence=cbar", "dynpcal.on cannot be combined with dwf, tbc and lwm"},
        {"l1.bytes=0", "dynpcal.on needs an L1 cache"},
        {"core.count=2 dynpcal.shares=8 dynpcal.period=4", "dynpcal.period is 4, but the samples of 2 cores take 4 epochs"},
        {"dynpcal.low=50 dynpcal.high=40", "dynpcal.high (40 %) is less than dynpcal.low (50 %)"},
    };

    (void)state;
    mech_assert_refused("dynpcal.on=on", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_take_the_share_of_the_fastest),
        cmocka_unit_test(few_cores_sample_in_several_epochs),
        cmocka_unit_test(ccws_and_the_memory_system_limit_the_warps),
        cmocka_unit_test(the_cores_of_a_model_sample),
        cmocka_unit_test(keys_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
