/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/silicon/silicon_forms.h"

#define COUNT_OF(x) (sizeof(x) / sizeof(x)[0])

/* The kinds of registers: their types in a kernel, and their position in a thread's row of memory. */
static const struct kind {
    char letter;
    const char *declared, *moved; /* type of the register, and type with which a kernel loads and stores it */
    unsigned offset, bytes, count; /* offset of the first register in the row, size of a register, number of registers */
} kinds[] = {
    { 'r', "b32", "b32", 0, 4, 8 },   { 'f', "f32", "f32", 32, 4, 5 },  { 'd', "b64", "b64", 56, 8, 6 },
    { 'g', "f64", "f64", 104, 8, 5 }, { 'h', "b16", "b16", 144, 2, 6 }, { 'p', "pred", "u8", 160, 1, 4 },
};

/* ---- reading ---------------------------------------------------------------------------- */

static void add(struct silicon_form **forms, unsigned *count, const char *text, const struct silicon_form *band)
{
    if (*count % 256 == 0)
        *forms = realloc(*forms, (*count + 256) * sizeof **forms);
    (*forms)[*count] = *band;
    snprintf((*forms)[(*count)++].text, sizeof band->text, "%s", text);
}

/* Adds all forms that @text represents: one for each combination of alternatives of its groups <a|b>. */
static void expand(struct silicon_form **forms, unsigned *count, const char *text, const struct silicon_form *band)
{
    const char *open = strchr(text, '<'), *close = open != NULL ? strchr(open, '>') : NULL;

    if (close == NULL) {
        add(forms, count, text, band);
        return;
    }
    for (const char *from = open + 1, *to; from <= close; from = to + 1) {
        char one[sizeof band->text];

        to = from + strcspn(from, "|>");
        snprintf(one, sizeof one, "%.*s%.*s%s", (int)(open - text), text, (int)(to - from), from, close + 1);
        expand(forms, count, one, band);
    }
}

struct silicon_form *sf_read(const char *path, unsigned *count)
{
    FILE *file = fopen(path, "r");
    struct silicon_form *forms = NULL;
    char line[256];

    *count = 0;
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
        return NULL;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        struct silicon_form band = { .approximate = *line == '~', .differs = *line == '!',
                                     .any_nan = strncmp(line, "n ", 2) == 0, .refused = strncmp(line, "x ", 2) == 0 };
        char *text = line;

        line[strcspn(line, "\n")] = 0;
        if (band.approximate) {
            band.ulps = strtod(line + 1, &text);
            if (*text == ',')
                band.difference = ldexp(1, (int)strtol(text + 1, &text, 10));
        } else if (band.differs || band.any_nan || band.refused) {
            text++;
        }
        text += strspn(text, " ");
        if (*text != 0 && *text != '#')
            expand(&forms, count, text, &band);
    }
    fclose(file);
    return forms;
}

/* ---- kernels ------------------------------------------------------------------------------ */

struct text {
    char *p;
    size_t size;
};
static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...)
{
    va_list args;
    int need;

    va_start(args, format);
    need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    t->p = realloc(t->p, t->size + (size_t)need + 1);
    va_start(args, format);
    t->size += (size_t)vsprintf(t->p + t->size, format, args);
    va_end(args);
}

static bool uses(const struct silicon_form *form, char letter, unsigned number)
{
    char name[8];

    snprintf(name, sizeof name, "%%%c%u", letter, number);
    return strstr(form->text, name) != NULL;
}

/* Writes PTX that loads the registers of @form from the thread's row, or stores them to the row. */
static void move_registers(struct text *t, const struct silicon_form *form, bool load)
{
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        for (unsigned i = 1; i <= kinds[k].count; i++) {
            unsigned at = kinds[k].offset + (i - 1) * kinds[k].bytes;

            if (!uses(form, kinds[k].letter, i))
                continue;
            if (kinds[k].letter == 'p' && load)
                put(t, "ld.global.u8 %%t, [%%row+%u]; setp.ne.u32 %%p%u, %%t, 0;\n", at, i);
            else if (kinds[k].letter == 'p')
                put(t, "selp.u32 %%t, 1, 0, %%p%u; st.global.u8 [%%row+%u], %%t;\n", i, at);
            else if (load)
                put(t, "ld.global.%s %%%c%u, [%%row+%u];\n", kinds[k].moved, kinds[k].letter, i, at);
            else
                put(t, "st.global.%s [%%row+%u], %%%c%u;\n", kinds[k].moved, at, kinds[k].letter, i);
        }
    }
}

const char *sf_head(void)
{
    return ".version 8.8\n.target sm_90\n.address_size 64\n";
}

char *sf_kernel(const struct silicon_form *form, const char *name)
{
    const char *space = strstr(form->text, ".shared") != NULL  ? "shared"
                        : strstr(form->text, ".local") != NULL ? "local"
                                                               : NULL;
    bool address = strstr(form->text, "[%a") != NULL;
    struct text t = { 0 };

    put(&t, ".visible .entry %s(.param .u64 rows)\n{\n.reg .b32 %%t, %%u; .reg .b64 %%row, %%a, %%w;\n", name);
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        put(&t, ".reg .%s %%%c<%u>;\n", kinds[k].declared, kinds[k].letter, kinds[k].count + 1);
    if (address && space != NULL)
        put(&t, ".%s .align 16 .b8 scratch[%u];\n", space, *space == 's' ? 64 * SF_THREADS : 64);
    put(&t, "ld.param.u64 %%row, [rows]; mov.u32 %%t, %%tid.x; mad.wide.u32 %%row, %%t, %u, %%row;\n", SF_ROW_BYTES);
    if (address && space == NULL) {
        put(&t, "add.u64 %%a, %%row, %u;\n", SF_SCRATCH);
    } else if (address) {
        put(&t, "mov.u64 %%a, scratch;\n");
        if (*space == 's')
            put(&t, "mad.wide.u32 %%a, %%t, 64, %%a;\n");
        for (unsigned i = 0; i < 64; i += 8)
            put(&t, "ld.global.u64 %%w, [%%row+%u]; st.%s.u64 [%%a+%u], %%w;\n", SF_SCRATCH + i, space, i);
    }
    move_registers(&t, form, true);
    put(&t, "%s;\n", form->text);
    move_registers(&t, form, false);
    for (unsigned i = 0; i < 64 && address && space != NULL; i += 8)
        put(&t, "ld.%s.u64 %%w, [%%a+%u]; st.global.u64 [%%row+%u], %%w;\n", space, i, SF_SCRATCH + i);
    put(&t, "ret;\n}\n");
    return t.p;
}

/* ---- input -------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static const uint32_t half_edges[] = { 0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe55,
                                       1, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x4248, 0x3f80, 0xbf80, 0x7f80, 0xff80,
                                       0x7fc0, 0x7f81, 0x0080, 0x807f, 0x7f7f, 0x4049, 0x00ff, 0x7fff, 0xffff };
static const uint32_t word_edges[] = { 0, 1, 2, 3, 0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xff, 0x80,
                                       0x7f, 0x100, 0xffff, 0x8000, 0x7fff, 0x10000, 0xffff8000, 0xffffff80, 0xffffff7f,
                                       0x55555555, 0x01000001, 0x00ffffff, 0x00800000 };
static const uint32_t float_edges[] = {
    0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 1, 0x80000001,
    0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000,
    0xc0200000, 0x4b000001, 0x4b7fffff, 0x4f000000, 0xcf000000, 0x4effffff, 0xcf000001, 0x4f800000, 0x4f7fffff, 0x5f000000,
    0xdf000000, 0x5f800000, 0x5effffff, 0x477fe000, 0x477ff000, 0x477fefff, 0x387fc000, 0x33800000, 0x33000000, 0x33000001,
    0x43e00000, 0x43e80000, 0x43e7ffff, 0x47600000, 0x3f7fffff, 0x3f800001, 0x437f8000, 0x437f0000, 0x42fe0000, 0xc3000000,
};
static const uint64_t double_edges[] = {
    0, UINT64_C(0x8000000000000000), UINT64_C(0x3ff0000000000000), UINT64_C(0xbff0000000000000),
    UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000), UINT64_C(0x7ff8000000000000),
    UINT64_C(0x7ff0000000000001), UINT64_C(0xfff8000000054321), 1, UINT64_C(0x800fffffffffffff),
    UINT64_C(0x0010000000000000), UINT64_C(0x7fefffffffffffff), UINT64_C(0xffefffffffffffff),
    UINT64_C(0x3fe0000000000000), UINT64_C(0xc004000000000000), UINT64_C(0x41e0000000000000),
    UINT64_C(0xc1e0000000000000), UINT64_C(0x41dfffffffe00000), UINT64_C(0x41efffffffe00000),
    UINT64_C(0x43e0000000000000), UINT64_C(0xc3e0000000000000), UINT64_C(0x43f0000000000000),
    UINT64_C(0x43dfffffffffffff), UINT64_C(0x47efffffe0000000), UINT64_C(0x47effffff0000000),
    UINT64_C(0x36a0000000000000), UINT64_C(0x3690000000000001), UINT64_C(0x380fffffffffffff),
    UINT64_C(0x40effc0000000000), UINT64_C(0x4330000000000001),
};

static uint64_t half(uint64_t *state)
{
    uint64_t v = next(state);

    switch (v >> 61) {
    case 0: case 1: case 2: return half_edges[v % COUNT_OF(half_edges)];
    case 3: return word_edges[v % COUNT_OF(word_edges)] & 0xffff;
    case 4: return v & 63;
    case 5: return 0x3800 + v % 0x0c00; /* an f16 from 0.5 to 8; as a bf16, a small number */
    case 6: return (0x3f00 + v % 0x0180) ^ (v >> 20 & 0x8000);
    default: return v & 0xffff;
    }
}

static uint64_t word(uint64_t *state, bool halves)
{
    uint64_t v = next(state);

    if (halves)
        return half(state) | half(state) << 16;
    switch (v >> 61) {
    case 0: case 1: case 2: return word_edges[v % COUNT_OF(word_edges)];
    case 3: case 4: return v % 70;
    case 5: return (uint32_t)v >> (v >> 40 & 31);
    default: return (uint32_t)v;
    }
}

static uint64_t wide(uint64_t *state)
{
    uint64_t v = next(state);

    switch (v >> 61) {
    case 0: return word(state, false) << 32 | word(state, false);
    case 1: return (uint64_t)(int64_t)(int32_t)word(state, false);
    case 2: return v & 1 ? UINT64_C(0x8000000000000000) : UINT64_C(0x7fffffffffffffff);
    case 3: return v % 70;
    case 4: return ~UINT64_C(0);
    case 5: return next(state) >> (v & 63);
    default: return v << 3 ^ v >> 11;
    }
}

static uint64_t single(uint64_t *state, bool angle)
{
    uint64_t v = next(state);

    if (angle) { /* generates an angle from -2 pi to 2 pi */
        float f = (float)((double)(int32_t)v / 2147483648.0 * 6.28318530717958647692);
        uint32_t bits;

        memcpy(&bits, &f, sizeof bits);
        return bits;
    }
    switch (v >> 61) {
    case 0: case 1: case 2: return float_edges[v % COUNT_OF(float_edges)];
    case 3: case 4: return (0x3e000000 + v % 0x05000000) ^ (v >> 20 & 0x80000000); /* generates numbers from 2^-3 to 2^7 */
    case 5: return (0x43000000 + v % 0x1d000000) ^ (v >> 20 & 0x80000000);         /* generates numbers from 2^7 to 2^65 */
    /* generates numbers that are subnormal or slightly greater */
    case 6: return ((uint32_t)v & 0x807fffff) | ((v >> 32) % 4) << 23;
    default: return (uint32_t)v;
    }
}

static uint64_t twofold(uint64_t *state)
{
    uint64_t v = next(state), mantissa = next(state) & UINT64_C(0x800fffffffffffff);

    switch (v >> 61) {
    case 0: case 1: case 2: return double_edges[v % COUNT_OF(double_edges)];
    case 3: case 4: return mantissa | (1020 + v % 10) << 52;
    case 5: return mantissa | (1020 + v % 70) << 52;
    case 6: return mantissa | (870 + v % 300) << 52; /* generates numbers with the exponents of f32 and a few more */
    default: return mantissa | v % 2048 << 52;
    }
}

void sf_fill(const struct silicon_form *form, uint8_t *memory)
{
    uint64_t state = 0;
    bool halves = strstr(form->text, "x2") != NULL;

    for (const char *p = form->text; *p != 0; p++)
        state = state * 31 + (unsigned char)*p;
    for (unsigned thread = 0; thread < SF_THREADS; thread++) {
        uint8_t *row = memory + (size_t)thread * SF_ROW_BYTES;

        memset(row, 0, SF_ROW_BYTES);
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            for (unsigned i = 0; i < kinds[k].count; i++) {
                char letter = kinds[k].letter;
                uint64_t v = letter == 'r'   ? word(&state, halves && i < 4)
                             : letter == 'f' ? single(&state, i == 4)
                             : letter == 'd' ? wide(&state)
                             : letter == 'g' ? twofold(&state)
                             : letter == 'h' ? half(&state)
                                             : next(&state) >> 7 & 1;

                memcpy(row + kinds[k].offset + i * kinds[k].bytes, &v, kinds[k].bytes); /* little endian */
            }
        }
        for (unsigned i = 0; i < 64; i += 4) {
            uint64_t v = word(&state, (i & 8) != 0);

            memcpy(row + SF_SCRATCH + i, &v, 4);
        }
    }
}

/* Returns the float @bits, which has @bytes bytes and a fraction of @fraction bits, or if it is a NaN the canonical NaN. */
static uint64_t canonical(uint64_t bits, unsigned bytes, unsigned fraction)
{
    uint64_t size = bits & ((UINT64_C(1) << (bytes * 8 - 1)) - 1), infinite = (UINT64_C(1) << (bytes * 8 - 1)) - (UINT64_C(1) << fraction);

    return size > infinite ? infinite | UINT64_C(1) << (fraction - 1) : bits;
}

void sf_canonical(const struct silicon_form *form, uint8_t *memory)
{
    unsigned half = strstr(form->text, "bf16") != NULL ? 7 : 10;

    for (size_t k = 0; k < COUNT_OF(kinds) && form->any_nan; k++) {
        char letter = kinds[k].letter;
        bool single = letter == 'f' || (letter == 'r' && strstr(form->text, "tf32") != NULL);
        bool pairs = letter == 'r' && strstr(form->text, "x2") != NULL;

        for (unsigned i = 0; i < kinds[k].count * SF_THREADS; i++) {
            uint8_t *at = memory + (size_t)(i / kinds[k].count) * SF_ROW_BYTES + kinds[k].offset +
                          i % kinds[k].count * kinds[k].bytes;
            uint64_t v = 0;

            memcpy(&v, at, kinds[k].bytes);
            if (letter == 'g')
                v = canonical(v, 8, 52);
            else if (single)
                v = canonical(v, 4, 23);
            else if (letter == 'h')
                v = canonical(v, 2, half);
            else if (pairs)
                v = canonical(v & 0xffff, 2, half) | canonical(v >> 16, 2, half) << 16;
            memcpy(at, &v, kinds[k].bytes);
        }
    }
}

uint32_t sf_hash(const uint8_t *memory, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ memory[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32);
}

unsigned sf_result(const struct silicon_form *form, char *kind)
{
    const char *last = strrchr(form->text, ';'), *at = strchr(last != NULL ? last : form->text, '%');

    for (size_t k = 0; k < COUNT_OF(kinds) && at != NULL; k++) {
        if (kinds[k].letter == at[1]) {
            *kind = at[1];
            return kinds[k].offset + (unsigned)(at[2] - '1') * kinds[k].bytes;
        }
    }
    *kind = 0;
    return 0;
}
