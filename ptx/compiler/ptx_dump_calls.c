/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the inlined calls of the locations in clang's PTX. The directive .loc has only a file, line and column. DWARF 2 gives
 * an inlined call a single range; in an unrolled loop, this range also contains the code between the copies of the call. The
 * dump of clang's machine code (ptx_values.c) contains the inlined calls of each instruction. ptx_values.c adds these calls to
 * .loc as a comment, which ptx_parse.c reads:
 *
 *     .loc 1 4 9 //lw.calls 13:13,24:18
 *
 * The comment contains LINE:COLUMN of each call, innermost first, or `-` if the code is from no inlined call. The calls of a
 * directive without the comment are unknown. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum { MOST_LINE = 1 << 24 };

/** Location of an instruction in the dump, such as "debug-location !67; k.cl:4:9 @[ k.cl:13:13 @[ k.cl:24:18 ] ]". */
struct location {
    const char *id, *calls, *end; /* id: the number after "!". calls: text from the first "@[ " on, or @end if there is none. */
    size_t id_size;
    uint32_t line, column;
};

static bool begins(const char *at, const char *end, const char *with)
{
    const size_t n = strlen(with);

    return (size_t)(end - at) >= n && memcmp(at, with, n) == 0;
}

static const char *find(const char *at, const char *end, const char *what)
{
    return at < end ? memmem(at, (size_t)(end - at), what, strlen(what)) : NULL;
}

/* Parses a text that consists of one number. */
static bool read_number(const char *at, const char *end, uint32_t *out)
{
    uint32_t value = 0;

    if (at == end)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || value > MOST_LINE)
            return false;
        value = 10 * value + (uint32_t)(*at - '0');
    }
    *out = value;
    return true;
}

/* Parses FILE:LINE:COLUMN or, if the column is unknown, FILE:LINE. */
static bool read_position(const char *at, const char *end, uint32_t *line, uint32_t *column)
{
    const char *last = memrchr(at, ':', (size_t)(end - at));
    const char *before = last != NULL ? memrchr(at, ':', (size_t)(last - at)) : NULL;

    if (last == NULL || !read_number(last + 1, end, column))
        return false;
    if (before != NULL && read_number(before + 1, last, line))
        return true;
    *line = *column;
    *column = 0;
    return true;
}

bool ptx_dump_put_calls(const char *at, const char *end, struct lw_sink *out)
{
    bool some = false;

    while ((at = find(at, end, "@[ ")) != NULL) {
        const char *inner = find(at + 3, end, " @[ "), *close = find(at + 3, end, " ]");
        const char *stop = inner != NULL && inner < close ? inner : close;
        uint32_t line, column;

        if (close == NULL || !read_position(at + 3, stop, &line, &column))
            return false;
        lw_printf(out, "%s%u:%u", some ? "," : "", (unsigned)line, (unsigned)column);
        some = true;
        at = stop;
    }
    if (!some)
        lw_put(out, "-");
    return true;
}

static bool read_location(const char *at, const char *end, struct location *out)
{
    const char *debug = find(at, end, "debug-location !"), *after = debug != NULL ? find(debug, end, "; ") : NULL;

    if (after == NULL)
        return false;
    out->id = debug + 16;
    for (out->id_size = 0; out->id[out->id_size] >= '0' && out->id[out->id_size] <= '9';)
        out->id_size++;
    out->calls = find(after, end, " @[ ");
    if (out->calls == NULL)
        out->calls = end;
    out->end = end;
    return read_position(after + 2, out->calls, &out->line, &out->column);
}

/* Returns whether a line of the dump is an instruction for which clang may write a location. */
static bool is_code(const char *at, const char *end)
{
    static const char *const others[] = {"successors:", "liveins:", ";", "DBG_", "KILL ", "CFI_"};

    for (size_t i = 0; i < LW_COUNT_OF(others); i++)
        if (begins(at, end, others[i]))
            return false;
    return at < end && find(at, end, " = IMPLICIT_DEF") == NULL;
}

static const char *end_of_line(const struct ptx_dump_calls *d, const char *at)
{
    const char *newline = memchr(at, '\n', (size_t)(d->end - at));

    return newline != NULL ? newline : d->end;
}

void ptx_dump_passes(struct ptx_dump_calls *d, const char *at)
{
    if (at > d->at)
        d->at = at;
}

void ptx_dump_enters(struct ptx_dump_calls *d, uint32_t block)
{
    char head[16];
    const int size = snprintf(head, sizeof head, "bb.%u", (unsigned)block);

    for (const char *at = d->at, *end; at < d->end; at = end + 1) {
        end = end_of_line(d, at);
        if (begins(at, end, head) && (at[size] < '0' || at[size] > '9')) {
            d->at = end < d->end ? end + 1 : end;
            return;
        }
        if (end == d->end)
            break;
    }
    d->at = d->end; /* the dump does not have the block, so no calls are found for the rest of the function */
}

bool ptx_dump_locate(struct ptx_dump_calls *d, uint32_t line, uint32_t column, struct lw_sink *out)
{
    for (const char *at = d->at, *end, *next; at < d->end; at = next) {
        struct location where = {0};
        const char *word = at;
        bool known;

        end = end_of_line(d, at);
        next = end < d->end ? end + 1 : end;
        while (word < end && (*word == ' ' || *word == '\t'))
            word++;
        if (begins(word, end, "DBG_VALUE") || begins(at, end, "bb."))
            return false;
        if (!is_code(word, end))
            continue;
        known = read_location(word, end, &where);
        if (line == 0 && (!known || where.line == 0)) {
            d->at = at;
            d->returns = true;
            return false;
        }
        /* clang writes a second .loc with the same location only after code of line 0. */
        if (!known || line == 0 || where.line != line || where.column != column ||
            (!d->returns && where.id_size == d->id_size && memcmp(where.id, d->id, d->id_size) == 0))
            continue;
        d->id = where.id;
        d->id_size = where.id_size;
        d->returns = false;
        d->at = next;
        return ptx_dump_put_calls(where.calls, where.end, out);
    }
    return false;
}
