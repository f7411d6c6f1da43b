/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target on the files of the command line, or on all files of its corpus. */
#ifndef FUZZ_ISA_REPLAY_H
#define FUZZ_ISA_REPLAY_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline bool fuzz_replay_file(const char *path)
{
    struct lw_error err;
    char *data;
    size_t size;

    if (lw_file_read(path, &data, &size, &err) != LW_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }

    uint8_t *exact = malloc(size + 1); /* the input has no terminator, so that the sanitizer detects overruns */

    if (exact != NULL) {
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(data);
    return true;
}

/** Run all inputs and return the exit status, which is 2 if there are none. A violated requirement aborts the program. */
static inline int fuzz_replay(const char *corpus, int argc, char **argv)
{
    const char *root = getenv("srcdir");
    unsigned count = 0;
    char path[1024];
    struct dirent *entry;
    DIR *dir;

    for (int i = 1; i < argc; i++) {
        if (!fuzz_replay_file(argv[i]))
            return 2;
        count++;
    }
    if (argc < 2) {
        snprintf(path, sizeof path, "%s/tests/%s", root != NULL ? root : ".", corpus);
        dir = opendir(path);
        while (dir != NULL && (entry = readdir(dir)) != NULL) {
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/tests/%s/%s", root != NULL ? root : ".",
                     corpus, entry->d_name);
            if (!fuzz_replay_file(path))
                return 2;
            count++;
        }
        if (dir != NULL)
            closedir(dir);
    }
    printf("%u inputs replayed\n", count);
    return count != 0 ? 0 : 2;
}

#endif
