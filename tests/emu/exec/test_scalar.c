/* SPDX-License-Identifier: Apache-2.0 */
/* Tests exec, the scalar unit, and control flow by exec and by branches: results, and a guest fault for each violated rule. */
#include "tests/emu/exec/emu_fixture.h"

/* Lanes 0..2 branch to join under b0; the other lanes fall through to the instruction under test. */
#define SPLIT                                                                              \
    "v_setp_u32.lt p0, v0, 3\nv_mov_b32 v4, 1\nbssy b0, join\n@p0 bra join, b0\n"
#define JOIN "join: bsync b0\n" FIX_STORE("v4") "exit\n.end\n"

/* Expect a fault of @insn under each policy. The policies select different sides first, and only one side executes @insn. */
static void expect_fault_in_split(const char *insn, enum emu_fault_kind kind,
                                  enum emu_scalar_rule rule)
{
    static const char *const policies[] = { "rr_quantum", "minpc", "stack_like" };

    for (size_t i = 0; i < LW_COUNT_OF(policies); i++) {
        struct fix *f = fix_new(8);
        char text[600];

        f->config.scalar_rule = rule;
        f->config.policy = policies[i];
        snprintf(text, sizeof text, "%s%s\n%s", FIX_HEAD SPLIT, insn, JOIN);
        fix_load(f, text, 8);
        fix_go(f);
        fix_expect_fault(f, kind, 0xf8, insn);
        fix_free(f);
    }
}

static const char *const scalar_writers[] = {
    "s_mov_b32 s4, 1",           "s_add_u64 s4:5, s4:5, 1",   "s_mad_u32 s4, s4, s5, s6",
    "s_setp_u32.eq sp0, s4, 0",  "s_setp_u64.ne sp0, s4:5, 0", "s_cselect_b32 s4, s5, s6, sp1",
    "s_s2r s4, %warpid",         "s_s2r_b64 s4:5, %clock64",  "s_ballot s4:5, p0",
    "s_vote_any sp0, p0",        "s_vote_all sp0, p0",        "s_r2sp s4",
    "s_sp2r s4",                 "v_readfirstlane_b32 s4, v0", "v_readlane_b32 s4, v0, 1",
    "v_writelane_b32 v4, s4, 1", "s_ld.const.b32 s4, c[0][0]", "s_popc_b64 s4, s6:7",
};
static const char *const exec_writers[] = {
    "s_mov_b64 exec, 1",           "s_mov_b32 exec_lo, 1",      "s_mov_b32 exec_hi, 0",
    "s_and_b64 exec, exec, 7",     "s_not_b64 exec, exec",      "s_ballot exec, p0",
    "s_ld.const.b64 exec, c[0][0]", "v_readlane_b32 exec_lo, v0, 1",
    "v_readfirstlane_b32 exec_hi, v0", "s_add_u32 exec_lo, sz, 7", "s_s2r_b64 exec, %clock64",
    "s_cselect_b64 exec, s4:5, s6:7, sp0", "s_popc_b64 exec_lo, s4:5", "s_sp2r exec_lo",
    "s_mad_u32 exec_lo, s4, s5, s6",
};

static void a_scalar_write_by_a_part_of_the_warp_is_a_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(scalar_writers); i++)
        expect_fault_in_split(scalar_writers[i], EMU_FAULT_SCALAR_WRITE, EMU_SCALAR_FAULT);
}

static void a_write_to_exec_by_a_part_of_the_warp_is_a_fault_under_every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(exec_writers); i++) {
        expect_fault_in_split(exec_writers[i], EMU_FAULT_EXEC_WRITE, EMU_SCALAR_FAULT);
        expect_fault_in_split(exec_writers[i], EMU_FAULT_EXEC_WRITE, EMU_SCALAR_WARN);
        expect_fault_in_split(exec_writers[i], EMU_FAULT_EXEC_WRITE, EMU_SCALAR_ALLOW);
    }
}

static void scalar_writes_by_a_part_run_where_they_are_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(scalar_writers); i++) {
        struct fix *f = fix_new(8);
        char text[600];

        f->config.scalar_rule = i % 2 ? EMU_SCALAR_WARN : EMU_SCALAR_ALLOW;
        snprintf(text, sizeof text, "%s%s\n%s", FIX_HEAD SPLIT, scalar_writers[i], JOIN);
        fix_load(f, text, 8);
        fix_go(f);
        if (f->stop.kind != EMU_STOP_IDLE)
            fail_msg("%s: stop %d", scalar_writers[i], f->stop.kind);
        fix_free(f);
    }
}

static void the_warning_about_scalar_writes_names_lanes_and_location(void **state)
{
    struct fix *f = fix_new(8);
    struct lw_buffer said;

    (void)state;
    lw_buffer_init(&said);
    f->config.scalar_rule = EMU_SCALAR_WARN;
    fix_load(f, FIX_HEAD SPLIT "s_mov_b32 s4, 5\ns_mov_b32 s5, 6\nv_mov_b32 v4, s4\n" JOIN, 8);
    emu_machine_set_print(f->machine, &said.sink);
    fix_go(f);
    fix_expect_words(f, (const uint32_t[]){ 1, 1, 1, 5, 5, 5, 5, 5 }, 8);
    assert_string_equal(said.text,
                        "warning: only lanes 0xf8 of live lanes 0xff write a scalar register, block 0 "
                        "warp 0, pc 0x100000070 (reported once)\n");
    lw_buffer_fini(&said);
    fix_free(f);
}

static void lanes_that_have_exited_do_not_count_as_missing(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "v_setp_u32.lt p0, v0, 3\n@p0 exit\n"
                                     "s_mov_b32 s4, 5\ns_mov_b64 exec, 0x30\n"
                                     "v_mov_b32 v4, s4\ns_mov_b64 exec, -1\n"
                                     FIX_STORE("v4") "exit\n.end\n", 8, 8);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 0, 0, 0, 0, 5, 5, 0, 0 }, 8);
    fix_free(f);
}

static void lanes_never_launched_do_not_count_as_missing(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "s_mov_b32 s4, 5\ns_mov_b64 exec, 0x3\n"
                                     "v_setp_u32.eq p0, v0, 1\ns_mov_b64 exec, 0x1f\n"
                                     "bssy b0, join\n@p0 bra join, b0\nv_mov_b32 v4, s4\n" JOIN,
                            8, 5);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 5, 0, 5, 5, 5 }, 5);
    fix_free(f);
}

/* ---- instructions that would split the warp under partial exec ------------------------------- */

static void what_would_part_the_lanes_under_partial_exec_is_a_fault(void **state)
{
    static const struct {
        const char *before, *insn, *behind;
        uint64_t lanes;
    } rows[] = {
        { "", "@p0 bra", " join", 0xff },
        { "", "@!p0 bra", " join", 0xff },
        { "v_mov_b32 v2, lo(a)\nv_mov_b32 v3, hi(a)\n@p0 v_mov_b32 v2, lo(b)\n", "brx v2:3", "",
          0xff },
        { "v_mov_b32 v2, lo(a)\nv_mov_b32 v3, hi(a)\n@p0 v_mov_b32 v2, lo(b)\n",
          "callx v6:7, v2:3", "", 0xff },
        { "v_mov_b32 v2, lo(a)\nv_mov_b32 v3, hi(a)\n@p0 v_mov_b32 v2, lo(b)\n", "ret v2:3", "",
          0xff },
        { "", "@p0 call v6:7,", " a", 0xff },
        { "bssy b1, join\n", "@p0 bsync b1", "", 0xf8 },
        { "", "@p0 bssy b1,", " join", 0xf8 },
        { "bssy b1, join\n", "@p0 bbreak b1", "", 0xf8 },
        { "", "@p0 yield", "", 0xf8 },
        { "", "@p0 warpsync 255", "", 0xf8 },
        { "", "@p0 bar.sync 0", "", 0xf8 },
        { "", "@p0 bar.arrive 0", "", 0xf8 },
        { "", "@p0 bar.red.popc v4, 0", "", 0xf8 },
        { "", "@p0 nanosleep 5", "", 0xf8 },
        { "", "@p0 shfl.idx v4, v0, 0, 31", "", 0xf8 },
        { "", "@p0 vote.any p1, p0", "", 0xf8 },
        { "", "@p0 match.any.b32 v4, v0", "", 0xf8 },
        { "", "@p0 redux.add.u32 v4, v0", "", 0xf8 },
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        char text[800];

        snprintf(text, sizeof text,
                 "%sv_setp_u32.lt p0, v0, 3\n%ss_mov_b64 exec, 0x3f\n%s%s\nnop\n"
                 "join: bsync b0\nexit\n.end\n"
                 ".func a\nret v6:7\n.end\n.func b\nret v6:7\n.end\n",
                 FIX_HEAD, rows[i].before, rows[i].insn, rows[i].behind);
        struct fix *f = fix_run(text, 8, 8);
        fix_expect_fault(f, EMU_FAULT_EXEC_SPLIT, rows[i].lanes, rows[i].insn);
        fix_free(f);
    }
}

static void the_same_instructions_run_where_exec_covers_the_live_lanes(void **state)
{
    static const char *const rows[] = {
        "bssy b0, join\n@p0 bra join, b0\nv_mov_b32 v4, 1\n",
        "bssy b1, join\n@p0 bbreak b1\n", "@p0 bssy b1, join\n", "@p0 yield\n",
        "@p0 nanosleep 5\n", "@p0 bar.arrive 1\n",
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        char text[600]; /* lanes 6 and 7 have exited, so exec need not cover them */

        snprintf(text, sizeof text,
                 "%sv_setp_u32.lt p0, v0, 3\nv_setp_u32.ge p1, v0, 6\n@p1 exit\n"
                 "s_mov_b64 exec, 0x3f\n%sjoin: bsync.soft b0\nexit\n.end\n", FIX_HEAD, rows[i]);
        struct fix *f = fix_run(text, 8, 8);
        fix_expect_words(f, (const uint32_t[]){ 0 }, 1);
        fix_free(f);
    }
}

static void a_branch_that_active_lanes_agree_on_takes_the_others_along(void **state)
{
    /* exec has lanes 0..3. p0 is true in lanes 0..5, so all active lanes branch. p1 is true in lanes 4..7, so no
     * active lane branches */
    struct fix *f = fix_run(FIX_HEAD "v_setp_u32.lt p0, v0, 6\nv_setp_u32.ge p1, v0, 4\n"
                                     "v_mov_b32 v4, 1\ns_mov_b64 exec, 0xf\n"
                                     "@p0 bra there\n"
                                     "s_mov_b64 exec, -1\nv_add_u32 v4, v4, 100\nbra out\n"
                                     "there: @p1 bra wrong\n"
                                     "s_mov_b64 exec, -1\nv_add_u32 v4, v4, 1\n"
                                     "out: " FIX_STORE("v4") "exit\n"
                                     "wrong: s_mov_b64 exec, -1\nv_mov_b32 v4, 9\nbra out\n.end\n",
                            8, 8);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 2, 2, 2, 2, 2, 2, 2, 2 }, 8);
    fix_free(f);
}

static void a_call_that_active_lanes_agree_on_takes_the_others_along_and_back(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "v_mov_b32 v4, 1\nv_mov_b32 v2, lo(f)\nv_mov_b32 v3, hi(f)\n"
                                     "v_setp_u32.lt p0, v0, 4\n@!p0 v_mov_b64 v2:3, 0\n"
                                     "s_mov_b64 exec, 0xf\ncallx v6:7, v2:3\n"
                                     "s_mov_b64 exec, -1\n" FIX_STORE("v4") "exit\n.end\n"
                                     ".func f\nv_add_u32 v4, v4, 1\ns_mov_b64 exec, -1\n"
                                     "v_add_u32 v4, v4, 10\nret v6:7\n.end\n",
                            8, 8);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 12, 12, 12, 12, 11, 11, 11, 11 }, 8);
    fix_free(f);
}

static void an_exit_under_partial_exec_ends_active_lanes_with_a_true_guard(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "v_mov_b32 v4, 1\nv_setp_u32.lt p0, v0, 2\n"
                                     "v_setp_u32.eq p1, v0, 7\n@p1 v_setp_u32.eq p0, v0, 7\n"
                                     FIX_STORE("v4") "s_mov_b64 exec, 0xf\n@p0 exit\n"
                                     "s_mov_b64 exec, -1\nv_mov_b32 v4, 2\n" FIX_STORE("v4")
                                     "s_mov_b64 exec, 0\nexit\ns_mov_b64 exec, -1\n"
                                     "v_mov_b32 v4, 3\n@p0 " FIX_STORE("v4") "exit\n.end\n",
                            8, 8);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 1, 1, 2, 2, 2, 2, 2, 3 }, 8);
    fix_free(f);
}

static void a_guard_by_scalar_predicate_never_parts_the_lanes(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "v_mov_b32 v4, 1\ns_setp_u32.eq sp1, sz, 0\n"
                                     "s_mov_b64 exec, 0xf\n@sp1 bssy b1, out\n@!sp1 bar.sync 3\n"
                                     "@sp1 bar.sync 0\n@sp1 yield\n@sp1 bra over\n"
                                     "v_mov_b32 v4, 9\nover: @sp1 v_add_u32 v4, v4, 1\n"
                                     "@!sp1 v_add_u32 v4, v4, 32\ns_mov_b64 exec, -1\n"
                                     "@sp1 bsync b1\nout: " FIX_STORE("v4") "exit\n.end\n",
                            8, 8);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 2, 2, 2, 2, 1, 1, 1, 1 }, 8);
    fix_free(f);
}

/* ---- exec ----------------------------------------------------------------------------------- */

static void exec_is_all_ones_at_launch_and_a_pair_like_any_other(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "s_mov_b64 s4:5, exec\ns_not_b64 s6:7, s4:5\n"
                                     "s_setp_u64.eq sp0, s6:7, 0\nv_mov_b32 v4, 0\n"
                                     "@sp0 v_mov_b32 v4, 1\n"
                                     "s_and_b64 exec, exec, 0x5a\nv_add_u32 v4, v4, exec_lo\n"
                                     "s_mov_b64 s8:9, exec\ns_mov_b64 exec, s4:5\n"
                                     "v_add_u32 v4, v4, s8\nv_add_u32 v4, v4, exec_hi\n"
                                     FIX_STORE("v4") "exit\n.end\n",
                            8, 8);
    (void)state;
    for (unsigned t = 0; t < 8; t++)
        assert_int_equal(f->word[t], 1 + (0x5a >> t & 1 ? 0x5a : 0) + 0x5a - 1);
    fix_free(f);
}

static void the_upper_half_of_exec_masks_lanes_32_to_63(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "v_mov_b32 v4, 1\ns_mov_b32 exec_lo, 0\n"
                                     "s_mov_b32 exec_hi, 0x80000001\nv_mov_b32 v4, 2\n"
                                     "s_mov_b64 exec, -1\n" FIX_STORE("v4") "exit\n.end\n",
                            64, 64);
    (void)state;
    for (unsigned t = 0; t < 64; t++)
        assert_int_equal(f->word[t], t == 32 || t == 63 ? 2 : 1);
    fix_free(f);
}

static void with_no_lane_active_everything_but_scalars_is_a_no_op(void **state)
{
    struct fix *f = fix_run(FIX_HEAD ".local 16\n.shared 16\n"
                                     "v_mov_b32 v4, 1\ns_mov_b32 s4, 1\ns_mov_b64 exec, 0\n"
                                     "v_mov_b32 v4, 2\nst.global.b32 [vz:vz], v4\n"
                                     "ld.local.b32 v4, [v0+4096]\nv_setp_u32.eq p1, v0, v0\n"
                                     "atom.global.add.u32 v4, [vz:vz], v4\ntrap 1\nexit\n"
                                     "st.shared.b64 [v0+8191], v4:5\ns_add_u32 s4, s4, 6\n"
                                     "shfl.idx v4, v0, 3, 31\nredux.add.u32 v4, v0\n"
                                     "brx v12:13\ncallx v6:7, v12:13\nret v12:13\n"
                                     "s_mov_b64 exec, -1\n@p1 v_mov_b32 v4, 99\n"
                                     "v_add_u32 v4, v4, s4\n" FIX_STORE("v4") "exit\n.end\n",
                            8, 8);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 8, 8, 8, 8, 8, 8, 8, 8 }, 8);
    fix_free(f);
}

static void save_exec_else_and_restore_work_as_in_gcn(void **state)
{
    /* if (tid < 3) v4 = 1; else v4 = 2, nested in an outer mask without lanes 0 and 7 */
    struct fix *f = fix_run(FIX_HEAD "v_mov_b32 v4, 0\ns_mov_b64 exec, 0x7e\n"
                                     "v_setp_u32.lt p0, v0, 3\ns_ballot s6:7, p0\n"
                                     "s_mov_b64 s4:5, exec\ns_and_b64 exec, s6:7, exec\n"
                                     "v_mov_b32 v4, 1\n"
                                     "s_andn2_b64 exec, s4:5, exec\nv_mov_b32 v4, 2\n"
                                     "s_mov_b64 exec, s4:5\nv_add_u32 v4, v4, 10\n"
                                     "s_mov_b64 exec, -1\n" FIX_STORE("v4") "exit\n.end\n",
                            8, 8);
    (void)state;
    fix_expect_words(f, (const uint32_t[]){ 0, 11, 11, 12, 12, 12, 12, 0 }, 8);
    fix_free(f);
}

static void both_styles_may_alternate_in_one_program(void **state)
{
    static const unsigned widths[] = { 4, 8, 16, 32, 64 };
    const char *text = FIX_HEAD
        "v_mov_b32 v4, 0\n"
        /* this part is in GCN style: the warp has one split */
        "v_and_b32 v1, v0, 1\nv_setp_u32.eq p0, v1, 0\ns_ballot s6:7, p0\n"
        "s_mov_b64 s4:5, exec\ns_and_b64 exec, s6:7, exec\nv_add_u32 v4, v4, 1\n"
        "s_mov_b64 exec, s4:5\n"
        /* this part is in SASS style: exec has all lanes */
        "v_and_b32 v1, v0, 2\nv_setp_u32.ne p0, v1, 0\nbssy b0, join\n@p0 bra join, b0\n"
        "v_add_u32 v4, v4, 10\njoin: bsync b0\n"
        /* this part is in GCN style again */
        "v_and_b32 v1, v0, 4\nv_setp_u32.ne p0, v1, 0\ns_ballot s6:7, p0\n"
        "s_and_b64 exec, s6:7, exec\nv_add_u32 v4, v4, 100\ns_mov_b64 exec, s4:5\n"
        FIX_STORE("v4") "exit\n.end\n";

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(widths); i++) {
        struct fix *f = fix_run(text, widths[i], 75);
        uint32_t expected[75];

        for (unsigned t = 0; t < 75; t++)
            expected[t] = (t & 1 ? 0 : 1) + (t & 2 ? 0 : 10) + (t & 4 ? 100 : 0);
        fix_expect_words(f, expected, 75);
        fix_free(f);
    }
}

/* ---- steps and events --------------------------------------------------------------------------- */

struct watch {
    struct emu_observer observer;
    unsigned loads, bytes;
    uint64_t lanes, address;
    enum isa_space space;
};

static bool see(struct emu_observer *observer, const struct emu_event *ev)
{
    struct watch *w = (struct watch *)observer;

    if (ev->insn->op != ISA_S_LD_GLOBAL && ev->insn->op != ISA_S_LD_CONST)
        return false;
    w->loads++;
    assert_int_equal(ev->access_count, 1);
    w->lanes = ev->access[0].lanes;
    w->bytes = ev->access[0].bytes;
    w->space = ev->access[0].space;
    if (w->lanes != 0)
        w->address = ev->access[0].address[0];
    return false;
}

static void a_scalar_load_is_reported_as_one_access(void **state)
{
    static const struct {
        const char *text;
        uint64_t lanes, offset;
        enum isa_space space;
        unsigned bytes;
    } rows[] = {
        { "s_ld.global.b64 s6:7, [s4:5+s10+8]\n", 1, 24, ISA_SPACE_GLOBAL, 8 },
        { "s_ld.const.b32 s6, c[0][4]\n", 1, 4, ISA_SPACE_CONST, 4 },
        { "s_mov_b64 exec, 0\ns_ld.global.v4.b32 s12:15, [s4:5]\n", 1, 0, ISA_SPACE_GLOBAL, 16 },
        { "@sp3 s_ld.const.b32 s6, c[7][4]\n", 0, 0, ISA_SPACE_GENERIC, 4 },
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        struct fix *f = fix_new(8);
        struct watch watch = { .observer = { .on_event = see } };
        char text[400];

        snprintf(text, sizeof text,
                 "%ss_ld.const.b64 s4:5, c[out]\ns_mov_b32 s10, 16\n%s"
                 "s_mov_b64 exec, -1\nexit\n.end\n", FIX_HEAD, rows[i].text);
        fix_load(f, text, 8);
        emu_observer_add(f->engine, &watch.observer);
        fix_go(f);
        assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
        assert_int_equal(watch.loads, 2);
        assert_int_equal(watch.lanes, rows[i].lanes);
        assert_int_equal(watch.bytes, rows[i].bytes);
        if (rows[i].lanes != 0) {
            assert_int_equal(watch.space, rows[i].space);
            assert_int_equal(watch.address, rows[i].offset + (rows[i].space == ISA_SPACE_CONST
                                                                  ? ISA_CONST_BASE
                                                                  : f->out));
        }
        fix_free(f);
    }
}

static void scalar_loads_that_fault_say_where_in_one_message(void **state)
{
    struct fix *f = fix_run(FIX_HEAD "s_ld.const.b64 s4:5, c[out]\n"
                                     "s_ld.global.b64 s6:7, [s4:5+4092]\nexit\n.end\n", 8, 5);
    struct lw_buffer text;

    (void)state;
    fix_expect_fault(f, EMU_FAULT_MISALIGNED, 0x1f, "s_ld.global.b64 s6:7");
    assert_int_equal(f->stop.fault.address, f->out + 4092);
    assert_int_equal(f->stop.fault.bytes, 8);
    fix_free(f);
    f = fix_run(FIX_HEAD "s_ld.const.b64 s4:5, c[out]\n"
                         "s_ld.global.v4.b32 s8:11, [s4:5+4096]\nexit\n.end\n", 8, 8);
    fix_expect_fault(f, EMU_FAULT_OUT_OF_BOUNDS, 0xff, "s_ld.global.v4.b32 s8:11");
    lw_buffer_init(&text);
    emu_fault_print(f->machine, &f->stop.fault, &text.sink);
    assert_non_null(strstr(text.text, "'out' (4096 bytes"));
    lw_buffer_fini(&text);
    fix_free(f);
}

/** Step whole splits until the next instruction is @op. */
static void step_to(struct fix *f, struct emu_core *core, unsigned slot, enum isa_op op)
{
    struct emu_event ev;
    struct lw_error err;

    for (unsigned guard = 0; guard < 50; guard++) {
        struct emu_split_view view;
        int id = emu_warp_select(core, slot, 0);

        assert_true(id >= 0);
        assert_int_equal(emu_split_views(core, slot, 0, &view, 1), 1);
        if (emu_program_insn(f->program, view.pc)->op == op)
            return;
        fix_check(emu_warp_step(core, slot, 0, (unsigned)id, view.lanes, &ev, &err), &err);
    }
    fail_msg("the warp does not reach the instruction");
}

static void a_step_of_some_lanes_waits_for_the_others_at_scalar_rows_and_under_partial_exec(
    void **state)
{
    static const enum isa_op ops[] = { ISA_S_MAD_U32, ISA_S_LD_CONST, ISA_V_WRITELANE_B32,
                                       ISA_V_MUL_U32 };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(ops); i++) {
        struct fix *f = fix_new(8);
        struct emu_split_view views[2];
        struct emu_core *core;
        struct emu_event ev;
        struct lw_error err;
        unsigned slot;

        fix_load(f, FIX_HEAD "v_add_u32 v1, v0, 1\ns_mad_u32 s4, s5, s6, s7\n"
                             "s_ld.const.b32 s4, c[0][0]\nv_writelane_b32 v1, s4, 2\n"
                             "s_mov_b64 exec, 0x3c\nv_mul_u32 v1, v1, 3\n"
                             "s_mov_b64 exec, -1\nexit\n.end\n", 8);
        assert_true(f->engine->ops->locate(f->engine, 1, 0, &core, &slot));
        step_to(f, core, slot, ops[i]);
        assert_int_equal(emu_split_views(core, slot, 0, views, 2), 1);
        assert_int_equal(emu_warp_step(core, slot, 0, views[0].id, 0x30, &ev, &err), LW_EAGAIN);
        assert_int_equal(emu_split_views(core, slot, 0, views, 2), 2);
        unsigned rest = views[0].lanes == 0x30;
        fix_check(emu_warp_step(core, slot, 0, views[rest].id, 0xcf, &ev, &err), &err);
        assert_int_equal(ev.kind, EMU_EV_RETIRED);
        assert_int_equal(ev.insn->op, ops[i]);
        assert_int_equal(ev.split_lanes, 0xff);
        fix_go(f);
        assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
        fix_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scalar_write_by_a_part_of_the_warp_is_a_fault),
        cmocka_unit_test(a_write_to_exec_by_a_part_of_the_warp_is_a_fault_under_every_rule),
        cmocka_unit_test(scalar_writes_by_a_part_run_where_they_are_allowed),
        cmocka_unit_test(the_warning_about_scalar_writes_names_lanes_and_location),
        cmocka_unit_test(lanes_that_have_exited_do_not_count_as_missing),
        cmocka_unit_test(lanes_never_launched_do_not_count_as_missing),
        cmocka_unit_test(what_would_part_the_lanes_under_partial_exec_is_a_fault),
        cmocka_unit_test(the_same_instructions_run_where_exec_covers_the_live_lanes),
        cmocka_unit_test(a_branch_that_active_lanes_agree_on_takes_the_others_along),
        cmocka_unit_test(a_call_that_active_lanes_agree_on_takes_the_others_along_and_back),
        cmocka_unit_test(an_exit_under_partial_exec_ends_active_lanes_with_a_true_guard),
        cmocka_unit_test(a_guard_by_scalar_predicate_never_parts_the_lanes),
        cmocka_unit_test(exec_is_all_ones_at_launch_and_a_pair_like_any_other),
        cmocka_unit_test(the_upper_half_of_exec_masks_lanes_32_to_63),
        cmocka_unit_test(with_no_lane_active_everything_but_scalars_is_a_no_op),
        cmocka_unit_test(save_exec_else_and_restore_work_as_in_gcn),
        cmocka_unit_test(both_styles_may_alternate_in_one_program),
        cmocka_unit_test(a_scalar_load_is_reported_as_one_access),
        cmocka_unit_test(scalar_loads_that_fault_say_where_in_one_message),
        cmocka_unit_test(
            a_step_of_some_lanes_waits_for_the_others_at_scalar_rows_and_under_partial_exec),
    };
    return cmocka_run_group_tests_name("scalar", tests, NULL, NULL);
}
