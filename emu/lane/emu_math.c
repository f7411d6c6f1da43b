/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic that is too long for a loop over lanes: software fma, reciprocal square roots, conversions. No function calls libm. */
#include "emu/lane/emu_math_priv.h"
#include "emu/lane/emu_mufu_priv.h"
#include "isa/isa.h"

/* ---- fma of doubles, in integer arithmetic ------------------------------------------------ */

struct unpacked {
    bool negative;
    int exponent;         /* value = significand * 2^exponent */
    uint64_t significand; /* 53 bits, of which the top bit is set unless the value is zero */
};

static struct unpacked unpack(double x)
{
    uint64_t b = emu_bits_f64(x), m = b & ((UINT64_C(1) << 52) - 1);
    int e = (int)(b >> 52 & 0x7ff);
    struct unpacked u = {.negative = b >> 63};

    if (e == 0) {
        if (m != 0) {
            int shift = __builtin_clzll(m) - 11;
            u.significand = m << shift;
            u.exponent = -1074 - shift;
        }
    } else {
        u.significand = m | UINT64_C(1) << 52;
        u.exponent = e - 1075;
    }
    return u;
}

/* Relation of the bits that rounding cuts off to half a unit of the last place. round_up() returns true if the magnitude is
 * rounded up. */
enum { CUT_NONE = -2, CUT_BELOW = -1, CUT_HALF = 0, CUT_ABOVE = 1 };
static bool round_up(unsigned rounding, bool negative, bool odd, int cut)
{
    switch (rounding) {
    case ISA_RND_RN: return cut == CUT_ABOVE || (cut == CUT_HALF && odd);
    case ISA_RND_RM: return negative && cut != CUT_NONE;
    case ISA_RND_RP: return !negative && cut != CUT_NONE;
    default: return false;
    }
}

/* Rounds significand * 2^exponent to double. @sticky: the exact value is slightly greater than significand * 2^exponent, because
 * it has further bits below the significand. */
static double pack(bool negative, unsigned __int128 m, int exponent, bool sticky,
                   unsigned rounding)
{
    uint64_t sign = (uint64_t)negative << 63;

    if (m == 0)
        return emu_f64_bits(sign); /* the caller determines the sign of an exact zero */
    uint64_t high = (uint64_t)(m >> 64);
    int top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)m);
    int target = 52; /* number that the bit of the leading one will have after the shift */
    int e = exponent + top;                /* the value is in [2^e, 2^(e+1)) */

    if (e < -1022)
        target = 52 - (-1022 - e); /* denormals have fewer bits */
    int shift = top - target, cut = sticky ? CUT_BELOW : CUT_NONE;
    uint64_t r;
    if (shift <= 0) {
        r = (uint64_t)(m << -shift); /* the bits that `sticky` summarizes are less than half a unit of the last place */
    } else if (shift > 127) {
        r = 0; /* the value is far less than half of the least denormal */
        cut = CUT_BELOW;
    } else {
        unsigned __int128 rest = m & (((unsigned __int128)1 << shift) - 1);
        unsigned __int128 half = (unsigned __int128)1 << (shift - 1);
        r = (uint64_t)(m >> shift);
        if (rest > half || (rest == half && sticky))
            cut = CUT_ABOVE;
        else if (rest == half)
            cut = CUT_HALF;
        else if (rest != 0)
            cut = CUT_BELOW;
    }
    r += round_up(rounding, negative, r & 1, cut);
    if (e < -1022)
        return emu_f64_bits(sign | r); /* if the rounding carries into the exponent, the encoding is still right */
    if (r >> 53) {
        r >>= 1;
        e++;
    }
    if (e > 1023) /* the result overflows to infinity, or, if rounding is towards zero, to the largest finite number */
        return emu_f64_bits((sign | UINT64_C(0x7ff0000000000000)) -
                       !round_up(rounding, negative, true, CUT_ABOVE));
    return emu_f64_bits(sign | (uint64_t)(e + 1023) << 52 | (r & ((UINT64_C(1) << 52) - 1)));
}

double emu_fma_f64_soft(double a, double b, double c, unsigned rounding)
{
    uint64_t inf = UINT64_C(0x7ff0000000000000), magnitude = INT64_MAX;
    uint64_t ba = emu_bits_f64(a) & magnitude, bb = emu_bits_f64(b) & magnitude, bc = emu_bits_f64(c) & magnitude;
    bool negative = (emu_bits_f64(a) ^ emu_bits_f64(b)) >> 63, other = emu_bits_f64(c) >> 63;

    if (ba >= inf || bb >= inf || bc > inf)
        return a * b + c; /* the result is infinite or NaN, so nothing is rounded */
    if (bc == inf)
        return c; /* the product is finite, even if a * b would overflow in double, so the result is c */
    if (ba == 0 || bb == 0) {
        if (bc != 0)
            return c;
        return negative == other ? c : emu_f64_bits((uint64_t)(rounding == ISA_RND_RM) << 63);
    }
    struct unpacked x = unpack(a), y = unpack(b), z = unpack(c);
    unsigned __int128 p = (unsigned __int128)x.significand * y.significand;
    int e = x.exponent + y.exponent;

    if (z.significand == 0)
        return pack(negative, p, e, false, rounding);
    /* Aligns both terms. p has at most 106 bits, and q has 53. Both significands are shifted left by 20 bits if there is
     * space. */
    unsigned __int128 q = z.significand;
    int ez = z.exponent;
    p <<= 20, e -= 20;
    bool sticky_p = false, sticky_q = false;
    if (ez > e) {
        int up = ez - e;
        if (up <= 72) { /* q has at most 53 + 72 = 125 bits after the shift */
            q <<= up;
        } else { /* z is much larger than p, so p is shifted right to the exponent of z */
            q <<= 72, ez -= 72;
            int down = ez - e;
            if (down > 126) {
                sticky_p = true;
                p = 0;
            } else {
                sticky_p = (p & (((unsigned __int128)1 << down) - 1)) != 0;
                p >>= down;
            }
            e = ez;
        }
    } else if (ez < e) {
        int down = e - ez;
        if (down > 126) {
            sticky_q = true;
            q = 0;
        } else {
            sticky_q = (q & (((unsigned __int128)1 << down) - 1)) != 0;
            q >>= down;
        }
    }
    bool sticky = sticky_p || sticky_q;
    if (negative == other)
        return pack(negative, p + q, e, sticky, rounding);
    /* If bits of the subtrahend were cut off, its exact value is a little greater. Therefore one unit more is subtracted, and the
     * result is sticky. */
    if (p > q || (p == q && sticky_p))
        return pack(negative, p - q - sticky_q, e, sticky, rounding);
    if (q > p || sticky_q)
        return pack(other, q - p - sticky_p, e, sticky, rounding);
    return emu_f64_bits((uint64_t)(rounding == ISA_RND_RM) << 63);
}

/* Rounds significand @m * 2^@e to a format with @p bits of precision and exponents from @emin to @emax. Returns the packed
 * result. */
static uint64_t round_pack(bool negative, uint64_t m, int e, unsigned mode, unsigned p, int emin,
                           int emax)
{
    unsigned exponent_bits = emax == 15 ? 5 : emax == 127 ? 8 : 11;
    uint64_t sign = (uint64_t)negative << (p - 1 + exponent_bits);
    uint64_t infinity = (lw_mask(exponent_bits)) << (p - 1);

    if (m == 0)
        return sign;
    int top = 63 - __builtin_clzll(m), exponent = e + top;
    int keep = (int)p - 1;
    if (exponent < emin)
        keep -= emin - exponent;
    int shift = top - keep;
    uint64_t r, rest = 0, half = 0;
    if (shift <= 0) {
        r = m << -shift;
    } else if (shift > 64) {
        r = 0;
        rest = 1;
        half = 2;
    } else if (shift == 64) {
        r = 0;
        rest = m;
        half = UINT64_C(1) << 63;
    } else {
        r = m >> shift;
        rest = m & lw_mask((unsigned)shift);
        half = UINT64_C(1) << (shift - 1);
    }
    r += round_up(mode, negative, r & 1,
                  rest == 0 ? CUT_NONE : rest < half ? CUT_BELOW : rest == half ? CUT_HALF
                                                                               : CUT_ABOVE);
    if (exponent < emin)
        return sign | r;
    if (r >> p) {
        r >>= 1;
        exponent++;
    }
    if (exponent > emax) {
        bool to_infinity = mode == 0 || (mode == 2 && negative) || (mode == 3 && !negative);
        return sign | (to_infinity ? infinity : infinity - 1);
    }
    return sign | (uint64_t)(exponent + emax) << (p - 1) | (r & lw_mask(p - 1));
}

/* ---- reciprocal square roots of f64 ------------------------------------------------------ */

/* Returns true if significand * m^2 > 2^160. m must be so near the root that the difference of both sides fits in 113 bits. As
 * 2^160 is 0 modulo 2^128, this difference is the product modulo 2^128, taken as a signed number. */
static bool above_rsq(uint64_t significand, uint64_t m)
{
    return (__int128)((unsigned __int128)significand * m * m) > 0;
}
double emu_rsq_f64(double x)
{
    uint64_t bits = emu_bits_f64(x);

    if (bits == 0 || bits >= UINT64_C(0x7ff0000000000000)) /* zero, infinity, NaN, or negative */
        return 1.0 / __builtin_sqrt(x);
    struct unpacked u = unpack(x);
    if (u.exponent & 1) {
        u.significand <<= 1;
        u.exponent--;
    }
    /* m gets 54 bits of the result, rounded down. The quotient in double is only a few units away from this result. */
    uint64_t m = (uint64_t)(0x1p80 / __builtin_sqrt((double)u.significand));
    while (above_rsq(u.significand, m))
        m--;
    while (!above_rsq(u.significand, m + 1))
        m++;
    /* The last of the 54 bits decides the rounding. No result is halfway between two doubles, because the square of an odd number
     * divides no power of two. */
    return (double)((m + 1) >> 1) * emu_power_of_two(-79 - u.exponent / 2);
}

static double flushed(double x)
{
    return (emu_bits_f64(x) & UINT64_C(0x7ff0000000000000)) != 0
               ? x : emu_f64_bits(emu_bits_f64(x) & UINT64_C(0x8000000000000000));
}
static uint32_t high_word(double x)
{
    return x != x ? 0x7ff80000u : (uint32_t)(emu_bits_f64(flushed(x)) >> 32);
}
uint32_t emu_rcp64h(uint32_t high)
{
    return high_word(1.0 / flushed(emu_f64_bits((uint64_t)high << 32)));
}
uint32_t emu_rsq64h(uint32_t high)
{
    return high_word(emu_rsq_f64(flushed(emu_f64_bits((uint64_t)high << 32))));
}

uint32_t emu_fns_b32(uint32_t mask, uint32_t base, uint32_t offset)
{
    bool down = offset >> 31;
    uint32_t count = down ? 0 - offset : offset;

    if (base > 31 || count > 32)
        return UINT32_MAX;
    if (count == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (uint32_t pos = base; pos < 32; pos = down ? pos - 1 : pos + 1)
        if (mask >> pos & 1 && --count == 0)
            return pos;
    return UINT32_MAX;
}

/* ---- 16-bit floats ------------------------------------------------------------------- */

/* Functions that round a double once, to f16 or bf16. An intermediate rounding to f32 could create a tie. */
static float to_f16(double x)
{
    struct unpacked u = unpack(x);

    if ((emu_bits_f64(x) & INT64_MAX) >= UINT64_C(0x7ff0000000000000))
        return (float)x;
    return emu_f32_of_f16((uint32_t)round_pack(u.negative, u.significand, u.exponent, ISA_RND_RN,
                                               11, -14, 15));
}
static float to_bf16(double x)
{
    struct unpacked u = unpack(x);

    if ((emu_bits_f64(x) & INT64_MAX) >= UINT64_C(0x7ff0000000000000))
        return (float)x;
    return emu_f32_of_bf16((uint32_t)round_pack(u.negative, u.significand, u.exponent, ISA_RND_RN,
                                                8, -126, 127));
}
float emu_ex2_f16(float x)
{
    return to_f16(emu_exp2(x));
}
float emu_ex2_bf16(float x)
{
    return to_bf16(emu_exp2(x));
}
float emu_tanh_f16(float x)
{
    return to_f16(emu_tanh(x));
}
float emu_tanh_bf16(float x)
{
    return to_bf16(emu_tanh(x));
}
float emu_rsq_f16(float x)
{
    return to_f16(1.0 / __builtin_sqrt((double)x));
}
/* Computes a * b + c as the software emu_fma_f32 does, but rounds from double to bf16 in one step. The product of two floats is
 * exact in double, and bf16 has the exponent range of float. */
float emu_fma_bf16(float a, float b, float c)
{
    double p = (double)a * b, s = p + c;
    double t = s - p, err = (p - (s - t)) + (c - t);
    uint64_t bits = emu_bits_f64(s);

    if (err != 0 && !(bits & 1) && (bits & INT64_MAX) < UINT64_C(0x7ff0000000000000))
        bits += (err > 0) == (s > 0) ? 1 : -1;
    return to_bf16(emu_f64_bits(bits));
}

/* ---- conversions ------------------------------------------------------------------------ */

static bool is_float_type(unsigned t)
{
    return t >= ISA_DT_F16;
}
static unsigned int_bits(unsigned t)
{
    return 8u << (t / 2);
}

/* Converts f16 or bf16 to double, which is exact. */
static double half_value(uint16_t h, bool bf)
{
    if (bf)
        return emu_f32_bits((uint32_t)h << 16);
    uint32_t e = h >> 10 & 31, m = h & 1023;
    double v = e == 31 ? (m ? emu_f64_bits(UINT64_C(0x7ff8000000000000))
                            : emu_f64_bits(UINT64_C(0x7ff0000000000000)))
               : e == 0 ? m * 0x1p-24
                        : (1024 + m) * emu_power_of_two((int)e - 25);
    return h >> 15 ? -v : v;
}

/* Rounds to an integral value. @mode: rounding mode; 0 rn, 1 rz, 2 rm, 3 rp. */
static double integral(double x, unsigned mode)
{
    double a = x < 0 ? -x : x, t;

    if (!(a < 0x1p52))
        return x; /* the value already is integral, infinite or NaN */
    t = (double)(int64_t)a;
    double rest = a - t;
    bool negative = emu_bits_f64(x) >> 63;
    bool up = mode == 0   ? rest > 0.5 || (rest == 0.5 && ((int64_t)a & 1))
              : mode == 2 ? negative && rest > 0
              : mode == 3 ? !negative && rest > 0
                          : false;
    if (up)
        t += 1;
    return negative ? emu_f64_bits(emu_bits_f64(t) | UINT64_C(1) << 63) : t;
}

static uint64_t pack_type(unsigned type, bool negative, uint64_t m, int e, unsigned mode)
{
    switch (type) {
    case ISA_DT_F16: return round_pack(negative, m, e, mode, 11, -14, 15);
    case ISA_DT_BF16: return round_pack(negative, m, e, mode, 8, -126, 127);
    case ISA_DT_F32: return round_pack(negative, m, e, mode, 24, -126, 127);
    default: return round_pack(negative, m, e, mode, 53, -1022, 1023);
    }
}

uint64_t emu_convert(unsigned dtype, unsigned stype, unsigned rounding, bool saturate, bool ftz,
                     uint64_t bits)
{
    unsigned mode = rounding & 3;
    bool to_integral = rounding >= ISA_CRND_RNI;

    if (!is_float_type(stype)) {
        unsigned width = int_bits(stype);
        bool is_signed = stype & 1;
        uint64_t v = bits & lw_mask(width);
        bool negative = is_signed && v >> (width - 1) & 1;
        if (negative)
            v |= ~lw_mask(width);
        if (!is_float_type(dtype)) {
            unsigned to = int_bits(dtype);
            if (saturate) {
                bool to_signed = dtype & 1;
                if (to_signed) {
                    int64_t high = (int64_t)lw_mask(to - 1), low = -high - 1;
                    if (!negative && v > (uint64_t)high)
                        v = (uint64_t)high;
                    else if (negative && (int64_t)v < low)
                        v = (uint64_t)low;
                } else if (negative) {
                    v = 0;
                } else if (v > lw_mask(to)) {
                    v = lw_mask(to);
                }
            }
            v &= lw_mask(to);
            if ((dtype & 1) && to < 32 && v >> (to - 1) & 1)
                v |= ~lw_mask(to); /* a signed result of fewer than 32 bits is sign-extended to 32 bits */
            return to <= 32 ? (uint32_t)v : v;
        }
        uint64_t magnitude = negative ? 0 - v : v;
        uint64_t r = pack_type(dtype, negative, magnitude, 0, mode);
        if (saturate && (negative || magnitude > 1))
            r = negative ? 0 : pack_type(dtype, false, 1, 0, 0);
        return r;
    }

    double x = stype == ISA_DT_F64   ? emu_f64_bits(bits)
               : stype == ISA_DT_F32 ? (double)emu_f32_bits((uint32_t)bits)
                                     : half_value((uint16_t)bits, stype == ISA_DT_BF16);
    if (ftz && stype == ISA_DT_F32 && (bits & 0x7f800000u) == 0)
        x = (uint32_t)bits >> 31 ? -0.0 : 0.0;
    if (!is_float_type(dtype)) {
        unsigned to = int_bits(dtype);
        bool to_signed = dtype & 1;
        if (x != x) { /* a NaN converts to a value that PTX defines (cvt, notes about integers); signed results of fewer than 32
                       * bits are sign-extended to 32 bits */
            uint64_t top = stype == ISA_DT_F64 || to == 64 ? UINT64_C(1) << (to - 1) : 0;
            return to_signed && to < 32 ? (uint32_t)(0 - top) : top;
        }
        x = integral(x, mode);
        uint64_t v;
        if (to_signed) {
            double limit = to == 64 ? 0x1p63 : (double)(UINT64_C(1) << (to - 1));
            v = x >= limit ? lw_mask(to - 1)
                : x < -limit ? (uint64_t)-(int64_t)lw_mask(to - 1) - 1
                             : (uint64_t)(int64_t)x;
        } else {
            double limit = to == 64 ? 0x1p64 : (double)(UINT64_C(1) << to);
            v = x >= limit ? lw_mask(to) : !(x > 0) ? 0
                : x >= 0x1p63 ? (uint64_t)(int64_t)(x - 0x1p63) + (UINT64_C(1) << 63)
                              : (uint64_t)(int64_t)x;
        }
        return to <= 32 ? (uint32_t)v : v; /* signed results of fewer than 32 bits are sign-extended to 32 bits */
    }
    if (x != x) {
        if (saturate)
            return 0;
        return dtype == ISA_DT_F64   ? UINT64_C(0x7ff8000000000000)
               : dtype == ISA_DT_F32 ? 0x7fffffffu
                                     : 0x7fffu;
    }
    if (to_integral)
        x = integral(x, mode);
    if (saturate)
        x = x >= 1.0 ? 1.0 : x > 0 ? x : 0.0;
    uint64_t b = emu_bits_f64(x), r;
    bool negative = b >> 63;
    if ((b & INT64_MAX) >= UINT64_C(0x7ff0000000000000)) {
        r = dtype == ISA_DT_F64   ? b
            : dtype == ISA_DT_F32 ? (uint64_t)negative << 31 | 0x7f800000u
            : dtype == ISA_DT_F16 ? (uint64_t)negative << 15 | 0x7c00u
                                  : (uint64_t)negative << 15 | 0x7f80u;
    } else {
        struct unpacked u = unpack(x);
        r = pack_type(dtype, negative, u.significand, u.exponent, mode);
    }
    if (ftz && dtype == ISA_DT_F32 && (r & 0x7f800000u) == 0)
        r &= 0x80000000u;
    return r;
}
