// SPDX-License-Identifier: Apache-2.0
// One of three files whose kernels are linked, for tests of debuggers. This file has two kernels and main(). The variable `hidden` and
// the type `item` are different ones in each file.
#include <cstdio>
#include <cuda_runtime.h>
#include "modules.cuh"
struct item { int number; };
__device__ int total = 5;
static __device__ int hidden = 11;
__global__ void fill(shape *s, int n)
{
    int t = threadIdx.x;
    item own = {doubled(t) * n + hidden};
    s[t].width = own.number;
    s[t].weight = blend(&s[t], 0.5f);
    total = n;
}
__global__ void scale(shape *s, float by)
{
    int t = threadIdx.x;
    float scaled = s[t].weight * by;
    s[t].weight = scaled;
}
int main()
{
    shape *s;

    if (cudaMallocManaged(&s, 32 * sizeof *s) != cudaSuccess)
        return 1;
    fill<<<1, 32>>>(s, 3);
    scale<<<1, 32>>>(s, 2.0f);
    spread<<<1, 32>>>(s, 7);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    printf("host: %d %g %d\n", s[2].width, s[2].weight, s[2].sides[1]);
    return s[2].width != 23 || s[2].weight != 76 || s[2].sides[1] != 47;
}
