/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/emu/history/random_kernels.h"

uint64_t fix_seed;

uint64_t rnd_next(struct rnd *r)
{
    uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Registers: v0 is tid, v1 an accumulator, v2 a random number of the thread, v4:5 the address of the thread's word, v6:7
 * the address of a shared word, and v9 a mask of all lanes. v10 and higher are scratch registers, v20 and higher loop
 * counters by depth, and v24 and higher belong to launches. */

struct maker {
    struct rnd *r;
    struct lw_sink *out;
    unsigned label, depth, barrier;
    const char *child; /* name of the kernel that is launched, or NULL */
    bool stream;       /* v32:33 holds a stream */
};

static void line(struct maker *m, const char *fmt, ...) LW_PRINTF(2, 3);
static void line(struct maker *m, const char *fmt, ...)
{
    char text[200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    lw_put(m->out, text);
    lw_put(m->out, "\n");
}

static void stir(struct maker *m)
{
    line(m, "v_mul_u32 v2, v2, 1664525");
    line(m, "v_add_u32 v2, v2, %u", 1013904223u + rnd_below(m->r, 1000));
    line(m, "v_shr_u32 v10, v2, %u", 8 + rnd_below(m->r, 8));
}

static void block(struct maker *m, unsigned count);

/** Emit a launch by a few lanes. The launch uses v24 and higher. */
static void launch(struct maker *m)
{
    bool group = rnd_below(m->r, 3) == 0;

    stir(m);
    line(m, "v_and_b32 v10, v10, 127\nv_setp_u32.eq p4, v10, 0");
    line(m, "@p4 launch.buffer v24:25, 16\nv_mov_b64 v26:27, c[out]");
    line(m, "@p4 st.global.b64 [v24:25], v26:27\n@p4 st.global.b32 [v24:25+8], v2");
    line(m, "v_mov_b32 v28, lo(%s_%u)\nv_mov_b32 v29, hi(%s_%u)", m->child, group, m->child, group);
    if (group)
        line(m, "@p4 launch.group v30, v28:29, v24:25");
    else
        line(m, "@p4 launch.kernel v30, v28:29, v24:25, %s", m->stream ? "v32:33" : "vz");
    if (rnd_below(m->r, 3) == 0)
        line(m, "launch.sync");
    else if (rnd_below(m->r, 3) == 0)
        line(m, "v_setp_u32.lt p5, v0, %u\n@p5 launch.sync", rnd_below(m->r, 40));
}

static void simple(struct maker *m)
{
    switch (rnd_below(m->r, 14)) {
    case 0:
        line(m, "v_mad_u32 v1, v1, 5, v2");
        break;
    case 1:
        line(m, "st.global.b32 [v4:5], v1");
        break;
    case 2:
        line(m, "red.global.add.u32 [v6:7], v1");
        break;
    case 3:
        line(m, "atom.global.add.u32 v11, [v6:7+4], v10");
        line(m, "v_xor_b32 v1, v1, v11");
        break;
    case 4:
        line(m, "v_and_b32 v11, v2, 60\nst.shared.b32 [v11], v1");
        break;
    case 5:
        line(m, "v_and_b32 v11, v2, 60\nld.shared.b32 v12, [v11]\nv_add_u32 v1, v1, v12");
        break;
    case 6:
        line(m, "st.local.b32 [vz+4], v1\nld.local.b32 v13, [vz+4]\nv_sub_u32 v1, v13, v0");
        break;
    case 7:
        line(m, "v_s2r v11, %%clock\nv_xor_b32 v1, v1, v11");
        break;
    case 8:
        line(m, "nanosleep %u", 1 + rnd_below(m->r, 60));
        break;
    case 9:
        line(m, "yield");
        break;
    case 10: /* load words of an array in constant space, or bytes of few of its words */
        line(m, "v_mov_b32 v12, lo(table)\nv_mov_b32 v13, hi(table)\nv_and_b32 v11, v2, %u",
             rnd_below(m->r, 2) ? 252 : 12);
        line(m, "v_madwide_u32 v12:13, v11, 1, v12:13\nld.global.%s.const v10, [v12:13]",
             rnd_below(m->r, 2) ? "b32" : "u8");
        line(m, "v_add_u32 v1, v1, v10");
        break;
    case 11: /* load parameters by address */
        line(m, "v_and_b32 v11, v2, 12\nld.const.b32 v11, c[0][v11]\nv_xor_b32 v1, v1, v11");
        break;
    case 12:
        if (rnd_below(m->r, 3) == 0)
            line(m, "ld.global.b32 v11, [v6:7+%u]\nv_xor_b32 v1, v1, v11", 4 * rnd_below(m->r, 8));
        else /* the words of blocks overlap, so that another block may store between two accesses */
            line(m, "ld.global.b32 v11, [v4:5]\nv_xor_b32 v1, v1, v11\nld.global.u8 v10, [v4:5+1]\n"
                    "v_add_u32 v1, v1, v10");
        break;
    default:
        line(m, "v_s2r_b64 v12:13, %%globaltimer\nv_add_u32 v1, v1, v12");
        break;
    }
}

static void branch(struct maker *m)
{
    unsigned n = m->label++, b = m->barrier++ % 15 + 1;

    stir(m);
    line(m, "v_and_b32 v10, v10, %u", 1u << rnd_below(m->r, 4));
    line(m, "v_setp_u32.ne p0, v10, 0");
    line(m, "bssy b%u, meet%u", b, n);
    line(m, "@p0 bra else%u, b%u", n, b);
    m->depth++;
    block(m, 1 + rnd_below(m->r, 3));
    line(m, "bra meet%u", n);
    line(m, "else%u:", n);
    block(m, 1 + rnd_below(m->r, 3));
    m->depth--;
    line(m, "meet%u: bsync.soft b%u", n, b);
}

static void loop(struct maker *m)
{
    unsigned n = m->label++, b = m->barrier++ % 15 + 1, reg = 20 + m->depth;

    stir(m);
    line(m, "v_and_b32 v%u, v10, 3", reg);
    line(m, "bssy b%u, out%u", b, n);
    line(m, "again%u:", n);
    m->depth++;
    block(m, 1 + rnd_below(m->r, 2));
    m->depth--;
    line(m, "v_sub_u32 v%u, v%u, 1", reg, reg);
    line(m, "v_setp_s32.ge p1, v%u, 0", reg);
    if (rnd_below(m->r, 3) == 0)
        line(m, "yield");
    line(m, "@p1 bra again%u, b%u", n, b);
    line(m, "out%u: bsync.soft b%u", n, b);
}

static void barrier_site(struct maker *m)
{
    switch (rnd_below(m->r, 6)) {
    case 0:
        line(m, "bar.sync %u", rnd_below(m->r, 3));
        break;
    case 1:
        line(m, "warpsync -1");
        break;
    case 2:
        line(m, "shfl.bfly v11, _, v1, 1, 31, v9\nv_add_u32 v1, v1, v11");
        break;
    case 3:
        line(m, "v_setp_u32.lt p2, v0, %u\nvote.ballot.b32 v11, p2, v9\nv_xor_b32 v1, v1, v11",
             rnd_below(m->r, 40));
        break;
    case 4: /* emits an exit of some lanes */
        stir(m);
        line(m, "v_and_b32 v10, v10, 7\nv_setp_u32.eq p3, v10, 0\n@p3 exit");
        break;
    default:
        line(m, "call v14:15, helper");
        break;
    }
}

static void block(struct maker *m, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned what = rnd_below(m->r, 8);
        if (m->child != NULL && rnd_below(m->r, 6) == 0)
            launch(m);
        else if (what == 0 && m->depth < 4)
            branch(m);
        else if (what == 1 && m->depth < 3)
            loop(m);
        else if (what <= 3 && m->depth == 0)
            barrier_site(m);
        else
            simple(m);
    }
}

static void kernel(struct maker *m, const char *name, const char *child, unsigned count)
{
    m->child = child;
    m->stream = child != NULL && rnd_below(m->r, 2);
    line(m, ".kernel %s\n.param ptr.global out\n.param u64 number\n.shared 64\n.local 16", name);
    line(m, "v_s2r v0, %%tid.x\nv_s2r v3, %%ctaid.x");
    line(m, "s_mov_b32 s3, 7\nv_mov_b32 v9, -1");
    line(m, "v_mad_u32 v8, v3, %u, v0", 16 + rnd_below(m->r, 40));
    line(m, "v_mov_b64 v6:7, c[out]\nv_madwide_u32 v4:5, v8, 4, v6:7");
    line(m, "v_add_u64 v6:7, v6:7, %u", FIX_BYTES - 64);
    line(m, "v_mov_b64 v16:17, c[number]\nv_xor_b32 v2, v8, v16");
    line(m, "v_add_u32 v1, v0, s3");
    if (m->stream)
        line(m, "launch.stream v32:33");
    stir(m);
    block(m, count);
    line(m, "st.global.b32 [v4:5], v1\nexit\n.end");
}

/** Emit the descriptors of a kernel: for a kernel launch, and for the launch of a block group. */
static void descriptors(struct maker *m, const char *name)
{
    unsigned threads = 1 + rnd_below(m->r, 70);

    for (unsigned i = 0; i < 2; i++)
        line(m, ".const %s_%u 40 8 = addr %s, u32 %u, 1, 1, %u, 1, 1, 0, 0", name, i, name,
             1 + rnd_below(m->r, 2), threads);
}

void random_kernel(struct rnd *r, struct lw_buffer *text)
{
    struct maker m = {.r = r, .out = &text->sink};
    bool launches = rnd_below(r, 2), nested = launches && rnd_below(r, 2);

    lw_buffer_init(text);
    kernel(&m, "k", launches ? "child" : NULL, 8 + rnd_below(r, 14));
    if (launches) {
        descriptors(&m, "child");
        kernel(&m, "child", nested ? "leaf" : NULL, 3 + rnd_below(r, 5));
    }
    if (nested) {
        descriptors(&m, "leaf");
        kernel(&m, "leaf", NULL, 1 + rnd_below(r, 4));
    }
    line(&m, ".const table 256 = u32 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3");
    line(&m, ".func helper\nv_add_u32 v1, v1, 3\nv_xor_b32 v1, v1, v2\nret v14:15\n.end");
}

void random_config(struct rnd *r, struct emu_config *config)
{
    emu_config_default(config);
    config->warp_width = rnd_below(r, 2) ? 32 : 64;
    config->arena_bytes = 1 << 24;
    const unsigned engine = rnd_below(r, 8);
    config->reconv = emu_reconv_names[engine == 0 ? 2 : engine < 3];
    config->policy = emu_policy_names[rnd_below(r, 7)];
    config->split_quantum = rnd_below(r, 2) ? 0 : 1 + rnd_below(r, 20);
    config->warp_quantum = rnd_below(r, 2) ? 64 : 1 + rnd_below(r, 30);
    config->resident_warps = 1 + rnd_below(r, 12);
    config->merge = rnd_below(r, 4) != 0;
    config->fairness_window = rnd_below(r, 2) ? 1024 : rnd_below(r, 100);
    config->hang_window = 1 << 18;
    config->pending_launches = 1 << 20;
}

bool random_host(struct fix *fix, struct rnd *r, unsigned *launch, unsigned launches)
{
    uint64_t words[32], address;
    struct lw_error err;

    if (*launch == launches)
        return false;
    for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
        words[i] = rnd_next(r);
    if (rnd_below(r, 2))
        fix_check(emu_global_write(fix->machine, fix->out + 8 * rnd_below(r, 100), words,
                                   8 * (1 + rnd_below(r, 32)), &err), &err);
    if (rnd_below(r, 2)) {
        fix_check(emu_alloc(fix->machine, 1 + rnd_below(r, 9000), "more", 0, &address, &err),
                  &err);
        if (rnd_below(r, 2))
            fix_check(emu_global_write(fix->machine, address, words, 1, &err), &err);
        if (rnd_below(r, 3) == 0)
            fix_check(emu_free(fix->machine, address, &err), &err);
    }
    fix_launch(fix, 1 + rnd_below(r, 5), 1 + rnd_below(r, 150), rnd_next(r));
    ++*launch;
    return true;
}

bool random_location(struct fix *fix, struct rnd *r, struct emu_thread_ref *place,
                  struct emu_core **core, unsigned *slot)
{
    const struct emu_engine_ops *ops = fix->engine->ops;
    struct emu_split_view splits[EMU_MAX_LANES];
    unsigned count = ops->warp_count(fix->engine);

    if (count == 0 || !ops->warp_at(fix->engine, rnd_below(r, count), place) ||
        !ops->locate(fix->engine, place->grid, place->block, core, slot))
        return false;
    count = emu_split_views(*core, *slot, place->warp, splits, EMU_MAX_LANES);
    if (count == 0)
        return false;
    unsigned i = rnd_below(r, count);
    place->split = splits[i].id;
    place->lanes = splits[i].lanes;
    place->pc = splits[i].pc;
    return true;
}

static void random_edit(struct fix *fix, struct rnd *r)
{
    struct emu_thread_ref place;
    struct emu_core *core;
    unsigned slot, lane;
    uint64_t value = rnd_next(r);

    if (!random_location(fix, r, &place, &core, &slot))
        return;
    lane = lw_lowest(place.lanes);
    switch (rnd_below(r, 6)) {
    case 0: /* registers that affect values but not control flow */
        (void)emu_reg_write(core, slot, place.warp, ISA_REG_V, 1 + rnd_below(r, 2), lane, value,
                            NULL);
        break;
    case 1:
        (void)emu_reg_write(core, slot, place.warp, ISA_REG_P, rnd_below(r, 3), lane, value,
                            NULL);
        break;
    case 2:
        (void)emu_reg_write(core, slot, place.warp, ISA_REG_S, rnd_below(r, 8), lane, value,
                            NULL);
        break;
    case 3:
        (void)emu_pc_write(core, slot, place.warp, lane, rnd_below(r, 2), place.pc, NULL);
        break;
    case 4:
        (void)emu_mem_poke(core, slot, place.warp, lane,
                           rnd_below(r, 2) ? ISA_SHARED_BASE + 8 : ISA_LOCAL_BASE + 2, &value,
                           1 + rnd_below(r, 8));
        break;
    default:
        (void)emu_mem_poke(core, slot, place.warp, lane, fix->out + rnd_below(r, 9000), &value,
                           1 + rnd_below(r, 8));
        break;
    }
}

struct emu_stop random_operation(struct fix *fix, struct rnd *r, bool edits)
{
    const struct emu_engine_ops *ops = fix->engine->ops;
    struct emu_stop stop = {0};
    struct emu_event ev;
    struct emu_thread_ref place;
    struct emu_core *core;
    struct lw_error err;
    unsigned slot;

    switch (rnd_below(r, 8)) {
    case 0:
    case 1:
    case 2:
        fix->engine->stop_at = ops->instructions(fix->engine) + 1 + rnd_below(r, 300);
        fix_check(ops->run(fix->engine, &stop, &err), &err);
        fix->engine->stop_at = UINT64_MAX;
        break;
    case 3:
        fix_check(ops->step(fix->engine, &ev, &stop, &err), &err);
        break;
    case 4:
        if (!random_location(fix, r, &place, &core, &slot))
            break;
        if (rnd_below(r, 3) == 0 && !fix->machine->reconv->lockstep)
            place.lanes &= rnd_next(r);
        fix_check(ops->step_warp(fix->engine, &place, &ev, &stop, &err), &err);
        break;
    case 5:
        if (random_location(fix, r, &place, &core, &slot))
            fix_check(ops->run_other_warps(fix->engine, &place, &stop, &err), &err);
        break;
    case 6:
        if (random_location(fix, r, &place, &core, &slot))
            (void)emu_warp_select(core, slot, place.warp);
        break;
    default:
        if (edits)
            random_edit(fix, r);
        break;
    }
    return stop;
}
