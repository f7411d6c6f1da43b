/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests mechanism mrpb: which instruction of the load/store queue makes the next access. 16.4 is a section of the
 * specification of the book on GPU architectures.
 */
#include "tests/timing/mechanisms/mech_fixture.h"

static unsigned first_of(const struct mech_core *m, const uint16_t *warp, unsigned count)
{
    return m->mechs.orders->row->orders(m->mechs.orders, warp, count);
}

/* 16.4: the signature of an instruction selects its queue; the first queue that is not empty is served, the oldest
 * instruction in it first. */
static void the_first_queue_is_served_first(void **state)
{
    static const uint16_t waiting[] = {5, 3, 9, 3, 5};
    struct mech_core *m = mech_new("mrpb.on=on", 0);

    (void)state;
    assert_int_equal(first_of(m, waiting, 1), 0);
    assert_int_equal(first_of(m, waiting, 5), 1);
    assert_int_equal(first_of(m, waiting + 2, 3), 1);
    assert_int_equal(first_of(m, waiting + 4, 1), 0);
    mech_free(m);
    /* With four queues, warps 5 and 9 share queue 1, and warp 3 has queue 3. */
    m = mech_new("mrpb.on=on mrpb.queues=4", 0);
    assert_int_equal(first_of(m, waiting + 1, 4), 1);
    assert_int_equal(first_of(m, waiting, 5), 0);
    mech_free(m);
    /* With one queue, instructions are served in their own order. */
    m = mech_new("mrpb.on=on mrpb.queues=1", 0);
    assert_int_equal(first_of(m, waiting, 5), 0);
    mech_free(m);
}

static void a_block_may_be_the_signature(void **state)
{
    static const uint16_t waiting[] = {0, 9, 8, 1};
    struct mech_core *m = mech_new("mrpb.on=on mrpb.signature=block", 0);
    struct lw_buffer text;

    (void)state;
    m->block[0] = m->block[1] = 2;
    m->block[8] = m->block[9] = 1;
    assert_int_equal(first_of(m, waiting, 4), 1);
    lw_buffer_init(&text);
    m->mechs.mech[0]->row->show(m->mechs.mech[0], &text.sink);
    assert_string_equal(text.text, "256 queues, selected by the block; instructions that overtook an older one: 0\n");
    lw_buffer_fini(&text);
    mech_free(m);
}

/* Each lane of a warp reads its own line. Warp 1 reads first, and warp 0 after five more instructions. */
#define WIDE \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v2, v1, 5\n" \
    "v_setp_u32.lt p0, v1, 32\n" \
    "@!p0 bra go\n" \
    "v_add_u32 v4, v1, 1\n" \
    "v_add_u32 v4, v4, 1\n" \
    "v_add_u32 v4, v4, 1\n" \
    "go:\n" \
    "ld.global.b32 v3, [s4:5+v2]\n" \
    "v_add_u32 v4, v3, 1\n" \
    "exit\n.end\n"

/** Runs the kernel and writes the warps of the requests in the order in which they leave the core: "1x32 0x32". Returns the
 *  number of instructions that overtook an older one. */
static uint64_t requests(bool on, unsigned queue, char *text, size_t size)
{
    struct run *r = run_new();
    size_t used = 0;
    unsigned same = 0;

    r->config->mrpb_on = on;
    r->config->lsu_queue = queue;
    r->config->l1_line = r->config->l1_sector = 32;
    r->config->l1_ways = 8;
    r->config->l1_bytes = 64 * 8 * 32;
    r->config->l1_mshrs = 64;
    run_text(r, WIDE, 1, 64);
    const struct run_memory *memory = (const struct run_memory *)run_engine(r)->memory;
    text[0] = '\0';
    for (unsigned i = 0; i < memory->first; i++) {
        same++;
        if (i + 1 < memory->first && memory->packet[i + 1].warp == memory->packet[i].warp)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%ux%u", used == 0 ? "" : " ", memory->packet[i].warp, same);
        same = 0;
    }
    uint64_t overtakes = run_engine(r)->stats[0].count[TIM_CORE_mrpb_overtakes];
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_l1_misses], 64);
    run_free(r);
    return overtakes;
}

/* The load of warp 0 reaches the queue when warp 1 has made some of its accesses. The load of warp 0 then makes its accesses
 * first. */
static void accesses_of_a_warp_overtake_those_of_later_queues(void **state)
{
    char text[256];
    unsigned before, after;

    (void)state;
    assert_int_equal(requests(false, 8, text, sizeof text), 0);
    assert_string_equal(text, "1x32 0x32");
    assert_int_equal(requests(true, 8, text, sizeof text), 1);
    assert_int_equal(sscanf(text, "1x%u 0x32 1x%u", &before, &after), 2);
    assert_true(before != 0 && before < 32 && before + after == 32);
    /* A queue of one instruction cannot be ordered. */
    assert_int_equal(requests(true, 1, text, sizeof text), 0);
    assert_string_equal(text, "1x32 0x32");
}

/* Two warps read lines of their own repeatedly, and L1 has lines for one of them. Without the mechanism the accesses of both
 * alternate, and no line is loaded again. */
static void l1_keeps_the_lines_of_a_warp(void **state)
{
    uint64_t hits[2];

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct run *r = run_new();

        r->config->l1_line = r->config->l1_sector = 32;
        r->config->l1_bytes = 48 * 32;
        r->config->l1_ways = 48;
        r->config->l1_mshrs = 4;
        r->config->mrpb_on = on;
        run_text(r, MECH_THRASH, 1, 96);
        hits[on] = run_engine(r)->stats[0].count[TIM_CORE_l1_hits];
        run_free(r);
    }
    assert_true(hits[1] > 2 * hits[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_queue_is_served_first),
        cmocka_unit_test(a_block_may_be_the_signature),
        cmocka_unit_test(accesses_of_a_warp_overtake_those_of_later_queues),
        cmocka_unit_test(l1_keeps_the_lines_of_a_warp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
