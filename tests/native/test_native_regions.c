/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that bssy and bsync change a warp in native code as they do in the interpreter, if the warp is whole, and if lanes of it
 * have exited. A fault stops the warp in a region, or at the instruction after the region's bsync, in the iterations of a loop.
 * Lanes diverge in some of the regions. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/simt/emu_split_priv.h"
#include "native/native.h"
#include "tests/lib/prop_setup.h"

enum { OUT_BYTES = 4096, STORES = 4 };

/* The parameters are the buffer, the iteration of the fault, the number of the store that has the fault, and two masks. If bit k of
 * the first mask is set, lanes diverge in iteration k. If bit k of the second mask is set, the lanes whose number is k modulo 8 exit
 * at the start. Store 1 is in a region, store 2 follows a bsync, store 3 is in a region within another one. Store 4 follows a bsync of
 * a barrier register that has no group. */
static const char text[] =
    ".kernel k\n.param ptr.global out\n.param u32 when\n.param u32 where\n.param u32 apart\n.param u32 gone\n"
    "    v_s2r v0, %tid.x\n    v_and_b32 v7, v0, 7\n    v_mov_b32 v8, c[gone]\n    v_shr_u32 v8, v8, v7\n    v_and_b32 v8, v8, 1\n"
    "    v_setp_u32.eq p0, v8, 1\n    @p0 exit\n"
    "    v_shl_b32 v5, v0, 2\n    s_mov_b64 s2:3, c[out]\n    v_mov_b32 v1, v0\n    v_mov_b32 v4, 0\n"
    "again:\n"
    "    v_mov_b32 v7, c[apart]\n    v_shr_u32 v7, v7, v4\n    v_and_b32 v7, v7, 1\n    v_mul_u32 v7, v7, v0\n    v_and_b32 v7, v7, 3\n" /* lane & 3, or 0 */
    "    v_mov_b32 v8, 0\n    v_setp_u32.eq p0, v4, c[when]\n    @p0 v_mov_b32 v8, c[where]\n"
    "    bssy b0, first\n    v_setp_u32.eq p1, v7, 1\n    @p1 bra first, b0\n"
    "    v_mad_u32 v1, v1, 5, v4\n    v_setp_u32.eq p2, v8, 1\n    v_mov_b32 v9, v5\n    @p2 v_mov_b32 v9, 0x7ffffffc\n"
    "    st.global.b32 [s2:3+v9], v1\n"
    "first:\n    bsync b0\n"
    "    v_setp_u32.eq p2, v8, 2\n    v_mov_b32 v9, v5\n    @p2 v_mov_b32 v9, 0x7ffffffc\n    st.global.b32 [s2:3+v9], v1\n"
    "    bssy b1, outer\n    v_setp_u32.eq p1, v7, 2\n    @p1 bra outer, b1\n"
    "    bssy b0, inner\n    v_setp_u32.eq p1, v7, 3\n    @p1 bra inner, b0\n"
    "    v_mad_u32 v1, v1, 3, v4\n    v_setp_u32.eq p2, v8, 3\n    v_mov_b32 v9, v5\n    @p2 v_mov_b32 v9, 0x7ffffffc\n"
    "    st.global.b32 [s2:3+v9], v1\n"
    "inner:\n    bsync b0\n    v_add_u32 v1, v1, 1\n"
    "outer:\n    bsync b1\n"
    "    bsync b2\n"
    "    v_setp_u32.eq p2, v8, 4\n    v_mov_b32 v9, v5\n    @p2 v_mov_b32 v9, 0x7ffffffc\n    st.global.b32 [s2:3+v9], v1\n"
    "    v_add_u32 v4, v4, 1\n    v_setp_u32.lt p0, v4, 12\n    @p0 bra again\n"
    "    exit\n.end\n";

/** What a run changes, at the fault. */
struct result {
    struct setup_counts counts;
    uint64_t native, retired, groups, seq_counter;
    unsigned splits, last_low;
    struct emu_split split;
    struct emu_breg_form barrier[3];
};

static void run(struct emu_native *native, unsigned width, const char *policy, const uint32_t *params, struct result *result)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    struct lw_error err;
    struct lw_hash hash;
    uint8_t bank[24] = {0};
    uint64_t out;

    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    config.warp_width = width;
    config.policy = policy;
    assert_int_equal(emu_machine_create(&config, &machine, &err), LW_OK);
    if (isa_assemble("k.s", text, strlen(text), &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(emu_program_load(machine, object, &program, &err), LW_OK);
    assert_int_equal(emu_alloc(machine, OUT_BYTES, "out", 0, &out, &err), LW_OK);
    assert_int_equal(emu_engine_functional_create(machine, &engine, &err), LW_OK);
    engine->threads = 1;
    emu_machine_set_native(machine, native);
    lw_put64(bank, out);
    for (unsigned i = 0; i < 4; i++)
        lw_put32(bank + 8 + 4 * i, params[i]);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0], .grid = {1, 1, 1}, .block = {width, 1, 1},
                                .work_dim = 1, .params = bank};
    assert_int_equal(emu_grid_launch(machine, &launch, NULL, &err), LW_OK);
    assert_int_equal(engine->ops->run(engine, &stop, &err), LW_OK);
    assert_int_equal(stop.kind, EMU_STOP_FAULT);
    memset(result, 0, sizeof *result);
    emu_stats_get(machine, &result->counts.stats);
    result->native = emu_machine_native_instructions(machine);
    const struct emu_warp *w = emu_warp_at(machine->cores[0], 0, 0);
    assert_non_null(w);
    lw_hash_init(&hash);
    emu_split_hash(w, &hash); /* not emu_hash_state(), because native code does not keep the values of dead registers */
    result->counts.hash_state = lw_hash_value(&hash);
    result->retired = w->retired;
    result->groups = w->group_counter;
    result->seq_counter = w->seq_counter;
    result->last_low = w->last_low;
    result->splits = w->split_count;
    result->split = w->split[lw_lowest(w->split_ids)];
    memcpy(result->barrier, w->bform, sizeof result->barrier);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

/** Compares two runs with the same parameters. @whole: no lanes have diverged. The time slices of the runs differ, and so do `since`
 *  and `turn_used`, which depend on the start of the slice. */
static void compare(const struct result *have, const struct result *want, bool whole, const char *how)
{
    char why[200];

    if (!setup_counts_agree(&have->counts, &want->counts, why, sizeof why))
        fail_msg("%s: %s", how, why);
    if (have->retired != want->retired || have->groups != want->groups || have->splits != want->splits ||
        memcmp(have->barrier, want->barrier, sizeof have->barrier) != 0)
        fail_msg("%s: the barrier registers differ: %" PRIu64 " and %" PRIu64 " groups", how, have->groups, want->groups);
    if (!whole)
        return;
    if (have->seq_counter != want->seq_counter || have->split.seq != want->split.seq || have->split.flags != want->split.flags ||
        have->split.lanes != want->split.lanes || have->last_low != want->last_low)
        fail_msg("%s: the split differs: seq %" PRIu64 ", in the interpreter %" PRIu64, how, have->split.seq, want->split.seq);
}

/** Runs the kernel with lanes @gone missing. Native code must execute more than @least instructions in the runs without divergence,
 *  and more than @least_apart in the other runs with the policy `converge`. */
static void warps_change_as_in_the_interpreter(uint32_t gone, uint64_t least, uint64_t least_apart)
{
    static const char *const policies[] = {"converge", "rr", "rr_quantum", "minpc", "stack_like"};
    static const uint32_t masks[] = {0, 1, 0x5a, 0xfff};
    struct emu_native *native;
    struct lw_error err;
    struct result have, want;
    uint64_t executed = 0, executed_apart = 0;

    for (unsigned width = 8; width <= 64; width *= 2) {
        if (nat_create(NAT_NATIVE, &native, &err) != LW_OK) {
            print_message("%s\n", err.text);
            skip();
        }
        native->masked_after = 0;
        nat_set_cached(native, false);
        for (size_t p = 0; p < LW_COUNT_OF(policies); p++)
            for (size_t m = 0; m < LW_COUNT_OF(masks); m++)
                for (uint32_t k = 0; k < 3 * STORES; k++) {
                    const uint32_t params[4] = {k / STORES * 5 + 1, k % STORES + 1, masks[m], gone};
                    if (gone == 0x05 && masks[m] != 0 && params[1] == 3)
                        continue; /* a fault in a divided copy: native code numbers splits by their lowest lanes */
                    char how[120];
                    snprintf(how, sizeof how, "W %u, policy %s, fault in iteration %u at store %u, mask 0x%x, gone 0x%x", width, policies[p],
                             params[0], params[1], params[2], gone);
                    run(NULL, width, policies[p], params, &want);
                    run(native, width, policies[p], params, &have);
                    compare(&have, &want, masks[m] == 0, how);
                    executed += masks[m] == 0 ? have.native : 0;
                    executed_apart += masks[m] != 0 && p == 0 ? have.native : 0;
                }
        nat_destroy(native);
    }
    assert_true(executed > least);
    assert_true(executed_apart > least_apart);
}

/* Most instructions run in native code: on average, more than 100 in a run. */
static void bssy_and_bsync_change_a_whole_warp_as_in_the_interpreter(void **state)
{
    (void)state;
    warps_change_as_in_the_interpreter(0, 4 * 5 * 3 * STORES * 100, 4 * 3 * 3 * STORES * 100);
}
static void bssy_and_bsync_change_the_lanes_that_remain_as_in_the_interpreter(void **state)
{
    (void)state;
    warps_change_as_in_the_interpreter(0x80, 4 * 5 * 3 * STORES * 100, 4 * 3 * 3 * STORES * 100);
    warps_change_as_in_the_interpreter(0x05, 4 * 5 * 3 * STORES * 100, 0); /* split 1 remains, which
                                                                          * native code does not divide */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bssy_and_bsync_change_a_whole_warp_as_in_the_interpreter),
        cmocka_unit_test(bssy_and_bsync_change_the_lanes_that_remain_as_in_the_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
