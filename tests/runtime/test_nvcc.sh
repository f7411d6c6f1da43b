#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests programs that nvcc compiles for compute_80 and compute_90, whose PTX has instructions that clang does not write.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
nvcc=${LANEWISE_NVCC:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
command -v "$nvcc" >/dev/null || { echo "skipped: nvcc is not installed"; exit 77; }

for arch in 80 90; do
    for options in "" "-G"; do
        # shellcheck disable=SC2086
        "$nvcc" $options -w -std=c++17 --cudart shared -gencode "arch=compute_$arch,code=compute_$arch" -o program \
            "$src/nvcc/instructions.cu" >log 2>&1 || { echo "skipped: nvcc does not compile for compute_$arch"; head -n 5 log; exit 77; }
        timeout 300 "$lanewise" app --check=memory,races,uninitialised --fail-on-findings ./program >out 2>err &&
            grep -q '^all right$' out || { fail "compute_$arch $options"; head -n 10 out err; }
    done
done
# Kernels launch kernels, and copy memory after them. Needs libcudadevrt of nvcc.
if "$nvcc" -w -rdc=true --cudart shared -gencode arch=compute_80,code=compute_80 -o copies "$src/nvcc/copies.cu" >log 2>&1; then
    timeout 300 "$lanewise" app ./copies >out 2>err && grep -q '^all right$' out || { fail "copies"; head -n 10 out err; }
else
    echo "without libcudadevrt: $(head -n 1 log)"
fi
[ "$failed" = 0 ]
