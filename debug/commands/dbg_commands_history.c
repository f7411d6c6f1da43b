/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on history: reverse steps, goto, marks, and the last writer and the origin of a value. */
#include "debug/commands/dbg_commands_priv.h"
#include "debug/reverse/dbg_history_priv.h"

#include <inttypes.h>

/** Returns the thread of the view focus, or 0 if the thread has ended. Given 0, the reverse functions use the lane that
 *  was in focus last. */
static dbg_thread_id view(const struct dbg *dbg)
{
    return dbg_focus_get(dbg, DBG_FOCUS_VIEW);
}

enum { INTO, OVER }; /* treatment of calls */

static enum lw_status do_reverse_insns(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_stop stop;
    uint64_t count;
    enum lw_status status = dbg_one_count(call, &count, err);

    if (status == LW_OK)
        status = dbg_reverse_steps(dbg, view(dbg), count, call->what == OVER, &stop, err);
    return dbg_stop_report(call, status, &stop);
}

static enum lw_status do_reverse_lines(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_stop stop = {0};
    uint64_t count;
    enum lw_status status = dbg_one_count(call, &count, err);

    for (uint64_t i = 0; i < count && status == LW_OK; i++) {
        status = dbg_reverse_step_line(dbg, view(dbg), call->what == OVER, &stop, err);
        if (stop.kind != DBG_STOP_STEP || dbg->engine->interrupted)
            break;
    }
    return dbg_stop_report(call, status, &stop);
}

static enum lw_status do_reverse_finish(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_stop stop;

    return dbg_stop_report(call, dbg_reverse_finish(dbg, view(dbg), &stop, err), &stop);
}

static enum lw_status do_reverse_continue(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_stop stop;

    return dbg_stop_report(call, dbg_reverse_continue(dbg, &stop, err), &stop);
}

static enum lw_status do_goto(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    const struct dbg_mark *mark;
    struct dbg_stop stop;
    uint64_t at;
    enum lw_status status;

    if (call->argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "goto takes one operand: the name of a mark, an instruction count, start or end");
    if (strcmp(call->argv[1], "start") == 0)
        status = dbg_goto(dbg, dbg_history_earliest(dbg), &stop, err);
    else if (strcmp(call->argv[1], "end") == 0)
        status = dbg_goto(dbg, UINT64_MAX, &stop, err);
    else if (lw_parse_u64(call->argv[1], &at))
        status = dbg_goto(dbg, at == UINT64_MAX ? at - 1 : at, &stop, err);
    else if ((mark = dbg_mark_find(dbg, call->argv[1])) != NULL)
        status = dbg_mark_goto(dbg, mark, &stop, err);
    else
        return LW_FAIL(err, LW_ENOENT, "there is no mark \"%.40s\": `history` lists the marks", call->argv[1]);
    return dbg_stop_report(call, status, &stop);
}

/** Executes `run`: moves to the start of history, where gdb's `run` would restart the program. */
static enum lw_status do_run(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_stop stop;

    if (call->argc != 1)
        return LW_FAIL(err, LW_EUSAGE, "run takes no operands: the program runs again with the options with which the shell "
                                       "was started");
    return dbg_stop_report(call, dbg_goto(dbg, dbg_history_earliest(dbg), &stop, err), &stop);
}

static enum lw_status do_mark(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_mark mark;
    struct dbg_stop ready;
    enum lw_status status;

    if (call->argc > 2)
        return LW_FAIL(err, LW_EUSAGE, "mark takes at most one name: remove \"%s\"", call->argv[2]);
    status = dbg_history_ready(dbg, &ready, err);
    if (status == LW_OK)
        status = dbg_mark_set(dbg, call->argc == 2 ? call->argv[1] : NULL, &mark, err);
    if (status == LW_OK)
        lw_printf(call->out, "mark %s at instruction %" PRIu64 "\n", mark.name, mark.at);
    return status;
}

static enum lw_status do_history(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct emu_history_info info;
    struct dbg_stop ready;
    enum lw_status status = dbg_history_ready(dbg, &ready, err);

    if (status != LW_OK)
        return status;
    (void)dbg_history_info(dbg, &info);
    lw_printf(call->out, "now at instruction %" PRIu64 "; history covers instructions %" PRIu64 " to %" PRIu64 "%s%s\n",
              info.now, info.earliest, info.latest, info.why[0] != '\0' ? ": " : "", info.why);
    lw_printf(call->out, "%u snapshot%s and the schedule log use %.1f of %.0f MiB\n", info.snapshots,
              info.snapshots == 1 ? "" : "s", (double)info.bytes / 1048576, (double)info.budget_bytes / 1048576);
    for (size_t i = 0; i < dbg->mark_count; i++) {
        char name[80];

        dbg_id_name(dbg, dbg->marks[i].id, name, sizeof name);
        lw_printf(call->out, "mark %-12s %12" PRIu64 "  %s lane %u\n", dbg->marks[i].name, dbg->marks[i].at, name,
                  dbg->marks[i].lane);
    }
    return LW_OK;
}

/** Gets the lane of the view focus. After the end of the run no lane is in focus: *@out is then zero, and the reverse
 *  functions choose a lane. */
static enum lw_status queried(struct dbg *dbg, struct dbg_thread *out, struct lw_error *err)
{
    memset(out, 0, sizeof *out);
    return dbg_ended(dbg) ? LW_OK : dbg_view(dbg, out, err);
}

/* Prints a hint if the value of @text is an address in a buffer: the user has named a parameter that points to the buffer,
 * and probably wants to know the last write to the buffer. */
static void print_memory_hint(struct dbg *dbg, const struct dbg_thread *thread, const char *text, struct lw_sink *out)
{
    struct emu_allocation a;
    struct dbg_value value;

    if (dbg_eval(dbg, thread->id, thread->lane, text, &value, NULL) != LW_OK)
        return;
    for (unsigned i = 0; emu_allocation_get(dbg->machine, i, &a); i++)
        if (value.bits - a.address < a.size_bytes)
            lw_printf(out, "%s is an address in buffer %s: `wrote %s 64` finds the last write to 64 bytes at this address, "
                           "`wrote u32[%s + 256]` the last write to 4 bytes at offset 256\n", text, a.name, text, text);
}

static enum lw_status do_wrote(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_written w;
    struct dbg_thread thread;
    char text[512];
    uint64_t size = 0;
    int end = call->argc;
    enum lw_status status;

    if (call->argc > 2 && lw_parse_u64(call->argv[call->argc - 1], &size)) {
        if (size == 0 || size > DBG_WATCH_MAX)
            return LW_FAIL(err, LW_EUSAGE, "the command wrote takes a size of 1 to %d bytes, not %s", DBG_WATCH_MAX,
                           call->argv[call->argc - 1]);
        end--;
    }
    if (call->argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "the command wrote takes a register, a variable, memory or an address, as in `wrote y 64`");
    if (!lw_args_join(end, call->argv, 1, text, sizeof text))
        return dbg_too_long(err);
    status = queried(dbg, &thread, err);
    if (status == LW_OK)
        status = dbg_last_write(dbg, thread.id, thread.lane, text, (unsigned)size, &w, err);
    if (status != LW_OK)
        return status;
    if (w.edited)
        lw_printf(call->out, "%s%s\n", w.edit, w.found ? "; the last instruction that wrote this location:" : "");
    if (w.interrupted)
        lw_put(call->out, "interrupted\n");
    else if (!w.found && !w.edited) {
        lw_printf(call->out, "no instruction has written %s since the start of history at instruction %" PRIu64 "\n", text, dbg_history_earliest(dbg));
        if (size == 0)
            print_memory_hint(dbg, &thread, text, call->out);
    }
    if (w.found) {
        lw_printf(call->out, "%s\n", w.text);
        dbg_written_print(dbg, &w, "", call->out);
    }
    return LW_OK;
}

static enum lw_status do_origin(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    char text[512];
    enum lw_status status = dbg_operand_text(call, 1, text, sizeof text,
                                             "origin takes a register, a variable or memory, as in `origin v3`", err);

    if (status == LW_OK)
        status = queried(dbg, &thread, err);
    return status != LW_OK ? status
                           : dbg_origin(dbg, thread.id, thread.lane, text, call->out, err);
}

enum { STEPS = LW_COMMAND_CHANGES | LW_COMMAND_REPEATS };

/* clang-format off */
static const struct lw_command rows[] = {
    /* name             abbrev.            operands            summary                                                         example */
    {"reverse-continue", "reverse-continue", "",               "Run backwards to the most recent hit of a breakpoint, watchpoint or catchpoint, or to the start of history",    "reverse-continue", do_reverse_continue, STEPS | LW_COMMAND_BARE},
    {"reverse-step",    "reverse-step",    "[count]",          "Go back (undo) to the start of the source line that the focus lane executed last; enter calls", "reverse-step", do_reverse_lines, STEPS | LW_COMMAND_AS(INTO)},
    {"reverse-next",    "reverse-next",    "[count]",          "Go back (undo) to the start of the source line that the focus lane executed last; do not enter calls", "reverse-next", do_reverse_lines, STEPS | LW_COMMAND_AS(OVER)},
    {"reverse-stepi",   "reverse-stepi",   "[count]",          "Go back (undo) by one instruction of the focus lane",          "reverse-stepi 2", do_reverse_insns, STEPS | LW_COMMAND_AS(INTO)},
    {"reverse-nexti",   "reverse-nexti",   "[count]",          "Go back (undo) by one instruction of the focus lane; a call counts as one", "reverse-nexti", do_reverse_insns, STEPS | LW_COMMAND_AS(OVER)},
    {"reverse-finish",  "reverse-finish",  "",                 "Go back to the call of the selected frame",             "reverse-finish", do_reverse_finish, LW_COMMAND_CHANGES | LW_COMMAND_BARE},
    {"rc",              "rc",              "",                 "Short for reverse-continue",                                   "rc", do_reverse_continue, STEPS | LW_COMMAND_BARE},
    {"rs",              "rs",              "[count]",          "Short for reverse-step",                                       "rs", do_reverse_lines, STEPS | LW_COMMAND_AS(INTO)},
    {"rn",              "rn",              "[count]",          "Short for reverse-next",                                       "rn", do_reverse_lines, STEPS | LW_COMMAND_AS(OVER)},
    {"rsi",             "rsi",             "[count]",          "Short for reverse-stepi",                                      "rsi 3", do_reverse_insns, STEPS | LW_COMMAND_AS(INTO)},
    {"rni",             "rni",             "[count]",          "Short for reverse-nexti",                                      "rni", do_reverse_insns, STEPS | LW_COMMAND_AS(OVER)},
    {"goto",            "goto",            "<mark|count|start|end>", "Go back or forward to a mark, an instruction count, or the start or end of history","goto start", do_goto, LW_COMMAND_CHANGES},
    {"run",             "run",             "",                 "Go to the start of history, as goto start does; continue then runs the program again from there", "run", do_run, LW_COMMAND_CHANGES},
    {"mark",            "mark",            "[name]",           "Give the current instruction count a name that goto accepts; without a name, m1, m2 and so on",                         "mark here", do_mark, 0},
    {"wrote",           "wrote",           "<target> [bytes]",  "Show which instruction last wrote a register, a variable or memory",              "wrote v0", do_wrote, 0},
    {"origin",          "origin",          "<target>",         "Show where a value comes from, through moves, loads and stores",    "origin v0", do_origin, 0},
    {"history",         "history",         "",                 "Show the instruction counts that goto can reach, and the marks",        "history", do_history, LW_COMMAND_READONLY | LW_COMMAND_BARE},
};
/* clang-format on */
const struct lw_command_table dbg_commands_history = {rows, LW_COUNT_OF(rows), NULL};
