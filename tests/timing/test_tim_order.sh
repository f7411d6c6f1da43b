#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the timing model determines the order of execution. A result that depends on the order of warps must differ between
# two schedulers, and must be the same in all runs with one scheduler. The value of the clock that an instruction reads must be
# the cycle in which the trace shows the issue of the instruction.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cp "$src"/tests/kernels/turns.* "$work"
# ---- order of slices
# lsu.queue is 8, because with a memory unit that accepts one load at a time, slices would run in the order of the loads,
# independently of the scheduler. gcn-tahiti is not tested, because each of its SIMDs has only one of the warps.
for machine in ampere fermi kepler-k20c rogers rogers-vws tesla-dwr volta; do
    for policy in lrr gto; do
        for run in 1 2 reference; do
            reference=
            [ $run != reference ] || reference=--timing-reference
            # shellcheck disable=SC2086
            "$lanewise" run turns.yaml -q --timing=$machine --timing-set issue.policy=$policy --timing-set lsu.queue=8 --timing-set fetch.buffer=4 $reference \
                --hash --dump out=$policy.$run.bin >$policy.$run.hash || fail "$machine, $policy: no run"
            cmp $policy.1.bin $policy.$run.bin || fail "$machine, $policy: run $run has another order"
            cmp $policy.1.hash $policy.$run.hash || fail "$machine, $policy: run $run has other hashes"
        done
        # Each of the eight warps must have eight slices.
        [ "$(od -An -v -tu4 -w4 $policy.1.bin | sort -n | uniq -c | tr -s ' ' | tr '\n' ';')" = \
            "$(for w in 0 1 2 3 4 5 6 7; do printf ' 8 %s;' $w; done)" ] || fail "$machine, $policy: a slice is missing"
    done
    cmp -s lrr.1.bin gto.1.bin && fail "$machine: lrr and gto have the same order"
    cmp -s lrr.1.hash gto.1.hash && fail "$machine: lrr and gto have the same hashes"
done

# ---- the clock ------------------------------------------------------------------------------
cat >clock.s <<'END'
.kernel k
.param ptr.global out
    v_s2r v0, %tid.x {wr=0}
    v_s2r v1, %ctaid.x {wr=0}
    v_mad_u32 v0, v1, 128, v0 {wr=0,wt=0x1}
    v_mov_b64 v4:5, c[out] {wr=0}
    v_madwide_u32 v4:5, v0, 40, v4:5 {wr=0,wt=0x1}
    v_s2r v6, %smid
    v_s2r v7, %warpid {wr=0}
    v_mov_b32 v9, 1000 {wr=0,wt=0x1}
    v_s2r v10, %clock
    v_s2r_b64 v12:13, %clock64
    nanosleep v9 {wt=0x1}
    v_s2r v11, %clock
    bar.sync 0
    v_s2r_b64 v14:15, %globaltimer {wr=0}
    st.global.b32 [v4:5], v6
    st.global.b32 [v4:5+4], v7
    st.global.b32 [v4:5+8], v10
    st.global.b32 [v4:5+12], v11
    st.global.b64 [v4:5+16], v12:13
    st.global.b64 [v4:5+24], v14:15 {wt=0x1}
    v_s2r v10, %clock {wr=0}
    st.global.b32 [v4:5+32], v10 {wt=0x1}
    exit
.end
END
cat >clock.yaml <<'END'
program: {source: clock.s}
buffers: {out: {type: u32, count: 2560}}
steps: [launch: {entry: k, grid: [2], block: [128], args: [out]}]
END
# ampere is not tested, because its instructions read the clock one cycle after issue (issue.control_stage).
for machine in fermi gcn-tahiti kepler-k20c rogers rogers-vws tesla-dwr volta; do
    "$lanewise" run clock.yaml -q --timing=$machine --dump out=traced.bin --timing-trace t.json --timing-window 0:20000 \
        --timing-report r.json || fail "$machine: no run"
    "$lanewise" run clock.yaml -q --timing=$machine --dump out=plain.bin || fail "$machine: no run"
    "$lanewise" run clock.yaml -q --timing=$machine --dump out=naive.bin --timing-reference || fail "$machine: no run"
    cmp traced.bin plain.bin || fail "$machine: a trace changes the clock"
    cmp naive.bin plain.bin || fail "$machine: the reference model has another clock"
    python3 - <<'END' || fail "$machine: a clock value is not the cycle of the issue"
import json, struct
config = json.load(open('r.json'))['config']
mhz = config['clocks']['core']
at = {}
for e in json.load(open('t.json'))['traceEvents']:
    if e['ph'] == 'X' and e.get('cat') == 'issue':
        key = e['pid'], e['tid'], int(e['args']['pc'], 16) % 0x1000 // 16
        assert key not in at and e['dur'] == 1, key
        at[key] = e['ts']
out = open('plain.bin', 'rb').read()
warps = set()
for thread in range(256):
    core, warp, first, second, long, timer, last = struct.unpack_from('<IIIIQQI', out, 40 * thread)
    warps.add((core, warp))
    issued = [at[core, warp, i] for i in (8, 11, 9, 13, 20)]
    assert [first, second, long, timer, last] == issued[:3] + [issued[3] * 1000 // mhz, issued[4]], (thread, issued)
    assert second - at[core, warp, 10] >= 1000 * mhz // 1000, 'nanosleep'
assert len(warps) == 256 // config['core']['warp_width']
END
done
[ $failures = 0 ]
