/* SPDX-License-Identifier: Apache-2.0 */
/* The door of shell/: line editor, completion, history and scripts over the joined
 * command table. It knows no commands of its own but quit, source and history. */
#ifndef SHELL_H
#define SHELL_H

#include "debug/debug.h"

struct sh_config {
    struct dbg *dbg;                        /* borrowed; for prompt and completion */
    const struct lw_command_set *commands;
    struct lw_sink *out;
    bool interactive;                       /* readline, history, colour */
    bool batch;                             /* stop at the first failing command */
    const char *const *scripts;             /* -x FILE, in order with @lines by @order */
    size_t script_count;
    const char *const *lines;               /* -c COMMAND */
    size_t line_count;
};
/** Runs scripts, then lines, then standard input when interactive or neither was given.
 *  @exit_status gets the argument of `quit`, else 0. Errors: the first failing command's
 *  in batch mode. */
enum lw_status sh_run(const struct sh_config *config, int *exit_status, struct lw_error *err)
    LW_MUST_CHECK;

#endif
