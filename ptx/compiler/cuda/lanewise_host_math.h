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
/* The difference to the nearest multiple of 2, and to that of 1, is exact. */
LW_HOST double sinpi(double x)
{
    const double r = x - 2 * __builtin_rint(0.5 * x), s = r > 0.5 ? 1 - r : r < -0.5 ? -1 - r : r;

    return __builtin_fabs(s) > 0.25 ? __builtin_copysign(__builtin_cos(3.1415926535897931 * (0.5 - __builtin_fabs(s))), s)
                                    : __builtin_sin(3.1415926535897931 * s);
}
LW_HOST double cospi(double x)
{
    const double r = __builtin_fabs(x - 2 * __builtin_rint(0.5 * x));

    return r < 0.25 ? __builtin_cos(3.1415926535897931 * r) : r > 0.75 ? -__builtin_cos(3.1415926535897931 * (1 - r))
                                                                      : __builtin_sin(3.1415926535897931 * (0.5 - r));
}
LW_HOST float sinpif(float x) { return (float)sinpi((double)x); }
LW_HOST float cospif(float x) { return (float)cospi((double)x); }
#define LW_SIDE LW_HOST
#define LW_CALL(F) __builtin_##F
#include "lanewise_erf.h"
#undef LW_SIDE
#undef LW_CALL
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
