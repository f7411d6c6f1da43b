#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A source with many errors: compile, run and debug show all that the compiler said, then one
# sentence, and end with status 2.
set -u
lanewise=$(realpath "${LANEWISE:-./lanewise}")
work=$(mktemp -d "${TMPDIR:-/tmp}/lanewise-words.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
{
    echo '__kernel void k(__global int *p)'
    echo '{'
    for n in 1 2 3 4 5 6 7; do echo "    p[$n] = missing$n;"; done
    echo '}'
} >k.cl
printf '__kernel void m(__global int *p) { p[0] = 1; }\n' >m.cl
cat >k.yaml <<END
program: {source: k.cl}
buffers: {p: {type: s32, count: 8}}
steps:
  - launch: {entry: k, grid: [1], block: [1], args: [p]}
END
sed 's/source: k.cl/sources: [m.cl, k.cl]/' k.yaml >linked.yaml

shows() { # arguments
    "$lanewise" "$@" >out 2>err </dev/null
    status=$?
    last=$(tail -n 1 err)
    if [ $status != 2 ]; then
        echo "FAIL: $*: status $status"
    elif [ "$(grep -c 'k.cl:[3-9]:[0-9]*: error: ' err)" -lt 8 ] || ! grep -q 'missing7;$' err; then
        echo "FAIL: $*: not all of the compiler's words"
    elif [ "${last#*missing3}" = "$last" ] || [ "${last#*(and 4 more)}" = "$last" ]; then
        echo "FAIL: $*: no sentence behind them"
    else
        return
    fi
    sed 's/^/    /' err
    bad=1
}
shows compile k.cl
shows compile m.cl k.cl -o both.lwo
shows run k.yaml
shows run linked.yaml
shows debug k.yaml
# Parameters that only the compiler named are told by what they are.
printf '__kernel void m(__global int *p, int n, __local float *t) { p[0] = n + t[0]; }\n' >m.cl
sed 's/k.cl/m.cl/; s/entry: k/entry: m/' k.yaml >few.yaml
"$lanewise" run few.yaml >out 2>err && bad=1
grep -q 'm takes 3 arguments (a pointer, an integer of 4 bytes, __local memory), found 1$' err || {
    echo "FAIL: an argument too few:"
    cat err
    bad=1
}
exit $bad
