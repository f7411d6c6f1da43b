/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch file served to gdb with the options that the program does not offer: the
 * carrier, and staying after a detach.
 *
 *   gdb_server LAUNCH.yaml x86-64|aarch64
 */
#include "gdbstub/gdbstub.h"
#include "launch/launch.h"

#include <stdio.h>

static enum lw_status next(void *context, bool *more, struct lw_error *err)
{
    enum lnc_state state = LNC_DONE;
    enum lw_status status = lnc_session_next(context, &state, err);

    *more = state == LNC_LAUNCHED;
    return status;
}

static void ready(void *context, unsigned port)
{
    (void)context;
    printf("listening on 127.0.0.1:%u\n", port);
    fflush(stdout);
}

static int serve(const char *path, enum rsp_arch arch, struct lw_error *err)
{
    struct emu_config config;
    struct lnc_file *file = NULL;
    struct emu_machine *machine = NULL;
    struct emu_engine *engine = NULL;
    struct lnc_session *session = NULL;
    struct dbg *dbg = NULL;
    struct lnc_options options = {0};
    struct lw_command_set set = {0};
    struct rsp_config rsp = {.arch = arch, .monitor = &set};
    bool fine = false;

    emu_config_default(&config);
    if (lnc_file_load(path, &config, &file, err) != LW_OK ||
        emu_machine_create(&config, &machine, err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, err) != LW_OK ||
        lnc_session_create(file, machine, &options, &session, err) != LW_OK)
        goto cleanup;
    struct dbg_config dbg_config = {
        .machine = machine, .engine = engine, .next = next, .next_context = session};
    if (dbg_create(&dbg_config, &dbg, err) != LW_OK)
        goto cleanup;
    dbg_commands_join(dbg, &set);
    rsp.dbg = dbg;
    rsp.object = lnc_session_object(session);
    fine = rsp_serve(&rsp, "0", false, ready, NULL, err) == LW_OK;
cleanup:
    dbg_destroy(dbg);
    lnc_session_destroy(session);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    lnc_file_destroy(file);
    return fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct lw_error err = {0};
    int status;

    if (argc != 3) {
        fprintf(stderr, "usage: gdb_server LAUNCH.yaml x86-64|aarch64\n");
        return 2;
    }
    status = serve(argv[1], strcmp(argv[2], "aarch64") == 0 ? RSP_AARCH64 : RSP_X86_64, &err);
    if (status != 0)
        fprintf(stderr, "gdb_server: %s\n", err.text);
    return status;
}
