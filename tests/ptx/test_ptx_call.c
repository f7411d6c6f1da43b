/* SPDX-License-Identifier: Apache-2.0 */
/* Tests calls in translated PTX: parameters, results, recursion, pointers to functions, branch tables, and barriers
 * in functions. The kernels run with several warp widths and policies, and with both reconvergence engines. */
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

enum { THREADS = 96, ROW = 8 };
static uint32_t words[THREADS * ROW];

struct way {
    unsigned width;
    const char *policy, *reconv;
};
static const struct way ways[] = {
    { 32, "rr_quantum", "cbar" }, { 4, "minpc", "cbar" },     { 64, "most_lanes", "cbar" },
    { 8, "maxpc", "cbar" },       { 16, "stack_like", "cbar" }, { 32, "rr", "stack" },
};

static void ok(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
/* The head of a kernel, in which %r0 is the thread's number, and %d0 is the address of the thread's results. */
#define ENTRY(name)                                                                          \
    ".visible .entry " name "(.param .u64 " name "_out) {\n"                                 \
    ".reg .pred %p<12>; .reg .b16 %s<12>; .reg .b32 %r<40>; .reg .b64 %d<20>;\n"             \
    "mov.u32 %r0,%tid.x; ld.param.u64 %d0,[" name "_out]; mul.wide.u32 %d1,%r0,32;\n"        \
    "add.s64 %d0,%d0,%d1;\n"

/* Runs a kernel with 96 threads in one block, and stores the reason for the end of the run in @stop. */
static void run_way(const char *text, const char *name, const struct way *way, uint32_t dynamic,
                    struct emu_stop *stop)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct lw_error err;
    struct lw_buffer why;
    uint64_t out;

    lw_buffer_init(&why);
    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    ok(isa_object_check(object, &err), &err);
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.hang_window = 1 << 22;
    config.warp_width = way->width;
    config.policy = way->policy;
    config.reconv = way->reconv;
    ok(emu_machine_create(&config, &machine, &err), &err);
    ok(emu_program_load(machine, object, &program, &err), &err);
    ok(emu_alloc(machine, sizeof words, "out", 0, &out, &err), &err);
    ok(emu_engine_functional_create(machine, &engine, &err), &err);
    const struct isa_function *kernel = emu_program_kernel(program, name);
    struct emu_launch launch = { .program = program, .kernel = kernel, .grid = { 1, 1, 1 },
                                 .block = { THREADS, 1, 1 }, .work_dim = 1,
                                 .dynamic_shared_bytes = dynamic, .params = &out };

    assert_non_null(kernel);
    ok(emu_grid_launch(machine, &launch, NULL, &err), &err);
    ok(engine->ops->run(engine, stop, &err), &err);
    if (stop->kind == EMU_STOP_FAULT)
        emu_fault_print(machine, &stop->fault, &why.sink);
    else if (stop->kind != EMU_STOP_IDLE)
        fail_msg("width %u, %s, %s: %s", way->width, way->policy, way->reconv, stop->hang.detail);
    if (stop->kind == EMU_STOP_FAULT && getenv("LW_SHOW") != NULL)
        print_message("%s\n", why.text);
    ok(emu_global_read(machine, out, words, sizeof words, &err), &err);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
    lw_buffer_fini(&why);
}

/* Checks that word k of thread t is want(t, k) for all k < @count, in the first @tries configurations. */
static void expect_in(const char *text, const char *name, unsigned count,
                      uint32_t (*want)(uint32_t t, unsigned k), unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        struct emu_stop stop;

        memset(words, 0, sizeof words);
        run_way(text, name, &ways[i], 384, &stop);
        if (stop.kind != EMU_STOP_IDLE)
            fail_msg("width %u, %s, %s: a fault", ways[i].width, ways[i].policy, ways[i].reconv);
        for (uint32_t t = 0; t < THREADS; t++) {
            for (unsigned k = 0; k < count; k++) {
                if (words[t * ROW + k] != want(t, k))
                    fail_msg("width %u, %s, %s: thread %u, word %u: %u, expected %u",
                             ways[i].width, ways[i].policy, ways[i].reconv, t, k,
                             words[t * ROW + k], want(t, k));
            }
        }
    }
}

static void expect(const char *text, const char *name, unsigned count,
                   uint32_t (*want)(uint32_t t, unsigned k))
{
    expect_in(text, name, count, want, LW_COUNT_OF(ways));
}

/* ---- recursion ---------------------------------------------------------------------------------- */

static uint32_t fib(uint32_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static uint32_t want_recursion(uint32_t t, unsigned k)
{
    return k == 0 ? fib(t % 9) : (t % 13) % 2 == 0;
}

static void functions_call_themselves_and_each_other(void **state)
{
    (void)state;
    expect(HEAD
           ".func (.param .b32 o_ret) odd(.param .b32 o_n);\n"
           ".func (.param .b32 f_ret) fib(.param .b32 f_n) {\n"
           ".reg .b32 %r<9>; .reg .pred %p;\n"
           "ld.param.u32 %r1,[f_n]; setp.gt.u32 %p,%r1,1; mov.u32 %r2,%r1; @!%p bra DONE;\n"
           "{ .param .b32 a; .param .b32 r; sub.u32 %r3,%r1,1; st.param.b32 [a],%r3;\n"
           "call.uni (r),\n\nfib,\n(\na\n);\nld.param.b32 %r4,[r]; }\n"
           "{ .param .b32 a; .param .b32 r; sub.u32 %r3,%r1,2; st.param.b32 [a+0],%r3;\n"
           "call.uni (r), fib, (a); ld.param.b32 %r5,[r+0]; }\n"
           "add.u32 %r2,%r4,%r5;\nDONE: st.param.b32 [f_ret+0],%r2; ret; }\n"
           ".func (.param .b32 e_ret) even(.param .b32 e_n) {\n"
           ".reg .b32 %r<9>; .reg .pred %p; ld.param.u32 %r1,[e_n]; setp.eq.u32 %p,%r1,0;\n"
           "mov.u32 %r2,1; st.param.b32 [e_ret],%r2; @%p ret;\n"
           "{ .param .b32 a; .param .b32 r; sub.u32 %r3,%r1,1; st.param.b32 [a],%r3;\n"
           "call (r), odd, (a); ld.param.b32 %r2,[r]; }\nst.param.b32 [e_ret],%r2; ret; }\n"
           ".func (.param .b32 o_ret) odd(.param .b32 o_n) {\n"
           ".reg .b32 %r<9>; .reg .pred %p; ld.param.u32 %r1,[o_n]; setp.eq.u32 %p,%r1,0;\n"
           "mov.u32 %r2,0; @%p bra OUT;\n"
           "{ .param .b32 a; .param .b32 r; sub.u32 %r3,%r1,1; st.param.b32 [a],%r3;\n"
           "call (r), even, (a); ld.param.b32 %r2,[r]; }\nOUT: st.param.b32 [o_ret],%r2; ret; }\n"
           ENTRY("k")
           "rem.u32 %r1,%r0,9; rem.u32 %r2,%r0,13;\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r1; call (r), fib, (a);\n"
           "ld.param.b32 %r3,[r]; }\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r2; call (r), even, (a);\n"
           "ld.param.b32 %r4,[r]; }\nst.global.v2.u32 [%d0],{%r3,%r4}; ret; }\n",
           "k", 2, want_recursion);
}

static void recursion_without_end_is_a_fault(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(ways); i++) {
        struct emu_stop stop;

        run_way(HEAD ".func deep(.param .b32 n) { .reg .b32 %r<3>; ld.param.u32 %r1,[n];\n"
                     "add.u32 %r1,%r1,1; { .param .b32 a; st.param.b32 [a],%r1; call deep,(a); }\n"
                     "ret; }\n" ENTRY("k")
                     "{ .param .b32 a; st.param.b32 [a],%r0; call deep,(a); }\n"
                     "st.global.u32 [%d0],%r0; ret; }\n",
                "k", &ways[i], 0, &stop);
        assert_int_equal(stop.kind, EMU_STOP_FAULT);
    }
}

/* ---- parameters ----------------------------------------------------------------------------------- */

static uint32_t want_aggregate(uint32_t t, unsigned k)
{
    uint32_t field[4] = { t, t * 3, (t & 0xff) ^ 0x80, 77 };

    switch (k) {
    case 0: return field[0] + 1000;
    case 1: return field[1];
    case 2: return field[2];
    case 3: return field[3] + t;
    case 4: return field[0]; /* the callee must not have changed the caller's copy */
    default: return (uint32_t)(int8_t)t + (uint16_t)(t * 700) + 5;
    }
}

static void structures_go_and_come_by_value(void **state)
{
    (void)state;
    expect(HEAD
           ".func (.param .align 8 .b8 ret[24]) change(.param .b32 by, .param .align 8 .b8 s[24]) {\n"
           ".reg .b32 %r<9>; .reg .b16 %s<3>; .reg .b64 %d<5>;\n"
           ".local .align 16 .b8 copy[32];\n"
           "ld.param.u32 %r1,[by]; ld.param.v2.u32 {%r2,%r3},[s]; mov.b64 %d1,s;\n"
           "ld.param.u8 %s1,[s+8]; ld.param.u64 %d2,[%d1+16];\n"
           "add.u32 %r2,%r2,1000; st.local.u32 [copy+4],%r2; cvt.u64.u32 %d3,%r1; add.s64 %d2,%d2,%d3;\n"
           "ld.local.u32 %r4,[copy+4];\n"
           "st.param.v2.b32 [ret],{%r4,%r3}; st.param.b8 [ret+8],%s1; st.param.b64 [ret+16],%d2;\n"
           "ret; }\n"
           ".func (.param .b32 ret) small(.param .b8 a, .param .b16 b, .param .b32 c[1]) {\n"
           ".reg .b32 %r<9>; ld.param.s8 %r1,[a]; ld.param.u16 %r2,[b]; ld.param.u32 %r3,[c];\n"
           "add.s32 %r1,%r1,%r2; add.s32 %r1,%r1,%r3; st.param.b32 [ret],%r1; ret; }\n"
           ENTRY("k")
           "mul.lo.u32 %r1,%r0,3; xor.b32 %r2,%r0,0x80; cvt.u16.u32 %s1,%r2; mov.u64 %d2,77;\n"
           "{ .param .b32 a; .param .align 8 .b8 b[24]; .param .align 8 .b8 r[24];\n"
           "st.param.b32 [a],%r0; st.param.b32 [b],%r0; st.param.b32 [b+4],%r1;\n"
           "st.param.b8 [b+8],%s1; st.param.b64 [b+16],%d2;\n"
           "call (r), change, (a, b);\n"
           "ld.param.b32 %r10,[r]; ld.param.b32 %r11,[r+4]; ld.param.u8 %r12,[r+8];\n"
           "ld.param.b64 %d3,[r+16]; ld.param.b32 %r14,[b]; }\n"
           "cvt.u32.u64 %r13,%d3; cvt.u16.u32 %s2,%r0; mul.lo.u32 %r3,%r0,700; cvt.u16.u32 %s3,%r3;\n"
           "mov.u32 %r4,5;\n"
           "{ .param .b8 a; .param .b16 b; .param .b32 c[1]; .param .b32 r;\n"
           "st.param.b8 [a],%s2; st.param.b16 [b],%s3; st.param.b32 [c],%r4;\n"
           "call (r), small, (a, b, c); ld.param.b32 %r15,[r]; }\n"
           "st.global.v4.u32 [%d0],{%r10,%r11,%r12,%r13}; st.global.v2.u32 [%d0+16],{%r14,%r15};\n"
           "ret; }\n",
           "k", 6, want_aggregate);
}

static uint32_t want_many(uint32_t t, unsigned k)
{
    uint32_t sum = 0;

    (void)k;
    for (uint32_t i = 0; i < 40; i++)
        sum += (t + i) * (i + 1);
    return sum;
}

static void parameters_that_do_not_fit_go_over_the_stack(void **state)
{
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, HEAD ".func (.param .b32 ret) many(");
    for (unsigned i = 0; i < 40; i++)
        lw_printf(&text.sink, "%s.param .b%u p%u", i == 0 ? "" : ", ", i % 3 == 1 ? 64 : 32, i);
    lw_put(&text.sink, ") {\n.reg .b32 %r<4>; .reg .b64 %d; mov.u32 %r1,0;\n");
    for (unsigned i = 0; i < 40; i++)
        lw_printf(&text.sink, "ld.param.u32 %%r2,[p%u]; mad.lo.u32 %%r1,%%r2,%u,%%r1;\n", i, i + 1);
    lw_put(&text.sink, "st.param.b32 [ret],%r1; ret; }\n" ENTRY("k") "{ .param .b32 r;\n");
    for (unsigned i = 0; i < 40; i++) {
        lw_printf(&text.sink, ".param .b%u a%u; add.u32 %%r1,%%r0,%u; cvt.u64.u32 %%d2,%%r1;\n",
                  i % 3 == 1 ? 64 : 32, i, i);
        lw_printf(&text.sink, "st.param.b%u [a%u],%s;\n", i % 3 == 1 ? 64 : 32, i,
                  i % 3 == 1 ? "%d2" : "%r1");
    }
    lw_put(&text.sink, "call (r), many, (");
    for (unsigned i = 0; i < 40; i++)
        lw_printf(&text.sink, "%sa%u", i == 0 ? "" : ",", i);
    lw_put(&text.sink, "); ld.param.b32 %r3,[r]; }\nst.global.u32 [%d0],%r3; ret; }\n");
    expect(text.text, "k", 1, want_many);
    lw_buffer_fini(&text);
}

enum { CACHED = 140, ROUNDS = 5 };
static uint32_t want_preserved(uint32_t t, unsigned k)
{
    uint32_t value[CACHED], sum = 0, n = 0;

    (void)k;
    for (uint32_t i = 0; i < CACHED; i++)
        value[i] = t * (i + 3);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        n = n * 7 + (t ^ round) + 1;
        for (uint32_t i = 0; i < CACHED; i++)
            value[i] += n + i;
        if ((n & 15) == 9)
            break;
    }
    for (uint32_t i = 0; i < CACHED; i++)
        sum = sum * 3 + value[i];
    return sum;
}

/* In a loop that lanes leave at different times, more values than there are registers are live across a call. The same code is in
 * a function, which must restore the kernel's registers. */
static void what_lives_across_a_call_is_preserved(void **state)
{
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, HEAD ".func (.param .b32 ret) step(.param .b32 a, .param .b32 b) {\n"
                            ".reg .b32 %r<4>; ld.param.u32 %r1,[a]; ld.param.u32 %r2,[b];\n"
                            "mad.lo.u32 %r1,%r1,7,%r2; add.u32 %r1,%r1,1;\n"
                            "st.param.b32 [ret],%r1; ret; }\n");
    for (unsigned f = 0; f < 2; f++) {
        if (f == 0)
            lw_put(&text.sink, ".func (.param .b32 out) work(.param .b32 t) {\n.reg .pred %p<3>;\n"
                               ".reg .b32 %r<9>; ld.param.u32 %r0,[t];\n");
        else
            lw_put(&text.sink, ENTRY("k"));
        lw_printf(&text.sink, ".reg .b32 %%v<%d>;\n", CACHED);
        for (unsigned i = 0; i < CACHED; i++)
            lw_printf(&text.sink, "mul.lo.u32 %%v%u,%%r0,%u;\n", i, i + 3);
        lw_printf(&text.sink, "mov.u32 %%r1,0; mov.u32 %%r2,0;\nLOOP: setp.ge.u32 %%p1,%%r1,%d;\n"
                              "@%%p1 bra OUT; xor.b32 %%r3,%%r0,%%r1;\n"
                              "{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a],%%r2;\n"
                              "st.param.b32 [b],%%r3; call (r), step, (a,b); ld.param.b32 %%r2,[r]; }\n",
                  ROUNDS);
        for (unsigned i = 0; i < CACHED; i++)
            lw_printf(&text.sink, "add.u32 %%v%u,%%v%u,%%r2; add.u32 %%v%u,%%v%u,%u;\n", i, i, i, i,
                      i);
        lw_put(&text.sink, "and.b32 %r4,%r2,15; setp.eq.u32 %p2,%r4,9; @%p2 bra OUT;\n"
                           "add.u32 %r1,%r1,1; bra LOOP;\nOUT: mov.u32 %r5,0;\n");
        if (f == 1) /* the function calls another function while all values are live */
            lw_put(&text.sink, "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
                               "call (r), work, (a); ld.param.b32 %r6,[r]; }\n");
        for (unsigned i = 0; i < CACHED; i++)
            lw_printf(&text.sink, "mad.lo.u32 %%r5,%%r5,3,%%v%u;\n", i);
        lw_put(&text.sink, f == 0 ? "st.param.b32 [out],%r5; ret; }\n"
                                  : "st.global.v2.u32 [%d0],{%r5,%r6}; ret; }\n");
    }
    expect(text.text, "k", 2, want_preserved);
    lw_buffer_fini(&text);
}

/* ---- flow ------------------------------------------------------------------------------------------- */

static uint32_t want_flow(uint32_t t, unsigned k)
{
    uint32_t sum = 0;

    switch (k) {
    case 0: return t % 3 == 0 ? 10 : t % 3 == 1 ? 20 : t * 2;
    case 1: return t > 40 ? t + 5 : 1;
    case 2: return t;
    default:
        for (uint32_t i = 0; i < 9; i++) {
            sum += t > 40 ? i + 5 : i;
            if (sum > t)
                break;
        }
        return sum;
    }
}

static void calls_and_returns_may_be_guarded(void **state)
{
    (void)state;
    expect(HEAD
           ".global .u32 count;\n"
           ".func nothing() { ret; }\n"
           ".func (.param .b32 ret) pick(.param .b32 a) {\n"
           ".reg .b32 %r<5>; .reg .pred %p<3>; ld.param.u32 %r1,[a]; rem.u32 %r2,%r1,3;\n"
           "setp.eq.u32 %p1,%r2,0; setp.eq.u32 %p2,%r2,1; mov.u32 %r3,10;\n"
           "st.param.b32 [ret],%r3; @%p1 ret; mov.u32 %r3,20; st.param.b32 [ret],%r3; @%p2 ret;\n"
           "shl.b32 %r3,%r1,1; st.param.b32 [ret],%r3; }\n"
           ".func (.param .b32 ret) five(.param .b32 a) { .reg .b32 %r<3>;\n"
           "ld.param.u32 %r1,[a]; add.u32 %r1,%r1,5; st.param.b32 [ret],%r1; ret; }\n"
           ENTRY("k")
           "setp.gt.u32 %p1,%r0,40; call nothing; call nothing, (); mov.u32 %r2,1;\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0; call (r), pick, (a);\n"
           "ld.param.b32 %r1,[r]; call (r), pick, (a); }\n" /* the kernel ignores the result of the second call */
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0; st.param.b32 [r],%r2;\n"
           "@%p1 call (r), five, (a); ld.param.b32 %r2,[r]; }\n"
           "mov.u32 %r4,0; mov.u32 %r5,0;\n"
           "AGAIN: mov.u32 %r6,%r5; @%p1 call (%r6), five, (%r5); add.u32 %r4,%r4,%r6;\n"
           "setp.gt.u32 %p2,%r4,%r0; @%p2 bra OUT; add.u32 %r5,%r5,1; setp.lt.u32 %p3,%r5,9;\n"
           "@%p3 bra AGAIN;\nOUT: st.global.v4.u32 [%d0],{%r1,%r2,%r0,%r4}; ret; }\n",
           "k", 4, want_flow);
}

static uint32_t apply(uint32_t which, uint32_t x)
{
    return which == 0 ? x + 1 : which == 1 ? x * 3 : which == 2 ? x ^ 0x55 : x * x - 7;
}

static uint32_t want_registers(uint32_t t, unsigned k)
{
    return k == 0 ? t * 2 + 9 : (uint32_t)((((uint64_t)t << 32) + 7) >> 32);
}

/* Parameters in the register space, as in the PTX manual. */
static void parameters_may_be_registers(void **state)
{
    (void)state;
    expect(HEAD
           ".func (.reg .u32 rv, .reg .b64 rw) f(.reg .u32 a, .reg .u64 b) {\n"
           "add.u32 rv,a,a; mov.u32 a,9; add.u32 rv,rv,a; add.u64 rw,b,7; ret; }\n"
           ENTRY("k")
           "cvt.u64.u32 %d2,%r0; shl.b64 %d2,%d2,32; call (%r1, %d3), f, (%r0, %d2);\n"
           "shr.u64 %d3,%d3,32; cvt.u32.u64 %r2,%d3; st.global.v2.u32 [%d0],{%r1,%r2}; ret; }\n",
           "k", 2, want_registers);
}

static uint32_t want_pointers(uint32_t t, unsigned k)
{
    uint32_t sum = 0;

    switch (k) {
    case 0: return apply(t % 4, t);
    case 1: return apply((t >> 2) % 4, apply(t % 4, t));
    case 2:
        for (uint32_t i = 0; i < t % 5; i++)
            sum += apply((t + i) % 4, i);
        return sum;
    default: return apply(1, t);
    }
}

#define APPLY(name, body)                                                                    \
    ".func (.param .b32 ret) " name "(.param .b32 a) { .reg .b32 %r<3>;\n"                   \
    "ld.param.u32 %r1,[a]; " body " st.param.b32 [ret],%r1; ret; }\n"

static void pointers_to_functions_are_called(void **state)
{
    (void)state;
    expect(HEAD
           ".func (.param .b32 ret) f0(.param .b32 a);\n.func (.param .b32 ret) f1(.param .b32 a);\n"
           ".func (.param .b32 ret) f2(.param .b32 a);\n.func (.param .b32 ret) f3(.param .b32 a);\n"
           ".global .align 8 .u64 table[4] = {f0, f1, f2, f3};\n"
           ".const .align 8 .u64 again[2] = {generic(f1), f1};\n"
           APPLY("f0", "add.u32 %r1,%r1,1;") APPLY("f1", "mul.lo.u32 %r1,%r1,3;")
           APPLY("f2", "xor.b32 %r1,%r1,0x55;") APPLY("f3", "mul.lo.u32 %r1,%r1,%r1; sub.u32 %r1,%r1,7;")
           /* two calls through registers in one function, one of them in a loop */
           ".func (.param .b32 ret) twice(.param .b64 f, .param .b64 g, .param .b32 a) {\n"
           ".reg .b32 %r<3>; .reg .b64 %d<3>; ld.param.u64 %d1,[f]; ld.param.u64 %d2,[g];\n"
           "ld.param.u32 %r1,[a];\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r1;\n"
           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "call (r), %d1, (a), proto; ld.param.b32 %r1,[r]; }\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r1;\n"
           "targets: .calltargets f0, f1, f2, f3;\n"
           "call (r), %d2, (a), targets; ld.param.b32 %r1,[r]; }\n"
           "st.param.b32 [ret],%r1; ret; }\n"
           ENTRY("k")
           "mov.u64 %d2,table; and.b32 %r1,%r0,3; mul.wide.u32 %d3,%r1,8; add.s64 %d4,%d2,%d3;\n"
           "ld.global.u64 %d5,[%d4]; shr.u32 %r2,%r0,2; and.b32 %r2,%r2,3; mul.wide.u32 %d3,%r2,8;\n"
           "add.s64 %d4,%d2,%d3; ld.global.u64 %d6,[%d4];\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "call (r), %d5, (a), proto; ld.param.b32 %r10,[r]; }\n"
           "{ .param .b64 f; .param .b64 g; .param .b32 a; .param .b32 r; st.param.b64 [f],%d5;\n"
           "st.param.b64 [g],%d6; st.param.b32 [a],%r0; call (r), twice, (f, g, a);\n"
           "ld.param.b32 %r11,[r]; }\n"
           "mov.u32 %r12,0; rem.u32 %r3,%r0,5; mov.u32 %r4,0;\n"
           "LOOP: setp.ge.u32 %p1,%r4,%r3; @%p1 bra OUT; add.u32 %r5,%r0,%r4; and.b32 %r5,%r5,3;\n"
           "mul.wide.u32 %d3,%r5,8; add.s64 %d4,%d2,%d3; ld.global.u64 %d7,[%d4];\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r4;\n"
           "proto2: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "call (r), %d7, (a), proto2; ld.param.b32 %r6,[r]; }\n"
           "add.u32 %r12,%r12,%r6; add.u32 %r4,%r4,1; bra LOOP;\n"
           "OUT: ld.const.u64 %d8,[again+8]; mov.u64 %d9,f1; setp.eq.u64 %p2,%d8,%d9; mov.u32 %r13,1;\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
           "proto3: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "@%p2 call (r), %d9, (a), proto3; ld.param.b32 %r13,[r]; }\n"
           "st.global.v4.u32 [%d0],{%r10,%r11,%r12,%r13}; ret; }\n",
           "k", 4, want_pointers);
}

static uint32_t want_left(uint32_t t, unsigned k)
{
    return k == 0 ? t + 1 : t * 3;
}

/* If a kernel is refused, the functions after it in the text must still be at the addresses that their callers use. */
static void calls_work_after_a_refused_kernel(void **state)
{
#define REFUSED(name) ".entry " name "() {\n.reg .b64 %d; stacksave.u64 %d; ret; }\n"
    (void)state;
    expect(HEAD REFUSED("a") ".func (.param .b32 ret) f1(.param .b32 a);\n"
           ".global .align 8 .u64 table[1] = {f1};\n"
           APPLY("f0", "add.u32 %r1,%r1,1;") REFUSED("b") APPLY("f1", "mul.lo.u32 %r1,%r1,3;")
           ENTRY("k")
           "mov.u64 %d2,table; ld.global.u64 %d5,[%d2]; mov.u64 %d6,f1; setp.eq.u64 %p1,%d5,%d6;\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
           "call (r), f0, (a); ld.param.b32 %r10,[r]; }\n"
           "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "@%p1 call (r), %d5, (a), proto; ld.param.b32 %r11,[r]; }\n"
           "st.global.v2.u32 [%d0],{%r10,%r11}; ret; }\n" REFUSED("z"),
           "k", 2, want_left);
#undef REFUSED
}

static uint32_t want_reconvergence(uint32_t t, unsigned k)
{
    (void)t;
    (void)k;
    return UINT32_MAX; /* every lane of the warp executed the call */
}

static void lanes_reconverge_after_calls_at_which_they_diverge(void **state)
{
    static const struct way way[] = { { 32, "rr_quantum", "cbar" }, { 32, "minpc", "cbar" },
                                      { 32, "maxpc", "cbar" }, { 32, "rr", "stack" } };
    struct emu_stop stop;

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(way); i++) {
        run_way(HEAD
                APPLY("f0", "add.u32 %r1,%r1,1;") APPLY("f1", "mul.lo.u32 %r1,%r1,3;")
                /* lanes return at different times, and from different depths */
                ".func (.param .b32 ret) down(.param .b32 a) { .reg .b32 %r<4>; .reg .pred %p;\n"
                "ld.param.u32 %r1,[a]; setp.eq.u32 %p,%r1,0; st.param.b32 [ret],%r1; @%p ret;\n"
                "{ .param .b32 a; .param .b32 r; sub.u32 %r2,%r1,1; st.param.b32 [a],%r2;\n"
                "call (r), down, (a); ld.param.b32 %r3,[r]; } st.param.b32 [ret],%r3; ret; }\n"
                ENTRY("k")
                "and.b32 %r1,%r0,1; setp.eq.u32 %p1,%r1,0; mov.u64 %d2,f0; mov.u64 %d3,f1;\n"
                "selp.u64 %d4,%d2,%d3,%p1;\n"
                "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
                "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                "call (r), %d4, (a), proto; ld.param.b32 %r2,[r]; }\nactivemask.b32 %r3;\n"
                "{ .param .b32 a; .param .b32 r; and.b32 %r4,%r0,7; st.param.b32 [a],%r4;\n"
                "call (r), down, (a); ld.param.b32 %r5,[r]; }\nactivemask.b32 %r6;\n"
                "st.global.v2.u32 [%d0],{%r3,%r6}; ret; }\n",
                "k", &way[i], 0, &stop);
        assert_int_equal(stop.kind, EMU_STOP_IDLE);
        for (uint32_t t = 0; t < THREADS; t++) {
            for (unsigned k = 0; k < 2; k++)
                assert_int_equal(words[t * ROW + k], want_reconvergence(t, k));
        }
    }
}

static uint32_t registers_joined(const struct isa_object *object, const char *name)
{
    uint32_t out = 0;

    for (unsigned f = 0; f < object->function_count; f++) {
        const struct isa_function *fn = &object->functions[f];

        for (uint32_t i = 0; strcmp(fn->name, name) == 0 && i < fn->count; i++) {
            struct isa_insn in;

            assert_true(isa_insn_decode(object->text[fn->first + i], &in));
            out |= in.op == ISA_BSSY ? 1u << in.d : 0;
        }
    }
    return out;
}

/* f and g call each other, and g calls h. f must not use the registers of h, although f never names h. */
static void recursion_leaves_the_barriers_of_its_callees_alone(void **state)
{
    static const char text[] = HEAD
        ".func (.param .b32 r) h(.param .b32 a) { .reg .b32 %r<9>; .reg .pred %p;\n"
        "ld.param.u32 %r1,[a]; and.b32 %r2,%r1,2; setp.eq.u32 %p,%r2,0; @%p bra OUT;\n"
        "mul.lo.u32 %r3,%r1,%r1; add.u32 %r3,%r3,%r1; mul.lo.u32 %r3,%r3,%r1; xor.b32 %r3,%r3,9;\n"
        "mul.lo.u32 %r3,%r3,%r1; add.u32 %r3,%r3,%r1; mul.lo.u32 %r3,%r3,%r1; xor.b32 %r3,%r3,9;\n"
        "mul.lo.u32 %r3,%r3,%r1; add.u32 %r3,%r3,%r1; mul.lo.u32 %r1,%r3,%r1; xor.b32 %r1,%r1,9;\n"
        "OUT: st.param.b32 [r],%r1; ret; }\n"
        ".func (.param .b32 r) f(.param .b32 a);\n"
        ".func (.param .b32 r) g(.param .b32 a) { .reg .b32 %r<9>; .reg .pred %p;\n"
        "ld.param.u32 %r1,[a];\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x],%r1; call (y), h, (x);\n"
        "ld.param.b32 %r2,[y]; }\nsetp.lt.u32 %p,%r1,5000; @%p bra OUT;\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x],%r2; call (y), f, (x);\n"
        "ld.param.b32 %r2,[y]; }\nOUT: st.param.b32 [r],%r2; ret; }\n"
        ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<9>; .reg .pred %p;\n"
        "ld.param.u32 %r1,[a]; and.b32 %r2,%r1,1; setp.eq.u32 %p,%r2,0; @%p bra OUT;\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x],%r1; call (y), g, (x);\n"
        "ld.param.b32 %r1,[y]; }\nOUT: st.param.b32 [r],%r1; ret; }\n"
        ENTRY("k")
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0; call (r), f, (a);\n"
        "ld.param.b32 %r1,[r]; }\nst.global.u32 [%d0],%r1; ret; }\n";
    struct isa_object *object;
    struct lw_error err;

    (void)state;
    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    assert_int_equal(registers_joined(object, "h"), 1);
    assert_int_not_equal(registers_joined(object, "f"), 0);
    assert_int_equal(registers_joined(object, "f") & 1, 0);
    assert_int_equal(registers_joined(object, "g") & 1, 0);
    /* A caller outside of the recursion must not use the barrier registers of the recursive functions. */
    assert_int_equal(registers_joined(object, "k") & (registers_joined(object, "f") | 1), 0);
    isa_object_destroy(object);
}

static uint32_t want_table(uint32_t t, unsigned k)
{
    static const uint32_t to[8] = { 101, 105, 103, 101, 104, 105, 104, 103 };

    (void)k;
    return t < 40 ? to[t & 7] : 7;
}

static void tables_of_branches_reach_every_target(void **state)
{
    (void)state;
    expect(HEAD ENTRY("k")
           "and.b32 %r2,%r0,7; mov.u32 %r3,100; setp.lt.u32 %p1,%r0,40;\n"
           "T: .branchtargets A, B, C, A, D, B, D, C;\n@%p1 brx.idx %r2, T;\nmov.u32 %r3,7; bra E;\n"
           "A: add.u32 %r3,%r3,1; bra E;\nB: add.u32 %r3,%r3,2;\nC: add.u32 %r3,%r3,3; bra E;\n"
           "D: add.u32 %r3,%r3,4;\nE: st.global.u32 [%d0],%r3; ret; }\n",
           "k", 1, want_table);
}

/* ---- barriers ---------------------------------------------------------------------------------------- */

enum { CHAIN = 22 };
static uint32_t chain(uint32_t level, uint32_t x)
{
    if (level == CHAIN)
        return x;
    return x >> level % 5 & 1 ? chain(level + 1, x) * 3 + level : chain(level + 1, x) + 7;
}
static uint32_t want_chain(uint32_t t, unsigned k)
{
    (void)k;
    return chain(0, t);
}

/* The number of regions of divergent control flow with calls is greater than the number of barrier registers. */
static void deep_chains_of_calls_have_barriers_enough(void **state)
{
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, HEAD);
    for (unsigned level = CHAIN; level-- > 0;) {
        lw_printf(&text.sink, ".func (.param .b32 ret) c%u(.param .b32 a) { .reg .b32 %%r<5>;\n"
                              ".reg .pred %%p; ld.param.u32 %%r1,[a]; mov.u32 %%r2,%%r1;\n"
                              "shr.u32 %%r3,%%r1,%u; and.b32 %%r3,%%r3,1; setp.eq.u32 %%p,%%r3,0;\n"
                              "@%%p bra ELSE;\n", level, level % 5);
        for (unsigned side = 0; side < 2; side++) {
            if (level + 1 != CHAIN)
                lw_printf(&text.sink, "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%%r1;\n"
                                      "call (r), c%u, (a); ld.param.b32 %%r2,[r]; }\n", level + 1);
            if (side == 0)
                lw_printf(&text.sink, "mad.lo.u32 %%r2,%%r2,3,%u; bra OUT;\nELSE:\n", level);
        }
        lw_put(&text.sink, "add.u32 %r2,%r2,7;\nOUT: st.param.b32 [ret],%r2; ret; }\n");
    }
    lw_put(&text.sink, ENTRY("k") "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
                                  "call (r), c0, (a); ld.param.b32 %r1,[r]; }\n"
                                  "st.global.u32 [%d0],%r1; ret; }\n");
    expect(text.text, "k", 1, want_chain);
    lw_buffer_fini(&text);
}

enum { NEST = 24 };
static uint32_t want_nest(uint32_t t, unsigned k)
{
    uint32_t levels = t / 4 + 1 < NEST ? t / 4 + 1 : NEST; /* number of nested levels that the thread enters */
    uint32_t inner = levels == NEST ? t * 3 + (t & 1 ? 100 : 200) : 7;

    return k == 0 ? inner + levels : inner - levels;
}

/* The kernel has nested regions with a call in the innermost region, and the called function has such regions, too. There are
 * more than sixteen regions, so they must share barrier registers. */
static void nests_deeper_than_the_registers_may_call(void **state)
{
    struct lw_buffer text;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, HEAD
           ".shared .align 4 .b32 pad;\n.func (.param .b32 ret) leaf(.param .b32 a) { .local .align 4 .b32 room; .reg .b32 %r<5>; .reg .pred %p;\n"
           "ld.param.u32 %r1,[a]; and.b32 %r2,%r1,1; setp.eq.u32 %p,%r2,0; mad.lo.u32 %r3,%r1,3,100;\n"
           "@%p bra EVEN; bra OUT; EVEN: mul.lo.u32 %r3,%r1,3; ld.local.u32 %r4,[room]; add.u32 %r3,%r3,%r4;\n"
           "add.u32 %r3,%r3,200; OUT: st.param.b32 [ret],%r3; ret; }\n");
    for (unsigned kernel = 0; kernel < 2; kernel++) {
        const char *sign = kernel ? "sub" : "add";

        if (kernel == 0)
            lw_put(&text.sink, ".func (.param .b32 ret) nest(.param .b32 a) { .reg .b32 %r<5>; .reg .pred %p;\n"
                               "ld.param.u32 %r0,[a];\n");
        else
            lw_put(&text.sink, ENTRY("k") ".reg .pred %p;\n");
        lw_put(&text.sink, "mov.u32 %r1,7; mov.u32 %r2,0;\n");
        for (unsigned i = 0; i < NEST; i++) /* each region has two exits, so that it is not if-converted */
            lw_printf(&text.sink, "setp.lt.u32 %%p,%%r0,%u; @%%p bra L%u; add.u32 %%r2,%%r2,1;\n"
                                  "ld.volatile.shared.u32 %%r3,[pad]; add.u32 %%r2,%%r2,%%r3;\n", 4 * i, i);
        lw_put(&text.sink, "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0;\n"
                           "call (r), leaf, (a); ld.param.b32 %r1,[r]; }\n");
        for (unsigned i = NEST; i-- > 0;)
            lw_printf(&text.sink, "ld.volatile.shared.u32 %%r3,[pad]; add.u32 %%r1,%%r1,%%r3; L%u:\n", i);
        if (kernel == 0)
            lw_printf(&text.sink, "%s.u32 %%r1,%%r1,%%r2; st.param.b32 [ret],%%r1; ret; }\n", sign);
        else
            lw_printf(&text.sink, "%s.u32 %%r1,%%r1,%%r2; st.global.u32 [%%d0+4],%%r1;\n"
                                  "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%%r0;\n"
                                  "call (r), nest, (a); ld.param.b32 %%r1,[r]; }\n"
                                  "st.global.u32 [%%d0],%%r1; ret; }\n", sign);
    }
    expect(text.text, "k", 2, want_nest);
    lw_buffer_fini(&text);
}

static uint32_t want_shared(uint32_t t, unsigned k)
{
    if (k == 0) /* the sum of the neighbours' values, which are exchanged at a barrier in the function */
        return (t + THREADS - 1) % THREADS * 3 + (t + 1) % THREADS * 3;
    return k == 1 ? (t * 5 + 7) : (t ^ 1) * 11;
}

#define SHARED_FUNCTIONS                                                                     \
    ".shared .align 4 .b32 pad[128];\n.extern .shared .align 4 .b8 more[];\n"                \
    ".func (.param .b32 ret) around(.param .b32 v) {\n"                                      \
    ".reg .b32 %r<9>; .reg .b64 %d<6>; ld.param.u32 %r1,[v]; mov.u32 %r2,%tid.x;\n"          \
    "mov.u64 %d1,pad; mul.wide.u32 %d2,%r2,4; add.s64 %d3,%d1,%d2; st.shared.u32 [%d3],%r1;\n" \
    "bar.sync 0; add.u32 %r3,%r2,95; rem.u32 %r3,%r3,96; mul.wide.u32 %d2,%r3,4;\n"          \
    "add.s64 %d3,%d1,%d2; ld.shared.u32 %r4,[%d3]; add.u32 %r3,%r2,1; rem.u32 %r3,%r3,96;\n" \
    "mul.wide.u32 %d2,%r3,4; add.s64 %d3,%d1,%d2; ld.shared.u32 %r5,[%d3]; bar.sync 0;\n"    \
    "add.u32 %r4,%r4,%r5; st.param.b32 [ret],%r4; ret; }\n"                                  \
    ".func (.param .b32 ret) dynamic(.param .b32 v) { .reg .b32 %r<9>; .reg .b64 %d<6>;\n"   \
    "ld.param.u32 %r1,[v]; mov.u32 %r2,%tid.x; and.b32 %r2,%r2,63; mov.u64 %d1,more;\n"      \
    "mul.wide.u32 %d2,%r2,4; add.s64 %d3,%d1,%d2; st.shared.u32 [%d3],%r2;\n"                \
    "ld.shared.u32 %r3,[%d3]; sub.u32 %r3,%r3,%r2; add.u32 %r1,%r1,%r3;\n"                   \
    "st.param.b32 [ret],%r1; ret; }\n"

/* Both sides of a branch call functions with block barriers. Two kernels with different shared variables call one of the
 * functions. */
static void barriers_and_shared_memory_work_in_functions(void **state)
{
    static const char text[] = HEAD SHARED_FUNCTIONS
        ENTRY("first")
        ".shared .align 4 .b32 own[64];\n"
        "mul.lo.u32 %r1,%r0,3; and.b32 %r2,%r0,1; setp.eq.u32 %p1,%r2,0; @%p1 bra EVEN;\n"
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r1; call (r), around, (a);\n"
        "ld.param.b32 %r3,[r]; } bra MEET;\n"
        "EVEN: { .param .b32 a; .param .b32 r; st.param.b32 [a],%r1; call (r), around, (a);\n"
        "ld.param.b32 %r3,[r]; }\nMEET: st.global.u32 [%d0],%r3;\n"
        "mad.lo.u32 %r4,%r0,5,7; { .param .b32 a; .param .b32 r; st.param.b32 [a],%r4;\n"
        "call (r), dynamic, (a); ld.param.b32 %r5,[r]; } st.global.u32 [%d0+4],%r5; ret; }\n"
        ENTRY("second")
        ".shared .align 8 .b64 own[100];\nmul.lo.u32 %r1,%r0,3;\n"
        "mov.u64 %d5,own; mul.wide.u32 %d6,%r0,8; add.s64 %d5,%d5,%d6; st.shared.u64 [%d5],%d0;\n"
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r1; call (r), around, (a);\n"
        "ld.param.b32 %r3,[r]; }\nst.global.u32 [%d0],%r3;\n"
        "mad.lo.u32 %r4,%r0,5,7; { .param .b32 a; .param .b32 r; st.param.b32 [a],%r4;\n"
        "call (r), dynamic, (a); ld.param.b32 %r5,[r]; } ld.shared.u64 %d7,[%d5];\n"
        "st.global.u32 [%d7+4],%r5; ret; }\n";

    (void)state;
    expect_in(text, "first", 2, want_shared, LW_COUNT_OF(ways) - 1); /* does not run with a SIMT stack, which runs one side
                                                                      * at a time */
    expect(text, "second", 2, want_shared);
}

static uint32_t want_own(uint32_t t, unsigned k)
{
    (void)k;
    return t + 1 + (t ^ 1) * 2;
}

/* The static and dynamic shared memory of a kernel must not overlap the shared memory of functions that the kernel calls. */
static void shared_memory_of_kernels_and_functions_lies_apart(void **state)
{
#define KEEPS(name, size, before, after)                                                     \
    ".func (.param .b32 ret) " name "(.param .b32 v) { .shared .align 4 .b8 own[" size "];\n" \
    ".reg .b32 %r<9>; ld.param.u32 %r1,[v]; mov.u32 %r2,%tid.x; shl.b32 %r3,%r2,2; mov.u32 %r4,own;\n" \
    "add.u32 %r3,%r3,%r4; st.shared.u32 [%r3],%r1; " before "bar.sync 0; xor.b32 %r5,%r3,4;\n" \
    "ld.shared.u32 %r6,[%r5]; " after "st.param.b32 [ret],%r6; ret; }\n"
#define USES(name, space, callee)                                                            \
    ENTRY(name) space "add.u32 %r1,%r0,1; shl.b32 %r2,%r0,2; mov.u32 %r3,mine" name "; add.u32 %r2,%r2,%r3;\n" \
    "st.shared.u32 [%r2],%r1; shl.b32 %r4,%r0,1; { .param .b32 a; .param .b32 r; st.param.b32 [a],%r4;\n" \
    "call (r), " callee ", (a); ld.param.b32 %r5,[r]; } ld.shared.u32 %r6,[%r2]; add.u32 %r6,%r6,%r5;\n" \
    "st.global.u32 [%d0],%r6; ret; }\n"
    static const char text[] = HEAD ".extern .shared .align 4 .b8 minedynamic[];\n"
        KEEPS("inner", "400", "", "")
        KEEPS("outer", "384", "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r1; call (r), inner, (a);\n"
                              "ld.param.b32 %r7,[r]; }\n", "min.u32 %r6,%r6,%r7;\n")
        USES("fixed", ".shared .align 4 .b8 minefixed[384];\n", "outer") USES("dynamic", "", "outer");

    (void)state;
    expect(text, "fixed", 1, want_own);
    expect(text, "dynamic", 1, want_own);
}

static uint32_t want_apart(uint32_t t, unsigned k)
{
    (void)k;
    return t & 1 ? 3 : 4;
}

/* Odd threads reach the CTA barrier in a nested function. Even threads reach the barrier after the point at which odd and even
 * threads would reconverge. So even threads must not wait for this reconvergence before the barrier. */
static void lanes_at_a_barrier_in_a_function_hold_nobody_up(void **state)
{
    (void)state;
    expect_in(HEAD
              ".func wait() { bar.sync 0; ret; }\n"
              ".func (.param .b32 ret) inner(.param .b32 a) { .reg .b32 %r<3>;\n"
              "ld.param.u32 %r1,[a]; call wait; add.u32 %r1,%r1,1; st.param.b32 [ret],%r1; ret; }\n"
              ENTRY("k")
              "and.b32 %r1,%r0,1; setp.eq.u32 %p1,%r1,0; mov.u32 %r2,2; @%p1 bra MEET;\n"
              "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r2; call (r), inner, (a);\n"
              "ld.param.b32 %r2,[r]; }\nMEET: @!%p1 bra DONE; bar.sync 0; add.u32 %r2,%r2,2;\n"
              "DONE: st.global.u32 [%d0],%r2; ret; }\n",
              "k", 1, want_apart, LW_COUNT_OF(ways) - 1);
}

static uint32_t want_lock(uint32_t t, unsigned k)
{
    (void)k;
    return t < 96 ? 1 : 0;
}

/* Lanes that wait for a lock in a function must not prevent the lane that holds the lock from continuing. */
static void lanes_that_wait_in_a_function_let_others_go_on(void **state)
{
    struct emu_stop stop;
    static const struct way way[] = { { 32, "rr_quantum", "cbar" }, { 64, "minpc", "cbar" },
                                      { 8, "maxpc", "cbar" }, { 32, "most_lanes", "cbar" } };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(way); i++) {
        run_way(HEAD
                ".global .u32 lock; .global .u32 sum;\n"
                ".func (.param .b32 ret) try(.param .b64 at) { .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                "ld.param.u64 %d1,[at]; atom.global.cas.b32 %r1,[%d1],0,1; st.param.b32 [ret],%r1;\n"
                "ret; }\n"
                ".func unlock(.param .b64 at) { .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                "ld.param.u64 %d1,[at]; membar.gl; atom.global.exch.b32 %r1,[%d1],0; ret; }\n"
                ENTRY("k")
                "mov.u64 %d2,lock; mov.u64 %d3,sum;\n"
                "TRY: { .param .b64 a; .param .b32 r; st.param.b64 [a],%d2; call (r), try, (a);\n"
                "ld.param.b32 %r1,[r]; }\nsetp.ne.u32 %p1,%r1,0; @%p1 bra TRY;\n"
                "ld.volatile.global.u32 %r2,[%d3]; add.u32 %r2,%r2,1; st.volatile.global.u32 [%d3],%r2;\n"
                "{ .param .b64 a; st.param.b64 [a],%d2; call unlock, (a); }\n"
                "bar.sync 0; ld.volatile.global.u32 %r3,[%d3]; setp.eq.u32 %p2,%r3,96;\n"
                "selp.u32 %r4,1,0,%p2; st.global.u32 [%d0],%r4; ret; }\n",
                "k", &way[i], 0, &stop);
        assert_int_equal(stop.kind, EMU_STOP_IDLE);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(words[t * ROW], want_lock(t, 0));
    }
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static void wrong_calls_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { HEAD ".func f(.param .u32 a);\n.entry k() {\n.param .b32 p;\ncall f, (p); ret; }\n",
          "t.ptx:7: call to f: the function is declared but not defined in this module: link the module that defines it, or define it in the source" },
        { HEAD ".func _Z16convert_half_rtzf(.param .b32 a);\n.entry k() {\n.param .b32 p;\n"
               "call _Z16convert_half_rtzf, (p); ret; }\n",
          "t.ptx:7: call to convert_half_rtz: this function of half is not supported: convert to float and back (conversions to nearest even, vload_half and vstore_half are supported)" },
        { HEAD ".func f(.param .u32 a) { ret; }\n.entry k() {\ncall f; ret; }\n",
          "t.ptx:6: call: f has 1 parameters and 0 results, but the call has 0 and 0" },
        { HEAD ".func f(.param .u32 a) { ret; }\n.entry k() {\n.param .b64 p;\ncall f, (p); ret; }\n",
          "t.ptx:7: call: parameter 1 of f has 4 bytes, but 'p' has 8" },
        { HEAD ".func f(.param .align 4 .b8 a[12]) { ret; }\n.entry k() {\ncall f, (7); ret; }\n",
          "t.ptx:6: call: parameter 1 of f is not a scalar: pass a .param variable" },
        { HEAD ".func f();\n.entry k() {\n.reg .b64 %d;\nmov.u64 %d,f; ret; }\n",
          "t.ptx:7: mov: 'f' is declared but not defined in this module: link the module that defines it" },
        { HEAD ".entry f() { ret; }\n.entry k() {\ncall f; ret; }\n",
          "t.ptx:6: call to f, which is a kernel: call a .func, or launch it" },
        { HEAD ".entry k() {\n.reg .b32 %r;\ncall %r; ret; }\n",
          "t.ptx:6: call: expected a function or a 64-bit register" },
        { HEAD ".entry k() {\n.reg .b32 %r;\nbrx.idx %r, none; ret; }\n",
          "t.ptx:6: 'none' is not a .branchtargets above" },
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct isa_object *object = NULL;
        struct lw_error err;

        assert_int_not_equal(ptx_translate("t.ptx", rows[i].text, strlen(rows[i].text), NULL, &object,
                                           &err),
                             LW_OK);
        assert_string_equal(err.text, rows[i].message);
    }
}

/* The translator ignores a function that no kernel reaches, whatever it contains. */
static void functions_that_nobody_calls_are_left_out(void **state)
{
    static const char text[] = HEAD ".func other() { tld4.r.2d.v4.f32.f32 {a}, [b, {c}]; }\n"
                                    ".func used() { ret; }\n.entry k() { call used; ret; }\n";
    struct isa_object *object;
    struct lw_error err;

    (void)state;
    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    assert_int_equal(object->function_count, 2);
    assert_string_equal(object->functions[0].name, "used");
    assert_false(object->functions[0].kernel);
    assert_int_equal(object->functions[0].count, 1); /* a leaf function has only its return */
    isa_object_destroy(object);
}

static uint32_t want_depot(uint32_t t, unsigned k)
{
    return k == 0 ? t + 12 : t * 3;
}

/* Code for debuggers accesses its variables by the generic address of __local_depot plus a constant. The translator converts
 * these accesses to local ones. Accesses with any other address remain generic. */
static void variables_of_debuggable_code_are_local_accesses(void **state)
{
    static const char text[] = HEAD
        ".func (.param .b32 ret) add(.param .b32 a) { .local .align 16 .b8 __local_depot0[48];\n"
        ".reg .b64 %SP, %SPL; .reg .b64 %d<9>; .reg .b32 %r<9>;\n"
        "mov.u64 %SPL,__local_depot0; cvta.local.u64 %SP,%SPL; ld.param.u32 %r1,[a];\n"
        "st.u32 [%SP+4],%r1; add.u64 %d1,%SP,16; or.b64 %d2,%d1,8; mov.u32 %r2,12; st.u32 [%d2],%r2;\n"
        "ld.u32 %r3,[%SP+4]; ld.local.u32 %r4,[%SPL+24]; add.u32 %r5,%r3,%r4;\n"
        "st.param.b32 [ret],%r5; ret; }\n"
        ENTRY("k") ".local .align 8 .b8 __local_depot1[32]; .reg .b64 %SP, %SPL;\n"
        "mov.u64 %SPL,__local_depot1; cvta.local.u64 %SP,%SPL;\n"
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r0; call (r), add, (a);\n"
        "ld.param.b32 %r1,[r]; }\n"
        "mul.lo.u32 %r2,%r0,3; add.u64 %d2,%SP,8; setp.eq.u32 %p1,%r0,200; @%p1 add.u64 %d2,%d2,8;\n"
        "st.u32 [%d2],%r2; ld.u32 %r3,[%SP+8]; st.global.v2.u32 [%d0],{%r1,%r3}; ret; }\n";
    struct isa_object *object;
    struct lw_error err;
    unsigned generic = 0;

    (void)state;
    expect(text, "k", 2, want_depot);
    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn in;

        assert_true(isa_insn_decode(object->text[i], &in));
        generic += in.op == ISA_LD_GENERIC || in.op == ISA_ST_GENERIC;
    }
    assert_int_equal(generic, 1); /* the access through the kernel's %d2, which is written twice */
    isa_object_destroy(object);
}

static void the_stack_of_recursion_has_the_requested_size(void **state)
{
    static const char text[] = HEAD ".func f() { call f; ret; }\n.func g() { call f; ret; }\n"
                                    ".func h() { ret; }\n"
                                    ".entry k() { call g; ret; }\n.entry l() { call h; ret; }\n";
    struct ptx_options options;
    uint32_t bytes[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct isa_object *object;
        struct lw_error err;

        ptx_options_default(&options);
        options.stack_bytes = i == 0 ? 0 : 1 << 16;
        ok(ptx_translate("t.ptx", text, strlen(text), &options, &object, &err), &err);
        for (unsigned f = 0; f < object->function_count; f++) {
            if (strcmp(object->functions[f].name, "k") == 0)
                bytes[i] = object->functions[f].local_bytes;
            if (strcmp(object->functions[f].name, "l") == 0)
                assert_int_equal(object->functions[f].local_bytes, 0);
        }
        isa_object_destroy(object);
    }
    assert_int_equal(bytes[0], 8192 + 16);
    assert_int_equal(bytes[1], 65536 + 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_call_themselves_and_each_other),
        cmocka_unit_test(recursion_without_end_is_a_fault),
        cmocka_unit_test(structures_go_and_come_by_value),
        cmocka_unit_test(parameters_that_do_not_fit_go_over_the_stack),
        cmocka_unit_test(what_lives_across_a_call_is_preserved),
        cmocka_unit_test(calls_and_returns_may_be_guarded),
        cmocka_unit_test(parameters_may_be_registers),
        cmocka_unit_test(pointers_to_functions_are_called),
        cmocka_unit_test(calls_work_after_a_refused_kernel),
        cmocka_unit_test(lanes_reconverge_after_calls_at_which_they_diverge),
        cmocka_unit_test(tables_of_branches_reach_every_target),
        cmocka_unit_test(recursion_leaves_the_barriers_of_its_callees_alone),
        cmocka_unit_test(deep_chains_of_calls_have_barriers_enough),
        cmocka_unit_test(nests_deeper_than_the_registers_may_call),
        cmocka_unit_test(barriers_and_shared_memory_work_in_functions),
        cmocka_unit_test(shared_memory_of_kernels_and_functions_lies_apart),
        cmocka_unit_test(lanes_at_a_barrier_in_a_function_hold_nobody_up),
        cmocka_unit_test(lanes_that_wait_in_a_function_let_others_go_on),
        cmocka_unit_test(wrong_calls_are_refused_with_a_reason),
        cmocka_unit_test(functions_that_nobody_calls_are_left_out),
        cmocka_unit_test(variables_of_debuggable_code_are_local_accesses),
        cmocka_unit_test(the_stack_of_recursion_has_the_requested_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
