/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of packed operations: 16-bit integers, pairs of f32, cvt.pack, pairs of floats of 8 bits. */
#include "ptx/select/ptx_select_priv.h"

/* Emits d = four bytes selected from @a (0 to 3) and @b (4 to 7). */
static void put_bytes(struct ptx_sel *sel, ptx_ref d, ptx_ref a, ptx_ref b, uint32_t pick)
{
    ptx_sel_put(sel, ISA_V_PRMT_B32, d, a, ptx_sel_literal(sel, pick), b, 1);
}

/* Returns half @k of a register, extended to 32 bits. */
static ptx_ref half_of(struct ptx_sel *sel, ptx_ref s, unsigned k, bool is_signed)
{
    ptx_ref d;

    if (s == PTX_ZERO)
        return s;
    if (k == 0)
        return ptx_sel_extend(sel, s, is_signed ? PTX_T_S16 : PTX_T_U16);
    d = ptx_sel_temp(sel, 1);
    ptx_sel_put(sel, is_signed ? ISA_V_SHR_S32 : ISA_V_SHR_U32, d, s, ptx_sel_literal(sel, 16), PTX_NO_REF,
                1);
    return d;
}

void ptx_rule_packed_integers(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool is_signed = type == PTX_T_S16X2, relu, least = sel->in.op == PTX_MIN;
    ptx_ref a, x, part[2];

    if (sel->in.op == PTX_SUB)
        ptx_sel_fail(sel, LW_EINPUT, "type .%s has no subtraction", ptx_type_name(type));
    ptx_sel_operands(sel, 3, 3);
    a = ptx_sel_source(sel, 1, type);
    x = ptx_sel_source(sel, 2, type);
    relu = sel->in.op != PTX_ADD && is_signed && ptx_take(&sel->in, PTX_W_RELU);
    for (unsigned k = 0; k < 2; k++) {
        ptx_ref p = half_of(sel, a, k, is_signed), q = half_of(sel, x, k, is_signed);
        enum isa_op op = sel->in.op == PTX_ADD ? ISA_V_ADD_U32
                         : is_signed           ? (least ? ISA_V_MIN_S32 : ISA_V_MAX_S32)
                                               : (least ? ISA_V_MIN_U32 : ISA_V_MAX_U32);

        part[k] = ptx_sel_temp(sel, 1);
        ptx_sel_put(sel, op, part[k], p, q, PTX_NO_REF, 1);
        if (relu) {
            ptx_ref t = ptx_sel_temp(sel, 1);

            ptx_sel_put(sel, ISA_V_MAX_S32, t, part[k], PTX_ZERO, PTX_NO_REF, 1);
            part[k] = t;
        }
    }
    put_bytes(sel, ptx_sel_dest(sel, &sel->in.operand[0], type), part[0], part[1], 0x5410);
}

/* Selects vabsdiff2 and vabsdiff4: absolute differences of two shorts or four bytes. The result packs the differences;
 * with .add it is the sum of the differences and the last operand. */
void ptx_rule_vabsdiff(struct ptx_sel *sel)
{
    bool four = sel->in.op == PTX_VABSDIFF4, sum = ptx_take(&sel->in, PTX_W_ADD);
    bool is_signed = ptx_sel_type(sel, 1) == PTX_T_S32;
    unsigned n = four ? 4 : 2;
    ptx_ref a, b, part[4], last = PTX_ZERO, d;

    if (ptx_sel_type(sel, 2) != ptx_sel_type(sel, 1))
        ptx_sel_fail(sel, LW_EUNSUPP, "sources of two types are not supported");
    (void)ptx_sel_type(sel, 0);
    ptx_sel_operands(sel, 4, 4);
    a = ptx_sel_source(sel, 1, PTX_T_U32);
    b = ptx_sel_source(sel, 2, PTX_T_U32);
    if (sum)
        last = ptx_sel_source(sel, 3, PTX_T_U32);
    for (unsigned i = 0; i < n; i++) {
        unsigned low = four ? i : 2 * i, high = four ? i : 2 * i + 1;
        unsigned above = is_signed ? 8 | high : 4; /* digit of the selector for the sign byte of the source, or for a zero byte */
        uint32_t pick = low | (four ? above : high) << 4 | above << 8 | above << 12;
        ptx_ref x = ptx_sel_temp(sel, 1), y = ptx_sel_temp(sel, 1);

        put_bytes(sel, x, a, PTX_ZERO, pick);
        put_bytes(sel, y, b, PTX_ZERO, pick);
        part[i] = ptx_sel_temp(sel, 1);
        ptx_sel_put(sel, is_signed ? ISA_V_SAD_S32 : ISA_V_SAD_U32, part[i], x, y, last, 1);
        if (sum)
            last = part[i];
    }
    d = ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_U32);
    if (sum) {
        ptx_sel_move(sel, d, last, 1);
        return;
    }
    for (unsigned i = 0; four && i < 4; i += 2) { /* packs the low bytes */
        ptx_ref t = ptx_sel_temp(sel, 1);

        put_bytes(sel, t, part[i], part[i + 1], 0x40);
        part[i / 2] = t;
    }
    put_bytes(sel, d, part[0], part[1], 0x5410);
}

/* Selects add, sub, mul and fma of two f32 in a register pair, one element at a time. */
void ptx_rule_packed_floats(struct ptx_sel *sel)
{
    enum isa_op op = sel->in.op == PTX_ADD   ? ISA_V_ADD_F32
                     : sel->in.op == PTX_SUB ? ISA_V_SUB_F32
                     : sel->in.op == PTX_MUL ? ISA_V_MUL_F32
                     : sel->in.op == PTX_FMA ? ISA_V_FMA_F32
                                             : ISA_OP_NONE;
    unsigned n = sel->in.op == PTX_FMA ? 3 : 2, rounding;
    bool ftz = ptx_take(&sel->in, PTX_W_FTZ);
    ptx_ref s[3] = { PTX_NO_REF, PTX_NO_REF, PTX_NO_REF }, whole;

    if (op == ISA_OP_NONE)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .f32x2 is not supported");
    ptx_sel_operands(sel, n + 1, n + 1);
    rounding = ptx_take_rounding(&sel->in, false, ISA_RND_RN);
    for (unsigned i = 0; i < n; i++)
        s[i] = ptx_sel_source(sel, i + 1, PTX_T_F32X2);
    whole = ptx_sel_temp(sel, 2); /* the destination may be a source */
    for (unsigned k = 0; k < 2; k++) {
        ptx_ref part[3] = { PTX_NO_REF, PTX_NO_REF, PTX_NO_REF };
        struct ptx_mi *mi;

        for (unsigned i = 0; i < n; i++)
            part[i] = s[i] == PTX_ZERO ? s[i] : s[i] + k;
        mi = ptx_sel_put(sel, op, whole + k, part[0], part[1], part[2], 1);
        isa_mod_set(&mi->in, ISA_MOD_RND, rounding);
        isa_mod_set(&mi->in, ISA_MOD_FTZ, ftz ? ISA_FTZ_ON : ISA_FTZ_OFF);
        if (k != 0)
            mi->flags |= PTX_MI_PARTIAL;
    }
    ptx_sel_move(sel, ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_F32X2), whole, 2);
}

/* Selects cvt.pack.sat.TYPE.s32 d, a, b{, c}: the lowest bits of d are b, then a, then the bits of c that fit. */
void ptx_rule_cvt_pack(struct ptx_sel *sel)
{
    enum ptx_type to = ptx_sel_type(sel, 0), from = ptx_sel_type(sel, 1);
    bool bytes = to == PTX_T_U8 || to == PTX_T_S8;
    ptx_ref part[2], d;

    if ((!bytes && to != PTX_T_U16 && to != PTX_T_S16) || from != PTX_T_S32)
        ptx_sel_fail(sel, LW_EUNSUPP, "a conversion from .%s to .%s is not supported", ptx_type_name(from),
                     ptx_type_name(to));
    if (!ptx_take(&sel->in, PTX_W_SAT))
        ptx_sel_fail(sel, LW_EINPUT, "'.sat' is missing");
    ptx_sel_operands(sel, bytes ? 4 : 3, bytes ? 4 : 3);
    for (unsigned k = 0; k < 2; k++) {
        ptx_ref s = ptx_sel_source(sel, k + 1, from);
        struct ptx_mi *mi;

        part[k] = ptx_sel_temp(sel, 1);
        mi = ptx_sel_put(sel, ISA_V_CVT, part[k], PTX_NO_REF, s, PTX_NO_REF, 1);
        isa_mod_set(&mi->in, ISA_MOD_DTYPE, to == PTX_T_U8    ? ISA_DT_U8
                                            : to == PTX_T_S8  ? ISA_DT_S8
                                            : to == PTX_T_U16 ? ISA_DT_U16
                                                              : ISA_DT_S16);
        isa_mod_set(&mi->in, ISA_MOD_STYPE, ISA_ST_S32);
        isa_mod_set(&mi->in, ISA_MOD_CSAT, ISA_CSAT_ON);
    }
    if (bytes) {
        ptx_ref c = ptx_sel_source(sel, 3, PTX_T_B32), low = ptx_sel_temp(sel, 1);

        put_bytes(sel, low, part[1], part[0], 0x3240);
        d = ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_B32);
        put_bytes(sel, d, low, c, 0x5410);
    } else {
        d = ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_B32);
        put_bytes(sel, d, part[1], part[0], 0x5410);
    }
}

/* ---- floats of 8 bits ------------------------------------------------------------------------ */

/* A format of 8 bits. Its NaN is FP8_NAN. E4M3 has no infinity. */
static const struct fp8 {
    uint32_t most, least; /* bits of the largest number and of the least normal one as f32 */
    uint32_t denormals;   /* bits of the f32 whose last place is that of the denormals */
    unsigned drop;        /* number of mantissa bits that f32 has and the format lacks */
    uint32_t rebias;      /* difference of the two biases of the exponent, at the exponent's place in 8 bits */
} fp8_formats[] = {
    { 0x43e00000, 0x3c800000, 0x46800000, 20, 120 << 3 }, /* E4M3: 448, 2^-6, 2^14 */
    { 0x47600000, 0x38800000, 0x43000000, 21, 112 << 2 }, /* E5M2: 57344, 2^-14, 2^7 */
};
enum { FP8_NAN = 0x7f, FP8_SIGN = 0x80 };

static ptx_ref binary(struct ptx_sel *sel, enum isa_op op, ptx_ref a, ptx_ref x)
{
    ptx_ref d = ptx_sel_temp(sel, 1);

    ptx_sel_put(sel, op, d, a, x, PTX_NO_REF, 1);
    return d;
}

/* Returns @a if comparison @compare of @left and @right is true, and otherwise @b. */
static ptx_ref choose(struct ptx_sel *sel, enum isa_op setp, unsigned compare, ptx_ref left, ptx_ref right, uint32_t a, ptx_ref b)
{
    ptx_ref p = ptx_sel_temp(sel, 0), d = ptx_sel_temp(sel, 1);
    struct ptx_mi *mi = ptx_sel_put(sel, setp, PTX_NO_REF, left, right, PTX_NO_REF, 1);

    isa_mod_set(&mi->in, ISA_MOD_CMP, compare);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    mi = ptx_sel_put(sel, ISA_V_SELP_B32, d, ptx_sel_literal(sel, a), b, PTX_NO_REF, 1);
    mi->ref[PTX_S_R] = p;
    return d;
}

/* Converts an f32 to 8 bits, with rounding to nearest even. Numbers that are too large become the largest one. */
static ptx_ref to_fp8(struct ptx_sel *sel, ptx_ref s, const struct fp8 *format, bool relu)
{
    const uint32_t field = format->drop | (32 - format->drop) << 8;
    ptx_ref size = ptx_sel_temp(sel, 1), odd, half, normal, denormal, d, p = ptx_sel_temp(sel, 0);
    struct ptx_mi *mi;

    ptx_sel_put(sel, ISA_V_ABS_F32, size, PTX_NO_REF, s, PTX_NO_REF, 1);
    size = binary(sel, ISA_V_MIN_F32, size, ptx_sel_literal(sel, format->most));
    /* Normal numbers: an integer addition rounds, and its carry increments the exponent. It adds half a unit of the last place,
     * less 1 if the last place is even. */
    odd = binary(sel, ISA_V_BFE_U32, size, ptx_sel_literal(sel, format->drop | 1 << 8));
    half = binary(sel, ISA_V_ADD_U32, odd, ptx_sel_literal(sel, (UINT32_C(1) << (format->drop - 1)) - 1));
    normal = binary(sel, ISA_V_BFE_U32, binary(sel, ISA_V_ADD_U32, size, half), ptx_sel_literal(sel, field));
    normal = binary(sel, ISA_V_SUB_U32, normal, ptx_sel_literal(sel, format->rebias));
    /* Denormals are rounded by an addition of floats. */
    denormal = binary(sel, ISA_V_ADD_F32, size, ptx_sel_literal(sel, format->denormals));
    denormal = binary(sel, ISA_V_AND_B32, denormal, ptx_sel_literal(sel, 0xff));
    mi = ptx_sel_put(sel, ISA_V_SETP_F32, PTX_NO_REF, size, ptx_sel_literal(sel, format->least), PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_LT);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    d = ptx_sel_temp(sel, 1);
    mi = ptx_sel_put(sel, ISA_V_SELP_B32, d, denormal, normal, PTX_NO_REF, 1);
    mi->ref[PTX_S_R] = p;
    if (relu) {
        d = choose(sel, ISA_V_SETP_S32, ISA_CMP_LT, s, PTX_ZERO, 0, d);
    } else {
        ptx_ref sign = binary(sel, ISA_V_BFE_U32, s, ptx_sel_literal(sel, 24 | 8 << 8));

        d = binary(sel, ISA_V_OR_B32, d, binary(sel, ISA_V_AND_B32, sign, ptx_sel_literal(sel, FP8_SIGN)));
    }
    return choose(sel, ISA_V_SETP_F32, ISA_CMP_NAN, s, s, FP8_NAN, d);
}

/* Converts the 8 bits of @s from bit @at on to f16. */
static ptx_ref of_fp8(struct ptx_sel *sel, ptx_ref s, unsigned at, bool e5m2, bool relu)
{
    const unsigned shift = e5m2 ? 8 : 7;
    ptx_ref byte = binary(sel, ISA_V_BFE_U32, s, ptx_sel_literal(sel, at | 8 << 8)), size, d;

    size = binary(sel, ISA_V_AND_B32, byte, ptx_sel_literal(sel, FP8_NAN));
    d = binary(sel, ISA_V_AND_B32, byte, ptx_sel_literal(sel, FP8_SIGN));
    d = binary(sel, ISA_V_SHL_B32, d, ptx_sel_literal(sel, 8));
    d = binary(sel, ISA_V_OR_B32, d, binary(sel, ISA_V_SHL_B32, size, ptx_sel_literal(sel, shift)));
    /* E5M2 is the upper half of an f16; the multiplication makes a NaN canonical. For E4M3 it also corrects the exponent, whose
     * bias is 8 less than that of f16. */
    d = binary(sel, ISA_V_MUL_F16, d, ptx_sel_literal(sel, e5m2 ? 0x3c00 : 0x5c00));
    if (!e5m2)
        d = choose(sel, ISA_V_SETP_U32, ISA_CMP_EQ, size, ptx_sel_literal(sel, FP8_NAN), 0x7fff, d);
    if (relu) {
        ptx_ref r = ptx_sel_temp(sel, 1);
        struct ptx_mi *mi = ptx_sel_put(sel, ISA_V_MAX_F16, r, d, PTX_ZERO, PTX_NO_REF, 1);

        isa_mod_set(&mi->in, ISA_MOD_MNAN, ISA_MNAN_ON);
        d = r;
    }
    return d;
}

/* Selects cvt to and from e4m3x2 and e5m2x2. The first of two sources is the upper half of the result. */
void ptx_rule_cvt_fp8(struct ptx_sel *sel)
{
    enum ptx_type to = ptx_sel_type(sel, 0), from = ptx_sel_type(sel, 1);
    bool relu = ptx_take(&sel->in, PTX_W_RELU), two = from == PTX_T_F32;
    ptx_ref part[2]; /* lower and upper half */

    (void)ptx_take(&sel->in, PTX_W_RN), (void)ptx_take(&sel->in, PTX_W_SATFINITE);
    ptx_sel_operands(sel, two ? 3 : 2, two ? 3 : 2);
    if (to == PTX_T_F16X2) {
        ptx_ref s = ptx_sel_source(sel, 1, from);

        for (unsigned k = 0; k < 2; k++)
            part[k] = of_fp8(sel, s, 8 * k, from == PTX_T_E5M2X2, relu);
        put_bytes(sel, ptx_sel_dest(sel, &sel->in.operand[0], to), part[0], part[1], 0x5410);
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        ptx_ref s;

        if (two) {
            s = ptx_sel_source(sel, 2 - k, from);
        } else {
            ptx_ref half = binary(sel, ISA_V_BFE_U32, ptx_sel_source(sel, 1, from), ptx_sel_literal(sel, 16 * k | 16 << 8));
            struct ptx_mi *mi;

            s = ptx_sel_temp(sel, 1);
            mi = ptx_sel_put(sel, ISA_V_CVT, s, PTX_NO_REF, half, PTX_NO_REF, 1);
            isa_mod_set(&mi->in, ISA_MOD_DTYPE, ISA_DT_F32);
            isa_mod_set(&mi->in, ISA_MOD_STYPE, ISA_ST_F16);
        }
        part[k] = to_fp8(sel, s, &fp8_formats[to == PTX_T_E5M2X2], relu);
    }
    put_bytes(sel, ptx_sel_dest(sel, &sel->in.operand[0], to), part[0], part[1], 0x7740);
}
