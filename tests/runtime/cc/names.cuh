// SPDX-License-Identifier: Apache-2.0
// See names_one.cu.
template <typename T> __global__ void twice(T *p) { p[threadIdx.x] *= 2; }
