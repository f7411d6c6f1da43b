#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Loads and stores in native code: for each size of an access, and for global, shared and local memory, a random kernel stores to and
# loads from addresses of many kinds: consecutive, equal, with a stride, reversed, and scattered with several lanes at the same address,
# with and without a guard. A block is one warp, of which all lanes or only some execute the kernel. Memory, states and counts must be
# equal to those of the interpreter, in which the highest lane stores last. If the address of one lane in the middle is invalid, the
# fault must be the same. LW_SEED selects other kernels; it may be random.
. "${srcdir:-.}/tests/native/engines_lib.sh"
take_seed

# v0 and v1 are the lane's column and row, v13 its number, and v5 a value that depends on all that the lane has loaded. A block has
# 16 KiB of global memory, from s0:1 + v4 on. The table has rows of 64 words: seven rows of indices of elements, and one of the numbers
# of the lanes.
awk -v seed="$seed" "$random_functions"'
function registers(r, words) { return words == 1 ? "v" r : "v" r ":" r + words - 1 }
function element(   kind) { # sets v2 to the index of the element of the lane
    kind = random(9)
    if (kind < 3) {
        printf "    ld.global.b32 v2, [s2:3+v12+%d]\n", 256 * random(7)
    } else if (kind < 7) {
        printf "    v_mul_u32 v2, v0, %d\n", random(5)
        if (random(4) == 0)
            print "    v_mul_u32 v2, v2, -1\n    v_add_u32 v2, v2, 256"
        if (random(2))
            printf "    v_mul_u32 v3, v1, %d\n    v_add_u32 v2, v2, v3\n", random(20)
    } else {
        print kind == 7 ? "    v_mov_b32 v2, " random(60) : "    v_mov_b32 v2, v13"
    }
}
BEGIN {
    srand(seed)
    split("global shared local", spaces)
    split("u8 s8 u16 s16 b32 b64 v2.b32 v4.b32", sizes)
    split("1 1 2 2 4 8 8 16", widths)
    split("1 1 1 1 1 2 2 4", words)
    for (s = 1; s <= 3; s++) for (z = 1; z <= 8; z++) {
        space = spaces[s]
        bytes = widths[z]
        name = sizes[z]
        sub(/\./, "", name)
        printf ".kernel %s_%s\n.param ptr.global data\n.param ptr.global table\n.param ptr.global out\n.param u32 least\n.param u32 bad\n", space, name
        if (space != "global")
            printf ".%s 16384\n", space
        print "    s_mov_b64 s0:1, c[data]\n    s_mov_b64 s2:3, c[table]\n    s_mov_b64 s4:5, c[out]\n    s_s2r s6, %ctaid.x"
        print "    v_s2r v0, %tid.x\n    v_s2r v1, %tid.y\n    v_s2r v13, %laneid\n    v_shl_b32 v12, v13, 2"
        print "    ld.global.b32 v13, [s2:3+v12+1792]\n    s_mul_u32 s7, s6, 16384\n    v_mov_b32 v4, s7"
        print "    v_add_u32 v5, v13, s6\n    v_mul_u32 v5, v5, 0x9e3779b1"
        print "    v_setp_u32.lt p0, v13, c[least]\n    @p0 exit" # the other lanes execute masked code
        for (round = 0; round < 14; round++) {
            element()
            if (round == 9)
                print "    v_setp_u32.eq p1, v13, c[bad]\n    @p1 v_mov_b32 v2, 0x4000000"
            print "    v_mul_u32 v2, v2, " bytes
            if (space == "global")
                print "    v_add_u32 v2, v2, v4"
            at = address(space, bytes)
            guards = guard(round == 9)
            if (random(2)) {
                for (k = 0; k < words[z]; k++)
                    printf "    v_mad_u32 v%d, v5, %d, v13\n", 16 + k, 3 + 2 * k + round
                printf "    %sst.%s.%s %s, %s\n", guards, space, sizes[z], at, registers(16, words[z])
            } else {
                printf "    %sld.%s.%s %s, %s\n", guards, space, sizes[z], registers(20, words[z]), at
                for (k = 0; k < words[z]; k++)
                    printf "    v_mul_u32 v5, v5, 0x01000193\n    v_xor_b32 v5, v5, v%d\n", 20 + k
            }
        }
        print "    v_mov_b32 v3, 0\nmore_" space name ":" # the contents of shared and local memory
        if (space != "global")
            printf "    ld.%s.b32 v14, [v3]\n    v_mul_u32 v5, v5, 0x01000193\n    v_xor_b32 v5, v5, v14\n", space
        print "    v_add_u32 v3, v3, 4\n    v_setp_u32.lt p0, v3, 16384\n    @p0 bra more_" space name
        print "    s_mul_u32 s7, s6, 256\n    v_add_u32 v12, v12, s7\n    st.global.b32 [s4:5+v12], v5\n    exit\n.end"
    }
}' >access.s
kernels=$(sed -n 's/^\.kernel //p' access.s)
[ "$(echo "$kernels" | wc -l)" -eq 24 ] || { echo "FAIL: the number of kernels"; exit 1; }
table=$(awk 'BEGIN {
    srand(3)
    for (row = 0; row < 8; row++)
        for (lane = 0; lane < 64; lane++) {
            index_of = row == 0 ? lane + 1 : row == 1 ? 63 - lane : row == 2 ? int(lane / 2) : row == 3 ? lane % 4 : row == 7 ? lane : -1
            if (index_of < 0)
                index_of = int(rand() * (row == 4 ? 200 : 40))
            printf "%d%s", index_of, row * 64 + lane < 511 ? ", " : ""
        }
}')

accesses() { # usage: accesses NAME BLOCK LEAST BAD KERNELS [OPTION...]. Expects that both engines agree
    name=$1
    {
        echo "program: {source: access.s}"
        echo "buffers:"
        echo "  data: {type: u32, count: 16384$init}"
        echo "  table: {type: u32, init: [$table]}"
        echo "  out: {type: u32, count: 256}"
        echo "steps:"
        for kernel in $5; do
            echo "  - launch: {entry: $kernel, grid: [4], block: [$2], args: [data, table, out, $3, $4]}"
        done
    } >access.yaml
    shift 5
    agrees access.yaml "$@" || { echo "FAIL: $name"; bad=1; }
}
"$lanewise" run --engine native -q access.s 2>&1 | grep -q 'install the Debian package libllvm19' && exit 77
init= # no page of `data` is marked as written before the launches
accesses "whole warps" 32 0 999 "$kernels"
grep -q '^status 0' native || { echo "FAIL: the kernels do not run to their end"; cat native; bad=1; }
executes 99 || bad=1
init=', init: {ramp: {start: 1, step: 7919}}'
accesses "some lanes" 32 5 999 "$kernels"
n=0
for kernel in $kernels; do # each kernel with other widths and shapes of the block
    n=$((n + 1))
    case $((n % 6)) in
        0) accesses "$kernel, warps of 4" 4 $((n % 2)) 999 $kernel --warp 4 ;;
        1) accesses "$kernel, warps of 8, two rows" "4, 2" $((n % 4)) 999 $kernel --warp 8 ;;
        2) accesses "$kernel, warps of 16" 16 3 999 $kernel --warp 16 ;;
        3) accesses "$kernel, four rows" "8, 4" 0 999 $kernel ;;
        4) accesses "$kernel, two rows, some lanes" "16, 2" 7 999 $kernel ;;
        5) accesses "$kernel, warps of 64" "32, 2" $((n % 2 * 20)) 999 $kernel --warp 64 ;;
    esac
    accesses "$kernel, a fault" 32 $((n % 2)) 17 $kernel
    grep -q '^status 3' native || { echo "FAIL: $kernel: the run does not fault"; cat native; bad=1; }
done

# The depth of a stack in local memory differs between lanes that meet after a divergent branch. Native code continues after it.
cat >walk.cl <<'END'
kernel void walk(global uint *out)
{
    uint stack[16], depth = 0, sum = 0, x = get_global_id(0) * 2654435761u + 1;

    for (int k = 0; k < 16; k++)
        stack[k] = 0;
    for (int k = 0; k < 200; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        if (x & 1) {
            stack[depth] = x ^ sum;
            sum += stack[(x >> 4) % (depth + 1)];
            sum = (sum ^ sum >> 7) * 0x85ebca6bu;
            depth = (depth + 1) & 15;
        } else {
            depth = (depth - 1) & 15;
            sum = (sum + depth) * 0x9e3779b1u;
            sum = (sum ^ sum << 3) + stack[depth];
        }
    }
    out[get_global_id(0)] = sum;
}
END
cat >walk.yaml <<'END'
program: {source: walk.cl}
buffers:
  out: {type: u32, count: 2048}
steps:
  - launch: {entry: walk, grid: [16], block: [128], args: [out]}
END
for engine in interpreter native; do
    "$lanewise" run --threads 1 --hash -q -v --engine $engine --stats $engine.json walk.yaml >$engine 2>$engine.err </dev/null || bad=1
done
executed=$(sed -n 's/^native code: .*; \([0-9]*\) warp instructions .*/\1/p' native.err)
cmp interpreter native && [ "$(counts interpreter.json)" = "$(counts native.json)" ] && [ "${executed:-0}" -ge 100000 ] || {
    echo "FAIL: a stack in local memory: native code executed ${executed:-no} warp instructions"
    bad=1
}
exit $bad
