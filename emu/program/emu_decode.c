/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes isa_insn to emu_dinsn: operands become register offsets or uniform operands, modifiers become selectors, and the x86-64
 * level supplies the handlers. An instruction without a handler is refused with a message that names the instruction.
 */
#include <stdio.h>
#include <stdlib.h>

#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/interp/emu_hooks_priv.h"
#include "emu/interp/emu_layers_priv.h"
#include "emu/simt/emu_split_priv.h"
#include "emu/program/emu_decode_priv.h"
#include "emu/lane/emu_math_priv.h"
#include "emu/memory/emu_mem_priv.h"

/** Returns the 64-bit value of an instruction's immediate (MACHINE 7). */
static uint64_t immediate(const struct isa_insn *insn, const struct isa_op_info *info)
{
    unsigned c_words = isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2);
    unsigned x_words = isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2);
    bool third = insn->variant && c_words != 0 && x_words != 0;
    bool wide = third ? c_words == 2 : x_words == 2 || isa_op_has(info, ISA_TOK_SX2);
    bool is_double = info->unit == ISA_UNIT_DP || info->flags & ISA_F_FLOAT;

    if (isa_op_has(info, ISA_TOK_XT)) {
        unsigned stype = isa_mod_get(insn, ISA_MOD_STYPE);
        wide = stype == ISA_ST_U64 || stype == ISA_ST_S64 || stype == ISA_ST_F64;
        is_double = stype == ISA_ST_F64;
    }
    if (!wide)
        return insn->x;
    return is_double ? (uint64_t)insn->x << 32 : (uint64_t)(int64_t)(int32_t)insn->x;
}

/** Returns the byte offset of vector register @number in a warp's register file. For vz this is a register of zeros or, if
 *  @write is set, a register that nothing reads. */
static uint32_t row_of(const struct emu_layout *layout, unsigned number, bool write)
{
    if (number == ISA_VZ)
        return write ? layout->row_sink : layout->row_zero;
    return (EMU_ROW_V0 + number) * layout->stride;
}

static enum lw_status pool_add(struct emu_decoder *dec, uint64_t value, uint32_t *offset,
                               struct lw_error *err)
{
    struct emu_code *code = dec->code;

    /* a short search backwards, which keeps the pool small, because neighbouring instructions often have the same immediate */
    for (uint32_t i = code->imm_count; i > 0 && i + 16 > code->imm_count; i--) {
        if (code->imm_pool[i - 1] == value) {
            *offset = (i - 1) * 8;
            return LW_OK;
        }
    }
    if (!lw_grow(&code->imm_pool, &dec->imm_capacity, (size_t)code->imm_count + 1, 8))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for immediates of the program");
    code->imm_pool[code->imm_count] = value;
    *offset = code->imm_count++ * 8;
    return LW_OK;
}

/** Decodes X as a uniform operand or a vector register. */
static enum lw_status decode_x(struct emu_decoder *dec, const struct isa_insn *insn,
                               const struct isa_op_info *info, struct emu_dinsn *di,
                               struct lw_error *err)
{
    switch (insn->xkind) {
    case ISA_X_VECTOR:
        di->ukind = EMU_U_ROW;
        di->b = row_of(dec->layout, insn->x & 255, false);
        return LW_OK;
    case ISA_X_SCALAR:
        if ((insn->x & 255) > 127)
            break; /* sz is decoded after this statement, as the value 0 */
        di->ukind = EMU_U_SCALAR;
        di->b = (insn->x & 127) * 4;
        return LW_OK;
    case ISA_X_CONST:
        if (isa_x_bank(insn->x) > 1)
            return LW_FAIL(err, LW_EUNSUPP, "constant bank %u cannot be an operand: use bank 0 or 1",
                           isa_x_bank(insn->x));
        di->ukind = isa_x_bank(insn->x) == 0 ? EMU_U_BANK0 : EMU_U_BANK1;
        di->b = isa_x_offset(insn->x);
        return LW_OK;
    default:
        di->ukind = EMU_U_IMM;
        return pool_add(dec, immediate(insn, info), &di->b, err);
    }
    di->ukind = EMU_U_IMM;
    return pool_add(dec, 0, &di->b, err);
}

static enum lw_status prelude_add(struct emu_decoder *dec, struct emu_prelude **out,
                                  struct emu_dinsn *di, struct lw_error *err)
{
    struct emu_code *code = dec->code;

    if (!(di->flags & EMU_D_MODIFIED)) {
        if (!lw_grow(&code->prelude, &dec->prelude_capacity, (size_t)code->prelude_count + 1,
                     sizeof *code->prelude))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the decoded program");
        memset(&code->prelude[code->prelude_count], 0, sizeof *code->prelude);
        di->aux = code->prelude_count++;
        di->flags |= EMU_D_MODIFIED;
    }
    *out = &code->prelude[di->aux];
    return LW_OK;
}

/** Adds a prelude to an instruction that reads only vector registers: it copies scalar register @number to all lanes of the
 *  scratch register for source @source. *@row is set to the scratch register's offset. */
static enum lw_status splat(struct emu_decoder *dec, struct emu_dinsn *di, unsigned source,
                            unsigned number, unsigned words, uint32_t *row, struct lw_error *err)
{
    const struct emu_layout *layout = dec->layout;
    struct emu_prelude *pre;
    enum lw_status status = prelude_add(dec, &pre, di, err);
    uint32_t from = number * 4;

    if (status == LW_OK && number > 127)
        status = pool_add(dec, 0, &from, err); /* sz has the value 0 */
    if (status != LW_OK)
        return status;
    *row = source == 0 ? layout->row_a : source == 1 ? layout->row_b : layout->row_c;
    pre->source[source].kind = EMU_PRE_UNIFORM;
    pre->source[source].ukind = number > 127 ? EMU_U_IMM : EMU_U_SCALAR;
    pre->source[source].words = (uint8_t)words;
    pre->source[source].from = from;
    pre->source[source].to = *row;
    return LW_OK;
}

/** Decodes source operands. Scalar operands A and C, sources with modifiers, and a uniform third source are prepared in scratch
 *  registers. */
static enum lw_status decode_sources(struct emu_decoder *dec, const struct isa_insn *insn,
                                     const struct isa_op_info *info, struct emu_dinsn *di,
                                     struct lw_error *err)
{
    unsigned a_words = isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2);
    unsigned c_words = isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2);
    unsigned x_words = isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2);
    bool mods = !(info->flags & ISA_F_NOSRCMOD) && insn->mod & 63;
    struct emu_prelude *pre = NULL;
    enum lw_status status;
    uint32_t zero;

    di->a = row_of(dec->layout, insn->a, false);
    di->c = row_of(dec->layout, insn->c, false);
    status = decode_x(dec, insn, info, di, err);
    if (status != LW_OK)
        return status;
    status = pool_add(dec, 0, &zero, err);
    if (status != LW_OK)
        return status;
    struct { bool used, uniform; uint8_t ukind; unsigned words, mods; uint32_t from; } src[3] = {
        {a_words != 0, insn->a_scalar, EMU_U_SCALAR, a_words, 0, di->a},
        {x_words != 0, di->ukind != EMU_U_ROW, di->ukind, x_words, 0, di->b},
        {c_words != 0, insn->c_scalar, EMU_U_SCALAR, c_words, 0, di->c},
    };
    if (insn->a_scalar && insn->a <= 127)
        src[0].from = insn->a * 4u;
    else if (insn->a_scalar)
        src[0].ukind = EMU_U_IMM, src[0].from = zero;
    if (insn->c_scalar && insn->c <= 127)
        src[2].from = insn->c * 4u;
    else if (insn->c_scalar)
        src[2].ukind = EMU_U_IMM, src[2].from = zero;
    if (mods)
        for (unsigned i = 0; i < 3; i++)
            src[i].mods = isa_insn_srcmod(insn, i);
    /* In the semantics, a, b and c are the first, second and third source as written in assembly. */
    if (insn->variant && x_words != 0 && c_words != 0) {
        __typeof__(src[0]) t = src[1];
        src[1] = src[2];
        src[2] = t;
        src[1].words = x_words, src[2].words = c_words;
    }
    bool rows_only = di->flags & EMU_D_FLOAT_MODE || dec->level->rows_only(insn->op);
    uint32_t place[3] = {src[0].from, src[1].from, src[2].from};
    uint8_t b_kind = src[1].uniform ? src[1].ukind : EMU_U_ROW;
    for (unsigned i = 0; i < 3; i++) {
        bool needs = src[i].used && (src[i].mods != 0 || (src[i].uniform && i != 1) ||
                                     (src[i].uniform && rows_only));
        if (!needs)
            continue;
        status = prelude_add(dec, &pre, di, err);
        if (status != LW_OK)
            return status;
        pre->is_float = info->flags & ISA_F_FLOAT;
        pre->source[i].kind = src[i].uniform ? EMU_PRE_UNIFORM : EMU_PRE_ROW;
        pre->source[i].ukind = src[i].ukind;
        pre->source[i].words = (uint8_t)src[i].words;
        pre->source[i].mods = (uint8_t)src[i].mods;
        pre->source[i].from = src[i].from;
        pre->source[i].to = i == 0   ? dec->layout->row_a
                            : i == 1 ? dec->layout->row_b
                                     : dec->layout->row_c;
        place[i] = pre->source[i].to;
        if (i == 1)
            b_kind = EMU_U_ROW;
    }
    di->a = place[0];
    di->b = place[1];
    di->c = place[2];
    di->ukind = b_kind;
    return LW_OK;
}

static enum lw_status decode_memory(struct emu_decoder *dec, const struct isa_insn *insn,
                                    const struct isa_op_info *info, struct emu_dinsn *di)
{
    di->a = row_of(dec->layout, insn->a, false);
    di->b = row_of(dec->layout, isa_x_reg(insn->x), false);
    di->c = row_of(dec->layout, insn->c, false);
    di->d = row_of(dec->layout, insn->d, true);
    if (info->format == ISA_FMT_TEX)
        return LW_OK; /* the handlers of texture fetches read the remaining fields themselves */
    di->disp = isa_x_disp(insn->x);
    di->reg = insn->c; /* number of the scalar base register or of the constant bank */
    if (info->format == ISA_FMT_ATOM) {
        di->sub = (uint8_t)isa_mod_get(insn, ISA_MOD_ATYPE);
        di->aux = isa_mod_get(insn, ISA_MOD_AOP);
    } else {
        di->sub = (uint8_t)isa_mod_get(insn, ISA_MOD_SIZE);
    }
    return LW_OK;
}

static enum lw_status decode_target(const struct emu_decoder *dec, const struct isa_insn *insn,
                                    const struct isa_op_info *info, struct emu_dinsn *di,
                                    struct lw_error *err)
{
    int64_t target = (int64_t)di->index + 1 + (int32_t)insn->x;

    if (target < 0 || target >= dec->program->count)
        return LW_FAIL(err, LW_EFORMAT, "the target of %s is outside the code", info->mnemonic);
    di->delta = (int32_t)(target - di->index);
    return LW_OK;
}

/** Decodes an instruction of the scalar unit. The emu_dinsn of a scalar instruction contains register numbers instead of offsets:
 *  the number of operand D in `reg` (255: no scalar register is written), that of A in `p`, of C in `c`, and of P in `q`. `delta`
 *  is the number of words of D. */
static enum lw_status decode_scalar(struct emu_decoder *dec, const struct isa_insn *insn,
                                    const struct isa_op_info *info, struct emu_dinsn *di,
                                    struct lw_error *err)
{
    unsigned words = isa_op_has(info, ISA_TOK_SDN) ? isa_mem_regs(insn)
                                                   : isa_op_words(info, ISA_TOK_SD, ISA_TOK_SD2);

    di->reg = words != 0 ? insn->d : ISA_SZ;
    di->delta = words != 0 ? (int32_t)words : 1;
    di->p = insn->a;
    di->c = insn->c;
    if (isa_op_has(info, ISA_TOK_SPD))
        di->q = (uint8_t)isa_insn_p(insn);
    if (isa_op_has(info, ISA_TOK_SC))
        di->sub = insn->variant;
    if (isa_op_has(info, ISA_TOK_VA))
        di->a = row_of(dec->layout, insn->a, false);
    if (info->flags & ISA_F_MEMORY) {
        di->sub = (uint8_t)isa_mod_get(insn, ISA_MOD_SSIZE);
        di->disp = isa_x_disp(insn->x);
        di->q = insn->c; /* number of the constant bank */
        di->c = isa_x_reg(insn->x);
        return LW_OK;
    }
    if (isa_op_has(info, ISA_TOK_TG))
        return decode_target(dec, insn, info, di, err);
    if (isa_op_has(info, ISA_TOK_SR))
        di->aux = insn->x;
    else if (isa_op_words(info, ISA_TOK_SX, ISA_TOK_SX2) != 0)
        return decode_x(dec, insn, info, di, err);
    return LW_OK;
}

static bool scalar_guard_ok(const struct isa_insn *insn, const struct isa_op_info *info)
{
    return !(info->flags & ISA_F_SCALAR) || insn->guard_scalar || insn->guard == ISA_PT;
}

enum lw_status emu_decode(struct emu_decoder *dec, uint32_t index, struct emu_dinsn *di,
                          struct lw_error *err)
{
    const struct isa_insn *insn = &dec->program->insn[index];
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    const struct emu_layout *layout = dec->layout;
    enum lw_status status = LW_OK;
    const char *why = NULL;

    memset(di, 0, sizeof *di);
    di->index = index;
    di->op = insn->op;
    di->guard = (uint8_t)(insn->guard | insn->guard_neg << 3 | insn->guard_scalar << 4);
    di->ukind = EMU_U_ROW;
    di->p = 8;
    di->q = 8;
    di->d = row_of(layout, insn->d, true);
    if (!scalar_guard_ok(insn, info))
        return LW_FAIL(err, LW_EFORMAT, "the guard of %s must be a scalar predicate (sp0..sp6)", info->mnemonic);
    /* only instructions that execute each lane separately may have preludes that copy scalars to all lanes */
    bool splats = !(info->flags & (ISA_F_MEMORY | ISA_F_SCALAR | ISA_F_CONTROL | ISA_F_CROSS));
    if (insn->a_scalar && info->flags & ISA_F_SCALAR && isa_op_has(info, ISA_TOK_VA))
        return LW_FAIL(err, LW_EUNSUPP, "the source of %s cannot be a scalar register, which all lanes share: use s_mov_b32",
                       info->mnemonic);
    if (isa_op_has(info, ISA_TOK_PD))
        di->p = isa_insn_p(insn) == ISA_PT ? 8 : (uint8_t)isa_insn_p(insn);
    if (isa_op_has(info, ISA_TOK_QD))
        di->q = isa_insn_q(insn) == ISA_PT ? 8 : (uint8_t)isa_insn_q(insn);
    di->r = ISA_PT;
    if (isa_op_has(info, ISA_TOK_RR) || isa_op_has(info, ISA_TOK_RS))
        di->r = (uint8_t)(isa_insn_r(insn) | isa_insn_r_neg(insn) << 3);

    switch (info->format) {
    case ISA_FMT_FLT:
        di->reg = (uint8_t)(isa_mod_get(insn, ISA_MOD_FTZ) | isa_mod_get(insn, ISA_MOD_SAT) << 1 |
                            isa_mod_get(insn, ISA_MOD_RND) << 2);
        break;
    case ISA_FMT_FUN:
        di->reg = (uint8_t)(isa_mod_get(insn, ISA_MOD_FTZ) | isa_mod_get(insn, ISA_MOD_SAT) << 1);
        break;
    case ISA_FMT_HLF:
        di->reg = (uint8_t)(isa_mod_get(insn, ISA_MOD_FTZ) | isa_mod_get(insn, ISA_MOD_SAT) << 1 |
                            (isa_mod_get(insn, ISA_MOD_RELU) ? EMU_RELU : 0));
        break;
    case ISA_FMT_MNM:
        di->reg = (uint8_t)(isa_mod_get(insn, ISA_MOD_FTZ) |
                            (isa_mod_get(insn, ISA_MOD_MNAN) ? EMU_MIN_NAN : 0) |
                            (isa_mod_get(insn, ISA_MOD_XORSIGN) ? EMU_XORSIGN : 0));
        break;
    case ISA_FMT_CMP:
        di->sub = (uint8_t)(isa_mod_get(insn, ISA_MOD_CMP) | isa_mod_get(insn, ISA_MOD_BOOL) << 4);
        di->reg = (uint8_t)isa_mod_get(insn, ISA_MOD_CMPFTZ);
        break;
    case ISA_FMT_CVT:
        di->sub = (uint8_t)(isa_mod_get(insn, ISA_MOD_DTYPE) |
                            isa_mod_get(insn, ISA_MOD_STYPE) << 4);
        di->reg = (uint8_t)(isa_mod_get(insn, ISA_MOD_CRND) |
                            isa_mod_get(insn, ISA_MOD_CSAT) << 3 |
                            isa_mod_get(insn, ISA_MOD_CFTZ) << 4);
        break;
    case ISA_FMT_LUT:
        di->sub = (uint8_t)(insn->mod >> 16);
        break;
    case ISA_FMT_PRM:
        di->sub = (uint8_t)isa_mod_get(insn, ISA_MOD_PRMT);
        break;
    case ISA_FMT_PLUT: /* modifiers are in bits 98:96 and 102:100; the bit above each of these fields negates */
        di->sub = (uint8_t)(insn->mod >> 16);
        di->reg = (uint8_t)insn->x;
        break;
    default:
        break;
    }

    if (di->reg != 0 && info->format != ISA_FMT_CVT && info->format != ISA_FMT_PLUT &&
        !(info->flags & ISA_F_SCALAR))
        di->flags |= EMU_D_FLOAT_MODE;

    if (info->flags & ISA_F_SCALAR) {
        status = decode_scalar(dec, insn, info, di, err);
    } else if (info->flags & ISA_F_MEMORY) {
        status = decode_memory(dec, insn, info, di);
    } else if (info->format == ISA_FMT_WARP) {
        unsigned member = isa_x_member(insn->x);
        di->a = row_of(layout, insn->a, false);
        di->delta = member == 255 ? EMU_NO_MEMBERS : (int32_t)row_of(layout, member, false);
        if (isa_op_has(info, ISA_TOK_WL)) {
            if (insn->xkind == ISA_X_VECTOR)
                di->b = row_of(layout, isa_x_reg(insn->x), false);
            else if (insn->xkind == ISA_X_IMM)
                di->ukind = EMU_U_IMM;
            else
                status = splat(dec, di, 1, isa_x_reg(insn->x), 1, &di->b, err);
            di->sub = (uint8_t)isa_x_reg(insn->x);
            di->disp = (int32_t)(insn->x >> 8 & 0xfff);
            di->c = row_of(layout, insn->c, false);
            if (insn->variant)
                di->flags |= EMU_D_COUNTED;
            if (status == LW_OK && insn->c_scalar)
                status = splat(dec, di, 2, insn->c, 1, &di->c, err);
        }
    } else if (info->format == ISA_FMT_CTRL || info->format == ISA_FMT_BAR) {
        di->a = row_of(layout, insn->a, false);
        di->c = row_of(layout, insn->c, false);
        di->sub = insn->d & 15;
        if (isa_op_has(info, ISA_TOK_XD2))
            di->b = row_of(layout, isa_x_reg(insn->x), false);
        if (isa_op_has(info, ISA_TOK_VC2) && insn->c_scalar)
            status = splat(dec, di, 2, insn->c, 2, &di->c, err);
        if (status != LW_OK)
            return status;
        if (isa_op_has(info, ISA_TOK_TG)) {
            status = decode_target(dec, insn, info, di, err);
            if (status != LW_OK)
                return status;
        }
        if (isa_op_has(info, ISA_TOK_SF) && insn->variant)
            di->flags |= EMU_D_SOFT;
        if (isa_op_has(info, ISA_TOK_CN) && insn->variant)
            di->flags |= EMU_D_COUNTED;
        if (isa_op_has(info, ISA_TOK_CB) && insn->xkind == ISA_X_IMM && insn->x < ISA_CTA_BARRIER_COUNT)
            di->reg = (uint8_t)insn->x;
        if (isa_op_has(info, ISA_TOK_IM)) {
            di->ukind = EMU_U_IMM;
            status = pool_add(dec, insn->x, &di->b, err);
        } else if (isa_op_has(info, ISA_TOK_CB) || isa_op_has(info, ISA_TOK_XM) ||
                   isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2) != 0) {
            status = decode_x(dec, insn, info, di, err);
        }
    } else {
        if (isa_op_has(info, ISA_TOK_SR))
            di->reg = (uint8_t)insn->x;
        else if (isa_op_has(info, ISA_TOK_BX))
            di->sub = insn->x & 15;
        else if (isa_op_has(info, ISA_TOK_BN))
            di->sub = insn->d & 15, di->a = row_of(layout, insn->a, false);
        else if (isa_op_has(info, ISA_TOK_XT) || isa_op_has(info, ISA_TOK_SX2))
            status = decode_x(dec, insn, info, di, err);
        else
            status = decode_sources(dec, insn, info, di, err);
    }
    if (status == LW_OK && insn->a_scalar && !splats && !(info->flags & ISA_F_SCALAR) &&
        isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2) != 0)
        status = splat(dec, di, 0, insn->a, isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2), &di->a, err);
    if (status != LW_OK)
        return status;
    if ((insn->op == ISA_V_S2R || insn->op == ISA_S_S2R) &&
        emu_special_of_block((enum isa_special)insn->x)) {
        di->ukind = EMU_U_SPECIAL; /* the instruction is executed as a move from a special register of the block */
        di->b = (uint32_t)(insn->x - ISA_SR_NTID_X) * 4;
    }
    if (info->flags & (ISA_F_BRANCH | ISA_F_BARRIER) || insn->op == ISA_TRAP ||
        (info->flags & ISA_F_CONTROL && info->flags & ISA_F_NOSRCMOD &&
         info->format == ISA_FMT_ALU))
        di->flags |= EMU_D_ENDS_RUN;
    dec->level->handlers(insn, di, &di->h, &why);
    if (di->h.full == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "%s: %s", info->mnemonic,
                       why != NULL ? why : "this instruction is not supported on the host processor");
    if (di->flags & EMU_D_MODIFIED) {
        dec->code->prelude[di->aux].base = di->h;
        di->h = dec->level->prelude;
    }
    return LW_OK;
}

enum { MAX_RUN = 65535 }; /* largest value of emu_dinsn.run. Runs with more instructions have this value, which is greater than
                           * the length of any time slice. */

void emu_layout_make(struct emu_layout *layout, unsigned width, const struct emu_level *level)
{
    layout->stride = (width + level->row_lanes - 1) / level->row_lanes * level->row_lanes * 4;
    layout->row_zero = 0;
    layout->row_sink = 4 * layout->stride;
    layout->row_a = 8 * layout->stride;
    layout->row_b = 10 * layout->stride;
    layout->row_c = 12 * layout->stride;
}

/** For reconvergence engines that ignore barriers: gives instructions on barrier registers a handler that does nothing. Adds the
 *  layer EMU_LAYER_RPC to the instructions at which lanes may wait for other lanes. These are the instructions at reconvergence
 *  pcs; for the engine `likely` also those at likely convergence points; for the engine `early` all instructions. */
static void mark_rpcs(struct emu_code *code)
{
    const struct emu_program *program = code->program;

    for (uint32_t i = 0; i < program->count; i++) {
        struct emu_dinsn *di = &code->insn[i];
        if (di->op == ISA_BSSY || di->op == ISA_BSYNC || di->op == ISA_BBREAK ||
            di->op == ISA_YIELD)
            di->h.full = di->h.part = emu_stalled_step_handler;
        if (program->machine->reconv->reach != NULL && program->rpc[i] != EMU_NO_RPC)
            code->layers[program->rpc[i]] |= EMU_LAYER_RPC;
        if (program->lpc != NULL && program->lpc[i] != EMU_NO_RPC)
            code->layers[program->lpc[i]] |= EMU_LAYER_RPC;
        if (program->machine->reconv->early)
            code->layers[i] |= EMU_LAYER_RPC;
    }
}

/** Adds the hook layer to the instructions for which the machine's hooks request calls. Returns false if there is no memory. */
static bool mark_hook_sites(struct emu_code *code, const struct emu_level *level)
{
    const struct emu_program *program = code->program;
    struct emu_hooks *hooks = program->machine->attached_hooks;
    bool any = false;

    for (uint32_t i = 0; i < program->count; i++) {
        if (!hooks->wants(hooks, program, i, &program->insn[i]))
            continue;
        code->layers[i] |= EMU_LAYER_HOOK | EMU_HOOK_SITE;
        any = true;
    }
    code->hook = level->hook;
    code->hook_filter = any ? calloc((size_t)program->count + 1, sizeof *code->hook_filter) : NULL;
    return !any || code->hook_filter != NULL;
}

/** Sets EMU_D_AHEAD on the loads and stores of kernels outside of loops. An instruction is in a loop if a later branch jumps to
 *  it or to an earlier instruction. */
static void mark_ahead(struct emu_code *code)
{
    const struct emu_program *program = code->program;

    for (unsigned k = 0; k < program->object->function_count; k++) {
        const struct isa_function *f = &program->object->functions[k];
        uint32_t back = UINT32_MAX;
        for (uint32_t i = f->first + f->count; f->kernel && i-- > f->first;) {
            struct emu_dinsn *di = &code->insn[i];
            const unsigned op = program->insn[i].op;
            if ((op == ISA_BRA || op == ISA_S_BRA) && di->delta <= 0) {
                const uint32_t to = i - (uint32_t)-di->delta;
                back = to < back ? to : back;
            } else if (isa_op_is_indirect((enum isa_op)op)) {
                back = f->first;
            } else if ((op == ISA_LD_GLOBAL || op == ISA_ST_GLOBAL) && i < back) {
                di->flags |= EMU_D_AHEAD;
            }
        }
    }
}

/** The instructions in a loop that write a vector register: the number of these instructions, where 2 stands for more than one,
 *  and the index of the last of these instructions. */
struct writer {
    uint8_t count;
    uint32_t at;
};

static void find_writers(const struct emu_program *program, uint32_t first, uint32_t last,
                         struct writer writer[256])
{
    memset(writer, 0, 256 * sizeof *writer);
    for (uint32_t i = first; i <= last; i++) {
        struct isa_reg_use use[ISA_MAX_USES];
        unsigned count = isa_insn_uses(&program->insn[i], use);
        for (unsigned u = 0; u < count; u++) {
            for (unsigned k = 0; k < use[u].count; k++) {
                struct writer *w = &writer[use[u].first + k];
                if (use[u].reg_class != ISA_REG_V || !use[u].written)
                    continue;
                w->count += w->count < 2;
                w->at = i;
            }
        }
    }
}

/** Returns by how many bytes the address of load @load grows in each iteration of a loop. Returns 0 unless exactly one
 *  instruction of the loop writes the address register, and this instruction adds a constant to it. */
static int64_t advance_of(const struct emu_program *program, const struct writer *writer,
                          const struct isa_insn *load)
{
    const unsigned mode = isa_mod_get(load, ISA_MOD_AMODE);
    const struct isa_insn *add = &program->insn[writer[load->a].at];

    if (writer[load->a].count != 1 ||
        add->op != (mode == ISA_AMODE_PAIR ? ISA_V_ADD_U64 : ISA_V_ADD_U32) || add->d != load->a ||
        add->a != load->a || add->a_scalar || add->xkind != ISA_X_IMM || add->mod & 63)
        return 0;
    return (int64_t)(int32_t)add->x *
           (mode == ISA_AMODE_PAIR ? 1 : 1 << isa_mod_get(load, ISA_MOD_ASCALE));
}

enum {
    LONGEST_CHAINED = 256, /* greatest length, in instructions, of a loop in which words are prefetched; in longer loops they
                            * would be evicted before their use */
    FARTHEST_CHAINED = 32 /* longest distance, in instructions, from a load to the access that uses the loaded word as an index */
};

/** Returns an access in (@at, @last] with a scalar base, whose index is the word loaded at @at. Returns NULL if there is no such
 *  access within FARTHEST_CHAINED instructions. */
static const struct isa_insn *chained(const struct emu_program *program, uint32_t at, uint32_t last)
{
    const unsigned word = program->insn[at].d;

    for (uint32_t i = at + 1; i <= last && i - at <= FARTHEST_CHAINED; i++) {
        const struct isa_insn *insn = &program->insn[i];
        const unsigned mode = insn->op == ISA_LD_GLOBAL || insn->op == ISA_ST_GLOBAL
                                  ? isa_mod_get(insn, ISA_MOD_AMODE) : ISA_AMODE_PAIR;
        if ((mode == ISA_AMODE_SS32 || mode == ISA_AMODE_SU32) && insn->a == word && insn->c < 126)
            return insn;
        if (insn->d == word)
            return NULL;
    }
    return NULL;
}

/** Sets EMU_D_CHAIN on loads in loops. Each load is analysed for the innermost loop around it. Returns false if there is no
 *  memory. */
static bool mark_chains(struct emu_code *code)
{
    const struct emu_program *program = code->program;
    struct writer writer[256];
    uint32_t done = 0; /* loads before this instruction have been analysed */

    for (uint32_t last = 0; last < program->count; last++) {
        const struct emu_dinsn *branch = &code->insn[last];
        const unsigned op = program->insn[last].op;
        bool known = false;
        if ((op != ISA_BRA && op != ISA_S_BRA) || branch->delta > 0 ||
            branch->delta < -LONGEST_CHAINED)
            continue;
        const uint32_t first = last - (uint32_t)-branch->delta;
        for (uint32_t i = first > done ? first : done; i < last; i++) {
            const struct isa_insn *insn = &program->insn[i], *other;
            if (insn->op != ISA_LD_GLOBAL || isa_mod_get(insn, ISA_MOD_SIZE) != ISA_SIZE_B32 ||
                insn->d == ISA_VZ || insn->a == ISA_VZ || insn->a == insn->d)
                continue;
            other = chained(program, i, last);
            if (other == NULL)
                continue;
            if (!known)
                find_writers(program, first, last, writer);
            known = true;
            const int64_t advance = advance_of(program, writer, insn);
            if (advance == 0 || advance > EMU_PAGE_BYTES || advance < -EMU_PAGE_BYTES)
                continue;
            if (code->chain == NULL)
                code->chain = calloc(program->count, sizeof *code->chain);
            if (code->chain == NULL)
                return false;
            code->chain[i] = (struct emu_chain){
                .advance = (int32_t)advance, .disp = isa_x_disp(other->x), .base = other->c,
                .scale = (uint8_t)isa_mod_get(other, ISA_MOD_ASCALE),
                .is_signed = isa_mod_get(other, ISA_MOD_AMODE) == ISA_AMODE_SS32};
            code->insn[i].flags |= EMU_D_CHAIN;
        }
        done = last;
    }
    return true;
}

enum lw_status emu_code_create(struct emu_program *program, const struct emu_layout *layout,
                               const struct emu_level *level, const uint8_t *shape,
                               struct emu_code *code, struct lw_error *err)
{
    enum lw_status status = LW_OK;
    uint32_t count = program->count;
    struct emu_decoder dec = {.program = program, .code = code, .layout = layout, .level = level};

    memset(code, 0, sizeof *code);
    code->program = program;
    code->insn = aligned_alloc(64, ((size_t)count + 1) * sizeof *code->insn);
    code->base = calloc((size_t)count + 1, sizeof *code->base);
    code->layers = calloc((size_t)count + 1, sizeof *code->layers);
    code->icache = calloc((size_t)count + 1, sizeof *code->icache);
    code->cached = calloc((size_t)count + 1, sizeof *code->cached);
    if (code->insn == NULL || code->base == NULL || code->layers == NULL || code->icache == NULL ||
        code->cached == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the decoded program of %u instructions", count);
        goto cleanup;
    }
    for (uint32_t i = 0; i < count; i++) {
        status = emu_decode(&dec, i, &code->insn[i], err);
        if (status != LW_OK) {
            const struct isa_line *line = isa_object_line_at(program->object, i);
            if (line != NULL)
                (void)lw_error_prefix(err, "%s:%u", program->object->files[line->file],
                                      line->line);
            goto cleanup;
        }
    }
    if (program->machine->config.tags != EMU_TAGS_OFF) {
        code->tag = calloc((size_t)count + 1, sizeof *code->tag);
        if (code->tag == NULL) {
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for tags of %u instructions", count);
            goto cleanup;
        }
        for (uint32_t i = 0; i < count; i++)
            emu_tag_insn_read(&program->insn[i], &code->tag[i]);
    }
    if (program->machine->config.tags == EMU_TAGS_COMPACT && shape != NULL) {
        code->shape = *shape;
        status = emu_plan_make(code, level, layout->stride, err);
        if (status != LW_OK)
            goto cleanup;
    }
    for (unsigned f = 0; f < program->object->function_count; f++) {
        const struct isa_function *fn = &program->object->functions[f];
        code->insn[fn->first + fn->count - 1].flags |= EMU_D_LAST;
    }
    struct emu_dinsn *end = &code->insn[count];
    memset(end, 0, sizeof *end);
    end->index = count;
    end->guard = ISA_PT;
    end->flags = EMU_D_ENDS_RUN;
    end->h.full = end->h.part = emu_bad_pc_handler;
    end->run = 1;
    for (uint32_t i = count; i-- > 0;) {
        struct emu_dinsn *di = &code->insn[i];
        unsigned run = di->flags & EMU_D_ENDS_RUN ? 1 : di[1].run + 1u;
        di->run = (uint16_t)(run > MAX_RUN ? MAX_RUN : run);
    }
    if (program->machine->config.tags == EMU_TAGS_OFF)
        emu_addr_cache_mark(code);
    mark_ahead(code);
    if (program->machine->reconv->ignores_barriers)
        mark_rpcs(code);
    if (!mark_chains(code) ||
        (program->machine->attached_hooks != NULL && !mark_hook_sites(code, level))) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the decoded program of %u instructions", count);
        goto cleanup;
    }
    for (uint32_t i = 0; i <= count; i++) {
        code->base[i] = code->insn[i].h;
        emu_code_set_layer(code, i, EMU_LAYER_BREAK, i < count && program->breakpoint[i]);
    }
cleanup:
    if (status != LW_OK)
        emu_code_destroy(code);
    return status;
}

void emu_code_destroy(struct emu_code *code)
{
    free(code->insn);
    free(code->base);
    free(code->layers);
    free(code->hook_filter);
    free(code->chain);
    free(code->icache);
    free(code->cached);
    free(code->prelude);
    free(code->imm_pool);
    free(code->tag);
    free(code->plan);
    memset(code, 0, sizeof *code);
}

enum lw_status emu_program_try_decode(struct emu_machine *machine, struct emu_program *program,
                                      struct lw_error *err)
{
    struct emu_layout layout;
    struct emu_code code;
    enum lw_status status;

    const struct emu_level *level = emu_level_choose(machine->config.level);

    emu_layout_make(&layout, machine->config.warp_width, level);
    status = emu_code_create(program, &layout, level, NULL, &code, err);
    if (status == LW_OK)
        emu_code_destroy(&code);
    return status;
}

enum emu_access_kind emu_access_kind_of(enum isa_op op)
{
    enum isa_space space;

    switch (isa_op_access(op, &space)) {
    case ISA_ACCESS_STORE: return EMU_ACCESS_STORE;
    case ISA_ACCESS_ATOMIC: return EMU_ACCESS_ATOMIC;
    case ISA_ACCESS_REDUCE: return EMU_ACCESS_REDUCE;
    case ISA_ACCESS_LOAD:
    case ISA_ACCESS_NONE: break; /* scalar loads count as EMU_ACCESS_LOAD, too */
    }
    return EMU_ACCESS_LOAD;
}

void emu_form_fill(const struct isa_insn *insn, struct emu_form *form)
{
    enum isa_op op = (enum isa_op)insn->op;
    unsigned flags = isa_op_info(op)->flags;

    *form = (struct emu_form){
        .flags = (uint8_t)((flags & ISA_F_MEMORY ? EMU_FORM_MEMORY : 0) |
                           (flags & ISA_F_SCALAR ? EMU_FORM_SCALAR : 0) |
                           (op == ISA_TEX ? EMU_FORM_TEXTURE : 0) |
                           (emu_control_handler(op) != NULL ? EMU_FORM_FLOW : 0))};
    if ((flags & ISA_F_MEMORY) == 0)
        return;
    form->kind = (uint8_t)emu_access_kind_of(op);
    form->bytes = (uint8_t)isa_mem_bytes(insn);
    form->space = emu_mem_info[op].space;
    form->order = (uint8_t)isa_mod_get(insn, ISA_MOD_MORDER);
    form->scope = (uint8_t)isa_mod_get(insn, ISA_MOD_SCOPE);
    form->cache = (uint8_t)isa_mod_get(insn, ISA_MOD_CACHE);
    form->mode = form->space == ISA_SPACE_CONST ? ISA_AMODE_32 : (uint8_t)EMU_MOD(insn, AMODE);
    if (form->mode == ISA_AMODE_SU32 || form->mode == ISA_AMODE_SS32)
        form->mode |= (uint8_t)(EMU_MOD(insn, ASCALE) << 4);
}
