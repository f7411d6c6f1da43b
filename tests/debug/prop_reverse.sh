#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs tests/debug/prop_reverse.c on every kernel of kernels/: reverse execution must restore the exact state. Each kernel is
# compiled once. If no clang is installed, only kernels in assembly are tested.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
program=$build/tests/debug/prop_reverse
sh "$src/kernels/prepare" "$work" || exit 1
for source in *.cl *.cu *.s; do
    options=$(grep -h "source: $source" -- *.yaml | sed -n 's/.*options: \["\{0,1\}\([^]"]*\).*/-X \1/p')
    # shellcheck disable=SC2086
    "$lanewise" compile $options -o "${source%.*}.lwo" "$source" 2>/dev/null ||
        "$lanewise" asm -o "${source%.*}.lwo" "$source" 2>/dev/null || continue
    sed -i "/source: $source/{s/, options: [^]]*]//;s/source: $source/source: ${source%.*}.lwo/}" -- *.yaml
done
files=
for f in *.yaml; do
    grep -q '\.lwo' "$f" && files="$files $f"
done
# Launch file of a kernel that executes more instructions than any test case goes back.
cat >long.yaml <<'END'
program: {source: collatz.s}
buffers:
  length: {type: u32, count: 3000}
  longest: {type: u32, count: 1}
steps:
  - repeat: 60
    steps:
      - launch: {entry: collatz, grid: [24], block: [128], args: [length, longest, 3000]}
END
ln -sf "$src/kernels/collatz.s" collatz.s
# shellcheck disable=SC2086
"$program" $files long.yaml
