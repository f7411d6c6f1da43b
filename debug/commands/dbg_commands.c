/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the debugger's commands, which users run in the shell and with gdb's `monitor`. Has the commands that show the
 * state of the machine. */
#include "debug/commands/dbg_commands_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_COUNT = 1000000 };

/* ---- helpers -------------------------------------------------------------------- */

enum lw_status dbg_too_long(struct lw_error *err)
{
    return LW_FAIL(err, LW_EUSAGE, "the command line is too long");
}

enum lw_status dbg_operand_text(const struct lw_call *call, int first, char *text, size_t size, const char *takes,
                                struct lw_error *err)
{
    if (takes != NULL && first >= call->argc)
        return LW_FAIL(err, LW_EUSAGE, "%s", takes);
    return lw_args_join(call->argc, call->argv, first, text, size) ? LW_OK : dbg_too_long(err);
}

enum lw_status dbg_one_count(const struct lw_call *call, uint64_t *count, struct lw_error *err)
{
    const char *name = call->argv[0], *word = call->argv[1];

    *count = 1;
    if (call->argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "%s takes at most one count: remove \"%s\"", name, call->argv[2]);
    if (call->argc == 2 && (!lw_parse_u64(word, count) || *count == 0 || *count > MAX_COUNT))
        return LW_FAIL(err, LW_EUSAGE, "%s takes a count from 1 to %d, not \"%s\"", name, MAX_COUNT, word);
    return LW_OK;
}

enum lw_status dbg_stop_report(const struct lw_call *call, enum lw_status status,
                               const struct dbg_stop *stop)
{
    if (status == LW_OK)
        dbg_stop_show(call->context, stop, call->out);
    return status;
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

static enum lw_status do_warps(const struct lw_call *call, struct lw_error *err)
{
    if (call->argc > 2 || (call->argc == 2 && strcmp(call->argv[1], "all") != 0))
        return LW_FAIL(err, LW_EUSAGE, "warps takes no operand, or `all`");
    return dbg_show_warps(call->context, call->argc == 2, call->out, err);
}

enum warp_table { WARP_LANES, WARP_SPLITS, WARP_BARRIERS, WARP_TAGS };

static enum lw_status do_warp_table(const struct lw_call *call, struct lw_error *err)
{
    static enum lw_status (*const shows[])(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                                           struct lw_error *err) = {
        [WARP_LANES] = dbg_show_lanes,
        [WARP_SPLITS] = dbg_show_splits,
        [WARP_BARRIERS] = dbg_show_barriers,
        [WARP_TAGS] = dbg_show_tags,
    };
    struct dbg_thread thread;
    enum lw_status status = dbg_view(call->context, &thread, err);

    return status != LW_OK ? status : shows[call->what](call->context, thread.id, call->out, err);
}

static enum lw_status do_registers(const struct lw_call *call, struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = dbg_view(call->context, &thread, err);

    return status != LW_OK ? status
                           : dbg_show_registers(call->context, thread.id, call->argc - 1,
                                                call->argv + 1, call->out, err);
}

enum machine_table { MACHINE_ALLOCATIONS, MACHINE_LAUNCHES, MACHINE_STATS, MACHINE_STATUS };

static enum lw_status do_machine_table(const struct lw_call *call, struct lw_error *err)
{
    static void (*const shows[])(struct dbg *dbg, struct lw_sink *out) = {
        [MACHINE_ALLOCATIONS] = dbg_show_allocations,
        [MACHINE_LAUNCHES] = dbg_show_launches,
        [MACHINE_STATS] = dbg_show_stats,
        [MACHINE_STATUS] = dbg_show_status,
    };

    (void)err;
    shows[call->what](call->context, call->out);
    return LW_OK;
}

enum { SHOWS = LW_COMMAND_READONLY | LW_COMMAND_BARE };

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"warps",       "w",    "[all]",                      "List the first 64 resident warps; with all, list every resident warp",                                    "warps", do_warps, LW_COMMAND_READONLY},
    {"lanes",       "la",   "",                           "List the lanes of the focus warp: split, state and pc",      "lanes", do_warp_table, SHOWS | LW_COMMAND_AS(WARP_LANES)},
    {"splits",      "sp",   "",                           "List the splits of the focus warp",                          "splits", do_warp_table, SHOWS | LW_COMMAND_AS(WARP_SPLITS)},
    {"barriers",    "ba",   "",                           "List the barriers that the focus warp and its block use",           "barriers", do_warp_table, SHOWS | LW_COMMAND_AS(WARP_BARRIERS)},
    {"registers",   "r",    "[register|group] ...",       "Show registers of the focus lane",                                "registers v0 exec", do_registers, LW_COMMAND_READONLY},
    {"tags",        "ta",   "",                           "Show which registers of the focus warp are uniform or affine over its lanes",             "tags", do_warp_table, SHOWS | LW_COMMAND_AS(WARP_TAGS)},
    {"allocations", "al",   "",                           "List allocations of global memory: addresses, sizes and names",                  "allocations", do_machine_table, SHOWS | LW_COMMAND_AS(MACHINE_ALLOCATIONS)},
    {"launches",    "lau",  "",                           "List launches that have not completed, who launched them and what they wait for", "launches", do_machine_table, SHOWS | LW_COMMAND_AS(MACHINE_LAUNCHES)},
    {"stats",       "stats", "",                          "Show the counters of the run so far",                      "stats", do_machine_table, SHOWS | LW_COMMAND_AS(MACHINE_STATS)},
    {"status",      "sta",  "",                           "Show machine, launch, focus and instruction count",                          "status", do_machine_table, SHOWS | LW_COMMAND_AS(MACHINE_STATUS)},
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
        {&dbg_commands_history, "Going back in time"},
        {&dbg_commands_points, "Breakpoints, watchpoints and catchpoints"},
        {&dbg_commands_values, "Values, memory and code"},
        {&dbg_commands_info, NULL},
        {&dbg_commands_display, "Expressions shown at every stop"},
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
