/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside shell/:
 *
 *   sh_shell.c      where lines come from and what becomes of them; quit, source, history
 *   sh_complete.c   candidates for completion, from the command table and the session
 *   sh_line.c       the line editor: the only file that knows readline
 *   sh_interrupt.c  Ctrl-C while a command runs
 */
#ifndef SHELL_PRIV_H
#define SHELL_PRIV_H

#include "shell/shell.h"

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
void sh_complete(const struct lw_command_set *commands, const struct dbg *dbg,
                 const char *line, size_t start, size_t end, struct sh_candidates *out);
void sh_candidates_fini(struct sh_candidates *candidates);
/** Characters that end a word: `print v0+tid.x` completes behind the plus. */
#define SH_WORD_BREAKS " \t\n\"'=<>;|&{}()[]+-*%!~^?,$/"

/* ---- the line editor ---------------------------------------------------------------- */

struct sh_line;
/** @terminal: edit with readline and keep a history file; else plain lines of standard
 *  input. NULL when memory is short. */
struct sh_line *sh_line_create(const struct lw_command_set *commands, const struct dbg *dbg,
                               bool terminal);
void sh_line_destroy(struct sh_line *line);
/** The next line without its end, heap memory of the caller; NULL at the end of input. */
char *sh_line_read(struct sh_line *line, const char *prompt);
/** Remember a line that was typed. */
void sh_line_remember(struct sh_line *line, const char *text);
/** The last @count remembered lines, numbered. */
void sh_line_history(const struct sh_line *line, size_t count, struct lw_sink *out);

/* ---- Ctrl-C --------------------------------------------------------------------------- */

struct sh_interrupt;
/** From now until sh_interrupt_end SIGINT interrupts the debugger's run instead of ending
 *  the process. NULL when the system refuses: then it ends the process as ever. */
struct sh_interrupt *sh_interrupt_begin(struct dbg *dbg);
void sh_interrupt_end(struct sh_interrupt *interrupt);

#endif
