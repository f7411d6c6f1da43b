/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests conversions between all twelve types, with each rounding and modifier. The expected values are exact integers
 * rounded once (soft_float.h), by the rules of the PTX manual. The test converts all sources of 8 and 16 bits, and
 * special and random sources of 32 and 64 bits. For conversions that have a specialised lane loop it uses a dense
 * sample of 32-bit sources, or all of them with LW_EXHAUSTIVE=1.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/lane/emu_math_priv.h"
#include "isa/isa.h"
#include "tests/model/soft_float.h"
#include "tests/lib/exhaustive.h"

static const int widths[12] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 16, 32, 64};
static const char *const names[12] = {"u8",  "s8",  "u16", "s16",  "u32", "s32",
                                      "u64", "s64", "f16", "bf16", "f32", "f64"};

static const struct soft_format *format_of(unsigned type)
{
    return type == ISA_DT_F16    ? &soft_f16
           : type == ISA_DT_BF16 ? &soft_bf16
           : type == ISA_DT_F32  ? &soft_f32
           : type == ISA_DT_F64  ? &soft_f64
                                 : NULL;
}

/* Return the register content for integer @v: signed types narrower than 32 bits are sign-extended to 32 bits. */
static uint64_t in_register(soft_wide v, unsigned type)
{
    uint64_t bits = (uint64_t)v;
    if (widths[type] == 64)
        return bits;
    bits &= (UINT64_C(1) << widths[type]) - 1;
    if ((type & 1) && bits >> (widths[type] - 1))
        bits |= ~UINT64_C(0) << widths[type];
    return (uint32_t)bits;
}
static soft_wide clamped(soft_wide v, unsigned type)
{
    soft_wide low = type & 1 ? -((soft_wide)1 << (widths[type] - 1)) : 0;
    soft_wide high = ((soft_wide)1 << (widths[type] - (type & 1))) - 1;
    return v < low ? low : v > high ? high : v;
}

static uint64_t reference(unsigned to, unsigned from, unsigned rounding, bool sat, bool ftz,
                          uint64_t bits)
{
    const struct soft_format *in = format_of(from), *out = format_of(to);
    enum soft_rounding mode = (enum soft_rounding)(rounding & 3);
    struct soft_number n;

    if (in == NULL) {
        n.m = (soft_wide)(widths[from] == 64 ? bits : bits & ((UINT64_C(1) << widths[from]) - 1));
        n.e = 0;
        if ((from & 1) && n.m >> (widths[from] - 1))
            n.m -= (soft_wide)1 << widths[from];
        if (out == NULL)
            return in_register(sat ? clamped(n.m, to) : n.m, to);
        if (sat)
            n.m = n.m < 0 ? 0 : n.m > 1 ? 1 : n.m;
        return soft_round(out, n, false, mode, false);
    }
    bits &= widths[from] == 64 ? UINT64_MAX : (UINT64_C(1) << widths[from]) - 1;
    bool negative = bits & soft_sign(in), infinite = soft_is_infinite(in, bits);
    if (soft_is_nan(in, bits)) {
        if (out != NULL)
            return sat ? 0 : out->nan;
        return from != ISA_DT_F64 && widths[to] != 64
                   ? 0 : in_register((soft_wide)1 << (widths[to] - 1), to);
    }
    n = soft_number(in, bits);
    if (ftz && from == ISA_DT_F32 && (bits & 0x7f800000) == 0)
        n.m = 0;
    if (out == NULL) {
        soft_wide v = infinite ? (negative ? -1 : 1) * ((soft_wide)1 << 100) : soft_integral(n, mode);
        return in_register(clamped(v, to), to);
    }
    if (infinite)
        return sat ? (negative ? 0 : (uint64_t)out->emax << (out->precision - 1))
                   : soft_infinity(out) | (negative ? soft_sign(out) : 0);
    if (rounding >= ISA_CRND_RNI && n.e < 0) {
        n.m = soft_integral(n, mode);
        n.e = 0;
    }
    uint64_t r = soft_round(out, n, false, mode, negative);
    if (ftz && to == ISA_DT_F32 && (r & 0x7f800000) == 0)
        r &= 0x80000000;
    if (sat) {
        uint64_t one = (uint64_t)out->emax << (out->precision - 1);
        r = r & soft_sign(out) ? 0 : r > one ? one : r;
    }
    return r;
}

static void one(unsigned to, unsigned from, uint64_t bits)
{
    for (unsigned k = 0; k < 32; k++) {
        unsigned rounding = k & 7;
        bool sat = k & 8, ftz = k & 16;
        uint64_t want = reference(to, from, rounding, sat, ftz, bits);
        uint64_t got = emu_convert(to, from, rounding, sat, ftz, bits);
        if (got != want)
            fail_msg("%s of %s %" PRIx64 ", rounding %u%s%s, is %" PRIx64 ", not %" PRIx64,
                     names[to], names[from], bits, rounding, sat ? ", sat" : "",
                     ftz ? ", ftz" : "", got, want);
    }
}

static void narrow_sources_convert_exactly(void **state)
{
    unsigned step = each_divisor();
    (void)state;
    for (unsigned from = 0; from < 12; from++)
        for (unsigned to = 0; to < 12 && widths[from] <= 16; to++)
            for (uint32_t bits = 0; bits >> widths[from] == 0; bits += step)
                one(to, from, bits);
}

static uint64_t next(uint64_t *s)
{
    uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
/* Return a value near a power of two, a value near a tie, or a random value. */
static uint64_t corner(uint64_t *s, unsigned type)
{
    const struct soft_format *f = format_of(type);
    uint64_t r = next(s), v;
    if (f == NULL) {
        v = UINT64_C(1) << (r & 63);
        switch (r >> 6 & 3) {
        case 0: v += (r >> 8 & 7) - 4; break;
        case 1: v = v - 1 + (v >> (r >> 8 & 63)); break;
        case 2: v = 0 - v + (r >> 8 & 3); break;
        default: v = next(s); break;
        }
        return widths[type] == 64 ? v : (uint32_t)v;
    }
    int e = (int)(r % 80) - 8 + f->emax; /* integers of every size */
    if ((r >> 8 & 7) == 0)
        e = (int)(r >> 16) % (2 * f->emax + 2);
    if ((r >> 8 & 7) == 1) /* values near the smallest f16 and f32 */
        e = f->emax - (r >> 11 & 1 ? 26 : 150) + (int)(r % 30);
    e = e < 0 ? 0 : e > 2 * f->emax + 1 ? 2 * f->emax + 1 : e;
    uint64_t fraction = next(s) & ((UINT64_C(1) << (f->precision - 1)) - 1);
    switch (r >> 20 & 3) { /* some fractions have few significant bits, followed by zeros or ones */
    case 0: fraction &= ~UINT64_C(0) << (r >> 24 & 63); break;
    case 1: fraction |= (UINT64_C(1) << (r >> 24 & 31)) - 1; break;
    default: break;
    }
    fraction &= (UINT64_C(1) << (f->precision - 1)) - 1;
    return (uint64_t)e << (f->precision - 1) | fraction | (r >> 63 ? soft_sign(f) : 0);
}
static void wide_sources_convert_exactly(void **state)
{
    uint64_t s = 11;
    (void)state;
    for (unsigned from = 0; from < 12; from++)
        for (unsigned to = 0; to < 12 && widths[from] > 16; to++)
            for (unsigned i = 0; i < 20000 / each_divisor(); i++)
                one(to, from, corner(&s, from));
}

/* ---- functions that the lane loops use ---------------------------------------------------- */

static uint32_t bits_of(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return x != x ? 0x7fffffff : b;
}
static bool lane_loops_agree(const void *context, uint32_t i, char *why, size_t size)
{
    static const struct {
        unsigned to, from, rounding;
    } kinds[] = {
        {ISA_DT_S32, ISA_DT_F32, 1}, {ISA_DT_U32, ISA_DT_F32, 1}, {ISA_DT_S32, ISA_DT_F32, 0},
        {ISA_DT_S32, ISA_DT_F32, 2}, {ISA_DT_S32, ISA_DT_F32, 3}, {ISA_DT_F32, ISA_DT_F32, 4},
        {ISA_DT_F32, ISA_DT_F32, 5}, {ISA_DT_F32, ISA_DT_F32, 6}, {ISA_DT_F32, ISA_DT_F32, 7},
        {ISA_DT_F32, ISA_DT_S32, 0}, {ISA_DT_F32, ISA_DT_U32, 0}, {ISA_DT_F16, ISA_DT_F32, 0},
        {ISA_DT_BF16, ISA_DT_F32, 0}, {ISA_DT_S32, ISA_DT_F64, 1},
    };
    float x;
    memcpy(&x, &i, sizeof x);
    uint64_t wide = (uint64_t)i << 32 | (i * UINT32_C(2654435761));
    double d;
    memcpy(&d, &wide, sizeof d);
    const uint32_t got[] = {
        (uint32_t)emu_s32_of_f32(x), emu_u32_of_f32(x), (uint32_t)emu_s32_of_f32(emu_rint_f32(x)),
        (uint32_t)emu_s32_of_f32(emu_floor_f32(x)), (uint32_t)emu_s32_of_f32(emu_ceil_f32(x)),
        bits_of(emu_rint_f32(x)), bits_of(emu_trunc_f32(x)), bits_of(emu_floor_f32(x)),
        bits_of(emu_ceil_f32(x)), bits_of((float)(int32_t)i), bits_of((float)i),
        emu_f16_of_f32(x), emu_bf16_of_f32(x), (uint32_t)emu_s32_of_f64(d),
    };
    (void)context;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        uint32_t want = (uint32_t)reference(kinds[k].to, kinds[k].from, kinds[k].rounding, false,
                                            false, kinds[k].from == ISA_DT_F64 ? wide : i);
        if (got[k] != want) {
            snprintf(why, size, "%s of %s %08x, rounding %u, is %08x, not %08x", names[kinds[k].to],
                     names[kinds[k].from], i, kinds[k].rounding, got[k], want);
            return false;
        }
    }
    return true;
}
static void lane_loops_convert_as_the_rest(void **state)
{
    (void)state;
    all_values(lane_loops_agree, NULL, "conversions", 8209);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_sources_convert_exactly),
        cmocka_unit_test(wide_sources_convert_exactly),
        cmocka_unit_test(lane_loops_convert_as_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
