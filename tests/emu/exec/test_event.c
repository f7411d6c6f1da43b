/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the event of a step on cores without an engine. The test itself starts, steps and frees blocks, in its own
 * order. */
#include "tests/emu/exec/emu_fixture.h"

/* ---- driving ------------------------------------------------------------------------ */

struct hand {
    struct emu_machine *machine;
    struct isa_object *object;
    struct emu_program *program;
    struct emu_core *core;
    struct emu_grid *grid;
    uint64_t out;
};

static struct hand open_hand(const char *text, const char *reconv, unsigned blocks,
                             unsigned threads)
{
    struct hand h = {0};
    struct emu_config config;
    struct lw_error err;

    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    if (reconv != NULL)
        config.reconv = reconv;
    fix_check(emu_machine_create(&config, &h.machine, &err), &err);
    fix_check(isa_assemble("test.s", text, strlen(text), &h.object, &err), &err);
    fix_check(emu_program_load(h.machine, h.object, &h.program, &err), &err);
    fix_check(emu_alloc(h.machine, 4096, "out", 0, &h.out, &err), &err);
    struct emu_launch launch = {.program = h.program, .kernel = &h.object->functions[0],
                                .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .work_dim = 1,
                                .params = &h.out};
    fix_check(emu_grid_launch(h.machine, &launch, &h.grid, &err), &err);
    fix_check(emu_core_create(h.machine, 4, NULL, NULL, &h.core, &err), &err);
    return h;
}

static void close_hand(struct hand *h)
{
    emu_core_destroy(h->core);
    emu_machine_destroy(h->machine);
    isa_object_destroy(h->object);
}

static unsigned start(struct hand *h, uint64_t block)
{
    struct lw_error err;
    unsigned slot;

    fix_check(emu_core_block_start(h->core, h->grid, block, &slot, &err), &err);
    return slot;
}

/** Execute one step of the split of @lane. Return false if the split is not ready. */
static bool step_of(struct hand *h, unsigned slot, unsigned warp, unsigned lane,
                    struct emu_event *ev)
{
    struct emu_split_view view;
    struct lw_error err;

    if (!emu_lane_where(h->core, slot, warp, lane, &view) || view.state != EMU_SPLIT_READY)
        return false;
    fix_check(emu_warp_step(h->core, slot, warp, view.id, view.lanes, ev, &err), &err);
    return true;
}

/** Execute one instruction of the split that the policy selects. Return false if no split of the warp is ready. */
static bool step(struct hand *h, unsigned slot, unsigned warp, struct emu_event *ev)
{
    struct emu_split_view view[64];
    int split = emu_warp_select(h->core, slot, warp);
    unsigned n = emu_split_views(h->core, slot, warp, view, LW_COUNT_OF(view));

    for (unsigned i = 0; i < n; i++)
        if ((int)view[i].id == split)
            return step_of(h, slot, warp, lw_lowest(view[i].lanes), ev);
    return false;
}

/** Step one warp until active lanes execute an instruction with opcode @op, and return the event of that step. */
static struct emu_event until(struct hand *h, unsigned slot, unsigned warp, enum isa_op op)
{
    struct emu_event ev = {0};

    for (unsigned i = 0; i < 200; i++) {
        if (!step(h, slot, warp, &ev))
            fail_msg("no split is ready before %s", isa_op_info(op)->mnemonic);
        if (ev.kind == EMU_EV_FAULT)
            fail_msg("%s", ev.fault.detail);
        if (ev.insn->op == op && ev.kind == EMU_EV_RETIRED)
            return ev;
    }
    fail_msg("the warp does not reach %s", isa_op_info(op)->mnemonic);
    return ev;
}

/* ---- start and end of blocks ------------------------------------------------------------------------- */

static void a_grid_starts_with_its_first_step_and_ends_with_its_last_lane(void **state)
{
    static const char text[] = FIX_HEAD "v_setp_u32.lt p0, v0, 2\n@p0 exit\nexit\n.end\n";
    struct hand h = open_hand(text, NULL, 3, 16);
    unsigned slot[3], started = 0, ended = 0, blocks_started = 0, blocks_ended = 0;
    unsigned warps_started = 0, warps_ended = 0, left = 6;
    struct emu_event ev;

    (void)state;
    for (unsigned i = 0; i < 3; i++) /* all blocks are in their slots before the first instruction executes */
        slot[i] = start(&h, 2 - i);
    for (uint64_t steps = 0; left > 0; steps++) {
        unsigned b = (unsigned)(steps % 3), w = (unsigned)(steps / 3 % 2);
        if (!step(&h, slot[b], w, &ev))
            continue;
        assert_int_equal(ev.block, 2 - b);
        assert_int_equal(ev.warp_started, ev.warp_sequence == 0);
        assert_int_equal(ev.block_started, ev.block_sequence == 0);
        assert_int_equal(ev.grid_started, ev.sequence == 0);
        started += ev.grid_started;
        blocks_started += ev.block_started;
        warps_started += ev.warp_started;
        warps_ended += ev.warp_ended;
        blocks_ended += ev.block_ended;
        ended += ev.grid_ended;
        left -= ev.warp_ended;
        assert_int_equal(h.grid->blocks_ended, blocks_ended);
        assert_int_equal(ev.grid_ended, left == 0); /* the grid ends with its last warp, although no slot has been freed */
    }
    assert_int_equal(started, 1);
    assert_int_equal(ended, 1);
    assert_int_equal(blocks_started, 3);
    assert_int_equal(blocks_ended, 3);
    assert_int_equal(warps_started, 6);
    assert_int_equal(warps_ended, 6);
    for (unsigned i = 0; i < 3; i++)
        emu_core_block_free(h.core, slot[i]);
    assert_int_equal(h.grid->blocks_ended, 3); /* each block is counted once */
    close_hand(&h);
}

static void a_grid_that_ran_unwatched_does_not_restart(void **state)
{
    struct fix *f = fix_new(8);
    struct emu_event ev;
    struct lw_error err;

    (void)state;
    fix_load(f, FIX_HEAD "trap 1\nexit\n.end\n", 8);
    struct emu_launch again = {.program = f->program, .kernel = &f->object->functions[0],
                               .grid = {2, 1, 1}, .block = {8, 1, 1}, .work_dim = 1,
                               .params = &f->out};
    fix_check(emu_grid_launch(f->machine, &again, NULL, &err), &err);
    fix_go(f); /* the kernel executes three instructions and then the trap */
    assert_int_equal(f->stop.kind, EMU_STOP_FAULT);
    fix_check(f->engine->ops->step(f->engine, &ev, &f->stop, &err), &err);
    assert_int_equal(ev.kind, EMU_EV_FAULT);
    assert_false(ev.block_started);
    assert_false(ev.grid_started);
    fix_free(f);
}

/* ---- convergence and CTA barriers ------------------------------------------------------ */

static void convergence_operations_have_group_lanes_and_cause(void **state)
{
    static const char text[] =
        FIX_HEAD "v_setp_u32.lt p0, v0, 2\n"
                 "bssy b3, meet\n"
                 "@p0 bra meet, b3\n"
                 "v_setp_u32.lt p1, v0, 4\n"
                 "@p1 bbreak b3\n"
                 "@p1 exit\n"
                 "nop\n"
                 "meet: bsync b3\nexit\n.end\n";
    struct hand h = open_hand(text, NULL, 1, 8);
    unsigned slot = start(&h, 0);
    struct emu_event ev = until(&h, slot, 0, ISA_BSSY);
    uint64_t group = ev.conv.group, seen = 0;

    (void)state;
    assert_int_equal(ev.conv.op, EMU_CONV_JOIN);
    assert_int_equal(ev.conv.reg, 3);
    assert_int_not_equal(group, 0);
    assert_int_equal(ev.conv.why, EMU_RELEASE_NONE);
    while (step(&h, slot, 0, &ev)) {
        if (ev.insn->op == ISA_BBREAK) {
            assert_int_equal(ev.conv.op, EMU_CONV_BREAK);
            assert_int_equal(ev.conv.reg, 3);
            seen |= 1;
        } else if (ev.insn->op == ISA_BSYNC) {
            assert_int_equal(ev.conv.op, EMU_CONV_ARRIVE);
            assert_int_equal(ev.conv.reg, 3);
            assert_int_equal(ev.conv.group, group);
            assert_int_equal(ev.conv.arrived, ev.split_lanes);
            assert_false(ev.conv.soft);
            if (ev.conv.released != 0) {
                assert_int_equal(ev.conv.released, 0xf3); /* all lanes except those that left the barrier */
                assert_int_equal(ev.conv.why, EMU_RELEASE_ARRIVAL);
                seen |= 2;
            }
        } else if (ev.insn->op == ISA_NOP) {
            assert_int_equal(ev.conv.op, EMU_CONV_NONE);
            assert_int_equal(ev.conv.released, 0);
        }
    }
    assert_int_equal(seen, 3);
    close_hand(&h);
}

static void the_cause_is_reported_for_what_leaves_and_what_ends(void **state)
{
    static const struct {
        const char *text; /* lanes 2..7 execute this code while lanes 0 and 1 wait at b3 */
        enum isa_op op;
        enum emu_conv_op does;
        enum emu_release why;
    } rows[] = {
        {"exit", ISA_EXIT, EMU_CONV_NONE, EMU_RELEASE_EXIT},
        {"bbreak b3", ISA_BBREAK, EMU_CONV_BREAK, EMU_RELEASE_BREAK},
        {"v_mov_take_b v2:3, b3", ISA_V_MOV_TAKE_B, EMU_CONV_SAVE, EMU_RELEASE_BREAK},
        {"bssy b3, other", ISA_BSSY, EMU_CONV_JOIN, EMU_RELEASE_REJOIN},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "%sv_setp_u32.lt p0, v0, 2\nbssy b3, meet\n@p0 bra meet, b3\n%s\nbra other\n"
                 "meet: bsync b3\nnop\nother: exit\n.end\n", FIX_HEAD, rows[i].text);
        struct hand h = open_hand(text, NULL, 1, 8);
        unsigned slot = start(&h, 0);
        struct emu_event ev;
        while (step_of(&h, slot, 0, 0, &ev)) /* lanes 0 and 1 start to wait */
            assert_int_equal(ev.conv.released, 0);
        assert_int_equal(ev.insn->op, ISA_BSYNC);
        ev = (struct emu_event){0};
        assert_true(step_of(&h, slot, 0, 7, &ev));
        assert_int_equal(ev.insn->op, rows[i].op);
        assert_int_equal(ev.split_lanes, 0xfc);
        assert_int_equal(ev.conv.op, rows[i].does);
        assert_int_equal(ev.conv.reg, rows[i].does != EMU_CONV_NONE ? 3 : 0);
        assert_int_equal(ev.conv.released, 3);
        assert_int_equal(ev.conv.why, rows[i].why);
        close_hand(&h);
    }
}

static void the_stack_tells_what_it_pops(void **state)
{
    static const char text[] = FIX_HEAD "v_setp_u32.lt p0, v0, 2\nbssy b3, meet\n"
                                        "@p0 bra meet, b3\nnop\nbra meet\nnop\nmeet: bsync b3\nexit\n.end\n";
    struct hand h = open_hand(text, "stack", 1, 8);
    unsigned slot = start(&h, 0);
    struct emu_event ev = until(&h, slot, 0, ISA_NOP);

    (void)state;
    ev = until(&h, slot, 0, ISA_BRA);
    assert_int_equal(ev.split_lanes, 0xfc);
    assert_int_equal(ev.conv.op, EMU_CONV_NONE);
    assert_int_equal(ev.conv.released, 0xff);
    assert_int_equal(ev.conv.why, EMU_RELEASE_POP);
    ev = until(&h, slot, 0, ISA_BSYNC);
    assert_int_equal(ev.conv.op, EMU_CONV_NONE);
    close_hand(&h);
}

static void a_cta_barrier_names_arrived_and_expected_lanes(void **state)
{
    static const char text[] = FIX_HEAD "bar.sync 5\nbar.sync 5\nexit\n.end\n";
    struct hand h = open_hand(text, NULL, 2, 16);
    unsigned slot = start(&h, 1); /* the other block never starts */
    struct emu_event ev = until(&h, slot, 1, ISA_BAR_SYNC);
    uint64_t generation = ev.cta.generation;

    (void)state;
    assert_true(ev.cta.used);
    assert_false(ev.cta.completed);
    assert_int_equal(ev.cta.id, 5);
    assert_int_equal(ev.cta.arrived, 8);
    assert_int_equal(ev.cta.expected, 16);
    assert_int_equal(ev.conv.arrived, 0xff);
    assert_int_equal(ev.conv.released, 0);
    ev = until(&h, slot, 0, ISA_BAR_SYNC);
    assert_true(ev.cta.completed);
    assert_int_equal(ev.cta.arrived, 16);
    assert_int_equal(ev.cta.generation, generation);
    assert_int_equal(ev.conv.released, 0xff);
    assert_int_equal(ev.conv.why, EMU_RELEASE_CTA);
    ev = until(&h, slot, 0, ISA_BAR_SYNC);
    assert_int_not_equal(ev.cta.generation, generation);
    close_hand(&h);
}

/* ---- memory -------------------------------------------------------------------------- */

static void an_atomic_tells_space_of_each_lane_and_order_of_service(void **state)
{
    static const char atomic[] = FIX_HEAD "v_mov_b32 v1, 3\n"
                                          "v_setp_u32.ne p0, v0, 1\n"
                                          "@p0 atom.global.add.u32 v2, [v8:9], v1\n"
                                          "red.global.add.u32 [v8:9], v1\nexit\n.end\n";
    struct hand h = open_hand(atomic, NULL, 1, 4);
    unsigned slot = start(&h, 0);
    struct emu_event ev = until(&h, slot, 0, ISA_ATOM_GLOBAL);
    static const uint8_t order[] = {0, 2, 3};

    (void)state;
    assert_int_equal(ev.access_count, 1);
    assert_int_equal(ev.access[0].kind, EMU_ACCESS_ATOMIC);
    assert_int_equal(ev.access[0].lanes, 0xd);
    assert_int_equal(ev.access[0].service_count, 3);
    assert_memory_equal(ev.access[0].service, order, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ev.access[0].lane_space[order[i]], ISA_SPACE_GLOBAL);
    assert_int_equal(lw_get32(ev.access[0].new_value[3]), 3);
    ev = until(&h, slot, 0, ISA_RED_GLOBAL);
    assert_int_equal(ev.access[0].kind, EMU_ACCESS_REDUCE);
    assert_int_equal(lw_get32(ev.access[0].old_value[3]), 3);
    assert_int_equal(lw_get32(ev.access[0].old_value[1]), 0);
    assert_int_equal(lw_get32(ev.access[0].new_value[3]), 6);
    close_hand(&h);
}

static void generic_lanes_have_their_own_spaces(void **state)
{
    static const char text[] =
        FIX_HEAD "v_setp_u32.lt p0, v0, 2\n"
                 "@p0 v_mov_b32 v8, 0\n"
                 "@p0 v_mov_b32 v9, 0x200\n" /* the local aperture */
                 "ld.generic.b32 v2, [v8:9]\nexit\n.end\n";
    struct hand h;
    struct emu_event ev;
    char with_local[400];

    (void)state;
    snprintf(with_local, sizeof with_local, ".kernel k\n.local 64\n%s",
             text + strlen(".kernel k\n"));
    h = open_hand(with_local, NULL, 1, 4);
    ev = until(&h, start(&h, 0), 0, ISA_LD_GENERIC);
    assert_int_equal(ev.access[0].kind, EMU_ACCESS_LOAD);
    assert_int_equal(ev.access[0].space, ISA_SPACE_LOCAL);
    assert_int_equal(ev.access[0].lane_space[1], ISA_SPACE_LOCAL);
    assert_int_equal(ev.access[0].lane_space[2], ISA_SPACE_GLOBAL);
    assert_false(ev.access[0].affine);
    close_hand(&h);
}

/* c[0][0] and c[0][4] are the low and the high word of the address of `out`, the only parameter of the kernel. */
static void a_constant_operand_has_the_bytes_that_the_row_reads(void **state)
{
    static const struct {
        const char *text;
        enum isa_op op;
        unsigned bytes;
        uint64_t lanes;
    } rows[] = {
        {"v_add_u32 v1, v0, c[0][0]", ISA_V_ADD_U32, 4, 0xff},
        {"v_add_u64 v2:3, v8:9, c[0][0]", ISA_V_ADD_U64, 8, 0xff},
        {"v_cvt.f32.u64 v1, c[0][0]", ISA_V_CVT, 8, 0xff},
        {"v_cvt.f64.u32 v2:3, c[0][0]", ISA_V_CVT, 4, 0xff},
        {"v_madwide_s32 v2:3, v0, v0, c[0][0]", ISA_V_MADWIDE_S32, 8, 0xff},
        {"v_madwide_s32 v2:3, v0, c[0][0], v8:9", ISA_V_MADWIDE_S32, 4, 0xff},
        {"v_lea_u32 v2:3, v0, v0, c[0][0]", ISA_V_LEA_U32, 8, 0xff},
        {"v_bfi_b64 v2:3, v8:9, v0, c[0][0]", ISA_V_BFI_B64, 8, 0xff},
        {"v_shl_b64 v2:3, v8:9, c[0][0]", ISA_V_SHL_B64, 4, 0xff},
        {"s_mov_b32 s2, c[0][0]", ISA_S_MOV_B32, 4, 0xff},
        {"s_mov_b64 exec, 1\ns_add_u64 s2:3, s4:5, c[0][0]", ISA_S_ADD_U64, 8, 0xff},
        {"s_mov_b64 exec, 1\nv_xor_b32 v1, v0, c[0][0]", ISA_V_XOR_B32, 4, 1},
        {"s_popc_b64 s2, c[0][0]", ISA_S_POPC_B64, 8, 0xff},
        {"v_setp_u32.lt p0, v0, 3\n@p0 v_xor_b32 v1, v0, c[0][0]", ISA_V_XOR_B32, 4, 7},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        char text[500];
        snprintf(text, sizeof text, "%s%s\ns_mov_b64 exec, -1\nexit\n.end\n", FIX_HEAD,
                 rows[i].text);
        struct hand h = open_hand(text, NULL, 1, 8);
        struct emu_event ev = until(&h, start(&h, 0), 0, rows[i].op);
        const struct emu_access *a = &ev.access[0];
        if (ev.access_count != 1 || a->bytes != rows[i].bytes || a->lanes != rows[i].lanes)
            fail_msg("%s: %u accesses, %u bytes, lanes %llx", rows[i].text, ev.access_count,
                     a->bytes, (unsigned long long)a->lanes);
        assert_int_equal(a->kind, EMU_ACCESS_CONSTANT);
        assert_int_equal(a->space, ISA_SPACE_CONST);
        assert_int_equal(a->base, ISA_CONST_BASE);
        assert_non_null(a->old_value);
        for (LW_EACH_BIT(l, a->lanes)) {
            assert_int_equal(a->address[l], ISA_CONST_BASE);
            assert_int_equal(a->lane_space[l], ISA_SPACE_CONST);
            assert_memory_equal(a->old_value[l], &h.out, a->bytes);
        }
        close_hand(&h);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_starts_with_its_first_step_and_ends_with_its_last_lane),
        cmocka_unit_test(a_grid_that_ran_unwatched_does_not_restart),
        cmocka_unit_test(convergence_operations_have_group_lanes_and_cause),
        cmocka_unit_test(the_cause_is_reported_for_what_leaves_and_what_ends),
        cmocka_unit_test(the_stack_tells_what_it_pops),
        cmocka_unit_test(a_cta_barrier_names_arrived_and_expected_lanes),
        cmocka_unit_test(an_atomic_tells_space_of_each_lane_and_order_of_service),
        cmocka_unit_test(generic_lanes_have_their_own_spaces),
        cmocka_unit_test(a_constant_operand_has_the_bytes_that_the_row_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
