# SPDX-License-Identifier: Apache-2.0
# Functions for tests that compare native code with the interpreter. $lanewise is the program.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # LLVM has leaks
# usage: counts FILE. Prints the statistics without times, and without those of native code
counts() {
    sed -e 's/"[a-z_]*seconds*": [0-9.e+-]*,*//g; /"native":/d' "$1"
}
# usage: executes PERCENT. Expects that native code executed at least PERCENT of the warp instructions of the run that agrees() made
# last; otherwise prints a message and returns 1.
executes() {
    all=$(sed -n 's/.*"warp_instructions": \([0-9]*\).*/\1/p' native.json)
    executed=$(sed -n 's/^native code: .*; \([0-9]*\) warp instructions .*/\1/p' native.err)
    [ "${executed:-0}" -ge $((all * $1 / 100)) ] || { echo "FAIL: native code executed ${executed:-no} of $all warp instructions"; return 1; }
}
# usage: agrees FILE [OPTION...]. Runs FILE in both engines on one host thread. Expects that output, messages, exit statuses and counts
# are equal; otherwise prints the differences and returns 1. The files `interpreter` and `native` have the outputs.
agrees() {
    compared=$1
    shift
    for engine in interpreter native; do
        "$lanewise" run --threads 1 --hash -q -v --engine $engine --stats $engine.json "$@" "$compared" >$engine 2>$engine.err </dev/null
        echo "status $?" >>$engine
        grep -v '^native code:' $engine.err >>$engine
    done
    counts interpreter.json >interpreter.counts
    counts native.json >native.counts
    cmp -s interpreter native && cmp -s interpreter.counts native.counts && return
    diff interpreter native
    diff interpreter.counts native.counts
    return 1
}
