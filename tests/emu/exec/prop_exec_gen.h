/* SPDX-License-Identifier: Apache-2.0 */
/* Generators for the random programs of prop_exec.c: arithmetic, the scalar unit, memory, and values that are linear
 * in the lane number. */
#ifndef PROP_EXEC_GEN_H
#define PROP_EXEC_GEN_H

#include "emu/emu.h"
#include "tests/lib/prop_setup.h"
#include "tests/model/ref_lane.h"

enum { TOP = 3, MAX_CODE = 8192, SLOT = 64, OUT = 128, SHARED_SLOT = 32, PARAMS = 264, LOCAL = 32,
       DATA_REGS = 24,
       SCALED = 53 /* this register holds the offset of the slot divided by the scale */ };

struct gen {
    struct prop_random r;
    struct isa_insn code[MAX_CODE];
    uint32_t count;
    unsigned loops;
    bool bars;             /* the program has block barriers where all lanes of a warp execute together */
    bool apart;            /* lanes access different offsets in local memory */
    struct prop_random at; /* decides where barriers are emitted */
    enum isa_op alu[ISA_OP_COUNT], scalar[ISA_OP_COUNT];
    unsigned alu_count, scalar_count;
};

static inline struct isa_insn *emit(struct gen *g, enum isa_op op)
{
    struct isa_insn *i = &g->code[g->count++];
    isa_insn_init(i, op);
    return i;
}

/* ---- pieces ------------------------------------------------------------------------ */

static inline void random_source(struct gen *g, struct isa_insn *i, unsigned classes)
{
    i->xkind = (uint8_t)prop_class(&g->r, classes);
    switch (i->xkind) {
    case ISA_X_VECTOR: i->x = prop_below(&g->r, 16) ? prop_below(&g->r, DATA_REGS - 1) : 255; break;
    case ISA_X_SCALAR: i->x = prop_below(&g->r, 8) ? prop_below(&g->r, 7) : 255; break;
    case ISA_X_CONST: i->x = 8 + prop_below(&g->r, 240); break;
    default:
        i->x = prop_below(&g->r, 3) ? prop_below(&g->r, 70) : (uint32_t)prop_next(&g->r);
        break;
    }
}
static inline uint8_t data_reg(struct gen *g)
{
    return prop_below(&g->r, 16) ? (uint8_t)prop_below(&g->r, DATA_REGS - 1) : 255;
}

static inline bool plain_alu(enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op);
    struct isa_insn i;

    if (info->flags & (ISA_F_CONTROL | ISA_F_SCALAR | ISA_F_MEMORY | ISA_F_CROSS))
        return false;
    isa_insn_init(&i, op);
    return op == ISA_V_S2R || ref_knows(&i);
}

static inline void alu(struct gen *g)
{
    enum isa_op op = g->alu[prop_below(&g->r, g->alu_count)];
    const struct isa_op_info *info = isa_op_info(op);
    struct isa_insn *i = emit(g, op);

    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info((enum isa_mod)mod);
        if (isa_mod_applies((enum isa_mod)mod, info))
            isa_mod_set(i, (enum isa_mod)mod,
                        group->values[prop_below(&g->r, group->value_count)].value);
    }
    if (isa_mod_applies(ISA_MOD_FTZ, info) && prop_below(&g->r, 2)) { /* half of these instructions get no modifiers */
        isa_mod_set(i, ISA_MOD_FTZ, 0);
        if (isa_mod_applies(ISA_MOD_SAT, info))
            isa_mod_set(i, ISA_MOD_SAT, 0);
        if (isa_mod_applies(ISA_MOD_RND, info))
            isa_mod_set(i, ISA_MOD_RND, 0);
    }
    if (isa_operands_swappable(&info->operands))
        i->variant = prop_below(&g->r, 2);
    for (unsigned k = 0; k < info->operands.count; k++) {
        const struct isa_token *token = isa_token_info(info->operands.tok[k]);
        switch ((enum isa_tok_kind)token->kind) {
        case ISA_TK_D: i->d = data_reg(g); break;
        case ISA_TK_A:
            i->a_scalar = prop_below(&g->r, 8) == 0;
            i->a = i->a_scalar ? (uint8_t)prop_below(&g->r, 7) : data_reg(g);
            break;
        case ISA_TK_C:
            i->c_scalar = prop_below(&g->r, 8) == 0;
            i->c = i->c_scalar ? (uint8_t)prop_below(&g->r, 7) : data_reg(g);
            break;
        case ISA_TK_X: random_source(g, i, token->classes); break;
        case ISA_TK_P: isa_insn_set_p(i, prop_below(&g->r, 8)); break;
        case ISA_TK_Q: isa_insn_set_q(i, prop_below(&g->r, 8)); break;
        case ISA_TK_R:
        case ISA_TK_RS: isa_insn_set_r(i, prop_below(&g->r, 8), prop_below(&g->r, 2)); break;
        case ISA_TK_RA: isa_insn_set_ra(i, prop_below(&g->r, 8), prop_below(&g->r, 2)); break;
        case ISA_TK_RB: isa_insn_set_rb(i, prop_below(&g->r, 8), prop_below(&g->r, 2)); break;
        case ISA_TK_LUT: isa_insn_set_lut(i, prop_below(&g->r, 256)); break;
        case ISA_TK_LUTX: i->x = prop_below(&g->r, 256); break;
        case ISA_TK_SPECIAL:
            i->x = ISA_SR_TID_X + prop_below(&g->r, 4);
            break;
        default: break;
        }
    }
    if (!(info->flags & ISA_F_NOSRCMOD) && prop_below(&g->r, 4) == 0) {
        static const enum isa_tok source[3][2] = {
            {ISA_TOK_VA, ISA_TOK_VA2}, {ISA_TOK_XB, ISA_TOK_XB2}, {ISA_TOK_VC, ISA_TOK_VC2}};
        for (unsigned k = 0; k < 3; k++)
            if (isa_op_words(info, source[k][0], source[k][1]) != 0 && (k != 1 || i->xkind != ISA_X_IMM))
                isa_insn_set_srcmod(i, k, prop_below(&g->r, info->flags & ISA_F_FLOAT ? 4 : 3));
    }
    if (prop_below(&g->r, 4) == 0) {
        i->guard = (uint8_t)prop_below(&g->r, 8);
        i->guard_neg = prop_below(&g->r, 2);
        i->guard_scalar = prop_below(&g->r, 4) == 0;
    }
    prop_align_groups(i);
}

static inline bool scalar_alu(enum isa_op op)
{
    struct isa_insn i;

    if (!(isa_op_info(op)->flags & ISA_F_SCALAR) || op == ISA_S_BRA)
        return false;
    isa_insn_init(&i, op);
    return ref_knows(&i);
}

/* Generate an instruction of the scalar unit on s0..s7. The caller ensures that each warp has one split. */
static inline void scalar(struct gen *g)
{
    enum isa_op op = g->scalar[prop_below(&g->r, g->scalar_count)];
    const struct isa_op_info *info = isa_op_info(op);
    struct isa_insn *i = emit(g, op);

    prop_insn(&g->r, op, i);
    i->guard_scalar = true;
    if (prop_below(&g->r, 2))
        i->guard = ISA_PT, i->guard_neg = false;
    if (isa_operands_find(&info->operands, ISA_TK_D) >= 0)
        i->d = prop_below(&g->r, 16) ? (uint8_t)prop_below(&g->r, 8) : 255;
    if (info->flags & ISA_F_MEMORY) { /* an aligned offset in the parameters after the first */
        unsigned bytes = isa_mem_bytes(i);
        i->a = 255;
        i->c = 0;
        i->x = (16 + prop_below(&g->r, 14) * 16 + (bytes < 16 ? prop_below(&g->r, 2) * 8 : 0)) << 8;
    } else if (isa_op_words(info, ISA_TOK_SA, ISA_TOK_SA2) != 0) {
        i->a = prop_below(&g->r, 8) ? (uint8_t)prop_below(&g->r, 8) : 255;
    }
    if (isa_op_has(info, ISA_TOK_SC))
        i->c = (uint8_t)prop_below(&g->r, 8);
    if (isa_op_words(info, ISA_TOK_SX, ISA_TOK_SX2) != 0 && i->xkind == ISA_X_SCALAR)
        i->x = prop_below(&g->r, 8) ? prop_below(&g->r, 8) : 255;
    else if (i->xkind == ISA_X_CONST)
        i->x = 8 + prop_below(&g->r, 240);
    prop_align_groups(i);
}

/* Generate an aligned access to the lane's own slot, in any space and addressing mode. */
static inline void memory(struct gen *g)
{
    static const enum isa_op ops[] = {
        ISA_LD_GLOBAL, ISA_LD_SHARED, ISA_LD_LOCAL, ISA_LD_GENERIC, ISA_ST_GLOBAL,
        ISA_ST_SHARED, ISA_ST_LOCAL, ISA_ST_GENERIC, ISA_ATOM_GLOBAL, ISA_ATOM_SHARED,
        ISA_ATOM_GENERIC, ISA_RED_GLOBAL, ISA_RED_SHARED, ISA_RED_GENERIC};
    enum isa_op op = ops[prop_below(&g->r, LW_COUNT_OF(ops))];
    struct isa_insn *i = emit(g, op);
    const struct isa_op_info *info = isa_op_info(op);
    unsigned bytes, slot, data;
    bool is_atomic = info->flags & ISA_F_ATOMIC;

    if (is_atomic) {
        static const uint8_t types[] = {ISA_ATYPE_U32, ISA_ATYPE_S32, ISA_ATYPE_U64,
                                        ISA_ATYPE_S64};
        unsigned aop = prop_below(&g->r, ISA_AOP_CAS + 1);
        bool reduce = op == ISA_RED_GLOBAL || op == ISA_RED_SHARED || op == ISA_RED_GENERIC;
        if (reduce && aop >= ISA_AOP_EXCH)
            aop = ISA_AOP_ADD;
        unsigned type = types[prop_below(&g->r, 4)];
        if (aop >= ISA_AOP_AND)
            type = prop_below(&g->r, 2) ? ISA_ATYPE_B32 : ISA_ATYPE_B64;
        if (aop == ISA_AOP_INC || aop == ISA_AOP_DEC)
            type = ISA_ATYPE_U32;
        if (aop <= ISA_AOP_MAX && prop_below(&g->r, 3) == 0) {
            static const uint8_t halves[] = {ISA_ATYPE_F16, ISA_ATYPE_BF16, ISA_ATYPE_F16X2,
                                             ISA_ATYPE_BF16X2};
            type = halves[prop_below(&g->r, 4)];
        }
        if ((aop == ISA_AOP_EXCH || aop == ISA_AOP_CAS) && prop_below(&g->r, 3) == 0)
            type = ISA_ATYPE_B16;
        if (aop == ISA_AOP_ADD && prop_below(&g->r, 3) == 0)
            type = prop_below(&g->r, 2) ? ISA_ATYPE_F32 : ISA_ATYPE_F64;
        isa_mod_set(i, ISA_MOD_AOP, aop);
        isa_mod_set(i, ISA_MOD_ATYPE, type);
        if (!reduce && aop == ISA_AOP_CAS)
            i->c = (uint8_t)prop_below(&g->r, DATA_REGS - 2);
    } else {
        isa_mod_set(i, ISA_MOD_SIZE, prop_below(&g->r, ISA_SIZE_V2B64 + 1));
    }
    if (prop_below(&g->r, 4) == 0) { /* lanes access only their own slots, so scope and order have no effect */
        static const enum isa_mod mods[] = {ISA_MOD_MORDER, ISA_MOD_SCOPE};
        for (unsigned k = 0; k < LW_COUNT_OF(mods); k++)
            if (isa_mod_applies(mods[k], info))
                isa_mod_set(i, mods[k], prop_below(&g->r, isa_mod_info(mods[k])->value_count));
    }
    bytes = isa_mem_bytes(i);
    data = is_atomic ? 2 : isa_mem_regs(i);
    i->d = info->flags & ISA_F_STORE && !isa_op_has(info, ISA_TOK_DT)
               ? 0
               : (uint8_t)prop_below(&g->r, DATA_REGS - data);
    if (info->flags & ISA_F_STORE)
        i->x = prop_below(&g->r, DATA_REGS - data);
    switch (op) {
    case ISA_LD_GLOBAL: case ISA_ST_GLOBAL: case ISA_ATOM_GLOBAL: case ISA_RED_GLOBAL:
        slot = SLOT;
        if (prop_below(&g->r, 2) || isa_mod_get(i, ISA_MOD_AOP) == ISA_AOP_CAS) {
            isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_PAIR);
            i->a = 24;
        } else {
            unsigned scale = prop_below(&g->r, ISA_ASCALE_16 + 1);
            isa_mod_set(i, ISA_MOD_AMODE, prop_below(&g->r, 2) ? ISA_AMODE_SU32 : ISA_AMODE_SS32);
            isa_mod_set(i, ISA_MOD_ASCALE, scale);
            i->a = (uint8_t)(scale == 0 ? 30 : SCALED + scale);
            i->c = 8;
        }
        break;
    case ISA_LD_GENERIC: case ISA_ST_GENERIC: case ISA_ATOM_GENERIC: case ISA_RED_GENERIC:
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_PAIR);
        /* v24 holds a global address, v28 a shared address, and v36 either, depending on the lane */
        i->a = (uint8_t[]){24, 28, 36}[prop_below(&g->r, 3)];
        slot = SHARED_SLOT;
        break;
    case ISA_LD_LOCAL: case ISA_ST_LOCAL:
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_32);
        i->a = prop_below(&g->r, 2) ? 255 : 27;
        slot = i->a == 27 ? LOCAL / 2 : LOCAL;
        break;
    default:
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_32);
        i->a = 26;
        slot = SHARED_SLOT;
        break;
    }
    i->x |= (prop_below(&g->r, slot / bytes) * bytes) << 8;
    if (prop_below(&g->r, 5) == 0) {
        i->guard = (uint8_t)prop_below(&g->r, 7);
        i->guard_neg = prop_below(&g->r, 2);
    }
    prop_align_groups(i);
}

static inline void two(struct gen *g, enum isa_op op, unsigned d, unsigned a, unsigned kind, uint32_t x)
{
    struct isa_insn *i = emit(g, op);
    i->d = (uint8_t)d;
    i->a = (uint8_t)a;
    i->xkind = (uint8_t)kind;
    i->x = x;
}

/* ---- values that are linear in the lane number, and addresses computed from them ---------------- */

enum { LINEAR = 64, WIDE = 68 }; /* the registers are v64..v67 and the pairs v68:69, v70:71, v72:73 */

static inline uint8_t linear_reg(struct gen *g)
{
    return (uint8_t)(LINEAR + prop_below(&g->r, 4));
}
static inline uint8_t wide_reg(struct gen *g)
{
    return (uint8_t)(WIDE + 2 * prop_below(&g->r, 3));
}
static inline uint32_t factor(struct gen *g)
{
    static const uint32_t odd[] = {0, 1, 4, 0xffffffff, 0xfffffffc, 0x80000000, 0x10000, 0x7fffffff};

    return prop_below(&g->r, 4) ? prop_below(&g->r, 20) : odd[prop_below(&g->r, LW_COUNT_OF(odd))];
}
/** Set operand X of @i to a linear register, an immediate or a constant. */
static inline void linear_x(struct gen *g, struct isa_insn *i, uint32_t x, bool wide)
{
    unsigned kind = prop_below(&g->r, 5);

    i->xkind = kind < 2 ? ISA_X_VECTOR : kind == 2 ? ISA_X_SCALAR : ISA_X_IMM;
    i->x = kind < 2     ? (wide ? wide_reg(g) : linear_reg(g))
           : kind == 2 ? 2 * prop_below(&g->r, 3)
                       : x;
}

static inline void linear_step(struct gen *g)
{
    static const enum isa_op narrow[] = {ISA_V_ADD_U32, ISA_V_SUB_U32, ISA_V_MUL_U32, ISA_V_SHL_B32,
                                         ISA_V_NEG_S32, ISA_V_NOT_B32, ISA_V_MOV_B32, ISA_V_ADD_U32,
                                         ISA_V_MAD_U32, ISA_V_ADD_U32, ISA_V_MOV_B32};
    static const enum isa_op rare[] = {ISA_V_SHR_U32, ISA_V_SHR_S32, ISA_V_AND_B32, ISA_V_MAX_S32,
                                       ISA_V_DIV_U32}; /* the results of these operations are seldom linear */
    static const enum isa_op wide[] = {ISA_V_ADD_U64, ISA_V_SUB_U64, ISA_V_MOV_B64, ISA_V_MUL_U64,
                                       ISA_V_NEG_S64, ISA_V_NOT_B64, ISA_V_ADD_U64,
                                       ISA_V_SHL_B64, ISA_V_SHR_U64, ISA_V_MAD_U64};
    static const enum isa_op widening[] = {ISA_V_MULWIDE_U32, ISA_V_MULWIDE_S32,
                                           ISA_V_MADWIDE_U32, ISA_V_MADWIDE_S32,
                                           ISA_V_LEA_U32, ISA_V_LEA_S32, ISA_V_CVT, ISA_V_CVT};
    struct isa_insn *i;

    switch (prop_below(&g->r, 8)) {
    case 0: case 1: case 2:
        i = emit(g, prop_below(&g->r, 12) ? narrow[prop_below(&g->r, LW_COUNT_OF(narrow))]
                                          : rare[prop_below(&g->r, LW_COUNT_OF(rare))]);
        i->d = linear_reg(g);
        if (isa_op_words(isa_op_info((enum isa_op)i->op), ISA_TOK_VA, ISA_TOK_VA2) != 0)
            i->a = linear_reg(g);
        linear_x(g, i, factor(g), false);
        if (i->op == ISA_V_MAD_U32)
            i->c = linear_reg(g);
        if (i->op == ISA_V_ADD_U32 && prop_below(&g->r, 4) == 0)
            isa_insn_set_srcmod(i, 0, prop_below(&g->r, 3));
        break;
    case 3: case 4:
        i = emit(g, wide[prop_below(&g->r, LW_COUNT_OF(wide))]);
        i->d = wide_reg(g);
        if (isa_op_has(isa_op_info((enum isa_op)i->op), ISA_TOK_VA2))
            i->a = wide_reg(g);
        linear_x(g, i, factor(g), i->op != ISA_V_SHL_B64 && i->op != ISA_V_SHR_U64);
        if (i->op == ISA_V_MAD_U64)
            i->c = wide_reg(g);
        break;
    case 5:
        i = emit(g, widening[prop_below(&g->r, LW_COUNT_OF(widening))]);
        i->d = wide_reg(g);
        if (i->op == ISA_V_CVT) {
            isa_mod_set(i, ISA_MOD_DTYPE, prop_below(&g->r, 2) ? ISA_DT_U64 : ISA_DT_S64);
            isa_mod_set(i, ISA_MOD_STYPE, prop_below(&g->r, 2) ? ISA_ST_U32 : ISA_ST_S32);
        } else {
            i->a = linear_reg(g);
        }
        linear_x(g, i, factor(g), false);
        if (isa_op_has(isa_op_info((enum isa_op)i->op), ISA_TOK_VC2))
            i->c = wide_reg(g);
        break;
    case 6: /* copy one half of a pair, or change one half */
        if (prop_below(&g->r, 2))
            two(g, ISA_V_MOV_B32, linear_reg(g), 0, ISA_X_VECTOR, WIDE + prop_below(&g->r, 6));
        else
            two(g, ISA_V_MOV_B32, WIDE + prop_below(&g->r, 6), 0, ISA_X_VECTOR, linear_reg(g));
        break;
    default:
        i = emit(g, ISA_V_S2R);
        i->d = linear_reg(g);
        i->x = (uint32_t[]){ISA_SR_TID_X, ISA_SR_TID_Y, ISA_SR_NTID_X,
                            ISA_SR_NTID_X}[prop_below(&g->r, 4)];
        break;
    }
    i = &g->code[g->count - 1];
    if (prop_below(&g->r, 40) == 0) {
        i->guard = (uint8_t)prop_below(&g->r, 7);
        i->guard_neg = prop_below(&g->r, 2);
    }
}

/** Generate code that computes values, uses them as data, and derives the address of the lane's own slot from them. */
static inline void linear(struct gen *g)
{
    struct isa_insn *i;
    unsigned bytes, size, t = linear_reg(g), w = wide_reg(g), k;
    bool is_store = prop_below(&g->r, 2), shared = prop_below(&g->r, 3) == 0;

    for (unsigned r = 0; r < 4; r++) { /* often start from a linear value again, as results of non-linear values are not linear */
        if (prop_below(&g->r, 2) == 0)
            two(g, ISA_V_MOV_B32, LINEAR + r, 0, prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_IMM,
                50);
        if (r != 3 && prop_below(&g->r, 2) == 0)
            two(g, ISA_V_MOV_B64, WIDE + 2 * r, 0, prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_IMM,
                24);
    }
    for (unsigned n = prop_below(&g->r, 9); n-- > 0;)
        linear_step(g);
    if (prop_below(&g->r, 2)) { /* compare linear values */
        i = emit(g, prop_below(&g->r, 2) ? ISA_V_SETP_S32 : ISA_V_SETP_U32);
        isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 6));
        isa_mod_set(i, ISA_MOD_BOOL, prop_below(&g->r, 4));
        isa_insn_set_p(i, prop_below(&g->r, 7));
        isa_insn_set_q(i, prop_below(&g->r, 2) ? ISA_PT : prop_below(&g->r, 7));
        isa_insn_set_r(i, prop_below(&g->r, 7), false);
        i->a = linear_reg(g);
        linear_x(g, i, factor(g), false);
    }
    if (prop_below(&g->r, 4) == 0) {
        i = emit(g, prop_below(&g->r, 2) ? ISA_V_SETP_S64 : ISA_V_SETP_U64);
        isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 6));
        isa_insn_set_p(i, prop_below(&g->r, 7));
        isa_insn_set_q(i, ISA_PT);
        i->a = wide_reg(g);
        linear_x(g, i, factor(g), true);
    }
    if (prop_below(&g->r, 3) == 0)
        two(g, ISA_V_MOV_B32, prop_below(&g->r, DATA_REGS), 0, ISA_X_VECTOR,
            LINEAR + prop_below(&g->r, 10));
    size = prop_below(&g->r, ISA_SIZE_V2B64 + 1);
    i = emit(g, shared ? (is_store ? ISA_ST_SHARED : ISA_LD_SHARED)
                       : (is_store ? ISA_ST_GLOBAL : ISA_LD_GLOBAL));
    isa_mod_set(i, ISA_MOD_SIZE, size);
    bytes = isa_mem_bytes(i);
    k = prop_below(&g->r, (shared ? SHARED_SLOT : SLOT) / bytes) * bytes;
    g->count--; /* remove the access; it is emitted again after the code that computes its address */
    if (!shared && prop_below(&g->r, 2)) {
        i = emit(g, ISA_V_SUB_U64);
        i->d = i->a = (uint8_t)w;
        i->xkind = ISA_X_VECTOR;
        i->x = w;
        two(g, ISA_V_ADD_U64, w, w, ISA_X_VECTOR, 24);
        two(g, ISA_V_ADD_U64, w, w, ISA_X_IMM, k);
        k = 0;
    } else {
        two(g, ISA_V_SUB_U32, t, t, ISA_X_VECTOR, t);
        two(g, ISA_V_ADD_U32, t, t, ISA_X_IMM, k);
        k = 0;
        if (shared) {
            two(g, ISA_V_ADD_U32, t, t, ISA_X_VECTOR, 26);
        } else {
            i = emit(g, ISA_V_LEA_U32);
            i->d = (uint8_t)w;
            i->a = (uint8_t)t;
            i->xkind = ISA_X_IMM;
            i->x = 0;
            i->c = 24;
        }
    }
    i = emit(g, shared ? (is_store ? ISA_ST_SHARED : ISA_LD_SHARED)
                       : (is_store ? ISA_ST_GLOBAL : ISA_LD_GLOBAL));
    isa_mod_set(i, ISA_MOD_SIZE, size);
    isa_mod_set(i, ISA_MOD_AMODE, shared ? ISA_AMODE_32 : ISA_AMODE_PAIR);
    i->a = (uint8_t)(shared ? t : w);
    unsigned data = isa_mem_regs(i), reg = prop_below(&g->r, DATA_REGS - data) & ~(data - 1);
    if (is_store) /* a stored value may be linear, too */
        i->x = (data == 1 && prop_below(&g->r, 2) ? LINEAR + prop_below(&g->r, 10) : reg) | k << 8;
    else
        i->d = (uint8_t)reg, i->x = k << 8;
}

#endif
