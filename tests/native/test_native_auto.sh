#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests --engine auto. A short run compiles nothing. In a long run native code takes over, and results, hashes and counts are those of
# the interpreter, on one host thread and on several. The code of the long run is in the cache before, so that the test does not
# depend on the time of a compilation. A run that ends while a kernel is compiled does not wait for the compiler.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
unset LANEWISE_CACHE
export XDG_CACHE_HOME=$work/cache
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # LLVM has leaks
mkdir cache
cat >kernel.s <<'END'
.kernel work
.param ptr.global out
.param u32 n
    s_s2r s0, %ctaid.x
    s_s2r s1, %ntid.x
    s_mul_u32 s0, s0, s1
    v_s2r v0, %tid.x
    v_add_u32 v0, v0, s0
    v_mov_b32 v1, v0
    v_mov_b32 v4, 0
again:
    v_rem_u32 v3, v0, 7
    bssy b0, done
loop:
    v_setp_u32.eq p0, v3, 0
    @p0 bra done, b0
    v_mad_u32 v1, v1, 5, v0
    v_sub_u32 v3, v3, 1
    bra loop
done:
    bsync b0
    v_mov_b32 v6, 0
turn:
    v_mad_u32 v1, v1, 3, v6
    v_add_u32 v6, v6, 1
    v_setp_u32.lt p2, v6, 25
    @p2 bra turn
    v_add_u32 v4, v4, 1
    v_setp_u32.lt p1, v4, c[n]
    @p1 bra again
    v_and_b32 v5, v0, 4095
    v_shl_b32 v5, v5, 2
    s_mov_b64 s2:3, c[out]
    red.global.add.u32 [s2:3+v5], v1
    exit
.end
END
launch() { # usage: launch FILE BLOCKS ROUNDS [REPEATS]
    cat >$1 <<END
program: {source: kernel.s}
buffers:
  out: {type: u32, count: 4096}
steps:
  - repeat: ${4:-1}
    steps:
      - launch: {entry: work, grid: [$2], block: [128], args: [out, $3]}
END
}
launch short.yaml 16 3
launch long.yaml 4000 20
launch often.yaml 8 20 500
counts() { # usage: counts FILE. Prints the statistics without times, and without those of native code
    sed -e 's/"[a-z_]*seconds*": [0-9.e+-]*,*//g; /"native":/d' "$1"
}
# usage: runs WHAT FILE [OPTION...]. Compares --engine auto with the interpreter. Sets $executed to the number of native instructions
runs() {
    what=$1
    yaml=$2
    shift 2
    cases=$((cases + 1))
    "$lanewise" run --hash -q --stats one.json "$@" $yaml >one 2>&1 </dev/null
    "$lanewise" run --hash -q -v --engine auto --stats two.json "$@" $yaml >out 2>err </dev/null || fail "$what: the run fails"
    cmp -s one out || fail "$what: another result"
    counts one.json >one.counts
    counts two.json >two.counts
    cmp -s one.counts two.counts || fail "$what: other counts"
    executed=$(sed -n 's/.*"native": {.*"instructions": \([0-9]*\)}.*/\1/p' two.json)
}
for threads in 1 2; do
    runs "a short run, $threads threads" short.yaml --threads $threads
    [ "$executed" = 0 ] && grep -q '^native code: 0 kernels compiled and 0 taken' err || fail "a short run: it compiles"
done
for file in long often; do
    "$lanewise" run --threads 1 --engine native -q $file.yaml >out 2>err
    if [ $? -eq 2 ] && grep -q 'install the Debian package libllvm19' err; then
        echo "LLVM 19 is not installed"
        [ $failures = 0 ]
        exit
    fi
    for threads in 1 2 3; do
        runs "$file, $threads threads" $file.yaml --threads $threads
        all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' two.json)
        [ "$executed" -ge $((all / 10)) ] && [ "$executed" -lt "$all" ] ||
            fail "$file, $threads threads: native code executed $executed of $all warp instructions"
    done
done
runs 'without the cache' long.yaml --threads 1 --cache off
runs 'a compilation that takes too long' long.yaml --threads 1 --cache off --native-timeout 0.000001
[ "$executed" = 0 ] || fail "a compilation that takes too long: native code ran"
expect 4 'max-instructions' run --engine auto -q --threads 1 --max-instructions 2000000 long.yaml
echo "$cases cases, $failures failures"
[ $failures = 0 ]
