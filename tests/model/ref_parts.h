/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the files of the reference share: bits of floats, operands, arithmetic. */
#ifndef REF_PARTS_H
#define REF_PARTS_H

#include "isa/isa_priv.h"
#include "tests/model/ref_lane.h"

#include <math.h>

typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;

/* ---- bits of floats; each NaN becomes the canonical NaN --------------------------------- */

static inline float ref_f(u32 b) { float f; memcpy(&f, &b, 4); return f; }
static inline u32 ref_f_bits(float f)
{
    u32 b;
    memcpy(&b, &f, 4);
    return isnan(f) ? 0x7fffffff : b;
}
static inline double ref_d(u64 b) { double f; memcpy(&f, &b, 8); return f; }
static inline u64 ref_d_bits(double f)
{
    u64 b;
    memcpy(&b, &f, 8);
    return isnan(f) ? 0x7ff8000000000000ull : b;
}

/* ---- operands of @n registers -------------------------------------------------------------- */

static inline u64 ref_v(const struct ref_lane *t, unsigned r, int n)
{
    if (r == 255)
        return 0;
    return n == 2 ? (u64)t->v[r + 1] << 32 | t->v[r] : t->v[r];
}
static inline u64 ref_s(const struct ref_lane *t, unsigned r, int n)
{
    if (r == 255)
        return 0;
    return n == 2 ? (u64)t->s[r + 1] << 32 | t->s[r] : t->s[r];
}
static inline void ref_put(struct ref_lane *t, unsigned r, int n, u64 x)
{
    if (r == 255)
        return;
    t->v[r] = (u32)x;
    if (n == 2)
        t->v[r + 1] = (u32)(x >> 32);
}
static inline void ref_put_s(struct ref_lane *t, unsigned r, int n, u64 x)
{
    if (r == 255)
        return;
    t->s[r] = (u32)x;
    if (n == 2)
        t->s[r + 1] = (u32)(x >> 32);
}
static inline bool ref_p(const struct ref_lane *t, unsigned p, bool neg)
{
    return (p == 7 ? true : t->p[p]) != neg;
}
static inline bool ref_sp(const struct ref_lane *t, unsigned p, bool neg)
{
    return (p == 7 ? true : t->sp[p]) != neg;
}
/** Return the value of a modifier, or 0 if the instruction does not have this modifier. */
static inline unsigned ref_mod(const struct isa_insn *i, enum isa_mod group)
{
    return isa_mod_applies(group, isa_op_info((enum isa_op)i->op)) ? isa_mod_get(i, group) : 0;
}

/* ---- integers ------------------------------------------------------------------------------- */

static inline bool ref_compare_i(unsigned cmp, s64 a, s64 b, bool is_signed)
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
/** Extract a bit field from @a, a value of @width bits. Bits 7:0 of @b are the position of the field, and bits 15:8
 *  its length. */
static inline u64 ref_field(u64 a, u32 b, int width, bool sign)
{
    unsigned pos = b & 255, length = b >> 8 & 255, last = pos + length - 1;
    u64 out = 0;
    bool fill = false;

    if (sign && length != 0)
        fill = a >> (last < (unsigned)width - 1 ? last : (unsigned)width - 1) & 1;
    for (int k = width - 1; k >= 0; k--) {
        bool inside = (unsigned)k < length && pos + (unsigned)k < (unsigned)width;
        out = out << 1 | (inside ? a >> (pos + (unsigned)k) & 1 : fill);
    }
    return out;
}

/* ---- floats (ref_float.c) ---------------------------------------------------------------------- */

/** Replace a denormal by zero if @ftz is set. */
float ref_flush(float x, bool ftz);
double ref_flush_d(double x, bool ftz);
/** Return the bits of a result, to which @ftz and @sat have been applied. */
u32 ref_finish(float x, bool ftz, bool sat);
u64 ref_finish_d(double x, bool ftz, bool sat);
/** Compute one operation (+ - * / q) of f32 (@words is 1) or f64 in a rounding mode of the host. */
double ref_directed(double a, double b, char op, int words, unsigned mode);
double ref_directed_fma(double a, double b, double c, int words, unsigned mode);
/** Compute min and max step by step, as the PTX manual describes them. */
double ref_least(const struct isa_insn *i, double a, double b, bool greatest);
bool ref_compare_d(unsigned cmp, double a, double b);
/** Execute v_cvt. */
u64 ref_convert(const struct isa_insn *i, u64 bits);
/** Determine the operation, the format and the packing of a 16-bit instruction from its mnemonic. For example v_fma_bf16x2 has
 *  operation "fma", format bf16, and is packed. */
bool ref_half_row(const struct isa_op_info *info, char op[8], bool *bf, bool *x2);
double ref_half_in(u32 h, bool bf, bool ftz);
/** Compute one half of a packed 16-bit result. Return false for an approximate function, which has bounds instead of
 *  one result. */
bool ref_half_lane(const struct isa_insn *i, const char *op, bool bf, const u32 h[3], u32 *out);

#endif
