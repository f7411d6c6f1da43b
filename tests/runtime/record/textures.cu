/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with a texture object, a surface object, and a texture object in memory. */
#include <cstdio>
__constant__ float scale = 2;
__global__ void sample(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *out)
{
    const int i = threadIdx.x;
    float value;

    surf1Dread(&value, surface, 4 * i);
    out[i] = scale * tex1Dfetch<float>(texture, i) + value;
    surf1Dwrite(value + 1, surface, 4 * i);
}
__global__ void from_memory(const cudaTextureObject_t *textures, float *out)
{
    out[threadIdx.x] += tex1Dfetch<float>(textures[1], threadIdx.x);
}
int main()
{
    cudaTextureObject_t texture, *textures;
    cudaSurfaceObject_t surface;
    cudaResourceDesc linear = {}, array = {};
    cudaTextureDesc how = {};
    float host[32], *in, *out;

    for (int i = 0; i < 32; i++)
        host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = in;
    linear.res.linear.sizeInBytes = sizeof host;
    linear.res.linear.desc = cudaCreateChannelDesc<float>();
    how.readMode = cudaReadModeElementType;
    cudaCreateTextureObject(&texture, &linear, &how, nullptr);
    array.resType = cudaResourceTypeArray;
    cudaMallocArray(&array.res.array.array, &linear.res.linear.desc, 32, 0, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(array.res.array.array, 0, 0, host, sizeof host, sizeof host, 1, cudaMemcpyHostToDevice);
    cudaCreateSurfaceObject(&surface, &array);
    sample<<<1, 32>>>(texture, surface, out);
    cudaMalloc(&textures, 16);
    cudaMemcpy(textures + 1, &texture, 8, cudaMemcpyHostToDevice);
    from_memory<<<1, 32>>>(textures, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\n", host[31]);
    return cudaDeviceSynchronize();
}
