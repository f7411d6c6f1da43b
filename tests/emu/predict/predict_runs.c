/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A2: predicted addresses against those that the emulator sees, for each access of each thread.
 *
 *   predict_runs [-q] FILE.yaml ...
 *
 * Runs the launch files with an observer that follows the iteration of each thread in each loop of the slices. Each
 * access of an accepted site must be where emu_predict_address says, in an iteration that emu_predict_iterations
 * allows; where the slice is affine its sum and the emulator's tags say the same. A line a file, unless -q, and the sums:
 * sites by reason, accesses, differences. Status 1: something differs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"
#include "tests/emu/predict/predict_watch.h"

static void quit(const char *path, const char *what)
{
    fprintf(stderr, "predict_runs: %s: %s\n", path, what);
    exit(1);
}

static void run(const char *path, struct predict_watch *watch)
{
    struct lnc_options options = { 0 };
    struct lnc_session *session = NULL;
    struct lnc_file *file = NULL;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_config config;
    struct emu_stop stop;
    struct lw_error err;
    enum lnc_state state;
    enum lw_status status;

    emu_config_default(&config);
    status = lnc_file_load(path, &config, &file, &err);
    config.tags = EMU_TAGS_SHADOW;
    if (status == LW_OK)
        status = emu_machine_create(&config, &machine, &err);
    if (status == LW_OK)
        status = lnc_session_create(file, machine, &options, &session, &err);
    if (status == LW_OK)
        status = emu_engine_functional_create(machine, &engine, &err);
    if (status != LW_OK)
        quit(path, err.text);
    predict_watch_begin(watch, machine, engine);
    for (;;) {
        if (lnc_session_next(session, &state, &err) != LW_OK)
            quit(path, err.text);
        if (state == LNC_DONE)
            break;
        if (engine->ops->run(engine, &stop, &err) != LW_OK)
            quit(path, err.text);
        if (stop.kind != EMU_STOP_IDLE)
            break; /* a fault or a hang that the file is for */
    }
    predict_watch_end(watch);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    lnc_session_destroy(session);
    lnc_file_destroy(file);
}

int main(int argc, char **argv)
{
    struct predict_counts all = { 0 };
    bool quiet = argc > 1 && strcmp(argv[1], "-q") == 0;

    for (int i = quiet ? 2 : 1; i < argc; i++) {
        struct predict_watch watch = { .name = argv[i] };

        run(argv[i], &watch);
        if (!quiet)
            predict_counts_print(argv[i], &watch.counts);
        predict_counts_add(&all, &watch.counts);
    }
    predict_counts_print("all", &all);
    return all.different != 0 || all.accesses == 0;
}
