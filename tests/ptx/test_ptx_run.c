/* SPDX-License-Identifier: Apache-2.0 */
/* Tests translated PTX on the machine with instructions that compilers of OpenCL C rarely write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "ptx/ptx.h"

enum { THREADS = 96, ROW = 16 };
static uint32_t words[THREADS * ROW];

static void ok(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/* Runs kernel k(out, extra) with 96 threads, and stores the results in `words`, 16 words for each thread. */
static void run(const char *body, unsigned width)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    struct lw_error err;
    struct lw_buffer text, why;
    uint64_t out;

    lw_buffer_init(&text);
    lw_buffer_init(&why);
    lw_printf(&text.sink,
              ".version 7.0\n.target sm_75\n.address_size 64\n"
              ".const .align 4 .b32 primes[4] = {2, 3, 5, 7};\n"
              ".global .align 4 .b32 cell = 77;\n.global .u64 to_cell = cell;\n"
              ".extern .func (.param .b64 given) malloc(.param .b64 size);\n"
              ".extern .func free(.param .b64 object);\n"
              ".visible .entry k(.param .u64 out, .param .align 4 .b8 extra[12]) {\n"
              ".reg .pred %%p<12>; .reg .b16 %%s<12>; .reg .b32 %%r<40>; .reg .b64 %%d<20>;\n"
              ".reg .f32 %%f<8>;\n.local .align 8 .b8 depot[64]; .shared .align 8 .b8 pad[1024];\n"
              "mov.u32 %%r0,%%tid.x; ld.param.u64 %%d0,[out]; mul.wide.u32 %%d1,%%r0,%d;\n"
              "add.s64 %%d0,%%d0,%%d1;\n%s\nret; }\n",
              ROW * 4, body);
    ok(ptx_translate("t.ptx", text.text, text.size, NULL, &object, &err), &err);
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.warp_width = width;
    ok(emu_machine_create(&config, &machine, &err), &err);
    ok(emu_program_load(machine, object, &program, &err), &err);
    ok(emu_alloc(machine, sizeof words, "out", 0, &out, &err), &err);
    ok(emu_engine_functional_create(machine, &engine, &err), &err);
    uint64_t params[3] = { out, UINT64_C(0x2222222211111111), 0x33333333 };
    struct emu_launch launch = { .program = program, .kernel = &object->functions[0],
                                 .grid = { 1, 1, 1 }, .block = { THREADS, 1, 1 }, .work_dim = 1,
                                 .params = params };

    ok(emu_grid_launch(machine, &launch, NULL, &err), &err);
    ok(engine->ops->run(engine, &stop, &err), &err);
    if (stop.kind == EMU_STOP_FAULT)
        emu_fault_print(machine, &stop.fault, &why.sink);
    if (stop.kind != EMU_STOP_IDLE)
        fail_msg("stopped: %d %s", stop.kind, why.size != 0 ? why.text : stop.hang.detail);
    ok(emu_global_read(machine, out, words, sizeof words, &err), &err);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
    lw_buffer_fini(&why);
}

#define EACH(t) for (uint32_t t = 0; t < THREADS; t++)
#define GOT(t, k) words[(t) * ROW + (k)]

static void small_vectors_are_loaded_and_stored_as_bytes(void **state)
{
    (void)state;
    run("mad.lo.s32 %r1,%r0,0x01030507,0x80f0a090; st.global.u32 [%d0],%r1; st.global.u32 [%d0+4],%r1;\n"
        "ld.global.v4.u8 {%s0,%s1,%s2,%s3},[%d0]; st.global.v4.u8 [%d0+8],{%s3,%s2,%s1,%s0};\n"
        "ld.global.v2.s8 {%s4,%s5},[%d0+2]; cvt.s32.s16 %r2,%s4; cvt.s32.s16 %r3,%s5;\n"
        "ld.global.v4.s16 {%s6,%s7,%s8,%s9},[%d0]; cvt.s32.s16 %r4,%s7; cvt.u32.u16 %r5,%s6;\n"
        "st.global.v2.u32 [%d0+16],{%r2,%r3}; st.global.v2.b32 [%d0+24],{%r4,%r5};\n"
        "st.global.v2.u16 [%d0+32],{%s7,%s6}; ld.global.v2.u16 {%r6,%r7},[%d0];\n"
        "st.global.v4.u32 [%d0+48],{%r6,%r7,%r0,%r1};",
        32);
    EACH(t)
    {
        uint32_t w = t * 0x01030507u + 0x80f0a090u;

        assert_int_equal(GOT(t, 2), __builtin_bswap32(w));
        assert_int_equal(GOT(t, 4), (uint32_t)(int8_t)(w >> 16));
        assert_int_equal(GOT(t, 5), (uint32_t)(int8_t)(w >> 24));
        assert_int_equal(GOT(t, 6), (uint32_t)(int16_t)(w >> 16));
        assert_int_equal(GOT(t, 7), w & 0xffff);
        assert_int_equal(GOT(t, 8), w >> 16 | w << 16);
        assert_int_equal(GOT(t, 12), w & 0xffff);
        assert_int_equal(GOT(t, 13), w >> 16);
        assert_int_equal(GOT(t, 14), t);
        assert_int_equal(GOT(t, 15), w);
    }
}

static void warps_have_thirty_two_threads_at_every_width(void **state)
{
    static const unsigned widths[] = { 4, 16, 32, 64 };

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        run("mov.u32 %r1,%warpid; mov.u32 %r2,%nwarpid; mov.u32 %r3,%tid.w;\n"
            "st.global.v2.u32 [%d0],{%r1,%r2}; st.global.u32 [%d0+8],%r3;", widths[i]);
        EACH(t)
        {
            assert_int_equal(GOT(t, 0), t / 32);
            assert_int_equal(GOT(t, 1), (THREADS + 31) / 32);
            assert_int_equal(GOT(t, 2), 0);
        }
    }
}

static void generic_addresses_reach_every_space(void **state)
{
    (void)state;
    run("mov.u64 %d2,depot; cvta.local.u64 %d3,%d2; st.u32 [%d3+8],%r0; ld.local.u32 %r1,[depot+8];\n"
        "mov.u64 %d4,pad; mul.wide.u32 %d5,%r0,8; add.s64 %d4,%d4,%d5; cvta.shared.u64 %d6,%d4;\n"
        "add.s32 %r2,%r0,1000; st.u32 [%d6+4],%r2; ld.shared.u32 %r3,[%d4+4];\n"
        "cvta.to.shared.u64 %d7,%d6; ld.shared.u32 %r4,[%d7+4];\n"
        "mov.u64 %d8,primes; and.b32 %r5,%r0,3; mul.wide.u32 %d9,%r5,4; add.s64 %d10,%d8,%d9;\n"
        "ld.const.u32 %r6,[%d10]; cvta.const.u64 %d11,%d10; ld.u32 %r7,[%d11];\n"
        "ld.global.u64 %d12,[to_cell]; ld.u32 %r8,[%d12]; ld.global.u32 %r9,[cell];\n"
        "isspacep.shared %p1,%d6; isspacep.local %p2,%d3; isspacep.global %p3,%d12;\n"
        "isspacep.shared %p4,%d3; selp.u32 %r10,1,0,%p1; selp.u32 %r11,2,0,%p2; selp.u32 %r12,4,0,%p3;\n"
        "selp.u32 %r13,8,0,%p4; or.b32 %r10,%r10,%r11; or.b32 %r12,%r12,%r13; or.b32 %r10,%r10,%r12;\n"
        "ld.param.u32 %r14,[extra+4]; ld.param.v2.u32 {%r15,%r16},[extra+4]; ld.param.u8 %r17,[extra];\n"
        "st.global.v4.u32 [%d0],{%r1,%r3,%r4,%r6}; st.global.v4.u32 [%d0+16],{%r7,%r8,%r9,%r10};\n"
        "st.global.v4.u32 [%d0+32],{%r14,%r15,%r16,%r17};",
        16);
    EACH(t)
    {
        static const uint32_t primes[4] = { 2, 3, 5, 7 };

        assert_int_equal(GOT(t, 0), t);
        assert_int_equal(GOT(t, 1), t + 1000);
        assert_int_equal(GOT(t, 2), t + 1000);
        assert_int_equal(GOT(t, 3), primes[t & 3]);
        assert_int_equal(GOT(t, 4), primes[t & 3]);
        assert_int_equal(GOT(t, 5), 77);
        assert_int_equal(GOT(t, 6), 77);
        assert_int_equal(GOT(t, 7), 7);
        assert_int_equal(GOT(t, 8), 0x22222222);
        assert_int_equal(GOT(t, 9), 0x22222222);
        assert_int_equal(GOT(t, 10), 0x33333333);
        assert_int_equal(GOT(t, 11), 0x11);
    }
}

static void scalar_loads_keep_their_offsets(void **state)
{
    (void)state;
    /* Enough uniform arithmetic follows the loads, so that it moves to the scalar unit. */
    run("mov.u64 %d8,primes; add.s64 %d8,%d8,4;\n"
        "ld.const.u32 %r1,[%d8+-4]; ld.const.u32 %r2,[%d8+8]; ld.const.u32 %r3,[%d8];\n"
        "cvt.u64.u32 %d1,%r1; cvt.u64.u32 %d2,%r2; cvt.u64.u32 %d3,%r3;\n"
        "shl.b64 %d4,%d1,8; or.b64 %d4,%d4,%d2; shl.b64 %d4,%d4,8; or.b64 %d4,%d4,%d3;\n"
        "shl.b64 %d5,%d4,24; or.b64 %d5,%d5,%d4; add.s64 %d6,%d5,%d1; add.s64 %d6,%d6,%d2;\n"
        "add.s64 %d6,%d6,%d3; sub.s64 %d7,%d6,%d5; st.global.u64 [%d0],%d5; st.global.u64 [%d0+8],%d7;",
        32);
    EACH(t)
    {
        assert_int_equal(GOT(t, 0), 0x03020703);
        assert_int_equal(GOT(t, 1), 0x0207);
        assert_int_equal(GOT(t, 2), 12);
    }
}

static void bit_operations_match_their_definitions(void **state)
{
    (void)state;
    run("mad.lo.u32 %r1,%r0,2654435761,12345; xor.b32 %r2,%r1,0x5bd1e995; and.b32 %r3,%r0,31;\n"
        "bfe.u32 %r4,%r1,%r3,9; bfe.s32 %r5,%r1,5,11; bfi.b32 %r6,%r1,%r2,%r3,7;\n"
        "shf.l.wrap.b32 %r7,%r1,%r2,%r0; shf.r.clamp.b32 %r8,%r1,%r2,%r0; prmt.b32 %r9,%r1,%r2,0x7a52;\n"
        "lop3.b32 %r10,%r1,%r2,%r0,0xca; bfind.u32 %r11,%r0; bfind.s32 %r12,%r1;\n"
        "bfind.shiftamt.u32 %r21,%r3; xor.b32 %r0,%r0,0;\n"
        "dp4a.s32.s32 %r13,%r1,%r2,%r0; mul.hi.s32 %r14,%r1,%r2; mad.hi.u32 %r15,%r1,%r2,%r0;\n"
        "set.lt.u32.s32 %r16,%r1,%r2; slct.u32.s32 %r17,%r0,%r2,%r1; cnot.b32 %r18,%r3;\n"
        "cvt.u16.u32 %s1,%r1; cvt.u16.u32 %s2,%r2; mul.hi.s16 %s3,%s1,%s2; mad.wide.u16 %r19,%s1,%s2,%r0;\n"
        "cvt.s32.s16 %r20,%s3; st.global.v4.u32 [%d0],{%r4,%r5,%r6,%r7};\n"
        "st.global.v4.u32 [%d0+16],{%r8,%r9,%r10,%r11}; st.global.v4.u32 [%d0+32],{%r12,%r13,%r14,%r15};\n"
        "xor.b32 %r16,%r16,%r17; mad.lo.u32 %r18,%r21,2,%r18;\n"
        "st.global.v4.u32 [%d0+48],{%r16,%r18,%r19,%r20};",
        8);
    EACH(t)
    {
        uint32_t a = t * 2654435761u + 12345, b = a ^ 0x5bd1e995u, s = t & 31, dot = t;
        uint64_t both = (uint64_t)b << 32 | a;
        uint32_t field = 0x7fu << s, prmt = 0;
        static const unsigned pick[4] = { 2, 5, 10, 7 };

        for (unsigned i = 0; i < 4; i++) {
            uint32_t byte = (uint32_t)(both >> (8 * (pick[i] & 7))) & 255;

            prmt |= (pick[i] & 8 ? (byte & 128 ? 255u : 0) : byte) << (8 * i);
            dot += (uint32_t)((int32_t)(int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i));
        }
        assert_int_equal(GOT(t, 0), (a >> s) & 0x1ff);
        assert_int_equal(GOT(t, 1), (uint32_t)((int32_t)(a << 16) >> 21));
        assert_int_equal(GOT(t, 2), (b & ~field) | (a << s & field));
        assert_int_equal(GOT(t, 3), (uint32_t)(both << (t & 31) >> 32));
        assert_int_equal(GOT(t, 4), t >= 32 ? b : (uint32_t)(both >> t));
        assert_int_equal(GOT(t, 5), prmt);
        assert_int_equal(GOT(t, 6), (a & b) | (~a & t));
        assert_int_equal(GOT(t, 7), t == 0 ? UINT32_MAX : 31u - (uint32_t)__builtin_clz(t));
        uint32_t m = (int32_t)a < 0 ? ~a : a;

        assert_int_equal(GOT(t, 8), m == 0 ? UINT32_MAX : 31u - (uint32_t)__builtin_clz(m));
        assert_int_equal(GOT(t, 9), dot);
        assert_int_equal(GOT(t, 10), (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32));
        assert_int_equal(GOT(t, 11), (uint32_t)((uint64_t)a * b >> 32) + t);
        assert_int_equal(GOT(t, 12),
                         ((int32_t)a < (int32_t)b ? UINT32_MAX : 0) ^ ((int32_t)a >= 0 ? t : b));
        assert_int_equal(GOT(t, 13),
                         s == 0 ? UINT32_MAX : 2 * (uint32_t)__builtin_clz(s));
        assert_int_equal(GOT(t, 14), (a & 0xffff) * (b & 0xffff) + t);
        assert_int_equal(GOT(t, 15), (uint32_t)((int32_t)(int16_t)a * (int16_t)b >> 16));
    }
}

static void cross_lane_operations_see_their_warp(void **state)
{
    (void)state;
    for (unsigned width = 32; width <= 64; width += 32) {
        run("mov.u32 %r1,%laneid; shfl.sync.bfly.b32 %r2,%r0,1,31,-1;\n"
            "shfl.sync.down.b32 %r3|%p1,%r0,3,31,0xffffffff; selp.u32 %r4,1,0,%p1;\n"
            "and.b32 %r5,%r0,7; shfl.sync.idx.b32 %r6,%r0,%r5,31,-1; setp.lt.u32 %p2,%r1,5;\n"
            "vote.sync.ballot.b32 %r7,%p2,-1; vote.sync.any.pred %p3,%p2,-1; selp.u32 %r8,1,0,%p3;\n"
            "vote.sync.all.pred %p4,%p2,-1; selp.u32 %r9,1,0,%p4; mov.u32 %r10,%lanemask_lt;\n"
            "st.global.v4.u32 [%d0],{%r2,%r3,%r4,%r6}; st.global.v4.u32 [%d0+16],{%r7,%r8,%r9,%r10};",
            width);
        EACH(t)
        {
            uint32_t lane = t & 31, base = t & ~31u;

            assert_int_equal(GOT(t, 0), t ^ 1);
            assert_int_equal(GOT(t, 1), lane + 3 < 32 ? t + 3 : t);
            assert_int_equal(GOT(t, 2), lane + 3 < 32);
            assert_int_equal(GOT(t, 3), base + (t & 7));
            assert_int_equal(GOT(t, 4), 31);
            assert_int_equal(GOT(t, 5), 1);
            assert_int_equal(GOT(t, 6), 0);
            assert_int_equal(GOT(t, 7), (UINT32_C(1) << lane) - 1);
        }
    }
}

static void guarded_instructions_keep_the_other_lanes(void **state)
{
    (void)state;
    run("and.b32 %r1,%r0,1; setp.eq.u32 %p1,%r1,0; mov.u32 %r2,7; mov.u64 %d2,0x1122334455667788;\n"
        "@%p1 mov.u32 %r2,%r0; @!%p1 mov.b64 %d2,{%r0,%r2}; @%p1 add.s64 %d2,%d2,0x100000000;\n"
        "setp.gt.u32 %p2,%r0,40; @%p1 setp.lt.u32 %p2,%r0,9; selp.u32 %r3,1,0,%p2;\n"
        "@%p2 st.global.u32 [%d0+16],%r2; st.global.u32 [%d0],%r2; st.global.u32 [%d0+4],%r3;\n"
        "st.global.u64 [%d0+8],%d2;",
        64);
    EACH(t)
    {
        bool even = t % 2 == 0, p2 = even ? t < 9 : t > 40;
        uint32_t r2 = even ? t : 7;
        uint64_t d2 = even ? UINT64_C(0x1122334555667788) : (uint64_t)7 << 32 | t;

        assert_int_equal(GOT(t, 0), r2);
        assert_int_equal(GOT(t, 1), p2);
        assert_int_equal(GOT(t, 2), (uint32_t)d2);
        assert_int_equal(GOT(t, 3), d2 >> 32);
        assert_int_equal(GOT(t, 4), p2 ? r2 : 0);
    }
}

static void predicate_logic_matches(void **state)
{
    (void)state;
    run("and.b32 %r1,%r0,1; setp.ne.u32 %p0,%r1,0; and.b32 %r1,%r0,2; setp.ne.u32 %p1,%r1,0;\n"
        "and.b32 %r1,%r0,4; setp.ne.u32 %p2,%r1,0; and.pred %p3,%p0,%p1; or.pred %p4,%p1,%p2;\n"
        "xor.pred %p5,%p0,%p2; not.pred %p6,%p3; mov.pred %p7,%p6; and.pred %p8,%p7,%p4;\n"
        "setp.lt.and.u32 %p9|%p10,%r0,50,!%p5; selp.u32 %r2,1,0,%p3; selp.u32 %r3,2,0,%p4;\n"
        "selp.u32 %r4,4,0,%p5; selp.u32 %r5,8,0,%p8; selp.u32 %r6,16,0,%p9; selp.u32 %r7,32,0,%p10;\n"
        "add.u32 %r2,%r2,%r3; add.u32 %r2,%r2,%r4; add.u32 %r2,%r2,%r5; add.u32 %r2,%r2,%r6;\n"
        "add.u32 %r2,%r2,%r7; st.global.u32 [%d0],%r2;",
        4);
    EACH(t)
    {
        bool a = t & 1, b = t & 2, c = t & 4, both = a && b, either = b || c, odd = a != c;
        uint32_t want = both + 2 * either + 4 * odd + 8 * (!both && either) +
                        16 * (t < 50 && !odd) + 32 * (t >= 50 && !odd);

        assert_int_equal(GOT(t, 0), want);
    }
}

/* Results must be correct if a kernel has more live values and predicates than there are registers. */
static void spilled_values_come_back(void **state)
{
    enum { N = 300, PREDICATES = 12 };
    struct lw_buffer b;

    (void)state;
    lw_buffer_init(&b);
    lw_printf(&b.sink, "{ .reg .b32 %%v<%d>; .reg .b64 %%w<40>; .reg .pred %%q<%d>;\n", N,
              PREDICATES);
    for (unsigned k = 0; k < PREDICATES; k++)
        lw_printf(&b.sink, "and.b32 %%r1,%%r0,%u; setp.ne.u32 %%q%u,%%r1,0;\n", 1 + k * 5, k);
    for (unsigned k = 0; k < N; k++)
        lw_printf(&b.sink, "mad.lo.u32 %%v%u,%%r0,%u,%u;\n", k, k * 7 + 3, k);
    for (unsigned k = 0; k < 40; k++)
        lw_printf(&b.sink, "mul.wide.u32 %%w%u,%%v%u,%%v%u;\n", k, k, k + 50);
    lw_put(&b.sink, "mov.u32 %r2,0; mov.u64 %d2,0; mov.u32 %r3,0;\nLOOP:\n");
    for (unsigned k = 0; k < N; k++)
        lw_printf(&b.sink, "mad.lo.u32 %%r2,%%r2,3,%%v%u;\n", k);
    for (unsigned k = 0; k < 40; k++)
        lw_printf(&b.sink, "xor.b64 %%d2,%%d2,%%w%u; shl.b64 %%d3,%%d2,1; shr.u64 %%d2,%%d2,63; "
                           "or.b64 %%d2,%%d2,%%d3;\n", k);
    for (unsigned k = 0; k < PREDICATES; k++)
        lw_printf(&b.sink, "@%%q%u add.u32 %%r2,%%r2,%u;\n", k, 1000 + k);
    lw_put(&b.sink, "add.u32 %r3,%r3,1; setp.lt.u32 %p1,%r3,3; @%p1 bra LOOP;\n"
                    "st.global.u32 [%d0],%r2; st.global.u64 [%d0+8],%d2; }");
    run(b.text, 32);
    EACH(t)
    {
        uint32_t sum = 0;
        uint64_t mix = 0;

        for (unsigned round = 0; round < 3; round++) {
            for (unsigned k = 0; k < N; k++)
                sum = sum * 3 + t * (k * 7 + 3) + k;
            for (unsigned k = 0; k < 40; k++) {
                mix ^= (uint64_t)(t * (k * 7 + 3) + k) * (t * ((k + 50) * 7 + 3) + k + 50);
                mix = mix << 1 | mix >> 63;
            }
            for (unsigned k = 0; k < PREDICATES; k++)
                sum += (t & (1 + k * 5)) != 0 ? 1000 + k : 0;
        }
        assert_int_equal(GOT(t, 0), sum);
        assert_int_equal(GOT(t, 2), (uint32_t)mix);
        assert_int_equal(GOT(t, 3), mix >> 32);
    }
    lw_buffer_fini(&b);
}

static void malloc_and_free_are_those_of_the_machine(void **state)
{
    (void)state;
    run("{ .param .b64 n; .param .b64 r; st.param.b64 [n],8; call.uni (r), malloc, (n);\n"
        "ld.param.b64 %d2,[r]; }\n"
        "st.u32 [%d2+4],%r0; ld.u32 %r1,[%d2+4]; ld.u32 %r2,[%d2]; st.global.v2.u32 [%d0],{%r1,%r2};\n"
        "{ .param .b64 o; st.param.b64 [o],%d2; call.uni free, (o); }\n"
        "{ .param .b64 n; .param .b64 r; st.param.b64 [n],0; call.uni (r), malloc, (n);\n"
        "ld.param.b64 %d2,[r]; } st.global.u64 [%d0+8],%d2;", 32);
    EACH(t)
    {
        assert_int_equal(GOT(t, 0), t);
        assert_int_equal(GOT(t, 1) | GOT(t, 2) | GOT(t, 3), 0);
    }
}

/* A chain of operations whose low words depend on low words only. In the second text, a shift at the end reads the high word. */
#define LOW_WORDS                                                                              \
    "cvt.u64.u32 %d2,%r0; ld.param.u64 %d3,[extra]; mad.lo.u64 %d4,%d2,%d3,%d2; neg.s64 %d5,%d4;\n" \
    "add.s32 %r1,%r0,0x80000000; mul.wide.s32 %d6,%r1,%r0; mad.wide.u32 %d6,%r1,3,%d6;\n"           \
    "sub.s64 %d5,%d5,%d6; and.b32 %r2,%r0,63; shl.b64 %d7,%d5,%r2; or.b64 %d7,%d7,%d2;\n"           \
    "xor.b64 %d7,%d7,0x123456789abcdef; not.b64 %d8,%d7; cvt.s64.s32 %d9,%r1;\n"                    \
    "setp.lt.u32 %p1,%r0,40; selp.b64 %d10,%d8,%d9,%p1; @%p1 add.s64 %d10,%d10,-5;\n"                \
    "mul.lo.s64 %d10,%d10,%d5; and.b64 %d10,%d10,0xffffffff7fffff00;\n"

static uint64_t low_words(uint32_t t)
{
    uint64_t a = t * UINT64_C(0x2222222211111111) + t, b = 0 - a;
    int32_t r = (int32_t)(t + 0x80000000u);
    uint64_t c = (uint64_t)((int64_t)r * t) + (uint64_t)(uint32_t)r * 3;

    b -= c;
    a = ((b << (t & 63)) | t) ^ 0x123456789abcdef;
    a = t < 40 ? ~a - 5 : (uint64_t)(int64_t)r;
    return a * b & UINT64_C(0xffffffff7fffff00);
}

static unsigned wide_rows(const char *body)
{
    static const enum isa_op wide[] = {ISA_V_MUL_U64, ISA_V_MAD_U64, ISA_V_NEG_S64, ISA_V_SUB_U64,
                                       ISA_V_SHL_B64, ISA_V_OR_B64, ISA_V_XOR_B64, ISA_V_NOT_B64,
                                       ISA_V_AND_B64, ISA_V_SELP_B64, ISA_V_CVT};
    char text[2000];
    struct isa_object *object;
    struct lw_error err;
    unsigned count = 0;

    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 out, .param .align 4 .b8 extra[12]) {\n"
             ".reg .pred %%p<12>; .reg .b32 %%r<40>; .reg .b64 %%d<20>;\n"
             "mov.u32 %%r0,%%tid.x; ld.param.u64 %%d0,[out];\n%s\nret; }\n", body);
    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    for (size_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;
        assert_true(isa_insn_decode(object->text[i], &insn));
        for (unsigned k = 0; k < LW_COUNT_OF(wide); k++)
            count += insn.op == wide[k];
    }
    isa_object_destroy(object);
    return count;
}

static void low_words_depend_on_low_words_only(void **state)
{
    (void)state;
    run(LOW_WORDS "cvt.u32.u64 %r9,%d10; st.global.u32 [%d0],%r9;", 32);
    EACH(t)
    assert_int_equal(GOT(t, 0), (uint32_t)low_words(t));
    run(LOW_WORDS "cvt.u32.u64 %r9,%d10; shr.u64 %d11,%d10,32; cvt.u32.u64 %r10,%d11;\n"
                  "st.global.v2.u32 [%d0],{%r9,%r10};", 32);
    EACH(t)
    {
        assert_int_equal(GOT(t, 0), (uint32_t)low_words(t));
        assert_int_equal(GOT(t, 1), low_words(t) >> 32);
    }
    assert_int_equal(wide_rows(LOW_WORDS "cvt.u32.u64 %r9,%d10; st.global.u32 [%d0],%r9;"), 0);
    assert_true(wide_rows(LOW_WORDS "st.global.u64 [%d0],%d10;") >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_vectors_are_loaded_and_stored_as_bytes),
        cmocka_unit_test(warps_have_thirty_two_threads_at_every_width),
        cmocka_unit_test(generic_addresses_reach_every_space),
        cmocka_unit_test(scalar_loads_keep_their_offsets),
        cmocka_unit_test(bit_operations_match_their_definitions),
        cmocka_unit_test(cross_lane_operations_see_their_warp),
        cmocka_unit_test(guarded_instructions_keep_the_other_lanes),
        cmocka_unit_test(predicate_logic_matches),
        cmocka_unit_test(spilled_values_come_back),
        cmocka_unit_test(low_words_depend_on_low_words_only),
        cmocka_unit_test(malloc_and_free_are_those_of_the_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
