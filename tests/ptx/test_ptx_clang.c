/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the compilation of OpenCL C with every installed clang of a list. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#define COMPILER_SOURCE "k.cl"
#include "tests/lib/compiler_fixture.h"
#include <glob.h>

#include "ptx/ptx.h"

static void put(const char *path, const char *text, mode_t mode)
{
    assert_int_equal(lw_file_write(path, text, strlen(text), NULL), LW_OK);
    assert_int_equal(chmod(path, mode), 0);
}

static char *compile(const struct fixture *f, const char *text, const char *flag,
                     const char *clang)
{
    struct lw_error err = {.text = ""};
    const char *const flags[] = {flag};
    char *ptx = NULL;
    size_t size = 0;

    put(f->source, text, 0600);
    if (ptx_compile_cl(f->source, flags, flag != NULL, clang, &ptx, &size, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(strlen(ptx), size);
    return ptx;
}

static struct lw_error refuse(const struct fixture *f, const char *text, const char *clang,
                              enum lw_status expected)
{
    struct lw_error err = {.text = ""};
    char *ptx = NULL;
    size_t size = 0;

    put(f->source, text, 0600);
    assert_int_equal(ptx_compile_cl(f->source, NULL, 0, clang, &ptx, &size, NULL, &err), expected);
    assert_null(ptx);
    assert_null(strchr(err.text, '\n'));
    return err;
}

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in: %s", part, text);
}

static const char *const versions[] = {"clang-14", "clang-15", "clang-16", "clang-19"};

static const char plain[] = "__kernel void k(__global float *p)\n"
                            "{\n"
                            "    p[get_global_id(0)] += 1;\n"
                            "}\n";

static const char sized[] = "#define SIDE 8\n"
                            "#define BLOCK reqd_work_group_size(SIDE * 2, SIDE, 2u - 1)\n"
                            "kernel __attribute__((BLOCK)) void a(global int *p) { *p = 1; }\n"
                            "kernel void b(global int *p) { *p = 1; }\n"
                            "__attribute__((vec_type_hint(float4), __reqd_work_group_size__(64, 1, 1)))\n"
                            "kernel void c(global int *p) { *p = 1; }\n"
                            "enum { SIZE = 32 };\n"
                            "kernel __attribute__((reqd_work_group_size(SIZE, 1, 1))) void d(global int *p)\n"
                            "{ *p = 1; }\n";

/* Checks the block sizes of the kernels in sized[], which the PTX of clang contains only in its debug information. */
static void expect_blocks(const char *ptx)
{
    static const uint32_t wanted[][4] = {{16, 8, 1, 128}, {0, 0, 0, 0}, {64, 1, 1, 64}, {0, 0, 0, 0}};
    struct isa_object *object = NULL;
    struct ptx_options options;
    struct lw_buffer notes;
    struct lw_error err;

    ptx_options_default(&options);
    lw_buffer_init(&notes);
    options.from_source = true;
    options.notes = &notes.sink;
    if (ptx_translate("k.cl", ptx, strlen(ptx), &options, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(object->function_count, 1 + LW_COUNT_OF(wanted));
    for (unsigned k = 0; k < LW_COUNT_OF(wanted); k++) {
        assert_memory_equal(object->functions[k + 1].required_block, wanted[k], 3 * sizeof wanted[k][0]);
        assert_int_equal(object->functions[k + 1].max_threads, wanted[k][3]);
    }
    expect_text(notes.text, "warning: kernel d: reqd_work_group_size(SIZE, 1, 1) is ignored: write numbers\n");
    isa_object_destroy(object);
    lw_buffer_fini(&notes);
}

static void every_installed_clang_makes_an_entry_with_lines_and_blocks(void **state)
{
    char text[sizeof plain + sizeof sized];
    unsigned found = 0;

    snprintf(text, sizeof text, "%s%s", plain, sized);

    for (size_t i = 0; i < LW_COUNT_OF(versions); i++) {
        char *ptx;

        if (!installed(versions[i]))
            continue;
        found++;
        ptx = compile(*state, text, NULL, versions[i]);
        expect_blocks(ptx);
        expect_text(ptx, ".entry k(");
        expect_text(ptx, ".ptr .global");
        expect_text(ptx, "k.cl\"");
        expect_text(ptx, ".loc\t1 3");
        free(ptx);
    }
    assert_int_not_equal(found, 0);
}

static void global_ids_include_the_offset_and_dimensions_are_known(void **state)
{
    static const char text[] =
        "__kernel void k(__global ulong *p)\n"
        "{\n"
        "    p[0] = get_global_id(0); p[1] = get_global_id(1); p[2] = get_global_id(2);\n"
        "    p[3] = get_work_dim();\n"
        "}\n";

    for (size_t i = 0; i < LW_COUNT_OF(versions); i++) {
        char *ptx;

        if (!installed(versions[i]))
            continue;
        ptx = compile(*state, text, NULL, versions[i]);
        expect_text(ptx, "%envreg3");
        expect_text(ptx, "%envreg4");
        expect_text(ptx, "%envreg5");
        expect_text(ptx, "%envreg6");
        assert_null(strstr(ptx, "call"));
        free(ptx);
    }
}

static void native_functions_of_every_width_become_approximations(void **state)
{
    static const char text[] =
        "__kernel void k(__global float *p, __global float4 *v, __global int8 *i)\n"
        "{\n"
        "    p[0] = native_sin(p[1]) + native_exp(p[2]) + half_log2(p[3]) + rsqrt(p[4]);\n"
        "    v[0] = native_cos(v[1]) + native_powr(v[2], v[3]);\n"
        "    i[0] = mad_hi(i[1], i[2], i[3]);\n"
        "}\n";

    for (size_t i = 0; i < LW_COUNT_OF(versions); i++) {
        char *ptx;

        if (!installed(versions[i]))
            continue;
        ptx = compile(*state, text, NULL, versions[i]);
        expect_text(ptx, "sin.approx.f32");
        expect_text(ptx, "cos.approx.f32");
        expect_text(ptx, "ex2.approx.f32");
        expect_text(ptx, "lg2.approx.f32");
        expect_text(ptx, "rsqrt.approx.f32");
        expect_text(ptx, "mul.hi.s32");
        assert_null(strstr(ptx, "call"));
        assert_null(strstr(ptx, ".extern"));
        free(ptx);
    }
}

static void library_functions_come_from_libclc(void **state)
{
    char *ptx = compile(*state, "__kernel void k(__global float *p) { p[0] = exp(sin(p[1])); }",
                        NULL, NULL);

    assert_null(strstr(ptx, ".extern"));
    expect_text(ptx, "fma.rn.f32");
    free(ptx);
}

static void an_access_through_a_null_pointer_remains(void **state)
{
    static const char text[] = "__kernel void g(__global int *p) { if (p == 0) *p = 7001; }\n"
                               "__kernel void l(int i) { __local int *p = 0; if (i == 5) *p = 7002; }\n"
                               "__kernel void m(int i) { int *p = 0; if (i == 5) *p = 7003; }\n";

    for (size_t i = 0; i < LW_COUNT_OF(versions); i++) {
        char *ptx;

        if (!installed(versions[i]))
            continue;
        ptx = compile(*state, text, i % 2 == 0 ? NULL : "-cl-std=CL2.0", versions[i]);
        expect_text(ptx, "7001");
        expect_text(ptx, "7002");
        expect_text(ptx, "7003");
        free(ptx);
    }
}

static void options_of_the_user_replace_ours(void **state)
{
    char *ptx = compile(*state,
                        "#if __OPENCL_C_VERSION__ != 110\n#error\n#endif\n"
                        "__kernel void k(__global int *p) { p[0] = 1; }",
                        "-cl-std=CL1.1", NULL);

    free(ptx);
    ptx = compile(*state, "__kernel void k(__global int *p) { p[0] = N; }", "-DN=4711", NULL);
    expect_text(ptx, "4711");
    free(ptx);
}

static void an_error_in_the_source_has_its_line_and_the_next_ones(void **state)
{
    const struct fixture *f = *state;
    struct lw_error err = refuse(f, "__kernel void k(__global int *p)\n{\n    p[0] = x;\n"
                                    "    p[1] = y;\n}\n",
                                 NULL, LW_EINPUT);
    char location[128];

    snprintf(location, sizeof location, "%s:3:12: error: ", f->source);
    assert_int_equal(strncmp(err.text, location, strlen(location)), 0);
    expect_text(err.text, "'x'");
    expect_text(err.text, "k.cl:4:12");
}

/* Output of a compiler that is too long for one error message must be printed completely, with the compiler's line breaks. */
static void all_output_of_a_failed_compiler_is_passed_on(void **state)
{
    const struct fixture *f = *state;
    struct lw_buffer words;
    struct lw_error err;
    char *ptx = NULL;
    size_t size = 0;

    lw_buffer_init(&words);
    put(f->source, "__kernel void k(__global int *p)\n{\n    p[0] = a1;\n    p[1] = a2;\n"
                   "    p[2] = a3;\n    p[3] = a4;\n    p[4] = a5;\n    p[5] = last;\n}\n",
        0600);
    assert_int_equal(ptx_compile_cl(f->source, NULL, 0, NULL, &ptx, &size, &words.sink, &err),
                     LW_EINPUT);
    expect_text(err.text, "(and 3 more)");
    assert_null(strstr(err.text, "'last'"));
    expect_text(words.text, "k.cl:8:12: error: ");
    expect_text(words.text, "    p[5] = last;");
    lw_buffer_fini(&words);
}

static void a_flood_of_words_is_cut_and_cannot_command_a_terminal(void **state)
{
    const struct fixture *f = *state;
    struct lw_buffer words;
    struct lw_error err;
    char fake[96], *ptx = NULL;
    size_t size = 0;

    lw_buffer_init(&words);
    snprintf(fake, sizeof fake, "%s/fake", f->root);
    put(fake, "#!/bin/sh\nprintf '\\033[2Jone\\302\\233two\\303\\244\\n'\n"
              "head -c 200000 /dev/zero | tr '\\0' x\nexit 1\n",
        0700);
    put(f->source, plain, 0600);
    assert_int_equal(ptx_compile_cl(f->source, NULL, 0, fake, &ptx, &size, &words.sink, &err),
                     LW_EINPUT);
    assert_int_equal(strncmp(words.text, "\\x1b[2Jone\\xc2\\x9btwo\xc3\xa4\nxxx", 26), 0);
    expect_text(words.text, "xxx\n(the rest of the compiler's output is not shown)\n");
    assert_in_range(words.size, 1 << 16, (1 << 16) + 4096 + 100);
    lw_buffer_fini(&words);
}

static void a_crash_of_the_compiler_is_called_one_and_leaves_nothing(void **state)
{
    const struct fixture *f = *state;
    struct lw_error err = refuse(
        f, "__kernel void k(__global float *p) { p[0] = __builtin_sinf(p[1]); }", NULL, LW_EINPUT);

    expect_text(err.text, "crashed (exit status");
    expect_text(err.text, "error in backend");
    assert_int_equal(entries(f->tmp), 0);
}

static void a_compiler_that_dies_of_a_signal_is_reported(void **state)
{
    const struct fixture *f = *state;
    struct lw_error err;
    char fake[96];

    snprintf(fake, sizeof fake, "%s/fake", f->root);
    put(fake, "#!/bin/sh\nkill -SEGV $$\n", 0700);
    err = refuse(f, plain, fake, LW_EINPUT);
    expect_text(err.text, "fake crashed (signal 11); to use another compiler, give it with --compiler, or in "
                          "the environment variable LANEWISE_CLANG");
    put(fake, "#!/bin/sh\nexit 1\n", 0700);
    err = refuse(f, plain, fake, LW_EINPUT);
    expect_text(err.text, "the library of OpenCL C functions: /");
    expect_text(err.text, "fake failed (exit status 1) without output; to use another compiler, give it");
    put(fake, "#!/bin/sh\nexit 0\n", 0700);
    err = refuse(f, plain, fake, LW_EINPUT);
    expect_text(err.text, "fake succeeded but wrote no output; to use another compiler");
}

static void missing_programs_and_libraries_name_the_packages(void **state)
{
    const struct fixture *f = *state;
    char *path = strdup(getenv("PATH"));
    struct lw_error err;

    setenv("PATH", f->tmp, 1);
    err = refuse(f, plain, NULL, LW_ENOENT);
    setenv("PATH", path, 1);
    free(path);
    expect_text(err.text, "clang-14");
    expect_text(err.text, "libclc-14");
    setenv("LANEWISE_CLANG", "clang-none", 1);
    err = refuse(f, plain, NULL, LW_ENOENT);
    expect_text(err.text, "LANEWISE_CLANG: clang-none");
    unsetenv("LANEWISE_CLANG");
    err = refuse(f, plain, "/usr/bin/gcc-12", LW_EINPUT);
    expect_text(err.text, "/usr/bin/gcc-12: gcc cannot generate PTX: give a clang");
    setenv("LANEWISE_LIBCLC", f->tmp, 1);
    err = refuse(f, plain, NULL, LW_ENOENT);
    unsetenv("LANEWISE_LIBCLC");
    expect_text(err.text, "nvptx64--nvidiacl.bc");
}

static void missing_sources_and_folders_are_refused(void **state)
{
    const struct fixture *f = *state;
    struct lw_error err = {.text = ""};
    char *ptx = NULL;
    size_t size = 0;

    assert_int_equal(ptx_compile_cl("/no/such.cl", NULL, 0, NULL, &ptx, &size, NULL, &err),
                     LW_ENOENT);
    expect_text(err.text, "/no/such.cl");
    assert_int_equal(ptx_compile_cl(f->tmp, NULL, 0, NULL, &ptx, &size, NULL, &err), LW_EINPUT);
    assert_null(ptx);
}

static void the_override_library_remains_and_the_scratch_folder_does_not(void **state)
{
    const struct fixture *f = *state;
    char folder[128];

    free(compile(f, plain, NULL, NULL));
    snprintf(folder, sizeof folder, "%s/lanewise", f->cache);
    assert_int_equal(entries(folder), 3);
    free(compile(f, plain, NULL, NULL));
    assert_int_equal(entries(folder), 3);
    assert_int_equal(entries(f->tmp), 0);
    /* An empty file in the cache, as after a full disk, must be generated again. */
    glob_t found;
    strcat(folder, "/overrides-*.bc");
    assert_int_equal(glob(folder, 0, NULL, &found), 0);
    assert_int_equal(truncate(found.gl_pathv[0], 0), 0);
    globfree(&found);
    free(compile(f, plain, NULL, NULL));
}

static void without_a_cache_folder_it_works_all_the_same(void **state)
{
    const struct fixture *f = *state;

    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    free(compile(f, plain, NULL, NULL));
    assert_int_equal(entries(f->tmp), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_CACHE(name) cmocka_unit_test_setup_teardown(name, setup_cache, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_installed_clang_makes_an_entry_with_lines_and_blocks),
        TEST(global_ids_include_the_offset_and_dimensions_are_known),
        TEST(native_functions_of_every_width_become_approximations),
        TEST(library_functions_come_from_libclc),
        TEST(an_access_through_a_null_pointer_remains),
        TEST(options_of_the_user_replace_ours),
        TEST(an_error_in_the_source_has_its_line_and_the_next_ones),
        TEST(all_output_of_a_failed_compiler_is_passed_on),
        TEST(a_flood_of_words_is_cut_and_cannot_command_a_terminal),
        TEST(a_crash_of_the_compiler_is_called_one_and_leaves_nothing),
        TEST(a_compiler_that_dies_of_a_signal_is_reported),
        TEST(missing_programs_and_libraries_name_the_packages),
        TEST(missing_sources_and_folders_are_refused),
        TEST_CACHE(the_override_library_remains_and_the_scratch_folder_does_not),
        TEST_CACHE(without_a_cache_folder_it_works_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
