/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the rules of the machine (docs/reference/machine.md: splits, exec, faults, order) with whole kernels in
 * assembly. */
#include <inttypes.h>
#include <sys/resource.h>

#include "tests/emu/exec/emu_fixture.h"

static struct fix *open_run(const char *text, const struct emu_config *config, uint32_t grid,
                            uint32_t block)
{
    struct fix *f = fix_new(config->warp_width);

    f->config = *config;
    fix_load_grid(f, text, grid, block);
    return f;
}

static struct fix *run_text(const char *text, unsigned width, uint32_t grid, uint32_t block)
{
    struct fix *f = fix_new(width);

    fix_load_grid(f, text, grid, block);
    fix_go(f);
    return f;
}

/** Create a grid of one block on a new core with @ops, and start block 0. */
static struct fix *open_on_core(const char *text, uint32_t block, const struct emu_core_ops *ops,
                                void *context, struct emu_core **core, unsigned *slot)
{
    struct fix *f = fix_new(8);
    struct lw_error err;

    fix_load(f, text, block);
    fix_check(emu_core_create(f->machine, 1, ops, context, core, &err), &err);
    fix_check(emu_core_block_start(*core, emu_grid_current(f->machine), 0, slot, &err), &err);
    return f;
}

/* v8:9 = address of the thread's word in out; v0 = tid.x */
#define HEAD                                                                                  \
    ".kernel k\n.param ptr.global out\n.param u64 spare\n"                                    \
    "v_s2r v0, %tid.x\nv_mov_b64 v8:9, c[out]\nv_madwide_u32 v8:9, v0, 4, v8:9\n"
#define STORE(reg) "st.global.b32 [v8:9], " reg "\n"

static void expect_fault(const char *text, unsigned width, uint32_t block,
                         enum emu_fault_kind kind, uint64_t lanes)
{
    struct fix *r = run_text(text, width, 1, block);

    if (r->stop.kind != EMU_STOP_FAULT)
        fail_msg("stop %d instead of a fault", r->stop.kind);
    assert_string_equal(emu_fault_name(r->stop.fault.kind), emu_fault_name(kind));
    assert_int_equal(r->stop.fault.lanes, lanes);
    fix_free(r);
}

/* ---- exec and the scalar unit ------------------------------------------------------------ */

static void exec_masks_vector_writes_but_not_scalar_ones(void **state)
{
    struct fix *r = run_text(HEAD "v_mov_b32 v1, 7\n"
                                  "s_mov_b64 exec, 5\n"
                                  "v_mov_b32 v1, 9\n"
                                  "s_mov_b32 s0, 3\n"
                                  "s_mov_b64 exec, -1\n"
                                  "v_add_u32 v1, v1, s0\n" STORE("v1") "exit\n.end\n",
                             8, 1, 8);
    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    for (unsigned l = 0; l < 8; l++)
        assert_int_equal(r->word[l], l == 0 || l == 2 ? 12 : 10);
    fix_free(r);
}

static void exit_under_partial_exec_ends_only_the_active_lanes(void **state)
{
    struct fix *r = run_text(HEAD "s_mov_b64 exec, 0xf\n"
                                  "exit\n"
                                  "s_mov_b64 exec, -1\n"
                                  "v_mov_b32 v1, 1\n" STORE("v1") "exit\n.end\n",
                             8, 1, 8);
    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    for (unsigned l = 0; l < 8; l++)
        assert_int_equal(r->word[l], l >= 4);
    fix_free(r);
}

static void a_branch_with_no_active_lane_is_not_taken(void **state)
{
    struct fix *r = run_text(HEAD "s_mov_b64 exec, 0\n"
                                  "v_setp_u32.eq p0, v0, v0\n"
                                  "@p0 bra away\n"
                                  "s_mov_b64 exec, -1\n"
                                  "v_mov_b32 v1, 1\n" STORE("v1") "exit\n"
                                  "away: exit\n.end\n",
                             8, 1, 8);
    (void)state;
    assert_int_equal(r->word[3], 1);
    fix_free(r);
}

static void rules_of_exec_and_scalars_are_guest_faults(void **state)
{
    const char *split = HEAD "v_setp_u32.lt p0, v0, 3\n"
                             "@p0 bra low\n";
    char text[2000];

    (void)state;
    /* lanes 3..7 fall through; the policy rr then selects the split with the higher lowest lane */
    strcat(strcpy(text, split), "s_mov_b64 exec, 1\nexit\nlow: exit\n.end\n");
    expect_fault(text, 8, 8, EMU_FAULT_EXEC_WRITE, 0xf8);
    strcat(strcpy(text, split), "s_add_u32 s0, s0, 1\nexit\nlow: exit\n.end\n");
    expect_fault(text, 8, 8, EMU_FAULT_SCALAR_WRITE, 0xf8);
    expect_fault(HEAD "v_setp_u32.lt p0, v0, 3\ns_mov_b64 exec, 0x3f\n@p0 bra low\n"
                      "exit\nlow: exit\n.end\n",
                 8, 8, EMU_FAULT_EXEC_SPLIT, 0xff);
    expect_fault(HEAD "v_setp_u32.lt p0, v0, 3\ns_mov_b64 exec, 0x3f\n@p0 bar.sync 0\nexit\n.end\n",
                 8, 8, EMU_FAULT_EXEC_SPLIT, 0xf8);
}

static void allowed_scalar_writes_need_the_option(void **state)
{
    struct emu_config config;
    struct fix *r;

    (void)state;
    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    config.scalar_rule = EMU_SCALAR_ALLOW;
    r = open_run(HEAD "v_setp_u32.lt p0, v0, 3\n@p0 bra low\ns_mov_b32 s0, 5\nlow: exit\n.end\n",
                 &config, 1, 8);
    fix_go(r);
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    fix_free(r);
}

/* ---- other faults ------------------------------------------------------------------------- */

static void bad_barriers_and_masks_are_guest_faults(void **state)
{
    (void)state;
    expect_fault(HEAD "warpsync 0xe\nexit\n.end\n", 8, 8, EMU_FAULT_WARPSYNC_SELF, 0xf1);
    expect_fault(HEAD "v_mov_b32 v1, 4\nbar.sync 0, v1\nexit\n.end\n", 8, 8,
                 EMU_FAULT_BARRIER_COUNT, 0xff);
}

static void two_arrivals_of_a_lane_are_a_guest_fault(void **state)
{
    (void)state;
    /* two warps, so that the first arrival does not complete the barrier */
    struct fix *r = run_text(HEAD "v_setp_u32.ge p0, v0, 8\n@p0 bra wait\n"
                                  "bar.arrive 1\nbar.arrive 1\nexit\nwait: bar.sync 1\nexit\n.end\n",
                             8, 1, 16);
    assert_int_equal(r->stop.kind, EMU_STOP_FAULT);
    assert_int_equal(r->stop.fault.kind, EMU_FAULT_BARRIER_COUNT);
    assert_int_equal(r->stop.fault.lanes, 0xff);
    fix_free(r);
}

static void trap_and_wild_jumps_stop_with_location_and_lanes(void **state)
{
    struct fix *r;

    (void)state;
    expect_fault(HEAD "v_setp_u32.eq p0, v0, 5\n@p0 trap 3\nexit\n.end\n", 8, 8, EMU_FAULT_TRAP,
                 0x20);
    r = run_text(HEAD "v_mov_b64 v2:3, 0x123450\nbrx v2:3\nexit\n.end\n", 8, 1, 8);
    assert_int_equal(r->stop.kind, EMU_STOP_FAULT);
    assert_int_equal(r->stop.fault.kind, EMU_FAULT_BAD_PC);
    assert_int_equal(r->stop.fault.address, 0x123450);
    assert_int_equal(r->stop.fault.pc, ISA_CODE_BASE + 4 * 16);
    fix_free(r);
    r = run_text(HEAD "v_mov_b64 v2:3, 16\nv_add_u64 v2:3, v2:3, 16\ncallx v4:5, v2:3\nexit\n.end\n",
                 8, 1, 8);
    assert_int_equal(r->stop.fault.kind, EMU_FAULT_BAD_CALL);
    fix_free(r);
}

static void a_fault_leaves_everything_before_it_done_and_itself_undone(void **state)
{
    struct fix *r = run_text(HEAD "v_mov_b32 v1, 1\n" STORE("v1")
                             "v_mov_b32 v3, 0\nv_mov_b32 v2, 64\nld.global.b32 v1, [v2:3]\nexit\n.end\n",
                             8, 1, 8);
    struct emu_core *core;
    unsigned slot;
    uint64_t value;

    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_FAULT);
    assert_int_equal(r->stop.fault.kind, EMU_FAULT_NULL_PAGE);
    assert_int_equal(r->stop.fault.address, 64);
    assert_int_equal(r->word[7], 1);
    assert_true(r->engine->ops->locate(r->engine, 1, 0, &core, &slot));
    assert_true(emu_reg_read(core, slot, 0, ISA_REG_V, 1, 7, &value));
    assert_int_equal(value, 1);
    assert_int_equal(r->engine->ops->instructions(r->engine), 7);
    fix_free(r);
}

static void programs_that_leave_their_function_are_refused_at_load(void **state)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct isa_object *object;
    struct lw_error err;
    const char *text = ".kernel k\nv_mov_b32 v1, 1\n.end\n";

    (void)state;
    emu_config_default(&config);
    config.arena_bytes = 1 << 20;
    fix_check(emu_machine_create(&config, &machine, &err), &err);
    fix_check(isa_assemble("t.s", text, strlen(text), &object, &err), &err);
    assert_int_equal(emu_program_load(machine, object, &program, &err), LW_EFORMAT);
    assert_non_null(strstr(err.text, "t.s:2"));
    assert_non_null(strstr(err.text, "execution runs past the end of function"));
    isa_object_destroy(object);
    emu_machine_destroy(machine);
}

static void flow_never_falls_into_another_function(void **state)
{
    /* The code after the kernel is a function that uses more registers than the warp has, so it must not be executed. */
    static const char *const ends[] = {"exit", "trap 1", "ret v2:3", "brx v2:3", "bra k0"};
    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(ends); i++) {
        char text[600] = HEAD "k0: s_mov_b64 exec, 0\n";
        strcat(strcat(text, ends[i]), "\n.end\n.func big\ns_mov_b64 exec, -1\n"
                                      "v_mov_b32 v254, 1\nexit\n.end\n");
        struct fix *r = run_text(text, 8, 1, 8);
        assert_int_equal(r->stop.kind, EMU_STOP_FAULT);
        assert_int_equal(r->stop.fault.kind, EMU_FAULT_BAD_PC);
        fix_free(r);
    }
}

static void a_return_to_anywhere_finds_all_registers(void **state)
{
    struct fix *r = run_text(HEAD "v_mov_b32 v2, 0x60\nv_mov_b32 v3, 1\nret v2:3\n.end\n"
                                  ".kernel big\nv_mov_b32 v254, 7\nexit\n.end\n",
                             8, 1, 8);
    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    fix_free(r);
}

static void a_shuffle_without_a_mask_waits_for_the_whole_warp(void **state)
{
    /* lanes take a lock one by one, and the vote after the lock must see all of them */
    struct fix *r = run_text(
        HEAD ".shared 4\nv_mov_b32 v1, 0\n"
             "again: v_mov_b32 v2, 0\nv_mov_b32 v3, 1\n"
             "atom.shared.cas.b32 v4, [v1], v2, v3\n"
             "v_setp_u32.ne p0, v4, 0\nyield\n@p0 bra again\n"
             "st.shared.b32 [v1], v2\n"
             "v_setp_u32.eq p1, v0, v0\n"
             "vote.ballot.b32 v5, p1\n" STORE("v5") "exit\n.end\n",
        32, 1, 32);
    (void)state;
    if (r->stop.kind != EMU_STOP_IDLE)
        fail_msg("stop %d %s%s", r->stop.kind, r->stop.fault.detail, r->stop.hang.detail);
    for (unsigned l = 0; l < 32; l++)
        assert_int_equal(r->word[l], 0xffffffff);
    fix_free(r);
}

static void scalar_warnings_are_said_once(void **state)
{
    struct emu_config config;
    struct lw_buffer text;

    (void)state;
    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    config.scalar_rule = EMU_SCALAR_WARN;
    struct fix *r = open_run(HEAD "v_setp_u32.lt p0, v0, 3\n@p0 bra low\ns_mov_b32 s0, 5\n"
                                  "s_mov_b32 s1, 5\nlow: exit\n.end\n",
                             &config, 1, 8);
    lw_buffer_init(&text);
    emu_machine_set_print(r->machine, &text.sink);
    fix_go(r);
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    assert_non_null(strstr(text.text, "lanes 0xf8 of live lanes 0xff write a scalar register"));
    assert_ptr_equal(strstr(text.text, "warning"), text.text);
    assert_null(strstr(text.text + 1, "warning"));
    lw_buffer_fini(&text);
    fix_free(r);
}

/* ---- hangs ------------------------------------------------------------------------------------ */

static void a_convergence_deadlock_names_register_and_missing_lane(void **state)
{
    /* corner case 5 of the specification of the book on GPU architectures (docs/evidence/book-inventory.md): lane 3 leaves the
     * loop and is still a member of b1 */
    struct fix *r = run_text(HEAD "v_mov_b32 v2, 0\n"
                                  "bssy b0, out\n"
                                  "again: bssy b1, meet\n"
                                  "v_setp_u32.eq p0, v0, 3\n"
                                  "@p0 bra out\n"
                                  "v_add_u32 v3, v3, 1\n"
                                  "meet: bsync b1\n"
                                  "v_add_u32 v2, v2, 1\n"
                                  "v_setp_u32.lt p1, v2, 2\n"
                                  "@p1 bra again\n"
                                  "out: bsync b0\n"
                                  "exit\n.end\n",
                             4, 1, 4);
    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_HANG);
    assert_int_equal(r->stop.hang.kind, EMU_HANG_CONVERGENCE);
    assert_non_null(strstr(r->stop.hang.detail, "b1"));
    assert_non_null(strstr(r->stop.hang.detail, "lane 3"));
    fix_free(r);
}

static void a_partial_cta_barrier_is_a_deadlock(void **state)
{
    struct fix *r = run_text(HEAD "v_setp_u32.ge p0, v0, 8\n@p0 bra other\n"
                                  "bar.sync 0\nexit\nother: bar.sync 1\nexit\n.end\n",
                             8, 1, 16);
    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_HANG);
    assert_int_equal(r->stop.hang.kind, EMU_HANG_CTA_BARRIER);
    fix_free(r);
}

static void spinning_without_progress_is_a_live_lock(void **state)
{
    struct fix *r = run_text(HEAD "again: ld.global.b32.volatile v1, [v8:9]\n"
                                  "v_setp_u32.eq p0, v1, 0\n"
                                  "yield\n"
                                  "@p0 bra again\nexit\n.end\n",
                             8, 2, 8);
    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_HANG);
    assert_int_equal(r->stop.hang.kind, EMU_HANG_VALUE); /* no lane writes the value that the lanes wait for */
    fix_free(r);
}

static void expect_refused(const char *body, const char *why)
{
    char text[1200];
    struct isa_object *object;
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_config config;
    struct lw_error err = {0};

    snprintf(text, sizeof text, ".kernel k\n%s\n.end\n", body);
    fix_check(isa_assemble("k.s", text, strlen(text), &object, &err), &err);
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    assert_int_equal(emu_machine_create(&config, &machine, &err), LW_OK);
    assert_int_equal(emu_program_load(machine, object, &program, &err), LW_EFORMAT);
    assert_string_equal(err.text, why);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

static void a_branch_with_an_unjoined_barrier_is_refused_at_load(void **state)
{
    (void)state;
    expect_refused("bssy b0, j\n@p0 bra j, b1\nj: bsync b0\nexit",
                   "k.s:3: bra uses convergence barrier b1, but no bssy b1 reaches it: add a bssy before it, or remove b1");
    expect_refused("bssy b0, j\nj: bsync b0\n@p0 bra k, b0\nk: exit",
                   "k.s:4: bra uses convergence barrier b0, but no bssy b0 reaches it: add a bssy before it, or remove b0");
    expect_refused("bssy b2, j\n@p1 bra s\nbssy b2, k\ns: @p0 bra j, b2\nnop\nj: bsync b2\n"
                   "k: exit",
                   "k.s:5: bra uses convergence barrier b2, but several bssy b2 with different targets reach it: use one barrier for each target");
    /* an indirect branch reaches code that no other instruction reaches */
    expect_refused("bssy b3, j\nbbreak b3\nbrx v0:1\nnop\n@p0 bra j, b3\nj: bsync b3\nexit",
                   "k.s:6: bra uses convergence barrier b3, but no bssy b3 reaches it: add a bssy before it, or remove b3");
}

/* ---- calls, cross-lane ----------------------------------------------------------------------------- */

static void divergent_calls_run_each_callee_once_and_reconverge(void **state)
{
    struct fix *r = run_text(
        HEAD "v_and_b32 v1, v0, 1\n"
             "v_setp_u32.eq p0, v1, 0\n"
             "bssy b0, back\n"
             "@p0 bra first, b0\n"
             "call v2:3, odd\n"
             "bra back\n"
             "first: call v2:3, even\n"
             "back: bsync b0\n" STORE("v4") "exit\n.end\n"
             ".func odd\nv_mov_b32 v4, 11\nret v2:3\n.end\n"
             ".func even\nv_mov_b32 v4, 22\nret v2:3\n.end\n",
        4, 1, 4);
    (void)state;
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    for (unsigned l = 0; l < 4; l++)
        assert_int_equal(r->word[l], l % 2 ? 11 : 22);
    fix_free(r);
}

static void shuffles_and_votes_work_on_virtual_warps_of_32(void **state)
{
    static const char text[] =
        HEAD "v_mov_b32 v2, -1\n"
             "v_add_u32 v3, v0, 100\n"
             "shfl.bfly v4, _, v3, 1, 31, v2\n"
             "v_setp_u32.lt p1, v0, 3\n"
             "vote.ballot.b32 v5, p1, v2\n"
             "v_shl_b32 v5, v5, 16\n"
             "v_or_b32 v4, v4, v5\n" STORE("v4") "exit\n.end\n";
    (void)state;
    for (unsigned width = 32; width <= 64; width *= 2) {
        struct fix *r = run_text(text, width, 1, 64);
        if (r->stop.kind != EMU_STOP_IDLE)
            fail_msg("stop %d %s", r->stop.kind, r->stop.fault.detail);
        for (unsigned t = 0; t < 64; t++)
            assert_int_equal(r->word[t], (100 + (t ^ 1)) | (t < 32 ? 7u << 16 : 0));
        fix_free(r);
    }
}

/* ---- the event -------------------------------------------------------------------------------------- */

static void events_have_flow_memory_and_lanes(void **state)
{
    struct emu_config config;
    struct emu_event ev;
    struct lw_error err;
    struct fix *r;
    unsigned branches = 0, stores = 0, releases = 0, ends = 0;

    (void)state;
    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    r = open_run(HEAD "bssy b0, meet\n"
                      "v_setp_u32.lt p0, v0, 2\n"
                      "@p0 bra low, b0\n"
                      "v_mov_b32 v1, 5\n"
                      "low: @!p0 st.global.b32 [v8:9], v1\n"
                      "meet: bsync b0\nexit\n.end\n",
                 &config, 1, 8);
    for (;;) {
        fix_check(r->engine->ops->step(r->engine, &ev, &r->stop, &err), &err);
        if (r->stop.kind != EMU_STOP_STEPPED)
            break;
        assert_int_equal(ev.kind, EMU_EV_RETIRED);
        assert_int_equal(ev.effective, ev.split_lanes & ev.exec & ev.guard);
        uint64_t lanes = ev.exited;
        for (unsigned i = 0; i < ev.outcome_count; i++) {
            assert_int_equal(lanes & ev.outcomes[i].lanes, 0);
            lanes |= ev.outcomes[i].lanes;
        }
        assert_int_equal(lanes, ev.split_lanes); /* each lane takes one of the two sides of the branch */
        if (ev.insn->op == ISA_BRA) {
            branches++;
            assert_int_equal(ev.outcome_count, 2);
            assert_int_equal(ev.split_lanes, 0xff);
        }
        if (ev.insn->op == ISA_ST_GLOBAL && ev.effective != 0) {
            stores++;
            assert_int_equal(ev.effective, 0xfc);
            assert_int_equal(ev.access_count, 1);
            assert_int_equal(ev.access[0].bytes, 4);
            assert_true(ev.access[0].affine);
            assert_int_equal(ev.access[0].stride, 4);
            assert_int_equal(ev.access[0].address[7], r->out + 28);
            assert_true(ev.access[0].in_allocation);
            assert_string_equal(ev.access[0].allocation.name, "out");
            assert_int_equal(lw_get32(ev.access[0].old_value[7]), 0);
            assert_int_equal(lw_get32(ev.access[0].new_value[7]), 5);
        }
        if (ev.insn->op == ISA_BSYNC && ev.conv.released == 0xff)
            releases += ev.conv.why == EMU_RELEASE_ARRIVAL;
        if (ev.insn->op == ISA_V_MOV_B64) { /* the instruction reads a parameter */
            assert_int_equal(ev.access[0].kind, EMU_ACCESS_CONSTANT);
            assert_int_equal(ev.access[0].base, ISA_CONST_BASE);
            assert_int_equal(ev.access[0].bytes, 8);
        }
        ends += ev.grid_ended;
    }
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    assert_int_equal(branches, 1);
    assert_int_equal(stores, 1);
    assert_int_equal(releases, 1);
    assert_int_equal(ends, 1);
    fix_free(r);
}

static bool filter(struct emu_observer *observer, const struct emu_event *ev)
{
    (void)observer, (void)ev;
    return false;
}

static void the_fast_the_watched_and_the_stepped_run_end_in_the_same_state(void **state)
{
    static const char text[] =
        HEAD "v_s2r v10, %ctaid.x\n"
             "v_mad_u32 v1, v10, 37, v0\n"
             "v_and_b32 v2, v1, 7\n"
             "bssy b0, done\n"
             "loop: v_mad_u32 v3, v3, 5, v1\n"
             "red.global.add.u32 [v8:9], v3\n"
             "v_sub_u32 v2, v2, 1\n"
             "v_setp_s32.ge p0, v2, 0\n"
             "@p0 bra loop, b0\n"
             "done: bsync b0\n"
             "bar.sync 0\n"
             "v_s2r v4, %clock\n"
             "exit\n.end\n";
    uint64_t mem[3], full[3], count[3];

    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        struct emu_config config;
        struct emu_observer observer = {.on_event = filter};
        struct emu_event ev;
        struct lw_error err;
        emu_config_default(&config);
        config.warp_width = 8;
        config.arena_bytes = 1 << 24;
        config.resident_warps = 12;
        struct fix *r = open_run(text, &config, 9, 20);
        if (how == 1)
            emu_observer_add(r->engine, &observer);
        if (how < 2) {
            fix_go(r);
        } else {
            do
                fix_check(r->engine->ops->step(r->engine, &ev, &r->stop, &err), &err);
            while (r->stop.kind == EMU_STOP_STEPPED);
        }
        assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
        mem[how] = emu_hash_mem(r->machine);
        full[how] = emu_hash_state(r->machine);
        count[how] = r->engine->ops->instructions(r->engine);
        fix_free(r);
    }
    assert_int_equal(mem[0], mem[1]);
    assert_int_equal(mem[0], mem[2]);
    assert_int_equal(count[0], count[1]);
    assert_int_equal(count[0], count[2]);
    assert_int_equal(full[0], full[1]);
    assert_int_equal(full[0], full[2]);
}

static void the_warp_quantum_is_exact_in_straight_line_code(void **state)
{
    /* two warps; warp 0 records the block's count when its second time slice begins */
    char text[6000] = HEAD;
    struct fix *r;

    (void)state;
    for (unsigned i = 0; i < 61; i++) /* these and the 3 instructions before the loop fill a time slice */
        strcat(text, "v_add_u32 v1, v1, 1\n");
    strcat(text, "v_s2r v2, %clock\n" STORE("v2") "exit\n.end\n");
    r = run_text(text, 8, 1, 16);
    assert_int_equal(r->word[0], 128); /* 64 instructions of each of the two warps precede the read of the clock */
    assert_int_equal(r->word[8], 131); /* warp 1 executes after the last three instructions of warp 0 */
    fix_free(r);
}

static void breakpoints_stop_before_the_instruction_once_per_arrival(void **state)
{
    struct emu_config config;
    struct emu_event ev;
    struct lw_error err;
    struct fix *r;

    (void)state;
    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    r = open_run(HEAD "v_mov_b32 v1, 1\n" STORE("v1") "exit\n.end\n", &config, 1, 16);
    fix_check(emu_breakpoint_set(r->machine, ISA_CODE_BASE + 4 * 16, true, &err), &err);
    for (unsigned warp = 0; warp < 2; warp++) {
        fix_go(r);
        assert_int_equal(r->stop.kind, EMU_STOP_BREAK);
        assert_int_equal(r->stop.place.warp, warp);
        assert_int_equal(r->stop.place.pc, ISA_CODE_BASE + 4 * 16);
        assert_int_equal(r->stop.place.lanes, 0xff);
        assert_int_equal(r->word[8 * warp], 0);
        struct emu_thread_ref place = r->stop.place;
        fix_check(r->engine->ops->step_warp(r->engine, &place, &ev, &r->stop, &err), &err);
        assert_int_equal(r->stop.kind, EMU_STOP_STEPPED);
        assert_int_equal(ev.pc, ISA_CODE_BASE + 4 * 16);
    }
    fix_go(r);
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    assert_int_equal(r->word[15], 1);
    fix_free(r);
}

static void a_single_lane_can_be_stepped_ahead_of_its_split(void **state)
{
    struct emu_config config;
    struct emu_event ev;
    struct lw_error err;
    struct emu_core *core;
    struct emu_split_view view[4];
    unsigned slot;
    struct fix *r;

    (void)state;
    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    r = open_run(HEAD "v_mov_b32 v1, 1\n" STORE("v1") "exit\n.end\n", &config, 1, 8);
    assert_true(r->engine->ops->locate(r->engine, 1, 0, &core, &slot));
    fix_check(emu_warp_step(core, slot, 0, 0, UINT64_C(1) << 5, &ev, &err), &err);
    assert_int_equal(ev.split_lanes, 1 << 5);
    assert_int_equal(emu_split_views(core, slot, 0, view, 4), 2);
    assert_int_equal(view[0].pc, ISA_CODE_BASE);
    assert_int_equal(view[0].lanes, 0xdf);
    assert_int_equal(view[1].pc, ISA_CODE_BASE + 16);
    fix_go(r);
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
    for (unsigned l = 0; l < 8; l++)
        assert_int_equal(r->word[l], 1);
    fix_free(r);
}

/** A step gives the same state whether the event has only addresses or full detail. A breakpoint at the instruction
 *  does not stop the step. */
static void a_warp_is_stepped_by_its_state(void **state)
{
    struct emu_config config;
    struct lw_error err;

    (void)state;
    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    for (unsigned told = 0; told < 2; told++) {
        struct emu_event ev;
        struct emu_core *core;
        unsigned slot, steps = 0;
        uint64_t access = 0;
        struct fix *r = open_run(HEAD "v_mov_b32 v1, 3\n" STORE("v1") "exit\n.end\n", &config, 1, 8);

        assert_true(r->engine->ops->locate(r->engine, 1, 0, &core, &slot));
        emu_core_set_event_detail(core, told == 0 ? EMU_EVENT_ADDRESSES : EMU_EVENT_FULL);
        assert_false(emu_breakpoint_any(r->machine));
        fix_check(emu_breakpoint_set(r->machine, ISA_CODE_BASE, true, &err), &err);
        assert_true(emu_breakpoint_any(r->machine));
        do {
            fix_check(emu_warp_step_at(emu_warp_state(core, slot, 0), 0, 0xff, &ev, &err), &err);
            assert_int_equal(ev.kind, EMU_EV_RETIRED);
            assert_int_equal(ev.pc, ISA_CODE_BASE + ISA_WORD_BYTES * steps);
            assert_int_equal(ev.effective, 0xff);
            if (ev.access_count != 0 && ev.access[0].kind == EMU_ACCESS_STORE)
                access = told == 0 ? ev.access[0].piece[0].base : ev.access[0].address[0];
            steps++;
        } while (!ev.warp_ended);
        assert_int_equal(access, r->out);
        fix_check(emu_breakpoint_set(r->machine, ISA_CODE_BASE, false, &err), &err);
        assert_false(emu_breakpoint_any(r->machine));
        fix_check(emu_global_read(r->machine, r->out, r->word, 32, &err), &err);
        for (unsigned l = 0; l < 8; l++)
            assert_int_equal(r->word[l], 3);
        fix_free(r);
    }
}

struct skipper {
    unsigned faults;
    uint64_t lanes;
    unsigned patience; /* number of faults to skip before the run stops; 0: skip all faults */
};
static bool skip_and_give_7(void *context, const struct emu_fault *fault, uint32_t *read_value)
{
    struct skipper *s = context;

    s->faults++;
    s->lanes |= fault->lanes;
    *read_value = 7;
    return s->patience == 0 || s->faults <= s->patience;
}

static void an_engine_that_stops_after_skipping_leaves_the_instruction_undone(void **state)
{
    struct skipper skipper = {.patience = 1};
    struct emu_core_ops ops = {.skip_fault = skip_and_give_7};
    struct emu_core *core;
    struct emu_event ev;
    struct lw_error err;
    uint64_t value;
    unsigned slot;
    int split;

    (void)state;
    /* the first load faults in odd lanes, which skip it; the second load stops the run */
    struct fix *r = open_on_core(HEAD "v_mov_b32 v5, 1\nv_and_b32 v1, v0, 1\nv_setp_u32.eq p0, v1, 1\n"
                             "v_mov_b64 v6:7, v8:9\n@p0 v_mov_b64 v6:7, 64\n"
                             "ld.global.b32 v4, [v6:7]\nld.global.b32 v5, [v6:7]\nexit\n.end\n",
                             8, &ops, &skipper, &core, &slot);
    do {
        split = emu_warp_select(core, slot, 0);
        fix_check(emu_warp_step(core, slot, 0, (unsigned)split, 0xff, &ev, &err), &err);
    } while (ev.kind == EMU_EV_RETIRED && !ev.block_ended);
    assert_int_equal(ev.kind, EMU_EV_FAULT);
    assert_int_equal(ev.effective, 0xff);
    for (unsigned l = 0; l < 8; l++) {
        assert_true(emu_reg_read(core, slot, 0, ISA_REG_V, 4, l, &value));
        assert_int_equal(value, l % 2 ? 7 : 0);
        assert_true(emu_reg_read(core, slot, 0, ISA_REG_V, 5, l, &value));
        assert_int_equal(value, 1);
    }
    skipper.patience = 0; /* execution continues for all lanes, and the warp has one split */
    fix_check(emu_warp_step(core, slot, 0, (unsigned)split, 0xff, &ev, &err), &err);
    assert_int_equal(ev.kind, EMU_EV_RETIRED);
    assert_int_equal(ev.effective, 0xff);
    fix_free(r);
}

static void an_engine_may_skip_the_lanes_that_fault(void **state)
{
    struct skipper skipper = {0};
    struct emu_core_ops ops = {.skip_fault = skip_and_give_7};
    struct emu_core *core;
    struct emu_event ev;
    struct lw_error err;
    unsigned slot;
    int split;

    (void)state;
    /* odd lanes read and write the null page */
    struct fix *r = open_on_core(HEAD "v_mov_b32 v4, 5\n" STORE("v4")
                             "v_and_b32 v1, v0, 1\nv_setp_u32.eq p0, v1, 1\n"
                             "v_mov_b64 v6:7, v8:9\n@p0 v_mov_b64 v6:7, 64\n"
                             "ld.global.b32 v5, [v6:7]\nst.global.b32 [v6:7], v5\n"
                             "v_add_u32 v5, v5, 1\n" STORE("v5") "exit\n.end\n",
                             8, &ops, &skipper, &core, &slot);
    while ((split = emu_warp_select(core, slot, 0)) >= 0) {
        struct emu_split_view view[8];
        unsigned n = emu_split_views(core, slot, 0, view, 8);
        for (unsigned i = 0; i < n; i++)
            if (view[i].id == (unsigned)split)
                fix_check(emu_warp_step(core, slot, 0, (unsigned)split, view[i].lanes, &ev, &err), &err);
        assert_int_equal(ev.kind, EMU_EV_RETIRED);
    }
    assert_true(ev.block_ended);
    assert_int_equal(skipper.faults, 2);
    assert_int_equal(skipper.lanes, 0xaa);
    fix_check(emu_global_read(r->machine, r->out, r->word, 32, &err), &err);
    for (unsigned l = 0; l < 8; l++)
        assert_int_equal(r->word[l], l % 2 ? 8 : 6);
    fix_free(r);
}

struct diary {
    struct emu_machine_listener base;
    unsigned count[EMU_MACHINE_HOST_WRITE + 1];
    uint64_t freed;
};
static void note(struct emu_machine_listener *listener, const struct emu_machine_event *life)
{
    struct diary *d = (struct diary *)listener;

    d->count[life->kind]++;
    if (life->kind == EMU_MACHINE_FREE)
        d->freed = life->address;
}

static void listeners_hear_of_launches_allocations_and_host_copies(void **state)
{
    struct diary diary = {.base = {.on_machine_event = note}};
    struct emu_config config;
    struct lw_error err;
    uint64_t address;

    (void)state;
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    struct fix *r = open_run(HEAD "exit\n.end\n", &config, 1, 8);
    emu_machine_add_listener(r->machine, &diary.base);
    fix_check(emu_alloc(r->machine, 100, "b", 0, &address, &err), &err);
    fix_check(emu_global_write(r->machine, address, r->word, 100, &err), &err);
    fix_check(emu_free(r->machine, address, &err), &err);
    assert_int_equal(diary.freed, address);
    struct emu_launch launch = {.program = r->program, .kernel = &r->object->functions[0],
                                .grid = {1, 1, 1}, .block = {8, 1, 1}};
    fix_check(emu_grid_launch(r->machine, &launch, NULL, &err), &err);
    emu_machine_remove_listener(r->machine, &diary.base);
    fix_go(r); /* a read that no observer receives */
    assert_int_equal(diary.count[EMU_MACHINE_ALLOC], 1);
    assert_int_equal(diary.count[EMU_MACHINE_HOST_WRITE], 1);
    assert_int_equal(diary.count[EMU_MACHINE_FREE], 1);
    assert_int_equal(diary.count[EMU_MACHINE_LAUNCH], 1);
    assert_int_equal(diary.count[EMU_MACHINE_HOST_READ], 0);
    fix_free(r);
}

static void two_machines_run_side_by_side(void **state)
{
    static const char text[] = HEAD "v_mul_u32 v1, v0, 3\n" STORE("v1") "exit\n.end\n";
    struct emu_config config;
    struct lw_error err;
    struct emu_event ev;
    struct fix *r[2];

    (void)state;
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    for (unsigned i = 0; i < 2; i++) {
        config.warp_width = i ? 64 : 8;
        r[i] = open_run(text, &config, 1, 64);
    }
    for (unsigned k = 0; k < 20; k++) /* interleaved */
        fix_check(r[k % 2]->engine->ops->step(r[k % 2]->engine, &ev, &r[k % 2]->stop, &err), &err);
    for (unsigned i = 0; i < 2; i++) {
        fix_go(r[i]);
        for (unsigned t = 0; t < 64; t++)
            assert_int_equal(r[i]->word[t], 3 * t);
    }
    assert_int_equal(emu_hash_mem(r[0]->machine), emu_hash_mem(r[1]->machine));
    for (unsigned i = 0; i < 2; i++)
        fix_free(r[i]);
}

static void the_order_analysis_tells_what_can_be_observed(void **state)
{
    static const struct { const char *insn; bool block_free, free; } rows[] = {
        {"red.global.add.u32 [v8:9], v0", true, true},
        {"red.global.add.f32 [v8:9], v0", false, false},
        {"atom.global.add.u32 v1, [v8:9], v0", false, false},
        {"atom.shared.add.u32 v1, [v0], v0", true, false},
        {"v_s2r v1, %clock", true, false},
        {"v_s2r v1, %smid", false, false},
        {"ld.global.b32.volatile v1, [v8:9]", false, false},
        {"ld.global.b32 v1, [v8:9]", true, true},
    };
    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        char text[600];
        struct emu_config config;
        emu_config_default(&config);
        config.arena_bytes = 1 << 24;
        strcat(strcat(strcpy(text, HEAD ".shared 256\n"), rows[i].insn), "\nexit\n.end\n");
        struct fix *r = open_run(text, &config, 1, 8);
        if (emu_kernel_block_order_free(r->program, &r->object->functions[0]) !=
                rows[i].block_free ||
            (emu_kernel_order(r->program, &r->object->functions[0])->worst == ISA_ORDER_NONE) !=
                rows[i].free)
            fail_msg("%s", rows[i].insn);
        fix_free(r);
    }
}

static long pages_touched(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt;
}

static void slots_without_a_block_are_not_touched(void **state)
{
    enum { SLOTS = 1 << 17, PAGES = SLOTS / 64 }; /* all allocations together have about 16 times as many pages */
    struct emu_core *core;
    struct emu_stats stats;
    struct lw_error err;
    unsigned slot;

    (void)state;
    struct fix *f = fix_new(8);
    fix_load(f, HEAD "exit\n.end\n", 8);
    long before = pages_touched();
    fix_check(emu_core_create(f->machine, SLOTS, NULL, NULL, &core, &err), &err);
    fix_check(emu_core_block_start(core, emu_grid_current(f->machine), 0, &slot, &err), &err);
    emu_stats_get(f->machine, &stats);
    (void)emu_hash_state(f->machine);
    emu_core_destroy(core);
    assert_in_range(pages_touched() - before, 0, PAGES);
    fix_free(f);
}

static void limits_of_a_launch_have_messages(void **state)
{
    struct emu_config config;
    struct lw_error err;
    struct fix *r;

    (void)state;
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    r = open_run(HEAD "exit\n.end\n", &config, 1, 8);
    struct emu_launch launch = {.program = r->program, .kernel = &r->object->functions[0],
                                .grid = {1, 1, 1}, .block = {1025, 1, 1}};
    assert_int_equal(emu_grid_launch(r->machine, &launch, NULL, &err), LW_ERANGE);
    assert_string_equal(err.text, "kernel k: the block size 1025 is too large: a block has at most 1024 threads");
    launch.block[0] = 0;
    assert_int_equal(emu_grid_launch(r->machine, &launch, NULL, &err), LW_ERANGE);
    config.warp_width = 12;
    assert_int_equal(emu_machine_create(&config, &r->machine, &err), LW_ERANGE);
    config.warp_width = 32;
    config.policy = "minpcs";
    struct emu_machine *unused;
    assert_int_equal(emu_machine_create(&config, &unused, &err), LW_ERANGE);
    assert_non_null(strstr(err.text, "did you mean 'minpc'"));
    fix_free(r);
}

static void at_3_of_80(void *context, unsigned slot, unsigned warp, struct emu_hw_ids *ids)
{
    *(struct emu_hw_ids *)context = *ids; /* the function gets the default ids, which it replaces */
    ids->smid = 3;
    ids->nsmid = 80;
    ids->warpid = 10 * slot + warp + 7;
    ids->nwarpid = 64;
}

static void the_engine_says_where_a_warp_runs(void **state)
{
    static const unsigned want[] = {3, 80, 8, 64};
    struct emu_core_ops ops = {.hw_ids = at_3_of_80};
    struct emu_hw_ids defaults;
    struct emu_core *core;
    struct emu_event ev;
    struct lw_error err;
    uint64_t value;
    unsigned slot;

    (void)state;
    struct fix *r = open_on_core(HEAD "v_s2r v1, %smid\nv_s2r v2, %nsmid\nv_s2r v3, %warpid\n"
                                  "v_s2r v4, %nwarpid\nexit\n.end\n",
                             24, &ops, &defaults, &core, &slot);
    do {
        int split = emu_warp_select(core, slot, 1);
        fix_check(emu_warp_step(core, slot, 1, (unsigned)split, 0xff, &ev, &err), &err);
    } while (ev.kind == EMU_EV_RETIRED && !ev.warp_ended);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(emu_reg_read(core, slot, 1, ISA_REG_V, 1 + i, 5, &value));
        assert_int_equal(value, want[i]);
    }
    assert_int_equal(defaults.smid, 0);
    assert_int_equal(defaults.nsmid, 2); /* the engine's own core, and the core of this test */
    assert_int_equal(defaults.warpid, 1);
    assert_int_equal(defaults.nwarpid, 3);
    fix_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_says_where_a_warp_runs),
        cmocka_unit_test(exec_masks_vector_writes_but_not_scalar_ones),
        cmocka_unit_test(exit_under_partial_exec_ends_only_the_active_lanes),
        cmocka_unit_test(a_branch_with_no_active_lane_is_not_taken),
        cmocka_unit_test(rules_of_exec_and_scalars_are_guest_faults),
        cmocka_unit_test(allowed_scalar_writes_need_the_option),
        cmocka_unit_test(bad_barriers_and_masks_are_guest_faults),
        cmocka_unit_test(two_arrivals_of_a_lane_are_a_guest_fault),
        cmocka_unit_test(trap_and_wild_jumps_stop_with_location_and_lanes),
        cmocka_unit_test(a_fault_leaves_everything_before_it_done_and_itself_undone),
        cmocka_unit_test(programs_that_leave_their_function_are_refused_at_load),
        cmocka_unit_test(flow_never_falls_into_another_function),
        cmocka_unit_test(a_return_to_anywhere_finds_all_registers),
        cmocka_unit_test(a_shuffle_without_a_mask_waits_for_the_whole_warp),
        cmocka_unit_test(scalar_warnings_are_said_once),
        cmocka_unit_test(a_convergence_deadlock_names_register_and_missing_lane),
        cmocka_unit_test(a_partial_cta_barrier_is_a_deadlock),
        cmocka_unit_test(spinning_without_progress_is_a_live_lock),
        cmocka_unit_test(a_branch_with_an_unjoined_barrier_is_refused_at_load),
        cmocka_unit_test(divergent_calls_run_each_callee_once_and_reconverge),
        cmocka_unit_test(shuffles_and_votes_work_on_virtual_warps_of_32),
        cmocka_unit_test(events_have_flow_memory_and_lanes),
        cmocka_unit_test(the_fast_the_watched_and_the_stepped_run_end_in_the_same_state),
        cmocka_unit_test(the_warp_quantum_is_exact_in_straight_line_code),
        cmocka_unit_test(breakpoints_stop_before_the_instruction_once_per_arrival),
        cmocka_unit_test(a_single_lane_can_be_stepped_ahead_of_its_split),
        cmocka_unit_test(a_warp_is_stepped_by_its_state),
        cmocka_unit_test(an_engine_may_skip_the_lanes_that_fault),
        cmocka_unit_test(an_engine_that_stops_after_skipping_leaves_the_instruction_undone),
        cmocka_unit_test(listeners_hear_of_launches_allocations_and_host_copies),
        cmocka_unit_test(two_machines_run_side_by_side),
        cmocka_unit_test(the_order_analysis_tells_what_can_be_observed),
        cmocka_unit_test(limits_of_a_launch_have_messages),
        cmocka_unit_test(slots_without_a_block_are_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
