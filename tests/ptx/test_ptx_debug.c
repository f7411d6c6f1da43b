/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the debug information that the translator writes to objects: debug entries, locations and scopes. Invalid debug sections
 * of PTX must be dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ptx/ptx.h"

static struct lw_buffer notes;

static char *read_corpus(const char *name, size_t *size)
{
    const char *dir = getenv("srcdir");
    char path[1000], *text;
    struct lw_error err;

    snprintf(path, sizeof path, "%s/tests/ptx/corpus/%s", dir != NULL ? dir : ".", name);
    if (lw_file_read(path, &text, size, &err) != LW_OK)
        fail_msg("%s", err.text);
    return text;
}

static struct isa_object *translate_all(const struct ptx_source *sources, size_t count)
{
    struct isa_object *object = NULL;
    struct ptx_options options;
    struct lw_error err;

    ptx_options_default(&options);
    lw_buffer_clear(&notes);
    options.notes = &notes.sink;
    if (ptx_translate_all(sources, count, &options, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    return object;
}

static struct isa_object *translate(const char *text, size_t size)
{
    return translate_all(&(struct ptx_source){ "t.ptx", text, size, false }, 1);
}

static struct isa_object *from_corpus(const char *name)
{
    size_t size;
    char *text = read_corpus(name, &size);
    struct isa_object *object = translate(text, size);

    free(text);
    return object;
}

/* Returns the index of the first debug entry with this tag and name, or -1 if there is none. */
static int64_t find(const struct isa_debug *debug, unsigned tag, const char *name)
{
    for (uint32_t i = 0; i < debug->die_count; i++) {
        const struct isa_attr *attr = isa_die_attr(debug, i, ISA_AT_NAME);

        if (debug->dies[i].tag == tag && attr != NULL && strcmp(attr->text, name) == 0)
            return i;
    }
    return -1;
}

static const struct isa_var_location *place_of(const struct isa_object *object, unsigned tag,
                                        const char *name, unsigned *count)
{
    int64_t die = find(object->debug, tag, name);
    const struct isa_attr *attr;

    assert_true(die >= 0);
    attr = isa_die_attr(object->debug, (uint32_t)die, ISA_AT_LOCATION);
    *count = attr != NULL ? attr->count : 0;
    return attr != NULL ? &object->debug->locations[attr->value] : NULL;
}

static uint64_t number_of(const struct isa_debug *debug, int64_t die, unsigned name)
{
    const struct isa_attr *attr = isa_die_attr(debug, (uint32_t)die, name);

    assert_true(die >= 0);
    assert_non_null(attr);
    return attr->value;
}

static void locals_of_clang_lie_in_local_memory(void **state)
{
    struct isa_object *object = from_corpus("debug_clang19.ptx");
    const struct isa_var_location *location;
    unsigned count;

    (void)state;
    location = place_of(object, ISA_TAG_VARIABLE, "r", &count);
    assert_int_equal(count, 1);
    assert_int_equal(location->kind, ISA_LOCATION_ADDRESS);
    assert_true(location->to == 0 && location->value >= ISA_LOCAL_BASE &&
                location->value < ISA_LOCAL_BASE + object->functions[0].local_bytes);
    location = place_of(object, ISA_TAG_VARIABLE, "table", &count);
    assert_true(count == 1 && location->value == ISA_SHARED_BASE);
    location = place_of(object, ISA_TAG_PARAMETER, "scratch", &count);
    assert_true(count == 2 && location->shared_pointer && location[1].shared_pointer);
    /* The parameter must be in the constant bank until the prologue has copied it. */
    location = place_of(object, ISA_TAG_PARAMETER, "out", &count);
    assert_true(count == 2 && !location->shared_pointer && location->value >> 56 == 0xf9);
    assert_true(location[0].to == location[1].from && location[1].value >= ISA_LOCAL_BASE &&
                location[1].value < ISA_LOCAL_BASE + object->functions[0].local_bytes);
    location = place_of(object, ISA_TAG_VARIABLE, "scale", &count);
    assert_int_equal(location->kind, ISA_LOCATION_VARIABLE);
    assert_string_equal(object->variables[location->variable].name, "scale");
    isa_object_destroy(object);
}

static void registers_of_nvcc_have_location_lists(void **state)
{
    struct isa_object *object = from_corpus("debug_nvcc.ptx");
    const struct isa_function *kernel = &object->functions[0];
    const struct isa_var_location *location;
    unsigned count;

    (void)state;
    location = place_of(object, ISA_TAG_VARIABLE, "d", &count);
    assert_true(count >= 1);
    assert_true(location->from > kernel->first && location->to <= kernel->first + kernel->count);
    assert_true(location->value >> 56 == 0xf0);
    assert_true((location->value & 0xffff) / 4 + 1 < kernel->vreg_count);
    location = place_of(object, ISA_TAG_PARAMETER, "n", &count);
    assert_true(count == 1 && location->value == (UINT64_C(0xf9) << 56) + kernel->params[2].offset);
    assert_int_equal(object->debug->units[0].language, 4); /* C++ */
    isa_object_destroy(object);
}

/* Dynamic shared memory begins after the static shared memory, which has 36 bytes in one kernel and 0 bytes in the other one. */
static void dynamic_shared_memory_is_where_its_kernel_has_it(void **state)
{
    struct isa_object *object = from_corpus("debug_dynamic.ptx");
    unsigned count;
    const struct isa_var_location *location = place_of(object, ISA_TAG_VARIABLE, "dyn", &count);

    (void)state;
    assert_int_equal(count, 2);
    for (unsigned k = 0; k < 2; k++) {
        const struct isa_function *fn = &object->functions[k];

        assert_int_equal(location[k].kind, ISA_LOCATION_ADDRESS);
        assert_int_equal(location[k].from, fn->first);
        assert_int_equal(location[k].to, fn->first + fn->count);
        assert_int_equal(location[k].value,
                         ISA_SHARED_BASE + (strcmp(fn->name, "one") == 0 ? 48 : 0));
    }
    isa_object_destroy(object);
}

/* The kernel has 280 registers that are live across the barrier, so no registers remain for variables. */
static void variables_that_are_spilled_lie_in_local_memory(void **state)
{
    size_t size;
    char *text = read_corpus("debug_nvcc.ptx", &size), *barrier;
    struct isa_object *object;
    const struct isa_var_location *location;
    struct lw_buffer more;
    unsigned count, in_memory = 0;

    (void)state;
    lw_buffer_init(&more);
    barrier = strstr(text, "bar.sync");
    assert_non_null(barrier);
    lw_printf(&more.sink, "%.*s{ .reg .b32 %%x<281>; mov.u32 %%x0, %%laneid;", (int)(barrier - text),
              text);
    for (unsigned i = 1; i <= 280; i++)
        lw_printf(&more.sink, "mad.lo.s32 %%x%u, %%x%u, %%x0, %u;", i, i - 1, i);
    lw_put(&more.sink, "bar.sync 0;");
    for (unsigned i = 1; i <= 280; i++)
        lw_printf(&more.sink, "xor.b32 %%x0, %%x0, %%x%u;", i);
    lw_printf(&more.sink, "st.shared.u32 [_ZZ9variablesE5table], %%x0; }%s",
              strchr(barrier, ';') + 1);
    object = translate(more.text, more.size);
    assert_non_null(object->debug);
    location = place_of(object, ISA_TAG_VARIABLE, "d", &count);
    for (unsigned i = 0; i < count; i++)
        in_memory += location[i].kind == ISA_LOCATION_ADDRESS && location[i].value >= ISA_LOCAL_BASE &&
                     location[i].value < ISA_LOCAL_BASE + object->functions[0].local_bytes;
    assert_true(in_memory != 0);
    isa_object_destroy(object);
    lw_buffer_fini(&more);
    free(text);
}

static void bit_fields_count_from_the_low_end(void **state)
{
    struct isa_object *object = from_corpus("debug_nvcc.ptx");
    int64_t high = find(object->debug, ISA_TAG_MEMBER, "high");

    (void)state;
    assert_int_equal(number_of(object->debug, high, ISA_AT_BIT_SIZE), 7);
    assert_int_equal(number_of(object->debug, high, ISA_AT_DATA_BIT_OFFSET), 16 * 8 + 3);
    isa_object_destroy(object);
}

static void types_that_nothing_needs_are_left_out(void **state)
{
    struct isa_object *object = from_corpus("debug_nvcc.ptx");

    (void)state;
    assert_true(find(object->debug, ISA_TAG_STRUCTURE, "record") >= 0);
    assert_true(find(object->debug, ISA_TAG_ENUMERATOR, "GREEN") >= 0);
    isa_object_destroy(object);
    object = from_corpus("debug_clang14.ptx"); /* in this optimised code, variable c has an entry without a location */
    unsigned count;

    assert_null(place_of(object, ISA_TAG_VARIABLE, "c", &count));
    assert_int_equal(number_of(object->debug, find(object->debug, ISA_TAG_STRUCTURE, "") < 0
                                                  ? find(object->debug, ISA_TAG_TYPEDEF, "record")
                                                  : 0, ISA_AT_DECL_LINE), 10);
    isa_object_destroy(object);
}

/* Code of clang without a line, after a label, must get the line of the code that follows it, because the code before the label
 * belongs to a branch side that may not have been executed. */
static void code_of_no_line_after_a_label_is_the_next_lines(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"t.cu\"\n"
        ".visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n"
        "\t.loc 1 13 9\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n"
        "\t.loc 1 14 9\n\tsetp.lt.s32 %p1, %r1, 9;\n\t@%p1 bra L2;\n\tbra.uni L1;\n"
        "L1:\n\t.loc 1 15 9\n\tbra.uni L3;\n"
        "L2:\n\t.loc 1 0 9\n\tadd.s32 %r2, %r1, 7;\n"
        "\t.loc 1 16 9\n\tst.global.u32 [%rd1], %r2;\nL3:\n\t.loc 1 17 1\n\tret;\n"
        "L4:\n\t.loc 1 0 0\n\tret;\n}\n";
    struct isa_object *object = translate(text, sizeof text - 1);
    bool sixteen = false;

    (void)state;
    for (uint32_t i = 0; i < object->line_count; i++) {
        assert_int_not_equal(object->lines[i].line, 15);
        assert_in_range(object->lines[i].line, 13, 17);
        sixteen = sixteen || object->lines[i].line == 16;
    }
    assert_true(sixteen);
    isa_object_destroy(object);
}

/* The .loc directive before a label also applies to the code after the label. */
static void code_of_no_line_before_and_after_a_label_has_two_lines(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"t.cu\"\n"
        ".visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n"
        "\t.loc 1 13 9\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n"
        "\t.loc 1 14 9\n\tsetp.lt.s32 %p1, %r1, 9;\n\t@%p1 bra L2;\n"
        "\t.loc 1 15 9\n\tst.global.u32 [%rd1], %r1;\n\t.loc 1 0 9\n\tst.global.u32 [%rd1+4], %r1;\n"
        "L2:\n\tst.global.u32 [%rd1+8], %r1;\n\t.loc 1 16 9\n\tst.global.u32 [%rd1+12], %r1;\n\tret;\n}\n";
    struct isa_object *object = translate(text, sizeof text - 1);
    unsigned count[18] = {0};

    (void)state;
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn in;

        assert_true(isa_insn_decode(object->text[i], &in));
        if (in.op == ISA_ST_GLOBAL)
            count[isa_object_line_at(object, i)->line]++;
    }
    assert_int_equal(count[15], 2);
    assert_int_equal(count[16], 2);
    isa_object_destroy(object);
}

/* Labels that clang writes for debug information must not count as labels at which paths join. */
static void debug_labels_do_not_change_lines(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"t.cu\"\n"
        ".visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n"
        "\t.loc 1 13 9\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n"
        "\t.loc 1 14 9\n\tst.global.u32 [%rd1+4], %r1;\n"
        "$L__tmp0:\n\t.loc 1 0 9\n\tadd.s32 %r2, %r1, 7;\n"
        "\t.loc 1 16 9\n\tst.global.u32 [%rd1], %r2;\nLtmp11:\n\t.loc 1 0 1\n\tst.global.u32 [%rd1+8], %r1;\n"
        "$L__BB0_2:\nLtmp12:\n\t.loc 1 0 1\n\tadd.s32 %r3, %r2, 7;\n"
        "\t.loc 1 17 1\n\tst.global.u32 [%rd1+12], %r3;\n\tret;\n}\n";
    struct isa_object *object = translate(text, sizeof text - 1);
    unsigned count[18] = {0};

    (void)state;
    for (uint32_t i = 0; i < object->text_count; i++) {
        const struct isa_line *row = isa_object_line_at(object, i);
        struct isa_insn in;

        assert_true(isa_insn_decode(object->text[i], &in));
        if (in.op == ISA_V_ADD_U32 || in.op == ISA_ST_GLOBAL)
            count[row->line]++;
    }
    assert_int_equal(count[14], 2); /* the instructions are the store, and the sum without a line */
    assert_int_equal(count[16], 2);
    assert_int_equal(count[17], 2);
    isa_object_destroy(object);
}

static void scopes_are_sets_of_words(void **state)
{
    struct isa_object *object = from_corpus("debug_clang19.ptx");
    const struct isa_debug *debug = object->debug;
    unsigned blocks = 0;

    (void)state;
    for (uint32_t i = 0; i < debug->die_count; i++) {
        const struct isa_attr *spans = isa_die_attr(debug, i, ISA_AT_RANGES);

        if (debug->dies[i].tag != ISA_TAG_BLOCK)
            continue;
        blocks++;
        assert_non_null(spans);
        assert_true(debug->spans[spans->value].from > object->functions[0].first);
        assert_true(debug->spans[spans->value + spans->count - 1].to <
                    object->functions[0].first + object->functions[0].count);
    }
    assert_int_equal(blocks, 2);
    isa_object_destroy(object);
}

static unsigned nops_of(const struct isa_object *object)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn in;

        assert_true(isa_insn_decode(object->text[i], &in));
        count += in.op == ISA_NOP;
    }
    return count;
}

/* The PTX is from clang -O0 -g, for a kernel in which lines 5, 8, 11, 14, 17, 24 and 26 contain only a jump. */
static void lines_that_only_jump_have_an_instruction_for_debuggers(void **state)
{
    static const unsigned jumps[] = { 5, 8, 11, 14, 17, 24, 26 };
    size_t size;
    char *text = read_corpus("debug_jumps.ptx", &size), *sections;
    struct isa_object *object = translate(text, size);

    (void)state;
    for (unsigned k = 0; k < LW_COUNT_OF(jumps); k++) {
        bool found = false;

        for (unsigned i = 0; i < object->line_count; i++)
            found |= object->lines[i].line == jumps[k] && object->lines[i].is_stmt;
        if (!found)
            fail_msg("line %u has no instruction", jumps[k]);
    }
    isa_object_destroy(object);
    /* Without debug sections in the text, the jumps get no instructions. */
    sections = strstr(text, "\t.section\t.debug_abbrev");
    assert_non_null(sections);
    object = translate(text, (size_t)(sections - text));
    assert_int_equal(nops_of(object), 0);
    isa_object_destroy(object);
    free(text);
}

/* Returns the object of a function f whose first .loc, for line 5, is before @statement. */
static struct isa_object *function_of_lines(const char *statement)
{
    char text[2000];

    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"t.cu\"\n"
             ".func (.param .b32 o) f(.param .b32 a)\n{\n\t.reg .b32 %%r<9>;\n"
             "\t.loc 1 5 0\n\tld.param.u32 %%r1, [a];\n%s"
             "\t.loc 1 7 5\n\tmul.lo.s32 %%r2, %%r1, %%r1;\n"
             "\t.loc 1 8 5\n\tadd.s32 %%r3, %%r2, 1;\n\tst.param.b32 [o], %%r3;\n\tret;\n}\n"
             ".visible .entry k(.param .u64 p)\n{\n\t.reg .b64 %%rd<3>;\n\t.reg .b32 %%r<9>;\n"
             "\tmov.u32 %%r1, %%tid.x;\n\t{\n\t.param .b32 x;\n\tst.param.b32 [x], %%r1;\n"
             "\t.param .b32 y;\n\tcall.uni (y), f, (x);\n\tld.param.b32 %%r2, [y];\n\t}\n"
             "\tld.param.u64 %%rd1, [p];\n\tst.global.u32 [%%rd1], %%r2;\n\tret;\n}\n",
             statement);
    return translate(text, strlen(text));
}

/* Debuggers stop at the second line-table row of a function, which therefore must be that of the first statement. */
static void the_first_statement_ends_the_prologue(void **state)
{
    struct isa_object *object = function_of_lines("");

    (void)state;
    assert_int_equal(object->lines[0].line, 5); /* the line of the opening brace, which has no instruction */
    assert_int_equal(object->lines[0].insn, object->lines[1].insn);
    assert_int_equal(object->lines[1].line, 7);
    assert_true(object->lines[1].prologue_end && !object->lines[0].prologue_end);
    assert_false(object->lines[2].prologue_end);
    isa_object_destroy(object);
    object = function_of_lines("\tmul.lo.s32 %r1, %r1, %r1;\n"); /* the line of the opening brace has an instruction */
    assert_int_equal(object->lines[0].line, 5);
    assert_true(object->lines[0].insn < object->lines[1].insn);
    assert_int_equal(object->lines[1].line, 7);
    assert_true(object->lines[1].prologue_end && !object->lines[0].prologue_end);
    isa_object_destroy(object);
}

static void an_object_keeps_its_debug_information(void **state)
{
    static const char *const names[] = { "debug_clang19.ptx", "debug_clang14.ptx",
                                         "debug_nvcc.ptx" };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(names); i++) {
        struct isa_object *object = from_corpus(names[i]), *back;
        uint8_t *bytes, *again;
        size_t size, second_size;
        struct lw_error err;

        assert_non_null(object->debug);
        assert_int_equal(isa_object_write(object, &bytes, &size, &err), LW_OK);
        assert_int_equal(isa_object_read("o", bytes, size, &back, &err), LW_OK);
        assert_non_null(back->debug);
        assert_int_equal(back->debug->die_count, object->debug->die_count);
        assert_int_equal(isa_object_write(back, &again, &second_size, &err), LW_OK);
        assert_int_equal(size, second_size);
        assert_memory_equal(bytes, again, size);
        isa_object_destroy(back);
        isa_object_destroy(object);
        free(bytes);
        free(again);
    }
}

static void inlined_calls_of_lines_are_scopes(void **state)
{
    struct isa_object *object = from_corpus("debug_inlined.ptx");
    const struct isa_debug *debug = object->debug;
    int64_t sq = find(debug, ISA_TAG_SUBPROGRAM, "sq"), both;
    unsigned inlined = 0;

    (void)state;
    both = find(debug, ISA_TAG_SUBPROGRAM, "both");
    assert_true(sq >= 0 && both >= 0);
    for (uint32_t i = 0; i < debug->die_count; i++) {
        const struct isa_attr *spans = isa_die_attr(debug, i, ISA_AT_RANGES);

        if (debug->dies[i].tag != ISA_TAG_INLINED)
            continue;
        inlined++;
        assert_non_null(spans);
        assert_int_equal(number_of(debug, i, ISA_AT_ABSTRACT_ORIGIN), inlined == 1 ? both : sq);
        assert_int_equal(number_of(debug, i, ISA_AT_CALL_LINE), inlined == 1 ? 9 : 4);
        assert_int_equal(debug->dies[i].end - i, inlined == 1 ? 2 : 1); /* one inlined call contains the other */
    }
    assert_int_equal(inlined, 2);
    assert_int_equal(object->functions[0].line, 6);
    isa_object_destroy(object);
}

/* Changes each byte of the sections' text in turn. The translator must still accept the text and must not crash. Debug
 * information that it keeps must obey the rules of objects. */
static void broken_sections_are_dropped(void **state)
{
    size_t size;
    char *text = read_corpus("debug_nvcc.ptx", &size);
    size_t start = (size_t)(strstr(text, ".section") - text);
    unsigned dropped = 0, kept = 0;

    (void)state;
    for (size_t at = start + 30; at < size; at += 7) {
        char old = text[at];
        struct isa_object *object;
        struct lw_error err;

        if (old < '0' || old > '9')
            continue;
        text[at] = (char)('0' + (old - '0' + 1 + (int)(at % 7)) % 10);
        object = translate(text, size);
        assert_int_equal(isa_object_check(object, &err), LW_OK);
        if (object->debug == NULL) {
            dropped += notes.size != 0; /* without a note, the labels of the section belong to no function */
        } else {
            kept++;
        }
        isa_object_destroy(object);
        text[at] = old;
    }
    assert_true(dropped > 20);
    assert_true(kept > 20);
    free(text);
}

/* ---- linked modules --------------------------------------------------------------------------- */

enum { MODULES = 4 };
/* The first and the last module have only lines. The third one is the second one with another name of the kernel. */
static char *read_module(unsigned nth, size_t *size)
{
    static const char *const names[MODULES] = { "inlined_nvcc_lines.ptx", "debug_nvcc.ptx", "debug_nvcc.ptx", "debug_inlined.ptx" };
    char *text = read_corpus(names[nth], size);

    for (char *at = text; nth == 2 && (at = strstr(at, "variables")) != NULL; at++)
        if (strncmp(at, "variables.", 10) != 0) /* the name of the source */
            memcpy(at, "varieties", 9);
    return text;
}

static struct isa_object *link_modules(char *const *texts)
{
    static const char *const names[MODULES] = { "a.ptx", "b.ptx", "c.ptx", "d.ptx" };
    struct ptx_source sources[MODULES];
    struct isa_object *object;
    struct lw_error err;

    for (unsigned i = 0; i < MODULES; i++)
        sources[i] = (struct ptx_source){ names[i], texts[i], strlen(texts[i]), false };
    object = translate_all(sources, MODULES);
    assert_int_equal(isa_object_check(object, &err), LW_OK);
    return object;
}

static const char *source_of(const struct isa_object *object, const struct isa_compile_unit *unit)
{
    return object->files[unit->first_file];
}

/* Compares an attribute with that of the same entry in the object of the module alone. */
static void same_attr(const struct isa_object *linked, const struct isa_compile_unit *unit, const struct isa_attr *attr,
                      const struct isa_object *alone, const struct isa_attr *want)
{
    assert_int_equal(attr->name, want->name);
    assert_int_equal(attr->count, want->count);
    switch (isa_debug_attr_kind(attr->name)) {
    case ISA_ATTR_TEXT: assert_string_equal(attr->text, want->text); break;
    case ISA_ATTR_DIE: assert_int_equal(attr->value - unit->first_die, want->value); break;
    case ISA_ATTR_SPANS: {
        const struct isa_span *a = &linked->debug->spans[attr->value], *b = &alone->debug->spans[want->value];

        for (uint32_t i = 0; i < attr->count; i++)
            assert_true(a[i].to - a[i].from == b[i].to - b[i].from && a[i].from - a[0].from == b[i].from - b[0].from);
        break;
    }
    case ISA_ATTR_LOCATIONS: {
        const struct isa_var_location *a = &linked->debug->locations[attr->value], *b = &alone->debug->locations[want->value];

        for (uint32_t i = 0; i < attr->count; i++) {
            assert_true(a[i].to - a[i].from == b[i].to - b[i].from && a[i].from - a[0].from == b[i].from - b[0].from);
            assert_int_equal(a[i].kind, b[i].kind);
            if (a[i].kind == ISA_LOCATION_VARIABLE)
                assert_int_equal(linked->variables[a[i].variable].size_bytes, alone->variables[b[i].variable].size_bytes);
            else if (b[i].value - ISA_SHARED_BASE >= ISA_APERTURE_BYTES) /* shared memory of other modules may precede it */
                assert_int_equal(a[i].value, b[i].value);
        }
        break;
    }
    case ISA_ATTR_FUNCTION:
        assert_int_equal(linked->functions[attr->value].count, alone->functions[want->value].count);
        break;
    default:
        if (attr->name == ISA_AT_DECL_FILE || attr->name == ISA_AT_CALL_FILE)
            assert_string_equal(linked->files[attr->value], alone->files[want->value]);
        else
            assert_int_equal(attr->value, want->value);
        break;
    }
}

static void each_linked_module_has_the_entries_that_it_has_alone(void **state)
{
    static const unsigned order[MODULES] = { 1, 2, 0, 3 }; /* modules without .debug_info are last */
    char *texts[MODULES];
    size_t sizes[MODULES];
    struct isa_object *linked;

    (void)state;
    for (unsigned i = 0; i < MODULES; i++)
        texts[i] = read_module(i, &sizes[i]);
    linked = link_modules(texts);
    assert_int_equal(notes.size, 0);
    assert_int_equal(linked->debug->unit_count, MODULES);
    for (uint32_t u = 0; u < MODULES; u++) {
        struct isa_object *alone = translate(texts[order[u]], sizes[order[u]]);
        const struct isa_compile_unit *unit = &linked->debug->units[u];
        const uint32_t first = unit->first_die;

        assert_int_equal(alone->debug->unit_count, 1);
        assert_int_equal(isa_compile_unit_end(linked->debug, u) - first, alone->debug->die_count);
        assert_int_equal(unit->language, alone->debug->units[0].language);
        assert_string_equal(source_of(linked, unit), alone->files[1]);
        for (uint32_t i = 0; i < alone->debug->die_count; i++) {
            const struct isa_die *die = &linked->debug->dies[first + i], *want = &alone->debug->dies[i];

            assert_true(die->tag == want->tag && die->end - first == want->end && die->attr_count == want->attr_count);
            for (uint32_t k = 0; k < die->attr_count; k++)
                same_attr(linked, unit, &linked->debug->attrs[die->first_attr + k], alone,
                          &alone->debug->attrs[want->first_attr + k]);
        }
        isa_object_destroy(alone);
    }
    for (unsigned f = 0; f < linked->function_count; f++) {
        const uint32_t unit = isa_compile_unit_at(linked, linked->functions[f].first);

        assert_true(isa_compile_unit_has_file(&linked->debug->units[unit], linked->functions[f].file));
    }
    isa_object_destroy(linked);
    for (unsigned i = 0; i < MODULES; i++)
        free(texts[i]);
}

/* Returns the name in the object of the variable that an entry of unit @unit with name @name is. */
static const char *variable_of(const struct isa_object *object, uint32_t unit, const char *name)
{
    const struct isa_debug *debug = object->debug;

    for (uint32_t i = debug->units[unit].first_die; i < isa_compile_unit_end(debug, unit); i++) {
        const struct isa_attr *have = isa_die_attr(debug, i, ISA_AT_NAME), *place = isa_die_attr(debug, i, ISA_AT_LOCATION);

        if (have != NULL && place != NULL && strcmp(have->text, name) == 0 &&
            debug->locations[place->value].kind == ISA_LOCATION_VARIABLE)
            return object->variables[debug->locations[place->value].variable].name;
    }
    return "";
}

static void a_linked_module_has_its_own_variables(void **state)
{
    char *texts[MODULES];
    struct isa_object *linked, *back;
    uint8_t *bytes, *again;
    size_t size, second_size;
    struct lw_error err;

    (void)state;
    for (unsigned i = 0; i < MODULES; i++)
        texts[i] = read_module(i, &size);
    linked = link_modules(texts);
    assert_string_equal(variable_of(linked, 0, "counter"), "counter");
    assert_string_equal(variable_of(linked, 1, "counter"), "counter.1");
    assert_string_equal(variable_of(linked, 1, "coef"), "coef.1");
    assert_int_equal(isa_object_write(linked, &bytes, &size, &err), LW_OK);
    assert_int_equal(isa_object_read("o", bytes, size, &back, &err), LW_OK);
    assert_int_equal(back->debug->unit_count, MODULES);
    assert_memory_equal(back->debug->units, linked->debug->units, MODULES * sizeof *linked->debug->units);
    assert_int_equal(isa_object_write(back, &again, &second_size, &err), LW_OK);
    assert_int_equal(size, second_size);
    assert_memory_equal(bytes, again, size);
    free(bytes);
    free(again);
    isa_object_destroy(back);
    isa_object_destroy(linked);
    for (unsigned i = 0; i < MODULES; i++)
        free(texts[i]);
}

static void an_invalid_unit_is_refused(void **state)
{
    char *texts[MODULES];
    size_t size;
    struct isa_object *linked;
    struct isa_compile_unit *units;
    struct isa_attr *type = NULL;
    struct lw_error err;

    (void)state;
    for (unsigned i = 0; i < MODULES; i++)
        texts[i] = read_module(i, &size);
    linked = link_modules(texts);
    units = linked->debug->units;
    units[1].first_die++; /* a boundary in the middle of an entry, or references to another unit */
    assert_int_equal(isa_object_check(linked, &err), LW_EFORMAT);
    units[1].first_die--;
    units[2].file_count = linked->file_count;
    assert_int_equal(isa_object_check(linked, &err), LW_EFORMAT);
    assert_string_equal(err.text, "the compile units of the debug information are malformed");
    units[2].file_count = 0; /* the unit's entries have files */
    assert_int_equal(isa_object_check(linked, &err), LW_EFORMAT);
    units[2].file_count = 1;
    assert_int_equal(isa_object_check(linked, &err), LW_OK);
    for (uint32_t i = 0; type == NULL; i++)
        if (linked->debug->attrs[i].name == ISA_AT_TYPE)
            type = &linked->debug->attrs[i];
    type->value = units[1].first_die; /* a type of another unit */
    assert_int_equal(isa_object_check(linked, &err), LW_EFORMAT);
    isa_object_destroy(linked);
    for (unsigned i = 0; i < MODULES; i++)
        free(texts[i]);
}

static void a_damaged_module_does_not_cost_the_others_their_entries(void **state)
{
    static const struct {
        const char *section, *at;
        char byte;
    } damages[] = { { ".section\t.debug_info", ".b8 ", '?' }, { ".section\t.debug_abbrev", ".b8 ", '9' } };

    (void)state;
    for (unsigned kind = 0; kind < LW_COUNT_OF(damages); kind++) {
        char *texts[MODULES], *damaged;
        size_t size;
        struct isa_object *linked;
        const struct isa_debug *debug;

        for (unsigned i = 0; i < MODULES; i++)
            texts[i] = read_module(i, &size);
        damaged = strstr(texts[1], damages[kind].section);
        assert_non_null(damaged);
        damaged = strstr(damaged, damages[kind].at);
        assert_non_null(damaged);
        damaged[strlen(damages[kind].at)] = damages[kind].byte;
        linked = link_modules(texts);
        debug = linked->debug;
        assert_non_null(strstr(notes.text, "b.ptx: debug information is dropped: "));
        assert_null(strstr(notes.text, "c.ptx"));
        assert_int_equal(debug->unit_count, MODULES);
        assert_string_equal(variable_of(linked, 0, "counter"), "counter.1"); /* of the third module */
        assert_string_equal(source_of(linked, &debug->units[1]), "/tmp/src/levels.cu");
        assert_string_equal(source_of(linked, &debug->units[2]), "/tmp/src/inlined.cu");
        assert_true(debug->units[2].first_die < debug->units[3].first_die);
        assert_string_equal(source_of(linked, &debug->units[3]), "/tmp/src/variables.cu");
        assert_int_equal(debug->units[3].first_die, debug->die_count);
        for (unsigned f = 0; f < linked->function_count; f++)
            if (strcmp(linked->functions[f].name, "variables") == 0)
                assert_int_equal(isa_compile_unit_at(linked, linked->functions[f].first), 3);
        isa_object_destroy(linked);
        for (unsigned i = 0; i < MODULES; i++)
            free(texts[i]);
    }
}

/* Does what broken_sections_are_dropped() does, for one of several modules. */
static void broken_sections_of_a_module_leave_the_others(void **state)
{
    char *texts[MODULES], *start;
    unsigned dropped = 0;
    size_t size;

    (void)state;
    for (unsigned i = 0; i < MODULES; i++)
        texts[i] = read_module(i, &size);
    start = strstr(texts[1], ".section");
    for (char *at = start + 30; *at != '\0'; at += strnlen(at, 31)) {
        char old = *at;
        struct isa_object *object;

        if (old < '0' || old > '9')
            continue;
        *at = (char)('0' + (old - '0' + 1 + (int)((at - start) % 7)) % 10);
        object = link_modules(texts);
        assert_int_equal(object->debug->unit_count, MODULES);
        assert_string_not_equal(variable_of(object, 1, "counter"), variable_of(object, 0, "counter"));
        dropped += notes.size != 0;
        isa_object_destroy(object);
        *at = old;
    }
    assert_true(dropped > 5);
    for (unsigned i = 0; i < MODULES; i++)
        free(texts[i]);
}

static void a_section_of_nonsense_leaves_a_note(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_75, debug\n.address_size 64\n"
        ".visible .entry k() { ret; }\n"
        ".section .debug_info { .b32 nonsense! }\n.section .debug_abbrev { .b8 1 }\n";
    struct isa_object *object = translate(text, sizeof text - 1);

    (void)state;
    assert_null(object->debug);
    assert_non_null(strstr(notes.text, "t.ptx: debug information is dropped"));
    isa_object_destroy(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locals_of_clang_lie_in_local_memory),
        cmocka_unit_test(registers_of_nvcc_have_location_lists),
        cmocka_unit_test(dynamic_shared_memory_is_where_its_kernel_has_it),
        cmocka_unit_test(variables_that_are_spilled_lie_in_local_memory),
        cmocka_unit_test(bit_fields_count_from_the_low_end),
        cmocka_unit_test(types_that_nothing_needs_are_left_out),
        cmocka_unit_test(code_of_no_line_after_a_label_is_the_next_lines),
        cmocka_unit_test(code_of_no_line_before_and_after_a_label_has_two_lines),
        cmocka_unit_test(debug_labels_do_not_change_lines),
        cmocka_unit_test(scopes_are_sets_of_words),
        cmocka_unit_test(lines_that_only_jump_have_an_instruction_for_debuggers),
        cmocka_unit_test(the_first_statement_ends_the_prologue),
        cmocka_unit_test(an_object_keeps_its_debug_information),
        cmocka_unit_test(inlined_calls_of_lines_are_scopes),
        cmocka_unit_test(broken_sections_are_dropped),
        cmocka_unit_test(a_section_of_nonsense_leaves_a_note),
        cmocka_unit_test(each_linked_module_has_the_entries_that_it_has_alone),
        cmocka_unit_test(a_linked_module_has_its_own_variables),
        cmocka_unit_test(an_invalid_unit_is_refused),
        cmocka_unit_test(a_damaged_module_does_not_cost_the_others_their_entries),
        cmocka_unit_test(broken_sections_of_a_module_leave_the_others),
    };
    int failed;

    lw_buffer_init(&notes);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    lw_buffer_fini(&notes);
    return failed;
}
