# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/ptx_clang.c %D%/overrides/over_cl.inc
