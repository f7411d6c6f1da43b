#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the sample kernels on the timing model by tests/timing/tim_kernels.c. Memory must be equal to that of a functional run,
# a replay of the schedule log must succeed, and two runs must have the same counters. Each kernel runs on one GPU model, which
# the seed selects. With LW_TIMING=all, it runs on every model with every scheduler and reconvergence engine. With
# LW_TIMING=K/N, it runs with part K of these combinations, K from 0 to N - 1. With N = 8 each part contains all models; the
# parts differ in scheduler and engine.
set -u
src=${srcdir:-.}
src=$(cd "$src" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$src/kernels/prepare" "$work" || exit 1
program=$PWD/tests/timing/tim_kernels
lanewise=${LANEWISE:-$PWD/lanewise}
case ${LW_TIMING:-} in
'') part= ;;
all) part='--part 0/1' ;;
*) part="--part $LW_TIMING" ;;
esac
cd "$work" || exit 1
files=
if [ -n "$part" ]; then
    files=$(echo *.yaml)
elif [ -n "${LW_SLOW:-}" ]; then # slow builds run few kernels
    for k in bfs cuda_transpose gcn_branch hello cuda_launch enqueue reduction scan spinlock spmv vadd_asm; do
        files="$files $k.yaml"
    done
else # omits kernels that take longer and test nothing more
    for k in bfs cuda_half cuda_reduction cuda_saxpy cuda_texture cuda_transpose gcn_branch gcn_saxpy \
        gemm_tiled hello launch_bfs cuda_launch enqueue reduction saxpy scan spinlock spmv styles transpose vadd vadd_asm; do
        files="$files $k.yaml"
    done
fi
# Compiles each source once, because each launch file runs many times.
for f in $files; do
    source=$(sed -n 's/^program: {source: \([^,}]*\.c[lu]\)[,}].*/\1/p' "$f")
    [ -n "$source" ] || continue
    options=$(sed -n 's/^program: .*options: \[\(.*\)\].*/\1/p' "$f" | tr ',' '\n' | sed 's/^ *\(.\)/-X \1/')
    # shellcheck disable=SC2086
    "$lanewise" compile $options "$source" -o "$f.lwo" || exit 1
    sed "s/^program: .*/program: {source: $f.lwo}/" "$f" >"$f.new" && mv "$f.new" "$f" || exit 1
done
# shellcheck disable=SC2086
"$program" $part $files
