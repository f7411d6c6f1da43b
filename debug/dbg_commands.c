/* SPDX-License-Identifier: Apache-2.0 */
/* The command tables of the debugger, which the shell and gdb's `monitor` run, and the commands on the focus and on the
 * state of the machine. */
#include "debug/dbg_commands_priv.h"

#include <ctype.h>
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
    stop.pc = thread.place.pc;
    dbg_stop_print(dbg, &stop, out);
}
/* ---- focus ------------------------------------------------------------------------------ */

static enum lw_status focus_on(struct dbg *dbg, dbg_thread_id id, struct lw_error *err)
{
    enum lw_status status = dbg_focus_set(dbg, DBG_FOCUS_RUN, id, err);

    return status != LW_OK ? status : dbg_focus_set(dbg, DBG_FOCUS_VIEW, id, err);
}

static enum lw_status do_focus(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    enum lw_status status = LW_OK;
    uint64_t id, lane;

    if (argc > 3 || (argc > 1 && !lw_parse_u64(argv[1], &id)) ||
        (argc > 2 && (!lw_parse_u64(argv[2], &lane) || lane >= EMU_MAX_LANES)))
        return LW_FAIL(err, LW_EUSAGE,
                       "focus takes the number of a warp (see `warps`) and a lane");
    if (argc > 1)
        status = focus_on(dbg, id, err);
    if (status == LW_OK && argc > 2)
        status = dbg_lane_set(dbg, id, (unsigned)lane, err);
    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    if (status == LW_OK)
        dbg_focus_print(dbg, out);
    return status;
}

static enum lw_status do_lane(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread;
    uint64_t lane;
    enum lw_status status;

    if (argc != 2 || !lw_parse_u64(argv[1], &lane) || lane > UINT32_MAX)
        return LW_FAIL(err, LW_EUSAGE, "lane takes the number of a lane");
    status = dbg_view(dbg, &thread, err);
    if (status == LW_OK)
        status = dbg_lane_set(dbg, thread.id, (unsigned)lane, err);
    if (status == LW_OK)
        dbg_focus_print(dbg, out);
    return status;
}

static enum lw_status do_warp(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    struct dbg *dbg = context;
    struct dbg_thread thread, other;
    uint64_t warp;
    enum lw_status status;

    if (argc != 2 || !lw_parse_u64(argv[1], &warp))
        return LW_FAIL(err, LW_EUSAGE, "warp takes the number of a warp of the focus block");
    status = dbg_view(dbg, &thread, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; dbg_thread_at(dbg, i, &other); i++)
        if (other.place.grid == thread.place.grid &&
            other.place.block == thread.place.block && other.place.warp == warp) {
            status = focus_on(dbg, other.id, err);
            if (status == LW_OK)
                dbg_focus_print(dbg, out);
            return status;
        }
    return LW_FAIL(err, LW_ERANGE, "block(%u,%u,%u) has no live warp %llu",
                   thread.block_index[0], thread.block_index[1], thread.block_index[2],
                   (unsigned long long)warp);
}

static enum lw_status do_block(void *context, int argc, char **argv, struct lw_sink *out,
                               struct lw_error *err)
{
    struct dbg *dbg = context;
    unsigned long index[3] = {0, 0, 0};
    struct dbg_thread other;
    char text[128], *at = text;
    enum lw_status status;

    if (argc < 2 || !lw_args_join(argc, argv, 1, text, sizeof text))
        return LW_FAIL(err, LW_EUSAGE, "block takes an index as X,Y,Z");
    for (unsigned i = 0; i < 3 && *at != '\0'; i++) {
        char *last;

        if (!isdigit((unsigned char)*at))
            break;
        index[i] = strtoul(at, &last, 10);
        at = last;
        while (*at == ',' || *at == ' ')
            at++;
    }
    if (*at != '\0')
        return LW_FAIL(err, LW_EUSAGE, "block takes an index as X,Y,Z, not \"%s\"", text);
    for (unsigned i = 0; dbg_thread_at(dbg, i, &other); i++)
        if (other.block_index[0] == index[0] && other.block_index[1] == index[1] &&
            other.block_index[2] == index[2]) {
            status = focus_on(dbg, other.id, err);
            if (status == LW_OK)
                dbg_focus_print(dbg, out);
            return status;
        }
    return LW_FAIL(err, LW_ERANGE,
                   "block(%lu,%lu,%lu) is not resident: it has ended, not begun or does not "
                   "exist",
                   index[0], index[1], index[2]);
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
    {"focus",       "f",    "[warp] [lane]",              "Show the focus, or set it by the numbers that warps shows",  "focus 1 3", do_focus, 0},
    {"thread",      "th",   "[warp] [lane]",              "The same, as gdb calls it",                                  "thread 1", do_focus, 0},
    {"block",       "bl",   "<x,y,z>",                    "Focus on the first live warp of a block",                    "block 0,0,0", do_block, 0},
    {"warp",        "warp", "<number>",                   "Focus on a warp of the focus block",                         "warp 0", do_warp, 0},
    {"lane",        "lane", "<number>",                   "Focus on a lane of the focus warp",                          "lane 2", do_lane, 0},
    {"warps",       "w",    "[all]",                      "List the resident warps",                                    "warps", do_warps, LW_COMMAND_LOOKS},
    {"lanes",       "la",   "",                           "List the lanes of the focus warp: split, state and pc",      "lanes", do_lanes, LW_COMMAND_LOOKS},
    {"splits",      "sp",   "",                           "List the splits of the focus warp",                          "splits", do_splits, LW_COMMAND_LOOKS},
    {"barriers",    "ba",   "",                           "List barriers in use in the focus warp and block",           "barriers", do_barriers, LW_COMMAND_LOOKS},
    {"registers",   "r",    "[register|group] ...",       "Registers of the focus lane",                                "registers v0 exec", do_registers, LW_COMMAND_LOOKS},
    {"tags",        "ta",   "",                           "Uniform and affine registers of the focus warp",             "tags", do_tags, LW_COMMAND_LOOKS},
    {"allocations", "al",   "",                           "Global memory: addresses, sizes and names",                  "allocations", do_allocations, LW_COMMAND_LOOKS},
    {"launches",    "lau",  "",                           "Launches that are open, who launched them, what they wait for", "launches", do_launches, LW_COMMAND_LOOKS},
    {"stats",       "stats", "",                          "What the run has done so far, counted",                      "stats", do_stats, LW_COMMAND_LOOKS},
    {"status",      "sta",  "",                           "Machine, launch, focus and counts",                          "status", do_status, LW_COMMAND_LOOKS},
};
/* clang-format on */
const struct lw_command_table dbg_commands_state = {rows, LW_COUNT_OF(rows), NULL};

void dbg_commands_join(struct dbg *dbg, struct lw_command_set *set)
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
        {&dbg_commands_state, "Focus and state of the machine"},
    };

    for (size_t i = 0; i < LW_COUNT_OF(tables); i++) {
        set->tables[set->count] = *tables[i].table;
        set->themes[set->count] = tables[i].theme;
        set->tables[set->count++].context = dbg;
    }
}
