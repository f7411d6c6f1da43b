#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests slices of accesses by runs of the sample kernels and of kernels with the access patterns of public suites, optimised and
# not. If an access has a slice, each of its addresses must be equal to the one that the slice computes
# (tests/emu/predict/predict_runs.c). Most accesses must have a slice.
set -u
src=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$src/kernels/prepare" "$work" || exit 1
program=$PWD/tests/emu/predict/predict_runs
cp "$src/tests/ptx/suites/shapes.cl" "$work"
cd "$work" || exit 1
# A block of grid_rounds executes a million instructions while it waits for the other blocks. Two blocks are enough to execute
# all accesses.
sed "s/grid_rounds, grid: 7/grid_rounds, grid: 2/; /buffer: \(met\|slots\),/{/check:/d}" "$src/tests/ptx/suites/shapes.yaml" >shapes.two
[ "$(diff "$src/tests/ptx/suites/shapes.yaml" shapes.two | grep -c '^>')" = 1 ] || { echo "FAIL: shapes.yaml has no grid_rounds with 7 blocks"; exit 1; }
sed "s/options: .*/options: [-DW=32, -O0, -g, -cl-opt-disable]}/" shapes.two >shapes.yaml
"$program" -q shapes.yaml || exit 1 # few accesses have slices, because addresses are stored in local memory
sed "s/options: .*/options: [-DW=32, -O3]}/" shapes.two >shapes.yaml
"$program" ./*.yaml >out || { cat out; exit 1; }
tail -1 out
accepted=$(sed -n 's/^all: accepted \([0-9]*\) .*/\1/p' out)
[ "${accepted:-0}" -ge 100 ] || { echo "FAIL: ${accepted:-no} accesses have slices, expected at least 100"; cat out; exit 1; }
