# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/emu/simt/test_split
tests_emu_simt_test_split_SOURCES = tests/emu/simt/test_split.c tests/emu/simt/split_run.h tests/emu/simt/split_golden.c tests/emu/simt/split_golden.h \
	tests/emu/simt/split_machine.c tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_test_split_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/emu/simt/golden/structured.txt tests/emu/simt/golden/jumble.txt

check_PROGRAMS += tests/emu/simt/test_split_parts
tests_emu_simt_test_split_parts_SOURCES = tests/emu/simt/test_split_parts.c tests/emu/simt/split_machine.c \
	tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_test_split_parts_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/simt/prop_split
tests_emu_simt_prop_split_SOURCES = tests/emu/simt/prop_split.c tests/emu/simt/split_golden.c tests/emu/simt/split_golden.h \
	tests/emu/simt/split_machine.c tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_prop_split_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/simt/test_stack
tests_emu_simt_test_stack_SOURCES = tests/emu/simt/test_stack.c tests/emu/simt/split_run.h tests/emu/simt/split_golden.c tests/emu/simt/split_golden.h \
	tests/emu/simt/split_machine.c tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_test_stack_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/emu/simt/golden/stack.txt tests/emu/simt/golden/alike.txt

check_PROGRAMS += tests/emu/simt/test_frontier
tests_emu_simt_test_frontier_SOURCES = tests/emu/simt/test_frontier.c tests/emu/simt/split_run.h tests/emu/simt/split_golden.c tests/emu/simt/split_golden.h \
	tests/emu/simt/split_machine.c tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_test_frontier_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/emu/simt/golden/frontier.txt

check_PROGRAMS += tests/emu/simt/test_multipath
tests_emu_simt_test_multipath_SOURCES = tests/emu/simt/test_multipath.c tests/emu/simt/split_run.h \
	tests/emu/simt/split_machine.c tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_test_multipath_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/simt/test_dualpath
tests_emu_simt_test_dualpath_SOURCES = tests/emu/simt/test_dualpath.c tests/emu/simt/split_run.h \
	tests/emu/simt/split_machine.c tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_test_dualpath_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/simt/test_likely
tests_emu_simt_test_likely_SOURCES = tests/emu/simt/test_likely.c tests/emu/simt/split_run.h \
	tests/emu/simt/split_machine.c tests/emu/simt/split_machine.h tests/emu/simt/split_program.c tests/emu/simt/split_program.h
tests_emu_simt_test_likely_LDADD = liblanewise.a $(TEST_LIBS)

check_SCRIPTS += tests/emu/simt/test_likely_kernel.sh
EXTRA_DIST += tests/emu/simt/test_likely_kernel.sh
