// SPDX-License-Identifier: Apache-2.0
#include "parts.h"
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

__device__ int twice(int x) { return sum(x, x); }
template <class T> static __global__ void scale(T *data, int n, T by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = std::min(data[i] * by, T(1000));
}
// A constant with the address of a host function, which kernels do not use.
static int seven() { return 7; }
extern int (*const host_table[])();
int (*const host_table[])() = {seven};
static int wrong;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); wrong = 1; } } while (0)

int main(int argc, char **argv)
{
    const int n = 1000;
    std::vector<int> v(n);
    std::vector<float> f(n);
    int *d = nullptr, blocks, threads;
    float *e = nullptr;
    cudaDeviceProp p;
    cudaFuncAttributes a;
    cudaPointerAttributes where;

    EXPECT(host_table[0]() == 7);
    for (int i = 0; i < n; i++)
        v[i] = i, f[i] = i;
    EXPECT(cudaMalloc(&d, n * sizeof *d) == cudaSuccess && cudaMalloc(&e, n * sizeof *e) == cudaSuccess);
    EXPECT(cudaMemcpy(d, v.data(), n * sizeof *d, cudaMemcpyHostToDevice) == cudaSuccess);
    EXPECT(cudaMemcpy(e, f.data(), n * sizeof *e, cudaMemcpyHostToDevice) == cudaSuccess);
    shift<<<(n + 127) / 128, 128>>>(d, n);
    scale<<<dim3((n + 127) / 128), 128>>>(e, n, 3.0f);
    EXPECT(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(cudaMemcpy(v.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost) == cudaSuccess);
    EXPECT(cudaMemcpy(f.data(), e, n * sizeof *e, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < n; i++)
        EXPECT(v[i] == 2 * i + 5 && f[i] == std::min(3.0f * i, 1000.0f));
    // mathematical functions have the same types as with nvcc
    EXPECT(abs(-1.5f) == 1.5f && std::abs(-2.5) == 2.5 && max(3, 2) == 3 && rsqrtf(4.0f) == 0.5f);
    // the layouts of structures are those of the runtime (CUDA 13)
    static_assert(sizeof p == 1008 && sizeof a == 144 && sizeof where == 88, "sizes");
    EXPECT(cudaGetDeviceProperties(&p, 0) == cudaSuccess && std::string(p.name).find("Lanewise") == 0);
    EXPECT(p.warpSize == 32 && p.major == 7 && p.minor == 5 && p.maxThreadsPerMultiProcessor == 2048 && p.cooperativeLaunch == 1);
    EXPECT(p.clockRate > 0 && p.memoryClockRate > 0 && p.sharedMemPerBlockOptin == 65536 && p.maxBlocksPerMultiProcessor == 32);
    EXPECT(cudaFuncGetAttributes(&a, scale<float>) == cudaSuccess && a.maxThreadsPerBlock == 1024 && a.numRegs > 0);
    EXPECT(cudaPointerGetAttributes(&where, d) == cudaSuccess && where.type == cudaMemoryTypeDevice && where.devicePointer == d);
    EXPECT(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, scale<float>) == cudaSuccess && threads == 1024 && blocks > 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1), config.blockDim = dim3(32);
    EXPECT(cudaLaunchKernelEx(&config, scale<float>, e, 32, 2) == cudaSuccess);
    EXPECT(cudaMemcpy(f.data(), e, sizeof f[0] * 32, cudaMemcpyDeviceToHost) == cudaSuccess && f[10] == 60);
    EXPECT(on_host(argc) == argc + 100 && in_c(3) == 6 && std::string(argv[0]) != "");
    puts(wrong ? "wrong" : "all right");
    return wrong;
}
