#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sixty-four expressions over all scalar types give on the machine, through every clang that
# is installed and two levels of optimisation, what the host's compiler makes of them.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

cp "$src"/tests/ptx/ops* "$work" || exit 1
cd "$work" || exit 1
${CC:-cc} -std=gnu11 -O1 -fwrapv -w -ffp-contract=off ops_host.c -o host && ./host || exit 1
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O3 -O1; do
        sed "s/\[-O3\]/[$level]/" ops.yaml >run.yaml
        if ! LANEWISE_CLANG=$clang "$lanewise" run run.yaml >out 2>&1; then
            echo "FAIL: $clang $level"
            head -n 5 out
            failures=$((failures + 1))
        fi
    done
done
[ $failures = 0 ] && echo "all expressions agree"
[ $failures = 0 ]
