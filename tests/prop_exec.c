/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random structured programs on the emulator (fast and watched path, every level of the
 * core, any width and policy) against the plain lane-at-a-time reference of ref_lane.c.
 *
 * LW_SEED repeats a run; LW_RANDOM_COUNT sets the number of programs; LW_RANDOM_DIVISOR
 * divides it. A failure prints the seed and the program.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "tests/prop_setup.h"
#include "tests/ref_lane.h"

enum { TOP = 3, MAX_CODE = 8192, SLOT = 64, OUT = 128, SHARED_SLOT = 32, PARAMS = 264, LOCAL = 32,
       DATA_REGS = 24,
       SCALED = 53 /* and the scale: the offset of the slot, divided */ };

struct gen {
    struct prop_random r;
    struct isa_insn code[MAX_CODE];
    uint32_t count;
    unsigned loops;
    enum isa_op alu[ISA_OP_COUNT], scalar[ISA_OP_COUNT];
    unsigned alu_count, scalar_count;
};

static struct isa_insn *emit(struct gen *g, enum isa_op op)
{
    struct isa_insn *i = &g->code[g->count++];
    isa_insn_init(i, op);
    return i;
}

/* ---- pieces ------------------------------------------------------------------------ */

static void random_source(struct gen *g, struct isa_insn *i, unsigned classes)
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
static uint8_t data_reg(struct gen *g)
{
    return prop_below(&g->r, 16) ? (uint8_t)prop_below(&g->r, DATA_REGS - 1) : 255;
}

static bool plain_alu(enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op);
    struct isa_insn i;

    if (info->flags & (ISA_F_CONTROL | ISA_F_SCALAR | ISA_F_MEMORY | ISA_F_CROSS))
        return false;
    isa_insn_init(&i, op);
    return op == ISA_V_S2R || ref_knows(&i);
}

static void alu(struct gen *g)
{
    struct isa_operands operands;
    enum isa_op op = g->alu[prop_below(&g->r, g->alu_count)];
    const struct isa_op_info *info = isa_op_info(op);
    struct isa_insn *i = emit(g, op);

    isa_operands_read(info, &operands);
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info((enum isa_mod)mod);
        if (isa_mod_applies((enum isa_mod)mod, info))
            isa_mod_set(i, (enum isa_mod)mod,
                        group->values[prop_below(&g->r, group->value_count)].value);
    }
    if (isa_mod_applies(ISA_MOD_FTZ, info) && prop_below(&g->r, 2)) { /* often none at all */
        isa_mod_set(i, ISA_MOD_FTZ, 0);
        if (isa_mod_applies(ISA_MOD_SAT, info))
            isa_mod_set(i, ISA_MOD_SAT, 0);
        if (isa_mod_applies(ISA_MOD_RND, info))
            isa_mod_set(i, ISA_MOD_RND, 0);
    }
    if (isa_operands_swappable(&operands))
        i->variant = prop_below(&g->r, 2);
    for (unsigned k = 0; k < operands.count; k++) {
        const struct isa_token *token = isa_token_info(operands.tok[k]);
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
        static const char *const source[3] = {"va", "xb", "vc"};
        for (unsigned k = 0; k < 3; k++)
            if (strstr(info->operands, source[k]) != NULL && (k != 1 || i->xkind != ISA_X_IMM))
                isa_insn_set_srcmod(i, k, prop_below(&g->r, info->flags & ISA_F_FLOAT ? 4 : 3));
    }
    if (prop_below(&g->r, 4) == 0) {
        i->guard = (uint8_t)prop_below(&g->r, 8);
        i->guard_neg = prop_below(&g->r, 2);
        i->guard_scalar = prop_below(&g->r, 4) == 0;
    }
    prop_align_groups(i);
}

static bool scalar_alu(enum isa_op op)
{
    struct isa_insn i;

    if (!(isa_op_info(op)->flags & ISA_F_SCALAR) || op == ISA_S_BRA)
        return false;
    isa_insn_init(&i, op);
    return ref_knows(&i);
}

/* An instruction of the scalar unit, on s0..s7: only where all lanes of a warp are together. */
static void scalar(struct gen *g)
{
    enum isa_op op = g->scalar[prop_below(&g->r, g->scalar_count)];
    const struct isa_op_info *info = isa_op_info(op);
    struct isa_insn *i = emit(g, op);

    prop_insn(&g->r, op, i);
    i->guard_scalar = true;
    if (prop_below(&g->r, 2))
        i->guard = ISA_PT, i->guard_neg = false;
    if (info->operands[0] == 's' && info->operands[1] == 'd')
        i->d = prop_below(&g->r, 16) ? (uint8_t)prop_below(&g->r, 8) : 255;
    if (info->flags & ISA_F_MEMORY) { /* aligned, in the parameters behind the first */
        unsigned bytes = isa_mem_bytes(i);
        i->a = 255;
        i->c = 0;
        i->x = (16 + prop_below(&g->r, 14) * 16 + (bytes < 16 ? prop_below(&g->r, 2) * 8 : 0)) << 8;
    } else if (strstr(info->operands, "sa") != NULL) {
        i->a = prop_below(&g->r, 8) ? (uint8_t)prop_below(&g->r, 8) : 255;
    }
    if (strstr(info->operands, "sc") != NULL)
        i->c = (uint8_t)prop_below(&g->r, 8);
    if (strstr(info->operands, "sx") != NULL && i->xkind == ISA_X_SCALAR)
        i->x = prop_below(&g->r, 8) ? prop_below(&g->r, 8) : 255;
    else if (i->xkind == ISA_X_CONST)
        i->x = 8 + prop_below(&g->r, 240);
    prop_align_groups(i);
}

/* An access to the lane's own slot, in any space and addressing mode, aligned. */
static void memory(struct gen *g)
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
    if (prop_below(&g->r, 4) == 0) { /* lanes stay in their slots: what they read does not change */
        static const enum isa_mod mods[] = {ISA_MOD_MORDER, ISA_MOD_SCOPE};
        for (unsigned k = 0; k < LW_COUNT_OF(mods); k++)
            if (isa_mod_applies(mods[k], info))
                isa_mod_set(i, mods[k], prop_below(&g->r, isa_mod_info(mods[k])->value_count));
    }
    bytes = isa_mem_bytes(i);
    data = is_atomic ? 2 : isa_mem_regs(i);
    i->d = info->flags & ISA_F_STORE && !strstr(info->operands, "dt")
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
        /* 24: global, 28: shared, 36: lanes differ */
        i->a = (uint8_t[]){24, 28, 36}[prop_below(&g->r, 3)];
        slot = SHARED_SLOT;
        break;
    case ISA_LD_LOCAL: case ISA_ST_LOCAL:
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_32);
        i->a = prop_below(&g->r, 2) ? 255 : 27;
        slot = 32;
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

static void two(struct gen *g, enum isa_op op, unsigned d, unsigned a, unsigned kind, uint32_t x)
{
    struct isa_insn *i = emit(g, op);
    i->d = (uint8_t)d;
    i->a = (uint8_t)a;
    i->xkind = (uint8_t)kind;
    i->x = x;
}

/* ---- values that are linear in the lane, and addresses made of them ------------------------- */

enum { LINEAR = 64, WIDE = 68 }; /* v64..v67; pairs v68:69, v70:71, v72:73 */

static uint8_t linear_reg(struct gen *g)
{
    return (uint8_t)(LINEAR + prop_below(&g->r, 4));
}
static uint8_t wide_reg(struct gen *g)
{
    return (uint8_t)(WIDE + 2 * prop_below(&g->r, 3));
}
static uint32_t factor(struct gen *g)
{
    static const uint32_t odd[] = {0, 1, 4, 0xffffffff, 0xfffffffc, 0x80000000, 0x10000, 0x7fffffff};

    return prop_below(&g->r, 4) ? prop_below(&g->r, 20) : odd[prop_below(&g->r, LW_COUNT_OF(odd))];
}
/** X: a linear register, an immediate or a constant. */
static void linear_x(struct gen *g, struct isa_insn *i, uint32_t x, bool wide)
{
    unsigned kind = prop_below(&g->r, 5);

    i->xkind = kind < 2 ? ISA_X_VECTOR : kind == 2 ? ISA_X_SCALAR : ISA_X_IMM;
    i->x = kind < 2     ? (wide ? wide_reg(g) : linear_reg(g))
           : kind == 2 ? 2 * prop_below(&g->r, 3)
                       : x;
}

static void linear_step(struct gen *g)
{
    static const enum isa_op narrow[] = {ISA_V_ADD_U32, ISA_V_SUB_U32, ISA_V_MUL_U32, ISA_V_SHL_B32,
                                         ISA_V_NEG_S32, ISA_V_NOT_B32, ISA_V_MOV_B32, ISA_V_ADD_U32,
                                         ISA_V_MAD_U32, ISA_V_ADD_U32, ISA_V_MOV_B32};
    static const enum isa_op rare[] = {ISA_V_SHR_U32, ISA_V_SHR_S32, ISA_V_AND_B32, ISA_V_MAX_S32,
                                       ISA_V_DIV_U32}; /* seldom linear again */
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
        if (strstr(isa_op_info((enum isa_op)i->op)->operands, "va") != NULL)
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
        if (strstr(isa_op_info((enum isa_op)i->op)->operands, "va2") != NULL)
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
        if (strstr(isa_op_info((enum isa_op)i->op)->operands, "vc2") != NULL)
            i->c = wide_reg(g);
        break;
    case 6: /* a half of a pair, or one half changed */
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

/** Compute, use the values as data, and address the own slot by what is left of them. */
static void linear(struct gen *g)
{
    struct isa_insn *i;
    unsigned bytes, size, t = linear_reg(g), w = wide_reg(g), k;
    bool is_store = prop_below(&g->r, 2), shared = prop_below(&g->r, 3) == 0;

    for (unsigned r = 0; r < 4; r++) { /* often anew: one vector spoils a long chain */
        if (prop_below(&g->r, 2) == 0)
            two(g, ISA_V_MOV_B32, LINEAR + r, 0, prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_IMM,
                50);
        if (r != 3 && prop_below(&g->r, 2) == 0)
            two(g, ISA_V_MOV_B64, WIDE + 2 * r, 0, prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_IMM,
                24);
    }
    for (unsigned n = prop_below(&g->r, 9); n-- > 0;)
        linear_step(g);
    if (prop_below(&g->r, 2)) { /* predicates of linear values */
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
    g->count--; /* the address comes first */
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
    if (is_store) /* what is stored may be linear too */
        i->x = (data == 1 && prop_below(&g->r, 2) ? LINEAR + prop_below(&g->r, 10) : reg) | k << 8;
    else
        i->d = (uint8_t)reg, i->x = k << 8;
}

static void branch(struct gen *g, uint32_t at, uint32_t target)
{
    g->code[at].x = target - at - 1;
}

static void sequence(struct gen *g, unsigned depth);

static void test(struct gen *g, unsigned p)
{
    struct isa_insn *i = emit(g, ISA_V_SETP_S32);
    isa_mod_set(i, ISA_MOD_CMP, prop_below(&g->r, 6));
    isa_insn_set_p(i, p);
    isa_insn_set_q(i, ISA_PT);
    i->a = (uint8_t)prop_below(&g->r, DATA_REGS - 1);
    i->xkind = prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_IMM;
    i->x = prop_below(&g->r, DATA_REGS - 1);
}

static void condition(struct gen *g, unsigned depth)
{
    unsigned p = prop_below(&g->r, 6);
    uint32_t join, over, skip = 0;
    bool has_else = prop_below(&g->r, 2);

    test(g, p);
    join = g->count;
    emit(g, ISA_BSSY)->d = (uint8_t)depth;
    over = g->count;
    struct isa_insn *b = emit(g, ISA_BRA);
    b->guard = (uint8_t)p;
    b->guard_neg = prop_below(&g->r, 2);
    b->variant = true;
    b->d = (uint8_t)depth;
    sequence(g, depth - 1);
    if (has_else) {
        skip = g->count;
        emit(g, ISA_BRA);
    }
    branch(g, over, g->count);
    if (has_else) {
        sequence(g, depth - 1);
        branch(g, skip, g->count);
    }
    branch(g, join, g->count);
    emit(g, ISA_BSYNC)->d = (uint8_t)depth;
}

static void loop(struct gen *g, unsigned depth)
{
    uint8_t counter = (uint8_t)(40 + depth);
    uint32_t join, head, back;
    struct isa_insn *i = emit(g, prop_below(&g->r, 2) ? ISA_V_AND_B32 : ISA_V_MOV_B32);

    i->d = counter;
    if (i->op == ISA_V_AND_B32)
        i->a = (uint8_t)prop_below(&g->r, DATA_REGS - 1);
    i->xkind = ISA_X_IMM;
    i->x = 3;
    join = g->count;
    emit(g, ISA_BSSY)->d = (uint8_t)depth;
    head = g->count;
    sequence(g, depth - 1);
    i = emit(g, ISA_V_SUB_U32);
    i->d = i->a = counter;
    i->xkind = ISA_X_IMM;
    i->x = 1;
    i = emit(g, ISA_V_SETP_S32);
    isa_mod_set(i, ISA_MOD_CMP, ISA_CMP_GT);
    isa_insn_set_p(i, 6);
    isa_insn_set_q(i, ISA_PT);
    i->a = counter;
    i->xkind = ISA_X_IMM;
    i->x = 0;
    back = g->count;
    i = emit(g, ISA_BRA);
    i->guard = 6;
    i->variant = true;
    i->d = (uint8_t)depth;
    branch(g, back, head);
    branch(g, join, g->count);
    emit(g, ISA_BSYNC)->d = (uint8_t)depth;
}

/* Some instructions that a scalar branch may jump over. */
static void jump_over(struct gen *g)
{
    uint32_t at = g->count;
    struct isa_insn *i = emit(g, ISA_S_BRA);

    i->guard = (uint8_t)prop_below(&g->r, 8);
    i->guard_neg = prop_below(&g->r, 2);
    i->guard_scalar = true;
    for (unsigned n = prop_below(&g->r, 4); n > 0; n--)
        prop_below(&g->r, 2) ? alu(g) : scalar(g);
    branch(g, at, g->count);
}

static void sequence(struct gen *g, unsigned depth)
{
    unsigned n = 1 + prop_below(&g->r, 8);

    while (n-- > 0 && g->count < MAX_CODE - 400) {
        unsigned kind = prop_below(&g->r, 100);
        if (depth == TOP && kind < 25) /* convergent */
            scalar(g);
        else if (depth == TOP && kind < 28)
            jump_over(g);
        else if (kind < 46 || depth == 0)
            alu(g);
        else if (kind < 65)
            linear(g);
        else if (kind < 82)
            memory(g);
        else if (kind < 91)
            condition(g, depth);
        else if (kind < 98)
            loop(g, depth);
        else if (depth < 3)
            emit(g, ISA_EXIT)->guard = (uint8_t)prop_below(&g->r, 6);
    }
}

/* ---- frame of a program ------------------------------------------------------------------ */

static uint32_t interesting(struct prop_random *r)
{
    static const uint32_t special[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0x00000001, 0x807fffff, 0x00800000,
                                       0x7f7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x7fffffff,
                                       0xffffffff, 0x3ff00000, 0x7ff00000, 0x7ff80000, 0x43dfffff};
    switch (prop_below(r, 5)) {
    case 0: return special[prop_below(r, LW_COUNT_OF(special))];
    case 1: return prop_below(r, 64);
    case 2: return 0u - prop_below(r, 64);
    case 3: { /* a float of moderate size */
        float f = (float)((int)prop_below(r, 20001) - 10000) / (float)(1 + prop_below(r, 97));
        uint32_t b;
        memcpy(&b, &f, 4);
        return b;
    }
    default: return (uint32_t)prop_next(r);
    }
}

static void prologue(struct gen *g, unsigned threads, const uint32_t block[3])
{
    struct isa_insn *i;

    for (unsigned s = 0; s < 8; s++) {
        i = emit(g, ISA_S_MOV_B32);
        i->d = (uint8_t)s;
        i->xkind = ISA_X_IMM;
        i->x = prop_below(&g->r, 2) ? prop_below(&g->r, 40) : (uint32_t)prop_next(&g->r);
    }
    i = emit(g, ISA_S_MOV_B64);
    i->d = 8;
    i->xkind = ISA_X_CONST;
    i->x = 0;
    i = emit(g, ISA_V_S2R);
    i->d = 50;
    i->x = ISA_SR_TID_X;
    i = emit(g, ISA_V_S2R);
    i->d = 53;
    i->x = ISA_SR_TID_Y;
    i = emit(g, ISA_V_S2R);
    i->d = 54;
    i->x = ISA_SR_TID_Z;
    for (unsigned axis = 2; axis-- > 0;) { /* v50 = place in the block */
        i = emit(g, ISA_V_MAD_U32);
        i->d = axis == 1 ? 53 : 50;
        i->a = axis == 1 ? 54 : 53;
        i->xkind = ISA_X_IMM;
        i->x = block[axis];
        i->c = i->d;
    }
    two(g, ISA_V_MUL_U32, 30, 50, ISA_X_IMM, SLOT);
    for (unsigned scale = 1; scale <= ISA_ASCALE_16; scale++)
        two(g, ISA_V_MUL_U32, SCALED + scale, 50, ISA_X_IMM, SLOT >> scale);
    i = emit(g, ISA_V_MADWIDE_U32); /* v24:25 = tid * SLOT + base: b through C */
    two(g, ISA_V_MOV_B64, 24, 0, ISA_X_CONST, 0);
    g->code[g->count - 2] = g->code[g->count - 1];
    isa_insn_init(&g->code[g->count - 1], ISA_V_MADWIDE_U32);
    i = &g->code[g->count - 1];
    i->d = i->c = 24;
    i->a = 50;
    i->xkind = ISA_X_IMM;
    i->x = SLOT;
    two(g, ISA_V_MUL_U32, 26, 50, ISA_X_IMM, SHARED_SLOT);
    two(g, ISA_V_MOV_B32, 27, 0, ISA_X_IMM, 0);
    two(g, ISA_V_ADD_U32, 28, 26, ISA_X_IMM, 0);
    two(g, ISA_V_MOV_B32, 29, 0, ISA_X_IMM, (uint32_t)(ISA_SHARED_BASE >> 32));
    two(g, ISA_V_MOV_B64, 32, 0, ISA_X_CONST, 0); /* v32:33 = out */
    i = emit(g, ISA_V_MADWIDE_U32);
    i->d = i->c = 32;
    i->a = 50;
    i->xkind = ISA_X_IMM;
    i->x = OUT;
    two(g, ISA_V_ADD_U64, 32, 32, ISA_X_IMM, threads * SLOT);
    /* v36:37: shared for odd threads, global for even ones */
    two(g, ISA_V_AND_B32, 51, 50, ISA_X_IMM, 1);
    i = emit(g, ISA_V_SETP_U32);
    isa_mod_set(i, ISA_MOD_CMP, ISA_CMP_EQ);
    isa_insn_set_p(i, 0);
    isa_insn_set_q(i, ISA_PT);
    i->a = 51;
    i->xkind = ISA_X_IMM;
    i = emit(g, ISA_V_SELP_B64);
    i->d = 36;
    i->a = 24;
    i->xkind = ISA_X_VECTOR;
    i->x = 28;
    isa_insn_set_r(i, 0, false);
    for (unsigned k = 0; k < 4; k++) {
        i = emit(g, ISA_LD_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_V4B32);
        i->d = (uint8_t)(4 * k);
        i->a = 24;
        i->x = 16 * k << 8;
    }
    for (unsigned r = 0; r < 4; r++)
        two(g, ISA_V_MOV_B32, LINEAR + r, 0, r % 2 ? ISA_X_IMM : ISA_X_VECTOR, 50);
    for (unsigned r = 0; r < 3; r++)
        two(g, ISA_V_MOV_B64, WIDE + 2 * r, 0, r % 2 ? ISA_X_IMM : ISA_X_VECTOR, 24);
    /* some registers start equal in all lanes, some linear in the thread's indices */
    for (unsigned r = 0; r < DATA_REGS; r++) {
        uint32_t value = prop_below(&g->r, 2) ? prop_below(&g->r, 40) : interesting(&g->r);
        unsigned kind = prop_below(&g->r, 3);
        if (kind == 1) {
            two(g, ISA_V_MOV_B32, r, 0, ISA_X_IMM, value);
        } else if (kind == 2) {
            i = emit(g, ISA_V_S2R);
            i->d = (uint8_t)r;
            i->x = ISA_SR_TID_X + prop_below(&g->r, 2);
            two(g, ISA_V_MUL_U32, r, r, ISA_X_IMM, 1 + prop_below(&g->r, 9));
            two(g, ISA_V_ADD_U32, r, r, ISA_X_IMM, value);
        }
    }
}

static void epilogue(struct gen *g)
{
    struct isa_insn *i = emit(g, ISA_V_P2R);

    i->d = 52;
    for (unsigned r = 0; r <= DATA_REGS; r++) {
        i = emit(g, ISA_ST_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        i->a = 32;
        i->x = (r == DATA_REGS ? 52 : r) | 4 * r << 8;
    }
    /* s0..s5, then s6 ^ s7 with the scalar predicates on top */
    two(g, ISA_S_XOR_B32, 6, 6, ISA_X_SCALAR, 7);
    emit(g, ISA_S_SP2R)->d = 7;
    two(g, ISA_S_MUL_U32, 7, 7, ISA_X_IMM, 0x02000001);
    two(g, ISA_S_XOR_B32, 6, 6, ISA_X_SCALAR, 7);
    for (unsigned s = 0; s <= 6; s++) {
        two(g, ISA_V_MOV_B32, 53, 0, ISA_X_SCALAR, s);
        i = emit(g, ISA_ST_GLOBAL);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        i->a = 32;
        i->x = 53 | 4 * (DATA_REGS + 1 + s) << 8;
    }
    emit(g, ISA_EXIT);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool no_event(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer;
    assert_true(ev->effective == (ev->split_lanes & ev->exec & ev->guard));
    return false;
}

static void run_emulator(struct isa_object *object, unsigned width, const struct setup *setup,
                         const uint32_t block[3],
                         const uint8_t *before, uint8_t *after, size_t bytes,
                         const uint8_t *params_in, uint64_t *base, char *why, size_t why_size)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_stop stop;
    struct lw_error err = {0};
    struct emu_observer observer = {.on_event = no_event};
    uint8_t params[PARAMS];

    why[0] = '\0';
    emu_config_default(&config);
    config.warp_width = width;
    setup_apply(setup, &config);
    config.arena_bytes = 1 << 24;
    config.resident_warps = 64;
    config.hang_window = 1 << 18; /* a program that is being shrunk may loop */
    if (emu_machine_create(&config, &machine, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (emu_alloc(machine, bytes, "data", 0, base, &err) != LW_OK ||
        emu_global_write(machine, *base, before, bytes, &err) != LW_OK ||
        emu_program_load(machine, object, &program, &err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, &err) != LW_OK)
        fail_msg("%s", err.text);
    memcpy(params, params_in, sizeof params);
    memcpy(params, base, 8);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {1, 1, 1},
                                .block = {block[0], block[1], block[2]}, .work_dim = 1,
                                .params = params};
    struct emu_stats stats;
    if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (setup->watched)
        emu_observer_add(engine, &observer);
    if (engine->ops->run(engine, &stop, &err) != LW_OK)
        snprintf(why, why_size, "error: %s", err.text);
    else if (stop.kind == EMU_STOP_FAULT)
        snprintf(why, why_size, "fault %s: %s, pc 0x%" PRIx64, emu_fault_name(stop.fault.kind),
                 stop.fault.detail, stop.fault.pc);
    else if (stop.kind != EMU_STOP_IDLE)
        snprintf(why, why_size, "stop %d: %.200s", stop.kind, stop.hang.detail);
    else if (emu_global_read(machine, *base, after, bytes, &err) != LW_OK)
        snprintf(why, why_size, "%s", err.text);
    emu_stats_get(machine, &stats);
    if (stats.tags.mismatches != 0)
        snprintf(why, why_size, "%" PRIu64 " registers differ from their tags",
                 stats.tags.mismatches);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
}

/** A program with its launch, and what single lanes make of it. */
struct trial {
    struct gen *g;
    struct isa_object object;
    struct isa_function kernel;
    unsigned width, threads;
    uint32_t block[3];
    size_t bytes;
    uint8_t *before, *after, *want, *params;
    char why[700];
};

static void encode_trial(struct trial *t)
{
    struct lw_error err = {0};

    for (uint32_t i = 0; i < t->g->count; i++)
        if (isa_insn_encode(&t->g->code[i], &t->object.text[i], &err) != LW_OK)
            fail_msg("instruction %u: %s", i, err.text);
}

/** What lanes by themselves make of it; false, and why, where the reference stops. */
static bool run_reference(struct trial *t, uint64_t base, const char **why)
{
    uint32_t scalars[128] = {0}, grid[3] = {1, 1, 1};
    size_t shared_bytes = (size_t)t->threads * SHARED_SLOT;
    uint8_t *shared = calloc(1, shared_bytes);
    bool ends = true;

    assert_non_null(shared);
    memcpy(t->params, &base, 8);
    for (unsigned s = 0; s < 8; s++)
        scalars[s] = t->g->code[s].x;
    memcpy(&scalars[8], &base, 8);
    memcpy(t->want, t->before, t->bytes);
    for (unsigned n = 0; n < t->threads && ends; n++) {
        uint8_t local[LOCAL] = {0};
        struct ref_lane lane = {.bank0 = t->params,
                                .tid = {n % t->block[0], n / t->block[0] % t->block[1],
                                        n / t->block[0] / t->block[1]},
                                .lane = n % t->width, .width = t->width, .block = t->block,
                                .grid = grid, .shared = shared, .shared_bytes = shared_bytes,
                                .local = local, .local_bytes = LOCAL, .global = t->want,
                                .global_bytes = t->bytes, .global_base = base, .pc = 9};
        memcpy(lane.s, scalars, sizeof scalars);
        ends = ref_run(&lane, t->g->code, t->g->count, 1u << 22, why);
    }
    free(shared);
    return ends;
}

/** Run on the emulator as described and compare; *stops where the reference stops. */
static bool agrees(struct trial *t, const struct setup *setup, const char **stops)
{
    uint64_t base;

    run_emulator(&t->object, t->width, setup, t->block, t->before, t->after, t->bytes,
                 t->params, &base, t->why, sizeof t->why);
    *stops = NULL;
    if (!run_reference(t, base, stops))
        return false;
    return t->why[0] == '\0' && memcmp(t->after, t->want, t->bytes) == 0;
}

/** Replace what is not needed for the difference by nop. */
static void shrink(struct trial *t, const struct setup *setup)
{
    const char *stops;

    for (uint32_t i = 9; i < t->g->count; i++) {
        struct isa_insn kept = t->g->code[i];
        unsigned flags = isa_op_info((enum isa_op)kept.op)->flags;
        /* the tests and counters of loops stay, so that programs end */
        bool counts = (kept.op == ISA_V_SETP_S32 && isa_insn_p(&kept) == 6) ||
                      (kept.d > 40 && kept.d < 44 &&
                       (kept.op == ISA_V_SUB_U32 || kept.op == ISA_V_AND_B32 ||
                        kept.op == ISA_V_MOV_B32));
        if (flags & ISA_F_CONTROL || kept.op == ISA_NOP || i < 40 || counts)
            continue;
        isa_insn_init(&t->g->code[i], ISA_NOP);
        encode_trial(t);
        if (agrees(t, setup, &stops) || stops != NULL)
            t->g->code[i] = kept;
    }
    encode_trial(t);
    (void)agrees(t, setup, &stops);
}

static void show(const struct trial *t)
{
    struct lw_file_sink sink;
    unsigned shown = 0;

    lw_file_sink_init(&sink, stdout);
    for (uint32_t i = 0; i < t->g->count; i++) {
        if (t->g->code[i].op == ISA_NOP)
            continue;
        lw_printf(&sink.sink, "%4u  ", i);
        isa_insn_print(&t->g->code[i], ISA_CODE_BASE + 16 * (uint64_t)i, NULL, NULL, &sink.sink);
        lw_printf(&sink.sink, "\n");
    }
    for (size_t i = 0; i < t->bytes && t->why[0] == '\0' && shown < 12; i += 4) {
        uint32_t a = lw_get32(t->after + i), b = lw_get32(t->want + i);
        size_t out = i - (size_t)t->threads * SLOT;
        if (a == b)
            continue;
        shown++;
        if (i < (size_t)t->threads * SLOT)
            printf("thread %zu slot word %zu", i / SLOT, i % SLOT / 4);
        else
            printf("thread %zu v%zu", out / OUT, out % OUT / 4);
        printf(": emulator %08x, reference %08x\n", a, b);
    }
}

static void one_program(uint64_t seed)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64}, levels[] = {1, 3, 4};
    struct trial t = {.g = calloc(1, sizeof *t.g)};
    struct gen *g = t.g;

    assert_non_null(g);
    g->r.state = seed;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++)
        if (plain_alu((enum isa_op)op))
            g->alu[g->alu_count++] = (enum isa_op)op;
        else if (scalar_alu((enum isa_op)op))
            g->scalar[g->scalar_count++] = (enum isa_op)op;
    t.width = widths[prop_below(&g->r, 5)];
    if (prop_below(&g->r, 2)) {
        t.block[0] = 1 + prop_below(&g->r, 3 * t.width);
        t.block[1] = t.block[2] = 1;
    } else { /* rows of a power of two are common, and fold in a warp */
        t.block[0] = prop_below(&g->r, 3) ? 1u << prop_below(&g->r, 6)
                                          : 1 + prop_below(&g->r, 12);
        t.block[1] = 1 + prop_below(&g->r, 5);
        t.block[2] = 1 + prop_below(&g->r, 2);
    }
    t.threads = t.block[0] * t.block[1] * t.block[2];
    prologue(g, t.threads, t.block);
    for (unsigned k = 0; k < 4; k++)
        sequence(g, TOP);
    epilogue(g);

    lw_arena_init(&t.object.arena);
    t.object.text = lw_arena_alloc(&t.object.arena, g->count * sizeof *t.object.text);
    t.object.text_count = g->count;
    encode_trial(&t);
    t.kernel.name = "random";
    t.kernel.count = g->count;
    t.kernel.kernel = true;
    t.kernel.param_bytes = PARAMS;
    t.kernel.shared_bytes = t.threads * SHARED_SLOT;
    t.kernel.local_bytes = LOCAL;
    t.object.functions = &t.kernel;
    t.object.function_count = 1;
    t.bytes = (size_t)t.threads * (SLOT + OUT);
    t.before = calloc(1, t.bytes);
    t.after = malloc(t.bytes);
    t.want = malloc(t.bytes);
    t.params = calloc(1, ISA_CONST_BANK_BYTES + 8);
    assert_true(t.before && t.after && t.want && t.params);
    for (size_t i = 0; i < (size_t)t.threads * SLOT; i += 4)
        lw_put32(t.before + i, interesting(&g->r));
    for (size_t i = 8; i < PARAMS; i += 4)
        lw_put32(t.params + i, interesting(&g->r));

    for (unsigned k = 0; k < 8; k++) {
        struct setup setup = setup_random(&g->r, levels[k % 3], k >= 4);
        const char *stops;
        char how[400];
        if (!setup_have_level(setup.level))
            setup.level = 1;
        if (agrees(&t, &setup, &stops))
            continue;
        if (stops != NULL)
            fail_msg("LW_SEED=%" PRIu64 ": the reference stops: %s", seed, stops);
        shrink(&t, &setup);
        show(&t);
        setup_print(&setup, how, sizeof how);
        fail_msg("LW_SEED=%" PRIu64 ": W %u, block [%u, %u, %u], %s: %s", seed, t.width, t.block[0],
                 t.block[1], t.block[2], how, t.why[0] ? t.why : "results differ");
    }
    free(t.before);
    free(t.after);
    free(t.want);
    free(t.params);
    lw_arena_fini(&t.object.arena);
    free(g);
}

static void random_programs_give_what_single_lanes_give(void **state)
{
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(5000, seed);

    (void)state;
    for (unsigned long i = 0; i < count; i++)
        one_program(seed + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_give_what_single_lanes_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
