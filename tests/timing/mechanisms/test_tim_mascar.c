/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism mascar: which warp may access memory while the memory system is saturated, which instructions issue first, and
 * the re-execution queue. 17.2 is a section of the specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

/** Create a core with @count warps, whose next instructions are loads. The memory system is saturated if at most two MSHRs are
 *  free. */
static struct mech_core *loads_of(unsigned count, const char *more)
{
    char set[128];

    snprintf(set, sizeof set, "mascar.on=on mascar.free=2 issue.schedulers=1%s%s", *more != '\0' ? " " : "", more);
    struct mech_core *m = mech_new(set, 0);
    mech_begin(m, count);
    for (unsigned w = 0; w < count; w++) {
        m->warp[w].lanes = 0xffffffff;
        m->warp[w].next = &mech_load;
    }
    m->free_mshrs = 3;
    return m;
}

static void next_cycle(struct mech_core *m)
{
    static const uint64_t none[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64];

    m->mechs.core.now++;
    tim_mechs_cycle(&m->mechs, none);
}

/* 17.2: while the MSHRs or the miss queue are nearly full, only the owner may issue memory instructions. */
static void one_warp_owns_a_saturated_memory(void **state)
{
    static const struct tim_static shared = {.path = TIM_PATH_MEMORY, .type = TIM_TYPE_SHARED, .load = true};
    static const struct tim_static constant = {.path = TIM_PATH_MEMORY, .type = TIM_TYPE_MEMORY, .load = true,
                                               .of_constants = true};
    struct mech_core *m = loads_of(4, "");
    struct lw_buffer text;

    (void)state;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "0 1 2 3");
    m->free_mshrs = 2;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "0");
    assert_true(mech_holds(m, 1, &mech_store));
    assert_true(!mech_holds(m, 1, &mech_alu) && !mech_holds(m, 1, &shared) && !mech_holds(m, 1, &constant));
    lw_buffer_init(&text);
    m->mechs.mech[0]->row->why(m->mechs.mech[0], 1, &text.sink);
    assert_string_equal(text.text, "the memory system is saturated, and only warp 0, the owner, may access memory");
    lw_buffer_fini(&text);
    m->free_mshrs = 3;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "0 1 2 3");
    m->crossbar_is_full = true;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "0");
    m->mechs.core.over = m->mechs.core.now + 1;
    tim_mechs_account(&m->mechs);
    assert_int_equal(m->count[TIM_CORE_mascar_saturated], 2); /* cycles 2 and 4 */
    assert_int_equal(m->count[TIM_CORE_mascar_owners], 2);
    mech_free(m);
}

/* 17.2: a warp is the owner until it depends on a pending load; then the next warp is. */
static void the_owner_changes_when_it_waits(void **state)
{
    struct mech_core *m = loads_of(4, "");

    (void)state;
    m->free_mshrs = 0;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "0");
    m->warp[0].reason = TIM_STALL_RESULT; /* a result of arithmetic comes soon */
    m->waits_for_registers[0] = true;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "0");
    m->warp[0].next = &mech_alu;
    m->warp[0].reason = TIM_STALL_LOAD;
    m->waits_for_registers[1] = true;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "2");
    m->warp[0].reason = TIM_STALL_PICKED; /* older warps that could load again do not replace the owner */
    m->warp[0].next = &mech_load;
    m->waits_for_registers[0] = false;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "2");
    mech_end(m, 2);
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "0");
    m->warp[0].lanes = 0; /* all lanes wait at a barrier */
    m->warp[3].next = &mech_alu;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "");
    m->waits_for_registers[1] = false;
    next_cycle(m);
    assert_string_equal(mech_may_load(m, 4), "1");
    assert_int_equal(m->count[TIM_CORE_mascar_owners], 4);
    mech_free(m);
}

/* 17.2: memory instructions issue first or, while the memory system is saturated, last. The order within both queues is
 * greedy then oldest. */
static void saturation_changes_the_order(void **state)
{
    struct mech_core *m = loads_of(4, "");
    const struct tim_mechanism *row = m->mechs.chooses->row;
    const uint64_t all[TIM_MAX_WARPS / 64] = {15}, young[TIM_MAX_WARPS / 64] = {12}, loads[TIM_MAX_WARPS / 64] = {10},
        none[TIM_MAX_WARPS / 64] = {0};

    (void)state;
    m->warp[0].next = m->warp[2].next = &mech_alu;
    next_cycle(m);
    assert_int_equal(row->chooses(m->mechs.chooses, 0, all), 1);
    assert_int_equal(row->chooses(m->mechs.chooses, 0, young), 3);
    mech_issue(m, 3, 1, 32);
    assert_int_equal(row->chooses(m->mechs.chooses, 0, all), 3);
    assert_int_equal(row->chooses(m->mechs.chooses, 0, none), -1);
    m->free_mshrs = 0;
    next_cycle(m);
    assert_int_equal(row->chooses(m->mechs.chooses, 0, all), 0);
    mech_issue(m, 2, 1, 32);
    assert_int_equal(row->chooses(m->mechs.chooses, 0, all), 2);
    assert_int_equal(row->chooses(m->mechs.chooses, 0, loads), 1);
    mech_free(m);
    m = loads_of(4, "mascar.order=off");
    assert_int_equal(m->mechs.chooses->row->chooses(m->mechs.chooses, 0, all), TIM_CHOICE_OF_POLICY);
    mech_free(m);
}

/* All three warps get line 0. Then warps 0 and 1 load lines 1 and 2, and warp 2 loads line 0 again. */
#define THREE \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shr_u32 v2, v1, 5\n" \
    "v_add_u32 v5, v2, 1\n" \
    "v_shl_b32 v5, v5, 7\n" \
    "v_setp_u32.lt p0, v2, 2\n" \
    "@!p0 v_mov_b32 v5, 0\n" \
    "ld.global.b32 v3, [s4:5+vz]\n" \
    "v_and_b32 v3, v3, 0\n" \
    "bar.sync 0\n" \
    "ld.global.b32 v6, [s4:5+v5]\n" \
    "v_add_u32 v7, v6, 1\n" \
    "exit\n.end\n"
enum { LOAD = 10, LATENCY = 20 }; /* the index of the second load; latency of L1. Memory answers after 100 cycles */

/** Run THREE with an L1 of one MSHR. Write the issues of the second loads and of the additions to @text. */
static struct run *run_three(bool on, unsigned queue, char *text, size_t size)
{
    struct run *r = run_new();

    r->config->l1_mshrs = 1;
    r->config->l1_merges = 4;
    r->config->l1_latency = LATENCY;
    r->config->mascar_on = on;
    r->config->mascar_free = 0;
    r->config->mascar_order = false; /* the warps issue in the order of lrr */
    r->config->mascar_queue = queue;
    run_text(r, THREE, 1, 96);
    run_trace(r, LOAD, LOAD + 2, text, size);
    return r;
}

/*
 * The load that issues in cycle t makes its access in t + 2. Warp 0 misses in cycle 2. Its line arrives in 102, and its addition
 * issues in 103. Warp 1 finds no MSHR in cycle 3. Without the mechanism: warp 1 misses in 102, and its line arrives in 202. Warp
 * 2 hits in 103, and its data is there 20 cycles later. With the mechanism: warp 1 moves to the re-execution queue in cycle
 * 3. Warp 2 hits in cycle 4. In cycles 5 to 101 warp 1 finds no MSHR. In cycle 102 warp 1 may not miss, because the memory
 * system was saturated in cycle 101 and warp 1 is not the owner. Warp 1 misses in 103.
 */
static void a_hit_passes_a_blocked_load(void **state)
{
    char text[256];
    struct run *r = run_three(false, 0, text, sizeof text);

    (void)state;
    assert_string_equal(text, "w0.0@0 w1.0@1 w2.0@2 w0.1@103 w2.1@123 w1.1@203");
    run_free(r);
    r = run_three(true, 32, text, sizeof text);
    const uint64_t *count = run_engine(r)->stats[0].count;
    assert_string_equal(text, "w0.0@0 w1.0@1 w2.0@2 w2.1@24 w0.1@103 w1.1@204");
    assert_int_equal(count[TIM_CORE_mascar_moves], 1);
    assert_int_equal(count[TIM_CORE_mascar_returns], 98);
    assert_int_equal(count[TIM_CORE_mascar_accesses], 1);
    assert_int_equal(count[TIM_CORE_l1_misses], 3);
    run_free(r);
    /* Without a re-execution queue, the load/store unit serves instructions in order. */
    r = run_three(true, 0, text, sizeof text);
    assert_string_equal(text, "w0.0@0 w1.0@1 w2.0@2 w0.1@103 w2.1@123 w1.1@203");
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_mascar_moves], 0);
    run_free(r);
}

/* Each lane of warp 0 and 1 reads a line of its own. A load has an entry for each of its accesses, so a load with 31
 * remaining accesses fits into 32 entries, but not into 16. */
static void accesses_need_entries(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shl_b32 v2, v1, 5\n"
        "ld.global.b32 v3, [s4:5+v2]\n"
        "v_add_u32 v4, v3, 1\n"
        "exit\n.end\n";

    (void)state;
    for (unsigned entries = 16; entries <= 64; entries *= 2) {
        struct run *r = run_new();

        r->config->l1_mshrs = 1;
        r->config->l1_line = r->config->l1_sector = 32;
        r->config->l1_ways = 64;
        r->config->l1_bytes = 64 * 64 * 32;
        r->config->mascar_on = true;
        r->config->mascar_free = 0;
        r->config->mascar_queue = entries;
        run_text(r, text, 1, 64);
        const uint64_t *count = run_engine(r)->stats[0].count;
        assert_int_equal(count[TIM_CORE_l1_misses], 64);
        /* with 32 entries warp 0 moves with 31 accesses; the 32 accesses of warp 1 do not fit into the remaining entry. With
         * 64 entries both warps move. */
        const uint64_t accesses = count[TIM_CORE_mascar_accesses];
        assert_true(entries == 16 ? accesses < 32 : accesses >= (entries == 32 ? 31 : 63));
        run_free(r);
    }
}

/* A store of a warp whose load is in the re-execution queue waits for the load. Warp 0 has the only MSHR. */
static void a_store_waits_for_earlier_loads(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shr_u32 v2, v1, 5\n"
        "v_shl_b32 v5, v2, 7\n"
        "ld.global.b32 v6, [s4:5+v5]\n"
        "st.global.b32 [s4:5+v5], v1\n"
        "exit\n.end\n";
    uint64_t sent[2] = {0};
    struct run *r = run_new();

    (void)state;
    r->config->l1_mshrs = 1;
    r->config->mascar_on = true;
    r->config->mascar_free = 0;
    run_text(r, text, 1, 64);
    const struct run_memory *memory = (const struct run_memory *)run_engine(r)->memory;
    for (unsigned i = 0; i < memory->first; i++)
        if (memory->packet[i].warp == 1)
            sent[memory->packet[i].kind == TIM_PACKET_WRITE] = memory->packet[i].sent;
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_mascar_moves], 1);
    assert_true(sent[0] != 0 && sent[1] > sent[0]);
    run_free(r);
}

static void combinations_without_sense_are_refused(void **state)
{
    static const struct mech_refused cases[] = {
        {"mrpb.on=on", "mascar.on cannot be combined with mechanism mrpb"},
        {"la_w.on=on", "mascar.on cannot be combined with mechanism la_w"},
        {"pools.on=on", "mascar.on cannot be combined with mechanism pools"},
        {"dwf.on=on issue.split_lanes=on core.reconvergence=cbar", "mascar.on cannot be combined with dwf, tbc and lwm"},
        {"lsu.replay=buffer", "mascar.on cannot be combined with lsu.replay=buffer"},
        {"regless.on=on", "regless.on cannot be combined with mechanism mascar"},
        {"l1.mshrs=8 mascar.free=8", "mascar.free (8) must be less than l1.mshrs (8)"},
    };

    (void)state;
    mech_assert_refused("mascar.on=on", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_warp_owns_a_saturated_memory),
        cmocka_unit_test(the_owner_changes_when_it_waits),
        cmocka_unit_test(saturation_changes_the_order),
        cmocka_unit_test(a_hit_passes_a_blocked_load),
        cmocka_unit_test(accesses_need_entries),
        cmocka_unit_test(a_store_waits_for_earlier_loads),
        cmocka_unit_test(combinations_without_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
