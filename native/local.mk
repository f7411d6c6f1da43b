# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/native.h %D%/nat_build_priv.h %D%/nat_llvm_priv.h %D%/nat_priv.h %D%/nat_process_priv.h \
	%D%/nat_values_priv.h %D%/native.c %D%/analysis/nat_row_text.c %D%/analysis/nat_flow.c %D%/analysis/nat_shape.c %D%/emit/nat_build.c \
	%D%/emit/nat_checks.c %D%/emit/nat_emit.c %D%/emit/nat_expr.c %D%/emit/nat_lines.c %D%/emit/nat_memory.c %D%/emit/nat_reduce.c %D%/emit/nat_region.c \
	%D%/emit/nat_row.c %D%/emit/nat_values.c %D%/emit/nat_wide.c %D%/compile/nat_cache.c %D%/compile/nat_compile.c %D%/compile/nat_listing.c \
	%D%/compile/nat_llvm.c %D%/compile/nat_pays.c %D%/compile/nat_process.c
