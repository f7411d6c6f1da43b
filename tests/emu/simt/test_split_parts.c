/* SPDX-License-Identifier: Apache-2.0 */
/* Tests steps of some lanes of a split (docs/reference/machine.md, 1, Step), views of splits and convergence groups, and their
 * hash. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/emu/simt/split_machine.h"

/* ---- steps of parts ----------------------------------------------------------------- */

static struct sm *machine(const char *text, struct sm_program **program, unsigned lanes)
{
    struct sm_options o = {.policy = "rr_quantum", .lanes = lanes, .window = 1024};
    struct lw_error err;

    *program = sm_parse(text, strlen(text), &err);
    assert_non_null(*program);
    return sm_create(*program, &o);
}
static void check(const struct emu_warp *w)
{
    char why[100] = "";

    if (!emu_split_check(w, why, sizeof why))
        fail_msg("%s", why);
}
/** Steps @lanes of split @id. Returns false if the lanes wait. */
static bool force(struct sm *m, unsigned id, uint64_t lanes, bool whole)
{
    struct emu_warp *w = &m->block.warp[0];
    bool ok = emu_split_divide(w, id, lanes, whole);

    check(w);
    if (ok) {
        assert_true(sm_step(m, w, true));
        check(w);
    }
    return ok;
}
static void expect_table(const struct emu_warp *w, const char *want)
{
    struct lw_buffer b;

    lw_buffer_init(&b);
    sm_show(w, &b.sink);
    assert_string_equal(b.text, want);
    lw_buffer_fini(&b);
}

static void a_step_of_some_lanes_divides_the_split(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("nop; nop; nop; exit", &p, 4);
    struct emu_warp *w = &m->block.warp[0];

    (void)state;
    assert_false(emu_split_divided(w));
    assert_true(force(m, 0, 0x4, false));
    expect_table(w, "0:0/B 1:1/4/*");
    assert_true(emu_split_divided(w));
    assert_true(force(m, 1, 0x4, false));
    assert_true(force(m, 0, 0xB, false));
    assert_true(force(m, 0, 0xB, false));
    expect_table(w, "0:2/B/* 1:2/4");
    assert_false(emu_split_divide(w, 1, 0x1, false)); /* the lane is not in split 1 */
    assert_false(emu_split_divide(w, 7, 0x1, false)); /* there is no split 7 */
    emu_split_block(w);
    assert_true(emu_split_select(w)); /* The parts merge, because they are at one pc. */
    expect_table(w, "0:2/F");
    assert_false(emu_split_divided(w));
    sm_destroy(m);
    sm_program_free(p);
}

static void a_part_that_reaches_the_pc_of_the_others_joins_them_on_request(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("nop; nop; nop; exit", &p, 4);
    struct emu_warp *w = &m->block.warp[0];

    (void)state;
    assert_false(emu_split_join(w)); /* there is no running split yet */
    assert_true(force(m, 0, 0x4, false));
    assert_false(emu_split_join(w)); /* the other lanes are at another pc */
    assert_true(force(m, 0, 0xB, false));
    expect_table(w, "0:1/B/* 1:1/4");
    w->merge = false;
    assert_false(emu_split_join(w));
    w->merge = true;
    assert_true(emu_split_join(w));
    check(w);
    expect_table(w, "0:1/F");
    assert_false(emu_split_divided(w));
    assert_true(force(m, 0, 0xF, false));
    sm_destroy(m);
    sm_program_free(p);
}

static void the_part_that_reaches_a_whole_row_first_is_suspended(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("nop; scalar; nop; exit", &p, 4);
    struct emu_warp *w = &m->block.warp[0];

    (void)state;
    assert_true(force(m, 0, 0x2, false));
    expect_table(w, "0:0/D 1:1/2/*");
    assert_false(force(m, 1, 0x2, true));
    expect_table(w, "0:0/D 1:1/2/sus");
    assert_true(force(m, 0, 0xD, false));
    assert_true(force(m, 0, 0xD, true)); /* The scalar instruction executes for the other lanes, too, so it does not
                                          * fault. */
    expect_table(w, "0:2/F");
    sm_destroy(m);
    sm_program_free(p);
}

static void a_whole_row_stepped_in_part_waits_for_the_rest(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("scalar; exit", &p, 4);
    struct emu_warp *w = &m->block.warp[0];

    (void)state;
    assert_false(force(m, 0, 0x1, true));
    expect_table(w, "0:0/1/sus 1:0/E");
    assert_true(force(m, 1, 0xE, true));
    expect_table(w, "0:1/F");
    sm_destroy(m);
    sm_program_free(p);
}

static void a_suspended_part_does_not_wait_for_lanes_that_cannot_come(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("bssy b0, J; bra t>1, J, b0; nop; nop; J: bsync b0; exit", &p, 4);
    struct emu_warp *w = &m->block.warp[0];

    (void)state;
    assert_true(force(m, 0, 0xF, false));
    assert_true(force(m, 0, 0x5, false)); /* Lanes 0 and 2 execute the branch: lane 0 goes to 2, lane 2 to the bsync. */
    expect_table(w, "0:2/1 1:1/A 2:4/4 | b0#1=F");
    assert_true(force(m, 2, 0x4, false));
    assert_false(force(m, 0, 0x1, true)); /* Lane 0 waits, because lanes 1 and 3 may still reach its pc. */
    assert_true(force(m, 1, 0xA, false)); /* Lane 1 reaches the pc of lane 0. Lane 3 goes to the bsync. */
    assert_true(force(m, 3, 0x8, false));
    expect_table(w, "0:2/1/sus 1:2/2 2:5/4/b0 3:5/8/b0 | b0#1=F");
    assert_true(force(m, 1, 0x2, true)); /* lane 1 merges with lane 0 */
    expect_table(w, "0:3/3/* 2:5/4/b0 3:5/8/b0 | b0#1=F");
    sm_destroy(m);
    sm_program_free(p);
}

static void the_policy_wakes_a_suspended_part_when_nothing_else_runs(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("nop; nop; exit; nop", &p, 4);
    struct emu_warp *w = &m->block.warp[0];

    (void)state;
    assert_true(force(m, 0, 0x1, false));
    assert_false(force(m, 0, 0x1, true));
    assert_true(emu_split_select(w)); /* the other lanes are selected first */
    assert_int_equal(w->m, 0xE);
    w->di = &m->code.insn[2]; /* The other lanes jump to the exit. */
    assert_true(sm_step(m, w, true));
    assert_true(emu_split_select(w));
    assert_int_equal(w->m, 0x1);
    assert_false(emu_split_divided(w));
    sm_destroy(m);
    sm_program_free(p);
}

static void a_suspended_part_waits_without_a_limit_for_lanes_that_may_come(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("nop; scalar; exit", &p, 4);
    struct emu_warp *w = &m->block.warp[0];

    (void)state;
    assert_true(force(m, 0, 0x1, false));
    assert_false(force(m, 0, 0x1, true));
    w->retired += 1 << 20; /* as if the other lanes had executed a long loop */
    assert_true(emu_split_select(w));
    assert_int_equal(w->m, 0xE);
    expect_table(w, "0:1/1/sus 1:0/E/*");
    assert_true(force(m, 1, 0xE, false));
    assert_true(force(m, 1, 0xE, true));
    expect_table(w, "0:2/F");
    sm_destroy(m);
    sm_program_free(p);
}

/* ---- views -------------------------------------------------------------------------- */

static void views_show_splits_lanes_and_groups(void **state)
{
    struct sm_program *p;
    struct sm *m = machine("bssy b1, J; bra t>1, J, b1; nop; nop; J: bsync.soft b1; exit", &p, 4);
    struct emu_warp *w = &m->block.warp[0];
    struct emu_split_view v[4];
    uint64_t number = 99;

    (void)state;
    assert_true(force(m, 0, 0xF, false));
    assert_true(force(m, 0, 0xF, false));
    assert_true(force(m, 1, 0xC, false));
    assert_true(force(m, 0, 0x3, false));
    assert_int_equal(emu_split_views(&m->core, 0, 0, v, 4), 2);
    assert_int_equal(v[0].id, 0);
    assert_true(v[0].running);
    assert_int_equal(v[0].pc, ISA_CODE_BASE + 3 * ISA_WORD_BYTES);
    assert_int_equal(v[0].lanes, 0x3);
    assert_int_equal(v[1].state, EMU_SPLIT_BLOCKED);
    assert_string_equal(emu_split_state_name(v[1].state), "blocked");
    assert_int_equal(v[1].barrier, 1);
    assert_true(v[1].soft);
    assert_int_equal(v[1].pc, ISA_CODE_BASE + 5 * ISA_WORD_BYTES);
    assert_int_equal(emu_split_views(&m->core, 0, 0, v, 1), 2);
    assert_int_equal(emu_split_views(&m->core, 0, 1, v, 4), 0);
    assert_int_equal(emu_split_views(&m->core, 1, 0, v, 4), 0);
    assert_true(emu_lane_where(&m->core, 0, 0, 3, v));
    assert_int_equal(v[0].id, 1);
    assert_false(emu_lane_where(&m->core, 0, 0, 4, v));
    assert_false(emu_lane_where(&m->core, 0, 0, 64, v));
    assert_int_equal(emu_barrier_group(&m->core, 0, 0, 1, 0, &number), 0xF);
    assert_int_equal(number, 1);
    assert_int_equal(emu_barrier_group(&m->core, 0, 0, 2, 0, &number), 0);
    assert_int_equal(number, 0);
    assert_int_equal(emu_barrier_group(&m->core, 0, 0, 99, 0, NULL), 0);
    (void)w;
    sm_destroy(m);
    sm_program_free(p);
}

static void the_hash_does_not_see_how_numbers_are_stored(void **state)
{
    /* Both machines reach the same state. One stores the group numbers in one word, the other in a vector register. */
    struct sm_program *p, *q;
    struct sm *a = machine("bssy b0, J; bssy b0, J; J: nop; exit", &p, 4);
    struct sm *b = machine("@t>1 bssy b0, J; bssy b0, J; J: nop; exit", &q, 4);
    struct lw_hash x, y;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_true(force(a, 0, 0xF, false));
        assert_true(force(b, 0, 0xF, false));
    }
    lw_hash_init(&x);
    lw_hash_init(&y);
    emu_split_hash(&a->block.warp[0], &x);
    emu_split_hash(&b->block.warp[0], &y);
    assert_true(lw_hash_value(&x) == lw_hash_value(&y));
    uint64_t number[4] = {2, 2, 2, 2}; /* restoring these numbers switches to the vector register and back to one word */
    emu_breg_restore(&b->block.warp[0], 0, 0x3, number);
    lw_hash_init(&y);
    emu_split_hash(&b->block.warp[0], &y);
    assert_true(lw_hash_value(&x) == lw_hash_value(&y));
    number[1] = 7;
    emu_breg_restore(&b->block.warp[0], 0, 0x3, number);
    check(&b->block.warp[0]);
    lw_hash_init(&y);
    emu_split_hash(&b->block.warp[0], &y);
    assert_true(lw_hash_value(&x) != lw_hash_value(&y));
    sm_destroy(a);
    sm_destroy(b);
    sm_program_free(p);
    sm_program_free(q);
}

static void every_policy_has_a_row_and_unknown_names_have_none(void **state)
{
    (void)state;
    for (unsigned i = 0; emu_policy_names[i] != NULL; i++) {
        assert_non_null(emu_policy_find(emu_policy_names[i]));
        assert_string_equal(emu_policy_find(emu_policy_names[i])->name, emu_policy_names[i]);
    }
    assert_int_equal(emu_policy_find("rr_quantum")->quantum, 64);
    assert_null(emu_policy_find("fifo"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_some_lanes_divides_the_split),
        cmocka_unit_test(a_part_that_reaches_the_pc_of_the_others_joins_them_on_request),
        cmocka_unit_test(the_part_that_reaches_a_whole_row_first_is_suspended),
        cmocka_unit_test(a_whole_row_stepped_in_part_waits_for_the_rest),
        cmocka_unit_test(a_suspended_part_does_not_wait_for_lanes_that_cannot_come),
        cmocka_unit_test(the_policy_wakes_a_suspended_part_when_nothing_else_runs),
        cmocka_unit_test(a_suspended_part_waits_without_a_limit_for_lanes_that_may_come),
        cmocka_unit_test(views_show_splits_lanes_and_groups),
        cmocka_unit_test(the_hash_does_not_see_how_numbers_are_stored),
        cmocka_unit_test(every_policy_has_a_row_and_unknown_names_have_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
