/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that add, change, delete and list stoppoints: breakpoints, watchpoints and catchpoints. */
#include "debug/commands/dbg_commands_priv.h"

#include <ctype.h>

enum { MAX_LOCATIONS = 32 };
enum { ALWAYS, ONCE };

/* Parses the operands from number @first on, which must be `if CONDITION` or none. @after: the text that the operands follow,
 * for the error message. */
static enum lw_status condition_operand(const struct lw_call *call, int first, const char *after,
                                        char *condition, size_t size, struct lw_error *err)
{
    *condition = '\0';
    if (first >= call->argc)
        return LW_OK;
    if (strcmp(call->argv[first], "if") != 0 || first + 1 == call->argc)
        return LW_FAIL(err, LW_EUSAGE, "expected `if CONDITION` after %s, found \"%s\"", after,
                       call->argv[first]);
    return dbg_operand_text(call, first + 1, condition, size, NULL, err);
}

/* Joins the words of a location to one text. `*EXPRESSION` and names with types, such as `scale(float *, int)`, can have
 * several words. *@next is moved past them. Returns false if the text is too long. */
static bool location_words(int argc, char **argv, int *next, char *text, size_t size)
{
    int end = *next + 1, open = 0;

    for (int i = *next; i < argc; i++) {
        if (strcmp(argv[i], "if") == 0)
            break;
        for (const char *at = argv[i]; *at != '\0'; at++)
            open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        end = i + 1;
        if (open <= 0 && argv[*next][0] != '*')
            break;
    }
    if (!lw_args_join(end, argv, *next, text, size))
        return false;
    *next = end;
    return true;
}

/* Prints a message if the line in a location that the user typed, FILE:LINE or LINE, has no code. The breakpoint is then on
 * another line. */
static void put_moved(const struct dbg *dbg, const char *location, uint64_t pc, struct lw_sink *out)
{
    const char *colon = strrchr(location, ':'), *file = NULL;
    unsigned line = 0;
    uint64_t wanted;

    if (lw_parse_u64(colon != NULL ? colon + 1 : location, &wanted) && isdigit((unsigned char)(colon != NULL ? colon[1] : *location)) &&
        dbg_source_at(dbg, pc, &file, &line) && line != wanted)
        lw_printf(out, "; line %llu has no code", (unsigned long long)wanted);
}

static enum lw_status do_break(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    uint64_t pcs[MAX_LOCATIONS];
    unsigned count = 0, id;
    char condition[1024], location[1024];
    int next = 1;
    enum lw_status status;
    bool temporary = call->what == ONCE, here = call->argc == 1 || strcmp(call->argv[1], "if") == 0;

    if (here) {
        struct dbg_thread thread;

        status = dbg_view(dbg, &thread, err);
        if (status != LW_OK)
            return status;
        pcs[0] = thread.location.pc;
        count = 1;
    } else {
        if (!location_words(call->argc, call->argv, &next, location, sizeof location))
            return dbg_too_long(err);
        status = dbg_location_parse(dbg, location, pcs, MAX_LOCATIONS, &count, err);
        if (status != LW_OK)
            return status;
    }
    status = condition_operand(call, next, "the location", condition, sizeof condition, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; i < count; i++) {
        status = dbg_breakpoint_add(dbg, DBG_OWNER_SHELL, pcs[i], condition, temporary, &id, err);
        if (status != LW_OK)
            return status;
        lw_printf(call->out, "%sbreakpoint %u at ", temporary ? "temporary " : "", id);
        dbg_print_location(dbg, pcs[i], call->out);
        if (!here)
            put_moved(dbg, location, pcs[i], call->out);
        lw_put(call->out, "\n");
    }
    return LW_OK;
}

/* ---- watchpoints and catchpoints ------------------------------------------------------- */

static enum lw_status do_watch(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    char text[512], condition[1024];
    int first = 1, end;
    unsigned id;
    struct dbg_thread thread;
    enum lw_status status = dbg_view(dbg, &thread, err);

    if (status != LW_OK)
        return status;
    /* gdb's option -location is accepted and changes nothing: a watchpoint always covers the location that the expression
     * denotes now. */
    if (call->argc > 1 && (strcmp(call->argv[1], "-l") == 0 || strcmp(call->argv[1], "-location") == 0))
        first = 2;
    for (end = first; end < call->argc && strcmp(call->argv[end], "if") != 0; end++)
        ;
    if (end == first)
        return LW_FAIL(err, LW_EUSAGE, "%s takes an expression to watch, as in `%s y[3] if lane == 3`",
                       call->argv[0], call->argv[0]);
    if (!lw_args_join(end, call->argv, first, text, sizeof text))
        return dbg_too_long(err);
    status = condition_operand(call, end, "the expression", condition, sizeof condition, err);
    if (status == LW_OK)
        status = dbg_watch_expression(dbg, thread.id, thread.lane, text, call->what, condition, &id,
                                      err);
    if (status != LW_OK)
        return status;
    dbg_stoppoint_print(dbg, id, call->out);
    return LW_OK;
}

static enum lw_status do_catch(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    char condition[1024];
    unsigned id, catches = 0;
    enum lw_status status;

    for (unsigned i = 0; call->argc > 1 && dbg_catch_names[i] != NULL; i++)
        if (strcmp(dbg_catch_names[i], call->argv[1]) == 0)
            catches = 1u << i;
    if (catches == 0)
        return LW_FAIL(err, LW_EUSAGE,
                       "%s takes the event to stop for: diverge, reconverge, barrier, convergence, exit, "
                       "launch or atomic",
                       call->argv[0]);
    status = condition_operand(call, 2, "the event", condition, sizeof condition, err);
    if (status == LW_OK)
        status = dbg_catch_add(dbg, DBG_OWNER_SHELL, catches, condition, call->what == ONCE, &id,
                               err);
    if (status != LW_OK)
        return status;
    dbg_stoppoint_print(dbg, id, call->out);
    return LW_OK;
}

/* ---- changing points -------------------------------------------------------------------- */

static enum lw_status point_operand(const struct lw_call *call, unsigned *id, struct lw_error *err)
{
    uint64_t number;

    if (call->argc < 2 || !lw_parse_u64(call->argv[1], &number) || number > UINT32_MAX)
        return LW_FAIL(err, LW_EUSAGE, "%s takes the number of a breakpoint, watchpoint or catchpoint first: `points` "
                                       "lists them",
                       call->argv[0]);
    *id = (unsigned)number;
    return LW_OK;
}

static enum lw_status do_condition(const struct lw_call *call, struct lw_error *err)
{
    char condition[1024];
    unsigned id = 0;
    enum lw_status status = point_operand(call, &id, err);

    if (status == LW_OK)
        status = dbg_operand_text(call, 2, condition, sizeof condition, NULL, err);
    if (status == LW_OK)
        status = dbg_stoppoint_condition(call->context, id, condition, err);
    if (status == LW_OK)
        dbg_stoppoint_print(call->context, id, call->out);
    return status;
}

static enum lw_status do_ignore(const struct lw_call *call, struct lw_error *err)
{
    unsigned id = 0;
    uint64_t count;
    enum lw_status status = point_operand(call, &id, err);

    if (status != LW_OK)
        return status;
    if (call->argc != 3 || !lw_parse_u64(call->argv[2], &count))
        return LW_FAIL(err, LW_EUSAGE, "ignore takes the number of a breakpoint and a count, as in `ignore 1 10`");
    status = dbg_stoppoint_ignore(call->context, id, count, err);
    if (status == LW_OK)
        dbg_stoppoint_print(call->context, id, call->out);
    return status;
}

enum point_verb { POINT_DELETE, POINT_DISABLE, POINT_ENABLE };

static enum lw_status point_apply(struct dbg *dbg, unsigned id, enum point_verb verb,
                                  struct lw_error *err)
{
    if (verb == POINT_DELETE)
        return dbg_stoppoint_remove(dbg, id, err);
    return dbg_stoppoint_enable(dbg, id, verb == POINT_ENABLE, err);
}

/* Enables, disables or deletes the stoppoints with the given numbers. Without numbers, changes all stoppoints of the shell,
 * but not the stoppoints of gdb, which manages these itself. */
static enum lw_status do_change(const struct lw_call *call, struct lw_error *err)
{
    const enum point_verb verb = (enum point_verb)call->what;
    struct dbg *dbg = call->context;
    enum lw_status status = LW_OK;
    struct dbg_stoppoint point;

    if (call->argc == 1) {
        for (unsigned i = dbg_stoppoint_count(dbg); i-- > 0 && status == LW_OK;)
            if (dbg_stoppoint_at(dbg, i, &point) && point.owner == DBG_OWNER_SHELL)
                status = point_apply(dbg, point.id, verb, err);
        return status;
    }
    for (int i = 1; i < call->argc && status == LW_OK; i++) {
        uint64_t id;

        if (!lw_parse_u64(call->argv[i], &id) || id > UINT32_MAX)
            return LW_FAIL(err, LW_EUSAGE, "%s takes numbers of breakpoints, watchpoints or catchpoints, not \"%s\": "
                                           "`points` lists them", call->argv[0],
                           call->argv[i]);
        status = point_apply(dbg, (unsigned)id, verb, err);
    }
    return status;
}

/* ---- the list ------------------------------------------------------------------------------ */

static void put_location(struct dbg *dbg, const struct dbg_stoppoint *point, struct lw_sink *out)
{
    static const char *const how[] = {"", "write", "read", "access"};
    struct dbg_thread thread;

    switch (point->kind) {
    case DBG_STOPPOINT_BREAK:
        lw_printf(out, "0x%llx  ", (unsigned long long)point->pc);
        dbg_print_location(dbg, point->pc, out);
        return;
    case DBG_STOPPOINT_CATCH:
        lw_put(out, "catch");
        for (unsigned i = 0; dbg_catch_names[i] != NULL; i++)
            if (point->catches >> i & 1)
                lw_printf(out, " %s", dbg_catch_names[i]);
        return;
    case DBG_STOPPOINT_WATCH:
        lw_printf(out, "%s of %s%s%u byte%s at 0x%llx", how[point->access & DBG_ACCESS_BOTH],
                  point->text != NULL ? point->text : "", point->text != NULL ? ", " : "",
                  point->size_bytes, point->size_bytes == 1 ? "" : "s",
                  (unsigned long long)point->address);
        if (point->thread == 0)
            return;
        if (dbg_thread_get(dbg, point->thread, &thread))
            lw_printf(out, ", block(%u,%u,%u)", thread.block_index[0], thread.block_index[1],
                      thread.block_index[2]);
        dbg_watch_owner_print(dbg, point->id, out);
        return;
    }
}

void dbg_stoppoint_print(struct dbg *dbg, unsigned id, struct lw_sink *out)
{
    struct dbg_stoppoint point = {0};

    for (unsigned i = 0; dbg_stoppoint_at(dbg, i, &point) && point.id != id; i++)
        ;
    if (point.id != id)
        return;
    lw_printf(out, "%u  %s%s  ", point.id, point.enabled ? "enabled" : "disabled",
              point.temporary ? ", once" : "");
    put_location(dbg, &point, out);
    lw_printf(out, "  %llu hit%s", (unsigned long long)point.hits, point.hits == 1 ? "" : "s");
    if (point.ignore != 0)
        lw_printf(out, "  ignores the next %llu hit%s", (unsigned long long)point.ignore,
                  point.ignore == 1 ? "" : "s");
    if (point.condition != NULL)
        lw_printf(out, "  if %s", point.condition);
    if (point.owner == DBG_OWNER_GDB)
        lw_put(out, "  (gdb's)");
    lw_put(out, "\n");
}

static enum lw_status do_points(const struct lw_call *call, struct lw_error *err)
{
    struct dbg_stoppoint point;

    (void)err;
    if (dbg_stoppoint_count(call->context) == 0)
        lw_put(call->out, "there are no breakpoints, watchpoints or catchpoints: `break`, `watch` and `catch` set "
                          "them\n");
    for (unsigned i = 0; dbg_stoppoint_at(call->context, i, &point); i++)
        dbg_stoppoint_print(call->context, point.id, call->out);
    return LW_OK;
}
/* clang-format off */
static const struct lw_command rows[] = {
    /* name        abbrev.  operands                      summary                                                       example, does */
    {"break",       "b",    "[location] [if condition]",  "Set a breakpoint: stop before a location; with if, only for lanes in which the condition is true",     "break saxpy if lane == 3", do_break, LW_COMMAND_AS(ALWAYS)},
    {"tbreak",      "tb",   "[location] [if condition]",  "Set a breakpoint that is deleted when it is hit",                                                  "tbreak saxpy", do_break, LW_COMMAND_AS(ONCE)},
    {"watch",       "wa",   "[-location] <expression> [if condition]", "Set a watchpoint: stop after an instruction that changes a variable, memory or a register", "watch v0 if lane == 3", do_watch, LW_COMMAND_AS(DBG_ACCESS_WRITE)},
    {"rwatch",      "rw",   "[-location] <expression> [if condition]", "Set a watchpoint that stops after an instruction that reads",                      "rwatch v0", do_watch, LW_COMMAND_AS(DBG_ACCESS_READ)},
    {"awatch",      "aw",   "[-location] <expression> [if condition]", "Set a watchpoint that stops after an instruction that reads or writes",            "awatch v0", do_watch, LW_COMMAND_AS(DBG_ACCESS_BOTH)},
    {"catch",       "cat",  "<event> [if condition]",      "Set a catchpoint, which stops after an event: diverge, reconverge, barrier, convergence, exit, launch, atomic", "catch diverge", do_catch, LW_COMMAND_AS(ALWAYS)},
    {"tcatch",      "tca",  "<event> [if condition]",      "Set a catchpoint that is deleted when it is hit",                                             "tcatch exit", do_catch, LW_COMMAND_AS(ONCE)},
    {"condition",   "cond", "<number> [condition]",       "Change or remove the condition of a breakpoint, watchpoint or catchpoint",                    "condition 1 lane == 3", do_condition, 0},
    {"ignore",      "ig",   "<number> <count>",           "Do not stop at the next count hits of a breakpoint, watchpoint or catchpoint",                   "ignore 1 10", do_ignore, 0},
    {"delete",      "d",    "[number] ...",               "Delete breakpoints, watchpoints and catchpoints by number; without numbers, delete all of them",                         "delete 1", do_change, LW_COMMAND_AS(POINT_DELETE)},
    {"disable",     "dis",  "[number] ...",               "Disable breakpoints, watchpoints and catchpoints, which then do not stop until they are enabled; without numbers, disable all of them",                       "disable", do_change, LW_COMMAND_AS(POINT_DISABLE)},
    {"enable",      "en",   "[number] ...",               "Enable disabled breakpoints, watchpoints and catchpoints; without numbers, enable all of them",                             "enable", do_change, LW_COMMAND_AS(POINT_ENABLE)},
    {"points",      "po",   "",                           "List breakpoints, watchpoints and catchpoints",              "points", do_points, LW_COMMAND_READONLY | LW_COMMAND_BARE},
};
/* clang-format on */
const struct lw_command_table dbg_commands_points = {rows, LW_COUNT_OF(rows), NULL};
