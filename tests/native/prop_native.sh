#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs random programs in native code, both with code for whole warps and with masked code, by tests/emu/exec/prop_exec and
# prop_flow with LW_NATIVE. The programs of prop_flow have much control flow. Results must be equal to those of a reference that
# executes single lanes; counts and states must be equal to those of the interpreter. LLVM must accept the code of each program.
# COUNT is the number of programs. Three seeds are fixed: in the program of seed 211 a register is a NaN of f32 on one path, and an
# integer with the bits of a NaN on another path; in the second program the result of a v_plop3 does not depend on its sources; in
# the third one an affine value is computed from a negated scalar register.
set -u
err=$(mktemp) || exit 99
trap 'rm -f "$err"' EXIT
status=0
LW_NATIVE=1 LW_RANDOM_COUNT=${COUNT:-${LW_NATIVE_COUNT:-20}} tests/emu/exec/prop_exec 2>"$err" || status=1
LW_NATIVE=1 LW_RANDOM_COUNT=${COUNT:-${LW_NATIVE_COUNT:-90}} tests/emu/exec/prop_flow 2>>"$err" || status=1
LW_NATIVE=1 LW_SEED=211 tests/emu/exec/prop_exec 2>>"$err" || status=1
LW_NATIVE=1 LW_SEED=4766775470639846578 timeout 60 tests/emu/exec/prop_exec 2>>"$err" || status=1
LW_NATIVE=1 LW_SEED=4766826289812491067 tests/emu/exec/prop_exec 2>>"$err" || status=1
cat "$err" >&2
! grep -q '^lanewise: native code:' "$err" || { echo "FAIL: LLVM refuses native code"; status=1; }
exit $status
