# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/timing/test_tim_coalesce tests/timing/test_tim_cache tests/timing/test_tim_memory tests/timing/prop_tim_memory
tests_timing_test_tim_coalesce_SOURCES = tests/timing/test_tim_coalesce.c tests/timing/tim_fixture.h
tests_timing_test_tim_coalesce_LDADD = liblanewise.a $(TEST_LIBS)
tests_timing_test_tim_cache_SOURCES = tests/timing/test_tim_cache.c tests/timing/tim_fixture.h
tests_timing_test_tim_cache_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/timing/test_tim_locality
tests_timing_test_tim_locality_SOURCES = tests/timing/test_tim_locality.c tests/timing/tim_fixture.h
tests_timing_test_tim_locality_LDADD = liblanewise.a $(TEST_LIBS)
check_PROGRAMS += tests/timing/test_tim_issue tests/timing/test_tim_collect
tests_timing_test_tim_collect_SOURCES = tests/timing/test_tim_collect.c tests/timing/tim_run.h tests/emu/exec/emu_fixture.h
tests_timing_test_tim_collect_LDADD = liblanewise.a $(TEST_LIBS)
tests_timing_test_tim_issue_SOURCES = tests/timing/test_tim_issue.c tests/timing/tim_run.h tests/emu/exec/emu_fixture.h
tests_timing_test_tim_issue_LDADD = liblanewise.a $(TEST_LIBS)
tests_timing_test_tim_memory_SOURCES = tests/timing/test_tim_memory.c tests/timing/tim_memory_fixture.h tests/timing/tim_fixture.h
tests_timing_test_tim_memory_LDADD = liblanewise.a $(TEST_LIBS)
tests_timing_prop_tim_memory_SOURCES = tests/timing/prop_tim_memory.c tests/timing/tim_fixture.h
tests_timing_prop_tim_memory_LDADD = liblanewise.a $(TEST_LIBS)
EXTRA_PROGRAMS += bench/timing_memory
bench_timing_memory_SOURCES = bench/timing_memory.c
bench_timing_memory_LDADD = liblanewise.a $(LANEWISE_LIBS)
# Not a test itself: test_tim_kernels.sh runs it.
EXTRA_PROGRAMS += tests/timing/tim_kernels
check_DATA += tests/timing/tim_kernels$(EXEEXT)
tests_timing_tim_kernels_SOURCES = tests/timing/tim_kernels.c
tests_timing_tim_kernels_LDADD = liblanewise.a $(TEST_LIBS)
long_tests += tests/timing/test_tim_kernels.sh
EXTRA_DIST += tests/timing/test_tim_kernels.sh
check_PROGRAMS += tests/timing/test_tim_oom
tests_timing_test_tim_oom_SOURCES = tests/timing/test_tim_oom.c tests/timing/tim_memory_fixture.h tests/timing/tim_fixture.h
tests_timing_test_tim_oom_LDADD = liblanewise.a $(TEST_LIBS)
tests_timing_test_tim_oom_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc
check_PROGRAMS += tests/timing/prop_tim
tests_timing_prop_tim_SOURCES = tests/timing/prop_tim.c tests/emu/history/random_kernels.c tests/emu/history/random_kernels.h tests/emu/history/history_fixture.h
tests_timing_prop_tim_LDADD = liblanewise.a $(TEST_LIBS)
TESTS += tests/timing/test_machine_sources.sh tests/timing/test_fidelity.sh tests/timing/test_tim_commands.sh tests/timing/test_tim_order.sh tests/timing/test_tim_micro.sh tests/timing/test_tim_suspend.sh tests/timing/test_tim_streams.sh
EXTRA_DIST += tests/timing/machine_sources.tsv tests/timing/test_machine_sources.sh tests/timing/test_fidelity.sh tests/timing/test_tim_commands.sh tests/timing/test_tim_order.sh tests/timing/test_tim_micro.sh tests/timing/test_tim_suspend.sh tests/timing/test_tim_streams.sh
