/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compact mode: handlers that execute an instruction on tags, once for the warp instead of once for each lane, and functions
 * that materialise registers for ordinary handlers, which work on lanes. The file has no loops over lanes, so it is compiled for
 * one x86-64 level only.
 *
 * The technique is dynamic scalarisation of uniform and affine values. With the tag rules `fold`, gemm executes 76.4 % of the
 * lane operations that it executes without tags, in 0.87 times the time with AVX2, and in 1.13 times the time with AVX-512
 * (docs/evidence/tags.md). Compact mode is off by default.
 */
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/lane/emu_math_priv.h"
#include "emu/lane/emu_mufu_priv.h"
#include "emu/lane/emu_semantics_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_next_priv.h"

#define RULE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect((x), 1)

/* ---- the bridge to ordinary handlers ------------------------------------------------- */

static void make_rows(struct emu_warp *w, const struct emu_plan *plan)
{
    for (unsigned i = 0; i < plan->source_count; i++)
        if (w->cstate[plan->source[i]] & EMU_C_STALE)
            w->core->level->make_row(w, plan->source[i]);
}

void emu_compact_vector(struct emu_warp *w, unsigned index)
{
    if (w->cstate[index] & EMU_C_STALE)
        w->core->level->make_row(w, index);
    w->expansions += !(w->cstate[index] & EMU_C_VECTOR);
    w->cstate[index] = EMU_C_VECTOR;
}

void emu_plain_full(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_plan *plan = &w->code->plan[di->index];

    make_rows(w, plan);
    for (unsigned k = 0; k < plan->d_words; k++) {
        if (plan->keeps)
            emu_compact_vector(w, plan->d + k);
        w->cstate[plan->d + k] = EMU_C_VECTOR;
    }
    EMU_TAIL plan->plain.full(w, di);
}

void emu_plain_part(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_plan *plan = &w->code->plan[di->index];

    make_rows(w, plan);
    for (unsigned k = 0; k < plan->d_words; k++)
        if (w->cstate[plan->d + k] != EMU_C_VECTOR)
            emu_compact_vector(w, plan->d + k);
    EMU_TAIL plan->plain.part(w, di);
}

void emu_boundary_full(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_compact_forget(w);
    EMU_TAIL w->code->plan[di->index].plain.full(w, di);
}
void emu_boundary_part(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_compact_forget(w);
    EMU_TAIL w->code->plan[di->index].plain.part(w, di);
}

static unsigned row_count(const struct emu_warp *w)
{
    return EMU_ROW_V0 + w->vreg_count;
}

void emu_compact_rows(struct emu_warp *w)
{
    for (unsigned i = EMU_ROW_V0; i < row_count(w); i++)
        if (w->cstate[i] & EMU_C_STALE)
            w->core->level->make_row(w, i);
}
/** Materialises a register for an observer. The register's state and the count of materialised registers do not change. */
static void show_row(struct emu_warp *w, unsigned index)
{
    const uint64_t rows_before = w->rows_made;

    if (!(w->cstate[index] & EMU_C_STALE))
        return;
    w->core->level->make_row(w, index);
    w->cstate[index] |= EMU_C_STALE;
    w->rows_made = rows_before;
}
void emu_compact_show(struct emu_warp *w)
{
    for (unsigned i = EMU_ROW_V0; i < row_count(w); i++)
        show_row(w, i);
}
void emu_compact_forget(struct emu_warp *w)
{
    for (unsigned i = EMU_ROW_V0; i < row_count(w); i++)
        if (w->cstate[i] != EMU_C_VECTOR)
            emu_compact_vector(w, i);
}
void emu_compact_reset(struct emu_warp *w)
{
    memset(w->cstate + EMU_ROW_V0, EMU_C_VECTOR, row_count(w) - EMU_ROW_V0);
}
void emu_compact_sources(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_plan *plan = &w->code->plan[di->index];

    for (unsigned i = 0; plan->plain.full != NULL && i < plan->source_count; i++)
        show_row(w, plan->source[i]);
}

size_t emu_compact_bytes(unsigned rows)
{
    return rows * (sizeof(struct emu_ctag) + 1) + 8;
}
void emu_compact_init(struct emu_warp *w, void *memory, unsigned rows)
{
    unsigned fold = emu_tag_fold(w);

    w->ctag = memory;
    w->cstate = (uint8_t *)(w->ctag + rows);
    w->last_column = (uint8_t)(fold - 1);
    w->last_row = (uint8_t)(w->width / fold - 1);
    memset(w->cstate, EMU_C_VECTOR, rows);
    for (unsigned i = 0; i < w->row_sink / w->stride; i++) { /* registers that read as zero, as a 32-bit and as a 64-bit value */
        w->ctag[i] = (struct emu_ctag){0};
        w->cstate[i] = i % 2 ? EMU_C_HIGH : EMU_C_LOW;
    }
}

/* ---- computing with tags ---------------------------------------------------------------- */

/** Compile-time parameters of a tag rule. For each combination that is used, a handler is compiled. */
struct form {
    bool bu;        /* operand X is uniform */
    bool full;      /* true: all lanes of the warp execute the instruction; false: all live lanes execute it */
    bool easy;      /* only cases that need no function call are handled, so that the handler needs no stack frame */
    bool wide;      /* the result has 64 bits; for a compare: the sources have 64 bits */
    bool is_signed;
};
/* Parameters of the function of every tag rule. If the rule does not apply, the function returns false and changes nothing. */
#define RULE_PARAMS struct emu_warp *w, const struct emu_dinsn *di, const struct form f

RULE bool is_uniform(const struct emu_ctag *t)
{
    return t->stride == 0 && t->rise == 0;
}
RULE bool untagged32(const struct emu_warp *w, unsigned index)
{
    return w->cstate[index] & (EMU_C_VECTOR | EMU_C_HIGH);
}
RULE bool untagged64(const struct emu_warp *w, unsigned index)
{
    return !emu_ctag_paired(w, index);
}
RULE bool untagged(const struct emu_warp *w, unsigned index, const bool wide)
{
    return wide ? untagged64(w, index) : untagged32(w, index);
}
/** Combines the tags of two registers, which are separate 32-bit values, into the tag of a 64-bit value. Returns false if the
 *  tags cannot be combined. */
static __attribute__((noinline)) bool join(struct emu_warp *w, unsigned index)
{
    struct emu_ctag *low = &w->ctag[index], *high = low + 1;

    if (untagged32(w, index) || untagged32(w, index + 1) || !is_uniform(high) ||
        !emu_ctag_fits32(w, low, false))
        return false;
    emu_ctag_put(low, (uint32_t)low->base | high->base << 32, (uint64_t)(int64_t)low->stride,
                 (uint64_t)(int64_t)low->rise);
    high->halves = low->halves;
    w->cstate[index] |= EMU_C_LOW;
    w->cstate[index + 1] |= EMU_C_HIGH;
    return true;
}
/** Returns true if the source at register index @index, of 64 bits if @wide, has no tag, so that the rule does not apply. For a
 *  register pair whose registers have separate tags, the function first tries to combine them, unless @easy is set. */
RULE bool missing(struct emu_warp *w, unsigned index, const bool wide, const bool easy)
{
    if (LIKELY(!untagged(w, index, wide)))
        return false;
    return easy || !wide || !join(w, index);
}

/** Counts an instruction that was executed on tags, so that two operations, on the base and on the stride, replace the lane
 *  operations. */
RULE void served(struct emu_warp *w, const bool full)
{
    if (full)
        w->served++;
    else
        w->lanes_saved += w->m_count > 2 ? w->m_count - 2u : 0;
}
/* A source operand, with stride and rise extended to 64 bits. Terms are added and multiplied modulo 2^64. */
struct term {
    uint64_t base, stride, rise;
};
RULE struct term term_of(const struct emu_ctag *t)
{
    return (struct term){t->base, (uint64_t)(int64_t)t->stride, (uint64_t)(int64_t)t->rise};
}
RULE bool term_uniform(const struct term *t)
{
    return (t->stride | t->rise) == 0;
}
RULE struct term at(const struct emu_warp *w, unsigned index)
{
    return term_of(&w->ctag[index]);
}
RULE struct term at_x(const struct emu_warp *w, const struct emu_dinsn *di, const struct form f,
                      const bool wide)
{
    if (f.bu)
        return (struct term){wide ? emu_uniform64(w, di) : emu_uniform32(w, di), 0, 0};
    return at(w, di->tb);
}
RULE struct term scaled(struct term a, uint64_t k)
{
    return (struct term){a.base * k, a.stride * k, a.rise * k};
}
/** Returns true if the tag rules are `table`, which apply in fewer cases than the algebra permits. */
RULE bool table_rules(const struct emu_warp *w)
{
    return w->core->machine->config.tag_rules == EMU_TAG_RULES_TABLE;
}
RULE bool put32(struct emu_warp *w, const struct emu_dinsn *di, const bool full, struct term t)
{
    emu_ctag_put(&w->ctag[di->td], t.base, t.stride, t.rise);
    w->cstate[di->td] = EMU_C_STALE;
    served(w, full);
    return true;
}
/** Writes a 64-bit result. Returns false if stride or rise need more than 32 bits. */
RULE bool put64(struct emu_warp *w, const struct emu_dinsn *di, const bool full, struct term t)
{
    const uint8_t states[2] = {EMU_C_STALE | EMU_C_LOW, EMU_C_STALE | EMU_C_HIGH};

    if (!LIKELY((int64_t)t.stride == (int32_t)t.stride && (int64_t)t.rise == (int32_t)t.rise))
        return false;
    emu_ctag_put(&w->ctag[di->td], t.base, t.stride, t.rise);
    emu_ctag_put(&w->ctag[di->td + 1], t.base, t.stride, t.rise);
    memcpy(w->cstate + di->td, states, sizeof states);
    served(w, full);
    return true;
}
RULE bool put(RULE_PARAMS, struct term t)
{
    return f.wide ? put64(w, di, f.full, t) : put32(w, di, f.full, t);
}
/** Extends a 32-bit value to 64 bits. Returns false if the value wraps in some lane. */
RULE bool widen(const struct emu_warp *w, struct term *t, const bool is_signed)
{
    if (!term_uniform(t)) {
        struct emu_ctag c = {{{t->base, (int32_t)t->stride, (int32_t)t->rise}}};
        if (!emu_ctag_fits32(w, &c, is_signed))
            return false;
    }
    t->base = is_signed ? (uint64_t)(int64_t)(int32_t)t->base : (uint32_t)t->base;
    return true;
}

/* ---- rules --------------------------------------------------------------------------------- */

#define X_MISSING(wide) (!f.bu && missing(w, di->tb, wide, f.easy))

RULE bool sum(RULE_PARAMS, struct term a, struct term b)
{
    if (__builtin_expect(!term_uniform(&a) && !term_uniform(&b), 0) && table_rules(w))
        return false;
    return put(w, di, f, (struct term){a.base + b.base, a.stride + b.stride, a.rise + b.rise});
}
/** Adds or subtracts 32-bit values: base, stride and rise in one vector operation. */
RULE bool add32(RULE_PARAMS, const bool negate)
{
    if (f.bu) {
        uint32_t x = emu_uniform32(w, di);
        w->ctag[di->td].words = w->ctag[di->ta].words + (emu_tag_words){negate ? 0 - x : x};
    } else if (__builtin_expect(!is_uniform(&w->ctag[di->ta]) && !is_uniform(&w->ctag[di->tb]),
                                0) &&
               table_rules(w)) {
        return false;
    } else if (negate) {
        w->ctag[di->td].words = w->ctag[di->ta].words - w->ctag[di->tb].words;
    } else {
        w->ctag[di->td].words = w->ctag[di->ta].words + w->ctag[di->tb].words;
    }
    w->cstate[di->td] = EMU_C_STALE;
    served(w, f.full);
    return true;
}
RULE bool add_or_sub(RULE_PARAMS, const bool negate)
{
    if (missing(w, di->ta, f.wide, f.easy) || X_MISSING(f.wide))
        return false;
    if (!f.wide)
        return add32(w, di, f, negate);
    return sum(w, di, f, at(w, di->ta), scaled(at_x(w, di, f, true), negate ? ~UINT64_C(0) : 1));
}
RULE bool add(RULE_PARAMS)
{
    return add_or_sub(w, di, f, false);
}
RULE bool sub(RULE_PARAMS)
{
    return add_or_sub(w, di, f, true);
}
RULE bool mov(RULE_PARAMS)
{
    return !X_MISSING(f.wide) && put(w, di, f, at_x(w, di, f, f.wide));
}
RULE bool neg(RULE_PARAMS)
{
    return !X_MISSING(f.wide) && put(w, di, f, scaled(at_x(w, di, f, f.wide), ~UINT64_C(0)));
}
RULE bool not(RULE_PARAMS)
{
    if (X_MISSING(f.wide))
        return false;
    struct term b = scaled(at_x(w, di, f, f.wide), ~UINT64_C(0));
    b.base--;
    return (term_uniform(&b) || !table_rules(w)) && put(w, di, f, b);
}

/** Multiplies two values, one of which must be U. Returns false if neither value is U. */
RULE bool product(const struct emu_warp *w, struct term a, struct term b, struct term *out)
{
    if (!term_uniform(&b)) {
        struct term t = a;
        a = b;
        b = t;
    }
    if (!term_uniform(&b) || (!term_uniform(&a) && table_rules(w)))
        return false;
    *out = scaled(a, b.base);
    return true;
}
RULE bool mul(RULE_PARAMS)
{
    struct term t;

    if (missing(w, di->ta, f.wide, f.easy) || X_MISSING(f.wide) ||
        !product(w, at(w, di->ta), at_x(w, di, f, f.wide), &t))
        return false;
    return put(w, di, f, t);
}
RULE bool mad(RULE_PARAMS)
{
    struct term t;

    if (missing(w, di->ta, f.wide, f.easy) || X_MISSING(f.wide) || missing(w, di->tc, f.wide, f.easy) ||
        !product(w, at(w, di->ta), at_x(w, di, f, f.wide), &t))
        return false;
    return sum(w, di, f, t, at(w, di->tc));
}
RULE bool wide_product(RULE_PARAMS, struct term *out)
{
    if (missing(w, di->ta, false, f.easy) || X_MISSING(false))
        return false;
    struct term a = at(w, di->ta), b = at_x(w, di, f, false);
    return widen(w, &a, f.is_signed) && widen(w, &b, f.is_signed) && product(w, a, b, out);
}
RULE bool mulwide(RULE_PARAMS)
{
    struct term t;

    return wide_product(w, di, f, &t) && put(w, di, f, t);
}
RULE bool madwide(RULE_PARAMS)
{
    struct term t;

    return !missing(w, di->tc, true, f.easy) && wide_product(w, di, f, &t) &&
           sum(w, di, f, t, at(w, di->tc));
}
RULE bool lea(RULE_PARAMS)
{
    /* The pair, operand C, is tested first: if the test combines the tags of its two registers, operands A and X can no longer
     * use one of these registers as a 32-bit value. */
    if (missing(w, di->tc, true, f.easy) || missing(w, di->ta, false, f.easy) || X_MISSING(false))
        return false;
    struct term a = at(w, di->ta), k = at_x(w, di, f, false);
    if (!term_uniform(&k) || !widen(w, &a, f.is_signed))
        return false;
    return sum(w, di, f, scaled(a, UINT64_C(1) << (k.base & 31)), at(w, di->tc));
}

RULE bool shl(RULE_PARAMS)
{
    if (missing(w, di->ta, f.wide, f.easy) || X_MISSING(false))
        return false;
    struct term a = at(w, di->ta), k = at_x(w, di, f, false);
    uint32_t n = (uint32_t)k.base;
    if (!term_uniform(&k))
        return false;
    a = scaled(a, n >= (f.wide ? 64 : 32) ? 0 : UINT64_C(1) << n);
    return put(w, di, f, a);
}
/** Shifts right a value that differs between lanes. The shift is possible on tags if no lane wraps, and if stride and rise are
 *  multiples of 2^n, so that all lanes lose the same bits, or if all results are equal. */
static __attribute__((noinline)) bool shift_lanes(struct emu_warp *w, const struct emu_dinsn *di,
                                                  const bool full, uint32_t n, bool is_signed,
                                                  const struct term *a)
{
    const struct emu_ctag c = {{{a->base, (int32_t)a->stride, (int32_t)a->rise}}};
    int64_t base = is_signed ? (int32_t)a->base : (int64_t)(uint32_t)a->base, below, above;

    if (table_rules(w) || n >= 32 || !emu_ctag_fits32(w, &c, is_signed))
        return false;
    emu_ctag_reach(w, &c, &below, &above);
    if ((base + below) >> n == (base + above) >> n)
        return put32(w, di, full, (struct term){(uint64_t)((base + below) >> n), 0, 0});
    if ((a->stride | a->rise) & lw_mask(n))
        return false;
    return put32(w, di, full, (struct term){(uint64_t)(base >> n), (uint64_t)((int64_t)a->stride >> n),
                                            (uint64_t)((int64_t)a->rise >> n)});
}
RULE bool shr(RULE_PARAMS)
{
    if (missing(w, di->ta, f.wide, f.easy) || X_MISSING(false))
        return false;
    struct term a = at(w, di->ta), k = at_x(w, di, f, false);
    const unsigned bits = f.wide ? 64 : 32;
    uint32_t n = (uint32_t)k.base;
    if (!term_uniform(&k))
        return false;
    if (!term_uniform(&a))
        return !f.easy && !f.wide && shift_lanes(w, di, f.full, n, f.is_signed, &a);
    if (f.is_signed) {
        int64_t v = f.wide ? (int64_t)a.base : (int32_t)a.base;
        a.base = (uint64_t)(v >> (n >= bits ? bits - 1 : n));
    } else {
        a.base = n >= bits ? 0 : (f.wide ? a.base : (uint32_t)a.base) >> n;
    }
    return put(w, di, f, (struct term){a.base, 0, 0});
}

/** Selects between two sources, if all lanes select the same source, or if both sources are equal. */
RULE bool select(RULE_PARAMS)
{
    if (f.easy)
        return false;
    const uint64_t chosen = emu_predicate(w, di->r) & w->live;
    struct term t = {0}, x = {0};

    if (chosen != 0) {
        if (missing(w, di->ta, f.wide, f.easy))
            return false;
        t = at(w, di->ta);
    }
    if (chosen != w->live) {
        if (X_MISSING(f.wide))
            return false;
        x = at_x(w, di, f, f.wide);
        if (chosen != 0 && ((f.wide ? t.base != x.base : (uint32_t)t.base != (uint32_t)x.base) ||
                            t.stride != x.stride || t.rise != x.rise))
            return false;
        t = x;
    }
    if (!term_uniform(&t) && table_rules(w))
        return false;
    return put(w, di, f, t);
}

/** Reads a special register that is uniform or a thread index. */
RULE bool special(RULE_PARAMS)
{
    struct emu_affine v;

    if (f.easy)
        return false;
    if (emu_tag_special(w, (enum isa_special)di->reg, &v) == EMU_TAG_READ) {
        uint64_t value = 0;
        (void)emu_special_uniform(w, (enum isa_special)di->reg, &value);
        v = emu_affine_u(value);
    }
    return v.kind != EMU_TAG_V &&
           put(w, di, f, (struct term){v.base, (uint64_t)v.stride, (uint64_t)v.rise});
}

RULE bool convert(RULE_PARAMS)
{
    const unsigned dtype = di->sub & 15, stype = di->sub >> 4;
    const bool from_wide = stype == ISA_ST_U64 || stype == ISA_ST_S64 || stype == ISA_ST_F64;

    if (f.easy || X_MISSING(from_wide))
        return false;
    struct term b = at_x(w, di, f, from_wide);
    if (term_uniform(&b)) {
        if (!from_wide)
            b.base = (uint32_t)b.base;
        b.base = emu_convert(dtype, stype, di->reg & 7, di->reg & 8, di->reg & 16, b.base);
    } else if (table_rules(w) || di->reg & 8 || dtype < ISA_DT_U32 || dtype > ISA_DT_S64 ||
               stype < ISA_ST_U32 || stype > ISA_ST_S64 ||
               (f.wide && !from_wide && !widen(w, &b, stype == ISA_ST_S32))) {
        return false;
    }
    return put(w, di, f, b);
}

/* ---- instructions that give U if all sources are U: the expression is evaluated once -------------- */

typedef uint64_t value_fn(uint64_t a, uint64_t b, uint64_t c);

#define GET_f16(x) emu_f32_of_f16((uint32_t)(x))
#define GET_bf16(x) emu_f32_of_bf16((uint32_t)(x))
#define GET_f32(x) emu_f32_bits((uint32_t)(x))
#define GET_f64(x) emu_f64_bits(x)
#define GET_u32(x) ((uint32_t)(x))
#define GET_s32(x) ((int32_t)(uint32_t)(x))
#define GET_u64(x) (x)
#define GET_s64(x) ((int64_t)(x))

#define VALUE_BODY(TD, TA, TB, TC, e)                                                         \
    const T_##TA a = GET_##TA(a_);                                                            \
    const T_##TB b = GET_##TB(b_);                                                            \
    const T_##TC c = GET_##TC(c_);                                                            \
    (void)a, (void)b, (void)c;                                                                \
    return BITS_##TD((T_##TD)(e));
#define LANE1(T, e) VALUE_BODY(T, T, T, T, e)
#define ROW1(T, f) LANE1(T, f(b))
#define LANE(T, e) VALUE_BODY(T, T, T, T, e)
#define LANE3(T, e) VALUE_BODY(T, T, T, T, e)
#define HALF1(T, e) LANE1(T, e)
#define HALF(T, e) LANE(T, e)
#define HALF3(T, e) LANE3(T, e)
#define LANEX1(TD, TB, e) VALUE_BODY(TD, TB, TB, TB, e)
#define LANEX(TD, TA, TB, e) VALUE_BODY(TD, TA, TB, TB, e)
#define LANEX3(TD, TA, TB, TC, e) VALUE_BODY(TD, TA, TB, TC, e)
#define LANEW(lo_, hi_)                                                                       \
    const uint32_t al = (uint32_t)a_, ah = (uint32_t)(a_ >> 32), bl = (uint32_t)b_,           \
                   bh = (uint32_t)(b_ >> 32), cl = (uint32_t)c_, ch = (uint32_t)(c_ >> 32);   \
    const uint32_t lo = (lo_), hi = (hi_);                                                    \
    (void)al, (void)ah, (void)bl, (void)bh, (void)cl, (void)ch;                               \
    return (uint64_t)hi << 32 | lo;
#define LANEW3(lo, hi) LANEW(lo, hi)
#define SELDOM(semantics) semantics
#define VALUE_LANES EMU_IS(VALUE)
#define VALUE_FUNCTION EMU_IS(VALUE)
#define VALUE_SELDOM_LANES EMU_IS(VALUE)
#define VALUE_SELDOM_HALVES EMU_IS(VALUE)
#define OF_VALUE(prefix, group) EMU_PASTE(prefix, EMU_BY_GROUP(VALUE_, group, NONE))

#define FUNCTION_NONE(id, ...)
#define FUNCTION_VALUE(id, ...)                                                               \
    static uint64_t value_##id(uint64_t a_, uint64_t b_, uint64_t c_)                         \
    {                                                                                         \
        const unsigned sub = 0; /* instructions with modifiers are not executed on tags */                \
        (void)sub;                                                                            \
        __VA_ARGS__                                                                           \
    }
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    OF_VALUE(FUNCTION_, EMU_GROUP_##semantics)(id, semantics)
#include "isa/insns.def"

#define ENTRY_NONE(id)
#define ENTRY_VALUE(id) [ISA_##id] = value_##id,
static value_fn *const value_of[ISA_OP_COUNT] = {
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    OF_VALUE(ENTRY_, EMU_GROUP_##semantics)(id)
#include "isa/insns.def"
};

static __attribute__((noinline)) bool evaluate(struct emu_warp *w, const struct emu_dinsn *di,
                                               const bool full)
{
    const struct emu_plan *plan = &w->code->plan[di->index];
    const unsigned index[3] = {di->ta, di->tb, di->tc};
    uint64_t v[3] = {0};

    for (unsigned i = 0; i < 3; i++) {
        if (plan->words[i] == 0)
            continue;
        if (i == 1 && di->ukind != EMU_U_ROW) {
            v[i] = plan->words[i] == 2 ? emu_uniform64(w, di) : emu_uniform32(w, di);
            continue;
        }
        if (missing(w, index[i], plan->words[i] == 2, false) || !is_uniform(&w->ctag[index[i]]))
            return false;
        v[i] = w->ctag[index[i]].base;
    }
    struct term t = {value_of[di->op](v[0], v[1], v[2]), 0, 0};
    return plan->d_words == 2 ? put64(w, di, full, t) : put32(w, di, full, t);
}
RULE bool uniform(RULE_PARAMS)
{
    return !f.easy && evaluate(w, di, f.full);
}

/* ---- compares --------------------------------------------------------------------------------------- */

/** Gets the base of value @t, and the lowest and highest value of its lanes, as numbers that can be compared as signed numbers.
 *  Returns false if some lane wraps, or if the difference of two such numbers could overflow. */
RULE bool range(const struct emu_warp *w, const struct term *t, const bool wide,
                const bool is_signed, int64_t *base, int64_t *low, int64_t *high)
{
    const int64_t limit = INT64_C(1) << 61;

    if (wide)
        *base = (int64_t)(is_signed ? t->base : t->base ^ UINT64_C(1) << 63);
    else
        *base = is_signed ? (int32_t)t->base : (int64_t)(uint32_t)t->base;
    *low = *high = *base;
    if (term_uniform(t))
        return true;
    struct emu_ctag c = {{{0, (int32_t)t->stride, (int32_t)t->rise}}};
    emu_ctag_reach(w, &c, low, high);
    if (wide && (*base > limit || *base < -limit))
        return false; /* the result of the compare could still be known, but this is rare */
    *low += *base;
    *high += *base;
    return wide || (*low >= (is_signed ? INT32_MIN : 0) &&
                    *high <= (is_signed ? INT32_MAX : (int64_t)UINT32_MAX));
}
/** Computes, in closed form, a compare whose result differs between lanes. */
static __attribute__((noinline)) bool compare_lanes(const struct emu_warp *w, unsigned cmp,
                                                    int64_t a, int64_t b, const struct term *ta,
                                                    const struct term *tb, uint64_t *truth)
{
    int64_t d;

    if (__builtin_sub_overflow(b, a, &d) || d > INT64_C(1) << 61 || d < -(INT64_C(1) << 61))
        return false;
    *truth = emu_tag_compare(cmp, d, (int64_t)(ta->stride - tb->stride),
                             (int64_t)(ta->rise - tb->rise), w->last_column + 1u, w->width);
    return true;
}
RULE bool compare(RULE_PARAMS)
{
    /* [comparison] set of the relations of two numbers for which the comparison is true; bits: 1 less, 2 equal, 4 greater */
    static const uint8_t true_of[16] = {2, 5, 1, 3, 4, 6, 2, 5, 1, 3, 4, 6, 7};
    const unsigned cmp = di->sub & 15;
    uint64_t truth;
    int64_t a, b, a_low, b_low, a_high, b_high;

    if (missing(w, di->ta, f.wide, f.easy) || X_MISSING(f.wide))
        return false;
    struct term ta = at(w, di->ta), tb = at_x(w, di, f, f.wide);
    if (!range(w, &ta, f.wide, f.is_signed, &a, &a_low, &a_high) ||
        !range(w, &tb, f.wide, f.is_signed, &b, &b_low, &b_high))
        return false;
    unsigned may = (a_low < b_high ? 1u : 0) | (a_high > b_low ? 4u : 0) |
                   (a_low <= b_high && a_high >= b_low ? 2u : 0);
    if ((true_of[cmp] & may) == may)
        truth = ~UINT64_C(0);
    else if ((true_of[cmp] & may) == 0)
        truth = 0;
    else if (f.easy || !compare_lanes(w, cmp, a, b, &ta, &tb, &truth))
        return false;
    emu_put_compare(w, di, w->e, truth, ~truth);
    served(w, f.full);
    return true;
}

/* ---- handlers ---------------------------------------------------------------------------------------- */

/* Defines the handlers of a rule, with X a register or a uniform operand. Handlers `f` and `h` run if all lanes of the warp are
 * active. `f` handles the cases that need no function call, and otherwise calls `h`. The third handler is masked. If
 * @parts is set, it always applies the rule; otherwise it applies the rule only if all live lanes are active. */
#define HANDLERS(name, rule, x_is_uniform, is_wide, sign, parts)                              \
    static __attribute__((noinline)) void c_##name##h(struct emu_warp *w,                     \
                                                      const struct emu_dinsn *di)             \
    {                                                                                         \
        const struct form f = {x_is_uniform, true, false, is_wide, sign};                   \
        if (rule(w, di, f))                                                                   \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL emu_plain_full(w, di);                                                       \
    }                                                                                         \
    static void c_##name##f(struct emu_warp *w, const struct emu_dinsn *di)                   \
    {                                                                                         \
        const struct form f = {x_is_uniform, true, true, is_wide, sign};                    \
        if (LIKELY(rule(w, di, f)))                                                           \
            EMU_NEXT_FULL(w, di);                                                             \
        EMU_TAIL c_##name##h(w, di);                                                          \
    }                                                                                         \
    static void c_##name##p(struct emu_warp *w, const struct emu_dinsn *di)                   \
    {                                                                                         \
        const struct form f = {x_is_uniform, false, false, is_wide, sign};                  \
        if ((parts || w->e == w->live) && rule(w, di, f))                                     \
            EMU_NEXT_PART(w, di);                                                             \
        EMU_TAIL emu_plain_part(w, di);                                                       \
    }

/* The rules of the tags ISA_TAG_*. BOTH: compiled for results of 32 and of 64 bits; ONE: for 64 bits, or for any size.
 *  Arguments: the rule; its function; is_signed; @parts, which is true for compares, as they write predicates only */
#define RULES(BOTH, ONE)                                                                      \
    ONE(UNIFORM, uniform, false, false)                                                       \
    BOTH(MOV, mov, false, false)                                                              \
    BOTH(ADD, add, false, false)                                                              \
    BOTH(SUB, sub, false, false)                                                              \
    BOTH(MUL, mul, false, false)                                                              \
    BOTH(MAD, mad, false, false)                                                              \
    ONE(MULWIDE, mulwide, false, false)                                                       \
    ONE(MULWIDE_S, mulwide, true, false)                                                      \
    ONE(MADWIDE, madwide, false, false)                                                       \
    ONE(MADWIDE_S, madwide, true, false)                                                      \
    ONE(LEA, lea, false, false)                                                               \
    ONE(LEA_S, lea, true, false)                                                              \
    BOTH(SHL, shl, false, false)                                                              \
    BOTH(SHR, shr, false, false)                                                              \
    BOTH(SHR_S, shr, true, false)                                                             \
    BOTH(NEG, neg, false, false)                                                              \
    BOTH(NOT, not, false, false)                                                              \
    BOTH(SELECT, select, false, false)                                                        \
    BOTH(CVT, convert, false, false)                                                          \
    BOTH(SPECIAL, special, false, false)                                                      \
    BOTH(CMP, compare, false, true)                                                           \
    BOTH(CMP_S, compare, true, true)

#define HANDLERS_OF_64(tag, rule, is_signed, parts)                                           \
    HANDLERS(tag##_64v, rule, false, true, is_signed, parts)                                  \
    HANDLERS(tag##_64u, rule, true, true, is_signed, parts)
#define HANDLERS_OF_BOTH(tag, rule, is_signed, parts)                                         \
    HANDLERS(tag##_32v, rule, false, false, is_signed, parts)                                 \
    HANDLERS(tag##_32u, rule, true, false, is_signed, parts)                                  \
    HANDLERS_OF_64(tag, rule, is_signed, parts)
RULES(HANDLERS_OF_BOTH, HANDLERS_OF_64)

#define PAIR_OF(name) {{c_##name##vf, c_##name##vp}, {c_##name##uf, c_##name##up}}
#define ROW_OF_BOTH(tag, ...) [ISA_TAG_##tag] = {PAIR_OF(tag##_32), PAIR_OF(tag##_64)},
#define ROW_OF_64(tag, ...) [ISA_TAG_##tag] = {PAIR_OF(tag##_64), PAIR_OF(tag##_64)},
/** [tag rule][number of words of the result, or of a compare's sources, minus 1][X is uniform] */
static const struct emu_handlers rule_handlers[ISA_TAG_COUNT][2][2] = {
    RULES(ROW_OF_BOTH, ROW_OF_64)
    [ISA_TAG_EVALUATE] = {PAIR_OF(UNIFORM_64), PAIR_OF(UNIFORM_64)},
};

bool emu_compact_handlers(const struct isa_insn *insn, const struct emu_dinsn *di,
                          const struct emu_tag_insn *info, struct emu_handlers *out)
{
    bool compares = info->rule == ISA_TAG_CMP || info->rule == ISA_TAG_CMP_S;
    unsigned words = compares ? info->words[0] : info->d_words;

    if (words < 1 || words > 2 || di->flags & EMU_D_FLOAT_MODE ||
        ((info->rule == ISA_TAG_UNIFORM || info->rule == ISA_TAG_EVALUATE) &&
         value_of[insn->op] == NULL))
        return false;
    *out = rule_handlers[info->rule][words - 1][di->ukind != EMU_U_ROW];
    return out->full != NULL;
}

/* ---- instructions with a prelude ---------------------------------------------------------------------------- */

/** Computes the tags of a prelude's scratch registers from the tags of the sources. Returns false if a source has no tag. */
static bool prepare_tags(struct emu_warp *w, const struct emu_prelude *pre)
{
    for (unsigned i = 0; i < 3; i++) {
        const bool wide = pre->source[i].words == 2;
        const unsigned mods = pre->source[i].mods, to = pre->source[i].to / w->stride;
        uint64_t sign = UINT64_C(1) << (wide ? 63 : 31);
        struct term t = {0};
        if (pre->source[i].kind == EMU_PRE_NONE)
            continue;
        if (pre->source[i].kind == EMU_PRE_UNIFORM) {
            const char *from = w->ubase[pre->source[i].ukind] + pre->source[i].from;
            t.base = wide ? lw_get64(from) : lw_get32(from);
        } else {
            unsigned from = pre->source[i].from / w->stride;
            if (missing(w, from, wide, false))
                return false;
            t = at(w, from);
        }
        if (mods != 0 && pre->is_float) { /* abs is applied before neg */
            if (!term_uniform(&t))
                return false;
            t.base = mods & 2 ? t.base & ~sign : t.base;
            t.base = mods & 1 ? t.base ^ sign : t.base;
        } else if (mods != 0) {
            if (!term_uniform(&t) && mods & 2 && table_rules(w))
                return false;
            if (mods & 2)
                t = scaled(t, ~UINT64_C(0)), t.base--;
            if (mods & 1)
                t = scaled(t, ~UINT64_C(0));
        }
        if (wide && ((int64_t)t.stride != (int32_t)t.stride || (int64_t)t.rise != (int32_t)t.rise))
            return false;
        emu_ctag_put(&w->ctag[to], t.base, t.stride, t.rise);
        emu_ctag_put(&w->ctag[to + 1], t.base, t.stride, t.rise);
        w->cstate[to] = wide ? EMU_C_LOW : 0; /* EMU_C_STALE is not needed, because it is never tested for scratch registers */
        w->cstate[to + 1] = wide ? EMU_C_HIGH : EMU_C_VECTOR;
    }
    return true;
}
void emu_tag_prelude_full(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_prelude *pre = &w->code->prelude[di->aux];

    if (prepare_tags(w, pre))
        EMU_TAIL pre->tagged.full(w, di);
    EMU_TAIL emu_plain_full(w, di);
}
void emu_tag_prelude_part(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_prelude *pre = &w->code->prelude[di->aux];

    if (w->e == w->live && prepare_tags(w, pre))
        EMU_TAIL pre->tagged.part(w, di);
    EMU_TAIL emu_plain_part(w, di);
}
