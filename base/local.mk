# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/lw.h \
	%D%/lw_arena.c \
	%D%/lw_cache.c \
	%D%/lw_command.c \
	%D%/lw_error.c \
	%D%/lw_hash.c \
	%D%/lw_json.c \
	%D%/lw_reserve.c \
	%D%/lw_sink.c \
	%D%/lw_table.c \
	%D%/lw_text.c \
	%D%/lw_yaml.c
