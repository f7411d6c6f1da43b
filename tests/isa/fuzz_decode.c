/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the decoder with instruction words, and the object reader with files: input that starts like an ELF file is read
 * as an object. Each accepted word must encode to itself, and its text must assemble to the word. Each accepted object
 * must be equal after it is written and read. Compiled with -DLW_FUZZ_LIBFUZZER -fsanitize=fuzzer this is the target of
 * libFuzzer. Otherwise it is a program that replays files.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa.h"
#include "tests/isa/fuzz_isa_replay.h"
#include "tests/isa/prop_isa_object.h"

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "violated: %s\n", what);
        abort();
    }
}

static void one_word(struct isa_word word, struct lw_buffer *text)
{
    struct isa_object *object = NULL;
    struct isa_insn insn;
    struct isa_word back;
    struct lw_error err;

    if (!isa_insn_decode(word, &insn))
        return;
    require(isa_insn_encode(&insn, &back, &err) == LW_OK, "a decoded word encodes");
    require(back.lo == word.lo && back.hi == word.hi, "to itself");
    lw_buffer_clear(text);
    isa_insn_print(&insn, ISA_CODE_BASE, NULL, NULL, &text->sink);
    require(isa_assemble("word", text->text, text->size, &object, &err) == LW_OK,
            "its text assembles");
    require(object->text_count == 1 && object->text[0].lo == word.lo &&
            object->text[0].hi == word.hi, "to the same word");
    isa_object_destroy(object);
}

static void one_object(const uint8_t *data, size_t size)
{
    struct isa_object *object = NULL, *back = NULL;
    struct lw_buffer text;
    struct lw_error err;
    uint8_t *bytes = NULL;
    size_t byte_count = 0;

    if (isa_object_read("object", data, size, &object, &err) != LW_OK)
        return;
    require(isa_object_write(object, &bytes, &byte_count, &err) == LW_OK,
            "an object that was read can be written");
    require(isa_object_read("object", bytes, byte_count, &back, &err) == LW_OK,
            "and read again");
    isa_object_destroy(back);
    back = NULL;
    lw_buffer_init(&text);
    isa_disassemble(object, &text.sink);
    require(isa_assemble("object.s", text.text, text.size, &back, &err) == LW_OK,
            "its disassembly assembles");
    isa_object_destroy(back);
    lw_buffer_clear(&text);
    isa_slices_print(object, &text.sink);
    require(isa_object_slice(object, &err) == LW_OK, "its kernels can be sliced");
    isa_slices_print(object, &text.sink);
    require(isa_object_check(object, &err) == LW_OK, "and the slices written");
    isa_object_destroy(object);
    lw_buffer_fini(&text);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lw_buffer text;

    if (size >= 4 && memcmp(data, "\177ELF", 4) == 0) {
        one_object(data, size);
        return 0;
    }
    lw_buffer_init(&text);
    for (; size >= ISA_WORD_BYTES; data += ISA_WORD_BYTES, size -= ISA_WORD_BYTES)
        one_word((struct isa_word){ lw_get64(data), lw_get64(data + 8) }, &text);
    lw_buffer_fini(&text);
    return 0;
}

#ifndef LW_FUZZ_LIBFUZZER
int main(int argc, char **argv)
{
    return fuzz_replay("isa/corpus/decode", argc, argv);
}
#endif
