/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of arithmetic by a table of (instruction, mode, type). */
#include "ptx/select/ptx_select_priv.h"

#define T(x) (1u << PTX_T_##x)
#define I16 (T(U16) | T(S16) | T(B16))
#define I32 (T(U32) | T(S32) | T(B32))
#define I64 (T(U64) | T(S64) | T(B64))
#define B16OR32 (T(B16) | T(B32))

enum shape {
    SH_1,     /* d, x */
    SH_2,     /* d, a, x */
    SH_3,     /* d, a, x, c */
    SH_SHIFT, /* d, a, x; x has 32 bits */
    SH_WIDE2, /* d has 64 bits, a and x have 32 */
    SH_WIDE3, /* d and c have 64 bits, a and x have 32 */
    SH_COUNT  /* d has 32 bits; the type determines the registers of x */
};
enum {
    AF_EXT = 1,  /* sources narrower than 32 bits are extended before the operation */
    AF_FLOAT = 2 /* the row accepts the modifiers that its format has for floats */
};
struct alu_row {
    uint8_t op, mode; /* mode: PTX_W_LO, PTX_W_HI, PTX_W_WIDE or PTX_W_NONE */
    uint32_t types;
    uint16_t isa;
    uint8_t shape, flags;
};
/* clang-format off */
#define INTEGERS(op, row) /* two sources; 16 bits are extended to 32 */           \
    { op, 0, T(U16) | T(U32), ISA_V_##row##_U32, SH_2, AF_EXT },                 \
    { op, 0, T(S16) | T(S32), ISA_V_##row##_S32, SH_2, AF_EXT },                 \
    { op, 0, T(U64), ISA_V_##row##_U64, SH_2, 0 },                               \
    { op, 0, T(S64), ISA_V_##row##_S64, SH_2, 0 }
#define FLOATS(op, row, shape, flags)                                            \
    { op, 0, T(F32), ISA_V_##row##_F32, shape, flags },                          \
    { op, 0, T(F64), ISA_V_##row##_F64, shape, flags }
#define HALVES(op, row, shape)                                                   \
    { op, 0, T(F16), ISA_V_##row##_F16, shape, AF_FLOAT },                       \
    { op, 0, T(F16X2), ISA_V_##row##_F16X2, shape, AF_FLOAT },                   \
    { op, 0, T(BF16), ISA_V_##row##_BF16, shape, AF_FLOAT },                     \
    { op, 0, T(BF16X2), ISA_V_##row##_BF16X2, shape, AF_FLOAT }
static const struct alu_row alu_rows[] = {
    { PTX_ADD, 0, I16 | I32, ISA_V_ADD_U32, SH_2, 0 },
    { PTX_ADD, 0, I64, ISA_V_ADD_U64, SH_2, 0 },
    FLOATS(PTX_ADD, ADD, SH_2, AF_FLOAT),
    { PTX_SUB, 0, I16 | I32, ISA_V_SUB_U32, SH_2, 0 },
    { PTX_SUB, 0, I64, ISA_V_SUB_U64, SH_2, 0 },
    FLOATS(PTX_SUB, SUB, SH_2, AF_FLOAT),
    { PTX_MUL, PTX_W_LO, I16 | I32, ISA_V_MUL_U32, SH_2, 0 },
    { PTX_MUL, PTX_W_LO, I64, ISA_V_MUL_U64, SH_2, 0 },
    { PTX_MUL, PTX_W_HI, T(U32), ISA_V_MULHI_U32, SH_2, 0 },
    { PTX_MUL, PTX_W_HI, T(S32), ISA_V_MULHI_S32, SH_2, 0 },
    { PTX_MUL, PTX_W_HI, T(U64), ISA_V_MULHI_U64, SH_2, 0 },
    { PTX_MUL, PTX_W_HI, T(S64), ISA_V_MULHI_S64, SH_2, 0 },
    { PTX_MUL, PTX_W_WIDE, I16, ISA_V_MUL_U32, SH_2, AF_EXT },
    { PTX_MUL, PTX_W_WIDE, T(U32), ISA_V_MULWIDE_U32, SH_WIDE2, 0 },
    { PTX_MUL, PTX_W_WIDE, T(S32), ISA_V_MULWIDE_S32, SH_WIDE2, 0 },
    FLOATS(PTX_MUL, MUL, SH_2, AF_FLOAT),
    { PTX_MAD, PTX_W_LO, I16 | I32, ISA_V_MAD_U32, SH_3, 0 },
    { PTX_MAD, PTX_W_LO, I64, ISA_V_MAD_U64, SH_3, 0 },
    { PTX_MAD, PTX_W_WIDE, I16, ISA_V_MAD_U32, SH_3, AF_EXT },
    { PTX_MAD, PTX_W_WIDE, T(U32), ISA_V_MADWIDE_U32, SH_WIDE3, 0 },
    { PTX_MAD, PTX_W_WIDE, T(S32), ISA_V_MADWIDE_S32, SH_WIDE3, 0 },
    FLOATS(PTX_MAD, FMA, SH_3, AF_FLOAT),
    FLOATS(PTX_FMA, FMA, SH_3, AF_FLOAT),
    INTEGERS(PTX_DIV, DIV),
    FLOATS(PTX_DIV, DIV, SH_2, AF_FLOAT),
    INTEGERS(PTX_REM, REM),
    INTEGERS(PTX_MIN, MIN),
    FLOATS(PTX_MIN, MIN, SH_2, AF_FLOAT),
    INTEGERS(PTX_MAX, MAX),
    FLOATS(PTX_MAX, MAX, SH_2, AF_FLOAT),
    { PTX_SHL, 0, I16 | I32, ISA_V_SHL_B32, SH_SHIFT, 0 },
    { PTX_SHL, 0, I64, ISA_V_SHL_B64, SH_SHIFT, 0 },
    { PTX_SHR, 0, T(U16) | T(B16) | T(U32) | T(B32), ISA_V_SHR_U32, SH_SHIFT, AF_EXT },
    { PTX_SHR, 0, T(S16) | T(S32), ISA_V_SHR_S32, SH_SHIFT, AF_EXT },
    { PTX_SHR, 0, T(U64) | T(B64), ISA_V_SHR_U64, SH_SHIFT, 0 },
    { PTX_SHR, 0, T(S64), ISA_V_SHR_S64, SH_SHIFT, 0 },
    { PTX_POPC, 0, T(B32), ISA_V_POPC_B32, SH_COUNT, 0 },
    { PTX_POPC, 0, T(B64), ISA_V_POPC_B64, SH_COUNT, 0 },
    { PTX_CLZ, 0, T(B32), ISA_V_CLZ_B32, SH_COUNT, 0 },
    { PTX_CLZ, 0, T(B64), ISA_V_CLZ_B64, SH_COUNT, 0 },
    { PTX_BREV, 0, T(B32), ISA_V_BREV_B32, SH_1, 0 },
    { PTX_BREV, 0, T(B64), ISA_V_BREV_B64, SH_1, 0 },
    FLOATS(PTX_RCP, RCP, SH_1, AF_FLOAT),
    FLOATS(PTX_SQRT, SQRT, SH_1, AF_FLOAT),
    FLOATS(PTX_RSQRT, RSQ, SH_1, AF_FLOAT),
    { PTX_EX2, 0, T(F32), ISA_V_EX2_F32, SH_1, AF_FLOAT },
    { PTX_LG2, 0, T(F32), ISA_V_LG2_F32, SH_1, AF_FLOAT },
    { PTX_SIN, 0, T(F32), ISA_V_SIN_F32, SH_1, AF_FLOAT },
    { PTX_COS, 0, T(F32), ISA_V_COS_F32, SH_1, AF_FLOAT },
    { PTX_TANH, 0, T(F32), ISA_V_TANH_F32, SH_1, AF_FLOAT },
    FLOATS(PTX_COPYSIGN, COPYSIGN, SH_2, 0),
    { PTX_NEG, 0, T(S16) | T(S32), ISA_V_NEG_S32, SH_1, 0 },
    { PTX_NEG, 0, T(S64), ISA_V_NEG_S64, SH_1, 0 },
    FLOATS(PTX_NEG, NEG, SH_1, 0),
    { PTX_ABS, 0, T(S16) | T(S32), ISA_V_ABS_S32, SH_1, AF_EXT },
    { PTX_ABS, 0, T(S64), ISA_V_ABS_S64, SH_1, 0 },
    FLOATS(PTX_ABS, ABS, SH_1, 0),
    HALVES(PTX_ADD, ADD, SH_2),
    HALVES(PTX_SUB, SUB, SH_2),
    HALVES(PTX_MUL, MUL, SH_2),
    HALVES(PTX_FMA, FMA, SH_3),
    HALVES(PTX_MIN, MIN, SH_2),
    HALVES(PTX_MAX, MAX, SH_2),
    HALVES(PTX_EX2, EX2, SH_1),
    HALVES(PTX_TANH, TANH, SH_1),
    { PTX_NEG, 0, T(F16) | T(BF16), ISA_V_NEG_F16, SH_1, 0 },
    { PTX_NEG, 0, T(F16X2) | T(BF16X2), ISA_V_NEG_F16X2, SH_1, 0 },
    { PTX_ABS, 0, T(F16) | T(BF16), ISA_V_ABS_F16, SH_1, 0 },
    { PTX_ABS, 0, T(F16X2) | T(BF16X2), ISA_V_ABS_F16X2, SH_1, 0 },
    { PTX_AND, 0, B16OR32, ISA_V_AND_B32, SH_2, 0 },
    { PTX_AND, 0, T(B64), ISA_V_AND_B64, SH_2, 0 },
    { PTX_OR, 0, B16OR32, ISA_V_OR_B32, SH_2, 0 },
    { PTX_OR, 0, T(B64), ISA_V_OR_B64, SH_2, 0 },
    { PTX_XOR, 0, B16OR32, ISA_V_XOR_B32, SH_2, 0 },
    { PTX_XOR, 0, T(B64), ISA_V_XOR_B64, SH_2, 0 },
    { PTX_NOT, 0, B16OR32, ISA_V_NOT_B32, SH_1, 0 },
    { PTX_NOT, 0, T(B64), ISA_V_NOT_B64, SH_1, 0 },
};
/* clang-format on */

static void take_float(struct ptx_sel *sel, struct ptx_mi *mi)
{
    enum isa_format format = isa_op_info((enum isa_op)mi->in.op)->format;

    if (format == ISA_FMT_FLT)
        isa_mod_set(&mi->in, ISA_MOD_RND, ptx_take_rounding(&sel->in, false, ISA_RND_RN));
    if (ptx_take(&sel->in, PTX_W_FTZ))
        isa_mod_set(&mi->in, ISA_MOD_FTZ, ISA_FTZ_ON);
    if ((format == ISA_FMT_FLT || format == ISA_FMT_HLF) && ptx_take(&sel->in, PTX_W_SAT))
        isa_mod_set(&mi->in, ISA_MOD_SAT, ISA_SAT_ON);
    if (format == ISA_FMT_HLF) {
        (void)ptx_take(&sel->in, PTX_W_RN); /* .rn has no effect, because half-precision operations have no other rounding */
        if (ptx_take(&sel->in, PTX_W_RELU))
            isa_mod_set(&mi->in, ISA_MOD_RELU, ISA_RELU_ON);
    }
    if (format == ISA_FMT_MNM) {
        if (ptx_take(&sel->in, PTX_W_NAN_WINS))
            isa_mod_set(&mi->in, ISA_MOD_MNAN, ISA_MNAN_ON);
        if (ptx_has(&sel->in, PTX_W_XORSIGN) && ptx_take(&sel->in, PTX_W_MAGNITUDE)) {
            (void)ptx_take(&sel->in, PTX_W_XORSIGN);
            isa_mod_set(&mi->in, ISA_MOD_XORSIGN, ISA_XORSIGN_ON);
        }
    }
    if (format == ISA_FMT_FLT || format == ISA_FMT_FUN) {
        /* .approx and .full have no effect: they permit the exactly rounded results of our division, root and reciprocal */
        (void)ptx_take(&sel->in, PTX_W_APPROX);
        (void)ptx_take(&sel->in, PTX_W_FULL);
    }
}

/* Reports a product without .lo, .hi or .wide, such as mul.u32. */
static void needs_mode(struct ptx_sel *sel, enum ptx_type type)
{
    for (unsigned i = 0; i < LW_COUNT_OF(alu_rows); i++) {
        const struct alu_row *r = &alu_rows[i];

        if (r->op == sel->in.op && r->mode != PTX_W_NONE && (r->types >> type & 1))
            ptx_sel_fail(sel, LW_EINPUT, "'.lo', '.hi' or '.wide' is missing before '.%s'",
                         ptx_type_name(type));
    }
}

void ptx_rule_alu(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    const struct alu_row *row = NULL;
    ptx_ref a = PTX_NO_REF, x, c = PTX_NO_REF, d;
    struct ptx_mi *mi;
    unsigned mode = PTX_W_NONE, rows = ptx_type_rows(type), n;

    if (type == PTX_T_F32X2) {
        ptx_rule_packed_floats(sel);
        return;
    }
    if (type != PTX_T_F32 && type != PTX_T_F64) {
        if (ptx_take(&sel->in, PTX_W_LO))
            mode = PTX_W_LO;
        else if (ptx_take(&sel->in, PTX_W_HI))
            mode = PTX_W_HI;
        else if (ptx_take(&sel->in, PTX_W_WIDE))
            mode = PTX_W_WIDE;
    }
    for (unsigned i = 0; i < LW_COUNT_OF(alu_rows) && row == NULL; i++) {
        const struct alu_row *r = &alu_rows[i];

        if (r->op == sel->in.op && r->mode == mode && (r->types >> type & 1))
            row = r;
    }
    if (row == NULL && mode == PTX_W_NONE)
        needs_mode(sel, type);
    if (row == NULL)
        ptx_sel_fail(sel, LW_EUNSUPP, "%s%s%stype .%s is not supported on this instruction",
                     mode != PTX_W_NONE ? "'." : "", mode != PTX_W_NONE ? ptx_word_text((enum ptx_word)mode) : "",
                     mode != PTX_W_NONE ? "' with " : "", ptx_type_name(type));
    n = row->shape == SH_1 || row->shape == SH_COUNT ? 1
        : row->shape == SH_3 || row->shape == SH_WIDE3 ? 3 : 2;
    if (type == PTX_T_F32 && (sel->in.op == PTX_MIN || sel->in.op == PTX_MAX) &&
        sel->in.operand_count == 4) { /* The form with three operands combines the first two operands, and then the result
                                       * with the third operand. */
        struct ptx_insn first = sel->in;
        ptx_ref t = ptx_sel_temp(sel, 1);

        if (ptx_has(&sel->in, PTX_W_XORSIGN))
            ptx_sel_fail(sel, LW_EUNSUPP, ".xorsign of three operands is not supported");
        a = ptx_sel_source(sel, 1, type);
        x = ptx_sel_source(sel, 2, type);
        take_float(sel, ptx_sel_put(sel, (enum isa_op)row->isa, t, a, x, PTX_NO_REF, 1));
        memcpy(sel->in.words, first.words, sizeof first.words);
        x = ptx_sel_source(sel, 3, type);
        d = ptx_sel_dest(sel, &sel->in.operand[0], type);
        take_float(sel, ptx_sel_put(sel, (enum isa_op)row->isa, d, t, x, PTX_NO_REF, 1));
        return;
    }
    ptx_sel_operands(sel, n + 1, n + 1);
    unsigned k = 1;

    if (n > 1)
        a = row->flags & AF_EXT ? ptx_sel_extended(sel, k++, type)
                                : ptx_sel_source(sel, k++, type);
    if (row->shape == SH_SHIFT)
        x = ptx_sel_source(sel, k, PTX_T_U32);
    else
        x = row->flags & AF_EXT ? ptx_sel_extended(sel, k, type) : ptx_sel_source(sel, k, type);
    k++;
    if (n == 3) {
        enum ptx_type third = row->shape == SH_WIDE3 ? PTX_T_U64
                              : mode == PTX_W_WIDE   ? PTX_T_U32
                                                     : type;

        c = ptx_sel_source(sel, k, third);
    }
    bool wide = row->shape == SH_WIDE2 || row->shape == SH_WIDE3;

    d = ptx_sel_dest(sel, &sel->in.operand[0],
                     wide ? PTX_T_U64
                     : row->shape == SH_COUNT || mode == PTX_W_WIDE ? PTX_T_U32 : type);
    mi = ptx_sel_put(sel, (enum isa_op)row->isa, d, a, x, c, rows);
    if (wide)
        mi->rows[PTX_S_D] = mi->rows[PTX_S_C] = 2;
    if (row->shape == SH_COUNT)
        mi->rows[PTX_S_D] = 1;
    if (row->shape == SH_SHIFT)
        mi->rows[PTX_S_X] = 1;
    if (row->flags & AF_FLOAT)
        take_float(sel, mi);
}

/* Selects neg.ftz and abs.ftz. Our neg and abs do not flush denormals, so an addition of -0 with .ftz follows. */
void ptx_rule_negabs(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool neg = sel->in.op == PTX_NEG, packed = type == PTX_T_F16X2;
    struct ptx_mi *mi;
    ptx_ref a, x, d;

    if ((type != PTX_T_F32 && type != PTX_T_F16 && !packed) || !ptx_take(&sel->in, PTX_W_FTZ)) {
        ptx_rule_alu(sel);
        return;
    }
    ptx_sel_operands(sel, 2, 2);
    a = ptx_sel_source(sel, 1, type);
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    x = ptx_sel_temp(sel, 1);
    ptx_sel_imm(sel, x, 1, type == PTX_T_F32 ? 0x80000000u : packed ? 0x80008000u : 0x8000u);
    if (type != PTX_T_F32) {
        ptx_ref t = ptx_sel_temp(sel, 1);
        enum isa_op op = packed ? (neg ? ISA_V_NEG_F16X2 : ISA_V_ABS_F16X2)
                                : (neg ? ISA_V_NEG_F16 : ISA_V_ABS_F16);

        ptx_sel_put(sel, op, t, PTX_NO_REF, a, PTX_NO_REF, 1);
        a = t;
    }
    mi = ptx_sel_put(sel, packed ? ISA_V_ADD_F16X2 : type == PTX_T_F16 ? ISA_V_ADD_F16 : ISA_V_ADD_F32,
                     d, a, x, PTX_NO_REF, 1);
    if (type == PTX_T_F32)
        isa_insn_set_srcmod(&mi->in, 0, neg ? 1 : 2);
    isa_mod_set(&mi->in, ISA_MOD_FTZ, ISA_FTZ_ON);
}
