/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of arithmetic that needs several machine instructions or has several types: carry chains, 24-bit products,
 * dot products, saturation, bit masks, classification of floats. */
#include "ptx/select/ptx_select_priv.h"

static void refuse_type(struct ptx_sel *sel, enum ptx_type type)
{
    ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
}

/* ---- carry chains -------------------------------------------------------------- */

/* Returns the predicate of the function that is PTX's condition code. The condition code is always a carry: a subtraction
 * computes a + ~b + carry, so 1 means "no borrow". The hardware computes borrows in this way, and nvcc relies on that when
 * it writes sub.cc before addc. The PTX manual says instead that sub.cc writes a borrow. See docs/reference/ptx-support.md. */
static ptx_ref carry_flag(struct ptx_sel *sel)
{
    if (!sel->unit->has_carry) {
        sel->unit->carry = ptx_sel_temp(sel, 0);
        sel->unit->has_carry = true;
    }
    return sel->unit->carry;
}

/* Emits d = a + b + in, or a + ~b + in, for one word. PTX_NO_REF as @in: no carry in; as @out: no carry out. */
static void put_word(struct ptx_sel *sel, bool minus, ptx_ref d, ptx_ref a, ptx_ref b, ptx_ref in,
                     ptx_ref out)
{
    struct ptx_mi *mi = ptx_sel_put(sel, minus ? ISA_V_SUBC_U32 : ISA_V_ADDC_U32, d, a, b,
                                    PTX_NO_REF, 1);

    mi->ref[PTX_S_P] = out;
    mi->ref[PTX_S_R] = in == PTX_NO_REF ? PTX_ZERO : in; /* predicate pt is a constant carry of 1 */
    if (in == PTX_NO_REF && !minus)
        ptx_mi_negate(mi, PTX_S_R, true);
}

/* Emits an addition or subtraction of one or two words that reads or writes the condition code. */
static void put_chain(struct ptx_sel *sel, bool minus, ptx_ref d, ptx_ref a, ptx_ref b,
                      unsigned rows, bool reads, bool writes)
{
    ptx_ref in = reads ? carry_flag(sel) : PTX_NO_REF;
    ptx_ref out = writes ? carry_flag(sel) : PTX_NO_REF, low;
    ptx_ref whole = rows == 2 ? ptx_sel_temp(sel, 2) : d; /* a temporary pair, because @d may be the same pair as @a or @b */

    if (rows == 2) {
        low = ptx_sel_temp(sel, 0);
        put_word(sel, minus, whole, a, b, in, low);
        put_word(sel, minus, whole + 1, a == PTX_ZERO ? a : a + 1, b == PTX_ZERO ? b : b + 1, low,
                 out);
        sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
        ptx_sel_move(sel, d, whole, 2);
    } else {
        put_word(sel, minus, d, a, b, in, out);
    }
}

static bool is_chain_type(enum ptx_type type)
{
    return type == PTX_T_U32 || type == PTX_T_S32 || type == PTX_T_B32 || type == PTX_T_U64 ||
           type == PTX_T_S64 || type == PTX_T_B64;
}

/* Selects add and sub with .cc or .sat, addc and subc. */
void ptx_rule_addsub(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool minus = sel->in.op == PTX_SUB || sel->in.op == PTX_SUBC;
    bool reads = sel->in.op == PTX_ADDC || sel->in.op == PTX_SUBC;
    bool writes = ptx_take(&sel->in, PTX_W_CC);
    unsigned rows = ptx_type_rows(type);

    if (!reads && !writes && (type == PTX_T_U16X2 || type == PTX_T_S16X2)) {
        ptx_rule_packed_integers(sel);
        return;
    }
    if (sel->in.type_count == 2) {
        ptx_rule_mixed(sel);
        return;
    }
    if (!reads && !writes && type == PTX_T_S32 && ptx_take(&sel->in, PTX_W_SAT)) {
        ptx_sel_operands(sel, 3, 3);
        ptx_ref a = ptx_sel_source(sel, 1, type), x = ptx_sel_source(sel, 2, type);

        ptx_sel_put(sel, minus ? ISA_V_SUBSAT_S32 : ISA_V_ADDSAT_S32,
                    ptx_sel_dest(sel, &sel->in.operand[0], type), a, x, PTX_NO_REF, 1);
        return;
    }
    if (!reads && !writes) {
        ptx_rule_alu(sel);
        return;
    }
    if (!is_chain_type(type))
        refuse_type(sel, type);
    ptx_sel_operands(sel, 3, 3);
    ptx_ref a = ptx_sel_source(sel, 1, type), b = ptx_sel_source(sel, 2, type);

    put_chain(sel, minus, ptx_sel_dest(sel, &sel->in.operand[0], type), a, b, rows, reads, writes);
}

/* Selects add, sub and fma with .f32.f16 and .f32.bf16: a, and for fma b, are converted to float exactly; the last
 * operand is a float. */
void ptx_rule_mixed(struct ptx_sel *sel)
{
    bool three = sel->in.op == PTX_FMA;
    enum ptx_type narrow;
    unsigned n = three ? 3 : 2;
    ptx_ref s[3] = { PTX_NO_REF, PTX_NO_REF, PTX_NO_REF };
    struct ptx_mi *mi;

    if (sel->in.type_count != 2) {
        ptx_rule_alu(sel);
        return;
    }
    narrow = ptx_sel_type(sel, 1);
    ptx_sel_operands(sel, n + 1, n + 1);
    for (unsigned i = 0; i < n; i++) {
        bool last = i == n - 1;

        s[i] = ptx_sel_source(sel, i + 1, last ? PTX_T_F32 : narrow);
        if (!last && s[i] != PTX_ZERO) {
            ptx_ref wide = ptx_sel_temp(sel, 1);

            mi = ptx_sel_put(sel, ISA_V_CVT, wide, PTX_NO_REF, s[i], PTX_NO_REF, 1);
            isa_mod_set(&mi->in, ISA_MOD_DTYPE, ISA_DT_F32);
            isa_mod_set(&mi->in, ISA_MOD_STYPE, narrow == PTX_T_F16 ? ISA_ST_F16 : ISA_ST_BF16);
            s[i] = wide;
        }
    }
    mi = ptx_sel_put(sel, three ? ISA_V_FMA_F32 : sel->in.op == PTX_ADD ? ISA_V_ADD_F32 : ISA_V_SUB_F32,
                     ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_F32), s[0], s[1], s[2], 1);
    isa_mod_set(&mi->in, ISA_MOD_RND, ptx_take_rounding(&sel->in, false, ISA_RND_RN));
    if (ptx_take(&sel->in, PTX_W_SAT))
        isa_mod_set(&mi->in, ISA_MOD_SAT, ISA_SAT_ON);
}

/* Selects mul.hi and mad.hi of 16 bits, wider mad.hi, mad with .sat or .cc, and madc as product and sum. */
void ptx_rule_mulmad(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool mad = sel->in.op != PTX_MUL, reads = sel->in.op == PTX_MADC;
    bool writes = mad && ptx_take(&sel->in, PTX_W_CC);
    bool narrow = type == PTX_T_U16 || type == PTX_T_S16, high = ptx_has(&sel->in, PTX_W_HI);
    unsigned rows = ptx_type_rows(type);
    ptx_ref t, d, c;

    if (!reads && !writes && !(high && (narrow || mad))) {
        ptx_rule_alu(sel);
        return;
    }
    (void)ptx_take(&sel->in, PTX_W_HI);
    if (!high && !ptx_take(&sel->in, PTX_W_LO))
        ptx_sel_fail(sel, LW_EINPUT, "'.hi' or '.lo' is missing");
    if ((reads || writes) && !is_chain_type(type))
        refuse_type(sel, type);
    ptx_sel_operands(sel, mad ? 4 : 3, mad ? 4 : 3);
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    t = ptx_sel_temp(sel, rows);
    if (narrow) {
        ptx_ref a = ptx_sel_extended(sel, 1, type), x = ptx_sel_extended(sel, 2, type);
        ptx_ref p = ptx_sel_temp(sel, 1), by = ptx_sel_literal(sel, 16);

        ptx_sel_put(sel, ISA_V_MUL_U32, p, a, x, PTX_NO_REF, 1);
        ptx_sel_put(sel, type == PTX_T_S16 ? ISA_V_SHR_S32 : ISA_V_SHR_U32, mad ? t : d, p, by,
                    PTX_NO_REF, 1);
    } else {
        enum isa_op op = !high ? (rows == 2 ? ISA_V_MUL_U64 : ISA_V_MUL_U32)
                         : type == PTX_T_U32 ? ISA_V_MULHI_U32
                         : type == PTX_T_S32 ? ISA_V_MULHI_S32
                         : type == PTX_T_U64 ? ISA_V_MULHI_U64
                         : type == PTX_T_S64 ? ISA_V_MULHI_S64
                                             : ISA_OP_NONE;

        if (op == ISA_OP_NONE)
            ptx_sel_fail(sel, LW_EUNSUPP, "'.hi' is not supported for type .%s", ptx_type_name(type));
        ptx_ref a = ptx_sel_source(sel, 1, type), x = ptx_sel_source(sel, 2, type);

        ptx_sel_put(sel, op, t, a, x, PTX_NO_REF, rows);
    }
    if (!mad)
        return;
    c = ptx_sel_source(sel, 3, type);
    if (reads || writes)
        put_chain(sel, false, d, t, c, rows, reads, writes);
    else if (type == PTX_T_S32 && ptx_take(&sel->in, PTX_W_SAT))
        ptx_sel_put(sel, ISA_V_ADDSAT_S32, d, t, c, PTX_NO_REF, 1);
    else
        ptx_sel_put(sel, rows == 2 ? ISA_V_ADD_U64 : ISA_V_ADD_U32, d, t, c, PTX_NO_REF, rows);
}

/* ---- 24 bits, sums of differences, dot products ---------------------------------- */

void ptx_rule_mul24(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool mad = sel->in.op == PTX_MAD24, is_signed = type == PTX_T_S32;
    bool high = ptx_take(&sel->in, PTX_W_HI), low = ptx_take(&sel->in, PTX_W_LO);
    bool sat = mad && high && is_signed && ptx_take(&sel->in, PTX_W_SAT);
    ptx_ref a[2], field, d, t;
    struct ptx_mi *mi;

    if (type != PTX_T_U32 && !is_signed)
        refuse_type(sel, type);
    if (high == low)
        ptx_sel_fail(sel, LW_EINPUT, "'.hi' or '.lo' is missing");
    ptx_sel_operands(sel, mad ? 4 : 3, mad ? 4 : 3);
    field = ptx_sel_literal(sel, 24 << 8);
    for (unsigned k = 0; k < 2; k++) {
        ptx_ref s = ptx_sel_source(sel, k + 1, type);

        a[k] = ptx_sel_temp(sel, 1);
        ptx_sel_put(sel, is_signed ? ISA_V_BFE_S32 : ISA_V_BFE_U32, a[k], s, field, PTX_NO_REF, 1);
    }
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    t = mad ? ptx_sel_temp(sel, 1) : d;
    if (low) {
        ptx_sel_put(sel, ISA_V_MUL_U32, t, a[0], a[1], PTX_NO_REF, 1);
    } else { /* the result is bits 47:16 of the product */
        ptx_ref wide = ptx_sel_temp(sel, 2), by = ptx_sel_literal(sel, 16);

        mi = ptx_sel_put(sel, is_signed ? ISA_V_MULWIDE_S32 : ISA_V_MULWIDE_U32, wide, a[0], a[1],
                         PTX_NO_REF, 1);
        mi->rows[PTX_S_D] = 2;
        ptx_sel_put(sel, ISA_V_SHFR_B32, t, wide, wide + 1, by, 1);
    }
    if (mad)
        ptx_sel_put(sel, sat ? ISA_V_ADDSAT_S32 : ISA_V_ADD_U32, d, t, ptx_sel_source(sel, 3, type),
                    PTX_NO_REF, 1);
}

void ptx_rule_sad(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool is_signed = type == PTX_T_S16 || type == PTX_T_S32 || type == PTX_T_S64;
    bool is_unsigned = type == PTX_T_U16 || type == PTX_T_U32 || type == PTX_T_U64;
    unsigned rows = ptx_type_rows(type);
    ptx_ref a, b, c, d;

    if (!is_signed && !is_unsigned)
        refuse_type(sel, type);
    ptx_sel_operands(sel, 4, 4);
    a = ptx_sel_extended(sel, 1, type);
    b = ptx_sel_extended(sel, 2, type);
    c = ptx_sel_source(sel, 3, type);
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    if (rows == 1) {
        ptx_sel_put(sel, is_signed ? ISA_V_SAD_S32 : ISA_V_SAD_U32, d, a, b, c, 1);
        return;
    }
    ptx_ref most = ptx_sel_temp(sel, 2), least = ptx_sel_temp(sel, 2), t = ptx_sel_temp(sel, 2);

    ptx_sel_put(sel, is_signed ? ISA_V_MAX_S64 : ISA_V_MAX_U64, most, a, b, PTX_NO_REF, 2);
    ptx_sel_put(sel, is_signed ? ISA_V_MIN_S64 : ISA_V_MIN_U64, least, a, b, PTX_NO_REF, 2);
    ptx_sel_put(sel, ISA_V_SUB_U64, t, most, least, PTX_NO_REF, 2);
    ptx_sel_put(sel, ISA_V_ADD_U64, d, t, c, PTX_NO_REF, 2);
}

void ptx_rule_dot(struct ptx_sel *sel)
{
    static const uint16_t rows[2][2][2] = { /* indexed by [dp2a][a signed][b signed] */
        { { ISA_V_DP4A_U32, ISA_V_DP4A_US32 }, { ISA_V_DP4A_SU32, ISA_V_DP4A_S32 } },
        { { ISA_V_DP2A_U32, ISA_V_DP2A_US32 }, { ISA_V_DP2A_SU32, ISA_V_DP2A_S32 } },
    };
    enum ptx_type of_a = ptx_sel_type(sel, 0), of_b = ptx_sel_type(sel, 1);
    bool two = sel->in.op == PTX_DP2A;
    bool high = two && ptx_take(&sel->in, PTX_W_HI), low = two && ptx_take(&sel->in, PTX_W_LO);
    ptx_ref a, b, c;

    if (two && high == low)
        ptx_sel_fail(sel, LW_EINPUT, "'.hi' or '.lo' is missing");
    if (of_a != PTX_T_U32 && of_a != PTX_T_S32)
        refuse_type(sel, of_a);
    if (of_b != PTX_T_U32 && of_b != PTX_T_S32)
        refuse_type(sel, of_b);
    ptx_sel_operands(sel, 4, 4);
    a = ptx_sel_source(sel, 1, of_a);
    b = ptx_sel_source(sel, 2, of_b);
    c = ptx_sel_source(sel, 3, PTX_T_B32);
    if (high) {
        ptx_ref t = ptx_sel_temp(sel, 1), by = ptx_sel_literal(sel, 16);

        ptx_sel_put(sel, ISA_V_SHR_U32, t, b, by, PTX_NO_REF, 1);
        b = t;
    }
    ptx_sel_put(sel, (enum isa_op)rows[two][of_a == PTX_T_S32][of_b == PTX_T_S32],
                ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_U32), a, b, c, 1);
}

/* Selects min and max of s32 with .relu. */
void ptx_rule_minmax(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    ptx_ref a, x, t;

    if (type == PTX_T_U16X2 || type == PTX_T_S16X2) {
        ptx_rule_packed_integers(sel);
        return;
    }
    if (type != PTX_T_S32 || !ptx_take(&sel->in, PTX_W_RELU)) {
        ptx_rule_alu(sel);
        return;
    }
    ptx_sel_operands(sel, 3, 3);
    a = ptx_sel_source(sel, 1, type);
    x = ptx_sel_source(sel, 2, type);
    t = ptx_sel_temp(sel, 1);
    ptx_sel_put(sel, sel->in.op == PTX_MIN ? ISA_V_MIN_S32 : ISA_V_MAX_S32, t, a, x, PTX_NO_REF, 1);
    ptx_sel_put(sel, ISA_V_MAX_S32, ptx_sel_dest(sel, &sel->in.operand[0], type), t, PTX_ZERO,
                PTX_NO_REF, 1);
}

/* ---- bits ------------------------------------------------------------------------- */

/* Selects bmsk and szext. Our instructions clamp their operands, so for .wrap the low five bits of the operands are
 * extracted first. */
void ptx_rule_mask(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool bmsk = sel->in.op == PTX_BMSK;
    bool wrap = ptx_take(&sel->in, PTX_W_WRAP), clamp = ptx_take(&sel->in, PTX_W_CLAMP);
    ptx_ref source[2];

    if (bmsk ? type != PTX_T_B32 : type != PTX_T_U32 && type != PTX_T_S32)
        refuse_type(sel, type);
    if (wrap == clamp)
        ptx_sel_fail(sel, LW_EINPUT, "'.clamp' or '.wrap' is missing");
    ptx_sel_operands(sel, 3, 3);
    for (unsigned k = 0; k < 2; k++) {
        source[k] = ptx_sel_source(sel, k + 1, PTX_T_B32);
        if (wrap && (bmsk || k == 1)) {
            ptx_ref t = ptx_sel_temp(sel, 1), low = ptx_sel_literal(sel, 31);

            ptx_sel_put(sel, ISA_V_AND_B32, t, source[k], low, PTX_NO_REF, 1);
            source[k] = t;
        }
    }
    ptx_sel_put(sel, bmsk ? ISA_V_BMSK_B32 : type == PTX_T_S32 ? ISA_V_SZEXT_S32 : ISA_V_SZEXT_U32,
                ptx_sel_dest(sel, &sel->in.operand[0], type), source[0], source[1], PTX_NO_REF, 1);
}

void ptx_rule_fns(struct ptx_sel *sel)
{
    ptx_ref mask, base, offset;

    ptx_sel_operands(sel, 4, 4);
    if (ptx_sel_type(sel, 0) != PTX_T_B32)
        refuse_type(sel, ptx_sel_type(sel, 0));
    mask = ptx_sel_source(sel, 1, PTX_T_B32);
    base = ptx_sel_source(sel, 2, PTX_T_B32);
    offset = ptx_sel_source(sel, 3, PTX_T_B32);
    ptx_sel_put(sel, ISA_V_FNS_B32, ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_B32), mask, base, offset,
                1);
}

/* ---- floats ----------------------------------------------------------------------- */

/* Selects rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64. These instructions compute the high word of the result from the high
 * word of the source. The low word of the result is 0. */
void ptx_rule_reciprocal(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    ptx_ref a, d, t;

    if (type != PTX_T_F64 || !ptx_has(&sel->in, PTX_W_APPROX) || !ptx_has(&sel->in, PTX_W_FTZ)) {
        if (type == PTX_T_F64 && sel->in.op == PTX_RCP && ptx_has(&sel->in, PTX_W_APPROX))
            ptx_sel_fail(sel, LW_EINPUT, "'.approx' of .f64 needs '.ftz'");
        ptx_rule_alu(sel);
        return;
    }
    (void)ptx_take(&sel->in, PTX_W_APPROX);
    (void)ptx_take(&sel->in, PTX_W_FTZ);
    ptx_sel_operands(sel, 2, 2);
    a = ptx_sel_source(sel, 1, type);
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    t = ptx_sel_temp(sel, 2);
    ptx_sel_imm(sel, t, 1, 0);
    ptx_sel_put(sel, sel->in.op == PTX_RCP ? ISA_V_RCP64H : ISA_V_RSQ64H, t + 1, PTX_NO_REF,
                a == PTX_ZERO ? a : a + 1, PTX_NO_REF, 1);
    sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
    ptx_sel_move(sel, d, t, 2);
}

/* Selects testp by comparing the magnitude as an integer. PTX counts zeros as normal, but not denormals. */
void ptx_rule_testp(struct ptx_sel *sel)
{
    static const struct {
        uint8_t word, comparison;
        bool least; /* true: the comparison is with the least normal number; false: with infinity */
    } tests[] = {
        { PTX_W_FINITE, ISA_CMP_LT, false },     { PTX_W_INFINITE, ISA_CMP_EQ, false },
        { PTX_W_NUMBER, ISA_CMP_LE, false },     { PTX_W_NOTANUMBER, ISA_CMP_GT, false },
        { PTX_W_NORMAL, ISA_CMP_LT, false },     { PTX_W_SUBNORMAL, ISA_CMP_LT, true },
    };
    enum ptx_type type = ptx_sel_type(sel, 0);
    unsigned rows = ptx_type_rows(type), test = LW_COUNT_OF(tests);
    bool wide = type == PTX_T_F64;
    uint64_t infinity = wide ? UINT64_C(0x7ff0000000000000) : 0x7f800000;
    uint64_t least = wide ? UINT64_C(0x0010000000000000) : 0x00800000;
    ptx_ref a, magnitude, limit, p, q;
    struct ptx_mi *mi;

    if (type != PTX_T_F32 && !wide)
        refuse_type(sel, type);
    for (unsigned i = 0; i < LW_COUNT_OF(tests); i++) {
        if (ptx_take(&sel->in, (enum ptx_word)tests[i].word))
            test = i;
    }
    if (test == LW_COUNT_OF(tests))
        ptx_sel_fail(sel, LW_EINPUT, "the property to test is missing, such as .finite");
    ptx_sel_operands(sel, 2, 2);
    a = ptx_sel_source(sel, 1, type);
    p = ptx_sel_pred_dest(sel, &sel->in.operand[0]);
    magnitude = ptx_sel_temp(sel, rows);
    ptx_sel_put(sel, wide ? ISA_V_ABS_F64 : ISA_V_ABS_F32, magnitude, PTX_NO_REF, a, PTX_NO_REF,
                rows);
    bool normal = tests[test].word == PTX_W_NORMAL, small = tests[test].least;

    /* A denormal has a magnitude from 1 to least - 1. Subtracting 1 turns zero into the largest number, so that one
     * unsigned comparison with least - 1 finds denormals. A normal number must also be below infinity. */
    limit = ptx_sel_temp(sel, rows);
    q = PTX_ZERO;
    if (normal || small) {
        ptx_ref t = ptx_sel_temp(sel, rows), one = ptx_sel_temp(sel, rows);

        ptx_sel_imm(sel, one, rows, 1);
        ptx_sel_put(sel, wide ? ISA_V_SUB_U64 : ISA_V_SUB_U32, t, magnitude, one, PTX_NO_REF, rows);
        ptx_sel_imm(sel, limit, rows, least - 1);
        mi = ptx_sel_put(sel, wide ? ISA_V_SETP_U64 : ISA_V_SETP_U32, PTX_NO_REF, t, limit,
                         PTX_NO_REF, rows);
        isa_mod_set(&mi->in, ISA_MOD_CMP, small ? ISA_CMP_LT : ISA_CMP_GE);
        mi->ref[PTX_S_R] = PTX_ZERO;
        if (small) {
            mi->ref[PTX_S_P] = p;
            return;
        }
        size_t at = sel->unit->code.count - 1;

        q = ptx_sel_temp(sel, 0);
        sel->unit->code.at[at].ref[PTX_S_P] = q;
        limit = ptx_sel_temp(sel, rows);
    }
    ptx_sel_imm(sel, limit, rows, infinity);
    mi = ptx_sel_put(sel, wide ? ISA_V_SETP_U64 : ISA_V_SETP_U32, PTX_NO_REF, magnitude, limit,
                     PTX_NO_REF, rows);
    isa_mod_set(&mi->in, ISA_MOD_CMP, tests[test].comparison);
    isa_mod_set(&mi->in, ISA_MOD_BOOL, normal ? ISA_BOOL_AND : ISA_BOOL_NONE);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = q;
}

/* Applies .satfinite: clamps to the largest finite half; NaN stays NaN. The limit is exact as a half, so the following
 * conversion does not round it to infinity. */
static ptx_ref clamp_to_half(struct ptx_sel *sel, ptx_ref s, bool bf)
{
    uint32_t most = bf ? 0x7f7f0000 : 0x477fe000;

    for (unsigned k = 0; k < 2; k++) {
        ptx_ref d = ptx_sel_temp(sel, 1), limit = ptx_sel_literal(sel, most | k << 31);
        struct ptx_mi *mi = ptx_sel_put(sel, k == 0 ? ISA_V_MIN_F32 : ISA_V_MAX_F32, d, s, limit,
                                        PTX_NO_REF, 1);

        isa_mod_set(&mi->in, ISA_MOD_MNAN, ISA_MNAN_ON);
        s = d;
    }
    return s;
}

/* Selects cvt to .tf32, which rounds to 10 bits of mantissa and clears the 13 bits below them. The rounding is an integer
 * addition, whose carry increments the exponent, also of a denormal and up to infinity. NaN becomes the canonical NaN. */
void ptx_rule_cvt_tf32(struct ptx_sel *sel)
{
    bool relu = ptx_take(&sel->in, PTX_W_RELU), finite = ptx_take(&sel->in, PTX_W_SATFINITE);
    bool away = ptx_take(&sel->in, PTX_W_RNA), even = ptx_take(&sel->in, PTX_W_RN);
    ptx_ref s, t, d, p = ptx_sel_temp(sel, 0);
    struct ptx_mi *mi;

    if (!away && !even)
        (void)ptx_take(&sel->in, PTX_W_RZ);
    ptx_sel_operands(sel, 2, 2);
    s = ptx_sel_source(sel, 1, PTX_T_F32);
    mi = ptx_sel_put(sel, ISA_V_SETP_F32, PTX_NO_REF, s, s, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_NAN);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    if (relu) {
        t = ptx_sel_temp(sel, 1);
        ptx_sel_put(sel, ISA_V_MAX_F32, t, s, PTX_ZERO, PTX_NO_REF, 1);
        s = t;
    }
    if (even) { /* adds half a unit of the last place, less 1 if the last place is even, so that ties round to even */
        ptx_ref odd = ptx_sel_temp(sel, 1), half = ptx_sel_temp(sel, 1);

        ptx_sel_put(sel, ISA_V_BFE_U32, odd, s, ptx_sel_literal(sel, 13 | 1 << 8), PTX_NO_REF, 1);
        ptx_sel_put(sel, ISA_V_ADD_U32, half, odd, ptx_sel_literal(sel, 0xfff), PTX_NO_REF, 1);
        t = ptx_sel_temp(sel, 1);
        ptx_sel_put(sel, ISA_V_ADD_U32, t, s, half, PTX_NO_REF, 1);
        s = t;
    } else if (away) {
        t = ptx_sel_temp(sel, 1);
        ptx_sel_put(sel, ISA_V_ADD_U32, t, s, ptx_sel_literal(sel, 0x1000), PTX_NO_REF, 1);
        s = t;
    }
    t = ptx_sel_temp(sel, 1);
    ptx_sel_put(sel, ISA_V_AND_B32, t, s, ptx_sel_literal(sel, 0xffffe000u), PTX_NO_REF, 1);
    for (unsigned k = 0; finite && k < 2; k++) {
        ptx_ref limit = ptx_sel_literal(sel, 0x7f7fe000u | k << 31);

        s = t;
        t = ptx_sel_temp(sel, 1);
        ptx_sel_put(sel, k == 0 ? ISA_V_MIN_F32 : ISA_V_MAX_F32, t, s, limit, PTX_NO_REF, 1);
    }
    d = ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_TF32);
    mi = ptx_sel_put(sel, ISA_V_SELP_B32, d, ptx_sel_literal(sel, 0x7fffffff), t, PTX_NO_REF, 1);
    mi->ref[PTX_S_R] = p;
}

/* Conversion by cvt of an f32 to a 16-bit float: whether to bf16 or f16, whether with .relu and .satfinite, and the rounding. */
struct half_form {
    bool bf, relu, finite;
    unsigned rounding;
};
static ptx_ref to_half(struct ptx_sel *sel, ptx_ref s, const struct half_form *form)
{
    bool bf = form->bf;
    ptx_ref d, from = form->finite ? clamp_to_half(sel, s, bf) : s;
    struct ptx_mi *mi;

    d = ptx_sel_temp(sel, 1);
    mi = ptx_sel_put(sel, ISA_V_CVT, d, PTX_NO_REF, from, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_DTYPE, bf ? ISA_DT_BF16 : ISA_DT_F16);
    isa_mod_set(&mi->in, ISA_MOD_STYPE, ISA_ST_F32);
    isa_mod_set(&mi->in, ISA_MOD_CRND, form->rounding);
    if (form->relu) {
        ptx_ref r = ptx_sel_temp(sel, 1);

        mi = ptx_sel_put(sel, bf ? ISA_V_MAX_BF16 : ISA_V_MAX_F16, r, d, PTX_ZERO, PTX_NO_REF, 1);
        isa_mod_set(&mi->in, ISA_MOD_MNAN, ISA_MNAN_ON);
        d = r;
    }
    return d;
}
void ptx_rule_cvt_half(struct ptx_sel *sel)
{
    enum ptx_type to = ptx_sel_type(sel, 0), from = ptx_sel_type(sel, 1);
    bool packed = to == PTX_T_F16X2 || to == PTX_T_BF16X2;
    bool half = to == PTX_T_F16 || to == PTX_T_BF16;
    bool bf = to == PTX_T_BF16 || to == PTX_T_BF16X2;

    if (ptx_take(&sel->in, PTX_W_PACK)) {
        ptx_rule_cvt_pack(sel);
        return;
    }
    if (to == PTX_T_TF32) {
        ptx_rule_cvt_tf32(sel);
        return;
    }
    if (ptx_is_fp8x2(to) || ptx_is_fp8x2(from)) {
        ptx_rule_cvt_fp8(sel);
        return;
    }
    if (!packed && !(half && (ptx_has(&sel->in, PTX_W_RELU) ||
                              ptx_has(&sel->in, PTX_W_SATFINITE)))) {
        ptx_rule_cvt(sel);
        return;
    }
    bool relu = ptx_take(&sel->in, PTX_W_RELU), zero = ptx_take(&sel->in, PTX_W_RZ);
    bool nearest = ptx_take(&sel->in, PTX_W_RN);
    const struct half_form form = { bf, relu, ptx_take(&sel->in, PTX_W_SATFINITE),
                                    zero ? ISA_CRND_RZ : ISA_CRND_RN };

    if (from != PTX_T_F32)
        ptx_sel_fail(sel, LW_EUNSUPP, "a conversion from .%s to .%s is not supported", ptx_type_name(from),
                     ptx_type_name(to));
    if (zero == nearest)
        ptx_sel_fail(sel, LW_EINPUT, "the rounding '.rn' or '.rz' is missing");
    ptx_sel_operands(sel, packed ? 3 : 2, packed ? 3 : 2);
    if (!packed) {
        ptx_ref t = to_half(sel, ptx_sel_source(sel, 1, from), &form);

        ptx_sel_move(sel, ptx_sel_dest(sel, &sel->in.operand[0], to), t, 1);
        return;
    }
    ptx_ref high = to_half(sel, ptx_sel_source(sel, 1, from), &form);
    ptx_ref low = to_half(sel, ptx_sel_source(sel, 2, from), &form);
    ptx_ref selector = ptx_sel_literal(sel, 0x5410);

    ptx_sel_put(sel, ISA_V_PRMT_B32, ptx_sel_dest(sel, &sel->in.operand[0], to), low, selector, high,
                1);
}
