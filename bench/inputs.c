/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs of the benchmark that a launch file cannot describe, and the results to check
 * against: inputs FOLDER. Plain C for the host. inputs --memcpy N: N times the seconds that memcpy
 * takes to move as many bytes as the vector addition does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *folder;

static void *room(size_t count)
{
    void *data = calloc(count, 4);

    if (data == NULL) {
        fprintf(stderr, "inputs: no memory\n");
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
    enum { N = 512 };
    float *a = room(N * N), *c = room(N * N);

    for (int i = 0; i < N * N; i++)
        a[i] = (float)(i % 7) * 0.5f;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            for (int j = 0; j < N; j++)
                c[i * N + j] += a[i * N + k] * a[k * N + j]; /* exact: quarters below 2^13 */
        }
    }
    save("gemm.expected.bin", c, N * N);
    free(a);
    free(c);
}

static void nbody(void)
{
    enum { N = 4096 };
    float *body = room(4 * N);

    for (int i = 0; i < 4 * N; i++)
        body[i] = (float)(i * 37 % 101) * 0.01f;
    save("nbody_body.bin", body, 4 * N);
    free(body);
}

static void bfs(void)
{
    enum { N = 1 << 20, DEGREE = 8 };
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
    enum { N = 8 << 20 };
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

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Three arrays of 64 MiB are read or written there, two of 96 MiB here. */
static int time_memcpy(int times)
{
    const size_t words = (size_t)96 << 18;
    uint32_t *from = room(words), *to = room(words);

    memset(from, 1, 4 * words);
    memset(to, 2, 4 * words); /* so that both have their pages */
    for (int i = 0; i < times; i++) {
        const double start = seconds();
        memcpy(to, from, 4 * words);
        printf("%.6f\n", seconds() - start);
        from[to[(size_t)i * 4096 % words] % words] += 1; /* what was moved is used */
    }
    free(from);
    free(to);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--memcpy") == 0)
        return time_memcpy(atoi(argv[2]));
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER | %s --memcpy N\n", argv[0], argv[0]);
        return 2;
    }
    folder = argv[1];
    gemm();
    nbody();
    bfs();
    hist();
    return 0;
}
