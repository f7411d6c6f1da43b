# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_memory
tests_test_memory_SOURCES = tests/test_memory.c tests/test_memory_fix.h
tests_test_memory_LDADD = liblanewise.a $(TEST_LIBS)
