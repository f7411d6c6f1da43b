/* SPDX-License-Identifier: Apache-2.0 */
/* The command tables, one a theme, and what their handlers share. */
#ifndef DBG_COMMANDS_PRIV_H
#define DBG_COMMANDS_PRIV_H

#include "debug/debug_priv.h"

/** The context of a table is filled in by dbg_commands_join(). */
extern const struct lw_command_table dbg_commands_points, dbg_commands_run, dbg_commands_history,
    dbg_commands_values, dbg_commands_info, dbg_commands_state, dbg_commands_display,
    dbg_commands_frames;

enum lw_status dbg_too_long(struct lw_error *err);
enum lw_status dbg_no_operands(int argc, char **argv, struct lw_error *err);
/** A count as the only operand, 1 without. */
enum lw_status dbg_one_count(int argc, char **argv, uint64_t *count, struct lw_error *err);
/** The stop, and what is displayed at each of them. */
void dbg_stop_show(struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out);
/** The focus with its source line, as behind a step. */
void dbg_focus_print(struct dbg *dbg, struct lw_sink *out);

#endif
