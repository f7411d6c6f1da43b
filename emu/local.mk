# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/emu.h %D%/emu_history_door.h %D%/emu_views_door.h \
	%D%/emu_priv.h \
	%D%/emu_core_priv.h \
	%D%/emu_decode_priv.h \
	%D%/emu_bytes_priv.h \
	%D%/emu_engine_priv.h \
	%D%/emu_history_priv.h \
	%D%/emu_log_priv.h \
	%D%/emu_state.def \
	%D%/emu_state_priv.h \
	%D%/emu_call_priv.h \
	%D%/emu_level_priv.h %D%/emu_math_priv.h \
	%D%/emu_next_priv.h \
	%D%/emu_simd_priv.h \
	%D%/emu_mem_body.h %D%/emu_mem_fast_body.h \
	%D%/emu_scalar_body.h \
	%D%/emu_cvt_body.h \
	%D%/emu_half_body.h \
	%D%/emu_mem_priv.h \
	%D%/emu_split_priv.h \
	%D%/emu_text_priv.h %D%/emu_proof_priv.h \
	%D%/emu_compact_priv.h \
	%D%/emu_compact_body.h \
	%D%/emu_detect_priv.h %D%/emu_cycle_priv.h %D%/emu_cycle_slice_priv.h \
	%D%/emu_tags_priv.h \
	%D%/emu_tap_body.h \
	%D%/emu_tap_priv.h %D%/emu_sweep_priv.h \
	%D%/emu_threads_priv.h \
	%D%/faults.def \
	%D%/emu_address.c \
	%D%/emu_barrier.c \
	%D%/emu_block.c \
	%D%/emu_brief.c \
	%D%/emu_bytes.c \
	%D%/emu_call.c \
	%D%/emu_checkpoint.c \
	%D%/emu_config.c \
	%D%/emu_compact.c \
	%D%/emu_compact_view.c \
	%D%/emu_control.c \
	%D%/emu_core.c %D%/emu_cycle.c %D%/emu_cycle_slice.c \
	%D%/emu_decode.c %D%/emu_proof.c \
	%D%/emu_detect.c \
	%D%/emu_engine.c \
	%D%/emu_grid.c \
	%D%/emu_host.c \
	%D%/emu_hash.c \
	%D%/emu_heap.c \
	%D%/emu_history.c \
	%D%/emu_launch.c \
	%D%/emu_log.c \
	%D%/emu_log_file.c \
	%D%/emu_format.c \
	%D%/emu_machine.c \
	%D%/emu_math.c \
	%D%/emu_mem_slow.c \
	%D%/emu_memory.c \
	%D%/emu_pages.c \
	%D%/emu_plan.c \
	%D%/emu_policy.c \
	%D%/emu_probe.c \
	%D%/emu_probe_priv.h \
	%D%/emu_program.c \
	%D%/emu_reconv.c \
	%D%/emu_shadow.c \
	%D%/emu_replay.c \
	%D%/emu_resident.c \
	%D%/emu_split.c \
	%D%/emu_split_view.c \
	%D%/emu_stack.c \
	%D%/emu_state.c \
	%D%/emu_state_warp.c \
	%D%/emu_steps.c \
	%D%/emu_text.c \
	%D%/emu_texture.c \
	%D%/emu_sweep.c %D%/emu_sweep_plan.c \
	%D%/emu_tags.c \
	%D%/emu_tap.c \
	%D%/emu_threads.c \
	%D%/emu_verdict.c \
	%D%/emu_view.c \
	%D%/emu_where.c

# The interpreter, once per x86-64 level; elsewhere once. Objects of these libraries go into
# liblanewise.a, so that programs link one library.
# Places of values in registers (-fno-var-tracking) would cost a fifth of the time to compile and
# more than half of the object, for handlers whose values nobody follows in a debugger.
CORE_CFLAGS = $(AM_CFLAGS) -fno-var-tracking -ftree-vectorize -fno-tree-slp-vectorize -fno-trapping-math
noinst_LIBRARIES += libcore_v1.a
libcore_v1_a_SOURCES = %D%/emu_exec.c %D%/emu_mem_exec.c
libcore_v1_a_CPPFLAGS = $(AM_CPPFLAGS) -DEMU_LEVEL=1 '-DEMU_LEVEL_TEXT="1"'
libcore_v1_a_CFLAGS = $(CORE_CFLAGS)
CORE_LIBS = libcore_v1.a
if LEVEL_3
noinst_LIBRARIES += libcore_v3.a
libcore_v3_a_SOURCES = %D%/emu_exec.c %D%/emu_mem_exec.c
libcore_v3_a_CPPFLAGS = $(AM_CPPFLAGS) -DEMU_LEVEL=3 '-DEMU_LEVEL_TEXT="3"'
libcore_v3_a_CFLAGS = $(CORE_CFLAGS) -march=x86-64-v3
CORE_LIBS += libcore_v3.a
endif
if LEVEL_4
noinst_LIBRARIES += libcore_v4.a
libcore_v4_a_SOURCES = %D%/emu_exec.c %D%/emu_mem_exec.c
libcore_v4_a_CPPFLAGS = $(AM_CPPFLAGS) -DEMU_LEVEL=4 '-DEMU_LEVEL_TEXT="4"'
libcore_v4_a_CFLAGS = $(CORE_CFLAGS) -march=x86-64-v4 -mprefer-vector-width=512
CORE_LIBS += libcore_v4.a
endif
