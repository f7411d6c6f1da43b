/* SPDX-License-Identifier: Apache-2.0 */
/* Tests watchpoints and catchpoints of the debugger (debug/). The kernel in watch.s has stores of all sizes to all spaces. */
#include "tests/debug/debug_fixture.h"

#include "debug/debug_priv.h"

static unsigned watch(struct fix *f, uint64_t address, unsigned bytes, unsigned access,
                      const char *condition)
{
    struct lw_error err = {0};
    unsigned id = 0;

    if (dbg_watch_add(f->dbg, DBG_OWNER_SHELL, fix_focus(f), address, bytes, access, condition,
                      NULL, &id, &err) != LW_OK)
        fix_fail("watch", &err);
    return id;
}

static unsigned catch(struct fix *f, unsigned catches, const char *condition)
{
    struct lw_error err = {0};
    unsigned id = 0;

    if (dbg_catch_add(f->dbg, DBG_OWNER_SHELL, catches, condition, false, &id, &err) != LW_OK)
        fix_fail("catch", &err);
    return id;
}

static unsigned line_of(struct fix *f, uint64_t pc)
{
    const char *file;
    unsigned line = 0;

    assert_true(dbg_source_at(f->dbg, pc, &file, &line));
    return line;
}

/* Checks that @stop is a hit of watchpoint @point by lanes @lanes at an instruction of line @line, and that the watched value was
 * @old before the instruction and @now after it. */
static void expect_watch(struct fix *f, const struct dbg_stop *stop, unsigned point,
                         unsigned line, uint64_t lanes, uint64_t old, uint64_t now)
{
    uint8_t before[8] = {0}, behind[8] = {0};

    assert_int_equal(stop->kind, DBG_STOP_WATCH);
    assert_int_equal(stop->point, point);
    assert_int_equal(line_of(f, stop->writer_pc), line);
    assert_int_equal(stop->hit_lanes, lanes);
    assert_int_equal(stop->lane, lw_lowest(lanes));
    assert_int_equal(dbg_lane_get(f->dbg, stop->thread), stop->lane);
    assert_int_equal(stop->pc, fix_thread(f).location.pc);
    memcpy(before, stop->old_bytes, stop->watch_bytes < 8 ? stop->watch_bytes : 8);
    memcpy(behind, stop->new_bytes, stop->watch_bytes < 8 ? stop->watch_bytes : 8);
    assert_int_equal(lw_get64(before), old);
    assert_int_equal(lw_get64(behind), now);
}

/* ---- memory ----------------------------------------------------------------------- */

static void a_global_word_stops_after_each_write_that_changes_it(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, f->out + 16 * 3, 4, DBG_ACCESS_WRITE, NULL);
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, id, 15, 0x08, 0, 1);
    assert_int_equal(stop.watch_address, f->out + 16 * 3);
    assert_int_equal(stop.watch_access, DBG_ACCESS_WRITE);
    assert_int_equal(stop.pc, stop.writer_pc + ISA_WORD_BYTES);
    /* Line 18 writes the value that the word already has, so it causes no stop. */
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void parts_of_words_are_distinguished(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned byte = watch(f, f->out + 16 * 2 + 5, 1, DBG_ACCESS_WRITE, NULL);
    unsigned half = watch(f, f->out + 16 * 6 + 10, 2, DBG_ACCESS_WRITE, NULL);
    unsigned other = watch(f, f->out + 16 * 2 + 6, 1, DBG_ACCESS_WRITE, NULL);
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    (void)other; /* no lane changes the byte that this watchpoint watches */
    expect_watch(f, &stop, byte, 16, 0x04, 0, 4);
    stop = fix_continue(f);
    expect_watch(f, &stop, half, 17, 0x40, 0, 3);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void a_watchpoint_holds_when_a_point_before_it_goes_and_comes(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    uint64_t pc = fix_thread(f).location.pc;
    unsigned at, id;
    struct dbg_stop stop;

    (void)state;
    assert_int_equal(dbg_breakpoint_add(f->dbg, DBG_OWNER_GDB, pc, NULL, false, &at, NULL), LW_OK);
    id = watch(f, UINT64_C(0xF8) << 56 | 4 * 1, 4, DBG_ACCESS_WRITE, NULL);
    (void)id;
    id = watch(f, f->out + 16 * 3, 4, DBG_ACCESS_WRITE, NULL);
    assert_int_equal(dbg_step(f->dbg, fix_focus(f), false, &stop, NULL), LW_OK);
    assert_int_equal(dbg_stoppoint_remove(f->dbg, at, NULL), LW_OK);
    assert_int_equal(dbg_breakpoint_add(f->dbg, DBG_OWNER_GDB, pc, NULL, false, &at, NULL), LW_OK);
    do
        stop = fix_continue(f);
    while (stop.kind == DBG_STOP_WATCH && stop.point != id);
    expect_watch(f, &stop, id, 15, 0x08, 0, 1);
    fix_close(f);
}

static void a_wide_store_of_several_lanes_touches_a_range(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, f->out + 16 * 1 + 8, 32, DBG_ACCESS_WRITE, NULL);
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    /* The watched bytes are the end of lane 1's memory, the memory of lane 2, and the start of lane 3's memory. */
    assert_int_equal(stop.watch_bytes, 32);
    expect_watch(f, &stop, id, 15, 0x0e, 0, UINT64_C(4) << 32 | 3);
    assert_int_equal(lw_get32(stop.new_bytes + 8), 1);
    assert_int_equal(lw_get32(stop.new_bytes + 28), 2);
    fix_close(f);
}

static void shared_memory_is_its_blocks_alone(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 2, 8, 1);
    struct lw_error err;
    unsigned id, shared;
    struct dbg_stop stop;

    (void)state;
    assert_int_equal(dbg_focus_set(f->dbg, DBG_FOCUS_VIEW, 2, &err), LW_OK);
    assert_int_equal(dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 2, ISA_SHARED_BASE + 4 * 5, 4,
                                   DBG_ACCESS_WRITE, NULL, "tile[5]", &id, &err),
                     LW_OK);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 20, 0x20, 0, 5);
    assert_int_equal(stop.thread, 2);
    assert_non_null(strstr(stop.text, "tile[5] was written by lane 5"));
    assert_non_null(strstr(stop.text, "0 -> 5"));
    shared = watch(f, UINT64_C(0xF6) << 56 | UINT64_C(1) << 32 | 4 * 6, 4, DBG_ACCESS_READ, NULL);
    stop = fix_continue(f); /* the hit is in block 1, which is in slot 1; block 0 has ended */
    assert_int_equal(stop.thread, 2);
    assert_int_equal(stop.point, shared);
    while (stop.kind == DBG_STOP_WATCH)
        stop = fix_continue(f);
    assert_true(fix_said(f, "watchpoint 1 on tile[5] is deleted: the block"));
    assert_int_equal(dbg_stoppoint_count(f->dbg), 0);
    fix_close(f);
}

static void local_memory_is_its_lanes_alone(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    struct lw_error err;
    struct dbg_stop stop;
    unsigned id;

    (void)state;
    assert_int_equal(dbg_lane_set(f->dbg, 1, 6, &err), LW_OK);
    id = watch(f, ISA_LOCAL_BASE + 8, 4, DBG_ACCESS_WRITE, NULL);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 25, 0x40, 0, 6);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 26, 0x40, 6, 24);
    (void)watch(f, UINT64_C(0xF7) << 56 | UINT64_C(2) << 32 | 12, 4, DBG_ACCESS_READ, NULL);
    stop = fix_continue(f);
    expect_watch(f, &stop, id + 1, 27, 0x04, 7, 7);
    assert_int_equal(stop.watch_access, DBG_ACCESS_READ);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    assert_true(fix_said(f, "watchpoint 1 is deleted: lane 6, which owns the watched location, has ended"));
    fix_close(f);
}

static void an_atomic_reads_and_writes(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, f->out + 256, 4, DBG_ACCESS_READ, NULL);
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, id, 29, 0xff, 0, 8);
    assert_int_equal(stop.watch_access, DBG_ACCESS_BOTH);
    fix_close(f);
}

/* ---- registers --------------------------------------------------------------------- */

static void a_register_of_a_lane_stops_when_it_changes(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 16, 1);
    struct lw_error err;
    struct dbg_stop stop;
    unsigned id;

    (void)state;
    assert_int_equal(dbg_focus_set(f->dbg, DBG_FOCUS_VIEW, 2, &err), LW_OK);
    assert_int_equal(dbg_lane_set(f->dbg, 2, 5, &err), LW_OK);
    assert_int_equal(dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 2, UINT64_C(0xF0) << 56 | 4 * 14, 4,
                                   DBG_ACCESS_WRITE, NULL, "v14", &id, &err),
                     LW_OK);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 34, 0x20, 0, 7);
    assert_int_equal(stop.thread, 2);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void pairs_and_rows_and_scalars_are_watched_through_the_windows(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    uint64_t f8 = UINT64_C(0xF8) << 56 | UINT64_C(3) << 32 | 4 * 6;
    unsigned pair = watch(f, f8, 8, DBG_ACCESS_WRITE, NULL);
    unsigned row = watch(f, UINT64_C(0xF1) << 56 | 256 * 14, 32, DBG_ACCESS_WRITE, NULL);
    unsigned scalar = watch(f, UINT64_C(0xF2) << 56 | 4 * 2, 4, DBG_ACCESS_WRITE, NULL);
    unsigned pred = watch(f, UINT64_C(0xF3) << 56, 8, DBG_ACCESS_WRITE, NULL);
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, pair, 10, 0x08, 0, f->out + 48);
    stop = fix_continue(f);
    expect_watch(f, &stop, pred, 30, 0x07, 0, 7);
    for (unsigned i = 0; i < 2; i++) {
        stop = fix_continue(f);
        assert_int_equal(stop.kind, DBG_STOP_WATCH);
        assert_int_equal(stop.point, row);
        assert_int_equal(stop.hit_lanes, line_of(f, stop.writer_pc) == 34 ? 0xf8 : 0x07);
    }
    stop = fix_continue(f);
    expect_watch(f, &stop, scalar, 40, 0xff, 0, 77);
    stop = fix_continue(f);
    expect_watch(f, &stop, scalar, 41, 0xff, 77, 78);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void reads_of_a_register_are_seen(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, UINT64_C(0xF0) << 56 | 4 * 11, 4, DBG_ACCESS_READ, "lane == 0");
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, id, 15, 0x01, 4, 4);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 16, 0x01, 4, 4);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

/* ---- conditions, counts, several stoppoints ---------------------------------------------- */

static void a_condition_is_evaluated_for_each_lane_that_touched_it(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, f->out, 64, DBG_ACCESS_WRITE, "lane >= 2 && v0 < 7");
    struct dbg_stoppoint point;
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, id, 15, 0x0c, UINT64_C(0), UINT64_C(2) << 32 | 1);
    assert_true(dbg_stoppoint_at(f->dbg, 0, &point));
    assert_int_equal(point.hits, 1);
    fix_close(f);
}

static void hits_to_be_ignored_do_not_stop(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, ISA_LOCAL_BASE + 8, 4, DBG_ACCESS_BOTH, NULL);
    struct lw_error err;
    struct dbg_stop stop;
    struct dbg_stoppoint point;

    (void)state;
    assert_int_equal(dbg_stoppoint_ignore(f->dbg, id, 1, &err), LW_OK);
    assert_int_equal(dbg_stoppoint_ignore(f->dbg, 99, 1, &err), LW_ENOENT);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 26, 0x01, 0, 0);
    assert_true(dbg_stoppoint_at(f->dbg, 0, &point));
    assert_int_equal(point.hits, 2);
    assert_int_equal(point.ignore, 0);
    fix_close(f);
}

static void a_disabled_watchpoint_costs_and_does_nothing(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, f->out, 4, DBG_ACCESS_WRITE, NULL);
    struct lw_error err;

    (void)state;
    assert_non_null(f->engine->observers);
    assert_int_equal(dbg_stoppoint_enable(f->dbg, id, false, &err), LW_OK);
    assert_null(f->engine->observers);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void two_points_of_one_instruction_are_both_reported(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned first = watch(f, f->out, 4, DBG_ACCESS_WRITE, NULL);
    unsigned second = watch(f, f->out + 16, 4, DBG_ACCESS_WRITE, NULL);
    struct dbg_stoppoint point;
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, first, 15, 0x01, 0, 1);
    assert_non_null(strstr(stop.text, "also hit: watchpoint or catchpoint 2"));
    assert_true(dbg_stoppoint_at(f->dbg, second - 1, &point));
    assert_int_equal(point.hits, 1);
    fix_close(f);
}

static void a_breakpoint_after_the_write_is_hit_as_well(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, f->out, 4, DBG_ACCESS_WRITE, NULL);
    unsigned at = fix_break(f, 16, NULL);
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, id, 15, 0x01, 0, 1);
    assert_int_equal(stop.breakpoint, at);
    assert_int_equal(stop.breakpoint_lanes, 0xff);
    /* The hit is not reported again. */
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void thousands_of_points_are_distinguished(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 8, 8, 1);
    unsigned stops = 0;
    struct dbg_stop stop;

    (void)state;
    for (unsigned i = 0; i < 2000; i++)
        (void)watch(f, f->in + 2 * i, 2, DBG_ACCESS_BOTH, NULL); /* no lane accesses this memory */
    for (unsigned i = 0; i < 1000; i++)
        (void)watch(f, f->out + 512 + i, 1, DBG_ACCESS_BOTH, NULL);
    (void)watch(f, f->out + 16 * 7 + 5, 1, DBG_ACCESS_WRITE, "ctaid.x == 0");
    for (stop = fix_continue(f); stop.kind == DBG_STOP_WATCH; stop = fix_continue(f)) {
        stops++;
        assert_int_equal(stop.point, 3001);
    }
    assert_int_equal(stop.kind, DBG_STOP_ENDED);
    assert_true(stops >= 1);
    fix_close(f);
}

/* ---- steps ------------------------------------------------------------------------------ */

static void a_step_that_touches_it_stops_for_it(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id = watch(f, f->out + 16, 4, DBG_ACCESS_WRITE, NULL);
    struct dbg_stop stop = {0};
    struct lw_error err;

    (void)state;
    assert_int_equal(dbg_step_range(f->dbg, 1, fix_line(f, 8), fix_line(f, 20), false, &stop,
                                    &err),
                     LW_OK);
    expect_watch(f, &stop, id, 15, 0x02, 0, 1);
    fix_close(f);
}

static void what_others_touch_while_a_lane_waits_stops_its_step(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 16, 1);
    struct dbg_stop stop = {0};
    struct lw_error err;
    unsigned id = watch(f, f->out + 16 * 9, 4, DBG_ACCESS_WRITE, NULL); /* the word that warp 1, lane 1 writes */

    (void)state;
    while (stop.kind != DBG_STOP_WATCH) {
        assert_int_equal(dbg_step(f->dbg, 1, false, &stop, &err), LW_OK);
        assert_true(stop.kind == DBG_STOP_WATCH || stop.kind == DBG_STOP_STEP);
    }
    expect_watch(f, &stop, id, 15, 0x02, 0, 1);
    assert_int_equal(stop.thread, 2);
    fix_close(f);
}

static void edits_and_copies_of_the_host_are_no_writes(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    struct lw_error err;
    uint32_t value = 9;

    (void)state;
    (void)watch(f, f->out + 2048, 4, DBG_ACCESS_BOTH, NULL);
    (void)watch(f, UINT64_C(0xF0) << 56 | 4 * 14, 4, DBG_ACCESS_WRITE, "v14 == 5");
    assert_int_equal(emu_global_write(f->machine, f->out + 2048, &value, 4, &err), LW_OK);
    assert_int_equal(dbg_mem_write(f->dbg, 1, f->out + 2048, &value, 4), 4);
    assert_int_equal(dbg_assign(f->dbg, 1, 0, "v14 = 5", &err), LW_OK);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

static void a_replayed_command_is_no_write(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    struct dbg_stop stop;
    struct lw_error err;
    unsigned v8;

    (void)state;
    assert_int_equal(dbg_history_start(f->dbg, 0, NULL, NULL, NULL, &err), LW_OK);
    for (unsigned i = 0; i < 5; i++)
        (void)fix_step(f, false);
    assert_int_equal(dbg_assign(f->dbg, 1, 0, "v8 = 9", &err), LW_OK);
    for (unsigned i = 0; i < 2; i++)
        (void)fix_step(f, false);
    v8 = watch(f, UINT64_C(0xF0) << 56 | 4 * 8, 4, DBG_ACCESS_WRITE, NULL);
    (void)watch(f, UINT64_C(0xF0) << 56 | 4 * 10, 4, DBG_ACCESS_WRITE, NULL); /* written by the instruction after the command */
    do
        assert_int_equal(dbg_reverse_continue(f->dbg, &stop, &err), LW_OK);
    while (stop.kind == DBG_STOP_WATCH && stop.point != v8);
    assert_int_equal(stop.kind, DBG_STOP_WATCH);
    assert_int_equal(line_of(f, stop.writer_pc), 11); /* v_mov_b32 v8, 1 */
    fix_close(f);
}

/* ---- reports of a reverse search, and instructions that it executes --------------------------- */

static void next_says_where_the_lanes_are_that_it_lost(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);

    (void)state;
    while (fix_lane_line(f, 0) != 10)
        assert_int_equal(fix_step_line(f, true).kind, DBG_STOP_STEP);
    assert_false(fix_said(f, "lanes"));
    (void)fix_step_line(f, true);
    assert_true(fix_said(f, "lanes 0xaa are at diverge+0xa0 (diverge.s:17)\n"));
    fix_close(f);
}

static void a_range_step_says_so_and_a_single_step_does_not(void **state)
{
    struct fix *f = fix_open("exits.s", 8, 1, 8, 1);
    struct dbg_stop stop;
    struct lw_error err;

    (void)state;
    assert_int_equal(dbg_lane_set(f->dbg, 1, 5, &err), LW_OK);
    assert_int_equal(dbg_step_range(f->dbg, 1, fix_line(f, 5), fix_line(f, 8), false, &stop,
                                    &err),
                     LW_OK);
    assert_int_equal(stop.lane, 5);
    assert_true(fix_said(f, "lanes 0x07 have exited\n"));
    fix_close(f);
    f = fix_open("exits.s", 8, 1, 8, 1);
    assert_int_equal(dbg_lane_set(f->dbg, 1, 5, &err), LW_OK);
    for (unsigned i = 0; i < 3; i++)
        (void)fix_step(f, false);
    assert_false(fix_said(f, "exited"));
    fix_close(f);
}

static void a_lane_that_waits_for_its_own_warp_lets_no_other_warp_run(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 16, 1);
    struct lw_error err;
    struct dbg_thread other;

    (void)state;
    assert_int_equal(dbg_lane_set(f->dbg, 1, 1, &err), LW_OK); /* lane 1 takes the shorter side, and waits at its end */
    while (fix_lane_line(f, 1) != 21) {
        struct dbg_stop stop = fix_step(f, false);

        assert_int_equal(stop.kind, DBG_STOP_STEP);
        assert_int_equal(stop.lane, 1);
    }
    assert_true(fix_said(f, "lane 1 waits at convergence barrier b0 for lanes 0x55: meanwhile other lanes and warps ran"));
    assert_true(dbg_thread_get(f->dbg, 2, &other));
    assert_int_equal(other.location.pc, ISA_CODE_BASE);
    fix_close(f);
}

static void finish_follows_the_lane_when_others_return_first(void **state)
{
    struct fix *f = fix_open("calls.s", 8, 1, 8, 1);
    struct lw_error err;
    struct lw_buffer out;
    struct dbg_frame frame;

    (void)state;
    lw_buffer_init(&out);
    /* Lane 7 has the deepest recursion. Lower lanes return before it does. */
    (void)fix_run(f, "break sum if lane == 7 && v3 == 5", &out);
    assert_int_equal(fix_continue(f).lane, 7);
    assert_true(dbg_frame_at(f->dbg, 1, 7, 2, &frame));
    assert_true(frame.function != NULL && !frame.function->kernel);
    assert_false(dbg_frame_at(f->dbg, 1, 7, 4, &frame));
    assert_int_equal(dbg_stoppoint_enable(f->dbg, 1, false, &err), LW_OK);
    (void)fix_run(f, "finish", &out);
    assert_int_equal(dbg_lane_get(f->dbg, 1), 7);
    assert_int_equal(fix_eval(f, 7, "v3"), 15); /* sum(5) has returned to sum(6) */
    assert_int_equal(fix_eval(f, 7, "v3 == 15"), 1);
    assert_true(dbg_frame_at(f->dbg, 1, 7, 2, &frame));
    assert_false(dbg_frame_at(f->dbg, 1, 7, 3, &frame));
    /* One command leaves the selected frame, which is two levels up. */
    (void)fix_run(f, "up", &out);
    (void)fix_run(f, "finish", &out);
    assert_int_equal(fix_eval(f, 7, "v3"), 28);
    assert_false(dbg_frame_at(f->dbg, 1, 7, 1, &frame));
    lw_buffer_fini(&out);
    fix_close(f);
}

static void a_chosen_frame_ends_when_the_lane_moves(void **state)
{
    struct fix *f = fix_open("calls.s", 8, 1, 8, 1);
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    (void)fix_run(f, "break sum if lane == 3 && v3 == 2", &out);
    (void)fix_continue(f);
    assert_non_null(strstr(fix_run(f, "up", &out), "#1  sum"));
    assert_non_null(strstr(fix_run(f, "where", &out), "selected"));
    (void)fix_run(f, "stepi", &out);
    assert_null(strstr(fix_run(f, "where", &out), "selected"));
    assert_non_null(strstr(fix_run(f, "up 99", &out), "#2  calls"));
    (void)fix_run(f, "lane 4", &out);
    assert_null(strstr(fix_run(f, "where", &out), "selected"));
    lw_buffer_fini(&out);
    fix_close(f);
}

static void expressions_are_displayed_at_every_stop(void **state)
{
    struct fix *f = fix_open("saxpy.s", 8, 1, 8, 1);
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    assert_string_equal(fix_run(f, "display /x tid.x + 16", &out), "1: /x tid.x + 16 = 0x10\n");
    (void)fix_run(f, "display v1", &out);
    (void)fix_run(f, "break 12 if lane == 2", &out);
    (void)fix_run(f, "continue", &out);
    assert_non_null(strstr(out.text, "\n1: /x tid.x + 16 = 0x12\n2: v1 = 8\n"));
    (void)fix_run(f, "undisplay 1", &out);
    (void)fix_run(f, "stepi", &out);
    assert_null(strstr(out.text, "tid.x"));
    assert_non_null(strstr(out.text, "2: v1 = 8\n"));
    (void)fix_run(f, "undisplay", &out);
    assert_null(strstr(fix_run(f, "stepi", &out), "v1 ="));
    lw_buffer_fini(&out);
    fix_close(f);
}

static void until_without_a_location_runs_a_loop_to_its_end(void **state)
{
    struct fix *f = fix_open("diverge.s", 8, 1, 8, 1);
    struct lw_error err;
    struct lw_buffer out;

    (void)state;
    lw_buffer_init(&out);
    assert_int_equal(dbg_lane_set(f->dbg, 1, 6, &err), LW_OK);
    while (fix_lane_line(f, 6) != 14)
        (void)fix_step_line(f, true);
    (void)fix_run(f, "until", &out);
    assert_int_equal(fix_lane_line(f, 6), 15);
    assert_int_equal(fix_eval(f, 6, "v1"), 6);
    lw_buffer_fini(&out);
    fix_close(f);
}

/* ---- inspection of all instructions, or only of those that may access --------------------------- */

/* Makes the debugger inspect every instruction, as it does with a catchpoint of launches after a change of a pc. Otherwise the
 * debugger inspects only instructions that may access a watched range. */
static void look_at_every_instruction(struct fix *f)
{
    f->dbg->pc_changed = true;
    (void)catch(f, DBG_CATCH_LAUNCH, "0");
}

/* A function that sets the stoppoints of a run. */
typedef void points_fn(struct fix *f, unsigned what);

/* Appends the texts of all stops of a run to @out, and returns the number of stops. */
static unsigned record(const char *name, bool every, points_fn *points, unsigned what,
                       struct lw_buffer *out)
{
    struct fix *f = fix_open(name, 8, 2, 16, 2);
    struct dbg_stop stop;
    unsigned count = 0;

    points(f, what);
    if (every)
        look_at_every_instruction(f);
    lw_put(&out->sink, "stops:\n");
    for (stop = fix_continue(f); stop.kind != DBG_STOP_ENDED; stop = fix_continue(f)) {
        assert_true(stop.kind == DBG_STOP_WATCH || stop.kind == DBG_STOP_CATCH);
        lw_printf(&out->sink, "%llu 0x%llx 0x%llx %u %s\n", (unsigned long long)stop.thread,
                  (unsigned long long)stop.writer_pc, (unsigned long long)stop.hit_lanes,
                  stop.catches, stop.text);
        count++;
    }
    fix_close(f);
    return count;
}

/* Checks that the debugger makes the same stops if it inspects all instructions and if it inspects only some. Returns the
 * number of stops. */
static unsigned few_are_all(points_fn *points, unsigned what)
{
    static const char *const names[] = {"watch.s", "team.s", "diverge.s", "calls.s", "saxpy.s",
                                        "stack.s"};
    struct lw_buffer few, all;
    unsigned count = 0;

    lw_buffer_init(&few);
    lw_buffer_init(&all);
    for (size_t i = 0; i < LW_COUNT_OF(names); i++) {
        lw_buffer_clear(&few);
        lw_buffer_clear(&all);
        count += record(names[i], false, points, what, &few);
        (void)record(names[i], true, points, what, &all);
        assert_string_equal(few.text, all.text);
    }
    lw_buffer_fini(&few);
    lw_buffer_fini(&all);
    return count;
}

/* Sets watchpoints on all kinds of registers and memory that can be watched. */
static void watch_all(struct fix *f, unsigned access)
{
    unsigned id;

    for (unsigned i = 0; i < 16; i++)
        (void)watch(f, f->out + 64 * i, 64, access, NULL);
    for (unsigned w = 0; w < 4; w += 3)
        for (unsigned i = 0; i < 16; i++)
            (void)!dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 1 + w, UINT64_C(0xF1) << 56 | 256 * i,
                                 32, access, NULL, NULL, &id, NULL);
    for (unsigned i = 0; i < 4; i++) {
        (void)!dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 1, UINT64_C(0xF2) << 56 | 4 * i, 4, access,
                             NULL, NULL, &id, NULL);
        (void)!dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 2, UINT64_C(0xF3) << 56 | 8 * i, 8, access,
                             NULL, NULL, &id, NULL);
        (void)!dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 3, ISA_SHARED_BASE + 64 * i, 64, access,
                             NULL, NULL, &id, NULL);
        (void)!dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 1, ISA_LOCAL_BASE + 16 * i, 16, access,
                             NULL, NULL, &id, NULL);
        (void)!dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 1, ISA_CONST_BASE + 8 * i, 8, access, NULL,
                             NULL, &id, NULL);
    }
}

static void looking_at_few_instructions_misses_nothing(void **state)
{
    (void)state;
    for (unsigned access = DBG_ACCESS_WRITE; access <= DBG_ACCESS_BOTH; access++)
        assert_true(few_are_all(watch_all, access) > 60);
}

static void catch_all(struct fix *f, unsigned what)
{
    (void)catch(f, what, NULL);
}

static void catching_at_few_instructions_misses_nothing(void **state)
{
    (void)state;
    for (unsigned what = DBG_CATCH_DIVERGE; what <= DBG_CATCH_CONVERGENCE; what *= 2)
        assert_true(few_are_all(catch_all, what) != 0);
}

static void a_watched_loop_goes_on_by_looking_at_all(void **state)
{
    struct fix *f = fix_open("spin.s", 8, 1, 8, 1);
    unsigned id = watch(f, UINT64_C(0xF0) << 56, 4, DBG_ACCESS_WRITE, "v0 % 6000 == 0");
    struct dbg_stop stop;

    (void)state;
    for (unsigned i = 1; i < 4; i++) {
        stop = fix_continue(f);
        expect_watch(f, &stop, id, 7, 0x01, 6000 * i - 1, 6000 * i);
    }
    fix_close(f);
}

static void a_run_with_points_has_the_order_of_one_without(void **state)
{
    uint64_t hash[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct fix *f = fix_open("team.s", 8, 3, 32, 1);

        if (i == 1)
            (void)watch(f, f->out, 64, DBG_ACCESS_BOTH, "0");
        if (i == 2)
            (void)fix_break(f, 13, "0");
        (void)fix_break(f, 21, "ctaid.x == 1");
        assert_int_equal(fix_continue(f).kind, DBG_STOP_BREAKPOINT);
        hash[i] = emu_hash_state(f->machine);
        fix_close(f);
    }
    assert_int_equal(hash[1], hash[0]);
    assert_int_equal(hash[2], hash[0]);
}

/* ---- watchpoints of gdb ----------------------------------------------------------------------- */

static unsigned gdb_watch(struct fix *f, uint64_t address)
{
    struct lw_error err = {0};
    unsigned id = 0;

    if (dbg_watch_add(f->dbg, DBG_OWNER_GDB, dbg_focus_get(f->dbg, DBG_FOCUS_VIEW), address, 4,
                      DBG_ACCESS_WRITE, NULL, NULL, &id, &err) != LW_OK)
        fix_fail("gdb_watch", &err);
    return id;
}

/** Sets a watchpoint of gdb on lane 6's own memory, and then stops in lane 2. */
static unsigned watched_by_six(struct fix *f)
{
    struct lw_error err;
    unsigned id;

    assert_int_equal(dbg_lane_set(f->dbg, 1, 6, &err), LW_OK);
    id = gdb_watch(f, ISA_LOCAL_BASE + 8);
    (void)fix_break(f, 23, "lane == 2");
    assert_int_equal(fix_continue(f).kind, DBG_STOP_BREAKPOINT);
    return id;
}

static void what_gdb_reinserts_belongs_to_the_lane(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    struct lw_error err;
    struct dbg_stop stop;
    unsigned id;

    (void)state;
    id = watched_by_six(f);
    assert_int_equal(dbg_lane_get(f->dbg, 1), 2);
    assert_int_equal(dbg_stoppoint_remove(f->dbg, id, &err), LW_OK);
    id = gdb_watch(f, ISA_LOCAL_BASE + 8);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 25, 0x40, 0, 6);
    /* gdb has resumed twice without the watchpoint, so its next watchpoint at the address is a new one, which watches the focus
     * lane. */
    assert_int_equal(dbg_stoppoint_remove(f->dbg, id, &err), LW_OK);
    assert_int_equal(dbg_lane_set(f->dbg, 1, 3, &err), LW_OK);
    id = gdb_watch(f, ISA_LOCAL_BASE + 12);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 26, 0x08, 0, 8);
    fix_close(f);
}

static void what_is_set_for_a_lane_is_not_another_lanes_before_it(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    struct dbg_lane_ref three = {1, 3}, gone = {99, 3};
    struct lw_error err;
    struct dbg_stop stop;
    unsigned id;

    (void)state;
    id = watched_by_six(f);
    /* The user of gdb deletes the watchpoint, sets one at the same address for lane 3, and then selects lane 2. */
    assert_int_equal(dbg_stoppoint_remove(f->dbg, id, &err), LW_OK);
    assert_int_equal(dbg_watch_add_of(f->dbg, DBG_OWNER_GDB, &three, ISA_LOCAL_BASE + 8, 4,
                                      DBG_ACCESS_WRITE, &id, &err),
                     LW_OK);
    stop = fix_continue(f);
    expect_watch(f, &stop, id, 25, 0x08, 0, 3);
    /* The warp of the watched lane need not be resident yet, but only if local memory is watched, which belongs to one lane. */
    assert_int_equal(dbg_watch_add_of(f->dbg, DBG_OWNER_GDB, &gone, ISA_LOCAL_BASE, 4,
                                      DBG_ACCESS_WRITE, &id, &err),
                     LW_OK);
    assert_int_equal(dbg_watch_add_of(f->dbg, DBG_OWNER_GDB, &gone, ISA_SHARED_BASE, 4,
                                      DBG_ACCESS_WRITE, &id, &err),
                     LW_ERANGE);
    fix_close(f);
}

static void each_watchpoint_of_one_instruction_is_reported_to_gdb(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned first = gdb_watch(f, f->out), second = gdb_watch(f, f->out + 16);
    struct lw_error err;
    uint64_t pc;
    struct dbg_stop stop = fix_continue(f);

    (void)state;
    expect_watch(f, &stop, first, 15, 0x01, 0, 1);
    pc = stop.pc;
    /* gdb removes the watchpoints and inserts them again. */
    assert_int_equal(dbg_stoppoint_remove(f->dbg, first, &err), LW_OK);
    assert_int_equal(dbg_stoppoint_remove(f->dbg, second, &err), LW_OK);
    (void)gdb_watch(f, f->out);
    second = gdb_watch(f, f->out + 16);
    stop = fix_continue(f);
    expect_watch(f, &stop, second, 15, 0x02, 0, 1);
    assert_int_equal(stop.pc, pc);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    fix_close(f);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void what_cannot_be_watched_is_refused(void **state)
{
    static const struct {
        uint64_t address;
        unsigned bytes, access;
    } bad[] = {
        {0,                                        4,  1},
        {ISA_CODE_BASE,                            4,  1},
        {ISA_SHARED_BASE + 255,                    4,  1},
        {ISA_LOCAL_BASE + 64,                      4,  1},
        {UINT64_C(0xF0) << 56 | 4 * 200,           4,  1},
        {UINT64_C(0xF1) << 56 | 4 * 8,             4,  1},
        {UINT64_C(0xF2) << 56 | 4 * 300,           4,  1},
        {UINT64_C(0xF3) << 56 | 8 * 18,            8,  1},
        {UINT64_C(0xF4) << 56,                     8,  1},
        {UINT64_C(0xF5) << 56,                     8,  1},
        {UINT64_C(0xF6) << 56 | UINT64_C(9) << 32, 4,  1},
        {UINT64_C(0xF7) << 56 | UINT64_C(9) << 40, 4,  1},
        {UINT64_C(0xFA) << 56,                     8,  1},
        {UINT64_C(0xFF) << 56,                     8,  1},
        {UINT64_MAX - 2,                           4,  1},
        {ISA_GLOBAL_BASE - 4,                      4,  1},
        {ISA_LOCAL_BASE,                           0,  1},
        {ISA_LOCAL_BASE,                           65, 1},
        {ISA_LOCAL_BASE,                           4,  0},
        {ISA_LOCAL_BASE,                           4,  4},
    };
    struct fix *f = fix_open("watch.s", 8, 1, 8, 1);
    unsigned id;

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(bad); i++) {
        struct lw_error err = {0};

        if (dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 1, bad[i].address, bad[i].bytes,
                          bad[i].access, NULL, NULL, &id, &err) != LW_ERANGE)
            fail_msg("0x%llx was not refused", (unsigned long long)bad[i].address);
        assert_true(strlen(err.text) > 10);
    }
    struct lw_error err = {0};
    assert_int_equal(dbg_watch_add(f->dbg, DBG_OWNER_SHELL, 1, f->out, 4, 1, "nonsense +", NULL,
                                   &id, &err) != LW_OK,
                     true);
    assert_int_equal(dbg_catch_add(f->dbg, DBG_OWNER_SHELL, 0, NULL, false, &id, &err),
                     LW_ERANGE);
    assert_int_equal(dbg_stoppoint_count(f->dbg), 0);
    fix_close(f);
}

/* ---- catchpoints ------------------------------------------------------------------------------ */

static void expect_catch(struct fix *f, unsigned what, unsigned line, uint64_t lanes)
{
    struct dbg_stop stop = fix_continue(f);

    assert_int_equal(stop.kind, DBG_STOP_CATCH);
    assert_int_equal(stop.catches, what);
    assert_int_equal(line_of(f, stop.writer_pc), line);
    assert_int_equal(stop.hit_lanes, lanes);
}

static void each_happening_is_caught(void **state)
{
    struct fix *f = fix_open("watch.s", 8, 1, 8, 2);

    (void)state;
    (void)catch(f, DBG_CATCH_DIVERGE | DBG_CATCH_RECONVERGE, NULL);
    (void)catch(f, DBG_CATCH_ATOMIC, "lane == 4");
    (void)catch(f, DBG_CATCH_LAUNCH, NULL);
    (void)catch(f, DBG_CATCH_CONVERGENCE, "pc >= 0x100000100");
    expect_catch(f, DBG_CATCH_ATOMIC, 29, 0x10); /* the run has not stopped for a launch before, because the session began in
                                                  * the first launch */
    expect_catch(f, DBG_CATCH_DIVERGE, 33, 0xff);
    assert_non_null(strstr(dbg_last_stop(f->dbg)->text,
                           "lanes 0xff diverged at watch+0x190 (watch.s:33); lanes 0x07 continue at "
                           "watch+0x1c0 (watch.s:37); lanes 0xf8 continue at watch+0x1a0"));
    for (unsigned i = 0; i < 2; i++) {
        struct dbg_stop stop = fix_continue(f);

        assert_int_equal(stop.kind, DBG_STOP_CATCH);
        assert_int_equal(line_of(f, stop.writer_pc), 39);
        if (i == 1) /* the lane that arrives second is the last one */
            assert_int_equal(stop.catches, DBG_CATCH_RECONVERGE);
    }
    expect_catch(f, DBG_CATCH_LAUNCH, 8, 0xff);
    expect_catch(f, DBG_CATCH_ATOMIC, 29, 0x10);
    fix_close(f);
}

static void lanes_that_exit_are_caught(void **state)
{
    struct fix *f = fix_open("exits.s", 8, 1, 8, 1);
    struct dbg_stop stop;

    (void)state;
    (void)catch(f, DBG_CATCH_EXIT, NULL);
    stop = fix_continue(f);
    assert_int_equal(stop.kind, DBG_STOP_CATCH);
    assert_int_equal(stop.hit_lanes, 0x07);
    assert_int_equal(stop.lane, 3);
    assert_int_equal(fix_continue(f).kind, DBG_STOP_ENDED);
    assert_true(fix_said(f, "lanes 0xf8 exited"));
    fix_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_global_word_stops_after_each_write_that_changes_it),
        cmocka_unit_test(parts_of_words_are_distinguished),
        cmocka_unit_test(a_watchpoint_holds_when_a_point_before_it_goes_and_comes),
        cmocka_unit_test(a_wide_store_of_several_lanes_touches_a_range),
        cmocka_unit_test(shared_memory_is_its_blocks_alone),
        cmocka_unit_test(local_memory_is_its_lanes_alone),
        cmocka_unit_test(an_atomic_reads_and_writes),
        cmocka_unit_test(a_register_of_a_lane_stops_when_it_changes),
        cmocka_unit_test(pairs_and_rows_and_scalars_are_watched_through_the_windows),
        cmocka_unit_test(reads_of_a_register_are_seen),
        cmocka_unit_test(a_condition_is_evaluated_for_each_lane_that_touched_it),
        cmocka_unit_test(hits_to_be_ignored_do_not_stop),
        cmocka_unit_test(a_disabled_watchpoint_costs_and_does_nothing),
        cmocka_unit_test(two_points_of_one_instruction_are_both_reported),
        cmocka_unit_test(a_breakpoint_after_the_write_is_hit_as_well),
        cmocka_unit_test(thousands_of_points_are_distinguished),
        cmocka_unit_test(a_step_that_touches_it_stops_for_it),
        cmocka_unit_test(what_others_touch_while_a_lane_waits_stops_its_step),
        cmocka_unit_test(edits_and_copies_of_the_host_are_no_writes),
        cmocka_unit_test(a_replayed_command_is_no_write),
        cmocka_unit_test(next_says_where_the_lanes_are_that_it_lost),
        cmocka_unit_test(a_range_step_says_so_and_a_single_step_does_not),
        cmocka_unit_test(a_lane_that_waits_for_its_own_warp_lets_no_other_warp_run),
        cmocka_unit_test(finish_follows_the_lane_when_others_return_first),
        cmocka_unit_test(a_chosen_frame_ends_when_the_lane_moves),
        cmocka_unit_test(expressions_are_displayed_at_every_stop),
        cmocka_unit_test(until_without_a_location_runs_a_loop_to_its_end),
        cmocka_unit_test(looking_at_few_instructions_misses_nothing),
        cmocka_unit_test(catching_at_few_instructions_misses_nothing),
        cmocka_unit_test(a_watched_loop_goes_on_by_looking_at_all),
        cmocka_unit_test(a_run_with_points_has_the_order_of_one_without),
        cmocka_unit_test(what_gdb_reinserts_belongs_to_the_lane),
        cmocka_unit_test(what_is_set_for_a_lane_is_not_another_lanes_before_it),
        cmocka_unit_test(each_watchpoint_of_one_instruction_is_reported_to_gdb),
        cmocka_unit_test(what_cannot_be_watched_is_refused),
        cmocka_unit_test(each_happening_is_caught),
        cmocka_unit_test(lanes_that_exit_are_caught),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
