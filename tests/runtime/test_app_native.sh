#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests native code in programs that have threads and wait for their children: the compiler process is no child of the program, and
# it needs nothing that the program's threads have locked.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/native
export LANEWISE_CACHE=off # all kernels must be compiled
"$lanewise" cc -O1 "$src/children.cu" -o children -lpthread >log 2>&1 || { echo "children.cu does not compile"; cat log; exit 1; }
for what in wait lock; do
    for engine in native auto; do
        # With --engine native, the creation of the device loads LLVM, and waits for the thread in the dynamic linker.
        [ $what$engine != locknative ] || continue
        launches=10
        [ $engine = native ] || launches=1500 # long enough that it pays to compile
        timeout 100 "$lanewise" app --engine $engine --threads 1 --native-timeout 2 --stats stats.json ./children $what $launches >out 2>err ||
            fail "$what, $engine: exit status $?"
        if grep -q 'install the Debian package libllvm19' err; then
            echo "LLVM 19 is not installed"
            exit 77
        fi
        grep -qx '0 wrong results, 0 children, 0 signals' out ||
            { fail "$what, $engine: the program reports wrong results"; cat out err; }
        native=$(sed -n 's/.*"native_warp_instructions": \([0-9]*\).*/\1/p' stats.json)
        [ "${native:-0}" -gt 0 ] || fail "$what, $engine: native code executed no instruction"
    done
done
exit $failed
