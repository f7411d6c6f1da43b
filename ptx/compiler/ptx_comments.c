/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the comments of a C, C++ or OpenCL source by blanks, so that indices and line numbers in the text stay the same. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "ptx/compiler/ptx_compile_priv.h"

/* Returns the index after the string or character literal at @i, or the end of its line if the literal is not closed. */
static size_t after_literal(const char *text, size_t size, size_t i)
{
    const char quote = text[i];

    for (i++; i < size && text[i] != quote && text[i] != '\n'; i++)
        i += text[i] == '\\';
    return i < size && text[i] == quote ? i + 1 : i;
}

/* Returns the index after the comment at @i, or @i if there is no comment. */
static size_t after_comment(const char *text, size_t size, size_t i)
{
    const char next = i + 1 < size ? text[i + 1] : 0;

    if (text[i] != '/' || (next != '/' && next != '*'))
        return i;
    if (next == '*') {
        for (i += 2; i + 1 < size && (text[i] != '*' || text[i + 1] != '/'); i++)
            ;
        return i + 1 < size ? i + 2 : size;
    }
    while (i < size && (text[i] != '\n' || text[i - 1] == '\\' || (text[i - 1] == '\r' && text[i - 2] == '\\')))
        i++; /* a backslash at the end of a line continues the comment */
    return i;
}

void ptx_blank_comments(char *text, size_t size)
{
    if (size == 0 || memmem(text, size, "R\"", 2) != NULL)
        return;
    for (size_t i = 0; i < size;) {
        const size_t end = after_comment(text, size, i);

        if (end != i) {
            for (; i < end; i++)
                text[i] = text[i] == '\n' ? '\n' : ' ';
        } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || text[i - 1] < '0' || text[i - 1] > '9'))) {
            i = after_literal(text, size, i); /* a quote after a digit separates digits of a number */
        } else {
            i++;
        }
    }
}
