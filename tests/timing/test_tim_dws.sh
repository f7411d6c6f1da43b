#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests mechanism dws with a compiled kernel. Warps must be divided, the reference model must have the same counters, memory
# must be that of a functional run, and a replay of the schedule must give the same state, also after divided splits have
# merged.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >gather.cl <<'END'
__kernel void gather(__global int *out, __global const int *in, __global const int *row)
{
    int t = get_global_id(0), sum = 0;

    for (int i = row[t]; i < row[t] + 8 + t % 5; i++)
        sum += in[(sum + i * 37) & 4095] ^ i;
    out[t] = sum;
}
END
cat >gather.yaml <<'END'
program: {source: gather.cl}
buffers:
  out: {type: s32, count: 256}
  in: {type: s32, count: 4096, init: {random: {seed: 3, low: 0, high: 100000}}}
  row: {type: s32, count: 256, init: {random: {seed: 5, low: 0, high: 4000}}}
steps:
  - launch: {entry: gather, grid: 4, block: 64, args: [out, in, row]}
END
counter() { # usage: counter REPORT. Prints dws_divisions of all cores, the cycles, and the hash of all counters
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["sums"]["cores"]["dws_divisions"], r["cycles"], r["counts_hash"])' "$1"
}
expect 0 '' run gather.yaml -q --hash
grep hash_mem out >functional
for splits in 2 8; do
    for model in '' --timing-reference; do
        # shellcheck disable=SC2086
        expect 0 '' run gather.yaml -q --hash --timing=fermi --mechanism dws --timing-set dws.splits=$splits $model --timing-report r$splits$model.json \
            --log schedule$splits$model
        grep hash_mem out | cmp -s functional - ||
            fail "dws.splits $splits $model: the memory differs from that of the functional run"
        grep hash out >state$splits$model
        counter r$splits$model.json >counters$splits$model
        expect 0 '' run gather.yaml -q --hash --replay schedule$splits$model
        grep hash out | cmp -s state$splits$model - || fail "dws.splits $splits $model: the replay gives another state"
    done
    cmp counters$splits counters$splits--timing-reference || fail "dws.splits $splits: the reference model has other counters"
done
[ "$(cut -d' ' -f1 counters2)" -gt 0 ] || fail "no warp was divided: $(cat counters2)"
[ "$(cut -d' ' -f1 counters8)" -gt "$(cut -d' ' -f1 counters2)" ] ||
    fail "there are not more divisions with dws.splits 8 than with 2: $(cat counters2 counters8)"
expect 2 'core.reconvergence=cbar' run gather.yaml --timing=fermi --mechanism dws --timing-set core.reconvergence=stack
expect 2 'issue.split_lanes and issue.switch_on_stall' run gather.yaml --timing=fermi --timing-set dws.on=on
[ $failures = 0 ]
