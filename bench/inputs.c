/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the inputs of the benchmark that a launch file cannot describe, and the expected results. The program runs on
 * the host and does not use the emulator.
 *
 *   inputs FOLDER                       writes the files to FOLDER
 *   inputs --memcpy N                   measures N times the seconds that memcpy takes to move as many bytes as the
 *                                       vector addition moves, and prints each time
 *   inputs --compare NAME FILE FOLDER   compares FILE with the expected result of case NAME. If they differ, prints
 *                                       the position and exits with 1
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sizes.h"

static const char *folder;

static void *room(size_t count)
{
    void *data = calloc(count, 4);

    if (data == NULL) {
        fprintf(stderr, "inputs: the host has no memory\n");
        exit(2);
    }
    return data;
}

static void save(const char *name, const void *data, size_t count)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 4, count, file) != count || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

static void gemm(void)
{
    const int N = (int)bench_size("gemm");
    float *a = room((size_t)N * N), *c = room((size_t)N * N);

    for (int i = 0; i < N * N; i++)
        a[i] = (float)(i % 7) * 0.5f;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            for (int j = 0; j < N; j++)
                c[i * N + j] += a[i * N + k] * a[k * N + j]; /* the sums are exact, because they are multiples of 1/4 below
                                                              * 2^13 */
        }
    }
    save("gemm.expected.bin", c, (size_t)N * N);
    free(a);
    free(c);
}

static void nbody(void)
{
    const size_t N = bench_size("nbody");
    float *body = room(4 * N);

    for (size_t i = 0; i < 4 * N; i++)
        body[i] = (float)(i * 37 % 101) * 0.01f;
    save("nbody_body.bin", body, 4 * N);
    free(body);
}

static void bfs(void)
{
    enum { DEGREE = 8 };
    const size_t N = bench_size("bfs");
    int32_t *column = room((size_t)N * DEGREE), *level = room(N), *queue = room(N);
    size_t head = 0, tail = 0;
    uint32_t x = 1;

    for (size_t i = 0; i < (size_t)N * DEGREE; i++) {
        x = x * 1664525u + 1013904223u;
        column[i] = (int32_t)((x >> 4) % N);
    }
    save("bfs_column.bin", column, (size_t)N * DEGREE);
    for (size_t i = 0; i < N; i++)
        level[i] = -1;
    level[0] = 0;
    save("bfs_level.bin", level, N);
    queue[tail++] = 0;
    while (head < tail) {
        int32_t v = queue[head++];

        for (int e = 0; e < DEGREE; e++) {
            int32_t w = column[(size_t)v * DEGREE + (size_t)e];

            if (level[w] < 0) {
                level[w] = level[v] + 1;
                queue[tail++] = w;
            }
        }
    }
    save("bfs.expected.bin", level, N);
    free(column);
    free(level);
    free(queue);
}

static void hist(void)
{
    const size_t N = bench_size("hist");
    uint32_t *data = room(N), bins[256] = {0}, x = 7;

    for (size_t i = 0; i < N; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = x >> 13;
        bins[data[i] & 255]++;
    }
    save("hist_data.bin", data, N);
    save("hist.expected.bin", bins, 256);
    free(data);
}

/* ---- expected results ------------------------------------------------------------------ */

static uint32_t *read_words(const char *path, size_t count)
{
    uint32_t *data = room(count + 1);
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(data, 4, count + 1, file) : 0;

    if (file != NULL)
        fclose(file);
    if (got != count) {
        printf("%s: expected %zu words, found %zu\n", path, count, got);
        exit(1);
    }
    return data;
}

static const uint32_t *expected_file(const char *name, size_t count)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.expected.bin", folder, name);
    return read_words(path, count);
}

static int32_t mandel_steps(size_t x, size_t y, size_t n)
{
    float c_re = -2.0f + 3.0f * (float)x / (float)n, c_im = -1.5f + 3.0f * (float)y / (float)n, re = 0, im = 0;
    int32_t k = 0;

    while (k < 256 && re * re + im * im < 4.0f) {
        float next = re * re - im * im + c_re;

        im = 2 * re * im + c_im;
        re = next;
        k++;
    }
    return k;
}

/* Computes the forces on body @i in float64. @scale is the sum of their magnitudes, to which the tolerance is relative. */
static void nbody_forces(const float *body, size_t n, size_t i, double out[4], double *scale)
{
    *scale = 0;
    out[0] = out[1] = out[2] = out[3] = 0;
    for (size_t j = 0; j < n; j++) {
        double d[3], r2 = 1e-3, f;

        for (int k = 0; k < 3; k++) {
            d[k] = (double)body[4 * j + (size_t)k] - (double)body[4 * i + (size_t)k];
            r2 += d[k] * d[k];
        }
        f = (double)body[4 * j + 3] / (r2 * sqrt(r2));
        for (int k = 0; k < 3; k++) {
            out[k] += f * d[k];
            *scale += fabs(f * d[k]);
        }
    }
}

/* Compares the words of file @path with the expected result of case @name. Sums that need few bits, counts and levels must
 * be exact. A fractal may differ in few pixels at its edge, because compilers may contract a product and a sum to an fma.
 * Forces may differ by rounding. */
static int compare(const char *name, const char *path)
{
    const size_t n = bench_size(name);
    const bool square = strncmp(name, "gemm", 4) == 0 || strcmp(name, "mandel") == 0;
    const size_t count = square ? n * n : strcmp(name, "reduce") == 0 ? n / 256 : strcmp(name, "nbody") == 0 ? 4 * n
                         : strcmp(name, "hist") == 0 ? 256 : n;
    const uint32_t *is = read_words(path, count), *file = NULL;
    const float *floats = (const float *)(const void *)is, *body = NULL;
    size_t wrong = 0, first = 0, allowed = 0;
    double force[4] = {0}, scale = 0, want = 0;
    char message[200] = "";

    if (strncmp(name, "gemm", 4) == 0)
        file = expected_file("gemm", count);
    else if (strcmp(name, "bfs") == 0 || strcmp(name, "hist") == 0)
        file = expected_file(name, count);
    else if (strcmp(name, "mandel") == 0)
        allowed = count / 100;
    else if (strcmp(name, "nbody") == 0) {
        char bodies[4096];

        snprintf(bodies, sizeof bodies, "%s/nbody_body.bin", folder);
        body = (const float *)(const void *)read_words(bodies, count);
    }
    for (size_t i = 0; i < count; i++) {
        bool good;

        if (file != NULL) {
            good = is[i] == file[i];
            want = strncmp(name, "gemm", 4) == 0 ? (double)((const float *)(const void *)file)[i] : (double)(int32_t)file[i];
        } else if (strcmp(name, "mandel") == 0) {
            want = mandel_steps(i % n, i / n, n);
            good = (double)(int32_t)is[i] == want;
        } else if (body != NULL) {
            if (i % 4 == 0)
                nbody_forces(body, n, i / 4, force, &scale);
            want = force[i % 4];
            good = fabs((double)floats[i] - want) <= 1e-4 * scale;
        } else {
            want = strcmp(name, "reduce") == 0 ? 256 : 2.0 * (double)i;
            good = (double)floats[i] == want;
        }
        if (good || wrong++ != 0)
            continue;
        first = i;
        snprintf(message, sizeof message, "element %zu is %g, expected %g", first,
                 strncmp(name, "gemm", 4) == 0 || (file == NULL && strcmp(name, "mandel") != 0) ? (double)floats[i]
                                                                                           : (double)(int32_t)is[i], want);
    }
    if (wrong > allowed)
        printf("%s; %zu of %zu differ\n", message, wrong, count);
    return wrong > allowed;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Copies 96 MiB, which reads and writes as many bytes as the vector addition with its three arrays of 64 MiB. */
static int time_memcpy(int times)
{
    const size_t words = (size_t)96 << 18;
    uint32_t *from = room(words), *to = room(words);

    memset(from, 1, 4 * words);
    memset(to, 2, 4 * words); /* makes the host allocate the pages of the arrays before the first measurement */
    for (int i = 0; i < times; i++) {
        const double start = seconds();
        memcpy(to, from, 4 * words);
        printf("%.6f\n", seconds() - start);
        from[to[(size_t)i * 4096 % words] % words] += 1; /* uses a copied word, so that the compiler does not remove the
                                                          * copy */
    }
    free(from);
    free(to);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--memcpy") == 0)
        return time_memcpy(atoi(argv[2]));
    if (argc == 5 && strcmp(argv[1], "--compare") == 0 && bench_size(argv[2]) != 0) {
        folder = argv[4];
        return compare(argv[2], argv[3]);
    }
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER | %s --memcpy N | %s --compare NAME FILE FOLDER\n", argv[0], argv[0], argv[0]);
        return 2;
    }
    folder = argv[1];
    gemm();
    nbody();
    bfs();
    hist();
    return 0;
}
