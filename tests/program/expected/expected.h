/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Library of the programs that write the inputs and expected results of kernels/. The library is plain C for the host and
 * does not use the emulator. The argument of each program is the output folder.
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

/** Write @size bytes of elements to file @name. Elements are little-endian, as in the host's memory. */
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

/** Return the 64 random bits of element @index of a launch file's {random: @seed}. An integer element consists of the low
 *  bits. */
static inline uint64_t launch_random(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/** Return element @index of {random: @seed} for floats: a number in [0, 1), which is not yet scaled to the bounds. */
static inline double launch_uniform(uint64_t seed, uint64_t index)
{
    return (double)(launch_random(seed, index) >> 11) * 0x1p-53;
}

/** Return the next number of a fixed sequence of 24-bit numbers. */
static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
