/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism dwf: threads of several warps that are at the same pc issue together. 11.1 is a section of the specification
 * of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/form_fixture.h"

struct result {
    uint64_t cycles, instructions, formed, lanes, collisions, joined, accesses, passes;
    char trace[512]; /* issues from the instruction after the branch up to the bsync */
};

static struct run *machine(bool on)
{
    struct run *r = form_run();

    r->config->dwf_on = on;
    return r;
}

static struct result result_of(struct run *r, const char *text, unsigned threads)
{
    run_text(r, text, 1, threads);
    const uint64_t *count = run_engine(r)->stats[0].count;
    struct result result = {.cycles = r->fix->engine->ops->cycles(r->fix->engine),
                            .instructions = run_engine(r)->stats[0].sched[0].count[TIM_SCHED_instructions],
                            .formed = count[TIM_CORE_formed_warps], .lanes = count[TIM_CORE_formed_lanes],
                            .collisions = count[TIM_CORE_dwf_collisions], .joined = count[TIM_CORE_joined],
                            .accesses = count[TIM_CORE_accesses], .passes = count[TIM_CORE_shared_passes]};

    run_trace(r, FIRST, JOIN, result.trace, sizeof result.trace);
    return result;
}

static struct result of(bool on, const char *text, unsigned threads)
{
    struct run *r = machine(on);
    struct result result = result_of(r, text, threads);

    run_free(r);
    return result;
}

/** Copies buffer `out` to the words of the fixture. */
static void read_words(struct run *r)
{
    struct lw_error err;

    fix_check(emu_global_read(r->fix->machine, r->fix->out, r->fix->word, sizeof r->fix->word, &err), &err);
}

/* 11.1, grouping vector (a): warps 0 and 1 take opposite lanes, so that each side is one formed warp instead of two warps. */
static void warps_with_different_lanes_issue_together(void **state)
{
    const char *text = SIDES(OPPOSITE, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n");
    uint32_t expected[8];
    struct result base = of(false, text, 8), dwf;
    struct run *r = machine(true);

    (void)state;
    dwf = result_of(r, text, 8);
    for (unsigned t = 0; t < 8; t++)
        expected[t] = t + ((t ^ t / 4) % 2 == 0 ? 7 : 9);
    r->fix->stop = r->stop;
    read_words(r);
    fix_expect_words(r->fix, expected, 8);
    run_free(r);
    /* Instruction 0 is the addition of the other side, 1 its branch, 2 the addition of the taken side. */
    assert_string_equal(base.trace, "w0.0@0 w1.2@1 w0.1@2 w1.0@5 w0.2@6 w1.1@7");
    assert_string_equal(dwf.trace, "w0.0@0 w1.0@0 w0.2@1 w1.2@1 w0.1@2 w1.1@2");
    assert_int_equal(base.formed, 0);
    assert_int_equal(dwf.formed, 3);
    assert_int_equal(dwf.lanes, 6);
    assert_int_equal(dwf.collisions, 0);
    assert_true(dwf.cycles < base.cycles);
}

/* 11.1, grouping vector (b): both warps take the same lanes. Four warps stay four. */
static void warps_with_the_same_lanes_do_not_issue_together(void **state)
{
    struct result dwf = of(true, SIDES(EQUAL, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n"), 8);

    (void)state;
    assert_string_equal(dwf.trace, "w0.0@0 w1.0@1 w0.2@2 w0.1@3 w1.1@4 w1.2@9");
    assert_int_equal(dwf.formed, 0);
    assert_int_equal(dwf.collisions, 6); /* two lanes in each of three cycles: of the addition, the branch, and the other addition */
}

/* 11.1, grouping vector (c): both warps take the same lanes, but lane i of warp 1 uses the units of lane i xor 1. The cycles are
 * those of vector (a). With the other permutations of two warps of four lanes, a thread of warp 1 uses the units of lane 3 - i,
 * i xor 2, and i + 1: only the second of these leaves the lanes as they are. */
static void permuted_lanes_issue_together(void **state)
{
    const char *text = SIDES(EQUAL, "v_add_u32 v4, v1, 7\n", "v_add_u32 v4, v1, 9\n");

    (void)state;
    for (unsigned permute = TIM_PERMUTE_XOR; permute <= TIM_PERMUTE_ROTATE; permute++) {
        struct run *r = machine(true);
        uint32_t expected[8];

        r->config->core_permute = permute;
        struct result dwf = result_of(r, text, 8);
        for (unsigned t = 0; t < 8; t++)
            expected[t] = t + (t % 2 == 0 ? 7 : 9);
        r->fix->stop = r->stop;
        read_words(r);
        fix_expect_words(r->fix, expected, 8);
        run_free(r);
        assert_string_equal(dwf.trace, permute == TIM_PERMUTE_REVERSE ? "w0.0@0 w1.0@1 w0.2@2 w0.1@3 w1.1@4 w1.2@9"
                                                                     : "w0.0@0 w1.0@0 w0.2@1 w1.2@1 w0.1@2 w1.1@2");
        assert_int_equal(dwf.formed, permute == TIM_PERMUTE_REVERSE ? 0 : 3);
        assert_int_equal(dwf.collisions, permute == TIM_PERMUTE_REVERSE ? 6 : 0);
    }
}

/* Section 11.1.5: the lanes of the units that execute lanes 0 and 2 of four warps of four lanes. The lanes of a warp and those of
 * the units determine each other. */
static void each_permutation_by_hand(void **state)
{
    static const uint64_t expected[][4] = {
        [TIM_PERMUTE_NONE] = {0x5, 0x5, 0x5, 0x5},   [TIM_PERMUTE_XOR] = {0x5, 0xa, 0x5, 0xa},
        [TIM_PERMUTE_MIRROR] = {0x5, 0xa, 0x5, 0xa}, [TIM_PERMUTE_REVERSE] = {0x5, 0x5, 0xa, 0xa},
        [TIM_PERMUTE_ROTATE] = {0x5, 0xa, 0x5, 0xa},
    };
    struct run *r = machine(true);
    struct tim_config *c = r->config;

    (void)state;
    c->issue_schedulers = 2;
    for (c->core_permute = TIM_PERMUTE_NONE; c->core_permute <= TIM_PERMUTE_ROTATE; c->core_permute++)
        for (unsigned n = 0; n < 4; n++)
            assert_int_equal(tim_permuted_lanes(c, 2 * n + n % 2, 0x5, false), expected[c->core_permute][n]);
    c->core_permute = TIM_PERMUTE_ROTATE;
    assert_int_equal(tim_permuted_lanes(c, 6, 0x3, false), 0x9); /* warp 3 of the scheduler: lanes 0 and 1 use those of 3 and 0 */
    c->core_permute = TIM_PERMUTE_REVERSE;
    c->core_warp_width = 32;
    assert_int_equal(tim_permuted_lane(c, 2, 0), 16);
    assert_int_equal(tim_permuted_lane(c, 6, 1), 25); /* warp 3: 11000 */
    /* 16 lanes of a warp, which with basic compression take one cycle of 16 lanes, or two if the other lanes execute them */
    assert_int_equal(tim_compressed_cycles(TIM_COMPRESS_BASIC, tim_permuted_lanes(c, 2, 0xffff, false), 32, 16), 1);
    c->core_permute = TIM_PERMUTE_ROTATE;
    assert_int_equal(tim_compressed_cycles(TIM_COMPRESS_BASIC, tim_permuted_lanes(c, 2, 0xffff, false), 32, 16), 2);
    uint64_t seed = 5;
    for (unsigned width = 4; width <= 64; width *= 2)
        for (unsigned i = 0; i < 2000; i++) {
            const unsigned warp = i % 97;
            uint64_t lanes, there;

            seed = seed * UINT64_C(6364136223846793005) + 1;
            lanes = (seed ^ seed >> 29) & lw_mask(width);
            c->core_warp_width = width;
            c->core_permute = i % (TIM_PERMUTE_ROTATE + 1);
            there = tim_permuted_lanes(c, warp, lanes, false);
            assert_int_equal(there & ~lw_mask(width), 0);
            assert_int_equal(lw_popcount(there), lw_popcount(lanes));
            assert_true(tim_permuted_lanes(c, warp, there, true) == lanes);
            for (LW_EACH_BIT(l, lanes))
                assert_true(there >> tim_permuted_lane(c, warp, l) & 1);
        }
    tim_config_destroy(r->config);
    free(r);
}

/* The accesses of a formed warp are those of one instruction: lanes of both warps load from the same line. */
static void accesses_of_a_formed_warp_coalesce(void **state)
{
    const char *text = SIDES(OPPOSITE, "ld.global.b32 v4, [s4:5+v7]\n", "ld.global.b32 v4, [s4:5+v7+256]\n");
    struct result base = of(false, text, 8), dwf = of(true, text, 8);

    (void)state;
    assert_int_equal(base.accesses, 6); /* two accesses of each side, and two of the store */
    assert_int_equal(dwf.accesses, 4);
    assert_int_equal(dwf.joined, 2);
}

/* Banks of shared memory: the lanes of both warps access different banks, in one pass. */
static void a_formed_warp_passes_shared_memory_together(void **state)
{
    const char *text = SIDES(OPPOSITE, "ld.shared.b32 v4, [v7]\n", "ld.shared.b32 v4, [v7]\n");

    (void)state;
    assert_int_equal(of(false, text, 8).passes, 4);
    assert_int_equal(of(true, text, 8).passes, 2);
}

/* Warps 0 and 1 take the branch with lanes 0 and 2, which core.permute moves to different lanes of the units. In warp 0 the two
 * lanes load different words of one bank, in two passes; in warp 1 both load the same word, which adds no pass. The other sides
 * load in one pass. */
static void permuted_lanes_pass_shared_memory_together(void **state)
{
    const char *text = SIDES(EQUAL "v_mul_u32 v8, v1, 64\n v_setp_u32.lt p1, v1, 4\n @!p1 v_mov_b32 v8, 0\n",
                             "ld.shared.b32 v4, [v8]\n", "ld.shared.b32 v4, [v7]\n");
    struct run *r = machine(true);

    (void)state;
    r->config->core_permute = TIM_PERMUTE_XOR;
    const struct result dwf = result_of(r, text, 8);
    run_free(r);
    assert_int_equal(dwf.formed, 3);
    assert_int_equal(dwf.passes, 3);
}

/* Lanes 0 of warps 0 and 1, and lane 1 of warp 1, store to shared memory and load what the next lane has stored. */
static uint32_t exchanged(bool on, bool threads)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n.shared 256\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shl_b32 v7, v1, 2\n"
        "v_xor_b32 v8, v7, 4\n"
        "v_and_b32 v2, v1, 3\n"
        "v_shr_u32 v3, v1, 2\n"
        "v_setp_u32.le p0, v2, v3\n"
        "v_add_u32 v9, v1, 100\n"
        "bssy b0, join\n"
        "@!p0 bra join, b0\n"
        "st.shared.b32 [v7], v9\n"
        "ld.shared.b32 v4, [v8]\n"
        "st.global.b32 [s4:5+v7], v4\n"
        "join:\n"
        "bsync b0\n"
        "exit\n.end\n";
    struct run *r = machine(on);
    uint32_t found;

    r->config->dwf_heuristic = TIM_DWF_TIME;
    r->config->dwf_threads = threads;
    run_text(r, text, 1, 8);
    read_words(r);
    found = r->fix->word[5];
    run_free(r);
    return found;
}

/* 11.1.1: code that relies on the lanes of a warp to run in lockstep breaks. Lane 1 of warp 1 joins lane 0 of warp 0, and loads
 * before lane 0 of its own warp has stored. */
static void code_that_relies_on_lockstep_breaks(void **state)
{
    (void)state;
    assert_int_equal(exchanged(false, true), 104);
    assert_int_equal(exchanged(true, true), 0);
    assert_int_equal(exchanged(true, false), 104); /* the mechanism does not divide a split */
}

/* A scalar instruction is executed once for the warp, so that it has no companions. */
static void an_instruction_that_needs_all_lanes_has_no_companions(void **state)
{
    struct result dwf = of(true, ".kernel k\n.param ptr.global out\ns_mov_b32 s9, 1\ns_add_u32 s9, s9, 1\nexit\n.end\n", 8);

    (void)state;
    assert_int_equal(dwf.formed, 0);
}

static int chosen(struct mech_core *m, uint64_t ready)
{
    return m->mechs.mech[0]->row->chooses(m->mechs.mech[0], 0, &ready);
}

/* Issue an instruction of the warp at its pc. */
static void issue(struct mech_core *m, unsigned warp)
{
    tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = warp, .lanes = 1, .pc = m->warp[warp].pc, .what = &mech_alu});
}

/* Warps 0 to 3 with 2 threads at pc 32, 4 at 16, 4 at 32 and 1 at 48. */
static struct mech_core *pool(const char *heuristic)
{
    static const struct {
        uint64_t pc, lanes;
    } at[] = {{32, 3}, {16, 15}, {32, 15}, {48, 1}};
    char set[128];

    snprintf(set, sizeof set, "dwf.on=on issue.split_lanes=on core.reconvergence=cbar issue.schedulers=1 dwf.heuristic=%s", heuristic);
    struct mech_core *m = mech_new(set, 0);
    mech_begin(m, 4);
    for (unsigned w = 0; w < 4; w++) {
        m->warp[w].pc = at[w].pc;
        m->warp[w].lanes = at[w].lanes;
        m->warp[w].splits = 1;
    }
    return m;
}

static void the_heuristic_chooses_the_warp_that_leads(void **state)
{
    struct mech_core *m = pool("majority");

    (void)state;
    assert_int_equal(chosen(m, 0), -1);
    assert_int_equal(chosen(m, 15), 0); /* six threads are at pc 32 */
    issue(m, 0);
    m->warp[0].pc = 48;
    assert_int_equal(chosen(m, 15), 2); /* all warps at the chosen pc issue */
    issue(m, 2);
    m->warp[2].pc = 48;
    assert_int_equal(chosen(m, 15), 0); /* seven threads are at pc 48 */
    mech_free(m);

    m = pool("minority");
    assert_int_equal(chosen(m, 15), 3);
    mech_free(m);

    m = pool("time");
    for (unsigned w = 0; w < 4; w++) {
        assert_int_equal(chosen(m, 15), w);
        issue(m, w);
    }
    assert_int_equal(chosen(m, 15), 0);
    assert_int_equal(chosen(m, 12), 2);
    mech_free(m);

    m = pool("pc");
    assert_int_equal(chosen(m, 15), 1);
    assert_int_equal(chosen(m, 13), 0);
    mech_free(m);

    m = pool("policy");
    assert_int_equal(chosen(m, 15), TIM_CHOICE_OF_POLICY);
    mech_free(m);
}

/* A warp leads with its split at the pc that issued last, else with the one that the heuristic prefers. */
static void a_warp_leads_with_the_split_that_the_heuristic_prefers(void **state)
{
    const struct emu_split_view views[] = {{.id = 4, .pc = 48, .lanes = 3, .state = EMU_SPLIT_READY},
                                           {.id = 7, .pc = 16, .lanes = 4, .state = EMU_SPLIT_READY},
                                           {.id = 9, .pc = 8, .lanes = 8, .state = EMU_SPLIT_BLOCKED}};
    struct mech_core *m = pool("majority");
    struct tim_mech *mech = m->mechs.mech[0];
    uint64_t lanes = UINT64_MAX;

    (void)state;
    m->warp[3].splits = 3;
    assert_int_equal(mech->row->selects(mech, 3, views, 3, 4, &lanes), 7); /* four threads of warp 1 are at pc 16, too */
    issue(m, 3);
    assert_int_equal(mech->row->selects(mech, 3, views, 3, 7, &lanes), 4);
    mech_free(m);
    m = pool("policy");
    mech = m->mechs.mech[0];
    assert_int_equal(mech->row->selects(mech, 3, views, 3, 4, &lanes), 4);
    assert_int_equal(mech->row->selects(mech, 3, views, 3, 7, &lanes), 7);
    mech_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_with_different_lanes_issue_together),
        cmocka_unit_test(warps_with_the_same_lanes_do_not_issue_together),
        cmocka_unit_test(permuted_lanes_issue_together),
        cmocka_unit_test(each_permutation_by_hand),
        cmocka_unit_test(accesses_of_a_formed_warp_coalesce),
        cmocka_unit_test(a_formed_warp_passes_shared_memory_together),
        cmocka_unit_test(permuted_lanes_pass_shared_memory_together),
        cmocka_unit_test(code_that_relies_on_lockstep_breaks),
        cmocka_unit_test(an_instruction_that_needs_all_lanes_has_no_companions),
        cmocka_unit_test(the_heuristic_chooses_the_warp_that_leads),
        cmocka_unit_test(a_warp_leads_with_the_split_that_the_heuristic_prefers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
