# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/test_check.sh tests/test_coverage.sh
EXTRA_DIST += tests/test_check.sh tests/test_coverage.sh
