/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a source assigns to a variable of some name, by its text alone. A kernel's parameter that is never
 * assigned has what it was launched with, also where clang does not say so. When in doubt the answer is that it may be
 * assigned: what is between comments, what a macro, a C++ function or an asm statement gets.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum { MOST_SCANNED = 1 << 26 };

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
}

/* Characters of the source; ';' outside of it. */
static char at(const struct ptx_assigned *source, size_t i)
{
    return i < source->size ? source->text[i] : ';';
}

static size_t after_blanks(const struct ptx_assigned *source, size_t i)
{
    while (is_blank(at(source, i)))
        i++;
    return i;
}

/* The last character before @i that is no blank; SIZE_MAX: there is none. */
static size_t before_blanks(const struct ptx_assigned *source, size_t i)
{
    while (i != 0 && is_blank(source->text[i - 1]))
        i--;
    return i - 1;
}

/* Whether what is around an occurrence of a name, [@from, @to) in the source, may assign to it. */
static bool may_assign(const struct ptx_assigned *source, size_t from, size_t to)
{
    size_t before = before_blanks(source, from);
    char a, aa;

    to = after_blanks(source, to);
    while (at(source, to) == '.') { /* a member of a structure or vector */
        for (to++; is_blank(at(source, to)) || is_word(at(source, to)); to++)
            ;
    }
    if (source->passes_variables && (at(source, before) == '(' || at(source, before) == ',') &&
        (at(source, to) == ')' || at(source, to) == ','))
        return true;
    while (at(source, before) == '(' && at(source, to) == ')') {
        before = before_blanks(source, before);
        to = after_blanks(source, to + 1);
    }
    a = at(source, to);
    aa = at(source, to + 1);
    if (a == '=' || (a == '/' && (aa == '*' || aa == '/')))
        return a != '=' || aa != '=';
    if (strchr("+-*/%&|^", a) != NULL && (aa == '=' || ((a == '+' || a == '-') && aa == a)))
        return true;
    if ((a == '<' || a == '>') && aa == a && at(source, to + 2) == '=')
        return true;
    a = at(source, before);
    aa = before != 0 ? at(source, before - 1) : ';';
    return ((a == '+' || a == '-') && aa == a) || (a == '&' && aa != '&') || (a == '/' && aa == '*');
}

/* A macro with parameters, a header of the user's own, an asm statement: what they get may be assigned. */
static bool passes_variables(const struct ptx_assigned *source)
{
    for (size_t i = 0; i < source->size; i++) {
        if (source->text[i] == '#') {
            i = after_blanks(source, i + 1);
            if (i + 7 <= source->size && memcmp(source->text + i, "include", 7) == 0 &&
                at(source, after_blanks(source, i + 7)) == '"')
                return true;
            if (i + 6 <= source->size && memcmp(source->text + i, "define", 6) == 0) {
                for (i = after_blanks(source, i + 6); is_word(at(source, i)); i++)
                    ;
                if (at(source, i) == '(')
                    return true;
            }
        } else if (i + 3 <= source->size && memcmp(source->text + i, "asm", 3) == 0 && (i == 0 || source->text[i - 1] == '_' || !is_word(source->text[i - 1]))) {
            return true;
        }
    }
    return false;
}

void ptx_assigned_read(struct ptx_assigned *source, const char *path)
{
    const size_t length = strlen(path);

    *source = (struct ptx_assigned){0};
    if (lw_file_read(path, &source->text, &source->size, NULL) != LW_OK)
        source->size = 0; /* every name may be assigned */
    source->passes_variables = (length > 3 && strcmp(path + length - 3, ".cu") == 0) || passes_variables(source);
}

void ptx_assigned_forget(struct ptx_assigned *source)
{
    free(source->text);
}

bool ptx_is_never_assigned(struct ptx_assigned *source, const char *name, size_t size)
{
    bool found = false;

    source->scanned += source->size;
    if (source->scanned > MOST_SCANNED || size == 0 || source->size == 0)
        return false;
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t from = (size_t)(p - source->text);

        if ((from != 0 && is_word(source->text[from - 1])) || is_word(at(source, from + size)))
            continue;
        if (may_assign(source, from, from + size))
            return false;
        found = true;
    }
    return found;
}
