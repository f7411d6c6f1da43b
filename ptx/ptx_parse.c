/* SPDX-License-Identifier: Apache-2.0 */
/* Module level: directives, variables with initialisers, functions' heads. */
#include "ptx/ptx_debug_priv.h"

const char *ptx_text(struct ptx_parser *parser, struct ptx_name name)
{
    char *copy = ptx_new(parser->lex.job, name.size + 1, 1);

    memcpy(copy, name.text, name.size);
    return copy;
}


/* %r12 of a range %r<40> becomes a register when it is first met. */
static bool range_get(struct ptx_parser *parser, struct ptx_scope *scope, struct ptx_name name)
{
    size_t digits = 0;
    uint64_t number = 0, scale = 1;

    while (digits < name.size && digits < 9) {
        char c = name.text[name.size - 1 - digits];

        if (c < '0' || c > '9')
            break;
        number += (uint64_t)(c - '0') * scale;
        scale *= 10;
        digits++;
        const char *first = name.text + name.size - digits;

        if (*first == '0' && digits > 1)
            continue; /* %r01 is not of %r<..>; but %r0 of %r and 01 may be of %r0 */
        for (size_t i = 0; i < scope->ranges.count; i++) {
            const struct ptx_range *r = &scope->ranges.at[i];

            if (r->prefix_size == name.size - digits && number < r->count &&
                memcmp(r->prefix, name.text, r->prefix_size) == 0) {
                struct ptx_reg *reg = PTX_PUSH(parser->lex.job, parser->function->regs);

                reg->name = ptx_text(parser, name);
                reg->type = r->type;
                ptx_map_put(parser->lex.job, &scope->names, name.text, name.size,
                            (uint32_t)(parser->function->regs.count - 1) << 2 | PTX_NAME_REG);
                return true;
            }
        }
    }
    return false;
}

const uint32_t *ptx_scope_find(struct ptx_parser *parser, struct ptx_name name)
{
    for (struct ptx_scope *s = parser->scope; s != NULL; s = s->parent) {
        const uint32_t *known = ptx_map_find(&s->names, name.text, name.size);

        if (known != NULL)
            return known;
        if (s->ranges.count != 0 && range_get(parser, s, name))
            return ptx_map_find(&s->names, name.text, name.size);
    }
    return NULL;
}

/* ---- variables ----------------------------------------------------------- */

static void put_scalar(struct ptx_parser *parser, struct ptx_symbol *symbol, uint64_t offset,
                       unsigned bytes, uint64_t bits, enum ptx_literal literal,
                       enum ptx_type type)
{
    if (literal == PTX_LIT_F64 && type == PTX_T_F32) {
        double d;
        float f;
        uint32_t w;

        memcpy(&d, &bits, sizeof d);
        f = (float)d;
        memcpy(&w, &f, sizeof w);
        bits = w;
    } else if (literal == PTX_LIT_INT && (type == PTX_T_F32 || type == PTX_T_F64)) {
        double d = (double)(int64_t)bits;
        float f = (float)d;
        uint32_t w;

        memcpy(&w, &f, sizeof w);
        memcpy(&bits, &d, sizeof d);
        if (type == PTX_T_F32)
            bits = w;
    }
    if (offset + bytes > symbol->size_bytes)
        ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                 "the initialiser of '%s' has more than its %llu bytes", symbol->name,
                 (unsigned long long)symbol->size_bytes);
    for (unsigned i = 0; i < bytes; i++)
        symbol->init[offset + i] = (uint8_t)(bits >> (8 * i));
}

/* name [+ number] | generic(name) [+ number], behind its first word */
static uint32_t parse_target_name(struct ptx_parser *parser, struct ptx_name name, uint64_t *addend)
{
    struct ptx_lexer *lex = &parser->lex;
    char room[40];

    bool generic = ptx_name_is(name, "generic") && ptx_lex_accept(lex, '(');

    if (generic && !ptx_lex_identifier(lex, &name))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a name in generic(...), found %s",
                 ptx_lex_here(lex, room, sizeof room));
    const uint32_t *known = ptx_scope_find(parser, name);

    if (known == NULL || (*known & 3) != PTX_NAME_SYMBOL)
        ptx_fail(lex->job, lex->line, LW_EINPUT,
                 "the initialiser names '%.*s', which is not declared above", (int)name.size,
                 name.text);
    uint32_t target = *known >> 2;

    if (generic)
        ptx_lex_expect(lex, ')', "behind generic(name");
    char sign = ptx_lex_peek(lex);

    if (sign == '+' || sign == '-') {
        lex->p += sign == '+';
        *addend = ptx_lex_integer(lex, "an offset behind the name");
    }
    return target;
}

/* mask(address): a byte of it. The eight bytes of one address, in order, are an address. */
static void parse_masked(struct ptx_parser *parser, uint32_t index, uint64_t offset,
                         enum ptx_type type, uint64_t mask)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_symbol *symbol = &parser->module->symbols.at[index];
    uint64_t addend = 0;
    struct ptx_name name;
    unsigned byte = 0;
    bool whole;

    ptx_lex_expect(lex, '(', "behind the mask");
    if (!ptx_lex_identifier(lex, &name))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a name behind the mask");
    uint32_t target = parse_target_name(parser, name, &addend);

    ptx_lex_expect(lex, ')', "behind the masked address");
    while (byte < 8 && mask != UINT64_C(0xff) << 8 * byte)
        byte++;
    whole = byte < 8 && ptx_type_bytes(type) == 1 && offset >= byte;
    if (whole && byte == 0) {
        if (offset + 8 > symbol->size_bytes)
            whole = false;
        else
            *PTX_PUSH(lex->job, symbol->addresses) =
                (struct ptx_init_address){ offset, target, (int64_t)addend };
    } else if (whole) { /* it goes on with the one that began */
        const struct ptx_init_address *last =
            symbol->addresses.count != 0 ? &symbol->addresses.at[symbol->addresses.count - 1] : NULL;

        whole = last != NULL && last->offset == offset - byte && last->symbol == target &&
                last->addend == (int64_t)addend;
    }
    const struct ptx_symbol *to = &parser->module->symbols.at[target];

    if (!whole || (to->kind == PTX_SYM_VARIABLE && to->space != PTX_SP_GLOBAL &&
                   to->space != PTX_SP_CONST))
        ptx_fail(lex->job, lex->line, LW_EUNSUPP,
                 "only the bytes 0xFF(x), 0xFF00(x) ... of the 8-byte address of a global or "
                 "constant variable or a function, in order, are supported");
}

/* value := number | mask(address) | name [+ number] | generic(name) [+ number] */
static void parse_value(struct ptx_parser *parser, uint32_t index, uint64_t offset,
                        enum ptx_type type)
{
    struct ptx_lexer *lex = &parser->lex;
    unsigned bytes = ptx_type_bytes(type);
    enum ptx_literal literal;
    struct ptx_name name;
    uint64_t bits;
    char room[40];

    if (ptx_lex_constant(lex, &bits, &literal)) {
        if (literal == PTX_LIT_INT && ptx_lex_peek(lex) == '(') {
            parse_masked(parser, index, offset, type, bits);
            return;
        }
        put_scalar(parser, &parser->module->symbols.at[index], offset, bytes, bits, literal, type);
        return;
    }
    if (!ptx_lex_identifier(lex, &name))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a value in the initialiser, found %s",
                 ptx_lex_here(lex, room, sizeof room));
    uint64_t addend = 0;
    uint32_t target = parse_target_name(parser, name, &addend);
    const struct ptx_symbol *to = &parser->module->symbols.at[target];

    if (bytes != 8 || (to->kind == PTX_SYM_VARIABLE && to->space != PTX_SP_GLOBAL &&
                       to->space != PTX_SP_CONST))
        ptx_fail(lex->job, lex->line, LW_EUNSUPP,
                 "only 8-byte addresses of global and constant variables and of functions can "
                 "be initial values; '%s' is not one",
                 to->name);
    struct ptx_symbol *symbol = &parser->module->symbols.at[index];

    put_scalar(parser, symbol, offset, bytes, 0, PTX_LIT_INT, PTX_T_U64);
    *PTX_PUSH(lex->job, symbol->addresses) =
        (struct ptx_init_address){ offset, target, (int64_t)addend };
}

static void parse_initialiser(struct ptx_parser *parser, uint32_t index, enum ptx_type type)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_symbol *symbol = &parser->module->symbols.at[index];
    uint64_t offset = 0;
    unsigned depth = 0;

    if (symbol->size_bytes == 0) { /* as large as its values: one more than its commas */
        struct ptx_lexer ahead = *lex;
        uint64_t count = 1;

        for (; ptx_lex_peek(&ahead) != ';' && ahead.p < ahead.end; ahead.p++)
            count += *ahead.p == ',';
        symbol->size_bytes = count * ptx_type_bytes(type);
    }
    if (symbol->size_bytes > 1u << 28)
        ptx_fail(lex->job, lex->line, LW_EUNSUPP, "'%s' is too large to be initialised",
                 symbol->name);
    symbol->init = ptx_new(lex->job, symbol->size_bytes, 1);
    if (!ptx_lex_accept(lex, '{')) {
        parse_value(parser, index, 0, type);
        return;
    }
    /* nested braces of arrays only group: elements follow each other */
    for (depth = 1; depth != 0;) {
        if (ptx_lex_accept(lex, '{')) {
            depth++;
        } else if (ptx_lex_accept(lex, '}')) {
            depth--;
            ptx_lex_accept(lex, ',');
        } else {
            parse_value(parser, index, offset, type);
            offset += ptx_type_bytes(type);
            if (ptx_lex_peek(lex) != '}')
                ptx_lex_expect(lex, ',', "between the values of an initialiser");
        }
    }
}

/* The symbol that a name of this scope, or one that all modules share, stands for already. */
static const uint32_t *find_declared(struct ptx_parser *parser, struct ptx_scope *scope,
                                     struct ptx_name name)
{
    const uint32_t *known = ptx_map_find(&scope->names, name.text, name.size);

    if (known != NULL || scope->parent != NULL || !(parser->visible || parser->external))
        return known;
    known = ptx_map_find(&parser->module->linked, name.text, name.size);
    if (known != NULL)
        ptx_map_put(parser->lex.job, &scope->names, name.text, name.size, *known);
    return known;
}

/* From here on other modules know the name, too. */
static void share(struct ptx_parser *parser, const struct ptx_scope *scope, struct ptx_name name,
                  uint32_t index)
{
    struct ptx_map *linked = &parser->module->linked;

    if (scope->parent == NULL && (parser->visible || parser->external) &&
        ptx_map_find(linked, name.text, name.size) == NULL)
        ptx_map_put(parser->lex.job, linked, name.text, name.size,
                    index << 2 | PTX_NAME_SYMBOL);
}

_Noreturn static void declared_twice(struct ptx_parser *parser, const struct ptx_symbol *old,
                                     const char *name)
{
    struct ptx_job *job = parser->lex.job;

    if (old != NULL && old->source != parser->source)
        ptx_fail(job, parser->lex.line, LW_EINPUT, "'%s' is defined in %s:%u, too: one of them can "
                 "be .weak", name, job->sources[old->source].name, old->line);
    ptx_fail(job, parser->lex.line, LW_EINPUT, "'%s' is declared twice", name);
}

/* A variable of this scope, new or known; its index. Of two definitions a weak one yields; one
 * that does is read and forgotten. */
static uint32_t declare(struct ptx_parser *parser, struct ptx_name name,
                        const struct ptx_symbol *symbol)
{
    struct ptx_job *job = parser->lex.job;
    const uint32_t *known = find_declared(parser, parser->scope, name);
    uint32_t index = (uint32_t)parser->module->symbols.count;
    struct ptx_symbol *old;

    if (known == NULL) {
        *PTX_PUSH(job, parser->module->symbols) = *symbol;
        ptx_map_put(job, &parser->scope->names, name.text, name.size,
                    index << 2 | PTX_NAME_SYMBOL);
        share(parser, parser->scope, name, index);
        return index;
    }
    if ((*known & 3) != PTX_NAME_SYMBOL)
        declared_twice(parser, NULL, symbol->name);
    old = &parser->module->symbols.at[*known >> 2];
    if (old->kind != symbol->kind || old->space != symbol->space || old->kind == PTX_SYM_PARAM)
        declared_twice(parser, old, symbol->name);
    if (old->external || symbol->external) { /* extern first, or once more */
        if (!symbol->external) {
            *old = *symbol;
            share(parser, parser->scope, name, *known >> 2);
        }
        return *known >> 2;
    }
    bool larger = symbol->common && old->common && symbol->size_bytes > old->size_bytes;

    if (larger || (old->weak && !symbol->weak)) {
        *old = *symbol;
        return *known >> 2;
    }
    if (!symbol->weak)
        declared_twice(parser, old, symbol->name);
    *PTX_PUSH(job, parser->module->symbols) = *symbol;
    parser->module->symbols.at[index].external = true; /* nothing of it is kept */
    return index;
}

uint32_t ptx_parse_variable(struct ptx_parser *parser, enum ptx_space space, bool external)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_symbol proto = { .kind = space == PTX_SP_PARAM ? PTX_SYM_PARAM : PTX_SYM_VARIABLE,
                                .space = (uint8_t)space,
                                .external = external,
                                .weak = parser->weak && parser->function == NULL,
                                .common = parser->common && parser->function == NULL,
                                .source = parser->source,
                                .line = lex->line };
    enum ptx_type type = PTX_T_NONE;
    uint32_t first = PTX_NONE;
    unsigned vector = 1;
    struct ptx_name word;
    char room[40];

    while (type == PTX_T_NONE) {
        ptx_lex_space(lex);
        if (!ptx_lex_dotted(lex, &word))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a type in the declaration, found %s",
                     ptx_lex_here(lex, room, sizeof room));
        if (ptx_name_is(word, "align")) {
            uint64_t align = ptx_lex_integer(lex, "a number behind .align");

            if (align == 0 || align > 4096 || (align & (align - 1)) != 0)
                ptx_fail(lex->job, lex->line, LW_EINPUT,
                         ".align %llu: expected a power of two up to 4096",
                         (unsigned long long)align);
            proto.align = (uint32_t)align;
        } else if (ptx_name_is(word, "ptr")) {
            proto.pointer = true;
            proto.pointer_space = PTX_SP_GENERIC;
        } else if (proto.pointer && ptx_name_is(word, "global")) {
            proto.pointer_space = PTX_SP_GLOBAL;
        } else if (proto.pointer && ptx_name_is(word, "shared")) {
            proto.pointer_space = PTX_SP_SHARED;
        } else if (proto.pointer && ptx_name_is(word, "const")) {
            proto.pointer_space = PTX_SP_CONST;
        } else if (proto.pointer && ptx_name_is(word, "local")) {
            proto.pointer_space = PTX_SP_LOCAL;
        } else if (ptx_name_is(word, "v2") || ptx_name_is(word, "v4")) {
            vector = (unsigned)(word.text[1] - '0');
        } else if (ptx_name_is(word, "attribute")) {
            ptx_lex_expect(lex, '(', "behind .attribute");
            while (lex->p < lex->end && *lex->p != ')' && *lex->p != ';')
                lex->p++;
            ptx_lex_expect(lex, ')', "behind .attribute(");
        } else if (space == PTX_SP_GLOBAL && parser->function == NULL &&
                   (ptx_name_is(word, "texref") || ptx_name_is(word, "samplerref") ||
                    ptx_name_is(word, "surfref"))) {
            /* A handle. What would fetch by it is refused, the module's other kernels are not. */
            type = PTX_T_B64;
        } else if ((type = ptx_type_find(word.text, word.size)) == PTX_T_NONE) {
            ptx_fail(lex->job, lex->line, LW_EUNSUPP, "a variable of type '.%.*s' is not supported",
                     (int)word.size, word.text);
        }
        /* .param .u64 .ptr .global .align 4 name: the pointer's words follow the type */
        while (type != PTX_T_NONE && space == PTX_SP_PARAM && ptx_lex_peek(lex) == '.') {
            if (!ptx_lex_dotted(lex, &word))
                break;
            if (ptx_name_is(word, "ptr")) {
                proto.pointer = true;
            } else if (ptx_name_is(word, "align")) {
                (void)ptx_lex_integer(lex, "a number behind .align"); /* of what it points to */
            } else if (ptx_name_is(word, "global") || ptx_name_is(word, "const") ||
                       ptx_name_is(word, "shared") || ptx_name_is(word, "local")) {
                proto.pointer_space = ptx_name_is(word, "global")   ? PTX_SP_GLOBAL
                                      : ptx_name_is(word, "const")  ? PTX_SP_CONST
                                      : ptx_name_is(word, "shared") ? PTX_SP_SHARED
                                                                    : PTX_SP_LOCAL;
            } else {
                ptx_fail(lex->job, lex->line, LW_EUNSUPP,
                         "'.%.*s' of a parameter is not supported", (int)word.size, word.text);
            }
        }
    }
    unsigned bytes = ptx_type_bytes(type) * vector;

    proto.type = (uint8_t)type;
    if (bytes == 0)
        ptx_fail(lex->job, lex->line, LW_EINPUT, "a variable cannot have type .%s",
                 ptx_type_name(type));
    if (proto.align < bytes)
        proto.align = bytes;
    do {
        enum ptx_literal literal;
        struct ptx_name name;
        uint64_t count = 1;
        bool open = false;

        if (!ptx_lex_identifier(lex, &name))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a name in the declaration, found %s",
                     ptx_lex_here(lex, room, sizeof room));
        struct ptx_symbol symbol = proto;

        symbol.name = ptx_text(parser, name);
        symbol.line = lex->line;
        while (ptx_lex_accept(lex, '[')) {
            uint64_t n = 0;

            if (ptx_lex_peek(lex) == ']')
                open = true;
            else if (!ptx_lex_constant(lex, &n, &literal) || literal != PTX_LIT_INT)
                ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a number of elements, found %s",
                         ptx_lex_here(lex, room, sizeof room));
            ptx_lex_expect(lex, ']', "behind the number of elements");
            if (!open && (n > UINT32_MAX || (n != 0 && count > (UINT64_C(1) << 40) / n)))
                ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s' is too large", symbol.name);
            count *= open ? 1 : n;
        }
        symbol.size_bytes = open ? 0 : count * bytes;
        if (symbol.size_bytes > UINT64_C(1) << 40)
            ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s' is too large", symbol.name);
        /* The rest of a variadic function's arguments: only declarations may have it. */
        if (space == PTX_SP_PARAM && symbol.size_bytes == 0 &&
            (!open || parser->function == NULL || parser->function->kernel ||
             parser->function->has_body))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "the parameter '%s' has no bytes",
                     symbol.name);
        if (open && space != PTX_SP_SHARED && space != PTX_SP_PARAM && !external &&
            ptx_lex_peek(lex) != '=')
            ptx_fail(lex->job, lex->line, LW_EUNSUPP,
                     "'%s' has no size; only extern shared arrays may", symbol.name);
        uint32_t index = declare(parser, name, &symbol);

        if (first == PTX_NONE)
            first = index;
        if (space != PTX_SP_PARAM && ptx_lex_accept(lex, '='))
            parse_initialiser(parser, index, type);
    } while (space != PTX_SP_PARAM && ptx_lex_accept(lex, ','));
    return first;
}

/* ---- functions ----------------------------------------------------------- */

/* .func (.reg .u32 r) f(.reg .u32 a): the names are registers in the body. */
static void parse_register_param(struct ptx_parser *parser, struct ptx_symbol *symbol, bool result)
{
    struct ptx_job *job = parser->lex.job;
    struct ptx_reg *reg;

    if (symbol->size_bytes != ptx_type_bytes((enum ptx_type)symbol->type))
        ptx_fail(job, parser->lex.line, LW_EINPUT, "the parameter '%s' is a register of one value",
                 symbol->name);
    reg = PTX_PUSH(job, parser->function->regs);
    reg->name = symbol->name;
    reg->type = symbol->type;
    reg->definitions = !result;
    symbol->reg = (uint32_t)parser->function->regs.count;
    *ptx_map_find(&parser->scope->names, symbol->name, strlen(symbol->name)) =
        (symbol->reg - 1) << 2 | PTX_NAME_REG;
}

static void parse_params(struct ptx_parser *parser, bool results)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_function *function = parser->function;
    struct ptx_name word;
    char room[40];

    ptx_lex_expect(lex, '(', "before the parameters");
    if (ptx_lex_accept(lex, ')'))
        return;
    do {
        ptx_lex_space(lex);
        if (!ptx_lex_dotted(lex, &word) ||
            !(ptx_name_is(word, "param") || (!function->kernel && ptx_name_is(word, "reg"))))
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "expected '.param' in the parameters, found %s",
                     ptx_lex_here(lex, room, sizeof room));
        bool in_register = ptx_name_is(word, "reg");
        uint32_t index = ptx_parse_variable(parser, PTX_SP_PARAM, false);
        struct ptx_symbol *symbol = &parser->module->symbols.at[index];

        if (in_register)
            parse_register_param(parser, symbol, results);
        if (results) {
            *PTX_PUSH(lex->job, function->results) = index;
        } else {
            uint64_t offset = (function->param_bytes + (uint64_t)symbol->align - 1) &
                              ~(uint64_t)(symbol->align - 1);

            if (offset + symbol->size_bytes > ISA_CONST_BANK_BYTES)
                ptx_fail(lex->job, lex->line, LW_EUNSUPP,
                         "the parameters of '%s' exceed %d bytes", function->name,
                         ISA_CONST_BANK_BYTES);
            symbol->offset = (uint32_t)offset;
            symbol->placed = true;
            function->param_bytes = (uint32_t)(offset + symbol->size_bytes);
            *PTX_PUSH(lex->job, function->params) = index;
        }
    } while (ptx_lex_accept(lex, ','));
    ptx_lex_expect(lex, ')', "behind the parameters");
}

static uint32_t parse_dimension(struct ptx_parser *parser, const char *what)
{
    uint64_t v = ptx_lex_integer(&parser->lex, what);

    if (v == 0 || v > UINT32_MAX)
        ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT, "%s: %llu is out of range", what,
                 (unsigned long long)v);
    return (uint32_t)v;
}

static void parse_performance(struct ptx_parser *parser, struct ptx_name word)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_function *function = parser->function;

    if (ptx_name_is(word, "maxntid") || ptx_name_is(word, "reqntid")) {
        bool required = ptx_name_is(word, "reqntid");
        uint32_t d[3] = { 1, 1, 1 };
        uint64_t threads = 1;

        for (unsigned i = 0; i < 3; i++) {
            d[i] = parse_dimension(parser, required ? "a size behind .reqntid"
                                                    : "a size behind .maxntid");
            threads *= d[i];
            if (threads > UINT32_MAX)
                ptx_fail(lex->job, lex->line, LW_EINPUT, "the block of '%s' is too large",
                         function->name);
            if (!ptx_lex_accept(lex, ','))
                break;
        }
        function->max_threads = (uint32_t)threads;
        if (required)
            memcpy(function->required_block, d, sizeof d);
    } else if (ptx_name_is(word, "minnctapersm") || ptx_name_is(word, "maxnctapersm") ||
               ptx_name_is(word, "maxnreg")) {
        (void)ptx_lex_integer(lex, "a number"); /* advice for another machine */
    } else if (ptx_name_is(word, "pragma")) {
        struct ptx_name text;

        do
            (void)ptx_lex_string(lex, &text);
        while (ptx_lex_accept(lex, ','));
        ptx_lex_expect(lex, ';', "behind .pragma");
    } else if (!ptx_name_is(word, "noreturn")) {
        ptx_fail(lex->job, lex->line, LW_EUNSUPP, "'.%.*s' of a function is not supported",
                 (int)word.size, word.text);
    }
}

static void parse_function(struct ptx_parser *parser, bool kernel)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_module *module = parser->module;
    struct ptx_scope scope = { .parent = parser->scope };
    struct ptx_function *function;
    struct ptx_symbol *symbol;
    struct ptx_name name, word;
    char room[40];

    function = PTX_PUSH(lex->job, module->functions);
    function->kernel = kernel;
    function->line = lex->line;
    function->source = parser->source;
    function->weak = parser->weak;
    function->name = "";
    function->first_symbol = (uint32_t)module->symbols.count;
    parser->function = function;
    parser->scope = &scope;
    if (!kernel && ptx_lex_peek(lex) == '(')
        parse_params(parser, true);
    if (!ptx_lex_identifier(lex, &name))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected the name of a function, found %s",
                 ptx_lex_here(lex, room, sizeof room));
    function->name = ptx_text(parser, name);
    const uint32_t *known = find_declared(parser, scope.parent, name);
    bool declared = known != NULL;

    if (declared) {
        function->symbol = *known >> 2;
        symbol = &module->symbols.at[function->symbol];
        if ((*known & 3) != PTX_NAME_SYMBOL || symbol->kind != PTX_SYM_FUNCTION)
            declared_twice(parser, NULL, function->name);
    } else {
        function->symbol = (uint32_t)module->symbols.count;
        symbol = PTX_PUSH(lex->job, module->symbols);
        symbol->kind = PTX_SYM_FUNCTION;
        symbol->name = function->name;
        symbol->line = function->line;
        symbol->source = parser->source;
        symbol->function = (uint32_t)(module->functions.count - 1);
        ptx_map_put(lex->job, &scope.parent->names, name.text, name.size,
                    function->symbol << 2 | PTX_NAME_SYMBOL);
    }
    share(parser, scope.parent, name, function->symbol);
    if (ptx_lex_peek(lex) == '(')
        parse_params(parser, false);
    while (ptx_lex_peek(lex) == '.') {
        if (!ptx_lex_dotted(lex, &word))
            break;
        parse_performance(parser, word);
    }
    if (ptx_lex_accept(lex, '{')) {
        struct ptx_symbol *mine = &module->symbols.at[function->symbol];

        struct ptx_function *old = &module->functions.at[mine->function];
        bool yields = old->has_body && function->weak;

        if (old->has_body && !old->weak && !function->weak) {
            const struct ptx_symbol there = { .source = old->source, .line = old->line };

            if (old->source != parser->source)
                declared_twice(parser, &there, function->name);
            ptx_fail(lex->job, function->line, LW_EINPUT, "'%s' has two bodies", function->name);
        }
        old->has_body = yields;
        for (size_t i = 0; i < function->params.count; i++) {
            const struct ptx_symbol *param = &module->symbols.at[function->params.at[i]];

            if (param->size_bytes == 0)
                ptx_fail(lex->job, function->line, LW_EUNSUPP,
                         "the parameter '%s' has no bytes", param->name);
        }
        if (!yields)
            mine->function = (uint32_t)(function - module->functions.at);
        function->has_body = true;
        parser->loc = 0;
        parser->targets.count = 0;
        ptx_parse_body(parser);
        function->has_body = !yields;
    } else {
        ptx_lex_expect(lex, ';', "or a body behind the function's head");
    }
    function->end_symbol = (uint32_t)module->symbols.count;
    parser->scope = scope.parent;
    parser->function = NULL;
}

/* ---- directives ---------------------------------------------------------- */

void ptx_parse_file(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    uint64_t number = ptx_lex_integer(lex, "a number behind .file");
    struct ptx_name first, second;
    const char *path;
    char room[40];

    if (number > 100000)
        ptx_fail(lex->job, lex->line, LW_EINPUT, "file number %llu is too large",
                 (unsigned long long)number);
    if (!ptx_lex_string(lex, &first))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a file name in quotes, found %s",
                 ptx_lex_here(lex, room, sizeof room));
    path = ptx_text(parser, first);
    if (ptx_lex_string(lex, &second)) { /* directory, name */
        const char *name = ptx_text(parser, second);

        path = name[0] == '/' ? name : lw_arena_printf(&lex->job->arena, "%s/%s", path, name);
        if (path == NULL)
            ptx_fail(lex->job, 0, LW_ENOMEM, "out of memory");
    }
    while (ptx_lex_accept(lex, ',')) /* time stamp, size */
        (void)ptx_lex_integer(lex, "a number");
    number += parser->file_base;
    while (parser->module->files.count <= number)
        *PTX_PUSH(lex->job, parser->module->files) = NULL;
    parser->module->files.at[number] = path;
}

void ptx_parse_loc(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    uint64_t file = ptx_lex_integer(lex, "a file number behind .loc");
    uint64_t line = ptx_lex_integer(lex, "a line number behind .loc");
    uint64_t column = ptx_lex_integer(lex, "a column behind .loc");
    struct ptx_loc loc = { .file = (uint32_t)file + parser->file_base,
                           .line = (uint32_t)line,
                           .column = (uint16_t)(column > 65535 ? 65535 : column) };
    struct ptx_name name;

    if (file > 100000 || line > UINT32_MAX)
        ptx_fail(lex->job, lex->line, LW_EINPUT, ".loc %llu %llu: out of range",
                 (unsigned long long)file, (unsigned long long)line);
    while (ptx_lex_accept(lex, ',')) {
        char room[40];

        if (!ptx_lex_identifier(lex, &name))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a word in .loc, found %s",
                     ptx_lex_here(lex, room, sizeof room));
        if (ptx_name_is(name, "function_name")) {
            if (ptx_lex_identifier(lex, &name)) {
                loc.name = name.text;
                loc.name_size = (uint32_t)name.size;
            }
            if (ptx_lex_peek(lex) == '+') {
                lex->p++;
                loc.name_offset = (uint32_t)ptx_lex_integer(lex, "an offset");
            }
        } else if (ptx_name_is(name, "inlined_at")) {
            uint32_t call[3];

            for (unsigned i = 0; i < 3; i++)
                call[i] = (uint32_t)ptx_lex_integer(lex, "a number behind inlined_at");
            ptx_debug_inlined_at(parser, &loc, call[0] + parser->file_base, call[1], call[2]);
        } else {
            ptx_fail(lex->job, lex->line, LW_EUNSUPP, "'%.*s' in .loc is not supported",
                     (int)name.size, name.text);
        }
    }
    if (line == 0 || file == 0)
        return; /* code of no line: it stays with the line before it */
    parser->loc = (uint32_t)parser->module->locs.count;
    *PTX_PUSH(lex->job, parser->module->locs) = loc;
}

void ptx_parse_section(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    unsigned start = lex->line;
    struct ptx_name name;

    ptx_lex_space(lex);
    if (!ptx_lex_dotted(lex, &name))
        (void)ptx_lex_identifier(lex, &name);
    else
        name = (struct ptx_name){ name.text - 1, name.size + 1 }; /* with its dot */
    ptx_lex_expect(lex, '{', "behind the section's name");
    if (parser->source == 0) {
        (void)ptx_debug_section(parser, name);
    } else { /* one module's debug information is kept */
        while (lex->p < lex->end && *lex->p != '}')
            lex->line += *lex->p++ == '\n';
    }
    if (!ptx_lex_accept(lex, '}'))
        ptx_fail(lex->job, start, LW_EINPUT, "the section is not closed with '}'");
}

static void parse_target(struct ptx_parser *parser)
{
    struct ptx_name name;
    char room[40];

    do {
        if (!ptx_lex_identifier(&parser->lex, &name))
            ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                     "expected a word behind .target, found %s",
                     ptx_lex_here(&parser->lex, room, sizeof room));
    } while (ptx_lex_accept(&parser->lex, ','));
}

/* .alias name, target; both are functions declared above */
static void parse_alias(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    uint32_t symbols[2], line = lex->line;

    for (unsigned i = 0; i < 2; i++) {
        const uint32_t *known;
        struct ptx_name name;

        if (!ptx_lex_identifier(lex, &name))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "expected '.alias name, function;'");
        known = ptx_map_find(&parser->scope->names, name.text, name.size);
        if (known == NULL || (*known & 3) != PTX_NAME_SYMBOL ||
            parser->module->symbols.at[*known >> 2].kind != PTX_SYM_FUNCTION)
            ptx_fail(lex->job, lex->line, LW_EINPUT, "'%.*s' is no function declared above",
                     (int)name.size, name.text);
        symbols[i] = *known >> 2;
        if (i == 0)
            ptx_lex_expect(lex, ',', "between the names of an alias");
    }
    ptx_lex_expect(lex, ';', "behind .alias");
    *PTX_PUSH(lex->job, parser->module->aliases) =
        (struct ptx_alias){ symbols[0], symbols[1], line };
}

static void parse_directive(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_name word;
    char room[40];

    parser->visible = parser->weak = parser->common = parser->external = false;
    for (;;) {
        ptx_lex_space(lex);
        unsigned line = lex->line;

        if (!ptx_lex_dotted(lex, &word))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a directive, found %s",
                     ptx_lex_here(lex, room, sizeof room));
        if (ptx_name_is(word, "visible") || ptx_name_is(word, "weak") ||
            ptx_name_is(word, "common")) {
            parser->visible = true;
            parser->common |= word.text[0] == 'c';
            parser->weak |= word.text[0] != 'v';
            continue;
        } else if (ptx_name_is(word, "extern")) {
            parser->external = true;
            continue;
        } else if (ptx_name_is(word, "entry") || ptx_name_is(word, "func")) {
            parser->visible |= word.text[0] == 'e'; /* whoever launches it finds it by its name */
            parse_function(parser, word.text[0] == 'e');
        } else if (ptx_name_is(word, "alias")) {
            parse_alias(parser);
        } else if (ptx_name_is(word, "global") || ptx_name_is(word, "const") ||
                   ptx_name_is(word, "shared")) {
            (void)ptx_parse_variable(parser,
                                     word.text[0] == 'g'   ? PTX_SP_GLOBAL
                                     : word.text[0] == 'c' ? PTX_SP_CONST
                                                           : PTX_SP_SHARED,
                                     parser->external);
            ptx_lex_expect(lex, ';', "behind the declaration");
        } else if (ptx_name_is(word, "version")) {
            uint64_t bits;
            enum ptx_literal literal;

            if (!ptx_lex_number(lex, &bits, &literal))
                ptx_fail(lex->job, line, LW_EINPUT, "expected a number behind .version, found %s",
                         ptx_lex_here(lex, room, sizeof room));
        } else if (ptx_name_is(word, "target")) {
            parse_target(parser);
        } else if (ptx_name_is(word, "address_size")) {
            uint64_t bits = ptx_lex_integer(lex, "a number behind .address_size");

            if (bits != 64)
                ptx_fail(lex->job, line, LW_EUNSUPP,
                         ".address_size %llu is not supported: compile for nvptx64",
                         (unsigned long long)bits);
        } else if (ptx_name_is(word, "file")) {
            ptx_parse_file(parser);
        } else if (ptx_name_is(word, "loc")) {
            ptx_parse_loc(parser);
        } else if (ptx_name_is(word, "section")) {
            ptx_parse_section(parser);
        } else if (ptx_name_is(word, "pragma")) {
            (void)ptx_lex_string(lex, &word);
            ptx_lex_expect(lex, ';', "behind .pragma");
        } else {
            ptx_fail(lex->job, line, LW_EUNSUPP, "the directive '.%.*s' is not supported",
                     (int)word.size, word.text);
        }
        return;
    }
}

/* The compilers name themselves in the comments at the top. */
static const char *find_producer(struct ptx_parser *parser, const char *text, size_t size)
{
    size_t top = size < 512 ? size : 512;

    for (size_t i = 0; i + 4 < top; i++) {
        if (memcmp(text + i, "LLVM", 4) == 0)
            return "clang (LLVM NVPTX), translated by lanewise";
        if (memcmp(text + i, "NVVM", 4) == 0)
            return "nvcc (NVVM), translated by lanewise";
    }
    (void)parser;
    return "PTX, translated by lanewise";
}

void ptx_job_source(struct ptx_job *job, size_t source)
{
    job->name = job->sources[source].name;
    job->text = job->sources[source].text;
    job->text_size = job->sources[source].size;
    job->from_source = job->sources[source].from_source ||
                       (job->options != NULL && job->options->from_source);
}

struct ptx_module *ptx_parse(struct ptx_job *job)
{
    struct ptx_module *module = PTX_NEW(job, struct ptx_module);
    struct ptx_parser parser = { .module = module };

    module->job = job;
    for (unsigned i = 1; i < PTX_OP_COUNT; i++) {
        const char *name = ptx_op_name((enum ptx_op)i);

        ptx_map_put(job, &parser.ops, name, strlen(name), i);
    }
    for (unsigned i = 1; i < PTX_W_COUNT; i++) {
        const char *word = ptx_word_text((enum ptx_word)i);

        ptx_map_put(job, &parser.words, word, strlen(word), i);
    }
    (void)PTX_PUSH(job, module->locs); /* 0: none */
    for (size_t i = 0; i < job->source_count; i++) {
        struct ptx_scope scope = { 0 };

        ptx_job_source(job, i);
        parser.lex = (struct ptx_lexer){ job, job->text, job->text + job->text_size, 1 };
        parser.scope = &scope;
        parser.source = (uint16_t)i;
        parser.file_base = (uint32_t)module->files.count;
        parser.loc = 0;
        if (i == 0)
            module->producer = find_producer(&parser, job->text, job->text_size);
        while (ptx_lex_peek(&parser.lex) != '\0' || parser.lex.p < parser.lex.end)
            parse_directive(&parser);
    }
    for (size_t i = 0; i < module->aliases.count; i++) {
        const struct ptx_alias *a = &module->aliases.at[i];
        const struct ptx_symbol *to = &module->symbols.at[a->target];

        ptx_job_source(job, to->source);
        if (!module->functions.at[to->function].has_body)
            ptx_fail(job, a->line, LW_EUNSUPP, "the alias '%s' is of '%s', which has no body here",
                     module->symbols.at[a->symbol].name, to->name);
        module->symbols.at[a->symbol].function = to->function;
    }
    ptx_job_source(job, 0);
    return module;
}
