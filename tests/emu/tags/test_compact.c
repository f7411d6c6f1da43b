/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the compact mode of tags. After every step, registers in compact form are compared with the registers of a run
 * that stores a value for each lane. Also checks the counts of saved memory and lane operations. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/emu/tags/tag_run.h"

/* A kernel that applies every rule of tags to linear values: on both sides of a branch, in a loop, and with lanes that
 * exit. */
#define BUSY                                                                                  \
    ".kernel k\n.param ptr.global out\n.param u64 a\n.param u32 b\n.local 16\n.shared 4096\n"    \
    "v_s2r v0, %tid.x\nv_s2r v1, %tid.y\nv_s2r v2, %ntid.x\nv_mad_u32 v3, v1, v2, v0\n"       \
    "v_mulwide_u32 v4:5, v3, 4\nv_add_u64 v4:5, v4:5, c[out]\nld.global.b32 v6, [v4:5]\n"     \
    "v_add_u32 v6, v6, v3\nst.global.b32 [v4:5], v6\nst.global.b32 [v4:5], v3\n"             \
    "v_mov_b64 v8:9, c[out]\nld.global.b32 v7, [v8:9]\nv_lea_s32 v10:11, v3, 2, v8:9\n"       \
    "v_sub_u64 v12:13, v10:11, v8:9\nv_mov_b32 v14, v12\nv_mov_b32 v15, v13\n"               \
    "v_neg_s32 v16, v3\nv_not_b32 v17, v3\nv_shl_b32 v18, v3, 3\nv_cvt.s64.s32 v20:21, v16\n" \
    "v_mul_u64 v22:23, v20:21, 12\nv_shl_b32 v24, v0, 2\nst.shared.b32 [v24], v18\n"         \
    "ld.shared.b32 v25, [v24]\nst.local.b32 [vz], v17\nld.local.b32 v26, [vz]\n"             \
    "v_mov_b32 v27, 3\nv_setp_s32.lt p1, v16, -5\nv_setp_u64.lt p2, v12:13, 48\n"            \
    "bssy b0, done\nagain: v_setp_u32.lt p0, v3, 9\nbssy b1, join\n@p0 bra other, b1\n"       \
    "v_add_u32 v18, v18, v27\nv_mul_u32 v14, v14, v27\nbra join\n"                          \
    "other: v_sub_u32 v18, v18, 1\nv_add_u64 v12:13, v12:13, v10:11\n"                       \
    "join: bsync b1\nv_sub_u32 v27, v27, 1\nv_add_u64 v10:11, v10:11, 0\n"                   \
    "ld.global.b32 v28, [v10:11]\n@p1 v_mov_b32 v17, 1\nv_setp_s32.gt p3, v27, 0\n"          \
    "@p3 bra again, b0\ndone: bsync b0\nv_setp_u32.ge p4, v3, 20\n@p4 exit\n"               \
    "v_mov_b32 v3, v2\nv_add_u32 v3, v3, v16\nv_mov_b64 v30:31, v8:9\n"                      \
    "v_addc_u32 v28, p5, v14, v18, !pt\nv_mov_b32 v29, v31\nst.global.b32 [v4:5], v29\n" END

struct counterpart {
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct isa_object *object;
    struct emu_event ev;
    struct emu_stop stop;
};
static void open_counterpart(struct counterpart *t, const struct emu_config *config, const uint32_t block[3])
{
    struct lw_error err;
    uint64_t params[3] = {0};

    check(emu_machine_create(config, &t->machine, &err), &err);
    check(isa_assemble("busy.s", BUSY, sizeof BUSY - 1, &t->object, &err), &err);
    check(emu_program_load(t->machine, t->object, &t->program, &err), &err);
    check(emu_alloc(t->machine, 4096, "out", 0, &params[0], &err), &err);
    check(emu_engine_functional_create(t->machine, &t->engine, &err), &err);
    struct emu_launch launch = {.program = t->program, .kernel = &t->object->functions[0],
                                .grid = {2, 1, 1}, .block = {block[0], block[1], block[2]},
                                .params = params};
    check(emu_grid_launch(t->machine, &launch, NULL, &err), &err);
}
static void close_counterpart(struct counterpart *t)
{
    emu_engine_destroy(t->engine);
    emu_machine_destroy(t->machine);
    isa_object_destroy(t->object);
}

static void compare_counterparts(const struct counterpart *a, const struct counterpart *b)
{
    const struct emu_event *x = &a->ev, *y = &b->ev;
    struct emu_warp_view view;
    struct emu_tag before, after;
    uint64_t p, q;

    assert_int_equal(x->pc, y->pc);
    assert_int_equal(x->effective, y->effective);
    assert_int_equal(x->access_count, y->access_count);
    if (x->access_count != 0 && x->effective != 0)
        for (LW_EACH_BIT(l, x->effective)) {
            assert_int_equal(x->access[0].address[l], y->access[0].address[l]);
            if (x->access[0].old_value != NULL) /* An access to a constant operand has no old value. */
                assert_memory_equal(x->access[0].old_value[l], y->access[0].old_value[l], 16);
        }
    if (x->block_ended)
        return; /* The block's registers do not exist any more. */
    assert_true(emu_warp_view(x->core, x->slot, x->warp, &view));
    for (unsigned r = 0; r < view.vreg_count; r++) {
        assert_true(emu_reg_tag(y->core, y->slot, y->warp, r, &before));
        for (LW_EACH_BIT(l, view.live)) {
            assert_true(emu_reg_read(x->core, x->slot, x->warp, ISA_REG_V, r, l, &p));
            assert_true(emu_reg_read(y->core, y->slot, y->warp, ISA_REG_V, r, l, &q));
            if (p != q)
                fail_msg("after instruction %u: lane %u of v%u is 0x%x with vector registers, 0x%x in compact mode",
                         (unsigned)((x->pc - emu_program_base(a->program)) / 16), (unsigned)l, r,
                         (unsigned)p, (unsigned)q);
        }
        assert_true(emu_reg_tag(y->core, y->slot, y->warp, r, &after));
        assert_int_equal(before.kind, after.kind); /* Reading a register must not change its tag. */
        assert_int_equal(before.fold, after.fold);
        assert_int_equal(before.base, after.base);
        assert_int_equal(before.stride, after.stride);
        assert_int_equal(before.rise, after.rise);
        assert_int_equal(before.pair, after.pair);
        if (before.pair) {
            assert_int_equal(before.pair_base, after.pair_base);
            assert_int_equal(before.pair_stride, after.pair_stride);
            assert_int_equal(before.pair_rise, after.pair_rise);
        }
    }
    for (unsigned r = 0; r < 7; r++) {
        assert_true(emu_reg_read(x->core, x->slot, x->warp, ISA_REG_P, r, 0, &p));
        assert_true(emu_reg_read(y->core, y->slot, y->warp, ISA_REG_P, r, 0, &q));
        assert_int_equal(p, q);
    }
}

static void compact_registers_are_those_of_rows_at_every_step(void **state)
{
    static const uint32_t blocks[][3] = {{32, 1, 1}, {16, 2, 1}, {8, 5, 1}, {24, 1, 1}, {1, 37, 1}};
    struct lw_error err;

    (void)state;
    for (unsigned width = 8; width <= 64; width *= 2)
        for (unsigned b = 0; b < LW_COUNT_OF(blocks); b++)
            for (unsigned rules = 0; rules < 3; rules++) {
                struct emu_config config = shadow((enum emu_tag_rules)rules);
                struct counterpart rows, compact;
                uint64_t saved = 0;
                config.warp_width = width;
                config.tag_expansion = b % 2 ? EMU_TAG_EAGER : EMU_TAG_LAZY;
                config.tags = EMU_TAGS_OFF;
                open_counterpart(&rows, &config, blocks[b]);
                config.tags = EMU_TAGS_COMPACT;
                config.tag_plan = (b + rules) % 2 ? EMU_TAG_PLAN_ALL : EMU_TAG_PLAN_PROFITABLE;
                open_counterpart(&compact, &config, blocks[b]);
                for (unsigned n = 0;; n++) {
                    check(rows.engine->ops->step(rows.engine, &rows.ev, &rows.stop, &err), &err);
                    check(compact.engine->ops->step(compact.engine, &compact.ev, &compact.stop,
                                                    &err), &err);
                    assert_int_equal(rows.stop.kind, compact.stop.kind);
                    if (rows.stop.kind != EMU_STOP_STEPPED)
                        break;
                    compare_counterparts(&rows, &compact);
                    /* a debugger changes a lane of a register that holds no address */
                    if (n % 7 == 3 && !rows.ev.block_ended) {
                        static const uint8_t regs[] = {1, 6, 7, 14, 15, 16, 17, 18, 25};
                        unsigned reg = regs[n % LW_COUNT_OF(regs)];
                        struct emu_core *c = (struct emu_core *)(uintptr_t)rows.ev.core;
                        struct emu_core *d = (struct emu_core *)(uintptr_t)compact.ev.core;
                        assert_true(emu_reg_write(c, rows.ev.slot, rows.ev.warp, ISA_REG_V, reg,
                                                  n % width, n, &err));
                        assert_true(emu_reg_write(d, compact.ev.slot, compact.ev.warp, ISA_REG_V,
                                                  reg, n % width, n, &err));
                        struct emu_tag tag;
                        assert_true(emu_reg_tag(d, compact.ev.slot, compact.ev.warp, reg, &tag));
                        assert_int_equal(tag.kind, V);
                    }
                    if (n % 5 == 0)
                        assert_int_equal(emu_hash_state(rows.machine),
                                         emu_hash_state(compact.machine));
                }
                assert_int_equal(rows.stop.kind, EMU_STOP_IDLE);
                assert_int_equal(emu_hash_state(rows.machine), emu_hash_state(compact.machine));
                struct emu_stats stats;
                emu_stats_get(compact.machine, &stats);
                saved += stats.tags.lanes_saved;
                if (blocks[b][0] % width == 0 && rules != EMU_TAG_RULES_TABLE)
                    assert_true(saved != 0);
                close_counterpart(&rows);
                close_counterpart(&compact);
            }
}

static void compact_registers_take_no_lanes_until_somebody_needs_them(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct emu_tag t;

    (void)state;
    config.tags = EMU_TAGS_COMPACT;
    config.level = 1; /* short host vectors, with which operations on tags are always profitable */
    struct run *r = run_one(&config,
                            KERNEL "v_s2r v0, %tid.x\nv_mov_b64 v2:3, c[out]\n"
                                   "v_madwide_u32 v4:5, v0, 4, v2:3\nv_add_u64 v4:5, v4:5, 128\n"
                                   "ld.global.b32 v6, [v4:5]\nv_add_f32 v6, v6, v6\n"
                                   "st.global.b32 [v4:5], v6\nst.global.b32 [v4:5-128], v0\n" END);
    expect(r, 0, A, 0, 1);
    expect(r, 1, U, (uint32_t)r->out, 0);
    expect_pair(r, 2, r->out, 4);
    expect_pair(r, 3, r->out + 128, 4);
    expect(r, 4, V, 0, 0);
    /* s2r, mov, madwide and add each take two lane operations instead of 32 */
    assert_int_equal(r->stats.tags.lanes_saved, 4 * 30);
    for (unsigned l = 0; l < 32; l++)
        assert_int_equal(r->word[l], l);
    t = tag_at(r, 5);
    assert_int_equal(t.kind, V);
    end(r);
}

static void a_uniform_kernel_needs_no_row_when_all_is_tagged(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);

    (void)state;
    config.tags = EMU_TAGS_COMPACT;
    config.tag_plan = EMU_TAG_PLAN_ALL;
    struct run *r = run_one(&config, KERNEL "v_mov_b32 v0, 3\nv_add_u32 v1, v0, 4\n"
                                            "v_mul_f32 v2, v1, v0\nv_setp_u32.lt p0, v0, v1\n"
                                            "v_mad_u32 v3, v0, v1, v2\n" END);
    assert_int_equal(r->stats.tags.rows_made, 0);
    assert_int_equal(r->stats.tags.lanes_saved, 5 * 30);
    assert_int_equal(emu_lane_operations(&r->stats), r->stats.thread_instructions - 5 * 30);
    expect(r, 4, U, 3 * 7, 0); /* 3 * 7 + v2, where v2 is 0 as a product of denormals */
    end(r);
}

static void shifts_selects_and_partial_compares_work_on_tags(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);

    (void)state;
    config.tags = EMU_TAGS_COMPACT;
    config.tag_plan = EMU_TAG_PLAN_ALL;
    struct run *r = run_one(&config,
                            KERNEL "v_s2r v0, %laneid\nv_shr_u32 v1, v0, 5\nv_shr_u32 v2, v0, 4\n"
                                   "v_mul_u32 v3, v0, -4\nv_add_u32 v3, v3, 64\n"
                                   "v_shr_s32 v4, v3, 2\nv_shr_u32 v5, v3, 2\n"
                                   "v_setp_u32.lt p0, v0, 40\nv_selp_b32 v6, v0, v1, p0\n"
                                   "v_setp_u32.lt p1, v0, 4\nv_selp_b32 v7, v0, v1, p1\n"
                                   "v_selp_b32 v8, v0, v0, p1\n" END);
    expect(r, 1, U, 0, 0);
    expect(r, 2, V, 0, 0);
    expect(r, 5, A, 16, -1);
    expect(r, 6, V, 0, 0);
    expect(r, 8, A, 0, 1);
    expect(r, 10, V, 0, 0);
    expect(r, 11, A, 0, 1);
    end(r);
    r = run_one(&config, KERNEL "v_s2r v0, %laneid\nbssy b0, join\nv_setp_u32.lt p1, v0, 16\n"
                                "@p1 bra join, b0\nv_setp_u32.lt p0, v0, 20\n"
                                "v_setp_u32.lt p2, v0, 40\n@!p2 v_mul_u32 v1, v0, v0\n"
                                "join: bsync b0\n" END);
    /* both compares of the upper half save 14 lane operations each, and the other instructions 30 each */
    for (unsigned i = 0; i < r->count; i++)
        if (r->step[i].index == 4)
            assert_int_equal(r->step[i].p0, 0x000f0000);
    assert_int_equal(r->stats.tags.lanes_saved, 2 * 14 + 2 * 30);
    end(r);
}

static void materialised_rows_count_as_lane_operations(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);

    (void)state;
    config.tags = EMU_TAGS_COMPACT;
    config.tag_plan = EMU_TAG_PLAN_ALL;
    /* v0 is used as data, so its vector register is materialised, but only once */
    struct run *r = run_one(&config, KERNEL "v_s2r v0, %tid.x\nv_mul_u32 v1, v0, v0\n"
                                            "v_mul_u32 v2, v0, v1\n" END);
    assert_int_equal(r->stats.tags.rows_made, 1);
    assert_int_equal(r->stats.tags.lanes_saved, 30);
    assert_int_equal(emu_lane_operations(&r->stats), r->stats.thread_instructions - 30 + 32);
    end(r);
}

/* Some rules read a register and also the pair that contains it. When the two halves of the pair become one 64-bit value,
 * the value of the register must not change. */
static void a_half_of_a_pair_is_read_before_the_pair_becomes_one_value(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    static const char *const op[] = {"v_lea_s32", "v_lea_u32", "v_madwide_s32", "v_madwide_u32"};
    static const uint64_t want[] = {0xa193961100000012, 0x2193961100000012,
                                    0xe086875a821a1d7e, 0x21939612821a1d7e};

    (void)state;
    config.tags = EMU_TAGS_COMPACT;
    config.tag_plan = EMU_TAG_PLAN_ALL;
    for (unsigned i = 0; i < LW_COUNT_OF(op); i++) {
        char text[600];
        snprintf(text, sizeof text,
                 KERNEL "v_mov_b32 v4, 18\nv_mov_b32 v5, 0xc10d0eb6\nv_mov_b64 v2:3, c[out]\n"
                        "%s v6:7, v5, %s, v4:5\nst.global.v2.b32 [v2:3], v6:7\n" END,
                 op[i], i < 2 ? "31" : "0x80000002");
        struct run *r = run_one(&config, text);
        assert_int_equal(r->word[0] | (uint64_t)r->word[1] << 32, want[i]);
        end(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_registers_are_those_of_rows_at_every_step),
        cmocka_unit_test(compact_registers_take_no_lanes_until_somebody_needs_them),
        cmocka_unit_test(a_uniform_kernel_needs_no_row_when_all_is_tagged),
        cmocka_unit_test(shifts_selects_and_partial_compares_work_on_tags),
        cmocka_unit_test(materialised_rows_count_as_lane_operations),
        cmocka_unit_test(a_half_of_a_pair_is_read_before_the_pair_becomes_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
