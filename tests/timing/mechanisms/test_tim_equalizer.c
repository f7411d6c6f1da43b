/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism equalizer: how the states of the warps change the number of blocks that run. 17.1 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

enum { EPOCH = 100, SAMPLE = 7 }; /* up to cycle 700 no sample is at the end of an epoch */

/** Creates a core with one scheduler, and @blocks blocks of @each warps. */
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

/** Runs one epoch, in which the warps of @ready could issue. */
static void epoch(struct mech_core *m, uint64_t ready)
{
    const uint64_t sets[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64] = {{ready}};

    for (unsigned i = 0; i < EPOCH; i++) {
        m->mechs.core.now++;
        tim_mechs_cycle(&m->mechs, sets);
    }
}

/** Returns the blocks of two warps that may issue: "0 1". */
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

/* 17.1: if more memory instructions than a block has warps wait to issue, one block less runs in the next epoch; at last one
 * block runs. Its two warps cannot be more than a block has. */
static void memory_instructions_in_excess_pause_blocks(void **state)
{
    struct mech_core *m = blocks_of(4, 2);

    (void)state;
    for (unsigned w = 0; w < 8; w++)
        m->warp[w].next = &mech_load;
    assert_string_equal(running(m, 4), "0 1 2 3");
    epoch(m, 0xff); /* seven of eight are in excess */
    assert_string_equal(running(m, 4), "0 1 2");
    epoch(m, 0xff);
    assert_string_equal(running(m, 4), "0 1");
    epoch(m, 0xff); /* three of four */
    assert_string_equal(running(m, 4), "0");
    epoch(m, 0xff);
    assert_string_equal(running(m, 4), "0");
    assert_int_equal(m->count[TIM_CORE_equalizer_fewer], 3);
    assert_int_equal(m->count[TIM_CORE_equalizer_memory], 3);
    /* A block that ends makes way for the next oldest. */
    mech_end(m, 0);
    mech_end(m, 1);
    assert_true(mech_holds(m, 4, &mech_alu) && !mech_holds(m, 2, &mech_alu));
    mech_free(m);
}

/* A full load/store queue counts as well: no warp is ready, but all could issue. */
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

/* 17.1: enough other instructions, or a few memory instructions, change nothing; warps that wait bring blocks back. */
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
    epoch(m, 0x7); /* two memory instructions in excess: not more than a block has warps, nor more than two; one warp waits */
    assert_string_equal(running(m, 4), "0 1");
    for (unsigned w = 0; w < 8; w++)
        m->warp[w].next = &mech_alu;
    epoch(m, 0xff); /* three other instructions in excess */
    assert_string_equal(running(m, 4), "0 1");
    assert_int_equal(m->count[TIM_CORE_equalizer_compute], 1);
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

/* A block of which all warps wait at a barrier or for launches does not take the place of a block that could run. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_instructions_in_excess_pause_blocks),
        cmocka_unit_test(a_full_queue_is_an_excess),
        cmocka_unit_test(blocks_return_while_warps_wait),
        cmocka_unit_test(a_block_that_waits_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
