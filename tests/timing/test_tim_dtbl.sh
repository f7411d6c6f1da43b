#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests device launches with dynamic thread block launch (dtbl) and with all block schedulers. Results must be equal to those of a
# functional run, the event-driven model and the reference model (--timing-reference) must have equal counters, and launches of
# groups must take the specified time. The shell command grids must show where a block was launched. D-2 to D-15 are rows of
# table D in section 7.11 of the specification of the dynamic parallelism thesis. test_tim_blocks.c tests the rows of tables D
# and L that need no instructions.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cp "$src"/tests/kernels/nest.* "$work"
cat >amr.s <<'S'
.const grow_d 40 8 = addr grow, u32 1, 1, 1, 32, 1, 1, 0, 0
.kernel grow
.param ptr.global out               # out[levels left]: sum of %nctaid.x over all blocks
.param u32 left
    v_s2r v0, %tid.x
    v_s2r v20, %nctaid.x
    v_mov_b64 v2:3, c[out]
    v_mov_b32 v1, c[left]
    v_setp_u32.eq p0, v0, 0
    v_madwide_u32 v10:11, v1, 4, v2:3
    @p0 red.global.add.u32 [v10:11], v20
    v_setp_u32.ge p1, v0, 2
    @p1 exit
    v_setp_u32.eq p1, v1, 0
    @p1 exit
    launch.buffer v6:7, 12
    st.global.b64 [v6:7], v2:3
    v_sub_u32 v4, v1, 1
    st.global.b32 [v6:7+8], v4
    v_mov_b32 v8, lo(grow_d)
    v_mov_b32 v9, hi(grow_d)
    launch.group v12, v8:9, v6:7
    exit
.end
S
cat >amr.yaml <<'Y'
program: {source: amr.s}
buffers: {out: {type: u32, count: 8}}
steps:
  - launch: {entry: grow, grid: [1], block: [32], args: [out, 5]}
  - check: {buffer: out, values: [32, 16, 8, 4, 2, 1, 0, 0]}
Y
sed 's/u32 1, 1, 1, 32,/u32 1, 1, 1, 64,/' amr.s >other.s # for D-2: blocks of another shape
sed -e 's/amr.s/other.s/' -e 's/block: \[32\]/block: [32]/' amr.yaml >other.yaml
run() { # usage: run LAUNCH_FILE OPTION... . Writes hashes to the file hash, and the report
    file=$1
    shift
    "$lanewise" run "$file" -q --timing=kepler-k20c "$@" --hash --timing-report r.json >hash 2>err || { cat err; return 1; }
}
soon='--timing-set kernels.latency=20 --timing-set kernels.buffer_base=50 --timing-set kernels.launch_base=100 --timing-set core.count=3'
for file in amr.yaml other.yaml nest.yaml; do
    "$lanewise" run $file -q --hash | grep hash_mem >want || fail "$file: the functional run fails"
    # Section 4.7: memory must not depend on the order of launches. A replay keeps the order.
    for order in eager lifo 'random, child_seed: 1' 'random, child_seed: 2' 'random, child_seed: 3'; do
        sed "1i machine: {child_order: $order}" $file >order.yaml
        "$lanewise" run order.yaml -q --hash --log order.log >hash || fail "$file, $order: the functional run fails"
        grep hash_mem hash | cmp - want || fail "$file, $order: memory differs from the fixed order"
        "$lanewise" run order.yaml -q --hash --replay order.log | cmp - hash || fail "$file, $order: the replay differs"
    done
    for policy in rr tb_pri smx_bind adaptive_bind; do
        for more in "" "--mechanism dtbl" "--mechanism dtbl --timing-set dtbl.kernels=true" \
            "--mechanism dtbl --timing-set dtbl.entries=1 --timing-set kernels.entries=1 --timing-set core.blocks=2 --timing-set laperm.entries=1"; do
            # shellcheck disable=SC2086
            run $file $soon --timing-set kernels.policy=$policy $more || { fail "$file, $policy $more: the run fails"; continue; }
            grep hash_mem hash | cmp - want || fail "$file, $policy $more: memory differs from the functional run"
            cp r.json fast.json
            # shellcheck disable=SC2086
            run $file $soon --timing-set kernels.policy=$policy $more --timing-reference ||
                fail "$file, $policy $more: the run of the reference model fails"
            python3 -c 'import json; a, b = json.load(open("r.json")), json.load(open("fast.json")); assert (a["cycles"], a["counts_hash"]) == (b["cycles"], b["counts_hash"])' ||
                fail "$file, $policy $more: the reference model has other counters"
        done
    done
done

gpu() { # usage: gpu COUNTER. Prints a counter of the last report.
    python3 -c 'import json, sys; print(json.load(open("r.json"))["sums"]["gpu"][sys.argv[1]])' "$1"
}
# D-9: groups launch groups of their own kernel. All 62 groups, each of one block, must join the kernel.
run amr.yaml --mechanism dtbl
[ "$(gpu dtbl_joined) $(gpu dtbl_missed) $(gpu dtbl_blocks)" = "62 0 62" ] ||
    fail "D-9: groups joined, groups missed, blocks: $(gpu dtbl_joined) $(gpu dtbl_missed) $(gpu dtbl_blocks), expected 62 0 62"
# D-2: groups with blocks of 64 threads must not join a kernel with blocks of 32, but join each other.
run other.yaml --mechanism dtbl
[ "$(gpu dtbl_groups)" = 62 ] && [ "$(gpu dtbl_missed)" -ge 2 ] ||
    fail "D-2: expected 62 groups of which at least 2 missed, found $(gpu dtbl_groups) and $(gpu dtbl_missed)"
# D-1 and D-2: a block of the kernel launches a group of two blocks of the same kernel, which has parameters of its own. With
# blocks of 32 threads the group joins the kernel, and with blocks of 64 it becomes a kernel. Both give the same memory.
cat >join.s <<'S'
.const join_d 40 8 = addr join, u32 2, 1, 1, SHAPE, 1, 1, 0, 0
.kernel join
.param ptr.global out
.param u32 number
    v_s2r v0, %tid.x
    v_setp_u32.ne p0, v0, 0
    @p0 exit
    v_mov_b64 v2:3, c[out]
    v_mov_b32 v1, c[number]
    v_s2r v4, %ctaid.x
    v_s2r v5, %nctaid.x
    v_add_u32 v6, v1, v4
    v_madwide_u32 v6:7, v6, 8, v2:3
    st.global.b32 [v6:7], v5
    st.global.b32 [v6:7+4], v1
    v_setp_u32.ne p0, v1, 0
    @p0 exit
    launch.buffer v10:11, 12
    st.global.b64 [v10:11], v2:3
    v_mov_b32 v12, 5
    st.global.b32 [v10:11+8], v12
    v_mov_b32 v8, lo(join_d)
    v_mov_b32 v9, hi(join_d)
    launch.group v12, v8:9, v10:11
    exit
.end
S
for shape in 32 64; do
    sed "s/SHAPE/$shape/" join.s >join$shape.s
    cat >join.yaml <<Y
program: {source: join$shape.s}
buffers: {out: {type: u32, count: 16}}
steps:
  - launch: {entry: join, grid: [1], block: [32], args: [out, 0]}
  - check: {buffer: out, values: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 5, 2, 5, 0, 0]}
Y
    run join.yaml --mechanism dtbl || fail "D-1, D-2: blocks of $shape: wrong memory"
    [ "$(gpu dtbl_joined) $(gpu dtbl_missed) $(gpu dtbl_blocks)" = "$([ $shape = 32 ] && echo 1 0 2 || echo 0 1 0)" ] ||
        fail "D-1, D-2: blocks of $shape: joined, missed, blocks: $(gpu dtbl_joined) $(gpu dtbl_missed) $(gpu dtbl_blocks)"
done
# TR-17: two runs have the same counters.
run amr.yaml --mechanism dtbl,laperm && cp r.json once.json && run amr.yaml --mechanism dtbl,laperm
python3 -c 'import json; a, b = json.load(open("r.json")), json.load(open("once.json")); assert (a["cycles"], a["counts_hash"]) == (b["cycles"], b["counts_hash"])' ||
    fail "TR-17: two runs differ"
# D-15: launches without latencies must not wait longer than others.
run amr.yaml --mechanism dtbl
wait=$(gpu device_wait) cycles=$(gpu cycles)
run amr.yaml --mechanism dtbl --timing-set kernels.ideal=true
[ "$(gpu device_wait)" -le "$wait" ] && [ "$(gpu cycles)" -lt "$cycles" ] && [ "$(gpu dtbl_joined) $(gpu dtbl_blocks)" = "62 62" ] ||
    fail "D-15: ideal launches wait longer, take no fewer cycles, or join no kernel"
cp r.json ideal.json
# CT-5: with launches of kernels without latencies, the run must take fewer cycles.
run amr.yaml --timing-set kernels.ideal=true && [ "$(gpu cycles)" -lt "$cycles" ] ||
    fail "CT-5: the run with ideal launches fails or takes as many cycles"

# D-7: cycles that a launch takes in the launching warp
cat >cost.s <<'S'
.const child_d 40 8 = addr child, u32 1, 1, 1, 32, 1, 1, 0, 0
.kernel child
.param ptr.global out
    exit
.end
.kernel cost
.param ptr.global out
    v_mov_b32 v4, lo(child_d)
    v_mov_b32 v5, hi(child_d)
    v_mov_b64 v2:3, c[out]
    v_s2r v0, %clock
    launch.buffer v6:7, 8
    st.global.b64 [v6:7], v2:3
    launch.group v8, v4:5, v6:7
    v_s2r v1, %clock
    v_sub_u32 v0, v1, v0
    st.global.b32 [v2:3], v0
    exit
.end
S
for lanes in 1 32; do
    for keys in "dtbl.on=false" "dtbl.on=true" "dtbl.serial=true"; do
        on=
        [ $keys = dtbl.serial=true ] && on='--timing-set dtbl.on=true'
        # shellcheck disable=SC2086
        printf 'program: {source: cost.s}\nbuffers: {out: {type: u32, count: 1}}\nsteps:\n  - launch: {entry: cost, grid: [1], block: [%s], args: [out]}\n' $lanes >cost.yaml
        # shellcheck disable=SC2086
        "$lanewise" run cost.yaml -q --timing=kepler-k20c $on --timing-set $keys --dump out=out.bin >/dev/null 2>err || { cat err; fail "cost.s: the run fails"; }
        python3 - $lanes $keys <<'P' || fail "D-7: wrong cycles with $lanes lanes, $keys"
import struct, sys
lanes, keys = int(sys.argv[1]), sys.argv[2]
got, = struct.unpack('<I', open('out.bin', 'rb').read(4))
want = 8023 + 129 * lanes
want += {'dtbl.on=false': 12187 + 1592 * lanes, 'dtbl.on=true': 0, 'dtbl.serial=true': 32 + lanes}[keys]
print(lanes, keys, got, want)
assert want <= got < want + 100
P
    done
done

# ---- the output of grids -------------------------------------------------------------------------
printf 'cycle 60000\ngrids\n' >in
"$lanewise" debug --batch -x in nest.yaml --timing=kepler-k20c --mechanism laperm,dtbl --timing-set dtbl.kernels=true >out 2>err ||
    { cat err; fail "the debug session fails"; }
for words in 'block scheduler adaptive_bind' 'launch 1, nest: entry 0 of 32; 6 of 6 blocks placed' 'a block group of the kernel of launch 1; ' \
    'launched by block 0 of launch 1, warp 0, lane 0, on core 0, ' 'priority 2, near core' '1096 bytes of registers, 20480 bytes of the table' \
    'the next decision is for core'; do
    grep -qF "$words" out || { cat out; fail "grids does not print: $words"; }
done
[ $failures = 0 ]
