/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction words (MACHINE 7): packing and unpacking of fields, and a check that the fields are valid for the instruction's
 * row. The encoder sets implied bits, checks the fields, and packs them; the decoder unpacks fields and checks them. As both make
 * the same check, only canonical instructions can be encoded or decoded. */
#include "isa/isa_priv.h"

/* ---- bits that the row or operands imply --------------------------------------- */

void isa_insn_normalise(struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    bool kind_free = false; /* true if some operand of the instruction can have any kind of X */

    if (info == NULL)
        return;
    for (unsigned i = 0; i < info->operands.count; i++) {
        const struct isa_token *token = isa_token_info(info->operands.tok[i]);

        switch ((enum isa_tok_kind)token->kind) {
        case ISA_TK_A:
        case ISA_TK_CADDR:
            if (token->classes == C_S)
                insn->a_scalar = true;
            break;
        case ISA_TK_SADDR:
            insn->a_scalar = true;
            insn->xkind = ISA_X_SCALAR;
            kind_free = true;
            break;
        case ISA_TK_C:
            if (token->classes == C_S)
                insn->c_scalar = true;
            break;
        case ISA_TK_X:
        case ISA_TK_CTABAR:
        case ISA_TK_LANE:
        case ISA_TK_XREG:
            kind_free = true;
            break;
        case ISA_TK_IMM:
            insn->xkind = ISA_X_IMM;
            kind_free = true;
            break;
        case ISA_TK_ADDR: {
            unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);

            if (mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) {
                insn->variant = true;
                insn->c_scalar = true;
            }
            break;
        }
        default:
            break;
        }
    }
    if (!kind_free)
        insn->xkind = ISA_X_VECTOR;
}

/* ---- the check of an instruction ----------------------------------------------- */

/** Fields that the row of the instruction uses. All other fields must be zero. */
struct used {
    bool d, a, c, a_scalar, c_scalar, variant, xkind;
    uint32_t x, mod;
};

static const char *class_name(bool scalar)
{
    return scalar ? "scalar" : "vector";
}

/** Returns true if registers @number to @number + @regs - 1 exist in the vector or scalar register file. */
static bool register_exists(bool scalar, unsigned number, unsigned regs)
{
    if (!scalar)
        return number + regs <= ISA_VREG_COUNT;
    if (number >= ISA_S_EXEC)
        return number + regs <= ISA_S_EXEC + 2;
    return number + regs <= ISA_SREG_COUNT;
}

static enum lw_status check_register(const struct isa_op_info *info, const char *field,
                                     bool scalar, unsigned number, unsigned regs,
                                     struct lw_error *err)
{
    if (number == 255)
        return LW_OK; /* vz and sz: each register of a tuple reads as zero */
    if (number % regs != 0)
        return LW_FAIL(err, LW_ERANGE, "%s: field %s: a tuple of %u %s registers must start at a multiple of %u, not "
                                       "at %u", info->mnemonic, field, regs, class_name(scalar), regs, number);
    if (register_exists(scalar, number, regs))
        return LW_OK;
    return LW_FAIL(err, LW_ERANGE, "%s: field %s: a tuple of %u %s registers cannot start at number %u",
                   info->mnemonic, field, regs, class_name(scalar), number);
}

static enum lw_status check_class(const struct isa_op_info *info, const struct isa_token *token,
                                  const char *field, unsigned kind, struct lw_error *err)
{
    static const char *const names[] = { "a vector register", "a scalar register",
                                         "a constant", "an immediate" };

    if (token->classes >> kind & 1)
        return LW_OK;
    return LW_FAIL(err, LW_ERANGE, "%s: field %s cannot be %s", info->mnemonic, field,
                   names[kind]);
}

static enum lw_status check_x(const struct isa_insn *insn, const struct isa_op_info *info,
                              const struct isa_token *token, unsigned regs, struct used *used,
                              struct lw_error *err)
{
    enum lw_status status = check_class(info, token, "X", insn->xkind, err);

    if (status != LW_OK)
        return status;
    used->xkind = true;
    switch (insn->xkind) {
    case ISA_X_VECTOR:
    case ISA_X_SCALAR:
        used->x |= 0xff;
        return check_register(info, "X", insn->xkind == ISA_X_SCALAR, isa_x_reg(insn->x), regs,
                              err);
    case ISA_X_CONST:
        used->x |= 0x1fffff;
        if (isa_x_offset(insn->x) + 4 * regs > ISA_CONST_BANK_BYTES)
            return LW_FAIL(err, LW_ERANGE, "%s: constant offset 0x%x is past the end of the bank",
                           info->mnemonic, isa_x_offset(insn->x));
        return LW_OK;
    default:
        used->x = ~UINT32_C(0);
        return LW_OK;
    }
}

/* Checks source modifiers: the row must permit them; the source must exist and be no immediate; an integer source may have only
 * one of neg and not. */
static enum lw_status check_srcmod(const struct isa_insn *insn, const struct isa_op_info *info,
                                   const struct isa_operands *operands, struct used *used,
                                   struct lw_error *err)
{
    static const enum isa_tok_kind kinds[] = { ISA_TK_A, ISA_TK_X, ISA_TK_C };

    if (info->flags & ISA_F_NOSRCMOD)
        return LW_OK;
    for (unsigned source = 0; source < 3; source++) {
        unsigned bits = isa_insn_srcmod(insn, source);

        if (isa_operands_find(operands, kinds[source]) < 0)
            continue;
        used->mod |= 3u << (2 * source);
        if (bits == 0)
            continue;
        if (kinds[source] == ISA_TK_X && insn->xkind == ISA_X_IMM)
            return LW_FAIL(err, LW_ERANGE, "%s: an immediate cannot have a source modifier",
                           info->mnemonic);
        if (bits == 3 && !(info->flags & ISA_F_FLOAT))
            return LW_FAIL(err, LW_ERANGE,
                           "%s: an integer source cannot be both negated and complemented",
                           info->mnemonic);
    }
    return LW_OK;
}

static enum lw_status check_mods(const struct isa_insn *insn, const struct isa_op_info *info,
                                 struct used *used, struct lw_error *err)
{
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info(mod);

        if (!(group->formats >> info->format & 1) || !isa_mod_applies(mod, info))
            continue;

        unsigned value = isa_mod_get(insn, mod);
        bool known = false;

        for (unsigned i = 0; i < group->value_count; i++)
            known |= group->values[i].value == value;
        if (!known)
            return LW_FAIL(err, LW_ERANGE, "%s: modifier %s has no value %u", info->mnemonic,
                           group->name, value);
        used->mod |= (uint32_t)lw_mask(group->bits) << (group->lsb - 80);
    }
    return LW_OK;
}

static enum lw_status check_address(const struct isa_insn *insn, const struct isa_op_info *info,
                                    struct used *used, struct lw_error *err)
{
    unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);
    enum lw_status status = check_register(info, "A", false, insn->a,
                                           mode == ISA_AMODE_PAIR ? 2 : 1, err);

    used->a = true;
    used->x |= 0xffffff00u;
    if (status != LW_OK)
        return status;
    if (mode != ISA_AMODE_SU32 && mode != ISA_AMODE_SS32) {
        if (isa_mod_get(insn, ISA_MOD_ASCALE) != ISA_ASCALE_1)
            return LW_FAIL(err, LW_ERANGE, "%s: a factor needs a scalar base address",
                           info->mnemonic);
        return LW_OK;
    }
    if (used->c)
        return LW_FAIL(err, LW_ERANGE,
                       "%s: a compare-and-swap cannot encode a scalar base address",
                       info->mnemonic);
    if (!insn->variant || !insn->c_scalar)
        return LW_FAIL(err, LW_ERANGE, "%s: a scalar base address needs the bits for variant and for a scalar C",
                       info->mnemonic);
    used->c = true;
    used->c_scalar = true;
    used->variant = true;
    return check_register(info, "C", true, insn->c, 2, err);
}

static enum lw_status check_number(const struct isa_op_info *info, const char *what,
                                   unsigned number, unsigned limit, struct lw_error *err)
{
    if (number < limit)
        return LW_OK;
    return LW_FAIL(err, LW_ERANGE, "%s: the number of the %s is %u, but must be below %u", info->mnemonic, what, number,
                   limit);
}

static enum lw_status check_operand(const struct isa_insn *insn, const struct isa_op_info *info,
                                    const struct isa_operands *operands, unsigned index,
                                    struct used *used, struct lw_error *err)
{
    const struct isa_token *token = isa_token_info(operands->tok[index]);
    unsigned regs = isa_operand_regs(operands, index, insn);
    enum lw_status status;

    switch ((enum isa_tok_kind)token->kind) {
    case ISA_TK_D:
        used->d = true;
        return check_register(info, "D", token->classes == C_S, insn->d, regs, err);
    case ISA_TK_A:
        used->a = true;
        used->a_scalar = true;
        status = check_class(info, token, "A", insn->a_scalar ? ISA_X_SCALAR : ISA_X_VECTOR,
                             err);
        if (status != LW_OK)
            return status;
        return check_register(info, "A", insn->a_scalar, insn->a, regs, err);
    case ISA_TK_X:
    case ISA_TK_XREG:
        return check_x(insn, info, token, regs, used, err);
    case ISA_TK_C:
        used->c = true;
        used->c_scalar = true;
        used->variant |= isa_operands_swappable(operands);
        status = check_class(info, token, "C", insn->c_scalar ? ISA_X_SCALAR : ISA_X_VECTOR,
                             err);
        if (status != LW_OK)
            return status;
        return check_register(info, "C", insn->c_scalar, insn->c, regs, err);
    case ISA_TK_SWAP:
        if (isa_mod_get(insn, ISA_MOD_AOP) != ISA_AOP_CAS)
            return LW_OK;
        used->c = true;
        return check_register(info, "C", false, insn->c, regs, err);
    case ISA_TK_P:
    case ISA_TK_SP:
        used->mod |= 7u << 6;
        return LW_OK;
    case ISA_TK_Q:
        used->mod |= 7u << 9;
        return LW_OK;
    case ISA_TK_R:
    case ISA_TK_RS:
        used->mod |= 15u << 12;
        return LW_OK;
    case ISA_TK_RA:
        used->mod |= 15u << 16;
        return LW_OK;
    case ISA_TK_RB:
        used->mod |= 15u << 20;
        return LW_OK;
    case ISA_TK_ALLP:
        return LW_OK;
    case ISA_TK_ADDR:
        return LW_OK; /* checked after the other operands, because the swap value of a cas uses C */
    case ISA_TK_CADDR:
        used->a = true;
        used->c = true;
        used->x |= 0xffffff00u;
        status = check_number(info, "constant bank", insn->c, ISA_CONST_BANK_COUNT, err);
        if (status != LW_OK)
            return status;
        used->a_scalar = token->classes == C_S;
        if (used->a_scalar && !insn->a_scalar)
            return LW_FAIL(err, LW_ERANGE, "%s: field A must be a scalar register", info->mnemonic);
        return check_register(info, "A", used->a_scalar, insn->a, 1, err);
    case ISA_TK_SADDR:
        used->a = true;
        used->a_scalar = true;
        used->xkind = true;
        used->x = ~UINT32_C(0);
        if (!insn->a_scalar || insn->xkind != ISA_X_SCALAR)
            return LW_FAIL(err, LW_ERANGE, "%s: fields A and X must be scalar registers", info->mnemonic);
        status = check_register(info, "A", true, insn->a, 2, err);
        if (status != LW_OK)
            return status;
        return check_register(info, "X", true, isa_x_reg(insn->x), 1, err);
    case ISA_TK_TARGET:
    case ISA_TK_IMM:
        used->xkind = token->kind == ISA_TK_IMM;
        used->x = ~UINT32_C(0);
        if (token->kind == ISA_TK_IMM && insn->xkind != ISA_X_IMM)
            return LW_FAIL(err, LW_ERANGE, "%s: field X must be an immediate", info->mnemonic);
        return LW_OK;
    case ISA_TK_BREG:
        used->d = true;
        return check_number(info, "barrier register", insn->d, ISA_BREG_COUNT, err);
    case ISA_TK_BOPT:
        used->variant = true;
        if (!insn->variant)
            return LW_OK;
        if (used->d) {
            used->c = true;
            return check_number(info, "barrier register", insn->c, ISA_BREG_COUNT, err);
        }
        used->d = true;
        return check_number(info, "barrier register", insn->d, ISA_BREG_COUNT, err);
    case ISA_TK_XBREG:
        used->x |= 15;
        return LW_OK;
    case ISA_TK_CTABAR:
        status = check_x(insn, info, token, regs, used, err);
        if (status == LW_OK && insn->xkind == ISA_X_IMM)
            status = check_number(info, "barrier", insn->x, ISA_CTA_BARRIER_COUNT, err);
        return status;
    case ISA_TK_COUNT:
        used->variant = true;
        if (!insn->variant)
            return LW_OK;
        used->c = true;
        return check_register(info, "C", false, insn->c, 1, err);
    case ISA_TK_SPECIAL: {
        const struct isa_special_info *special;

        used->x = ~UINT32_C(0);
        status = check_number(info, "special register", insn->x, ISA_SR_COUNT, err);
        if (status != LW_OK)
            return status;
        special = isa_special_info(insn->x);
        for (unsigned i = 0; i < operands->count; i++) {
            if (isa_token_info(operands->tok[i])->kind == ISA_TK_D && special->width == 64 &&
                isa_token_regs(operands->tok[i], insn) != 2)
                return LW_FAIL(err, LW_ERANGE, "%s: %%%s has 64 bits, the destination 32",
                               info->mnemonic, special->name);
        }
        return LW_OK;
    }
    case ISA_TK_LUT:
        used->mod |= 0xffu << 16;
        return LW_OK;
    case ISA_TK_LUTX:
        used->x |= 0xff;
        return LW_OK;
    case ISA_TK_DEPBAR:
        used->x |= 0x3f07;
        return check_number(info, "dependence barrier", isa_x_depbar(insn->x), 6, err);
    case ISA_TK_WAITCNT:
        used->x |= 0x3f073f;
        return LW_OK;
    case ISA_TK_LANE:
        status = check_class(info, token, "X", insn->xkind, err);
        used->xkind = true;
        used->variant = true;
        used->x |= 0xff;
        if (status != LW_OK)
            return status;
        if (insn->xkind != ISA_X_IMM) {
            status = check_register(info, "X", insn->xkind == ISA_X_SCALAR,
                                    isa_x_reg(insn->x), 1, err);
            if (status != LW_OK)
                return status;
        }
        if (!insn->variant) {
            used->x |= 0xfff00;
            return LW_OK;
        }
        used->c = true;
        used->c_scalar = true;
        return check_register(info, "C", insn->c_scalar, insn->c, 1, err);
    case ISA_TK_MEMBER:
        used->x |= 0xff000000u;
        return LW_OK;
    case ISA_TK_SOFT:
        used->variant = true;
        return LW_OK;
    case ISA_TK_TEXARG:
        return regs != 0 ? check_x(insn, info, token, regs, used, err) : LW_OK;
    case ISA_TK_TEXEL:
        used->x |= 0xfff00;
        return LW_OK;
    }
    return LW_OK;
}

static enum lw_status check_unused(const struct isa_insn *insn, const struct isa_op_info *info,
                                   const struct used *used, struct lw_error *err)
{
    const char *field = NULL;

    if (insn->d != 0 && !used->d)
        field = "D";
    else if (insn->a != 0 && !used->a)
        field = "A";
    else if (insn->c != 0 && !used->c)
        field = "C";
    else if (insn->a_scalar && !used->a_scalar)
        field = "A scalar";
    else if (insn->c_scalar && !used->c_scalar)
        field = "C scalar";
    else if (insn->variant && !used->variant)
        field = "variant";
    else if (insn->xkind != ISA_X_VECTOR && !used->xkind)
        field = "X kind";
    else if ((insn->x & ~used->x) != 0)
        field = "X";
    else if ((insn->mod & ~used->mod) != 0)
        field = "modifiers";
    if (field == NULL)
        return LW_OK;
    return LW_FAIL(err, LW_ERANGE, "%s: the instruction does not use field %s (X 0x%x, modifiers 0x%x): the field must "
                                   "be zero", info->mnemonic, field, insn->x, insn->mod);
}

const char *isa_atomic_refused(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    unsigned op = isa_mod_get(insn, ISA_MOD_AOP), type = isa_mod_get(insn, ISA_MOD_ATYPE);
    unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);
    bool is_half = type == ISA_ATYPE_F16 || type == ISA_ATYPE_BF16 || type == ISA_ATYPE_F16X2 ||
                   type == ISA_ATYPE_BF16X2;
    bool is_float = type == ISA_ATYPE_F32 || type == ISA_ATYPE_F64 || is_half;
    bool is_bits = type == ISA_ATYPE_B32 || type == ISA_ATYPE_B64;

    if (type == ISA_ATYPE_B16 && op != ISA_AOP_EXCH && op != ISA_AOP_CAS)
        return "only exch and cas are possible for types of 16 bits";
    switch (op) {
    case ISA_AOP_ADD:
    case ISA_AOP_MIN:
    case ISA_AOP_MAX:
        return is_bits ? "add, min and max need an integer or float type" : NULL;
    case ISA_AOP_INC:
    case ISA_AOP_DEC:
        return type == ISA_ATYPE_U32 || type == ISA_ATYPE_U64 ? NULL
                                                              : "inc and dec need type u32 or u64";
    case ISA_AOP_AND:
    case ISA_AOP_OR:
    case ISA_AOP_XOR:
        return is_float ? "and, or and xor need an integer or bit type" : NULL;
    case ISA_AOP_CAS:
        if (isa_operands_find(&info->operands, ISA_TK_SWAP) < 0)
            return "a reduction cannot compare and swap: use atom";
        if (mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32)
            return "cas cannot encode a scalar base address";
        return is_float ? "cas needs an integer or bit type" : NULL;
    default:
        return NULL; /* exch exists for every type */
    }
}

enum lw_status isa_insn_check(const struct isa_insn *insn, struct lw_error *err)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    struct used used = { 0 };
    enum lw_status status;

    if (info == NULL)
        return LW_FAIL(err, LW_ERANGE, "operation %u does not exist", insn->op);
    if (insn->guard > ISA_PT || insn->xkind > ISA_X_IMM || insn->mod >> 28 != 0)
        return LW_FAIL(err, LW_ERANGE, "%s: guard %u, X kind %u or modifiers 0x%x do not fit "
                       "into the instruction word", info->mnemonic, insn->guard, insn->xkind, insn->mod);
    if (insn->control.stall > 15 || insn->control.yield > 1 || insn->control.write_bar > 7 ||
        insn->control.read_bar > 7 || insn->control.wait_mask > 63 || insn->control.reuse > 7)
        return LW_FAIL(err, LW_ERANGE, "%s: a value does not fit into the control field",
                       info->mnemonic);
    status = check_mods(insn, info, &used, err); /* checked first, because modifiers determine the number of registers of an
                                                  * operand */
    if (status == LW_OK && info->format == ISA_FMT_ATOM && isa_atomic_refused(insn) != NULL)
        return LW_FAIL(err, LW_ERANGE, "%s: %s", info->mnemonic, isa_atomic_refused(insn));
    for (unsigned i = 0; i < info->operands.count && status == LW_OK; i++)
        status = check_operand(insn, info, &info->operands, i, &used, err);
    if (status == LW_OK && isa_operands_find(&info->operands, ISA_TK_ADDR) >= 0)
        status = check_address(insn, info, &used, err);
    if (status == LW_OK)
        status = check_srcmod(insn, info, &info->operands, &used, err);
    if (status == LW_OK)
        status = check_unused(insn, info, &used, err);
    return status;
}

/* ---- the word -------------------------------------------------------------------- */

static uint64_t put(uint64_t value, unsigned shift)
{
    return value << shift;
}

enum lw_status isa_insn_encode(const struct isa_insn *insn, struct isa_word *word,
                               struct lw_error *err)
{
    struct isa_insn copy = *insn;
    enum lw_status status;

    isa_insn_normalise(&copy);
    status = isa_insn_check(&copy, err);
    if (status != LW_OK)
        return status;

    unsigned opcode = isa_op_info(copy.op)->opcode;
    const struct isa_control *control = &copy.control;

    word->lo = put(opcode & 0x3f, 0) | put(opcode >> 6, 8) | put(copy.guard, 12) |
               put(copy.guard_neg, 15) | put(copy.d, 16) | put(copy.guard_scalar, 24) |
               put(copy.a_scalar, 25) | put(copy.c_scalar, 26) | put(copy.xkind, 28) |
               put(copy.variant, 30) | put(copy.x, 32);
    /* numbers of dependence barriers are encoded inverted, so that an all-zero control field names none */
    word->hi = put(copy.c, 0) | put(copy.a, 8) | put(copy.mod, 16) |
               put(control->stall, 44) | put(control->yield, 48) |
               put(control->write_bar ^ 7u, 49) | put(control->read_bar ^ 7u, 52) |
               put(control->wait_mask, 55) | put(control->reuse, 61);
    return LW_OK;
}

static unsigned get(uint64_t bits, unsigned shift, unsigned count)
{
    return (unsigned)(bits >> shift & lw_mask(count));
}

bool isa_insn_decode(struct isa_word word, struct isa_insn *insn)
{
    unsigned opcode = get(word.lo, 0, 6) | get(word.lo, 8, 4) << 6;
    struct isa_insn out = { 0 };

    /* bits 7:6, 27 and 31 are always zero */
    if ((word.lo & (UINT64_C(0xc0) | UINT64_C(1) << 27 | UINT64_C(1) << 31)) != 0)
        return false;
    out.op = (uint16_t)isa_op_by_opcode(opcode);
    if (out.op == ISA_OP_NONE)
        return false;
    out.guard = (uint8_t)get(word.lo, 12, 3);
    out.guard_neg = get(word.lo, 15, 1);
    out.guard_scalar = get(word.lo, 24, 1);
    out.d = (uint8_t)get(word.lo, 16, 8);
    out.a = (uint8_t)get(word.hi, 8, 8);
    out.c = (uint8_t)get(word.hi, 0, 8);
    out.a_scalar = get(word.lo, 25, 1);
    out.c_scalar = get(word.lo, 26, 1);
    out.xkind = (uint8_t)get(word.lo, 28, 2);
    out.variant = get(word.lo, 30, 1);
    out.x = (uint32_t)(word.lo >> 32);
    out.mod = get(word.hi, 16, 28);
    out.control.stall = (uint8_t)get(word.hi, 44, 4);
    out.control.yield = (uint8_t)get(word.hi, 48, 1);
    out.control.write_bar = (uint8_t)(get(word.hi, 49, 3) ^ 7);
    out.control.read_bar = (uint8_t)(get(word.hi, 52, 3) ^ 7);
    out.control.wait_mask = (uint8_t)get(word.hi, 55, 6);
    out.control.reuse = (uint8_t)get(word.hi, 61, 3);
    if (isa_insn_check(&out, NULL) != LW_OK)
        return false;
    *insn = out;
    return true;
}
