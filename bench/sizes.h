/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the cases, for inputs.c and reference.c. The launch files have the full sizes. With BENCH_SMALL in the
 * environment, bench_size() returns the small sizes of `bench/run --small`. */
#ifndef SIZES_H
#define SIZES_H

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t full, small; /* number of elements; for gemm and mandel, elements of a side; for bfs, nodes */
    const char *output; /* name of the output buffer in the launch file */
} bench_sizes[] = {
    {"vecadd", (size_t)16 << 20, 4096, "c"}, {"gemm", 512, 32, "c"},         {"gemm_tiled", 512, 32, "c"},
    {"reduce", (size_t)8 << 20, 4096, "out"}, {"mandel", 1024, 32, "steps"},  {"nbody", 4096, 256, "acceleration"},
    {"bfs", (size_t)1 << 20, 1024, "level"}, {"hist", (size_t)8 << 20, 8192, "bins"},
};

static inline size_t bench_size(const char *name)
{
    for (size_t i = 0; i < sizeof bench_sizes / sizeof bench_sizes[0]; i++)
        if (strcmp(bench_sizes[i].name, name) == 0)
            return getenv("BENCH_SMALL") != NULL ? bench_sizes[i].small : bench_sizes[i].full;
    return 0;
}

#endif
