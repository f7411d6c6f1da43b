/* SPDX-License-Identifier: Apache-2.0 */
/* Parses function bodies: scopes, registers, labels, statements, operands. */
#include <stdio.h>

#include "ptx/parse/ptx_expand_priv.h"

enum { MOST_NAMES = 4096 }; /* limit of the declared names that are compared with an undeclared one for "did you mean" */

static void parse_operand(struct ptx_parser *parser, struct ptx_operand *out, bool is_label);

static _Noreturn void expected(struct ptx_parser *parser, const char *what)
{
    char room[40];

    ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT, "expected %s, found %s", what,
             ptx_lex_here(&parser->lex, room, sizeof room));
}

/* ---- declarations -------------------------------------------------------------- */

/* Fails if the scope already declares a range of registers with the same prefix, or a register of the new range. */
static void refuse_doubles(struct ptx_parser *parser, struct ptx_name prefix, uint64_t count)
{
    enum { FEW = 1000 }; /* limit of the number of names that are compared with each range, which bounds the time */
    const struct ptx_scope *s = parser->scope;
    struct ptx_job *job = parser->lex.job;

    for (size_t i = 0; i < s->ranges.count && i < FEW; i++) {
        if (s->ranges.at[i].prefix_size == prefix.size &&
            memcmp(s->ranges.at[i].prefix, prefix.text, prefix.size) == 0)
            ptx_fail(job, parser->lex.line, LW_EINPUT, "'%.*s<...>' is declared twice",
                     (int)prefix.size, prefix.text);
    }
    for (size_t i = 0; i < s->names.capacity && s->names.count < FEW; i++) {
        const struct ptx_map_entry *e = &s->names.entry[i];
        uint64_t number = 0;
        size_t k = prefix.size;

        if (e->text == NULL || e->size <= k || e->size > k + 9 ||
            memcmp(e->text, prefix.text, k) != 0 || (e->text[k] == '0' && e->size != k + 1))
            continue;
        for (; k < e->size && e->text[k] >= '0' && e->text[k] <= '9'; k++)
            number = number * 10 + (uint64_t)(e->text[k] - '0');
        if (k == e->size && number < count)
            ptx_fail(job, parser->lex.line, LW_EINPUT, "'%.*s' is declared twice", (int)e->size,
                     e->text);
    }
}

static void parse_reg(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_name word = { "", 0 }, name;
    enum ptx_type type = PTX_T_NONE;
    unsigned elements = 0;

    while (type == PTX_T_NONE) {
        ptx_lex_space(lex);
        if (!ptx_lex_dotted(lex, &word))
            expected(parser, "a type after .reg");
        if (elements == 0 && (ptx_name_is(word, "v2") || ptx_name_is(word, "v4"))) {
            elements = (unsigned)(word.text[1] - '0');
        } else if (elements == 0 && ptx_name_is(word, "align")) { /* an alignment has no meaning for registers */
            (void)ptx_lex_integer(lex, "a number after .align");
        } else if ((type = ptx_type_find(word.text, word.size)) == PTX_T_NONE ||
                   ptx_is_cvt_type(type)) {
            ptx_fail(lex->job, lex->line, LW_EUNSUPP, "registers of type '.%.*s' are not supported",
                     (int)word.size, word.text);
        }
    }
    if (elements != 0 && (type == PTX_T_PRED || elements * ptx_type_bytes(type) > 16))
        ptx_fail(lex->job, lex->line, LW_EINPUT,
                 "a vector of %u .%s is not possible: vectors have at most 128 bits, and no predicates",
                 elements, ptx_type_name(type));
    do {
        if (!ptx_lex_identifier(lex, &name))
            expected(parser, "the name of a register");
        if (ptx_lex_accept(lex, '<')) {
            uint64_t count = ptx_lex_integer(lex, "a number of registers");

            if (count > UINT32_MAX / 16)
                ptx_fail(lex->job, lex->line, LW_EINPUT, ".reg declares %lld registers: expected 0 to %u",
                         (long long)count, UINT32_MAX / 16);
            ptx_lex_expect(lex, '>', "after the number of registers");
            refuse_doubles(parser, name, count);
            *PTX_PUSH(lex->job, parser->scope->ranges) = (struct ptx_range){
                name.text, (uint32_t)name.size, (uint32_t)count, (uint8_t)type, (uint8_t)elements
            };
            continue;
        }
        if (ptx_scope_holds(parser, name))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "'%.*s' is declared twice", (int)name.size,
                     name.text);
        ptx_reg_declare(parser, parser->scope, name, type, elements);
    } while (ptx_lex_accept(lex, ','));
}

static void skip_statement(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;

    for (char c; (c = ptx_lex_peek(lex)) != ';'; lex->p++) {
        if (lex->p >= lex->end)
            expected(parser, "';'");
    }
    lex->p++;
}

/* Parses .branchtargets a, b, ...; its label precedes the directive. */
static void parse_targets(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_targets *t = PTX_PUSH(lex->job, parser->targets);
    size_t labels = parser->function->labels.count;

    if (labels == 0 || parser->function->labels.at[labels - 1] != parser->function->insns.count)
        ptx_fail(lex->job, lex->line, LW_EINPUT, ".branchtargets needs a label before it");
    *t = (struct ptx_targets){ .label = (uint32_t)(labels - 1) };
    do {
        struct ptx_name *name = PTX_PUSH(lex->job, t->names);

        if (!ptx_lex_identifier(lex, name))
            expected(parser, "a label");
        if (t->names.count == UINT16_MAX)
            ptx_fail(lex->job, lex->line, LW_EUNSUPP, "more than %u branch targets are not supported", UINT16_MAX - 1);
    } while (ptx_lex_accept(lex, ','));
}

/* Finds a label that was declared earlier in this scope or in an enclosing scope. */
static const uint32_t *known_label(const struct ptx_parser *parser, struct ptx_name name)
{
    for (const struct ptx_scope *s = parser->scope; s != NULL; s = s->parent) {
        const uint32_t *label = ptx_map_find(&s->labels, name.text, name.size);

        if (label != NULL)
            return label;
    }
    return NULL;
}

/* Parses the label of a .callprototype or .calltargets after a call's arguments. Returns false, and parses nothing, if no
 * such label follows. */
static bool parse_prototype(struct ptx_parser *parser, struct ptx_operand *out)
{
    struct ptx_lexer *lex = &parser->lex, old = *lex;
    const uint32_t *label;
    struct ptx_name name;

    if (ptx_lex_identifier(lex, &name) && (label = known_label(parser, name)) != NULL) {
        *out = (struct ptx_operand){ .kind = PTX_O_LABEL, .reg = *label, .symbol = PTX_NONE };
        return true;
    }
    *lex = old;
    return false;
}

/* Parses the operand of brx.idx that names a .branchtargets. The operand becomes a list of the labels of that directive. */
static void parse_branch_table(struct ptx_parser *parser, struct ptx_operand *out, uint32_t insn,
                               uint32_t operand)
{
    struct ptx_lexer *lex = &parser->lex;
    const struct ptx_targets *t = NULL;
    const uint32_t *label;
    struct ptx_name name;

    *out = (struct ptx_operand){ .kind = PTX_O_LIST, .symbol = PTX_NONE, .reg = PTX_NONE };
    if (!ptx_lex_identifier(lex, &name))
        expected(parser, "the label of a .branchtargets");
    label = known_label(parser, name);
    for (size_t i = parser->targets.count; label != NULL && i-- > 0 && t == NULL;) {
        if (parser->targets.at[i].label == *label)
            t = &parser->targets.at[i];
    }
    if (t == NULL)
        ptx_fail(lex->job, lex->line, LW_EINPUT, "'%.*s' is not a .branchtargets above",
                 (int)name.size, name.text);
    out->count = (uint16_t)t->names.count;
    out->element = PTX_ARRAY(lex->job, struct ptx_operand, t->names.count);
    for (uint32_t i = 0; i < t->names.count; i++) {
        out->element[i] = (struct ptx_operand){ .kind = PTX_O_LABEL, .symbol = PTX_NONE };
        *PTX_PUSH(lex->job, parser->scope->uses) =
            (struct ptx_label_use){ t->names.at[i], insn, operand, lex->line, i + 1 };
    }
}

/* Parses a pragma with which our OpenCL barrier() and atomics describe the next instruction. Other pragmas are
 * ignored. */
static void parse_pragma(struct ptx_parser *parser)
{
    struct ptx_name text;

    if (!ptx_lex_string(&parser->lex, &text))
        return;
    parser->newer = ptx_name_is(text, "lanewise.newer");
    parser->orders = ptx_name_is(text, "lanewise.barrier.shared")   ? ISA_BMEM_SHARED
                     : ptx_name_is(text, "lanewise.barrier.global") ? ISA_BMEM_GLOBAL
                     : ptx_name_is(text, "lanewise.barrier.none")   ? ISA_BMEM_NONE
                                                                    : ISA_BMEM_ALL;
}

/* Parses a directive inside a body. */
static void parse_local_directive(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_name word;

    if (!ptx_lex_dotted(lex, &word))
        expected(parser, "a directive");
    if (ptx_name_is(word, "loc")) {
        ptx_parse_loc(parser);
        return;
    }
    if (ptx_name_is(word, "file")) {
        ptx_parse_file(parser);
        return;
    }
    if (ptx_name_is(word, "section")) {
        ptx_parse_section(parser);
        return;
    }
    if (ptx_name_is(word, "reg")) {
        parse_reg(parser);
    } else if (ptx_name_is(word, "shared") || ptx_name_is(word, "local") ||
               ptx_name_is(word, "global") || ptx_name_is(word, "const") ||
               ptx_name_is(word, "param")) {
        enum ptx_space space = word.text[0] == 's'   ? PTX_SP_SHARED
                               : word.text[0] == 'l' ? PTX_SP_LOCAL
                               : word.text[0] == 'g' ? PTX_SP_GLOBAL
                               : word.text[0] == 'c' ? PTX_SP_CONST
                                                     : PTX_SP_PARAM;

        (void)ptx_parse_variable(parser, space, false);
    } else if (ptx_name_is(word, "extern")) {
        ptx_lex_space(lex);
        if (!ptx_lex_dotted(lex, &word) || !ptx_name_is(word, "shared"))
            expected(parser, "'.shared' after .extern");
        (void)ptx_parse_variable(parser, PTX_SP_SHARED, true);
    } else if (ptx_name_is(word, "pragma")) {
        parse_pragma(parser);
    } else if (ptx_name_is(word, "callprototype") || ptx_name_is(word, "calltargets")) {
        skip_statement(parser); /* The statement is skipped, because the arguments of the call contain the same information. */
        return;
    } else if (ptx_name_is(word, "branchtargets")) {
        parse_targets(parser);
    } else {
        ptx_fail(lex->job, lex->line, LW_EUNSUPP, "the directive '.%.*s' is not supported",
                 (int)word.size, word.text);
    }
    ptx_lex_expect(lex, ';', "after the declaration");
}

/* ---- operands --------------------------------------------------------------------- */

static void parse_list(struct ptx_parser *parser, struct ptx_operand *out, char end)
{
    struct ptx_lexer *lex = &parser->lex;
    PTX_LIST(struct ptx_operand) list = { 0 };

    if (!ptx_lex_accept(lex, end)) {
        do {
            struct ptx_operand one;

            parse_operand(parser, &one, false);
            if (one.kind == PTX_O_VECTOR || one.kind == PTX_O_LIST || one.kind == PTX_O_ADDRESS)
                ptx_fail(lex->job, lex->line, LW_EINPUT, "a vector can contain only registers and numbers");
            *PTX_PUSH(lex->job, list) = one;
        } while (ptx_lex_accept(lex, ','));
        ptx_lex_expect(lex, end, "after the list");
    }
    if (list.count > 64)
        ptx_fail(lex->job, lex->line, LW_EUNSUPP, "a list of %zu operands is not supported: a list has at most 64",
                 list.count);
    out->element = list.at;
    out->count = (uint16_t)list.count;
}

/* Parses %tid, %ntid, %ctaid or %nctaid as {x, y, z, 0}, for mov.v4. */
static bool parse_special_vector(struct ptx_parser *parser, struct ptx_operand *out,
                                 struct ptx_name name)
{
    char part[40];

    if (name.size > 8)
        return false;
    out->element = PTX_ARRAY(parser->lex.job, struct ptx_operand, 4);
    for (unsigned i = 0; i < 4; i++) {
        int sr = 0, size = snprintf(part, sizeof part, "%.*s.%c", (int)name.size - 1, name.text + 1,
                                    "xyz"[i % 3]);

        if (i < 3 && (sr = ptx_special_find(part, (size_t)size)) < 0)
            return false;
        out->element[i] = (struct ptx_operand){ .kind = i < 3 ? PTX_O_SPECIAL : PTX_O_IMM,
                                                .reg = i < 3 ? (uint32_t)sr : PTX_NONE,
                                                .symbol = PTX_NONE };
    }
    out->kind = PTX_O_VECTOR;
    out->count = 4;
    out->reg = out->element[0].reg; /* marks the vector as special registers; in all other vectors `reg` is PTX_NONE */
    return true;
}

/* Parses %tid.w etc., which are 0. */
static bool parse_special_w(struct ptx_operand *out, struct ptx_name name)
{
    char x[16];

    if (name.size > sizeof x || name.size < 6 ||
        memcmp(name.text + name.size - 2, ".w", 2) != 0)
        return false;
    memcpy(x, name.text + 1, name.size - 1);
    x[name.size - 2] = 'x';
    if (ptx_special_find(x, name.size - 1) < 0)
        return false;
    *out = (struct ptx_operand){ .kind = PTX_O_IMM, .reg = PTX_NONE, .symbol = PTX_NONE };
    return true;
}

/* A GPU reserves the start of shared memory for the runtime; %reserved_smem_offset_begin etc. are its addresses. CUDA's
 * cooperative groups store the barriers of their large tiles there. Lanewise allocates this memory as a shared variable
 * in kernels that refer to it. */
enum { RESERVED_BYTES = 1024 };

static void need_dialect(struct ptx_parser *parser, const char *name, unsigned version,
                         unsigned target)
{
    const struct ptx_dialect *d = &parser->module->dialects.at[parser->source];

    if (d->is_checked && (d->version < version || d->target < target))
        ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                 "%s needs .version %u.%u and .target sm_%u or later", name, version / 10,
                 version % 10, target);
}

static bool parse_reserved(struct ptx_parser *parser, struct ptx_operand *out, struct ptx_name name)
{
    static const struct {
        const char *name;
        uint16_t offset;
        bool size;
    } parts[] = {
        { "%reserved_smem_offset_begin", 0, false }, { "%reserved_smem_offset_0", 0, false },
        { "%reserved_smem_offset_1", RESERVED_BYTES / 2, false },
        { "%reserved_smem_offset_end", RESERVED_BYTES, false },
        { "%reserved_smem_offset_cap", RESERVED_BYTES, true },
    };
    struct ptx_module *module = parser->module;
    struct ptx_job *job = parser->lex.job;
    unsigned i = 0;

    while (i < LW_COUNT_OF(parts) && !ptx_name_is(name, parts[i].name))
        i++;
    if (i == LW_COUNT_OF(parts))
        return false;
    need_dialect(parser, parts[i].name, 76, 80);
    if (module->reserved_shared == 0) {
        *PTX_PUSH(job, module->symbols) = (struct ptx_symbol){
            .name = "__reserved_smem", .kind = PTX_SYM_VARIABLE, .space = PTX_SP_SHARED,
            .type = PTX_T_B8, .align = 128, .line = parser->lex.line, .source = parser->source,
            .size_bytes = RESERVED_BYTES
        };
        module->reserved_shared = (uint32_t)module->symbols.count;
    }
    out->kind = parts[i].size ? PTX_O_IMM : PTX_O_SYMBOL;
    out->symbol = parts[i].size ? PTX_NONE : module->reserved_shared - 1;
    out->imm = parts[i].offset;
    return true;
}

/* %envreg1 and %envreg2 are the upper and the lower word of the address of global memory in which CUDA's cooperative groups
 * store the barrier of a grid. Lanewise allocates this memory as a global variable in modules that refer to it. The variable is 0 at
 * first, and CUDA's barrier restores it. */
static bool parse_grid_workspace(struct ptx_parser *parser, struct ptx_operand *out, struct ptx_name name)
{
    struct ptx_module *module = parser->module;
    const bool high = ptx_name_is(name, "%envreg1");

    if (!high && !ptx_name_is(name, "%envreg2"))
        return false;
    if (module->grid_workspace == 0) {
        *PTX_PUSH(parser->lex.job, module->symbols) = (struct ptx_symbol){
            .name = "__grid_workspace", .kind = PTX_SYM_VARIABLE, .space = PTX_SP_GLOBAL,
            .type = PTX_T_B8, .align = 128, .line = parser->lex.line, .source = parser->source,
            .size_bytes = 128
        };
        module->grid_workspace = (uint32_t)module->symbols.count;
    }
    out->kind = PTX_O_SYMBOL;
    out->symbol = module->grid_workspace - 1;
    out->count = high ? 2 : 1;
    return true;
}

/* Returns true for special registers of PTX that our ISA does not have. */
static bool is_special_elsewhere(const char *text)
{
    static const char *const families[] = { "%cluster", "%ncluster", "%is_explicit_cluster", "%envreg",
                                            "%pm", "%current_graph_exec" };

    for (unsigned i = 0; i < LW_COUNT_OF(families); i++)
        if (strncmp(text, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

static _Noreturn void not_declared(struct ptx_parser *parser, struct ptx_name name)
{
    struct ptx_lexer *lex = &parser->lex;
    PTX_LIST(const char *) names = { 0 };
    const char *near, *text = ptx_text(parser, name);
    char advice[200];

    for (const struct ptx_scope *scope = parser->scope; scope != NULL; scope = scope->parent) {
        for (size_t i = 0; i < scope->names.capacity && names.count < MOST_NAMES; i++) {
            const struct ptx_map_entry *e = &scope->names.entry[i];

            if (e->text != NULL)
                *PTX_PUSH(lex->job, names) =
                    ptx_text(parser, (struct ptx_name){ e->text, e->size });
        }
    }
    near = names.count != 0 ? lw_suggest(text, names.at, names.count, sizeof *names.at) : NULL;
    if (near != NULL)
        snprintf(advice, sizeof advice, " (did you mean %.150s?)", near);
    else
        snprintf(advice, sizeof advice, "%s", *text == '%' ? "" : ": declare it before it is used");
    if (*text == '%')
        ptx_fail(lex->job, lex->line, is_special_elsewhere(text) ? LW_EUNSUPP : LW_EINPUT,
                 "'%s' is neither a declared register nor a supported special register%s", text, advice);
    if (known_label(parser, name) != NULL)
        ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s' is a label, which only branches can use", text);
    ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s' is not declared%s", text, advice);
}

/* Parses the name of a vector, such as v (all its registers) or v.x (one register). */
static void parse_vector_name(struct ptx_parser *parser, struct ptx_operand *out, uint32_t first)
{
    static const char letters[] = "xyzwrgba";
    struct ptx_lexer *lex = &parser->lex;
    const struct ptx_reg *reg = &parser->function->regs.at[first];
    unsigned n = reg->elements;
    struct ptx_name part;

    if (lex->p < lex->end && *lex->p == '.' && ptx_lex_dotted(lex, &part)) {
        const char *letter = part.size == 1 ? strchr(letters, part.text[0]) : NULL;

        if (letter == NULL || (letter - letters) % 4 >= n)
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "the vector '%.*s' has %u elements but no '.%.*s': elements are .x .y .z .w, or .r .g .b .a",
                     (int)strlen(reg->name) - 2, reg->name, n, (int)part.size,
                     part.text);
        out->kind = PTX_O_REG;
        out->reg = first + (uint32_t)((letter - letters) % 4);
        return;
    }
    out->kind = PTX_O_VECTOR;
    out->count = (uint16_t)n;
    out->element = PTX_ARRAY(lex->job, struct ptx_operand, n);
    for (unsigned i = 0; i < n; i++)
        out->element[i] = (struct ptx_operand){ .kind = PTX_O_REG, .reg = first + i,
                                                .symbol = PTX_NONE };
}

static void parse_named(struct ptx_parser *parser, struct ptx_operand *out, struct ptx_name name)
{
    struct ptx_lexer *lex = &parser->lex;
    const uint32_t *known;

    if (name.size == 1 && name.text[0] == '_') {
        out->kind = PTX_O_SINK;
        return;
    }
    known = ptx_scope_find(parser, name);
    if (known != NULL && (*known & 3) == PTX_NAME_REG) {
        out->kind = PTX_O_REG;
        out->reg = *known >> 2;
        return;
    }
    if (known != NULL && (*known & 3) == PTX_NAME_VECTOR) {
        parse_vector_name(parser, out, *known >> 2);
        return;
    }
    if (known != NULL) {
        out->kind = PTX_O_SYMBOL;
        out->symbol = *known >> 2;
        return;
    }
    if (name.text[0] == '%') {
        struct ptx_name part;
        int sr;

        if (lex->p < lex->end && *lex->p == '.' && ptx_lex_dotted(lex, &part))
            name.size = (size_t)(part.text + part.size - name.text);
        sr = ptx_special_find(name.text + 1, name.size - 1);
        if (ptx_name_is(name, "%aggr_smem_size"))
            need_dialect(parser, "%aggr_smem_size", 81, 90);
        if (sr >= 0) {
            out->kind = PTX_O_SPECIAL;
            out->reg = (uint32_t)sr;
            /* a name that ends in _hi is the upper word of a 64-bit special register */
            out->imm = name.size > 4 && memcmp(name.text + name.size - 3, "_hi", 3) == 0;
            return;
        }
        if (parse_special_w(out, name) || parse_special_vector(parser, out, name) || parse_reserved(parser, out, name) ||
            parse_grid_workspace(parser, out, name))
            return;
        not_declared(parser, name);
    }
    not_declared(parser, name);
}

static void parse_address(struct ptx_parser *parser, struct ptx_operand *out)
{
    struct ptx_lexer *lex = &parser->lex;
    enum ptx_literal literal;
    struct ptx_name name;

    out->kind = PTX_O_ADDRESS;
    out->reg = out->symbol = PTX_NONE;
    if (ptx_lex_identifier(lex, &name)) {
        struct ptx_operand base = { .symbol = PTX_NONE };

        parse_named(parser, &base, name);
        if (base.kind == PTX_O_REG)
            out->reg = base.reg;
        else if (base.kind == PTX_O_SYMBOL && base.count == 0)
            out->symbol = base.symbol;
        else
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "an address starts with a register or a variable");
        if (ptx_lex_peek(lex) == '-')
            expected(parser, "']' or an offset such as '+4' or '+-4'");
        if (ptx_lex_accept(lex, '+')) {
            if (!ptx_lex_constant(lex, &out->imm, &literal) || literal != PTX_LIT_INT)
                expected(parser, "an offset in the address");
        }
    } else if (!ptx_lex_constant(lex, &out->imm, &literal) || literal != PTX_LIT_INT) {
        expected(parser, "an address");
    }
    ptx_lex_expect(lex, ']', "after the address");
}

/* Returns true if a '!' follows that negates a predicate, not a constant expression. */
static bool negates_name(struct ptx_lexer *lex)
{
    struct ptx_lexer ahead = *lex;
    struct ptx_name name;

    return ptx_lex_accept(&ahead, '!') && ptx_lex_identifier(&ahead, &name);
}

static void parse_operand(struct ptx_parser *parser, struct ptx_operand *out, bool is_label)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_name name;
    enum ptx_literal literal;

    *out = (struct ptx_operand){ .symbol = PTX_NONE, .reg = PTX_NONE };
    if (is_label) {
        if (!ptx_lex_identifier(lex, &name))
            expected(parser, "a label");
        out->kind = PTX_O_LABEL;
        return;
    }
retry:
    lex->takes_warp_size = true;
    lex->had_warp_size = false;
    if (!negates_name(lex) && ptx_lex_constant(lex, &out->imm, &literal)) {
        out->kind = PTX_O_IMM;
        out->literal = (uint8_t)(lex->had_warp_size ? PTX_LIT_WARP_SIZE : literal);
        lex->takes_warp_size = false;
        return;
    }
    lex->takes_warp_size = false;
    if (ptx_lex_accept(lex, '[')) {
        parse_address(parser, out);
    } else if (ptx_lex_accept(lex, '{')) {
        out->kind = PTX_O_VECTOR;
        /* vectors are not nested: parse_list() refuses them */
        if (ptx_lex_peek(lex) == '{')
            expected(parser, "a register");
        parse_list(parser, out, '}');
    } else if (ptx_lex_accept(lex, '!')) {
        if (!ptx_lex_identifier(lex, &name))
            expected(parser, "a predicate after '!'");
        parse_named(parser, out, name);
        if (out->kind != PTX_O_REG)
            ptx_fail(lex->job, lex->line, LW_EINPUT, "'!' is allowed only before a predicate");
        out->negated = true;
    } else if (ptx_lex_identifier(lex, &name)) {
        /* clang writes debug labels inside calls: `call (r), \n$L__tmp1:\n f, (a);` */
        if (ptx_lex_accept(lex, ':'))
            goto retry;
        parse_named(parser, out, name);
        if (ptx_lex_peek(lex) == '|') {
            struct ptx_operand *pair = PTX_ARRAY(lex->job, struct ptx_operand, 2);

            lex->p++;
            pair[0] = *out;
            pair[1] = (struct ptx_operand){ .symbol = PTX_NONE, .reg = PTX_NONE };
            if (!ptx_lex_identifier(lex, &name))
                expected(parser, "a second destination after '|'");
            parse_named(parser, &pair[1], name);
            *out = (struct ptx_operand){ .kind = PTX_O_PAIR, .count = 2, .element = pair,
                                         .symbol = PTX_NONE, .reg = PTX_NONE };
        } else if (out->kind == PTX_O_SYMBOL && out->count == 0) {
            if (ptx_lex_accept(lex, '+'))
                out->imm = ptx_lex_integer(lex, "an offset after the name");
        }
    } else {
        expected(parser, "an operand");
    }
}

/* ---- statements ----------------------------------------------------------------------- */

static void parse_modifiers(struct ptx_parser *parser, struct ptx_insn *insn)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_name word;

    while (ptx_lex_dotted(lex, &word)) {
        enum ptx_type type = ptx_type_find(word.text, word.size);
        const uint32_t *known;

        if (type != PTX_T_NONE) {
            if (insn->type_count == LW_COUNT_OF(insn->type))
                insn->unknown = ptx_text(parser, word);
            else
                insn->type[insn->type_count++] = (uint8_t)type;
            continue;
        }
        known = ptx_map_find(&parser->words, word.text, word.size);
        if (known == NULL) {
            insn->unknown = ptx_text(parser, word);
            continue;
        }
        if (ptx_has(insn, (enum ptx_word)*known))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s': modifier '.%.*s' is given twice",
                     ptx_op_name((enum ptx_op)insn->op), (int)word.size, word.text);
        insn->words[*known / 64] |= UINT64_C(1) << (*known % 64);
    }
}

_Noreturn static void unknown_insn(struct ptx_job *job, struct ptx_name name, unsigned line)
{
    const char *names[PTX_OP_COUNT], *near;
    char text[40];

    for (unsigned i = 1; i < PTX_OP_COUNT; i++)
        names[i] = ptx_op_name((enum ptx_op)i);
    snprintf(text, sizeof text, "%.*s", (int)name.size, name.text);
    near = lw_suggest(text, names + 1, PTX_OP_COUNT - 1, sizeof names[0]);
    if (near != NULL)
        ptx_fail(job, line, LW_EINPUT, "unknown instruction '%.*s' (did you mean %s?)",
                 (int)name.size, name.text, near);
    ptx_fail(job, line, LW_EINPUT,
             "unknown instruction '%.*s': docs/reference/ptx-support.md lists the supported instructions",
             (int)name.size,
             name.text);
}

static void parse_insn(struct ptx_parser *parser, struct ptx_name name, uint32_t guard,
                       bool guard_neg, unsigned line)
{
    struct ptx_lexer *lex = &parser->lex;
    const uint32_t *op = ptx_map_find(&parser->ops, name.text, name.size);
    PTX_LIST(struct ptx_operand) list = { 0 };
    struct ptx_operand few[6];

    if (op == NULL)
        unknown_insn(lex->job, name, line);
    struct ptx_insn insn = { .op = (uint8_t)*op, .guard = guard, .guard_neg = guard_neg,
                             .orders = parser->orders, .newer = parser->newer || parser->expands != 0,
                             .no_line = parser->no_line, .part_of = (uint8_t)parser->expands, .line = line, .loc = parser->loc };

    parser->orders = 0;
    parser->newer = false;
    parser->op = (enum ptx_op)insn.op;
    if (ptx_expands(parser, parser->op)) {
        ptx_expand_statement(parser, &insn);
        return;
    }
    parse_modifiers(parser, &insn);
    parser->unknown = insn.unknown;
    uint32_t index = (uint32_t)parser->function->insns.count;

    if (!ptx_op_supported((enum ptx_op)*op)) {
        skip_statement(parser);
        *PTX_PUSH(lex->job, parser->function->insns) = insn;
        return;
    }
    bool branch = insn.op == PTX_BRA;

    list.at = few;
    list.capacity = LW_COUNT_OF(few);
    if (ptx_lex_peek(lex) != ';') {
        do {
            struct ptx_operand *one = PTX_PUSH(lex->job, list);

            if (branch) {
                struct ptx_name label;
                const char *at;

                ptx_lex_space(lex);
                at = lex->p;
                parse_operand(parser, one, true);
                label = (struct ptx_name){ at, (size_t)(lex->p - at) };
                *PTX_PUSH(lex->job, parser->scope->uses) =
                    (struct ptx_label_use){ label, index, (uint32_t)(list.count - 1), lex->line,
                                            0 };
            } else if (insn.op == PTX_TEX && list.count == 2 && ptx_lex_accept(lex, '[')) {
                /* parses [texture, {x}] or [texture, sampler, {x}], whose parts are separate operands */
                parse_operand(parser, one, false);
                while (ptx_lex_accept(lex, ','))
                    parse_operand(parser, PTX_PUSH(lex->job, list), false);
                ptx_lex_expect(lex, ']', "after the coordinates");
            } else if (insn.op == PTX_BRX && list.count == 2) {
                parse_branch_table(parser, one, index, 1);
            } else if (insn.op == PTX_CALL && list.count > 1 && parse_prototype(parser, one)) {
                continue;
            } else if (insn.op == PTX_CALL && ptx_lex_accept(lex, '(')) {
                one->kind = PTX_O_LIST;
                one->symbol = one->reg = PTX_NONE;
                parse_list(parser, one, ')');
            } else {
                parse_operand(parser, one, false);
            }
        } while (ptx_lex_accept(lex, ','));
    }
    ptx_lex_expect(lex, ';', "after the instruction");
    if (list.count > 16)
        ptx_fail(lex->job, line, LW_EINPUT, "'%s' has %zu operands: no instruction has more than 16", ptx_op_name(*op),
                 list.count);
    insn.operand_count = (uint8_t)list.count;
    if (list.at == few) {
        insn.operand = PTX_ARRAY(lex->job, struct ptx_operand, list.count);
        memcpy(insn.operand, few, list.count * sizeof *few);
    } else {
        insn.operand = list.at;
    }
    *PTX_PUSH(lex->job, parser->function->insns) = insn;
}

_Noreturn static void undefined_label(struct ptx_parser *parser, const struct ptx_label_use *use)
{
    const struct ptx_function *fn = parser->function;
    const char *near = NULL;
    char text[PTX_NAME_BYTES + 1];

    snprintf(text, sizeof text, "%.*s", (int)use->name.size, use->name.text);
    if (fn->label_names.count != 0)
        near = lw_suggest(text, fn->label_names.at, fn->label_names.count,
                          sizeof fn->label_names.at[0]);
    if (near != NULL && strcmp(near, text) != 0)
        ptx_fail(parser->lex.job, use->line, LW_EINPUT,
                 "the label '%s' is not defined (did you mean %s?)", text, near);
    ptx_fail(parser->lex.job, use->line, LW_EINPUT,
             "the label '%s' is not defined: write '%s:' before the target of the branch", text,
             text);
}

/* Resolves uses of labels at the end of a scope, because labels are local to their braces and may be used before they
 * are declared. */
static void close_scope(struct ptx_parser *parser)
{
    struct ptx_scope *scope = parser->scope;
    bool outermost = scope->parent == NULL || scope->parent->parent == NULL;

    for (size_t i = 0; i < scope->uses.count; i++) {
        const struct ptx_label_use *use = &scope->uses.at[i];
        const uint32_t *label = ptx_map_find(&scope->labels, use->name.text, use->name.size);

        if (label != NULL) {
            struct ptx_operand *o = &parser->function->insns.at[use->insn].operand[use->operand];

            (use->element != 0 ? &o->element[use->element - 1] : o)->reg = *label;
        } else if (outermost) {
            undefined_label(parser, use);
        } else {
            *PTX_PUSH(parser->lex.job, scope->parent->uses) = *use;
        }
    }
}

/* Returns true for clang's debug labels, $L__tmpN or LtmpN: no branch targets them. */
static bool is_debug_label(struct ptx_name name)
{
    const size_t head = name.size > 7 && memcmp(name.text, "$L__tmp", 7) == 0 ? 7
                        : name.size > 4 && memcmp(name.text, "Ltmp", 4) == 0  ? 4
                                                                              : name.size;

    for (size_t i = head; i < name.size; i++)
        if (name.text[i] < '0' || name.text[i] > '9')
            return false;
    return head < name.size;
}

static void define_label(struct ptx_parser *parser, struct ptx_name name)
{
    struct ptx_job *job = parser->lex.job;

    if (ptx_map_find(&parser->scope->labels, name.text, name.size) != NULL)
        ptx_fail(job, parser->lex.line, LW_EINPUT, "the label '%.*s' is defined twice",
                 (int)name.size, name.text);
    ptx_map_put(job, &parser->scope->labels, name.text, name.size,
                (uint32_t)parser->function->labels.count);
    *PTX_PUSH(job, parser->function->labels) = (uint32_t)parser->function->insns.count;
    *PTX_PUSH(job, parser->function->label_names) = ptx_text(parser, name);
    *PTX_PUSH(job, parser->function->label_lines) = parser->lex.line;
    if (is_debug_label(name))
        return;
    parser->function->joins_at = (uint32_t)parser->function->insns.count + 1;
    if (parser->no_line)
        parser->loc = PTX_NEXT_LOC;
}

void ptx_parse_statements(struct ptx_parser *parser, const struct ptx_scope *function_scope, unsigned outer_depth)
{
    struct ptx_lexer *lex = &parser->lex;

    do {
        char c = ptx_lex_peek(lex);
        unsigned line = lex->line;
        struct ptx_name name;

        if (parser->expands == PTX_OP_NONE) {
            parser->statement = lex->p;
            parser->statement_line = line;
        }
        parser->unknown = NULL;
        if (c == '}') {
            lex->p++;
            parser->depth--;
            close_scope(parser);
            if (parser->scope != function_scope)
                parser->scope = parser->scope->parent;
        } else if (c == '{') {
            struct ptx_scope *inner = PTX_NEW(lex->job, struct ptx_scope);

            lex->p++;
            inner->parent = parser->scope;
            parser->scope = inner;
            parser->depth++;
        } else if (c == ';') {
            lex->p++;
        } else if (c == '.') {
            parse_local_directive(parser);
        } else if (c == '@') {
            struct ptx_operand guard;
            bool neg;

            lex->p++;
            neg = ptx_lex_accept(lex, '!');
            if (!ptx_lex_identifier(lex, &name))
                expected(parser, "a predicate after '@'");
            guard = (struct ptx_operand){ .symbol = PTX_NONE };
            parse_named(parser, &guard, name);
            if (guard.kind != PTX_O_REG ||
                parser->function->regs.at[guard.reg].type != PTX_T_PRED)
                ptx_fail(lex->job, line, LW_EINPUT, "the guard '%.*s' is not a predicate",
                         (int)name.size, name.text);
            if (!ptx_lex_identifier(lex, &name))
                expected(parser, "an instruction after the guard");
            parse_insn(parser, name, guard.reg, neg, line);
        } else if (ptx_lex_identifier(lex, &name)) {
            const char *after = lex->p;
            unsigned after_line = lex->line;

            if (ptx_lex_accept(lex, ':')) {
                define_label(parser, name);
            } else {
                lex->p = after;
                lex->line = after_line;
                parse_insn(parser, name, PTX_NONE, false, line);
            }
        } else if (lex->p >= lex->end) {
            ptx_fail(lex->job, parser->function->line, LW_EINPUT,
                     "the body of '%s' is not closed with '}'", parser->function->name);
        } else {
            expected(parser, "a statement");
        }
    } while (parser->depth != outer_depth);
}

/* Skips the rest of a body with an unsupported construct. Other statements of the body may depend on the unsupported
 * construct. So only the parts that other functions need are parsed: .file directives, and labels, to which debug
 * information refers. */
static void pass_body(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_name name;

    lex->p = parser->statement;
    lex->line = parser->statement_line;
    lex->takes_warp_size = false;
    while (parser->depth != 0) {
        char c = ptx_lex_peek(lex);

        if (lex->p >= lex->end)
            ptx_fail(lex->job, parser->function->line, LW_EINPUT,
                     "the body of '%s' is not closed with '}'", parser->function->name);
        if (ptx_lex_identifier(lex, &name)) {
            if (ptx_lex_accept(lex, ':') &&
                ptx_map_find(&parser->scope->labels, name.text, name.size) == NULL)
                define_label(parser, name);
        } else if (c == '"') {
            (void)ptx_lex_string(lex, &name);
        } else if (c == '.' && ptx_lex_dotted(lex, &name)) {
            if (ptx_name_is(name, "file"))
                ptx_parse_file(parser);
        } else {
            lex->p++;
            parser->depth += c == '{';
            parser->depth -= c == '}';
        }
    }
}

void ptx_parse_body(struct ptx_parser *parser)
{
    struct ptx_job *job = parser->lex.job;
    jmp_buf *outer = job->stop, stop;
    struct ptx_scope *scope = parser->scope;

    parser->depth = 1;
    job->stop = &stop;
    parser->lex.notes = &parser->function->notes;
    if (setjmp(stop) == 0) {
        ptx_parse_statements(parser, scope, 0);
        parser->lex.notes = NULL;
        job->stop = outer;
        return;
    }
    parser->lex.notes = NULL;
    if (parser->expands != PTX_OP_NONE) {
        parser->expands = PTX_OP_NONE;
        parser->lex.end = parser->text_end;
        parser->depth = parser->text_depth;
    }
    if (job->status == LW_EINPUT && parser->unknown != NULL) { /* the error may be in operands whose syntax the unknown
                                                                * modifier determines, so the modifier is reported */
        const char *unknown = parser->unknown;

        parser->unknown = NULL;
        ptx_fail(job, parser->statement_line, LW_EUNSUPP, "%s: the modifier '.%s' is not supported",
                 ptx_op_name(parser->op), unknown);
    }
    job->stop = outer;
    if (job->status != LW_EUNSUPP)
        longjmp(*outer, 1);
    parser->function->refusal =
        lw_arena_strdup(&job->arena, job->err != NULL ? job->err->text : "");
    if (parser->function->refusal == NULL)
        ptx_fail(job, 0, LW_ENOMEM, "the host has no memory for the translation");
    job->status = LW_OK;
    parser->scope = scope;
    pass_body(parser);
}
