/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reconvergence engine `stack`: the tables of sections 5.4, 5.6, 5.8, 6.2, 6.7 and 6.8 of the
 * specification of the book on GPU architectures (docs/evidence/book-inventory.md), the steps that are the same under `cbar`
 * (section 6.14), and golden traces of random programs (split_golden.h).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/emu/exec/emu_fixture.h"
#include "tests/emu/simt/split_golden.h"
#include "tests/emu/simt/split_run.h"

/* ---- running ------------------------------------------------------------------------ */

static void on_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    struct run *r = m->context;

    lw_printf(&r->seq.sink, "%s%u/%" PRIX64, r->seq.size > 0 ? " " : "", pc, lanes);
    lw_printf(&r->rows.sink, "%u/%" PRIX64 " ", pc, lanes);
    sm_show(w, &r->rows.sink);
    lw_put(&r->rows.sink, "\n");
}

static struct run run_with(const char *text, struct sm_options o)
{
    return run_program(text, o, on_step, 0);
}
static struct run run_stack(const char *text, unsigned lanes, const char *order)
{
    return run_with(text, (struct sm_options){.reconv = "stack", .push_order = order,
                                              .lanes = lanes});
}
static void expect(const char *text, unsigned lanes, const char *order, const char *seq,
                   uint64_t issues, uint64_t slots)
{
    struct run r = run_stack(text, lanes, order);

    assert_int_equal(r.m->report, SM_ENDS);
    if (seq != NULL)
        assert_string_equal(r.seq.text, seq);
    assert_int_equal(r.m->issues, issues);
    assert_int_equal(r.m->slots, slots);
    done(&r);
}

/* ---- section 5.4: the program of the figures ------------------------------------------------- */

/* The blocks of the figure begin at these pcs: A 0, B 3, C 6, D 8, E 9, F 10, G 11. */
static const char figure[] =
    "A: nop; bssy b0, G; bra lane==3, F, b0; B: nop; bssy b1, E; bra lane!=0, D, b1; C: nop; "
    "bra E; D: nop; E: bra G; F: nop; G: nop; exit";

static void the_example_gives_its_table_with_the_fall_through_on_top(void **state)
{
    struct run r = run_stack(figure, 4, "fall_through");

    (void)state;
    assert_string_equal(r.rows.text, "0/F (-,1,F)\n"
                                     "1/F (-,2,F)\n"
                                     "2/F (-,11,F) (11,10,8) (11,3,7)\n"
                                     "3/7 (-,11,F) (11,10,8) (11,4,7)\n"
                                     "4/7 (-,11,F) (11,10,8) (11,5,7)\n"
                                     "5/7 (-,11,F) (11,10,8) (11,9,7) (9,8,6) (9,6,1)\n"
                                     "6/1 (-,11,F) (11,10,8) (11,9,7) (9,8,6) (9,7,1)\n"
                                     "7/1 (-,11,F) (11,10,8) (11,9,7) (9,8,6)\n"
                                     "8/6 (-,11,F) (11,10,8) (11,9,7)\n"
                                     "9/7 (-,11,F) (11,10,8)\n"
                                     "10/8 (-,11,F)\n"
                                     "11/F (-,12,F)\n"
                                     "12/F \n");
    assert_int_equal(r.m->core.stats.stack_depth, 5);
    assert_int_equal(r.m->core.stats.stack_pops, 4);
    done(&r);
}

static void the_example_gives_its_table_with_the_smaller_side_first(void **state)
{
    struct run r = run_stack(figure, 4, "smaller");

    (void)state;
    assert_string_equal(r.rows.text, "0/F (-,1,F)\n"
                                     "1/F (-,2,F)\n"
                                     "2/F (-,11,F) (11,3,7) (11,10,8)\n"
                                     "10/8 (-,11,F) (11,3,7)\n"
                                     "3/7 (-,11,F) (11,4,7)\n"
                                     "4/7 (-,11,F) (11,5,7)\n"
                                     "5/7 (-,11,F) (11,9,7) (9,8,6) (9,6,1)\n"
                                     "6/1 (-,11,F) (11,9,7) (9,8,6) (9,7,1)\n"
                                     "7/1 (-,11,F) (11,9,7) (9,8,6)\n"
                                     "8/6 (-,11,F) (11,9,7)\n"
                                     "9/7 (-,11,F)\n"
                                     "11/F (-,12,F)\n"
                                     "12/F \n");
    done(&r);
}

static void the_larger_side_first_is_the_opposite_order(void **state)
{
    (void)state;
    expect(figure, 4, "larger",
           "0/F 1/F 2/F 3/7 4/7 5/7 8/6 6/1 7/1 9/7 10/8 11/F 12/F", 13, 37);
}

/* ---- 5.6, 5.8: depth of the stack ------------------------------------------------------ */

/** Returns the depth that the stack of a warp of @n lanes reaches when the warp diverges repeatedly. At each level the
 *  lowest lane leaves, or with @halve the lower half. With @shared all branches have the same reconvergence pc. */
static unsigned depth_of(unsigned n, const char *order, bool halve, bool shared)
{
    struct lw_buffer text;
    unsigned levels = 0;

    lw_buffer_init(&text);
    if (shared)
        lw_put(&text.sink, "bssy b0, E0;");
    for (unsigned left = n; left > 1; left = halve ? left / 2 : left - 1, levels++) {
        if (!shared)
            lw_printf(&text.sink, "bssy b0, E%u;", levels);
        lw_printf(&text.sink, "bra lane%s%u, S%u, b0; nop\n", halve ? ">=" : "==",
                  halve ? left / 2 : levels, levels);
    }
    lw_printf(&text.sink, "nop; bra E%u\n", shared ? 0 : levels - 1);
    for (unsigned k = levels; k-- > 0;)
        lw_printf(&text.sink, "S%u: nop; bra E%u\n", k, shared ? 0 : k);
    for (unsigned k = shared ? 1 : levels; k-- > 0;) {
        lw_printf(&text.sink, "E%u: bsync b0\n", k);
        if (k > 0)
            lw_printf(&text.sink, "bra E%u\n", k - 1);
    }
    lw_put(&text.sink, "exit");
    struct run r = run_stack(text.text, n, order);
    assert_int_equal(r.m->report, SM_ENDS);
    unsigned depth = (unsigned)r.m->core.stats.stack_depth;
    done(&r);
    lw_buffer_fini(&text);
    return depth;
}

static void nested_branches_reach_the_bounds_of_depth(void **state)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(widths); i++) {
        unsigned n = widths[i], log2 = i + 2;
        assert_int_equal(depth_of(n, "smaller", false, false), n + 1);
        assert_int_equal(depth_of(n, "larger", false, false), 2 * n - 1);
        /* The tail merge reduces the depth above the base entry to 1 + log2 n, or to n. */
        assert_int_equal(depth_of(n, "smaller", true, true), 1 + 1 + log2);
        assert_int_equal(depth_of(n, "larger", false, true), 1 + n);
        assert_int_equal(depth_of(n, "smaller", false, true), 3);
    }
}

static void a_loop_with_any_trip_counts_needs_two_entries(void **state)
{
    static const char loop[] = "bssy b0, X; L: mov i, i+1; bra i<=t, L, b0; X: bsync b0; exit";
    static const unsigned widths[] = {4, 8, 16, 32, 64};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(widths); i++) {
        for (unsigned k = 0; emu_push_order_names[k] != NULL; k++) {
            struct run r = run_stack(loop, widths[i], emu_push_order_names[k]);
            assert_int_equal(r.m->report, SM_ENDS);
            assert_int_equal(r.m->core.stats.stack_depth, 2);
            done(&r);
        }
    }
}

/* ---- 6.2, 6.7, 6.8, 6.12 -------------------------------------------------------------- */

static void a_spin_loop_never_lets_the_lane_with_the_lock_go_on(void **state)
{
    static const char text[] = "bssy b0, C; B: cas got, [0]; bra got==0, B, b0; C: bsync b0\n"
                               "st [0], 0; exit";

    (void)state;
    for (unsigned k = 0; emu_push_order_names[k] != NULL; k++) {
        struct run r = run_stack(text, 4, emu_push_order_names[k]);
        const char *want = "0/F (-,1,F)\n1/F (-,2,F)\n2/F (-,3,F) (3,1,E)\n"
                           "1/E (-,3,F) (3,2,E)\n2/E (-,3,F) (3,1,E)\n1/E (-,3,F) (3,2,E)\n";
        assert_int_equal(r.m->report, SM_LIVELOCK);
        assert_memory_equal(r.rows.text, want, strlen(want));
        assert_int_equal(sm_memory(r.m, 0), 1);
        done(&r);
    }
    struct run r = run_with(text, (struct sm_options){.lanes = 4, .policy = "rr"});
    assert_int_equal(r.m->report, SM_LIVELOCK); /* The lanes must reconverge before the lane with the lock can release
                                                 * it. */
    done(&r);
    r = run_with("bssy b0, C; B: cas got, [0]; bra got==0, B, b0; st [0], 0; C: bsync b0; exit",
                 (struct sm_options){.lanes = 4, .policy = "rr"});
    assert_int_equal(r.m->report, SM_ENDS);
    done(&r);
}

static void one_side_runs_then_the_other_then_both_once(void **state)
{
    (void)state;
    expect("bssy b0, L7; bra t>=4, L5, b0; nop; nop; bra L7; L5: nop; nop; L7: bsync b0; nop; exit",
           8, "smaller", "0/FF 1/FF 2/F 3/F 4/F 5/F0 6/F0 7/FF 8/FF 9/FF", 10, 60);
}

static void a_consumer_depends_on_which_side_is_on_top(void **state)
{
    static const char flag[] = "bssy b0, L7; bra lane==0, L6, b0; L2: ld f, [0]; bra f==0, L2, b0\n"
                               "nop; bra L7; L6: st [0], 1; L7: bsync.soft b0; exit";
    struct run r = run_stack(flag, 4, "larger");

    (void)state;
    assert_int_equal(r.m->report, SM_LIVELOCK);
    done(&r);
    expect(flag, 4, "smaller", NULL, 9, 29);
}

static void lanes_that_call_two_functions_run_each_once(void **state)
{
    static const char text[] = "bssy b0, R; call F if t%2==0 else G, b0; R: bsync b0; exit\n"
                               "F: nop; ret; G: nop; ret";

    (void)state;
    expect(text, 4, "smaller", "0/F 1/F 4/5 5/5 6/A 7/A 2/F 3/F", 8, 24);
}

static void lanes_that_return_apart_reconverge_after_a_call_that_names_a_barrier(void **state)
{
    static const char named[] = "bssy b0, R; call F, b0; R: bsync b0; nop; exit\n"
                                "F: bra t%2, G; nop; ret; G: nop; nop; ret";
    static const char plain[] = "call F; nop; exit; F: bra t%2, G; nop; ret; G: nop; nop; ret";

    (void)state;
    expect(named, 4, "smaller", "0/F 1/F 5/F 6/5 7/5 8/A 9/A 10/A 2/F 3/F 4/F", 11, 34);
    expect(plain, 4, "smaller", "0/F 3/F 4/5 5/5 1/5 2/5 6/A 7/A 8/A 1/A 2/A", 11, 26);
}

static void a_recursive_call_returns_by_depth_not_by_pc_alone(void **state)
{
    /* Each level calls the function from the same call site, so all levels have the same return address. Each lane has its
     * own recursion depth. */
    struct run r = run_stack("call F; st [t], n; exit\n"
                             "F: bssy b0, R; bra t<=d, R, b0; mov d, d+1; bssy b1, R2\n"
                             "call F, b1; R2: bsync b1; mov n, n+1; R: bsync b0; ret",
                             8, "smaller");

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    for (int t = 0; t < 8; t++)
        assert_int_equal(sm_memory(r.m, t), t);
    /* All lanes execute the store in one step, so they have reconverged at every level. */
    if (strstr(r.seq.text, " 1/FF 2/FF") == NULL)
        fail_msg("%s", r.rows.text);
    done(&r);
}

/* ---- waiting -------------------------------------------------------------------------- */

static void a_cta_barrier_in_a_divergent_arm_waits_for_lanes_below_it(void **state)
{
    struct run r = run_stack("bssy b0, J; bra t<2, J, b0; bar 0; J: bsync b0; bra t>=2, K; "
                             "bar 0; K: exit",
                             4, "smaller");

    (void)state;
    assert_int_equal(r.m->report, SM_DEADLOCK);
    done(&r);
    /* A barrier with a count waits only for the number of threads that the count gives, not for all other lanes. */
    r = run_with("bssy b0, J; bra t%4<2, J, b0; bar 0, 4; J: bsync b0; exit",
                 (struct sm_options){.reconv = "stack", .lanes = 4, .threads = 32});
    assert_int_equal(r.m->report, SM_ENDS); /* the barrier has been released four times */
    assert_int_equal(r.m->block.cta_generation, 4);
    done(&r);
    r = run_with("bssy b0, J; bra t%4<2, J, b0; bar 0, 16; J: bsync b0; exit",
                 (struct sm_options){.reconv = "stack", .lanes = 4, .threads = 32});
    assert_int_equal(r.m->report, SM_ENDS);
    done(&r);
}

static void warpsync_takes_all_sets_of_the_top_or_none(void **state)
{
    (void)state;
    expect("warpsync 5 if t%2==0 else 10; exit", 4, "smaller", "0/F 1/F", 2, 8);
    struct run r = run_stack("bssy b0, J; bra t==3, J, b0; warpsync 3 if t<2 else 12; J: bsync b0; "
                             "exit", 4, "larger");
    assert_int_equal(r.m->report, SM_DEADLOCK); /* lane 3 is in an entry below, which does not run */
    done(&r);
}

static void guarded_off_lanes_continue_after_those_that_wait(void **state)
{
    /* Lane 0 is guarded off and does not arrive. Lane 0 runs when the other lanes have ended, and finds no lane to
     * reconverge with. */
    struct run r = run_with("bssy b0, J; bra t%4==3, J, b0; @t%4>0 bar 0, 16; nop; J: bsync b0\n"
                            "st [t], 1; exit",
                            (struct sm_options){.reconv = "stack", .lanes = 4, .threads = 32});

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    for (int t = 0; t < 32; t++)
        assert_int_equal(sm_memory(r.m, t), 1);
    done(&r);
}

static void a_split_sleeps_whole(void **state)
{
    (void)state;
    expect("@t>1 nanosleep 20; nop; exit", 4, "smaller", "0/F 1/F 2/F", 3, 12);
}

static void an_exit_takes_lanes_out_of_all_entries(void **state)
{
    struct run r = run_stack("bssy b0, J; bra t>1, A, b0; @t==0 exit; nop; bra J; A: exit\n"
                             "J: bsync b0; nop; exit",
                             4, "fall_through");

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.rows.text, "0/F (-,1,F)\n"
                                     "1/F (-,6,F) (6,5,C) (6,2,3)\n"
                                     "2/3 (-,6,E) (6,5,C) (6,3,2)\n"
                                     "3/2 (-,6,E) (6,5,C) (6,4,2)\n"
                                     "4/2 (-,6,E) (6,5,C)\n"
                                     "5/C (-,6,2)\n"
                                     "6/2 (-,7,2)\n"
                                     "7/2 (-,8,2)\n"
                                     "8/2 \n");
    done(&r);
}

/* ---- which bssy reaches a branch ------------------------------------------------------ */

static struct emu_stats stats_after(const char *jump)
{
    static const uint32_t expected[] = {2, 1, 2, 1, 2, 1, 2, 1};
    struct fix *f = fix_new(8);
    struct emu_stats stats;
    char text[600];

    snprintf(text, sizeof text,
             "%s%s start\nexit\n"
             "start: bssy b0, meet\nv_and_b32 v1, v0, 1\nv_setp_u32.ne p0, v1, 0\n"
             "@p0 bra odd, b0\nv_mov_b32 v2, 2\nbra meet\n"
             "odd: v_mov_b32 v2, 1\n"
             "meet: bsync b0\n%sexit\n.end\n", FIX_HEAD, jump, FIX_STORE("v2"));
    f->config.reconv = "stack";
    fix_load(f, text, 8);
    fix_go(f);
    assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
    assert_memory_equal(f->word, expected, sizeof expected);
    emu_stats_get(f->machine, &stats);
    fix_free(f);
    return stats;
}

static void lanes_reconverge_after_a_scalar_jump_as_after_any_other(void **state)
{
    struct emu_stats vector = stats_after("bra"), scalar = stats_after("s_bra");

    (void)state;
    assert_int_equal(vector.warp_instructions, 3 + 1 + 4 + 2 + 1 + 3); /* the code after reconvergence runs only once */
    assert_int_equal(scalar.warp_instructions, vector.warp_instructions);
    assert_int_equal(scalar.stack_pops, vector.stack_pops);
}

/* ---- steps, views --------------------------------------------------------------------- */

static void a_split_is_never_divided(void **state)
{
    struct sm_options o = {.reconv = "stack", .lanes = 4};
    struct lw_error err;
    struct sm_program *p = sm_parse(figure, strlen(figure), &err);
    struct sm *m = sm_create(p, &o);
    struct emu_warp *w = &m->block.warp[0];
    struct emu_stack_view v[8];

    (void)state;
    assert_false(emu_split_divide(w, 0, 0x3, false));
    for (unsigned i = 0; i < 3; i++) {
        assert_true(emu_split_divide(w, 0, 0xF, false));
        assert_true(sm_step(m, w, true));
    }
    /* Lane 3 is alone on top of the stack. The lanes below it cannot be stepped. */
    assert_int_equal(w->split[0].lanes, 0x7);
    assert_int_equal(w->split[0].state, EMU_SPLIT_STACKED);
    assert_false(emu_split_divide(w, 0, 0x7, false));
    assert_int_equal(emu_stack_views(&m->core, 0, 0, v, 8), 3);
    assert_int_equal(v[0].lanes, 0xF);
    assert_int_equal(v[0].rpc, 0);
    assert_int_equal(v[0].pc, ISA_CODE_BASE + 11 * ISA_WORD_BYTES);
    assert_int_equal(v[2].pc, ISA_CODE_BASE + 10 * ISA_WORD_BYTES);
    assert_int_equal(v[2].rpc, ISA_CODE_BASE + 11 * ISA_WORD_BYTES);
    assert_int_equal(v[2].lanes, 0x8);
    assert_true(emu_split_divide(w, 1, 0x8, false));
    sm_destroy(m);
    sm_program_free(p);
}

static void every_engine_has_a_row_and_unknown_names_have_none(void **state)
{
    (void)state;
    for (unsigned i = 0; emu_reconv_names[i] != NULL; i++) {
        assert_non_null(emu_reconv_find(emu_reconv_names[i]));
        assert_string_equal(emu_reconv_find(emu_reconv_names[i])->name, emu_reconv_names[i]);
    }
    assert_null(emu_reconv_find("stacks"));
    assert_int_equal(emu_push_order_find(NULL), EMU_PUSH_SMALLER);
    assert_int_equal(emu_push_order_find("fall_through"), EMU_PUSH_FALL_THROUGH);
    assert_int_equal(emu_push_order_find("fall"), -1);
}

/* ---- 6.14: the same steps as cbar ----------------------------------------------------- */

struct tally {
    struct {
        uint32_t pc;
        uint64_t lanes, count;
    } *at;
    size_t count, capacity;
};

static void tally_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    struct tally *t = m->context;
    const char *name = sm_mnemonic(m, pc);

    (void)w;
    if (strncmp(name, "bssy", 4) == 0 || strncmp(name, "bsync", 5) == 0 ||
        strcmp(name, "bbreak") == 0 || strcmp(name, "yield") == 0)
        return;
    for (size_t i = 0; i < t->count; i++) {
        if (t->at[i].pc == pc && t->at[i].lanes == lanes) {
            t->at[i].count++;
            return;
        }
    }
    assert_true(lw_grow(&t->at, &t->capacity, t->count + 1, sizeof *t->at));
    t->at[t->count].pc = pc;
    t->at[t->count].lanes = lanes;
    t->at[t->count++].count = 1;
}

static struct tally tally_of(struct sm_program *p, struct sm_options o)
{
    struct tally t = {0};
    struct sm *m = sm_create(p, &o);

    m->on_step = tally_step;
    m->context = &t;
    if (sm_run(m) != SM_ENDS)
        fail_msg("the program does not end: %s", m->message);
    sm_destroy(m);
    return t;
}
static bool same_tally(const struct tally *a, const struct tally *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        size_t k = 0;
        while (k < b->count && (b->at[k].pc != a->at[i].pc || b->at[k].lanes != a->at[i].lanes))
            k++;
        if (k == b->count || b->at[k].count != a->at[i].count)
            return false;
    }
    return true;
}

static void expect_same_steps(const char *text, size_t size, unsigned lanes, const char *name,
                              struct tally *first)
{
    struct lw_error err;
    struct sm_program *p = sm_parse(text, size, &err);

    assert_non_null(p);
    *first = tally_of(p, (struct sm_options){.lanes = lanes, .reconv = "stack", .check = true});
    for (unsigned k = 0; emu_push_order_names[k] != NULL; k++) {
        struct tally t = tally_of(p, (struct sm_options){.lanes = lanes, .reconv = "stack",
                                                         .push_order = emu_push_order_names[k]});
        if (!same_tally(first, &t))
            fail_msg("%s: stack, %s", name, emu_push_order_names[k]);
        free(t.at);
    }
    for (unsigned k = 0; emu_policy_names[k] != NULL; k++) {
        struct tally t = tally_of(p, (struct sm_options){.lanes = lanes, .merge_off = true,
                                                         .policy = emu_policy_names[k]});
        if (!same_tally(first, &t))
            fail_msg("%s: cbar, %s", name, emu_policy_names[k]);
        free(t.at);
        t = tally_of(p, (struct sm_options){.lanes = lanes, .merge_off = true, .check = true, .reconv = "multipath",
                                            .policy = emu_policy_names[k]});
        if (!same_tally(first, &t))
            fail_msg("%s: multipath, %s", name, emu_policy_names[k]);
        free(t.at);
    }
    sm_program_free(p);
}

static void the_nested_if_executes_the_same_masks_under_the_three_engines(void **state)
{
    static const char nested[] =
        "bssy b2, L10; bra lane%2, L9, b2; bssy b1, L7; bra lane%4, L6, b1; nop; bra L7\n"
        "L6: nop; L7: bsync.soft b1; bra L10; L9: nop; L10: bsync.soft b2; nop; exit";
    struct tally t;
    uint64_t issues = 0, slots = 0;

    (void)state;
    expect_same_steps(nested, strlen(nested), 8, "nested if", &t);
    for (size_t i = 0; i < t.count; i++) {
        issues += t.at[i].count;
        slots += t.at[i].count * lw_popcount(t.at[i].lanes);
    }
    assert_int_equal(issues, 9);
    assert_int_equal(slots, 42);
    free(t.at);
}

static const char *golden_path(const char *name, char *path, size_t size)
{
    const char *srcdir = getenv("srcdir");

    snprintf(path, size, "%s/tests/emu/simt/golden/%s.txt", srcdir != NULL ? srcdir : ".", name);
    return path;
}

static void structured_programs_execute_the_same_masks_under_the_three_engines(void **state)
{
    char path[4096];
    struct golden_case c;
    struct lw_error err;
    char *data;
    size_t size;
    unsigned cases = 0;

    (void)state;
    if (lw_file_read(golden_path("alike", path, sizeof path), &data, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (const char *at = data; golden_next(&at, data + size, &c); cases++) {
        struct tally t;
        expect_same_steps(c.text, c.text_size, c.options.lanes, c.name, &t);
        free(t.at);
    }
    free(data);
    assert_true(cases >= 60);
}

static void random_programs_give_the_models_stacks(void **state)
{
    char path[4096];
    struct golden_result r = golden_run(golden_path("stack", path, sizeof path));

    (void)state;
    if (r.failures != 0)
        fail_msg("%u of %u cases differ; the first: %s", r.failures, r.cases, r.first);
    assert_true(r.cases >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_gives_its_table_with_the_fall_through_on_top),
        cmocka_unit_test(the_example_gives_its_table_with_the_smaller_side_first),
        cmocka_unit_test(the_larger_side_first_is_the_opposite_order),
        cmocka_unit_test(nested_branches_reach_the_bounds_of_depth),
        cmocka_unit_test(a_loop_with_any_trip_counts_needs_two_entries),
        cmocka_unit_test(a_spin_loop_never_lets_the_lane_with_the_lock_go_on),
        cmocka_unit_test(one_side_runs_then_the_other_then_both_once),
        cmocka_unit_test(a_consumer_depends_on_which_side_is_on_top),
        cmocka_unit_test(lanes_that_call_two_functions_run_each_once),
        cmocka_unit_test(lanes_that_return_apart_reconverge_after_a_call_that_names_a_barrier),
        cmocka_unit_test(a_recursive_call_returns_by_depth_not_by_pc_alone),
        cmocka_unit_test(a_cta_barrier_in_a_divergent_arm_waits_for_lanes_below_it),
        cmocka_unit_test(warpsync_takes_all_sets_of_the_top_or_none),
        cmocka_unit_test(guarded_off_lanes_continue_after_those_that_wait),
        cmocka_unit_test(a_split_sleeps_whole),
        cmocka_unit_test(an_exit_takes_lanes_out_of_all_entries),
        cmocka_unit_test(lanes_reconverge_after_a_scalar_jump_as_after_any_other),
        cmocka_unit_test(a_split_is_never_divided),
        cmocka_unit_test(every_engine_has_a_row_and_unknown_names_have_none),
        cmocka_unit_test(the_nested_if_executes_the_same_masks_under_the_three_engines),
        cmocka_unit_test(structured_programs_execute_the_same_masks_under_the_three_engines),
        cmocka_unit_test(random_programs_give_the_models_stacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
