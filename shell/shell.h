/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of shell/: line editor, completion, history and scripts over the joined command
 * table, and the commands that touch files of this host: gdb's `monitor` has none of those. */
#ifndef SHELL_H
#define SHELL_H

#include "debug/debug.h"

/** Brings another machine to the state in a checkpoint. *out gets a debugger on it, owned by the
 *  host. The host keeps the debugger before alive until sh_config.restored is called. */
typedef enum lw_status (*sh_restore_fn)(void *context, const char *path, struct dbg **out,
                                        struct lw_error *err);

/** What a command line gives: a file of commands, or one command. */
struct sh_given {
    const char *text;
    bool file;
};
struct sh_config {
    struct dbg *dbg;                        /* borrowed; for prompt and completion */
    const struct lw_command_set *commands;
    struct lw_sink *out;
    bool interactive;                       /* readline, history, pages */
    bool colour;                            /* the output is a terminal that shows colours */
    bool batch;                             /* stop at the first failing command */
    const struct sh_given *given;           /* -x FILE and -c COMMAND, as they came */
    size_t given_count;
    /* Checkpoints; NULL: `save` and `restore` say that there are none. */
    enum lw_status (*save)(void *context, const char *path, struct lw_error *err);
    sh_restore_fn restore;
    void (*restored)(void *context); /* the debugger before is not used any more */
    bool (*ended)(void *context);    /* a signal ends the session after this command; NULL: never */
    void *context;
};
/**
 * Runs what was given, then standard input when interactive or nothing was given.
 *
 * @exit_status  the argument of `quit`; 1 where an `assert` failed in batch mode; else 0
 * Errors: the first failing command's in batch mode.
 */
enum lw_status sh_run(const struct sh_config *config, int *exit_status, struct lw_error *err)
    LW_MUST_CHECK;

#endif
