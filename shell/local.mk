# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/shell.h \
	%D%/shell_priv.h \
	%D%/sh_commands.c \
	%D%/sh_complete.c \
	%D%/sh_define.c \
	%D%/sh_files.c \
	%D%/sh_interrupt.c \
	%D%/sh_line.c \
	%D%/sh_output.c \
	%D%/sh_shell.c
