# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/launch.h \
	%D%/launch_priv.h \
	%D%/lnc_args.c \
	%D%/lnc_check.c \
	%D%/lnc_direct.c \
	%D%/lnc_direct_priv.h \
	%D%/lnc_direct_value.c \
	%D%/lnc_file.c \
	%D%/lnc_kind.c %D%/lnc_machine.c %D%/lnc_name.c \
	%D%/lnc_object.c %D%/lnc_outputs.c \
	%D%/lnc_session.c \
	%D%/lnc_sources.c %D%/lnc_steps.c %D%/lnc_structure.c \
	%D%/lnc_template.c \
	%D%/lnc_texture.c \
	%D%/lnc_value.c
