#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The sample kernels on the timing model: memory as the functional machine leaves it, replays of
# its schedule, the same counts twice (tests/tim_kernels.c). One machine each, drawn by the seed;
# LW_TIMING=all: every machine, scheduler and engine.
set -u
src=${srcdir:-.}
src=$(cd "$src" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$src/kernels/prepare" "$work" || exit 1
program=$PWD/tests/tim_kernels
all=
[ "${LW_TIMING:-}" = all ] && all=--all
cd "$work" || exit 1
files=
if [ -n "$all" ]; then
    files=$(echo *.yaml)
else # the others take longer and show the same
    for k in bfs cuda_half cuda_reduction cuda_saxpy cuda_texture cuda_transpose gcn_branch gcn_saxpy \
        gemm_tiled hello launch_bfs reduction saxpy scan spinlock spmv styles transpose vadd vadd_asm; do
        files="$files $k.yaml"
    done
fi
# shellcheck disable=SC2086
"$program" $all $files
