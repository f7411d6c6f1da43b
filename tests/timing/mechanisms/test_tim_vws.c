/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests variable warp sizing. V1 to V11 are the unit tests of the warp scheduling thesis's specification 7.10, with the expected
 * values of the specification. Tests of the gang table and of the warps that issue call the hooks of the mechanism; the others
 * run kernels.
 */
#include "tests/timing/mechanisms/mech_fixture.h"
#include "timing/mechanisms/tim_vws_priv.h"

#define VWS "vws.on=on core.warp_width=4 core.warps=256 core.group=8 issue.schedulers=8 core.threads=1024"

static const struct tim_static bsync = {.path = TIM_PATH_NONE, .type = TIM_TYPE_SPECIAL, .flow = true, .joins = true};

static struct tim_vws *vws_of(struct mech_core *m)
{
    return (struct tim_vws *)m->mechs.mech[0];
}

/** Assign members @mask of original gang @g to their warp slots. Earlier warps are older. */
static void begin(struct mech_core *m, unsigned g, unsigned mask)
{
    for (LW_EACH_BIT(b, (uint64_t)mask)) {
        unsigned w = g * 8 + (unsigned)b;

        m->warp[w] = (struct tim_mech_warp){.used = true, .age = ++m->assigned, .pc = 16, .lanes = 15,
                                            .code = &m->code, .next = &mech_alu};
        tim_mechs_warp(&m->mechs, w, m->warp[w].age, true);
    }
}
/** Let members @mask of original gang @g branch to @pc, or wait at a barrier if @pc is 0. */
static void go(struct mech_core *m, unsigned g, unsigned mask, uint64_t pc)
{
    for (LW_EACH_BIT(b, (uint64_t)mask)) {
        m->warp[g * 8 + b].pc = pc;
        m->warp[g * 8 + b].lanes = pc == 0 ? 0 : 15;
        tim_mechs_flow(&m->mechs, g * 8 + (unsigned)b);
    }
}
/** Execute a cycle in which members @members[g] of each original gang g below @count are ready. */
static void cycle(struct mech_core *m, const uint8_t *members, unsigned count)
{
    uint64_t ready[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64] = {{0}};

    m->mechs.core.now++;
    for (unsigned g = 0; g < count; g++)
        for (LW_EACH_BIT(b, (uint64_t)members[g]))
            ready[b][0] |= UINT64_C(1) << g;
    (void)tim_mechs_cycle(&m->mechs, ready);
}
static void idle(struct mech_core *m, unsigned cycles)
{
    for (unsigned i = 0; i < cycles; i++)
        cycle(m, NULL, 0);
}
/** Return the warps among @members of original gang @g that may issue now. */
static unsigned may_issue(struct mech_core *m, unsigned g, unsigned members)
{
    unsigned may = 0;

    for (LW_EACH_BIT(b, (uint64_t)members))
        may |= (unsigned)!mech_holds(m, g * 8 + (unsigned)b, &mech_alu) << b;
    return may;
}
static void issue(struct mech_core *m, unsigned g, unsigned members, uint64_t pc)
{
    for (LW_EACH_BIT(b, (uint64_t)members)) {
        tim_mechs_issue(&m->mechs, &(struct tim_mech_issue){.warp = g * 8 + (unsigned)b, .lanes = 4, .what = &mech_alu});
        m->warp[g * 8 + b].pc = pc;
    }
}
/** Return the entry of original gang @g in the gang table: the members and pc of each gang, then the single warps, as
 *  "0f@100 -80". */
static const char *table(struct mech_core *m, unsigned g)
{
    static char text[200];
    const struct tim_gang_set *set = &vws_of(m)->set[g].table;

    *text = '\0';
    for (unsigned way = 0; way < TIM_GANG_WAYS; way++)
        if (set->way[way].mask != 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02x@%lld", *text != '\0' ? " " : "", set->way[way].mask,
                     (long long)set->way[way].pc);
    if (set->alone != 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s-%02x", *text != '\0' ? " " : "", set->alone);
    return text;
}

/* ---- the gang table -------------------------------------------------------------------------------------------- */

static void v1_a_gang_splits_by_pc(void **state)
{
    struct mech_core *m = mech_new(VWS, 0);

    (void)state;
    begin(m, 3, 0xff);
    idle(m, 1);
    assert_string_equal(table(m, 3), "ff@16");
    go(m, 3, 0x0f, 100);
    go(m, 3, 0x70, 200);
    go(m, 3, 0x80, 300);
    idle(m, 1);
    assert_string_equal(table(m, 3), "0f@100 70@200 -80"); /* the members are in entries 12 and 13 of the gang table */
    assert_int_equal(m->count[TIM_CORE_vws_splits_flow], 1);
    mech_free(m);
}

static void v2_four_gangs_at_most(void **state)
{
    struct mech_core *m = mech_new(VWS, 0);

    (void)state;
    begin(m, 0, 0xff);
    begin(m, 1, 0xff);
    idle(m, 1);
    for (unsigned k = 0; k < 8; k++) {
        go(m, 0, 1u << k, 100 + 100 * (k % 4));
        go(m, 1, 1u << k, 100 + 100 * k);
    }
    idle(m, 1);
    assert_string_equal(table(m, 0), "11@100 22@200 44@300 88@400");
    assert_string_equal(table(m, 1), "-ff");
    mech_free(m);
}

static void v6_original_gangs_never_merge(void **state)
{
    struct mech_core *m = mech_new(VWS " vws.reform=opportunistic", 0);

    (void)state;
    begin(m, 4, 0x0f);
    begin(m, 5, 0xf0);
    begin(m, 6, 0x01);
    begin(m, 7, 0x02);
    idle(m, 64);
    assert_string_equal(table(m, 4), "0f@16");
    assert_string_equal(table(m, 5), "f0@16");
    assert_string_equal(table(m, 6), "-01");
    assert_string_equal(table(m, 7), "-02");
    mech_free(m);
}

static void v7_halves_with_one_pc_become_a_gang(void **state)
{
    (void)state;
    for (unsigned elastic = 0; elastic < 2; elastic++) {
        struct mech_core *m = mech_new(elastic ? VWS " vws.reform=opportunistic" : VWS, 0);

        begin(m, 5, 0xff);
        idle(m, 6);
        go(m, 5, 0x0f, 100);
        go(m, 5, 0xf0, 200);
        idle(m, 1); /* executes the cycles up to cycle 7 */
        assert_string_equal(table(m, 5), "0f@100 f0@200");
        go(m, 5, 0x0f, 200);
        idle(m, 1);
        assert_string_equal(table(m, 5), "0f@200 f0@200");
        assert_int_equal(tim_mechs_next(&m->mechs, m->mechs.core.now), elastic ? 37 : UINT64_MAX);
        idle(m, 28); /* executes the cycles up to cycle 36; one of 32 sets is examined per cycle, and in cycle 36 this is set 4 */
        assert_string_equal(table(m, 5), "0f@200 f0@200");
        idle(m, 1);
        assert_string_equal(table(m, 5), elastic ? "ff@200" : "0f@200 f0@200");
        assert_int_equal(m->count[TIM_CORE_vws_reforms], elastic);
        mech_free(m);
    }
}

/* A7: in a cycle, two gangs or single warps are merged, or with a higher vws.merge_limit more of them. */
static void merges_of_a_cycle_are_limited(void **state)
{
    (void)state;
    for (unsigned limit = 1; limit <= 7; limit += 6) {
        struct mech_core *m = mech_new(limit == 1 ? VWS " vws.reform=opportunistic" : VWS " vws.reform=opportunistic vws.merge_limit=7", 0);

        begin(m, 2, 0xff);
        idle(m, 3);
        for (unsigned k = 0; k < 8; k++)
            go(m, 2, 1u << k, 100 + 100 * k);
        idle(m, 1);
        go(m, 2, 0xff, 1000);
        idle(m, 30); /* executes the cycles up to cycle 34 */
        assert_string_equal(table(m, 2), limit == 1 ? "03@1000 -fc" : "ff@1000");
        mech_free(m);
    }
}

static void v10_ended_warps_leave_the_gang(void **state)
{
    struct mech_core *m = mech_new(VWS, 0);

    (void)state;
    begin(m, 0, 0xff); /* a block of 36 threads has nine warps */
    begin(m, 1, 0x01);
    idle(m, 1);
    assert_string_equal(table(m, 0), "ff@16");
    assert_string_equal(table(m, 1), "-01");
    go(m, 0, 0xff, 0); /* all members wait at a barrier */
    idle(m, 1);
    assert_string_equal(table(m, 0), "ff@-1");
    go(m, 0, 0xff, 100);
    idle(m, 1);
    assert_string_equal(table(m, 0), "ff@100");
    go(m, 0, 0x0f, 0); /* four members wait at a barrier */
    idle(m, 1);
    assert_string_equal(table(m, 0), "0f@-1 f0@100");
    for (unsigned k = 4; k < 7; k++)
        mech_end(m, k);
    assert_string_equal(table(m, 0), "0f@-1 -80");
    mech_end(m, 7);
    assert_string_equal(table(m, 0), "0f@-1");
    for (unsigned k = 0; k < 4; k++)
        mech_end(m, k);
    assert_string_equal(table(m, 0), "");
    assert_string_equal(table(m, 1), "-01");
    assert_int_equal(vws_of(m)->live, 1);
    mech_free(m);
}

/* ---- which gangs issue ---------------------------------------------------------------------------------------------- */

static void v3_the_biggest_gangs_or_the_smallest(void **state)
{
    static const uint8_t all[] = {0xf0, 0x0f, 0x3f, 0x41, 0x80};

    (void)state;
    for (unsigned fewest = 0; fewest < 2; fewest++) {
        struct mech_core *m = mech_new(fewest ? VWS " vws.policy=lgto" : VWS, 0);

        begin(m, 1, 0x0f); /* warp 1 is the oldest */
        begin(m, 0, 0xf0);
        begin(m, 2, 0x3f);
        begin(m, 3, 0x41);
        begin(m, 4, 0x80);
        idle(m, 1);
        go(m, 3, 0x40, 32); /* splits the gang into two single warps, of slices 0 and 6 */
        idle(m, 1);
        cycle(m, all, 5);
        assert_int_equal(may_issue(m, 0, 0xf0), fewest ? 0xf0 : 0);
        assert_int_equal(may_issue(m, 1, 0x0f), fewest ? 0x0f : 0);
        assert_int_equal(may_issue(m, 2, 0x3f), fewest ? 0 : 0x3f);
        assert_int_equal(may_issue(m, 3, 0x41), fewest ? 0 : 0x40);
        assert_int_equal(may_issue(m, 4, 0x80), fewest ? 0 : 0x80);
        assert_int_equal(m->count[TIM_CORE_vws_starved], fewest ? 3 : 1);
        if (fewest == 0) { /* single warps fill slices 6 and 7, which the gang does not use */
            issue(m, 2, 0x3f, 32);
            issue(m, 3, 0x40, 48);
            issue(m, 4, 0x80, 32);
            assert_int_equal(m->count[TIM_CORE_vws_gang_warps], 6);
            assert_int_equal(m->count[TIM_CORE_vws_alone_warps], 2);
            assert_int_equal(m->count[TIM_CORE_vws_filled], 2);
        }
        mech_free(m);
    }
}

/* Section 10: cycles in which the front end of gangs, or of a slice, has no work. */
static void front_ends_without_work_are_off(void **state)
{
    struct mech_core *m = mech_new(VWS, 0);

    (void)state;
    begin(m, 0, 0xff);
    idle(m, 11); /* one gang from cycle 1 on, now cycle 11 */
    m->mechs.core.over = 11;
    tim_mechs_account(&m->mechs);
    assert_int_equal(m->count[TIM_CORE_vws_gang_cycles], 10);
    assert_int_equal(m->count[TIM_CORE_vws_slices_off], 8 * 10);
    assert_int_equal(m->count[TIM_CORE_vws_gangs_off], 0);
    for (unsigned k = 0; k < 8; k++)
        go(m, 0, 1u << k, 100 + 100 * k);
    idle(m, 11); /* eight single warps from cycle 12 on, now cycle 22 */
    m->mechs.core.over = 22;
    tim_mechs_account(&m->mechs);
    assert_int_equal(m->count[TIM_CORE_vws_gang_cycles], 11);
    assert_int_equal(m->count[TIM_CORE_vws_alone_cycles], 8 * 10);
    assert_int_equal(m->count[TIM_CORE_vws_slices_off], 8 * 11);
    assert_int_equal(m->count[TIM_CORE_vws_gangs_off], 10);
    mech_free(m);
}

/** Return which of three gangs issues in each of four consecutive cycles. Gangs 0 and 1 have slices 0 to 3, and gang 2 has
 *  slices 0 and 1. */
static const char *order_of(const char *set)
{
    static const uint8_t all[] = {0x0f, 0x0f, 0x03};
    static char order[16];
    struct mech_core *m = mech_new(set, 0);

    begin(m, 0, 0x0f);
    begin(m, 1, 0x0f);
    begin(m, 2, 0x03);
    idle(m, 1);
    go(m, 0, 0x0f, 300);
    go(m, 1, 0x0f, 200);
    go(m, 2, 0x03, 250);
    idle(m, 1);
    for (unsigned i = 0; i < 4; i++) {
        uint8_t ready[3];

        memcpy(ready, all, sizeof ready);
        if (i == 0)
            ready[0] = 0x07; /* gang 0 may not issue, because one of its members is not ready */
        cycle(m, ready, 3);
        for (unsigned g = 0; g < 3; g++)
            if (may_issue(m, g, 1) != 0) {
                order[i] = (char)('0' + g);
                issue(m, g, all[g], m->warp[g * 8].pc + 16);
            }
    }
    order[4] = '\0';
    mech_free(m);
    return order;
}

static void gangs_issue_in_the_order_of_their_policy(void **state)
{
    (void)state;
    assert_string_equal(order_of(VWS " vws.gangs=1"), "1111");                 /* the same gang issues as long as it is ready */
    assert_string_equal(order_of(VWS " vws.gangs=1 vws.policy=gto"), "1111");
    assert_string_equal(order_of(VWS " vws.gangs=1 vws.policy=lgto"), "2222");
    assert_string_equal(order_of(VWS " vws.gangs=1 vws.policy=lrr"), "1201");
    assert_string_equal(order_of(VWS " vws.gangs=1 vws.policy=lpc"), "1111");  /* gang 1 has the lowest pc: 200, 216, 232, 248 */
}

static void as_many_gangs_as_may_issue(void **state)
{
    static const uint8_t all[] = {0x03, 0x0c, 0x30, 0xc0};

    (void)state;
    for (unsigned gangs = 1; gangs <= 4; gangs++) {
        char set[200];
        unsigned may = 0;

        snprintf(set, sizeof set, "%s vws.gangs=%u", VWS, gangs);
        struct mech_core *m = mech_new(set, 0);
        for (unsigned g = 0; g < 4; g++)
            begin(m, g, all[g]);
        idle(m, 1);
        cycle(m, all, 4);
        for (unsigned g = 0; g < 4; g++)
            may += may_issue(m, g, all[g]) == all[g];
        assert_int_equal(may, gangs);
        mech_free(m);
    }
}

static void lowest_pc_goes_for_single_warps_too(void **state)
{
    static const uint8_t all[] = {0x01, 0x01};
    struct mech_core *m = mech_new(VWS " vws.policy=lpc", 0);

    (void)state;
    begin(m, 0, 0x01);
    begin(m, 1, 0x01);
    go(m, 0, 0x01, 200);
    go(m, 1, 0x01, 100);
    cycle(m, all, 2);
    assert_int_equal(may_issue(m, 0, 1), 0);
    assert_int_equal(may_issue(m, 1, 1), 1);
    mech_free(m);
}

/* A debugger steps only member 3 of a gang. The other members are late. They then issue the instruction before other gangs
 * issue. The gang continues when all late members have issued the instruction. */
static void late_members_catch_up(void **state)
{
    static const uint8_t some[] = {0xf7, 0xff}, all[] = {0xff, 0xff};
    struct mech_core *m = mech_new(VWS, 0);

    (void)state;
    begin(m, 1, 0xff);
    begin(m, 0, 0xff);
    idle(m, 1);
    go(m, 0, 0xff, 100);
    idle(m, 1);
    issue(m, 0, 0x08, 116);
    cycle(m, all, 2);
    assert_int_equal(may_issue(m, 0, 0xff), 0xf7);
    assert_int_equal(may_issue(m, 1, 0xff), 0);
    issue(m, 0, 0x01, 116); /* one late member issues, so six remain */
    cycle(m, some, 2);
    assert_int_equal(may_issue(m, 0, 0xff), 0xf6);
    issue(m, 0, 0xf6, 116);
    assert_int_equal(m->count[TIM_CORE_vws_late], 7);
    cycle(m, all, 2);
    assert_string_equal(table(m, 0), "ff@116");
    assert_int_equal(may_issue(m, 0, 0xff), 0xff);
    mech_free(m);
}

/* A debugger holds members of a gang at a breakpoint and steps another member. The stepped member continues, and the gang splits
 * into single warps. */
static void a_stepped_warp_continues_without_those_held(void **state)
{
    static const uint8_t all[] = {0x07, 0x07};
    struct mech_core *m = mech_new(VWS, 0);
    const struct tim_mechanism *row = m->mechs.mech[0]->row;

    (void)state;
    begin(m, 0, 0x07);
    begin(m, 1, 0x07);
    idle(m, 1);
    cycle(m, all, 2);
    issue(m, 0, 0x01, 32);
    row->refused(m->mechs.mech[0], 1);
    row->refused(m->mechs.mech[0], 2);
    assert_string_equal(table(m, 0), "07@16"); /* in the cycle of the step, the held members count as late, and the gang is
                                                * not split yet */
    cycle(m, all, 2);
    assert_int_equal(may_issue(m, 0, 0x07), 0x06);
    row->refused(m->mechs.mech[0], 1);
    row->refused(m->mechs.mech[0], 2);
    assert_string_equal(table(m, 0), "-07");
    cycle(m, (const uint8_t[]){0x01, 0x07}, 2);
    assert_int_equal(may_issue(m, 1, 0x07), 0x07);
    row->refused(m->mechs.mech[0], 8); /* a member of the other gang is held at the breakpoint, too */
    cycle(m, (const uint8_t[]){0x01, 0x07}, 2);
    assert_int_equal(may_issue(m, 1, 0x07), 0);
    assert_int_equal(may_issue(m, 0, 0x01), 0x01);
    mech_free(m);
}

static void v9_sync_waits_exactly_so_long(void **state)
{
    static const uint8_t all[] = {0x0f};
    static const unsigned limits[] = {10, 50, 100};
    struct mech_core *m;

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(limits); i++) {
        unsigned cycles = 0;
        char set[200];

        snprintf(set, sizeof set, "%s vws.reform=opportunistic vws.sync=%u", VWS, limits[i]);
        m = mech_new(set, 0);
        begin(m, 0, 0xff);
        idle(m, 1);
        go(m, 0, 0x0f, 100);
        go(m, 0, 0xf0, 200);
        idle(m, 1);
        for (unsigned k = 0; k < 4; k++)
            m->warp[k].next = &bsync;
        go(m, 0, 0x0f, 300);
        for (; cycles < 1000; cycles++) {
            cycle(m, all, 1);
            if (may_issue(m, 0, 0x0f) != 0)
                break;
            if (cycles == 0)
                assert_int_equal(tim_mechs_next(&m->mechs, m->mechs.core.now), m->mechs.core.now + limits[i]);
        }
        assert_int_equal(cycles, limits[i]);
        mech_free(m);
    }
    /* A gang with all members of its original gang does not wait. A gang that waits continues when the missing members
     * end. */
    m = mech_new(VWS " vws.reform=opportunistic vws.sync=50", 0);
    begin(m, 0, 0xff);
    for (unsigned k = 0; k < 8; k++)
        m->warp[k].next = &bsync;
    idle(m, 1);
    cycle(m, (const uint8_t[]){0xff}, 1);
    assert_int_equal(may_issue(m, 0, 0xff), 0xff);
    go(m, 0, 0x0f, 100);
    cycle(m, (const uint8_t[]){0x0f}, 1);
    assert_int_equal(may_issue(m, 0, 0x0f), 0);
    for (unsigned k = 4; k < 8; k++)
        mech_end(m, k);
    cycle(m, (const uint8_t[]){0x0f}, 1);
    assert_int_equal(may_issue(m, 0, 0x0f), 0x0f);
    mech_free(m);
}

static void v8_data_that_comes_for_some_splits_gangs(void **state)
{
    static const char *const keys[] = {VWS, VWS " vws.memory=impatient", VWS " vws.memory=group"};
    static const char *const after[] = {"ff@16", "-ff", "fe@16 -01"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct mech_core *m = mech_new(keys[i], 0);

        begin(m, 0, 0xff);
        idle(m, 1);
        for (unsigned k = 1; k < 8; k++)
            m->warp[k].reason = TIM_STALL_LOAD;
        cycle(m, (const uint8_t[]){0x01}, 1); /* the load of member 0 hits, and those of the others miss */
        assert_string_equal(table(m, 0), after[i]);
        /* the mask has the members that may issue if they are ready */
        assert_int_equal(may_issue(m, 0, 0xff), i == 0 ? 0 : i == 1 ? 0xff : 0x01);
        for (unsigned k = 1; k < 8; k++)
            m->warp[k].reason = TIM_STALL_PICKED;
        cycle(m, (const uint8_t[]){0xff}, 1); /* the data of all other members arrives in the same cycle */
        assert_string_equal(table(m, 0), after[i]);
        assert_int_equal(m->count[TIM_CORE_vws_splits_memory], i != 0);
        mech_free(m);
    }
}

/* ---- kernels ----------------------------------------------------------------------------------------------------------- */

/** Create a machine with eight slices of four lanes. @set has further keys, as "vws.on=on vws.mode=slice". */
static struct run *slices(const char *set)
{
    struct run *r = run_new();
    char copy[300], *at = copy;
    struct lw_error err;

    r->config->core_warp_width = 4;
    r->config->core_warps = 256;
    r->config->core_threads = 1024;
    r->config->core_group = 8;
    r->config->issue_schedulers = 8;
    r->config->fetch_group = 1;
    r->config->fetch_buffer = 2;
    r->config->fetch_cache_line = 128;
    r->config->l1_global = TIM_L1_CACHE;
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        r->config->unit[u] = (struct tim_unit_config){8, 4, 1};
    snprintf(copy, sizeof copy, "%s", set);
    for (char *word = strsep(&at, " "); word != NULL; word = strsep(&at, " "))
        fix_check(tim_config_set(r->config, word, &err), &err);
    fix_check(tim_config_check(r->config, &err), &err);
    return r;
}
static uint64_t counter(const struct run *r, unsigned which)
{
    return run_engine(r)->stats[0].count[which];
}

/* Kernel in which quad k, a warp of four lanes, executes a loop k * @steps + 1 times before its load. With @steps 0 all quads
 * load at the same time. */
#define LOAD_AFTER(steps) \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v2, v1, 2\n" \
    "v_shr_u32 v3, v1, 2\n" \
    "v_mul_u32 v3, v3, " steps "\n" \
    "v_mov_b32 v4, 0\n" \
    "again:\n" \
    "v_add_u32 v4, v4, 1\n" \
    "v_setp_u32.le p0, v4, v3\n" \
    "@p0 bra again\n" \
    "ld.global.b32 v5, [s4:5+v2]\n" \
    "v_add_u32 v6, v5, 1\n" \
    "exit\n.end\n"

static void v4_what_slices_request_in_a_cycle_is_one_access(void **state)
{
    static const struct {
        const char *set, *text;
        unsigned accesses, misses;
    } rows[] = {{"vws.on=on", LOAD_AFTER("0"), 1, 1}, {"vws.on=on vws.mode=slice", LOAD_AFTER("0"), 1, 1},
                {"vws.on=on vws.mode=slice", LOAD_AFTER("1"), 8, 1}, {"vws.on=on", LOAD_AFTER("1"), 8, 1}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct run *r = slices(rows[i].set);

        run_text(r, rows[i].text, 1, 32);
        assert_int_equal(counter(r, TIM_CORE_accesses), rows[i].accesses);
        assert_int_equal(counter(r, TIM_CORE_joined), 8 - rows[i].accesses);
        assert_int_equal(counter(r, TIM_CORE_l1_misses), rows[i].misses);
        assert_int_equal(counter(r, TIM_CORE_l1_misses) + counter(r, TIM_CORE_l1_merges) + counter(r, TIM_CORE_l1_hits), rows[i].accesses);
        run_free(r);
    }
}

static void v5_a_gang_fetches_once(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "v_s2r v1, %tid.x\nv_add_u32 v2, v1, 1\nv_add_u32 v3, v2, 1\nv_add_u32 v4, v3, 1\nv_add_u32 v5, v4, 1\nexit\n.end\n";
    enum { INSTRUCTIONS = 6 };
    struct run *r = run_new();

    (void)state;
    r->config->fetch_group = 1;
    run_text(r, text, 1, 32);
    assert_int_equal(counter(r, TIM_CORE_fetches), INSTRUCTIONS);
    run_free(r);
    r = slices("vws.on=on vws.mode=slice");
    run_text(r, text, 1, 32);
    assert_int_equal(counter(r, TIM_CORE_fetches), 8 * INSTRUCTIONS);
    run_free(r);
    for (unsigned gang = 0; gang < 2; gang++) {
        r = slices(gang ? "vws.on=on vws.mode=gang" : "vws.on=on");
        run_text(r, text, 1, 32);
        assert_int_equal(counter(r, TIM_CORE_fetches), INSTRUCTIONS);
        assert_int_equal(counter(r, TIM_CORE_vws_gang_fetches), INSTRUCTIONS);
        assert_int_equal(counter(r, TIM_CORE_vws_gang_warps), 8 * INSTRUCTIONS);
        run_free(r);
    }
}

/* V8 as a kernel: in a gang of loads that miss, the load of quad 0 hits, because quad 0 has read its line before. */
static void v8_a_hit_in_a_gang_of_misses(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_setp_u32.lt p0, v1, 4\n"
        "v_mov_b32 v2, 128\n"
        "@p0 v_mov_b32 v2, 0\n"
        "v_mov_b32 v3, 0\n"
        "@p0 ld.global.b32 v3, [s4:5+v2]\n"
        "v_add_u32 v3, v3, 1\n" /* all quads wait for the line of quad 0 */
        "ld.global.b32 v4, [s4:5+v2]\n"
        "v_add_u32 v5, v4, 1\n"
        "v_add_u32 v6, v5, 1\n"
        "exit\n.end\n";
    static const struct {
        const char *set;
        unsigned alone, gang; /* least number of warp instructions that single warps issue, and that gangs issue */
    } rows[] = {{"vws.on=on", 0, 24}, {"vws.on=on vws.memory=group", 3, 21}};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct run *r = slices(rows[i].set);

        run_text(r, text, 1, 32);
        /* With vws.memory=group the first load, by quad 0 alone, also splits the gang: seven members wait for no data. */
        assert_int_equal(counter(r, TIM_CORE_vws_splits_memory) != 0, i != 0);
        assert_true(counter(r, TIM_CORE_vws_alone_warps) >= rows[i].alone);
        assert_true(counter(r, TIM_CORE_vws_gang_warps) >= rows[i].gang);
        assert_int_equal(counter(r, TIM_CORE_vws_alone_warps) + counter(r, TIM_CORE_vws_gang_warps), 8 * 12);
        run_free(r);
    }
    struct run *r = slices("vws.on=on vws.memory=impatient");
    run_text(r, text, 1, 32);
    assert_int_equal(counter(r, TIM_CORE_vws_splits_memory), 1);
    assert_true(counter(r, TIM_CORE_vws_alone_warps) >= 24);
    run_free(r);
}

static void v10_barriers_and_exits_of_partial_gangs(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "v_s2r v1, %tid.x\n"
        "v_shr_u32 v2, v1, 2\n"
        "v_and_b32 v3, v2, 3\n"
        "v_setp_u32.eq p0, v3, 1\n"
        "@p0 exit\n" /* quads 1 and 5 end */
        "bar.sync 0\n"
        "v_setp_u32.eq p1, v3, 2\n"
        "@p1 bra apart\n" /* quads 2 and 6 branch */
        "v_add_u32 v5, v1, 1\n"
        "apart:\n"
        "bar.sync 0\n"
        "exit\n.end\n";

    (void)state;
    for (unsigned mode = 0; mode < 4; mode++) {
        struct run *r = slices(mode == 0 ? "vws.on=on" : mode == 1 ? "vws.on=on vws.mode=gang" : mode == 2 ? "vws.on=on vws.mode=slice"
                               : "vws.on=on vws.reform=opportunistic vws.sync=20");

        run_text(r, text, 3, 36);
        assert_int_equal(run_engine(r)->gpu[TIM_GPU_blocks], 3);
        assert_int_equal(((struct tim_vws *)run_engine(r)->core[0]->mechs.mech[0])->live, 0);
        /* Each of nine quads issues five instructions up to the exit; seven quads issue five more, and five of these one more. */
        assert_int_equal(run_engine(r)->gpu[TIM_GPU_warp_instructions], 3 * (9 * 5 + 7 * 5 + 5));
        run_free(r);
    }
}

static void v11_a_loop_that_fits_needs_the_shared_cache_once(void **state)
{
    uint64_t requests[2];

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct run *r = slices("vws.on=on vws.mode=slice fetch.perfect=off fetch.cache_line=32 fetch.l0_bytes=256 fetch.l0_ways=8 fetch.link=1 fetch.ports=2");
        char text[2000];
        size_t used = (size_t)snprintf(text, sizeof text, ".kernel k\n.param ptr.global out\nv_mov_b32 v1, 0\nv_mov_b32 v2, 0\nagain:\n");

        for (unsigned i = 0; i < 26; i++) /* with the 2 instructions before and 4 after these, 32 instructions of 8 bytes */
            used += (size_t)snprintf(text + used, sizeof text - used, "v_add_u32 v2, v2, %u\n", i);
        snprintf(text + used, sizeof text - used, "v_add_u32 v1, v1, 1\nv_setp_u32.lt p0, v1, %u\n@p0 bra again\nexit\n.end\n", k == 0 ? 2 : 40);
        run_text(r, text, 1, 32);
        requests[k] = counter(r, TIM_CORE_fetch_requests);
        assert_true(k == 0 || counter(r, TIM_CORE_l0_hits) > 8 * 38 * 28);
        run_free(r);
    }
    assert_int_equal(requests[0], 8 * 8); /* 8 lines for each of 8 slices */
    assert_int_equal(requests[1], 8 * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_a_gang_splits_by_pc),
        cmocka_unit_test(v2_four_gangs_at_most),
        cmocka_unit_test(v3_the_biggest_gangs_or_the_smallest),
        cmocka_unit_test(v4_what_slices_request_in_a_cycle_is_one_access),
        cmocka_unit_test(v5_a_gang_fetches_once),
        cmocka_unit_test(v6_original_gangs_never_merge),
        cmocka_unit_test(v7_halves_with_one_pc_become_a_gang),
        cmocka_unit_test(merges_of_a_cycle_are_limited),
        cmocka_unit_test(v8_data_that_comes_for_some_splits_gangs),
        cmocka_unit_test(v8_a_hit_in_a_gang_of_misses),
        cmocka_unit_test(v9_sync_waits_exactly_so_long),
        cmocka_unit_test(v10_ended_warps_leave_the_gang),
        cmocka_unit_test(v10_barriers_and_exits_of_partial_gangs),
        cmocka_unit_test(v11_a_loop_that_fits_needs_the_shared_cache_once),
        cmocka_unit_test(front_ends_without_work_are_off),
        cmocka_unit_test(gangs_issue_in_the_order_of_their_policy),
        cmocka_unit_test(as_many_gangs_as_may_issue),
        cmocka_unit_test(lowest_pc_goes_for_single_warps_too),
        cmocka_unit_test(late_members_catch_up),
        cmocka_unit_test(a_stepped_warp_continues_without_those_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
