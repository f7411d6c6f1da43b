/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism equalizer, which changes the number of blocks that run by what their warps wait for. 17.1 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

enum { EPOCH = 100, SAMPLE = 7 }; /* up to cycle 700 no sample is at the end of an epoch */

/** Create a core with one scheduler and @blocks blocks of @each warps. All warps wait for registers. */
static struct mech_core *blocks_of(unsigned blocks, unsigned each)
{
    char set[128];

    snprintf(set, sizeof set, "equalizer.on=on equalizer.epoch=%d equalizer.sample=%d issue.schedulers=1", EPOCH, SAMPLE);
    struct mech_core *m = mech_new(set, 0);
    for (unsigned w = 0; w < blocks * each; w++)
        m->block[w] = w / each;
    mech_begin(m, blocks * each);
    for (unsigned w = 0; w < blocks * each; w++) {
        m->warp[w].lanes = 0xffffffff;
        m->warp[w].next = &mech_alu;
        m->waits_for_registers[w] = true;
    }
    return m;
}

/** Execute one epoch. In each cycle the warps whose bits are set in @ready could issue. */
static void epoch(struct mech_core *m, uint64_t ready)
{
    const uint64_t sets[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64] = {{ready}};

    for (unsigned i = 0; i < EPOCH; i++) {
        m->mechs.core.now++;
        tim_mechs_cycle(&m->mechs, sets);
    }
}

/** Return the numbers of the blocks that may issue, as "0 1". Blocks have two warps. */
static const char *running(const struct mech_core *m, unsigned blocks)
{
    static char text[64];

    *text = '\0';
    for (unsigned b = 0; b < blocks; b++) {
        assert_int_equal(mech_holds(m, 2 * b, &mech_alu), mech_holds(m, 2 * b + 1, &mech_alu));
        if (!mech_holds(m, 2 * b, &mech_alu))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", *text != '\0' ? " " : "", b);
    }
    return text;
}

/* 17.1: a memory instruction is in excess if it could issue, but does not. If the number of such instructions is greater than
 * the number of warps of a block, one block fewer runs in the next epoch. One block always remains, because it cannot have more
 * instructions in excess than it has warps. */
static void memory_instructions_in_excess_pause_blocks(void **state)
{
    struct mech_core *m = blocks_of(4, 2);

    (void)state;
    for (unsigned w = 0; w < 8; w++)
        m->warp[w].next = &mech_load;
    assert_string_equal(running(m, 4), "0 1 2 3");
    epoch(m, 0xff); /* of eight ready memory instructions seven are in excess */
    assert_string_equal(running(m, 4), "0 1 2");
    epoch(m, 0xff);
    assert_string_equal(running(m, 4), "0 1");
    epoch(m, 0xff); /* of four ready memory instructions three are in excess */
    assert_string_equal(running(m, 4), "0");
    epoch(m, 0xff);
    assert_string_equal(running(m, 4), "0");
    assert_int_equal(m->count[TIM_CORE_equalizer_fewer], 3);
    assert_int_equal(m->count[TIM_CORE_equalizer_memory], 3);
    assert_true(tim_equalizer_bound(&m->mechs) != TIM_BOUND_MEMORY); /* in the last epoch one memory instruction was in excess, and one warp waited */
    /* When the running block ends, the oldest of the other blocks runs. */
    mech_end(m, 0);
    mech_end(m, 1);
    assert_true(mech_holds(m, 4, &mech_alu) && !mech_holds(m, 2, &mech_alu));
    mech_free(m);
}

/* If the load/store queue is full, no warp is ready. Memory instructions that only wait for the queue are in excess, too. */
static void a_full_queue_is_an_excess(void **state)
{
    struct mech_core *m = blocks_of(4, 2);

    (void)state;
    for (unsigned w = 0; w < 8; w++) {
        m->warp[w].next = &mech_load;
        m->waits_for_registers[w] = false;
    }
    epoch(m, 0);
    assert_string_equal(running(m, 4), "0 1 2");
    mech_free(m);
}

/* 17.1: many other instructions in excess, or few memory instructions, do not change the number of blocks. If most warps wait,
 * one block more runs. */
static void blocks_return_while_warps_wait(void **state)
{
    struct mech_core *m = blocks_of(4, 2);
    struct lw_buffer text;

    (void)state;
    for (unsigned w = 0; w < 8; w++)
        m->warp[w].next = &mech_load;
    epoch(m, 0xff);
    epoch(m, 0xff);
    assert_string_equal(running(m, 4), "0 1");
    assert_int_equal(tim_equalizer_bound(&m->mechs), TIM_BOUND_MEMORY);
    epoch(m, 0x7); /* the number of memory instructions in excess is neither above the number of warps of a block nor above
                    * two; one warp waits */
    assert_string_equal(running(m, 4), "0 1");
    for (unsigned w = 0; w < 8; w++)
        m->warp[w].next = &mech_alu;
    epoch(m, 0xff); /* three other instructions are in excess */
    assert_string_equal(running(m, 4), "0 1");
    assert_int_equal(m->count[TIM_CORE_equalizer_compute], 1);
    assert_true(tim_equalizer_bound(&m->mechs) != TIM_BOUND_MEMORY);
    epoch(m, 0); /* all four active warps wait */
    assert_string_equal(running(m, 4), "0 1 2");
    epoch(m, 0);
    epoch(m, 0);
    assert_string_equal(running(m, 4), "0 1 2 3");
    assert_int_equal(m->count[TIM_CORE_equalizer_fewer], 2);
    lw_buffer_init(&text);
    m->mechs.mech[0]->row->show(m->mechs.mech[0], &text.sink);
    assert_string_equal(text.text, "4 of 4 blocks run, at most 5; averages of the last epoch: 8.0 active warps, 8.0 waiting; "
                                   "excess instructions: 0.0 of memory, 0.0 others\n");
    lw_buffer_fini(&text);
    mech_free(m);
}

/* A block whose warps all wait at a barrier or for launches does not count as a block that runs, so another block may run. */
static void a_block_that_waits_does_not_count(void **state)
{
    struct mech_core *m = blocks_of(3, 2);

    (void)state;
    for (unsigned w = 0; w < 6; w++)
        m->warp[w].next = &mech_load;
    epoch(m, 0x3f);
    epoch(m, 0x3f);
    assert_string_equal(running(m, 3), "0");
    tim_mechs_wait(&m->mechs, 0, true);
    assert_string_equal(running(m, 3), "0");
    tim_mechs_wait(&m->mechs, 1, true);
    assert_string_equal(running(m, 3), "0 1");
    tim_mechs_wait(&m->mechs, 1, false);
    assert_string_equal(running(m, 3), "0");
    mech_free(m);
}

/* The queue of the load/store unit holds one instruction, whose accesses are replayed. Replays get issue slots also in cycles in
 * which no warp is ready, so that the kernel ends. */
static void replays_issue_while_no_warp_is_ready(void **state)
{
    struct run *r = run_new();
    struct lw_error err;

    (void)state;
    r->config->equalizer_on = true;
    r->config->lsu_replay = TIM_REPLAY_BUFFER;
    r->config->lsu_queue = 1;
    run_open(r, MECH_THRASH, 1, 64);
    fix_check(tim_engine_run_cycles(r->fix->engine, 100000, &r->stop, &err), &err);
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    assert_true(run_engine(r)->stats[0].count[TIM_CORE_replays_lines] > 100);
    run_free(r);
}

/* Kernel that computes, without loads. */
#define COMPUTE \
    ".kernel k\n.param ptr.global out\n" \
    "v_mov_b32 v12, 0\n" \
    "loop:\n" \
    "v_add_u32 v4, v4, 1\n" \
    "v_add_u32 v5, v5, 1\n" \
    "v_add_u32 v12, v12, 1\n" \
    "v_setp_u32.lt p0, v12, 300\n" \
    "@p0 bra loop\n" \
    "exit\n.end\n"

/* Kernel of independent instructions: a warp neither waits nor has more instructions ready than issue. */
#define ADD4(a, b, c, d) "v_add_u32 v" #a ", v1, 1\nv_add_u32 v" #b ", v1, 2\nv_add_u32 v" #c ", v1, 3\nv_add_u32 v" #d ", v1, 4\n"
#define BALANCED \
    ".kernel k\n.param ptr.global out\n" \
    "v_mov_b32 v12, 0\n" \
    "loop:\n" \
    "v_add_u32 v12, v12, 1\n" \
    ADD4(20, 21, 22, 23) ADD4(24, 25, 26, 27) ADD4(28, 29, 30, 31) ADD4(32, 33, 34, 35) ADD4(36, 37, 38, 39) ADD4(40, 41, 42, 43) \
    "v_setp_u32.lt p0, v12, 60\n" \
    ADD4(44, 45, 46, 47) ADD4(48, 49, 50, 51) ADD4(52, 53, 54, 55) ADD4(56, 57, 58, 59) ADD4(60, 61, 62, 63) ADD4(64, 65, 66, 67) \
    "@p0 bra loop\n" \
    "exit\n.end\n"

/* 17.1: while memory limits most cores, the clocks of the cores are 15 % lower than the raised ones; while computation limits most
 * cores, the clocks of the memory are. Without a majority, all clocks are high in energy mode, and low in performance mode
 * (speed), where these are the normal ones. */
static void clocks_follow_the_votes(void **state)
{
    static const struct {
        const char *text;
        unsigned blocks, threads;
        bool memory, compute;
    } kernels[] = {{COMPUTE, 9, 64, false, true}, {MECH_THRASH, 9, 64, true, false}, {BALANCED, 3, 32, false, false}};

    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        const bool speed = i / 3 % 2 != 0, all = i / 6 != 0, memory = kernels[i % 3].memory, compute = kernels[i % 3].compute;
        const bool cores_low = speed ? !compute : memory, memory_low = all && (speed ? !memory : compute);
        struct run *r = run_new();
        const struct tim_engine *e;

        r->config->core_count = 3;
        r->config->equalizer_on = r->config->dvfs_on = true;
        r->config->equalizer_sample = 4;
        r->config->equalizer_epoch = 64;
        r->config->dvfs_act = TIM_DVFS_VOTE;
        r->config->dvfs_goal = speed ? TIM_GOAL_SPEED : TIM_GOAL_ENERGY;
        r->config->dvfs_memory = all;
        r->config->dvfs_sample = 64;
        r->config->dvfs_transition = 10;
        r->config->dvfs_low_mhz = 595;
        r->config->dvfs_high_mhz = 700;
        r->config->lsu_queue = 1;
        run_text(r, kernels[i % 3].text, kernels[i % 3].blocks, kernels[i % 3].threads);
        e = run_engine(r);
        assert_int_equal(e->gpu[TIM_GPU_dvfs_diversions], 0);
        assert_int_equal(3 * e->gpu[TIM_GPU_dvfs_votes] > e->gpu[TIM_GPU_dvfs_samples], memory);
        assert_int_equal(3 * e->gpu[TIM_GPU_dvfs_compute_votes] > e->gpu[TIM_GPU_dvfs_samples], compute);
        const uint64_t low = e->gpu[TIM_GPU_dvfs_memory_low_cycles], cycles = e->gpu[TIM_GPU_cycles];
        assert_int_equal(2 * low > cycles, memory_low);
        assert_int_equal(e->gpu[TIM_GPU_dvfs_memory_lows] != 0, low != 0);
        for (unsigned c = 0; c < 3; c++) { /* with 595 of 700 MHz for the whole run, a core loses 15 % of the cycles */
            const uint64_t lost = e->stats[c].count[TIM_CORE_dvfs_lost_cycles];

            assert_true(lost * 100 <= cycles * 15);
            assert_int_equal(lost * 100 > cycles * 7, cores_low);
        }
        run_free(r);
    }
}

static void votes_need_the_mechanism(void **state)
{
    static const struct mech_refused cases[] = {{"dvfs.act=vote", "dvfs.act=vote needs mechanism equalizer"},
                                                {"dvfs.act=scale dvfs.memory=on", "dvfs.memory needs dvfs.act=vote"},
                                                {"dvfs.memory=off dvfs.goal=speed", "dvfs.goal=speed needs dvfs.act=vote"}};

    (void)state;
    mech_assert_refused("dvfs.on=on", cases, LW_COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_instructions_in_excess_pause_blocks),
        cmocka_unit_test(a_full_queue_is_an_excess),
        cmocka_unit_test(blocks_return_while_warps_wait),
        cmocka_unit_test(a_block_that_waits_does_not_count),
        cmocka_unit_test(replays_issue_while_no_warp_is_ready),
        cmocka_unit_test(clocks_follow_the_votes),
        cmocka_unit_test(votes_need_the_mechanism),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
