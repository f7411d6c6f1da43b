/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests kernel management and block schedulers. No instruction is executed: a test launches kernels, ends blocks, and reads
 * which block was placed on which core. Tests are named after rows of the specifications' tables. B (3.6), D (7.11) and L
 * (8.6 and 8.7) are tables of the dynamic parallelism thesis, and A is a table of address pre-computation. Block 1 of launch
 * K is K1. test_tim_streams.sh has the rows of table B that need streams.
 */
#include <math.h>

#include "tests/timing/block_rig.h"

/** Return a random number below @n. */
static unsigned tim_random(uint64_t *seed, unsigned n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((*seed >> 33) % n);
}

/* ---- blocks in rotation ------------------------------------------------------------------------ */

/* B-1: block i is placed on core i mod 13, one block per cycle. */
static void b1_blocks_go_to_the_cores_in_rotation(void **state)
{
    struct rig *r = rig_new(13, 8, TIM_BLOCKS_RR);

    (void)state;
    rig_open(r);
    launch(r, 'K', 'k', 100, 0, 0);
    for (unsigned i = 0; i < 100; i++) {
        char expected[32];

        tick(r);
        snprintf(expected, sizeof expected, "K%u@%u ", i, i % 13);
        said(r, expected);
    }
    rig_free(r);
}

/* B-2: three blocks fill a core. After 39 cycles all cores are full. The first block that ends is on core 4, so that the next
 * block is placed there. */
static void b2_the_next_block_goes_where_one_ended(void **state)
{
    struct rig *r = rig_new(13, 3, TIM_BLOCKS_RR);

    (void)state;
    rig_open(r);
    launch(r, 'K', 'k', 60, 0, 0);
    ticks(r, 38);
    assert_null(strstr(r->log, "K38@"));
    tick(r);
    assert_non_null(strstr(r->log, "K38@12 "));
    assert_int_equal(resident(r), 39);
    r->log[0] = '\0';
    ticks(r, 50);
    said(r, "");
    end(r, r->grid['K'], 17);
    tick(r);
    said(r, "K39@4 ");
    rig_free(r);
}

/* B-8: the first block of the next kernel is placed in the cycle after the last block of the kernel before it, on the next core. */
static void b8_the_next_kernel_follows_in_the_next_cycle(void **state)
{
    static const char *const expected[] = {"A0@0 ", "A1@1 ", "A2@2 ", "A3@3 ", "A4@4 ", "B0@5 ", "B1@6 ", "B2@7 ", "B3@8 ", "B4@9 "};
    struct rig *r = rig_new(13, 16, TIM_BLOCKS_RR);

    (void)state;
    rig_open(r);
    launch(r, 'A', 'k', 5, 0, 0);
    launch(r, 'B', 'm', 5, 0, 0);
    for (unsigned i = 0; i < LW_COUNT_OF(expected); i++) {
        tick(r);
        said(r, expected[i]);
    }
    rig_free(r);
}

/* ---- dynamic thread block launch ------------------------------------------------------------ */

static struct rig *dtbl(unsigned cores, unsigned blocks, unsigned entries)
{
    struct rig *r = rig_new(cores, blocks, TIM_BLOCKS_RR);

    r->config->dtbl_on = true;
    r->config->dtbl_entries = entries;
    return r;
}

static void d1_to_d3_a_group_joins_a_kernel_of_its_shape_alone(void **state)
{
    struct rig *r = dtbl(2, 16, 1024);

    (void)state;
    rig_open(r);
    struct tim_launch *k = launch(r, 'K', 'k', 1, 0, 0);
    tick(r);
    struct tim_launch *same = launch_shape(r, 'A', 'k', 2, 32, 1, 'K', 0, 0, true);
    struct tim_launch *larger = launch_shape(r, 'B', 'k', 2, 64, 1, 'K', 0, 1, true);
    struct tim_launch *other_way = launch_shape(r, 'C', 'k', 2, 16, 2, 'K', 0, 2, true);
    struct tim_launch *other_kernel = launch_shape(r, 'D', 'm', 2, 32, 1, 'K', 0, 3, true);
    struct tim_launch *no_group = launch_shape(r, 'E', 'k', 2, 32, 1, 'K', 0, 4, false);
    tick(r);
    assert_ptr_equal(same->kernel, k);
    assert_true(larger->missed && other_way->missed && other_kernel->missed && !no_group->missed);
    assert_null(larger->kernel);
    assert_null(no_group->kernel);
    assert_int_equal(count(r, TIM_GPU_dtbl_joined), 1);
    assert_int_equal(count(r, TIM_GPU_dtbl_missed), 3);
    rig_free(r);
}

static void d4_d5_groups_follow_their_kernel_which_is_marked_anew_when_it_was_distributed(void **state)
{
    struct rig *r = dtbl(1, 16, 1024);
    struct tim_launch *k, *m, *a, *b, *c;

    (void)state;
    rig_open(r);
    k = launch(r, 'K', 'k', 4, 0, 0);
    m = launch(r, 'M', 'm', 2, 0, 0);
    ticks(r, 2); /* K0 and K1 are placed */
    a = launch_shape(r, 'A', 'k', 2, 32, 1, 'K', 0, 1, true);
    tick(r);
    assert_ptr_equal(k->next_group, a);
    assert_ptr_equal(k->last_group, a);
    ticks(r, 2); /* K3 and A0 are placed */
    b = launch_shape(r, 'B', 'k', 1, 32, 1, 'K', 0, 2, true);
    tick(r); /* A1 is placed */
    assert_ptr_equal(k->next_group, b);
    assert_ptr_equal(k->last_group, b);
    assert_null(b->next_group);
    tick(r); /* B0 is placed, the last block of K and its block groups */
    assert_null(k->next_group);
    tick(r); /* M0 is placed */
    uint64_t before = k->entered;
    c = launch_shape(r, 'C', 'k', 1, 32, 1, 'K', 0, 3, true);
    assert_null(k->next_group);
    tick(r); /* M1 is placed. C has joined K, which is now after M in the order of kernels. */
    assert_true(k->entered > before && k->entered > m->entered);
    assert_ptr_equal(k->next_group, c);
    assert_ptr_equal(k->last_group, c);
    ticks(r, 2);
    said(r, "K0@0 K1@0 K2@0 K3@0 A0@0 A1@0 B0@0 M0@0 M1@0 C0@0 ");
    assert_int_equal(count(r, TIM_GPU_dtbl_remarks), 1);
    assert_int_equal(count(r, TIM_GPU_dtbl_extends), 2);
    assert_int_equal(count(r, TIM_GPU_dtbl_blocks), 4);
    rig_free(r);
}

static void spills(unsigned entries, unsigned core0, unsigned thread0, unsigned core1, unsigned thread1, unsigned expected)
{
    struct rig *r = dtbl(4, 4, entries);

    rig_open(r);
    launch(r, 'K', 'k', 1, 0, 0);
    tick(r);
    launch_shape(r, 'A', 'k', 1, 32, 1, 'K', core0, thread0, true);
    launch_shape(r, 'B', 'k', 1, 32, 1, 'K', core1, thread1, true);
    tick(r);
    assert_int_equal(count(r, TIM_GPU_dtbl_spills), expected);
    assert_int_equal(count(r, TIM_GPU_dtbl_table_hits), 2 - expected);
    rig_free(r);
}
static void d6_the_group_table_has_one_probe_by_the_thread(void **state)
{
    (void)state;
    spills(1024, 0, 5, 3, 1029, 1);
    spills(2048, 0, 5, 3, 1029, 0);
    spills(2048, 0, 5, 3, 5, 1);
    spills(1024, 0, 5, 0, 6, 0);
}

static void d7_a_warp_fills_an_entry_a_lane(void **state)
{
    struct rig *r = dtbl(1, 16, 1024);

    (void)state;
    rig_open(r);
    launch(r, 'K', 'k', 1, 0, 0);
    tick(r);
    for (unsigned lane = 0; lane < 32; lane++)
        launch_shape(r, 'A', 'k', 1, 32, 1, 'K', 0, 64 + lane, true);
    tick(r);
    assert_int_equal(count(r, TIM_GPU_dtbl_table_hits), 32);
    assert_int_equal(count(r, TIM_GPU_dtbl_spills), 0);
    rig_free(r);
}

static void d8_a_kernel_that_is_over_keeps_its_entry_for_its_groups(void **state)
{
    struct rig *r = dtbl(2, 2, 1024);

    (void)state;
    rig_open(r);
    launch(r, 'K', 'k', 2, 0, 0);
    struct tim_launch *m = launch(r, 'M', 'm', 1, 0, 0);
    ticks(r, 3);
    said(r, "K0@0 K1@1 M0@0 ");
    assert_int_equal(m->entry, 1);
    launch_shape(r, 'A', 'm', 2, 32, 1, 'K', 0, 1, true);
    launch_shape(r, 'B', 'm', 1, 32, 1, 'K', 0, 2, true);
    tick(r); /* A0 is placed, and the cores are full */
    end(r, r->grid['M'], 0);
    tick(r); /* A1 is placed */
    assert_int_equal(r->e->grid.entries, 2);
    assert_null(m->grid);
    assert_int_equal(m->groups, 2);
    struct emu_grid *a = r->grid['A'], *b = r->grid['B'];
    end(r, a, 0);
    tick(r); /* B0 is placed */
    said(r, "A0@1 A1@0 B0@1 ");
    end(r, a, 1);
    end(r, b, 0);
    tick(r);
    assert_int_equal(r->e->grid.entries, 1);
    assert_int_equal(r->e->grid.count, 1);
    rig_free(r);
}

static void d10_groups_are_not_limited_by_entries(void **state)
{
    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct rig *r = rig_new(13, 16, TIM_BLOCKS_RR);

        r->config->dtbl_on = on;
        rig_open(r);
        launch(r, 'P', 'k', 1, 0, 0);
        if (on)
            launch(r, 'W', 'm', 1, 0, 0);
        ticks(r, 4);
        for (unsigned i = 0; i < 200; i++)
            launch_shape(r, 'A', 'm', 1, 32, 1, 'P', 0, i, true);
        ticks(r, 500);
        assert_int_equal(resident(r), on ? 202 : 32);
        assert_int_equal(count(r, TIM_GPU_dtbl_joined), on ? 200 : 0);
        rig_free(r);
    }
}

static void d11_a_group_joins_in_the_cycle_in_which_the_last_block_ends(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct rig *r = dtbl(1, 4, 1024);

        rig_open(r);
        launch(r, 'P', 'm', 1, 0, 0);
        launch(r, 'K', 'k', 1, 0, 0);
        ticks(r, 3);
        end(r, r->grid['K'], 0);
        if (late)
            tick(r);
        struct tim_launch *a = launch_shape(r, 'A', 'k', 1, 32, 1, 'P', 0, 1, true);
        tick(r);
        assert_int_equal(a->missed, late);
        assert_int_equal(count(r, TIM_GPU_dtbl_remarks), !late);
        rig_free(r);
    }
}

/* D-11 with random times: a group is launched some cycles before or after the last block of its kernel ends. Each group is
 * placed once, and the kernel keeps its entry until then. */
static void d11_random_times(void **state)
{
    struct rig *r = dtbl(1, 4, 1024);
    uint64_t seed = 11, placed, joined = 0, missed = 0;

    (void)state;
    r->config->kernels_latency = 1;
    rig_open(r);
    launch(r, 'P', 'm', 1, 0, 0);
    ticks(r, 4);
    placed = r->e->core[0]->assigned;
    for (unsigned round = 0; round < 10000; round++) {
        const unsigned ends = tim_random(&seed, 6), asks = tim_random(&seed, 6);
        bool over = false;

        r->log[0] = '\0';
        launch(r, 'K', 'k', 1, 0, 0);
        while (r->log[0] == '\0')
            tick(r);
        for (unsigned i = 0; i < 6; i++) {
            if (i == asks)
                launch_shape(r, 'A', 'k', 1, 32, 1, 'P', 0, 1, true);
            if (i == ends)
                end(r, r->grid['K'], 0);
            tick(r);
        }
        for (unsigned i = 0; i < 20000 && !over; i++) { /* a group without a kernel waits for its launch */
            over = strstr(r->log, "A0@0 ") != NULL;
            if (!over)
                tick(r);
        }
        assert_true(over);
        assert_true(r->e->core[0]->assigned == placed + 2);
        placed += 2;
        if (count(r, TIM_GPU_dtbl_joined) != joined) {
            assert_true(asks <= ends);
        } else {
            assert_true(asks > ends && count(r, TIM_GPU_dtbl_missed) == missed + 1);
        }
        joined = count(r, TIM_GPU_dtbl_joined);
        missed = count(r, TIM_GPU_dtbl_missed);
        end(r, r->grid['A'], 0);
        ticks(r, 3);
        assert_int_equal(r->e->grid.count, 1); /* only P is left */
    }
    assert_true(joined > 1000 && missed > 1000);
    rig_free(r);
}

static void d12_records_of_spilled_groups_are_read(void **state)
{
    struct rig *r = dtbl(1, 16, 1);

    (void)state;
    r->config->dtbl_spill = 10;
    rig_open(r);
    launch(r, 'K', 'k', 1, 0, 0);
    tick(r);
    for (unsigned i = 0; i < 4; i++)
        launch_shape(r, (char)('A' + i), 'k', 1, 32, 1, 'K', 0, i, true);
    tick(r);
    said(r, "K0@0 A0@0 ");
    tick(r); /* the block scheduler begins to read the record of B */
    ticks(r, 9);
    said(r, "");
    tick(r);
    said(r, "B0@0 ");
    ticks(r, 22);
    said(r, "C0@0 D0@0 ");
    assert_int_equal(count(r, TIM_GPU_dtbl_spills), 3);
    assert_int_equal(count(r, TIM_GPU_dtbl_spill_cycles), 30);
    rig_free(r);
}

static void d13_groups_without_a_kernel_are_launched_as_kernels(void **state)
{
    struct rig *r = dtbl(1, 16, 1024);

    (void)state;
    r->config->kernels_latency = 283;
    rig_open(r);
    launch(r, 'P', 'k', 1, 0, 0);
    ticks(r, 300);
    r->log[0] = '\0';
    uint64_t launched = r->now;
    for (unsigned i = 0; i < 6; i++) { /* three warps, of which two lanes launch */
        r->more_lanes = i % 2 == 0;
        launch_shape(r, (char)('A' + i), 'm', 1, 32, 1, 'P', 0, 32 * (i / 2) + i % 2, true);
    }
    tick(r);
    assert_int_equal(count(r, TIM_GPU_dtbl_missed), 6);
    while (r->log[0] == '\0')
        tick(r);
    said(r, "A0@0 ");
    assert_int_equal(r->now - 1 - launched, 12187 + 1592 * 2 + 283);
    launch_shape(r, 'G', 'm', 1, 32, 1, 'P', 0, 96, true);
    tick(r);
    said(r, "G0@0 ");
    assert_int_equal(count(r, TIM_GPU_dtbl_joined), 1);
    ticks(r, 5 * 283);
    said(r, "B0@0 C0@0 D0@0 E0@0 F0@0 ");
    rig_free(r);
}

/* CT-6 and CT-7 of the thesis's 5.7: 172 MB are reserved for up to 32 pending launches, and 1.2 GB for 127K; 2,280 MB are
 * reserved for 24 levels of nesting. */
static void ct6_ct7_memory_is_reserved_for_launches(void **state)
{
    struct rig *r = rig_new(13, 16, TIM_BLOCKS_RR);
    const double mb = 1 << 20;

    (void)state;
    assert_true(fabs(tim_grid_memory(r->config, 32, 0).launches / mb - 172) < .1);
    assert_true(fabs(tim_grid_memory(r->config, 1, 0).launches / mb - 172) < .1);
    assert_true(fabs(tim_grid_memory(r->config, 127 * 1024, 0).launches / mb / 1024 / 1.2 - 1) < .03);
    /* the reserved memory is 8.6 % of 5 GB */
    assert_true(fabs(tim_grid_memory(r->config, 32 * 1024, 0).launches / mb - 438) < 1);
    assert_true(fabs(tim_grid_memory(r->config, 32, 24).levels / mb - 2280) < 1);
    assert_int_equal(tim_grid_memory(r->config, 32, 0).levels, 0);
    rig_open(r);
    rig_free(r);
}

static void d14_it_costs_1096_bytes_and_20_an_entry(void **state)
{
    struct tim_config *config;
    struct lw_error err;
    uint64_t registers, table;

    (void)state;
    fix_check(tim_config_load("kepler-k20c", &config, &err), &err);
    tim_dtbl_bytes(config, &registers, &table);
    assert_int_equal(registers, 1096);
    assert_int_equal(table, 20480);
    tim_config_destroy(config);
}

/** With random launches and ends of blocks, each block is placed once, and all launches complete. */
static void d16_every_block_is_placed_once(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        struct rig *r = dtbl(3, 3, 1u << round % 4);
        uint64_t seed = round, wanted = 0;

        r->config->kernels_policy = round % TIM_BLOCKS_POLICIES;
        r->config->dtbl_spill = r->config->laperm_read = tim_random(&seed, 20);
        r->config->laperm_entries = 1 + tim_random(&seed, 3);
        r->config->kernels_latency = tim_random(&seed, 10);
        r->config->kernels_launch_base = r->config->kernels_launch_lane = tim_random(&seed, 10);
        r->config->kernels_entries = 1 + tim_random(&seed, 4);
        rig_open(r);
        launch(r, 'K', 'k', 1, 0, 0);
        wanted++;
        for (unsigned i = 0; i < 400; i++) {
            unsigned blocks = 1 + tim_random(&seed, 3), core = tim_random(&seed, 3);

            if (resident(r) != 0 && tim_random(&seed, 3) == 0) {
                launch_shape(r, 'A', tim_random(&seed, 2) ? 'k' : 'm', blocks, 32, 1, 'K', core, tim_random(&seed, 64),
                             tim_random(&seed, 4) != 0);
                wanted += blocks;
            }
            unsigned c = tim_random(&seed, 3), b = tim_random(&seed, 3);
            if (r->e->core[c]->block[b].used && tim_random(&seed, 2))
                end(r, r->e->core[c]->block[b].grid, r->e->core[c]->block[b].linear);
            tick(r);
        }
        for (unsigned i = 0; i < 4000 && !tim_grid_empty(&r->e->grid); i++) {
            end_all(r);
            tick(r);
        }
        assert_true(tim_grid_empty(&r->e->grid));
        assert_int_equal(r->e->grid.entries, 0);
        for (unsigned i = 0; i < r->config->dtbl_entries; i++)
            assert_null(r->e->grid.table[i]);
        uint64_t placed = 0;
        for (unsigned c = 0; c < 3; c++)
            placed += r->e->core[c]->assigned; /* counts warps; each block has one */
        assert_int_equal(placed, wanted);
        rig_free(r);
    }
}

/* ---- LaPerm ------------------------------------------------------------------------------------- */

/** Execute the reference example of 8.6: eight parents on four cores, each with space for one block. Parents P2 and P4 launch
 *  children. @rounds has the blocks that @policy places in each round, after which all blocks end. */
static void reference_example(unsigned policy, const char *const *rounds)
{
    struct rig *r = rig_new(4, 1, policy);

    r->config->kernels_ideal = true;
    rig_open(r);
    launch(r, 'P', 'k', 8, 0, 0);
    for (unsigned i = 0; rounds[i] != NULL; i++) {
        bool p2 = false, p4 = false;
        unsigned core2 = 0, core4 = 0;

        ticks(r, 4); /* the scheduler examines each core once */
        said(r, rounds[i]);
        for (unsigned c = 0; c < 4; c++) {
            const struct tim_block *block = &r->e->core[c]->block[0];
            if (!block->used || block->grid != r->grid['P'])
                continue;
            p2 |= block->linear == 2;
            p4 |= block->linear == 4;
            core2 = block->linear == 2 ? c : core2;
            core4 = block->linear == 4 ? c : core4;
        }
        end_all(r);
        if (p2)
            launch(r, 'C', 'm', 2, 'P', core2); /* the two blocks of this launch are the source's children C0 and C1 */
        if (p4)
            launch(r, 'D', 'm', 4, 'P', core4); /* the four blocks of this launch are the source's children C2 to C5 */
    }
    assert_true(tim_grid_empty(&r->e->grid));
    rig_free(r);
}
static void l1_the_reference_example(void **state)
{
    static const char *const rr[] = {"P0@0 P1@1 P2@2 P3@3 ", "P4@0 P5@1 P6@2 P7@3 ", "C0@0 C1@1 D0@2 D1@3 ",
                                     "D2@0 D3@1 ", NULL};
    static const char *const tb_pri[] = {"P0@0 P1@1 P2@2 P3@3 ", "C0@0 C1@1 P4@2 P5@3 ", "D0@0 D1@1 D2@2 D3@3 ",
                                         "P6@0 P7@1 ", NULL};
    static const char *const smx[] = {"P0@0 P1@1 P2@2 P3@3 ", "P4@0 P5@1 C0@2 P6@3 ", "D0@0 P7@1 C1@2 ", "D1@0 ", "D2@0 ",
                                      "D3@0 ", NULL};
    static const char *const adaptive[] = {"P0@0 P1@1 P2@2 P3@3 ", "P4@0 P5@1 C0@2 P6@3 ", "D0@0 P7@1 C1@2 D1@3 ",
                                           "D2@0 D3@1 ", NULL};

    (void)state;
    reference_example(TIM_BLOCKS_RR, rr);
    reference_example(TIM_BLOCKS_TB_PRI, tb_pri);
    reference_example(TIM_BLOCKS_SMX_BIND, smx);
    reference_example(TIM_BLOCKS_ADAPTIVE, adaptive);
}

static void l2_priorities_stop_at_the_last_level(void **state)
{
    struct rig *r = rig_new(1, 16, TIM_BLOCKS_TB_PRI);
    static const unsigned expected[] = {0, 1, 2, 2, 2, 2};

    (void)state;
    r->config->laperm_levels = 2;
    rig_open(r);
    for (unsigned i = 0; i < 6; i++) {
        struct tim_launch *l = launch(r, (char)('A' + i), 'k', 1, i == 0 ? 0 : (char)('A' + i - 1), 0);

        assert_int_equal(l->mark.priority, expected[i]);
    }
    rig_free(r);
}

/** Check what adaptive_bind places on three cores, each with space for one block. The queues of core 2 have no blocks. The
 *  queues of core 0 have @a blocks, and the queues of core 1 have @b. */
static void backup(unsigned a, unsigned b, const char *const *rounds)
{
    struct rig *r = rig_new(3, 1, TIM_BLOCKS_ADAPTIVE);

    r->config->kernels_ideal = true;
    rig_open(r);
    launch(r, 'P', 'k', 3, 0, 0);
    ticks(r, 3);
    r->log[0] = '\0';
    launch(r, 'A', 'm', a, 'P', 0);
    launch(r, 'B', 'm', b, 'P', 1);
    ticks(r, 3); /* the distributor contains all launches */
    for (unsigned i = 0; rounds[i] != NULL; i++) {
        end_all(r);
        ticks(r, 3);
        said(r, rounds[i]);
    }
    rig_free(r);
}
static void l3_l4_a_backup_remains_until_its_queues_are_empty(void **state)
{
    static const char *const l3[] = {"A0@0 B0@1 A1@2 ", "A2@0 B1@1 A3@2 ", "A4@0 B2@1 A5@2 ", NULL};
    static const char *const l4[] = {"A0@0 B0@1 A1@2 ", "A2@0 B1@1 B2@2 ", "B3@0 B4@1 B5@2 ", NULL};

    (void)state;
    backup(6, 3, l3);
    backup(3, 6, l4);
}

static void l5_a_higher_priority_goes_before_the_rest_of_a_lower_one(void **state)
{
    struct rig *r = rig_new(1, 1, TIM_BLOCKS_SMX_BIND);

    (void)state;
    r->config->kernels_ideal = true;
    rig_open(r);
    launch(r, 'P', 'k', 1, 0, 0);
    tick(r);
    launch(r, 'A', 'm', 3, 'P', 0);
    end_all(r);
    tick(r);
    launch(r, 'B', 'm', 2, 'A', 0);
    for (unsigned i = 0; i < 5; i++) {
        end_all(r);
        tick(r);
    }
    said(r, "P0@0 A0@0 B0@0 B1@0 A1@0 A2@0 ");
    rig_free(r);
}

static void l6_launches_that_overflow_are_read_later(void **state)
{
    struct rig *r = rig_new(2, 1, TIM_BLOCKS_SMX_BIND);

    (void)state;
    r->config->dtbl_on = true;
    rig_open(r);
    launch(r, 'P', 'k', 2, 0, 0);
    ticks(r, 6);
    for (unsigned i = 0; i < 130; i++)
        launch_shape(r, 'A', 'k', 1, 32, 1, 'P', 0, i, true);
    tick(r);
    assert_int_equal(count(r, TIM_GPU_laperm_overflows), 2);
    for (unsigned i = 0; i < 2000; i++) {
        end_all(r);
        tick(r);
    }
    assert_true(tim_grid_empty(&r->e->grid));
    assert_int_equal(count(r, TIM_GPU_laperm_own), 130);
    assert_int_equal(count(r, TIM_GPU_laperm_near), 130);
    assert_int_equal(count(r, TIM_GPU_laperm_reads), 2);
    rig_free(r);
}

static void l7_launches_of_the_host_are_placed_as_by_round_robin(void **state)
{
    (void)state;
    for (unsigned policy = 0; policy < TIM_BLOCKS_ADAPTIVE + 1; policy++) {
        struct rig *r = rig_new(4, 2, policy);

        r->config->kernels_ideal = true;
        rig_open(r);
        launch(r, 'P', 'k', 12, 0, 0);
        ticks(r, 8);
        said(r, "P0@0 P1@1 P2@2 P3@3 P4@0 P5@1 P6@2 P7@3 ");
        /* each free place is filled within four cycles, because there are four cores, in the order of blocks */
        static const char *const placed[] = {[6] = "P8@2 ", [1] = "P9@1 ", [7] = "P10@3 ", [5] = "P11@1 "};

        for (unsigned i = 0; i < 4; i++) {
            end(r, r->grid['P'], 0x5716u >> 4 * i & 15); /* blocks 6, 1, 7 and 5 */
            ticks(r, 4);
            said(r, placed[0x5716u >> 4 * i & 15]);
        }
        rig_free(r);
    }
}

static void l8_a_full_distributor_holds_up_higher_priorities(void **state)
{
    struct rig *r = rig_new(13, 16, TIM_BLOCKS_ADAPTIVE);

    (void)state;
    rig_open(r);
    for (unsigned i = 0; i < 32; i++)
        launch(r, 'P', 'k', 1, 0, 0);
    ticks(r, 600);
    assert_int_equal(resident(r), 32);
    r->log[0] = '\0';
    for (unsigned i = 0; i < 40; i++)
        launch(r, 'C', 'm', 1, 'P', 0);
    ticks(r, 600);
    said(r, "");
    end(r, r->grid['P'], 0);
    ticks(r, 600);
    assert_int_equal(resident(r), 32);
    assert_int_equal(count(r, TIM_GPU_laperm_own) + count(r, TIM_GPU_laperm_backup), 1);
    rig_free(r);
}

/* ---- block pairs and locality: table A of the specification of address pre-computation ----------------- */

/* Kernel whose blocks read the same lines of an array: a thread reads 4 bytes at `a` * block x + `b` * block y +
 * `c` * thread x. */
static const char reader[] = ".kernel k\n.param ptr.global in\n.param b32 a\n.param b32 b\n.param b32 c\n"
                             "s_mov_b64 s4:5, c[in]\nv_s2r v0, %ctaid.x\nv_s2r v1, %ctaid.y\nv_s2r v2, %tid.x\n"
                             "v_mul_u32 v0, v0, c[a]\nv_mul_u32 v1, v1, c[b]\nv_mul_u32 v2, v2, c[c]\n"
                             "v_add_u32 v0, v0, v1\nv_add_u32 v0, v0, v2\nld.global.b32 v3, [s4:5+v0]\nexit\n.end\n";
struct reads {
    uint64_t in;
    uint32_t a, b, c;
};

/** Create and open a fixture whose only kernel is @text. */
static struct rig *locality_rig(unsigned cores, unsigned blocks, unsigned policy, const char *text)
{
    struct rig *r = rig_new(cores, blocks, policy);
    struct tim_options options = {0};
    struct lw_error err;

    r->fix = fix_new(r->config->core_warp_width);
    tim_config_machine(r->config, &r->fix->config);
    fix_load(r->fix, text, 32);
    emu_engine_destroy(r->fix->engine);
    fix_check(tim_engine_create_over(r->fix->machine, r->config, &options, run_memory_create, &r->fix->engine, &err), &err);
    r->e = (struct tim_engine *)r->fix->engine;
    r->e->grid.starts = NULL;
    r->e->grid.distributed = NULL;
    assert_true(tim_code_fill(&r->e->config, r->fix->program, &r->code));
    return r;
}

/** Create launch @name with @x by @y blocks of @threads threads, which read a new array of @bytes. @reads has the other
 *  parameters of the kernel. */
static void launch_reads(struct rig *r, char name, unsigned x, unsigned y, unsigned threads, struct reads reads, uint64_t bytes)
{
    struct lw_error err;
    struct emu_launch launch = {.program = r->fix->program, .kernel = &r->fix->object->functions[0], .grid = {x, y, 1},
                                .block = {threads, 1, 1}, .work_dim = 2, .params = &reads};
    struct emu_grid *grid;

    fix_check(emu_alloc(r->fix->machine, bytes, "in", 0, &reads.in, &err), &err);
    fix_check(emu_grid_launch(r->fix->machine, &launch, &grid, &err), &err);
    r->grid[(unsigned)name] = grid;
    if (r->e->grid.reach != NULL)
        fix_check(tim_reach_add(r->e->grid.reach, grid, &err), &err);
    assert_true(tim_grid_add(&r->e->grid, grid, &r->code, r->now, 0, NULL, 0));
}
/** Create launch A with @blocks blocks in x, in which each line is read by @sharers consecutive blocks. */
static void launch_row(struct rig *r, unsigned blocks, unsigned sharers)
{
    launch_reads(r, 'A', blocks, 1, 1, (struct reads){.a = 128 / sharers, .c = 4}, blocks * 128);
}
/** End the oldest block on core @core, and execute two cycles, in which the next block is placed there. */
static void end_oldest(struct rig *r, unsigned core)
{
    const struct tim_block *oldest = NULL;

    for (unsigned b = 0; b < r->config->core_blocks; b++) {
        const struct tim_block *block = &r->e->core[core]->block[b];

        if (block->used && (oldest == NULL || r->e->core[core]->warp[block->warp_slot[0]].age <
                                                  r->e->core[core]->warp[oldest->warp_slot[0]].age))
            oldest = block;
    }
    end(r, oldest->grid, oldest->linear);
    ticks(r, 2);
}
/** Check the reason that the shell prints for the placement of block @linear of launch A on core @core. */
static void why_is(struct rig *r, unsigned core, uint64_t linear, const char *expected)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    tim_grid_why(&r->e->grid, r->grid['A'], core, linear, r->now, &text.sink);
    assert_string_equal(text.text, expected);
    lw_buffer_fini(&text);
}

/* A15: two blocks share 4 x 4 lines of one array and 2 x 2 lines of another. */
static void a15_overlaps_of_arrays_are_added(void **state)
{
    const struct emu_rect a[] = {{.x = 0, .y = 0, .w = 6, .h = 6}, {.x = 10, .y = 10, .w = 4, .h = 4}};
    const struct emu_rect b[] = {{.x = 2, .y = 2, .w = 8, .h = 8}, {.x = 12, .y = 8, .w = 9, .h = 4}};

    (void)state;
    assert_int_equal(emu_rect_overlap(&a[0], &b[0]), 16);
    assert_int_equal(emu_rect_overlap(&a[1], &b[1]), 4);
    assert_int_equal(tim_reach_overlap(a, b, 2), 20);
    assert_int_equal(tim_reach_overlap(a, b, 1), 16);
}

static void a16_rows_share(void **state)
{
    static const char *const expected[][2] = {
        {"A0@0 A1@1 A2@0 A3@1 ", "A4@0 A5@1 A6@0 A7@1 "},
        {"A0@0 A2@1 A1@0 A3@1 ", "A4@0 A6@1 A5@0 A7@1 "},
    };

    (void)state;
    for (unsigned local = 0; local < 2; local++) {
        struct rig *r = locality_rig(2, 2, local ? TIM_BLOCKS_LA_B : TIM_BLOCKS_RR, reader);

        launch_row(r, 8, 2);
        ticks(r, 8);
        said(r, expected[local][0]);
        if (local) {
            why_is(r, 0, 1, "\nthe warp's block was placed here because it shares 1 lines with block (0,0,0) on core 0");
            why_is(r, 1, 2, "\nthe warp's block was placed here because it shared 0 lines with blocks on other cores, the fewest of the waiting blocks; "
                            "no waiting block shared lines with core 1");
        }
        for (unsigned i = 0; i < 4; i++)
            end_oldest(r, i % 2);
        said(r, expected[local][1]);
        assert_int_equal(count(r, TIM_GPU_la_b_overlap), local ? 4 : 0);
        assert_int_equal(count(r, TIM_GPU_la_b_lines), local ? 4 : 0);
        assert_int_equal(count(r, TIM_GPU_la_b_least), local ? 4 : 0);
        rig_free(r);
    }
}

static void a16_columns_share(void **state)
{
    static const char *const initial[] = {
        [TIM_BLOCKS_RR] = "A0@0 A1@1 A2@2 A3@3 A4@0 A5@1 A6@2 A7@3 ",
        [TIM_BLOCKS_BCS] = "A0@0 A1@0 A2@1 A3@1 A4@2 A5@2 A6@3 A7@3 ",
        [TIM_BLOCKS_LA_B] = "A0@0 A1@1 A2@2 A3@3 A6@0 A7@1 A8@2 A9@3 ",
    };
    static const unsigned policies[] = {TIM_BLOCKS_RR, TIM_BLOCKS_BCS, TIM_BLOCKS_LA_B};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(policies); i++)
        for (unsigned window = 0; window < 2; window++) {
            struct rig *r = locality_rig(4, 2, policies[i], reader);

            r->e->config.ap_window = window == 0 ? 0 : 3; /* number of blocks in a row, minus the number of cores, plus 1 */
            /* blocks i and i + 6 share a line */
            launch_reads(r, 'A', 6, 2, 1, (struct reads){.a = 128, .b = 64, .c = 4}, 8 * 128);
            ticks(r, 16);
            said(r, initial[policies[i]]);
            for (unsigned c = 0; policies[i] == TIM_BLOCKS_LA_B && window == 0 && c < 4; c++)
                end_oldest(r, c);
            if (policies[i] == TIM_BLOCKS_LA_B && window == 0)
                said(r, "A4@0 A5@1 A10@2 A11@3 ");
            rig_free(r);
        }
}

static void a16_groups_of_four_and_no_sharing(void **state)
{
    struct rig *r = locality_rig(2, 4, TIM_BLOCKS_LA_B, reader);
    static char order[2][sizeof r->log];

    (void)state;
    launch_row(r, 16, 4);
    ticks(r, 16);
    said(r, "A0@0 A4@1 A1@0 A5@1 A2@0 A6@1 A3@0 A7@1 ");
    rig_free(r);
    for (unsigned local = 0; local < 2; local++) { /* without shared lines, la_b places blocks exactly as round robin does */
        r = locality_rig(3, 2, local ? TIM_BLOCKS_LA_B : TIM_BLOCKS_RR, reader);
        launch_row(r, 20, 1);
        ticks(r, 12);
        for (unsigned i = 0; i < 14; i++)
            end_oldest(r, i * 7 % 3);
        memcpy(order[local], r->log, sizeof r->log);
        rig_free(r);
    }
    assert_string_equal(order[0], order[1]);
    assert_non_null(strstr(order[0], "A19@"));
}

/* If no waiting block shares lines with blocks on a core, the core gets the waiting block that shares the fewest lines with
 * blocks on other cores. Block 0 reads eight lines and runs on core 0. Blocks 1, 2 and 3 read five, two and two of these
 * lines. Core 1 gets block 2. */
static void a16_the_minimum_rule(void **state)
{
    static const char text[] = ".kernel k\n.param ptr.global in\n.param b32 a\n.param b32 b\n.param b32 c\n"
                               "s_mov_b64 s4:5, c[in]\nv_s2r v0, %ctaid.x\nv_s2r v2, %tid.x\n"
                               "v_shl_b32 v2, v2, 7\nv_mul_u32 v1, v0, 3\nv_add_u32 v4, v0, 0\n"
                               "v_min_u32 v4, v4, 2\nv_mul_u32 v4, v4, 384\nv_add_u32 v0, v4, v2\n"
                               "ld.global.b32 v3, [s4:5+v0]\nexit\n.end\n";
    struct rig *r = locality_rig(2, 1, TIM_BLOCKS_LA_B, text);

    (void)state;
    launch_reads(r, 'A', 4, 1, 8, (struct reads){0}, 64 * 128); /* blocks read lines 0-7, 3-10, 6-13, and 6-13 */
    ticks(r, 2);
    said(r, "A0@0 A2@1 ");
    why_is(r, 1, 2, "\nthe warp's block was placed here because it shared 2 lines with blocks on other cores, the fewest of the waiting blocks; no waiting block shared lines with "
                    "core 1");
    rig_free(r);
}

static void a17_pairs_wait_until_both_fit(void **state)
{
    struct rig *r = locality_rig(2, 2, TIM_BLOCKS_BCS, reader);

    (void)state;
    launch_row(r, 9, 2);
    ticks(r, 12);
    said(r, "A0@0 A1@0 A2@1 A3@1 ");
    end(r, r->grid['A'], 0);
    ticks(r, 4);
    said(r, "");
    why_is(r, 0, 1, "\nthe warp's block was placed as a pair with block 0");
    end(r, r->grid['A'], 1);
    ticks(r, 4);
    said(r, "A4@0 A5@0 ");
    end(r, r->grid['A'], 2);
    end(r, r->grid['A'], 3);
    ticks(r, 4);
    said(r, "A6@1 A7@1 ");
    end(r, r->grid['A'], 4);
    ticks(r, 4);
    said(r, "A8@0 "); /* the last block has no partner */
    assert_int_equal(count(r, TIM_GPU_bcs_pairs), 4);
    assert_int_equal(count(r, TIM_GPU_bcs_singles), 1);
    rig_free(r);
}

static void a17_residency_of_one_warp_blocks(void **state)
{
    static const unsigned least[] = {[TIM_BLOCKS_RR] = 7, [TIM_BLOCKS_BCS] = 6, [TIM_BLOCKS_LA_B] = 7};
    static const unsigned policies[] = {TIM_BLOCKS_RR, TIM_BLOCKS_BCS, TIM_BLOCKS_LA_B};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(policies); i++) {
        struct rig *r = locality_rig(1, 8, policies[i], reader);
        unsigned fewest = 8;

        launch_row(r, 40, 1);
        ticks(r, 10);
        for (unsigned n = 0; n < 20; n++) {
            const struct tim_block *block = &r->e->core[0]->block[n % 8];

            end(r, block->grid, block->linear);
            fewest = resident(r) < fewest ? resident(r) : fewest;
            ticks(r, 3);
        }
        assert_int_equal(fewest, least[policies[i]]);
        rig_free(r);
    }
}

/* While blocks wait, no core has space for a block. Each block is placed once, and the launch completes. */
static void a18_a19_no_core_waits_and_each_block_is_placed_once(void **state)
{
    static const unsigned policies[] = {TIM_BLOCKS_RR, TIM_BLOCKS_BCS, TIM_BLOCKS_LA_B};

    (void)state;
    for (unsigned round = 0; round < 90; round++) {
        uint64_t seed = round;
        const unsigned policy = policies[round % 3], cores = 1 + tim_random(&seed, 4), slots = 1 + tim_random(&seed, 4);
        const unsigned x = 1 + tim_random(&seed, 12), y = 1 + tim_random(&seed, 6);
        struct rig *r = locality_rig(cores, slots, policy, reader);
        uint64_t seen[2] = {0};

        r->e->config.ap_window = tim_random(&seed, 2) ? 0 : 1 + tim_random(&seed, 5);
        r->e->config.ap_dispatch_cost = tim_random(&seed, 3) == 0 ? 1 + tim_random(&seed, 9) : 0;
        const bool waits = r->e->config.ap_dispatch_cost != 0 || policy == TIM_BLOCKS_BCS;
        launch_reads(r, 'A', x, y, 1 + tim_random(&seed, 8),
                     (struct reads){.a = 32 * (1 + tim_random(&seed, 8)), .b = 512 * tim_random(&seed, 3), .c = 4 << tim_random(&seed, 6)}, 1 << 16);
        struct emu_grid *grid = r->grid['A'];
        for (unsigned i = 0; i < 4000 && !tim_grid_empty(&r->e->grid); i++) {
            const unsigned c = tim_random(&seed, cores), b = tim_random(&seed, slots);

            ticks(r, waits ? 600 : cores * slots);
            for (unsigned k = 0; k < cores && !waits; k++)
                assert_true(grid->blocks_placed == grid->block_count || r->e->core[k]->blocks == slots);
            for (unsigned k = 0; k < cores; k++)
                for (unsigned n = 0; n < slots; n++)
                    if (r->e->core[k]->block[n].used)
                        seen[r->e->core[k]->block[n].linear / 64] |= UINT64_C(1) << r->e->core[k]->block[n].linear % 64;
            if (r->e->core[c]->block[b].used)
                end(r, grid, r->e->core[c]->block[b].linear);
        }
        assert_true(tim_grid_empty(&r->e->grid));
        uint64_t placed = 0;
        for (unsigned c = 0; c < cores; c++)
            placed += r->e->core[c]->assigned; /* counts warps; each block has one */
        assert_int_equal(placed, x * y);
        assert_int_equal(lw_popcount(seen[0]) + lw_popcount(seen[1]), x * y);
        rig_free(r);
    }
}

/* A28: the kernel has no slice, because its addresses depend on a loaded value. Blocks are placed as by round robin, and the
 * reason is counted. */
static void a28_without_slices_blocks_go_in_rotation(void **state)
{
    static const char text[] = ".kernel k\n.param ptr.global in\ns_mov_b64 s4:5, c[in]\nv_s2r v0, %tid.x\nv_shl_b32 v0, v0, 2\n"
                               "ld.shared.b32 v6, [v0]\nv_add_u32 v0, v0, v6\nld.global.b32 v3, [s4:5+v0]\nexit\n.end\n";
    struct rig *r = locality_rig(2, 2, TIM_BLOCKS_LA_B, text);

    (void)state;
    launch_reads(r, 'A', 6, 1, 1, (struct reads){0}, 4096);
    ticks(r, 6);
    end_oldest(r, 1);
    said(r, "A0@0 A1@1 A2@0 A3@1 A4@1 ");
    assert_int_equal(count(r, TIM_GPU_ap_fallback), 1);
    assert_int_equal(count(r, TIM_GPU_ap_launches), 0);
    assert_int_equal(count(r, TIM_GPU_ap_rejected_loaded), 1);
    why_is(r, 1, 4, "\nthe warp's block was placed in rotation, because its launch has no address slices");
    rig_free(r);
}

/* R13: a decision takes time for each overlap that it computes. */
static void a_decision_costs_its_overlaps(void **state)
{
    struct rig *r = locality_rig(1, 2, TIM_BLOCKS_LA_B, reader);

    (void)state;
    r->e->config.ap_dispatch_cost = 10;
    launch_row(r, 4, 2);
    tick(r); /* no block runs, so no overlap is computed, and the decision takes no time */
    said(r, "A0@0 ");
    ticks(r, 30); /* overlaps of three waiting blocks with one running block, in one array, take 3 * 10 cycles */
    said(r, "");
    tick(r);
    said(r, "A1@0 ");
    assert_int_equal(count(r, TIM_GPU_ap_decision_ops), 3);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b1_blocks_go_to_the_cores_in_rotation),
        cmocka_unit_test(b2_the_next_block_goes_where_one_ended),
        cmocka_unit_test(b8_the_next_kernel_follows_in_the_next_cycle),
        cmocka_unit_test(d1_to_d3_a_group_joins_a_kernel_of_its_shape_alone),
        cmocka_unit_test(d4_d5_groups_follow_their_kernel_which_is_marked_anew_when_it_was_distributed),
        cmocka_unit_test(d6_the_group_table_has_one_probe_by_the_thread),
        cmocka_unit_test(d7_a_warp_fills_an_entry_a_lane),
        cmocka_unit_test(d8_a_kernel_that_is_over_keeps_its_entry_for_its_groups),
        cmocka_unit_test(d10_groups_are_not_limited_by_entries),
        cmocka_unit_test(d11_a_group_joins_in_the_cycle_in_which_the_last_block_ends),
        cmocka_unit_test(d11_random_times),
        cmocka_unit_test(d12_records_of_spilled_groups_are_read),
        cmocka_unit_test(d13_groups_without_a_kernel_are_launched_as_kernels),
        cmocka_unit_test(ct6_ct7_memory_is_reserved_for_launches),
        cmocka_unit_test(d14_it_costs_1096_bytes_and_20_an_entry),
        cmocka_unit_test(d16_every_block_is_placed_once),
        cmocka_unit_test(l1_the_reference_example),
        cmocka_unit_test(l2_priorities_stop_at_the_last_level),
        cmocka_unit_test(l3_l4_a_backup_remains_until_its_queues_are_empty),
        cmocka_unit_test(l5_a_higher_priority_goes_before_the_rest_of_a_lower_one),
        cmocka_unit_test(l6_launches_that_overflow_are_read_later),
        cmocka_unit_test(l7_launches_of_the_host_are_placed_as_by_round_robin),
        cmocka_unit_test(l8_a_full_distributor_holds_up_higher_priorities),
        cmocka_unit_test(a15_overlaps_of_arrays_are_added),
        cmocka_unit_test(a16_rows_share),
        cmocka_unit_test(a16_columns_share),
        cmocka_unit_test(a16_groups_of_four_and_no_sharing),
        cmocka_unit_test(a16_the_minimum_rule),
        cmocka_unit_test(a17_pairs_wait_until_both_fit),
        cmocka_unit_test(a17_residency_of_one_warp_blocks),
        cmocka_unit_test(a18_a19_no_core_waits_and_each_block_is_placed_once),
        cmocka_unit_test(a28_without_slices_blocks_go_in_rotation),
        cmocka_unit_test(a_decision_costs_its_overlaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
