/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point operations of the reference. The operations use the host's arithmetic and libm where these are exact. */
#include "tests/model/ref_parts.h"

#include <fenv.h>

float ref_flush(float x, bool ftz)
{
    return ftz && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}
double ref_flush_d(double x, bool ftz)
{
    return ftz && fpclassify(x) == FP_SUBNORMAL ? copysign(0, x) : x;
}
u32 ref_finish(float x, bool ftz, bool sat)
{
    x = ref_flush(x, ftz);
    if (sat)
        x = isnan(x) ? 0 : x < 0 ? 0 : x > 1 ? 1 : x == 0 ? 0 : x;
    return ref_f_bits(x);
}
u64 ref_finish_d(double x, bool ftz, bool sat)
{
    x = ref_flush_d(x, ftz);
    if (sat)
        x = isnan(x) ? 0 : x < 0 ? 0 : x > 1 ? 1 : x == 0 ? 0 : x;
    return ref_d_bits(x);
}
static const int host[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
double ref_directed(double a, double b, char op, int words, unsigned mode)
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
double ref_directed_fma(double a, double b, double c, int words, unsigned mode)
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

double ref_least(const struct isa_insn *i, double a, double b, bool greatest)
{
    bool sign = signbit(a) != signbit(b), x = ref_mod(i, ISA_MOD_XORSIGN);
    double d;
    if (x) {
        a = fabs(a);
        b = fabs(b);
    }
    if (ref_mod(i, ISA_MOD_MNAN) && (isnan(a) || isnan(b)))
        return NAN;
    d = greatest ? max_d(a, b) : min_d(a, b);
    return x && !isnan(d) ? copysign(d, sign ? -1 : 1) : d;
}

bool ref_compare_d(unsigned cmp, double a, double b)
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
/* ---- conversions with libm --------------------------------------------------------------- */

static double half_to_double(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 0 ? ldexp(m, -24) : e == 31 ? (m ? NAN : INFINITY) : ldexp(1024 + m, e - 25);
    return h >> 15 ? -v : v;
}
/* Round to a significand of @p bits and exponents from @emin to @emax, by scaling. */
static double round_to(double x, int p, int emin, int emax, int mode)
{
    if (x == 0 || isnan(x) || isinf(x))
        return x;
    int e = ilogb(x);
    if (e < emin)
        e = emin;
    /* the scaled number is below 2^53, so floor and remainder are exact; if it underflows, a small remainder replaces it */
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
        return ref_d_bits(x);
    if (type == ISA_DT_F32)
        return ref_f_bits((float)x);
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
u64 ref_convert(const struct isa_insn *i, u64 bits)
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
        /* a double cannot represent every 64-bit integer, so two exact parts are rounded together */
        bool neg = v < 0;
        unsigned __int128 m = (unsigned __int128)(neg ? -v : v);
        long double exact = (long double)(u64)m; /* long double has a significand of 64 bits */
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
    double x = st == ISA_ST_F64 ? ref_d(bits) : st == ISA_ST_F32 ? (double)ref_flush(ref_f((u32)bits), ftz)
               : st == ISA_ST_F16 ? half_to_double((uint16_t)bits) : (double)ref_f((u32)bits << 16);
    if (dt < ISA_DT_F16) {
        int to = widths[dt];
        if (isnan(x)) { /* the result is the one that the PTX manual defines */
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

/* ---- 16-bit floats with doubles -------------------------------------------------------------- */

bool ref_half_row(const struct isa_op_info *info, char op[8], bool *bf, bool *x2)
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
double ref_half_in(u32 h, bool bf, bool ftz)
{
    double x = bf ? (double)ref_f(h << 16) : half_to_double((uint16_t)h);
    return ftz && fabs(x) < ldexp(1, bf ? -126 : -14) ? copysign(0, x) : x;
}
/* Round to odd: round toward zero, and set the last bit if the result is inexact. */
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
    if (r == 0 && !fetestexcept(FE_INEXACT)) /* an exact zero has the sign that rounding to nearest gives */
        return fma(a, b, c);
    return isnan(r) ? NAN : ref_d(bits);
}
bool ref_half_lane(const struct isa_insn *i, const char *op, bool bf, const u32 h[3], u32 *out)
{
    bool ftz = ref_mod(i, ISA_MOD_FTZ), sat = ref_mod(i, ISA_MOD_SAT), relu = ref_mod(i, ISA_MOD_RELU);
    double a = ref_half_in(h[0], bf, ftz), b = ref_half_in(h[1], bf, ftz), c = ref_half_in(h[2], bf, ftz), d;
    int p = bf ? 8 : 11, emin = bf ? -126 : -14, emax = bf ? 127 : 15;
    if (!strcmp(op, "abs"))
        return *out = h[1] & 0x7fff, true;
    if (!strcmp(op, "neg"))
        return *out = h[1] ^ 0x8000, true;
    d = !strcmp(op, "add") ? a + b : !strcmp(op, "sub") ? a - b : !strcmp(op, "mul") ? a * b
        : !strcmp(op, "fma") ? fma_to_odd(a, b, c) : !strcmp(op, "div") ? a / b
        : !strcmp(op, "rcp") ? 1 / b : !strcmp(op, "sqrt") ? sqrt(b)
        : !strcmp(op, "min") ? ref_least(i, a, b, false) : !strcmp(op, "max") ? ref_least(i, a, b, true)
        : ldexp(1, 300);
    if (d == ldexp(1, 300))
        return false; /* results of approximate functions have bounds instead of one value */
    if (bf && (!strcmp(op, "add") || !strcmp(op, "sub")))
        d = fma_to_odd(1, a, op[0] == 's' ? -b : b); /* the exact sum may have 2 * 127 + 8 bits, which do not fit into a double */
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
