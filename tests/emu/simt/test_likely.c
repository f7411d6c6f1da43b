/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reconvergence engine `likely`: the table of section 11.3 of the specification of the book on GPU
 * architectures (docs/evidence/book-inventory.md), nested loops, lanes that leave a loop or exit, and calls. Each program must
 * give the same results under `stack`.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/emu/exec/emu_fixture.h"
#include "tests/emu/simt/split_run.h"

/* Records each step, and the stack after it as (rpc,pc,lanes), the bottom entry first. For an entry whose lanes wait, lanes
 * are those that have arrived, or "." if there are none. */
static void on_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    struct run *r = m->context;
    struct emu_simt_entry *e = emu_simt_entries(w);

    lw_printf(&r->seq.sink, "%s%u/%" PRIX64, r->seq.size > 0 ? " " : "", pc, lanes);
    lw_printf(&r->rows.sink, "%u/%" PRIX64, pc, lanes);
    for (unsigned i = 0; i < w->simt.count; i++) {
        const bool here = e[i].split >= 0;
        char rpc[16] = "-";

        if (e[i].rpc != EMU_NO_RPC)
            snprintf(rpc, sizeof rpc, "%u", e[i].rpc);
        lw_printf(&r->rows.sink, " (%s,%u,", rpc, here ? emu_split_pc(w, (unsigned)e[i].split) : e[i].pc);
        if (here)
            lw_printf(&r->rows.sink, "%" PRIX64 ")", w->split[e[i].split].lanes);
        else
            lw_put(&r->rows.sink, ".)");
    }
    lw_put(&r->rows.sink, "\n");
}

static struct run run_with(const char *text, const char *reconv, unsigned lanes)
{
    return run_program(text, (struct sm_options){.reconv = reconv, .lanes = lanes, .push_order = "fall_through", .check = true}, on_step, 0);
}

static void expect_seq(const char *text, const char *reconv, unsigned lanes, const char *seq)
{
    struct run r = run_with(text, reconv, lanes);

    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.seq.text, seq);
    done(&r);
}

/* ---- figure 3.19 --------------------------------------------------------------------------- */

/* The blocks begin at pcs A 1, B 3, C 4, D 5, E 7 and F 9. Lanes 0 and 1 go to B, lane 3 goes to D, and lane 2 goes from C to
 * E. The loop from E to A runs twice. */
static const char figure[] = "bssy b0, F; A: mov n, n+1; bra lane>=2, C, b0; B: bra E; C: bra lane!=3, E, b0; D: nop; bra F; "
                             "E: nop; bra n<2, A, b0; F: bsync b0; exit";

static void the_figure_gives_the_table_of_the_book(void **state)
{
    struct run r = run_with(figure, "likely", 4);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.rows.text, "0/F (-,1,F)\n"
                                     "1/F (-,2,F)\n"
                                     "2/F (-,9,.) (9,7,.) (7,4,C) (7,3,3)\n"
                                     "3/3 (-,9,.) (9,7,3) (7,4,C)\n"
                                     "4/C (-,9,.) (9,7,7) (7,5,8)\n"
                                     "5/8 (-,9,.) (9,7,7) (7,6,8)\n"
                                     "6/8 (-,9,8) (9,7,7)\n"
                                     "7/7 (-,9,8) (9,8,7)\n"
                                     "8/7 (-,9,8) (9,1,7)\n"
                                     "1/7 (-,9,8) (9,2,7)\n"
                                     "2/7 (-,9,8) (9,7,.) (7,4,4) (7,3,3)\n"
                                     "3/3 (-,9,8) (9,7,3) (7,4,4)\n"
                                     "4/4 (-,9,8) (9,7,7)\n"
                                     "7/7 (-,9,8) (9,8,7)\n"
                                     "8/7 (-,9,F)\n"
                                     "9/F (-,10,F)\n"
                                     "10/F\n");
    done(&r);
    /* Under `stack` E runs twice in each iteration, for lanes 0 and 1 and for lane 2. */
    expect_seq(figure, "stack", 4,
               "0/F 1/F 2/F 3/3 7/3 8/3 1/3 2/3 3/3 7/3 8/3 4/C 5/8 6/8 7/4 8/4 1/4 2/4 4/4 7/4 8/4 9/F 10/F");
}

/* ---- what may happen to the entry at the likely point --------------------------------------------- */

static void an_entry_that_all_lanes_leave_is_removed(void **state)
{
    /* All lanes leave the loop in its first iteration, by a different exit on each side of the branch. */
    static const char leave[] = "bssy b0, F; A: mov n, n+1; bra lane>=2, C, b0; bra n<9, F; bra E; C: nop; bra n<9, F; "
                                "E: nop; bra n<2, A, b0; F: bsync b0; exit";
    struct run r = run_with(leave, "likely", 4);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.rows.text, "0/F (-,1,F)\n"
                                     "1/F (-,2,F)\n"
                                     "2/F (-,9,.) (9,7,.) (7,5,C) (7,3,3)\n"
                                     "3/3 (-,9,3) (9,7,.) (7,5,C)\n"
                                     "5/C (-,9,3) (9,7,.) (7,6,C)\n"
                                     "6/C (-,9,F)\n"
                                     "9/F (-,10,F)\n"
                                     "10/F\n");
    done(&r);
    /* No lane waits for lanes that exit. */
    expect_seq("bssy b0, F; A: mov n, n+1; bra lane>=2, C, b0; bra n>5, E; exit; C: nop; E: bra n<2, A, b0; F: bsync b0; exit", "likely", 4,
               "0/F 1/F 2/F 3/3 4/3 5/C 6/C 1/C 2/C 5/C 6/C 7/C 8/C");
}

static void a_loop_in_a_loop_has_its_own_point(void **state)
{
    /* Both loops have an exit to their common end F. The inner loop ends at pc 9, and the outer one at pc 11. */
    static const char nest[] = "bssy b0, F; O: mov i, 0; mov n, n+1; I: mov i, i+1; bra lane==3 and n==2, F, b0; "
                               "bra lane==0, X, b0; nop; bra J; X: nop; J: bra i<2, I, b0; K: nop; bra n<3, O, b0; F: bsync b0; exit";
    struct run one = run_with(nest, "stack", 4), two = run_with(nest, "likely", 4);

    (void)state;
    assert_int_equal(one.m->report, SM_ENDS);
    assert_int_equal(two.m->report, SM_ENDS);
    for (unsigned t = 0; t < 4; t++) {
        assert_int_equal(sm_register(one.m, "n", t), sm_register(two.m, "n", t));
        assert_int_equal(sm_register(one.m, "i", t), sm_register(two.m, "i", t));
        assert_int_equal(sm_register(two.m, "n", t), t == 3 ? 2 : 3);
    }
    assert_int_equal(one.m->issues, 88);
    assert_int_equal(two.m->issues, 57);
    assert_int_equal(one.m->slots, two.m->slots);
    done(&one);
    done(&two);
}

/* The following branches have no likely convergence point: a branch outside loops, a branch whose reconvergence pc is in its
 * loop, and a branch in the block of the backward branch. For them the engine does what `stack` does. */
static void without_a_likely_point_the_engine_is_a_stack(void **state)
{
    static const char *const programs[] = {
        "bssy b0, J; bra lane<2, T, b0; nop; bra J; T: nop; J: bsync b0; exit",
        "A: mov n, n+1; bssy b0, J; bra lane<2, T, b0; nop; bra J; T: nop; J: bsync b0; bra n<3, A; exit",
        "bssy b0, F; A: mov n, n+1; bra n<=lane, A, b0; F: bsync b0; exit",
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(programs); i++) {
        struct run one = run_with(programs[i], "stack", 4), two = run_with(programs[i], "likely", 4);
        assert_string_equal(one.rows.text, two.rows.text);
        done(&one);
        done(&two);
    }
}

/* The likely convergence point is in a recursive function. Lanes must wait there only for lanes of their own call depth. */
static void calls_keep_levels_apart(void **state)
{
    static const char calls[] = "call R; exit; R: push n; bssy b0, F; A: mov n, n+1; bra lane==n, C, b0; nop; bra E; C: bra lane==3, F, b0; "
                                "bra d>1, E, b0; mov d, d+1; call R; mov d, d-1; E: nop; bra n<4, A, b0; F: bsync b0; pop n; mov s, s+n+1; ret";
    struct run one = run_with(calls, "stack", 4), two = run_with(calls, "likely", 4);

    (void)state;
    assert_int_equal(one.m->report, SM_ENDS);
    assert_int_equal(two.m->report, SM_ENDS);
    for (unsigned t = 0; t < 4; t++)
        assert_int_equal(sm_register(one.m, "s", t), sm_register(two.m, "s", t));
    assert_true(two.m->issues < one.m->issues);
    assert_int_equal(one.m->slots, two.m->slots);
    done(&one);
    done(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figure_gives_the_table_of_the_book),
        cmocka_unit_test(an_entry_that_all_lanes_leave_is_removed),
        cmocka_unit_test(a_loop_in_a_loop_has_its_own_point),
        cmocka_unit_test(without_a_likely_point_the_engine_is_a_stack),
        cmocka_unit_test(calls_keep_levels_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
