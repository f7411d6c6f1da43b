/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of debug/commands/: the tables of commands, one for each theme, and functions that several command
 * handlers call. */
#ifndef DBG_COMMANDS_PRIV_H
#define DBG_COMMANDS_PRIV_H

#include "debug/debug_priv.h"

/** Tables of commands. dbg_register_commands() registers copies of them, with the session as context. */
extern const struct lw_command_table dbg_commands_points, dbg_commands_run, dbg_commands_history,
    dbg_commands_values, dbg_commands_info, dbg_commands_state, dbg_commands_display,
    dbg_commands_frames, dbg_commands_focus;

enum lw_status dbg_too_long(struct lw_error *err);
/** Joins operand number @first and all operands after it to one text. If the call has no such operand, fails with the message
 *  @takes or, if @takes is NULL, makes the text empty. */
enum lw_status dbg_operand_text(const struct lw_call *call, int first, char *text, size_t size, const char *takes,
                                struct lw_error *err) LW_MUST_CHECK;
/** Parses the operand of a command whose only operand is a count. Without an operand the count is 1. */
enum lw_status dbg_one_count(const struct lw_call *call, uint64_t *count, struct lw_error *err);
/** Prints a stop and the expressions of the command `display`. */
void dbg_stop_show(struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out);
/** Called at the end of a command that resumes the machine: prints its stop if @status is LW_OK, and returns @status. */
enum lw_status dbg_stop_report(const struct lw_call *call, enum lw_status status,
                               const struct dbg_stop *stop);
/** Returns true if @topic is the name of a list of `info cuda`, such as `kernels`, or a prefix of such a name. */
bool dbg_info_cuda_topic(const char *topic);
/** Executes `info cuda TOPIC FILTERS`. argv[0] of the call is the topic, and the filters follow it. */
enum lw_status dbg_info_cuda(const struct lw_call *call, struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_info_frame(const struct lw_call *call, struct lw_error *err) LW_MUST_CHECK;
enum { DBG_MAX_CELLS = 10, DBG_CELL_BYTES = 200 };
/** A row of a table, to which cells are added one by one. Cells after the first DBG_MAX_CELLS are dropped. */
struct dbg_row {
    struct dbg *dbg;
    dbg_row_fn emit;
    void *context;
    unsigned count, ended; /* count: number of cells added to this row; ended: number of rows emitted before it */
    char text[DBG_MAX_CELLS][DBG_CELL_BYTES];
};
/** Appends a cell with formatted text. */
void dbg_cell(struct dbg_row *row, const char *fmt, ...) LW_PRINTF(2, 3);
/** Appends a cell with an index in three dimensions: "(3,0,0)". */
void dbg_cell_index(struct dbg_row *row, const uint32_t index[3]);
/** Appends a cell with a lane mask, with as many hexadecimal digits as the warp width needs. */
void dbg_cell_mask(struct dbg_row *row, uint64_t lanes);
/** Appends a cell with the function and source line of the instruction at @pc. */
void dbg_cell_location(struct dbg_row *row, uint64_t pc);
/** Emits the row and starts the next one. */
void dbg_row_end(struct dbg_row *row);
/** Formats rows in columns. All rows are passed twice: first with `out` NULL, to measure the columns, then to print them. */
struct dbg_layout {
    struct lw_sink *out;
    size_t width[12];
};
/** Measures or prints a row; a dbg_row_fn whose @context is a struct dbg_layout. */
void dbg_layout_row(void *context, const char *const *cells, unsigned count);
/** Prints the view focus with its source line, as after a step. */
void dbg_focus_print(struct dbg *dbg, struct lw_sink *out);

#endif
