// SPDX-License-Identifier: Apache-2.0
#include "parts.h"
__device__ int offset = 5;
__global__ void shift(int *data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = twice(data[i]) + calculate<op::multiply>(offset, 4) - norm<modulusL2>(15);
}
