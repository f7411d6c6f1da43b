/* SPDX-License-Identifier: Apache-2.0 */
/* The command tables, one for each theme, and functions that their handlers share. */
#ifndef DBG_COMMANDS_PRIV_H
#define DBG_COMMANDS_PRIV_H

#include "debug/debug_priv.h"

/** Command tables; dbg_register_commands() fills in their context. */
extern const struct lw_command_table dbg_commands_points, dbg_commands_run, dbg_commands_history,
    dbg_commands_values, dbg_commands_info, dbg_commands_state, dbg_commands_display,
    dbg_commands_frames, dbg_commands_focus;

enum lw_status dbg_too_long(struct lw_error *err);
/** Joins the operands from @first on into one text. @takes is the error message if there are none; NULL: none
 *  are allowed. */
enum lw_status dbg_operand_text(const struct lw_call *call, int first, char *text, size_t size, const char *takes,
                                struct lw_error *err) LW_MUST_CHECK;
/** Parses a count as the only operand; 1 without an operand. */
enum lw_status dbg_one_count(const struct lw_call *call, uint64_t *count, struct lw_error *err);
/** Prints a stop and the displayed expressions. */
void dbg_stop_show(struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out);
/** Ends a command that runs: shows its stop, if there is one, and returns @status. */
enum lw_status dbg_stop_report(const struct lw_call *call, enum lw_status status,
                               const struct dbg_stop *stop);
/** Returns true if @topic is a list of both `info` and `info cuda`, such as `kernels`. argv[0] of the call is then the
 *  topic, and filters follow. */
bool dbg_info_cuda_topic(const char *topic);
enum lw_status dbg_info_cuda(const struct lw_call *call, struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_info_frame(const struct lw_call *call, struct lw_error *err) LW_MUST_CHECK;
enum { DBG_MAX_CELLS = 10, DBG_CELL_BYTES = 200 };
/** A row of a table under construction: cells past DBG_MAX_CELLS are dropped. */
struct dbg_row {
    struct dbg *dbg;
    dbg_row_fn emit;
    void *context;
    unsigned count, ended; /* count: number of cells of this row; ended: number of complete rows before this row */
    char text[DBG_MAX_CELLS][DBG_CELL_BYTES];
};
void dbg_cell(struct dbg_row *row, const char *fmt, ...) LW_PRINTF(2, 3);
/** "(3,0,0)" */
void dbg_cell_index(struct dbg_row *row, const uint32_t index[3]);
/** Appends a cell with a lane mask, with as many hexadecimal digits as a warp needs. */
void dbg_cell_mask(struct dbg_row *row, uint64_t lanes);
void dbg_cell_location(struct dbg_row *row, uint64_t pc);
void dbg_row_end(struct dbg_row *row);
/** Formats rows in columns. The rows are passed twice, first with @out NULL, to measure the columns. */
struct dbg_layout {
    struct lw_sink *out;
    size_t width[12];
};
/** Receives a row (dbg_row_fn); @context is the layout. */
void dbg_layout_row(void *context, const char *const *cells, unsigned count);
/** Prints the focus with its source line, as after a step. */
void dbg_focus_print(struct dbg *dbg, struct lw_sink *out);

#endif
