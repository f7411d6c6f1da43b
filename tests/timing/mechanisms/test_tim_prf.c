/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism prf: fast and slow partition of the register file, hot registers by code and by pilot warps. 13 is a section of
 * the specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

static struct run *prf_new(unsigned hot, unsigned entries)
{
    struct run *r = run_new();

    r->config->prf_on = true;
    r->config->prf_hot = hot;
    r->config->prf_entries = entries;
    return r;
}

static uint64_t counted(const struct run *r, unsigned counter)
{
    return run_engine(r)->stats[0].count[counter];
}

/** Free the run, and return its counts "fast 2r 1w, slow 3r 3w, best 3, 1 pilots". */
static const char *take_counts(struct run *r)
{
    static char text[128];

    assert_int_equal(counted(r, TIM_CORE_register_reads), counted(r, TIM_CORE_prf_fast_reads) + counted(r, TIM_CORE_prf_slow_reads));
    assert_int_equal(counted(r, TIM_CORE_register_writes), counted(r, TIM_CORE_prf_fast_writes) + counted(r, TIM_CORE_prf_slow_writes));
    snprintf(text, sizeof text, "fast %llur %lluw, slow %llur %lluw, best %llu, %llu pilots", (unsigned long long)counted(r, TIM_CORE_prf_fast_reads),
             (unsigned long long)counted(r, TIM_CORE_prf_fast_writes), (unsigned long long)counted(r, TIM_CORE_prf_slow_reads),
             (unsigned long long)counted(r, TIM_CORE_prf_slow_writes), (unsigned long long)counted(r, TIM_CORE_prf_best),
             (unsigned long long)counted(r, TIM_CORE_prf_pilots));
    run_free(r);
    return text;
}

/* ---- which registers are hot ------------------------------------------------------------------------- */

/* v2 has three accesses; v1, v3 and v4 have two. */
#define VECTOR \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_mov_b32 v1, 1\n" \
    "v_mov_b32 v2, 2\n" \
    "v_add_u32 v3, v1, v2\n" \
    "v_add_u32 v4, v3, v2\n" \
    "st.global.b32 [s4:5+vz], v4\n" \
    "exit\n.end\n"

static const char *counts_of(unsigned hot, unsigned entries, unsigned blocks)
{
    struct run *r = prf_new(hot, entries);

    r->config->core_blocks = 1;
    run_text(r, VECTOR, blocks, 32);
    return take_counts(r);
}

/* Of two blocks, the second begins when the pilot, the warp of the first block, has ended. */
static void hot_registers_are_in_the_fast_partition(void **state)
{
    (void)state;
    assert_string_equal(counts_of(TIM_PRF_FIRST, 1, 1), "fast 0r 0w, slow 5r 4w, best 3, 1 pilots");
    assert_string_equal(counts_of(TIM_PRF_FIRST, 3, 1), "fast 3r 2w, slow 2r 2w, best 7, 1 pilots");
    assert_string_equal(counts_of(TIM_PRF_FIRST, 5, 1), "fast 5r 4w, slow 0r 0w, best 9, 1 pilots");
    assert_string_equal(counts_of(TIM_PRF_CODE, 1, 1), "fast 2r 1w, slow 3r 3w, best 3, 1 pilots");
    assert_string_equal(counts_of(TIM_PRF_CODE, 2, 1), "fast 3r 2w, slow 2r 2w, best 5, 1 pilots"); /* v1, the lowest of three */
    assert_string_equal(counts_of(TIM_PRF_PILOT, 1, 2), "fast 2r 1w, slow 8r 7w, best 6, 1 pilots");
    assert_string_equal(counts_of(TIM_PRF_HYBRID, 1, 2), "fast 4r 2w, slow 6r 6w, best 6, 1 pilots");
}

/* The code names v1 four times and v5 twice, but in the loop of ten iterations v5 has more accesses. */
static void a_pilot_counts_iterations(void **state)
{
    static const char loop[] =
        ".kernel k\n"
        "v_mov_b32 v1, 1\n"
        "v_add_u32 v1, v1, v1\n"
        "s_mov_b32 s2, 0\n"
        "loop:\n"
        "v_add_u32 v5, v5, 1\n"
        "s_add_u32 s2, s2, 1\n"
        "s_setp_u32.lt sp0, s2, 10\n"
        "@sp0 s_bra loop\n"
        "exit\n.end\n";

    (void)state;
    for (unsigned hot = TIM_PRF_CODE; hot <= TIM_PRF_HYBRID; hot++) {
        struct run *r = prf_new(hot, 1);

        r->config->core_blocks = 1;
        run_text(r, loop, 3, 32);
        /* In each block v1 has 4 accesses, and v5 has 20. With `code`, v5 is in the fast partition in no block. With the
         * other kinds, it is there in two blocks. */
        assert_int_equal(counted(r, TIM_CORE_prf_fast_reads) + counted(r, TIM_CORE_prf_fast_writes),
                         hot == TIM_PRF_CODE ? 3 * 4 : hot == TIM_PRF_PILOT ? 2 * 20 : 4 + 2 * 20);
        assert_int_equal(counted(r, TIM_CORE_prf_best), 3 * 20);
        run_free(r);
    }
}

/* Four warps begin together. The first one is the pilot, and none of the four can use the pilot's profile. */
static void warps_beside_the_pilot_do_not_use_its_profile(void **state)
{
    struct run *r = prf_new(TIM_PRF_PILOT, 1);

    (void)state;
    run_text(r, VECTOR, 1, 128);
    assert_string_equal(take_counts(r), "fast 0r 0w, slow 20r 16w, best 12, 1 pilots");
}

/* ---- times ------------------------------------------------------------------------------------------- */

/** Return the number of cycles between the issues of two dependent instructions. Registers v0 to v(@entries - 1) are fast. */
static uint64_t distance(unsigned collector, unsigned entries, unsigned slow)
{
    struct run *r = prf_new(TIM_PRF_FIRST, entries);
    uint64_t cycles;

    r->config->registers_collector = collector;
    r->config->prf_slow = slow;
    run_text(r, ".kernel k\nv_mov_b32 v1, 1\nv_add_u32 v2, v1, 1\nv_add_u32 v3, v2, 1\nexit\n.end\n", 1, 32);
    cycles = run_cycle(r, ISA_V_ADD_U32, 0, 1);
    run_free(r);
    return cycles;
}

/* An instruction that issues in cycle t reads in t + 1 and writes in t + 3. A slow source delays both by slow - 1 cycles. A
 * slow result delays only the write by slow - 1 cycles. */
static void slow_rows_take_longer(void **state)
{
    (void)state;
    for (unsigned collector = TIM_COLLECTOR_TICKED; collector <= TIM_COLLECTOR_RESERVED; collector++) {
        assert_int_equal(distance(collector, 4, 3), 3);
        assert_int_equal(distance(collector, 2, 3), 3 + 2);
        assert_int_equal(distance(collector, 1, 3), 3 + 2 + 2);
        assert_int_equal(distance(collector, 1, 1), 3);
        assert_int_equal(distance(collector, 1, 8), 3 + 7 + 7);
    }
}

/** Run two instructions that read v1, and one that needs the result of the second. Return "CYCLE of its issue, CONFLICTS". */
static const char *busy_bank(unsigned collector, unsigned busy)
{
    static char text[32];
    struct run *r = prf_new(TIM_PRF_FIRST, 1);

    r->config->registers_collector = collector;
    r->config->prf_busy = busy;
    run_text(r, ".kernel k\nv_mov_b32 v1, 1\nv_add_u32 v2, v1, 1\nv_add_u32 v3, v1, 2\nv_add_u32 v0, v3, v3\nexit\n.end\n", 1, 32);
    snprintf(text, sizeof text, "%u, %u", (unsigned)run_cycle(r, ISA_V_ADD_U32, 0, 2), (unsigned)counted(r, TIM_CORE_bank_conflicts));
    run_free(r);
    return text;
}

/* All register rows but v0 are slow. Let v1 be written in cycle c. The additions issue in c and c + 1, and may read v1 in c + 3 and c + 4.
 * The second addition writes v3 four cycles after its read. A slow access occupies its bank for 4 cycles:
 *
 *   ticked: the write of v1 occupies the bank until c + 3. The first read occupies it from c + 4 to c + 7 (1 conflict), and the
 *           second read from c + 8 on (4 conflicts). The bank of v3 is occupied in the same way: the write of v3 delays the
 *           first of two reads by 1 cycle, and the second read waits 1 + 4 cycles.
 *   reserved: writes have a port of their own. The reads are in c + 3 and c + 7 (3 conflicts). The second read of v3 waits
 *           4 cycles.
 */
static void a_slow_access_occupies_its_bank(void **state)
{
    (void)state;
    assert_string_equal(busy_bank(TIM_COLLECTOR_TICKED, 1), "8, 1");
    assert_string_equal(busy_bank(TIM_COLLECTOR_TICKED, 4), "12, 11");
    assert_string_equal(busy_bank(TIM_COLLECTOR_RESERVED, 1), "8, 1");
    assert_string_equal(busy_bank(TIM_COLLECTOR_RESERVED, 4), "11, 7");
}

/* ---- low power --------------------------------------------------------------------------------------- */

/* Fast register rows of a warp use less power from the ninth cycle after its last issue on, to the next one. The addition that waits for the load wakes them. */
static void fast_rows_of_an_idle_warp_use_less_power(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_mov_b32 v1, 0\n"
        "ld.global.b32 v2, [s4:5+v1]\n"
        "v_add_u32 v3, v2, 1\n"
        "v_add_u32 v3, v3, 1\n"
        "exit\n.end\n";
    uint64_t cycles[2];

    (void)state;
    for (unsigned wake = 0; wake < 2; wake++) {
        struct run *r = prf_new(TIM_PRF_FIRST, 4);
        uint64_t low = 0;

        r->config->prf_idle = 8;
        r->config->prf_wake = 3 * wake;
        run_text(r, text, 1, 32);
        for (unsigned i = 1; i < r->count; i++) {
            const uint64_t gap = r->issue[i].cycle - r->issue[i - 1].cycle;

            low += gap > 8 ? gap - 8 : 0;
        }
        assert_true(low > 50);
        assert_int_equal(counted(r, TIM_CORE_prf_low), 4 * low);
        assert_int_equal(counted(r, TIM_CORE_prf_wakes), 1);
        assert_int_equal(counted(r, TIM_CORE_prf_slow_rows), (1024 - 4 * r->config->core_warps) * run_engine(r)->gpu[TIM_GPU_cycles]);
        cycles[wake] = run_cycle(r, ISA_V_ADD_U32, 0, 1);
        run_free(r);
    }
    assert_int_equal(cycles[0], 3);
    assert_int_equal(cycles[1], 3 + 3);
}

/* ---- energy and keys --------------------------------------------------------------------------------- */

static void the_command_mechanism_shows_fast_registers(void **state)
{
    struct run *r = prf_new(TIM_PRF_CODE, 2);
    struct tim_mech *mech;
    struct lw_buffer text;
    struct emu_event ev;
    struct lw_error err;

    (void)state;
    r->config->prf_idle = 1;
    run_open(r, VECTOR, 1, 64);
    for (unsigned i = 0; i < 2; i++)
        fix_check(r->fix->engine->ops->step(r->fix->engine, &ev, &r->stop, &err), &err);
    mech = run_engine(r)->core[0]->mechs.mech[0];
    lw_buffer_init(&text);
    mech->row->show(mech, &text.sink);
    if (strstr(text.text, "warp 0: fast registers v1 v2, pilot of its launch") == NULL || strstr(text.text, "warp 1: fast registers v1 v2") == NULL)
        fail_msg("expected the fast registers of both warps, found: %s", text.text);
    lw_buffer_fini(&text);
    run_free(r);
}

static void combinations_without_sense_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"registers.collector=window issue.dependence=control", "prf.on cannot be combined with registers.collector=window"},
        {"lsu.local=4", "prf.on cannot be combined with lsu.local"},
        {"tags.detect=table registers.tags=uniform", "prf.on cannot be combined with registers.tags"},
        {"rows.on=on", "prf.on cannot be combined with mechanism rows"},
        {"orf.on=on", "prf.on cannot be combined with mechanism orf"},
        {"dvfs.on=on", "prf.on cannot be combined with dvfs.on"},
        {"dwf.on=on issue.split_lanes=on", "prf.on cannot be combined with dwf, tbc and lwm"},
        {"core.warps=48 core.registers=32768 prf.entries=22",
         "prf.entries (22) is too large: the register file has 1024 register rows, which are 21 for each of 48 warps"},
    };

    (void)state;
    mech_assert_refused("prf.on=on", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hot_registers_are_in_the_fast_partition),
        cmocka_unit_test(a_pilot_counts_iterations),
        cmocka_unit_test(warps_beside_the_pilot_do_not_use_its_profile),
        cmocka_unit_test(slow_rows_take_longer),
        cmocka_unit_test(a_slow_access_occupies_its_bank),
        cmocka_unit_test(fast_rows_of_an_idle_warp_use_less_power),
        cmocka_unit_test(the_command_mechanism_shows_fast_registers),
        cmocka_unit_test(combinations_without_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
