/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of dependencies (-MD, -MMD) of host code. A compiler derives the name of this file and the target in it from its output, but
 * here the output is a temporary file. The header for the linker (ptx_link_symbols) is temporary, too, and is left out. So are the headers
 * of Lanewise, which are in the cache and so may be deleted at any time.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/compiler/ptx_compile_priv.h"

void ptx_dependencies_find(const char *const *flags, size_t count, struct ptx_dependencies *out)
{
    *out = (struct ptx_dependencies){.file = NULL};
    for (size_t i = 0; i < count; i++) {
        out->wanted |= strcmp(flags[i], "-MD") == 0 || strcmp(flags[i], "-MMD") == 0;
        out->target |= strncmp(flags[i], "-MT", 3) == 0 || strncmp(flags[i], "-MQ", 3) == 0;
        if (strncmp(flags[i], "-MF", 3) == 0)
            out->file = flags[i][3] != '\0' ? flags[i] + 3 : i + 1 < count ? flags[i + 1] : NULL;
    }
}

char *ptx_dependencies_name(const char *object)
{
    const char *slash = strrchr(object, '/'), *dot = strrchr(object, '.');
    const bool has_suffix = dot != NULL && (slash == NULL || dot > slash);
    char *name = NULL;

    return asprintf(&name, "%.*s.d", (int)(has_suffix ? (size_t)(dot - object) : strlen(object)), object) < 0 ? NULL : name;
}

static bool is_below(const char *path, const char *folder)
{
    const size_t size = strlen(folder);

    return size != 0 && strncmp(path, folder, size) == 0 && path[size] == '/';
}

void ptx_dependencies_keep_own(const struct ptx_job *job, char *text)
{
    char *out = text;

    for (const char *p = text; *p != '\0';) {
        const size_t blanks = strspn(p, " \t\n\\"), word = strcspn(p + blanks, " \t\n");
        const bool other = is_below(p + blanks, job->scratch) || is_below(p + blanks, job->headers);

        memmove(out, p, other ? 0 : blanks + word);
        out += other ? 0 : blanks + word;
        p += blanks + word;
    }
    *out = '\0';
}

enum lw_status ptx_dependencies_write(const struct ptx_job *job, const char *from, const char *to, struct lw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum lw_status status = lw_file_read(from, &text, &size, err);

    if (status != LW_OK)
        return status;
    ptx_dependencies_keep_own(job, text);
    status = lw_file_write(to, text, strlen(text), err);
    free(text);
    return status;
}
