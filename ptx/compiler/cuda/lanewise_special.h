/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematical functions of CUDA that libclc lacks or that need a better formula: norms, reciprocal roots, the normal
 * distribution, inverse error functions. Their errors are within the bounds of CUDA's documentation, in units in the last
 * place. A float function computes in double and rounds once. clang may contract no operation here, because several formulas
 * compute the rounding error of an operation. */
#ifndef LANEWISE_SPECIAL_H
#define LANEWISE_SPECIAL_H

/* libclc's functions return the exponent of NaN as INT_MAX, CUDA's as INT_MIN. */
LW_FN int ilogb(double x)
{
    int n;

    if (!(x < 0 || x > 0))
        return -2147483647 - 1;
    if (isinf(x))
        return 2147483647;
    (void)frexp(x, &n);
    return n - 1;
}
LW_FN int ilogb(float x) { return ilogb((double)x); }
LW_FN int ilogbf(float x) { return ilogb((double)x); }

/* For large x, exp(x) / 2 is exp(x - log(2)), which is infinite only if the result is. The difference to the upper bits of log(2)
 * is exact. */
LW_FN double cosh(double x)
{
    LW_EXACT
    const double size = __builtin_fabs(x), power = exp(size < 709 ? size : size - 0x1.62e42fefap-1);

    if (size < 709)
        return 0.5 * power + 0.5 / power;
    return power < __builtin_inf() ? __nvvm_fma_rn_d(power, -0x1.cf79abc9e3b3ap-40, power) : power;
}

/* ---- roots and norms ---------------------------------------------------------------------------- */

/* One step of Newton's method removes the rounding errors of root and quotient. The residual 1 - x q q is exact to 106 bits. */
LW_FN double rsqrt(double x)
{
    LW_EXACT
    const double q = 1.0 / __nvvm_sqrt_rn_d(x), xq = x * q, rest = __nvvm_fma_rn_d(x, q, -xq);

    return q > 0 && q < __builtin_inf() ? q + 0.5 * q * (__nvvm_fma_rn_d(-xq, q, 1.0) - rest * q) : q;
}
LW_FN double rcbrt(double x)
{
    LW_EXACT
    const double q = 1.0 / cbrt(x), qq = q * q, qq_rest = __nvvm_fma_rn_d(q, q, -qq);
    const double xqq = x * qq, xqq_rest = __nvvm_fma_rn_d(x, qq, -xqq) + x * qq_rest;

    return q != 0 && isfinite(q) ? q + q * (__nvvm_fma_rn_d(-xqq, q, 1.0) - xqq_rest * q) * (1.0 / 3) : q;
}
LW_FN float rcbrtf(float x) { return (float)(1.0 / cbrt((double)x)); }
LW_FN float rcbrt(float x) { return rcbrtf(x); }

/** Sum of squares in units of 4^exponent, as a sum of two doubles. An infinite element makes it infinite, even if another element is
 *  a NaN. */
struct lw_squares {
    double most, sum, rest;
    int exponent;
};
LW_FN void lw_see(struct lw_squares &s, double x)
{
    s.most = isinf(x) || (isfinite(s.most) && !(__builtin_fabs(x) <= s.most)) ? __builtin_fabs(x) : s.most;
}
LW_FN void lw_add(struct lw_squares &s, double x)
{
    LW_EXACT
    const double scaled = ldexp(x, -s.exponent), square = scaled * scaled, sum = s.sum + square, part = sum - s.sum;

    s.rest += __nvvm_fma_rn_d(scaled, scaled, -square) + ((s.sum - (sum - part)) + (square - part));
    s.sum = sum;
}
LW_FN double lw_root(const struct lw_squares &s)
{
    LW_EXACT
    const double r = __nvvm_sqrt_rn_d(s.sum);

    if (!(s.most > 0 && s.most < __builtin_inf()))
        return s.most;
    return ldexp(r + (__nvvm_fma_rn_d(-r, r, s.sum) + s.rest) / (2 * r), s.exponent);
}
LW_FN double lw_reciprocal_root(const struct lw_squares &s)
{
    LW_EXACT
    const double q = 1.0 / __nvvm_sqrt_rn_d(s.sum), qq = q * q, qq_rest = __nvvm_fma_rn_d(q, q, -qq);

    if (!(s.most > 0 && s.most < __builtin_inf()))
        return 1.0 / s.most;
    return ldexp(q + 0.5 * q * (__nvvm_fma_rn_d(-qq, s.sum, 1.0) - qq_rest * s.sum - qq * s.rest), -s.exponent);
}
template <class T> LW_FN struct lw_squares lw_squares_of(int n, const T *p)
{
    struct lw_squares s = {0, 0, 0, 0};

    for (int i = 0; i < n; i++)
        lw_see(s, p[i]);
    if (s.most > 0 && s.most < __builtin_inf()) {
        s.exponent = ilogb(s.most);
        for (int i = 0; i < n; i++)
            lw_add(s, p[i]);
    }
    return s;
}
LW_FN double norm(int n, const double *p) { return lw_root(lw_squares_of(n, p)); }
LW_FN double rnorm(int n, const double *p) { return lw_reciprocal_root(lw_squares_of(n, p)); }
LW_FN double rhypot(double x, double y)
{
    const double p[2] = {x, y};

    return rnorm(2, p);
}
LW_FN double norm3d(double x, double y, double z)
{
    const double p[3] = {x, y, z};

    return norm(3, p);
}
LW_FN double rnorm3d(double x, double y, double z)
{
    const double p[3] = {x, y, z};

    return rnorm(3, p);
}
LW_FN double norm4d(double x, double y, double z, double w)
{
    const double p[4] = {x, y, z, w};

    return norm(4, p);
}
LW_FN double rnorm4d(double x, double y, double z, double w)
{
    const double p[4] = {x, y, z, w};

    return rnorm(4, p);
}
/* The square of a float fits a double. */
LW_FN double lw_sum(float x, float y, float z, float w)
{
    const double sum = (double)x * x + (double)y * y + (double)z * z + (double)w * w;

    return isinf(x) || isinf(y) || isinf(z) || isinf(w) ? __builtin_inf() : sum;
}
LW_FN float rhypotf(float x, float y) { return (float)(1.0 / __nvvm_sqrt_rn_d(lw_sum(x, y, 0, 0))); }
LW_FN float norm3df(float x, float y, float z) { return (float)__nvvm_sqrt_rn_d(lw_sum(x, y, z, 0)); }
LW_FN float rnorm3df(float x, float y, float z) { return (float)(1.0 / __nvvm_sqrt_rn_d(lw_sum(x, y, z, 0))); }
LW_FN float norm4df(float x, float y, float z, float w) { return (float)__nvvm_sqrt_rn_d(lw_sum(x, y, z, w)); }
LW_FN float rnorm4df(float x, float y, float z, float w) { return (float)(1.0 / __nvvm_sqrt_rn_d(lw_sum(x, y, z, w))); }
LW_FN double lw_sum_of(int n, const float *p)
{
    double sum = 0;
    bool infinite = false;

    for (int i = 0; i < n; i++) {
        infinite = infinite || isinf(p[i]);
        sum += (double)p[i] * p[i];
    }
    return infinite ? __builtin_inf() : sum;
}
LW_FN float normf(int n, const float *p) { return (float)__nvvm_sqrt_rn_d(lw_sum_of(n, p)); }
LW_FN float rnormf(int n, const float *p) { return (float)(1.0 / __nvvm_sqrt_rn_d(lw_sum_of(n, p))); }

/* Modified Bessel functions of order 0 and 1: the power series with a sum of two doubles, because its errors add up, and for large
 * x the asymptotic series. exp(x) is the square of exp(x / 2), which is finite if the result is. */
template <int Order> LW_FN double lw_bessel_i(double x)
{
    LW_EXACT
    const double size = __builtin_fabs(x), square = size * size, square_rest = __nvvm_fma_rn_d(size, size, -square);
    double sum = 1, rest = 0;

    if (size < 20) {
        for (int k = size < 2 ? 14 : 60; k != 0; k--) {
            const double product = square * sum, count = 4 * k * (k + Order), term = product / count;
            const double low = __nvvm_fma_rn_d(square, sum, -product) + square * rest + square_rest * sum;

            rest = (__nvvm_fma_rn_d(-term, count, product) + low) / count;
            sum = 1 + term;
            rest += (1 - (sum - (sum - 1))) + (term - (sum - 1));
        }
        return Order == 0 ? sum + rest : 0.5 * x * (sum + rest);
    }
    if (!(size < __builtin_inf()))
        return Order == 0 ? x * x : x;
    for (int k = 30; k != 0; k--)
        sum = 1 + sum * (((2 * k - 1) * (2 * k - 1) - 4 * Order) / (8.0 * k)) / size;
    const double power = exp(0.5 * size);

    return (Order == 0 || x > 0 ? power : -power) * (0.3989422804014327 * sum / __nvvm_sqrt_rn_d(size)) * power;
}
LW_FN double cyl_bessel_i0(double x) { return lw_bessel_i<0>(x); }
LW_FN double cyl_bessel_i1(double x) { return lw_bessel_i<1>(x); }
LW_FN float cyl_bessel_i0f(float x) { return (float)lw_bessel_i<0>(x); }
LW_FN float cyl_bessel_i1f(float x) { return (float)lw_bessel_i<1>(x); }

#define LW_SIDE LW_FN
#define LW_CALL(F) F
#include "lanewise_erf.h"
#undef LW_SIDE
#undef LW_CALL

#endif
