/* SPDX-License-Identifier: Apache-2.0 */
/* Header of a program for test_cc.sh. Each of its two files has kernels that use functions and variables of the other file. */
#include <cuda_runtime.h>
extern __device__ int offset;
__device__ int twice(int x);
__global__ void shift(int *data, int n);
int on_host(int x);
