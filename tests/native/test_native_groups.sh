#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Loads by the same registers with different constants, of which native code checks several at once. The loads are in any order, their
# bytes overlap, touch or have gaps, and some change their own address register. The block's addresses begin before, at and after the
# first element of a buffer, and end before, at and after its last one: results, counts and faults must be those of the interpreter.
# Half of the kernels store once, at their end, so that several warps execute them together; of these, some lanes or warps may exit.
# LW_SEED selects other kernels; it may be random.
. "${srcdir:-.}/tests/native/engines_lib.sh"
take_seed
awk -v seed="$seed" 'function random(n) { return int(rand() * n) }
function at(   disp) { # an address near the element of the lane
    disp = bytes * (random(9) - 4) + (random(12) == 0 ? 64 * (random(3) - 1) : 0)
    return (pair ? "[v6:7" : "[s0:1+v2" (bytes > 1 ? ".s*" bytes : ".s*1")) (disp < 0 ? disp : "+" disp) "]"
}
function address() {
    if (pair)
        printf "    v_mul_u32 v3, v2, %d\n    v_lea_s32 v6:7, v3, 0, s0:1\n", bytes
}
BEGIN {
    srand(seed)
    split("u8 s16 b32 b64 v2.b32", sizes)
    split("1 2 4 8 8", widths)
    split("1 1 1 2 2", words)
    for (z = 1; z <= 5; z++) for (pair = 0; pair < 2; pair++) {
        bytes = widths[z]
        printf ".kernel loads_%d_%d\n.param ptr.global data\n.param ptr.global out\n.param u32 first\n.param u32 pitch\n.param u32 last\n", z, pair
        print "    s_mov_b64 s0:1, c[data]\n    s_mov_b64 s4:5, c[out]\n    v_s2r v0, %tid.x\n    v_s2r v1, %tid.y"
        print "    v_mad_u32 v2, v1, c[pitch], v0\n    v_mov_b32 v12, v2\n    v_add_u32 v2, v2, c[first]\n    v_mov_b32 v5, v0"
        if ((z + pair) % 2)
            print "    v_setp_u32.gt p0, v12, c[last]\n    @p0 exit"
        address()
        for (round = 0; round < 24; round++) {
            printf "    ld.global.%s %s, %s\n", sizes[z], words[z] == 1 ? "v20" : "v20:21", at()
            for (k = 0; k < words[z]; k++)
                printf "    v_mul_u32 v5, v5, 0x01000193\n    v_xor_b32 v5, v5, v%d\n", 20 + k
            what = random(12)
            if (what == 0) {
                printf "    v_add_u32 v2, v2, %d\n", random(3) - 1
                address()
            } else if (what == 1 && (z + pair) % 2 == 0) {
                print "    v_mul_u32 v13, v12, 4\n    v_add_u32 v14, v5, v0\n    st.global.b32 [s4:5+v13], v14"
            } else if (what == 2 && bytes == 4 && !pair) { # the address register gets a new value from memory
                printf "    v_mov_b32 v15, v2\n    ld.global.b32 v2, %s\n    v_and_b32 v2, v2, 1\n    v_add_u32 v2, v2, v15\n", at()
            }
        }
        print "    v_mul_u32 v13, v12, 4\n    st.global.b32 [s4:5+v13], v5\n    exit\n.end"
    }
}' >loads.s
"$lanewise" run --engine native -q loads.s 2>&1 | grep -q 'install the Debian package libllvm19' && exit 77
runs=0
for kernel in $(sed -n 's/^\.kernel //p' loads.s); do
    case $kernel in loads_1_*) type=u8 ;; loads_2_*) type=u16 ;; loads_3_*) type=u32 ;; *) type=u64 ;; esac
    for first in 90 0 3 7 62 250 350 447; do # the buffer has 512 elements
        case $((runs % 7)) in
            0) block='16, 2' pitch=16 ;; 1) block=32 pitch=0 ;; 2) block='8, 8' pitch=40 ;; 3) block=128 pitch=0 ;;
            4) block='16, 12' pitch=21 ;; 5) block='32, 6' pitch=32 ;; 6) block='64, 3' pitch=70 ;;
        esac
        warp=$((8 << runs % 4)) # 8 to 64
        last=$((runs % 5 * 60 + runs % 3 * 17 + 5))
        cat >loads.yaml <<END
program: {source: loads.s}
buffers:
  data: {type: $type, count: 512, init: {ramp: {start: 3, step: 77}}}
  out: {type: u32, count: 512}
steps:
  - launch: {entry: $kernel, grid: 2, block: [$block], args: [data, out, $first, $pitch, $last]}
END
        # if several warps run until one of them faults, other warps may have executed more instructions in native code
        agrees loads.yaml --warp $warp >differences || { grep -q '^status 3' interpreter && grep -q '^status 3' native && [ "$block" != 32 ]; } ||
            { echo "FAIL: $kernel, block $block, warps of $warp, first element $first, last $last"; cat differences; bad=1; }
        [ $first != 90 ] || grep -q '^status 0' native || { echo "FAIL: $kernel does not run"; cat native; bad=1; }
        grep -q '^status 3' native && faults=$((${faults:-0} + 1))
        runs=$((runs + 1))
    done
done
[ "${faults:-0}" -ge 10 ] || { echo "FAIL: only ${faults:-0} of $runs runs have a fault"; bad=1; }
exit $bad
