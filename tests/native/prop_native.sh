#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random programs in native code against single lanes (tests/emu/exec/prop_exec with LW_NATIVE). COUNT: how many.
# LLVM accepts the code of each.
set -u
err=$(mktemp) || exit 99
trap 'rm -f "$err"' EXIT
LW_NATIVE=1 LW_RANDOM_COUNT=${COUNT:-${LW_NATIVE_COUNT:-20}} tests/emu/exec/prop_exec 2>"$err"
status=$?
cat "$err" >&2
! grep -q '^lanewise: native code:' "$err" || { echo "FAIL: LLVM refuses native code"; status=1; }
exit $status
