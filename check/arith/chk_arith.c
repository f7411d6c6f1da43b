/* SPDX-License-Identifier: Apache-2.0 */
/* Checks arithmetic: division by zero, shift out of range, conversion out of range, and infinities and NaNs generated from
 * finite values. The check evaluates each instruction before its execution, lane by lane. */
#include "check/arith/chk_fp_taint_priv.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum test { NO_TEST, DIVIDE, SHIFT, CONVERT, ADD, SUB, MUL, FMA, QUOTIENT, RECIPROCAL, ROOT, INVERSE_ROOT,
            LOGARITHM, POWER };
struct row {
    uint8_t test;    /* enum test: the condition that is checked */
    uint8_t bits;    /* number of bits of an operand */
};
static const struct row rows[ISA_OP_COUNT] = {
    [ISA_V_DIV_U32] = {DIVIDE, 32}, [ISA_V_DIV_S32] = {DIVIDE, 32}, [ISA_V_REM_U32] = {DIVIDE, 32},
    [ISA_V_REM_S32] = {DIVIDE, 32}, [ISA_V_DIV_U64] = {DIVIDE, 64}, [ISA_V_DIV_S64] = {DIVIDE, 64},
    [ISA_V_REM_U64] = {DIVIDE, 64}, [ISA_V_REM_S64] = {DIVIDE, 64},
    [ISA_V_SHL_B32] = {SHIFT, 32}, [ISA_V_SHR_U32] = {SHIFT, 32}, [ISA_V_SHR_S32] = {SHIFT, 32},
    [ISA_V_SHL_B64] = {SHIFT, 64}, [ISA_V_SHR_U64] = {SHIFT, 64}, [ISA_V_SHR_S64] = {SHIFT, 64},
    [ISA_S_SHL_B32] = {SHIFT, 32}, [ISA_S_SHR_U32] = {SHIFT, 32}, [ISA_S_SHR_S32] = {SHIFT, 32},
    [ISA_S_SHL_B64] = {SHIFT, 64}, [ISA_S_SHR_U64] = {SHIFT, 64}, [ISA_S_SHR_S64] = {SHIFT, 64},
    [ISA_V_CVT] = {CONVERT, 32},
    [ISA_V_ADD_F32] = {ADD, 32}, [ISA_V_ADD_F64] = {ADD, 64}, [ISA_V_SUB_F32] = {SUB, 32},
    [ISA_V_SUB_F64] = {SUB, 64}, [ISA_V_MUL_F32] = {MUL, 32}, [ISA_V_MUL_F64] = {MUL, 64},
    [ISA_V_FMA_F32] = {FMA, 32}, [ISA_V_FMA_F64] = {FMA, 64},
    [ISA_V_DIV_F32] = {QUOTIENT, 32}, [ISA_V_DIV_F64] = {QUOTIENT, 64},
    [ISA_V_RCP_F32] = {RECIPROCAL, 32}, [ISA_V_RCP_F64] = {RECIPROCAL, 64},
    [ISA_V_SQRT_F32] = {ROOT, 32}, [ISA_V_SQRT_F64] = {ROOT, 64},
    [ISA_V_RSQ_F32] = {INVERSE_ROOT, 32}, [ISA_V_RSQ_F64] = {INVERSE_ROOT, 64},
    [ISA_V_LG2_F32] = {LOGARITHM, 32}, [ISA_V_EX2_F32] = {POWER, 32},
};

static bool is_enabled(const struct chk *chk, enum chk_kind kind)
{
    return chk->options.kinds >> kind & 1;
}

/** A conversion can generate an infinity only if this function returns a lower bound for its target than for its
 *  source. Returns the largest finite value of a floating-point type. For an integer type, returns a value above the
 *  range of half precision if the type has such values, and otherwise 32767. */
static double largest(unsigned type)
{
    switch (type) {
    case ISA_DT_U8:
    case ISA_DT_S8:
    case ISA_DT_S16: return 32767;
    case ISA_DT_F16: return 65504;
    case ISA_DT_U16: return 65535;
    case ISA_DT_F64: return DBL_MAX;
    case ISA_DT_BF16: return 0x1.fep127;
    case ISA_DT_F32: return (double)FLT_MAX;
    default: return 1e6;
    }
}

bool chk_arith_wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    const struct chk *chk = chk_of_state(state);
    const enum test test = (enum test)rows[insn->op].test;

    (void)program, (void)index;
    /* Sums and products are checked although isa_insn_is_partial() is false for them, because they can overflow. */
    if (!(test >= ADD && test <= FMA) && !isa_insn_is_partial(insn))
        return false;
    switch (test) {
    case NO_TEST: return false;
    case DIVIDE: return is_enabled(chk, CHK_DIVISION);
    case SHIFT: return is_enabled(chk, CHK_SHIFT);
    case CONVERT: {
        const unsigned from = isa_mod_get(insn, ISA_MOD_STYPE), to = isa_mod_get(insn, ISA_MOD_DTYPE);

        if (to >= ISA_DT_F16)
            return is_enabled(chk, CHK_INFINITY) && largest(to) < largest(from);
        return is_enabled(chk, CHK_CONVERSION) && from >= ISA_DT_F32;
    }
    default: return is_enabled(chk, CHK_NAN) || is_enabled(chk, CHK_INFINITY);
    }
}

/* ---- operands --------------------------------------------------------------------------- */

static uint64_t reg(const struct emu_hook_site *site, bool vector, unsigned r, unsigned words,
                    unsigned lane)
{
    const enum isa_reg_class c = vector ? ISA_REG_V : ISA_REG_S;
    uint64_t low = 0, high = 0;

    if (r == ISA_VZ) /* the zero register; the scalar one, SZ, has the same number */
        return 0;
    (void)emu_reg_read(site->core, site->slot, site->warp, c, r, lane, &low);
    if (words == 2)
        (void)emu_reg_read(site->core, site->slot, site->warp, c, r + 1, lane, &high);
    return (uint32_t)low | high << 32;
}

static uint64_t operand_x(const struct emu_hook_site *site, unsigned words, bool is_double, unsigned lane)
{
    const struct isa_insn *insn = site->insn;
    uint64_t value = 0;

    switch (insn->xkind) {
    case ISA_X_VECTOR: return reg(site, true, insn->x & 255, words, lane);
    case ISA_X_SCALAR: return reg(site, false, insn->x & 255, words, lane);
    case ISA_X_CONST:
        (void)emu_mem_peek(site->core, site->slot, site->warp, lane,
                           ISA_CONST_BASE + isa_x_bank(insn->x) * ISA_CONST_STRIDE +
                               isa_x_offset(insn->x),
                           &value, 4 * words);
        return value;
    default:
        return words == 1 ? insn->x
               : is_double ? (uint64_t)insn->x << 32
                           : (uint64_t)(int64_t)(int32_t)insn->x;
    }
}

static double number(uint64_t bits, unsigned width, unsigned mods)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;

    if (width == 32) {
        memcpy(&f, &low, sizeof f);
        d = (double)f;
    } else {
        memcpy(&d, &bits, sizeof d);
    }
    if (mods & 2)
        d = fabs(d);
    return mods & 1 ? -d : d;
}

/** Gets the values of the sources a, b and c in a lane. @three: the instruction has three sources. @one: the instruction has
 *  only source b. */
static void floats(const struct emu_hook_site *site, unsigned bits, bool three, bool one, unsigned lane,
                   double out[3])
{
    const struct isa_insn *insn = site->insn;
    const bool mods = !(isa_op_info((enum isa_op)insn->op)->flags & ISA_F_NOSRCMOD);
    const unsigned words = bits / 32;
    uint64_t a = one ? 0 : reg(site, !insn->a_scalar, insn->a, words, lane);
    uint64_t x = operand_x(site, words, bits == 64, lane);
    uint64_t c = three ? reg(site, !insn->c_scalar, insn->c, words, lane) : 0;

    if (three && insn->variant) {
        uint64_t t = x;
        x = c;
        c = t;
    }
    out[0] = number(a, bits, mods ? isa_insn_srcmod(insn, 0) : 0);
    out[1] = number(x, bits, mods ? isa_insn_srcmod(insn, 1) : 0);
    out[2] = number(c, bits, mods ? isa_insn_srcmod(insn, 2) : 0);
}

/* ---- tests -------------------------------------------------------------------------------- */

static bool is_finite(double d)
{
    return d - d == 0;
}

/** Classifies the result for finite operands: 0 for a finite value, 1 for an infinity, 2 for a NaN. */
static int result_of(const struct emu_hook_site *site, const struct row *row, unsigned lane)
{
    const bool one = row->test >= RECIPROCAL;
    double v[3];
    long double r; /* no product or sum of two doubles exceeds the range of long double */

    floats(site, row->bits, row->test == FMA, one, lane, v);
    if (!is_finite(v[0]) || !is_finite(v[1]) || !is_finite(v[2]))
        return 0;
    switch ((enum test)row->test) {
    case ADD: r = (long double)v[0] + v[1]; break;
    case SUB: r = (long double)v[0] - v[1]; break;
    case MUL: r = (long double)v[0] * v[1]; break;
    case FMA: r = (long double)v[0] * v[1] + v[2]; break;
    case QUOTIENT: r = (long double)v[0] / v[1]; break;
    case RECIPROCAL: r = 1 / (long double)v[1]; break;
    case ROOT: r = v[1] < 0 ? (long double)NAN : 0; break;
    case INVERSE_ROOT: r = v[1] < 0 ? (long double)NAN : v[1] == 0 ? (long double)INFINITY : 0; break;
    case LOGARITHM: r = v[1] < 0 ? (long double)NAN : v[1] == 0 ? -(long double)INFINITY : 0; break;
    case POWER: r = v[1] >= 128 ? (long double)INFINITY : 0; break;
    default: return 0;
    }
    if (r != r)
        return 2;
    r = r < 0 ? -r : r;
    /* Rounding to nearest gives an infinity for values that exceed the largest finite value by half a unit in the last place
     * or more. */
    return r >= (row->bits == 32 ? (long double)FLT_MAX + 0x1p103L : (long double)DBL_MAX + 0x1p970L);
}

/** Returns true if a conversion generates an infinity from a finite value. */
static bool narrowed(const struct emu_hook_site *site, unsigned lane)
{
    const unsigned from = isa_mod_get(site->insn, ISA_MOD_STYPE), to = isa_mod_get(site->insn, ISA_MOD_DTYPE);
    const unsigned round = isa_mod_get(site->insn, ISA_MOD_CRND);
    const bool wide = from == ISA_DT_F64 || from == ISA_DT_U64 || from == ISA_DT_S64;
    const uint64_t bits = operand_x(site, wide ? 2 : 1, from == ISA_DT_F64, lane);
    double v, most = largest(to);

    switch (from) {
    case ISA_DT_F64: v = number(bits, 64, 0); break;
    case ISA_DT_F32: v = number(bits, 32, 0); break;
    case ISA_DT_BF16: v = number(bits << 16, 32, 0); break;
    case ISA_DT_U16: v = (uint16_t)bits; break;
    case ISA_DT_S32: v = (int32_t)bits; break;
    case ISA_DT_S64: v = (double)(int64_t)bits; break;
    case ISA_DT_U32: v = (uint32_t)bits; break;
    default: v = (double)bits; break;
    }
    if (!is_finite(v))
        return false;
    switch (round) {
    case ISA_CRND_RN: /* rounding to nearest gives an infinity for values that exceed the largest finite value by half a
                       * unit in the last place or more */
        return fabs(v) >= most + (to == ISA_DT_F16 ? 16 : to == ISA_DT_BF16 ? 0x1p119 : 0x1p103);
    case ISA_CRND_RP: return v > most;
    case ISA_CRND_RM: return v < -most;
    default: return false; /* rounding towards zero gives the largest finite value, not an infinity */
    }
}

/** Returns true if the source of a conversion to an integer is out of range, or a NaN. */
static bool out_of_range(const struct emu_hook_site *site, unsigned lane)
{
    static const struct {
        double low, beyond;
    } ranges[] = {[ISA_DT_U8] = {0, 256}, [ISA_DT_S8] = {-128, 128}, [ISA_DT_U16] = {0, 65536},
                  [ISA_DT_S16] = {-32768, 32768}, [ISA_DT_U32] = {0, 4294967296.0},
                  [ISA_DT_S32] = {-2147483648.0, 2147483648.0}, [ISA_DT_U64] = {0, 18446744073709551616.0},
                  [ISA_DT_S64] = {-9223372036854775808.0, 9223372036854775808.0}};
    const unsigned from = isa_mod_get(site->insn, ISA_MOD_STYPE), to = isa_mod_get(site->insn, ISA_MOD_DTYPE);
    const unsigned bits = from == ISA_DT_F64 ? 64 : 32;
    double v = number(operand_x(site, bits / 32, bits == 64, lane), bits, 0);

    /* A value is in range if its integer part is. So a value above low - 1 is in range, for example -0.5 for an unsigned type.
     * For large types low - 1 may round to low, so the test also accepts the lower limit itself. */
    return !((v > ranges[to].low - 1 || v >= ranges[to].low) && v < ranges[to].beyond);
}

/* ---- results that a select discards ---------------------------------------------------------- */

/** State of the analysis of the straight-line code after a checked instruction, for one lane. */
struct ahead {
    const struct emu_hook_site *site; /* the instruction that the analysis has reached; the registers of the machine still
                                       * have the values from before the checked instruction */
    unsigned lane;
    uint64_t vector[4];     /* bits of the vector registers written since the checked instruction */
    bool scalar;            /* a scalar register was written since then */
    uint8_t written, known, value; /* bits of the predicates: written since then; value known; the value */
};

static bool overlap(unsigned a, unsigned n, unsigned b, unsigned m)
{
    return a < b + m && b < a + n;
}

/** Returns the result of the comparison at k->site, whose sources have not been written since the checked instruction. */
static bool outcome(const struct ahead *k)
{
    const struct isa_insn *insn = k->site->insn;
    const unsigned how = isa_mod_get(insn, ISA_MOD_CMP);
    const bool is_float = insn->op == ISA_V_SETP_F32 || insn->op == ISA_V_SETP_F64;
    const unsigned words = insn->op == ISA_V_SETP_F64 || insn->op == ISA_V_SETP_U64 || insn->op == ISA_V_SETP_S64 ? 2 : 1;
    double v[3];

    if (is_float) {
        floats(k->site, 32 * words, false, false, k->lane, v);
        return chk_ordered(how, v[0], v[1]);
    }
    return chk_compare(insn, reg(k->site, !insn->a_scalar, insn->a, words, k->lane),
                       operand_x(k->site, words, false, k->lane));
}

static bool is_plain_compare(const struct isa_insn *insn)
{
    switch (insn->op) {
    case ISA_V_SETP_F32:
    case ISA_V_SETP_F64:
        return isa_mod_get(insn, ISA_MOD_BOOL) == ISA_BOOL_NONE && isa_mod_get(insn, ISA_MOD_CMPFTZ) == 0;
    case ISA_V_SETP_U32:
    case ISA_V_SETP_S32:
    case ISA_V_SETP_U64:
    case ISA_V_SETP_S64:
        return isa_mod_get(insn, ISA_MOD_BOOL) == ISA_BOOL_NONE && isa_insn_srcmod(insn, 0) == 0 &&
               isa_insn_srcmod(insn, 1) == 0;
    default: return false;
    }
}

/** Gets a predicate of the lane. Returns false if the value of the predicate is not known. */
static bool predicate(const struct ahead *k, unsigned p, bool *value)
{
    uint64_t lanes = ~UINT64_C(0);

    if (p == ISA_PT || !(k->written >> p & 1)) {
        if (p != ISA_PT)
            (void)emu_reg_read(k->site->core, k->site->slot, k->site->warp, ISA_REG_P, p, 0, &lanes);
        *value = lanes >> k->lane & 1;
        return true;
    }
    *value = k->value >> p & 1;
    return k->known >> p & 1;
}

/** Returns false if k->site is a select that chooses another source than registers [d, d + n), in which case the select reads
 *  these registers but discards their values. Otherwise returns true. */
static bool takes(const struct ahead *k, unsigned d, unsigned n)
{
    const struct isa_insn *insn = k->site->insn;
    const unsigned words = insn->op == ISA_V_SELP_B64 ? 2 : 1;
    bool first;

    if ((insn->op != ISA_V_SELP_B32 && insn->op != ISA_V_SELP_B64) || insn->guard != ISA_PT || insn->guard_neg ||
        !predicate(k, isa_insn_r(insn), &first))
        return true;
    if (first != isa_insn_r_neg(insn))
        return !insn->a_scalar && overlap(insn->a, words, d, n);
    return insn->xkind == ISA_X_VECTOR && overlap(insn->x & 255, words, d, n);
}

bool chk_arith_takes(const struct emu_hook_site *site, unsigned lane, unsigned d, unsigned n)
{
    const struct ahead k = {.site = site, .lane = lane};

    return takes(&k, d, n);
}

/** Returns true if select instructions discard the lane's result. This is the case if at least one instruction reads the
 *  result, every such instruction is a select that chooses its other source, and the result is dead or overwritten before the
 *  straight-line code ends. A compiler generates such selects when it moves an instruction before its guard (speculation), or
 *  when the source clamps the result. */
static bool dropped(struct chk_fp_taint *taint, const struct emu_hook_site *site, unsigned lane)
{
    enum { FAR = 32 };
    const struct isa_object *object = emu_program_object(site->program);
    struct emu_hook_site at = *site;
    struct ahead k = {.site = &at, .lane = lane};
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned d = 0, n = 0, count = isa_insn_uses(site->insn, use);
    bool chosen = false;

    for (unsigned i = 0; i < count; i++)
        if (use[i].written && use[i].reg_class == ISA_REG_V) {
            d = use[i].first;
            n = use[i].count;
        }
    if (n == 0)
        return false;
    const struct init_set *live = chk_fp_taint_live(taint, site->program);
    for (unsigned i = d; i < d + n; i++)
        k.vector[i / 64] |= UINT64_C(1) << i % 64;
    for (unsigned i = 1; i <= FAR && live != NULL && site->index + i < object->text_count; i++) {
        bool may = false, same = true, reads = false;

        for (unsigned r = d; r < d + n; r++) {
            const struct isa_reg_use one = {.reg_class = ISA_REG_V, .first = (uint8_t)r, .count = 1};
            may |= init_set_has(&live[site->index + i], isa_reg_number(&one));
        }
        if (!may)
            /* No later instruction reads the value. The value was discarded only if a select has read it and chosen its
             * other source. */
            return chosen;
        at.index = site->index + i;
        at.insn = chk_insn_at(site->program, at.index);
        if (isa_op_info((enum isa_op)at.insn->op)->flags & (ISA_F_CONTROL | ISA_F_BRANCH | ISA_F_CALL | ISA_F_BARRIER))
            return false;
        count = isa_insn_uses(at.insn, use);
        for (unsigned u = 0; u < count; u++) {
            if (use[u].written)
                continue;
            if (use[u].reg_class == ISA_REG_S || use[u].reg_class == ISA_REG_SP)
                same &= !k.scalar;
            for (unsigned r = use[u].first; use[u].reg_class == ISA_REG_V && r < use[u].first + use[u].count && r < 255; r++) {
                same &= !(k.vector[r / 64] >> r % 64 & 1);
                reads |= r >= d && r < d + n;
            }
        }
        if (reads && takes(&k, d, n))
            return false;
        chosen |= reads;
        const bool plain = same && is_plain_compare(at.insn) && at.insn->guard == ISA_PT && !at.insn->guard_neg;
        const bool yes = plain && outcome(&k);
        for (unsigned u = 0; u < count; u++) {
            if (!use[u].written)
                continue;
            for (unsigned r = use[u].first; r < use[u].first + use[u].count && r < 255; r++) {
                if (use[u].reg_class == ISA_REG_V) {
                    k.vector[r / 64] |= UINT64_C(1) << r % 64;
                    if (r >= d && r < d + n) /* the instruction overwrites the value or a part of it */
                        return chosen && use[u].first <= d && use[u].first + use[u].count >= d + n &&
                               at.insn->guard == ISA_PT && !at.insn->guard_neg &&
                               !(isa_op_info((enum isa_op)at.insn->op)->flags & ISA_F_SCALAR);
                } else if (use[u].reg_class == ISA_REG_P && r < ISA_PT) {
                    const uint8_t bit = (uint8_t)(1u << r);
                    const bool value = yes == (r == isa_insn_p(at.insn));
                    k.written |= bit;
                    k.known = (uint8_t)(plain ? k.known | bit : k.known & ~bit);
                    k.value = (uint8_t)(value ? k.value | bit : k.value & ~bit);
                } else {
                    k.scalar = true;
                }
            }
        }
    }
    return false;
}

void chk_arith_found(struct chk *chk, enum chk_kind kind, const struct emu_hook_site *site, uint32_t index,
                     uint64_t caller, uint64_t lanes)
{
    const uint64_t pc = emu_program_base(site->program) + (uint64_t)index * ISA_WORD_BYTES;
    struct chk_finding f = chk_finding_of(kind, lw_popcount(lanes));
    struct lw_buffer text;

    chk_location_at(chk, site->grid->sequence, site->block, site->warp, lanes, pc, &f.location);
    f.location.caller = caller != 0 ? caller : f.location.caller;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%s: %s", isa_op_info((enum isa_op)chk_insn_at(site->program, index)->op)->mnemonic,
              chk_kinds[kind].summary);
    (void)chk_add_text(chk, &f, &text);
}

/** Reports a finding immediately or, with @late, when the result leaves the library function that computes it. */
static void found(struct chk_fp_taint *taint, enum chk_kind kind, const struct emu_hook_site *site, uint64_t lanes, bool late)
{
    struct chk *chk = chk_of_state(taint);

    if (lanes == 0 || !is_enabled(chk, kind))
        return;
    if (late)
        chk_fp_taint_generated(taint, site, kind, lanes);
    else
        chk_arith_found(chk, kind, site, site->index, 0, lanes);
}

void chk_arith_insn(void *state, const struct emu_hook_site *site)
{
    struct chk_fp_taint *taint = state;
    const struct row *row = &rows[site->insn->op];
    const bool is_scalar = isa_op_info((enum isa_op)site->insn->op)->flags & ISA_F_SCALAR;
    const bool makes_float = row->test == CONVERT && isa_mod_get(site->insn, ISA_MOD_DTYPE) >= ISA_DT_F16;
    uint64_t lanes[3] = {0};
    bool late = false;

    if (row->test == NO_TEST || !chk_arith_wants(state, site->program, site->index, site->insn))
        return;
    for (LW_EACH_BIT(lane, is_scalar ? site->split_lanes & (0 - site->split_lanes) : site->lanes)) {
        const unsigned l = (unsigned)lane;
        int what;
        switch ((enum test)row->test) {
        case DIVIDE: what = operand_x(site, row->bits / 32, false, l) == 0; break;
        case SHIFT: what = (uint32_t)operand_x(site, 1, false, l) >= row->bits; break;
        case CONVERT: what = makes_float ? narrowed(site, l) : out_of_range(site, l); break;
        default: what = result_of(site, row, l); break;
        }
        lanes[what] |= UINT64_C(1) << lane;
    }
    if ((lanes[1] | lanes[2]) == 0)
        return;
    /* Library functions contain no unchecked integer division, so the division belongs to the kernel. */
    late = row->test != DIVIDE && chk_fp_taint_reads(taint, site);
    for (LW_EACH_BIT(l, late || is_scalar ? 0 : lanes[1] | lanes[2]))
        if (dropped(taint, site, (unsigned)l)) {
            lanes[1] &= ~(UINT64_C(1) << l);
            lanes[2] &= ~(UINT64_C(1) << l);
        }
    if (late && !is_scalar && chk_fp_taint_begin(taint, site))
        return;
    switch ((enum test)row->test) {
    case DIVIDE: found(taint, CHK_DIVISION, site, lanes[1], false); break;
    case SHIFT: found(taint, CHK_SHIFT, site, lanes[1], late); break;
    case CONVERT: found(taint, makes_float ? CHK_INFINITY : CHK_CONVERSION, site, lanes[1], late); break;
    default:
        found(taint, CHK_INFINITY, site, lanes[1], late);
        found(taint, CHK_NAN, site, lanes[2], late);
        break;
    }
}
