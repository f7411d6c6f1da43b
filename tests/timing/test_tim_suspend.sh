#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests kernels.suspend: a block that waits for its own device launches leaves its core. A tree of launches, in which each launch
# waits for its children, must run on every GPU model, even on cores with space for one block and with one entry in the
# distributor. Each waiting block must leave once and return once, and its state must be written to memory and read again, with
# the expected number of lines. Without kernels.suspend the run must be refused with a message that names the key.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cp "$src"/tests/kernels/nest.* "$work"
soon='--timing-set kernels.latency=20 --timing-set kernels.buffer_base=50 --timing-set kernels.launch_base=100'
run() { # usage: run OPTION... . Runs nest.yaml; writes hashes to the file hash, and the report to r.json
    # shellcheck disable=SC2086
    "$lanewise" run nest.yaml -q $soon "$@" --hash --timing-report r.json >hash 2>err || {
        cat err
        return 1
    }
}
"$lanewise" run nest.yaml -q --hash | grep hash_mem >want || fail "the functional run fails"
for machine in ampere fermi gcn-tahiti kepler-k20c rogers rogers-vws tesla-dwr volta; do
    for room in "core.blocks=3 kernels.entries=32" "core.blocks=1 kernels.entries=1" \
        "core.blocks=2 kernels.mixed=false" "core.blocks=2 kernels.bypass=true"; do
        options=--timing=$machine
        for set in core.count=2 $room; do
            options="$options --timing-set $set"
        done
        # shellcheck disable=SC2086
        run $options || { fail "$machine, $room: the run fails"; continue; }
        grep hash_mem hash | cmp - want || fail "$machine, $room: memory differs from the functional run"
        python3 - <<'END' || fail "$machine, $room: a counter differs from the computed one"
import json
r = json.load(open('r.json'))
cores, config = r['sums']['cores'], r['config']
waiting = 6 * (1 + 2 + 4 + 8)  # blocks of all levels except the last one
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
# ---- the event-driven and the reference model -------------------------------------------------
for machine in fermi volta; do
    for reference in "" --timing-reference; do
        # shellcheck disable=SC2086
        run --timing=$machine --timing-set core.count=1 --timing-set core.blocks=2 $reference || fail "$machine: the run fails"
        python3 -c 'import json; r = json.load(open("r.json")); print(r["cycles"], r["counts_hash"])' >"counts$reference"
    done
    cmp counts counts--timing-reference || fail "$machine: the reference model has other counters"
done
# ---- without kernels.suspend --------------------------------------------------------------------
run --timing=fermi --timing-set core.count=1 --timing-set core.blocks=8 --timing-set kernels.suspend=false 2>/dev/null >said &&
    fail "a run without space for the children was not refused"
grep -q 'set kernels.suspend' said || { cat said; fail "the refusal does not name the key to set"; }
run --timing=volta --timing-set kernels.entries=1024 --timing-set kernels.suspend=false || fail "a run with space for all blocks failed"
python3 -c 'import json; assert json.load(open("r.json"))["sums"]["cores"]["suspends"] == 0' ||
    fail "a block was suspended although kernels.suspend is false"

# With issue.switch_on_stall, a split that waited for a launch replaces a split that waits for a load as soon as all lanes of the
# launch have ended. The block of the launch ends later, when the core is idle. The event-driven model, which skips idle cycles,
# must have the same counters as the reference model (--timing-reference).
cat >take.s <<'END'
.const leaf_d 40 8 = addr leaf, u32 1, 1, 1, 32, 1, 1, 0, 0
.kernel take
.param ptr.global out
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[out]
    v_mov_b32 v8, lo(leaf_d)
    v_mov_b32 v9, hi(leaf_d)
    v_mov_b32 v20, 40
    v_setp_u32.eq p0, v0, 0
    v_setp_u32.lt p1, v0, 16
    @p0 launch.buffer v6:7, 8
    @p0 st.global.b64 [v6:7], v2:3
    @p0 launch.kernel v12, v8:9, v6:7, vz
    bssy b0, join
    @p1 bra sync, b0
loop:
    ld.global.b32 v21, [v2:3]
    v_add_u64 v2:3, v2:3, 256
    v_add_u32 v22, v22, v21
    v_sub_u32 v20, v20, 1
    v_setp_u32.ne p2, v20, 0
    @p2 bra loop
    bra join
sync:
    launch.sync
join:
    bsync b0
    exit
.end
.kernel leaf
.param ptr.global out
    v_mov_b64 v2:3, c[out]
    v_mov_b32 v5, 1
    st.global.b32 [v2:3+8], v5
    st.global.b32 [v2:3+4096], v5
    exit
.end
END
for latency in 20 40 60; do
    set -- --entry take --grid 1 --block 32 --arg 'u32[4096]' -q --timing=fermi
    for set in core.count=2 issue.switch_on_stall=true kernels.latency=$latency kernels.buffer_base=50 kernels.launch_base=100 \
        kernels.launch_lane=1 kernels.buffer_lane=1; do
        set -- "$@" --timing-set "$set"
    done
    { "$lanewise" run take.s "$@" --timing-report fast.json && "$lanewise" run take.s "$@" --timing-reference --timing-report naive.json; } ||
        { fail "take.s, latency $latency: the run fails"; continue; }
    for f in fast naive; do sed -n 's/.*"counts_hash": *"\{0,1\}\([0-9a-f]*\).*/\1/p' $f.json | head -n 1 >$f.counts; done
    [ -s fast.counts ] && cmp fast.counts naive.counts || fail "take.s, latency $latency: the reference model has other counters"
done
[ $failures = 0 ]
