/* SPDX-License-Identifier: Apache-2.0 */
/* Tests instructions that the parser replaces by others: accesses to surfaces, queries, and barrier objects (mbarrier). The texts
 * have the forms that nvcc writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "tests/ptx/ptx_refusal.h"

enum { LANES = 32, WORDS = 4, WIDTH = 6, HEIGHT = 4, DEPTH = 3, PITCH = WIDTH * 4 };
#define KERNEL(body)                                                                          \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                         \
    ".global .surfref face;\n"                                                                \
    ".visible .entry k(.param .u64 out, .param .u64 object) {\n"                              \
    ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<30>; .reg .f32 %f<30>; .reg .b64 %d<16>; .reg .f64 %fd<8>;\n" \
    "mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %r0, 16;\n"              \
    "add.s64 %d0, %d0, %d1; ld.param.u64 %d2, [object];\n" body "\nret; }\n"

/** Buffers of a run. The surface has WIDTH * HEIGHT * DEPTH words: word k is 1000 + k. */
struct result {
    uint32_t out[LANES][WORDS], surface[WIDTH * HEIGHT * DEPTH];
    struct emu_stop stop;
};

/* Runs a kernel with a block of 32 threads. The surface object has @axes dimensions, or layers of one or two dimensions. */
static void run(const char *text, unsigned axes, bool layers, unsigned width, struct result *result)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct lw_error err;
    uint64_t params[2], texels;

    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    emu_config_default(&config);
    config.arena_bytes = 1 << 20;
    config.warp_width = width;
    ok(emu_machine_create(&config, &machine, &err), &err);
    ok(emu_program_load(machine, object, &program, &err), &err);
    ok(emu_alloc(machine, sizeof result->out, "out", 0, &params[0], &err), &err);
    ok(emu_alloc(machine, sizeof result->surface, "texels", 0, &texels, &err), &err);
    ok(emu_alloc(machine, EMU_TEXTURE_BYTES, "object", EMU_ALLOC_READ_ONLY, &params[1], &err), &err);
    for (unsigned i = 0; i < WIDTH * HEIGHT * DEPTH; i++)
        result->surface[i] = 1000 + i;
    ok(emu_global_write(machine, texels, result->surface, sizeof result->surface, &err), &err);
    struct emu_texture t = {.address = texels, .width = WIDTH, .height = axes > 1 ? HEIGHT : 0,
                            .depth = axes > 2 || layers ? DEPTH : 0, .pitch_bytes = PITCH, .layers = layers, .bits = 32,
                            .components = 1, .kind = EMU_TEXEL_UNSIGNED,
                            .edge = {EMU_TEXTURE_CLAMP, EMU_TEXTURE_CLAMP}};
    ok(emu_texture_bind(machine, params[1], &t, &err), &err);
    ok(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0], .grid = {1, 1, 1},
                                .block = {LANES, 1, 1}, .work_dim = 1, .params = params};
    ok(emu_grid_launch(machine, &launch, NULL, &err), &err);
    ok(engine->ops->run(engine, &result->stop, &err), &err);
    ok(emu_global_read(machine, params[0], result->out, sizeof result->out, &err), &err);
    ok(emu_global_read(machine, texels, result->surface, sizeof result->surface, &err), &err);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

static void run_to_end(const char *text, unsigned axes, bool layers, struct result *result)
{
    run(text, axes, layers, 32, result);
    if (result->stop.kind != EMU_STOP_IDLE)
        fail_msg("stop %d: %s", result->stop.kind, result->stop.fault.detail);
}

/* ---- surfaces ----------------------------------------------------------------------------- */

/* Coordinates of a lane: x from -1 to 6, y from -1 to 2. */
#define LANE_XY "and.b32 %r1, %r0, 7; sub.s32 %r1, %r1, 1; shl.b32 %r2, %r1, 2; shr.u32 %r3, %r0, 3; sub.s32 %r3, %r3, 1;\n"

static int within(int at, int last)
{
    return at < 0 ? 0 : at > last ? last : at;
}

static void loads_outside_a_surface_are_zero_or_clamped(void **state)
{
    static const struct {
        const char *text;
        unsigned axes;
        bool layers, clamps;
    } forms[] = {
        {KERNEL(LANE_XY "mov.b32 %r4, 9; suld.b.2d.b32.zero %r4, [%d2, {%r2, %r3}]; st.global.u32 [%d0], %r4;"), 2, false, false},
        {KERNEL(LANE_XY "suld.b.2d.b32.clamp {%r4}, [%d2, {%r2, %r3}]; st.global.u32 [%d0], %r4;"), 2, false, true},
        {KERNEL(LANE_XY "suld.b.3d.b32.clamp {%r4}, [%d2, {%r2, %r3, 0, 0}]; st.global.u32 [%d0], %r4;"), 3, false, true},
        {KERNEL(LANE_XY "suld.b.a1d.b32.zero {%r4}, [%d2, {%r3, %r2}]; st.global.u32 [%d0], %r4;"), 1, true, false},
        {KERNEL(LANE_XY "suld.b.a2d.b32.zero {%r4}, [%d2, {0, %r2, %r3, %r3}]; st.global.u32 [%d0], %r4;"), 2, true, false},
    };
    struct result r;

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        run_to_end(forms[i].text, forms[i].axes, forms[i].layers, &r);
        for (int t = 0; t < LANES; t++) {
            int x = t % 8 - 1, y = t / 8 - 1;
            bool inside = x >= 0 && x < WIDTH && y >= 0;
            uint32_t want = inside || forms[i].clamps ? 1000 + (uint32_t)(within(y, 2) * WIDTH + within(x, WIDTH - 1)) : 0;

            if (r.out[t][0] != want)
                fail_msg("form %zu, thread %d reads %u instead of %u", i, t, r.out[t][0], want);
        }
    }
}

static void loads_have_all_sizes(void **state)
{
    static const char text[] =
        KERNEL("and.b32 %r1, %r0, 1; shl.b32 %r1, %r1, 2;\n"
               "suld.b.1d.b8.trap {%h1}, [%d2, {%r1}]; suld.b.1d.b16.trap {%h2}, [%d2, {%r1}];\n"
               "suld.b.1d.v2.b16.trap {%h3, %h4}, [%d2, {%r1}]; suld.b.1d.v4.b8.trap {%h5, %h6, _, _}, [%d2, {%r1}];\n"
               "cvt.u32.u16 %r2, %h1; cvt.u32.u16 %r3, %h2; shl.b32 %r3, %r3, 8; add.u32 %r2, %r2, %r3;\n"
               "cvt.u32.u16 %r4, %h3; cvt.u32.u16 %r3, %h4; add.u32 %r4, %r4, %r3; cvt.u32.u16 %r5, %h5;\n"
               "cvt.u32.u16 %r3, %h6; shl.b32 %r3, %r3, 16; add.u32 %r5, %r5, %r3; shl.b32 %r1, %r1, 1;\n"
               "suld.b.1d.b64.trap {%d3}, [%d2, {%r1}]; shr.u64 %d3, %d3, 32; cvt.u32.u64 %r6, %d3;\n"
               "suld.b.1d.v4.b32.trap {%r7, %r8, %r9, %r10}, [%d2, {0}]; add.u32 %r6, %r6, %r10;\n"
               "st.global.v4.u32 [%d0], {%r2, %r4, %r5, %r6};");
    struct result r;

    (void)state;
    run_to_end(text, 1, false, &r);
    for (uint32_t t = 0; t < LANES; t++) {
        const uint32_t word = 1000 + t % 2;

        assert_int_equal(r.out[t][0], (word & 0xff) + (word << 8));
        assert_int_equal(r.out[t][1], word);
        assert_int_equal(r.out[t][2], (word & 0xff) + (word >> 8 << 16));
        assert_int_equal(r.out[t][3], 1000 + 1 + t % 2 * 2 + 1003);
    }
}

static void stores_and_reductions_write_only_the_surface(void **state)
{
    struct result r;

    (void)state;
    run_to_end(KERNEL(LANE_XY "sust.b.2d.b32.zero [%d2, {%r2, %r3}], {%r0};"), 2, false, &r);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            assert_int_equal(r.surface[y * WIDTH + x], y < 3 ? (y + 1) * 8 + x + 1 : 1000 + y * WIDTH + x);
    run_to_end(KERNEL("setp.lt.u32 %p1, %r0, 3; and.b32 %r1, %r0, 3; mov.u32 %r2, 77;"
                      "@%p1 sust.b.3d.v2.b32.trap [%d2, {8, 1, %r1, 0}], {%r0, %r2};"), 3, false, &r);
    for (unsigned z = 0; z < DEPTH; z++) {
        assert_int_equal(r.surface[(z * HEIGHT + 1) * WIDTH + 2], z);
        assert_int_equal(r.surface[(z * HEIGHT + 1) * WIDTH + 3], 77);
        assert_int_equal(r.surface[(z * HEIGHT + 1) * WIDTH + 4], 1000 + (z * HEIGHT + 1) * WIDTH + 4);
    }
    run_to_end(KERNEL("and.b32 %r1, %r0, 4; sured.b.add.1d.u32.trap [%d2, {%r1}], %r0;"
                      "sured.b.max.1d.s32.clamp [%d2, {4000}], 7777; sured.b.or.1d.b32.zero [%d2, {-4}], %r0;"), 1, false, &r);
    assert_int_equal(r.surface[0] + r.surface[1], 2001 + 31 * 16);
    assert_int_equal(r.surface[5], 7777);
}

static void an_access_outside_a_surface_traps(void **state)
{
    static const char *const forms[] = {
        KERNEL("shl.b32 %r1, %r0, 2; suld.b.1d.b32.trap {%r4}, [%d2, {%r1}];"),
        KERNEL("sust.b.1d.v2.b32 [%d2, {20}], {%r0, %r0};"),
        KERNEL("suld.b.1d.b32.trap {%r4}, [%d2, {-4}];"),
    };
    struct result r;

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        run(forms[i], 1, false, 32, &r);
        assert_int_equal(r.stop.kind, EMU_STOP_FAULT);
        assert_int_equal(r.surface[5], 1005);
    }
}

static void queries_return_the_size(void **state)
{
    struct result r;

    (void)state;
    run_to_end(KERNEL("suq.width.b32 %r1, [%d2]; txq.height.b32 %r2, [%d2]; suq.depth.b32 %r3, [%d2];"
                      "st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r3};"), 3, false, &r);
    assert_int_equal(r.out[7][0], WIDTH);
    assert_int_equal(r.out[7][1], HEIGHT);
    assert_int_equal(r.out[7][2], DEPTH);
}

/* ---- barrier objects ---------------------------------------------------------------------- */

#define BARRIER(count)                                                                        \
    ".shared .align 8 .b64 bar; setp.eq.u32 %p1, %r0, 0;\n"                                   \
    "@%p1 mbarrier.init.shared.b64 [bar], " count "; bar.sync 0;\n"
#define WAIT(label) label ": mbarrier.test_wait.shared.b64 %p2, [bar], %d3; @!%p2 bra " label ";\n"

/* Each thread passes 3 phases and reads what its neighbour has written in each of them. */
static void threads_wait_for_all_arrivals(void **state)
{
    static const char *const forms[] = {
        KERNEL(BARRIER("32") ".shared .b32 cell[32]; mov.b32 %r1, 0; mov.b32 %r5, 0; mov.u32 %r6, cell; shl.b32 %r7, %r0, 2;\n"
               "add.u32 %r6, %r6, %r7; xor.b32 %r8, %r7, 4; mov.u32 %r9, cell; add.u32 %r8, %r8, %r9;\n"
               "again: add.u32 %r2, %r0, %r1; st.shared.u32 [%r6], %r2;\n"
               "mbarrier.arrive.shared.b64 %d3, [bar];" WAIT("a")
               "ld.shared.u32 %r3, [%r8]; add.u32 %r5, %r5, %r3; mbarrier.arrive.shared.b64 %d3, [bar];" WAIT("b")
               "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 3; @%p3 bra again; st.global.u32 [%d0], %r5;"),
        /* parity, counts, and an address in a register */
        KERNEL(BARRIER("64") ".shared .b32 cell[32]; mov.b32 %r1, 0; mov.b32 %r5, 0; mov.u32 %r6, cell; shl.b32 %r7, %r0, 2;\n"
               "add.u32 %r6, %r6, %r7; xor.b32 %r8, %r7, 4; mov.u32 %r9, cell; add.u32 %r8, %r8, %r9; mov.u64 %d4, bar;\n"
               "again: add.u32 %r2, %r0, %r1; st.shared.u32 [%r6], %r2; mov.b32 %r10, 2;\n"
               "mbarrier.arrive.release.cta.shared::cta.b64 _, [%d4], %r10;\n"
               "a: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0, 100; @!%p2 bra a;\n"
               "ld.shared.u32 %r3, [%r8]; add.u32 %r5, %r5, %r3; cvta.shared.u64 %d5, %d4;\n"
               "mbarrier.arrive.noComplete.b64 %d3, [%d5+0], 1;\n"
               "mbarrier.arrive.shared.b64 %d3, [bar]; b: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1; @!%p2 bra b;\n"
               "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 3; @%p3 bra again; st.global.u32 [%d0], %r5;"),
    };
    struct result r;

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        for (unsigned width = 8; width <= 32; width *= 2) {
            run(forms[i], 1, false, width, &r);
            if (r.stop.kind != EMU_STOP_IDLE)
                fail_msg("form %zu: stop %d: %s", i, r.stop.kind, r.stop.fault.detail);
            for (uint32_t t = 0; t < LANES; t++)
                assert_int_equal(r.out[t][0], 3 * (t ^ 1) + 3);
        }
    }
}

/* The lanes of one warp complete several phases in one instruction: lane l is the arrival number l. */
static void one_instruction_can_complete_several_phases(void **state)
{
    struct result r;

    (void)state;
    run_to_end(KERNEL(BARRIER("5") "mbarrier.arrive.shared.b64 %d3, [bar]; mbarrier.pending_count.b64 %r1, %d3;\n"
                      "shr.u64 %d4, %d3, 63; cvt.u32.u64 %r2, %d4; bar.sync 0; ld.shared.u64 %d5, [bar];\n"
                      "mbarrier.pending_count.b64 %r3, %d5; mbarrier.inval.shared.b64 [bar];\n"
                      "st.global.v4.u32 [%d0], {%r1, %r2, %r3, 0};"), 1, false, &r);
    for (uint32_t t = 0; t < LANES; t++) {
        assert_int_equal(r.out[t][0], 5 - t % 5);
        assert_int_equal(r.out[t][1], t / 5 % 2);
        assert_int_equal(r.out[t][2], 5 - LANES % 5);
    }
}

static void dropped_arrivals_are_missing_from_the_next_phase(void **state)
{
    struct result r;

    (void)state;
    /* 20 of 32 threads leave in the first phase; the others pass a second one */
    run_to_end(KERNEL(BARRIER("32") "setp.lt.u32 %p3, %r0, 20; @%p3 bra leave; mbarrier.arrive.shared.b64 %d3, [bar];\n" WAIT("a")
                      "mbarrier.arrive.shared.b64 %d3, [bar]; mbarrier.pending_count.b64 %r1, %d3;" WAIT("b")
                      "st.global.u32 [%d0], %r1; bra end;\n"
                      "leave: mbarrier.arrive_drop.shared.b64 %d3, [bar]; end:"), 1, false, &r);
    for (uint32_t t = 20; t < LANES; t++)
        assert_int_equal(r.out[t][0], LANES - t);
}

static void bytes_delay_the_end_of_a_phase(void **state)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 object) {\n"
        ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 8 .b64 bar; ld.param.u64 %d0, [out];\n"
        "mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 ret; mbarrier.init.shared::cta.b64 [bar], 1;\n"
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d3, [bar], 96;\n"
        "mbarrier.test_wait.shared.b64 %p1, [bar], %d3; selp.u32 %r1, 1, 0, %p1;\n"
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 32;\n"
        "mbarrier.test_wait.shared.b64 %p1, [bar], %d3; selp.u32 %r2, 1, 0, %p1;\n"
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64;\n"
        "mbarrier.test_wait.shared.b64 %p1, [bar], %d3; selp.u32 %r3, 1, 0, %p1;\n"
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
        "mbarrier.arrive.shared.b64 %d3, [bar]; mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.u32 %r4, 1, 0, %p1;\n"
        "st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r4}; ret; }\n";
    struct result r;

    (void)state;
    run_to_end(text, 1, false, &r);
    assert_int_equal(r.out[0][0], 0);
    assert_int_equal(r.out[0][1], 0);
    assert_int_equal(r.out[0][2], 1);
    assert_int_equal(r.out[0][3], 1);
}

static void copies_arrive_at_once(void **state)
{
    struct result r;

    (void)state;
    run_to_end(KERNEL(BARRIER("64") "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                      "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
                      "mbarrier.arrive.shared.b64 %d3, [bar];" WAIT("a") "st.global.u32 [%d0], 1;"), 1, false, &r);
    for (uint32_t t = 0; t < LANES; t++)
        assert_int_equal(r.out[t][0], 1);
}

/* One thread copies 64 bytes to shared memory, for whose arrival all threads wait, and copies them back to another address. */
static void bulk_copies_complete_bytes(void **state)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 object) {\n"
        ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 16 .b8 cells[128]; .shared .align 8 .b64 bar;\n"
        "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [object]; ld.global.u64 %d1, [%d1]; mov.u32 %r0, %tid.x; mov.u32 %r1, 48;\n"
        "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;\n"
        "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64;\n"
        "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cells+16], [%d1+16], %r1, [bar];\n"
        "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [cells], [%d1], 16, [bar];\n"
        "mbarrier.arrive.shared.b64 %d3, [bar]; a: mbarrier.try_wait.shared.b64 %p1, [bar], %d3; @!%p1 bra a;\n"
        "and.b32 %r2, %r0, 15; shl.b32 %r2, %r2, 2; mov.u32 %r3, cells; add.u32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3];\n"
        "mul.wide.u32 %d4, %r0, 16; add.s64 %d4, %d0, %d4; st.global.u32 [%d4], %r4; add.s64 %d5, %d1, 64;\n"
        "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d5], [cells], 32; cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group.read 0; ret; }\n";
    struct result r;

    (void)state;
    run_to_end(text, 1, false, &r);
    for (uint32_t t = 0; t < LANES; t++)
        assert_int_equal(r.out[t][0], 1000 + t % 16);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(r.surface[16 + i], 1000 + i);
    assert_int_equal(r.surface[24], 1024);
}

/* The 33rd arrival never comes, which the emulator proves. */
static void a_wait_without_end_is_a_hang(void **state)
{
    struct result r;

    (void)state;
    run(KERNEL(BARRIER("33") "mbarrier.arrive.shared.b64 %d3, [bar];" WAIT("a")), 1, false, 32, &r);
    assert_int_equal(r.stop.kind, EMU_STOP_HANG);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void refusals_name_the_form(void **state)
{
    static const struct refusal cases[] = {
#define T(body, why) {KERNEL(body), why}
        T("suld.b.1d.b32.trap %r1, [face, {%r2}];", "suld: texture and surface references are not supported"),
        T("sust.p.2d.b32.trap [%d2, {%r1, %r2}], {%r3};", "sust: formatted accesses, '.p', are not supported"),
        T("suld.b.2d.b32.trap {%r1}, [%d2, {%r2}];", "suld: a .2d access needs [surface, {2 coordinates}]"),
        T("suld.b.2d.b32.trap {%r1, %r3}, [%d2, {%r2, %r2}];", "suld: operand 1 must have 1 register"),
        T("suld.b.2d.v4.b64.trap {%d1, %d3, %d4, %d5}, [%d2, {%r2, %r2}];", "suld: an access has at most 128 bits"),
        T("suld.b.cube.b32.trap {%r1}, [%d2, {%r2, %r2, %r2}];", "suld: only .1d, .2d"),
        T("suld.b.1d.b32.trap.rn {%r1}, [%d2, {%r2}];", "suld: the modifier '.rn' is not supported"),
        T("suld.b.1d.b32.trap {%r1}, [%r2, {%r2}];", "suld:"),
        T("suld.b.1d.b32.trap {%none}, [%d2, {%r2}];", "%none"),
        T("suld.b.1d.b32.trap {%r1}, [%d2, {%r2};", "expected ']'"),
        T("suq.channel_order.b32 %r1, [%d2];", "suq: only .width, .height, .depth and .array_size"),
        T("sured.b.add.1d.b32.trap [%d2, {%r1}], %r0;", "sured: expected .add, .min or .max with an integer type"),
        T("mbarrier.init.shared::cluster.b64 [%r1], 4;", "mbarrier: barriers of other blocks, '.shared::cluster', are not"),
        T("mbarrier.arrive.shared.b64 [%r1];", "mbarrier: expected 2 to 3 operands, found 1"),
        T("mbarrier.begin.shared.b64 [%r1];", "mbarrier: expected an operation"),
        T("mbarrier.init.shared.b32 [%r1], 4;", "mbarrier: expected .b64"),
        T("mbarrier.init.shared.b64 [%r1], %d1;", "mbarrier: "),
        T("cp.async.mbarrier.arrive.noinc.shared::cluster.b64 [%r1];", "cp: barriers of other blocks"),
#undef T
    };

    (void)state;
    must_refuse(cases, LW_COUNT_OF(cases), "t.ptx:9");
}

/* A refused expansion refuses its kernel only. */
static void other_kernels_of_the_module_remain(void **state)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".visible .entry bad(.param .u64 s) { .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\n"
                               "{ @%p1 suld.p.2d.b32.trap {%r1}, [%d1, {%r2, %r3}]; } ret; }\n"
                               ".visible .entry good(.param .u64 s) { .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\n"
                               "ld.param.u64 %d1, [s]; @%p1 suld.b.2d.b32.trap {%r1}, [%d1, {%r2, %r3}]; ret; }\n";
    struct isa_object *object = NULL;
    struct lw_error err;

    (void)state;
    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    isa_object_destroy(object);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_outside_a_surface_are_zero_or_clamped),
        cmocka_unit_test(loads_have_all_sizes),
        cmocka_unit_test(stores_and_reductions_write_only_the_surface),
        cmocka_unit_test(an_access_outside_a_surface_traps),
        cmocka_unit_test(queries_return_the_size),
        cmocka_unit_test(threads_wait_for_all_arrivals),
        cmocka_unit_test(one_instruction_can_complete_several_phases),
        cmocka_unit_test(dropped_arrivals_are_missing_from_the_next_phase),
        cmocka_unit_test(bytes_delay_the_end_of_a_phase),
        cmocka_unit_test(copies_arrive_at_once),
        cmocka_unit_test(bulk_copies_complete_bytes),
        cmocka_unit_test(a_wait_without_end_is_a_hang),
        cmocka_unit_test(refusals_name_the_form),
        cmocka_unit_test(other_kernels_of_the_module_remain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
