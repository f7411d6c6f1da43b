# SPDX-License-Identifier: Apache-2.0
check_SCRIPTS += tests/native/test_native.sh tests/native/prop_native.sh
EXTRA_DIST += tests/native/test_native.sh tests/native/prop_native.sh
