/* SPDX-License-Identifier: Apache-2.0 */
/* Parses an instruction: guard, mnemonic with suffixes, operands, control field. The operand tokens of the instruction's row
 * determine the operands. Every message begins with the mnemonic. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/asm/isa_asm_insn_priv.h"

/* ---- operands ----------------------------------------------------------------------------- */

/* Returns true if @text can be the optional operand @tok. If not, the instruction is written without this operand. */
static bool looks_like(struct parse *p, unsigned tok, const char *text)
{
    struct cursor c = { text };
    unsigned number;
    bool negate;

    switch ((enum isa_tok_kind)isa_token_info(tok)->kind) {
    case ISA_TK_P:
    case ISA_TK_Q:
        if (cursor_take(&c, "_"))
            return cursor_end(&c);
        return asm_take_predicate(&c, "p", false, &number, &negate) && cursor_end(&c);
    case ISA_TK_R:
        return asm_take_predicate(&c, "p", true, &number, &negate) && cursor_end(&c);
    case ISA_TK_RS:
        return asm_take_predicate(&c, "sp", true, &number, &negate) && cursor_end(&c);
    case ISA_TK_COUNT:
        return !asm_take_predicate(&c, "p", true, &number, &negate) || !cursor_end(&c);
    case ISA_TK_BOPT:
        return asm_take_barrier(&c, &number) && cursor_end(&c);
    case ISA_TK_TEXEL:
        return cursor_take(&c, "(");
    default:
        (void)p;
        return true;
    }
}

static enum lw_status parse_written_pred(struct parse *p, struct cursor *c, const char *prefix,
                                         unsigned *number)
{
    bool negate;

    *number = ISA_PT;
    if (cursor_take(c, "_") || asm_take_predicate(c, prefix, false, number, &negate))
        return LW_OK;
    return OPERAND_FAIL(p, "expected a predicate %s0..%s6 or _, found '%.40s'", prefix, prefix,
                        c->p);
}

static enum lw_status parse_read_pred(struct parse *p, struct cursor *c, const char *prefix,
                                      unsigned *number, bool *negate)
{
    if (asm_take_predicate(c, prefix, true, number, negate))
        return LW_OK;
    return OPERAND_FAIL(p, "expected a predicate %s0..%s6, %st or !%s0.., found '%.40s'", prefix,
                        prefix, prefix, prefix, c->p);
}

static enum lw_status parse_lane(struct parse *p, struct cursor *c, unsigned regs)
{
    struct source source;
    enum lw_status status;
    int64_t value;

    memset(&source, 0, sizeof source);
    if (cursor_at_number(c)) {
        status = cursor_int(p->as, c, "the lane", 0, 255, &value);
        source.kind = ISA_X_IMM;
        source.x = status == LW_OK ? (uint32_t)value : 0;
    } else {
        status = asm_parse_register(p, c, regs, C_V | C_S, &source.reg);
        source.kind = source.reg.scalar ? ISA_X_SCALAR : ISA_X_VECTOR;
        source.x = source.reg.number;
    }
    if (status == LW_OK)
        asm_set_x(&p->insn, &source);
    return status;
}

static enum lw_status parse_clamp(struct parse *p, struct cursor *c)
{
    int64_t clamp, segment = 0;
    enum lw_status status;
    struct reg reg;

    if (cursor_at_number(c)) {
        status = cursor_int(p->as, c, "the clamp", 0, 63, &clamp);
        if (status == LW_OK && cursor_take(c, "/"))
            status = cursor_int(p->as, c, "the segment mask", 0, 63, &segment);
        if (status == LW_OK)
            p->insn.x |= (uint32_t)clamp << 8 | (uint32_t)segment << 14;
        return status;
    }
    status = asm_parse_register(p, c, 1, C_V | C_S, &reg);
    p->insn.variant = true;
    p->insn.c = (uint8_t)reg.number;
    p->insn.c_scalar = reg.scalar;
    return status;
}

static enum lw_status parse_target(struct parse *p, struct cursor *c)
{
    uint64_t pc = ISA_CODE_BASE + (uint64_t)p->as->text_count * ISA_WORD_BYTES;

    if (cursor_at_number(c)) {
        struct number n;
        enum lw_status status = cursor_number(p->as, c, &n);

        if (status != LW_OK)
            return status;

        uint64_t distance = n.magnitude - (pc + ISA_WORD_BYTES);
        int64_t delta = (int64_t)distance / ISA_WORD_BYTES;

        if (n.kind != NUMBER_INT || n.negative || distance % ISA_WORD_BYTES != 0 ||
            delta < INT32_MIN || delta > INT32_MAX)
            return OPERAND_FAIL(p, "the target must be a multiple of 16, at most 2^31 instructions away");
        p->insn.x = (uint32_t)delta;
        return LW_OK;
    }
    p->target_name = cursor_name(p->as, c, &p->target_quoted);
    if (p->target_name == NULL)
        return p->as->status;
    return cursor_addend(p->as, c, &p->target_addend);
}

/* Parses texel offsets: (x), (x,y) or (x,y,z). */
static enum lw_status parse_texels(struct parse *p, struct cursor *c)
{
    unsigned axis = 0;

    if (!cursor_take(c, "("))
        return OPERAND_FAIL(p, "expected texel offsets such as (1,-1), found '%.40s'", c->p);
    do {
        int64_t value;
        enum lw_status status = cursor_int(p->as, c, "the texel offset", -8, 7, &value);

        if (status != LW_OK)
            return status;
        p->insn.x |= ((uint32_t)value & 15) << (8 + 4 * axis);
    } while (++axis < 3 && cursor_take(c, ","));
    if (!cursor_take(c, ")"))
        return OPERAND_FAIL(p, "expected ')' after at most three texel offsets");
    return LW_OK;
}

/* Determines which of sources b and c is in field X and which in C, for an instruction that has both fields. */
static enum lw_status assign_sources(struct parse *p, struct source *b, struct source *c)
{
    bool b_wide = b->kind >= ISA_X_CONST, c_wide = c->kind >= ISA_X_CONST;
    bool variant;

    if (b_wide && c_wide)
        return PARSE_FAIL(p, "only one operand can be a constant or an immediate: move one to a "
                             "register first");
    variant = c_wide || (!b_wide && c->reg.scalar && !b->reg.scalar);
    if (p->alt) {
        if (b_wide || c_wide)
            return PARSE_FAIL(p, ".alt allows only registers as operands");
        variant = !variant;
    }

    const struct source *x = variant ? c : b, *other = variant ? b : c;

    p->insn.variant = variant;
    asm_set_x(&p->insn, x);
    p->insn.c = (uint8_t)other->reg.number;
    p->insn.c_scalar = other->reg.scalar;
    if (!(p->info->flags & ISA_F_NOSRCMOD)) {
        isa_insn_set_srcmod(&p->insn, 1, x->srcmod);
        isa_insn_set_srcmod(&p->insn, 2, other->srcmod);
    }
    return LW_OK;
}

/** Parses the counters of `waitcnt`, with their limits. The instruction does not wait for counters that are missing in the
 *  text. */
static enum lw_status parse_counts(struct parse *p, struct cursor *c)
{
    static const struct {
        const char *name;
        unsigned shift, most;
    } counters[] = {{"vmcnt", 0, ISA_WAIT_ANY}, {"expcnt", 8, ISA_WAIT_EXP_ANY}, {"lgkmcnt", 16, ISA_WAIT_ANY}};
    uint32_t x = 0, seen = 0;

    for (unsigned i = 0; i < LW_COUNT_OF(counters); i++)
        x |= counters[i].most << counters[i].shift;
    do {
        int64_t value;
        unsigned i = 0;

        while (i < LW_COUNT_OF(counters) && !cursor_word(c, counters[i].name))
            i++;
        if (i == LW_COUNT_OF(counters) || !cursor_take(c, "("))
            return OPERAND_FAIL(p, "expected vmcnt(N), expcnt(N) or lgkmcnt(N), found '%.40s'", c->p);
        if (seen >> i & 1)
            return OPERAND_FAIL(p, "%s occurs twice", counters[i].name);
        enum lw_status status = cursor_int(p->as, c, "the count", 0, counters[i].most, &value);
        if (status != LW_OK)
            return status;
        if (!cursor_take(c, ")"))
            return OPERAND_FAIL(p, "expected ')' after the count, found '%.40s'", c->p);
        seen |= 1u << i;
        x = (x & ~(counters[i].most << counters[i].shift)) | (uint32_t)value << counters[i].shift;
    } while (!cursor_end(c));
    p->insn.x = x;
    return LW_OK;
}

static enum lw_status parse_operand(struct parse *p, unsigned index, struct cursor *c,
                                    struct source *b, struct source *third)
{
    unsigned tok = p->info->operands.tok[index];
    const struct isa_token *token = isa_token_info(tok);
    unsigned regs = isa_token_regs(tok, &p->insn);
    struct isa_insn *insn = &p->insn;
    struct source source;
    struct reg reg;
    enum lw_status status = LW_OK;
    unsigned number;
    int64_t value;
    bool negate;

    switch ((enum isa_tok_kind)token->kind) {
    case ISA_TK_D:
        if (token->classes == C_V && cursor_take(c, "_")) {
            insn->d = ISA_VZ;
            return LW_OK;
        }
        status = asm_parse_register(p, c, regs, token->classes, &reg);
        insn->d = (uint8_t)reg.number;
        return status;
    case ISA_TK_A:
        status = asm_parse_source(p, c, tok, regs, &source);
        if (status != LW_OK)
            return status;
        insn->a = (uint8_t)source.reg.number;
        insn->a_scalar = source.reg.scalar;
        if (source.srcmod != 0)
            isa_insn_set_srcmod(insn, 0, source.srcmod);
        return LW_OK;
    case ISA_TK_X:
        status = asm_parse_source(p, c, tok, regs, b);
        if (status == LW_OK && !isa_operands_swappable(&p->info->operands)) {
            asm_set_x(insn, b);
            if (b->srcmod != 0)
                isa_insn_set_srcmod(insn, 1, b->srcmod);
        }
        return status;
    case ISA_TK_C: {
        /* Accepts the operands that field C can hold. If X and C can be exchanged, also accepts the operands that field X can
         * hold. */
        static const unsigned wide[] = { [ISA_N1] = ISA_TOK_XB, [ISA_N2] = ISA_TOK_XB2 };
        static const unsigned scalar[] = { [ISA_N1] = ISA_TOK_SX, [ISA_N2] = ISA_TOK_SX2 };

        if (isa_operands_swappable(&p->info->operands))
            return asm_parse_source(p, c, token->classes == C_S ? scalar[regs] : wide[regs], regs,
                                    third);
        status = asm_parse_source(p, c, tok, regs, third);
        insn->c = (uint8_t)third->reg.number;
        insn->c_scalar = third->reg.scalar;
        return status;
    }
    case ISA_TK_XREG:
    case ISA_TK_TEXARG:
    case ISA_TK_CTABAR:
        status = asm_parse_source(p, c, tok, regs, &source);
        if (status == LW_OK)
            asm_set_x(insn, &source);
        return status;
    case ISA_TK_SWAP:
        status = asm_parse_register(p, c, regs, C_V, &reg);
        insn->c = (uint8_t)reg.number;
        return status;
    case ISA_TK_COUNT:
        status = asm_parse_register(p, c, 1, C_V, &reg);
        insn->c = (uint8_t)reg.number;
        insn->variant = true;
        return status;
    case ISA_TK_P:
    case ISA_TK_SP:
        status = parse_written_pred(p, c, token->kind == ISA_TK_P ? "p" : "sp", &number);
        isa_insn_set_p(insn, number);
        return status;
    case ISA_TK_Q:
        status = parse_written_pred(p, c, "p", &number);
        isa_insn_set_q(insn, number);
        return status;
    case ISA_TK_R:
    case ISA_TK_RS:
    case ISA_TK_RA:
    case ISA_TK_RB:
        status = parse_read_pred(p, c, token->kind == ISA_TK_RS ? "sp" : "p", &number, &negate);
        if (status != LW_OK)
            return status;
        if (token->kind == ISA_TK_R || token->kind == ISA_TK_RS)
            isa_insn_set_r(insn, number, negate);
        else if (token->kind == ISA_TK_RA)
            isa_insn_set_ra(insn, number, negate);
        else
            isa_insn_set_rb(insn, number, negate);
        return LW_OK;
    case ISA_TK_ADDR:
        return asm_parse_address(p, c);
    case ISA_TK_CADDR:
        return asm_parse_const_address(p, c, token->classes);
    case ISA_TK_SADDR:
        return asm_parse_scalar_address(p, c);
    case ISA_TK_TARGET:
        return parse_target(p, c);
    case ISA_TK_BREG:
    case ISA_TK_XBREG:
    case ISA_TK_BOPT:
        if (!asm_take_barrier(c, &number))
            return OPERAND_FAIL(p, "expected a barrier register b0..b15, found '%.40s'", c->p);
        if (token->kind == ISA_TK_BREG)
            insn->d = (uint8_t)number;
        else if (token->kind == ISA_TK_XBREG)
            insn->x |= number;
        else
            isa_insn_set_bo(insn, number);
        return LW_OK;
    case ISA_TK_IMM: {
        struct number n;

        status = cursor_number(p->as, c, &n);
        if (status == LW_OK)
            status = asm_int_immediate(p, &n, 1, &insn->x);
        return status;
    }
    case ISA_TK_SPECIAL: {
        size_t size;
        int sr;

        if (!cursor_take(c, "%"))
            return OPERAND_FAIL(p, "expected a special register such as %%tid.x, found '%.40s'",
                                c->p);
        size = strcspn(c->p, " \t");
        sr = isa_special_find(c->p, size);
        if (sr < 0) {
            char name[64];
            const char *near;

            snprintf(name, sizeof name, "%.*s", (int)(size < 60 ? size : 60), c->p);
            near = lw_suggest(name, &isa_special_info(0)->name, ISA_SR_COUNT,
                              sizeof(struct isa_special_info));
            return OPERAND_FAIL(p, "there is no special register %%%s%s%s%s", name,
                                near ? " (did you mean %" : "", near ? near : "",
                                near ? "?)" : "");
        }
        c->p += size;
        insn->x = (uint32_t)sr;
        return LW_OK;
    }
    case ISA_TK_LUT:
    case ISA_TK_LUTX:
        status = cursor_int(p->as, c, "the truth table", 0, 255, &value);
        if (status != LW_OK)
            return status;
        if (token->kind == ISA_TK_LUT)
            isa_insn_set_lut(insn, (unsigned)value);
        else
            insn->x |= (uint32_t)value;
        return LW_OK;
    case ISA_TK_DEPBAR:
        status = cursor_int(p->as, c, "the dependence barrier", 0, 5, &value);
        if (status == LW_OK)
            insn->x |= (uint32_t)value;
        return status;
    case ISA_TK_WAITCNT:
        return parse_counts(p, c);
    case ISA_TK_LANE:
        return parse_lane(p, c, regs);
    case ISA_TK_MEMBER:
        if (cursor_take(c, "_"))
            return LW_OK; /* isa_insn_init() has already set the mask to all lanes */
        status = asm_parse_register(p, c, 1, C_V, &reg);
        insn->x = (insn->x & 0xffffff) | reg.number << 24;
        return status;
    case ISA_TK_TEXEL:
        return parse_texels(p, c);
    case ISA_TK_ALLP:
    case ISA_TK_SOFT:
        break;
    }
    return LW_OK;
}

/** Parses the second part of an operand that has two parts, separated by a comma. */
static enum lw_status parse_second(struct parse *p, unsigned tok, struct cursor *c)
{
    enum lw_status status;
    int64_t most;

    if (isa_token_info(tok)->kind != ISA_TK_DEPBAR)
        return parse_clamp(p, c);
    status = cursor_int(p->as, c, "the count of the dependence barrier", 0, 63, &most);
    if (status == LW_OK)
        p->insn.x |= (uint32_t)most << 8;
    return status;
}

static unsigned texts_of(const struct parse *p, unsigned tok)
{
    switch ((enum isa_tok_kind)isa_token_info(tok)->kind) {
    case ISA_TK_ALLP:
    case ISA_TK_SOFT:
        return 0;
    case ISA_TK_LANE:
    case ISA_TK_DEPBAR:
        return 2;
    case ISA_TK_SWAP:
        return isa_mod_get(&p->insn, ISA_MOD_AOP) == ISA_AOP_CAS;
    case ISA_TK_TEXARG:
        return isa_token_regs(tok, &p->insn) != 0;
    default:
        return 1;
    }
}

static enum lw_status count_mismatch(struct parse *p)
{
    unsigned low = 0, high = 0;

    for (unsigned i = 0; i < p->info->operands.count; i++) {
        unsigned texts = texts_of(p, p->info->operands.tok[i]);

        high += texts;
        if (!(isa_token_info(p->info->operands.tok[i])->flags & T_OPT))
            low += texts;
    }
    if (low == high)
        return PARSE_FAIL(p, "expected %u operand%s, found %u", low, low == 1 ? "" : "s",
                          p->text_count);
    return PARSE_FAIL(p, "expected %u to %u operands, found %u", low, high, p->text_count);
}

static enum lw_status parse_operands(struct parse *p)
{
    struct source b, third;
    unsigned next = 0, required = 0;
    enum lw_status status;

    memset(&b, 0, sizeof b);
    memset(&third, 0, sizeof third);
    for (unsigned i = 0; i < p->info->operands.count; i++) {
        if (!(isa_token_info(p->info->operands.tok[i])->flags & T_OPT))
            required += texts_of(p, p->info->operands.tok[i]);
    }
    for (unsigned i = 0; i < p->info->operands.count; i++) {
        unsigned tok = p->info->operands.tok[i];
        unsigned texts = texts_of(p, tok);
        bool optional = isa_token_info(tok)->flags & T_OPT;

        if (texts == 0)
            continue;
        /* an optional operand is missing if the remaining texts are needed for the operands after it */
        if (optional && (p->text_count - next <= required || !looks_like(p, tok, p->texts[next])))
            continue;
        if (!optional)
            required -= texts;
        if (next + texts > p->text_count)
            return count_mismatch(p);

        struct cursor c = { p->texts[next] };

        p->operand = next + 1;
        status = parse_operand(p, i, &c, &b, &third);
        if (status == LW_OK && !cursor_end(&c))
            status = OPERAND_FAIL(p, "unexpected '%.40s'", c.p);
        if (status == LW_OK && texts == 2) {
            c.p = p->texts[next + 1];
            p->operand = next + 2;
            status = parse_second(p, tok, &c);
            if (status == LW_OK && !cursor_end(&c))
                status = OPERAND_FAIL(p, "unexpected '%.40s'", c.p);
        }
        if (status != LW_OK)
            return status;
        next += texts;
    }
    if (next != p->text_count)
        return count_mismatch(p);
    if (isa_operands_swappable(&p->info->operands))
        return assign_sources(p, &b, &third);
    return LW_OK;
}

/* ---- mnemonics ------------------------------------------------------------------------------ */

static enum lw_status no_such_mnemonic(struct asm_state *as, const char *word, size_t size)
{
    char name[64];
    const char *near = NULL;

    for (size_t n = size < 60 ? size : 60; n > 0 && near == NULL; n--) {
        if (n != size && word[n] != '.')
            continue; /* the name ends inside a suffix, so shorter names are tried */
        snprintf(name, sizeof name, "%.*s", (int)n, word);
        near = lw_suggest(name, &isa_op_info((enum isa_op)1)->mnemonic, ISA_OP_COUNT - 1,
                          sizeof(struct isa_op_info));
    }
    return asm_fail(as, "%.*s: unknown instruction%s%s%s",
                    (int)(size < 60 ? size : 60), word, near ? " (did you mean " : "",
                    near ? near : ": docs/reference/isa.md lists the instructions", near ? "?)" : "");
}

/* Parses a suffix: .soft, .alt, or a value of a modifier group that no earlier suffix has set. */
static enum lw_status parse_suffix(struct parse *p, const char **text, uint64_t *groups_set)
{
    const char *s = *text;
    size_t best = 0;
    unsigned best_mod = 0, best_value = 0;

    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info(mod);

        if ((*groups_set >> mod & 1) || group->deflt == MOD_HIDDEN ||
            !isa_mod_applies(mod, p->info))
            continue;
        for (unsigned i = 0; i < group->value_count; i++) {
            const char *suffix = group->values[i].suffix;
            size_t size = strlen(suffix);

            if (size > best && strncmp(s, suffix, size) == 0 &&
                (s[size] == '\0' || s[size] == '.')) {
                best = size;
                best_mod = mod;
                best_value = group->values[i].value;
            }
        }
    }
    if (best != 0) {
        isa_mod_set(&p->insn, best_mod, best_value);
        *groups_set |= UINT64_C(1) << best_mod;
        *text = s + best;
        return LW_OK;
    }
    best = strcspn(s, ".");
    if (best == 4 && strncmp(s, "soft", 4) == 0 && !p->soft &&
        isa_operands_find(&p->info->operands, ISA_TK_SOFT) >= 0) {
        p->soft = true;
        p->insn.variant = true;
    } else if (best == 3 && strncmp(s, "alt", 3) == 0 && !p->alt &&
               isa_operands_swappable(&p->info->operands)) {
        p->alt = true;
    } else {
        return PARSE_FAIL(p, "the instruction has no modifier .%.*s",
                          (int)(best < 40 ? best : 40), s);
    }
    *text = s + best;
    return LW_OK;
}

static enum lw_status parse_mnemonic(struct parse *p, struct cursor *c)
{
    char word[160];
    size_t size = strcspn(c->p, " \t\r{"), best = 0;
    uint64_t groups_set = 0;
    enum isa_op op = ISA_OP_NONE;
    const char *rest;

    for (unsigned i = 1; i < ISA_OP_COUNT; i++) {
        const char *mnemonic = isa_op_info((enum isa_op)i)->mnemonic;
        size_t n = strlen(mnemonic);

        if (n > best && n <= size && strncmp(c->p, mnemonic, n) == 0 &&
            (n == size || c->p[n] == '.')) {
            best = n;
            op = (enum isa_op)i;
        }
    }
    if (op == ISA_OP_NONE || size >= sizeof word)
        return no_such_mnemonic(p->as, c->p, size);
    memcpy(word, c->p, size);
    word[size] = '\0';
    c->p += size;
    p->info = isa_op_info(op);

    /* initial values; other functions set guard and control field */
    isa_insn_init(&p->insn, op);
    p->insn.xkind = ISA_X_VECTOR;
    rest = word + best;
    while (*rest == '.') {
        rest++;

        enum lw_status status = parse_suffix(p, &rest, &groups_set);

        if (status != LW_OK)
            return status;
    }
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++) {
        const struct isa_mod_info *group = isa_mod_info(mod);

        if (group->deflt == -1 && isa_mod_applies(mod, p->info) && !(groups_set >> mod & 1))
            return PARSE_FAIL(p, "the modifier for '%s' is missing, such as .%s", group->summary,
                              group->values[0].suffix);
    }
    return LW_OK;
}

/* ---- control field ---------------------------------------------------------------------------- */

static enum lw_status parse_control(struct parse *p, struct cursor *c)
{
    struct isa_control *control = &p->insn.control;

    while (true) {
        int64_t value;
        uint8_t *field;
        int64_t limit;

        if (cursor_take(c, "}"))
            return LW_OK;
        if (cursor_word(c, "y")) {
            control->yield = 1;
        } else {
            if (cursor_take(c, "st=")) {
                field = &control->stall;
                limit = 15;
            } else if (cursor_take(c, "wr=")) {
                field = &control->write_bar;
                limit = 7;
            } else if (cursor_take(c, "rd=")) {
                field = &control->read_bar;
                limit = 7;
            } else if (cursor_take(c, "wt=")) {
                field = &control->wait_mask;
                limit = 63;
            } else if (cursor_take(c, "ru=")) {
                field = &control->reuse;
                limit = 7;
            } else {
                return PARSE_FAIL(p, "expected a control field such as {st=4,y,wr=0,rd=1,wt=0x3f,ru=7}, found '%.30s'",
                                  c->p);
            }

            enum lw_status status = cursor_int(p->as, c, "the control value", 0, limit, &value);

            if (status != LW_OK)
                return status;
            *field = (uint8_t)value;
        }
        cursor_take(c, ",");
    }
}

/* ---- a whole instruction ------------------------------------------------------------------------ */

/* Splits @text at commas outside brackets and quotes. @text is a copy, and is changed. */
static enum lw_status split_operands(struct parse *p, char *text)
{
    char *start = text;
    int depth = 0;

    p->text_count = 0;
    for (char *s = text;; s++) {
        if (*s == '"') {
            for (s++; *s != '\0' && *s != '"'; s++) {
                if (*s == '\\' && s[1] != '\0')
                    s++;
            }
            if (*s == '\0')
                return PARSE_FAIL(p, "a name in quotes has no closing quote");
            continue;
        }
        if (*s == '[' || *s == '(')
            depth++;
        if (*s == ']' || *s == ')')
            depth--;
        if (*s != '\0' && (*s != ',' || depth > 0))
            continue;

        bool last = *s == '\0';
        struct cursor c = { start };

        *s = '\0';
        if (last && p->text_count == 0 && cursor_end(&c))
            return LW_OK;
        if (p->text_count == ASM_MAX_TEXTS)
            return PARSE_FAIL(p, "more than %d operands", ASM_MAX_TEXTS);
        if (cursor_end(&c))
            return PARSE_FAIL(p, "operand %u is missing", p->text_count + 1);
        p->texts[p->text_count++] = start;
        if (last)
            return LW_OK;
        start = s + 1;
    }
}

/* Returns the opening brace of the control field, which is not inside quotes, or NULL. */
static char *find_control(char *text)
{
    for (char *s = text; *s != '\0'; s++) {
        if (*s == '"') {
            for (s++; *s != '\0' && *s != '"'; s++) {
                if (*s == '\\' && s[1] != '\0')
                    s++;
            }
            if (*s == '\0')
                return NULL;
        }
        if (*s == '{')
            return s;
    }
    return NULL;
}

static void count_registers(struct asm_state *as, const struct isa_insn *insn)
{
    struct isa_reg_use uses[ISA_MAX_USES];
    struct asm_function *function;
    unsigned count = isa_insn_uses(insn, uses);

    if (!as->in_function)
        return;
    function = &as->functions[as->function_count - 1];
    for (unsigned i = 0; i < count; i++) {
        unsigned end = uses[i].first + uses[i].count;
        uint16_t *most = uses[i].reg_class == ISA_REG_V                                ? &function->v
                         : uses[i].reg_class == ISA_REG_S && end <= ISA_SREG_COUNT ? &function->s
                         : uses[i].reg_class == ISA_REG_B                          ? &function->b
                                                                                   : NULL;

        if (most != NULL && end > *most)
            *most = (uint16_t)end;
    }
}

static enum lw_status append(struct parse *p)
{
    struct asm_state *as = p->as;
    struct isa_word word, *slot;
    struct lw_error error;
    uint32_t index = (uint32_t)as->text_count;

    isa_insn_normalise(&p->insn);
    if (isa_insn_encode(&p->insn, &word, &error) != LW_OK)
        return asm_fail(as, "%s", error.text);
    slot = ASM_PUSH(as->text, as->text_count, as->text_capacity);
    if (slot == NULL)
        return asm_no_memory(as);
    *slot = word;
    count_registers(as, &p->insn);
    if (p->target_name != NULL) {
        struct fixup *fixup = ASM_PUSH(as->fixups, as->fixup_count, as->fixup_capacity);

        if (fixup == NULL)
            return asm_no_memory(as);
        *fixup = (struct fixup){ index, as->in_function ? (uint32_t)as->function_count : 0,
                                 as->line, p->target_quoted, p->target_name, p->target_addend };
    }
    if (p->reloc_name != NULL) {
        struct pending_reloc *reloc = ASM_PUSH(as->relocs, as->reloc_count, as->reloc_capacity);

        if (reloc == NULL)
            return asm_no_memory(as);
        reloc->reloc.insn = index;
        reloc->reloc.high = p->reloc_high;
        reloc->reloc.addend = p->reloc_addend;
        reloc->line = as->line;
        reloc->name = p->reloc_name;
    }
    return LW_OK;
}

enum lw_status asm_instruction(struct asm_state *as, struct cursor *c)
{
    struct parse p = { .as = as };
    unsigned guard = ISA_PT;
    bool guard_neg = false, guard_scalar = false;
    enum lw_status status;
    char *buffer, *control;

    if (cursor_take(c, "@")) {
        struct cursor probe = *c;

        guard_scalar = asm_take_predicate(&probe, "sp", true, &guard, &guard_neg);
        if (!guard_scalar) {
            probe = *c;
            if (!asm_take_predicate(&probe, "p", true, &guard, &guard_neg))
                return asm_fail(as, "expected a guard such as @p0, @!p0 or @sp0, found '@%.20s'",
                                c->p);
        }
        *c = probe;
        cursor_space(c);
    }
    status = parse_mnemonic(&p, c);
    if (status != LW_OK)
        return status;
    buffer = strdup(c->p);
    if (buffer == NULL)
        return asm_no_memory(as);
    control = find_control(buffer);
    if (control != NULL) {
        struct cursor at = { control + 1 };

        if (as->in_function)
            as->functions[as->function_count - 1].control_given = true;
        *control = '\0';
        status = parse_control(&p, &at);
        if (status == LW_OK)
            status = cursor_finish(as, &at);
    }
    if (status == LW_OK)
        status = split_operands(&p, buffer);
    if (status == LW_OK)
        status = parse_operands(&p);
    if (status == LW_OK) {
        p.insn.guard = (uint8_t)guard;
        p.insn.guard_neg = guard_neg;
        p.insn.guard_scalar = guard_scalar;
        status = append(&p);
    }
    free(buffer);
    return status;
}
