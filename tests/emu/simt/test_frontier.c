/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reconvergence engine `frontier`. The expected values are those of sections 6.5, 6.8 and 11.3 of the specification
 * of the book on GPU architectures (docs/evidence/book-inventory.md), and golden traces of random programs (split_golden.h). In
 * these traces the lanes at the lowest pc run, and the instructions on barriers have no effect. Also tests the rules that
 * `frontier` shares with `cbar`.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/emu/exec/emu_fixture.h"
#include "tests/emu/simt/split_golden.h"
#include "tests/emu/simt/split_run.h"

static void on_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    struct run *r = m->context;

    (void)w;
    lw_printf(&r->seq.sink, "%s%u/%" PRIX64, r->seq.size > 0 ? " " : "", pc, lanes);
}

static void expect(const char *text, const char *reconv, unsigned lanes, const char *seq)
{
    struct run r = run_program(text, (struct sm_options){.reconv = reconv, .lanes = lanes, .policy = "minpc_step"}, on_step, 0);

    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.seq.text, seq);
    done(&r);
}

/* Figure 3.19. The blocks begin at pcs A 0, B 1, C 2, D 3, E 5 and F 7. From A lanes 2 and 3 go to B, the others to C. From C
 * lane 0 goes to D, and lane 1 to E, where B goes, too. Both branches name the barrier at F, their immediate post-dominator.
 * So with a stack E runs twice. With thread frontiers E runs once, for three lanes. */
static const char likely[] = "bssy b0, F; A: bra lane<2, C, b0; B: bra E; C: bra lane!=0, E, b0; D: nop; bra F; E: nop; nop; F: bsync b0; exit";

static void lanes_reconverge_before_the_post_dominator(void **state)
{
    (void)state;
    expect(likely, "frontier", 4, "0/F 1/F 2/C 3/3 4/1 5/1 6/E 7/E 8/F 9/F");
    expect(likely, "stack", 4, "0/F 1/F 2/C 6/C 7/C 3/3 4/1 5/1 6/2 7/2 8/F 9/F");
    /* the program without barriers, as a compiler for thread frontiers would generate it */
    expect("A: bra lane<2, C; B: bra E; C: bra lane!=0, E; D: nop; bra F; E: nop; nop; F: exit", "frontier", 4,
           "0/F 1/C 2/3 3/1 4/1 5/E 6/E 7/F");
}

/* Short-circuit conditions as in if (p && q) X else Y, where block Y has two predecessors. */
static void both_exits_of_a_condition_run_the_else_part_together(void **state)
{
    (void)state;
    expect("bra lane==0, Y; bra lane==1, Y; nop; bra Z; Y: nop; Z: exit", "frontier", 4, "0/F 1/E 2/C 3/C 4/3 5/F");
}

/* The nested if of section 6.5. The instructions on barriers are steps without an effect. */
static void the_nested_if_reconverges_where_its_barriers_are(void **state)
{
    static const char nested[] = "A: nop; bssy b0, G; bra lane%2, F, b0; B: nop; bssy b1, E; bra lane%4==2, D, b1; C: nop; bra E; D: nop; E: bsync b1; "
                                 "nop; bra G; F: nop; G: bsync b0; exit";

    (void)state;
    expect(nested, "frontier", 8,
           "0/FF 1/FF 2/FF 3/55 4/55 5/55 6/11 7/11 8/44 9/55 10/55 11/55 12/AA 13/FF 14/FF");
}

/* Lanes leave a loop at different times. The exit is below the loop, so lanes that have left wait for lanes in the loop. */
static void lanes_that_left_a_loop_wait_for_the_others(void **state)
{
    (void)state;
    expect("mov n, lane+1; L: mov n, n-1; bra n>0, L; exit", "frontier", 4, "0/F 1/F 2/F 1/E 2/E 1/C 2/C 1/8 2/8 3/F");
}

/* Section 6.8, variant P: the lanes that spin have the lower pc, so that the lane with the lock never continues. A fairness
 * limit does not change this. */
static void a_spin_loop_never_lets_the_lane_with_the_lock_continue(void **state)
{
    static const char text[] = "bssy b0, C; B: cas got, [0]; bra got==0, B, b0; st [0], 0; C: bsync b0; exit";

    (void)state;
    for (unsigned window = 0; window <= 64; window += 64) {
        struct run r = run_program(text, (struct sm_options){.reconv = "frontier", .lanes = 4, .window = window, .hang = 1000}, on_step, 0);

        assert_int_equal(r.m->report, SM_LIVELOCK);
        assert_int_equal(sm_memory(r.m, 0), 1);
        done(&r);
    }
    struct run r = run_program(text, (struct sm_options){.lanes = 4, .policy = "rr"}, on_step, 0);
    assert_int_equal(r.m->report, SM_ENDS);
    done(&r);
}

/* The machine's policy, quantum and merge options have no effect. */
static void the_engine_has_a_policy_of_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; emu_policy_names[i] != NULL; i++) {
        struct run r = run_program(likely, (struct sm_options){.reconv = "frontier", .lanes = 4, .policy = emu_policy_names[i], .quantum = 5, .merge_off = true},
                                   on_step, 0);
        assert_string_equal(r.seq.text, "0/F 1/F 2/C 3/3 4/1 5/1 6/E 7/E 8/F 9/F");
        done(&r);
    }
}

static const char *golden_path(char *out, size_t size)
{
    const char *srcdir = getenv("srcdir");

    snprintf(out, size, "%s/tests/emu/simt/golden/frontier.txt", srcdir != NULL ? srcdir : ".");
    return out;
}

static void random_programs_give_the_models_traces(void **state)
{
    char path[4096];
    struct golden_result r = golden_run(golden_path(path, sizeof path));

    (void)state;
    if (r.failures != 0)
        fail_msg("%u of %u cases differ; the first: %s", r.failures, r.cases, r.first);
    assert_true(r.cases >= 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_reconverge_before_the_post_dominator),
        cmocka_unit_test(both_exits_of_a_condition_run_the_else_part_together),
        cmocka_unit_test(the_nested_if_reconverges_where_its_barriers_are),
        cmocka_unit_test(lanes_that_left_a_loop_wait_for_the_others),
        cmocka_unit_test(a_spin_loop_never_lets_the_lane_with_the_lock_continue),
        cmocka_unit_test(the_engine_has_a_policy_of_its_own),
        cmocka_unit_test(random_programs_give_the_models_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
