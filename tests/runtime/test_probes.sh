#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the probes of the CUDA interfaces (tests/runtime/probes) on Lanewise, and compares their results with those of devices
# (tests/runtime/devices). probes/differences.tsv lists the results that may differ, each with the reason.
set -u
src=$(cd "${srcdir:-.}" && pwd)/tests/runtime
lanewise=$(cd "$(dirname "${LANEWISE:-./lanewise}")" && pwd)/lanewise
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
if nm -D "$(dirname "$lanewise")/lanewise-cuda/libcudart.so.13" 2>/dev/null | grep -q '__asan_init'; then
    echo "skipped: programs cannot load a runtime that is built with the address sanitizer"
    exit 77
fi
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
