/* SPDX-License-Identifier: Apache-2.0 */
/* Tests packets: memory instructions of several warps that pass the load/store unit as one instruction. Tests which accesses
 * the members of a packet make, and which members share an access of another member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/timing/tim_fixture.h"
#include "timing/mem/tim_packets_priv.h"

typedef uint64_t (*address_fn)(unsigned thread);

static uint64_t at_4(unsigned t) { return 4 * t; }
static uint64_t at_4_32(unsigned t) { return 4 * t + 32; }
static uint64_t at_4_4(unsigned t) { return 4 * t + 4; }
static uint64_t at_8(unsigned t) { return 8 * t; }
static uint64_t at_64(unsigned t) { return 64 * t; }
static uint64_t at_0(unsigned t) { return 0 * t; }
static uint64_t at_1(unsigned t) { return t; }
static uint64_t at_down(unsigned t) { return 4 * (63 - t); }
static uint64_t at_17(unsigned t) { return 4 * (17 * t % 64); }
static uint64_t at_5(unsigned t) { return 4 * (5 * t % 64); }

/** Store in @line the accesses of a warp of @lanes lanes whose first thread is @thread. Return the number of accesses. */
static unsigned lines_of(unsigned lanes, unsigned thread, address_fn of, struct tim_line *line)
{
    struct tim_config *c;
    struct lw_error err;
    uint64_t address[EMU_MAX_LANES];
    uint8_t space[EMU_MAX_LANES];

    assert_int_equal(tim_config_default(&c, &err), LW_OK);
    for (unsigned l = 0; l < lanes; l++) {
        address[l] = of(thread + l);
        space[l] = ISA_SPACE_GLOBAL;
    }
    c->core_warp_width = lanes;
    c->lsu_coalesce_lanes = 64;
    unsigned count = tim_coalesce(c, &(struct emu_access){.space = ISA_SPACE_GLOBAL, .kind = EMU_ACCESS_LOAD,
                                                          .bytes = of == at_1 ? 1 : 4, .lanes = lw_mask(lanes),
                                                          .lane_space = space, .address = address}, 64, 0, line);
    tim_config_destroy(c);
    return count;
}

/** Return the number of accesses that 64 threads make in packets of @members warps of @lanes lanes. */
static unsigned made(unsigned members, unsigned lanes, address_fn of)
{
    struct tim_packets *packets = tim_packets_create();
    unsigned count = 0, packet = 0;

    for (unsigned thread = 0; thread < 64; thread += lanes) {
        struct tim_line line[TIM_LINES_MOST];
        const unsigned lines = lines_of(lanes, thread, of, line);
        bool first;

        packet += thread % (members * lanes) == 0;
        assert_true(tim_packets_join(packets, packet, thread, &first));
        assert_int_equal(first, thread % (members * lanes) == 0);
        struct tim_packet_entry *entry = tim_packets_of(packets, packet);
        for (unsigned i = 0; i < lines; i++) {
            if (tim_packets_find(entry, line[i].line, 1) != NULL)
                continue;
            assert_true(tim_packets_access(entry, line[i].line, 1, thread, i));
            count++;
        }
    }
    tim_packets_destroy(packets);
    return count;
}

/* Section 2 of the specification of dynamic warp resizing: number of accesses to L1 by 64 threads, for warps of 8, 16, 32 and
 * 64 lanes. */
static const struct {
    const char *name;
    address_fn of;
    unsigned count[4], lines;
} table[] = {
    {"4t", at_4, {8, 4, 4, 4}, 4},
    {"4t+32", at_4_32, {8, 8, 6, 5}, 5},
    {"4t+4", at_4_4, {12, 8, 6, 5}, 5},
    {"8t", at_8, {8, 8, 8, 8}, 8},
    {"64t", at_64, {64, 64, 64, 64}, 64},
    {"0", at_0, {8, 4, 2, 1}, 1},
    {"t, bytes", at_1, {8, 4, 2, 1}, 1},
    {"4(63-t)", at_down, {8, 4, 4, 4}, 4},
    {"4(17t mod 64)", at_17, {32, 16, 8, 4}, 4},
    {"4(5t mod 64)", at_5, {24, 16, 8, 4}, 4},
};

static void u20_fixed_warps_make_the_accesses_of_the_table(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(table); i++)
        for (unsigned w = 0; w < 4; w++)
            if (made(1, 8u << w, table[i].of) != table[i].count[w])
                fail_msg("%s, %u lanes: %u accesses, not %u", table[i].name, 8u << w, made(1, 8u << w, table[i].of),
                         table[i].count[w]);
}

static void u20_packets_of_8_lanes_make_those_of_the_wide_warp(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(table); i++)
        for (unsigned w = 0; w < 4; w++)
            if (made(1u << w, 8, table[i].of) != table[i].count[w])
                fail_msg("%s, packets of %u: %u accesses, not %u", table[i].name, 1u << w, made(1u << w, 8, table[i].of),
                         table[i].count[w]);
}

static void accesses_of_another_kind_do_not_ride(void **state)
{
    struct tim_packets *packets = tim_packets_create();
    bool first;

    (void)state;
    assert_true(tim_packets_join(packets, 7, 3, &first));
    struct tim_packet_entry *entry = tim_packets_of(packets, 7);
    assert_true(tim_packets_access(entry, 0x40, 1, 3, 0));
    assert_null(tim_packets_find(entry, 0x40, 2));
    assert_null(tim_packets_find(entry, 0x80, 1));
    assert_int_equal(tim_packets_find(entry, 0x40, 1)->op, 3);
    tim_packets_destroy(packets);
}

static void nobody_rides_where_a_member_accesses_a_line_twice(void **state)
{
    struct tim_packets *packets = tim_packets_create();
    bool first;

    (void)state;
    assert_true(tim_packets_join(packets, 7, 3, &first));
    struct tim_packet_entry *entry = tim_packets_of(packets, 7);
    assert_true(tim_packets_access(entry, 0x40, 1, 3, 0));
    assert_true(tim_packets_access(entry, 0x40, 1, 3, 1));
    assert_null(tim_packets_find(entry, 0x40, 1));
    tim_packets_destroy(packets);
}

static void a_dropped_packet_leaves_nothing_to_the_next(void **state)
{
    struct tim_packets *packets = tim_packets_create();
    bool first;

    (void)state;
    assert_true(tim_packets_join(packets, 1, 3, &first));
    assert_true(tim_packets_access(tim_packets_of(packets, 1), 0x40, 1, 3, 0));
    tim_packets_drop(tim_packets_of(packets, 1));
    assert_null(tim_packets_of(packets, 1));
    assert_true(tim_packets_join(packets, 2, 3, &first));
    assert_true(first);
    assert_null(tim_packets_find(tim_packets_of(packets, 2), 0x40, 1));
    assert_int_equal(tim_packets_of(packets, 2)->left, 1);
    tim_packets_destroy(packets);
}

static void links_are_taken_by_step_and_then_free(void **state)
{
    struct tim_packets *packets = tim_packets_create();
    uint32_t list = TIM_NO_LINK;

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        assert_true(tim_packets_link(packets, &list, 10 + i, i % 2));
    uint32_t odd = tim_packets_take(packets, &list, 1);
    assert_int_equal(tim_packets_unlink(packets, &odd), 15);
    assert_int_equal(tim_packets_unlink(packets, &odd), 13);
    assert_int_equal(tim_packets_unlink(packets, &odd), 11);
    assert_int_equal(odd, TIM_NO_LINK);
    assert_true(tim_packets_link(packets, &odd, 20, 0));
    assert_int_equal(packets->links, 6);
    assert_int_equal(tim_packets_unlink(packets, &list), 14);
    tim_packets_destroy(packets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u20_fixed_warps_make_the_accesses_of_the_table),
        cmocka_unit_test(u20_packets_of_8_lanes_make_those_of_the_wide_warp),
        cmocka_unit_test(accesses_of_another_kind_do_not_ride),
        cmocka_unit_test(nobody_rides_where_a_member_accesses_a_line_twice),
        cmocka_unit_test(a_dropped_packet_leaves_nothing_to_the_next),
        cmocka_unit_test(links_are_taken_by_step_and_then_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
