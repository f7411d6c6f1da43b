/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that reverse execution restores the exact state. Each case runs a launch file to a random instruction. From there
 * it runs up to ten million instructions, steps lanes, stops at stoppoints or changes the state. Then it moves back to the
 * instruction, and the state must have the same hash as before. Stops of reverse steps and of reverse-continue are compared with
 * a trace that was recorded during forward execution.
 *
 *   prop_reverse LAUNCH.yaml...     runs these launch files, which tests/debug/prop_reverse.sh prepares
 *
 * LW_SEED repeats a case. LW_RANDOM_COUNT sets the number of cases (100).
 */
#include "debug/debug_priv.h"
#include "launch/launch.h"
#include "tests/isa/prop_isa_random.h"

enum { TRACED = 200000, LONGEST = 10000000 };

struct trace {
    uint64_t at, pc, lanes; /* at: number of instructions before this one. lanes: lanes that execute the instruction */
    uint64_t all;           /* all lanes of the split */
    dbg_thread_id id;
    bool wrote;             /* the instruction changed the watched word */
};

struct run {
    uint64_t seed;
    const char *path;
    struct prop_random r;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_file *file;
    struct lnc_session *session;
    struct dbg *dbg;
    struct emu_observer observer;
    bool tracing;
    struct trace *trace;
    size_t count;
    uint64_t watched; /* address of the watched word, or 0 if there is none */
};

static void fail(const struct run *t, const char *what)
{
    printf("LW_SEED=%" PRIu64 ": %s: %s (instruction %" PRIu64 ")\n", t->seed, t->path, what,
           t->engine != NULL ? t->engine->ops->instructions(t->engine) : 0);
    exit(1);
}

static void check(const struct run *t, enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail(t, err->text);
}

static uint64_t now(const struct run *t)
{
    return t->engine->ops->instructions(t->engine);
}

/** Returns a random number from 1 to @most whose logarithm is roughly uniformly distributed. */
static uint64_t log_uniform(struct prop_random *r, uint64_t most)
{
    unsigned bits = 0;

    while (most >> bits > 1)
        bits++;
    uint64_t low = UINT64_C(1) << prop_below(r, bits + 1), value = low + prop_next(r) % low;

    return value > most ? most : value;
}

/* ---- the trace --------------------------------------------------------------------------- */

static bool changes(const struct run *t, const struct emu_event *ev)
{
    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *a = &ev->access[i];

        if (a->new_value == NULL)
            continue;
        for (LW_EACH_BIT(lane, a->lanes))
            for (unsigned b = 0; b < a->bytes; b++)
                if (a->address[lane] + b - t->watched < 4 &&
                    a->old_value[lane][b] != a->new_value[lane][b])
                    return true;
    }
    return false;
}

static bool on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct run *t = (struct run *)(void *)((char *)observer - offsetof(struct run, observer));

    if (!t->tracing || ev->kind != EMU_EV_RETIRED || t->count == TRACED)
        return false;
    t->trace[t->count++] = (struct trace){
        .at = now(t) - 1, .pc = ev->pc, .lanes = ev->split_lanes & ev->exec,
        .all = ev->split_lanes,
        .id = 1 + ev->grid->first_warp_id + ev->block * ev->grid->block_warps + ev->warp,
        .wrote = changes(t, ev)};
    return false;
}

/* ---- a session ---------------------------------------------------------------------------- */

static enum lw_status next(void *context, bool *more, struct lw_error *err)
{
    struct run *t = context;
    enum lnc_state state = LNC_DONE;
    enum lw_status status = lnc_session_next(t->session, &state, err);

    *more = state == LNC_LAUNCHED;
    return status;
}

static bool save_place(void *context, void **data, size_t *size)
{
    return lnc_session_save(((struct run *)context)->session, data, size, NULL) == LW_OK;
}

static void load_place(void *context, const void *data, size_t size)
{
    struct run *t = context;
    struct lw_error err;

    check(t, lnc_session_load(t->session, data, size, &err), &err);
}

static void open_run(struct run *t)
{
    struct emu_config config;
    struct lnc_options options = {0};
    struct lw_error err = {0};

    emu_config_default(&config);
    check(t, lnc_file_load(t->path, &config, &t->file, &err), &err);
    config.tags = (enum emu_tag_mode)prop_below(&t->r, 3);
    if (prop_below(&t->r, 2))
        config.warp_quantum = 1 + prop_below(&t->r, 200);
    if (prop_below(&t->r, 3) == 0)
        config.resident_warps = 64;
    check(t, emu_machine_create(&config, &t->machine, &err), &err);
    check(t, emu_engine_functional_create(t->machine, &t->engine, &err), &err);
    check(t, lnc_session_create(t->file, t->machine, &options, &t->session, &err), &err);
    struct dbg_config dbg = {
        .machine = t->machine, .engine = t->engine, .next = next, .next_context = t};
    check(t, dbg_create(&dbg, &t->dbg, &err), &err);
    check(t, dbg_history_start(t->dbg, prop_below(&t->r, 4) ? 0 : UINT64_C(4) << 20, save_place,
                               load_place, t, &err), &err);
    t->observer.on_event = on_event;
}

static void close_run(struct run *t)
{
    dbg_destroy(t->dbg);
    lnc_session_destroy(t->session);
    emu_engine_destroy(t->engine);
    emu_machine_destroy(t->machine);
    lnc_file_destroy(t->file);
}

/** Runs to instruction count @at, or to the end of the run. */
static void run_to(struct run *t, uint64_t at)
{
    struct emu_stop stop;
    struct lw_error err = {0};
    bool more = true;

    t->engine->stop_at = at;
    while (now(t) < at && more) {
        check(t, t->engine->ops->run(t->engine, &stop, &err), &err);
        if (stop.kind != EMU_STOP_IDLE && stop.kind != EMU_STOP_BREAK)
            break;
        if (stop.kind == EMU_STOP_IDLE)
            check(t, next(t, &more, &err), &err);
    }
    t->engine->stop_at = UINT64_MAX;
}

static bool random_lane(struct run *t, dbg_thread_id *id)
{
    struct dbg_thread thread;
    struct lw_error err = {0};
    unsigned count = dbg_thread_count(t->dbg), lane;

    if (count == 0)
        return false;
    /* Mostly choose one of the first warps, because the first warps execute first. */
    count = prop_below(&t->r, 4) ? (count < 8 ? count : 8) : count;
    if (!dbg_thread_at(t->dbg, prop_below(&t->r, count), &thread))
        return false;
    do
        lane = prop_below(&t->r, EMU_MAX_LANES);
    while ((thread.live >> lane & 1) == 0);
    check(t, dbg_focus_set(t->dbg, DBG_FOCUS_RUN, thread.id, &err), &err);
    check(t, dbg_lane_set(t->dbg, thread.id, lane, &err), &err);
    *id = thread.id;
    return true;
}

/** Executes one step of the focus lane if @how is 0, of all splits of its warp if @how is 1, or of all warps of its block if @how
 *  is 2. Sets *stepped to false if the warp is no longer in focus or the run has ended. */
static void step(struct run *t, dbg_thread_id id, unsigned how, bool *stepped)
{
    struct dbg_stop stop;
    struct lw_error err = {0};

    *stepped = dbg_focus_get(t->dbg, DBG_FOCUS_RUN) == id && !dbg_ended(t->dbg);
    if (*stepped)
        check(t, how == 0 ? dbg_step(t->dbg, id, false, &stop, &err)
                          : dbg_step_together(t->dbg, id, how == 2, &stop, &err), &err);
}

static void steps(struct run *t, unsigned count)
{
    dbg_thread_id id;
    bool more = true;
    unsigned how = prop_below(&t->r, 3) ? 0 : 1 + prop_below(&t->r, 2);

    if (!random_lane(t, &id))
        return;
    while (count-- != 0 && more)
        step(t, id, how, &more);
}

/** Changes a random register or word of a buffer. Returns false if there is none. */
static bool edit(struct run *t)
{
    struct emu_allocation allocation;
    struct lw_error err = {0};
    char text[64];
    dbg_thread_id id;
    unsigned count = emu_allocation_count(t->machine);
    uint32_t value = (uint32_t)prop_next(&t->r);

    if (!random_lane(t, &id))
        return false;
    if (prop_below(&t->r, 2)) {
        /* This mostly changes a register that holds no address. If the change causes a later fault, it does so in each run. */
        snprintf(text, sizeof text, "v%u = %u", prop_below(&t->r, 4), value & 7);
        return dbg_assign(t->dbg, id, dbg_lane_get(t->dbg, id), text, &err) == LW_OK;
    }
    if (count == 0 || !emu_allocation_get(t->machine, prop_below(&t->r, count), &allocation) ||
        allocation.size_bytes < 4 || allocation.flags & (EMU_ALLOC_FREED | EMU_ALLOC_READ_ONLY))
        return false;
    return dbg_mem_write(t->dbg, id, allocation.address + prop_next(&t->r) %
                         (allocation.size_bytes / 4) * 4, &value, 4) == 4;
}

static void go(struct run *t, uint64_t at)
{
    struct dbg_stop stop;
    struct lw_error err = {0};

    check(t, dbg_goto(t->dbg, at, &stop, &err), &err);
    if (now(t) != at)
        fail(t, "goto moved to another position");
}

static struct emu_history_info info(const struct run *t)
{
    struct emu_history_info info;

    if (!dbg_history_info(t->dbg, &info) || !info.kept)
        fail(t, "history is not recorded");
    return info;
}

/* ---- results of reverse searches --------------------------------------------------------------- */

/** Steps back from the end of the trace along a random lane. Each step must undo the lane's last instruction in the trace. */
static void back_along_a_lane(struct run *t)
{
    const struct trace *last = &t->trace[t->count - 1 - prop_below(&t->r, t->count < 300
                                                                                 ? (unsigned)t->count
                                                                                 : 300)];
    dbg_thread_id id = last->id;
    struct lw_error err = {0};
    struct dbg_thread thread;
    struct dbg_stop stop;
    unsigned lane, most = 1 + prop_below(&t->r, 6);

    if (!dbg_thread_get(t->dbg, id, &thread))
        return; /* the thread has ended */
    do
        lane = prop_below(&t->r, EMU_MAX_LANES);
    while ((thread.live >> lane & 1) == 0);
    check(t, dbg_lane_set(t->dbg, id, lane, &err), &err);
    for (size_t i = t->count; i-- != 0 && most != 0;) {
        const struct trace *e = &t->trace[i];

        if (e->id != id || (e->all >> lane & 1) == 0)
            continue;
        check(t, dbg_reverse_step(t->dbg, id, &stop, &err), &err);
        if (stop.thread != id || stop.lane != lane || stop.pc != e->pc || now(t) != e->at) {
            printf("warp %" PRIu64 " lane %u: expected 0x%" PRIx64 " at %" PRIu64 ", is at 0x%"
                   PRIx64 " of warp %" PRIu64 " lane %u\n", id, lane, e->pc, e->at, stop.pc,
                   stop.thread, stop.lane);
            fail(t, "a reverse step undid another instruction");
        }
        most--;
    }
}

/** Executes reverse-continue to hits of a breakpoint, or if @watch is set to hits of a watchpoint for writes. */
static void back_to_hits(struct run *t, bool watch)
{
    const struct trace *some = &t->trace[prop_below(&t->r, (unsigned)t->count)];
    struct lw_error err = {0};
    struct dbg_stop stop;
    unsigned point, most = 1 + prop_below(&t->r, 3);
    uint64_t pc = some->pc, limit = now(t), from = t->trace[0].at;

    if (watch && t->watched == 0)
        return;
    if (watch)
        check(t, dbg_watch_add(t->dbg, DBG_OWNER_SHELL, dbg_focus_get(t->dbg, DBG_FOCUS_RUN),
                               t->watched, 4, DBG_ACCESS_WRITE, NULL, NULL, &point, &err), &err);
    else
        check(t, dbg_breakpoint_add(t->dbg, DBG_OWNER_SHELL, pc, NULL, false, &point, &err), &err);
    for (size_t i = t->count; i-- != 0 && most != 0;) {
        const struct trace *e = &t->trace[i];

        if (e->at >= limit || (watch ? !e->wrote : e->pc != pc || e->lanes == 0))
            continue;
        check(t, dbg_reverse_continue(t->dbg, &stop, &err), &err);
        if (stop.kind != (watch ? DBG_STOP_WATCH : DBG_STOP_BREAKPOINT) || now(t) != e->at ||
            stop.thread != e->id) {
            printf("expected warp %" PRIu64 " at %" PRIu64 ", is %d, warp %" PRIu64 "\n", e->id,
                   e->at, stop.kind, stop.thread);
            fail(t, watch ? "reverse-continue stops at another write" : "reverse-continue stops at another hit");
        }
        limit = e->at;
        most--;
    }
    if (most != 0) { /* the trace has no more hits, so the search stops at a hit before the trace or at the start of history */
        check(t, dbg_reverse_continue(t->dbg, &stop, &err), &err);
        /* If the last hit was at the start of history, the position does not change. */
        if (stop.kind == DBG_STOP_HISTORY_BEGIN ? now(t) > limit
                                                : now(t) >= limit || now(t) >= from)
            fail(t, "reverse-continue stops at a hit that the trace does not have");
    }
    check(t, dbg_stoppoint_remove(t->dbg, point, &err), &err);
}

/* ---- cases --------------------------------------------------------------------------------------- */

static void choose_watched(struct run *t)
{
    struct emu_allocation allocation;
    unsigned count = emu_allocation_count(t->machine);

    t->watched = 0;
    for (unsigned i = 0; i < 8 && t->watched == 0 && count != 0; i++)
        if (emu_allocation_get(t->machine, prop_below(&t->r, count), &allocation) &&
            allocation.size_bytes >= 4 && !(allocation.flags & EMU_ALLOC_FREED))
            t->watched = allocation.address + prop_next(&t->r) % (allocation.size_bytes / 4) * 4;
}

/** Continues from @start in one of several ways. Returns true if the history after @start was discarded. */
static bool forward(struct run *t, uint64_t start)
{
    struct lw_error err = {0};
    struct dbg_stop stop;
    unsigned point;
    dbg_thread_id id;
    uint64_t length = log_uniform(&t->r, LONGEST);

    switch (prop_below(&t->r, 5)) {
    case 0:
        run_to(t, start + length);
        return false;
    case 1: /* step single lanes, one after the other */
        for (unsigned i = prop_below(&t->r, 4) + 1; i != 0; i--)
            steps(t, 1 + prop_below(&t->r, 12));
        return false;
    case 2: /* continue to breakpoints */
        run_to(t, start + length);
        go(t, start);
        if (!random_lane(t, &id))
            return false;
        check(t, dbg_breakpoint_add(t->dbg, DBG_OWNER_SHELL,
                               ISA_CODE_BASE + ISA_WORD_BYTES * (UINT64_C(1) + prop_below(&t->r, 12)),
                               prop_below(&t->r, 2) ? "lane == 1" : NULL, false, &point, &err), &err);
        /* An earlier edit may have made the kernel run forever, so the number of instructions is limited. */
        t->engine->stop_at = start + 2 * (uint64_t)LONGEST;
        for (unsigned i = prop_below(&t->r, 4); i != 0 && !dbg_ended(t->dbg); i--)
            check(t, dbg_continue(t->dbg, &stop, &err), &err);
        t->engine->stop_at = UINT64_MAX;
        check(t, dbg_stoppoint_remove(t->dbg, point, &err), &err);
        return false;
    case 3: /* continue to a write of the watched word */
        if (t->watched == 0 || !random_lane(t, &id))
            return false;
        check(t, dbg_watch_add(t->dbg, DBG_OWNER_SHELL, id, t->watched, 4, DBG_ACCESS_BOTH, NULL,
                               NULL, &point, &err), &err);
        run_to(t, start + length % TRACED);
        check(t, dbg_stoppoint_remove(t->dbg, point, &err), &err);
        return false;
    default: /* edit the state, so that the run continues in another way */
        run_to(t, start + 1 + length % 1000);
        /* An edit at @start would be part of the state at @start. */
        if (now(t) == start || !edit(t))
            return false;
        run_to(t, now(t) + length % TRACED);
        steps(t, 5);
        return true;
    }
}

static void run_case(uint64_t seed, char **files, unsigned file_count, struct trace *trace)
{
    struct run t = {.seed = seed, .r = {seed}, .trace = trace};
    uint64_t start, before, there, end;

    for (unsigned i = 0; i < 4; i++)
        (void)prop_next(&t.r);
    t.path = files[seed % file_count];
    open_run(&t);
    choose_watched(&t);
    /* Runs a part of the launch file, or all of it, sometimes with steps that change the schedule. */
    if (prop_below(&t.r, 3) == 0)
        steps(&t, 30);
    run_to(&t, prop_below(&t.r, 3) ? UINT64_MAX : log_uniform(&t.r, LONGEST));
    if (prop_below(&t.r, 3) == 0)
        steps(&t, 30);
    end = now(&t);
    if (end == info(&t).earliest) {
        close_run(&t);
        return;
    }
    for (unsigned round = 0; round < 3; round++) {
        struct emu_history_info kept = info(&t);
        uint64_t length = log_uniform(&t.r, LONGEST);

        /* Chooses in half of the cases a position whose distance to the end of history varies widely. */
        start = kept.latest - kept.earliest > length && prop_below(&t.r, 2)
                    ? kept.latest - length
                    : kept.earliest + prop_next(&t.r) % (kept.latest - kept.earliest + 1);
        if (start == kept.latest)
            start--;
        go(&t, start);
        before = emu_hash_state(t.machine);
        if (forward(&t, start))
            end = now(&t);
        there = now(&t);
        if (there < start)
            fail(&t, "forward execution moved back");
        go(&t, start);
        if (emu_hash_state(t.machine) != before)
            fail(&t, "the state differs after forward execution and a move back");
        /* Runs forward again and records a trace. Then moves backwards by reverse steps and to stoppoints. */
        emu_observer_add(t.engine, &t.observer);
        t.count = 0;
        t.tracing = true;
        run_to(&t, start + log_uniform(&t.r, 60000));
        t.tracing = false;
        emu_observer_remove(t.engine, &t.observer);
        if (t.count != 0) {
            uint64_t at = now(&t);
            if (at == info(&t).latest)
                at = UINT64_MAX;
            back_along_a_lane(&t);
            if (at != UINT64_MAX)
                go(&t, at);
            else
                run_to(&t, info(&t).latest);
            if (t.count < TRACED)
                back_to_hits(&t, prop_below(&t.r, 2));
        }
        go(&t, start);
        if (emu_hash_state(t.machine) != before)
            fail(&t, "the state differs after reverse steps and stoppoints");
    }
    close_run(&t);
}

int main(int argc, char **argv)
{
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(100, seed);
    struct trace *trace = malloc(TRACED * sizeof *trace);

    if (argc < 2 || trace == NULL) {
        fprintf(stderr, "usage: prop_reverse LAUNCH.yaml...\n");
        return 2;
    }
    for (unsigned long i = 0; i < count; i++)
        run_case(seed + i, argv + 1, (unsigned)argc - 1, trace);
    free(trace);
    return 0;
}
