# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/emu/engine/test_hangs.sh
EXTRA_DIST += tests/emu/engine/test_hangs.sh tests/kernels
