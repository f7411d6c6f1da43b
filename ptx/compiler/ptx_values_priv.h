/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that read text line by line: clang's output, and the source. */
#ifndef PTX_VALUES_PRIV_H
#define PTX_VALUES_PRIV_H

#include "ptx/compiler/ptx_compile_priv.h"

enum { PTX_MOST_NUMBER = 1 << 24 };

struct text {
    const char *at, *end;
};

static inline bool begins(struct text t, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(t.end - t.at) >= n && memcmp(t.at, with, n) == 0;
}

static inline const char *find(struct text t, const char *what)
{
    return t.at < t.end ? memmem(t.at, (size_t)(t.end - t.at), what, strlen(what)) : NULL;
}

static inline struct text take_line(struct text *from)
{
    const char *newline = memchr(from->at, '\n', (size_t)(from->end - from->at));
    struct text line = {from->at, newline != NULL ? newline : from->end};

    from->at = newline != NULL ? newline + 1 : from->end;
    return line;
}

static inline void skip_blanks(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
        t->at++;
}

static inline bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static inline bool take_number(struct text *t, uint32_t *out)
{
    uint32_t value = 0;
    const char *start = t->at;

    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        value = 10 * value + (uint32_t)(*t->at - '0');
        if (value > PTX_MOST_NUMBER)
            return false;
    }
    *out = value;
    return t->at != start;
}

/** A variable, or a parameter of a function, in clang's debug information. */
struct ptx_memory_variable {
    struct lw_buffer name;
    struct text depot;   /* symbol in the PTX of the local memory that contains the variable; empty if no location is known */
    uint32_t entry, origin; /* offset of the variable's debug entry; offset of the entry with the variable's name if it is a
                             * different entry, otherwise 0 */
    uint32_t declared;      /* line of the declaration */
};
struct ptx_memory_variables {
    struct ptx_memory_variable *at;
    size_t count, capacity;
};
/** Finds the variables in the debug information of PTX by the comments that clang writes with -fverbose-asm. Finds none if no
 *  function has local memory. Returns false if the host has too little memory. */
bool ptx_memory_variables_read(struct ptx_memory_variables *variables, struct text ptx);
void ptx_memory_variables_free(struct ptx_memory_variables *variables);

/** Writes each variable, in quotes, that one of the debug values in @values shows to be in the function's local memory. */
void ptx_memory_names_put(struct text values, struct lw_buffer *out);
/** Returns true if @names, which ptx_memory_names_put() has written, contains @name. */
bool ptx_memory_names_have(const struct lw_buffer *names, struct text name);

#endif
