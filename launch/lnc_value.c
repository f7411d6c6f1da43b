/* SPDX-License-Identifier: Apache-2.0 */
/* Element types, contents of buffers, and files of numbers. */
#include "launch/launch_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const struct lnc_type types[] = {
    {"u8", LNC_UNSIGNED, 1},  {"s8", LNC_SIGNED, 1},   {"u16", LNC_UNSIGNED, 2},
    {"s16", LNC_SIGNED, 2},   {"u32", LNC_UNSIGNED, 4}, {"s32", LNC_SIGNED, 4},
    {"u64", LNC_UNSIGNED, 8}, {"s64", LNC_SIGNED, 8},  {"f32", LNC_FLOAT, 4},
    {"f64", LNC_FLOAT, 8},    {"f16", LNC_FLOAT, 2},
};
/* Other names of these types, such as those of OpenCL C. */
static const struct {
    const char *name, *means;
} aliases[] = {
    {"uchar", "u8"},  {"char", "s8"},  {"ushort", "u16"}, {"short", "s16"}, {"uint", "u32"},
    {"int", "s32"},   {"ulong", "u64"}, {"long", "s64"},  {"float", "f32"}, {"double", "f64"},
    {"i8", "s8"},     {"i16", "s16"},  {"i32", "s32"},    {"i64", "s64"},   {"half", "f16"},
};

const struct lnc_type *lnc_type_find(const char *name)
{
    for (unsigned i = 0; i < LW_COUNT_OF(aliases); i++)
        if (strcmp(name, aliases[i].name) == 0)
            name = aliases[i].means;
    for (unsigned i = 0; i < LW_COUNT_OF(types); i++)
        if (strcmp(name, types[i].name) == 0)
            return &types[i];
    return NULL;
}

const char *lnc_type_suggest(const char *name)
{
    const char *near = lw_suggest(name, &types[0].name, LW_COUNT_OF(types), sizeof *types);

    return near != NULL ? near
                        : lw_suggest(name, &aliases[0].name, LW_COUNT_OF(aliases),
                                     sizeof *aliases);
}

/* ---- f16, which C has no type for ------------------------------------------------------ */

/** Converts to f16, rounded to nearest even. Each NaN becomes the NaN that the machine generates (MACHINE 6). */
static uint64_t half_bits(double value)
{
    uint64_t bits, sign, fraction, result, rest, tie;
    int exponent;
    unsigned shift;

    memcpy(&bits, &value, sizeof bits);
    sign = bits >> 48 & 0x8000;
    exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    fraction = bits & lw_mask(52);
    if (exponent == 1024)
        return fraction != 0 ? 0x7fff : sign | 0x7c00;
    if (exponent < -25) /* below half of the least denormal */
        return sign;
    fraction |= UINT64_C(1) << 52;
    shift = exponent < -14 ? (unsigned)(42 - 14 - exponent) : 42;
    result = fraction >> shift;
    rest = fraction & lw_mask(shift);
    tie = UINT64_C(1) << (shift - 1);
    result += rest > tie || (rest == tie && (result & 1));
    if (exponent >= -14) /* a carry out of the fraction correctly increments the exponent */
        result += (uint64_t)(exponent + 14) << 10;
    return sign | (result < 0x7c00 ? result : 0x7c00);
}

static double half_value(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 0x1f);
    double fraction = (double)(bits & 0x3ff), value;

    if (exponent == 0x1f)
        value = fraction != 0 ? (double)NAN : (double)INFINITY;
    else
        value = exponent == 0 ? fraction * 0x1p-24
                              : (1024 + fraction) * (double)(UINT64_C(1) << exponent) * 0x1p-25;
    return bits & 0x8000 ? -value : value;
}

/** Parses text to a double that half_bits() rounds as it would round the exact number. For this, a number near the midpoint
 *  of two f16 values must not be rounded to the midpoint. The double is therefore truncated, and its lowest bit is set if
 *  bits were lost (round to odd). A number that differs from a midpoint only after its 19th digit is treated as the
 *  midpoint. */
static double parse_for_half(const char *text, char **end)
{
    double value = strtod(text, end);
    long double more = strtold(text, end);
    uint64_t bits;

    if (!(value - value == 0) || more == (long double)value)
        return value;
    memcpy(&bits, &value, sizeof bits);
    if (bits << 1 != 0 && (more > (long double)value) != (value > 0))
        bits--; /* undoes the rounding of the conversion, which was away from zero */
    bits |= 1;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool lnc_value_parse(const struct lnc_type *type, const char *text, uint64_t *bits)
{
    unsigned width = type->bytes * 8u;
    char *end;

    if (type->kind == LNC_UNSIGNED) {
        uint64_t value;

        if (!lw_parse_u64(text, &value) || (value & ~lw_mask(width)) != 0)
            return false;
        *bits = value;
        return true;
    }
    if (type->kind == LNC_SIGNED) {
        int64_t value, high = (int64_t)(lw_mask(width) >> 1);

        if (!lw_parse_i64(text, &value) || value > high || value < -high - 1)
            return false;
        *bits = (uint64_t)value & lw_mask(width);
        return true;
    }
    if (*text == '\0' || *text == ' ')
        return false;
    bool negative = *text == '-';
    const char *word = text + (*text == '-' || *text == '+');
    if (strcasecmp(word, ".inf") == 0 || strcasecmp(word, ".nan") == 0)
        text = word + 1; /* without the point with which YAML writes infinities and NaNs */
    else
        negative = false; /* strtod() and strtof() parse the sign themselves */
    if (type->bytes == 2) {
        double value = parse_for_half(text, &end);

        *bits = half_bits(negative ? -value : value);
        /* A finite number above the largest f16 value, which is 65504, must not become an infinity. */
        if ((*bits & 0x7fff) == 0x7c00 && value - value == 0)
            return false;
    } else if (type->bytes == 4) {
        float value = strtof(text, &end);

        value = negative ? -value : value;
        *bits = 0;
        memcpy(bits, &value, sizeof value);
    } else {
        double value = strtod(text, &end);

        value = negative ? -value : value;
        memcpy(bits, &value, sizeof value);
    }
    return *end == '\0' && end != text;
}

uint64_t lnc_value_load(const struct lnc_type *type, const uint8_t *data, uint64_t index)
{
    uint64_t bits = 0;

    memcpy(&bits, data + index * type->bytes, type->bytes);
    return bits;
}

void lnc_value_store(const struct lnc_type *type, uint8_t *data, uint64_t index, uint64_t bits)
{
    memcpy(data + index * type->bytes, &bits, type->bytes);
}

static int64_t sign_extend(uint64_t bits, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;

    return (int64_t)(bits << shift) >> shift;
}

double lnc_value_double(const struct lnc_type *type, uint64_t bits)
{
    float f;
    double d;

    if (type->kind == LNC_UNSIGNED)
        return (double)bits;
    if (type->kind == LNC_SIGNED)
        return (double)sign_extend(bits, type->bytes);
    if (type->bytes == 2)
        return half_value(bits);
    if (type->bytes == 4) {
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    memcpy(&d, &bits, sizeof d);
    return d;
}

void lnc_value_format(const struct lnc_type *type, uint64_t bits, char *text, size_t size)
{
    if (type->kind == LNC_UNSIGNED)
        snprintf(text, size, "%" PRIu64, bits);
    else if (type->kind == LNC_SIGNED)
        snprintf(text, size, "%" PRId64, sign_extend(bits, type->bytes));
    else
        snprintf(text, size, "%.*g", type->bytes == 2 ? 5 : type->bytes == 4 ? 9 : 17,
                 lnc_value_double(type, bits));
}

static uint64_t float_bits(const struct lnc_type *type, double value)
{
    uint64_t bits = 0;

    if (type->bytes == 2) {
        bits = half_bits(value);
    } else if (type->bytes == 4) {
        float f = (float)value;
        memcpy(&bits, &f, sizeof f);
    } else {
        memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

static uint64_t splitmix64(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void lnc_init_make(const struct lnc_init *init, const struct lnc_type *type, uint64_t seed,
                   uint64_t first, uint64_t count, uint8_t *data)
{
    switch (init->kind) {
    case LNC_ZERO:
        memset(data, 0, count * type->bytes);
        return;
    case LNC_DATA:
        memcpy(data, init->data + first * type->bytes, count * type->bytes);
        return;
    case LNC_CONSTANT:
        for (uint64_t i = 0; i < count; i++)
            lnc_value_store(type, data, i, init->constant);
        return;
    case LNC_RAMP:
        for (uint64_t i = 0; i < count; i++) {
            uint64_t k = first + i;

            if (init->modulo != 0)
                k %= init->modulo;
            lnc_value_store(type, data, i,
                            type->kind == LNC_FLOAT
                                ? float_bits(type, init->fstart + (double)k * init->fstep)
                                : (uint64_t)init->start + k * (uint64_t)init->step);
        }
        return;
    case LNC_RANDOM:
        for (uint64_t i = 0; i < count; i++) {
            uint64_t z = splitmix64(init->seed + seed, first + i);

            if (type->kind == LNC_FLOAT) {
                double u = (double)(z >> 11) * 0x1p-53;
                z = float_bits(type, init->flow + u * (init->fhigh - init->flow));
            } else {
                z = init->low + (init->span != 0 ? z % init->span : z);
            }
            lnc_value_store(type, data, i, z);
        }
        return;
    }
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);

    return n >= m && strcmp(path + n - m, suffix) == 0;
}

bool lnc_data_is_binary(const char *path)
{
    return has_suffix(path, ".bin") || has_suffix(path, ".raw");
}

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '\f' || c == '\v';
}

static enum lw_status parse_text(const char *path, char *text, size_t size,
                                 const struct lnc_type *type, struct lw_arena *arena,
                                 const uint8_t **data, uint64_t *count, struct lw_error *err)
{
    uint8_t *values = NULL;
    uint64_t n = 0;

    /* The first pass counts the numbers, so that the second can store them in one block of the arena. */
    for (unsigned pass = 0; pass < 2; pass++) {
        unsigned line = 1;
        size_t at = 0;

        if (pass == 1) {
            values = lw_arena_alloc(arena, n * type->bytes);
            if (values == NULL)
                return LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for %" PRIu64 " numbers", path, n);
            n = 0;
        }
        while (at < size) {
            size_t end;
            uint64_t bits;
            char saved;

            if (is_separator(text[at])) {
                line += text[at++] == '\n';
                continue;
            }
            if (text[at] == '#') {
                while (at < size && text[at] != '\n')
                    at++;
                continue;
            }
            for (end = at; end < size && !is_separator(text[end]) && text[end] != '#';)
                end++;
            if (pass == 1) {
                bool ok;

                saved = text[end]; /* text[size] exists, because lw_file_read() adds a terminating 0 */
                text[end] = '\0';
                ok = lnc_value_parse(type, text + at, &bits);
                if (!ok)
                    return LW_FAIL(err, LW_EINPUT, "%s:%u: \"%.40s\" is not a number of type %s",
                                   path, line, text + at, type->name);
                text[end] = saved;
                lnc_value_store(type, values, n, bits);
            }
            n++;
            at = end;
        }
    }
    *data = values;
    *count = n;
    return LW_OK;
}

enum lw_status lnc_data_read(const char *path, const struct lnc_type *type,
                             struct lw_arena *arena, const uint8_t **data, uint64_t *count,
                             struct lw_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    enum lw_status status = lw_file_read(path, &bytes, &size, err);

    if (status != LW_OK)
        return status;
    if (!lnc_data_is_binary(path)) {
        status = parse_text(path, bytes, size, type, arena, data, count, err);
    } else if (size % type->bytes != 0) {
        status = LW_FAIL(err, LW_EINPUT, "%s: %zu byte%s not a whole number of %s elements",
                         path, size, size == 1 ? " is" : "s are", type->name);
    } else {
        uint8_t *copy = lw_arena_alloc(arena, size);

        if (copy == NULL) {
            status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for %zu bytes", path, size);
        } else {
            memcpy(copy, bytes, size);
            *data = copy;
            *count = size / type->bytes;
        }
    }
    free(bytes);
    return status;
}
