#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests diversion and voltage scaling with kernels: rows P-11 and P-12 in section 10.7 of the specification of the dynamic
# parallelism thesis. test_tim_dvfs.c tests P-1 to P-9, and test_tim_energy.c tests P-10.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# 14 blocks of 32 warps compute on 13 cores, each with space for one block, so the last block runs alone.
cat >power.cl <<'C'
kernel void work(global int *out, int rounds)
{
    int x = get_global_id(0);

    for (int r = 0; r < rounds; r++)
        x = x * 1664525 + 1013904223;
    out[get_global_id(0)] = x;
}
C
launch() { # usage: launch NAME LAUNCHES ROUNDS. Writes NAME.yaml.
    cat >"$1.yaml" <<Y
program: {source: power.cl}
buffers: {out: {type: s32, count: $((14 * 1024))}}
steps:
$(for i in $(seq "$2"); do echo "  - launch: {entry: work, grid: [14], block: [1024], args: [out, $3]}"; done)
Y
}
run() { # usage: run LAUNCH NAME KEYS. Writes the report NAME.
    "$lanewise" run "$1.yaml" -q --hash --dump out="$2.bin" --timing=kepler-k20c --mechanism dvfs --timing-report "$2" $3 >"$2.out" 2>err || fail "$1: the run fails: $(cat err)"
}
launch long 1 2000 # all cores but one are idle once, for a long time
launch short 20 100 # the same work; all cores but one are idle 20 times, for a short time
for launch in long short; do
    one='--timing-set core.blocks=1'
    run $launch $launch.count "$one --timing-set dvfs.act=count"
    run $launch $launch.scale "$one --timing-set dvfs.busy=false"
    run $launch $launch.divert "$one --timing-set dvfs.act=divert --timing-set dvfs.busy=false"
    run $launch $launch.slow "$one --timing-set dvfs.drain=false --timing-set dvfs.busy=false"
    # P-12: results must be the same with and without diversion and voltage scaling
    for how in scale divert slow; do
        cmp -s $launch.count.bin $launch.$how.bin || fail "P-12: $launch: the results with $how differ"
    done
done
python3 - <<'P' || fail "property P-11 does not hold"
import json
read = lambda name: json.load(open(name))
saves, loss = {}, {}
for launch in 'long', 'short':
    a, b = read(launch + '.count'), read(launch + '.scale')
    assert a['ratios']['bubbles'] > .2, (launch, a['ratios']['bubbles'])
    assert b['sums']['gpu']['dvfs_diversions'] > 0 and b['sums']['cores']['dvfs_low_cycles'] > 0, launch
    assert a['sums']['gpu']['dvfs_diversions'] == 0 and read(launch + '.divert')['sums']['cores']['dvfs_lost_cycles'] == 0
    saves[launch], loss[launch] = 1 - b['energy']['joules'] / a['energy']['joules'], b['cycles'] / a['cycles'] - 1
    # the energy saved must be at most the energy of idle cores
    assert saves[launch] <= a['energy']['gated'] / a['energy']['joules'], (launch, saves)
    print(launch, a['cycles'], b['cycles'], {k: v for k, v in b['sums']['gpu'].items() if 'dvfs' in k}, 'bubbles %.3f, saved %.3f of %.3f, slower by %.3f' % (a['ratios']['bubbles'], saves[launch], a['energy']['gated'] / a['energy']['joules'], loss[launch]))
assert saves['long'] > 1.2 * saves['short'] and loss['long'] <= loss['short']
P
[ $failures = 0 ]
