/* SPDX-License-Identifier: Apache-2.0 */
/* The command tables of the debugger, which the shell and gdb's `monitor` run, and the commands on the state of
 * the machine. */
#include "debug/commands/dbg_commands_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_COUNT = 1000000 };

/* ---- helpers -------------------------------------------------------------------- */

enum lw_status dbg_too_long(struct lw_error *err)
{
    return LW_FAIL(err, LW_EUSAGE, "the command is too long");
}

enum lw_status dbg_no_operands(int argc, char **argv, struct lw_error *err)
{
    return argc == 1 ? LW_OK
                     : LW_FAIL(err, LW_EUSAGE, "%s takes no operands, \"%s\" was given",
                               argv[0], argv[1]);
}

enum lw_status dbg_one_count(int argc, char **argv, uint64_t *count, struct lw_error *err)
{
    *count = 1;
    if (argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "%s takes one count, \"%s\" is too much", argv[0],
                       argv[2]);
    if (argc == 2 && (!lw_parse_u64(argv[1], count) || *count == 0 || *count > MAX_COUNT))
        return LW_FAIL(err, LW_EUSAGE, "%s takes a count from 1 to %d, not \"%s\"", argv[0],
                       MAX_COUNT, argv[1]);
    return LW_OK;
}

void dbg_focus_print(struct dbg *dbg, struct lw_sink *out)
{
    struct dbg_thread thread;
    struct dbg_stop stop = {.kind = DBG_STOP_STEP};

    if (dbg_view(dbg, &thread, NULL) != LW_OK)
        return;
    stop.thread = thread.id;
    stop.lane = thread.lane;
    stop.pc = thread.location.pc;
    dbg_stop_print(dbg, &stop, out);
}
/* ---- tables ------------------------------------------------------------------------------- */

static enum lw_status do_warps(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "all") != 0))
        return LW_FAIL(err, LW_EUSAGE, "warps takes nothing or `all`");
    return dbg_show_warps(context, argc == 2, out, err);
}

typedef enum lw_status (*show_fn)(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                                  struct lw_error *err);

static enum lw_status show(struct dbg *dbg, int argc, char **argv, show_fn fn,
                           struct lw_sink *out, struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    return status != LW_OK ? status : fn(dbg, thread.id, out, err);
}

static enum lw_status do_lanes(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_lanes, out, err);
}

static enum lw_status do_splits(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_splits, out, err);
}

static enum lw_status do_barriers(void *context, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_barriers, out, err);
}

static enum lw_status do_registers(void *context, int argc, char **argv, struct lw_sink *out,
                                   struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = dbg_view(context, &thread, err);

    return status != LW_OK
               ? status
               : dbg_show_registers(context, thread.id, argc - 1, argv + 1, out, err);
}

static enum lw_status do_tags(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    return show(context, argc, argv, dbg_show_tags, out, err);
}

static enum lw_status do_allocations(void *context, int argc, char **argv,
                                     struct lw_sink *out, struct lw_error *err)
{
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_allocations(context, out);
    return status;
}

static enum lw_status do_launches(void *context, int argc, char **argv, struct lw_sink *out,
                                  struct lw_error *err)
{
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_launches(context, out);
    return status;
}

static enum lw_status do_stats(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_stats(context, out);
    return status;
}

static enum lw_status do_status(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    enum lw_status status = dbg_no_operands(argc, argv, err);

    if (status == LW_OK)
        dbg_show_status(context, out);
    return status;
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"warps",       "w",    "[all]",                      "List the resident warps",                                    "warps", do_warps, LW_COMMAND_READONLY},
    {"lanes",       "la",   "",                           "List the lanes of the focus warp: split, state and pc",      "lanes", do_lanes, LW_COMMAND_READONLY},
    {"splits",      "sp",   "",                           "List the splits of the focus warp",                          "splits", do_splits, LW_COMMAND_READONLY},
    {"barriers",    "ba",   "",                           "List barriers in use in the focus warp and block",           "barriers", do_barriers, LW_COMMAND_READONLY},
    {"registers",   "r",    "[register|group] ...",       "Registers of the focus lane",                                "registers v0 exec", do_registers, LW_COMMAND_READONLY},
    {"tags",        "ta",   "",                           "Uniform and affine registers of the focus warp",             "tags", do_tags, LW_COMMAND_READONLY},
    {"allocations", "al",   "",                           "Global memory: addresses, sizes and names",                  "allocations", do_allocations, LW_COMMAND_READONLY},
    {"launches",    "lau",  "",                           "Launches that are open, who launched them, what they wait for", "launches", do_launches, LW_COMMAND_READONLY},
    {"stats",       "stats", "",                          "What the run has done so far, counted",                      "stats", do_stats, LW_COMMAND_READONLY},
    {"status",      "sta",  "",                           "Machine, launch, focus and counts",                          "status", do_status, LW_COMMAND_READONLY},
};
/* clang-format on */
const struct lw_command_table dbg_commands_state = {rows, LW_COUNT_OF(rows), NULL};

void dbg_register_commands(struct dbg *dbg, struct lw_command_set *set)
{
    static const struct {
        const struct lw_command_table *table;
        const char *theme;
    } tables[] = {
        {&dbg_commands_run, "Running and stepping"},
        {&dbg_commands_history, "Back in time"},
        {&dbg_commands_points, "Where a run stops"},
        {&dbg_commands_values, "Values, memory and code"},
        {&dbg_commands_info, NULL},
        {&dbg_commands_display, "Shown at every stop"},
        {&dbg_commands_frames, "Frames"},
        {&dbg_commands_focus, "Focus"},
        {&dbg_commands_state, "State of the machine"},
    };

    for (size_t i = 0; i < LW_COUNT_OF(tables); i++) {
        set->tables[set->count] = *tables[i].table;
        set->themes[set->count] = tables[i].theme;
        set->tables[set->count++].context = dbg;
    }
}
