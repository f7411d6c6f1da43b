/* SPDX-License-Identifier: Apache-2.0 */
/* Tests schedule logs: the replay of a recorded run reaches the same state. */
#include <inttypes.h>

#include "tests/emu/history/random_kernels.h"

#include "emu/log/emu_log_priv.h"

static const char path[] = "test_replay.log";

/** Create the machine that belongs to @seed, and attach the log before any other operation. */
static void open_recorded(struct fix *fix, struct emu_log **log, uint64_t seed, struct rnd *r)
{
    struct emu_config config;
    struct lw_buffer text;
    struct lw_error err;

    r->state = seed;
    random_config(r, &config);
    random_kernel(r, &text);
    memset(fix, 0, sizeof *fix);
    fix_check(emu_machine_create(&config, &fix->machine, &err), &err);
    if (log != NULL && *log == NULL) {
        fix_check(emu_log_create(fix->machine, log, &err), &err);
    } else if (log != NULL) {
        char *data;
        size_t size;
        fix_check(lw_file_read(path, &data, &size, &err), &err);
        *log = NULL;
        fix_check(emu_log_open(fix->machine, path, data, size, log, &err), &err);
        free(data);
    }
    fix_check(isa_assemble("test.s", text.text, text.size, &fix->object, &err), &err);
    fix_check(emu_program_load(fix->machine, fix->object, &fix->program, &err), &err);
    fix_check(emu_alloc(fix->machine, FIX_BYTES, "out", 0, &fix->out, &err), &err);
    if ((*log)->mode == EMU_LOG_RECORD)
        fix_check(emu_engine_functional_create(fix->machine, &fix->engine, &err), &err);
    else
        fix_check(emu_engine_replay_create(fix->machine, &fix->engine, &err), &err);
    lw_buffer_fini(&text);
}

/** Run all queued grids to their end. */
static enum emu_stop_kind run_out(struct fix *fix)
{
    struct emu_stop stop;
    struct lw_error err;

    fix_check(fix->engine->ops->run(fix->engine, &stop, &err), &err);
    return stop.kind;
}

struct outcome {
    uint64_t hash, retired;
    enum emu_stop_kind kind;
};

/** Run the session that belongs to @seed and record it to the file. With @replay replay the file instead; only the host's
 *  steps are then executed. The session ends after @operations operations of the debugger, perhaps in the middle of the
 *  run. */
static struct outcome session(uint64_t seed, bool replay, unsigned operations, bool to_the_end)
{
    struct emu_log *log = replay ? (struct emu_log *)(uintptr_t)1 : NULL;
    struct outcome out = {.kind = EMU_STOP_IDLE};
    struct rnd r, host = {.state = seed ^ 77}, user = {.state = seed ^ 99};
    unsigned launch = 0;
    struct fix fix;
    struct lw_error err;

    open_recorded(&fix, &log, seed, &r);
    while (random_host(&fix, &host, &launch, 3)) {
        while (!replay && operations != 0) {
            struct emu_stop stop = random_operation(&fix, &user, true);
            operations--;
            if (emu_grid_current(fix.machine) == NULL || stop.kind == EMU_STOP_FAULT ||
                stop.kind == EMU_STOP_HANG)
                break;
        }
        if (operations == 0 && !to_the_end && !replay)
            break;
        out.kind = run_out(&fix);
        if (out.kind != EMU_STOP_IDLE)
            break;
        if (replay && !to_the_end && !emu_log_in_history(log))
            break;
    }
    out.hash = emu_hash_state(fix.machine);
    out.retired = fix.engine->ops->instructions(fix.engine);
    if (!replay) {
        fix_check(emu_log_save(log, path, &err), &err);
    } else if (to_the_end) {
        fix_check(emu_log_finish(log, &err), &err);
    }
    fix_close(&fix);
    emu_log_destroy(log);
    return out;
}

static void a_random_session_is_replayed_to_the_same_state(void **state)
{
    unsigned count = getenv("LW_LONG") != NULL ? 4000 : fix_usual(60), ended = 0;

    (void)state;
    for (uint64_t seed = fix_first_seed(); seed <= count; seed++) {
        fix_seed = seed;
        struct outcome first = session(seed, false, seed % 4 == 0 ? 0 : 40, true);
        struct outcome again = session(seed, true, 0, true);
        if (first.hash != again.hash || first.retired != again.retired ||
            first.kind != again.kind)
            fail_msg("seed %" PRIu64 ": %" PRIu64 " instructions, replayed %" PRIu64
                     ", stops %d %d, hash %" PRIx64 " %" PRIx64,
                     seed, first.retired, again.retired, first.kind, again.kind, first.hash,
                     again.hash);
        ended += first.kind == EMU_STOP_IDLE;
    }
    assert_true(ended > count / 2);
}

/** Replay in parts: by runs of some instructions, steps, and runs with an observer or with breakpoints everywhere. No
 *  part may change the replayed run. */
static uint64_t replay_in_pieces(uint64_t seed)
{
    struct emu_log *log = (struct emu_log *)(uintptr_t)1;
    struct rnd r, host = {.state = seed ^ 77};
    unsigned launch = 0;
    struct fix fix;
    uint64_t hash;

    open_recorded(&fix, &log, seed, &r);
    while (random_host(&fix, &host, &launch, 3)) {
        enum emu_stop_kind kind = EMU_STOP_NONE;
        while (kind != EMU_STOP_IDLE && kind != EMU_STOP_FAULT && kind != EMU_STOP_HANG) {
            struct emu_stop stop;
            struct emu_event ev;
            struct lw_error err;
            unsigned how = rnd_below(&r, 4);
            uint64_t pc = ISA_CODE_BASE + ISA_WORD_BYTES * rnd_below(&r, fix.program->count);
            if (how == 0) {
                fix_check(fix.engine->ops->step(fix.engine, &ev, &stop, &err), &err);
                kind = stop.kind;
            } else if (how == 1) {
                fix_check(emu_breakpoint_set(fix.machine, pc, true, &err), &err);
                fix_check(fix.engine->ops->run(fix.engine, &stop, &err), &err);
                fix_check(emu_breakpoint_set(fix.machine, pc, false, &err), &err);
                kind = stop.kind;
            } else if (how == 2) {
                kind = fix_run(&fix, fix.engine->ops->instructions(fix.engine) +
                                         rnd_below(&r, 200));
            } else if (emu_log_in_history(log)) {
                /* a step of a lane follows the log, so other lanes may run before the lane does */
                struct emu_thread_ref place;
                struct emu_core *core;
                unsigned slot;
                uint64_t was = fix.engine->ops->instructions(fix.engine);
                if (was + 300 < log->retired && random_location(&fix, &r, &place, &core, &slot)) {
                    fix_check(fix.engine->ops->step_warp(fix.engine, &place, &ev, &stop, &err),
                              &err);
                    if (stop.kind == EMU_STOP_STEPPED && emu_log_in_history(log)) {
                        assert_int_equal(ev.warp, place.warp);
                        assert_int_equal(ev.block, place.block);
                        assert_int_not_equal(ev.split_lanes & place.lanes, 0);
                    }
                }
            }
        }
        if (kind != EMU_STOP_IDLE)
            break;
    }
    hash = emu_hash_state(fix.machine);
    fix_close(&fix);
    emu_log_destroy(log);
    return hash;
}

static void a_replay_may_be_cut_stepped_and_watched(void **state)
{
    unsigned count = getenv("LW_LONG") != NULL ? 2000 : fix_usual(40);

    (void)state;
    for (uint64_t seed = fix_first_seed(); seed <= count; seed++) {
        fix_seed = seed;
        struct outcome first = session(seed, false, 40, true);
        uint64_t again = replay_in_pieces(seed);
        if (first.kind == EMU_STOP_IDLE && again != first.hash)
            fail_msg("seed %" PRIu64 " differs", seed);
    }
}

/* ---- another engine ------------------------------------------------------------------------ */

struct answers {
    struct rnd r;
};
static uint64_t any_clock(void *context, unsigned slot, unsigned warp)
{
    struct answers *a = context;

    return rnd_next(&a->r) + slot + warp;
}
static uint64_t any_timer(void *context)
{
    return any_clock(context, 0, 0);
}
static void any_location(void *context, unsigned slot, unsigned warp, struct emu_hw_ids *ids)
{
    struct answers *a = context;

    (void)slot, (void)warp;
    ids->smid = rnd_below(&a->r, 80);
    ids->nsmid = 80;
    ids->warpid = rnd_below(&a->r, 64);
    ids->nwarpid = 64;
}
static uint64_t any_sleep(void *context, uint32_t nanoseconds)
{
    struct answers *a = context;

    return nanoseconds + rnd_below(&a->r, 50);
}
static bool any_skip(void *context, const struct emu_fault *fault, uint32_t *value)
{
    struct answers *a = context;

    (void)fault;
    *value = (uint32_t)rnd_next(&a->r);
    return true;
}

/** Find a random launch, by the host or a kernel, that has a block that may start. */
static struct emu_grid *any_grid(struct emu_machine *machine, struct rnd *r)
{
    struct emu_grid *first = emu_grid_current(machine), *found = NULL;
    unsigned count = 0;

    for (struct emu_grid *g = first; g != NULL; g = g->next)
        if (g->stream_prev == NULL && g->blocks_placed < g->block_count &&
            (g == first || g->parent.grid != 0) && rnd_below(r, ++count) == 0)
            found = g;
    return found;
}

/** Execute in the way of a timing model: start blocks on any core in any order, step splits and parts of splits in any
 *  order, and give non-deterministic inputs. Return false if no warp can continue. */
static bool run_wildly(struct fix *fix, struct rnd *r, struct emu_core **cores, unsigned core_count)
{
    uint64_t held = 0, idle = 0;

    while (emu_grid_current(fix->machine) != NULL || held != 0) {
        struct emu_core *core = cores[rnd_below(r, core_count)];
        struct emu_split_view splits[EMU_MAX_LANES];
        struct emu_event ev;
        struct lw_error err;
        unsigned slot;
        if (rnd_below(r, 20) == 0) {
            struct emu_grid *grid = any_grid(fix->machine, r);
            if (grid != NULL && emu_core_block_start(core, grid, grid->blocks_placed, &slot,
                                                     &err) == LW_OK) {
                grid->blocks_placed++;
                held++;
            }
            continue;
        }
        slot = rnd_below(r, core->slots);
        struct emu_block *block = emu_core_block(core, slot);
        if (block == NULL)
            continue;
        if (block->warps_live == 0) {
            emu_core_block_free(core, slot);
            held--;
            continue;
        }
        unsigned warp = rnd_below(r, block->warp_count);
        if (rnd_below(r, 3) == 0)
            (void)emu_warp_select(core, slot, warp);
        unsigned count = emu_split_views(core, slot, warp, splits, EMU_MAX_LANES);
        if (count == 0)
            continue;
        struct emu_split_view *s = &splits[rnd_below(r, count)];
        uint64_t lanes = s->lanes;
        if (rnd_below(r, 10) == 0)
            lanes &= rnd_next(r);
        if (lanes == 0)
            continue;
        enum lw_status status = emu_warp_step(core, slot, warp, s->id, lanes, &ev, &err);
        if (status == LW_OK && ev.kind == EMU_EV_FAULT)
            return false;
        idle = status == LW_OK ? 0 : idle + 1;
        if (idle > 100000)
            return false;
    }
    return true;
}

static void what_another_engine_ran_is_replayed(void **state)
{
    unsigned count = getenv("LW_LONG") != NULL ? 1000 : fix_usual(30), whole = 0;

    (void)state;
    for (uint64_t seed = fix_first_seed(); seed <= count; seed++) {
        struct emu_core_ops ops = {any_clock, any_timer, any_location, any_sleep, any_skip};
        struct emu_core *cores[3];
        struct answers answers[3] = {{{seed}}, {{seed + 1}}, {{seed + 2}}};
        struct emu_config config;
        struct emu_log *log = NULL;
        struct lw_error err;
        struct rnd r = {.state = seed};
        struct lw_buffer text;
        struct fix fix;
        uint64_t hash, retired;
        char *data;
        size_t size;

        fix_seed = seed;
        random_config(&r, &config);
        config.resident_warps = 64;
        random_kernel(&r, &text);
        memset(&fix, 0, sizeof fix);
        fix_check(emu_machine_create(&config, &fix.machine, &err), &err);
        fix_check(emu_log_create(fix.machine, &log, &err), &err);
        fix_check(isa_assemble("test.s", text.text, text.size, &fix.object, &err), &err);
        fix_check(emu_program_load(fix.machine, fix.object, &fix.program, &err), &err);
        fix_check(emu_alloc(fix.machine, FIX_BYTES, "out", 0, &fix.out, &err), &err);
        for (unsigned i = 0; i < 3; i++)
            fix_check(emu_core_create(fix.machine, 2 + i, &ops, &answers[i], &cores[i], &err),
                      &err);
        bool ended = true;
        for (unsigned launch = 0; launch < 2 && ended; launch++) {
            fix_launch(&fix, 1 + rnd_below(&r, 6), 1 + rnd_below(&r, 100), seed);
            ended = run_wildly(&fix, &r, cores, 3);
        }
        hash = emu_hash_state(fix.machine);
        retired = emu_machine_retired(fix.machine);
        fix_check(emu_log_save(log, path, &err), &err);
        emu_machine_destroy(fix.machine);
        isa_object_destroy(fix.object);
        emu_log_destroy(log);
        if (!ended) {
            lw_buffer_fini(&text);
            continue;
        }
        whole++;
        r.state = seed;
        random_config(&r, &config);
        config.resident_warps = 64;
        lw_buffer_fini(&text);
        random_kernel(&r, &text);
        fix_check(lw_file_read(path, &data, &size, &err), &err);
        fix_check(emu_machine_create(&config, &fix.machine, &err), &err);
        fix_check(emu_log_open(fix.machine, path, data, size, &log, &err), &err);
        free(data);
        fix_check(isa_assemble("test.s", text.text, text.size, &fix.object, &err), &err);
        fix_check(emu_program_load(fix.machine, fix.object, &fix.program, &err), &err);
        fix_check(emu_alloc(fix.machine, FIX_BYTES, "out", 0, &fix.out, &err), &err);
        fix_check(emu_engine_replay_create(fix.machine, &fix.engine, &err), &err);
        while (emu_log_in_history(log)) {
            struct emu_log_entry e;
            struct emu_log_cursor behind;
            struct emu_launch launch;
            bool bad;
            /* the sizes of the launches were random, so the test takes them from the log */
            assert_true(emu_log_peek(log, &log->cursor, &e, &behind, &bad));
            assert_int_equal(e.kind, EMU_LOG_LAUNCH);
            assert_true(emu_log_launch_read(fix.machine, e.bytes, (size_t)e.size, &launch));
            fix_launch(&fix, launch.grid[0], launch.block[0], seed);
            assert_int_equal(run_out(&fix), EMU_STOP_IDLE);
        }
        fix_check(emu_log_finish(log, &err), &err);
        assert_string_equal(fix.engine->ops->name, "replay");
        assert_int_equal(emu_machine_retired(fix.machine), retired);
        if (emu_hash_state(fix.machine) != hash)
            fail_msg("seed %" PRIu64 " differs", seed);
        fix_close(&fix);
        emu_log_destroy(log);
        lw_buffer_fini(&text);
    }
    assert_true(whole > count / 2);
}

/* ---- logs that do not match the run -------------------------------------------------------------- */

static const char adder[] = ".kernel k\n.param ptr.global out\n.param u64 number\n"
                            "v_s2r v0, %tid.x\nv_mov_b64 v4:5, c[out]\n"
                            "v_madwide_u32 v4:5, v0, 4, v4:5\n"
                            "ld.global.b32 v1, [v4:5]\nv_add_u32 v1, v1, 1\n"
                            "st.global.b32 [v4:5], v1\nexit\n.end\n";

struct variant {
    const char *text;
    unsigned width, launches, block, data;
    uint64_t number;
    const char *policy;
};

/** Record a run of @v, or with @replay replay it. Return the first error message, or "" if there is none. */
static const char *plain(const struct variant *v, bool replay, struct lw_error *err)
{
    struct emu_log *log = NULL;
    struct emu_config config;
    struct fix fix = {0};
    enum lw_status status;
    struct emu_stop stop;
    char *data = NULL;
    size_t size = 0;
    uint32_t word = v->data;

    err->text[0] = '\0';
    emu_config_default(&config);
    config.warp_width = v->width;
    config.policy = v->policy;
    config.arena_bytes = 1 << 24;
    status = emu_machine_create(&config, &fix.machine, err);
    if (status == LW_OK && replay)
        status = lw_file_read(path, &data, &size, err);
    if (status == LW_OK)
        status = replay ? emu_log_open(fix.machine, path, data, size, &log, err)
                        : emu_log_create(fix.machine, &log, err);
    if (status == LW_OK)
        status = isa_assemble("test.s", v->text, strlen(v->text), &fix.object, err);
    if (status == LW_OK)
        status = emu_program_load(fix.machine, fix.object, &fix.program, err);
    if (status == LW_OK)
        status = emu_alloc(fix.machine, FIX_BYTES, "numbers", 0, &fix.out, err);
    if (status == LW_OK)
        status = emu_global_write(fix.machine, fix.out, &word, sizeof word, err);
    if (status == LW_OK)
        status = replay ? emu_engine_replay_create(fix.machine, &fix.engine, err)
                        : emu_engine_functional_create(fix.machine, &fix.engine, err);
    for (unsigned i = 0; i < v->launches && status == LW_OK; i++) {
        uint64_t params[2] = {fix.out, v->number};
        struct emu_launch launch = {.program = fix.program, .kernel = &fix.object->functions[0],
                                    .grid = {3, 1, 1}, .block = {v->block, 1, 1},
                                    .work_dim = 1, .params = params};
        status = emu_grid_launch(fix.machine, &launch, NULL, err);
        if (status == LW_OK)
            status = fix.engine->ops->run(fix.engine, &stop, err);
    }
    if (status == LW_OK)
        status = replay ? emu_log_finish(log, err) : emu_log_save(log, path, err);
    emu_engine_destroy(fix.engine);
    emu_machine_destroy(fix.machine);
    isa_object_destroy(fix.object);
    emu_log_destroy(log);
    free(data);
    return status != LW_OK ? err->text : "";
}

static void a_log_that_does_not_fit_has_a_message(void **state)
{
    const struct variant good = {adder, 32, 2, 40, 5, 9, "rr_quantum"};
    char other[sizeof adder];
    struct {
        struct variant v;
        const char *says;
    } bad[] = {
        {good, ""},
        {{other, 32, 2, 40, 5, 9, "rr_quantum"}, "another program"},
        {{adder, 16, 2, 40, 5, 9, "rr_quantum"}, "option warp=32, but in this run the option is 16"},
        {{adder, 32, 2, 40, 5, 9, "minpc"}, "option policy=rr_quantum, but in this run the option is minpc"},
        {{adder, 32, 2, 40, 6, 9, "rr_quantum"}, "the host writes other data to numbers than in the log"},
        {{adder, 32, 2, 41, 5, 9, "rr_quantum"}, "the log and this run launch kernel k with different sizes or arguments"},
        {{adder, 32, 2, 40, 5, 10, "rr_quantum"}, "different sizes or arguments"},
        {{adder, 32, 1, 40, 5, 9, "rr_quantum"}, "the run ends at instruction"},
        {{adder, 32, 3, 40, 5, 9, "rr_quantum"}, "the run ends at instruction"},
    };
    struct lw_error err;

    (void)state;
    memcpy(other, adder, sizeof adder);
    memcpy(strstr(other, "v1, 1\n"), "v1, 2\n", 6);
    assert_string_equal(plain(&good, false, &err), "");
    for (unsigned i = 0; i < LW_COUNT_OF(bad); i++) {
        const char *text = plain(&bad[i].v, true, &err);
        if (bad[i].says[0] == '\0' ? text[0] != '\0'
                                   : strstr(text, bad[i].says) == NULL ||
                                         strstr(text, path) == NULL)
            fail_msg("expected '%s', found '%s'", bad[i].says, text);
    }
}

static void a_plain_run_is_a_few_bytes(void **state)
{
    const struct variant v = {adder, 8, 50, 1000, 5, 9, "rr_quantum"};
    struct lw_error err;
    char *data;
    size_t size;

    (void)state;
    assert_string_equal(plain(&v, false, &err), "");
    fix_check(lw_file_read(path, &data, &size, &err), &err);
    assert_true(size < 50 * 64 + 400); /* for each launch its arguments and one run of instructions */
    free(data);
}

/** Record or replay a run of @text, and return how it ended. */
static struct emu_stop end_of(const char *text, bool replay, uint64_t *retired)
{
    struct emu_log *log = NULL;
    struct emu_config config;
    struct emu_stop stop;
    struct lw_error err;
    struct fix fix = {0};
    char *data = NULL;
    size_t size = 0;

    emu_config_default(&config);
    config.warp_width = 8;
    config.arena_bytes = 1 << 24;
    config.hang_window = 3000;
    config.resident_warps = 6;
    fix_check(emu_machine_create(&config, &fix.machine, &err), &err);
    if (replay)
        fix_check(lw_file_read(path, &data, &size, &err), &err);
    fix_check(replay ? emu_log_open(fix.machine, path, data, size, &log, &err)
                     : emu_log_create(fix.machine, &log, &err), &err);
    free(data);
    fix_check(isa_assemble("test.s", text, strlen(text), &fix.object, &err), &err);
    fix_check(emu_program_load(fix.machine, fix.object, &fix.program, &err), &err);
    fix_check(emu_alloc(fix.machine, FIX_BYTES, "out", 0, &fix.out, &err), &err);
    fix_check(replay ? emu_engine_replay_create(fix.machine, &fix.engine, &err)
                     : emu_engine_functional_create(fix.machine, &fix.engine, &err), &err);
    fix_launch(&fix, 3, 24, 0);
    fix_check(fix.engine->ops->run(fix.engine, &stop, &err), &err);
    *retired = fix.engine->ops->instructions(fix.engine);
    fix_check(replay ? emu_log_finish(log, &err) : emu_log_save(log, path, &err), &err);
    fix_close(&fix);
    emu_log_destroy(log);
    return stop;
}

static void faults_and_hangs_recur(void **state)
{
    static const char head[] = ".kernel k\n.param ptr.global out\n.param u64 number\n"
                               "v_s2r v0, %tid.x\nv_mov_b64 v4:5, c[out]\n";
    static const struct {
        const char *text;
        enum emu_stop_kind kind;
    } runs[] = {
        {"v_madwide_u32 v4:5, v0, 4096, v4:5\nst.global.b32 [v4:5], v0\nexit\n.end\n",
         EMU_STOP_FAULT},
        {"v_setp_u32.lt p0, v0, 9\n@p0 bar.sync 1\nbar.sync 0\nexit\n.end\n", EMU_STOP_HANG},
        {"again: ld.global.volatile.b32 v1, [v4:5]\nv_setp_u32.eq p0, v1, 0\n@p0 bra again\n"
         "exit\n.end\n", EMU_STOP_HANG},
        {"atom.global.add.u32 v1, [v4:5], v0\n"
         "again: ld.global.volatile.b32 v1, [v4:5+4]\nv_setp_u32.eq p0, v1, 0\n@p0 bra again\n"
         "exit\n.end\n", EMU_STOP_HANG},
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(runs); i++) {
        char text[1000];
        uint64_t retired[2];
        snprintf(text, sizeof text, "%s%s", head, runs[i].text);
        struct emu_stop first = end_of(text, false, &retired[0]);
        struct emu_stop again = end_of(text, true, &retired[1]);
        assert_int_equal(first.kind, runs[i].kind);
        assert_int_equal(again.kind, first.kind);
        assert_int_equal(retired[1], retired[0]);
        assert_string_equal(again.hang.detail, first.hang.detail);
        assert_string_equal(again.fault.detail, first.fault.detail);
        assert_memory_equal(&again.place, &first.place, sizeof first.place);
    }
}

static void damaged_files_are_refused(void **state)
{
    const struct variant good = {adder, 32, 2, 40, 5, 9, "rr_quantum"};
    struct emu_machine *machine;
    struct emu_config config;
    struct emu_log *log = NULL;
    struct lw_error err;
    char *data, *copy;
    size_t size;

    (void)state;
    assert_string_equal(plain(&good, false, &err), "");
    fix_check(lw_file_read(path, &data, &size, &err), &err);
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    fix_check(emu_machine_create(&config, &machine, &err), &err);
    copy = malloc(size);
    for (size_t i = 0; i < size; i++) { /* for each byte of the file: a file in which the byte is changed, and a file that
                                         * ends before the byte */
        memcpy(copy, data, size);
        copy[i] ^= 0x20;
        if (emu_log_open(machine, "x", copy, size, &log, &err) == LW_OK)
            fail_msg("a log with another byte %zu is accepted", i);
        if (emu_log_open(machine, "x", data, i, &log, &err) == LW_OK)
            fail_msg("a log that ends at byte %zu is accepted", i);
        assert_true(strlen(err.text) > 5);
    }
    memcpy(copy, data, size);
    copy[8]++; /* a file with a correct hash and the number of another version */
    struct lw_hash hash;
    lw_hash_init(&hash);
    lw_hash_bytes(&hash, copy, size - 8);
    lw_put64(copy + size - 8, lw_hash_value(&hash));
    assert_int_equal(emu_log_open(machine, "x", copy, size, &log, &err), LW_EUNSUPP);
    emu_machine_destroy(machine);
    free(copy);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_session_is_replayed_to_the_same_state),
        cmocka_unit_test(a_replay_may_be_cut_stepped_and_watched),
        cmocka_unit_test(what_another_engine_ran_is_replayed),
        cmocka_unit_test(a_log_that_does_not_fit_has_a_message),
        cmocka_unit_test(a_plain_run_is_a_few_bytes),
        cmocka_unit_test(faults_and_hangs_recur),
        cmocka_unit_test(damaged_files_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
