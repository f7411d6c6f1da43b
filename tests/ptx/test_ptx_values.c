/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the values of variables in optimised code: the conversion of clang's debug values to notes in the PTX, and of notes to
 * locations. Notes must not change any instruction. tests/debug/prop_values.c compares the values with those of -O0.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define COMPILER_SOURCE "values.cl"
#include "tests/lib/compiler_fixture.h"

#include "ptx/compiler/ptx_compile_priv.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const clangs[] = {"clang-14", "clang-15", "clang-16", "clang-19"};

static const char opencl[] = "struct pair { int a, b; };\n"
                             "static int square(int x)\n"
                             "{\n"
                             "    int product = x * x;\n"
                             "    return product;\n"
                             "}\n"
                             "kernel void k(global int *out, global const int *in, int n)\n"
                             "{\n"
                             "    int gid = get_global_id(0);\n"
                             "    int total = 0;\n"
                             "    for (int i = 0; i < n; i++) {\n"
                             "        int v = in[gid * n + i];\n"
                             "        struct pair p = {v * n, v ^ n};\n"
                             "        total += square(v) + (p.a ^ p.b);\n"
                             "    }\n"
                             "    out[gid] = total + square(total) + square(gid);\n"
                             "}\n";

static void put_source(const struct fixture *f, const char *text)
{
    assert_int_equal(lw_file_write(f->source, text, strlen(text), NULL), LW_OK);
}

static char *compiled(const char *path, const char *clang, const char *const *flags, size_t count, size_t *size)
{
    struct lw_error err;
    char *ptx = NULL;

    if (ptx_compile(path, flags, count, clang, &ptx, size, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    return ptx;
}

static struct isa_object *translated(const char *text, size_t size, bool keep)
{
    struct isa_object *object = NULL;
    struct ptx_options options;
    struct lw_error err;

    ptx_options_default(&options);
    options.from_source = true;
    options.keep_values = keep;
    if (ptx_translate("values.cl", text, size, &options, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(isa_object_check(object, &err), LW_OK);
    return object;
}

static void assert_same_text(const struct isa_object *a, const struct isa_object *b)
{
    assert_int_equal(a->text_count, b->text_count);
    assert_memory_equal(a->text, b->text, a->text_count * sizeof *a->text);
}

/* Returns the number of locations of the first variable of this name in the object, or 0 if it has none. */
static unsigned locations_of(const struct isa_object *object, const char *name)
{
    for (uint32_t i = 0; object->debug != NULL && i < object->debug->die_count; i++) {
        const struct isa_attr *location = isa_die_attr(object->debug, i, ISA_AT_LOCATION);
        const char *have = isa_die_name(object->debug, i);

        if (location != NULL && have != NULL && strcmp(have, name) == 0)
            return location->count;
    }
    return 0;
}

static void each_clang_gives_values_and_the_same_instructions(void **state)
{
    static const char *const levels[] = {"-O1", "-O2", "-Os", "-O3"};
    const struct fixture *f = *state;
    unsigned seen = 0;

    put_source(f, opencl);
    for (size_t c = 0; c < LW_COUNT_OF(clangs); c++) {
        for (size_t l = 0; installed(clangs[c]) && l < LW_COUNT_OF(levels); l++) {
            size_t size;
            char *ptx = compiled(f->source, clangs[c], &levels[l], 1, &size), *at = ptx;
            struct isa_object *with = translated(ptx, size, false), *kept = translated(ptx, size, true), *without;

            assert_null(strstr(ptx, "DEBUG_VALUE"));
            assert_non_null(strstr(ptx, "//lw.value total 10 - () 0"));
            assert_non_null(strstr(ptx, "//lw.value x 2 16:24 () %r"));
            while ((at = strstr(at, "//lw.value")) != NULL)
                at[2] = 'n';
            without = translated(ptx, size, false);
            assert_same_text(with, without);
            assert_true(kept->text_count <= with->text_count + with->text_count / 20);
            assert_true(locations_of(with, "total") != 0);
            assert_true(locations_of(with, "v") != 0);
            assert_true(locations_of(with, "gid") != 0);
            assert_int_equal(locations_of(without, "total"), 0);
            isa_object_destroy(with);
            isa_object_destroy(kept);
            isa_object_destroy(without);
            free(ptx);
            seen++;
        }
    }
    assert_true(seen != 0);
}

static void without_optimisation_or_debug_information_there_are_no_values(void **state)
{
    static const char *const flags[] = {"-O0", "-cl-opt-disable", "-g0"};
    const struct fixture *f = *state;

    put_source(f, opencl);
    for (size_t i = 0; i < LW_COUNT_OF(flags); i++) {
        size_t size;
        char *ptx = compiled(f->source, NULL, &flags[i], 1, &size);

        assert_null(strstr(ptx, "//lw.value"));
        free(ptx);
    }
}

static void pieces_of_a_structure_are_one_expression(void **state)
{
    const struct fixture *f = *state;
    bool found = false;
    size_t size;
    char *ptx;
    struct isa_object *object;

    put_source(f, opencl);
    ptx = compiled(f->source, NULL, NULL, 0, &size);
    object = translated(ptx, size, true);
    for (uint32_t i = 0; i < object->debug->location_count; i++) {
        const struct isa_var_location *location = &object->debug->locations[i];
        struct isa_piece piece = {0};
        uint32_t at = 0, pieces = 0, bytes = 0;

        if (location->kind != ISA_LOCATION_EXPRESSION)
            continue;
        while (isa_expression_next(object->debug->expressions + location->value, location->variable, &at, NULL, &piece)) {
            pieces++;
            bytes += piece.bytes;
        }
        assert_int_equal(at, location->variable);
        found |= pieces == 2 && bytes == 8; /* p */
    }
    assert_true(found);
    isa_object_destroy(object);
    free(ptx);
}

static void a_dump_becomes_notes_in_registers_of_the_ptx(void **state)
{
    static const char dump[] = "# *** IR Dump After Insert fentry calls (fentry-insert) ***:\n"
                               "# Machine code for function f: NoPHIs\n"
                               "bb.0 (%ir-block.0):\n"
                               "  %7:int32regs = LD_i32 0, debug-location !1; k.cl:1:1\n"
                               "  DBG_VALUE %7:int32regs, $noreg, !\"a\", !DIExpression(), debug-location !1; k.cl:0 line no:3\n"
                               "  DBG_VALUE %9:float32regs, $noreg, !\"b\", !DIExpression(), debug-location !1; k.cl:0 line no:4\n"
                               "  DBG_VALUE %7:int32regs, $noreg, !221, !DIExpression(), debug-location !1; k.cl:0 line no:4\n"
                               "  %20:int32regs = ADDi32rr %7:int32regs, %7:int32regs\n"
                               "  %21:int64regs = IMPLICIT_DEF\n"
                               "  DBG_VALUE %20:int32regs, $noreg, !\"c\", !DIExpression(DW_OP_plus_uconst, 1, DW_OP_stack_value), "
                               "debug-location !9; k.cl:0 @[ k.h:8:3 @[ k.cl:13:24 ] ] line no:2\n"
                               "  DBG_VALUE float 1.500000e+00, $noreg, !\"d\", !DIExpression(), debug-location !1; k.cl:0 line no:5\n"
                               "  DBG_VALUE_LIST !\"e\", !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_mul), %20:int32regs, "
                               "%7:int32regs, debug-location !1; k.cl:0 line no:6\n"
                               "# End machine code for function f.\n\n";
    static const char text[] = ".entry f(\n)\n{\n\t.reg .b32 \t%r<9>;\n\tld.param.u32 \t%r3, [p];   // comment\n"
                               "\t//DEBUG_VALUE: f:a <- %7\n\t//DEBUG_VALUE: f:b <- %9\n\t//DEBUG_VALUE: f: <- %7\n"
                               "\tadd.s32 \t%r5, %r3, %r3;\n\t//DEBUG_VALUE: g:c <- [DW_OP_plus_uconst 1] %20\n"
                               "\t//DEBUG_VALUE: f:d <- 1.5\n\t//DEBUG_VALUE: f:e <- !DIArgList\n}\n";
    size_t size = strlen(text);
    char *ptx = strdup(text);

    (void)state;
    ptx_values_annotate(&ptx, &size, dump, strlen(dump), NULL);
    assert_string_equal(ptx, ".entry f(\n)\n{\n\t.reg .b32 \t%r<9>;\n\tld.param.u32 \t%r3, [p];\n"
                             "\t//lw.value a 3 - () %r3\n\t//lw.value b 4 - () none\n\n"
                             "\tadd.s32 \t%r5, %r3, %r3;\n"
                             "\t//lw.value c 2 8:3,13:24 (DW_OP_plus_uconst, 1, DW_OP_stack_value) %r5\n"
                             "\t//lw.value d 5 - () 0f3FC00000\n"
                             "\t//lw.value e 6 - (DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_mul) %r5 %r3\n}\n");
    free(ptx);
    /* The PTX has one register more than the dump, so no note is written. */
    ptx = strdup(".entry f(\n)\n{\n\tadd.s32 \t%r5, %r3, %r4;\n\t//DEBUG_VALUE: f:a <- %7\n}\n");
    size = strlen(ptx);
    ptx_values_annotate(&ptx, &size, dump, strlen(dump), NULL);
    assert_null(strstr(ptx, "lw.value"));
    free(ptx);
}

static void a_location_gets_the_inlined_calls_of_its_instruction(void **state)
{
    static const char dump[] = "# *** IR Dump After Insert fentry calls (fentry-insert) ***:\n"
                               "# Machine code for function f: NoPHIs\n"
                               "bb.0 (%ir-block.0):\n"
                               "  successors: %bb.1\n\n"
                               "  %1:int32regs = ADDi32ri %0:int32regs, 1, debug-location !1; k.cl:4:9 @[ k.h:13:13 @[ k.cl:24:18 ] ]\n"
                               "  %2:int32regs = ADDi32ri %1:int32regs, 1, debug-location !2; k.cl:4:9 @[ k.cl:24:32 ]\n"
                               "  DBG_VALUE %2:int32regs, $noreg, !\"a\", !DIExpression(), debug-location !3; k.cl:0 line no:3\n"
                               "  %3:int32regs = LD_i32 0, debug-location !4 :: (load (s32) from %ir.7, addrspace 1); k.cl:24:9\n"
                               "  %4:int32regs = ADDi32ri %3:int32regs, 1\n"
                               "  %5:int32regs = ADDi32ri %4:int32regs, 1, debug-location !4; k.cl:24:9\n\n"
                               "bb.1 (%ir-block.1):\n"
                               "  %6:int32regs = ADDi32ri %5:int32regs, 1, debug-location !2; k.cl:4:9 @[ k.cl:24:32 ]\n"
                               "# End machine code for function f.\n\n";
    static const char text[] = ".entry f(\n)\n{\n\t.loc\t1 2 0    // k.cl:2:0\n// %bb.0:\n"
                               "\t.loc\t1 4 9\n\tadd.s32 \t%r2, %r1, 1;\n"
                               "\t.loc\t1 4 9 // k.cl:4:9\n\tadd.s32 \t%r3, %r2, 1;\n\t//DEBUG_VALUE: f:a <- %2\n"
                               "\t.loc\t1 24 9\n\tld.u32 \t%r4, [p];\n\t.loc\t1 0 9\n\tadd.s32 \t%r5, %r4, 1;\n"
                               "\t.loc\t1 24 9\n\tadd.s32 \t%r6, %r5, 1;\n\t.loc\t1 4 9\n$L__BB0_1: // %loop\n"
                               "\t.loc\t1 4 9\n\tadd.s32 \t%r7, %r6, 1;\n}\n";
    size_t size = strlen(text);
    char *ptx = strdup(text);

    (void)state;
    ptx_values_annotate(&ptx, &size, dump, strlen(dump), NULL);
    assert_string_equal(ptx, ".entry f(\n)\n{\n\t.loc\t1 2 0\n\n"
                             "\t.loc\t1 4 9 //lw.calls 13:13,24:18\n\tadd.s32 \t%r2, %r1, 1;\n"
                             "\t.loc\t1 4 9 //lw.calls 24:32\n\tadd.s32 \t%r3, %r2, 1;\n\t//lw.value a 3 - () %r3\n"
                             "\t.loc\t1 24 9 //lw.calls -\n\tld.u32 \t%r4, [p];\n\t.loc\t1 0 9\n\tadd.s32 \t%r5, %r4, 1;\n"
                             "\t.loc\t1 24 9 //lw.calls -\n\tadd.s32 \t%r6, %r5, 1;\n\t.loc\t1 4 9\n$L__BB0_1:\n"
                             "\t.loc\t1 4 9 //lw.calls 24:32\n\tadd.s32 \t%r7, %r6, 1;\n}\n");
    free(ptx);
}

static struct ptx_assigned *read_source(const struct fixture *f, const char *text, struct ptx_sources *sources)
{
    static const char *const argv[] = {"clang", NULL};

    put_source(f, text);
    ptx_sources_read(sources, f->source, argv);
    return ptx_sources_prepare(sources, &sources->files[0]);
}

static void the_preprocessor_is_needed_for_directives_and_macros_of_the_command_line(void **state)
{
    static const struct {
        const char *text, *options[3];
        bool preprocessed;
    } cases[] = {
        {"f(int n) { n = 5; }", {"clang"}, true},
        {"#define G 1\nf(int n) { n = G; }", {"clang"}, false},
        {"// #define G 1\nf(int n) { /* # */ n = G; }", {"clang"}, true},
        {"%:define G 1\nf(int n) { n = G; }", {"clang"}, false},
        {"f(int n) { n = G; }", {"clang", "-DG=1"}, false},
        {"f(int n) { n = G; }", {"clang", "-D", "G(x)=1"}, false},
        {"f(int n) { n = Gg; }", {"clang", "-DG=1"}, true},
        {"f(int n) { n = G; }", {"clang", "-include", "g.h"}, false},
        {"f(int n) { n = G; }", {"clang", "--define-macro=G=1"}, false},
        {"f(int n) { n = G; }", {"clang", "-includeg.h"}, false},
        {"f(int n) { n = G; }", {"clang", "-Wp,-DG=1"}, false},
        {"f(int n) { n\\\n = G; }", {"clang"}, false},
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        const char *const argv[] = {cases[i].options[0], cases[i].options[1], cases[i].options[2], NULL};
        struct ptx_sources sources;

        put_source(f, cases[i].text);
        ptx_sources_read(&sources, f->source, argv);
        if (ptx_sources_are_preprocessed(&sources, argv) != cases[i].preprocessed)
            fail_msg("%s", cases[i].text);
        ptx_sources_free(&sources);
    }
}

static void preprocessed_text_has_the_lines_of_the_source(void **state)
{
    /* In @output, clang's preprocessor has written "%s" as the path of the source. @found is the text, or NULL if statements may
     * be on other lines than in debug information. */
    static const struct {
        const char *text, *output, *found;
    } cases[] = {
        {"#define G(x) x++\nf(int n) { G(n); }\n", "# 1 \"%s\"\n# 1 \"<built-in>\" 1\nint built;\n# 1 \"%s\" 2\n\nf(int n) { n++; }\n",
         "\nf(int n) { n++; } "},
        {"#pragma unroll\n#if 0\nn = 3;\n#else\nn = 4;\n#endif\n", "# 1 \"%s\"\n#pragma unroll\n\n\n\nn = 4;\n", "\n\n\n\nn = 4; "},
        {"G(n,\n  4);\nn = 2;\n", "# 1 \"%s\"\nn = 4;\n\nn = 2;\n", "n = 4; \n\nn = 2; "},
        {"G(n,\n  4); m = 3;\nn = 2;\n", "# 1 \"%s\"\nn = 4; m = 3;\n\nn = 2;\n", NULL},
        {"G(n,\n  g(4,\n    5), m = 3)\nn = 2;\n", "# 1 \"%s\"\nn = g(4, 5);\n\n\nn = 2;\n", NULL},
        {"n = 3 \\\n + 1; m = 3;\n", "# 1 \"%s\"\nn = 3 + 1; m = 3;\n\n", NULL},
        {"G(n,\n  4) && m <= 4;\nn = 2;\n", "# 1 \"%s\"\nn = 4 && m <= 4;\n\nn = 2;\n", "n = 4 && m <= 4; \n\nn = 2; "},
        {"G(n,\n  4) && m++;\nn = 2;\n", "# 1 \"%s\"\nn = 4 && m++;\n\nn = 2;\n", NULL},
        {"G(n,\n  4) && m <<= 4;\n", "# 1 \"%s\"\nn = 4 && m <<= 4;\n\n", NULL},
        {"G(n,\n  4); return;\n", "# 1 \"%s\"\nn = 4; return;\n\n", NULL},
        {"n = 5; /*\n*/ m = 6;\n", "# 1 \"%s\"\nn = 5; m = 6;\n\n", NULL},
        {"G\n(n, 5); m = 3;\n", "# 1 \"%s\"\nn = 5; m = 3;\n\n", NULL},
        {"/* *\\\n/ m = 3;\n", "# 1 \"%s\"\nm = 3;\n\n", NULL},
        {"/\\\n* */ m = 3;\n", "# 1 \"%s\"\nm = 3;\n\n", NULL},
        {"if (m) \\\n  return;\n", "# 1 \"%s\"\nif (m) return;\n\n", NULL},
        {"if (m && \\\n  n == 3) {\n  n = 4; }\n", "# 1 \"%s\"\nif (m && n == 3) {\n\n  n = 4; }\n", "if (m && n == 3) { \n\n  n = 4; } "},
        {"#line 7 \"%s\"\nn = 4;\n", "# 1 \"%s\"\n# 7 \"%s\"\nn = 4;\n", "\n\n\n\n\n\nn = 4; "},
        {"#line 7 \"%s\"\n#define G(x) 4\nn = G(\n1); m = 2;\n", "# 1 \"%s\"\n# 8 \"%s\"\nn = 4; m = 2;\n", NULL},
        {"# 7 \"%s\"\nn = 4;\n", "# 1 \"%s\"\n# 7 \"%s\"\nn = 4;\n", "\n\n\n\n\n\nn = 4; "},
        {"# 7 \"%s\"\n#define G 4\nn = G;\n", "# 1 \"%s\"\n# 8 \"%s\"\nn = 4;\n", NULL},
        {"n = 4;\n", "# 7 \"%s\"\nn = 4;\n# 3 \"%s\"\nn = 2;\n", NULL},
        {"#line 16777215 \"%s\"\nn = 4;\n", "# 1 \"%s\"\n# 16777215 \"%s\"\nn = 4;\n", NULL},
    };
    static const char *const argv[] = {"clang", NULL};
    const struct fixture *f = *state;

    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct ptx_assigned *source;
        struct ptx_sources sources;
        struct lw_buffer output;

        put_source(f, cases[i].text);
        ptx_sources_read(&sources, f->source, argv);
        lw_buffer_init(&output);
        for (const char *p = cases[i].output; *p != '\0'; p++) {
            const bool is_path = p[0] == '%' && p[1] == 's';

            lw_printf(&output.sink, is_path ? "%s" : "%.1s", is_path ? f->source : p);
            p += is_path;
        }
        ptx_sources_preprocessed(&sources, argv, output.text, output.size);
        source = ptx_sources_find(&sources, "values.cl", 9);
        assert_non_null(source);
        if (cases[i].found == NULL ? source->size != 0
                                   : source->size != strlen(cases[i].found) || memcmp(source->text, cases[i].found, source->size) != 0)
            fail_msg("%s: %.*s", cases[i].text, (int)source->size, source->text);
        lw_buffer_fini(&output);
        ptx_sources_free(&sources);
    }
}

static void a_text_in_memory_has_the_values_of_a_file(void **state)
{
    static const char *const levels[] = {"-O3"}, changed[] = "#define ADD(x, y) x += y\n";
    const struct fixture *f = *state;

    for (unsigned macros = 0; macros < 2; macros++) {
        char text[sizeof opencl + sizeof changed], *of_file, *of_text = NULL;
        unsigned values[2] = {0, 0};
        struct lw_error err;
        size_t size;

        snprintf(text, sizeof text, "%s%s", macros ? changed : "", opencl);
        put_source(f, text);
        of_file = compiled(f->source, NULL, levels, 1, &size);
        if (ptx_compile_text("kernels/k.cl", text, strlen(text), levels, 1, NULL, &of_text, &size, NULL, &err) != LW_OK)
            fail_msg("%s", err.text);
        for (const char *p = of_file; (p = strstr(p, "lw.value total 1")) != NULL; p++)
            values[0] += strncmp(p + 16, "0 - () %", 8) == 0 || strncmp(p + 16, "1 - () %", 8) == 0;
        for (const char *p = of_text; (p = strstr(p, "lw.value total 1")) != NULL; p++)
            values[1] += strncmp(p + 16, "0 - () %", 8) == 0 || strncmp(p + 16, "1 - () %", 8) == 0;
        assert_true(values[0] != 0);
        assert_int_equal(values[1], values[0]);
        free(of_file);
        free(of_text);
    }
}

static void each_file_of_a_source_has_its_own_text(void **state)
{
    static const char *const argv[] = {"clang", NULL};
    const struct fixture *f = *state;
    static const char function[] = "int g(int n)\n{\n    n = 4;\n}\n";
    char header[sizeof f->source + 16], output[1000];
    struct ptx_sources sources;
    struct lw_buffer lines;

    snprintf(header, sizeof header, "%s.h", f->source);
    assert_int_equal(lw_file_write(header, function, strlen(function), NULL), LW_OK);
    put_source(f, "#include \"values.cl.h\"\nint f(int n)\n{\n}\n");
    ptx_sources_read(&sources, f->source, argv);
    snprintf(output, sizeof output, "# 1 \"%s\"\n# 1 \"%s\" 1\nint g(int n)\n{\n    n = 4;\n}\n# 2 \"%s\" 2\nint f(int n)\n{\n}\n", f->source,
             header, f->source);
    ptx_sources_preprocessed(&sources, argv, output, strlen(output));
    assert_true(ptx_is_never_assigned(ptx_sources_find(&sources, f->source, strlen(f->source)), "n", 1));
    assert_false(ptx_is_never_assigned(ptx_sources_find(&sources, "values.cl.h", 11), "n", 1));
    lw_buffer_init(&lines);
    assert_true(ptx_assigned_lines(ptx_sources_find(&sources, "values.cl.h", 11), "n", 1, 1, &lines.sink));
    assert_string_equal(lines.text, "4,2,2,4,3:4:2");
    lw_buffer_fini(&lines);
    assert_null(ptx_sources_find(&sources, "alues.cl.h", 10));
    assert_null(ptx_sources_find(&sources, "other.h", 7));
    assert_false(ptx_sources_are_single(&sources, &sources.files[0], 1, "g", 1)); /* the header has this name on this line */
    assert_true(ptx_sources_are_single(&sources, &sources.files[0], 2, "g", 1));
    ptx_sources_free(&sources);
    /* A header in a function makes the function's text unknown, since the header may assign. */
    put_source(f, "int f(int n)\n{\n#include \"values.cl.h\"\n}\n");
    ptx_sources_read(&sources, f->source, argv);
    snprintf(output, sizeof output, "# 1 \"%s\"\nint f(int n)\n{\n# 1 \"%s\" 1\n    n = 4;\n# 4 \"%s\" 2\n}\n", f->source, header, f->source);
    ptx_sources_preprocessed(&sources, argv, output, strlen(output));
    assert_int_equal(ptx_sources_find(&sources, f->source, strlen(f->source))->size, 0);
    ptx_sources_free(&sources);
    unlink(header);
}

static void a_source_that_cannot_be_preprocessed_gives_no_value(void **state)
{
    static const char dump[] = "# Machine code for function f: A\nbb.0:\n"
                               "  %2:int32regs = ADDi32rr %1:int32regs, 1\n"
                               "  DBG_VALUE %2:int32regs, $noreg, !\"a\", !DIExpression(), debug-location !7; values.cl:0 line no:2\n"
                               "# End machine code for function f.\n";
    static const char text[] = ".entry f(\n)\n{\n\tadd.s32 \t%r2, %r1, 1;\n\t//DEBUG_VALUE: f:a <- %2\n}\n";
    static const char *const argv[] = {"clang", NULL};
    const struct fixture *f = *state;

    for (unsigned failed = 0; failed < 2; failed++) {
        size_t size = strlen(text);
        char *ptx = strdup(text);
        struct ptx_sources sources;

        put_source(f, "void f(int n) {\n int a = n + 1;\n n++; }\n");
        ptx_sources_read(&sources, f->source, argv);
        if (failed)
            ptx_sources_preprocessed(&sources, argv, NULL, 0);
        ptx_values_annotate(&ptx, &size, dump, strlen(dump), &sources);
        if ((strstr(ptx, "//lw.value a 2 - () %r2") == NULL) != failed || (strstr(ptx, "//lw.value a 2 - () none") != NULL) != failed ||
            strstr(ptx, "//lw.value n 1 - () none") == NULL)
            fail_msg("%u: %s", failed, ptx);
        free(ptx);
        ptx_sources_free(&sources);
    }
}

static void a_name_is_assigned_where_its_text_may_do_so(void **state)
{
    static const struct {
        const char *text;
        bool never;
    } cases[] = {
        {"f(int n) { return n == 5 && n + 1; }", true},   {"f(int n) { n = 5; }", false},
        {"f(int n) { n += 5; }", false},                  {"f(int n) { n <<= 5; }", false},
        {"f(int n) { a[n] = 5; }", true},                 {"f(int n) { n[a] = 5; }", true},
        {"f(int n) { --n; }", false},                     {"f(int n) { n ++; }", false},
        {"f(int n) { g(&n); }", false},                   {"f(int n) { m & n; }", true},
        {"f(int n) { return &n; }", false},               {"f(int n) { g((int *)&n); }", false},
        {"f(int n) { m[1] & n; }", true},                 {"f(int n) { m = &n; }", false},
        {"f(int n) { m && n; }", true},                   {"f(int n) { g(n, 3); }", true},
        {"f(int n) { asm(\"\" : \"=r\"(n)); }", false},   {"f(int4 n) { n.x = 5; }", false},
        {"f(int4 n) { m = n.x; }", true},                 {"f(int n) { (n) = 5; }", false},
        {"f(int n) { m.n = n; q->n++; }", true},          {"f(int n) { m.n = 5; n = 3; }", false},
        {"f(int n) { n /* */ = 5; }", false},             {"f(int n) { /* *\n/ n = 5; */ }", true},             {"f(int nn) { nn = 5; }", false},
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct ptx_sources sources;

        if (ptx_is_never_assigned(read_source(f, cases[i].text, &sources), "n", 1) != cases[i].never)
            fail_msg("%s", cases[i].text);
        ptx_sources_free(&sources);
    }
}

/* Writes the lines that assign to `n`, declared on line @declared, to @out. Returns false if they are not known. */
static bool find_lines(const struct fixture *f, const char *text, unsigned declared, bool is_cpp, struct lw_buffer *out)
{
    struct ptx_sources sources;
    struct ptx_assigned *source = read_source(f, text, &sources);
    bool known;

    lw_buffer_init(out);
    source->has_references = is_cpp;
    known = ptx_assigned_lines(source, "n", 1, declared, &out->sink);
    ptx_sources_free(&sources);
    return known;
}

static void lines_that_assign_are_found_with_scopes_and_loops(void **state)
{
    static const struct {
        const char *text;
        unsigned declared;
        const char *expected;
    } cases[] = {
        {"void f(void)\n{\n    int n = 1;\n    g(n);\n}\n", 3, "5,1,2,5,3:5:2"},
        {"void f(int n)\n{\n    n += 2;\n    if (n)\n        n++;\n}\n", 1, "6,2,2,6,3:6:2,5:5:4"},
        {"void f(void)\n{\n    for (int n = 0; n < 4; n++) {\n        g(n);\n    }\n}\n", 3, "5,2,2,6,3:0,+1,<4,-3:5"},
        {"void f(void)\n{\n    for (uint n = 0; n <= 4u; n += 2) {\n        g(n);\n    }\n}\n", 3, "5,2,2,6,3:0,+2,<5,-3:5"},
        {"void f(void)\n{\n    for (int n = 4; n > 0; n--) {\n        g(n);\n    }\n}\n", 3, "5,2,2,6,3:0,+-1,-3:5"},
        {"void f(void)\n{\n    for (int n = 0; n < m; n++) {\n        g(n < 3);\n    }\n}\n", 3, "5,2,2,6,3:0,+1,-3:5"},
        {"void f(void)\n{\n    int n;\n    for (n = 0; n < 4; n++)\n        g(n);\n    for (n = 0; n < 5; n++)\n        g(n);\n}\n", 3,
         "8,2,2,8,4:0,6:0,+1,-4:5,-6:7"},
        {"void f(int n)\n{\n    if (n)\n        n++;\n    n += 1;\n    n = 4;\n}\n", 1, "7,2,2,7,4:4:3,5:7:2,6:7:2,+1"},
        {"void f(void)\n{\n    int n = m;\n    n -= 3;\n    n = m;\n}\n", 3, "6,2,2,6,3:6:2,4:6:2,5:6:2"},
        {"void f(void)\n{\n    int n = m;\n    n -= 3u;\n    g(n -= 3 + m);\n}\n", 3, "6,2,2,6,3:6:2,4:6:2,5:6:2"},
        {"void f(void)\n{\n    int n;\n    g(h(1), &n);\n    if (m)\n        g(1, &n);\n}\n", 3, "7,2,2,7,4:7:2,&4,6:0,&5,&6"},
        {"void f(void)\n{\n    int n;\n    x = m && g(&n);\n    x = m ? g(&n) : 0;\n    each(m) n = 1;\n}\n", 3, "7,2,2,7,4:0,&4,5:0,&5,6:0"},
        {"void f(void)\n{\n    int m, n = 1;\n    m = n = 2;\n    do n++; while (n < 3);\n}\n", 3, "6,2,2,6,3:6:2,4:6:2,5:0,+1,-5:5:4,-5:5"},
        {"extern \"C\" {\nvoid f(void)\n{\n    int n = m;\n}\n}\n", 4, "5,1,3,5,4:5:3"},
        {"void f(void)\n{\n    int n = m;\n    q.n = n;\n    q->n = 4;\n}\n", 3, "6,1,2,6,3:6:2"},
        {"namespace a {\nnamespace {\nvoid f(void)\n{\n    int n = m;\n}\n}\n}\n", 5, "6,1,4,6,5:6:4"},
        {"void f(void)\n{\n    int n; /* for (n = 1;;) */\n    if (m) // n--;\n        n = '//' + 1'0;\n    // continues \\\n    n = 3;\n}\n", 3,
         "8,2,2,8,5:5:4"},
        {"void f(void)\n{\n    int n = m;\n    --n;\n}\n", 3, "5,2,2,5,3:5:2,4:5:2,+-1"},
        {"void f(void)\n{\n    do {\n        int n = 1;\n        n--;\n    } while (g());\n}\n", 4, "5,0,2,7,4:6:3,5:6:3,+-1"},
        {"void f(void)\n{\n    int n = a +\n        b;\n    while (n < 3)\n        n++;\n}\n", 3, "7,2,2,7,3:0,4:7:2,6:6:5,~,+1,-5:6"},
        {"void f(void)\n{\n    int n = 1; /* } */\n    { n = '}'; }\n}\n", 3, "5,2,2,5,3:5:2,4:4:4"},
        {"void f(void)\n{\n    if (a) {\n        int n[2] = {1, 2};\n        n[1] = 3;\n    }\n}\n", 4, "6,2,2,7,4:6:3,5:6:3,.5"},
        {"void f(void)\n{\n    int n;\n    switch (a) {\n    case 1: n = 1; break;\n    default: g(); n = 2;\n    }\n}\n", 3, "8,2,2,8,5:0,6:0"},
        {"void f(void)\n{\n    int m = 1, n = 2;\n    f(m,\n      n);\n}\n", 3, "6,1,2,6,3:6:2"},
        {"void f(void)\n{\n    int *n = p;\n    n[1] = 2;\n}\n", 3, "5,1,2,5,3:5:2"},
        {"void f(void)\n{\n    int n = m;\n    if (m) {\n        int n = 2;\n        n++;\n    }\n    n = 3;\n}\n", 3, "9,2,2,9,3:9:2,8:9:2"},
        {"void f(void)\n{\n    int n = m;\n    for (int n = 2; n < 3; n++) {\n        n++;\n    }\n    g(n);\n}\n", 3, "8,1,2,8,3:8:2,-4:6"},
        {"void f(void)\n{\n    int n = m;\n    {\n        for (int n = 2; n < 3; n++)\n            g(n);\n        n = 5;\n    }\n}\n", 3,
         "9,2,2,9,3:9:2,5:0,7:8:4,+1,<3,-5:6"},
        {"void f(void)\n{\n    int n = m;\n    while (m) {\n        int n = 2;\n    }\n    do n++; while (n);\n    n = 2;\n}\n", 3,
         "9,2,2,9,3:9:2,7:0,8:9:2,+1,-4:6,-7:7:4,-7:7"},
        {"void f(int n)\n{\n    if (m) { n = 1; } else { n = 2;\n    }\n}\n", 1, "5,2,2,5,3:3:3"},
        {"void f(int n)\n{\n    if (m) {\n        n = 1;\n    } else if (q) {\n        g();\n    } else {\n        h();\n    }\n}\n", 1, "10,2,2,10,4:5:3:9"},
        {"void f(int n)\n{\n    {\n        struct n s;\n        n = 5;\n    }\n}\n", 1, "7,2,2,7,5:6:3"},
        {"void f(int n)\n{\n    do { int t = n; n = m; m = t; } while (0);\n    do { if (m) n = m; } while (0);\n}\n", 1,
         "5,2,2,5,3:5:2,4:0,-3:3:4,-3:3,-4:4:2,-4:4"},
        {"void f(void)\n{\n    int n = m & 3;\n    n = (int)((q) >> 2);\n    n += q;\n}\n", 3, "6,2,2,6,3:6:2,4:6:2,5:6:2,~"},
        {"void f(void)\n{\n    int n = g(m & 3);\n}\n", 3, "4,1,2,4,3:4:2"},
        {"void f(void)\n{\n    int n = m & 3;\n    n = -m;\n}\n", 3, "5,2,2,5,3:5:2,4:5:2"},
        {"void f(void)\n{\n    int n = m && q, p = m & 1;\n}\n", 3, "4,1,2,4,3:4:2"},
        {"void f(void)\n{\n    int n = p->m[q + 1];\n}\n", 3, "4,1,2,4,3:4:2"},
        {"void f(int m)\n{\n}\n", 1, NULL},
        {"void f(void)\n{\n    int n = 1;\n", 3, "0,1,2,0,3:0"},
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct lw_buffer out;

        assert_int_equal(find_lines(f, cases[i].text, cases[i].declared, false, &out), cases[i].expected != NULL);
        if (cases[i].expected != NULL && strcmp(out.text, cases[i].expected) != 0)
            fail_msg("%s: %s instead of %s", cases[i].text, out.text, cases[i].expected);
        lw_buffer_fini(&out);
    }
}

static void lines_are_unknown_if_another_name_is_bound_to_the_variable(void **state)
{
    static const struct {
        const char *text;
        bool known;
    } cases[] = {
        {"void f(int n)\n{\n    m &= n;\n    m = n & q;\n    m = &q == n;\n    n = 2;\n}\n", true},
        {"void f(int n)\n{\n    int &m = n;\n    m = 2;\n}\n", false},
        {"void f(int n)\n{\n    auto &&m = q ? n : p;\n}\n", false},
        {"void f(int n)\n{\n    vec<int> & m = n;\n}\n", false},
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct lw_buffer out;

        if (find_lines(f, cases[i].text, 1, true, &out) != cases[i].known)
            fail_msg("%s", cases[i].text);
        lw_buffer_fini(&out);
    }
}

static void messages_of_the_compiler_are_apart_from_its_dump(void **state)
{
    char output[] = "k.cl:1: warning: unused\n# *** IR Dump After X ***:\n# Machine code for function f: A\nbb.0:\n"
                    "# End machine code for function f.\n\n1 warning generated.\n";
    size_t size, dump_size;
    char *dump;

    (void)state;
    size = ptx_values_split(output, strlen(output), &dump, &dump_size);
    assert_int_equal(size, strlen("k.cl:1: warning: unused\n1 warning generated.\n"));
    assert_memory_equal(output, "k.cl:1: warning: unused\n1 warning generated.\n", size);
    assert_memory_equal(dump, "# *** IR Dump", 13);
    free(dump);
}

/* Wrong notes in a text must be ignored, and must have no other effect. */
static void hostile_notes_change_no_instruction(void **state)
{
    static const char *const junk[] = {
        "total 10 - () %r999999999", "total 10 - (DW_OP_LLVM_fragment, 7, 9) %r1", "total 10 - (DW_OP_div, DW_OP_div) 0",
        "total 10 - (DW_OP_LLVM_fragment, 0, 18446744073709551615) %r1", "total 10 -", "total", "", "total 10 - () ",
        "total 10 - (DW_OP_LLVM_arg, 9) %r1 %r1 %r1 %r1 %r1", "total 10 - (DW_OP_constu, 0, DW_OP_mod, DW_OP_stack_value) %r1",
        "total 10 - (DW_OP_LLVM_convert, 0, DW_ATE_signed) %r1", "total 10 - (DW_OP_plus_uconst, 99999999999999999999) %r1",
        "total 10 - (DW_OP_deref) frame", "v 12 - (DW_OP_LLVM_fragment, 2040, 16) 7", "v 12 - (DW_OP_plus, DW_OP_plus, DW_OP_plus) %r1",
        "total 10 = 18,0,8,18,10:18,-9:12", "total 10 = ", "total 10 = 4294967295,1,4294967295,0,99999999999:1,-:,:,-5:", "= = =",
        "total 10 = 0,0,0,0,:5,5:,-9", "n 7 - () %p1", "n 7 - () none", "gid 9 - (((((((", "gid 9 99:99,99:99 () 5", "total 10 - () 0f3F8",
    };
    const struct fixture *f = *state;
    struct isa_object *plain;
    uint64_t seed = 1;
    size_t size;
    char *ptx;

    put_source(f, opencl);
    ptx = compiled(f->source, NULL, NULL, 0, &size);
    plain = translated(ptx, size, false);
    for (unsigned round = 0; round < 60; round++) {
        struct lw_buffer text;
        struct isa_object *object;

        lw_buffer_init(&text);
        for (const char *line = ptx; *line != '\0';) {
            const char *end = strchrnul(line, '\n');

            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            if (strstr(line, "//lw.value") != NULL && strstr(line, "//lw.value") < end && seed >> 62 != 0)
                lw_printf(&text.sink, "\t//lw.value %s\n", junk[(seed >> 33) % LW_COUNT_OF(junk)]);
            else
                lw_printf(&text.sink, "%.*s\n", (int)(end - line), line);
            line = end + (*end != '\0');
        }
        object = translated(text.text, text.size, round % 2 == 1);
        if (round % 2 == 0)
            assert_same_text(plain, object);
        isa_object_destroy(object);
        lw_buffer_fini(&text);
    }
    isa_object_destroy(plain);
    free(ptx);
}

static void a_parameter_has_no_value_where_notes_are_too_many_to_follow(void **state)
{
    const struct fixture *f = *state;
    struct lw_buffer text;
    struct isa_object *object;
    const char *body;
    size_t size;
    char *ptx;

    put_source(f, "kernel void k(global int *out, int n)\n"
                  "{\n"
                  "    n = n * 5 + 1;\n"
                  "    out[0] = n;\n"
                  "}\n");
    ptx = compiled(f->source, NULL, NULL, 0, &size);
    object = translated(ptx, size, false);
    assert_true(locations_of(object, "n") > 1); /* the first location is the launch's parameter, the second one a register */
    isa_object_destroy(object);
    body = strchr(strstr(ptx, ".entry"), '{') + 1;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%.*s", (int)(body - ptx), ptx);
    for (unsigned i = 0; i < 500000; i++)
        lw_printf(&text.sink, "\n//lw.value m 1 - () 0");
    lw_printf(&text.sink, "%s", body);
    object = translated(text.text, text.size, false);
    assert_non_null(object->debug);
    assert_int_equal(locations_of(object, "n"), 0);
    assert_int_equal(locations_of(object, "out"), 0);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
    free(ptx);
}

static void words_of_a_dump_are_one_write(void **state)
{
    static const unsigned char object[] = {
#include "ptx/compiler/clang_words.inc"
    };
    static const char *const said[] = {"a", "# ", "*** IR Dump After x", "b", "c", "\n# End machine code for function k", "d", "e",
                                       "*** IR Dump After y", "f"};
    static const char *const expected[] = {"a", "# ", "*** IR Dump After xbc", "\n# End machine code for function k", "d", "e",
                                           "*** IR Dump After yf"};
    char path[32], message[256];
    int fd = memfd_create("words", 0), pair[2], status = 1;
    pid_t pid;

    (void)state;
    assert_int_equal(write(fd, object, sizeof object), sizeof object);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0); /* each write to such a socket is one message */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    pid = fork();
    if (pid == 0) {
        void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        ssize_t (*put)(int, const void *, size_t) = NULL;

        if (loaded != NULL)
            *(void **)&put = dlsym(loaded, "write");
        dup2(pair[1], STDERR_FILENO);
        for (size_t i = 0; i < LW_COUNT_OF(said) && put != NULL; i++)
            if (put(STDERR_FILENO, said[i], strlen(said[i])) != (ssize_t)strlen(said[i]))
                _exit(1);
        if (loaded != NULL)
            dlclose(loaded); /* runs the destructor, as the end of a program does */
        _exit(put == NULL);
    }
    close(pair[1]);
    for (size_t i = 0; i < LW_COUNT_OF(expected); i++) {
        const ssize_t got = recv(pair[0], message, sizeof message - 1, 0);

        message[got > 0 ? got : 0] = '\0';
        assert_string_equal(message, expected[i]);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(pair[0]);
    close(fd);
}

static bool read_counter(void *context, uint64_t address, void *out, unsigned bytes)
{
    uint8_t raw[8];

    (void)context;
    lw_put64(raw, address & 0xffff);
    memcpy(out, raw, bytes);
    return address != 0xbad;
}

static bool find_frame(void *context, uint64_t *address)
{
    (void)context;
    *address = 0x1000;
    return true;
}

static void expressions_have_pieces_in_memory_values_and_gaps(void **state)
{
    const struct isa_expression_reader reader = {read_counter, find_frame, NULL};
    static const uint8_t ops[] = {ISA_OP_ADDR, 4, 3, 0, 0, 0, 0, 0, 0, ISA_OP_PIECE, 4, ISA_OP_PIECE, 2,
                                  ISA_OP_ADDR, 7, 0, 0, 0, 0, 0, 0, 0, ISA_OP_DEREF_SIZE, 4, ISA_OP_PLUS_UCONST, 5,
                                  ISA_OP_STACK_VALUE, ISA_OP_PIECE, 4, ISA_OP_FBREG, 0x70, ISA_OP_PIECE, 8};
    static const uint8_t bad_address[] = {ISA_OP_ADDR, 0xad, 0x0b, 0, 0, 0, 0, 0, 0, ISA_OP_DEREF_SIZE, 4, ISA_OP_STACK_VALUE};
    static const uint8_t by_zero[] = {ISA_OP_CONSTU, 8, ISA_OP_CONSTU, 0, ISA_OP_DIV, ISA_OP_STACK_VALUE};
    struct isa_piece piece = {0};
    uint32_t at = 0;

    (void)state;
    assert_true(isa_expression_next(ops, sizeof ops, &at, &reader, &piece));
    assert_int_equal(piece.kind, ISA_PIECE_MEMORY);
    assert_int_equal(piece.value, 0x304);
    assert_true(isa_expression_next(ops, sizeof ops, &at, &reader, &piece));
    assert_int_equal(piece.kind, ISA_PIECE_MISSING);
    assert_int_equal(piece.offset, 4);
    assert_true(isa_expression_next(ops, sizeof ops, &at, &reader, &piece));
    assert_int_equal(piece.kind, ISA_PIECE_VALUE);
    assert_int_equal(piece.value, 12);
    assert_true(isa_expression_next(ops, sizeof ops, &at, &reader, &piece));
    assert_int_equal(piece.kind, ISA_PIECE_MEMORY);
    assert_true(piece.frame);
    assert_int_equal(piece.value, 0x1000 - 16);
    assert_int_equal(piece.offset, 10);
    assert_false(isa_expression_next(ops, sizeof ops, &at, &reader, &piece));
    at = 0;
    assert_true(isa_expression_next(bad_address, sizeof bad_address, &at, &reader, &piece));
    assert_int_equal(piece.kind, ISA_PIECE_MISSING);
    at = 0;
    assert_true(isa_expression_next(by_zero, sizeof by_zero, &at, &reader, &piece));
    assert_int_equal(piece.kind, ISA_PIECE_MISSING);
    /* For any bytes, the function must return a result or fail, and must never read past the end. */
    for (uint64_t n = 0; n < 20000; n++) {
        uint8_t bytes[24];
        uint64_t seed = n * UINT64_C(0x9e3779b97f4a7c15);

        for (unsigned i = 0; i < sizeof bytes; i++) {
            seed ^= seed >> 29;
            seed *= UINT64_C(0xbf58476d1ce4e5b9);
            bytes[i] = i % 3 == 0 ? ops[seed % sizeof ops] : (uint8_t)(seed >> 40);
        }
        at = 0;
        for (unsigned k = 0; k < 32 && isa_expression_next(bytes, sizeof bytes, &at, &reader, &piece); k++)
            assert_true(at <= sizeof bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_clang_gives_values_and_the_same_instructions, setup, teardown),
        cmocka_unit_test_setup_teardown(without_optimisation_or_debug_information_there_are_no_values, setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_of_a_structure_are_one_expression, setup, teardown),
        cmocka_unit_test(a_dump_becomes_notes_in_registers_of_the_ptx),
        cmocka_unit_test(a_location_gets_the_inlined_calls_of_its_instruction),
        cmocka_unit_test_setup_teardown(a_name_is_assigned_where_its_text_may_do_so, setup, teardown),
        cmocka_unit_test_setup_teardown(the_preprocessor_is_needed_for_directives_and_macros_of_the_command_line, setup, teardown),
        cmocka_unit_test_setup_teardown(preprocessed_text_has_the_lines_of_the_source, setup, teardown),
        cmocka_unit_test_setup_teardown(a_source_that_cannot_be_preprocessed_gives_no_value, setup, teardown),
        cmocka_unit_test_setup_teardown(a_text_in_memory_has_the_values_of_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(each_file_of_a_source_has_its_own_text, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_are_unknown_if_another_name_is_bound_to_the_variable, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_that_assign_are_found_with_scopes_and_loops, setup, teardown),
        cmocka_unit_test(messages_of_the_compiler_are_apart_from_its_dump),
        cmocka_unit_test_setup_teardown(hostile_notes_change_no_instruction, setup, teardown),
        cmocka_unit_test_setup_teardown(a_parameter_has_no_value_where_notes_are_too_many_to_follow, setup, teardown),
        cmocka_unit_test(words_of_a_dump_are_one_write),
        cmocka_unit_test(expressions_have_pieces_in_memory_values_and_gaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
