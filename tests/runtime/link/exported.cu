// SPDX-License-Identifier: Apache-2.0
// A kernel that a shared library exports to the program (PROGRAM), as the attribute requests.
#include <cstdio>

__attribute__((visibility("default"))) __global__ void set(int *p);
#ifndef PROGRAM
__managed__ int value = 5;
__global__ void set(int *p) { p[0] = value; }
#else
int main()
{
    int *p;
    bool good = cudaMallocManaged(&p, sizeof *p) == cudaSuccess;

    set<<<1, 1>>>(p);
    good &= cudaDeviceSynchronize() == cudaSuccess && p[0] == 5;
    puts(good ? "all right" : "wrong");
    return !good;
}
#endif
