// SPDX-License-Identifier: Apache-2.0
// Adds up each row of a matrix. A block adds up one row.
template <typename T> __device__ T block_sum(T *part, T mine)
{
    part[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    return part[0];
}

extern "C" __global__ void rows(const int *in, int *out, int columns)
{
    __shared__ int part[64];
    int sum = 0;

    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        sum += in[blockIdx.x * columns + c];
    sum = block_sum(part, sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
