# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_memory tests/test_memory_exact tests/test_memory_kernels
tests_test_memory_SOURCES = tests/test_memory.c tests/test_memory_fix.h
tests_test_memory_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_memory_exact_SOURCES = tests/test_memory_exact.c tests/test_memory_fix.h
tests_test_memory_exact_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_memory_kernels_SOURCES = tests/test_memory_kernels.c
tests_test_memory_kernels_LDADD = liblanewise.a $(TEST_LIBS)
