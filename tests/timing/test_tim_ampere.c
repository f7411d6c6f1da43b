/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microbenchmarks on the model `ampere` as shipped, and with keys of a Turing-like GPU. Expected cycles are published
 * (Huerta et al., MICRO 2025), or computed by hand from docs/reference/timing-core.md.
 */
#include "tests/timing/tim_modern.h"

/** Create a machine with one core of this model. Fetches never delay an issue. */
static struct run *ampere_new(void)
{
    struct run *r = calloc(1, sizeof *r);
    struct lw_error err;

    assert_non_null(r);
    fix_check(tim_config_load("ampere", &r->config, &err), &err);
    r->config->core_count = 1;
    r->config->fetch_perfect = true;
    r->config->constant_perfect = true;
    r->config->kernels_latency = 0;
    return r;
}

/* Kernel whose two warps execute different code after a barrier, each on its own scheduler. W1 executes the text of the first
 * %s, and W0 the text of the second. */
static const char *const two_ways = "v_s2r v0, %%tid.x {st=15,y}\nnop {st=15,y}\nv_setp_u32.lt p0, v0, 32 {st=15,y}\n@p0 bra first {st=15,y}\n"
                                    "bar.sync 0 {st=1}\n%sexit {wt=0x3f}\nfirst:\nnop {st=15,y}\nnop {st=15,y}\n"
                                    "bar.sync 0 {st=1}\n%s";

/* ---- issue rates of the units ------------------------------------------------------------------- */

/** Return the cycles between the issues of the first and the last of eight instructions, @one and @other in alternation. */
static uint64_t eight(const char *one, const char *other, bool turing)
{
    struct run *r = ampere_new();
    struct lw_buffer body;
    uint64_t cycles;

    if (turing) /* a floating-point instruction occupies its unit for two cycles */
        r->config->unit[ISA_UNIT_FP].lanes = 16;
    lw_buffer_init(&body);
    for (unsigned i = 0; i < 8; i++)
        lw_printf(&body.sink, i % 2 == 0 ? one : other, 20 + i);
    modern_run(r, body.text, 32);
    lw_buffer_fini(&body);
    cycles = modern_cycle(r, 0, 7) - modern_cycle(r, 0, 0);
    run_free(r);
    return cycles;
}

static void m34_m35_a_unit_of_half_a_warp_takes_an_instruction_in_two_cycles(void **state)
{
    static const char *const add = "v_add_f32 v%u, v1, v2 {st=1}\n", *const integer = "v_add_u32 v%u, v1, v2 {st=1}\n";

    (void)state;
    assert_int_equal(eight(add, add, false), 7);
    assert_int_equal(eight(add, add, true), 14);
    assert_int_equal(eight(add, integer, false), 7);
    assert_int_equal(eight(add, integer, true), 7);
    assert_int_equal(eight(integer, integer, false), 14); /* integer units have half the warp width in both models */
}

/* ---- stall counts and barriers -------------------------------------------------------------------------- */

/** Return the cycles from a load with @field that hits L1 to the instruction that reads its result. */
static uint64_t user_of_load(const char *field)
{
    struct run *r = ampere_new();
    char body[500];
    uint64_t cycles;

    snprintf(body, sizeof body, "v_mov_b64 v8:9, c[out] {st=6}\nld.global.b32 v20, [v8:9] {wr=5,st=2}\n"
                                "nop {wt=0x20,st=15,y}\nnop {st=15,y}\n"
                                "ld.global.b32 v4, [v8:9] {%s}\nv_mov_b32 v5, v4 {wt=1}\n", field);
    modern_run(r, body, 32);
    cycles = modern_cycle(r, 0, 5) - modern_cycle(r, 0, 4);
    run_free(r);
    return cycles;
}

static void m13_a_user_right_after_a_load_does_not_see_its_barrier(void **state)
{
    (void)state;
    assert_int_equal(user_of_load("wr=0,st=1"), 1); /* too early: the barrier counts up only two cycles after the issue */
    assert_int_equal(user_of_load("wr=0,st=2"), 32);
    assert_int_equal(user_of_load("wr=0,st=1,y"), 32);
}

/* The assembler fills in the control fields (tests/isa/test_control.c). The third instruction needs the result of the
 * second 4 cycles later, and the load needs the result of the third 5 cycles later. Moves are integer instructions, and
 * the shipped model's integer unit takes one instruction in two cycles. */
static void m22_an_address_is_ready_a_cycle_later(void **state)
{
    static const unsigned expected[2][4] = {{0, 2, 6, 11}, {0, 1, 5, 10}};

    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        struct run *r = ampere_new();

        if (wide)
            r->config->unit[ISA_UNIT_INT].lanes = 32;
        modern_run(r, "v_mov_b32 v40, vz {st=1}\nv_mov_b32 v43, vz {st=4}\nv_mov_b32 v41, v43 {st=5}\n"
                      "@!pt ld.global.b32 v36, [v40:41] {wr=0}\n", 32);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(modern_cycle(r, 0, i), expected[wide][i]);
        run_free(r);
    }
}

static void m23_half_precision_ends_with_the_next_instruction_and_delays_nothing(void **state)
{
    struct run *r = ampere_new();

    (void)state;
    modern_run(r, "v_add_f16x2 v2, v9, v10 {wr=0}\nv_fma_f32 v4, v0, v1, v3 {wr=1}\nnop\nv_mov_b32 v6, v2 {wt=1}\n"
                  "nop {wt=2}\n", 32);
    assert_int_equal(modern_cycle(r, 0, 3), 5); /* the results of both instructions arrive five cycles after the first issue */
    assert_int_equal(modern_cycle(r, 0, 4), 6);
    run_free(r);
}

/* Six loads of shared memory issue in cycles 0, 1, 2, 3, 4 and 11. The addresses of the loads are calculated in cycles 11,
 * 15, 19, 23, 27 and 31. Each result arrives 13 cycles after the calculation of its address. The first load, on dependence
 * barrier 4, completes in cycle 24; then depbar.le issues. Of the five loads on barrier 1, two are complete in cycle 32. */
static void m17_depbar_waits_for_its_list_and_then_holds(void **state)
{
    static const char *const lists[] = {"0x1c", "0x10", "0"};
    static const unsigned depbar[] = {24, 24, 13};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(lists); i++) {
        struct run *r = ampere_new();
        char body[500];

        snprintf(body, sizeof body, "ld.shared.b32 v20, [v7] {wr=4}\nld.shared.b32 v21, [v7] {wr=1}\nld.shared.b32 v22, [v7] {wr=1}\n"
                                    "ld.shared.b32 v23, [v7] {wr=1}\nld.shared.b32 v24, [v7] {wr=1}\n"
                                    "ld.shared.b32 v25, [v7] {wr=1,st=2}\ndepbar.le 1, 3 {wt=%s,st=4}\nnop\n", lists[i]);
        modern_run(r, body, 32);
        assert_int_equal(modern_cycle(r, 0, 5), 11);
        assert_int_equal(modern_cycle(r, 0, 6), depbar[i]);
        assert_int_equal(modern_cycle(r, 0, 7), 32);
        run_free(r);
    }
}

/* ---- the arbiter of the memory units ---------------------------------------------------------------------- */

/* W0 issues twelve loads. W1, on another scheduler, issues a load in the same cycle as the first load of W0. The addresses of
 * both loads are ready eleven cycles later. The load of W0 leaves its memory unit first, the load of W1 two cycles later, and
 * the other loads of W0 one every four cycles. */
static void m44_a_load_leaves_between_those_of_another_scheduler(void **state)
{
    struct run *r = ampere_new();
    struct lw_buffer body, loads;
    uint64_t first;

    (void)state;
    lw_buffer_init(&loads);
    for (unsigned i = 0; i < 12; i++)
        lw_printf(&loads.sink, "ld.shared.b32 v%u, [v7] {st=1}\n", 20 + i);
    lw_buffer_init(&body);
    lw_printf(&body.sink, two_ways, "st.shared.b32 [v7], v8 {rd=0,st=2}\nv_mov_b32 v8, 1 {wt=1}\n", loads.text);
    modern_run(r, body.text, 64);
    lw_buffer_fini(&body);
    lw_buffer_fini(&loads);
    const unsigned w0 = 4 + 1 + 2 + 1 + 2 + 1; /* index in the program of the first load of W0 */
    first = modern_cycle(r, 0, w0);
    assert_int_equal(modern_cycle(r, 1, 5), first);
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(modern_cycle(r, 0, w0 + i) - first, i < 5 ? i : 11 + 4 * (i - 5));
    /* If a store is not delayed, its sources are read 12 cycles after its issue. This store leaves its unit two cycles later,
     * since the load of W0 leaves first. */
    assert_int_equal(modern_cycle(r, 1, 6) - first, 12 + 2);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m34_m35_a_unit_of_half_a_warp_takes_an_instruction_in_two_cycles),
        cmocka_unit_test(m13_a_user_right_after_a_load_does_not_see_its_barrier),
        cmocka_unit_test(m22_an_address_is_ready_a_cycle_later),
        cmocka_unit_test(m23_half_precision_ends_with_the_next_instruction_and_delays_nothing),
        cmocka_unit_test(m17_depbar_waits_for_its_list_and_then_holds),
        cmocka_unit_test(m44_a_load_leaves_between_those_of_another_scheduler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
