/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the detection of compressible values (docs/reference/statistics.md): common bytes, similar bits, and base with
 * deltas. Expected values are the published vectors. Also compares the memory blocks and bank conflicts that are derived
 * from affine addresses with those computed from the address of each lane. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "emu/tags/emu_tag_measure_priv.h"

enum { W = 32 };

static void expect(const uint32_t *row, uint64_t lanes, unsigned common, unsigned similar,
                   unsigned bytes, unsigned banks)
{
    struct emu_detected d;

    emu_detect(row, lanes, W, &d);
    assert_int_equal(d.common, common);
    assert_int_equal(d.similar, similar);
    assert_int_equal(d.bytes, bytes);
    assert_int_equal(d.banks, banks);
}

static void the_published_rows_compress_as_published(void **state)
{
    uint32_t seven[W], near[W], thousand[W], floats[W], signs[W];

    (void)state;
    for (unsigned l = 0; l < W; l++) {
        seven[l] = 7;
        near[l] = 0x12345600 + l;
        thousand[l] = 1000 * l;
        floats[l] = 0x3f800000 + l % 2;
        signs[l] = l % 2 ? 0 - l : l;
    }
    expect(seven, UINT32_MAX, 4, 32, 4, 1);
    expect(near, UINT32_MAX, 3, 27, 4 + 32, 3);
    expect(thousand, UINT32_MAX, 2, 17, 4 + 64, 5);
    expect(floats, UINT32_MAX, 3, 31, 4 + 32, 3);
    expect(signs, UINT32_MAX, 0, 0, 4 + 32, 3);
}

static void lanes_that_take_no_part_are_not_looked_at(void **state)
{
    uint32_t row[W];

    (void)state;
    for (unsigned l = 0; l < W; l++)
        row[l] = l < 4 ? 5 : 0x9e3779b9 * l;
    expect(row, 0x0f, 4, 32, 4, 1);
    expect(row, 0x1e, 0, 1, 4 + 128, 9); /* lane 4 has 0x78dde6e4 */
    for (unsigned l = 0; l < W; l++)
        expect(row, UINT64_C(1) << l, 4, 32, 4, 1);
}

static void zeros_and_nans_are_compared_as_bits(void **state)
{
    uint32_t zeros[W] = {0}, nans[W];

    (void)state;
    zeros[9] = 0x80000000;
    for (unsigned l = 0; l < W; l++)
        nans[l] = 0x7fc00000 + (l == 30);
    expect(zeros, UINT32_MAX, 0, 0, 4 + 128, 9);
    expect(nans, UINT32_MAX, 3, 31, 4 + 32, 3);
}

static void deltas_take_the_narrowest_signed_bytes(void **state)
{
    static const struct {
        int64_t delta;
        unsigned bytes;
    } edge[] = {{127, 1}, {128, 2}, {-128, 1}, {-129, 2}, {32767, 2}, {32768, 4}, {-32768, 2},
                {-32769, 4}, {INT32_MAX, 4}, {INT32_MIN, 4}};

    (void)state;
    for (unsigned i = 0; i < sizeof edge / sizeof *edge; i++) {
        uint32_t row[W] = {0};
        struct emu_detected d;
        row[17] = (uint32_t)edge[i].delta;
        emu_detect(row, UINT32_MAX, W, &d);
        assert_int_equal(d.delta, edge[i].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_rows_compress_as_published),
        cmocka_unit_test(lanes_that_take_no_part_are_not_looked_at),
        cmocka_unit_test(zeros_and_nans_are_compared_as_bits),
        cmocka_unit_test(deltas_take_the_narrowest_signed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
