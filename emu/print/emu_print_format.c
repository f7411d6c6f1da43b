/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formatter of vprintf. The format, its arguments and strings are in guest memory, so the formatter checks that each byte can
 * be read. Only floating-point numbers are formatted by the host, with a conversion specification that this file makes; all other
 * output is independent of the host's C library.
 */
#include <stdio.h>

#include "emu/lane/emu_math_priv.h"
#include "emu/print/emu_print_priv.h"

struct spec {
    bool minus, plus, space, hash, zero;
    bool has_precision;
    /* LEN_SIZE stands for the length modifiers z, j, t, L and q: integers of 8 bytes; with L also double, because on devices long
     * double is double */
    unsigned width, precision; /* at most EMU_FORMAT_LIMIT */
    unsigned vector;           /* number of elements of an OpenCL vector; 0: the argument is no vector */
    enum length { LEN_NONE, LEN_HH, LEN_H, LEN_HL, LEN_L, LEN_LL, LEN_SIZE } length;
    char conversion;
};

struct work {
    struct emu_format_source *source;
    uint64_t args, offset; /* args: address of the first argument; offset: distance from the first argument at which the next one
                            * may start */
    char *out;
    size_t used;
};

/* ---- output; text beyond the limit is cut off --------------------------------------- */

static void put(struct work *w, const char *text, size_t size)
{
    size_t room = EMU_FORMAT_LIMIT - w->used;

    if (size > room)
        size = room;
    memcpy(w->out + w->used, text, size);
    w->used += size;
}
static void fill(struct work *w, char c, size_t size)
{
    size_t room = EMU_FORMAT_LIMIT - w->used;

    if (size > room)
        size = room;
    memset(w->out + w->used, c, size);
    w->used += size;
}
/** Prints @text in a field of the conversion's width, with blanks on the left or right. */
static void put_field(struct work *w, const struct spec *spec, const char *text, size_t size)
{
    size_t blanks = spec->width > size ? spec->width - size : 0;

    if (!spec->minus)
        fill(w, ' ', blanks);
    put(w, text, size);
    if (spec->minus)
        fill(w, ' ', blanks);
}

/* ---- input from guest memory ------------------------------------------------------------ */

static bool read_bytes(struct work *w, uint64_t address, void *data, uint64_t size)
{
    uint64_t got = w->source->read(w->source->context, address, data, size);

    if (got == size)
        return true;
    w->source->bad_address = address + got;
    return false;
}

/** Reads a zero-terminated string of up to @limit bytes, and sets *@size to its length. Returns false if a byte cannot be
 *  read. */
static bool read_string(struct work *w, uint64_t address, char *to, size_t limit, size_t *size)
{
    size_t used = 0;

    while (used < limit) {
        size_t want = limit - used < 256 ? limit - used : 256;
        size_t got = w->source->read(w->source->context, address + used, to + used, want);
        const char *end = memchr(to + used, 0, got);
        if (end != NULL) {
            *size = (size_t)(end - to);
            return true;
        }
        used += got;
        if (got < want) {
            w->source->bad_address = address + used;
            return false;
        }
    }
    *size = limit;
    return true;
}

/** Returns the offset, from the first argument, of the next argument, which has @size bytes. */
static uint64_t next_argument(struct work *w, unsigned size)
{
    uint64_t at = (w->offset + size - 1) / size * size;

    w->offset = at + size;
    w->source->arguments++;
    return at;
}
/** Reads the next argument, of @size bytes, of which only the first @used bytes are printed. Returns false if a byte cannot be
 *  read. */
static bool read_argument(struct work *w, void *data, unsigned size, unsigned used)
{
    uint64_t at = next_argument(w, size);

    if (w->source->argument != NULL)
        w->source->argument(w->source->context, at, used);
    return read_bytes(w, w->args + at, data, size);
}
static bool take_bits(struct work *w, unsigned size, uint64_t *bits)
{
    uint8_t bytes[8] = {0};

    if (!read_argument(w, bytes, size, size))
        return false;
    *bits = lw_get64(bytes);
    return true;
}

/* ---- conversions ---------------------------------------------------------------------- */

static void put_integer(struct work *w, const struct spec *spec, uint64_t bits, unsigned size)
{
    char digits[72], prefix[3];
    size_t n = 0, p = 0, least = 1, zeros = 0;
    uint64_t base = 10, value = size < 8 ? bits & lw_mask(8 * size) : bits;
    const char *set = "0123456789abcdef";
    char c = spec->conversion;

    if (c == 'd' || c == 'i') {
        bool negative = value >> (8 * size - 1) & 1;
        if (negative)
            value = (0 - value) & lw_mask(8 * size);
        if (negative || spec->plus || spec->space)
            prefix[p++] = negative ? '-' : spec->plus ? '+' : ' ';
    } else if (c == 'x' || c == 'X') {
        base = 16;
        if (c == 'X')
            set = "0123456789ABCDEF";
        if (spec->hash && value != 0) {
            prefix[p++] = '0';
            prefix[p++] = c;
        }
    } else if (c == 'o') {
        base = 8;
    }
    for (uint64_t v = value; v != 0; v /= base)
        digits[sizeof digits - ++n] = set[v % base];
    if (spec->has_precision)
        least = spec->precision;
    if (n < least)
        zeros = least - n;
    if (c == 'o' && spec->hash && zeros == 0)
        zeros = 1; /* the alternative form of an octal number begins with a zero */
    if (spec->zero && !spec->minus && !spec->has_precision && spec->width > p + zeros + n)
        zeros = spec->width - p - n;
    size_t size_all = p + zeros + n;
    size_t blanks = spec->width > size_all ? spec->width - size_all : 0;
    if (!spec->minus)
        fill(w, ' ', blanks);
    put(w, prefix, p);
    fill(w, '0', zeros);
    put(w, digits + sizeof digits - n, n);
    if (spec->minus)
        fill(w, ' ', blanks);
}

static void put_float(struct work *w, const struct spec *spec, double value)
{
    char c = spec->conversion, format[16], *f = format;
    bool upper = c >= 'A' && c <= 'Z', negative;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    negative = bits >> 63;
    if ((bits >> 52 & 0x7ff) == 0x7ff) { /* infinity and NaN are not formatted by the host, because hosts spell them
                                          * differently */
        char text[5];
        size_t n = 0;
        bool nan = bits << 12 != 0;
        if (negative || spec->plus || spec->space)
            text[n++] = negative ? '-' : spec->plus ? '+' : ' ';
        memcpy(text + n, nan ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf"), 3);
        put_field(w, spec, text, n + 3);
        return;
    }
    *f++ = '%';
    if (spec->minus)
        *f++ = '-';
    if (spec->plus)
        *f++ = '+';
    if (spec->space)
        *f++ = ' ';
    if (spec->hash)
        *f++ = '#';
    if (spec->zero)
        *f++ = '0';
    *f++ = '*';
    *f++ = '.';
    *f++ = '*';
    *f++ = c;
    *f = '\0';
    /* A negative precision means "no precision". The buffer has one byte more than the limit, for the zero with which the host
     * terminates the text. */
    size_t room = EMU_FORMAT_LIMIT - w->used;
    int width = (int)spec->width, precision = spec->has_precision ? (int)spec->precision : -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int n = snprintf(w->out + w->used, room + 1, format, width, precision, value);
#pragma GCC diagnostic pop
    if (n > 0)
        w->used += (size_t)n < room ? (size_t)n : room;
}

static bool is_integer(char c)
{
    return c != '\0' && strchr("diouxX", c) != NULL;
}
static bool is_float(char c)
{
    return c != '\0' && strchr("fFeEgGaA", c) != NULL;
}

static bool put_vector(struct work *w, const struct spec *spec)
{
    static const uint8_t sizes[] = {[LEN_NONE] = 4, [LEN_HH] = 1, [LEN_H] = 2,
                                    [LEN_HL] = 4,   [LEN_L] = 8,  [LEN_LL] = 8};
    unsigned size = sizes[spec->length], count = spec->vector == 3 ? 4 : spec->vector;
    uint8_t bytes[128];

    if (!read_argument(w, bytes, size * count, size * spec->vector))
        return false;
    for (unsigned i = 0; i < spec->vector; i++) {
        uint8_t one[8] = {0};
        memcpy(one, bytes + (size_t)i * size, size);
        uint64_t bits = lw_get64(one);
        if (i != 0)
            put(w, ",", 1);
        if (is_integer(spec->conversion))
            put_integer(w, spec, bits, size);
        else if (size == 8)
            put_float(w, spec, ((union { uint64_t u; double d; }){bits}).d);
        else
            put_float(w, spec, (double)(size == 4 ? emu_f32_bits((uint32_t)bits) : emu_f32_of_f16((uint16_t)bits)));
    }
    return true;
}

static bool put_string(struct work *w, const struct spec *spec)
{
    static const char null[] = "(null)";
    uint64_t address;
    char text[EMU_FORMAT_LIMIT];
    size_t size, limit = spec->has_precision ? spec->precision : sizeof text;

    if (!take_bits(w, 8, &address))
        return false;
    if (limit > sizeof text)
        limit = sizeof text;
    if (address == 0) {
        put_field(w, spec, null, limit < sizeof null - 1 ? limit : sizeof null - 1);
        return true;
    }
    if (!read_string(w, address, text, limit, &size))
        return false;
    put_field(w, spec, text, size);
    return true;
}

static bool put_pointer(struct work *w, const struct spec *spec)
{
    struct spec hex = *spec;
    uint64_t bits;

    if (!take_bits(w, 8, &bits))
        return false;
    if (bits == 0) {
        put_field(w, spec, "(nil)", 5);
        return true;
    }
    hex.conversion = 'x';
    hex.hash = true;
    put_integer(w, &hex, bits, 8);
    return true;
}

/** Prints one conversion. Returns false if a byte cannot be read. *@known is set to false if the conversion is unknown. */
static bool convert(struct work *w, const struct spec *spec, bool *known)
{
    char c = spec->conversion;
    uint64_t bits;

    *known = true;
    if (spec->vector != 0 && spec->length != LEN_SIZE &&
        (is_integer(c) || (is_float(c) && spec->length != LEN_HH)))
        return put_vector(w, spec);
    if (spec->vector == 0 && spec->length != LEN_HL) {
        if (is_integer(c)) {
            unsigned size = spec->length >= LEN_L ? 8 : 4;
            if (!take_bits(w, size, &bits))
                return false;
            if (spec->length == LEN_HH || spec->length == LEN_H)
                size = spec->length == LEN_HH ? 1 : 2;
            put_integer(w, spec, bits, size);
            return true;
        }
        if (is_float(c)) {
            double value;
            if (!take_bits(w, 8, &bits))
                return false;
            memcpy(&value, &bits, sizeof value);
            put_float(w, spec, value);
            return true;
        }
        if (c == 'c') {
            if (!take_bits(w, 4, &bits))
                return false;
            char text = (char)(unsigned char)bits;
            put_field(w, spec, &text, 1);
            return true;
        }
        if (c == 's')
            return put_string(w, spec);
        if (c == 'p')
            return put_pointer(w, spec);
    }
    *known = false;
    if (c == 'n' && spec->vector == 0) /* %n stores nothing, but consumes its argument */
        (void)next_argument(w, 8);
    return true;
}

/* ---- the format -------------------------------------------------------------------------- */

struct reader {
    const char *p, *end;
};
static char peek(const struct reader *r)
{
    return r->p < r->end ? *r->p : '\0';
}
static bool accept(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    return true;
}
static bool accept_one(struct reader *r, const char *of)
{
    bool found = peek(r) != '\0' && strchr(of, peek(r)) != NULL;

    r->p += found;
    return found;
}
static unsigned read_number(struct reader *r)
{
    unsigned n = 0;

    for (; peek(r) >= '0' && peek(r) <= '9'; r->p++)
        if (n <= EMU_FORMAT_LIMIT)
            n = n * 10 + (unsigned)(*r->p - '0');
    return n < EMU_FORMAT_LIMIT ? n : EMU_FORMAT_LIMIT;
}
/** Reads the value of a width or precision given as `*` from the arguments. Returns false if the value cannot be read. */
static bool take_number(struct work *w, bool *negative, unsigned *out)
{
    uint64_t bits;

    if (!take_bits(w, 4, &bits))
        return false;
    *negative = bits >> 31 & 1;
    uint32_t size = *negative ? 0 - (uint32_t)bits : (uint32_t)bits;
    *out = size < EMU_FORMAT_LIMIT ? size : EMU_FORMAT_LIMIT;
    return true;
}

/** Parses and prints one conversion, after its '%'. Returns false if a byte cannot be read. */
static bool one(struct work *w, struct reader *r, bool *known)
{
    struct spec spec = {0};
    bool negative = false;

    *known = false;
    for (bool more = true; more;) {
        switch (peek(r)) {
        case '-': spec.minus = true; break;
        case '+': spec.plus = true; break;
        case ' ': spec.space = true; break;
        case '#': spec.hash = true; break;
        case '0': spec.zero = true; break;
        case '\'': break; /* the flag requests grouping of digits; in the C locale digits are not grouped */
        default: more = false; break;
        }
        r->p += more;
    }
    /* as in C, arguments for `*` are consumed before the value */
    if (accept(r, "*")) {
        if (!take_number(w, &negative, &spec.width))
            return false;
        spec.minus = spec.minus || negative;
    } else {
        spec.width = read_number(r);
    }
    if (accept(r, ".")) {
        spec.has_precision = true;
        negative = false;
        if (accept(r, "*")) {
            if (!take_number(w, &negative, &spec.precision))
                return false;
            spec.has_precision = !negative;
        } else {
            spec.precision = read_number(r);
        }
    }
    if (accept(r, "v")) {
        spec.vector = read_number(r);
        if (spec.vector != 2 && spec.vector != 3 && spec.vector != 4 && spec.vector != 8 &&
            spec.vector != 16)
            return true;
    }
    spec.length = accept(r, "hh")   ? LEN_HH
                  : accept(r, "hl") ? LEN_HL
                  : accept(r, "h")  ? LEN_H
                  : accept(r, "ll") ? LEN_LL
                  : accept(r, "l")  ? LEN_L
                  : accept_one(r, "zjtLq") ? LEN_SIZE
                                           : LEN_NONE;
    spec.conversion = peek(r);
    if (spec.conversion == '\0')
        return true;
    r->p++;
    return convert(w, &spec, known);
}

bool emu_format(struct emu_format_source *source, uint64_t format, uint64_t args, char *out,
                size_t *size)
{
    struct work w = {.source = source, .args = args, .out = out};
    char text[EMU_FORMAT_LIMIT];
    size_t length;

    *size = 0;
    if (!read_string(&w, format, text, sizeof text, &length))
        return false;
    struct reader r = {text, text + length};
    while (r.p < r.end) {
        const char *percent = memchr(r.p, '%', (size_t)(r.end - r.p)), *start = percent;
        bool known;
        if (percent == NULL)
            percent = r.end;
        put(&w, r.p, (size_t)(percent - r.p));
        r.p = percent;
        if (r.p == r.end)
            break;
        r.p++;
        if (accept(&r, "%")) {
            put(&w, "%", 1);
            continue;
        }
        if (!one(&w, &r, &known))
            return false;
        if (!known)
            put(&w, start, (size_t)(r.p - start));
    }
    *size = w.used;
    return true;
}
