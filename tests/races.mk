# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/test_races.sh
EXTRA_DIST += tests/test_races.sh tests/zoo/races.cu tests/zoo/races.cl
