/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the assembler with text. The disassembly of each accepted program must assemble to an equal object, and an
 * object file must preserve the object. Compiled with -DLW_FUZZ_LIBFUZZER -fsanitize=fuzzer this is the target of
 * libFuzzer. Otherwise it is a program that replays files.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa.h"
#include "tests/isa/fuzz_isa_replay.h"
#include "tests/isa/prop_isa_object.h"

static void require(bool condition, const char *what, const char *detail)
{
    if (!condition) {
        fprintf(stderr, "violated: %s: %s\n", what, detail);
        abort();
    }
}

static void require_equal(const struct isa_object *a, const struct isa_object *b,
                          const char *what)
{
    const char *difference = prop_object_difference(a, b);

    require(difference == NULL, what, difference != NULL ? difference : "");
}

/** Require that each instruction of a function has a rank, which is below twice the number of instructions. */
static void require_ranks(const struct isa_object *object)
{
    struct isa_insn *insn = calloc((size_t)object->text_count + 1, sizeof *insn);
    uint32_t *rank = calloc((size_t)object->text_count + 1, sizeof *rank);

    require(insn != NULL && rank != NULL, "memory", "");
    for (uint32_t i = 0; i < object->text_count; i++)
        (void)isa_insn_decode(object->text[i], &insn[i]);
    require(isa_object_ranks(object, insn, rank), "ranks", "");
    for (unsigned f = 0; f < object->function_count; f++)
        for (uint32_t i = 0; i < object->functions[f].count; i++)
            require(rank[object->functions[f].first + i] < 2 * object->text_count, "a rank", object->functions[f].name);
    free(insn);
    free(rank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct isa_object *object = NULL, *back = NULL;
    struct lw_buffer text;
    struct lw_error err = { LW_OK, "" };
    uint8_t *bytes = NULL;
    size_t byte_count = 0;

    if (isa_assemble("fuzz.s", (const char *)data, size, &object, &err) != LW_OK) {
        require(err.text[0] != '\0', "a refusal has a message", "");
        return 0;
    }
    lw_buffer_init(&text);
    isa_disassemble(object, &text.sink);
    require(isa_assemble("again.s", text.text, text.size, &back, &err) == LW_OK,
            "the disassembly assembles", err.text);
    require_equal(object, back, "disassembled and assembled");
    isa_object_destroy(back);
    back = NULL;
    require(isa_object_write(object, &bytes, &byte_count, &err) == LW_OK, "it can be written",
            err.text);
    require(isa_object_read("fuzz.lwo", bytes, byte_count, &back, &err) == LW_OK,
            "it can be read", err.text);
    require_equal(object, back, "written and read");
    require_ranks(object);
    isa_object_destroy(back);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
    free(bytes);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
int main(int argc, char **argv)
{
    return fuzz_replay("isa/corpus/asm", argc, argv);
}
#endif
