/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that the program registers: kernels, copies and fills access it by its device pointer. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

enum { N = 5000 };

__global__ void twice(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        p[i] *= 2;
}

#define EXPECT(C) ((C) ? (void)0 : (void)(failed = 1, printf("line %d: %s\n", __LINE__, #C)))

int main()
{
    static int host[N], other[N];
    cudaPointerAttributes of;
    int failed = 0, *device = nullptr, *inner = nullptr;
    unsigned flags;

    for (int i = 0; i < N; i++)
        host[i] = i;
    EXPECT(cudaHostGetDevicePointer((void **)&device, host, 0) == cudaErrorInvalidValue);
    EXPECT(cudaHostRegister(host, sizeof host, cudaHostRegisterMapped) == cudaSuccess);
    EXPECT(cudaHostRegister(other, sizeof other, cudaHostRegisterDefault) == cudaSuccess);
    EXPECT(cudaHostGetFlags(&flags, host + 1) == cudaSuccess && flags == cudaHostRegisterMapped);
    EXPECT(cudaHostGetDevicePointer((void **)&device, host, 0) == cudaSuccess && device != nullptr);
    EXPECT(cudaHostGetDevicePointer((void **)&inner, host + 100, 0) == cudaSuccess && inner == device + 100);
    EXPECT(cudaPointerGetAttributes(&of, device + 7) == cudaSuccess && of.type == cudaMemoryTypeHost &&
           of.hostPointer == host + 7 && of.devicePointer == device + 7);
    EXPECT(cudaPointerGetAttributes(&of, host + 7) == cudaSuccess && of.type == cudaMemoryTypeHost && of.devicePointer == device + 7);
    for (int turn = 1; turn <= 3; turn++) {
        twice<<<(N + 127) / 128, 128>>>(device, N);
        EXPECT(cudaDeviceSynchronize() == cudaSuccess);
        for (int i = 0; i < N; i++)
            if (host[i] != i << turn) {
                printf("turn %d: host[%d] = %d\n", turn, i, host[i]);
                return 1;
            }
    }
    twice<<<1, 128>>>(inner, 10);
    host[3] = 77; /* the host's stores reach the next launch */
    twice<<<1, 128>>>(device, 4);
    EXPECT(host[3] == 154 && host[99] == 99 * 8 && host[100] == 100 * 16 && host[109] == 109 * 16 && host[110] == 110 * 8);
    EXPECT(cudaMemset(device, 0, 8) == cudaSuccess && host[0] == 0 && host[1] == 0 && host[2] == 32);
    EXPECT(cudaMemcpy(other, device, sizeof other, cudaMemcpyDeviceToHost) == cudaSuccess && other[4999] == 4999 * 8);
    other[0] = 5;
    EXPECT(cudaMemcpy(device, other, 4, cudaMemcpyHostToDevice) == cudaSuccess && host[0] == 5);
    EXPECT(cudaFree(device) == cudaErrorInvalidValue && cudaFreeHost(device) == cudaErrorInvalidValue);
    EXPECT(cudaHostUnregister(host) == cudaSuccess && cudaHostUnregister(other) == cudaSuccess);
    EXPECT(cudaMemset(device, 0, 8) == cudaErrorInvalidValue && host[0] == 5);
    EXPECT(cudaHostRegister(host, sizeof host, 0) == cudaSuccess);
    EXPECT(cudaHostGetDevicePointer((void **)&device, host, 0) == cudaSuccess);
    EXPECT(cudaDeviceReset() == cudaSuccess && cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
    puts(failed ? "wrong" : "all right");
    return failed;
}
