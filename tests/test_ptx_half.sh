#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Half precision in OpenCL C, compiled for a target that computes with it, gives on the machine
# what a soft float gives on the host, through every clang that is installed.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
tried=0

cp "$src"/tests/ptx/half* "$src/tests/soft_float.h" "$work" || exit 1
cd "$work" || exit 1
${CC:-cc} -std=gnu11 -O1 -w half_host.c -o host -lm && ./host || exit 1
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    tried=$((tried + 1))
    for level in -O3 -O1; do
        sed "s/\[-O3,/[$level,/" half.yaml >run.yaml
        if ! LANEWISE_CLANG=$clang "$lanewise" run run.yaml >out 2>&1; then
            echo "FAIL: $clang $level"
            head -n 5 out
            failures=$((failures + 1))
        fi
    done
done
[ $tried != 0 ] || { echo "FAIL: no clang-14 or clang-19"; exit 1; }
[ $failures = 0 ] && echo "all expressions agree"
[ $failures = 0 ]
