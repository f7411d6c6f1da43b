/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the detection of order-free kernels, and the execution of blocks on several host threads: interrupts, views of
 * the state after a fault, and all conditions that require the fixed order. tests/emu/engine/test_threads.sh compares
 * runs on different numbers of threads. */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "emu/emu.h"

enum { WORDS = 65536 };

struct run {
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    uint64_t out;
};

static void check(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}
static void launch(struct run *r, uint32_t grid, uint32_t block)
{
    struct lw_error err;
    struct emu_launch launch = {.program = r->program, .kernel = &r->object->functions[0],
                                .grid = {grid, 1, 1}, .block = {block, 1, 1}, .work_dim = 1,
                                .params = &r->out};

    check(emu_grid_launch(r->machine, &launch, NULL, &err), &err);
}
static void open_run(struct run *r, const char *text, unsigned threads)
{
    struct emu_config config;
    struct lw_error err;

    memset(r, 0, sizeof *r);
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    check(emu_machine_create(&config, &r->machine, &err), &err);
    check(isa_assemble("test.s", text, strlen(text), &r->object, &err), &err);
    check(emu_program_load(r->machine, r->object, &r->program, &err), &err);
    check(emu_alloc(r->machine, WORDS * 4, "out", 0, &r->out, &err), &err);
    check(emu_engine_functional_create(r->machine, &r->engine, &err), &err);
    r->engine->threads = threads;
}
static void go(struct run *r)
{
    struct lw_error err;

    check(r->engine->ops->run(r->engine, &r->stop, &err), &err);
}
static void expect_stop(const struct run *r, enum emu_stop_kind kind)
{
    if (r->stop.kind != kind)
        fail_msg("stop %d: %s%s", r->stop.kind, r->stop.fault.detail, r->stop.hang.detail);
}
static void close_run(struct run *r)
{
    emu_engine_destroy(r->engine);
    emu_machine_destroy(r->machine);
    isa_object_destroy(r->object);
}
static uint64_t threads_used(const struct run *r)
{
    struct emu_stats stats;

    emu_stats_get(r->machine, &stats);
    return stats.threads;
}

/* ---- the analysis ------------------------------------------------------------------------- */

static void expect_order(const char *body, const char *want)
{
    static const char head[] = ".shared word 16\n.kernel k\n.param ptr.global out\n";
    static const char *const words[] = {[ISA_ORDER_NONE] = "order-free",
                                        [ISA_ORDER_BLOCK] = "block-order-free",
                                        [ISA_ORDER_GRID] = "fixed"};
    char text[2000];
    struct run r;

    snprintf(text, sizeof text, "%s%s\n", head, body);
    open_run(&r, text, 1);
    const struct isa_function *k = &r.object->functions[0];
    const struct isa_order_analysis *v = emu_kernel_order(r.program, k);
    if (strcmp(words[v->worst], want) != 0)
        fail_msg("%s instead of %s: %s", words[v->worst], want, body);
    assert_int_equal(emu_kernel_block_order_free(r.program, k), strcmp(want, "fixed") != 0);
    struct isa_order_analysis *again = isa_object_orders(r.object);
    assert_non_null(again);
    assert_int_equal(again[0].worst, v->worst);
    assert_int_equal(again[0].insn, v->insn);
    free(again);
    close_run(&r);
}
#define END "exit\n.end\n"

/* The analysis of a kernel covers the functions that the kernel calls, also those that several kernels call. A kernel with
 * unknown jump targets does not change the analysis of later kernels. Functions are sorted by address. */
static void each_kernel_of_a_program_has_its_own_order(void **state)
{
    static const char text[] =
        ".kernel anywhere\nbrx v4:5\nexit\n.end\n"
        ".kernel plain\nst.global.b32 [v2:3], v1\nexit\n.end\n"
        ".kernel caller\ncall v10:11, h\nexit\n.end\n"
        ".kernel again\ncall v10:11, g\nexit\n.end\n"
        ".func g\ncall v12:13, h\nret v10:11\n.end\n"
        ".func h\nld.global.b32.relaxed v1, [v2:3]\nret v10:11\n.end\n"
        ".kernel also\nbrx v4:5\nexit\n.end\n"
        ".kernel block\nld.shared.b32.volatile v1, [v2]\nexit\n.end\n";
    static const struct {
        enum isa_order worst;
        bool everything;
    } want[] = {{ISA_ORDER_GRID, true},  {ISA_ORDER_NONE, false}, {ISA_ORDER_GRID, false},
                {ISA_ORDER_GRID, false}, {ISA_ORDER_NONE, false}, {ISA_ORDER_NONE, false},
                {ISA_ORDER_GRID, true},  {ISA_ORDER_BLOCK, false}};
    struct isa_object *object;
    struct lw_error err;

    (void)state;
    if (isa_assemble("test.s", text, strlen(text), &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(object->function_count, LW_COUNT_OF(want));
    struct isa_order_analysis *got = isa_object_orders(object);
    assert_non_null(got);
    for (unsigned k = 0; k < LW_COUNT_OF(want); k++) {
        if (got[k].worst != want[k].worst || got[k].everything != want[k].everything)
            fail_msg("%s: order %d, everything %d", object->functions[k].name, got[k].worst,
                     got[k].everything);
        if (got[k].worst == ISA_ORDER_GRID) /* the instruction is in h, and requires the order for each kernel that calls h */
            assert_int_equal(got[k].insn, object->functions[5].first);
    }
    free(got);
    isa_object_destroy(object);
}

static void each_access_counts_by_space_order_and_operation(void **state)
{
    (void)state;
    expect_order("st.global.b32 [v2:3], v1\n" END, "order-free");
    expect_order("ld.global.b32.volatile v1, [v2:3]\n" END, "fixed");
    expect_order("ld.global.b32.relaxed v1, [v2:3]\n" END, "fixed");
    expect_order("ld.global.b32.acquire v1, [v2:3]\n" END, "fixed");
    expect_order("st.global.b32.release [v2:3], v1\n" END, "fixed");
    expect_order("ld.generic.b32.volatile v1, [v2:3]\n" END, "fixed");
    expect_order("ld.generic.b32 v1, [v2:3]\n" END, "order-free");
    expect_order("ld.shared.b32.volatile v1, [v2]\n" END, "block-order-free");
    expect_order("st.local.b32.volatile [v2], v1\n" END, "order-free");
    expect_order("red.global.add.u32 [v2:3], v1\n" END, "order-free");
    expect_order("red.generic.max.s64 [v2:3], v4:5\n" END, "order-free");
    expect_order("atom.global.add.u32 _, [v2:3], v1\n" END, "order-free");
    expect_order("atom.global.add.u32 v0, [v2:3], v1\n" END, "fixed");
    expect_order("atom.generic.add.u32 v0, [v2:3], v1\n" END, "fixed");
    expect_order("atom.shared.add.u32 v0, [v2], v1\n" END, "block-order-free");
    expect_order("atom.shared.cas.b32 v0, [v2], v1, v1\n" END, "block-order-free");
    expect_order("red.global.add.f32 [v2:3], v1\n" END, "fixed");
    expect_order("red.shared.add.f32 [v2], v1\n" END, "block-order-free");
    expect_order("red.generic.add.f32 [v2:3], v1\n" END, "fixed");
    expect_order("red.global.inc.u32 [v2:3], v1\n" END, "fixed");
    expect_order("red.global.exch.b32 [v2:3], v1\n" END, "fixed");
    expect_order("red.global.add.u32.acq_rel [v2:3], v1\n" END, "fixed");
}

static void special_registers_and_lanes_count(void **state)
{
    static const char *const fixed[] = {"smid", "nsmid", "warpid", "nwarpid"};
    static const char *const free_ones[] = {"tid.x", "ctaid.y", "laneid", "ntid.z", "lanemask_lt"};
    char text[100];

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(fixed); i++) {
        snprintf(text, sizeof text, "v_s2r v0, %%%s\n" END, fixed[i]);
        expect_order(text, "fixed");
        snprintf(text, sizeof text, "s_s2r s0, %%%s\n" END, fixed[i]);
        expect_order(text, "fixed");
    }
    for (unsigned i = 0; i < LW_COUNT_OF(free_ones); i++) {
        snprintf(text, sizeof text, "v_s2r v0, %%%s\n" END, free_ones[i]);
        expect_order(text, "order-free");
    }
    expect_order("v_s2r_b64 v0:1, %globaltimer\n" END, "fixed");
    expect_order("v_s2r v0, %clock\n" END, "block-order-free");
    expect_order("v_s2r_b64 v0:1, %clock64\n" END, "block-order-free");
    expect_order("v_s2r v0, %activemask\n" END, "block-order-free");
    expect_order("vote.ballot.b32 v0, p0, v1\n" END, "order-free");
    expect_order("s_ballot s0:1, p0\n" END, "block-order-free");
    expect_order("vprintf v0, v2:3, 0\n" END, "block-order-free");
    expect_order("assertfail v2:3\n" END, "block-order-free");
}

static void reductions_commute_with_their_like_only(void **state)
{
    (void)state;
    expect_order("red.global.add.u32 [v2:3], v1\nred.global.add.s32 [v4:5], v1\n" END,
                 "order-free");
    expect_order("red.global.add.u32 [v2:3], v1\nred.global.max.u64 [v4:5], v6:7\n" END,
                 "order-free");
    expect_order("red.global.add.u32 [v2:3], v1\nred.global.max.u32 [v4:5], v1\n" END, "fixed");
    expect_order("red.global.max.s32 [v2:3], v1\nred.global.max.u32 [v4:5], v1\n" END, "fixed");
    expect_order("red.global.add.u32 [v2:3], v1\nred.generic.or.b32 [v4:5], v1\n" END, "fixed");
    expect_order("red.shared.add.u32 [v2], v1\nred.global.or.b32 [v4:5], v1\n" END,
                 "order-free");
    expect_order("red.shared.add.u32 [v2], v1\nred.shared.or.b32 [v4], v1\n" END,
                 "block-order-free");
}

static void only_what_flow_can_reach_counts(void **state)
{
    static const char f[] = ".func f\natom.global.add.u32 v4, [v2:3], v1\nret v0:1\n.end\n";
    static const char g[] = ".func g\ncall v6:7, f\nret v0:1\n.end\n";
    static const char h[] = ".func h\nv_add_u32 v4, v4, v4\nret v0:1\n.end\n";
    char text[1000];

    (void)state;
    snprintf(text, sizeof text, END "%s%s%s", f, g, h);
    expect_order(text, "order-free");
    snprintf(text, sizeof text, "call v0:1, h\n" END "%s%s%s", f, g, h);
    expect_order(text, "order-free");
    snprintf(text, sizeof text, "call v0:1, f\n" END "%s%s%s", f, g, h);
    expect_order(text, "fixed");
    snprintf(text, sizeof text, "call v0:1, g\n" END "%s%s%s", f, g, h);
    expect_order(text, "fixed");
    snprintf(text, sizeof text, "callx v0:1, v2:3\n" END "%s", f);
    expect_order(text, "fixed");
    snprintf(text, sizeof text, "callx v0:1, v2:3\n" END "%s", h);
    expect_order(text, "order-free");
    snprintf(text, sizeof text, "brx v2:3\n.end\n%s", f);
    expect_order(text, "fixed");
    snprintf(text, sizeof text, "exit\n.end\n.kernel other\n"
                                "atom.global.add.u32 v4, [v2:3], v1\nexit\n.end\n");
    expect_order(text, "order-free");
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Every thread computes a sum; block 0 takes longest. */
static const char busy[] =
    ".kernel k\n.param ptr.global out\n"
    "v_s2r v0, %ctaid.x\nv_s2r v1, %ntid.x\nv_s2r v2, %tid.x\nv_mad_u32 v3, v0, v1, v2\n"
    "v_and_b32 v4, v0, 15\nv_xor_b32 v4, v4, 15\nv_add_u32 v4, v4, 5\nv_mul_u32 v4, v4, 200\n"
    "again: v_mad_u32 v3, v3, 5, v4\nv_sub_u32 v4, v4, 1\nv_setp_u32.ne p0, v4, 0\n"
    "@p0 bra again\n"
    "v_mad_u32 v0, v0, v1, v2\nv_mov_b64 v8:9, c[out]\nv_madwide_u32 v8:9, v0, 4, v8:9\n"
    "st.global.b32 [v8:9], v3\nexit\n.end\n";

struct results {
    uint64_t mem, state, instructions;
    struct emu_stats stats;
};
static void results_of(const struct run *r, struct results *out)
{
    out->mem = emu_hash_mem(r->machine);
    out->state = emu_hash_state(r->machine);
    out->instructions = r->engine->ops->instructions(r->engine);
    emu_stats_get(r->machine, &out->stats);
    out->stats.threads = 0;
}
static void expect_results(const struct run *r, const struct results *want)
{
    struct results got;

    results_of(r, &got);
    assert_int_equal(got.mem, want->mem);
    assert_int_equal(got.state, want->state);
    assert_int_equal(got.instructions, want->instructions);
    assert_memory_equal(&got.stats, &want->stats, sizeof got.stats);
}

static void hashes_and_counts_are_those_of_one_thread(void **state)
{
    struct results want;
    struct run r;

    (void)state;
    open_run(&r, busy, 1);
    launch(&r, 300, 96);
    launch(&r, 2, 32);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    assert_int_equal(threads_used(&r), 1);
    results_of(&r, &want);
    close_run(&r);
    for (unsigned threads = 2; threads <= 5; threads++) {
        open_run(&r, busy, threads);
        launch(&r, 300, 96);
        launch(&r, 2, 32); /* fewer blocks than threads */
        go(&r);
        expect_stop(&r, EMU_STOP_IDLE);
        assert_int_equal(threads_used(&r), threads);
        expect_results(&r, &want);
        close_run(&r);
    }
}

struct pest {
    struct emu_engine *engine;
    volatile bool quit;
};
static void *interrupt_often(void *context)
{
    struct pest *p = context;

    while (!__atomic_load_n(&p->quit, __ATOMIC_RELAXED)) {
        emu_engine_interrupt(p->engine);
        usleep(1000);
    }
    return NULL;
}

static void an_interrupted_run_goes_on_and_ends_the_same(void **state)
{
    struct results want;
    struct run r;

    (void)state;
    open_run(&r, busy, 1);
    launch(&r, 400, 96);
    go(&r);
    results_of(&r, &want);
    close_run(&r);
    for (unsigned round = 0; round < 5; round++) {
        struct pest pest;
        pthread_t thread;
        unsigned stops = 0;
        open_run(&r, busy, 3);
        launch(&r, 400, 96);
        pest = (struct pest){.engine = r.engine};
        emu_engine_interrupt(r.engine); /* The first interrupt is requested before the run starts. */
        assert_int_equal(pthread_create(&thread, NULL, interrupt_often, &pest), 0);
        for (;;) {
            go(&r);
            if (r.stop.kind != EMU_STOP_INTERRUPTED)
                break;
            struct emu_stats stats;
            emu_stats_get(r.machine, &stats); /* views of the state must be possible after an interrupt */
            stops++;
        }
        __atomic_store_n(&pest.quit, true, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
        expect_stop(&r, EMU_STOP_IDLE);
        assert_true(stops > 1);
        expect_results(&r, &want);
        close_run(&r);
    }
}

/* Block b traps if b % 8 is 7. Of these blocks, those with lower numbers execute longer before they trap. */
static const char traps[] =
    ".kernel k\n.param ptr.global out\n"
    "v_s2r v0, %ctaid.x\nv_mov_b32 v5, 99\nv_xor_b32 v4, v0, 63\nv_add_u32 v4, v4, 7\nv_mul_u32 v4, v4, 300\n"
    "again: v_sub_u32 v4, v4, 1\nv_setp_u32.ne p0, v4, 0\n@p0 bra again\n"
    "v_and_b32 v1, v0, 7\nv_setp_u32.eq p0, v1, 7\nv_add_u32 v5, v5, v0\n@p0 trap 2\n"
    "v_mov_b64 v8:9, c[out]\nv_madwide_u32 v8:9, v0, 4, v8:9\nst.global.b32 [v8:9], v5\n"
    "exit\n.end\n";

static void the_lowest_faulting_block_is_reported_and_can_be_looked_at(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct emu_core *core;
        struct emu_thread_ref place;
        struct run r;
        uint32_t word[8];
        uint64_t value;
        unsigned slot;
        open_run(&r, traps, 2 + round % 3);
        launch(&r, 64, 32);
        go(&r);
        expect_stop(&r, EMU_STOP_FAULT);
        assert_int_equal(r.stop.fault.kind, EMU_FAULT_TRAP);
        assert_int_equal(r.stop.fault.block, 7);
        assert_int_equal(r.stop.place.block, 7);
        struct lw_error err;
        check(emu_global_read(r.machine, r.out, word, sizeof word, &err), &err);
        for (unsigned b = 0; b < 8; b++) /* all lower blocks have finished */
            assert_int_equal(word[b], b < 7 ? 99 + b : 0);
        assert_true(r.engine->ops->locate(r.engine, 1, 7, &core, &slot));
        assert_true(emu_reg_read(core, slot, 0, ISA_REG_V, 5, 3, &value));
        assert_int_equal(value, 106);
        assert_int_equal(r.engine->ops->warp_count(r.engine), 1);
        assert_true(r.engine->ops->warp_at(r.engine, 0, &place));
        assert_int_equal(place.block, 7);
        go(&r); /* the test does not continue the stopped run */
        expect_stop(&r, EMU_STOP_FAULT);
        assert_int_equal(r.stop.fault.block, 7);
        close_run(&r);
    }
}

static bool watch(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer, (void)ev;
    return false;
}
static void hear(struct emu_machine_listener *listener, const struct emu_machine_event *event)
{
    (void)listener, (void)event;
}

static void whoever_watches_gets_the_fixed_order(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 6; way++) {
        struct emu_observer observer = {.on_event = watch};
        struct emu_machine_listener listener = {.on_machine_event = hear};
        struct lw_error err;
        struct run r;
        open_run(&r, busy, 4);
        launch(&r, 8, 32);
        if (way == 0)
            emu_observer_add(r.engine, &observer);
        else if (way == 1)
            emu_machine_add_listener(r.machine, &listener);
        else if (way == 2)
            check(emu_breakpoint_set(r.machine, ISA_CODE_BASE + 16, true, &err), &err);
        else if (way == 3)
            emu_machine_print_immediately(r.machine, true);
        else if (way == 4)
            r.engine->stop_at = 1000;
        go(&r);
        assert_int_equal(threads_used(&r), way == 5 ? 4 : 1);
        close_run(&r);
    }
}

static void an_observer_in_the_middle_sees_the_next_grid(void **state)
{
    struct emu_observer observer = {.on_event = watch};
    struct emu_event ev;
    struct lw_error err;
    struct run r;

    (void)state;
    open_run(&r, busy, 3);
    launch(&r, 400, 96);
    emu_engine_interrupt(r.engine);
    go(&r);
    expect_stop(&r, EMU_STOP_INTERRUPTED);
    struct pest pest = {.engine = r.engine};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_often, &pest), 0);
    do
        go(&r);
    while (threads_used(&r) == 1 && r.stop.kind == EMU_STOP_INTERRUPTED);
    __atomic_store_n(&pest.quit, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    if (r.stop.kind == EMU_STOP_INTERRUPTED) { /* if the condition is false, the host was too slow to stop the run */
        assert_int_equal(r.engine->ops->step(r.engine, &ev, &r.stop, &err), LW_ESTATE);
        emu_observer_add(r.engine, &observer);
        check(emu_breakpoint_set(r.machine, ISA_CODE_BASE + 16 * 15, true, &err), &err);
        do
            go(&r);
        while (r.stop.kind == EMU_STOP_INTERRUPTED);
        expect_stop(&r, EMU_STOP_IDLE);
        launch(&r, 2, 32);
        go(&r);
        expect_stop(&r, EMU_STOP_BREAK);
    }
    close_run(&r);
}

static void a_grid_that_has_begun_alone_ends_alone(void **state)
{
    struct emu_event ev;
    struct lw_error err;
    struct run r;

    (void)state;
    open_run(&r, busy, 4);
    launch(&r, 8, 32);
    check(r.engine->ops->step(r.engine, &ev, &r.stop, &err), &err);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    assert_int_equal(threads_used(&r), 1);
    launch(&r, 8, 32);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    assert_int_equal(threads_used(&r), 4);
    close_run(&r);
}

/* All blocks apply all integer reductions of both sizes to the same words. */
static void reductions_of_several_threads_lose_nothing(void **state)
{
    static const char *const ops[] = {"add.u32", "min.s32", "max.u32", "and.b32", "or.b32",
                                      "xor.b32", "add.u64", "min.u64", "max.s64", "and.b64",
                                      "or.b64",  "xor.b64"};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(ops); i++) {
        struct results want;
        char text[1000];
        bool wide = strstr(ops[i], "64") != NULL;
        snprintf(text, sizeof text,
                 ".kernel k\n.param ptr.global out\n"
                 "v_s2r v0, %%ctaid.x\nv_s2r v1, %%ntid.x\nv_s2r v2, %%tid.x\n"
                 "v_mad_u32 v0, v0, v1, v2\nv_mov_b64 v8:9, c[out]\nv_and_b32 v1, v0, 3\n"
                 "v_madwide_u32 v8:9, v1, 8, v8:9\nv_mov_b32 v10, 30\nv_mul_u32 v4, v0, 77777\n"
                 "again: v_mad_u32 v4, v4, 5, v10\nv_mul_u32 v5, v4, 3\n"
                 "red.global.%s [v8:9], %s\n"
                 "v_sub_u32 v10, v10, 1\nv_setp_u32.ne p0, v10, 0\n@p0 bra again\nexit\n.end\n",
                 ops[i], wide ? "v4:5" : "v4");
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct run r;
            struct lw_error err;
            uint32_t first[8] = {~0u, ~0u, 5, 6, ~0u, ~0u, 1u << 31, 0};
            open_run(&r, text, threads);
            check(emu_global_write(r.machine, r.out, first, sizeof first, &err), &err);
            launch(&r, 100, 64);
            go(&r);
            expect_stop(&r, EMU_STOP_IDLE);
            assert_int_equal(threads_used(&r), threads);
            if (threads == 1)
                results_of(&r, &want);
            else
                expect_results(&r, &want);
            close_run(&r);
        }
    }
}

static void engines_on_threads_are_destroyed_anywhere(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, busy, 3); /* the machine is closed before the first run */
    launch(&r, 8, 32);
    close_run(&r);
    for (unsigned i = 0; i < 10; i++) { /* the machine is closed after an interrupt in the middle of a run */
        open_run(&r, busy, 3);
        launch(&r, 400, 96);
        emu_engine_interrupt(r.engine);
        go(&r);
        expect_stop(&r, EMU_STOP_INTERRUPTED);
        close_run(&r);
    }
}

static void a_fork_has_threads_of_its_own(void **state)
{
    struct run r;
    int status;

    (void)state;
    open_run(&r, busy, 3);
    launch(&r, 400, 96);
    go(&r);
    for (unsigned runs = 0; runs < 2; runs++) { /* the first child only closes the machine */
        const pid_t child = fork();

        if (child == 0) {
            alarm(60);
            if (runs != 0) {
                launch(&r, 400, 96);
                go(&r);
            }
            const bool good = r.stop.kind == EMU_STOP_IDLE && threads_used(&r) == 3;
            close_run(&r);
            _exit(good ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    launch(&r, 400, 96);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    close_run(&r);
}

/* Some blocks of the first grid are executed block-wide. All host threads must still execute the next grid, and a run
 * up to an instruction count that has already been passed must stop immediately. */
static void a_grid_after_a_block_wide_one_has_its_threads(void **state)
{
    static const char text[] = ".kernel k\n.param ptr.global out\n"
                               "s_mov_b64 s0:1, c[out]\n"
                               "s_s2r s2, %ctaid.x\n"
                               "s_s2r s3, %ntid.x\n"
                               "s_mul_u32 s2, s2, s3\n"
                               "v_s2r v0, %tid.x\n"
                               "v_add_u32 v0, v0, s2\n"
                               "st.global.b32 [s0:1+v0*4], v0\n" END;
    struct run r;

    (void)state;
    open_run(&r, text, 4);
    launch(&r, 1, 64);
    launch(&r, 1000, 64);
    go(&r);
    expect_stop(&r, EMU_STOP_IDLE);
    assert_int_equal(threads_used(&r), 4);
    close_run(&r);
    open_run(&r, text, 1);
    launch(&r, 100, 64);
    r.engine->stop_at = 20;
    go(&r);
    expect_stop(&r, EMU_STOP_COUNT);
    r.engine->stop_at = 1;
    go(&r);
    expect_stop(&r, EMU_STOP_COUNT);
    assert_int_equal(r.engine->ops->instructions(r.engine), 20);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_of_a_program_has_its_own_order),
        cmocka_unit_test(each_access_counts_by_space_order_and_operation),
        cmocka_unit_test(special_registers_and_lanes_count),
        cmocka_unit_test(reductions_commute_with_their_like_only),
        cmocka_unit_test(only_what_flow_can_reach_counts),
        cmocka_unit_test(hashes_and_counts_are_those_of_one_thread),
        cmocka_unit_test(an_interrupted_run_goes_on_and_ends_the_same),
        cmocka_unit_test(the_lowest_faulting_block_is_reported_and_can_be_looked_at),
        cmocka_unit_test(whoever_watches_gets_the_fixed_order),
        cmocka_unit_test(an_observer_in_the_middle_sees_the_next_grid),
        cmocka_unit_test(a_grid_that_has_begun_alone_ends_alone),
        cmocka_unit_test(reductions_of_several_threads_lose_nothing),
        cmocka_unit_test(a_grid_after_a_block_wide_one_has_its_threads),
        cmocka_unit_test(engines_on_threads_are_destroyed_anywhere),
        cmocka_unit_test(a_fork_has_threads_of_its_own),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
