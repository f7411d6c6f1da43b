// SPDX-License-Identifier: Apache-2.0
// A launch that needs a heap of more than the default size, and one with a texture.
#include <cstring>
#include <cuda_runtime.h>

__global__ void takes(int *out, size_t bytes)
{
    void *memory = malloc(bytes);

    out[0] = memory != nullptr;
    free(memory);
}

__global__ void fetches(cudaTextureObject_t t, int *out)
{
    out[0] = tex1Dfetch<int>(t, 1);
}

int main()
{
    cudaResourceDesc from;
    cudaTextureDesc how;
    cudaTextureObject_t t = 0;
    int *out, *texels, got = 0, value[2] = {3, 5};

    cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t(64) << 20);
    cudaMalloc(&out, 4);
    cudaMalloc(&texels, sizeof value);
    cudaMemcpy(texels, value, sizeof value, cudaMemcpyHostToDevice);
    takes<<<1, 1>>>(out, size_t(16) << 20);
    cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
    if (got != 1)
        return 1;
    memset(&from, 0, sizeof from);
    memset(&how, 0, sizeof how);
    from.resType = cudaResourceTypeLinear;
    from.res.linear.devPtr = texels;
    from.res.linear.desc = cudaCreateChannelDesc<int>();
    from.res.linear.sizeInBytes = sizeof value;
    if (cudaCreateTextureObject(&t, &from, &how, nullptr) != cudaSuccess)
        return 2;
    fetches<<<1, 1>>>(t, out);
    cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
    return got == 5 ? 0 : 3;
}
