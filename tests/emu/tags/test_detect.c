/* SPDX-License-Identifier: Apache-2.0 */
/* What values would allow (docs/explanation/uniform-affine.md): common bytes, similar bits, base and deltas; and the
 * blocks and bank passes of affine accesses, against all lanes one by one. Expected values are
 * the published vectors. */
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

/** Blocks lane by lane: the set, ascending. */
static unsigned lane_by_lane(uint64_t base, int64_t stride, uint64_t lanes, unsigned bytes,
                             unsigned block_bytes, uint64_t block[2 * EMU_MAX_LANES])
{
    unsigned count = 0;

    for (LW_EACH_BIT(l, lanes)) {
        uint64_t a = base + (uint64_t)stride * l;
        for (uint64_t at = a / block_bytes; at <= (a + bytes - 1) / block_bytes; at++) {
            unsigned i = 0;
            while (i < count && block[i] < at)
                i++;
            if (i < count && block[i] == at)
                continue;
            for (unsigned k = count; k > i; k--)
                block[k] = block[k - 1];
            block[i] = at;
            count++;
        }
    }
    return count;
}

static void affine_accesses_touch_the_published_blocks(void **state)
{
    static const struct {
        uint64_t base;
        int64_t stride;
        unsigned bytes;
        uint64_t lanes;
        unsigned blocks, sectors;
    } vector[] = {
        {0x1000, 4, 4, UINT32_MAX, 1, 4},     {0x1004, 4, 4, UINT32_MAX, 2, 5},
        {0x1020, 4, 4, UINT32_MAX, 2, 4},     {0x1000, 8, 4, UINT32_MAX, 2, 8},
        {0x1000, 8, 8, UINT32_MAX, 2, 8},     {0x1000, 16, 16, UINT32_MAX, 4, 16},
        {0x1000, 32, 4, UINT32_MAX, 8, 32},   {0x1000, 128, 4, UINT32_MAX, 32, 32},
        {0x1000, 0, 4, UINT32_MAX, 1, 1},     {0x107c, -4, 4, UINT32_MAX, 1, 4},
        {0x1000, 4, 4, 0x55555555, 1, 4},     {0x1000, 4, 4, 0xff, 1, 1},
    };
    uint64_t block[2 * EMU_MAX_LANES];

    (void)state;
    for (unsigned i = 0; i < sizeof vector / sizeof *vector; i++) {
        assert_int_equal(emu_affine_blocks(vector[i].base, vector[i].stride, vector[i].lanes,
                                           vector[i].bytes, 128, block), vector[i].blocks);
        assert_int_equal(emu_affine_blocks(vector[i].base, vector[i].stride, vector[i].lanes,
                                           vector[i].bytes, 32, block), vector[i].sectors);
    }
}

static void affine_blocks_are_those_of_the_lanes(void **state)
{
    static const uint64_t masks[] = {UINT32_MAX, UINT64_MAX, 0x55555555, 0xff, 0xf0f0f000, 1,
                                     0x80000001, 0x8000000100000001, 0};
    static const int64_t strides[] = {0,   1,   2,   3,   4,   5,    8,    12,   16,   31,  32,
                                      33,  60,  64,  100, 124, 128,  129,  132,  200,  256, 1000,
                                      -1,  -4,  -8,  -31, -32, -64,  -100, -128, -130, -4096};
    static const unsigned bytes[] = {1, 2, 4, 8, 16}, blocks[] = {16, 32, 64, 128};
    uint64_t got[2 * EMU_MAX_LANES], want[2 * EMU_MAX_LANES];

    (void)state;
    for (unsigned m = 0; m < sizeof masks / sizeof *masks; m++)
        for (unsigned s = 0; s < sizeof strides / sizeof *strides; s++)
            for (unsigned z = 0; z < 5; z++)
                for (unsigned b = 0; b < 4; b++)
                    for (uint64_t base = 0x100000; base < 0x100000 + 132; base += 3) {
                        unsigned n = emu_affine_blocks(base, strides[s], masks[m], bytes[z],
                                                       blocks[b], got);
                        if (n != lane_by_lane(base, strides[s], masks[m], bytes[z], blocks[b], want))
                            fail_msg("base 0x%" PRIx64 ", stride %d, lanes 0x%" PRIx64
                                     ", %u bytes, blocks of %u: %u", base, (int)strides[s],
                                     masks[m], bytes[z], blocks[b], n);
                        assert_memory_equal(got, want, n * sizeof *got);
                    }
}

static void affine_words_take_the_passes_of_the_fullest_bank(void **state)
{
    (void)state;
    for (int words = -70; words <= 70; words++) {
        unsigned most = 0;
        for (unsigned bank = 0; bank < 32; bank++) { /* different words in it */
            unsigned here = 0;
            for (int l = 0; l < 32; l++) {
                bool seen = false;
                for (int k = 0; k < l; k++)
                    seen |= words * k == words * l;
                here += !seen && ((unsigned)(words * l) & 31) == bank;
            }
            most = here > most ? here : most;
        }
        assert_int_equal(emu_bank_conflict_degree(words), most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_rows_compress_as_published),
        cmocka_unit_test(lanes_that_take_no_part_are_not_looked_at),
        cmocka_unit_test(zeros_and_nans_are_compared_as_bits),
        cmocka_unit_test(deltas_take_the_narrowest_signed_bytes),
        cmocka_unit_test(affine_accesses_touch_the_published_blocks),
        cmocka_unit_test(affine_blocks_are_those_of_the_lanes),
        cmocka_unit_test(affine_words_take_the_passes_of_the_fullest_bank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
