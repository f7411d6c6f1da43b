/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of operands: registers, predicates, sources and addresses. */
#include <stdio.h>

#include "isa/asm/isa_asm_insn_priv.h"

enum { MAX_ADDRESS_REGS = 2 };

/* ---- registers -------------------------------------------------------------------- */

static bool is_word_end(char c)
{
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '$');
}

static bool take_decimal(const char **p, unsigned *out)
{
    unsigned value = 0;

    if (**p < '0' || **p > '9')
        return false;
    while (**p >= '0' && **p <= '9' && value < 100000)
        value = value * 10 + (unsigned)(*(*p)++ - '0');
    *out = value;
    return true;
}

/* Parses a register. Returns false if there is no register at the cursor. */
static bool take_register(struct cursor *c, struct reg *out)
{
    static const struct {
        const char *name;
        struct reg reg;
    } named[] = {
        { "vz:vz", { false, 255, 2 } },         { "sz:sz", { true, 255, 2 } },
        { "vz", { false, 255, 0 } },            { "sz", { true, 255, 0 } },
        { "exec_lo", { true, ISA_S_EXEC, 1 } }, { "exec_hi", { true, ISA_S_EXEC + 1, 1 } },
        { "exec", { true, ISA_S_EXEC, 2 } },
    };
    const char *p;
    unsigned last;

    cursor_space(c);
    for (size_t i = 0; i < LW_COUNT_OF(named); i++) {
        size_t size = strlen(named[i].name);

        if (strncmp(c->p, named[i].name, size) == 0 && is_word_end(c->p[size])) {
            c->p += size;
            *out = named[i].reg;
            return true;
        }
    }
    p = c->p + 1;
    if ((*c->p != 'v' && *c->p != 's') || !take_decimal(&p, &out->number))
        return false;
    out->scalar = *c->p == 's';
    out->span = 1;
    if (*p == ':') {
        p++;
        if (*p == *c->p)
            p++; /* v2:v3 is accepted in place of v2:3 */
        if (!take_decimal(&p, &last) || last < out->number)
            return false;
        out->span = last - out->number + 1;
    }
    if (!is_word_end(*p))
        return false;
    c->p = p;
    return true;
}

static enum lw_status fit_register(struct parse *p, const struct reg *reg, unsigned regs,
                                   unsigned classes)
{
    char letter = reg->scalar ? 's' : 'v';
    unsigned limit = reg->scalar ? ISA_SREG_COUNT : ISA_VREG_COUNT;

    if (!(classes >> (reg->scalar ? ISA_X_SCALAR : ISA_X_VECTOR) & 1))
        return OPERAND_FAIL(p, "expected a %s register, found a %s one",
                            reg->scalar ? "vector" : "scalar", reg->scalar ? "scalar" : "vector");
    if (reg->span == 0)
        return LW_OK;
    if (reg->span != regs) {
        if (regs == 1)
            return OPERAND_FAIL(p, "expected one register such as %c2, found %u", letter,
                                reg->span);
        return OPERAND_FAIL(p, "expected %u registers such as %c%u:%u, found %u", regs, letter,
                            regs, 2 * regs - 1, reg->span);
    }
    if (reg->number == 255 || (reg->scalar && reg->number >= ISA_S_EXEC))
        return LW_OK; /* vz, sz and similar registers have a name, so they exist */
    if (reg->number + regs > limit)
        return OPERAND_FAIL(p, "%c%u does not exist: the last register is %c%u", letter,
                            reg->number + regs - 1, letter, limit - 1);
    if (reg->number % regs != 0)
        return OPERAND_FAIL(p, "a tuple of %u registers must start at a multiple of %u, such as %c%u:%u, found %c%u:%u",
                            regs, regs, letter, regs, 2 * regs - 1, letter,
                            reg->number, reg->number + regs - 1);
    return LW_OK;
}

enum lw_status asm_parse_register(struct parse *p, struct cursor *c, unsigned regs,
                                  unsigned classes, struct reg *out)
{
    if (!take_register(c, out))
        return OPERAND_FAIL(p, "expected a register, found '%.40s'", c->p);
    if (out->span != 0 && out->number > 254 && !out->scalar)
        return OPERAND_FAIL(p, "v%u does not exist: the last register is v254", out->number);
    if (out->span != 0 && out->scalar && out->number > ISA_S_EXEC + 1)
        return OPERAND_FAIL(p, "s%u does not exist: the last register is s125", out->number);
    return fit_register(p, out, regs, classes);
}

bool asm_take_predicate(struct cursor *c, const char *prefix, bool may_negate, unsigned *number,
                        bool *negate)
{
    const char *p;
    size_t size = strlen(prefix);

    cursor_space(c);
    p = c->p;
    *negate = may_negate && *p == '!';
    if (*negate)
        p++;
    if (strncmp(p, prefix, size) != 0)
        return false;
    p += size;
    if (*p == 't')
        *number = ISA_PT;
    else if (*p >= '0' && *p < '0' + ISA_PRED_COUNT)
        *number = (unsigned)(*p - '0');
    else
        return false;
    if (!is_word_end(p[1]))
        return false;
    c->p = p + 1;
    return true;
}

bool asm_take_barrier(struct cursor *c, unsigned *number)
{
    const char *p;

    cursor_space(c);
    p = c->p + 1;
    if (*c->p != 'b' || !take_decimal(&p, number) || !is_word_end(*p) ||
        *number >= ISA_BREG_COUNT)
        return false;
    c->p = p;
    return true;
}

/* ---- sources ------------------------------------------------------------------------ */

static enum lw_status float_immediate(struct parse *p, const struct number *n, unsigned regs,
                                      uint32_t *x)
{
    uint64_t bits = n->magnitude;

    if (regs == 1) {
        if (n->kind == NUMBER_BITS64 ||
            (n->kind == NUMBER_INT && n->hex && (n->negative || bits > UINT32_MAX)))
            return OPERAND_FAIL(p, "expected an f32 value such as 1.5f or 0f3fc00000");
        *x = (uint32_t)bits;
        if (n->kind == NUMBER_FLOAT || (n->kind == NUMBER_INT && !n->hex)) {
            float value = number_f32(n);
            memcpy(x, &value, sizeof *x);
        }
        return LW_OK;
    }
    if (n->kind == NUMBER_BITS32 || (n->kind == NUMBER_INT && n->hex && n->negative))
        return OPERAND_FAIL(p, "expected an f64 value such as 1.5 or 0d3ff8000000000000");
    if (n->kind == NUMBER_FLOAT || (n->kind == NUMBER_INT && !n->hex)) {
        double value = number_f64(n);
        memcpy(&bits, &value, sizeof bits);
    }
    if ((bits & UINT32_MAX) != 0)
        return OPERAND_FAIL(p, "an f64 immediate holds only the high word: load this value from the constant bank "
                               "(.bank f64 ..., c[1][offset])");
    *x = (uint32_t)(bits >> 32);
    return LW_OK;
}

enum lw_status asm_int_immediate(struct parse *p, const struct number *n, unsigned regs,
                                 uint32_t *x)
{
    uint64_t value = n->negative ? 0 - n->magnitude : n->magnitude;
    bool fits;

    if (n->kind == NUMBER_FLOAT) {
        float single = number_f32(n);

        if (regs != 1 || n->suffix != 'f')
            return OPERAND_FAIL(p, "expected an integer: write 1.5f for the bits of an f32");
        memcpy(x, &single, sizeof *x);
        return LW_OK;
    }
    if (n->negative)
        fits = n->magnitude <= UINT64_C(1) << 31;
    else if (regs == 1)
        fits = value <= UINT32_MAX;
    else
        fits = value == (uint64_t)(int64_t)(int32_t)(uint32_t)value;
    if (!fits && regs == 1)
        return OPERAND_FAIL(p, "the immediate does not fit into 32 bits");
    if (!fits)
        return OPERAND_FAIL(p, "a 64-bit immediate is sign-extended from 32 bits: load this value from the constant "
                               "bank (.bank u64 ..., c[1][offset])");
    *x = (uint32_t)value;
    return LW_OK;
}

/* Parses lo(name+8) or hi(name): a word of an address, which the loader sets, or of the address of a shared variable. */
static enum lw_status parse_reloc(struct parse *p, struct cursor *c, uint32_t *x)
{
    bool high = c->p[0] == 'h';
    uint32_t offset;
    const char *name;

    c->p += 3;
    name = cursor_name(p->as, c, NULL);
    if (name == NULL)
        return p->as->status;

    enum lw_status status = cursor_addend(p->as, c, &p->reloc_addend);

    if (status != LW_OK)
        return status;
    if (!cursor_take(c, ")"))
        return OPERAND_FAIL(p, "expected ')' after the name %s", name);
    if (asm_shared_offset(p->as, name, &offset)) {
        uint64_t address = ISA_SHARED_BASE + offset + (uint64_t)p->reloc_addend;

        *x = (uint32_t)(high ? address >> 32 : address);
        return LW_OK;
    }
    p->reloc_name = name;
    p->reloc_high = high;
    *x = 0;
    return LW_OK;
}

/* Parses the rest of a constant after "c": [bank][offset] or [parameter+offset]. */
static enum lw_status parse_constant(struct parse *p, struct cursor *c, uint32_t *x)
{
    int64_t bank = 0, offset = 0, addend = 0;
    enum lw_status status;

    c->p++;
    if (cursor_at_name(c)) {
        const char *name = cursor_name(p->as, c, NULL);
        uint32_t at;

        if (name == NULL)
            return p->as->status;
        if (!asm_param_offset(p->as, name, &at))
            return OPERAND_FAIL(p, "there is no parameter %s", name);
        status = cursor_addend(p->as, c, &addend);
        if (status != LW_OK)
            return status;
        offset = at;
    } else {
        status = cursor_int(p->as, c, "the constant bank", 0, ISA_CONST_BANK_COUNT - 1, &bank);
        if (status != LW_OK)
            return status;
        if (!cursor_take(c, "]") || !cursor_take(c, "["))
            return OPERAND_FAIL(p, "expected c[bank][offset] or c[parameter]");
        status = cursor_int(p->as, c, "the constant offset", 0, ISA_CONST_BANK_BYTES - 1,
                            &offset);
        if (status != LW_OK)
            return status;
    }
    if (!cursor_take(c, "]"))
        return OPERAND_FAIL(p, "expected ']' after the constant");
    if (addend < -ISA_CONST_BANK_BYTES || addend >= ISA_CONST_BANK_BYTES ||
        offset + addend < 0 || offset + addend >= ISA_CONST_BANK_BYTES)
        return OPERAND_FAIL(p, "the constant offset must be from 0 to %d", ISA_CONST_BANK_BYTES - 1);
    *x = (uint32_t)bank << 16 | (uint32_t)(offset + addend);
    return LW_OK;
}

static enum lw_status parse_source_value(struct parse *p, struct cursor *c, unsigned tok,
                                         unsigned regs, struct source *out)
{
    const struct isa_token *token = isa_token_info(tok);
    enum lw_status status;

    if (take_register(c, &out->reg)) {
        out->kind = out->reg.scalar ? ISA_X_SCALAR : ISA_X_VECTOR;
        if (out->reg.span != 0 && out->reg.number > (out->reg.scalar ? 127u : 254u))
            return OPERAND_FAIL(p, "%c%u does not exist", out->reg.scalar ? 's' : 'v',
                                out->reg.number);
        out->x = out->reg.number;
        return fit_register(p, &out->reg, regs, token->classes);
    }
    if (c->p[0] == 'c' && c->p[1] == '[') {
        if (!(token->classes & C_C))
            return OPERAND_FAIL(p, "a constant cannot be used here: move it to a register first");
        out->kind = ISA_X_CONST;
        c->p++;
        return parse_constant(p, c, &out->x);
    }
    if (!(token->classes & C_I))
        return OPERAND_FAIL(p, "expected a register, found '%.40s'", c->p);
    out->kind = ISA_X_IMM;
    if (strncmp(c->p, "lo(", 3) == 0 || strncmp(c->p, "hi(", 3) == 0)
        return parse_reloc(p, c, &out->x);
    if (cursor_at_number(c)) {
        struct number n;

        status = cursor_number(p->as, c, &n);
        if (status != LW_OK)
            return status;
        if (p->info->flags & ISA_F_HALF && n.kind == NUMBER_FLOAT)
            return OPERAND_FAIL(p, "write a 16-bit float as its bits (0x3e00 is the f16 1.5)");
        if (isa_operand_is_float(&p->insn, tok))
            return float_immediate(p, &n, regs, &out->x);
        return asm_int_immediate(p, &n, regs, &out->x);
    }
    if (cursor_at_name(c)) {
        const char *name = cursor_name(p->as, c, NULL);
        int64_t addend;

        if (name == NULL)
            return p->as->status;
        if (!asm_shared_offset(p->as, name, &out->x))
            return OPERAND_FAIL(p, "%s is neither a register nor a shared variable declared "
                                   "before", name);
        status = cursor_addend(p->as, c, &addend);
        if (status != LW_OK)
            return status;
        out->x += (uint32_t)addend;
        return LW_OK;
    }
    return OPERAND_FAIL(p, "expected a register, constant or immediate, found '%.40s'", c->p);
}

enum lw_status asm_parse_source(struct parse *p, struct cursor *c, unsigned tok, unsigned regs,
                                struct source *out)
{
    bool allowed = !(p->info->flags & ISA_F_NOSRCMOD);
    bool is_float = p->info->flags & ISA_F_FLOAT;
    bool bar = false;
    enum lw_status status;

    memset(out, 0, sizeof *out);
    cursor_space(c);
    if (*c->p == '-' && !cursor_at_number(c)) {
        out->srcmod |= 1;
        c->p++;
    } else if (*c->p == '~') {
        out->srcmod |= 2;
        c->p++;
    }
    cursor_space(c);
    if (*c->p == '|') {
        bar = true;
        out->srcmod |= 2;
        c->p++;
        cursor_space(c);
    }
    if (out->srcmod != 0 && !allowed)
        return OPERAND_FAIL(p, "this instruction has no source modifiers");
    if ((out->srcmod & 2) && bar != is_float)
        return OPERAND_FAIL(p, "%s", bar ? "integers cannot have the modifier |...| (absolute value)"
                                         : "floats cannot have the modifier ~");
    status = parse_source_value(p, c, tok, regs, out);
    if (status != LW_OK)
        return status;
    if (bar && !cursor_take(c, "|"))
        return OPERAND_FAIL(p, "the closing '|' is missing");
    if (out->srcmod != 0 && out->kind == ISA_X_IMM)
        return OPERAND_FAIL(p, "an immediate cannot have a source modifier: write its value");
    return LW_OK;
}

void asm_set_x(struct isa_insn *insn, const struct source *source)
{
    insn->xkind = (uint8_t)source->kind;
    insn->x |= source->x;
}

/* ---- addresses ------------------------------------------------------------------------ */

struct address {
    struct reg regs[MAX_ADDRESS_REGS];
    unsigned count;
    bool is_signed; /* .s was written after the last register */
    uint8_t scale;  /* log2 of the factor (*2, *4, *8 or *16) that was written after the last register, 1 to 4, or 0 if no factor
                     * was written */
    int64_t disp;
};

/* Parses the terms of an address, up to the closing bracket. @params: names in the address are names of parameters; otherwise
 * they are names of shared variables. */
static enum lw_status parse_terms(struct parse *p, struct cursor *c, bool params,
                                  struct address *out)
{
    bool first = true;

    memset(out, 0, sizeof *out);
    while (!cursor_take(c, "]")) {
        bool minus = false;

        if (cursor_end(c))
            return OPERAND_FAIL(p, "the address has no closing bracket");
        if (*c->p == '+' || *c->p == '-')
            minus = *c->p++ == '-';
        else if (!first)
            return OPERAND_FAIL(p, "expected + or - in the address, found '%.20s'", c->p);
        first = false;

        struct reg reg;
        int64_t value;

        if (take_register(c, &reg)) {
            if (minus || out->count == MAX_ADDRESS_REGS || out->is_signed)
                return OPERAND_FAIL(p, "expected an address [pair+offset], [register+offset] or [scalar "
                                       "pair+register+offset]");
            out->is_signed = cursor_take(c, ".s");
            out->regs[out->count++] = reg;
            if (cursor_take(c, "*")) {
                enum lw_status status = cursor_int(p->as, c, "the factor", 1, 16, &value);
                if (status != LW_OK)
                    return status;
                if ((value & (value - 1)) != 0 || out->count != MAX_ADDRESS_REGS)
                    return OPERAND_FAIL(p, "a factor must be 1, 2, 4, 8 or 16, and needs a scalar base: [s4:5+v2*4]");
                out->scale = (uint8_t)lw_lowest((uint64_t)value);
            }
            continue;
        }
        cursor_space(c);
        if (cursor_at_number(c)) {
            enum lw_status status = cursor_int(p->as, c, "the offset", -(1 << 24),
                                               UINT32_MAX, &value);
            if (status != LW_OK)
                return status;
        } else if (cursor_at_name(c)) {
            const char *name = cursor_name(p->as, c, NULL);
            uint32_t at;

            if (name == NULL)
                return p->as->status;
            if (params ? !asm_param_offset(p->as, name, &at)
                       : !asm_shared_offset(p->as, name, &at))
                return OPERAND_FAIL(p, "there is no %s %s", params ? "parameter"
                                    : "register or shared variable", name);
            value = at;
        } else {
            return OPERAND_FAIL(p, "unexpected '%.20s' in the address", c->p);
        }
        out->disp += minus ? -value : value;
        if (out->disp > INT64_C(1) << 40 || out->disp < -(INT64_C(1) << 40))
            return OPERAND_FAIL(p, "the offset does not fit into 24 bits");
    }
    return LW_OK;
}

static enum lw_status set_disp(struct parse *p, int64_t disp)
{
    if (disp < -(1 << 23) || disp >= 1 << 23)
        return OPERAND_FAIL(p, "the offset %lld does not fit into 24 bits", (long long)disp);
    p->insn.x |= (uint32_t)disp << 8;
    return LW_OK;
}

enum lw_status asm_parse_address(struct parse *p, struct cursor *c)
{
    struct isa_insn *insn = &p->insn;
    struct address address;
    enum lw_status status;
    unsigned mode = ISA_AMODE_32;

    if (!cursor_take(c, "["))
        return OPERAND_FAIL(p, "expected an address in brackets, found '%.40s'", c->p);
    status = parse_terms(p, c, false, &address);
    if (status != LW_OK)
        return status;

    const struct reg *reg = &address.regs[0];

    if (address.count == 0) {
        insn->a = ISA_VZ;
    } else if (address.count == 1) {
        if (address.is_signed)
            return OPERAND_FAIL(p, ".s needs a scalar base: [s4:5+v2.s]");
        mode = reg->span == 2 ? ISA_AMODE_PAIR : ISA_AMODE_32;
        status = fit_register(p, reg, reg->span == 2 ? 2 : 1, C_V);
        insn->a = (uint8_t)reg->number;
    } else {
        mode = address.is_signed ? ISA_AMODE_SS32 : ISA_AMODE_SU32;
        if (!reg->scalar)
            return OPERAND_FAIL(p, "the base of two registers must be a scalar pair such as "
                                   "s4:5");
        status = fit_register(p, reg, 2, C_S);
        if (status == LW_OK)
            status = fit_register(p, &address.regs[1], 1, C_V);
        if (p->info->format == ISA_FMT_ATOM && isa_mod_get(insn, ISA_MOD_AOP) == ISA_AOP_CAS)
            return OPERAND_FAIL(p, "a compare-and-swap cannot have a scalar base address");
        insn->c = (uint8_t)reg->number;
        insn->a = (uint8_t)address.regs[1].number;
    }
    if (status != LW_OK)
        return status;
    isa_mod_set(insn, ISA_MOD_AMODE, mode);
    if (address.scale != 0)
        isa_mod_set(insn, ISA_MOD_ASCALE, address.scale);
    return set_disp(p, address.disp);
}

enum lw_status asm_parse_scalar_address(struct parse *p, struct cursor *c)
{
    struct address address;
    enum lw_status status;

    if (!cursor_take(c, "["))
        return OPERAND_FAIL(p, "expected an address in brackets, found '%.40s'", c->p);
    status = parse_terms(p, c, false, &address);
    if (status != LW_OK)
        return status;
    if (address.count == 0 || address.is_signed)
        return OPERAND_FAIL(p, "expected a scalar address such as [s4:5+offset] or [s4:5+s6+offset]");
    status = fit_register(p, &address.regs[0], 2, C_S);
    p->insn.a = (uint8_t)address.regs[0].number;
    if (status == LW_OK && address.count == 2) {
        status = fit_register(p, &address.regs[1], 1, C_S);
        p->insn.x = (p->insn.x & ~UINT32_C(0xff)) | address.regs[1].number;
    }
    return status == LW_OK ? set_disp(p, address.disp) : status;
}

enum lw_status asm_parse_const_address(struct parse *p, struct cursor *c, unsigned classes)
{
    struct address address;
    int64_t bank = 0;
    enum lw_status status;
    struct cursor probe;

    if (!cursor_take(c, "c["))
        return OPERAND_FAIL(p, "expected c[bank][offset] or c[parameter], found '%.40s'", c->p);
    probe = *c;

    struct reg ignored;

    if (cursor_at_number(c) && !take_register(&probe, &ignored)) {
        status = cursor_int(p->as, c, "the constant bank", 0, ISA_CONST_BANK_COUNT - 1, &bank);
        if (status != LW_OK)
            return status;
        if (!cursor_take(c, "]") || !cursor_take(c, "["))
            return OPERAND_FAIL(p, "expected c[bank][register+offset] or c[parameter]");
    }
    status = parse_terms(p, c, true, &address);
    if (status != LW_OK)
        return status;
    if (address.count > 1 || address.is_signed)
        return OPERAND_FAIL(p, "a constant address can have at most one register");
    p->insn.c = (uint8_t)bank;
    p->insn.a = ISA_VZ;
    if (address.count == 1) {
        status = fit_register(p, &address.regs[0], 1, classes);
        p->insn.a = (uint8_t)address.regs[0].number;
    }
    return status == LW_OK ? set_disp(p, address.disp) : status;
}
