# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/test_ci.sh tests/test_reports.sh tests/test_check.sh tests/test_findings.sh tests/test_coverage.sh tests/test_variables.sh tests/test_zoo.sh
EXTRA_DIST += tests/test_ci.sh tests/test_reports.sh tests/report_forms.py tests/junit.xsd tests/test_check.sh tests/test_findings.sh tests/test_coverage.sh tests/test_variables.sh tests/test_zoo.sh tests/zoo/barriers.cl tests/zoo/barriers.cu tests/zoo/memory.cl tests/zoo/memory.cu \
	tests/zoo/performance.cl tests/zoo/performance.cu tests/zoo/progress.cl tests/zoo/progress.cu tests/zoo/arithmetic.cl tests/zoo/arithmetic.cu
check_SCRIPTS += tests/test_ends.sh
EXTRA_DIST += tests/test_ends.sh
