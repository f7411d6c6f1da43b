/* SPDX-License-Identifier: Apache-2.0 */
/* bfloat16: the upper half of a float. Arithmetic is a float's, rounded once more to nearest even. */
#ifndef LANEWISE_CUDA_BF16_H
#define LANEWISE_CUDA_BF16_H

#include "lanewise_cuda.h"
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

#define LW_ND __attribute__((nodebug, always_inline))
struct __align__(2) __nv_bfloat16 {
    unsigned short __x;

    __nv_bfloat16() = default;
    LW_ND __host__ __device__ __nv_bfloat16(float x) : __x(lw_bf16_bits(x)) {}
    LW_ND __host__ __device__ __nv_bfloat16(double x) : __x(lw_bf16_bits((float)x)) {}
    LW_ND __host__ __device__ __nv_bfloat16(int x) : __x(lw_bf16_bits((float)x)) {}
    LW_ND __host__ __device__ operator float() const { return lw_bf16_value(__x); }
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    LW_ND __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b)
        : x(a), y(b) {}
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
    LW_FN __nv_bfloat16 F(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a OP (float)b; }      \
    LW_FN __nv_bfloat162 F##2(__nv_bfloat162 a, __nv_bfloat162 b)                                 \
    {                                                                                             \
        return __nv_bfloat162(F(a.x, b.x), F(a.y, b.y));                                          \
    }                                                                                             \
    LW_FN __nv_bfloat16 operator OP(const __nv_bfloat16 &a, const __nv_bfloat16 &b)               \
    {                                                                                             \
        return F(a, b);                                                                           \
    }                                                                                             \
    LW_FN __nv_bfloat162 operator OP(const __nv_bfloat162 &a, const __nv_bfloat162 &b)            \
    {                                                                                             \
        return F##2(a, b);                                                                        \
    }                                                                                             \
    LW_FN __nv_bfloat16 &operator ASSIGN(__nv_bfloat16 &a, const __nv_bfloat16 &b)                \
    {                                                                                             \
        return a = F(a, b);                                                                       \
    }
LW_ARITHMETIC(__hadd, +, +=) LW_ARITHMETIC(__hsub, -, -=) LW_ARITHMETIC(__hmul, *, *=)
LW_ARITHMETIC(__hdiv, /, /=)
#undef LW_ARITHMETIC
/* The float sum of an exact product is exact enough: 8 bits times 8 bits fit 24. */
LW_FN __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return fmaf((float)a, (float)b, (float)c);
}
LW_FN __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
LW_FN __nv_bfloat16 __hneg(__nv_bfloat16 a)
{
    return __ushort_as_bfloat16((unsigned short)(a.__x ^ 0x8000));
}
LW_FN __nv_bfloat16 __habs(__nv_bfloat16 a)
{
    return __ushort_as_bfloat16((unsigned short)(a.__x & 0x7fff));
}
LW_FN __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return fminf((float)a, (float)b); }
LW_FN __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return fmaxf((float)a, (float)b); }
#define LW_COMPARE(F, OP)                                                                         \
    LW_FN bool F(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a OP (float)b; }               \
    LW_FN bool operator OP(const __nv_bfloat16 &a, const __nv_bfloat16 &b)                        \
    {                                                                                             \
        return (float)a OP (float)b;                                                              \
    }
LW_COMPARE(__heq, ==) LW_COMPARE(__hneu, !=) LW_COMPARE(__hlt, <) LW_COMPARE(__hle, <=)
LW_COMPARE(__hgt, >) LW_COMPARE(__hge, >=)
#undef LW_COMPARE
LW_FN bool __hisnan(__nv_bfloat16 a) { return (a.__x & 0x7fff) > 0x7f80; }

#include "lanewise_names_end.h"
#endif
