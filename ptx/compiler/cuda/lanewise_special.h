/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematical functions of CUDA that libclc lacks or that need a better formula: norms, reciprocal roots, the normal
 * distribution, inverse error functions. Their errors are within the bounds of CUDA's documentation, in units in the last
 * place. A float function computes in double and rounds once. clang may contract no operation here, because several formulas
 * compute the rounding error of an operation. */
#ifndef LANEWISE_SPECIAL_H
#define LANEWISE_SPECIAL_H

#define LW_EXACT _Pragma("clang fp contract(off)")

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

/** Sum of squares in units of 4^exponent, as a sum of two doubles. An infinite element makes it infinite, even next to a NaN. */
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

/* ---- error functions and the normal distribution ------------------------------------------------- */

/* exp(x x) erfc(x). For large x it is the asymptotic series 1/(x sqrt(pi)) (1 - 1/(2xx) + 1*3/(2xx)^2 - 1*3*5/(2xx)^3 ...). */
LW_FN double erfcx(double x)
{
    LW_EXACT
    const double square = x * x;

    if (x < 10) {
        const double power = exp(square), exact = __nvvm_fma_rn_d(power, __nvvm_fma_rn_d(x, x, -square), power);

        if (x > -6)
            return exact * erfc(x);
        return power < __builtin_inf() ? 2 * exact : power; /* erfc(x) is 2 */
    }
    double sum = 1;

    for (int k = 13; k != 0; k--)
        sum = 1 - sum * (2 * k - 1) * (0.5 / square);
    return 0.56418958354775629 / x * sum;
}
LW_FN float erfcxf(float x) { return (float)erfcx((double)x); }

/* erfc(t) / 2 at t = -x / sqrt(2). The low part of t is needed, because erfc's derivative is large: relative to erfc, 2 t. */
LW_FN double normcdf(double x)
{
    LW_EXACT
    const double t = -0.70710678118654757 * x, low = __nvvm_fma_rn_d(-0.70710678118654757, x, -t) + 4.833646656726457e-17 * x;

    if (x > 39 || x < -39)
        return x > 0 ? 1 : 0;
    return 0.5 * (erfc(t) - 1.1283791670955126 * low * exp(-t * t));
}
LW_FN float normcdff(float x) { return (float)normcdf((double)x); }

/* The solution y of erf(y) = x for |x| <= 0.5. The first value is the Taylor series. Then follow two steps of Halley's method,
 * whose error is the third power of the error before. */
LW_FN double lw_erfinv_middle(double x)
{
    LW_EXACT
    const double square = x * x;
    double y = x * (0.88622692545275801 + square * (0.23201366653465449 + square * (0.12755617530559793 + square * 0.086552129241547354)));

    if (!(square > 1e-18)) /* one term of the series is enough */
        return x * 0.88622692545275801;
    for (int i = 0; i < 2; i++) {
        const double off = (erf(y) - x) * 0.88622692545275801 * exp(y * y);

        y -= off / (1 + y * off);
    }
    return y;
}
/* The solution y of erfc(y) = q for 0 < q < 0.5. Newton's method is applied to log(erfc(y)), which is nearly a parabola: its
 * derivative is -2 / (sqrt(pi) erfcx(y)). The first value solves Winitzki's approximation of erf. The last step computes the
 * residual without logarithm, which has a smaller error, unless erfc(y) may be subnormal. */
LW_FN double lw_erfcinv_small(double q)
{
    LW_EXACT
    const double a = 0.147, log_q = log(q), sum = log_q + log(2 - q), w = 2 / (3.1415926535897931 * a) + 0.5 * sum;
    double y = sqrt(sqrt(w * w - sum / a) - w);

    for (int i = 0; i < 3; i++) {
        const double scaled = erfcx(y);

        y += (i == 2 && q > 1e-100 ? (erfc(y) - q) / q : log(scaled) - y * y - log_q) * scaled * 0.88622692545275801;
    }
    return y;
}
/* In both functions the differences are exact. */
LW_FN double erfcinv(double x)
{
    if (!(x > 0 && x < 2))
        return x == 0 ? __builtin_inf() : x == 2 ? -__builtin_inf() : __builtin_nan("");
    if (x < 0.5)
        return lw_erfcinv_small(x);
    return x > 1.5 ? -lw_erfcinv_small(2 - x) : lw_erfinv_middle(1 - x);
}
LW_FN double erfinv(double x)
{
    const double off = 1 - __builtin_fabs(x);

    if (!(off > 0))
        return off == 0 ? copysign(__builtin_inf(), x) : __builtin_nan("");
    return off >= 0.5 ? lw_erfinv_middle(x) : copysign(lw_erfcinv_small(off), x);
}
LW_FN float erfinvf(float x) { return (float)erfinv((double)x); }
LW_FN float erfcinvf(float x) { return (float)erfcinv((double)x); }
LW_FN double normcdfinv(double x) { return 0.0 - 1.4142135623730951 * erfcinv(2 * x); }
LW_FN float normcdfinvf(float x) { return (float)normcdfinv((double)x); }
LW_FN float erfcx(float x) { return erfcxf(x); }
LW_FN float erfinv(float x) { return erfinvf(x); }
LW_FN float erfcinv(float x) { return erfcinvf(x); }
LW_FN float normcdf(float x) { return normcdff(x); }
LW_FN float normcdfinv(float x) { return normcdfinvf(x); }

#undef LW_EXACT
#endif
