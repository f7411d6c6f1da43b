#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Floating-point instructions in native code, with the modifiers ftz and sat and without: random operands, denormals, infinities and
# NaNs, uniform operands, and guards; in whole warps, in warps of which some lanes execute, and at each width of a warp. Memory, states
# and counts must be equal to those of the interpreter.
. "${srcdir:-.}/tests/native/engines_lib.sh"

# v10, v11 and v12 are the operands, and v5 depends on all results. v10:11 and v12:13 are operands of 64 bits.
awk 'function mix(reg) { printf "    v_mul_u32 v5, v5, 0x01000193\n    v_xor_b32 v5, v5, %s\n", reg }
function one(name, mods, guard) { # an instruction of one operand: a register, -|register|, a uniform operand, and a uniform register
    printf "    %sv_%s_f32%s v20, v10\n", guard, name, mods; mix("v20")
    printf "    v_%s_f32%s v20, -|v11|\n", name, mods; mix("v20")
    printf "    v_%s_f32%s v21, c[value]\n", name, mods; mix("v21")
    printf "    v_%s_f32%s v22, v14\n", name, mods; mix("v22")
    printf "    %sv_%s_f32%s v22, v14\n", guard, name, mods; mix("v22")
}
BEGIN {
    count = split(" |.ftz|.sat|.ftz.sat", mods, "|")
    sub(/ /, "", mods[1])
    for (m = 1; m <= count; m++) {
        printf ".kernel float%d\n.param ptr.global table\n.param ptr.global out\n.param u32 least\n.param f32 value\n", m
        print "    s_mov_b64 s0:1, c[table]\n    s_mov_b64 s2:3, c[out]\n    v_s2r v0, %tid.x\n    v_mov_b32 v5, v0\n    v_mov_b32 v20, v0"
        print "    v_mov_b32 v24, v0\n    v_mov_b32 v25, v0\n    v_mov_b32 v22, 7\n    v_mov_b32 v14, c[value]\n    v_shl_b32 v1, v0, 2"
        print "    v_setp_u32.lt p0, v0, c[least]\n    @p0 exit" # the other lanes execute masked code
        print "    v_mov_b32 v2, 0\nmore" m ":\n    v_lea_u32 v6:7, v1, 0, s0:1"
        print "    ld.global.b32 v10, [v6:7]\n    ld.global.b32 v11, [v6:7+4096]\n    ld.global.b32 v12, [v6:7+8192]\n    ld.global.b32 v13, [v6:7+12288]"
        print "    v_setp_u32.gt p1, v13, v11"
        split("ex2 lg2 sin cos tanh rsq rcp sqrt", names, " ")
        for (n = 1; n <= 8; n++)
            one(names[n], mods[m], n % 2 ? "@p1 " : "@!p1 ")
        split("add sub mul div fma min max", names, " ")
        for (n = 1; n <= 7; n++) {
            plain = mods[m]
            if (n > 5) # min and max do not have sat
                sub(/\.sat/, "", plain)
            printf "    v_%s_f32%s v20, v10, v11%s\n", names[n], plain, n == 5 ? ", v12" : ""; mix("v20")
            printf "    v_%s_f32%s v20, v10, c[value]%s\n", names[n], plain, n == 5 ? ", v11" : ""; mix("v20")
            printf "    @p1 v_%s_f32%s v20, -v10, v12%s\n", names[n], plain, n == 5 ? ", -v11" : ""; mix("v20")
            printf "    v_%s_f64%s v24:25, v10:11, v12:13%s\n", names[n], plain, n == 5 ? ", v12:13" : ""; mix("v24"); mix("v25")
        }
        if (mods[m] !~ /sat/)
            for (bits = 32; bits <= 64; bits += 32) {
                printf "    v_setp_f%d.lt%s p2, p3, %s\n", bits, mods[m], bits == 32 ? "v10, v12" : "v10:11, v12:13"
                print "    @p2 v_xor_b32 v5, v5, 0x55\n    @p3 v_xor_b32 v5, v5, 0x5500"
                printf "    v_setp_f%d.neu%s p2, p3, %s\n", bits, mods[m], bits == 32 ? "v11, v12" : "v10:11, v12:13"
                print "    @p2 v_mul_u32 v5, v5, 0x55\n    @p3 v_add_u32 v5, v5, 0x5500"
            }
        print "    v_add_u32 v1, v1, c[step]\n    v_add_u32 v2, v2, c[step]\n    v_setp_u32.lt p0, v2, 4096\n    @p0 bra more" m
        print "    v_shl_b32 v1, v0, 2\n    v_lea_u32 v6:7, v1, 0, s2:3\n    st.global.b32 [v6:7], v5\n    exit\n.end"
    }
}' | sed 's/^\.param f32 value/.param f32 value\n.param u32 step/' >float.s
awk 'BEGIN {
    srand(5)
    for (i = 0; i < 4096; i++) {
        high = int(rand() * 65536); low = int(rand() * 65536); kind = int(rand() * 8)
        if (kind == 0) high = int(high / 32768) * 32768 + high % 192       # denormals and small numbers
        else if (kind == 1) high = int(high / 32768) * 32768 + 32640 + high % 128 # infinities and NaNs
        else if (kind == 2) { high = int(high / 32768) * 32768; low = low % 2 }   # zeros and the least denormals
        else if (kind < 6) high = int(high / 32768) * 32768 + 15360 + high % 2048 # 2^-8 to 2^8
        if (kind == 1 && low % 2) { low = 0; high = int(high / 128) * 128 }
        printf "0x%04x%04x%s", high, low, i < 4095 ? ", " : ""
    }
}' >table
floats() { # usage: floats NAME BLOCK LEAST [OPTION...]. Expects that both engines agree
    name=$1
    {
        echo "program: {source: float.s}"
        echo "buffers:"
        echo "  table: {type: u32, init: [$(cat table)]}"
        echo "  out: {type: u32, count: 64}"
        echo "steps:"
        for m in 1 2 3 4; do
            for value in 0.75 1e-41 nan; do
                echo "  - launch: {entry: float$m, grid: [1], block: [$2], args: [table, out, $3, $value, $(($2 * 4))]}"
            done
        done
    } >float.yaml
    shift 3
    agrees float.yaml "$@" || { echo "FAIL: $name"; bad=1; }
    grep -q '^status 0' native || { echo "FAIL: $name: the kernels do not run to their end"; cat native; bad=1; }
}
"$lanewise" run --engine native -q float.s 2>&1 | grep -q 'install the Debian package libllvm19' && exit 77
floats "whole warps" 32 0
all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' native.json)
executed=$(sed -n 's/^native code: .*; \([0-9]*\) warp instructions .*/\1/p' native.err)
[ "${executed:-0}" -ge $((all * 95 / 100)) ] || {
    echo "FAIL: native code executed ${executed:-no} of $all warp instructions"
    bad=1
}
floats "some lanes" 32 5
floats "warps of 4" 4 0 --warp 4
floats "warps of 8, some lanes" 8 3 --warp 8
floats "warps of 64" 64 0 --warp 64
exit $bad
