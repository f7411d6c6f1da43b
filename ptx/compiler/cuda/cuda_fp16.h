/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision: half is a 16-bit float, half2 a pair in one register. */
#ifndef LANEWISE_CUDA_FP16_H
#define LANEWISE_CUDA_FP16_H
#ifndef __cplusplus
#error <cuda_fp16.h> is for C++ only: name the file .cpp or .cu
#else

#include "lanewise_cuda.h"
#include "lanewise_names_begin.h"

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

/* How lw_half_round() rounds. */
enum lw_rounding { LW_NEAREST, LW_ZERO, LW_DOWN, LW_UP };
/* Returns the bits of the half to which @x is rounded. */
LW_HD unsigned short lw_half_round(double x, enum lw_rounding rounding)
{
    const unsigned long long u = __builtin_bit_cast(unsigned long long, x), fraction = u & 0xfffffffffffffull;
    const unsigned int sign = (unsigned int)(u >> 48) & 0x8000;
    const int exponent = (int)(u >> 52 & 0x7ff) - 1023;
    const bool away = rounding == LW_UP ? sign == 0 : rounding == LW_DOWN && sign != 0;

    if (exponent == 1024 && fraction != 0)
        return 0x7fff;
    if (exponent == 1024)
        return (unsigned short)(sign | 0x7c00);
    if (exponent >= 16)
        return (unsigned short)(sign | (rounding == LW_NEAREST || away ? 0x7c00 : 0x7bff));
    if (u << 1 == 0)
        return (unsigned short)sign;

    /* The last @drop bits of the significand do not fit in the half. */
    const int drop = exponent >= -14 ? 42 : exponent > -35 ? 28 - exponent : 63;
    const unsigned long long whole = fraction | 1ull << 52, rest = whole & ((1ull << drop) - 1), middle = 1ull << (drop - 1);
    unsigned int r = (unsigned int)(whole >> drop) + (exponent >= -14 ? (unsigned int)(exponent + 14) << 10 : 0);

    if (rounding == LW_NEAREST)
        r += rest > middle || (rest == middle && (r & 1) != 0);
    else
        r += away && rest != 0;
    return (unsigned short)(sign | r);
}
/* Each type has its own conversion, so that a value is rounded once. A 64-bit integer that a double cannot represent is
 * greater than every half. */
#define LW_HALF_BITS(T, PTX, C)                                                                   \
    LW_HD unsigned short lw_half_bits(T x)                                                        \
    {                                                                                             \
        LW_SIDES(unsigned short r; __asm__("cvt.rn.f16." PTX " %0, %1;" : "=h"(r) : C(x)); return r,   \
                 return lw_half_round((double)x, LW_NEAREST));                                    \
    }
LW_HALF_BITS(float, "f32", "f") LW_HALF_BITS(double, "f64", "d") LW_HALF_BITS(int, "s32", "r")
LW_HALF_BITS(unsigned int, "u32", "r") LW_HALF_BITS(short, "s16", "h")
LW_HALF_BITS(unsigned short, "u16", "h") LW_HALF_BITS(long long, "s64", "l")
LW_HALF_BITS(unsigned long long, "u64", "l") LW_HALF_BITS(long, "s64", "l") LW_HALF_BITS(unsigned long, "u64", "l")
#undef LW_HALF_BITS
LW_HD float lw_half_value(unsigned short x)
{
    LW_SIDES(float r; __asm__("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x)); return r,
             const unsigned int sign = (x & 0x8000u) << 16; const unsigned int rest = x & 0x7fffu;
             return rest > 0x7c00 ? __builtin_bit_cast(float, 0x7fffffffu)
                    : rest == 0x7c00 ? __builtin_bit_cast(float, sign | 0x7f800000u)
                    : rest >= 0x400 ? __builtin_bit_cast(float, sign | ((rest << 13) + 0x38000000u))
                                    : (sign != 0 ? -1.0f : 1.0f) * (float)rest * 0x1p-24f);
}

#define LW_ND __attribute__((nodebug, always_inline))
struct __align__(2) __half {
    unsigned short __x;

    __half() = default;
    LW_ND __host__ __device__ __half(const __half_raw &r) : __x(r.x) {}
    LW_ND __host__ __device__ __half(float x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(double x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(int x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(unsigned int x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(short x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(unsigned short x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(long long x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(unsigned long long x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(long x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(unsigned long x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ operator float() const { return lw_half_value(__x); }
    LW_ND __host__ __device__ operator __half_raw() const { return __half_raw{__x}; }
    LW_ND __host__ __device__ __half &operator=(float x)
    {
        __x = lw_half_bits(x);
        return *this;
    }
    LW_ND __host__ __device__ explicit operator bool() const { return (__x & 0x7fff) != 0; }
    LW_ND __host__ __device__ explicit operator int() const { return (int)lw_half_value(__x); }
};
struct __align__(4) __half2 {
    __half x, y;

    __half2() = default;
    LW_ND __host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
    LW_ND __host__ __device__ __half2(const __half2_raw &r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
    LW_ND __host__ __device__ operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

LW_HD __half lw_half(unsigned short bits)
{
    __half r;

    r.__x = bits;
    return r;
}
LW_HD unsigned int lw_pair(__half2 x) { return __builtin_bit_cast(unsigned int, x); }
LW_HD __half2 lw_half2(unsigned int bits) { return __builtin_bit_cast(__half2, bits); }

/* ---- conversions ---------------------------------------------------------------------------- */

LW_HD __half __float2half(float x) { return __half(x); }
LW_HD __half __float2half_rn(float x) { return __half(x); }
LW_HD __half __double2half(double x) { return __half(x); }
LW_HD float __half2float(__half x) { return (float)x; }
#define LW_TO_HALF(R, PTX, ROUNDING)                                                              \
    LW_HD __half __float2half_##R(float x)                                                        \
    {                                                                                             \
        LW_SIDES(unsigned short r; __asm__("cvt." PTX ".f16.f32 %0, %1;" : "=h"(r) : "f"(x));     \
                 return lw_half(r), return lw_half(lw_half_round(x, ROUNDING)));                  \
    }
LW_TO_HALF(rz, "rz", LW_ZERO) LW_TO_HALF(rd, "rm", LW_DOWN) LW_TO_HALF(ru, "rp", LW_UP)
#undef LW_TO_HALF
/* Conversions from and to integers. A half that is not in the range of the integer type becomes the nearest value of the
 * type, and NaN becomes 0. */
#define LW_HALF_INT1(NAME, T, LOW, HIGH, C, PTX, K, R, TO, FROM, WHOLE, ROUNDING)                 \
    LW_HD T __half2##NAME##_##R(__half h)                                                         \
    {                                                                                             \
        LW_SIDES(T r; __asm__("cvt." TO "." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r, \
                 const float y = WHOLE((float)h);                                                 \
                 return y != y ? (T)0 : y <= (float)LOW ? LOW : y >= (float)HIGH ? HIGH : (T)y);  \
    }                                                                                             \
    LW_HD __half __##NAME##2half_##R(T x)                                                         \
    {                                                                                             \
        LW_SIDES(unsigned short r; __asm__("cvt." FROM ".f16." PTX " %0, %1;" : "=h"(r) : C(x));  \
                 return lw_half(r), return lw_half(lw_half_round((double)x, ROUNDING)));          \
    }
#define LW_HALF_INT(NAME, T, LOW, HIGH, C, PTX, K)                                                \
    LW_HALF_INT1(NAME, T, LOW, HIGH, C, PTX, K, rn, "rni", "rn", __builtin_rintf, LW_NEAREST)     \
    LW_HALF_INT1(NAME, T, LOW, HIGH, C, PTX, K, rz, "rzi", "rz", __builtin_truncf, LW_ZERO)       \
    LW_HALF_INT1(NAME, T, LOW, HIGH, C, PTX, K, ru, "rpi", "rp", __builtin_ceilf, LW_UP)          \
    LW_HALF_INT1(NAME, T, LOW, HIGH, C, PTX, K, rd, "rmi", "rm", __builtin_floorf, LW_DOWN)
LW_HALF_INT(int, int, (-__INT_MAX__ - 1), __INT_MAX__, "r", "s32", "r")
LW_HALF_INT(uint, unsigned int, 0u, ~0u, "r", "u32", "r")
LW_HALF_INT(short, short, (short)-32768, (short)32767, "h", "s16", "h")
LW_HALF_INT(ushort, unsigned short, (unsigned short)0, (unsigned short)65535, "h", "u16", "h")
LW_HALF_INT(ll, long long, (-__LONG_LONG_MAX__ - 1), __LONG_LONG_MAX__, "l", "s64", "l")
LW_HALF_INT(ull, unsigned long long, 0ull, ~0ull, "l", "u64", "l")
#undef LW_HALF_INT
#undef LW_HALF_INT1
LW_HD signed char __half2char_rz(__half h) { return (signed char)lw_clamp(__half2int_rz(h), -128, 127); }
LW_HD unsigned char __half2uchar_rz(__half h) { return (unsigned char)lw_clamp(__half2int_rz(h), 0, 255); }
LW_HD short __half_as_short(__half x) { return (short)x.__x; }
LW_HD unsigned short __half_as_ushort(__half x) { return x.__x; }
LW_HD __half __short_as_half(short x) { return lw_half((unsigned short)x); }
LW_HD __half __ushort_as_half(unsigned short x) { return lw_half(x); }

LW_HD __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
LW_HD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
LW_HD __half2 __half2half2(__half a) { return __half2(a, a); }
LW_HD __half __low2half(__half2 a) { return a.x; }
LW_HD __half __high2half(__half2 a) { return a.y; }
LW_HD float __low2float(__half2 a) { return (float)a.x; }
LW_HD float __high2float(__half2 a) { return (float)a.y; }
LW_HD __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
LW_HD __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
LW_HD __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
LW_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
LW_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
LW_HD __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
LW_HD __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
LW_HD __half2 __float22half2_rn(float2 x) { return __half2(__half(x.x), __half(x.y)); }
LW_HD float2 __half22float2(__half2 x) { return make_float2((float)x.x, (float)x.y); }

/* ---- arithmetic ------------------------------------------------------------------------------ */

LW_HD __half lw_half_saturated(double x) { return __half(x > 0.0 ? x < 1.0 ? x : 1.0 : 0.0); }
/* Sums, differences and products of halves are exact in double precision. */
#define LW_ARITHMETIC(F, INSN, OP, CONVERT)                                                       \
    LW_HD __half F(__half a, __half b)                                                            \
    {                                                                                             \
        LW_SIDES(unsigned short r; __asm__(INSN ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x)); \
                 return lw_half(r), return CONVERT((double)(float)a OP (double)(float)b));        \
    }                                                                                             \
    LW_HD __half2 F##2(__half2 a, __half2 b)                                                      \
    {                                                                                             \
        LW_SIDES(unsigned int r;                                                                  \
                 __asm__(INSN ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(lw_pair(a)), "r"(lw_pair(b))); \
                 return lw_half2(r), return __half2(F(a.x, b.x), F(a.y, b.y)));                   \
    }
LW_ARITHMETIC(__hadd, "add.rn", +, __half) LW_ARITHMETIC(__hsub, "sub.rn", -, __half)
LW_ARITHMETIC(__hmul, "mul.rn", *, __half) LW_ARITHMETIC(__hadd_sat, "add.rn.sat", +, lw_half_saturated)
LW_ARITHMETIC(__hsub_sat, "sub.rn.sat", -, lw_half_saturated)
LW_ARITHMETIC(__hmul_sat, "mul.rn.sat", *, lw_half_saturated)
#undef LW_ARITHMETIC
LW_HD __half2 __hadd2_sat(__half2 a, __half2 b) { return __hadd_sat2(a, b); }
LW_HD __half2 __hsub2_sat(__half2 a, __half2 b) { return __hsub_sat2(a, b); }
LW_HD __half2 __hmul2_sat(__half2 a, __half2 b) { return __hmul_sat2(a, b); }
#define LW_FMA(F, INSN, CONVERT)                                                                  \
    LW_HD __half F(__half a, __half b, __half c)                                                  \
    {                                                                                             \
        LW_SIDES(unsigned short r;                                                                \
                 __asm__(INSN ".f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
                 return lw_half(r), return CONVERT(lw_fma_odd(a, b, c)));                         \
    }                                                                                             \
    LW_HD __half2 F##2(__half2 a, __half2 b, __half2 c)                                           \
    {                                                                                             \
        LW_SIDES(unsigned int r;                                                                  \
                 __asm__(INSN ".f16x2 %0, %1, %2, %3;"                                            \
                         : "=r"(r)                                                                \
                         : "r"(lw_pair(a)), "r"(lw_pair(b)), "r"(lw_pair(c)));                    \
                 return lw_half2(r), return __half2(F(a.x, b.x, c.x), F(a.y, b.y, c.y)));         \
    }
LW_FMA(__hfma, "fma.rn", __half) LW_FMA(__hfma_sat, "fma.rn.sat", lw_half_saturated)
#undef LW_FMA
LW_HD __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) { return __hfma_sat2(a, b, c); }
/* The quotient of two halves is rounded to 24 bits and then to a half. 24 bits are enough to give the same result as a
 * single rounding. */
LW_HD __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
LW_HD __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }

LW_HD __half operator+(const __half &a, const __half &b) { return __hadd(a, b); }
LW_HD __half operator-(const __half &a, const __half &b) { return __hsub(a, b); }
LW_HD __half operator*(const __half &a, const __half &b) { return __hmul(a, b); }
LW_HD __half operator/(const __half &a, const __half &b) { return __hdiv(a, b); }
LW_HD __half &operator+=(__half &a, const __half &b) { return a = __hadd(a, b); }
LW_HD __half &operator-=(__half &a, const __half &b) { return a = __hsub(a, b); }
LW_HD __half &operator*=(__half &a, const __half &b) { return a = __hmul(a, b); }
LW_HD __half &operator/=(__half &a, const __half &b) { return a = __hdiv(a, b); }
LW_HD __half2 operator+(const __half2 &a, const __half2 &b) { return __hadd2(a, b); }
LW_HD __half2 operator-(const __half2 &a, const __half2 &b) { return __hsub2(a, b); }
LW_HD __half2 operator*(const __half2 &a, const __half2 &b) { return __hmul2(a, b); }
LW_HD __half2 operator/(const __half2 &a, const __half2 &b) { return __h2div(a, b); }

#define LW_H __half
#define LW_H2 __half2
#define LW_BITS(x) lw_half(x)
#define LW_PTX "f16"
#include "lanewise_half.h"
#undef LW_ND

#include "lanewise_names_end.h"
#endif
#endif
