# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/check.h \
	%D%/chk_find.c \
	%D%/chk_kinds.c \
	%D%/chk_priv.h \
	%D%/chk_suppress.c \
	%D%/chk_write.c \
	%D%/kinds.def
