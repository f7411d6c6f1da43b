#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the sample kernels on the timing model. Memory must be as the functional machine leaves it, the schedule must
# replay, and two runs must give the same counts (tests/timing/tim_kernels.c). Each kernel runs on one GPU model,
# which the seed selects. LW_TIMING=all: on every model, scheduler and engine. LW_TIMING=K/N: part K of N of these, K
# from 0. With N = 8 each part runs every kernel on every model; the parts differ in scheduler and engine.
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
else # the others take longer and show the same
    for k in bfs cuda_half cuda_reduction cuda_saxpy cuda_texture cuda_transpose gcn_branch gcn_saxpy \
        gemm_tiled hello launch_bfs cuda_launch enqueue reduction saxpy scan spinlock spmv styles transpose vadd vadd_asm; do
        files="$files $k.yaml"
    done
fi
# Each file runs many times: its source is compiled once.
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
