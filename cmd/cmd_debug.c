/* SPDX-License-Identifier: Apache-2.0 */
/* The command lanewise debug, and the gdb server of the commands debug, run and gdb. */
#include "cmd/cmd_priv.h"
#include "gdbstub/gdbstub.h"
#include "shell/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_GIVEN = 256 };

struct options {
    const struct cmd *cmd;
    struct cmd_machine_options machine;
    const char *gdb;
    struct cmd_check check;
    struct sh_given given[MAX_GIVEN]; /* operands of the options -x and -c */
    unsigned given_count;
    bool batch, serve;
};

static enum lw_status take(void *context, unsigned option, const char *value,
                           struct lw_error *err)
{
    struct options *o = context;
    const char *name = o->cmd->options[option].name;
    enum lw_status status = LW_OK;
    struct {
        const char *name;
        const char **to;
    } texts[] = {
        {"gdb", &o->gdb},
        {"warp", &o->machine.warp},     {"reconv", &o->machine.reconv},
        {"policy", &o->machine.policy}, {"quantum", &o->machine.quantum},
        {"fairness-limit", &o->machine.fairness_limit}, {"window", &o->machine.fairness_limit},
        {"hang-limit", &o->machine.hang_limit}, {"hang-window", &o->machine.hang_limit}, {"seed", &o->machine.seed},
        {"level", &o->machine.level},
        {"tags", &o->machine.tags}, {"tag-rules", &o->machine.tag_rules},
        {"tag-expansion", &o->machine.tag_expansion},
        {"tag-plan", &o->machine.tag_plan},
        {"clang", &o->machine.clang},   {"compiler", &o->machine.clang},   {"gdb-arch", &o->machine.gdb_arch},
        {"gdb-file", &o->machine.gdb_file},
        {"log", &o->machine.log},
        {"history", &o->machine.history},       {"replay", &o->machine.replay},
        {"push-order", &o->machine.push_order}, {"resume", &o->machine.resume},
    };

    for (unsigned i = 0; i < LW_COUNT_OF(texts); i++)
        if (strcmp(name, texts[i].name) == 0)
            *texts[i].to = value;
    if (cmd_flags_take(&o->machine.flags, name, value, &status, err))
        return status;
    if (cmd_direct_take(&o->machine, name, value, &status, err))
        return status;
    if (strcmp(name, "debuggable") == 0)
        o->machine.debuggable = true;
    if (strcmp(name, "values") == 0)
        o->machine.keep_values = true;
    if (strcmp(name, "lat-barriers") == 0)
        o->machine.lat_barriers = true;
    if (strncmp(name, "timing", 6) == 0 || strcmp(name, "mechanism") == 0) {
        return cmd_timing_take(&o->machine.timing, name, value, err);
    } else if (strncmp(name, "check", 5) == 0 || strcmp(name, "max-findings") == 0 ||
               strcmp(name, "read-poison") == 0) {
        return cmd_check_take(&o->check, name, value, err);
    } else if (strcmp(name, "gdb") == 0) {
        o->serve = true;
    } else if (strcmp(name, "batch") == 0) {
        o->batch = true;
    } else if (strcmp(name, "execute") == 0 || strcmp(name, "command") == 0) {
        if (o->given_count == MAX_GIVEN)
            return LW_FAIL(err, LW_EUSAGE, "too many options -x and -c: at most %d are allowed", MAX_GIVEN);
        o->given[o->given_count++] =
            (struct sh_given){.text = value, .file = strcmp(name, "execute") == 0};
    }
    return LW_OK;
}

static void stop_of(const struct dbg *dbg, struct emu_stop *out)
{
    const struct dbg_stop *stop = dbg_last_stop(dbg);

    *out = (struct emu_stop){.kind = dbg_ended(dbg) ? EMU_STOP_IDLE : EMU_STOP_NONE};
    if (stop != NULL && (stop->kind == DBG_STOP_FAULT || stop->kind == DBG_STOP_HANG)) {
        out->kind = stop->kind == DBG_STOP_FAULT ? EMU_STOP_FAULT : EMU_STOP_HANG;
        out->fault = stop->fault;
        out->hang = stop->hang;
    }
}

enum cmd_exit cmd_exit_status(const struct cmd_machine *m, const struct emu_stop *stop)
{
    struct lnc_result result;

    lnc_session_result(m->session, &result);
    return stop->kind == EMU_STOP_HANG    ? CMD_HANG
           : stop->kind == EMU_STOP_FAULT ? CMD_FAULT
           : result.failed_checks != 0    ? CMD_WRONG
                                          : CMD_FINE;
}

static bool buffer_of(void *context, const char *name, struct dbg_buffer *out)
{
    const struct cmd_machine *m = context;
    uint64_t size;

    out->type = lnc_session_elements(m->session, name, &out->count);
    return out->type != NULL && lnc_session_buffer(m->session, name, &out->address, &size);
}

static enum lw_status open_debugger(struct cmd_machine *m, struct cmd_check *check,
                                    struct lw_sink *messages, struct dbg **dbg,
                                    struct lw_error *err)
{
    struct dbg_config config = {
        .machine = m->machine,
        .engine = m->engine,
        .next = cmd_machine_next,
        .next_context = m,
        .buffer = buffer_of,
        .buffer_context = m,
        .finding = cmd_check_finding,
        .findings = cmd_check_rows,
        .findings_context = check,
        .timed = m->timing != NULL ? tim_config_name(m->timing) : NULL,
        .messages = messages,
    };
    enum lw_status status = dbg_create(&config, dbg, err);

    if (status == LW_OK)
        cmd_check_attach(check, *dbg);
    return status;
}

static bool save_position(void *context, void **data, size_t *size)
{
    struct cmd_machine *m = context;

    return lnc_session_save(m->session, data, size, NULL) == LW_OK;
}

static void load_position(void *context, const void *data, size_t size)
{
    struct cmd_machine *m = context;

    /* The same session has saved this data, so loading cannot fail. */
    (void)!lnc_session_load(m->session, data, size, NULL);
}

enum lw_status cmd_history_start(struct cmd_machine *m, const char *mib, struct dbg *dbg,
                                 struct lw_error *err)
{
    unsigned budget = 0;
    enum lw_status status = cmd_number("history", mib, 0, 1u << 20, &budget, err);

    if (m->timing != NULL) /* the timing model has no history; --history was refused in cmd_machine_open() */
        return LW_OK;
    if (status != LW_OK || (mib != NULL && budget == 0))
        return status;
    status = dbg_history_start(dbg, (uint64_t)budget << 20, save_position, load_position, m, err);
    /* Without --history, it is no error that a run cannot record history; the reverse commands report the reason. */
    return status == LW_EUNSUPP && mib == NULL ? LW_OK : status;
}

/* ---- the timing model's commands on a debugger -------------------------------------- */

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

static struct lw_command_set commands_for(struct cmd_machine *m, struct cmd_check *check,
                                          struct dbg *dbg)
{
    struct lw_command_set set = {0};

    dbg_register_commands(dbg, &set);
    set.tables[set.count] = (struct lw_command_table){chk_commands, chk_command_count, &check->view};
    set.themes[set.count++] = "Findings";
    /* The commands exist without --timing, too, and then say that they need this option. */
    m->view = (struct tim_view){m->timing != NULL ? m->engine : NULL, focus_location, run_cycles, dbg};
    set.tables[set.count] = (struct lw_command_table){tim_commands, tim_command_count, &m->view};
    set.themes[set.count++] = m->timing != NULL ? "Cycles" : "Cycles (in a run with --timing)";
    return set;
}

/** A run that gdb's `run` will start, with its debugger and commands. */
struct built {
    struct cmd_machine *m; /* owned: machine and session of the run, or NULL if no run is built */
    struct dbg *dbg;
    struct lw_command_set set;
    struct cmd_check check; /* the checker of this run */
};

/** State of a gdb server, and of the run that it serves, which gdb may restart. */
struct serving {
    const struct cmd_serve *how;
    const char *address;
    struct lw_error err; /* error of starting gdb */
    enum lw_status status;
    bool aarch64;
    struct dbg *dbg;           /* debugger of the latest run */
    struct cmd_machine *restarted; /* owned: the latest run; NULL: gdb has not restarted the caller's run */
    struct built next;         /* owned: the run that gdb's next `run` starts */
    struct lw_command_set set;
    const char *program; /* program file with which gdb was started, or NULL if gdb was started without one */
    struct lw_file_sink out;   /* receives the debugger's messages while no gdb is connected */
};

/* Called when the server listens: starts gdb, or prints how to connect a debugger. */
static void announce(void *context, unsigned port)
{
    struct serving *serving = context;
    const char *address = serving->address, *colon = strrchr(address, ':');
    int host = colon != NULL ? (int)(colon - address) : 0;
    char target[300];

    if (serving->how->gdb != NULL) {
        serving->status = cmd_gdb_start(serving->how->gdb, serving->how->launch_file, &serving->err);
        return;
    }

    if (strncmp(address, "unix:", 5) == 0)
        snprintf(target, sizeof target, "%s", address + 5); /* gdb needs no unix: before the name of a socket file */
    else
        snprintf(target, sizeof target, "%.*s:%u", host, address, port);
    if (rsp_address_is_open(address))
        fprintf(stderr, "lanewise: warning: --gdb %s: anyone who can reach this address can control the run and read "
                        "its memory; use --gdb PORT or --gdb unix:PATH to accept only connections from this machine\n",
                        address);
    printf("gdb: target remote %s\n", target);
    if (port != 0 && !serving->aarch64)
        printf("lldb: gdb-remote %.*s%s%u\n", host, address, host != 0 ? ":" : "", port);
    printf("waiting for a debugger; in another terminal, run: gdb -ex 'target remote %s'\n", target);
    fflush(stdout); /* a script may wait for this line to read the port from it */
}

/* Creates a debugger with history and commands for a run, and stores it in @config. */
static enum lw_status serve_run(struct serving *serving, struct cmd_machine *m,
                                struct lw_command_set *set, struct rsp_config *config,
                                struct lw_error *err)
{
    struct dbg *dbg = NULL;
    enum lw_status status = open_debugger(m, serving->how->check, &serving->out.sink, &dbg, err);

    if (status != LW_OK)
        return status;
    status = cmd_history_start(m, serving->how->options->history, dbg, err);
    if (status != LW_OK) {
        dbg_destroy(dbg);
        return status;
    }
    *set = commands_for(m, serving->how->check, dbg);
    config->dbg = dbg;
    config->monitor = set;
    config->object = lnc_session_object(m->session);
    return LW_OK;
}

static void drop_built(struct built *built)
{
    if (built->m == NULL)
        return;
    dbg_destroy(built->dbg);
    chk_destroy(built->check.chk);
    cmd_machine_close(built->m);
    free(built->m);
    built->m = NULL;
}

/* Loads the launch file again, and stores the new run in serving->next. The current run does not change. */
static enum lw_status build(struct serving *serving, const struct rsp_config *now,
                            struct lw_error *err)
{
    struct cmd_check *check = serving->how->check, past = *check;
    struct built *next = &serving->next;
    struct rsp_config config = *now;
    struct cmd_machine *m;
    enum lw_status status;

    drop_built(next);
    m = calloc(1, sizeof *m);
    if (m == NULL)
        return LW_FAIL(err, LW_ENOMEM, "run: the host has no memory for the new run");
    status = cmd_machine_open(serving->how->launch_file, serving->how->options,
                              serving->how->print, serving->how->messages, m, err);
    check->chk = NULL;
    check->dbg = NULL;
    if (status == LW_OK)
        status = cmd_check_begin(check, m->machine, m->session, err);
    if (status == LW_OK)
        status = serve_run(serving, m, &next->set, &config, err);
    if (status == LW_OK) {
        next->m = m;
        next->dbg = config.dbg;
        next->check = *check;
    } else {
        chk_destroy(check->chk);
        cmd_machine_close(m);
        free(m);
    }
    *check = past;
    return status;
}

static bool same_files(const char *one, const char *other)
{
    FILE *a = fopen(one, "rb"), *b = fopen(other, "rb");
    int x = EOF, y = 0;

    if (a != NULL && b != NULL)
        do {
            x = getc(a);
            y = getc(b);
        } while (x == y && x != EOF);
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    return x == y;
}

/* Writes the program to the file @path, which gdb has open, unless its contents are the same. Writes a new file whose
 * modification time is at least one second later, because gdb detects a change by this time in seconds. */
static enum lw_status replace_program(const struct rsp_config *config, const char *path,
                                      struct lw_error *err)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
    struct stat before, after;
    enum lw_status status;
    char next[200];

    snprintf(next, sizeof next, "%s.next", path);
    status = rsp_program_write(config, next, false, err);
    if (status != LW_OK)
        return status;
    if (same_files(path, next))
        return unlink(next) == 0 ? LW_OK : LW_FAIL(err, LW_EIO, "%s: %s", next, strerror(errno));
    if (stat(path, &before) == 0 && stat(next, &after) == 0 &&
        after.st_mtim.tv_sec <= before.st_mtim.tv_sec) {
        times[1].tv_sec = before.st_mtim.tv_sec + 1;
        if (utimensat(AT_FDCWD, next, times, 0) != 0) /* fails, because with the old time gdb would keep the old line table */
            status = LW_FAIL(err, LW_EIO, "%s: cannot set the modification time of the file: %s",
                             next, strerror(errno));
    }
    if (status == LW_OK && rename(next, path) != 0)
        status = LW_FAIL(err, LW_EIO, "%s: %s", path, strerror(errno));
    if (status != LW_OK)
        unlink(next);
    return status;
}

/* Called before gdb executes `run`: builds the new run, and writes its program to the file that gdb then reads again. */
static enum lw_status build_ahead(void *context, struct rsp_config *config, struct lw_error *err)
{
    struct serving *serving = context;
    struct rsp_config next = *config;
    enum lw_status status = build(serving, config, err);

    if (status != LW_OK)
        return status;
    next.dbg = serving->next.dbg;
    next.monitor = &serving->next.set;
    next.object = lnc_session_object(serving->next.m->session);
    return replace_program(&next, serving->program, err);
}

/* Starts the run of serving->next for gdb's `run`; builds that run first if necessary. The results of the previous run are not
 * checked: only the last run determines the exit status. */
static enum lw_status restart(void *context, const char *name, struct rsp_config *config,
                                  struct lw_error *err)
{
    struct serving *serving = context;
    const char *file = serving->how->launch_file, *slash = strrchr(file, '/');
    struct cmd_check *check = serving->how->check, past = *check;
    struct built *next = &serving->next;
    struct dbg *before = config->dbg;
    enum lw_status status = LW_OK;

    if (*name != '\0' && strcmp(name, file) != 0 &&
        strcmp(name, slash != NULL ? slash + 1 : file) != 0)
        return LW_FAIL(err, LW_EUSAGE, "run: this session can only run %s, not \"%.200s\": start another lanewise for "
                                       "that file", file, name);
    if (next->m == NULL)
        status = build(serving, config, err);
    if (status != LW_OK) {
        (void)cmd_error(err); /* gdb 13 does not show the reason why `run` failed */
        return status;
    }
    *check = next->check;
    serving->set = next->set;
    config->dbg = next->dbg;
    config->monitor = &serving->set;
    config->object = lnc_session_object(next->m->session);
    dbg_destroy(before);
    chk_destroy(past.chk);
    if (serving->restarted != NULL)
        cmd_machine_close(serving->restarted);
    free(serving->restarted);
    serving->restarted = next->m;
    serving->dbg = config->dbg;
    next->m = NULL;
    return LW_OK;
}

enum lw_status cmd_serve_gdb(struct cmd_machine *m, const struct cmd_serve *how,
                             struct emu_stop *stop, bool *detached, struct lw_error *err)
{
    const char *address = how->address != NULL ? how->address : "0", *arch = how->options->gdb_arch;
    const char *file = how->options->gdb_file;
    struct serving serving = {.how = how, .address = address, .status = LW_OK};
    enum rsp_end end = RSP_RUNNING;
    const int quit = cmd_end_fd();
    struct rsp_config config = {.arch = RSP_X86_64, .ended = &end, .restart = restart,
                                .restart_context = &serving, .quit_fd = &quit};
    enum lw_status status;

    if (arch != NULL && strcmp(arch, "aarch64") == 0)
        config.arch = RSP_AARCH64, serving.aarch64 = true;
    else if (arch != NULL && strcmp(arch, "x86-64") != 0)
        return LW_FAIL(err, LW_EUSAGE, "%s: expected x86-64 or aarch64, found \"%.40s\"",
                       how->gdb != NULL ? "--arch" : "--gdb-arch", arch);
    if (how->gdb != NULL) {
        how->gdb->aarch64 = config.arch == RSP_AARCH64;
        config.quit_kills = config.no_thread_events = true;
        config.stop_at_end = cmd_gdb_is_interactive(how->gdb);
        config.gone_fd = &how->gdb->exited_fd;
        status = cmd_gdb_prepare(how->gdb, err);
        if (status != LW_OK)
            return status;
        address = how->gdb->address;
        file = how->gdb->program_file;
    }
    lw_file_sink_init(&serving.out, stdout);
    config.terminal = &serving.out.sink;
    status = serve_run(&serving, m, &serving.set, &config, err);
    if (status != LW_OK)
        return status;
    serving.dbg = config.dbg;
    if (file != NULL) {
        status = rsp_program_write(&config, file, how->gdb == NULL, err);
        config.has_file = true;
        serving.program = file;
        if (how->gdb != NULL)
            config.renew = build_ahead;
        if (status != LW_OK)
            lw_error_prefix(err, how->gdb != NULL ? "gdb" : "--gdb-file");
    }
    if (status == LW_OK)
        status = rsp_serve(&config, address, how->once, announce, &serving, err);
    if (status == LW_OK && serving.status != LW_OK) {
        status = serving.status;
        *err = serving.err;
    }
    *detached = end == RSP_DETACHED;
    stop_of(serving.dbg, stop);
    drop_built(&serving.next);
    how->check->dbg = NULL;
    dbg_destroy(serving.dbg);
    if (serving.restarted != NULL) { /* gives the caller the latest run; no debugger uses the first run any more */
        cmd_machine_close(m);
        *m = *serving.restarted;
        free(serving.restarted);
    }
    return status;
}

/** State of a shell session. `restore` replaces its run; the members named *before hold the replaced run until restored(). */
struct host {
    const char *path; /* name of the launch file */
    const struct cmd_machine_options *options;
    struct cmd_check *check, check_before;
    struct lw_sink *out;
    struct cmd_machine *now, *before; /* owned; on the heap, because debuggers keep pointers to them */
    struct dbg *dbg, *dbg_before;
};

static enum lw_status save(void *context, const char *path, struct lw_error *err)
{
    struct host *host = context;
    struct emu_history_info info;

    /* When the machine goes back in history, the session's position in the launch file does not go back before the past
     * is edited. A checkpoint in the past would therefore combine an old state of the machine with a later position. */
    if (dbg_history_info(host->dbg, &info) && info.in_past)
        return LW_FAIL(err, LW_ESTATE, "cannot save a checkpoint in the past: use `goto end` first");
    return cmd_machine_save(host->now, path, err);
}

static enum lw_status restore(void *context, const char *path, struct dbg **out,
                              struct lw_error *err)
{
    struct host *host = context;
    struct cmd_machine_options options = *host->options;
    struct cmd_machine *m;
    enum lw_status status;

    if (options.log != NULL || options.replay != NULL)
        return LW_FAIL(err, LW_EUSAGE, "restore cannot be used with --%s, as a schedule log must start at the start of "
                                       "the run", options.log != NULL ? "log" : "replay");
    options.resume = path;
    m = calloc(1, sizeof *m);
    if (m == NULL)
        return LW_FAIL(err, LW_ENOMEM, "restore: the host has no memory for the machine");
    status = cmd_machine_open(host->path, &options, host->out, host->out, m, err);
    host->check_before = *host->check;
    host->check->chk = NULL;
    host->check->dbg = NULL;
    if (status == LW_OK) {
        status = cmd_check_begin(host->check, m->machine, m->session, err);
        if (status == LW_ESTATE)
            status = LW_FAIL(err, LW_EUSAGE, "restore cannot be used with checks of races, uninitialised values or "
                                             "performance, as a kernel must be checked from its start");
    }
    if (status == LW_OK)
        status = open_debugger(m, host->check, host->out, out, err);
    if (status == LW_OK) {
        status = cmd_history_start(m, options.history, *out, err);
        if (status != LW_OK)
            dbg_destroy(*out);
    }
    if (status != LW_OK) {
        chk_destroy(host->check->chk);
        *host->check = host->check_before;
        cmd_machine_close(m);
        free(m);
        return status;
    }
    host->before = host->now;
    host->now = m;
    cmd_end_engine(m->engine);
    host->dbg_before = host->dbg;
    host->dbg = *out;
    return LW_OK;
}

static void restored(void *context)
{
    struct host *host = context;

    dbg_destroy(host->dbg_before);
    chk_destroy(host->check_before.chk);
    cmd_machine_close(host->before);
    free(host->before);
    host->before = NULL;
    host->dbg_before = NULL;
}

/** Returns true if a signal was received. The shell then ends as after `quit`, so that findings are reported. */
static bool ended(void *context)
{
    (void)context;
    return cmd_end_signal() != 0;
}

static int debug(const struct cmd *cmd, struct options *o, int argc, char **argv)
{
    const struct lnc_limits none = {0};
    struct lw_command_set set;
    struct lw_file_sink out;
    struct host host = {.options = &o->machine, .check = &o->check, .out = &out.sink};
    unsigned found = 0;
    struct emu_stop stop;
    struct lw_error err;
    int status, quit = 0, operands = cmd_parse(cmd, argc, argv, take, o, &status);

    if (operands < 0)
        return status;
    if (operands != 1)
        return cmd_wrong_operands(cmd, operands, argv + 1, &o->machine);
    if (o->machine.gdb_arch != NULL && !o->serve)
        return cmd_wrong_usage(cmd, CMD_GDB_ARCH_ALONE);
    if (o->machine.gdb_file != NULL && !o->serve)
        return cmd_wrong_usage(cmd, CMD_GDB_FILE_ALONE);
    cmd_debuggable_resolve(&o->machine);
    if (cmd_check_prepare(&o->check, cmd->name, argv[1], &err) != LW_OK)
        return cmd_error(&err);
    o->check.debugged = true;
    lw_file_sink_init(&out, stdout);
    host.path = argv[1];
    host.now = calloc(1, sizeof *host.now);
    if (host.now == NULL) {
        lw_fail(&err, LW_ENOMEM, "the host has no memory for a session");
        return cmd_error(&err);
    }
    if (cmd_machine_open(argv[1], &o->machine, &out.sink, &out.sink, host.now, &err) != LW_OK) {
        free(host.now);
        cmd_check_close(&o->check);
        return cmd_open_error(&err, o->machine.clang);
    }
    if (o->machine.save_launch != NULL && lnc_file_save(host.now->file, o->machine.save_launch, &err) != LW_OK) {
        lw_error_prefix(&err, "%s: --save-launch", cmd->name);
        status = cmd_error(&err);
        goto cleanup;
    }
    o->check.by_options = host.now->direct;
    if (cmd_check_begin(&o->check, host.now->machine, host.now->session, &err) != LW_OK) {
        status = cmd_check_begin_error(&o->check, cmd->name, o->machine.resume, &err);
        goto cleanup;
    }
    if (o->serve) {
        bool detached;
        struct cmd_serve how = {.launch_file = argv[1],
                                .address = o->gdb,
                                .options = &o->machine,
                                .check = &o->check,
                                .print = &out.sink,
                                .messages = &out.sink};

        cmd_end_catch(NULL, NULL);
        status = cmd_serve_gdb(host.now, &how, &stop, &detached, &err) != LW_OK
                     ? cmd_error(&err)
                     : (int)cmd_exit_status(host.now, &stop);
        if (cmd_end_signal() != 0 && status != CMD_USAGE && stop.kind == EMU_STOP_NONE)
            (void)cmd_end_due(&none, host.now, 0, &stop);
        if (cmd_check_end(&o->check, &stop, argv[1], &found) != CMD_FINE)
            status = CMD_USAGE;
        else if (status == CMD_FINE && found != 0)
            status = CMD_WRONG;
        goto cleanup;
    }
    if (open_debugger(host.now, &o->check, &out.sink, &host.dbg, &err) != LW_OK ||
        cmd_history_start(host.now, o->machine.history, host.dbg, &err) != LW_OK) {
        status = cmd_error(&err);
        goto cleanup;
    }
    set = commands_for(host.now, &o->check, host.dbg);
    struct sh_config shell = {
        .dbg = host.dbg,
        .commands = &set,
        .out = &out.sink,
        .interactive = !o->batch && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
        .colour = cmd_colour(STDOUT_FILENO),
        .batch = o->batch,
        .given = o->given,
        .given_count = o->given_count,
        .save = save,
        .restore = restore,
        .restored = restored,
        .ended = ended,
        .context = &host,
    };
    status = CMD_FINE;
    cmd_end_catch_in_shell(host.now->engine);
    if (sh_run(&shell, &quit, &err) != LW_OK)
        status = cmd_error(&err);
    cmd_end_engine(NULL);
    if (quit != 0 || status == CMD_FINE) /* `quit` is 1 after a failed `assert`, and takes precedence over the error */
        status = quit;
    stop_of(host.dbg, &stop);
    if (cmd_end_signal() != 0 && stop.kind == EMU_STOP_NONE)
        (void)cmd_end_due(&none, host.now, 0, &stop);
    else if (status == CMD_FINE && o->batch)
        status = (int)cmd_exit_status(host.now, &stop);
    o->check.dbg = NULL;
    if (cmd_check_end(&o->check, &stop, argv[1], &found) != CMD_FINE)
        status = CMD_USAGE;
    else if (status == CMD_FINE && !shell.interactive && quit == 0 && found != 0)
        status = CMD_WRONG;
cleanup:
    if (cmd_end_signal() != 0)
        fprintf(stderr, "interrupted by %s: the report covers the run up to this point\n",
                cmd_end_signal_name(cmd_end_signal()));
    dbg_destroy(host.dbg);
    if (host.now->machine != NULL)
        cmd_check_close(&o->check);
    if (host.now->log_path != NULL && cmd_machine_finish(host.now, false, &err) != LW_OK &&
        status == CMD_FINE)
        status = cmd_error(&err);
    cmd_machine_close(host.now);
    free(host.now);
    return status;
}

int cmd_debug(const struct cmd *cmd, int argc, char **argv)
{
    struct options o = {.cmd = cmd};
    int status = debug(cmd, &o, argc, argv);

    cmd_check_close(&o.check); /* frees suppressions and names if the machine was not created */
    lw_arena_fini(&o.machine.flags.arena);
    cmd_end_die();
    return status;
}
