# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_ptx_clang
tests_test_ptx_clang_SOURCES = tests/test_ptx_clang.c
tests_test_ptx_clang_LDADD = liblanewise.a $(TEST_LIBS)
TESTS += tests/test_kernels.sh tests/test_matrix.sh
