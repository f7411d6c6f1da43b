#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mechanism dwf on a compiled kernel: lanes of several warps issue together, the reference model has the same counters, memory
# is that of a functional run, and a replay of the schedule gives the same state. Steps of one warp do not change the result.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >paths.cl <<'END'
__kernel void paths(__global int *out, __global const int *in)
{
    int t = get_global_id(0), sum = 0;

    for (int i = 0; i < (in[t] & 15); i++)
        sum = sum * 31 + i * t;
    if (in[t] & 16)
        for (int i = 0; i < 8; i++)
            sum = sum * 17 + in[(t + i) & 511];
    else
        sum ^= in[(t * 7) & 511];
    out[t] = sum;
}
END
cat >paths.yaml <<'END'
program: {source: paths.cl}
buffers:
  out: {type: s32, count: 512}
  in: {type: s32, count: 512, init: {random: {seed: 3, low: 0, high: 100000}}}
steps:
  - launch: {entry: paths, grid: 4, block: 128, args: [out, in]}
END
counter() { # report: the sum of formed_lanes over all cores, cycles and the hash of all counters
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["sums"]["cores"]["formed_lanes"], r["cycles"], r["counts_hash"])' "$1"
}
expect 0 '' run paths.yaml -q --hash
grep hash_mem out >functional
machine='--timing=fermi --timing-set core.count=1 --timing-set core.reconvergence=cbar --mechanism dwf'
for heuristic in majority minority time pc policy; do
    for model in '' --timing-reference; do
        # shellcheck disable=SC2086
        expect 0 '' run paths.yaml -q --hash $machine --timing-set dwf.heuristic=$heuristic $model --timing-report r.json --log schedule
        grep hash_mem out | cmp -s functional - || fail "dwf.heuristic $heuristic $model: other memory"
        grep hash out >state
        counter r.json >counters$model
        expect 0 '' run paths.yaml -q --hash --replay schedule
        grep hash out | cmp -s state - || fail "dwf.heuristic $heuristic $model: the replay gives another state"
    done
    cmp counters counters--timing-reference || fail "dwf.heuristic $heuristic: the reference model counts otherwise"
    [ "$(cut -d' ' -f1 counters)" -gt 1000 ] || fail "dwf.heuristic $heuristic: too few lanes issue together: $(cat counters)"
done
# shellcheck disable=SC2086
expect 0 '' run paths.yaml -q --timing-report r.json $machine --timing-set dwf.threads=off
[ "$(counter r.json | cut -d' ' -f1)" -gt 0 ] || fail "no split issues with another"
[ "$(counter r.json | cut -d' ' -f1)" -lt "$(cut -d' ' -f1 counters)" ] || fail "whole splits issue together as often as threads"
# Steps of one warp, whose instructions issue with those of other warps: each executes one instruction of the warp.
i=0
set -- -c 'break paths.cl:8' -c continue -c delete
while [ $i -lt 40 ]; do
    set -- "$@" -c stepi
    i=$((i + 1))
done
# shellcheck disable=SC2086
expect 0 '' debug --batch paths.yaml $machine "$@" -c mechanism -c continue
grep -q '^dwf: formed warps: [0-9]*, with [0-9]* lanes of companions; lanes that were taken: [0-9]*$' out && grep -q '^scheduler 0, last pc 0x[0-9a-f]*; threads by pc: 0x' out ||
    fail "command mechanism does not show the pool: $(cat out)"
expect 2 'core.reconvergence cbar' run paths.yaml --timing=fermi --mechanism dwf --timing-set core.reconvergence=stack
expect 2 'issue.split_lanes: set it, or use --mechanism dwf' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --timing-set dwf.on=on
expect 2 'dwf.on cannot be combined with dws' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --mechanism dwf,dws
expect 2 'dwf.on cannot be combined with lsu.replay buffer' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --mechanism dwf --timing-set lsu.replay=buffer
[ $failures = 0 ]
