/* SPDX-License-Identifier: Apache-2.0 */
/* bfloat16: the upper half of a float. Arithmetic is done in float, and the result is rounded to nearest even. */
#ifndef LANEWISE_CUDA_BF16_H
#define LANEWISE_CUDA_BF16_H
#ifndef __cplusplus
#error <cuda_bf16.h> is for C++ only: name the file .cpp or .cu
#else

#include "lanewise_cuda.h"
#include "cuda_fp16.h"
#include "lanewise_names_begin.h"

LW_HD unsigned short lw_bf16_bits(float x)
{
    unsigned int u = __builtin_bit_cast(unsigned int, x);

    if ((u & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
LW_HD float lw_bf16_value(unsigned short x)
{
    return __builtin_bit_cast(float, (unsigned int)x << 16);
}

/* Returns the float next to @x whose last bit is 1 if @x is not a float, so that a further rounding is correct. */
LW_HD float lw_float_odd(double x)
{
    const float f = (float)x;
    unsigned int u = __builtin_bit_cast(unsigned int, f);

    if ((double)f == x)
        return f;
    u -= __builtin_fabs((double)f) > __builtin_fabs(x);
    return __builtin_bit_cast(float, u | 1);
}
/* Returns the double next to @x whose last bit is 1 if @x is not a double. */
#define LW_ODD(T)                                                                                 \
    LW_HD double lw_double_odd(T x)                                                               \
    {                                                                                             \
        const double d = (double)x;                                                               \
                                                                                                  \
        return __builtin_fabs(d) < 0x1p53 ? d : (double)(T)((x | ((x & 0x7ff) != 0 ? 0x800 : 0)) & ~(T)0x7ff); \
    }
LW_ODD(long) LW_ODD(unsigned long) LW_ODD(long long) LW_ODD(unsigned long long)
#undef LW_ODD

struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat162_raw { unsigned short x, y; };
#define LW_ND __attribute__((nodebug, always_inline))
struct __align__(2) __nv_bfloat16 {
    unsigned short __x;

    __nv_bfloat16() = default;
    LW_ND __host__ __device__ __nv_bfloat16(float x) : __x(lw_bf16_bits(x)) {}
    LW_ND __host__ __device__ __nv_bfloat16(double x) : __x(lw_bf16_bits(lw_float_odd(x))) {}
    LW_ND __host__ __device__ __nv_bfloat16(int x) : __x(lw_bf16_bits(lw_float_odd(x))) {}
    LW_ND __host__ __device__ __nv_bfloat16(unsigned int x) : __x(lw_bf16_bits(lw_float_odd(x))) {}
    LW_ND __host__ __device__ __nv_bfloat16(short x) : __x(lw_bf16_bits(lw_float_odd(x))) {}
    LW_ND __host__ __device__ __nv_bfloat16(unsigned short x) : __x(lw_bf16_bits(lw_float_odd(x))) {}
    LW_ND __host__ __device__ __nv_bfloat16(long x) : __x(lw_bf16_bits(lw_float_odd(lw_double_odd(x)))) {}
    LW_ND __host__ __device__ __nv_bfloat16(unsigned long x) : __x(lw_bf16_bits(lw_float_odd(lw_double_odd(x)))) {}
    LW_ND __host__ __device__ __nv_bfloat16(long long x) : __x(lw_bf16_bits(lw_float_odd(lw_double_odd(x)))) {}
    LW_ND __host__ __device__ __nv_bfloat16(unsigned long long x) : __x(lw_bf16_bits(lw_float_odd(lw_double_odd(x)))) {}
    LW_ND __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw &r) : __x(r.x) {}
    LW_ND __host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
    LW_ND __host__ __device__ operator float() const { return lw_bf16_value(__x); }
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    LW_ND __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b)
        : x(a), y(b) {}
    LW_ND __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw &r)
        : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y}) {}
    LW_ND __host__ __device__ operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
#undef LW_ND
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

LW_HD __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
LW_HD __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
LW_HD __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
LW_HD float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
LW_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat162(a, b);
}
LW_HD __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(x, x); }
LW_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(x, y); }
LW_HD float2 __bfloat1622float2(__nv_bfloat162 x) { return make_float2((float)x.x, (float)x.y); }
LW_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
LW_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
LW_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
LW_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
LW_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short x)
{
    __nv_bfloat16 r;

    r.__x = x;
    return r;
}

#define LW_ARITHMETIC(F, OP, ASSIGN)                                                              \
    LW_HD __nv_bfloat16 F(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a OP (float)b; }      \
    LW_HD __nv_bfloat162 F##2(__nv_bfloat162 a, __nv_bfloat162 b)                                 \
    {                                                                                             \
        return __nv_bfloat162(F(a.x, b.x), F(a.y, b.y));                                          \
    }                                                                                             \
    LW_HD __nv_bfloat16 operator OP(const __nv_bfloat16 &a, const __nv_bfloat16 &b)               \
    {                                                                                             \
        return F(a, b);                                                                           \
    }                                                                                             \
    LW_HD __nv_bfloat162 operator OP(const __nv_bfloat162 &a, const __nv_bfloat162 &b)            \
    {                                                                                             \
        return F##2(a, b);                                                                        \
    }                                                                                             \
    LW_HD __nv_bfloat16 &operator ASSIGN(__nv_bfloat16 &a, const __nv_bfloat16 &b)                \
    {                                                                                             \
        return a = F(a, b);                                                                       \
    }
LW_ARITHMETIC(__hadd, +, +=) LW_ARITHMETIC(__hsub, -, -=) LW_ARITHMETIC(__hmul, *, *=)
LW_ARITHMETIC(__hdiv, /, /=)
#undef LW_ARITHMETIC
/* This function rounds once; fmaf() and a conversion would round twice. */
LW_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    LW_SIDES(unsigned short r;
             __asm__(LW_NEWER "fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
             return __ushort_as_bfloat16(r), return __nv_bfloat16(lw_fma_odd(a, b, c)));
}
LW_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
LW_HD __nv_bfloat16 lw_bf16_saturated(__nv_bfloat16 x) { const float y = x; return y > 0.0f ? y < 1.0f ? y : 1.0f : 0.0f; }
#define LW_SATURATED(F, G, A, B)                                                                  \
    LW_HD __nv_bfloat16 F A { return lw_bf16_saturated(G B); }
LW_SATURATED(__hadd_sat, __hadd, (__nv_bfloat16 a, __nv_bfloat16 b), (a, b))
LW_SATURATED(__hsub_sat, __hsub, (__nv_bfloat16 a, __nv_bfloat16 b), (a, b))
LW_SATURATED(__hmul_sat, __hmul, (__nv_bfloat16 a, __nv_bfloat16 b), (a, b))
LW_SATURATED(__hfma_sat, __hfma, (__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c), (a, b, c))
#undef LW_SATURATED
#define LW_SATURATED2(F, G)                                                                       \
    LW_HD __nv_bfloat162 F(__nv_bfloat162 a, __nv_bfloat162 b)                                    \
    {                                                                                             \
        return __nv_bfloat162(G(a.x, b.x), G(a.y, b.y));                                          \
    }
LW_SATURATED2(__hadd2_sat, __hadd_sat) LW_SATURATED2(__hsub2_sat, __hsub_sat)
LW_SATURATED2(__hmul2_sat, __hmul_sat)
#undef LW_SATURATED2
LW_HD __nv_bfloat162 __hfma2_sat(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    return __nv_bfloat162(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
LW_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return __hdiv2(a, b); }

#define LW_H __nv_bfloat16
#define LW_H2 __nv_bfloat162
#define LW_BITS(x) __ushort_as_bfloat16(x)
#define LW_PTX "bf16"
#include "lanewise_half.h"

/* ---- directed roundings, integers ------------------------------------------------------------- */

/* Directed rounding. Rounding towards zero drops the lower half of the float, and rounding away from zero takes the next
 * greater magnitude. */
LW_HD __nv_bfloat16 lw_bf16_cut(float x, int positive, int negative)
{
    unsigned int u = __builtin_bit_cast(unsigned int, x);

    if ((u & 0x7fffffffu) > 0x7f800000u)
        return __ushort_as_bfloat16(0x7fff);
    return __ushort_as_bfloat16(
        (unsigned short)((u >> 16) + ((u & 0xffff) != 0 && (u >> 31 ? negative : positive))));
}
LW_HD __nv_bfloat16 __float2bfloat16_rz(float x) { return lw_bf16_cut(x, 0, 0); }
LW_HD __nv_bfloat16 __float2bfloat16_ru(float x) { return lw_bf16_cut(x, 1, 0); }
LW_HD __nv_bfloat16 __float2bfloat16_rd(float x) { return lw_bf16_cut(x, 0, 1); }
#ifdef __CUDA__
/* Conversion of integers, rounded to nearest. The integer is first converted to float towards zero. If this conversion is
 * inexact, the last of the float's 24 bits is set, so that the second rounding is correct. */
#define LW_BF16_INT(NAME, T, LONG, BACK)                                                          \
    LW_FN __nv_bfloat16 __##NAME##2bfloat16_rn(T x)                                               \
    {                                                                                             \
        float f = __##LONG##2float_rz(x);                                                         \
        unsigned int cut = (T)__float2##LONG##_rz(f) != x;                                        \
                                                                                                  \
        return __uint_as_float(__float_as_uint(f) | cut);                                         \
    }                                                                                             \
    LW_FN __nv_bfloat16 __##NAME##2bfloat16_rz(T x) { return __float2bfloat16_rz(__##LONG##2float_rz(x)); } \
    LW_FN __nv_bfloat16 __##NAME##2bfloat16_ru(T x) { return __float2bfloat16_ru(__##LONG##2float_ru(x)); } \
    LW_FN __nv_bfloat16 __##NAME##2bfloat16_rd(T x) { return __float2bfloat16_rd(__##LONG##2float_rd(x)); } \
    LW_FN T __bfloat162##NAME##_rn(__nv_bfloat16 h) { return BACK(__float2##LONG##_rn((float)h)); } \
    LW_FN T __bfloat162##NAME##_rz(__nv_bfloat16 h) { return BACK(__float2##LONG##_rz((float)h)); } \
    LW_FN T __bfloat162##NAME##_ru(__nv_bfloat16 h) { return BACK(__float2##LONG##_ru((float)h)); } \
    LW_FN T __bfloat162##NAME##_rd(__nv_bfloat16 h) { return BACK(__float2##LONG##_rd((float)h)); }
#define LW_AS_SHORT(x) (short)lw_clamp(x, -32768, 32767)
#define LW_AS_USHORT(x) (unsigned short)lw_clamp(x, 0, 65535)
LW_BF16_INT(int, int, int, ) LW_BF16_INT(uint, unsigned int, uint, ) LW_BF16_INT(ll, long long, ll, )
LW_BF16_INT(ull, unsigned long long, ull, ) LW_BF16_INT(short, short, int, LW_AS_SHORT)
LW_BF16_INT(ushort, unsigned short, int, LW_AS_USHORT)
#undef LW_AS_SHORT
#undef LW_AS_USHORT
#undef LW_BF16_INT
LW_FN signed char __bfloat162char_rz(__nv_bfloat16 h) { return (signed char)lw_clamp(__float2int_rz((float)h), -128, 127); }
LW_FN unsigned char __bfloat162uchar_rz(__nv_bfloat16 h) { return (unsigned char)lw_clamp(__float2int_rz((float)h), 0, 255); }
#endif
LW_HD short __bfloat16_as_short(__nv_bfloat16 x) { return (short)x.__x; }
LW_HD __nv_bfloat16 __short_as_bfloat16(short x) { return __ushort_as_bfloat16((unsigned short)x); }
LW_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
LW_HD __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __nv_bfloat162(x.x, x.y); }
LW_HD float __low2float(__nv_bfloat162 a) { return (float)a.x; }
LW_HD float __high2float(__nv_bfloat162 a) { return (float)a.y; }
LW_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
LW_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
LW_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
LW_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
LW_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }

#include "lanewise_names_end.h"
#endif
#endif
