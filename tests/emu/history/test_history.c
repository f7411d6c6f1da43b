/* SPDX-License-Identifier: Apache-2.0 */
/* Tests history: after moves backwards and forwards the state is the recorded one, and the run continues in the same
 * way. LW_SEED and LW_RANDOM_COUNT choose the seeds of the random tests. */
#include <inttypes.h>

#include "tests/emu/history/random_kernels.h"

#include "emu/history/emu_history_priv.h"
#include "emu/log/emu_log_priv.h"

enum { MOST = 400 };

/** A session that records the hash at every instruction count at which it stops. */
struct session {
    struct fix fix;
    struct lw_buffer text;
    struct emu_history *history;
    struct rnd r, host, user;
    unsigned launch, launches;
    struct {
        uint64_t at, hash, slots;
        bool good; /* no step that retired no instruction came after the instruction, so that a move restores this state */
    } seen[MOST];
    unsigned count;
    bool stopped; /* true if a fault or a hang has ended the run */
};

static void open_session(struct session *s, uint64_t seed,
                         const struct emu_history_options *options)
{
    struct emu_config config;
    struct lw_error err;

    memset(s, 0, sizeof *s);
    s->r.state = seed;
    s->host.state = seed ^ 77;
    s->user.state = seed ^ 99;
    s->launches = 3;
    random_config(&s->r, &config);
    random_kernel(&s->r, &s->text);
    fix_open(&s->fix, &config, s->text.text);
    if (options != NULL)
        fix_check(emu_history_create(s->fix.engine, options, &s->history, &err), &err);
}

static void close_session(struct session *s)
{
    emu_history_destroy(s->history);
    fix_close(&s->fix);
    lw_buffer_fini(&s->text);
}

static uint64_t now(const struct session *s)
{
    return s->fix.engine->ops->instructions(s->fix.engine);
}

/** Return a hash of the slots of all warps, and check that each warp is found by its slot, with which debuggers name
 *  frames. The query may start blocks, which does not change the state. */
static uint64_t slots(const struct session *s)
{
    const struct emu_engine_ops *ops = s->fix.engine->ops;
    struct emu_thread_ref place, found;
    uint64_t hash = 0;
    unsigned count = ops->warp_count(s->fix.engine), number;

    for (unsigned i = 0; i < count; i++) {
        assert_true(ops->warp_at(s->fix.engine, i, &place));
        assert_true(ops->slot_of(s->fix.engine, EMU_SLOT_WARP, &place, &number));
        assert_true(ops->slot_at(s->fix.engine, EMU_SLOT_WARP, number, &found));
        assert_true(found.grid == place.grid && found.block == place.block && found.warp == place.warp);
        hash = (hash ^ number ^ (uint64_t)place.grid << 40 ^ place.block << 20 ^ place.warp << 10) *
               UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash;
}

static void note(struct session *s, bool good)
{
    uint64_t at = now(s);

    if (s->count != 0 && s->seen[s->count - 1].at == at) {
        good = good && s->seen[s->count - 1].good;
        s->count--;
    }
    if (s->count == MOST)
        return;
    s->seen[s->count].at = at;
    s->seen[s->count].good = good;
    s->seen[s->count].slots = slots(s);
    s->seen[s->count++].hash = emu_hash_state(s->fix.machine);
}

static bool ends_with_a_choice(struct emu_log *log)
{
    struct emu_log_cursor at = {0}, behind;
    struct emu_log_entry e = {0};
    bool bad;

    for (; emu_log_peek(log, &at, &e, &behind, &bad); at = behind)
        ;
    return log->committed || e.kind == EMU_LOG_SELECT || e.kind == EMU_LOG_LOOK;
}

/** Execute random operations of a debugger with host steps between them, and record the hash after each. */
static void go_on(struct session *s, unsigned operations)
{
    while (operations-- != 0 && !s->stopped) {
        if (emu_grid_current(s->fix.machine) == NULL) {
            if (!random_host(&s->fix, &s->host, &s->launch, s->launches))
                return;
            note(s, true);
            continue;
        }
        struct emu_core *core = s->fix.machine->cores[0];
        struct emu_log *log = s->fix.machine->log;
        uint64_t passes = core->passes, before = now(s);
        struct emu_stop stop = random_operation(&s->fix, &s->user, true);
        s->stopped = stop.kind == EMU_STOP_FAULT || stop.kind == EMU_STOP_HANG;
        /* A move back to this instruction count undoes waits and selections that happened after the last instruction. */
        bool waits = now(s) == before ? core->passes != passes
                                      : core->passes != passes && core->pass_retired == now(s);
        note(s, !waits && !s->stopped && (log == NULL || !ends_with_a_choice(log)));
    }
}

static void check_hash(struct session *s, unsigned i)
{
    if (s->seen[i].good && emu_hash_state(s->fix.machine) != s->seen[i].hash)
        fail_msg("seed %" PRIu64 ": the state differs at instruction %" PRIu64, fix_seed,
                 s->seen[i].at);
    if (s->seen[i].good && slots(s) != s->seen[i].slots)
        fail_msg("seed %" PRIu64 ": the slots differ at instruction %" PRIu64, fix_seed,
                 s->seen[i].at);
}

/** Move @times times to a random recorded instruction count, backwards or forwards, and check the state there. */
static void travel(struct session *s, struct rnd *r, unsigned times)
{
    struct lw_error err;

    while (times-- != 0) {
        unsigned i = rnd_below(r, s->count);
        struct emu_history_info info;
        emu_history_info(s->history, &info);
        if (s->seen[i].at < info.earliest) {
            assert_int_equal(emu_history_goto(s->history, s->seen[i].at, &err), LW_ERANGE);
            assert_non_null(strstr(err.text, info.why));
            continue;
        }
        fix_check(emu_history_goto(s->history, s->seen[i].at, &err), &err);
        assert_int_equal(now(s), s->seen[i].at);
        if (i + 1 < s->count)
            check_hash(s, i);
    }
}

static void run_out(struct session *s)
{
    struct emu_stop stop;
    struct lw_error err;

    if (s->count != 0)
        s->seen[s->count - 1].good = false; /* the host may execute more steps at this position */
    for (;;) {
        fix_check(s->fix.engine->ops->run(s->fix.engine, &stop, &err), &err);
        s->stopped = s->stopped || stop.kind != EMU_STOP_IDLE;
        if (stop.kind != EMU_STOP_IDLE ||
            !random_host(&s->fix, &s->host, &s->launch, s->launches))
            return;
    }
}

static void each_state_is_reproduced_and_leads_to_the_same_end(void **state)
{
    unsigned count = getenv("LW_LONG") != NULL ? 3000 : fix_usual(60);

    (void)state;
    for (uint64_t seed = fix_first_seed(), last = fix_last_seed(count); seed <= last; seed++) {
        struct emu_history_options options = {.interval = 1 + seed % 700};
        struct session s, plain;
        struct rnd r = {.state = seed};
        struct lw_error err;
        uint64_t live;

        fix_seed = seed;
        open_session(&plain, seed, NULL);
        go_on(&plain, 60);
        open_session(&s, seed, &options);
        go_on(&s, 60);
        assert_int_equal(s.count, plain.count);
        for (unsigned i = 0; i < s.count; i++) {
            assert_int_equal(s.seen[i].at, plain.seen[i].at);
            assert_int_equal(s.seen[i].hash, plain.seen[i].hash);
        }
        live = emu_hash_state(s.fix.machine);
        travel(&s, &r, 12);
        fix_check(emu_history_goto(s.history, UINT64_MAX, &err), &err);
        if (emu_hash_state(s.fix.machine) != live)
            fail_msg("seed %" PRIu64 ": the state at the end of history differs after moves", seed);
        /* both machines execute more operations and then run to the end */
        s.user = plain.user;
        go_on(&s, 20);
        go_on(&plain, 20);
        travel(&s, &r, 4);
        fix_check(emu_history_goto(s.history, UINT64_MAX, &err), &err);
        if (!s.stopped)
            run_out(&s);
        if (!plain.stopped)
            run_out(&plain);
        assert_int_equal(now(&s), now(&plain));
        if (emu_hash_state(s.fix.machine) != emu_hash_state(plain.fix.machine))
            fail_msg("seed %" PRIu64 ": the state at the end of history differs", seed);
        close_session(&s);
        close_session(&plain);
    }
}

/** Move to random instruction counts of a run that had no stops and no debugger. */
static void any_instruction_of_a_run_can_be_reached(void **state)
{
    unsigned count = getenv("LW_LONG") != NULL ? 1000 : fix_usual(40);

    (void)state;
    for (uint64_t seed = fix_first_seed(), last = fix_last_seed(count); seed <= last; seed++) {
        struct emu_history_options options = {.interval = 1 + seed * 37 % 2000};
        struct session s, plain;
        struct rnd r = {.state = seed};
        struct lw_error err;
        struct emu_history_info info;

        fix_seed = seed;
        open_session(&s, seed, &options);
        assert_true(random_host(&s.fix, &s.host, &s.launch, 2));
        s.launches = 2;
        run_out(&s);
        emu_history_info(s.history, &info);
        assert_int_equal(info.earliest, 0);
        assert_int_equal(info.now, info.latest);
        for (unsigned i = 0; i < 6; i++) {
            uint64_t at = rnd_next(&r) % (info.latest + 1);
            fix_check(emu_history_goto(s.history, at, &err), &err);
            assert_int_equal(now(&s), at);
            open_session(&plain, seed, NULL);
            assert_true(random_host(&plain.fix, &plain.host, &plain.launch, 2));
            plain.launches = 2;
            while (now(&plain) < at) {
                if (fix_run(&plain.fix, at) == EMU_STOP_IDLE && now(&plain) < at)
                    assert_true(random_host(&plain.fix, &plain.host, &plain.launch, 2));
            }
            if (emu_grid_current(plain.fix.machine) == NULL)
                (void)random_host(&plain.fix, &plain.host, &plain.launch, 2);
            if (at < info.latest &&
                emu_hash_state(s.fix.machine) != emu_hash_state(plain.fix.machine))
                fail_msg("seed %" PRIu64 ": the state differs at instruction %" PRIu64, seed, at);
            close_session(&plain);
        }
        assert_int_equal(emu_history_goto(s.history, info.latest + 1, &err), LW_ERANGE);
        assert_non_null(strstr(err.text, "history ends at"));
        close_session(&s);
    }
}

/** A block waits for its child launch, so that the next block of the launching grid becomes resident. The slots must be
 *  the same whether the run was stopped after the launch or not. */
static void slots_do_not_depend_on_where_a_run_was_cut(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n.param u64 number\n"
        "v_mov_b32 v28, lo(two)\nv_mov_b32 v29, hi(two)\nlaunch.kernel v30, v28:29, vz, vz\n"
        "launch.sync\nexit\n.end\n"
        ".const two 40 8 = addr child, u32 2, 1, 1, 1, 1, 1, 0, 0\n"
        ".kernel child\nv_s2r v0, %ctaid.x\nv_setp_u32.eq p0, v0, 0\n"
        "v_mov_b32 v28, lo(one)\nv_mov_b32 v29, hi(one)\n@p0 launch.kernel v30, v28:29, vz, vz\n"
        "v_mov_b32 v1, 1\nlaunch.sync\nexit\n.end\n"
        ".const one 40 8 = addr leaf, u32 1, 1, 1, 1, 1, 1, 0, 0\n"
        ".kernel leaf\nv_mov_b32 v1, 1\nexit\n.end\n";
    struct session steps = {0}, once;
    struct emu_config config;
    uint64_t at;

    (void)state;
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    config.resident_warps = 1;
    fix_open(&steps.fix, &config, text);
    fix_launch(&steps.fix, 1, 1, 0);
    do {
        at = now(&steps) + 1;
        (void)fix_run(&steps.fix, at);
        memset(&once, 0, sizeof once);
        fix_open(&once.fix, &config, text);
        fix_launch(&once.fix, 1, 1, 0);
        (void)fix_run(&once.fix, at);
        assert_int_equal(now(&once), now(&steps));
        if (slots(&once) != slots(&steps))
            fail_msg("the slots differ after instruction %" PRIu64, at);
        fix_close(&once.fix);
    } while (now(&steps) == at);
    assert_true(at > 20);
    fix_close(&steps.fix);
}

/* ---- changing the past ---------------------------------------------------------------------- */

struct client {
    struct session *s;
    unsigned forgotten;
};
struct client_state {
    struct rnd host;
    unsigned launch;
};
static bool save_host(void *context, void **data, size_t *size)
{
    struct client *c = context;
    struct client_state *out = malloc(sizeof *out);

    *out = (struct client_state){c->s->host, c->s->launch};
    *data = out;
    *size = sizeof *out;
    return true;
}
static void load_host(void *context, const void *data, size_t size)
{
    struct client *c = context;
    struct client_state in;

    assert_int_equal(size, sizeof in);
    memcpy(&in, data, sizeof in);
    c->s->host = in.host;
    c->s->launch = in.launch;
}
static void forgotten(void *context)
{
    ((struct client *)context)->forgotten++;
}

static void an_edit_in_the_past_makes_another_future(void **state)
{
    unsigned count = getenv("LW_LONG") != NULL ? 1000 : fix_usual(40), edited = 0;

    (void)state;
    for (uint64_t seed = fix_first_seed(), last = fix_last_seed(count); seed <= last; seed++) {
        struct session s, plain;
        struct client client = {.s = &s};
        struct emu_history_options options = {.interval = 1 + seed % 300, .save_host = save_host,
                                              .load_host = load_host, .forgotten = forgotten,
                                              .context = &client};
        struct rnd r = {.state = seed};
        struct emu_history_info info;
        struct lw_error err;

        fix_seed = seed;
        open_session(&s, seed, &options);
        go_on(&s, 40);
        if (!s.stopped)
            run_out(&s);
        /* a position in the middle at which a register can be edited */
        unsigned i = rnd_below(&r, s.count);
        fix_check(emu_history_goto(s.history, s.seen[i].at, &err), &err);
        emu_history_info(s.history, &info);
        if (!info.in_past || !s.seen[i].good || emu_grid_current(s.fix.machine) == NULL) {
            close_session(&s);
            continue;
        }
        check_hash(&s, i);
        uint64_t value = rnd_next(&r);
        struct emu_core *core = s.fix.machine->cores[0];
        assert_int_equal(emu_mem_poke(core, 0, 0, 0, s.fix.out + 8, &value, 8), 8);
        edited++;
        assert_int_equal(client.forgotten, 1);
        emu_history_info(s.history, &info);
        assert_false(info.in_past);
        assert_int_equal(info.latest, s.seen[i].at);
        s.stopped = false;
        run_out(&s);
        /* the same state by another way: run to the position, edit, and continue */
        open_session(&plain, seed, NULL);
        while (plain.count == 0 || plain.seen[plain.count - 1].at < s.seen[i].at ||
               plain.seen[plain.count - 1].hash != s.seen[i].hash)
            go_on(&plain, 1);
        assert_int_equal(now(&plain), s.seen[i].at);
        core = plain.fix.machine->cores[0];
        assert_int_equal(emu_mem_poke(core, 0, 0, 0, plain.fix.out + 8, &value, 8), 8);
        plain.stopped = false;
        run_out(&plain);
        assert_int_equal(now(&plain), now(&s));
        if (emu_hash_state(s.fix.machine) != emu_hash_state(plain.fix.machine))
            fail_msg("seed %" PRIu64 ": another future", seed);
        close_session(&plain);
        /* the new timeline has a history, too */
        travel(&s, &r, 0);
        uint64_t end = emu_hash_state(s.fix.machine);
        fix_check(emu_history_goto(s.history, s.seen[i].at, &err), &err);
        fix_check(emu_history_goto(s.history, UINT64_MAX, &err), &err);
        assert_int_equal(emu_hash_state(s.fix.machine), end);
        close_session(&s);
    }
    assert_true(edited > count / 3 || fix_seed_is_chosen());
}

/* ---- steps at positions in the past ------------------------------------------------------------ */

/** Step in the past and at the end of history. Return true if the last step passed the end of the recorded history. */
static bool run_and_step_in_the_past(uint64_t seed)
{
    struct emu_history_options options = {.interval = 1 + seed % 300};
    struct session s;
    struct rnd r = {.state = seed};
    struct emu_history_info info;
    struct lw_error err;
    uint64_t live;
    bool went_on;

    fix_seed = seed;
    open_session(&s, seed, &options);
    go_on(&s, 60);
    live = emu_hash_state(s.fix.machine);
    emu_history_info(s.history, &info);
    const uint64_t end = info.latest;
    fix_check(emu_history_goto(s.history, s.seen[rnd_below(&r, s.count)].at, &err), &err);
    const size_t bytes = s.fix.machine->log->bytes.size;
    for (;;) {
        struct emu_stop stop;
        struct emu_event ev;
        emu_history_info(s.history, &info);
        if (!info.in_past || info.now + 400 > info.latest)
            break;
        if (rnd_below(&r, 3) == 0) {
            fix_check(s.fix.engine->ops->step(s.fix.engine, &ev, &stop, &err), &err);
        } else {
            struct emu_thread_ref place;
            struct emu_core *core;
            unsigned slot;
            uint64_t pc = ISA_CODE_BASE +
                          ISA_WORD_BYTES * rnd_below(&r, s.fix.program->count);
            if (rnd_below(&r, 2) && random_location(&s.fix, &r, &place, &core, &slot)) {
                fix_check(s.fix.engine->ops->step_warp(s.fix.engine, &place, &ev, &stop,
                                                       &err), &err);
            } else {
                fix_check(emu_breakpoint_set(s.fix.machine, pc, true, &err), &err);
                s.fix.engine->stop_at = info.now + 1 + rnd_below(&r, 200);
                fix_check(s.fix.engine->ops->run(s.fix.engine, &stop, &err), &err);
                s.fix.engine->stop_at = UINT64_MAX;
                fix_check(emu_breakpoint_set(s.fix.machine, pc, false, &err), &err);
            }
        }
        /* at a breakpoint, the engine has already selected the next warp */
        for (unsigned i = 0; i + 1 < s.count && stop.kind == EMU_STOP_COUNT; i++)
            if (s.seen[i].at == now(&s))
                check_hash(&s, i);
    }
    /* Step lanes that the recorded run does not execute again, at the end of history. If these lanes must wait, no
     * instruction runs, but the step may wake sleeping lanes and give one of them the time slice. The history then
     * ends with this scheduling choice. */
    went_on = !info.in_past && now(&s) > end;
    assert_true(now(&s) <= end + 1);
    if (!info.in_past && s.fix.machine->log->bytes.size != bytes) {
        live = emu_hash_state(s.fix.machine);
        fix_check(emu_history_goto(s.history, info.earliest, &err), &err);
    }
    if (went_on) {
        fix_check(emu_history_goto(s.history, end, &err), &err);
        if (s.seen[s.count - 1].good)
            check_hash(&s, s.count - 1);
    }
    fix_check(emu_history_goto(s.history, UINT64_MAX, &err), &err);
    if (emu_hash_state(s.fix.machine) != live)
        fail_msg("seed %" PRIu64 ": the state at the end of history differs", seed);
    close_session(&s);
    return went_on;
}

static void runs_and_steps_in_the_past_follow_what_happened(void **state)
{
    /* Seeds with steps at the end of history on the stack engine: of waiting lanes, which give other lanes the time
     * slice, and of lanes that have merged. */
    static const uint64_t more[] = {292, 744, 790, 961};
    unsigned count = getenv("LW_LONG") != NULL ? 1000 : fix_usual(80), went_on = 0;

    (void)state;
    for (uint64_t seed = fix_first_seed(), last = fix_last_seed(count); seed <= last; seed++)
        went_on += run_and_step_in_the_past(seed);
    assert_true((went_on > 0 && went_on < count / 3) || fix_seed_is_chosen());
    for (unsigned i = 0; i < LW_COUNT_OF(more) && !fix_seed_is_chosen(); i++)
        (void)run_and_step_in_the_past(more[i]);
}

/* ---- memory budget ----------------------------------------------------------------------------------- */

static void a_small_budget_thins_snapshots(void **state)
{
    unsigned ended = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct emu_history_options options = {.interval = 50,
                                              .budget_bytes = 8000 + seed * 2500};
        struct session s;
        struct rnd r = {.state = seed};
        struct emu_history_info info;
        struct lw_error err;

        fix_seed = seed;
        open_session(&s, seed, &options);
        go_on(&s, 60);
        if (!s.stopped)
            run_out(&s);
        note(&s, false);
        emu_history_info(s.history, &info);
        if (!info.kept) {
            ended++;
            assert_non_null(strstr(info.why, "MiB"));
            assert_int_equal(emu_history_goto(s.history, 0, &err), LW_ESTATE);
            close_session(&s);
            continue;
        }
        assert_true(info.bytes <= info.budget_bytes);
        assert_int_equal(info.earliest != 0, info.why[0] != '\0');
        travel(&s, &r, 20);
        close_session(&s);
    }
    assert_true(ended > 0 && ended < 30);
}

static void the_oldest_is_forgotten_when_two_states_do_not_fit(void **state)
{
    enum { PAGES = 64 };
    struct emu_history_options options = {.interval = 1000,
                                          .budget_bytes = PAGES * EMU_PAGE_BYTES * 3 / 2};
    struct emu_history_info info;
    struct emu_config config;
    struct lw_error err;
    struct fix fix;
    struct emu_history *h;
    uint64_t hash, at;

    (void)state;
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    fix_open(&fix, &config, ".kernel k\n.param ptr.global out\n.param u64 number\n"
                            "v_s2r v0, %tid.x\nv_mov_b64 v4:5, c[out]\n"
                            "v_madwide_u32 v4:5, v0, 4096, v4:5\nv_mov_b32 v1, 2000\n"
                            "again: v_sub_u32 v1, v1, 1\nst.global.b32 [v4:5], v1\n"
                            "v_setp_u32.ne p0, v1, 0\n@p0 bra again\nexit\n.end\n");
    fix_check(emu_alloc(fix.machine, PAGES * EMU_PAGE_BYTES, "big", 0, &fix.out, &err), &err);
    for (unsigned i = 0; i < PAGES; i++)
        fix_check(emu_global_write(fix.machine, fix.out + i * EMU_PAGE_BYTES, "x", 1, &err), &err);
    fix_check(emu_history_create(fix.engine, &options, &h, &err), &err);
    fix_launch(&fix, 1, PAGES, 0);
    assert_int_equal(fix_run(&fix, 9000), EMU_STOP_COUNT);
    hash = emu_hash_state(fix.machine);
    assert_int_equal(fix_run(&fix, 9900), EMU_STOP_COUNT);
    emu_history_info(h, &info);
    assert_true(info.kept);
    assert_int_equal(info.earliest, 9000);
    assert_non_null(strstr(info.why, "the earlier part was dropped"));
    at = info.earliest;
    fix_check(emu_history_goto(h, at, &err), &err);
    assert_int_equal(emu_hash_state(fix.machine), hash);
    assert_int_equal(emu_history_goto(h, at - 1, &err), LW_ERANGE);
    assert_non_null(strstr(err.text, "history starts at 9000; the earlier part was dropped"));
    assert_int_equal(fix_run(&fix, UINT64_MAX), EMU_STOP_IDLE);
    emu_history_destroy(h);
    fix_close(&fix);
}

static void snapshots_are_close_near_the_present_and_rare_long_ago(void **state)
{
    struct emu_history_options options = {.interval = 100};
    struct emu_history_info info;
    struct emu_config config;
    struct lw_error err;
    struct fix fix;
    struct emu_history *h;

    (void)state;
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    fix_open(&fix, &config, ".kernel k\n.param ptr.global out\n.param u64 number\n"
                            "v_mov_b32 v1, 40000\n"
                            "again: v_sub_u32 v1, v1, 1\n"
                            "v_setp_u32.ne p0, v1, 0\n@p0 bra again\nexit\n.end\n");
    fix_check(emu_history_create(fix.engine, &options, &h, &err), &err);
    fix_launch(&fix, 1, 32, 0);
    assert_int_equal(fix_run(&fix, UINT64_MAX), EMU_STOP_IDLE);
    emu_history_info(h, &info);
    assert_true(info.snapshots > 20 && info.snapshots <= 100);
    assert_int_equal(info.earliest, 0);
    /* the distance between two neighbouring snapshots is at most a fixed part of their age */
    for (uint64_t at = info.latest; at > 0;) {
        uint64_t before = emu_history_before(h, at);
        assert_true(at - before <= 300 + (info.latest - before) / 3);
        at = before;
    }
    assert_true(info.latest - emu_history_before(h, info.latest) <= 200);
    emu_history_destroy(h);
    fix_close(&fix);
}

/* ---- events that are reported only once ---------------------------------------------------------- */

static void what_was_printed_is_printed_once(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n.param u64 number\n"
        "v_s2r v0, %tid.x\nv_mov_b64 v4:5, c[out]\n"
        "v_mov_b32 v6, 5\n"
        "again: v_mov_b64 v8:9, v4:5\n"
        "v_add_u64 v10:11, v4:5, 64\n"
        "vprintf v1, v8:9, v10:11\n"
        "v_sub_u32 v6, v6, 1\nv_setp_u32.ne p0, v6, 0\n@p0 bra again\nexit\n.end\n";
    struct emu_history_options options = {.interval = 7};
    struct emu_config config;
    struct lw_buffer out;
    struct lw_error err;
    struct fix fix;
    struct emu_history *h;
    uint64_t end, half, mem;

    (void)state;
    for (unsigned immediate = 0; immediate < 2; immediate++) {
        emu_config_default(&config);
        config.warp_width = 4;
        config.arena_bytes = 1 << 24;
        fix_open(&fix, &config, text);
        fix_check(emu_global_write(fix.machine, fix.out, "ab", 3, &err), &err);
        lw_buffer_init(&out);
        emu_machine_set_print(fix.machine, &out.sink);
        emu_machine_print_immediately(fix.machine, immediate);
        fix_check(emu_history_create(fix.engine, &options, &h, &err), &err);
        fix_launch(&fix, 3, 8, 0);
        assert_int_equal(fix_run(&fix, 40), EMU_STOP_COUNT);
        half = out.size;
        assert_true(half != 0);
        fix_check(emu_history_goto(h, 10, &err), &err);
        assert_int_equal(fix_run(&fix, 30), EMU_STOP_COUNT);
        assert_int_equal(out.size, half);
        assert_int_equal(fix_run(&fix, UINT64_MAX), EMU_STOP_IDLE); /* the run passes the end of the recorded history */
        assert_int_equal(out.size, 3 * 8 * 5 * 2);
        end = out.size;
        mem = emu_hash_mem(fix.machine);
        fix_check(emu_history_goto(h, 20, &err), &err);
        fix_check(emu_history_goto(h, UINT64_MAX, &err), &err);
        assert_int_equal(out.size, end);
        assert_int_equal(emu_hash_mem(fix.machine), mem);
        /* after an edit in the past the text is printed again, as it belongs to another timeline */
        fix_check(emu_history_goto(h, 0, &err), &err);
        assert_true(emu_reg_write(fix.machine->cores[0], 0, 0, ISA_REG_V, 1, 0, 7, &err) ||
                    emu_mem_poke(fix.machine->cores[0], 0, 0, 0, fix.out, "cd", 2) == 2);
        assert_int_equal(fix_run(&fix, UINT64_MAX), EMU_STOP_IDLE);
        assert_int_equal(out.size, 2 * end);
        emu_history_destroy(h);
        fix_close(&fix);
        lw_buffer_fini(&out);
    }
}

/* ---- history of a replay --------------------------------------------------------------------------- */

static void a_replayed_log_can_be_walked_backwards(void **state)
{
    (void)state;
    for (uint64_t seed = fix_first_seed(), last = fix_last_seed(30); seed <= last; seed++) {
        struct emu_history_options options = {.interval = 1 + seed % 300};
        struct emu_config config;
        struct emu_log *log = NULL;
        struct emu_history *h = NULL;
        struct lw_buffer text;
        struct lw_error err;
        struct fix fix = {0};
        uint64_t end = 0, at[8], hash[8];
        bool idle = true;

        fix_seed = seed;
        for (unsigned replay = 0; replay < 2 && idle; replay++) {
            struct rnd r = {.state = seed}, host = {.state = seed ^ 77}, user = {.state = seed ^ 9};
            unsigned launch = 0, n = 0;
            char *data = NULL;
            size_t size = 0;
            random_config(&r, &config);
            random_kernel(&r, &text);
            memset(&fix, 0, sizeof fix);
            fix_check(emu_machine_create(&config, &fix.machine, &err), &err);
            if (replay)
                fix_check(lw_file_read("test_history.log", &data, &size, &err), &err);
            fix_check(replay ? emu_log_open(fix.machine, "x", data, size, &log, &err)
                             : emu_log_create(fix.machine, &log, &err), &err);
            free(data);
            fix_check(isa_assemble("test.s", text.text, text.size, &fix.object, &err), &err);
            fix_check(emu_program_load(fix.machine, fix.object, &fix.program, &err), &err);
            fix_check(emu_alloc(fix.machine, FIX_BYTES, "out", 0, &fix.out, &err), &err);
            fix_check(replay ? emu_engine_replay_create(fix.machine, &fix.engine, &err)
                             : emu_engine_functional_create(fix.machine, &fix.engine, &err), &err);
            if (replay)
                fix_check(emu_history_create(fix.engine, &options, &h, &err), &err);
            while (idle && random_host(&fix, &host, &launch, 3)) {
                for (unsigned i = 0; !replay && i < 15; i++)
                    (void)random_operation(&fix, &user, true);
                idle = fix_run(&fix, fix.engine->ops->instructions(fix.engine) + 100) !=
                       EMU_STOP_FAULT;
                if (replay && n < 8) {
                    at[n] = fix.engine->ops->instructions(fix.engine);
                    hash[n] = emu_hash_state(fix.machine);
                    fix_check(emu_history_goto(h, at[n] / 2, &err), &err);
                    fix_check(emu_history_goto(h, UINT64_MAX, &err), &err);
                    assert_int_equal(emu_hash_state(fix.machine), hash[n]);
                    assert_int_equal(fix.engine->ops->instructions(fix.engine), at[n]);
                    n++;
                }
                idle = idle && fix_run(&fix, UINT64_MAX) == EMU_STOP_IDLE;
            }
            if (replay && idle) {
                assert_int_equal(emu_hash_state(fix.machine), end);
                for (unsigned i = n; i-- > 0;) {
                    fix_check(emu_history_goto(h, at[i], &err), &err);
                    assert_int_equal(fix.engine->ops->instructions(fix.engine), at[i]);
                }
                fix_check(emu_history_goto(h, UINT64_MAX, &err), &err);
                assert_int_equal(emu_hash_state(fix.machine), end);
                fix_check(emu_log_finish(log, &err), &err);
            }
            end = emu_hash_state(fix.machine);
            if (!replay)
                fix_check(emu_log_save(log, "test_history.log", &err), &err);
            emu_history_destroy(h);
            fix_close(&fix);
            emu_log_destroy(log);
            lw_buffer_fini(&text);
            h = NULL;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_is_reproduced_and_leads_to_the_same_end),
        cmocka_unit_test(any_instruction_of_a_run_can_be_reached),
        cmocka_unit_test(slots_do_not_depend_on_where_a_run_was_cut),
        cmocka_unit_test(an_edit_in_the_past_makes_another_future),
        cmocka_unit_test(runs_and_steps_in_the_past_follow_what_happened),
        cmocka_unit_test(a_small_budget_thins_snapshots),
        cmocka_unit_test(the_oldest_is_forgotten_when_two_states_do_not_fit),
        cmocka_unit_test(snapshots_are_close_near_the_present_and_rare_long_ago),
        cmocka_unit_test(what_was_printed_is_printed_once),
        cmocka_unit_test(a_replayed_log_can_be_walked_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
