/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision: half is a float of 16 bits, half2 a pair in one register. */
#ifndef LANEWISE_CUDA_FP16_H
#define LANEWISE_CUDA_FP16_H

#include "lanewise_cuda.h"
#include "lanewise_names_begin.h"

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

/* The host has these too, so that host code beside a kernel parses; only the device's run. */
LW_HD unsigned short lw_half_bits(float x)
{
    unsigned short r = 0;

#ifdef __CUDA_ARCH__
    __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
#endif
    return r;
}
LW_HD float lw_half_value(unsigned short x)
{
    float r = 0;

#ifdef __CUDA_ARCH__
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
#endif
    return r;
}

#define LW_ND __attribute__((nodebug, always_inline))
struct __align__(2) __half {
    unsigned short __x;

    __half() = default;
    LW_ND __host__ __device__ __half(const __half_raw &r) : __x(r.x) {}
    LW_ND __host__ __device__ __half(float x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(double x) : __x(lw_half_bits((float)x)) {}
    LW_ND __host__ __device__ __half(int x) : __x(lw_half_bits((float)x)) {}
    LW_ND __host__ __device__ __half(unsigned int x) : __x(lw_half_bits((float)x)) {}
    LW_ND __host__ __device__ __half(short x) : __x(lw_half_bits((float)x)) {}
    LW_ND __host__ __device__ __half(unsigned short x) : __x(lw_half_bits((float)x)) {}
    LW_ND __host__ __device__ __half(long long x) : __x(lw_half_bits((float)x)) {}
    LW_ND __host__ __device__ __half(unsigned long long x) : __x(lw_half_bits((float)x)) {}
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
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

LW_FN __half lw_half(unsigned short bits)
{
    __half r;

    r.__x = bits;
    return r;
}
LW_FN unsigned int lw_pair(__half2 x) { return __builtin_bit_cast(unsigned int, x); }
LW_FN __half2 lw_half2(unsigned int bits) { return __builtin_bit_cast(__half2, bits); }

/* ---- conversions ---------------------------------------------------------------------------- */

LW_HD __half __float2half(float x) { return __half(x); }
LW_HD __half __float2half_rn(float x) { return __half(x); }
LW_HD __half __double2half(double x) { return __half((float)x); }
LW_HD float __half2float(__half x) { return (float)x; }
#define LW_TO_HALF(R)                                                                             \
    LW_FN __half __float2half_##R(float x)                                                        \
    {                                                                                             \
        unsigned short r;                                                                         \
                                                                                                  \
        __asm__("cvt." #R ".f16.f32 %0, %1;" : "=h"(r) : "f"(x));                                 \
        return lw_half(r);                                                                        \
    }
LW_TO_HALF(rz)
#undef LW_TO_HALF
#define LW_HALF_INT(NAME, T, C, PTX, K)                                                           \
    LW_FN T __half2##NAME##_rn(__half h) { T r; __asm__("cvt.rni." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN T __half2##NAME##_rz(__half h) { T r; __asm__("cvt.rzi." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN T __half2##NAME##_ru(__half h) { T r; __asm__("cvt.rpi." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN T __half2##NAME##_rd(__half h) { T r; __asm__("cvt.rmi." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN __half __##NAME##2half_rn(T x) { unsigned short r; __asm__("cvt.rn.f16." PTX " %0, %1;" : "=h"(r) : C(x)); return lw_half(r); } \
    LW_FN __half __##NAME##2half_rz(T x) { unsigned short r; __asm__("cvt.rz.f16." PTX " %0, %1;" : "=h"(r) : C(x)); return lw_half(r); }
LW_HALF_INT(int, int, "r", "s32", "r")
LW_HALF_INT(uint, unsigned int, "r", "u32", "r")
LW_HALF_INT(short, short, "h", "s16", "h")
LW_HALF_INT(ushort, unsigned short, "h", "u16", "h")
LW_HALF_INT(ll, long long, "l", "s64", "l")
LW_HALF_INT(ull, unsigned long long, "l", "u64", "l")
#undef LW_HALF_INT
LW_FN short __half_as_short(__half x) { return (short)x.__x; }
LW_FN unsigned short __half_as_ushort(__half x) { return x.__x; }
LW_FN __half __short_as_half(short x) { return lw_half((unsigned short)x); }
LW_FN __half __ushort_as_half(unsigned short x) { return lw_half(x); }

LW_FN __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
LW_FN __half2 make_half2(__half a, __half b) { return __half2(a, b); }
LW_FN __half2 __half2half2(__half a) { return __half2(a, a); }
LW_FN __half __low2half(__half2 a) { return a.x; }
LW_FN __half __high2half(__half2 a) { return a.y; }
LW_FN float __low2float(__half2 a) { return (float)a.x; }
LW_FN float __high2float(__half2 a) { return (float)a.y; }
LW_FN __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
LW_FN __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
LW_FN __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
LW_FN __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
LW_FN __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
LW_FN __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
LW_FN __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
LW_FN __half2 __float22half2_rn(float2 x) { return __half2(__half(x.x), __half(x.y)); }
LW_FN float2 __half22float2(__half2 x) { return make_float2((float)x.x, (float)x.y); }

/* ---- arithmetic ------------------------------------------------------------------------------ */

#define LW_ARITHMETIC(F, OP)                                                                      \
    LW_FN __half F(__half a, __half b)                                                            \
    {                                                                                             \
        unsigned short r;                                                                         \
                                                                                                  \
        __asm__(OP ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));                        \
        return lw_half(r);                                                                        \
    }                                                                                             \
    LW_FN __half2 F##2(__half2 a, __half2 b)                                                      \
    {                                                                                             \
        unsigned int r;                                                                           \
                                                                                                  \
        __asm__(OP ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(lw_pair(a)), "r"(lw_pair(b)));            \
        return lw_half2(r);                                                                       \
    }
LW_ARITHMETIC(__hadd, "add.rn") LW_ARITHMETIC(__hsub, "sub.rn") LW_ARITHMETIC(__hmul, "mul.rn")
LW_ARITHMETIC(__hadd_sat, "add.rn.sat") LW_ARITHMETIC(__hsub_sat, "sub.rn.sat")
LW_ARITHMETIC(__hmul_sat, "mul.rn.sat")
#undef LW_ARITHMETIC
LW_FN __half2 __hadd2_sat(__half2 a, __half2 b) { return __hadd_sat2(a, b); }
LW_FN __half2 __hsub2_sat(__half2 a, __half2 b) { return __hsub_sat2(a, b); }
LW_FN __half2 __hmul2_sat(__half2 a, __half2 b) { return __hmul_sat2(a, b); }
LW_FN __half __hadd_rn(__half a, __half b) { return __hadd(a, b); }
LW_FN __half __hsub_rn(__half a, __half b) { return __hsub(a, b); }
LW_FN __half __hmul_rn(__half a, __half b) { return __hmul(a, b); }
#define LW_FMA(F, OP)                                                                             \
    LW_FN __half F(__half a, __half b, __half c)                                                  \
    {                                                                                             \
        unsigned short r;                                                                         \
                                                                                                  \
        __asm__(OP ".f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));        \
        return lw_half(r);                                                                        \
    }                                                                                             \
    LW_FN __half2 F##2(__half2 a, __half2 b, __half2 c)                                           \
    {                                                                                             \
        unsigned int r;                                                                           \
                                                                                                  \
        __asm__(OP ".f16x2 %0, %1, %2, %3;"                                                       \
                : "=r"(r)                                                                         \
                : "r"(lw_pair(a)), "r"(lw_pair(b)), "r"(lw_pair(c)));                             \
        return lw_half2(r);                                                                       \
    }
LW_FMA(__hfma, "fma.rn") LW_FMA(__hfma_sat, "fma.rn.sat")
#undef LW_FMA
LW_FN __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) { return __hfma_sat2(a, b, c); }
LW_FN __half __hneg(__half a) { return lw_half((unsigned short)(a.__x ^ 0x8000)); }
LW_FN __half2 __hneg2(__half2 a) { return lw_half2(lw_pair(a) ^ 0x80008000u); }
LW_FN __half __habs(__half a) { return lw_half((unsigned short)(a.__x & 0x7fff)); }
LW_FN __half2 __habs2(__half2 a) { return lw_half2(lw_pair(a) & 0x7fff7fffu); }
/* The quotient of two halves rounds once: 24 bits are enough for that. */
LW_FN __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
LW_FN __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }

LW_FN __half operator+(const __half &a, const __half &b) { return __hadd(a, b); }
LW_FN __half operator-(const __half &a, const __half &b) { return __hsub(a, b); }
LW_FN __half operator*(const __half &a, const __half &b) { return __hmul(a, b); }
LW_FN __half operator/(const __half &a, const __half &b) { return __hdiv(a, b); }
LW_FN __half operator-(const __half &a) { return __hneg(a); }
LW_FN __half operator+(const __half &a) { return a; }
LW_FN __half &operator+=(__half &a, const __half &b) { return a = __hadd(a, b); }
LW_FN __half &operator-=(__half &a, const __half &b) { return a = __hsub(a, b); }
LW_FN __half &operator*=(__half &a, const __half &b) { return a = __hmul(a, b); }
LW_FN __half &operator/=(__half &a, const __half &b) { return a = __hdiv(a, b); }
LW_FN __half2 operator+(const __half2 &a, const __half2 &b) { return __hadd2(a, b); }
LW_FN __half2 operator-(const __half2 &a, const __half2 &b) { return __hsub2(a, b); }
LW_FN __half2 operator*(const __half2 &a, const __half2 &b) { return __hmul2(a, b); }
LW_FN __half2 operator/(const __half2 &a, const __half2 &b) { return __h2div(a, b); }
LW_FN __half2 operator-(const __half2 &a) { return __hneg2(a); }
LW_FN __half2 &operator+=(__half2 &a, const __half2 &b) { return a = __hadd2(a, b); }
LW_FN __half2 &operator-=(__half2 &a, const __half2 &b) { return a = __hsub2(a, b); }
LW_FN __half2 &operator*=(__half2 &a, const __half2 &b) { return a = __hmul2(a, b); }
LW_FN __half2 &operator/=(__half2 &a, const __half2 &b) { return a = __h2div(a, b); }

/* ---- comparisons ------------------------------------------------------------------------------ */

/* Unordered (u) ones hold where an operand is NaN. */
#define LW_COMPARE(NAME, E)                                                                       \
    LW_FN bool __h##NAME(__half a, __half b) { float x = a, y = b; return E; }                    \
    LW_FN bool __h##NAME##u(__half a, __half b) { float x = a, y = b; return x != x || y != y || (E); } \
    LW_FN __half2 __h##NAME##2(__half2 a, __half2 b)                                              \
    {                                                                                             \
        return __half2(__half(__h##NAME(a.x, b.x) ? 1.0f : 0.0f),                                 \
                       __half(__h##NAME(a.y, b.y) ? 1.0f : 0.0f));                                \
    }                                                                                             \
    LW_FN bool __hb##NAME##2(__half2 a, __half2 b)                                                \
    {                                                                                             \
        return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y);                                        \
    }
LW_COMPARE(eq, x == y) LW_COMPARE(lt, x < y) LW_COMPARE(le, x <= y) LW_COMPARE(gt, x > y)
LW_COMPARE(ge, x >= y) LW_COMPARE(ne, x < y || x > y)
#undef LW_COMPARE
LW_FN bool operator==(const __half &a, const __half &b) { return __heq(a, b); }
LW_FN bool operator!=(const __half &a, const __half &b) { return __hneu(a, b); }
LW_FN bool operator<(const __half &a, const __half &b) { return __hlt(a, b); }
LW_FN bool operator<=(const __half &a, const __half &b) { return __hle(a, b); }
LW_FN bool operator>(const __half &a, const __half &b) { return __hgt(a, b); }
LW_FN bool operator>=(const __half &a, const __half &b) { return __hge(a, b); }
LW_FN bool __hisnan(__half a) { return (a.__x & 0x7fff) > 0x7c00; }
LW_FN int __hisinf(__half a) { return a.__x == 0x7c00 ? 1 : a.__x == 0xfc00 ? -1 : 0; }
LW_FN __half __hmin(__half a, __half b) { return __half(fminf((float)a, (float)b)); }
LW_FN __half __hmax(__half a, __half b) { return __half(fmaxf((float)a, (float)b)); }
LW_FN __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
LW_FN __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }

/* ---- mathematics ------------------------------------------------------------------------------ */

#define LW_HALF_MATH(NAME, E)                                                                     \
    LW_FN __half h##NAME(__half a) { float x = a; return __half(E); }                             \
    LW_FN __half2 h2##NAME(__half2 a) { return __half2(h##NAME(a.x), h##NAME(a.y)); }
LW_HALF_MATH(sqrt, sqrtf(x)) LW_HALF_MATH(rsqrt, rsqrtf(x)) LW_HALF_MATH(rcp, 1.0f / x)
LW_HALF_MATH(exp, expf(x)) LW_HALF_MATH(exp2, exp2f(x)) LW_HALF_MATH(exp10, exp10f(x))
LW_HALF_MATH(log, logf(x)) LW_HALF_MATH(log2, log2f(x)) LW_HALF_MATH(log10, log10f(x))
LW_HALF_MATH(sin, sinf(x)) LW_HALF_MATH(cos, cosf(x)) LW_HALF_MATH(tanh, tanhf(x))
LW_HALF_MATH(ceil, ceilf(x)) LW_HALF_MATH(floor, floorf(x)) LW_HALF_MATH(trunc, truncf(x))
LW_HALF_MATH(rint, rintf(x))
#undef LW_HALF_MATH

/* ---- warps and atomics ------------------------------------------------------------------------- */

#define LW_HALF_SHUFFLE(F, T)                                                                     \
    LW_FN __half F(unsigned int m, __half x, T at, int width = 32)                                \
    {                                                                                             \
        return lw_half((unsigned short)F(m, (unsigned int)x.__x, at, width));                     \
    }                                                                                             \
    LW_FN __half2 F(unsigned int m, __half2 x, T at, int width = 32)                              \
    {                                                                                             \
        return lw_half2(F(m, lw_pair(x), at, width));                                             \
    }
LW_HALF_SHUFFLE(__shfl_sync, int) LW_HALF_SHUFFLE(__shfl_up_sync, unsigned int)
LW_HALF_SHUFFLE(__shfl_down_sync, unsigned int) LW_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef LW_HALF_SHUFFLE
LW_FN __half atomicAdd(__half *p, __half x)
{
    unsigned short *at = (unsigned short *)p, old = *at, seen;

    for (;;) {
        seen = atomicCAS(at, old, __hadd(lw_half(old), x).__x);
        if (seen == old)
            return lw_half(old);
        old = seen;
    }
}
LW_FN __half2 atomicAdd(__half2 *p, __half2 x)
{
    return __half2(atomicAdd(&p->x, x.x), atomicAdd(&p->y, x.y));
}
#undef LW_ND

#include "lanewise_names_end.h"
#endif
