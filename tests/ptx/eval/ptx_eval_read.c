/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of the direct PTX evaluator, which converts text to functions with instructions. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/eval/ptx_eval_priv.h"

struct name {
    char text[80];
    int depth, index;
    enum { NAME_REG, NAME_SYMBOL, NAME_RANGE } kind;
    struct pe_type type;
};
struct reader {
    const char *p;
    int line;
    jmp_buf stop;
    char *why;
    size_t why_size;
    struct pe_module *module;
    struct pe_function *function;
    struct name *names;
    int name_count, name_capacity, depth;
    int insn_capacity, reg_capacity, label_capacity, symbol_capacity, function_capacity;
};

_Noreturn static void fail(struct reader *r, const char *fmt, ...)
{
    char text[200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(r->why, r->why_size, "evaluator, line %d: %s", r->line, text);
    longjmp(r->stop, 1);
}

static void *grow(struct reader *r, void *array, int *room, int need, size_t size)
{
    if (need <= *room)
        return array;
    int more = *room < 8 ? 8 : *room * 2;
    char *p = realloc(array, (size_t)more * size);

    if (p == NULL)
        fail(r, "out of memory");
    memset(p + (size_t)*room * size, 0, (size_t)(more - *room) * size);
    *room = more;
    return p;
}

/* ---- words ------------------------------------------------------------------- */

static char peek(struct reader *r)
{
    for (;;) {
        if (*r->p == '\n')
            r->line++;
        if (isspace((unsigned char)*r->p)) {
            r->p++;
        } else if (r->p[0] == '/' && r->p[1] == '/') {
            while (*r->p != '\0' && *r->p != '\n')
                r->p++;
        } else if (r->p[0] == '/' && r->p[1] == '*') {
            for (r->p += 2; *r->p != '\0' && !(r->p[0] == '*' && r->p[1] == '/'); r->p++)
                r->line += *r->p == '\n';
            r->p += *r->p != '\0' ? 2 : 0;
        } else {
            return *r->p;
        }
    }
}

static bool accept(struct reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->p++;
    return true;
}

static void expect(struct reader *r, char c)
{
    if (!accept(r, c))
        fail(r, "expected '%c', found '%.12s'", c, r->p);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/** Reads a word of letters, or if @dot is set, a word after a dot. The result is empty if the text has no such word here. */
static void word(struct reader *r, char *out, size_t size)
{
    size_t n = 0;

    (void)peek(r);
    while (is_word(*r->p) && n + 1 < size)
        out[n++] = *r->p++;
    out[n] = '\0';
}

static bool dotted(struct reader *r, char *out, size_t size)
{
    if (*r->p != '.' || !is_word(r->p[1]))
        return false;
    r->p++;
    word(r, out, size);
    while (r->p[0] == ':' && r->p[1] == ':') {
        size_t n = strlen(out);

        snprintf(out + n, size - n, "::");
        r->p += 2;
        word(r, out + n + 2, size - n - 2);
    }
    return true;
}

static bool find_type(const char *text, struct pe_type *out)
{
    static const struct {
        const char *name;
        struct pe_type type;
    } types[] = {
        { "u8", { 'u', 8, 0 } },   { "s8", { 's', 8, 0 } },   { "b8", { 'b', 8, 0 } },
        { "u16", { 'u', 16, 0 } }, { "s16", { 's', 16, 0 } }, { "b16", { 'b', 16, 0 } },
        { "u32", { 'u', 32, 0 } }, { "s32", { 's', 32, 0 } }, { "b32", { 'b', 32, 0 } },
        { "u64", { 'u', 64, 0 } }, { "s64", { 's', 64, 0 } }, { "b64", { 'b', 64, 0 } },
        { "f16", { 'f', 16, 0 } }, { "f32", { 'f', 32, 0 } }, { "f64", { 'f', 64, 0 } },
        { "bf16", { 'g', 16, 0 } }, { "f16x2", { 'f', 16, 1 } }, { "bf16x2", { 'g', 16, 1 } },
        { "u16x2", { 'u', 16, 1 } }, { "s16x2", { 's', 16, 1 } }, { "f32x2", { 'f', 32, 1 } },
        { "pred", { 'p', 1, 0 } },
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, text) == 0) {
            *out = types[i].type;
            return true;
        }
    }
    return false;
}

static bool number(struct reader *r, struct pe_operand *o)
{
    char c = peek(r);
    const char *p = r->p;
    char *end;
    bool minus = false;

    if (c == '-') {
        minus = true;
        p++;
        while (*p == ' ')
            p++;
    }
    if (!isdigit((unsigned char)*p))
        return false;
    if (p[0] == '0' && (p[1] == 'f' || p[1] == 'F' || p[1] == 'd' || p[1] == 'D')) {
        uint64_t bits = strtoull(p + 2, &end, 16);
        double d;

        if (end - p == 10) {
            uint32_t w = (uint32_t)bits;
            float f;

            memcpy(&f, &w, sizeof f);
            /* A literal with exact bits, including those of a NaN, has index 1. */
            o->index = 1;
            o->imm = minus ? w ^ 0x80000000u : w;
        } else {
            memcpy(&d, &bits, sizeof d);
            o->imm = minus ? bits ^ UINT64_C(1) << 63 : bits;
        }
        o->kind = PE_O_FLOAT;
        r->p = end;
        return true;
    }
    uint64_t v = strtoull(p, &end, p[0] == '0' && (p[1] | 32) == 'b' ? 10 : 0);

    if (p[0] == '0' && (p[1] | 32) == 'b')
        v = strtoull(p + 2, &end, 2);
    if (*end == '.' || (*end | 32) == 'e') {
        double d = strtod(p, &end);

        d = minus ? -d : d;
        o->kind = PE_O_FLOAT;
        memcpy(&o->imm, &d, sizeof d);
        r->p = end;
        return true;
    }
    if (*end == 'U')
        end++;
    o->kind = PE_O_IMM;
    o->imm = minus ? 0 - v : v;
    r->p = end;
    return true;
}

static uint64_t integer(struct reader *r)
{
    struct pe_operand o = { 0 };

    if (!number(r, &o) || o.kind != PE_O_IMM)
        fail(r, "expected a number, found '%.12s'", r->p);
    return o.imm;
}

/* ---- names -------------------------------------------------------------------- */

static struct name *put_name(struct reader *r, const char *text, int kind, int index)
{
    r->names = grow(r, r->names, &r->name_capacity, r->name_count + 1, sizeof *r->names);
    struct name *n = &r->names[r->name_count++];

    snprintf(n->text, sizeof n->text, "%s", text);
    n->depth = r->depth;
    n->kind = (unsigned)kind;
    n->index = index;
    return n;
}

static int put_reg(struct reader *r, const char *text, struct pe_type type)
{
    struct pe_function *fn = r->function;

    fn->regs = grow(r, fn->regs, &r->reg_capacity, fn->reg_count + 1, sizeof *fn->regs);
    snprintf(fn->regs[fn->reg_count].name, sizeof fn->regs[0].name, "%s", text);
    fn->regs[fn->reg_count].type = type;
    return fn->reg_count++;
}

static const struct name *find_name(struct reader *r, const char *text)
{
    for (int i = r->name_count; i-- > 0;) {
        struct name *n = &r->names[i];
        size_t size = strlen(n->text);

        if (n->kind != NAME_RANGE) {
            if (strcmp(n->text, text) == 0)
                return n;
        } else if (strncmp(n->text, text, size) == 0 && isdigit((unsigned char)text[size])) {
            char *end;
            long k = strtol(text + size, &end, 10);

            if (*end == '\0' && k < n->index) { /* creates the name of a register range's element at its first use */
                struct pe_type type = n->type;
                int depth = r->depth, reg;
                struct name *synthetic;

                reg = put_reg(r, text, type);
                r->depth = n->depth;
                synthetic = put_name(r, text, NAME_REG, reg);
                r->depth = depth;
                return synthetic;
            }
        }
    }
    return NULL;
}

/* ---- declarations --------------------------------------------------------------- */

static int put_symbol(struct reader *r, enum pe_space space)
{
    struct pe_module *m = r->module;

    m->symbols = grow(r, m->symbols, &r->symbol_capacity, m->symbol_count + 1, sizeof *m->symbols);
    m->symbols[m->symbol_count] = (struct pe_symbol){ .space = space, .reg = -1 };
    return m->symbol_count++;
}

static void initialise(struct reader *r, struct pe_symbol *s)
{
    bool braces = accept(r, '{');
    unsigned bytes = pe_type_bits(s->type) / 8;

    s->init = calloc(s->bytes, 1);
    for (uint32_t at = 0; at + bytes <= s->bytes; at += bytes) {
        struct pe_operand o = { 0 };

        if (!number(r, &o))
            fail(r, "expected a number in the initialiser, found '%.12s'", r->p);
        uint64_t bits = pe_literal(&o, s->type);

        memcpy(s->init + at, &bits, bytes);
        if (!braces || !accept(r, ','))
            break;
    }
    if (braces)
        expect(r, '}');
}

/** Reads the variables of one declaration. Returns the index of the first one. */
static int variables(struct reader *r, enum pe_space space, bool formal)
{
    struct pe_type type = { 0 };
    uint32_t align = 0, vector = 1;
    char text[80];
    int first = -1;

    for (;;) {
        (void)peek(r);
        if (!dotted(r, text, sizeof text))
            break;
        if (strcmp(text, "align") == 0)
            align = (uint32_t)integer(r);
        else if (strcmp(text, "v2") == 0 || strcmp(text, "v4") == 0)
            vector = (uint32_t)(text[1] - '0');
        else if (strcmp(text, "ptr") != 0 && strcmp(text, "global") != 0 &&
                 strcmp(text, "shared") != 0 && !find_type(text, &type))
            fail(r, "type '%s'", text);
    }
    uint32_t bytes = pe_type_bits(type) / 8 * vector;

    if (align < bytes)
        align = bytes;
    do {
        int index = put_symbol(r, space);
        struct pe_symbol *s = &r->module->symbols[index];

        if (first < 0)
            first = index;
        word(r, s->name, sizeof s->name);
        s->type = type;
        s->align = align;
        s->bytes = bytes;
        s->formal = formal;
        while (accept(r, '[')) {
            if (accept(r, ']')) {
                s->open = true;
                s->bytes = 0;
            } else {
                s->bytes *= (uint32_t)integer(r);
                expect(r, ']');
            }
        }
        uint32_t *top = space == PE_SHARED ? &r->module->shared_bytes
                        : space == PE_GLOBAL || space == PE_CONST ? &r->module->static_bytes
                        : r->function->entry && formal ? &r->function->param_bytes
                                                       : &r->function->local_bytes;

        if (!s->open) {
            s->offset = (*top + align - 1) / align * align;
            *top = s->offset + s->bytes;
        }
        put_name(r, s->name, NAME_SYMBOL, index);
        if (accept(r, '='))
            initialise(r, s);
    } while (!formal && accept(r, ','));
    return first;
}

static void registers(struct reader *r)
{
    struct pe_type type;
    char text[80];

    (void)peek(r);
    if (!dotted(r, text, sizeof text) || !find_type(text, &type))
        fail(r, "type of registers");
    do {
        word(r, text, sizeof text);
        if (accept(r, '<')) {
            struct name *n = put_name(r, text, NAME_RANGE, (int)integer(r));

            n->type = type;
            expect(r, '>');
        } else {
            int reg = put_reg(r, text, type);

            put_name(r, text, NAME_REG, reg);
        }
    } while (accept(r, ','));
}

/* ---- operands --------------------------------------------------------------------- */

static void operand(struct reader *r, struct pe_operand *o);

static void elements(struct reader *r, struct pe_operand *o, char end)
{
    int room = 0;

    o->element = NULL;
    o->count = 0;
    while (!accept(r, end)) {
        o->element = grow(r, o->element, &room, o->count + 1, sizeof *o->element);
        operand(r, &o->element[o->count++]);
        (void)accept(r, ',');
    }
}

static int find_special(const char *text)
{
    static const char *const names[PE_S_COUNT] = {
        "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y",
        "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%lanemask_eq",
        "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
    };

    for (int i = 0; i < PE_S_COUNT; i++) {
        if (strcmp(names[i], text) == 0)
            return i;
    }
    return -1;
}

static void named(struct reader *r, struct pe_operand *o)
{
    char text[100];
    const struct name *n;

    word(r, text, sizeof text);
    if (strcmp(text, "_") == 0) {
        o->kind = PE_O_SINK;
        return;
    }
    n = find_name(r, text);
    if (n != NULL) {
        o->kind = n->kind == NAME_REG ? PE_O_REG : PE_O_SYMBOL;
        o->index = n->index;
        return;
    }
    if (strcmp(text, "WARP_SZ") == 0) {
        o->kind = PE_O_IMM;
        o->imm = 32;
        return;
    }
    if (text[0] == '%') {
        size_t used = strlen(text);

        if (*r->p == '.') {
            text[used++] = *r->p++;
            word(r, text + used, sizeof text - used);
        }
        o->index = find_special(text);
        o->kind = PE_O_SPECIAL;
        if (o->index < 0)
            fail(r, "'%s' is not known", text);
        return;
    }
    for (int i = 0; i < r->module->function_count; i++) {
        if (strcmp(r->module->functions[i].name, text) == 0) {
            o->kind = PE_O_FUNCTION;
            o->index = i;
            return;
        }
    }
    /* A label is represented by the number of its name. The position of the label is determined at the end of the body. */
    struct pe_function *fn = r->function;

    o->kind = PE_O_LABEL;
    for (o->index = 0; o->index < fn->label_count; o->index++) {
        if (strcmp(fn->labels[o->index], text) == 0)
            return;
    }
    int room = r->label_capacity;

    fn->labels = grow(r, fn->labels, &room, fn->label_count + 1, sizeof *fn->labels);
    fn->label_at = grow(r, fn->label_at, &r->label_capacity, fn->label_count + 1,
                        sizeof *fn->label_at);
    snprintf(fn->labels[fn->label_count], sizeof fn->labels[0], "%.63s", text);
    fn->label_at[fn->label_count++] = -1;
}

static void operand(struct reader *r, struct pe_operand *o)
{
    *o = (struct pe_operand){ .symbol = -1, .index = -1 };
    if (number(r, o))
        return;
    if (accept(r, '{')) {
        o->kind = PE_O_VECTOR;
        elements(r, o, '}');
    } else if (accept(r, '(')) {
        o->kind = PE_O_LIST;
        elements(r, o, ')');
    } else if (accept(r, '[')) {
        struct pe_operand base = { .symbol = -1, .index = -1 };

        o->kind = PE_O_ADDRESS;
        if (!number(r, &base))
            named(r, &base);
        if (base.kind == PE_O_REG)
            o->index = base.index;
        else if (base.kind == PE_O_SYMBOL)
            o->symbol = base.index;
        else
            o->imm = base.imm;
        if (base.kind != PE_O_IMM && (accept(r, '+') || peek(r) == '-'))
            o->imm = integer(r);
        expect(r, ']');
    } else {
        bool negated = accept(r, '!');

        named(r, o);
        o->negated = negated;
        if (accept(r, '|')) {
            struct pe_operand *two = calloc(2, sizeof *two);

            two[0] = *o;
            operand(r, &two[1]);
            *o = (struct pe_operand){ .kind = PE_O_PAIR, .count = 2, .element = two };
        } else if (o->kind == PE_O_SYMBOL && (accept(r, '+') || peek(r) == '-')) {
            o->imm = integer(r);
        }
    }
}

/* ---- statements ------------------------------------------------------------------- */

static void instruction(struct reader *r, const char *name, int guard, bool guard_neg)
{
    static const char *const ops[] = {
#define E(name) #name,
        PE_OPS(E)
#undef E
    };
    static const char *const words[] = {
#define E(name) #name,
        PE_WORDS(E)
#undef E
    };
    struct pe_function *fn = r->function;
    struct pe_insn in = { .guard = guard, .guard_neg = guard_neg, .line = r->line };
    char text[80];

    for (in.op = 0; in.op < PE_OP_COUNT && strcmp(ops[in.op], name) != 0;)
        in.op++;
    if (in.op == PE_OP_COUNT)
        fail(r, "instruction '%s'", name);
    while (dotted(r, text, sizeof text)) {
        unsigned w = 0;
        char *part = strstr(text, "::");

        if (part != NULL)
            *part = '\0';
        if (find_type(text, &in.type[in.type_count < 2 ? in.type_count : 2])) {
            in.type_count++;
            continue;
        }
        while (w < PE_WORD_COUNT && strcmp(words[w], text) != 0)
            w++;
        if (w == PE_WORD_COUNT)
            fail(r, "modifier '.%s' of %s", text, name);
        in.words[w / 64] |= UINT64_C(1) << w % 64;
    }
    while (peek(r) != ';') {
        if (in.operand_count == 7)
            fail(r, "too many operands");
        operand(r, &in.operand[in.operand_count++]);
        (void)accept(r, ',');
    }
    expect(r, ';');
    fn->insns = grow(r, fn->insns, &r->insn_capacity, fn->insn_count + 1, sizeof *fn->insns);
    fn->insns[fn->insn_count++] = in;
}

/* Reads a branch table, which becomes an instruction without effect. The label of the table is its name. */
static void targets(struct reader *r)
{
    struct pe_function *fn = r->function;
    struct pe_insn in = { .op = PE_pmevent, .guard = -1, .line = r->line };
    int room = 0;

    in.operand[0].kind = PE_O_LIST;
    in.operand_count = 1;
    do {
        in.operand[0].element = grow(r, in.operand[0].element, &room, in.operand[0].count + 1,
                                     sizeof *in.operand[0].element);
        in.operand[0].element[in.operand[0].count] = (struct pe_operand){ .symbol = -1 };
        named(r, &in.operand[0].element[in.operand[0].count++]);
    } while (accept(r, ','));
    fn->insns = grow(r, fn->insns, &r->insn_capacity, fn->insn_count + 1, sizeof *fn->insns);
    fn->insns[fn->insn_count++] = in;
}

static void leave(struct reader *r)
{
    r->depth--;
    while (r->name_count > 0 && r->names[r->name_count - 1].depth > r->depth)
        r->name_count--;
    /* Removes the names of the inner block. Names from register ranges may follow these in the list, and remain. */
    int kept = 0;

    for (int i = 0; i < r->name_count; i++) {
        if (r->names[i].depth <= r->depth)
            r->names[kept++] = r->names[i];
    }
    r->name_count = kept;
}

static void body(struct reader *r)
{
    int base = r->depth;
    char text[80];

    while (r->depth >= base) {
        char c = peek(r);

        if (c == '{') {
            r->p++;
            r->depth++;
        } else if (c == '}') {
            r->p++;
            leave(r);
        } else if (c == '.') {
            (void)dotted(r, text, sizeof text);
            if (strcmp(text, "reg") == 0)
                registers(r);
            else if (strcmp(text, "shared") == 0)
                (void)variables(r, PE_SHARED, false);
            else if (strcmp(text, "local") == 0)
                (void)variables(r, PE_LOCAL, false);
            else if (strcmp(text, "param") == 0)
                (void)variables(r, PE_PARAM, false);
            else if (strcmp(text, "branchtargets") == 0)
                targets(r);
            else if (strcmp(text, "callprototype") == 0)
                while (*r->p != ';' && *r->p != '\0')
                    r->p++;
            else
                fail(r, "directive '.%s'", text);
            expect(r, ';');
        } else if (c == '@') {
            struct pe_operand guard = { .symbol = -1 };
            bool negated;

            r->p++;
            negated = accept(r, '!');
            named(r, &guard);
            word(r, text, sizeof text);
            instruction(r, text, guard.index, negated);
        } else if (c == ';') {
            r->p++;
        } else {
            const char *start;

            (void)peek(r);
            start = r->p;
            word(r, text, sizeof text);
            if (text[0] == '\0')
                fail(r, "statement '%.12s'", r->p);
            if (accept(r, ':')) {
                struct pe_operand label = { .symbol = -1 };
                const char *after = r->p;

                r->p = start;
                named(r, &label);
                r->p = after;
                r->function->label_at[label.index] = r->function->insn_count;
            } else {
                instruction(r, text, -1, false);
            }
        }
    }
    for (int i = 0; i < r->function->label_count; i++) {
        if (r->function->label_at[i] < 0)
            fail(r, "label '%s' is not defined", r->function->labels[i]);
    }
}

static void formals(struct reader *r, int *list, int *count, int room)
{
    char text[80];

    expect(r, '(');
    *count = 0;
    while (!accept(r, ')')) {
        (void)peek(r);
        (void)dotted(r, text, sizeof text);
        if (*count == room)
            fail(r, "too many parameters");
        if (strcmp(text, "reg") == 0) {
            int at = r->function->reg_count, index = put_symbol(r, PE_PARAM);

            registers(r);
            r->module->symbols[index].reg = at;
            r->module->symbols[index].type = r->function->regs[at].type;
            list[(*count)++] = index;
        } else {
            list[(*count)++] = variables(r, PE_PARAM, true);
        }
        (void)accept(r, ',');
    }
}

static void function(struct reader *r, bool entry)
{
    struct pe_module *m = r->module;
    int results[4], result_count = 0;
    char text[80];

    m->functions = grow(r, m->functions, &r->function_capacity, m->function_count + 1,
                        sizeof *m->functions);
    struct pe_function *fn = r->function = &m->functions[m->function_count++];

    r->reg_capacity = r->insn_capacity = r->label_capacity = 0;
    fn->entry = entry;
    r->depth++;
    if (peek(r) == '(')
        formals(r, results, &result_count, 4);
    word(r, fn->name, sizeof fn->name);
    memcpy(fn->results, results, sizeof results);
    fn->result_count = result_count;
    if (peek(r) == '(')
        formals(r, fn->params, &fn->param_count, 32);
    while (peek(r) == '.') {
        (void)dotted(r, text, sizeof text);
        if (strcmp(text, "noreturn") != 0) {
            do
                (void)integer(r);
            while (accept(r, ','));
        }
    }
    if (accept(r, '{')) {
        fn->body = true;
        body(r);
    } else {
        expect(r, ';');
        leave(r);
    }
}

static void module(struct reader *r)
{
    char text[80];

    while (peek(r) != '\0') {
        if (!dotted(r, text, sizeof text))
            fail(r, "directive '%.12s'", r->p);
        if (strcmp(text, "version") == 0 || strcmp(text, "address_size") == 0 ||
            strcmp(text, "target") == 0) {
            while (*r->p != '\n' && *r->p != '\0')
                r->p++;
        } else if (strcmp(text, "entry") == 0 || strcmp(text, "func") == 0) {
            function(r, text[0] == 'e');
        } else if (strcmp(text, "shared") == 0 || strcmp(text, "global") == 0 ||
                   strcmp(text, "const") == 0) {
            (void)variables(r, text[0] == 's' ? PE_SHARED : text[0] == 'g' ? PE_GLOBAL : PE_CONST,
                            false);
            expect(r, ';');
        } else if (strcmp(text, "visible") != 0 && strcmp(text, "extern") != 0 &&
                   strcmp(text, "weak") != 0) {
            fail(r, "directive '.%s'", text);
        }
    }
}

static bool read_module(struct reader *r)
{
    if (setjmp(r->stop) != 0)
        return false;
    module(r);
    return true;
}

struct pe_module *pe_read(const char *text, char *why, size_t size)
{
    struct reader r = { .p = text, .line = 1, .why = why, .why_size = size };

    r.module = calloc(1, sizeof *r.module);
    if (!read_module(&r)) {
        pe_destroy(r.module);
        r.module = NULL;
    }
    free(r.names);
    return r.module;
}

void pe_destroy(struct pe_module *module)
{
    if (module == NULL)
        return;
    for (int f = 0; f < module->function_count; f++) {
        struct pe_function *fn = &module->functions[f];

        for (int i = 0; i < fn->insn_count; i++) {
            for (int k = 0; k < fn->insns[i].operand_count; k++)
                free(fn->insns[i].operand[k].element);
        }
        free(fn->regs);
        free(fn->insns);
        free(fn->label_at);
        free(fn->labels);
    }
    for (int s = 0; s < module->symbol_count; s++)
        free(module->symbols[s].init);
    free(module->functions);
    free(module->symbols);
    free(module);
}
