// SPDX-License-Identifier: Apache-2.0
// Stores past the end of a buffer.
#include <cuda_runtime.h>
__global__ void past(int *p, int n) { p[threadIdx.x + n] = 1; }
static void launch(int *p)
{
    past<<<1, 32>>>(p, 16);
}
int main()
{
    int *p;

    cudaMalloc(&p, 128);
    launch(p);
    return cudaDeviceSynchronize();
}
