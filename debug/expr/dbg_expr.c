/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: a recursive-descent parser that evaluates the expression for one lane while it parses. A dry run checks
 * names and syntax and reads no state of the machine. An operand of &&, || or ?: that C would not evaluate is parsed in a
 * dry run, too.
 */
#include "debug/expr/dbg_expr_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 64 };

void dbg_expr_skip(struct dbg_expr *e)
{
    while (isspace((unsigned char)*e->at))
        e->at++;
}

bool dbg_expr_take(struct dbg_expr *e, const char *token)
{
    size_t size = strlen(token);

    dbg_expr_skip(e);
    if (strncmp(e->at, token, size) != 0)
        return false;
    e->at += size;
    return true;
}

bool dbg_expr_close(struct dbg_expr *e, const char *token)
{
    if (dbg_expr_take(e, token))
        return true;
    dbg_expr_fail(e, LW_EUSAGE, "expected a %s in \"%s\"", token, e->text);
    return false;
}

static void operand(struct dbg_expr *e, struct dbg_operand *o);

void dbg_expr_single(struct dbg_expr *e, const struct dbg_operand *o)
{
    if (o->picked != 0)
        dbg_expr_fail(e, LW_EUSAGE, "several elements of a vector can only be printed: here choose one, as in .x");
}

struct dbg_value dbg_expr_value(struct dbg_expr *e)
{
    struct dbg_operand o;

    operand(e, &o);
    dbg_expr_single(e, &o);
    return o.value;
}

/* Evaluates the address in the brackets of a load such as u32[p + 4]. Inside these brackets pointers are integers, so p + 4 is
 * 4 bytes after p. */
static struct dbg_value address_expression(struct dbg_expr *e)
{
    bool before = e->plain;
    struct dbg_value value;

    e->plain = true;
    value = dbg_expr_value(e);
    e->plain = before;
    return value;
}

void dbg_expr_plain(struct dbg_operand *o, struct dbg_value value)
{
    memset(o, 0, sizeof *o);
    o->value = value;
}

bool dbg_expr_read(const struct dbg_expr *e, uint64_t address, void *out, unsigned bytes)
{
    const struct dbg_image *image = e->image;

    if (image != NULL && address >= image->address && address - image->address <= image->bytes &&
        image->bytes - (address - image->address) >= bytes) {
        memcpy(out, image->data + (address - image->address), bytes);
        return true;
    }
    return dbg_mem_access(e->dbg, e->id, e->lane, address, out, bytes, false) == bytes;
}

void dbg_expr_load(struct dbg_expr *e, struct dbg_operand *o, enum dbg_type type,
                   unsigned bytes, uint64_t address)
{
    uint8_t raw[8] = {0};

    o->kind = DBG_TARGET_MEMORY;
    o->address = address;
    o->bytes = bytes;
    o->typed = true;
    o->own = (struct dbg_own){type, bytes, o->own.character};
    o->value = dbg_value_make(type, 0);
    if (e->dry)
        return;
    if (!dbg_expr_read(e, address, raw, bytes))
        dbg_expr_fail(e, LW_ERANGE,
                      "cannot read %u byte%s at 0x%llx: the focus lane has no memory there", bytes,
                      bytes == 1 ? "" : "s", (unsigned long long)address);
    o->value = dbg_scalar(type, bytes, lw_get64(raw));
}

/* ---- the grammar ------------------------------------------------------------------ */

static void number(struct dbg_expr *e, struct dbg_operand *o)
{
    const char *start = e->at;
    char text[DBG_MAX_NAME], *end;
    bool floating = false;
    size_t size = 0;

    if (start[0] == '0' &&
        (start[1] == 'x' || start[1] == 'X' || start[1] == 'b' || start[1] == 'B')) {
        size = 2;
        while (isxdigit((unsigned char)start[size]))
            size++;
    } else {
        while (isdigit((unsigned char)start[size]) ||
               (start[size] == '.' && isdigit((unsigned char)start[size + 1])) ||
               ((start[size] == 'e' || start[size] == 'E') &&
                (isdigit((unsigned char)start[size + 1]) ||
                 ((start[size + 1] == '-' || start[size + 1] == '+') &&
                  isdigit((unsigned char)start[size + 2]))))) {
            if (start[size] == '.' || start[size] == 'e' || start[size] == 'E')
                floating = true;
            if (start[size] == 'e' || start[size] == 'E')
                size++;
            size++;
        }
    }
    if (size >= sizeof text || dbg_name_char(start[size])) {
        dbg_expr_fail(e, LW_EUSAGE, "\"%.20s\" is not a number", start);
        return;
    }
    memcpy(text, start, size);
    text[size] = '\0';
    e->at += size;
    if (floating) {
        o->value = dbg_value_f64(strtod(text, &end));
    } else {
        uint64_t bits;

        if (!lw_parse_u64(text, &bits)) {
            dbg_expr_fail(e, LW_EUSAGE, strcmp(text, "0x") == 0 ? "\"%s\" is not a number: digits are missing"
                                                                   : "%s is larger than 64 bits",
                          text);
            return;
        }
        o->value = dbg_value_make(bits <= INT32_MAX    ? DBG_S32
                                  : bits <= UINT32_MAX ? DBG_U32
                                  : bits <= INT64_MAX  ? DBG_S64
                                                       : DBG_U64,
                                  bits);
    }
}

static unsigned lane_index(struct dbg_expr *e)
{
    unsigned width = emu_machine_config(e->dbg->machine)->warp_width;
    struct dbg_value value = dbg_expr_value(e);
    uint64_t lane = dbg_value_u64(&value);

    if (!dbg_expr_take(e, "]"))
        dbg_expr_fail(e, LW_EUSAGE, "expected a ] after the index");
    if (lane >= width) {
        if (!e->dry)
            dbg_expr_fail(e, LW_ERANGE, "lane %lld does not exist: a warp has lanes 0 to %u",
                          (long long)lane, width - 1);
        return 0;
    }
    return (unsigned)lane;
}

static size_t take_name(struct dbg_expr *e, char name[DBG_MAX_NAME])
{
    size_t size = 0;

    while (size + 1 < DBG_MAX_NAME && dbg_name_char(e->at[size])) {
        name[size] = e->at[size];
        size++;
    }
    name[size] = '\0';
    e->at += size;
    return size;
}

/* Parses the suffixes of a register or value: .TYPE reinterprets the bits as another type, and [LANE] selects a lane of a
 * vector register or predicate. */
static void suffixes(struct dbg_expr *e, struct dbg_operand *o)
{
    enum dbg_type type = o->value.type;
    bool is_register = o->kind >= DBG_TARGET_V && o->kind <= DBG_TARGET_SP;

    for (;;) {
        if (*e->at == '[' && (o->kind == DBG_TARGET_V || o->kind == DBG_TARGET_P)) {
            e->at++;
            o->lane = lane_index(e);
        } else if (*e->at == '.' && isalpha((unsigned char)e->at[1])) {
            char name[DBG_MAX_NAME];
            unsigned bytes,
                have = type == DBG_U64 || type == DBG_S64 || type == DBG_F64 ? 8 : 4;
            struct dbg_expr after = *e;

            after.at++;
            (void)take_name(&after, name);
            if (!dbg_type_by_name(name, &type, &bytes) || bytes < 4) {
                dbg_expr_fail(e, LW_EUSAGE,
                              ".%s is not a type: use .u32, .s32, .f32, .u64, .s64 or .f64", name);
                return;
            }
            if (bytes != have) {
                if (is_register && bytes == 8)
                    dbg_expr_fail(e, LW_EUSAGE,
                                  ".%s needs 64 bits: use a register pair, as in v2:3.%s", name, name);
                else
                    dbg_expr_fail(e, LW_EUSAGE, ".%s needs %u byte%s, but the value has %u", name,
                                  bytes, bytes == 1 ? "" : "s", have);
                return;
            }
            e->at = after.at;
            o->typed = true;
        } else {
            break;
        }
        if (e->status != LW_OK)
            return;
    }
    o->value.type = type;
    if (is_register)
        dbg_name_register(e, o);
}

/* Selects elements of a vector by OpenCL's names: x, xzy, s0, s3a, lo, hi, even, odd. @name is without the dot before it.
 * @pick is filled with the indices of the elements. Returns their number, or 0 for any other name. */
static unsigned vector_names(const char *name, uint64_t count, uint8_t pick[16])
{
    static const char xyzw[] = "xyzw", hex[] = "0123456789abcdef";
    bool numbered = (name[0] == 's' || name[0] == 'S') && name[1] != '\0';
    uint64_t all = count == 3 ? 4 : count; /* OpenCL treats a vector of 3 as one of 4 whose last element is undefined */
    bool high = strcmp(name, "hi") == 0, odd = strcmp(name, "odd") == 0;
    unsigned picked = 0;

    if (high || odd || strcmp(name, "lo") == 0 || strcmp(name, "even") == 0) {
        bool half = high || name[0] == 'l';

        for (uint64_t i = 0; i < all / 2 && picked < 16; i++) {
            uint64_t index = half ? i + (high ? all / 2 : 0) : 2 * i + odd;

            if (index < count)
                pick[picked++] = (uint8_t)index;
        }
        return picked;
    }
    for (name += numbered; *name != '\0'; name++) {
        char c = numbered && *name >= 'A' && *name <= 'F' ? (char)(*name + 'a' - 'A') : *name;
        const char *at = strchr(numbered ? hex : xyzw, c);

        if (at == NULL || picked == 16)
            return 0;
        pick[picked++] = (uint8_t)(at - (numbered ? hex : xyzw));
    }
    return picked;
}

/* Parses a dot and the names of vector elements after it. @o is a vector, or elements of a vector that were selected before.
 * Returns false if the name after the dot is no name of elements. */
static bool vector_elements(struct dbg_expr *e, struct dbg_operand *o)
{
    uint64_t have = isa_type_dimension(o->debug, (uint32_t)isa_type_plain(o->debug, o->type, NULL), 0);
    uint64_t count = o->picked != 0 ? o->picked : have;
    struct dbg_expr after = *e;
    unsigned picked;
    uint8_t pick[16];
    char name[DBG_MAX_NAME];

    after.at++;
    if (take_name(&after, name) == 0 || (picked = vector_names(name, count, pick)) == 0)
        return false;
    for (unsigned i = 0; i < picked; i++) {
        if (pick[i] >= count) {
            dbg_expr_fail(e, LW_ERANGE, "there is no element .%s: the vector has %llu elements", name,
                          (unsigned long long)count);
            return true;
        }
        pick[i] = o->picked != 0 ? o->pick[pick[i]] : pick[i];
    }
    e->at = after.at;
    o->picked = 0;
    if (picked == 1) {
        dbg_typed_index(e, o, pick[0]);
    } else {
        o->picked = picked;
        memcpy(o->pick, pick, sizeof pick);
    }
    return true;
}

/* Returns true if @o is a pointer and the name after the dot is a member of its target. A name that is a type, such as u32,
 * counts as a member only if the target has a member of this name. */
static bool points_to_member(const struct dbg_expr *e, const struct dbg_operand *o)
{
    struct dbg_expr after = *e;
    char name[DBG_MAX_NAME];
    enum dbg_type type;
    unsigned bytes;

    after.at++;
    return take_name(&after, name) != 0 &&
           dbg_typed_points_to_member(o, dbg_type_by_name(name, &type, &bytes) ? name : NULL);
}

/* Parses the suffixes of an operand with a type in the source: .MEMBER, ->MEMBER and [INDEX]. */
static void source_suffixes(struct dbg_expr *e, struct dbg_operand *o)
{
    char name[DBG_MAX_NAME];

    while (e->status == LW_OK && dbg_typed(o)) {
        if (dbg_typed_is_reference(o)) { /* in an expression, a reference of C++ denotes its target */
            dbg_typed_follow(e, o);
            continue;
        }
        if (*e->at == '.' && dbg_typed_is_vector(o) && vector_elements(e, o)) {
            continue;
        } else if (o->picked != 0) {
            if (*e->at == '[' || *e->at == '.')
                dbg_expr_single(e, o);
            return;
        } else if (*e->at == '.' && dbg_typed_is_structure(o)) {
            e->at++;
            if (take_name(e, name) == 0)
                dbg_expr_fail(e, LW_EUSAGE, "expected a member's name after the dot");
            dbg_typed_member(e, o, name);
        } else if (*e->at == '.' && points_to_member(e, o)) {
            e->at++;
            (void)take_name(e, name);
            dbg_typed_follow(e, o);
            dbg_typed_member(e, o, name);
        } else if (e->at[0] == '-' && e->at[1] == '>') {
            e->at += 2;
            if (take_name(e, name) == 0)
                dbg_expr_fail(e, LW_EUSAGE, "expected a member's name after ->");
            dbg_typed_follow(e, o);
            dbg_typed_member(e, o, name);
        } else if (*e->at == '[') {
            struct dbg_operand array = *o;
            struct dbg_value index;

            e->at++;
            index = dbg_expr_value(e);
            dbg_expr_close(e, "]");
            *o = array;
            dbg_typed_index(e, o, (int64_t)dbg_value_u64(&index));
        } else {
            break;
        }
    }
    if (e->status != LW_OK || !dbg_typed(o))
        return;
    if (dbg_typed_finish(e, o) && *e->at == '.') {
        o->debug = NULL; /* a following .TYPE reinterprets the bits of the scalar, so the source type is dropped */
        o->stars = 0;
        suffixes(e, o);
    }
}

/* Parses the suffixes that may follow a name or a closing bracket. */
static void parts(struct dbg_expr *e, struct dbg_operand *o)
{
    if (e->status != LW_OK)
        return;
    if (dbg_typed(o))
        source_suffixes(e, o);
    else
        suffixes(e, o);
}

/* Evaluates a load such as u32[ADDRESS] or a conversion such as u32(VALUE). */
static void of_type(struct dbg_expr *e, const char *name, enum dbg_type type, unsigned bytes,
                    struct dbg_operand *o)
{
    struct dbg_value inner;

    if (dbg_expr_take(e, "[")) {
        inner = address_expression(e);
        dbg_expr_close(e, "]");
        if (e->status == LW_OK && dbg_value_is_float(&inner))
            dbg_expr_fail(e, LW_EUSAGE, "the address is a floating-point value: an address must be an integer");
        if (e->status == LW_OK)
            dbg_expr_load(e, o, type, bytes, dbg_value_u64(&inner));
    } else if (dbg_expr_take(e, "(")) {
        inner = dbg_expr_value(e);
        dbg_expr_close(e, ")");
        inner = dbg_value_convert(&inner, type);
        o->value = bytes < 4 ? dbg_scalar(type, bytes, inner.bits) : inner;
    } else {
        dbg_expr_fail(e, LW_EUSAGE,
                      "expected [address] (a load) or (value) (a conversion) after %s", name);
    }
}

static void primary(struct dbg_expr *e, struct dbg_operand *o)
{
    bool sigil;
    char name[DBG_MAX_NAME];
    enum dbg_type type;
    unsigned bytes;
    size_t size = 0;

    dbg_expr_plain(o, dbg_value_make(DBG_S32, 0));
    dbg_expr_skip(e);
    if (dbg_expr_take(e, "(")) {
        operand(e, o);
        dbg_expr_close(e, ")");
        parts(e, o);
        return;
    }
    sigil = *e->at == '$' || *e->at == '%';
    e->at += sigil;
    if (isdigit((unsigned char)*e->at)) {
        number(e, o);
        return;
    }
    if (!isalpha((unsigned char)*e->at) && *e->at != '_') {
        if (e->text[strspn(e->text, " ")] == '\0')
            dbg_expr_fail(e, LW_EUSAGE, "an expression is missing");
        else if (*e->at == '\0')
            dbg_expr_fail(e, LW_EUSAGE, "expected a value at the end of \"%s\"", e->text);
        else
            dbg_expr_fail(e, LW_EUSAGE,
                          "expected a register, a name or a number at \"%.20s\"",
                          e->at);
        return;
    }
    while (dbg_name_char(e->at[size])) {
        if (size + 1 >= sizeof name) {
            dbg_expr_fail(e, LW_EUSAGE, "the name \"%.20s...\" is too long", e->at);
            return;
        }
        name[size] = e->at[size];
        size++;
    }
    name[size] = '\0';
    e->at += size;
    if (dbg_type_by_name(name, &type, &bytes)) {
        of_type(e, name, type, bytes, o);
        return;
    }
    if (dbg_function(e, name, o))
        return;
    if (!sigil && dbg_variable_resolve(e, name, o)) {
        source_suffixes(e, o);
        return;
    }
    if (dbg_name_resolve(e, name, o)) {
        if (e->status == LW_OK)
            suffixes(e, o);
        return;
    }
    if (!sigil && dbg_enumerator(e, name, o)) {
        source_suffixes(e, o);
        return;
    }
    dbg_name_unknown(e, name);
}

static struct dbg_value negated(struct dbg_expr *e, char op, struct dbg_value value)
{
    if (op == '!')
        return dbg_value_make(DBG_S32, !dbg_value_true(&value));
    if (op == '~') {
        if (dbg_value_is_float(&value))
            dbg_expr_fail(e, LW_EUSAGE, "~ cannot be applied to a float: it needs an integer");
        return dbg_value_make(value.type, ~value.bits);
    }
    if (op == '+')
        return value;
    if (value.type == DBG_F32)
        return dbg_value_make(DBG_F32, value.bits ^ 0x80000000u);
    if (value.type == DBG_F64)
        return dbg_value_make(DBG_F64, value.bits ^ UINT64_C(1) << 63);
    return dbg_value_make(value.type, 0 - value.bits);
}

/* Parses a cast and its operand: (TYPE) VALUE. Returns false if the bracket does not contain a type. */
static bool cast(struct dbg_expr *e, struct dbg_operand *o)
{
    const char *before = e->at;
    struct dbg_ctype type;

    if (*e->at != '(')
        return false;
    e->at++;
    if (!dbg_type_parse(e, &type) || !dbg_expr_take(e, ")")) {
        e->at = before;
        return false;
    }
    dbg_expr_unary(e, o);
    dbg_expr_single(e, o);
    if (e->status == LW_OK)
        dbg_typed_cast(e, o, &type);
    return true;
}

void dbg_expr_unary(struct dbg_expr *e, struct dbg_operand *o)
{
    dbg_expr_plain(o, dbg_value_make(DBG_S32, 0));
    if (e->status != LW_OK)
        return;
    if (++e->depth > MAX_DEPTH) {
        dbg_expr_fail(e, LW_EUSAGE, "the expression is nested too deeply: print it in parts");
        return;
    }
    dbg_expr_skip(e);
    if (*e->at == '-' || *e->at == '+' || *e->at == '~' || *e->at == '!') {
        char op = *e->at++;

        dbg_expr_unary(e, o);
        dbg_expr_single(e, o);
        if (e->status == LW_OK)
            dbg_expr_plain(o, negated(e, op, o->value));
    } else if (*e->at == '*') {
        e->at++;
        dbg_expr_unary(e, o);
        dbg_expr_single(e, o);
        if (e->status == LW_OK && !dbg_typed(o))
            dbg_expr_fail(e, LW_EUSAGE, "* needs a pointer: write *(float *)ADDRESS, or f32[ADDRESS]");
        dbg_typed_follow(e, o);
        if (e->status == LW_OK && dbg_typed(o))
            (void)dbg_typed_finish(e, o);
    } else if (*e->at == '&') {
        e->at++;
        dbg_expr_unary(e, o);
        dbg_expr_single(e, o);
        if (e->status == LW_OK && !dbg_typed_address(o))
            dbg_expr_fail(e, LW_EUSAGE, "& needs a source variable that is in memory, or memory: this operand has no "
                                        "address");
    } else if (!cast(e, o)) {
        primary(e, o);
    }
    e->depth--;
}

struct binary {
    const char *token;
    int precedence;
};

/* Binary operators. Longer tokens precede their prefixes, because the first matching row is used. */
static const struct binary binaries[] = {
    {"<<", 8 },
    {">>", 8 },
    {"<=", 7 },
    {">=", 7 },
    {"==", 6 },
    {"!=", 6 },
    {"&&", 2 },
    {"||", 1 },
    {"<",  7 },
    {">",  7 },
    {"&",  5 },
    {"^",  4 },
    {"|",  3 },
    {"+",  9 },
    {"-",  9 },
    {"*",  10},
    {"/",  10},
    {"%",  10},
};

static const struct binary *peek_binary(struct dbg_expr *e)
{
    dbg_expr_skip(e);
    for (size_t i = 0; i < LW_COUNT_OF(binaries); i++)
        if (strncmp(e->at, binaries[i].token, strlen(binaries[i].token)) == 0)
            return &binaries[i];
    return NULL;
}

static int type_rank(enum dbg_type type)
{
    static const int rank[] = {[DBG_S32] = 0, [DBG_U32] = 1, [DBG_S64] = 2,
                               [DBG_U64] = 3, [DBG_F32] = 4, [DBG_F64] = 5};

    return rank[type];
}

static struct dbg_value compute_float(char op, enum dbg_type type, double a, double b)
{
    double r = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;

    return type == DBG_F32 ? dbg_value_f32((float)r) : dbg_value_f64(r);
}

static struct dbg_value divide(struct dbg_expr *e, char op, enum dbg_type type, uint64_t a,
                               uint64_t b)
{
    bool is_signed = type == DBG_S32 || type == DBG_S64;

    if (b == 0) {
        if (!e->dry)
            dbg_expr_fail(e, LW_ERANGE, "division by zero");
        return dbg_value_make(type, 0);
    }
    if (is_signed && b == UINT64_MAX) /* for the most negative number, a division by -1 would overflow on the host */
        return dbg_value_make(type, op == '/' ? 0 - a : 0);
    if (is_signed)
        return dbg_value_make(
            type, (uint64_t)(op == '/' ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b));
    return dbg_value_make(type, op == '/' ? a / b : a % b);
}

struct dbg_value dbg_expr_compute(struct dbg_expr *e, const char *op, struct dbg_value x,
                                struct dbg_value y)
{
    enum dbg_type type = type_rank(x.type) > type_rank(y.type) ? x.type : y.type;
    struct dbg_value a = dbg_value_convert(&x, type), b = dbg_value_convert(&y, type);
    uint64_t ia = dbg_value_u64(&a), ib = dbg_value_u64(&b);
    bool is_signed = type == DBG_S32 || type == DBG_S64;

    if (strchr("<>=!", op[0]) != NULL && strcmp(op, "<<") != 0 && strcmp(op, ">>") != 0) {
        double da = dbg_value_double(&a), db = dbg_value_double(&b);
        bool less = dbg_value_is_float(&a) ? da < db
                    : is_signed            ? (int64_t)ia < (int64_t)ib
                                           : ia < ib;
        bool equal = dbg_value_is_float(&a) ? da == db : ia == ib;
        bool greater = dbg_value_is_float(&a) ? da > db : !less && !equal;
        bool yes = op[0] == '!'   ? !equal
                   : op[0] == '=' ? equal
                   : op[0] == '<' ? less || (op[1] == '=' && equal)
                                  : greater || (op[1] == '=' && equal);

        return dbg_value_make(DBG_S32, yes);
    }
    if (dbg_value_is_float(&a)) {
        if (strchr("+-*/", op[0]) == NULL) {
            dbg_expr_fail(e, LW_EUSAGE, "operator %s needs integers on both sides", op);
            return dbg_value_make(DBG_S32, 0);
        }
        return compute_float(op[0], type, dbg_value_double(&a), dbg_value_double(&b));
    }
    switch (op[0]) {
    case '+': return dbg_value_make(type, ia + ib);
    case '-': return dbg_value_make(type, ia - ib);
    case '*': return dbg_value_make(type, ia * ib);
    case '/':
    case '%': return divide(e, op[0], type, ia, ib);
    case '&': return dbg_value_make(type, ia & ib);
    case '|': return dbg_value_make(type, ia | ib);
    case '^': return dbg_value_make(type, ia ^ ib);
    default: { /* The result of a shift has the type of the left operand. A count that is not less than the width of this type
                * shifts out all bits. */
        unsigned width = x.type == DBG_U64 || x.type == DBG_S64 ? 64 : 32;
        bool arithmetic = x.type == DBG_S64 || x.type == DBG_S32;
        uint64_t left = dbg_value_u64(&x), count = dbg_value_u64(&y);

        if (op[0] == '<')
            return dbg_value_make(x.type, count >= width ? 0 : left << count);
        if (arithmetic)
            return dbg_value_make(x.type,
                                  (uint64_t)((int64_t)left >> (count >= width ? 63 : count)));
        return dbg_value_make(x.type, count >= width ? 0 : left >> count);
    }
    }
}

/* Computes pointer + integer, pointer - integer or pointer - pointer, in units of the target's size. Returns false if the
 * operands have none of these forms. */
static bool compute_pointer(struct dbg_expr *e, char op, struct dbg_operand *x,
                            struct dbg_operand *y)
{
    uint64_t size = 0, other = 0;
    bool left = !e->plain && dbg_typed_stride(x, &size);
    bool right = !e->plain && dbg_typed_stride(y, &other);

    if (left && right && op == '-' && size != 0) {
        dbg_typed_decay(x);
        dbg_typed_decay(y);
        dbg_expr_plain(x, dbg_value_make(DBG_S64, (uint64_t)((int64_t)(x->value.bits - y->value.bits) /
                                                    (int64_t)size)));
        return true;
    }
    if (right && !left && op == '+') {
        struct dbg_operand swap = *x;

        *x = *y;
        *y = swap;
        left = true;
        right = false;
        size = other;
    }
    if (!left || right || dbg_value_is_float(&y->value))
        return false;
    dbg_typed_decay(x);
    x->value.bits += (op == '-' ? 0 - dbg_value_u64(&y->value) : dbg_value_u64(&y->value)) * size;
    return true;
}

static void binary(struct dbg_expr *e, int lowest, struct dbg_operand *left)
{
    dbg_expr_unary(e, left);
    for (;;) {
        const struct binary *op = e->status == LW_OK ? peek_binary(e) : NULL;
        struct dbg_operand right;

        if (op == NULL || op->precedence < lowest)
            return;
        dbg_expr_single(e, left);
        e->at += strlen(op->token);
        if (op->precedence <= 2) {
            bool was_dry = e->dry, truth = dbg_value_true(&left->value);

            if (truth == (op->token[0] == '|'))
                e->dry = true;
            binary(e, op->precedence + 1, &right);
            dbg_expr_single(e, &right);
            e->dry = was_dry;
            dbg_expr_plain(left, dbg_value_make(
                            DBG_S32, op->token[0] == '|'
                                         ? truth || dbg_value_true(&right.value)
                                         : truth && dbg_value_true(&right.value)));
        } else {
            binary(e, op->precedence + 1, &right);
            dbg_expr_single(e, &right);
            if (e->status == LW_OK && op->precedence == 9 &&
                compute_pointer(e, op->token[0], left, &right))
                continue;
            if (e->status == LW_OK)
                dbg_expr_plain(left, dbg_expr_compute(e, op->token, left->value, right.value));
        }
    }
}

static void operand(struct dbg_expr *e, struct dbg_operand *o)
{
    dbg_expr_plain(o, dbg_value_make(DBG_S32, 0));
    if (++e->depth > MAX_DEPTH) {
        dbg_expr_fail(e, LW_EUSAGE, "the expression is nested too deeply: print it in parts");
        return;
    }
    binary(e, 0, o);
    if (e->status == LW_OK && dbg_expr_take(e, "?")) {
        bool was_dry = e->dry, truth = dbg_value_true(&o->value);
        struct dbg_operand yes, no;

        dbg_expr_single(e, o);
        e->dry = was_dry || !truth;
        operand(e, &yes);
        if (!dbg_expr_take(e, ":"))
            dbg_expr_fail(e, LW_EUSAGE, "expected a : after the ? in \"%s\"", e->text);
        e->dry = was_dry || truth;
        operand(e, &no);
        e->dry = was_dry;
        *o = truth ? yes : no;
    }
    e->depth--;
}

void dbg_expr_init(struct dbg_expr *e, struct dbg *dbg, dbg_thread_id id, unsigned lane,
                      const char *text, struct lw_error *err)
{
    memset(e, 0, sizeof *e);
    e->dbg = dbg;
    e->id = id;
    e->lane = lane;
    e->text = e->at = text;
    e->status = LW_OK;
    e->err = err;
}

/* Finds the name before the bracket at e->at, for the message about a call of a function. Returns false if e->at is not at an
 * opening bracket after a name. */
static bool called(const struct dbg_expr *e, const char **name, size_t *size)
{
    const char *end = e->at, *from;

    while (end > e->text && end[-1] == ' ')
        end--;
    from = end;
    while (from > e->text && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
        from--;
    *name = from;
    *size = (size_t)(end - from);
    return *e->at == '(' && *size != 0 && !isdigit((unsigned char)*from);
}

void dbg_expr_end(struct dbg_expr *e)
{
    const char *name;
    size_t size;

    dbg_expr_skip(e);
    if (called(e, &name, &size))
        dbg_expr_fail(e, LW_EUSAGE, "%.*s() cannot be called: an expression cannot run code of the program; write out "
                                    "what the function computes, or step into it",
                      (int)(size < 60 ? size : 60), name);
    else if (*e->at != '\0')
        dbg_expr_fail(e, LW_EUSAGE, "unexpected \"%.40s\" after the expression%s", e->at,
                      *e->at == '[' ? "; the value before it has no elements: u32[ADDRESS] or f32[ADDRESS] reads memory at an address"
                                    : "");
}

enum lw_status dbg_eval(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                        struct dbg_value *out, struct lw_error *err)
{
    struct dbg_expr e;
    struct dbg_value value;

    dbg_expr_init(&e, dbg, id, lane, text, err);
    value = dbg_expr_value(&e);
    dbg_expr_end(&e);
    if (e.status == LW_OK)
        *out = value;
    return e.status;
}

enum lw_status dbg_expr_location(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                              const char *text, struct dbg_operand *out, struct lw_error *err)
{
    struct dbg_expr e;

    dbg_expr_init(&e, dbg, id, lane, text, err);
    dbg_expr_unary(&e, out);
    dbg_expr_single(&e, out);
    dbg_expr_end(&e);
    return e.status;
}

/* Prints the selected elements of a vector: {1, 2}. */
static void print_elements(struct dbg_expr *e, const struct dbg_operand *o, char format, unsigned most,
                           struct lw_sink *out)
{
    lw_put(out, "{");
    for (unsigned i = 0; i < o->picked; i++) {
        struct dbg_operand element = *o;

        element.picked = 0;
        dbg_typed_index(e, &element, o->pick[i]);
        (void)dbg_typed_finish(e, &element);
        lw_put(out, i != 0 ? ", " : "");
        dbg_typed_print(e->dbg, e->id, e->lane, &element, format, most, out);
    }
    lw_put(out, "}");
}

bool dbg_print_source(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                      char format, bool cell, struct lw_sink *out)
{
    const unsigned most = cell ? DBG_MOST_CELL_VALUES : DBG_MOST_VALUES;
    struct dbg_value count = {DBG_S32, 1};
    struct dbg_operand o;
    struct lw_error err;
    struct dbg_expr e;
    bool row;

    dbg_expr_init(&e, dbg, id, lane, text, &err);
    operand(&e, &o);
    row = e.status == LW_OK && dbg_expr_take(&e, "@");
    if (row) {
        count = dbg_expr_value(&e);
        row = e.status == LW_OK && dbg_typed_address(&o);
    }
    dbg_expr_skip(&e);
    if (e.status != LW_OK || *e.at != '\0' || !dbg_typed(&o) ||
        (row && (dbg_value_u64(&count) == 0 || dbg_value_is_float(&count))))
        return false;
    if (row && o.picked != 0)
        return false;
    if (!cell)
        lw_printf(out, "%s = ", text);
    if (o.picked != 0)
        print_elements(&e, &o, format, most, out);
    else if (row)
        dbg_typed_print_row(dbg, id, lane, &o, dbg_value_u64(&count), format, most, out);
    else
        dbg_typed_print(dbg, id, lane, &o, format, most, out);
    if (!cell)
        lw_put(out, "\n");
    return true;
}

enum lw_status dbg_print_type(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                              bool whole, struct lw_sink *out, struct lw_error *err)
{
    struct dbg_operand o;
    struct dbg_ctype type;
    struct dbg_expr e;

    dbg_expr_init(&e, dbg, id, lane, text, err);
    if (dbg_type_parse(&e, &type) && (dbg_expr_skip(&e), *e.at == '\0')) {
        dbg_expr_plain(&o, dbg_value_make(type.own.type, 0));
        o.debug = type.debug;
        o.type = type.type;
        o.stars = type.stars;
        o.own = type.own;
        o.kind = DBG_TARGET_MEMORY; /* makes dbg_operand_type_print() print o.own if the type is a basic type of C */
    } else {
        dbg_expr_init(&e, dbg, id, lane, text, err);
        e.dry = true;
        operand(&e, &o);
        dbg_expr_single(&e, &o);
        dbg_expr_end(&e);
    }
    if (e.status != LW_OK)
        return e.status;
    lw_put(out, "type = ");
    dbg_operand_type_print(&o, whole, out);
    lw_put(out, "\n");
    return LW_OK;
}

enum lw_status dbg_expr_check(struct dbg *dbg, const char *text, uint64_t place, struct lw_error *err)
{
    struct dbg_where at;
    struct dbg_expr e;

    dbg_expr_init(&e, dbg, 0, 0, text, err);
    e.dry = true;
    if (place != 0 && dbg_where_is(dbg, place, &at) && at.object->debug != NULL)
        e.place = place;
    (void)dbg_expr_value(&e);
    dbg_expr_end(&e);
    return e.status;
}
