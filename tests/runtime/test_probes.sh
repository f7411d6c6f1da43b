#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the probes of the CUDA interfaces (tests/runtime/probes) on Lanewise, and compares their results with those of devices
# (tests/runtime/devices). probes/differences.tsv lists the results that may differ, each with the reason.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
compare() { # usage: compare RESULTS
    awk -f "$src/probes/compare.awk" "$src/probes/differences.tsv" "$src"/devices/*.api "$1"
}
"$lanewise" cc --compiler clang-19 -w -std=c++17 -O1 "$src"/probes/*.cpp "$src"/probes/*.cu -o probes >log 2>&1 ||
    { echo "the probes do not compile"; cat log; exit 1; }
# --strict stops the device at an invalid access, as a GPU does.
LANEWISE_OPTIONS=--strict ./probes >results 2>errors || { echo "the probes end with exit status $?"; cat errors; exit 1; }
failed=0
compare results || failed=1
# The comparison finds a wrong result and a missing one.
sed 's/^malloc: null result = .*/malloc: null result = cudaSuccess/' results >wrong
compare wrong >log && { echo "FAIL: a wrong result is not found"; failed=1; }
grep -q '^malloc: null result: Lanewise: cudaSuccess, the device: cudaErrorInvalidValue$' log || { cat log; failed=1; }
sed '/^malloc: null result = /d' results >wrong
compare wrong >log && { echo "FAIL: a missing result is not found"; failed=1; }
exit $failed
