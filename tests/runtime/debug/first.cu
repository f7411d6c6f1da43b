// SPDX-License-Identifier: Apache-2.0
// One of two files with kernels, for tests of gdb and of --record. This file contains main().
#include <cstdio>
#include <cuda_runtime.h>
void run_second(int *p, int n);
struct pair { int *p; int by; };
__constant__ int factor = 2;
__global__ void first(pair a, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int x = t * factor;
    if (t < n)
        a.p[t] = x + a.by;
}
int main()
{
    int *p, h[100], three = 3;

    if (cudaMalloc(&p, sizeof h) != cudaSuccess)
        return 1;
    first<<<2, 64>>>(pair{p, 1}, 100);
    run_second(p + 50, 50);
    cudaMemcpyToSymbol(factor, &three, sizeof three);
    printf("host: between\n");
    first<<<1, 32>>>(pair{p, 5}, 100);
    if (cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    printf("host: %d %d %d\n", h[10], h[40], h[60]);
    return h[10] != 35 || h[40] != 81 || h[60] != 151;
}
