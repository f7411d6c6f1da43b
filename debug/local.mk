# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/debug.h \
	%D%/debug_priv.h \
	%D%/dbg_commands_priv.h \
	%D%/dbg_expr_priv.h \
	%D%/dbg_history_priv.h \
	%D%/dbg_run_priv.h \
	%D%/dbg_watch_priv.h \
	%D%/dbg_assign.c \
	%D%/dbg_commands.c \
	%D%/dbg_commands_frames.c \
	%D%/dbg_commands_history.c \
	%D%/dbg_commands_info.c \
	%D%/dbg_commands_points.c \
	%D%/dbg_commands_run.c \
	%D%/dbg_commands_values.c \
	%D%/dbg_display.c \
	%D%/dbg_expr.c \
	%D%/dbg_frames.c \
	%D%/dbg_functions.c \
	%D%/dbg_history.c \
	%D%/dbg_marks.c \
	%D%/dbg_memory.c \
	%D%/dbg_names.c \
	%D%/dbg_notice.c \
	%D%/dbg_points.c \
	%D%/dbg_print.c \
	%D%/dbg_regs.c \
	%D%/dbg_result.c \
	%D%/dbg_reverse.c \
	%D%/dbg_run.c \
	%D%/dbg_session.c \
	%D%/dbg_sieve.c \
	%D%/dbg_show.c %D%/dbg_tables.c \
	%D%/dbg_source.c \
	%D%/dbg_step.c \
	%D%/dbg_stop.c \
	%D%/dbg_touch.c \
	%D%/dbg_stay.c \
	%D%/dbg_trail.c \
	%D%/dbg_symbols.c \
	%D%/dbg_types.c \
	%D%/dbg_value.c \
	%D%/dbg_variables.c \
	%D%/dbg_walk.c \
	%D%/dbg_watch.c \
	%D%/dbg_wrote.c
