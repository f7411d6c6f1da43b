# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_hash
tests_test_hash_SOURCES = tests/test_hash.c tests/history_kernels.c tests/history_kernels.h \
	tests/history_fixture.h
tests_test_hash_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_replay
tests_test_replay_SOURCES = tests/test_replay.c tests/history_kernels.c tests/history_kernels.h \
	tests/history_fixture.h
tests_test_replay_LDADD = liblanewise.a $(TEST_LIBS)

check_SCRIPTS += tests/test_history.sh tests/test_checkpoint.sh tests/test_reverse_sieve.sh

check_PROGRAMS += tests/test_history
tests_test_history_SOURCES = tests/test_history.c tests/history_kernels.c \
	tests/history_kernels.h tests/history_fixture.h
tests_test_history_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/test_checkpoint tests/fuzz_checkpoint
tests_test_checkpoint_SOURCES = tests/test_checkpoint.c tests/history_kernels.c \
	tests/history_kernels.h tests/history_fixture.h
tests_test_checkpoint_LDADD = liblanewise.a $(TEST_LIBS)
tests_fuzz_checkpoint_SOURCES = tests/fuzz_checkpoint.c
tests_fuzz_checkpoint_LDADD = liblanewise.a $(TEST_LIBS)

EXTRA_PROGRAMS += bench/history
bench_history_SOURCES = bench/history.c
bench_history_LDADD = liblanewise.a $(TEST_LIBS)

EXTRA_PROGRAMS += tests/prop_reverse
check_DATA += tests/prop_reverse$(EXEEXT)
tests_prop_reverse_SOURCES = tests/prop_reverse.c tests/prop_isa_random.h
tests_prop_reverse_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/prop_reverse.sh
EXTRA_DIST += tests/prop_reverse.sh
check_SCRIPTS += tests/prop_reverse_finish.sh
EXTRA_DIST += tests/prop_reverse_finish.sh
check_SCRIPTS += tests/prop_sessions.sh
EXTRA_DIST += tests/prop_sessions.sh tests/sessions/random_sessions.py

check_SCRIPTS += tests/gdb_backwards.sh
EXTRA_DIST += tests/gdb_backwards.sh
