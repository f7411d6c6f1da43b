/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random kernels for tests/debug/prop_values.c.
 *
 * Values are restricted so that code of all compilers computes the same. Integers are unsigned or small, shift counts are masked,
 * divisors are odd, and each loop has its own counter. Floats are not negative and are multiples of 0.25, so that neither
 * rounding nor contraction can change them.
 */
#include "tests/debug/values_maker.h"

static const char *const opencl_types[TYPE_COUNT] = {
    "uint", "int", "ulong", "long", "ushort", "uchar", "float", "double", "uint4", "struct pair", "struct record",
    "uint", "uint", "struct mixed"};
static const char *const cuda_types[TYPE_COUNT] = {
    "unsigned", "int", "unsigned long", "long", "unsigned short", "unsigned char", "float", "double", "uint4",
    "struct pair", "struct record", "unsigned", "unsigned", "struct mixed"};

const char *values_type_name(const struct maker *m, enum type type)
{
    return (m->cuda ? cuda_types : opencl_types)[type];
}

unsigned values_below(struct maker *m, unsigned n)
{
    return prop_below(m->r, n);
}

/* Returns a count for a shift of a 64-bit value other than 31, because clang 14 and 15 wrongly compile `(ulong)x << 31` to
 * mul.wide.s32 by -2^31. */
static unsigned shift_of_long(struct maker *m)
{
    const unsigned count = values_below(m, 33);

    return count == 31 ? 30 : count;
}

/* ---- expressions ----------------------------------------------------------------------- */

static bool is_visible(const struct maker *m, unsigned index)
{
    for (unsigned i = index + 1; i < m->variables || i < m->behind; i++)
        if (strcmp(m->variable[i].name, m->variable[index].name) == 0)
            return false;
    return true;
}

/** Returns a visible variable for which @accepts is true, or NULL if there is none or the random choice finds none. */
const struct variable *values_choose(struct maker *m, bool (*accepts)(const struct variable *))
{
    for (unsigned tries = 0; tries < 12 && m->variables != 0; tries++) {
        unsigned i = values_below(m, m->variables);

        if (values_below(m, 2) && m->variables > 5) /* prefers variables that have been declared last */
            i = m->variables - 1 - values_below(m, 5);
        if (is_visible(m, i) && accepts(&m->variable[i]))
            return &m->variable[i];
    }
    return NULL;
}

bool values_is_any(const struct variable *v)
{
    return v->type < TYPE_COUNT;
}

static bool changeable(const struct variable *v)
{
    return !v->fixed;
}

static bool is_real(const struct variable *v)
{
    return v->type == F32 || v->type == F64;
}

bool values_is_u32(const struct variable *v)
{
    return v->type == U32 && !v->fixed;
}

static bool is_in_memory(const struct variable *v)
{
    return v->type == MIXED || v->type == ARRAY;
}

/** Returns the text of a load of an element of the input. */
const char *values_input(struct maker *m)
{
    for (unsigned i = m->variables; i-- > 0 && values_below(m, 2);)
        if (m->variable[i].fixed && m->variable[i].name[0] == 'i' && is_visible(m, i)) /* the counter of a loop is less than 4 */
            return TEXT("in[%s + %uu]", m->variable[i].name, values_below(m, 60));
    return values_below(m, 3) ? TEXT("in[lid + %uu]", values_below(m, 16)) : TEXT("in[%u]", values_below(m, 64));
}

/** Returns an expression for the variable as a 32-bit number. */
const char *values_leaf_of(struct maker *m, const struct variable *v)
{
    static const char lanes[] = "xyzw";
    const char *n = v->name, *unsigned_name = values_type_name(m, U32);

    switch (v->type) {
    case U32: return n;
    case U64:
        return values_below(m, 2) ? TEXT("(%s)%s", unsigned_name, n) : TEXT("(%s)(%s >> %u)", unsigned_name, n, values_below(m, 40));
    case VECTOR: return TEXT("%s.%c", n, lanes[values_below(m, 4)]);
    case PAIR: return values_below(m, 3) ? TEXT("%s.a", n) : TEXT("(%s)%s.b", unsigned_name, n);
    case RECORD:
        switch (values_below(m, 5)) {
        case 0: return TEXT("%s.p.a", n);
        case 1: return TEXT("(%s)%s.p.b", unsigned_name, n);
        case 2: return TEXT("(%s)%s.w", unsigned_name, n);
        case 3: return TEXT("%s.h", n);
        default: return TEXT("%s.c", n);
        }
    case ARRAY: return values_below(m, 2) ? TEXT("%s[%u]", n, values_below(m, 4))
                             : TEXT("%s[%s & 3u]", n, m->observed ? values_input(m) : values_u32(m, 0));
    case FIXED: return TEXT("%s[%u]", n, values_below(m, 4));
    case MIXED:
        switch (values_below(m, 6)) {
        case 0: return TEXT("%s.a", n);
        case 1: return TEXT("(%s)%s.b", unsigned_name, n);
        case 2: return TEXT("(%s)%s.w", unsigned_name, n);
        case 3: return TEXT("%s.arr[%u]", n, values_below(m, 4));
        default: return TEXT("%s.arr[%s & 3u]", n, values_input(m));
        }
    default: return TEXT("(%s)%s", unsigned_name, n);
    }
}

static const char *call(struct maker *m, const struct helper *h)
{
    const char *text = TEXT("%s(", h->name);

    if (m->observed) {
        text = TEXT("%sout, in, lid, at + %uu%s", text, THREADS * m->pending, h->parameters ? ", " : "");
        m->pending += h->stores;
    }
    for (unsigned i = 0; i < h->parameters; i++)
        text = TEXT("%s%s%s", text, i ? ", " : "", values_as(m, h->parameter[i], values_below(m, 2)));
    return TEXT("%s)", text);
}

/** Returns a helper function that returns @type, or NULL. */
static const struct helper *callee(struct maker *m, enum type type)
{
    unsigned first = m->callable != 0 ? values_below(m, m->callable) : 0;

    for (unsigned i = 0; i < m->callable && m->cost <= 32 && m->quiet == 0; i++) {
        const struct helper *h = &m->helper[(first + i) % m->callable];

        if (!h->by_pointer && !h->by_reference && h->result == type)
            return h;
    }
    return NULL;
}

static const char *bits_of(struct maker *m, unsigned depth)
{
    return m->observed ? values_input(m) : values_u32(m, depth);
}

static const char *condition_of(struct maker *m)
{
    const struct variable *v = values_choose(m, is_real);

    switch (values_below(m, 6)) {
    case 0: return TEXT("(%s & %uu) != 0u", bits_of(m, 0), 1u + values_below(m, 7));
    case 1: return TEXT("(%s & 15u) < %uu", bits_of(m, 1), values_below(m, 16));
    case 2: return TEXT("%s > %s", values_u32(m, 0), values_u32(m, 0));
    case 3: return v != NULL ? TEXT("%s > %u.25f", v->name, values_below(m, 60)) : TEXT("(%s & 1u) == 0u", bits_of(m, 0));
    case 4: return TEXT("(%s & 3u) == 1u || (%s & 4u) != 0u", bits_of(m, 0), bits_of(m, 0));
    default: return m->kernel ? TEXT("lid < %uu", values_below(m, VALUES_THREADS)) : TEXT("(%s & 2u) == 0u", bits_of(m, 0));
    }
}

const char *values_condition(struct maker *m)
{
    const char *text;

    m->quiet += m->observed;
    text = condition_of(m);
    m->quiet -= m->observed;
    return text;
}

const char *values_u32(struct maker *m, unsigned depth)
{
    static const char *const operators[] = {"+", "-", "*", "&", "|", "^"};
    const struct variable *v;
    const struct helper *h;

    if (depth == 0 || values_below(m, 4) == 0) {
        v = values_choose(m, values_is_any);
        if (v == NULL || values_below(m, 8) == 0)
            return TEXT("%uu", values_below(m, 3) ? values_below(m, 100) : (unsigned)prop_next(m->r));
        if ((m->kernel || m->observed) && values_below(m, 8) == 0)
            return m->observed ? values_input(m) : TEXT("in[%s & 63u]", values_leaf_of(m, v));
        return values_leaf_of(m, v);
    }
    switch (values_below(m, 9)) {
    case 0: return TEXT("(%s << (%s & 7u))", values_u32(m, depth - 1), bits_of(m, 0));
    case 1: return TEXT("(%s >> %uu)", values_u32(m, depth - 1), values_below(m, 32));
    case 2: return TEXT("(%s ? %s : %s)", values_condition(m), values_u32(m, depth - 1), values_u32(m, depth - 1));
    case 3: return TEXT("(%s %s (%s | 1u))", values_u32(m, depth - 1), values_below(m, 2) ? "/" : "%", values_u32(m, 0));
    case 4:
        h = callee(m, U32);
        if (h != NULL)
            return call(m, h);
        /* fall through */
    default: return TEXT("(%s %s %s)", values_u32(m, depth - 1), operators[values_below(m, 6)], values_u32(m, depth - 1));
    }
}

static const char *real(struct maker *m, enum type type, unsigned depth)
{
    const struct variable *v = values_choose(m, is_real);
    const char *t = values_type_name(m, type);

    switch (values_below(m, 5)) {
    case 0:
        if (v != NULL)
            return TEXT("(%s)%s", t, v->name);
        return TEXT("%u.5f", values_below(m, 64));
    case 1:
        if (v != NULL)
            return TEXT("(%s)(%s & 255u) * 0.25f + (%s)(%s & 63u)", t, values_u32(m, depth), t, values_leaf_of(m, v));
        /* fall through */
    case 2: return TEXT("(%s ? %u.75f : (%s)(%s & 31u))", values_condition(m), values_below(m, 9), t, values_u32(m, 0));
    default: return TEXT("(%s)(%s & 255u) * 0.25f", t, values_u32(m, depth));
    }
}

/** Returns an expression of @type, or for an array an expression for its elements. */
const char *values_as(struct maker *m, enum type type, unsigned depth)
{
    const struct helper *h = values_below(m, 4) == 0 ? callee(m, type) : NULL;

    if (h != NULL)
        return call(m, h);
    switch (type) {
    case S32: return TEXT("(int)(%s & 1023u) - %u", values_u32(m, depth), values_below(m, 600));
    case U64:
        return values_below(m, 2) ? TEXT("(%s)%s * (%s)%s", values_type_name(m, U64), values_u32(m, 0), values_type_name(m, U64), values_u32(m, depth))
                           : TEXT("((%s)%s << %u) + %s", values_type_name(m, U64), values_u32(m, depth), shift_of_long(m), values_u32(m, 0));
    case S64: return TEXT("(long)(%s) * %u - %u", values_u32(m, depth), 1 + values_below(m, 9), values_below(m, 9));
    case U16:
    case U8: return TEXT("(%s)(%s)", values_type_name(m, type), values_u32(m, depth));
    case F32:
    case F64: return real(m, type, depth ? depth - 1 : 0);
    case VECTOR:
        return TEXT(m->cuda ? "make_uint4(%s, %s, %s, %s)" : "(uint4)(%s, %s, %s, %s)", values_u32(m, 0), values_u32(m, 0),
                    values_u32(m, 0), values_u32(m, 0));
    case PAIR:
        if (m->observed)
            return TEXT(m->cuda ? "pair{%s, %s}" : "(struct pair){%s, %s}", values_u32(m, 0), real(m, F32, 0));
        return TEXT("make_pair_of(%s, %s)", values_u32(m, 0), real(m, F32, 0));
    case RECORD:
        if (m->observed)
            return TEXT(m->cuda ? "record{{%s, %s}, %s, (unsigned short)%u, (unsigned char)%u}"
                                : "(struct record){{%s, %s}, %s, %u, %u}",
                        values_u32(m, 0), real(m, F32, 0), values_u32(m, 1), values_below(m, 65536), values_below(m, 256));
        return TEXT("make_record(%s, %s)", values_u32(m, 0), real(m, F32, 0));
    case MIXED:
        return TEXT(m->cuda ? "mixed{%s, %s, {%s, %s, %s, %s}, %s}" : "(struct mixed){%s, %s, {%s, %s, %s, %s}, %s}", values_u32(m, 0), real(m, F32, 0),
                    values_u32(m, 0), values_u32(m, 0), values_u32(m, 0), values_u32(m, 0), values_u32(m, 0));
    default: return values_u32(m, depth);
    }
}

/* ---- statements ------------------------------------------------------------------------- */

const char *values_fresh(struct maker *m, const char *prefix)
{
    return TEXT("%s%u", prefix, m->names++);
}

const struct variable *values_add(struct maker *m, const char *name, enum type type, bool fixed)
{
    m->variable[m->variables] = (struct variable){.name = name, .type = type, .fixed = fixed};
    return &m->variable[m->variables++];
}

/** A scalar of a variable: the variable itself, or a scalar in it. */
struct scalar {
    const char *text;
    enum type type;
};

/** Lists the scalars of a value of @type. Returns their number. */
static unsigned scalars_of(struct maker *m, enum type type, const char *n, struct scalar *scalar)
{
    static const char lanes[] = "xyzw";

    switch (type) {
    case VECTOR:
    case ARRAY:
    case FIXED:
        for (unsigned i = 0; i < 4; i++)
            scalar[i] = (struct scalar){type == VECTOR ? TEXT("%s.%c", n, lanes[i]) : TEXT("%s[%u]", n, i), U32};
        return 4;
    case PAIR:
        scalar[0] = (struct scalar){TEXT("%s.a", n), U32};
        scalar[1] = (struct scalar){TEXT("%s.b", n), F32};
        return 2;
    case RECORD:
        (void)scalars_of(m, PAIR, TEXT("%s.p", n), scalar);
        scalar[2] = (struct scalar){TEXT("%s.w", n), U64};
        scalar[3] = (struct scalar){TEXT("%s.h", n), U16};
        scalar[4] = (struct scalar){TEXT("%s.c", n), U8};
        return 5;
    case MIXED:
        scalar[0] = (struct scalar){TEXT("%s.a", n), U32};
        scalar[1] = (struct scalar){TEXT("%s.b", n), F32};
        (void)scalars_of(m, ARRAY, TEXT("%s.arr", n), scalar + 2);
        scalar[6] = (struct scalar){TEXT("%s.w", n), U64};
        return 7;
    default: scalar[0] = (struct scalar){n, type}; return 1;
    }
}

/** Adds the pending stores to the maximum of this function, once for each time that the surrounding loops execute the current
 *  code. */
void values_count_pending(struct maker *m)
{
    m->stores += m->cost / m->least * m->pending;
    m->pending = 0;
}

/** Writes a statement that stores variable @name, to which the preceding statement has assigned, and that advances the index of
 *  the next store. */
void values_observe(struct maker *m, enum type type, const char *name)
{
    struct scalar scalar[7];
    const char *text = "";
    unsigned count, first = m->pending;

    if (!m->observed)
        return;
    count = scalars_of(m, type, name, scalar);
    if (type == MIXED || type == ARRAY) { /* often stores no or only some scalars, so that clang may remove other stores */
        const unsigned kept = m->declares ? 1 : values_below(m, 3);

        if (kept != 0) {
            scalar[0] = type == ARRAY || kept == 1 ? (struct scalar){TEXT("%s%s[%s & 3u]", name, type == ARRAY ? "" : ".arr", values_input(m)), U32} : scalar[values_below(m, count)];
            count = m->declares || values_below(m, 2); /* a load with a computed index keeps the variable in memory */
        }
        if (count == 0 && m->pending == 0)
            return;
    }
    /* The store has the variable's own width, because a wider store would let the compiler change the computation. */
    for (unsigned i = 0; i < count; i++)
        text = TEXT("%s*(%s%s *)&out[at + %uu] = %s; ", text, m->cuda ? "" : "__global ", values_type_name(m, scalar[i].type),
                    THREADS * (first + i), scalar[i].text);
    m->pending += count;
    LINE("%sat += %uu;", text, THREADS * m->pending);
    m->lines--;
    values_count_pending(m);
}

static void declare(struct maker *m)
{
    enum type type = values_below(m, 3) ? (enum type)values_below(m, F64 + 1) : (enum type)values_below(m, USUAL_COUNT);

    if (m->memory && values_below(m, 4) == 0)
        type = values_below(m, 2) ? ARRAY : MIXED;
    else if (m->observed && type == ARRAY)
        type = FIXED;
    values_declare_as(m, type);
}

void values_declare_as(struct maker *m, enum type type)
{
    static const char *const prefixes[TYPE_COUNT] = {"w", "si", "ul", "sl", "us", "uc", "fl", "db", "vec", "pr", "rec",
                                                      "arr", "fix", "mix"};
    const char *name, *t = values_type_name(m, type);

    name = values_fresh(m, prefixes[type]);
    if (m->variables == MOST_VARIABLES)
        return;
    if (m->depth > 1 && values_below(m, 4) == 0) { /* the name hides a variable of an outer scope */
        const struct variable *outer = values_choose(m, values_is_any);

        if (outer != NULL && outer < m->variable + m->variables / 2 && strcmp(outer->name, "lid") != 0)
            name = outer->name;
    }
    for (unsigned i = 0; i < m->variables; i++) /* the variable is in scope in its own initialiser */
        if (name == m->variable[i].name) {
            LINE("%s %s = %u;", values_type_name(m, U32), name, values_below(m, 50));
            values_observe(m, U32, name);
            values_add(m, name, U32, false);
            return;
        }
    if (type == ARRAY || type == FIXED)
        LINE("%s %s[4] = {%s, %s, %s, %s};", t, name, values_u32(m, 0), values_u32(m, 0), values_u32(m, 0), values_u32(m, 0));
    else if (type == PAIR && values_below(m, 2))
        LINE("%s %s = {%s, %s};", t, name, values_u32(m, 0), real(m, F32, 0));
    else
        LINE("%s %s = %s;", t, name, values_as(m, type, 2));
    m->declares = true;
    values_observe(m, type, name);
    m->declares = false;
    values_add(m, name, type, false);
}

void values_assign(struct maker *m)
{
    static const char *const operators[] = {"+=", "-=", "^=", "*=", "|="};
    static const char lanes[] = "xyzw";
    const struct variable *v = m->memory && values_below(m, 2) ? values_choose(m, is_in_memory) : values_choose(m, changeable);
    const char *n;

    if (v == NULL) {
        declare(m);
        return;
    }
    n = v->name;
    switch (v->type) {
    case U32:
    case U64:
        if (values_below(m, 3) == 0)
            LINE("%s %s %s;", n, operators[values_below(m, 5)], values_u32(m, 1));
        else if (values_below(m, 5) == 0)
            LINE("%s++;", n);
        else
            LINE("%s = %s;", n, values_as(m, v->type, 2));
        break;
    case F32:
    case F64:
        if (values_below(m, 2))
            LINE("%s += 0.25f;", n);
        else
            LINE("%s = %s;", n, values_as(m, v->type, 1));
        break;
    case VECTOR:
        if (values_below(m, 2))
            LINE("%s.%c = %s;", n, lanes[values_below(m, 4)], values_u32(m, 1));
        else if (!m->cuda && values_below(m, 2))
            LINE("%s = %s + %s.wxyz;", n, n, n);
        else if (m->cuda && m->observed) /* in CUDA, a vector is a structure */
            LINE("%s.%c ^= %s;", n, lanes[values_below(m, 4)], values_u32(m, 1));
        else
            LINE("%s = %s;", n, values_as(m, VECTOR, 0));
        break;
    case PAIR:
        if (values_below(m, 4) == 0 && (!m->observed || m->idioms))
            LINE("%s = %s;", n, values_as(m, PAIR, 0));
        else if (values_below(m, 2))
            LINE("%s.a = %s;", n, values_u32(m, 1));
        else
            LINE("%s.b = %s;", n, real(m, F32, 0));
        break;
    case RECORD:
        switch (values_below(m, 6)) {
        case 0: LINE("%s.p.a = %s;", n, values_u32(m, 1)); break;
        case 1: LINE("%s.p.b = %s;", n, real(m, F32, 0)); break;
        case 2: LINE("%s.w = %s;", n, values_as(m, U64, 0)); break;
        case 3: LINE("%s.h = (%s)(%s);", n, values_type_name(m, U16), values_u32(m, 1)); break;
        case 4:
            if (m->observed)
                LINE("%s.p.a = %s;", n, values_u32(m, 0));
            else
                LINE("%s.p = %s;", n, values_as(m, PAIR, 0));
            break;
        default: LINE("%s.c = (%s)(%s);", n, values_type_name(m, U8), values_u32(m, 1)); break;
        }
        break;
    case ARRAY:
        if (m->memory && values_below(m, 2))
            LINE("%s[%u] %s %s;", n, values_below(m, 4), values_below(m, 2) ? "=" : operators[values_below(m, 5)], values_u32(m, 1));
        else
            LINE("%s[%s & 3u] = %s;", n, bits_of(m, 0), values_u32(m, 1));
        break;
    case MIXED:
        switch (values_below(m, 8)) {
        case 0:
        case 1: LINE("%s.a %s %s;", n, values_below(m, 2) ? "=" : operators[values_below(m, 5)], values_u32(m, 1)); break;
        case 2: LINE("%s.b = %s;", n, real(m, F32, 0)); break;
        case 3: LINE("%s.w = %s;", n, values_as(m, U64, 0)); break;
        case 4: LINE("%s.arr[%u] = %s;", n, values_below(m, 4), values_u32(m, 1)); break;
        case 5: LINE("%s = %s;", n, values_as(m, MIXED, 0)); break;
        default: LINE("%s.arr[%s & 3u] %s %s;", n, values_input(m), values_below(m, 2) ? "=" : "+=", values_u32(m, 1)); break;
        }
        break;
    case FIXED: LINE("%s[%u] = %s;", n, values_below(m, 4), values_u32(m, 1)); break;
    default: LINE("%s = %s;", n, values_as(m, v->type, 1)); break;
    }
    values_observe(m, v->type, n);
}

/** Writes a body up to its closing brace; the opening brace has been written. Returns the number of variables at its end. */
unsigned values_body(struct maker *m, unsigned count)
{
    unsigned outer = m->variables, all;

    m->indent++;
    m->depth++;
    values_statements(m, count);
    m->depth--;
    m->indent--;
    all = m->variables;
    m->variables = outer;
    return all;
}

static void branch(struct maker *m)
{
    unsigned arms = values_below(m, 3);

    LINE("if (%s) {", values_condition(m));
    values_body(m, 1 + values_below(m, 3));
    for (unsigned i = 0; i < arms; i++) {
        if (i == arms - 1)
            LINE("} else {");
        else
            LINE("} else if (%s) {", values_condition(m));
        values_body(m, 1 + values_below(m, 2));
    }
    LINE("}");
}

/** Sometimes writes a conditional statement that ends or continues the surrounding loop. */
static void jump(struct maker *m)
{
    unsigned outer = m->variables;

    if (values_below(m, 3) != 0)
        return;
    LINE("if (%s) {", values_condition(m));
    m->indent++;
    if (values_below(m, 2))
        values_assign(m);
    LINE("%s;", values_below(m, 2) ? "break" : "continue");
    m->indent--;
    m->variables = outer;
    LINE("}");
}

static void loop(struct maker *m)
{
    unsigned outer = m->variables, cost = m->cost, most = 1u << values_below(m, 3), kind = values_below(m, 4);
    const char *count = values_fresh(m, "n"), *t = values_type_name(m, U32);

    if (m->variables + 4 > MOST_VARIABLES)
        return;
    m->cost *= most + 1;
    if (m->observed && kind > 1) /* without `+ 1`, because clang writes no debug value for the result of `+ 1 - 1` */
        LINE("%s %s = %s & %uu;", t, count, values_input(m), most - 1);
    else
        LINE("%s %s = (%s & %uu) + 1u;", t, count, bits_of(m, 1), most - 1);
    values_observe(m, U32, count);
    values_add(m, count, U32, true);
    m->loops++;
    if (kind <= 1) {
        const char *i = values_fresh(m, "i");
        const bool counts_at_head = m->observed && (!m->idioms || values_below(m, 2));

        /* The loop counts at its head, so that after an early exit the counter does not have its last value. */
        if (counts_at_head) {
            LINE("%s %s = 0u;", t, i);
            values_observe(m, U32, i);
            if (kind == 1)
                LINE("while (%s < %uu) {", i, most);
            else
                LINE("while (%s < %s) {", i, count);
            m->indent++;
            LINE("%s++;", i);
            values_observe(m, U32, i);
            m->indent--;
        } else if (kind == 1 && values_below(m, 2))
            LINE("for (%s %s = 0u; %s < %uu; %s++) {", t, i, i, most, i);
        else
            LINE("for (%s %s = 0u; %s < %s; %s++) {", t, i, i, count, i);
        values_add(m, i, U32, true);
        m->depth++;
        m->behind = values_body(m, 1 + values_below(m, 3));
        m->depth--;
        m->indent++;
        jump(m);
        m->behind = 0;
        m->indent--;
        LINE("}");
    } else if (kind == 2) {
        if (m->observed)
            LINE("while (%s < %uu) {", count, most);
        else
            LINE("while (%s != 0u) {", count);
        m->indent++;
        LINE("%s%s;", count, m->observed ? "++" : "--");
        values_observe(m, U32, count);
        jump(m);
        m->indent--;
        values_body(m, 1 + values_below(m, 3));
        LINE("}");
    } else {
        LINE("do {");
        m->indent++;
        LINE("%s %s 1u;", count, m->observed ? "+=" : "-=");
        values_observe(m, U32, count);
        jump(m);
        m->indent--;
        values_body(m, 1 + values_below(m, 3));
        if (m->observed)
            LINE("} while (%s < %uu);", count, most);
        else
            LINE("} while (%s != 0u);", count);
    }
    m->loops--;
    m->cost = cost;
    m->variables = outer + 1; /* the variable with the count remains visible after the loop */
}

static void choice(struct maker *m)
{
    unsigned arms = 2 + values_below(m, 3);

    LINE("switch (%s & 3u) {", bits_of(m, 1));
    for (unsigned i = 0; i < arms; i++) {
        if (i == arms - 1)
            LINE("default: {");
        else
            LINE("case %uu: {", i);
        values_body(m, 1 + values_below(m, 2));
        m->indent++;
        if (i == arms - 1 || values_below(m, 4) != 0)
            LINE("break;");
        m->indent--;
        LINE("}");
    }
    LINE("}");
}

/** Writes a call that passes the address of a variable, or a loop with assignments to all elements of an array. */
static void use_memory(struct maker *m)
{
    const struct variable *v = values_choose(m, is_in_memory);
    const char *part = v != NULL && v->type == MIXED ? ".arr" : "", *i;

    if (v == NULL || m->cost > 40) {
        declare(m);
        return;
    }
    for (unsigned k = 0; k < m->callable && values_below(m, 2); k++)
        if (m->helper[k].pointed == v->type) {
            LINE("%s(%s%s, %s);", m->helper[k].name, v->type == MIXED ? "&" : "", v->name, values_u32(m, 1));
            values_observe(m, v->type, v->name);
            return;
        }
    i = values_fresh(m, "i");
    LINE("%s %s = 0u;", values_type_name(m, U32), i);
    values_observe(m, U32, i);
    LINE("while (%s < 4u) {", i);
    m->indent++;
    m->cost *= 4;
    LINE("%s++;", i);
    values_observe(m, U32, i);
    LINE("%s%s[%s & 3u] %s %s + %s;", v->name, part, i, values_below(m, 2) ? "=" : "^=", i, values_u32(m, 0));
    if (values_below(m, 2))
        values_observe(m, v->type, v->name);
    m->cost /= 4;
    m->indent--;
    LINE("}");
    values_observe(m, v->type, v->name);
}

/** Writes a call of a function that assigns through its first parameter. Returns false if there is no such function. */
static bool call_by_reference(struct maker *m, const char *name)
{
    for (unsigned i = 0; i < m->callable && m->cost <= 32; i++)
        if (m->helper[i].by_reference) {
            const unsigned at = THREADS * m->pending;

            m->pending += m->helper[i].stores;
            LINE("%s(out, in, lid, at + %uu, %s%s, %s);", m->helper[i].name, at, m->cuda ? "" : "&", name, values_input(m));
            return true;
        }
    return false;
}

/** Writes statements that assign several times on one line, or to a variable through another name. */
static void idiom(struct maker *m)
{
    static const char *const operators[] = {"+", "-", "^", "*"};
    const struct variable *v = NULL, *w = NULL;
    const char *a, *b, *k, *t = values_type_name(m, U32), *operator= operators[values_below(m, 4)];

    for (unsigned tries = 0; tries < 8 && (v == NULL || w == NULL || v == w); tries++) {
        v = values_choose(m, values_is_u32);
        w = values_choose(m, values_is_u32);
    }
    if (v == NULL || w == NULL || v == w) {
        values_declare_as(m, values_below(m, 4) ? U32 : PAIR);
        return;
    }
    a = v->name;
    b = w->name;
    k = values_fresh(m, "k");
    m->quiet++; /* the statements may execute an expression several times, or not at all */
    switch (values_below(m, m->cuda ? 16 : 14)) {
    case 0: LINE("SORT(%s, %s);", a, b); break;
    case 1: LINE("%s(%s, %s);", values_below(m, 2) ? "LEAST" : "MOST", a, values_u32(m, 1)); break;
    case 2: LINE("SWAP(%s, %s);", a, b); break;
    case 3: LINE("BOUND(%s, %uu, %uu);", a, values_below(m, 20), 20 + values_below(m, 200)); break;
    case 4: LINE("for (%s %s = 0u; %s < %uu; %s++) %s = %s %s in[%s + %uu];", t, k, k, 1 + values_below(m, 4), k, a, a, operator, k, values_below(m, 60)); break;
    case 5: LINE("if (%s) %s = %s; else %s %s= %s;", values_condition(m), a, values_u32(m, 1), b, operator, values_u32(m, 1)); break;
    case 6: LINE("if (%s) { %s %s= %s; %s = %s; }", values_condition(m), a, operator, values_u32(m, 1), b, values_u32(m, 1)); break;
    case 7: LINE("%s %s= %s; %s ^= %s;", a, operator, values_u32(m, 1), b, a); break;
    case 8: LINE("%s = %s = %s;", a, b, values_u32(m, 1)); break;
    case 9: LINE("while (%s > %uu) %s = %s / %uu;", a, 50 + values_below(m, 1000), a, a, 3 + 2 * values_below(m, 3)); break;
    case 10: LINE("%s = %s ? %s : %s;", a, values_condition(m), b, a); break;
    case 11:
        LINE("if (%s)", values_condition(m));
        LINE("    SORT(%s, %s);", a, b);
        if (values_below(m, 2)) {
            LINE("else");
            LINE("    %s %s= %s;", a, operator, values_u32(m, 1));
        }
        break;
    case 12:
    case 13:
        if (!call_by_reference(m, a))
            LINE("TWICE(%s, %s, %s);", a, b, values_u32(m, 1));
        break;
    case 14:
        if (values_below(m, 4) != 0) {
            LINE("exchange(%s, %s);", a, b);
            break;
        }
        LINE("unsigned &%s = %s;", k, values_below(m, 2) ? a : TEXT("%s > %s ? %s : %s", a, b, a, b));
        if (values_below(m, 2))
            LINE("if (%s)", values_condition(m));
        LINE("%s %s= %s;", k, operator, values_u32(m, 1));
        break;
    default:
        if (values_below(m, 4) != 0) {
            LINE("auto %s = [](unsigned &low, unsigned &high) { unsigned t = low; if (high < low) { low = high; high = t; } };", k);
            LINE("%s(%s, %s);", k, a, b);
            break;
        }
        LINE("auto %s = [&](unsigned by) { if (by %s %uu) %s += by; %s ^= by; };", k, values_below(m, 2) ? "<" : ">", values_below(m, 100), a, b);
        LINE("%s(%s);", k, values_u32(m, 1));
        break;
    }
    m->quiet--;
    values_observe(m, U32, a);
    values_observe(m, U32, b);
}

void values_statements(struct maker *m, unsigned count)
{
    while (count-- != 0) {
        if (m->memory && m->variables != 0 && values_below(m, 7) == 0) {
            use_memory(m);
            continue;
        }

        if (m->idioms && values_below(m, 3) == 0) {
            idiom(m);
            continue;
        }

        unsigned what = values_below(m, 20);
        const struct variable *v;

        if (m->depth > MOST_DEPTH || m->lines > 60)
            what = what % 13;
        if (what < 5) {
            declare(m);
        } else if (what < 11) {
            values_assign(m);
        } else if (what == 11) {
            if (m->observed)
                values_observe(m, U32, values_u32(m, 1));
            else if (m->kernel)
                LINE("out[gid + %uu] = %s;", VALUES_BLOCKS * VALUES_THREADS * (1u + values_below(m, 3)), values_u32(m, 1));
            else
                values_assign(m);
        } else if (what == 12) {
            v = values_choose(m, values_is_u32);
            for (unsigned i = 0; v != NULL && i < m->callable; i++)
                if (m->helper[i].by_pointer) {
                    LINE("%s(&%s, %s);", m->helper[i].name, v->name, values_u32(m, 1));
                    v = NULL;
                }
        } else if (what < 16) {
            branch(m);
        } else if (what < 19) {
            if (m->cost <= 40 && m->stores < MOST_STORES)
                loop(m);
            else
                branch(m);
        } else {
            choice(m);
        }
    }
}
