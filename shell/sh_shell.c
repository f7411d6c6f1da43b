/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines from the terminal, scripts and the command line, and executes them. */
#include "shell/shell_priv.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_NESTING = 16 };

/* ---- lines ------------------------------------------------------------------------------ */

/* Returns a copy of the line, in heap memory, in which gdb's form `print/x v0` is converted to `print /x v0`. Returns
 * NULL if the host has no memory. */
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

uint64_t sh_moment(const struct shell *shell)
{
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    struct dbg_value value;

    /* The result combines the instruction count of the focus warp, which changes when the warp executes, and its id. */
    if (dbg_eval(shell->dbg, id, dbg_lane_get(shell->dbg, id), "retired", &value, NULL) != LW_OK)
        return UINT64_MAX;
    return value.bits ^ id << 40;
}

/* Shows the values of the expressions of `wwatch`, unless they were shown for the same position of the focus warp. */
static void show_watches(struct shell *shell)
{
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    uint64_t now;

    if (shell->watch_count == 0)
        return;
    now = sh_moment(shell);
    if (now == shell->shown_at || now == UINT64_MAX)
        return;
    shell->shown_at = now;
    for (size_t i = 0; i < shell->watch_count; i++) {
        struct lw_error err;

        lw_printf(&shell->output.sink, "%zu: %s\n", i + 1, shell->watches[i]);
        if (dbg_print_lanes(shell->dbg, id, shell->watches[i], shell->colour,
                            &shell->output.sink, &err) != LW_OK)
            lw_printf(&shell->output.sink, "  %s\n", err.text);
    }
}

enum lw_status sh_line_run(struct shell *shell, const char *text, struct lw_error *err)
{
    bool mine = shell->interrupt == NULL && shell->config->interactive, ran = false;
    char *line;
    enum lw_status status;

    if (shell->defining != NULL)
        return sh_define_take(shell, text, err);
    line = normalise(text);
    if (line == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a command");
    /* The commands of a script run while the command that started it runs, and share its interrupt listener. */
    if (mine)
        shell->interrupt = sh_interrupt_begin(shell->dbg);
    if (shell->nesting == 0)
        shell->output.rows = sh_line_rows(shell->line); /* the size of the terminal may have changed */
    if (shell->nesting == 0 || !shell->output.dropped)
        sh_output_begin(&shell->output, shell->pages);
    if (shell->echo && shell->nesting != 0 && line[strspn(line, " \t")] != '\0')
        lw_printf(&shell->output.sink, "+ %s\n", line);
    status = sh_define_run(shell, line, &ran, err);
    if (!ran) {
        status = lw_command_run(&shell->set, line, &shell->output.sink, err);
        show_watches(shell);
    }
    sh_output_end(&shell->output);
    if (shell->config->ended != NULL && shell->config->ended(shell->config->context))
        shell->quit = true;
    if (mine) {
        sh_interrupt_end(shell->interrupt);
        shell->interrupt = NULL;
    }
    free(line);
    return status;
}

enum lw_status sh_text_run(struct shell *shell, const char *name, char *text,
                           struct lw_error *err)
{
    char before[sizeof shell->location], *at = text;
    unsigned number = 0;
    enum lw_status status = LW_OK;

    if (shell->nesting == MAX_NESTING)
        return LW_FAIL(err, LW_EUSAGE, "%s: scripts are nested more than %d deep: does one run itself?", name,
                       MAX_NESTING);
    memcpy(before, shell->location, sizeof before);
    shell->nesting++;
    while (at != NULL && *at != '\0' && !shell->quit && status == LW_OK) {
        char *end = strchr(at, '\n'), *next = end != NULL ? end + 1 : NULL;

        if (end != NULL)
            *end = '\0';
        if (end != NULL && end > at && end[-1] == '\r')
            end[-1] = '\0';
        number++;
        snprintf(shell->location, sizeof shell->location, "%s:%u", name, number);
        status = sh_line_run(shell, at, err);
        if (status == LW_OK && sh_interrupt_came(shell->interrupt))
            status = LW_FAIL(err, LW_ESTATE, "interrupted: the remaining lines of the script were not run");
        if (status != LW_OK)
            status = lw_error_prefix(err, "%s:%u", name, number);
        at = next;
    }
    shell->nesting--;
    memcpy(shell->location, before, sizeof before);
    if (status == LW_OK && shell->nesting == 0 && shell->defining != NULL) {
        status = LW_FAIL(err, LW_EUSAGE, "%s: the definition of %s has no `end`", name,
                         shell->defining);
        free(shell->defining);
        shell->defining = NULL;
    }
    return status;
}

enum lw_status sh_script_run(struct shell *shell, const char *path, struct lw_error *err)
{
    char *text;
    size_t size;
    enum lw_status status = lw_file_read(path, &text, &size, err);

    if (status != LW_OK)
        return status;
    if (strlen(text) != size)
        status = LW_FAIL(err, LW_EUSAGE, "%s: the file is not a script: it contains a zero byte", path);
    else
        status = sh_text_run(shell, path, text, err);
    free(text);
    return status;
}

/* Returns true if the command in @text is one that an empty line repeats. */
static bool repeats(const struct shell *shell, const char *text)
{
    const struct lw_command *row;
    char name[32];
    size_t size = 0;

    while (isspace((unsigned char)*text))
        text++;
    while ((isalpha((unsigned char)text[size]) || text[size] == '-') && size + 1 < sizeof name) {
        name[size] = text[size];
        size++;
    }
    name[size] = '\0';
    row = size != 0 ? lw_command_find(&shell->set, name, NULL, NULL) : NULL;
    return row != NULL && (row->does & LW_COMMAND_REPEATS);
}

static void prompt(const struct shell *shell, char *text, size_t size)
{
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    struct dbg_thread thread;

    if (shell->defining != NULL)
        snprintf(text, size, "%.100s> ", shell->defining);
    else if (dbg_thread_get(shell->dbg, id, &thread))
        snprintf(text, size, "(lanewise b%u,%u,%u w%u l%u) ", thread.block_index[0],
                 thread.block_index[1], thread.block_index[2], thread.location.warp, thread.lane);
    else
        snprintf(text, size, "(lanewise) ");
}

static void complain(struct shell *shell, const struct lw_error *err)
{
    sh_output_begin(&shell->output, false);
    lw_printf(&shell->output.sink, "error: %s\n", err->text);
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
        if (shell->config->interactive && shell->defining == NULL &&
            text[strspn(text, " \t")] == '\0') {
            free(text);
            text = shell->repeat != NULL ? strdup(shell->repeat) : NULL;
            if (text == NULL)
                continue;
        } else {
            sh_line_remember(shell->line, text);
            free(shell->repeat);
            shell->repeat = repeats(shell, text) ? strdup(text) : NULL;
        }
        sh_output_note(&shell->output, before, text);
        status = sh_line_run(shell, text, err);
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

/* Runs scripts and commands of the command line. In batch mode the first error ends them; otherwise errors are printed. */
static enum lw_status run_given(struct shell *shell, struct lw_error *err)
{
    const struct sh_config *config = shell->config;
    enum lw_status status = LW_OK;

    for (size_t i = 0; i < config->given_count && !shell->quit; i++) {
        const struct sh_given *given = &config->given[i];

        status = given->file ? sh_script_run(shell, given->text, err)
                             : sh_line_run(shell, given->text, err);
        if (status != LW_OK && config->batch)
            return status;
        if (status != LW_OK)
            complain(shell, err);
    }
    return LW_OK;
}

/* Prints the position at the start of the session, as after a stop. */
static void greet(struct shell *shell)
{
    struct lw_error err;

    if (dbg_ended(shell->dbg)) {
        lw_put(&shell->output.sink, "nothing can run: all launches have ended\n");
        return;
    }
    if (shell->config->interactive)
        lw_put(&shell->output.sink, "`help` lists the commands, `quit` leaves the shell\n");
    if (sh_line_run(shell, "focus", &err) != LW_OK)
        complain(shell, &err);
}

static bool more(void *context)
{
    struct shell *shell = context;
    bool all, on = sh_line_more(shell->line, &all);

    if (all)
        shell->output.paged = false;
    return on && !sh_interrupt_came(shell->interrupt);
}

void sh_dbg_set(struct shell *shell, struct dbg *dbg)
{
    struct dbg *before = shell->dbg;

    for (size_t i = 0; i < shell->set.count; i++)
        if (shell->set.tables[i].context == before)
            shell->set.tables[i].context = dbg;
    shell->dbg = dbg;
    dbg_set_colour(dbg, shell->colour);
    dbg_set_messages(dbg, &shell->output.sink);
    sh_line_set_dbg(shell->line, dbg);
    sh_interrupt_move(shell->interrupt, dbg);
    shell->shown_at = 0;
}

static enum lw_status join(struct shell *shell, struct lw_error *err)
{
    const struct {
        const struct lw_command_table *table;
        const char *theme;
    } own[] = {{&sh_file_commands, "Files and checkpoints"},
               {&sh_own_commands, "The shell and its scripts"}};

    for (size_t i = 0; i < LW_COUNT_OF(own); i++) {
        size_t at = shell->set.count;

        if (at == LW_COUNT_OF(shell->set.tables))
            return LW_FAIL(err, LW_ERANGE, "internal error: the command set is full");
        shell->set.tables[at] = *own[i].table;
        shell->set.tables[at].context = shell;
        shell->set.themes[at] = own[i].theme;
        shell->set.count++;
    }
    return LW_OK;
}

enum lw_status sh_run(const struct sh_config *config, int *exit_status, struct lw_error *err)
{
    struct shell shell = {.config = config, .dbg = config->dbg, .set = *config->commands,
                          .pages = config->interactive, .colour = config->interactive && config->colour};
    enum lw_status status = join(&shell, err);

    *exit_status = 0;
    if (status != LW_OK)
        return status;
    shell.line = sh_line_create(&shell.set, config->dbg, config->interactive);
    if (shell.line == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the line editor");
    lw_buffer_init(&shell.body);
    sh_output_init(&shell.output, config->out);
    shell.output.more = more;
    shell.output.context = &shell;
    sh_dbg_set(&shell, config->dbg);
    greet(&shell);
    status = run_given(&shell, err);
    if (status == LW_OK && !shell.quit &&
        (config->interactive || config->given_count == 0))
        status = run_input(&shell, err);
    dbg_set_messages(shell.dbg, config->out);
    *exit_status = shell.status;
    if (status != LW_OK && shell.assert_failed)
        *exit_status = 1;
    if (status == LW_OK)
        status = sh_output_close_log(&shell.output, err);
    else
        (void)!sh_output_close_log(&shell.output, NULL); /* an error of closing the log is dropped, because the earlier error
                                                          * in `status` is reported */
    for (size_t i = 0; i < shell.watch_count; i++)
        free(shell.watches[i]);
    free(shell.watches);
    sh_define_fini(&shell);
    free(shell.repeat);
    sh_line_destroy(shell.line);
    return status;
}
