/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism orf: register-file cache, operand register file and last result file. 13 is a section of the specification of
 * the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

/** @extra: value of key orf.last, which kind compiler uses, and of key orf.liveness, which kind cache uses. */
static struct run *orf_run(unsigned kind, unsigned entries, bool extra, const char *text)
{
    struct run *r = run_new();

    r->config->orf_on = true;
    r->config->orf_kind = kind;
    r->config->orf_entries = entries;
    r->config->orf_last = r->config->orf_liveness = extra;
    run_text(r, text, 1, 32);
    return r;
}

/** Free the run, and return its counts "entries 3r 2w, last 2r 2w, main 0r 0w, 0 written back, 1 dead, 0 flushes, 0 wrong". */
static const char *take_counts(struct run *r)
{
    static char text[256];
    const uint64_t *n = run_engine(r)->stats[0].count;

    snprintf(text, sizeof text, "entries %llur %lluw, last %llur %lluw, main %llur %lluw, %llu written back, %llu dead, %llu flushes, %llu wrong",
             (unsigned long long)n[TIM_CORE_orf_reads], (unsigned long long)n[TIM_CORE_orf_writes], (unsigned long long)n[TIM_CORE_orf_last_reads],
             (unsigned long long)n[TIM_CORE_orf_last_writes], (unsigned long long)n[TIM_CORE_register_reads],
             (unsigned long long)n[TIM_CORE_register_writes], (unsigned long long)n[TIM_CORE_orf_writebacks], (unsigned long long)n[TIM_CORE_orf_dead],
             (unsigned long long)n[TIM_CORE_orf_flushes], (unsigned long long)n[TIM_CORE_orf_wrong]);
    run_free(r);
    return text;
}

/* Two entries: v1 and v2 fill the cache, v3 evicts v1, which is dead, and v4 evicts v2, which is dead. v3 and v4 are in the cache
 * when the warp ends. The main register file has no access. */
static void the_vector_of_the_book_uses_no_main_register_file(void **state)
{
    (void)state;
    assert_string_equal(take_counts(orf_run(TIM_ORF_CACHE, 2, true, REGISTER_EXAMPLE(""))),
                        "entries 5r 4w, last 0r 0w, main 0r 0w, 0 written back, 4 dead, 0 flushes, 0 wrong");
    /* Without liveness, the evictions of v1 and v2 cause two writes. */
    assert_string_equal(take_counts(orf_run(TIM_ORF_CACHE, 2, false, REGISTER_EXAMPLE(""))),
                        "entries 5r 4w, last 0r 0w, main 0r 2w, 2 written back, 2 dead, 0 flushes, 0 wrong");
    /* As long as v1 and v2 are live, their eviction writes them back; then they are read from the main file. v5 evicts v3. */
    assert_string_equal(take_counts(orf_run(TIM_ORF_CACHE, 2, true, REGISTER_EXAMPLE("v_add_u32 v5, v1, v2\n"))),
                        "entries 5r 5w, last 0r 0w, main 2r 2w, 2 written back, 3 dead, 0 flushes, 0 wrong");
}

/* The compiler: v1 and v2 get an entry to their last reads; v3 and v4 are read by the next instruction only. */
static void a_compiler_assigns_values(void **state)
{
    (void)state;
    assert_string_equal(take_counts(orf_run(TIM_ORF_COMPILER, 2, true, REGISTER_EXAMPLE(""))),
                        "entries 3r 2w, last 2r 2w, main 0r 0w, 0 written back, 0 dead, 1 flushes, 0 wrong");
    /* without a last result file, v3 needs an entry while v2 has one, and v4 gets the entry of v3 */
    assert_string_equal(take_counts(orf_run(TIM_ORF_COMPILER, 2, false, REGISTER_EXAMPLE(""))),
                        "entries 5r 4w, last 0r 0w, main 0r 0w, 0 written back, 0 dead, 1 flushes, 0 wrong");
    /* v1 uses the only entry, so v2 gets none */
    assert_string_equal(take_counts(orf_run(TIM_ORF_COMPILER, 1, true, REGISTER_EXAMPLE(""))),
                        "entries 1r 1w, last 2r 2w, main 2r 1w, 0 written back, 0 dead, 1 flushes, 0 wrong");
}

/* v1 is written before a load, and read after the instruction that needs the loaded value. The cache is flushed there. The strand of
 * the compiler ends there, so v1 and v2, the address, are in the main file; v2 is also read in its strand. */
#define LOAD \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_mov_b32 v1, 1\n" \
    "v_mov_b32 v2, 8\n" \
    "ld.global.b32 v3, [s4:5+v2]\n" \
    "v_add_u32 v4, v3, 1\n" \
    "v_add_u32 v5, v4, v1\n" \
    "st.global.b32 [s4:5+v2], v5\n" \
    "exit\n.end\n"

static void a_load_from_outside_ends_the_time_of_values(void **state)
{
    (void)state;
    /* main: the write of v3 and the write-backs of v1, v2; the reads of v3, v1, v2 */
    assert_string_equal(take_counts(orf_run(TIM_ORF_CACHE, 4, true, LOAD)),
                        "entries 3r 4w, last 0r 0w, main 3r 3w, 2 written back, 2 dead, 1 flushes, 0 wrong");
    /* v1 is not read in its strand; v2 is, and is also live after it; v4 and v5 are last results */
    assert_string_equal(take_counts(orf_run(TIM_ORF_COMPILER, 4, true, LOAD)),
                        "entries 1r 1w, last 2r 2w, main 3r 3w, 0 written back, 0 dead, 2 flushes, 0 wrong");
}

/* Both sides of a branch write v4, each in its lanes. No entry may serve a read of lanes that did not write it. */
static void lanes_of_other_splits(void **state)
{
    static const char sides[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shl_b32 v2, v1, 2\n"
        "v_setp_u32.lt p0, v1, 16\n"
        "bssy b0, join\n"
        "@p0 bra side\n"
        "v_mov_b32 v4, 5\n"
        "bra join\n"
        "side:\n"
        "v_mov_b32 v4, 6\n"
        "join:\n"
        "bsync b0\n"
        "v_add_u32 v5, v4, 1\n"
        "st.global.b32 [s4:5+v2], v5\n"
        "exit\n.end\n";
    struct run *r = orf_run(TIM_ORF_CACHE, 4, true, sides);

    (void)state;
    /* v1 is read twice and v2 once from the cache; v4 of both sides; v5 */
    assert_string_equal(take_counts(r), "entries 5r 5w, last 0r 0w, main 0r 0w, 0 written back, 4 dead, 0 flushes, 0 wrong");
    r = orf_run(TIM_ORF_COMPILER, 4, true, sides);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_orf_wrong], 0);
    run_free(r);
}

static void values_are_counted_by_their_reads(void **state)
{
    struct run *r = orf_run(TIM_ORF_CACHE, 2, true, REGISTER_EXAMPLE("v_mov_b32 v1, 3\n"));
    const uint64_t *n = run_engine(r)->stats[0].count;

    (void)state;
    assert_int_equal(n[TIM_CORE_orf_values], 5);        /* v1, v2, v3, v4 and v1 again */
    assert_int_equal(n[TIM_CORE_orf_values_unread], 1); /* the second v1 */
    assert_int_equal(n[TIM_CORE_orf_values_once], 3);
    assert_int_equal(n[TIM_CORE_orf_values_twice], 1);  /* v2 */
    run_free(r);
}

/** Return the cycles of an instruction with three sources in one bank. */
static uint64_t conflicts(bool on, unsigned collector)
{
    struct run *r = run_new();
    uint64_t count;

    r->config->orf_on = on;
    r->config->registers_banks = 1;
    r->config->registers_collector = collector;
    run_text(r, ".kernel k\nv_mov_b32 v1, 1\nv_mov_b32 v2, 2\nv_mov_b32 v3, 3\nv_fma_f32 v4, v1, v2, v3\nexit\n.end\n", 1, 32);
    count = run_engine(r)->stats[0].count[TIM_CORE_bank_conflicts];
    run_free(r);
    return count;
}

static void combinations_without_sense_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"registers.collector=window issue.dependence=control", "orf.on cannot be combined with registers.collector=window"},
        {"lsu.local=4", "orf.on cannot be combined with lsu.local"},
        {"tags.detect=table registers.tags=uniform", "orf.on cannot be combined with registers.tags"},
        {"rows.on=on", "orf.on cannot be combined with mechanism rows"},
        {"dwf.on=on issue.split_lanes=on", "orf.on cannot be combined with dwf, tbc and lwm"},
    };

    (void)state;
    mech_assert_refused("orf.on=on", cases, LW_COUNT_OF(cases));
}

static void entries_need_no_bank(void **state)
{
    (void)state;
    for (unsigned collector = TIM_COLLECTOR_TICKED; collector <= TIM_COLLECTOR_RESERVED; collector++) {
        assert_int_equal(conflicts(false, collector), 3);
        assert_int_equal(conflicts(true, collector), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_of_the_book_uses_no_main_register_file),
        cmocka_unit_test(a_compiler_assigns_values),
        cmocka_unit_test(a_load_from_outside_ends_the_time_of_values),
        cmocka_unit_test(lanes_of_other_splits),
        cmocka_unit_test(values_are_counted_by_their_reads),
        cmocka_unit_test(entries_need_no_bank),
        cmocka_unit_test(combinations_without_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
