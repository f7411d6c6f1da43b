# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/emu/predict/test_dis_slices.sh
EXTRA_DIST += tests/emu/predict/test_dis_slices.sh tests/emu/predict/slices.s tests/emu/predict/slices.txt
