# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/ptx.h \
	%D%/ptx_debug_priv.h \
	%D%/ptx_ops.def \
	%D%/ptx_priv.h \
	%D%/ptx_select_priv.h \
	%D%/ptx_words.def \
	%D%/ptx_address.c \
	%D%/ptx_alloc.c \
	%D%/ptx_barrier.c \
	%D%/ptx_call.c \
	%D%/ptx_cfg.c \
	%D%/ptx_debug.c \
	%D%/ptx_debug_place.c \
	%D%/ptx_debug_tree.c \
	%D%/ptx_debug_write.c %D%/ptx_debug_inline.c \
	%D%/ptx_divergence.c \
	%D%/ptx_emit.c \
	%D%/ptx_frame.c \
	%D%/ptx_ifconv.c \
	%D%/ptx_layout.c \
	%D%/ptx_lex.c \
	%D%/ptx_liveness.c \
	%D%/ptx_narrow.c \
	%D%/ptx_opt.c \
	%D%/ptx_param.c \
	%D%/ptx_parse.c \
	%D%/ptx_parse_body.c %D%/ptx_parse_data.c \
	%D%/ptx_scalar.c \
	%D%/ptx_schedule.c \
	%D%/ptx_select.c \
	%D%/ptx_select_alu.c \
	%D%/ptx_select_arith.c \
	%D%/ptx_select_call.c \
	%D%/ptx_select_data.c \
	%D%/ptx_select_mem.c \
	%D%/ptx_select_packed.c \
	%D%/ptx_select_warp.c \
	%D%/ptx_tables.c \
	%D%/ptx_translate.c
include ptx/clang.mk
