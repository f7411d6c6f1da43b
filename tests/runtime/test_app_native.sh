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

# Native code leaves invalid accesses to the interpreter, which reports them. Without --engine long kernels are compiled, and the
# interpreter executes kernels with shared variables, because variable-bounds must see their accesses.
"$lanewise" cc -O1 -g "$src/invalid.cu" -o invalid >log 2>&1 || { echo "invalid.cu does not compile"; cat log; exit 1; }
invalid() { # usage: invalid NAME ENGINE [OPTION...] [-- ARGUMENT]. ENGINE -: no engine is selected. Writes NAME.out, NAME.err, NAME.json
    name=$1
    [ $2 = - ] && unset LANEWISE_ENGINE || export LANEWISE_ENGINE=$2
    shift 2
    "$lanewise" app --stats $name.json ./invalid "$@" >$name.out 2>$name.err || fail "invalid, $name: exit status $?"
    native=$(sed -n 's/.*"native_warp_instructions": \([0-9]*\).*/\1/p' $name.json)
    sed -i '/native_warp_instructions/d; s/"threads": 1,/"threads": 1/' $name.json
}
invalid interpreter interpreter
grep -q 'invalid.cu:17: out-of-bounds: global store of 4 bytes' interpreter.err || { fail "no finding"; cat interpreter.err; }
for engine in native auto -; do
    invalid engine $engine
    for what in out err json; do
        cmp -s interpreter.$what engine.$what || { fail "invalid, engine $engine: other $what"; diff interpreter.$what engine.$what; }
    done
    [ "${native:-0}" -gt 0 ] || fail "invalid, engine $engine: native code executed no instruction"
done
all=$native
invalid twice -
[ "${native:-0}" = "$all" ] || fail "two runs execute different numbers of instructions in native code: $all and $native"
invalid tile - shared
grep -q 'variable-bounds: shared store' tile.err || { fail "no finding of a shared variable"; cat tile.err; }
[ "$native" = "$all" ] || fail "native code executes a kernel whose shared variables are checked"
invalid shared native shared
! grep -q 'variable-bounds' shared.err && cmp -s tile.out shared.out || fail "shared, engine native: other results, or variable-bounds is on"
exit $failed
