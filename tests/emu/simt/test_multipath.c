/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reconvergence engines `multipath` and `early`: the nested if of section 11.2 of the specification of the book
 * on GPU architectures (docs/evidence/book-inventory.md) with its two tables, early reconvergence of an unstructured branch,
 * merges, and SIMT deadlocks that remain.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/emu/simt/split_run.h"

/** Records a step and both tables after it. ST is the table of splits: the entries that can run with all their lanes. RT is
 *  the reconvergence table: the other entries, each with its rpc, its pc, its lanes, and after a slash the lanes that it waits
 *  for. */
static void on_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    struct run *r = m->context;
    struct emu_simt_entry *e = emu_simt_entries(w);

    lw_printf(&r->seq.sink, "%s%u/%" PRIX64, r->seq.size > 0 ? " " : "", pc, lanes);
    lw_printf(&r->rows.sink, "%u/%" PRIX64 " ST", pc, lanes);
    for (unsigned table = 0; table < 2; table++) {
        if (table == 1)
            lw_put(&r->rows.sink, " RT");
        for (unsigned i = 0; i < w->simt.count; i++) {
            uint64_t here = e[i].split >= 0 ? w->split[e[i].split].lanes : 0;
            uint32_t at = here != 0 ? emu_split_pc(w, (unsigned)e[i].split) : e[i].pc;
            if ((here == e[i].lanes) != (table == 0))
                continue;
            if (e[i].rpc == EMU_NO_RPC)
                lw_printf(&r->rows.sink, " (-,%u,%" PRIX64, at, e[i].lanes);
            else
                lw_printf(&r->rows.sink, " (%u,%u,%" PRIX64, e[i].rpc, at, e[i].lanes);
            if (table == 1)
                lw_printf(&r->rows.sink, "/%" PRIX64, e[i].lanes & ~here);
            lw_put(&r->rows.sink, ")");
        }
    }
    lw_put(&r->rows.sink, "\n");
}

static struct run run_with(const char *text, struct sm_options o)
{
    return run_program(text, o, on_step, 0);
}

static void expect_seq(const char *text, const char *reconv, unsigned lanes, const char *policy, const char *seq)
{
    struct run r = run_with(text, (struct sm_options){.reconv = reconv, .lanes = lanes, .policy = policy});

    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.seq.text, seq);
    done(&r);
}

/* ---- 11.2: the nested if ------------------------------------------------------------- */

/* The blocks of the figure begin at these pcs: A 0, B 3, C 6, D 8, E 9, F 10, G 11. */
static const char figure[] =
    "A: nop; bssy b0, G; bra lane%2, F, b0; B: nop; bssy b1, E; bra lane%4==2, D, b1; C: nop; "
    "bra E; D: nop; E: bra G; F: nop; G: nop; exit";

static void the_nested_if_gives_the_two_tables_of_the_book(void **state)
{
    struct run r = run_with(figure, (struct sm_options){.reconv = "multipath", .lanes = 8, .policy = "minpc_step"});

    (void)state;
    assert_string_equal(r.rows.text, "0/FF ST (-,1,FF) RT\n"
                                     "1/FF ST (-,2,FF) RT\n"
                                     "2/FF ST (11,10,AA) (11,3,55) RT (-,11,FF/FF)\n"
                                     "3/55 ST (11,10,AA) (11,4,55) RT (-,11,FF/FF)\n"
                                     "4/55 ST (11,10,AA) (11,5,55) RT (-,11,FF/FF)\n"
                                     "5/55 ST (11,10,AA) (9,8,44) (9,6,11) RT (-,11,FF/FF) (11,9,55/55)\n"
                                     "6/11 ST (11,10,AA) (9,8,44) (9,7,11) RT (-,11,FF/FF) (11,9,55/55)\n"
                                     "7/11 ST (11,10,AA) (9,8,44) RT (-,11,FF/FF) (11,9,55/44)\n"
                                     "8/44 ST (11,10,AA) (11,9,55) RT (-,11,FF/FF)\n"
                                     "9/55 ST (11,10,AA) RT (-,11,FF/AA)\n"
                                     "10/AA ST (-,11,FF) RT\n"
                                     "11/FF ST (-,12,FF) RT\n"
                                     "12/FF ST RT\n");
    assert_int_equal(r.m->core.stats.stack_pops, 4);
    done(&r);
}

/* Under the policy rr the sides of both branches run one instruction each in rotation. */
static void all_sides_interleave(void **state)
{
    (void)state;
    expect_seq(figure, "multipath", 8, "rr", "0/FF 1/FF 2/FF 10/AA 3/55 4/55 5/55 8/44 6/11 7/11 9/55 11/FF 12/FF");
    expect_seq(figure, "stack", 8, "rr", "0/FF 1/FF 2/FF 3/55 4/55 5/55 6/11 7/11 8/44 9/55 10/AA 11/FF 12/FF");
}

/* ---- early reconvergence ---------------------------------------------------------------- */

/* F is the post-dominator of both branches. Lanes 0 and 1 go directly to E, and lane 2 goes to E from C. */
static const char late[] = "bssy b0, F; bra lane<2, E, b0; nop; nop; C: bra lane==2, E, b0; D: nop; bra F; E: nop; nop; nop; nop; nop; "
                           "F: bsync b0; exit";

static void a_split_waits_for_lanes_that_begin_where_it_began(void **state)
{
    struct run r = run_with(late, (struct sm_options){.reconv = "early", .lanes = 4, .policy = "rr", .merge_off = true});

    (void)state;
    /* When lane 2 reaches E, lanes 0 and 1 are two instructions past E, where they wait for lane 2. */
    assert_string_equal(r.rows.text, "0/F ST (-,1,F) RT\n"
                                     "1/F ST (12,7,3) (12,2,C) RT (-,12,F/F)\n"
                                     "2/C ST (12,7,3) (12,3,C) RT (-,12,F/F)\n"
                                     "7/3 ST (12,8,3) (12,3,C) RT (-,12,F/F)\n"
                                     "3/C ST (12,8,3) (12,4,C) RT (-,12,F/F)\n"
                                     "8/3 ST (12,9,3) (12,4,C) RT (-,12,F/F)\n"
                                     "4/C ST (9,7,4) (12,5,8) RT (-,12,F/F) (12,9,7/4)\n"
                                     "5/8 ST (9,7,4) (12,6,8) RT (-,12,F/F) (12,9,7/4)\n"
                                     "7/4 ST (9,8,4) (12,6,8) RT (-,12,F/F) (12,9,7/4)\n"
                                     "6/8 ST (9,8,4) RT (-,12,F/7) (12,9,7/4)\n"
                                     "8/4 ST (12,9,7) RT (-,12,F/7)\n"
                                     "9/7 ST (12,10,7) RT (-,12,F/7)\n"
                                     "10/7 ST (12,11,7) RT (-,12,F/7)\n"
                                     "11/7 ST (-,12,F) RT\n"
                                     "12/F ST (-,13,F) RT\n"
                                     "13/F ST RT\n");
    done(&r);
    expect_seq(late, "multipath", 4, "rr", "0/F 1/F 2/C 7/3 3/C 8/3 4/C 5/8 9/3 7/4 6/8 10/3 8/4 11/3 9/4 10/4 11/4 12/F 13/F");
    expect_seq(late, "stack", 4, NULL, "0/F 1/F 2/C 3/C 4/C 5/8 6/8 7/4 8/4 9/4 10/4 11/4 7/3 8/3 9/3 10/3 11/3 12/F 13/F");
}

/* Lanes 0 and 1 wait for lane 2, which goes to F on another path. Then lanes 0 and 1 must continue without lane 2. */
static void a_lane_that_leaves_on_another_path_is_not_waited_for(void **state)
{
    static const char leaves[] = "bssy b0, F; bra lane<2, E, b0; nop; nop; C: bra lane==2, E, b0; D: nop; bra F; "
                                 "E: bra lane==2, F; nop; nop; nop; nop; F: bsync b0; exit";
    struct run r = run_with(leaves, (struct sm_options){.reconv = "early", .lanes = 4, .policy = "rr", .merge_off = true});

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.rows.text, "0/F ST (-,1,F) RT\n"
                                     "1/F ST (12,7,3) (12,2,C) RT (-,12,F/F)\n"
                                     "2/C ST (12,7,3) (12,3,C) RT (-,12,F/F)\n"
                                     "7/3 ST (12,8,3) (12,3,C) RT (-,12,F/F)\n"
                                     "3/C ST (12,8,3) (12,4,C) RT (-,12,F/F)\n"
                                     "8/3 ST (12,9,3) (12,4,C) RT (-,12,F/F)\n"
                                     "4/C ST (9,7,4) (12,5,8) RT (-,12,F/F) (12,9,7/4)\n"
                                     "5/8 ST (9,7,4) (12,6,8) RT (-,12,F/F) (12,9,7/4)\n"
                                     "7/4 ST (12,9,3) (12,6,8) RT (-,12,F/B)\n"
                                     "6/8 ST (12,9,3) RT (-,12,F/3)\n"
                                     "9/3 ST (12,10,3) RT (-,12,F/3)\n"
                                     "10/3 ST (12,11,3) RT (-,12,F/3)\n"
                                     "11/3 ST (-,12,F) RT\n"
                                     "12/F ST (-,13,F) RT\n"
                                     "13/F ST RT\n");
    done(&r);
}

/* ---- merges -------------------------------------------------------------------------- */

/* Figure 3.19, as in test_frontier.c: lanes reach E from B and from C. */
static const char likely[] = "bssy b0, F; A: bra lane<2, C, b0; B: bra E; C: bra lane!=0, E, b0; D: nop; bra F; "
                             "E: nop; nop; F: bsync b0; exit";

static void splits_at_one_pc_merge_only_if_merges_are_on(void **state)
{
    struct run r;

    (void)state;
    expect_seq(likely, "multipath", 4, "minpc_step", "0/F 1/F 2/C 3/3 4/1 5/1 6/E 7/E 8/F 9/F");
    r = run_with(likely, (struct sm_options){.reconv = "multipath", .lanes = 4, .policy = "minpc_step", .merge_off = true});
    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.seq.text, "0/F 1/F 2/C 3/3 4/1 5/1 6/2 6/C 7/2 7/C 8/F 9/F");
    done(&r);
}

/* ---- lanes that wait for each other ------------------------------------------------------- */

static void a_lane_waits_for_a_sibling_but_not_for_a_lane_that_waits_to_reconverge(void **state)
{
    /* The consumer and the producer are the two sides of one branch, so both run. */
    static const char flag[] = "bssy b0, L7; bra lane==0, L6, b0; L2: ld f, [0]; bra f==0, L2, b0\n"
                               "nop; bra L7; L6: st [0], 1; L7: bsync.soft b0; exit";
    /* The lane with the lock waits at C for the lanes that spin. */
    static const char spin[] = "bssy b0, C; B: cas got, [0]; bra got==0, B, b0; C: bsync b0; st [0], 0; exit";
    static const char *const engines[] = {"multipath", "early"};

    (void)state;
    for (unsigned e = 0; e < LW_COUNT_OF(engines); e++) {
        for (unsigned k = 0; emu_push_order_names[k] != NULL; k++) {
            struct sm_options o = {.reconv = engines[e], .lanes = 4, .push_order = emu_push_order_names[k], .policy = "rr"};
            struct run r = run_with(flag, o);
            assert_int_equal(r.m->report, SM_ENDS);
            done(&r);
            r = run_with(spin, o);
            assert_int_equal(r.m->report, SM_LIVELOCK);
            done(&r);
        }
    }
}

static void a_cta_barrier_in_a_side_waits_for_its_siblings(void **state)
{
    static const char both[] = "bssy b0, J; bra t<2, A, b0; bar 0; bra J; A: bar 0; J: bsync b0; exit";
    struct run r = run_with(both, (struct sm_options){.reconv = "multipath", .lanes = 4});

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    done(&r);
    r = run_with(both, (struct sm_options){.reconv = "stack", .lanes = 4});
    assert_int_equal(r.m->report, SM_DEADLOCK);
    done(&r);
    /* Two lanes wait to reconverge with the lanes that wait at the CTA barrier. */
    r = run_with("bssy b0, J; bra t<2, J, b0; bar 0; J: bsync b0; bra t>=2, K; bar 0; K: exit",
                 (struct sm_options){.reconv = "multipath", .lanes = 4});
    assert_int_equal(r.m->report, SM_DEADLOCK);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nested_if_gives_the_two_tables_of_the_book),
        cmocka_unit_test(all_sides_interleave),
        cmocka_unit_test(a_split_waits_for_lanes_that_begin_where_it_began),
        cmocka_unit_test(a_lane_that_leaves_on_another_path_is_not_waited_for),
        cmocka_unit_test(splits_at_one_pc_merge_only_if_merges_are_on),
        cmocka_unit_test(a_lane_waits_for_a_sibling_but_not_for_a_lane_that_waits_to_reconverge),
        cmocka_unit_test(a_cta_barrier_in_a_side_waits_for_its_siblings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
