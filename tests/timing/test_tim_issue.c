/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests issue: the published orders of the warp schedulers, the times between dependent instructions, the stall reasons of
 * issue slots, and their sums. Expected cycles are computed by hand from docs/howto/measure-cycles.md.
 */
#include "tests/timing/tim_run.h"

/** Check that each issue slot of each cycle has exactly one stall reason. */
static void causes_sum_to_the_slots(const struct run *r)
{
    const struct tim_engine *e = run_engine(r);

    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned s = 0; s < e->config.issue_schedulers; s++)
            for (unsigned slot = 0; slot < e->config.issue_width; slot++) {
                uint64_t sum = 0;
                for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
                    sum += e->stats[c].sched[s].reason[slot][i];
                assert_int_equal(sum, e->now);
            }
}

/** Return the number of issue slots of scheduler 0 with stall reason @reason. */
static uint64_t slots(const struct run *r, enum tim_stall reason)
{
    return run_engine(r)->stats[0].sched[0].reason[0][reason];
}

/* Kernel in which each warp executes `A A L A`: A is an ALU instruction, L is a load, and the last A needs the result of L. The
 * last A can issue 10 cycles after L. */
static const char *const aala = ".kernel k\n.param ptr.global out\n"
                                ".shared 4096\n"
                                "v_mov_b32 v1, 0\n"
                                "v_mov_b32 v2, 1\n"
                                "ld.shared.b32 v3, [v7]\n"
                                "v_mov_b32 v4, v3\n"
                                "exit\n.end\n";

static void order_is(unsigned policy, unsigned group, const char *text, const char *expected)
{
    struct run *r = run_new();
    char trace[4096];

    r->config->issue_policy = policy;
    r->config->issue_group = group;
    r->config->shared_latency = 8;
    run_text(r, text, 1, 96);
    assert_string_equal(run_trace(r, 0, 4, trace, sizeof trace), expected);
    run_free(r);
}

static void loose_round_robin_is_as_published(void **state)
{
    (void)state;
    order_is(TIM_SCHED_LRR, 8, aala,
             "w0.0@0 w1.0@1 w2.0@2 w0.1@3 w1.1@4 w2.1@5 w0.2@6 w1.2@7 w2.2@8 w0.3@16 w1.3@17 "
             "w2.3@18");
}

static void greedy_then_oldest_is_as_published(void **state)
{
    (void)state;
    order_is(TIM_SCHED_GTO, 8, aala,
             "w0.0@0 w0.1@1 w0.2@2 w1.0@3 w1.1@4 w1.2@5 w2.0@6 w2.1@7 w2.2@8 w0.3@12 w1.3@15 "
             "w2.3@18");
}

/* Section 3.8 of the warp scheduling thesis's specification: the age of a warp counts from its assignment to a slot, not from
 * the first use of the slot. Block 0 ends early, and block 2 gets the slot of block 0. Block 2 is younger than block 1, which
 * is in the next slot. */
static void a_warp_in_a_used_slot_is_the_youngest(void **state)
{
    struct run *r = run_new();
    struct lw_error err;

    (void)state;
    r->config->core_warps = 2;
    r->config->core_threads = 64;
    run_open(r, ".kernel k\n.param ptr.global out\nv_s2r v1, %ctaid.x\nv_setp_u32.eq p0, v1, 0\n@p0 exit\nv_mov_b32 v3, 0\n"
                "loop:\nv_add_u32 v3, v3, 1\nv_setp_u32.lt p1, v3, 200\n@p1 bra loop\nexit\n.end\n", 3, 32);
    const struct tim_core *core = run_engine(r)->core[0];
    for (unsigned i = 0; i < 2000 && !(core->warp[0].used && core->block[core->warp[0].block].linear == 2); i++)
        fix_check(tim_engine_run_cycles(r->fix->engine, 1, &r->stop, &err), &err);
    assert_int_equal(core->block[core->warp[0].block].linear, 2);
    assert_true(core->warp[1].used && core->block[core->warp[1].block].linear == 1);
    assert_true(core->warp[0].age > core->warp[1].age);
    run_go(r);
    run_free(r);
}

/* Greedy-then-youngest differs from greedy-then-oldest in that the youngest warp has priority. The youngest warp of a block is
 * the warp with the highest number. */
static void greedy_then_youngest_is_as_published(void **state)
{
    (void)state;
    order_is(TIM_SCHED_CGGTY, 8, aala,
             "w2.0@0 w2.1@1 w2.2@2 w1.0@3 w1.1@4 w1.2@5 w0.0@6 w0.1@7 w0.2@8 w2.3@12 w1.3@15 "
             "w0.3@18");
}

/* Four warps in fetch groups of two. When w2 waits while w0 and w3 are ready, greedy-then-oldest would select the oldest warp,
 * w0. The two-level scheduler selects w3, which is in the same fetch group as w2. */
static void two_levels_select_within_their_group(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n.shared 4096\n"
                                    "ld.shared.b32 v3, [v7]\n"
                                    "v_mov_b32 v4, v3\n"
                                    "exit\n.end\n";
    struct run *r = run_new();
    char trace[1024];

    (void)state;
    r->config->issue_policy = TIM_SCHED_TWO_LEVEL;
    r->config->issue_group = 2;
    r->config->issue_inner = r->config->issue_outer = TIM_ORDER_GTO;
    r->config->shared_latency = 1; /* the instruction that uses a load can issue 3 cycles after the load */
    run_text(r, text, 1, 128);
    /* w0 and w1 issue loads, and wait. Then w2 and w3 of the other fetch group issue, although w0 is ready again in cycle 3. */
    assert_string_equal(run_trace(r, 0, 2, trace, sizeof trace),
                        "w0.0@0 w1.0@1 w2.0@2 w3.0@3 w0.1@4 w1.1@6 w2.1@8 w3.1@10");
    run_free(r);
}

/* Greedy-then-oldest with a limit of two warps (section 3.8, GTO + SWL 2). The third warp may issue only when the oldest warp
 * has ended, and is then the greedy warp. From cycle 13 on, all cycles are one later than in the specification, whose warps
 * do not end with an exit instruction. */
static void a_limit_admits_the_oldest(void **state)
{
    struct run *r = run_new();
    char trace[1024];

    (void)state;
    r->config->issue_policy = TIM_SCHED_SWL;
    r->config->issue_limit = 2;
    r->config->shared_latency = 8;
    run_text(r, aala, 1, 96);
    assert_string_equal(run_trace(r, 0, 4, trace, sizeof trace),
                        "w0.0@0 w0.1@1 w0.2@2 w1.0@3 w1.1@4 w1.2@5 w0.3@12 w2.0@14 w2.1@15 "
                        "w2.2@16 w1.3@17 w2.3@26");
    causes_sum_to_the_slots(r);
    assert_int_equal(slots(r, TIM_STALL_THROTTLED), 6); /* in cycles 6 to 11 only w2 is ready */
    run_free(r);
}

/* A warp that waits at a barrier does not count toward the limit of one warp. Otherwise the first warp would wait forever for
 * the other two, which may not issue. */
static void a_limit_lets_a_block_pass_its_barrier(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_mov_b32 v1, 0\n"
                                    "bar.sync 0\n"
                                    "v_mov_b32 v2, 1\n"
                                    "exit\n.end\n";
    struct run *r = run_new();
    char trace[1024];

    (void)state;
    r->config->issue_policy = TIM_SCHED_SWL;
    r->config->issue_limit = 1;
    run_text(r, text, 1, 96);
    assert_string_equal(run_trace(r, 0, 3, trace, sizeof trace),
                        "w0.0@0 w0.1@1 w1.0@2 w1.1@3 w2.0@4 w2.1@5 w0.2@6 w1.2@8 w2.2@10");
    causes_sum_to_the_slots(r);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_swl_lifts], 2); /* w1 may issue when w0 waits, and w2 when w1 waits */
    run_free(r);
}

/* Section 10 of the specification: at each load, a histogram counts the number of warps that may issue. */
static void a_limit_counts_what_it_admits(void **state)
{
    struct run *r = run_new();

    (void)state;
    r->config->issue_policy = TIM_SCHED_SWL;
    r->config->issue_limit = 2;
    run_text(r, ".kernel k\n.param ptr.global out\ns_mov_b64 s4:5, c[out]\nld.global.b32 v3, [s4:5+v1]\nexit\n.end\n", 1, 96);
    const struct tim_histogram *h = &run_engine(r)->stats[0].histogram[TIM_CORE_H_swl_allowed];
    assert_int_equal(h->most, 2);
    assert_int_equal(h->bucket[2], 2); /* at the first two loads two warps may issue */
    assert_int_equal(h->bucket[1], 1); /* at the last load only one warp is left */
    assert_int_equal(h->sum, 5);
    run_free(r);
}

/* ---- active and pending warps ------------------------------------------------------------------ */

/* The active pool has space for one warp. A warp leaves the pool when it needs the result of a load that missed. A warp that
 * needs the result of a load of shared memory remains in the pool. */
static void a_pool_is_left_for_memory_outside_the_core(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n.shared 4096\n"
                                    "v_mov_b32 v8, c[0][0]\n"
                                    "v_mov_b32 v9, c[0][4]\n"
                                    "ld.%s.b32 v3, [%s]\n"
                                    "v_mov_b32 v4, v3\n"
                                    "exit\n.end\n";
    char near[512], far[512];
    struct run *r;

    (void)state;
    snprintf(near, sizeof near, text, "shared", "v7");
    snprintf(far, sizeof far, text, "global", "v8:9");
    for (unsigned miss = 0; miss < 2; miss++) {
        r = run_new();
        r->config->issue_policy = TIM_SCHED_ACTIVE_PENDING;
        r->config->issue_active = 1;
        run_text(r, miss ? far : near, 1, 64);
        /* If the load of warp 0 leaves the core, warp 0 leaves the pool while it waits, so warp 1 begins before warp 0 uses
         * the loaded value. Otherwise warp 1 begins after warp 0 has used it. */
        uint64_t first_of_1 = run_cycle(r, ISA_V_MOV_B32, 1, 0), use_of_0 = run_cycle(r, ISA_V_MOV_B32, 0, 2);
        assert_true(miss ? first_of_1 < use_of_0 : first_of_1 > use_of_0);
        causes_sum_to_the_slots(r);
        assert_true(slots(r, TIM_STALL_THROTTLED) > 0);
        run_free(r);
    }
}

/** Run @text and return the cycles between the first two issues of @op by warp 0. Frees @r. */
static uint64_t between(struct run *r, const char *text, enum isa_op op)
{
    uint64_t cycles;

    run_text(r, text, 1, 32);
    cycles = run_cycle(r, op, 0, 1) - run_cycle(r, op, 0, 0);
    run_free(r);
    return cycles;
}

/* An instruction that issues in cycle t reads its operands in t + 1 and enters its pipe in t + 2. The result of the
 * instruction is ready, and a dependent instruction issues, in t + 2 + latency. If a port reads one operand per cycle, each
 * operand after the first takes one more cycle. */
static void a_result_takes_its_latency_and_two_cycles(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_mad_u32 v1, v1, v2, v3\n"
                                    "v_mad_u32 v1, v1, v2, v3\n"
                                    "exit\n.end\n";

    (void)state;
    for (unsigned latency = 1; latency <= 18; latency++) {
        struct run *r = run_new();
        r->config->unit[ISA_UNIT_INT].latency = latency;
        assert_int_equal(between(r, text, ISA_V_MAD_U32), latency + 2);
        r = run_new();
        r->config->unit[ISA_UNIT_INT].latency = latency;
        r->config->registers_ports = 1;
        assert_int_equal(between(r, text, ISA_V_MAD_U32), latency + 4);
        r = run_new(); /* a single bank makes all reads one after the other; the result is written before the next read */
        r->config->unit[ISA_UNIT_INT].latency = latency;
        r->config->registers_banks = 1;
        assert_int_equal(between(r, text, ISA_V_MAD_U32), latency + 4);
    }
}

/* An instruction of a warp of W lanes occupies a pipe of L lanes for ceil(W / L) cycles. When all collectors are in use,
 * independent instructions issue at the rate of the pipe. */
static void a_pipe_takes_its_lanes(void **state)
{
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, ".kernel k\n.param ptr.global out\n");
    for (unsigned i = 0; i < 64; i++)
        lw_printf(&text.sink, "v_add_u32 v%u, v100, v101\n", i);
    lw_put(&text.sink, "exit\n.end\n");
    for (unsigned lanes = 4; lanes <= 32; lanes *= 2) {
        struct run *r = run_new();
        r->config->unit[ISA_UNIT_INT].lanes = lanes;
        r->config->registers_collectors = 4;
        run_text(r, text.text, 1, 32);
        assert_int_equal(run_cycle(r, ISA_V_ADD_U32, 0, 63) - run_cycle(r, ISA_V_ADD_U32, 0, 31),
                         32 * (32 / lanes));
        run_free(r);
    }
    lw_buffer_fini(&text);
}

/* A warp issues two instructions in a cycle if they use different pipes and are independent. */
static void dual_issue_takes_two_pipes(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_add_u32 v1, v2, v3\n"
                                    "v_add_f32 v4, v5, v6\n"
                                    "v_add_f32 v7, v8, v9\n"
                                    "v_add_f32 v10, v11, v12\n"
                                    "v_add_u32 v13, v20, v3\n"
                                    "v_add_f32 v14, v13, v13\n"
                                    "exit\n.end\n";
    struct run *r = run_new();
    char trace[1024];

    (void)state;
    r->config->issue_width = 2;
    run_text(r, text, 1, 32);
    assert_string_equal(run_trace(r, 0, 6, trace, sizeof trace),
                        "w0.0@0 w0.1@0 w0.2@1 w0.3@2 w0.4@2 w0.5@5");
    run_free(r);
}

/* From the issue of a load to the issue of the instruction that uses its result: 2 cycles for the collector, run_latency cycles
 * for the miss of L1, and one cycle to deliver the data. All but the last of these cycles have stall reason TIM_STALL_LOAD. */
static void a_slot_says_what_it_waited_for(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_mov_b64 v8:9, c[out]\n"
                                    "ld.global.b32 v3, [v8:9]\n"
                                    "v_add_u32 v4, v3, 1\n"
                                    "v_add_u32 v5, v4, 1\n"
                                    "exit\n.end\n";
    struct run *r = run_new();

    (void)state;
    run_latency = 100;
    run_text(r, text, 1, 32);
    causes_sum_to_the_slots(r);
    assert_int_equal(run_cycle(r, ISA_V_ADD_U32, 0, 0) + 3 + 103, 3 + 103);
    assert_int_equal(slots(r, TIM_STALL_ISSUED), 5);
    assert_int_equal(slots(r, TIM_STALL_LOAD), 102);
    assert_int_equal(slots(r, TIM_STALL_RESULT), 4); /* 2 cycles until the address is computed, and 2 until the first sum is */
    run_free(r);
}

/* The control field determines how long a warp waits for a dependence barrier. The instruction for which the barrier counts
 * determines the stall reason. */
static void a_slot_says_what_holds_its_dependence_barrier(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_mov_b64 v8:9, c[out] {st=4}\n"
                                    "ld.global.b32 v3, [v8:9] {st=1,wr=0}\n"
                                    "v_add_u32 v4, v3, 1 {st=5,wt=0x1}\n"
                                    "v_rcp_f32 v5, v4 {st=1,wr=1}\n"
                                    "v_add_f32 v6, v5, v5 {st=6,wt=0x2}\n"
                                    "exit {st=1}\n.end\n";
    static const char *const reads = ".kernel k\n.param ptr.global out\n"
                                     "v_mad_u32 v4, v1, v2, v3 {st=1,rd=2}\n"
                                     "v_mov_b32 v1, 0 {st=1,wt=0x4}\n"
                                     "exit {st=1}\n.end\n";
    struct run *r = run_new();

    (void)state;
    run_latency = 100;
    r->config->issue_dependence = TIM_DEP_CONTROL;
    run_text(r, text, 1, 32);
    causes_sum_to_the_slots(r);
    assert_int_equal(slots(r, TIM_STALL_ISSUED), 6);
    assert_int_equal(slots(r, TIM_STALL_STALL), 3 + 4 + 5);
    assert_int_equal(slots(r, TIM_STALL_LOAD), 102);
    assert_int_equal(slots(r, TIM_STALL_RESULT), 2);
    run_free(r);
    r = run_new();
    r->config->issue_dependence = TIM_DEP_CONTROL;
    r->config->registers_ports = 1; /* three operands are read in three cycles, the last in the cycle of the next issue */
    run_text(r, reads, 1, 32);
    causes_sum_to_the_slots(r);
    assert_int_equal(slots(r, TIM_STALL_WAR), 2);
    assert_int_equal(slots(r, TIM_STALL_STALL), 0);
    run_free(r);
}

/* A dependence barrier counts up to 254 instructions. A further instruction that uses the barrier waits until one of the
 * counted instructions completes. */
static void a_dependence_barrier_that_is_full_is_waited_for(void **state)
{
    enum { LOADS = 300, FULL = 254 };
    struct run *r = run_new();
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, ".kernel k\n.param ptr.global out\nv_mov_b64 v8:9, c[out] {st=4}\n");
    for (unsigned i = 0; i < LOADS; i++)
        lw_put(&text.sink, "ld.global.b32 v3, [v8:9] {st=1,wr=0}\n");
    lw_put(&text.sink, "v_add_u32 v4, v3, 1 {st=1,wt=0x1}\nexit {st=1}\n.end\n");
    run_latency = 1000;
    r->config->issue_dependence = TIM_DEP_CONTROL;
    r->config->l1_merges = LOADS;
    run_text(r, text.text, 1, 32);
    lw_buffer_fini(&text);
    causes_sum_to_the_slots(r);
    assert_int_equal(run_cycle(r, ISA_LD_GLOBAL, 0, FULL - 1), FULL - 1);
    assert_in_range(run_cycle(r, ISA_LD_GLOBAL, 0, FULL), 1000, 1010);
    assert_in_range(run_cycle(r, ISA_LD_GLOBAL, 0, LOADS - 1), 1045, 1056);
    assert_in_range(slots(r, TIM_STALL_LOAD), 1000 - FULL, 1400);
    run_free(r);
}

/* A store reads its operands in the cycle after its issue, is sent in the following cycle, and is answered 100 cycles later. A
 * fence or a store with release semantics waits until all earlier stores of its warp, to any address, are answered. A load
 * does not delay a fence. */
static void a_fence_waits_for_a_store_right_before_it(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_mov_b64 v8:9, c[out]\n"
                                    "st.global.b32 [v8:9], v3\n"
                                    "fence.gpu\n"
                                    "ld.global.b32.cg v4, [v8:9]\n"
                                    "fence.gpu\n"
                                    "atom.global.add.u32 v5, [v8:9], v3\n"
                                    "st.global.b32.release [v8:9], v3\n"
                                    "red.global.add.u32 [v8:9], v3\n"
                                    "fence.gpu\n"
                                    "exit\n.end\n";
    struct run *r = run_new();
    char trace[1024];

    (void)state;
    run_latency = 100;
    run_text(r, text, 1, 32);
    assert_string_equal(run_trace(r, 1, 9, trace, sizeof trace),
                        "w0.0@0 w0.1@102 w0.2@103 w0.3@104 w0.4@105 w0.5@207 w0.6@208 w0.7@310");
    causes_sum_to_the_slots(r);
    assert_int_equal(slots(r, TIM_STALL_FENCE), 101 + 101 + 101);
    run_free(r);
}

/* A port reads one vector register per cycle. The collector needs 4 cycles for the store, but fewer for the load that issues
 * next. The load still enters the pipe one cycle after the store, and its data is used 101 cycles later. */
static void a_load_does_not_overtake_a_store_of_its_warp(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_mov_b64 v8:9, c[out]\n"
                                    "st.global.b64 [v8:9], v10:11\n"
                                    "ld.global.b32.cg v3, [v8:9]\n"
                                    "v_add_u32 v4, v3, 1\n"
                                    "exit\n.end\n";
    struct run *r = run_new();
    char trace[1024];

    (void)state;
    run_latency = 100;
    r->config->registers_ports = 1;
    run_text(r, text, 1, 32);
    assert_string_equal(run_trace(r, 1, 4, trace, sizeof trace), "w0.0@0 w0.1@1 w0.2@107");
    run_free(r);
}

/* Accesses of other warps after a barrier do not overtake a store before the barrier: the barrier waits until the store, which
 * reads five vector registers, has left its collector. */
static void a_barrier_lets_nobody_overtake_a_store(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n.shared 4096\n"
                                    "st.shared.v4.b32 [v7], v12:15\n"
                                    "bar.sync 0\n"
                                    "ld.shared.b32 v3, [v7]\n"
                                    "exit\n.end\n";
    struct run *r = run_new();
    char trace[1024];

    (void)state;
    r->config->registers_ports = 1;
    r->config->registers_swizzle = false;
    run_text(r, text, 1, 64);
    assert_string_equal(run_trace(r, 0, 3, trace, sizeof trace), "w0.0@0 w1.0@1 w0.1@6 w1.1@7 w0.2@8 w1.2@9");
    causes_sum_to_the_slots(r);
    run_free(r);
}

/* Example of the book by Aamodt, Fung and Rogers: `mad v4, v3, v7, v1` reads one vector register per cycle, in cycles 1 to 3,
 * enters its pipe in 4, and writes v4 in 5. If nothing protects the read of v1, an instruction that writes v1 issues in cycle
 * 1. The Bloom filter of `bloom` has the bits of registers 3, 7 and 1. These bits include all bits of register 26, but not
 * those of register 20. */
static void each_war_option_holds_a_write_back(void **state)
{
    static const struct {
        unsigned war, target, cycle;
    } cases[] = {
        {TIM_WAR_NONE, 1, 1},   {TIM_WAR_COMMIT, 1, 5},  {TIM_WAR_READ, 1, 3},   {TIM_WAR_BLOOM, 1, 3},
        {TIM_WAR_COMMIT, 20, 5}, {TIM_WAR_READ, 20, 3},  {TIM_WAR_BLOOM, 20, 1}, {TIM_WAR_BLOOM, 26, 3},
        {TIM_WAR_COUNTERS, 1, 3}, {TIM_WAR_COUNTERS, 20, 1}, {TIM_WAR_COUNTERS, 26, 1},
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct run *r = run_new();
        char text[256], trace[256], expected[64];
        unsigned exits = cases[i].war == TIM_WAR_COMMIT ? 2 : 0; /* with this option exit waits for earlier instructions, too */

        snprintf(expected, sizeof expected, "w0.0@0 w0.1@%u", cases[i].cycle);
        snprintf(text, sizeof text, ".kernel k\n.param ptr.global out\nv_mad_u32 v4, v3, v7, v1\n"
                 "v_mov_b32 v%u, v9\nexit\n.end\n", cases[i].target);
        r->config->registers_ports = 1;
        r->config->issue_war = cases[i].war;
        run_text(r, text, 1, 32);
        assert_string_equal(run_trace(r, 0, 2, trace, sizeof trace), expected);
        assert_int_equal(slots(r, TIM_STALL_WAR), cases[i].cycle - 1 + exits);
        causes_sum_to_the_slots(r);
        run_free(r);
    }
}

/* `mad v4, v3, v7, v1` reads its operands until cycle 3. The instructions after it read v3 in the cycle after their issue.
 * issue.readers limits the number of pending reads of v3. */
static void counters_limit_the_reads_that_are_pending(void **state)
{
    static const struct {
        unsigned readers, cycle[2];
    } cases[] = {{1, {3, 4}}, {2, {1, 2}}, {63, {1, 2}}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct run *r = run_new();
        char trace[256], expected[64];

        snprintf(expected, sizeof expected, "w0.0@0 w0.1@%u w0.2@%u", cases[i].cycle[0], cases[i].cycle[1]);
        r->config->registers_ports = 1;
        r->config->issue_war = TIM_WAR_COUNTERS;
        r->config->issue_readers = cases[i].readers;
        run_text(r, ".kernel k\n.param ptr.global out\nv_mad_u32 v4, v3, v7, v1\nv_mov_b32 v5, v3\nv_mov_b32 v6, v3\nexit\n.end\n", 1, 32);
        assert_string_equal(run_trace(r, 0, 3, trace, sizeof trace), expected);
        causes_sum_to_the_slots(r);
        run_free(r);
    }
}

/* The only collector reads three vector registers in cycles 1 to 3, and is free in cycle 4, when the instruction enters its
 * pipe. With replays, the next instruction takes the issue slots of cycles 1 to 3 for failed attempts. */
static void for_want_of_a_collector_an_instruction_is_replayed(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n"
                                    "v_mad_u32 v4, v1, v2, v3\n"
                                    "v_mad_u32 v5, v1, v2, v3\n"
                                    "exit\n.end\n";

    (void)state;
    for (unsigned replay = 0; replay < 2; replay++) {
        struct run *r = run_new();
        char trace[256];

        r->config->registers_ports = 1;
        r->config->registers_collectors = 1;
        r->config->lsu_replay = replay;
        run_text(r, text, 1, 32);
        assert_string_equal(run_trace(r, 0, 2, trace, sizeof trace), "w0.0@0 w0.1@4");
        assert_int_equal(slots(r, replay != 0 ? TIM_STALL_REPLAY : TIM_STALL_COLLECTOR), 3);
        assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_replays_collector], replay * 3);
        causes_sum_to_the_slots(r);
        run_free(r);
    }
}

/* The second pass of the store is a replay, which takes the issue slot of cycle 3 and is executed in cycle 5. The load,
 * which reached the head of the queue in cycle 3, is replayed as well. The load takes the slot of cycle 4, and makes its
 * access in cycle 6. The loaded data arrives 8 cycles later. */
static void a_load_does_not_overtake_the_replay_of_a_store(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n.shared 4096\n"
                                    "v_s2r v0, %tid.x\n"
                                    "v_shl_b32 v7, v0, 3\n"
                                    "st.shared.b32 [v7], v1\n"
                                    "ld.shared.b32 v3, [v8]\n"
                                    "v_mov_b32 v4, v3\n"
                                    "exit\n.end\n";
    struct run *r = run_new();
    char trace[256];

    (void)state;
    r->config->shared_latency = 8;
    r->config->lsu_replay = TIM_REPLAY_BUFFER;
    run_text(r, text, 1, 32);
    assert_string_equal(run_trace(r, 2, 5, trace, sizeof trace), "w0.0@0 w0.1@1 w0.2@14");
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_replays_banks], 1);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_replays_order], 1);
    assert_int_equal(slots(r, TIM_STALL_REPLAY), 2);
    causes_sum_to_the_slots(r);
    run_free(r);
}

/* A barrier blocks warps until the last warp of the block has arrived. Then their next instructions can issue immediately. */
static void a_barrier_waits_for_the_last(void **state)
{
    static const char *const text = ".kernel k\n.param ptr.global out\n.shared 4096\n"
                                    "v_s2r v0, %warpid\n"
                                    "ld.shared.b32 v3, [v7]\n"
                                    "bar.sync 0\n"
                                    "v_add_u32 v4, v5, 1\n"
                                    "exit\n.end\n";
    struct run *r = run_new();

    (void)state;
    run_text(r, text, 1, 96);
    causes_sum_to_the_slots(r);
    for (unsigned w = 0; w < 3; w++)
        assert_true(run_cycle(r, ISA_V_ADD_U32, w, 0) <= 2);
    assert_int_equal(run_cycle(r, ISA_BAR_SYNC, 2, 0), 2);
    run_free(r);
}

/* Issued instructions are counted by their number of active lanes, in bins of four lanes. The block has 9 lanes, of which 3
 * take a branch. */
static void issues_are_counted_by_lanes(void **state)
{
    static const char *const text = ".kernel k\nv_s2r v1, %tid.x\nv_setp_u32.lt p0, v1, 3\nbssy b0, j\n@p0 bra a\n"
                                    "nop\nbra j\na:\nnop\nnop\nj:\nbsync b0\nexit\n.end\n";
    struct run *r = run_new();
    uint64_t bins[16], all = 0;

    (void)state;
    run_text(r, text, 1, 9);
    for (unsigned i = 0; i < 16; i++)
        bins[i] = run_engine(r)->stats[0].sched[0].count[TIM_SCHED_issued_1_4 + i];
    for (unsigned i = 0; i < 16; i++)
        all += bins[i];
    assert_int_equal(all, run_engine(r)->stats[0].sched[0].count[TIM_SCHED_instructions]);
    assert_int_equal(bins[0], 3); /* nop, nop and bsync of the 3 lanes that take the branch */
    assert_int_equal(bins[1], 3); /* nop, bra and bsync of the other 6 lanes */
    assert_int_equal(bins[2], 5); /* instructions of all nine lanes */
    run_free(r);
}

/* Cycle compression: test vectors of section 11.1.6 of the specification of the book on GPU architectures, and others that were
 * computed by hand. */
static void compressed_cycles_are_as_published(void **state)
{
    static const struct {
        uint64_t active;
        unsigned width, lanes, none, basic, swizzled;
    } rows[] = {
        {0x0000ffff, 32, 16, 2, 1, 1}, {0x55555555, 32, 16, 2, 2, 1}, {0x0001ffff, 32, 16, 2, 2, 2},
        {0x80000001, 32, 16, 2, 2, 1}, {0, 32, 16, 2, 1, 1},          {0xf00f, 16, 4, 4, 2, 2},
        {0x8421, 16, 4, 4, 4, 1},      {0xffff, 16, 4, 4, 4, 4},      {0x80000000, 32, 32, 1, 1, 1},
        {0x7, 8, 3, 3, 1, 1},          {0xc1, 8, 3, 3, 2, 1},         {1, 4, 16, 1, 1, 1},
        {UINT64_MAX, 64, 16, 4, 4, 4}, {UINT64_C(0x1ffff) << 47, 64, 16, 4, 2, 2},
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        assert_int_equal(tim_compressed_cycles(TIM_COMPRESS_NONE, rows[i].active, rows[i].width, rows[i].lanes), rows[i].none);
        assert_int_equal(tim_compressed_cycles(TIM_COMPRESS_BASIC, rows[i].active, rows[i].width, rows[i].lanes), rows[i].basic);
        assert_int_equal(tim_compressed_cycles(TIM_COMPRESS_SWIZZLED, rows[i].active, rows[i].width, rows[i].lanes), rows[i].swizzled);
    }
}

/** Return the cycles from the issue of the first of four instructions with guard @guard to the issue of an instruction that
 *  needs the result of the fourth. */
static uint64_t cycles_of_four(const char *guard, unsigned mode, unsigned pipe_lanes, unsigned issue_lanes)
{
    struct run *r = run_new();
    char text[512];
    unsigned first = 0;

    snprintf(text, sizeof text, ".kernel k\nv_s2r v1, %%tid.x\nv_and_b32 v2, v1, 1\nv_setp_u32.lt p0, v1, 16\nv_setp_u32.eq p1, v2, 0\n"
                                "nanosleep 50\n%s v_add_u32 v3, v1, 1\n%s v_add_u32 v4, v1, 1\n%s v_add_u32 v5, v1, 1\n"
                                "%s v_add_u32 v6, v1, 1\nv_mov_b32 v7, v6\nexit\n.end\n", guard, guard, guard, guard);
    r->config->issue_compression = mode;
    r->config->issue_lanes = issue_lanes;
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        r->config->unit[u].lanes = pipe_lanes;
    run_text(r, text, 1, 32);
    while (r->issue[first].op != ISA_V_ADD_U32)
        first++;
    uint64_t cycles = r->issue[first + 4].cycle - r->issue[first].cycle;
    run_free(r);
    return cycles;
}

static void inactive_lanes_take_no_cycles(void **state)
{
    static const char *const guards[] = {"", "@p0", "@p1"}; /* all lanes, the lower half, each second lane */
    static const unsigned expected[][3] = {[TIM_COMPRESS_NONE] = {2, 2, 2}, [TIM_COMPRESS_BASIC] = {2, 1, 2}, [TIM_COMPRESS_SWIZZLED] = {2, 1, 1}};

    (void)state;
    for (unsigned mode = 0; mode < LW_COUNT_OF(expected); mode++)
        for (unsigned g = 0; g < LW_COUNT_OF(guards); g++) {
            const unsigned each = expected[mode][g];
            /* The fourth instruction enters the pipe after three others, each of which occupies the pipe for `each` cycles.
             * Without a wait for the pipe, a result is ready 3 cycles after the issue. */
            assert_int_equal(cycles_of_four(guards[g], mode, 16, 0), 3 * each + 3);
            /* Here a pipe starts all lanes in one cycle, and the scheduler limits the rate. */
            assert_int_equal(cycles_of_four(guards[g], mode, 32, 16), 3 * each + 3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loose_round_robin_is_as_published),
        cmocka_unit_test(greedy_then_oldest_is_as_published),
        cmocka_unit_test(greedy_then_youngest_is_as_published),
        cmocka_unit_test(a_warp_in_a_used_slot_is_the_youngest),
        cmocka_unit_test(two_levels_select_within_their_group),
        cmocka_unit_test(a_limit_admits_the_oldest),
        cmocka_unit_test(a_limit_lets_a_block_pass_its_barrier),
        cmocka_unit_test(a_limit_counts_what_it_admits),
        cmocka_unit_test(a_pool_is_left_for_memory_outside_the_core),
        cmocka_unit_test(a_result_takes_its_latency_and_two_cycles),
        cmocka_unit_test(a_pipe_takes_its_lanes),
        cmocka_unit_test(dual_issue_takes_two_pipes),
        cmocka_unit_test(a_slot_says_what_it_waited_for),
        cmocka_unit_test(a_slot_says_what_holds_its_dependence_barrier),
        cmocka_unit_test(a_dependence_barrier_that_is_full_is_waited_for),
        cmocka_unit_test(a_fence_waits_for_a_store_right_before_it),
        cmocka_unit_test(a_load_does_not_overtake_a_store_of_its_warp),
        cmocka_unit_test(a_barrier_lets_nobody_overtake_a_store),
        cmocka_unit_test(each_war_option_holds_a_write_back),
        cmocka_unit_test(counters_limit_the_reads_that_are_pending),
        cmocka_unit_test(for_want_of_a_collector_an_instruction_is_replayed),
        cmocka_unit_test(a_load_does_not_overtake_the_replay_of_a_store),
        cmocka_unit_test(a_barrier_waits_for_the_last),
        cmocka_unit_test(issues_are_counted_by_lanes),
        cmocka_unit_test(compressed_cycles_are_as_published),
        cmocka_unit_test(inactive_lanes_take_no_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
