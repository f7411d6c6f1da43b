/* SPDX-License-Identifier: Apache-2.0 */
/* Computes variables from their initialisers in the source, where no debug value of clang gives a location. ptx_initialisers.c
 * writes the initialisers of variables to which only the declaration assigns. Such a value never changes for a thread if it
 * depends only on work-item functions, on kernel parameters to which nothing assigns, and on other variables of this kind. The
 * value is then valid in the whole scope of the variable.
 *
 * The values on the stack of the DWARF expression have 64 bits. A value of a narrower C type is sign- or zero-extended. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

#include <stdio.h>

enum { MOST_BYTES = 2 * ISA_EXPRESSION_BYTES, MOST_DEPTH = 10, MOST_NESTED = 24, MOST_VARIABLES = 8 };

/** Type of a C integer. */
struct c_type {
    uint8_t bits;
    bool is_signed;
};
/** A value. The bytes of the expression from @start on compute it. */
struct term {
    uint32_t start;
    struct c_type type;
    bool positive;   /* the value is less than 2^63 */
    bool is_literal; /* the value is the constant @value */
    uint64_t value;
};
struct computing {
    struct ptx_placing *pl;
    const struct ptx_noting *noting;
    uint32_t root, die; /* debug entries of the function, and of the variable whose initialiser is read */
    struct ptx_note_words words;
    struct ptx_name token; /* the next token */
    uint8_t out[MOST_BYTES];
    uint32_t size;
    unsigned depth, nested, variables;
    bool failed;
};

static const struct c_type type_int = {32, true}, type_uint = {32, false}, type_long = {64, true}, type_ulong = {64, false};

/* ---- the expression --------------------------------------------------------------------------------- */

static void put(struct computing *c, unsigned byte)
{
    if (c->size == MOST_BYTES)
        c->failed = true;
    else
        c->out[c->size++] = (uint8_t)byte;
}

static void push(struct computing *c)
{
    c->failed |= ++c->depth > MOST_DEPTH;
}

static void put_number(struct computing *c, uint64_t value)
{
    put(c, ISA_OP_CONSTU);
    for (; value > 0x7f; value >>= 7)
        put(c, (value & 0x7f) | 0x80);
    put(c, (unsigned)value);
}

static void put_memory(struct computing *c, uint64_t address, unsigned bytes)
{
    uint8_t raw[8];

    put(c, ISA_OP_ADDR);
    lw_put64(raw, address);
    for (unsigned i = 0; i < 8; i++)
        put(c, raw[i]);
    put(c, ISA_OP_DEREF_SIZE);
    put(c, bytes);
    push(c);
}

/* Moves the bytes from @middle to the end of the expression to @from. */
static void rotate(struct computing *c, uint32_t from, uint32_t middle)
{
    uint8_t copy[MOST_BYTES];

    if (c->failed)
        return;
    memcpy(copy, c->out + from, middle - from);
    memmove(c->out + from, c->out + middle, c->size - middle);
    memcpy(c->out + from + (c->size - middle), copy, middle - from);
}

/* Copies the bytes [@from, @to) of the expression to its end. */
static void repeat(struct computing *c, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && !c->failed; i++)
        put(c, c->out[i]);
}

static uint64_t extend(uint64_t value, struct c_type type)
{
    if (type.bits < 64)
        value &= lw_mask(type.bits);
    if (type.bits < 64 && type.is_signed && value >> (type.bits - 1))
        value |= ~lw_mask(type.bits);
    return value;
}

/* Writes operations that extend the value on top of the stack from the size of its type. */
static void put_extension(struct computing *c, struct c_type type)
{
    if (type.bits == 64)
        return;
    for (unsigned i = 0; i < 2 && type.is_signed; i++) {
        put_number(c, 64u - type.bits);
        put(c, i == 0 ? ISA_OP_SHL : ISA_OP_SHRA);
    }
    if (!type.is_signed) {
        put_number(c, lw_mask(type.bits));
        put(c, ISA_OP_AND);
    }
}

static struct term literal(struct computing *c, uint32_t start, uint64_t value, struct c_type type)
{
    const uint64_t extended = extend(value, type);

    c->size = start;
    put_number(c, extended);
    return (struct term){.start = start, .type = type, .positive = extended >> 63 == 0, .is_literal = true, .value = extended};
}

/* Converts the value on top of the stack. */
static struct term convert(struct computing *c, struct term t, struct c_type type)
{
    const bool keeps = t.type.bits < type.bits ? !t.type.is_signed || type.is_signed || type.bits == 64
                                               : t.type.bits == type.bits && (t.type.is_signed == type.is_signed || type.bits == 64);

    if (t.is_literal)
        return literal(c, t.start, t.value, type);
    if (!keeps)
        put_extension(c, type);
    t.positive = (t.positive && keeps) || (!type.is_signed && type.bits < 64);
    t.type = type;
    return t;
}

static struct term promote(struct computing *c, struct term t)
{
    return t.type.bits < 32 ? convert(c, t, type_int) : t;
}

/* Converts both operands of an operation to their common type. @b is on top of the stack. Returns the type. */
static struct c_type convert_both(struct computing *c, struct term *a, struct term *b)
{
    struct c_type type;
    uint32_t middle;

    *b = promote(c, *b);
    type = (struct c_type){a->type.bits > b->type.bits ? a->type.bits : b->type.bits, true};
    type.is_signed = (a->type.bits < type.bits || a->type.is_signed) && (b->type.bits < type.bits || b->type.is_signed);
    *b = convert(c, *b, type);
    if (a->is_literal) { /* replaces the literal below the value on top of the stack */
        uint8_t copy[MOST_BYTES];
        const uint32_t bytes = c->size - b->start;

        memcpy(copy, c->out + b->start, bytes);
        *a = literal(c, a->start, a->value, type);
        b->start = c->size;
        for (uint32_t i = 0; i < bytes; i++)
            put(c, copy[i]);
        return type;
    }
    middle = c->size;
    *a = convert(c, *a, type);
    if (!c->failed && c->size != middle) {
        const uint32_t added = c->size - middle;

        rotate(c, b->start, middle);
        b->start += added;
    }
    return type;
}

/* ---- tokens --------------------------------------------------------------------------------------------- */

static void next(struct computing *c)
{
    c->token = ptx_note_word(&c->words);
}

static bool is(const struct computing *c, const char *text)
{
    return ptx_name_is(c->token, text);
}

static bool accept(struct computing *c, const char *text)
{
    const bool same = is(c, text);

    if (same)
        next(c);
    return same;
}

static void expect(struct computing *c, const char *text)
{
    c->failed |= !accept(c, text);
}

/* Reads a number of C, such as 0x1fu. */
static struct term take_number(struct computing *c)
{
    const struct ptx_name word = c->token;
    const bool hex = word.size > 2 && word.text[0] == '0' && (word.text[1] == 'x' || word.text[1] == 'X');
    bool is_unsigned = false, is_long = false;
    const unsigned base = hex ? 16 : word.text[0] == '0' ? 8 : 10;
    uint64_t value = 0;
    size_t i = hex ? 2 : 0;

    for (; i < word.size; i++) {
        const char ch = word.text[i];
        const unsigned digit = ch >= '0' && ch <= '9'   ? (unsigned)(ch - '0')
                               : ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a') + 10
                               : ch >= 'A' && ch <= 'F' ? (unsigned)(ch - 'A') + 10
                                                        : 99;

        if (digit >= base)
            break;
        c->failed |= __builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value);
    }
    for (; i < word.size; i++) {
        const bool u = word.text[i] == 'u' || word.text[i] == 'U', l = word.text[i] == 'l' || word.text[i] == 'L';

        c->failed |= (!u && !l) || (u && is_unsigned) || (l && is_long);
        is_unsigned |= u;
        is_long |= l;
    }
    c->failed |= value >> 63 != 0;
    next(c);
    push(c);
    if (!is_long && value <= INT32_MAX)
        return literal(c, c->size, value, is_unsigned ? type_uint : type_int);
    if (!is_long && value <= UINT32_MAX && (is_unsigned || base != 10))
        return literal(c, c->size, value, type_uint);
    return literal(c, c->size, value, is_unsigned ? type_ulong : type_long);
}

/* Reads a type of C in parentheses after the opening one. Returns false if the token does not begin a type. */
static bool take_type(struct computing *c, struct c_type *type)
{
    static const struct {
        const char *name;
        uint8_t bits; /* 0: the name only says whether the type is signed */
        bool is_signed;
    } types[] = {{"int", 32, true},   {"uint", 32, false},   {"long", 64, true}, {"ulong", 64, false}, {"size_t", 64, false},
                 {"short", 16, true}, {"ushort", 16, false}, {"char", 8, true},  {"uchar", 8, false},  {"unsigned", 0, false},
                 {"signed", 0, true}};
    bool any = false, is_signed = true;
    uint8_t bits = 0;

    for (;; next(c)) {
        size_t i = 0;

        while (i < LW_COUNT_OF(types) && !is(c, types[i].name))
            i++;
        if (i == LW_COUNT_OF(types))
            break;
        any = true;
        is_signed &= types[i].is_signed;
        if (bits != 0 && types[i].bits != 0 && types[i].bits != 32)
            c->failed = true; /* such as "long long" */
        bits = types[i].bits != 0 && (bits == 0 || types[i].bits != 32) ? types[i].bits : bits;
    }
    *type = (struct c_type){bits != 0 ? bits : 32, is_signed};
    return any;
}

/* ---- variables -------------------------------------------------------------------------------------------- */

/* Returns the entry that has the name and type of a variable. */
static uint32_t source_of(const struct ptx_debug *debug, uint32_t die)
{
    const uint32_t origin = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_ABSTRACT_ORIGIN));

    return origin != PTX_NONE ? origin : die;
}

static uint64_t number_of(const struct ptx_debug *debug, uint32_t die, unsigned name)
{
    const struct ptx_value *value = ptx_debug_value(debug, die, name);

    return value != NULL && (value->kind == PTX_V_NUMBER || value->kind == PTX_V_SIGNED) ? value->number : 0;
}

/* Stores the type of a variable. Returns false if the type is no integer type. A type of 1 bit is `bool`. */
static bool type_of(const struct ptx_debug *debug, uint32_t die, struct c_type *type)
{
    enum { BOOLEAN = 2, SIGNED = 5, SIGNED_CHAR = 6, UNSIGNED = 7, UNSIGNED_CHAR = 8 }; /* DW_ATE_... */
    uint32_t at = source_of(debug, die);

    for (unsigned depth = 0; depth < 16; depth++) {
        const uint64_t encoding = number_of(debug, at, ISA_AT_ENCODING), bytes = number_of(debug, at, ISA_AT_BYTE_SIZE);

        if (debug->dies.at[at].tag == ISA_TAG_BASE) {
            *type = (struct c_type){(uint8_t)(encoding == BOOLEAN ? 1 : 8 * bytes), encoding == SIGNED || encoding == SIGNED_CHAR};
            return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
                   (encoding == BOOLEAN || encoding == SIGNED || encoding == SIGNED_CHAR || encoding == UNSIGNED || encoding == UNSIGNED_CHAR);
        }
        if (depth != 0 && debug->dies.at[at].tag != ISA_TAG_TYPEDEF && debug->dies.at[at].tag != ISA_TAG_CONST && debug->dies.at[at].tag != ISA_TAG_VOLATILE)
            return false;
        at = ptx_debug_entry(debug, ptx_debug_value(debug, at, ISA_AT_TYPE));
        if (at == PTX_NONE)
            return false;
    }
    return false;
}

/* Returns the initialiser of a variable, or NULL if it is unknown. */
static const struct ptx_noted_initialiser *initialiser_of(const struct ptx_debug *debug, const struct ptx_noting *noting, uint32_t die)
{
    const uint32_t source = source_of(debug, die);
    const struct ptx_value *name = ptx_debug_value(debug, source, ISA_AT_NAME);
    char key[PTX_NAME_BYTES];
    const uint32_t *known;
    int size;

    if (name == NULL || name->kind != PTX_V_TEXT)
        return NULL;
    size = snprintf(key, sizeof key, "%s %llu", name->text, (unsigned long long)number_of(debug, source, ISA_AT_DECL_LINE));
    known = size > 0 && (size_t)size < sizeof key ? ptx_map_find(&noting->initialisers_by_name, key, (size_t)size) : NULL;
    return known != NULL ? &noting->initialisers.at[*known] : NULL;
}

static bool has_name(const struct ptx_debug *debug, uint32_t die, struct ptx_name name)
{
    const struct ptx_value *value = ptx_debug_value(debug, source_of(debug, die), ISA_AT_NAME);

    return value != NULL && value->kind == PTX_V_TEXT && ptx_name_is(name, value->text);
}

/* Returns the variable or parameter of a function that @name means in the initialiser of variable @die, or PTX_NONE. Entries of
 * inlined calls do not contain all variables, so names in them are not resolved. */
static uint32_t find_variable(struct computing *c, struct ptx_name name)
{
    const struct ptx_debug *debug = c->pl->debug;
    const uint64_t line = number_of(debug, source_of(debug, c->die), ISA_AT_DECL_LINE);

    if (ptx_debug_value(debug, c->root, ISA_AT_ABSTRACT_ORIGIN) != NULL)
        return PTX_NONE;
    for (uint32_t scope = debug->dies.at[c->die].parent; scope != PTX_NONE; scope = debug->dies.at[scope].parent) {
        if (debug->dies.at[scope].tag != ISA_TAG_BLOCK && scope != c->root)
            return PTX_NONE;
        for (uint32_t i = scope + 1; i < debug->dies.at[scope].end && ptx_spend(c->pl, 1); i = debug->dies.at[i].end) {
            const uint64_t declared = number_of(debug, source_of(debug, i), ISA_AT_DECL_LINE);

            if ((debug->dies.at[i].tag != ISA_TAG_VARIABLE && debug->dies.at[i].tag != ISA_TAG_PARAMETER) || !has_name(debug, i, name) ||
                declared > line)
                continue;
            return declared < line ? i : PTX_NONE; /* on the same line, the variable may be declared after its use */
        }
        if (scope == c->root)
            break;
    }
    return PTX_NONE;
}

/* ---- values --------------------------------------------------------------------------------------------------- */

static struct term take_conditions(struct computing *c);

/* Writes the value of a work-item function. */
static struct term take_function(struct computing *c)
{
    enum { TID = 0, CTAID = 16, NTID = 32, NCTAID = 48, OFFSET = 128 }; /* offsets in the range of built-in variables */
    static const struct {
        const char *name;
        uint8_t first, second; /* offsets of two variables whose product is computed; if equal: one variable */
        bool is_id;            /* the thread's index in the block and the offset are added */
    } functions[] = {{"get_local_id", TID, TID, false},       {"get_group_id", CTAID, CTAID, false},
                     {"get_local_size", NTID, NTID, false},   {"get_num_groups", NCTAID, NCTAID, false},
                     {"get_global_size", NCTAID, NTID, false}, {"get_global_id", CTAID, NTID, true},
                     {"get_global_offset", OFFSET, OFFSET, false}};
    struct term t = {.start = c->size, .type = type_ulong, .positive = true};
    size_t i = 0;
    uint64_t at;

    while (i < LW_COUNT_OF(functions) && !is(c, functions[i].name))
        i++;
    c->failed |= i == LW_COUNT_OF(functions);
    next(c);
    expect(c, "(");
    if (c->failed || c->token.size != 1 || c->token.text[0] < '0' || c->token.text[0] > '2') {
        c->failed = true;
        return t;
    }
    at = WINDOW_BUILTIN + 4 * (uint64_t)(c->token.text[0] - '0');
    next(c);
    expect(c, ")");
    put_memory(c, at + functions[i].first, 4);
    if (functions[i].first != functions[i].second) {
        put_memory(c, at + functions[i].second, 4);
        put(c, ISA_OP_MUL);
        c->depth--;
    }
    for (unsigned k = 0; k < 2 && functions[i].is_id; k++) {
        put_memory(c, at + (k == 0 ? TID : OFFSET), 4);
        put(c, ISA_OP_PLUS);
        c->depth--;
    }
    return t;
}

/* Writes the value of the initialiser of variable @die, converted to the variable's type. */
static struct term take_initialiser(struct computing *c, uint32_t die)
{
    const struct ptx_noted_initialiser *known = initialiser_of(c->pl->debug, c->noting, die);
    const struct ptx_note_words words = c->words;
    const struct ptx_name token = c->token;
    const uint32_t outer = c->die;
    struct c_type type = {0};
    struct term t = {.start = c->size};

    c->failed |= known == NULL || ++c->variables > MOST_VARIABLES || !type_of(c->pl->debug, die, &type);
    if (c->failed)
        return t;
    c->die = die;
    c->words = (struct ptx_note_words){known->tokens.text, known->tokens.text + known->tokens.size};
    next(c);
    t = take_conditions(c);
    c->failed |= c->token.size != 0;
    if (type.bits == 1) {
        put_number(c, 0);
        put(c, ISA_OP_NE);
        t = (struct term){.start = t.start, .type = type, .positive = true};
    } else {
        t = convert(c, t, type);
    }
    c->die = outer;
    c->words = words;
    c->token = token;
    return t;
}

/* Writes the value of a variable or parameter. */
static struct term take_variable(struct computing *c)
{
    const bool constant = c->token.text[0] == '$';
    const struct ptx_name name = {c->token.text + constant, c->token.size - constant};
    const uint32_t die = find_variable(c, name);
    const uint32_t symbol = die != PTX_NONE && constant ? ptx_debug_param(c->pl, c->root, die) : PTX_NONE;
    struct term t = {.start = c->size};

    next(c);
    if (die != PTX_NONE && c->pl->debug->dies.at[die].tag == ISA_TAG_VARIABLE)
        return take_initialiser(c, die);
    c->failed |= symbol == PTX_NONE || !type_of(c->pl->debug, die, &t.type) || t.type.bits < 8;
    if (c->failed)
        return t;
    put_memory(c, WINDOW_CONST + c->pl->module->symbols.at[symbol].offset, t.type.bits / 8);
    if (t.type.is_signed)
        put_extension(c, t.type);
    t.positive = !t.type.is_signed && t.type.bits < 64;
    return t;
}

static struct term take_unary(struct computing *c)
{
    const uint32_t start = c->size;
    struct term t = {.start = start};
    struct c_type type;

    c->failed |= ++c->nested > MOST_NESTED || c->token.size == 0 || !ptx_spend(c->pl, 1);
    if (c->failed)
        return t;
    if (accept(c, "(")) {
        if (take_type(c, &type)) {
            expect(c, ")");
            t = convert(c, take_unary(c), type);
        } else {
            t = take_conditions(c);
            expect(c, ")");
        }
    } else if (accept(c, "+")) {
        t = promote(c, take_unary(c));
    } else if (is(c, "-") || is(c, "~")) {
        const bool negates = is(c, "-");

        next(c);
        t = promote(c, take_unary(c));
        if (t.is_literal) {
            t = literal(c, t.start, negates ? -t.value : ~t.value, t.type);
        } else {
            put(c, negates ? ISA_OP_NEG : ISA_OP_NOT);
            put_extension(c, t.type);
            t.positive = !t.type.is_signed && t.type.bits < 64;
        }
    } else if (accept(c, "!")) {
        t = take_unary(c);
        put_number(c, 0);
        put(c, ISA_OP_EQ);
        t = (struct term){.start = t.start, .type = type_int, .positive = true};
    } else if (c->token.text[0] >= '0' && c->token.text[0] <= '9') {
        t = take_number(c);
    } else if (c->token.size > 4 && memcmp(c->token.text, "get_", 4) == 0) {
        t = take_function(c);
    } else {
        t = take_variable(c);
    }
    c->nested--;
    return t;
}

/* Computes an operation on literals. Returns false if the operation has no value, such as a division by 0. */
static bool fold(const char *op, uint64_t a, uint64_t b, struct c_type type, uint64_t *out)
{
    const bool overflows = type.is_signed && (int64_t)b == -1; /* the least number divided by -1 */

    switch (*op) {
    case '+': *out = a + b; return true;
    case '-': *out = a - b; return true;
    case '*': *out = a * b; return true;
    case '&': *out = a & b; return true;
    case '|': *out = a | b; return true;
    case '^': *out = a ^ b; return true;
    case '/':
    case '%':
        if (b == 0 || overflows)
            return false;
        if (type.is_signed)
            *out = *op == '/' ? (uint64_t)((int64_t)a / (int64_t)b) : (uint64_t)((int64_t)a % (int64_t)b);
        else
            *out = *op == '/' ? a / b : a % b;
        return true;
    default: return false;
    }
}

/* Writes an operation whose operands are on the stack. */
static struct term put_binary(struct computing *c, const char *op, struct term a, struct term b)
{
    static const struct {
        char op;
        uint8_t dwarf;
    } simple[] = {{'+', ISA_OP_PLUS}, {'-', ISA_OP_MINUS}, {'*', ISA_OP_MUL}, {'&', ISA_OP_AND}, {'|', ISA_OP_OR}, {'^', ISA_OP_XOR}};
    const uint32_t start = a.start;
    const struct c_type type = convert_both(c, &a, &b);
    struct term t = {.start = start, .type = type, .positive = !type.is_signed && type.bits < 64};
    uint64_t value;

    if (c->failed)
        return t;
    c->depth--;
    if (a.is_literal && b.is_literal && fold(op, a.value, b.value, type, &value))
        return literal(c, start, value, type);
    for (size_t i = 0; i < LW_COUNT_OF(simple); i++)
        if (simple[i].op == *op) {
            put(c, simple[i].dwarf);
            if (strchr("+-*", *op) != NULL)
                put_extension(c, type);
            t.positive |= *op == '&' ? a.positive || b.positive : strchr("|^", *op) != NULL && a.positive && b.positive;
            return t;
        }
    c->failed |= type.bits == 64 && !(a.positive && b.positive); /* DWARF divides signed numbers */
    c->failed |= *op == '%' && c->depth + 3 > MOST_DEPTH;
    t.positive |= a.positive && b.positive;
    if (*op == '%') { /* a - a / b * b; here the expression contains a and b */
        const uint32_t a_bytes = b.start - start, end = c->size;

        repeat(c, start, b.start);
        if (!c->failed)
            rotate(c, start, end); /* a, a, b */
        put(c, ISA_OP_DIV);
        repeat(c, b.start + a_bytes, end + a_bytes);
        put(c, ISA_OP_MUL);
        put(c, ISA_OP_MINUS);
    } else {
        put(c, ISA_OP_DIV);
    }
    put_extension(c, type);
    return t;
}

static struct term put_shift(struct computing *c, bool left, struct term a, struct term b)
{
    const struct c_type type = a.type;
    struct term t = {.start = a.start, .type = type, .positive = (!left && a.positive) || (!type.is_signed && type.bits < 64)};

    c->failed |= !b.is_literal || b.value >= type.bits;
    c->depth--;
    if (c->failed)
        return t;
    if (a.is_literal)
        return literal(c, a.start, left ? a.value << b.value : type.is_signed ? (uint64_t)((int64_t)a.value >> b.value) : a.value >> b.value, type);
    put(c, left ? ISA_OP_SHL : type.is_signed ? ISA_OP_SHRA : ISA_OP_SHR);
    if (left)
        put_extension(c, type);
    return t;
}

/* Writes a comparison. The difference of two values that are both less than 2^63, or both have 32 bits, has the sign of the exact
 * result. */
static struct term put_comparison(struct computing *c, const char *op, size_t size, struct term a, struct term b)
{
    const uint32_t start = a.start;
    const struct c_type type = convert_both(c, &a, &b);
    const bool equality = size == 2 && (*op == '=' || *op == '!');

    if (!c->failed && equality) {
        put(c, *op == '=' ? ISA_OP_EQ : ISA_OP_NE);
    } else {
        c->failed |= type.bits == 64 && !(a.positive && b.positive);
        if (*op == '>' ? size == 1 : size == 2) /* a > b is b < a; a <= b is not b < a */
            rotate(c, start, b.start);
        put(c, ISA_OP_MINUS);
        put_number(c, 63);
        put(c, ISA_OP_SHR);
        if (size == 2) {
            put_number(c, 1);
            put(c, ISA_OP_XOR);
        }
    }
    c->depth -= c->depth != 0;
    return (struct term){.start = start, .type = type_int, .positive = true};
}

/* Operators by precedence, the weakest first. */
static const char *const operators[][4] = {{"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

static struct term take_binary(struct computing *c, size_t level)
{
    struct term t = level + 1 < LW_COUNT_OF(operators) ? take_binary(c, level + 1) : take_unary(c);

    while (!c->failed) {
        struct ptx_name op = {0};
        struct term other;

        for (size_t k = 0; k < LW_COUNT_OF(operators[level]) && operators[level][k] != NULL; k++)
            if (is(c, operators[level][k]))
                op = c->token;
        if (op.size == 0)
            break;
        next(c);
        t = promote(c, t);
        other = promote(c, level + 1 < LW_COUNT_OF(operators) ? take_binary(c, level + 1) : take_unary(c));
        if (level == 5)
            t = put_shift(c, *op.text == '<', t, other);
        else if (level == 3 || level == 4)
            t = put_comparison(c, op.text, op.size, t, other);
        else
            t = put_binary(c, op.text, t, other);
    }
    return t;
}

/* Writes conditions joined by `&&` and `||`. All conditions are computed, which makes no difference for their values. */
static struct term take_conditions(struct computing *c)
{
    struct term t = take_binary(c, 0);
    bool any = false;

    while (!c->failed && (is(c, "&&") || is(c, "||"))) {
        const bool both = is(c, "&&");

        c->failed |= any && both; /* `&&` binds more strongly, but the conditions are read from left to right */
        any |= !both;
        put_number(c, 0);
        put(c, ISA_OP_NE);
        next(c);
        (void)take_binary(c, 0);
        put_number(c, 0);
        put(c, ISA_OP_NE);
        put(c, both ? ISA_OP_AND : ISA_OP_OR);
        c->depth -= c->depth != 0;
        t = (struct term){.start = t.start, .type = type_int, .positive = true};
    }
    return t;
}

/* ---- words --------------------------------------------------------------------------------------------------------- */

/* Returns the line of the variable's function at a word, which is the line of the inlined call for code of an inlined call.
 * Returns 0 if the word is not in the variable's scope, or if the line is unknown. */
static uint32_t line_at(const struct ptx_placing *pl, uint32_t die, uint32_t word, uint32_t loc)
{
    const struct ptx_debug *debug = pl->debug;
    const uint32_t scope = debug->dies.at[die].parent;
    uint32_t frame = scope, call = 0, at = pl->owner[word];

    if (at < scope || at >= debug->dies.at[scope].end)
        return 0;
    while (debug->dies.at[frame].tag == ISA_TAG_BLOCK)
        frame = debug->dies.at[frame].parent;
    for (; at != frame && at != PTX_NONE; at = debug->dies.at[at].parent)
        if (debug->dies.at[at].tag == ISA_TAG_INLINED)
            call = at;
    if (call != 0)
        return (uint32_t)number_of(debug, call, ISA_AT_CALL_LINE);
    return loc != 0 && loc < pl->module->locs.count ? pl->module->locs.at[loc].line : 0;
}

void ptx_debug_initialiser_locate(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t root, uint32_t die)
{
    struct computing *c;
    struct isa_var_location location = {0};
    const struct ptx_noted_initialiser *initialiser = initialiser_of(pl->debug, noting, die);
    const uint64_t declared = number_of(pl->debug, source_of(pl->debug, die), ISA_AT_DECL_LINE);
    const size_t known = pl->locations.count;
    bool open = false;

    if (pl->debug->dies.at[die].tag != ISA_TAG_VARIABLE || initialiser == NULL ||
        (!pl->debug->dies.at[die].noted && ptx_debug_value(pl->debug, source_of(pl->debug, die), ISA_AT_CONST_VALUE) != NULL) ||
        !ptx_spend(pl, 3 * (uint64_t)pl->count))
        return;
    c = PTX_NEW(pl->job, struct computing);
    *c = (struct computing){.pl = pl, .noting = noting, .root = root, .die = die};
    (void)take_initialiser(c, die);
    put(c, ISA_OP_STACK_VALUE);
    if (c->failed)
        return;
    for (size_t k = 0; k < known; k++)
        for (uint32_t w = pl->locations.at[k].from - pl->base; w < pl->locations.at[k].to - pl->base && w < pl->count; w++)
            pl->mark[w] = 1;
    ptx_note_put_expression(pl, c->out, c->size, &location);
    for (size_t i = 0; i < pl->unit->code.count; i++)
        for (uint32_t w = pl->index[i]; w < pl->index[i + 1]; w++) {
            const uint32_t line = line_at(pl, die, w, pl->unit->code.at[i].loc);
            const bool shown = !pl->mark[w] && line > declared && line <= initialiser->end;

            if (shown && !open)
                location.from = pl->base + w;
            location.to = pl->base + w;
            if (!shown && open)
                *PTX_PUSH(pl->job, pl->locations) = location;
            open = shown;
        }
    if (open) {
        location.to = pl->base + pl->count;
        *PTX_PUSH(pl->job, pl->locations) = location;
    }
    memset(pl->mark, 0, pl->count);
}
