#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reductions in memory in native code: for each integer operation and type, and for global and shared memory, a random kernel reduces
# into elements of many kinds: equal and consecutive ones, with a stride, and scattered with several lanes at the same address, with and
# without a guard. All lanes of a warp or only some execute the kernel. Memory, states and counts must be equal to those of the
# interpreter, also with several threads of the host. If the address of one lane is invalid, the fault must be the same. LW_SEED
# selects other kernels; it may be random.
. "${srcdir:-.}/tests/native/engines_lib.sh"
take_seed

# v13 is the number of the lane and v5 a value that depends on the thread and on what the lane has loaded from the table.
awk -v seed="$seed" "$random_functions"'
BEGIN {
    srand(seed)
    operations = "add.u32 add.s32 add.u64 min.u32 min.s32 min.u64 min.s64 max.u32 max.s32 max.u64 max.s64 and.b32 and.b64 or.b32 or.b64 xor.b32 xor.b64"
    count = split(operations, operation)
    split("global shared", spaces)
    for (s = 1; s <= 2; s++) for (z = 1; z <= count; z++) {
        space = spaces[s]
        bytes = operation[z] ~ /64/ ? 8 : 4
        name = operation[z]
        sub(/\./, "_", name)
        printf ".kernel %s_%s\n.param ptr.global data\n.param ptr.global table\n.param u32 least\n.param u32 bad\n", space, name
        if (space == "shared")
            print ".shared 8192"
        print "    s_mov_b64 s0:1, c[data]\n    s_mov_b64 s2:3, c[table]\n    s_s2r s6, %ctaid.x\n    v_s2r v0, %tid.x\n    v_s2r v1, %tid.y"
        print "    v_s2r v13, %laneid\n    s_s2r s7, %ntid.x\n    v_mad_u32 v15, v1, s7, v0\n    v_mad_u32 v5, s6, 977, v15\n    v_shl_b32 v12, v13, 2"
        print "    v_mul_u32 v5, v5, 0x9e3779b1\n    v_setp_u32.lt p0, v13, c[least]\n    @p0 exit"
        for (round = 0; round < 8; round++) {
            kind = random(6)
            if (kind < 2)
                printf "    ld.global.b32 v2, [s2:3+v12+%d]\n", 256 * random(6)
            else if (kind == 2)
                printf "    v_mov_b32 v2, %d\n", random(60)
            else if (kind == 3 && round != 5) # the divided lanes execute the red one part after the other
                printf "    ld.global.b32 v2, [s2:3+v12+%d]\n    v_and_b32 v3, v2, 1\n    v_setp_u32.eq p1, v3, 0\n    bssy b0, .Lend%d_%d_%d\n    @p1 bra .Lelse%d_%d_%d, b0\n", \
                    256 * random(6), s, z, round, s, z, round
            else
                printf "    v_mul_u32 v2, v0, %d\n    v_mul_u32 v3, v1, %d\n    v_add_u32 v2, v2, v3\n", random(5), random(20)
            if (round == 5)
                print "    v_setp_u32.eq p1, v13, c[bad]\n    @p1 v_mov_b32 v2, 0x4000000"
            print "    v_mul_u32 v2, v2, " bytes
            at = address(space, bytes)
            guards = guard(round == 5)
            printf "    v_mad_u32 v16, v5, %d, v13\n    v_mad_u32 v17, v5, %d, v2\n", 3 + round, 5 + 2 * round
            if (random(4) == 0)
                printf "    v_mov_b64 v16:17, %s\n", random(2) ? "0" : "-1" # often changes nothing
            printf "    %sred.%s.%s %s, %s\n", guards, space, operation[z], at, bytes == 8 ? "v16:17" : "v16"
            if (kind == 3 && round != 5)
                printf "    v_add_u32 v5, v5, 99\n.Lelse%d_%d_%d:\n    v_xor_b32 v5, v5, v2\n.Lend%d_%d_%d:\n    bsync b0\n", s, z, round, s, z, round
            print "    v_mad_u32 v5, v5, 0x01000193, v2"
        }
        if (space == "shared") # the contents of shared memory
            printf "    bar.sync 0\n    s_mul_u32 s7, s6, 4096\n    v_mov_b32 v3, 0\nmore_%s:\n    ld.shared.b32 v14, [v3]\n    v_mul_u32 v5, v5, 0x01000193\n    v_xor_b32 v5, v5, v14\n    v_add_u32 v3, v3, 4\n    v_setp_u32.lt p0, v3, 8192\n    @p0 bra more_%s\n    v_mad_u32 v15, v15, 4, s7\n    st.global.b32 [s0:1+v15], v5\n", name, name
        print "    exit\n.end"
    }
}' >reduce.s
kernels=$(sed -n 's/^\.kernel //p' reduce.s)
[ "$(echo "$kernels" | wc -l)" -eq 34 ] || { echo "FAIL: the number of kernels"; exit 1; }
table=$(awk 'BEGIN {
    srand(3)
    for (row = 0; row < 6; row++)
        for (lane = 0; lane < 64; lane++)
            printf "%d%s", row == 0 ? lane + 1 : row == 1 ? 63 - lane : row == 2 ? int(lane / 2) : rand() * (row == 4 ? 200 : 40), row * 64 + lane < 383 ? ", " : ""
}')

launch() { # usage: launch BLOCK LEAST BAD KERNELS. Writes reduce.yaml
    {
        echo "program: {source: reduce.s}"
        echo "buffers:"
        echo "  data: {type: u32, count: 8192, init: {ramp: {start: 1, step: 7919}}}"
        echo "  table: {type: u32, init: [$table]}"
        echo "steps:"
        for kernel in $4; do
            echo "  - launch: {entry: $kernel, grid: [8], block: [$1], args: [data, table, $2, $3]}"
        done
    } >reduce.yaml
}
reductions() { # usage: reductions NAME BLOCK LEAST BAD KERNELS [OPTION...]. Expects that both engines agree
    name=$1
    launch "$2" "$3" "$4" "$5"
    shift 5
    agrees reduce.yaml "$@" || { echo "FAIL: $name"; bad=1; }
}
"$lanewise" run --engine native -q reduce.s 2>&1 | grep -q 'install the Debian package libllvm19' && exit 77
reductions "whole warps" 128 0 999 "$kernels"
grep -q '^status 0' native || { echo "FAIL: the kernels do not run to their end"; cat native; bad=1; }
executes 97 || bad=1
reductions "some lanes" 64 5 999 "$kernels"
n=0
for kernel in $kernels; do # each kernel with another width and shape of the block, or with a fault
    n=$((n + 1))
    case $((n % 7)) in
        0) reductions "$kernel, warps of 8, two rows" "4, 8" $((n % 4)) 999 $kernel --warp 8 ;;
        1) reductions "$kernel, warps of 16" 64 3 999 $kernel --warp 16 ;;
        2) reductions "$kernel, four rows" "8, 8" 0 999 $kernel ;;
        3) reductions "$kernel, a part of a warp" 50 $((n % 2 * 7)) 999 $kernel ;;
        4) reductions "$kernel, warps of 64" "32, 4" $((n % 2 * 20)) 999 $kernel --warp 64 ;;
        *) reductions "$kernel, a fault" 32 $((n % 2)) 17 $kernel
            grep -q '^status 3' native || { echo "FAIL: $kernel: the run does not fault"; cat native; bad=1; } ;;
    esac
done
# Host threads reduce into the same elements at the same time.
launch 128 0 999 "$(echo "$kernels" | grep global)"
for threads in 1 3; do
    "$lanewise" run -q --engine native --threads $threads --hash reduce.yaml | grep -i hash_mem >threads$threads
done
[ -s threads1 ] && cmp threads1 threads3 || { echo "FAIL: several host threads give other results"; bad=1; }
# A loop whose reductions change nothing is a hang.
for engine in interpreter native; do
    printf '.kernel same\n.param ptr.global data\n    s_mov_b64 s0:1, c[data]\n    v_mov_b32 v0, 0\nagain:\n    red.global.or.b32 [s0:1+v0], v0\n    bra again\n.end\n' >same.s
    printf 'program: {source: same.s}\nbuffers:\n  data: {type: u32, count: 1}\nsteps:\n  - launch: {entry: same, grid: [1], block: [32], args: [data]}\n' >same.yaml
    timeout 60 "$lanewise" run -q --engine $engine --hang-limit 100000 same.yaml >$engine.out 2>&1
    echo "status $?" >>$engine.out
done
grep -q 'hang' native.out && cmp interpreter.out native.out || { echo "FAIL: the hang is not found"; cat native.out; bad=1; }
exit $bad
