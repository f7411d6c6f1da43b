/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests diversion and voltage scaling without instructions: the registers DVR, DRN and DVFS of a core, drains, changes of
 * clocks, and which cores get blocks. Tests p1 to p9 are rows P-1 to P-9 of the dynamic parallelism thesis's specification,
 * 10.7. Row P-10 is in test_tim_energy.c; rows P-11 and P-12 are in test_tim_power.sh.
 */
#include "tests/timing/block_rig.h"

enum { CORES = 13 };

static struct rig *power(unsigned policy)
{
    struct rig *r = rig_new(CORES, 16, policy);

    r->config->dvfs_on = true;
    return r;
}

/** Create launch @name with @blocks blocks of @warps warps. */
static void blocks_of(struct rig *r, char name, unsigned blocks, unsigned warps)
{
    launch_shape(r, name, 'k', blocks, 32 * warps, 1, 0, 0, 0, false);
}

static const struct tim_dvfs_core *core(const struct rig *r, unsigned c)
{
    return &r->e->grid.dvfs->core[c];
}

static void registers_are(const struct rig *r, unsigned c, bool dvr, bool drn, bool dvfs)
{
    const struct tim_dvfs_core *is = core(r, c);

    if (is->dvr != dvr || is->drn != drn || is->dvfs != dvfs)
        fail_msg("core %u in cycle %llu: DVR %d DRN %d DVFS %d, expected %d %d %d", c, (unsigned long long)r->now, is->dvr, is->drn,
                 is->dvfs, dvr, drn, dvfs);
}

static unsigned diverted(const struct rig *r)
{
    unsigned found = 0;

    for (unsigned c = 0; c < CORES; c++)
        found += core(r, c)->dvr;
    return found;
}

/** Execute the cycles up to and including the next sample. */
static void to_sample(struct rig *r)
{
    do
        tick(r);
    while ((r->now - 1) % 500 != 0);
}

/** Create a fixture in which each core i has two blocks: block i of launch A, with @few warps, and block i of launch B, with
 *  @more warps. */
static struct rig *each_core_has(unsigned few, unsigned more)
{
    struct rig *r = power(TIM_BLOCKS_RR);

    rig_open(r);
    blocks_of(r, 'A', CORES, few);
    blocks_of(r, 'B', CORES, more);
    ticks(r, 40);
    r->log[0] = '\0';
    return r;
}

static void p1_a_core_with_few_warps_drains_and_gets_no_blocks(void **state)
{
    struct rig *r = each_core_has(3, 29);

    (void)state;
    end(r, r->grid['B'], 3);
    to_sample(r);
    registers_are(r, 3, true, true, false);
    assert_int_equal(diverted(r), 1);
    blocks_of(r, 'C', 3 * CORES, 1);
    ticks(r, 60);
    assert_non_null(strstr(r->log, "C38@"));
    assert_null(strstr(r->log, "@3 "));
    rig_free(r);
}

static void p2_the_threshold_itself_is_enough(void **state)
{
    struct rig *r = each_core_has(4, 28);

    (void)state;
    end(r, r->grid['B'], 3);
    to_sample(r);
    assert_int_equal(diverted(r), 0);
    rig_free(r);
}

static void p3_an_empty_core_is_parked_after_the_transition(void **state)
{
    struct rig *r = each_core_has(3, 29);

    (void)state;
    end(r, r->grid['A'], 3);
    end(r, r->grid['B'], 3);
    to_sample(r);
    registers_are(r, 3, true, false, true);
    ticks(r, 499);
    assert_false(r->e->core[3]->domain->slow);
    tick(r);
    assert_true(r->e->core[3]->domain->slow);
    assert_true(r->e->core[3]->domain->span[TIM_SPAN_LOW].on);
    assert_int_equal(core(r, 3)->done, 0);
    registers_are(r, 3, true, false, true);
    rig_free(r);
}

static void p4_a_drain_ends_after_ten_samples(void **state)
{
    struct rig *r = each_core_has(3, 29);

    (void)state;
    end(r, r->grid['B'], 3);
    to_sample(r);
    for (unsigned i = 0; i < 9; i++) {
        to_sample(r);
        registers_are(r, 3, true, true, false);
    }
    to_sample(r);
    registers_are(r, 3, false, false, false);
    assert_int_equal(count(r, TIM_GPU_dvfs_aborts), 1);
    blocks_of(r, 'C', CORES, 1);
    ticks(r, 20);
    assert_non_null(strstr(r->log, "@3 "));
    to_sample(r); /* At this sample core 3 has 4 warps, which reaches the threshold. So it may be diverted again later. */
    end(r, r->grid['A'], 3);
    to_sample(r);
    registers_are(r, 3, true, true, false);
    rig_free(r);
}

/* After an aborted drain, a core does not drain again before it has had as many warps as the threshold. */
static void an_aborted_drain_does_not_begin_anew(void **state)
{
    struct rig *r = each_core_has(3, 29);

    (void)state;
    end(r, r->grid['B'], 3);
    for (unsigned i = 0; i < 14; i++)
        to_sample(r);
    registers_are(r, 3, false, false, false);
    assert_false(core(r, 3)->armed);
    rig_free(r);
}

static void p5_cores_that_fall_together_are_not_diverted(void **state)
{
    for (unsigned busy = 0; busy < 2; busy++) {
        struct rig *r = each_core_has(2, 30);

        (void)state;
        r->e->config.dvfs_busy = busy;
        for (unsigned c = 0; c < CORES; c++)
            end(r, r->grid['B'], c);
        to_sample(r);
        assert_int_equal(diverted(r), busy ? 0 : CORES - 1);
        rig_free(r);
    }
}

static void p5b_cores_that_fall_one_after_another_leave_one(void **state)
{
    struct rig *r = each_core_has(2, 30);

    (void)state;
    for (unsigned c = 0; c < CORES; c++) {
        end(r, r->grid['B'], c);
        to_sample(r);
        assert_int_equal(diverted(r), c < CORES - 1 ? c + 1 : c);
        end(r, r->grid['A'], c); /* the core is empty before its drain is aborted */
    }
    to_sample(r);
    assert_int_equal(diverted(r), CORES - 1);
    registers_are(r, 12, false, false, false);
    rig_free(r);
}

static void p6_no_core_is_diverted_if_all_others_are_full(void **state)
{
    struct rig *r = power(TIM_BLOCKS_RR);

    (void)state;
    rig_open(r);
    blocks_of(r, 'A', 2 * CORES, 32);
    ticks(r, 40);
    end(r, r->grid['A'], 3);
    end(r, r->grid['A'], CORES + 3);
    blocks_of(r, 'B', 1, 3);
    to_sample(r);
    assert_int_equal(diverted(r), 0);
    rig_free(r);
}

/** Create a fixture in which cores 3 and 5 are parked, all other cores are full, and nine blocks of launch B wait. A change of
 *  clocks takes @transition cycles. */
static struct rig *two_are_parked(unsigned transition)
{
    struct rig *r = power(TIM_BLOCKS_RR);

    r->config->dvfs_transition = transition;
    rig_open(r);
    blocks_of(r, 'A', CORES, 32);
    ticks(r, 40);
    end(r, r->grid['A'], 3);
    end(r, r->grid['A'], 5);
    to_sample(r);
    ticks(r, transition + 500 - transition % 500);
    assert_true(r->e->core[3]->domain->slow && r->e->core[5]->domain->slow);
    blocks_of(r, 'B', 20, 32);
    ticks(r, 100);
    r->log[0] = '\0';
    to_sample(r);
    said(r, "");
    return r;
}

static void p7_one_core_returns_at_each_sample(void **state)
{
    struct rig *r = two_are_parked(500);

    (void)state;
    registers_are(r, 3, false, false, true);
    registers_are(r, 5, true, false, true);
    ticks(r, 500); /* executes the cycles up to the next sample, in which core 3's transition to the high clock ends */
    registers_are(r, 3, false, false, false);
    registers_are(r, 5, true, false, true);
    said(r, "B11@3 "); /* block B11 is placed at the end of the transition */
    to_sample(r);
    registers_are(r, 5, false, false, true);
    assert_int_equal(count(r, TIM_GPU_dvfs_resumes), 2);
    said(r, "B12@3 ");
    to_sample(r);
    assert_non_null(strstr(r->log, "B13@5 "));
    rig_free(r);

    r = two_are_parked(10000);
    registers_are(r, 3, false, false, true);
    registers_are(r, 5, true, false, true);
    to_sample(r);
    registers_are(r, 5, false, false, true);
    ticks(r, 9499);
    said(r, "");
    tick(r);
    said(r, "B11@3 ");
    rig_free(r);
}

static void p8_all_clocks_fall_if_nothing_is_left(void **state)
{
    struct rig *r = power(TIM_BLOCKS_RR);

    (void)state;
    rig_open(r);
    blocks_of(r, 'A', CORES, 32);
    ticks(r, 20);
    end_all(r);
    to_sample(r);
    assert_true(r->e->grid.dvfs->dvfs);
    assert_int_equal(diverted(r), 0);
    to_sample(r);
    for (unsigned c = 0; c < CORES; c++)
        assert_true(r->e->core[c]->domain->slow);
    r->log[0] = '\0';
    blocks_of(r, 'B', 1, 1);
    to_sample(r); /* at this sample the cores begin to return to the high clock */
    assert_true(r->e->grid.dvfs->dvfs && r->e->grid.dvfs->rising);
    said(r, "");
    to_sample(r);
    assert_false(r->e->grid.dvfs->dvfs);
    assert_false(r->e->core[0]->domain->slow);
    said(r, "B0@0 ");
    rig_free(r);
}

static void p9_its_registers_take_6_bytes(void **state)
{
    struct rig *r = power(TIM_BLOCKS_RR);

    (void)state;
    assert_int_equal(tim_dvfs_bytes(r->config), 6);
    rig_open(r);
    rig_free(r);
}

/* With smx_bind, only a core itself takes blocks from its queue. Blocks for a diverted core must therefore be queued for
 * another core; otherwise they would never run. */
static void blocks_bound_to_a_diverted_core_go_elsewhere(void **state)
{
    struct rig *r = power(TIM_BLOCKS_SMX_BIND);

    (void)state;
    rig_open(r);
    blocks_of(r, 'A', 2 * CORES, 3);
    ticks(r, 200);
    end(r, r->grid['A'], 3);
    to_sample(r);
    registers_are(r, 3, true, true, false);
    r->log[0] = '\0';
    launch(r, 'C', 'k', 2, 'A', 3);
    ticks(r, 40);
    assert_non_null(strstr(r->log, "C1@"));
    assert_null(strstr(r->log, "@3 "));
    launch(r, 'D', 'k', 2, 'A', 4); /* core 4 is not diverted, so it runs the blocks of its own queue */
    r->log[0] = '\0';
    ticks(r, 40);
    said(r, "D0@4 D1@4 ");
    rig_free(r);
}

/* A core with the low clock executes one cycle in seven cycles of the high clock. */
static void a_slow_core_has_a_seventh_of_the_cycles(void **state)
{
    struct rig *r = power(TIM_BLOCKS_RR);
    struct tim_domain *d;

    (void)state;
    rig_open(r);
    d = r->e->core[0]->domain;
    tim_domain_set_slow(r->e->core[0], true, 1000);
    assert_int_equal(tim_domain_own(d, 1000), 1000);
    assert_int_equal(tim_domain_own(d, 1006), 1000);
    assert_int_equal(tim_domain_own(d, 1007), 1001);
    assert_int_equal(tim_domain_when(d, 1000), 1006);
    assert_int_equal(tim_domain_when(d, 1001), 1013);
    tim_domain_set_slow(r->e->core[0], false, 1700);
    assert_int_equal(tim_domain_own(d, 1700), 1100);
    assert_int_equal(tim_domain_own(d, 1705), 1105);
    assert_int_equal(tim_domain_when(d, 1105), 1705);
    tim_domain_account(r->e->core[0], 1705);
    assert_int_equal(r->e->stats[0].count[TIM_CORE_dvfs_lost_cycles], 600);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p1_a_core_with_few_warps_drains_and_gets_no_blocks),
        cmocka_unit_test(p2_the_threshold_itself_is_enough),
        cmocka_unit_test(p3_an_empty_core_is_parked_after_the_transition),
        cmocka_unit_test(p4_a_drain_ends_after_ten_samples),
        cmocka_unit_test(an_aborted_drain_does_not_begin_anew),
        cmocka_unit_test(p5_cores_that_fall_together_are_not_diverted),
        cmocka_unit_test(p5b_cores_that_fall_one_after_another_leave_one),
        cmocka_unit_test(p6_no_core_is_diverted_if_all_others_are_full),
        cmocka_unit_test(p7_one_core_returns_at_each_sample),
        cmocka_unit_test(p8_all_clocks_fall_if_nothing_is_left),
        cmocka_unit_test(p9_its_registers_take_6_bytes),
        cmocka_unit_test(blocks_bound_to_a_diverted_core_go_elsewhere),
        cmocka_unit_test(a_slow_core_has_a_seventh_of_the_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
