/* SPDX-License-Identifier: Apache-2.0 */
/* The shell's own commands: scripts, assertions, settings, the log and the history of typed lines. */
#include "shell/shell_priv.h"

#include <ctype.h>
#include <stdlib.h>

enum { HISTORY_SHOWN = 50, MAX_WATCHES = 32 };

static enum lw_status do_quit(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    uint64_t status = 0;

    if (call->argc > 2 || (call->argc == 2 && (!lw_parse_u64(call->argv[1], &status) || status > 255)))
        return LW_FAIL(err, LW_EUSAGE, "quit takes an exit status from 0 to 255");
    shell->quit = true;
    shell->status = (int)status;
    return LW_OK;
}

static enum lw_status do_source(const struct lw_call *call, struct lw_error *err)
{
    if (call->argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "source takes the name of one file");
    return sh_script_run(call->context, call->argv[1], err);
}

static enum lw_status do_history(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    uint64_t count = HISTORY_SHOWN;

    if (call->argc > 2 || (call->argc == 2 && (!lw_parse_u64(call->argv[1], &count) || count > INT32_MAX)))
        return LW_FAIL(err, LW_EUSAGE, "typed takes a number of lines, as in `typed 20`");
    sh_line_history(shell->line, (size_t)count, call->out);
    return LW_OK;
}

/* ---- echo ----------------------------------------------------------------------------- */

/* Prints text in which "{EXPRESSION}" and "{/x EXPRESSION}" are replaced by the values of the expressions. */
static enum lw_status do_echo(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    char text[2048];
    struct lw_buffer line;
    enum lw_status status = LW_OK;

    if (!lw_args_join(call->argc, call->argv, 1, text, sizeof text))
        return LW_FAIL(err, LW_EUSAGE, "the text of echo is longer than 2047 characters: print it in two lines");
    lw_buffer_init(&line);
    for (char *at = text; *at != '\0' && status == LW_OK;) {
        size_t plain = strcspn(at, "{");
        struct dbg_value value;
        char format = 0, *end;

        lw_printf(&line.sink, "%.*s", (int)plain, at);
        at += plain;
        if (*at == '\0')
            break;
        end = strchr(at, '}');
        if (end == NULL) {
            status = LW_FAIL(err, LW_EUSAGE, "the text from \"%s\" on has no }: close the brace, as in {lane}", at);
            break;
        }
        *end = '\0';
        at++;
        if (*at == '/' && at[1] != '\0') {
            format = at[1];
            at += 2;
        }
        status = dbg_eval(shell->dbg, id, dbg_lane_get(shell->dbg, id), at, &value, err);
        if (status == LW_OK)
            dbg_value_print(&value, format, &line.sink);
        at = end + 1;
    }
    if (status == LW_OK)
        lw_printf(call->out, "%s\n", line.text != NULL ? line.text : "");
    lw_buffer_fini(&line);
    return status;
}

/* ---- assert ----------------------------------------------------------------------------- */

/* Returns the first operator of a comparison or logical operation at or after @at that is not in brackets, or the end of
 * the text. */
static const char *side_end(const char *at)
{
    int depth = 0;

    for (; *at != '\0'; at++) {
        if (*at == '(' || *at == '[')
            depth++;
        else if (*at == ')' || *at == ']')
            depth--;
        if (depth != 0)
            continue;
        if ((at[0] == '<' && at[1] == '<') || (at[0] == '>' && at[1] == '>') ||
            (at[0] == '-' && at[1] == '>')) {
            at++;
            continue;
        }
        if (strchr("<>?", *at) != NULL || (*at == '=' && at[1] == '=') ||
            (*at == '!' && at[1] == '=') || (*at == '&' && at[1] == '&') ||
            (*at == '|' && at[1] == '|'))
            return at;
    }
    return at;
}

static bool is_number(const char *text, size_t size)
{
    if (size == 0)
        return true;
    for (size_t i = 0; i < size; i++)
        if (!isdigit((unsigned char)text[i]) && strchr(".-+xXabcdefABCDEF", text[i]) == NULL)
            return false;
    return isdigit((unsigned char)text[0]) || text[0] == '-';
}

/* Prints the value of each operand of an assertion, except numbers, for example "y[3] = 4, n = 7". */
static void print_sides(struct shell *shell, const char *text, struct lw_sink *out)
{
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    unsigned shown = 0;

    while (*text != '\0') {
        const char *end = side_end(text);
        size_t size;
        char part[256];
        struct dbg_value value;

        while (isspace((unsigned char)*text) && text < end)
            text++;
        size = (size_t)(end - text);
        while (size > 0 && isspace((unsigned char)text[size - 1]))
            size--;
        if (size < sizeof part && !is_number(text, size)) {
            snprintf(part, sizeof part, "%.*s", (int)size, text);
            if (dbg_eval(shell->dbg, id, dbg_lane_get(shell->dbg, id), part, &value, NULL) ==
                LW_OK) {
                lw_printf(out, "%s%s = ", shown++ != 0 ? ", " : "", part);
                dbg_value_print(&value, 0, out);
            }
        }
        text = end;
        while (*text != '\0' && strchr("<>=!&|?:", *text) != NULL)
            text++;
    }
}

static enum lw_status do_assert(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    struct dbg_value value;
    struct dbg_thread thread;
    struct lw_buffer line;
    char text[1024];
    enum lw_status status;

    if (call->argc < 2)
        return LW_FAIL(err, LW_EUSAGE, "assert takes an expression, as in `assert n == 8`");
    if (!lw_args_join(call->argc, call->argv, 1, text, sizeof text))
        return LW_FAIL(err, LW_EUSAGE, "the expression is too long");
    status = dbg_eval(shell->dbg, id, dbg_lane_get(shell->dbg, id), text, &value, err);
    if (status != LW_OK || dbg_value_true(&value))
        return status;
    lw_buffer_init(&line);
    lw_printf(&line.sink, "assert failed: %s is 0 (false)", text);
    size_t before = line.size;
    lw_put(&line.sink, ": ");
    print_sides(shell, text, &line.sink);
    if (line.size == before + 2)
        line.text[before] = '\0';
    before = strlen(line.text);
    if (dbg_thread_get(shell->dbg, id, &thread)) {
        line.size = before;
        lw_put(&line.sink, "; at ");
        dbg_print_location(shell->dbg, thread.location.pc, &line.sink);
        lw_put(&line.sink, ", ");
        dbg_thread_name(shell->dbg, &thread, &line.sink);
    }
    status = LW_FAIL(err, LW_EINPUT, "%s", line.text);
    lw_buffer_fini(&line);
    shell->assert_failed = true;
    return status;
}

/* ---- settings ----------------------------------------------------------------------------- */

static enum lw_status do_settings(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    struct {
        const char *name, *help;
        bool *value;
    } settings[] = {
        {"pages", "stop at each full page of a terminal", &shell->pages},
        {"colour", "use colours: lanes that are not active are dim", &shell->colour},
        {"echo", "show the commands of scripts before they run", &shell->echo},
    };

    if (call->argc > 3)
        return LW_FAIL(err, LW_EUSAGE, "settings takes at most a name and on or off; remove \"%s\"",
                       call->argv[3]);
    for (size_t i = 0; i < LW_COUNT_OF(settings); i++) {
        if (call->argc == 1)
            lw_printf(call->out, "%-8s %-4s %s\n", settings[i].name, *settings[i].value ? "on" : "off",
                      settings[i].help);
        if (call->argc == 1 || strcmp(settings[i].name, call->argv[1]) != 0)
            continue;
        if (call->argc == 3 && strcmp(call->argv[2], "on") != 0 && strcmp(call->argv[2], "off") != 0)
            return LW_FAIL(err, LW_EUSAGE, "%s can be on or off, not \"%s\"", call->argv[1], call->argv[2]);
        if (call->argc == 3)
            *settings[i].value = strcmp(call->argv[2], "on") == 0;
        else
            lw_printf(call->out, "%s is %s\n", call->argv[1], *settings[i].value ? "on" : "off");
        dbg_set_colour(shell->dbg, shell->colour);
        return LW_OK;
    }
    return call->argc == 1 ? LW_OK
                           : LW_FAIL(err, LW_EUSAGE, "there is no setting \"%s\": the settings are pages, colour and "
                                                     "echo", call->argv[1]);
}

/* ---- warp watch ------------------------------------------------------------------------------ */

static enum lw_status do_wwatch(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    enum lw_status status;
    char text[1024], *copy;

    if (call->argc == 1) {
        for (size_t i = 0; i < shell->watch_count; i++)
            lw_printf(call->out, "%zu: %s\n", i + 1, shell->watches[i]);
        if (shell->watch_count == 0)
            lw_put(call->out, "no expression is watched: `wwatch EXPRESSION` adds one\n");
        return LW_OK;
    }
    if (!lw_args_join(call->argc, call->argv, 1, text, sizeof text))
        return LW_FAIL(err, LW_EUSAGE, "the expression is too long");
    status = dbg_print_lanes(shell->dbg, id, text, shell->colour, call->out, err);
    if (status != LW_OK)
        return status;
    if (shell->watch_count == 0)
        shell->shown_at = sh_moment(shell);
    copy = shell->watch_count < MAX_WATCHES &&
                   lw_grow(&shell->watches, &shell->watch_capacity, shell->watch_count + 1,
                           sizeof *shell->watches)
               ? strdup(text)
               : NULL;
    if (copy == NULL)
        return LW_FAIL(err, LW_ERANGE, "cannot watch more than %d expressions: remove one with `wunwatch`",
                       MAX_WATCHES);
    shell->watches[shell->watch_count++] = copy;
    return LW_OK;
}

static enum lw_status do_unwatch(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    uint64_t number = 0;

    if (call->argc > 2 || (call->argc == 2 && (!lw_parse_u64(call->argv[1], &number) ||
                                               number == 0 || number > shell->watch_count)))
        return LW_FAIL(err, LW_EUSAGE, "wunwatch takes a number from the list of `wwatch`; without a number it removes "
                                       "all");
    for (size_t i = shell->watch_count; i-- > 0;) {
        if (number != 0 && i + 1 != number)
            continue;
        free(shell->watches[i]);
        memmove(shell->watches + i, shell->watches + i + 1,
                (shell->watch_count - i - 1) * sizeof *shell->watches);
        shell->watch_count--;
    }
    return LW_OK;
}

/* ---- log ---------------------------------------------------------------------------------------- */

static enum lw_status do_log(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    FILE *file = NULL;
    enum lw_status status;

    if (call->argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "log takes the name of a file, or off");
    if (strcmp(call->argv[1], "off") == 0 && shell->output.log == NULL)
        return LW_FAIL(err, LW_ESTATE, "no log file is open: `log FILE` opens one");
    if (strcmp(call->argv[1], "off") != 0) {
        file = fopen(call->argv[1], "w");
        if (file == NULL)
            return LW_FAIL(err, LW_EIO, "cannot open %s for writing", call->argv[1]);
    }
    status = sh_output_close_log(&shell->output, err);
    shell->output.log = file;
    return status;
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name      abbrev.  operands                   summary                                                            example */
    {"source",   "so",   "<file>",                  "Run the commands of a file",                                       "source commands.lws", do_source, LW_COMMAND_CHANGES},
    {"define",   "def",  "[name]",                  "Define a command: the following lines, up to end, are its commands; $1 to $9 and $* stand for its operands", "define", sh_do_define, 0},
    {"alias",    "ali",  "<name> = <command> ...",  "Define a new name for a command with operands",                     "alias pv = print /x v0", sh_do_alias, 0},
    {"echo",     "ec",   "<text> ...",              "Print a line of text in which each {EXPRESSION} is replaced by its value",                 "echo lane {lane} of {/x active}", do_echo, 0},
    {"assert",   "as",   "<expression>",            "Fail if an expression is 0; with --batch the shell then exits with status 1", "assert lane < warpSize", do_assert, 0},
    {"wwatch",   "ww",   "[expression]",            "Show the value of an expression in every lane, now and after each stop",        "wwatch v0", do_wwatch, 0},
    {"wunwatch", "wun",  "[number]",                "Stop showing an expression of wwatch; without a number, all of them",       "wunwatch", do_unwatch, 0},
    {"settings", "sett", "[topic] [on|off]",        "Show or change the settings of the shell: pages, colour, echo",                       "settings echo off", do_settings, 0},
    {"log",      "log",  "<file>|off",              "Write a copy of all output to a file; off ends the copy",                             "log session.txt", do_log, 0},
    {"typed",    "ty",   "[count]",                 "Show the most recent lines that were typed",                              "typed 10", do_history, 0},
    {"quit",     "q",    "[status]",                "Leave the shell, with an exit status if one is given",             "quit", do_quit, 0},
};
/* clang-format on */
const struct lw_command_table sh_own_commands = {rows, LW_COUNT_OF(rows), NULL};
