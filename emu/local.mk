# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/emu.h %D%/emu_core.h %D%/emu_engine.h %D%/emu_event.h %D%/emu_fault.h %D%/emu_grid.h \
	%D%/emu_history.h %D%/emu_hooks.h %D%/emu_machine.h %D%/emu_memory.h %D%/emu_predict.h %D%/emu_program.h %D%/emu_state_view.h \
	%D%/emu_stats.h %D%/emu_code_priv.h %D%/emu_machine_priv.h %D%/emu_next_priv.h %D%/emu_warp_priv.h \
	%D%/emu_core_life.c %D%/emu_fault.c %D%/emu_machine.c %D%/faults.def
liblanewise_a_SOURCES += %D%/bytes/emu_bytes_priv.h %D%/bytes/emu_state_priv.h %D%/bytes/emu_bytes.c %D%/bytes/emu_options_file.c \
	%D%/bytes/emu_state.def
liblanewise_a_SOURCES += %D%/log/emu_log_priv.h %D%/log/emu_log.c %D%/log/emu_log_file.c
liblanewise_a_SOURCES += %D%/lane/emu_lane_ops_priv.h %D%/lane/emu_math_priv.h %D%/lane/emu_mufu_priv.h %D%/lane/emu_predict_priv.h %D%/lane/emu_semantics_priv.h \
	%D%/lane/emu_lane_ops.c %D%/lane/emu_math.c %D%/lane/emu_predict.c %D%/lane/emu_predict_affine.c \
	%D%/lane/emu_predict_range.c %D%/lane/emu_predict_row.c %D%/lane/emu_rect.c
liblanewise_a_SOURCES += %D%/memory/emu_mem_priv.h %D%/memory/emu_memory_priv.h %D%/memory/emu_texture_priv.h %D%/memory/emu_address.c \
	%D%/memory/emu_heap.c %D%/memory/emu_mem_slow.c %D%/memory/emu_memory.c %D%/memory/emu_texture.c \
	%D%/memory/emu_texture_sample.c
liblanewise_a_SOURCES += %D%/print/emu_print_priv.h %D%/print/emu_print.c %D%/print/emu_print_format.c
liblanewise_a_SOURCES += %D%/grid/emu_grid_priv.h %D%/grid/emu_grid.c %D%/grid/emu_launch.c
liblanewise_a_SOURCES += %D%/simt/emu_split_priv.h %D%/simt/emu_barrier.c %D%/simt/emu_policy.c %D%/simt/emu_reconv.c \
	%D%/simt/emu_simt_entries.c %D%/simt/emu_split.c %D%/simt/emu_split_view.c
liblanewise_a_SOURCES += %D%/tags/emu_compact_priv.h %D%/tags/emu_tag_measure_priv.h %D%/tags/emu_tags_priv.h \
	%D%/tags/emu_compact.c %D%/tags/emu_compact_view.c %D%/tags/emu_tag_measure.c %D%/tags/emu_tag_plan.c \
	%D%/tags/emu_tag_shadow.c %D%/tags/emu_tags.c
liblanewise_a_SOURCES += %D%/interp/emu_compact_body.h %D%/interp/emu_control_priv.h %D%/interp/emu_cvt_body.h \
	%D%/interp/emu_half_body.h %D%/interp/emu_hooks_body.h %D%/interp/emu_hooks_priv.h %D%/interp/emu_layers_priv.h %D%/interp/emu_level_priv.h \
	%D%/interp/emu_mem_fast_body.h %D%/interp/emu_mem_general_body.h %D%/interp/emu_native_priv.h %D%/interp/emu_scalar_body.h \
	%D%/interp/emu_simd_priv.h %D%/interp/emu_control.c %D%/interp/emu_hooks.c %D%/interp/emu_native.c %D%/interp/emu_slice.c
liblanewise_a_SOURCES += %D%/program/emu_addr_cache_priv.h %D%/program/emu_decode_priv.h %D%/program/emu_addr_cache.c \
	%D%/program/emu_decode.c %D%/program/emu_host_code.c %D%/program/emu_predict_grid.c %D%/program/emu_program.c
liblanewise_a_SOURCES += %D%/core/emu_core_priv.h %D%/core/emu_block.c %D%/core/emu_core.c %D%/core/emu_step_addresses.c
liblanewise_a_SOURCES += %D%/inspect/emu_cycle_priv.h %D%/inspect/emu_cycle_slice_priv.h %D%/inspect/emu_spin_observer_priv.h \
	%D%/inspect/emu_cycle.c %D%/inspect/emu_cycle_slice.c %D%/inspect/emu_hang_report.c \
	%D%/inspect/emu_hash.c %D%/inspect/emu_position_report.c %D%/inspect/emu_spin_observer.c \
	%D%/inspect/emu_variable.c %D%/inspect/emu_view.c
liblanewise_a_SOURCES += %D%/engine/emu_block_vector_priv.h %D%/engine/emu_engine_priv.h %D%/engine/emu_threads_priv.h \
	%D%/engine/emu_block_vector.c %D%/engine/emu_block_vector_plan.c %D%/engine/emu_engine.c \
	%D%/engine/emu_native_blocks.c %D%/engine/emu_native_use.c %D%/engine/emu_replay.c %D%/engine/emu_resident.c %D%/engine/emu_single_step.c %D%/engine/emu_threads.c
liblanewise_a_SOURCES += %D%/history/emu_history_priv.h %D%/history/emu_checkpoint.c %D%/history/emu_history.c \
	%D%/history/emu_snapshot_pages.c %D%/history/emu_state.c %D%/history/emu_state_warp.c

# The interpreter is compiled once for each x86-64 level, and on other processors once. Each level is a library, libcore_vN.a,
# which programs link in addition to liblanewise.a.
# -fno-var-tracking: debug information about values in registers would take a fifth of the compile time and more than half of the
# object, and the values of these handlers are not debugged.
CORE_CFLAGS = $(AM_CFLAGS) -fno-var-tracking -ftree-vectorize -fno-tree-slp-vectorize -fno-trapping-math
noinst_LIBRARIES += libcore_v1.a
libcore_v1_a_SOURCES = %D%/interp/emu_exec.c %D%/interp/emu_mem_exec.c
libcore_v1_a_CPPFLAGS = $(AM_CPPFLAGS) -DEMU_LEVEL=1 '-DEMU_LEVEL_TEXT="1"'
libcore_v1_a_CFLAGS = $(CORE_CFLAGS)
CORE_LIBS = libcore_v1.a
if LEVEL_3
noinst_LIBRARIES += libcore_v3.a
libcore_v3_a_SOURCES = %D%/interp/emu_exec.c %D%/interp/emu_mem_exec.c
libcore_v3_a_CPPFLAGS = $(AM_CPPFLAGS) -DEMU_LEVEL=3 '-DEMU_LEVEL_TEXT="3"'
libcore_v3_a_CFLAGS = $(CORE_CFLAGS) -march=x86-64-v3
CORE_LIBS += libcore_v3.a
endif
if LEVEL_4
noinst_LIBRARIES += libcore_v4.a
libcore_v4_a_SOURCES = %D%/interp/emu_exec.c %D%/interp/emu_mem_exec.c
libcore_v4_a_CPPFLAGS = $(AM_CPPFLAGS) -DEMU_LEVEL=4 '-DEMU_LEVEL_TEXT="4"'
libcore_v4_a_CFLAGS = $(CORE_CFLAGS) -march=x86-64-v4 -mprefer-vector-width=512
CORE_LIBS += libcore_v4.a
endif
