// SPDX-License-Identifier: Apache-2.0
// A program for CUDA's runtime, for test_cuda.sh. It prints a line for each error, and exits with status 1 if there were any.
#include <stdio.h>
#include <string.h>
#ifdef __CUDACC_VER_MAJOR__
#define BARRIER() __syncthreads()
#include <cuda_runtime.h>
#else
#include "mini_cuda.h"
#define BARRIER() asm volatile("bar.sync 0;" ::: "memory")
#endif

__constant__ float scale[4];
static __device__ int counter;
extern __shared__ int tile[];
namespace {
template <class T> __global__ void axpy(const T *a, T *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] += scale[1] * a[i];
}
}
__global__ void reverse(int *data)
{
    tile[threadIdx.x] = data[threadIdx.x];
    BARRIER();
    data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
    if (threadIdx.x == 0)
        counter = 77;
}
__global__ void past(int *data, int n) { data[threadIdx.x + n] = 1; }

static int wrong;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); wrong = 1; } } while (0)

int main()
{
    const int n = 1000;
    static float h[n], g[n];
    const float s[4] = {0, 3, 0, 0};
    float *a, *b, ms = -1;
    int *m, count = 0, c = 0, block[64];
    size_t pitch;
    cudaStream_t stream;
    cudaEvent_t begin, end;

    EXPECT(cudaGetDeviceCount(&count) == 0 && count == 1);
    for (int i = 0; i < n; i++)
        h[i] = i, g[i] = 1;
    EXPECT(cudaMemcpyToSymbol((const void *)scale, s, sizeof s, 0, cudaMemcpyHostToDevice) == 0);
    EXPECT(cudaMalloc((void **)&a, sizeof h) == 0 && cudaMalloc((void **)&b, sizeof h) == 0);
    EXPECT(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice) == 0);
    EXPECT(cudaMemcpy(b, g, sizeof g, cudaMemcpyDefault) == 0);
    EXPECT(cudaStreamCreate(&stream) == 0 && cudaEventCreate(&begin) == 0 && cudaEventCreate(&end) == 0);
    EXPECT(cudaEventRecord(begin, stream) == 0);
    axpy<float><<<(n + 127) / 128, 128, 0, stream>>>(a, b, n);
    EXPECT(cudaGetLastError() == 0);
    EXPECT(cudaEventRecord(end, stream) == 0 && cudaEventSynchronize(end) == 0);
    EXPECT(cudaEventElapsedTime(&ms, begin, end) == 0 && ms > 0);
    EXPECT(cudaMemcpy(g, b, sizeof g, cudaMemcpyDeviceToHost) == 0);
    for (int i = 0; i < n; i++)
        EXPECT(g[i] == 1 + 3 * i);
    // memory that host and device use; dynamic shared memory; a static variable
    EXPECT(cudaMallocManaged((void **)&m, 64 * sizeof *m, 1) == 0);
    for (int i = 0; i < 64; i++)
        m[i] = i;
    reverse<<<1, 64, 64 * sizeof(int)>>>(m);
    EXPECT(cudaDeviceSynchronize() == 0);
    for (int i = 0; i < 64; i++)
        EXPECT(m[i] == 63 - i);
    EXPECT(cudaMemcpyFromSymbol(&c, (const void *)&counter, sizeof c, 0, cudaMemcpyDeviceToHost) == 0 && c == 77);
    // pitched copies
    EXPECT(cudaMallocPitch((void **)&m, &pitch, 16, 4) == 0 && pitch % 512 == 0);
    for (int i = 0; i < 16; i++)
        block[i] = i;
    EXPECT(cudaMemcpy2D(m, pitch, block, 16, 16, 4, cudaMemcpyHostToDevice) == 0);
    memset(block, 0, sizeof block);
    EXPECT(cudaMemcpy2D(block, 16, m, pitch, 16, 4, cudaMemcpyDeviceToHost) == 0);
    for (int i = 0; i < 16; i++)
        EXPECT(block[i] == i);
    // wrong use returns an error code, which remains until the program reads it
    reverse<<<1, 2048>>>(m);
    EXPECT(cudaPeekAtLastError() == 1 && cudaGetLastError() == 1 && cudaGetLastError() == 0);
    reverse<<<1, 64, 1 << 20>>>(m);
    EXPECT(cudaGetLastError() == 1);
    // sizes that overflow, rows without bytes, NULL
    reverse<<<1, 64, (size_t)-16>>>(m);
    EXPECT(cudaGetLastError() == 1);
    EXPECT(cudaMallocPitch((void **)&m, &pitch, (size_t)1 << 60, 1 << 10) == 1);
    EXPECT(cudaMallocPitch((void **)&m, &pitch, (size_t)-1, 1) == 1);
    EXPECT(cudaMemset2D(a, 16, 0, 0, (size_t)-1) == 0);
    EXPECT(cudaMemcpy2D(block, 16, a, 16, 0, (size_t)-1, cudaMemcpyDefault) == 0);
    EXPECT(cudaMemcpy(block, NULL, 4, cudaMemcpyHostToHost) == 1 && cudaMemcpy(NULL, h, 4, cudaMemcpyDefault) == 1);
    for (unsigned threads = 1024; threads < 1u << 31; threads *= 2) // no call of this code divides by 0
        EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, (const void *)reverse, (int)threads, 0) == 0 &&
               (threads == 1024) == (count > 0));
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, (const void *)reverse, 64, (size_t)-1) == 0 && count == 0);
    EXPECT(cudaMemcpy(block, h, 4, cudaMemcpyHostToDevice) != 0);
    EXPECT(cudaMemcpy(a, h, sizeof h + 4, cudaMemcpyHostToDevice) != 0);
    EXPECT(cudaFree(block) != 0 && cudaStreamSynchronize((cudaStream_t)block) == 400);
    EXPECT(strcmp(cudaGetErrorName((cudaError_t)400), "cudaErrorInvalidResourceHandle") == 0);
    cudaGetLastError();
    // an overrun is a finding, and the program continues
    past<<<1, 4>>>((int *)a, n);
    EXPECT(cudaDeviceSynchronize() == 0);
    EXPECT(cudaStreamSynchronize(stream) == 0); // after a fault, this call would also return the error
    EXPECT(cudaMemcpy(h, a, 4, cudaMemcpyDeviceToHost) == 0);
    EXPECT(cudaFree(a) == 0 && cudaFree(b) == 0 && cudaStreamDestroy(stream) == 0 && cudaEventDestroy(begin) == 0);
    puts(wrong ? "wrong" : "all right");
    return wrong;
}
