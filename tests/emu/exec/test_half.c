/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests f16 and bf16 instructions, which compute in f32 and round twice. The expected values come from a soft float
 * of this test that rounds exact integers once. Functions get each of the 2^16 operands, and operations a dense
 * sample of pairs. With LW_EXHAUSTIVE=1 the test tries all 2^32 pairs and the conversion of all f32.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/lane/emu_math_priv.h"
#include "tests/model/soft_float.h"
#include "tests/lib/exhaustive.h"

struct format {
    struct soft_format soft;
    float (*in)(uint32_t);
    uint32_t (*out)(float);
};
static float in_f16(uint32_t h) { return emu_f32_of_f16(h); }
static float in_bf16(uint32_t h) { return emu_f32_of_bf16(h); }
static uint32_t out_f16(float x) { return emu_f16_of_f32(x); }
static uint32_t out_bf16(float x) { return emu_bf16_of_f32(x); }
static struct format f16 = {.in = in_f16, .out = out_f16};
static struct format bf16 = {.in = in_bf16, .out = out_bf16};

static uint32_t ref_add(const struct format *f, uint32_t a, uint32_t b)
{
    return soft_half_add(&f->soft, a, b);
}
static uint32_t ref_mul(const struct format *f, uint32_t a, uint32_t b)
{
    return soft_half_mul(&f->soft, a, b);
}
static uint32_t ref_div(const struct format *f, uint32_t a, uint32_t b)
{
    return soft_half_div(&f->soft, a, b);
}

/* ---- the expressions of the emulator's instructions -------------------------------------------------- */

static uint32_t our_add(const struct format *f, uint32_t a, uint32_t b)
{
    return f->out(f->in(a) + f->in(b));
}
static uint32_t our_mul(const struct format *f, uint32_t a, uint32_t b)
{
    return f->out(f->in(a) * f->in(b));
}
static uint32_t our_div(const struct format *f, uint32_t a, uint32_t b)
{
    return f->out(f->in(a) / f->in(b));
}
static uint32_t our_fma(const struct format *f, uint32_t a, uint32_t b, uint32_t c)
{
    float x = f->in(a), y = f->in(b), z = f->in(c);
    return f->out(f == &f16 ? emu_fma_f16(x, y, z) : emu_fma_bf16(x, y, z));
}

struct pairs {
    const struct format *format;
    const char *what;
    uint32_t (*ours)(const struct format *, uint32_t, uint32_t);
    uint32_t (*reference)(const struct format *, uint32_t, uint32_t);
};
static bool pair_is_right(const void *context, uint32_t i, char *why, size_t size)
{
    const struct pairs *p = context;
    uint32_t a = i >> 16, b = i & 0xffff, want = p->reference(p->format, a, b);
    uint32_t got = p->ours(p->format, a, b);
    if (got == want)
        return true;
    snprintf(why, size, "%s of %s %04x and %04x is %04x, not %04x", p->what, p->format->soft.name, a, b,
             got, want);
    return false;
}
static void sums_products_and_quotients_round_once(void **state)
{
    static const struct pairs all[] = {
        {&f16, "sum", our_add, ref_add},       {&f16, "product", our_mul, ref_mul},
        {&f16, "quotient", our_div, ref_div},  {&bf16, "sum", our_add, ref_add},
        {&bf16, "product", our_mul, ref_mul},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        all_values(pair_is_right, &all[i], all[i].what, 4099);
}

struct triples {
    const struct format *format;
};
static bool fma_is_right(const void *context, uint32_t i, char *why, size_t size)
{
    const struct format *f = ((const struct triples *)context)->format;
    uint64_t z = (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    uint32_t a = z & 0xffff, b = z >> 16 & 0xffff, c = z >> 32 & 0xffff;
    switch (i & 3) {
    case 1: /* operands near cancellation */
        c = (our_mul(f, a, b) ^ 0x8000 ^ (uint32_t)(z >> 62)) & 0xffff;
        break;
    case 2: /* a product near one, and an addend that is tiny or near half a unit */
        a = (a & 0x803f) | soft_half_one(&f->soft);
        b = (b & 0x3f) | soft_half_one(&f->soft);
        break;
    case 3: /* small products */
        a &= 0x8fff;
        c &= 0x83ff;
        break;
    default: break;
    }
    uint32_t want = soft_half_fma(&f->soft, a, b, c), got = our_fma(f, a, b, c);
    if (got == want)
        return true;
    snprintf(why, size, "fma of %s %04x, %04x and %04x is %04x, not %04x", f->soft.name, a, b, c, got,
             want);
    return false;
}
static void fma_rounds_once(void **state)
{
    static const struct triples all[] = {{&f16}, {&bf16}};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        all_values(fma_is_right, &all[i], "fma", 1031);
}

static bool conversion_is_right(const void *context, uint32_t i, char *why, size_t size)
{
    const struct format *f = context;
    uint32_t want, got;
    float x;
    memcpy(&x, &i, sizeof x);
    want = (uint32_t)soft_real(&f->soft, x);
    got = f->out(x);
    if (got == want)
        return true;
    snprintf(why, size, "%a to %s is %04x, not %04x", (double)x, f->soft.name, got, want);
    return false;
}
static void numbers_narrow_to_the_nearest(void **state)
{
    (void)state;
    all_values(conversion_is_right, &f16, "f32 to f16", 1031);
    all_values(conversion_is_right, &bf16, "f32 to bf16", 1031);
}
static void numbers_widen_exactly(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct format *f = k ? &bf16 : &f16;
        for (uint32_t h = 0; h < 65536; h++) {
            struct soft_number n = soft_number(&f->soft, h);
            double want = ldexp((double)n.m, n.e);
            float got = f->in(h);
            if (soft_is_nan(&f->soft, h)) {
                assert_true(isnan(got));
                continue;
            }
            if (soft_is_infinite(&f->soft, h))
                want = INFINITY * (h & 0x8000 ? -1 : 1);
            if (got != want || !signbit(got) != !(h & 0x8000))
                fail_msg("%s %04x is %a, not %a", f->soft.name, h, (double)got, want);
        }
    }
}

static long double host_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}
static long double host_rcp(long double x)
{
    return 1 / x;
}
static float our_rcp(float x)
{
    return 1.0f / x;
}
static float our_sqrt(float x)
{
    return emu_sqrt_f32(x);
}
static void functions_of_all_operands_are_correctly_rounded(void **state)
{
    static const struct {
        const char *name;
        const struct format *format;
        float (*ours)(float);
        long double (*host)(long double);
    } functions[] = {
        {"ex2", &f16, emu_ex2_f16, exp2l},    {"tanh", &f16, emu_tanh_f16, tanhl},
        {"rcp", &f16, our_rcp, host_rcp},     {"sqrt", &f16, our_sqrt, sqrtl},
        {"rsq", &f16, emu_rsq_f16, host_rsqrt}, {"ex2", &bf16, emu_ex2_bf16, exp2l},
        {"tanh", &bf16, emu_tanh_bf16, tanhl},
    };
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const struct format *f = functions[i].format;
        for (uint32_t h = 0; h < 65536; h++) {
            float x = f->in(h);
            uint32_t got = f->out(functions[i].ours(x));
            uint32_t want = (uint32_t)soft_real(&f->soft, functions[i].host((long double)x));
            if (got != want)
                fail_msg("%s of %s %04x is %04x, not %04x", functions[i].name, f->soft.name, h, got,
                         want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_widen_exactly),
        cmocka_unit_test(numbers_narrow_to_the_nearest),
        cmocka_unit_test(sums_products_and_quotients_round_once),
        cmocka_unit_test(fma_rounds_once),
        cmocka_unit_test(functions_of_all_operands_are_correctly_rounded),
    };
    f16.soft = soft_f16;
    bf16.soft = soft_bf16;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
