#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs random programs in native code, both with code for whole warps and with masked code, by tests/emu/exec/prop_exec and
# prop_flow with LW_NATIVE. The programs of prop_flow have much control flow. Results must be equal to those of a reference that
# executes single lanes; counts and states must be equal to those of the interpreter. LLVM must accept the code of each program.
# COUNT is the number of programs. Three seeds are fixed: in the program of seed 211 a register is a NaN of f32 on one path, and an
# integer with the bits of a NaN on another path; in the second program the result of a v_plop3 does not depend on its sources; in
# the third one an affine value is computed from a negated scalar register. With LW_NATIVE_CACHE the programs store native code in the
# cache: other processes must run this code with the same results.
set -u
work=$(mktemp -d) || exit 99
err=$work/err
trap 'rm -rf "$work"' EXIT
status=0
LW_NATIVE=1 LW_RANDOM_COUNT=${COUNT:-${LW_NATIVE_COUNT:-20}} tests/emu/exec/prop_exec 2>"$err" || status=1
LW_NATIVE=1 LW_RANDOM_COUNT=${COUNT:-${LW_NATIVE_COUNT:-90}} tests/emu/exec/prop_flow 2>>"$err" || status=1
LW_NATIVE=1 LW_SEED=211 tests/emu/exec/prop_exec 2>>"$err" || status=1
LW_NATIVE=1 LW_SEED=4766775470639846578 timeout 60 tests/emu/exec/prop_exec 2>>"$err" || status=1
LW_NATIVE=1 LW_SEED=4766826289812491067 tests/emu/exec/prop_exec 2>>"$err" || status=1
for test in prop_exec prop_flow; do
    for run in 1 2; do
        env -u LW_SEED LANEWISE_CACHE=on XDG_CACHE_HOME="$work" LW_NATIVE_CACHE=1 LW_NATIVE=1 LW_RANDOM_COUNT=12 \
            tests/emu/exec/$test >"$work/out" 2>>"$err" || status=1 # without LW_SEED both runs have the same programs
    done
    grep -q '^native code: \([1-9][0-9]*\) kernels, \1 from the cache' "$work/out" ||
        { echo "FAIL: $test compiles kernels that are in the cache"; cat "$work/out"; status=1; }
done
cat "$err" >&2
! grep -q '^lanewise: native code:' "$err" || { echo "FAIL: LLVM refuses native code"; status=1; }
exit $status
