/* SPDX-License-Identifier: Apache-2.0 */
/* Parses directives of a module and heads of functions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "ptx/debuginfo/ptx_debug_priv.h"

const char *ptx_text(struct ptx_parser *parser, struct ptx_name name)
{
    char *copy = ptx_new(parser->lex.job, name.size + 1, 1);

    memcpy(copy, name.text, name.size);
    return copy;
}

void ptx_reg_declare(struct ptx_parser *parser, struct ptx_scope *scope, struct ptx_name name,
                     enum ptx_type type, unsigned elements)
{
    struct ptx_job *job = parser->lex.job;
    uint32_t first = (uint32_t)parser->function->regs.count;
    const char *text = ptx_text(parser, name);

    for (unsigned i = 0; i < (elements != 0 ? elements : 1); i++) {
        struct ptx_reg *reg = PTX_PUSH(job, parser->function->regs);

        reg->name = text;
        reg->type = (uint8_t)type;
        reg->elements = (uint8_t)(i == 0 ? elements : 0);
        if (elements != 0) {
            char *part = ptx_new(job, name.size + 3, 1);

            memcpy(part, text, name.size);
            part[name.size] = '.';
            part[name.size + 1] = "xyzw"[i];
            reg->name = part;
        }
    }
    ptx_map_put(job, &scope->names, name.text, name.size,
                first << 2 | (elements != 0 ? PTX_NAME_VECTOR : PTX_NAME_REG));
}

/* Creates register %r12 of a range %r<40> when it is first used. */
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
            continue; /* numbers have no leading zero: %r01 is not in a range %r<N>, but may be in a range %r0<N> */
        for (size_t i = 0; i < scope->ranges.count; i++) {
            const struct ptx_range *r = &scope->ranges.at[i];

            if (r->prefix_size == name.size - digits && number < r->count &&
                memcmp(r->prefix, name.text, r->prefix_size) == 0) {
                ptx_reg_declare(parser, scope, name, (enum ptx_type)r->type, r->elements);
                return true;
            }
        }
    }
    return false;
}

bool ptx_scope_holds(struct ptx_parser *parser, struct ptx_name name)
{
    struct ptx_scope *s = parser->scope;

    return ptx_map_find(&s->names, name.text, name.size) != NULL ||
           (s->ranges.count != 0 && range_get(parser, s, name));
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

/* ---- functions ----------------------------------------------------------- */

/* Declares a parameter of .func (.reg .u32 r) f(.reg .u32 a), which is a register in the body. */
static void parse_register_param(struct ptx_parser *parser, struct ptx_symbol *symbol, bool result)
{
    struct ptx_job *job = parser->lex.job;
    struct ptx_reg *reg;

    if (symbol->size_bytes != ptx_type_bytes((enum ptx_type)symbol->type))
        ptx_fail(job, parser->lex.line, LW_EINPUT, "the parameter '%s' must be a register of one value",
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
    ptx_lex_expect(lex, ')', "after the parameters");
}

static uint32_t parse_dimension(struct ptx_parser *parser, const char *what)
{
    uint64_t v = ptx_lex_integer(&parser->lex, what);

    if (v == 0 || v > UINT32_MAX)
        ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT, "%s: the number %llu is out of range", what,
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
            d[i] = parse_dimension(parser, required ? "a size after .reqntid"
                                                    : "a size after .maxntid");
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
    } else if (ptx_name_is(word, "maxnreg")) {
        uint64_t registers = ptx_lex_integer(lex, "a number of registers");

        function->max_registers = registers < ISA_VREG_COUNT ? (uint32_t)registers : ISA_VREG_COUNT;
    } else if (ptx_name_is(word, "minnctapersm") || ptx_name_is(word, "maxnctapersm")) {
        (void)ptx_lex_integer(lex, "a number"); /* ignored: a performance hint for GPUs */
    } else if (ptx_name_is(word, "pragma")) {
        struct ptx_name text;

        do
            (void)ptx_lex_string(lex, &text);
        while (ptx_lex_accept(lex, ','));
        ptx_lex_expect(lex, ';', "after .pragma");
    } else if (!ptx_name_is(word, "noreturn") || parser->function->kernel) {
        ptx_fail(lex->job, lex->line, LW_EUNSUPP, "'.%.*s' of a function is not supported",
                 (int)word.size, word.text);
    }
}

/* Sets the location of the instructions that wait for the next location to @loc. No statement begins at them, because they may
 * belong to other statements. */
static void give_line_to_next(struct ptx_parser *parser, uint32_t loc)
{
    struct ptx_function *fn = parser->function;
    size_t i = fn->insns.count;

    if (loc != 0 && i > 0 && fn->insns.at[i - 1].loc == PTX_NEXT_LOC) {
        struct ptx_loc silent = parser->module->locs.at[loc];

        silent.silent = true;
        loc = (uint32_t)parser->module->locs.count;
        *PTX_PUSH(parser->lex.job, parser->module->locs) = silent;
    }
    for (; i > 0 && fn->insns.at[i - 1].loc == PTX_NEXT_LOC; i--)
        fn->insns.at[i - 1].loc = loc;
}

static bool leaves(const struct ptx_insn *insn)
{
    return insn->op == PTX_BRA || insn->op == PTX_BRX || insn->op == PTX_RET || insn->op == PTX_EXIT;
}

/* Called at the .loc of a statement. Instructions before the .loc without a location, such as the load of a constant that the
 * compiler has moved up, also belong to the statement's scope, although the label where the scope begins is after these
 * instructions. Records them in the function's list `early`. */
static void take_early(struct ptx_parser *parser)
{
    const struct ptx_function *fn = parser->function;
    const uint32_t to = (uint32_t)parser->lex.line;
    size_t first = fn->insns.count, given;

    while (first > 0 && fn->insns.at[first - 1].loc == PTX_NEXT_LOC && !leaves(&fn->insns.at[first - 1]))
        first--;
    for (given = first; given > 0 && fn->insns.at[given - 1].loc == PTX_NEXT_LOC; given--)
        ;
    if (given != fn->insns.count)
        *PTX_PUSH(parser->lex.job, parser->function->early) =
            (struct ptx_early){first != fn->insns.count ? fn->insns.at[first].line : to, to, fn->insns.at[given].line};
}

/* Instructions at the end of a function may still wait for the next .loc. As no .loc follows, they get the preceding
 * location. */
static void give_line_at_end(struct ptx_parser *parser)
{
    size_t i = parser->function->insns.count;

    if (parser->loc != PTX_NEXT_LOC)
        return;
    while (i > 0 && parser->function->insns.at[i - 1].loc == PTX_NEXT_LOC)
        i--;
    parser->loc = i > 0 ? parser->function->insns.at[i - 1].loc : 0;
    give_line_to_next(parser, parser->loc);
}

/** Returns whether clang generated a function of OpenCL C for a block that enqueue_kernel launches. Such a function is a
 *  kernel, although clang writes it as a .func. */
static bool is_block_kernel(struct ptx_name name)
{
    static const char block[] = "_block_invoke", end[] = "_kernel";
    const size_t n = sizeof end - 1;

    return name.size > n && memcmp(name.text + name.size - n, end, n) == 0 &&
           memmem(name.text, name.size, block, sizeof block - 1) != NULL;
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
    function->text = lex->p;
    function->text_line = lex->line;
    function->first_symbol = (uint32_t)module->symbols.count;
    parser->function = function;
    parser->scope = &scope;
    if (!kernel && ptx_lex_peek(lex) == '(')
        parse_params(parser, true);
    if (!ptx_lex_identifier(lex, &name))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected the name of a function, found %s",
                 ptx_lex_here(lex, room, sizeof room));
    function->name = ptx_text(parser, name);
    function->kernel |= parser->opencl && !parser->rereading && function->results.count == 0 && is_block_kernel(name);
    const uint32_t *known = parser->rereading ? NULL : ptx_find_declared(parser, scope.parent, name);
    bool declared = known != NULL;

    if (declared) {
        function->symbol = *known >> 2;
        symbol = &module->symbols.at[function->symbol];
        if ((*known & 3) != PTX_NAME_SYMBOL || symbol->kind != PTX_SYM_FUNCTION)
            ptx_declared_twice(parser, NULL, function->name);
    } else {
        function->symbol = (uint32_t)module->symbols.count;
        symbol = PTX_PUSH(lex->job, module->symbols);
        symbol->kind = PTX_SYM_FUNCTION;
        symbol->name = function->name;
        symbol->line = function->line;
        symbol->source = parser->source;
        symbol->function = (uint32_t)(module->functions.count - 1);
        if (!parser->rereading)
            ptx_map_put(lex->job, &scope.parent->names, name.text, name.size,
                        function->symbol << 2 | PTX_NAME_SYMBOL);
    }
    if (!parser->rereading)
        ptx_share_name(parser, scope.parent, name, function->symbol);
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

        /* only a definition in another module may replace a weak definition */
        if (old->has_body &&
            (old->source == parser->source || (!old->weak && !function->weak))) {
            const struct ptx_symbol there = { .source = old->source, .line = old->line };

            if (old->source != parser->source)
                ptx_declared_twice(parser, &there, function->name);
            ptx_fail(lex->job, function->line, LW_EINPUT, "'%s' is defined twice: it has two bodies", function->name);
        }
        old->has_body = yields;
        for (size_t i = 0; i < function->params.count; i++) {
            const struct ptx_symbol *param = &module->symbols.at[function->params.at[i]];

            if (param->size_bytes == 0 && strcmp(param->name, "%VAParam") == 0)
                ptx_fail(lex->job, function->line, LW_EUNSUPP, "'%s' takes a variable number of "
                         "arguments ('...'), which is not supported: pass an array, or write one "
                         "function for each number of arguments", function->name);
            if (param->size_bytes == 0)
                ptx_fail(lex->job, function->line, LW_EUNSUPP,
                         "the parameter '%s' has a size of 0 bytes", param->name);
        }
        if (!yields)
            mine->function = (uint32_t)(function - module->functions.at);
        function->has_body = true;
        parser->loc = 0;
        parser->no_line = false;
        parser->targets.count = 0;
        parser->in_body = true;
        ptx_parse_body(parser);
        give_line_at_end(parser);
        parser->in_body = false;
        function->has_body = !yields;
    } else {
        ptx_lex_expect(lex, ';', "or a body after the function's head");
    }
    function->end_symbol = (uint32_t)module->symbols.count;
    parser->scope = scope.parent;
    parser->function = NULL;
}

/* ---- directives ---------------------------------------------------------- */

static const char *file_text(struct ptx_parser *parser, struct ptx_name string)
{
    char *text = PTX_ARRAY(parser->lex.job, char, string.size + 1);

    (void)ptx_string_text(string.text, string.size, text, string.size + 1);
    return text;
}

void ptx_parse_file(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    uint64_t number = ptx_lex_integer(lex, "a number after .file");
    struct ptx_name first, second;
    const char *path;
    char room[40];

    if (number > 100000)
        ptx_fail(lex->job, lex->line, LW_EINPUT, "the file number %llu is too large",
                 (unsigned long long)number);
    if (!ptx_lex_string(lex, &first))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected a file name in quotes, found %s",
                 ptx_lex_here(lex, room, sizeof room));
    path = file_text(parser, first);
    if (ptx_lex_string(lex, &second)) { /* the first string was the directory, the second is the name */
        const char *name = file_text(parser, second);

        path = name[0] == '/' ? name : lw_arena_printf(&lex->job->arena, "%s/%s", path, name);
        if (path == NULL)
            ptx_fail(lex->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    }
    while (ptx_lex_accept(lex, ',')) /* skips the time stamp and the size of the file */
        (void)ptx_lex_integer(lex, "a number");
    number += parser->file_base;
    while (parser->module->files.count <= number)
        *PTX_PUSH(lex->job, parser->module->files) = NULL;
    parser->module->files.at[number] = path;
}

/* Reads the comment after a .loc that names the inlined calls of the code (ptx_dump_calls.c). */
static void read_calls(const struct ptx_lexer *lex, struct ptx_loc *loc)
{
    static const char mark[] = "//lw.calls ";
    const char *at = lex->p, *end;

    while (at < lex->end && (*at == ' ' || *at == '\t'))
        at++;
    if ((size_t)(lex->end - at) < sizeof mark || memcmp(at, mark, sizeof mark - 1) != 0)
        return;
    loc->calls = at += sizeof mark - 1;
    for (end = at; end < lex->end && end - at < UINT16_MAX && (unsigned char)*end > ' ';)
        end++;
    loc->calls_size = (uint32_t)(end - at);
}

void ptx_parse_loc(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    uint64_t file = ptx_lex_integer(lex, "a file number after .loc");
    uint64_t line = ptx_lex_integer(lex, "a line number after .loc");
    uint64_t column = ptx_lex_integer(lex, "a column after .loc");
    struct ptx_loc loc = { .file = (uint32_t)file + parser->file_base,
                           .line = (uint32_t)line,
                           .column = (uint16_t)(column > 65535 ? 65535 : column) };
    struct ptx_name name;

    if (file > 100000 || line > UINT32_MAX)
        ptx_fail(lex->job, lex->line, LW_EINPUT, ".loc %lld %lld: the line or column is out of range",
                 (long long)file, (long long)line);
    read_calls(lex, &loc);
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
                call[i] = (uint32_t)ptx_lex_integer(lex, "a number after inlined_at");
            ptx_debug_inlined_at(parser, &loc, call[0] + parser->file_base, call[1], call[2]);
        } else {
            ptx_fail(lex->job, lex->line, LW_EUNSUPP, "'%.*s' in .loc is not supported",
                     (int)name.size, name.text);
        }
    }
    parser->no_line = line == 0 || file == 0;
    if (parser->no_line) {
        /* Code with line 0 keeps the preceding location. After a label, which other paths reach, such code gets the
         * next location instead (also define_label()), because the preceding code may be a branch side that was not
         * executed. */
        if (parser->in_body && parser->function->joins_at == parser->function->insns.count + 1)
            parser->loc = PTX_NEXT_LOC;
        return;
    }
    parser->loc = (uint32_t)parser->module->locs.count;
    *PTX_PUSH(lex->job, parser->module->locs) = loc;
    if (parser->in_body) {
        take_early(parser);
        give_line_to_next(parser, parser->loc);
    }
    if (parser->in_body && parser->function->opening == 0)
        parser->function->opening = parser->loc;
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
        name = (struct ptx_name){ name.text - 1, name.size + 1 }; /* the name includes its dot */
    ptx_lex_expect(lex, '{', "after the section's name");
    (void)ptx_debug_section(parser, name);
    if (!ptx_lex_accept(lex, '}'))
        ptx_fail(lex->job, start, LW_EINPUT, "the section is not closed with '}'");
}

static struct ptx_dialect *parser_dialect(struct ptx_parser *parser)
{
    return &parser->module->dialects.at[parser->source];
}

/* Parses the version after .version, which is MAJOR.MINOR in decimal. */
static void parse_version(struct ptx_parser *parser)
{
    struct ptx_lexer *lex = &parser->lex;
    char room[40];
    const char *end;
    unsigned part[2] = { 0, 0 };

    ptx_lex_space(lex);
    end = lex->p;
    for (unsigned i = 0; i < 2; i++) {
        const char *start = end;

        while (end < lex->end && *end >= '0' && *end <= '9' && part[i] < 100)
            part[i] = part[i] * 10 + (unsigned)(*end++ - '0');
        if (end == start || (i == 0 && (end >= lex->end || *end++ != '.')))
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "expected a number such as 8.0 after .version, found %s",
                     ptx_lex_here(lex, room, sizeof room));
    }
    if (part[1] > 9 || !ptx_version_known(10 * part[0] + part[1]))
        ptx_fail(lex->job, lex->line, LW_EINPUT, ".version %.*s does not exist: versions are 1.0 to 9.0",
                 (int)(end - lex->p), lex->p);
    parser_dialect(parser)->version = (uint16_t)(10 * part[0] + part[1]);
    lex->p = end;
}

static void parse_target(struct ptx_parser *parser)
{
    struct ptx_name name;
    char room[40];

    do {
        if (!ptx_lex_identifier(&parser->lex, &name))
            ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                     "expected a word after .target, found %s",
                     ptx_lex_here(&parser->lex, room, sizeof room));
        if (!(name.size > 3 && memcmp(name.text, "sm_", 3) == 0) && !ptx_name_is(name, "debug") &&
            !ptx_name_is(name, "texmode_unified") && !ptx_name_is(name, "texmode_independent"))
            ptx_fail(parser->lex.job, parser->lex.line, LW_EUNSUPP,
                     "'.target %.*s' is not supported: use sm_NN, debug, texmode_unified or texmode_independent",
                     (int)name.size, name.text);
        parser->opencl |= ptx_name_is(name, "texmode_independent");
        if (name.text[0] == 's') {
            struct ptx_dialect *d = parser_dialect(parser);
            unsigned since = ptx_target_since(name.text, name.size);

            if (since == 0)
                ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                         "target '%.*s' does not exist: targets are sm_75, sm_80, sm_90a ...",
                         (int)name.size, name.text);
            if (d->is_checked && d->version != 0 && d->version < since)
                ptx_fail(parser->lex.job, parser->lex.line, LW_EINPUT,
                         "'%.*s' needs .version %u.%u or later, but this module has %u.%u",
                         (int)name.size, name.text, since / 10, since % 10, d->version / 10,
                         d->version % 10);
            d->target = (uint16_t)strtoul(name.text + 3, NULL, 10);
            d->variant = name.text[name.size - 1];
            if (d->variant != 'a' && d->variant != 'f')
                d->variant = 0;
        }
    } while (ptx_lex_accept(&parser->lex, ','));
}

/* ---- functions of OpenCL C ----------------------------------------------------- */

static void defined_twice(struct ptx_job *job, const struct ptx_symbol *use,
                          const struct ptx_function *one, const struct ptx_function *two)
{
    ptx_job_source(job, use->source);
    ptx_fail(job, use->line, LW_EINPUT,
             "'%s' is defined in %s and in %s: remove one definition, or give them different names",
             use->name, ptx_job_location(job, one->source, one->line),
             ptx_job_location(job, two->source, two->line));
}

/* Links OpenCL C functions between modules. clang marks no .func of OpenCL C as .extern or .visible, although every
 * non-static function is visible. A declaration without a body, which PTX does not permit to be called, therefore
 * refers to the function of this name in another OpenCL C module. If two modules define the name, both functions may
 * be static. */
static void link_opencl(struct ptx_parser *parser, const bool *opencl)
{
    struct ptx_module *module = parser->module;
    struct ptx_job *job = module->job;
    struct ptx_map defined = { 0 };

    for (uint32_t f = 0; f < module->functions.count; f++) {
        const struct ptx_function *fn = &module->functions.at[f];

        if (opencl[fn->source] && fn->has_body && !fn->kernel &&
            ptx_map_find(&defined, fn->name, strlen(fn->name)) == NULL)
            ptx_map_put(job, &defined, fn->name, strlen(fn->name), f);
    }
    for (size_t i = 0; i < module->symbols.count; i++) {
        struct ptx_symbol *s = &module->symbols.at[i];
        const uint32_t *shared, *first;

        if (s->kind != PTX_SYM_FUNCTION || module->functions.at[s->function].has_body)
            continue;
        shared = ptx_map_find(&module->linked, s->name, strlen(s->name));
        first = ptx_map_find(&defined, s->name, strlen(s->name));
        if (opencl[s->source] && shared != NULL && (*shared & 3) == PTX_NAME_SYMBOL &&
            module->symbols.at[*shared >> 2].kind == PTX_SYM_FUNCTION &&
            module->functions.at[module->symbols.at[*shared >> 2].function].has_body) {
            uint32_t visible = module->symbols.at[*shared >> 2].function;

            if (first != NULL && !module->functions.at[visible].weak)
                defined_twice(job, s, &module->functions.at[*first], &module->functions.at[visible]);
            s->function = first != NULL ? *first : visible; /* a weak definition is replaced */
            continue;
        }
        if (first == NULL || !(opencl[s->source] || shared != NULL))
            continue;
        for (uint32_t f = *first + 1; f < module->functions.count; f++) {
            const struct ptx_function *one = &module->functions.at[*first];
            const struct ptx_function *two = &module->functions.at[f];

            if (!opencl[two->source] || !two->has_body || two->kernel ||
                strcmp(two->name, s->name) != 0)
                continue;
            defined_twice(job, s, one, two);
        }
        s->function = *first;
    }
}

/* Parses .alias name, target; both are functions that were declared before. */
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
            ptx_fail(lex->job, lex->line, LW_EINPUT, "'%.*s' is not a function declared above",
                     (int)name.size, name.text);
        symbols[i] = *known >> 2;
        if (i == 0)
            ptx_lex_expect(lex, ',', "between the names of an alias");
    }
    ptx_lex_expect(lex, ';', "after .alias");
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
            parser->visible |= word.text[0] == 'e'; /* a launch finds a kernel by its name */
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
            ptx_lex_expect(lex, ';', "after the declaration");
        } else if (ptx_name_is(word, "version")) {
            parse_version(parser);
        } else if (ptx_name_is(word, "target")) {
            parse_target(parser);
        } else if (ptx_name_is(word, "address_size")) {
            uint64_t bits = ptx_lex_integer(lex, "a number after .address_size");

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
            /* lanewise cc writes this pragma, because inline assembly may use features that are newer than the .version. */
            if (ptx_lex_string(lex, &word) && ptx_name_is(word, "lanewise.newer"))
                parser_dialect(parser)->is_checked = false;
            ptx_lex_expect(lex, ';', "after .pragma");
        } else {
            ptx_fail(lex->job, line, LW_EUNSUPP, "the directive '.%.*s' is not supported",
                     (int)word.size, word.text);
        }
        return;
    }
}

/* Finds the compiler's name in the comments at the top. */
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

/* Fails if a module with directives has no .version or no .target. */
static void check_head(struct ptx_parser *parser)
{
    const struct ptx_dialect *d = parser_dialect(parser);

    if (parser->directives != 0 && (d->version == 0 || d->target == 0))
        ptx_fail(parser->lex.job, 1, LW_EINPUT, "the directive .%s is missing: PTX starts with .version, .target and "
                                                ".address_size", d->version == 0 ? "version" : "target");
}

static bool has_file(const struct ptx_module *module, uint32_t loc)
{
    const uint32_t file = module->locs.at[loc].file;

    return file < module->files.count && module->files.at[file] != NULL;
}

/* Gives instructions the lines of the PTX text as locations if the text has no .loc, or if their .loc names an unknown
 * file. Findings then name lines of the PTX text. If some code of the text has locations, code without .loc was generated
 * by a compiler and stays without a location. PTX text that Lanewise has compiled gets no such lines, because users do
 * not see this text. */
static void own_lines(struct ptx_parser *parser, size_t first_loc, size_t first_function)
{
    struct ptx_module *module = parser->module;
    struct ptx_job *job = module->job;
    const uint32_t file = (uint32_t)module->files.count == 0 ? 1 : (uint32_t)module->files.count;
    const size_t end = module->locs.count;
    bool any = false, used = false;

    for (size_t i = first_loc; i < end && !any; i++)
        any = has_file(module, (uint32_t)i);
    for (size_t f = first_function; f < module->functions.count && !job->from_source; f++) {
        struct ptx_function *fn = &module->functions.at[f];

        if (fn->source != parser->source)
            continue;
        for (size_t i = 0; i < fn->insns.count; i++) {
            struct ptx_insn *in = &fn->insns.at[i];

            if (in->loc == 0 ? any : has_file(module, in->loc))
                continue;
            if (!used || module->locs.at[module->locs.count - 1].line != in->line)
                *PTX_PUSH(job, module->locs) = (struct ptx_loc){ .file = file, .line = in->line };
            in->loc = (uint32_t)module->locs.count - 1;
            used = true;
        }
        if (fn->opening != 0 && !has_file(module, fn->opening))
            fn->opening = 0;
    }
    if (!used)
        return;
    while (module->files.count <= file)
        *PTX_PUSH(job, module->files) = NULL;
    module->files.at[file] = job->sources[parser->source].name;
}

/* ---- kernels that kernels call ------------------------------------------------- */

/** Parses kernel number @kernel again as a function, with its own parameters, registers and labels; parameters are
 *  passed by docs/reference/abi.md. The body uses the shared and global variables of the kernel. Returns the function's
 *  symbol. */
static uint32_t make_callable(struct ptx_parser *parser, struct ptx_scope *scopes, uint32_t kernel)
{
    struct ptx_module *module = parser->module;
    const struct ptx_function from = module->functions.at[kernel];
    const size_t first_loc = module->locs.count, number = module->functions.count;
    struct ptx_function *fn;

    ptx_job_source(module->job, from.source);
    parser->lex = (struct ptx_lexer){ .job = module->job, .p = from.text, .line = from.text_line,
                                      .end = module->job->text + module->job->text_size };
    parser->scope = &scopes[from.source];
    parser->source = from.source;
    parser->file_base = module->file_bases[from.source];
    parser->visible = parser->weak = parser->common = parser->external = false;
    parser->rereading = true;
    parser->next_shown = from.first_symbol;
    parse_function(parser, false);
    parser->rereading = false;
    module->functions.at[kernel].callable = (uint32_t)number + 1;
    fn = &module->functions.at[number];
    fn->copy_of = kernel + 1;
    own_lines(parser, first_loc, number);
    return fn->symbol;
}

/* Makes each call of a kernel call a copy of the kernel that is parsed as a function. In OpenCL C a kernel may call
 * another kernel like a function; PTX does not permit this, but the compiler writes such calls. The loop also reaches the
 * copies, so a kernel may call itself. */
static void find_called_kernels(struct ptx_parser *parser, struct ptx_scope *scopes, const bool *opencl)
{
    struct ptx_module *module = parser->module;

    for (uint32_t f = 0; f < module->functions.count; f++) {
        for (size_t i = 0; opencl[module->functions.at[f].source] && i < module->functions.at[f].insns.count; i++) {
            struct ptx_insn *in = &module->functions.at[f].insns.at[i];
            const struct ptx_symbol *callee = in->op == PTX_CALL ? ptx_callee(module, in) : NULL;
            uint32_t kernel = callee != NULL ? callee->function : 0, symbol;

            if (callee == NULL || !module->functions.at[kernel].kernel || !module->functions.at[kernel].has_body)
                continue;
            symbol = (uint32_t)(callee - module->symbols.at);
            for (unsigned k = 0; k < in->operand_count; k++) { /* `in` stays valid: make_callable() adds a function, but
                                                                * does not move the instructions of other functions */
                struct ptx_operand *o = &in->operand[k];
                const uint32_t callable = module->functions.at[kernel].callable;

                if (o->kind == PTX_O_SYMBOL && o->symbol == symbol)
                    o->symbol = callable != 0 ? module->functions.at[callable - 1].symbol
                                              : make_callable(parser, scopes, kernel);
            }
        }
    }
}

/* Reserves the file numbers that .loc directives of the last module use without a .file directive, so that the next module has
 * other numbers. */
static void reserve_files(struct ptx_module *module, size_t first_loc)
{
    for (size_t i = first_loc; i < module->locs.count; i++)
        while (module->files.count <= module->locs.at[i].file)
            *PTX_PUSH(module->job, module->files) = NULL;
}

struct ptx_module *ptx_parse(struct ptx_job *job)
{
    struct ptx_module *module = PTX_NEW(job, struct ptx_module);
    struct ptx_parser parser = { .module = module };
    bool *opencl = PTX_ARRAY(job, bool, job->source_count);
    struct ptx_scope *scopes = PTX_ARRAY(job, struct ptx_scope, job->source_count); /* by module: names, which stay valid to
                                                                                    * parse a kernel of the module again */

    module->job = job;
    module->file_bases = PTX_ARRAY(job, uint32_t, job->source_count + 1);
    for (unsigned i = 1; i < PTX_OP_COUNT; i++) {
        const char *name = ptx_op_name((enum ptx_op)i);

        ptx_map_put(job, &parser.ops, name, strlen(name), i);
    }
    for (unsigned i = 1; i < PTX_W_COUNT; i++) {
        const char *word = ptx_word_text((enum ptx_word)i);

        ptx_map_put(job, &parser.words, word, strlen(word), i);
    }
    (void)PTX_PUSH(job, module->locs); /* element 0 stands for no location */
    for (size_t i = 0; i < job->source_count; i++) {
        const size_t first_loc = module->locs.count, first_function = module->functions.count;

        ptx_job_source(job, i);
        parser.lex = (struct ptx_lexer){ .job = job, .p = job->text,
                                         .end = job->text + job->text_size, .line = 1 };
        if (job->text_size >= 3 && memcmp(job->text, "\xef\xbb\xbf", 3) == 0)
            parser.lex.p += 3; /* skips a byte order mark, which editors write */
        else if (job->text_size >= 2 && (memcmp(job->text, "\xff\xfe", 2) == 0 ||
                                         memcmp(job->text, "\xfe\xff", 2) == 0))
            ptx_fail(job, 1, LW_EINPUT, "the file is encoded as UTF-16: save it as UTF-8");
        parser.scope = &scopes[i];
        parser.source = (uint16_t)i;
        parser.file_base = module->file_bases[i] = (uint32_t)module->files.count;
        parser.loc = 0;
        parser.opencl = false;
        *PTX_PUSH(job, module->dialects) = (struct ptx_dialect){ .is_checked = !job->from_source };
        if (i == 0)
            module->producer = find_producer(&parser, job->text, job->text_size);
        parser.directives = 0;
        for (; ptx_lex_peek(&parser.lex) != '\0' || parser.lex.p < parser.lex.end;
             parser.directives++)
            parse_directive(&parser);
        opencl[i] = parser.opencl;
        check_head(&parser);
        own_lines(&parser, first_loc, first_function);
        if (job->source_count > 1)
            reserve_files(module, first_loc);
    }
    module->file_bases[job->source_count] = (uint32_t)module->files.count;
    if (job->source_count > 1)
        link_opencl(&parser, opencl);
    for (size_t i = 0; i < module->aliases.count; i++) {
        const struct ptx_alias *a = &module->aliases.at[i];
        const struct ptx_symbol *to = &module->symbols.at[a->target];

        ptx_job_source(job, to->source);
        if (!module->functions.at[to->function].has_body)
            ptx_fail(job, a->line, LW_EUNSUPP, "the alias '%s' refers to '%s', which has no body in this module",
                     module->symbols.at[a->symbol].name, to->name);
        module->symbols.at[a->symbol].function = to->function;
    }
    find_called_kernels(&parser, scopes, opencl);
    ptx_job_source(job, 0);
    return module;
}
