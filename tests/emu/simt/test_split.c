/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests splits, convergence barriers, CTA barriers and policies. The expected values are the tables of sections 6.5
 * to 6.9 of the specification of the book on GPU architectures (docs/evidence/book-inventory.md), without a fairness limit, the
 * rules of docs/reference/machine.md, sections 1 and 2, and golden traces of random programs (split_golden.h).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/inspect/emu_spin_observer_priv.h"
#include "tests/emu/simt/split_golden.h"
#include "tests/emu/simt/split_run.h"

/* ---- running ------------------------------------------------------------------------ */

enum rows { NO_ROWS, ROWS_TWO, ROWS_ONE, ROWS_TABLE };

static void on_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    struct run *r = m->context;
    char chars[EMU_MAX_LANES + 1];
    struct lw_sink *out = &r->rows.sink;
    uint64_t turn = w->running >= 0 && !m->passed ? w->m : 0;

    lw_printf(&r->seq.sink, "%s%u/%" PRIX64, r->seq.size > 0 ? " " : "", pc, lanes);
    if (r->kind == NO_ROWS)
        return;
    lw_printf(out, "%s%u/%" PRIX64 " ", r->rows.size > 0 ? " | " : "", pc, lanes);
    sm_chars(m, w, chars);
    if (r->kind == ROWS_TWO)
        lw_printf(out, "%02" PRIX64 " %02" PRIX64 " %02" PRIX64 " %02" PRIX64 " %02" PRIX64 " %s",
                  turn, sm_members(w, 1), sm_members(w, 2), sm_blocked(w, 1), sm_blocked(w, 2),
                  chars);
    else if (r->kind == ROWS_ONE)
        lw_printf(out, "%" PRIX64 " %" PRIX64 " %s", sm_members(w, 0), sm_blocked(w, 0), chars);
    else
        sm_show(w, out);
}

/** Run a program under @policy. */
static struct run run_with(const char *text, const char *policy, struct sm_options o,
                           enum rows kind)
{
    o.policy = policy;
    return run_program(text, o, on_step, kind);
}

static void expect_totals(const char *text, unsigned lanes, const char *policy, unsigned quantum,
                          uint64_t issues, uint64_t slots)
{
    struct run r = run_with(text, policy, (struct sm_options){.lanes = lanes, .quantum = quantum},
                            NO_ROWS);

    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(r.m->issues, issues);
    assert_int_equal(r.m->slots, slots);
    done(&r);
}
static void expect_trace(const char *text, unsigned lanes, const char *policy, unsigned quantum,
                         const char *seq)
{
    struct run r = run_with(text, policy, (struct sm_options){.lanes = lanes, .quantum = quantum},
                            NO_ROWS);

    assert_string_equal(r.seq.text, seq);
    assert_int_equal(r.m->report, SM_ENDS);
    done(&r);
}
static void expect_hang_report(const char *text, unsigned lanes, const char *policy,
                           enum sm_hang_report report)
{
    struct run r = run_with(text, policy, (struct sm_options){.lanes = lanes}, NO_ROWS);

    assert_int_equal(r.m->report, report);
    done(&r);
}
static void expect_fault(const char *text, unsigned lanes, const char *policy, const char *why)
{
    struct run r = run_with(text, policy, (struct sm_options){.lanes = lanes}, NO_ROWS);

    assert_int_equal(r.m->report, SM_FAULT);
    if (strstr(r.m->message, why) == NULL)
        fail_msg("got: %s", r.m->message);
    done(&r);
}

static void explain(const struct sm *m, bool livelock, struct emu_hang *hang)
{
    emu_block_explain(&m->block, &(struct emu_hang_cause){.livelock = livelock}, hang);
}

/* ---- tables of the specification ----------------------------------------------------------------------- */

static const char nested[] =
    "bssy b2, L10; bra lane%2, L9, b2; bssy b1, L7; bra lane%4, L6, b1; nop; bra L7\n"
    "L6: nop; L7: bsync.soft b1; bra L10; L9: nop; L10: bsync.soft b2; nop; exit";

static void nested_if_gives_table_6_5(void **state)
{
    static const char *const policies[] = {"minpc", "stack_like"};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(policies); i++) {
        struct run r = run_with(nested, policies[i], (struct sm_options){.lanes = 8}, ROWS_TWO);
        assert_string_equal(
            r.rows.text,
            "0/FF FF 00 FF 00 00 ******** | 1/FF 00 00 FF 00 00 RRRRRRRR | "
            "2/55 55 55 FF 00 00 *R*R*R*R | 3/55 00 55 FF 00 00 RRRRRRRR | "
            "4/11 11 55 FF 00 00 *RRR*RRR | 5/11 11 55 FF 00 00 *RRR*RRR | "
            "7/11 00 55 FF 11 00 1RRR1RRR | 6/44 44 55 FF 11 00 1R*R1R*R | "
            "7/44 00 00 FF 00 00 RRRRRRRR | 8/55 55 00 FF 00 00 *R*R*R*R | "
            "10/55 00 00 FF 00 55 2R2R2R2R | 9/AA AA 00 FF 00 55 2*2*2*2* | "
            "10/AA 00 00 00 00 00 RRRRRRRR | 11/FF FF 00 00 00 00 ******** | "
            "12/FF 00 00 00 00 00 XXXXXXXX");
        assert_int_equal(r.m->issues, 15);
        assert_int_equal(r.m->slots, 66);
        done(&r);
    }
}

static void nested_if_under_the_other_policies_gives_the_sequences_of_6_5(void **state)
{
    static const char step[] = "0/FF 1/FF 2/55 3/55 4/11 5/11 6/44 7/55 8/55 9/AA 10/FF 11/FF "
                               "12/FF";
    static const char rr[] = "0/FF 1/FF 9/AA 2/55 10/AA 3/55 6/44 4/11 7/44 5/11 7/11 8/55 "
                             "10/55 11/FF 12/FF";
    static const char max[] = "0/FF 1/FF 9/AA 10/AA 2/55 3/55 6/44 7/44 4/11 5/11 7/11 8/55 "
                              "10/55 11/FF 12/FF";

    (void)state;
    expect_trace(nested, 8, "minpc_step", 0, step);
    expect_trace(nested, 8, "rr", 0, rr);
    expect_trace(nested, 8, "rr_quantum", 1, rr);
    expect_trace(nested, 8, "maxpc", 0, max);
}

static void independent_scheduling_gives_the_vectors_of_6_7(void **state)
{
    (void)state;
    expect_trace("bra t<4, L4; nop; nop; bra L6; L4: nop; nop; L6: nop; exit", 8, "rr", 0,
                 "0/FF 1/F0 4/F 2/F0 5/F 3/F0 6/FF 7/FF");
    expect_trace("bra t>=4, L4; nop; nop; bra L6; L4: nop; nop; L6: nop; exit", 8, "rr", 0,
                 "0/FF 4/F0 1/F 5/F0 2/F 6/F0 3/F 7/F0 6/F 7/F");
}

static const char lock_y[] = "bssy b0, L5; L1: cas got, [0]; bra got, L5, b0; yield; bra L1\n"
                             "L5: bsync.soft b0; st [0], 0; exit";
static const char lock_n[] = "bssy b0, L3; L1: cas got, [0]; bra got==0, L1, b0\n"
                             "L3: bsync.soft b0; st [0], 0; exit";
static const char lock_p[] = "bssy b0, L4; L1: cas got, [0]; bra got==0, L1, b0; st [0], 0\n"
                             "L4: bsync.soft b0; exit";

static void a_spin_lock_with_yield_gives_table_6_8(void **state)
{
    struct run r = run_with(lock_y, "minpc", (struct sm_options){.lanes = 4}, ROWS_ONE);

    (void)state;
    const char *want = "0/F F 0 **** | 1/F F 0 **** | 2/F F 0 RRRR | 3/E F 0 RYYY | "
                       "5/1 E 0 RYYY | 6/1 E 0 *YYY | 7/1 E 0 XYYY | 4/E E 0 X*** | ";
    assert_memory_equal(r.rows.text, want, strlen(want));
    assert_non_null(strstr(r.rows.text, "7/2 C 0 XXYY"));
    assert_non_null(strstr(r.rows.text, "7/4 8 0 XXXY"));
    assert_non_null(strstr(r.rows.text, "7/8 0 0 XXXX"));
    done(&r);
}

static void a_spin_lock_with_yield_ends_under_every_policy(void **state)
{
    static const unsigned quanta[] = {1, 2, 3, 5, 7, 64};

    (void)state;
    expect_totals(lock_y, 4, "minpc", 0, 27, 48);
    expect_totals(lock_y, 4, "minpc_step", 0, 27, 48);
    expect_totals(lock_y, 4, "maxpc", 0, 27, 48);
    expect_totals(lock_y, 4, "most_lanes", 0, 27, 48);
    for (unsigned i = 0; i < LW_COUNT_OF(quanta); i++)
        expect_totals(lock_y, 4, "rr_quantum", quanta[i], 27, 48);
    struct run r = run_with(lock_y, "rr", (struct sm_options){.lanes = 4}, NO_ROWS);
    assert_int_equal(sm_memory(r.m, 0), 0);
    for (unsigned l = 0; l < 4; l++)
        assert_int_equal(sm_register(r.m, "got", l), 1);
    done(&r);
}

static void a_spin_lock_without_yield_is_a_livelock_under_every_policy(void **state)
{
    (void)state;
    for (unsigned i = 0; emu_policy_names[i] != NULL; i++)
        expect_hang_report(lock_n, 4, emu_policy_names[i], SM_LIVELOCK);
}

static void a_spin_lock_released_before_the_barrier_depends_on_the_policy(void **state)
{
    (void)state;
    expect_hang_report(lock_p, 4, "minpc", SM_LIVELOCK);
    expect_totals(lock_p, 4, "rr", 0, 24, 48);
    expect_totals(lock_p, 4, "rr_quantum", 2, 24, 48);
    expect_totals(lock_p, 4, "rr_quantum", 3, 30, 60);
    expect_totals(lock_p, 4, "rr_quantum", 4, 30, 60);
    expect_totals(lock_p, 4, "rr_quantum", 5, 36, 72);
    expect_totals(lock_p, 4, "rr_quantum", 0, 210, 420);
    expect_totals(lock_p, 4, "maxpc", 0, 18, 36);
    expect_trace(lock_p, 4, "rr", 0,
                 "0/F 1/F 2/F 1/E 3/1 2/E 4/1 1/E 2/E 1/C 3/2 2/C 4/2 1/C 2/C 1/8 3/4 2/8 4/4 1/8 "
                 "2/8 3/8 4/8 5/F");
    expect_trace(lock_p, 4, "rr_quantum", 4,
                 "0/F 1/F 2/F 1/E 2/E 1/E 2/E 3/1 4/1 1/E 2/E 1/C 2/C 1/C 2/C 3/2 4/2 1/C 2/C 1/8 "
                 "2/8 1/8 2/8 3/4 4/4 1/8 2/8 3/8 4/8 5/F");
}

static const char flag[] = "bssy b0, L7; bra lane==0, L6, b0; L2: ld f, [0]; bra f==0, L2, b0; "
                           "nop; bra L7; L6: st [0], 1; L7: bsync.soft b0; exit";

static void a_consumer_that_spins_needs_a_fair_policy(void **state)
{
    (void)state;
    expect_trace(flag, 4, "rr", 0, "0/F 1/F 2/E 6/1 3/E 7/1 2/E 3/E 4/E 5/E 7/E 8/F");
    expect_totals(flag, 4, "rr", 0, 12, 35);
    expect_totals(flag, 4, "rr_quantum", 0, 74, 221);
    expect_hang_report(flag, 4, "minpc", SM_LIVELOCK);
}

static void lanes_that_skipped_the_bssy_pass_the_bsync(void **state)
{
    static const char text[] = "bra t>=2, L2; bssy b0, L3; L2: nop; L3: bsync.soft b0; exit";

    (void)state;
    expect_trace(text, 4, "minpc", 0, "0/F 1/3 2/3 3/3 2/C 3/C 4/F");
    expect_totals(text, 4, "minpc", 0, 7, 18);
    expect_totals(text, 4, "rr", 0, 8, 18);
}

static void an_exit_releases_waiting_lanes(void **state)
{
    struct run r = run_with("bssy b0, L2; bra t==3, L4, b0; L2: bsync.soft b0; exit; L4: exit",
                            "minpc", (struct sm_options){.lanes = 4}, ROWS_ONE);

    (void)state;
    assert_string_equal(r.rows.text, "0/F F 0 **** | 1/F F 0 RRRR | 2/7 F 7 000R | "
                                     "4/8 0 0 RRRX | 3/7 0 0 XXXX");
    done(&r);
    static const char last[] = "bssy b0, L3; bra t==3, L3, b0; exit; L3: bsync.soft b0; exit";
    expect_trace(last, 4, "maxpc", 0, "0/F 1/F 3/8 2/7 4/8");
    expect_trace(last, 4, "rr", 0, "0/F 1/F 3/8 2/7 4/8");
}

static void lanes_released_at_two_pcs_go_on_apart(void **state)
{
    struct run r = run_with("bssy b0, L5; bra t<2, L4, b0; bsync b0; bra L6; L4: bsync b0\n"
                            "L5: nop; L6: exit",
                            "minpc", (struct sm_options){.lanes = 4}, ROWS_TABLE);

    (void)state;
    assert_non_null(strstr(r.rows.text, "| 4/3 0:5/3 1:3/C |"));
    done(&r);
}

#define LOOP_WITH_BREAK(fix)                                                                    \
    "bssy b0, L8; L1: bssy b1, L5; bra t==3, L8, b0; bra t%2, L5, b1; nop; L5: bsync.soft b1\n" \
    "mov i, i+1; bra i<2, L1, b0; L8: " fix " bsync.soft b0; exit"

static void a_break_out_of_a_region_is_a_deadlock_that_names_the_missing_lane(void **state)
{
    struct run r = run_with(LOOP_WITH_BREAK(""), "minpc", (struct sm_options){.lanes = 4},
                            ROWS_ONE);
    struct emu_warp *w = &r.m->block.warp[0];
    struct emu_hang hang;

    (void)state;
    assert_int_equal(r.m->report, SM_DEADLOCK);
    assert_int_equal(sm_members(w, 0), 0xF);
    assert_int_equal(sm_blocked(w, 0), 0x8);
    assert_int_equal(sm_members(w, 1), 0xF);
    assert_int_equal(sm_blocked(w, 1), 0x7);
    explain(r.m, false, &hang);
    assert_int_equal(hang.kind, EMU_HANG_CONVERGENCE);
    assert_string_equal(
        hang.detail,
        "convergence deadlock: lanes wait at a convergence barrier for lanes that cannot reach it\n"
        "warp 0 lane 3 (blocked at bsync.soft b0, pc 0x100000080) waits at convergence barrier b0 (group 1) for "
        "lanes 0-2 (blocked at bsync.soft b1, pc 0x100000050)\n"
        "warp 0 lanes 0-2 (blocked at bsync.soft b1, pc 0x100000050) wait at convergence barrier b1 (group 2) for "
        "lane 3 (blocked at bsync.soft b0, pc 0x100000080)");
    done(&r);
}

static void bbreak_frees_a_lane_that_leaves_a_region(void **state)
{
    (void)state;
    expect_totals(LOOP_WITH_BREAK("bbreak b1;"), 4, "minpc", 0, 22, 58);
}

static void trip_counts_that_depend_on_the_lane_converge_after_the_loop(void **state)
{
    static const char text[] = "bssy b0, L3; L1: mov i, i+1; bra i<=t, L1, b0\n"
                               "L3: bsync.soft b0; exit";

    (void)state;
    expect_totals(text, 4, "minpc", 0, 12, 32);
    expect_trace(text, 4, "minpc", 0,
                 "0/F 1/F 2/F 1/E 2/E 1/C 2/C 1/8 2/8 3/8 3/7 4/F");
}

/* ---- docs/reference/machine.md, sections 1 and 2 --------------------------------------- */

static void a_cta_barrier_in_a_divergent_arm_needs_soft_barriers(void **state)
{
    static const char hard[] = "bssy b0, J; bra t<2, J, b0; bar 0; J: bsync b0; bra t>=2, K; "
                               "bar 0; K: exit";
    static const char soft[] = "bssy b0, J; bra t<2, J, b0; bar 0; J: bsync.soft b0; "
                               "bra t>=2, K; bar 0; K: exit";
    struct run r = run_with(hard, "rr", (struct sm_options){.lanes = 4}, NO_ROWS);
    struct emu_hang hang;

    (void)state;
    assert_int_equal(r.m->report, SM_DEADLOCK);
    explain(r.m, false, &hang);
    assert_int_equal(hang.kind, EMU_HANG_CONVERGENCE);
    assert_non_null(strstr(hang.detail, "lanes 0,1 (blocked at bsync b0"));
    assert_non_null(strstr(hang.detail, "wait at convergence barrier b0 (group 1) for lanes 2,3 (waiting at CTA "
                                        "barrier 0"));
    assert_non_null(strstr(hang.detail, "CTA barrier 0: 2 of 4 live lanes arrived: warp 0 lanes 2,3 (pc 0x1000000"));
    assert_non_null(strstr(hang.detail, "); missing: warp 0 lanes 0,1 (blocked at bsync b0"));
    done(&r);
    expect_hang_report(soft, 4, "rr", SM_ENDS);
}

static void saved_barrier_registers_never_stop_progress(void **state)
{
    static const char text[] =
        "bssy b0, L5; bssy b1, L3; call F; L3: bsync b1; nop; L5: bsync b0; exit\n"
        "F:  mov x, b0; push x; bssy b0, J; bra lane==0, J, b0; call G; bra J; nop\n"
        "J:  bsync b0; pop x; mov b0, x; ret\n"
        "G:  mov x, b0; push x; bssy b0, K; nop; K:  bsync b0; pop x; mov b0, x; ret";

    (void)state;
    for (unsigned i = 0; emu_policy_names[i] != NULL; i++)
        expect_hang_report(text, 2, emu_policy_names[i], SM_ENDS);
}

static void lanes_that_call_two_functions_run_each_once(void **state)
{
    (void)state;
    expect_trace("bssy b0, R; call F if t%2==0 else G, b0; R: bsync b0; exit\n"
                 "F: nop; ret; G: nop; ret",
                 4, "rr", 0, "0/F 1/F 6/A 4/5 7/A 5/5 2/F 3/F");
    expect_trace("bssy b0, R; call F if t%2==0 else G, b0; R: bsync b0; exit\n"
                 "F: nop; ret; G: nop; ret",
                 4, "minpc", 0, "0/F 1/F 4/5 5/5 2/5 6/A 7/A 2/A 3/F");
}

static void bssy_that_leaves_a_group_releases_its_waiting_lanes(void **state)
{
    static const char text[] = "bssy b0, J; bra t==0, L; J: bsync b0; st [0], 1; exit\n"
                               "L: bssy b0, K; L2: ld f, [0]; bra f==0, L2; K: bsync b0; exit";
    static const char give[] = "bssy b0, J; bra t==0, L; J: bsync b0; st [0], 1; exit\n"
                               "L: mov b0, x; L2: ld f, [0]; bra f==0, L2; exit";

    (void)state;
    expect_hang_report(text, 4, "rr", SM_ENDS);
    expect_hang_report(give, 4, "rr", SM_ENDS);
}

static void positions_never_launched_count_at_a_counted_barrier(void **state)
{
    struct run r = run_with("bra t<4, A; bar 1, 32; exit; A: bar.arrive 1, 32; st [0], 1; exit",
                            "minpc", (struct sm_options){.lanes = 8, .threads = 20}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(sm_memory(r.m, 0), 1);
    done(&r);
}

static void misuse_of_cta_barriers_is_a_fault_that_says_which(void **state)
{
    (void)state;
    expect_fault("bra t<2, A; bar 1, 32; A: bar 1, 64; exit", 4, "rr",
                 "lanes use CTA barrier 1 with different thread counts before the barrier is released: 32 lanes, then 64 lanes");
    expect_fault("bra t<2, A; bar 1, 32; A: bar 1; exit", 4, "rr", "different thread counts");
    expect_fault("bar.arrive 1, 64; bar.arrive 1, 64; exit", 4, "minpc",
                 "lane 0 arrives at CTA barrier 1 twice before the barrier is released");
    expect_fault("@t>0 bar 3, 2; exit", 4, "minpc",
                 "3 lanes arrive at CTA barrier 3, but its thread count is 2");
}

static void a_barrier_completes_when_the_missing_lanes_exit(void **state)
{
    struct run r = run_with("bra warp, A; bar 0; st [0], 1; exit; A: nop; exit", "rr_quantum",
                            (struct sm_options){.lanes = 4, .threads = 12}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(sm_memory(r.m, 0), 1);
    assert_int_equal(r.m->block.threads_live, 0);
    done(&r);
}

static void warpsync_lets_disjoint_groups_wait_at_once(void **state)
{
    (void)state;
    expect_trace("bra t%2, L; warpsync 5; exit; L: warpsync 10; exit", 4, "minpc", 0,
                 "0/F 1/5 2/5 3/A 4/A");
    expect_fault("warpsync 1; exit", 4, "minpc", "own bit");
    expect_hang_report("bra t%2, L; warpsync 15; exit; L: nop; warpsync 15; exit", 4, "rr", SM_ENDS);
}

static void lanes_that_wait_with_different_masks_are_distinguished(void **state)
{
    struct run r = run_with("bra t%2, L; warpsync 15; exit; L: warpsync 11 if t==1 else 12; exit",
                            "minpc", (struct sm_options){.lanes = 4}, NO_ROWS);
    struct emu_hang hang;

    (void)state;
    assert_int_equal(r.m->report, SM_DEADLOCK);
    explain(r.m, false, &hang);
    assert_int_equal(hang.kind, EMU_HANG_DEADLOCK);
    assert_non_null(strstr(hang.detail, "lanes 0,2 (waiting at a warpsync with mask 0xf, pc "
                                        "0x100000010) wait for"));
    assert_non_null(strstr(hang.detail, "(at least one of these with another mask)"));
    done(&r);
}

static void a_hard_bsync_waits_for_a_yielded_lane_and_a_soft_one_does_not(void **state)
{
    (void)state;
    expect_hang_report("bssy b0, J; bra t>0, J, b0; yield; J: bsync b0; scalar; exit", 4, "maxpc",
                   SM_ENDS);
    expect_fault("bssy b0, J; bra t>0, J, b0; yield; J: bsync.soft b0; scalar; exit", 4, "maxpc",
                 "pc 4: scalar write by E, live F");
}

static void an_arrival_that_completes_a_barrier_never_waits_there(void **state)
{
    (void)state;
    expect_hang_report("bssy b0, J; bra t>1, J, b0; warpsync 3 if t<2 else 15; J: bsync.soft b0\n"
                   "scalar; exit", 4, "maxpc", SM_ENDS);
    struct run r = run_with("bssy b0, J; bra t>1, J, b0; bar 0, 2; J: bsync.soft b0; scalar; exit",
                            "maxpc", (struct sm_options){.lanes = 4, .threads = 32}, NO_ROWS);
    assert_int_equal(r.m->report, SM_ENDS);
    done(&r);
}

static void the_fairness_window_ends_the_lock_that_minpc_alone_does_not(void **state)
{
    struct run r = run_with(lock_p, "minpc", (struct sm_options){.lanes = 4, .window = 16},
                            NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(r.m->issues, 66);
    done(&r);
}

static void an_exit_inside_a_region_leaves_the_others_together(void **state)
{
    (void)state;
    expect_hang_report("bssy b0, J; bra t==3, X, b0; J: bsync b0; scalar; exit; X: nop; exit", 4, "rr",
                   SM_ENDS);
}

static void one_register_in_two_regions_at_once_keeps_the_groups_apart(void **state)
{
    /* The two halves of the warp execute the same bssy at different times. The two lanes of each half reconverge with each
     * other, and not with the other half. */
    static const char text[] = "bra t<2, A; nop; nop; A: bssy b0, J; bra t%2, O, b0; nop\n"
                               "O: nop; J: bsync b0; st [t], t+1; exit";
    struct run r = run_with(text, "rr", (struct sm_options){.lanes = 4, .merge_off = true},
                            ROWS_TABLE);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_non_null(strstr(r.rows.text, "b0#1=3 b0#2=C"));
    for (int t = 0; t < 4; t++)
        assert_int_equal(sm_memory(r.m, t), t + 1);
    done(&r);
}

static void with_merge_off_splits_at_one_pc_remain_apart(void **state)
{
    static const char text[] = "bra t>=2, L; nop; L: nop; nop; exit";
    struct run r = run_with(text, "minpc_step", (struct sm_options){.lanes = 4}, NO_ROWS);

    (void)state;
    assert_string_equal(r.seq.text, "0/F 1/3 2/F 3/F 4/F");
    assert_int_equal(r.m->core.stats.merges, 1);
    done(&r);
    r = run_with(text, "minpc_step", (struct sm_options){.lanes = 4, .merge_off = true}, NO_ROWS);
    assert_string_equal(r.seq.text, "0/F 1/3 2/3 2/C 3/3 3/C 4/3 4/C");
    done(&r);
}

/* ---- warps -------------------------------------------------------------------------- */

static void a_warp_that_only_yielded_lets_the_other_warps_go_first(void **state)
{
    static const char text[] = "bra warp, A; L: ld f, [0]; yield; bra f==0, L; exit\n"
                               "A: st [0], 1; exit";

    (void)state;
    struct run r = run_with(text, "minpc", (struct sm_options){.lanes = 4, .threads = 8}, NO_ROWS);
    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.seq.text, "0/F 1/F 2/F 0/F 5/F 6/F 3/F 1/F 2/F 3/F 4/F");
    done(&r);
}

static void a_cta_barrier_that_misses_a_warp_names_its_lanes(void **state)
{
    static const char text[] = "bra warp==1, A; bar 2; exit; A: bssy b0, J; bra t%4, J\n"
                               "warpsync 3; exit; J: bsync b0; exit";
    struct run r = run_with(text, "rr", (struct sm_options){.lanes = 4, .threads = 12}, NO_ROWS);
    struct emu_hang hang;

    (void)state;
    assert_int_equal(r.m->report, SM_DEADLOCK);
    explain(r.m, false, &hang);
    assert_non_null(strstr(hang.detail, "CTA barrier 2: 8 of 12 live lanes arrived: warp 0 lanes 0-3 (pc 0x1000000"));
    assert_non_null(strstr(hang.detail, ", warp 2 lanes 0-3 (pc 0x1000000"));
    assert_non_null(strstr(hang.detail, "; missing: warp 1 lane 0 (waiting "
                                        "at a warpsync with mask 0x3, pc 0x100000050), lanes 1-3 "
                                        "(blocked at bsync b0, pc 0x100000070)"));
    done(&r);
    r = run_with("bra warp==1, A; bar 2; exit; A: bar.arrive 1, 64; bar 1, 64; exit", "rr",
                 (struct sm_options){.lanes = 4, .threads = 8}, NO_ROWS);
    assert_int_equal(r.m->report, SM_FAULT);
    done(&r);
    r = run_with("bra warp==1, A; bar 2; exit; A: bar 3; exit", "rr",
                 (struct sm_options){.lanes = 4, .threads = 8}, NO_ROWS);
    assert_int_equal(r.m->report, SM_DEADLOCK);
    explain(r.m, false, &hang);
    assert_int_equal(hang.kind, EMU_HANG_CTA_BARRIER);
    assert_int_equal(hang.warp, 0);
    assert_int_equal(hang.lanes, 0xF);
    assert_int_equal(hang.pc, ISA_CODE_BASE + 16);
    done(&r);
}

static void a_livelock_names_the_pcs_of_the_splits_that_spin(void **state)
{
    struct run r = run_with(lock_n, "rr", (struct sm_options){.lanes = 4}, NO_ROWS);
    struct emu_hang hang;

    (void)state;
    explain(r.m, true, &hang);
    assert_int_equal(hang.kind, EMU_HANG_LIVELOCK);
    assert_int_equal(hang.lanes, 0xE);
    assert_non_null(strstr(hang.detail,
                           "livelock: no store changes memory, no lane exits, and each running warp repeats the same states\n"
                           "warp 0 lane 0 (blocked at bsync.soft b0, pc 0x100000030) waits "
                           "at convergence barrier b0 (group 1) for lanes 1-3 (at pc 0x1000000"));
    assert_non_null(strstr(hang.detail, "\nwarp 0 lanes 1-3 (at pc 0x1000000"));
    done(&r);
}

static void a_hang_report_over_many_warps_fits_its_text(void **state)
{
    struct run r = run_with("bssy b0, J; bra t%2, J; bra t%3, K; bar 1; K: bar 2\n"
                            "J: bsync b0; bar 3; exit",
                            "rr", (struct sm_options){.lanes = 8, .threads = 512}, NO_ROWS);
    struct emu_hang hang;

    (void)state;
    assert_int_equal(r.m->report, SM_DEADLOCK);
    explain(r.m, false, &hang);
    assert_true(strlen(hang.detail) < sizeof hang.detail);
    if (strstr(hang.detail, "...\n... and 42 more lines") == NULL)
        fail_msg("%s", hang.detail + strlen(hang.detail) - 300);
    done(&r);
}

/* ---- sleep and .sync operations ----------------------------------------------------- */

static void sleepers_wake_by_instructions_of_their_block(void **state)
{
    /* Lane 0 sleeps for 6 instructions. The other lanes count meanwhile. */
    struct run r = run_with("bra t==0, S; L: mov i, i+1; bra i<100, L; exit\n"
                            "S: nanosleep 6; st [0], 1; exit",
                            "minpc", (struct sm_options){.lanes = 4, .window = 8}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    /* With minpc the loop runs first. Lane 0 reaches the fairness limit at 9, sleeps from 10 to 16, and runs 8
     * instructions later. */
    assert_non_null(strstr(r.seq.text, "4/1"));
    assert_non_null(strstr(r.seq.text, "5/1"));
    assert_int_equal(r.m->block.sleep_offset, 0);
    done(&r);
}

static void time_jumps_when_all_splits_of_a_block_sleep(void **state)
{
    struct run r = run_with("nanosleep 1000 if warp else 5000; st [warp], 1; exit", "rr",
                            (struct sm_options){.lanes = 4, .threads = 8}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    /* Warp 1 sleeps for a shorter time and wakes first. The emulator advances its clock instead of waiting. */
    assert_string_equal(r.seq.text, "0/F 0/F 1/F 2/F 1/F 2/F");
    assert_int_equal(r.m->issues, 6);
    assert_in_range(r.m->block.sleep_offset, 4900, 5000);
    done(&r);
}

static void a_sleeping_lane_does_not_make_the_block_a_deadlock(void **state)
{
    struct run r = run_with("bssy b0, J; bra t, J; nanosleep 100000; J: bsync b0; scalar; exit",
                            "rr", (struct sm_options){.lanes = 4}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(r.m->issues, 7);
    done(&r);
}

static void the_last_arrival_runs_a_sync_operation_for_all(void **state)
{
    /* The odd lanes arrive two instructions later than the even lanes. */
    struct run r = run_with("bra t%2, L; bra M; L: nop; nop; M: sync d, 15; nop; exit", "maxpc",
                            (struct sm_options){.lanes = 4, .merge_off = true}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_string_equal(r.seq.text, "0/F 2/A 3/A 4/A 1/5 4/5 4/F 5/F 6/F");
    for (unsigned l = 0; l < 4; l++)
        assert_int_equal(sm_register(r.m, "d", l), 0xF);
    done(&r);
}

static void sync_operations_at_two_pcs_join_but_run_apart(void **state)
{
    struct run r = run_with("bra t%2, L; sync d, 15; exit; L: sync d, 15; exit", "rr",
                            (struct sm_options){.lanes = 4}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    for (unsigned l = 0; l < 4; l++)
        assert_int_equal(sm_register(r.m, "d", l), l % 2 ? 0xA : 0x5);
    done(&r);
}

static void an_exit_lets_a_sync_operation_go_on_without_the_lane(void **state)
{
    struct run r = run_with("bra t==3, X; sync d, 15; nop; exit; X: exit", "minpc",
                            (struct sm_options){.lanes = 4}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(sm_register(r.m, "d", 0), 0x7);
    done(&r);
}

static void tiles_of_a_convergent_warp_sync_in_one_step(void **state)
{
    struct run r = run_with("sync d, 3 if t<2 else 12; exit", "minpc",
                            (struct sm_options){.lanes = 4}, NO_ROWS);

    (void)state;
    assert_string_equal(r.seq.text, "0/F 1/F");
    done(&r);
}

static void guarded_off_lanes_do_not_wait_for_a_sync_operation(void **state)
{
    struct run r = run_with("bra t==0, L; @t!=1 sync d, 13; nop; exit; L: nop; sync d, 13; exit",
                            "minpc_step", (struct sm_options){.lanes = 4}, NO_ROWS);

    (void)state;
    assert_int_equal(r.m->report, SM_ENDS);
    assert_int_equal(sm_register(r.m, "d", 0), 0x1);
    assert_int_equal(sm_register(r.m, "d", 1), 0);
    assert_int_equal(sm_register(r.m, "d", 2), 0xC);
    done(&r);
}

/* ---- random programs ---------------------------------------------------------------- */

static void golden(const char *name, unsigned at_least)
{
    const char *srcdir = getenv("srcdir");
    char path[4096];
    struct golden_result r;

    snprintf(path, sizeof path, "%s/tests/emu/simt/golden/%s.txt", srcdir != NULL ? srcdir : ".",
             name);
    r = golden_run(path);
    if (r.failures != 0)
        fail_msg("%s: %u of %u cases differ; the first: %s", path, r.failures, r.cases, r.first);
    assert_true(r.cases >= at_least);
}
static void random_structured_programs_give_the_models_traces(void **state)
{
    (void)state;
    golden("structured", 130);
}
static void random_jumble_gives_the_models_traces(void **state)
{
    (void)state;
    golden("jumble", 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_if_gives_table_6_5),
        cmocka_unit_test(nested_if_under_the_other_policies_gives_the_sequences_of_6_5),
        cmocka_unit_test(independent_scheduling_gives_the_vectors_of_6_7),
        cmocka_unit_test(a_spin_lock_with_yield_gives_table_6_8),
        cmocka_unit_test(a_spin_lock_with_yield_ends_under_every_policy),
        cmocka_unit_test(a_spin_lock_without_yield_is_a_livelock_under_every_policy),
        cmocka_unit_test(a_spin_lock_released_before_the_barrier_depends_on_the_policy),
        cmocka_unit_test(a_consumer_that_spins_needs_a_fair_policy),
        cmocka_unit_test(lanes_that_skipped_the_bssy_pass_the_bsync),
        cmocka_unit_test(an_exit_releases_waiting_lanes),
        cmocka_unit_test(lanes_released_at_two_pcs_go_on_apart),
        cmocka_unit_test(a_break_out_of_a_region_is_a_deadlock_that_names_the_missing_lane),
        cmocka_unit_test(bbreak_frees_a_lane_that_leaves_a_region),
        cmocka_unit_test(trip_counts_that_depend_on_the_lane_converge_after_the_loop),
        cmocka_unit_test(a_cta_barrier_in_a_divergent_arm_needs_soft_barriers),
        cmocka_unit_test(saved_barrier_registers_never_stop_progress),
        cmocka_unit_test(lanes_that_call_two_functions_run_each_once),
        cmocka_unit_test(bssy_that_leaves_a_group_releases_its_waiting_lanes),
        cmocka_unit_test(positions_never_launched_count_at_a_counted_barrier),
        cmocka_unit_test(misuse_of_cta_barriers_is_a_fault_that_says_which),
        cmocka_unit_test(a_barrier_completes_when_the_missing_lanes_exit),
        cmocka_unit_test(warpsync_lets_disjoint_groups_wait_at_once),
        cmocka_unit_test(lanes_that_wait_with_different_masks_are_distinguished),
        cmocka_unit_test(a_hard_bsync_waits_for_a_yielded_lane_and_a_soft_one_does_not),
        cmocka_unit_test(an_arrival_that_completes_a_barrier_never_waits_there),
        cmocka_unit_test(the_fairness_window_ends_the_lock_that_minpc_alone_does_not),
        cmocka_unit_test(an_exit_inside_a_region_leaves_the_others_together),
        cmocka_unit_test(one_register_in_two_regions_at_once_keeps_the_groups_apart),
        cmocka_unit_test(with_merge_off_splits_at_one_pc_remain_apart),
        cmocka_unit_test(a_warp_that_only_yielded_lets_the_other_warps_go_first),
        cmocka_unit_test(a_cta_barrier_that_misses_a_warp_names_its_lanes),
        cmocka_unit_test(a_livelock_names_the_pcs_of_the_splits_that_spin),
        cmocka_unit_test(a_hang_report_over_many_warps_fits_its_text),
        cmocka_unit_test(sleepers_wake_by_instructions_of_their_block),
        cmocka_unit_test(time_jumps_when_all_splits_of_a_block_sleep),
        cmocka_unit_test(a_sleeping_lane_does_not_make_the_block_a_deadlock),
        cmocka_unit_test(the_last_arrival_runs_a_sync_operation_for_all),
        cmocka_unit_test(sync_operations_at_two_pcs_join_but_run_apart),
        cmocka_unit_test(an_exit_lets_a_sync_operation_go_on_without_the_lane),
        cmocka_unit_test(tiles_of_a_convergent_warp_sync_in_one_step),
        cmocka_unit_test(guarded_off_lanes_do_not_wait_for_a_sync_operation),
        cmocka_unit_test(random_structured_programs_give_the_models_traces),
        cmocka_unit_test(random_jumble_gives_the_models_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
