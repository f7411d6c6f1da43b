/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the accesses that the coalescer makes, and the bank conflicts of shared memory, against published tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/timing/tim_fixture.h"

/** A memory access of a warp, with the arrays that the access points to. */
struct made {
    struct emu_access access;
    uint64_t address[EMU_MAX_LANES];
    uint8_t space[EMU_MAX_LANES];
};

typedef uint64_t (*address_fn)(unsigned lane);

static void make(struct made *m, enum emu_access_kind kind, unsigned bytes, uint64_t lanes,
                 enum isa_space space, uint64_t base, address_fn of)
{
    memset(m, 0, sizeof *m);
    for (unsigned l = 0; l < EMU_MAX_LANES; l++) {
        m->address[l] = base + of(l);
        m->space[l] = (uint8_t)space;
    }
    m->access = (struct emu_access){.space = space, .kind = kind, .bytes = (uint8_t)bytes,
                                    .lanes = lanes, .lane_space = m->space,
                                    .address = m->address};
}

static unsigned sectors_of(const struct tim_line *line)
{
    unsigned n = 0;

    for (unsigned s = 0; s < 8; s++)
        n += (line->mask[s / 2] >> s % 2 * 32 & UINT32_MAX) != 0;
    return n;
}

static uint64_t at_4(unsigned l) { return 4 * l; }
static uint64_t at_4_4(unsigned l) { return 4 + 4 * l; }
static uint64_t at_4_32(unsigned l) { return 32 + 4 * l; }
static uint64_t at_8(unsigned l) { return 8 * l; }
static uint64_t at_12(unsigned l) { return 12 * l; }
static uint64_t at_16(unsigned l) { return 16 * l; }
static uint64_t at_24(unsigned l) { return 24 * l; }
static uint64_t at_32(unsigned l) { return 32 * l; }
static uint64_t at_64(unsigned l) { return 64 * l; }
static uint64_t at_128(unsigned l) { return 128 * l; }
static uint64_t at_132(unsigned l) { return 132 * l; }
static uint64_t at_0(unsigned l) { return 0 * l; }
static uint64_t at_1(unsigned l) { return l; }
static uint64_t at_2(unsigned l) { return 2 * l; }
static uint64_t at_pairs(unsigned l) { return 4 * (l / 2); }
static uint64_t at_down(unsigned l) { return 0x7c - 4 * l; }
static uint64_t at_down_64(unsigned l) { return 4 * (63 - l); }
static uint64_t at_4_rows(unsigned l) { return l % 4 * 128; }
static uint64_t at_17(unsigned l) { return 4 * (17 * l % 64); }
static uint64_t at_5(unsigned l) { return 4 * (5 * l % 64); }
static uint64_t at_swap(unsigned l) { return 4 * (l ^ 1); }
static uint64_t at_random_half(unsigned l) { return 4 * (l * 7 % 16) + l / 16 * 64; }

static void lines_and_sectors_of_a_warp_are_those_of_the_table(void **state)
{
    static const struct {
        uint64_t base;
        address_fn of;
        unsigned bytes;
        uint64_t lanes;
        unsigned lines, sectors;
    } row[] = {
        {0x1000, at_4, 4, UINT32_MAX, 1, 4},    {0x1000, at_4_4, 4, UINT32_MAX, 2, 5},
        {0x1000, at_4_32, 4, UINT32_MAX, 2, 4}, {0x1000, at_8, 4, UINT32_MAX, 2, 8},
        {0x1000, at_8, 8, UINT32_MAX, 2, 8},    {0x1000, at_16, 16, UINT32_MAX, 4, 16},
        {0x1000, at_32, 4, UINT32_MAX, 8, 32},  {0x1000, at_128, 4, UINT32_MAX, 32, 32},
        {0x1000, at_0, 4, UINT32_MAX, 1, 1},    {0x1000, at_down, 4, UINT32_MAX, 1, 4},
        {0x1000, at_4, 4, 0x55555555, 1, 4},    {0x1000, at_4, 4, 0xff, 1, 1},
        {0x1000, at_4, 4, 0, 0, 0},
    };
    struct tim_config config = tim_fix_config();

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(row); i++) {
        struct tim_line line[TIM_LINES_MOST];
        struct made m;
        unsigned sectors = 0, n;
        uint64_t lanes = 0;

        make(&m, EMU_ACCESS_LOAD, row[i].bytes, row[i].lanes, ISA_SPACE_GLOBAL, row[i].base,
             row[i].of);
        n = tim_coalesce(&config, &m.access, 128, 0, line);
        for (unsigned k = 0; k < n; k++) {
            sectors += sectors_of(&line[k]);
            assert_int_equal(line[k].line % 128, 0);
            assert_int_equal(lanes & line[k].lanes, 0);
            lanes |= line[k].lanes;
        }
        if (n != row[i].lines || sectors != row[i].sectors)
            fail_msg("row %zu: %u lines, %u sectors", i, n, sectors);
        assert_int_equal(lanes, row[i].lanes);
    }
}

static void masks_and_lanes_say_which_bytes_of_a_line_each_lane_has(void **state)
{
    struct tim_config config = tim_fix_config();
    struct tim_line line[TIM_LINES_MOST];
    struct made m;

    (void)state;
    make(&m, EMU_ACCESS_LOAD, 4, UINT32_MAX, ISA_SPACE_GLOBAL, 0x1000, at_4_32);
    assert_int_equal(tim_coalesce(&config, &m.access, 128, 0, line), 2);
    assert_int_equal(line[0].line, 0x1000); /* the access reads sectors 1, 2 and 3 */
    assert_int_equal(line[0].mask[0], UINT64_C(0xffffffff00000000));
    assert_int_equal(line[0].mask[1], UINT64_MAX);
    assert_int_equal(line[0].lanes, 0x00ffffff);
    assert_int_equal(line[1].line, 0x1080); /* the access reads sector 0 */
    assert_int_equal(line[1].mask[0], UINT64_C(0xffffffff));
    assert_int_equal(line[1].mask[1], 0);
    assert_int_equal(line[1].lanes, UINT64_C(0xff000000));
    assert_int_equal(tim_coalesce(&config, &m.access, 256, 0, line), 1);
    assert_int_equal(line[0].mask[2], UINT64_C(0xffffffff));
    /* accesses are in the order of their lowest lanes, not in the order of addresses */
    make(&m, EMU_ACCESS_LOAD, 4, UINT32_MAX, ISA_SPACE_GLOBAL, 0x10fc - 0x7c - 64, at_down);
    assert_int_equal(tim_coalesce(&config, &m.access, 128, 0, line), 2);
    assert_int_equal(line[0].line, 0x1080);
    assert_int_equal(line[1].line, 0x1000);
}

/* The constant cache delivers one word in each pass, to all lanes that read this word. Expected values are computed
 * by hand from the addresses. */
static void constants_are_words_in_the_order_of_their_lowest_lanes(void **state)
{
    static const struct {
        address_fn of;
        unsigned bytes;
        uint64_t lanes;
        unsigned words;
    } row[] = {
        {at_0, 4, UINT32_MAX, 1},   {at_4, 4, UINT32_MAX, 32},  {at_4, 4, 0xf0, 4},    {at_4, 4, 0, 0},
        {at_1, 1, UINT32_MAX, 8},   {at_2, 2, UINT32_MAX, 16},  {at_8, 8, UINT32_MAX, 32},
        {at_16, 16, UINT64_MAX, 64}, {at_0, 16, UINT32_MAX, 1}, {at_4_rows, 4, UINT64_MAX, 4},
        {at_pairs, 4, UINT32_MAX, 16}, {at_down, 4, UINT32_MAX, 32},
    };
    struct tim_line line[EMU_MAX_LANES];
    struct made m;

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(row); i++) {
        make(&m, EMU_ACCESS_LOAD, row[i].bytes, row[i].lanes, ISA_SPACE_GLOBAL, 0x1000, row[i].of);
        unsigned n = tim_constant_words(&m.access, 64, line);
        uint64_t all = 0;
        for (unsigned k = 0; k < n; k++) {
            assert_int_equal(all & line[k].lanes, 0);
            assert_true(k == 0 || lw_lowest(line[k].lanes) > lw_lowest(line[k - 1].lanes));
            all |= line[k].lanes;
            for (LW_EACH_BIT(l, line[k].lanes)) {
                assert_int_equal(line[k].line, m.address[l] & ~UINT64_C(63));
                assert_true(line[k].mask[0] >> (m.address[l] & 63) & 1);
            }
            assert_int_equal(lw_popcount(line[k].mask[0]), row[i].bytes < 4 ? 4 : row[i].bytes);
        }
        if (n != row[i].words || all != row[i].lanes)
            fail_msg("row %zu: %u words", i, n);
    }
    /* addresses in two segments, which have one word in common */
    make(&m, EMU_ACCESS_LOAD, 4, 0xff, ISA_SPACE_GLOBAL, 0x1000, at_0);
    m.access.piece_count = 2;
    m.access.piece[0] = (struct emu_event_segment){.lanes = 0x0f, .base = 0x1000, .stride = 4};
    m.access.piece[1] = (struct emu_event_segment){.lanes = 0xf0, .base = 0x1008, .stride = 0};
    assert_int_equal(tim_constant_words(&m.access, 64, line), 4);
    assert_int_equal(line[2].lanes, 0xf4);
}

static void requests_by_warp_width_are_those_of_the_resizing_paper(void **state)
{
    static const struct {
        address_fn of;
        unsigned bytes, requests[4];
    } row[] = {
        {at_4, 4, {8, 4, 4, 4}},         {at_4_32, 4, {8, 8, 6, 5}}, {at_4_4, 4, {12, 8, 6, 5}},
        {at_8, 4, {8, 8, 8, 8}},         {at_64, 4, {64, 64, 64, 64}}, {at_0, 4, {8, 4, 2, 1}},
        {at_1, 1, {8, 4, 2, 1}},         {at_down_64, 4, {8, 4, 4, 4}}, {at_17, 4, {32, 16, 8, 4}},
        {at_5, 4, {24, 16, 8, 4}},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(row); i++)
        for (unsigned k = 0; k < 4; k++) {
            struct tim_config config = tim_fix_config();
            struct tim_line line[TIM_LINES_MOST];
            unsigned width = 8u << k, whole = 0, joined;
            struct made m;

            for (unsigned t = 0; t < 64; t += width) { /* 64 threads in warps of `width` lanes */
                make(&m, EMU_ACCESS_LOAD, row[i].bytes, lw_mask(width) << t, ISA_SPACE_GLOBAL,
                     0x1000, row[i].of);
                whole += tim_coalesce(&config, &m.access, 64, 0, line);
            }
            /* a warp of 64 lanes that coalesces over `width` lanes at a time makes the same number of requests */
            config.lsu_coalesce_lanes = width;
            make(&m, EMU_ACCESS_LOAD, row[i].bytes, UINT64_MAX, ISA_SPACE_GLOBAL, 0x1000,
                 row[i].of);
            joined = tim_coalesce(&config, &m.access, 64, 0, line);
            if (whole != row[i].requests[k] || joined != whole)
                fail_msg("row %zu, width %u: %u, %u", i, width, whole, joined);
        }
}

/** Check the number of transactions and of 32-byte sectors that @rule gives for an access, with lines of 128 bytes. @rule is
 *  a rule of older GPUs. @at is the source line for the message. */
static void expect_older(unsigned rule, enum emu_access_kind kind, unsigned bytes, uint64_t lanes,
                         uint64_t base, address_fn of, unsigned transactions, unsigned sectors,
                         int at)
{
    struct tim_config config = tim_fix_config();
    struct tim_line line[TIM_LINES_MOST];
    struct made m;
    unsigned n, all = 0;

    config.lsu_coalesce = rule;
    make(&m, kind, bytes, lanes, ISA_SPACE_GLOBAL, base, of);
    n = tim_coalesce(&config, &m.access, 128, 0, line);
    for (unsigned k = 0; k < n; k++)
        all += sectors_of(&line[k]);
    if (n != transactions || all != sectors)
        fail_msg("line %d: %u transactions, %u sectors", at, n, all);
}
#define OLDER(...) expect_older(__VA_ARGS__, __LINE__)

/* Compute capability 1.0 and 1.1: rules and figures of the CUDA programming guide. A half-warp is coalesced only if lane k
 * accesses word k of an aligned segment. */
static void first_generation_wants_lane_k_at_word_k(void **state)
{
    (void)state;
    const unsigned rule = TIM_COALESCE_HALF_STRICT;
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_4, 1, 2);       /* one request of 64 bytes */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xfbf7, 0x1000, at_4, 1, 2);       /* some lanes are inactive */
    OLDER(rule, EMU_ACCESS_LOAD, 4, UINT32_MAX, 0x1000, at_4, 2, 4);
    OLDER(rule, EMU_ACCESS_LOAD, 8, 0xffff, 0x1000, at_8, 1, 4);       /* one request of 128 bytes */
    OLDER(rule, EMU_ACCESS_LOAD, 16, 0xffff, 0x1000, at_16, 2, 8);     /* two requests of 128 bytes */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_swap, 16, 16);  /* words of lanes are permuted */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_4_4, 16, 16);   /* addresses are misaligned */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_8, 16, 16);     /* addresses are strided */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_0, 16, 16);     /* all lanes read one word */
    OLDER(rule, EMU_ACCESS_LOAD, 2, 0xffff, 0x1000, at_2, 16, 16);     /* words of 2 bytes are never coalesced */
    OLDER(rule, EMU_ACCESS_STORE, 4, 0xffff, 0x1000, at_4_4, 16, 16);
}

/* Compute capability 1.2 and 1.3: each aligned segment that a half-warp accesses is one request. A segment has 128 bytes, or
 * 64 for 2-byte words, or 32 for bytes. A request shrinks to 64 or 32 bytes if the lanes access only this half or quarter. */
static void second_generation_shrinks_segments(void **state)
{
    (void)state;
    const unsigned rule = TIM_COALESCE_HALF_SEGMENT;
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_4, 1, 2);           /* a segment of 128 bytes shrinks to 64 */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_swap, 1, 2);        /* lanes may access words in any order */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_random_half, 1, 2);
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_4_4, 1, 4);         /* both halves are accessed: no shrinking */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1060, at_4, 2, 2);           /* two requests of 32 bytes */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1044, at_4, 2, 3);           /* a request of 64 bytes and one of 32 */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0x00ff, 0x1000, at_4, 1, 1);           /* a request of 32 bytes */
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_0, 1, 1);
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_8, 1, 4);
    OLDER(rule, EMU_ACCESS_LOAD, 4, 0xffff, 0x1000, at_128, 16, 16);
    OLDER(rule, EMU_ACCESS_LOAD, 1, 0xffff, 0x1000, at_1, 1, 1);
    OLDER(rule, EMU_ACCESS_LOAD, 2, 0xffff, 0x1000, at_2, 1, 1);           /* a segment of 64 bytes shrinks to 32 */
    OLDER(rule, EMU_ACCESS_LOAD, 2, 0xffff, 0x1010, at_2, 1, 2);
    OLDER(rule, EMU_ACCESS_LOAD, 2, 0xffff, 0x1000, at_4, 1, 2);
    OLDER(rule, EMU_ACCESS_LOAD, 1, 0xffff, 0x1000, at_4, 2, 2);           /* segments have 32 bytes */
    OLDER(rule, EMU_ACCESS_LOAD, 16, 0xffff, 0x1000, at_16, 2, 8);
    OLDER(rule, EMU_ACCESS_STORE, 4, 0xffff, 0x1000, at_4_4, 1, 3);
}

static void older_rules_cut_transactions_at_lines_and_stores_keep_to_their_bytes(void **state)
{
    struct tim_config config = tim_fix_config();
    struct tim_line line[TIM_LINES_MOST];
    struct made m;

    (void)state;
    config.lsu_coalesce = TIM_COALESCE_HALF_SEGMENT;
    make(&m, EMU_ACCESS_LOAD, 4, 0x8001, ISA_SPACE_GLOBAL, 0x1000, at_8);
    assert_int_equal(tim_coalesce(&config, &m.access, 32, 0, line), 4);
    assert_int_equal(line[0].lanes, 1);
    assert_int_equal(line[1].lanes, 0); /* a part of the segment that no lane accesses */
    assert_int_equal(line[3].lanes, 0x8000);
    assert_int_equal(line[3].mask[0], UINT32_MAX);
    make(&m, EMU_ACCESS_STORE, 4, 0x8001, ISA_SPACE_GLOBAL, 0x1000, at_8);
    assert_int_equal(tim_coalesce(&config, &m.access, 32, 0, line), 2);
    assert_int_equal(line[1].line, 0x1060);
    assert_int_equal(line[1].mask[0], UINT64_C(0xf) << 24);
}

static void local_memory_lies_in_rows_of_words(void **state)
{
    struct tim_config config = tim_fix_config();
    struct tim_line line[TIM_LINES_MOST];
    struct made m;

    (void)state;
    /* lanes access the same 4-byte variable, each its own: one local-memory row */
    make(&m, EMU_ACCESS_LOAD, 4, UINT32_MAX, ISA_SPACE_LOCAL, ISA_LOCAL_BASE + 12, at_0);
    assert_int_equal(tim_coalesce(&config, &m.access, 128, 0x40000, line), 1);
    assert_int_equal(line[0].line, 0x40000 + 3 * 128);
    assert_int_equal(line[0].lanes, UINT32_MAX);
    /* lanes access 8 bytes each: two local-memory rows. If lanes access different offsets, each lane accesses another one */
    make(&m, EMU_ACCESS_STORE, 8, UINT32_MAX, ISA_SPACE_LOCAL, ISA_LOCAL_BASE, at_0);
    assert_int_equal(tim_coalesce(&config, &m.access, 128, 0x40000, line), 2);
    make(&m, EMU_ACCESS_LOAD, 4, UINT32_MAX, ISA_SPACE_LOCAL, ISA_LOCAL_BASE, at_4);
    assert_int_equal(tim_coalesce(&config, &m.access, 128, 0x40000, line), 32);
    make(&m, EMU_ACCESS_LOAD, 16, UINT64_MAX, ISA_SPACE_LOCAL, ISA_LOCAL_BASE, at_64);
    config.core_warp_width = 64;
    assert_int_equal(tim_coalesce(&config, &m.access, 32, 0x40000, line), TIM_LINES_MOST);
    /* lane 1 accesses byte 1 of its second word, which is in the second local-memory row */
    config.core_warp_width = 32;
    make(&m, EMU_ACCESS_LOAD, 1, 2, ISA_SPACE_LOCAL, ISA_LOCAL_BASE + 5, at_0);
    assert_int_equal(tim_coalesce(&config, &m.access, 128, 0x40000, line), 1);
    assert_int_equal(line[0].line, 0x40080);
    assert_int_equal(line[0].mask[0], UINT64_C(1) << 5);
}

static void lanes_on_shared_memory_are_not_the_coalescers(void **state)
{
    struct tim_config config = tim_fix_config();
    struct tim_line line[TIM_LINES_MOST];
    struct made m;

    (void)state;
    make(&m, EMU_ACCESS_LOAD, 4, UINT32_MAX, ISA_SPACE_GLOBAL, 0x1000, at_4);
    for (unsigned l = 0; l < 16; l++)
        m.space[l] = ISA_SPACE_SHARED, m.address[l] = ISA_SHARED_BASE + 128 * l;
    assert_int_equal(tim_coalesce(&config, &m.access, 128, 0, line), 1);
    assert_int_equal(line[0].lanes, UINT64_C(0xffff0000));
    assert_int_equal(tim_shared_passes(&config, &m.access), 16);
    make(&m, EMU_ACCESS_LOAD, 4, UINT32_MAX, ISA_SPACE_GLOBAL, 0x1000, at_4);
    assert_int_equal(tim_shared_passes(&config, &m.access), 0);
}

/** Create an access of random lanes in segments, as EMU_EVENT_ADDRESSES reports addresses. The access also has an address for
 *  each lane; both forms describe the same addresses. */
static void make_pieces(struct made *m, uint64_t *seed, unsigned bytes, enum isa_space space)
{
    static const uint64_t start[ISA_SPACE_COUNT] = {[ISA_SPACE_GLOBAL] = UINT64_C(1) << 45,
                                                    [ISA_SPACE_SHARED] = ISA_SHARED_BASE,
                                                    [ISA_SPACE_LOCAL] = ISA_LOCAL_BASE};
    unsigned lane = tim_fix_between(seed, 0, 31), most = tim_fix_between(seed, 1, EMU_EVENT_SEGMENTS);

    make(m, tim_fix_between(seed, 0, 3) == 0 ? EMU_ACCESS_ATOMIC : EMU_ACCESS_LOAD, bytes, 0, space,
         0, at_0);
    while (lane < 64 && m->access.piece_count < most) {
        struct emu_event_segment *p = &m->access.piece[m->access.piece_count++];
        unsigned count = tim_fix_between(seed, 1, 64 - lane < 20 ? 64 - lane : 20);

        p->lanes = lw_mask(count) << lane;
        if (tim_fix_between(seed, 0, 4) == 0)
            p->lanes &= tim_fix_random(seed) | UINT64_C(1) << lane;
        p->base = start[space] + 4096 + bytes * (tim_fix_random(seed) % 64);
        p->stride = (p->lanes & (p->lanes - 1)) == 0
                        ? 0 : ((int64_t)tim_fix_between(seed, 0, 4) - 1) * (int64_t)bytes;
        if (tim_fix_between(seed, 0, 3) == 0)
            p->stride *= 8;
        for (LW_EACH_BIT(l, p->lanes))
            m->address[l] = p->base + (uint64_t)p->stride * (l - lane);
        m->access.lanes |= p->lanes;
        lane += count + tim_fix_between(seed, 0, 2);
    }
}

/* For regular addresses, the emulator reports segments with base and stride instead of an address for each lane. The coalescer
 * must compute the same accesses from both. */
static void pieces_are_coalesced_as_their_lanes(void **state)
{
    static struct tim_line one[TIM_LINES_MOST], other[TIM_LINES_MOST];
    uint64_t seed = 3;
    unsigned several = 0;

    (void)state;
    for (unsigned k = 0; k < 20000; k++) {
        struct tim_config config = tim_fix_config();
        unsigned n, line_bytes = 32u << tim_fix_between(&seed, 0, 3);
        struct made m;

        config.core_warp_width = 64;
        config.lsu_coalesce = tim_fix_between(&seed, 0, 5) == 0 ? TIM_COALESCE_HALF_SEGMENT
                                                                : TIM_COALESCE_LINE;
        config.lsu_coalesce_lanes = 4u << tim_fix_between(&seed, 0, 4);
        make_pieces(&m, &seed, 1u << tim_fix_between(&seed, 0, 4),
                    tim_fix_between(&seed, 0, 2) == 0 ? ISA_SPACE_LOCAL : ISA_SPACE_GLOBAL);
        struct emu_access rows = m.access;

        rows.piece_count = 0;
        m.access.address = NULL;
        m.access.lane_space = NULL;
        n = tim_coalesce(&config, &rows, line_bytes, 0x40000, one);
        assert_int_equal(tim_coalesce(&config, &m.access, line_bytes, 0x40000, other), n);
        for (unsigned i = 0; i < n; i++)
            if (one[i].line != other[i].line || one[i].lanes != other[i].lanes ||
                memcmp(one[i].mask, other[i].mask, sizeof one[i].mask) != 0)
                fail_msg("trial %u, access %u", k, i);
        several += n > 1;
    }
    assert_true(several > 1000);
}

static void pieces_pass_over_the_banks_as_their_lanes(void **state)
{
    uint64_t seed = 5;
    unsigned several = 0;

    (void)state;
    for (unsigned k = 0; k < 20000; k++) {
        struct tim_config config = tim_fix_config();
        struct made m;
        unsigned passes;

        config.core_warp_width = 64;
        config.shared_banks = 8u << tim_fix_between(&seed, 0, 3);
        config.shared_bank_bytes = 4u << tim_fix_between(&seed, 0, 1);
        make_pieces(&m, &seed, 2u << tim_fix_between(&seed, 0, 3), ISA_SPACE_SHARED);
        struct emu_access rows = m.access;

        rows.piece_count = 0;
        m.access.address = NULL;
        m.access.lane_space = NULL;
        passes = tim_shared_passes(&config, &rows);
        if (tim_shared_passes(&config, &m.access) != passes)
            fail_msg("trial %u: %u passes, not %u", k, tim_shared_passes(&config, &m.access), passes);
        several += passes > 1;
    }
    assert_true(several > 1000);
}

static void passes_over_the_banks_are_those_of_the_table(void **state)
{
    static const struct {
        address_fn of;
        unsigned bytes, passes;
        enum emu_access_kind kind;
        unsigned banks, bank_bytes, width;
    } row[] = {
        {at_4, 4, 1, EMU_ACCESS_LOAD, 32, 4, 32},    {at_0, 4, 1, EMU_ACCESS_LOAD, 32, 4, 32},
        {at_8, 4, 2, EMU_ACCESS_LOAD, 32, 4, 32},    {at_pairs, 4, 1, EMU_ACCESS_LOAD, 32, 4, 32},
        {at_12, 4, 1, EMU_ACCESS_LOAD, 32, 4, 32},   {at_down, 4, 1, EMU_ACCESS_LOAD, 32, 4, 32},
        {at_16, 4, 4, EMU_ACCESS_LOAD, 32, 4, 32},   {at_4_rows, 4, 4, EMU_ACCESS_LOAD, 32, 4, 32},
        {at_24, 4, 2, EMU_ACCESS_LOAD, 32, 4, 32},   {at_1, 1, 1, EMU_ACCESS_LOAD, 32, 4, 32},
        {at_128, 4, 32, EMU_ACCESS_LOAD, 32, 4, 32}, {at_132, 4, 1, EMU_ACCESS_LOAD, 32, 4, 32},
        /* stores to one word take one pass, like loads; accesses of 8 or 16 bytes are made by halves or quarters of a warp */
        {at_0, 4, 1, EMU_ACCESS_STORE, 32, 4, 32},   {at_8, 8, 2, EMU_ACCESS_LOAD, 32, 4, 32},
        {at_16, 16, 4, EMU_ACCESS_LOAD, 32, 4, 32},  {at_0, 16, 4, EMU_ACCESS_LOAD, 32, 4, 32},
        /* each atomic on a word takes a pass; atomics on different words share a pass */
        {at_0, 4, 32, EMU_ACCESS_ATOMIC, 32, 4, 32}, {at_4, 4, 1, EMU_ACCESS_ATOMIC, 32, 4, 32},
        {at_pairs, 4, 2, EMU_ACCESS_REDUCE, 32, 4, 32},
        /* other GPUs: 16 banks, banks of 8 bytes, warps of 64, 8 and 4 lanes, and one bank */
        {at_4, 4, 2, EMU_ACCESS_LOAD, 16, 4, 32},    {at_8, 8, 1, EMU_ACCESS_LOAD, 32, 8, 32},
        {at_4, 4, 1, EMU_ACCESS_LOAD, 32, 8, 32},    {at_16, 16, 2, EMU_ACCESS_LOAD, 32, 8, 32},
        {at_4, 4, 2, EMU_ACCESS_LOAD, 32, 4, 64},    {at_4, 4, 1, EMU_ACCESS_LOAD, 32, 4, 8},
        {at_16, 16, 4, EMU_ACCESS_LOAD, 32, 4, 4},   {at_4, 4, 64, EMU_ACCESS_LOAD, 1, 4, 64},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(row); i++) {
        struct tim_config config = tim_fix_config();
        struct made m;
        unsigned passes;

        config.shared_banks = row[i].banks;
        config.shared_bank_bytes = row[i].bank_bytes;
        config.core_warp_width = row[i].width;
        make(&m, row[i].kind, row[i].bytes, lw_mask(row[i].width), ISA_SPACE_SHARED,
             ISA_SHARED_BASE, row[i].of);
        passes = tim_shared_passes(&config, &m.access);
        if (passes != row[i].passes)
            fail_msg("row %zu: %u passes", i, passes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_sectors_of_a_warp_are_those_of_the_table),
        cmocka_unit_test(masks_and_lanes_say_which_bytes_of_a_line_each_lane_has),
        cmocka_unit_test(constants_are_words_in_the_order_of_their_lowest_lanes),
        cmocka_unit_test(requests_by_warp_width_are_those_of_the_resizing_paper),
        cmocka_unit_test(first_generation_wants_lane_k_at_word_k),
        cmocka_unit_test(second_generation_shrinks_segments),
        cmocka_unit_test(older_rules_cut_transactions_at_lines_and_stores_keep_to_their_bytes),
        cmocka_unit_test(local_memory_lies_in_rows_of_words),
        cmocka_unit_test(lanes_on_shared_memory_are_not_the_coalescers),
        cmocka_unit_test(pieces_are_coalesced_as_their_lanes),
        cmocka_unit_test(pieces_pass_over_the_banks_as_their_lanes),
        cmocka_unit_test(passes_over_the_banks_are_those_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
