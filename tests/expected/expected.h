/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the programs that make the inputs and expected results of kernels/: plain C for the
 * host, which knows nothing of the emulator. Each is run with the folder to write into.
 */
#ifndef EXPECTED_H
#define EXPECTED_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *folder;

static inline void begin(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        exit(2);
    }
    folder = argv[1];
}

/** Write little-endian elements as they lie in memory. */
static inline void save(const char *name, const void *data, size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/** The next of a fixed sequence of 24-bit numbers. */
static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
