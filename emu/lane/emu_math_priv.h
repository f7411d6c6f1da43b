/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for the expressions in the instruction table: exact, without libm, and without undefined behaviour for the arbitrary
 * values of inactive lanes. Functions in loops over lanes that the compiler must vectorise are inline; the others are in
 * emu_math.c.
 */
#ifndef EMU_MATH_PRIV_H
#define EMU_MATH_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EMU_INLINE static inline __attribute__((always_inline, unused))

/** Modifiers of a floating-point instruction, which are in emu_dinsn.reg. Expressions in the instruction table refer to these
 *  modifiers as `sub`. */
enum {
    EMU_FTZ = 1,
    EMU_SAT = 2,
    EMU_ROUNDING = 12, /* modifier RND, in bits 3:2 */
    EMU_MIN_NAN = 16,
    EMU_XORSIGN = 32,
    EMU_RELU = 64
};

/** C types for the type names in the instruction table. */
typedef uint32_t T_u32;
typedef int32_t T_s32;
typedef float T_f32;
typedef uint64_t T_u64;
typedef int64_t T_s64;
typedef double T_f64;
typedef float T_f16; /* 16-bit floats are computed as f32 */
typedef float T_bf16;

/* ---- bits -------------------------------------------------------------------------- */

EMU_INLINE float emu_f32_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
EMU_INLINE uint32_t emu_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
EMU_INLINE double emu_f64_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
EMU_INLINE uint64_t emu_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
/* Each macro or function returns the bits of a result; its name ends with the type. A NaN becomes the canonical NaN (MACHINE
 * 6). */
#define BITS_u32(x) ((uint32_t)(x))
#define BITS_s32(x) ((uint32_t)(x))
#define BITS_u64(x) ((uint64_t)(x))
#define BITS_s64(x) ((uint64_t)(x))
EMU_INLINE uint32_t BITS_f32(float x)
{
    return x != x ? UINT32_C(0x7fffffff) : emu_bits_f32(x);
}
EMU_INLINE uint64_t BITS_f64(double x)
{
    return x != x ? UINT64_C(0x7ff8000000000000) : emu_bits_f64(x);
}
#define BITS_f16(x) emu_f16_of_f32(x)
#define BITS_bf16(x) emu_bf16_of_f32(x)

/* ---- integers. A division by zero gives all ones as quotient and as remainder, as on an H100 ---------- */

EMU_INLINE uint32_t emu_div_u32(uint32_t a, uint32_t b)
{
    return b == 0 ? ~UINT32_C(0) : a / b;
}
EMU_INLINE uint32_t emu_rem_u32(uint32_t a, uint32_t b)
{
    return b == 0 ? ~UINT32_C(0) : a % b;
}
EMU_INLINE int32_t emu_div_s32(int32_t a, int32_t b)
{
    return b == 0 ? -1 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}
EMU_INLINE int32_t emu_rem_s32(int32_t a, int32_t b)
{
    return b == 0 ? -1 : b == -1 ? 0 : a % b;
}
EMU_INLINE uint64_t emu_div_u64(uint64_t a, uint64_t b)
{
    return b == 0 ? ~UINT64_C(0) : a / b;
}
EMU_INLINE uint64_t emu_rem_u64(uint64_t a, uint64_t b)
{
    return b == 0 ? ~UINT64_C(0) : a % b;
}
EMU_INLINE int64_t emu_div_s64(int64_t a, int64_t b)
{
    return b == 0 ? -1 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}
EMU_INLINE int64_t emu_rem_s64(int64_t a, int64_t b)
{
    return b == 0 ? -1 : b == -1 ? 0 : a % b;
}
EMU_INLINE uint64_t emu_mulhi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
EMU_INLINE int64_t emu_mulhi_s64(int64_t a, int64_t b)
{
    return (int64_t)((__int128)a * b >> 64);
}
EMU_INLINE uint32_t emu_clz_b32(uint32_t x)
{
    return x == 0 ? 32 : (uint32_t)__builtin_clz(x);
}
EMU_INLINE uint32_t emu_clz_b64(uint64_t x)
{
    return x == 0 ? 64 : (uint32_t)__builtin_clzll(x);
}
EMU_INLINE uint32_t emu_brev_b32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}
EMU_INLINE uint64_t emu_brev_b64(uint64_t x)
{
    return (uint64_t)emu_brev_b32((uint32_t)x) << 32 | emu_brev_b32((uint32_t)(x >> 32));
}
/* Extract a bit field: its position is in bits 7:0 of b, its length in bits 15:8 (docs/reference/isa.md). Bits of the field above
 * the top of the value are zero; for a signed field, these bits are copies of the value's top bit. A field of length 0 has the
 * value 0. */
EMU_INLINE uint64_t emu_bfe_u64(uint64_t a, uint32_t b)
{
    uint32_t pos = b & 255, len = b >> 8 & 255;
    uint64_t v = pos > 63 ? 0 : a >> pos;
    return len > 63 ? v : v & ((UINT64_C(1) << len) - 1);
}
EMU_INLINE uint32_t emu_bfe_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)emu_bfe_u64(a, b);
}
EMU_INLINE int64_t emu_bfe_s64(int64_t a, uint32_t b)
{
    uint32_t pos = b & 255, len = b >> 8 & 255;
    int64_t v = a >> (pos > 63 ? 63 : pos);
    if (len == 0)
        return 0;
    if (len > 63)
        return v;
    return (int64_t)((uint64_t)v << (64 - len)) >> (64 - len);
}
EMU_INLINE int32_t emu_bfe_s32(int32_t a, uint32_t b)
{
    return (int32_t)emu_bfe_s64(a, b);
}
/* Insert the low bits of a into c, at the position and with the length in b. */
EMU_INLINE uint64_t emu_bfi_b64(uint64_t a, uint32_t b, uint64_t c)
{
    uint32_t pos = b & 255, len = b >> 8 & 255;
    uint64_t field = len > 63 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1;
    if (pos > 63)
        return c;
    return (c & ~(field << pos)) | (a & field) << pos;
}
EMU_INLINE uint32_t emu_bfi_b32(uint32_t a, uint32_t b, uint32_t c)
{
    return (b & 255) > 31 ? c : (uint32_t)emu_bfi_b64(a, b, c);
}
/* Funnel shifts of {b:a} by c, which is clamped to 32. The left shift returns the high word, the right shift the low word. */
EMU_INLINE uint32_t emu_funnel_l(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t s = c > 32 ? 32 : c;
    return (uint32_t)((((uint64_t)b << 32 | a) << s) >> 32);
}
EMU_INLINE uint32_t emu_funnel_r(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t s = c > 32 ? 32 : c;
    return (uint32_t)(((uint64_t)b << 32 | a) >> s);
}
EMU_INLINE uint32_t emu_dp4a_u32(uint32_t a, uint32_t b, uint32_t c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}
EMU_INLINE uint32_t emu_dp4a_s32(uint32_t a, uint32_t b, uint32_t c)
{
    for (int i = 0; i < 32; i += 8)
        c += (uint32_t)((int32_t)(int8_t)(a >> i) * (int32_t)(int8_t)(b >> i));
    return c;
}

/* Dot products added to c. emu_dot4: the bytes of a with the bytes of b. emu_dot2: the 16-bit halves of a with the two low bytes
 * of b. */
EMU_INLINE uint32_t emu_dot4(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed)
{
    for (int i = 0; i < 32; i += 8) {
        uint32_t x = a >> i & 255, y = b >> i & 255;
        x = a_signed ? (uint32_t)(int32_t)(int8_t)x : x;
        y = b_signed ? (uint32_t)(int32_t)(int8_t)y : y;
        c += x * y;
    }
    return c;
}
EMU_INLINE uint32_t emu_dot2(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed)
{
    for (int i = 0; i < 2; i++) {
        uint32_t x = a >> (16 * i) & 0xffff, y = b >> (8 * i) & 255;
        x = a_signed ? (uint32_t)(int32_t)(int16_t)x : x;
        y = b_signed ? (uint32_t)(int32_t)(int8_t)y : y;
        c += x * y;
    }
    return c;
}
/* PTX bmsk.clamp: returns a mask of @width ones from bit @position on. */
EMU_INLINE uint32_t emu_bmsk_b32(uint32_t position, uint32_t width)
{
    uint32_t ones = width > 31 ? ~UINT32_C(0) : (UINT32_C(1) << (width & 31)) - 1;
    return position > 31 ? 0 : ones << (position & 31);
}
/* PTX szext.clamp: zero-extends (u32) or sign-extends (s32) the number in the low @bits bits of a. The result is 0 if @bits is
 * 0. */
EMU_INLINE uint32_t emu_szext_u32(uint32_t a, uint32_t bits)
{
    return bits > 31 ? a : a & ((UINT32_C(1) << (bits & 31)) - 1);
}
EMU_INLINE uint32_t emu_szext_s32(uint32_t a, uint32_t bits)
{
    uint32_t shift = bits > 31 ? 0 : 32 - bits;
    return bits == 0 ? 0 : (uint32_t)((int32_t)(a << (shift & 31)) >> (shift & 31));
}
EMU_INLINE int32_t emu_clamp_s32(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}
/** PTX fns: returns the position of a set bit of @mask. If @offset is positive, the result is the @offset-th set bit at or above
 *  bit @base; if negative, the -@offset-th set bit at or below bit @base; if 0, bit @base itself, if set. Returns all ones if
 *  there is no such bit, or if @base is above 31. */
uint32_t emu_fns_b32(uint32_t mask, uint32_t base, uint32_t offset);

/* ---- floats ----------------------------------------------------------------------------- */

/* min and max: if one operand is a NaN, the result is the other operand; -0 is less than +0. With EMU_MIN_NAN in @sub, the result
 * is a NaN if any operand is a NaN. With EMU_XORSIGN, the magnitudes are compared, and a numeric result gets the product's
 * sign. */
#define EMU_MINMAX(name, T, U, first)                                                         \
    EMU_INLINE T name##_plain(T a, T b)                                                       \
    {                                                                                         \
        U ia, ib;                                                                             \
        memcpy(&ia, &a, sizeof ia);                                                           \
        memcpy(&ib, &b, sizeof ib);                                                           \
        const bool a_sign = ia >> (8 * sizeof(U) - 1) & 1;                                    \
        T r = (first) ? a : b;                                                                \
        r = b != b ? a : r;                                                                   \
        return a != a ? b : r;                                                                \
    }                                                                                         \
    EMU_INLINE T name(T a, T b, unsigned sub)                                                 \
    {                                                                                         \
        const U top = (U)1 << (8 * sizeof(U) - 1);                                            \
        U ia, ib, ir;                                                                         \
        T r;                                                                                  \
        if (!(sub & (EMU_MIN_NAN | EMU_XORSIGN)))                                             \
            return name##_plain(a, b);                                                        \
        memcpy(&ia, &a, sizeof ia);                                                           \
        memcpy(&ib, &b, sizeof ib);                                                           \
        if (sub & EMU_XORSIGN) {                                                              \
            const U ma = ia & ~top, mb = ib & ~top;                                           \
            memcpy(&a, &ma, sizeof a);                                                        \
            memcpy(&b, &mb, sizeof b);                                                        \
        }                                                                                     \
        r = name##_plain(a, b);                                                               \
        if (sub & EMU_MIN_NAN)                                                                \
            r = a != a ? a : b != b ? b : r;                                                  \
        memcpy(&ir, &r, sizeof ir);                                                           \
        if (sub & EMU_XORSIGN)                                                                \
            ir |= (ia ^ ib) & top; /* if an operand is NaN, the sign is overwritten later */                                   \
        memcpy(&r, &ir, sizeof r);                                                            \
        return r;                                                                             \
    }
EMU_MINMAX(emu_min_f32, float, uint32_t, a < b || (a == b && a_sign))
EMU_MINMAX(emu_max_f32, float, uint32_t, a > b || (a == b && !a_sign))
EMU_MINMAX(emu_min_f64, double, uint64_t, a < b || (a == b && a_sign))
EMU_MINMAX(emu_max_f64, double, uint64_t, a > b || (a == b && !a_sign))
#undef EMU_MINMAX

EMU_INLINE float emu_sqrt_f32(float x)
{
    return __builtin_sqrtf(x); /* compiles to one instruction, because of -fno-math-errno */
}
EMU_INLINE double emu_sqrt_f64(double x)
{
    return __builtin_sqrt(x);
}
/* The reciprocal square root is rounded twice, but is correctly rounded: tests check every significand of two binades. */
EMU_INLINE float emu_rsq_f32(float x)
{
    return (float)(1.0 / __builtin_sqrt((double)x));
}

/** Computes a * b + c in integer arithmetic with a single rounding; @rounding is a value of modifier RND. */
double emu_fma_f64_soft(double a, double b, double c, unsigned rounding);
#if defined __FMA__ || defined __aarch64__
EMU_INLINE float emu_fma_f32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
EMU_INLINE double emu_fma_f64(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#else
/* Computes a * b + c in double. The product of two floats is exact in double. The sum is rounded to odd, so that only the second
 * rounding, to float, has an effect (53 >= 2 * 24 + 2). If the processor is set to the directed rounding mode in @sub, both
 * roundings have this direction. */
EMU_INLINE float emu_fma_f32_in(float a, float b, float c, unsigned sub)
{
    double p = (double)a * b, s = p + c;
    double t = s - p, err = (p - (s - t)) + (c - t);
    int64_t bits;
    memcpy(&bits, &s, sizeof bits);
    const bool finite = (bits & INT64_C(0x7ff0000000000000)) != INT64_C(0x7ff0000000000000);
    const bool away = (err > 0) == (s > 0);
    const bool odd = (sub & EMU_ROUNDING) != 0 || (bits & 1);
    const int64_t step = finite && err != 0 && !odd ? (away ? 1 : -1) : 0;
    bits += step;
    memcpy(&s, &bits, sizeof s);
    return (float)s;
}
EMU_INLINE double emu_fma_f64_in(double a, double b, double c, unsigned sub)
{
    return emu_fma_f64_soft(a, b, c, sub >> 2 & 3);
}
/* In the expressions of the instruction table, a variable `sub` is in scope. */
#define emu_fma_f32(a, b, c) emu_fma_f32_in(a, b, c, sub)
#define emu_fma_f64(a, b, c) emu_fma_f64_in(a, b, c, sub)
#endif

/* Further functions of mufu are in emu_mufu_priv.h. */
double emu_rsq_f64(double x);
/* PTX rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64. The operand has the high word @high and the low word 0. Returns the high word
 * of the result, which is correctly rounded for the reciprocal, and rounded twice for the reciprocal square root. */
uint32_t emu_rcp64h(uint32_t high);
uint32_t emu_rsq64h(uint32_t high);

/* ---- rounding to integral values; a zero result has the sign of the operand ------------------------- */

/* From 2^23 on, every float is integral. Smaller floats are rounded by a conversion to integer or by an addition. */
EMU_INLINE float emu_signed_as(float magnitude, float x)
{
    return emu_f32_bits(emu_bits_f32(magnitude) | (emu_bits_f32(x) & 0x80000000u));
}
EMU_INLINE bool emu_has_fraction(float x)
{
    return (emu_bits_f32(x) & 0x7fffffffu) < 0x4b000000u;
}
EMU_INLINE float emu_rint_f32(float x)
{
    float a = emu_f32_bits(emu_bits_f32(x) & 0x7fffffffu);
    float t = (a + 0x1p23f) - 0x1p23f; /* the processor rounds this sum to nearest even, which makes it integral */
    return emu_has_fraction(x) ? emu_signed_as(t, x) : x;
}
EMU_INLINE float emu_trunc_f32(float x)
{
    float t = emu_has_fraction(x) ? (float)(int32_t)x : x;
    return emu_signed_as(t, x);
}
EMU_INLINE float emu_floor_f32(float x)
{
    float t = emu_has_fraction(x) ? (float)(int32_t)x : x;
    t = t > x ? t - 1.0f : t;
    return emu_signed_as(t, x);
}
EMU_INLINE float emu_ceil_f32(float x)
{
    float t = emu_has_fraction(x) ? (float)(int32_t)x : x;
    t = t < x ? t + 1.0f : t;
    return emu_signed_as(t, x);
}
/* Conversions to integers: towards zero, and clamped to the type. A NaN is converted to 0, but a NaN of type f64 to the smallest
 * integer (PTX, cvt). */
EMU_INLINE int32_t emu_s32_of_f32(float x)
{
    const bool inside = x > -0x1.000002p31f && x < 0x1p31f;
    int32_t r = inside ? (int32_t)x : x > 0 ? INT32_MAX : INT32_MIN;
    return x != x ? 0 : r;
}
EMU_INLINE uint32_t emu_u32_of_f32(float x)
{
    const bool high = x >= 0x1p31f && x < 0x1p32f, low = x > 0 && x < 0x1p31f;
    uint32_t r = x > 0 ? UINT32_MAX : 0;
    r = high ? (uint32_t)(int32_t)(x - 0x1p31f) + 0x80000000u : r;
    return low ? (uint32_t)(int32_t)x : r;
}
EMU_INLINE int32_t emu_s32_of_f64(double x)
{
    const bool inside = x > -0x1.00000002p31 && x < 0x1p31;
    return inside ? (int32_t)x : x > 0 ? INT32_MAX : INT32_MIN;
}

/* ---- 16-bit floats, computed in f32: the second rounding, to 16 bits, gives the exact result ------------- */

/* f32 has 24 >= 2 * 11 + 2 (and 2 * 8 + 2) bits. So a sum, product, quotient or root of f16 or bf16 values that was rounded to
 * f32 rounds to the same 16-bit value as the exact result would. tests/emu/exec/test_half checks it. */

/** Converts the f16 in bits 15:0 to f32. The conversion is exact, and uses no arithmetic on denormals. */
EMU_INLINE float emu_f32_of_f16(uint32_t h)
{
    uint32_t m = (h & 0x7fff) << 13, e = m & 0x0f800000u, n = m + 0x38000000u;
    uint32_t small = emu_bits_f32(emu_f32_bits(m + 0x38800000u) - 0x1p-14f);

    n = e == 0x0f800000u ? n + 0x38000000u : n; /* infinity and NaN need another exponent */
    n = e == 0 ? small : n;
    return emu_f32_bits(n | (h & 0x8000) << 16);
}
/** Rounds to f16, to nearest even; the result is in bits 15:0. A NaN becomes the canonical NaN. */
EMU_INLINE uint32_t emu_f16_of_f32(float x)
{
    uint32_t b = emu_bits_f32(x), m = b & 0x7fffffffu, r;
    uint32_t normal = (m + 0xc8000fffu + (m >> 13 & 1)) >> 13;
    /* the last place of a float near 0.5 is 2^-24, and so is that of a denormal f16, so the addition rounds to f16 */
    uint32_t small = emu_bits_f32(emu_f32_bits(m) + 0.5f) - 0x3f000000u;

    r = m < 0x38800000u ? small : normal;
    r = m >= 0x477ff000u ? 0x7c00u : r;
    r |= b >> 16 & 0x8000;
    return m > 0x7f800000u ? 0x7fffu : r;
}
EMU_INLINE float emu_f32_of_bf16(uint32_t h)
{
    return emu_f32_bits(h << 16);
}
EMU_INLINE uint32_t emu_bf16_of_f32(float x)
{
    uint32_t b = emu_bits_f32(x);
    uint32_t r = (b + 0x7fffu + (b >> 16 & 1)) >> 16;
    return (b & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r;
}
/* If @sub has EMU_FTZ, replaces magnitudes below @least by a zero of the same sign. */
EMU_INLINE float emu_flush_below(float x, float least, unsigned sub)
{
    uint32_t b = emu_bits_f32(x);
    return (sub & EMU_FTZ) && (b & 0x7fffffffu) < emu_bits_f32(least)
               ? emu_f32_bits(b & 0x80000000u) : x;
}
EMU_INLINE float emu_clamp_half(float x, unsigned sub)
{
    if (sub & EMU_SAT) /* clamps to [0, 1]; a NaN becomes +0 */
        x = x >= 1.0f ? 1.0f : x > 0.0f ? x : 0.0f;
    if (sub & EMU_RELU)
        x = x <= 0.0f ? 0.0f : x;
    return x;
}
/** Computes a * b + c for f16 values. The product is exact in f32. The sum is rounded to odd, so that only the later rounding to
 *  f16 has an effect. */
EMU_INLINE float emu_fma_f16(float a, float b, float c)
{
    float p = a * b, s = p + c;
    float t = s - p, err = (p - (s - t)) + (c - t);
    uint32_t bits = emu_bits_f32(s);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    const bool away = (err > 0) == (s > 0);
    const uint32_t step = finite && err != 0 && !(bits & 1) ? (away ? 1u : ~0u) : 0;
    return emu_f32_bits(bits + step);
}
/* Computes a * b + c rounded to bf16, returned as f32. */
float emu_fma_bf16(float a, float b, float c);
float emu_ex2_f16(float x);
float emu_ex2_bf16(float x);
float emu_tanh_f16(float x);
float emu_tanh_bf16(float x);
float emu_rsq_f16(float x);

/** Converts the value in the low bits of @bits. All arguments but @bits are values of the modifiers DTYPE, STYPE, CRND, CSAT and
 *  CFTZ. */
uint64_t emu_convert(unsigned dtype, unsigned stype, unsigned rounding, bool saturate, bool ftz,
                     uint64_t bits);

#endif
