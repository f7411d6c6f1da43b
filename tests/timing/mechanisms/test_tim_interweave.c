/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism interweave: which second instruction issues in a cycle, and which units it needs. 11.1.7 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/form_fixture.h"

enum { NONE = 0, SBI = 1, SWI = 2, BOTH = 3 };
#define THREE(n) "v_add_u32 v4, v1, " #n "\nv_add_u32 v5, v1, 2\nv_add_u32 v6, v1, 3\n"
#define HALVES "v_shr_u32 v2, v1, 1\nv_xor_b32 v2, v2, v3\n" /* lanes that take the branch, for each warp: 1100, 0011, ... */

/** Return a GPU model with warps of 4 lanes whose pipes have @lanes lanes and a latency of @latency cycles. */
static struct run *interweave_new(unsigned mode, unsigned lanes, unsigned latency)
{
    struct run *r = form_run();

    r->config->interweave_on = mode != NONE;
    r->config->interweave_branches = (mode & SBI) != 0;
    r->config->interweave_warps = (mode & SWI) != 0;
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        r->config->unit[u] = (struct tim_unit_config){1, lanes, latency};
    return r;
}

/** Run a kernel. Return the issues from instruction @from to @behind - 1, followed by three numbers: of second instructions of
 *  paths, of second instructions of warps, and of second instructions that shared a pipe. Example: "w0.0@0 ...: 1 0 1". */
static const char *trace_of(struct run *r, const char *text, unsigned threads, unsigned from, unsigned behind)
{
    static char trace[1024];
    size_t used;

    run_text(r, text, 1, threads);
    used = strlen(run_trace(r, from, behind, trace, sizeof trace));
    const uint64_t *count = run_engine(r)->stats[0].count;
    snprintf(trace + used, sizeof trace - used, ": %u %u %u", (unsigned)count[TIM_CORE_interweave_branches],
             (unsigned)count[TIM_CORE_interweave_warps], (unsigned)count[TIM_CORE_interweave_shared]);
    return trace;
}

/*
 * 11.1.7: both sides of a diverged warp issue together. Instructions 0 to 2 are the additions of one side, and 3 is the
 * branch of this side to the join. Instructions 4 to 6 are the additions of the other side. Instruction 7 is the bsync of the
 * join, and 8 is the store. Without the mechanism one side issues in cycles 0 to 3, and its bsync after the fetch of the join
 * in 5. The warp then fetches the other side, which issues in 7 to 10. With the mechanism, the additions of both sides issue
 * in cycles 0 to 2. In cycle 3 the branch of one side issues together with the bsync of the other side.
 */
static void paths_of_a_warp_issue_together(void **state)
{
    static const char text[] = SIDES(EQUAL, THREE(7), THREE(9));
    const uint32_t expected[4] = {7, 1 + 9, 2 + 7, 3 + 9};
    struct run *r = interweave_new(NONE, 32, 1);
    struct lw_error err;

    (void)state;
    assert_string_equal(trace_of(r, text, 4, FIRST, FIRST + 9),
                        "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.7@5 w0.4@7 w0.5@8 w0.6@9 w0.7@10 w0.8@11: 0 0 0");
    run_free(r);
    r = interweave_new(SBI, 32, 1);
    assert_string_equal(trace_of(r, text, 4, FIRST, FIRST + 9),
                        "w0.0@0 w0.4@0 w0.5@1 w0.1@1 w0.2@2 w0.6@2 w0.7@3 w0.3@3 w0.7@4 w0.8@5: 4 0 3");
    fix_check(emu_global_read(r->fix->machine, r->fix->out, r->fix->word, sizeof r->fix->word, &err), &err);
    r->fix->stop = r->stop;
    fix_expect_words(r->fix, expected, 4);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_interweave_lanes], 8);
    assert_int_equal(run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_ISSUED] + 4,
                     run_engine(r)->stats[0].sched[0].count[TIM_SCHED_instructions]);
    run_free(r);
    r = interweave_new(SWI, 32, 1); /* there is no other warp */
    assert_string_equal(trace_of(r, text, 4, FIRST, FIRST + 9),
                        "w0.0@0 w0.1@1 w0.2@2 w0.3@3 w0.7@5 w0.4@7 w0.5@8 w0.6@9 w0.7@10 w0.8@11: 0 0 0");
    run_free(r);
}

/* The second addition of one side needs the result of the first. An addition that issues in cycle 0 has its result in cycle 6.
 * The other side does not wait: in cycles 1 and 2 it issues alone. */
static void a_path_that_waits_does_not_delay_the_other(void **state)
{
    static const char text[] = SIDES(EQUAL, "v_add_u32 v4, v1, 7\nv_add_u32 v4, v4, 1\n", THREE(9));
    struct run *r = interweave_new(SBI, 32, 4);

    (void)state;
    assert_string_equal(trace_of(r, text, 4, FIRST, FIRST + 7), "w0.0@0 w0.4@0 w0.1@1 w0.2@2 w0.3@3 w0.6@5 w0.5@6 w0.6@7: 1 0 1");
    run_free(r);
}

/* A multiplication and an addition of integers issue together, but do not share a unit. */
static void instructions_for_different_units_share_nothing(void **state)
{
    static const char text[] = SIDES(EQUAL, "v_mul_f32 v4, v1, 7.0\nv_mul_f32 v5, v1, 1.0\n", THREE(9));
    struct run *r = interweave_new(SBI, 32, 1);

    (void)state;
    assert_string_equal(trace_of(r, text, 4, FIRST, FIRST + 6), "w0.0@0 w0.4@0 w0.5@1 w0.1@1 w0.2@2 w0.3@3: 3 0 0");
    run_free(r);
}

/* A pipe of one lane takes 4 cycles for each addition of a warp. The 12 additions of both sides pass it in 48 cycles. With the
 * mechanism six pairs pass it in 24 cycles. The store needs the result of the last addition. */
static void instructions_that_share_a_row_take_the_time_of_one(void **state)
{
    static const char text[] = SIDES(EQUAL, THREE(1) "v_add_u32 v5, v1, 4\nv_add_u32 v6, v1, 5\nv_add_u32 v4, v1, 6\n",
                                     THREE(7) "v_add_u32 v5, v1, 8\nv_add_u32 v6, v1, 9\nv_add_u32 v4, v1, 10\n");
    uint64_t reads[2], cycles[2];

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct run *r = interweave_new(on ? SBI : NONE, 32, 1);

        r->config->unit[ISA_UNIT_INT].lanes = 1;
        run_text(r, text, 1, 4);
        reads[on] = run_engine(r)->stats[0].count[TIM_CORE_register_reads];
        cycles[on] = r->fix->engine->ops->cycles(r->fix->engine);
        run_free(r);
    }
    assert_int_equal(reads[0], reads[1]);
    assert_int_equal(cycles[0] - cycles[1], 24);
}

/* The body of the branch has lanes 2 and 3 of warp 0, and lanes 0 and 1 of warp 1; the other lanes wait at the join, which is
 * instruction 4. Instructions 0 to 2 are the body, and instruction 3 is its branch. In cycle 3, warp 1 issues its instruction
 * 0 together with an addition of warp 0. In cycle 4, warp 1 issues its next instruction together with the branch of warp 0.
 * With xor, lane i of warp 1 uses the units of lane i xor 1, which is in the same half. With mirror, lane i of warp 1 uses
 * the units of lane 3 - i. Then the bodies of both warps need the same units. Only the bsync of warp 1, for its lanes 2 and
 * 3, can issue together with an instruction of warp 0. */
static void warps_with_other_lanes_issue_together(void **state)
{
    static const char text[] = SIDES(HALVES, "", THREE(9));
    struct run *r = interweave_new(NONE, 32, 1);

    (void)state;
    assert_string_equal(trace_of(r, text, 8, FIRST + 1, FIRST + 6),
                        "w0.0@0 w1.4@1 w0.1@2 w1.0@3 w0.2@4 w1.1@5 w0.3@6 w1.2@7 w0.4@8 w1.3@9 w0.4@10 w1.4@11: 0 0 0");
    run_free(r);
    for (unsigned permute = TIM_PERMUTE_NONE; permute <= TIM_PERMUTE_XOR; permute++) {
        r = interweave_new(SWI, 32, 1);
        r->config->core_permute = permute;
        assert_string_equal(trace_of(r, text, 8, FIRST + 1, FIRST + 6),
                            "w0.0@0 w1.4@1 w0.1@2 w1.0@3 w0.2@3 w0.3@4 w1.1@4 w1.2@5 w0.4@6 w1.3@7 w1.4@9: 0 2 1");
        run_free(r);
    }
    r = interweave_new(SWI, 32, 1);
    r->config->core_permute = TIM_PERMUTE_MIRROR;
    assert_string_equal(trace_of(r, text, 8, FIRST + 1, FIRST + 6),
                        "w0.0@0 w1.4@1 w0.1@1 w0.2@2 w1.0@3 w0.3@4 w1.1@5 w0.4@6 w1.2@7 w1.3@9 w1.4@11: 0 1 0");
    run_free(r);
}

/* If possible, the second instruction is of the same warp: of the path with most lanes and, among equal paths, with the
 * lowest pc. Otherwise it is of another warp: the one with most lanes and, among equal warps, the oldest. */
static void the_second_instruction_fills_most_lanes(void **state)
{
    struct mech_core *m = mech_new("interweave.on=on", 0);
    const struct tim_mech_second second[] = {
        {.warp = 5, .lanes = 0xfff0, .pc = 16, .age = 9},
        {.warp = 6, .lanes = 0xfff0, .pc = 64, .age = 8},
        {.warp = 7, .lanes = 0xff00, .pc = 16, .age = 1},
        {.warp = 2, .lanes = 0x30, .pc = 48, .age = 20, .same_warp = true},
        {.warp = 2, .lanes = 0xc0, .pc = 32, .age = 20, .same_warp = true},
        {.warp = 2, .lanes = 0x700, .pc = 80, .age = 20, .same_warp = true}};
    const struct tim_mechanism *row = m->mechs.forms->row;

    (void)state;
    assert_int_equal(row->pairs(m->mechs.forms, second, 1), 0);
    assert_int_equal(row->pairs(m->mechs.forms, second, 3), 1);
    assert_int_equal(row->pairs(m->mechs.forms, second, 4), 3);
    assert_int_equal(row->pairs(m->mechs.forms, second, 5), 4);
    assert_int_equal(row->pairs(m->mechs.forms, second, 6), 5);
    mech_free(m);
}

static void combinations_without_sense_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"issue.split_lanes=off", "interweave.on needs issue.split_lanes"},
        {"issue.split_lanes=on core.reconvergence=stack", "interweave.on needs core.reconvergence=cbar"},
        {"issue.split_lanes=on dwf.on=on", "dwf.on and interweave.on cannot be combined"},
        {"issue.split_lanes=on la_w.on=on", "interweave.on cannot be combined with mechanism la_w"},
        {"issue.split_lanes=on orf.on=on", "orf.on cannot be combined with mechanism interweave"},
        {"issue.split_lanes=on prf.on=on", "prf.on cannot be combined with mechanism interweave"},
        {"issue.split_lanes=on regless.on=on", "regless.on cannot be combined with mechanism interweave"},
    };

    (void)state;
    mech_assert_refused("interweave.on=on core.reconvergence=cbar", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_a_warp_issue_together),
        cmocka_unit_test(a_path_that_waits_does_not_delay_the_other),
        cmocka_unit_test(instructions_for_different_units_share_nothing),
        cmocka_unit_test(instructions_that_share_a_row_take_the_time_of_one),
        cmocka_unit_test(warps_with_other_lanes_issue_together),
        cmocka_unit_test(the_second_instruction_fills_most_lanes),
        cmocka_unit_test(combinations_without_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
