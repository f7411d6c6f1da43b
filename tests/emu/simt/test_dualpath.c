/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reconvergence engine `dualpath`: a nested if with its stack after each event, a branch with more than two sides,
 * calls, exits, lanes that wait for each other, and lanes that synchronise on both paths of a level.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/emu/simt/split_run.h"

/** Records a step and the stack after it, the bottom first: each level in brackets, with its paths as (rpc,pc,lanes). */
static void on_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    struct run *r = m->context;
    struct emu_simt_entry *e = emu_simt_entries(w);

    lw_printf(&r->seq.sink, "%s%u/%" PRIX64, r->seq.size > 0 ? " " : "", pc, lanes);
    lw_printf(&r->rows.sink, "%u/%" PRIX64, pc, lanes);
    for (unsigned i = 0; i < w->simt.count; i++) {
        uint32_t at = e[i].split >= 0 ? emu_split_pc(w, (unsigned)e[i].split) : e[i].pc;

        lw_put(&r->rows.sink, e[i].right ? " " : " [");
        if (e[i].rpc == EMU_NO_RPC)
            lw_printf(&r->rows.sink, "(-,%u,%" PRIX64 ")", at, e[i].lanes);
        else
            lw_printf(&r->rows.sink, "(%u,%u,%" PRIX64 ")", e[i].rpc, at, e[i].lanes);
        if (emu_simt_level_end(w, i) == i + 1)
            lw_put(&r->rows.sink, "]");
    }
    lw_put(&r->rows.sink, "\n");
}

static struct run run_with(const char *text, const char *reconv, unsigned lanes)
{
    return run_program(text, (struct sm_options){.reconv = reconv, .lanes = lanes, .policy = "rr"}, on_step, 0);
}

static void expect_seq(const char *text, const char *reconv, unsigned lanes, const char *seq)
{
    struct run r = run_with(text, reconv, lanes);

    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.seq.text, seq);
    done(&r);
}

static void expect_rows(const char *text, unsigned lanes, const char *rows)
{
    struct run r = run_with(text, "dualpath", lanes);

    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.rows.text, rows);
    done(&r);
}

static enum sm_hang_report report_of(const char *text, const char *reconv)
{
    struct run r = run_with(text, reconv, 4);
    enum sm_hang_report report = r.m->report;

    done(&r);
    return report;
}

/* ---- the nested if ------------------------------------------------------------------------- */

/* The nested if of section 6.5 of the specification of the book on GPU architectures, with a long block F. The blocks begin at
 * pcs A 0, B 3, C 6, D 8, E 9, F 10 to 13, G 14. */
static const char figure[] =
    "A: nop; bssy b0, G; bra lane%2, F, b0; B: nop; bssy b1, E; bra lane%4==2, D, b1; C: nop; "
    "bra E; D: nop; E: bra G; F: nop; nop; nop; nop; G: nop; exit";

/* B and F are interleaved. When B diverges, C and D are the new top, and F waits although none of its lanes is missing. */
static void only_the_paths_of_the_top_level_run(void **state)
{
    (void)state;
    expect_rows(figure, 8,
                "0/FF [(-,1,FF)]\n"
                "1/FF [(-,2,FF)]\n"
                "2/FF [(-,14,FF)] [(14,10,AA) (14,3,55)]\n"
                "10/AA [(-,14,FF)] [(14,11,AA) (14,3,55)]\n"
                "3/55 [(-,14,FF)] [(14,11,AA) (14,4,55)]\n"
                "11/AA [(-,14,FF)] [(14,12,AA) (14,4,55)]\n"
                "4/55 [(-,14,FF)] [(14,12,AA) (14,5,55)]\n"
                "12/AA [(-,14,FF)] [(14,13,AA) (14,5,55)]\n"
                "5/55 [(-,14,FF)] [(14,13,AA) (14,9,55)] [(9,8,44) (9,6,11)]\n"
                "8/44 [(-,14,FF)] [(14,13,AA) (14,9,55)] [(9,6,11)]\n"
                "6/11 [(-,14,FF)] [(14,13,AA) (14,9,55)] [(9,7,11)]\n"
                "7/11 [(-,14,FF)] [(14,13,AA) (14,9,55)]\n"
                "13/AA [(-,14,FF)] [(14,9,55)]\n"
                "9/55 [(-,14,FF)]\n"
                "14/FF [(-,15,FF)]\n"
                "15/FF\n");
}

/* The engines run the same instructions with the same lanes, in another order. */
static void the_order_is_between_those_of_stack_and_multipath(void **state)
{
    (void)state;
    expect_seq(figure, "stack", 8, "0/FF 1/FF 2/FF 3/55 4/55 5/55 6/11 7/11 8/44 9/55 10/AA 11/AA 12/AA 13/AA 14/FF 15/FF");
    expect_seq(figure, "dualpath", 8, "0/FF 1/FF 2/FF 10/AA 3/55 11/AA 4/55 12/AA 5/55 8/44 6/11 7/11 13/AA 9/55 14/FF 15/FF");
    expect_seq(figure, "multipath", 8, "0/FF 1/FF 2/FF 10/AA 3/55 11/AA 4/55 12/AA 5/55 13/AA 8/44 6/11 7/11 9/55 14/FF 15/FF");
}

/* ---- other branches -------------------------------------------------------------------------- */

/* Three functions are called: two of the sides are a level, the third one is the level above. */
static void a_branch_with_three_sides_has_two_levels(void **state)
{
    (void)state;
    expect_rows("bssy b0, R; call F if lane==0 else G if lane==1 else H, b0; R: exit\n"
                "F: ret; G: ret; H: nop; ret", 4,
                "0/F [(-,1,F)]\n"
                "1/F [(-,2,F)] [(2,5,C) (2,4,2)] [(2,3,1)]\n"
                "3/1 [(-,2,F)] [(2,5,C) (2,4,2)]\n"
                "4/2 [(-,2,F)] [(2,5,C)]\n"
                "5/C [(-,2,F)] [(2,6,C)]\n"
                "6/C [(-,2,F)]\n"
                "2/F\n");
}

/* All lanes of one path call a function whose lanes may return separately. The other path waits until all of them have returned. */
static void a_call_is_a_level(void **state)
{
    (void)state;
    expect_rows("bssy b0, J; bra lane<2, T, b0; nop; nop; nop; bra J; T: bssy b1, R; call F, b1; R: nop; J: exit; F: nop; ret", 4,
                "0/F [(-,1,F)]\n"
                "1/F [(-,9,F)] [(9,6,3) (9,2,C)]\n"
                "2/C [(-,9,F)] [(9,6,3) (9,3,C)]\n"
                "6/3 [(-,9,F)] [(9,7,3) (9,3,C)]\n"
                "3/C [(-,9,F)] [(9,7,3) (9,4,C)]\n"
                "7/3 [(-,9,F)] [(9,8,3) (9,4,C)] [(8,10,3)]\n"
                "10/3 [(-,9,F)] [(9,8,3) (9,4,C)] [(8,11,3)]\n"
                "11/3 [(-,9,F)] [(9,8,3) (9,4,C)]\n"
                "4/C [(-,9,F)] [(9,8,3) (9,5,C)]\n"
                "8/3 [(-,9,F)] [(9,5,C)]\n"
                "5/C [(-,9,F)]\n"
                "9/F\n");
}

/* The first path of a level exits: the second one is alone, and may diverge. */
static void a_path_remains_alone(void **state)
{
    (void)state;
    expect_rows("bssy b0, J; bra lane<2, T, b0; nop; bra lane==2, J, b0; nop; bra J; T: exit; J: exit", 4,
                "0/F [(-,1,F)]\n"
                "1/F [(-,7,F)] [(7,6,3) (7,2,C)]\n"
                "2/C [(-,7,F)] [(7,6,3) (7,3,C)]\n"
                "6/3 [(-,7,C)] [(7,3,C)]\n"
                "3/C [(-,7,C)] [(7,4,8)]\n"
                "4/8 [(-,7,C)] [(7,5,8)]\n"
                "5/8 [(-,7,C)]\n"
                "7/C\n");
}

/* The branch of a loop ends where the level ends: its lanes are a new level, and the path is no longer in the old one. */
static void a_loop_on_one_path_adds_no_level_per_trip(void **state)
{
    struct run r = run_with("bssy b0, J; bra lane==0, J, b0; L: mov i, i+1; bra i<=lane, L, b0; J: exit", "dualpath", 8);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(r.m->core.stats.stack_depth, 2);
    done(&r);
}

/* ---- lanes that wait for each other --------------------------------------------------------------- */

static void a_lane_waits_for_the_other_path_of_the_top_level_only(void **state)
{
    /* The consumers and the producer are the two paths. */
    static const char paths[] = "bssy b0, L7; bra lane==0, L6, b0; L2: ld f, [0]; bra f==0, L2, b0; bra L7; "
                                "L6: nop; nop; st [0], 1; L7: exit";
    /* One of the consumers does not spin: the path of the consumers has diverged, and the producer waits below it. */
    static const char below[] = "bssy b0, L9; bra lane==0, L6, b0; bssy b1, L5; bra lane==1, L5, b1; L2: ld f, [0]; bra f==0, L2, b1; "
                                "L5: bra L9; L6: nop; nop; nop; nop; st [0], 1; L9: exit";

    (void)state;
    assert_int_equal(report_of(paths, "dualpath"), SM_ENDS);
    assert_int_equal(report_of(below, "multipath"), SM_ENDS);
    assert_int_equal(report_of(below, "dualpath"), SM_LIVELOCK);
}

static void a_cta_barrier_on_both_paths_completes(void **state)
{
    static const char both[] = "bssy b0, J; bra t<2, A, b0; bar 0; bra J; A: bar 0; J: exit";
    /* One lane of the first path waits at the barrier. The others wait below it. */
    static const char part[] = "bssy b0, J; bra t<2, A, b0; bar 0; bra J; A: @t==0 bar 0; nop; @t==1 bar 0; J: exit";
    /* A path waits at the barrier while the other one diverges and reconverges. */
    static const char late[] = "bssy b0, J; bra t<2, A, b0; bssy b1, K; bra t==2, K, b1; nop; nop; K: bar 0; bra J; A: bar 0; J: exit";

    (void)state;
    assert_int_equal(report_of(both, "dualpath"), SM_ENDS);
    assert_int_equal(report_of(both, "stack"), SM_DEADLOCK);
    assert_int_equal(report_of(part, "dualpath"), SM_DEADLOCK);
    assert_int_equal(report_of(late, "dualpath"), SM_ENDS);
}

/* A path sleeps, and awakes while the other one has diverged: it then waits for the level above. */
static void a_path_that_awakes_below_the_top_waits(void **state)
{
    (void)state;
    expect_seq("bssy b0, J; bra lane<2, A, b0; bssy b1, K; bra lane==2, K, b1; nop; nop; nop; nop; K: bra J; A: nanosleep 3; nop; J: exit",
               "dualpath", 4, "0/F 1/F 2/C 9/3 3/C 4/8 5/8 6/8 7/8 10/3 8/C 11/F");
}

/* Both paths execute one .sync instruction. The two paths become one path when all lanes have arrived, and not before. */
static void paths_merge_only_at_an_instruction_that_synchronises(void **state)
{
    (void)state;
    expect_seq("bssy b0, J; bra lane<2, A, b0; nop; A: nop; sync v, 15; nop; J: exit", "dualpath", 4,
               "0/F 1/F 2/C 3/3 3/C 4/3 4/C 4/F 5/F 6/F");
    expect_seq("bssy b0, J; bra lane<2, A, b0; nop; A: nop; nop; nop; J: exit", "dualpath", 4,
               "0/F 1/F 2/C 3/3 3/C 4/3 4/C 5/3 5/C 6/F");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_paths_of_the_top_level_run),
        cmocka_unit_test(the_order_is_between_those_of_stack_and_multipath),
        cmocka_unit_test(a_branch_with_three_sides_has_two_levels),
        cmocka_unit_test(a_call_is_a_level),
        cmocka_unit_test(a_path_remains_alone),
        cmocka_unit_test(a_loop_on_one_path_adds_no_level_per_trip),
        cmocka_unit_test(a_lane_waits_for_the_other_path_of_the_top_level_only),
        cmocka_unit_test(a_cta_barrier_on_both_paths_completes),
        cmocka_unit_test(a_path_that_awakes_below_the_top_waits),
        cmocka_unit_test(paths_merge_only_at_an_instruction_that_synchronises),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
