/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the sources of OpenCL programs to files, which debuggers, the profile and readers of reports need. */
#include "runtime/rt_priv.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 10000 };

/* This state is global, because a process has one device. */
static struct {
    char folder[PATH_MAX]; /* absolute path, or "" if no folder has been chosen yet */
    char name[PATH_MAX + 40]; /* last result of rt_source_name() */
    bool wanted;           /* if no folder is given, create a temporary folder for the first source */
    bool temporary;        /* @folder is a temporary folder */
    unsigned count;        /* number of files written */
} sources;

bool rt_sources_keep(const char *folder)
{
    if (folder == NULL) {
        sources.wanted = true;
        return true;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "lanewise: cannot create the folder %s: %s\n", folder, strerror(errno));
        return false;
    }
    if (realpath(folder, sources.folder) == NULL) {
        fprintf(stderr, "lanewise: cannot use the folder %s: %s\n", folder, strerror(errno));
        sources.folder[0] = '\0';
        return false;
    }
    return true;
}

/** Creates the temporary folder. */
static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");

    snprintf(sources.folder, sizeof sources.folder, "%s/lanewise-sources-XXXXXX", parent != NULL && *parent == '/' ? parent : "/tmp");
    sources.temporary = mkdtemp(sources.folder) != NULL;
    if (!sources.temporary) {
        fprintf(stderr, "lanewise: cannot create a temporary folder for sources, %s: %s\n", sources.folder, strerror(errno));
        sources.folder[0] = '\0';
        sources.wanted = false;
    }
}

/** Returns the 32-bit FNV-1a hash of a text. */
static unsigned hash_of(const char *text)
{
    unsigned hash = 2166136261u;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/** Returns true if the file @path contains exactly this text. */
static bool has_text(const char *path, const char *text)
{
    const size_t size = strlen(text);
    FILE *file = fopen(path, "r");
    char *found = file != NULL ? malloc(size + 1) : NULL;
    const bool same = found != NULL && fread(found, 1, size + 1, file) == size && memcmp(found, text, size) == 0;

    free(found);
    if (file != NULL)
        fclose(file);
    return same;
}

const char *rt_source_name(const char *text)
{
    char temporary[sizeof sources.name + 24];
    unsigned hash = hash_of(text);
    FILE *file;
    bool good;

    if (sources.folder[0] == '\0' && sources.wanted)
        make_folder();
    if (sources.folder[0] == '\0' || sources.count >= MAX_FILES)
        return "program.cl";
    for (;; hash++) { /* tries the next name if a file with this name has another text */
        snprintf(sources.name, sizeof sources.name, "%s/program-%08x.cl", sources.folder, hash);
        if (has_text(sources.name, text))
            return sources.name;
        if (access(sources.name, F_OK) != 0)
            break;
    }
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", sources.name, (long)getpid());
    file = fopen(temporary, "w");
    good = file != NULL && fputs(text, file) >= 0;
    if (file != NULL)
        good = fclose(file) == 0 && good && rename(temporary, sources.name) == 0;
    if (!good) {
        fprintf(stderr, "lanewise: %s: cannot be written: %s\n", sources.name, strerror(errno));
        unlink(temporary);
        return "program.cl";
    }
    sources.count++;
    return sources.name;
}

bool rt_sources_forget(void)
{
    DIR *folder;
    struct dirent *entry;

    if (!sources.temporary || (folder = opendir(sources.folder)) == NULL)
        return false;
    while ((entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, "program-", 8) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(sources.folder);
    sources.temporary = false;
    sources.folder[0] = '\0';
    return true;
}
