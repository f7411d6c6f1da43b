/* SPDX-License-Identifier: Apache-2.0 */
/* The command tables, one a theme, and what their handlers share. */
#ifndef DBG_COMMANDS_PRIV_H
#define DBG_COMMANDS_PRIV_H

#include "debug/debug_priv.h"

/** The context of a table is filled in by dbg_register_commands(). */
extern const struct lw_command_table dbg_commands_points, dbg_commands_run, dbg_commands_history,
    dbg_commands_values, dbg_commands_info, dbg_commands_state, dbg_commands_display,
    dbg_commands_frames, dbg_commands_focus;

enum lw_status dbg_too_long(struct lw_error *err);
/** The operands from @first on as one text. @takes: the error where there are none; NULL: there may be none. */
enum lw_status dbg_operand_text(const struct lw_call *call, int first, char *text, size_t size, const char *takes,
                                struct lw_error *err) LW_MUST_CHECK;
/** A count as the only operand, 1 without. */
enum lw_status dbg_one_count(const struct lw_call *call, uint64_t *count, struct lw_error *err);
/** The stop, and what is displayed at each of them. */
void dbg_stop_show(struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out);
/** The end of a command that runs: shows its stop, if there is one, and returns @status. */
enum lw_status dbg_stop_report(const struct lw_call *call, enum lw_status status,
                               const struct dbg_stop *stop);
/** `info kernels` and the like, which `info cuda` has as well: argv[0] of the call is the topic, filters follow. False: it
 *  is none of them. */
bool dbg_info_cuda_topic(const char *topic);
enum lw_status dbg_info_cuda(const struct lw_call *call, struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_info_frame(const struct lw_call *call, struct lw_error *err) LW_MUST_CHECK;
enum { DBG_MAX_CELLS = 10, DBG_CELL_BYTES = 200 };
/** A row of a table under construction: cells past DBG_MAX_CELLS are dropped. */
struct dbg_row {
    struct dbg *dbg;
    dbg_row_fn emit;
    void *context;
    unsigned count, ended; /* cells; rows before this one */
    char text[DBG_MAX_CELLS][DBG_CELL_BYTES];
};
void dbg_cell(struct dbg_row *row, const char *fmt, ...) LW_PRINTF(2, 3);
/** "(3,0,0)" */
void dbg_cell_index(struct dbg_row *row, const uint32_t index[3]);
/** Lanes in hexadecimal digits, as many as a warp needs. */
void dbg_cell_mask(struct dbg_row *row, uint64_t lanes);
void dbg_cell_location(struct dbg_row *row, uint64_t pc);
void dbg_row_end(struct dbg_row *row);
/** Lays rows out in columns: they are given twice, first with @out NULL, to measure. */
struct dbg_layout {
    struct lw_sink *out;
    size_t width[12];
};
/** A dbg_row_fn; @context is the layout. */
void dbg_layout_row(void *context, const char *const *cells, unsigned count);
/** The focus with its source line, as after a step. */
void dbg_focus_print(struct dbg *dbg, struct lw_sink *out);

#endif
