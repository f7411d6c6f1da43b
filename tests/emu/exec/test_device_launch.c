/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests kernel launches by kernels (device launches): order, waits, block groups, limits, faults and residency. Expected results
 * are computed by C code in this file or from a closed form. Tests cf1 to cf10 are rows CF-1 to CF-10 in section 4.8 of the
 * specification of the dynamic parallelism thesis.
 */
#include "emu/emu_machine_priv.h"
#include "tests/emu/exec/emu_fixture.h"

/* Code with which threads launch kernel `child` with one block. The child's parameters are {out, n, m}. */
#define PARAMS ".param ptr.global out\n.param u32 n\n.param u32 m\n"
#define LAUNCH(guard, stream)                                                                 \
    guard "launch.buffer v20:21, 16\nv_mov_b64 v22:23, c[out]\n"                              \
    guard "st.global.b64 [v20:21], v22:23\n" guard "st.global.b32 [v20:21+8], v10\n"          \
    guard "st.global.b32 [v20:21+12], v11\nv_mov_b32 v24, lo(child_d)\n"                      \
    "v_mov_b32 v25, hi(child_d)\n" guard "launch.kernel v26, v24:25, v20:21, " stream "\n"
#define GROUP(guard)                                                                          \
    guard "launch.buffer v20:21, 16\nv_mov_b64 v22:23, c[out]\n"                              \
    guard "st.global.b64 [v20:21], v22:23\n" guard "st.global.b32 [v20:21+8], v10\n"          \
    guard "st.global.b32 [v20:21+12], v11\nv_mov_b32 v24, lo(child_d)\n"                      \
    "v_mov_b32 v25, hi(child_d)\n" guard "launch.group v26, v24:25, v20:21\n"
#define CHILD(grid, block) ".const child_d 40 8 = addr child, u32 " grid ", 1, 1, " block ", 1, 1, 0, 0\n"

struct launch_log {
    struct emu_machine_listener listener;
    const struct emu_machine *machine;
    unsigned count, groups, joined;
    struct {
        uint32_t sequence, parent, before;
        unsigned lane;
        uint64_t first_warp_id;
    } seen[4096];
};
/** Find the last launch in the stream of @g by a search through all launches. */
static const struct emu_grid *end_of_stream(const struct emu_machine *machine, const struct emu_grid *g)
{
    const struct emu_grid *last = NULL;

    for (const struct emu_grid *p = machine->grids; p != NULL; p = p->next)
        if (!p->group && p->parent.grid == g->parent.grid && p->parent.block == g->parent.block &&
            p->stream == g->stream)
            last = p;
    return last;
}

/** Check that the machine's lists of launches agree with a search through all launches. */
static void check_lists(const struct emu_machine *machine)
{
    const struct emu_grid *listed = machine->first_start, *last = NULL;
    unsigned ends = 0, found = 0, depth[EMU_LAUNCH_NESTING] = {0};

    for (const struct emu_grid *g = machine->grids; g != NULL; g = g->next) {
        if (g->parent.grid == 0 || emu_grid_complete(g))
            continue;
        if (g->stream_prev == NULL && g->blocks_placed < g->block_count) {
            assert_ptr_equal(listed, g);
            assert_ptr_equal(g->queue.previous, last);
            depth[g->depth]++;
            last = g;
            listed = g->queue.next;
        }
        assert_int_equal(g->queue.ends_stream, !g->group && end_of_stream(machine, g) == g);
        ends += g->queue.ends_stream;
    }
    assert_null(listed);
    assert_ptr_equal(machine->last_start, last);
    for (unsigned d = 0; d < EMU_LAUNCH_NESTING; d++) {
        assert_int_equal(machine->starts[d], depth[d]);
        assert_int_equal(machine->start_levels >> d & 1, depth[d] != 0);
    }
    for (unsigned i = 0; i < EMU_STREAM_LISTS; i++)
        for (const struct emu_grid *g = machine->stream[i]; g != NULL; g = g->queue.stream)
            found++;
    assert_int_equal(found, ends);
}

static void on_machine_event(struct emu_machine_listener *listener, const struct emu_machine_event *life)
{
    struct launch_log *log = (struct launch_log *)(void *)listener;

    /* at most 40 checks, because check_lists takes quadratic time */
    if (life->kind == EMU_MACHINE_LAUNCH && log->count < 40)
        check_lists(log->machine);
    if (life->kind != EMU_MACHINE_LAUNCH || log->count == LW_COUNT_OF(log->seen))
        return;
    log->seen[log->count].sequence = life->grid->sequence;
    log->seen[log->count].parent = life->grid->parent.grid;
    log->seen[log->count].lane = life->grid->parent.lane;
    log->seen[log->count].before = life->grid->stream_prev != NULL ? life->grid->stream_prev->sequence : 0;
    log->seen[log->count++].first_warp_id = life->grid->first_warp_id;
    log->groups += life->grid->group;
    log->joined += life->grid->aggregated_into != NULL;
}

/* Order of device launches in the following runs */
static enum emu_child_order child_order;
static unsigned child_seed;

static struct fix *start_tagged(const char *text, unsigned width, unsigned threads,
                                const char *reconv, unsigned resident, enum emu_tag_mode tags,
                                struct launch_log *log)
{
    struct fix *f = fix_new(width);

    f->config.tags = tags;
    f->config.reconv = reconv;
    f->config.resident_warps = resident;
    f->config.hang_window = 1 << 20;
    f->config.child_order = child_order;
    f->config.child_seed = child_seed;
    fix_load(f, text, threads);
    if (log != NULL) {
        memset(log, 0, sizeof *log);
        log->listener.on_machine_event = on_machine_event;
        log->machine = f->machine;
        emu_machine_add_listener(f->machine, &log->listener);
    }
    fix_go(f);
    return f;
}

static struct fix *start(const char *text, unsigned width, unsigned threads, const char *reconv,
                         unsigned resident, struct launch_log *log)
{
    return start_tagged(text, width, threads, reconv, resident, EMU_TAGS_OFF, log);
}

/** Run @text with two reconvergence engines, one and many resident warps, and all tag modes; and without tags with the other orders
 *  of device launches. Compare @words. */
static void expect(const char *text, unsigned threads, const uint32_t *words, unsigned count)
{
    static const unsigned resident[] = {1, 3, 2048}, widths[] = {4, 32, 64};
    static struct launch_log log;

    for (unsigned i = 0; i < 108; i++) {
        child_order = (enum emu_child_order)(i < 54 ? EMU_CHILD_LAZY : EMU_CHILD_EAGER + (i - 54) / 18);
        child_seed = i;
        struct fix *f = start_tagged(text, widths[i / 6 % 3], threads, emu_reconv_names[i % 2],
                                     resident[i / 2 % 3], (enum emu_tag_mode)(i < 54 ? i / 18 : EMU_TAGS_OFF), i % 5 == 0 ? &log : NULL);
        struct emu_stats stats;
        fix_expect_words(f, words, count);
        emu_stats_get(f->machine, &stats);
        assert_int_equal(stats.tags.mismatches, 0);
        fix_free(f);
    }
    child_order = EMU_CHILD_LAZY;
}

/* ---- order ------------------------------------------------------------------------------------ */

static void cf10_children_are_launched_in_the_order_of_lanes(void **state)
{
    static struct launch_log log;
    struct fix *f;
    (void)state;

    f = start(FIX_HEAD "v_and_b32 v1, v0, 7\nv_setp_u32.eq p0, v1, 3\nv_mov_b32 v10, v0\n"
              LAUNCH("@p0 ", "vz") "exit\n.end\n" CHILD("1", "5")
              ".kernel child\n" PARAMS "exit\n.end\n", 32, 64, "cbar", 2048, &log);
    assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
    assert_int_equal(log.count, 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(log.seen[i].sequence, 2 + i);
        assert_int_equal(log.seen[i].parent, 1);
        assert_int_equal(log.seen[i].lane, (8 * i + 3) % 32);
        assert_int_equal(log.seen[i].before, i == 0 ? 0 : 1 + i); /* one stream */
        assert_int_equal(log.seen[i].first_warp_id, 2 + i); /* the host's launch has two warps with lower ids */
    }
    assert_null(emu_grid_current(f->machine));
    fix_free(f);
}

/* Section 4.7: the order in which blocks of device launches begin. Two blocks launch two children each. Each block appends its
 * number, which for children has two digits. */
static void each_order_of_launches(void **state)
{
    static const uint32_t want[][6] = {[EMU_CHILD_LAZY] = {1, 2, 11, 12, 21, 22}, [EMU_CHILD_EAGER] = {11, 12, 1, 21, 22, 2},
                                       [EMU_CHILD_LIFO] = {1, 12, 11, 2, 22, 21}};
    static const char text[] = ".kernel k\n.param ptr.global out\nv_s2r v4, %ctaid.x\nv_add_u32 v4, v4, 1\nv_mul_u32 v10, v4, 10\n"
                               "v_add_u32 v10, v10, 1\n" LAUNCH("", "vz") "v_add_u32 v10, v10, 1\nlaunch.stream v30:31\n"
                               LAUNCH("", "v30:31") "v_mov_b64 v2:3, c[out]\nv_mov_b32 v5, 1\n"
                               "atom.global.add.u32 v6, [v2:3+400], v5\nv_madwide_u32 v2:3, v6, 4, v2:3\n"
                               "st.global.b32 [v2:3], v4\nexit\n.end\n" CHILD("1", "1") ".kernel child\n" PARAMS
                               "v_mov_b64 v2:3, c[out]\nv_mov_b32 v4, c[n]\nv_mov_b32 v5, 1\natom.global.add.u32 v6, [v2:3+400], v5\n"
                               "v_madwide_u32 v2:3, v6, 4, v2:3\nst.global.b32 [v2:3], v4\nexit\n.end\n";
    unsigned orders = 0;
    char seen[16][80];

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        struct fix *f = fix_new(32);

        child_order = i < 3 ? (enum emu_child_order)i : EMU_CHILD_RANDOM;
        f->config.child_order = child_order;
        f->config.child_seed = i;
        fix_load_grid(f, text, 2, 1);
        fix_go(f);
        if (i < 3) {
            fix_expect_words(f, want[i], 6);
        } else {
            bool known = false;
            uint64_t numbers = 0;

            for (unsigned k = 0; k < 6; k++)
                numbers |= UINT64_C(1) << f->word[k];
            assert_true(numbers == (UINT64_C(1) << 1 | UINT64_C(1) << 2 | UINT64_C(3) << 11 | UINT64_C(3) << 21));
            snprintf(seen[orders], sizeof seen[orders], "%u %u %u %u %u %u", f->word[0], f->word[1], f->word[2], f->word[3], f->word[4], f->word[5]);
            for (unsigned k = 0; k < orders; k++)
                known |= strcmp(seen[k], seen[orders]) == 0;
            orders += !known;
        }
        fix_free(f);
    }
    assert_true(orders > 8); /* of 13 seeds */
    child_order = EMU_CHILD_LAZY;
}

/** Each child multiplies a word and adds to it, so the result depends on the order of the children. */
static void cf4_a_stream_keeps_its_order(void **state)
{
    uint32_t want[2] = {1, 0};
    (void)state;

    for (uint32_t k = 0; k < 12; k++)
        want[0] = want[0] * 7 + k;
    expect(".kernel k\n.param ptr.global out\nv_s2r v0, %tid.x\nv_setp_u32.ne p0, v0, 0\n@p0 exit\n"
           "v_mov_b64 v8:9, c[out]\nv_mov_b32 v10, 1\nst.global.b32 [v8:9], v10\n"
           "v_mov_b32 v10, 0\nlaunch.stream v30:31\n"
           "again:\n" LAUNCH("", "v30:31")
           "v_add_u32 v10, v10, 1\nv_setp_u32.lt p1, v10, 12\n@p1 bra again\nexit\n.end\n"
           CHILD("1", "1") ".kernel child\n" PARAMS
           "v_mov_b64 v2:3, c[out]\nld.global.b32 v1, [v2:3]\nv_mul_u32 v1, v1, 7\n"
           "v_add_u32 v1, v1, c[n]\nst.global.b32 [v2:3], v1\nexit\n.end\n", 3, want, 2);
}

/** The second child is launched in another stream and waits for no launch. The first child spins until the second has
 *  written. */
static void cf4_different_streams_run_at_the_same_time(void **state)
{
    static const uint32_t want[] = {0, 2, 1};
    (void)state;

    for (unsigned i = 0; i < 2; i++) { /* both children must be resident at the same time */
        struct fix *f = start(".kernel k\n.param ptr.global out\nv_mov_b32 v10, 1\nlaunch.stream v30:31\n"
           LAUNCH("", "v30:31") "launch.stream v30:31\nv_mov_b32 v10, 2\n" LAUNCH("", "v30:31")
           "exit\n.end\n" CHILD("1", "1") ".kernel child\n" PARAMS
           "v_mov_b64 v2:3, c[out]\nv_mov_b32 v1, c[n]\nv_setp_u32.eq p0, v1, 2\n"
           "@p0 bra second\n"
           "spin: ld.global.b32.volatile v4, [v2:3+4]\nv_setp_u32.eq p1, v4, 0\n@p1 bra spin\n"
           "st.global.b32 [v2:3+8], v1\nexit\nsecond: st.global.b32 [v2:3+4], v1\nexit\n.end\n",
           8, 1, emu_reconv_names[i], 3, NULL);
        fix_expect_words(f, want, 3);
        fix_free(f);
    }
}

static void a_parent_may_spin_on_its_child(void **state)
{
    static const uint32_t want[] = {9, 9, 9, 9, 9, 9, 9, 9};
    (void)state;

    expect(FIX_HEAD "v_setp_u32.eq p0, v0, 0\nv_mov_b32 v10, 9\n" LAUNCH("@p0 ", "vz")
           "v_mov_b64 v2:3, c[out]\n"
           "spin: yield\nld.global.b32.volatile v4, [v2:3+400]\nv_setp_u32.eq p1, v4, 0\n"
           "@p1 bra spin\n" FIX_STORE("v4") "exit\n.end\n" CHILD("1", "1") ".kernel child\n"
           PARAMS "v_mov_b64 v2:3, c[out]\nv_mov_b32 v1, c[n]\nst.global.b32 [v2:3+400], v1\n"
           "exit\n.end\n", 8, want, 8);
}

static void cf2_a_store_to_the_buffer_after_the_launch_is_a_fault(void **state)
{
    struct fix *f;
    (void)state;

    f = start(FIX_HEAD LAUNCH("", "vz") "st.global.b32 [v20:21+8], v0\nexit\n.end\n"
              CHILD("1", "1") ".kernel child\n" PARAMS "exit\n.end\n", 8, 1, "cbar", 64, NULL);
    fix_expect_fault(f, EMU_FAULT_FREED, 1, "st.global.b32");
    fix_free(f);
}

/* CF-1: a child reads what its parent stored before the launch. */
static void cf1_a_child_sees_what_its_parent_stored(void **state)
{
    static const uint32_t want[] = {7, 7};
    (void)state;

    expect(".kernel k\n.param ptr.global out\nv_mov_b64 v2:3, c[out]\nv_mov_b32 v1, 7\nst.global.b32 [v2:3], v1\n"
           LAUNCH("", "vz") "exit\n.end\n" CHILD("1", "1") ".kernel child\n" PARAMS
           "v_mov_b64 v2:3, c[out]\nld.global.b32 v1, [v2:3]\nst.global.b32 [v2:3+4], v1\nexit\n.end\n", 1, want, 2);
}

/* CF-2: a child has the parameters of the time of its launch. The parent changes the word that it copied to the buffer, and the
 * next buffer may be at the same address. */
static void cf2_a_child_has_the_parameters_of_its_launch(void **state)
{
    uint32_t want[6] = {99};
    (void)state;

    for (uint32_t k = 1; k < 6; k++)
        want[k] = 10 * k;
    expect(".kernel k\n.param ptr.global out\nv_mov_b64 v2:3, c[out]\nv_mov_b32 v10, 1\nagain:\nv_mul_u32 v11, v10, 10\n"
           "st.global.b32 [v2:3], v11\n" LAUNCH("", "vz")
           "v_mov_b32 v12, 99\nst.global.b32 [v2:3], v12\nv_add_u32 v10, v10, 1\nv_setp_u32.lt p0, v10, 6\n@p0 bra again\nexit\n.end\n"
           CHILD("1", "1") ".kernel child\n" PARAMS "v_mov_b32 v1, c[n]\nv_mov_b32 v4, c[m]\nv_mov_b64 v2:3, c[out]\n"
           "v_madwide_u32 v2:3, v1, 4, v2:3\nst.global.b32 [v2:3], v4\nexit\n.end\n", 1, want, 6);
}

/* CF-3: 32 lanes launch a child of 32 threads each. Each child has its own parameter, block 0, and a grid of one block. */
static void cf3_each_lane_has_a_child_with_its_own_parameter(void **state)
{
    static uint32_t want[32 * 32];
    (void)state;

    for (uint32_t i = 0; i < LW_COUNT_OF(want); i++)
        want[i] = i / 32 * 1000 + i % 32 * 16 + 1;
    expect(".kernel k\n.param ptr.global out\nv_s2r v10, %tid.x\nlaunch.stream v30:31\n" LAUNCH("", "v30:31") "exit\n.end\n"
           CHILD("1", "32") ".kernel child\n" PARAMS
           "v_s2r v0, %tid.x\nv_s2r v1, %ctaid.x\nv_s2r v5, %nctaid.x\nv_mov_b32 v4, c[n]\nv_mul_u32 v6, v4, 1000\n"
           "v_mad_u32 v6, v0, 16, v6\nv_mad_u32 v6, v1, 4, v6\nv_add_u32 v6, v6, v5\nv_mad_u32 v7, v4, 32, v0\n"
           "v_mov_b64 v2:3, c[out]\nv_madwide_u32 v2:3, v7, 4, v2:3\nst.global.b32 [v2:3], v6\nexit\n.end\n", 32, want, LW_COUNT_OF(want));
}

/* CF-9: shared memory of the parent is not accessible in the child, to which the parent passes a generic address. */
static void cf9_shared_memory_of_the_parent_is_a_fault_in_the_child(void **state)
{
    struct fix *f;
    (void)state;

    f = start(".kernel k\n.param ptr.global out\n.shared 64\nv_mov_b32 v0, 0\nv_mov_b32 v1, 5\nst.shared.b32 [v0], v1\n"
              "v_mov_b32 v22, 0\nv_mov_b32 v23, 0x100\n" /* the shared aperture */
              "ld.generic.b32 v2, [v22:23]\nlaunch.buffer v20:21, 16\nst.global.b64 [v20:21], v22:23\n"
              "v_mov_b32 v24, lo(child_d)\nv_mov_b32 v25, hi(child_d)\nlaunch.kernel v26, v24:25, v20:21, vz\n"
              "launch.sync\nexit\n.end\n" CHILD("1", "1") ".kernel child\n.param u64 place\n.param u64 more\n"
              "v_mov_b64 v2:3, c[place]\nld.generic.b32 v1, [v2:3]\nexit\n.end\n", 8, 1, "cbar", 64, NULL);
    fix_expect_fault(f, EMU_FAULT_OUT_OF_BOUNDS, 1, "ld.generic.b32");
    assert_int_equal(f->stop.fault.grid, 2);
    fix_free(f);
}

/* ---- waiting ---------------------------------------------------------------------------------- */

/** The kernel computes the sum of a range recursively: each block launches two children, one for each half. */
static void a_nested_reduction_gives_the_sum(void **state)
{
    uint32_t want[1] = {0};
    (void)state;

    for (uint32_t i = 0; i < 37; i++)
        want[0] += i * i + 3;
    /* child(out, n, m): range [n & 0xffff, m & 0xffff), result to out[n >> 16] */
    expect(".kernel k\n.param ptr.global out\nv_s2r v0, %tid.x\nv_setp_u32.ne p0, v0, 0\n@p0 exit\n"
           "v_mov_b32 v10, 0\nv_mov_b32 v11, 37\n" LAUNCH("", "vz") "exit\n.end\n"
           CHILD("1", "2") ".kernel child\n" PARAMS
           "v_s2r v0, %tid.x\nv_mov_b32 v1, c[n]\nv_mov_b32 v2, c[m]\nv_and_b32 v3, v1, 0xffff\n"
           "v_shr_u32 v4, v1, 16\nv_mov_b64 v8:9, c[out]\nv_madwide_u32 v12:13, v4, 4, v8:9\n"
           "v_sub_u32 v5, v2, v3\nv_setp_u32.eq p0, v5, 1\n@p0 bra leaf\n"
           /* lane 0 computes the lower half and lane 1 the upper; the results go to 2 slot + 1 and 2 slot + 2 */
           "v_add_u32 v6, v3, v2\nv_shr_u32 v6, v6, 1\nv_setp_u32.eq p1, v0, 0\n"
           "v_selp_b32 v10, v3, v6, p1\nv_selp_b32 v11, v6, v2, p1\n"
           "v_mad_u32 v7, v4, 2, v0\nv_add_u32 v7, v7, 1\nv_shl_b32 v14, v7, 16\n"
           "v_or_b32 v10, v10, v14\n"
           LAUNCH("", "vz") "launch.sync\n"
           "v_setp_u32.ne p1, v0, 0\n@p1 exit\nv_mul_u32 v14, v4, 2\n"
           "v_madwide_u32 v14:15, v14, 4, v8:9\nld.global.b32 v16, [v14:15+4]\n"
           "ld.global.b32 v17, [v14:15+8]\nv_add_u32 v16, v16, v17\n"
           "st.global.b32 [v12:13], v16\nexit\n"
           "leaf: v_mul_u32 v5, v3, v3\nv_add_u32 v5, v5, 3\nst.global.b32 [v12:13], v5\nexit\n"
           ".end\n", 2, want, 1);
}

static struct fix *nested(unsigned depth, bool wait, unsigned limit, const char *reconv)
{
    char text[3000];
    struct fix *f = fix_new(8);

    snprintf(text, sizeof text,
             ".kernel child\n" PARAMS "v_mov_b64 v2:3, c[out]\nv_mov_b32 v4, 1\n"
             "red.global.add.u32 [v2:3], v4\nv_mov_b32 v10, c[n]\nv_add_u32 v10, v10, 1\n"
             "v_setp_u32.ge p0, v10, %u\n@p0 exit\n" LAUNCH("", "vz") "%s\nexit\n.end\n"
             CHILD("1", "1"), depth, wait ? "launch.sync" : "");
    f->config.launch_depth = limit;
    f->config.reconv = reconv;
    f->config.resident_warps = 1;
    /* the fixture's launch has one pointer as parameter; n and m follow it */
    struct lw_error err;
    uint64_t params[2] = {0, 0};
    fix_check(emu_machine_create(&f->config, &f->machine, &err), &err);
    fix_check(isa_assemble("test.s", text, strlen(text), &f->object, &err), &err);
    fix_check(emu_program_load(f->machine, f->object, &f->program, &err), &err);
    fix_check(emu_alloc(f->machine, sizeof f->word, "out", 0, &f->out, &err), &err);
    fix_check(emu_engine_functional_create(f->machine, &f->engine, &err), &err);
    params[0] = f->out;
    struct emu_launch launch = {.program = f->program, .kernel = &f->object->functions[0],
                                .grid = {1, 1, 1}, .block = {1, 1, 1}, .work_dim = 1,
                                .params = params};
    fix_check(emu_grid_launch(f->machine, &launch, NULL, &err), &err);
    fix_go(f);
    return f;
}

static void cf6_launches_may_wait_to_the_depth_limit_and_no_deeper(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t want[] = {25};
        struct fix *f = nested(25, true, 24, emu_reconv_names[i]); /* the innermost launch does not wait for another launch */
        fix_expect_words(f, want, 1);
        fix_free(f);
        f = nested(26, true, 24, emu_reconv_names[i]);
        fix_expect_fault(f, EMU_FAULT_LAUNCH_DEPTH, 1, "launch.sync");
        assert_int_equal(f->stop.fault.grid, 25);
        fix_free(f);
        f = nested(4, true, 2, emu_reconv_names[i]);
        fix_expect_fault(f, EMU_FAULT_LAUNCH_DEPTH, 1, "launch.sync");
        fix_free(f);
    }
}

static void cf5_launches_that_nobody_waits_for_nest_deeper(void **state)
{
    uint32_t want[] = {40};
    struct fix *f = nested(40, false, 24, "cbar");
    (void)state;

    fix_expect_words(f, want, 1);
    fix_free(f);
    f = nested(70, false, 24, "cbar");
    fix_expect_fault(f, EMU_FAULT_LAUNCH_DEPTH, 1, "launch.kernel");
    assert_int_equal(f->word[0], 64); /* the host's launch, and 63 nested launches below it */
    fix_free(f);
}

/** A host launch that follows a host launch sees the results of all device launches of its predecessor. */
static void cf8_the_next_launch_of_the_host_comes_after_all_descendants(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\nv_mov_b32 v10, 5\nlaunch.stream v30:31\n"
        LAUNCH("", "v30:31") "exit\n.end\n" CHILD("3", "1")
        ".kernel child\n" PARAMS "v_mov_b32 v1, c[n]\nv_setp_u32.eq p0, v1, 0\n@p0 exit\n"
        "v_mov_b64 v2:3, c[out]\nv_mov_b32 v4, 1\nred.global.add.u32 [v2:3], v4\n"
        "v_sub_u32 v10, v1, 1\n" LAUNCH("", "vz") "exit\n.end\n"
        ".kernel after\n.param ptr.global out\nv_mov_b64 v2:3, c[out]\nld.global.b32 v1, [v2:3]\n"
        "st.global.b32 [v2:3+4], v1\nexit\n.end\n";
    uint32_t want[] = {0, 0};
    struct lw_error err;

    (void)state;
    for (unsigned level = 0, blocks = 3; level < 5; level++, blocks *= 3)
        want[0] += blocks;
    want[1] = want[0];
    for (unsigned order = EMU_CHILD_LAZY; order <= EMU_CHILD_RANDOM; order++) {
        struct fix *f = fix_new(32);

        f->config.child_order = (enum emu_child_order)order;
        f->config.resident_warps = 2;
        fix_load(f, text, 1);
        struct emu_launch launch = {.program = f->program, .kernel = &f->object->functions[2],
                                    .grid = {1, 1, 1}, .block = {1, 1, 1}, .work_dim = 1,
                                    .params = &f->out};
        assert_string_equal(launch.kernel->name, "after");
        fix_check(emu_grid_launch(f->machine, &launch, NULL, &err), &err);
        fix_go(f);
        fix_expect_words(f, want, 2);
        fix_free(f);
    }
}

/** 512 lanes of several warps launch one child each, which adds its number. */
static void many_small_launches_all_run_once(void **state)
{
    uint32_t want[] = {0};
    (void)state;

    for (uint32_t t = 0; t < 512; t++)
        want[0] += 3 * (t * t + 1); /* each child grid has three threads */
    expect(".kernel k\n.param ptr.global out\nv_s2r v0, %tid.x\nv_mul_u32 v10, v0, v0\n"
           "launch.stream v30:31\n" LAUNCH("", "v30:31") "exit\n.end\n" CHILD("1", "3")
           ".kernel child\n" PARAMS "v_mov_b32 v1, c[n]\nv_add_u32 v1, v1, 1\n"
           "v_mov_b64 v2:3, c[out]\nred.global.add.u32 [v2:3], v1\nexit\n.end\n", 512, want, 1);
}

/** More blocks wait for their children than a core has slots, so later blocks wait for a free slot. */
static void any_number_of_blocks_may_wait(void **state)
{
    enum { BLOCKS = 5000 };
    static const char text[] =
        ".kernel k\n.param ptr.global out\nlaunch.buffer v2:3, 8\nv_mov_b64 v4:5, c[out]\n"
        "st.global.b64 [v2:3], v4:5\nv_mov_b32 v8, lo(many_d)\nv_mov_b32 v9, hi(many_d)\n"
        "launch.kernel v10, v8:9, v2:3, vz\nexit\n.end\n"
        ".const many_d 40 8 = addr many, u32 5000, 1, 1, 1, 1, 1, 0, 0\n"
        ".const leaf_d 40 8 = addr leaf, u32 1, 1, 1, 1, 1, 1, 0, 0\n"
        ".kernel many\n.param ptr.global out\nlaunch.buffer v2:3, 8\nv_mov_b64 v4:5, c[out]\n"
        "st.global.b64 [v2:3], v4:5\nv_mov_b32 v8, lo(leaf_d)\nv_mov_b32 v9, hi(leaf_d)\n"
        "launch.kernel v10, v8:9, v2:3, vz\nlaunch.sync\nv_mov_b32 v1, 1\n"
        "red.global.add.u32 [v4:5], v1\nexit\n.end\n"
        ".kernel leaf\n.param ptr.global out\nv_mov_b64 v4:5, c[out]\nv_mov_b32 v1, 1\n"
        "red.global.add.u32 [v4:5+4], v1\nexit\n.end\n";
    static const uint32_t want[] = {BLOCKS, BLOCKS};
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        struct fix *f = fix_new(32);
        f->config.resident_warps = i == 0 ? 2048 : 7;
        f->config.pending_launches = 1 << 20;
        f->config.arena_bytes = 1 << 28;
        fix_load(f, text, 1);
        fix_go(f);
        fix_expect_words(f, want, 2);
        fix_free(f);
    }
}

/* ---- block groups ----------------------------------------------------------------------------- */

static void groups_aggregate_onto_a_kernel_that_runs(void **state)
{
    static struct launch_log log;
    uint32_t want[] = {0};
    struct fix *f;
    (void)state;

    /* a kernel launches five levels of two block groups of one block, with the same kernel: 62 blocks */
    for (unsigned level = 1; level <= 5; level++)
        want[0] += 1u << level;
    f = start(".kernel k\n.param ptr.global out\nv_mov_b32 v10, 5\n" LAUNCH("", "vz")
              "exit\n.end\n" CHILD("1", "4") ".kernel child\n" PARAMS
              "v_s2r v0, %tid.x\nv_mov_b32 v1, c[n]\nv_setp_u32.ge p0, v0, 2\n@p0 exit\n"
              "v_setp_u32.eq p0, v1, 0\n@p0 exit\nv_mov_b64 v2:3, c[out]\nv_mov_b32 v4, 1\n"
              "red.global.add.u32 [v2:3], v4\nv_sub_u32 v10, v1, 1\n" GROUP("") "exit\n.end\n",
              8, 1, "cbar", 64, &log);
    fix_expect_words(f, want, 1);
    assert_int_equal(log.count, 1 + 62);
    assert_int_equal(log.groups, 62);
    assert_int_equal(log.joined, 62);
    fix_free(f);
}

static void a_group_of_another_shape_is_a_launch_of_its_own(void **state)
{
    static struct launch_log log;
    static const uint32_t want[] = {0, 0x20001, 0x20101};
    struct fix *f;
    (void)state;

    f = start(".kernel child\n.param ptr.global out\nv_s2r v0, %ntid.x\nv_setp_u32.eq p0, v0, 1\n"
              "@!p0 bra parent\nv_s2r v1, %ctaid.x\nv_s2r v2, %nctaid.x\nv_mov_b64 v8:9, c[out]\n"
              "v_madwide_u32 v8:9, v1, 4, v8:9\nv_shl_b32 v2, v2, 16\nv_mad_u32 v1, v1, 256, v2\n"
              "v_add_u32 v1, v1, 1\nst.global.b32 [v8:9+4], v1\nexit\n"
              "parent: v_s2r v0, %tid.x\nv_setp_u32.ne p0, v0, 0\n@p0 exit\n"
              "launch.buffer v20:21, 8\nv_mov_b64 v22:23, c[out]\nst.global.b64 [v20:21], v22:23\n"
              "v_mov_b32 v24, lo(child_d)\nv_mov_b32 v25, hi(child_d)\n"
              "launch.group v26, v24:25, v20:21\nexit\n.end\n" CHILD("2", "1"),
              8, 3, "cbar", 64, &log);
    fix_expect_words(f, want, 3);
    assert_int_equal(log.groups, 1);
    assert_int_equal(log.joined, 0);
    fix_free(f);
}

/** launch.sync does not wait for block groups: the block group spins until its parent has passed launch.sync. */
static void nobody_waits_for_groups(void **state)
{
    static const uint32_t want[] = {1, 1};
    (void)state;

    expect(".kernel k\n.param ptr.global out\nv_mov_b64 v2:3, c[out]\n" GROUP("")
           "launch.sync\nv_mov_b32 v1, 1\nst.global.b32 [v2:3], v1\nexit\n.end\n"
           CHILD("1", "1") ".kernel child\n" PARAMS "v_mov_b64 v2:3, c[out]\n"
           "spin: ld.global.b32.volatile v4, [v2:3]\nv_setp_u32.eq p1, v4, 0\n@p1 bra spin\n"
           "st.global.b32 [v2:3+4], v4\nexit\n.end\n", 1, want, 2);
}

/* ---- faults ----------------------------------------------------------------------------------- */

#define BARE(descriptor) ".const child_d 40 8 = " descriptor "\n"                             \
    ".kernel child\nexit\n.end\n.kernel with\n.param u64 x\nexit\n.end\n"
#define FIRE "v_mov_b32 v24, lo(child_d)\nv_mov_b32 v25, hi(child_d)\nlaunch.kernel v26, v24:25, "

static void what_cannot_be_launched_is_a_fault(void **state)
{
    static const struct {
        const char *code, *descriptor;
        enum emu_fault_kind kind;
        const char *word; /* the fault is in the guarded instruction */
    } cases[] = {
        {FIRE "vz, vz\n", "u64 64, u32 1,1,1, 1,1,1, 0, 0", EMU_FAULT_LAUNCH, "not the entry of a kernel"},
        {FIRE "vz, vz\n", "addr k+16, u32 1,1,1, 1,1,1, 0, 0", EMU_FAULT_LAUNCH, "not the entry of a kernel"},
        {FIRE "vz, vz\n", "addr child, u32 0,1,1, 1,1,1, 0, 0", EMU_FAULT_LAUNCH, "block size is 0"},
        {FIRE "vz, vz\n", "addr child, u32 1,1,1, 1,1,0, 0, 0", EMU_FAULT_LAUNCH, "block size is 0"},
        {FIRE "vz, vz\n", "addr child, u32 1,1,1, 1025,1,1, 0, 0", EMU_FAULT_LAUNCH, "1025"},
        {FIRE "vz, vz\n", "addr child, u32 1,1,1, 64,64,1, 0, 0", EMU_FAULT_LAUNCH, "4096"},
        {FIRE "vz, vz\n", "addr child, u32 0x80000000,1,1, 1,1,1, 0, 0", EMU_FAULT_LAUNCH, "the grid has 2147483648 blocks in dimension x"},
        {FIRE "vz, vz\n", "addr child, u32 0x100000,0x100000,2, 1,1,1, 0, 0", EMU_FAULT_LAUNCH, "1048576 x 1048576 x 2 blocks: at most 2^40"},
        {FIRE "vz, vz\n", "addr child, u32 1,1,1, 1,1,1, 0x2000000, 0", EMU_FAULT_LAUNCH, "shared"},
        {FIRE "vz, vz\n", "addr child, u32 1,1,1, 1,1,1, 0, 1", EMU_FAULT_LAUNCH, "last word"},
        {FIRE "vz, vz\n", "addr with, u32 1,1,1, 1,1,1, 0, 0", EMU_FAULT_LAUNCH_BUFFER, "without"},
        {"launch.buffer v20:21, 4\n" FIRE "v20:21, vz\n", "addr with, u32 1,1,1, 1,1,1, 0, 0",
         EMU_FAULT_LAUNCH_BUFFER, "4 bytes"},
        {"v_mov_b64 v20:21, c[out]\n" FIRE "v20:21, vz\n", "addr with, u32 1,1,1, 1,1,1, 0, 0",
         EMU_FAULT_LAUNCH_BUFFER, "not a parameter buffer"},
        {"launch.buffer v20:21, 8\n" FIRE "v20:21, vz\nlaunch.kernel v26, v24:25, v20:21, vz\n",
         "addr with, u32 1,1,1, 1,1,1, 0, 0", EMU_FAULT_LAUNCH_BUFFER, "was used by an earlier launch"},
        {"v_mov_b32 v30, 5\nv_mov_b32 v31, 5\n" FIRE "vz, v30:31\n",
         "addr child, u32 1,1,1, 1,1,1, 0, 0", EMU_FAULT_LAUNCH, "stream"},
        {"launch.kernel v26, vz, vz, vz\n", "u32 0", EMU_FAULT_NULL_PAGE, ""},
        {"v_mov_b64 v24:25, c[out]\nv_add_u32 v24, v24, 4\nlaunch.kernel v26, v24:25, vz, vz\n",
         "u32 0", EMU_FAULT_MISALIGNED, ""},
        {"v_mov_b64 v24:25, c[out]\nv_add_u32 v24, v24, 4064\nlaunch.kernel v26, v24:25, vz, vz\n",
         "u32 0", EMU_FAULT_OUT_OF_BOUNDS, ""},
        {"v_mov_b32 v1, 65537\nlaunch.buffer v20:21, v1\n", "u32 0", EMU_FAULT_LAUNCH_BUFFER,
         "65537"},
    };
    (void)state;

    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        char text[2000];
        snprintf(text, sizeof text, ".kernel k\n.param ptr.global out\n%sexit\n.end\n"
                 ".const child_d 40 8 = %s\n.kernel child\nexit\n.end\n"
                 ".kernel with\n.param u64 x\nexit\n.end\n", cases[i].code, cases[i].descriptor);
        struct fix *f = start(text, 8, 1, "cbar", 64, NULL);
        if (f->stop.kind != EMU_STOP_FAULT || f->stop.fault.kind != cases[i].kind ||
            strstr(f->stop.fault.detail, cases[i].word) == NULL)
            fail_msg("case %u: stop %d, %s: %s", i, f->stop.kind,
                     emu_fault_name(f->stop.fault.kind), f->stop.fault.detail);
        fix_free(f);
    }
}

static void two_lanes_may_not_name_one_buffer(void **state)
{
    struct fix *f = start(".kernel k\n.param ptr.global out\nv_s2r v0, %tid.x\n"
                          "launch.buffer v20:21, 8\nv_mov_b32 v1, -1\n"
                          "shfl.idx v20, _, v20, 0, 31, v1\nshfl.idx v21, _, v21, 0, 31, v1\n"
                          FIRE "v20:21, vz\nexit\n.end\n" BARE("addr with, u32 1,1,1, 1,1,1, 0, 0"),
                          32, 2, "cbar", 64, NULL);
    (void)state;

    fix_expect_fault(f, EMU_FAULT_LAUNCH_BUFFER, 2, "launch.kernel");
    assert_non_null(strstr(f->stop.fault.detail, "lanes 0 and 1"));
    fix_free(f);
}

static void cf7_too_many_pending_launches_are_a_fault_and_none_is_queued(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\nv_s2r v0, %tid.x\n" FIRE "vz, vz\n"
        "v_setp_u32.lt p0, v0, 2\n@p0 launch.kernel v26, v24:25, vz, vz\nexit\n.end\n"
        BARE("addr child, u32 1,1,1, 1,1,1, 0, 0");
    struct fix *f = fix_new(32);
    (void)state;

    f->config.pending_launches = 8;
    fix_load(f, text, 7); /* 7 launches are pending; the second of the next two launches is the ninth one, which exceeds the
                           * limit */
    fix_go(f);
    fix_expect_fault(f, EMU_FAULT_LAUNCH_PENDING, 2, "@p0 launch.kernel");
    fix_free(f);
    f = fix_new(32);
    f->config.pending_launches = 9;
    fix_load(f, text, 7);
    fix_go(f);
    assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
    fix_free(f);
}

static void a_fault_in_a_child_names_its_launchers(void **state)
{
    struct lw_buffer text;
    struct fix *f;
    (void)state;

    f = start(FIX_HEAD "v_setp_u32.eq p0, v0, 5\nv_mov_b32 v10, 1\n" LAUNCH("@p0 ", "vz")
              "exit\n.end\n" CHILD("2", "1") ".kernel child\n" PARAMS
              "v_mov_b32 v10, c[n]\nv_setp_u32.eq p0, v10, 0\n@p0 bra bad\nv_mov_b32 v10, 0\n"
              LAUNCH("", "vz") "exit\nbad: v_mov_b64 v2:3, c[out]\n"
              "st.global.b32 [v2:3+4096], v10\nexit\n.end\n", 8, 8, "cbar", 64, NULL);
    fix_expect_fault(f, EMU_FAULT_OUT_OF_BOUNDS, 1, "st.global.b32");
    lw_buffer_init(&text);
    emu_fault_print(f->machine, &f->stop.fault, &text.sink);
    assert_non_null(strstr(text.text, "kernel child, block (0,0,0)"));
    assert_non_null(strstr(text.text, "; launched by kernel child (launch 2), block (0,0,0), warp "
                                      "0, lane 0, which was launched by kernel k (launch 1), block (0,0,0), "
                                      "warp 0, lane 5"));
    lw_buffer_fini(&text);
    fix_free(f);
}

/* ---- hangs ------------------------------------------------------------------------------------ */

static void a_wait_for_a_child_that_never_ends_is_a_live_lock(void **state)
{
    struct fix *f;
    (void)state;

    f = start(FIX_HEAD "v_setp_u32.eq p0, v0, 0\n" LAUNCH("@p0 ", "vz") "launch.sync\nexit\n.end\n"
              CHILD("1", "1") ".kernel child\n" PARAMS "v_mov_b64 v2:3, c[out]\n"
              "spin: ld.global.b32.volatile v4, [v2:3]\nv_setp_u32.eq p1, v4, 0\n@p1 bra spin\n"
              "exit\n.end\n", 8, 8, "cbar", 1, NULL);
    assert_int_equal(f->stop.kind, EMU_STOP_HANG);
    assert_int_equal(f->stop.hang.kind, EMU_HANG_VALUE);
    assert_int_equal(f->stop.hang.grid, 2);
    assert_non_null(strstr(f->stop.hang.detail, "launch 1 block 0 warp 0 lanes 0-7 (waiting at "
                                                "launch.sync"));
    assert_non_null(strstr(f->stop.hang.detail, "wait for launch 2 of child (0 of 1 blocks ended)"));
    fix_free(f);
}

static void a_wait_for_a_child_that_is_stuck_is_a_deadlock(void **state)
{
    struct fix *f;
    (void)state;

    f = start(FIX_HEAD "v_setp_u32.eq p0, v0, 0\n" LAUNCH("@p0 ", "vz") LAUNCH("@p0 ", "vz")
              "launch.sync\nexit\n.end\n" CHILD("1", "16") ".kernel child\n" PARAMS
              "v_s2r v0, %tid.x\nv_setp_u32.lt p0, v0, 8\n@p0 bar.sync 1\n@!p0 bar.sync 2\n"
              "exit\n.end\n", 8, 8, "cbar", 64, NULL);
    assert_int_equal(f->stop.kind, EMU_STOP_HANG);
    assert_int_equal(f->stop.hang.kind, EMU_HANG_CTA_BARRIER);
    assert_int_equal(f->stop.hang.grid, 2);
    assert_non_null(strstr(f->stop.hang.detail, "launch 3 of child (after launch 2 in its stream)"));
    fix_free(f);
}

/* ---- state after a launch ----------------------------------------------------------------------- */

static void used_buffers_and_launches_that_are_over_leave_nothing(void **state)
{
    struct emu_allocation a;
    unsigned live = 0;
    struct fix *f;
    (void)state;

    f = start(".kernel k\n.param ptr.global out\nv_mov_b32 v10, 0\n"
              "again:\n" LAUNCH("", "vz") "launch.sync\nv_add_u32 v10, v10, 1\n"
              "v_setp_u32.lt p1, v10, 500\n@p1 bra again\nexit\n.end\n" CHILD("1", "1")
              ".kernel child\n" PARAMS "exit\n.end\n", 8, 2, "cbar", 64, NULL);
    assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
    for (unsigned i = 0; emu_allocation_get(f->machine, i, &a); i++)
        live += !(a.flags & EMU_ALLOC_FREED);
    assert_int_equal(live, 2); /* out and the descriptor */
    assert_true(emu_allocation_count(f->machine) < 20);
    assert_null(emu_grid_current(f->machine));
    fix_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cf10_children_are_launched_in_the_order_of_lanes),
        cmocka_unit_test(each_order_of_launches),
        cmocka_unit_test(cf4_a_stream_keeps_its_order),
        cmocka_unit_test(cf4_different_streams_run_at_the_same_time),
        cmocka_unit_test(cf1_a_child_sees_what_its_parent_stored),
        cmocka_unit_test(cf2_a_child_has_the_parameters_of_its_launch),
        cmocka_unit_test(cf3_each_lane_has_a_child_with_its_own_parameter),
        cmocka_unit_test(cf9_shared_memory_of_the_parent_is_a_fault_in_the_child),
        cmocka_unit_test(a_parent_may_spin_on_its_child),
        cmocka_unit_test(cf2_a_store_to_the_buffer_after_the_launch_is_a_fault),
        cmocka_unit_test(a_nested_reduction_gives_the_sum),
        cmocka_unit_test(cf6_launches_may_wait_to_the_depth_limit_and_no_deeper),
        cmocka_unit_test(cf5_launches_that_nobody_waits_for_nest_deeper),
        cmocka_unit_test(cf8_the_next_launch_of_the_host_comes_after_all_descendants),
        cmocka_unit_test(many_small_launches_all_run_once),
        cmocka_unit_test(any_number_of_blocks_may_wait),
        cmocka_unit_test(groups_aggregate_onto_a_kernel_that_runs),
        cmocka_unit_test(a_group_of_another_shape_is_a_launch_of_its_own),
        cmocka_unit_test(nobody_waits_for_groups),
        cmocka_unit_test(what_cannot_be_launched_is_a_fault),
        cmocka_unit_test(two_lanes_may_not_name_one_buffer),
        cmocka_unit_test(cf7_too_many_pending_launches_are_a_fault_and_none_is_queued),
        cmocka_unit_test(a_fault_in_a_child_names_its_launchers),
        cmocka_unit_test(a_wait_for_a_child_that_never_ends_is_a_live_lock),
        cmocka_unit_test(a_wait_for_a_child_that_is_stuck_is_a_deadlock),
        cmocka_unit_test(used_buffers_and_launches_that_are_over_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
