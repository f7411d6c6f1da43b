/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests that run compilers. Each test has its own folder. Before you include this file, define _GNU_SOURCE,
 * and COMPILER_SOURCE as the name of the source file in that folder. */
#ifndef COMPILER_FIXTURE_H
#define COMPILER_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/** The folder of a test: @root contains the sources, the folder for TMPDIR and the compiler cache. */
struct fixture {
    char root[64], tmp[96], cache[96], source[96];
    char *outer; /* the cache folder that the environment selects for all tests */
    bool own;
};

static inline int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    strcpy(f->root, "/tmp/lw_compiler_XXXXXX");
    assert_non_null(mkdtemp(f->root));
    snprintf(f->tmp, sizeof f->tmp, "%s/tmp", f->root);
    snprintf(f->cache, sizeof f->cache, "%s/cache", f->root);
    snprintf(f->source, sizeof f->source, "%s/%s", f->root, COMPILER_SOURCE);
    assert_int_equal(mkdir(f->tmp, 0700), 0);
    assert_int_equal(mkdir(f->cache, 0700), 0);
    setenv("TMPDIR", f->tmp, 1);
    unsetenv("LANEWISE_CLANG");
    unsetenv("LANEWISE_NVCC");
    *state = f;
    return 0;
}

/* Set up a test with an empty cache of its own. Other tests use the cache that all tests share. */
static inline int setup_cache(void **state)
{
    int failed = setup(state);
    struct fixture *f = *state;
    const char *outer = getenv("XDG_CACHE_HOME");

    f->outer = outer != NULL ? strdup(outer) : NULL;
    f->own = true;
    setenv("XDG_CACHE_HOME", f->cache, 1);
    return failed;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    char command[128];

    if (f->own && f->outer != NULL)
        setenv("XDG_CACHE_HOME", f->outer, 1);
    else if (f->own)
        unsetenv("XDG_CACHE_HOME");
    free(f->outer);

    snprintf(command, sizeof command, "rm -rf '%s'", f->root);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static inline unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *dir = opendir(path);

    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static inline bool installed(const char *name)
{
    char command[128];

    snprintf(command, sizeof command, "command -v %s >/dev/null", name);
    return system(command) == 0;
}

#endif
