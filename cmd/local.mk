# SPDX-License-Identifier: Apache-2.0
bin_PROGRAMS += lanewise
lanewise_SOURCES = \
	%D%/cmd_app.c \
	%D%/cmd_app_check.c \
	%D%/cmd_cc.c \
	%D%/cmd_check.c \
	%D%/cmd_compile.c \
	%D%/cmd_debug.c \
	%D%/cmd_checkpoint.c \
	%D%/cmd_end.c \
	%D%/cmd_gdb.c \
	%D%/cmd_machine.c \
	%D%/cmd_main.c \
	%D%/cmd_options.c \
	%D%/cmd_priv.h \
	%D%/cmd_run.c \
	%D%/cmd_stats.c \
	%D%/cmd_timing.c
lanewise_CPPFLAGS = $(AM_CPPFLAGS) -DLW_LIBRARY_FOLDER='"$(libdir)"'
lanewise_LDADD = libhost.a liblanewise.a $(LANEWISE_LIBS)
completionsdir = $(datadir)/bash-completion/completions
dist_completions_DATA = %D%/lanewise.bash
