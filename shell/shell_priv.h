/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of shell/. Its files:
 *
 *   sh_shell.c      reads lines from the terminal, scripts and the command line, and executes them
 *   sh_commands.c   the shell's own commands
 *   sh_define.c     commands that a user defines
 *   sh_files.c      commands that read and write files: dump, load, save, restore
 *   sh_output.c     output of commands: stops at full pages of a terminal, and a log
 *   sh_complete.c   candidates for completion, from the command table and the debugged program
 *   sh_line.c       the line editor: the only file that uses readline
 *   sh_interrupt.c  Ctrl-C while a command runs
 */
#ifndef SHELL_PRIV_H
#define SHELL_PRIV_H

#include "shell/shell.h"

#include <stdio.h>

/* ---- output ------------------------------------------------------------------------- */

/** Sink for the output of commands and of the machine. */
struct sh_output {
    struct lw_sink sink;  /* must be the first member: its write function finds the structure by it */
    struct lw_sink *out;
    FILE *log;            /* file that gets a copy of all output and of typed lines, or NULL if there is none */
    int log_error;        /* errno of the first failed write to the log, or 0 if no write has failed */
    bool paged;           /* the output of the command stops at each full page */
    unsigned rows, line;  /* rows of a page; lines printed since the command began */
    bool dropped;         /* the user has quit the output of this command */
    /* Called at a full page. Returns true if the output continues, false if the rest is dropped. */
    bool (*more)(void *context);
    void *context;
};
void sh_output_init(struct sh_output *output, struct lw_sink *out);
/** Starts the output of a command: resets the count of printed lines. @pages: stop at full pages. */
void sh_output_begin(struct sh_output *output, bool pages);
/** Ends the output of a command: flushes it, so that a pipe and the log have all of it even if the process is killed
 *  during the next command. */
void sh_output_end(struct sh_output *output);
/** Writes the prompt and a typed line to the log, but not to the terminal, which shows them already. */
void sh_output_note(struct sh_output *output, const char *prompt, const char *text);
/** Closes the log, if there is one. Errors: LW_EIO if a part of the log could not be written. */
enum lw_status sh_output_close_log(struct sh_output *output, struct lw_error *err) LW_MUST_CHECK;

/* ---- the session -------------------------------------------------------------------- */

/** A command that a user defined. */
struct sh_define {
    char *name;
    char *body; /* commands of the definition, one in each line */
};
struct shell {
    const struct sh_config *config;
    struct dbg *dbg;           /* debugger of the configuration, or the one that `restore` has created */
    struct lw_command_set set; /* tables of all commands, including those of the shell */
    struct sh_line *line;
    struct sh_output output;
    struct sh_interrupt *interrupt; /* handles Ctrl-C while a command runs on a terminal; else NULL */
    char *repeat; /* command that an empty line repeats on a terminal, or NULL */
    unsigned nesting;         /* number of scripts and defined commands that are running in each other */
    bool quit, assert_failed;
    bool pages, echo, colour; /* settings */
    int status;
    char location[300]; /* "FILE:LINE" of the running command; "" if it was typed */

    struct sh_define *defines;
    size_t define_count, define_capacity;
    char *defining;         /* name of the command being defined, or NULL */
    struct lw_buffer body;  /* lines of the definition read so far */

    char **watches; /* expressions of `wwatch` */
    size_t watch_count, watch_capacity;
    uint64_t shown_at; /* result of sh_moment() when the values of @watches were last shown */
};
/** Runs one line: a command, a line of a definition, or a defined command. */
enum lw_status sh_line_run(struct shell *shell, const char *text, struct lw_error *err);
/** Runs the lines of @text, which is modified. Stops at the first error, and prefixes its message with "NAME:LINE". */
enum lw_status sh_text_run(struct shell *shell, const char *name, char *text,
                           struct lw_error *err);
/** Runs the lines of a file; an error is prefixed with "PATH:LINE". */
enum lw_status sh_script_run(struct shell *shell, const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Returns a number that changes when the focus warp executes, or when the focus moves to another warp. The number identifies
 *  the position at which values were shown. */
uint64_t sh_moment(const struct shell *shell);
/** Makes the shell use another debugger. */
void sh_dbg_set(struct shell *shell, struct dbg *dbg);

extern const struct lw_command_table sh_own_commands, sh_file_commands;

/* ---- definitions ---------------------------------------------------------------------- */

/** Handles a line of the definition that is being read; the line `end` completes the definition. */
enum lw_status sh_define_take(struct shell *shell, const char *text, struct lw_error *err);
/** If @text begins with the name of a defined command, runs its body and sets *@ran. */
enum lw_status sh_define_run(struct shell *shell, const char *text, bool *ran,
                             struct lw_error *err);
enum lw_status sh_do_define(const struct lw_call *call, struct lw_error *err);
enum lw_status sh_do_alias(const struct lw_call *call, struct lw_error *err);
void sh_define_fini(struct shell *shell);

/* ---- completion ------------------------------------------------------------------ */

struct sh_candidates {
    char **items; /* owned; so are the strings */
    size_t count, capacity;
    bool files; /* names of files are candidates for completion, too */
};

/**
 * Finds candidates for the word at [start, end) of @line. Candidates begin with the word, are in the order of the tables that
 * contain them, and have no duplicates.
 * @dbg  debugger that has registers, functions and other names; NULL: such names are no candidates
 */
void sh_complete(const struct lw_command_set *commands, struct dbg *dbg, const char *line,
                 size_t start, size_t end, struct sh_candidates *out);
void sh_candidates_fini(struct sh_candidates *candidates);
/** Characters that separate words for completion: in `print v0+tid.x` the last word begins after the plus. */
#define SH_WORD_BREAKS " \t\n\"'=<>;|&{}()[]+-*%!~^?,$/"

/* ---- the line editor ---------------------------------------------------------------- */

struct sh_line;
/** Creates a line editor. @terminal: edit lines with readline and a history file; else read lines from standard input.
 *  Returns NULL if the host has no memory. */
struct sh_line *sh_line_create(const struct lw_command_set *commands, struct dbg *dbg,
                               bool terminal);
void sh_line_destroy(struct sh_line *line);
/** Makes completion use the names of another debugger. */
void sh_line_set_dbg(struct sh_line *line, struct dbg *dbg);
/** Returns the next line without its newline, in heap memory that the caller frees, or NULL at the end of input. */
char *sh_line_read(struct sh_line *line, const char *prompt);
/** Adds a typed line to the history. */
void sh_line_remember(struct sh_line *line, const char *text);
/** Prints the last @count lines of the history, numbered. */
void sh_line_history(const struct sh_line *line, size_t count, struct lw_sink *out);
/** Returns the number of rows of the terminal, or 0 if it is not known. @line may be NULL. */
unsigned sh_line_rows(const struct sh_line *line);
/** Asks the user at a full page, and reads a key. Returns true if the output continues. *@all is set to true if it
 *  continues without stops at further pages. */
bool sh_line_more(struct sh_line *line, bool *all);

/* ---- Ctrl-C --------------------------------------------------------------------------- */

struct sh_interrupt;
/** Makes SIGINT interrupt the debugger's run instead of ending the process, until sh_interrupt_end. Returns NULL if the
 *  host has no resources for this: SIGINT then has its usual effect. */
struct sh_interrupt *sh_interrupt_begin(struct dbg *dbg);
/** Makes SIGINT interrupt another debugger. */
void sh_interrupt_move(struct sh_interrupt *interrupt, struct dbg *dbg);
/** Returns true if Ctrl-C was received since sh_interrupt_begin. */
bool sh_interrupt_came(struct sh_interrupt *interrupt);
void sh_interrupt_end(struct sh_interrupt *interrupt);

#endif
