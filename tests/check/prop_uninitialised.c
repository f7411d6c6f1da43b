/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that values which the checker considers defined do not depend on uninitialised memory. Each operation runs with
 * several contents of uninitialised memory. The checker must report each byte of the result that differs between two
 * runs. For operations with an exact rule it may report only few other bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "check/check.h"

enum { LANES = 32, RUNS = 5, OUT_BYTES = LANES * 8, ROUNDS = 3 };

/* Sets v19 to the member mask of the lane's half of the warp, so that each half executes the operation separately. Sets p3
 * in the lower half. */
#define HALVES \
    "v_setp_u32.lt p3, v0, 16\nv_mov_b32 v18, 0xffff\nv_mov_b32 v19, 0xffff0000\nv_selp_b32 v19, v18, v19, p3\n"

/* v10:11 and v12:13 have undefined bits, v14 and v15 have none, and p1 is undefined in some lanes. The result goes to
 * v16:17. */
static const struct op {
    const char *text;
    bool exact;
} ops[] = {
    {"v_mov_b64 v16:17, v10:11", true},
    {"v_mov_b32 v16, v10", true},
    {"v_and_b32 v16, v10, v12", true},
    {"v_or_b32 v16, v10, v12", true},
    {"v_xor_b32 v16, v10, v12", true},
    {"v_and_b64 v16:17, v10:11, v12:13", true},
    {"v_or_b64 v16:17, v10:11, v12:13", true},
    {"v_not_b64 v16:17, v10:11", true},
    {"v_and_b32 v16, v10, 0xff00", true},
    {"v_lop3_b32 v16, v10, v12, v14, 0x96", true},
    {"v_lop3_b32 v16, v10, v12, v14, 0xe8", true},
    {"v_add_u32 v16, v10, v12", false},
    {"v_sub_u32 v16, v10, v12", false},
    {"v_add_u64 v16:17, v10:11, v12:13", false},
    {"v_sub_u64 v16:17, v14:15, v12:13", false},
    {"v_mul_u32 v16, v10, v14", false},
    {"v_mad_u32 v16, v10, v14, v12", false},
    {"v_mulwide_u32 v16:17, v10, v14", false},
    {"v_mulwide_s32 v16:17, v10, v14", false},
    {"v_mulhi_u32 v16, v10, v14", false},
    {"v_neg_s32 v16, v10", false},
    {"v_abs_s32 v16, v10", false},
    {"v_min_u32 v16, v10, v12", false},
    {"v_max_s32 v16, v10, v12", false},
    {"v_shl_b32 v16, v10, 9", true},
    {"v_shr_u32 v16, v10, 9", true},
    {"v_shr_s32 v16, v10, 9", true},
    {"v_shl_b64 v16:17, v10:11, 21", true},
    {"v_shr_u64 v16:17, v10:11, 21", true},
    {"v_shr_s64 v16:17, v10:11, 45", true},
    {"v_shl_b32 v16, v14, v10", false},
    {"v_bfe_u32 v16, v10, 0x0704", true},
    {"v_bfe_s32 v16, v10, 0x0b03", true},
    {"v_bfe_u64 v16:17, v10:11, 0x1b0a", true},
    {"v_bfi_b32 v16, v10, 0x0904, v12", true},
    {"v_prmt_b32 v16, v10, 0x4a1d, v12", true},
    {"v_shfl_b32 v16, v10, v12, v14", false},
    {"v_cvt.u8.u32 v16, v10", true},
    {"v_cvt.s8.u32 v16, v10", true},
    {"v_cvt.u64.u16 v16:17, v10", true},
    {"v_cvt.s64.s16 v16:17, v10", true},
    {"v_cvt.s64.s32 v16:17, v10", true},
    {"v_cvt.u32.u64 v16, v10:11", true},
    {"v_cvt.u8.u32.sat v16, v10", false},
    {"v_cvt.f32.u32.rn v16, v10", false},
    {"v_add_f32 v16, v10, v12", false},
    {"v_popc_b32 v16, v10", false},
    {"v_clz_b64 v16, v10:11", false},
    {"v_brev_b32 v16, v10", false},
    {"v_selp_b32 v16, v10, v12, p1", false},
    {"v_selp_b32 v16, v10, v12, !p1", false},
    {"v_and_b32 v18, v10, 3\nv_and_b32 v19, v12, 3\nv_setp_u32.eq p2, v18, v19\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", false},
    {"v_setp_s32.lt p2, v10, v12\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", false},
    {"v_setp_u32.ne.and p2, v10, v12, p1\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", false},
    {"v_setp_u32.eq.or p2, v14, v15, p1\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", false},
    {"v_p2r v16", false},
    {"shfl.down v16, _, v10, 3, 31", true},
    {"shfl.idx v16, _, v10, v14, 31", true},
    {"shfl.bfly v16, _, v10, 5, 31", true},
    {"vote.ballot v16:17, p1", true},
    {"shfl.idx v16, _, v14, v10, 31", false},
    {"shfl.bfly v16, p2, v14, v10, 15", false},
    {"shfl.idx v17, p2, v14, v10, 7\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2\nv_mov_b32 v17, 0", false},
    {"vote.ballot.b32 v16, p1", true},
    /* These operations run for each half of the warp separately, since the predicate may be defined in one half
     * only. */
    {HALVES "vote.ballot.b32 v16, p1, v19", true},
    {HALVES "v_setp_u32.ne.or p1, v0, 21, p1\nvote.all p2, p1, v19\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", false},
    {HALVES "v_setp_u32.eq.and p1, v0, 21, p1\nvote.any p2, p1, v19\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", false},
    {HALVES "v_setp_u32.ne.or p1, v0, 21, p1\nvote.uni p2, p1, v19\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", false},
    {HALVES "v_and_b32 v18, v10, 7\nmatch.any.b32 v16, v18, v19", false},
    {HALVES "v_setp_u32.eq p2, v0, 21\nv_and_b32 v18, v10, 1\nv_selp_b32 v18, v18, vz, p2\nmatch.all.b32 v16, p2, v18, v19", false},
    {HALVES "v_setp_u32.eq p2, v0, 21\nv_and_b32 v18, v10, 1\nv_selp_b32 v18, v18, vz, p2\nmatch.all.b32 v17, p2, v18, v19\nv_mov_b32 v18, 1\n"
            "v_selp_b32 v16, v18, 0, p2\nv_mov_b32 v17, 0", false},
    {HALVES "redux.add.u32 v16, v10, v19", false},
    {HALVES "v_setp_u32.eq p2, v0, 21\nv_selp_b32 v18, v10, -1, p2\nredux.and.b32 v16, v18, v19", true},
    {HALVES "v_setp_u32.eq p2, v0, 21\nv_selp_b32 v18, v10, 0x10, p2\nredux.or.b32 v16, v18, v19", true},
    {HALVES "redux.xor.b32 v16, v10, v19", true},
    {HALVES "redux.max.s32 v16, v10, v19", false},
    {"v_readlane_b32 s8, v10, 21\nv_mov_b32 v16, s8", true},
    {"v_readlane_b32 s8, v10, 21\nv_mov_b32 v18, s8\nv_readfirstlane_b32 s9, v18\nv_mov_b32 v16, s9", true},
    {"v_readlane_b32 s9, v10, 21\nv_readlane_b32 s8, v14, s9\nv_mov_b32 v16, s8", false},
    {"v_readlane_b32 s8, v10, 21\nv_mov_b32 v16, v12\nv_writelane_b32 v16, s8, 3", true},
    {"v_readlane_b32 s8, v10, 21\nv_mov_b32 v16, v14\nv_writelane_b32 v16, s14, s8", false},
    {"s_ballot s8:9, p1\nv_mov_b64 v16:17, s8:9", true},
    {"s_ballot s8:9, p1\nv_unballot p2, s8:9\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", true},
    {"v_readlane_b32 s8, v10, 21\ns_r2sp s8\ns_sp2r s9\nv_mov_b32 v16, s9", true},
    {"v_setp_u32.eq.and p1, v0, 21, p1\ns_vote_any sp1, p1\ns_sp2r s9\nv_mov_b32 v16, s9", false},
    {"v_setp_u32.ne.or p1, v0, 21, p1\ns_vote_all sp1, p1\ns_sp2r s9\nv_mov_b32 v16, s9", false},
    {"v_and_b32 v18, v10, 3\nv_setp_u32.lt.and p2, p3, v0, 16, p1\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", true},
    {"v_setp_u32.lt.or p2, p3, v0, 16, p1\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p3", true},
    {"v_setp_s32.lt.and p2, v14, 0, p1\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", true},
    {"v_setp_f32.gt.or p2, v14, 1.0, p1\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", true},
    {"v_cvt.f64.u32 v18:19, v14\nv_setp_f64.gt.or p2, v18:19, 1073741824.0, p1\nv_mov_b32 v19, 1\nv_selp_b32 v16, v19, 0, p2", true},
    {"st.local.b64 [vz], v10:11\nld.local.u8 v16, [vz+5]", true},
    {"st.local.b64 [vz], v10:11\nld.local.s16 v16, [vz+2]", true},
    {"v_shl_b32 v18, v0, 3\nst.shared.b64 [v18], v10:11\nld.shared.b32 v16, [v18+4]", true},
};

static const char head[] =
    ".kernel k\n.shared 512\n.local 16\n.param ptr.global out\n.param ptr.global u\n.param ptr.global d\n"
    "v_s2r v0, %tid.x\nv_shl_b32 v1, v0, 3\n"
    "s_mov_b64 s0:1, c[out]\ns_mov_b64 s2:3, c[u]\ns_mov_b64 s4:5, c[d]\n"
    "ld.global.b64 v10:11, [s2:3+v1]\nld.global.b64 v12:13, [s2:3+v1+256]\n"
    /* Buffer d contains a mask of undefined bits and the values of the other bits for both operands, and two more
     * values. */
    "ld.global.b64 v20:21, [s4:5+v1]\nld.global.b64 v22:23, [s4:5+v1+256]\n"
    "v_and_b64 v10:11, v10:11, v20:21\nv_not_b64 v20:21, v20:21\n"
    "v_and_b64 v22:23, v22:23, v20:21\nv_or_b64 v10:11, v10:11, v22:23\n"
    "ld.global.b64 v20:21, [s4:5+v1+512]\nld.global.b64 v22:23, [s4:5+v1+768]\n"
    "v_and_b64 v12:13, v12:13, v20:21\nv_not_b64 v20:21, v20:21\n"
    "v_and_b64 v22:23, v22:23, v20:21\nv_or_b64 v12:13, v12:13, v22:23\n"
    "ld.global.b64 v14:15, [s4:5+v1+1024]\n"
    "v_and_b32 v18, v10, 1\nv_setp_u32.ne p1, v18, 0\n"
    "v_mov_b32 v16, 0\nv_mov_b32 v17, 0\n";

static uint64_t random_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static void must(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/** Execute one run. @reported[i] means that the checker reports byte i of the result as undefined. */
static void run(const char *text, enum emu_tag_mode tags, const uint64_t *u, const uint64_t *d,
                uint8_t *out, bool *reported)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_engine *engine;
    struct emu_stop stop;
    struct chk *chk;
    struct lw_error err;
    uint64_t params[3], kinds;

    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    config.tags = tags;
    must(emu_machine_create(&config, &machine, &err), &err);
    must(isa_assemble("k.s", text, strlen(text), &object, &err), &err);
    must(emu_program_load(machine, object, &program, &err), &err);
    must(emu_alloc(machine, OUT_BYTES, "out", 0, &params[0], &err), &err);
    must(emu_alloc(machine, 512, "u", 0, &params[1], &err), &err);
    must(emu_alloc(machine, 1280, "d", 0, &params[2], &err), &err);
    must(emu_global_write(machine, params[1], u, 512, &err), &err);
    must(emu_global_write(machine, params[2], d, 1280, &err), &err);
    must(chk_select("uninitialised", &kinds, &err), &err);
    const struct chk_options options = {.kinds = kinds, .max_findings = 1000};
    must(chk_create(machine, &options, &chk, &err), &err);
    chk_mark_uninitialised(chk, params[1], 512); /* the buffer counts as uninitialised, although the host has filled it */
    must(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {1, 1, 1}, .block = {LANES, 1, 1}, .work_dim = 1,
                                .params = params};
    must(emu_grid_launch(machine, &launch, NULL, &err), &err);
    must(engine->ops->run(engine, &stop, &err), &err);
    assert_int_equal(stop.kind, EMU_STOP_IDLE);
    for (unsigned i = 0; i < OUT_BYTES; i++) { /* a byte is reported if reading it increases the count of a finding */
        uint64_t before = 0, after = 0;
        const struct chk_finding *f;
        for (unsigned k = 0; (f = chk_get(chk, k)) != NULL; k++)
            before += f->count;
        must(emu_global_read(machine, params[0] + i, &out[i], 1, &err), &err);
        for (unsigned k = 0; (f = chk_get(chk, k)) != NULL; k++)
            after += f->count;
        reported[i] = after != before;
    }
    emu_engine_destroy(engine);
    chk_destroy(chk);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

static void what_is_not_reported_does_not_depend_on_unwritten_memory(void **state)
{
    uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);
    const char *given = getenv("LW_SEED");
    static const enum emu_tag_mode modes[ROUNDS] = {EMU_TAGS_OFF, EMU_TAGS_COMPACT, EMU_TAGS_SHADOW};

    (void)state;
    if (given != NULL)
        seed = strtoull(given, NULL, 0) | 1;
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        char text[4096];
        unsigned useless = 0, right = 0;

        snprintf(text, sizeof text, "%s%s\nst.global.b64 [s0:1+v1], v16:17\nexit\n.end\n", head,
                 ops[o].text);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint64_t u[RUNS][64], d[160];
            uint8_t out[RUNS][OUT_BYTES];
            bool reported[RUNS][OUT_BYTES];

            for (unsigned i = 0; i < 160; i++)
                d[i] = random_word(&seed);
            /* some lanes are completely defined, and some are completely undefined */
            for (unsigned i = 0; i < 32; i++) {
                d[i] = i % 5 == 0 ? 0 : i % 5 == 1 ? UINT64_MAX : d[i] & random_word(&seed);
                d[64 + i] = i % 3 == 0 ? 0 : d[64 + i] & random_word(&seed);
            }
            for (unsigned r = 0; r < RUNS; r++) {
                for (unsigned i = 0; i < 64; i++)
                    u[r][i] = r == 0 ? 0 : r == 1 ? UINT64_MAX : random_word(&seed);
                run(text, modes[round], u[r], d, out[r], reported[r]);
            }
            for (unsigned i = 0; i < OUT_BYTES; i++) {
                bool differs = false, all = true;
                for (unsigned r = 0; r < RUNS; r++) {
                    differs |= out[r][i] != out[0][i];
                    all &= reported[r][i];
                }
                if (differs && !all)
                    fail_msg("\"%s\", tags %s: byte %u of lane %u depends on uninitialised memory and "
                             "is not reported", ops[o].text, emu_tag_mode_names[modes[round]], i % 8,
                             i / 8);
                right += differs;
                useless += !differs && all;
            }
        }
        if (right == 0)
            fail_msg("\"%s\": no byte depends on uninitialised memory", ops[o].text);
        if (ops[o].exact && useless * 10 > right)
            fail_msg("\"%s\": %u reported bytes do not depend on uninitialised memory, and %u do",
                     ops[o].text, useless, right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_reported_does_not_depend_on_unwritten_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
