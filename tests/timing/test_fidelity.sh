#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the latencies of GPU models are within 5 % of those in their sources, by bench/fidelity. `make nightly` also
# compares bandwidths, and checks the page docs/reference/fidelity.md.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
[ -x "$src/bench/fidelity" ] || exit 77 # bench/ belongs to the source tree, but not to its archive
LANEWISE=$lanewise "$src/bench/fidelity" --check --quick >out 2>err || fail "bench/fidelity: a figure is outside its band"
[ "$(grep -c '^| `' out)" -ge 19 ] || fail "bench/fidelity: rows are missing"
# A source with another latency must be reported, with its row.
mkdir "$work/bench"
cp -r "$src/bench/fidelity" "$src/bench/program.py" "$src/bench/silicon" "$work/bench/"
sed -i 's/^\(rogers	load, L2	\)200/\1230/' "$work/bench/silicon/sources.tsv"
LANEWISE=$lanewise "$work/bench/fidelity" --check --quick rogers >out 2>err && fail "bench/fidelity: a wrong source was not found"
grep -q 'outside' out || fail "bench/fidelity: no row says which"
[ $failures = 0 ]
