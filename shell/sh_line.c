/* SPDX-License-Identifier: Apache-2.0 */
/* The line editor: readline on a terminal; otherwise lines are read without editing. */
#include "shell/shell_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

enum { HISTORY_LINES = 1000 };

struct sh_line {
    /* Must be the first member: rl_readline_name points to it, and the callbacks find the structure in this way. Readline
     * passes no context to them, and this code must not have mutable global variables. */
    char name[16];
    const struct lw_command_set *commands;
    struct dbg *dbg;
    bool terminal;
    volatile sig_atomic_t dropped; /* true: Ctrl-C was received, so that the typed text must be dropped */
    char *history_file; /* path of the history file, or NULL if there is none */
    struct sigaction before;
    char *text; /* buffer for getline() */
    size_t room;
};

static struct sh_line *self(void)
{
    return (struct sh_line *)(uintptr_t)rl_readline_name;
}

/* ---- completion ---------------------------------------------------------------------- */

/* Returns the candidates in the form that readline needs: a NULL-terminated array of heap strings. The first is the common
 * prefix; if there are several candidates, all of them follow. */
static char **complete(const char *text, int start, int end)
{
    struct sh_candidates candidates;
    char **matches = NULL;
    size_t common;

    sh_complete(self()->commands, self()->dbg, rl_line_buffer, (size_t)start, (size_t)end,
                &candidates);
    (void)text;
    rl_attempted_completion_over = !candidates.files;
    if (candidates.count == 0)
        goto cleanup;
    common = strlen(candidates.items[0]);
    for (size_t i = 1; i < candidates.count; i++) {
        size_t same = 0;

        while (same < common && candidates.items[i][same] == candidates.items[0][same])
            same++;
        common = same;
    }
    matches = calloc(candidates.count + 2, sizeof *matches);
    if (matches == NULL)
        goto cleanup;
    matches[0] = strndup(candidates.items[0], common);
    if (candidates.count > 1)
        for (size_t i = 0; i < candidates.count; i++) {
            matches[i + 1] = candidates.items[i];
            candidates.items[i] = NULL;
        }
    /* After "kernel.cl:" a line number follows, so readline must not append a blank. */
    if (matches[0] != NULL && common != 0 && matches[0][common - 1] == ':')
        rl_completion_suppress_append = 1;
cleanup:
    sh_candidates_fini(&candidates);
    return matches;
}

/* ---- Ctrl-C at the prompt ------------------------------------------------------------------ */

static void on_signal(int number)
{
    (void)number;
    self()->dropped = 1;
}

/* Drops the typed text after Ctrl-C. Readline calls this function when a read was interrupted, and ten times a second, because
 * a signal may arrive while readline is not reading. */
static int fresh_line(void)
{
    if (!self()->dropped)
        return 0;
    self()->dropped = 0;
    putc('\n', rl_outstream);
    rl_replace_line("", 0);
    rl_on_new_line();
    rl_redisplay();
    return 0;
}

/* ---- history -------------------------------------------------------------------------------- */

/* Creates all folders in @path, the name of a file. Failures are ignored. */
static void make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)!mkdir(path, 0700);
        *slash = '/';
    }
}

static char *history_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const char *folder = state != NULL && *state == '/' ? state : home;
    const char *tail = folder == state ? "/lanewise/history" : "/.local/state/lanewise/history";
    char *path;

    if (folder == NULL || *folder != '/')
        return NULL;
    path = malloc(strlen(folder) + strlen(tail) + 1);
    if (path != NULL) {
        strcpy(path, folder);
        strcat(path, tail);
    }
    return path;
}

struct sh_line *sh_line_create(const struct lw_command_set *commands, struct dbg *dbg,
                               bool terminal)
{
    struct sh_line *line = calloc(1, sizeof *line);

    if (line == NULL)
        return NULL;
    strcpy(line->name, "lanewise");
    line->commands = commands;
    line->dbg = dbg;
    line->terminal = terminal;
    using_history();
    if (!terminal)
        return line;
    struct sigaction action = {.sa_handler = on_signal};

    rl_readline_name = line->name;
    /* The handler is installed for the whole session, so that Ctrl-C just after the end of a run does not end the shell. */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &line->before);
    rl_attempted_completion_function = complete;
    rl_completer_word_break_characters = SH_WORD_BREAKS;
    rl_signal_event_hook = fresh_line;
    rl_event_hook = fresh_line;
    line->history_file = history_path();
    if (line->history_file != NULL)
        (void)!read_history(line->history_file);
    stifle_history(HISTORY_LINES);
    return line;
}

void sh_line_destroy(struct sh_line *line)
{
    if (line == NULL)
        return;
    if (line->history_file != NULL) {
        make_folders(line->history_file);
        (void)!write_history(line->history_file);
    }
    if (line->terminal) {
        sigaction(SIGINT, &line->before, NULL);
        rl_attempted_completion_function = NULL;
        rl_signal_event_hook = NULL;
        rl_event_hook = NULL;
        rl_readline_name = "lanewise"; /* must not point to the structure any more, because the structure is freed below */
    }
    clear_history();
    free(line->history_file);
    free(line->text);
    free(line);
}

void sh_line_set_dbg(struct sh_line *line, struct dbg *dbg)
{
    line->dbg = dbg;
}

unsigned sh_line_rows(const struct sh_line *line)
{
    struct winsize window = {0}; /* readline's own copy of the size is not set before readline has read a line */

    if (line == NULL || !line->terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0)
        return 0;
    return window.ws_row;
}

bool sh_line_more(struct sh_line *line, bool *all)
{
    static const char question[] = "-- any key: next page; a: show all; q: stop --";
    int key;

    *all = false;
    if (!line->terminal)
        return true;
    fflush(stdout);
    fputs(question, rl_outstream != NULL ? rl_outstream : stdout);
    fflush(rl_outstream != NULL ? rl_outstream : stdout);
    rl_prep_terminal(0);
    rl_done = 0; /* readline has set rl_done at the end of the last line. If it is set again below, Ctrl-C was received */
    key = rl_read_key();
    if (rl_done) /* Ctrl-C */
        key = 3;
    rl_deprep_terminal();
    fprintf(rl_outstream != NULL ? rl_outstream : stdout, "\r%*s\r",
            (int)(sizeof question - 1), "");
    fflush(rl_outstream != NULL ? rl_outstream : stdout);
    *all = key == 'a';
    return key != 'q' && key != 3 && key != EOF && key != 4;
}

char *sh_line_read(struct sh_line *line, const char *prompt)
{
    ssize_t size;

    if (line->terminal) {
        line->dropped = 0;
        return readline(prompt);
    }
    size = getline(&line->text, &line->room, stdin);
    if (size < 0)
        return NULL;
    while (size > 0 && (line->text[size - 1] == '\n' || line->text[size - 1] == '\r'))
        line->text[--size] = '\0';
    return strdup(line->text);
}

void sh_line_remember(struct sh_line *line, const char *text)
{
    HIST_ENTRY *last = history_length > 0 ? history_get(history_base + history_length - 1)
                                          : NULL;

    (void)line;
    if (*text != '\0' && (last == NULL || strcmp(last->line, text) != 0))
        add_history(text);
}

void sh_line_history(const struct sh_line *line, size_t count, struct lw_sink *out)
{
    int first = history_length > (int)count ? history_length - (int)count : 0;

    (void)line;
    for (int i = first; i < history_length; i++) {
        const HIST_ENTRY *entry = history_get(history_base + i);

        if (entry != NULL)
            lw_printf(out, "%5d  %s\n", history_base + i, entry->line);
    }
}
