#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests --engine auto. A short run compiles nothing. In a long run native code takes over, and results, hashes and counts are those of
# the interpreter, on one host thread and on several. The code of the long run is in the cache before, so that the test does not
# depend on the time of a compilation. A run that ends while a kernel is compiled does not wait for the compiler.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
. "$src/tests/native/native_lib.sh"
work_kernel >kernel.s
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

# Without --engine native code takes over in a long run, too, and reports do not show it. If a kernel stops, the interpreter runs the
# file from the start, so that the same stop is reported as without native code: in the interpreter the last warp of a block faults
# first, and in native code the first one. Text that a kernel has printed before is not printed again.
unset LANEWISE_ENGINE
cat >stops.cl <<'END'
__kernel void says(__global uint *out, int n)
{
    if (get_global_id(0) == 0)
        printf("says %d\n", n);
}
__kernel void faults(__global uint *out, int n, int last)
{
    uint v = get_global_id(0), at = v & 4095;
    int count = n * 25;

    if (get_group_id(0) == last) {
        count = (4 - get_local_id(0) / 32) * 1000;
        at = 1 << 28;
    }
    for (int i = 0; i < count; i++)
        v = v * 3 + (v >> 7 ^ i);
    out[at] = v;
}
__kernel void waits(__global uint *out, int n, int last)
{
    uint v = get_global_id(0);

    for (int i = 0; i < n * 25; i += get_group_id(0) != last)
        v = v * 3 + (v >> 7 ^ i);
    out[get_global_id(0) & 4095] = v;
}
END
"$lanewise" compile stops.cl -o stops.lwo >out 2>err || fail 'stops.cl does not compile'
stops() { # usage: stops ENTRY LAST-BLOCK STATUS
    cat >stops.yaml <<END
program: {source: stops.lwo}
buffers:
  out: {type: u32, count: 4096}
steps:
  - launch: {entry: says, grid: [1], block: [32], args: [out, 1]}
  - launch: {entry: $1, grid: [4001], block: [128], args: [out, 100, $2]}
  - launch: {entry: says, grid: [1], block: [32], args: [out, 2]}
END
    [ $3 = 0 ] || sed -i '/ faults\|waits/i\  - check: {buffer: out, index: 0, values: [97]}' stops.yaml # fails, which is printed once
    cases=$((cases + 1))
    "$lanewise" run --engine native --threads 1 stops.yaml >out 2>err # stores the native code in the cache
    "$lanewise" run --engine interpreter --threads 1 --stats one.json stops.yaml >one 2>one.err
    "$lanewise" run --threads 1 --stats two.json stops.yaml >out 2>err
    [ $? = $3 ] || fail "$1: the exit status is not $3"
    sed -i 's/, [0-9.]* s$//' one out
    cmp -s one out && cmp -s one.err err || fail "$1: other output than in the interpreter"
    ! grep -q '"native"' two.json || fail "$1: the statistics mention native code"
    counts one.json >one.counts
    counts two.json >two.counts
    cmp -s one.counts two.counts || fail "$1: other counts"
    "$lanewise" run -v --threads 1 stops.yaml >out 2>err
    grep -q '[1-9][0-9]* warp instructions ran in native code' err || fail "$1: native code does not take over"
    again=$(grep -c 'the interpreter runs the file from the start' err)
    [ "$again" = $((${3} != 0)) ] || fail "$1: the interpreter runs the file from the start $again times"
}
stops faults 4000 3
stops waits 4000 4
"$lanewise" run --threads 1 stops.yaml >one 2>&1
mkfifo pipe.yaml # a pipe cannot be read again
cat stops.yaml >pipe.yaml &
"$lanewise" run --threads 1 pipe.yaml >out 2>&1
sed -i 's/, [0-9.]* s$//; s/^pipe/stops/' one out
cmp -s one out || fail 'a launch file from a pipe: other output'
mkfifo data.bin # the same for a data file
sed 's/type: u32, count: 4096/type: u32, count: 4096, init: {file: data.bin}/' stops.yaml >data.yaml
head -c 16384 /dev/zero >data.bin &
timeout 60 "$lanewise" run -v --threads 1 data.yaml >out 2>err
sed -i 's/, [0-9.]* s$//; s/^data/stops/' out
"$lanewise" run -v --threads 1 --engine interpreter stops.yaml >one 2>one.err
sed -i 's/, [0-9.]* s$//' one
cmp -s one out && ! grep -q 'ran in native code' err || fail 'a data file from a pipe: other output, or native code'
"$lanewise" run -v --threads 1 --timeout 200 stops.yaml >out 2>err
! grep -q 'native code' err || fail 'a run with a limit of time uses native code'
stops faults -1 0
LANEWISE_ENGINE=interpreter "$lanewise" run -v --threads 1 stops.yaml >out 2>err
! grep -q 'native code' err || fail 'LANEWISE_ENGINE=interpreter does not select the interpreter'
LANEWISE_ENGINE=fast expect 2 'LANEWISE_ENGINE: expected interpreter, native, auto or auto-unshared, found "fast"' run stops.yaml
"$lanewise" run -v --threads 1 --max-instructions 100000000000 stops.yaml >out 2>err
! grep -q 'native code' err || fail 'a run with a limit of instructions uses native code'
# Kernels with barriers remain in the interpreter, also if a function has the barrier.
for body in 'bar.sync 0' 'call v14:15, meet' 'v_mov_b32 v9, v1'; do
    sed "s/^turn:/    $body\n&/" kernel.s >barrier.s
    printf '.func meet\n    bar.sync 0\n    ret v14:15\n.end\n' >>barrier.s
    sed 's/kernel.s/barrier.s/' long.yaml >barrier.yaml
    "$lanewise" run -v --threads 1 barrier.yaml >out 2>err || fail "$body: the run fails"
    native=$(grep -c 'ran in native code' err)
    case $body in v_mov*) [ $native = 1 ] ;; *) [ $native = 0 ] ;; esac || fail "$body: native code is used in $native of 1 runs"
done
echo "$cases cases, $failures failures"
[ $failures = 0 ]
