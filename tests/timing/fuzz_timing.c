/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the readers of GPU models. Each input is read as a model file and as an assignment. The result must be a model
 * with all values in their ranges, or one error message. A printed model must be read back as the same model. With clang
 * -fsanitize=fuzzer this file is a target of libFuzzer. Otherwise it is a program that reads the files on its command line,
 * or mutations of the shipped models if no file is given:
 *
 *     fuzz_timing [-s SEED] [-n RUNS] [FILE...]
 */
#include <stdio.h>
#include <stdlib.h>

#include "timing/tim_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_timing: %s\n", what);
        abort();
    }
}

static void check_message(const struct lw_error *err)
{
    size_t size = strnlen(err->text, sizeof err->text);

    require(size > 0 && size < sizeof err->text, "a failure without a message");
}

static void check_ranges(const struct tim_config *config)
{
    for (size_t i = 0; i < tim_key_count; i++) {
        const struct tim_key *k = &tim_keys[i];
        unsigned value;

        if (k->kind != TIM_KEY_NUMBER)
            continue;
        memcpy(&value, (const char *)config + k->offset, sizeof value);
        require(value >= k->low && value <= k->high, "a key has a value outside its range");
    }
}

static void check_machine(struct tim_config *config)
{
    struct tim_config *recheck_at = NULL;
    struct lw_buffer first, second;
    struct lw_error err = {0};

    check_ranges(config);
    if (tim_config_check(config, &err) != LW_OK)
        check_message(&err);
    lw_buffer_init(&first);
    lw_buffer_init(&second);
    tim_config_print(config, &first.sink);
    require(tim_config_read(config->name, first.text, first.size, &recheck_at, &err) == LW_OK,
            "a printed model cannot be read");
    tim_config_print(recheck_at, &second.sink);
    require(strcmp(first.text, second.text) == 0, "a printed model is read back as another model");
    lw_buffer_fini(&first);
    lw_buffer_fini(&second);
    tim_config_destroy(recheck_at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tim_config *config = NULL;
    struct lw_error err = {0};
    char text[200];

    if (tim_config_read("fuzz", (const char *)data, size, &config, &err) == LW_OK) {
        check_machine(config);
        tim_config_destroy(config);
    } else {
        require(config == NULL, "a failed read returned a model");
        check_message(&err);
    }
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1),
             (const char *)data);
    if (tim_config_default(&config, &err) != LW_OK)
        return 0;
    if (tim_config_set(config, text, &err) != LW_OK)
        check_message(&err);
    check_ranges(config);
    tim_config_destroy(config);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Write one to four keys of tim_keys, with values, to @text. Some of the values are invalid. */
static size_t make(uint64_t *random, char *text, size_t room)
{
    static const char *const wrong[] = {"0",  "-1", "4294967296", "true", "[1]", "{a: 1}", "\"3\"",
                                        "gto", "",   "x",          "1e3",  "0x20"};
    size_t used = 0;
    bool assignment = next(random) % 4 == 0;

    for (unsigned lines = 1 + next(random) % 4; lines > 0 && used + 100 < room; lines--) {
        const struct tim_key *k = &tim_keys[next(random) % tim_key_count];
        char value[32];

        snprintf(value, sizeof value, "%u", k->low + (unsigned)(next(random) % (k->high - k->low + 1)));
        if (next(random) % 6 == 0)
            snprintf(value, sizeof value, "%s", wrong[next(random) % LW_COUNT_OF(wrong)]);
        if (assignment)
            return (size_t)snprintf(text, room, "%s.%s=%s", k->section, k->name, value);
        if (strcmp(k->section, "units") == 0)
            used += (size_t)snprintf(text + used, room - used, "units: {%.*s: {%s: %s}}\n",
                                     (int)strcspn(k->name, "."), k->name,
                                     strchr(k->name, '.') + 1, value);
        else
            used += (size_t)snprintf(text + used, room - used, "%s: {%s: %s}\n", k->section,
                                     k->name, value);
    }
    for (unsigned edits = (unsigned)(next(random) % 3); edits > 0 && used > 0; edits--)
        text[next(random) % used] = (char)(next(random) % 2 != 0 ? ' ' + next(random) % 95 : next(random));
    return used;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, runs = 5000;
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
                fprintf(stderr, "fuzz_timing: %s\n", err.text);
                return 2;
            }
            LLVMFuzzerTestOneInput((uint8_t *)data, size);
            free(data);
        }
        return 0;
    }
    for (uint64_t run = 0; run < runs; run++) {
        uint64_t random = seed * 1000003 + run;
        char text[1024];

        LLVMFuzzerTestOneInput((uint8_t *)text, make(&random, text, sizeof text));
    }
    printf("fuzz_timing: %llu runs from seed %llu\n", (unsigned long long)runs,
           (unsigned long long)seed);
    return 0;
}
#endif
