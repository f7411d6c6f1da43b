// SPDX-License-Identifier: Apache-2.0
// After an invalid access under --strict, all later calls return errors, until cudaDeviceReset makes the device work again.
#include <cstdio>
#include <cuda_runtime.h>
__device__ int total = 40;
__global__ void past(int *p) { p[threadIdx.x + 1000] = 1; }
__global__ void get(int *p) { *p = total; }
static int wrong;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); wrong = 1; } } while (0)

int main()
{
    int *p, *q, h[32] = {0}, n = 0;
    void *pinned, *managed;
    size_t before, after, all, stack, size;
    unsigned flags;
    cudaFuncCache config;
    cudaStream_t stream;
    cudaPointerAttributes a;

    EXPECT(cudaMalloc(&p, sizeof h) == 0 && cudaStreamCreate(&stream) == 0);
    EXPECT(cudaMallocHost(&pinned, 4096) == 0 && cudaMallocManaged(&managed, 4096) == 0);
    // kinds of memory
    EXPECT(cudaPointerGetAttributes(&a, p + 3) == 0 && a.type == cudaMemoryTypeDevice && a.hostPointer == nullptr);
    EXPECT(cudaPointerGetAttributes(&a, (char *)pinned + 8) == 0 && a.type == cudaMemoryTypeHost && a.hostPointer == (char *)pinned + 8);
    EXPECT(cudaPointerGetAttributes(&a, managed) == 0 && a.type == cudaMemoryTypeManaged && a.devicePointer == managed);
    EXPECT(cudaPointerGetAttributes(&a, h) == 0 && a.type == cudaMemoryTypeUnregistered && a.hostPointer == h);
    // a freed device pointer does not count as a host pointer
    EXPECT(cudaMalloc(&q, 64) == 0 && cudaFree(q) == 0);
    EXPECT(cudaMemcpy(h, q, 4, cudaMemcpyDefault) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(q, h, 4, cudaMemcpyDefault) == cudaErrorInvalidValue && cudaFree(q) == cudaErrorInvalidValue);
    get<<<1, 1>>>(p);
    EXPECT(cudaMemcpy(h, p, 4, cudaMemcpyDefault) == 0 && h[0] == 40);
    n = 7;
    EXPECT(cudaMemcpyToSymbol(total, &n, sizeof n) == 0);
    EXPECT(cudaMemGetInfo(&before, &all) == 0);
    // settings and registered memory, which the reset removes, too
    EXPECT(cudaDeviceGetLimit(&stack, cudaLimitStackSize) == 0 && cudaDeviceSetLimit(cudaLimitStackSize, 4 * stack) == 0);
    EXPECT(cudaDeviceGetLimit(&size, cudaLimitStackSize) == 0 && size == 4 * stack);
    EXPECT(cudaSetDeviceFlags(cudaDeviceScheduleYield) == 0 && cudaGetDeviceFlags(&flags) == 0 && flags == cudaDeviceScheduleYield);
    EXPECT(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1) == 0);
    EXPECT(cudaHostRegister(h, sizeof h, 0) == 0 && cudaHostRegister(h, sizeof h, 0) == cudaErrorHostMemoryAlreadyRegistered);
    (void)cudaGetLastError();
    // a fault, after which all calls return an error
    past<<<1, 32>>>(p);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    get<<<1, 1>>>(p);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&q, 64) == cudaErrorIllegalAddress && cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    // after the reset, the device is as new: no allocations, streams or changed variables, and launches work
    EXPECT(cudaDeviceReset() == 0);
    (void)cudaGetLastError();
    EXPECT(cudaMemGetInfo(&after, &all) == 0 && after > before);
    EXPECT(cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue && cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    (void)cudaGetLastError();
    EXPECT(cudaDeviceGetLimit(&size, cudaLimitStackSize) == 0 && size == stack);
    EXPECT(cudaGetDeviceFlags(&flags) == 0 && flags == 0 && cudaDeviceGetCacheConfig(&config) == 0 && config == cudaFuncCachePreferNone);
    EXPECT(cudaPointerGetAttributes(&a, h) == 0 && a.type == cudaMemoryTypeUnregistered);
    EXPECT(cudaHostUnregister(h) == cudaErrorHostMemoryNotRegistered && cudaHostRegister(h, sizeof h, 0) == 0 && cudaHostUnregister(h) == 0);
    (void)cudaGetLastError();
    for (int round = 0; round < 3; round++) {
        EXPECT(cudaMalloc(&p, sizeof h) == 0);
        get<<<1, 1>>>(p);
        EXPECT(cudaMemcpy(&n, p, sizeof n, cudaMemcpyDeviceToHost) == 0 && n == 40);
        past<<<1, 32>>>(p);
        EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress && cudaDeviceReset() == 0);
    }
    puts(wrong ? "wrong" : "all right");
    return wrong;
}
