/* SPDX-License-Identifier: Apache-2.0 */
/* Parses variables with initialisers, and resolves names that modules share. */
#include <math.h>

#include "ptx/ptx_priv.h"

enum { MAX_DIMENSIONS = 8 };

/* Dimensions of an array, outermost first. If the elements are vectors (.v2, .v4), the vector is the last dimension. */
struct dimensions {
    uint64_t size[MAX_DIMENSIONS + 1];
    unsigned count;
};

/** Converts the number with the bits @bits of a double to half precision. Returns false if the result is not exact. */
static bool to_half(uint64_t bits, uint64_t *half)
{
    double d;
    int exponent;

    memcpy(&d, &bits, sizeof d);
    *half = bits >> 63 << 15;
    d = fabs(d);
    if (isnan(d) || isinf(d)) {
        *half |= 0x7c00 | (bits >> 42 & 0x3ff);
        return isinf(d) || (*half & 0x3ff) != 0;
    }
    double fraction = frexp(d, &exponent);
    if (d != 0 && exponent < -13) /* a subnormal number is a multiple of 2^-24 */
        fraction = ldexp(d, 24);
    else if (d != 0)
        fraction = ldexp(fraction, 11) + (exponent + 13) * 1024;
    if (!(fraction < 0x7c00) || fraction != floor(fraction))
        return false;
    *half |= (uint64_t)fraction;
    return true;
}

static void put_scalar(struct ptx_symbol *symbol, uint64_t offset,
                       unsigned bytes, uint64_t bits, enum ptx_literal literal,
                       enum ptx_type type)
{
    if (literal == PTX_LIT_F64 && (type == PTX_T_F32 || type == PTX_T_B32)) {
        double d;
        float f;
        uint32_t w;

        memcpy(&d, &bits, sizeof d);
        f = (float)d;
        memcpy(&w, &f, sizeof w);
        bits = w;
    } else if (literal == PTX_LIT_F32 && (type == PTX_T_F64 || type == PTX_T_B64)) {
        uint32_t w = (uint32_t)bits;
        double d;
        float f;

        memcpy(&f, &w, sizeof f);
        d = (double)f;
        memcpy(&bits, &d, sizeof bits);
    } else if (literal == PTX_LIT_F64 && type == PTX_T_B16) {
        (void)to_half(bits, &bits); /* check_literal() has called to_half(), which returned true */
    }
    for (unsigned i = 0; i < bytes; i++)
        symbol->init[offset + i] = (uint8_t)(bits >> (8 * i));
}

/* Checks the kind of an initialiser: float literals for floats, integers for all other types. clang writes the value of a half as
 * a double for a .b16. In CUDA C++ the .b16 could also be a bfloat16, so such a literal is refused. */
static void check_literal(struct ptx_parser *parser, enum ptx_literal literal, uint64_t bits, enum ptx_type type)
{
    bool real = type == PTX_T_F32 || type == PTX_T_F64;

    if (parser->opencl && literal == PTX_LIT_F64 && type == PTX_T_B16 && to_half(bits, &bits))
        return;
    if (ptx_type_class(type) == PTX_CLASS_FLOAT && !real)
        ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                 "a variable of type .%s cannot have an initial value: declare it as .b%u",
                 ptx_type_name(type), 8 * ptx_type_bytes(type));
    if (literal != PTX_LIT_INT && (type == PTX_T_B32 || type == PTX_T_B64))
        return; /* a float literal may give the bits of a .b32 or .b64 of its size */
    if (real != (literal != PTX_LIT_INT))
        ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                 real ? "the initial value of a .%s must be a float, such as 1.0"
                      : "the initial value of a .%s must be an integer",
                 ptx_type_name(type));
}

/* Parses name [+ number] or generic(name) [+ number]. The caller has parsed the first word, which is @name. */
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
        ptx_lex_expect(lex, ')', "after generic(name");
    if (ptx_lex_accept(lex, '+'))
        *addend = ptx_lex_integer(lex, "an offset after the name");
    return target;
}

/* Parses mask(address), which initialises one byte with a byte of an address. Only the eight bytes of an address, in
 * order, are supported. */
static void parse_masked(struct ptx_parser *parser, uint32_t index, uint64_t offset,
                         enum ptx_type type, uint64_t mask)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_symbol *symbol = &parser->module->symbols.at[index];
    uint64_t addend = 0;
    struct ptx_name name;
    unsigned byte = 0;
    bool whole;

    ptx_lex_expect(lex, '(', "after the mask");
    if (!ptx_lex_identifier(lex, &name))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a name after the mask");
    uint32_t target = parse_target_name(parser, name, &addend);

    ptx_lex_expect(lex, ')', "after the masked address");
    while (byte < 8 && mask != UINT64_C(0xff) << 8 * byte)
        byte++;
    whole = byte < 8 && ptx_type_bytes(type) == 1 && offset >= byte;
    if (whole && byte == 0) {
        if (offset + 8 > symbol->size_bytes)
            whole = false;
        else
            *PTX_PUSH(lex->job, symbol->addresses) =
                (struct ptx_init_address){ offset, target, (int64_t)addend };
    } else if (whole) { /* the byte must follow the lower bytes of the same address */
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

/* Parses number | mask(address) | name [+ number] | generic(name) [+ number]. */
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
        check_literal(parser, literal, bits, type);
        put_scalar(&parser->module->symbols.at[index], offset, bytes, bits, literal, type);
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

    put_scalar(symbol, offset, bytes, 0, PTX_LIT_INT, PTX_T_U64);
    *PTX_PUSH(lex->job, symbol->addresses) =
        (struct ptx_init_address){ offset, target, (int64_t)addend };
}

/* Returns the number of elements in the braces that follow. */
static uint64_t count_elements(const struct ptx_lexer *lex)
{
    struct ptx_lexer ahead = *lex;
    uint64_t count = 0;
    int depth = 0;

    do {
        char c = ptx_lex_peek(&ahead);

        if (c == ';' || ahead.p >= ahead.end)
            break;
        if (c == '}' && --depth == 0)
            break;
        if (depth == 1 && (c == ',' || count == 0))
            count++;
        depth += c == '{';
        ahead.p++;
    } while (depth > 0);
    return count;
}

/* Parses { element, ... } of dimension @level, or a single value if @level is past the last dimension. @offset is the byte
 * offset in the variable. Missing elements are zero. */
static void parse_row(struct ptx_parser *parser, uint32_t index, enum ptx_type type,
                      const struct dimensions *d, unsigned level, uint64_t offset)
{
    struct ptx_lexer *lex = &parser->lex;
    uint64_t bytes = ptx_type_bytes(type);

    if (level == d->count) {
        if (ptx_lex_peek(lex) == '{')
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "the initialiser of '%s' has more levels of braces than the variable has dimensions",
                     parser->module->symbols.at[index].name);
        parse_value(parser, index, offset, type);
        return;
    }
    for (unsigned k = level + 1; k < d->count; k++)
        bytes *= d->size[k];
    if (!ptx_lex_accept(lex, '{'))
        ptx_fail(lex->job, lex->line, LW_EINPUT,
                 "the initialiser of '%s' needs a brace for each dimension: {{1, 2}, {3, 4}}",
                 parser->module->symbols.at[index].name);
    if (ptx_lex_accept(lex, '}'))
        return;
    for (uint64_t i = 0;; i++) {
        if (i == d->size[level])
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "the initialiser of '%s' has more than the %llu elements of this dimension",
                     parser->module->symbols.at[index].name, (unsigned long long)d->size[level]);
        parse_row(parser, index, type, d, level + 1, offset + i * bytes);
        if (!ptx_lex_accept(lex, ','))
            break;
    }
    ptx_lex_expect(lex, '}', "after the values of an initialiser");
}

static void parse_initialiser(struct ptx_parser *parser, uint32_t index, enum ptx_type type,
                              struct dimensions *d)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_symbol *symbol = &parser->module->symbols.at[index];

    if (symbol->space == PTX_SP_SHARED || symbol->space == PTX_SP_LOCAL)
        ptx_fail(lex->job, lex->line, LW_EINPUT,
                 "'%s' cannot have an initial value: only .global and .const variables have one",
                 symbol->name);
    if (symbol->size_bytes == 0) { /* name[]: the outermost dimension is the number of elements in the braces */
        d->size[0] = count_elements(lex);
        symbol->size_bytes = ptx_type_bytes(type);
        for (unsigned k = 0; k < d->count && symbol->size_bytes <= 1u << 28; k++)
            symbol->size_bytes *= d->size[k] < 1u << 29 ? d->size[k] : 1u << 29;
    }
    if (symbol->size_bytes > 1u << 28)
        ptx_fail(lex->job, lex->line, LW_EUNSUPP, "'%s' is too large to be initialised",
                 symbol->name);
    symbol->init = ptx_new(lex->job, symbol->size_bytes + 8, 1);
    parse_row(parser, index, type, d, 0, 0);
}

const uint32_t *ptx_find_declared(struct ptx_parser *parser, struct ptx_scope *scope,
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

void ptx_share_name(struct ptx_parser *parser, const struct ptx_scope *scope, struct ptx_name name,
                  uint32_t index)
{
    struct ptx_map *linked = &parser->module->linked;

    if (scope->parent == NULL && (parser->visible || parser->external) &&
        ptx_map_find(linked, name.text, name.size) == NULL)
        ptx_map_put(parser->lex.job, linked, name.text, name.size,
                    index << 2 | PTX_NAME_SYMBOL);
}

void ptx_declared_twice(struct ptx_parser *parser, const struct ptx_symbol *old,
                                     const char *name)
{
    struct ptx_job *job = parser->lex.job;

    if (old != NULL && old->source != parser->source)
        ptx_fail(job, parser->lex.line, LW_EINPUT, "'%s' is also defined in %s: %s", name,
                 ptx_job_location(job, old->source, old->line),
                 job->from_source ? "remove one definition, or give them different names"
                                  : "declare one of them .weak");
    ptx_fail(job, parser->lex.line, LW_EINPUT, "'%s' is declared twice", name);
}

/* Returns the kernel's variable @name when a kernel is parsed again as a function, which uses the same variables. The
 * declarations are in the same order, so the search continues after the previous variable. */
static uint32_t redeclare(struct ptx_parser *parser, struct ptx_name name)
{
    const struct ptx_module *module = parser->module;
    uint32_t index = parser->next_shown;

    while (index < module->symbols.count && (module->symbols.at[index].kind != PTX_SYM_VARIABLE ||
                                             !ptx_name_is(name, module->symbols.at[index].name)))
        index++;
    parser->next_shown = index + 1;
    ptx_map_put(parser->lex.job, &parser->scope->names, name.text, name.size, index << 2 | PTX_NAME_SYMBOL);
    return index;
}

/* Skips the initialiser of a variable that the kernel, when it was parsed first, has already initialised. */
static void skip_initialiser(struct ptx_lexer *lex)
{
    unsigned depth = 0;

    for (char c = ptx_lex_peek(lex); c != '\0' && c != ';' && (c != ',' || depth != 0); c = ptx_lex_peek(lex)) {
        depth += c == '{' || c == '(';
        depth -= depth != 0 && (c == '}' || c == ')');
        lex->p++;
    }
}

static uint32_t declare(struct ptx_parser *parser, struct ptx_name name,
                        const struct ptx_symbol *symbol)
{
    struct ptx_job *job = parser->lex.job;
    const uint32_t *known = ptx_find_declared(parser, parser->scope, name);
    uint32_t index = (uint32_t)parser->module->symbols.count;
    struct ptx_symbol *old;

    if (known == NULL && parser->rereading && symbol->kind == PTX_SYM_VARIABLE && symbol->space != PTX_SP_LOCAL)
        return redeclare(parser, name);
    if (known == NULL) {
        *PTX_PUSH(job, parser->module->symbols) = *symbol;
        ptx_map_put(job, &parser->scope->names, name.text, name.size,
                    index << 2 | PTX_NAME_SYMBOL);
        ptx_share_name(parser, parser->scope, name, index);
        return index;
    }
    if ((*known & 3) != PTX_NAME_SYMBOL)
        ptx_declared_twice(parser, NULL, symbol->name);
    old = &parser->module->symbols.at[*known >> 2];
    if (old->kind != symbol->kind || old->space != symbol->space || old->kind == PTX_SYM_PARAM)
        ptx_declared_twice(parser, old, symbol->name);
    if (old->external || symbol->external) { /* at least one of the two symbols is a declaration without a definition */
        if (!symbol->external) {
            *old = *symbol;
            ptx_share_name(parser, parser->scope, name, *known >> 2);
        }
        return *known >> 2;
    }
    bool larger = symbol->common && old->common && symbol->size_bytes > old->size_bytes;

    if (larger || (old->weak && !symbol->weak)) {
        *old = *symbol;
        return *known >> 2;
    }
    if (!symbol->weak)
        ptx_declared_twice(parser, old, symbol->name);
    *PTX_PUSH(job, parser->module->symbols) = *symbol;
    parser->module->symbols.at[index].external = true; /* another definition is used, so this one is ignored */
    return index;
}

/* Parses .managed or .unified(id, id), which request memory shared with the host. The host can access all memory of Lanewise, so only
 * the runtime asks whether a variable is managed. Returns true for .managed. */
static bool parse_attribute(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    struct ptx_name word = {"", 0};

    ptx_lex_expect(lex, '(', "after .attribute");
    ptx_lex_space(lex);
    if (!ptx_lex_dotted(lex, &word) ||
        !(ptx_name_is(word, "managed") || ptx_name_is(word, "unified")))
        ptx_fail(lex->job, lex->line, LW_EUNSUPP,
                 "the attribute '.%.*s' is not supported: use .managed or .unified",
                 (int)word.size, word.text);
    if (ptx_name_is(word, "unified")) {
        ptx_lex_expect(lex, '(', "after .unified");
        (void)ptx_lex_integer(lex, "the upper half of the id");
        ptx_lex_expect(lex, ',', "between the halves of the id");
        (void)ptx_lex_integer(lex, "the lower half of the id");
        ptx_lex_expect(lex, ')', "after the id");
    }
    ptx_lex_expect(lex, ')', "after the attribute");
    return ptx_name_is(word, "managed");
}

/** Makes a variable larger. The bytes that are added are zero. */
static void pad(struct ptx_parser *parser, struct ptx_symbol *s, uint64_t bytes)
{
    if (s->init != NULL) {
        uint8_t *init = PTX_ARRAY(parser->lex.job, uint8_t, bytes);
        memcpy(init, s->init, s->size_bytes);
        s->init = init;
    }
    s->size_bytes = bytes;
}
/* Pads variables that compiled code accesses as a larger unit. Without the padding such an access would be a fault, because
 * Lanewise checks the exact bytes of each access, or would access the next variable.
 * - An OpenCL C vector of three elements has the size and alignment of four elements. clang declares only three, but loads and
 *   stores four.
 * - With a table of 158 bytes, libclc reduces arguments above 2^30 of the functions sin, cos and tan of doubles. libclc loads the
 *   last sixteen bytes together and shifts out the two bytes past the end of the table. If clang links two libraries with this
 *   table, the name of one copy ends with a number. */
static void pad_variable(struct ptx_parser *parser, uint32_t index, enum ptx_type type, unsigned dimensions)
{
    enum { TABLE_BYTES = 158, READ_BYTES = 160, NAME_BYTES = sizeof "PIBITS_TBL" - 1 };
    struct ptx_symbol *s = &parser->module->symbols.at[index];

    if (parser->opencl && type == PTX_T_B8 && dimensions == 1 && s->kind == PTX_SYM_VARIABLE && s->align >= 4 &&
        4 * s->size_bytes == 3 * (uint64_t)s->align)
        pad(parser, s, s->align);
    if (s->space == PTX_SP_CONST && s->size_bytes == TABLE_BYTES && s->init != NULL &&
        strncmp(s->name, "PIBITS_TBL", NAME_BYTES) == 0 &&
        s->name[NAME_BYTES + strspn(s->name + NAME_BYTES, "_$0123456789")] == '\0')
        pad(parser, s, READ_BYTES);
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
            uint64_t align = ptx_lex_integer(lex, "a number after .align");

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
            proto.managed |= parse_attribute(parser);
        } else if (space == PTX_SP_GLOBAL && parser->function == NULL &&
                   (ptx_name_is(word, "texref") || ptx_name_is(word, "samplerref") ||
                    ptx_name_is(word, "surfref"))) {
            /* The variable of a texture reference contains its descriptor (docs/reference/memory.md), which kernels must
             * not write. Kernels that use a sampler or surface are refused; other kernels of the module are not. */
            type = PTX_T_B64;
            proto.texture = ptx_name_is(word, "texref");
            vector = proto.texture ? PTX_TEXTURE_BYTES / 8 : 1;
        } else if ((type = ptx_type_find(word.text, word.size)) == PTX_T_NONE ||
                   ptx_is_cvt_type(type)) {
            ptx_fail(lex->job, lex->line, LW_EUNSUPP, "a variable of type '.%.*s' is not supported",
                     (int)word.size, word.text);
        }
        /* .param .u64 .ptr .global .align 4 name: the pointer's attributes follow the type */
        while (type != PTX_T_NONE && space == PTX_SP_PARAM && ptx_lex_peek(lex) == '.') {
            if (!ptx_lex_dotted(lex, &word))
                break;
            if (ptx_name_is(word, "ptr")) {
                proto.pointer = true;
            } else if (ptx_name_is(word, "align")) {
                (void)ptx_lex_integer(lex, "a number after .align"); /* alignment of the object to which the pointer
                                                                      * points */
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
        struct dimensions d = { .count = 0 };
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

            if (d.count == MAX_DIMENSIONS)
                ptx_fail(lex->job, lex->line, LW_EUNSUPP, "'%s' has more than %d dimensions",
                         symbol.name, MAX_DIMENSIONS);
            if (ptx_lex_peek(lex) == ']' && d.count == 0)
                open = true;
            else if (!ptx_lex_constant(lex, &n, &literal) || literal != PTX_LIT_INT)
                ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a number of elements, found %s",
                         ptx_lex_here(lex, room, sizeof room));
            ptx_lex_expect(lex, ']', "after the number of elements");
            if (n >> 63 != 0)
                ptx_fail(lex->job, lex->line, LW_EINPUT,
                         "the number of elements of '%s' is negative, or exceeds 63 bits",
                         symbol.name);
            if (n > UINT32_MAX || (n != 0 && count > (UINT64_C(1) << 40) / n))
                ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s' is too large", symbol.name);
            if (n == 0 && !(open && d.count == 0) && !external && space != PTX_SP_PARAM &&
                space != PTX_SP_SHARED)
                ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s' has no elements", symbol.name);
            count *= open && d.count == 0 ? 1 : n;
            d.size[d.count++] = n;
        }
        if (vector > 1)
            d.size[d.count++] = vector;
        symbol.size_bytes = open ? 0 : count * bytes;
        if (symbol.size_bytes > UINT64_C(1) << 40)
            ptx_fail(lex->job, lex->line, LW_EINPUT, "'%s' is too large", symbol.name);
        /* A parameter without a size represents the arguments of a variadic function. Such a function may only be declared. */
        if (space == PTX_SP_PARAM && symbol.size_bytes == 0 &&
            (!open || parser->function == NULL || parser->function->kernel || parser->in_body))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "the parameter '%s' has a size of 0 bytes",
                     symbol.name);
        if (open && space != PTX_SP_SHARED && space != PTX_SP_PARAM && !external &&
            ptx_lex_peek(lex) != '=')
            ptx_fail(lex->job, lex->line, LW_EUNSUPP,
                     "'%s' has no size: only extern shared arrays can omit it", symbol.name);
        uint32_t index = declare(parser, name, &symbol);

        if (first == PTX_NONE)
            first = index;
        if (external && ptx_lex_peek(lex) == '=')
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "'%s' is external: its initial value belongs to its definition", symbol.name);
        if (space != PTX_SP_PARAM && ptx_lex_accept(lex, '=')) {
            if (parser->rereading && space != PTX_SP_LOCAL)
                skip_initialiser(lex);
            else
                parse_initialiser(parser, index, type, &d);
        }
        pad_variable(parser, index, type, d.count);
        /* outside a body, the caller parses the comma between parameters */
    } while ((space != PTX_SP_PARAM || parser->in_body) && ptx_lex_accept(lex, ','));
    return first;
}
