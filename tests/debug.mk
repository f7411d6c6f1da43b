# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/golden/shell
check_SCRIPTS += tests/test_shell.sh
check_PROGRAMS += tests/test_shell
tests_test_shell_SOURCES = tests/test_shell.c tests/debug_fixture.h
tests_test_shell_LDADD = liblanewise.a $(TEST_LIBS) -lutil
check_PROGRAMS += tests/test_debug
tests_test_debug_SOURCES = tests/test_debug.c tests/debug_fixture.h
tests_test_debug_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_debug_values
tests_test_debug_values_SOURCES = tests/test_debug_values.c tests/debug_fixture.h
tests_test_debug_values_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_watch
tests_test_watch_SOURCES = tests/test_watch.c tests/debug_fixture.h
tests_test_watch_LDADD = liblanewise.a $(TEST_LIBS)
