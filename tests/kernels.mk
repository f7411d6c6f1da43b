# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_ptx_clang tests/test_ptx_cuda
tests_test_ptx_clang_SOURCES = tests/test_ptx_clang.c tests/compiler_fixture.h
tests_test_ptx_clang_LDADD = $(TEST_LIBS)
tests_test_ptx_cuda_SOURCES = tests/test_ptx_cuda.c tests/compiler_fixture.h
tests_test_ptx_cuda_LDADD = $(TEST_LIBS)
check_SCRIPTS += tests/test_bench.sh tests/test_shapes.sh tests/test_ptx_builtins.sh tests/test_kernels.sh tests/test_matrix.sh
EXTRA_DIST += tests/suites/refusals.tsv tests/suites/shapes.cl tests/suites/shapes.yaml tests/test_bench.sh tests/test_shapes.sh tests/test_ptx_builtins.sh tests/test_kernels.sh tests/test_matrix.sh tests/expected kernels bench scripts
