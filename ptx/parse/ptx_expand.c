/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of instructions into PTX text: the parts of a statement, and what all expansions share. */
#include <stdarg.h>
#include <stdio.h>

#include "ptx/parse/ptx_expand_priv.h"

void ptx_expand_fail(struct ptx_expansion *x, enum lw_status status, const char *fmt, ...)
{
    char text[LW_ERROR_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ptx_fail(x->parser->lex.job, x->line, status, "%s: %s", ptx_op_name(x->op), text);
}

void ptx_put(struct ptx_expansion *x, const char *fmt, ...)
{
    va_list args;
    int n;

    for (int pass = 0; pass < 2; pass++) {
        va_start(args, fmt);
        n = vsnprintf(x->text + x->size, x->capacity - x->size, fmt, args);
        va_end(args);
        if (x->size + (size_t)n < x->capacity)
            break;
        x->text = ptx_grow(x->parser->lex.job, x->text, &x->capacity, x->size + (size_t)n + 1, 1);
    }
    x->size += (size_t)n;
}

/* ---- modifiers ---------------------------------------------------------------------------- */

bool ptx_expand_take(struct ptx_expansion *x, const char *word)
{
    for (unsigned i = 0; i < x->modifier_count; i++) {
        if (!x->taken[i] && ptx_name_is(x->modifier[i], word)) {
            x->taken[i] = true;
            return true;
        }
    }
    return false;
}

int ptx_expand_take_one(struct ptx_expansion *x, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (ptx_expand_take(x, words[i]))
            return i;
    return -1;
}

struct ptx_name ptx_expand_take_next(struct ptx_expansion *x)
{
    for (unsigned i = 0; i < x->modifier_count; i++) {
        if (!x->taken[i]) {
            x->taken[i] = true;
            return x->modifier[i];
        }
    }
    return (struct ptx_name){ "", 0 };
}

void ptx_expand_leftovers(struct ptx_expansion *x)
{
    struct ptx_name word = ptx_expand_take_next(x);

    if (word.size != 0)
        ptx_expand_fail(x, LW_EUNSUPP, "the modifier '.%.*s' is not supported", PTX_NAME_ARG(word));
}

void ptx_expand_need(struct ptx_expansion *x, unsigned version, unsigned target)
{
    const struct ptx_dialect *have = &x->parser->module->dialects.at[x->parser->source];

    if (have->is_checked && !x->newer && (have->version < version || have->target < target))
        ptx_expand_fail(x, LW_EINPUT, "this form needs .version %u.%u and .target sm_%u or later", version / 10, version % 10,
                        target);
}

/* ---- operands ----------------------------------------------------------------------------- */

/* Skips one element of a list, up to a comma or a closing bracket, and returns its text without blanks at its ends. */
static struct ptx_name take_element(struct ptx_expansion *x)
{
    struct ptx_lexer *lex = &x->parser->lex;
    struct ptx_name out;
    unsigned depth = 0;
    char c;

    ptx_lex_space(lex);
    out.text = lex->p;
    out.size = 0;
    while ((c = ptx_lex_peek(lex)) != ';' && lex->p < lex->end) {
        if (depth == 0 && (c == ',' || c == ']' || c == '}'))
            break;
        depth += c == '(';
        depth -= c == ')' && depth != 0;
        lex->p++;
        out.size = (size_t)(lex->p - out.text);
    }
    if (out.size == 0)
        ptx_expand_fail(x, LW_EINPUT, "expected an operand");
    return out;
}

static void parse_elements(struct ptx_expansion *x, struct ptx_expand_operand *o)
{
    do {
        struct ptx_name part = take_element(x);

        if (o->count == PTX_EXPAND_PARTS)
            ptx_expand_fail(x, LW_EINPUT, "a list has more than %u operands", PTX_EXPAND_PARTS);
        o->part[o->count++] = part;
    } while (ptx_lex_accept(&x->parser->lex, ','));
    ptx_lex_expect(&x->parser->lex, '}', "after the list");
}

static void parse_operand(struct ptx_expansion *x, struct ptx_expand_operand *o)
{
    struct ptx_lexer *lex = &x->parser->lex;

    ptx_lex_space(lex);
    o->all.text = lex->p;
    if (ptx_lex_accept(lex, '[')) {
        o->bracket = '[';
        o->first = take_element(x);
        if (ptx_lex_accept(lex, ',')) {
            if (!ptx_lex_accept(lex, '{')) { /* one coordinate may have no braces */
                o->part[0] = take_element(x);
                o->count = 1;
            } else {
                parse_elements(x, o);
            }
        }
        ptx_lex_expect(lex, ']', "after the address");
    } else if (ptx_lex_accept(lex, '{')) {
        o->bracket = '{';
        parse_elements(x, o);
    } else {
        o->part[0] = o->first = take_element(x);
        o->count = 1;
    }
    o->all.size = (size_t)(lex->p - o->all.text);
}

void ptx_expand_operands(struct ptx_expansion *x, unsigned low, unsigned high)
{
    if (x->operand_count >= low && x->operand_count <= high)
        return;
    if (low == high)
        ptx_expand_fail(x, LW_EINPUT, "expected %u operands, found %u", low, x->operand_count);
    ptx_expand_fail(x, LW_EINPUT, "expected %u to %u operands, found %u", low, high, x->operand_count);
}

const struct ptx_expand_operand *ptx_expand_address(struct ptx_expansion *x, unsigned index)
{
    const struct ptx_expand_operand *o = &x->operand[index];

    if (o->bracket != '[' || o->count != 0)
        ptx_expand_fail(x, LW_EINPUT, "operand %u must be an address in brackets", index + 1);
    return o;
}

const struct ptx_expand_operand *ptx_expand_vector(struct ptx_expansion *x, unsigned index, unsigned count)
{
    const struct ptx_expand_operand *o = &x->operand[index];

    if (o->bracket == '[' || o->count != count)
        ptx_expand_fail(x, LW_EINPUT, "operand %u must have %u register%s", index + 1, count, count == 1 ? "" : "s in braces");
    return o;
}

void ptx_expand_put_address(struct ptx_expansion *x, const struct ptx_expand_operand *address, const char *name)
{
    struct ptx_parser *parser = x->parser;
    const char *plus = memchr(address->first.text, '+', address->first.size);
    struct ptx_name base = address->first;
    const uint32_t *known;
    bool narrow = false;

    if (plus != NULL)
        base.size = (size_t)(plus - base.text);
    while (base.size != 0 && (base.text[base.size - 1] == ' ' || base.text[base.size - 1] == '\t'))
        base.size--;
    known = ptx_scope_find(parser, base);
    if (known != NULL && (*known & 3) == PTX_NAME_REG)
        narrow = ptx_type_bytes((enum ptx_type)parser->function->regs.at[*known >> 2].type) == 4;
    const struct ptx_name offset = plus == NULL ? (struct ptx_name){ "0", 1 }
                                                : (struct ptx_name){ plus + 1, (size_t)(address->first.text +
                                                                                        address->first.size - plus - 1) };

    if (narrow) /* the sum has 32 bits, too */
        ptx_put(x, ".reg .b64 %s; .reg .b32 %s_low; add.s32 %s_low, " PTX_NAME_FMT ", " PTX_NAME_FMT "; cvt.u64.u32 %s, %s_low; ",
                name, name, name, PTX_NAME_ARG(base), PTX_NAME_ARG(offset), name, name);
    else
        ptx_put(x, ".reg .b64 %s; mov.b64 %s, " PTX_NAME_FMT "; add.s64 %s, %s, " PTX_NAME_FMT "; ", name, name,
                PTX_NAME_ARG(base), name, name, PTX_NAME_ARG(offset));
}

/* ---- statements --------------------------------------------------------------------------- */

static void read_statement(struct ptx_expansion *x)
{
    struct ptx_lexer *lex = &x->parser->lex;
    struct ptx_name word;

    while (ptx_lex_dotted(lex, &word)) {
        if (x->modifier_count == PTX_EXPAND_MODIFIERS)
            ptx_expand_fail(x, LW_EINPUT, "the instruction has too many modifiers");
        x->modifier[x->modifier_count++] = word;
    }
    if (ptx_lex_peek(lex) != ';') {
        do {
            if (x->operand_count == PTX_EXPAND_OPERANDS)
                ptx_expand_fail(x, LW_EINPUT, "the instruction has too many operands");
            parse_operand(x, &x->operand[x->operand_count++]);
        } while (ptx_lex_accept(lex, ','));
    }
    ptx_lex_expect(lex, ';', "after the instruction");
}

static void expand(struct ptx_expansion *x)
{
    read_statement(x);
    switch (x->op) {
    case PTX_SULD: ptx_expand_suld(x); break;
    case PTX_SUST: ptx_expand_sust(x); break;
    case PTX_SURED: ptx_expand_sured(x); break;
    case PTX_MBARRIER: ptx_expand_mbarrier(x); break;
    case PTX_CP:
        if (x->modifier_count > 1 && ptx_name_is(x->modifier[1], "bulk"))
            ptx_expand_copy_bulk(x);
        else
            ptx_expand_copy_arrive(x);
        break;
    case PTX_WMMA: ptx_expand_wmma(x); break;
    case PTX_MMA: ptx_expand_mma(x); break;
    case PTX_LDMATRIX: ptx_expand_ldmatrix(x); break;
    default: ptx_expand_query(x); break;
    }
    ptx_expand_leftovers(x);
}

/* Puts a branch around the block, if the statement has a guard. The guard's text is @p or @!p. */
static void put_guard(struct ptx_expansion *x, bool negated)
{
    struct ptx_lexer at = x->parser->lex;
    struct ptx_name guard = { "", 0 };

    at.p = x->parser->statement + 1;
    (void)ptx_lex_accept(&at, '!');
    (void)ptx_lex_identifier(&at, &guard);
    ptx_put(x, "@%s%.*s bra $lw_skip; ", negated ? "" : "!", PTX_NAME_ARG(guard));
}

bool ptx_expands(const struct ptx_parser *parser, enum ptx_op op)
{
    static const char *const copies[] = { ".async.mbarrier.", ".async.bulk." };
    const struct ptx_lexer *lex = &parser->lex;

    for (unsigned i = 0; i < LW_COUNT_OF(copies) && op == PTX_CP; i++)
        if ((size_t)(lex->end - lex->p) > strlen(copies[i]) && memcmp(lex->p, copies[i], strlen(copies[i])) == 0)
            return true;
    return ptx_op_expands(op);
}

void ptx_expand_statement(struct ptx_parser *parser, struct ptx_insn *insn)
{
    struct ptx_expansion x = { .parser = parser, .op = (enum ptx_op)insn->op, .line = insn->line, .newer = insn->newer };
    struct ptx_lexer *lex = &parser->lex, after;
    const bool guarded = insn->guard != PTX_NONE;

    ptx_put(&x, "{ ");
    if (guarded)
        put_guard(&x, insn->guard_neg);
    expand(&x);
    ptx_put(&x, guarded ? "$lw_skip: }" : "}");
    /* the instruction itself remains, without operands, before the block: selection checks its version */
    if (insn->op == PTX_CP) {
        insn->op = PTX_MBARRIER;
        insn->part_of = PTX_CP;
    }
    insn->guard = PTX_NONE;
    insn->guard_neg = false;
    *PTX_PUSH(lex->job, parser->function->insns) = *insn;
    if (x.is_empty)
        return;
    after = *lex;
    lex->p = x.text;
    lex->end = x.text + x.size;
    lex->line = insn->line;
    parser->expands = x.op;
    parser->text_end = after.end;
    parser->text_depth = parser->depth;
    /* the block begins with a brace, so the nesting at its end is the present one */
    ptx_parse_statements(parser, NULL, parser->depth);
    parser->expands = PTX_OP_NONE;
    *lex = after;
}
