# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/check.h %D%/chk_priv.h %D%/chk_checker.c %D%/chk_commands.c %D%/chk_hooks.c %D%/chk_kinds.c \
	%D%/kinds.def
liblanewise_a_SOURCES += %D%/report/chk_backtrace.c %D%/report/chk_baseline.c %D%/report/chk_inline.c %D%/report/chk_paths.c \
	%D%/report/chk_report.c %D%/report/chk_suppress.c %D%/report/chk_values.c %D%/report/chk_variable_names.c
liblanewise_a_SOURCES += %D%/count/chk_count_priv.h %D%/count/chk_count.c %D%/count/chk_coverage.c %D%/count/chk_performance.c \
	%D%/count/chk_profile.c
liblanewise_a_SOURCES += %D%/memory/chk_bounds.c %D%/memory/chk_bounds_dominated.c %D%/memory/chk_buffer_use.c %D%/memory/chk_leak.c \
	%D%/memory/chk_readonly_load.c %D%/memory/chk_stale.c
liblanewise_a_SOURCES += %D%/sync/chk_barrier_priv.h %D%/sync/chk_barrier.c %D%/sync/chk_barrier_paths.c \
	%D%/sync/chk_barrier_regions.c
liblanewise_a_SOURCES += %D%/init/chk_init_priv.h %D%/init/chk_init.c %D%/init/chk_init_args.c %D%/init/chk_init_memory.c \
	%D%/init/chk_init_report.c %D%/init/chk_init_rules.c %D%/init/chk_liveness.c
liblanewise_a_SOURCES += %D%/arith/chk_fp_taint_priv.h %D%/arith/chk_library_priv.h %D%/arith/chk_arith.c \
	%D%/arith/chk_fp_taint.c %D%/arith/chk_library.c
liblanewise_a_SOURCES += %D%/race/chk_race_access_wide_body.h %D%/race/chk_race_priv.h %D%/race/chk_race_access_priv.h %D%/race/chk_race_filter_priv.h \
	%D%/race/chk_race_order_priv.h %D%/race/chk_race_shadow_priv.h %D%/race/chk_race_access.c %D%/race/chk_race_plain.c \
	%D%/race/chk_race_access_wide.c %D%/race/chk_race_batch.c \
	%D%/race/chk_race_defer.c %D%/race/chk_race_filter_reads.c \
	%D%/race/chk_race_filter_shared.c %D%/race/chk_race_order.c %D%/race/chk_race_order_barrier.c \
	%D%/race/chk_race_report.c %D%/race/chk_race_state.c %D%/race/chk_race_shadow.c %D%/race/chk_race_shadow_packed.c \
	%D%/race/chk_race_spin_loop.c %D%/race/chk_race_uninit.c %D%/race/chk_race_vclock.c
