/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that both 16-bit float formats have: LW_H is the type, LW_H2 is a pair of this type, LW_BITS(x) converts
 * bits to this type, and LW_PTX is its name in PTX. cuda_fp16.h and cuda_bf16.h include this file. */
#define LW_EACH2(F, A, CALL) LW_HD LW_H2 F A { return CALL; }

/* Comparisons. Unordered (u) comparisons are true if an operand is NaN. Functions with prefix b return whether the comparison is
 * true for both halves. Functions with suffix _mask set all bits of each half for which the comparison is true. */
#define LW_COMPARE1(NAME, E)                                                                      \
    LW_HD bool __h##NAME(LW_H a, LW_H b) { float x = a, y = b; return E; }                        \
    LW_HD LW_H2 __h##NAME##2(LW_H2 a, LW_H2 b)                                                    \
    {                                                                                             \
        return LW_H2(LW_H(__h##NAME(a.x, b.x) ? 1.0f : 0.0f),                                     \
                     LW_H(__h##NAME(a.y, b.y) ? 1.0f : 0.0f));                                    \
    }                                                                                             \
    LW_HD unsigned int __h##NAME##2_mask(LW_H2 a, LW_H2 b)                                        \
    {                                                                                             \
        return (__h##NAME(a.x, b.x) ? 0xffffu : 0) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0);     \
    }                                                                                             \
    LW_HD bool __hb##NAME##2(LW_H2 a, LW_H2 b)                                                    \
    {                                                                                             \
        return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y);                                        \
    }
#define LW_COMPARE(NAME, E) LW_COMPARE1(NAME, E) LW_COMPARE1(NAME##u, x != x || y != y || (E))
LW_COMPARE(eq, x == y) LW_COMPARE(lt, x < y) LW_COMPARE(le, x <= y) LW_COMPARE(gt, x > y)
LW_COMPARE(ge, x >= y) LW_COMPARE(ne, x < y || x > y)
#undef LW_COMPARE
#undef LW_COMPARE1
LW_HD bool operator==(const LW_H &a, const LW_H &b) { return __heq(a, b); }
LW_HD bool operator!=(const LW_H &a, const LW_H &b) { return __hneu(a, b); }
LW_HD bool operator<(const LW_H &a, const LW_H &b) { return __hlt(a, b); }
LW_HD bool operator<=(const LW_H &a, const LW_H &b) { return __hle(a, b); }
LW_HD bool operator>(const LW_H &a, const LW_H &b) { return __hgt(a, b); }
LW_HD bool operator>=(const LW_H &a, const LW_H &b) { return __hge(a, b); }
LW_HD bool __hisnan(LW_H a) { float x = a; return x != x; }
LW_HD LW_H2 __hisnan2(LW_H2 a)
{
    return LW_H2(LW_H(__hisnan(a.x) ? 1.0f : 0.0f), LW_H(__hisnan(a.y) ? 1.0f : 0.0f));
}
LW_HD int __hisinf(LW_H a)
{
    float x = a;

    return x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0;
}

/* min and max return the number if one operand is NaN; the _nan versions return NaN. */
#define LW_MINMAX1(F, INSN, E, NAN)                                                               \
    LW_HD LW_H F(LW_H a, LW_H b)                                                                  \
    {                                                                                             \
        LW_SIDES(unsigned short r; __asm__(LW_NEWER INSN "." LW_PTX " %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x)); \
                 return LW_BITS(r),                                                               \
                 const bool no_a = __hisnan(a); const bool no_b = __hisnan(b);                    \
                 return no_a || no_b ? (NAN) ? LW_BITS(0x7fff) : no_a ? b : a : (E) ? a : b);     \
    }
/* -0 is less than 0. */
#define LW_MINMAX(F, INSN, E)                                                                     \
    LW_MINMAX1(F, INSN, E, no_a && no_b) LW_MINMAX1(F##_nan, INSN ".NaN", E, true)
LW_MINMAX(__hmin, "min", __hlt(a, b) || (__heq(a, b) && a.__x >> 15 != 0))
LW_MINMAX(__hmax, "max", __hgt(a, b) || (__heq(a, b) && a.__x >> 15 == 0))
#undef LW_MINMAX
#undef LW_MINMAX1
LW_EACH2(__hmin2, (LW_H2 a, LW_H2 b), LW_H2(__hmin(a.x, b.x), __hmin(a.y, b.y)))
LW_EACH2(__hmax2, (LW_H2 a, LW_H2 b), LW_H2(__hmax(a.x, b.x), __hmax(a.y, b.y)))
LW_EACH2(__hmin2_nan, (LW_H2 a, LW_H2 b), LW_H2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)))
LW_EACH2(__hmax2_nan, (LW_H2 a, LW_H2 b), LW_H2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)))

LW_HD LW_H __hneg(LW_H a) { return LW_BITS((unsigned short)(a.__x ^ 0x8000)); }
LW_HD LW_H __habs(LW_H a) { return LW_BITS((unsigned short)(a.__x & 0x7fff)); }
LW_EACH2(__hneg2, (LW_H2 a), LW_H2(__hneg(a.x), __hneg(a.y)))
LW_EACH2(__habs2, (LW_H2 a), LW_H2(__habs(a.x), __habs(a.y)))
LW_HD LW_H operator-(const LW_H &a) { return __hneg(a); }
LW_HD LW_H operator+(const LW_H &a) { return a; }
LW_HD LW_H2 operator-(const LW_H2 &a) { return __hneg2(a); }
LW_HD LW_H __hadd_rn(LW_H a, LW_H b) { return __hadd(a, b); }
LW_HD LW_H __hsub_rn(LW_H a, LW_H b) { return __hsub(a, b); }
LW_HD LW_H __hmul_rn(LW_H a, LW_H b) { return __hmul(a, b); }
LW_EACH2(__hadd2_rn, (LW_H2 a, LW_H2 b), __hadd2(a, b))
LW_EACH2(__hsub2_rn, (LW_H2 a, LW_H2 b), __hsub2(a, b))
LW_EACH2(__hmul2_rn, (LW_H2 a, LW_H2 b), __hmul2(a, b))
/* Computes a * b + c of complex numbers. */
LW_HD LW_H2 __hcmadd(LW_H2 a, LW_H2 b, LW_H2 c)
{
    return LW_H2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
                 __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
LW_HD LW_H __hfma_relu(LW_H a, LW_H b, LW_H c)
{
    LW_H r = __hfma(a, b, c);

    return __hlt(r, LW_H(0.0f)) ? LW_H(0.0f) : r;
}
LW_EACH2(__hfma2_relu, (LW_H2 a, LW_H2 b, LW_H2 c),
         LW_H2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)))

LW_HD LW_H &operator++(LW_H &a) { return a = __hadd(a, LW_H(1.0f)); }
LW_HD LW_H &operator--(LW_H &a) { return a = __hsub(a, LW_H(1.0f)); }
LW_HD LW_H operator++(LW_H &a, int) { LW_H old = a; ++a; return old; }
LW_HD LW_H operator--(LW_H &a, int) { LW_H old = a; --a; return old; }
LW_HD LW_H2 &operator+=(LW_H2 &a, const LW_H2 &b) { return a = __hadd2(a, b); }
LW_HD LW_H2 &operator-=(LW_H2 &a, const LW_H2 &b) { return a = __hsub2(a, b); }
LW_HD LW_H2 &operator*=(LW_H2 &a, const LW_H2 &b) { return a = __hmul2(a, b); }
LW_HD LW_H2 &operator/=(LW_H2 &a, const LW_H2 &b) { return a = __h2div(a, b); }
LW_HD LW_H2 &operator++(LW_H2 &a) { return a = __hadd2(a, LW_H2(1.0f, 1.0f)); }
LW_HD LW_H2 &operator--(LW_H2 &a) { return a = __hsub2(a, LW_H2(1.0f, 1.0f)); }
LW_HD LW_H2 operator++(LW_H2 &a, int) { LW_H2 old = a; ++a; return old; }
LW_HD LW_H2 operator--(LW_H2 &a, int) { LW_H2 old = a; --a; return old; }
LW_HD LW_H2 operator+(const LW_H2 &a) { return a; }
LW_HD bool operator==(const LW_H2 &a, const LW_H2 &b) { return __hbeq2(a, b); }
LW_HD bool operator!=(const LW_H2 &a, const LW_H2 &b) { return __hbneu2(a, b); }
LW_HD bool operator<(const LW_H2 &a, const LW_H2 &b) { return __hblt2(a, b); }
LW_HD bool operator<=(const LW_H2 &a, const LW_H2 &b) { return __hble2(a, b); }
LW_HD bool operator>(const LW_H2 &a, const LW_H2 &b) { return __hbgt2(a, b); }
LW_HD bool operator>=(const LW_H2 &a, const LW_H2 &b) { return __hbge2(a, b); }

#ifdef __CUDA__
#define LW_HALF_MATH(NAME, E)                                                                     \
    LW_FN LW_H h##NAME(LW_H a) { float x = a; return LW_H(E); }                                   \
    LW_FN LW_H2 h2##NAME(LW_H2 a) { return LW_H2(h##NAME(a.x), h##NAME(a.y)); }
LW_HALF_MATH(sqrt, sqrtf(x)) LW_HALF_MATH(rsqrt, rsqrtf(x)) LW_HALF_MATH(rcp, 1.0f / x)
LW_HALF_MATH(exp, expf(x)) LW_HALF_MATH(exp2, exp2f(x)) LW_HALF_MATH(exp10, exp10f(x))
LW_HALF_MATH(log, logf(x)) LW_HALF_MATH(log2, log2f(x)) LW_HALF_MATH(log10, log10f(x))
LW_HALF_MATH(sin, sinf(x)) LW_HALF_MATH(cos, cosf(x)) LW_HALF_MATH(tanh, tanhf(x))
LW_HALF_MATH(ceil, ceilf(x)) LW_HALF_MATH(floor, floorf(x)) LW_HALF_MATH(trunc, truncf(x))
LW_HALF_MATH(rint, rintf(x))
#undef LW_HALF_MATH
LW_FN LW_H htanh_approx(LW_H a)
{
    unsigned short r;

    __asm__(LW_NEWER "tanh.approx." LW_PTX " %0, %1;" : "=h"(r) : "h"(a.__x));
    return LW_BITS(r);
}
LW_FN LW_H2 h2tanh_approx(LW_H2 a) { return LW_H2(htanh_approx(a.x), htanh_approx(a.y)); }

#define LW_HALF_SHUFFLE(F, T)                                                                     \
    LW_FN LW_H F(unsigned int m, LW_H x, T at, int width = 32)                                    \
    {                                                                                             \
        return LW_BITS((unsigned short)F(m, (unsigned int)x.__x, at, width));                     \
    }                                                                                             \
    LW_FN LW_H2 F(unsigned int m, LW_H2 x, T at, int width = 32)                                  \
    {                                                                                             \
        return __builtin_bit_cast(LW_H2, F(m, __builtin_bit_cast(unsigned int, x), at, width));   \
    }
LW_HALF_SHUFFLE(__shfl_sync, int) LW_HALF_SHUFFLE(__shfl_up_sync, unsigned int)
LW_HALF_SHUFFLE(__shfl_down_sync, unsigned int) LW_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef LW_HALF_SHUFFLE
LW_FN LW_H atomicAdd(LW_H *p, LW_H x)
{
    unsigned short *at = (unsigned short *)p, old = *at, seen;

    for (;;) {
        seen = atomicCAS(at, old, __hadd(LW_BITS(old), x).__x);
        if (seen == old)
            return LW_BITS(old);
        old = seen;
    }
}
LW_FN LW_H2 atomicAdd(LW_H2 *p, LW_H2 x) { return LW_H2(atomicAdd(&p->x, x.x), atomicAdd(&p->y, x.y)); }
#endif
#undef LW_EACH2
#undef LW_H
#undef LW_H2
#undef LW_BITS
#undef LW_PTX
