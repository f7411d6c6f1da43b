/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests every row of the instruction table with random fields: decoding an encoded instruction must give the instruction,
 * encoding a decoded random word must give the word, and the assembler must accept the text of the disassembler. The
 * test prints the seed, and LW_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/isa/prop_isa_random.h"

enum { PER_ROW = 400, RANDOM_WORDS = 400000 };

static void decode_undoes_encode_on_every_row(void **state)
{
    struct prop_random r = { *(uint64_t *)*state };

    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        for (unsigned i = 0; i < PER_ROW; i++) {
            struct isa_insn insn, back;
            struct isa_word word;
            struct lw_error err;

            prop_insn(&r, op, &insn);
            if (isa_insn_encode(&insn, &word, &err) != LW_OK)
                fail_msg("encode: %s", err.text);
            if (!isa_insn_decode(word, &back))
                fail_msg("%s: %016llx%016llx does not decode", isa_op_info(op)->mnemonic,
                         (unsigned long long)word.hi, (unsigned long long)word.lo);
            assert_true(prop_insn_equal(&insn, &back));
            /* gdb decodes the bytes as instructions of its target architecture, so only some values are allowed */
            assert_in_range(word.lo & 0xff, 1, 0x3f);
            assert_int_equal(word.lo >> 27 & 1, 0);
        }
    }
}

static void encode_undoes_decode_on_random_words(void **state)
{
    struct prop_random r = { *(uint64_t *)*state + 1 };
    unsigned accepted = 0;

    for (unsigned i = 0; i < RANDOM_WORDS; i++) {
        struct isa_word word = { prop_next(&r), prop_next(&r) }, back;
        struct isa_insn insn;
        struct lw_error err;

        /* words that differ little from a valid word are accepted far more often than random words */
        if (i % 2 == 0) {
            prop_insn(&r, 1 + prop_below(&r, ISA_OP_COUNT - 1), &insn);
            if (isa_insn_encode(&insn, &word, &err) != LW_OK)
                fail_msg("encode: %s", err.text);
            for (unsigned flips = prop_below(&r, 3); flips > 0; flips--) {
                unsigned bit = prop_below(&r, 128);
                if (bit < 64)
                    word.lo ^= UINT64_C(1) << bit;
                else
                    word.hi ^= UINT64_C(1) << (bit - 64);
            }
        }
        if (!isa_insn_decode(word, &insn))
            continue;
        accepted++;
        if (isa_insn_encode(&insn, &back, &err) != LW_OK)
            fail_msg("decode accepted what encode refuses: %s", err.text);
        assert_true(back.lo == word.lo && back.hi == word.hi);
    }
    assert_true(accepted > RANDOM_WORDS / 4);
}

/* All instructions are assembled as one text, because each call of the assembler has a constant cost. */
static void the_assembler_reads_back_every_printed_row(void **state)
{
    struct prop_random r = { *(uint64_t *)*state + 2 };

    for (unsigned round = 0; round < 60; round++) {
        struct isa_insn insns[ISA_OP_COUNT];
        struct isa_object *object = NULL;
        struct lw_buffer text;
        struct lw_error err;

        lw_buffer_init(&text);
        for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
            prop_insn(&r, op, &insns[op]);
            isa_insn_print(&insns[op], ISA_CODE_BASE + (op - 1) * ISA_WORD_BYTES, NULL, NULL,
                           &text.sink);
            lw_put(&text.sink, "\n");
        }
        if (isa_assemble("random.s", text.text, text.size, &object, &err) != LW_OK) {
            print_error("%s\n", text.text);
            fail_msg("%s", err.text);
        }
        assert_int_equal(object->text_count, ISA_OP_COUNT - 1);
        for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
            struct isa_word word;

            assert_int_equal(isa_insn_encode(&insns[op], &word, &err), LW_OK);
            if (word.lo != object->text[op - 1].lo || word.hi != object->text[op - 1].hi) {
                struct lw_buffer line;

                lw_buffer_init(&line);
                isa_insn_print(&insns[op], 0, NULL, NULL, &line.sink);
                fail_msg("%s: %016llx%016llx became %016llx%016llx", line.text,
                         (unsigned long long)word.hi, (unsigned long long)word.lo,
                         (unsigned long long)object->text[op - 1].hi,
                         (unsigned long long)object->text[op - 1].lo);
            }
        }
        isa_object_destroy(object);
        lw_buffer_fini(&text);
    }
}

int main(void)
{
    static uint64_t seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(decode_undoes_encode_on_every_row, &seed),
        cmocka_unit_test_prestate(encode_undoes_decode_on_random_words, &seed),
        cmocka_unit_test_prestate(the_assembler_reads_back_every_printed_row, &seed),
    };

    seed = prop_seed();
    printf("seed: LW_SEED=%llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
