#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that gdb's backtrace of a kernel that was launched by a kernel ends with the launch, and that `up` from the outermost
# frame and `launcher` select the lane that launched it.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
command -v gdb >/dev/null || exit 77
gdb -batch -ex 'python print(1)' 2>/dev/null | grep -q 1 || exit 77
cp "$src"/tests/kernels/launch_chain.* .
cat >in <<'G'
break launch_chain.s:31
continue
continue
backtrace
up
backtrace
launcher
G
timeout 120 "$lanewise" gdb launch_chain.yaml -- -batch -x in >out 2>err </dev/null
for words in '#0  child [lane 0] (out=' 'launched by parent+0xa0 (launch_chain.s:16), launch 1 block(1,0,0) w0 lane 3' \
    '[kernel 1, block (1,0,0), thread (3,0,0), ' '#0  parent [lane 3] (out=' 'this kernel was launched by the host'; do
    grep -qF -e "$words" out err || fail "gdb does not print: $words"
done
printf 'break launch_chain.s:31\ncontinue\ninfo grids\n' >in
for timing in '' --timing=kepler-k20c; do
    # shellcheck disable=SC2086
    timeout 120 "$lanewise" gdb $timing launch_chain.yaml -- -batch -x in >out 2>err </dev/null
    case $timing in '') words='by launch 1 block(0,0,0) w0 lane 3' ;; *) words='launched by block 0 of launch 1, warp 0, lane 3, on core 0' ;; esac
    grep -qF -e "$words" out || fail "info grids $timing does not print: $words"
done
[ $failures = 0 ]
