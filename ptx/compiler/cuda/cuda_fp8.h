/* SPDX-License-Identifier: Apache-2.0 */
/* 8-bit floats: __nv_fp8_e4m3 has 3 bits of fraction and no infinities, __nv_fp8_e5m2 is the upper half of a half. They have
 * conversions and no arithmetic. */
#ifndef LANEWISE_CUDA_FP8_H
#define LANEWISE_CUDA_FP8_H
#ifndef __cplusplus
#error <cuda_fp8.h> is for C++ only: name the file .cpp or .cu
#else

#include "cuda_fp16.h"
#include "cuda_bf16.h"
#include "lanewise_names_begin.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

/* ---- conversions ------------------------------------------------------------------------------ */

/* Rounds to nearest even. With __NV_SATFINITE, values beyond the range and infinities become the largest finite value. A NaN of
 * type double keeps its sign and the first bits of its fraction. Every other NaN becomes 0x7f. */
LW_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, enum __nv_saturation_t saturate, enum __nv_fp8_interpretation_t kind)
{
    const bool e4 = kind == __NV_E4M3;
    const unsigned long long u = __builtin_bit_cast(unsigned long long, x), fraction = u & 0xfffffffffffffull;
    const unsigned int sign = (unsigned int)(u >> 56) & 0x80, largest = e4 ? 0x7e : 0x7b;
    const unsigned int overflow = saturate == __NV_SATFINITE ? largest : e4 ? 0x7f : 0x7c;
    const int exponent = (int)(u >> 52 & 0x7ff) - 1023, fraction_bits = e4 ? 3 : 2, lowest = e4 ? -6 : -14;

    if (exponent == 1024 && fraction != 0)
        return (__nv_fp8_storage_t)(sign | (e4 ? 0x7f : 0x7e | (unsigned int)(fraction >> 50 & 1)));
    if (exponent > (e4 ? 8 : 15))
        return (__nv_fp8_storage_t)(sign | overflow);

    const int more = exponent < lowest ? lowest - exponent : 0, drop = more > 10 ? 63 : 52 - fraction_bits + more;
    const unsigned long long whole = fraction | 1ull << 52, rest = whole & ((1ull << drop) - 1), middle = 1ull << (drop - 1);
    unsigned int r = (unsigned int)(whole >> drop) + (exponent >= lowest ? (unsigned int)(exponent - lowest) << fraction_bits : 0);

    r += rest > middle || (rest == middle && (r & 1) != 0);
    return (__nv_fp8_storage_t)(sign | (r > largest ? overflow : r));
}
LW_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, enum __nv_saturation_t saturate, enum __nv_fp8_interpretation_t kind)
{
    return x != x ? 0x7f : __nv_cvt_double_to_fp8((double)x, saturate, kind);
}
LW_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, enum __nv_saturation_t saturate,
                                                 enum __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(lw_half_value(x.x), saturate, kind);
}
LW_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, enum __nv_saturation_t saturate,
                                                     enum __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(lw_bf16_value(x.x), saturate, kind);
}
/* Conversions of pairs. The first element is in the lower byte. */
#define LW_FP8_PAIR(NAME, T, ONE)                                                                 \
    LW_HD __nv_fp8x2_storage_t NAME(T v, enum __nv_saturation_t saturate, enum __nv_fp8_interpretation_t kind) \
    {                                                                                             \
        return (__nv_fp8x2_storage_t)(ONE(v.x, saturate, kind) | ONE(v.y, saturate, kind) << 8);  \
    }
#define LW_FP8_OF_HALF(X, S, K) __nv_cvt_halfraw_to_fp8(__half_raw{X}, S, K)
#define LW_FP8_OF_BF16(X, S, K) __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{X}, S, K)
LW_FP8_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8)
LW_FP8_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8)
LW_FP8_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, LW_FP8_OF_HALF)
LW_FP8_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, LW_FP8_OF_BF16)
#undef LW_FP8_PAIR
#undef LW_FP8_OF_HALF
#undef LW_FP8_OF_BF16

/* A half has every value of both types. */
LW_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, enum __nv_fp8_interpretation_t kind)
{
    const unsigned int sign = (x & 0x80u) << 8, rest = x & 0x7fu;
    __half_raw r;

    if (kind == __NV_E5M2 ? rest > 0x7c : rest == 0x7f)
        r.x = 0x7fff;
    else if (kind == __NV_E5M2)
        r.x = (unsigned short)((unsigned int)x << 8);
    else if (rest >= 8)
        r.x = (unsigned short)(sign | ((rest << 7) + 0x2000));
    else
        r.x = (unsigned short)(sign | lw_half_round((double)rest * 0x1p-9, LW_NEAREST));
    return r;
}
LW_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, enum __nv_fp8_interpretation_t kind)
{
    return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
                       __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

/* ---- types --------------------------------------------------------------------------------------- */

#define LW_ND __attribute__((nodebug, always_inline)) __host__ __device__
/* A double represents every integer that is within the range of the types. */
#define LW_FP8_INT(N, KIND, T, LOW, HIGH)                                                         \
    LW_ND explicit N(T x) : __x(__nv_cvt_double_to_fp8((double)x, __NV_SATFINITE, KIND)) {}       \
    LW_FP8_TO_INT(T, LOW, HIGH)
/* A value that is not in the range of the integer type becomes the nearest value of the type. NaN becomes 0, or the 64-bit
 * integer whose highest bit is 1. */
#define LW_FP8_TO_INT(T, LOW, HIGH)                                                               \
    LW_ND explicit operator T() const                                                             \
    {                                                                                             \
        const float f = (float)*this;                                                             \
                                                                                                  \
        return f != f ? (T)(sizeof(T) == 8 ? 1ull << 63 : 0ull) : f <= (float)(LOW) ? (T)(LOW) : f >= (float)(HIGH) ? (T)(HIGH) : (T)f; \
    }
#define LW_FP8(KIND, N, N2, N4)                                                                   \
    struct N {                                                                                    \
        __nv_fp8_storage_t __x;                                                                   \
                                                                                                  \
        N() = default;                                                                            \
        LW_ND explicit N(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, KIND)) {}        \
        LW_ND explicit N(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, KIND)) {}      \
        LW_ND explicit N(__half x) : __x(__nv_cvt_halfraw_to_fp8(x, __NV_SATFINITE, KIND)) {}     \
        LW_ND explicit N(__nv_bfloat16 x) : __x(__nv_cvt_bfloat16raw_to_fp8(x, __NV_SATFINITE, KIND)) {} \
        LW_FP8_INT(N, KIND, short, -32768, 32767) LW_FP8_INT(N, KIND, unsigned short, 0, 65535)   \
        LW_FP8_INT(N, KIND, int, -__INT_MAX__ - 1, __INT_MAX__) LW_FP8_INT(N, KIND, unsigned int, 0u, ~0u) \
        LW_FP8_INT(N, KIND, long, -__LONG_MAX__ - 1, __LONG_MAX__) LW_FP8_INT(N, KIND, unsigned long, 0ul, ~0ul) \
        LW_FP8_INT(N, KIND, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)                 \
        LW_FP8_INT(N, KIND, unsigned long long, 0ull, ~0ull)                                      \
        LW_FP8_TO_INT(char, -128, 127) LW_FP8_TO_INT(signed char, -128, 127) LW_FP8_TO_INT(unsigned char, 0, 255) \
        LW_ND explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, KIND)); } \
        LW_ND explicit operator float() const { return lw_half_value(__nv_cvt_fp8_to_halfraw(__x, KIND).x); } \
        LW_ND explicit operator double() const { return (double)(float)*this; }                   \
        LW_ND explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }     \
        LW_ND explicit operator bool() const { return (__x & 0x7f) != 0; }                        \
    };                                                                                            \
    struct __align__(2) N2 {                                                                      \
        __nv_fp8x2_storage_t __x;                                                                 \
                                                                                                  \
        N2() = default;                                                                           \
        LW_ND explicit N2(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}   \
        LW_ND explicit N2(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, KIND)) {} \
        LW_ND explicit N2(__half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, KIND)) {} \
        LW_ND explicit N2(__nv_bfloat162 v) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, KIND)) {} \
        LW_ND explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, KIND)); } \
        LW_ND explicit operator float2() const { return __half22float2((__half2)*this); }         \
    };                                                                                            \
    struct __align__(4) N4 {                                                                      \
        __nv_fp8x4_storage_t __x;                                                                 \
                                                                                                  \
        N4() = default;                                                                           \
        LW_ND explicit N4(float4 v) { lw_set(N2(make_float2(v.x, v.y)), N2(make_float2(v.z, v.w))); } \
        LW_ND explicit N4(double4 v) { lw_set(N2(make_double2(v.x, v.y)), N2(make_double2(v.z, v.w))); } \
        LW_ND explicit N4(__half2 low, __half2 high) { lw_set(N2(low), N2(high)); }               \
        LW_ND explicit N4(__nv_bfloat162 low, __nv_bfloat162 high) { lw_set(N2(low), N2(high)); } \
        LW_ND explicit operator float4() const                                                    \
        {                                                                                         \
            const float2 low = lw_get(0), high = lw_get(16);                                      \
                                                                                                  \
            return make_float4(low.x, low.y, high.x, high.y);                                     \
        }                                                                                         \
        LW_ND void lw_set(N2 low, N2 high) { __x = low.__x | (__nv_fp8x4_storage_t)high.__x << 16; } \
        LW_ND float2 lw_get(unsigned int shift) const                                             \
        {                                                                                         \
            return __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(__x >> shift), KIND))); \
        }                                                                                         \
    };
LW_FP8(__NV_E4M3, __nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
LW_FP8(__NV_E5M2, __nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
#undef LW_FP8
#undef LW_FP8_INT
#undef LW_FP8_TO_INT
#undef LW_ND

#include "lanewise_names_end.h"
#endif
#endif
