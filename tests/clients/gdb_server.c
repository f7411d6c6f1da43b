/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves a launch file to gdb with options that `lanewise` does not have: it can select the target architecture, does not exit
 * after a detach, and can switch off features of the stub (rsp_features.def) or of the debugger core (fault_injection.def).
 * By switching a feature off, a test can show that a behaviour depends on this feature.
 *
 *   gdb_server LAUNCH.yaml [x86-64|aarch64] [--timing] [--check=LIST] [--without NAME]...
 *   gdb_server --list-features
 */
#include "check/check.h"
#include "gdbstub/rsp_priv.h"
#include "launch/launch.h"
#include "tests/clients/fault_injection.h"
#include "timing/timing.h"

#include <stdio.h>

static bool save_place(void *context, void **data, size_t *size)
{
    return lnc_session_save(context, data, size, NULL) == LW_OK;
}

static void load_place(void *context, const void *data, size_t size)
{
    (void)!lnc_session_load(context, data, size, NULL);
}

static void ready(void *context, unsigned port)
{
    (void)context;
    printf("listening on 127.0.0.1:%u\n", port);
    fflush(stdout);
}

/* A launch file that is executed under a debugger. */
struct run {
    bool timed;
    uint64_t kinds; /* bit mask of the kinds of findings that --check enables */
    struct chk *chk;
    struct chk_view view;
    struct lnc_file *file;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct lnc_session *session;
    struct dbg *dbg;
    struct lw_command_set set;
};

static enum lw_status next(void *context, bool *more, struct lw_error *err)
{
    struct run *run = context;
    enum lnc_state state = LNC_DONE;
    enum lw_status status = lnc_session_next(run->session, &state, err);

    *more = state == LNC_LAUNCHED;
    /* Run until the first block is on a core. */
    while (status == LW_OK && *more && run->timed && run->engine->ops->warp_count(run->engine) == 0) {
        struct emu_stop stop;

        status = tim_engine_run_cycles(run->engine, 1, &stop, err);
    }
    return status;
}

static void found(void *context, unsigned index)
{
    const struct run *run = context;

    if (!spoil_is(SPOIL_FINDINGS))
        dbg_finding(run->dbg, index);
}

static void finding(void *context, unsigned number, struct dbg_finding *out, struct lw_sink *text)
{
    const struct run *run = context;
    const struct chk_finding *f = chk_get(run->chk, number);

    chk_print(f, text);
    *out = (struct dbg_finding){.grid = f->location.grid, .block = f->location.block_number,
                               .warp = f->location.warp, .lanes = f->location.lanes, .pc = f->location.pc, .no_stop = !chk_stops_for(run->chk, f)};
}

static uint64_t when(void *context, unsigned index)
{
    const struct run *run = context;

    return dbg_finding_at(run->dbg, index);
}

static void findings(void *context, dbg_row_fn row, void *row_context)
{
    const struct run *run = context;

    if (run->chk != NULL)
        chk_rows(&run->view, row, row_context);
}

static void run_close(struct run *run)
{
    dbg_destroy(run->dbg);
    chk_destroy(run->chk);
    lnc_session_destroy(run->session);
    emu_engine_destroy(run->engine);
    emu_machine_destroy(run->machine);
    lnc_file_destroy(run->file);
    *run = (struct run){0};
}

static enum lw_status machine_open(struct run *run, const char *path, struct lw_error *err)
{
    static const struct tim_options plain = {0};
    struct tim_config *timing = NULL;
    struct emu_config config;
    enum lw_status status;

    emu_config_default(&config);
    status = lnc_file_load(path, &config, &run->file, err);
    if (status == LW_OK && run->timed) {
        status = tim_config_load("volta", &timing, err);
        if (status == LW_OK)
            tim_config_machine(timing, &config);
    }
    if (status == LW_OK)
        status = emu_machine_create(&config, &run->machine, err);
    if (status == LW_OK)
        status = run->timed ? tim_engine_create(run->machine, timing, &plain, &run->engine, err)
                            : emu_engine_functional_create(run->machine, &run->engine, err);
    tim_config_destroy(timing);
    return status;
}

static enum lw_status run_open(struct run *run, const char *path, bool timed, uint64_t kinds,
                               struct lw_error *err)
{
    struct chk_options checks = {.kinds = kinds, .max_findings = 100, .found = found, .context = run};
    struct lnc_options options = {0};
    enum lw_status status;

    *run = (struct run){.timed = timed, .kinds = kinds};
    status = machine_open(run, path, err);
    if (status == LW_OK)
        status = lnc_session_create(run->file, run->machine, &options, &run->session, err);
    if (status == LW_OK) {
        struct dbg_config dbg_config = {.machine = run->machine, .engine = run->engine,
                                        .next = next, .next_context = run,
                                        .finding = finding, .findings = findings,
                                        .findings_context = run};

        status = dbg_create(&dbg_config, &run->dbg, err);
    }
    if (status == LW_OK && kinds != 0)
        status = chk_create(run->machine, &checks, &run->chk, err);
    if (status == LW_OK && !timed)
        status = dbg_history_start(run->dbg, 0, save_place, load_place, run->session, err);
    if (status != LW_OK) {
        run_close(run);
        return status;
    }
    dbg_register_commands(run->dbg, &run->set);
    run->view = (struct chk_view){run->chk, when, run};
    if (kinds != 0) {
        run->set.tables[run->set.count] =
            (struct lw_command_table){chk_commands, chk_command_count, &run->view};
        run->set.themes[run->set.count++] = "Findings";
    }
    return LW_OK;
}

static void run_serve(const struct run *run, struct rsp_config *rsp)
{
    rsp->dbg = run->dbg;
    rsp->object = lnc_session_object(run->session);
    rsp->monitor = &run->set;
}

struct server {
    const char *path;
    bool timed;
    uint64_t kinds;
    struct run runs[2];
    unsigned now;
};

static enum lw_status restart(void *context, const char *name, struct rsp_config *config,
                              struct lw_error *err)
{
    struct server *server = context;
    enum lw_status status = run_open(&server->runs[!server->now], server->path, server->timed,
                                     server->kinds, err);

    (void)name;
    if (status != LW_OK)
        return status;
    run_serve(&server->runs[!server->now], config);
    run_close(&server->runs[server->now]);
    server->now = !server->now;
    return LW_OK;
}

static int serve(const char *path, bool timed, uint64_t kinds, enum rsp_arch arch,
                 uint64_t without, struct lw_error *err)
{
    struct server server = {.path = path, .timed = timed, .kinds = kinds};
    struct rsp_config rsp = {.arch = arch, .without = without, .restart = restart,
                             .restart_context = &server};
    bool fine = false;

    if (run_open(&server.runs[0], path, timed, kinds, err) == LW_OK) {
        run_serve(&server.runs[0], &rsp);
        fine = rsp_serve(&rsp, "0", spoil_is(SPOIL_RECONNECT), ready, NULL, err) == LW_OK;
    }
    run_close(&server.runs[server.now]);
    return fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct lw_error err = {0};
    enum rsp_arch arch = RSP_X86_64;
    const char *launch = NULL;
    uint64_t without = 0, kinds = 0;
    bool timed = false;
    int status;

    for (int i = 1; i < argc; i++) {
        enum rsp_feature feature;

        if (strcmp(argv[i], "--list-features") == 0) {
            for (unsigned f = 0; rsp_feature_name(f) != NULL; f++)
                printf("%s\t%s\n", rsp_feature_name(f), rsp_feature_summary(f));
            for (unsigned f = 0; spoil_name(f) != NULL; f++)
                printf("%s\t%s\n", spoil_name(f), spoil_summary(f));
            return 0;
        }
        if (strcmp(argv[i], "--without") == 0 && i + 1 < argc) {
            if (spoil_begin(argv[++i]))
                continue;
            if (!rsp_feature_find(argv[i], &feature)) {
                fprintf(stderr, "gdb_server: there is no feature \"%s\"\n", argv[i]);
                return 2;
            }
            without |= UINT64_C(1) << feature;
        } else if (strcmp(argv[i], "--timing") == 0) {
            timed = true;
        } else if (strncmp(argv[i], "--check=", 8) == 0) {
            if (chk_select(argv[i] + 8, &kinds, &err) != LW_OK) {
                fprintf(stderr, "gdb_server: %s\n", err.text);
                return 2;
            }
        } else if (strcmp(argv[i], "aarch64") == 0) {
            arch = RSP_AARCH64;
        } else if (strcmp(argv[i], "x86-64") != 0 && launch == NULL) {
            launch = argv[i];
        } else if (strcmp(argv[i], "x86-64") != 0) {
            launch = NULL;
            break;
        }
    }
    if (launch == NULL) {
        fprintf(stderr, "usage: gdb_server LAUNCH.yaml [x86-64|aarch64] [--timing] "
                        "[--check=LIST] [--without NAME]...\n");
        return 2;
    }
    status = serve(launch, timed, kinds, arch, without, &err);
    if (status != 0)
        fprintf(stderr, "gdb_server: %s\n", err.text);
    return status;
}
