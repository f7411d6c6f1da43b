#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests native code in the cache: a second run compiles nothing and has the same results, counts and hashes. What the compilation
# depends on is in the key. Entries that are cut, changed, of another key, or that other users may write are not used, and one line
# names each. Without a usable cache folder the kernel is compiled. The limit of the cache holds for all kinds of entries together.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
. "$src/tests/native/native_lib.sh"
# kernel.s also has accesses for which native code calls the emulator
{
    printf '.kernel work\n.param ptr.global out\n'
    loops 30
    cat <<'END'
    v_shl_b32 v5, v0, 2
    s_mov_b64 s2:3, c[out]
    ld.global.b32 v6, [s2:3+v5]
    v_add_u32 v1, v1, v6
    st.global.b32 [s2:3+v5], v1
    exit
.end
END
} >kernel.s
launch() { # usage: launch FILE BLOCK
    # With rr_quantum the kernel needs code for whole warps and masked code.
    cat >$1 <<END
program: {source: kernel.s}
machine: {policy: rr_quantum}
buffers:
  out: {type: u32, count: 4096, init: {ramp: {start: 1, step: 3}}}
steps:
  - launch: {entry: work, grid: [$((4096 / $2))], block: [$2], args: [out]}
END
}
launch k.yaml 128
launch other.yaml 64
"$lanewise" run --engine native -q k.yaml >out 2>err
if [ $? -eq 2 ] && grep -q 'install the Debian package libllvm19' err; then
    echo "LLVM 19 is not installed"
    exit 77
fi
# usage: runs COMPILED CACHED WHAT FILE [OPTION...]. Runs FILE in native code. Compares results and counts with the interpreter's, and
# the numbers of kernels that were compiled and taken from the cache.
runs() {
    compiled=$1
    cached=$2
    what=$3
    file=$4
    shift 4
    cases=$((cases + 1))
    "$lanewise" run --threads 1 --engine interpreter --hash -q --stats one.json "$@" $file >one 2>&1 </dev/null
    "$lanewise" run --threads 1 --hash -q -v --engine native --stats two.json "$@" $file >out 2>err </dev/null || fail "$what: the run fails"
    cmp -s one out || fail "$what: another result"
    counts one.json >one.counts
    counts two.json >two.counts
    cmp -s one.counts two.counts || fail "$what: other counts"
    [ -z "$compiled" ] || grep -q "^native code: $compiled kernels* compiled and $cached taken from the cache in" err ||
        fail "$what: expected $compiled compiled and $cached from the cache"
    [ -z "$compiled" ] || grep -q "\"native\": {\"compiled\": $compiled, \"cached\": $cached, \"refused\": 0, \"instructions\": [1-9]" two.json ||
        fail "$what: other numbers in the statistics"
    ignored=$(grep -c '^native code: the cached code of kernel work is not used: ' err)
}
rm -rf cache/lanewise
runs 2 0 'the first run' k.yaml
runs 0 2 'the second run' k.yaml
[ "$ignored" = 0 ] || fail "the second run: a line about an entry"
runs 2 0 'another block shape' other.yaml
runs 2 0 'another width' k.yaml --warp 16
runs 0 2 'the first width' k.yaml
runs 2 0 '--cache off' k.yaml --cache off
LANEWISE_CACHE=off runs 2 0 LANEWISE_CACHE=off k.yaml
sed 's/lt p1, v4, 30/lt p1, v4, 31/' kernel.s >changed.s
cp kernel.s first.s
cp changed.s kernel.s
runs 2 0 'another kernel' k.yaml
cp first.s kernel.s
runs 0 2 'the first kernel' k.yaml

# Entries that are not used. Each is replaced by a good one.
rm -rf cache/lanewise
runs 2 0 'an empty cache' k.yaml
set -- cache/lanewise/native-*
[ $# = 2 ] || fail "the cache has $# entries of native code"
cp "$1" good
cp "$2" other
size=$(wc -c <good)
for at in 0 7 8 16 60 200 $((size / 3)) $((size / 2)) $((size - 9)) $((size - 1)); do
    printf '\377' | dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
    cmp -s good "$1" && continue
    runs 1 1 "an entry whose byte $at is changed" k.yaml
    [ "$ignored" = 1 ] || fail "an entry whose byte $at is changed: $ignored lines"
    cmp -s good "$1" || fail "an entry whose byte $at is changed: the entry is not replaced"
done
for bytes in 0 8 15 $((size / 2)) $((size - 1)); do
    head -c $bytes good >"$1"
    runs 1 1 "an entry of $bytes bytes" k.yaml
    [ "$ignored" = 1 ] || fail "an entry of $bytes bytes: $ignored lines"
done
cp other "$1"
runs 1 1 'an entry of another key' k.yaml
[ "$ignored" = 1 ] && grep -q 'has another key' err || fail 'an entry of another key: no line'
chmod o+w "$1"
runs 1 1 'an entry that all users may write' k.yaml
[ "$ignored" = 1 ] || fail 'an entry that all users may write: no line'
chmod o-w "$1"
chmod g+w "$1"
runs 1 1 'an entry that the group may write' k.yaml
[ "$ignored" = 1 ] || fail 'an entry that the group may write: no line'
[ "$(stat -c %a "$1")" = 600 ] || fail 'an entry has other permissions than those of its user'
rm "$1"
mkdir "$1"
runs 1 1 'a folder in place of an entry' k.yaml
rmdir "$1"
runs 1 1 'a missing entry' k.yaml
[ "$ignored" = 0 ] || fail 'a missing entry: a line'

# Old entries of all kinds are deleted if the cache is too large.
truncate -s 300M cache/lanewise/ptx-0123456789abcdef
touch -d '2001-01-01' cache/lanewise/ptx-0123456789abcdef
truncate -s 1M cache/lanewise/another-file
touch -d '2000-01-01' cache/lanewise/another-file
rm "$1"
runs 1 1 'a large cache' k.yaml
[ ! -e cache/lanewise/ptx-0123456789abcdef ] || fail 'a large cache: the old entry is not deleted'
[ -e cache/lanewise/another-file ] || fail 'a large cache: a file that is no entry is deleted'
runs 0 2 'after the deletion' k.yaml

# The addresses of variables are in the code: with another size of a buffer, `table` has another address.
cat >table.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.global .u32 table[4] = {11, 22, 33, 44};
.visible .entry work(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mov.u32 %r4, 0;
    mov.u32 %r5, 0;
again:
    and.b32 %r6, %r5, 3;
    mul.wide.u32 %rd3, %r6, 4;
    mov.u64 %rd4, table;
    add.u64 %rd5, %rd4, %rd3;
    ld.global.u32 %r7, [%rd5];
    mad.lo.u32 %r4, %r4, 3, %r7;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 60;
    @%p1 bra again;
    mul.wide.u32 %rd6, %r3, 4;
    add.u64 %rd7, %rd2, %rd6;
    add.u32 %r8, %r4, %r3;
    st.global.u32 [%rd7], %r8;
    ret;
}
END
for count in 1024 65536; do
    cat >table.yaml <<END
program: {source: table.ptx}
buffers:
  out: {type: u32, count: $count}
steps:
  - launch: {entry: work, grid: [16], block: [64], args: [out]}
END
    runs 1 0 "a variable after a buffer of $count elements" table.yaml
    runs 0 1 "again with $count elements" table.yaml
done

for folder in /proc/nothing "$work/k.yaml" relative; do
    XDG_CACHE_HOME=$folder runs 2 0 "XDG_CACHE_HOME=$folder" k.yaml
done
echo "$cases cases, $failures failures"
[ $failures = 0 ]
