/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of shell/: the debugger shell, with a line editor, completion, history and scripts. The shell has all
 * commands of the debugger, and commands that access files of this host, which gdb's `monitor` does not have. */
#ifndef SHELL_H
#define SHELL_H

#include "debug/debug.h"

/** Creates another machine with the state of a checkpoint, and sets *@out to a debugger for it, which the callee owns. The
 *  previous debugger remains valid until sh_config.restored is called. */
typedef enum lw_status (*sh_restore_fn)(void *context, const char *path, struct dbg **out,
                                        struct lw_error *err);

/** Input from the command line: a file of commands, or one command. */
struct sh_given {
    const char *text;
    bool file;
};
struct sh_config {
    struct dbg *dbg;                        /* debugger of the session; borrowed */
    const struct lw_command_set *commands;  /* commands of the debugger; the shell adds its own */
    struct lw_sink *out;
    bool interactive;                       /* read lines with readline, keep a history, and stop at full pages */
    bool colour;                            /* the output is a terminal with colours */
    bool batch;                             /* stop at the first failing command */
    const struct sh_given *given;           /* -x FILE and -c COMMAND, in the order of the command line */
    size_t given_count;
    /* Functions for checkpoints. NULL: `save` and `restore` report that the session cannot save or restore them. */
    enum lw_status (*save)(void *context, const char *path, struct lw_error *err);
    sh_restore_fn restore;
    void (*restored)(void *context); /* called when the shell no longer uses the debugger before @restore */
    /* Called after each command. Returns true if a signal was received that ends the session. NULL: no signal ends it. */
    bool (*ended)(void *context);
    void *context;
};
/**
 * Runs the input of the command line, then standard input if the shell is interactive or the command line has no input.
 * @exit_status set to the argument of `quit`; to 1 if an `assert` failed in batch mode; else to 0
 * Errors: in batch mode, the error of the first failing command.
 */
enum lw_status sh_run(const struct sh_config *config, int *exit_status, struct lw_error *err)
    LW_MUST_CHECK;

#endif
