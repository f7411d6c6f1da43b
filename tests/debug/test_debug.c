/* SPDX-License-Identifier: Apache-2.0 */
/* Tests threads, focus, stoppoints and steps of the debugger (debug/) on real kernels. */
#include "debug/reverse/dbg_history_priv.h"
#include "tests/debug/debug_fixture.h"

#include <pthread.h>
#include <unistd.h>

/* ---- threads and focus -------------------------------------------------------------- */

static void warps_are_the_same_in_any_order_of_looks_as_they_end(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 6, 24, 1);
    unsigned ended = 0;

    (void)state;
    for (unsigned step = 0; step < 400 && !dbg_ended(f->dbg); step++) {
        unsigned count = dbg_thread_count(f->dbg);
        dbg_thread_id seen[18], last = 0;
        struct dbg_thread thread;
        struct dbg_stop stop;

        assert_true(count != 0 && count <= 18);
        ended = 18 - count > ended ? 18 - count : ended;
        for (unsigned i = count; i-- != 0;) { /* in descending order, because the debugger searches in ascending order */
            assert_true(dbg_thread_at(f->dbg, i, &thread));
            seen[i] = thread.id;
        }
        for (unsigned i = 0; i < count; i++) {
            assert_true(dbg_thread_at(f->dbg, i, &thread));
            assert_true(thread.id > last);
            assert_int_equal(thread.id, seen[i]);
            last = thread.id;
        }
        assert_false(dbg_thread_at(f->dbg, count, &thread));
        assert_int_equal(dbg_step(f->dbg, seen[step * 7 % count], false, &stop, NULL), LW_OK);
    }
    assert_true(ended > 2);
    fix_close(f);
}

static void a_session_starts_at_the_kernels_entry(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    struct dbg_thread thread = fix_thread(f);

    (void)state;
    assert_int_equal(thread.id, 1);
    assert_int_equal(thread.lane, 0);
    assert_int_equal(thread.location.pc, ISA_CODE_BASE);
    assert_int_equal(thread.active, 0xff);
    assert_int_equal(dbg_thread_count(f->dbg), 4);
    assert_false(dbg_ended(f->dbg));
    fix_close(f);
}

static void a_session_with_nothing_to_run_has_ended(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 0);
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    assert_true(dbg_ended(f->dbg));
    assert_int_equal(dbg_focus_get(f->dbg, DBG_FOCUS_RUN), 0);
    assert_int_equal(dbg_continue(f->dbg, &stop, &err), LW_ESTATE);
    fix_close(f);
}

static void threads_are_listed_in_order_and_named(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    struct dbg_thread thread;
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(dbg_thread_at(f->dbg, i, &thread));
        assert_int_equal(thread.id, i + 1);
    }
    assert_false(dbg_thread_at(f->dbg, 4, &thread));
    assert_true(dbg_thread_get(f->dbg, 4, &thread));
    dbg_thread_name(f->dbg, &thread, &text.sink);
    assert_string_equal(text.text, "block(1,0,0) w1 lane 0");
    lw_buffer_clear(&text);
    dbg_thread_state(f->dbg, &thread, &text.sink);
    assert_string_equal(text.text, "pc=0x100000000 active=8/8 state=ready splits=1");
    assert_false(dbg_thread_get(f->dbg, 0, &thread));
    assert_false(dbg_thread_get(f->dbg, 5, &thread));
    assert_false(dbg_thread_get(f->dbg, UINT64_MAX, &thread));
    lw_buffer_fini(&text);
    fix_close(f);
}

static void thread_ids_go_on_in_the_next_launch(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 2);
    struct dbg_stop stop;

    (void)state;
    (void)fix_break(f, 18, "grid == 2");
    stop = fix_continue(f);
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(stop.thread, 5);
    fix_close(f);
}

static void the_focus_lane_is_checked(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 12, 1);
    struct lw_error err;

    (void)state;
    assert_int_equal(dbg_lane_set(f->dbg, 1, 8, &err), LW_ERANGE);
    assert_int_equal(dbg_lane_set(f->dbg, 2, 4, &err), LW_ERANGE); /* lane 4 has no thread */
    assert_int_equal(dbg_lane_set(f->dbg, 2, 3, &err), LW_OK);
    assert_int_equal(dbg_lane_get(f->dbg, 2), 3);
    assert_int_equal(dbg_lane_get(f->dbg, 1), 0);
    assert_int_equal(dbg_focus_set(f->dbg, DBG_FOCUS_VIEW, 2, &err), LW_OK);
    assert_int_equal(dbg_focus_get(f->dbg, DBG_FOCUS_RUN), 1);
    assert_int_equal(dbg_focus_set(f->dbg, DBG_FOCUS_VIEW, 3, &err), LW_ESTATE);
    fix_close(f);
}

/* ---- breakpoints ------------------------------------------------------------------------ */

static void a_breakpoint_stops_each_warp_once(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    struct dbg_stoppoint point;

    (void)state;
    (void)fix_break(f, 18, NULL);
    for (unsigned i = 0; i < 4; i++) {
        struct dbg_stop stop = fix_continue(f);

        assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
        assert_int_equal(stop.thread, i + 1);
        assert_int_equal(stop.hit_lanes, 0xff);
        assert_int_equal(stop.pc, fix_line(f, 18));
        assert_int_equal(fix_focus(f), i + 1);
    }
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    assert_true(dbg_stoppoint_at(f->dbg, 0, &point));
    assert_int_equal(point.hits, 4);
    fix_close(f);
}

static void a_condition_moves_the_focus_to_the_first_lane_where_it_holds(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 4, 16, 1);
    struct dbg_stop stop;

    (void)state;
    (void)fix_break(f, 18, "v0 >= 37 && v0 < 40");
    stop = fix_continue(f);
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(stop.thread, 5); /* threads 32..39 */
    assert_int_equal(stop.lane, 5);
    assert_int_equal(stop.hit_lanes, 0xe0);
    assert_int_equal(dbg_lane_get(f->dbg, 5), 5);
    assert_int_equal(fix_eval(f, 5, "hit_lanes"), 0xe0);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void a_false_condition_changes_nothing(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    struct dbg_stoppoint point;
    float y;

    (void)state;
    (void)fix_break(f, 8, "0");
    (void)fix_break(f, 18, "v0 == 1000");
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    assert_true(dbg_stoppoint_at(f->dbg, 1, &point));
    assert_int_equal(point.hits, 0);
    assert_int_equal(emu_global_read(f->machine, f->out + 4 * 31, &y, 4, NULL), LW_OK);
    assert_true(y == 62.0f);
    fix_close(f);
}

static void warps_of_any_width_are_debugged(void **state)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64};

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(widths); i++) {
        unsigned width = widths[i], last = width - 1;
        struct fix *f = fix_open("diverge.s", width, 1, width, 1);
        uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa) & lw_mask(width);
        char condition[32];
        struct dbg_stop stop;

        snprintf(condition, sizeof condition, "lane == %u", last);
        (void)fix_break(f, 17, condition);
        stop = fix_continue(f);
        assert_int_equal(stop.lane, last);
        assert_true(stop.hit_lanes == UINT64_C(1) << last);
        assert_true(fix_thread(f).active == odd);
        assert_true(fix_eval(f, last, "active") == odd);
        while (fix_lane_line(f, last) != 20)
            assert_int_equal(fix_step(f, false).lane, last);
        assert_int_equal(fix_lane_line(f, 0), 21); /* the side that comes first in the code has run first */
        (void)fix_step(f, false);
        assert_int_equal(fix_lane_line(f, last), 21);
        assert_true(fix_thread(f).active == lw_mask(width));
        assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
        fix_close(f);
    }
}

static void a_wrong_condition_is_refused(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    struct lw_error err;
    unsigned id;

    (void)state;
    assert_int_equal(dbg_breakpoint_add(f->dbg, DBG_OWNER_SHELL, ISA_CODE_BASE, "v0 ==", false, &id,
                                   &err),
                     LW_EUSAGE);
    assert_int_equal(dbg_breakpoint_add(f->dbg, DBG_OWNER_SHELL, ISA_CODE_BASE, "v77 == 1", false,
                                   &id, &err),
                     LW_ENOENT);
    assert_non_null(strstr(err.text, "v0 to v8"));
    assert_int_equal(dbg_breakpoint_add(f->dbg, DBG_OWNER_SHELL, ISA_CODE_BASE + 4, NULL, false,
                                   &id, &err),
                     LW_ERANGE);
    assert_int_equal(dbg_stoppoint_count(f->dbg), 0);
    fix_close(f);
}

static void points_are_disabled_enabled_and_removed(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    unsigned first = fix_break(f, 14, NULL), second = fix_break(f, 18, NULL);
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    assert_int_equal(dbg_stoppoint_enable(f->dbg, first, false, &err), LW_OK);
    stop = fix_continue(f);
    assert_int_equal(stop.point, second);
    assert_int_equal(dbg_stoppoint_enable(f->dbg, first, true, &err), LW_OK);
    assert_int_equal(dbg_stoppoint_remove(f->dbg, second, &err), LW_OK);
    stop = fix_continue(f);
    assert_int_equal(stop.point, first);
    assert_int_equal(stop.thread, 2);
    assert_int_equal(dbg_stoppoint_remove(f->dbg, first, &err), LW_OK);
    assert_int_equal(dbg_stoppoint_remove(f->dbg, first, &err), LW_ENOENT);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void a_temporary_point_stops_once(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 1);
    unsigned id;

    (void)state;
    assert_int_equal(dbg_breakpoint_add(f->dbg, DBG_OWNER_SHELL, fix_line(f, 18), NULL, true, &id,
                                   NULL),
                     LW_OK);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(dbg_stoppoint_count(f->dbg), 0);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

/* Lane 0 leaves the loop immediately. Lanes 2, 4 and 6 execute another iteration. Each arrival of a split at the breakpoint is
 * one hit. */
static void a_point_in_a_loop_hits_at_every_arrival(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    static const uint64_t arrivals[] = {0x55, 0x50, 0x50, 0x40, 0x40};
    struct dbg_stop stop;

    (void)state;
    (void)fix_break(f, 12, NULL);
    /* Each arrival has fewer lanes, as lanes leave the loop after different numbers of iterations. */
    stop = fix_continue(f);
    assert_int_equal(stop.hit_lanes, arrivals[0]);
    for (unsigned i = 0; i < 5; i++) {
        stop = fix_continue(f);
        assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    }
    assert_int_equal(stop.hit_lanes, 0x40);
    assert_int_equal(fix_eval(f, 6, "v1"), 5);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void each_split_that_arrives_hits_on_its_own(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    uint64_t all = 0;
    struct dbg_stop stop;

    (void)state;
    (void)fix_break(f, 20, NULL); /* line 20 is the bsync, which each split reaches at another time */
    for (;;) {
        stop = fix_continue(f);
        if (stop.kind != DBG_STOP_BREAKPOINT)
            break;
        assert_int_equal(all & stop.hit_lanes, 0);
        assert_int_equal(stop.lane, lw_lowest(stop.hit_lanes));
        all |= stop.hit_lanes;
    }
    assert_int_equal(stop.kind, DBG_STOP_ENDED);
    assert_int_equal(all, 0xff);
    fix_close(f);
}

/* Two warps are at the same breakpoint. After a step of the second warp, the first one is not reported again. */
static void a_reported_arrival_is_not_reported_twice(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 16, 1);
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    (void)fix_break(f, 18, NULL);
    stop = fix_continue(f);
    assert_int_equal(stop.thread, 1);
    assert_int_equal(dbg_focus_set(f->dbg, DBG_FOCUS_RUN, 2, &err), LW_OK);
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(stop.thread, 2);
    stop = fix_continue(f);
    assert_int_equal(stop.thread, 2); /* the arrival of thread 2 is reported; that of thread 1 is not reported again */
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

/* An arrival at a breakpoint must be reported once, whoever owns the breakpoint, and whatever operations follow the stop: steps
 * of another split, failing commands, reverse searches, or moves in history. */
static void arrival_once(enum dbg_owner owner)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    struct dbg_written w;
    struct dbg_stop first, stop;
    struct lw_error err = {0};
    uint64_t there, seen;
    unsigned id;

    assert_int_equal(dbg_history_start(f->dbg, 0, NULL, NULL, NULL, &err), LW_OK);
    assert_int_equal(dbg_breakpoint_add(f->dbg, owner, fix_line(f, 20), NULL, false, &id, &err), LW_OK); /* bsync */
    first = fix_continue(f);
    assert_int_equal(first.kind, DBG_STOP_BREAKPOINT);
    there = f->dbg->engine->ops->instructions(f->dbg->engine);
    /* Another split executes a step. */
    assert_int_equal(dbg_lane_set(f->dbg, 1, lw_lowest(0xff & ~first.hit_lanes), &err), LW_OK);
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    there = f->dbg->engine->ops->instructions(f->dbg->engine);
    /* The following operations fail, and must change nothing. */
    assert_int_equal(dbg_goto(f->dbg, 99999999, &stop, &err), LW_ERANGE);
    assert_int_equal(dbg_last_write(f->dbg, 1, 0, "v99", 0, &w, &err) != LW_OK, true);
    /* The following operations only inspect the state, or leave the position and return to it. */
    assert_int_equal(dbg_last_write(f->dbg, 1, 0, "v1", 0, &w, &err), LW_OK);
    assert_int_equal(dbg_goto(f->dbg, 3, &stop, &err), LW_OK);
    assert_int_equal(dbg_goto(f->dbg, 5, &stop, &err), LW_OK);
    assert_int_equal(dbg_goto(f->dbg, there, &stop, &err), LW_OK);
    assert_int_equal(dbg_last_write(f->dbg, 1, 0, "v1", 0, &w, &err), LW_OK);
    seen = first.hit_lanes;
    for (stop = fix_continue(f); stop.kind == DBG_STOP_BREAKPOINT; stop = fix_continue(f)) {
        assert_int_equal(stop.hit_lanes & seen, 0);
        seen |= stop.hit_lanes;
    }
    assert_int_equal(stop.kind, DBG_STOP_ENDED);
    assert_int_equal(seen, 0xff);
    /* If the instructions are executed again from an earlier position, the lanes arrive again. */
    assert_int_equal(dbg_goto(f->dbg, 3, &stop, &err), LW_OK);
    stop = fix_continue(f);
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(stop.hit_lanes, first.hit_lanes);
    fix_close(f);
}

static void an_arrival_is_reported_once_whatever_comes_between(void **state)
{
    (void)state;
    arrival_once(DBG_OWNER_SHELL);
    arrival_once(DBG_OWNER_GDB);
}

static void a_point_where_the_focus_stands_is_for_the_others(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 16, 1);
    struct dbg_stop stop;

    (void)state;
    (void)fix_break(f, 8, NULL); /* line 8 is the kernel's entry */
    stop = fix_continue(f);
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(stop.thread, 2);
    fix_close(f);
}

static void a_step_onto_a_point_is_a_hit(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    struct dbg_stop stop;

    (void)state;
    (void)fix_break(f, 9, "lane == 6");
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(stop.lane, 6);
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static bool third_lane(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    unsigned *calls = context;

    ++*calls;
    assert_int_equal(dbg_lane_get(dbg, id), lane);
    return lane == 3;
}

static void an_owners_condition_is_evaluated_with_each_lane_in_focus(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    unsigned calls = 0, id = fix_break(f, 18, NULL);
    struct dbg_stop stop;

    (void)state;
    assert_int_equal(dbg_stoppoint_set_condition(f->dbg, id, third_lane, &calls, NULL, NULL),
                     LW_OK);
    stop = fix_continue(f);
    assert_int_equal(calls, 8);
    assert_int_equal(stop.lane, 3);
    assert_int_equal(stop.hit_lanes, 8);
    fix_close(f);
}

/* ---- stepping a split warp --------------------------------------------------------------- */

static void to_divergence(struct fix *f)
{
    assert_int_equal(fix_lane_line(f, 0), 5);
    while (fix_lane_line(f, 0) < 10)
        (void)fix_step(f, false);
    (void)fix_step(f, false); /* the branch */
}

static void divergence_does_not_move_the_focus(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    struct lw_error err;

    (void)state;
    assert_int_equal(dbg_lane_set(f->dbg, 1, 5, &err), LW_OK);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(fix_step(f, false).lane, 5);
    assert_int_equal(fix_lane_line(f, 5), 17); /* the side of the branch for odd lanes */
    assert_int_equal(fix_lane_line(f, 0), 12);
    assert_int_equal(fix_thread(f).active, 0xaa);
    assert_int_equal(fix_thread(f).lane, 5);
    fix_close(f);
}

static void a_step_moves_only_the_split_of_the_focus_lane(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);

    (void)state;
    to_divergence(f);
    assert_int_equal(fix_lane_line(f, 0), 12);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(fix_step(f, false).kind, DBG_STOP_STEP);
    assert_int_equal(fix_lane_line(f, 0), 14);
    assert_int_equal(fix_lane_line(f, 1), 17); /* lane 1 must be at its old position */
    assert_int_equal(fix_eval(f, 1, "v1"), 0);
    fix_close(f);
}

static void a_step_at_a_convergence_barrier_lets_the_others_come(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    struct dbg_stop stop;

    (void)state;
    to_divergence(f);
    while (fix_lane_line(f, 0) != 20)
        (void)fix_step(f, false);
    assert_int_equal(fix_lane_line(f, 1), 17);
    assert_false(fix_said(f, "waits"));
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(stop.lane, 0);
    assert_int_equal(fix_lane_line(f, 0), 21); /* the step ends directly after the barrier */
    assert_int_equal(fix_lane_line(f, 7), 21);
    assert_int_equal(fix_eval(f, 7, "v1"), 107);
    assert_true(fix_said(f, "lane 0 waits at convergence barrier b0 for lanes 0x"));
    assert_true(fix_said(f, "other lanes and warps ran"));
    fix_close(f);
}

static void a_locked_step_names_what_it_waits_for(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    struct dbg_stop stop;

    (void)state;
    to_divergence(f);
    while (fix_lane_line(f, 0) != 20)
        (void)fix_step(f, true);
    stop = fix_step(f, true);
    assert_int_equal(stop.kind, DBG_STOP_BLOCKED);
    assert_non_null(strstr(stop.text, "b0"));
    assert_int_equal(fix_lane_line(f, 1), 17); /* no other lane has run */
    stop = fix_step(f, true);
    assert_int_equal(stop.kind, DBG_STOP_BLOCKED);
    /* If other warps may run, the step succeeds. The lane has already arrived at the barrier, so its next instruction is the
     * one after the barrier. */
    assert_int_equal(fix_lane_line(f, 0), 21);
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(fix_lane_line(f, 0), 22);
    fix_close(f);
}

static void a_step_at_a_block_barrier_lets_other_warps_run(void **state)
{
    struct fix *f = fix_open("team.s", 8, 1, 24, 1);
    unsigned line = 0;
    struct dbg_stop stop;

    (void)state;
    while ((line = fix_lane_line(f, 0)) != 12)
        (void)fix_step(f, false);
    stop = fix_step(f, true);
    assert_int_equal(stop.kind, DBG_STOP_BLOCKED);
    assert_non_null(strstr(stop.text, "CTA barrier 0 for warps 1 2"));
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(stop.thread, 1);
    assert_int_equal(fix_lane_line(f, 0), 14);
    assert_true(fix_said(f, "waits at CTA barrier 0"));
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    uint32_t word;
    assert_int_equal(emu_global_read(f->machine, f->out, &word, 4, NULL), LW_OK);
    assert_int_equal(word, 231);
    fix_close(f);
}

static void a_point_hit_by_another_warp_ends_the_step_there(void **state)
{
    struct fix *f = fix_open("team.s", 8, 1, 24, 1);
    struct dbg_stop stop;

    (void)state;
    while (fix_lane_line(f, 0) != 12)
        (void)fix_step(f, false);
    (void)fix_break(f, 10, NULL);
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_BREAKPOINT);
    assert_int_equal(stop.thread, 2);
    assert_int_equal(fix_focus(f), 2);
    fix_close(f);
}

static void an_exiting_focus_lane_hands_over_to_the_lowest_live_one(void **state)
{
    struct fix *f;
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    f = fix_open("exits.s", 8, 1, 8, 1);
    assert_int_equal(dbg_lane_set(f->dbg, 1, 1, &err), LW_OK);
    while (fix_lane_line(f, 1) != 7)
        (void)fix_step(f, false);
    stop = fix_step(f, false); /* lanes 0 to 2 exit */
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(stop.lane, 3);
    assert_true(fix_said(f, "lane 1 has exited; the focus is on lane 3"));
    fix_close(f);
}

static void an_ended_focus_warp_hands_over_to_the_next(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 2);
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    while (fix_lane_line(f, 0) != 23)
        (void)fix_step(f, false);
    stop = fix_step(f, false);
    assert_int_equal(stop.thread, 2);
    assert_true(fix_said(f, "block(0,0,0) w0 has ended; the focus is on block(0,0,0) w1"));
    /* At the end of a launch the step continues in the next launch. */
    assert_int_equal(dbg_step_range(f->dbg, 2, 0, UINT64_MAX, false, &stop, &err), LW_OK);
    assert_int_equal(stop.thread, 3);
    assert_int_equal(dbg_step_range(f->dbg, 3, 0, UINT64_MAX, false, &stop, &err), LW_OK);
    assert_int_equal(dbg_step_range(f->dbg, 4, 0, UINT64_MAX, false, &stop, &err), LW_OK);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(stop.thread, 5);
    assert_true(fix_said(f, "of the next launch"));
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    assert_true(dbg_ended(f->dbg));
    fix_close(f);
}

static void the_last_step_ends_the_session(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    assert_int_equal(dbg_step_range(f->dbg, 1, 0, UINT64_MAX, true, &stop, &err), LW_OK);
    assert_int_equal(stop.kind, DBG_STOP_ENDED);
    assert_int_equal(dbg_step(f->dbg, 1, false, &stop, &err), LW_ESTATE);
    fix_close(f);
}

static void a_range_step_ends_where_the_lane_leaves_the_range(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    assert_int_equal(dbg_lane_set(f->dbg, 1, 6, &err), LW_OK);
    while (fix_lane_line(f, 6) != 12)
        (void)fix_step(f, false);
    /* The step executes the whole loop, of which lane 6 executes six iterations. */
    assert_int_equal(dbg_step_range(f->dbg, 1, fix_line(f, 12), fix_line(f, 15), false, &stop,
                                    &err),
                     LW_OK);
    assert_int_equal(stop.kind, DBG_STOP_STEP);
    assert_int_equal(fix_lane_line(f, 6), 15);
    assert_int_equal(fix_eval(f, 6, "v1"), 6);
    assert_int_equal(fix_lane_line(f, 1), 17);
    fix_close(f);
}

/* ---- lines and frames ---------------------------------------------------------------------- */

static void next_runs_through_a_call_and_step_goes_in(void **state)
{
    struct fix *f = fix_open("calls.s", 8, 1, 8, 1);

    (void)state;
    while (fix_lane_line(f, 0) != 9)
        (void)fix_step_line(f, true);
    (void)!dbg_lane_set(f->dbg, 1, 4, NULL);
    assert_int_equal(fix_step_line(f, false).kind, DBG_STOP_STEP);
    assert_int_equal(fix_lane_line(f, 4), 17); /* the step has entered sum */
    for (unsigned i = 0; i < 6; i++)
        (void)fix_step_line(f, true);
    assert_int_equal(fix_lane_line(f, 4), 23);
    (void)fix_step_line(f, true); /* step over the recursive call */
    assert_int_equal(fix_lane_line(f, 4), 24);
    assert_int_equal(fix_eval(f, 4, "v3"), 6); /* the result is the sum 3 + 2 + 1 */
    fix_close(f);
}

static void frames_follow_the_abi_at_every_instruction(void **state)
{
    struct fix *f = fix_open("calls.s", 8, 1, 8, 1);
    unsigned depth = 0, deepest = 0;
    struct dbg_frame frame, outer;

    (void)state;
    (void)!dbg_lane_set(f->dbg, 1, 3, NULL);
    while (!dbg_ended(f->dbg) && fix_lane_line(f, 3) != 0) {
        unsigned count = 0;
        const struct isa_insn *insn;
        uint64_t pc;

        while (dbg_frame_at(f->dbg, 1, 3, count, &frame))
            count++;
        assert_true(dbg_frame_at(f->dbg, 1, 3, 0, &frame));
        if (frame.function->kernel && depth != 0)
            fail_msg("lost frames at line %u", fix_lane_line(f, 3));
        /* Every frame except the kernel's is one of sum, and its call is directly before its return address. */
        for (unsigned i = 0; i < count; i++) {
            assert_true(dbg_frame_at(f->dbg, 1, 3, i, &frame));
            if (frame.function->kernel != (i + 1 == count))
                fail_msg("frame %u of %u is %s at line %u", i, count, frame.function->name,
                         fix_lane_line(f, 3));
            assert_int_equal(frame.cfa >> 56, 0xF4);
            assert_int_equal(frame.cfa >> 32 & 0xff, 3);
            if (i + 1 < count) {
                uint64_t ra = 0;

                assert_true(dbg_frame_at(f->dbg, 1, 3, i + 1, &outer));
                assert_int_equal(outer.cfa, frame.cfa + 8);
                assert_int_equal(dbg_mem_read(f->dbg, 1, frame.cfa - 8, &ra, 8), 8);
                assert_int_equal(ra, outer.pc);
            }
        }
        assert_int_equal(count, depth + 1);
        assert_true(dbg_frame_at(f->dbg, 1, 3, 0, &frame));
        pc = frame.pc;
        insn = emu_program_insn(f->program, pc);
        (void)fix_step(f, false);
        if (insn->op == ISA_CALL)
            depth++;
        if (insn->op == ISA_RET)
            depth--;
        deepest = depth > deepest ? depth : deepest;
    }
    assert_int_equal(deepest, 4);
    fix_close(f);
}

static void the_frames_of_lanes_are_their_own(void **state)
{
    struct fix *f = fix_open("calls.s", 8, 1, 8, 1);
    struct dbg_frame a, b;

    (void)state;
    (void)fix_break(f, 18, "v3 == 0 && lane == 7");
    assert_int_equal(fix_continue(f).lane, 7);
    assert_true(dbg_frame_at(f->dbg, 1, 7, 8, &a));
    assert_false(dbg_frame_at(f->dbg, 1, 7, 9, &a));
    assert_true(dbg_frame_at(f->dbg, 1, 7, 0, &a));
    assert_true(dbg_frame_at(f->dbg, 1, 6, 0, &b));
    assert_int_not_equal(a.cfa, b.cfa);
    fix_close(f);
}

static void finish_returns_to_the_caller(void **state)
{
    struct fix *f = fix_open("calls.s", 8, 1, 8, 1);
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    (void)fix_break(f, 23, "lane == 5");
    assert_int_equal(fix_continue(f).lane, 5);
    assert_int_equal(fix_eval(f, 5, "v3"), 4);
    (void)fix_run(f, "delete", &out);
    (void)fix_run(f, "finish", &out);
    assert_int_equal(fix_lane_line(f, 5), 10);
    assert_int_equal(fix_eval(f, 5, "v3"), 15);
    lw_buffer_fini(&out);
    fix_close(f);
}

static void finish_in_the_kernel_is_refused(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    struct lw_error err = {0};
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    assert_int_equal(lw_command_run(&f->set, "finish", &out.sink, &err), LW_ESTATE);
    assert_non_null(strstr(err.text, "saxpy is the kernel"));
    lw_buffer_fini(&out);
    fix_close(f);
}

static void until_stops_for_the_focus_lane_only(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 16, 1);
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    (void)fix_run(f, "warp 1", &out);
    (void)fix_run(f, "lane 3", &out);
    (void)fix_run(f, "until 18", &out);
    assert_int_equal(fix_focus(f), 2);
    assert_int_equal(fix_lane_line(f, 3), 18);
    assert_int_equal(dbg_stoppoint_count(f->dbg), 0);
    lw_buffer_fini(&out);
    fix_close(f);
}

/* ---- faults, ends, interrupts ---------------------------------------------------------------- */

static void a_fault_stops_on_the_first_faulting_lane(void **state)
{
    struct fix *f = fix_open("wild.s", 8, 1, 16, 1);
    struct dbg_stop stop = fix_continue(f);
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    assert_int_equal(stop.kind, DBG_STOP_FAULT);
    assert_int_equal(stop.fault.kind, EMU_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(stop.thread, 1);
    assert_int_equal(stop.lane, 5);
    assert_int_equal(stop.fault.lanes, 0xe0);
    assert_int_equal(fix_lane_line(f, 5), 12);
    assert_int_equal(fix_eval(f, 5, "fault_code"), EMU_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(fix_eval(f, 5, "fault_lanes"), 0xe0);
    assert_int_equal(fix_eval(f, 5, "fault_addr"), f->out + 4 * 0x100005);
    dbg_stop_print(f->dbg, &stop, &text.sink);
    assert_non_null(strstr(text.text, "out-of-bounds"));
    assert_non_null(strstr(text.text, "block(0,0,0) w0 lane 5"));
    lw_buffer_fini(&text);
    fix_close(f);
}

static void a_step_into_a_fault_reports_it(void **state)
{
    struct fix *f = fix_open("wild.s", 8, 1, 8, 1);
    struct dbg_stop stop;

    (void)state;
    while (fix_lane_line(f, 0) != 12)
        (void)fix_step(f, false);
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_FAULT);
    assert_int_equal(stop.lane, 5);
    fix_close(f);
}

static void continue_runs_all_launches(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 2, 16, 3);
    float y;

    (void)state;
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    assert_int_equal(f->launches, 0);
    assert_int_equal(emu_global_read(f->machine, f->out + 4 * 10, &y, 4, NULL), LW_OK);
    assert_true(y == 60.0f); /* each of three launches has added 2 * 10 */
    fix_close(f);
}

static void a_deadlock_is_a_stop_with_a_reason(void **state)
{
    struct fix *f = fix_open("stuck.s", 8, 1, 16, 1);
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    assert_int_equal(stop.kind, DBG_STOP_HANG);
    assert_true(stop.hang.detail[0] != '\0');
    /* A step of a lane that waits for other lanes forever must report the hang, and must not run forever. */
    stop = fix_step(f, false);
    assert_int_equal(stop.kind, DBG_STOP_HANG);
    assert_true(stop.hang.detail[0] != '\0');
    fix_close(f);
}

static void *interrupt_soon(void *argument)
{
    struct fix *f = argument;

    usleep(50000);
    dbg_interrupt(f->dbg);
    return NULL;
}

static void an_interrupt_stops_a_run_and_keeps_the_focus(void **state)
{
    struct fix *f = fix_open("spin.s", 8, 1, 16, 1);
    struct dbg_stop stop;
    struct lw_error err;
    pthread_t thread;

    (void)state;
    assert_int_equal(dbg_focus_set(f->dbg, DBG_FOCUS_RUN, 2, &err), LW_OK);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, f), 0);
    stop = fix_continue(f);
    pthread_join(thread, NULL);
    assert_int_equal(stop.kind, DBG_STOP_INTERRUPT);
    assert_int_equal(stop.thread, 2);
    /* A step over a range that the lane never leaves can be interrupted, too. */
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, f), 0);
    assert_int_equal(dbg_step_range(f->dbg, 2, 0, UINT64_MAX, false, &stop, &err), LW_OK);
    pthread_join(thread, NULL);
    assert_int_equal(stop.kind, DBG_STOP_INTERRUPT);
    fix_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_starts_at_the_kernels_entry),
        cmocka_unit_test(a_session_with_nothing_to_run_has_ended),
        cmocka_unit_test(warps_are_the_same_in_any_order_of_looks_as_they_end),
        cmocka_unit_test(threads_are_listed_in_order_and_named),
        cmocka_unit_test(thread_ids_go_on_in_the_next_launch),
        cmocka_unit_test(the_focus_lane_is_checked),
        cmocka_unit_test(a_breakpoint_stops_each_warp_once),
        cmocka_unit_test(a_condition_moves_the_focus_to_the_first_lane_where_it_holds),
        cmocka_unit_test(a_false_condition_changes_nothing),
        cmocka_unit_test(warps_of_any_width_are_debugged),
        cmocka_unit_test(a_wrong_condition_is_refused),
        cmocka_unit_test(points_are_disabled_enabled_and_removed),
        cmocka_unit_test(a_temporary_point_stops_once),
        cmocka_unit_test(a_point_in_a_loop_hits_at_every_arrival),
        cmocka_unit_test(each_split_that_arrives_hits_on_its_own),
        cmocka_unit_test(a_reported_arrival_is_not_reported_twice),
        cmocka_unit_test(an_arrival_is_reported_once_whatever_comes_between),
        cmocka_unit_test(a_point_where_the_focus_stands_is_for_the_others),
        cmocka_unit_test(a_step_onto_a_point_is_a_hit),
        cmocka_unit_test(an_owners_condition_is_evaluated_with_each_lane_in_focus),
        cmocka_unit_test(divergence_does_not_move_the_focus),
        cmocka_unit_test(a_step_moves_only_the_split_of_the_focus_lane),
        cmocka_unit_test(a_step_at_a_convergence_barrier_lets_the_others_come),
        cmocka_unit_test(a_locked_step_names_what_it_waits_for),
        cmocka_unit_test(a_step_at_a_block_barrier_lets_other_warps_run),
        cmocka_unit_test(a_point_hit_by_another_warp_ends_the_step_there),
        cmocka_unit_test(an_exiting_focus_lane_hands_over_to_the_lowest_live_one),
        cmocka_unit_test(an_ended_focus_warp_hands_over_to_the_next),
        cmocka_unit_test(the_last_step_ends_the_session),
        cmocka_unit_test(a_range_step_ends_where_the_lane_leaves_the_range),
        cmocka_unit_test(next_runs_through_a_call_and_step_goes_in),
        cmocka_unit_test(frames_follow_the_abi_at_every_instruction),
        cmocka_unit_test(the_frames_of_lanes_are_their_own),
        cmocka_unit_test(finish_returns_to_the_caller),
        cmocka_unit_test(finish_in_the_kernel_is_refused),
        cmocka_unit_test(until_stops_for_the_focus_lane_only),
        cmocka_unit_test(a_fault_stops_on_the_first_faulting_lane),
        cmocka_unit_test(a_step_into_a_fault_reports_it),
        cmocka_unit_test(continue_runs_all_launches),
        cmocka_unit_test(a_deadlock_is_a_stop_with_a_reason),
        cmocka_unit_test(an_interrupt_stops_a_run_and_keeps_the_focus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
