/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism regless: regions of code, entries of the operand staging unit, values in memory. 13 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

/** Create a machine with an operand staging unit of @entries entries, at most 20, and regions of at most @region registers. */
static struct run *regless_new(unsigned entries, unsigned region)
{
    struct run *r = run_new();

    r->config->regless_on = true;
    r->config->core_registers = 20 * 32;
    r->config->regless_size = entries * 5; /* percent of 20 register rows */
    r->config->regless_region = region;
    r->config->regless_latency = 40;
    return r;
}

static uint64_t counted(const struct run *r, unsigned counter)
{
    return run_engine(r)->stats[0].count[counter];
}

/** Return the counts of a run, "4 regions, 2 found, 2 loaded, 2 written, 0 dropped, 6 dead". */
static const char *counts_of(const struct run *r)
{
    static char text[128];

    assert_int_equal(counted(r, TIM_CORE_regless_wrong), 0);
    snprintf(text, sizeof text, "%u regions, %u found, %u loaded, %u written, %u dropped, %u dead", (unsigned)counted(r, TIM_CORE_regless_regions),
             (unsigned)counted(r, TIM_CORE_regless_hits), (unsigned)counted(r, TIM_CORE_regless_loads),
             (unsigned)counted(r, TIM_CORE_regless_writebacks), (unsigned)counted(r, TIM_CORE_regless_drops),
             (unsigned)counted(r, TIM_CORE_regless_dead));
    return text;
}

/** Run a kernel, compare its counts, and return the cycles of the run. */
static uint64_t assert_counts(struct run *r, const char *text, unsigned threads, const char *expected)
{
    uint64_t cycles;

    run_text(r, text, 1, threads);
    assert_string_equal(counts_of(r), expected);
    cycles = r->fix->engine->ops->cycles(r->fix->engine);
    run_free(r);
    return cycles;
}

#define VECTOR \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_mov_b32 v1, 1\n" \
    "v_mov_b32 v2, 2\n" \
    "v_add_u32 v3, v1, v2\n" \
    "v_add_u32 v4, v3, v2\n" \
    "st.global.b32 [s4:5+vz], v4\n" \
    "exit\n.end\n"

/* One region has all registers. In regions of 2 registers, an instruction with 3 is a region of its own, and finds its sources in the
 * unit: v1 v2 | v1 v2 v3 | v2 v3 v4. The store adds no register to the last one. */
static void code_is_divided_into_regions(void **state)
{
    (void)state;
    assert_counts(regless_new(20, 16), VECTOR, 32, "1 regions, 0 found, 0 loaded, 0 written, 0 dropped, 4 dead");
    assert_counts(regless_new(20, 2), VECTOR, 32, "3 regions, 4 found, 0 loaded, 0 written, 0 dropped, 4 dead");
    assert_counts(regless_new(20, 3), VECTOR, 32, "2 regions, 2 found, 0 loaded, 0 written, 0 dropped, 4 dead");
    assert_counts(regless_new(3, 2), VECTOR, 32, "3 regions, 4 found, 0 loaded, 0 written, 0 dropped, 4 dead");
}

/* The addition that needs the loaded value begins a region. At this addition the address in v2 is dead, too, but v1 is
 * not. */
static void a_load_from_outside_ends_a_region(void **state)
{
    (void)state;
    assert_counts(regless_new(20, 16),
                  ".kernel k\n.param ptr.global out\n"
                  "s_mov_b64 s4:5, c[out]\n"
                  "v_mov_b32 v1, 1\n"
                  "v_mov_b32 v2, 8\n"
                  "ld.global.b32 v3, [s4:5+v2]\n"
                  "v_add_u32 v4, v3, 1\n"
                  "v_add_u32 v5, v4, v1\n"
                  "exit\n.end\n",
                  32, "2 regions, 2 found, 0 loaded, 0 written, 0 dropped, 5 dead");
}

/* Regions v1 v2 | v3 v4 | v3 v4 v5 | v1 v2 v6 with 3 entries. The second evicts v1, the third v2, and the last loads both. v5 and v6 are
 * never read. */
#define EVICTS \
    ".kernel k\n" \
    "v_mov_b32 v1, 1\n" \
    "v_mov_b32 v2, 2\n" \
    "v_mov_b32 v3, 3\n" \
    "v_mov_b32 v4, 4\n" \
    "v_add_u32 v5, v3, v4\n" \
    "v_add_u32 v6, v1, v2\n" \
    "exit\n.end\n"

static void values_that_have_no_entry_are_in_memory(void **state)
{
    uint64_t cycles[2];

    (void)state;
    assert_counts(regless_new(5, 2), EVICTS, 32, "4 regions, 4 found, 0 loaded, 0 written, 0 dropped, 6 dead");
    for (unsigned slow = 0; slow < 2; slow++) {
        struct run *r = regless_new(3, 2);

        r->config->regless_latency = slow ? 140 : 40;
        cycles[slow] = assert_counts(r, EVICTS, 32, "4 regions, 2 found, 2 loaded, 2 written, 0 dropped, 6 dead");
    }
    assert_int_equal(cycles[1], cycles[0] + 100);
}

/* As EVICTS, but v1 and v2 are evicted a second time after they have been loaded, and are then loaded again. The second
 * eviction needs no write, because memory already has their values. */
static void a_value_that_memory_has_is_dropped(void **state)
{
    (void)state;
    assert_counts(regless_new(3, 2),
                  ".kernel k\n"
                  "v_mov_b32 v1, 1\n"
                  "v_mov_b32 v2, 2\n"
                  "v_mov_b32 v3, 3\n"
                  "v_mov_b32 v4, 4\n"
                  "v_add_u32 v5, v3, v4\n"
                  "v_add_u32 v6, v1, v2\n"
                  "v_mov_b32 v3, 3\n"
                  "v_mov_b32 v4, 4\n"
                  "v_add_u32 v5, v3, v4\n"
                  "v_add_u32 v6, v1, v2\n"
                  "exit\n.end\n",
                  32, "7 regions, 4 found, 4 loaded, 2 written, 2 dropped, 10 dead");
}

/** Return the number of cycles between the issues of the two additions of VECTOR, in regions of their own. */
static uint64_t distance(unsigned ports)
{
    struct run *r = regless_new(20, 2);
    uint64_t cycles;

    r->config->regless_ports = ports;
    run_text(r, VECTOR, 1, 32);
    cycles = run_cycle(r, ISA_V_ADD_U32, 0, 1);
    run_free(r);
    return cycles;
}

/* The first addition issues in t and writes v3 in t + 3. In this cycle the warp gets capacity for its next region, whose values v2 and v3 are in
 * the unit: with 2 ports it may issue in t + 4, with 1 port in t + 5. In the same region it would issue in t + 3. */
static void a_warp_issues_when_all_values_of_its_region_are_there(void **state)
{
    struct run *r = regless_new(20, 16);

    (void)state;
    assert_int_equal(distance(2), 4);
    assert_int_equal(distance(1), 5);
    run_text(r, VECTOR, 1, 32);
    assert_int_equal(run_cycle(r, ISA_V_ADD_U32, 0, 1), 3);
    run_free(r);
}

/* Each of two warps needs 4 entries, and there are 5 entries. So the second warp issues its first instruction after the first
 * warp has issued its last one. */
static void a_warp_waits_for_capacity(void **state)
{
    for (unsigned entries = 5; entries <= 8; entries += 3) {
        struct run *r = regless_new(entries, 16);
        uint64_t end = 0, begin = UINT64_MAX;

        (void)state;
        run_text(r, VECTOR, 1, 64);
        assert_string_equal(counts_of(r), "2 regions, 0 found, 0 loaded, 0 written, 0 dropped, 8 dead");
        for (unsigned i = 0; i < r->count; i++) {
            if (r->issue[i].warp == 0)
                end = r->issue[i].cycle;
            else if (r->issue[i].cycle < begin)
                begin = r->issue[i].cycle;
        }
        assert_true((begin > end) == (entries == 5));
        run_free(r);
    }
}

/* Each iteration enters the region of the loop and finds its value there. */
static void a_loop_enters_its_region_in_each_iteration(void **state)
{
    (void)state;
    assert_counts(regless_new(20, 16),
                  ".kernel k\n"
                  "v_mov_b32 v1, 1\n"
                  "s_mov_b32 s2, 0\n"
                  "loop:\n"
                  "v_add_u32 v1, v1, 1\n"
                  "s_add_u32 s2, s2, 1\n"
                  "s_setp_u32.lt sp0, s2, 10\n"
                  "@sp0 s_bra loop\n"
                  "exit\n.end\n",
                  32, "12 regions, 10 found, 0 loaded, 0 written, 0 dropped, 1 dead");
}

/* Both sides of a branch use 3 registers of their own, and the unit has 4 entries. A value that only lanes of the other side
 * read is not dead. */
static void values_of_other_splits_live(void **state)
{
    struct run *r = regless_new(4, 3);

    (void)state;
    run_text(r,
             ".kernel k\n.param ptr.global out\n"
             "s_mov_b64 s4:5, c[out]\n"
             "v_s2r v1, %tid.x\n"
             "v_shl_b32 v2, v1, 2\n"
             "v_mov_b32 v3, 7\n"
             "v_setp_u32.lt p0, v1, 16\n"
             "bssy b0, join\n"
             "@p0 bra side\n"
             "v_add_u32 v4, v3, 5\n"
             "v_add_u32 v4, v4, v1\n"
             "bra join\n"
             "side:\n"
             "v_mov_b32 v6, 6\n"
             "v_add_u32 v7, v6, v6\n"
             "v_add_u32 v4, v7, v3\n"
             "join:\n"
             "bsync b0\n"
             "v_add_u32 v5, v4, 1\n"
             "st.global.b32 [s4:5+v2], v5\n"
             "exit\n.end\n",
             1, 32);
    assert_int_equal(counted(r, TIM_CORE_regless_wrong), 0);
    assert_true(counted(r, TIM_CORE_regless_writebacks) != 0);
    assert_int_equal(counted(r, TIM_CORE_regless_loads), counted(r, TIM_CORE_regless_writebacks) + counted(r, TIM_CORE_regless_drops));
    run_free(r);
}

static void registers_in_use_are_counted(void **state)
{
    struct run *r = regless_new(20, 16);
    uint64_t first = UINT64_MAX;

    (void)state;
    run_text(r, VECTOR, 1, 32);
    first = r->issue[0].cycle;
    assert_true(first / 100 == r->issue[r->count - 1].cycle / 100); /* one window of 100 cycles */
    assert_int_equal(counted(r, TIM_CORE_regless_touched), 4);
    assert_int_equal(counted(r, TIM_CORE_regless_accesses), 9);
    assert_int_equal(counted(r, TIM_CORE_regless_rows_saved), 0);
    run_free(r);
    r = regless_new(5, 16);
    run_text(r, VECTOR, 1, 32);
    assert_int_equal(counted(r, TIM_CORE_regless_rows_saved), 15 * run_engine(r)->gpu[TIM_GPU_cycles]);
    run_free(r);
}

static void combinations_without_sense_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"tags.detect=table registers.tags=uniform", "regless.on cannot be combined with registers.tags"},
        {"rows.on=on", "regless.on cannot be combined with mechanism rows"},
        {"orf.on=on", "regless.on cannot be combined with mechanism orf"},
        {"prf.on=on", "regless.on cannot be combined with mechanism prf"},
        {"dvfs.on=on", "regless.on cannot be combined with dvfs.on"},
        {"ccws.on=on", "regless.on cannot be combined with mechanism ccws"},
        {"issue.policy=swl", "regless.on cannot be combined with mechanism swl"},
        {"core.warps=8 core.threads=256 core.registers=2048 regless.size=25", "the operand staging unit has 16 entries, but a region may use 20 registers"},
        {"core.warps=8 core.threads=256 core.registers=4096 regless.size=25 regless.region=40", "the operand staging unit has 32 entries, but a region may "
                                                                                             "use 40 registers"},
    };

    (void)state;
    mech_assert_refused("regless.on=on", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_divided_into_regions),
        cmocka_unit_test(a_load_from_outside_ends_a_region),
        cmocka_unit_test(values_that_have_no_entry_are_in_memory),
        cmocka_unit_test(a_value_that_memory_has_is_dropped),
        cmocka_unit_test(a_warp_issues_when_all_values_of_its_region_are_there),
        cmocka_unit_test(a_warp_waits_for_capacity),
        cmocka_unit_test(a_loop_enters_its_region_in_each_iteration),
        cmocka_unit_test(values_of_other_splits_live),
        cmocka_unit_test(registers_in_use_are_counted),
        cmocka_unit_test(combinations_without_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
