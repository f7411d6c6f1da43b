#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random programs in native code, whole and masked: results are those of single lanes, counts and states those of the
# interpreter (tests/emu/exec/prop_exec with LW_NATIVE). LLVM accepts the code of each. COUNT: how many. Seed 211 has a
# register that is a NaN of f32 on one path, and an integer that looks like one on another.
set -u
err=$(mktemp) || exit 99
trap 'rm -f "$err"' EXIT
status=0
LW_NATIVE=1 LW_RANDOM_COUNT=${COUNT:-${LW_NATIVE_COUNT:-20}} tests/emu/exec/prop_exec 2>"$err" || status=1
LW_NATIVE=1 LW_SEED=211 tests/emu/exec/prop_exec 2>>"$err" || status=1
cat "$err" >&2
! grep -q '^lanewise: native code:' "$err" || { echo "FAIL: LLVM refuses native code"; status=1; }
exit $status
