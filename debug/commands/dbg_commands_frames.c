/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on frames: they show the call stack of the focus lane, and select the frame whose variables are shown. */
#include "debug/commands/dbg_commands_priv.h"

static void put_frame(struct dbg *dbg, const struct dbg_thread *thread, unsigned index,
                      const struct dbg_frame_location *location, struct lw_sink *out)
{
    lw_printf(out, "#%u  ", index);
    if (location->inlined || location->inner >= 0) {
        lw_put(out, location->name[0] != '\0' ? location->name : "?");
        if (location->file != NULL)
            lw_printf(out, " (%s:%u)", dbg_base_name(location->file), location->line);
        if (location->inlined)
            lw_put(out, " inlined");
    } else {
        dbg_print_location(dbg, location->pc, out);
    }
    dbg_arguments_print(dbg, thread->id, thread->lane, location, out);
}

/** Prints the source location at which @grid was launched from the device, and the lane that launched it. */
static void put_launcher(struct dbg *dbg, const struct emu_grid *grid, struct lw_sink *out)
{
    const struct emu_grid *by = dbg_grid_numbered(dbg, grid->parent.grid);
    uint32_t index[3] = {0};

    dbg_print_location(dbg, grid->parent.pc, out);
    lw_printf(out, ", launch %u ", grid->parent.grid);
    if (by != NULL) {
        dbg_block_index(by, grid->parent.block, index);
        lw_printf(out, "block(%u,%u,%u)", index[0], index[1], index[2]);
    } else { /* the parent launch has completed, so its grid dimensions are not known any more */
        lw_printf(out, "block %llu", (unsigned long long)grid->parent.block);
    }
    lw_printf(out, " w%u lane %u", grid->parent.warp, grid->parent.lane);
}

/** Prints a line for the launcher of @thread's grid, for the launcher of that grid, and so on. Returns the number of lines. */
static unsigned put_launchers(struct dbg *dbg, const struct dbg_thread *thread, const char *before, struct lw_sink *out)
{
    const struct emu_grid *grid = dbg_grid_numbered(dbg, thread->location.grid);
    unsigned count = 0;

    for (; grid != NULL && grid->parent.grid != 0; grid = dbg_grid_numbered(dbg, grid->parent.grid)) {
        lw_put(out, before);
        put_launcher(dbg, grid, out);
        lw_put(out, "\n");
        count++;
    }
    return count;
}

static enum lw_status do_launcher(const struct lw_call *call, struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = dbg_view(call->context, &thread, err);

    if (status == LW_OK && put_launchers(call->context, &thread, "", call->out) == 0)
        lw_put(call->out, "the host\n");
    return status;
}

static enum lw_status do_where(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    struct dbg_frame_location location;
    unsigned chosen;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status != LW_OK)
        return status;
    chosen = dbg_frame_number(dbg, thread.id, thread.lane);
    for (unsigned i = 0; dbg_frame_location_at(dbg, thread.id, thread.lane, i, &location); i++) {
        put_frame(dbg, &thread, i, &location, call->out);
        lw_put(call->out, chosen != 0 && i == chosen ? "  <- selected\n" : "\n");
    }
    (void)put_launchers(dbg, &thread, "launched by ", call->out);
    return LW_OK;
}

/* Selects a frame of a lane and prints it with its source line. */
static enum lw_status choose(struct dbg *dbg, const struct dbg_thread *thread, unsigned index,
                             struct lw_sink *out)
{
    struct dbg_frame_location location;
    const char *text = NULL;

    if (!dbg_frame_location_at(dbg, thread->id, thread->lane, index, &location))
        return LW_OK;
    dbg_frame_choose(dbg, thread->id, thread->lane, index);
    put_frame(dbg, thread, index, &location, out);
    lw_put(out, "\n");
    if (location.file != NULL)
        text = dbg_source_line(dbg, location.file, location.line);
    if (text != NULL)
        lw_printf(out, "%u\t%s\n", location.line, text);
    return LW_OK;
}

/* Moves the focus to the lane that launched the kernel of @thread. If that lane has ended, only prints which lane it was. */
static enum lw_status go_to_launcher(struct dbg *dbg, const struct dbg_thread *thread, struct lw_sink *out)
{
    const struct emu_grid *grid = dbg_grid_numbered(dbg, thread->location.grid);
    struct dbg_thread there;
    unsigned lane;

    if (grid == NULL || grid->parent.grid == 0) {
        lw_put(out, "the outermost frame, that of the kernel, is selected already\n");
        return LW_OK;
    }
    lane = grid->parent.lane;
    if (dbg_thread_get(dbg, dbg_thread_id_of(dbg, grid->parent.grid, grid->parent.block, grid->parent.warp), &there) &&
        (there.live >> lane & 1) != 0) {
        lw_put(out, "launched by ");
        put_launcher(dbg, grid, out);
        lw_put(out, "\n");
        dbg_focus_move(dbg, there.id, lane);
        there.lane = lane;
        return choose(dbg, &there, 0, out);
    }
    lw_put(out, "the outermost frame, that of the kernel, is selected already. The kernel was launched by ");
    put_launcher(dbg, grid, out);
    lw_put(out, ", a lane that has ended\n");
    return LW_OK;
}

enum { UP, DOWN };

static enum lw_status do_move(const struct lw_call *call, struct lw_error *err)
{
    const bool up = call->what == UP;
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    unsigned now, count;
    uint64_t by;
    enum lw_status status = dbg_one_count(call, &by, err);

    if (status == LW_OK)
        status = dbg_view(dbg, &thread, err);
    if (status != LW_OK)
        return status;
    now = dbg_frame_number(dbg, thread.id, thread.lane);
    count = dbg_frame_count(dbg, thread.id, thread.lane);
    if (up && now + 1 >= count)
        return go_to_launcher(dbg, &thread, call->out);
    if (!up && now == 0) {
        lw_put(call->out, "the innermost frame is selected already\n");
        return LW_OK;
    }
    if (up)
        now = by < count - now ? now + (unsigned)by : count - 1;
    else
        now = by < now ? now - (unsigned)by : 0;
    return choose(dbg, &thread, now, call->out);
}

static enum lw_status do_frame(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    uint64_t index;
    unsigned count;
    enum lw_status status;

    status = dbg_view(dbg, &thread, err);
    if (status != LW_OK)
        return status;
    index = dbg_frame_number(dbg, thread.id, thread.lane);
    count = dbg_frame_count(dbg, thread.id, thread.lane);
    if (call->argc > 2 || (call->argc == 2 && !lw_parse_u64(call->argv[1], &index)))
        return LW_FAIL(err, LW_EUSAGE, "frame takes the number of a frame: `where` lists them");
    if (index >= count)
        return LW_FAIL(err, LW_ERANGE, "there is no frame %llu: the frames are 0 to %u (see `where`)",
                       (unsigned long long)index, count != 0 ? count - 1 : 0);
    return choose(dbg, &thread, (unsigned)index, call->out);
}

/* Executes `info frame`: prints the selected frame, its addresses and its caller. */
enum lw_status dbg_info_frame(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    struct dbg_frame_location location, caller;
    struct dbg_frame frame;
    unsigned index;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status != LW_OK)
        return status;
    index = dbg_frame_number(dbg, thread.id, thread.lane);
    if (!dbg_frame_location_at(dbg, thread.id, thread.lane, index, &location))
        return LW_FAIL(err, LW_ESTATE, "lane %u has no frames: it has exited or was never launched", thread.lane);
    put_frame(dbg, &thread, index, &location, call->out);
    lw_printf(call->out, "\n  pc 0x%llx", (unsigned long long)location.pc);
    if (location.file != NULL)
        lw_printf(call->out, ", %s:%u", location.file, location.line);
    lw_put(call->out, "\n");
    if (dbg_frame_at(dbg, thread.id, thread.lane, location.frame, &frame)) {
        if (frame.function != NULL)
            lw_printf(call->out, "  %s %s, entry 0x%llx\n", frame.function->kernel ? "kernel" : "function",
                      frame.function->name, (unsigned long long)frame.entry);
        if (frame.cfa != 0)
            lw_printf(call->out, "  CFA 0x%llx\n", (unsigned long long)frame.cfa);
    }
    if (dbg_frame_location_at(dbg, thread.id, thread.lane, index + 1, &caller)) {
        lw_put(call->out, location.inlined ? "  inlined into " : "  called by ");
        put_frame(dbg, &thread, index + 1, &caller, call->out);
        lw_put(call->out, "\n");
    } else {
        lw_put(call->out, "  not called by a function: this is the kernel\n");
    }
    return LW_OK;
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"where",       "wh",   "",                           "Show the call frames of the focus lane, innermost first",                  "where", do_where, LW_COMMAND_READONLY | LW_COMMAND_BARE},
    {"backtrace",   "back", "",                           "The same as where",                                          "backtrace", do_where, LW_COMMAND_READONLY | LW_COMMAND_BARE},
    {"bt",          "bt",   "",                           "Short for backtrace",                                        "bt", do_where, LW_COMMAND_READONLY | LW_COMMAND_BARE},
    {"launcher",    "laun", "",                           "Show which lane launched the kernel in focus, which lane launched the kernel of that lane, and so on up to the host", "launcher", do_launcher, LW_COMMAND_READONLY | LW_COMMAND_BARE},
    {"up",          "up",   "[count]",                    "Select the calling frame; from a kernel's frame, the lane that launched the kernel", "up", do_move, LW_COMMAND_REPEATS | LW_COMMAND_AS(UP)},
    {"down",        "dow",  "[count]",                    "Select the frame that the selected frame called",                          "down", do_move, LW_COMMAND_REPEATS | LW_COMMAND_AS(DOWN)},
    {"frame",       "fr",   "[number]",                   "Select a frame by its number; print and locals then show its variables",                "frame 0", do_frame, 0},
};
/* clang-format on */
const struct lw_command_table dbg_commands_frames = {rows, LW_COUNT_OF(rows), NULL};
