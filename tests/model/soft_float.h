/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A software floating-point library for tests. A number is an integer times a power of two. Numbers are exact until they are
 * rounded to a format, and each number is rounded once. The library shares no code with the emulator.
 */
#ifndef SOFT_FLOAT_H
#define SOFT_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef __int128 soft_wide;

struct soft_format {
    const char *name;
    int precision, emin, emax, width; /* number of bits of the significand; least and greatest exponent; number of bits of
                                       * the format */
    uint64_t nan;                     /* the canonical NaN */
};
static const struct soft_format soft_f16 = {"f16", 11, -14, 15, 16, 0x7fff};
static const struct soft_format soft_bf16 = {"bf16", 8, -126, 127, 16, 0x7fff};
static const struct soft_format soft_f32 __attribute__((unused)) = {"f32", 24, -126, 127, 32,
                                                                    0x7fffffff};
static const struct soft_format soft_f64 __attribute__((unused)) = {
    "f64", 53, -1022, 1023, 64, UINT64_C(0x7ff8000000000000)};

enum soft_rounding { SOFT_RN, SOFT_RZ, SOFT_RM, SOFT_RP };

static inline uint64_t soft_sign(const struct soft_format *f)
{
    return UINT64_C(1) << (f->width - 1);
}
static inline uint64_t soft_infinity(const struct soft_format *f)
{
    return (uint64_t)(f->emax * 2 + 1) << (f->precision - 1);
}
static inline bool soft_is_nan(const struct soft_format *f, uint64_t h)
{
    return (h & (soft_sign(f) - 1)) > soft_infinity(f);
}
static inline bool soft_is_infinite(const struct soft_format *f, uint64_t h)
{
    return (h & (soft_sign(f) - 1)) == soft_infinity(f);
}

/** The number m * 2^e, where m has the sign of the number. */
struct soft_number {
    soft_wide m;
    int e;
};
static inline struct soft_number soft_number(const struct soft_format *f, uint64_t h)
{
    uint64_t bits = h & (soft_sign(f) - 1), hidden = UINT64_C(1) << (f->precision - 1);
    int e = (int)(bits >> (f->precision - 1));
    uint64_t fraction = bits & (hidden - 1);
    struct soft_number n = {e ? fraction | hidden : fraction,
                            (e ? e : 1) - f->emax - (f->precision - 1)};
    if (h & soft_sign(f))
        n.m = -n.m;
    return n;
}
static inline int soft_top_bit(soft_wide m)
{
    uint64_t high = (uint64_t)(m >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)m);
}
static inline bool soft_goes_up(enum soft_rounding mode, bool negative, bool odd, soft_wide rest,
                                soft_wide half)
{
    switch (mode) {
    case SOFT_RN: return rest > half || (rest == half && odd);
    case SOFT_RM: return negative && rest != 0;
    case SOFT_RP: return !negative && rest != 0;
    default: return false;
    }
}
/** Round to the format. @sticky means that a nonzero value below the last bit of m was lost, which has the sign of m. |m| must be
 *  below 2^125. */
static inline uint64_t soft_round(const struct soft_format *f, struct soft_number n, bool sticky,
                                  enum soft_rounding mode, bool negative_zero)
{
    bool negative = n.m < 0 || (n.m == 0 && negative_zero);
    uint64_t sign = negative ? soft_sign(f) : 0, exponent = 0;
    soft_wide m = n.m < 0 ? -n.m : n.m, kept, rest;
    if (m == 0)
        return sign;
    m = m << 1 | sticky; /* an additional bit represents the lost value */
    n.e--;
    int e = n.e + soft_top_bit(m);
    int unit = (e < f->emin ? f->emin : e) - (f->precision - 1), cut = unit - n.e;
    if (cut > 126) {
        kept = soft_goes_up(mode, negative, false, 1, 2);
    } else if (cut <= 0) {
        kept = m << -cut;
    } else {
        kept = m >> cut;
        rest = m - (kept << cut);
        kept += soft_goes_up(mode, negative, kept & 1, rest, (soft_wide)1 << (cut - 1));
    }
    if (kept >> f->precision) {
        kept >>= 1;
        unit++;
    }
    if (unit + f->precision - 1 > f->emax)
        return sign | (soft_infinity(f) - !soft_goes_up(mode, negative, true, 2, 1));
    if (kept >> (f->precision - 1)) /* in a normal number the hidden bit adds one to the exponent */
        exponent = (uint64_t)(unit + f->precision - 1 + f->emax - 1) << (f->precision - 1);
    return sign | (exponent + (uint64_t)kept);
}
/** Round to an integer in the given direction. Results far above 2^64 may be replaced by 2^100. */
static inline soft_wide soft_integral(struct soft_number n, enum soft_rounding mode)
{
    bool negative = n.m < 0;
    soft_wide m = negative ? -n.m : n.m, kept;
    if (m == 0)
        return 0;
    if (n.e >= 0) {
        int room = 100 - soft_top_bit(m);
        kept = m << (n.e > room ? room : n.e);
    } else if (n.e < -126) {
        kept = soft_goes_up(mode, negative, false, 1, 2);
    } else {
        kept = m >> -n.e;
        kept += soft_goes_up(mode, negative, kept & 1, m - (kept << -n.e),
                             (soft_wide)1 << (-n.e - 1));
    }
    return negative ? -kept : kept;
}
/** Round a real number that is approximated with 64 bits. The result is right unless the number is nearly a tie. */
static inline uint64_t soft_real(const struct soft_format *f, long double x)
{
    int e;
    if (isnan(x))
        return f->nan;
    if (isinf(x))
        return soft_infinity(f) | (signbit(x) ? soft_sign(f) : 0);
    struct soft_number n;
    n.m = (soft_wide)ldexpl(frexpl(x, &e), 64);
    n.e = e - 64;
    return soft_round(f, n, false, SOFT_RN, signbit(x));
}

/* ---- arithmetic of the 16-bit formats, to nearest even ----------------------------------- */

static inline struct soft_number soft_sum(struct soft_number a, struct soft_number b, bool *sticky)
{
    if (a.m == 0)
        return b;
    if (b.m == 0)
        return a;
    if (a.e < b.e) {
        struct soft_number t = a;
        a = b;
        b = t;
    }
    /* b is much smaller than half a unit of the last bit, so that only the sign of b has an effect on the rounding */
    if (a.e - b.e > 80) {
        int sign = a.m < 0 ? -1 : 1;
        a.m = sign * (((sign * a.m) << 60) - ((b.m < 0) != (a.m < 0)));
        a.e -= 60;
        *sticky = true;
        return a;
    }
    a.m = a.m * ((soft_wide)1 << (a.e - b.e)) + b.m;
    a.e = b.e;
    return a;
}
static inline uint32_t soft_half_fma(const struct soft_format *f, uint32_t a, uint32_t b,
                                     uint32_t c)
{
    bool sign = (a ^ b) & 0x8000, sticky = false, wide_a = soft_is_infinite(f, a);
    bool wide_b = soft_is_infinite(f, b), wide_c = soft_is_infinite(f, c);
    struct soft_number x = soft_number(f, a), y = soft_number(f, b), z = soft_number(f, c);
    if (soft_is_nan(f, a) || soft_is_nan(f, b) || soft_is_nan(f, c))
        return 0x7fff;
    if (wide_a || wide_b) {
        if ((!wide_a && x.m == 0) || (!wide_b && y.m == 0) ||
            (wide_c && sign != ((c & 0x8000) != 0)))
            return 0x7fff;
        return (uint32_t)soft_infinity(f) | (sign ? 0x8000 : 0);
    }
    if (wide_c)
        return c;
    struct soft_number p = {x.m * y.m, x.e + y.e}, s = soft_sum(p, z, &sticky);
    return (uint32_t)soft_round(f, s, sticky, SOFT_RN,
                                p.m == 0 && z.m == 0 && sign && (c & 0x8000));
}
static inline uint32_t soft_half_one(const struct soft_format *f)
{
    return (uint32_t)f->emax << (f->precision - 1);
}
static inline uint32_t soft_half_add(const struct soft_format *f, uint32_t a, uint32_t b)
{
    return soft_half_fma(f, a, soft_half_one(f), b);
}
static inline uint32_t soft_half_mul(const struct soft_format *f, uint32_t a, uint32_t b)
{
    return soft_half_fma(f, a, b, (a ^ b) & 0x8000); /* a zero result has the sign of the product */
}
static inline uint32_t soft_half_div(const struct soft_format *f, uint32_t a, uint32_t b)
{
    uint32_t sign = (a ^ b) & 0x8000, infinity = (uint32_t)soft_infinity(f);
    bool wide_a = soft_is_infinite(f, a), wide_b = soft_is_infinite(f, b);
    if (soft_is_nan(f, a) || soft_is_nan(f, b) || (wide_a && wide_b))
        return 0x7fff;
    if (wide_a)
        return infinity | sign;
    if (wide_b)
        return sign;
    struct soft_number x = soft_number(f, a), y = soft_number(f, b), q;
    if (y.m == 0)
        return x.m == 0 ? 0x7fff : infinity | sign;
    x.m *= (soft_wide)1 << 40;
    q.m = x.m / y.m;
    q.e = x.e - 40 - y.e;
    return (uint32_t)soft_round(f, q, x.m % y.m != 0, SOFT_RN, sign);
}

#endif
