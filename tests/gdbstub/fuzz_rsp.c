/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the stub with the payloads of packets. An input is a list of payloads, separated by newlines, for one connection
 * with the fake core. The first byte selects the target architecture, and whether the bytes are instead passed unchanged to
 * the reader of packets with checksums.
 *
 *   clang -fsanitize=fuzzer,address,undefined -DLW_FUZZ_LIBFUZZER ...    compiles the target of libFuzzer
 *   other builds are a program that replays the files in its arguments, or those in tests/clients/golden/fuzz
 */
#include "gdbstub/rsp_priv.h"
#include "tests/gdbstub/fake_dbg.h"

#include <stdio.h>
#include <stdlib.h>

static void drop(struct lw_sink *sink, const char *text, size_t size)
{
    (void)sink;
    (void)text;
    (void)size;
}

static enum lw_status say(const struct lw_call *call, struct lw_error *err)
{
    (void)err;
    for (int i = 0; i < call->argc; i++)
        lw_printf(call->out, "%s\n", call->argv[i]);
    return LW_OK;
}

enum { MAX_RUNS = 4 };

/* The cores that gdb's command `run` has created. The connection does not free them. */
struct runs {
    struct dbg *dbg[MAX_RUNS];
    unsigned count;
    struct fake_options options;
};

static enum lw_status again(void *context, const char *name, struct rsp_config *config,
                            struct lw_error *err)
{
    struct runs *runs = context;

    if (runs->count == MAX_RUNS)
        return LW_FAIL(err, LW_EIO, "no more of \"%s\"", name);
    config->dbg = runs->dbg[runs->count++] = fake_dbg_create(&runs->options);
    return LW_OK;
}

/* Contents of the object file that the stub serves to gdb, which this test does not check. */
static uint8_t code[64];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lw_command rows[] = {{"say", NULL, "...", "Say", "say", say, 0}};
    const struct lw_command_set set = {.tables = {{rows, 1, NULL}}, .count = 1};
    struct fake_options options = {.warps = 3, .fault_at = -1};
    struct runs runs = {.count = 0};
    struct rsp_config config = {.monitor = &set, .restart = again, .restart_context = &runs};
    struct isa_word word = {code[0], 0};
    struct isa_object object = {.text = &word};
    struct lw_sink out = {drop};
    struct rsp *rsp = NULL;
    struct lw_error err;

    if (size == 0)
        return 0;
    config.arch = data[0] & 1 ? RSP_AARCH64 : RSP_X86_64;
    options.fault_at = data[0] & 4 ? 7 : -1;
    lw_arena_init(&object.arena);
    config.object = data[0] & 8 ? &object : NULL;
    runs.options = options;
    config.dbg = runs.dbg[runs.count++] = fake_dbg_create(&options);
    if (rsp_create(&config, &out, &rsp, &err) == LW_OK) {
        const uint8_t *p = data + 1, *end = data + size;

        if (data[0] & 2)
            rsp_feed(rsp, p, (size_t)(end - p));
        for (; (data[0] & 2) == 0 && p < end;) {
            const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));

            if (stop == NULL)
                stop = end;
            rsp_packet(rsp, (const char *)p, (size_t)(stop - p));
            p = stop + 1;
        }
    }
    rsp_destroy(rsp);
    while (runs.count != 0)
        dbg_destroy(runs.dbg[--runs.count]);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
#include <dirent.h>

static int replay(const char *path)
{
    struct lw_error err;
    char *bytes;
    size_t size;

    if (lw_file_read(path, &bytes, &size, &err) != LW_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    const char *source = getenv("srcdir");
    const struct dirent *entry;
    char folder[1000], path[2000];
    unsigned count = 0;
    DIR *dir;

    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) != 0)
            return 1;
    if (argc > 1)
        return 0;
    snprintf(folder, sizeof folder, "%s/tests/clients/golden/fuzz", source != NULL ? source : ".");
    dir = opendir(folder);
    if (dir == NULL) {
        fprintf(stderr, "%s: no such folder\n", folder);
        return 1;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (replay(path) != 0)
            return 1;
        count++;
    }
    closedir(dir);
    printf("%u inputs replayed\n", count);
    return count == 0;
}
#endif
