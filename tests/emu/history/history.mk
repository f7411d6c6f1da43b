# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/emu/exec/test_hash
tests_emu_exec_test_hash_SOURCES = tests/emu/exec/test_hash.c tests/emu/history/random_kernels.c tests/emu/history/random_kernels.h \
	tests/emu/history/history_fixture.h
tests_emu_exec_test_hash_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/history/test_replay
tests_emu_history_test_replay_SOURCES = tests/emu/history/test_replay.c tests/emu/history/random_kernels.c tests/emu/history/random_kernels.h \
	tests/emu/history/history_fixture.h
tests_emu_history_test_replay_LDADD = liblanewise.a $(TEST_LIBS)

check_SCRIPTS += tests/emu/history/test_history.sh tests/emu/history/test_checkpoint.sh tests/debug/test_watch_filter.sh

check_PROGRAMS += tests/emu/history/test_history
tests_emu_history_test_history_SOURCES = tests/emu/history/test_history.c tests/emu/history/random_kernels.c \
	tests/emu/history/random_kernels.h tests/emu/history/history_fixture.h
tests_emu_history_test_history_LDADD = liblanewise.a $(TEST_LIBS)

check_PROGRAMS += tests/emu/history/test_checkpoint tests/emu/history/fuzz_checkpoint
tests_emu_history_test_checkpoint_SOURCES = tests/emu/history/test_checkpoint.c tests/emu/history/random_kernels.c \
	tests/emu/history/random_kernels.h tests/emu/history/history_fixture.h
tests_emu_history_test_checkpoint_LDADD = liblanewise.a $(TEST_LIBS)
tests_emu_history_fuzz_checkpoint_SOURCES = tests/emu/history/fuzz_checkpoint.c
tests_emu_history_fuzz_checkpoint_LDADD = liblanewise.a $(TEST_LIBS)

EXTRA_PROGRAMS += bench/history
bench_history_SOURCES = bench/history.c
bench_history_LDADD = liblanewise.a $(TEST_LIBS)

EXTRA_PROGRAMS += tests/debug/prop_reverse
check_DATA += tests/debug/prop_reverse$(EXEEXT)
tests_debug_prop_reverse_SOURCES = tests/debug/prop_reverse.c tests/isa/prop_isa_random.h
tests_debug_prop_reverse_LDADD = liblanewise.a $(TEST_LIBS)
check_SCRIPTS += tests/debug/prop_reverse.sh
EXTRA_DIST += tests/debug/prop_reverse.sh
check_SCRIPTS += tests/clients/prop_reverse_finish.sh
EXTRA_DIST += tests/clients/prop_reverse_finish.sh
check_SCRIPTS += tests/clients/prop_sessions.sh
EXTRA_DIST += tests/clients/prop_sessions.sh tests/clients/sessions/random_sessions.py tests/clients/sessions/session_oracle.py \
	tests/clients/sessions/session_talk.py

check_SCRIPTS += tests/clients/readme_sessions.sh
EXTRA_DIST += tests/clients/readme_sessions.sh
