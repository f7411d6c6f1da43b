/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and kernels of the random sources for tests/debug/prop_values.c. */
#include "tests/debug/values_maker.h"

/* ---- functions -------------------------------------------------------------------------- */

static void helper(struct maker *m)
{
    struct helper *h = &m->helper[m->helpers];
    static const enum type results[] = {U32, U32, U32, F32, PAIR, U64, U8, VECTOR};
    const char *device = m->cuda ? "__device__ " : "";
    const char *kept = values_below(m, 4) == 0 ? m->cuda ? "__noinline__ " : "__attribute__((noinline)) " : "";
    const char *common = !m->observed ? ""
                         : m->cuda    ? "unsigned long *out, const unsigned *in, unsigned lid, unsigned at, "
                                      : "__global ulong *out, __global const uint *in, uint lid, uint at, ";
    const char *text;

    snprintf(h->name, sizeof h->name, "g%u", m->helpers);
    m->kernel = false;
    m->callable = m->helpers;
    m->variables = m->indent = m->depth = m->loops = m->stores = 0;
    m->cost = m->least = 16;
    h->by_pointer = values_below(m, 5) == 0 && !m->observed;
    if (h->by_pointer) {
        LINE("%s%sstatic void %s(%s *to, %s by)", device, kept, h->name, values_type_name(m, U32), values_type_name(m, U32));
        LINE("{");
        values_add(m, "by", U32, false);
        values_body(m, values_below(m, 2));
        m->indent++;
        LINE("*to %s %s;", values_below(m, 2) ? "+=" : "^=", values_u32(m, 1));
        m->indent--;
        LINE("}");
        LINE("%s", "");
        m->helpers++;
        return;
    }
    h->result = results[values_below(m, LW_COUNT_OF(results))];
    h->parameters = 1 + values_below(m, MOST_PARAMETERS);
    text = TEXT("%s%sstatic %s %s(%s", device, kept, values_type_name(m, h->result), h->name, common);
    for (unsigned i = 0; i < h->parameters; i++) {
        static const enum type types[] = {U32, U32, U64, F32, U8, PAIR, S32, VECTOR, RECORD, F64};

        h->parameter[i] = types[values_below(m, LW_COUNT_OF(types))];
        values_add(m, values_fresh(m, "x"), h->parameter[i], m->observed && !m->idioms && (h->parameter[i] == PAIR || h->parameter[i] == RECORD));
        text = TEXT("%s%s%s %s", text, i ? ", " : "", values_type_name(m, h->parameter[i]), m->variable[i].name);
    }
    LINE("%s)", text);
    LINE("{");
    m->indent++;
    m->depth = 1;
    for (unsigned i = 0; i < h->parameters; i++)
        values_observe(m, h->parameter[i], m->variable[i].name);
    values_statements(m, 1 + values_below(m, 3));
    if (values_below(m, 3) == 0) {
        unsigned outer = m->variables;

        LINE("if (%s) {", values_condition(m));
        m->indent++;
        if (values_below(m, 2))
            values_assign(m);
        LINE("return %s;", values_as(m, h->result, 1));
        values_count_pending(m);
        m->indent--;
        m->variables = outer;
        LINE("}");
        values_assign(m);
    }
    LINE("return %s;", values_as(m, h->result, 1));
    values_count_pending(m);
    h->stores = m->stores;
    m->indent--;
    LINE("}");
    LINE("%s", "");
    m->helpers++;
}

/** Writes a function that assigns to a scalar through its first parameter, and returns nothing. */
static void reference_helper(struct maker *m)
{
    struct helper *h = &m->helper[m->helpers];
    const char *t = values_type_name(m, U32), *to = m->cuda ? "to" : "*to";

    snprintf(h->name, sizeof h->name, "g%u", m->helpers);
    h->by_reference = true;
    h->result = TYPE_COUNT; /* the function returns nothing */
    m->kernel = false;
    m->callable = 0;
    m->variables = m->indent = m->depth = m->loops = m->stores = 0;
    m->cost = m->least = 16;
    LINE("%s%sstatic void %s(%s, %s %sto, %s by)", m->cuda ? "__device__ " : "", values_below(m, 4) ? "" : m->cuda ? "__noinline__ " : "__attribute__((noinline)) ", h->name,
         m->cuda ? "unsigned long *out, const unsigned *in, unsigned lid, unsigned at" : "__global ulong *out, __global const uint *in, uint lid, uint at",
         t, m->cuda ? "&" : "*", t);
    LINE("{");
    m->indent = m->depth = 1;
    values_observe(m, U32, "by");
    values_add(m, "by", U32, false);
    values_statements(m, values_below(m, 3));
    switch (values_below(m, 4)) {
    case 0: LINE("LEAST(%s, by);", to); break;
    case 1: LINE("if (by & 1u) %s += by; else %s = by;", to, to); break;
    case 2: LINE("%s ^= %s;", to, values_u32(m, 1)); break;
    default:
        LINE("if (%s)", values_condition(m));
        LINE("    %s = by * 3u;", to);
        break;
    }
    values_observe(m, U32, to);
    if (values_below(m, 2)) {
        LINE("%s += by;", to);
        values_observe(m, U32, to);
    }
    values_count_pending(m);
    h->stores = m->stores;
    m->indent = 0;
    LINE("}");
    LINE("%s", "");
    m->helpers++;
}

/** Writes a function that assigns through a pointer. */
static void pointer_helper(struct maker *m)
{
    struct helper *h = &m->helper[m->helpers];
    const char *t = values_type_name(m, U32), *to;

    snprintf(h->name, sizeof h->name, "g%u", m->helpers);
    h->pointed = values_below(m, 2) ? MIXED : ARRAY;
    h->result = TYPE_COUNT; /* the function returns nothing */
    to = h->pointed == MIXED ? "to->arr" : "to";
    m->indent = 0;
    LINE("%s%sstatic void %s(%s *to, %s by)", m->cuda ? "__device__ " : "", values_below(m, 4) ? "" : m->cuda ? "__noinline__ " : "__attribute__((noinline)) ", h->name,
         h->pointed == MIXED ? "struct mixed" : t, t);
    LINE("{");
    m->indent++;
    if (values_below(m, 2))
        LINE("%s[by & 3u] = by * %uu;", to, 1 + values_below(m, 9));
    if (h->pointed == MIXED && values_below(m, 2))
        LINE("to->a %s by;", values_below(m, 2) ? "+=" : "=");
    LINE("%s[%u] ^= by;", to, values_below(m, 4));
    if (h->pointed == MIXED && values_below(m, 2))
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
    LINE("    %s a;", values_type_name(m, U32));
    LINE("    float b;");
    LINE("};");
    LINE("struct record {");
    LINE("    struct pair p;");
    LINE("    %s w;", values_type_name(m, U64));
    LINE("    %s h;", values_type_name(m, U16));
    LINE("    %s c;", values_type_name(m, U8));
    LINE("};");
    if (m->memory) {
        LINE("struct mixed {");
        LINE("    %s a;", values_type_name(m, U32));
        LINE("    float b;");
        LINE("    %s arr[4];", values_type_name(m, U32));
        LINE("    %s w;", values_type_name(m, U64));
        LINE("};");
    }
    if (m->idioms) {
        LINE("#define SWAP(x, y) do { %s t_ = (x); (x) = (y); (y) = t_; } while (0)", values_type_name(m, U32));
        LINE("#define SORT(x, y) do { if ((y) < (x)) { %s t_ = (x); (x) = (y); (y) = t_; } } while (0)", values_type_name(m, U32));
        LINE("#define LEAST(x, y) do { %s y_ = (y); if (y_ < (x)) (x) = y_; } while (0)", values_type_name(m, U32));
        LINE("#define MOST(x, y) (x) = (x) > (y) ? (x) : (y)");
        LINE("#define BOUND(x, low, high) do { if ((x) < (low)) (x) = (low); else if ((x) > (high)) (x) = (high); } while (0)");
        LINE("#define TWICE(x, y, by) do { (x) += (by); (y) ^= (x); } while (0)");
        if (m->cuda)
            LINE("template <class T> __device__ void exchange(T &a, T &b) { T t = a; a = b; b = t; }");
    }
    if (m->observed)
        return;
    LINE("%sstatic struct pair make_pair_of(%s a, float b)", device, values_type_name(m, U32));
    LINE("{");
    LINE("    struct pair made = {a, b};");
    LINE("    return made;");
    LINE("}");
    LINE("%sstatic struct record make_record(%s a, float b)", device, values_type_name(m, U32));
    LINE("{");
    LINE("    struct record made = {{a, b}, a, 7, 9};");
    LINE("    made.w *= a;");
    LINE("    made.h = (%s)(a >> 3);", values_type_name(m, U16));
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
             "float scale, unsigned char small)", values_type_name(m, m->observed ? U64 : U32));
        LINE("{");
        LINE("    unsigned lid = threadIdx.x;");
        LINE("    unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;");
    } else {
        LINE("__kernel void k(__global %s *out, __global const uint *in, uint n, ulong big, float scale, "
             "uchar small)", values_type_name(m, m->observed ? U64 : U32));
        LINE("{");
        LINE("    uint lid = (uint)get_local_id(0);");
        LINE("    uint gid = (uint)get_global_id(0);");
    }
    if (m->observed)
        LINE("    %s at = gid;", values_type_name(m, U32));
    m->indent = 1;
    values_observe(m, U32, "lid");
    values_observe(m, U32, "gid");
    values_add(m, "lid", U32, true);
    values_add(m, "gid", U32, true);
    values_add(m, "n", U32, m->constant);
    values_add(m, "big", U64, m->constant);
    values_add(m, "scale", F32, m->constant);
    values_add(m, "small", U8, m->constant);
    for (unsigned i = 2; i < m->variables; i++)
        values_observe(m, m->variable[i].type, m->variable[i].name);
    m->depth = 1;
    if (m->memory) {
        values_declare_as(m, ARRAY);
        in_memory[0] = m->variable[m->variables - 1].name;
        values_declare_as(m, MIXED);
        in_memory[1] = m->variable[m->variables - 1].name;
    }
    values_statements(m, 3);
    while (m->lines < 14)
        values_statements(m, 1);
    values_statements(m, values_below(m, 5));
    if (values_below(m, 6) == 0) {
        LINE("if (%s) {", values_condition(m));
        m->indent++;
        if (m->observed)
            values_observe(m, U32, values_u32(m, 1));
        else
            LINE("out[gid] = %s;", values_u32(m, 1));
        LINE("return;");
        m->indent--;
        LINE("}");
        values_statements(m, 1);
    }
    sum = values_u32(m, 1);
    for (unsigned i = 0; i < 3; i++) {
        v = values_choose(m, values_is_any);
        sum = v != NULL ? TEXT("%s ^ %s", sum, values_leaf_of(m, v)) : sum;
    }
    if (m->memory)
        sum = TEXT("%s ^ %s[%s & 3u] ^ %s.arr[%s & 3u]", sum, in_memory[0], values_input(m), in_memory[1], values_input(m));
    if (m->observed)
        values_observe(m, U32, sum);
    else
        LINE("out[gid] = %s;", sum);
    m->indent = 0;
    LINE("}");
}

unsigned values_kernel_print(struct prop_random *r, bool cuda, enum values_kind kind, struct lw_sink *out)
{
    const bool observed = kind != VALUES_FREE;
    struct maker maker = {.r = r, .out = out, .cuda = cuda, .observed = observed, .memory = kind == VALUES_MEMORY,
                          .idioms = kind == VALUES_IDIOMS, .least = 1}, *m = &maker;
    unsigned helpers = values_below(m, MOST_HELPERS);

    m->constant = values_below(m, 2) || getenv("LW_VALUES_CONSTANT") != NULL;
    lw_arena_init(&m->arena);
    prelude(m);
    while (m->helpers < helpers)
        if (m->memory && values_below(m, 2))
            pointer_helper(m);
        else if (m->idioms && values_below(m, 2))
            reference_helper(m);
        else
            helper(m);
    kernel(m);
    lw_arena_fini(&m->arena);
    return observed ? m->stores : 0;
}
