#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests mechanisms dwf, lwm, tbc, capri and interweave with a compiled kernel. Lanes of several warps must issue together. The
# reference model must have the same counters. Memory must be equal to that of a functional run, and a replay of the schedule
# must give the same state. If a debugger steps one warp, the result must not change.
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
counter() { # usage: counter REPORT. Prints formed_lanes and interweave_lanes of all cores, together, the cycles, and the hash of all counters
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); c = r["sums"]["cores"]; print(c["formed_lanes"] + c["interweave_lanes"], r["cycles"], r["counts_hash"])' "$1"
}
expect 0 '' run paths.yaml -q --hash
grep hash_mem out >functional
machine='--timing=fermi --timing-set core.count=1 --timing-set core.reconvergence=cbar'
for heuristic in majority minority time pc policy sbi swi interweave lwm tbc capri; do
    forms="$machine --mechanism dwf --timing-set dwf.heuristic=$heuristic"
    case $heuristic in lwm | tbc | capri | sbi | swi | interweave) forms="$machine --mechanism $heuristic" ;; esac
    for model in '' --timing-reference; do
        # shellcheck disable=SC2086
        expect 0 '' run paths.yaml -q --hash $forms $model --timing-report r.json --log schedule
        grep hash_mem out | cmp -s functional - || fail "$heuristic $model: the memory differs from that of the functional run"
        grep hash out >state
        counter r.json >counters$model
        expect 0 '' run paths.yaml -q --hash --replay schedule
        grep hash out | cmp -s state - || fail "$heuristic $model: the replay gives another state"
    done
    cmp counters counters--timing-reference || fail "$heuristic: the reference model has other counters"
    least=1000
    [ "$heuristic" != swi ] || least=100 # few warps of this kernel run on disjoint lanes
    [ "$(cut -d' ' -f1 counters)" -gt $least ] || fail "$heuristic: too few lanes issue together: $(cat counters)"
done
# shellcheck disable=SC2086
expect 0 '' run paths.yaml -q --timing-report r.json $machine --mechanism dwf --timing-set dwf.threads=off
[ "$(counter r.json | cut -d' ' -f1)" -gt 0 ] || fail "no splits issue together"
[ "$(counter r.json | cut -d' ' -f1)" -lt "$(cut -d' ' -f1 counters)" ] ||
    fail "as many lanes issue together if only whole splits are combined"
# Steps a warp whose instructions issue together with those of other warps. Each step must execute one instruction of the warp.
i=0
set -- -c 'break paths.cl:8' -c continue -c delete
while [ $i -lt 40 ]; do
    set -- "$@" -c stepi
    i=$((i + 1))
done
# shellcheck disable=SC2086
expect 0 '' debug --batch paths.yaml $machine --mechanism dwf "$@" -c mechanism -c continue
grep -q '^dwf: formed warps: [0-9]*, with [0-9]* lanes of companions; lanes that were taken: [0-9]*$' out && grep -q '^scheduler 0, last pc 0x[0-9a-f]*; threads by pc: 0x' out ||
    fail "command mechanism does not show the pool: $(cat out)"
# shellcheck disable=SC2086
expect 0 '' debug --batch paths.yaml $machine --mechanism interweave "$@" -c mechanism -c continue
grep -q '^interweave: second instructions: [0-9]* of another path of the warp, [0-9]* of another warp, with [0-9]* lanes; [0-9]* shared a unit with the first one$' out ||
    fail "command mechanism does not show the second instructions: $(cat out)"
# shellcheck disable=SC2086
expect 0 '' debug --batch paths.yaml $machine --mechanism tbc "$@" -c mechanism -c 'focus warp 1' -c why -c 'focus warp 2' -c why -c 'focus warp 3' -c why -c continue
grep -q '^tbc: compactions: [0-9]*, of [0-9]* warps into [0-9]* dynamic warps$' out && grep -q '^  block slot 0, stack entry 1 (runs): reconvergence pc 0x[0-9a-f]*, [0-9]* threads$' out ||
    fail "command mechanism does not show the stack: $(cat out)"
grep -q "tbc: .*of the block's stack" out || fail "why does not show that a warp waits for its block: $(cat out)"
# shellcheck disable=SC2086
expect 0 '' debug --batch paths.yaml $machine --mechanism capri "$@" -c mechanism -c continue
grep -q '^  branch 0x[0-9a-f]*: counter [0-3] of 3: threads \(wait\|do not wait\)$' out || fail "command mechanism does not show the predictor: $(cat out)"
# Threads of warp 0 leave the kernel early, so that threads of warp 1 join the others: warp 1 is divided from then on. Some of its
# threads reach scalar instructions 100,000 instructions before the rest of the warp, which is in a long loop, and must wait.
cat >long.cl <<'END'
__kernel void sums(__global int *out, __global const int *in, int n)
{
    int t = get_local_id(0), sum = 0;

    if (t < 24)
        return;
    for (int i = 0; i < in[t]; i++)
        sum = sum * 31 + i;
    for (int j = 0; j < n; j++)
        sum = sum * 17 + in[j];
    out[t] = sum;
}
END
cat >long.yaml <<'END'
program: {source: long.cl}
buffers: {out: {type: s32, count: 64}, in: {type: s32, count: 64, init: {constant: 1}}}
steps:
  - fill: {buffer: in, index: 56, count: 8, value: {constant: 400000}}
  - launch: {entry: sums, grid: 1, block: 64, args: [out, in, 40]}
END
"$lanewise" compile long.cl -o long.lwo && "$lanewise" dis long.lwo | grep -q 's_add_u32' || fail "the kernel has no scalar instruction behind its loop"
sed -i 's/long\.cl/long.lwo/' long.yaml
expect 0 '' run long.yaml -q --hash
grep hash_mem out >functional
for mechanism in dwf tbc capri lwm interweave dws; do
    # shellcheck disable=SC2086
    expect 0 '' run long.yaml -q --hash $machine --timing-set issue.schedulers=1 --mechanism $mechanism
    grep hash_mem out | cmp -s functional - || fail "$mechanism: the memory of threads in long loops differs from that of the functional run"
done
# A thread that holds a lock leaves the loop in which other warps of its block spin. With tbc this is a hang, as with a SIMT
# stack.
cat >lock.cl <<'END'
__kernel void lock(volatile __global int *lock, __global int *sum)
{
    while (atomic_cmpxchg(lock, 0, 1) != 0)
        ;
    *sum += 1;
    atomic_xchg(lock, 0);
}
END
cat >lock.yaml <<'END'
program: {source: lock.cl}
buffers: {lock: {type: s32, count: 1, init: {constant: 0}}, sum: {type: s32, count: 1, init: {constant: 0}}}
steps:
  - launch: {entry: lock, grid: 1, block: 64, args: [lock, sum]}
END
# shellcheck disable=SC2086
expect 4 "is throttled by tbc: its threads are not in entry 1 of the block's stack" run lock.yaml -q $machine --mechanism tbc
# shellcheck disable=SC2086
expect 0 '' run lock.yaml -q $machine --mechanism dwf
# shellcheck disable=SC2086
expect 0 '' run lock.yaml -q $machine --mechanism interweave
# shellcheck disable=SC2086
expect 0 '' run lock.yaml -q $machine --mechanism lwm --timing-set lwm.timeout=500
expect 2 'core.reconvergence=cbar' run paths.yaml --timing=fermi --mechanism dwf --timing-set core.reconvergence=stack
expect 2 'issue.split_lanes: set it to on, or use --mechanism' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --timing-set dwf.on=on
expect 2 'dwf.on cannot be combined with mechanism dws' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --mechanism dwf,dws
expect 2 'dwf.on cannot be combined with lsu.replay=buffer' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --mechanism dwf --timing-set lsu.replay=buffer
expect 2 'dwf.on and tbc.on cannot be combined' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --mechanism dwf,tbc
expect 2 'tbc.on cannot be combined with mechanism swl' run paths.yaml --timing=fermi --timing-set core.reconvergence=cbar --mechanism tbc,swl
[ $failures = 0 ]
