#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that a crash of LLVM costs only the kernel that it compiles. The test sends SIGSEGV to the compiler process while it compiles
# the first kernel of a run. The interpreter then executes this kernel, a new process compiles the second one, and results, hashes
# and counts are those of the interpreter.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
. "$src/tests/native/compare_lib.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # LLVM has leaks
export LANEWISE_CACHE=off # all kernels must be compiled
# The compilation of `large` takes at least a second, in which the test finds the process.
awk 'BEGIN {
    print ".kernel large\n.param ptr.global out\n    v_s2r v0, %tid.x\n    v_shl_b32 v5, v0, 2\n    s_mov_b64 s2:3, c[out]\n    ld.global.b32 v1, [s2:3+v5]"
    for (i = 0; i < 1300; i++)
        printf "    v_mad_u32 v%d, v%d, %d, v0\n    v_setp_u32.lt p%d, v%d, %d\n    @p%d v_add_u32 v%d, v%d, v1\n", 6 + i % 40, 1 + i % 45, i, i % 5, 6 + (i + 7) % 40, i, i % 5, 1 + i % 3, 1 + i % 3
    print "    st.global.b32 [s2:3+v5], v1\n    exit\n.end"
    print ".kernel small\n.param ptr.global out\n    v_s2r v0, %tid.x\n    v_shl_b32 v5, v0, 2\n    s_mov_b64 s2:3, c[out]\n    v_mov_b32 v2, 0"
    print "more:\n    v_mad_u32 v0, v0, 3, v2\n    v_add_u32 v2, v2, 1\n    v_setp_u32.lt p0, v2, 20\n    @p0 bra more"
    print "    st.global.b32 [s2:3+v5], v0\n    exit\n.end"
}' >k.s
cat >k.yaml <<'END'
program: {source: k.s}
buffers:
  a: {type: u32, count: 64, init: {ramp: {start: 1, step: 3}}}
  b: {type: u32, count: 64}
steps:
  - launch: {entry: large, grid: [1], block: [64], args: [a]}
  - launch: {entry: small, grid: [1], block: [64], args: [b]}
END
"$lanewise" run --threads 1 --engine interpreter --hash -q --stats one.json k.yaml >one 2>err || { echo "FAIL: the interpreter"; cat err; exit 1; }
"$lanewise" run --engine native --native-timeout 0.000001 -q k.yaml >out 2>err
if [ $? -eq 2 ] && grep -q 'install the Debian package libllvm19' err; then
    echo "LLVM 19 is not installed"
    exit 77
fi
mark=$work # the compiler process has the environment of its run, but is not its child
MARK=$mark "$lanewise" run --threads 1 --hash -q -v --engine native --native-timeout 100 --stats two.json k.yaml >two 2>err </dev/null &
run=$!
# Finds the compiler process by its name and environment, and waits until it has used 0.1 s of processor time, so that it compiles.
child=
ticks=0
least=$(($(getconf CLK_TCK) / 10))
while kill -0 $run 2>/dev/null; do
    for f in /proc/[0-9]*/stat; do
        [ -z "$child" ] || break
        read -r stat 2>/dev/null <"$f" || continue
        case $stat in
        *"(lanewise-native) "*) grep -zqxF "MARK=$mark" "${f%stat}environ" 2>/dev/null && child=${stat%% *} ;;
        esac
    done
    [ -n "$child" ] || continue
    read -r stat <"/proc/$child/stat" || break
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    ticks=$((${12} + ${13})) # user and system time
    [ $ticks -lt $least ] || break
    sleep 0.01
done
[ -n "$child" ] && [ $ticks -ge $least ] || fail "no process compiled the kernel"
[ -z "$child" ] || kill -SEGV "$child"
wait $run
status=$?
[ $status = 0 ] || fail "exit status $status"
cmp -s one two || fail "another result or hash"
counts one.json >one.counts
counts two.json >two.counts
cmp -s one.counts two.counts || fail "other counts"
[ "$(grep -c '^native code: LLVM failed to compile kernel large: the interpreter executes the kernel$' err)" = 1 ] || fail "no line names the kernel"
grep -q '^native code: 1 kernel compiled .*, 1 left to the interpreter; [1-9]' err || fail "the second kernel is not compiled"
[ $failures = 0 ] || cat err
[ $failures = 0 ]
