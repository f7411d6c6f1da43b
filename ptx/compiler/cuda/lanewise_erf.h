/* SPDX-License-Identifier: Apache-2.0 */
/* Error functions and the normal distribution, for kernels and for host code. Before the #include, LW_SIDE is defined as the
 * beginning of a function, and LW_CALL(F) as the name of the function F of the C library. */
/* exp(x x) erfc(x). For large x it is the asymptotic series 1/(x sqrt(pi)) (1 - 1/(2xx) + 1*3/(2xx)^2 - 1*3*5/(2xx)^3 ...). */
LW_SIDE double erfcx(double x)
{
    LW_EXACT
    const double square = x * x;

    if (x < 10) {
        const double power = LW_CALL(exp)(square), exact = __builtin_fma(power, __builtin_fma(x, x, -square), power);

        if (x > -6)
            return exact * LW_CALL(erfc)(x);
        return power < __builtin_inf() ? 2 * exact : power; /* erfc(x) is 2 */
    }
    double sum = 1;

    for (int k = 13; k != 0; k--)
        sum = 1 - sum * (2 * k - 1) * (0.5 / square);
    return 0.56418958354775629 / x * sum;
}
LW_SIDE float erfcxf(float x) { return (float)erfcx((double)x); }

/* erfc(t) / 2 at t = -x / sqrt(2). The low part of t is needed, because erfc's derivative is large: relative to erfc, 2 t. */
LW_SIDE double normcdf(double x)
{
    LW_EXACT
    const double t = -0.70710678118654757 * x, low = __builtin_fma(-0.70710678118654757, x, -t) + 4.833646656726457e-17 * x;

    if (x > 39 || x < -39)
        return x > 0 ? 1 : 0;
    return 0.5 * (LW_CALL(erfc)(t) - 1.1283791670955126 * low * LW_CALL(exp)(-t * t));
}
LW_SIDE float normcdff(float x) { return (float)normcdf((double)x); }

/* The solution y of erf(y) = x for |x| <= 0.5. The first value is the Taylor series. Then follow two steps of Halley's method,
 * whose error is the third power of the error before. */
LW_SIDE double lw_erfinv_middle(double x)
{
    LW_EXACT
    const double square = x * x;
    double y = x * (0.88622692545275801 +
                    square * (0.23201366653465449 + square * (0.12755617530559793 + square * 0.086552129241547354)));

    if (!(square > 1e-18)) /* one term of the series is enough */
        return x * 0.88622692545275801;
    for (int i = 0; i < 2; i++) {
        const double off = (LW_CALL(erf)(y) - x) * 0.88622692545275801 * LW_CALL(exp)(y * y);

        y -= off / (1 + y * off);
    }
    return y;
}
/* The solution y of erfc(y) = q for 0 < q < 0.5. Newton's method is applied to log(erfc(y)), which is nearly a parabola: its
 * derivative is -2 / (sqrt(pi) erfcx(y)). The first value solves Winitzki's approximation of erf. The last step computes the
 * residual without logarithm, which has a smaller error, unless erfc(y) may be subnormal. */
LW_SIDE double lw_erfcinv_small(double q)
{
    LW_EXACT
    const double a = 0.147, log_q = LW_CALL(log)(q), sum = log_q + LW_CALL(log)(2 - q), w = 2 / (3.1415926535897931 * a) + 0.5 * sum;
    double y = LW_CALL(sqrt)(LW_CALL(sqrt)(w * w - sum / a) - w);

    for (int i = 0; i < 3; i++) {
        const double scaled = erfcx(y);

        y += (i == 2 && q > 1e-100 ? (LW_CALL(erfc)(y) - q) / q : LW_CALL(log)(scaled) - y * y - log_q) * scaled * 0.88622692545275801;
    }
    return y;
}
/* In both functions the differences are exact. */
LW_SIDE double erfcinv(double x)
{
    if (!(x > 0 && x < 2))
        return x == 0 ? __builtin_inf() : x == 2 ? -__builtin_inf() : __builtin_nan("");
    if (x < 0.5)
        return lw_erfcinv_small(x);
    return x > 1.5 ? -lw_erfcinv_small(2 - x) : lw_erfinv_middle(1 - x);
}
LW_SIDE double erfinv(double x)
{
    const double off = 1 - __builtin_fabs(x);

    if (!(off > 0))
        return off == 0 ? __builtin_copysign(__builtin_inf(), x) : __builtin_nan("");
    return off >= 0.5 ? lw_erfinv_middle(x) : __builtin_copysign(lw_erfcinv_small(off), x);
}
LW_SIDE float erfinvf(float x) { return (float)erfinv((double)x); }
LW_SIDE float erfcinvf(float x) { return (float)erfcinv((double)x); }
LW_SIDE double normcdfinv(double x) { return 0.0 - 1.4142135623730951 * erfcinv(2 * x); }
LW_SIDE float normcdfinvf(float x) { return (float)normcdfinv((double)x); }
LW_SIDE float erfcx(float x) { return erfcxf(x); }
LW_SIDE float erfinv(float x) { return erfinvf(x); }
LW_SIDE float erfcinv(float x) { return erfcinvf(x); }
LW_SIDE float normcdf(float x) { return normcdff(x); }
LW_SIDE float normcdfinv(float x) { return normcdfinvf(x); }
