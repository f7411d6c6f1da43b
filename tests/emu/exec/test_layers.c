/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets breakpoints on the instructions of a kernel, with time slices of each length up to eight, interrupted runs,
 * and both the fast path and the watched path. Each arrival of a split at a breakpoint must be reported once, in
 * the order in which its warp executes. Each instruction must have the handler that its layers require.
 */
#include <inttypes.h>

#include "tests/emu/exec/emu_fixture.h"
#include "tests/emu/exec/layers_check.h"

enum { WIDTH = 8, WARPS = 3, BLOCKS = 2, MOST = 64, LONGEST = 8 };

/* The kernel has loops whose number of iterations differs between warps and exceeds the time slices, a divergent branch,
 * and a CTA barrier. */
static const char text[] =
    FIX_HEAD
    "v_shr_u32 v1, v0, 3\nv_add_u32 v1, v1, 2\n"
    "again: v_add_u32 v3, v3, 1\nv_xor_b32 v4, v4, v3\nv_mul_u32 v4, v4, 5\nv_add_u32 v5, v4, v0\n"
    "v_xor_b32 v4, v4, v5\nst.global.b32 [v8:9], v4\nv_sub_u32 v1, v1, 1\nv_setp_u32.ne p0, v1, 0\n@p0 bra again\n"
    "bar.sync 0\n"
    "v_and_b32 v5, v0, 1\nv_setp_u32.eq p1, v5, 0\nbssy b0, meet\n@p1 bra other, b0\n"
    "v_add_u32 v4, v4, 1\nbra meet\nother: v_add_u32 v4, v4, 2\nv_mul_u32 v4, v4, 3\nmeet: bsync b0\n"
    FIX_STORE("v4") "exit\n.end\n";

/** Number of arrivals at each instruction. */
struct arrivals {
    struct emu_observer observer;
    unsigned count[BLOCKS][WARPS][MOST];
};

static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct arrivals *a = (struct arrivals *)(void *)observer;

    a->count[ev->block][ev->warp][(ev->pc - ISA_CODE_BASE) / ISA_WORD_BYTES]++;
    return false;
}
static bool on_nothing(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer;
    (void)ev;
    return false;
}

static struct fix *load(unsigned quantum, const char *reconv)
{
    struct fix *f = fix_new(WIDTH);

    f->config.warp_quantum = quantum;
    f->config.reconv = reconv;
    fix_load_grid(f, text, BLOCKS, WARPS * WIDTH);
    return f;
}

/** Run with a breakpoint at each instruction whose bit is set in @points. @seen gets the reports. */
static void run(struct fix *f, uint64_t points, bool watched, uint64_t cut, struct arrivals *seen)
{
    const struct emu_engine_ops *ops = f->engine->ops;
    struct emu_observer observer = {.on_event = on_nothing};
    struct emu_stop stop;
    struct emu_event ev;
    struct lw_error err;
    char why[100] = "";

    memset(seen, 0, sizeof *seen);
    for (LW_EACH_BIT(i, points))
        fix_check(emu_breakpoint_set(f->machine, ISA_CODE_BASE + (uint64_t)i * ISA_WORD_BYTES, true, &err), &err);
    if (watched)
        emu_observer_add(f->engine, &observer);
    do {
        f->engine->stop_at = cut == 0 ? UINT64_MAX : ops->instructions(f->engine) + cut;
        fix_check(ops->run(f->engine, &stop, &err), &err);
        layers_check(f->machine->cores[0], why, sizeof why);
        assert_string_equal(why, "");
        if (stop.kind != EMU_STOP_BREAK)
            continue;
        const unsigned index = (unsigned)((stop.place.pc - ISA_CODE_BASE) / ISA_WORD_BYTES);
        assert_true(points >> index & 1);
        seen->count[stop.place.block][stop.place.warp][index]++;
        const struct emu_thread_ref place = stop.place;
        fix_check(ops->step_warp(f->engine, &place, &ev, &stop, &err), &err);
        assert_int_equal(stop.kind, EMU_STOP_STEPPED);
        layers_check(f->machine->cores[0], why, sizeof why);
        assert_string_equal(why, "");
        stop.kind = EMU_STOP_BREAK;
    } while (stop.kind != EMU_STOP_IDLE);
    if (watched)
        emu_observer_remove(f->engine, &observer);
}

static void every_arrival_at_a_breakpoint_is_reported_once(void **state)
{
    (void)state;
    for (unsigned engine = 0; engine < 2; engine++) {
        const char *reconv = engine == 0 ? "cbar" : "stack";
        struct arrivals all = {.observer = {.on_event = on_event}}, seen;
        struct fix *f = load(LONGEST, reconv);
        const unsigned count = f->program->count;
        uint32_t word[FIX_WORDS];

        assert_true(count > 20 && count < MOST);
        emu_observer_add(f->engine, &all.observer);
        fix_go(f);
        assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
        memcpy(word, f->word, sizeof word);
        fix_free(f);
        for (unsigned quantum = 1; quantum <= LONGEST; quantum++)
            /* one breakpoint, two adjacent breakpoints in the loop, and breakpoints everywhere */
            for (unsigned at = 0; at <= count + 1; at++)
                for (unsigned how = 0; how < 3; how++) {
                    const uint64_t points = at < count ? UINT64_C(1) << at : at == count ? 3 << 7 : lw_mask(count);
                    f = load(quantum, reconv);
                    run(f, points, how == 1, how == 2 ? quantum : 0, &seen);
                    fix_check(emu_global_read(f->machine, f->out, f->word, sizeof f->word, NULL), NULL);
                    assert_memory_equal(f->word, word, sizeof word);
                    fix_free(f);
                    for (unsigned b = 0; b < BLOCKS; b++)
                        for (unsigned w = 0; w < WARPS; w++)
                            for (LW_EACH_BIT(i, points))
                                if (seen.count[b][w][i] != all.count[b][w][i])
                                    fail_msg("%s, quantum %u, %s: instruction %u, block %u, warp %u: %u arrivals, %u stops",
                                             reconv, quantum, how == 0 ? "whole" : how == 1 ? "watched" : "cut", (unsigned)i, b, w,
                                             all.count[b][w][i], seen.count[b][w][i]);
                }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_arrival_at_a_breakpoint_is_reported_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
