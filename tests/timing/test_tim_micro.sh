#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cycles and counts that follow from the keys of a machine by hand, measured by small kernels on
# every shipped machine, with the shipped model and, on one machine, the naive one; LW_TIMING=all: on
# all of them (bench/timing_micro).
set -u
src=$(cd "${srcdir:-.}" && pwd)
LANEWISE=${LANEWISE:-$(pwd)/lanewise}
export LANEWISE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
"$src/bench/timing_micro" --table >"$work/shipped" || status=1
if [ "${LW_TIMING:-}" = all ]; then
    cp "$work/shipped" "$work/same"
    "$src/bench/timing_micro" --table --reference >"$work/naive" || status=1
else
    "$src/bench/timing_micro" --table -m fermi >"$work/same" || status=1
    "$src/bench/timing_micro" --table -m fermi --reference >"$work/naive" || status=1
fi
cmp "$work/same" "$work/naive" || status=1
grep -n ';' "$work/shipped" # figures with a tolerance, or that differ
# The page has these figures.
sed -n '/^| | fermi/,/^$/p' "$src/docs/evidence/timing-microbenchmarks.md" | sed '/^$/d' >"$work/page"
diff "$work/page" "$work/shipped" || {
    echo "FAIL: docs/evidence/timing-microbenchmarks.md: put in what bench/timing_micro --table prints"
    status=1
}
exit $status
