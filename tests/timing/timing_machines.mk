# SPDX-License-Identifier: Apache-2.0
# Tests of GPU models, reports, traces and the command line of the timing model.
check_PROGRAMS += tests/timing/test_timing_config tests/timing/test_timing_report tests/timing/fuzz_timing \
	tests/timing/test_timing_trace
tests_timing_test_timing_config_SOURCES = tests/timing/test_timing_config.c
tests_timing_test_timing_config_LDADD = liblanewise.a $(TEST_LIBS)
tests_timing_test_timing_report_SOURCES = tests/timing/test_timing_report.c
tests_timing_test_timing_report_LDADD = liblanewise.a $(TEST_LIBS) -lm
tests_timing_fuzz_timing_SOURCES = tests/timing/fuzz_timing.c
tests_timing_fuzz_timing_LDADD = liblanewise.a $(TEST_LIBS)
tests_timing_test_timing_trace_SOURCES = tests/timing/test_timing_trace.c
tests_timing_test_timing_trace_LDADD = liblanewise.a $(TEST_LIBS)
TESTS += tests/timing/test_timing.sh
EXTRA_DIST += tests/timing/test_timing.sh
