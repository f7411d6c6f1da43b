/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces and queries as loads and stores through the descriptor (docs/reference/memory.md). The operations and the rules
 * for coordinates outside the surface are those of surf2Dread() etc. in compiler/cuda/lanewise_texture.h. */
#include "ptx/parse/ptx_expand_priv.h"

/** Geometries of accesses: the coordinates in PTX, and which of them are x, y and z of the surface. */
static const struct geometry {
    const char *word;
    uint8_t given;
    int8_t x, y, z;
} geometries[] = {
    { "1d", 1, 0, -1, -1 }, { "2d", 2, 0, 1, -1 },  { "3d", 4, 0, 1, 2 },
    { "a1d", 2, 1, -1, 0 }, { "a2d", 4, 1, 2, 0 },
};

/** Access to a surface. */
struct access {
    const struct geometry *geometry;
    const struct ptx_expand_operand *surface;
    enum { TRAP, CLAMP, ZERO } outside;
    unsigned bytes; /* of the whole access */
};

static void take_geometry(struct ptx_expansion *x, struct access *a)
{
    for (unsigned i = 0; i < LW_COUNT_OF(geometries) && a->geometry == NULL; i++)
        if (ptx_expand_take(x, geometries[i].word))
            a->geometry = &geometries[i];
    if (a->geometry == NULL)
        ptx_expand_fail(x, LW_EUNSUPP, "only .1d, .2d, .3d, .a1d and .a2d are supported");
}

static void take_outside(struct ptx_expansion *x, struct access *a)
{
    static const char *const words[] = { "trap", "clamp", "zero", NULL };
    const int found = ptx_expand_take_one(x, words);

    a->outside = found <= 0 ? TRAP : found == 1 ? CLAMP : ZERO;
}

/** Returns the number of elements, and sets @bits to their size. */
static unsigned take_cell(struct ptx_expansion *x, unsigned *bits)
{
    static const char *const vectors[] = { "v2", "v4", NULL }, *const types[] = { "b8", "b16", "b32", "b64", NULL };
    const int vector = ptx_expand_take_one(x, vectors), type = ptx_expand_take_one(x, types);
    const unsigned count = vector < 0 ? 1 : vector == 0 ? 2 : 4;

    if (type < 0)
        ptx_expand_fail(x, LW_EINPUT, "expected .b8, .b16, .b32 or .b64");
    *bits = 8u << type;
    if (*bits * count > 128)
        ptx_expand_fail(x, LW_EINPUT, "an access has at most 128 bits");
    return count;
}

static void refuse_reference(struct ptx_expansion *x, const struct ptx_expand_operand *handle)
{
    const uint32_t *known = ptx_scope_find(x->parser, handle->first);

    if (known == NULL || (*known & 3) != PTX_NAME_REG)
        ptx_expand_fail(x, LW_EUNSUPP, "texture and surface references are not supported: use an object, whose handle is in a "
                                       "register");
}

static void take_surface(struct ptx_expansion *x, struct access *a, unsigned index)
{
    const struct ptx_expand_operand *o = &x->operand[index];

    if (o->bracket != '[' || o->count != a->geometry->given)
        ptx_expand_fail(x, LW_EINPUT, "a .%s access needs [surface, {%u coordinate%s}]", a->geometry->word,
                        a->geometry->given, a->geometry->given == 1 ? "" : "s");
    refuse_reference(x, o);
    a->surface = o;
}

/* Puts code that moves a coordinate into the range from 0 to the register %lw_last, and sets %lw_out if the access must not be
 * executed. */
static void put_index(struct ptx_expansion *x, const struct access *a, char name, int which)
{
    if (which < 0) {
        ptx_put(x, "mov.b32 %%lw_%c, 0; ", name);
        return;
    }
    ptx_put(x, "mov.b32 %%lw_%c, " PTX_NAME_FMT "; setp.lt.or.s32 %%lw_p, %%lw_%c, 0, %%lw_out; "
               "setp.gt.or.s32 %%lw_p, %%lw_%c, %%lw_last, %%lw_p; ",
            name, PTX_NAME_ARG(a->surface->part[which]), name, name);
    if (a->outside != CLAMP)
        ptx_put(x, "mov.pred %%lw_out, %%lw_p; ");
    else
        ptx_put(x, "min.s32 %%lw_%c, %%lw_%c, %%lw_last; max.s32 %%lw_%c, %%lw_%c, 0; setp.lt.or.s32 %%lw_out, %%lw_last, 0, "
                   "%%lw_out; ", name, name, name, name);
}

/* Puts code that computes the address in %lw_at, and sets %lw_out if the access must not be executed. */
static void put_element(struct ptx_expansion *x, const struct access *a)
{
    const struct geometry *g = a->geometry;

    ptx_put(x, ".reg .pred %%lw_p, %%lw_out; .reg .b32 %%lw_x, %%lw_y, %%lw_z, %%lw_last, %%lw_rows, %%lw_n, %%lw_mark; "
               ".reg .b64 %%lw_h, %%lw_at, %%lw_line, %%lw_pitch; mov.b64 %%lw_h, " PTX_NAME_FMT "; "
               "ld.global.u32 %%lw_mark, [%%lw_h+28]; setp.ne.s32 %%lw_p, %%lw_mark, 0x5854574c; @%%lw_p trap %d; "
               "setp.ne.s32 %%lw_out, %%lw_mark, %%lw_mark; ld.global.u32 %%lw_last, [%%lw_h+8]; "
               "ld.global.u8 %%lw_n, [%%lw_h+20]; shr.u32 %%lw_n, %%lw_n, 3; mul.lo.s32 %%lw_last, %%lw_last, %%lw_n; "
               "ld.global.u8 %%lw_n, [%%lw_h+21]; "
               "mul.lo.s32 %%lw_last, %%lw_last, %%lw_n; sub.s32 %%lw_last, %%lw_last, %u; ",
            PTX_NAME_ARG(a->surface->first), ISA_TRAP_NO_SURFACE, a->bytes);
    put_index(x, a, 'x', g->x);
    ptx_put(x, "ld.global.u32 %%lw_rows, [%%lw_h+12]; max.u32 %%lw_rows, %%lw_rows, 1; sub.s32 %%lw_last, %%lw_rows, 1; ");
    put_index(x, a, 'y', g->y);
    if (g->z >= 0)
        ptx_put(x, "ld.global.u16 %%lw_last, [%%lw_h+26]; max.u32 %%lw_last, %%lw_last, 1; sub.s32 %%lw_last, %%lw_last, 1; ");
    put_index(x, a, 'z', g->z);
    if (a->outside == TRAP)
        ptx_put(x, "@%%lw_out trap %d; ", ISA_TRAP_OUTSIDE_SURFACE);
    ptx_put(x, "ld.global.u32 %%lw_pitch, [%%lw_h+16]; cvt.u64.u32 %%lw_at, %%lw_y; mad.wide.u32 %%lw_line, %%lw_z, %%lw_rows, "
               "%%lw_at; ld.global.u64 %%lw_at, [%%lw_h]; mad.lo.u64 %%lw_at, %%lw_line, %%lw_pitch, %%lw_at; "
               "cvt.u64.u32 %%lw_line, %%lw_x; add.s64 %%lw_at, %%lw_at, %%lw_line; ");
}

static void refuse_formatted(struct ptx_expansion *x)
{
    if (ptx_expand_take(x, "p"))
        ptx_expand_fail(x, LW_EUNSUPP, "formatted accesses, '.p', are not supported: use '.b'");
    if (!ptx_expand_take(x, "b"))
        ptx_expand_fail(x, LW_EINPUT, "expected '.b'");
}

/* Removes cache operators, which have no effect here. */
static void take_caching(struct ptx_expansion *x)
{
    static const char *const words[] = { "ca", "cg", "cs", "cv", "wb", "wt", NULL };

    (void)ptx_expand_take_one(x, words);
}

static const char *vector_of(unsigned count)
{
    return count == 1 ? "" : count == 2 ? ".v2" : ".v4";
}

/** Reads the modifiers of suld and sust. Returns the number of components, and sets @bits to the size of each. */
static unsigned take_access(struct ptx_expansion *x, struct access *a, unsigned *bits)
{
    unsigned count;

    refuse_formatted(x);
    take_geometry(x, a);
    take_outside(x, a);
    take_caching(x);
    count = take_cell(x, bits);
    a->bytes = *bits / 8 * count;
    ptx_expand_operands(x, 2, 2);
    return count;
}

void ptx_expand_suld(struct ptx_expansion *x)
{
    struct access a = { 0 };
    unsigned bits, count;
    const struct ptx_expand_operand *to;

    count = take_access(x, &a, &bits);
    to = ptx_expand_vector(x, 0, count);
    take_surface(x, &a, 1);
    put_element(x, &a);
    /* loads into registers of its own, since the destinations may be coordinates */
    ptx_put(x, ".reg .b%u %%lw_v<%u>; ", bits < 16 ? 16 : bits, count);
    for (unsigned i = 0; i < count; i++)
        ptx_put(x, "mov.b%u %%lw_v%u, 0; ", bits < 16 ? 16 : bits, i);
    ptx_put(x, "@!%%lw_out ld.global%s.b%u %s", vector_of(count), bits, count > 1 ? "{" : "");
    for (unsigned i = 0; i < count; i++)
        ptx_put(x, "%s%%lw_v%u", i == 0 ? "" : ", ", i);
    ptx_put(x, "%s, [%%lw_at]; ", count > 1 ? "}" : "");
    for (unsigned i = 0; i < count; i++)
        if (!ptx_name_is(to->part[i], "_"))
            ptx_put(x, "mov.b%u " PTX_NAME_FMT ", %%lw_v%u; ", bits < 16 ? 16 : bits, PTX_NAME_ARG(to->part[i]), i);
}

void ptx_expand_sust(struct ptx_expansion *x)
{
    struct access a = { 0 };
    unsigned bits, count;
    const struct ptx_expand_operand *from;

    count = take_access(x, &a, &bits);
    take_surface(x, &a, 0);
    from = ptx_expand_vector(x, 1, count);
    put_element(x, &a);
    ptx_put(x, "@!%%lw_out st.global%s.b%u [%%lw_at], %s", vector_of(count), bits, count > 1 ? "{" : "");
    for (unsigned i = 0; i < count; i++)
        ptx_put(x, "%s" PTX_NAME_FMT, i == 0 ? "" : ", ", PTX_NAME_ARG(from->part[i]));
    ptx_put(x, "%s; ", count > 1 ? "}" : "");
}

void ptx_expand_sured(struct ptx_expansion *x)
{
    static const char *const operations[] = { "add", "min", "max", "and", "or", NULL },
                             *const types[] = { "u32", "u64", "s32", "s64", "b32", "b64", NULL };
    struct access a = { 0 };
    int operation, type;

    refuse_formatted(x);
    take_geometry(x, &a);
    take_outside(x, &a);
    operation = ptx_expand_take_one(x, operations);
    type = ptx_expand_take_one(x, types);
    if (operation < 0 || type < 0 || (operation >= 3) != (type >= 4))
        ptx_expand_fail(x, LW_EINPUT, "expected .add, .min or .max with an integer type, or .and or .or with .b32 or .b64");
    a.bytes = type == 1 || type == 3 || type == 5 ? 8 : 4;
    ptx_expand_operands(x, 2, 2);
    take_surface(x, &a, 0);
    put_element(x, &a);
    ptx_put(x, "@!%%lw_out red.global.%s.%s [%%lw_at], " PTX_NAME_FMT "; ", operations[operation],
            type == 3 && operation == 0 ? "u64" : types[type], PTX_NAME_ARG(ptx_expand_vector(x, 1, 1)->part[0]));
}

/** Selects txq and suq, which read a field of the descriptor. */
void ptx_expand_query(struct ptx_expansion *x)
{
    static const struct {
        const char *word;
        uint8_t offset;
        const char *type;
    } fields[] = {
        { "width", 8, "u32" }, { "height", 12, "u32" }, { "depth", 26, "u16" }, { "array_size", 26, "u16" },
    };
    const struct ptx_expand_operand *to, *from;

    ptx_expand_operands(x, 2, 2);
    to = ptx_expand_vector(x, 0, 1);
    from = ptx_expand_address(x, 1);
    refuse_reference(x, from);
    for (unsigned i = 0; i < LW_COUNT_OF(fields); i++) {
        if (!ptx_expand_take(x, fields[i].word))
            continue;
        ptx_put(x, ".reg .b32 %%lw_v; ld.global.%s %%lw_v, [" PTX_NAME_FMT "+%u]; mov.b32 " PTX_NAME_FMT ", %%lw_v; ",
                fields[i].type, PTX_NAME_ARG(from->first), fields[i].offset, PTX_NAME_ARG(to->part[0]));
        if (!ptx_expand_take(x, "b32"))
            ptx_expand_fail(x, LW_EINPUT, "expected .b32");
        return;
    }
    ptx_expand_fail(x, LW_EUNSUPP, "only .width, .height, .depth and .array_size are supported");
}
