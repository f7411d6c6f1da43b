/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests divergence-aware warp scheduling. D1 to D12 are the unit tests of the warp scheduling thesis's specification 5.9, and the
 * expected values come from tables of the specification. Loops and loads have the pcs of the specification, which are
 * instruction numbers.
 */
#include "tests/timing/mechanisms/mech_fixture.h"
#include "timing/mechanisms/tim_daws_priv.h"

static uint64_t pc(unsigned at)
{
    return (uint64_t)at * ISA_WORD_BYTES;
}

/** Enter in the tables that the loop at @loop has locality, and has @diverged diverged and @converged converged loads. Each load
 *  is in a load group of its own. */
static void profile(struct mech_core *m, unsigned loop, unsigned diverged, unsigned converged)
{
    struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);

    tim_daws_begins(t, pc(loop), 250, 32, true);
    assert_true(t->samples != 0 && t->sample[t->samples - 1].loop == pc(loop));
    t->sample[t->samples - 1].locality = 1;
    for (unsigned i = 0; i < diverged + converged; i++)
        tim_daws_find_load(t, pc(loop), pc(loop + 1 + i))->is_div = i < diverged;
}

/** Start warps 0 to @warps - 1 of a function with the loops @loop. */
static struct mech_core *begin(struct mech_core *m, const unsigned loop[][2], unsigned loops, unsigned warps)
{
    mech_loops(m, loop, loops);
    mech_begin(m, warps);
    return m;
}

static void entry_is(const struct mech_core *m, unsigned warp, unsigned loop, unsigned lines)
{
    uint64_t found;

    assert_int_equal(tim_daws_footprint(m->mechs.mech[0], warp, &found), lines);
    assert_int_equal(found / ISA_WORD_BYTES, loop);
}

/* Create a fixture whose L1 has @lines lines. As daws.assoc is 100 (kAssocFactor 1), warps may use all lines. */
static struct mech_core *with_lines(unsigned lines)
{
    char set[128];

    snprintf(set, sizeof set, "daws.on=on daws.assoc=100 l1.line=128 l1.bytes=%u l1.ways=%u", lines * 128, lines);
    return mech_new(set, lines);
}

/* First elements of the rows of a sparse matrix. Lane l of warp w processes row 4w + l, which ends before the first element of
 * the next row. */
enum { D1_WARPS = 2, D1_LANES = 4 };
static const unsigned d1_row[D1_WARPS * D1_LANES + 1] = {0, 64, 96, 128, 160, 160, 192, 224, 256};

/** Execute iteration @step of @warp: the loads of the lanes whose rows have an element @step, unless the warp may not load. Adds
 *  the accesses and misses of L1 to *accesses and *misses. If no lane is left, the warp ends, and the function returns
 *  false. */
static bool d1_iterate(struct mech_core *m, unsigned warp, unsigned step, unsigned *accesses, unsigned *misses)
{
    unsigned lanes = 0;

    for (unsigned l = 0; l < D1_LANES; l++)
        lanes += d1_row[warp * D1_LANES + l] + step < d1_row[warp * D1_LANES + l + 1];
    if (lanes == 0) {
        mech_at(m, warp, 200, D1_LANES);
        mech_end(m, warp);
        return false;
    }
    mech_at(m, warp, 100, lanes);
    if (mech_holds(m, warp, &mech_load))
        return true;
    for (unsigned l = 0; l < D1_LANES; l++)
        if (d1_row[warp * D1_LANES + l] + step < d1_row[warp * D1_LANES + l + 1]) {
            *misses += !mech_access(m, warp, (d1_row[warp * D1_LANES + l] + step) / 32);
            (*accesses)++;
        }
    return true;
}

static void d1_sparse_rows(void **state)
{
    static const unsigned loop[][2] = {{100, 110}};
    struct mech_core *m = begin(with_lines(4), loop, 1, 2);
    unsigned misses = 0, step[D1_WARPS] = {0}, accesses = 0;

    (void)state;
    profile(m, 100, 1, 0);
    mech_at(m, 0, 100, 4);
    mech_at(m, 1, 100, 3);
    entry_is(m, 0, 100, 4);
    assert_string_equal(mech_may_load(m, 2), "0");
    for (unsigned i = 0; i < 32; i++)
        assert_true(d1_iterate(m, 0, i, &accesses, &misses) && mech_holds(m, 1, &mech_load));
    mech_at(m, 0, 100, 1); /* in the 33rd iteration one lane is left */
    entry_is(m, 0, 100, 1);
    entry_is(m, 1, 100, 3);
    assert_string_equal(mech_may_load(m, 2), "0 1"); /* 1 + 3 lines fit into the 4 lines of L1 */
    step[0] = 32;
    for (bool more = true; more;) {
        more = false;
        for (unsigned w = 0; w < D1_WARPS; w++)
            if (!m->warp[w].ended)
                more |= d1_iterate(m, w, step[w]++, &accesses, &misses);
    }
    assert_int_equal(accesses, 256);
    assert_int_equal(misses, 8);
    mech_free(m);
    m = begin(with_lines(4), loop, 1, 2); /* greedy-then-oldest without limits and without other stalls: one warp after the other */
    accesses = misses = 0;
    for (unsigned w = 0; w < D1_WARPS; w++)
        for (unsigned i = 0; d1_iterate(m, w, i, &accesses, &misses);)
            i++;
    assert_int_equal(accesses, 256);
    assert_int_equal(misses, 8);
    mech_free(m);
    m = mech_new("daws.on=on", 4); /* without limits, the warps execute iterations in rotation */
    accesses = misses = 0;
    for (unsigned i = 0; i < 64; i++)
        for (unsigned r = 0; r < D1_WARPS * D1_LANES; r++)
            if (d1_row[r] + i < d1_row[r + 1]) {
                misses += !mech_access(m, r / D1_LANES, (d1_row[r] + i) / 32);
                accesses++;
            }
    assert_int_equal(accesses, 256);
    assert_int_equal(misses, 225);
    mech_free(m);
}

static void d2_admission(void **state)
{
    static const unsigned loop[][2] = {{100, 110}};
    struct mech_core *m = begin(with_lines(48), loop, 1, 3);

    (void)state;
    profile(m, 100, 1, 0);
    mech_at(m, 0, 100, 32);
    mech_at(m, 1, 100, 16);
    assert_string_equal(mech_may_load(m, 3), "0 1 2");
    mech_at(m, 2, 100, 16);
    assert_string_equal(mech_may_load(m, 3), "0 1");
    mech_at(m, 0, 100, 16);
    assert_string_equal(mech_may_load(m, 3), "0 1 2");
    mech_free(m);
}

static void d3_footprints(void **state)
{
    static const unsigned lanes[] = {32, 16, 8, 4, 2, 1}, mixed[] = {34, 18, 10, 6, 4, 2};
    static const struct {
        unsigned diverged, converged, lines[6];
    } rows[] = {{1, 0, {32, 16, 8, 4, 2, 1}},  {2, 0, {64, 32, 16, 8, 4, 2}}, {2, 2, {68, 36, 20, 12, 8, 4}},
                {0, 3, {6, 6, 6, 6, 6, 3}},    {5, 0, {160, 80, 40, 20, 10, 5}}};
    struct mech_core *m;
    struct tim_daws_tables *t;

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        m = mech_new("daws.on=on", 0);
        profile(m, 100, rows[i].diverged, rows[i].converged);
        for (unsigned k = 0; k < LW_COUNT_OF(lanes); k++)
            assert_int_equal(tim_daws_predict(tim_daws_tables_of(m->mechs.mech[0]), pc(100), lanes[k]), rows[i].lines[k]);
        assert_int_equal(tim_daws_predict(tim_daws_tables_of(m->mechs.mech[0]), pc(100), 0), 0);
        mech_free(m);
    }
    m = mech_new("daws.on=on", 0); /* a load group with a diverged and a converged load, and one with a converged load */
    profile(m, 100, 1, 2);
    t = tim_daws_tables_of(m->mechs.mech[0]);
    t->load[1].rep = t->load[0].rep;
    for (unsigned k = 0; k < LW_COUNT_OF(lanes); k++)
        assert_int_equal(tim_daws_predict(t, pc(100), lanes[k]), mixed[k]);
    mech_free(m);
}

/* Numbers in parentheses in the specification's table of footprints (5.3): of 32 warps in the loop, so many may load with 153 of
 * 256 lines. */
static void d3_admitted_warps(void **state)
{
    static const struct {
        unsigned diverged, converged, lanes, allowed;
        bool mixed; /* the first two loads are in one load group */
    } rows[] = {{1, 0, 32, 4, false}, {1, 0, 16, 9, false}, {1, 0, 8, 19, false}, {2, 0, 32, 2, false},
                {2, 0, 16, 4, false}, {2, 0, 8, 9, false},  {2, 2, 32, 2, false}, {2, 2, 16, 4, false},
                {2, 2, 8, 7, false},  {0, 3, 32, 25, false}, {5, 0, 32, 32, false}, {5, 0, 16, 1, false},
                {5, 0, 8, 3, false},  {1, 2, 32, 4, true}};
    static const unsigned loop[][2] = {{100, 110}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct mech_core *m = begin(mech_new("daws.on=on l1.bytes=32768 l1.ways=8", 0), loop, 1, 32);
        struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);
        unsigned allowed = 0;

        profile(m, 100, rows[i].diverged, rows[i].converged);
        if (rows[i].mixed)
            t->load[1].rep = t->load[0].rep;
        for (unsigned w = 0; w < 32; w++)
            mech_at(m, w, 100, rows[i].lanes);
        for (unsigned w = 0; w < 32; w++) {
            assert_true(allowed == w || mech_holds(m, w, &mech_load)); /* the oldest warps may load */
            allowed += !mech_holds(m, w, &mech_load);
        }
        assert_int_equal(allowed, rows[i].allowed);
        mech_free(m);
    }
}

static void d4_nested_loops(void **state)
{
    static const unsigned loop[][2] = {{100, 220}, {140, 160}, {180, 200}};
    struct mech_core *m = begin(mech_new("daws.on=on", 0), loop, 3, 1);

    (void)state;
    profile(m, 100, 1, 1);
    profile(m, 140, 2, 0);
    profile(m, 180, 0, 3);
    mech_at(m, 0, 100, 32);
    entry_is(m, 0, 100, 34);
    mech_at(m, 0, 140, 32);
    entry_is(m, 0, 140, 64);
    mech_at(m, 0, 165, 32); /* leaves the first inner loop */
    entry_is(m, 0, 140, 64);
    mech_at(m, 0, 100, 20);
    entry_is(m, 0, 140, 40);
    mech_at(m, 0, 180, 20); /* enters the second inner loop */
    entry_is(m, 0, 180, 6);
    mech_at(m, 0, 210, 20);
    mech_at(m, 0, 100, 8);
    entry_is(m, 0, 180, 6);
    mech_at(m, 0, 140, 8);
    entry_is(m, 0, 140, 16);
    mech_at(m, 0, 221, 8); /* leaves all loops */
    entry_is(m, 0, 0, 0);
    mech_free(m);
}

/** Let @warp call a function at instruction number @at, which issues with @lanes lanes. */
static void call(struct mech_core *m, unsigned warp, unsigned at, unsigned lanes)
{
    static const struct tim_static what = {.path = TIM_PATH_NONE, .type = TIM_TYPE_BRANCH, .flow = true, .calls = true};
    const uint64_t from = m->run_at[warp];

    m->run_at[warp] = pc(at);
    tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = warp, .lanes = lanes, .what = &what, .code = &m->code, .pc = from});
    tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = warp, .lanes = lanes, .what = &mech_alu, .code = &m->code, .pc = pc(at)});
}

/* A loop of the kernel calls a function with a loop, which calls another function with a loop. The loop of a called function is
 * inside the loop that calls. */
static void a_loop_of_a_function_is_inside_the_loop_that_calls(void **state)
{
    static const unsigned loop[][2] = {{100, 200}, {1100, 1150}, {2100, 2110}};
    struct mech_core *m = begin(mech_new("daws.on=on", 0), loop, 3, 1);

    (void)state;
    m->code.loop[0].to = m->code.loop[1].from = pc(1000);
    m->code.loop[1].to = m->code.loop[2].from = pc(2000);
    m->code.loop[1].called = m->code.loop[2].called = true;
    profile(m, 100, 1, 0);
    profile(m, 1100, 2, 0);
    profile(m, 2100, 0, 2);
    mech_at(m, 0, 100, 32);
    entry_is(m, 0, 100, 32);
    mech_at(m, 0, 150, 32);
    call(m, 0, 1001, 32);
    mech_at(m, 0, 1100, 32);
    entry_is(m, 0, 1100, 64);
    mech_at(m, 0, 1120, 32);
    call(m, 0, 2001, 32); /* no lane is in the loop at 1100, but the loop has not been left */
    mech_at(m, 0, 2100, 32);
    entry_is(m, 0, 2100, 4);
    mech_at(m, 0, 1121, 32); /* the warp is back in the function's outer loop, as after an inner loop */
    entry_is(m, 0, 2100, 4);
    mech_at(m, 0, 1100, 1);
    entry_is(m, 0, 2100, 2);
    mech_at(m, 0, 151, 20); /* the warp is back in the kernel's loop */
    mech_at(m, 0, 100, 1);
    entry_is(m, 0, 2100, 2);
    mech_at(m, 0, 150, 20);
    call(m, 0, 1001, 20);
    mech_at(m, 0, 1100, 20); /* the function's loop begins anew */
    entry_is(m, 0, 1100, 40);
    mech_at(m, 0, 151, 20);
    mech_at(m, 0, 100, 8);
    entry_is(m, 0, 1100, 16);
    mech_at(m, 0, 201, 8); /* leaves all loops */
    entry_is(m, 0, 0, 0);
    mech_free(m);
}

/* While a lane of a warp waits in a loop, the warp is in the loop. */
static void a_loop_is_left_by_all_lanes(void **state)
{
    static const unsigned loop[][2] = {{100, 110}};
    struct mech_core *m = begin(mech_new("daws.on=on", 0), loop, 1, 1);

    (void)state;
    profile(m, 100, 1, 0);
    mech_at(m, 0, 100, 32);
    m->lane_at[0] = pc(105);
    mech_at(m, 0, 120, 16);
    entry_is(m, 0, 100, 32);
    m->lane_at[0] = 0;
    mech_at(m, 0, 121, 16);
    entry_is(m, 0, 0, 0);
    mech_free(m);
}

/** Let a load of @warp at instruction number @at access @count lines from @first on. @hits: all accesses hit lines that the warp
 *  itself loaded. */
static void sample(struct mech_core *m, unsigned warp, unsigned at, unsigned lanes, unsigned first, unsigned count, bool hits)
{
    m->instructions++;
    for (unsigned i = 0; i < count; i++)
        tim_mechs_access(&m->mechs, &(struct tim_mech_access){
            .warp = warp, .pc = pc(at), .code = &m->code, .line = (uint64_t)(first + i) * 128, .lanes = lanes, .index = i,
            .count = count, .instruction = m->instructions, .hit = hits, .owner = warp});
}

static struct mech_core *sampling(void)
{
    static const unsigned loop[][2] = {{100, 120}};
    struct mech_core *m = begin(mech_new("daws.on=on", 0), loop, 1, 2);

    mech_at(m, 0, 100, 32);
    assert_true(tim_daws_samples(tim_daws_tables_of(m->mechs.mech[0]), pc(100), 0));
    return m;
}

static void d5_the_classifier(void **state)
{
    struct mech_core *m = sampling();
    struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);

    (void)state;
    sample(m, 0, 101, 32, 0, 32, true);
    assert_int_equal(t->loads, 1);
    assert_false(t->load[0].is_div);
    sample(m, 0, 101, 32, 0, 31, true);
    assert_int_equal(t->load[0].div, 2);
    assert_true(t->load[0].is_div);
    sample(m, 0, 101, 32, 0, 1, true);
    sample(m, 0, 101, 32, 0, 2, true);
    assert_int_equal(t->load[0].div, 0);
    assert_false(t->load[0].is_div);
    sample(m, 0, 101, 2, 0, 2, true);
    assert_int_equal(t->load[0].div, 0);
    sample(m, 1, 101, 32, 0, 32, true); /* a load of another warp has no effect */
    assert_int_equal(t->load[0].div, 0);
    mech_free(m);
}

static void d6_repetition(void **state)
{
    struct mech_core *m = sampling();
    struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);

    (void)state;
    sample(m, 0, 101, 32, 7, 1, true);
    mech_at(m, 0, 100, 32); /* begins the next iteration */
    sample(m, 0, 102, 32, 7, 1, true);
    assert_true(t->load[0].rep != t->load[1].rep);
    sample(m, 0, 101, 32, 7, 1, true); /* both loads access the line in one iteration */
    assert_true(t->load[0].rep == t->load[1].rep);
    mech_free(m);
}

/* A6: with daws.repeat_unit=load, only the first line of a load is compared with the lines of other loads. */
static void a6_lines_of_a_load_that_are_compared(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        static const unsigned loop[][2] = {{100, 120}};
        struct mech_core *m = begin(mech_new(first ? "daws.on=on daws.repeat_unit=load" : "daws.on=on", 0), loop, 1, 1);
        struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);

        mech_at(m, 0, 100, 32);
        sample(m, 0, 101, 32, 7, 2, true); /* lines 7 and 8 */
        sample(m, 0, 102, 32, 8, 1, true);
        assert_int_equal(t->load[0].rep == t->load[1].rep, !first);
        sample(m, 0, 103, 32, 7, 3, true);
        assert_true(t->load[0].rep == t->load[2].rep);
        mech_free(m);
    }
}

/* A5 and A30: the number of active lanes that a sampled warp needs, and whether a warp in the middle of the loop may become the
 * sampled warp. */
static void a5_a30_warps_that_are_sampled(void **state)
{
    static const unsigned loop[][2] = {{100, 120}};
    static const struct {
        const char *set;
        bool two_lanes, mid; /* a warp with two lanes is sampled at entry; a warp in the loop is sampled later */
    } rows[] = {{"daws.on=on", false, false}, {"daws.on=on daws.sample_min=2", true, false}, {"daws.on=on daws.sample_mid=on", false, true}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct mech_core *m = begin(mech_new(rows[i].set, 0), loop, 1, 2);
        struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);

        mech_at(m, 0, 100, 2);
        assert_int_equal(tim_daws_samples(t, pc(100), 0), rows[i].two_lanes);
        mech_at(m, 0, 100, 32); /* the next iteration, with more lanes */
        assert_int_equal(tim_daws_samples(t, pc(100), 0), rows[i].two_lanes || rows[i].mid);
        mech_at(m, 1, 100, 3); /* three lanes are enough with any setting, unless another warp is sampled */
        assert_int_equal(tim_daws_samples(t, pc(100), 1), !rows[i].two_lanes && !rows[i].mid);
        mech_at(m, 0, 200, 32); /* warp 0 leaves the loop: it is sampled no longer */
        assert_false(tim_daws_samples(t, pc(100), 0));
        assert_int_equal(m->count[TIM_CORE_daws_samples], 1);
        mech_free(m);
    }
}

/* Section 10: loads and loops for which a table has no entry are counted. */
static void tables_that_are_full_drop_entries(void **state)
{
    static const unsigned loop[][2] = {{100, 120}, {200, 220}};
    struct mech_core *m = begin(mech_new("daws.on=on daws.loads=1 daws.loops=1", 0), loop, 2, 2);
    struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);

    (void)state;
    mech_at(m, 0, 100, 32);
    sample(m, 0, 101, 32, 0, 1, true);
    assert_int_equal(t->loads, 1);
    assert_int_equal(m->count[TIM_CORE_daws_drops], 0);
    sample(m, 0, 102, 32, 0, 1, true);
    assert_int_equal(t->loads, 1);
    assert_int_equal(m->count[TIM_CORE_daws_drops], 1);
    mech_at(m, 1, 200, 32);
    assert_int_equal(t->samples, 1);
    assert_int_equal(m->count[TIM_CORE_daws_drops], 2);
    mech_free(m);
}

static void d7_a_stream_is_let_alone(void **state)
{
    struct mech_core *m = sampling();
    struct tim_daws_tables *t = tim_daws_tables_of(m->mechs.mech[0]);

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        sample(m, 0, 101, 32, 32 * i, 32, false);
        mech_at(m, 0, 100, 32);
        mech_at(m, 1, 100, 32);
    }
    assert_int_equal(t->sample[0].locality, INT8_MIN);
    assert_int_equal(t->loads, 0);
    entry_is(m, 0, 0, 0);
    assert_string_equal(mech_may_load(m, 2), "0 1");
    mech_free(m);
}

static void d8_a_warp_at_a_barrier_needs_nothing(void **state)
{
    static const unsigned loop[][2] = {{100, 110}};
    struct mech_core *m = begin(with_lines(48), loop, 1, 3);

    (void)state;
    profile(m, 100, 1, 0);
    for (unsigned w = 0; w < 3; w++)
        mech_at(m, w, 100, 32);
    assert_string_equal(mech_may_load(m, 3), "0");
    tim_mechs_wait(&m->mechs, 0, true);
    entry_is(m, 0, 100, 0);
    assert_string_equal(mech_may_load(m, 3), "0 1");
    tim_mechs_wait(&m->mechs, 1, true);
    assert_string_equal(mech_may_load(m, 3), "0 1 2");
    mech_free(m);
}

/* A block of four warps has a block barrier in its loop. L1 has lines for the footprint of one warp, so three warps are throttled
 * before each barrier. The block completes, because a warp at the barrier has no footprint. */
static void d8_a_block_with_more_warps_than_fit_completes(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shl_b32 v1, v1, 5\n" /* each lane has a line of its own */
        "v_mov_b32 v12, 0\n"
        "loop:\n"
        "ld.global.b32 v3, [s4:5+v1]\n"
        "v_add_u32 v4, v3, 1\n"
        "bar.sync 0\n"
        "v_add_u32 v12, v12, 1\n"
        "v_setp_u32.lt p0, v12, 20\n"
        "@p0 bra loop\n"
        "exit\n.end\n";

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct run *r = run_new();

        r->config->l1_line = r->config->l1_sector = 32;
        r->config->l1_bytes = 2048; /* 64 lines, of which warps may use 38 */
        r->config->l1_ways = 64;
        r->config->l1_global = TIM_L1_CACHE;
        r->config->daws_on = on != 0;
        run_text(r, text, 1, 128);
        assert_int_equal(run_engine(r)->gpu[TIM_GPU_blocks], 1);
        assert_int_equal(run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_THROTTLED] != 0, on != 0);
        run_free(r);
    }
}

static void d9_too_big(void **state)
{
    static const unsigned loop[][2] = {{100, 110}};
    struct mech_core *m = mech_new("daws.on=on l1.bytes=32768 l1.ways=8", 0); /* warps may use 0.6 of 256 lines */

    (void)state;
    mech_loops(m, loop, 1);
    mech_begin(m, 4);
    profile(m, 100, 5, 0);
    for (unsigned w = 0; w < 4; w++)
        mech_at(m, w, 100, 32);
    assert_string_equal(mech_may_load(m, 4), "0 1 2 3");
    for (unsigned w = 0; w < 4; w++)
        mech_at(m, w, 100, 16);
    assert_string_equal(mech_may_load(m, 4), "0");
    mech_at(m, 0, 100, 32);
    assert_string_equal(mech_may_load(m, 4), "0 1 2 3");
    mech_at(m, 0, 120, 32);
    entry_is(m, 0, 0, 0);
    assert_string_equal(mech_may_load(m, 4), "0 1");
    assert_int_equal(m->count[TIM_CORE_daws_too_big], 5); /* four predictions at the beginning, and one later */
    mech_free(m);
    m = mech_new("daws.on=on l1.bytes=32768 l1.ways=8 daws.too_big=warp", 0); /* point A25 of the specification */
    mech_loops(m, loop, 1);
    mech_begin(m, 4);
    profile(m, 100, 5, 0);
    mech_at(m, 0, 100, 32);
    for (unsigned w = 1; w < 4; w++)
        mech_at(m, w, 100, 16);
    assert_string_equal(mech_may_load(m, 4), "0 1");
    mech_free(m);
}

/** Execute a cycle in which the next instruction of @warp is a load at instruction number @at, and is ready. Return whether the
 *  mechanism changes which warps may issue. */
static bool load_is_ready(struct mech_core *m, unsigned warp, unsigned at)
{
    uint64_t ready[TIM_MAX_WARPS / 64] = {UINT64_C(1) << warp};

    m->warp[warp].next = &mech_load;
    m->warp[warp].code = &m->code;
    m->warp[warp].pc = pc(at);
    m->warp[warp].lanes = UINT32_MAX;
    return tim_mechs_pick(&m->mechs, 0, ready);
}

static void d10_the_closest_loop(void **state)
{
    static const unsigned loop[][2] = {{1610, 1650}, {1700, 1710}};
    struct mech_core *m = begin(mech_new("daws.on=on issue.schedulers=1", 0), loop, 2, 3);

    (void)state;
    profile(m, 1610, 1, 0);
    profile(m, 1700, 2, 0);
    assert_false(load_is_ready(m, 1, 1568)); /* no warp is in a loop */
    entry_is(m, 1, 0, 0);
    mech_at(m, 0, 1700, 32);
    assert_true(load_is_ready(m, 1, 1568));
    entry_is(m, 1, 1610, 32);
    assert_false(load_is_ready(m, 1, 1568));
    assert_false(load_is_ready(m, 2, 1720)); /* no loop begins after this load */
    mech_at(m, 1, 1610, 16); /* warp 1 enters the loop */
    entry_is(m, 1, 1610, 16);
    mech_at(m, 1, 1660, 32);
    entry_is(m, 1, 0, 0);
    assert_true(load_is_ready(m, 1, 1660));
    entry_is(m, 1, 1700, 64);
    mech_at(m, 0, 1720, 32); /* the last warp leaves its loop */
    entry_is(m, 1, 0, 0);
    assert_int_equal(m->count[TIM_CORE_daws_charges], 2);
    mech_free(m);
}

static void d11_a_barrier_in_a_loop(void **state)
{
    static const unsigned loop[][2] = {{100, 110}};
    struct mech_core *m = mech_new("daws.on=on", 0);

    (void)state;
    for (unsigned zero = 0; zero < 2; zero++) {
        if (zero != 0)
            m = mech_new("daws.on=on daws.barrier=zero", 0); /* point A26 of the specification */
        mech_loops(m, loop, 1);
        mech_begin(m, 1);
        profile(m, 100, 1, 0);
        mech_at(m, 0, 100, 32);
        mech_at(m, 0, 105, 16);
        tim_mechs_wait(&m->mechs, 0, true);
        entry_is(m, 0, 100, 0);
        tim_mechs_wait(&m->mechs, 0, false);
        entry_is(m, 0, 100, zero != 0 ? 0 : 16);
        mech_free(m);
    }
}

static void d12_an_outer_loop_without_locality(void **state)
{
    static const unsigned loop[][2] = {{100, 200}, {140, 160}};
    struct mech_core *m = begin(mech_new("daws.on=on", 0), loop, 2, 1);

    (void)state;
    profile(m, 140, 1, 0);
    mech_at(m, 0, 100, 32);
    entry_is(m, 0, 0, 0);
    mech_at(m, 0, 140, 32);
    entry_is(m, 0, 140, 32);
    mech_at(m, 0, 170, 32);
    mech_at(m, 0, 100, 20);
    entry_is(m, 0, 140, 20);
    mech_at(m, 0, 210, 20);
    entry_is(m, 0, 0, 0);
    mech_free(m);
}

/* A8: with daws.order=admitted_first, a warp that may load in its loop may do so even after an older warp enters the loop. */
static void the_admitted_may_be_first(void **state)
{
    static const unsigned loop[][2] = {{100, 110}};

    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        struct mech_core *m = mech_new(first ? "daws.on=on daws.order=admitted_first daws.assoc=100 l1.bytes=4096 l1.ways=32"
                                             : "daws.on=on daws.assoc=100 l1.bytes=4096 l1.ways=32", 0);
        mech_loops(m, loop, 1);
        mech_begin(m, 2);
        profile(m, 100, 1, 0);
        mech_at(m, 1, 100, 32);
        mech_at(m, 0, 100, 32);
        assert_string_equal(mech_may_load(m, 2), first ? "1" : "0");
        assert_int_equal(m->count[TIM_CORE_daws_removed], !first);
        mech_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(d1_sparse_rows),
        cmocka_unit_test(d2_admission),
        cmocka_unit_test(d3_footprints),
        cmocka_unit_test(d3_admitted_warps),
        cmocka_unit_test(d4_nested_loops),
        cmocka_unit_test(a_loop_of_a_function_is_inside_the_loop_that_calls),
        cmocka_unit_test(a_loop_is_left_by_all_lanes),
        cmocka_unit_test(d5_the_classifier),
        cmocka_unit_test(d6_repetition),
        cmocka_unit_test(a6_lines_of_a_load_that_are_compared),
        cmocka_unit_test(a5_a30_warps_that_are_sampled),
        cmocka_unit_test(tables_that_are_full_drop_entries),
        cmocka_unit_test(d7_a_stream_is_let_alone),
        cmocka_unit_test(d8_a_warp_at_a_barrier_needs_nothing),
        cmocka_unit_test(d8_a_block_with_more_warps_than_fit_completes),
        cmocka_unit_test(d9_too_big),
        cmocka_unit_test(d10_the_closest_loop),
        cmocka_unit_test(d11_a_barrier_in_a_loop),
        cmocka_unit_test(d12_an_outer_loop_without_locality),
        cmocka_unit_test(the_admitted_may_be_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
