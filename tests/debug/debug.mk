# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/shell/golden
check_SCRIPTS += tests/shell/test_shell.sh
check_PROGRAMS += tests/shell/test_shell
tests_shell_test_shell_SOURCES = tests/shell/test_shell.c tests/debug/debug_fixture.h
tests_shell_test_shell_LDADD = liblanewise.a $(TEST_LIBS) -lutil
check_PROGRAMS += tests/debug/test_debug
tests_debug_test_debug_SOURCES = tests/debug/test_debug.c tests/debug/debug_fixture.h
tests_debug_test_debug_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/debug/test_debug_values
tests_debug_test_debug_values_SOURCES = tests/debug/test_debug_values.c tests/debug/debug_fixture.h
tests_debug_test_debug_values_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/debug/test_watch
tests_debug_test_watch_SOURCES = tests/debug/test_watch.c tests/debug/debug_fixture.h
tests_debug_test_watch_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/shell/fuzz_shell
tests_shell_fuzz_shell_SOURCES = tests/shell/fuzz_shell.c tests/isa/fuzz_isa_replay.h
tests_shell_fuzz_shell_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/shell/test_shell_examples.sh tests/shell/test_shell_files.sh
EXTRA_DIST += tests/shell/test_shell_examples.sh tests/shell/test_shell_files.sh tests/shell/corpus
EXTRA_PROGRAMS += tests/debug/prop_values
check_DATA += tests/debug/prop_values$(EXEEXT)
tests_debug_prop_values_SOURCES = tests/debug/prop_values.c tests/debug/values_kernels.c tests/debug/values_functions.c \
	tests/debug/values_macros.c tests/debug/values_kernels.h tests/debug/values_maker.h \
	tests/debug/values_trace.c tests/debug/values_tables.c tests/debug/values_trace.h tests/isa/prop_isa_random.h
tests_debug_prop_values_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/debug/prop_values.sh tests/debug/test_narrowed.sh tests/debug/test_initialisers.sh tests/debug/test_recomputed.sh
EXTRA_DIST += tests/debug/prop_values.sh tests/debug/test_narrowed.sh tests/debug/test_initialisers.sh tests/debug/test_recomputed.sh
