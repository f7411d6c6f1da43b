/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that launches a kernel, and then copies and fills memory in the same stream. */
#include <cstdio>
__global__ void child(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void parent(int *a, int *b, int n)
{
    cudaStream_t stream;

    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    child<<<n / 256, 256, 0, stream>>>(a);
    cudaMemcpyAsync(b, a, n * sizeof(int) - 3, cudaMemcpyDeviceToDevice, stream);
    cudaMemsetAsync((char *)a + 1, 7, 5, stream);
    cudaMemcpyAsync(b, a, 0, cudaMemcpyDeviceToDevice, stream);
    cudaStreamDestroy(stream);
}
int main()
{
    const int n = 100 * 1024;
    int *a, *b, *host = new int[n], wrong = 0;

    size_t limit = 0;
    wrong += cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096) != cudaSuccess;
    wrong += cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount) != cudaSuccess || limit != 4096;
    for (int i = 0; i < n; i++)
        host[i] = i;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaMemset(b, 0, n * sizeof(int));
    cudaMemcpy(a, host, n * sizeof(int), cudaMemcpyHostToDevice);
    parent<<<1, 1>>>(a, b, n);
    cudaMemcpy(host, b, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        wrong += host[i] != (i < n - 1 ? i + 1 : (n & 0xff)); /* three bytes of the last element are not copied */
    cudaMemcpy(host, a, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    wrong += host[0] != 0x07070701 || host[1] != 0x0707;
    puts(wrong == 0 && cudaDeviceSynchronize() == cudaSuccess ? "all right" : "wrong");
    return wrong != 0;
}
