/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how translation time grows with the size of the text. A text of four times the size may take about four times as
 * long, or sixteen times if loops are nested or a loop has many exits. The test includes code shapes whose translation time
 * was once cubic. The test measures CPU time and takes the minimum of three translations. Slow builds (LW_SLOW) translate once.
 * The test fails without a reason only if, in three consecutive measurements, the host is much slower during the translation of
 * one size than during the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "ptx/ptx.h"

static const char head[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 m)\n"
    "{\n.reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [out];\n"
    "ld.param.u32 %r9, [m];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd2;\nmov.u32 %r2, 0;\nld.global.u32 %r4, [%rd1];\n";
static const char tail[] = "st.global.u32 [%rd1], %r2;\nret;\n}\n";
/* A branch side that is too large for if-conversion. */
#define ARM "add.u32 %%r2, %%r2, 9;\nst.global.u32 [%%rd1], %%r2;\nld.volatile.global.u32 %%r4, [%%rd1];\n"

static void nested_ifs(struct lw_sink *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "setp.gt.u32 %%p1, %%r4, %u;\n@%%p1 bra L%u;\n" ARM, i, i);
    for (unsigned i = n; i-- > 0;)
        lw_printf(s, ARM "L%u:\n", i);
}

static void nested_ifs_with_else(struct lw_sink *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "setp.gt.u32 %%p1, %%r4, %u;\n@%%p1 bra L%u;\n" ARM, i, i);
    for (unsigned i = n; i-- > 0;)
        lw_printf(s, ARM "bra.uni M%u;\nL%u:\n" ARM "M%u:\n", i, i, i);
}

static void loops(struct lw_sink *s, unsigned n, const char *bound)
{
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "L%u:\nadd.u32 %%r2, %%r2, %u;\nld.global.u32 %%r4, [%%rd1];\n", i, i + 1);
    for (unsigned i = n; i-- > 0;)
        lw_printf(s, "setp.gt.u32 %%p1, %s, %u;\n@%%p1 bra L%u;\n", bound, i, i);
}

static void nested_divergent_loops(struct lw_sink *s, unsigned n)
{
    loops(s, n, "%r4");
}

static void nested_uniform_loops(struct lw_sink *s, unsigned n)
{
    loops(s, n, "%r9");
}

/* Each iteration of each loop may be the last one of all loops. */
static void exits_from_nested_loops(struct lw_sink *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "L%u:\nadd.u32 %%r2, %%r2, %u;\nld.global.u32 %%r4, [%%rd1];\n"
                     "setp.gt.u32 %%p2, %%r4, %u;\n@%%p2 bra OUT;\n", i, i + 1, 100 + i);
    for (unsigned i = n; i-- > 0;)
        lw_printf(s, "setp.gt.u32 %%p1, %%r4, %u;\n@%%p1 bra L%u;\n", i, i);
    lw_put(s, "OUT:\nadd.u32 %r2, %r2, 5;\n");
}

static void branches_to_one_label(struct lw_sink *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "setp.gt.u32 %%p1, %%r4, %u;\n@%%p1 bra L;\n" ARM, i);
    lw_put(s, "L:\nadd.u32 %r2, %r2, 5;\n");
}

static void breaks_out_of_one_loop(struct lw_sink *s, unsigned n)
{
    lw_put(s, "B:\n");
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "setp.gt.u32 %%p1, %%r4, %u;\n@%%p1 bra L;\n" ARM, i);
    lw_put(s, "setp.lt.u32 %p1, %r2, 1000;\n@%p1 bra B;\nL:\n");
}

static void cases_of_a_switch(struct lw_sink *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "setp.eq.u32 %%p1, %%r4, %u;\n@%%p1 bra L%u;\n", i, i);
    lw_put(s, "bra.uni E;\n");
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "L%u:\nadd.u32 %%r2, %%r2, %u;\nst.global.u32 [%%rd1], %%r2;\nbra.uni E;\n", i, i);
    lw_put(s, "E:\n");
}

static void ifs_in_a_row(struct lw_sink *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "setp.gt.u32 %%p1, %%r4, %u;\n@%%p1 bra L%u;\n" ARM ARM "L%u:\n", i, i, i);
}

static void one_straight_line(struct lw_sink *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        lw_put(s, "mad.lo.u32 %r2, %r2, %r4, %r9;\nxor.b32 %r4, %r4, %r2;\n");
}

/* Writes kernels in addition to the kernel that the head begins and the tail ends. The variables of each kernel have the same
 * names. */
static void kernels_in_a_file(struct lw_sink *s, unsigned n)
{
    lw_put(s, "ret;\n}\n");
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, ".visible .entry k%u(.param .u64 out)\n{\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\n"
                     ".shared .u32 tile[4];\nmov.u32 %%r1, %%tid.x;\nst.shared.u32 [tile], %%r1;\n"
                     "ld.param.u64 %%rd1, [out];\nld.shared.u32 %%r2, [tile+4];\n"
                     "st.global.u32 [%%rd1], %%r2;\nret;\n}\n", i);
    lw_put(s, ".visible .entry last(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
              "ld.param.u64 %rd1, [out];\nmov.u32 %r2, 1;\n");
}

static double seconds_of(void (*shape)(struct lw_sink *, unsigned), unsigned n)
{
    struct lw_buffer text;
    double least = 1e9;

    lw_buffer_init(&text);
    lw_put(&text.sink, head);
    shape(&text.sink, n);
    lw_put(&text.sink, tail);
    for (unsigned i = 0; i < (getenv("LW_SLOW") != NULL ? 1 : 3); i++) {
        struct isa_object *object = NULL;
        struct timespec from, to;
        struct lw_error err;
        double took;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        if (ptx_translate("growth.ptx", text.text, text.size, NULL, &object, &err) != LW_OK)
            fail_msg("%s", err.text);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        isa_object_destroy(object);
        took = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
        least = took < least ? took : least;
    }
    lw_buffer_fini(&text);
    return least;
}

static void check_growth(const char *name, void (*shape)(struct lw_sink *, unsigned), unsigned n,
                         double limit)
{
    double ratio = 0;

    for (unsigned attempt = 0; attempt < 3; attempt++) {
        double small = seconds_of(shape, n), large = seconds_of(shape, 4 * n);

        ratio = large / small;
        print_message("%s: %u in %.1f ms, %u in %.1f ms: %.1f times as long\n", name, n, small * 1e3,
                      4 * n, large * 1e3, ratio);
        if (ratio < limit)
            return;
    }
    fail_msg("%s: four times as much takes %.1f times as long", name, ratio);
}

#define GROWS(shape, n, limit)                                                                \
    static void time_of_##shape(void **state)                                                 \
    {                                                                                         \
        (void)state;                                                                          \
        check_growth(#shape, shape, n, limit);                                                \
    }
/* The last argument is the permitted ratio of times. Cubic growth has ratio 64, quadratic growth 16. */
GROWS(kernels_in_a_file, 2000, 8)
GROWS(nested_ifs, 1000, 9)
GROWS(nested_ifs_with_else, 1000, 9)
GROWS(nested_divergent_loops, 400, 25)
GROWS(exits_from_nested_loops, 125, 40) /* the limit is above 16, because the small text fits into a cache of the host; on a
                                         * busy host the ratio reaches 27 */
GROWS(nested_uniform_loops, 400, 50) /* the time ratio reaches 42 on a busy host; the ratio of executed host instructions is 10 */
GROWS(branches_to_one_label, 3000, 9)
GROWS(breaks_out_of_one_loop, 1500, 25)
GROWS(cases_of_a_switch, 2000, 9)
GROWS(ifs_in_a_row, 2000, 9)
GROWS(one_straight_line, 10000, 9)

static void more_loops_in_each_other_than_there_is_memory_for_are_refused(void **state)
{
    struct lw_buffer text = { 0 };
    struct isa_object *object = NULL;
    struct lw_error err = { 0 };

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, head);
    nested_uniform_loops(&text.sink, 2001);
    lw_put(&text.sink, tail);
    assert_int_equal(ptx_translate("growth.ptx", text.text, text.size, NULL, &object, &err),
                     LW_EUNSUPP);
    /* The message must name the line of the innermost loop, which is nested too deeply. */
    const char *location = strstr(err.text, "growth.ptx:");

    assert_non_null(location);
    assert_true(atoi(location + strlen("growth.ptx:")) > 1000);
    assert_non_null(strstr(err.text, "more than 2000 nested loops are not supported"));
    lw_buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_of_kernels_in_a_file),
        cmocka_unit_test(time_of_nested_ifs),
        cmocka_unit_test(time_of_nested_ifs_with_else),
        cmocka_unit_test(time_of_nested_divergent_loops),
        cmocka_unit_test(time_of_nested_uniform_loops),
        cmocka_unit_test(time_of_exits_from_nested_loops),
        cmocka_unit_test(time_of_branches_to_one_label),
        cmocka_unit_test(time_of_breaks_out_of_one_loop),
        cmocka_unit_test(time_of_cases_of_a_switch),
        cmocka_unit_test(time_of_ifs_in_a_row),
        cmocka_unit_test(time_of_one_straight_line),
        cmocka_unit_test(more_loops_in_each_other_than_there_is_memory_for_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
