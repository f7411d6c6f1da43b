/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf of gdb's agent expressions. The format string comes from the client and may be malformed, so it is parsed here.
 * The host's printf only gets conversions that this file has built.
 */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>

enum { MAX_WIDTH = 200, MAX_STRING = 1024 };

struct text {
    const char *p, *end;
};

static bool next_is(const struct text *t, char c)
{
    return t->p < t->end && *t->p == c;
}

/* Returns the character that an escape means. The text is after the backslash, and advances past the escape. */
static char escape(struct text *t)
{
    static const char names[] = "abefnrtv", values[] = "\a\b\033\f\n\r\t\v";
    const char *at;
    unsigned value = 0, digits = 0;

    if (t->p == t->end)
        return '\\';
    while (digits < 3 && t->p < t->end && *t->p >= '0' && *t->p <= '7') {
        value = value * 8 + (unsigned)(*t->p++ - '0');
        digits++;
    }
    if (digits != 0)
        return (char)value;
    at = strchr(names, *t->p);
    t->p++;
    return at != NULL && t->p[-1] != '\0' ? values[at - names] : t->p[-1];
}

static unsigned number(struct text *t)
{
    unsigned value = 0;

    while (t->p < t->end && *t->p >= '0' && *t->p <= '9') {
        value = value * 10 + (unsigned)(*t->p++ - '0');
        if (value > MAX_WIDTH)
            value = MAX_WIDTH;
    }
    return value;
}

static void put_string(struct rsp *rsp, dbg_thread_id id, const char *flags, uint64_t address)
{
    char text[MAX_STRING + 1], out[MAX_STRING + MAX_WIDTH + 1];
    size_t n = 0;

    while (n < MAX_STRING && rsp_mem_read(rsp, id, address + n, text + n, 1) == 1 &&
           text[n] != '\0')
        n++;
    text[n] = '\0';
    snprintf(out, sizeof out, flags, text);
    lw_put(&rsp->messages, out);
}

/* Parses an optional length modifier (hh, h, l, ll, L, j, z or t), and returns the number of bits of the argument that the
 * conversion prints. */
static unsigned length_bits(struct text *t)
{
    unsigned bits = 32;

    for (; t->p < t->end && strchr("hlLjzt", *t->p) != NULL && *t->p != '\0'; t->p++)
        bits = *t->p != 'h' ? 64 : bits == 16 ? 8 : 16;
    return bits;
}

/* Prints one conversion. @t is after the % of the conversion. Returns false if the conversion is malformed or has no argument. */
static bool conversion(struct rsp *rsp, dbg_thread_id id, struct text *t, const uint64_t *args,
                       unsigned count, unsigned *used)
{
    char spec[40], out[2 * MAX_WIDTH + 64];
    size_t n = 0;
    unsigned bits;
    uint64_t value;
    char c;

    spec[n++] = '%';
    while (t->p < t->end && *t->p != '\0' && strchr("-+ #0", *t->p) != NULL) {
        if (n < 7)
            spec[n++] = *t->p;
        t->p++;
    }
    if (t->p < t->end && *t->p >= '1' && *t->p <= '9')
        n += (size_t)snprintf(spec + n, sizeof spec - n, "%u", number(t));
    if (next_is(t, '.')) {
        t->p++;
        n += (size_t)snprintf(spec + n, sizeof spec - n, ".%u", number(t));
    }
    bits = length_bits(t);
    if (t->p == t->end)
        return false;
    c = *t->p++;
    if (c == '%') {
        lw_put(&rsp->messages, "%");
        return true;
    }
    if (*used == count)
        return false;
    value = args[(*used)++];
    switch (c) {
    case 'd':
    case 'i':
        if (bits < 64) {
            uint64_t sign = UINT64_C(1) << (bits - 1);

            value = ((value & lw_mask(bits)) ^ sign) - sign;
        }
        snprintf(spec + n, sizeof spec - n, "lld");
        snprintf(out, sizeof out, spec, (long long)value);
        break;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        snprintf(spec + n, sizeof spec - n, "ll%c", c);
        snprintf(out, sizeof out, spec, (unsigned long long)(value & lw_mask(bits)));
        break;
    case 'p':
        snprintf(out, sizeof out, "0x%llx", (unsigned long long)value);
        break;
    case 'c':
        snprintf(out, sizeof out, "%c", (int)(value & 0x7f));
        break;
    case 'a': case 'e': case 'f': case 'g': case 'E': case 'F': case 'G':
        /* gdb's agent expressions have only integers, so gdb has already converted an argument of 1.5 to 1. */
        snprintf(out, sizeof out, "<floats are not printed: set dprintf-style gdb>");
        break;
    case 's':
        snprintf(spec + n, sizeof spec - n, "s");
        put_string(rsp, id, spec, value);
        return true;
    default: return false;
    }
    lw_put(&rsp->messages, out);
    return true;
}

void rsp_format(struct rsp *rsp, dbg_thread_id id, const char *format, size_t size,
                const uint64_t *args, unsigned count)
{
    struct text t = {format, format + size};
    unsigned used = 0;

    while (t.p < t.end) {
        char c = *t.p++;

        if (c == '%' && !conversion(rsp, id, &t, args, count, &used))
            lw_put(&rsp->messages, "<bad format>");
        if (c == '\\')
            c = escape(&t);
        else if (c == '%')
            continue;
        rsp->messages.write(&rsp->messages, &c, 1);
    }
}
