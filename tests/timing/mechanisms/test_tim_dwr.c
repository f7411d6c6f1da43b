/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests dynamic warp resizing. dwr.md is the specification of the paper on dynamic warp resizing, and is not part of Lanewise.
 * U3 to U30 are the unit tests of section 16.1 of dwr.md, with the expected values of that section.
 * The traces are those of its sections 6 and 7, in which an ignored barrier does not count as an arrival
 * (dwr.skip_counts_as_arrival=off). Most tests run twice: with implicit barriers, and with explicit ones (bar.synch_partner).
 * A LAT is a load or store of global or local memory, or by a generic address. Some tests are in other
 * files: U1 and U2 in test_ptx_lat.c; U20 in test_tim_packets.c; U28 in test_tim_kernels.sh and test_lat_barriers.sh, which run
 * kernels with dwr; U29 in prop_tim.c.
 */
#include "tests/timing/mechanisms/mech_fixture.h"
#include "timing/mechanisms/tim_dwr_priv.h"

static const struct tim_static lat = {.path = TIM_PATH_MEMORY, .type = TIM_TYPE_MEMORY, .load = true, .data = true};
static const struct tim_static lat_barrier = {.path = TIM_PATH_NONE, .type = TIM_TYPE_SPECIAL, .lat_barrier = true};

static bool is_explicit; /* the test runs with explicit barriers, which are instructions */

/* ---- tests that call the hooks: warps have 8 lanes, and pcs are instruction numbers ------------------------------- */

static struct mech_core *dwr_new(unsigned n, const char *more, unsigned warps)
{
    char set[256];
    struct mech_core *m;

    snprintf(set, sizeof set, "issue.schedulers=1 dwr.on=on dwr.bar_mode=%s dwr.skip_counts_as_arrival=off core.group=%u%s%s",
             is_explicit ? "explicit" : "implicit", n, *more != '\0' ? " " : "", more);
    m = mech_new(set, 0);
    mech_begin(m, warps);
    return m;
}

static void at(struct mech_core *m, uint64_t cycle)
{
    m->mechs.core.now = cycle;
    tim_mechs_pick(&m->mechs, 0, NULL);
}

/** Let @warp reach the LAT at @pc in this cycle. With explicit barriers, the warp issues the barrier at @pc, and the LAT is its
 *  next instruction. */
static void reach(struct mech_core *m, unsigned warp, unsigned pc)
{
    m->warp[warp].lanes = 0xff;
    m->warp[warp].pc = (uint64_t)pc * ISA_WORD_BYTES;
    if (is_explicit) {
        tim_mechs_reach(&m->mechs, warp, m->warp[warp].pc, &lat_barrier);
        assert_false(mech_holds(m, warp, &lat_barrier));
        tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = warp, .lanes = 8, .what = &lat_barrier, .pc = m->warp[warp].pc});
        m->warp[warp].pc += ISA_WORD_BYTES;
    }
    tim_mechs_reach(&m->mechs, warp, m->warp[warp].pc, &lat);
    assert_true(mech_holds(m, warp, &lat));
}

/** Let @warp reach the LAT at @pc in cycle @cycle, and continue to the end of the barrier operation, 24 cycles later. */
static void barrier(struct mech_core *m, uint64_t cycle, unsigned warp, unsigned pc)
{
    at(m, cycle);
    reach(m, warp, pc);
    at(m, cycle + 24);
}

static enum tim_dwr_state state_of(const struct mech_core *m, unsigned warp)
{
    return tim_dwr_state(m->mechs.mech[0], warp);
}

static void entry_is(const struct mech_core *m, unsigned group, bool valid, unsigned pc, uint64_t lock)
{
    const struct tim_dwr_pst *pst = tim_dwr_pst(m->mechs.mech[0], group);

    assert_int_equal(pst->valid, valid);
    assert_int_equal(pst->lock, lock);
    if (valid)
        assert_int_equal(pst->pc, (uint64_t)pc * ISA_WORD_BYTES);
}

/** Check the numbers of the instructions in the ILT, the table of LATs whose barriers are ignored, ascending, as "4 20". */
static void ilt_is(const struct mech_core *m, const char *expected)
{
    const struct tim_ilt *ilt = tim_dwr_ilt(m->mechs.mech[0]);
    char text[512] = "";

    for (unsigned number = 0; number < 256; number++)
        for (unsigned i = 0; i < ilt->ways; i++) {
            const struct tim_ilt_way *way = &ilt->way[number % ilt->sets * ilt->ways + i];
            if (way->valid && way->tag == number / ilt->sets)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", *text != '\0' ? " " : "", number);
        }
    assert_string_equal(text, expected);
}

/** Issue all LATs that may issue, one per cycle from @cycle on, and check their warps and order. Warps that issue as one large
 *  warp are joined by "+", as in "0+2 1". */
static void issue_are(struct mech_core *m, uint64_t cycle, const char *expected)
{
    struct tim_mech *mech = m->mechs.mech[0];
    char text[256] = "";
    uint32_t last = 0;
    bool found = true;

    for (; found; cycle++) {
        found = false;
        at(m, cycle);
        for (unsigned w = 0; w < 48 && !found; w++) {
            bool together;

            if ((state_of(m, w) != TIM_DWR_COMBINE && state_of(m, w) != TIM_DWR_PASSED) || mech_holds(m, w, &lat))
                continue;
            tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = w, .lanes = 8, .what = &lat, .pc = m->warp[w].pc});
            uint32_t packet = mech->row->packet(mech, w, &lat, &together);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u",
                     *text == '\0' ? "" : packet != 0 && packet == last ? "+" : " ", w);
            last = packet;
            found = true;
        }
    }
    assert_string_equal(text, expected);
}

static void count_is(const struct mech_core *m, unsigned counter, uint64_t expected)
{
    assert_int_equal(m->count[counter], expected);
}

/** Check the relations of the counters that section 13 of dwr.md states for the time when all LATs have issued. Frees @m. */
static void finish(struct mech_core *m)
{
    assert_int_equal(m->histogram[TIM_CORE_H_dwr_issue_size].sum, m->count[TIM_CORE_dwr_barriers]);
    mech_free(m);
}

static void u4_the_timing_of_section_6(void **state)
{
    struct mech_core *m = dwr_new(2, "", 2);

    (void)state;
    at(m, 0);
    reach(m, 0, 7);
    at(m, 5);
    reach(m, 1, 7);
    at(m, 23);
    entry_is(m, 0, false, 0, 0);
    at(m, 24);
    entry_is(m, 0, true, 7, 1);
    at(m, 28);
    assert_true(mech_holds(m, 0, &lat) && mech_holds(m, 1, &lat));
    at(m, 29); /* both warps are released */
    entry_is(m, 0, false, 0, 0);
    assert_true(!mech_holds(m, 0, &lat) && mech_holds(m, 1, &lat));
    tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = 0, .lanes = 8, .what = &lat, .pc = m->warp[0].pc});
    assert_true(mech_holds(m, 0, &mech_alu)); /* the large warp occupies the issue port in cycles 29 and 30 */
    at(m, 30);
    assert_true(mech_holds(m, 0, &mech_alu) && !mech_holds(m, 1, &lat));
    tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = 1, .lanes = 8, .what = &lat, .pc = m->warp[1].pc});
    at(m, 31);
    assert_false(mech_holds(m, 0, &mech_alu));
    assert_int_equal(m->histogram[TIM_CORE_H_dwr_wait].sum, 5);
    assert_int_equal(m->histogram[TIM_CORE_H_dwr_wait].most, 5);
    finish(m);
}

/* Section 7.1 of dwr.md, order A: if (warp == 0) LAT@2; LAT@4; exit */
static void u5_order_a(void **state)
{
    struct mech_core *m = dwr_new(2, "", 4);

    (void)state;
    barrier(m, 0, 0, 2);
    entry_is(m, 0, true, 2, 1);
    barrier(m, 30, 1, 4);
    entry_is(m, 0, false, 0, 0);
    ilt_is(m, "4");
    issue_are(m, 60, "0 1");
    barrier(m, 100, 0, 4);
    entry_is(m, 0, false, 0, 0);
    assert_int_equal(state_of(m, 0), TIM_DWR_PASSED);
    issue_are(m, 130, "0");
    mech_end(m, 0);
    mech_end(m, 1);
    ilt_is(m, "4");
    count_is(m, TIM_CORE_dwr_barriers, 3);
    count_is(m, TIM_CORE_dwr_instructions, 2); /* LAT@2 and LAT@4 */
    count_is(m, TIM_CORE_dwr_ignored, 1);
    count_is(m, TIM_CORE_dwr_ignored_instructions, 1);
    count_is(m, TIM_CORE_dwr_releases, 1);
    count_is(m, TIM_CORE_dwr_ilt_inserts, 1);
    count_is(m, TIM_CORE_dwr_nb_lat, 1);
    assert_int_equal(m->histogram[TIM_CORE_H_dwr_issue_size].most, 1);

    /* U7: warps 2 and 3 of the second slot group execute what warps 0 and 1 executed. The barrier of warp 3 is ignored, so it is
     * no arrival. */
    barrier(m, 200, 2, 2);
    barrier(m, 230, 3, 4);
    entry_is(m, 1, true, 2, 1);
    assert_int_equal(state_of(m, 3), TIM_DWR_PASSED);
    issue_are(m, 260, "3");
    at(m, 299);
    assert_int_equal(state_of(m, 2), TIM_DWR_WAITS);
    mech_end(m, 3);
    assert_int_equal(state_of(m, 2), TIM_DWR_COMBINE);
    issue_are(m, 300, "2");
    ilt_is(m, "4");
    count_is(m, TIM_CORE_dwr_foreign_exit, 1);
    finish(m);
}

static void u6_order_b(void **state)
{
    struct mech_core *m = dwr_new(2, "", 2);

    (void)state;
    barrier(m, 0, 1, 4);
    entry_is(m, 0, true, 4, 2);
    barrier(m, 30, 0, 2);
    ilt_is(m, "2");
    issue_are(m, 60, "0 1");
    barrier(m, 100, 0, 4);
    entry_is(m, 0, true, 4, 1);
    assert_int_equal(state_of(m, 0), TIM_DWR_WAITS);
    mech_end(m, 1);
    issue_are(m, 130, "0");
    ilt_is(m, "2");
    finish(m);
}

/* Section 7.1, negative control: with dwr.release=same_pc, a partner counts as arrived only at the same instruction, and both
 * warps wait forever. */
static void u8_strict_barriers_hold_for_ever(void **state)
{
    struct mech_core *m = dwr_new(2, "dwr.release=same_pc", 2);

    (void)state;
    barrier(m, 0, 0, 2);
    barrier(m, 30, 1, 4);
    at(m, 1000000);
    entry_is(m, 0, true, 2, 1);
    assert_ptr_equal(tim_mechs_stuck(&m->mechs, 0), m->mechs.mech[0]);
    assert_ptr_equal(tim_mechs_stuck(&m->mechs, 1), m->mechs.mech[0]);
    mech_free(m);
}

/* Section 7.2: if (warp == 0) LAT@2; block barrier */
static void u9_a_block_barrier_is_an_arrival(void **state)
{
    struct mech_core *m = dwr_new(2, "", 2);

    (void)state;
    barrier(m, 0, 0, 2);
    at(m, 40);
    tim_mechs_wait(&m->mechs, 1, true);
    issue_are(m, 41, "0");
    ilt_is(m, "");
    count_is(m, TIM_CORE_dwr_foreign_barrier, 1);
    finish(m);

    m = dwr_new(2, "", 2); /* order B: warp 1 already waits at the block barrier */
    tim_mechs_wait(&m->mechs, 1, true);
    barrier(m, 0, 0, 2);
    assert_int_equal(state_of(m, 0), TIM_DWR_COMBINE);
    count_is(m, TIM_CORE_dwr_wait_cycles, 0);
    count_is(m, TIM_CORE_dwr_foreign_barrier, 1);
    issue_are(m, 24, "0");
    ilt_is(m, "");
    finish(m);
}

static void u10_a_partner_at_the_block_barrier_has_arrived_each_time(void **state)
{
    struct mech_core *m = dwr_new(2, "", 2);

    (void)state;
    tim_mechs_wait(&m->mechs, 1, true);
    barrier(m, 0, 0, 2);
    issue_are(m, 24, "0");
    barrier(m, 100, 0, 3);
    issue_are(m, 124, "0");
    count_is(m, TIM_CORE_dwr_releases, 2);
    count_is(m, TIM_CORE_dwr_foreign_barrier, 2);
    tim_mechs_wait(&m->mechs, 1, false); /* the block barrier opens, so warp 1 no longer counts as arrived at the LAT barrier */
    barrier(m, 200, 0, 5);
    assert_int_equal(state_of(m, 0), TIM_DWR_WAITS);
    mech_end(m, 1);
    issue_are(m, 230, "0");
    finish(m);
}

/* Section 7.4: a warp that ends counts as arrived. */
static void u12_an_exit_is_an_arrival(void **state)
{
    struct mech_core *m = dwr_new(2, "", 2);

    (void)state;
    barrier(m, 0, 0, 2);
    assert_int_equal(state_of(m, 0), TIM_DWR_WAITS);
    mech_end(m, 1);
    issue_are(m, 40, "0");
    barrier(m, 100, 0, 3); /* the partner had ended earlier, so the warp does not wait */
    assert_int_equal(state_of(m, 0), TIM_DWR_COMBINE);
    issue_are(m, 130, "0");
    count_is(m, TIM_CORE_dwr_foreign_exit, 2);
    finish(m);
}

/* Section 7.5: warps 0 and 2 execute LAT@10 and LAT@20; warps 1 and 3 execute LAT@20 only. */
static void u13_a_partial_match(void **state)
{
    struct mech_core *m = dwr_new(4, "", 4);

    (void)state;
    barrier(m, 0, 0, 10);
    entry_is(m, 0, true, 10, 1);
    barrier(m, 30, 1, 20);
    entry_is(m, 0, true, 10, 3);
    ilt_is(m, "20");
    barrier(m, 60, 2, 10);
    entry_is(m, 0, true, 10, 7);
    barrier(m, 90, 3, 20); /* the barrier of this LAT is ignored, so it is no arrival */
    entry_is(m, 0, true, 10, 7);
    assert_int_equal(state_of(m, 3), TIM_DWR_PASSED);
    issue_are(m, 120, "3");
    assert_int_equal(state_of(m, 0), TIM_DWR_WAITS);
    mech_end(m, 3);
    issue_are(m, 150, "0+2 1");
    assert_int_equal(m->histogram[TIM_CORE_H_dwr_release_size].most, 3);
    at(m, 200);
    reach(m, 0, 20);
    reach(m, 2, 20);
    at(m, 224);
    assert_true(state_of(m, 0) == TIM_DWR_PASSED && state_of(m, 2) == TIM_DWR_PASSED);
    issue_are(m, 230, "0 2");
    count_is(m, TIM_CORE_dwr_ignored_instructions, 1);
    finish(m);
}

static void u13_a_skip_may_count_as_an_arrival(void **state)
{
    struct mech_core *m = dwr_new(4, "dwr.skip_counts_as_arrival=on", 4);

    (void)state;
    barrier(m, 0, 0, 10);
    barrier(m, 30, 1, 20);
    barrier(m, 60, 2, 10);
    barrier(m, 90, 3, 20);
    entry_is(m, 0, false, 0, 0);
    issue_are(m, 120, "0+2 1 3");
    count_is(m, TIM_CORE_dwr_foreign_exit, 0);
    finish(m);
}

/* If warp 3 reaches LAT@20 before warp 1, warp 3 waits, and the barrier of warp 1 is ignored. */
static void u13_one_of_the_two_is_locked(void **state)
{
    struct mech_core *m = dwr_new(4, "", 4);

    (void)state;
    barrier(m, 0, 0, 10);
    barrier(m, 30, 3, 20);
    barrier(m, 60, 2, 10);
    barrier(m, 90, 1, 20);
    entry_is(m, 0, true, 10, 13);
    assert_int_equal(state_of(m, 1), TIM_DWR_PASSED);
    assert_int_equal(state_of(m, 3), TIM_DWR_WAITS);
    mech_free(m);
}

static void u14_groups_are_slices_of_warp_numbers(void **state)
{
    struct mech_core *m = dwr_new(4, "", 12);

    (void)state;
    for (unsigned w = 4; w < 12; w++)
        barrier(m, 30 * w, w, 2);
    issue_are(m, 400, "4+5+6+7 8+9+10+11");
    count_is(m, TIM_CORE_dwr_releases, 2);
    finish(m);
}

static void insert(struct tim_ilt *ilt, unsigned from, unsigned to, unsigned step, unsigned *inserts, unsigned *evictions)
{
    for (unsigned number = from; number <= to; number += step) {
        bool evicted;

        *inserts += tim_ilt_insert(ilt, number, &evicted);
        *evictions += evicted;
    }
}

static void u15_a_set_of_the_ilt_is_full(void **state)
{
    struct tim_ilt ilt;
    unsigned inserts = 0, evictions = 0;

    (void)state;
    assert_true(tim_ilt_init(&ilt, 4, 8));
    insert(&ilt, 0, 32, 4, &inserts, &evictions);
    assert_int_equal(inserts, 9);
    assert_int_equal(evictions, 1);
    assert_false(tim_ilt_lookup(&ilt, 0));
    assert_true(tim_ilt_lookup(&ilt, 4) && tim_ilt_lookup(&ilt, 32));
    tim_ilt_fini(&ilt);
}

static void u16_the_ilt_keeps_the_last(void **state)
{
    static const struct {
        unsigned sets, ways, evictions, from;
    } rows[] = {{4, 8, 4, 4}, {4, 4, 20, 20}, {2, 4, 28, 28}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct tim_ilt ilt;
        unsigned inserts = 0, evictions = 0;

        assert_true(tim_ilt_init(&ilt, rows[i].sets, rows[i].ways));
        insert(&ilt, 0, 35, 1, &inserts, &evictions);
        assert_int_equal(evictions, rows[i].evictions);
        assert_int_equal(ilt.count, rows[i].sets * rows[i].ways);
        for (unsigned number = 0; number < 36; number++)
            assert_int_equal(tim_ilt_lookup(&ilt, number), number >= rows[i].from);
        tim_ilt_fini(&ilt);
    }
}

static void u17_an_instruction_is_once_in_the_ilt(void **state)
{
    struct tim_ilt ilt;
    bool evicted;

    (void)state;
    assert_true(tim_ilt_init(&ilt, 4, 8));
    assert_true(tim_ilt_insert(&ilt, 5, &evicted));
    assert_false(tim_ilt_insert(&ilt, 5, &evicted));
    assert_int_equal(ilt.count, 1);
    tim_ilt_flush(&ilt);
    assert_false(tim_ilt_lookup(&ilt, 5));
    tim_ilt_fini(&ilt);
    assert_true(tim_ilt_init(&ilt, 0, 8)); /* without sets, the ILT never has an entry */
    assert_false(tim_ilt_insert(&ilt, 5, &evicted) || tim_ilt_lookup(&ilt, 5));
    tim_ilt_fini(&ilt);
}

static void u18_a_hit_refreshes(void **state)
{
    struct tim_ilt ilt;
    unsigned inserts = 0, evictions = 0;

    (void)state;
    assert_true(tim_ilt_init(&ilt, 4, 8));
    insert(&ilt, 0, 28, 4, &inserts, &evictions);
    assert_true(tim_ilt_lookup(&ilt, 0));
    insert(&ilt, 32, 32, 1, &inserts, &evictions);
    assert_true(tim_ilt_lookup(&ilt, 0));
    assert_false(tim_ilt_lookup(&ilt, 4));
    tim_ilt_fini(&ilt);
}

static void u19_the_tables_have_the_papers_sizes(void **state)
{
    static const struct {
        unsigned n, bytes;
    } rows[] = {{8, 82}, {4, 148}, {2, 280}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct mech_core *m = dwr_new(rows[i].n, "core.warps=128", 0);

        assert_int_equal(tim_dwr_pst_bits(m->config), 8 * rows[i].bytes);
        assert_int_equal(tim_dwr_ilt_bits(m->config), 8 * 124);
        mech_free(m);
    }
}

static void u21_slots_without_a_warp_have_arrived(void **state)
{
    struct mech_core *m = dwr_new(8, "", 2);

    (void)state;
    barrier(m, 0, 0, 2);
    entry_is(m, 0, true, 2, 1);
    barrier(m, 30, 1, 2);
    issue_are(m, 60, "0+1");
    count_is(m, TIM_CORE_dwr_foreign_exit, 0);
    count_is(m, TIM_CORE_dwr_foreign_barrier, 0);
    finish(m);
}

static void u22_a_warp_alone_is_released_at_once(void **state)
{
    struct mech_core *m = dwr_new(8, "", 1);

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        at(m, 100 * i);
        reach(m, 0, i);
        at(m, 100 * i + 23);
        assert_true(mech_holds(m, 0, &lat));
        at(m, 100 * i + 24);
        issue_are(m, 100 * i + 24, "0");
    }
    count_is(m, TIM_CORE_dwr_releases, 3);
    count_is(m, TIM_CORE_dwr_wait_cycles, 0);
    finish(m);
}

static void u24_three_partners_at_three_instructions(void **state)
{
    struct mech_core *m = dwr_new(4, "", 4);

    (void)state;
    mech_end(m, 3);
    barrier(m, 0, 0, 10);
    barrier(m, 30, 1, 20);
    barrier(m, 60, 2, 30);
    ilt_is(m, "20 30");
    issue_are(m, 90, "0 1 2");
    count_is(m, TIM_CORE_dwr_releases, 1);
    finish(m);
}

static void u26_a_launch_empties_the_ilt(void **state)
{
    static const char *const keep[] = {"", "dwr.ilt_keep=on"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mech_core *m = dwr_new(2, keep[i], 2);

        barrier(m, 0, 0, 2);
        barrier(m, 30, 1, 4);
        ilt_is(m, "4");
        tim_mechs_block(&m->mechs, 0, true); /* another block of the same launch begins */
        ilt_is(m, "4");
        tim_mechs_block(&m->mechs, 1, true);
        ilt_is(m, i == 0 ? "" : "4");
        mech_free(m);
    }
}

/* Section 5.3: released warps at the same LAT, a class, issue together. The warps of a class wait for a member whose address is
 * not ready. Warps of the slot group at other LATs do not wait for this member. */
static void a_class_waits_until_all_its_members_can_issue(void **state)
{
    struct mech_core *m = dwr_new(4, "", 4);

    (void)state;
    for (unsigned w = 0; w < 4; w++)
        barrier(m, 30 * w, w, w == 1 ? 9 : 5);
    m->waits_for_registers[2] = true;
    at(m, 200);
    assert_true(mech_holds(m, 0, &lat) && mech_holds(m, 2, &lat) && mech_holds(m, 3, &lat));
    issue_are(m, 201, "1");
    m->waits_for_registers[2] = false;
    issue_are(m, 210, "0+2+3");
    finish(m);
}

/* Keys for points that section 15 of dwr.md leaves open. An ignored barrier may take less time. A release because another warp
 * ends may enter the LAT in the ILT. Waiting partners may continue after a time limit. */
static void open_points_are_keys(void **state)
{
    struct mech_core *m = dwr_new(2, "dwr.ignored_latency=0", 2);

    (void)state;
    barrier(m, 0, 0, 2);
    barrier(m, 30, 1, 4);
    issue_are(m, 60, "0 1");
    at(m, 100);
    reach(m, 0, 4);
    at(m, 100);
    assert_int_equal(state_of(m, 0), TIM_DWR_PASSED);
    issue_are(m, 100, "0");
    at(m, 200);
    reach(m, 0, 6); /* this LAT is not in the ILT, so the barrier takes 24 cycles */
    at(m, 223);
    assert_int_equal(state_of(m, 0), TIM_DWR_BARRIER);
    at(m, 224);
    assert_int_equal(state_of(m, 0), TIM_DWR_WAITS);
    mech_free(m);

    m = dwr_new(2, "dwr.on_foreign_release=on", 2);
    barrier(m, 0, 0, 2);
    mech_end(m, 1);
    ilt_is(m, "2");
    mech_free(m);

    m = dwr_new(2, "dwr.timeout=100", 2); /* section 7.6 */
    barrier(m, 0, 0, 2);
    assert_null(tim_mechs_stuck(&m->mechs, 0));
    assert_int_equal(tim_mechs_next(&m->mechs, 24), 124);
    at(m, 123);
    assert_int_equal(state_of(m, 0), TIM_DWR_WAITS);
    at(m, 124);
    issue_are(m, 124, "0");
    count_is(m, TIM_CORE_dwr_timeouts, 1);
    count_is(m, TIM_CORE_dwr_foreign_exit, 0);
    finish(m);
}

static void partners_do_not_wait_for_one_that_a_debugger_stops(void **state)
{
    struct mech_core *m = dwr_new(2, "", 2);

    (void)state;
    barrier(m, 0, 0, 2);
    tim_mechs_refuse(&m->mechs, 1);
    issue_are(m, 30, "0");
    barrier(m, 100, 0, 3);
    barrier(m, 100, 1, 3);
    tim_mechs_refuse(&m->mechs, 0); /* warp 0 would be the first of its class to issue */
    assert_false(mech_holds(m, 1, &lat));
    issue_are(m, 130, "0 1");
    finish(m);
}

/* ---- on a core ------------------------------------------------------------------------------------------------- */

/** Create a machine with mechanism dwr, warps of 8 lanes in slot groups of two, and L1 lines of 64 bytes. */
static struct run *dwr_run(void)
{
    struct run *r = run_new();

    r->config->core_warp_width = 8;
    r->config->core_group = 2;
    r->config->l1_line = r->config->l1_sector = 64;
    r->config->dwr_on = true;
    r->config->dwr_skip_counts_as_arrival = false;
    r->config->dwr_bar_mode = is_explicit ? TIM_DWR_EXPLICIT : TIM_DWR_IMPLICIT;
    return r;
}

/** Return the program @text. With explicit barriers, a bar.synch_partner is inserted before each load and store of global
 *  memory. */
static const char *program_of(const char *text)
{
    static char out[4096];
    char *to = out;

    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n') + 1, *at = *line == '@' ? strchr(line, ' ') + 1 : line;

        if (is_explicit && (strncmp(at, "ld.global", 9) == 0 || strncmp(at, "st.global", 9) == 0))
            to += sprintf(to, "bar.synch_partner\n");
        to += sprintf(to, "%.*s", (int)(end - line), line);
        line = end;
    }
    return out;
}

#define BEGIN ".kernel k\n.param ptr.global out\ns_mov_b64 s4:5, c[out]\nv_s2r v1, %tid.x\nv_shl_b32 v2, v1, 2\nv_setp_u32.lt p0, v1, 8\n"
#define END "exit\n.end\n"

static uint64_t counted(const struct run *r, unsigned counter)
{
    return run_engine(r)->stats[0].count[counter];
}
static const struct tim_histogram *sizes(const struct run *r)
{
    return &run_engine(r)->stats[0].histogram[TIM_CORE_H_dwr_issue_size];
}

static void u3_partners_make_one_request(void **state)
{
    struct run *r = dwr_run();

    (void)state;
    run_text(r, program_of(BEGIN "ld.global.b32 v3, [s4:5+v2]\n" END), 1, 16);
    assert_int_equal(counted(r, TIM_CORE_dwr_releases), 1);
    assert_int_equal(sizes(r)->most, 2);
    assert_int_equal(counted(r, TIM_CORE_accesses), 1);
    assert_int_equal(counted(r, TIM_CORE_joined), 1);
    assert_int_equal(counted(r, TIM_CORE_dwr_barrier_lanes), is_explicit ? 16 : 0);
    assert_int_equal(counted(r, TIM_CORE_dwr_ilt_inserts), 0);
    assert_int_equal(run_cycle(r, ISA_LD_GLOBAL, 1, 0) - run_cycle(r, ISA_LD_GLOBAL, 0, 0), 1);
    run_free(r);
    r = dwr_run();
    r->config->dwr_on = false;
    run_text(r, program_of(BEGIN "ld.global.b32 v3, [s4:5+v2]\n" END), 1, 16);
    assert_int_equal(counted(r, TIM_CORE_accesses), 2);
    run_free(r);
}

/* U11: programs that must end. The first is listing 3, with block barriers at two instructions; the others are those of
 * sections 7.1 to 7.4. */
static void u11_programs_of_section_7_end(void **state)
{
    static const char *const programs[] = {
        BEGIN "@p0 bra a\nbar.sync 0\nbra b\na:\nbar.sync 0\nb:\n" END,
        BEGIN "@!p0 bra a\nld.global.b32 v3, [s4:5+v2]\na:\nld.global.b32 v4, [s4:5+v2]\n" END,
        BEGIN "@!p0 bra a\nld.global.b32 v3, [s4:5+v2]\na:\nbar.sync 0\n" END,
        BEGIN "@!p0 bra a\nld.global.b32 v3, [s4:5+v2]\nld.global.b32 v4, [s4:5+v2]\na:\nbar.sync 0\n" END,
        BEGIN "@!p0 bra a\nld.global.b32 v3, [s4:5+v2]\na:\n" END};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(programs); i++)
        for (unsigned on = 0; on < 2; on++) {
            struct run *r = dwr_run();

            r->config->dwr_on = on != 0;
            run_text(r, program_of(programs[i]), 1, 16);
            assert_int_equal(sizes(r)->sum, counted(r, TIM_CORE_dwr_barriers));
            run_free(r);
        }
}

static void u8_the_hang_names_group_and_warps(void **state)
{
    struct run *r = dwr_run();
    struct lw_error err;
    char entry[64];

    (void)state;
    r->config->dwr_release = TIM_DWR_SAME_PC;
    run_open(r, program_of(BEGIN "@!p0 bra a\nld.global.b32 v3, [s4:5+v2]\na:\nld.global.b32 v4, [s4:5+v2]\n" END), 1, 16);
    fix_check(r->fix->engine->ops->run(r->fix->engine, &r->stop, &err), &err);
    assert_int_equal(r->stop.kind, EMU_STOP_HANG);
    snprintf(entry, sizeof entry, "slot group 0, entry 0x%llx,", (unsigned long long)tim_dwr_pst(run_engine(r)->core[0]->mechs.mech[0], 0)->pc);
    assert_non_null(strstr(r->stop.hang.detail, "warp slot 0 is throttled by dwr"));
    assert_non_null(strstr(r->stop.hang.detail, "warp slot 1 is throttled by dwr"));
    assert_non_null(strstr(r->stop.hang.detail, entry));
    run_free(r);
}

static void u23_a_warp_without_lanes_arrives(void **state)
{
    struct run *r = dwr_run();

    (void)state;
    run_text(r, program_of(BEGIN "@p0 ld.global.b32 v3, [s4:5+v2]\n" END), 1, 16);
    assert_int_equal(sizes(r)->most, 2);
    assert_int_equal(counted(r, TIM_CORE_accesses), 1);
    assert_int_equal(counted(r, TIM_CORE_joined), 0);
    assert_int_equal(counted(r, TIM_CORE_access_lanes), 8);
    run_free(r);
}

/* Two warps load as one large warp. The line of warp 0 is in L1, and the line of warp 1 is not. Depending on dwr.wakeup, warp 0
 * continues when its own data has arrived, or when the data of both warps has arrived. */
static void u25_data_is_there_by_warp_or_for_all(void **state)
{
    static const char text[] = BEGIN "v_shl_b32 v2, v1, 4\nv_setp_u32.lt p1, v1, 4\n"
                                     "@p1 ld.global.b32 v3, [s4:5+v2]\nv_add_u32 v5, v3, 1\nbar.sync 0\n"
                                     "v_and_b32 v2, v1, 8\nv_shl_b32 v2, v2, 4\nld.global.b32 v4, [s4:5+v2]\nv_sub_u32 v5, v4, 1\n" END;
    uint64_t sub[2], large[2];

    (void)state;
    for (unsigned w = 0; w < 2; w++) {
        struct run *r = dwr_run();

        r->config->dwr_wakeup = w == 0 ? TIM_DWR_SUBWARP : TIM_DWR_LARGE;
        run_text(r, program_of(text), 1, 16);
        assert_int_equal(sizes(r)->most, 2);
        for (unsigned i = 0; i < 2; i++) /* cycles in which the users of the second load issue, relative to the first of them */
            (w == 0 ? sub : large)[i] = run_cycle(r, ISA_V_SUB_U32, i, 0);
        uint64_t first = UINT64_MAX, load = 0;
        for (unsigned i = 0; i < r->count; i++) {
            first = r->issue[i].op == ISA_V_SUB_U32 && r->issue[i].cycle < first ? r->issue[i].cycle : first;
            load = r->issue[i].op == ISA_LD_GLOBAL && r->issue[i].warp == 0 ? r->issue[i].cycle : load;
        }
        assert_true(w == 0 ? first - load < 100 : first - load >= 100);
        run_free(r);
    }
    assert_true(sub[0] == 0 && sub[1] > 60);
    assert_true(large[0] + large[1] == 1);
}

/* Lanes 0 to 3 and lanes 4 to 7 of a warp load on different sides of a branch. All lanes of the other warp load together. */
static void u27_a_divided_warp(void **state)
{
    static const char text[] = BEGIN "v_setp_u32.lt p1, v1, 4\n@p1 bra a\n@p0 bra b\nld.global.b32 v3, [s4:5+v2]\nbra c\n"
                                     "a:\nld.global.b32 v3, [s4:5+v2]\nbra c\nb:\nld.global.b32 v3, [s4:5+v2]\nc:\n" END;
    struct run *r = dwr_run();

    (void)state;
    run_text(r, program_of(text), 1, 16);
    assert_int_equal(sizes(r)->sum, 3);
    assert_int_equal(counted(r, TIM_CORE_dwr_barriers), 3);
    assert_int_equal(counted(r, TIM_CORE_access_lanes), 16);
    run_free(r);
}

/* Kernel in which warp 0 has the lock and stores in its critical section, where it waits for warp 1. Warp 1 spins on the lock and
 * never reaches a LAT, since atomics have no barriers. */
#define LOCK BEGIN \
    "v_mov_b32 v6, 0\nv_mov_b32 v7, 1\nv_add_u32 v2, v2, 64\n" \
    "@!p0 bra spin\n" \
    "v_mov_b32 v8, 0\nst.global.b32 [s4:5+v2], v8\n" \
    "v_setp_u32.eq p1, v1, 0\n@p1 red.global.add.u32 [s4:5+v6], v7\nexit\n" \
    "spin:\natom.global.add.u32 v5, [s4:5+v6], v6\nv_setp_u32.eq p2, v5, 0\n@p2 bra spin\n" END

static void u30_a_spin_on_a_partner_that_waits(void **state)
{
    struct run *r = dwr_run();
    struct lw_error err;

    (void)state;
    run_open(r, program_of(LOCK), 1, 16);
    fix_check(r->fix->engine->ops->run(r->fix->engine, &r->stop, &err), &err);
    assert_int_equal(r->stop.kind, EMU_STOP_HANG);
    assert_non_null(strstr(r->stop.hang.detail, "warp slot 0 is throttled by dwr"));
    run_free(r);
    r = dwr_run();
    r->config->dwr_timeout = 1000;
    run_text(r, program_of(LOCK), 1, 16);
    assert_int_equal(counted(r, TIM_CORE_dwr_timeouts), 1);
    run_free(r);
    r = dwr_run();
    r->config->dwr_on = false;
    run_text(r, program_of(LOCK), 1, 16);
    run_free(r);
}

/* A store of two warps makes one write, whose answer counts for both. A fence of either warp waits for the answer. */
static void stores_join(void **state)
{
    struct run *r = dwr_run();

    (void)state;
    run_text(r, program_of(BEGIN "st.global.b32 [s4:5+v2], v1\nfence.gpu\nld.global.b32 v4, [s4:5+v2]\n" END), 1, 16);
    assert_int_equal(((struct run_memory *)run_engine(r)->memory)->writes, 1);
    assert_true(run_cycle(r, ISA_FENCE, 1, 0) <= 1);
    for (unsigned w = 0; w < 2; w++) {
        uint64_t store = 0, fence = 0;

        for (unsigned i = 0; i < r->count; i++) {
            store = r->issue[i].op == ISA_ST_GLOBAL && r->issue[i].warp == w ? r->issue[i].cycle : store;
            fence = r->issue[i].op == ISA_FENCE && r->issue[i].warp == w ? r->issue[i].cycle : fence;
        }
        assert_true(fence - store > 100);
    }
    assert_int_equal(counted(r, TIM_CORE_joined), 2);
    run_free(r);
}

/* Two members of a slot group that are on different schedulers issue their parts of a large warp in the same cycle. */
static void members_of_several_schedulers_issue_side_by_side(void **state)
{
    struct run *r = dwr_run();

    (void)state;
    r->config->issue_schedulers = 2;
    run_text(r, program_of(BEGIN "ld.global.b32 v3, [s4:5+v2]\n" END), 1, 32);
    assert_int_equal(sizes(r)->most, 2);
    assert_int_equal(run_cycle(r, ISA_LD_GLOBAL, 1, 0), run_cycle(r, ISA_LD_GLOBAL, 0, 0));
    assert_int_equal(counted(r, TIM_CORE_accesses), 2);
    run_free(r);
}

/* The instructions of a large warp form a packet, which takes one entry of the load/store queue. So even with a queue of one
 * entry all accesses are made together. */
static void a_packet_takes_one_entry_of_the_queue(void **state)
{
    struct run *r = dwr_run();

    (void)state;
    r->config->core_group = 8;
    r->config->lsu_queue = 1;
    run_text(r, program_of(BEGIN "ld.global.b32 v3, [s4:5+v2]\nst.global.b32 [s4:5+v2], v3\n" END), 1, 64);
    assert_int_equal(sizes(r)->most, 8);
    assert_int_equal(counted(r, TIM_CORE_accesses), 8);
    run_free(r);
}

static void groups_of_slots_are_of_one_block(void **state)
{
    struct run *r = dwr_run();

    (void)state;
    r->config->core_group = 4;
    r->config->core_warps = 8;
    r->config->core_threads = 64;
    r->config->issue_policy = TIM_SCHED_LRR;
    run_open(r, program_of(BEGIN "bar.sync 0\n" END), 3, 40); /* a block has five warps, and takes two slot groups */
    struct tim_engine *e = run_engine(r);
    struct lw_error err;
    fix_check(tim_engine_run_cycles(r->fix->engine, 5, &r->stop, &err), &err);
    assert_int_equal(e->core[0]->blocks, 1);
    assert_int_equal(e->core[0]->warps, 8);
    for (unsigned w = 0; w < 8; w++)
        assert_int_equal(e->core[0]->warp[w].used, w < 5);
    run_go(r);
    assert_int_equal(counted(r, TIM_CORE_blocks), 3);
    run_free(r);
}

/* Section 5.7 and the key dwr.group_span_blocks, with blocks of five warps in slot groups of four. With the key, the second slot
 * group has warps of both blocks. */
static void groups_may_span_blocks(void **state)
{
    (void)state;
    for (unsigned span = 0; span < 2; span++) {
        struct run *r = dwr_run();
        struct lw_error err;

        r->config->core_group = 4;
        r->config->core_warps = 12;
        r->config->core_threads = 96;
        r->config->dwr_group_span_blocks = span != 0;
        run_open(r, program_of(BEGIN "ld.global.b32 v3, [s4:5+v2]\n" END), 2, 40);
        struct tim_engine *e = run_engine(r);
        fix_check(tim_engine_run_cycles(r->fix->engine, 5, &r->stop, &err), &err);
        assert_int_equal(e->core[0]->blocks, span != 0 ? 2 : 1);
        assert_int_equal(e->core[0]->warps, span != 0 ? 10 : 8);
        for (unsigned w = 0; w < 12; w++)
            assert_int_equal(e->core[0]->warp[w].used, w < (span != 0 ? 10 : 5));
        if (span != 0) { /* warp 4 is the last of the first block, and warp 5 is the first of the second */
            assert_int_not_equal(e->core[0]->warp[4].block, e->core[0]->warp[5].block);
            assert_int_equal(e->core[0]->warp[5].block, e->core[0]->warp[9].block);
        }
        run_go(r);
        assert_int_equal(counted(r, TIM_CORE_blocks), 2);
        /* three slot groups, of 4, 4 and 2 warps, or for each block two slot groups, of 4 warps and 1 warp */
        assert_int_equal(counted(r, TIM_CORE_dwr_releases), span != 0 ? 3 : 4);
        assert_int_equal(sizes(r)->sum, 10);
        run_free(r);
    }
}

/* Point 15 of section 15: with slot groups of one warp the mechanism is off. */
static void a_group_of_one_is_without_it(void **state)
{
    struct run *r = dwr_run();

    (void)state;
    r->config->core_group = 1;
    run_text(r, program_of(BEGIN "ld.global.b32 v3, [s4:5+v2]\n" END), 1, 16);
    assert_int_equal(run_engine(r)->core[0]->mechs.count, 0);
    run_free(r);
}

static int implicit(void **state)
{
    (void)state;
    is_explicit = false;
    return 0;
}

static int explicit(void **state)
{
    (void)state;
    is_explicit = true;
    return 0;
}

#define ONCE(test) cmocka_unit_test_setup(test, implicit)
#define BOTH(test) {#test, test, implicit, NULL, NULL}, {#test "_explicit", test, explicit, NULL, NULL}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(u4_the_timing_of_section_6),
        BOTH(u5_order_a),
        BOTH(u6_order_b),
        BOTH(u8_strict_barriers_hold_for_ever),
        BOTH(u9_a_block_barrier_is_an_arrival),
        BOTH(u10_a_partner_at_the_block_barrier_has_arrived_each_time),
        BOTH(u12_an_exit_is_an_arrival),
        BOTH(u13_a_partial_match),
        BOTH(u13_a_skip_may_count_as_an_arrival),
        BOTH(u13_one_of_the_two_is_locked),
        BOTH(u14_groups_are_slices_of_warp_numbers),
        ONCE(u15_a_set_of_the_ilt_is_full),
        ONCE(u16_the_ilt_keeps_the_last),
        ONCE(u17_an_instruction_is_once_in_the_ilt),
        ONCE(u18_a_hit_refreshes),
        ONCE(u19_the_tables_have_the_papers_sizes),
        BOTH(u21_slots_without_a_warp_have_arrived),
        BOTH(u22_a_warp_alone_is_released_at_once),
        BOTH(u24_three_partners_at_three_instructions),
        BOTH(u26_a_launch_empties_the_ilt),
        BOTH(a_class_waits_until_all_its_members_can_issue),
        BOTH(open_points_are_keys),
        BOTH(partners_do_not_wait_for_one_that_a_debugger_stops),
        BOTH(u3_partners_make_one_request),
        BOTH(u11_programs_of_section_7_end),
        BOTH(u8_the_hang_names_group_and_warps),
        BOTH(u23_a_warp_without_lanes_arrives),
        BOTH(u25_data_is_there_by_warp_or_for_all),
        BOTH(u27_a_divided_warp),
        BOTH(u30_a_spin_on_a_partner_that_waits),
        BOTH(stores_join),
        BOTH(members_of_several_schedulers_issue_side_by_side),
        BOTH(a_packet_takes_one_entry_of_the_queue),
        BOTH(groups_of_slots_are_of_one_block),
        BOTH(groups_may_span_blocks),
        ONCE(a_group_of_one_is_without_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
