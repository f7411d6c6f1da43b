// SPDX-License-Identifier: Apache-2.0
// Stores past the end of a buffer or, with an argument, before its start.
#include <cuda_runtime.h>
__global__ void past(int *p, int n) { p[(int)threadIdx.x + n] = 1; }
static void launch(int *p, int n)
{
    past<<<1, 32>>>(p, n);
}
int main(int argc, char **)
{
    int *p;

    cudaMalloc(&p, 128);
    launch(p, argc > 1 ? -40 : 16);
    return cudaDeviceSynchronize();
}
