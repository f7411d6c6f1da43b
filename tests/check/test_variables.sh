#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests variable-bounds for accesses that need no check of their own: an access that the check of another access covers, an
# access to the only variable, and an access that needed no check in an earlier launch.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >v.ptx <<'END'
.version 7.0
.target sm_75
.address_size 64
.shared .align 4 .b8 s[128];
.shared .align 4 .b8 t[256];
.extern .shared .align 4 .b8 d[];
// In iteration k lane l loads three words of s from index l / 4 + k on. The third load leaves s at k = 23, the second at k = 24.
.entry follow(.param .u64 p, .param .u32 n) {
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; shl.b32 %r3,%r2,2;
mov.u32 %r4,t; add.u32 %r4,%r4,%r3; st.shared.u32 [%r4],%r2;
shr.u32 %r5,%r2,2; shl.b32 %r5,%r5,2; mov.u32 %r6,s; add.u32 %r6,%r6,%r5; mov.u32 %r7,0;
LOOP:
ld.shared.u32 %r8,[%r6];
ld.shared.u32 %r9,[%r6+4];
ld.shared.u32 %r10,[%r6+8];
add.u32 %r11,%r8,%r9; add.u32 %r11,%r11,%r10; st.global.u32 [%rd1],%r11;
add.u32 %r6,%r6,4; add.u32 %r7,%r7,1; setp.lt.u32 %p1,%r7,%r1; @%p1 bra LOOP;
ret; }
// Some lanes jump to the second load, with another address.
.entry enter(.param .u64 p, .param .u32 n) {
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; shl.b32 %r3,%r2,2;
mov.u32 %r4,t; add.u32 %r4,%r4,%r3; st.shared.u32 [%r4],%r2;
mov.u32 %r6,s; add.u32 %r7,%r6,%r1; setp.gt.u32 %p1,%r2,15; selp.b32 %r6,%r7,%r6,%p1; @%p1 bra IN;
ld.shared.u32 %r8,[%r6];
IN:
ld.shared.u32 %r9,[%r6+4];
st.global.u32 [%rd1],%r9;
ret; }
.entry arguments(.param .u64 p, .param .u64 .ptr .shared .align 4 q, .param .u64 .ptr .shared .align 4 r) {
.reg .b32 %r<20>; .reg .b64 %rd<20>;
ld.param.u64 %rd1,[p]; ld.param.u64 %rd2,[q]; mov.u32 %r2,%tid.x; mul.wide.u32 %rd3,%r2,4; add.s64 %rd4,%rd2,%rd3;
st.shared.u32 [%rd4],%r2;
ret; }
END
cat >w.ptx <<'END'
.version 7.0
.target sm_75
.address_size 64
.shared .align 4 .b8 s[128];
.extern .shared .align 4 .b8 d[];
.entry whole(.param .u64 p) {
.reg .b32 %r<20>; .reg .b64 %rd<20>;
mov.u32 %r2,%tid.x; shl.b32 %r3,%r2,2; mov.u32 %r4,s; add.u32 %r4,%r4,%r3;
st.shared.u32 [%r4],%r2;
ret; }
END

# usage: launches SOURCE LAUNCH... . Runs the launches, and writes their findings to the file err
launches() {
    source=$1
    shift
    { echo "program: {source: $source}"
      echo "buffers: {a: {type: u32, count: 64}}"
      echo "steps:"
      for l; do echo "  - launch: {$l}"; done; } >k.yaml
    timeout 60 "$lanewise" run -q ${more:---check=memory} k.yaml >out 2>err </dev/null
    got=$?
}
# usage: found PATTERN. Expects a finding that matches. usage: alone NUMBER. Expects this number of findings
found() { grep -q "variable-bounds: shared $1" err || fail "$more: no finding '$1': $(cat err)"; }
alone() {
    [ "$(grep -c variable-bounds err)" = "$1" ] || fail "$more: $(grep -c variable-bounds err) findings, not $1: $(cat err)"
}

for more in "" "--check=memory,const-written" "--check=memory --policy most_lanes" "--check=memory --reconv stack" "--check=memory --tags compact" "--check=memory --warp 8" "--check=memory --timing volta"; do
    launches v.ptx "entry: follow, grid: 1, block: 32, args: [a, 23]"
    [ $got = 0 ] && [ ! -s err ] || fail "$more: expected no finding for argument 23: $(cat err)"
    launches v.ptx "entry: follow, grid: 1, block: 32, args: [a, 24]"
    alone 1
    found "load of 4 bytes at 0x10000000080: 0 bytes past the end of 's' .* 4 times"
    launches v.ptx "entry: follow, grid: 1, block: 32, args: [a, 25]"
    alone 2
    found "load of 4 bytes at 0x10000000080: .* 4 times"
    found "load of 4 bytes at 0x10000000080: .* 12 times"
    launches v.ptx "entry: enter, grid: 1, block: 32, args: [a, 128]"
    alone 1
    found "load of 4 bytes at 0x10000000084: 4 bytes past"
    # The access needs no check in the first launch, but needs one in the second, which is queued at the same time.
    for stream in "" ", stream: 1"; do
        launches v.ptx "entry: arguments, grid: 2, block: 32, args: [a, {local: 128}, {local: 64}]$stream" \
            "entry: arguments, grid: 2, block: 32, args: [a, {local: 64}, {local: 64}]$stream"
        alone 1
        found "store .* 0 bytes past the end of 'q' (64 bytes)"
        launches w.ptx "entry: whole, grid: 2, block: 32, args: [a]$stream" \
            "entry: whole, grid: 2, block: 64, args: [a], shared: 256$stream" \
            "entry: whole, grid: 2, block: 32, args: [a]$stream"
        alone 1
        found "store of 4 bytes at 0x10000000080: 0 bytes past the end of 's'"
    done
done
launches w.ptx "entry: whole, grid: 1, block: 64, args: [a]"
grep -q "out-of-bounds: shared store" err || fail "the access past the end of shared memory is not reported: $(cat err)"
[ $failures = 0 ]
