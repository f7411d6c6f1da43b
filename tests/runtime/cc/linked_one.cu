// SPDX-License-Identifier: Apache-2.0
// With linked_two.cu, a program that nvcc -rdc=true links: kernels use functions and variables of the other file, and both files
// have kernels and variables of equal names.
#include <cstdio>

extern __managed__ int sum;
__device__ int twice(int x);
__global__ void launch(int *p);
bool other(int *p);
template <int N> __global__ void multiply(int *p) { p[threadIdx.x] *= N; }
namespace {
__device__ int offset = 5;
__global__ void add(int *p) { p[threadIdx.x] += offset; }
} // namespace
static __global__ void decrease(int *p) { p[threadIdx.x] -= 1; }
static __constant__ int table = 3;
__global__ void double_all(int *p) { p[threadIdx.x] = twice(p[threadIdx.x]); }

int main()
{
    int *p, value = 0;
    bool good = cudaMallocManaged(&p, 32 * sizeof *p) == cudaSuccess;

    sum = 4;
    for (int i = 0; i < 32; i++)
        p[i] = i;
    multiply<3><<<1, 32>>>(p);
    add<<<1, 32>>>(p);
    decrease<<<1, 32>>>(p);
    good &= other(p);
    double_all<<<1, 32>>>(p);
    good &= cudaMemcpyFromSymbol(&value, table, sizeof value) == cudaSuccess && value == 3;
    good &= cudaDeviceSynchronize() == cudaSuccess && sum == 36;
    for (int i = 0; i < 32; i++)
        good &= p[i] == 2 * ((3 * i + 5 - 1) * 3 + 50 - 10);
    launch<<<1, 1>>>(p);
    good &= cudaDeviceSynchronize() == cudaSuccess && p[0] == 77;
    puts(good ? "all right" : "wrong");
    return !good;
}
