// SPDX-License-Identifier: Apache-2.0
/* Mathematical functions have at most the errors that CUDA documents ("Mathematical Functions" of the CUDA C++ Programming
 * Guide), in units in the last place. Results for chosen arguments are in mathematics.h. Random arguments are compared with the
 * host's functions for long double. */
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

/* Functions of one argument: name, errors of double and float, and for random arguments their range and the exact function.
 * Functions without an exact function have their results in mathematics.h. */
#define TABLE(X) X(erfinv, 5, 2) X(erfcinv, 6, 4) X(erfcx, 4, 4) X(normcdf, 5, 5) X(normcdfinv, 8, 5) \
    X(cyl_bessel_i0, 6, 6) X(cyl_bessel_i1, 6, 6)
#define RANDOM(X)                                                                                                          \
    X(rsqrt, 1, 2, 0, 9, 1 / sqrtl(x)) X(rcbrt, 1, 1, -9, 9, 1 / cbrtl(x)) X(sqrt, 0, 0, 0, 9, sqrtl(x))                   \
    X(cbrt, 1, 1, -9, 9, cbrtl(x)) X(exp, 1, 2, -80, 80, expl(x)) X(exp2, 1, 2, -120, 120, exp2l(x))                       \
    X(exp10, 1, 2, -30, 30, exp10l(x)) X(expm1, 1, 1, -20, 80, expm1l(x)) X(log, 1, 1, 0, 99, logl(x))                     \
    X(log2, 1, 1, 0, 99, log2l(x)) X(log10, 1, 2, 0, 99, log10l(x)) X(log1p, 1, 1, -1, 99, log1pl(x))                      \
    X(sin, 2, 2, -99, 99, sinl(x)) X(cos, 2, 2, -99, 99, cosl(x)) X(tan, 2, 4, -99, 99, tanl(x))                           \
    X(sinpi, 2, 1, -1, 1, sinl(PI *x)) X(cospi, 2, 1, -0.4L, 0.4L, cosl(PI *x)) X(asin, 2, 2, -1, 1, asinl(x))             \
    X(acos, 2, 2, -1, 1, acosl(x)) X(atan, 2, 2, -9, 9, atanl(x)) X(sinh, 2, 3, -80, 80, sinhl(x))                         \
    X(cosh, 1, 2, -80, 80, coshl(x)) X(tanh, 1, 2, -9, 9, tanhl(x)) X(asinh, 3, 3, -99, 99, asinhl(x))                     \
    X(acosh, 3, 4, 1, 99, acoshl(x)) X(atanh, 2, 3, -1, 1, atanhl(x)) X(erf, 2, 2, -5, 5, erfl(x))                         \
    X(erfc, 5, 4, -5, 9, erfcl(x)) X(lgamma, 4, 6, 3, 99, lgammal(x)) X(tgamma, 10, 5, 0, 30, tgammal(x))
/* Functions of four arguments, of which most use fewer. */
#define SEVERAL(X)                                                                                                         \
    X(hypot(x, y), hypotf(x, y), 2, 3, sqrtl(x * x + y * y))                                                               \
    X(rhypot(x, y), rhypotf(x, y), 1, 2, 1 / sqrtl(x * x + y * y))                                                         \
    X(norm3d(x, y, z), norm3df(x, y, z), 2, 3, sqrtl(x * x + y * y + z * z))                                               \
    X(rnorm3d(x, y, z), rnorm3df(x, y, z), 1, 2, 1 / sqrtl(x * x + y * y + z * z))                                         \
    X(norm4d(x, y, z, w), norm4df(x, y, z, w), 2, 3, sqrtl(x * x + y * y + z * z + w * w))                                 \
    X(rnorm4d(x, y, z, w), rnorm4df(x, y, z, w), 1, 2, 1 / sqrtl(x * x + y * y + z * z + w * w))                           \
    X(remquo(x, y, &whole), remquof(x, y, &whole), 0, 0, remainderl(x, y))                                                 \
    X(whole_of(x, y), whole_of(x, y), 0, 0, rounded_quotient(x, y))                                                        \
    X(fmod(x, y), fmodf(x, y), 0, 0, fmodl(x, y)) X(fma(x, y, z), fmaf(x, y, z), 0, 1, fmal(x, y, z))                      \
    X(atan2(x, y), atan2f(x, y), 2, 3, atan2l(x, y))

#define PI 3.14159265358979323846264338327950288L
enum { N = 256 };
enum function {
#define DECLARE(F, ...) F_##F,
    TABLE(DECLARE) RANDOM(DECLARE)
};
struct call {
    int function, single, most; /* most: error in units in the last place */
    double x, y, z, w;          /* arguments */
    double result, found;
};

__device__ static double evaluate(const call &c)
{
    switch (c.function) {
#define CALL(F, ...) case F_##F: return c.single ? (double)F##f((float)c.x) : F(c.x);
        TABLE(CALL) RANDOM(CALL)
    }
    return 0;
}
__device__ static int whole_of(double x, double y)
{
    int whole;

    remquo(x, y, &whole);
    return whole;
}
template <class T> __device__ static double several(const call &c, int function)
{
    const T x = (T)c.x, y = (T)c.y, z = (T)c.z, w = (T)c.w;
    int whole, i = 0;

#define CALL_SEVERAL(D, F, ...) if (function == i++) return sizeof(T) == 8 ? (double)(D) : (double)(F);
    SEVERAL(CALL_SEVERAL)
    return 0;
}
__global__ void k(call *calls, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        calls[i].found = calls[i].function >= 0 ? evaluate(calls[i])
                         : calls[i].single      ? several<float>(calls[i], -1 - calls[i].function)
                                                : several<double>(calls[i], -1 - calls[i].function);
}

/* Special values. The sign of zero counts. */
__global__ void specials(int *wrong)
{
    const double inf = INFINITY, no = NAN, least = 4.9406564584124654e-324;
    const struct {
        double found, result;
    } cases[] = {
        {erfinv(1.0), inf}, {erfinv(-1.0), -inf}, {erfinv(-0.0), -0.0}, {erfinv(1.1), no}, {erfinvf(-1.0f), -inf},
        {erfcinv(0.0), inf}, {erfcinv(-0.0), inf}, {erfcinv(2.0), -inf}, {erfcinv(1.0), 0.0}, {erfcinv(-least), no},
        {normcdfinv(0.0), -inf}, {normcdfinv(1.0), inf}, {normcdfinv(0.5), 0.0}, {normcdfinvf(0.5f), 0.0},
        {normcdfinv(no), no}, {erfcx(inf), 0.0}, {erfcx(-inf), inf}, {erfcx(-27.0), inf}, {erfcxf(-10.0f), inf},
        {erfcx(no), no}, {normcdf(inf), 1.0}, {normcdf(-inf), 0.0}, {normcdf(-39.0), 0.0}, {normcdf(no), no},
        {rsqrt(0.0), inf}, {rsqrt(-0.0), -inf}, {rsqrt(inf), 0.0}, {rsqrt(-1.0), no}, {rcbrt(-0.0), -inf},
        {rcbrt(-inf), -0.0}, {norm3d(no, -inf, 1.0), inf}, {rnorm3d(inf, no, 1.0), 0.0},
        {rnorm4d(0.0, 0.0, -0.0, 0.0), inf}, {norm3df(no, 1.0f, INFINITY), inf}, {norm4d(no, 1.0, 2.0, 3.0), no},
        {rhypot(1e-320, 0.0), inf}, {rhypotf(INFINITY, NAN), 0.0}, {norm4df(0.0f, 0.0f, 0.0f, -1e-45f), 1e-45f},
        {(double)ilogb(NAN), (double)INT_MIN}, {(double)ilogb(0.0), (double)INT_MIN},
        {(double)ilogb(-inf), (double)INT_MAX}, {(double)ilogb(least), -1074.0},
        {(double)ilogbf(NAN), (double)INT_MIN}, {(double)ilogbf(1e-45f), -149.0}, {(double)ilogb(-9.0f), 3.0},
        {cosh(-inf), inf}, {cosh(0.0), 1.0}, {cosh(710.4), 0x1.da98a7371610bp+1023}, {cosh(711.0), inf},
        {sinpif(-2.0f), -0.0}, {cospif(1.5f), 0.0}, {cyl_bessel_i0(-inf), inf}, {cyl_bessel_i1(-inf), -inf},
        {cyl_bessel_i1(-0.0), -0.0}, {cyl_bessel_i0f(0.0f), 1.0}, {cyl_bessel_i1(no), no}};

    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        if (!(isnan(cases[i].found) && isnan(cases[i].result)) &&
            __double_as_longlong(cases[i].found) != __double_as_longlong(cases[i].result)) {
            printf("special value %d: %g, not %g\n", i, cases[i].found, cases[i].result);
            *wrong = 1;
        }
}

/* Results that differ by one unit in the last place differ by 1. */
static int64_t order_of(double x, bool single)
{
    const float f = (float)x;
    int64_t wide;
    int32_t narrow;

    memcpy(&wide, &x, sizeof wide);
    memcpy(&narrow, &f, sizeof narrow);
    if (single)
        wide = narrow;
    return wide < 0 ? (single ? INT32_MIN : INT64_MIN) - wide : wide;
}
static long double rounded_quotient(long double x, long double y)
{
    const int whole = (int)fmodl(rintl(fabsl(x / y)), 8);

    return (x < 0) != (y < 0) ? -whole : whole;
}
static uint64_t state = 88172645463325252u;
static long double random_between(long double low, long double high)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return low + (high - low) * ((state >> 11) + 0.5L) / (1ull << 53);
}

int main()
{
    static const struct {
        int most[2];
        const char *name;
    } functions[] = {
#define NAME(F, D, S, ...) {{D, S}, #F},
        TABLE(NAME) RANDOM(NAME)};
    std::vector<call> calls;
    call *device;
    int wrong = 0;

#define ROW(F, SINGLE, X, Y) calls.push_back({F_##F, SINGLE, functions[F_##F].most[SINGLE], X, 0, 0, 0, Y, 0});
#define DOUBLE(F, X, Y) ROW(F, 0, X, Y)
#define FLOAT(F, X, Y) ROW(F, 1, X, Y)
#include "mathematics.h"
    for (int i = 0; i < N; i++) {
        int number = -1;

#define ADD(F, D, S, LOW, HIGH, EXACT)                                                                                     \
        {                                                                                                                  \
            const double a = (double)random_between(LOW, HIGH);                                                            \
            long double x = a;                                                                                             \
            ROW(F, 0, a, (double)(EXACT))                                                                                  \
            x = (float)a;                                                                                                  \
            if (x > LOW && x < HIGH)                                                                                       \
                ROW(F, 1, (float)a, (float)(EXACT))                                                                        \
        }
        RANDOM(ADD)
#define ADD_SEVERAL(DOUBLE_TEXT, FLOAT_TEXT, D, S, EXACT)                                                                  \
        for (int single = 0; single < 2; single++) {                                                                       \
            const double scale = ldexp(1.0, i % 3 == 0 ? 0 : (int)random_between(-1, 2) * (single ? 120 : 1015));          \
            double p[4];                                                                                                   \
            for (double &element : p) {                                                                                    \
                element = scale * (double)random_between(-1, 1) * (i % 2 != 0 ? 1 : exp2((double)random_between(-9, 9)));  \
                element = single ? (float)element : element;                                                              \
            }                                                                                                              \
            const long double x = p[0], y = p[1], z = p[2], w = p[3], exact = EXACT;                                       \
            (void)z, (void)w;                                                                                              \
            calls.push_back({number, single, single ? S : D, p[0], p[1], p[2], p[3], 0, 0});                               \
            calls.back().result = single ? (float)exact : (double)exact;                                                   \
            number -= single;                                                                                              \
        }
        SEVERAL(ADD_SEVERAL)
    }
    cudaMallocManaged(&device, calls.size() * sizeof *device);
    memcpy(device, calls.data(), calls.size() * sizeof *device);
    specials<<<1, 1>>>((int *)&device[0].found);
    cudaDeviceSynchronize();
    wrong = *(int *)&device[0].found;
    k<<<(unsigned)(calls.size() + 127) / 128, 128>>>(device, (int)calls.size());
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    for (size_t i = 0; i < calls.size(); i++) {
        const call &c = device[i];
        const int64_t off = llabs(order_of(c.found, c.single) - order_of(c.result, c.single));

        if (c.found != c.result && !(isnan(c.found) && isnan(c.result)) && !(off <= c.most)) {
            printf("%s%s(%a, %a, %a, %a): %a, not %a: %lld units\n", c.function >= 0 ? functions[c.function].name : "several ",
                   c.single ? "f" : "", c.x, c.y, c.z, c.w, c.found, c.result, (long long)off);
            wrong++;
        }
    }
    printf(wrong == 0 ? "all right\n" : "%d wrong results of %zu\n", wrong, calls.size());
    return wrong != 0;
}
