/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microbenchmarks of the model gcn-tahiti: rotation of the SIMDs, instructions of several types per cycle, wait counters, LDS
 * (shared memory), and caches that CUs (cores) share. Expected cycles are computed by hand from
 * docs/reference/timing-core.md. An instruction that issues in cycle t enters its pipe in t + 2, or in t + 1 if it is scalar.
 * A memory instruction makes its first access in t + 4; if the access misses, its data arrives run_latency + 1 cycles later.
 * A warp may issue in every fourth cycle.
 */
#include "tests/timing/tim_modern.h"

/** Create a machine with one CU of this model. Fetches never delay an issue. */
static struct run *gcn(void)
{
    struct run *r = calloc(1, sizeof *r);
    struct lw_error err;

    assert_non_null(r);
    fix_check(tim_config_load("gcn-tahiti", &r->config, &err), &err);
    r->config->core_count = 1;
    r->config->fetch_perfect = true;
    r->config->fetch_width = 8;
    r->config->fetch_buffer = 16;
    r->config->fetch_group = 8;
    r->config->constant_perfect = true;
    r->config->kernels_latency = 0;
    run_latency = 100;
    return r;
}

/** Run a kernel with @body. v8:9 and s4:5 contain the parameter `out`. The first instruction of @body has the number HEAD in
 *  the program. */
enum { HEAD = 3 };
static void go(struct run *r, const char *body, unsigned threads)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    lw_printf(&text.sink, "v_mov_b64 v8:9, c[out]\ns_ld.const.b64 s4:5, c[out]\nwaitcnt lgkmcnt(0)\n%s", body);
    modern_run(r, text.text, threads);
    lw_buffer_fini(&text);
}

/** Run @body and return the cycles from the issue of its first instruction to the issue of its instruction @at, by warp 0. Frees
 *  @r. */
static uint64_t after(struct run *r, const char *body, unsigned at, unsigned threads)
{
    uint64_t cycles;

    go(r, body, threads);
    cycles = modern_cycle(r, 0, HEAD + at) - modern_cycle(r, 0, HEAD);
    run_free(r);
    return cycles;
}

static uint64_t slots(const struct run *r, enum tim_stall reason)
{
    const struct tim_engine *e = run_engine(r);
    uint64_t sum = 0;

    for (unsigned s = 0; s < e->config.issue_schedulers; s++)
        sum += e->stats[0].sched[s].reason[0][reason];
    return sum;
}

/* ---- rotation --------------------------------------------------------------------------------------- */

static void a_warp_issues_every_fourth_cycle(void **state)
{
    static const char *const dependent = "v_add_u32 v1, v1, v2\nv_add_u32 v1, v1, v2\nv_mul_f32 v1, v1, v1\n"
                                         "v_fma_f32 v1, v1, v1, v1\nv_add_u32 v3, v1, 1\n";
    static const char *const others = "v_add_u32 v1, v2, v3\ns_add_u32 s8, s9, 1\nld.shared.b32 v4, [vz]\nnop\nv_mov_b32 v5, 1\n";
    static const char *const scalar = "s_add_u32 s8, s8, 1\ns_add_u32 s8, s8, 1\nv_add_u32 v1, v2, s8\nv_setp_u32.eq p0, v1, 0\n"
                                      "s_ballot s10:11, p0\n";

    (void)state;
    for (unsigned at = 1; at < 5; at++) {
        assert_int_equal(after(gcn(), dependent, at, 64), 4 * at);
        /* one warp never issues two instructions in a cycle, even if they have different types */
        assert_int_equal(after(gcn(), others, at, 64), 4 * at);
        assert_int_equal(after(gcn(), scalar, at, 64), 4 * at);
    }
}

/** Run five blocks of ten warps. The first four blocks fill a CU; of these, block b has warp slots 10 b to 10 b + 9. */
static struct run *forty_warps(const char *body)
{
    struct run *r = gcn();
    struct lw_buffer text;

    lw_buffer_init(&text);
    lw_printf(&text.sink, ".kernel k\n.param ptr.global out\n%sexit\n.end\n", body);
    run_text(r, text.text, 5, 640);
    lw_buffer_fini(&text);
    return r;
}

static void each_simd_has_a_cycle_of_four(void **state)
{
    struct run *r = forty_warps("v_add_u32 v1, v2, v3\ns_add_u32 s8, s9, 1\nv_add_u32 v1, v2, v3\n");
    unsigned seen = 0;

    (void)state;
    for (unsigned i = 0; i < r->count; i++) {
        unsigned slot = r->issue[i].block * 10 + r->issue[i].warp;

        if (r->issue[i].block == 4) { /* this block was placed when another block had ended */
            assert_true(r->issue[i].cycle > 40);
            continue;
        }
        assert_int_equal(r->issue[i].cycle % 4, slot % 4);
        seen |= 1u << slot % 4;
    }
    assert_int_equal(seen, 15);
    const struct tim_engine *e = run_engine(r);
    for (unsigned s = 0; s < 4; s++) {
        const uint64_t others = e->stats[0].sched[s].reason[0][TIM_STALL_ROTATION], all = e->now;

        assert_in_range(others, all * 3 / 4 - 1, all * 3 / 4 + 1);
        for (unsigned slot = 1; slot < 5; slot++)
            assert_int_equal(e->stats[0].sched[s].reason[slot][TIM_STALL_ROTATION], others);
    }
    run_free(r);
}

/* The ten wavefronts of a SIMD issue in round robin. The SIMD issues a vector instruction every four cycles, so each of its
 * wavefronts issues one every 40 cycles. */
static void ten_wavefronts_of_a_simd_rotate(void **state)
{
    uint64_t last[40] = {0}, base;
    unsigned checked = 0;
    struct lw_buffer body;
    struct run *r;

    (void)state;
    lw_buffer_init(&body);
    for (unsigned i = 0; i < 20; i++)
        lw_printf(&body.sink, "v_add_u32 v%u, v1, v2\n", 3 + i % 4); /* the kernel has so few registers that all 40 warps are
                                                                      * resident */
    r = forty_warps(body.text);
    lw_buffer_fini(&body);
    base = run_engine(r)->code[0]->base;
    for (unsigned i = 0; i < r->count; i++) {
        unsigned slot = r->issue[i].block * 10 + r->issue[i].warp;
        uint64_t at = (r->issue[i].pc - base) / ISA_WORD_BYTES;

        if (r->issue[i].block == 4)
            continue;
        if (at > 5 && at < 16) { /* while all wavefronts of the four blocks execute */
            assert_int_equal(r->issue[i].cycle - last[slot], 40);
            checked++;
        }
        last[slot] = r->issue[i].cycle;
    }
    assert_int_equal(checked, 40 * 10);
    run_free(r);
}

static void a_simd_is_busy_for_16_cycles_by_a_quarter_rate_instruction(void **state)
{
    (void)state;
    assert_int_equal(after(gcn(), "v_rcp_f32 v1, v2\nv_add_f32 v3, v1, v1\n", 1, 64), 16);
    assert_int_equal(after(gcn(), "v_rcp_f32 v1, v2\nv_add_f32 v3, v4, v4\nv_add_f32 v5, v3, v3\n", 2, 64), 20);
    assert_int_equal(after(gcn(), "v_fma_f64 v10:11, v2:3, v2:3, v2:3\nv_fma_f64 v10:11, v10:11, v2:3, v2:3\n", 1, 64), 16);
}

/* A taken jump takes 20 cycles. A jump that is not taken, or whose target is the next instruction, takes 4 (CLRX documentation,
 * GcnTimings). */
static void a_jump_takes_20_cycles(void **state)
{
    (void)state;
    assert_int_equal(after(gcn(), "s_bra next\nnext:\nv_mov_b32 v1, 0\n", 1, 64), 4); /* a jump to the next instruction */
    assert_int_equal(after(gcn(), "s_bra next\nv_mov_b32 v1, 0\nnext:\nv_mov_b32 v1, 0\n", 2, 64), 20);
    assert_int_equal(after(gcn(), "s_setp_u32.eq sp0, s8, 1\n@sp0 s_bra next\nv_mov_b32 v1, 0\nnext:\nv_mov_b32 v1, 0\n", 2, 64), 8);
}

/* ---- types ------------------------------------------------------------------------------------------ */

/** Run a block in which warp 4 * i executes instruction @insn[i] after a barrier. These warps are on SIMD 0, and leave the
 *  barrier in the same cycle. Warps have 32 lanes, because a block has at most 1,024 threads. */
static struct run *after_a_barrier(const char *const *insn, unsigned count)
{
    struct run *r = gcn();
    struct lw_buffer body;

    r->config->core_warp_width = 32;
    r->config->core_threads = 40 * 32;
    lw_buffer_init(&body);
    lw_put(&body.sink, "s_s2r s0, %warpid\ns_shr_u32 s1, s0, 2\n");
    for (unsigned i = 0; i < count; i++)
        lw_printf(&body.sink, "s_setp_u32.eq sp0, s1, %u\n@sp0 s_bra way%u\n", i, i);
    lw_put(&body.sink, "bar.sync 0\nexit\n");
    for (unsigned i = 0; i < count; i++)
        lw_printf(&body.sink, "way%u:\nbar.sync 0\n%s\nexit\n", i, insn[i]);
    go(r, body.text, 32 * 4 * count);
    lw_buffer_fini(&body);
    return r;
}

/** Return the cycle in which warp 4 * @i issues its instruction after the barrier, counted from the first of these issues by
 *  the @count warps. */
static uint64_t way(const struct run *r, unsigned count, unsigned i)
{
    uint64_t first = UINT64_MAX, mine = 0;

    for (unsigned k = 0; k < count; k++) {
        uint64_t at = modern_cycle(r, 4 * k, HEAD + 2 + 2 * count + 2 + 3 * k + 1);

        first = at < first ? at : first;
        mine = k == i ? at : mine;
    }
    return mine - first;
}

static void five_types_of_five_wavefronts_issue_in_a_cycle(void **state)
{
    static const char *const insn[] = {"v_add_u32 v1, v2, v3", "s_add_u32 s2, s2, 1", "ld.global.b32 v4, [v8:9]",
                                       "ld.shared.b32 v5, [vz]", "nop"};
    struct run *r = after_a_barrier(insn, 5);

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(way(r, 5, i), 0);
    run_free(r);
}

static void the_sixth_type_issues_four_cycles_later(void **state)
{
    static const char *const insn[] = {"v_add_u32 v1, v2, v3", "s_add_u32 s2, s2, 1", "ld.global.b32 v4, [v8:9]",
                                       "ld.shared.b32 v5, [vz]", "nop", "s_bra last\nlast:"};
    struct run *r = after_a_barrier(insn, 6);
    unsigned now = 0, later = 0;

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        now += way(r, 6, i) == 0;
        later += way(r, 6, i) == 4;
    }
    assert_int_equal(now, 5);
    assert_int_equal(later, 1);
    run_free(r);
}

static void of_one_type_one_issues_in_four_cycles(void **state)
{
    static const char *const all[][5] = {
        {"v_add_u32 v1, v2, v3", "v_mul_f32 v1, v2, v3", "v_mov_b32 v1, 0", "v_add_f32 v4, v4, v4", "v_and_b32 v1, v1, v1"},
        {"s_add_u32 s2, s2, 1", "s_ld.global.b32 s2, [s4:5]", "s_mov_b32 s2, 1", "s_and_b32 s2, s2, s3", "s_add_u32 s3, s3, 1"},
        {"ld.shared.b32 v5, [vz]", "st.shared.b32 [vz], v1", "ld.shared.b32 v5, [vz]", "red.shared.add.u32 [vz], v1", "ld.shared.b32 v5, [vz]"},
        {"ld.global.b32 v4, [v8:9]", "st.global.b32 [v8:9], v1", "ld.global.b32 v4, [v8:9]", "ld.global.b32 v4, [v8:9]", "ld.global.b32 v4, [v8:9]"},
    };

    (void)state;
    for (unsigned type = 0; type < LW_COUNT_OF(all); type++) {
        struct run *r = after_a_barrier(all[type], 5);
        unsigned in[5] = {0};

        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(way(r, 5, i) % 4, 0);
            assert_in_range(way(r, 5, i), 0, 16);
            in[way(r, 5, i) / 4]++;
        }
        for (unsigned i = 0; i < 5; i++)
            assert_int_equal(in[i], 1);
        run_free(r);
    }
}

/* ---- counters ------------------------------------------------------------------------------------------- */

/** Run four loads that miss, then `waitcnt @counts`. Return the cycle in which the waitcnt issues, counted from the issue of
 *  the first load. */
static uint64_t four_loads(const char *counts)
{
    struct lw_buffer body;
    uint64_t cycles;

    lw_buffer_init(&body);
    for (unsigned i = 0; i < 4; i++)
        lw_printf(&body.sink, "ld.global.b32 v%u, [v8:9+%u]\n", 20 + i, 256 * i);
    lw_printf(&body.sink, "waitcnt %s\n", counts);
    cycles = after(gcn(), body.text, 4, 1);
    lw_buffer_fini(&body);
    return cycles;
}

/* The loads issue in cycles 0, 4, 8 and 12. The first completes in cycle 4 + 101 = 105, and each further load four cycles after
 * the load before it. */
static void waitcnt_resumes_when_as_many_loads_are_over(void **state)
{
    (void)state;
    assert_int_equal(four_loads("vmcnt(4)"), 16);
    assert_int_equal(four_loads("vmcnt(3)"), 108);
    assert_int_equal(four_loads("vmcnt(2)"), 112); /* the second load completes in 109 */
    assert_int_equal(four_loads("vmcnt(1)"), 116);
    assert_int_equal(four_loads("vmcnt(0)"), 120); /* the fourth load completes in 117 */
    assert_int_equal(four_loads("lgkmcnt(0)"), 16); /* lgkmcnt counts none of these loads */
    assert_int_equal(four_loads("expcnt(0)"), 16);
    assert_int_equal(four_loads("vmcnt(3) lgkmcnt(0)"), 108);
}

static void the_user_of_a_load_waits_as_a_compilers_waitcnt(void **state)
{
    static const char *const loads = "ld.global.b32 v20, [v8:9]\nld.global.b32 v21, [v8:9+256]\n"
                                     "ld.global.b32 v22, [v8:9+512]\nv_add_u32 v1, v%u, 1\n";
    char body[256];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        snprintf(body, sizeof body, loads, 20 + i);
        assert_int_equal(after(gcn(), body, 3, 1), 108 + 4 * i);
    }
}

/* A load that hits L1 does not complete before an older load that misses. The older load issues in cycle 0, and the load that
 * hits in cycle 4. The first load of the kernel only brings the line into L1. */
static void vector_memory_is_counted_in_order(void **state)
{
    static const char *const body = "ld.global.b32 v20, [v8:9]\nwaitcnt vmcnt(0)\n"
                                    "ld.global.b32 v21, [v8:9+256]\nld.global.b32 v22, [v8:9]\n"
                                    "v_add_u32 v1, v22, 1\n";
    struct run *r = gcn();

    (void)state;
    r->config->l1_latency = 20;
    go(r, body, 1);
    assert_int_equal(modern_cycle(r, 0, HEAD + 4) - modern_cycle(r, 0, HEAD + 2), 108);
    run_free(r);
    r = gcn(); /* without the older load, the load that hits completes after 4 + 20 cycles */
    r->config->l1_latency = 20;
    assert_int_equal(after(r, "ld.global.b32 v20, [v8:9]\nwaitcnt vmcnt(0)\nld.global.b32 v22, [v8:9]\nv_add_u32 v1, v22, 1\n", 3, 1),
                     108 + 4 + 24);
}

/* A store completes when it is answered, 104 cycles after its issue. A later load that hits L1 completes after the store. */
static void stores_are_counted_until_they_are_answered(void **state)
{
    struct run *r = gcn();

    (void)state;
    assert_int_equal(after(gcn(), "st.global.b32 [v8:9], v1\nwaitcnt vmcnt(1)\n", 1, 1), 4);
    assert_int_equal(after(gcn(), "st.global.b32 [v8:9], v1\nwaitcnt vmcnt(0)\n", 1, 1), 104);
    r->config->l1_latency = 20;
    go(r, "ld.global.b32 v20, [v8:9]\nwaitcnt vmcnt(0)\nst.global.b32 [v8:9+256], v1\nld.global.b32 v22, [v8:9]\n"
          "v_add_u32 v1, v22, 1\n", 1);
    assert_int_equal(modern_cycle(r, 0, HEAD + 4) - modern_cycle(r, 0, HEAD + 2), 104);
    run_free(r);
}

/* A load of shared memory completes 4 + 56 cycles after its issue. lgkmcnt also counts scalar loads, which complete in any
 * order. So if a scalar load is pending, only a count of 0 shows that a load is complete. */
static void lgkmcnt_is_0_where_scalar_loads_and_shared_memory_mix(void **state)
{
    struct run *r;

    (void)state;
    assert_int_equal(after(gcn(), "ld.shared.b32 v1, [vz]\nv_add_u32 v2, v1, 1\n", 1, 1), 60);
    assert_int_equal(after(gcn(), "ld.shared.b32 v1, [vz]\nld.shared.b32 v3, [vz]\nv_add_u32 v2, v1, 1\n", 2, 1), 60);
    r = gcn();
    r->config->constant_perfect = false;
    r->config->constant_latency = 20;
    assert_int_equal(after(r, "s_ld.global.b32 s8, [s4:5]\ns_add_u32 s9, s8, 1\n", 1, 1), 108);
    for (unsigned first = 0; first < 2; first++) { /* the scalar load is the younger load, then the older */
        r = gcn();
        r->config->constant_perfect = false;
        assert_int_equal(after(r, first ? "s_ld.global.b32 s8, [s4:5]\nld.shared.b32 v1, [vz]\nv_add_u32 v2, v1, 1\n"
                                        : "ld.shared.b32 v1, [vz]\ns_ld.global.b32 s8, [s4:5]\nv_add_u32 v2, v1, 1\n", 2, 1),
                         first ? 108 : 112);
    }
    /* An instruction that uses neither result does not wait for them. A load of shared memory is not delayed by a pending load
     * of vector memory, which another counter counts. */
    r = gcn();
    r->config->constant_perfect = false;
    assert_int_equal(after(r, "s_ld.global.b32 s8, [s4:5]\nld.shared.b32 v1, [vz]\nv_add_u32 v2, v3, 1\n", 2, 1), 8);
    assert_int_equal(after(gcn(), "ld.global.b32 v5, [v8:9]\nld.shared.b32 v1, [vz]\nv_add_u32 v2, v1, 1\n", 2, 1), 64);
}

/* The counter of vector memory instructions has four bits, so at most 15 are pending. Of 20 loads, the 16th cannot issue before
 * the first completes, in cycle 105. */
static void issue_stalls_where_a_counter_counts_no_further(void **state)
{
    struct run *r = gcn();
    struct lw_buffer body;

    (void)state;
    lw_buffer_init(&body);
    for (unsigned i = 0; i < 20; i++)
        lw_printf(&body.sink, "ld.global.b32 v%u, [v8:9+%u]\n", 20 + i, 128 * i);
    go(r, body.text, 1);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(modern_cycle(r, 0, HEAD + i) - modern_cycle(r, 0, HEAD), i < 15 ? 4 * i : 108 + 4 * (i - 15));
    assert_int_equal(slots(r, TIM_STALL_COUNTER), 12); /* these are the slots of cycles 60, 64, ... 104 */
    run_free(r);
    r = gcn();
    r->config->issue_lgkm_count = 3;
    assert_int_equal(after(r, "ld.shared.b32 v1, [vz]\nld.shared.b32 v2, [vz]\nld.shared.b32 v3, [vz]\nld.shared.b32 v4, [vz]\n", 3, 1), 60);
    lw_buffer_fini(&body);
}

/* An instruction occupies the memory pipe for 64 cycles. The second store, which issues in cycle 4, reads its data in
 * cycle 66. Until then, an instruction that writes the register of this data must wait. */
static void expcnt_counts_stores_that_have_not_read_their_data(void **state)
{
    static const struct {
        const char *insn;
        unsigned at;
    } cases[] = {{"v_mov_b32 v2, 0", 68}, {"v_mov_b32 v1, 0", 8}, {"v_mov_b32 v8, 0", 8}, {"v_mov_b32 v3, v2", 8},
                 {"waitcnt expcnt(0)", 68}, {"waitcnt expcnt(1)", 8}, {"waitcnt vmcnt(2)", 8}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct run *r = gcn();
        char body[160];

        r->config->unit[ISA_UNIT_MEM] = (struct tim_unit_config){1, 1, 1};
        snprintf(body, sizeof body, "st.global.b32 [v8:9], v1\nst.global.b32 [v8:9], v2\n%s\n", cases[i].insn);
        assert_int_equal(after(r, body, 2, 64), cases[i].at);
    }
}

/* On models without wait counters, waitcnt waits for nothing. */
static void waitcnt_is_a_nop_without_counters(void **state)
{
    struct run *r = run_new();

    (void)state;
    modern_run(r, "v_mov_b64 v8:9, c[out]\nld.global.b32 v3, [v8:9]\nwaitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\nv_mov_b32 v4, 1\n", 32);
    assert_int_equal(modern_cycle(r, 0, 2) - modern_cycle(r, 0, 1), 1);
    assert_int_equal(modern_cycle(r, 0, 3) - modern_cycle(r, 0, 1), 2);
    run_free(r);
}

/* ---- LDS --------------------------------------------------------------------------------------------- */

/* 64 lanes read LDS, which has 32 banks: lane l reads word l * stride. Each word that is read from the busiest bank takes a
 * pass, and the result arrives 56 cycles after the last pass. */
static void lds_passes_over_32_banks(void **state)
{
    static const struct {
        unsigned stride, passes;
    } cases[] = {{0, 1}, {1, 2}, {2, 4}, {3, 2}, {4, 8}, {8, 16}, {16, 32}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct run *r = gcn();
        char body[160];
        uint64_t ready = 4 + cases[i].passes - 1 + 56;

        snprintf(body, sizeof body, "v_s2r v1, %%tid.x\nv_mul_u32 v1, v1, %u\nld.shared.b32 v2, [v1]\nv_add_u32 v3, v2, 1\n",
                 4 * cases[i].stride);
        go(r, body, 64);
        assert_int_equal(modern_cycle(r, 0, HEAD + 3) - modern_cycle(r, 0, HEAD + 2), (ready + 3) / 4 * 4);
        assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_shared_passes], cases[i].passes);
        run_free(r);
    }
}

/* With separate queues for vector memory and LDS, a load of 64 lines does not delay an LDS instruction. */
static void vector_memory_does_not_hold_lds_up(void **state)
{
    static const char *const body = "v_s2r v1, %tid.x\nv_shl_b32 v1, v1, 6\nv_add_u32 v2, v1, v1\nld.global.b32 v3, [s4:5+v1]\n"
                                    "ld.shared.b32 v4, [vz]\nv_add_u32 v5, v4, 1\n";

    (void)state;
    for (unsigned separate = 0; separate < 2; separate++) {
        struct run *r = gcn();

        r->config->lsu_separate = separate;
        go(r, body, 64);
        uint64_t user = modern_cycle(r, 0, HEAD + 5) - modern_cycle(r, 0, HEAD + 4);
        /* With one queue, the load makes its 64 accesses 4 to 67 cycles after its issue, and the LDS instruction makes its
         * access in cycle 68. The data of the LDS instruction arrives in cycle 124, which is 120 cycles after the issue of
         * the LDS instruction. */
        assert_int_equal(user, separate ? 60 : 120);
        run_free(r);
    }
}

/* ---- shared caches ------------------------------------------------------------------------------------- */

/** Run two CUs that execute one block each. Each block loads the same word with the scalar unit; block 1 executes @wait before.
 *  @shared CUs share a constant cache. Store the misses and hits of each CU in @misses and @hits. */
static void two_cus(unsigned shared, const char *wait, uint64_t misses[2], uint64_t hits[2])
{
    struct run *r = gcn();
    struct lw_buffer text;

    r->config->core_count = 2;
    r->config->constant_shared = shared;
    r->config->constant_perfect = false;
    lw_buffer_init(&text);
    lw_printf(&text.sink, ".kernel k\n.param ptr.global out\ns_mov_b64 s4:5, 0\ns_s2r s8, %%ctaid.x\n"
                          "s_ld.const.b64 s4:5, c[out]\nwaitcnt lgkmcnt(0)\n"
                          "s_setp_u32.eq sp0, s8, 0\n@sp0 s_bra load\n%sload:\ns_ld.global.b32 s9, [s4:5]\ns_add_u32 s10, s9, 1\nexit\n.end\n", wait);
    run_text(r, text.text, 2, 64);
    lw_buffer_fini(&text);
    for (unsigned c = 0; c < 2; c++) {
        misses[c] = run_engine(r)->stats[c].count[TIM_CORE_constant_misses];
        hits[c] = run_engine(r)->stats[c].count[TIM_CORE_constant_hits];
    }
    run_free(r);
}

static void cus_share_a_scalar_cache(void **state)
{
    static const char *const waits[] = {"nanosleep 2000\n", ""};
    uint64_t misses[2], hits[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) { /* the second CU loads after the fill of the line, or while the line is outstanding */
        two_cus(1, waits[i], misses, hits);
        assert_int_equal(misses[0], 2); /* the line of the parameter, and the line of the word */
        assert_int_equal(misses[1], 2);
        two_cus(2, waits[i], misses, hits);
        assert_int_equal(misses[0] + misses[1], 2);
        assert_int_equal(hits[0] + hits[1], 2);
    }
}

static void cus_share_an_instruction_cache(void **state)
{
    (void)state;
    for (unsigned shared = 1; shared <= 2; shared++) {
        struct run *r = gcn();
        uint64_t misses = 0;

        r->config->core_count = 2;
        r->config->fetch_perfect = false;
        r->config->fetch_shared = shared;
        run_text(r, ".kernel k\n.param ptr.global out\nv_mov_b32 v1, 0\nexit\n.end\n", 2, 64);
        for (unsigned c = 0; c < 2; c++)
            misses += run_engine(r)->stats[c].count[TIM_CORE_fetch_misses];
        assert_int_equal(misses, shared == 1 ? 2 : 1);
        run_free(r);
    }
}

/* A fetch that waits for its line is counted once. The kernel has 128 instructions. A line has 8 instructions, and a fetch
 * gets 4. */
static void a_fetch_that_waits_is_one(void **state)
{
    struct run *r = gcn();
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, ".kernel k\n.param ptr.global out\n");
    for (unsigned i = 0; i < 127; i++)
        lw_put(&text.sink, "v_mov_b32 v1, 0\n");
    lw_put(&text.sink, "exit\n.end\n");
    r->config->core_count = 1;
    r->config->fetch_perfect = false;
    r->config->fetch_buffer = 16;
    r->config->fetch_group = 4;
    r->config->fetch_word_bytes = 8;
    r->config->fetch_cache_line = 64;
    run_text(r, text.text, 1, 64);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_fetches], 32);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_fetch_misses], 16);
    lw_buffer_fini(&text);
    run_free(r);
}

/* ---- the book's example ----------------------------------------------------------------------------------- */

/* Example of section 3.4 of the book by Aamodt, Fung and Rogers: fn0(a, b) = a > b ? a * a - b : b * b - a. An instruction
 * issues every four cycles, and a taken jump takes 20. */
static void the_books_fn0_takes_its_ways(void **state)
{
    static const char *const body =
        "s_mov_b64 s14:15, exec\n"
        "v_s2r v5, %%tid.x\nv_shl_b32 v6, v5, 2\n"
        "v_mov_b32 v0, %s\nv_mov_b32 v1, %s\n"           /* v0 is a, v1 is b */
        "v_setp_u32.eq p1, v5, 0\n@p1 v_mov_b32 v0, %s\n" /* lane 0 has a different value of a */
        "v_setp_f32.gt p0, v0, v1\n"
        "s_ballot s16:17, p0\n"
        "s_mov_b64 s12:13, exec\n"
        "s_and_b64 exec, s16:17, exec\n"
        "s_setp_u64.eq sp0, s16:17, 0\n"
        "@sp0 s_bra label0\n"
        "v_mul_f32 v2, v0, v0\n"
        "v_sub_f32 v2, v2, v1\n"
        "label0:\n"
        "s_not_b64 exec, exec\n"
        "s_and_b64 exec, s12:13, exec\n"
        "s_setp_u64.eq sp0, exec, 0\n"
        "@sp0 s_bra label1\n"
        "v_mul_f32 v2, v1, v1\n"
        "v_sub_f32 v2, v2, v0\n"
        "label1:\n"
        "s_mov_b64 exec, s12:13\n"
        "st.global.b32 [s4:5+v6], v2\n";
    static const struct {
        const char *a, *b, *lane0;
        float first, others;
        unsigned cycles; /* the number of cycles from the issue of v_setp_f32 to the issue of the instruction that restores
                          * exec */
    } cases[] = {
        {"1.0f", "3.0f", "5.0f", 22.0f, 8.0f, 14 * 4},      /* a > b in lane 0 alone: both sides execute */
        {"5.0f", "2.0f", "3.0f", 7.0f, 23.0f, 11 * 4 + 20}, /* a > b in all lanes: a jump skips the second side */
        {"1.0f", "3.0f", "2.0f", 7.0f, 8.0f, 11 * 4 + 20},  /* a > b in no lane: a jump skips the first side */
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct run *r = gcn();
        char text[1400];
        uint32_t expected[64];
        struct lw_error err;

        snprintf(text, sizeof text, body, cases[i].a, cases[i].b, cases[i].lane0);
        go(r, text, 64);
        for (unsigned l = 0; l < 64; l++)
            memcpy(&expected[l], l == 0 ? &cases[i].first : &cases[i].others, sizeof expected[l]);
        r->fix->stop = r->stop;
        fix_check(emu_global_read(r->fix->machine, r->fix->out, r->fix->word, sizeof r->fix->word, &err), &err);
        fix_expect_words(r->fix, expected, 64);
        assert_int_equal(modern_cycle(r, 0, HEAD + 21) - modern_cycle(r, 0, HEAD + 7), cases[i].cycles);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_issues_every_fourth_cycle),
        cmocka_unit_test(each_simd_has_a_cycle_of_four),
        cmocka_unit_test(ten_wavefronts_of_a_simd_rotate),
        cmocka_unit_test(a_simd_is_busy_for_16_cycles_by_a_quarter_rate_instruction),
        cmocka_unit_test(a_jump_takes_20_cycles),
        cmocka_unit_test(five_types_of_five_wavefronts_issue_in_a_cycle),
        cmocka_unit_test(the_sixth_type_issues_four_cycles_later),
        cmocka_unit_test(of_one_type_one_issues_in_four_cycles),
        cmocka_unit_test(waitcnt_resumes_when_as_many_loads_are_over),
        cmocka_unit_test(the_user_of_a_load_waits_as_a_compilers_waitcnt),
        cmocka_unit_test(vector_memory_is_counted_in_order),
        cmocka_unit_test(stores_are_counted_until_they_are_answered),
        cmocka_unit_test(lgkmcnt_is_0_where_scalar_loads_and_shared_memory_mix),
        cmocka_unit_test(issue_stalls_where_a_counter_counts_no_further),
        cmocka_unit_test(expcnt_counts_stores_that_have_not_read_their_data),
        cmocka_unit_test(waitcnt_is_a_nop_without_counters),
        cmocka_unit_test(lds_passes_over_32_banks),
        cmocka_unit_test(vector_memory_does_not_hold_lds_up),
        cmocka_unit_test(cus_share_a_scalar_cache),
        cmocka_unit_test(cus_share_an_instruction_cache),
        cmocka_unit_test(a_fetch_that_waits_is_one),
        cmocka_unit_test(the_books_fn0_takes_its_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
