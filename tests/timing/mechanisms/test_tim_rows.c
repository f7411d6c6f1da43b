/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism rows: states of the register rows, drowsy rows, and register rows that are allocated at writes. 13 is a
 * section of the specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

/** Create a machine with mechanism rows, in which each instruction stays in its pipe for 10 cycles. */
static struct run *rows_new(bool drowsy, bool rename, unsigned wake)
{
    struct run *r = run_new();

    r->config->rows_on = true;
    r->config->rows_drowsy = drowsy;
    r->config->rows_rename = rename;
    r->config->rows_wake = wake;
    r->config->kernels_mixed = r->config->kernels_suspend = !rename;
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        r->config->unit[u].latency = 10;
    return r;
}

static uint64_t counted(const struct run *r, unsigned counter)
{
    return run_engine(r)->stats[0].count[counter];
}

/** Compare the text of the shell command `mechanism`. */
static void assert_shown(const struct run *r, const char *expected)
{
    struct tim_mech *mech = run_engine(r)->core[0]->mechs.mech[0];
    struct lw_buffer text;

    lw_buffer_init(&text);
    mech->row->show(mech, &text.sink);
    assert_string_equal(text.text, expected);
    lw_buffer_fini(&text);
}

/* v1 is written, v2 is computed from v1 and written. */
#define TWO \
    ".kernel k\n" \
    "v_mov_b32 v1, 1\n" \
    "v_add_u32 v2, v1, 1\n" \
    "exit\n.end\n"

/* Rows: v0, v1, v2. The first instruction issues in cycle t, and v1 is written in t + 11. The second issues in that cycle. With a
 * wake-up of w cycles it reads v1 in t + 12 + w, and writes v2 in t + 22 + w. So rows are on in the cycles
 *
 *   v1: t + 11 - w to t + 11 (write), t + 12 to t + 12 + w (read)    v2: t + 22 to t + 22 + w (write)
 */
static void a_drowsy_row_is_on_while_it_is_accessed(void **state)
{
    (void)state;
    for (unsigned wake = 0; wake < 4; wake++) {
        struct run *r = rows_new(true, false, wake);

        run_text(r, TWO, 1, 32);
        assert_int_equal(run_cycle(r, ISA_V_ADD_U32, 0, 0), 0);
        assert_int_equal(counted(r, TIM_CORE_rows_on), 3 * (1 + wake));
        assert_int_equal(counted(r, TIM_CORE_rows_on) + counted(r, TIM_CORE_rows_drowsy), counted(r, TIM_CORE_rows_named));
        assert_int_equal(counted(r, TIM_CORE_rows_named), 3 * counted(r, TIM_CORE_active_cycles));
        assert_int_equal(counted(r, TIM_CORE_rows_named) + counted(r, TIM_CORE_rows_off), 1024 * run_engine(r)->gpu[TIM_GPU_cycles]);
        run_free(r);
    }
}

/* Two instructions that both read v1 and issue in succession. With a wake-up of 2 cycles v1 is on from the cycle after the first
 * issue, t + 1, to the second read, t + 4: four cycles, not three for each of them. */
static void a_row_of_two_readers_is_counted_once(void **state)
{
    struct run *r = rows_new(true, false, 2);

    (void)state;
    run_text(r, ".kernel k\nv_mov_b32 v1, 1\nv_add_u32 v2, v1, 1\nv_add_u32 v3, v1, 2\nexit\n.end\n", 1, 32);
    /* the writes of v1, v2 and v3 have three cycles each */
    assert_int_equal(counted(r, TIM_CORE_rows_on), 4 + 3 * 3);
    run_free(r);
}

/** Return the number of cycles between the issues of two dependent instructions. */
static uint64_t distance(unsigned collector, unsigned wake, bool drowsy)
{
    struct run *r = rows_new(drowsy, false, wake);
    uint64_t cycles;

    r->config->registers_collector = collector;
    run_text(r, ".kernel k\nv_mov_b32 v1, 1\nv_add_u32 v2, v1, 1\nv_add_u32 v3, v2, 1\nexit\n.end\n", 1, 32);
    cycles = run_cycle(r, ISA_V_ADD_U32, 0, 1);
    run_free(r);
    return cycles;
}

/* A wake-up delays the read. Dependent instructions issue later by the same number of cycles. */
static void a_wake_up_delays_the_read(void **state)
{
    (void)state;
    for (unsigned collector = TIM_COLLECTOR_TICKED; collector <= TIM_COLLECTOR_RESERVED; collector++) {
        const uint64_t none = distance(collector, 0, true);

        assert_int_equal(distance(collector, 3, false), none);
        assert_int_equal(distance(collector, 1, true), none + 1);
        assert_int_equal(distance(collector, 8, true), none + 8);
    }
}

/* The example of 13, with stores in place of the end of the example:
 *
 *   issue of         rows after it      after its read
 *   v1 = 1           v1
 *   v2 = 2           v1 v2
 *   v3 = v1 + v2     v1 v2 v3           v2 v3
 *   v4 = v3 + v2     v2 v3 v4           v4
 *   store v4         v4                 none
 *
 * Without renaming the warp has five rows. */
static void a_register_has_a_row_from_write_to_last_read(void **state)
{
    struct run *r = rows_new(false, true, 1);

    (void)state;
    run_text(r, REGISTER_EXAMPLE(""), 1, 32);
    assert_int_equal(counted(r, TIM_CORE_rows_allocations), 4);
    assert_int_equal(counted(r, TIM_CORE_rows_releases), 4);
    assert_int_equal(counted(r, TIM_CORE_rows_missing), 0);
    assert_int_equal(counted(r, TIM_CORE_rows_named), 5 * counted(r, TIM_CORE_active_cycles));
    assert_shown(r, "0 of 1024 register rows are allocated, at most 3 so far; the resident warps have 0 registers; "
                    "0 register rows are reserved for the oldest block\n");
    run_free(r);
    /* registers below the threshold keep their row */
    r = rows_new(false, true, 1);
    r->config->rows_threshold = 3;
    run_text(r, REGISTER_EXAMPLE(""), 1, 32);
    assert_int_equal(counted(r, TIM_CORE_rows_allocations), 4);
    assert_shown(r, "0 of 1024 register rows are allocated, at most 4 so far; the resident warps have 0 registers; "
                    "0 register rows are reserved for the oldest block\n");
    run_free(r);
    r = rows_new(false, false, 1);
    run_text(r, REGISTER_EXAMPLE(""), 1, 32);
    assert_int_equal(counted(r, TIM_CORE_rows_on), counted(r, TIM_CORE_rows_named));
    assert_shown(r, "0 of 1024 register rows are allocated, at most 5 so far; the resident warps have 0 registers\n");
    run_free(r);
}

/* A value that nothing reads loses its row when it is written. A guarded write keeps the row of the old value. */
static void dead_and_guarded_writes(void **state)
{
    struct run *r = rows_new(false, true, 1);

    (void)state;
    run_text(r, ".kernel k\n.param ptr.global out\ns_mov_b64 s4:5, c[out]\nv_mov_b32 v1, 1\nv_s2r v2, %tid.x\n"
                "v_setp_u32.lt p0, v2, 16\nv_mov_b32 v3, 5\n@p0 v_mov_b32 v3, 6\nst.global.b32 [s4:5+vz], v3\nexit\n.end\n", 1, 32);
    assert_int_equal(counted(r, TIM_CORE_rows_allocations), 3); /* v1, v2, v3 */
    assert_int_equal(counted(r, TIM_CORE_rows_releases), 3);
    assert_int_equal(counted(r, TIM_CORE_rows_missing), 0);
    run_free(r);
}

/* 13: a register is dead only if no other path of the warp can still read it. One side of the branch reads v3 last while the
 * lanes of the other side have not read it yet. */
#define SIDES \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v2, v1, 2\n" \
    "v_mov_b32 v3, 7\n" \
    "v_setp_u32.lt p0, v1, 16\n" \
    "bssy b0, join\n" \
    "@p0 bra side\n" \
    "v_add_u32 v4, v3, 1\n" \
    "v_add_u32 v4, v4, 1\n" \
    "bra join\n" \
    "side:\n" \
    "v_add_u32 v4, v3, 2\n" \
    "v_add_u32 v4, v4, 2\n" \
    "join:\n" \
    "bsync b0\n" \
    "st.global.b32 [s4:5+v2], v4\n" \
    "exit\n.end\n"

static void a_register_of_another_path_keeps_its_row(void **state)
{
    (void)state;
    for (unsigned engine = 0; emu_reconv_names[engine] != NULL; engine++) {
        struct run *r = rows_new(false, true, 1);

        r->config->core_reconvergence = engine;
        run_text(r, SIDES, 1, 32);
        assert_int_equal(counted(r, TIM_CORE_rows_missing), 0);
        assert_int_equal(counted(r, TIM_CORE_rows_releases), counted(r, TIM_CORE_rows_allocations));
        run_free(r);
    }
}

/** Run 6 blocks of 2 warps with 8 registers, of which at most 5 are live, on a core with @rows rows. Return the cycles. Sets
 *  *held to the number of cycles in which all warps that could issue were throttled. */
static uint64_t crowded(bool rename, unsigned reserve, unsigned rows, uint64_t *held)
{
    struct run *r = rows_new(false, rename, 1);
    uint64_t cycles;

    r->config->rows_reserve = reserve;
    r->config->core_registers = rows * 32;
    r->config->core_register_unit = 32;
    run_text(r, ".kernel k\n.param ptr.global out\n"
                "s_mov_b64 s4:5, c[out]\n"
                "v_s2r v1, %tid.x\n"
                "v_shl_b32 v2, v1, 2\n"
                "v_mov_b32 v4, 0\n"
                "loop:\n"
                "ld.global.b32 v3, [s4:5+v2]\n"
                "v_add_u32 v5, v3, 1\n"
                "v_add_u32 v6, v5, 1\n"
                "v_add_u32 v7, v6, v4\n"
                "st.shared.b32 [v2], v7\n"
                "bar.sync 0\n"
                "v_add_u32 v4, v4, 1\n"
                "v_setp_u32.lt p0, v4, 6\n"
                "@p0 bra loop\n"
                "exit\n.shared 1024\n.end\n", 6, 64);
    *held = run_engine(r)->stats[0].sched[0].reason[0][TIM_STALL_THROTTLED];
    cycles = run_engine(r)->gpu[TIM_GPU_cycles];
    assert_int_equal(counted(r, TIM_CORE_rows_missing), 0);
    assert_int_equal(counted(r, TIM_CORE_blocks), 6);
    run_free(r);
    return cycles;
}

/* All blocks end, although warps wait for rows and the warps of a block wait for each other. If the register file has space
 * for one block, renaming lets two blocks be resident. With rows.reserve block, the second block gets only rows that the
 * first one never needs. With rows.reserve warp the second warp of the first block may wait, too. */
static void no_block_waits_for_ever(void **state)
{
    uint64_t held, was, one = crowded(false, 0, 16, &was), two = crowded(false, 0, 32, &was);

    (void)state;
    assert_int_equal(was, 0);
    assert_true(crowded(true, TIM_ROWS_BLOCK, 16, &held) < one);
    assert_true(held != 0);
    crowded(true, TIM_ROWS_WARP, 16, &held);
    assert_true(held != 0);
    /* with rows for three warps, a small reserve is enough for two blocks */
    assert_true(crowded(true, TIM_ROWS_WARP, 24, &held) <= two);
    assert_int_equal(held, 0);
    assert_true(crowded(true, TIM_ROWS_BLOCK, 24, &held) < one);
    assert_true(held != 0);
}

/* Block 0 has 2 warps with 8 registers each, and the file has 16 rows, so block 1 gets none before block 0 ends. */
static void why_shows_the_rows(void **state)
{
    struct run *r = rows_new(false, true, 1);
    struct tim_mech *holder = NULL;
    struct lw_buffer text;
    struct lw_error err;

    (void)state;
    r->config->core_registers = 16 * 32;
    r->config->core_register_unit = 32;
    run_open(r, ".kernel k\nv_mov_b32 v1, 1\nv_add_u32 v2, v1, 1\nv_add_u32 v7, v2, v1\nexit\n.end\n", 2, 64);
    const struct tim_core *core = run_engine(r)->core[0];
    for (unsigned i = 0; i < 100 && holder == NULL; i++) {
        fix_check(tim_engine_run_cycles(r->fix->engine, 1, &r->stop, &err), &err);
        if (core->warp[2].used && core->warp[2].split >= 0)
            holder = tim_core_holder(core, 2);
    }
    assert_non_null(holder);
    lw_buffer_init(&text);
    holder->row->why(holder, 2, &text.sink);
    if (strstr(text.text, "new register rows for its next instruction: 1; free register rows: 1") != text.text)
        fail_msg("found: %s", text.text);
    lw_buffer_fini(&text);
    run_go(r);
    run_free(r);
}

static void assert_refused(const char *set, const char *part)
{
    struct tim_config *config = NULL;
    struct lw_error err;
    char copy[512], *at = copy;

    fix_check(tim_config_default(&config, &err), &err);
    snprintf(copy, sizeof copy, "%s", set);
    for (char *word = strsep(&at, " "); word != NULL; word = strsep(&at, " "))
        fix_check(tim_config_set(config, word, &err), &err);
    assert_int_equal(tim_config_check(config, &err), LW_EINPUT);
    if (strstr(err.text, part) == NULL)
        fail_msg("expected a message with \"%s\", found: %s", part, err.text);
    tim_config_destroy(config);
}

static void combinations_without_sense_are_refused(void **state)
{
    const char rename[] = "rows.on=on rows.rename=on kernels.mixed=off kernels.suspend=off";
    char set[256];

    (void)state;
    assert_refused("rows.on=on rows.rename=on kernels.suspend=off", "kernels.mixed=off");
    assert_refused("rows.on=on rows.rename=on kernels.mixed=off", "kernels.suspend=off");
    assert_refused("rows.on=on tags.detect=table registers.tags=uniform", "registers.tags");
    assert_refused("rows.on=on dvfs.on=on", "dvfs.on");
    assert_refused("rows.on=on rows.drowsy=on registers.collector=window issue.dependence=control", "registers.collector=window");
    assert_refused("rows.on=on rows.drowsy=on lsu.local=4", "lsu.local");
    for (unsigned i = 0; i < 3; i++) {
        static const char *const other[] = {"swl", "ccws", "daws"};

        snprintf(set, sizeof set, "%s %s.on=on", rename, other[i]);
        assert_refused(set, other[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drowsy_row_is_on_while_it_is_accessed),
        cmocka_unit_test(a_row_of_two_readers_is_counted_once),
        cmocka_unit_test(a_wake_up_delays_the_read),
        cmocka_unit_test(a_register_has_a_row_from_write_to_last_read),
        cmocka_unit_test(dead_and_guarded_writes),
        cmocka_unit_test(a_register_of_another_path_keeps_its_row),
        cmocka_unit_test(no_block_waits_for_ever),
        cmocka_unit_test(why_shows_the_rows),
        cmocka_unit_test(combinations_without_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
