/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematical functions that CUDA provides in host code, too, and that the C library lacks. */
#ifndef LANEWISE_HOST_MATH_H
#define LANEWISE_HOST_MATH_H
#define LW_HOST static __inline__ __attribute__((nodebug, unused))
LW_HOST float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
LW_HOST double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
LW_HOST float rsqrt(float x) { return rsqrtf(x); }
LW_HOST float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
LW_HOST double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
LW_HOST float sinpif(float x) { return __builtin_sinf(3.14159274f * x); }
LW_HOST double sinpi(double x) { return __builtin_sin(3.14159265358979312 * x); }
LW_HOST float cospif(float x) { return __builtin_cosf(3.14159274f * x); }
LW_HOST double cospi(double x) { return __builtin_cos(3.14159265358979312 * x); }
LW_HOST float normcdff(float x) { return 0.5f * __builtin_erfcf(-0.707106781f * x); }
LW_HOST double normcdf(double x) { return 0.5 * __builtin_erfc(-0.70710678118654757 * x); }
#undef LW_HOST
/* Returns a * b + c. The product of values of 24 bits is exact. If the sum is inexact, its last bit becomes 1, so that the
 * caller's rounding to fewer bits is correct. */
LW_HD double lw_fma_odd(float a, float b, float c)
{
    const double product = (double)a * b, sum = product + c, back = sum - product;
    const double rest = (product - (sum - back)) + (c - back);
    unsigned long long u = __builtin_bit_cast(unsigned long long, sum);

    if (rest == rest && rest != 0.0 && (u & 1) == 0)
        u += (rest > 0.0) == (sum > 0.0) ? 1 : -1ull;
    return __builtin_bit_cast(double, u);
}
#endif
