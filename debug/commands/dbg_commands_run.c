/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that run the machine forward: continue, steps, until, finish; and jump, which sets the pc. */
#include "debug/commands/dbg_commands_priv.h"
#include "debug/expr/dbg_expr_priv.h"

enum { MAX_LOCATIONS = 32 };

static enum lw_status do_continue(const struct lw_call *call, struct lw_error *err)
{
    struct dbg_stop stop;

    return dbg_stop_report(call, dbg_continue(call->context, &stop, err), &stop);
}

enum step_verb { STEP_LINE, STEP_NEXT, STEP_INSN, STEP_NEXT_INSN, STEP_ALONE, STEP_WARP, STEP_BLOCK };

static enum lw_status do_step(const struct lw_call *call, struct lw_error *err)
{
    const enum step_verb verb = (enum step_verb)call->what;
    struct dbg *dbg = call->context;
    struct dbg_stop stop = {0};
    uint64_t count;
    enum lw_status status = dbg_one_count(call, &count, err);

    if (status == LW_OK && dbg_ended(dbg))
        return LW_FAIL(err, LW_ESTATE, "nothing is running: all launches have ended");
    for (uint64_t i = 0; i < count && status == LW_OK; i++) {
        dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
        unsigned lane = dbg_lane_get(dbg, id);

        /* After an interrupt between two steps, no further step may begin, because the next step would clear the interrupt. */
        if (i != 0 && dbg->engine->interrupted)
            break;
        if (verb == STEP_INSN || verb == STEP_ALONE)
            status = dbg_step(dbg, id, verb == STEP_ALONE, &stop, err);
        else if (verb == STEP_NEXT_INSN)
            status = dbg_next_insn(dbg, id, &stop, err);
        else if (verb == STEP_WARP || verb == STEP_BLOCK)
            status = dbg_step_together(dbg, id, verb == STEP_BLOCK, &stop, err);
        else
            status = dbg_step_line(dbg, id, verb == STEP_NEXT, false, &stop, err);
        /* The remaining steps are for this lane only: they end if another lane is in focus now. */
        if (stop.kind != DBG_STOP_STEP || stop.thread != id || stop.lane != lane)
            break;
    }
    return dbg_stop_report(call, status, &stop);
}

/* Executes `until` without a location: repeats `next` until the focus lane is at a higher pc than when the command began, or
 * in another function. A loop is thus executed to its end. */
static enum lw_status until_after(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg_thread thread;
    const struct isa_function *function;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status != LW_OK)
        return status;
    function = dbg_function_at(dbg, thread.location.pc);
    do
        status = dbg_step_line(dbg, thread.id, true, false, stop, err);
    while (status == LW_OK && stop->kind == DBG_STOP_STEP && stop->thread == thread.id &&
           stop->lane == thread.lane && stop->pc <= thread.location.pc &&
           dbg_function_at(dbg, stop->pc) == function && !dbg->engine->interrupted);
    return status;
}

/* Parses the only operand of a command, a location. @pcs has capacity for MAX_LOCATIONS addresses. */
static enum lw_status location_operand(const struct lw_call *call, uint64_t *pcs, unsigned *count, struct lw_error *err)
{
    if (call->argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "%s takes one location, as in `%s FILE:LINE`", call->argv[0], call->argv[0]);
    return dbg_location_parse(call->context, call->argv[1], pcs, MAX_LOCATIONS, count, err);
}

static enum lw_status do_until(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    uint64_t pcs[MAX_LOCATIONS];
    struct dbg_stop stop = {0};
    unsigned count;
    enum lw_status status;

    if (call->argc == 1 && call->argv[0][0] != 'a')
        return dbg_stop_report(call, until_after(dbg, &stop, err), &stop);
    status = location_operand(call, pcs, &count, err);
    if (status == LW_OK)
        status = dbg_advance(dbg, dbg_focus_get(dbg, DBG_FOCUS_VIEW), pcs[0], &stop, err);
    return dbg_stop_report(call, status, &stop);
}

/* Sets the pc of all lanes of the focus lane's split to a location, without executing an instruction. */
static enum lw_status do_jump(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    uint64_t pcs[MAX_LOCATIONS];
    struct dbg_thread thread;
    unsigned count;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status == LW_OK)
        status = location_operand(call, pcs, &count, err);
    if (status == LW_OK && count != 1)
        return LW_FAIL(err, LW_EUSAGE, "'%s' has code at %u addresses: give one of them as *ADDRESS",
                       call->argv[1], count);
    if (status == LW_OK)
        status = dbg_pc_set(dbg, thread.id, thread.lane, false, pcs[0], err);
    if (status == LW_OK)
        dbg_focus_print(dbg, call->out);
    return status;
}

/* Prints the value that @function has returned to the lane. If @function is NULL, uses the function that the call instruction
 * before the lane's pc calls. Returns false if the value is not known. */
static bool put_result(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                       const struct isa_function *function, struct lw_sink *out)
{
    struct dbg_operand value;

    if (!dbg_returned(dbg, id, lane, function, &value))
        return false;
    lw_put(out, "value returned: ");
    dbg_typed_print(dbg, id, lane, &value, '\0', DBG_MOST_VALUES, out);
    lw_put(out, "\n");
    return true;
}

static enum lw_status do_finish(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_frame_location location = {0};
    struct dbg_frame frame = {0};
    struct dbg_thread thread;
    struct dbg_stop stop;
    bool known;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status != LW_OK)
        return status;
    (void)!dbg_frame_location_at(dbg, thread.id, thread.lane,
                        dbg_frame_number(dbg, thread.id, thread.lane), &location);
    known = !location.inlined &&
            dbg_frame_at(dbg, thread.id, thread.lane, location.frame, &frame) && frame.function != NULL;
    status = dbg_finish(dbg, thread.id, &stop, err);
    if (status != LW_OK)
        return status;
    dbg_stop_show(dbg, &stop, call->out);
    if (known && stop.kind == DBG_STOP_STEP && stop.thread == thread.id &&
        stop.lane == thread.lane)
        (void)put_result(dbg, stop.thread, stop.lane, frame.function, call->out);
    return LW_OK;
}

static enum lw_status do_returned(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    struct dbg_thread thread;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status == LW_OK && !put_result(dbg, thread.id, thread.lane, NULL, call->out))
        status = LW_FAIL(err, LW_ESTATE,
                         "no returned value is known for lane %u: run to the end of a call with `finish`, in a program "
                         "compiled with -g",
                         thread.lane);
    return status;
}

enum { STEPS = LW_COMMAND_CHANGES | LW_COMMAND_REPEATS };

/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"continue",    "c",    "",                           "Run all warps until a breakpoint, watchpoint, catchpoint or error stops them, or to the end of the program",                    "continue", do_continue, STEPS | LW_COMMAND_BARE},
    {"step",        "s",    "[count]",                    "Step the focus lane to another source line; enter calls",     "step", do_step, STEPS | LW_COMMAND_AS(STEP_LINE)},
    {"next",        "n",    "[count]",                    "Step the focus lane to another source line; do not enter calls",     "next", do_step, STEPS | LW_COMMAND_AS(STEP_NEXT)},
    {"stepi",       "stepi","[count]",                    "Step the focus lane by one instruction",                     "stepi 2", do_step, STEPS | LW_COMMAND_AS(STEP_INSN)},
    {"nexti",       "nexti","[count]",                    "Step the focus lane by one instruction; a call counts as one",         "nexti", do_step, STEPS | LW_COMMAND_AS(STEP_NEXT_INSN)},
    {"step-alone",  "step-a","[count]",                   "Step the focus lane by one instruction; no other lanes run, even if the focus lane has to wait for them", "step-alone 2", do_step, STEPS | LW_COMMAND_AS(STEP_ALONE)},
    {"step-warp",   "step-w","[count]",                   "Step all splits of the focus warp by one instruction each",   "step-warp 4", do_step, STEPS | LW_COMMAND_AS(STEP_WARP)},
    {"step-block",  "step-b","[count]",                   "Step all splits of all warps of the focus block by one instruction each", "step-block 4", do_step, STEPS | LW_COMMAND_AS(STEP_BLOCK)},
    {"sw",          "sw",   "[count]",                    "Short for step-warp",                                        "sw", do_step, STEPS | LW_COMMAND_AS(STEP_WARP)},
    {"sb",          "sb",   "[count]",                    "Short for step-block",                                       "sb", do_step, STEPS | LW_COMMAND_AS(STEP_BLOCK)},
    {"si",          "si",   "[count]",                    "Short for stepi",                                            "si", do_step, STEPS | LW_COMMAND_AS(STEP_INSN)},
    {"ni",          "ni",   "[count]",                    "Short for nexti",                                            "ni", do_step, STEPS | LW_COMMAND_AS(STEP_NEXT_INSN)},
    {"until",       "u",    "[location]",                 "Run all warps until the focus lane reaches a location; without a location, like next, but run a loop to its end", "until +1", do_until, LW_COMMAND_CHANGES},
    {"advance",     "adv",  "<location>",                 "Run all warps until the focus lane reaches a location",          "advance +1", do_until, LW_COMMAND_CHANGES},
    {"jump",        "jump", "<location>",                 "Set the pc of the focus lane and of the lanes that run together with it; no instruction is executed", "jump +1", do_jump, LW_COMMAND_CHANGES},
    {"finish",      "fin",  "",                           "Run until the selected frame returns, and show the returned value", "finish", do_finish, LW_COMMAND_CHANGES | LW_COMMAND_BARE},
    {"returned",    "returned", "",                       "Show the value that the call right before the pc of the focus lane returned", "returned", do_returned, LW_COMMAND_READONLY | LW_COMMAND_BARE},
};
/* clang-format on */
const struct lw_command_table dbg_commands_run = {rows, LW_COUNT_OF(rows), NULL};
