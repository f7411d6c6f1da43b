# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/ptx.h
include ptx/clang.mk
