// SPDX-License-Identifier: Apache-2.0
#include "parts.h"
__device__ int offset = 5;
static __global__ void own(int *data) { *data = setting[1] - 2; }
int of_two(int *d)
{
    const int value = 22;
    int result = 0;

    if (cudaMemcpyToSymbol(setting, &value, sizeof value, sizeof value) != cudaSuccess)
        return -1;
    own<<<1, 1>>>(d);
    return cudaMemcpy(&result, d, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess ? result : -2;
}
__global__ void shift(int *data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = twice(data[i]) + offset;
}
