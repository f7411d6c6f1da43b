// SPDX-License-Identifier: Apache-2.0
// See linked_one.cu.
__managed__ int sum;
__device__ int twice(int x) { return 2 * x; }
template <int N> __global__ void multiply(int *p) { p[threadIdx.x] *= N; }
namespace {
__device__ int offset = 50;
__global__ void add(int *p) { p[threadIdx.x] += offset; }
} // namespace
static __global__ void decrease(int *p) { p[threadIdx.x] -= 10; }
static __constant__ int table = 30;
__global__ void count() { atomicAdd(&sum, 1); }
__global__ void child(int *p) { p[0] = 77; }
__global__ void launch(int *p) { child<<<1, 1>>>(p); } // needs NVIDIA's library for launches by kernels

bool other(int *p)
{
    int value = 0;

    multiply<3><<<1, 32>>>(p);
    add<<<1, 32>>>(p);
    decrease<<<1, 32>>>(p);
    count<<<1, 32>>>();
    return cudaMemcpyFromSymbol(&value, table, sizeof value) == cudaSuccess && value == 30;
}
