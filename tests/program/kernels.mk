# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/ptx/test_ptx_clang tests/ptx/test_ptx_cuda
tests_ptx_test_ptx_clang_SOURCES = tests/ptx/test_ptx_clang.c tests/lib/compiler_fixture.h
tests_ptx_test_ptx_clang_LDADD = $(TEST_LIBS)
tests_ptx_test_ptx_cuda_SOURCES = tests/ptx/test_ptx_cuda.c tests/lib/compiler_fixture.h
tests_ptx_test_ptx_cuda_LDADD = $(TEST_LIBS)
check_SCRIPTS += tests/program/test_bench.sh tests/ptx/test_shapes.sh tests/ptx/test_ptx_builtins.sh tests/program/test_kernels.sh tests/program/test_large.sh tests/program/test_matrix.sh
EXTRA_DIST += tests/ptx/suites/refusals.tsv tests/ptx/suites/shapes.cl tests/ptx/suites/shapes.yaml tests/program/test_bench.sh tests/ptx/test_shapes.sh tests/ptx/test_ptx_builtins.sh tests/program/test_kernels.sh tests/program/test_large.sh tests/program/test_matrix.sh tests/program/expected kernels bench scripts
