/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random kernels for tests/debug/prop_values.c.
 *
 * Values are restricted so that code of all compilers computes the same. Integers are unsigned or small, shift counts are masked,
 * divisors are odd, and each loop has its own counter. Floats are not negative and are multiples of 0.25, so that neither
 * rounding nor contraction can change them.
 */
#include "tests/debug/values_kernels.h"

enum type {
    U32, S32, U64, S64, U16, U8, F32, F64, VECTOR, PAIR, RECORD, ARRAY, FIXED /* an array with constant indices */,
    USUAL_COUNT, MIXED = USUAL_COUNT /* a structure with an array */, TYPE_COUNT
};
enum { THREADS = VALUES_BLOCKS * VALUES_THREADS, MOST_STORES = 1200 };
enum { MOST_VARIABLES = 64, MOST_HELPERS = 5, MOST_PARAMETERS = 3, MOST_DEPTH = 4 };

struct variable {
    const char *name;
    enum type type;
    bool fixed; /* the variable is the counter of a loop, so other code must not change it */
};

struct helper {
    char name[8];
    enum type result, parameter[MOST_PARAMETERS];
    unsigned parameters;
    bool by_pointer; /* the first parameter is a pointer to U32, and the function returns nothing */
    enum type pointed; /* MIXED or ARRAY if the first parameter points to this type, as in kernels with variables in memory */
    unsigned stores; /* in observed kernels: maximum number of stores of a call */
};

struct maker {
    struct prop_random *r;
    struct lw_sink *out;
    struct lw_arena arena;
    bool cuda, kernel, constant; /* constant: the kernel does not assign to its parameters */
    unsigned indent, names, lines, depth, loops, switches;
    enum type result;
    struct variable variable[MOST_VARIABLES];
    unsigned variables;
    unsigned behind; /* if not 0: the variables up to this index belong to the block that this statement ends */
    struct helper helper[MOST_HELPERS];
    unsigned helpers, callable; /* functions before @callable may be called */
    unsigned cost;              /* maximum number of times that the surrounding loops execute the current code, times @least */
    unsigned least;             /* value of @cost outside loops: 1 in kernels, 16 in other functions */
    /* The following members are used for observed kernels. */
    bool observed;
    bool memory;      /* the kernel is VALUES_MEMORY */
    bool declares;    /* the variable to be stored has just been declared */
    unsigned quiet;   /* calls are not possible at this point */
    unsigned pending; /* number of stores in the functions that this statement calls */
    unsigned stores;  /* maximum number of stores of this function */
};

static const char *const opencl_types[TYPE_COUNT] = {
    "uint", "int", "ulong", "long", "ushort", "uchar", "float", "double", "uint4", "struct pair", "struct record",
    "uint", "uint", "struct mixed"};
static const char *const cuda_types[TYPE_COUNT] = {
    "unsigned", "int", "unsigned long", "long", "unsigned short", "unsigned char", "float", "double", "uint4",
    "struct pair", "struct record", "unsigned", "unsigned", "struct mixed"};

static const char *type_name(const struct maker *m, enum type type)
{
    return (m->cuda ? cuda_types : opencl_types)[type];
}

static unsigned below(struct maker *m, unsigned n)
{
    return prop_below(m->r, n);
}

/* Returns a count for a shift of a 64-bit value other than 31, because clang 14 and 15 wrongly compile `(ulong)x << 31` to
 * mul.wide.s32 by -2^31. */
static unsigned shift_of_long(struct maker *m)
{
    const unsigned count = below(m, 33);

    return count == 31 ? 30 : count;
}

#define TEXT(...) lw_arena_printf(&m->arena, __VA_ARGS__)

#define LINE(...) \
    do { \
        for (unsigned tab = 0; tab < m->indent; tab++) \
            lw_put(m->out, "    "); \
        lw_printf(m->out, __VA_ARGS__); \
        lw_put(m->out, "\n"); \
        m->lines++; \
    } while (0)

/* ---- expressions ----------------------------------------------------------------------- */

static bool is_visible(const struct maker *m, unsigned index)
{
    for (unsigned i = index + 1; i < m->variables || i < m->behind; i++)
        if (strcmp(m->variable[i].name, m->variable[index].name) == 0)
            return false;
    return true;
}

/** Returns a visible variable for which @accepts is true, or NULL if there is none or the random choice finds none. */
static const struct variable *choose(struct maker *m, bool (*accepts)(const struct variable *))
{
    for (unsigned tries = 0; tries < 12 && m->variables != 0; tries++) {
        unsigned i = below(m, m->variables);

        if (below(m, 2) && m->variables > 5) /* prefers variables that have been declared last */
            i = m->variables - 1 - below(m, 5);
        if (is_visible(m, i) && accepts(&m->variable[i]))
            return &m->variable[i];
    }
    return NULL;
}

static bool any(const struct variable *v)
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

static bool is_u32(const struct variable *v)
{
    return v->type == U32 && !v->fixed;
}

static bool is_in_memory(const struct variable *v)
{
    return v->type == MIXED || v->type == ARRAY;
}

static const char *u32(struct maker *m, unsigned depth);

/** Returns the text of a load of an element of the input. */
static const char *input(struct maker *m)
{
    for (unsigned i = m->variables; i-- > 0 && below(m, 2);)
        if (m->variable[i].fixed && m->variable[i].name[0] == 'i' && is_visible(m, i)) /* the counter of a loop is less than 4 */
            return TEXT("in[%s + %uu]", m->variable[i].name, below(m, 60));
    return below(m, 3) ? TEXT("in[lid + %uu]", below(m, 16)) : TEXT("in[%u]", below(m, 64));
}

/** Returns an expression for the variable as a 32-bit number. */
static const char *leaf_of(struct maker *m, const struct variable *v)
{
    static const char lanes[] = "xyzw";
    const char *n = v->name, *unsigned_name = type_name(m, U32);

    switch (v->type) {
    case U32: return n;
    case U64:
        return below(m, 2) ? TEXT("(%s)%s", unsigned_name, n) : TEXT("(%s)(%s >> %u)", unsigned_name, n, below(m, 40));
    case VECTOR: return TEXT("%s.%c", n, lanes[below(m, 4)]);
    case PAIR: return below(m, 3) ? TEXT("%s.a", n) : TEXT("(%s)%s.b", unsigned_name, n);
    case RECORD:
        switch (below(m, 5)) {
        case 0: return TEXT("%s.p.a", n);
        case 1: return TEXT("(%s)%s.p.b", unsigned_name, n);
        case 2: return TEXT("(%s)%s.w", unsigned_name, n);
        case 3: return TEXT("%s.h", n);
        default: return TEXT("%s.c", n);
        }
    case ARRAY: return below(m, 2) ? TEXT("%s[%u]", n, below(m, 4))
                             : TEXT("%s[%s & 3u]", n, m->observed ? input(m) : u32(m, 0));
    case FIXED: return TEXT("%s[%u]", n, below(m, 4));
    case MIXED:
        switch (below(m, 6)) {
        case 0: return TEXT("%s.a", n);
        case 1: return TEXT("(%s)%s.b", unsigned_name, n);
        case 2: return TEXT("(%s)%s.w", unsigned_name, n);
        case 3: return TEXT("%s.arr[%u]", n, below(m, 4));
        default: return TEXT("%s.arr[%s & 3u]", n, input(m));
        }
    default: return TEXT("(%s)%s", unsigned_name, n);
    }
}

static const char *as(struct maker *m, enum type type, unsigned depth);

static const char *call(struct maker *m, const struct helper *h)
{
    const char *text = TEXT("%s(", h->name);

    if (m->observed) {
        text = TEXT("%sout, in, lid, at + %uu%s", text, THREADS * m->pending, h->parameters ? ", " : "");
        m->pending += h->stores;
    }
    for (unsigned i = 0; i < h->parameters; i++)
        text = TEXT("%s%s%s", text, i ? ", " : "", as(m, h->parameter[i], below(m, 2)));
    return TEXT("%s)", text);
}

/** Returns a helper function that returns @type, or NULL. */
static const struct helper *callee(struct maker *m, enum type type)
{
    unsigned first = m->callable != 0 ? below(m, m->callable) : 0;

    for (unsigned i = 0; i < m->callable && m->cost <= 32 && m->quiet == 0; i++) {
        const struct helper *h = &m->helper[(first + i) % m->callable];

        if (!h->by_pointer && h->result == type)
            return h;
    }
    return NULL;
}

static const char *bits_of(struct maker *m, unsigned depth)
{
    return m->observed ? input(m) : u32(m, depth);
}

static const char *condition_of(struct maker *m)
{
    const struct variable *v = choose(m, is_real);

    switch (below(m, 6)) {
    case 0: return TEXT("(%s & %uu) != 0u", bits_of(m, 0), 1u + below(m, 7));
    case 1: return TEXT("(%s & 15u) < %uu", bits_of(m, 1), below(m, 16));
    case 2: return TEXT("%s > %s", u32(m, 0), u32(m, 0));
    case 3: return v != NULL ? TEXT("%s > %u.25f", v->name, below(m, 60)) : TEXT("(%s & 1u) == 0u", bits_of(m, 0));
    case 4: return TEXT("(%s & 3u) == 1u || (%s & 4u) != 0u", bits_of(m, 0), bits_of(m, 0));
    default: return m->kernel ? TEXT("lid < %uu", below(m, VALUES_THREADS)) : TEXT("(%s & 2u) == 0u", bits_of(m, 0));
    }
}

static const char *condition(struct maker *m)
{
    const char *text;

    m->quiet += m->observed;
    text = condition_of(m);
    m->quiet -= m->observed;
    return text;
}

static const char *u32(struct maker *m, unsigned depth)
{
    static const char *const operators[] = {"+", "-", "*", "&", "|", "^"};
    const struct variable *v;
    const struct helper *h;

    if (depth == 0 || below(m, 4) == 0) {
        v = choose(m, any);
        if (v == NULL || below(m, 8) == 0)
            return TEXT("%uu", below(m, 3) ? below(m, 100) : (unsigned)prop_next(m->r));
        if ((m->kernel || m->observed) && below(m, 8) == 0)
            return m->observed ? input(m) : TEXT("in[%s & 63u]", leaf_of(m, v));
        return leaf_of(m, v);
    }
    switch (below(m, 9)) {
    case 0: return TEXT("(%s << (%s & 7u))", u32(m, depth - 1), bits_of(m, 0));
    case 1: return TEXT("(%s >> %uu)", u32(m, depth - 1), below(m, 32));
    case 2: return TEXT("(%s ? %s : %s)", condition(m), u32(m, depth - 1), u32(m, depth - 1));
    case 3: return TEXT("(%s %s (%s | 1u))", u32(m, depth - 1), below(m, 2) ? "/" : "%", u32(m, 0));
    case 4:
        h = callee(m, U32);
        if (h != NULL)
            return call(m, h);
        /* fall through */
    default: return TEXT("(%s %s %s)", u32(m, depth - 1), operators[below(m, 6)], u32(m, depth - 1));
    }
}

static const char *real(struct maker *m, enum type type, unsigned depth)
{
    const struct variable *v = choose(m, is_real);
    const char *t = type_name(m, type);

    switch (below(m, 5)) {
    case 0:
        if (v != NULL)
            return TEXT("(%s)%s", t, v->name);
        return TEXT("%u.5f", below(m, 64));
    case 1:
        if (v != NULL)
            return TEXT("(%s)(%s & 255u) * 0.25f + (%s)(%s & 63u)", t, u32(m, depth), t, leaf_of(m, v));
        /* fall through */
    case 2: return TEXT("(%s ? %u.75f : (%s)(%s & 31u))", condition(m), below(m, 9), t, u32(m, 0));
    default: return TEXT("(%s)(%s & 255u) * 0.25f", t, u32(m, depth));
    }
}

/** Returns an expression of @type, or for an array an expression for its elements. */
static const char *as(struct maker *m, enum type type, unsigned depth)
{
    const struct helper *h = below(m, 4) == 0 ? callee(m, type) : NULL;

    if (h != NULL)
        return call(m, h);
    switch (type) {
    case S32: return TEXT("(int)(%s & 1023u) - %u", u32(m, depth), below(m, 600));
    case U64:
        return below(m, 2) ? TEXT("(%s)%s * (%s)%s", type_name(m, U64), u32(m, 0), type_name(m, U64), u32(m, depth))
                           : TEXT("((%s)%s << %u) + %s", type_name(m, U64), u32(m, depth), shift_of_long(m), u32(m, 0));
    case S64: return TEXT("(long)(%s) * %u - %u", u32(m, depth), 1 + below(m, 9), below(m, 9));
    case U16:
    case U8: return TEXT("(%s)(%s)", type_name(m, type), u32(m, depth));
    case F32:
    case F64: return real(m, type, depth ? depth - 1 : 0);
    case VECTOR:
        return TEXT(m->cuda ? "make_uint4(%s, %s, %s, %s)" : "(uint4)(%s, %s, %s, %s)", u32(m, 0), u32(m, 0),
                    u32(m, 0), u32(m, 0));
    case PAIR:
        if (m->observed)
            return TEXT(m->cuda ? "pair{%s, %s}" : "(struct pair){%s, %s}", u32(m, 0), real(m, F32, 0));
        return TEXT("make_pair_of(%s, %s)", u32(m, 0), real(m, F32, 0));
    case RECORD:
        if (m->observed)
            return TEXT(m->cuda ? "record{{%s, %s}, %s, (unsigned short)%u, (unsigned char)%u}"
                                : "(struct record){{%s, %s}, %s, %u, %u}",
                        u32(m, 0), real(m, F32, 0), u32(m, 1), below(m, 65536), below(m, 256));
        return TEXT("make_record(%s, %s)", u32(m, 0), real(m, F32, 0));
    case MIXED:
        return TEXT(m->cuda ? "mixed{%s, %s, {%s, %s, %s, %s}, %s}" : "(struct mixed){%s, %s, {%s, %s, %s, %s}, %s}", u32(m, 0), real(m, F32, 0),
                    u32(m, 0), u32(m, 0), u32(m, 0), u32(m, 0), u32(m, 0));
    default: return u32(m, depth);
    }
}

/* ---- statements ------------------------------------------------------------------------- */

static const char *fresh(struct maker *m, const char *prefix)
{
    return TEXT("%s%u", prefix, m->names++);
}

static const struct variable *add(struct maker *m, const char *name, enum type type, bool fixed)
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
static void count_pending(struct maker *m)
{
    m->stores += m->cost / m->least * m->pending;
    m->pending = 0;
}

/** Writes a statement that stores variable @name, to which the preceding statement has assigned, and that advances the index of
 *  the next store. */
static void observe(struct maker *m, enum type type, const char *name)
{
    struct scalar scalar[7];
    const char *text = "";
    unsigned count, first = m->pending;

    if (!m->observed)
        return;
    count = scalars_of(m, type, name, scalar);
    if (type == MIXED || type == ARRAY) { /* often stores no or only some scalars, so that clang may remove other stores */
        const unsigned kept = m->declares ? 1 : below(m, 3);

        if (kept != 0) {
            scalar[0] = type == ARRAY || kept == 1 ? (struct scalar){TEXT("%s%s[%s & 3u]", name, type == ARRAY ? "" : ".arr", input(m)), U32} : scalar[below(m, count)];
            count = m->declares || below(m, 2); /* a load with a computed index keeps the variable in memory */
        }
        if (count == 0 && m->pending == 0)
            return;
    }
    /* The store has the variable's own width, because a wider store would let the compiler change the computation. */
    for (unsigned i = 0; i < count; i++)
        text = TEXT("%s*(%s%s *)&out[at + %uu] = %s; ", text, m->cuda ? "" : "__global ", type_name(m, scalar[i].type),
                    THREADS * (first + i), scalar[i].text);
    m->pending += count;
    LINE("%sat += %uu;", text, THREADS * m->pending);
    m->lines--;
    count_pending(m);
}

static void declare_as(struct maker *m, enum type type);

static void declare(struct maker *m)
{
    enum type type = below(m, 3) ? (enum type)below(m, F64 + 1) : (enum type)below(m, USUAL_COUNT);

    if (m->memory && below(m, 4) == 0)
        type = below(m, 2) ? ARRAY : MIXED;
    else if (m->observed && type == ARRAY)
        type = FIXED;
    declare_as(m, type);
}

static void declare_as(struct maker *m, enum type type)
{
    static const char *const prefixes[TYPE_COUNT] = {"w", "si", "ul", "sl", "us", "uc", "fl", "db", "vec", "pr", "rec",
                                                      "arr", "fix", "mix"};
    const char *name, *t = type_name(m, type);

    name = fresh(m, prefixes[type]);
    if (m->variables == MOST_VARIABLES)
        return;
    if (m->depth > 1 && below(m, 4) == 0) { /* the name hides a variable of an outer scope */
        const struct variable *outer = choose(m, any);

        if (outer != NULL && outer < m->variable + m->variables / 2 && strcmp(outer->name, "lid") != 0)
            name = outer->name;
    }
    for (unsigned i = 0; i < m->variables; i++) /* the variable is in scope in its own initialiser */
        if (name == m->variable[i].name) {
            LINE("%s %s = %u;", type_name(m, U32), name, below(m, 50));
            observe(m, U32, name);
            add(m, name, U32, false);
            return;
        }
    if (type == ARRAY || type == FIXED)
        LINE("%s %s[4] = {%s, %s, %s, %s};", t, name, u32(m, 0), u32(m, 0), u32(m, 0), u32(m, 0));
    else if (type == PAIR && below(m, 2))
        LINE("%s %s = {%s, %s};", t, name, u32(m, 0), real(m, F32, 0));
    else
        LINE("%s %s = %s;", t, name, as(m, type, 2));
    m->declares = true;
    observe(m, type, name);
    m->declares = false;
    add(m, name, type, false);
}

static void assign(struct maker *m)
{
    static const char *const operators[] = {"+=", "-=", "^=", "*=", "|="};
    static const char lanes[] = "xyzw";
    const struct variable *v = m->memory && below(m, 2) ? choose(m, is_in_memory) : choose(m, changeable);
    const char *n;

    if (v == NULL) {
        declare(m);
        return;
    }
    n = v->name;
    switch (v->type) {
    case U32:
    case U64:
        if (below(m, 3) == 0)
            LINE("%s %s %s;", n, operators[below(m, 5)], u32(m, 1));
        else if (below(m, 5) == 0)
            LINE("%s++;", n);
        else
            LINE("%s = %s;", n, as(m, v->type, 2));
        break;
    case F32:
    case F64:
        if (below(m, 2))
            LINE("%s += 0.25f;", n);
        else
            LINE("%s = %s;", n, as(m, v->type, 1));
        break;
    case VECTOR:
        if (below(m, 2))
            LINE("%s.%c = %s;", n, lanes[below(m, 4)], u32(m, 1));
        else if (!m->cuda && below(m, 2))
            LINE("%s = %s + %s.wxyz;", n, n, n);
        else if (m->cuda && m->observed) /* in CUDA, a vector is a structure */
            LINE("%s.%c ^= %s;", n, lanes[below(m, 4)], u32(m, 1));
        else
            LINE("%s = %s;", n, as(m, VECTOR, 0));
        break;
    case PAIR:
        if (below(m, 4) == 0 && !m->observed)
            LINE("%s = %s;", n, as(m, PAIR, 0));
        else if (below(m, 2))
            LINE("%s.a = %s;", n, u32(m, 1));
        else
            LINE("%s.b = %s;", n, real(m, F32, 0));
        break;
    case RECORD:
        switch (below(m, 6)) {
        case 0: LINE("%s.p.a = %s;", n, u32(m, 1)); break;
        case 1: LINE("%s.p.b = %s;", n, real(m, F32, 0)); break;
        case 2: LINE("%s.w = %s;", n, as(m, U64, 0)); break;
        case 3: LINE("%s.h = (%s)(%s);", n, type_name(m, U16), u32(m, 1)); break;
        case 4:
            if (m->observed)
                LINE("%s.p.a = %s;", n, u32(m, 0));
            else
                LINE("%s.p = %s;", n, as(m, PAIR, 0));
            break;
        default: LINE("%s.c = (%s)(%s);", n, type_name(m, U8), u32(m, 1)); break;
        }
        break;
    case ARRAY:
        if (m->memory && below(m, 2))
            LINE("%s[%u] %s %s;", n, below(m, 4), below(m, 2) ? "=" : operators[below(m, 5)], u32(m, 1));
        else
            LINE("%s[%s & 3u] = %s;", n, bits_of(m, 0), u32(m, 1));
        break;
    case MIXED:
        switch (below(m, 8)) {
        case 0:
        case 1: LINE("%s.a %s %s;", n, below(m, 2) ? "=" : operators[below(m, 5)], u32(m, 1)); break;
        case 2: LINE("%s.b = %s;", n, real(m, F32, 0)); break;
        case 3: LINE("%s.w = %s;", n, as(m, U64, 0)); break;
        case 4: LINE("%s.arr[%u] = %s;", n, below(m, 4), u32(m, 1)); break;
        case 5: LINE("%s = %s;", n, as(m, MIXED, 0)); break;
        default: LINE("%s.arr[%s & 3u] %s %s;", n, input(m), below(m, 2) ? "=" : "+=", u32(m, 1)); break;
        }
        break;
    case FIXED: LINE("%s[%u] = %s;", n, below(m, 4), u32(m, 1)); break;
    default: LINE("%s = %s;", n, as(m, v->type, 1)); break;
    }
    observe(m, v->type, n);
}

static void statements(struct maker *m, unsigned count);

/** Writes a body up to its closing brace; the opening brace has been written. Returns the number of variables at its end. */
static unsigned body(struct maker *m, unsigned count)
{
    unsigned outer = m->variables, all;

    m->indent++;
    m->depth++;
    statements(m, count);
    m->depth--;
    m->indent--;
    all = m->variables;
    m->variables = outer;
    return all;
}

static void branch(struct maker *m)
{
    unsigned arms = below(m, 3);

    LINE("if (%s) {", condition(m));
    body(m, 1 + below(m, 3));
    for (unsigned i = 0; i < arms; i++) {
        if (i == arms - 1)
            LINE("} else {");
        else
            LINE("} else if (%s) {", condition(m));
        body(m, 1 + below(m, 2));
    }
    LINE("}");
}

/** Sometimes writes a conditional statement that ends or continues the surrounding loop. */
static void jump(struct maker *m)
{
    unsigned outer = m->variables;

    if (below(m, 3) != 0)
        return;
    LINE("if (%s) {", condition(m));
    m->indent++;
    if (below(m, 2))
        assign(m);
    LINE("%s;", below(m, 2) ? "break" : "continue");
    m->indent--;
    m->variables = outer;
    LINE("}");
}

static void loop(struct maker *m)
{
    unsigned outer = m->variables, cost = m->cost, most = 1u << below(m, 3), kind = below(m, 4);
    const char *count = fresh(m, "n"), *t = type_name(m, U32);

    if (m->variables + 4 > MOST_VARIABLES)
        return;
    m->cost *= most + 1;
    if (m->observed && kind > 1) /* without `+ 1`, because clang writes no debug value for the result of `+ 1 - 1` */
        LINE("%s %s = %s & %uu;", t, count, input(m), most - 1);
    else
        LINE("%s %s = (%s & %uu) + 1u;", t, count, bits_of(m, 1), most - 1);
    observe(m, U32, count);
    add(m, count, U32, true);
    m->loops++;
    if (kind <= 1) {
        const char *i = fresh(m, "i");

        /* The loop counts at its head, so that after an early exit the counter does not have its last value. */
        if (m->observed) {
            LINE("%s %s = 0u;", t, i);
            observe(m, U32, i);
            if (kind == 1)
                LINE("while (%s < %uu) {", i, most);
            else
                LINE("while (%s < %s) {", i, count);
            m->indent++;
            LINE("%s++;", i);
            observe(m, U32, i);
            m->indent--;
        } else if (kind == 1 && below(m, 2))
            LINE("for (%s %s = 0u; %s < %uu; %s++) {", t, i, i, most, i);
        else
            LINE("for (%s %s = 0u; %s < %s; %s++) {", t, i, i, count, i);
        add(m, i, U32, true);
        m->depth++;
        m->behind = body(m, 1 + below(m, 3));
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
        observe(m, U32, count);
        jump(m);
        m->indent--;
        body(m, 1 + below(m, 3));
        LINE("}");
    } else {
        LINE("do {");
        m->indent++;
        LINE("%s %s 1u;", count, m->observed ? "+=" : "-=");
        observe(m, U32, count);
        jump(m);
        m->indent--;
        body(m, 1 + below(m, 3));
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
    unsigned arms = 2 + below(m, 3);

    LINE("switch (%s & 3u) {", bits_of(m, 1));
    for (unsigned i = 0; i < arms; i++) {
        if (i == arms - 1)
            LINE("default: {");
        else
            LINE("case %uu: {", i);
        body(m, 1 + below(m, 2));
        m->indent++;
        if (i == arms - 1 || below(m, 4) != 0)
            LINE("break;");
        m->indent--;
        LINE("}");
    }
    LINE("}");
}

/** Writes a call that passes the address of a variable, or a loop with assignments to all elements of an array. */
static void use_memory(struct maker *m)
{
    const struct variable *v = choose(m, is_in_memory);
    const char *part = v != NULL && v->type == MIXED ? ".arr" : "", *i;

    if (v == NULL || m->cost > 40) {
        declare(m);
        return;
    }
    for (unsigned k = 0; k < m->callable && below(m, 2); k++)
        if (m->helper[k].pointed == v->type) {
            LINE("%s(%s%s, %s);", m->helper[k].name, v->type == MIXED ? "&" : "", v->name, u32(m, 1));
            observe(m, v->type, v->name);
            return;
        }
    i = fresh(m, "i");
    LINE("%s %s = 0u;", type_name(m, U32), i);
    observe(m, U32, i);
    LINE("while (%s < 4u) {", i);
    m->indent++;
    m->cost *= 4;
    LINE("%s++;", i);
    observe(m, U32, i);
    LINE("%s%s[%s & 3u] %s %s + %s;", v->name, part, i, below(m, 2) ? "=" : "^=", i, u32(m, 0));
    if (below(m, 2))
        observe(m, v->type, v->name);
    m->cost /= 4;
    m->indent--;
    LINE("}");
    observe(m, v->type, v->name);
}

static void statements(struct maker *m, unsigned count)
{
    while (count-- != 0) {
        if (m->memory && m->variables != 0 && below(m, 7) == 0) {
            use_memory(m);
            continue;
        }

        unsigned what = below(m, 20);
        const struct variable *v;

        if (m->depth > MOST_DEPTH || m->lines > 60)
            what = what % 13;
        if (what < 5) {
            declare(m);
        } else if (what < 11) {
            assign(m);
        } else if (what == 11) {
            if (m->observed)
                observe(m, U32, u32(m, 1));
            else if (m->kernel)
                LINE("out[gid + %uu] = %s;", VALUES_BLOCKS * VALUES_THREADS * (1u + below(m, 3)), u32(m, 1));
            else
                assign(m);
        } else if (what == 12) {
            v = choose(m, is_u32);
            for (unsigned i = 0; v != NULL && i < m->callable; i++)
                if (m->helper[i].by_pointer) {
                    LINE("%s(&%s, %s);", m->helper[i].name, v->name, u32(m, 1));
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

/* ---- functions -------------------------------------------------------------------------- */

static void helper(struct maker *m)
{
    struct helper *h = &m->helper[m->helpers];
    static const enum type results[] = {U32, U32, U32, F32, PAIR, U64, U8, VECTOR};
    const char *device = m->cuda ? "__device__ " : "";
    const char *kept = below(m, 4) == 0 ? m->cuda ? "__noinline__ " : "__attribute__((noinline)) " : "";
    const char *common = !m->observed ? ""
                         : m->cuda    ? "unsigned long *out, const unsigned *in, unsigned lid, unsigned at, "
                                      : "__global ulong *out, __global const uint *in, uint lid, uint at, ";
    const char *text;

    snprintf(h->name, sizeof h->name, "g%u", m->helpers);
    m->kernel = false;
    m->callable = m->helpers;
    m->variables = m->indent = m->depth = m->loops = m->stores = 0;
    m->cost = m->least = 16;
    h->by_pointer = below(m, 5) == 0 && !m->observed;
    if (h->by_pointer) {
        LINE("%s%sstatic void %s(%s *to, %s by)", device, kept, h->name, type_name(m, U32), type_name(m, U32));
        LINE("{");
        add(m, "by", U32, false);
        body(m, below(m, 2));
        m->indent++;
        LINE("*to %s %s;", below(m, 2) ? "+=" : "^=", u32(m, 1));
        m->indent--;
        LINE("}");
        LINE("%s", "");
        m->helpers++;
        return;
    }
    h->result = results[below(m, LW_COUNT_OF(results))];
    h->parameters = 1 + below(m, MOST_PARAMETERS);
    text = TEXT("%s%sstatic %s %s(%s", device, kept, type_name(m, h->result), h->name, common);
    for (unsigned i = 0; i < h->parameters; i++) {
        static const enum type types[] = {U32, U32, U64, F32, U8, PAIR, S32, VECTOR, RECORD, F64};

        h->parameter[i] = types[below(m, LW_COUNT_OF(types))];
        add(m, fresh(m, "x"), h->parameter[i], m->observed && (h->parameter[i] == PAIR || h->parameter[i] == RECORD));
        text = TEXT("%s%s%s %s", text, i ? ", " : "", type_name(m, h->parameter[i]), m->variable[i].name);
    }
    LINE("%s)", text);
    LINE("{");
    m->indent++;
    m->depth = 1;
    for (unsigned i = 0; i < h->parameters; i++)
        observe(m, h->parameter[i], m->variable[i].name);
    statements(m, 1 + below(m, 3));
    if (below(m, 3) == 0) {
        unsigned outer = m->variables;

        LINE("if (%s) {", condition(m));
        m->indent++;
        if (below(m, 2))
            assign(m);
        LINE("return %s;", as(m, h->result, 1));
        count_pending(m);
        m->indent--;
        m->variables = outer;
        LINE("}");
        assign(m);
    }
    LINE("return %s;", as(m, h->result, 1));
    count_pending(m);
    h->stores = m->stores;
    m->indent--;
    LINE("}");
    LINE("%s", "");
    m->helpers++;
}

/** Writes a function that assigns through a pointer. */
static void pointer_helper(struct maker *m)
{
    struct helper *h = &m->helper[m->helpers];
    const char *t = type_name(m, U32), *to;

    snprintf(h->name, sizeof h->name, "g%u", m->helpers);
    h->pointed = below(m, 2) ? MIXED : ARRAY;
    h->result = TYPE_COUNT; /* the function returns nothing */
    to = h->pointed == MIXED ? "to->arr" : "to";
    m->indent = 0;
    LINE("%s%sstatic void %s(%s *to, %s by)", m->cuda ? "__device__ " : "", below(m, 4) ? "" : m->cuda ? "__noinline__ " : "__attribute__((noinline)) ", h->name,
         h->pointed == MIXED ? "struct mixed" : t, t);
    LINE("{");
    m->indent++;
    if (below(m, 2))
        LINE("%s[by & 3u] = by * %uu;", to, 1 + below(m, 9));
    if (h->pointed == MIXED && below(m, 2))
        LINE("to->a %s by;", below(m, 2) ? "+=" : "=");
    LINE("%s[%u] ^= by;", to, below(m, 4));
    if (h->pointed == MIXED && below(m, 2))
        LINE("to->w = by;");
    m->indent--;
    LINE("}");
    LINE("%s", "");
    m->helpers++;
}

static void prelude(struct maker *m)
{
    const char *device = m->cuda ? "__device__ " : "";

    LINE("struct pair {");
    LINE("    %s a;", type_name(m, U32));
    LINE("    float b;");
    LINE("};");
    LINE("struct record {");
    LINE("    struct pair p;");
    LINE("    %s w;", type_name(m, U64));
    LINE("    %s h;", type_name(m, U16));
    LINE("    %s c;", type_name(m, U8));
    LINE("};");
    if (m->memory) {
        LINE("struct mixed {");
        LINE("    %s a;", type_name(m, U32));
        LINE("    float b;");
        LINE("    %s arr[4];", type_name(m, U32));
        LINE("    %s w;", type_name(m, U64));
        LINE("};");
    }
    if (m->observed)
        return;
    LINE("%sstatic struct pair make_pair_of(%s a, float b)", device, type_name(m, U32));
    LINE("{");
    LINE("    struct pair made = {a, b};");
    LINE("    return made;");
    LINE("}");
    LINE("%sstatic struct record make_record(%s a, float b)", device, type_name(m, U32));
    LINE("{");
    LINE("    struct record made = {{a, b}, a, 7, 9};");
    LINE("    made.w *= a;");
    LINE("    made.h = (%s)(a >> 3);", type_name(m, U16));
    LINE("    return made;");
    LINE("}");
}

static void kernel(struct maker *m)
{
    const char *sum, *in_memory[2] = {NULL, NULL}; /* names of variables in memory */
    const struct variable *v;

    m->kernel = true;
    m->callable = m->helpers;
    m->variables = m->indent = m->depth = m->loops = m->lines = m->stores = 0;
    m->cost = m->least = 1;
    if (m->cuda) {
        LINE("extern \"C\" __global__ void k(%s *out, const unsigned *in, unsigned n, unsigned long big, "
             "float scale, unsigned char small)", type_name(m, m->observed ? U64 : U32));
        LINE("{");
        LINE("    unsigned lid = threadIdx.x;");
        LINE("    unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;");
    } else {
        LINE("__kernel void k(__global %s *out, __global const uint *in, uint n, ulong big, float scale, "
             "uchar small)", type_name(m, m->observed ? U64 : U32));
        LINE("{");
        LINE("    uint lid = (uint)get_local_id(0);");
        LINE("    uint gid = (uint)get_global_id(0);");
    }
    if (m->observed)
        LINE("    %s at = gid;", type_name(m, U32));
    m->indent = 1;
    observe(m, U32, "lid");
    observe(m, U32, "gid");
    add(m, "lid", U32, true);
    add(m, "gid", U32, true);
    add(m, "n", U32, m->constant);
    add(m, "big", U64, m->constant);
    add(m, "scale", F32, m->constant);
    add(m, "small", U8, m->constant);
    for (unsigned i = 2; i < m->variables; i++)
        observe(m, m->variable[i].type, m->variable[i].name);
    m->depth = 1;
    if (m->memory) {
        declare_as(m, ARRAY);
        in_memory[0] = m->variable[m->variables - 1].name;
        declare_as(m, MIXED);
        in_memory[1] = m->variable[m->variables - 1].name;
    }
    statements(m, 3);
    while (m->lines < 14)
        statements(m, 1);
    statements(m, below(m, 5));
    if (below(m, 6) == 0) {
        LINE("if (%s) {", condition(m));
        m->indent++;
        if (m->observed)
            observe(m, U32, u32(m, 1));
        else
            LINE("out[gid] = %s;", u32(m, 1));
        LINE("return;");
        m->indent--;
        LINE("}");
        statements(m, 1);
    }
    sum = u32(m, 1);
    for (unsigned i = 0; i < 3; i++) {
        v = choose(m, any);
        sum = v != NULL ? TEXT("%s ^ %s", sum, leaf_of(m, v)) : sum;
    }
    if (m->memory)
        sum = TEXT("%s ^ %s[%s & 3u] ^ %s.arr[%s & 3u]", sum, in_memory[0], input(m), in_memory[1], input(m));
    if (m->observed)
        observe(m, U32, sum);
    else
        LINE("out[gid] = %s;", sum);
    m->indent = 0;
    LINE("}");
}

unsigned values_kernel_print(struct prop_random *r, bool cuda, enum values_kind kind, struct lw_sink *out)
{
    const bool observed = kind != VALUES_FREE;
    struct maker maker = {.r = r, .out = out, .cuda = cuda, .observed = observed, .memory = kind == VALUES_MEMORY, .least = 1}, *m = &maker;
    unsigned helpers = below(m, MOST_HELPERS);

    m->constant = below(m, 2) || getenv("LW_VALUES_CONSTANT") != NULL;
    lw_arena_init(&m->arena);
    prelude(m);
    while (m->helpers < helpers)
        if (m->memory && below(m, 2))
            pointer_helper(m);
        else
            helper(m);
    kernel(m);
    lw_arena_fini(&m->arena);
    return observed ? m->stores : 0;
}
