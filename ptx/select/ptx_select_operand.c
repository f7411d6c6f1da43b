/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the selection rules: operands as registers, and emission of instructions. */
#include <stdio.h>

#include "ptx/select/ptx_select_priv.h"

/* ---- helpers ------------------------------------------------------------- */

void ptx_sel_fail(struct ptx_sel *sel, enum lw_status status, const char *fmt, ...)
{
    char text[LW_ERROR_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ptx_fail(sel->job, sel->in.line, status, "%s: %s",
             ptx_op_name((enum ptx_op)(sel->in.part_of != PTX_OP_NONE ? sel->in.part_of : sel->in.op)), text);
}

void ptx_sel_operands(struct ptx_sel *sel, unsigned low, unsigned high)
{
    unsigned n = sel->in.operand_count;

    if (n >= low && n <= high)
        return;
    if (low == high)
        ptx_sel_fail(sel, LW_EINPUT, "expected %u operands, found %u", low, n);
    ptx_sel_fail(sel, LW_EINPUT, "expected %u to %u operands, found %u", low, high, n);
}

enum ptx_type ptx_sel_type(struct ptx_sel *sel, unsigned index)
{
    if (index >= sel->in.type_count)
        ptx_sel_fail(sel, LW_EINPUT, "the type is missing");
    return (enum ptx_type)sel->in.type[index];
}

ptx_ref ptx_sel_temp(struct ptx_sel *sel, unsigned rows)
{
    (void)ptx_vreg_new(sel->unit, rows);
    return ptx_ref_of((uint32_t)(sel->unit->vregs.count - 1), 0);
}

struct ptx_mi *ptx_sel_emit(struct ptx_sel *sel, enum isa_op op)
{
    struct ptx_mi *mi = PTX_PUSH(sel->job, sel->unit->code);

    ptx_mi_init(mi, op, sel->in.loc, sel->in.line);
    return mi;
}

struct ptx_mi *ptx_sel_put(struct ptx_sel *sel, enum isa_op op, ptx_ref d, ptx_ref a, ptx_ref x,
                           ptx_ref c, unsigned rows)
{
    struct ptx_mi *mi = ptx_sel_emit(sel, op);

    mi->ref[PTX_S_D] = d;
    mi->ref[PTX_S_A] = a;
    mi->ref[PTX_S_X] = x;
    mi->ref[PTX_S_C] = c;
    memset(mi->rows, (int)rows, sizeof mi->rows);
    mi->in.xkind = ISA_X_VECTOR;
    return mi;
}

void ptx_sel_imm(struct ptx_sel *sel, ptx_ref d, unsigned rows, uint64_t value)
{
    struct ptx_mi *mi = ptx_sel_put(sel, rows == 2 ? ISA_V_MOV_B64 : ISA_V_MOV_B32, d, PTX_NO_REF,
                                    PTX_NO_REF, PTX_NO_REF, rows);

    mi->in.xkind = ISA_X_IMM;
    mi->flags |= PTX_MI_IMM64;
    mi->imm64 = rows == 2 ? value : (uint32_t)value;
    mi->in.x = (uint32_t)value;
}

void ptx_sel_move(struct ptx_sel *sel, ptx_ref d, ptx_ref s, unsigned rows)
{
    if (s == PTX_ZERO)
        ptx_sel_imm(sel, d, rows, 0);
    else
        ptx_sel_put(sel, rows == 2 ? ISA_V_MOV_B64 : ISA_V_MOV_B32, d, PTX_NO_REF, s, PTX_NO_REF,
                    rows);
}

ptx_ref ptx_sel_reg(struct ptx_sel *sel, uint32_t reg)
{
    struct ptx_reg *r = &sel->fn->regs.at[reg];

    if (r->vreg == 0) {
        struct ptx_vreg *v = ptx_vreg_new(
            sel->unit, r->type == PTX_T_PRED ? 0 : ptx_type_rows((enum ptx_type)r->type));

        v->origin = reg;
        r->vreg = (uint32_t)sel->unit->vregs.count;
    }
    return ptx_ref_of(r->vreg - 1, 0);
}

unsigned ptx_sel_reg_bytes(const struct ptx_sel *sel, const struct ptx_operand *operand)
{
    if (operand->kind != PTX_O_REG)
        return 4;
    return ptx_type_bytes((enum ptx_type)sel->fn->regs.at[operand->reg].type);
}

bool ptx_sel_known(const struct ptx_sel *sel, const struct ptx_operand *operand, uint64_t *value)
{
    if (operand->kind == PTX_O_IMM && operand->literal == PTX_LIT_INT) {
        *value = operand->imm;
        return true;
    }
    if (operand->kind == PTX_O_REG && sel->fn->regs.at[operand->reg].constant) {
        *value = sel->fn->regs.at[operand->reg].value;
        return true;
    }
    return false;
}

static uint64_t literal_bits(struct ptx_sel *sel, const struct ptx_operand *o, enum ptx_type type)
{
    bool f32 = type == PTX_T_F32 || type == PTX_T_B32, f64 = type == PTX_T_F64 || type == PTX_T_B64;
    double d;
    float f;
    uint32_t w;
    uint64_t bits;

    switch ((enum ptx_literal)o->literal) {
    case PTX_LIT_WARP_SIZE:
        sel->unit->needs_warp_32 = true;
        return o->imm;
    case PTX_LIT_INT:
        if (type == PTX_T_F32 || type == PTX_T_F64)
            ptx_sel_fail(sel, LW_EINPUT, "expected a .%s, found the integer %lld: write it as a float, such as %lld.0",
                         ptx_type_name(type), (long long)o->imm, (long long)o->imm);
        if (ptx_type_class(type) == PTX_CLASS_FLOAT)
            ptx_sel_fail(sel, LW_EINPUT, "type .%s has no literals: move a value as .b%u into a register",
                         ptx_type_name(type), 8 * ptx_type_bytes(type));
        return o->imm;
    case PTX_LIT_F32:
        if (f32)
            return o->imm;
        if (type == PTX_T_F64) {
            w = (uint32_t)o->imm;
            memcpy(&f, &w, sizeof f);
            d = (double)f;
            memcpy(&bits, &d, sizeof bits);
            return bits;
        }
        break;
    case PTX_LIT_F64:
        if (f64)
            return o->imm;
        if (type == PTX_T_F32) {
            memcpy(&d, &o->imm, sizeof d);
            f = (float)d;
            memcpy(&w, &f, sizeof w);
            return w;
        }
        break;
    }
    ptx_sel_fail(sel, LW_EINPUT, "a floating-point literal does not fit type .%s",
                 ptx_type_name(type));
}

ptx_ref ptx_sel_symbol(struct ptx_sel *sel, uint32_t symbol, int64_t addend, unsigned rows)
{
    struct ptx_unit *unit = sel->unit;
    struct ptx_symbol *s = &unit->module->symbols.at[symbol];
    ptx_ref d = ptx_sel_temp(sel, rows);

    if (s->kind == PTX_SYM_FUNCTION && !unit->module->functions.at[s->function].has_body)
        ptx_sel_fail(sel, LW_EUNSUPP, "'%s' is declared but not defined in this module: link the module that defines it", s->name);
    switch (s->kind == PTX_SYM_FUNCTION ? PTX_SP_GENERIC : s->space) {
    case PTX_SP_PARAM:
        if (s->home == PTX_SPILL_POINTER)
            return ptx_sel_pointer(sel, s, (uint64_t)addend, rows);
        if (s->home != PTX_SPILL_CONST)
            ptx_sel_fail(sel, LW_EUNSUPP, "'%s' is a parameter of a call", s->name);
        ptx_sel_imm(sel, d, rows, s->offset + (uint64_t)addend);
        return d;
    case PTX_SP_LOCAL:
        return ptx_sel_local_address(sel, s->offset + (uint64_t)addend, rows);
    case PTX_SP_SHARED:
        ptx_sel_imm(sel, d, rows, s->offset + (uint64_t)addend);
        return d;
    default:
        break;
    }
    if (s->external)
        ptx_sel_fail(sel, LW_EUNSUPP, "'%s' is external, but no linked module defines it",
                     s->name);
    if (rows != 2)
        ptx_sel_fail(sel, LW_EUNSUPP, "the address of '%s' needs a 64-bit register", s->name);
    for (unsigned half = 0; half < 2; half++) {
        struct ptx_mi *mi = ptx_sel_put(sel, ISA_V_MOV_B32, d + half, PTX_NO_REF, PTX_NO_REF,
                                        PTX_NO_REF, 1);

        mi->in.xkind = ISA_X_IMM;
        mi->flags |= half == 0 ? PTX_MI_RELOC_LOW : PTX_MI_RELOC_HIGH | PTX_MI_PARTIAL;
        mi->symbol = symbol;
        mi->imm64 = (uint64_t)addend;
    }
    return d;
}

/* Checks that a register's type matches (PTX ISA, operand types): a .b type matches any type of its size; an integer
 * type matches integers of its size with or without sign; a float type matches only itself. @wide: a register with more
 * bits also matches, but a float never matches another float or an integer (relaxed type checking of ld, st and cvt). */
static void check_type(struct ptx_sel *sel, const struct ptx_reg *r, enum ptx_type type, bool wide)
{
    enum ptx_type have = (enum ptx_type)r->type;
    enum ptx_type_class c = ptx_type_class(type), hc = ptx_type_class(have);
    unsigned bytes = ptx_type_bytes(type), bits = bytes * 8;
    const char *more = wide && bytes < 8 ? ", or a wider one" : "";

    if ((wide ? ptx_type_bytes(have) >= bytes : ptx_type_bytes(have) == bytes) &&
        (c == PTX_CLASS_BITS || hc == PTX_CLASS_BITS ||
         (c == hc && (c == PTX_CLASS_INTEGER || type == have))))
        return;
    switch (c) {
    case PTX_CLASS_INTEGER:
        ptx_sel_fail(sel, LW_EINPUT, "register '%s' is .%s, expected .u%u, .s%u or .b%u%s", r->name,
                     ptx_type_name(have), bits, bits, bits, more);
    case PTX_CLASS_FLOAT:
        if (type == PTX_T_TF32)
            ptx_sel_fail(sel, LW_EINPUT, "register '%s' is .%s, expected .b32 for .tf32", r->name,
                         ptx_type_name(have));
        ptx_sel_fail(sel, LW_EINPUT, "register '%s' is .%s, expected .%s or .b%u%s", r->name,
                     ptx_type_name(have), ptx_type_name(type), bits, more);
    default:
        ptx_sel_fail(sel, LW_EINPUT, "register '%s' is .%s, expected a register of %u bits%s", r->name,
                     ptx_type_name(have), bits, more);
    }
}

static ptx_ref read_special(struct ptx_sel *sel, enum isa_special special)
{
    ptx_ref d = ptx_sel_temp(sel, 1);

    ptx_sel_put(sel, ISA_V_S2R, d, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, 1)->in.x = special;
    return d;
}

static ptx_ref three(struct ptx_sel *sel, enum isa_op op, ptx_ref a, ptx_ref x, ptx_ref c)
{
    ptx_ref d = ptx_sel_temp(sel, 1);

    ptx_sel_put(sel, op, d, a, x, c, 1);
    return d;
}

/* Returns %warpid or %nwarpid. PTX's warps have 32 threads, independent of our warp width: %warpid is the thread's
 * index in the block divided by 32, so it is unique in the block, and %nwarpid is the number of such warps. */
static ptx_ref warp_number(struct ptx_sel *sel, bool count)
{
    ptx_ref nx = read_special(sel, ISA_SR_NTID_X), ny = read_special(sel, ISA_SR_NTID_Y);
    ptx_ref z = read_special(sel, count ? ISA_SR_NTID_Z : ISA_SR_TID_Z), t;

    if (count) {
        t = three(sel, ISA_V_MUL_U32, three(sel, ISA_V_MUL_U32, nx, ny, PTX_NO_REF), z, PTX_NO_REF);
        t = three(sel, ISA_V_ADD_U32, t, ptx_sel_literal(sel, 31), PTX_NO_REF);
    } else {
        t = three(sel, ISA_V_MAD_U32, z, ny, read_special(sel, ISA_SR_TID_Y));
        t = three(sel, ISA_V_MAD_U32, t, nx, read_special(sel, ISA_SR_TID_X));
    }
    return three(sel, ISA_V_SHR_U32, t, ptx_sel_literal(sel, 5), PTX_NO_REF);
}

static ptx_ref value(struct ptx_sel *sel, const struct ptx_operand *o, enum ptx_type type,
                     bool wide)
{
    unsigned rows = ptx_type_rows(type);
    uint64_t bits;
    ptx_ref d;

    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_O_REG: {
        const struct ptx_reg *r = &sel->fn->regs.at[o->reg];

        if (r->type == PTX_T_PRED)
            ptx_sel_fail(sel, LW_EINPUT, "expected a .%s, found the predicate '%s'", ptx_type_name(type),
                         r->name);
        if (o->negated)
            ptx_sel_fail(sel, LW_EINPUT, "'!' is allowed only before a predicate");
        check_type(sel, r, type, wide);
        return ptx_sel_reg(sel, o->reg);
    }
    case PTX_O_IMM:
        bits = literal_bits(sel, o, type);
        if (rows == 1)
            bits = (uint32_t)bits;
        if (bits == 0)
            return PTX_ZERO;
        d = ptx_sel_temp(sel, rows);
        ptx_sel_imm(sel, d, rows, bits);
        return d;
    case PTX_O_SPECIAL: {
        const struct isa_special_info *info = isa_special_info((enum isa_special)o->reg);
        unsigned have = info->width > 32 ? 2 : 1;
        struct ptx_mi *mi;

        if (have < rows)
            ptx_sel_fail(sel, LW_EINPUT, "%%%s has only 32 bits", info->name);
        if (o->reg == ISA_SR_WARPID || o->reg == ISA_SR_NWARPID)
            return warp_number(sel, o->reg == ISA_SR_NWARPID);
        d = ptx_sel_temp(sel, have);
        mi = ptx_sel_put(sel, have == 2 ? ISA_V_S2R_B64 : ISA_V_S2R, d, PTX_NO_REF, PTX_NO_REF,
                         PTX_NO_REF, have);
        mi->in.x = o->reg;
        switch (o->reg) {
        case ISA_SR_LANEID: case ISA_SR_LANEMASK_EQ: case ISA_SR_LANEMASK_LE:
        case ISA_SR_LANEMASK_LT: case ISA_SR_LANEMASK_GE: case ISA_SR_LANEMASK_GT:
            sel->unit->needs_warp_32 = true;
            break;
        default:
            break;
        }
        return o->imm != 0 ? d + 1 : d; /* %clock_hi is the upper word of the clock */
    }
    case PTX_O_SYMBOL:
        if (o->count != 0 && (rows != 1 || ptx_type_class(type) == PTX_CLASS_FLOAT))
            ptx_sel_fail(sel, LW_EINPUT, "%%envreg%u has 32 bits and is not a float", o->count == 2 ? 1 : 2);
        if (o->count != 0)
            return ptx_sel_symbol(sel, o->symbol, 0, 2) + (o->count - 1);
        return ptx_sel_symbol(sel, o->symbol, (int64_t)o->imm, rows);
    default:
        ptx_sel_fail(sel, LW_EINPUT, "an operand of type .%s must be a register or a number",
                     ptx_type_name(type));
    }
}

ptx_ref ptx_sel_value(struct ptx_sel *sel, const struct ptx_operand *o, enum ptx_type type)
{
    return value(sel, o, type, false);
}

ptx_ref ptx_sel_value_wide(struct ptx_sel *sel, const struct ptx_operand *o, enum ptx_type type)
{
    return value(sel, o, type, true);
}

ptx_ref ptx_sel_source(struct ptx_sel *sel, unsigned index, enum ptx_type type)
{
    return ptx_sel_value(sel, &sel->in.operand[index], type);
}

ptx_ref ptx_sel_extend(struct ptx_sel *sel, ptx_ref ref, enum ptx_type type)
{
    struct ptx_mi *mi;
    unsigned to = ISA_DT_U32, from;
    ptx_ref d;

    switch (type) {
    case PTX_T_U8: case PTX_T_B8:
        from = ISA_ST_U8;
        break;
    case PTX_T_S8:
        from = ISA_ST_S8;
        to = ISA_DT_S32;
        break;
    case PTX_T_U16: case PTX_T_B16:
        from = ISA_ST_U16;
        break;
    case PTX_T_S16:
        from = ISA_ST_S16;
        to = ISA_DT_S32;
        break;
    default:
        return ref;
    }
    if (ref == PTX_ZERO)
        return ref;
    d = ptx_sel_temp(sel, 1);
    mi = ptx_sel_put(sel, ISA_V_CVT, d, PTX_NO_REF, ref, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_DTYPE, to);
    isa_mod_set(&mi->in, ISA_MOD_STYPE, from);
    return d;
}

ptx_ref ptx_sel_extended(struct ptx_sel *sel, unsigned index, enum ptx_type type)
{
    const struct ptx_operand *o = &sel->in.operand[index];

    if (o->kind == PTX_O_IMM && o->literal == PTX_LIT_INT && ptx_type_bytes(type) < 4) {
        struct ptx_operand wide = *o;

        switch (type) {
        case PTX_T_S8: wide.imm = (uint64_t)(int8_t)o->imm; break;
        case PTX_T_S16: wide.imm = (uint64_t)(int16_t)o->imm; break;
        case PTX_T_U8: case PTX_T_B8: wide.imm = (uint8_t)o->imm; break;
        default: wide.imm = (uint16_t)o->imm; break;
        }
        return ptx_sel_value(sel, &wide, PTX_T_B32);
    }
    return ptx_sel_extend(sel, ptx_sel_value(sel, o, type), type);
}

static ptx_ref dest(struct ptx_sel *sel, const struct ptx_operand *o, enum ptx_type type,
                    unsigned rows, bool wide)
{
    if (o->kind == PTX_O_SINK)
        return ptx_sel_temp(sel, rows);
    if (o->kind != PTX_O_REG)
        ptx_sel_fail(sel, LW_EINPUT, "the destination is not a register");
    const struct ptx_reg *r = &sel->fn->regs.at[o->reg];

    if (r->type == PTX_T_PRED)
        ptx_sel_fail(sel, LW_EINPUT, "expected a .%s, found the predicate '%s'", ptx_type_name(type),
                     r->name);
    check_type(sel, r, type, wide);
    if (ptx_type_rows((enum ptx_type)r->type) != rows)
        ptx_sel_fail(sel, LW_EUNSUPP, "register '%s' is .%s: expected a register of %u bits",
                     r->name, ptx_type_name((enum ptx_type)r->type), rows * 32);
    return ptx_sel_reg(sel, o->reg);
}

ptx_ref ptx_sel_dest(struct ptx_sel *sel, const struct ptx_operand *o, enum ptx_type type)
{
    return dest(sel, o, type, ptx_type_rows(type), false);
}

ptx_ref ptx_sel_dest_wide(struct ptx_sel *sel, const struct ptx_operand *o, enum ptx_type type,
                          unsigned rows)
{
    return dest(sel, o, type, rows, true);
}

ptx_ref ptx_sel_pred(struct ptx_sel *sel, const struct ptx_operand *o)
{
    if (o->kind != PTX_O_REG || sel->fn->regs.at[o->reg].type != PTX_T_PRED)
        ptx_sel_fail(sel, LW_EINPUT, "expected a predicate, found %s",
                     o->kind == PTX_O_REG ? sel->fn->regs.at[o->reg].name : "an operand that is no predicate register");
    return ptx_sel_reg(sel, o->reg);
}

ptx_ref ptx_sel_pred_dest(struct ptx_sel *sel, const struct ptx_operand *o)
{
    if (o->kind == PTX_O_SINK)
        return PTX_NO_REF;
    return ptx_sel_pred(sel, o);
}

void ptx_sel_pred_read(struct ptx_sel *sel, struct ptx_mi *mi, enum ptx_slot slot,
                       const struct ptx_operand *o)
{
    if (o->kind == PTX_O_IMM && o->literal == PTX_LIT_INT) {
        mi->ref[slot] = PTX_ZERO; /* PTX_ZERO is predicate pt, which is always true */
        ptx_mi_negate(mi, slot, o->imm == 0);
        return;
    }
    size_t at = (size_t)(mi - sel->unit->code.at);
    ptx_ref ref = ptx_sel_pred(sel, o);

    mi = &sel->unit->code.at[at];
    mi->ref[slot] = ref;
    ptx_mi_negate(mi, slot, o->negated);
}

ptx_ref ptx_sel_literal(struct ptx_sel *sel, uint32_t value)
{
    ptx_ref d = ptx_sel_temp(sel, 1);

    ptx_sel_imm(sel, d, 1, value);
    return d;
}

unsigned ptx_take_rounding(struct ptx_insn *in, bool integral, unsigned none)
{
    static const uint8_t words[] = {
        [ISA_CRND_RN] = PTX_W_RN,   [ISA_CRND_RZ] = PTX_W_RZ,   [ISA_CRND_RM] = PTX_W_RM,
        [ISA_CRND_RP] = PTX_W_RP,   [ISA_CRND_RNI] = PTX_W_RNI, [ISA_CRND_RZI] = PTX_W_RZI,
        [ISA_CRND_RMI] = PTX_W_RMI, [ISA_CRND_RPI] = PTX_W_RPI,
    };
    unsigned n = integral ? LW_COUNT_OF(words) : ISA_RND_RP + 1u, rounding = none;

    _Static_assert((int)ISA_RND_RN == ISA_CRND_RN && (int)ISA_RND_RZ == ISA_CRND_RZ &&
                   (int)ISA_RND_RM == ISA_CRND_RM && (int)ISA_RND_RP == ISA_CRND_RP,
                   "one table for arithmetic and conversions");
    for (unsigned i = 0; i < n; i++) {
        if (ptx_take(in, (enum ptx_word)words[i]))
            rounding = i;
    }
    return rounding;
}
