# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_split
tests_test_split_SOURCES = tests/test_split.c tests/split_run.h tests/split_golden.c tests/split_golden.h \
	tests/split_machine.c tests/split_machine.h tests/split_program.c tests/split_program.h
tests_test_split_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/golden/split/structured.txt tests/golden/split/jumble.txt

check_PROGRAMS += tests/test_split_parts
tests_test_split_parts_SOURCES = tests/test_split_parts.c tests/split_machine.c \
	tests/split_machine.h tests/split_program.c tests/split_program.h
tests_test_split_parts_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/prop_split
tests_prop_split_SOURCES = tests/prop_split.c tests/split_golden.c tests/split_golden.h \
	tests/split_machine.c tests/split_machine.h tests/split_program.c tests/split_program.h
tests_prop_split_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_stack
tests_test_stack_SOURCES = tests/test_stack.c tests/split_run.h tests/split_golden.c tests/split_golden.h \
	tests/split_machine.c tests/split_machine.h tests/split_program.c tests/split_program.h
tests_test_stack_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_DIST += tests/golden/split/stack.txt tests/golden/split/alike.txt
