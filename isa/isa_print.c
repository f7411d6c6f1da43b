/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an instruction as text. The operand tokens of the instruction's row determine the operands and their order;
 * docs/reference/assembly.md describes the syntax. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa_priv.h"

/* ---- pieces ------------------------------------------------------------------- */

/** Destination of the text. The text is written in small parts, so names may have any length. */
struct line {
    struct lw_sink *out;
};

static void add(struct line *line, const char *fmt, ...) LW_PRINTF(2, 3);

static void add(struct line *line, const char *fmt, ...)
{
    char text[96];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0)
        line->out->write(line->out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void add_register(struct line *line, bool scalar, unsigned number, unsigned regs)
{
    char letter = scalar ? 's' : 'v';

    if (number == 255)
        add(line, "%cz", letter);
    else if (scalar && number == ISA_S_EXEC)
        add(line, regs == 1 ? "exec_lo" : "exec");
    else if (scalar && number == ISA_S_EXEC + 1)
        add(line, "exec_hi");
    else if (regs == 1)
        add(line, "%c%u", letter, number);
    else
        add(line, "%c%u:%u", letter, number, number + regs - 1);
}

static void add_pred(struct line *line, bool negate, const char *prefix, unsigned number)
{
    if (number == ISA_PT)
        add(line, "%s%st", negate ? "!" : "", prefix);
    else
        add(line, "%s%s%u", negate ? "!" : "", prefix, number);
}

static void add_disp(struct line *line, int32_t disp, bool first)
{
    if (first)
        add(line, "%d", disp);
    else if (disp != 0)
        add(line, "%+d", disp);
}

static void add_int(struct line *line, int64_t value)
{
    if (value > -65536 && value < 65536)
        add(line, "%lld", (long long)value);
    else if (value < 0)
        add(line, "-0x%llx", (unsigned long long)(0 - (uint64_t)value));
    else
        add(line, "0x%llx", (unsigned long long)value);
}

/* Appends a float literal with the fewest digits that the assembler reads back as the same value. */
static void add_double(struct line *line, double value, bool single)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            break;
    }
    add(line, "%s%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "", single ? "f" : "");
}

static void add_float_bits(struct line *line, uint32_t bits, bool single)
{
    if (single) {
        float value;

        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            add_double(line, value, true);
        else
            add(line, "0f%08x", bits);
        return;
    }

    uint64_t wide = (uint64_t)bits << 32;
    double value;

    memcpy(&value, &wide, sizeof value);
    if (isfinite(value))
        add_double(line, value, false);
    else
        add(line, "0d%016llx", (unsigned long long)wide);
}

bool isa_operand_is_float(const struct isa_insn *insn, unsigned tok)
{
    if (isa_token_info(tok)->count == ISA_NSTYPE) {
        unsigned type = isa_mod_get(insn, ISA_MOD_STYPE);

        return type == ISA_ST_F32 || type == ISA_ST_F64;
    }

    const struct isa_op_info *info = isa_op_info(insn->op);

    if (info->flags & ISA_F_HALF)
        return false;
    return (info->flags & ISA_F_FLOAT) || info->unit == ISA_UNIT_FP ||
           info->unit == ISA_UNIT_DP;
}

/** Address of an instruction, and the function that names addresses in it. */
struct location {
    uint64_t pc;
    isa_symbol_fn symbol;
    void *context;
    const char *immediate; /* text printed for an immediate X that a relocation fills in; otherwise NULL */
};

static void add_x(struct line *line, const struct isa_insn *insn, unsigned tok, unsigned regs,
                  const struct location *location)
{
    switch (insn->xkind) {
    case ISA_X_VECTOR:
    case ISA_X_SCALAR:
        add_register(line, insn->xkind == ISA_X_SCALAR, isa_x_reg(insn->x), regs);
        return;
    case ISA_X_CONST:
        add(line, "c[%u][0x%x]", isa_x_bank(insn->x), isa_x_offset(insn->x));
        return;
    default:
        if (location->immediate != NULL)
            lw_put(line->out, location->immediate);
        else if (isa_operand_is_float(insn, tok))
            add_float_bits(line, insn->x, regs == 1);
        else if (isa_op_info(insn->op)->flags & ISA_F_HALF)
            add(line, "0x%x", insn->x);
        else
            add_int(line, (int32_t)insn->x);
    }
}

/* Prints the signs before a source with modifiers, as in -v1, |v1|, -|v1| and ~v1. */
static void open_source(struct line *line, const struct isa_insn *insn, unsigned source)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    unsigned bits = info->flags & ISA_F_NOSRCMOD ? 0 : isa_insn_srcmod(insn, source);

    if (bits & 1)
        add(line, "-");
    if (bits & 2)
        add(line, info->flags & ISA_F_FLOAT ? "|" : "~");
}

static void close_source(struct line *line, const struct isa_insn *insn, unsigned source)
{
    const struct isa_op_info *info = isa_op_info(insn->op);

    if (!(info->flags & ISA_F_NOSRCMOD) && (info->flags & ISA_F_FLOAT) &&
        (isa_insn_srcmod(insn, source) & 2))
        add(line, "|");
}

static void add_address(struct line *line, const struct isa_insn *insn)
{
    unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);
    bool plain = false; /* true if the address has no register */

    add(line, "[");
    if (mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) {
        add_register(line, true, insn->c, 2);
        add(line, "+");
        add_register(line, false, insn->a, 1);
        if (mode == ISA_AMODE_SS32)
            add(line, ".s");
        if (isa_mod_get(insn, ISA_MOD_ASCALE) != 0)
            add(line, "*%u", 1u << isa_mod_get(insn, ISA_MOD_ASCALE));
    } else if (mode == ISA_AMODE_PAIR && insn->a == 255) {
        add(line, "vz:vz");
    } else if (insn->a == ISA_VZ) {
        plain = true;
    } else {
        add_register(line, false, insn->a, mode == ISA_AMODE_PAIR ? 2 : 1);
    }
    add_disp(line, isa_x_disp(insn->x), plain);
    add(line, "]");
}

static void add_target(struct line *line, const struct isa_insn *insn,
                       const struct location *location)
{
    uint64_t target = isa_x_target(insn->x, location->pc);
    char name[ISA_NAME_TEXT_BYTES];

    if (location->symbol != NULL && location->symbol(location->context, target, name, sizeof name))
        lw_put(line->out, name);
    else
        add(line, "0x%llx", (unsigned long long)target);
}

/* ---- operands -------------------------------------------------------------------- */

static bool is_predicate(unsigned tok)
{
    switch ((enum isa_tok_kind)isa_token_info(tok)->kind) {
    case ISA_TK_P:
    case ISA_TK_Q:
    case ISA_TK_SP:
    case ISA_TK_R:
    case ISA_TK_RS:
    case ISA_TK_RA:
    case ISA_TK_RB:
        return true;
    default:
        return false;
    }
}

/* Returns true for an optional operand that has its default value, if the text stays unambiguous when the operand is left out. */
static bool is_left_out(const struct isa_insn *insn, const struct isa_operands *operands,
                        unsigned index)
{
    bool before_pred = index + 1 < operands->count && is_predicate(operands->tok[index + 1]);

    switch ((enum isa_tok_kind)isa_token_info(operands->tok[index])->kind) {
    case ISA_TK_P:
        return isa_insn_p(insn) == ISA_PT && !before_pred;
    case ISA_TK_Q:
        return isa_insn_q(insn) == ISA_PT && !before_pred;
    case ISA_TK_R:
    case ISA_TK_RS:
        return isa_insn_r(insn) == ISA_PT && !isa_insn_r_neg(insn);
    case ISA_TK_BOPT:
    case ISA_TK_COUNT:
        return !insn->variant;
    case ISA_TK_MEMBER:
        return isa_x_member(insn->x) == ISA_VZ;
    case ISA_TK_SWAP:
        return isa_mod_get(insn, ISA_MOD_AOP) != ISA_AOP_CAS;
    case ISA_TK_TEXARG:
        return isa_token_regs(operands->tok[index], insn) == 0;
    case ISA_TK_TEXEL:
        return (insn->x >> 8 & 0xfff) == 0;
    case ISA_TK_ALLP:
    case ISA_TK_SOFT:
        return true;
    default:
        return false;
    }
}

static void add_written_pred(struct line *line, const char *prefix, unsigned number)
{
    if (number == ISA_PT)
        add(line, "_");
    else
        add_pred(line, false, prefix, number);
}

/** Appends the counters for which `waitcnt` waits. If the instruction waits for no counter, appends one counter with its
 *  maximum. */
static void add_counts(struct line *line, uint32_t x)
{
    const char *space = "";

    if (isa_x_vmcnt(x) != ISA_WAIT_ANY ||
        (isa_x_expcnt(x) == ISA_WAIT_EXP_ANY && isa_x_lgkmcnt(x) == ISA_WAIT_ANY)) {
        add(line, "vmcnt(%u)", isa_x_vmcnt(x));
        space = " ";
    }
    if (isa_x_expcnt(x) != ISA_WAIT_EXP_ANY) {
        add(line, "%sexpcnt(%u)", space, isa_x_expcnt(x));
        space = " ";
    }
    if (isa_x_lgkmcnt(x) != ISA_WAIT_ANY)
        add(line, "%slgkmcnt(%u)", space, isa_x_lgkmcnt(x));
}

static void add_operand(struct line *line, const struct isa_insn *insn,
                        const struct isa_operands *operands, unsigned index,
                        const struct location *location)
{
    unsigned tok = operands->tok[index];
    const struct isa_token *token = isa_token_info(tok);
    enum isa_tok_kind kind = token->kind;
    unsigned regs = isa_operand_regs(operands, index, insn);

    /* source b is printed before source c, whether X or C contains b */
    if (insn->variant && isa_operands_swappable(operands)) {
        if (kind == ISA_TK_X)
            kind = ISA_TK_C;
        else if (kind == ISA_TK_C)
            kind = ISA_TK_X;
        if (kind == ISA_TK_X || kind == ISA_TK_C)
            regs = isa_token_regs(tok, insn);
    }
    switch (kind) {
    case ISA_TK_D:
        add_register(line, token->classes == C_S, insn->d, regs);
        break;
    case ISA_TK_A:
        open_source(line, insn, 0);
        add_register(line, insn->a_scalar, insn->a, regs);
        close_source(line, insn, 0);
        break;
    case ISA_TK_X:
    case ISA_TK_XREG:
    case ISA_TK_TEXARG:
    case ISA_TK_CTABAR:
        if (kind == ISA_TK_X)
            open_source(line, insn, 1);
        add_x(line, insn, tok, regs, location);
        if (kind == ISA_TK_X)
            close_source(line, insn, 1);
        break;
    case ISA_TK_C:
        open_source(line, insn, 2);
        add_register(line, insn->c_scalar, insn->c, regs);
        close_source(line, insn, 2);
        break;
    case ISA_TK_SWAP:
    case ISA_TK_COUNT:
        add_register(line, false, insn->c, regs);
        break;
    case ISA_TK_P:
        add_written_pred(line, "p", isa_insn_p(insn));
        break;
    case ISA_TK_SP:
        add_written_pred(line, "sp", isa_insn_p(insn));
        break;
    case ISA_TK_Q:
        add_written_pred(line, "p", isa_insn_q(insn));
        break;
    case ISA_TK_R:
        add_pred(line, isa_insn_r_neg(insn), "p", isa_insn_r(insn));
        break;
    case ISA_TK_RS:
        add_pred(line, isa_insn_r_neg(insn), "sp", isa_insn_r(insn));
        break;
    case ISA_TK_RA:
        add_pred(line, isa_insn_ra_neg(insn), "p", isa_insn_ra(insn));
        break;
    case ISA_TK_RB:
        add_pred(line, isa_insn_rb_neg(insn), "p", isa_insn_rb(insn));
        break;
    case ISA_TK_ADDR:
        add_address(line, insn);
        break;
    case ISA_TK_CADDR: {
        bool plain = insn->a == ISA_VZ;

        add(line, "c[%u][", insn->c);
        if (!plain)
            add_register(line, insn->a_scalar, insn->a, 1);
        add_disp(line, isa_x_disp(insn->x), plain);
        add(line, "]");
        break;
    }
    case ISA_TK_SADDR:
        add(line, "[");
        if (insn->a == ISA_SZ)
            add(line, "sz:sz");
        else
            add_register(line, true, insn->a, 2);
        if (isa_x_reg(insn->x) != ISA_SZ) {
            add(line, "+");
            add_register(line, true, isa_x_reg(insn->x), 1);
        }
        add_disp(line, isa_x_disp(insn->x), false);
        add(line, "]");
        break;
    case ISA_TK_TARGET:
        add_target(line, insn, location);
        break;
    case ISA_TK_BREG:
        add(line, "b%u", insn->d);
        break;
    case ISA_TK_BOPT:
        add(line, "b%d", isa_insn_bo(insn));
        break;
    case ISA_TK_XBREG:
        add(line, "b%u", insn->x & 15);
        break;
    case ISA_TK_IMM:
        add_int(line, (int32_t)insn->x);
        break;
    case ISA_TK_SPECIAL:
        add(line, "%%%s", insn->x < ISA_SR_COUNT ? isa_special_info(insn->x)->name : "?");
        break;
    case ISA_TK_LUT:
        add(line, "0x%02x", isa_insn_lut(insn));
        break;
    case ISA_TK_LUTX:
        add(line, "0x%02x", isa_x_reg(insn->x));
        break;
    case ISA_TK_DEPBAR:
        add(line, "%u, %u", isa_x_depbar(insn->x), isa_x_depbar_most(insn->x));
        break;
    case ISA_TK_WAITCNT:
        add_counts(line, insn->x);
        break;
    case ISA_TK_LANE:
        if (insn->xkind == ISA_X_IMM)
            add(line, "%u, ", isa_x_reg(insn->x));
        else {
            add_register(line, insn->xkind == ISA_X_SCALAR, isa_x_reg(insn->x), 1);
            add(line, ", ");
        }
        if (insn->variant)
            add_register(line, insn->c_scalar, insn->c, 1);
        else if (isa_x_segment(insn->x) != 0)
            add(line, "%u/%u", isa_x_clamp(insn->x), isa_x_segment(insn->x));
        else
            add(line, "%u", isa_x_clamp(insn->x));
        break;
    case ISA_TK_MEMBER:
        add_register(line, false, isa_x_member(insn->x), 1);
        break;
    case ISA_TK_TEXEL:
        add(line, "(%d,%d,%d)", isa_x_texel(insn->x, 0), isa_x_texel(insn->x, 1),
            isa_x_texel(insn->x, 2));
        break;
    case ISA_TK_ALLP:
    case ISA_TK_SOFT:
        break;
    }
}

static void add_suffixes(struct line *line, const struct isa_insn *insn,
                         const struct isa_op_info *info, const struct isa_operands *operands)
{
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info(mod);
        unsigned value = isa_mod_get(insn, mod);

        if (group->deflt == MOD_HIDDEN || !isa_mod_applies(mod, info) ||
            (int)value == group->deflt)
            continue;
        for (unsigned i = 0; i < group->value_count; i++) {
            if (group->values[i].value == value)
                add(line, ".%s", group->values[i].suffix);
        }
    }
    if (insn->variant && isa_operands_find(operands, ISA_TK_SOFT) >= 0)
        add(line, ".soft");
    if (isa_operands_swappable(operands) && insn->variant != isa_insn_natural_variant(insn))
        add(line, ".alt");
}

static void add_control(struct line *line, const struct isa_control *control)
{
    char separator = '{';

    if (control->stall == 0 && control->yield == 0 && control->write_bar == 7 &&
        control->read_bar == 7 && control->wait_mask == 0 && control->reuse == 0)
        return;
    add(line, " ");
    if (control->stall != 0) {
        add(line, "%cst=%u", separator, control->stall);
        separator = ',';
    }
    if (control->yield != 0) {
        add(line, "%cy", separator);
        separator = ',';
    }
    if (control->write_bar != 7) {
        add(line, "%cwr=%u", separator, control->write_bar);
        separator = ',';
    }
    if (control->read_bar != 7) {
        add(line, "%crd=%u", separator, control->read_bar);
        separator = ',';
    }
    if (control->wait_mask != 0) {
        add(line, "%cwt=0x%x", separator, control->wait_mask);
        separator = ',';
    }
    if (control->reuse != 0)
        add(line, "%cru=%u", separator, control->reuse);
    add(line, "}");
}

void isa_insn_print_reloc(const struct isa_insn *insn, uint64_t pc, isa_symbol_fn symbol,
                          void *context, const char *immediate, struct lw_sink *out)
{
    const struct isa_op_info *info = isa_op_info(insn->op);
    const struct location location = { pc, symbol, context, immediate };
    struct line line = { out };
    const char *separator = " ";

    if (info == NULL) {
        lw_put(out, "?");
        return;
    }
    if (insn->guard != ISA_PT || insn->guard_neg || insn->guard_scalar) {
        add(&line, "@");
        add_pred(&line, insn->guard_neg, insn->guard_scalar ? "sp" : "p", insn->guard);
        add(&line, " ");
    }
    add(&line, "%s", info->mnemonic);
    add_suffixes(&line, insn, info, &info->operands);
    for (unsigned i = 0; i < info->operands.count; i++) {
        if (is_left_out(insn, &info->operands, i))
            continue;
        add(&line, "%s", separator);
        separator = ", ";
        add_operand(&line, insn, &info->operands, i, &location);
    }
    add_control(&line, &insn->control);
}

void isa_insn_print(const struct isa_insn *insn, uint64_t pc, isa_symbol_fn symbol,
                    void *context, struct lw_sink *out)
{
    isa_insn_print_reloc(insn, pc, symbol, context, NULL, out);
}
