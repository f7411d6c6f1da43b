#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that a reverse search, which inspects only instructions that may touch a watched location, finds the same hits as a
# search that inspects all instructions. A catchpoint whose condition is never true forces the search to inspect all instructions.
# Also tests reverse steps of a lane that waited while other lanes of its warp spun. In that test, an edited pc forces the
# inspection of all instructions.
set -u
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
failures=0
trap 'rm -rf "$work"' EXIT
cat >"$work/sum.cl" <<'END'
__kernel void k(__global uint *a, __global uint *b)
{
    uint i = get_global_id(0), s = 0;
    __local uint t[64];

    t[get_local_id(0)] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 1500 + i % 3; j++)
        s += b[(i + j) % 128] ^ j;
    a[i] = s + t[63 - get_local_id(0)];
    atomic_add(&a[128], 1);
}
END
cat >"$work/sum.yaml" <<'END'
program: {source: sum.cl}
buffers: {a: {type: u32, count: 129}, b: {type: u32, count: 128, init: {random: 1}}}
steps:
  - launch: {entry: k, grid: [2], block: [64], args: [a, b]}
  - fill: {buffer: a, value: 7}
  - launch: {entry: k, grid: [2], block: [64], args: [a, b]}
END
# usage: found FILE POINT [ALL]. Sets stoppoint POINT and writes the positions after three reverse-continues to FILE. If command
# ALL is given, it makes the search inspect all instructions.
found() {
    printf '%s\n' continue 'goto 50000' "$2" 'goto end' ${3:+"$3"} reverse-continue 'history' \
        'print pc' reverse-continue 'history' 'print pc' reverse-continue 'history' 'print pc' \
        >"$work/commands"
    (cd "$work" && timeout 60 "$lanewise" debug sum.yaml -x commands) 2>&1 |
        sed -n -e '/^this is the start of history/p' -e '/^watchpoint\|^breakpoint/p' -e '/^pc = /p' \
            -e '/ instruction /p' >"$work/$1"
}
while read -r point; do
    found few "$point"
    found all "$point" 'catch diverge if 0'
    if ! [ -s "$work/few" ] || ! cmp -s "$work/few" "$work/all"; then
        echo "FAIL: $point: the searches have no hit or different hits"
        diff "$work/few" "$work/all" || cat "$work/few"
        failures=$((failures + 1))
    else
        echo "ok: $point: $(grep -c '^watchpoint' "$work/few") hits"
    fi
done <<'END'
watch u32[a + 4*5]
watch u32[a + 512]
awatch u32[a + 512]
rwatch u32[b + 12]
awatch u32[0x10000000000 + 8]
watch v4
rwatch v4
watch p0
END
# The stoppoint must be hit: if neither kind of search found a hit, the comparison above would also succeed.
found few 'watch u32[a + 512]'
[ "$(grep -c '^watchpoint 1: ' "$work/few")" = 3 ] ||
    { echo "FAIL: expected three hits of watch u32[a + 512]"; cat "$work/few"; failures=$((failures + 1)); }
# usage: waits COUNT ROUNDS. Writes a kernel with a loop of ROUNDS iterations. In each, lanes 1, 5, ... wait while the other
# lanes execute an inner loop COUNT times.
waits() {
    cat >"$work/waits.s" <<END
.kernel waits
    v_s2r v3, %tid.x
    v_mov_b32 v7, 0
    v_and_b32 v8, v3, 3
    v_setp_u32.eq p0, _, v8, 1
again:
    v_mov_b32 v6, 0
    bssy b0, joined
    @p0 bra joined, b0
loop:
    v_add_u32 v6, v6, 1
    v_setp_u32.lt p1, _, v6, $1
    @p1 bra loop
joined:
    bsync b0
    v_add_u32 v7, v7, 1
    v_setp_u32.lt p2, _, v7, $2
    @p2 bra again
    exit
.end
END
    printf '%s\n' 'program: {source: waits.s}' 'steps: [{launch: {entry: waits, grid: [2], block: [32]}}]' >"$work/waits.yaml"
}
# usage: back FILE STEPS [FIRST]. Makes STEPS reverse steps of lane 5, from the breakpoint at the end of the kernel, and writes
# the position after each to FILE. FIRST is the first command of the session.
back() {
    { echo "${3:-where}" && printf '%s\n' 'break 19' continue 'lane 5'; i=0
      while [ $i -lt "$2" ]; do printf '%s\n' reverse-stepi 'history' 'print pc'; i=$((i + 1)); done; } >"$work/commands"
    (cd "$work" && timeout 60 "$lanewise" debug waits.yaml -x commands) 2>&1 |
        sed -n -e "/^pc = /p" -e "/^searching back/p" -e "/^now at instruction /p" >"$work/$1"
}
waits 30000 3
back few 24
back all 24 'set pc = pc'
if cmp -s "$work/few" "$work/all" && grep -q '^now at instruction 180023;' "$work/few" && grep -q '^now at instruction 7;' "$work/few"; then
    echo "ok: a lane that waited: $(grep -c '^pc' "$work/few") steps back"
else
    echo "FAIL: reverse steps of a lane that waited: the positions differ, or instruction 180023 or 7 is missing"
    diff "$work/few" "$work/all" || cat "$work/few"
    failures=$((failures + 1))
fi
# The other lanes execute so many instructions that a search which inspects all of them would exceed the time limit.
waits 6000000 1
back few 5
if [ "$(grep -c '^pc' "$work/few")" != 5 ] || grep -q '^searching back' "$work/few"; then
    echo "FAIL: a reverse step inspects the instructions of the lanes for which the lane waited"
    cat "$work/few"
    failures=$((failures + 1))
fi
exit $((failures > 0))
