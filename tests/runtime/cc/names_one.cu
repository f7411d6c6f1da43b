// SPDX-License-Identifier: Apache-2.0
// Names that the files of a program share: kernels and variables that are static or in an unnamed namespace differ in each file,
// also if only a template argument is of this kind, and a kernel template exists once. test_cc.sh links this file with
// names_two.cu, with -rdc=true and without.
#include <cstdio>

#include "names.cuh"

extern bool other(int *p);
static __device__ int scale = 3;
static __device__ int get() { return scale; }
static __global__ void work(int *p) { p[threadIdx.x] *= get(); }
namespace {
__global__ void hidden(int *p) { p[threadIdx.x] += 1; }
struct inner {
    static __device__ int one() { return 1; }
    __device__ int operator()(int x) const { return x + setting[1]; }
};
} // namespace
namespace tool { static __global__ void work(int *p) { p[threadIdx.x] += 10 * inner::one(); } }
static void call(int *p) { apply<<<1, 4>>>(p, [] __device__(int x) { return x + setting[0]; }); }
static __global__ void copies(int *p)
{
    if (threadIdx.x == 0)
        cudaMemcpyAsync(p + 2, p, 2 * sizeof *p, cudaMemcpyDeviceToDevice); /* runs a kernel of a header */
}

static bool right()
{
    int *p, h[4] = {1, 2, 3, 4}, value = 7;
    const int values[] = {300, 4000};
    bool good = cudaMalloc(&p, sizeof h) == cudaSuccess;

    good &= cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice) == cudaSuccess;
    good &= cudaMemcpyToSymbol(scale, &value, sizeof value) == cudaSuccess;
    good &= cudaMemcpyToSymbol(setting, values, sizeof values) == cudaSuccess;
    work<<<1, 4>>>(p);
    hidden<<<1, 4>>>(p);
    tool::work<<<1, 4>>>(p);
    twice<int><<<1, 4>>>(p);
    good &= other(p);
    call(p);
    apply<<<1, 4>>>(p, inner());
    copies<<<1, 4>>>(p);
    good &= cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int i = 0; i < 4; i++) {
        const int expected = (((i % 2 + 1) * 7 + 11) * 2 + 100) * 2 + 1000 + 20000 + 500000 + 6000000 + 300 + 4000;

        if (h[i] != expected) {
            good = false;
            printf("element %d is %d, expected %d\n", i, h[i], expected);
        }
    }
    return good && cudaGetLastError() == cudaSuccess;
}

int main()
{
    const bool first = right();

    puts(cudaDeviceReset() == cudaSuccess && first && right() ? "all right" : "wrong");
    return !first;
}
