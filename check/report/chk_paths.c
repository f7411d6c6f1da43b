/* SPDX-License-Identifier: Apache-2.0 */
/* Simplifies the names of source files for findings and reports. */
#include "check/chk_priv.h"

#include <stdlib.h>
#include <sys/stat.h>

/** Forms of a file name: as given; without "." and ".."; and as in reports (NULL before the first request). */
struct known {
    const char *given, *plain, *report;
};
struct chk_files {
    struct lw_arena arena;
    struct known *known;
    size_t count, room;
};

struct chk_files *chk_files_create(void)
{
    struct chk_files *files = calloc(1, sizeof *files);

    if (files != NULL)
        lw_arena_init(&files->arena);
    return files;
}

void chk_files_destroy(struct chk_files *files)
{
    if (files == NULL)
        return;
    lw_arena_fini(&files->arena);
    free(files->known);
    free(files);
}

/** Returns true if @file has "//", "/./" or "/../", or begins with "./". */
static bool has_dots(const char *file)
{
    return strstr(file, "//") != NULL || strstr(file, "/./") != NULL || strstr(file, "/../") != NULL ||
           strncmp(file, "./", 2) == 0;
}

/** Copies @file to @out, which has the same size. Removes "//" and ".". Also removes each ".." together with the folder
 *  before it, if there is such a folder. */
static void simplify(const char *file, char *out)
{
    const bool rooted = file[0] == '/';
    size_t size = 0, fixed = 0; /* length of the leading part that remains unchanged: "/" or "../.." */

    if (rooted)
        out[size++] = '/', fixed = 1;
    while (*file != '\0') {
        const size_t part = strcspn(file, "/");

        if (part == 2 && strncmp(file, "..", 2) == 0 && size > fixed) {
            while (size > fixed && out[size - 1] != '/')
                size--;
            size -= size > fixed;
        } else if (part == 2 && strncmp(file, "..", 2) == 0 && !rooted) {
            if (size != 0)
                out[size++] = '/';
            memcpy(out + size, "..", 2);
            size += 2;
            fixed = size;
        } else if (part != 0 && !(part == 1 && *file == '.') && !(part == 2 && strncmp(file, "..", 2) == 0)) {
            if (size != 0 && out[size - 1] != '/')
                out[size++] = '/';
            memmove(out + size, file, part);
            size += part;
        }
        file += part;
        file += *file == '/';
    }
    out[size] = '\0';
}

/** Returns true if both names refer to one file, or if there is no file @a. */
static bool are_one(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) != 0 || (stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/** Returns the record of @file, or NULL if memory is short. */
static struct known *known_of(struct chk_files *files, const char *file)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->known[i].given == file || strcmp(files->known[i].given, file) == 0)
            return &files->known[i];
    char *given = lw_arena_strdup(&files->arena, file), *plain = lw_arena_strdup(&files->arena, file);
    if (given == NULL || plain == NULL || !lw_grow(&files->known, &files->room, files->count + 1, sizeof *files->known))
        return NULL;
    if (has_dots(file)) {
        simplify(file, plain);
        if (!are_one(file, plain)) /* ".." after a symbolic link to a folder leads to another folder */
            strcpy(plain, given);
    }
    files->known[files->count] = (struct known){given, plain, NULL};
    return &files->known[files->count++];
}

const char *chk_file_plain(const struct chk *chk, const char *file)
{
    const struct known *k = has_dots(file) ? known_of(chk->files, file) : NULL;

    return k != NULL ? k->plain : file; /* if memory is short, the name is unchanged */
}

/** Returns the name of @file, an absolute name, relative to options.base, or NULL if the file is not in that folder. */
static const char *below_base(const struct chk *chk, const char *file)
{
    const size_t size = strlen(chk->options.base);

    return strncmp(file, chk->options.base, size) == 0 && file[size] == '/' && file[size + 1] != '\0' ? file + size + 1
                                                                                                     : NULL;
}

const char *chk_report_file(const struct chk *chk, const char *file)
{
    const char *base = chk->options.base, *here = chk->options.here, *plain = chk_file_plain(chk, file);
    struct lw_buffer whole;

    if (base == NULL || file[0] == '\0' || (plain[0] != '/' && (here == NULL || strcmp(here, base) == 0)))
        return plain;
    if (plain[0] == '/')
        return below_base(chk, plain) != NULL ? below_base(chk, plain) : plain;
    struct known *k = known_of(chk->files, file);
    if (k == NULL || k->report != NULL)
        return k != NULL ? k->report : plain;
    k->report = plain;
    lw_buffer_init(&whole);
    lw_printf(&whole.sink, "%s/%s", here, plain);
    char *copy = whole.text != NULL ? lw_arena_strdup(&chk->files->arena, whole.text) : NULL;
    if (copy != NULL) {
        simplify(whole.text, copy);
        const char *rest = below_base(chk, copy);
        k->report = rest != NULL && are_one(whole.text, copy) ? rest : plain;
    }
    lw_buffer_fini(&whole);
    return k->report;
}

bool chk_report_is_below(const struct chk *chk, const char *name)
{
    return chk->options.base != NULL && name[0] != '/' && name[0] != '\0' && strncmp(name, "../", 3) != 0;
}

void chk_report_text(const struct chk *chk, const char *text, struct lw_sink *out)
{
    if (chk->options.base != NULL)
        lw_put_relative(out, text, chk->options.base);
    else
        lw_put(out, text);
}
