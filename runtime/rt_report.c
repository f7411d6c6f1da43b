/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files of reports. A process never replaces the report of another process. */
#include "runtime/rt_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *rt_expand(const char *name)
{
    char *text = malloc(12 * strlen(name) + 1), *to = text; /* a process id has at most 10 digits */

    for (; text != NULL && *name != '\0'; name++) {
        if (name[0] == '%' && name[1] == 'p')
            to += sprintf(to, "%ld", (long)getpid());
        else
            *to++ = *name;
        if (name[0] == '%' && (name[1] == 'p' || name[1] == '%'))
            name++;
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

static void complain(const char *path)
{
    fprintf(stderr, "lanewise: cannot write to %s: %s\n", path, strerror(errno));
}

/** Opens a file to write the report @path. Opens a device, pipe or link directly, because it must not be replaced. Otherwise
 *  opens a temporary file in the same folder; *@temporary is set to its name, which the caller frees. Returns NULL after
 *  printing an error. */
static FILE *open_report(const char *path, char **temporary)
{
    struct stat st;
    FILE *file = NULL;

    *temporary = NULL;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        file = fopen(path, "w");
    } else if ((*temporary = malloc(strlen(path) + 24)) != NULL) {
        sprintf(*temporary, "%s.%ld.tmp", path, (long)getpid());
        file = fopen(*temporary, "w");
    }
    if (file == NULL) {
        complain(path);
        free(*temporary);
    }
    return file;
}

bool rt_report_try(const char *path)
{
    struct stat st;
    char *temporary;
    FILE *file;

    if (strcmp(path, "-") == 0 || (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && access(path, W_OK) == 0))
        return true; /* does not open it as a test, because the reader of a pipe would then see the end of its input */
    file = open_report(path, &temporary);
    if (file == NULL)
        return false;
    fclose(file);
    if (temporary != NULL)
        unlink(temporary);
    free(temporary);
    return true;
}

/** Renames @temporary to @path if there is no file with this name. Returns false, with errno EEXIST if there is one. */
static bool rename_new(const char *temporary, const char *path)
{
    int file;

    if (link(temporary, path) == 0) {
        unlink(temporary);
        return true;
    }
    if (errno == EEXIST)
        return false;
    file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666); /* the file system has no hard links */
    if (file < 0)
        return false;
    close(file);
    return rename(temporary, path) == 0;
}

/** Renames @temporary to @path or, if a file has this name, to a name with the process id before the suffix. */
static bool rename_report(const char *temporary, const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const int stem = dot != NULL && dot != path && (slash == NULL || dot > slash + 1) ? (int)(dot - path) : (int)strlen(path);
    char *other;
    bool good = rename_new(temporary, path);

    if (good || errno != EEXIST || (other = malloc(strlen(path) + 24)) == NULL)
        return good;
    sprintf(other, "%.*s.%ld%s", stem, path, (long)getpid(), path + stem);
    good = rename(temporary, other) == 0;
    if (good)
        fprintf(stderr, "lanewise: %s exists, so the report of process %ld is %s (use %%p in the name of the file)\n", path,
                (long)getpid(), other);
    free(other);
    return good;
}

/** Gives the complete report @temporary, which open_report() has opened for @path, its name, or removes it if it is not @good. */
static void close_report(const char *path, char *temporary, bool good)
{
    if (good && temporary != NULL && !rename_report(temporary, path)) {
        complain(path);
        good = false;
    }
    if (!good && temporary != NULL)
        unlink(temporary);
    free(temporary);
}

void rt_report_save(const char *path, bool (*save)(const char *path))
{
    char *temporary;
    FILE *file = open_report(path, &temporary);

    if (file == NULL)
        return;
    fclose(file);
    close_report(path, temporary, save(temporary != NULL ? temporary : path));
}

void rt_report_write(const char *path, const char *text)
{
    char *temporary;
    FILE *file;
    bool good;

    if (strcmp(path, "-") == 0) {
        if ((fputs(text, stdout) < 0 || fflush(stdout) != 0) && errno != EPIPE) /* EPIPE: the reader, such as head, needs no more */
            complain("standard output");
        return;
    }
    file = open_report(path, &temporary);
    if (file == NULL)
        return;
    good = fputs(text, file) >= 0;
    good = fclose(file) == 0 && good;
    if (!good)
        complain(path);
    close_report(path, temporary, good);
}
