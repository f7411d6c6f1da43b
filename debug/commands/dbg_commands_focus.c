/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show the focus, or move it: to a warp number, to coordinates, or to a lane in which an expression is true. */
#include "debug/commands/dbg_commands_priv.h"
#include "debug/commands/dbg_coordinates_priv.h"

#include <stdio.h>

enum { MAX_LISTED_WARPS = 16 };

/* ---- coordinates ------------------------------------------------------------------------ */

/* Moves the focus to the coordinates @text and prints it. With @brackets, prints all coordinates in brackets, as cuda-gdb
 * does. If @text has no numbers, the focus does not move. With @brackets only the coordinates that @text names are then
 * printed, or all coordinates if @text names none. */
static enum lw_status go(struct dbg *dbg, const char *text, bool brackets, struct lw_sink *out,
                         struct lw_error *err)
{
    struct dbg_coordinates coordinates;
    struct dbg_thread thread;
    struct dbg_lane_ref lane_ref;
    enum lw_status status = dbg_coordinates_parse(text, &coordinates, err);

    if (status == LW_OK && coordinates.given != 0) {
        status = dbg_coordinates_find(dbg, &coordinates, &lane_ref, err);
        if (status == LW_OK)
            status = dbg_focus_choose(dbg, &lane_ref, err);
    } else if (status == LW_OK && coordinates.all != 0) {
        status = LW_FAIL(err, LW_EUSAGE, "the focus must be one thread, so `all` is not allowed here: `info threads` "
                                         "lists many");
    }
    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    if (status != LW_OK)
        return status;
    if (brackets && coordinates.given == 0) {
        dbg_coordinates_print(dbg, &thread, coordinates.queried != 0 ? coordinates.queried : DBG_AXES_ALL, out);
        lw_put(out, "\n");
        return LW_OK;
    }
    if (brackets) {
        lw_put(out, "[");
        dbg_coordinates_print(dbg, &thread, DBG_AXES_ALL, out);
        lw_put(out, "]\n");
    }
    dbg_focus_print(dbg, out);
    return LW_OK;
}

/* Moves the focus to the coordinates in the text @axis followed by the operands of the command, such as "block 3". */
static enum lw_status go_along(const struct lw_call *call, const char *axis, struct lw_error *err)
{
    char text[512], operands[480];
    enum lw_status status = dbg_operand_text(call, 1, operands, sizeof operands, NULL, err);

    if (status != LW_OK)
        return status;
    snprintf(text, sizeof text, "%s%s%s", axis, *axis != '\0' ? " " : "", operands);
    return go(call->context, text, false, call->out, err);
}

static enum lw_status do_lanewise(const struct lw_call *call, struct lw_error *err)
{
    char text[512];
    enum lw_status status = dbg_operand_text(call, 1, text, sizeof text, NULL, err);

    return status != LW_OK ? status : go(call->context, text, true, call->out, err);
}

/* ---- numbers of warps --------------------------------------------------------------------- */

static bool all_numbers(const struct lw_call *call)
{
    uint64_t number;

    for (int i = 1; i < call->argc; i++)
        if (!lw_parse_u64(call->argv[i], &number))
            return false;
    return call->argc <= 3;
}

/* Moves the focus to a warp, by the number that the command `warps` shows for it, and to a lane of the warp. */
static enum lw_status go_to_number(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    enum lw_status status = LW_OK;
    uint64_t number = 0, lane = 0;

    if (call->argc > 1 && !lw_parse_u64(call->argv[1], &number))
        return LW_FAIL(err, LW_EUSAGE, "\"%s\" is not a number", call->argv[1]);
    if (call->argc > 2 && (!lw_parse_u64(call->argv[2], &lane) || lane >= EMU_MAX_LANES))
        return LW_FAIL(err, LW_EUSAGE, "%s takes the number of a warp (`warps` lists them) and of a lane",
                       call->argv[0]);
    if (call->argc > 1)
        status = dbg_focus_set(dbg, DBG_FOCUS_RUN, number, err);
    if (status == LW_OK && call->argc > 1)
        status = dbg_focus_set(dbg, DBG_FOCUS_VIEW, number, err);
    if (status == LW_OK && call->argc > 2)
        status = dbg_lane_set(dbg, number, (unsigned)lane, err);
    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    if (status == LW_OK)
        dbg_focus_print(dbg, call->out);
    return status;
}

enum { BY_AXES, BY_THREAD };

static enum lw_status do_focus(const struct lw_call *call, struct lw_error *err)
{
    return all_numbers(call) ? go_to_number(call, err)
                             : go_along(call, call->what == BY_THREAD ? "thread" : "", err);
}

static enum lw_status do_block(const struct lw_call *call, struct lw_error *err)
{
    if (call->argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "block takes a block index, as in `block 0,1,0`");
    return go_along(call, "block", err);
}

static enum lw_status do_warp(const struct lw_call *call, struct lw_error *err)
{
    if (call->argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "warp takes the number of a warp in the focus block");
    return go_along(call, "warp", err);
}

/* ---- lane where --------------------------------------------------------------------------- */

/** Search for lanes in which an expression is true. */
struct search {
    struct dbg_lane_ref first; /* the first lane of the focus warp, or else of the grid, in which the expression is true;
                                * first.id is 0 if none was found yet */
    dbg_thread_id focus;       /* the focus warp */
    unsigned warps, warps_true, lanes, lanes_true, lost; /* warps, lanes: numbers of warps and lanes searched; warps_true,
                                                          * lanes_true: numbers of those in which the expression is true; lost:
                                                          * number of lanes in which the expression has no value */
    unsigned unclear;                             /* number of lanes in which the expression has a syntax error */
    struct lw_error why;                          /* error in the first lane in which the expression has no value */
};

static void search_warp(struct dbg *dbg, const struct dbg_thread *thread, const char *text,
                        struct search *s, struct lw_sink *out)
{
    uint64_t lanes = 0;

    s->warps++;
    for (uint64_t rest = thread->live; rest != 0; rest &= rest - 1) {
        unsigned lane = lw_lowest(rest);
        struct dbg_value value;
        struct lw_error why;
        enum lw_status status = dbg_eval(dbg, thread->id, lane, text, &value, &why);

        s->lanes++;
        if (status != LW_OK) {
            if (s->lost++ == 0)
                s->why = why;
            s->unclear += status == LW_EUSAGE; /* only counted, not reported, because a name may have another type in
                                                * another function */
        } else if (dbg_value_true(&value)) {
            lanes |= UINT64_C(1) << lane;
        }
    }
    if (lanes == 0)
        return;
    if (s->first.id == 0 || thread->id == s->focus)
        s->first = (struct dbg_lane_ref){thread->id, lw_lowest(lanes)};
    s->lanes_true += lw_popcount(lanes);
    if (s->warps_true++ < MAX_LISTED_WARPS) {
        lw_printf(out, "block(%u,%u,%u) w%u  lanes ", thread->block_index[0], thread->block_index[1],
                  thread->block_index[2], thread->location.warp);
        dbg_show_mask(dbg, lanes, out);
        lw_put(out, "\n");
    }
}

/* Prints which blocks of the grid were not searched: "; 4 blocks have ended; blocks (8,0,0) to (63,0,0) have not started". */
static void put_absent(const struct emu_grid *grid, struct lw_sink *out)
{
    uint32_t first[3], last[3];

    if (grid->blocks_ended != 0)
        lw_printf(out, "; %llu block%s ended", (unsigned long long)grid->blocks_ended,
                  grid->blocks_ended == 1 ? " has" : "s have");
    if (grid->blocks_placed >= grid->block_count)
        return;
    if (grid->placed != NULL) { /* blocks have not started in the order of their numbers, so only a count is printed */
        lw_printf(out, "; %llu block%s not started", (unsigned long long)(grid->block_count - grid->blocks_placed),
                  grid->block_count - grid->blocks_placed == 1 ? " has" : "s have");
        return;
    }
    dbg_block_index(grid, grid->blocks_placed, first);
    dbg_block_index(grid, grid->block_count - 1, last);
    if (grid->blocks_placed + 1 == grid->block_count)
        lw_printf(out, "; block (%u,%u,%u) has not started", first[0], first[1], first[2]);
    else
        lw_printf(out, "; blocks (%u,%u,%u) to (%u,%u,%u) have not started", first[0], first[1],
                  first[2], last[0], last[1], last[2]);
}

static enum lw_status lane_where(struct dbg *dbg, const char *text, struct lw_sink *out,
                                 struct lw_error *err)
{
    struct search s = {.warps = 0};
    struct dbg_thread focus, thread;
    const struct emu_grid *grid;
    struct lw_buffer absent;
    enum lw_status status = dbg_view(dbg, &focus, err);

    s.focus = focus.id;
    for (unsigned i = 0; status == LW_OK && dbg_thread_at(dbg, i, &thread); i++) {
        if (dbg->engine->interrupted)
            return LW_FAIL(err, LW_ESTATE, "interrupted after %u warp%s searched", s.warps,
                           s.warps == 1 ? " was" : "s were");
        if (thread.location.grid == focus.location.grid)
            search_warp(dbg, &thread, text, &s, out);
    }
    if (status != LW_OK)
        return status;
    if (s.unclear != 0 && s.unclear == s.lanes) {
        if (err != NULL)
            *err = s.why;
        return LW_EUSAGE;
    }
    grid = dbg_thread_grid(dbg, focus.id);
    lw_buffer_init(&absent);
    if (grid != NULL)
        put_absent(grid, &absent.sink);
    if (s.lost != 0 && s.lost == s.lanes)
        status = LW_FAIL(err, LW_ENOENT, "%s cannot be evaluated in any lane of the %u resident warp%s: %s",
                         text, s.warps, s.warps == 1 ? "" : "s", s.why.text);
    else if (s.first.id == 0 && s.lost != 0)
        status = LW_FAIL(err, LW_ENOENT, "%s is not true in any lane of %u warp%s; in %u lane%s it cannot be evaluated: "
                                         "%s%s",
                         text, s.warps, s.warps == 1 ? "" : "s", s.lost, s.lost == 1 ? "" : "s", s.why.text, absent.text != NULL ? absent.text : "");
    else if (s.first.id == 0)
        status = LW_FAIL(err, LW_ENOENT, "%s is not true in any lane of the %u resident warp%s%s", text,
                         s.warps, s.warps == 1 ? "" : "s", absent.text != NULL ? absent.text : "");
    if (status == LW_OK) {
        if (s.warps_true > MAX_LISTED_WARPS)
            lw_printf(out, "... and %u more warp%s\n", s.warps_true - MAX_LISTED_WARPS,
                      s.warps_true - MAX_LISTED_WARPS == 1 ? "" : "s");
        lw_printf(out, "true in %u lane%s of %u of %u resident warps%s\n", s.lanes_true,
                  s.lanes_true == 1 ? "" : "s", s.warps_true, s.warps,
                  absent.text != NULL ? absent.text : "");
        if (s.lost != 0)
            lw_printf(out, "the expression cannot be evaluated in %u lane%s: %s\n", s.lost, s.lost == 1 ? "" : "s", s.why.text);
        status = dbg_focus_choose(dbg, &s.first, err);
    }
    lw_buffer_fini(&absent);
    if (status == LW_OK)
        dbg_focus_print(dbg, out);
    return status;
}

static enum lw_status do_lane(const struct lw_call *call, struct lw_error *err)
{
    char text[1024];

    if (call->argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "lane takes the number of a lane, or `where` and an expression");
    if (strcmp(call->argv[1], "where") != 0)
        return go_along(call, "lane", err);
    enum lw_status status = dbg_operand_text(call, 2, text, sizeof text,
                                             "lane where takes an expression, as in `lane where v0 == 3`", err);
    return status != LW_OK ? status : lane_where(call->context, text, call->out, err);
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"focus",       "f",    "[warp] [lane] | <coordinates>", "Show the focus (the lane that commands refer to), or set it by a warp number of `warps` or by coordinates", "focus block (0,0,0) thread (3,0,0)", do_focus, LW_COMMAND_FOCUSES | LW_COMMAND_AS(BY_AXES)},
    {"thread",      "th",   "[warp] [lane] | <x,y,z> [coordinates]", "The same as focus; (x,y,z) is a thread of the focus block", "thread (3,0,0)", do_focus, LW_COMMAND_FOCUSES | LW_COMMAND_AS(BY_THREAD)},
    {"block",       "bl",   "<x,y,z> [coordinates]",      "Focus on the first live warp of a block, or on a thread, as in block 0 thread 17", "block 0,0,0", do_block, LW_COMMAND_FOCUSES},
    {"warp",        "warp", "<number> [coordinates]",     "Focus on a warp of the focus block",                         "warp 0", do_warp, LW_COMMAND_FOCUSES},
    {"lane",        "lane", "<number> [coordinates] | where <expression>", "Focus on a lane of the focus warp; with where, on the first lane in which an expression is true: the focus warp is searched first, then the grid", "lane where tid.x == 2", do_lane, LW_COMMAND_FOCUSES},
    {"lanewise",    "lanew", "[coordinates]",             "Show or set the focus as coordinates, as in block 0 thread 3", "lanewise block 0 thread 3", do_lanewise, LW_COMMAND_FOCUSES},
    {"cuda",        "cu",   "[coordinates]",              "The same as lanewise, under the name that cuda-gdb uses",                             "cuda block 0 thread 3", do_lanewise, LW_COMMAND_FOCUSES},
};
/* clang-format on */
const struct lw_command_table dbg_commands_focus = {rows, LW_COUNT_OF(rows), NULL};
