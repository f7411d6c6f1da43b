/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the translator with texts. If the translator accepts a text, it must be possible to write the object, to read it, and to
 * print it as assembly. If the translator refuses a text, the message must contain a reason and a location. A zero byte separates
 * two modules that are linked. To use libFuzzer, compile with -DLW_FUZZ_LIBFUZZER -fsanitize=fuzzer. Without these options, the
 * program replays files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "tests/isa/fuzz_isa_replay.h"

static void require(bool condition, const char *what, const char *detail)
{
    if (!condition) {
        fprintf(stderr, "violated: %s: %s\n", what, detail);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct isa_object *object = NULL, *back = NULL;
    struct lw_error err = { LW_OK, "" };
    struct ptx_options options;
    struct lw_buffer text;
    uint8_t *bytes = NULL;
    size_t byte_count = 0;
    enum lw_status status;
    const uint8_t *zero = size != 0 ? memchr(data, 0, size) : NULL;
    size_t first = zero != NULL ? (size_t)(zero - data) : size;
    struct ptx_source sources[2] = { { "fuzz.ptx", (const char *)data, first, false },
                                     { "fuzz.ptx", (const char *)data, 0, false } };

    ptx_options_default(&options);
    if (zero != NULL)
        sources[1] = (struct ptx_source){ "fuzz.ptx", (const char *)zero + 1, size - first - 1,
                                          false };
    status = ptx_translate_all(sources, zero != NULL ? 2 : 1, &options, &object, &err);
    if (status != LW_OK) {
        require(object == NULL, "nothing is left of a refusal", err.text);
        require(strncmp(err.text, "fuzz.ptx:", 9) == 0, "a refusal says where", err.text);
        require(strstr(err.text, "internal error") == NULL, "no internal error", err.text);
        require(status == LW_EINPUT || status == LW_EUNSUPP, "it is the input's fault", err.text);
        return 0;
    }
    require(isa_object_write(object, &bytes, &byte_count, &err) == LW_OK, "it can be written",
            err.text);
    require(isa_object_read("fuzz.lwo", bytes, byte_count, &back, &err) == LW_OK,
            "it can be read", err.text);
    lw_buffer_init(&text);
    isa_disassemble(back, &text.sink);
    isa_object_destroy(back);
    isa_object_destroy(object);
    lw_buffer_clear(&text);
    status = ptx_print_cfg("fuzz.ptx", (const char *)data, first, &text.sink, &err);
    require(status == LW_OK || zero != NULL, "what translates has a flow graph", err.text);
    lw_buffer_fini(&text);
    free(bytes);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
int main(int argc, char **argv)
{
    return fuzz_replay("ptx/corpus", argc, argv);
}
#endif
