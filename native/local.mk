# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += %D%/native.h %D%/nat_build_priv.h %D%/nat_llvm_priv.h %D%/nat_priv.h %D%/nat_process_priv.h \
	%D%/nat_values_priv.h %D%/native.c %D%/nat_build.c %D%/nat_cache.c %D%/nat_checks.c %D%/nat_compile.c %D%/nat_emit.c %D%/nat_expr.c %D%/nat_flow.c \
	%D%/nat_llvm.c %D%/nat_memory.c %D%/nat_pays.c %D%/nat_process.c %D%/nat_region.c %D%/nat_row.c %D%/nat_shape.c %D%/nat_values.c
