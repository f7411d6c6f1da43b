# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/check/test_ci.sh tests/check/test_reports.sh tests/check/test_check.sh tests/check/test_findings.sh tests/check/test_coverage.sh tests/check/test_variables.sh tests/check/test_zoo.sh
EXTRA_DIST += tests/check/test_ci.sh tests/check/test_reports.sh tests/check/report_forms.py tests/check/junit.xsd tests/check/test_check.sh tests/check/test_findings.sh tests/check/test_coverage.sh tests/check/test_variables.sh tests/check/test_zoo.sh tests/check/bug_corpus/barriers.cl tests/check/bug_corpus/barriers.cu tests/check/bug_corpus/memory.cl tests/check/bug_corpus/memory.cu \
	tests/check/bug_corpus/performance.cl tests/check/bug_corpus/performance.cu tests/check/bug_corpus/progress.cl tests/check/bug_corpus/progress.cu tests/check/bug_corpus/arithmetic.cl tests/check/bug_corpus/arithmetic.cu
check_SCRIPTS += tests/program/test_ends.sh
EXTRA_DIST += tests/program/test_ends.sh
check_SCRIPTS += tests/check/values/test_values.sh
EXTRA_DIST += tests/check/values/test_values.sh tests/check/values/values.py
