/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that each kind of architectural state changes hash_state, and that no other state does. */
#include "tests/emu/history/history_fixture.h"

/* v8:9 is the address of the thread's word. With 4 warps of 8 lanes, warp 0 has diverged after 24 warp instructions. */
static const char text[] =
    ".kernel k\n.param ptr.global out\n.param u64 number\n.shared 64\n.local 8\n"
    "v_s2r v0, %tid.x\n"
    "v_mov_b64 v8:9, c[out]\n"
    "v_madwide_u32 v8:9, v0, 4, v8:9\n"
    "s_mov_b32 s3, 5\n"
    "v_mov_b32 v4, 9\n"
    "st.local.b32 [vz], v4\n"
    "st.shared.b32 [vz], v4\n"
    "st.global.b32 [v8:9], v4\n"
    "v_setp_u32.lt p0, v0, 3\n"
    "bssy b2, meet\n"
    "@p0 bra side, b2\n"
    "nanosleep 1000\n"
    "bra meet\n"
    "side: v_add_u32 v5, v5, 1\n"
    "v_setp_u32.lt p1, v0, 1\n"
    "@p1 bra meet\n"
    "v_setp_u32.lt p1, v0, 2\n"
    "@p1 bra sync\n"
    "nanosleep 20\n"
    "sync: warpsync 6\n"
    "v_add_u32 v5, v5, 1\n"
    "meet: bsync b2\n"
    "bar.sync 0\n"
    "exit\n.end\n";

static void setup(struct fix *fix, uint64_t at)
{
    struct emu_config config;

    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    fix_open(fix, &config, text);
    fix_launch(fix, 3, 12, 77);
    fix_launch(fix, 1, 12, 78);
    assert_int_equal(fix_run(fix, at), EMU_STOP_COUNT);
}

static struct emu_block *block_of(struct fix *fix)
{
    struct emu_core *core = fix->machine->cores[0];

    for (unsigned s = 0; s < core->slots; s++)
        if (core->block[s].in_use)
            return &core->block[s];
    fail_msg("no block runs");
    return NULL;
}

static uint32_t *row(struct emu_warp *w, unsigned number)
{
    return emu_row(w, (EMU_ROW_V0 + number) * w->stride);
}

/** Flip the lowest bit of a value of @bytes bytes, expect another hash, and restore the value. */
static void flips(struct fix *fix, const char *what, void *at, unsigned bytes)
{
    uint64_t before = emu_hash_state(fix->machine);
    uint8_t kept[8];

    memcpy(kept, at, bytes);
    *(uint8_t *)at ^= 1;
    if (emu_hash_state(fix->machine) == before)
        fail_msg("%s does not change the hash", what);
    memcpy(at, kept, bytes);
    assert_int_equal(emu_hash_state(fix->machine), before);
}

static void keeps(struct fix *fix, const char *what, void *at)
{
    uint64_t before = emu_hash_state(fix->machine);

    *(uint8_t *)at ^= 1;
    if (emu_hash_state(fix->machine) != before)
        fail_msg("%s counts", what);
    *(uint8_t *)at ^= 1;
}
#define FLIPS(fix, at) flips((fix), #at, &(at), sizeof(at) < 8 ? sizeof(at) : 8)
#define KEEPS(fix, at) keeps((fix), #at, &(at))

static struct emu_split *split_in(struct emu_warp *w, enum emu_split_state state)
{
    assert_int_not_equal(w->split_in[state], 0);
    return &w->split[lw_lowest(w->split_in[state])];
}

static void every_kind_of_state_changes_the_hash(void **state)
{
    struct fix fix;
    struct emu_warp *w;
    struct emu_block *b;

    (void)state;
    setup(&fix, 24);
    b = block_of(&fix);
    w = &b->warp[0];
    /* registers of a live lane */
    FLIPS(&fix, row(w, 4)[2]);
    FLIPS(&fix, w->s[3]);
    FLIPS(&fix, w->s[126]); /* exec */
    FLIPS(&fix, w->s[127]);
    FLIPS(&fix, w->p[0]);
    FLIPS(&fix, w->sp[0]);
    /* memory */
    FLIPS(&fix, b->shared[5]);
    FLIPS(&fix, w->local[4]);
    FLIPS(&fix, fix.machine->memory.host[5]);
    /* counts */
    FLIPS(&fix, w->retired);
    FLIPS(&fix, w->lane_retired);
    FLIPS(&fix, b->retired);
    FLIPS(&fix, b->sleep_offset);
    FLIPS(&fix, b->cta_generation);
    FLIPS(&fix, fix.machine->cores[0]->retired);
    FLIPS(&fix, fix.machine->grid_count);
    FLIPS(&fix, fix.machine->text_hash.state);
    /* state that decides which warp runs */
    FLIPS(&fix, b->linear);
    FLIPS(&fix, w->launched);
    FLIPS(&fix, w->live);
    /* queued grids */
    struct emu_grid *queued = fix.machine->last_grid;
    FLIPS(&fix, queued->launch.grid[0]);
    FLIPS(&fix, queued->launch.block[1]);
    FLIPS(&fix, queued->launch.offset[2]);
    FLIPS(&fix, queued->launch.work_dim);
    FLIPS(&fix, queued->shared_bytes);
    FLIPS(&fix, queued->blocks_ended);
    flips(&fix, "a parameter", (uint8_t *)(uintptr_t)queued->bank0 + 8, 1);
    /* splits */
    struct emu_split *sleeping = split_in(w, EMU_SPLIT_SLEEPING);
    FLIPS(&fix, sleeping->wake);
    FLIPS(&fix, sleeping->pc);
    FLIPS(&fix, sleeping->lanes);
    FLIPS(&fix, sleeping->flags);
    /* convergence registers: lanes and numbers */
    FLIPS(&fix, w->bform[2].lanes);
    FLIPS(&fix, w->bform[2].number);
    FLIPS(&fix, w->group_counter);
    fix_close(&fix);
}

/** Step until warp 0 of the block has a split in state @wanted. */
static struct emu_warp *until(struct fix *fix, enum emu_split_state wanted)
{
    for (uint64_t at = 10; at < 400; at++) {
        assert_int_equal(fix_run(fix, at), EMU_STOP_COUNT);
        struct emu_block *b = block_of(fix);
        for (unsigned i = 0; i < b->warp_count; i++)
            if (b->warp[i].split_in[wanted] != 0)
                return &b->warp[i];
    }
    fail_msg("no split reaches this state: %s", emu_split_state_name(wanted));
    return NULL;
}

static void what_lanes_wait_for_changes_the_hash(void **state)
{
    struct fix fix;
    struct emu_warp *w;

    (void)state;
    setup(&fix, 5);
    w = until(&fix, EMU_SPLIT_WARPSYNC);
    FLIPS(&fix, w->member[lw_lowest(split_in(w, EMU_SPLIT_WARPSYNC)->lanes)]);
    w = until(&fix, EMU_SPLIT_BLOCKED);
    struct emu_split *s = split_in(w, EMU_SPLIT_BLOCKED);
    FLIPS(&fix, s->state);
    FLIPS(&fix, s->barrier);
    w = until(&fix, EMU_SPLIT_CTA);
    struct emu_cta_barrier *c = &w->block->cta[0];
    FLIPS(&fix, c->has_count);
    FLIPS(&fix, c->count);
    FLIPS(&fix, c->arrived);
    FLIPS(&fix, c->generation);
    FLIPS(&fix, c->brought);
    FLIPS(&fix, c->yes);
    FLIPS(&fix, split_in(w, EMU_SPLIT_CTA)->reduction);
    FLIPS(&fix, c->lanes[0]);
    /* the register holds two convergence groups, whose numbers come from the vector register */
    w->bform[7].lanes = 3;
    w->bform[7].number = 0;
    w->breg[7][0] = 1;
    w->breg[7][1] = 2;
    FLIPS(&fix, w->breg[7][1]);
    fix_close(&fix);
}

static void dead_lanes_and_the_hosts_affairs_do_not_change_the_hash(void **state)
{
    struct fix fix;
    struct emu_block *b;
    struct emu_warp *w;
    uint64_t before;

    (void)state;
    setup(&fix, 24);
    b = block_of(&fix);
    w = &b->warp[1]; /* 12 threads, so that lanes 4..7 were never launched */
    assert_int_equal(w->live, 0xf);
    KEEPS(&fix, row(w, 4)[5]);
    KEEPS(&fix, w->local[4 * 6]);
    keeps(&fix, "a dead lane's predicate", (uint8_t *)&w->p[0] + 1);
    KEEPS(&fix, w->member[1]); /* the value is unused, since the split waits for no lane */
    w->breg[2][1] ^= 1;        /* the uniform form has the number, and the vector register is stale */
    before = emu_hash_state(fix.machine);
    w->breg[2][1] ^= 1;
    assert_int_equal(emu_hash_state(fix.machine), before);
    KEEPS(&fix, row(w, w->vreg_count)[1]);
    KEEPS(&fix, b->warp[0].split[20].lanes); /* the warp has no split with this number */
    KEEPS(&fix, b->warp[0].mask_row[1]);
    KEEPS(&fix, b->cta[3].lanes[0]);
    KEEPS(&fix, b->slot);
    KEEPS(&fix, fix.machine->grids->blocks_started);
    fix_close(&fix);
}

static void looking_at_a_block_that_has_not_begun_does_not_change_the_hash(void **state)
{
    struct fix fix;
    struct emu_core *core;
    unsigned slot;
    uint64_t before, value;
    struct lw_error err;

    (void)state;
    setup(&fix, 24);
    before = emu_hash_state(fix.machine);
    assert_true(fix.engine->ops->locate(fix.engine, 1, 2, &core, &slot));
    assert_int_equal(emu_hash_state(fix.machine), before);
    assert_true(emu_reg_read(core, slot, 1, ISA_REG_V, 4, 1, &value));
    assert_true(emu_reg_write(core, slot, 1, ISA_REG_V, 4, 1, value + 1, &err));
    assert_int_not_equal(emu_hash_state(fix.machine), before);
    assert_true(emu_reg_write(core, slot, 1, ISA_REG_V, 4, 1, value, &err));
    assert_int_equal(emu_hash_state(fix.machine), before);
    /* each part of the state that an edit may change */
    struct emu_block *b = emu_core_block(core, slot);
    struct emu_warp *w = &b->warp[1];
    FLIPS(&fix, b->shared[63]);
    FLIPS(&fix, w->local[4]);
    FLIPS(&fix, w->p[2]);
    FLIPS(&fix, w->s[9]);
    FLIPS(&fix, w->sp[3]);
    FLIPS(&fix, w->s[127]);
    FLIPS(&fix, w->split[0].pc);
    fix_close(&fix);
}

static void an_allocation_changes_the_hash(void **state)
{
    struct fix fix;
    uint64_t before, address;
    struct lw_error err;

    (void)state;
    setup(&fix, 24);
    before = emu_hash_state(fix.machine);
    fix_check(emu_alloc(fix.machine, 100, "more", 0, &address, &err), &err);
    assert_int_not_equal(emu_hash_state(fix.machine), before);
    fix_check(emu_free(fix.machine, address, &err), &err);
    assert_int_equal(emu_hash_state(fix.machine), before);
    fix_close(&fix);
}

static void the_count_to_stop_at_is_exact_and_changes_nothing(void **state)
{
    uint64_t whole = 0;

    (void)state;
    for (unsigned step = 0; step < 8; step++) {
        struct emu_config config;
        struct fix fix;
        enum emu_stop_kind kind = EMU_STOP_COUNT;
        emu_config_default(&config);
        config.warp_width = 8;
        config.arena_bytes = 1 << 24;
        config.resident_warps = 4;
        fix_open(&fix, &config, text);
        fix_launch(&fix, 5, 12, 1);
        for (uint64_t at = step; kind == EMU_STOP_COUNT; at += step) {
            kind = fix_run(&fix, step == 0 ? UINT64_MAX : at);
            if (kind == EMU_STOP_COUNT)
                assert_int_equal(fix.engine->ops->instructions(fix.engine), at);
        }
        assert_int_equal(kind, EMU_STOP_IDLE);
        if (step == 0)
            whole = emu_hash_state(fix.machine);
        assert_int_equal(emu_hash_state(fix.machine), whole);
        fix_close(&fix);
    }
}

static void a_live_lock_is_found_at_the_same_instruction_however_it_is_cut(void **state)
{
    uint64_t found[3];

    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        struct emu_config config;
        struct fix fix;
        enum emu_stop_kind kind = EMU_STOP_COUNT;
        emu_config_default(&config);
        config.warp_width = 8;
        config.arena_bytes = 1 << 24;
        config.hang_window = 5000;
        fix_open(&fix, &config, ".kernel k\n.param ptr.global out\n.param u64 number\n"
                                "again: v_add_u32 v1, v1, 1\nbra again\n.end\n");
        fix_launch(&fix, 2, 24, 1);
        for (uint64_t at = 17; kind == EMU_STOP_COUNT; at += 17)
            kind = fix_run(&fix, how == 0 ? UINT64_MAX : how == 1 ? at : 13 * at);
        assert_int_equal(kind, EMU_STOP_HANG);
        found[how] = fix.engine->ops->instructions(fix.engine);
        fix_close(&fix);
    }
    assert_int_equal(found[1], found[0]);
    assert_int_equal(found[2], found[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_state_changes_the_hash),
        cmocka_unit_test(what_lanes_wait_for_changes_the_hash),
        cmocka_unit_test(dead_lanes_and_the_hosts_affairs_do_not_change_the_hash),
        cmocka_unit_test(looking_at_a_block_that_has_not_begun_does_not_change_the_hash),
        cmocka_unit_test(an_allocation_changes_the_hash),
        cmocka_unit_test(the_count_to_stop_at_is_exact_and_changes_nothing),
        cmocka_unit_test(a_live_lock_is_found_at_the_same_instruction_however_it_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
