#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the sample kernels by the interpreter and by native code: results, hashes and counts are equal, and native code
# executes most instructions of kernels whose warps stay whole. Without LLVM the option is refused with the package.
set -u
src=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lanewise=$PWD/lanewise
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # of LLVM
sh "$src/kernels/prepare" "$work" || exit 1
cd "$work" || exit 1
bad=0
"$lanewise" run --engine native -q vadd_asm.yaml >out 2>&1
if [ $? -eq 2 ] && grep -q 'install the Debian package libllvm19' out; then
    echo "LLVM 19 is not installed"
    exit 77
fi
"$lanewise" run --engine fast -q vadd_asm.yaml >out 2>&1
[ $? -eq 2 ] && grep -q 'expected interpreter or native, found "fast"' out || { echo "FAIL: --engine fast"; cat out; bad=1; }

counts() { # statistics without times
    sed -e 's/"[a-z_]*seconds*": [0-9.e+-]*,*//g' "$1"
}
for file in *.yaml; do
    case $file in bitonic.yaml) continue ;; esac # LLVM takes seconds for it
    for width in 32 ${WIDTHS:-16}; do
        "$lanewise" run --threads 1 --warp $width --hash -q --stats one.json "$file" >one 2>one.err </dev/null
        one=$?
        "$lanewise" run --threads 1 --warp $width --hash -q -v --engine native --stats two.json "$file" >two 2>two.err </dev/null
        two=$?
        if [ $one -ne $two ] || ! cmp -s one two; then
            echo "FAIL: $file, warps of $width: status $one, $two"
            diff one two
            tail -n 2 two.err
            bad=1
        elif [ $one -eq 0 ] && [ "$(counts one.json)" != "$(counts two.json)" ]; then
            echo "FAIL: $file, warps of $width: other counts"
            counts one.json >a; counts two.json >b; diff a b
            bad=1
        fi
        [ $width = 32 ] && sed -n "s/^native code: .*; \([0-9]*\) warp instructions/$file \1/p" two.err >>executed
    done
done
for kernel in gemm nbody mandelbrot transpose; do # whole warps
    executed=$(sed -n "s/^$kernel.yaml //p" executed)
    [ "${executed:-0}" -ge 5000 ] || { echo "FAIL: $kernel: native code executed ${executed:-no} warp instructions"; bad=1; }
done
exit $bad
