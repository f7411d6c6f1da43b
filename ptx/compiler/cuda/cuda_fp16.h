/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision: half is a 16-bit float, half2 a pair in one register. */
#ifndef LANEWISE_CUDA_FP16_H
#define LANEWISE_CUDA_FP16_H

#include "lanewise_cuda.h"
#include "lanewise_names_begin.h"

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

/* The functions are also declared for the host, so that host code in the file of a kernel compiles. Only the device
 * functions convert. Each type has its own conversion, so that a value is rounded once. */
#ifdef __CUDA_ARCH__
#define LW_ON_DEVICE(ASM) ASM
#else
#define LW_ON_DEVICE(ASM)
#endif
#define LW_HALF_BITS(T, PTX, C)                                                                   \
    LW_HD unsigned short lw_half_bits(T x)                                                        \
    {                                                                                             \
        unsigned short r = 0;                                                                     \
                                                                                                  \
        LW_ON_DEVICE(__asm__("cvt.rn.f16." PTX " %0, %1;" : "=h"(r) : C(x));)                     \
        return r;                                                                                 \
    }
LW_HALF_BITS(float, "f32", "f") LW_HALF_BITS(double, "f64", "d") LW_HALF_BITS(int, "s32", "r")
LW_HALF_BITS(unsigned int, "u32", "r") LW_HALF_BITS(short, "s16", "h")
LW_HALF_BITS(unsigned short, "u16", "h") LW_HALF_BITS(long long, "s64", "l")
LW_HALF_BITS(unsigned long long, "u64", "l")
#undef LW_HALF_BITS
#undef LW_ON_DEVICE
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
    LW_ND __host__ __device__ __half(double x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(int x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(unsigned int x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(short x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(unsigned short x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(long long x) : __x(lw_half_bits(x)) {}
    LW_ND __host__ __device__ __half(unsigned long long x) : __x(lw_half_bits(x)) {}
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
LW_HD __half __double2half(double x) { return __half(x); }
LW_HD float __half2float(__half x) { return (float)x; }
#define LW_TO_HALF(R, PTX)                                                                             \
    LW_FN __half __float2half_##R(float x)                                                        \
    {                                                                                             \
        unsigned short r;                                                                         \
                                                                                                  \
        __asm__("cvt." PTX ".f16.f32 %0, %1;" : "=h"(r) : "f"(x));                                \
        return lw_half(r);                                                                        \
    }
LW_TO_HALF(rz, "rz") LW_TO_HALF(rd, "rm") LW_TO_HALF(ru, "rp")
#undef LW_TO_HALF
#define LW_HALF_INT(NAME, T, C, PTX, K)                                                           \
    LW_FN T __half2##NAME##_rn(__half h) { T r; __asm__("cvt.rni." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN T __half2##NAME##_rz(__half h) { T r; __asm__("cvt.rzi." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN T __half2##NAME##_ru(__half h) { T r; __asm__("cvt.rpi." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN T __half2##NAME##_rd(__half h) { T r; __asm__("cvt.rmi." PTX ".f16 %0, %1;" : "=" K(r) : "h"(h.__x)); return r; } \
    LW_FN __half __##NAME##2half_rn(T x) { unsigned short r; __asm__("cvt.rn.f16." PTX " %0, %1;" : "=h"(r) : C(x)); return lw_half(r); } \
    LW_FN __half __##NAME##2half_rz(T x) { unsigned short r; __asm__("cvt.rz.f16." PTX " %0, %1;" : "=h"(r) : C(x)); return lw_half(r); } \
    LW_FN __half __##NAME##2half_ru(T x) { unsigned short r; __asm__("cvt.rp.f16." PTX " %0, %1;" : "=h"(r) : C(x)); return lw_half(r); } \
    LW_FN __half __##NAME##2half_rd(T x) { unsigned short r; __asm__("cvt.rm.f16." PTX " %0, %1;" : "=h"(r) : C(x)); return lw_half(r); }
LW_HALF_INT(int, int, "r", "s32", "r")
LW_HALF_INT(uint, unsigned int, "r", "u32", "r")
LW_HALF_INT(short, short, "h", "s16", "h")
LW_HALF_INT(ushort, unsigned short, "h", "u16", "h")
LW_HALF_INT(ll, long long, "l", "s64", "l")
LW_HALF_INT(ull, unsigned long long, "l", "u64", "l")
#undef LW_HALF_INT
LW_FN signed char __half2char_rz(__half h) { return (signed char)lw_clamp(__half2int_rz(h), -128, 127); }
LW_FN unsigned char __half2uchar_rz(__half h) { return (unsigned char)lw_clamp(__half2int_rz(h), 0, 255); }
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
/* The quotient of two halves is rounded to 24 bits and then to a half. 24 bits are enough to give the same result as a
 * single rounding. */
LW_FN __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
LW_FN __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }

LW_FN __half operator+(const __half &a, const __half &b) { return __hadd(a, b); }
LW_FN __half operator-(const __half &a, const __half &b) { return __hsub(a, b); }
LW_FN __half operator*(const __half &a, const __half &b) { return __hmul(a, b); }
LW_FN __half operator/(const __half &a, const __half &b) { return __hdiv(a, b); }
LW_FN __half &operator+=(__half &a, const __half &b) { return a = __hadd(a, b); }
LW_FN __half &operator-=(__half &a, const __half &b) { return a = __hsub(a, b); }
LW_FN __half &operator*=(__half &a, const __half &b) { return a = __hmul(a, b); }
LW_FN __half &operator/=(__half &a, const __half &b) { return a = __hdiv(a, b); }
LW_FN __half2 operator+(const __half2 &a, const __half2 &b) { return __hadd2(a, b); }
LW_FN __half2 operator-(const __half2 &a, const __half2 &b) { return __hsub2(a, b); }
LW_FN __half2 operator*(const __half2 &a, const __half2 &b) { return __hmul2(a, b); }
LW_FN __half2 operator/(const __half2 &a, const __half2 &b) { return __h2div(a, b); }
LW_FN __half2 &operator+=(__half2 &a, const __half2 &b) { return a = __hadd2(a, b); }
LW_FN __half2 &operator-=(__half2 &a, const __half2 &b) { return a = __hsub2(a, b); }
LW_FN __half2 &operator*=(__half2 &a, const __half2 &b) { return a = __hmul2(a, b); }
LW_FN __half2 &operator/=(__half2 &a, const __half2 &b) { return a = __h2div(a, b); }

#define LW_H __half
#define LW_H2 __half2
#define LW_BITS(x) lw_half(x)
#define LW_PTX "f16"
#include "lanewise_half.h"
#undef LW_ND

#include "lanewise_names_end.h"
#endif
