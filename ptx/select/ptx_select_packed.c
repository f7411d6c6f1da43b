/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of packed operations: 16-bit integers, pairs of f32, cvt.pack. */
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
