#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Expressions over all scalar types, half precision for a target that computes with it, and what
# compilers and libclc were found wrong in (lib; of CUDA C++ fun) give
# on the machine, through every clang that is installed and two levels of optimisation, what
# the host's compiler (a soft float for halves) makes of them.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
tried=0

cp "$src"/tests/ptx/ops* "$src"/tests/ptx/half* "$src"/tests/ptx/lib* "$src"/tests/ptx/fun* "$src/tests/soft_float.h" "$work" || exit 1
cd "$work" || exit 1
for what in ops half lib fun; do
    ${CC:-cc} -std=gnu11 -O1 -fwrapv -w -ffp-contract=off ${what}_host.c -o host -lm && ./host ||
        exit 1
    for clang in clang-14 clang-15 clang-16 clang-19; do
        command -v $clang >/dev/null || continue
        tried=$((tried + 1))
        for level in -O3 -O1 '-O0, -g'; do
            [ "$what $level" != 'fun -O0, -g' ] || level='-O0, -g, --cuda-noopt-device-debug'
            sed "s/\[-O3/[$level/" $what.yaml >run.yaml
            if ! LANEWISE_CLANG=$clang "$lanewise" run run.yaml >out 2>&1; then
                echo "FAIL: $what: $clang $level"
                head -n 5 out
                failures=$((failures + 1))
            fi
        done
    done
done
[ $tried != 0 ] || { echo "FAIL: no clang-14 or clang-19"; exit 1; }
[ $failures = 0 ] && echo "all expressions agree"
[ $failures = 0 ]
