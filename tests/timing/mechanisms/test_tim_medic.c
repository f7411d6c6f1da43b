/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism medic: the types of warps, which reads bypass L2, which lines are the oldest, what DRAM serves first, and how the
 * boundary is tuned. 16.6 is a section of the specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"
#include "tests/timing/tim_memory_fixture.h"
#include "timing/mem/tim_mem_priv.h"

static const rig_create_fn creates[] = {tim_memory_reference_create, tim_memory_fast_create};

/** Return a model in which L2 has one set of four lines, and a sample of a warp has four reads. */
static struct tim_config small(void)
{
    struct tim_config c = rig_config();

    c.l2_bytes = 4 * 128;
    c.l2_ways = 4;
    c.l2_sector = 128;
    c.core_warps = 8;
    c.medic_on = true;
    c.medic_interval = 100000;
    c.medic_sample = 4;
    c.medic_tune = false;
    return c;
}

/** Read @line by @warp of core 0, while no other packet is in flight. Return whether the read hits in L2. */
static bool read_by(struct rig *r, unsigned warp, uint64_t line)
{
    const uint64_t *count = r->memory->ops->slice_stats(r->memory, 0)->count;
    struct tim_packet p = rig_packet(TIM_PACKET_READ, 0, line * 128, 0, 128, 0);
    const uint64_t hits = count[TIM_SLICE_hits];

    p.warp = (uint16_t)warp;
    rig_latency(r, &p);
    return count[TIM_SLICE_hits] != hits;
}

static uint64_t count_of(const struct rig *r, unsigned which)
{
    return r->memory->ops->slice_stats(r->memory, 0)->count[which];
}

static void to_interval(struct rig *r, unsigned interval)
{
    while (r->now < (uint64_t)interval * r->config.medic_interval)
        rig_step(r, NULL);
}

/* 16.6: the share of a warp's reads that hit L2 determines which of five types the warp has. The types have the shares 0, up to
 * 0.2, up to 0.7, below 1, and 1. With samples of ten reads these are
 * 0, 1 and 2, 3 to 7, 8 and 9, and 10 hits. */
static void the_share_of_hits_is_the_type(void **state)
{
    static const enum tim_medic_type type[] = {
        TIM_MEDIC_ALL_MISS, TIM_MEDIC_MOSTLY_MISS, TIM_MEDIC_MOSTLY_MISS, TIM_MEDIC_BALANCED, TIM_MEDIC_BALANCED, TIM_MEDIC_BALANCED,
        TIM_MEDIC_BALANCED, TIM_MEDIC_BALANCED, TIM_MEDIC_MOSTLY_HIT, TIM_MEDIC_MOSTLY_HIT, TIM_MEDIC_ALL_HIT};
    struct tim_config c = small();

    (void)state;
    c.medic_sample = 10;
    for (unsigned hits = 0; hits <= 10; hits++) {
        struct tim_node node = {.packet = rig_packet(TIM_PACKET_READ, 0, 0, 0, 128, 0)};
        struct tim_medic *medic = tim_medic_create(&c);
        uint64_t count[TIM_SLICE_COUNT] = {0};

        node.packet.warp = 3;
        for (unsigned i = 0; i < 10; i++) {
            tim_medic_send(medic, &node, i);
            assert_int_equal(node.type, TIM_MEDIC_BALANCED); /* until the first sample is complete */
            assert_false(node.bypasses);
            tim_medic_looked(medic, &node, i < hits, i, count);
        }
        tim_medic_send(medic, &node, 10);
        assert_int_equal(node.type, type[hits]);
        assert_int_equal(node.bypasses, type[hits] <= TIM_MEDIC_MOSTLY_MISS);
        assert_int_equal(count[TIM_SLICE_medic_all_miss + type[hits]], 1);
        node.packet.kind = TIM_PACKET_WRITE; /* only reads have a type */
        tim_medic_send(medic, &node, 11);
        assert_int_equal(node.type, TIM_MEDIC_BALANCED);
        assert_false(node.bypasses);
        tim_medic_destroy(medic);
    }
}

/* 16.6: four reads of a warp miss. From then on its reads take no lines, so a line of another warp stays in L2. In the next interval the
 * sample does not bypass L2, and its lines are the oldest of the set. */
static void a_warp_that_misses_takes_no_lines(void **state)
{
    (void)state;
    for (size_t k = 0; k < LW_COUNT_OF(creates); k++) {
        const struct tim_config c = small();
        struct lw_buffer text;
        struct rig r;

        rig_open(&r, creates[k], &c);
        for (unsigned i = 0; i < 4; i++)
            assert_false(read_by(&r, 0, 100 + i)); /* the sample of warp 0: all-miss */
        assert_false(read_by(&r, 1, 1));           /* replaces line 100 */
        for (unsigned i = 0; i < 8; i++)
            assert_false(read_by(&r, 0, 200 + i));
        assert_int_equal(count_of(&r, TIM_SLICE_medic_bypasses), 8);
        assert_true(read_by(&r, 1, 1));
        assert_true(read_by(&r, 0, 103)); /* a read that bypasses L2 still hits if L2 has its line */
        assert_int_equal(count_of(&r, TIM_SLICE_medic_bypasses), 8);
        assert_int_equal(count_of(&r, TIM_SLICE_medic_oldest), 0);
        to_interval(&r, 1);
        assert_true(read_by(&r, 1, 1));
        for (unsigned i = 0; i < 3; i++) /* L2 has lines 101, 102, 103 and 1; each new line replaces the line before it, at first 101 */
            assert_false(read_by(&r, 0, 300 + i));
        assert_int_equal(count_of(&r, TIM_SLICE_medic_oldest), 3);
        assert_true(read_by(&r, 2, 102) && read_by(&r, 2, 103) && read_by(&r, 2, 1) && read_by(&r, 2, 302));
        assert_int_equal(count_of(&r, TIM_SLICE_medic_all_hit), 1); /* warp 2 */
        assert_int_equal(count_of(&r, TIM_SLICE_medic_all_miss), 1);
        lw_buffer_init(&text);
        r.memory->ops->show(r.memory, &text.sink);
        assert_non_null(strstr(text.text, "MeDiC: a warp is mostly-miss up to 20 % of hits; warp slots by type: 1 all-miss, 0 mostly-miss, 0 balanced, "
                                          "0 mostly-hit, 1 all-hit\n"));
        lw_buffer_fini(&text);
        rig_close(&r);
    }
}

/* A line with bytes that only L2 has serves a read that would bypass L2, and DRAM gives the other sector. */
static void dirty_bytes_serve_reads_that_bypass(void **state)
{
    (void)state;
    for (size_t k = 0; k < LW_COUNT_OF(creates); k++) {
        struct tim_config c = small();
        struct tim_packet store = rig_packet(TIM_PACKET_WRITE, 0, 7 * 128, 0, 4, 0);
        struct rig r;

        c.l2_sector = 32;
        rig_open(&r, creates[k], &c);
        for (unsigned i = 0; i < 4; i++)
            read_by(&r, 0, 100 + i);
        rig_latency(&r, &store);
        assert_false(read_by(&r, 0, 7)); /* a miss, because the line is present, but lacks these bytes */
        assert_int_equal(count_of(&r, TIM_SLICE_medic_bypasses), 0);
        assert_true(read_by(&r, 0, 7));
        assert_false(read_by(&r, 0, 8));
        assert_int_equal(count_of(&r, TIM_SLICE_medic_bypasses), 1);
        rig_close(&r);
    }
}

/** Set the type of warp @warp to all-hit, by four reads of line 0, which is in L2. */
static void make_urgent(struct rig *r, unsigned warp)
{
    (void)read_by(r, 7, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_true(read_by(r, warp, 0));
}

/** Send reads 0 and 1 by warp 0 (without a type), and reads 2 and 3 by warp 1 (all-hit), one each cycle, each of a new DRAM row
 *  of bank 0. Write the order of the answers to @order, as "0123". */
static void order_of(rig_create_fn create, bool priority, char *order)
{
    struct tim_config c = small();
    struct rig r;
    uint64_t answers;

    c.l2_bytes = 65536;
    c.medic_priority = priority;
    rig_open(&r, create, &c);
    make_urgent(&r, 1);
    answers = r.answers;
    for (unsigned i = 0; i < 4; i++) {
        struct tim_packet p = rig_packet(TIM_PACKET_READ, 0, (uint64_t)(i + 1) * 16 * 2048, 0, 32, i);

        p.warp = (uint16_t)(i / 2); /* 0 0 1 1 */
        rig_step(&r, &p);
        if (r.answers != answers)
            fail();
    }
    for (unsigned got = 0; got < 4;) {
        rig_step(&r, NULL);
        if (r.answers == answers)
            continue;
        answers = r.answers;
        order[got++] = (char)('0' + r.last.id);
    }
    assert_int_equal(r.memory->ops->channel_stats(r.memory, 0)->count[TIM_CHANNEL_medic_high], priority ? 2 : 0);
    rig_close(&r);
}

/* 16.6: four reads need four DRAM rows of one bank, which must close another one first. Reads 2 and 3, of a warp that always
 * hits, arrive in the meantime and are served first. */
static void dram_serves_warps_that_hit_first(void **state)
{
    (void)state;
    for (size_t k = 0; k < LW_COUNT_OF(creates); k++) {
        char order[5] = "";

        order_of(creates[k], false, order);
        assert_string_equal(order, "0123");
        order_of(creates[k], true, order);
        assert_string_equal(order, "2301");
    }
}

/** Look up @reads reads of a warp in interval @interval. @hits of these reads hit. */
static void interval_of(struct tim_medic *medic, const struct tim_config *c, unsigned interval, unsigned reads, unsigned hits)
{
    struct tim_node node = {.packet = rig_packet(TIM_PACKET_READ, 0, 0, 0, 128, 0)};
    uint64_t count[TIM_SLICE_COUNT] = {0};

    node.packet.warp = 5;
    for (unsigned i = 0; i < reads; i++)
        tim_medic_looked(medic, &node, i < hits, (uint64_t)interval * c->medic_interval, count);
}

/* The boundary falls by a step of 5 % when the miss rate rises by more than 5 %, and rises again, at most to its first value. */
static void the_boundary_follows_the_miss_rate(void **state)
{
    static const struct {
        unsigned hits, boundary; /* hits: number of hits of 100 reads. boundary: the boundary after the next interval has
                                  * begun */
    } step[] = {{60, 20}, {55, 20}, {49, 15}, {30, 10}, {10, 5}, {0, 0}, {0, 0}, {6, 5}, {40, 10}, {90, 15}, {100, 20}, {100, 20}};
    struct tim_config c = small();
    struct tim_medic *medic;

    (void)state;
    c.medic_tune = true;
    medic = tim_medic_create(&c);
    for (unsigned i = 0; i < LW_COUNT_OF(step); i++) {
        char expected[80];
        struct lw_buffer text;

        interval_of(medic, &c, 2 * i, 100, step[i].hits);
        interval_of(medic, &c, 2 * i + 1, 0, 0); /* an interval without reads changes nothing */
        struct tim_node node = {.packet = rig_packet(TIM_PACKET_READ, 0, 0, 0, 128, 0)};
        node.packet.warp = 5;
        tim_medic_send(medic, &node, (uint64_t)(2 * i + 1) * c.medic_interval);
        lw_buffer_init(&text);
        tim_medic_show(medic, &text.sink);
        snprintf(expected, sizeof expected, "MeDiC: a warp is mostly-miss up to %u %% of hits;", step[i].boundary);
        if (strncmp(text.text, expected, strlen(expected)) != 0)
            fail_msg("interval %u: expected \"%s\", found: %s", i, expected, text.text);
        lw_buffer_fini(&text);
    }
    tim_medic_destroy(medic);
}

static void keys_that_do_not_fit_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"l2.bytes=0", "medic.on needs an L2 cache"},
        {"dram.policy=fcfs", "medic.priority cannot be combined with dram.policy=fcfs"},
        {"medic.miss_boundary=60 medic.hit_boundary=50", "medic.hit_boundary (50 %) is less than medic.miss_boundary (60 %)"},
    };

    (void)state;
    mech_assert_refused("medic.on=on", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_of_hits_is_the_type),
        cmocka_unit_test(a_warp_that_misses_takes_no_lines),
        cmocka_unit_test(dirty_bytes_serve_reads_that_bypass),
        cmocka_unit_test(dram_serves_warps_that_hit_first),
        cmocka_unit_test(the_boundary_follows_the_miss_rate),
        cmocka_unit_test(keys_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
