// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time of calls of the CUDA runtime, for bench/programs/calls.
#include <cstdio>
#include <ctime>
#include <vector>

static double seconds()
{
    timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
__global__ void empty(int *) {}

int main()
{
    const size_t size = 64 << 20;
    std::vector<char> host(size);
    void *p;
    double begin;

    if (cudaMalloc(&p, 4) != cudaSuccess)
        return 1;
    empty<<<1, 32>>>((int *)p);
    begin = seconds();
    for (int i = 0; i < 100000; i++)
        empty<<<1, 32>>>((int *)p);
    printf("launch by CUDA            %8.3f us\n", (seconds() - begin) / 100000 * 1e6);
    begin = seconds();
    for (int i = 0; i < 1000; i++) {
        cudaMalloc(&p, 1 << 20);
        cudaFree(p);
    }
    printf("cudaMalloc and cudaFree   %8.3f us, 1 MiB\n", (seconds() - begin) / 1000 * 1e6);
    cudaMalloc(&p, size);
    cudaMemcpy(p, host.data(), size, cudaMemcpyHostToDevice);
    begin = seconds();
    for (int i = 0; i < 10; i++)
        cudaMemcpy(p, host.data(), size, cudaMemcpyHostToDevice);
    printf("cudaMemcpy                %8.3f GB/s, 64 MiB\n", 10.0 * size / (seconds() - begin) * 1e-9);
    return 0;
}
