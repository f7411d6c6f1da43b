/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematical functions of CUDA. If libclc has a function, that one is used: C++ mangles `float sin(float)` as OpenCL does.
 * Functions that are one instruction in PTX are compiled to that instruction. */
#ifndef LANEWISE_MATH_H
#define LANEWISE_MATH_H

/* Names of functions of libclc, which are declared in a separate scope below as NAME(float) and NAME(double). */
#define LW_CLC1(F) __device__ float F(float x); __device__ double F(double x);
#define LW_CLC2(F) __device__ float F(float x, float y); __device__ double F(double x, double y);
LW_CLC1(acos) LW_CLC1(acosh) LW_CLC1(acospi) LW_CLC1(asin) LW_CLC1(asinh) LW_CLC1(asinpi)
LW_CLC1(atan) LW_CLC1(atanh) LW_CLC1(cbrt) LW_CLC1(cos)
LW_CLC1(erf) LW_CLC1(erfc) LW_CLC1(exp) LW_CLC1(exp2) LW_CLC1(exp10) LW_CLC1(expm1)
LW_CLC1(lgamma) LW_CLC1(log) LW_CLC1(log2) LW_CLC1(log10) LW_CLC1(log1p) LW_CLC1(logb)
LW_CLC1(sin) LW_CLC1(sinh) LW_CLC1(tan) LW_CLC1(tanh) LW_CLC1(tgamma)
LW_CLC1(round)
LW_CLC2(atan2) LW_CLC2(fdim) LW_CLC2(fmod) LW_CLC2(hypot) LW_CLC2(nextafter) LW_CLC2(pow)
LW_CLC2(remainder)
__device__ float ldexp(float x, int n);
__device__ double ldexp(double x, int n);
__device__ float cosh(float x);
__device__ double cospi(double x);
__device__ double sinpi(double x);
#undef LW_CLC1
#undef LW_CLC2

#define LW_F1(F) LW_FN float F##f(float x) { return F(x); }
#define LW_F2(F) LW_FN float F##f(float x, float y) { return F(x, y); }
LW_F1(acos) LW_F1(acosh) LW_F1(asin) LW_F1(asinh) LW_F1(atan) LW_F1(atanh) LW_F1(cbrt) LW_F1(cos)
LW_F1(cosh) LW_F1(erf) LW_F1(erfc) LW_F1(exp) LW_F1(exp2) LW_F1(exp10) LW_F1(expm1)
LW_F1(lgamma) LW_F1(log) LW_F1(log2) LW_F1(log10) LW_F1(log1p) LW_F1(logb) LW_F1(sin) LW_F1(sinh)
LW_F1(tan) LW_F1(tanh) LW_F1(tgamma) LW_F1(round)
LW_F2(atan2) LW_F2(fdim) LW_F2(fmod) LW_F2(hypot) LW_F2(nextafter) LW_F2(pow) LW_F2(remainder)
#undef LW_F1
#undef LW_F2
LW_FN float ldexpf(float x, int n) { return ldexp(x, n); }
LW_FN float scalbnf(float x, int n) { return ldexp(x, n); }
LW_FN double scalbn(double x, int n) { return ldexp(x, n); }
LW_FN float scalbn(float x, int n) { return ldexp(x, n); }
LW_FN float scalblnf(float x, long n) { return ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : (int)n); }
LW_FN double scalbln(double x, long n) { return ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : (int)n); }

/* Functions that are one instruction. */
#define LW_BUILTIN1(F)                                                                            \
    LW_FN float F##f(float x) { return __builtin_##F##f(x); }                                     \
    LW_FN float F(float x) { return __builtin_##F##f(x); }                                        \
    LW_FN double F(double x) { return __builtin_##F(x); }
#define LW_BUILTIN2(F)                                                                            \
    LW_FN float F##f(float x, float y) { return __builtin_##F##f(x, y); }                         \
    LW_FN float F(float x, float y) { return __builtin_##F##f(x, y); }                            \
    LW_FN double F(double x, double y) { return __builtin_##F(x, y); }
LW_BUILTIN1(ceil) LW_BUILTIN1(floor) LW_BUILTIN1(trunc) LW_BUILTIN1(rint) LW_BUILTIN1(nearbyint)
LW_BUILTIN1(fabs)
LW_BUILTIN2(copysign) LW_BUILTIN2(fmin) LW_BUILTIN2(fmax)
#undef LW_BUILTIN1
#undef LW_BUILTIN2
LW_FN float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
LW_FN float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
LW_FN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
LW_FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
LW_FN float rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
LW_FN float fmaf(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
LW_FN float fma(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
LW_FN double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
LW_FN float fdividef(float x, float y) { return x / y; }
LW_FN float fdivide(float x, float y) { return x / y; }
LW_FN double fdivide(double x, double y) { return x / y; }

/* Reinterpretation of bits. */
LW_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
LW_FN unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
LW_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
LW_FN float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
LW_FN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
LW_FN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
LW_FN int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
LW_FN int __double2loint(double x) { return (int)__double_as_longlong(x); }
LW_FN double __hiloint2double(int hi, int lo)
{
    return __longlong_as_double((long long)((unsigned long long)(unsigned int)hi << 32 |
                                            (unsigned int)lo));
}

/* Classification of floats. libstdc++ declares functions of the same names later, and these remain host functions. */
LW_FN bool signbit(float x) { return __float_as_int(x) < 0; }
LW_FN bool signbit(double x) { return __double_as_longlong(x) < 0; }
LW_FN int __signbitf(float x) { return __float_as_int(x) < 0; }
LW_FN int __signbitd(double x) { return __double_as_longlong(x) < 0; }
LW_FN int __signbit(double x) { return __double_as_longlong(x) < 0; }
LW_FN bool isnan(float x) { return x != x; }
LW_FN bool isnan(double x) { return x != x; }
LW_FN bool isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
LW_FN bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
LW_FN bool isfinite(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
LW_FN bool isfinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }
LW_FN bool isnormal(float x)
{
    return isfinite(x) && __builtin_fabsf(x) >= 1.17549435e-38f;
}
LW_FN bool isnormal(double x)
{
    return isfinite(x) && __builtin_fabs(x) >= 2.2250738585072014e-308;
}
LW_FN int __isnanf(float x) { return isnan(x); }
LW_FN int __isnan(double x) { return isnan(x); }
LW_FN int __isinff(float x) { return isinf(x); }
LW_FN int __isinf(double x) { return isinf(x); }
LW_FN int __finitef(float x) { return isfinite(x); }
LW_FN int __finite(double x) { return isfinite(x); }
LW_FN float nanf(const char *) { return __builtin_nanf(""); }
LW_FN double nan(const char *) { return __builtin_nan(""); }

/* Rounding to integers. lround rounds halfway cases away from zero. */
LW_FN int __float2int_rn(float x) { return __nvvm_f2i_rn(x); }
LW_FN long long __float2ll_rn(float x) { return __nvvm_f2ll_rn(x); }
LW_FN long long __double2ll_rn(double x) { return __nvvm_d2ll_rn(x); }
LW_FN long lrintf(float x) { return __nvvm_f2ll_rn(x); }
LW_FN long lrint(float x) { return __nvvm_f2ll_rn(x); }
LW_FN long lrint(double x) { return __nvvm_d2ll_rn(x); }
LW_FN long long llrintf(float x) { return __nvvm_f2ll_rn(x); }
LW_FN long long llrint(float x) { return __nvvm_f2ll_rn(x); }
LW_FN long long llrint(double x) { return __nvvm_d2ll_rn(x); }
LW_FN long lroundf(float x) { return __nvvm_f2ll_rz(round(x)); }
LW_FN long lround(float x) { return __nvvm_f2ll_rz(round(x)); }
LW_FN long lround(double x) { return __nvvm_d2ll_rz(round(x)); }
LW_FN long long llroundf(float x) { return __nvvm_f2ll_rz(round(x)); }
LW_FN long long llround(float x) { return __nvvm_f2ll_rz(round(x)); }
LW_FN long long llround(double x) { return __nvvm_d2ll_rz(round(x)); }

/* Functions with two results. */
LW_FN void sincosf(float x, float *s, float *c) { *s = sin(x); *c = cos(x); }
LW_FN void sincos(float x, float *s, float *c) { *s = sin(x); *c = cos(x); }
LW_FN void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
LW_FN float sinpif(float x) { return (float)sinpi((double)x); }
LW_FN float cospif(float x) { return (float)cospi((double)x); }
LW_FN float sinpi(float x) { return sinpif(x); }
LW_FN float cospi(float x) { return cospif(x); }
LW_FN void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
LW_FN void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
LW_FN void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }
LW_FN float modff(float x, float *whole)
{
    *whole = __builtin_truncf(x);
    return copysign(isinf(x) ? 0.0f : x - *whole, x);
}
LW_FN float modf(float x, float *whole) { return modff(x, whole); }
LW_FN double modf(double x, double *whole)
{
    *whole = __builtin_trunc(x);
    return copysign(isinf(x) ? 0.0 : x - *whole, x);
}
LW_FN float frexpf(float x, int *n)
{
    float scaled = isnormal(x) ? x : x * 0x1p25f;
    int e = (int)(__float_as_uint(scaled) >> 23 & 0xff);

    if (x == 0 || !isfinite(x)) {
        *n = 0;
        return x;
    }
    *n = e - 126 - (isnormal(x) ? 0 : 25);
    return __uint_as_float((__float_as_uint(scaled) & 0x807fffffu) | 0x3f000000u);
}
LW_FN float frexp(float x, int *n) { return frexpf(x, n); }
LW_FN double frexp(double x, int *n)
{
    double scaled = isnormal(x) ? x : x * 0x1p54;
    int e = __double2hiint(scaled) >> 20 & 0x7ff;

    if (x == 0 || !isfinite(x)) {
        *n = 0;
        return x;
    }
    *n = e - 1022 - (isnormal(x) ? 0 : 54);
    return __hiloint2double((__double2hiint(scaled) & (int)0x800fffff) | 0x3fe00000,
                            __double2loint(scaled));
}
/* 8 |y| may be infinite: then |x| < 8 |y|. */
LW_FN double remquo(double x, double y, int *quotient)
{
    const double ay = __builtin_fabs(y);
    double rest = fmod(__builtin_fabs(x), 8 * ay);
    int bits = 0;

    for (int bit = 4; bit != 1; bit /= 2)
        if (rest >= bit * ay) {
            rest -= bit * ay;
            bits += bit;
        }
    for (int i = 0; i < 2; i++) /* the nearest multiple of y, or of two that are as near the even one */
        if (rest > ay - rest || (rest == ay - rest && (bits & 1) != 0)) {
            rest -= ay;
            bits++;
        }
    *quotient = signbit(x) != signbit(y) ? -(bits & 7) : bits & 7;
    return signbit(x) ? -rest : rest;
}
LW_FN float remquof(float x, float y, int *quotient)
{
    return (float)remquo((double)x, (double)y, quotient);
}
LW_FN float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }

#include "lanewise_special.h"

/* Bessel functions of the first and second kind are not supported. A kernel that calls one is refused, and the message names the
 * function declared here. */
extern "C" __device__ double bessel_function_is_not_supported(double x);
#define LW_BESSEL(F)                                                                              \
    LW_FN double F(double x) { return bessel_function_is_not_supported(x); }                      \
    LW_FN float F##f(float x) { return (float)bessel_function_is_not_supported(x); }
LW_BESSEL(j0) LW_BESSEL(j1) LW_BESSEL(y0) LW_BESSEL(y1)
LW_FN double jn(int, double x) { return bessel_function_is_not_supported(x); }
LW_FN float jnf(int, float x) { return (float)bessel_function_is_not_supported(x); }
LW_FN double yn(int, double x) { return bessel_function_is_not_supported(x); }
LW_FN float ynf(int, float x) { return (float)bessel_function_is_not_supported(x); }
#undef LW_BESSEL

/* Approximations, which consist of one or a few approximate instructions of PTX. */
LW_FN float __sinf(float x) { return __nvvm_sin_approx_f(x); }
LW_FN float __cosf(float x) { return __nvvm_cos_approx_f(x); }
LW_FN float __tanf(float x) { return __nvvm_sin_approx_f(x) / __nvvm_cos_approx_f(x); }
LW_FN void __sincosf(float x, float *s, float *c) { *s = __sinf(x); *c = __cosf(x); }
LW_FN float __expf(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
LW_FN float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 0x1.a934f0p+1f); }
LW_FN float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
LW_FN float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0x1.62e430p-1f; }
LW_FN float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0x1.344136p-2f; }
LW_FN float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
LW_FN float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
LW_FN float __frsqrt_rn(float x) { return __nvvm_rsqrt_approx_f(x); }
LW_FN float __saturatef(float x) { return __nvvm_saturate_f(x); }
LW_FN float __tanhf(float x) { return tanh(x); }

/* Arithmetic with explicit rounding, which clang never contracts to fma. The functions are inline assembly, because clang
 * compiles the intrinsics of rn and rz to plain operations, which clang may contract or round in another way. */
#define LW_ASM2(F, T, K, OP)                                                                      \
    LW_FN T F(T x, T y) { T r; __asm__(OP " %0, %1, %2;" : "=" K(r) : K(x), K(y)); return r; }
#define LW_ROUNDED(C, R)                                                                             \
    LW_ASM2(__fadd_##C, float, "f", "add." #R ".f32")                                             \
    LW_ASM2(__fsub_##C, float, "f", "sub." #R ".f32")                                             \
    LW_ASM2(__fmul_##C, float, "f", "mul." #R ".f32")                                             \
    LW_FN float __fdiv_##C(float x, float y) { return __nvvm_div_##R##_f(x, y); }                 \
    LW_FN float __frcp_##C(float x) { return __nvvm_rcp_##R##_f(x); }                             \
    LW_FN float __fsqrt_##C(float x) { return __nvvm_sqrt_##R##_f(x); }                           \
    LW_FN float __fmaf_##C(float x, float y, float z) { return __nvvm_fma_##R##_f(x, y, z); }     \
    LW_ASM2(__dadd_##C, double, "d", "add." #R ".f64")                                            \
    LW_ASM2(__dsub_##C, double, "d", "sub." #R ".f64")                                            \
    LW_ASM2(__dmul_##C, double, "d", "mul." #R ".f64")                                            \
    LW_FN double __ddiv_##C(double x, double y) { return __nvvm_div_##R##_d(x, y); }              \
    LW_FN double __drcp_##C(double x) { return __nvvm_rcp_##R##_d(x); }                           \
    LW_FN double __dsqrt_##C(double x) { return __nvvm_sqrt_##R##_d(x); }                         \
    LW_FN double __fma_##C(double x, double y, double z) { return __nvvm_fma_##R##_d(x, y, z); }
LW_ROUNDED(rn, rn) LW_ROUNDED(rz, rz) LW_ROUNDED(ru, rp) LW_ROUNDED(rd, rm)
#undef LW_ROUNDED
#define LW_IEEE(C) LW_FN float __fmaf_ieee_##C(float x, float y, float z) { return __fmaf_##C(x, y, z); }
LW_IEEE(rn) LW_IEEE(rz) LW_IEEE(ru) LW_IEEE(rd)
#undef LW_IEEE
#undef LW_ASM2

/* Conversions with explicit rounding. */
#define LW_ASM1(F, T, K, FROM, FROM_K, OP)                                                        \
    LW_FN T F(FROM x) { T r; __asm__(OP " %0, %1;" : "=" K(r) : FROM_K(x)); return r; }
#define LW_CONVERT(C, R)                                                                          \
    LW_ASM1(__float2uint_##C, unsigned int, "r", float, "f", "cvt." #R "i.u32.f32")               \
    LW_ASM1(__float2ull_##C, unsigned long long, "l", float, "f", "cvt." #R "i.u64.f32")          \
    LW_ASM1(__double2int_##C, int, "r", double, "d", "cvt." #R "i.s32.f64")                       \
    LW_ASM1(__double2uint_##C, unsigned int, "r", double, "d", "cvt." #R "i.u32.f64")             \
    LW_ASM1(__double2ull_##C, unsigned long long, "l", double, "d", "cvt." #R "i.u64.f64")        \
    LW_ASM1(__double2float_##C, float, "f", double, "d", "cvt." #R ".f32.f64")                    \
    LW_ASM1(__int2float_##C, float, "f", int, "r", "cvt." #R ".f32.s32")                          \
    LW_ASM1(__uint2float_##C, float, "f", unsigned int, "r", "cvt." #R ".f32.u32")                \
    LW_ASM1(__ll2float_##C, float, "f", long long, "l", "cvt." #R ".f32.s64")                     \
    LW_ASM1(__ull2float_##C, float, "f", unsigned long long, "l", "cvt." #R ".f32.u64")           \
    LW_ASM1(__ll2double_##C, double, "d", long long, "l", "cvt." #R ".f64.s64")                   \
    LW_ASM1(__ull2double_##C, double, "d", unsigned long long, "l", "cvt." #R ".f64.u64")
LW_CONVERT(rn, rn) LW_CONVERT(rz, rz) LW_CONVERT(ru, rp) LW_CONVERT(rd, rm)
#undef LW_CONVERT
#define LW_CONVERT(C, R)                                                                          \
    LW_ASM1(__float2int_##C, int, "r", float, "f", "cvt." #R "i.s32.f32")                         \
    LW_ASM1(__float2ll_##C, long long, "l", float, "f", "cvt." #R "i.s64.f32")                    \
    LW_ASM1(__double2ll_##C, long long, "l", double, "d", "cvt." #R "i.s64.f64")
LW_CONVERT(rz, rz) LW_CONVERT(ru, rp) LW_CONVERT(rd, rm)
#undef LW_CONVERT
#undef LW_ASM1
LW_FN double __int2double_rn(int x) { return x; }
LW_FN double __uint2double_rn(unsigned int x) { return x; }

/* Integers. */
LW_FN int abs(int x) { return x < 0 ? (int)(0u - (unsigned int)x) : x; }
LW_FN long abs(long x) { return x < 0 ? (long)(0ul - (unsigned long)x) : x; }
LW_FN long long abs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
LW_FN float abs(float x) { return __builtin_fabsf(x); }
LW_FN double abs(double x) { return __builtin_fabs(x); }
LW_FN long labs(long x) { return abs(x); }
LW_FN long long llabs(long long x) { return abs(x); }
#define LW_LESSER(T) LW_HD T min(T x, T y) { return x < y ? x : y; } \
    LW_HD T max(T x, T y) { return x < y ? y : x; }
LW_LESSER(int) LW_LESSER(unsigned int) LW_LESSER(long) LW_LESSER(unsigned long)
LW_LESSER(long long) LW_LESSER(unsigned long long)
#undef LW_LESSER
LW_HD float min(float x, float y) { return __builtin_fminf(x, y); }
LW_HD float max(float x, float y) { return __builtin_fmaxf(x, y); }
LW_HD double min(double x, double y) { return __builtin_fmin(x, y); }
LW_HD double max(double x, double y) { return __builtin_fmax(x, y); }
/* min and max of operands of two different types, which are converted to one type as in CUDA. */
LW_HD unsigned int min(unsigned int x, int y) { return min(x, (unsigned int)y); }
LW_HD unsigned int min(int x, unsigned int y) { return min((unsigned int)x, y); }
LW_HD unsigned int max(unsigned int x, int y) { return max(x, (unsigned int)y); }
LW_HD unsigned int max(int x, unsigned int y) { return max((unsigned int)x, y); }
LW_HD unsigned long long min(unsigned long long x, long long y) { return min(x, (unsigned long long)y); }
LW_HD unsigned long long min(long long x, unsigned long long y) { return min((unsigned long long)x, y); }
LW_HD unsigned long long max(unsigned long long x, long long y) { return max(x, (unsigned long long)y); }
LW_HD unsigned long long max(long long x, unsigned long long y) { return max((unsigned long long)x, y); }
LW_HD unsigned long min(unsigned long x, long y) { return min(x, (unsigned long)y); }
LW_HD unsigned long min(long x, unsigned long y) { return min((unsigned long)x, y); }
LW_HD unsigned long max(unsigned long x, long y) { return max(x, (unsigned long)y); }
LW_HD unsigned long max(long x, unsigned long y) { return max((unsigned long)x, y); }
LW_HD double min(float x, double y) { return min((double)x, y); }
LW_HD double min(double x, float y) { return min(x, (double)y); }
LW_HD double max(float x, double y) { return max((double)x, y); }
LW_HD double max(double x, float y) { return max(x, (double)y); }
LW_FN unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
LW_FN unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
LW_FN long long llmin(long long x, long long y) { return min(x, y); }
LW_FN long long llmax(long long x, long long y) { return max(x, y); }
LW_FN unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
LW_FN unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }

/* Operands of integer types become double, and so do operands of two different types, as in the standard's <cmath>. These
 * functions are templates, so that a program may define its own log2(int). */
template <bool, class R> struct lw_if {};
template <class R> struct lw_if<true, R> { typedef R type; };
template <class T> struct lw_number { static constexpr bool value = __is_integral(T); };
template <> struct lw_number<float> { static constexpr bool value = true; };
template <> struct lw_number<double> { static constexpr bool value = true; };
template <class T, class R> struct lw_of_integer : lw_if<__is_integral(T), R> {};
/* The result @R of a function for numbers that are not all of type float, nor all of type double. */
template <class R, class T, class U, class V = U> struct lw_of_mixed
    : lw_if<lw_number<T>::value && lw_number<U>::value && lw_number<V>::value &&
            !(__is_same(T, U) && __is_same(U, V) && !__is_integral(T)), R> {};
#define LW_INTEGER(F, R) \
    template <class T> LW_FN typename lw_of_integer<T, R>::type F(T x) { return F((double)x); }
#define LW_INTEGER_AND(F, R, A) \
    template <class T> LW_FN typename lw_of_integer<T, R>::type F(T x, A a) { return F((double)x, a); }
#define LW_MIXED(F) \
    template <class T, class U> LW_FN typename lw_of_mixed<double, T, U>::type F(T x, U y) { return F((double)x, (double)y); }
LW_INTEGER(acos, double) LW_INTEGER(acosh, double) LW_INTEGER(asin, double) LW_INTEGER(asinh, double)
LW_INTEGER(atan, double) LW_INTEGER(atanh, double) LW_INTEGER(cbrt, double) LW_INTEGER(ceil, double)
LW_INTEGER(cos, double) LW_INTEGER(cosh, double) LW_INTEGER(erf, double) LW_INTEGER(erfc, double)
LW_INTEGER(exp, double) LW_INTEGER(exp2, double) LW_INTEGER(expm1, double) LW_INTEGER(fabs, double)
LW_INTEGER(floor, double) LW_INTEGER(lgamma, double) LW_INTEGER(log, double) LW_INTEGER(log10, double)
LW_INTEGER(log1p, double) LW_INTEGER(log2, double) LW_INTEGER(logb, double) LW_INTEGER(nearbyint, double)
LW_INTEGER(rint, double) LW_INTEGER(round, double) LW_INTEGER(sin, double) LW_INTEGER(sinh, double)
LW_INTEGER(sqrt, double) LW_INTEGER(tan, double) LW_INTEGER(tanh, double) LW_INTEGER(tgamma, double)
LW_INTEGER(trunc, double) LW_INTEGER(ilogb, int) LW_INTEGER(lrint, long) LW_INTEGER(lround, long)
LW_INTEGER(llrint, long long) LW_INTEGER(llround, long long) LW_INTEGER(signbit, bool) LW_INTEGER(isnan, bool)
LW_INTEGER(isinf, bool) LW_INTEGER(isfinite, bool) LW_INTEGER(isnormal, bool)
/* CUDA's own functions, whose headers have them for float, too. */
LW_INTEGER(exp10, double) LW_INTEGER(rsqrt, double) LW_INTEGER(rcbrt, double) LW_INTEGER(sinpi, double)
LW_INTEGER(cospi, double) LW_INTEGER(erfcx, double) LW_INTEGER(erfinv, double) LW_INTEGER(erfcinv, double)
LW_INTEGER(normcdf, double) LW_INTEGER(normcdfinv, double)
LW_INTEGER_AND(ldexp, double, int) LW_INTEGER_AND(scalbn, double, int) LW_INTEGER_AND(frexp, double, int *)
LW_MIXED(atan2) LW_MIXED(copysign) LW_MIXED(fdim) LW_MIXED(fmax) LW_MIXED(fmin) LW_MIXED(fmod) LW_MIXED(hypot)
LW_MIXED(nextafter) LW_MIXED(pow) LW_MIXED(remainder)
template <class T, class U, class V> LW_FN typename lw_of_mixed<double, T, U, V>::type fma(T x, U y, V z)
{
    return fma((double)x, (double)y, (double)z);
}
template <class T, class U> LW_FN typename lw_of_mixed<double, T, U>::type remquo(T x, U y, int *quotient)
{
    return remquo((double)x, (double)y, quotient);
}
#undef LW_INTEGER
#undef LW_INTEGER_AND
#undef LW_MIXED

#endif
