/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch file served to gdb with the options that the program does not offer: the
 * carrier, staying after a detach, and doing without a feature, which shows in a test that a
 * behaviour comes from it.
 *
 *   gdb_server LAUNCH.yaml [x86-64|aarch64] [--without NAME]...
 *   gdb_server --list-features
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

static int serve(const char *path, enum rsp_arch arch, uint64_t without, struct lw_error *err)
{
    struct emu_config config;
    struct lnc_file *file = NULL;
    struct emu_machine *machine = NULL;
    struct emu_engine *engine = NULL;
    struct lnc_session *session = NULL;
    struct dbg *dbg = NULL;
    struct lnc_options options = {0};
    struct lw_command_set set = {0};
    struct rsp_config rsp = {.arch = arch, .monitor = &set, .without = without};
    bool fine = false;

    emu_config_default(&config);
    if (lnc_file_load(path, &config, &file, err) != LW_OK ||
        emu_machine_create(&config, &machine, err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, err) != LW_OK ||
        lnc_session_create(file, machine, &options, &session, err) != LW_OK)
        goto cleanup;
    struct dbg_config dbg_config = {
        .machine = machine, .engine = engine, .next = next, .next_context = session};
    if (dbg_create(&dbg_config, &dbg, err) != LW_OK ||
        dbg_history_start(dbg, 0, save_place, load_place, session, err) != LW_OK)
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
    enum rsp_arch arch = RSP_X86_64;
    const char *launch = NULL;
    uint64_t without = 0;
    int status;

    for (int i = 1; i < argc; i++) {
        enum rsp_feature feature;

        if (strcmp(argv[i], "--list-features") == 0) {
            for (unsigned f = 0; rsp_feature_name(f) != NULL; f++)
                printf("%s\t%s\n", rsp_feature_name(f), rsp_feature_summary(f));
            return 0;
        }
        if (strcmp(argv[i], "--without") == 0 && i + 1 < argc) {
            if (!rsp_feature_find(argv[++i], &feature)) {
                fprintf(stderr, "gdb_server: there is no feature \"%s\"\n", argv[i]);
                return 2;
            }
            without |= UINT64_C(1) << feature;
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
        fprintf(stderr, "usage: gdb_server LAUNCH.yaml [x86-64|aarch64] [--without NAME]...\n");
        return 2;
    }
    status = serve(launch, arch, without, &err);
    if (status != 0)
        fprintf(stderr, "gdb_server: %s\n", err.text);
    return status;
}
