/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism belady, which replays the accesses to L1 with Belady's optimal replacement and with LRU. Random traces are
 * compared with a search of all possible replacements. The misses with LRU are compared with those that the timing model
 * counts; they must agree to 0.1 percentage points (warp scheduling thesis's specification, 3.5).
 */
#include "tests/timing/mechanisms/mech_fixture.h"

enum { WAYS = 3, LINES = 6, ACCESSES = 14 };

struct trace {
    unsigned line[ACCESSES];
    bool out[ACCESSES]; /* true: the access is an eviction of the line, as by a store; false: a load */
};

/** Return the smallest possible number of misses of access @at and later ones. Bit l of @cache is set if line l is cached. */
static unsigned fewest(const struct trace *t, unsigned at, unsigned cache)
{
    unsigned best = UINT32_MAX, bit;

    if (at == ACCESSES)
        return 0;
    bit = 1u << t->line[at];
    if (t->out[at])
        return fewest(t, at + 1, cache & ~bit);
    if ((cache & bit) != 0)
        return fewest(t, at + 1, cache);
    if (__builtin_popcount(cache) < WAYS)
        return 1 + fewest(t, at + 1, cache | bit);
    for (unsigned l = 0; l < LINES; l++)
        if ((cache >> l & 1) != 0) {
            unsigned misses = 1 + fewest(t, at + 1, (cache & ~(1u << l)) | bit);
            best = misses < best ? misses : best;
        }
    return best;
}

static void no_replacement_is_better(void **state)
{
    uint64_t random = 1, better = 0;

    (void)state;
    for (unsigned n = 0; n < 400; n++) {
        struct mech_core *m = mech_new("belady.on=on l1.bytes=384 l1.ways=3 l1.line=128 l1.sector=128", WAYS);
        struct trace t;
        uint64_t lru = 0;

        mech_begin(m, 2);
        for (unsigned i = 0; i < ACCESSES; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            t.line[i] = (unsigned)(random >> 40) % LINES;
            t.out[i] = (random >> 50) % 8 == 0;
            if (t.out[i]) {
                tim_cache_evict(m->l1, t.line[i] * UINT64_C(128));
                tim_mechs_drop(&m->mechs, t.line[i] * UINT64_C(128));
            } else {
                lru += !mech_access(m, i % 2, t.line[i]);
            }
        }
        tim_mechs_account(&m->mechs);
        assert_int_equal(m->count[TIM_CORE_belady_lru], lru);
        assert_int_equal(m->count[TIM_CORE_belady_opt], fewest(&t, 0, 0));
        better += m->count[TIM_CORE_belady_opt] < lru;
        mech_free(m);
    }
    assert_true(better > 100);
}

static void without_bounds_reuse_is_by_warp(void **state)
{
    struct mech_core *m = mech_new("belady.on=on belady.most=6 l1.bytes=128 l1.ways=1 l1.line=128 l1.sector=128", 1);

    (void)state;
    mech_begin(m, 2);
    mech_access(m, 0, 1);
    mech_access(m, 0, 2);
    mech_access(m, 0, 1); /* a line that the warp itself loaded */
    mech_access(m, 1, 1); /* a line that another warp loaded */
    tim_mechs_drop(&m->mechs, UINT64_MAX); /* an unbounded cache loses no line */
    mech_access(m, 1, 1);
    mech_access(m, 1, 3); /* the access exceeds the limit belady.most, and is not recorded */
    tim_mechs_account(&m->mechs);
    assert_int_equal(m->count[TIM_CORE_belady_loads], 5);
    assert_int_equal(m->count[TIM_CORE_belady_own], 1);
    assert_int_equal(m->count[TIM_CORE_belady_others], 2);
    assert_int_equal(m->count[TIM_CORE_belady_dropped], 1);
    assert_int_equal(m->count[TIM_CORE_belady_lru], 4);
    mech_free(m);
}

/* With each scheduler, four warps run a kernel in which each lane reads its own line 20 times. The replay counts as many
 * accesses as the model, and as many misses to within 0.1 % of the accesses. */
static void the_replay_misses_as_the_model_does(void **state)
{
    (void)state;
    for (unsigned policy = 0; policy < 3; policy++) {
        struct run *r = run_new();
        const uint64_t *count;

        r->config->issue_policy = policy;
        r->config->l1_line = r->config->l1_sector = 32;
        r->config->l1_bytes = 2048;
        r->config->l1_ways = 8;
        r->config->belady_on = true;
        run_text(r, MECH_THRASH, 1, 128);
        tim_engine_account(run_engine(r));
        count = run_engine(r)->stats[0].count;
        assert_int_equal(count[TIM_CORE_belady_loads], 4 * 32 * 20);
        uint64_t model = count[TIM_CORE_l1_misses], replayed = count[TIM_CORE_belady_lru];
        assert_true((model > replayed ? model - replayed : replayed - model) * 1000 <= count[TIM_CORE_belady_loads]);
        assert_true(count[TIM_CORE_belady_opt] <= replayed && replayed > 128);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_replacement_is_better),
        cmocka_unit_test(without_bounds_reuse_is_by_warp),
        cmocka_unit_test(the_replay_misses_as_the_model_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
