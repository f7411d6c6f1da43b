// SPDX-License-Identifier: Apache-2.0
// See names_one.cu.
#include "names.cuh"

static __device__ int scale = 100;
static __device__ int get() { return scale; }
static __global__ void work(int *p) { p[threadIdx.x] += get(); }
namespace {
__global__ void hidden(int *p) { p[threadIdx.x] += 1000; }
struct inner {
    __device__ int operator()(int x) const { return x + 6000000; }
};
} // namespace
namespace tool { static __global__ void work(int *p) { p[threadIdx.x] += 20000; } }
static void call(int *p) { apply<<<1, 4>>>(p, [] __device__(int x) { return x + setting[1]; }); }

bool other(int *p)
{
    const int value = 500000;

    if (cudaMemcpyToSymbol(setting, &value, sizeof value, sizeof value) != cudaSuccess)
        return false;
    work<<<1, 4>>>(p);
    twice<int><<<1, 4>>>(p);
    hidden<<<1, 4>>>(p);
    tool::work<<<1, 4>>>(p);
    call(p);
    apply<<<1, 4>>>(p, inner());
    return true;
}
