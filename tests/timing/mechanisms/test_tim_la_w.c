/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests locality-aware warp scheduling: access vectors, the locality table, the active group, and which warps issue. Also tests
 * mechanism shares, which counts lines that blocks share. The tests are named after rows of table A in the specification of
 * address pre-computation, 14.1.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

/** Access vector of the warp in each warp slot. */
static struct tim_reach_vector vectors[8];
static bool has_vectors;

static bool vector_of(const void *context, unsigned warp, struct tim_reach_vector *out)
{
    (void)context;
    *out = vectors[warp];
    return has_vectors;
}

static struct mech_core *la_new(const char *set)
{
    struct mech_core *m = mech_new(set, 0);

    memset(vectors, 0, sizeof vectors);
    has_vectors = true;
    m->mechs.core.reach = vector_of;
    return m;
}

/** Place a block of @count warps in the warp slots from @first on. */
static void begin_block(struct mech_core *m, unsigned first, unsigned count)
{
    const struct emu_grid grid = {.sequence = 1};
    const struct tim_mech_block block = {.grid = &grid};

    tim_mechs_reside(&m->mechs, &block, true);
    for (unsigned w = first; w < first + count; w++) {
        m->warp[w] = (struct tim_mech_warp){.used = true, .age = ++m->assigned, .reason = TIM_STALL_RESULT};
        tim_mechs_warp(&m->mechs, w, m->warp[w].age, true);
    }
}

enum state { READY, SHORT, MISS, OUT };
static void set_state(struct mech_core *m, unsigned warp, enum state state)
{
    m->warp[warp].misses = state == MISS;
    m->warp[warp].reason = state == MISS ? TIM_STALL_LOAD : state == READY ? TIM_STALL_PICKED : TIM_STALL_RESULT;
    tim_mechs_wait(&m->mechs, warp, state == OUT);
}

/** Execute a cycle of a core with one scheduler and @count warps. The warps whose bits are set in @could are ready. Return the
 *  warp that issues, or -1 if none does. */
static int cycle(struct mech_core *m, unsigned count, uint64_t could)
{
    uint64_t ready[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64] = {{could}}, left = 0;
    struct tim_mech *mech = m->mechs.mech[0];

    tim_mechs_cycle(&m->mechs, ready);
    for (unsigned w = 0; w < count; w++)
        if ((could >> w & 1) != 0 && !mech_holds(m, w, &mech_alu))
            left |= UINT64_C(1) << w;
    int warp = left == 0 ? -1 : mech->row->chooses(mech, 0, &left);
    if (warp >= 0)
        mech_issue(m, (unsigned)warp, 1, 32);
    return warp;
}

static const char *active(const struct mech_core *m, unsigned count)
{
    static char text[64];

    *text = '\0';
    for (unsigned w = 0; w < count; w++)
        if (!mech_holds(m, w, &mech_alu))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", *text != '\0' ? " " : "", w);
    return text;
}

static void a20_the_figure(void **state)
{
    struct tim_reach_shape s;

    (void)state;
    tim_reach_divide(&s, 16, 16, 4, 4);
    assert_int_equal(s.bits, 4);
    assert_int_equal(s.region_w, 4);
    assert_int_equal(s.region_h, 4);
    assert_int_equal(s.part_w, 2);
    uint32_t region = tim_reach_region(&s, 12, 8);
    assert_int_equal(region, 11); /* the region's number is 1011 in binary */
    /* the bits of both parts are 1001 in binary */
    assert_int_equal(tim_reach_part(&s, region, 12, 8) | tim_reach_part(&s, region, 15, 11), 9);
    assert_int_equal(tim_reach_part(&s, region, 11, 8), 0);
    assert_int_equal(tim_reach_part(&s, region, 12, 12), 0);
}

/* An array is divided into so many regions that each part of a region is one line. If the number of a region would then need more
 * than the maximum number of bits, there are fewer regions, and parts have several lines. */
static void an_array_has_as_few_regions_as_do(void **state)
{
    struct tim_reach_shape s;

    (void)state;
    tim_reach_divide(&s, 32, 1024, 10, 16); /* 32 x 32 regions of 1 x 32 lines; a part is a column of eight lines */
    assert_int_equal(s.bits, 10);
    assert_int_equal(s.columns, 32);
    assert_int_equal(s.region_h, 32);
    assert_int_equal(s.part_h, 8);
    tim_reach_divide(&s, 1000, 1, 10, 16); /* an array with one array row: 64 regions of 16 lines */
    assert_int_equal(s.bits, 6);
    assert_int_equal(s.region_w, 16);
    assert_int_equal(s.part_w, 1);
    tim_reach_divide(&s, 1 << 20, 1, 10, 16);
    assert_int_equal(s.bits, 10);
    assert_int_equal(s.region_w, 1024);
    assert_int_equal(s.part_w, 64);
    tim_reach_divide(&s, 3, 2, 10, 16); /* a small array is one region */
    assert_int_equal(s.bits, 0);
    assert_int_equal(tim_reach_region(&s, 2, 1), 0);
    assert_int_equal(tim_reach_part(&s, 0, 0, 0), 1 << 15); /* the upper left part of the region */
    assert_int_equal(tim_reach_part(&s, 0, 2, 1), 1 << 9);
}

static void a21_locality_of_two_warps(void **state)
{
    struct tim_reach_vector a = {.launch = 1, .arrays = 1, .region = {5}, .parts = {0x0d}};
    struct tim_reach_vector b = {.launch = 1, .arrays = 1, .region = {5}, .parts = {0x29}};

    (void)state;
    assert_int_equal(tim_reach_common(&a, &b, false), 2); /* 001101 and 101001 have two bits in common */
    assert_int_equal(tim_reach_common(&b, &a, false), 2);
    b.region[0] = 4;
    assert_int_equal(tim_reach_common(&a, &b, false), 0);
    b.region[0] = 5;
    b.launch = 2;
    assert_int_equal(tim_reach_common(&a, &b, false), 0);
    b = (struct tim_reach_vector){.launch = 1, .lines = 3, .line = {7, 9, 12}};
    a.lines = 4;
    memcpy(a.line, (uint64_t[]){1, 7, 8, 12}, 4 * sizeof *a.line);
    assert_int_equal(tim_reach_common(&a, &b, true), 2);
}

static void a22_five_full_arrays(void **state)
{
    struct tim_reach_vector a = {.launch = 1, .arrays = 5};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        a.region[i] = i;
        a.parts[i] = 0xffff;
    }
    assert_int_equal(tim_reach_common(&a, &a, false), 80);
}

/** Set access vectors that give the locality table of section 7.5: warps 0 and 1 share 3 parts, 0 and 2 share 1 part, 1 and 3
 *  share 2 parts, and 2 and 3 share 4 parts. */
static void fill_trace(void)
{
    static const uint64_t parts[] = {0x00f, 0x037, 0x3c8, 0x3f0};

    for (unsigned w = 0; w < 4; w++)
        vectors[w] = (struct tim_reach_vector){.launch = 1, .arrays = 1, .parts = {parts[w]}};
}

static void a23_the_trace(void **state)
{
    struct mech_core *m = la_new("issue.schedulers=1 la_w.on=on la_w.active=2");
    static const struct {
        unsigned a, b, locality;
    } table[] = {{0, 1, 3}, {0, 2, 1}, {0, 3, 0}, {1, 2, 0}, {1, 3, 2}, {2, 3, 4}};

    (void)state;
    fill_trace();
    for (unsigned i = 0; i < LW_COUNT_OF(table); i++)
        assert_int_equal(tim_reach_common(&vectors[table[i].a], &vectors[table[i].b], false), table[i].locality);
    begin_block(m, 0, 4);
    assert_int_equal(cycle(m, 4, 0xf), 0);
    assert_string_equal(active(m, 4), "0 1");
    set_state(m, 0, SHORT);
    assert_int_equal(cycle(m, 4, 0xe), 1); /* warp 1 shares 3 with the warp that issued last */
    set_state(m, 0, READY);
    set_state(m, 1, MISS);
    assert_int_equal(cycle(m, 4, 0xd), 0); /* warp 2 replaces warp 1; of warps 0 and 2, only warp 0 shares lines with warp 1,
                                            * which issued last */
    assert_string_equal(active(m, 4), "0 2");
    set_state(m, 0, MISS);
    assert_int_equal(cycle(m, 4, 0xc), 2);
    assert_string_equal(active(m, 4), "2 3");
    assert_int_equal(m->count[TIM_CORE_la_w_demotions], 2);
    assert_int_equal(m->count[TIM_CORE_la_w_promotions], 4);
    assert_int_equal(m->count[TIM_CORE_la_w_locality], 3);
    assert_int_equal(m->count[TIM_CORE_la_w_oldest], 1);
    assert_int_equal(cycle(m, 4, 0xc), 2); /* the warp that issued last issues again */
    assert_int_equal(m->count[TIM_CORE_la_w_greedy], 1);
    mech_free(m);
}

/* The warp that joins the active group has the highest locality with the active group: the sum over its warps, or with
 * la_w.nearest=most the largest value for one of its warps. */
static void the_nearest_is_by_the_sum_or_the_most(void **state)
{
    (void)state;
    for (unsigned most = 0; most < 2; most++) {
        struct mech_core *m = la_new(most ? "issue.schedulers=1 la_w.on=on la_w.active=3 la_w.nearest=most"
                                          : "issue.schedulers=1 la_w.on=on la_w.active=3");

        /* warp 3 shares two bits with warp 0 and two with warp 1; warp 4 shares three bits with warp 0 */
        static const uint64_t parts[] = {0x7f, 0xf80, 0, 0x603, 0x07c};

        for (unsigned w = 0; w < 5; w++)
            vectors[w] = (struct tim_reach_vector){.launch = 1, .arrays = 1, .parts = {parts[w] & (w == 4 ? 0x1c : 0xffff)}};
        begin_block(m, 0, 2);
        (void)cycle(m, 5, 3);
        begin_block(m, 2, 3);
        (void)cycle(m, 5, 0x1f);
        assert_string_equal(active(m, 5), most ? "0 1 4" : "0 1 3");
        mech_free(m);
    }
}

static void a24_starvation_by_age(void **state)
{
    struct mech_core *m = la_new("issue.schedulers=1 la_w.on=on core.blocks=8");

    (void)state;
    has_vectors = false;
    for (unsigned i = 0; i < 2; i++)
        begin_block(m, i, 0);
    begin_block(m, 0, 1); /* the warps of the third block */
    for (unsigned age = 4; age <= 19; age++)
        begin_block(m, 1, 0);
    assert_int_equal(m->count[TIM_CORE_la_w_starved_blocks], 0); /* the difference 19 - 3 is 16, which does not exceed the
                                                                  * limit */
    begin_block(m, 1, 0);
    assert_int_equal(m->count[TIM_CORE_la_w_starved_blocks], 1);
    begin_block(m, 1, 0);
    assert_int_equal(m->count[TIM_CORE_la_w_starved_blocks], 1);
    mech_free(m);
}

/* One warp shares no lines with the others, and there is an endless sequence of blocks that share lines with each other.
 * Without the rule for starving warps, the first warp never issues. */
static void a25_a_starving_warp_goes_first(void **state)
{
    (void)state;
    for (unsigned rule = 0; rule < 2; rule++) {
        struct mech_core *m = la_new(rule ? "issue.schedulers=1 la_w.on=on la_w.active=2 core.blocks=2"
                                          : "issue.schedulers=1 la_w.on=on la_w.active=2 core.blocks=2 la_w.starvation=off");
        unsigned issued = 0, ended = 0, before = 0; /* before: number of blocks that ended before the first warp issued */

        vectors[0] = (struct tim_reach_vector){.launch = 1, .arrays = 1, .parts = {1}};
        vectors[1] = vectors[2] = (struct tim_reach_vector){.launch = 1, .arrays = 1, .parts = {2}};
        begin_block(m, 1, 1);
        begin_block(m, 2, 1);
        (void)cycle(m, 3, 6); /* warps 1 and 2, which share lines, become active */
        begin_block(m, 0, 1);
        /* The warp that issues ends, and another block begins, which shares lines with the other active warp. */
        for (unsigned n = 0; n < 40; n++) {
            int now = cycle(m, 3, 7);

            before = issued == 0 ? ended : before;
            issued += now == 0;
            if (now == 0)
                continue;
            mech_end(m, (unsigned)now);
            begin_block(m, (unsigned)now, 1);
            ended++;
        }
        if (rule) { /* five blocks begin after the block of the first warp: one more than twice the number of blocks on the core */
            assert_true(issued != 0);
            assert_int_equal(before, 5);
        } else {
            assert_int_equal(issued, 0);
        }
        assert_true(ended != 0);
        mech_free(m);
    }
}

/* A warp that waits at a barrier leaves the active group. So even if the active group has space for one warp, all four warps
 * reach the barrier. */
static void a26_a_barrier_with_one_active_warp(void **state)
{
    static const char text[] = ".kernel k\n.param ptr.global out\ns_mov_b64 s4:5, c[out]\nv_s2r v0, %tid.x\nv_shl_b32 v1, v0, 2\n"
                               "ld.global.b32 v2, [s4:5+v1]\nv_add_u32 v2, v2, v0\nbar.sync 0\n"
                               "st.global.b32 [s4:5+v1], v2\nexit\n.end\n";
    struct tim_config *config;
    struct lw_error err;
    struct tim_options options = {0};

    (void)state;
    fix_check(tim_config_load("fermi", &config, &err), &err);
    fix_check(tim_config_set(config, "la_w.on=on", &err), &err);
    fix_check(tim_config_set(config, "la_w.active=1", &err), &err);
    struct fix *f = fix_new(config->core_warp_width);
    tim_config_machine(config, &f->config);
    fix_load(f, text, 128);
    emu_engine_destroy(f->engine);
    fix_check(tim_engine_create_over(f->machine, config, &options, run_memory_create, &f->engine, &err), &err);
    fix_go(f);
    assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(f->word[i], i);
    fix_free(f);
    tim_config_destroy(config);
}

/* If no warps share lines, the oldest warp joins the active group, and the oldest active warp issues. */
static void a27_without_locality_the_oldest_goes(void **state)
{
    struct mech_core *m = la_new("issue.schedulers=1 la_w.on=on la_w.active=2");

    (void)state;
    begin_block(m, 0, 4);
    assert_int_equal(cycle(m, 4, 0xf), 0);
    set_state(m, 0, MISS);
    assert_int_equal(cycle(m, 4, 0xe), 1);
    assert_string_equal(active(m, 4), "1 2");
    set_state(m, 0, READY);
    set_state(m, 1, MISS);
    assert_int_equal(cycle(m, 4, 0xd), 0); /* the oldest warp is back in the active group */
    assert_string_equal(active(m, 4), "0 2");
    set_state(m, 0, OUT); /* warp 0 waits at a barrier */
    assert_int_equal(cycle(m, 4, 0xc), 2);
    assert_string_equal(active(m, 4), "2 3");
    set_state(m, 2, MISS);
    set_state(m, 3, MISS);
    assert_int_equal(cycle(m, 4, 0), -1); /* one warp leaves the active group per cycle, and no warp is ready */
    assert_int_equal(cycle(m, 4, 0), -1);
    assert_string_equal(active(m, 4), "");
    set_state(m, 0, READY);
    assert_int_equal(cycle(m, 4, 1), 0);
    mech_free(m);
}

static void a29_what_it_costs(void **state)
{
    struct tim_config *config;
    struct lw_buffer text;
    struct lw_error err;

    (void)state;
    fix_check(tim_config_load("fermi", &config, &err), &err);
    assert_int_equal(config->core_warps, 48);
    lw_buffer_init(&text);
    tim_reach_cost(config, &text.sink);
    assert_string_equal(text.text,
                        "hardware cost as counted in the paper: 15 bytes for each waiting block, and as many for each running block; in a core, 768 bytes of access vectors and 1152 bytes of the locality table, in total 1920 bytes\n"
                        "cost with full coordinates: entry 60 bytes; access vector 130 bits; locality table without its diagonal 1128 bytes\n");
    lw_buffer_fini(&text);
    tim_config_destroy(config);
}

/* ---- lines that blocks share ------------------------------------------------------------------------- */

static unsigned warp_is_block(const void *context, unsigned warp)
{
    (void)context;
    return warp;
}

static void pairs_are_counted_when_both_are_over(void **state)
{
    struct mech_core *m = mech_new("shares.on=on", 0);
    const struct emu_grid grid = {.sequence = 1, .launch.grid = {8, 1, 1}};
    struct tim_mech_block block[3] = {
        {.place = 0, .grid = &grid, .linear = 0, .arrays = 1, .range = {{0, 0, 2, 1}}},
        {.place = 1, .grid = &grid, .linear = 1, .arrays = 1, .range = {{1, 0, 2, 1}}},
        /* the block begins after the end of block 0 */
        {.place = 0, .grid = &grid, .linear = 2, .arrays = 1, .range = {{1, 0, 1, 1}}},
    };

    (void)state;
    m->mechs.core.block_of = warp_is_block;
    tim_mechs_reside(&m->mechs, &block[0], true);
    tim_mechs_reside(&m->mechs, &block[1], true);
    tim_mechs_touch(&m->mechs, 0, 0);
    tim_mechs_touch(&m->mechs, 0, 128);
    tim_mechs_touch(&m->mechs, 0, 160); /* the address is in the same line as address 128 */
    tim_mechs_touch(&m->mechs, 1, 128);
    tim_mechs_reside(&m->mechs, &block[0], false);
    assert_int_equal(m->count[TIM_CORE_shares_pairs], 0);
    tim_mechs_reside(&m->mechs, &block[2], true); /* block 2 is never resident together with block 0 */
    tim_mechs_touch(&m->mechs, 1, 256);
    tim_mechs_reside(&m->mechs, &block[1], false);
    assert_int_equal(m->count[TIM_CORE_shares_pairs], 1);
    assert_int_equal(m->count[TIM_CORE_shares_predicted], 1);
    assert_int_equal(m->count[TIM_CORE_shares_observed], 1);
    assert_int_equal(m->count[TIM_CORE_shares_agreed], 1);
    tim_mechs_reside(&m->mechs, &block[2], false);
    assert_int_equal(m->count[TIM_CORE_shares_pairs], 2);
    assert_int_equal(m->count[TIM_CORE_shares_predicted], 2);
    assert_int_equal(m->count[TIM_CORE_shares_observed], 1);
    assert_int_equal(m->count[TIM_CORE_shares_only_predicted], 1);
    assert_int_equal(m->count[TIM_CORE_shares_touched], 4);
    mech_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a20_the_figure),
        cmocka_unit_test(an_array_has_as_few_regions_as_do),
        cmocka_unit_test(a21_locality_of_two_warps),
        cmocka_unit_test(a22_five_full_arrays),
        cmocka_unit_test(a23_the_trace),
        cmocka_unit_test(the_nearest_is_by_the_sum_or_the_most),
        cmocka_unit_test(a24_starvation_by_age),
        cmocka_unit_test(a25_a_starving_warp_goes_first),
        cmocka_unit_test(a26_a_barrier_with_one_active_warp),
        cmocka_unit_test(a27_without_locality_the_oldest_goes),
        cmocka_unit_test(a29_what_it_costs),
        cmocka_unit_test(pairs_are_counted_when_both_are_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
