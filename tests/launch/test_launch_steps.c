/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the steps of launch files other than launches: steps on the host, checks, and repetitions. */
#include "tests/launch/launch_fixture.h"

static void host_steps_change_buffers(void **state)
{
    struct run r;
    struct lnc_result result;
    uint32_t a[6];
    (void)state;

    result = run_all(&r, PROGRAM
                     "buffers:\n"
                     "  A: {type: u32, count: 6, init: {ramp: {}}}\n"
                     "  B: {type: u32, count: 6}\n"
                     "  small: {type: s32, count: 2, init: -1}\n"
                     "steps:\n"
                     "  - copy: {from: A, to: B}\n"
                     "  - check: {buffer: B, values: [0, 1, 2, 3, 4, 5]}\n"
                     "  - copy: {from: A, from_index: 1, to: A, to_index: 2, count: 4}\n"
                     "  - check: {buffer: A, values: [0, 1, 1, 2, 3, 4]}\n"
                     "  - fill: {buffer: B, value: 9, index: 4}\n"
                     "  - fill: {buffer: B, value: [7, 8], index: 1, count: 2}\n"
                     "  - check: {buffer: B, values: [0, 7, 8, 3, 9, 9]}\n"
                     "  - swap: [A, B]\n"
                     "  - check: {buffer: A, values: [0, 7, 8, 3, 9, 9]}\n"
                     "  - copy: {from: small, to: B}\n"
                     "  - check: {buffer: B, values: [0xffffffff, 4294967295, 1, 2, 3, 4]}\n"
                     "  - check: {buffer: A, index: 4, constant: 9}\n"
                     "  - check: {buffer: A, equals: B}\n");
    assert_int_equal(result.checks, 7);
    assert_int_equal(result.failed_checks, 1);
    assert_int_equal(result.launches, 0);
    assert_string_equal(r.out.text, "l.yaml:19: check failed: A[0] is 0, expected 4294967295; 6 "
                                    "of 6 elements differ\n");
    read_buffer(&r, "A", a, sizeof a);
    assert_int_equal(a[1], 7);
    close_run(&r);
}

static void tolerances_are_absolute_and_relative(void **state)
{
    struct run r;
    struct lnc_result result;
    (void)state;

    result = run_all(&r, PROGRAM
                     "buffers:\n"
                     "  A: {type: f32, init: [1.0, 100.0, .nan, .inf, -0.0]}\n"
                     "  I: {type: s64, init: [9007199254740993, -5]}\n"
                     "steps:\n"
                     "  - check: {buffer: A, values: [1.0, 100.0, .nan, .inf, 0.0]}\n"
                     "  - check: {buffer: A, values: [1.001, 100.1, .nan, .inf, 0], tolerance: 0.0011}\n"
                     "  - check: {buffer: A, values: [1.0, 100.5], tolerance: {relative: 0.01}}\n"
                     "  - check: {buffer: A, values: [1.5, 100.5], tolerance: {absolute: 0.5}}\n"
                     "  - check: {buffer: I, values: [9007199254740993, -5]}\n"
                     "  - check: {buffer: I, values: [9007199254740994, -4], tolerance: {absolute: 1}}\n"
                     /* all checks below must fail */
                     "  - check: {buffer: A, values: [1.5, 100.5], tolerance: {relative: 0.01}}\n"
                     "  - check: {buffer: A, values: [1.0, 100.0, 1.0], tolerance: 1e9}\n"
                     "  - check: {buffer: A, values: [1.0, 100.0, .nan, 1.0], tolerance: 1e9}\n"
                     "  - check: {buffer: A, values: [.nan], tolerance: 1e9}\n"
                     "  - check: {buffer: I, values: [9007199254740992]}\n"
                     "  - check: {buffer: I, values: [9007199254740995], tolerance: {absolute: 1}}\n");
    assert_int_equal(result.checks, 12);
    assert_int_equal(result.failed_checks, 6);
    assert_non_null(strstr(r.out.text, "l.yaml:12: check failed: A[0] is 1, expected 1.5; 1 of 2 "
                                       "elements differ by more than 0 + 0.01 * |expected|\n"));
    assert_non_null(strstr(r.out.text, "A[2] is nan, expected 1; 1 of 3"));
    close_run(&r);
}

static void halves_are_compared_as_numbers(void **state)
{
    struct lnc_result result;
    struct run r;
    (void)state;

    result = run_all(&r, PROGRAM
                     "buffers:\n"
                     "  A: {type: f16, init: [1.0, 1000, .nan, -.inf, -0.0]}\n"
                     "  B: {type: f16, count: 5}\n"
                     "steps:\n"
                     "  - copy: {from: A, to: B}\n"
                     "  - check: {buffer: B, values: [1.0, 1000, .nan, -.inf, 0]}\n"
                     "  - check: {buffer: B, values: [1.001, 1001], tolerance: 1e-3}\n"
                     "  - check: {buffer: B, index: 1, count: 1, constant: 1002, tolerance: 1e-3}\n"
                     "  - fill: {buffer: B, index: 0, count: 1, value: 0.1}\n"
                     "  - check: {buffer: B, values: [0.1]}\n"
                     "  - repeat: {until: {buffer: B, index: 0, equals: 0.1, max: 2}, steps: [fill: {buffer: A, value: 2.5}]}\n"
                     "  - check: {buffer: A, constant: 2.51}\n");
    assert_int_equal(result.checks, 5);
    assert_int_equal(result.failed_checks, 2);
    assert_string_equal(r.out.text,
                        "l.yaml:9: check failed: B[1] is 1000, expected 1002; 1 of 1 elements differ "
                        "by more than 0.001 + 0.001 * |expected|\n"
                        "l.yaml:13: check failed: A[0] is 2.5, expected 2.5098; 5 of 5 elements differ\n");
    close_run(&r);
}

static void an_expected_file_must_be_whole(void **state)
{
    struct emu_config config;
    struct lnc_file *file;
    struct lw_error err;
    (void)state;

    put("short.txt", "1 2 3", 5);
    assert_int_equal(load(PROGRAM "buffers: {A: {type: u8, count: 4}}\nsteps:\n"
                                  "  - check: {buffer: A, file: short.txt}\n",
                          &file, &config, &err),
                     LW_EINPUT);
    assert_string_equal(err.text, "l.yaml:4: expected 4 numbers, found 3 in short.txt");
    assert_int_equal(load(PROGRAM "buffers: {A: {type: u8, count: 4}}\nsteps:\n"
                                  "  - check: {buffer: A, count: 3, file: short.txt}\n",
                          &file, &config, &err),
                     LW_OK);
    lnc_file_destroy(file);
}

static void repeats_count_and_nest(void **state)
{
    struct run r;
    struct lnc_result result;
    uint32_t x[2];
    (void)state;

    result = run_all(&r, PROGRAM
                     "buffers: {x: {type: u32, count: 1}, y: {type: u32, count: 1}}\n"
                     "steps:\n"
                     "  - repeat:\n"
                     "      count: 3\n"
                     "      steps:\n"
                     "        - launch: {entry: bump, grid: 1, block: 1, args: [x, {iteration: {start: 10, step: 100}}]}\n"
                     "        - repeat: 4\n"
                     "          steps:\n"
                     "            - launch: {entry: bump, grid: 1, block: 1, args: [y, {iteration: {start: 1, factor: 2}}]}\n");
    assert_int_equal(result.launches, 15);
    read_buffer(&r, "x", &x[0], 4);
    read_buffer(&r, "y", &x[1], 4);
    assert_int_equal(x[0], 10 + 110 + 210);
    assert_int_equal(x[1], 3 * (1 + 2 + 4 + 8));
    close_run(&r);
}

static void until_ends_when_the_element_has_the_value(void **state)
{
    struct run r;
    struct lnc_result result;
    uint32_t x;
    (void)state;

    result = run_all(&r, PROGRAM
                     "buffers: {x: {type: u32, count: 2}}\n"
                     "steps:\n"
                     "  - repeat: 100\n"
                     "    until: {buffer: x, index: 0, equals: 21}\n"
                     "    steps: [launch: {entry: bump, grid: 1, block: 1, args: [x, 3]}]\n"
                     "  - check: {buffer: x, values: [21]}\n");
    assert_int_equal(result.launches, 7);
    assert_int_equal(result.failed_checks, 0);
    close_run(&r);
    result = run_all(&r, PROGRAM
                     "buffers: {x: {type: u32, count: 2}}\n"
                     "steps:\n"
                     "  - repeat:\n"
                     "      until: {buffer: x, equals: 20, max: 9}\n"
                     "      steps: [launch: {entry: bump, grid: 1, block: 1, args: [x, 3]}]\n");
    read_buffer(&r, "x", &x, 4);
    assert_int_equal(x, 27);
    assert_int_equal(result.launches, 9);
    assert_int_equal(result.checks, 1);
    assert_int_equal(result.failed_checks, 1);
    assert_string_equal(r.out.text, "l.yaml:4: until failed: x[0] is still 27, expected 20, after "
                                    "9 iterations\n");
    close_run(&r);
}

static void swapped_buffers_reach_the_kernel_swapped(void **state)
{
    struct run r;
    struct lnc_result result;
    (void)state;

    result = run_all(&r, PROGRAM
                     "buffers: {x: {type: u32, count: 1}, y: {type: u32, count: 1}}\n"
                     "steps:\n"
                     "  - repeat:\n"
                     "      count: 3\n"
                     "      steps:\n"
                     "        - launch: {entry: bump, grid: 1, block: 1, args: [x, {iteration: {start: 1, factor: 10}}]}\n"
                     "        - swap: [x, y]\n"
                     "  - check: {buffer: y, constant: 101}\n"
                     "  - check: {buffer: x, constant: 10}\n");
    assert_int_equal(result.checks, 2);
    assert_int_equal(result.failed_checks, 0);
    close_run(&r);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(host_steps_change_buffers),
        T(tolerances_are_absolute_and_relative),
        T(halves_are_compared_as_numbers),
        T(an_expected_file_must_be_whole),
        T(repeats_count_and_nest),
        T(until_ends_when_the_element_has_the_value),
        T(swapped_buffers_reach_the_kernel_swapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
