#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the engine `likely` on the compiled kernel of docs/explanation/reconvergence.md, whose loop has a rarely taken exit. The
# code after the branch must run once for all lanes, which reconverge at the likely convergence point, as with thread frontiers.
# With the engine `stack` it runs once for each side of the branch. With all engines memory must be the same.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >leaves.cl <<'END'
__kernel void leaves(__global int *out, __global const int *in, int n)
{
    int t = get_global_id(0), s = 0;

    for (int i = 0; i < n; i++) {
        int v = in[(t * 7 + i * 13) & 1023];
        if (v & 1) {
            if (v == 777)
                break;
            s += v * 3;
            s ^= i;
            s += v / 7;
            s = s * 5 + (v >> 3);
        }
        s += v;
        s ^= s << 3;
        s += s >> 5;
        s = s * 17 + v;
        s ^= s << 7;
        s += v * v;
    }
    out[t] = s;
}
END
cat >leaves.yaml <<'END'
program: {source: leaves.cl}
buffers:
  out: {type: s32, count: 256}
  in: {type: s32, count: 1024, init: {random: {seed: 7, low: 0, high: 1000}}}
steps:
  - launch: {entry: leaves, grid: 4, block: 64, args: [out, in, 64]}
END
for engine in cbar stack likely frontier multipath early dualpath; do
    expect 0 '' run leaves.yaml -q --reconv $engine --stats $engine.json --hash
    grep hash_mem out >>hashes
done
[ "$(sort -u hashes | wc -l)" = 1 ] || fail "memory differs between engines: $(cat hashes)"
python3 - <<'END' || fail "wrong counts of warp instructions"
import json
def instructions(engine):
    stats = json.load(open(engine + '.json'))
    return stats.get('totals', stats)['warp_instructions']
stack, likely, frontier = (instructions(engine) for engine in ('stack', 'likely', 'frontier'))
print(stack, likely, frontier)
assert likely <= 0.85 * stack, (likely, stack)
assert likely <= 1.02 * frontier, (likely, frontier)
END
[ $failures = 0 ]
