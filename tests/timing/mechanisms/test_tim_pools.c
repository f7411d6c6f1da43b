/* SPDX-License-Identifier: Apache-2.0 */
/* Tests active and pending warps: which warp leaves the active pool, and which enters it next. */
#include "tests/timing/mechanisms/mech_fixture.h"

enum state { READY, MISS, OUT, GONE };

static void set_state(struct mech_core *m, unsigned warp, enum state state)
{
    m->warp[warp].ended = state == GONE;
    m->warp[warp].misses = state == MISS;
    m->warp[warp].reason = state == MISS ? TIM_STALL_LOAD : state == OUT ? TIM_STALL_BARRIER : TIM_STALL_RESULT;
}

/** Update the pools, and check the active and the pending warps as the shell command `mechanism` shows them. A second update must
 *  change nothing. */
static void pool_is(struct mech_core *m, const char *active, const char *pending)
{
    char expected[256];
    struct lw_buffer found;

    tim_mechs_pick(&m->mechs, 0, NULL);
    lw_buffer_init(&found);
    m->mechs.mech[0]->row->show(m->mechs.mech[0], &found.sink);
    snprintf(expected, sizeof expected, "scheduler 0, active:%s; pending, the next first:%s\n", active, pending);
    assert_string_equal(found.text, expected);
    lw_buffer_fini(&found);
    assert_false(tim_mechs_pick(&m->mechs, 0, NULL));
}

/* Warps move as in the trace in section 7.5 of the specification of address pre-computation. The pending warp that has waited
 * longest enters the active pool first. */
static void a_miss_admits_the_next_that_waits(void **state)
{
    struct mech_core *m = mech_new("issue.schedulers=1 pools.on=on issue.active=2", 0);

    (void)state;
    mech_begin(m, 4);
    pool_is(m, " 0 1", " 2 3");
    assert_true(mech_holds(m, 2, &mech_alu) && !mech_holds(m, 1, &mech_alu));
    set_state(m, 1, MISS);
    pool_is(m, " 0 2", " 3 1");
    set_state(m, 0, MISS); /* warp 1 still waits for its miss */
    pool_is(m, " 2 3", " 1 0");
    set_state(m, 1, READY);
    set_state(m, 0, READY); /* warps 0 and 1 remain pending, as the active pool is full */
    pool_is(m, " 2 3", " 1 0");
    set_state(m, 2, OUT); /* warp 2 waits at a barrier */
    pool_is(m, " 1 3", " 0 2");
    set_state(m, 3, GONE);
    pool_is(m, " 0 1", " 2");
    set_state(m, 0, OUT);
    set_state(m, 1, OUT); /* both warps leave in one cycle; no warp is ready, so the active pool remains empty */
    pool_is(m, "", " 2 0 1");
    set_state(m, 2, READY);
    pool_is(m, " 2", " 0 1");
    mech_free(m);
}

/* Of two active warps that miss, one leaves the pool per cycle, the one with the lower slot first. A warp that gets the slot of
 * an ended warp is pending, and comes after the warps that are already pending. */
static void one_that_misses_leaves_in_a_cycle(void **state)
{
    struct mech_core *m = mech_new("issue.schedulers=1 pools.on=on issue.active=2", 0);

    (void)state;
    mech_begin(m, 4);
    for (unsigned w = 0; w < 4; w++)
        tim_mechs_warp(&m->mechs, w, 4 - w, true); /* the slots have new warps */
    pool_is(m, " 2 3", " 1 0"); /* the oldest warps are active */
    set_state(m, 0, MISS);      /* a pending warp that misses may not become active */
    set_state(m, 2, MISS);
    set_state(m, 3, MISS);
    assert_true(tim_mechs_pick(&m->mechs, 0, NULL));
    assert_true(mech_holds(m, 2, &mech_alu) && !mech_holds(m, 3, &mech_alu) && !mech_holds(m, 1, &mech_alu));
    assert_true(tim_mechs_pick(&m->mechs, 0, NULL));
    assert_true(mech_holds(m, 3, &mech_alu));
    assert_false(tim_mechs_pick(&m->mechs, 0, NULL));
    tim_mechs_warp(&m->mechs, 1, 5, true); /* another warp gets the slot of warp 1 */
    set_state(m, 0, READY);
    assert_true(tim_mechs_pick(&m->mechs, 0, NULL));
    assert_true(!mech_holds(m, 0, &mech_alu) && !mech_holds(m, 1, &mech_alu));
    mech_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_admits_the_next_that_waits),
        cmocka_unit_test(one_that_misses_leaves_in_a_cycle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
