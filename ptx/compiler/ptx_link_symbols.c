/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols for the linker of the host. The runtime links the PTX of the files that -rdc=true compiles, but the linker chooses these
 * files: of an archive it takes only members that define a symbol which other files need. Each function and variable of device code
 * that another file can use therefore has a symbol NAME.device in the object file, which the linker needs in the files that use it.
 * The linker shows "f(int) [clone .device]". A name that no file defines, or that two files define, is an error of the linker, as
 * with nvcc. The symbols are hidden, because the device code of each shared library is linked separately. Tables that only host code
 * uses are in the PTX, too: functions that are only in initialisers are therefore not needed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>

#include "ptx/compiler/ptx_compile_priv.h"
#include "ptx/ptx_provided_priv.h"

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/** Returns the name of the function or variable that a declaration declares, and sets its size. Returns NULL for shared memory and
 *  entries. @text: the declaration after .visible, .weak, .common or .extern. */
static const char *declared(const char *text, size_t *size)
{
    for (;;) {
        text += strspn(text, " \t");
        if (strncmp(text, ".shared", 7) == 0 || strncmp(text, ".entry", 6) == 0)
            return NULL;
        if (*text == '(' && strchr(text, ')') != NULL) /* the result of a function */
            text = strchr(text, ')') + 1;
        else if (*text == '.' || (*text >= '0' && *text <= '9')) /* such as .global .align 4 .u32 */
            do
                text++;
            while (is_word(*text));
        else
            break;
    }
    for (*size = 0; is_word(text[*size]);)
        ++*size;
    return *size != 0 ? text : NULL;
}

static bool is_provided(const char *name, size_t size)
{
    char text[64]; /* longer than the name of any function that is provided */

    if (size >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)size, name);
    return ptx_is_provided(text);
}

/** Returns whether a mangled name is internal: an `L` is before one of its parts, or it is in an unnamed namespace, or it has a static
 *  function ("ZL") or a lambda ("$_") of the file as a template argument. Source: Itanium C++ ABI, section 5.1. */
static bool is_internal(const char *name, size_t size)
{
    size_t i = 2;

    if (size < 4 || memcmp(name, "_Z", 2) != 0)
        return false;
    i += name[i] == 'N';
    while (i < size && (name[i] == 'S' || (name[i] >= '0' && name[i] <= '9'))) {
        char *end = NULL;
        const size_t part = name[i] == 'S' ? 2 : strtoul(name + i, &end, 10);

        i = (end != NULL ? (size_t)(end - name) : i) + part;
    }
    if (i < size && name[i] == 'L')
        return true;
    for (i = 2; i + 2 < size; i++)
        if (name[i] == 'Z' && name[i + 1] == 'L' && name[i + 2] >= '0' && name[i + 2] <= '9')
            return true;
    return memmem(name, size, "_GLOBAL__N_", 11) != NULL || memmem(name, size, "$_", 2) != NULL;
}

/** Returns whether an instruction contains a name. clang writes tabs before instructions. */
static bool is_in_code(const char *ptx, const char *name, size_t size)
{
    for (const char *at = ptx; (at = memmem(at, strlen(at), name, size)) != NULL; at += size) {
        const char *line = at;

        while (line > ptx && line[-1] != '\n')
            line--;
        if (*line == '\t' && !is_word(at[size]) && !is_word(at[-1]))
            return true;
    }
    return false;
}

void ptx_link_symbols(const char *ptx, struct lw_sink *out)
{
    static const char *const defining[] = {".visible ", ".weak ", ".common "}, extern_word[] = ".extern ";

    lw_put(out, "__asm__(\".pushsection .lanewise.device\\n\"\n");
    for (const char *line = ptx; line != NULL; line = strchr(line, '\n')) {
        const char *name = NULL;
        size_t size = 0;

        line += *line == '\n';
        for (unsigned i = 0; i < LW_COUNT_OF(defining) && name == NULL; i++)
            if (strncmp(line, defining[i], strlen(defining[i])) == 0)
                name = declared(line + strlen(defining[i]), &size);
        if (name != NULL) {
            /* A template or an inline function may be in several files. The runtime renames names that belong to one file. */
            const bool is_strong = strncmp(line, ".visible ", 9) == 0 && !is_internal(name, size);
            const char *const lines[] = {".ifndef ", is_strong ? ".globl " : ".weak ", ".hidden ", ""}; /* it may be declared before */

            for (unsigned i = 0; i < LW_COUNT_OF(lines); i++)
                lw_printf(out, "\"%s\\\"%.*s.device\\\"%s\\n\"\n", lines[i], (int)size, name, *lines[i] == '\0' ? ":" : "");
            lw_put(out, "\".endif\\n\"\n");
        } else if (strncmp(line, extern_word, sizeof extern_word - 1) == 0) {
            name = declared(line + sizeof extern_word - 1, &size);
            if (name != NULL && !is_provided(name, size) && (strncmp(line, ".extern .func", 13) != 0 || is_in_code(ptx, name, size)))
                lw_printf(out, "\".hidden \\\"%.*s.device\\\"\\n\"\n\".8byte \\\"%.*s.device\\\"\\n\"\n", (int)size, name, (int)size, name);
        }
    }
    lw_put(out, "\".popsection\");\n");
}
