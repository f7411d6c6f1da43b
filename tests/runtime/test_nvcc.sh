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
# Launches of kernel templates are in functions that nvcc generates. Findings name the program's calls, and with -g lines of kernels.
cat >template.cu <<'END'
template <class T> __global__ void k(T *a) { a[threadIdx.x] = 1; }
int main()
{
    float *a;
    cudaMalloc(&a, 16);
    k<<<1, 5>>>(a); /* launch */
    cudaDeviceSynchronize();
    cudaFree(a);
}
END
"$lanewise" cc --compiler "$nvcc" -g template.cu -o template >log 2>&1 || { fail "template.cu does not compile"; cat log; }
"$lanewise" app ./template >out 2>err
grep -q '^lanewise: template.cu:1: out-of-bounds' err || { fail "a kernel template: the finding has no line"; cat err; }
if ldd "$(dirname "$lanewise")/liblanewise-runtime.so.0" | grep -q libdw; then
    grep -q 'launched by main (.*template.cu:6)' err || { fail "a kernel template: the launch is not named"; cat err; }
fi
[ "$failed" = 0 ]
