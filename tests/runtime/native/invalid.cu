// SPDX-License-Identifier: Apache-2.0
// Runs kernels that make invalid accesses: `bounds` outside of a buffer, in the last blocks of the grid, and `tile`, if the program has
// an argument, outside of a shared variable.
#include <cuda_runtime.h>
#include <stdio.h>

enum { COUNT = 1 << 17 };

__global__ void bounds(unsigned *out, int count, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i;

    for (int r = 0; r < rounds; r++)
        v = v * 3 + (v >> 7 ^ r);
    if (i < count)
        out[i] = v;
}

__global__ void tile(unsigned *out, int last)
{
    __shared__ unsigned one[64], two[64];
    int i = threadIdx.x;

    one[i & 63] = two[i & 63] = i;
    __syncthreads();
    if (i == last)
        one[i] = two[i] = i; /* one of the two arrays is at the end of shared memory */
    __syncthreads();
    out[blockIdx.x * blockDim.x + i] = one[i & 63] + two[i & 63];
}

int main(int argc, char **argv)
{
    static unsigned host[COUNT];
    unsigned *out, sum = 0;

    (void)argv;
    cudaMalloc(&out, sizeof host);
    for (int k = 0; k < 2; k++)
        bounds<<<COUNT / 128 + 2, 128>>>(out, COUNT + 41, 3000);
    if (argc > 1)
        tile<<<COUNT / 128, 128>>>(out, 64);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < COUNT; i++)
        sum = sum * 31 + host[i];
    printf("%08x\n", sum);
    return 0;
}
