/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the time and memory of history and checkpoints: `make bench/history`, then, in a folder with
 * bench/NAME.yaml, bench/bench.cl and the files that bench/inputs.c writes,
 *
 *     bench/history LAUNCH.yaml [REPEATS [INSTRUCTION]]
 *
 * runs the launch file alternately without and with history, each time in a new process (one thread, the fixed order).
 * It prints medians with minimum and maximum of: the seconds from launch to end; the largest amount of memory in use; the
 * time to go back from the end to INSTRUCTION (default: 10 million); and the size of a checkpoint there, with the times to
 * write and load it. It also measures the run under a debugger without stoppoints, and steps back at INSTRUCTION.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debug/debug.h"
#include "launch/launch.h"

enum { MOST = 99 };
enum mode { OFF, ON, CHECKPOINT, DEBUGGER, BACK, MODES };

struct figures {
    double run, back, save, load, bytes, mib, snapshots, history_mib, recheck_at, search;
};

struct all {
    struct lnc_file *file;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_session *session;
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(enum lw_status status, const struct lw_error *err)
{
    if (status == LW_OK)
        return;
    fprintf(stderr, "history: %s\n", err->text);
    exit(2);
}

static void open_all(struct all *a, const char *path)
{
    struct emu_config config;
    struct lw_error err;

    emu_config_default(&config);
    check(lnc_file_load(path, &config, &a->file, &err), &err);
    check(emu_machine_create(&config, &a->machine, &err), &err);
    check(lnc_session_create(a->file, a->machine, NULL, &a->session, &err), &err);
    check(emu_engine_functional_create(a->machine, &a->engine, &err), &err);
}

/** Runs to the end, or until @at instructions are executed. Returns the number of seconds for which kernels ran. */
static double run(struct all *a, uint64_t at)
{
    enum lnc_state state;
    struct emu_stop stop;
    struct lw_error err;
    double took = 0;

    for (;;) {
        check(lnc_session_next(a->session, &state, &err), &err);
        if (state == LNC_DONE)
            return took;
        a->engine->stop_at = at;
        double from = seconds();
        check(a->engine->ops->run(a->engine, &stop, &err), &err);
        took += seconds() - from;
        if (stop.kind != EMU_STOP_IDLE)
            return took;
    }
}

static enum lw_status next(void *context, bool *more, struct lw_error *err)
{
    struct all *a = context;
    enum lnc_state state = LNC_DONE;
    enum lw_status status = lnc_session_next(a->session, &state, err);

    *more = state == LNC_LAUNCHED;
    return status;
}

/** Measures operations for which the user of a debugger waits. */
static struct figures measure_debugger(const char *path, enum mode mode, uint64_t instruction)
{
    struct figures f = {0};
    struct dbg_stop stop;
    struct emu_allocation input;
    struct emu_stop es;
    struct lw_error err;
    struct dbg *dbg;
    struct all a;
    unsigned point;

    open_all(&a, path);
    struct dbg_config config = {
        .machine = a.machine, .engine = a.engine, .next = next, .next_context = &a};
    check(dbg_create(&config, &dbg, &err), &err);
    check(dbg_history_start(dbg, 0, NULL, NULL, NULL, &err), &err);
    if (mode == DEBUGGER) {
        double from = seconds();
        check(dbg_continue(dbg, &stop, &err), &err);
        f.run = seconds() - from;
        return f;
    }
    a.engine->stop_at = instruction;
    check(a.engine->ops->run(a.engine, &es, &err), &err);
    a.engine->stop_at = UINT64_MAX;
    double from = seconds();
    check(dbg_reverse_step(dbg, dbg_focus_get(dbg, DBG_FOCUS_RUN), &stop, &err), &err);
    f.back = seconds() - from;
    from = seconds();
    check(dbg_reverse_step(dbg, dbg_focus_get(dbg, DBG_FOCUS_RUN), &stop, &err), &err);
    f.recheck_at = seconds() - from;
    check(dbg_goto(dbg, UINT64_MAX, &stop, &err), &err);
    /* Without a stoppoint, reverse-continue would go to the beginning without a search. This watchpoint is never hit,
     * because no kernel writes the first buffer. */
    if (!emu_allocation_get(a.machine, 0, &input)) {
        fprintf(stderr, "history: %s has no buffer\n", path);
        exit(2);
    }
    check(dbg_watch_add(dbg, DBG_OWNER_SHELL, 0, input.address, 4, DBG_ACCESS_WRITE, NULL, NULL,
                        &point, &err), &err);
    from = seconds();
    check(dbg_reverse_continue(dbg, &stop, &err), &err);
    f.search = seconds() - from;
    return f;
}

static struct figures measure(const char *path, enum mode mode, uint64_t instruction)
{
    static const char name[] = "history.lwc";
    struct emu_history_options options = {0};
    struct emu_history_info info;
    struct emu_history *history;
    struct figures f = {0};
    struct rusage usage;
    struct lw_error err;
    struct all a;

    if (mode >= DEBUGGER)
        return measure_debugger(path, mode, instruction);
    open_all(&a, path);
    if (mode == ON)
        check(emu_history_create(a.engine, &options, &history, &err), &err);
    f.run = run(&a, mode == CHECKPOINT ? instruction : UINT64_MAX);
    getrusage(RUSAGE_SELF, &usage);
    f.mib = (double)usage.ru_maxrss / 1024;
    if (mode == ON) {
        emu_history_info(history, &info);
        f.snapshots = info.snapshots;
        f.history_mib = (double)info.bytes / (1 << 20);
        double from = seconds();
        check(emu_history_goto(history, instruction, &err), &err);
        f.back = seconds() - from;
    } else if (mode == CHECKPOINT) {
        size_t size, place_bytes;
        const void *place;
        void *saved;
        char *data;
        struct all b;
        double from = seconds();
        check(lnc_session_save(a.session, &saved, &place_bytes, &err), &err);
        check(emu_checkpoint_save(a.engine, saved, place_bytes, name, &err), &err);
        f.save = seconds() - from;
        open_all(&b, path);
        from = seconds();
        check(lw_file_read(name, &data, &size, &err), &err);
        check(emu_checkpoint_load(b.engine, name, data, size, &place, &place_bytes, &err), &err);
        check(lnc_session_load(b.session, place, place_bytes, &err), &err);
        f.load = seconds() - from;
        f.bytes = (double)size / (1 << 20);
        unlink(name);
        if (emu_hash_state(a.machine) != emu_hash_state(b.machine)) {
            fprintf(stderr, "history: the state after loading the checkpoint differs from the state that was saved\n");
            exit(1);
        }
    }
    return f;
}

static struct figures in_child(const char *path, enum mode mode, uint64_t instruction)
{
    struct figures f = {0};
    int ends[2], status;
    pid_t child;

    fflush(stdout);
    if (pipe(ends) != 0 || (child = fork()) < 0)
        exit(2);
    if (child == 0) {
        f = measure(path, mode, instruction);
        _exit(write(ends[1], &f, sizeof f) == (ssize_t)sizeof f ? 0 : 2);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &f, sizeof f);
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0 || got != (ssize_t)sizeof f)
        exit(2);
    return f;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/** Prints the median, minimum and maximum of the member at @offset of struct figures. */
static void show(const char *what, const struct figures *f, unsigned count, size_t offset,
                 double scale, const char *unit)
{
    double value[MOST];

    for (unsigned i = 0; i < count; i++)
        value[i] = *(const double *)(const void *)((const char *)&f[i] + offset) * scale;
    qsort(value, count, sizeof *value, compare);
    printf("%-34s %10.3f %s  (%.3f to %.3f)\n", what, value[count / 2], unit, value[0],
           value[count - 1]);
}

int main(int argc, char **argv)
{
    static struct figures f[MODES][MOST];
    uint64_t repeats = 5, instruction = 10000000;

    if (argc < 2 || argc > 4 || (argc > 2 && !lw_parse_u64(argv[2], &repeats)) || repeats == 0 ||
        repeats > MOST || (argc > 3 && !lw_parse_u64(argv[3], &instruction))) {
        fprintf(stderr, "usage: bench/history LAUNCH.yaml [REPEATS [INSTRUCTION]]\n");
        return 2;
    }
    for (unsigned i = 0; i < repeats; i++)
        for (unsigned mode = 0; mode < MODES; mode++)
            f[mode][i] = in_child(argv[1], (enum mode)mode, instruction);
#define SHOW(what, mode, member, scale, unit)                                                  \
    show(what, f[mode], (unsigned)repeats, offsetof(struct figures, member), scale, unit)
    SHOW("run without history", OFF, run, 1, "s");
    SHOW("run with history", ON, run, 1, "s");
    SHOW("memory without history", OFF, mib, 1, "MiB");
    SHOW("memory with history", ON, mib, 1, "MiB");
    SHOW("snapshots kept", ON, snapshots, 1, "");
    SHOW("size of snapshots and schedule log", ON, history_mib, 1, "MiB");
    SHOW("move from the end back to the instruction", ON, back, 1000, "ms");
    SHOW("run up to the instruction", CHECKPOINT, run, 1000, "ms");
    SHOW("size of a checkpoint at the instruction", CHECKPOINT, bytes, 1, "MiB");
    SHOW("time to write the checkpoint", CHECKPOINT, save, 1000, "ms");
    SHOW("time to load the checkpoint", CHECKPOINT, load, 1000, "ms");
    SHOW("run under a debugger", DEBUGGER, run, 1, "s");
    SHOW("a step back at the instruction", BACK, back, 1000, "ms");
    SHOW("another", BACK, recheck_at, 1000, "ms");
    SHOW("reverse-continue from the end, no hit", BACK, search, 1000, "ms");
    return 0;
}
