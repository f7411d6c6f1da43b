/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of mufu: 2^x, log2 x, sin, cos, tanh. Each function computes its result in double, without libm, and rounds it
 * once. docs/reference/fp.md states the error bounds. The functions have a defined result for every operand.
 *
 * The compiler vectorises loops over lanes that contain these functions (emu_exec.c), so the functions have no branches, no
 * loops and no tables. A choice between two values is made by a mask, because compilers make branches of several ?: with the same
 * condition. tests/emu/exec/test_math.c compares the results of these loops for all operands.
 */
#ifndef EMU_MUFU_PRIV_H
#define EMU_MUFU_PRIV_H

#include "emu/lane/emu_math_priv.h"

/** Returns all ones if a < b, else 0; for a, b < 2^31. */
EMU_INLINE uint32_t emu_below(uint32_t a, uint32_t b)
{
    return 0 - ((a - b) >> 31);
}
/** Returns @mask, all ones or 0, as a mask of 64 bits. */
EMU_INLINE uint64_t emu_wide_mask(uint32_t mask)
{
    return (uint64_t)(int64_t)(int32_t)mask;
}
EMU_INLINE uint32_t emu_pick_b32(uint32_t mask, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & mask);
}
EMU_INLINE double emu_pick_f64(uint64_t mask, double a, double b)
{
    return emu_f64_bits(emu_bits_f64(b) ^ ((emu_bits_f64(a) ^ emu_bits_f64(b)) & mask));
}
/** Returns x, or a NaN if the bits @magnitude are at least @limit. */
EMU_INLINE double emu_nan_from(uint32_t limit, uint32_t magnitude, double x)
{
    return emu_f64_bits(emu_bits_f64(x) | emu_wide_mask(~emu_below(magnitude, limit)));
}

/** Returns the high word of @high:@low << @left, for @left < 32. SSE2 has no shift with a separate count for each lane, but a
 *  multiplication, so the words are multiplied by 2^left. */
EMU_INLINE uint32_t emu_funnel(uint32_t high, uint32_t low, uint32_t left)
{
#if defined __SSE2__ && !defined __AVX2__
    const uint32_t power = 0 - (uint32_t)(int32_t)emu_f32_bits((left + 127) << 23 | UINT32_C(1) << 31);
    return high * power | (uint32_t)((uint64_t)low * power >> 32);
#else
    return high << left | low >> (31 - left) >> 1;
#endif
}

/** Returns 2^k, for a k that is an exponent of normal doubles. */
EMU_INLINE double emu_power_of_two(int32_t k)
{
    return emu_f64_bits((uint64_t)(int64_t)(k + 1023) << 52);
}
/** Returns the integer nearest to x, for |x| < 2^31. Ties are rounded away from zero; for the callers, the direction does not
 *  matter. */
EMU_INLINE int32_t emu_nearest(double x)
{
    return (int32_t)(x + emu_f64_bits((emu_bits_f64(x) & UINT64_C(1) << 63) | emu_bits_f64(0.5)));
}
/** Converts an integer below 2^32, exactly: the integer becomes the low bits of a double near 2^52. Not all levels have an
 *  instruction for this conversion. */
EMU_INLINE double emu_f64_of_low(uint64_t x)
{
    return emu_f64_bits(x | UINT64_C(0x4330000000000000)) - 0x1p52;
}
/** Converts @x * 2^32, for an x below 2^32, exactly. */
EMU_INLINE double emu_f64_of_high(uint64_t x)
{
    return emu_f64_bits(x | UINT64_C(0x4530000000000000)) - 0x1p84;
}

/* Returns 2^r for |r| <= 0.5, by the Taylor series of exp(r ln 2), whose first omitted term is below 2^-52. */
EMU_INLINE double emu_exp2_near(double r)
{
    const double y = r * 0.69314718055994530942;
    double sum = 1.0 / 479001600;

    sum = sum * y + 1.0 / 39916800;
    sum = sum * y + 1.0 / 3628800;
    sum = sum * y + 1.0 / 362880;
    sum = sum * y + 1.0 / 40320;
    sum = sum * y + 1.0 / 5040;
    sum = sum * y + 1.0 / 720;
    sum = sum * y + 1.0 / 120;
    sum = sum * y + 1.0 / 24;
    sum = sum * y + 1.0 / 6;
    sum = sum * y + 1.0 / 2;
    sum = sum * y + 1.0;
    return sum * y + 1.0;
}
/** Returns 2^x. Results above 2^128 become 2^128, and results below 2^-151 become 2^-151: rounded to f32, f16 or bf16, they are
 *  infinite or zero. */
EMU_INLINE double emu_exp2(float x)
{
    const uint32_t magnitude = emu_bits_f32(x) & 0x7fffffffu, sign = emu_bits_f32(x) >> 31;
    const uint32_t limit = emu_bits_f32(128.0f) + sign * (emu_bits_f32(151.0f) - emu_bits_f32(128.0f));
    const double v = emu_f32_bits((magnitude < limit ? magnitude : limit) | sign << 31);
    const int32_t k = emu_nearest(v);

    return emu_nan_from(0x7f800001u, magnitude, emu_exp2_near(v - k) * emu_power_of_two(k));
}
EMU_INLINE float emu_ex2_f32(float x)
{
    return (float)emu_exp2(x);
}

EMU_INLINE float emu_lg2_f32(float x)
{
    const uint64_t d = emu_bits_f64((double)x);
    const double significand = emu_f64_bits((d & ((UINT64_C(1) << 52) - 1)) | UINT64_C(0x3ff0000000000000));
    const bool large = significand > 1.41421356237309504880;
    const double m = large ? significand * 0.5 : significand;
    const double k = emu_f64_of_low(d >> 52 & 0x7ff) - (large ? 1022.0 : 1023.0);
    /* log m = 2 atanh(s) with s = (m - 1) / (m + 1). As |s| < 0.1716, the first omitted term of the series, s^25 / 25, is
     * negligible: already s^23 / 23 < 2^-62. */
    const double s = (m - 1) / (m + 1), z = s * s;
    double sum = 1.0 / 23;

    sum = sum * z + 1.0 / 21;
    sum = sum * z + 1.0 / 19;
    sum = sum * z + 1.0 / 17;
    sum = sum * z + 1.0 / 15;
    sum = sum * z + 1.0 / 13;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    sum = sum * z + 1.0;
    const float r = (float)(k + 2.88539008177792681472 * s * sum); /* the factor is 2 / ln 2 */
    const float special = x == 0 ? -__builtin_inff() : x < 0 ? emu_f32_bits(0x7fffffffu) : x; /* x is infinite or NaN */

    return x > 0 && x < __builtin_inff() ? r : special;
}

/** Returns the sine of x, or with @phase 1 the cosine. */
EMU_INLINE float emu_circular(float x, uint32_t phase)
{
    /* Reduces the angle to quarter turns, x * 2 / pi modulo 4: a quadrant q and a remainder t in [-0.5, 0.5]. |x| = m * 2^e. Bits
     * of 2 / pi with a weight of 2^(2 - e) or more contribute only multiples of 4 to the product, so 128 bits of 2 / pi, from bit
     * e - 2 on, are multiplied by m. Before the first bit of 2 / pi there are zeros. The product modulo 2^128 has two bits of the
     * quadrant, and at least 96 correct bits after the binary point. */
    const uint32_t bits = emu_bits_f32(x), magnitude = bits & 0x7fffffffu, m = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t at = (magnitude >> 23) - 152 + 32; /* 32 + e - 2 */
    const uint32_t left = at & 31, by1 = 0 - (at >> 5 & 1), by2 = 0 - (at >> 6 & 1), by4 = 0 - (at >> 7 & 1);
    /* Takes five words from word at / 32 on, where word 0 is the zeros before 2 / pi. at / 32 is 4 at most. */
    const uint32_t b0 = emu_pick_b32(by4, 0xF534DDC0u, 0), b1 = emu_pick_b32(by4, 0xDB629599u, 0xA2F9836Eu);
    const uint32_t b2 = emu_pick_b32(by4, 0x3C439041u, 0x4E441529u), b3 = emu_pick_b32(by4, 0xFE5163ABu, 0xFC2757D1u);
    const uint32_t b4 = emu_pick_b32(by4, 0xDEBBC561u, 0xF534DDC0u), b5 = 0xDB629599u, b6 = 0x3C439041u, b7 = 0xFE5163ABu;
    const uint32_t c0 = emu_pick_b32(by2, b2, b0), c1 = emu_pick_b32(by2, b3, b1), c2 = emu_pick_b32(by2, b4, b2);
    const uint32_t c3 = emu_pick_b32(by2, b5, b3), c4 = emu_pick_b32(by2, b6, b4), c5 = emu_pick_b32(by2, b7, b5);
    const uint32_t v0 = emu_pick_b32(by1, c1, c0), v1 = emu_pick_b32(by1, c2, c1), v2 = emu_pick_b32(by1, c3, c2);
    const uint32_t v3 = emu_pick_b32(by1, c4, c3), v4 = emu_pick_b32(by1, c5, c4);
    const uint32_t w0 = emu_funnel(v0, v1, left), w1 = emu_funnel(v1, v2, left), w2 = emu_funnel(v2, v3, left);
    const uint32_t w3 = emu_funnel(v3, v4, left);
    const uint64_t p2 = (uint64_t)w2 * m + ((uint64_t)w3 * m >> 32), p1 = (uint64_t)w1 * m + (p2 >> 32);
    const uint32_t p0 = w0 * m + (uint32_t)(p1 >> 32);
    /* The binary point of the product is after the two highest bits of p0. The next bit decides to which quadrant the angle
     * is rounded. If it is rounded up, the fraction is subtracted from 1; as the bits that are cut off are never all zero, this
     * is its complement. */
    const uint32_t up = p0 >> 29 & 1, turns = (p0 >> 30) + up, minus = 0 - (bits >> 31);
    const uint64_t fraction = ((uint64_t)p0 << 34 | (p1 & UINT32_MAX) << 2 | (p2 >> 30 & 3)) ^ (0 - (uint64_t)up);
    const double rest = (emu_f64_of_high(fraction >> 32) + emu_f64_of_low(fraction & UINT32_MAX)) * 0x1p-64;
    const double with_sign = emu_f64_bits(emu_bits_f64(rest) | (uint64_t)(up ^ bits >> 31) << 63);
    const uint32_t small = emu_below(magnitude, 0x3f490fdau); /* below pi / 4, no reduction is needed */
    const double t = emu_pick_f64(emu_wide_mask(small), (double)x * 0.63661977236758134308, with_sign);
    const uint32_t q = (((turns ^ minus) - minus) & ~small) + phase;
    /* The sine or cosine of t quarter turns, by a Taylor series, whose first omitted term is below 2^-58. */
    const uint64_t cosine = emu_wide_mask(0 - (q & 1));
    const double y = t * 1.57079632679489661923, z = y * y;
    double s = emu_pick_f64(cosine, 1.0 / 20922789888000.0, 1.0 / 355687428096000.0);

    s = s * z + emu_pick_f64(cosine, -1.0 / 87178291200.0, -1.0 / 1307674368000.0);
    s = s * z + emu_pick_f64(cosine, 1.0 / 479001600.0, 1.0 / 6227020800.0);
    s = s * z + emu_pick_f64(cosine, -1.0 / 3628800.0, -1.0 / 39916800.0);
    s = s * z + emu_pick_f64(cosine, 1.0 / 40320.0, 1.0 / 362880.0);
    s = s * z + emu_pick_f64(cosine, -1.0 / 720.0, -1.0 / 5040.0);
    s = s * z + emu_pick_f64(cosine, 1.0 / 24.0, 1.0 / 120.0);
    s = s * z + emu_pick_f64(cosine, -1.0 / 2.0, -1.0 / 6.0);
    s = s * z + 1.0;
    s = s * emu_pick_f64(cosine, 1.0, y);
    s = emu_f64_bits(emu_bits_f64(s) ^ (uint64_t)(q >> 1 & 1) << 63);
    return (float)emu_nan_from(0x7f800000u, magnitude, s);
}
EMU_INLINE float emu_sin_f32(float x)
{
    return emu_circular(x, 0);
}
EMU_INLINE float emu_cos_f32(float x)
{
    return emu_circular(x, 1);
}

/** Returns tanh x. Magnitudes above 10 become tanh 10, which is 1 after rounding to f32, f16 or bf16. */
EMU_INLINE double emu_tanh(float x)
{
    const uint32_t magnitude = emu_bits_f32(x) & 0x7fffffffu, limit = emu_bits_f32(10.0f);
    const double a = emu_f32_bits(magnitude < limit ? magnitude : limit), z = a * a;
    /* an odd series avoids the cancellation in (e - 1) / (e + 1) */
    const double small = a * (1 + z * (-1.0 / 3 + z * (2.0 / 15 + z * (-17.0 / 315 + z * (62.0 / 2835 +
        z * (-1382.0 / 155925 + z * (21844.0 / 6081075 + z * (-929569.0 / 638512875))))))));
    const double y = 2 * a * 1.44269504088896340736;
    const int32_t k = emu_nearest(y);
    const double e = emu_exp2_near(y - k) * emu_power_of_two(k); /* exp(2 a) */
    const double r = emu_pick_f64(emu_wide_mask(emu_below(magnitude, emu_bits_f32(0.25f))), small, (e - 1) / (e + 1));
    const uint64_t sign = (uint64_t)(emu_bits_f32(x) >> 31) << 63;

    return emu_nan_from(0x7f800001u, magnitude, emu_f64_bits(emu_bits_f64(r) | sign));
}
EMU_INLINE float emu_tanh_f32(float x)
{
    return (float)emu_tanh(x);
}

#endif
