/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of shell/: line editor, completion, history and scripts over the joined command table, and
 * the commands that access files of this host, which gdb's `monitor` does not have. */
#ifndef SHELL_H
#define SHELL_H

#include "debug/debug.h"

/** Restores a checkpoint on another machine. *@out is set to a debugger on it, owned by the host. The host
 *  keeps the previous debugger alive until sh_config.restored is called. */
typedef enum lw_status (*sh_restore_fn)(void *context, const char *path, struct dbg **out,
                                        struct lw_error *err);

/** Input from the command line: a file of commands, or one command. */
struct sh_given {
    const char *text;
    bool file;
};
struct sh_config {
    struct dbg *dbg;                        /* borrowed; for prompt and completion */
    const struct lw_command_set *commands;
    struct lw_sink *out;
    bool interactive;                       /* use readline, history, pages */
    bool colour;                            /* the output is a terminal with colours */
    bool batch;                             /* stop at the first failing command */
    const struct sh_given *given;           /* -x FILE and -c COMMAND, in their order */
    size_t given_count;
    /* Checkpoints; NULL: `save` and `restore` report that there are no checkpoints. */
    enum lw_status (*save)(void *context, const char *path, struct lw_error *err);
    sh_restore_fn restore;
    void (*restored)(void *context); /* called when the previous debugger is no longer used */
    bool (*ended)(void *context);    /* returns true if a signal ends the session after this command; NULL: never */
    void *context;
};
/**
 * Runs the given input, then standard input when interactive or nothing was given.
 * @exit_status set to the argument of `quit`; to 1 if an `assert` failed in batch mode; else to 0
 * Errors: the first failing command's in batch mode.
 */
enum lw_status sh_run(const struct sh_config *config, int *exit_status, struct lw_error *err)
    LW_MUST_CHECK;

#endif
