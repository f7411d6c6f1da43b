/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the results of PTX instructions in one thread, by the PTX manual (sections 9.7.1 to 9.7.8). If the manual does not
 * define the bits of a NaN result, the evaluator uses the canonical value of docs/reference/fp.md.
 */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/eval/ptx_eval_priv.h"
#include "tests/model/ref_root.h"

/* ---- floats as bits ------------------------------------------------------------ */

/* A floating-point format: size and precision in bits, least and greatest exponent of a normal number, canonical NaN. */
struct format {
    int bits, precision, emin, emax;
    uint64_t nan;
};
static const struct format f16 = { 16, 11, -14, 15, 0x7fff };
static const struct format bf16 = { 16, 8, -126, 127, 0x7fff };
static const struct format f32 = { 32, 24, -126, 127, 0x7fffffff };
static const struct format f64 = { 64, 53, -1022, 1023, UINT64_C(0x7ff8000000000000) };

static const struct format *format_of(struct pe_type type)
{
    return type.kind == 'g' ? &bf16 : type.bits == 16 ? &f16 : type.bits == 32 ? &f32 : &f64;
}

static uint64_t sign_bit(const struct format *f)
{
    return UINT64_C(1) << (f->bits - 1);
}

static uint64_t infinity_of(const struct format *f)
{
    return (uint64_t)(2 * f->emax + 1) << (f->precision - 1);
}

static bool is_nan(const struct format *f, uint64_t x)
{
    return (x & (sign_bit(f) - 1)) > infinity_of(f);
}

static uint64_t flush(const struct format *f, uint64_t x, bool ftz)
{
    uint64_t magnitude = x & (sign_bit(f) - 1);

    return ftz && magnitude < UINT64_C(1) << (f->precision - 1) ? x & sign_bit(f) : x;
}

/** Returns the exact value of the bits. A long double has at least 64 significant bits. */
static long double value_of(const struct format *f, uint64_t x)
{
    uint64_t magnitude = x & (sign_bit(f) - 1), fraction;
    int e = (int)(magnitude >> (f->precision - 1));
    long double v;

    if (magnitude > infinity_of(f))
        return NAN;
    if (magnitude == infinity_of(f)) {
        v = INFINITY;
    } else {
        fraction = magnitude & ((UINT64_C(1) << (f->precision - 1)) - 1);
        if (e != 0)
            fraction |= UINT64_C(1) << (f->precision - 1);
        v = ldexpl((long double)fraction, (e == 0 ? f->emin : e - f->emax) - (f->precision - 1));
    }
    return x & sign_bit(f) ? -v : v;
}

static long double to_integral(long double v, int mode)
{
    switch (mode) {
    case FE_TOWARDZERO: return truncl(v);
    case FE_DOWNWARD: return floorl(v);
    case FE_UPWARD: return ceill(v);
    default: return roundevenl(v);
    }
}

/** Returns the bits of @v, rounded once to a format. */
static uint64_t round_to(const struct format *f, long double v, int mode)
{
    uint64_t sign = signbit(v) ? sign_bit(f) : 0;
    int e;

    if (isnan(v))
        return f->nan;
    if (isinf(v))
        return sign | infinity_of(f);
    if (v == 0)
        return sign;
    (void)frexpl(v, &e);
    e--; /* here |v| is in [2^e, 2^(e+1)) */
    int quantum = (e < f->emin ? f->emin : e) - (f->precision - 1);
    long double r = fabsl(to_integral(ldexpl(v, -quantum), mode));

    if (r >= ldexpl(1, f->precision)) {
        r /= 2;
        quantum++;
    }
    uint64_t n = (uint64_t)r;

    if (n == 0)
        return sign;
    int exponent = quantum + (f->precision - 1);

    if (exponent > f->emax) {
        bool away = mode == FE_TONEAREST || (mode == FE_UPWARD && !sign) ||
                    (mode == FE_DOWNWARD && sign);

        return sign | (infinity_of(f) - !away);
    }
    if (n < UINT64_C(1) << (f->precision - 1)) /* subnormal */
        return sign | n;
    return sign | (((uint64_t)(exponent + f->emax) << (f->precision - 1)) +
                   (n - (UINT64_C(1) << (f->precision - 1))));
}

uint64_t pe_literal(const struct pe_operand *operand, struct pe_type type)
{
    const struct format *f = format_of(type);

    if (operand->kind == PE_O_IMM)
        return type.kind == 'f' && type.bits >= 32 ? round_to(f, (long double)(int64_t)operand->imm,
                                                              FE_TONEAREST)
                                                   : operand->imm;
    if (operand->index == 1)
        return operand->imm;
    if (type.bits == 64)
        return operand->imm;
    return round_to(f, value_of(&f64, operand->imm), FE_TONEAREST);
}

static int rounding(const struct pe_insn *in)
{
    return pe_has(in, PE_W_rz) || pe_has(in, PE_W_rzi)   ? FE_TOWARDZERO
           : pe_has(in, PE_W_rm) || pe_has(in, PE_W_rmi) ? FE_DOWNWARD
           : pe_has(in, PE_W_rp) || pe_has(in, PE_W_rpi) ? FE_UPWARD
                                                         : FE_TONEAREST;
}

static float float_of(uint64_t x)
{
    uint32_t w = (uint32_t)x;
    float v;

    memcpy(&v, &w, sizeof v);
    return v;
}
static uint64_t bits_of_float(float v)
{
    uint32_t w;

    memcpy(&w, &v, sizeof w);
    return w;
}
static double double_of(uint64_t x)
{
    double v;

    memcpy(&v, &x, sizeof v);
    return v;
}
static uint64_t bits_of_double(double v)
{
    uint64_t w;

    memcpy(&w, &v, sizeof w);
    return w;
}

/** Computes one operation with the host's arithmetic, in a rounding mode. */
static uint64_t host_arithmetic(enum pe_op op, bool wide, int mode, const uint64_t *s)
{
    volatile float fa = float_of(s[0]), fb = float_of(s[1]), fc = float_of(s[2]), fr = 0;
    volatile double da = double_of(s[0]), db = double_of(s[1]), dc = double_of(s[2]), dr = 0;

    fesetround(mode);
    if (wide) {
        switch (op) {
        case PE_add: dr = da + db; break;
        case PE_sub: dr = da - db; break;
        case PE_mul: dr = da * db; break;
        case PE_div: dr = da / db; break;
        case PE_rcp: dr = 1 / da; break;
        case PE_sqrt: dr = sqrt(da); break;
        default: dr = fma(da, db, dc); break;
        }
    } else {
        switch (op) {
        case PE_add: fr = fa + fb; break;
        case PE_sub: fr = fa - fb; break;
        case PE_mul: fr = fa * fb; break;
        case PE_div: fr = fa / fb; break;
        case PE_rcp: fr = 1 / fa; break;
        case PE_sqrt: fr = sqrtf(fa); break;
        default: fr = fmaf(fa, fb, fc); break;
        }
    }
    fesetround(FE_TONEAREST);
    return wide ? bits_of_double(dr) : bits_of_float(fr);
}

/** Returns a + b rounded to odd, so that a second rounding to fewer bits gives the correctly rounded result. */
static double add_to_odd(double a, double b)
{
    volatile double s = a + b, back = s - a, error = (a - (s - back)) + (b - back);

    if (isnan(s) || isinf(s) || error == 0)
        return s;
    uint64_t bits = bits_of_double(s);

    if (bits & 1)
        return s;
    return double_of(bits + ((error > 0) == (s > 0) ? 1 : UINT64_MAX));
}

static uint64_t half_arithmetic(enum pe_op op, const struct format *f, const uint64_t *s)
{
    double a = (double)value_of(f, s[0]), b = (double)value_of(f, s[1]), r;

    switch (op) {
    case PE_add: r = add_to_odd(a, b); break;
    case PE_sub: r = add_to_odd(a, -b); break;
    case PE_mul: r = a * b; break;
    default: r = add_to_odd(a * b, (double)value_of(f, s[2])); break;
    }
    return round_to(f, r, FE_TONEAREST);
}

static uint64_t minimum(const struct pe_insn *in, const struct format *f, uint64_t a, uint64_t b,
                        bool most)
{
    uint64_t sign = (a ^ b) & sign_bit(f);
    bool xorsign = pe_has(in, PE_W_xorsign);

    if (is_nan(f, a) || is_nan(f, b)) {
        if (pe_has(in, PE_W_NaN) || (is_nan(f, a) && is_nan(f, b)))
            return f->nan;
        uint64_t other = is_nan(f, a) ? b : a;

        return xorsign ? (other & (sign_bit(f) - 1)) | sign : other;
    }
    if (xorsign) {
        a &= sign_bit(f) - 1;
        b &= sign_bit(f) - 1;
    }
    long double x = value_of(f, a), y = value_of(f, b);
    bool less = x < y || (x == y && signbit(x) && !signbit(y));
    uint64_t r = less != most ? a : b;

    return xorsign ? r | sign : r;
}

static uint64_t finish_float(const struct pe_insn *in, const struct format *f, uint64_t r,
                             bool ftz)
{
    r = flush(f, r, ftz);
    if (is_nan(f, r))
        r = f->nan;
    if (pe_has(in, PE_W_sat)) {
        uint64_t one = (uint64_t)f->emax << (f->precision - 1);

        if (is_nan(f, r) || (r & sign_bit(f)))
            r = 0;
        else if (r > one)
            r = one;
    }
    if (pe_has(in, PE_W_satfinite) && (r & ~sign_bit(f)) == infinity_of(f))
        r--; /* infinity becomes the greatest finite number */
    if (pe_has(in, PE_W_relu) && !is_nan(f, r) && (r & sign_bit(f)))
        r = 0;
    return r;
}

/* Computes ex2, lg2, sin, cos and tanh as docs/reference/fp.md defines them: as the function's value, rounded once. */
static uint64_t approximation(enum pe_op op, const struct format *f, uint64_t x)
{
    long double v = value_of(f, x);

    switch (op) {
    case PE_ex2: v = exp2l(v); break;
    case PE_lg2: v = log2l(v); break;
    case PE_sin: v = sinl(v); break;
    case PE_cos: v = cosl(v); break;
    default: v = tanhl(v); break;
    }
    return round_to(f, v, FE_TONEAREST);
}

/* Computes rcp.approx.ftz.f64 or rsqrt.approx.ftz.f64, for which the low word of the operand counts as zero, and the low word of
 * the result is zero. */
static uint64_t of_high_word(enum pe_op op, uint64_t x)
{
    uint64_t high = UINT64_C(0xffffffff) << 32, s[3] = { flush(&f64, x & high, true) };
    uint64_t r = op == PE_rcp ? host_arithmetic(PE_rcp, true, FE_TONEAREST, s)
                              : bits_of_double(ref_rsq_d(double_of(s[0])));

    return is_nan(&f64, r) ? f64.nan : flush(&f64, r, true) & high;
}

/** Computes the result of a floating-point instruction for operands of one format. Returns false for another instruction. */
static bool compute_float(const struct pe_insn *in, const struct format *f, const uint64_t *source,
                          int sources, uint64_t *out)
{
    bool ftz = pe_has(in, PE_W_ftz);
    uint64_t s[3] = { 0 }, r;

    for (int i = 0; i < sources && i < 3; i++)
        s[i] = flush(f, source[i], ftz);
    if (ftz && f->bits == 64 && (in->op == PE_rcp || in->op == PE_rsqrt)) {
        *out = of_high_word(in->op, source[0]);
        return true;
    }
    switch (in->op) {
    case PE_ex2: case PE_lg2: case PE_sin: case PE_cos: case PE_tanh:
        *out = finish_float(in, f, approximation(in->op, f, s[0]), ftz);
        return true;
    case PE_add: case PE_sub: case PE_mul: case PE_fma: case PE_mad: case PE_div: case PE_rcp:
    case PE_sqrt:
        r = f->bits == 16 ? half_arithmetic(in->op, f, s)
                          : host_arithmetic(in->op, f->bits == 64, rounding(in), s);
        *out = finish_float(in, f, r, ftz);
        return true;
    case PE_rsqrt: /* the result is rounded once (docs/reference/fp.md) */
        if (f->bits == 32) {
            r = round_to(f, 1 / sqrtl(value_of(f, s[0])), FE_TONEAREST);
        } else {
            double root;

            memcpy(&root, &s[0], sizeof root);
            root = ref_rsq_d(root);
            memcpy(&r, &root, sizeof r);
        }
        *out = finish_float(in, f, r, ftz);
        return true;
    case PE_min:
    case PE_max:
        r = minimum(in, f, s[0], s[1], in->op == PE_max);
        if (sources == 3)
            r = minimum(in, f, r, s[2], in->op == PE_max);
        *out = r;
        return true;
    case PE_abs:
    case PE_neg: /* changes only the sign, also of a NaN; with .ftz a NaN becomes canonical (docs/reference/fp.md) */
        r = in->op == PE_abs ? s[0] & (sign_bit(f) - 1) : s[0] ^ sign_bit(f);
        *out = ftz && is_nan(f, r) ? f->nan : r;
        return true;
    case PE_copysign: /* the result is the second operand with the sign of the first one */
        *out = (s[1] & (sign_bit(f) - 1)) | (s[0] & sign_bit(f));
        return true;
    default:
        return false;
    }
}

/* ---- comparisons ------------------------------------------------------------------- */

static bool compare_values(const struct pe_insn *in, struct pe_type type, uint64_t a, uint64_t b)
{
    bool floats = type.kind == 'f' || type.kind == 'g', less, equal, unordered = false;

    if (floats) {
        const struct format *f = format_of(type);
        bool ftz = pe_has(in, PE_W_ftz);
        long double x = value_of(f, flush(f, a, ftz)), y = value_of(f, flush(f, b, ftz));

        unordered = isnan(x) || isnan(y);
        less = x < y;
        equal = x == y;
    } else if (type.kind == 's') {
        less = pe_signed(a, type.bits) < pe_signed(b, type.bits);
        equal = a == b;
    } else {
        less = a < b;
        equal = a == b;
    }
    if (pe_has(in, PE_W_num))
        return !unordered;
    if (pe_has(in, PE_W_nan))
        return unordered;
    if (unordered)
        return pe_has(in, PE_W_equ) || pe_has(in, PE_W_neu) || pe_has(in, PE_W_ltu) ||
               pe_has(in, PE_W_leu) || pe_has(in, PE_W_gtu) || pe_has(in, PE_W_geu);
    if (pe_has(in, PE_W_eq) || pe_has(in, PE_W_equ))
        return equal;
    if (pe_has(in, PE_W_ne) || pe_has(in, PE_W_neu))
        return !equal;
    if (pe_has(in, PE_W_lt) || pe_has(in, PE_W_ltu) || pe_has(in, PE_W_lo))
        return less;
    if (pe_has(in, PE_W_le) || pe_has(in, PE_W_leu) || pe_has(in, PE_W_ls))
        return less || equal;
    if (pe_has(in, PE_W_gt) || pe_has(in, PE_W_gtu) || pe_has(in, PE_W_hi))
        return !less && !equal;
    return !less;
}

static bool combine(const struct pe_insn *in, bool t, bool c)
{
    return pe_has(in, PE_W_and) ? t && c : pe_has(in, PE_W_or) ? t || c
                                       : pe_has(in, PE_W_xor)  ? t != c
                                                               : t;
}

static void compare(const struct pe_insn *in, struct pe_type type, const uint64_t *s,
                    struct pe_result *out)
{
    bool c = s[2] & 1;

    if (type.packed) {
        out->value = combine(in, compare_values(in, type, s[0] & 0xffff, s[1] & 0xffff), c);
        out->second = combine(in, compare_values(in, type, s[0] >> 16, s[1] >> 16), c);
        return;
    }
    bool t = compare_values(in, type, s[0], s[1]);

    out->value = combine(in, t, c);
    out->second = combine(in, !t, c);
}

/* ---- conversions -------------------------------------------------------------------- */

static __int128 clamp(__int128 v, struct pe_type to)
{
    __int128 low = to.kind == 's' ? -((__int128)1 << (to.bits - 1)) : 0;
    __int128 high = ((__int128)1 << (to.bits - (to.kind == 's'))) - 1;

    return v < low ? low : v > high ? high : v;
}

static bool is_float(struct pe_type type)
{
    return type.kind == 'f' || type.kind == 'g';
}

static __int128 integer_of(struct pe_type type, uint64_t bits)
{
    return type.kind == 's' ? (__int128)pe_signed(bits, type.bits) : (__int128)bits;
}

static uint64_t convert(const struct pe_insn *in, struct pe_type to, struct pe_type from,
                        uint64_t x)
{
    bool ftz = pe_has(in, PE_W_ftz), sat = pe_has(in, PE_W_sat);
    bool integral = pe_has(in, PE_W_rni) || pe_has(in, PE_W_rzi) || pe_has(in, PE_W_rmi) ||
                    pe_has(in, PE_W_rpi);

    if (!is_float(from) && !is_float(to)) {
        __int128 v = integer_of(from, x);

        return pe_cut((uint64_t)(sat ? clamp(v, to) : v), to.bits);
    }
    if (!is_float(from)) {
        __int128 v = integer_of(from, x);

        return finish_float(in, format_of(to), round_to(format_of(to), (long double)v,
                                                        rounding(in)), false);
    }
    const struct format *f = format_of(from);
    long double v;

    x = flush(f, x, ftz && from.bits == 32);
    v = value_of(f, x);
    if (!is_float(to)) {
        if (isnan(v)) /* manual 9.7.9.21: the result is 0, or if source or destination has 64 bits, only the top bit is set */
            return from.bits == 64 || to.bits == 64 ? UINT64_C(1) << (to.bits - 1) : 0;
        v = to_integral(v, integral ? rounding(in) : FE_TOWARDZERO);
        if (fabsl(v) > ldexpl(1, 70))
            v = v > 0 ? ldexpl(1, 70) : -ldexpl(1, 70);
        return pe_cut((uint64_t)clamp((__int128)v, to), to.bits);
    }
    if (integral && !isnan(v) && !isinf(v)) {
        long double r = to_integral(v, rounding(in));

        v = copysignl(r, v);
    } else if (to.kind == from.kind && to.bits == from.bits && !ftz && !sat && !integral) {
        return x;
    }
    return finish_float(in, format_of(to), round_to(format_of(to), v,
                                                    integral ? FE_TONEAREST : rounding(in)),
                        ftz && to.bits == 32);
}

/* ---- bits ----------------------------------------------------------------------------- */

static uint32_t permute(const struct pe_insn *in, uint32_t a, uint32_t b, uint32_t c)
{
    static const struct {
        uint8_t word;
        uint16_t pick[4];
    } modes[] = {
        { PE_W_f4e, { 0x3210, 0x4321, 0x5432, 0x6543 } },
        { PE_W_b4e, { 0x5670, 0x6701, 0x7012, 0x0123 } },
        { PE_W_rc8, { 0x0000, 0x1111, 0x2222, 0x3333 } },
        { PE_W_ecl, { 0x3210, 0x3211, 0x3222, 0x3333 } },
        { PE_W_ecr, { 0x0000, 0x1110, 0x2210, 0x3210 } },
        { PE_W_rc16, { 0x1010, 0x3232, 0x1010, 0x3232 } },
    };
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t d = 0;

    for (unsigned m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        if (pe_has(in, (enum pe_word)modes[m].word))
            c = modes[m].pick[c & 3];
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned select = c >> 4 * i & 15;
        uint32_t byte = bytes >> 8 * (select & 7) & 255;

        if (select & 8)
            byte = byte & 128 ? 255 : 0;
        d |= byte << 8 * i;
    }
    return d;
}

static uint64_t extract(uint64_t a, unsigned pos, unsigned len, unsigned bits, bool is_signed)
{
    unsigned msb = bits - 1, top = pos + len - 1 < msb ? pos + len - 1 : msb;
    bool sign = is_signed && len != 0 && (a >> top & 1);
    uint64_t d = 0;

    for (unsigned i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
    return d;
}

static uint64_t insert(uint64_t a, uint64_t b, unsigned pos, unsigned len, unsigned bits)
{
    for (unsigned i = 0; i < len && pos + i < bits; i++)
        b = (b & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}

static uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset)
{
    int pos = (int)(base & 31), step = offset > 0 ? 1 : -1;
    int64_t count = offset > 0 ? offset : -(int64_t)offset;

    if (offset == 0)
        return mask >> pos & 1 ? base : UINT32_MAX;
    for (count--; pos >= 0 && pos < 32; pos += step) {
        if ((mask >> pos & 1) && count-- == 0)
            return (uint32_t)pos;
    }
    return UINT32_MAX;
}

static uint32_t bit_mask(uint32_t a, uint32_t b, bool clamps)
{
    unsigned first = a & 31, length = b & 31;
    uint32_t d = 0;

    if (clamps && a >= 32)
        return 0;
    if (clamps && b >= 32)
        length = 32;
    for (unsigned i = first; i < first + length && i < 32; i++)
        d |= 1u << i;
    return d;
}

static uint32_t sign_extend(uint32_t a, uint32_t b, bool clamps, bool is_signed)
{
    unsigned n = b & 31;

    if (clamps && b >= 32)
        return a;
    if (n == 0)
        return 0;
    a &= (1u << n) - 1;
    return is_signed && (a >> (n - 1) & 1) ? a | ~((1u << n) - 1) : a;
}

static uint32_t dot(const struct pe_insn *in, uint32_t a, uint32_t b, uint32_t c)
{
    bool two = in->op == PE_dp2a;
    unsigned n = two ? 2 : 4, width = two ? 16 : 8, first = two && pe_has(in, PE_W_hi) ? 2 : 0;

    for (unsigned i = 0; i < n; i++) {
        uint64_t x = pe_cut(a >> width * i, width), y = b >> 8 * (first + i) & 255;
        int64_t p = in->type[0].kind == 's' ? pe_signed(x, width) : (int64_t)x;

        c += (uint32_t)(p * (in->type[1].kind == 's' ? pe_signed(y, 8) : (int64_t)y));
    }
    return c;
}

/* Returns the absolute differences of the parts of two words, or with .add the sum of the differences plus @c. */
static uint32_t differences(const struct pe_insn *in, uint32_t a, uint32_t b, uint32_t c)
{
    unsigned width = in->op == PE_vabsdiff4 ? 8 : 16;
    uint32_t apart = 0;

    for (unsigned at = 0; at < 32; at += width) {
        int64_t x = (int64_t)pe_cut(a >> at, width), y = (int64_t)pe_cut(b >> at, width);

        if (in->type[1].kind == 's') {
            x = pe_signed((uint64_t)x, width);
            y = pe_signed((uint64_t)y, width);
        }
        c += (uint32_t)llabs(x - y);
        apart |= (uint32_t)pe_cut((uint64_t)llabs(x - y), width) << at;
    }
    return pe_has(in, PE_W_add) ? c : apart;
}

static bool test_property(const struct pe_insn *in, const struct format *f, uint64_t x)
{
    uint64_t magnitude = x & (sign_bit(f) - 1);
    bool subnormal = magnitude != 0 && magnitude < UINT64_C(1) << (f->precision - 1);

    return pe_has(in, PE_W_finite)        ? magnitude < infinity_of(f)
           : pe_has(in, PE_W_infinite)    ? magnitude == infinity_of(f)
           : pe_has(in, PE_W_number)      ? magnitude <= infinity_of(f)
           : pe_has(in, PE_W_notanumber)  ? magnitude > infinity_of(f)
           : pe_has(in, PE_W_subnormal)   ? subnormal
                                          : magnitude < infinity_of(f) && !subnormal;
}

/* ---- integers ------------------------------------------------------------------------- */

static uint64_t product(const struct pe_insn *in, struct pe_type type, uint64_t a, uint64_t b)
{
    __int128 p;

    if (type.kind == 's')
        p = integer_of(type, a) * integer_of(type, b);
    else
        p = (__int128)((unsigned __int128)a * b);
    if (pe_has(in, PE_W_hi))
        return pe_cut((uint64_t)((unsigned __int128)p >> type.bits), type.bits);
    return pe_cut((uint64_t)p, pe_has(in, PE_W_wide) ? type.bits * 2u : type.bits);
}

static uint64_t sum(const struct pe_insn *in, struct pe_type type, uint64_t a, uint64_t b,
                    bool minus, bool reads, bool *carry)
{
    unsigned bits = type.bits;
    /* Additions and subtractions share the carry flag. a - b is a + ~b + 1, and a carry of 1 means that nothing was
     * borrowed. */
    unsigned __int128 r = (unsigned __int128)a + (minus ? pe_cut(~b, bits) : b) +
                          (reads ? *carry : minus);

    if (pe_has(in, PE_W_sat)) {
        __int128 x = pe_signed(a, bits), y = pe_signed(b, bits);

        return pe_cut((uint64_t)clamp(minus ? x - y : x + y, (struct pe_type){ 's', 32, 0 }), 32);
    }
    if (pe_has(in, PE_W_cc))
        *carry = r >> bits & 1;
    return pe_cut((uint64_t)r, bits);
}

static bool compute_integer(const struct pe_insn *in, struct pe_type type, const uint64_t *s,
                            int sources, bool *carry, uint64_t *out)
{
    unsigned bits = type.bits;
    bool is_signed = type.kind == 's', less;
    int64_t a = pe_signed(s[0], bits), b = pe_signed(s[1], bits);
    uint64_t r;

    switch (in->op) {
    case PE_add: r = sum(in, type, s[0], s[1], false, false, carry); break;
    case PE_addc: r = sum(in, type, s[0], s[1], false, true, carry); break;
    case PE_sub: r = sum(in, type, s[0], s[1], true, false, carry); break;
    case PE_subc: r = sum(in, type, s[0], s[1], true, true, carry); break;
    case PE_mul: r = product(in, type, s[0], s[1]); break;
    case PE_mad:
    case PE_madc:
        if (pe_has(in, PE_W_wide))
            r = pe_cut(product(in, type, s[0], s[1]) + s[2], bits * 2);
        else
            r = sum(in, type, product(in, type, s[0], s[1]), s[2], false, in->op == PE_madc,
                    carry);
        break;
    case PE_mul24:
    case PE_mad24: {
        int64_t p = is_signed ? pe_signed(s[0], 24) * pe_signed(s[1], 24)
                              : (int64_t)(pe_cut(s[0], 24) * pe_cut(s[1], 24));

        r = pe_cut((uint64_t)(pe_has(in, PE_W_hi) ? p >> 16 : p), 32);
        if (in->op == PE_mad24)
            r = sum(in, type, r, s[2], false, false, carry);
        break;
    }
    case PE_sad:
        less = is_signed ? a < b : s[0] < s[1];
        r = s[2] + (less ? s[1] - s[0] : s[0] - s[1]);
        break;
    case PE_div: r = is_signed ? (uint64_t)(a / b) : s[0] / s[1]; break;
    case PE_rem: r = is_signed ? (uint64_t)(a % b) : s[0] % s[1]; break;
    case PE_min:
    case PE_max:
        r = s[0];
        for (int i = 1; i < sources; i++) {
            less = is_signed ? pe_signed(r, bits) < pe_signed(s[i], bits) : r < s[i];
            r = less == (in->op == PE_min) ? r : s[i];
        }
        if (pe_has(in, PE_W_relu) && pe_signed(r, bits) < 0)
            r = 0;
        break;
    case PE_abs: r = a < 0 ? 0 - s[0] : s[0]; break;
    case PE_neg: r = 0 - s[0]; break;
    default: return false;
    }
    *out = pe_cut(r, in->op == PE_mul || in->op == PE_mad ? 64 : bits);
    return true;
}

static uint64_t shift(const struct pe_insn *in, struct pe_type type, uint64_t a, uint64_t n)
{
    unsigned bits = type.bits;

    if (in->op == PE_shl)
        return n >= bits ? 0 : a << n;
    if (type.kind == 's')
        return (uint64_t)(pe_signed(a, bits) >> (n >= bits ? bits - 1 : n));
    return n >= bits ? 0 : a >> n;
}

static int highest_bit(uint64_t x)
{
    return x == 0 ? -1 : 63 - __builtin_clzll(x);
}

static uint32_t funnel(const struct pe_insn *in, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t both = (uint64_t)b << 32 | a;
    unsigned n = pe_has(in, PE_W_wrap) ? c & 31 : c < 32 ? c : 32;

    return (uint32_t)(pe_has(in, PE_W_l) ? both << n >> 32 : both >> n);
}

static bool compute_bits(const struct pe_insn *in, struct pe_type type, const uint64_t *s,
                         uint64_t *out)
{
    unsigned bits = pe_type_bits(type);
    bool is_signed = type.kind == 's', clamps = pe_has(in, PE_W_clamp);
    uint64_t r = 0;
    int top;

    switch (in->op) {
    case PE_and: r = s[0] & s[1]; break;
    case PE_or: r = s[0] | s[1]; break;
    case PE_xor: r = s[0] ^ s[1]; break;
    case PE_not: r = ~s[0]; break;
    case PE_cnot: r = s[0] == 0; break;
    case PE_shl: case PE_shr: r = shift(in, type, s[0], s[1]); break;
    case PE_shf: r = funnel(in, (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2]); break;
    case PE_popc: r = (uint64_t)__builtin_popcountll(s[0]); break;
    case PE_clz: r = (uint64_t)((int)bits - 1 - highest_bit(s[0])); break;
    case PE_brev:
        for (unsigned i = 0; i < bits; i++)
            r |= (s[0] >> i & 1) << (bits - 1 - i);
        break;
    case PE_bfind:
        top = highest_bit(is_signed && pe_signed(s[0], bits) < 0 ? pe_cut(~s[0], bits) : s[0]);
        r = (uint64_t)(int64_t)(pe_has(in, PE_W_shiftamt) && top >= 0 ? (int)bits - 1 - top : top);
        bits = 32;
        break;
    case PE_bfe: r = extract(s[0], s[1] & 255, s[2] & 255, bits, is_signed); break;
    case PE_bfi: r = insert(s[0], s[1], s[2] & 255, s[3] & 255, bits); break;
    case PE_fns: r = find_nth((uint32_t)s[0], (uint32_t)s[1], (int32_t)s[2]); break;
    case PE_bmsk: r = bit_mask((uint32_t)s[0], (uint32_t)s[1], clamps); break;
    case PE_szext: r = sign_extend((uint32_t)s[0], (uint32_t)s[1], clamps, is_signed); break;
    case PE_lop3:
        for (unsigned i = 0; i < 32; i++)
            r |= (s[3] >> ((s[0] >> i & 1) * 4 + (s[1] >> i & 1) * 2 + (s[2] >> i & 1)) & 1) << i;
        break;
    case PE_prmt: r = permute(in, (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2]); break;
    case PE_dp2a: case PE_dp4a:
        r = dot(in, (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2]);
        break;
    case PE_vabsdiff2: case PE_vabsdiff4:
        r = differences(in, (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2]);
        break;
    case PE_selp: r = s[2] & 1 ? s[0] : s[1]; break;
    case PE_testp: r = test_property(in, format_of(type), s[0]); break;
    default: return false;
    }
    *out = pe_cut(r, bits);
    return true;
}

/* ---- all instructions ------------------------------------------------------------------- */

bool pe_compute(const struct pe_insn *in, const uint64_t *source, bool *carry,
                struct pe_result *out)
{
    struct pe_type type = in->type[0];
    int sources = in->operand_count - 1;

    *out = (struct pe_result){ 0 };
    switch (in->op) {
    case PE_setp:
        compare(in, type, source, out);
        return true;
    case PE_set: {
        struct pe_result t;
        uint64_t one = is_float(type) ? (uint64_t)format_of(type)->emax
                                            << (format_of(type)->precision - 1)
                                      : pe_cut(UINT64_MAX, type.bits);

        compare(in, in->type[1], source, &t);
        out->value = t.value ? one : 0;
        if (in->type[1].packed)
            out->value = (t.value ? pe_cut(one, 16) : 0) | (t.second ? pe_cut(one, 16) << 16 : 0);
        return true;
    }
    case PE_slct: {
        bool keep = in->type[1].kind == 's'
                        ? pe_signed(source[2], 32) >= 0
                        : value_of(&f32, flush(&f32, source[2], pe_has(in, PE_W_ftz))) >= 0;

        out->value = keep ? source[0] : source[1];
        return true;
    }
    case PE_cvt:
        if (pe_has(in, PE_W_pack)) { /* the result has the third, first and second operand, from the highest bits down */
            out->value = pe_cut(source[2] << 2 * type.bits |
                                    convert(in, type, in->type[1], source[0]) << type.bits |
                                    convert(in, type, in->type[1], source[1]), 32);
        } else if (type.packed) { /* the first source is the upper half */
            struct pe_type half = { type.kind, 16, 0 };

            out->value = convert(in, half, in->type[1], source[0]) << 16 |
                         convert(in, half, in->type[1], source[1]);
        } else {
            out->value = convert(in, type, in->type[1], source[0]);
        }
        return true;
    default:
        break;
    }
    if (compute_bits(in, type, source, &out->value)) {
        if (in->op == PE_lop3) /* computes p = (d != 0) op q */
            out->second = combine(in, out->value != 0, source[4] & 1);
        return true;
    }
    if (type.packed) {
        struct pe_type half = { type.kind, type.bits, 0 };

        for (unsigned k = 0; k < 2; k++) {
            uint64_t s[4], r = 0;
            unsigned at = k * type.bits;

            for (int i = 0; i < 4; i++)
                s[i] = pe_cut(source[i] >> at, type.bits);
            if (!(is_float(half) ? compute_float(in, format_of(half), s, sources, &r)
                                 : compute_integer(in, half, s, sources, carry, &r)))
                return false;
            out->value |= pe_cut(r, type.bits) << at;
        }
        return true;
    }
    if (is_float(type))
        return compute_float(in, format_of(type), source, sources, &out->value);
    return compute_integer(in, type, source, sources, carry, &out->value);
}

uint64_t pe_atomic(const struct pe_insn *in, struct pe_type type, uint64_t old, uint64_t b,
                   uint64_t c)
{
    static const struct {
        enum pe_word word;
        enum pe_op op;
    } plain[] = { { PE_W_add, PE_add }, { PE_W_min, PE_min }, { PE_W_max, PE_max },
                  { PE_W_and, PE_and }, { PE_W_or, PE_or },   { PE_W_xor, PE_xor } };

    if (pe_has(in, PE_W_exch))
        return b;
    if (pe_has(in, PE_W_cas))
        return old == b ? c : old;
    if (pe_has(in, PE_W_inc))
        return old >= b ? 0 : old + 1;
    if (pe_has(in, PE_W_dec))
        return old == 0 || old > b ? b : old - 1;
    for (unsigned i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (pe_has(in, plain[i].word)) {
            struct pe_insn alike = { .op = plain[i].op, .type = { type }, .operand_count = 3 };
            uint64_t s[4] = { old, b };
            struct pe_result r;
            bool carry = false;

            (void)pe_compute(&alike, s, &carry, &r);
            return r.value;
        }
    }
    return old;
}
