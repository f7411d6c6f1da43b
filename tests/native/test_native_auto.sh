#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests --engine auto. A short run compiles nothing. In a long run native code takes over, and results, hashes and counts are those of
# the interpreter, on one host thread and on several. The code of the long run is in the cache before, so that the test does not
# depend on the time of a compilation. A run that ends while a kernel is compiled does not wait for the compiler.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
. "$src/tests/native/native_lib.sh"
{
    printf '.kernel work\n.param ptr.global out\n.param u32 n\n'
    loops 'c[n]'
    cat <<'END'
    v_and_b32 v5, v0, 4095
    v_shl_b32 v5, v5, 2
    s_mov_b64 s2:3, c[out]
    red.global.add.u32 [s2:3+v5], v1
    exit
.end
END
} >kernel.s
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
# usage: runs WHAT FILE [OPTION...]. Compares --engine auto with the interpreter. Sets $executed to the number of native instructions
runs() {
    what=$1
    yaml=$2
    shift 2
    cases=$((cases + 1))
    "$lanewise" run --hash -q --engine interpreter --stats one.json "$@" $yaml >one 2>&1 </dev/null
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
