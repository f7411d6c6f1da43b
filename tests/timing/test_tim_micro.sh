#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs bench/timing_micro: small kernels on every shipped GPU model, whose cycles and counters can be computed from the keys of
# the model. The reference model must give the same figures for GPU model fermi (with LW_TIMING=all, for every GPU model).
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
    cut -d '|' -f 1-3 "$work/shipped" | sed 's/$/|/' >"$work/same" # GPU model fermi is the first column of the table
    "$src/bench/timing_micro" --table -m fermi --reference >"$work/naive" || status=1
fi
cmp "$work/same" "$work/naive" || status=1
grep -n ';' "$work/shipped" # prints the figures that differ from the computed ones within a tolerance
# docs/evidence must contain these figures.
figures=$src/docs/evidence/timing-microbenchmarks.tsv
tab=$(printf '\t')
sed "2d; s/^| *//; s/ *|\$//; s/ *| */$tab/g" "$work/shipped" >"$work/figures"
[ -z "${UPDATE_GOLDEN:-}" ] || cp "$work/figures" "$figures"
diff "$figures" "$work/figures" || {
    echo "FAIL: docs/evidence/timing-microbenchmarks.tsv differs: make golden T=tests/timing/test_tim_micro.sh renews it"
    status=1
}
exit $status
