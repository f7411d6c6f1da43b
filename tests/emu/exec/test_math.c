/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the arithmetic of emu/emu_math.* against the host's libm. Results must be exact where docs/reference/fp.md
 * says so, and within its bounds elsewhere. LW_EXHAUSTIVE=1 tests all 2^32 inputs.
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "emu/emu_code_priv.h"
#include "emu/lane/emu_mufu_priv.h"
#include "tests/model/ref_root.h"
#include "tests/lib/exhaustive.h"

static float f_of(uint32_t b) { float f; memcpy(&f, &b, 4); return f; }
static uint32_t b_of(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }
static double d_of(uint64_t b) { double f; memcpy(&f, &b, 8); return f; }
static uint64_t q_of(double f) { uint64_t b; memcpy(&b, &f, 8); return b; }

static uint64_t next(uint64_t *s)
{
    uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
/* Map a float to an integer so that the order is preserved and the difference of two results is in units in the last
 * place. */
static int64_t order(float f)
{
    uint32_t b = b_of(f);
    return b >> 31 ? -(int64_t)(b & 0x7fffffff) : (int64_t)b;
}

static const int host_rounding[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static void fma_of_floats_is_exact(void **state)
{
    uint64_t s = 1;
    (void)state;
    for (unsigned i = 0; i < 4000000 / each_divisor(); i++) {
        unsigned sub = (i >> 1 & 3) << 2; /* rounding mode * 4; the directed modes need support by the processor */
        uint32_t x = (uint32_t)next(&s), y = (uint32_t)next(&s), z = (uint32_t)next(&s);
        if (i & 1) /* products near the addend, for cancellation and ties */
            z = b_of(-f_of(x) * f_of(y)) ^ (uint32_t)(next(&s) & 3);
        volatile float fx = f_of(x), fy = f_of(y), fz = f_of(z), want, got;
        fesetround(host_rounding[sub >> 2]);
        want = fmaf(fx, fy, fz);
        got = emu_fma_f32(fx, fy, fz);
        fesetround(FE_TONEAREST);
        (void)sub;
        if (b_of(want) != b_of(got) && !(isnan(want) && isnan(got)))
            fail_msg("rounding %u: fma(%a, %a, %a) = %a, not %a", sub >> 2, fx, fy, fz, want, got);
    }
}
static void fma_of_doubles_is_exact(void **state)
{
    uint64_t s = 2;
    (void)state;
    for (unsigned i = 0; i < 2000000 / each_divisor(); i++) {
        uint64_t x = next(&s), y = next(&s), z = next(&s);
        if (i % 4 == 1)
            z = q_of(-d_of(x) * d_of(y)) ^ (next(&s) & 7);
        if (i % 4 == 2) { /* results near the smallest numbers */
            x = (x & ~(UINT64_C(0x7ff) << 52)) | (uint64_t)(300 + i % 200) << 52;
            y = (y & ~(UINT64_C(0x7ff) << 52)) | (uint64_t)(650 + i % 200) << 52;
            z &= ~(UINT64_C(0x7f0) << 52);
        }
        if (i % 16 == 3) /* products and sums that are zero */
            x &= UINT64_C(1) << 63, z &= i & 16 ? ~UINT64_C(0) : UINT64_C(1) << 63;
        if (i % 16 == 7)
            x &= ~UINT64_C(0xffffffff), y &= ~UINT64_C(0xffffffff), z = q_of(-d_of(x) * d_of(y));
        volatile double dx = d_of(x), dy = d_of(y), dz = d_of(z), want;
        unsigned rounding = (unsigned)(next(&s) & 3);
        fesetround(host_rounding[rounding]);
        want = fma(dx, dy, dz);
        fesetround(FE_TONEAREST);
        double got = emu_fma_f64_soft(dx, dy, dz, rounding);
        if (q_of(want) != q_of(got) && !(isnan(want) && isnan(got)))
            fail_msg("rounding %u: fma(%a, %a, %a) = %a, not %a", rounding, dx, dy, dz, want, got);
    }
}

/* 1/sqrt(x) depends only on the significand and the parity of the exponent. */
static void reciprocal_square_roots_are_correctly_rounded(void **state)
{
    (void)state;
    for (uint32_t b = 0x3f800000; b < 0x40800000; b += each_divisor()) {
        float x = f_of(b), want = (float)(1.0L / sqrtl((long double)x));
        if (b_of(want) != b_of(emu_rsq_f32(x)))
            fail_msg("rsq(%a) = %a, not %a", x, want, emu_rsq_f32(x));
    }
    assert_true(isinf(emu_rsq_f32(0.0f)));
    assert_true(emu_rsq_f32(-0.0f) < 0);
    assert_true(isnan(emu_rsq_f32(-1.0f)));
}

struct function {
    const char *name;
    float (*ours)(float);
    double (*quick)(double); /* the result of the host's libm, which has a relative error of a few times 2^-52 */
    long double (*host)(long double);
    struct counts {
        uint64_t off; /* number of results that are not correctly rounded, which is allowed */
        int64_t worst;
    } *counts; /* memory shared by the processes */
};
/* Compute the correctly rounded result from the host's double, or from its long double if the double is too near a
 * tie. */
static float rounded_once(const struct function *f, float x)
{
    double d = f->quick((double)x);
    float below = (float)(d * (1 - 0x1p-46)), above = (float)(d * (1 + 0x1p-46));
    return below == above ? below : (float)f->host((long double)x);
}
static bool within_one_unit(const void *context, uint32_t i, char *why, size_t size)
{
    const struct function *f = context;
    float x = f_of(i), got = f->ours(x), want = rounded_once(f, x);
    int64_t ulps = 0;

    if (isnan(want) || isnan(got) || signbit(want) != signbit(got))
        ulps = isnan(want) && isnan(got) ? 0 : 2;
    else
        ulps = order(got) - order(want);
    ulps = ulps < 0 ? -ulps : ulps;
    if (ulps == 0)
        return true;
    __atomic_fetch_add(&f->counts->off, 1, __ATOMIC_RELAXED);
    if (ulps > __atomic_load_n(&f->counts->worst, __ATOMIC_RELAXED))
        __atomic_store_n(&f->counts->worst, ulps, __ATOMIC_RELAXED);
    if (ulps == 1)
        return true;
    snprintf(why, size, "%s(%a) = %a, not %a", f->name, x, want, got);
    return false;
}
static void rsq_of_doubles(double x)
{
    double want = ref_rsq_d(x), got = emu_rsq_f64(x);

    if (q_of(want) != q_of(got) && !(isnan(want) && isnan(got)))
        fail_msg("rsq(%a) = %a, not %a", x, want, got);
}
static void reciprocal_square_roots_of_doubles_are_correctly_rounded(void **state)
{
    static const uint64_t places[] = {0, 1, UINT64_C(0xfffffffffffff), UINT64_C(1) << 52,
                                      UINT64_C(0x3ff0000000000000), UINT64_C(0x3fe0000000000000),
                                      UINT64_C(0x4000000000000000), UINT64_C(0x7ff0000000000000),
                                      UINT64_C(0x7ff8000000000000), UINT64_C(1) << 63};
    uint64_t s = 3;

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int64_t off = -300; off <= 300; off++)
            rsq_of_doubles(d_of(places[i] + (uint64_t)off));
    for (int e = -1074; e <= 1023; e++) { /* arguments with exact results, and their neighbours */
        rsq_of_doubles(ldexp(1.0, e));
        rsq_of_doubles(nextafter(ldexp(1.0, e), 0));
        rsq_of_doubles(nextafter(ldexp(1.0, e), INFINITY));
    }
    for (unsigned i = 0; i < 400000 / each_divisor(); i++) {
        uint64_t bits = next(&s);
        double r = d_of((bits >> 11) | UINT64_C(0x3fe0000000000000)); /* an argument near a known root */

        rsq_of_doubles(d_of(bits));
        rsq_of_doubles(1 / (r * r));
    }
}
static double rsq_quick(double x)
{
    return 1 / sqrt(x);
}
static long double rsq_host(long double x)
{
    return 1 / sqrtl(x);
}
static void special_functions_are_within_one_ulp(void **state)
{
    struct function functions[] = {
        {"rsq", emu_rsq_f32, rsq_quick, rsq_host, NULL},
        {"ex2", emu_ex2_f32, exp2, exp2l, NULL}, {"lg2", emu_lg2_f32, log2, log2l, NULL},
        {"sin", emu_sin_f32, sin, sinl, NULL},   {"cos", emu_cos_f32, cos, cosl, NULL},
        {"tanh", emu_tanh_f32, tanh, tanhl, NULL},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        struct function *f = &functions[i];
        f->counts = mmap(NULL, sizeof *f->counts, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(f->counts != MAP_FAILED);
        all_values(within_one_unit, f, f->name, 4099);
        printf("%s: %llu not correctly rounded, worst %lld ulp\n", f->name,
               (unsigned long long)f->counts->off, (long long)f->counts->worst);
        munmap(f->counts, sizeof *f->counts);
    }
}

/* The interpreter and native code compute these functions for a register row at a time, by code that is compiled once per x86-64
 * level. Sums of hashes of operands and results, recorded when the functions computed one lane at a time: of each SAMPLE_STEP-th
 * row, and of all 2^32 operands. */
enum { LANES = 64, SAMPLE_STEP = 1021 };
static const struct recorded {
    const char *name;
    enum isa_op op;
    uint64_t sample, all;
} recorded[] = {
    {"ex2", ISA_V_EX2_F32, UINT64_C(0x91c0cb7514aaea41), UINT64_C(0xeb0c62b76544187f)},
    {"lg2", ISA_V_LG2_F32, UINT64_C(0xa33043818fb8eaf5), UINT64_C(0x0d02fe46f6b9b035)},
    {"sin", ISA_V_SIN_F32, UINT64_C(0x9f24a379d8b6e5d9), UINT64_C(0x7ae326f09d9fdf47)},
    {"cos", ISA_V_COS_F32, UINT64_C(0x04959ec053b6bc52), UINT64_C(0x170096843e9526ff)},
    {"tanh", ISA_V_TANH_F32, UINT64_C(0x72c237c979ec5314), UINT64_C(0x138df0fd21b5bfab)},
};
static uint64_t sum_of_rows(emu_row_fn *function, uint64_t first, uint64_t step)
{
    uint32_t b[LANES] __attribute__((aligned(64))), d[LANES] __attribute__((aligned(64)));
    uint64_t sum = 0;

    for (uint64_t row = first; row * LANES >> 32 == 0; row += step) {
        for (unsigned l = 0; l < LANES; l++)
            b[l] = (uint32_t)(row * LANES + l);
        function(d, b, LANES);
        for (unsigned l = 0; l < LANES; l++) {
            uint64_t x = ((uint64_t)b[l] << 32 | d[l]) * UINT64_C(0x9e3779b97f4a7c15);
            x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
            sum += x ^ x >> 32;
        }
    }
    return sum;
}
/* Divides the rows among host processes. */
static uint64_t sum_of_all_rows(emu_row_fn *function)
{
    enum { PROCESSES = 64 };
    long parts = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t *sum = mmap(NULL, PROCESSES * sizeof *sum, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), all = 0;

    parts = parts < 1 ? 1 : parts > PROCESSES ? PROCESSES : parts;
    assert_true(sum != MAP_FAILED);
    for (long part = 0; part < parts; part++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            sum[part] = sum_of_rows(function, (uint64_t)part, (uint64_t)parts);
            _exit(0);
        }
    }
    for (long part = 0; part < parts; part++)
        assert_true(wait(NULL) >= 0);
    for (long part = 0; part < parts; part++)
        all += sum[part];
    munmap(sum, PROCESSES * sizeof *sum);
    return all;
}
static void functions_of_rows_give_the_recorded_results_at_each_level(void **state)
{
    const bool all = getenv("LW_EXHAUSTIVE") != NULL;

    (void)state;
    for (unsigned level = 1; level <= 4; level++) {
        const struct emu_level *l = emu_level_choose(level);
        for (size_t i = 0; l != NULL && i < sizeof recorded / sizeof recorded[0]; i++) {
            emu_row_fn *function = l->row_functions[recorded[i].op];
            const uint64_t sum = all ? sum_of_all_rows(function) : sum_of_rows(function, 0, SAMPLE_STEP);
            printf("%s, level %u: %s\n", recorded[i].name, level, all ? "all 2^32" : "sample");
            if (sum != (all ? recorded[i].all : recorded[i].sample))
                fail_msg("%s, level %u: the results differ from those that were recorded (sum %#llx)", recorded[i].name, level,
                         (unsigned long long)sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fma_of_floats_is_exact),
        cmocka_unit_test(fma_of_doubles_is_exact),
        cmocka_unit_test(reciprocal_square_roots_are_correctly_rounded),
        cmocka_unit_test(reciprocal_square_roots_of_doubles_are_correctly_rounded),
        cmocka_unit_test(special_functions_are_within_one_ulp),
        cmocka_unit_test(functions_of_rows_give_the_recorded_results_at_each_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
