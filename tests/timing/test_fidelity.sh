#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the latencies of GPU models are within 5 % of those in their sources, by bench/fidelity. `make nightly` also
# compares bandwidths, and checks the page docs/reference/fidelity.md.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
[ -x "$src/bench/fidelity" ] || exit 77 # the source archive does not contain bench/
LANEWISE=$lanewise "$src/bench/fidelity" --check --quick >out 2>err || fail "bench/fidelity: a figure is outside its band"
[ "$(grep -c '^| `' out)" -ge 19 ] || fail "bench/fidelity: rows are missing"
# If sources.tsv has a wrong latency, the difference must be reported, with its row.
mkdir "$work/bench"
cp -r "$src/bench/fidelity" "$src/bench/program.py" "$src/bench/silicon" "$work/bench/"
sed -i 's/^\(rogers	load, L2	\)200/\1230/' "$work/bench/silicon/sources.tsv"
LANEWISE=$lanewise "$work/bench/fidelity" --check --quick rogers >out 2>err &&
    fail "bench/fidelity: a wrong latency in sources.tsv is not reported"
grep -q 'outside' out || fail "bench/fidelity: no row is marked as outside its band"
[ $failures = 0 ]
