/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests property A2: predicted addresses equal the addresses of the emulator, for each access of each thread.
 *
 *   predict_runs [-q] FILE.yaml ...
 *
 * The program runs the launch files with an observer that tracks the iteration of each thread in each loop of the slices.
 * Each access of an accepted site, which is a site with an address slice, must have the address that emu_predict_address
 * returns, in an iteration that emu_predict_iterations permits. If the address slice is affine, its sum and the emulator's tags
 * must give the same address. Without -q the program prints a line for each file. The program always prints the totals: sites
 * by reason, accesses, differences. Exit status 1 means that a difference was found.
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
            break; /* the launch file is expected to fault or hang */
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
