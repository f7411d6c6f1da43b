# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/debug_fixture.h
check_PROGRAMS += tests/test_debug
tests_test_debug_SOURCES = tests/test_debug.c tests/debug_fixture.h
tests_test_debug_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_debug_values
tests_test_debug_values_SOURCES = tests/test_debug_values.c tests/debug_fixture.h
tests_test_debug_values_LDADD = liblanewise.a $(TEST_LIBS)
