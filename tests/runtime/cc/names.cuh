// SPDX-License-Identifier: Apache-2.0
// See names_one.cu.
template <typename T> __global__ void twice(T *p) { p[threadIdx.x] *= 2; }
template <typename F> __global__ void apply(int *p, F f) { p[threadIdx.x] = f(p[threadIdx.x]); }
// Each file has its own copy, which host code and kernels of the file use.
static __constant__ int setting[2];
