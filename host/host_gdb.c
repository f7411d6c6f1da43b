/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets gdb debug the launches of a program. A separate thread, the server, serves gdb. Either the program's thread or the
 * server uses the machine, never both. lanewise_wait() gives the machine to the server and waits until all launches have
 * run. The server gives the machine back when the debugger requests the next launch (next_launch). Recording of history
 * starts again each time, because reverse execution cannot undo what the program does between launches.
 */
#include "host/host_priv.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gdbstub/gdbstub.h"

enum { POLL_NS = 20000000 }; /* nanoseconds between two checks for Ctrl-C while the server waits for the program */

enum owner { PROGRAM, SERVER }; /* the thread that uses the machine now */
struct host_gdb {
    struct lanewise_machine *machine;
    char *address, *kernel, *advice;
    uint64_t history_bytes;
    void (*ready)(void *context, const char *target);
    void *context;
    bool own;     /* if the connection breaks, the program is killed */
    bool started; /* the server's thread was created */
    bool over;    /* the session has ended, so that later launches run without a debugger */
    struct dbg *dbg;
    struct lw_command_set set;
    struct chk_view findings;
    struct tim_view timing;
    struct lw_file_sink out; /* receives the debugger's messages while no gdb is connected */
    pthread_t thread;
    pthread_mutex_t mutex; /* protects the following members */
    pthread_cond_t changed;
    enum owner owner;
    bool last;         /* the program makes no more launches */
    bool ended;        /* the server's thread has ended; the members below are its results */
    enum rsp_end end; /* how the connection ended */
    enum lw_status status;
    struct lw_error err;
};

int lanewise_gdb(lanewise_machine *m, const lanewise_gdb_options *given, size_t given_bytes)
{
    lanewise_gdb_options options = {0};
    struct host_gdb *g;

    if (m == NULL || given == NULL)
        return host_missing(m, "lanewise_gdb", "the options");
    if (m->machine != NULL || m->gdb != NULL)
        return host_refuse(m, "lanewise_gdb: %s", m->gdb != NULL ? "it was called before for this machine"
                                                                  : "the machine is already in use: call it before you "
                                                                    "load a program or allocate memory");
    memcpy(&options, given, given_bytes < sizeof options ? given_bytes : sizeof options);
    g = calloc(1, sizeof *g);
    if (g == NULL)
        return host_refuse(m, "the host has no memory for a debugger");
    g->machine = m;
    g->address = strdup(options.address != NULL && options.address[0] != '\0' ? options.address : "0");
    g->kernel = options.kernel != NULL ? strdup(options.kernel) : NULL;
    g->advice = options.advice != NULL ? strdup(options.advice) : NULL;
    g->history_bytes = options.history_mib << 20;
    g->own = options.own != 0;
    g->ready = options.ready;
    g->context = options.context;
    lw_file_sink_init(&g->out, stdout);
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->changed, NULL);
    m->gdb = g;
    return LANEWISE_OK;
}

/* ---- findings, for which the debugger stops ----------------------------------------------------- */

void host_gdb_found(void *context, unsigned index)
{
    const struct lanewise_machine *m = context;

    if (m->gdb != NULL && m->gdb->dbg != NULL)
        dbg_finding(m->gdb->dbg, index);
}

void host_gdb_note(void *context, const char *message)
{
    const struct lanewise_machine *m = context;

    if (m->gdb != NULL && m->gdb->dbg != NULL)
        dbg_finding_record(m->gdb->dbg, message);
}

static void describe_finding(void *context, unsigned number, struct dbg_finding *out, struct lw_sink *text)
{
    const struct host_gdb *g = context;
    const struct chk_finding *f = g->machine->chk != NULL ? chk_get(g->machine->chk, number) : NULL;

    if (f == NULL)
        return;
    chk_print(f, text);
    *out = (struct dbg_finding){.grid = f->location.kernel[0] != '\0' ? f->location.grid : 0,
                                .block = f->location.block_number,
                                .warp = f->location.warp,
                                .lanes = f->location.lanes,
                                .pc = f->location.pc,
                                .no_stop = !chk_stops_for(g->machine->chk, f)};
}

/** Returns the instruction count before finding @index (chk_view.when). */
static uint64_t when(void *context, unsigned index)
{
    const struct host_gdb *g = context;

    return g->dbg != NULL ? dbg_finding_at(g->dbg, index) : UINT64_MAX;
}

static void put_findings(void *context, dbg_row_fn row, void *row_context)
{
    const struct host_gdb *g = context;

    if (g->machine->chk != NULL)
        chk_rows(&g->findings, row, row_context);
}

/* ---- functions of the server's thread ------------------------------------------------------------ */

/** Starts to record history. */
static void begin_history(struct host_gdb *g)
{
    /* If the engine cannot record history, reverse commands of gdb fail with a message that says so. */
    (void)!dbg_history_start(g->dbg, g->history_bytes, NULL, NULL, NULL, NULL);
}

/** Gives the machine to the program's thread until that thread is in lanewise_wait() with a launch (dbg_next_fn). */
static enum lw_status next_launch(void *context, bool *more, struct lw_error *err)
{
    struct host_gdb *g = context;
    bool noted = false;

    (void)err;
    if (g->dbg != NULL) /* NULL when dbg_create() calls this function */
        dbg_history_stop(g->dbg);
    pthread_mutex_lock(&g->mutex);
    g->owner = PROGRAM;
    pthread_cond_broadcast(&g->changed);
    while (g->owner == PROGRAM && !g->last) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&g->changed, &g->mutex, &until);
        if (g->machine->engine->interrupted && !noted) {
            noted = true;
            dbg_finding_record(g->dbg, "no kernel is running: the run will stop at the next launch");
        }
    }
    *more = !g->last;
    pthread_mutex_unlock(&g->mutex);
    if (*more)
        begin_history(g);
    return LW_OK;
}

static void announce(void *context, unsigned port)
{
    struct host_gdb *g = context;
    const char *colon = strrchr(g->address, ':');
    char target[300];

    if (g->ready == NULL)
        return;
    if (strncmp(g->address, "unix:", 5) == 0)
        snprintf(target, sizeof target, "%.290s", g->address + 5); /* gdb's operand for a Unix socket is its path alone */
    else
        snprintf(target, sizeof target, "%.*s:%u", colon != NULL ? (int)(colon - g->address) : 0, g->address, port);
    g->ready(g->context, target);
}

/** Returns the object that contains the kernel that is about to run. */
static const struct isa_object *current_object(const struct lanewise_machine *m)
{
    return emu_program_object(emu_grid_current(m->machine)->launch.program);
}

static void *server_main(void *context)
{
    struct host_gdb *g = context;
    struct rsp_config config = {.dbg = g->dbg, .object = current_object(g->machine), .monitor = &g->set,
                                .arch = g->machine->settings.aarch64 ? RSP_AARCH64 : RSP_X86_64,
                                .ended = &g->end, .quit_kills = g->own, .no_thread_events = g->own, .terminal = &g->out.sink};
    struct lw_error err;
    const enum lw_status status = rsp_serve(&config, g->address, true, announce, g, &err);

    pthread_mutex_lock(&g->mutex);
    g->status = status;
    if (status != LW_OK)
        g->err = err;
    g->ended = true;
    g->owner = PROGRAM;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

/* ---- functions of the program's thread --------------------------------------------------------------- */

static bool focus_location(void *context, struct emu_thread_ref *out)
{
    struct dbg_thread thread;

    if (!dbg_thread_get(context, dbg_focus_get(context, DBG_FOCUS_VIEW), &thread))
        return false;
    *out = thread.location;
    return true;
}

static enum lw_status run_cycles(void *context, struct lw_sink *out, struct lw_error *err)
{
    struct dbg_stop stop;
    enum lw_status status = dbg_continue(context, &stop, err);

    if (status == LW_OK && stop.kind != DBG_STOP_INTERRUPT)
        dbg_stop_print(context, &stop, out);
    return status;
}

/** Registers the commands of gdb's `monitor`. */
static void make_commands(struct host_gdb *g)
{
    const bool timed = g->machine->timing != NULL;

    dbg_register_commands(g->dbg, &g->set);
    g->findings = (struct chk_view){g->machine->chk, when, g};
    g->set.tables[g->set.count] = (struct lw_command_table){chk_commands, chk_command_count, &g->findings};
    g->set.themes[g->set.count++] = "Findings";
    g->timing = (struct tim_view){timed ? g->machine->engine : NULL, focus_location, run_cycles, g->dbg};
    g->set.tables[g->set.count] = (struct lw_command_table){tim_commands, tim_command_count, &g->timing};
    g->set.themes[g->set.count++] = timed ? "Cycles" : "Cycles, of a run with --timing";
}

/** Creates the debugger and the server's thread, which uses the machine from then on. */
static enum lw_status start(struct host_gdb *g, struct lw_error *err)
{
    struct lanewise_machine *m = g->machine;
    const struct dbg_config config = {.machine = m->machine,
                                      .engine = m->engine,
                                      .next = next_launch,
                                      .next_context = g,
                                      .finding = describe_finding,
                                      .findings = put_findings,
                                      .findings_context = g,
                                      .advice = g->advice,
                                      .timed = m->timing != NULL ? tim_config_name(m->timing) : NULL,
                                      .messages = &g->out.sink};
    sigset_t all, before;
    enum lw_status status = dbg_create(&config, &g->dbg, err);

    if (status != LW_OK)
        return status;
    begin_history(g);
    make_commands(g);
    g->owner = SERVER;
    sigfillset(&all); /* The server inherits a mask of all signals, so that signals are delivered to threads of the program. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    g->started = pthread_create(&g->thread, NULL, server_main, g) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return g->started ? LW_OK : LW_FAIL(err, LW_EIO, "gdb: the host cannot start a thread that serves it");
}

bool host_gdb_wants(const struct lanewise_machine *m)
{
    const struct host_gdb *g = m->gdb;
    const struct isa_function *found;
    const struct emu_launch *launch;

    if (g == NULL || g->over)
        return false;
    if (g->started || g->kernel == NULL)
        return true;
    launch = &emu_grid_current(m->machine)->launch;
    return lnc_kernel_named(emu_program_object(launch->program), "", g->kernel, &found, NULL) == LW_OK && found == launch->kernel;
}

int host_gdb_run(struct lanewise_machine *m, bool *left)
{
    struct host_gdb *g = m->gdb;
    struct lw_error err;
    enum lw_status status = m->timing != NULL ? tim_engine_run_to_warp(m->engine, &err) : LW_OK;

    *left = true;
    if (status == LW_OK && !g->started) {
        status = start(g, &err);
        g->over = status != LW_OK;
    }
    if (status != LW_OK)
        return host_fail(m, &err);
    pthread_mutex_lock(&g->mutex);
    if (!g->ended)
        g->owner = SERVER;
    pthread_cond_broadcast(&g->changed);
    while (g->owner == SERVER)
        pthread_cond_wait(&g->changed, &g->mutex);
    *left = g->ended;
    pthread_mutex_unlock(&g->mutex);
    if (!*left)
        return LANEWISE_OK;
    status = g->status;
    err = g->err;
    host_gdb_end(m);
    if (status != LW_OK)
        return host_fail(m, &err);
    if (g->end == RSP_KILLED) {
        m->stopped = true;
        lw_buffer_clear(&m->error);
        lw_put(&m->error.sink, "gdb has killed the program");
        return LANEWISE_KILLED;
    }
    return LANEWISE_OK;
}

void host_gdb_end(struct lanewise_machine *m)
{
    struct host_gdb *g = m->gdb;

    if (g == NULL || g->over)
        return;
    g->over = true;
    if (!g->started)
        return;
    pthread_mutex_lock(&g->mutex);
    g->last = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
    pthread_join(g->thread, NULL);
    dbg_destroy(g->dbg);
    g->dbg = NULL;
}

void host_gdb_free(struct lanewise_machine *m)
{
    struct host_gdb *g = m->gdb;

    if (g == NULL)
        return;
    host_gdb_end(m);
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->mutex);
    free(g->address);
    free(g->kernel);
    free(g->advice);
    free(g);
    m->gdb = NULL;
}
