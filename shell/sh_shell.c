/* SPDX-License-Identifier: Apache-2.0 */
/* Where lines come from and what becomes of them. */
#include "shell/shell_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_NESTING = 16, HISTORY_SHOWN = 50 };

struct shell {
    const struct sh_config *config;
    struct lw_command_set set; /* the joined table and the shell's own rows */
    struct sh_line *line;
    char *repeat; /* what an empty line means on a terminal, or NULL */
    unsigned nesting;
    bool quit;
    int status;
};

static enum lw_status run_line(struct shell *shell, const char *text, struct lw_error *err);

/* ---- the shell's own commands --------------------------------------------------------- */

static enum lw_status do_quit(void *context, int argc, char **argv, struct lw_sink *out,
                              struct lw_error *err)
{
    struct shell *shell = context;
    uint64_t status = 0;

    (void)out;
    if (argc > 2 || (argc == 2 && (!lw_parse_u64(argv[1], &status) || status > 255)))
        return LW_FAIL(err, LW_EUSAGE, "quit takes an exit status from 0 to 255");
    shell->quit = true;
    shell->status = (int)status;
    return LW_OK;
}

static enum lw_status run_script(struct shell *shell, const char *path, struct lw_error *err)
{
    char *text, *at;
    size_t size;
    unsigned number = 0;
    enum lw_status status = lw_file_read(path, &text, &size, err);

    if (status != LW_OK)
        return status;
    if (shell->nesting == MAX_NESTING) {
        free(text);
        return LW_FAIL(err, LW_EUSAGE, "%s: scripts call each other more than %d deep", path,
                       MAX_NESTING);
    }
    shell->nesting++;
    for (at = text; at != NULL && *at != '\0' && !shell->quit && status == LW_OK;) {
        char *end = strchr(at, '\n'), *next = end != NULL ? end + 1 : NULL;

        if (end != NULL)
            *end = '\0';
        if (end != NULL && end > at && end[-1] == '\r')
            end[-1] = '\0';
        number++;
        status = run_line(shell, at, err);
        if (status != LW_OK)
            status = lw_error_prefix(err, "%s:%u", path, number);
        at = next;
    }
    shell->nesting--;
    free(text);
    return status;
}

static enum lw_status do_source(void *context, int argc, char **argv, struct lw_sink *out,
                                struct lw_error *err)
{
    (void)out;
    if (argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "source takes one file");
    return run_script(context, argv[1], err);
}

static enum lw_status do_history(void *context, int argc, char **argv, struct lw_sink *out,
                                 struct lw_error *err)
{
    struct shell *shell = context;
    uint64_t count = HISTORY_SHOWN;

    if (argc > 2 || (argc == 2 && (!lw_parse_u64(argv[1], &count) || count > INT32_MAX)))
        return LW_FAIL(err, LW_EUSAGE, "history takes a count");
    sh_line_history(shell->line, (size_t)count, out);
    return LW_OK;
}

/* clang-format off */
static const struct lw_command own_commands[] = {
    {"source",  "so", "<file>",   "Run the commands of a file",                          "source commands.lws", do_source},
    {"history", "hi", "[count]",  "Show the lines that were typed last",                 "history 10",          do_history},
    {"quit",    "q",  "[status]", "Leave the shell, with an exit status if one is given", "quit",                do_quit},
};
/* clang-format on */

/* ---- lines ------------------------------------------------------------------------------ */

/* gdb's habit: `print/x v0` is `print /x v0`. Heap memory. */
static char *normalise(const char *text)
{
    size_t at = 0, size = strlen(text);
    char *copy = malloc(size + 2);

    if (copy == NULL)
        return NULL;
    while (isspace((unsigned char)text[at]))
        at++;
    while (isalpha((unsigned char)text[at]))
        at++;
    memcpy(copy, text, at);
    if (text[at] == '/' && at > 0 && isalpha((unsigned char)text[at - 1])) {
        copy[at] = ' ';
        memcpy(copy + at + 1, text + at, size - at + 1);
    } else {
        memcpy(copy + at, text + at, size - at + 1);
    }
    return copy;
}

static enum lw_status run_line(struct shell *shell, const char *text, struct lw_error *err)
{
    struct sh_interrupt *interrupt = NULL;
    char *line = normalise(text);
    enum lw_status status;

    if (line == NULL)
        return LW_FAIL(err, LW_ENOMEM, "no memory for a command");
    /* Scripts nest inside the command that runs them: one watch is enough. */
    if (shell->config->interactive && shell->nesting == 0)
        interrupt = sh_interrupt_begin(shell->config->dbg);
    status = lw_command_run(&shell->set, line, shell->config->out, err);
    sh_interrupt_end(interrupt);
    free(line);
    return status;
}

/* Commands that an empty line repeats. */
static bool repeats(const struct shell *shell, const char *text)
{
    static const char *const names[] = {"step", "next", "stepi",    "nexti",
                                        "si",   "ni",   "continue", "list"};
    const struct lw_command *row;
    char name[32];
    size_t size = 0;

    while (isspace((unsigned char)*text))
        text++;
    while (isalpha((unsigned char)text[size]) && size + 1 < sizeof name) {
        name[size] = text[size];
        size++;
    }
    name[size] = '\0';
    row = size != 0 ? lw_command_find(&shell->set, name, NULL, NULL) : NULL;
    for (size_t i = 0; row != NULL && i < LW_COUNT_OF(names); i++)
        if (strcmp(row->name, names[i]) == 0)
            return true;
    return false;
}

static void prompt(const struct shell *shell, char *text, size_t size)
{
    dbg_thread_id id = dbg_focus_get(shell->config->dbg, DBG_FOCUS_VIEW);
    struct dbg_thread thread;

    if (dbg_thread_get(shell->config->dbg, id, &thread))
        snprintf(text, size, "(lanewise b%u,%u,%u w%u l%u) ", thread.block_index[0],
                 thread.block_index[1], thread.block_index[2], thread.place.warp, thread.lane);
    else
        snprintf(text, size, "(lanewise) ");
}

static void complain(const struct shell *shell, const struct lw_error *err)
{
    lw_printf(shell->config->out, "error: %s\n", err->text);
}

static enum lw_status run_input(struct shell *shell, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    while (!shell->quit) {
        char before[128], *text;

        prompt(shell, before, sizeof before);
        text = sh_line_read(shell->line, before);
        if (text == NULL) {
            if (shell->config->interactive)
                lw_put(shell->config->out, "\n");
            break;
        }
        if (shell->config->interactive && text[strspn(text, " \t")] == '\0') {
            free(text);
            text = shell->repeat != NULL ? strdup(shell->repeat) : NULL;
            if (text == NULL)
                continue;
        } else {
            sh_line_remember(shell->line, text);
            free(shell->repeat);
            shell->repeat = repeats(shell, text) ? strdup(text) : NULL;
        }
        status = run_line(shell, text, err);
        free(text);
        if (status != LW_OK) {
            if (shell->config->batch)
                return status;
            complain(shell, err);
            status = LW_OK;
        }
    }
    return status;
}

/* Scripts and lines of the command line: a failure ends a batch, else it is said. */
static enum lw_status run_given(struct shell *shell, struct lw_error *err)
{
    const struct sh_config *config = shell->config;
    enum lw_status status = LW_OK;

    for (size_t i = 0; i < config->script_count && !shell->quit; i++) {
        status = run_script(shell, config->scripts[i], err);
        if (status != LW_OK && config->batch)
            return status;
        if (status != LW_OK)
            complain(shell, err);
    }
    for (size_t i = 0; i < config->line_count && !shell->quit; i++) {
        status = run_line(shell, config->lines[i], err);
        if (status != LW_OK && config->batch)
            return status;
        if (status != LW_OK)
            complain(shell, err);
    }
    return LW_OK;
}

/* Where the kernel stands at the start, as after any stop. */
static void greet(struct shell *shell)
{
    struct lw_error err;

    if (dbg_ended(shell->config->dbg)) {
        lw_put(shell->config->out, "there is nothing to run: no launch is left\n");
        return;
    }
    if (shell->config->interactive)
        lw_put(shell->config->out, "`help` lists the commands, `quit` leaves\n");
    if (run_line(shell, "focus", &err) != LW_OK)
        complain(shell, &err);
}

enum lw_status sh_run(const struct sh_config *config, int *exit_status, struct lw_error *err)
{
    struct shell shell = {.config = config, .set = *config->commands};
    enum lw_status status;

    *exit_status = 0;
    if (shell.set.count == LW_COUNT_OF(shell.set.tables))
        return LW_FAIL(err, LW_ERANGE, "no place is left in the command set");
    shell.set.tables[shell.set.count++] =
        (struct lw_command_table){own_commands, LW_COUNT_OF(own_commands), &shell};
    shell.line = sh_line_create(&shell.set, config->dbg, config->interactive);
    if (shell.line == NULL)
        return LW_FAIL(err, LW_ENOMEM, "no memory for the line editor");
    dbg_set_colour(config->dbg, config->interactive);
    greet(&shell);
    status = run_given(&shell, err);
    if (status == LW_OK && !shell.quit &&
        (config->interactive || (config->script_count == 0 && config->line_count == 0)))
        status = run_input(&shell, err);
    *exit_status = shell.status;
    free(shell.repeat);
    sh_line_destroy(shell.line);
    return status;
}
