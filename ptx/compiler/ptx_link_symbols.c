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

/** Returns the size of the suffix if @at begins with "__static__" or "__intern__" and a hash, else 0. With -fgpu-rdc, clang adds it to the
 *  names of kernels and variables that belong to one file, but that host code uses. */
static size_t suffix_bytes(const char *at)
{
    enum { DIGITS = 16, LEAST_DIGITS = 8 }; /* clang omits zeros at the beginning of the hash */
    static const char *const words[] = {"__static__", "__intern__"};

    for (unsigned i = 0; i < LW_COUNT_OF(words) && *at == '_'; i++) {
        const size_t size = strlen(words[i]);
        const size_t digits = strncmp(at, words[i], size) == 0 ? strspn(at + size, "0123456789abcdef") : 0;
        const char *const end = at + size + digits;

        if (digits >= LEAST_DIGITS && digits <= DIGITS && (!is_word(*end) || strncmp(end, "_param_", 7) == 0))
            return size + digits;
    }
    return 0;
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

/** Returns the name that @line of the text @ptx declares and another file must define, or NULL. */
static const char *needed(const char *ptx, const char *line, size_t *size)
{
    static const char extern_word[] = ".extern ";
    const char *name = strncmp(line, extern_word, sizeof extern_word - 1) == 0 ? declared(line + sizeof extern_word - 1, size) : NULL;

    return name != NULL && !is_provided(name, *size) && (strncmp(line, ".extern .func", 13) != 0 || is_in_code(ptx, name, *size)) ? name
                                                                                                                            : NULL;
}

const char *ptx_link_missing(const char *ptx, size_t *size)
{
    static const char absent[] = "_is_not_supported"; /* end of the names of functions that the headers have for functions of CUDA that
                                                       * Lanewise lacks; the launch of a kernel that uses one is refused */
    const size_t end = sizeof absent - 1;

    for (const char *line = ptx; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *name = needed(ptx, line, size);
        if (name != NULL && memmem(name, *size, absent, end) == NULL)
            return name;
    }
    return NULL;
}

void ptx_link_symbols(const char *ptx, struct lw_sink *out)
{
    static const char *const defining[] = {".visible ", ".weak ", ".common "};

    lw_put(out, "__asm__(\".pushsection .lanewise.device\\n\"\n");
    for (const char *line = ptx; line != NULL; line = strchr(line, '\n')) {
        const char *name = NULL;
        size_t size = 0;

        line += *line == '\n';
        for (unsigned i = 0; i < LW_COUNT_OF(defining) && name == NULL; i++)
            if (strncmp(line, defining[i], strlen(defining[i])) == 0)
                name = declared(line + strlen(defining[i]), &size);
        if (name != NULL) {
            size_t plain = 0;

            while (plain < size && suffix_bytes(name + plain) == 0)
                plain++;
            /* A template or an inline function may be in several files. The runtime renames names that belong to one file. */
            const bool is_strong = strncmp(line, ".visible ", 9) == 0 && plain == size;
            const char *const lines[] = {".ifndef ", is_strong ? ".globl " : ".weak ", ".hidden ", ""}; /* it may be declared before */

            for (unsigned i = 0; i < LW_COUNT_OF(lines); i++)
                lw_printf(out, "\"%s\\\"%.*s.device\\\"%s\\n\"\n", lines[i], (int)plain, name, *lines[i] == '\0' ? ":" : "");
            lw_put(out, "\".endif\\n\"\n");
        } else {
            name = needed(ptx, line, &size);
            if (name != NULL)
                lw_printf(out, "\".hidden \\\"%.*s.device\\\"\\n\"\n\".8byte \\\"%.*s.device\\\"\\n\"\n", (int)size, name, (int)size, name);
        }
    }
    lw_put(out, "\".popsection\");\n");
}

void ptx_link_names(char *ptx)
{
    static const char used[] = ".global .align 8 .u64 __clang_gpu_used_external["; /* kernels that host code launches */
    char *to = ptx;

    for (const char *from = ptx; *from != '\0';) {
        const size_t size = strncmp(from, used, sizeof used - 1) == 0 ? strcspn(from, "\n") : suffix_bytes(from);

        if (size != 0)
            from += size; /* the end of the line remains, so that line numbers remain valid */
        else
            *to++ = *from++;
    }
    *to = '\0';
}
