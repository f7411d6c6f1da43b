# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/test_tim_coalesce tests/test_tim_cache tests/test_tim_memory tests/prop_tim_memory
tests_test_tim_coalesce_SOURCES = tests/test_tim_coalesce.c tests/tim_fixture.h
tests_test_tim_coalesce_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_tim_cache_SOURCES = tests/test_tim_cache.c tests/tim_fixture.h
tests_test_tim_cache_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/test_tim_issue tests/test_tim_collect
tests_test_tim_collect_SOURCES = tests/test_tim_collect.c tests/tim_run.h tests/emu_fixture.h
tests_test_tim_collect_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_tim_issue_SOURCES = tests/test_tim_issue.c tests/tim_run.h tests/emu_fixture.h
tests_test_tim_issue_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_tim_memory_SOURCES = tests/test_tim_memory.c tests/tim_rig.h tests/tim_fixture.h
tests_test_tim_memory_LDADD = liblanewise.a $(TEST_LIBS)
tests_prop_tim_memory_SOURCES = tests/prop_tim_memory.c tests/tim_fixture.h
tests_prop_tim_memory_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_PROGRAMS += bench/timing_memory
bench_timing_memory_SOURCES = bench/timing_memory.c
bench_timing_memory_LDADD = liblanewise.a $(LANEWISE_LIBS)
# Not a test itself: test_tim_kernels.sh runs it.
EXTRA_PROGRAMS += tests/tim_kernels
check_DATA += tests/tim_kernels$(EXEEXT)
tests_tim_kernels_SOURCES = tests/tim_kernels.c
tests_tim_kernels_LDADD = liblanewise.a $(TEST_LIBS)
long_tests += tests/test_tim_kernels.sh
EXTRA_DIST += tests/test_tim_kernels.sh
check_PROGRAMS += tests/test_tim_oom
tests_test_tim_oom_SOURCES = tests/test_tim_oom.c tests/tim_rig.h tests/tim_fixture.h
tests_test_tim_oom_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_tim_oom_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc
check_PROGRAMS += tests/prop_tim
tests_prop_tim_SOURCES = tests/prop_tim.c tests/history_kernels.c tests/history_kernels.h tests/history_fixture.h
tests_prop_tim_LDADD = liblanewise.a $(TEST_LIBS)
TESTS += tests/test_tim_commands.sh tests/test_tim_order.sh tests/test_tim_micro.sh tests/test_tim_suspend.sh tests/test_tim_streams.sh
EXTRA_DIST += tests/test_tim_commands.sh tests/test_tim_order.sh tests/test_tim_micro.sh tests/test_tim_suspend.sh tests/test_tim_streams.sh
