# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/test_hangs.sh
EXTRA_DIST += tests/test_hangs.sh tests/kernels
