/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ref_lane.h"
#include "isa/isa_priv.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;

static float as_f(u32 b) { float f; memcpy(&f, &b, 4); return f; }
static u32 f_bits(float f)
{
    u32 b;
    memcpy(&b, &f, 4);
    return isnan(f) ? 0x7fffffff : b;
}
static double as_d(u64 b) { double f; memcpy(&f, &b, 8); return f; }
static u64 d_bits(double f)
{
    u64 b;
    memcpy(&b, &f, 8);
    return isnan(f) ? 0x7ff8000000000000ull : b;
}

/* ---- operands -------------------------------------------------------------------- */

/* Registers of the token that starts with @prefix in the row: 0 none, 1, 2. */
static int words(const char *operands, const char *prefix)
{
    const char *p = operands;
    while (*p) {
        const char *end = strchr(p, ',');
        size_t n = end ? (size_t)(end - p) : strlen(p);
        size_t k = strlen(prefix);
        if (n >= k && !memcmp(p, prefix, k)) {
            if (n == k)
                return 1;
            if (n == k + 1 && p[k] == '2')
                return 2;
        }
        p += n + (end != NULL);
    }
    return 0;
}

static u64 vreg(const struct ref_lane *t, unsigned r, int n)
{
    if (r == 255)
        return 0;
    return n == 2 ? (u64)t->v[r + 1] << 32 | t->v[r] : t->v[r];
}
static u64 sreg(const struct ref_lane *t, unsigned r, int n)
{
    if (r == 255)
        return 0;
    return n == 2 ? (u64)t->s[r + 1] << 32 | t->s[r] : t->s[r];
}
static void put(struct ref_lane *t, unsigned r, int n, u64 x)
{
    if (r == 255)
        return;
    t->v[r] = (u32)x;
    if (n == 2)
        t->v[r + 1] = (u32)(x >> 32);
}

static u64 x_value(const struct ref_lane *t, const struct isa_insn *i, int n, bool is_double)
{
    switch (i->xkind) {
    case ISA_X_VECTOR: return vreg(t, i->x & 255, n);
    case ISA_X_SCALAR: return sreg(t, i->x & 255, n);
    case ISA_X_CONST: {
        u64 v = 0;
        memcpy(&v, t->bank0 + (i->x & 0xffff), (size_t)n * 4);
        return v;
    }
    default:
        if (n == 1)
            return i->x;
        return is_double ? (u64)i->x << 32 : (u64)(s64)(s32)i->x;
    }
}

static u64 modified(u64 v, int n, unsigned mods, bool is_float)
{
    u64 sign = n == 2 ? 1ull << 63 : 1ull << 31;
    if (is_float) {
        if (mods & 2)
            v &= ~sign;
        if (mods & 1)
            v ^= sign;
    } else {
        if (mods & 2)
            v = ~v;
        if (mods & 1)
            v = 0 - v;
    }
    return n == 2 ? v : (u32)v;
}

static bool pred(const struct ref_lane *t, unsigned p, bool neg)
{
    return (p == 7 ? true : t->p[p]) != neg;
}
static bool scalar_pred(const struct ref_lane *t, unsigned p, bool neg)
{
    return (p == 7 ? true : t->sp[p]) != neg;
}
static void set_pred(struct ref_lane *t, unsigned p, bool v)
{
    if (p != 7)
        t->p[p] = v;
}

/* ---- small pieces ------------------------------------------------------------------- */

static float flush(float x, bool ftz)
{
    return ftz && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}
static double flush_d(double x, bool ftz)
{
    return ftz && fpclassify(x) == FP_SUBNORMAL ? copysign(0, x) : x;
}
static u32 finish(float x, bool ftz, bool sat)
{
    x = flush(x, ftz);
    if (sat)
        x = isnan(x) ? 0 : x < 0 ? 0 : x > 1 ? 1 : x == 0 ? 0 : x;
    return f_bits(x);
}
static u64 finish_d(double x, bool ftz, bool sat)
{
    x = flush_d(x, ftz);
    if (sat)
        x = isnan(x) ? 0 : x < 0 ? 0 : x > 1 ? 1 : x == 0 ? 0 : x;
    return d_bits(x);
}
static const int host[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
/* One operation of f32 (words 1) or f64 in a rounding mode of the host's. */
static double directed(double a, double b, char op, int words, unsigned mode)
{
    volatile double x = a, y = b, r;
    volatile float fx = (float)a, fy = (float)b, fr;

    fesetround(host[mode]);
    if (words == 1) {
        fr = op == '+' ? fx + fy : op == '-' ? fx - fy : op == '*' ? fx * fy
             : op == '/' ? fx / fy : sqrtf(fx);
        r = fr;
    } else {
        r = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y
            : op == '/' ? x / y : sqrt(x);
    }
    fesetround(FE_TONEAREST);
    return r;
}
static double directed_fma(double a, double b, double c, int words, unsigned mode)
{
    volatile double x = a, y = b, z = c, r;
    volatile float fx = (float)a, fy = (float)b, fz = (float)c, fr;

    fesetround(host[mode]);
    if (words == 1) {
        fr = fmaf(fx, fy, fz);
        r = fr;
    } else {
        r = fma(x, y, z);
    }
    fesetround(FE_TONEAREST);
    return r;
}
static double min_d(double a, double b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}
static double max_d(double a, double b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static unsigned mod(const struct isa_insn *i, enum isa_mod group)
{
    return isa_mod_applies(group, isa_op_info((enum isa_op)i->op)) ? isa_mod_get(i, group) : 0;
}
/* PTX's text of min and max, step by step. */
static double least(const struct isa_insn *i, double a, double b, bool greatest)
{
    bool sign = signbit(a) != signbit(b), x = mod(i, ISA_MOD_XORSIGN);
    double d;
    if (x) {
        a = fabs(a);
        b = fabs(b);
    }
    if (mod(i, ISA_MOD_MNAN) && (isnan(a) || isnan(b)))
        return NAN;
    d = greatest ? max_d(a, b) : min_d(a, b);
    return x && !isnan(d) ? copysign(d, sign ? -1 : 1) : d;
}

static bool compare_d(unsigned cmp, double a, double b)
{
    bool un = isnan(a) || isnan(b);
    switch (cmp) {
    case ISA_CMP_EQ: return !un && a == b;
    case ISA_CMP_NE: return !un && a != b;
    case ISA_CMP_LT: return !un && a < b;
    case ISA_CMP_LE: return !un && a <= b;
    case ISA_CMP_GT: return !un && a > b;
    case ISA_CMP_GE: return !un && a >= b;
    case ISA_CMP_EQU: return un || a == b;
    case ISA_CMP_NEU: return un || a != b;
    case ISA_CMP_LTU: return un || a < b;
    case ISA_CMP_LEU: return un || a <= b;
    case ISA_CMP_GTU: return un || a > b;
    case ISA_CMP_GEU: return un || a >= b;
    case ISA_CMP_NUM: return !un;
    default: return un;
    }
}
static bool compare_i(unsigned cmp, s64 a, s64 b, bool is_signed)
{
    int order = is_signed ? (a > b) - (a < b) : ((u64)a > (u64)b) - ((u64)a < (u64)b);
    switch (cmp) {
    case ISA_CMP_EQ: case ISA_CMP_EQU: return order == 0;
    case ISA_CMP_NE: case ISA_CMP_NEU: return order != 0;
    case ISA_CMP_LT: case ISA_CMP_LTU: return order < 0;
    case ISA_CMP_LE: case ISA_CMP_LEU: return order <= 0;
    case ISA_CMP_GT: case ISA_CMP_GTU: return order > 0;
    case ISA_CMP_GE: case ISA_CMP_GEU: return order >= 0;
    case ISA_CMP_NUM: return true;
    default: return false;
    }
}

static u64 lookup3(u64 a, u64 b, u64 c, unsigned table, unsigned bits)
{
    u64 r = 0;
    for (unsigned k = 0; k < bits; k++) {
        unsigned index = (unsigned)(a >> k & 1) << 2 | (unsigned)(b >> k & 1) << 1 |
                         (unsigned)(c >> k & 1);
        r |= (u64)(table >> index & 1) << k;
    }
    return r;
}

/* ---- conversions, by libm ---------------------------------------------------------------- */

static double half_to_double(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 0 ? ldexp(m, -24) : e == 31 ? (m ? NAN : INFINITY) : ldexp(1024 + m, e - 25);
    return h >> 15 ? -v : v;
}
/* Round to @p bits with least exponent emin by scaling. */
static double round_to(double x, int p, int emin, int emax, int mode)
{
    if (x == 0 || isnan(x) || isinf(x))
        return x;
    int e = ilogb(x);
    if (e < emin)
        e = emin;
    /* below 2^53, so floor and the rest are exact; what underflows leaves a small rest */
    double scaled = ldexp(x, p - 1 - e), low = floor(scaled), rest = scaled - low;
    if (scaled == 0) {
        low = signbit(x) ? -1 : 0;
        rest = signbit(x) ? 0.75 : 0.25;
    }
    bool up = mode == 0   ? rest > 0.5 || (rest == 0.5 && fmod(low, 2) != 0)
              : mode == 1 ? rest > 0 && low < 0
              : mode == 3 ? rest > 0
                          : false;
    double y = ldexp(low + up, e - p + 1);
    if (y == 0)
        y = copysign(0, x);
    double limit = ldexp(2 - ldexp(1, 1 - p), emax);
    if (fabs(y) > limit) {
        bool inf = mode == 0 || (mode == 2 && x < 0) || (mode == 3 && x > 0);
        y = copysign(inf ? INFINITY : limit, x);
    }
    return y;
}
static u64 pack_float(unsigned type, double x)
{
    if (type == ISA_DT_F64)
        return d_bits(x);
    if (type == ISA_DT_F32)
        return f_bits((float)x);
    if (isnan(x))
        return 0x7fff;
    if (type == ISA_DT_BF16) {
        float f = (float)x;
        u32 b;
        memcpy(&b, &f, 4);
        return b >> 16;
    }
    u32 sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (isinf(x))
        return sign | 0x7c00;
    if (x < ldexp(1, -14))
        return sign | (u32)ldexp(x, 24);
    int e = ilogb(x);
    return sign | (u32)(e + 15) << 10 | ((u32)ldexp(x, 10 - e) & 1023);
}
static u64 convert(const struct isa_insn *i, u64 bits)
{
    unsigned dt = isa_mod_get(i, ISA_MOD_DTYPE), st = isa_mod_get(i, ISA_MOD_STYPE);
    unsigned rnd = isa_mod_get(i, ISA_MOD_CRND), mode = rnd & 3;
    bool sat = isa_mod_get(i, ISA_MOD_CSAT), ftz = isa_mod_get(i, ISA_MOD_CFTZ);
    static const int widths[12] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 16, 32, 64};
    static const struct { int p, emin, emax; } shape[12] = {
        [ISA_DT_F16] = {11, -14, 15}, [ISA_DT_BF16] = {8, -126, 127},
        [ISA_DT_F32] = {24, -126, 127}, [ISA_DT_F64] = {53, -1022, 1023}};
    if (st < ISA_ST_F16) {
        int w = widths[st];
        __int128 v = (u64)(w == 64 ? bits : bits & ((1ull << w) - 1));
        if ((st & 1) && v >> (w - 1) & 1)
            v -= (__int128)1 << w;
        if (dt < ISA_DT_F16) {
            int to = widths[dt];
            __int128 low = dt & 1 ? -((__int128)1 << (to - 1)) : 0;
            __int128 high = ((__int128)1 << (dt & 1 ? to - 1 : to)) - 1;
            if (sat)
                v = v < low ? low : v > high ? high : v;
            u64 r = (u64)v;
            if (to == 64)
                return r;
            r &= (1ull << to) - 1;
            if ((dt & 1) && r >> (to - 1) & 1)
                r |= ~0ull << to;
            return (u32)r;
        }
        /* a 64-bit integer is no double: round in two exact pieces */
        bool neg = v < 0;
        unsigned __int128 m = (unsigned __int128)(neg ? -v : v);
        long double exact = (long double)(u64)m; /* 64 bits of significand */
        double y;
        if (m == 0) {
            y = 0;
        } else {
            int e = 63 - __builtin_clzll((u64)m), drop = e + 1 - shape[dt].p;
            if (drop > 0) {
                u64 q = (u64)m >> drop, rest = (u64)m & ((1ull << drop) - 1), half = 1ull << (drop - 1);
                bool up = mode == 0 ? rest > half || (rest == half && (q & 1))
                          : mode == 2 ? neg && rest : mode == 3 ? !neg && rest : false;
                exact = ldexpl((long double)(q + up), drop);
            }
            y = (double)exact;
            double limit = ldexp(2 - ldexp(1, 1 - shape[dt].p), shape[dt].emax);
            if (y > limit) {
                bool inf = mode == 0 || (mode == 2 && neg) || (mode == 3 && !neg);
                y = inf ? INFINITY : limit;
            }
        }
        if (neg)
            y = -y;
        if (sat)
            y = y < 0 ? 0 : y > 1 ? 1 : y;
        return pack_float(dt, y);
    }
    double x = st == ISA_ST_F64 ? as_d(bits) : st == ISA_ST_F32 ? (double)flush(as_f((u32)bits), ftz)
               : st == ISA_ST_F16 ? half_to_double((uint16_t)bits) : (double)as_f((u32)bits << 16);
    if (dt < ISA_DT_F16) {
        int to = widths[dt];
        if (isnan(x)) { /* the text of PTX */
            u64 least_value = st != ISA_ST_F64 && to != 64 ? 0 : 1ull << (to - 1);
            if (dt == ISA_DT_S8 || dt == ISA_DT_S16)
                return (u32)(s32)(dt == ISA_DT_S8 ? (int8_t)least_value : (int16_t)least_value);
            return least_value;
        }
        x = mode == 0 ? nearbyint(x) : mode == 1 ? trunc(x) : mode == 2 ? floor(x) : ceil(x);
        double low = dt & 1 ? -ldexp(1, to - 1) : 0, high = ldexp(1, dt & 1 ? to - 1 : to);
        u64 r;
        if (x >= high)
            r = dt & 1 ? (1ull << (to - 1)) - 1 : to == 64 ? ~0ull : (1ull << to) - 1;
        else if (x <= low)
            r = (u64)(s64)low;
        else
            r = x >= 9223372036854775808.0 ? (u64)x : (u64)(s64)x;
        return to == 64 ? r : (u32)r;
    }
    if (isnan(x))
        return sat ? 0 : pack_float(dt, x);
    if (rnd >= 4)
        x = mode == 0 ? nearbyint(x) : mode == 1 ? trunc(x) : mode == 2 ? floor(x) : ceil(x);
    if (sat)
        x = x > 1 ? 1 : x > 0 ? x : 0;
    x = round_to(x, shape[dt].p, shape[dt].emin, shape[dt].emax, mode);
    if (ftz && dt == ISA_DT_F32 && fpclassify((float)x) == FP_SUBNORMAL)
        x = copysign(0, x);
    return pack_float(dt, x);
}

/* ---- 16-bit floats, by doubles --------------------------------------------------------------- */

/* Which of the 16-bit rows, from its name: v_fma_bf16x2 is "fma", bf16, packed. */
static bool half_row(const struct isa_op_info *info, char op[8], bool *bf, bool *x2)
{
    const char *end = strrchr(info->mnemonic, '_');
    size_t n = end ? (size_t)(end - info->mnemonic) - 2 : 0;
    if (!end || n >= 8 || (strncmp(end, "_f16", 4) && strncmp(end, "_bf16", 5)))
        return false;
    memcpy(op, info->mnemonic + 2, n);
    op[n] = 0;
    *bf = end[1] == 'b';
    *x2 = strstr(end, "x2") != NULL;
    return true;
}
static double half_in(u32 h, bool bf, bool ftz)
{
    double x = bf ? (double)as_f(h << 16) : half_to_double((uint16_t)h);
    return ftz && fabs(x) < ldexp(1, bf ? -126 : -14) ? copysign(0, x) : x;
}
/* Rounded to odd: to zero, and the last bit set if that was not exact. */
static double fma_to_odd(double a, double b, double c)
{
    volatile double x = a, y = b, z = c, r;
    u64 bits;
    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_INEXACT);
    r = fma(x, y, z);
    memcpy(&bits, (const void *)&r, 8);
    if (fetestexcept(FE_INEXACT))
        bits |= 1;
    fesetround(FE_TONEAREST);
    if (r == 0 && !fetestexcept(FE_INEXACT)) /* the sign of a zero is that of the nearest */
        return fma(a, b, c);
    return isnan(r) ? NAN : as_d(bits);
}
static bool half_lane(const struct isa_insn *i, const char *op, bool bf, const u32 h[3], u32 *out)
{
    bool ftz = mod(i, ISA_MOD_FTZ), sat = mod(i, ISA_MOD_SAT), relu = mod(i, ISA_MOD_RELU);
    double a = half_in(h[0], bf, ftz), b = half_in(h[1], bf, ftz), c = half_in(h[2], bf, ftz), d;
    int p = bf ? 8 : 11, emin = bf ? -126 : -14, emax = bf ? 127 : 15;
    if (!strcmp(op, "abs"))
        return *out = h[1] & 0x7fff, true;
    if (!strcmp(op, "neg"))
        return *out = h[1] ^ 0x8000, true;
    d = !strcmp(op, "add") ? a + b : !strcmp(op, "sub") ? a - b : !strcmp(op, "mul") ? a * b
        : !strcmp(op, "fma") ? fma_to_odd(a, b, c) : !strcmp(op, "div") ? a / b
        : !strcmp(op, "rcp") ? 1 / b : !strcmp(op, "sqrt") ? sqrt(b)
        : !strcmp(op, "min") ? least(i, a, b, false) : !strcmp(op, "max") ? least(i, a, b, true)
        : ldexp(1, 300);
    if (d == ldexp(1, 300))
        return false; /* functions have bounds, not one result */
    if (bf && (!strcmp(op, "add") || !strcmp(op, "sub")))
        d = fma_to_odd(1, a, op[0] == 's' ? -b : b); /* 2 * 127 + 8 bits are no double */
    d = round_to(d, p, emin, emax, 0);
    if (ftz && fabs(d) < ldexp(1, emin))
        d = copysign(0, d);
    if (sat)
        d = d > 1 ? 1 : d > 0 ? d : 0;
    if (relu && d <= 0)
        d = 0;
    *out = (u32)pack_float(bf ? ISA_DT_BF16 : ISA_DT_F16, d);
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static uint8_t *place(const struct ref_lane *t, const struct isa_insn *i)
{
    s64 disp = (s32)i->x >> 8;
    u64 address, factor = (u64)1 << isa_mod_get(i, ISA_MOD_ASCALE);
    switch (isa_mod_get(i, ISA_MOD_AMODE)) {
    case ISA_AMODE_PAIR: address = vreg(t, i->a, 2) + (u64)disp; break;
    case ISA_AMODE_32: address = (u32)(vreg(t, i->a, 1) + (u64)disp); break;
    case ISA_AMODE_SU32:
        address = sreg(t, i->c, 2) + vreg(t, i->a, 1) * factor + (u64)disp;
        break;
    default:
        address = sreg(t, i->c, 2) + (u64)(s64)(s32)vreg(t, i->a, 1) * factor + (u64)disp;
        break;
    }
    switch (i->op) {
    case ISA_LD_SHARED: case ISA_ST_SHARED: case ISA_ATOM_SHARED: case ISA_RED_SHARED:
        return t->shared + address;
    case ISA_LD_LOCAL: case ISA_ST_LOCAL:
        return t->local + address;
    case ISA_LD_GENERIC: case ISA_ST_GENERIC: case ISA_ATOM_GENERIC: case ISA_RED_GENERIC:
        if (address >= ISA_SHARED_BASE && address < ISA_SHARED_BASE + (1ull << 32))
            return t->shared + (address - ISA_SHARED_BASE);
        if (address >= ISA_LOCAL_BASE && address < ISA_LOCAL_BASE + (1ull << 32))
            return t->local + (address - ISA_LOCAL_BASE);
        return t->global + (address - t->global_base);
    default:
        return t->global + (address - t->global_base);
    }
}
static void load(struct ref_lane *t, const struct isa_insn *i)
{
    const uint8_t *m = place(t, i);
    u32 w[4] = {0};
    switch (isa_mod_get(i, ISA_MOD_SIZE)) {
    case ISA_SIZE_U8: put(t, i->d, 1, m[0]); return;
    case ISA_SIZE_S8: put(t, i->d, 1, (u32)(s32)(int8_t)m[0]); return;
    case ISA_SIZE_U16: put(t, i->d, 1, m[0] | m[1] << 8); return;
    case ISA_SIZE_S16: put(t, i->d, 1, (u32)(s32)(int16_t)(m[0] | m[1] << 8)); return;
    default: break;
    }
    unsigned n = isa_mem_regs(i);
    memcpy(w, m, n * 4);
    for (unsigned k = 0; k < n && i->d != 255; k++)
        t->v[i->d + k] = w[k];
}
static void store(struct ref_lane *t, const struct isa_insn *i)
{
    uint8_t *m = place(t, i);
    unsigned r = i->x & 255, n = isa_mem_regs(i);
    u32 w[4];
    for (unsigned k = 0; k < n; k++)
        w[k] = r == 255 ? 0 : t->v[r + k];
    switch (isa_mod_get(i, ISA_MOD_SIZE)) {
    case ISA_SIZE_U8: case ISA_SIZE_S8: memcpy(m, w, 1); return;
    case ISA_SIZE_U16: case ISA_SIZE_S16: memcpy(m, w, 2); return;
    default: memcpy(m, w, n * 4); return;
    }
}
static void atomic(struct ref_lane *t, const struct isa_insn *i, bool result)
{
    uint8_t *m = place(t, i);
    unsigned type = isa_mod_get(i, ISA_MOD_ATYPE);
    int n = type == ISA_ATYPE_U64 || type == ISA_ATYPE_S64 || type == ISA_ATYPE_B64 ||
                    type == ISA_ATYPE_F64
                ? 2
                : 1;
    u64 old = 0, x = vreg(t, i->x & 255, n), c = result ? vreg(t, i->c, n) : 0, r = 0;
    bool is_signed = type == ISA_ATYPE_S32 || type == ISA_ATYPE_S64;
    int half = type == ISA_ATYPE_F16 || type == ISA_ATYPE_BF16 || type == ISA_ATYPE_B16 ? 1
               : type == ISA_ATYPE_F16X2 || type == ISA_ATYPE_BF16X2 ? 2 : 0;
    size_t bytes = half ? (size_t)half * 2 : (size_t)n * 4;
    memcpy(&old, m, bytes);
    if (half == 1)
        x &= 0xffff, c &= 0xffff;
    if (half && type != ISA_ATYPE_B16 && isa_mod_get(i, ISA_MOD_AOP) <= ISA_AOP_MAX) {
        bool bf = type == ISA_ATYPE_BF16 || type == ISA_ATYPE_BF16X2;
        static const char *const names[3] = {"add", "min", "max"};
        for (int k = 0; k < half; k++) {
            struct isa_insn plain;
            u32 out, h[3] = {(u32)(old >> 16 * k) & 0xffff, (u32)(x >> 16 * k) & 0xffff, 0};
            isa_insn_init(&plain, ISA_V_ADD_F16);
            half_lane(&plain, names[isa_mod_get(i, ISA_MOD_AOP)], bf, h, &out);
            r |= (u64)out << 16 * k;
        }
        memcpy(m, &r, bytes);
        if (result)
            put(t, i->d, 1, old);
        return;
    }
    s64 so = n == 1 ? (s32)old : (s64)old, sx = n == 1 ? (s32)x : (s64)x;
    switch (isa_mod_get(i, ISA_MOD_AOP)) {
    case ISA_AOP_ADD:
        r = type == ISA_ATYPE_F32 ? f_bits(as_f((u32)old) + as_f((u32)x))
            : type == ISA_ATYPE_F64 ? d_bits(as_d(old) + as_d(x)) : old + x;
        break;
    case ISA_AOP_MIN: r = is_signed ? (u64)(so < sx ? so : sx) : old < x ? old : x; break;
    case ISA_AOP_MAX: r = is_signed ? (u64)(so > sx ? so : sx) : old > x ? old : x; break;
    case ISA_AOP_INC: r = old >= x ? 0 : old + 1; break;
    case ISA_AOP_DEC: r = old == 0 || old > x ? x : old - 1; break;
    case ISA_AOP_AND: r = old & x; break;
    case ISA_AOP_OR: r = old | x; break;
    case ISA_AOP_XOR: r = old ^ x; break;
    case ISA_AOP_EXCH: r = x; break;
    default: r = old == x ? c : old; break;
    }
    memcpy(m, &r, bytes);
    if (result)
        put(t, i->d, n, old);
}

/* ---- one instruction ---------------------------------------------------------------------------- */

enum result { UNKNOWN, DONE };

static enum result execute(struct ref_lane *t, const struct isa_insn *i, bool probe)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)i->op);
    const char *ops = info->operands;
    bool fl = info->flags & ISA_F_FLOAT;
    bool dbl = fl || info->unit == ISA_UNIT_DP;
    int na = words(ops, "va"), nx = words(ops, "xb"), nc = words(ops, "vc");
    bool mods = !(info->flags & ISA_F_NOSRCMOD);
    u64 a = 0, b = 0, c = 0;
    if (i->variant && nx && nc) { /* X is the third source, C the second */
        int k = nx;
        nx = nc;
        nc = k;
    }
    if (na && !probe)
        a = i->a_scalar ? sreg(t, i->a, na) : vreg(t, i->a, na);
    if (nx && !probe)
        b = x_value(t, i, nx, dbl);
    if (nc && !probe)
        c = i->c_scalar ? sreg(t, i->c, nc) : vreg(t, i->c, nc);
    if (mods) {
        a = modified(a, na, i->mod & 3, fl);
        b = modified(b, nx, i->mod >> 2 & 3, fl);
        c = modified(c, nc, i->mod >> 4 & 3, fl);
    }
    if (i->variant && nx && nc) {
        u64 k = b;
        b = c;
        c = k;
    }
    bool ftz = mod(i, ISA_MOD_FTZ), sat = mod(i, ISA_MOD_SAT);
    unsigned rnd = mod(i, ISA_MOD_RND);
    float fa = flush(as_f((u32)a), ftz), fb = flush(as_f((u32)b), ftz),
          fc = flush(as_f((u32)c), ftz);
    double da = flush_d(as_d(a), ftz), db = flush_d(as_d(b), ftz), dc = flush_d(as_d(c), ftz);
    u32 ua = (u32)a, ub = (u32)b, uc = (u32)c;
    s32 sa = (s32)ua, sb = (s32)ub;
    s64 la = (s64)a, lb = (s64)b;
    bool r = probe ? false : pred(t, i->mod >> 12 & 7, i->mod >> 15 & 1);
    unsigned bpos = ub & 255, blen = ub >> 8 & 255;
#define D1(x) do { if (!probe) put(t, i->d, 1, (u32)(x)); return DONE; } while (0)
#define D2(x) do { if (!probe) put(t, i->d, 2, (u64)(x)); return DONE; } while (0)
#define F1(x) D1(finish((float)(x), ftz, sat))
#define F2(x) D2(finish_d((x), ftz, sat))
    char half[8];
    bool bf, x2;
    if (half_row(info, half, &bf, &x2)) {
        u32 out[2] = {0, 0};
        bool truth[2];
        for (int k = 0; k < (x2 ? 2 : 1); k++) {
            u32 in[3] = {ua >> (16 * k) & 0xffff, ub >> (16 * k) & 0xffff, uc >> (16 * k) & 0xffff};
            bool z = mod(i, ISA_MOD_CMPFTZ);
            if (!strcmp(half, "setp"))
                truth[k] = compare_d(isa_mod_get(i, ISA_MOD_CMP), half_in(in[0], bf, z),
                                     half_in(in[1], bf, z));
            else if (!half_lane(i, half, bf, in, &out[k]))
                return UNKNOWN;
        }
        if (!strcmp(half, "setp")) {
            if (!x2)
                truth[1] = !truth[0];
            for (int k = 0; k < 2 && !probe; k++) {
                switch (isa_mod_get(i, ISA_MOD_BOOL)) {
                case ISA_BOOL_AND: truth[k] &= r; break;
                case ISA_BOOL_OR: truth[k] |= r; break;
                case ISA_BOOL_XOR: truth[k] ^= r; break;
                default: break;
                }
                set_pred(t, i->mod >> (k ? 9 : 6) & 7, truth[k]);
            }
            return DONE;
        }
        D1(out[0] | out[1] << 16);
    }
    switch (i->op) {
    case ISA_V_MOV_B32: D1(b);
    case ISA_V_ADD_U32: D1(ua + ub);
    case ISA_V_SUB_U32: D1(ua - ub);
    case ISA_V_MUL_U32: D1(ua * ub);
    case ISA_V_MULHI_U32: D1((u64)ua * ub >> 32);
    case ISA_V_MULHI_S32: D1((u64)((s64)sa * sb) >> 32);
    case ISA_V_MAD_U32: D1(ua * ub + uc);
    case ISA_V_MULWIDE_U32: D2((u64)ua * ub);
    case ISA_V_MULWIDE_S32: D2((s64)sa * sb);
    case ISA_V_MADWIDE_U32: D2((u64)ua * ub + c);
    case ISA_V_LEA_U32: D2(((u64)ua << (ub & 31)) + c);
    case ISA_V_LEA_S32: D2((u64)((s64)((u64)(s64)sa << (ub & 31))) + c);
    case ISA_V_MADWIDE_S32: D2((u64)((s64)sa * sb) + c);
    case ISA_V_MIN_U32: D1(ua < ub ? ua : ub);
    case ISA_V_MAX_U32: D1(ua > ub ? ua : ub);
    case ISA_V_MIN_S32: D1(sa < sb ? sa : sb);
    case ISA_V_MAX_S32: D1(sa > sb ? sa : sb);
    case ISA_V_AND_B32: D1(ua & ub);
    case ISA_V_OR_B32: D1(ua | ub);
    case ISA_V_XOR_B32: D1(ua ^ ub);
    case ISA_V_NOT_B32: D1(~ub);
    case ISA_V_LOP3_B32: D1(lookup3(ua, ub, uc, i->mod >> 16 & 255, 32));
    case ISA_V_SHL_B32: D1(ub >= 32 ? 0 : ua << ub);
    case ISA_V_SHR_U32: D1(ub >= 32 ? 0 : ua >> ub);
    case ISA_V_SHR_S32: D1(sa >> (ub >= 32 ? 31 : ub));
    case ISA_V_ABS_S32: D1(sb < 0 ? 0 - ub : ub);
    case ISA_V_NEG_S32: D1(0 - ub);
    case ISA_V_DIV_U32: D1(ub ? ua / ub : 0xffffffff);
    case ISA_V_DIV_S32: D1(!sb ? -1 : (s64)sa / sb);
    case ISA_V_REM_U32: D1(ub ? ua % ub : ua);
    case ISA_V_REM_S32: D1(!sb ? sa : (s64)sa % sb);
    case ISA_V_BFE_U32: case ISA_V_BFE_S32: case ISA_V_BFE_U64: case ISA_V_BFE_S64: {
        bool wide = i->op == ISA_V_BFE_U64 || i->op == ISA_V_BFE_S64;
        bool sign = i->op == ISA_V_BFE_S32 || i->op == ISA_V_BFE_S64;
        int width = wide ? 64 : 32;
        u64 out = 0;
        bool top = sign && blen && a >> (bpos + blen - 1 < (unsigned)width ? bpos + blen - 1
                                                                           : (unsigned)width - 1) & 1;
        for (int k = 0; k < width; k++) {
            unsigned from = bpos + (unsigned)k;
            bool bit = (unsigned)k < blen && from < (unsigned)width ? a >> from & 1 : top;
            out |= (u64)bit << k;
        }
        if (wide)
            D2(out);
        D1(out);
    }
    case ISA_V_BFI_B32: case ISA_V_BFI_B64: {
        unsigned width = i->op == ISA_V_BFI_B64 ? 64 : 32;
        u64 out = c;
        for (unsigned k = 0; k < blen && bpos + k < width; k++) {
            u64 bit = k < width ? a >> k & 1 : 0;
            out = (out & ~(1ull << (bpos + k))) | bit << (bpos + k);
        }
        if (width == 64)
            D2(out);
        D1(out);
    }
    case ISA_V_POPC_B32: D1(__builtin_popcount(ub));
    case ISA_V_CLZ_B32: D1(ub ? __builtin_clz(ub) : 32);
    case ISA_V_POPC_B64: D1(__builtin_popcountll(b));
    case ISA_V_CLZ_B64: D1(b ? __builtin_clzll(b) : 64);
    case ISA_V_BREV_B32: { u32 x = 0; for (int k = 0; k < 32; k++) x |= (ub >> k & 1) << (31 - k); D1(x); }
    case ISA_V_BREV_B64: { u64 x = 0; for (int k = 0; k < 64; k++) x |= (b >> k & 1) << (63 - k); D2(x); }
    case ISA_V_PRMT_B32: {
        uint8_t bytes[8];
        u32 out = 0, k = ub & 3, mode = isa_mod_get(i, ISA_MOD_PRMT);
        memcpy(bytes, &ua, 4);
        memcpy(bytes + 4, &uc, 4);
        static const uint8_t table[7][4][4] = {
            [ISA_PRMT_F4E] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
            [ISA_PRMT_B4E] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
            [ISA_PRMT_RC8] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
            [ISA_PRMT_ECL] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
            [ISA_PRMT_ECR] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
            [ISA_PRMT_RC16] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};
        for (int n = 0; n < 4; n++) {
            uint8_t byte;
            if (mode == ISA_PRMT_IDX) {
                byte = bytes[ub >> (4 * n) & 7];
                if (ub >> (4 * n + 3) & 1)
                    byte = byte & 128 ? 255 : 0;
            } else {
                byte = bytes[table[mode][k][n]];
            }
            out |= (u32)byte << (8 * n);
        }
        D1(out);
    }
    case ISA_V_SHFL_B32: D1(uc >= 32 ? ua : uc == 0 ? ub : ub << uc | ua >> (32 - uc));
    case ISA_V_SHFR_B32: D1(uc >= 32 ? ub : uc == 0 ? ua : ua >> uc | ub << (32 - uc));
    case ISA_V_DP4A_U32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (uint8_t)(ua >> 8 * k) * (uint8_t)(ub >> 8 * k); D1(x); }
    case ISA_V_DP4A_S32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (u32)((int8_t)(ua >> 8 * k) * (int8_t)(ub >> 8 * k)); D1(x); }
    case ISA_V_DP4A_US32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (u32)((uint8_t)(ua >> 8 * k) * (int8_t)(ub >> 8 * k)); D1(x); }
    case ISA_V_DP4A_SU32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (u32)((int8_t)(ua >> 8 * k) * (uint8_t)(ub >> 8 * k)); D1(x); }
    case ISA_V_DP2A_U32: D1(uc + (u32)(u64)((ua & 0xffff) * (ub & 255)) + (ua >> 16) * (ub >> 8 & 255));
    case ISA_V_DP2A_S32: D1(uc + (u32)((int16_t)ua * (int8_t)ub) + (u32)((int16_t)(ua >> 16) * (int8_t)(ub >> 8)));
    case ISA_V_DP2A_US32: D1(uc + (u32)((uint16_t)ua * (int8_t)ub) + (u32)((uint16_t)(ua >> 16) * (int8_t)(ub >> 8)));
    case ISA_V_DP2A_SU32: D1(uc + (u32)((int16_t)ua * (uint8_t)ub) + (u32)((int16_t)(ua >> 16) * (uint8_t)(ub >> 8)));
    case ISA_V_BMSK_B32: { u32 x = 0; for (u64 k = ua; k < 32 && k < (u64)ua + ub; k++) x |= 1u << k; D1(x); }
    case ISA_V_SZEXT_U32: { u32 x = 0; for (u32 k = 0; k < 32 && k < ub; k++) x |= ua & 1u << k; D1(x); }
    case ISA_V_SZEXT_S32: {
        u32 x = 0, n = ub < 32 ? ub : 32;
        for (u32 k = 0; k < 32 && n; k++)
            x |= (ua >> (k < n ? k : n - 1) & 1) << k;
        D1(x);
    }
    case ISA_V_FNS_B32: { /* the text of PTX */
        u32 x = 0xffffffff;
        s64 pos = ub, off = (s32)uc, left = (off < 0 ? -off : off) - 1;
        if (ub > 31)
            D1(x);
        if (off == 0 && ua >> ub & 1)
            x = ub;
        for (; off != 0 && pos >= 0 && pos < 32; pos += off > 0 ? 1 : -1)
            if (ua >> pos & 1 && left-- == 0) {
                x = (u32)pos;
                break;
            }
        D1(x);
    }
    case ISA_V_ADDSAT_S32: { s64 x = (s64)sa + sb; D1(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x); }
    case ISA_V_SUBSAT_S32: { s64 x = (s64)sa - sb; D1(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x); }
    case ISA_V_SAD_U32: D1(uc + (u32)llabs((s64)ua - (s64)ub));
    case ISA_V_SAD_S32: D1(uc + (u32)llabs((s64)sa - sb));
    case ISA_V_RCP64H: case ISA_V_RSQ64H: {
        double x = flush_d(as_d((u64)ub << 32), true);
        x = flush_d(i->op == ISA_V_RCP64H ? 1 / x : 1 / sqrt(x), true);
        u64 bits;
        memcpy(&bits, &x, 8);
        D1(isnan(x) ? 0x7fffffff : bits >> 32);
    }
    case ISA_V_ADDC_U32: case ISA_V_SUBC_U32: {
        u64 x = (u64)ua + (i->op == ISA_V_SUBC_U32 ? (u32)~ub : ub) + r;
        if (!probe)
            set_pred(t, i->mod >> 6 & 7, x >> 32);
        D1(x);
    }
    case ISA_V_MOV_B64: D2(b);
    case ISA_V_ADD_U64: D2(a + b);
    case ISA_V_SUB_U64: D2(a - b);
    case ISA_V_MUL_U64: D2(a * b);
    case ISA_V_MULHI_U64: D2((u64)((unsigned __int128)a * b >> 64));
    case ISA_V_MULHI_S64: D2((u64)((__int128)la * lb >> 64));
    case ISA_V_MAD_U64: D2(a * b + c);
    case ISA_V_MIN_U64: D2(a < b ? a : b);
    case ISA_V_MAX_U64: D2(a > b ? a : b);
    case ISA_V_MIN_S64: D2(la < lb ? a : b);
    case ISA_V_MAX_S64: D2(la > lb ? a : b);
    case ISA_V_AND_B64: D2(a & b);
    case ISA_V_OR_B64: D2(a | b);
    case ISA_V_XOR_B64: D2(a ^ b);
    case ISA_V_NOT_B64: D2(~b);
    case ISA_V_SHL_B64: D2(ub >= 64 ? 0 : a << ub);
    case ISA_V_SHR_U64: D2(ub >= 64 ? 0 : a >> ub);
    case ISA_V_SHR_S64: D2(la >> (ub >= 64 ? 63 : ub));
    case ISA_V_ABS_S64: D2(lb < 0 ? 0 - b : b);
    case ISA_V_NEG_S64: D2(0 - b);
    case ISA_V_DIV_U64: D2(b ? a / b : ~0ull);
    case ISA_V_DIV_S64: D2(!b ? ~0ull : (u64)((__int128)la / lb));
    case ISA_V_REM_U64: D2(b ? a % b : a);
    case ISA_V_REM_S64: D2(!b ? a : (u64)((__int128)la % lb));
    case ISA_V_ADD_F32: F1(directed(fa, fb, '+', 1, rnd));
    case ISA_V_SUB_F32: F1(directed(fa, fb, '-', 1, rnd));
    case ISA_V_MUL_F32: F1(directed(fa, fb, '*', 1, rnd));
    case ISA_V_FMA_F32: F1(directed_fma(fa, fb, fc, 1, rnd));
    case ISA_V_DIV_F32: F1(directed(fa, fb, '/', 1, rnd));
    case ISA_V_RCP_F32: F1(directed(1, fb, '/', 1, rnd));
    case ISA_V_SQRT_F32: F1(directed(fb, 0, 'q', 1, rnd));
    case ISA_V_MIN_F32: F1((float)least(i, fa, fb, false));
    case ISA_V_MAX_F32: F1((float)least(i, fa, fb, true));
    case ISA_V_ABS_F32: D1(ub & 0x7fffffff);
    case ISA_V_NEG_F32: D1(ub ^ 0x80000000);
    case ISA_V_COPYSIGN_F32: D1((ua & 0x80000000) | (ub & 0x7fffffff));
    case ISA_V_RSQ_F32: F1((float)(1.0L / sqrtl((long double)fb)));
    case ISA_V_ADD_F64: F2(directed(da, db, '+', 2, rnd));
    case ISA_V_SUB_F64: F2(directed(da, db, '-', 2, rnd));
    case ISA_V_MUL_F64: F2(directed(da, db, '*', 2, rnd));
    case ISA_V_FMA_F64: F2(directed_fma(da, db, dc, 2, rnd));
    case ISA_V_DIV_F64: F2(directed(da, db, '/', 2, rnd));
    case ISA_V_RCP_F64: F2(directed(1, db, '/', 2, rnd));
    case ISA_V_SQRT_F64: F2(directed(db, 0, 'q', 2, rnd));
    case ISA_V_MIN_F64: F2(least(i, da, db, false));
    case ISA_V_MAX_F64: F2(least(i, da, db, true));
    case ISA_V_ABS_F64: D2(b & INT64_MAX);
    case ISA_V_NEG_F64: D2(b ^ 1ull << 63);
    case ISA_V_COPYSIGN_F64: D2((a & 1ull << 63) | (b & INT64_MAX));
    case ISA_V_SETP_U32: case ISA_V_SETP_S32: case ISA_V_SETP_F32: case ISA_V_SETP_U64:
    case ISA_V_SETP_S64: case ISA_V_SETP_F64: {
        unsigned cmp = isa_mod_get(i, ISA_MOD_CMP);
        bool z = isa_mod_get(i, ISA_MOD_CMPFTZ), x, y;
        if (i->op == ISA_V_SETP_F32)
            x = compare_d(cmp, flush(as_f(ua), z), flush(as_f(ub), z));
        else if (i->op == ISA_V_SETP_F64)
            x = compare_d(cmp, flush_d(da, z), flush_d(db, z));
        else if (i->op == ISA_V_SETP_S32)
            x = compare_i(cmp, sa, sb, true);
        else
            x = compare_i(cmp, la, lb, i->op == ISA_V_SETP_S64);
        y = !x;
        switch (isa_mod_get(i, ISA_MOD_BOOL)) {
        case ISA_BOOL_AND: x = x && r, y = y && r; break;
        case ISA_BOOL_OR: x = x || r, y = y || r; break;
        case ISA_BOOL_XOR: x = x != r, y = y != r; break;
        default: break;
        }
        if (!probe) {
            set_pred(t, i->mod >> 6 & 7, x);
            set_pred(t, i->mod >> 9 & 7, y);
        }
        return DONE;
    }
    case ISA_V_SELP_B32: D1(r ? a : b);
    case ISA_V_SELP_B64: D2(r ? a : b);
    case ISA_V_PLOP3:
        if (!probe) {
            bool x = pred(t, i->mod >> 16 & 7, i->mod >> 19 & 1),
                 y = pred(t, i->mod >> 20 & 7, i->mod >> 23 & 1);
            bool out = lookup3(x, y, r, i->x & 255, 1);
            set_pred(t, i->mod >> 6 & 7, out);
            set_pred(t, i->mod >> 9 & 7, !out);
        }
        return DONE;
    case ISA_V_P2R: { u32 x = 0; if (!probe) for (int k = 0; k < 7; k++) x |= (u32)t->p[k] << k; D1(x); }
    case ISA_V_R2P:
        for (int k = 0; k < 7 && !probe; k++)
            t->p[k] = ua >> k & 1;
        return DONE;
    case ISA_V_CVT: {
        if (probe)
            return DONE;
        unsigned st = isa_mod_get(i, ISA_MOD_STYPE), dt = isa_mod_get(i, ISA_MOD_DTYPE);
        int n = st == ISA_ST_U64 || st == ISA_ST_S64 || st == ISA_ST_F64 ? 2 : 1;
        int m = dt == ISA_DT_U64 || dt == ISA_DT_S64 || dt == ISA_DT_F64 ? 2 : 1;
        put(t, i->d, m, convert(i, x_value(t, i, n, st == ISA_ST_F64)));
        return DONE;
    }
    case ISA_V_S2R:
        switch (i->x) {
        case ISA_SR_TID_X: D1(t->tid[0]);
        case ISA_SR_TID_Y: D1(t->tid[1]);
        case ISA_SR_TID_Z: D1(t->tid[2]);
        case ISA_SR_NTID_X: D1(t->block[0]);
        case ISA_SR_NTID_Y: D1(t->block[1]);
        case ISA_SR_NCTAID_X: D1(t->grid[0]);
        default: return UNKNOWN;
        }
    case ISA_LD_GLOBAL: case ISA_LD_SHARED: case ISA_LD_LOCAL: case ISA_LD_GENERIC:
        if (!probe)
            load(t, i);
        return DONE;
    case ISA_ST_GLOBAL: case ISA_ST_SHARED: case ISA_ST_LOCAL: case ISA_ST_GENERIC:
        if (!probe)
            store(t, i);
        return DONE;
    case ISA_ATOM_GLOBAL: case ISA_ATOM_SHARED: case ISA_ATOM_GENERIC:
        if (!probe)
            atomic(t, i, true);
        return DONE;
    case ISA_RED_GLOBAL: case ISA_RED_SHARED: case ISA_RED_GENERIC:
        if (!probe)
            atomic(t, i, false);
        return DONE;
    case ISA_NOP: case ISA_BSSY: case ISA_BSYNC: case ISA_BBREAK: case ISA_YIELD: case ISA_FENCE:
    case ISA_NANOSLEEP:
    case ISA_BAR_SYNCH_PARTNER:
        return DONE;
    case ISA_V_SP2P:
    case ISA_V_UNBALLOT: {
        bool x = i->op == ISA_V_SP2P
                     ? !probe && scalar_pred(t, i->mod >> 12 & 7, i->mod >> 15 & 1)
                     : !probe && x_value(t, i, 2, false) >> t->lane & 1;
        if (!probe)
            set_pred(t, i->mod >> 6 & 7, x);
        return DONE;
    }
    default:
        return ref_scalar(t, i) ? DONE : UNKNOWN;
    }
}

bool ref_knows(const struct isa_insn *insn)
{
    return execute(NULL, insn, true) == DONE || insn->op == ISA_BRA ||
           insn->op == ISA_S_BRA || insn->op == ISA_EXIT;
}

/* The instruction that a lane's pair of registers points at. */
static bool pointed(const struct ref_lane *t, unsigned r, uint32_t count, uint32_t *index)
{
    u64 at = vreg(t, r, 2) - ISA_CODE_BASE;

    *index = (uint32_t)(at / ISA_WORD_BYTES);
    return at % ISA_WORD_BYTES == 0 && at / ISA_WORD_BYTES < count;
}

enum ref_step ref_step(struct ref_lane *t, const struct isa_insn *code, uint32_t count,
                       const char **why)
{
    uint32_t target;

    t->steps++;
    if (t->pc >= count) {
        *why = "past the end";
        return REF_UNKNOWN;
    }
    const struct isa_insn *i = &code[t->pc++];
    bool on = i->guard_scalar ? scalar_pred(t, i->guard, i->guard_neg)
                              : pred(t, i->guard, i->guard_neg);
    if (!on)
        return REF_NEXT;
    target = (uint32_t)((s64)t->pc + (s32)i->x);
    switch (i->op) {
    case ISA_CALLX:
    case ISA_BRX:
    case ISA_RET:
        if (!pointed(t, i->a, count, &target)) {
            *why = "a jump to nowhere";
            return REF_UNKNOWN;
        }
        break;
    default:
        break;
    }
    switch (i->op) {
    case ISA_CALL:
    case ISA_CALLX:
        put(t, i->d, 2, ISA_CODE_BASE + (u64)t->pc * ISA_WORD_BYTES);
        t->pc = target;
        return REF_NEXT;
    case ISA_BRA:
    case ISA_S_BRA:
    case ISA_BRX:
    case ISA_RET:
        t->pc = target;
        return REF_NEXT;
    case ISA_EXIT:
        t->exited = true;
        return REF_EXITED;
    case ISA_V_MOV_TAKE_B:
        put(t, i->d, 2, 0);
        return REF_NEXT;
    case ISA_V_MOV_GIVE_B:
        return REF_NEXT;
    case ISA_BAR_SYNC:
    case ISA_BAR_ARRIVE:
    case ISA_WARPSYNC:
        return REF_MEETS;
    default:
        if (execute(t, i, false) == DONE)
            return REF_NEXT;
        *why = isa_op_info((enum isa_op)i->op)->mnemonic;
        return REF_UNKNOWN;
    }
}

bool ref_run(struct ref_lane *t, const struct isa_insn *code, uint32_t count,
             unsigned long limit, const char **why)
{
    while (!t->exited) {
        if (t->steps > limit) {
            *why = "too many steps";
            return false;
        }
        switch (ref_step(t, code, count, why)) {
        case REF_UNKNOWN:
            return false;
        case REF_MEETS:
            *why = "a barrier";
            return false;
        default:
            break;
        }
    }
    return true;
}
