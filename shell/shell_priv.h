/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside shell/:
 *
 *   sh_shell.c      where lines come from and what becomes of them
 *   sh_commands.c   the shell's own commands
 *   sh_define.c     commands that a user makes of others
 *   sh_files.c      commands that read and write files: dump, load, save, restore
 *   sh_output.c     the way of a command's text: pages on a terminal, a log
 *   sh_complete.c   candidates for completion, from the command table and the session
 *   sh_line.c       the line editor: the only file that knows readline
 *   sh_interrupt.c  Ctrl-C while a command runs
 */
#ifndef SHELL_PRIV_H
#define SHELL_PRIV_H

#include "shell/shell.h"

#include <stdio.h>

/* ---- output ------------------------------------------------------------------------- */

/** What commands and the machine print goes through here. */
struct sh_output {
    struct lw_sink sink;  /* first: the way back from it */
    struct lw_sink *out;
    FILE *log;            /* a copy of all; NULL: none */
    int log_error;        /* errno where something of it could not be written; 0: all was */
    bool paged;           /* stop at each page of a command's text */
    unsigned rows, line;  /* of a page; printed since the command began */
    bool dropped;         /* the user has seen enough of this command */
    /* Called at a full page: true to continue. */
    bool (*more)(void *context);
    void *context;
};
void sh_output_init(struct sh_output *output, struct lw_sink *out);
/** A command begins: count its lines anew. @pages: stop at full pages. */
void sh_output_begin(struct sh_output *output, bool pages);
/** A command has ended: whoever reads from a pipe or in the log has all that it said, also where the
 *  next one is killed. */
void sh_output_end(struct sh_output *output);
/** Text for the log alone: what was typed. */
void sh_output_note(struct sh_output *output, const char *prompt, const char *text);
/** Ends the log, if there is one. Errors: LW_EIO where something of it could not be written. */
enum lw_status sh_output_close_log(struct sh_output *output, struct lw_error *err) LW_MUST_CHECK;

/* ---- the session -------------------------------------------------------------------- */

/** A command that a user defined. */
struct sh_define {
    char *name;
    char *body; /* its lines */
};
struct shell {
    const struct sh_config *config;
    struct dbg *dbg;           /* config's, or the one that was restored */
    struct lw_command_set set; /* the joined table and the shell's own rows */
    struct sh_line *line;
    struct sh_output output;
    struct sh_interrupt *interrupt; /* while a command runs on a terminal */
    char *repeat; /* what an empty line means on a terminal, or NULL */
    unsigned nesting;
    bool quit, assert_failed;
    bool pages, echo, colour; /* settings */
    int status;
    char location[300]; /* "FILE:LINE" of the command that runs; "" when it was typed */

    struct sh_define *defines;
    size_t define_count, define_capacity;
    char *defining;         /* the name of the definition that is read, or NULL; */
    struct lw_buffer body;  /* its lines up to now */

    char **watches; /* expressions of wwatch */
    size_t watch_count, watch_capacity;
    uint64_t shown_at; /* the moment when they were shown last */
};
/** Run one line: a command, a line of a definition, or a defined command. */
enum lw_status sh_line_run(struct shell *shell, const char *text, struct lw_error *err);
/** Run lines; an error gets "NAME:LINE" in front. @text is cut. */
enum lw_status sh_text_run(struct shell *shell, const char *name, char *text,
                           struct lw_error *err);
/** The same of a file. */
enum lw_status sh_script_run(struct shell *shell, const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Changes when the focus warp moves, or the focus to another one. */
uint64_t sh_moment(const struct shell *shell);
/** Another session takes the place of the one before. */
void sh_dbg_set(struct shell *shell, struct dbg *dbg);

extern const struct lw_command_table sh_own_commands, sh_file_commands;

/* ---- definitions ---------------------------------------------------------------------- */

/** Take a line while a definition is read; `end` ends it. */
enum lw_status sh_define_take(struct shell *shell, const char *text, struct lw_error *err);
/** If @text begins with a defined name: run its body, *ran is true. */
enum lw_status sh_define_run(struct shell *shell, const char *text, bool *ran,
                             struct lw_error *err);
enum lw_status sh_do_define(const struct lw_call *call, struct lw_error *err);
enum lw_status sh_do_alias(const struct lw_call *call, struct lw_error *err);
void sh_define_fini(struct shell *shell);

/* ---- completion ------------------------------------------------------------------ */

struct sh_candidates {
    char **items; /* owned, each too */
    size_t count, capacity;
    bool files; /* names of files are meant, too */
};

/**
 * What could stand for the word at [start, end) of @line.
 *
 * @dbg  may be NULL: no registers and functions then
 * Candidates begin with the word and come in the order of their tables, without doubles.
 */
void sh_complete(const struct lw_command_set *commands, struct dbg *dbg, const char *line,
                 size_t start, size_t end, struct sh_candidates *out);
void sh_candidates_fini(struct sh_candidates *candidates);
/** Characters that end a word: `print v0+tid.x` completes after the plus. */
#define SH_WORD_BREAKS " \t\n\"'=<>;|&{}()[]+-*%!~^?,$/"

/* ---- the line editor ---------------------------------------------------------------- */

struct sh_line;
/** @terminal: edit with readline and keep a history file; else plain lines of standard
 *  input. NULL when memory is short. */
struct sh_line *sh_line_create(const struct lw_command_set *commands, struct dbg *dbg,
                               bool terminal);
void sh_line_destroy(struct sh_line *line);
/** Complete names of this session from now on. */
void sh_line_set_dbg(struct sh_line *line, struct dbg *dbg);
/** The next line without its end, heap memory of the caller; NULL at the end of input. */
char *sh_line_read(struct sh_line *line, const char *prompt);
/** Remember a line that was typed. */
void sh_line_remember(struct sh_line *line, const char *text);
/** The last @count remembered lines, numbered. */
void sh_line_history(const struct sh_line *line, size_t count, struct lw_sink *out);
/** Rows of the terminal; 0: not known. @line may be NULL. */
unsigned sh_line_rows(const struct sh_line *line);
/** One key at a full page: true to continue. @all: and do not ask again. */
bool sh_line_more(struct sh_line *line, bool *all);

/* ---- Ctrl-C --------------------------------------------------------------------------- */

struct sh_interrupt;
/** From now until sh_interrupt_end SIGINT interrupts the debugger's run instead of ending
 *  the process. NULL when the system refuses: then it ends the process as ever. */
struct sh_interrupt *sh_interrupt_begin(struct dbg *dbg);
/** Another session is interrupted from now on. */
void sh_interrupt_move(struct sh_interrupt *interrupt, struct dbg *dbg);
/** True once Ctrl-C came since sh_interrupt_begin. */
bool sh_interrupt_came(struct sh_interrupt *interrupt);
void sh_interrupt_end(struct sh_interrupt *interrupt);

#endif
