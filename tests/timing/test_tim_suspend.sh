#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Blocks that wait for what they launched leave their cores: a tree of launches that waits for itself
# runs on every machine, on cores with room for one block, with one entry in the distributor; each
# block that waits leaves once and comes back once, with as many lines as its state has; and without
# kernels.suspend it is refused by name.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cp "$src"/tests/kernels/nest.* "$work"
soon='--timing-set kernels.latency=20 --timing-set kernels.buffer_base=50 --timing-set kernels.launch_base=100'
run() { # options
    # shellcheck disable=SC2086
    "$lanewise" run nest.yaml -q $soon "$@" --hash --timing-report r.json >hash 2>err || {
        cat err
        return 1
    }
}
"$lanewise" run nest.yaml -q --hash | grep hash_mem >want || fail "no functional run"
for machine in ampere fermi gcn-tahiti kepler-k20c rogers rogers-vws tesla-dwr volta; do
    for room in "core.blocks=3 kernels.entries=32" "core.blocks=1 kernels.entries=1" \
        "core.blocks=2 kernels.mixed=false" "core.blocks=2 kernels.bypass=true"; do
        options=--timing=$machine
        for set in core.count=2 $room; do
            options="$options --timing-set $set"
        done
        # shellcheck disable=SC2086
        run $options || { fail "$machine, $room: no run"; continue; }
        grep hash_mem hash | cmp - want || fail "$machine, $room: other contents of memory"
        python3 - <<'END' || fail "$machine, $room: other counts than by hand"
import json
r = json.load(open('r.json'))
cores, config = r['sums']['cores'], r['config']
waiting = 6 * (1 + 2 + 4 + 8)  # all but the last level
width = config['core']['warp_width']
warps = (64 + width - 1) // width
def up(value, unit):
    return (value + unit - 1) // unit * unit
state = 4 * warps * up(14 * width, config['core']['register_unit']) + up(256, config['core']['shared_unit'])
lines = -(-state // config['l1']['line'])
assert cores['suspends'] == cores['resumes'] == waiting, (cores['suspends'], cores['resumes'])
assert cores['state_lines'] == 2 * waiting * lines, (cores['state_lines'], lines)
assert cores['blocks'] == 6 * 31
END
    done
done
# ---- both engines ---------------------------------------------------------------------------
for machine in fermi volta; do
    for reference in "" --timing-reference; do
        # shellcheck disable=SC2086
        run --timing=$machine --timing-set core.count=1 --timing-set core.blocks=2 $reference || fail "$machine: no run"
        python3 -c 'import json; r = json.load(open("r.json")); print(r["cycles"], r["counts_hash"])' >"counts$reference"
    done
    cmp counts counts--timing-reference || fail "$machine: the naive model counts otherwise"
done
# ---- without it -------------------------------------------------------------------------------
run --timing=fermi --timing-set core.count=1 --timing-set core.blocks=8 --timing-set kernels.suspend=false 2>/dev/null >said &&
    fail "there was no room, and it ran"
grep -q 'set kernels.suspend' said || { cat said; fail "the refusal does not say what to do"; }
run --timing=volta --timing-set kernels.entries=1024 --timing-set kernels.suspend=false || fail "there is room, and it did not run"
python3 -c 'import json; assert json.load(open("r.json"))["sums"]["cores"]["suspends"] == 0' || fail "a block left"
[ $failures = 0 ]
