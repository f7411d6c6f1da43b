/* SPDX-License-Identifier: Apache-2.0 */
/* A program of two files whose kernels use each other's functions and variables, for test_cc.sh. */
#include <cuda_runtime.h>
extern __device__ int offset;
__device__ int twice(int x);
__global__ void shift(int *data, int n);
int on_host(int x);
