# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/check.h \
	%D%/chk_arith.c \
	%D%/chk_barrier.c \
	%D%/chk_barrier_priv.h \
	%D%/chk_commands.c \
	%D%/chk_count.c \
	%D%/chk_count_priv.h \
	%D%/chk_cover.c \
	%D%/chk_find.c \
	%D%/chk_init.c \
	%D%/chk_init_args.c \
	%D%/chk_init_find.c \
	%D%/chk_init_memory.c \
	%D%/chk_init_priv.h \
	%D%/chk_init_rules.c \
	%D%/chk_inline.c \
	%D%/chk_kinds.c \
	%D%/chk_leak.c \
	%D%/chk_lint.c \
	%D%/chk_live.c \
	%D%/chk_priv.h \
	%D%/chk_profile.c \
	%D%/chk_race.c \
	%D%/chk_race_cells.c \
	%D%/chk_race_quiet.c \
	%D%/chk_race_chunk.c \
	%D%/chk_race_chunk_body.h \
	%D%/chk_race_facts.c \
	%D%/chk_race_find.c \
	%D%/chk_race_later.c \
	%D%/chk_race_priv.h \
	%D%/chk_race_sync.c \
	%D%/chk_suppress.c \
	%D%/chk_tap.c \
	%D%/chk_write.c \
	%D%/kinds.def
