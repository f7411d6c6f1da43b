/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling of textures: addressing modes, faces of cubes, and weights of texels.
 *
 * Source: CUDA Programming Guide, "Texture Fetching". A linear fetch at x reads the texels i and i + 1, where i is the integer
 * part of x - 0.5. The weight of texel i + 1 is the fraction of x - 0.5, as a fixed-point number with 8 bits of fraction. The
 * guide does not say how the fraction is rounded: here it is rounded to the nearest number, and halves are rounded up. The sum
 * is computed in double precision and rounded once.
 */
#include "emu/lane/emu_math_priv.h"
#include "emu/memory/emu_texture_priv.h"

enum { FRACTION = 256 };

/** Returns the largest integer that is not above @x. The result is exact for every @x that can be in a texture. For a NaN the
 *  result is 0; for a value far outside the texture it is an arbitrary number outside the texture. */
static int64_t floor_of(double x)
{
    int64_t i;

    if (x != x)
        return 0;
    if (x < -1e10 || x > 1e10)
        return x < 0 ? -10000000000 : 10000000000;
    i = (int64_t)x;
    return i - ((double)i > x);
}

static int64_t size_of(const struct emu_texture *t, unsigned axis)
{
    return axis == 0 ? t->width : axis == 1 ? t->height : t->depth;
}

/** Returns true if normalised coordinates repeat the texture. */
static bool repeats(const struct emu_texture *t, unsigned axis)
{
    return t->normalized_coords && (t->edge[axis] == EMU_TEXTURE_WRAP || t->edge[axis] == EMU_TEXTURE_MIRROR);
}

/** Moves a normalised coordinate into the range from 0 to 1, for a texture that repeats. */
static double fold(enum emu_texture_edge edge, double x)
{
    const int64_t whole = floor_of(x);

    x = x - (double)whole >= 0 && x - (double)whole <= 1 ? x - (double)whole : 0;
    return edge == EMU_TEXTURE_MIRROR && whole % 2 != 0 ? 1 - x : x;
}

/** Returns the index of the texel that is read for index @at, or -1 if zeros are read. */
static int64_t inside(const struct emu_texture *t, unsigned axis, int64_t at)
{
    const int64_t size = size_of(t, axis);

    if (at >= 0 && at < size)
        return at;
    if (t->edge[axis] == EMU_TEXTURE_BORDER)
        return -1;
    return at < 0 ? 0 : size - 1; /* with coordinates in texels, wrap and mirror act as clamp */
}

int64_t emu_texture_index(const struct emu_texture *t, unsigned axis, bool is_float, uint32_t bits)
{
    const int64_t size = size_of(t, axis);
    int64_t at;

    if (!is_float) {
        at = (int32_t)bits;
        if (t->height == 0 && t->depth == 0) /* the texture is linear memory, fetched by tex1Dfetch, which ignores the edge modes */
            return at >= 0 && at < size ? at : -1;
    } else if (t->normalized_coords) {
        float x = emu_f32_bits(bits);

        if (repeats(t, axis))
            x = (float)fold(t->edge[axis], x);
        at = floor_of(x * (float)size);
    } else {
        at = floor_of(emu_f32_bits(bits));
    }
    return inside(t, axis, at);
}

/** The one or two texels that a fetch reads along one axis, and their weights. An index of -1 is outside the texture. */
struct axis_texels {
    int64_t index[2];
    double weight[2];
};

static struct axis_texels one(int64_t index)
{
    return (struct axis_texels){{index, -1}, {1, 0}};
}

/** Returns the two texels of a linear fetch. */
static struct axis_texels two(const struct emu_texture *t, unsigned axis, uint32_t bits)
{
    const int64_t size = size_of(t, axis);
    double x = emu_f32_bits(bits);

    if (x != x)
        x = 0;
    if (t->normalized_coords)
        x = (repeats(t, axis) ? fold(t->edge[axis], x) : x) * (double)size;
    x = x < -2 ? -2 : x > (double)size + 2 ? (double)size + 2 : x; /* beyond these limits the result does not change */
    const int64_t fixed = floor_of((x - 0.5) * FRACTION + 0.5), part = fixed & (FRACTION - 1);
    int64_t low = (fixed - part) / FRACTION, high = low + 1;

    if (repeats(t, axis) && t->edge[axis] == EMU_TEXTURE_WRAP) {
        low = low < 0 ? low + size : low;
        high = high >= size ? high - size : high;
    }
    return (struct axis_texels){{inside(t, axis, low), part != 0 ? inside(t, axis, high) : -1},
                          {(double)(FRACTION - part) / FRACTION, (double)part / FRACTION}};
}

static struct axis_texels axis_texels_of(const struct emu_texture *t, unsigned axis, bool is_float, uint32_t bits, bool nearest)
{
    return t->linear && is_float && !nearest ? two(t, axis, bits) : one(emu_texture_index(t, axis, is_float, bits));
}

/** Finds the face of a cube at which the direction @at points, and the coordinates in that face, from 0 to 1. Source: CUDA
 *  Programming Guide, table "Cubemap Fetch". */
static unsigned face_of(const uint32_t at[3], uint32_t in_face[2])
{
    const float x = emu_f32_bits(at[0]), y = emu_f32_bits(at[1]), z = emu_f32_bits(at[2]);
    const float ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, az = z < 0 ? -z : z;
    float m, s, t;
    unsigned face;

    if (ax >= ay && ax >= az) {
        face = x < 0;
        m = ax;
        s = x < 0 ? z : -z;
        t = -y;
    } else if (ay >= az) {
        face = 2 + (y < 0);
        m = ay;
        s = x;
        t = y < 0 ? -z : z;
    } else {
        face = 4 + (z < 0);
        m = az;
        s = z < 0 ? -x : x;
        t = -y;
    }
    in_face[0] = emu_bits_f32((s / m + 1) / 2);
    in_face[1] = emu_bits_f32((t / m + 1) / 2);
    return face;
}

void emu_texture_samples(const struct emu_texture *t, bool is_float, const uint32_t coordinate[4], bool nearest, struct emu_samples *out)
{
    const uint64_t bytes = t->bits / 8u * t->components, plane = (uint64_t)(t->height != 0 ? t->height : 1) * t->pitch_bytes;
    struct axis_texels axis[EMU_TEXTURE_AXES] = {one(0), one(0), one(0)};
    const uint32_t *at = coordinate;
    uint32_t in_face[2];
    int64_t first = 0; /* plane of a layer or face */

    if (t->layers) { /* a number outside the texture selects the nearest layer */
        const int64_t last = t->depth / (t->cube ? 6 : 1) - 1, number = (int32_t)*at++;

        first = (number < 0 ? 0 : number > last ? last : number) * (t->cube ? 6 : 1);
    }
    if (t->cube) {
        first += face_of(at, in_face);
        at = in_face;
    }
    axis[0] = axis_texels_of(t, 0, is_float, at[0], nearest);
    if (t->height != 0)
        axis[1] = axis_texels_of(t, 1, is_float, at[1], nearest);
    if (t->depth != 0 && !t->layers && !t->cube)
        axis[2] = axis_texels_of(t, 2, is_float, at[2], nearest);
    out->count = 0;
    for (unsigned number = 0; number < EMU_TEXTURE_SAMPLES; number++) {
        const unsigned a = number & 1, b = number >> 1 & 1, c = number >> 2;
        const double weight = axis[0].weight[a] * axis[1].weight[b] * axis[2].weight[c];

        if (axis[0].index[a] < 0 || axis[1].index[b] < 0 || axis[2].index[c] < 0 || weight == 0)
            continue;
        out->address[out->count] = t->address + (uint64_t)(first + axis[2].index[c]) * plane +
                                   (uint64_t)axis[1].index[b] * t->pitch_bytes + (uint64_t)axis[0].index[a] * bytes;
        out->weight[out->count++] = weight;
    }
}

uint32_t emu_texture_component(const struct emu_texture *t, const uint8_t *from)
{
    uint32_t value = from[0];
    float most;

    if (t->bits >= 16)
        value |= (uint32_t)from[1] << 8;
    if (t->bits == 32)
        return lw_get32(from);
    if (t->kind == EMU_TEXEL_FLOAT)
        return emu_bits_f32(emu_f32_of_f16(value));
    if (t->kind == EMU_TEXEL_SIGNED)
        value = t->bits == 8 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    if (!t->normalized_values)
        return value;
    most = t->kind == EMU_TEXEL_SIGNED ? (t->bits == 8 ? 127.0f : 32767.0f)
                                       : (t->bits == 8 ? 255.0f : 65535.0f);
    float quotient = (float)(int32_t)value / most; /* operands of the division are exact, so the quotient is rounded only once */
    return emu_bits_f32(quotient < -1.0f ? -1.0f : quotient);
}
