/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests PTX arithmetic that the translator converts to several instructions, or for several types to one instruction. The results
 * on the machine are compared with results that the host computes from the same operands, for integers in C, and for 16-bit
 * floats with the soft float of soft_float.h.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/model/soft_float.h"

enum { THREADS = 512 };
/* Input values of a case. */
struct in {
    uint32_t a, b, c, d;
    uint64_t p, q;
};
struct out {
    uint64_t x, y;
};
typedef struct out case_fn(const struct in *in);
static struct in inputs[THREADS]; /* by thread */

static uint64_t next(uint64_t *s)
{
    uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static uint32_t word(uint64_t *s)
{
    static const uint32_t corners[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00800000, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0x00000200, 0x3c003c00, 0xfc007c00,
                                       0x80018001, 0x03ff7bff, 0x7e00fe01, 0x3f803f80, 0x000083ff,
                                       0x00ffffff, 0x007fffff, 0x80808080, 31, 32, 33};
    uint64_t r = next(s);
    switch (r >> 60 & 3) {
    case 0: return corners[r % (sizeof corners / sizeof corners[0])];
    case 1: return (uint32_t)r & 63;
    default: return (uint32_t)r;
    }
}

static void ok(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/* Runs @code and compares its results with those of @host. @code reads %a %b %c %d (32 bits) and %p %q (64 bits), or the same
 * bits as floats %fa %fb %ga, and writes %x and %y. */
static void check(const char *code, case_fn *host)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    struct lw_error err;
    struct lw_buffer text;
    struct in *in = inputs;
    static struct out got[THREADS];
    uint64_t seed = 3, params[2];

    for (unsigned t = 0; t < THREADS; t++) {
        in[t] = (struct in){word(&seed), word(&seed), word(&seed), word(&seed), 0, 0};
        in[t].p = (uint64_t)word(&seed) << 32 | word(&seed);
        in[t].q = (uint64_t)word(&seed) << 32 | word(&seed);
    }
    lw_buffer_init(&text);
    lw_printf(&text.sink,
              ".version 8.8\n.target sm_100a\n.address_size 64\n"
              ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
              ".reg .pred %%t<8>; .reg .b16 %%h<16>; .reg .b32 %%r<24>; .reg .b64 %%d<12>;\n"
              ".reg .b32 %%a, %%b, %%c, %%d, %%lo, %%hi; .reg .b64 %%p, %%q, %%x, %%y;\n"
              ".reg .f32 %%fa, %%fb; .reg .f64 %%ga;\n"
              "mov.u32 %%r0,%%tid.x; mov.u32 %%r1,%%ctaid.x; mad.lo.u32 %%r0,%%r1,64,%%r0;\n"
              "ld.param.u64 %%d0,[in]; mad.wide.u32 %%d0,%%r0,%u,%%d0;\n"
              "ld.param.u64 %%d1,[out]; mad.wide.u32 %%d1,%%r0,%u,%%d1;\n"
              "ld.global.v4.u32 {%%a,%%b,%%c,%%d},[%%d0]; ld.global.u64 %%p,[%%d0+16];\n"
              "ld.global.u64 %%q,[%%d0+24]; mov.b32 %%fa,%%a; mov.b32 %%fb,%%b; mov.b64 %%ga,%%p;\n"
              "mov.u64 %%x,0; mov.u64 %%y,0; mov.b32 {%%h0,%%h1},%%a; mov.b32 {%%h2,%%h3},%%b;\n"
              "mov.b32 {%%h4,%%h5},%%c;\n%s\n"
              "st.global.u64 [%%d1],%%x; st.global.u64 [%%d1+8],%%y; ret; }\n",
              (unsigned)sizeof *in, (unsigned)sizeof *got, code);
    if (ptx_translate("t.ptx", text.text, text.size, NULL, &object, &err) != LW_OK)
        fail_msg("%s: %s", code, err.text);
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    ok(emu_machine_create(&config, &machine, &err), &err);
    ok(emu_program_load(machine, object, &program, &err), &err);
    ok(emu_alloc(machine, sizeof inputs, "in", 0, &params[0], &err), &err);
    ok(emu_alloc(machine, sizeof got, "out", 0, &params[1], &err), &err);
    ok(emu_global_write(machine, params[0], in, sizeof inputs, &err), &err);
    ok(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {THREADS / 64, 1, 1}, .block = {64, 1, 1}, .work_dim = 1,
                                .params = params};
    ok(emu_grid_launch(machine, &launch, NULL, &err), &err);
    ok(engine->ops->run(engine, &stop, &err), &err);
    assert_int_equal(stop.kind, EMU_STOP_IDLE);
    ok(emu_global_read(machine, params[1], got, sizeof got, &err), &err);
    for (unsigned t = 0; t < THREADS; t++) {
        struct out want = host(&in[t]);
        if (want.x != got[t].x || want.y != got[t].y)
            fail_msg("%s\nof a %08x b %08x c %08x d %08x p %016" PRIx64 " q %016" PRIx64
                     ": %016" PRIx64 " %016" PRIx64 ", not %016" PRIx64 " %016" PRIx64,
                     code, in[t].a, in[t].b, in[t].c, in[t].d, in[t].p, in[t].q, got[t].x, got[t].y,
                     want.x, want.y);
    }
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
}

/* A case is a host function that computes the expected {x, y} from the operands `in`. */
#define A (in->a)
#define B (in->b)
#define C (in->c)
#define D (in->d)
#define P (in->p)
#define Q (in->q)
#define CASE(name, ...)                                                                       \
    static struct out name(const struct in *in)                                               \
    {                                                                                         \
        __VA_ARGS__;                                                                          \
    }
typedef unsigned __int128 u128;
#define OUT(x_, y_) return (struct out){(x_), (y_)}
#define S(v) ((int32_t)(v))

/* ---- carry chains ----------------------------------------------------------------------- */

CASE(add128, u128 s = ((u128)P << 64 | Q) + ((u128)A << 96 | (u128)B << 64 | (u128)C << 32 | D);
     OUT((uint64_t)s, (uint64_t)(s >> 64)))
CASE(sub128, u128 s = ((u128)P << 64 | Q) - ((u128)A << 96 | (u128)B << 64 | (u128)C << 32 | D);
     OUT((uint64_t)s, (uint64_t)(s >> 64)))
CASE(mul128, u128 s = (u128)P * Q; OUT((uint64_t)s, (uint64_t)(s >> 64)))
/* Additions and subtractions share one carry flag. After a subtraction, the flag is 1 if nothing was borrowed. nvcc uses this
 * flag to compare 128-bit integers and their 64-bit halves. */
CASE(no_borrow_is_a_carry, OUT(A - B, (uint32_t)(C + D + (A >= B))))
CASE(not_less, u128 s = (u128)P << 64 | Q, t = (u128)A << 96 | (u128)B << 64 | (u128)C << 32 | D;
     OUT(s >= t, P >= Q))
CASE(carry_then_subtract, OUT((uint32_t)(A + B), (uint32_t)(C - D - 1 + ((uint64_t)A + B > UINT32_MAX))))
CASE(by_hand, (void)in; OUT((uint64_t)1 << 32, (uint64_t)8 << 32 | 9))
CASE(lone_carry, OUT((uint32_t)(A + B), (uint64_t)A + B > UINT32_MAX))
CASE(mad_carry, uint64_t t = (uint64_t)(uint32_t)(A * B) + C;
     OUT((uint32_t)t, (uint32_t)(((uint64_t)A * B >> 32) + D + (t >> 32))))
CASE(guarded_carry, OUT((uint32_t)(A + B), A < B ? 0 : (uint64_t)A + B > UINT32_MAX))
static void carry_chains_add_subtract_and_multiply(void **state)
{
    (void)state;
    check("mov.b64 {%r2,%r3},%q; mov.b64 {%r4,%r5},%p; add.cc.u32 %r2,%r2,%d; addc.cc.u32 %r3,%r3,%c;\n"
          "addc.cc.u32 %r4,%r4,%b; addc.u32 %r5,%r5,%a; mov.b64 %x,{%r2,%r3}; mov.b64 %y,{%r4,%r5};",
          add128);
    check("mov.b64 %d2,{%d,%c}; mov.b64 %d3,{%b,%a}; add.cc.u64 %x,%q,%d2; addc.u64 %y,%p,%d3;", add128);
    check("mov.b64 {%r2,%r3},%q; mov.b64 {%r4,%r5},%p; sub.cc.u32 %r2,%r2,%d; subc.cc.u32 %r3,%r3,%c;\n"
          "subc.cc.s32 %r4,%r4,%b; subc.u32 %r5,%r5,%a; mov.b64 %x,{%r2,%r3}; mov.b64 %y,{%r4,%r5};",
          sub128);
    check("mov.b64 %d2,{%d,%c}; mov.b64 %d3,{%b,%a}; sub.cc.s64 %q,%q,%d2; subc.u64 %p,%p,%d3;\n"
          "mov.u64 %x,%q; mov.u64 %y,%p;", sub128);
    /* The example in the PTX manual's section on madc. */
    check("mov.b64 {%r4,%r5},%p; mov.b64 {%r6,%r7},%q; mul.lo.u32 %r10,%r4,%r6; mul.hi.u32 %r11,%r4,%r6;\n"
          "mad.lo.cc.u32 %r11,%r5,%r6,%r11; madc.hi.u32 %r12,%r5,%r6,0; mad.lo.cc.u32 %r11,%r4,%r7,%r11;\n"
          "madc.hi.cc.u32 %r12,%r4,%r7,%r12; addc.u32 %r13,0,0; mad.lo.cc.u32 %r12,%r5,%r7,%r12;\n"
          "madc.hi.u32 %r13,%r5,%r7,%r13; mov.b64 %x,{%r10,%r11}; mov.b64 %y,{%r12,%r13};",
          mul128);
    check("mul.lo.u64 %x,%p,%q; mul.hi.u64 %y,%p,%q;", mul128);
    check("mov.u64 %d2,0; mad.lo.cc.u64 %x,%p,%q,0; madc.hi.u64 %y,%p,%q,%d2;", mul128);
    check("sub.cc.u32 %r2,%a,%b; addc.u32 %r3,%c,%d; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;",
          no_borrow_is_a_carry);
    check("mov.b64 {%r2,%r3},%q; mov.b64 {%r4,%r5},%p; sub.cc.u32 %r2,%r2,%d; subc.cc.u32 %r3,%r3,%c;\n"
          "subc.cc.u32 %r4,%r4,%b; subc.cc.u32 %r5,%r5,%a; addc.u32 %r6,0,0; cvt.u64.u32 %x,%r6;\n"
          "sub.cc.u64 %d2,%p,%q; addc.u64 %y,0,0;", not_less);
    check("add.cc.u32 %r2,%a,%b; subc.u32 %r3,%c,%d; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;",
          carry_then_subtract);
    /* Computes 3 - 5 and 5 - 3, and 9 - 0 after a sum with a carry and after a sum without a carry. */
    check("sub.cc.u32 %r2,3,5; addc.u32 %r2,0,0; sub.cc.u32 %r3,5,3; addc.u32 %r3,0,0; mov.b64 %x,{%r2,%r3};\n"
          "add.cc.u32 %r4,-1,1; subc.u32 %r4,9,0; add.cc.u32 %r5,1,1; subc.u32 %r5,9,0; mov.b64 %y,{%r4,%r5};",
          by_hand);
    check("add.cc.u32 %r2,%a,%b; addc.u32 %r3,0,0; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;", lone_carry);
    check("mad.lo.cc.u32 %r2,%a,%b,%c; madc.hi.u32 %r3,%a,%b,%d; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;",
          mad_carry);
    /* The flag remains valid across branches, and each lane has its own flag. */
    check("setp.lt.u32 %t0,%a,%b; @%t0 bra L; add.cc.u32 %r2,%a,%b; bra M;\n"
          "L: add.cc.u32 %r2,%b,%a;\nM: addc.u32 %r3,0,0; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;",
          lone_carry);
    /* A guarded instruction leaves the flag of lanes with a false guard unchanged, even if it is the first instruction of the
     * text that writes the flag. */
    check("mov.u32 %r2,0;\nLB: setp.eq.u32 %t0,%r2,1; setp.lt.u32 %t1,%a,%b; and.pred %t2,%t0,%t1;\n"
          "@%t2 sub.cc.u32 %r3,0,1; @%t0 bra LX; add.cc.u32 %r4,%a,%b; add.u32 %r2,%r2,1; bra LB;\n"
          "LX: addc.u32 %r3,0,0; cvt.u64.u32 %x,%r4; cvt.u64.u32 %y,%r3;", guarded_carry);
}

/* ---- integers --------------------------------------------------------------------------- */

static int32_t clamp(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}
CASE(saturating, OUT((uint32_t)clamp((int64_t)S(A) + S(B)), (uint32_t)clamp((int64_t)S(A) - S(B))))
CASE(mad_hi_sat, OUT((uint32_t)clamp(((int64_t)S(A) * S(B) >> 32) + S(C)), 0))
CASE(relu, int32_t m = S(A) < S(B) ? S(A) : S(B), x = S(A) > S(B) ? S(A) : S(B);
     OUT((uint32_t)(m < 0 ? 0 : m), (uint32_t)(x < 0 ? 0 : x)))
#define MAGNITUDE(type, wide, v, w) ((wide)(type)(v) < (wide)(type)(w)                        \
        ? (wide)(type)(w) - (wide)(type)(v) : (wide)(type)(v) - (wide)(type)(w))
CASE(sad32, OUT((uint32_t)(C + MAGNITUDE(uint32_t, int64_t, A, B)),
                (uint32_t)(C + MAGNITUDE(int32_t, int64_t, A, B))))
CASE(sad16, OUT((uint16_t)(C + MAGNITUDE(uint16_t, int64_t, A, B)),
                (uint16_t)(C + MAGNITUDE(int16_t, int64_t, A, B))))
CASE(sad64, OUT(P + (uint64_t)MAGNITUDE(uint64_t, __int128, Q, P),
                P + (uint64_t)MAGNITUDE(int64_t, __int128, Q, P)))
CASE(mul24, int64_t u = (int64_t)(A & 0xffffff) * (B & 0xffffff);
     int64_t s = (int64_t)(S(A << 8) >> 8) * (S(B << 8) >> 8);
     OUT((uint64_t)(uint32_t)(u >> 16) << 32 | (uint32_t)u,
         (uint64_t)(uint32_t)(s >> 16) << 32 | (uint32_t)s))
CASE(mad24, int64_t u = (int64_t)(A & 0xffffff) * (B & 0xffffff);
     int64_t s = (int64_t)(S(A << 8) >> 8) * (S(B << 8) >> 8);
     OUT((uint64_t)(uint32_t)((u >> 16) + C) << 32 | (uint32_t)(u + C),
         (uint64_t)(uint32_t)clamp((int32_t)(s >> 16) + (int64_t)S(C)) << 32 | (uint32_t)(s + C)))
CASE(sixteen, uint16_t a = (uint16_t)A, b = (uint16_t)B;
     OUT((uint64_t)((uint32_t)a * b) << 32 | (uint16_t)((uint32_t)a * b >> 16),
         (uint64_t)(uint32_t)((int16_t)a * (int16_t)b) << 32 |
             (uint16_t)((uint32_t)((int16_t)a * (int16_t)b) + C)))
CASE(sixteen_order, uint16_t a = (uint16_t)A, b = (uint16_t)B; int16_t sa = (int16_t)a, sb = (int16_t)b;
     OUT((uint64_t)(a < b ? a : b) << 32 | (a > b ? a : b),
         (uint64_t)(uint16_t)(sa < sb ? sa : sb) << 32 | (uint16_t)(sa > sb ? sa : sb)))
CASE(sixteen_shift, uint16_t a = (uint16_t)A; uint32_t n = B;
     OUT((uint64_t)(uint16_t)(n > 15 ? 0 : a << n) << 32 | (n > 15 ? 0 : a >> n),
         (uint16_t)((int16_t)a >> (n > 15 ? 15 : n))))

#define BYTE_U(v, k) (int64_t)(uint8_t)((v) >> 8 * (k))
#define BYTE_S(v, k) (int64_t)(int8_t)((v) >> 8 * (k))
#define HALF_U(v, k) (int64_t)(uint16_t)((v) >> 16 * (k))
#define HALF_S(v, k) (int64_t)(int16_t)((v) >> 16 * (k))
#define DOT4(x, y) (uint32_t)(C + BYTE_##x(A, 0) * BYTE_##y(B, 0) + BYTE_##x(A, 1) * BYTE_##y(B, 1) + \
                              BYTE_##x(A, 2) * BYTE_##y(B, 2) + BYTE_##x(A, 3) * BYTE_##y(B, 3))
#define DOT2(x, y, k) (uint64_t)(uint32_t)(C + HALF_##x(A, 0) * BYTE_##y(B, k) + HALF_##x(A, 1) * BYTE_##y(B, k + 1))
#define TWO(v, w) ((uint64_t)(w) << 32 | (v))
CASE(dot4, OUT(TWO(DOT4(U, U), DOT4(S, S)), TWO(DOT4(U, S), DOT4(S, U))))
CASE(dot2_low, OUT(TWO(DOT2(U, U, 0), DOT2(S, S, 0)), TWO(DOT2(U, S, 0), DOT2(S, U, 0))))
CASE(dot2_high, OUT(TWO(DOT2(U, U, 2), DOT2(S, S, 2)), TWO(DOT2(U, S, 2), DOT2(S, U, 2))))

static void integers_saturate_multiply_and_sum(void **state)
{
    (void)state;
#define PAIRS " mov.b64 %x,{%r2,%r3}; mov.b64 %y,{%r4,%r5};"
    check("add.sat.s32 %r2,%a,%b; sub.sat.s32 %r3,%a,%b; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;", saturating);
    check("mad.hi.sat.s32 %r2,%a,%b,%c; cvt.u64.u32 %x,%r2;", mad_hi_sat);
    check("min.relu.s32 %r2,%a,%b; max.relu.s32 %r3,%a,%b; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;", relu);
    check("sad.u32 %r2,%a,%b,%c; sad.s32 %r3,%a,%b,%c; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;", sad32);
    check("sad.u16 %h8,%h0,%h2,%h4; sad.s16 %h9,%h0,%h2,%h4; cvt.u64.u16 %x,%h8; cvt.u64.u16 %y,%h9;", sad16);
    check("sad.u64 %x,%q,%p,%p; sad.s64 %y,%q,%p,%p;", sad64);
    check("mul24.lo.u32 %r2,%a,%b; mul24.hi.u32 %r3,%a,%b; mul24.lo.s32 %r4,%a,%b; mul24.hi.s32 %r5,%a,%b;" PAIRS,
          mul24);
    check("mad24.lo.u32 %r2,%a,%b,%c; mad24.hi.u32 %r3,%a,%b,%c; mad24.lo.s32 %r4,%a,%b,%c;\n"
          "mad24.hi.sat.s32 %r5,%a,%b,%c;" PAIRS, mad24);
    check("mul.hi.u16 %h8,%h0,%h2; cvt.u32.u16 %r2,%h8; mul.wide.u16 %r3,%h0,%h2; mad.lo.s16 %h9,%h0,%h2,%h4;\n"
          "cvt.u32.u16 %r4,%h9; mul.wide.s16 %r5,%h0,%h2;" PAIRS, sixteen);
    check("min.u16 %h8,%h0,%h2; max.u16 %h9,%h0,%h2; min.s16 %h10,%h0,%h2; max.s16 %h11,%h0,%h2;\n"
          "cvt.u32.u16 %r2,%h9; cvt.u32.u16 %r3,%h8; cvt.u32.u16 %r4,%h11; cvt.u32.u16 %r5,%h10;" PAIRS,
          sixteen_order);
    check("shl.b16 %h8,%h0,%b; shr.u16 %h9,%h0,%b; shr.s16 %h10,%h0,%b; cvt.u32.u16 %r2,%h9;\n"
          "cvt.u32.u16 %r3,%h8; cvt.u32.u16 %r4,%h10; mov.u32 %r5,0;" PAIRS, sixteen_shift);
    check("dp4a.u32.u32 %r2,%a,%b,%c; dp4a.s32.s32 %r3,%a,%b,%c; dp4a.u32.s32 %r4,%a,%b,%c;\n"
          "dp4a.s32.u32 %r5,%a,%b,%c;" PAIRS, dot4);
    check("dp2a.lo.u32.u32 %r2,%a,%b,%c; dp2a.lo.s32.s32 %r3,%a,%b,%c; dp2a.lo.u32.s32 %r4,%a,%b,%c;\n"
          "dp2a.lo.s32.u32 %r5,%a,%b,%c;" PAIRS, dot2_low);
    check("dp2a.hi.u32.u32 %r2,%a,%b,%c; dp2a.hi.s32.s32 %r3,%a,%b,%c; dp2a.hi.u32.s32 %r4,%a,%b,%c;\n"
          "dp2a.hi.s32.u32 %r5,%a,%b,%c;" PAIRS, dot2_high);
}

static uint32_t mask_of(uint32_t position, uint32_t width)
{
    uint32_t m = 0;
    for (uint64_t k = position; k < 32 && k < (uint64_t)position + width; k++)
        m |= UINT32_C(1) << k;
    return m;
}
static uint32_t extended(uint32_t v, uint32_t bits, bool is_signed)
{
    if (bits >= 32)
        return v;
    v &= mask_of(0, bits);
    return is_signed && bits != 0 && v >> (bits - 1) ? v | ~mask_of(0, bits) : v;
}
CASE(masks, OUT(TWO(mask_of(A, B), mask_of(A & 31, B & 31)), 0))
CASE(extensions, OUT(TWO(extended(A, B, false), extended(A, B, true)),
                     TWO(extended(A, B & 31, false), extended(A, B & 31, true))))
static uint32_t nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    int64_t count = offset < 0 ? -(int64_t)offset : offset;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (int pos = (int)base; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1)
        if (mask >> pos & 1 && --count == 0)
            return (uint32_t)pos;
    return UINT32_MAX;
}
CASE(nth, OUT(TWO(nth_set(A, B & 31, S(C & 15) - 7), nth_set(A, 0, 3)), 0))
/* Returns a bit field, which is extracted bit by bit, with position and length as the PTX manual defines them. */
static uint64_t field(uint64_t v, unsigned bits, uint32_t pos, uint32_t len, bool is_signed)
{
    uint64_t d = 0;
    unsigned top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    bool fill = is_signed && len != 0 && (v >> top & 1);
    for (unsigned i = 0; i < bits; i++)
        d |= (uint64_t)(i < len && pos + i < bits ? v >> (pos + i) & 1 : fill) << i;
    return d;
}
static uint64_t inserted(uint64_t a, uint64_t b, unsigned bits, uint32_t pos, uint32_t len)
{
    for (unsigned i = 0; i < len && pos + i < bits; i++)
        b = (b & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}
CASE(fields32, OUT(TWO(field(A, 32, B & 255, C & 255, false), field(A, 32, B & 255, C & 255, true)),
                   inserted(A, D, 32, B & 255, C & 255)))
CASE(fields64, OUT(field(P, 64, B & 255, C & 255, false), field(P, 64, B & 255, C & 255, true)))
CASE(insert64, OUT(inserted(P, Q, 64, B & 255, C & 255), 0))
static uint32_t top_bit(uint64_t v, int bits, bool is_signed)
{
    if (is_signed && v >> (bits - 1) & 1)
        v = ~v;
    for (int i = bits - 1; i >= 0; i--)
        if (v >> i & 1)
            return (uint32_t)i;
    return UINT32_MAX;
}
CASE(find, OUT(TWO(top_bit(A, 32, false), top_bit(A, 32, true)),
               TWO(top_bit(P, 64, false), top_bit(P, 64, true))))
CASE(find_shift, uint32_t u = top_bit(A, 32, false), s = top_bit(P, 64, true);
     OUT(TWO(u == UINT32_MAX ? u : 31 - u, s == UINT32_MAX ? s : 63 - s), 0))
CASE(funnel, uint64_t v = (uint64_t)B << 32 | A; uint32_t n = C > 32 ? 32 : C; uint32_t m = C & 31;
     OUT(TWO((uint32_t)(v << n >> 32), (uint32_t)(v >> n)),
         TWO((uint32_t)(v << m >> 32), (uint32_t)(v >> m))))
static void bits_are_masked_extended_found_and_moved(void **state)
{
    (void)state;
    check("bmsk.clamp.b32 %r2,%a,%b; bmsk.wrap.b32 %r3,%a,%b; mov.b64 %x,{%r2,%r3};", masks);
    check("szext.clamp.u32 %r2,%a,%b; szext.clamp.s32 %r3,%a,%b; szext.wrap.u32 %r4,%a,%b;\n"
          "szext.wrap.s32 %r5,%a,%b;" PAIRS, extensions);
    check("and.b32 %r6,%b,31; and.b32 %r7,%c,15; sub.s32 %r7,%r7,7; fns.b32 %r2,%a,%r6,%r7;\n"
          "fns.b32 %r3,%a,0,3; mov.b64 %x,{%r2,%r3};", nth);
    check("bfe.u32 %r2,%a,%b,%c; bfe.s32 %r3,%a,%b,%c; mov.b64 %x,{%r2,%r3}; bfi.b32 %r4,%a,%d,%b,%c;\n"
          "cvt.u64.u32 %y,%r4;", fields32);
    check("bfe.u64 %x,%p,%b,%c; bfe.s64 %y,%p,%b,%c;", fields64);
    check("bfi.b64 %x,%p,%q,%b,%c;", insert64);
    check("bfind.u32 %r2,%a; bfind.s32 %r3,%a; bfind.u64 %r4,%p; bfind.s64 %r5,%p;" PAIRS, find);
    check("bfind.shiftamt.u32 %r2,%a; bfind.shiftamt.s64 %r3,%p; mov.b64 %x,{%r2,%r3};", find_shift);
    check("shf.l.clamp.b32 %r2,%a,%b,%c; shf.r.clamp.b32 %r3,%a,%b,%c; shf.l.wrap.b32 %r4,%a,%b,%c;\n"
          "shf.r.wrap.b32 %r5,%a,%b,%c;" PAIRS, funnel);
}

/* ---- floats of 32 and 64 bits ------------------------------------------------------------- */

static unsigned properties(uint64_t magnitude, uint64_t infinity, uint64_t least)
{
    return (magnitude < infinity) | (magnitude == infinity) << 1 | (magnitude <= infinity) << 2 |
           (magnitude > infinity) << 3 |
           (magnitude == 0 || (magnitude >= least && magnitude < infinity)) << 4 |
           (magnitude != 0 && magnitude < least) << 5;
}
CASE(tests, OUT(properties(A & 0x7fffffff, 0x7f800000, 0x00800000),
                properties(P & INT64_MAX, UINT64_C(0x7ff0000000000000), UINT64_C(0x0010000000000000))))
static uint64_t gross(uint64_t p, bool root)
{
    uint64_t bits = p >> 32 << 32;
    double x;
    memcpy(&x, &bits, 8);
    if ((bits & UINT64_C(0x7ff0000000000000)) == 0)
        x = x < 0 || bits >> 63 ? -0.0 : 0.0;
    x = root ? 1 / sqrt(x) : 1 / x;
    memcpy(&bits, &x, 8);
    if (x != x)
        return UINT64_C(0x7ff8000000000000);
    if ((bits & UINT64_C(0x7ff0000000000000)) == 0)
        bits &= UINT64_C(1) << 63;
    return bits >> 32 << 32;
}
CASE(gross_reciprocals, OUT(gross(P, false), gross(P, true)))
static uint32_t pick32(uint32_t a, uint32_t b, bool max, bool nan, bool xorsign)
{
    float x, y;
    uint32_t sign = (a ^ b) & 0x80000000, r;
    if (xorsign)
        a &= 0x7fffffff, b &= 0x7fffffff;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    if ((x != x && y != y) || (nan && (x != x || y != y)))
        return 0x7fffffff;
    if (x != x)
        r = b;
    else if (y != y)
        r = a;
    else if (x == y)
        r = ((a >> 31) != 0) == max ? b : a;
    else
        r = (x < y) != max ? a : b;
    return xorsign ? (r & 0x7fffffff) | sign : r;
}
CASE(min_forms, OUT(TWO(pick32(A, B, false, true, false), pick32(A, B, true, true, false)),
                    TWO(pick32(A, B, false, false, true), pick32(A, B, true, true, true))))
static void floats_are_tested_inverted_and_ordered(void **state)
{
    (void)state;
    check("testp.finite.f32 %t0,%fa; testp.infinite.f32 %t1,%fa; testp.number.f32 %t2,%fa;\n"
          "testp.notanumber.f32 %t3,%fa; testp.normal.f32 %t4,%fa; testp.subnormal.f32 %t5,%fa;\n"
          "@%t0 add.u64 %x,%x,1; @%t1 add.u64 %x,%x,2; @%t2 add.u64 %x,%x,4; @%t3 add.u64 %x,%x,8;\n"
          "@%t4 add.u64 %x,%x,16; @%t5 add.u64 %x,%x,32;\n"
          "testp.finite.f64 %t0,%ga; testp.infinite.f64 %t1,%ga; testp.number.f64 %t2,%ga;\n"
          "testp.notanumber.f64 %t3,%ga; testp.normal.f64 %t4,%ga; testp.subnormal.f64 %t5,%ga;\n"
          "@%t0 add.u64 %y,%y,1; @%t1 add.u64 %y,%y,2; @%t2 add.u64 %y,%y,4; @%t3 add.u64 %y,%y,8;\n"
          "@%t4 add.u64 %y,%y,16; @%t5 add.u64 %y,%y,32;", tests);
    check("rcp.approx.ftz.f64 %ga,%ga; mov.b64 %x,%ga; mov.b64 %ga,%p; rsqrt.approx.ftz.f64 %ga,%ga;\n"
          "mov.b64 %y,%ga;", gross_reciprocals);
    check("min.NaN.f32 %r2,%fa,%fb; max.NaN.f32 %r3,%fa,%fb; min.xorsign.abs.f32 %r4,%fa,%fb;\n"
          "max.NaN.xorsign.abs.f32 %r5,%fa,%fb;" PAIRS, min_forms);
}

/* ---- 16-bit floats ------------------------------------------------------------------------ */

static uint32_t flush16(uint32_t h)
{
    return (h & 0x7c00) == 0 ? h & 0x8000 : h & 0xffff;
}
static uint32_t low(uint32_t v)
{
    return v & 0xffff;
}
static uint32_t high(uint32_t v)
{
    return v >> 16;
}
static uint32_t clamp16(uint32_t h, uint32_t one)
{
    return (h & 0x7fff) > 0x7c00 || h & 0x8000 ? 0 : h > one ? one : h;
}
static uint32_t relu16(uint32_t h, uint32_t infinity)
{
    return (h & 0x7fff) > infinity ? 0x7fff : h & 0x8000 ? 0 : h;
}
#define BOTH(e) ((e##_(low(A), low(B), low(C))) | (e##_(high(A), high(B), high(C))) << 16)
static uint32_t add_(uint32_t a, uint32_t b, uint32_t c) { (void)c; return soft_half_add(&soft_f16, a, b); }
static uint32_t sub_(uint32_t a, uint32_t b, uint32_t c) { (void)c; return soft_half_add(&soft_f16, a, b ^ 0x8000); }
static uint32_t mul_(uint32_t a, uint32_t b, uint32_t c) { (void)c; return soft_half_mul(&soft_f16, a, b); }
static uint32_t fma_(uint32_t a, uint32_t b, uint32_t c) { return soft_half_fma(&soft_f16, a, b, c); }
static uint32_t bfma_(uint32_t a, uint32_t b, uint32_t c) { return soft_half_fma(&soft_bf16, a, b, c); }
CASE(half_pairs, OUT(TWO(BOTH(add), BOTH(sub)), TWO(BOTH(mul), BOTH(fma))))
CASE(half_singles, OUT(add_(low(A), low(B), 0) | (uint64_t)sub_(low(A), low(B), 0) << 16 |
                           (uint64_t)mul_(low(A), low(B), 0) << 32 | (uint64_t)fma_(low(A), low(B), low(C)) << 48,
                       bfma_(low(A), low(B), low(C)) | (uint64_t)relu16(bfma_(low(A), low(B), low(C)), 0x7f80) << 16))
CASE(half_mods, uint32_t a = flush16(A), b = flush16(B), c = flush16(C);
     OUT(flush16(soft_half_fma(&soft_f16, a, b, c)) | (uint64_t)clamp16(fma_(low(A), low(B), low(C)), 0x3c00) << 16 |
             (uint64_t)relu16(fma_(low(A), low(B), low(C)), 0x7c00) << 32,
         clamp16(flush16(soft_half_add(&soft_f16, a, b)), 0x3c00)))
static uint32_t pick16(const struct soft_format *f, uint32_t a, uint32_t b, bool max, bool nan, bool xorsign)
{
    uint32_t wide_a = f == &soft_bf16 ? a << 16 : (uint32_t)soft_real(&soft_f32, 0), r;
    uint32_t wide_b = b << 16, sign = (a ^ b) & 0x8000;
    if (f != &soft_bf16) { /* f16 are converted exactly to f32, and compared as f32 */
        struct soft_number x = soft_number(f, a), y = soft_number(f, b);
        wide_a = soft_is_nan(f, a) ? 0x7fffffff : soft_is_infinite(f, a) ? 0x7f800000 | (a & 0x8000) << 16
                 : (uint32_t)soft_round(&soft_f32, x, false, SOFT_RN, a & 0x8000);
        wide_b = soft_is_nan(f, b) ? 0x7fffffff : soft_is_infinite(f, b) ? 0x7f800000 | (b & 0x8000) << 16
                 : (uint32_t)soft_round(&soft_f32, y, false, SOFT_RN, b & 0x8000);
    }
    if (xorsign)
        wide_a &= 0x7fffffff, wide_b &= 0x7fffffff, a &= 0x7fff, b &= 0x7fff;
    bool nan_a = soft_is_nan(f, a), nan_b = soft_is_nan(f, b);
    if ((nan_a && nan_b) || (nan && (nan_a || nan_b)))
        return 0x7fff;
    uint32_t p = pick32(wide_a, wide_b, max, false, false);
    r = nan_a ? b : nan_b ? a : p == wide_a ? a : b;
    return xorsign ? (r & 0x7fff) | sign : r;
}
#define PICK(f, max, nan, xs) (pick16(f, low(A), low(B), max, nan, xs) | pick16(f, high(A), high(B), max, nan, xs) << 16)
CASE(half_order, OUT(TWO(PICK(&soft_f16, false, false, false), PICK(&soft_f16, true, true, false)),
                     TWO(PICK(&soft_bf16, false, false, true), PICK(&soft_bf16, true, false, false))))
CASE(half_signs, OUT(TWO(A ^ 0x80008000u, A & 0x7fff7fffu),
                     TWO(low(A) ^ 0x8000, low(A) & 0x7fff)))
static uint32_t quiet(uint32_t h) { return (h & 0x7fff) > 0x7c00 ? 0x7fff : h; }
CASE(half_signs_ftz, OUT(quiet(flush16(low(A) ^ 0x8000)) | quiet(flush16(high(A) ^ 0x8000)) << 16,
                         quiet(flush16(low(A) & 0x7fff))))
static int order16(const struct soft_format *f, uint32_t a, uint32_t b) /* returns 2 for unordered operands */
{
    if (soft_is_nan(f, a) || soft_is_nan(f, b))
        return 2;
    int32_t x = (int32_t)(a & 0x7fff), y = (int32_t)(b & 0x7fff);
    x = a & 0x8000 ? -x : x;
    y = b & 0x8000 ? -y : y;
    return (x > y) - (x < y);
}
CASE(half_compare, int l = order16(&soft_f16, low(A), low(B)), h = order16(&soft_f16, high(A), high(B));
     int m = order16(&soft_bf16, low(A), low(B));
     OUT((l == -1) | (h == -1) << 1 | (l == 0 || l == 2) << 2 | (m == 1 || m == 0) << 3,
         TWO((l == -1 ? 0x3c00u : 0) | (h == -1 ? 0x3c000000u : 0),
             (l == 0 ? 0xffffu : 0) | (h == 0 ? 0xffff0000u : 0))))
static uint32_t from_f32(const struct soft_format *f, uint32_t bits, enum soft_rounding mode)
{
    if (soft_is_nan(&soft_f32, bits))
        return 0x7fff;
    if (soft_is_infinite(&soft_f32, bits))
        return (uint32_t)soft_infinity(f) | (bits >> 16 & 0x8000);
    return (uint32_t)soft_round(f, soft_number(&soft_f32, bits), false, mode, bits >> 31);
}
CASE(half_convert, OUT(TWO(from_f32(&soft_f16, A, SOFT_RN) << 16 | from_f32(&soft_f16, B, SOFT_RN),
                           from_f32(&soft_bf16, A, SOFT_RZ) << 16 | from_f32(&soft_bf16, B, SOFT_RZ)),
                       relu16(from_f32(&soft_f16, A, SOFT_RN), 0x7c00) |
                           relu16(from_f32(&soft_bf16, A, SOFT_RN), 0x7f80) << 16))
static long double real16(const struct soft_format *f, uint32_t h)
{
    struct soft_number n = soft_number(f, h);
    if (soft_is_nan(f, h))
        return NAN;
    if (soft_is_infinite(f, h))
        return h & 0x8000 ? -INFINITY : INFINITY;
    return n.m == 0 ? (h & 0x8000 ? -0.0L : 0.0L) : ldexpl((long double)n.m, n.e);
}
static uint32_t flush_b16(uint32_t h) { return (h & 0x7f80) == 0 ? h & 0x8000 : h & 0xffff; }
CASE(half_functions,
     OUT(TWO((uint32_t)soft_real(&soft_f16, exp2l(real16(&soft_f16, low(A)))) |
                 (uint32_t)soft_real(&soft_f16, exp2l(real16(&soft_f16, high(A)))) << 16,
             (uint32_t)soft_real(&soft_f16, tanhl(real16(&soft_f16, low(A)))) |
                 (uint32_t)soft_real(&soft_f16, tanhl(real16(&soft_f16, high(A)))) << 16),
         flush_b16((uint32_t)soft_real(&soft_bf16, exp2l(real16(&soft_bf16, flush_b16(low(A)))))) |
             (uint32_t)soft_real(&soft_bf16, tanhl(real16(&soft_bf16, low(A)))) << 16))
static void sixteen_bit_floats_compute_compare_and_convert(void **state)
{
    (void)state;
    check("add.rn.f16x2 %r2,%a,%b; sub.f16x2 %r3,%a,%b; mul.rn.f16x2 %r4,%a,%b; fma.rn.f16x2 %r5,%a,%b,%c;" PAIRS,
          half_pairs);
    check("add.f16 %h8,%h0,%h2; sub.rn.f16 %h9,%h0,%h2; mul.f16 %h10,%h0,%h2; fma.rn.f16 %h11,%h0,%h2,%h4;\n"
          "mov.b64 %x,{%h8,%h9,%h10,%h11}; fma.rn.bf16 %h8,%h0,%h2,%h4; fma.rn.relu.bf16 %h9,%h0,%h2,%h4;\n"
          "mov.b32 %r2,{%h8,%h9}; cvt.u64.u32 %y,%r2;", half_singles);
    check("fma.rn.ftz.f16 %h8,%h0,%h2,%h4; fma.rn.sat.f16 %h9,%h0,%h2,%h4; fma.rn.relu.f16 %h10,%h0,%h2,%h4;\n"
          "mov.b16 %h11,0; mov.b64 %x,{%h8,%h9,%h10,%h11}; add.ftz.sat.f16 %h8,%h0,%h2; cvt.u64.u16 %y,%h8;",
          half_mods);
    check("min.f16x2 %r2,%a,%b; max.NaN.f16x2 %r3,%a,%b; min.xorsign.abs.bf16x2 %r4,%a,%b;\n"
          "max.bf16x2 %r5,%a,%b;" PAIRS, half_order);
    check("neg.f16x2 %r2,%a; abs.bf16x2 %r3,%a; neg.bf16 %h8,%h0; abs.f16 %h9,%h0; cvt.u32.u16 %r4,%h8;\n"
          "cvt.u32.u16 %r5,%h9;" PAIRS, half_signs);
    check("neg.ftz.f16x2 %r2,%a; abs.ftz.f16 %h8,%h0; cvt.u64.u32 %x,%r2; cvt.u64.u16 %y,%h8;", half_signs_ftz);
    check("setp.lt.f16x2 %t0|%t1,%a,%b; setp.equ.f16 %t2,%h0,%h2; setp.ge.bf16 %t3,%h0,%h2;\n"
          "@%t0 add.u64 %x,%x,1; @%t1 add.u64 %x,%x,2; @%t2 add.u64 %x,%x,4; @%t3 add.u64 %x,%x,8;\n"
          "set.lt.f16x2.f16x2 %r2,%a,%b; set.eq.u32.f16x2 %r3,%a,%b; mov.b64 %y,{%r2,%r3};", half_compare);
    check("cvt.rn.f16x2.f32 %r2,%fa,%fb; cvt.rz.bf16x2.f32 %r3,%fa,%fb; mov.b64 %x,{%r2,%r3};\n"
          "cvt.rn.relu.f16.f32 %h8,%fa; cvt.rn.relu.bf16.f32 %h9,%fa; mov.b32 %r4,{%h8,%h9}; cvt.u64.u32 %y,%r4;",
          half_convert);
    check("ex2.approx.f16x2 %r2,%a; tanh.approx.f16x2 %r3,%a; mov.b64 %x,{%r2,%r3}; ex2.approx.ftz.bf16 %h8,%h0;\n"
          "tanh.approx.bf16 %h9,%h0; mov.b32 %r4,{%h8,%h9}; cvt.u64.u32 %y,%r4;", half_functions);
}

/* ---- atomics -------------------------------------------------------------------------------- */

CASE(half_atomics, OUT(TWO(BOTH(add), A), (uint64_t)bfma_(low(C), soft_half_one(&soft_bf16), low(D)) |
                           (uint64_t)high(C) << 16 | (uint64_t)low(C) << 32))
CASE(short_cas, OUT((C & 0xffff0000u) | (low(C) == low(A) ? low(B) : low(C)), low(C)))
static void sixteen_bit_words_change_atomically(void **state)
{
    (void)state;
    /* Each thread executes its atomics on its own 32 bytes of input. */
    check("st.global.u32 [%d0],%a; atom.global.add.noftz.f16x2 %r3,[%d0],%b; ld.global.u32 %r2,[%d0];\n"
          "mov.b64 %x,{%r2,%r3}; cvt.u16.u32 %h8,%d; atom.global.add.noftz.bf16 %h9,[%d0+8],%h8;\n"
          "ld.global.u32 %r4,[%d0+8]; cvt.u32.u16 %r5,%h9; mov.b64 %y,{%r4,%r5};", half_atomics);
    check("cvt.u16.u32 %h8,%a; cvt.u16.u32 %h9,%b; atom.global.cas.b16 %h10,[%d0+8],%h8,%h9;\n"
          "ld.global.u32 %r2,[%d0+8]; cvt.u64.u32 %x,%r2; cvt.u64.u16 %y,%h10;", short_cas);
}

/* ---- rare forms of special registers, literals and accesses ------------------------------ */

CASE(whole_of_a_block, (void)in; OUT((uint64_t)64 << 32 | 1, 0))
CASE(signs_of_literals, (void)in; OUT((uint64_t)(uint32_t)~5 << 32, (uint64_t)6 << 32 | 1))
CASE(same_place, OUT(A, A))
static void registers_of_three_move_as_four_and_signs_stand_in_rows(void **state)
{
    (void)state;
    /* The code computes the thread's number from special registers, and subtracts %r0, which contains the same number. */
    check("mov.v4.u32 {%r2,%r3,%r4,%r5},%tid; mov.v4.b32 {%r6,_,%r7,_},%ctaid; mad.lo.u32 %r2,%r6,64,%r2;\n"
          "sub.u32 %r2,%r2,%r0; mov.v4.u32 {%r8,%r9,%r10,%r11},%ntid; mov.v4.u16 {_,%h6,_,%h7},%nctaid;\n"
          "or.b32 %r2,%r2,%r3; or.b32 %r2,%r2,%r4; or.b32 %r2,%r2,%r5; or.b32 %r2,%r2,%r7;\n"
          "or.b32 %r2,%r2,%r11; cvt.u32.u16 %r3,%h6; or.b32 %r2,%r2,%r3; cvt.u32.u16 %r3,%h7;\n"
          "or.b32 %r2,%r2,%r3; mov.b64 %x,{%r2,%r8};", whole_of_a_block);
    check("mov.u32 %r2,!5; mov.u32 %r3,~5; mov.b64 %x,{%r2,%r3}; mov.u32 %r4,!!7; mov.u32 %r5,-~5;\n"
          "mov.b64 %y,{%r4,%r5};", signs_of_literals);
    check("ld.mmio.relaxed.sys.global.u32 %r2,[%d0]; fence.acquire.gpu; st.mmio.relaxed.sys.u32 [%d1],%r2;\n"
          "fence.release.sys; ld.global.u32 %r3,[%d1]; cvt.u64.u32 %x,%r2; cvt.u64.u32 %y,%r3;",
          same_place);
}

/* ---- vectors of registers ----------------------------------------------------------------- */

CASE(turned, OUT((uint64_t)C << 32 | B, (uint64_t)A << 32 | D))
CASE(halves_of_a_vector, OUT((uint64_t)(A << 16 | A >> 16) << 32 | (A + (B ^ 0xff)), Q))
static void vectors_of_registers_load_move_and_have_elements(void **state)
{
    (void)state;
    check(".reg .v4 .b32 %v<3>; .reg .v2 .u64 w; ld.global.v4.u32 %v1,[%d0]; mov.v4.b32 %v2,%v1;\n"
          "{ .reg .v4 .b32 %v2; mov.b32 %v2.x,%v1.y; }\n"
          "mov.v4.b32 %v2,{%v2.b,%v2.r,%v2.w,%v2.y}; mov.v2.b32 {%v2.x,%v2.y},{%v2.y,%v2.x};\n"
          "mov.b64 w.x,{%v2.w,%v2.y}; mov.b64 w.y,{%v2.z,%v2.x}; st.global.v2.u64 [%d0],w;\n"
          "ld.global.v2.b64 {%x,%y},[%d0];", turned);
    check(".reg .align 4 .v2 .b16 h; .reg .v2 .b32 v; .reg .v2 .f64 f; mov.b32 h,%a;\n"
          "mov.v2.b16 h,{h.y,h.x}; mov.b32 v.g,h; mov.b32 %r2,255; mov.v2.b32 {%r3,_},{%r2,%b};\n"
          "xor.b32 %r3,%r3,%b; add.u32 v.r,%a,%r3; mov.b64 %x,v; mov.v2.f64 f,{%ga,%q};\n"
          "mov.b64 %y,f.y;", halves_of_a_vector);
}

/* ---- tf32, mixed precision, reductions of floats -------------------------------------------- */

/* Rounds a float to tf32, which has 19 bits and not the lowest 13 bits of the float. Ties are rounded away from zero or to even.
 * The function compares the distances to both neighbours. */
static uint32_t tf32(uint32_t bits, char how, bool finite, bool relu)
{
    uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffff, low, up, r;

    if (magnitude > 0x7f800000)
        return 0x7fffffff;
    low = magnitude / 8192 * 8192;
    up = low + 8192;
    r = magnitude - low > up - magnitude    ? up
        : magnitude - low < up - magnitude  ? low
        : how == 'a' || low / 8192 % 2 != 0 ? up
                                            : low;
    if (how == 'z')
        r = low;
    if (finite && r >= 0x7f800000)
        r = 0x7f7fe000;
    return relu && sign != 0 ? 0 : sign | r;
}
CASE(to_tf32, OUT((uint64_t)tf32(A, 'a', true, false) << 32 | tf32(A, 'a', false, false),
                  (uint64_t)tf32(A, 'e', false, true) << 32 | tf32(A, 'e', false, false)))
CASE(to_tf32_finite, OUT((uint64_t)tf32(B, 'e', true, false) << 32 | tf32(B, 'e', true, true),
                         (uint64_t)tf32(B, 'z', false, false) << 32 | tf32(B, 'z', true, true)))

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static uint32_t bits_of(double exact) /* returns the bits of the value, rounded once to a float */
{
    float f = (float)exact;
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return f != f ? 0x7fffffff : bits;
}
static double half_value(uint32_t h, bool brain)
{
    uint32_t e = h >> 10 & 31, m = h & 1023;
    double v = e == 31 ? (m != 0 ? __builtin_nan("") : __builtin_inf())
               : e == 0 ? m * 0x1p-24
                        : (1024 + m) * __builtin_ldexp(1, (int)e - 25);

    return brain ? (double)float_of(h << 16) : h >> 15 & 1 ? -v : v;
}
/* Returns a float whose exponent is near those of other operands. The significand of an f16 has 11 bits, that of a bf16 has 8. If
 * exponents are near each other, double represents sums and products with such values exactly, so that results are rounded
 * once. */
static float near(uint32_t bits)
{
    return float_of((bits & 0x80ffffff) | 0x3f000000);
}
static float sat(double v)
{
    return (float)(v != v || v <= 0 ? 0 : v >= 1 ? 1 : v);
}
CASE(mixed, double h = half_value((A & 0xbfff) | 0x2000, false), g = half_value((B & 0xbfff) | 0x2000, false);
     OUT((uint64_t)bits_of(h + (double)near(C)) << 32 | bits_of(h - (double)near(C)),
         (uint64_t)bits_of((double)sat(h + (double)near(D))) << 32 | bits_of(__builtin_fmaf((float)h, (float)g,
                                                                                      near(C)))))
CASE(mixed_brain, double h = half_value(A & 0xffff, true), g = half_value(B & 0xffff, true);
     OUT((uint64_t)bits_of((double)((float)h + near(C))) << 32 | bits_of((double)((float)h - near(C))),
         bits_of((double)__builtin_fmaf((float)h, (float)g, near(C)))))

/* Returns the minimum or maximum over the members of the warp. Floats other than NaN are ordered as by IEEE 754's totalOrder. */
static uint32_t warp_float(const struct in *in, bool max, bool magnitude, bool nan_wins, uint32_t members)
{
    size_t first = (size_t)(in - inputs) / 32 * 32;
    uint32_t best = 0x7fffffff;
    bool any = false;

    for (unsigned l = 0; l < 32; l++) {
        uint32_t v = inputs[first + l].a & (magnitude ? 0x7fffffff : UINT32_MAX);
        float f = float_of(v), b = float_of(best);

        if ((members >> l & 1) == 0)
            continue;
        if (f != f) {
            if (nan_wins)
                return 0x7fffffff;
            continue;
        }
        if (!any || (max ? f > b || (f == b && v < best && v == 0) : f < b || (f == b && v > best && v >> 31)))
            best = v;
        any = true;
    }
    return best;
}
CASE(warp_floats, OUT((uint64_t)warp_float(in, false, false, false, UINT32_MAX) << 32 |
                          warp_float(in, true, false, false, UINT32_MAX),
                      (uint64_t)warp_float(in, false, true, true, UINT32_MAX) << 32 |
                          warp_float(in, true, true, false, UINT32_MAX)))
CASE(part_of_a_warp, uint32_t all = (in - inputs) % 32 < 3 ? 7 : ~7u;
     OUT((uint64_t)warp_float(in, false, false, true, all) << 32 | warp_float(in, true, false, true, all),
         warp_float(in, true, false, false, all)))
static void floats_are_shortened_mixed_and_reduced(void **state)
{
    (void)state;
    check("cvt.rna.tf32.f32 %r2,%fa; cvt.rna.satfinite.tf32.f32 %r3,%fa; mov.b64 %x,{%r2,%r3};\n"
          "cvt.rn.tf32.f32 %r4,%fa; cvt.rn.relu.tf32.f32 %r5,%fa; mov.b64 %y,{%r4,%r5};", to_tf32);
    check("cvt.rn.satfinite.relu.tf32.f32 %r2,%fb; cvt.rn.satfinite.tf32.f32 %r3,%fb; mov.b64 %x,{%r2,%r3};\n"
          "cvt.rz.relu.satfinite.tf32.f32 %r4,%fb; cvt.rz.tf32.f32 %r5,%fb; mov.b64 %y,{%r4,%r5};",
          to_tf32_finite);
    check("and.b32 %c,%c,0x80ffffff; or.b32 %c,%c,0x3f000000; and.b32 %d,%d,0x80ffffff; or.b32 %d,%d,0x3f000000;\n"
          "and.b16 %h0,%h0,0xbfff; or.b16 %h0,%h0,0x2000; and.b16 %h2,%h2,0xbfff; or.b16 %h2,%h2,0x2000;\n"
          "add.f32.f16 %r3,%h0,%c; sub.rn.f32.f16 %r2,%h0,%c; mov.b64 %x,{%r2,%r3}; add.sat.f32.f16 %r3,%h0,%d;\n"
          "fma.rn.f32.f16 %r2,%h0,%h2,%c; mov.b64 %y,{%r2,%r3};", mixed);
    check("and.b32 %c,%c,0x80ffffff; or.b32 %c,%c,0x3f000000;\n"
          "add.f32.bf16 %r3,%h0,%c; sub.f32.bf16 %r2,%h0,%c; mov.b64 %x,{%r2,%r3};\n"
          "fma.rn.f32.bf16 %r2,%h0,%h2,%c; cvt.u64.u32 %y,%r2;", mixed_brain);
    check("redux.sync.max.f32 %r2,%a,-1; redux.sync.min.f32 %r3,%fa,-1; mov.b64 %x,{%r2,%r3};\n"
          "redux.sync.max.abs.f32 %r2,%fa,-1; redux.sync.min.abs.NaN.f32 %r3,%a,-1; mov.b64 %y,{%r2,%r3};",
          warp_floats);
    check("mov.u32 %r5,%laneid; setp.lt.u32 %t1,%r5,3; selp.b32 %r4,7,0xfffffff8,%t1; @%t1 bra M;\n"
          "redux.sync.max.NaN.f32 %r2,%a,%r4; redux.sync.min.NaN.f32 %r3,%a,%r4;\n"
          "redux.sync.max.f32 %r6,%a,%r4; bra E; M: redux.sync.max.NaN.f32 %r2,%a,7;\n"
          "redux.sync.min.NaN.f32 %r3,%a,7; redux.sync.max.f32 %r6,%a,7; E: mov.b64 %x,{%r2,%r3};\n"
          "cvt.u64.u32 %y,%r6;", part_of_a_warp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carry_chains_add_subtract_and_multiply),
        cmocka_unit_test(integers_saturate_multiply_and_sum),
        cmocka_unit_test(bits_are_masked_extended_found_and_moved),
        cmocka_unit_test(floats_are_tested_inverted_and_ordered),
        cmocka_unit_test(sixteen_bit_floats_compute_compare_and_convert),
        cmocka_unit_test(sixteen_bit_words_change_atomically),
        cmocka_unit_test(registers_of_three_move_as_four_and_signs_stand_in_rows),
        cmocka_unit_test(vectors_of_registers_load_move_and_have_elements),
        cmocka_unit_test(floats_are_shortened_mixed_and_reduced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
