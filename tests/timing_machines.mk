# SPDX-License-Identifier: Apache-2.0
# Machines, reports and the command line of the timing model.
check_PROGRAMS += tests/test_timing_config tests/test_timing_report tests/fuzz_timing \
	tests/test_timing_trace
tests_test_timing_config_SOURCES = tests/test_timing_config.c
tests_test_timing_config_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_timing_report_SOURCES = tests/test_timing_report.c
tests_test_timing_report_LDADD = liblanewise.a $(TEST_LIBS) -lm
tests_fuzz_timing_SOURCES = tests/fuzz_timing.c
tests_fuzz_timing_LDADD = liblanewise.a $(TEST_LIBS)
tests_test_timing_trace_SOURCES = tests/test_timing_trace.c
tests_test_timing_trace_LDADD = liblanewise.a $(TEST_LIBS)
TESTS += tests/test_timing.sh
EXTRA_DIST += tests/test_timing.sh
