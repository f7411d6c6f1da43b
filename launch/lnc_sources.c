/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of source files next to an object file, so that the object can be debugged on another computer or in another folder. The
 * copies of NAME.lwo are in the folder NAME.sources, each at the path of its original. */
#include "launch/launch_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SOURCE_BYTES = 4 << 20 };

/** Writes the path of source file @file of @object, relative to the folder in which it was compiled, to @path. Returns false if the
 *  path is too long. */
static bool original(const struct isa_object *object, unsigned file, char path[PATH_MAX])
{
    const char *name = object->files[file], *dir = object->comp_dir;
    const bool below = name[0] != '/' && dir != NULL && dir[0] != '\0';

    return snprintf(path, PATH_MAX, "%s%s%s", below ? dir : "", below ? "/" : "", name) < PATH_MAX;
}

/** Writes the path of the copy of @original for the object file @object_path to @path. Returns false if the path is too long. */
static bool copy_of(const char *object_path, const char *original, char path[PATH_MAX])
{
    const char *dot = strrchr(object_path, '.');
    int used = snprintf(path, PATH_MAX, "%.*s.sources", dot != NULL ? (int)(dot - object_path) : (int)strlen(object_path), object_path);

    while (*original != '\0' && used < PATH_MAX) { /* appends one component of the path at a time; ".." becomes "__" */
        const int size = (int)strcspn(original, "/");

        if (size == 2 && strncmp(original, "..", 2) == 0)
            used += snprintf(path + used, (size_t)(PATH_MAX - used), "/__");
        else if (size != 0 && !(size == 1 && *original == '.'))
            used += snprintf(path + used, (size_t)(PATH_MAX - used), "/%.*s", size, original);
        original += size + (original[size] == '/');
    }
    return used < PATH_MAX;
}

/** Writes the path of a file in the folder of @object_path with the base name of @original to @path. */
static bool in_folder(const char *object_path, const char *original, char path[PATH_MAX])
{
    const char *slash = strrchr(object_path, '/'), *base = strrchr(original, '/');

    return snprintf(path, PATH_MAX, "%.*s%s", slash != NULL ? (int)(slash + 1 - object_path) : 0, object_path,
                    base != NULL ? base + 1 : original) < PATH_MAX;
}

static bool is_file(const char *path)
{
    struct stat at;

    return stat(path, &at) == 0 && S_ISREG(at.st_mode) && at.st_size <= MAX_SOURCE_BYTES;
}

/** Creates the folders in which the file @path is to be written, below the first @from characters of the path. */
static void make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777); /* if this fails, writing the file fails, too */
        *slash = '/';
    }
}

void lnc_sources_copy(const struct isa_object *object, const char *object_path)
{
    char from[PATH_MAX], to[PATH_MAX];
    struct lw_error err;
    size_t size;
    char *text;

    for (unsigned i = 1; i < object->file_count; i++) {
        if (object->files[i][0] == '\0' || !original(object, i, from) || (in_folder(object_path, from, to) && is_file(to)) ||
            !copy_of(object_path, from, to) || access(to, F_OK) == 0 || !is_file(from) || lw_file_read(from, &text, &size, NULL) != LW_OK)
            continue;
        make_folders(to, strlen(object_path) - 1);
        (void)!lw_file_write(to, text, size, &err); /* without the copy the object is complete, but cannot show its source elsewhere */
        free(text);
    }
}

void lnc_sources_find(struct isa_object *object, const char *object_path)
{
    char whole[PATH_MAX], name[PATH_MAX], found[PATH_MAX];
    char *kept;

    if (realpath(object_path, whole) == NULL)
        return;
    for (unsigned i = 1; i < object->file_count; i++) {
        if (object->files[i][0] == '\0' || !original(object, i, name) || access(name, R_OK) == 0 || access(object->files[i], R_OK) == 0)
            continue;
        if (!(copy_of(whole, name, found) && is_file(found)) && !(in_folder(whole, name, found) && is_file(found)))
            continue;
        kept = lw_arena_strdup(&object->arena, found);
        if (kept != NULL)
            object->files[i] = kept;
    }
}
