/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the YAML reader and the reader of launch files. For any input the result must be a tree or one error message.
 * Compiled with clang -fsanitize=fuzzer this is the target of libFuzzer. Otherwise it is a program that runs the files on
 * its command line, or, without files, mutations of a few launch files:
 *
 *     fuzz_yaml [-s SEED] [-n RUNS] [FILE...]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, memmem */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_yaml: %s\n", what);
        abort();
    }
}

static unsigned count_nodes(const struct lw_yaml *node, unsigned depth)
{
    unsigned count = 1;
    size_t children = 0;

    require(depth < 64, "the depth limit does not hold");
    require(node->line >= 1, "a node without a line");
    require(node->kind != LW_YAML_SCALAR || node->text != NULL, "a scalar without text");
    for (const struct lw_yaml *n = node->first; n != NULL; n = n->next, children++)
        count += count_nodes(n, depth + 1);
    require(children == node->count, "a wrong count of children");
    return count;
}

static void check_message(const struct lw_error *err)
{
    size_t size = strnlen(err->text, sizeof err->text);

    require(size > 0 && size < sizeof err->text, "a failure without a message");
}

static void load(const uint8_t *data, size_t size)
{
    struct emu_config config;
    struct lnc_file *file = NULL;
    struct lw_error err = {0};
    char path[40];
    int fd = memfd_create("launch", 0);

    if (fd < 0)
        return;
    if (write(fd, data, size) == (ssize_t)size) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        emu_config_default(&config);
        if (lnc_file_load(path, &config, &file, &err) != LW_OK)
            check_message(&err);
        else
            lnc_file_destroy(file);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lw_yaml_document *doc = NULL;
    struct lw_error err = {0};

    if (lw_yaml_parse("fuzz", (const char *)data, size, &doc, &err) == LW_OK) {
        require(lw_yaml_root(doc) != NULL, "no root");
        count_nodes(lw_yaml_root(doc), 0);
        lw_yaml_destroy(doc);
    } else {
        require(doc == NULL, "a document in spite of a failure");
        check_message(&err);
    }
    /* Text that contains "file" is not loaded as a launch file, which might open files with random names. */
    if (memmem(data, size, "file", 4) == NULL)
        load(data, size);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
static const char *const seeds[] = {
    "machine: {warp: 8, policy: rr, merge: off}\nprogram: {source: k.cl, options: [-DN=1]}\n"
    "buffers:\n  A: {type: f32, count: 16, init: {ramp: {start: 0, step: 1.5, modulo: 7}}}\n"
    "  B: {type: s8, init: [1, -2, 3]}\n  C: {type: u32, count: 4, init: {random: 1, low: 0, high: 9}}\n"
    "steps:\n  - launch: {entry: k, grid: [1, 2], block: 32, args: [A, 1, 2.5, {f32: [1, 2]}, {local: 64}]}\n"
    "  - check: {buffer: A, values: [0, 1.5], tolerance: {absolute: 1, relative: 1e-3}}\n",
    "program: {source: k.s}\nbuffers: {x: {type: u64, count: 2}, y: {type: u64, count: 2}}\n"
    "steps:\n  - repeat: 10\n    until: {buffer: x, index: 1, equals: 0}\n    steps:\n"
    "      - fill: {buffer: x, value: 1}\n      - swap: [x, y]\n"
    "      - copy: {from: x, to: y, count: 1}\n"
    "      - launch: {entry: k, global: 64, block: 32, args: [{iteration: {start: 1, factor: 2}}, {buffer: x, index: 1}]}\n",
    "? [a]\n: &b !!str \"\\0\"\n---\n*b\n", "[[[[{a: [}]]]", "'", "a: |\n  text\n  more\nb: >-\n x\n",
};
static const char *const words[] = {
    "count: ", "init: ", "{", "}", "[", "]", ": ", "\n  - ", "- ", "0", "-1", "18446744073709551616",
    "1e308", ".nan", "&a ", "*a", "!!int ", "---\n", "\"", "'", "#", "|\n", "repeat: ", "until: ",
    "steps: ", "\t", "values: ", "\xc3\xa9", "\xff", "equals: ", "index: ", "  ", "random: ", ",",
};

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t mutate(uint64_t *random, uint8_t *data, size_t size, size_t room)
{
    unsigned edits = 1 + (unsigned)(next(random) % 6);

    for (unsigned i = 0; i < edits; i++) {
        size_t at = next(random) % (size + 1), length = 1 + next(random) % 12;

        switch (next(random) % 4) {
        case 0: /* truncate the text */
            if (at + length <= size) {
                memmove(data + at, data + at + length, size - at - length);
                size -= length;
            }
            break;
        case 1: { /* insert a word or character of YAML or of launch files */
            const char *word = words[next(random) % LW_COUNT_OF(words)];

            length = strlen(word);
            if (size + length <= room) {
                memmove(data + at + length, data + at, size - at);
                memcpy(data + at, word, length);
                size += length;
            }
            break;
        }
        case 2: /* change one byte */
            if (at < size)
                data[at] = (uint8_t)next(random);
            break;
        default: /* repeat a part of the text */
            if (at + length <= size && size + length <= room) {
                memmove(data + at + length, data + at, size - at);
                size += length;
            }
            break;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, runs = 20000;
    int i = 1;

    for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
        if (!lw_parse_u64(argv[i + 1], argv[i][1] == 's' ? &seed : &runs))
            return 2;
    if (i < argc) {
        for (; i < argc; i++) {
            struct lw_error err;
            char *data;
            size_t size;

            if (lw_file_read(argv[i], &data, &size, &err) != LW_OK) {
                fprintf(stderr, "fuzz_yaml: %s\n", err.text);
                return 2;
            }
            LLVMFuzzerTestOneInput((uint8_t *)data, size);
            free(data);
        }
        return 0;
    }
    for (uint64_t run = 0; run < runs; run++) {
        const char *from = seeds[run % LW_COUNT_OF(seeds)];
        uint8_t data[2048];
        uint64_t random = seed * 1000003 + run;
        size_t size = strlen(from);

        memcpy(data, from, size);
        size = mutate(&random, data, size, sizeof data);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("fuzz_yaml: %llu runs from seed %llu\n", (unsigned long long)runs,
           (unsigned long long)seed);
    return 0;
}
#endif
