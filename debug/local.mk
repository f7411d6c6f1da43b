# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/debug.h %D%/debug_priv.h %D%/dbg_finding_stop.c %D%/dbg_reported_lanes.c %D%/dbg_completion.c %D%/dbg_session.c
liblanewise_a_SOURCES += %D%/source/dbg_function_names.c %D%/source/dbg_scopes.c %D%/source/dbg_source.c %D%/source/dbg_types.c
liblanewise_a_SOURCES += %D%/target/dbg_frames.c %D%/target/dbg_memory.c %D%/target/dbg_regs.c %D%/target/dbg_value_window.c
liblanewise_a_SOURCES += %D%/expr/dbg_expr_priv.h %D%/expr/dbg_assign.c %D%/expr/dbg_expr.c %D%/expr/dbg_expr_functions.c \
	%D%/expr/dbg_expr_names.c %D%/expr/dbg_location.c %D%/expr/dbg_print.c %D%/expr/dbg_type_parse.c %D%/expr/dbg_return_value.c %D%/expr/dbg_value.c \
	%D%/expr/dbg_variables.c
liblanewise_a_SOURCES += %D%/points/dbg_watch_priv.h %D%/points/dbg_points.c %D%/points/dbg_stop.c %D%/points/dbg_stop_focus.c %D%/points/dbg_watch.c \
	%D%/points/dbg_watch_filter.c %D%/points/dbg_watch_hit.c
liblanewise_a_SOURCES += %D%/run/dbg_run_priv.h %D%/run/dbg_run.c %D%/run/dbg_step.c %D%/run/dbg_step_line.c
liblanewise_a_SOURCES += %D%/reverse/dbg_history_priv.h %D%/reverse/dbg_history.c %D%/reverse/dbg_lane_trace.c \
	%D%/reverse/dbg_last_write.c %D%/reverse/dbg_marks.c %D%/reverse/dbg_reverse.c \
	%D%/reverse/dbg_reverse_hits.c %D%/reverse/dbg_reverse_skip.c
liblanewise_a_SOURCES += %D%/commands/dbg_commands_priv.h %D%/commands/dbg_coordinates_priv.h %D%/commands/dbg_commands.c \
	%D%/commands/dbg_commands_cuda.c %D%/commands/dbg_commands_focus.c %D%/commands/dbg_commands_frames.c \
	%D%/commands/dbg_commands_history.c %D%/commands/dbg_commands_info.c %D%/commands/dbg_commands_points.c \
	%D%/commands/dbg_commands_run.c %D%/commands/dbg_commands_values.c %D%/commands/dbg_coordinates.c \
	%D%/commands/dbg_display.c %D%/commands/dbg_print_state.c %D%/commands/dbg_state_tables.c
