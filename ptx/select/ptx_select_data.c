/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of moves, conversions, comparisons, predicates and bit operations. */
#include "ptx/select/ptx_select_priv.h"

/* ---- mov ----------------------------------------------------------------- */


/* Selects {a, b} = x: moves registers of x, or shifts parts of a register down. */
static void unpack(struct ptx_sel *sel, const struct ptx_operand *to, enum ptx_type type)
{
    unsigned bytes = ptx_type_bytes(type), each = to->count != 0 ? bytes / to->count : 0;
    ptx_ref s = ptx_sel_source(sel, 1, type);

    if (each == 0 || each * to->count != bytes)
        ptx_sel_fail(sel, LW_EINPUT, "a vector of %u elements cannot hold a value of type .%s", to->count,
                     ptx_type_name(type));
    for (unsigned i = 0; i < to->count; i++) {
        ptx_ref d, row = s == PTX_ZERO ? s : s + i * each / 4;
        unsigned shift = i * each % 4 * 8;

        if (to->element[i].kind == PTX_O_SINK)
            continue;
        d = each == 1 ? ptx_sel_dest_wide(sel, &to->element[i], PTX_T_B8, 1)
                      : ptx_sel_dest(sel, &to->element[i], each == 2 ? PTX_T_B16 : PTX_T_B32);
        if (shift == 0) {
            ptx_sel_move(sel, d, row, 1);
        } else {
            ptx_ref by = ptx_sel_temp(sel, 1);

            ptx_sel_imm(sel, by, 1, shift);
            ptx_sel_put(sel, ISA_V_SHR_U32, d, row, by, PTX_NO_REF, 1);
        }
    }
}

/* Selects d = {a, b}: moves registers, or joins halves and bytes by prmt. */
static void pack(struct ptx_sel *sel, const struct ptx_operand *from, enum ptx_type type)
{
    unsigned bytes = ptx_type_bytes(type), each = from->count != 0 ? bytes / from->count : 0;
    unsigned rows = ptx_type_rows(type), per_row;
    ptx_ref part[8], d;

    if (each == 0 || each * from->count != bytes || from->count > LW_COUNT_OF(part))
        ptx_sel_fail(sel, LW_EINPUT, "a vector of %u elements cannot form a value of type .%s", from->count,
                     ptx_type_name(type));
    for (unsigned i = 0; i < from->count; i++)
        part[i] = each == 1 ? ptx_sel_value_wide(sel, &from->element[i], PTX_T_B8)
                            : ptx_sel_value(sel, &from->element[i],
                                            each == 2 ? PTX_T_B16 : PTX_T_B32);
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    per_row = from->count / rows;
    if (per_row == 0)
        ptx_sel_fail(sel, LW_EINPUT, "a vector must have at least two elements");
    /* the destination may include a source register, so all sources are read before the first write */
    ptx_ref whole = rows > 1 ? ptx_sel_temp(sel, rows) : d;

    for (unsigned r = 0; r < rows; r++) {
        ptx_ref v = part[r * per_row];
        struct ptx_mi *mi;

        for (unsigned k = 1; k < per_row; k++) {
            ptx_ref selector = ptx_sel_temp(sel, 1), t = ptx_sel_temp(sel, 1);
            /* the selector for prmt takes the bytes of v below k * each, then the bytes of the next part */
            uint32_t pick = each == 2 ? 0x5410u : k == 1 ? 0x3240u : k == 2 ? 0x3410u : 0x4210u;

            ptx_sel_imm(sel, selector, 1, pick);
            ptx_sel_put(sel, ISA_V_PRMT_B32, t, v, selector, part[r * per_row + k], 1);
            v = t;
        }
        ptx_sel_move(sel, whole + r, v, 1);
        mi = &sel->unit->code.at[sel->unit->code.count - 1];
        if (r != 0)
            mi->flags |= PTX_MI_PARTIAL;
    }
    if (whole != d)
        ptx_sel_move(sel, d, whole, rows);
}

static void mov_pred(struct ptx_sel *sel)
{
    struct ptx_mi *mi;
    ptx_ref d = ptx_sel_pred_dest(sel, &sel->in.operand[0]);

    mi = ptx_sel_emit(sel, ISA_V_PLOP3);
    mi->in.x = 0x80; /* truth table of AND */
    mi->in.xkind = ISA_X_VECTOR;
    mi->ref[PTX_S_P] = d;
    mi->ref[PTX_S_RB] = mi->ref[PTX_S_R] = PTX_ZERO;
    ptx_sel_pred_read(sel, mi, PTX_S_RA, &sel->in.operand[1]);
}

/* Selects mov.v2 and mov.v4, which read all elements before the first write. The fourth element of a special register
 * with three elements, such as %tid, is zero. */
static void mov_vector(struct ptx_sel *sel, enum ptx_type type, unsigned n)
{
    const struct ptx_operand *to = &sel->in.operand[0], *from = &sel->in.operand[1];
    unsigned bytes = ptx_type_bytes(type), rows = ptx_type_rows(type);
    ptx_ref part[4];

    if (to->kind != PTX_O_VECTOR || to->count != n || from->kind != PTX_O_VECTOR || from->count != n)
        ptx_sel_fail(sel, LW_EINPUT, "'.v%u' needs a vector of %u elements on both sides", n, n);
    if (bytes == 0 || bytes * n > 16)
        ptx_sel_fail(sel, LW_EINPUT, "a vector of %u .%s is not possible: vectors have at most 128 bits, and no "
                                     "predicates", n, ptx_type_name(type));
    for (unsigned i = 0; i < n; i++) {
        const struct ptx_operand *o = &from->element[i];
        bool special = o->kind == PTX_O_SPECIAL || (o->kind == PTX_O_SYMBOL && o->count != 0);

        if ((o->kind == PTX_O_SYMBOL && o->count == 0) || (special && (bytes > 4 || ptx_type_class(type) == PTX_CLASS_FLOAT)))
            ptx_sel_fail(sel, LW_EINPUT, "an element of type .%s must be a register or a number",
                         ptx_type_name(type));
        part[i] = ptx_sel_value(sel, o, special ? PTX_T_U32 : type);
        if (o->kind == PTX_O_REG) { /* copies the value, because the register may also be a destination */
            ptx_ref t = ptx_sel_temp(sel, rows);

            ptx_sel_move(sel, t, part[i], rows);
            part[i] = t;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (to->element[i].kind != PTX_O_SINK)
            ptx_sel_move(sel, ptx_sel_dest(sel, &to->element[i], type), part[i], rows);
    }
}

void ptx_rule_mov(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    unsigned rows = ptx_type_rows(type);
    const struct ptx_operand *to, *from;

    ptx_sel_operands(sel, 2, 2);
    to = &sel->in.operand[0];
    from = &sel->in.operand[1];
    if (ptx_has(&sel->in, PTX_W_V2) || ptx_has(&sel->in, PTX_W_V4)) {
        mov_vector(sel, type, ptx_take(&sel->in, PTX_W_V4) ? 4 : 2);
        (void)ptx_take(&sel->in, PTX_W_V2);
    } else if (from->kind == PTX_O_VECTOR && from->reg != PTX_NONE) {
        ptx_sel_fail(sel, LW_EINPUT, "a special register with three elements needs 'mov.v4'; to read one element, give "
                                     "its name, as in %%tid.x");
    } else if (type == PTX_T_PRED) {
        mov_pred(sel);
    } else if (to->kind == PTX_O_VECTOR) {
        unpack(sel, to, type);
    } else if (from->kind == PTX_O_VECTOR) {
        pack(sel, from, type);
    } else {
        ptx_ref d = ptx_sel_dest(sel, to, type), s;

        if (from->kind == PTX_O_SPECIAL &&
            (ptx_type_class(type) == PTX_CLASS_FLOAT ||
             (rows == 1 && from->imm == 0 && from->reg == ISA_SR_CLOCK64)))
            ptx_sel_fail(sel, LW_EINPUT, "%%%s does not have type .%s",
                         isa_special_info((enum isa_special)from->reg)->name, ptx_type_name(type));

        s = ptx_sel_value(sel, from, type);
        ptx_sel_move(sel, d, s, rows);
    }
}

/* ---- cvt ----------------------------------------------------------------- */

static int cvt_type(enum ptx_type type)
{
    switch (type) {
    case PTX_T_U8: case PTX_T_B8: return ISA_DT_U8;
    case PTX_T_S8: return ISA_DT_S8;
    case PTX_T_U16: case PTX_T_B16: return ISA_DT_U16;
    case PTX_T_S16: return ISA_DT_S16;
    case PTX_T_U32: case PTX_T_B32: return ISA_DT_U32;
    case PTX_T_S32: return ISA_DT_S32;
    case PTX_T_U64: case PTX_T_B64: return ISA_DT_U64;
    case PTX_T_S64: return ISA_DT_S64;
    case PTX_T_F16: return ISA_DT_F16;
    case PTX_T_BF16: return ISA_DT_BF16;
    case PTX_T_F32: return ISA_DT_F32;
    case PTX_T_F64: return ISA_DT_F64;
    default: return -1;
    }
}

static bool is_float(enum ptx_type type)
{
    return type == PTX_T_F16 || type == PTX_T_BF16 || type == PTX_T_F32 || type == PTX_T_F64;
}

static struct ptx_mi *put_cvt(struct ptx_sel *sel, ptx_ref d, ptx_ref s, int dtype, int stype)
{
    struct ptx_mi *mi = ptx_sel_put(sel, ISA_V_CVT, d, PTX_NO_REF, s, PTX_NO_REF, 1);

    isa_mod_set(&mi->in, ISA_MOD_DTYPE, (unsigned)dtype);
    isa_mod_set(&mi->in, ISA_MOD_STYPE, (unsigned)stype);
    mi->rows[PTX_S_D] = dtype == ISA_DT_U64 || dtype == ISA_DT_S64 || dtype == ISA_DT_F64 ? 2 : 1;
    mi->rows[PTX_S_X] = stype == ISA_DT_U64 || stype == ISA_DT_S64 || stype == ISA_DT_F64 ? 2 : 1;
    return mi;
}

/* Converts an integer to an integer without saturation. The upper bits of a register with a value below 32 bits are
 * undefined, so a narrowing conversion only moves the low word; later passes often remove the move. */
static void cvt_integer(struct ptx_sel *sel, enum ptx_type to, enum ptx_type from, int dtype,
                        int stype)
{
    unsigned to_bytes = ptx_type_bytes(to), from_bytes = ptx_type_bytes(from);
    unsigned reg_bytes = ptx_sel_reg_bytes(sel, &sel->in.operand[0]);
    bool from_signed = from == PTX_T_S8 || from == PTX_T_S16 || from == PTX_T_S32;
    bool to_signed = to == PTX_T_S8 || to == PTX_T_S16 || to == PTX_T_S32;
    ptx_ref s = ptx_sel_value_wide(sel, &sel->in.operand[1], from);
    ptx_ref d = ptx_sel_dest_wide(sel, &sel->in.operand[0], to, reg_bytes > 4 ? 2 : 1);

    if (reg_bytes < to_bytes)
        reg_bytes = to_bytes;
    if (to_bytes == 8 && from_bytes < 8) {
        if (s == PTX_ZERO)
            ptx_sel_imm(sel, d, 2, 0);
        else
            (void)put_cvt(sel, d, s, from_signed ? ISA_DT_S64 : ISA_DT_U64, stype);
        return;
    }
    if (to_bytes == 8) {
        ptx_sel_move(sel, d, s, 2);
        return;
    }
    bool widens = to_bytes > from_bytes;

    if (widens && s != PTX_ZERO) { /* an integer is widened: the source has 8 or 16 bits */
        bool more = reg_bytes > to_bytes && to_bytes < 4 && from_signed != to_signed;
        ptx_ref t = more || reg_bytes == 8 ? ptx_sel_temp(sel, 1) : d;

        (void)put_cvt(sel, t, s, from_signed ? ISA_DT_S32 : ISA_DT_U32, stype);
        if (!more && reg_bytes <= 4)
            return;
        s = t;
    }
    if (reg_bytes == 8) { /* PTX's relaxed type checking: the result is extended to the 64 bits of the register */
        if (s == PTX_ZERO)
            ptx_sel_imm(sel, d, 2, 0);
        else
            (void)put_cvt(sel, d, s, to_signed ? ISA_DT_S64 : ISA_DT_U64, dtype);
    } else if (reg_bytes > to_bytes && s != PTX_ZERO) {
        (void)put_cvt(sel, d, s, to_signed ? ISA_DT_S32 : ISA_DT_U32, dtype);
    } else {
        ptx_sel_move(sel, d, s, 1);
    }
}

void ptx_rule_cvt(struct ptx_sel *sel)
{
    enum ptx_type to = ptx_sel_type(sel, 0), from = ptx_sel_type(sel, 1);
    int dtype = cvt_type(to), stype = cvt_type(from);
    unsigned none = ISA_CRND_RPI + 1, rounding;
    bool sat = ptx_take(&sel->in, PTX_W_SAT), ftz = ptx_take(&sel->in, PTX_W_FTZ);
    struct ptx_mi *mi;
    ptx_ref s, d;

    if (dtype < 0 || stype < 0 || sel->in.operand_count != 2)
        ptx_sel_fail(sel, LW_EUNSUPP, "a conversion from .%s to .%s is not supported", ptx_type_name(from),
                     ptx_type_name(to));
    rounding = ptx_take_rounding(&sel->in, true, none);
    if (!is_float(to) && !is_float(from) && !sat) {
        cvt_integer(sel, to, from, dtype, stype);
        return;
    }
    s = ptx_sel_value_wide(sel, &sel->in.operand[1], from);
    d = ptx_sel_dest_wide(sel, &sel->in.operand[0], to, ptx_type_rows(to));
    if (to == from && !sat && !ftz && rounding == none) {
        ptx_sel_move(sel, d, s, ptx_type_rows(to));
        return;
    }
    mi = put_cvt(sel, d, s, dtype, stype);
    if (rounding == none)
        rounding = is_float(from) && !is_float(to) ? ISA_CRND_RZI : ISA_CRND_RN;
    isa_mod_set(&mi->in, ISA_MOD_CRND, rounding);
    isa_mod_set(&mi->in, ISA_MOD_CSAT, sat ? ISA_CSAT_ON : ISA_CSAT_OFF);
    isa_mod_set(&mi->in, ISA_MOD_CFTZ, ftz ? ISA_CFTZ_ON : ISA_CFTZ_OFF);
}

/* ---- comparisons --------------------------------------------------------- */

static enum isa_op setp_op(struct ptx_sel *sel, enum ptx_type type)
{
    switch (type) {
    case PTX_T_U16: case PTX_T_B16: case PTX_T_U32: case PTX_T_B32: return ISA_V_SETP_U32;
    case PTX_T_S16: case PTX_T_S32: return ISA_V_SETP_S32;
    case PTX_T_U64: case PTX_T_B64: return ISA_V_SETP_U64;
    case PTX_T_S64: return ISA_V_SETP_S64;
    case PTX_T_F32: return ISA_V_SETP_F32;
    case PTX_T_F64: return ISA_V_SETP_F64;
    case PTX_T_F16: return ISA_V_SETP_F16;
    case PTX_T_BF16: return ISA_V_SETP_BF16;
    case PTX_T_F16X2: return ISA_V_SETP_F16X2;
    case PTX_T_BF16X2: return ISA_V_SETP_BF16X2;
    default: ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
    }
}

/* Compares operands 1 and 2, combines the result with operand 3 if there is one, and writes predicates @p and @q. */
static void compare(struct ptx_sel *sel, enum ptx_type type, ptx_ref p, ptx_ref q)
{
    static const struct {
        uint8_t word, value;
    } comparisons[] = {
        { PTX_W_EQ, ISA_CMP_EQ },   { PTX_W_NE, ISA_CMP_NE },   { PTX_W_LT, ISA_CMP_LT },
        { PTX_W_LE, ISA_CMP_LE },   { PTX_W_GT, ISA_CMP_GT },   { PTX_W_GE, ISA_CMP_GE },
        { PTX_W_LO, ISA_CMP_LT },   { PTX_W_LS, ISA_CMP_LE },   { PTX_W_HI, ISA_CMP_GT },
        { PTX_W_HS, ISA_CMP_GE },   { PTX_W_EQU, ISA_CMP_EQU }, { PTX_W_NEU, ISA_CMP_NEU },
        { PTX_W_LTU, ISA_CMP_LTU }, { PTX_W_LEU, ISA_CMP_LEU }, { PTX_W_GTU, ISA_CMP_GTU },
        { PTX_W_GEU, ISA_CMP_GEU }, { PTX_W_NUM, ISA_CMP_NUM }, { PTX_W_NAN, ISA_CMP_NAN },
    };
    enum isa_op op = setp_op(sel, type);
    unsigned comparison = UINT32_MAX, boolean = ISA_BOOL_NONE, rows = ptx_type_rows(type);
    bool floats = is_float(type) || type == PTX_T_F16X2 || type == PTX_T_BF16X2;
    ptx_ref a, x;
    struct ptx_mi *mi;

    for (unsigned i = 0; i < LW_COUNT_OF(comparisons); i++) {
        enum ptx_word word = (enum ptx_word)comparisons[i].word;

        if (!ptx_take(&sel->in, word))
            continue;
        comparison = comparisons[i].value;
        if ((word == PTX_W_LO || word == PTX_W_LS || word == PTX_W_HI || word == PTX_W_HS) &&
            type != PTX_T_U16 && type != PTX_T_U32 && type != PTX_T_U64)
            ptx_sel_fail(sel, LW_EINPUT, "the comparison '.%s' is for unsigned integers, not for .%s",
                         ptx_word_text(word), ptx_type_name(type));
        if (comparison != ISA_CMP_EQ && comparison != ISA_CMP_NE &&
            ptx_type_class(type) == PTX_CLASS_BITS)
            ptx_sel_fail(sel, LW_EINPUT, "type .%s has only the comparisons '.eq' and '.ne'",
                         ptx_type_name(type));
    }
    if (comparison == UINT32_MAX)
        ptx_sel_fail(sel, LW_EINPUT, "the comparison is missing, such as '.lt'");
    if (comparison > ISA_CMP_GE && !floats)
        ptx_sel_fail(sel, LW_EINPUT, "this comparison is for floats, not for .%s",
                     ptx_type_name(type));
    if (ptx_take(&sel->in, PTX_W_AND))
        boolean = ISA_BOOL_AND;
    else if (ptx_take(&sel->in, PTX_W_OR))
        boolean = ISA_BOOL_OR;
    else if (ptx_take(&sel->in, PTX_W_XOR))
        boolean = ISA_BOOL_XOR;
    ptx_sel_operands(sel, boolean != ISA_BOOL_NONE ? 4 : 3, boolean != ISA_BOOL_NONE ? 4 : 3);
    a = ptx_sel_extended(sel, 1, type);
    x = ptx_sel_extended(sel, 2, type);
    mi = ptx_sel_put(sel, op, PTX_NO_REF, a, x, PTX_NO_REF, rows);
    isa_mod_set(&mi->in, ISA_MOD_CMP, comparison);
    isa_mod_set(&mi->in, ISA_MOD_BOOL, boolean);
    if (ptx_take(&sel->in, PTX_W_FTZ))
        isa_mod_set(&mi->in, ISA_MOD_CMPFTZ, ISA_CMPFTZ_ON);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_Q] = q;
    mi->ref[PTX_S_R] = PTX_ZERO;
    if (boolean != ISA_BOOL_NONE)
        ptx_sel_pred_read(sel, mi, PTX_S_R, &sel->in.operand[3]);
}

void ptx_rule_setp(struct ptx_sel *sel)
{
    const struct ptx_operand *to;
    ptx_ref p, q = PTX_NO_REF;

    ptx_sel_operands(sel, 3, 4);
    to = &sel->in.operand[0];
    if (to->kind == PTX_O_PAIR) {
        if ((ptx_sel_type(sel, 0) == PTX_T_F16 || ptx_sel_type(sel, 0) == PTX_T_BF16) &&
            to->element[1].kind != PTX_O_SINK)
            ptx_sel_fail(sel, LW_EINPUT, "a comparison of .%s writes one predicate, not two",
                         ptx_type_name(ptx_sel_type(sel, 0)));
        p = ptx_sel_pred_dest(sel, &to->element[0]);
        q = ptx_sel_pred_dest(sel, &to->element[1]);
    } else {
        p = ptx_sel_pred_dest(sel, to);
    }
    compare(sel, ptx_sel_type(sel, 0), p, q);
}

/* Emits d = p ? @truth : 0. */
static void put_truth(struct ptx_sel *sel, ptx_ref d, ptx_ref p, uint32_t truth)
{
    ptx_ref one = ptx_sel_temp(sel, 1);
    struct ptx_mi *mi;

    ptx_sel_imm(sel, one, 1, truth);
    mi = ptx_sel_put(sel, ISA_V_SELP_B32, d, PTX_ZERO, one, PTX_NO_REF, 1);
    mi->ref[PTX_S_R] = p;
    ptx_mi_negate(mi, PTX_S_R, true);
}

void ptx_rule_set(struct ptx_sel *sel)
{
    enum ptx_type to = ptx_sel_type(sel, 0), from = ptx_sel_type(sel, 1);
    bool packed = from == PTX_T_F16X2 || from == PTX_T_BF16X2;
    ptx_ref p = ptx_sel_temp(sel, 0), q = packed ? ptx_sel_temp(sel, 0) : PTX_NO_REF, d;
    uint32_t truth;

    switch (to) {
    case PTX_T_U32: case PTX_T_S32: truth = packed ? 0xffff : UINT32_MAX; break;
    case PTX_T_U16: case PTX_T_S16: truth = packed ? 0 : 0xffff; break;
    case PTX_T_F32: truth = packed ? 0 : 0x3f800000u; break;
    case PTX_T_F16: truth = packed ? 0 : 0x3c00; break;
    case PTX_T_BF16: truth = packed ? 0 : 0x3f80; break;
    case PTX_T_F16X2: truth = from == to ? 0x3c00 : 0; break;
    case PTX_T_BF16X2: truth = from == to ? 0x3f80 : 0; break;
    default: truth = 0; break;
    }
    if (truth == 0)
        ptx_sel_fail(sel, LW_EUNSUPP, "a result of type .%s is not supported", ptx_type_name(to));
    compare(sel, from, p, q);
    d = ptx_sel_dest(sel, &sel->in.operand[0], to);
    if (packed) {
        ptx_ref low = ptx_sel_temp(sel, 1), high = ptx_sel_temp(sel, 1);

        put_truth(sel, low, p, truth);
        put_truth(sel, high, q, truth << 16);
        ptx_sel_put(sel, ISA_V_OR_B32, d, low, high, PTX_NO_REF, 1);
    } else {
        put_truth(sel, d, p, truth);
    }
}

void ptx_rule_selp(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    unsigned rows = ptx_type_rows(type);
    ptx_ref a, x, d;
    struct ptx_mi *mi;

    ptx_sel_operands(sel, 4, 4);
    if (type == PTX_T_PRED)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .pred is not supported");
    a = ptx_sel_source(sel, 1, type);
    x = ptx_sel_source(sel, 2, type);
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    mi = ptx_sel_put(sel, rows == 2 ? ISA_V_SELP_B64 : ISA_V_SELP_B32, d, a, x, PTX_NO_REF, rows);
    ptx_sel_pred_read(sel, mi, PTX_S_R, &sel->in.operand[3]);
}

/* Selects slct d, a, b, c: c >= 0 ? a : b. */
void ptx_rule_slct(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0), test = ptx_sel_type(sel, 1);
    unsigned rows = ptx_type_rows(type);
    ptx_ref a, x, c, d, p = ptx_sel_temp(sel, 0);
    struct ptx_mi *mi;

    if (test != PTX_T_S32 && test != PTX_T_F32)
        ptx_sel_fail(sel, LW_EUNSUPP, "a test of type .%s is not supported", ptx_type_name(test));
    ptx_sel_operands(sel, 4, 4);
    a = ptx_sel_source(sel, 1, type);
    x = ptx_sel_source(sel, 2, type);
    c = ptx_sel_source(sel, 3, test);
    mi = ptx_sel_put(sel, test == PTX_T_F32 ? ISA_V_SETP_F32 : ISA_V_SETP_S32, PTX_NO_REF, c,
                     PTX_ZERO, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_GE);
    if (ptx_take(&sel->in, PTX_W_FTZ))
        isa_mod_set(&mi->in, ISA_MOD_CMPFTZ, ISA_CMPFTZ_ON);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    mi = ptx_sel_put(sel, rows == 2 ? ISA_V_SELP_B64 : ISA_V_SELP_B32, d, a, x, PTX_NO_REF, rows);
    mi->ref[PTX_S_R] = p;
}

/* ---- bits ---------------------------------------------------------------- */

/* Truth tables that are symmetric in the three predicates. */
enum { PLOP_AND = 0x80, PLOP_OR = 0xfe, PLOP_XOR = 0x96 };

void ptx_rule_bit(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    struct ptx_mi *mi;
    bool unary = sel->in.op == PTX_NOT;

    if (sel->in.op == PTX_CNOT) { /* computes a == 0 ? 1 : 0 */
        unsigned rows = ptx_type_rows(type);
        ptx_ref p = ptx_sel_temp(sel, 0), a, one, d;

        ptx_sel_operands(sel, 2, 2);
        a = ptx_sel_extended(sel, 1, type);
        mi = ptx_sel_put(sel, rows == 2 ? ISA_V_SETP_U64 : ISA_V_SETP_U32, PTX_NO_REF, a, PTX_ZERO,
                         PTX_NO_REF, rows);
        isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_EQ);
        mi->ref[PTX_S_P] = p;
        mi->ref[PTX_S_R] = PTX_ZERO;
        d = ptx_sel_dest(sel, &sel->in.operand[0], type);
        one = ptx_sel_temp(sel, rows);
        ptx_sel_imm(sel, one, rows, 1);
        mi = ptx_sel_put(sel, rows == 2 ? ISA_V_SELP_B64 : ISA_V_SELP_B32, d, PTX_ZERO, one,
                         PTX_NO_REF, rows);
        mi->ref[PTX_S_R] = p;
        ptx_mi_negate(mi, PTX_S_R, true);
        return;
    }
    if (type != PTX_T_PRED) {
        ptx_rule_alu(sel);
        return;
    }
    ptx_sel_operands(sel, unary ? 2 : 3, unary ? 2 : 3);
    ptx_ref d = ptx_sel_pred_dest(sel, &sel->in.operand[0]);

    mi = ptx_sel_emit(sel, ISA_V_PLOP3);
    mi->in.x = unary || sel->in.op == PTX_AND ? PLOP_AND
               : sel->in.op == PTX_OR         ? PLOP_OR
                                              : PLOP_XOR;
    mi->ref[PTX_S_P] = d;
    mi->ref[PTX_S_RA] = mi->ref[PTX_S_RB] = mi->ref[PTX_S_R] = PTX_ZERO;
    if (sel->in.op == PTX_OR || sel->in.op == PTX_XOR)
        ptx_mi_negate(mi, PTX_S_R, true); /* the third predicate of the instruction is always false */
    ptx_sel_pred_read(sel, mi, PTX_S_RA, &sel->in.operand[1]);
    mi = &sel->unit->code.at[sel->unit->code.count - 1];
    if (unary)
        ptx_mi_negate(mi, PTX_S_RA, !ptx_mi_negated(mi, PTX_S_RA));
    else
        ptx_sel_pred_read(sel, mi, PTX_S_RB, &sel->in.operand[2]);
}

/* Returns a register with the operand @position in bits 7:0 and the operand @length in bits 15:8. */
static ptx_ref field(struct ptx_sel *sel, unsigned position, unsigned length)
{
    uint64_t pos, len;
    ptx_ref d = ptx_sel_temp(sel, 1);

    for (unsigned k = position; k <= length; k += length - position) {
        const struct ptx_operand *o = &sel->in.operand[k];

        if (o->kind == PTX_O_IMM && o->imm > 255)
            ptx_sel_fail(sel, LW_EINPUT, "operand %u is %lld: it must be from 0 to 255", k + 1,
                         (long long)o->imm);
    }
    if (ptx_sel_known(sel, &sel->in.operand[position], &pos) &&
        ptx_sel_known(sel, &sel->in.operand[length], &len)) {
        ptx_sel_imm(sel, d, 1, (pos & 255) | (len & 255) << 8);
        return d;
    }
    ptx_ref p = ptx_sel_source(sel, position, PTX_T_U32);
    ptx_ref l = ptx_sel_source(sel, length, PTX_T_U32);
    ptx_ref selector = ptx_sel_temp(sel, 1);

    ptx_sel_imm(sel, selector, 1, 0x7640); /* the selector takes byte 0 of both operands; the other bytes of the result are
                                            * ignored */
    ptx_sel_put(sel, ISA_V_PRMT_B32, d, p, selector, l, 1);
    return d;
}

void ptx_rule_bfe(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    enum isa_op op = type == PTX_T_U32   ? ISA_V_BFE_U32
                     : type == PTX_T_S32 ? ISA_V_BFE_S32
                     : type == PTX_T_U64 ? ISA_V_BFE_U64
                     : type == PTX_T_S64 ? ISA_V_BFE_S64
                                         : ISA_OP_NONE;
    unsigned rows = ptx_type_rows(type);
    struct ptx_mi *mi;

    ptx_sel_operands(sel, 4, 4);
    if (op == ISA_OP_NONE)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
    ptx_ref a = ptx_sel_source(sel, 1, type), f = field(sel, 2, 3);

    mi = ptx_sel_put(sel, op, ptx_sel_dest(sel, &sel->in.operand[0], type), a, f, PTX_NO_REF, rows);
    mi->rows[PTX_S_X] = 1;
}

void ptx_rule_bfi(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    unsigned rows = ptx_type_rows(type);
    struct ptx_mi *mi;

    ptx_sel_operands(sel, 5, 5);
    if (type != PTX_T_B32 && type != PTX_T_B64)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
    ptx_ref a = ptx_sel_source(sel, 1, type), c = ptx_sel_source(sel, 2, type);
    ptx_ref f = field(sel, 3, 4);

    mi = ptx_sel_put(sel, rows == 2 ? ISA_V_BFI_B64 : ISA_V_BFI_B32,
                     ptx_sel_dest(sel, &sel->in.operand[0], type), a, f, c, rows);
    mi->rows[PTX_S_X] = 1;
}

/* Selects bfind: the number of the highest set bit or, in a signed value, of the highest bit that differs from the sign. */
void ptx_rule_bfind(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    unsigned rows = ptx_type_rows(type);
    bool is_signed = type == PTX_T_S32 || type == PTX_T_S64;
    ptx_ref a, count, top, d;
    struct ptx_mi *mi;

    ptx_sel_operands(sel, 2, 2);
    if (!is_signed && type != PTX_T_U32 && type != PTX_T_U64)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
    a = ptx_sel_source(sel, 1, type);
    if (is_signed) {
        ptx_ref sign = ptx_sel_temp(sel, rows), by = ptx_sel_temp(sel, 1);
        ptx_ref t = ptx_sel_temp(sel, rows);

        ptx_sel_imm(sel, by, 1, rows == 2 ? 63 : 31);
        mi = ptx_sel_put(sel, rows == 2 ? ISA_V_SHR_S64 : ISA_V_SHR_S32, sign, a, by, PTX_NO_REF,
                         rows);
        mi->rows[PTX_S_X] = 1;
        ptx_sel_put(sel, rows == 2 ? ISA_V_XOR_B64 : ISA_V_XOR_B32, t, a, sign, PTX_NO_REF, rows);
        a = t;
    }
    count = ptx_sel_temp(sel, 1);
    mi = ptx_sel_put(sel, rows == 2 ? ISA_V_CLZ_B64 : ISA_V_CLZ_B32, count, PTX_NO_REF, a,
                     PTX_NO_REF, rows);
    mi->rows[PTX_S_D] = 1;
    top = ptx_sel_temp(sel, 1);
    if (ptx_take(&sel->in, PTX_W_SHIFTAMT)) { /* the result of clz, or -1 if no bit is found */
        ptx_ref p = ptx_sel_temp(sel, 0), none = ptx_sel_temp(sel, 1);

        ptx_sel_imm(sel, top, 1, rows == 2 ? 64 : 32);
        mi = ptx_sel_put(sel, ISA_V_SETP_U32, PTX_NO_REF, count, top, PTX_NO_REF, 1);
        isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_NE);
        mi->ref[PTX_S_P] = p;
        mi->ref[PTX_S_R] = PTX_ZERO;
        ptx_sel_imm(sel, none, 1, UINT32_MAX);
        d = ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_U32);
        mi = ptx_sel_put(sel, ISA_V_SELP_B32, d, count, none, PTX_NO_REF, 1);
        mi->ref[PTX_S_R] = p;
        return;
    }
    ptx_sel_imm(sel, top, 1, rows == 2 ? 63 : 31);
    d = ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_U32);
    ptx_sel_put(sel, ISA_V_SUB_U32, d, top, count, PTX_NO_REF, 1);
}

void ptx_rule_shf(struct ptx_sel *sel)
{
    bool left = ptx_take(&sel->in, PTX_W_L), right = ptx_take(&sel->in, PTX_W_R);
    bool wrap = ptx_take(&sel->in, PTX_W_WRAP), clamp = ptx_take(&sel->in, PTX_W_CLAMP);
    enum ptx_type type = ptx_sel_type(sel, 0);
    uint64_t known;
    ptx_ref a, b, c, d;

    ptx_sel_operands(sel, 4, 4);
    if (left == right || wrap == clamp || ptx_type_bytes(type) != 4)
        ptx_sel_fail(sel, LW_EUNSUPP, "only '.l' or '.r', with '.wrap' or '.clamp' and type .b32, is supported");
    a = ptx_sel_source(sel, 1, type);
    b = ptx_sel_source(sel, 2, type);
    if (ptx_sel_known(sel, &sel->in.operand[3], &known)) {
        c = ptx_sel_temp(sel, 1);
        known = (uint32_t)known;
        ptx_sel_imm(sel, c, 1, wrap ? known & 31 : known > 32 ? 32 : known);
    } else {
        c = ptx_sel_source(sel, 3, type);
        if (wrap) { /* extracts the low five bits of the number, because our shift clamps it at 32 */
            ptx_ref mask = ptx_sel_temp(sel, 1), t = ptx_sel_temp(sel, 1);

            ptx_sel_imm(sel, mask, 1, 31);
            ptx_sel_put(sel, ISA_V_AND_B32, t, c, mask, PTX_NO_REF, 1);
            c = t;
        }
    }
    d = ptx_sel_dest(sel, &sel->in.operand[0], type);
    ptx_sel_put(sel, left ? ISA_V_SHFL_B32 : ISA_V_SHFR_B32, d, a, b, c, 1);
}

void ptx_rule_lop3(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0);
    const struct ptx_operand *to = &sel->in.operand[0];
    bool both = ptx_take(&sel->in, PTX_W_AND), either = ptx_take(&sel->in, PTX_W_OR);
    bool tests = both || either; /* the form d|p also computes p = (d != 0) op q */
    ptx_ref p = PTX_NO_REF, d;
    uint64_t table;
    struct ptx_mi *mi;

    ptx_sel_operands(sel, tests ? 6 : 5, tests ? 6 : 5);
    if (tests != (to->kind == PTX_O_PAIR))
        ptx_sel_fail(sel, LW_EINPUT, "a second destination (d|p) and '.and' or '.or' must be given together");
    if (tests) {
        p = ptx_sel_pred_dest(sel, &to->element[1]);
        to = &to->element[0];
    }
    if (type != PTX_T_B32 || !ptx_sel_known(sel, &sel->in.operand[4], &table) || table > 255)
        ptx_sel_fail(sel, LW_EUNSUPP, "only type .b32 with a truth table of 0 to 255 is supported");
    ptx_ref a = ptx_sel_source(sel, 1, type), b = ptx_sel_source(sel, 2, type);
    ptx_ref c = ptx_sel_source(sel, 3, type);

    d = tests ? ptx_sel_temp(sel, 1) : ptx_sel_dest(sel, to, type);
    mi = ptx_sel_put(sel, ISA_V_LOP3_B32, d, a, b, c, 1);
    isa_insn_set_lut(&mi->in, (unsigned)table);
    if (!tests)
        return;
    /* the predicate is written last, because it may be the guard */
    if (to->kind != PTX_O_SINK)
        ptx_sel_move(sel, ptx_sel_dest(sel, to, type), d, 1);
    mi = ptx_sel_put(sel, ISA_V_SETP_U32, PTX_NO_REF, d, PTX_ZERO, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_NE);
    isa_mod_set(&mi->in, ISA_MOD_BOOL, both ? ISA_BOOL_AND : ISA_BOOL_OR);
    mi->ref[PTX_S_P] = p;
    ptx_sel_pred_read(sel, mi, PTX_S_R, &sel->in.operand[5]);
}

void ptx_rule_prmt(struct ptx_sel *sel)
{
    static const struct {
        uint8_t word, mode;
    } modes[] = {
        { PTX_W_F4E, ISA_PRMT_F4E }, { PTX_W_B4E, ISA_PRMT_B4E }, { PTX_W_RC8, ISA_PRMT_RC8 },
        { PTX_W_ECL, ISA_PRMT_ECL }, { PTX_W_ECR, ISA_PRMT_ECR }, { PTX_W_RC16, ISA_PRMT_RC16 },
    };
    unsigned mode = ISA_PRMT_IDX;
    struct ptx_mi *mi;

    ptx_sel_operands(sel, 4, 4);
    for (unsigned i = 0; i < LW_COUNT_OF(modes); i++) {
        if (ptx_take(&sel->in, (enum ptx_word)modes[i].word))
            mode = modes[i].mode;
    }
    ptx_ref a = ptx_sel_source(sel, 1, PTX_T_B32), b = ptx_sel_source(sel, 2, PTX_T_B32);
    ptx_ref c = ptx_sel_source(sel, 3, PTX_T_B32);

    /* our instruction has the selector as its second operand, and the register with bytes 4 to 7 as its third */
    mi = ptx_sel_put(sel, ISA_V_PRMT_B32, ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_B32), a, c,
                     b, 1);
    isa_mod_set(&mi->in, ISA_MOD_PRMT, mode);
}
