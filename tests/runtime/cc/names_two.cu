// SPDX-License-Identifier: Apache-2.0
// See names_one.cu.
#include "names.cuh"

static __device__ int scale = 100;
static __device__ int get() { return scale; }
static __global__ void work(int *p) { p[threadIdx.x] += get(); }
namespace {
__global__ void hidden(int *p) { p[threadIdx.x] += 1000; }
} // namespace
namespace tool { static __global__ void work(int *p) { p[threadIdx.x] += 20000; } }

void other(int *p)
{
    work<<<1, 4>>>(p);
    twice<int><<<1, 4>>>(p);
    hidden<<<1, 4>>>(p);
    tool::work<<<1, 4>>>(p);
}
