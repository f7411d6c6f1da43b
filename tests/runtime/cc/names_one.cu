// SPDX-License-Identifier: Apache-2.0
// Names that the files of a program share: kernels and variables that are static or in an unnamed namespace differ in each file,
// and a kernel template exists once. test_cc.sh links this file with names_two.cu, with -rdc=true and without.
#include <cstdio>

#include "names.cuh"

extern void other(int *p);
static __device__ int scale = 3;
static __device__ int get() { return scale; }
static __global__ void work(int *p) { p[threadIdx.x] *= get(); }
namespace {
__global__ void hidden(int *p) { p[threadIdx.x] += 1; }
struct inner { static __device__ int one() { return 1; } };
} // namespace
namespace tool { static __global__ void work(int *p) { p[threadIdx.x] += 10 * inner::one(); } }
static __global__ void copies(int *p)
{
    if (threadIdx.x == 0)
        cudaMemcpyAsync(p + 2, p, 2 * sizeof *p, cudaMemcpyDeviceToDevice); /* runs a kernel of a header */
}

int main()
{
    int *p, h[4] = {1, 2, 3, 4}, value = 7, right = 1;

    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    right &= cudaMemcpyToSymbol(scale, &value, sizeof value) == cudaSuccess;
    work<<<1, 4>>>(p);
    hidden<<<1, 4>>>(p);
    tool::work<<<1, 4>>>(p);
    twice<int><<<1, 4>>>(p);
    other(p);
    copies<<<1, 4>>>(p);
    right &= cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int i = 0; i < 4; i++)
        if (h[i] != (((i % 2 + 1) * 7 + 11) * 2 + 100) * 2 + 1000 + 20000) {
            right = 0;
            printf("element %d is %d\n", i, h[i]);
        }
    puts(right && cudaGetLastError() == cudaSuccess ? "all right" : "wrong");
    return !right;
}
