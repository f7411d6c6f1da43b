/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the expected results of the large samples, and inputs that a launch file cannot describe:
 * expected FOLDER NAME SIZE... The program runs on the host and does not use the emulator. prepare has the sizes.
 */
#include "../../tests/program/expected/expected.h"

#include <string.h>

static uint32_t *room(size_t count)
{
    uint32_t *data = calloc(count, sizeof *data);

    if (data == NULL) {
        fprintf(stderr, "expected: the host has no memory\n");
        exit(2);
    }
    return data;
}

/** Values of a launch file's {random: {seed: @seed, high: @most}}; @most UINT32_MAX: no limit. */
static uint32_t *random_words(size_t count, uint64_t seed, uint32_t most)
{
    uint32_t *data = room(count);

    for (size_t i = 0; i < count; i++)
        data[i] = (uint32_t)(launch_random(seed, i) % ((uint64_t)most + 1));
    return data;
}

static void save_words(const char *name, const uint32_t *data, size_t count)
{
    save(name, data, count * sizeof *data);
}

static void lookup(const uint32_t *size) /* the sizes are entries, threads, loads per thread */
{
    uint32_t *table = random_words(size[0], 11, UINT32_MAX), *out = room(size[1]);

    for (uint32_t i = 0; i < size[1]; i++) {
        uint32_t at = i * 2654435761u >> 8;

        for (uint32_t k = 0; k < size[2]; k++) {
            uint32_t value = table[at % size[0]];

            out[i] += value;
            at = at * 1664525u + value;
        }
    }
    save_words("lookup.expected.bin", out, size[1]);
}

static void blur(const uint32_t *size) /* width, height */
{
    const size_t width = size[0], height = size[1];
    uint32_t *in = random_words(width * height, 12, 4095), *rows = room(width * height), *out = room(width * height);

    /* Adds seven elements of each row, and then the sums of seven rows. The kernel adds the elements in another order. */
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x + 6 < width; x++)
            for (size_t d = 0; d < 7; d++)
                rows[y * width + x] += in[y * width + x + d];
    for (size_t y = 0; y + 6 < height; y++)
        for (size_t x = 0; x + 6 < width; x++)
            for (size_t d = 0; d < 7; d++)
                out[y * width + x] += rows[(y + d) * width + x];
    save_words("blur.expected.bin", out, width * height);
}

static void walsh(const uint32_t *size) /* the sizes are strips, elements of a strip, distance of strips */
{
    const size_t count = (size_t)size[0] * size[2];
    uint32_t *data = random_words(count, 13, UINT32_MAX);

    for (uint32_t strip = 0; strip < size[0]; strip++) {
        uint32_t *mine = data + (size_t)strip * size[2];

        for (uint32_t step = 1; step < size[1]; step *= 2) {
            for (uint32_t from = 0; from < size[1]; from += 2 * step) {
                for (uint32_t i = from; i < from + step; i++) {
                    uint32_t a = mine[i], b = mine[i + step];

                    mine[i] = a + b;
                    mine[i + step] = a - b;
                }
            }
        }
    }
    save_words("walsh.expected.bin", data, count);
}

static void columns(const uint32_t *size) /* width, height */
{
    const size_t width = size[0], height = size[1];
    uint32_t *in = random_words(width * height, 14, UINT32_MAX), *out = room(width * height);

    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            out[x * height + y] = in[y * width + x];
    save_words("columns.expected.bin", out, width * height);
}

static void banded(const uint32_t *size) /* the sizes are rows, elements of a row, columns on each side of the diagonal */
{
    const size_t count = (size_t)size[0] * size[1];
    uint32_t *column = random_words(count, 15, 2 * size[2]), *value = random_words(count, 16, 255);
    uint32_t *x = random_words(size[0], 17, 255), *y = room(size[0]);

    for (size_t e = 0; e < count; e++) {
        const int64_t row = (int64_t)(e / size[1]), at = row + column[e] - size[2];

        column[e] = at < 0 ? 0 : at >= size[0] ? size[0] - 1 : (uint32_t)at;
        y[row] += value[e] * x[column[e]];
    }
    save_words("banded_column.bin", column, count);
    save_words("banded.expected.bin", y, size[0]);
}

static void dot(const uint32_t *size) /* the sizes are elements, threads */
{
    uint32_t *a = random_words(size[0], 18, UINT32_MAX), *b = random_words(size[0], 19, UINT32_MAX);
    uint32_t *out = room(size[1]);

    for (size_t i = 0; i < size[0]; i++)
        out[i / 4 % size[1]] += a[i] * b[i];
    save_words("dot.expected.bin", out, size[1]);
}

static void bins(const uint32_t *size) /* elements */
{
    uint32_t *in = random_words(size[0], 20, UINT32_MAX), out[256] = {0};

    for (size_t i = 0; i < size[0]; i++)
        out[in[i] % 256]++;
    save_words("bins.expected.bin", out, 256);
}

static void product(const uint32_t *size) /* the size is the number of rows and columns */
{
    const size_t n = size[0];
    uint32_t *a = random_words(n * n, 21, UINT32_MAX), *b = random_words(n * n, 22, UINT32_MAX), *c = room(n * n);

    for (size_t y = 0; y < n; y++)
        for (size_t k = 0; k < n; k++)
            for (size_t x = 0; x < n; x++)
                c[y * n + x] += a[y * n + k] * b[k * n + x];
    save_words("product.expected.bin", c, n * n);
}

static const struct {
    const char *name;
    void (*make)(const uint32_t *size);
    int sizes;
} samples[] = {
    {"lookup", lookup, 3}, {"blur", blur, 2}, {"walsh", walsh, 3}, {"columns", columns, 2},
    {"banded", banded, 3}, {"dot", dot, 2}, {"bins", bins, 1}, {"product", product, 1},
};

int main(int argc, char **argv)
{
    uint32_t size[3] = {0};

    for (size_t i = 0; argc >= 3 && i < sizeof samples / sizeof samples[0]; i++) {
        if (strcmp(samples[i].name, argv[2]) != 0 || argc != 3 + samples[i].sizes)
            continue;
        begin(2, argv);
        for (int k = 0; k < samples[i].sizes; k++)
            size[k] = (uint32_t)strtoul(argv[3 + k], NULL, 10);
        samples[i].make(size);
        return 0;
    }
    fprintf(stderr, "usage: %s FOLDER NAME SIZE...\n", argv[0]);
    return 2;
}
