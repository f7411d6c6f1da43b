/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisation before register allocation: copies, constants and parameters are propagated into operands, small patterns
 * combined, dead code removed. The optimisation applies to "ssa" registers: virtual registers with one definition that
 * dominates all uses, so that each use reads the defined value, as in SSA form. */
#include "ptx/ptx_priv.h"
#include "ptx/select/ptx_select_priv.h"

struct opt {
    struct ptx_unit *unit;
    uint32_t *block_of; /* by instruction: block of the instruction */
    ptx_ref *alias;     /* by vreg: the register of which the vreg is a copy; PTX_NO_REF: the vreg is no copy */
    bool *alias_neg;    /* by vreg: the vreg is a predicate and the complement of alias[vreg] */
};

static bool has_c(enum isa_op op)
{
    return isa_op_words(isa_op_info(op), ISA_TOK_VC, ISA_TOK_VC2) != 0;
}

static bool is_compare(enum isa_op op)
{
    return isa_op_info(op)->format == ISA_FMT_CMP;
}

static bool is_move(const struct ptx_mi *mi)
{
    return mi->in.op == ISA_V_MOV_B32 || mi->in.op == ISA_V_MOV_B64;
}

/* ---- definitions and uses ------------------------------------------------ */

static void count_all(struct opt *opt)
{
    struct ptx_unit *unit = opt->unit;

    for (size_t v = 0; v < unit->vregs.count; v++) {
        unit->vregs.at[v].def_count = unit->vregs.at[v].use_count = 0;
        unit->vregs.at[v].def = PTX_NONE;
    }
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            opt->block_of[i] = unit->rpo[k];
            if (mi->flags & PTX_MI_DEAD)
                continue;
            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                if (ptx_mi_writes(mi, (enum ptx_slot)s)) {
                    struct ptx_vreg *v = &unit->vregs.at[ptx_ref_vreg(mi->ref[s])];

                    v->def = v->def_count++ == 0 ? i : PTX_NONE;
                    /* A partial write keeps a part of the old value, so the register counts as having several definitions. */
                    if (mi->flags & PTX_MI_PARTIAL)
                        v->def_count++;
                } else if (ptx_ref_is_vreg(mi->ref[s])) {
                    unit->vregs.at[ptx_ref_vreg(mi->ref[s])].use_count++;
                }
            }
        }
        if (b->end == PTX_END_BRANCH)
            unit->vregs.at[ptx_ref_vreg(b->guard)].use_count++;
    }
}

static bool def_reaches(const struct opt *opt, uint32_t vreg, uint32_t block, uint32_t insn)
{
    uint32_t def = opt->unit->vregs.at[vreg].def, of;

    if (def == PTX_NONE)
        return false;
    of = opt->block_of[def];
    if (of == block)
        return def < insn;
    return ptx_dominates(opt->unit, of, block);
}

static void find_ssa(struct opt *opt)
{
    struct ptx_unit *unit = opt->unit;

    for (size_t v = 0; v < unit->vregs.count; v++) /* A register that is fixed to a physical register has no single
                                                    * definition, because calls change it, too. */
        unit->vregs.at[v].ssa = unit->vregs.at[v].def_count == 1 && unit->vregs.at[v].fixed == 0;
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                uint32_t v = ptx_ref_vreg(mi->ref[s]);

                if (ptx_mi_reads(mi, (enum ptx_slot)s) && unit->vregs.at[v].ssa &&
                    !def_reaches(opt, v, unit->rpo[k], i))
                    unit->vregs.at[v].ssa = false;
            }
        }
        if (b->end == PTX_END_BRANCH) {
            uint32_t v = ptx_ref_vreg(b->guard);

            if (unit->vregs.at[v].ssa && !def_reaches(opt, v, unit->rpo[k], b->first + b->count))
                unit->vregs.at[v].ssa = false;
        }
    }
}

/** Returns the instruction that defines an ssa register, or NULL for other registers. */
static struct ptx_mi *definition(const struct opt *opt, ptx_ref ref)
{
    const struct ptx_vreg *v;

    if (!ptx_ref_is_vreg(ref))
        return NULL;
    v = &opt->unit->vregs.at[ptx_ref_vreg(ref)];
    return v->ssa ? &opt->unit->code.at[v->def] : NULL;
}

/* ---- copies -------------------------------------------------------------- */

static bool ssa_or_zero(const struct opt *opt, ptx_ref ref)
{
    return ref == PTX_ZERO ||
           (ptx_ref_is_vreg(ref) && opt->unit->vregs.at[ptx_ref_vreg(ref)].ssa);
}

static void note_copy(struct opt *opt, const struct ptx_mi *mi)
{
    struct ptx_unit *unit = opt->unit;
    ptx_ref d;

    if (mi->flags & PTX_MI_PARTIAL || ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]))
        return;
    if (is_move(mi) && mi->in.xkind == ISA_X_VECTOR) {
        d = mi->ref[PTX_S_D];
        if (!ptx_ref_is_vreg(d) || ptx_ref_row(d) != 0 || unit->vregs.at[ptx_ref_vreg(d)].retained ||
            !unit->vregs.at[ptx_ref_vreg(d)].ssa || !ssa_or_zero(opt, mi->ref[PTX_S_X]))
            return;
        opt->alias[ptx_ref_vreg(d)] = mi->ref[PTX_S_X];
    } else if (mi->in.op == ISA_V_PLOP3 && mi->in.x == 0x80 && mi->ref[PTX_S_Q] == PTX_NO_REF &&
               mi->ref[PTX_S_RB] == PTX_ZERO && mi->ref[PTX_S_R] == PTX_ZERO &&
               !ptx_mi_negated(mi, PTX_S_RB) && !ptx_mi_negated(mi, PTX_S_R)) {
        d = mi->ref[PTX_S_P];
        if (!ptx_ref_is_vreg(d) || !unit->vregs.at[ptx_ref_vreg(d)].ssa ||
            !ssa_or_zero(opt, mi->ref[PTX_S_RA]))
            return;
        opt->alias[ptx_ref_vreg(d)] = mi->ref[PTX_S_RA];
        opt->alias_neg[ptx_ref_vreg(d)] = ptx_mi_negated(mi, PTX_S_RA);
    }
}

static ptx_ref follow(const struct opt *opt, ptx_ref ref, bool *negate)
{
    while (ptx_ref_is_vreg(ref) && opt->alias[ptx_ref_vreg(ref)] != PTX_NO_REF) {
        uint32_t v = ptx_ref_vreg(ref);

        *negate ^= opt->alias_neg[v];
        ref = opt->alias[v] == PTX_ZERO ? PTX_ZERO : opt->alias[v] + ptx_ref_row(ref);
    }
    return ref;
}

/* ---- constants ----------------------------------------------------------- */

struct constant {
    bool is_bank; /* true: the constant is the word at offset `value` of constant bank 0; false: the constant is `value` */
    uint64_t value;
};

static bool constant_of(const struct opt *opt, ptx_ref ref, struct constant *out)
{
    const struct ptx_mi *def;

    if (ref == PTX_ZERO) {
        *out = (struct constant){ false, 0 };
        return true;
    }
    def = definition(opt, ref);
    if (def == NULL || !is_move(def) || ptx_ref_is_vreg(def->ref[PTX_S_GUARD]))
        return false;
    if (def->in.xkind == ISA_X_CONST) {
        *out = (struct constant){ true, def->in.x + 4u * ptx_ref_row(ref) };
        return true;
    }
    if (def->flags & PTX_MI_IMM64) {
        *out = (struct constant){ false, def->imm64 >> (32 * (ptx_ref_row(ref) & 1)) };
        return true;
    }
    return false;
}

/* Converts @value to the 32-bit immediate of a source of @rows registers of this operation; returns false if the value
 * has no such form. */
static bool immediate(enum isa_op op, unsigned rows, uint64_t value, uint32_t *imm)
{
    const struct isa_op_info *info = isa_op_info(op);

    if (rows == 1) {
        *imm = (uint32_t)value;
        return true;
    }
    switch (op) {
    case ISA_V_CVT: case ISA_V_NEG_F64: case ISA_V_ABS_F64: case ISA_V_COPYSIGN_F64:
        return false;
    default:
        break;
    }
    if (info->flags & ISA_F_FLOAT) { /* The immediate of a 64-bit float operand is the high word of the value. */
        *imm = (uint32_t)(value >> 32);
        return (uint32_t)value == 0;
    }
    *imm = (uint32_t)value;
    return (uint64_t)(int64_t)(int32_t)value == value;
}

/* Puts a constant into X of @mi. Returns false if the result cannot be encoded. */
static bool put_constant(struct ptx_mi *mi, const struct constant *c, unsigned rows)
{
    uint32_t imm = (uint32_t)c->value;

    if (!c->is_bank && !immediate((enum isa_op)mi->in.op, rows, c->value, &imm))
        return false;
    mi->in.xkind = c->is_bank ? ISA_X_CONST : ISA_X_IMM;
    mi->in.x = imm;
    mi->ref[PTX_S_X] = PTX_NO_REF;
    return true;
}

static void fold_constants(struct opt *opt, struct ptx_mi *mi, uint32_t block)
{
    enum isa_op op = (enum isa_op)mi->in.op;
    const struct isa_op_info *info = isa_op_info(op);
    struct constant c, other;

    if (op == ISA_WARPSYNC) { /* WARPSYNC accepts an immediate, but no constant from a bank. */
        if (constant_of(opt, mi->ref[PTX_S_X], &c) && !c.is_bank)
            (void)put_constant(mi, &c, 1);
        return;
    }
    if (mi->in.xkind != ISA_X_VECTOR || !ptx_op_wide_x(op) || mi->ref[PTX_S_X] == PTX_NO_REF)
        return;
    if (op == ISA_V_CVT && mi->rows[PTX_S_X] == 2)
        return;
    if (!constant_of(opt, mi->ref[PTX_S_X], &c) && mi->ref[PTX_S_A] != PTX_NO_REF &&
        constant_of(opt, mi->ref[PTX_S_A], &c)) {
        if (ptx_op_commutes(op) || is_compare(op)) {
            ptx_mi_swap(mi);
        } else if (op == ISA_V_SELP_B32 || op == ISA_V_SELP_B64) {
            ptx_mi_swap(mi);
            ptx_mi_negate(mi, PTX_S_R, !ptx_mi_negated(mi, PTX_S_R));
        }
    }
    if (constant_of(opt, mi->ref[PTX_S_X], &c)) {
        /* Conversions of 8 or 16 bits may read a whole word of a constant bank. */
        if (isa_insn_srcmod(&mi->in, 1) == 0 || (info->flags & ISA_F_NOSRCMOD))
            (void)put_constant(mi, &c, mi->rows[PTX_S_X]);
    } else if (has_c(op) && constant_of(opt, mi->ref[PTX_S_C], &other) && !other.is_bank &&
               mi->ref[PTX_S_C] != PTX_ZERO && op != ISA_V_PRMT_B32 &&
               opt->block_of[opt->unit->vregs.at[ptx_ref_vreg(mi->ref[PTX_S_C])].def] == block &&
               isa_insn_srcmod(&mi->in, 2) == 0 && isa_insn_srcmod(&mi->in, 1) == 0) {
        /* Only X can be a constant, so X and C are exchanged. The constant must be defined in this block, because a constant
         * that is loaded before a loop is faster in its register. */
        ptx_ref b = mi->ref[PTX_S_X];
        uint8_t rows = mi->rows[PTX_S_X];
        uint32_t imm;

        if (immediate(op, mi->rows[PTX_S_C], other.value, &imm)) {
            mi->in.xkind = ISA_X_IMM;
            mi->in.x = imm;
            mi->in.variant = true;
            mi->ref[PTX_S_X] = PTX_NO_REF;
            mi->ref[PTX_S_C] = b;
            mi->rows[PTX_S_X] = mi->rows[PTX_S_C];
            mi->rows[PTX_S_C] = rows;
        }
    }
    for (unsigned s = PTX_S_A; s <= PTX_S_C; s += PTX_S_C - PTX_S_A) {
        if (ptx_ref_is_vreg(mi->ref[s]) && constant_of(opt, mi->ref[s], &c) && !c.is_bank &&
            c.value == 0)
            mi->ref[s] = PTX_ZERO;
    }
}

/* ---- patterns ------------------------------------------------------------ */

static bool single_use(const struct opt *opt, ptx_ref ref)
{
    return opt->unit->vregs.at[ptx_ref_vreg(ref)].use_count == 1;
}

static bool unguarded(const struct ptx_mi *mi)
{
    return !ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]);
}

/* Returns true if @ref has the same value at instructions @from and @to of one block. */
static bool unchanged(const struct opt *opt, ptx_ref ref, uint32_t from, uint32_t to)
{
    if (ssa_or_zero(opt, ref))
        return true;
    if (to - from > 64)
        return false;
    for (uint32_t i = from; i < to; i++) {
        const struct ptx_mi *mi = &opt->unit->code.at[i];

        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            if (ptx_mi_writes(mi, (enum ptx_slot)s) &&
                ptx_ref_vreg(mi->ref[s]) == ptx_ref_vreg(ref))
                return false;
        }
    }
    return true;
}

/* Combines shl(cvt.s64.s32 a, k) to mulwide(a, 1 << k), which is exact. */
static void join_shift(struct opt *opt, struct ptx_mi *mi)
{
    const struct ptx_mi *cvt;
    struct constant k;
    unsigned to, from;
    uint32_t here, from_insn;

    if (mi->in.op != ISA_V_SHL_B64 || !unguarded(mi) || mi->in.xkind != ISA_X_VECTOR ||
        ptx_ref_row(mi->ref[PTX_S_A]) != 0 || !constant_of(opt, mi->ref[PTX_S_X], &k) ||
        k.is_bank || k.value > 30)
        return;
    cvt = definition(opt, mi->ref[PTX_S_A]);
    if (cvt == NULL || cvt->in.op != ISA_V_CVT || !unguarded(cvt) ||
        cvt->in.xkind != ISA_X_VECTOR)
        return;
    here = (uint32_t)(mi - opt->unit->code.at);
    from_insn = (uint32_t)(cvt - opt->unit->code.at);
    if (!ssa_or_zero(opt, cvt->ref[PTX_S_X]) &&
        (opt->block_of[from_insn] != opt->block_of[here] ||
         !unchanged(opt, cvt->ref[PTX_S_X], from_insn, here)))
        return;
    to = isa_mod_get(&cvt->in, ISA_MOD_DTYPE);
    from = isa_mod_get(&cvt->in, ISA_MOD_STYPE);
    if (!(to == ISA_DT_S64 && from == ISA_ST_S32) && !(to == ISA_DT_U64 && from == ISA_ST_U32))
        return;
    isa_insn_init(&mi->in, to == ISA_DT_S64 ? ISA_V_MULWIDE_S32 : ISA_V_MULWIDE_U32);
    mi->in.xkind = ISA_X_IMM;
    mi->in.x = UINT32_C(1) << k.value;
    mi->ref[PTX_S_A] = cvt->ref[PTX_S_X];
    mi->ref[PTX_S_X] = PTX_NO_REF;
    mi->rows[PTX_S_A] = mi->rows[PTX_S_X] = 1;
}

/* Turns an addition x + 0 of integers into a copy of x. */
static void join_zero(struct opt *opt, struct ptx_mi *mi)
{
    struct constant c;

    if ((mi->in.op != ISA_V_ADD_U64 && mi->in.op != ISA_V_ADD_U32) ||
        mi->in.xkind != ISA_X_VECTOR)
        return;
    for (unsigned i = 0; i < 2; i++) {
        unsigned s = i == 0 ? PTX_S_X : PTX_S_A;

        if (!constant_of(opt, mi->ref[s], &c) || c.is_bank || c.value != 0)
            continue;
        mi->ref[PTX_S_X] = mi->ref[i == 0 ? PTX_S_A : PTX_S_X];
        mi->ref[PTX_S_A] = PTX_NO_REF;
        mi->in.op = mi->in.op == ISA_V_ADD_U64 ? ISA_V_MOV_B64 : ISA_V_MOV_B32;
        return;
    }
}

/* Combines add(mulwide(a, b), c) to madwide(a, b, c) if the product has no other use. */
static void join_mad(struct opt *opt, struct ptx_mi *mi, uint32_t block)
{
    uint32_t here = (uint32_t)(mi - opt->unit->code.at);

    if (mi->in.op != ISA_V_ADD_U64 || !unguarded(mi) || mi->in.xkind != ISA_X_VECTOR)
        return;
    for (unsigned i = 0; i < 2; i++) {
        unsigned s = i == 0 ? PTX_S_X : PTX_S_A;
        ptx_ref other = mi->ref[i == 0 ? PTX_S_A : PTX_S_X];
        struct ptx_mi *mul = definition(opt, mi->ref[s]);

        if (mul == NULL || mul->flags & PTX_MI_DEAD || !unguarded(mul) ||
            (mul->in.op != ISA_V_MULWIDE_S32 && mul->in.op != ISA_V_MULWIDE_U32) ||
            ptx_ref_row(mi->ref[s]) != 0 || !single_use(opt, mi->ref[s]) ||
            opt->block_of[opt->unit->vregs.at[ptx_ref_vreg(mi->ref[s])].def] != block ||
            !unchanged(opt, mul->ref[PTX_S_A], (uint32_t)(mul - opt->unit->code.at), here) ||
            (mul->in.xkind == ISA_X_VECTOR &&
             !unchanged(opt, mul->ref[PTX_S_X], (uint32_t)(mul - opt->unit->code.at), here)))
            continue;
        uint16_t op = mul->in.op == ISA_V_MULWIDE_S32 ? ISA_V_MADWIDE_S32 : ISA_V_MADWIDE_U32;

        isa_insn_init(&mi->in, (enum isa_op)op);
        mi->in.xkind = mul->in.xkind;
        mi->in.x = mul->in.x;
        mi->ref[PTX_S_A] = mul->ref[PTX_S_A];
        mi->ref[PTX_S_X] = mul->ref[PTX_S_X];
        mi->ref[PTX_S_C] = other;
        mi->rows[PTX_S_A] = mi->rows[PTX_S_X] = 1;
        mi->rows[PTX_S_C] = mi->rows[PTX_S_D] = 2;
        mul->flags |= PTX_MI_DEAD;
        return;
    }
}

/* Turns neg and abs of floats into source modifiers of their only use. */
static void join_sign(struct opt *opt, struct ptx_mi *mi)
{
    static const uint8_t slots[] = { PTX_S_A, PTX_S_X, PTX_S_C };
    const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);

    if (!(info->flags & ISA_F_FLOAT) || (info->flags & ISA_F_NOSRCMOD))
        return;
    for (unsigned i = 0; i < LW_COUNT_OF(slots); i++) {
        ptx_ref ref = mi->ref[slots[i]];
        struct ptx_mi *def;
        unsigned mods = isa_insn_srcmod(&mi->in, i);
        bool neg;

        if (!ptx_ref_is_vreg(ref) || ptx_ref_row(ref) != 0 || !single_use(opt, ref) ||
            (slots[i] == PTX_S_X && mi->in.xkind != ISA_X_VECTOR))
            continue;
        def = definition(opt, ref);
        if (def == NULL || def->in.xkind != ISA_X_VECTOR || !unguarded(def) ||
            !ssa_or_zero(opt, def->ref[PTX_S_X]) || def->ref[PTX_S_X] == PTX_ZERO ||
            def->rows[PTX_S_D] != mi->rows[slots[i]])
            continue;
        neg = def->in.op == ISA_V_NEG_F32 || def->in.op == ISA_V_NEG_F64;
        if (!neg && def->in.op != ISA_V_ABS_F32 && def->in.op != ISA_V_ABS_F64)
            continue;
        /* The instruction applies abs before neg. If the operand already has abs, a neg of the source has no effect. */
        if (neg)
            mods ^= mods & 2 ? 0 : 1;
        else
            mods |= 2;
        isa_insn_set_srcmod(&mi->in, i, mods);
        mi->ref[slots[i]] = def->ref[PTX_S_X];
        def->flags |= PTX_MI_DEAD;
    }
}

/* ---- copies into loop variables ------------------------------------------ */

/* After a copy d = s in a block, replaces uses of s by d until s or d is written again. Then s often has no use after the
 * copy, so that the allocator can assign the same register to s and d. */
static void forward_copies(struct opt *opt, const struct ptx_block *b)
{
    struct ptx_unit *unit = opt->unit;
    enum { REACH = 128 };

    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct ptx_mi *copy = &unit->code.at[i];
        ptx_ref d = copy->ref[PTX_S_D], s = copy->ref[PTX_S_X];
        bool ended = false;

        if (!is_move(copy) || copy->flags & (PTX_MI_DEAD | PTX_MI_PARTIAL) || !unguarded(copy) ||
            copy->in.xkind != ISA_X_VECTOR || !ptx_ref_is_vreg(d) || !ptx_ref_is_vreg(s) ||
            opt->alias[ptx_ref_vreg(d)] != PTX_NO_REF || ptx_ref_row(d) != 0 ||
            ptx_ref_row(s) != 0 || ptx_ref_vreg(d) == ptx_ref_vreg(s) ||
            unit->vregs.at[ptx_ref_vreg(d)].fixed != 0 ||
            unit->vregs.at[ptx_ref_vreg(s)].fixed != 0 ||
            unit->vregs.at[ptx_ref_vreg(d)].rows != copy->rows[PTX_S_D] ||
            unit->vregs.at[ptx_ref_vreg(s)].rows != copy->rows[PTX_S_D])
            continue;
        for (uint32_t k = i + 1; k < b->first + b->count && k - i < REACH && !ended; k++) {
            struct ptx_mi *mi = &unit->code.at[k];

            if (mi->flags & PTX_MI_DEAD)
                continue;
            for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
                if (ptx_ref_is_vreg(mi->ref[slot]) && slot != PTX_S_D && slot != PTX_S_P &&
                    slot != PTX_S_Q && ptx_ref_vreg(mi->ref[slot]) == ptx_ref_vreg(s))
                    mi->ref[slot] = d + ptx_ref_row(mi->ref[slot]);
            }
            for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
                uint32_t v = ptx_ref_vreg(mi->ref[slot]);

                if (ptx_mi_writes(mi, (enum ptx_slot)slot) &&
                    (v == ptx_ref_vreg(d) || v == ptx_ref_vreg(s)))
                    ended = true;
            }
        }
    }
}

/* ---- dead code ----------------------------------------------------------- */

static bool has_effect(const struct ptx_mi *mi)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);

    if (info->flags & (ISA_F_STORE | ISA_F_CONTROL) || mi->flags & (PTX_MI_PROLOGUE | PTX_MI_LINE) ||
        (mi->flags & PTX_MI_PIN && mi->ref[PTX_S_D] == PTX_NO_REF))
        return true;
    return (info->flags & ISA_F_MEMORY) != 0 && (mi->flags & PTX_MI_SPIN) != 0;
}

static void reduce_atomic(struct ptx_mi *mi)
{
    enum isa_op op;

    switch (isa_mod_get(&mi->in, ISA_MOD_AOP)) {
    case ISA_AOP_EXCH: case ISA_AOP_CAS:
        return;
    default:
        break;
    }
    switch (mi->in.op) {
    case ISA_ATOM_GLOBAL: op = ISA_RED_GLOBAL; break;
    case ISA_ATOM_SHARED: op = ISA_RED_SHARED; break;
    case ISA_ATOM_GENERIC: op = ISA_RED_GENERIC; break;
    default: return;
    }
    mi->in.op = (uint16_t)op;
    mi->ref[PTX_S_D] = PTX_NO_REF;
    mi->flags &= (uint16_t)~PTX_MI_SPIN;
}

/* Removes dead code from the end of each block. When a register loses its last use, its definition is examined, too,
 * even in another block. */
static void remove_dead(struct opt *opt)
{
    struct ptx_unit *unit = opt->unit;
    PTX_LIST(uint32_t) work = { 0 };
    uint32_t *defs_first, *defs; /* the instructions that define vreg v begin at defs[defs_first[v]] */
    size_t n = unit->vregs.count;

    count_all(opt);
    defs_first = PTX_ARRAY(unit->job, uint32_t, n + 1);
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            if (mi->flags & PTX_MI_DEAD)
                continue;
            *PTX_PUSH(unit->job, work) = i;
            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                if (ptx_mi_writes(mi, (enum ptx_slot)s))
                    defs_first[ptx_ref_vreg(mi->ref[s]) + 1]++;
            }
        }
    }
    for (size_t v = 0; v < n; v++)
        defs_first[v + 1] += defs_first[v];
    defs = PTX_ARRAY(unit->job, uint32_t, defs_first[n] + 1);
    uint32_t *fill = PTX_ARRAY(unit->job, uint32_t, n + 1);

    for (size_t w = 0; w < work.count; w++) {
        const struct ptx_mi *mi = &unit->code.at[work.at[w]];

        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            if (ptx_mi_writes(mi, (enum ptx_slot)s)) {
                uint32_t v = ptx_ref_vreg(mi->ref[s]);

                defs[defs_first[v] + fill[v]++] = work.at[w];
            }
        }
    }
    while (work.count != 0) {
        struct ptx_mi *mi = &unit->code.at[work.at[--work.count]];
        bool needed = has_effect(mi), writes = false;

        if (mi->flags & PTX_MI_DEAD)
            continue;
        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            if (!ptx_mi_writes(mi, (enum ptx_slot)s))
                continue;
            writes = true;
            if (unit->vregs.at[ptx_ref_vreg(mi->ref[s])].use_count != 0)
                needed = true;
            else if (s != PTX_S_D)
                mi->ref[s] = PTX_NO_REF; /* No instruction reads the predicate, so the instruction need not write it. */
            else if (isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_ATOMIC)
                reduce_atomic(mi);
        }
        if (needed || (!writes && has_effect(mi)))
            continue;
        mi->flags |= PTX_MI_DEAD;
        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            uint32_t v = ptx_ref_vreg(mi->ref[s]);

            if (!ptx_ref_is_vreg(mi->ref[s]) || s == PTX_S_D || s == PTX_S_P || s == PTX_S_Q)
                continue;
            if (--unit->vregs.at[v].use_count == 0) {
                for (uint32_t d = defs_first[v]; d < defs_first[v + 1]; d++)
                    *PTX_PUSH(unit->job, work) = defs[d];
            }
        }
    }
}

static void compact(struct ptx_unit *unit)
{
    PTX_LIST(struct ptx_mi) retained = { 0 };

    for (size_t k = 0; k < unit->order.count; k++) {
        struct ptx_block *b = &unit->blocks.at[unit->order.at[k]];
        uint32_t first = (uint32_t)retained.count;

        for (size_t i = 0; unit->order.at[k] == unit->entry && i < unit->prologue.count; i++)
            *PTX_PUSH(unit->job, retained) = unit->prologue.at[i];
        for (uint32_t i = b->first; b->rpo != PTX_NONE && i < b->first + b->count; i++) {
            if (!(unit->code.at[i].flags & PTX_MI_DEAD))
                *PTX_PUSH(unit->job, retained) = unit->code.at[i];
        }
        b->first = first;
        b->count = (uint32_t)retained.count - first;
    }
    unit->code.at = retained.at;
    unit->code.count = retained.count;
    unit->code.capacity = retained.capacity;
}

void ptx_opt(struct ptx_unit *unit)
{
    struct opt opt = { .unit = unit };
    size_t n = unit->vregs.count;

    opt.block_of = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1);
    opt.alias = PTX_ARRAY(unit->job, ptx_ref, n);
    opt.alias_neg = PTX_ARRAY(unit->job, bool, n);
    for (size_t v = 0; v < n; v++)
        opt.alias[v] = PTX_NO_REF;
    count_all(&opt);
    find_ssa(&opt);
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            struct ptx_mi *mi = &unit->code.at[i];

            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                bool negate = false;

                if (!ptx_ref_is_vreg(mi->ref[s]) || s == PTX_S_D || s == PTX_S_P || s == PTX_S_Q)
                    continue;
                ptx_ref to = follow(&opt, mi->ref[s], &negate);

                if (to == mi->ref[s] || (to == PTX_ZERO && s == PTX_S_M))
                    continue;
                unit->vregs.at[ptx_ref_vreg(mi->ref[s])].use_count--;
                if (to != PTX_ZERO)
                    unit->vregs.at[ptx_ref_vreg(to)].use_count++;
                if (to == PTX_ZERO && s == PTX_S_GUARD && (mi->in.guard_neg ^ negate))
                    mi->flags |= PTX_MI_DEAD; /* @!pt never executes */
                mi->ref[s] = to == PTX_ZERO && s == PTX_S_GUARD ? PTX_NO_REF : to;
                if (negate)
                    ptx_mi_negate(mi, (enum ptx_slot)s, !ptx_mi_negated(mi, (enum ptx_slot)s));
                if (s == PTX_S_GUARD && to == PTX_ZERO)
                    mi->in.guard_neg = false;
            }
            join_zero(&opt, mi);
            note_copy(&opt, mi);
        }
        if (b->end == PTX_END_BRANCH) {
            bool negate = false;
            ptx_ref to = follow(&opt, b->guard, &negate);

            if (to != PTX_ZERO) {
                unit->vregs.at[ptx_ref_vreg(b->guard)].use_count--;
                unit->vregs.at[ptx_ref_vreg(to)].use_count++;
                b->guard = to;
                b->guard_neg ^= negate;
            }
        }
    }
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            struct ptx_mi *mi = &unit->code.at[i];

            if (mi->flags & PTX_MI_DEAD)
                continue;
            join_shift(&opt, mi);
            join_mad(&opt, mi, unit->rpo[k]);
            join_sign(&opt, mi);
            fold_constants(&opt, mi, unit->rpo[k]);
        }
    }
    for (uint32_t k = 0; k < unit->rpo_count; k++)
        forward_copies(&opt, &unit->blocks.at[unit->rpo[k]]);
    remove_dead(&opt);
    ptx_addresses(unit);
    compact(unit);
}
