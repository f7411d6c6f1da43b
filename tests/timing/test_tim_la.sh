#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests address pre-computation with kernels. Memory must be the same with all block and warp schedulers (A31), and the
# event-driven model and the reference model (--timing-reference) must have equal counters. An object that contains the slices
# must give the same counters as the source. Blocks must share the lines that were predicted. Shell commands must show why a
# block is on its core. test_tim_blocks.c and mechanisms/test_tim_la_w.c test the rows of table A that need no instructions.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >columns.s <<'S'
.kernel columns
.param ptr.global in
.param ptr.global out
.param u32 bytes                    # number of bytes in a row of the array
    v_s2r v0, %tid.x
    v_s2r v1, %ctaid.x
    v_s2r v2, %ctaid.y
    v_shl_b32 v3, v1, 5
    v_add_u32 v3, v3, v0            # row; a block has 32 rows
    v_mul_u32 v4, v3, c[bytes]
    v_shl_b32 v5, v2, 2             # column; a block has one column
    v_add_u32 v4, v4, v5
    s_mov_b64 s4:5, c[in]
    ld.global.b32 v6, [s4:5+v4]
    v_add_u32 v6, v6, v2
    s_mov_b64 s6:7, c[out]
    st.global.b32 [s6:7+v4], v6
    bar.sync 0
    exit
.end
.kernel chosen
.param ptr.global in
.param ptr.global out
    v_s2r v0, %tid.x
    v_s2r v1, %ctaid.x
    v_shl_b32 v7, v0, 2
    v_shl_b32 v1, v1, 5
    v_add_u32 v0, v0, v1
    v_shl_b32 v0, v0, 2
    s_mov_b64 s4:5, c[in]
    s_mov_b64 s6:7, c[out]
    st.shared.b32 [v7], v0
    ld.shared.b32 v2, [v7]
    ld.global.b32 v3, [s4:5+v2]
    st.global.b32 [s6:7+v2], v3
    exit
.end
S
cat >columns.yaml <<'Y'
program: {source: columns.s}
buffers:
  in: {type: u32, count: 13312, init: {ramp: {start: 0, step: 3}}}
  out: {type: u32, count: 13312}
steps:
  - launch: {entry: columns, grid: [6, 64], block: [32], args: [in, out, 256]}
Y
sed 's/entry: columns, grid: \[6, 64\], block: \[32\], args: \[in, out, 256\]/entry: chosen, grid: [40], block: [32], shared: 128, args: [in, out]/' columns.yaml >chosen.yaml
run() { # usage: run LAUNCH_FILE OPTION... . Writes hashes to the file hash, and the report to r.json
    file=$1
    shift
    "$lanewise" run "$file" -q --timing=fermi --timing-set core.count=5 --timing-set kernels.latency=10 "$@" --hash --timing-report r.json >hash 2>err || { cat err; return 1; }
}
counts() { # usage: counts REPORT. Prints the cycles and the hash of all counters.
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["cycles"], r["counts_hash"])' "$1"
}
for file in columns.yaml chosen.yaml; do
    "$lanewise" run $file -q --hash | grep hash_mem >want || fail "$file: the functional run fails"
    for mechanism in shares bcs,shares la_b,shares la_w,shares la_bw,shares; do
        for more in "" "--timing-set ap.window=3 --timing-set ap.dispatch_cost=2" "--timing-set ap.exact=true --timing-set ap.skip_uniform=false"; do
            # shellcheck disable=SC2086
            run $file --mechanism $mechanism $more 2>/dev/null || { fail "$file, $mechanism $more: the run fails"; continue; }
            grep hash_mem hash | cmp - want || fail "$file, $mechanism $more: memory differs from the functional run"
            counts r.json >fast
            cp r.json "$(echo $mechanism | tr , -).json"
            # shellcheck disable=SC2086
            run $file --mechanism $mechanism $more --timing-reference ||
                fail "$file, $mechanism $more: the run of the reference model fails"
            counts r.json | cmp - fast || fail "$file, $mechanism $more: the reference model has other counters"
        done
    done
    run $file --mechanism shares && cp r.json rr.json
    for mechanism in bcs la_b la_bw; do
        run $file --mechanism $mechanism,shares && cp r.json $mechanism.json
    done
    python3 - $file <<'P' || fail "$file: predicted lines, observed lines or counters are wrong"
import json, sys
r = {n: json.load(open(n + '.json')) for n in ('rr', 'bcs', 'la_b', 'la_bw')}
gpu = {n: x['sums']['gpu'] for n, x in r.items()}
if sys.argv[1] == 'chosen.yaml': # A28
    assert gpu['la_bw']['ap_fallback'] == 1 and gpu['la_bw']['ap_rejected_loaded'] == 2 and gpu['la_bw']['la_b_overlap'] == 0
    assert r['la_b']['cycles'] == r['rr']['cycles'], 'not as round robin'
else:
    for n, x in r.items():
        s = x['shares']
        assert s['predicted'] == s['observed'] and s['only_predicted'] == s['only_observed'] == 0, (n, s)
    assert r['la_b']['shares']['observed'] > 3 * max(1, r['bcs']['shares']['observed'])
    assert gpu['la_b']['la_b_overlap'] > gpu['la_b']['la_b_least'] > 0
    assert gpu['la_b']['ap_sites'] == 2 and gpu['la_b']['ap_arrays'] == 2 and gpu['bcs']['bcs_pairs'] == 192
    assert r['la_b']['sums']['cores']['l1_misses'] < r['rr']['sums']['cores']['l1_misses']
P
done
"$lanewise" compile --slices columns.s -o columns.lwo || fail "compile --slices fails"
sed 's/columns.s}/columns.lwo}/' columns.yaml >kept.yaml
run columns.yaml --mechanism la_bw && counts r.json >made
run kept.yaml --mechanism la_bw && counts r.json | cmp - made || fail "the counters differ with the slices in the object"
run columns.yaml --mechanism la_w,pools && fail "la_w can be combined with pools"
grep -q 'la_w.on cannot be combined with mechanism pools' err || fail "la_w with pools: wrong message"

printf 'cycle 300\ngrids\nwhy\nmechanism 0\nblock (0,1,0)\nwhy\n' >in
"$lanewise" debug --batch -x in columns.yaml --timing=fermi --timing-set core.count=5 --timing-set kernels.latency=10 --mechanism la_bw,shares >out 2>err ||
    { cat err; fail "the debug session fails"; }
for words in 'block scheduler la_b' '2 of 2 accesses have an address slice, 2 arrays' 'la_b chooses from 344 blocks, 2 arrays' "the warp's block was placed here because it sha" \
    '15 bytes for each waiting block' '768 bytes of access vectors and 1152 bytes of the locality table, in total 1920 bytes' 'of 8; columns: warp' 'predicted,' ; do
    grep -qF "$words" out || { cat out; fail "the shell does not print: $words"; }
done
[ $failures = 0 ]
