/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's device functions without mathematics: integers, memory, atomics, warps, time, text. */
#ifndef LANEWISE_DEVICE_H
#define LANEWISE_DEVICE_H

/* ---- integers ------------------------------------------------------------------------------- */

LW_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
LW_FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
LW_FN int __ffs(int x) { return x == 0 ? 0 : __builtin_ctz((unsigned int)x) + 1; }
LW_FN int __ffsll(long long x) { return x == 0 ? 0 : __builtin_ctzll((unsigned long long)x) + 1; }
LW_FN int __popc(unsigned int x) { return __builtin_popcount(x); }
LW_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
LW_FN unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
LW_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
LW_FN unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s)
{
    unsigned int r;

    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s & 0x7777));
    return r;
}
LW_FN unsigned int __fns(unsigned int mask, unsigned int base, int offset)
{
    unsigned int r;

    __asm__("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset));
    return r;
}
LW_FN int __mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
LW_FN unsigned int __umulhi(unsigned int x, unsigned int y)
{
    return (unsigned int)__nvvm_mulhi_ui(x, y);
}
LW_FN long long __mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
LW_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)__nvvm_mulhi_ull(x, y);
}
LW_FN int __mul24(int x, int y)
{
    return (int)((unsigned int)((int)((unsigned int)x << 8) >> 8) *
                 (unsigned int)((int)((unsigned int)y << 8) >> 8));
}
LW_FN unsigned int __umul24(unsigned int x, unsigned int y)
{
    return (x & 0xffffff) * (y & 0xffffff);
}
LW_FN unsigned int __sad(int x, int y, unsigned int z)
{
    return z + (x < y ? (unsigned int)y - (unsigned int)x : (unsigned int)x - (unsigned int)y);
}
LW_FN unsigned int __usad(unsigned int x, unsigned int y, unsigned int z)
{
    return z + (x < y ? y - x : x - y);
}
LW_FN int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
LW_FN int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
LW_FN unsigned int __uhadd(unsigned int x, unsigned int y)
{
    return (unsigned int)(((unsigned long long)x + y) >> 1);
}
LW_FN unsigned int __urhadd(unsigned int x, unsigned int y)
{
    return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}
#define LW_FUNNEL(F, OP)                                                                          \
    LW_FN unsigned int F(unsigned int lo, unsigned int hi, unsigned int n)                        \
    {                                                                                             \
        unsigned int r;                                                                           \
                                                                                                  \
        __asm__("shf." OP ".b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(n));           \
        return r;                                                                                 \
    }
LW_FUNNEL(__funnelshift_l, "l.wrap") LW_FUNNEL(__funnelshift_lc, "l.clamp")
LW_FUNNEL(__funnelshift_r, "r.wrap") LW_FUNNEL(__funnelshift_rc, "r.clamp")
#undef LW_FUNNEL
#define LW_DOT(F, OP, T, A, B)                                                                    \
    LW_FN T F(A x, B y, T z)                                                                      \
    {                                                                                             \
        T r;                                                                                      \
                                                                                                  \
        __asm__(OP " %0, %1, %2, %3;"                                                             \
                : "=r"(r)                                                                         \
                : "r"(__builtin_bit_cast(unsigned int, x)),                                       \
                  "r"(__builtin_bit_cast(unsigned int, y)), "r"(z));                              \
        return r;                                                                                 \
    }
LW_DOT(__dp4a, "dp4a.s32.s32", int, int, int)
LW_DOT(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int, unsigned int)
LW_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
LW_DOT(__dp4a, "dp4a.u32.u32", unsigned int, uchar4, uchar4)
#undef LW_DOT
#define LW_DOT2(F, OP, T, A, B)                                                                   \
    LW_FN T F(A x, B y, T z)                                                                      \
    {                                                                                             \
        T r;                                                                                      \
                                                                                                  \
        __asm__(OP " %0, %1, %2, %3;"                                                             \
                : "=r"(r)                                                                         \
                : "r"(__builtin_bit_cast(unsigned int, x)),                                       \
                  "r"(__builtin_bit_cast(unsigned int, y)), "r"(z));                              \
        return r;                                                                                 \
    }
LW_DOT2(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
LW_DOT2(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
LW_DOT2(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int, unsigned int)
LW_DOT2(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int, unsigned int)
LW_DOT2(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
LW_DOT2(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
LW_DOT2(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, ushort2, uchar4)
LW_DOT2(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, ushort2, uchar4)
#undef LW_DOT2

/* SIMD functions of CUDA on four bytes or two shorts in a word, in plain C. */
#define LW_SIMD(NAME, E4S, E4U, E2S, E2U)                                                         \
    LW_FN unsigned int __v##NAME##s4(unsigned int x, unsigned int y) LW_BYTES(signed char, E4S)   \
    LW_FN unsigned int __v##NAME##u4(unsigned int x, unsigned int y) LW_BYTES(unsigned char, E4U) \
    LW_FN unsigned int __v##NAME##s2(unsigned int x, unsigned int y) LW_SHORTS(short, E2S)        \
    LW_FN unsigned int __v##NAME##u2(unsigned int x, unsigned int y) LW_SHORTS(unsigned short, E2U)
#define LW_BYTES(T, E)                                                                            \
    {                                                                                             \
        unsigned int r = 0;                                                                       \
                                                                                                  \
        for (int i = 0; i < 32; i += 8) {                                                         \
            int a = (T)(x >> i), b = (T)(y >> i);                                                 \
                                                                                                  \
            r |= (unsigned int)(unsigned char)(E) << i;                                           \
        }                                                                                         \
        return r;                                                                                 \
    }
#define LW_SHORTS(T, E)                                                                           \
    {                                                                                             \
        unsigned int r = 0;                                                                       \
                                                                                                  \
        for (int i = 0; i < 32; i += 16) {                                                        \
            int a = (T)(x >> i), b = (T)(y >> i);                                                 \
                                                                                                  \
            r |= (unsigned int)(unsigned short)(E) << i;                                          \
        }                                                                                         \
        return r;                                                                                 \
    }
#define LW_BOTH(NAME, E) LW_SIMD(NAME, E, E, E, E)
#define LW_PLAIN(NAME, E)                                                                         \
    LW_FN unsigned int __v##NAME##4(unsigned int x, unsigned int y) LW_BYTES(unsigned char, E)    \
    LW_FN unsigned int __v##NAME##2(unsigned int x, unsigned int y) LW_SHORTS(unsigned short, E)
LW_PLAIN(add, a + b) LW_PLAIN(sub, a - b) LW_PLAIN(cmpeq, a == b ? -1 : 0)
LW_PLAIN(cmpne, a != b ? -1 : 0) LW_PLAIN(seteq, a == b) LW_PLAIN(setne, a != b)
LW_BOTH(min, a < b ? a : b) LW_BOTH(max, a < b ? b : a) LW_BOTH(absdiff, a < b ? b - a : a - b)
LW_BOTH(cmpgt, a > b ? -1 : 0) LW_BOTH(cmpge, a >= b ? -1 : 0) LW_BOTH(cmplt, a < b ? -1 : 0)
LW_BOTH(cmple, a <= b ? -1 : 0) LW_BOTH(setgt, a > b) LW_BOTH(setge, a >= b)
LW_BOTH(setlt, a < b) LW_BOTH(setle, a <= b)
LW_FN unsigned int __vaddss4(unsigned int x, unsigned int y)
LW_BYTES(signed char, lw_clamp(a + b, -128, 127))
LW_FN unsigned int __vsubss4(unsigned int x, unsigned int y)
LW_BYTES(signed char, lw_clamp(a - b, -128, 127))
LW_FN unsigned int __vaddus4(unsigned int x, unsigned int y)
LW_BYTES(unsigned char, lw_clamp(a + b, 0, 255))
LW_FN unsigned int __vsubus4(unsigned int x, unsigned int y)
LW_BYTES(unsigned char, lw_clamp(a - b, 0, 255))
LW_FN unsigned int __vaddss2(unsigned int x, unsigned int y)
LW_SHORTS(short, lw_clamp(a + b, -32768, 32767))
LW_FN unsigned int __vsubss2(unsigned int x, unsigned int y)
LW_SHORTS(short, lw_clamp(a - b, -32768, 32767))
LW_FN unsigned int __vaddus2(unsigned int x, unsigned int y)
LW_SHORTS(unsigned short, lw_clamp(a + b, 0, 65535))
LW_FN unsigned int __vsubus2(unsigned int x, unsigned int y)
LW_SHORTS(unsigned short, lw_clamp(a - b, 0, 65535))
LW_FN unsigned int __vavgu4(unsigned int x, unsigned int y)
LW_BYTES(unsigned char, (a + b + 1) >> 1)
LW_FN unsigned int __vsadu4(unsigned int x, unsigned int y)
{
    unsigned int d = __vabsdiffu4(x, y);

    return (d & 0xff) + (d >> 8 & 0xff) + (d >> 16 & 0xff) + (d >> 24);
}
LW_FN unsigned int __vavgu2(unsigned int x, unsigned int y)
LW_SHORTS(unsigned short, (a + b + 1) >> 1)
LW_FN unsigned int __vavgs4(unsigned int x, unsigned int y)
LW_BYTES(signed char, (a + b + (a + b >= 0)) >> 1)
LW_FN unsigned int __vavgs2(unsigned int x, unsigned int y)
LW_SHORTS(short, (a + b + (a + b >= 0)) >> 1)
LW_FN unsigned int __vhaddu4(unsigned int x, unsigned int y) LW_BYTES(unsigned char, (a + b) >> 1)
LW_FN unsigned int __vhaddu2(unsigned int x, unsigned int y) LW_SHORTS(unsigned short, (a + b) >> 1)
#define LW_ONE(NAME, E4, E2)                                                                      \
    LW_FN unsigned int __v##NAME##4(unsigned int x) { const unsigned int y = 0; LW_BYTES(signed char, E4) } \
    LW_FN unsigned int __v##NAME##2(unsigned int x) { const unsigned int y = 0; LW_SHORTS(short, E2) }
LW_ONE(neg, -a, -a) LW_ONE(abs, a < 0 ? -a : a, a < 0 ? -a : a)
LW_ONE(negss, a == -128 ? 127 : -a, a == -32768 ? 32767 : -a)
LW_ONE(absss, a == -128 ? 127 : a < 0 ? -a : a, a == -32768 ? 32767 : a < 0 ? -a : a)
#undef LW_ONE
LW_FN unsigned int __vsads4(unsigned int x, unsigned int y)
{
    unsigned int d = __vabsdiffs4(x, y);

    return (d & 0xff) + (d >> 8 & 0xff) + (d >> 16 & 0xff) + (d >> 24);
}
LW_FN unsigned int __vsads2(unsigned int x, unsigned int y)
{
    unsigned int d = __vabsdiffs2(x, y);

    return (d & 0xffff) + (d >> 16);
}
LW_FN unsigned int __vsadu2(unsigned int x, unsigned int y)
{
    unsigned int d = __vabsdiffu2(x, y);

    return (d & 0xffff) + (d >> 16);
}
/* Maximum and minimum of words and of pairs of shorts: of two or three values, or of a sum and a third value. Functions with relu
 * in their names return at least 0. Functions with vib also return whether the first operand was selected. */
template <class T, class F> LW_FN unsigned int lw_shorts(unsigned int a, unsigned int b, unsigned int c, F f)
{
    unsigned int low = (unsigned short)f((T)a, (T)b, (T)c);

    return low | (unsigned int)(unsigned short)f((T)(a >> 16), (T)(b >> 16), (T)(c >> 16)) << 16;
}
#define LW_VI(NAME, OP)                                                                           \
    LW_VI1(NAME, OP, s32, int, int, s16x2, short) LW_VI1(NAME, OP, u32, unsigned int, unsigned int, u16x2, unsigned short) \
    LW_FN int __vi##NAME##_s32_relu(int a, int b) { int r = OP(a, b); return r < 0 ? 0 : r; }     \
    LW_FN int __vi##NAME##3_s32_relu(int a, int b, int c) { int r = OP(OP(a, b), c); return r < 0 ? 0 : r; } \
    LW_FN int __viadd##NAME##_s32_relu(int a, int b, int c)                                       \
    {                                                                                             \
        int r = OP((int)((unsigned int)a + (unsigned int)b), c);                                  \
                                                                                                  \
        return r < 0 ? 0 : r;                                                                     \
    }                                                                                             \
    LW_FN unsigned int __vi##NAME##_s16x2_relu(unsigned int a, unsigned int b)                    \
    {                                                                                             \
        return lw_shorts<short>(a, b, 0, [](short x, short y, short) { return lw_most(OP((int)x, (int)y), 0); }); \
    }                                                                                             \
    LW_FN unsigned int __vi##NAME##3_s16x2_relu(unsigned int a, unsigned int b, unsigned int c)   \
    {                                                                                             \
        return lw_shorts<short>(a, b, c, [](short x, short y, short z) { return lw_most(OP(OP((int)x, (int)y), (int)z), 0); }); \
    }                                                                                             \
    LW_FN unsigned int __viadd##NAME##_s16x2_relu(unsigned int a, unsigned int b, unsigned int c) \
    {                                                                                             \
        return lw_shorts<short>(a, b, c, [](short x, short y, short z) { return lw_most(OP((int)(short)(x + y), (int)z), 0); }); \
    }
#define LW_VI1(NAME, OP, S, T, W, S2, H)                                                          \
    LW_FN T __vi##NAME##3_##S(T a, T b, T c) { return OP(OP(a, b), c); }                          \
    LW_FN T __viadd##NAME##_##S(T a, T b, T c) { return OP((T)((unsigned int)a + (unsigned int)b), c); } \
    LW_FN T __vib##NAME##_##S(T a, T b, bool *first) { *first = OP(a, b) == a; return OP(a, b); } \
    LW_FN unsigned int __vi##NAME##3_##S2(unsigned int a, unsigned int b, unsigned int c)         \
    {                                                                                             \
        return lw_shorts<H>(a, b, c, [](H x, H y, H z) { return OP(OP((int)x, (int)y), (int)z); }); \
    }                                                                                             \
    LW_FN unsigned int __viadd##NAME##_##S2(unsigned int a, unsigned int b, unsigned int c)       \
    {                                                                                             \
        return lw_shorts<H>(a, b, c, [](H x, H y, H z) { return OP((int)(H)(x + y), (int)z); });  \
    }                                                                                             \
    LW_FN unsigned int __vib##NAME##_##S2(unsigned int a, unsigned int b, bool *high, bool *low)  \
    {                                                                                             \
        *low = OP((int)(H)a, (int)(H)b) == (H)a;                                                  \
        *high = OP((int)(H)(a >> 16), (int)(H)(b >> 16)) == (H)(a >> 16);                         \
        return lw_shorts<H>(a, b, 0, [](H x, H y, H) { return OP((int)x, (int)y); });             \
    }
template <class T> LW_FN T lw_most(T a, T b) { return a < b ? b : a; }
template <class T> LW_FN T lw_least(T a, T b) { return b < a ? b : a; }
LW_VI(max, lw_most) LW_VI(min, lw_least)
#undef LW_VI
#undef LW_VI1
#undef LW_PLAIN
#undef LW_BOTH
#undef LW_SHORTS
#undef LW_BYTES
#undef LW_SIMD

/* ---- memory --------------------------------------------------------------------------------- */

template <class T> LW_FN T __ldca(const T *p) { return *p; }
template <class T> LW_FN T __ldcg(const T *p) { return *p; }
template <class T> LW_FN T __ldcs(const T *p) { return *p; }
template <class T> LW_FN T __ldlu(const T *p) { return *p; }
template <class T> LW_FN void __stwb(T *p, T x) { *p = x; }
template <class T> LW_FN void __stcg(T *p, T x) { *p = x; }
template <class T> LW_FN void __stcs(T *p, T x) { *p = x; }
/* Volatile accesses to vectors and other structures. An access is divided into pieces as large as the alignment of the
 * structure permits. */
template <size_t Align> struct lw_piece { typedef unsigned long long type; };
template <> struct lw_piece<4> { typedef unsigned int type; };
template <> struct lw_piece<2> { typedef unsigned short type; };
template <> struct lw_piece<1> { typedef unsigned char type; };
template <class T, bool Vector = __is_class(T)> struct lw_volatile {
    LW_FN T load(const T *p) { return *(const volatile T *)p; }
    LW_FN void store(T *p, T x) { *(volatile T *)p = x; }
};
template <class T> struct lw_volatile<T, true> {
    typedef typename lw_piece<alignof(T)>::type __attribute__((may_alias)) element;
    LW_FN T load(const T *p)
    {
        T x;

        for (unsigned int i = 0; i < sizeof x / sizeof(element); i++)
            ((element *)&x)[i] = ((const volatile element *)p)[i];
        return x;
    }
    LW_FN void store(T *p, T x)
    {
        for (unsigned int i = 0; i < sizeof x / sizeof(element); i++)
            ((volatile element *)p)[i] = ((const element *)&x)[i];
    }
};
template <class T> LW_FN T __ldcv(const T *p) { return lw_volatile<T>::load(p); }
template <class T> LW_FN void __stwt(T *p, T x) { lw_volatile<T>::store(p, x); }

/* clang 14 assumes that intrinsics do not access static __shared__ variables, and would keep the values of these variables
 * in registers across barriers and fences. */
#define LW_ORDERED(e) ({ __asm__ volatile("" ::: "memory"); e; __asm__ volatile("" ::: "memory"); })
#define LW_ORDERED_INT(e) ({ __asm__ volatile("" ::: "memory"); int r_ = (e); \
                             __asm__ volatile("" ::: "memory"); r_; })
LW_FN void __threadfence_block(void) { LW_ORDERED(__nvvm_membar_cta()); }
LW_FN void __threadfence(void) { LW_ORDERED(__nvvm_membar_gl()); }
LW_FN void __threadfence_system(void) { LW_ORDERED(__nvvm_membar_sys()); }
LW_FN unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
LW_FN unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
LW_FN unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
LW_FN unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
LW_FN size_t __cvta_generic_to_shared(const void *p)
{
    return (size_t)(__attribute__((address_space(3))) const char *)p;
}
LW_FN size_t __cvta_generic_to_local(const void *p)
{
    return (size_t)(__attribute__((address_space(5))) const char *)p;
}
LW_FN size_t __cvta_generic_to_constant(const void *p)
{
    return (size_t)(__attribute__((address_space(4))) const char *)p;
}
#define LW_GENERIC(NAME, SPACE)                                                                   \
    LW_FN void *__cvta_##NAME##_to_generic(size_t p)                                              \
    {                                                                                             \
        return (void *)(__attribute__((address_space(SPACE))) char *)p;                           \
    }
LW_GENERIC(global, 1) LW_GENERIC(shared, 3) LW_GENERIC(constant, 4) LW_GENERIC(local, 5)
#undef LW_GENERIC
LW_FN size_t __cvta_generic_to_global(const void *p)
{
    return (size_t)(__attribute__((address_space(1))) const char *)p;
}

/* compiled code calls this function in place of a pure virtual function */
extern "C" __device__ __attribute__((weak, nodebug)) void __cxa_pure_virtual(void)
{
    __builtin_trap();
}

extern "C" __device__ void *malloc(size_t size);
extern "C" __device__ void free(void *p);
LW_FN void *memcpy(void *to, const void *from, size_t size)
{
    return __builtin_memcpy(to, from, size);
}
LW_FN void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }
LW_FN void *memmove(void *to, const void *from, size_t size)
{
    return __builtin_memmove(to, from, size);
}

/* ---- atomics -------------------------------------------------------------------------------- */

/* Expands macro M for each of the three scopes, with the suffix of CUDA's functions, the scope in the names of clang's builtins,
 * and the scope in PTX. */
#define LW_SCOPES(M) M(, gen, "gpu") M(_block, cta_gen, "cta") M(_system, sys_gen, "sys")
#define LW_ATOMIC_ADD(SUFFIX, SCOPE, NAME)                                                        \
    LW_FN int atomicAdd##SUFFIX(int *p, int x)                                                    \
    {                                                                                             \
        return LW_ATOM_##SCOPE(add, i)(p, x);                                                     \
    }                                                                                             \
    LW_FN unsigned int atomicAdd##SUFFIX(unsigned int *p, unsigned int x)                         \
    {                                                                                             \
        return (unsigned int)LW_ATOM_##SCOPE(add, i)((int *)p, (int)x);                           \
    }                                                                                             \
    LW_FN unsigned long long atomicAdd##SUFFIX(unsigned long long *p, unsigned long long x)       \
    {                                                                                             \
        return (unsigned long long)LW_ATOM_##SCOPE(add, ll)((long long *)p, (long long)x);        \
    }                                                                                             \
    LW_FN float atomicAdd##SUFFIX(float *p, float x) { return LW_ATOM_##SCOPE(add, f)(p, x); }    \
    LW_FN double atomicAdd##SUFFIX(double *p, double x)                                           \
    {                                                                                             \
        return LW_ATOM_##SCOPE(add, d)(p, x);                                                     \
    }                                                                                             \
    /* A separate atomic adds each element of the vector. */                                      \
    LW_FN float2 atomicAdd##SUFFIX(float2 *p, float2 x)                                           \
    {                                                                                             \
        return make_float2(atomicAdd##SUFFIX(&p->x, x.x), atomicAdd##SUFFIX(&p->y, x.y));         \
    }                                                                                             \
    LW_FN float4 atomicAdd##SUFFIX(float4 *p, float4 x)                                           \
    {                                                                                             \
        return make_float4(atomicAdd##SUFFIX(&p->x, x.x), atomicAdd##SUFFIX(&p->y, x.y),          \
                           atomicAdd##SUFFIX(&p->z, x.z), atomicAdd##SUFFIX(&p->w, x.w));         \
    }                                                                                             \
    LW_FN int atomicSub##SUFFIX(int *p, int x)                                                    \
    {                                                                                             \
        return LW_ATOM_##SCOPE(add, i)(p, (int)(0u - (unsigned int)x));                           \
    }                                                                                             \
    LW_FN unsigned int atomicSub##SUFFIX(unsigned int *p, unsigned int x)                         \
    {                                                                                             \
        return (unsigned int)LW_ATOM_##SCOPE(add, i)((int *)p, (int)(0u - x));                    \
    }                                                                                             \
    LW_FN unsigned int atomicInc##SUFFIX(unsigned int *p, unsigned int x)                         \
    {                                                                                             \
        return LW_ATOM_##SCOPE(inc, ui)(p, x);                                                    \
    }                                                                                             \
    LW_FN unsigned int atomicDec##SUFFIX(unsigned int *p, unsigned int x)                         \
    {                                                                                             \
        return LW_ATOM_##SCOPE(dec, ui)(p, x);                                                    \
    }                                                                                             \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Exch, xchg, int, i, int)                                       \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Exch, xchg, unsigned int, i, int)                              \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Exch, xchg, unsigned long long, ll, long long)                 \
    LW_FN float atomicExch##SUFFIX(float *p, float x)                                             \
    {                                                                                             \
        return __int_as_float(LW_ATOM_##SCOPE(xchg, i)((int *)p, __float_as_int(x)));             \
    }                                                                                             \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Min, min, int, i, int)                                         \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Min, min, unsigned int, ui, unsigned int)                      \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Min, min, long long, ll, long long)                            \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Min, min, unsigned long long, ull, unsigned long long)         \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Max, max, int, i, int)                                         \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Max, max, unsigned int, ui, unsigned int)                      \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Max, max, long long, ll, long long)                            \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, Max, max, unsigned long long, ull, unsigned long long)         \
    LW_ATOMIC_LOGIC(SUFFIX, SCOPE, And, and)                                                      \
    LW_ATOMIC_LOGIC(SUFFIX, SCOPE, Or, or)                                                        \
    LW_ATOMIC_LOGIC(SUFFIX, SCOPE, Xor, xor)                                                      \
    LW_FN int atomicCAS##SUFFIX(int *p, int expected, int x)                                      \
    {                                                                                             \
        return LW_ATOM_##SCOPE(cas, i)(p, expected, x);                                           \
    }                                                                                             \
    LW_FN unsigned int atomicCAS##SUFFIX(unsigned int *p, unsigned int expected, unsigned int x)  \
    {                                                                                             \
        return (unsigned int)LW_ATOM_##SCOPE(cas, i)((int *)p, (int)expected, (int)x);            \
    }                                                                                             \
    LW_FN unsigned long long atomicCAS##SUFFIX(unsigned long long *p,                             \
                                               unsigned long long expected,                       \
                                               unsigned long long x)                              \
    {                                                                                             \
        return (unsigned long long)LW_ATOM_##SCOPE(cas, ll)((long long *)p, (long long)expected,  \
                                                            (long long)x);                        \
    }                                                                                             \
/* A compare-and-swap of 16 bits: exchanges the aligned word that contains them. */           \
    LW_FN unsigned short atomicCAS##SUFFIX(unsigned short *p, unsigned short expected,            \
                                           unsigned short x)                                      \
    {                                                                                             \
        unsigned int *word = (unsigned int *)((size_t)p & ~(size_t)3);                            \
        unsigned int shift = (unsigned int)((size_t)p & 2) * 8, old = *word, seen;                \
                                                                                                  \
        for (;;) {                                                                                \
            if ((unsigned short)(old >> shift) != expected)                                       \
                return (unsigned short)(old >> shift);                                            \
            seen = atomicCAS##SUFFIX(word, old,                                                   \
                                     (old & ~(0xffffu << shift)) | (unsigned int)x << shift);     \
            if (seen == old)                                                                      \
                return expected;                                                                  \
            old = seen;                                                                           \
        }                                                                                         \
    }
#define LW_ATOMIC_PLAIN(SUFFIX, SCOPE, CUDA, OP, T, KIND, AS)                                     \
    LW_FN T atomic##CUDA##SUFFIX(T *p, T x)                                                       \
    {                                                                                             \
        return (T)LW_ATOM_##SCOPE(OP, KIND)((AS *)p, (AS)x);                                      \
    }
#define LW_ATOMIC_LOGIC(SUFFIX, SCOPE, CUDA, OP)                                                  \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, CUDA, OP, int, i, int)                                         \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, CUDA, OP, unsigned int, i, int)                                \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, CUDA, OP, long long, ll, long long)                            \
    LW_ATOMIC_PLAIN(SUFFIX, SCOPE, CUDA, OP, unsigned long long, ll, long long)
#define LW_ATOM_gen(OP, KIND) __nvvm_atom_##OP##_gen_##KIND
#define LW_ATOM_cta_gen(OP, KIND) __nvvm_atom_cta_##OP##_gen_##KIND
#define LW_ATOM_sys_gen(OP, KIND) __nvvm_atom_sys_##OP##_gen_##KIND
LW_SCOPES(LW_ATOMIC_ADD)
#undef LW_SCOPES
#undef LW_ATOMIC_ADD
#undef LW_ATOMIC_PLAIN
#undef LW_ATOMIC_LOGIC
#undef LW_ATOM_gen
#undef LW_ATOM_cta_gen
#undef LW_ATOM_sys_gen

/* ---- blocks and warps ------------------------------------------------------------------------- */

#if __clang_major__ < 15
LW_FN void lw_syncthreads(void) { LW_ORDERED(__syncthreads()); }
#define __syncthreads lw_syncthreads /* replaces __syncthreads, which is a builtin of clang */
#endif
LW_FN void __barrier_sync(unsigned int id) { LW_ORDERED(__nvvm_barrier_sync(id)); }
LW_FN void __barrier_sync_count(unsigned int id, unsigned int n)
{
    LW_ORDERED(__nvvm_barrier_sync_cnt(id, n));
}
/* In Lanewise, dependent grids do not overlap, so these functions have no effect. */
LW_FN void cudaGridDependencySynchronize(void) {}
LW_FN void cudaTriggerProgrammaticLaunchCompletion(void) {}
LW_FN int __syncthreads_count(int x) { return LW_ORDERED_INT(__nvvm_bar0_popc(x)); }
LW_FN int __syncthreads_and(int x) { return LW_ORDERED_INT(__nvvm_bar0_and(x)); }
LW_FN int __syncthreads_or(int x) { return LW_ORDERED_INT(__nvvm_bar0_or(x)); }
LW_FN void __syncwarp(unsigned int mask = 0xffffffffu) { LW_ORDERED(__nvvm_bar_warp_sync(mask)); }
#undef LW_ORDERED
#undef LW_ORDERED_INT
__attribute__((convergent)) LW_FN unsigned int __activemask(void)
{
    unsigned int r;

    __asm__ volatile("activemask.b32 %0;" : "=r"(r));
    return r;
}
LW_FN int __all_sync(unsigned int mask, int x) { return __nvvm_vote_all_sync(mask, x != 0); }
LW_FN int __any_sync(unsigned int mask, int x) { return __nvvm_vote_any_sync(mask, x != 0); }
LW_FN int __uni_sync(unsigned int mask, int x) { return __nvvm_vote_uni_sync(mask, x != 0); }
LW_FN unsigned int __ballot_sync(unsigned int mask, int x)
{
    return __nvvm_vote_ballot_sync(mask, x != 0);
}
/* Functions without a mask, from before CUDA 9, apply to the active lanes. */
LW_FN int __all(int x) { return __all_sync(__activemask(), x); }
LW_FN int __any(int x) { return __any_sync(__activemask(), x); }
LW_FN unsigned int __ballot(int x) { return __ballot_sync(__activemask(), x); }

LW_FN int lw_shfl_idx(unsigned int m, int x, int at, int c) { return __nvvm_shfl_sync_idx_i32(m, x, at, c); }
LW_FN int lw_shfl_up(unsigned int m, int x, int at, int c) { return __nvvm_shfl_sync_up_i32(m, x, at, c); }
LW_FN int lw_shfl_down(unsigned int m, int x, int at, int c) { return __nvvm_shfl_sync_down_i32(m, x, at, c); }
LW_FN int lw_shfl_bfly(unsigned int m, int x, int at, int c) { return __nvvm_shfl_sync_bfly_i32(m, x, at, c); }
/* 64-bit values are shuffled in two halves. A shuffle reads only lanes of its segment of @width lanes: the bound of `up` is the
 * first lane of the segment, the bound of the other shuffles is the last lane. */
#define LW_SHUFFLE(F, OP, T_AT, LAST)                                                             \
    LW_FN int F##_sync(unsigned int mask, int x, T_AT at, int width = 32)                         \
    {                                                                                             \
        return lw_shfl_##OP(mask, x, (int)at, (32 - width) << 8 | (LAST));                        \
    }                                                                                             \
    LW_FN unsigned int F##_sync(unsigned int mask, unsigned int x, T_AT at, int width = 32)       \
    {                                                                                             \
        return (unsigned int)F##_sync(mask, (int)x, at, width);                                   \
    }                                                                                             \
    LW_FN float F##_sync(unsigned int mask, float x, T_AT at, int width = 32)                     \
    {                                                                                             \
        return __int_as_float(F##_sync(mask, __float_as_int(x), at, width));                      \
    }                                                                                             \
    LW_FN unsigned long long F##_sync(unsigned int mask, unsigned long long x, T_AT at,           \
                                      int width = 32)                                             \
    {                                                                                             \
        unsigned int lo = F##_sync(mask, (unsigned int)x, at, width);                             \
        unsigned int hi = F##_sync(mask, (unsigned int)(x >> 32), at, width);                     \
                                                                                                  \
        return (unsigned long long)hi << 32 | lo;                                                 \
    }                                                                                             \
    LW_FN long long F##_sync(unsigned int mask, long long x, T_AT at, int width = 32)             \
    {                                                                                             \
        return (long long)F##_sync(mask, (unsigned long long)x, at, width);                       \
    }                                                                                             \
    LW_FN unsigned long F##_sync(unsigned int mask, unsigned long x, T_AT at, int width = 32)     \
    {                                                                                             \
        return (unsigned long)F##_sync(mask, (unsigned long long)x, at, width);                   \
    }                                                                                             \
    LW_FN long F##_sync(unsigned int mask, long x, T_AT at, int width = 32)                       \
    {                                                                                             \
        return (long)F##_sync(mask, (unsigned long long)x, at, width);                            \
    }                                                                                             \
    LW_FN double F##_sync(unsigned int mask, double x, T_AT at, int width = 32)                   \
    {                                                                                             \
        return __longlong_as_double(F##_sync(mask, __double_as_longlong(x), at, width));          \
    }                                                                                             \
    template <class T> LW_FN T F(T x, T_AT at, int width = 32)                                    \
    {                                                                                             \
        return F##_sync(__activemask(), x, at, width);                                            \
    }
LW_SHUFFLE(__shfl, idx, int, 31)
LW_SHUFFLE(__shfl_up, up, unsigned int, 0)
LW_SHUFFLE(__shfl_down, down, unsigned int, 31)
LW_SHUFFLE(__shfl_xor, bfly, int, 31)
#undef LW_SHUFFLE

/* Unsigned type of @Size bytes, 4 or 8, in which values are compared. */
template <int Size> struct lw_word { typedef unsigned int type; };
template <> struct lw_word<8> { typedef unsigned long long type; };
LW_FN unsigned int lw_match_any(unsigned int mask, unsigned int x)
{
    return (unsigned int)__nvvm_match_any_sync_i32(mask, x);
}
LW_FN unsigned int lw_match_any(unsigned int mask, unsigned long long x)
{
    unsigned int r;

    __asm__ volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(x), "r"(mask));
    return r;
}
LW_FN unsigned int lw_match_all(unsigned int mask, unsigned int x, int *equal)
{
    unsigned int r, p;

    __asm__ volatile("{ .reg .pred %%q; match.all.sync.b32 %0|%%q, %2, %3; selp.u32 %1, 1, 0, %%q; }"
                     : "=r"(r), "=r"(p)
                     : "r"(x), "r"(mask));
    *equal = (int)p;
    return r;
}
LW_FN unsigned int lw_match_all(unsigned int mask, unsigned long long x, int *equal)
{
    unsigned int r, p;

    __asm__ volatile("{ .reg .pred %%q; match.all.sync.b64 %0|%%q, %2, %3; selp.u32 %1, 1, 0, %%q; }"
                     : "=r"(r), "=r"(p)
                     : "l"(x), "r"(mask));
    *equal = (int)p;
    return r;
}
template <class T> LW_FN unsigned int __match_any_sync(unsigned int mask, T x)
{
    return lw_match_any(mask, __builtin_bit_cast(typename lw_word<sizeof(T)>::type, x));
}
template <class T> LW_FN unsigned int __match_all_sync(unsigned int mask, T x, int *equal)
{
    return lw_match_all(mask, __builtin_bit_cast(typename lw_word<sizeof(T)>::type, x), equal);
}
/* Smaller integers are promoted to int, as by CUDA's functions. */
#define LW_MATCH(T)                                                                               \
    LW_FN unsigned int __match_any_sync(unsigned int mask, T x) { return __match_any_sync(mask, (int)x); } \
    LW_FN unsigned int __match_all_sync(unsigned int mask, T x, int *equal) { return __match_all_sync(mask, (int)x, equal); }
LW_MATCH(bool) LW_MATCH(char) LW_MATCH(signed char) LW_MATCH(unsigned char) LW_MATCH(short) LW_MATCH(unsigned short)
#undef LW_MATCH
#define LW_REDUCE(F, OP, T)                                                                       \
    __attribute__((convergent)) LW_FN T F(unsigned int mask, T x)                                 \
    {                                                                                             \
        T r;                                                                                      \
                                                                                                  \
        __asm__ volatile(LW_NEWER "redux.sync." OP " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(mask));          \
        return r;                                                                                 \
    }
LW_REDUCE(__reduce_add_sync, "add.s32", int)
LW_REDUCE(__reduce_min_sync, "min.s32", int)
LW_REDUCE(__reduce_max_sync, "max.s32", int)
LW_REDUCE(__reduce_add_sync, "add.u32", unsigned int)
LW_REDUCE(__reduce_min_sync, "min.u32", unsigned int)
LW_REDUCE(__reduce_max_sync, "max.u32", unsigned int)
LW_REDUCE(__reduce_and_sync, "and.b32", unsigned int)
LW_REDUCE(__reduce_or_sync, "or.b32", unsigned int)
LW_REDUCE(__reduce_xor_sync, "xor.b32", unsigned int)
#undef LW_REDUCE
LW_FN unsigned int lw_lane(void) { return (unsigned int)__nvvm_read_ptx_sreg_laneid(); }

/* ---- time, text, end --------------------------------------------------------------------------- */

typedef long clock_t; /* the same type as in the host's <time.h> */
LW_FN clock_t clock(void) { return (clock_t)(int)__nvvm_read_ptx_sreg_clock(); }
LW_FN long long clock64(void) { return (long long)__nvvm_read_ptx_sreg_clock64(); }
LW_FN unsigned long long __globaltimer(void)
{
    unsigned long long r;

    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(r));
    return r;
}
LW_FN void __nanosleep(unsigned int ns) { __asm__ volatile("nanosleep.u32 %0;" : : "r"(ns)); }
LW_FN void __trap(void) { __asm__ volatile("trap;"); }
LW_FN void __brkpt(void) { __asm__ volatile("brkpt;"); }
LW_FN void __prof_trigger(int) {}

extern "C" __device__ int vprintf(const char *format, const char *arguments);
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void __assertfail(const void *what, const void *file, unsigned int line,
                                        const void *function, size_t char_size);
/* glibc's assert() calls this function. */
extern "C" __device__ inline __attribute__((nodebug)) void
__assert_fail(const char *what, const char *file, unsigned int line, const char *function)
{
    __assertfail(what, file, line, function, 1);
}
extern "C" __device__ inline __attribute__((nodebug)) void abort(void) { __trap(); }

#endif
