/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links the PTX of several files (-rdc=true), and gives their names. In PTX of `lanewise cc`, kernels and variables that host code uses
 * are visible also if they are static or in an unnamed namespace, and two files may have such kernels of one name. The PTX of nvcc has
 * different names for them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cu_priv.h"

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/** Returns whether a mangled name is internal, and sets *@end to the end of its last part. Source: Itanium C++ ABI, section 5.1. It is if
 *  an `L` is before a part of the name, or the name or a template argument is in an unnamed namespace, in a static function ("ZL") or a
 *  lambda of the file ("$_"). An enumerator as a template argument, such as L2Op1E, is not internal. */
static bool is_internal(const char *name, size_t size, size_t *end)
{
    bool internal = memmem(name, size, "_GLOBAL__N_", 11) != NULL || memmem(name, size, "$_", 2) != NULL;
    size_t i = 2;

    *end = size;
    if (size < 3 || memcmp(name, "_Z", 2) != 0)
        return false;
    i += name[i] == 'N';
    while (i < size) {
        size_t part = 0;

        if (name[i] == 'S') { /* a substitution, such as St for std:: */
            i += 2;
            continue;
        }
        if (name[i] == 'L') {
            internal = true;
            i++;
        }
        if (i >= size || name[i] < '0' || name[i] > '9')
            break;
        while (i < size && name[i] >= '0' && name[i] <= '9')
            part = part * 10 + (size_t)(name[i++] - '0');
        if (part > size - i)
            break;
        i += part;
        *end = i;
    }
    if (i < size && name[i] == 'I')
        for (; i + 2 < size; i++)
            internal |= name[i] == 'Z' && name[i + 1] == 'L' && name[i + 2] >= '0' && name[i + 2] <= '9';
    return internal;
}

/** Writes an internal name for file @index: with an ABI tag, which is shown as in `work[abi:file2]`. */
static void put_internal(FILE *f, const char *name, size_t size, size_t end, unsigned index)
{
    char tag[24];
    const int length = snprintf(tag, sizeof tag, "file%u", index + 1);

    fprintf(f, "%.*sB%d%s%.*s", (int)end, name, length, tag, (int)(size - end), name + end);
}

char *cu_link_name(const char *name, unsigned index)
{
    const size_t size = strlen(name);
    char *out = NULL;
    size_t end, bytes;
    FILE *f;

    if (index == 0 || !is_internal(name, size, &end))
        return strdup(name);
    f = open_memstream(&out, &bytes);
    if (f == NULL)
        return NULL;
    put_internal(f, name, size, end, index);
    if (fclose(f) == 0)
        return out;
    free(out);
    return NULL;
}

/** Returns the PTX @text of file @index, not the first of the files that are linked, with internal names that no other file has; NULL: no
 *  memory. The caller frees it. */
static char *rename_all(const char *text, unsigned index)
{
    char *out = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&out, &size);

    if (f == NULL)
        return NULL;
    for (const char *p = text; *p != '\0';) {
        size_t length = 0, end;

        while (is_word(p[length]))
            length++;
        if (length == 0)
            fputc(*p++, f);
        else if (is_internal(p, length, &end))
            put_internal(f, p, length, end, index);
        else
            fwrite(p, 1, length, f);
        p += length;
    }
    if (fclose(f) == 0)
        return out;
    free(out);
    return NULL;
}

void cu_link_add(struct cu_link *link, const char *name, const char *text, bool has_unique_names)
{
    lanewise_text *grown = realloc(link->texts, (link->count + 1) * sizeof *grown);
    char *own_name = strdup(name), *own_text = has_unique_names || link->count == 0 ? strdup(text) : rename_all(text, link->count);

    if (grown != NULL)
        link->texts = grown;
    if (grown == NULL || own_name == NULL || own_text == NULL) {
        link->has_failed = true;
        free(own_name);
        free(own_text);
        return;
    }
    grown[link->count++] = (lanewise_text){own_name, own_text, strlen(own_text)};
}

cudaError_t cu_link_end(struct cu_link *link, lanewise_module **out)
{
    cudaError_t error = cudaSuccess;

    if (link->has_failed) {
        error = cudaErrorMemoryAllocation;
    } else if (lanewise_link(rt_machine(), link->texts, link->count, out) != LANEWISE_OK) {
        rt_complain("");
        error = cudaErrorInvalidPtx;
    }
    for (unsigned i = 0; i < link->count; i++) {
        free((void *)(uintptr_t)link->texts[i].name);
        free((void *)(uintptr_t)link->texts[i].text);
    }
    free(link->texts);
    return error;
}
