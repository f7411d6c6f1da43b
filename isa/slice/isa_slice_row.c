/* SPDX-License-Identifier: Apache-2.0 */
/* The value that an instruction computes, from the values of its sources. */
#include <stdlib.h>

#include "isa/slice/isa_slice_priv.h"

struct sources {
    uint32_t a, b, c, r;
};

static uint32_t row(struct slice_builder *b, enum isa_op op, uint32_t mod, unsigned part, struct sources s)
{
    const uint32_t all[4] = { s.a, s.b, s.c, s.r };

    for (unsigned k = 0; k < 4; k++)
        if (all[k] != SLICE_NONE && slice_is_reject(b, all[k]))
            return all[k];
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_ROW, .op = (uint16_t)op, .mod = mod,
                                                       .part = (uint8_t)part, .a = s.a, .b = s.b, .c = s.c, .r = s.r,
                                                       .bits = (uint8_t)isa_slice_row_bits(op, mod, part) });
}

/* ---- operands ------------------------------------------------------------------------- */

static uint32_t read_register(struct slice_builder *b, uint32_t insn, bool scalar, unsigned number, unsigned words)
{
    if (number == (scalar ? ISA_SZ : ISA_VZ))
        return slice_immediate(b, 0, 32 * words);
    if (scalar && number >= ISA_S_EXEC)
        return slice_reject(b, ISA_SLICE_EXEC, insn);
    return slice_read(b, (scalar ? 256 : 0) + number, words, insn);
}

static uint32_t read_constant(struct slice_builder *b, uint32_t insn, unsigned bank, uint64_t offset, unsigned bytes,
                              bool is_signed)
{
    uint64_t value = 0;

    if (bank == 0)
        return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_PARAM, .bits = bytes == 8 ? 64 : 32,
                                   .part = (uint8_t)(bytes < 4 ? 8 * bytes + 128 * is_signed : 0), .value = offset });
    if (bank != 1 || offset + bytes > b->object->const_bank_bytes)
        return slice_reject(b, ISA_SLICE_LOADED, insn);
    memcpy(&value, b->object->const_bank + offset, bytes);
    if (is_signed)
        value = (uint32_t)((int32_t)((uint32_t)value << (32 - 8 * bytes)) >> (32 - 8 * bytes));
    return slice_immediate(b, value, bytes == 8 ? 64 : 32);
}

/** Returns the relocation of the immediate of instruction @insn, or NULL. */
static const struct isa_reloc *reloc_of(const struct slice_builder *b, uint32_t insn)
{
    uint32_t low = 0, high = b->object->reloc_count, want = b->function->first + insn;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (b->relocs[middle].insn < want)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->object->reloc_count && b->relocs[low].insn == want ? &b->relocs[low] : NULL;
}

static uint32_t read_immediate(struct slice_builder *b, uint32_t insn, unsigned words)
{
    const struct isa_reloc *reloc = reloc_of(b, insn);

    if (reloc == NULL)
        return slice_immediate(b, words == 2 ? (uint64_t)(int64_t)(int32_t)b->insn[insn].x : b->insn[insn].x,
                               32 * words);
    if (reloc->to_function || words == 2 || reloc->to > UINT16_MAX ||
        b->object->variables[reloc->to].space == ISA_SPACE_SHARED)
        return slice_reject(b, ISA_SLICE_OPERATION, insn);
    uint32_t whole = slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_VARIABLE, .bits = 64,
                                         .op = (uint16_t)reloc->to, .value = (uint64_t)reloc->addend });
    return slice_word(b, whole, reloc->high);
}

/** Reads source X. If @words is 1 and the source has two words, reads only the low word. */
static uint32_t read_x(struct slice_builder *b, uint32_t insn, unsigned words)
{
    const struct isa_insn *in = &b->insn[insn];

    switch ((enum isa_xkind)in->xkind) {
    case ISA_X_VECTOR: return read_register(b, insn, false, isa_x_reg(in->x), words);
    case ISA_X_SCALAR: return read_register(b, insn, true, isa_x_reg(in->x), words);
    case ISA_X_CONST: return read_constant(b, insn, isa_x_bank(in->x), isa_x_offset(in->x), 4 * words, false);
    case ISA_X_IMM: break;
    }
    return read_immediate(b, insn, words);
}

static uint32_t read_predicate(struct slice_builder *b, uint32_t insn, bool scalar, unsigned number, bool negate)
{
    struct isa_reg_use use = { .reg_class = scalar ? ISA_REG_SP : ISA_REG_P, .first = (uint8_t)number };

    if (number == ISA_PT)
        return slice_immediate(b, !negate, 1);
    uint32_t value = slice_read(b, isa_reg_number(&use), 1, insn);
    return negate ? slice_not(b, value) : value;
}

static uint32_t modified(struct slice_builder *b, uint32_t value, unsigned mods, unsigned words)
{
    struct sources s = { SLICE_NONE, value, SLICE_NONE, SLICE_NONE };

    if (mods & 2)
        s.b = row(b, words == 2 ? ISA_V_NOT_B64 : ISA_V_NOT_B32, 0, ISA_SLICE_D, s);
    if (mods & 1)
        s.b = row(b, words == 2 ? ISA_V_NEG_S64 : ISA_V_NEG_S32, 0, ISA_SLICE_D, s);
    return s.b;
}

/** Reads the sources of an instruction, in the order of the assembly text. @narrow: reads only the low words of the sources. */
static struct sources read_sources(struct slice_builder *b, uint32_t insn, bool narrow)
{
    const struct isa_insn *in = &b->insn[insn];
    const struct isa_op_info *info = isa_op_info((enum isa_op)in->op);
    unsigned want = isa_slice_sources((enum isa_op)in->op);
    unsigned a = isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2) | isa_op_words(info, ISA_TOK_SA, ISA_TOK_SA2);
    unsigned x = isa_insn_x_bytes(in) / 4, c = isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2);
    bool swapped = in->variant && isa_operands_swappable(&info->operands);
    struct sources s = { SLICE_NONE, SLICE_NONE, SLICE_NONE, SLICE_NONE };

    if (in->op == ISA_V_PLOP3) {
        s.a = read_predicate(b, insn, false, isa_insn_ra(in), isa_insn_ra_neg(in));
        s.b = read_predicate(b, insn, false, isa_insn_rb(in), isa_insn_rb_neg(in));
        want = ISA_SLICE_R;
    }
    if (isa_op_has(info, ISA_TOK_SC))
        c = 1;
    else if (swapped)
        c = isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2);
    bool has_mods = !(info->flags & ISA_F_NOSRCMOD);
    if (want & ISA_SLICE_A) {
        a = narrow ? 1 : a;
        s.a = read_register(b, insn, in->a_scalar, in->a, a);
        s.a = has_mods ? modified(b, s.a, isa_insn_srcmod(in, 0), a) : s.a;
    }
    if (want & ISA_SLICE_B) {
        x = narrow ? 1 : x;
        s.b = read_x(b, insn, x);
        s.b = has_mods ? modified(b, s.b, isa_insn_srcmod(in, 1), x) : s.b;
    }
    if (want & ISA_SLICE_C) {
        c = narrow ? 1 : c;
        s.c = read_register(b, insn, in->c_scalar, in->c, c);
        s.c = has_mods ? modified(b, s.c, isa_insn_srcmod(in, 2), c) : s.c;
        if (swapped) {
            uint32_t t = s.b;

            s.b = s.c;
            s.c = t;
        }
    }
    if (want & ISA_SLICE_R)
        s.r = read_predicate(b, insn, isa_op_has(info, ISA_TOK_RS), isa_insn_r(in), isa_insn_r_neg(in));
    return s;
}

/* ---- results --------------------------------------------------------------------------- */

/** Returns the 32-bit instruction that computes the low word of a 64-bit instruction's result from the low words of the sources,
 *  or ISA_OP_NONE. */
static enum isa_op narrow_op(enum isa_op op)
{
    static const struct {
        enum isa_op wide, narrow;
    } ops[] = {
        { ISA_V_ADD_U64, ISA_V_ADD_U32 },     { ISA_V_SUB_U64, ISA_V_SUB_U32 },   { ISA_V_MUL_U64, ISA_V_MUL_U32 },
        { ISA_V_MAD_U64, ISA_V_MAD_U32 },     { ISA_V_AND_B64, ISA_V_AND_B32 },   { ISA_V_OR_B64, ISA_V_OR_B32 },
        { ISA_V_XOR_B64, ISA_V_XOR_B32 },     { ISA_V_NOT_B64, ISA_V_NOT_B32 },   { ISA_V_NEG_S64, ISA_V_NEG_S32 },
        { ISA_V_SHL_B64, ISA_V_SHL_B32 },     { ISA_V_MULWIDE_U32, ISA_V_MUL_U32 }, { ISA_V_MULWIDE_S32, ISA_V_MUL_U32 },
        { ISA_V_MADWIDE_U32, ISA_V_MAD_U32 }, { ISA_V_MADWIDE_S32, ISA_V_MAD_U32 }, { ISA_S_ADD_U64, ISA_V_ADD_U32 },
        { ISA_S_SUB_U64, ISA_V_SUB_U32 },     { ISA_S_MUL_U64, ISA_V_MUL_U32 },   { ISA_S_AND_B64, ISA_V_AND_B32 },
        { ISA_S_OR_B64, ISA_V_OR_B32 },       { ISA_S_XOR_B64, ISA_V_XOR_B32 },   { ISA_S_NOT_B64, ISA_V_NOT_B32 },
        { ISA_S_SHL_B64, ISA_V_SHL_B32 },     { ISA_S_MULWIDE_U32, ISA_V_MUL_U32 }, { ISA_S_MULWIDE_S32, ISA_V_MUL_U32 },
    };

    for (unsigned k = 0; k < LW_COUNT_OF(ops); k++)
        if (ops[k].wide == op)
            return ops[k].narrow;
    return ISA_OP_NONE;
}

static bool widens_u32(const struct isa_insn *in)
{
    unsigned to = isa_mod_get(in, ISA_MOD_DTYPE);

    return in->op == ISA_V_CVT && isa_mod_get(in, ISA_MOD_STYPE) == ISA_ST_U32 &&
           (to == ISA_DT_U64 || (to == ISA_DT_S64 && isa_mod_get(in, ISA_MOD_CSAT) == ISA_CSAT_OFF));
}

/** Returns true if the instruction is a 64-bit `and` with a constant whose high word is 0; *@mask is the low word. */
static bool clears_high(struct slice_builder *b, uint32_t insn, uint32_t *mask)
{
    if (b->insn[insn].op != ISA_V_AND_B64 && b->insn[insn].op != ISA_S_AND_B64)
        return false;
    uint32_t second = read_x(b, insn, 2);
    const struct isa_slice_node *n = &b->value[second].node;

    *mask = (uint32_t)n->value;
    return n->kind == ISA_SLICE_IMMEDIATE && n->value >> 32 == 0 && (b->insn[insn].mod & 0x3f) == 0;
}

static uint32_t low_word(struct slice_builder *b, uint32_t insn)
{
    const struct isa_insn *in = &b->insn[insn];
    enum isa_op op = narrow_op((enum isa_op)in->op);
    uint32_t mask;

    if (clears_high(b, insn, &mask) && mask == UINT32_MAX)
        return read_register(b, insn, in->a_scalar, in->a, 1);
    uint32_t value = row(b, op, 0, ISA_SLICE_D, read_sources(b, insn, true));
    b->value[value].from = insn + 1;
    return value;
}

static uint32_t special(struct slice_builder *b, uint32_t insn)
{
    uint32_t number = b->insn[insn].x;

    if (number > ISA_SR_WORKDIM && number != ISA_SR_LANEID && number != ISA_SR_WARPWIDTH)
        return slice_reject(b, ISA_SLICE_LOADED, insn);
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_SPECIAL, .bits = 32, .value = number });
}

/** Returns the value that a load loads. The value is known for an access to constant memory at a constant address; any other load
 *  is rejected. */
static uint32_t loaded(struct slice_builder *b, uint32_t insn, unsigned word, unsigned words)
{
    const struct isa_insn *in = &b->insn[insn];
    bool scalar = in->op == ISA_S_LD_CONST;
    unsigned bytes = isa_mem_bytes(in), size = isa_mod_get(in, ISA_MOD_SIZE);
    int64_t offset = isa_x_disp(in->x);

    if ((in->op != ISA_LD_CONST && !scalar) || in->a != ISA_VZ || offset < 0)
        return slice_reject(b, ISA_SLICE_LOADED, insn);
    if (bytes >= 4)
        return read_constant(b, insn, in->c, (uint64_t)offset + 4 * word, 4 * words, false);
    return read_constant(b, insn, in->c, (uint64_t)offset, bytes, size == ISA_SIZE_S8 || size == ISA_SIZE_S16);
}

static uint32_t predicate_result(struct slice_builder *b, uint32_t insn, unsigned reg)
{
    const struct isa_insn *in = &b->insn[insn];
    const struct isa_reg_use q = { .reg_class = ISA_REG_P, .first = (uint8_t)isa_insn_q(in) };
    bool second = isa_op_has(isa_op_info((enum isa_op)in->op), ISA_TOK_QD) && isa_reg_number(&q) == reg;
    unsigned part = second ? ISA_SLICE_Q : ISA_SLICE_P; /* if P and Q are the same register, the value is that of Q, because Q is
                                                         * written last */
    uint32_t mod = in->op == ISA_V_PLOP3 ? isa_x_reg(in->x) : in->mod & 0xffff0000;

    if (isa_slice_row_bits((enum isa_op)in->op, mod, part) == 0)
        return slice_reject(b, ISA_SLICE_OPERATION, insn);
    return row(b, (enum isa_op)in->op, mod, part, read_sources(b, insn, false));
}

static bool is_move(enum isa_op op)
{
    return op == ISA_V_MOV_B32 || op == ISA_V_MOV_B64 || op == ISA_S_MOV_B32 || op == ISA_S_MOV_B64;
}

uint32_t slice_result(struct slice_builder *b, uint32_t insn, unsigned reg, unsigned words)
{
    const struct isa_insn *in = &b->insn[insn];
    enum isa_op op = (enum isa_op)in->op;
    const struct isa_op_info *info = isa_op_info(op);
    unsigned word = (reg & 255) - in->d; /* index of the register's word in the result D */
    uint32_t mask, mod = in->mod & 0xffff0000;

    if (info->flags & (ISA_F_CALL | ISA_F_CROSS))
        return slice_reject(b, ISA_SLICE_LOADED, insn);
    if (info->flags & ISA_F_MEMORY)
        return loaded(b, insn, word, words);
    if (op == ISA_V_S2R || op == ISA_S_S2R)
        return special(b, insn);
    if (op == ISA_V_S2R_B64 || op == ISA_S_S2R_B64)
        return slice_reject(b, ISA_SLICE_LOADED, insn);
    if (reg >= 384)
        return predicate_result(b, insn, reg);
    if (is_move(op)) {
        unsigned all = isa_insn_x_bytes(in) / 4;

        return all == 2 && words == 1 ? slice_word(b, read_x(b, insn, 2), word == 1) : read_x(b, insn, words);
    }
    unsigned bits = isa_slice_row_bits(op, mod, ISA_SLICE_D);
    if (bits == 0)
        return slice_reject(b, info->order == ISA_ORDER_NONE ? ISA_SLICE_OPERATION : ISA_SLICE_LOADED, insn);
    if (widens_u32(in)) {
        if (words == 1)
            return word == 1 ? slice_immediate(b, 0, 32) : read_x(b, insn, 1);
        uint32_t low = read_x(b, insn, 1);

        return slice_pair(b, low, slice_immediate(b, 0, 32));
    }
    if (bits == 64 && words == 1 && word == 0 && narrow_op(op) != ISA_OP_NONE)
        return low_word(b, insn);
    if (words == 2 && clears_high(b, insn, &mask)) {
        uint32_t low = low_word(b, insn);

        return slice_pair(b, low, slice_immediate(b, 0, 32));
    }
    uint32_t whole = row(b, op, mod, ISA_SLICE_D, read_sources(b, insn, false));
    b->value[whole].from = insn + 1;
    return bits == 64 && words == 1 ? slice_word(b, whole, word == 1) : whole;
}

/* ---- addresses -------------------------------------------------------------------------- */

static uint32_t add_offset(struct slice_builder *b, uint32_t value, int64_t offset, unsigned bits)
{
    if (offset == 0)
        return value;
    uint32_t by = slice_immediate(b, bits == 64 ? (uint64_t)offset : (uint32_t)offset, bits);
    return row(b, bits == 64 ? ISA_V_ADD_U64 : ISA_V_ADD_U32, 0, ISA_SLICE_D,
               (struct sources){ value, by, SLICE_NONE, SLICE_NONE });
}

uint32_t slice_address(struct slice_builder *b, uint32_t insn)
{
    const struct isa_insn *in = &b->insn[insn];
    int64_t offset = isa_x_disp(in->x);
    uint32_t base, index, shift;

    if (in->op == ISA_S_LD_GLOBAL) {
        base = read_register(b, insn, true, in->a, 2);
        index = read_register(b, insn, true, isa_x_reg(in->x), 1);
        if (isa_x_reg(in->x) == ISA_SZ)
            return add_offset(b, base, offset, 64);
        index = slice_pair(b, index, slice_immediate(b, 0, 32));
        base = row(b, ISA_V_ADD_U64, 0, ISA_SLICE_D, (struct sources){ base, index, SLICE_NONE, SLICE_NONE });
        return add_offset(b, base, offset, 64);
    }
    switch (isa_mod_get(in, ISA_MOD_AMODE)) {
    case ISA_AMODE_PAIR:
        return add_offset(b, read_register(b, insn, false, in->a, 2), offset, 64);
    case ISA_AMODE_32:
        index = add_offset(b, read_register(b, insn, false, in->a, 1), offset, 32);
        return slice_pair(b, index, slice_immediate(b, 0, 32));
    default:
        index = read_register(b, insn, false, in->a, 1);
        base = read_register(b, insn, true, in->c, 2);
        shift = slice_immediate(b, isa_mod_get(in, ISA_MOD_ASCALE), 32);
        base = row(b, isa_mod_get(in, ISA_MOD_AMODE) == ISA_AMODE_SU32 ? ISA_V_LEA_U32 : ISA_V_LEA_S32, 0, ISA_SLICE_D,
                   (struct sources){ index, shift, base, SLICE_NONE });
        return add_offset(b, base, offset, 64);
    }
}
