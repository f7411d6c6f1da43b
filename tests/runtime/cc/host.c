/* SPDX-License-Identifier: Apache-2.0 */
/* A C file without kernels that calls the runtime and the driver interface. */
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <library_types.h>
#include <stdio.h>
#include <vector_types.h>

static void note(void *calls)
{
    ++*(int *)calls;
}

int main(void)
{
    struct cudaDeviceProp properties;
    struct cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    float4 v = make_float4(1, 2, 3, 4);
    dim3 grid = {2, 3, 1};
    cudaLaunchConfig_t config = {0};
    cuFloatComplex c = cuCmulf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, 4));
    int numbers[4] = {1, 2, 3, 4}, calls = 0, devices = 0, good = 1;
    int *p = NULL;
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    CUdevice device = 0;
    CUcontext context = NULL;
    CUdeviceptr q = 0;
    cudaDataType type = CUDA_R_32F;

    config.gridDim = grid;
    good &= cudaGetDeviceCount(&devices) == cudaSuccess && devices == 1 && config.gridDim.y == 3 && type == 0;
    good &= cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.warpSize == 32;
    good &= v.w == 4 && cuCrealf(c) == -5 && cuCimagf(c) == 10;
    good &= cudaMalloc((void **)&p, sizeof numbers) == cudaSuccess;
    good &= cudaMemcpy(p, numbers, sizeof numbers, cudaMemcpyHostToDevice) == cudaSuccess && cudaMemset(p, 0, 8) == cudaSuccess;
    good &= cudaMemcpy(numbers, p, sizeof numbers, cudaMemcpyDeviceToHost) == cudaSuccess && numbers[1] == 0 && numbers[3] == 4;
    good &= cudaFree(p) == cudaSuccess;
    good &= cudaMallocManaged((void **)&p, 64, cudaMemAttachGlobal) == cudaSuccess;
    /* the functions of CUDA 13 and of earlier versions */
    good &= cudaMemPrefetchAsync(p, 64, here, 0, NULL) == cudaSuccess && cudaMemPrefetchAsync(p, 64, 0, NULL) == cudaSuccess;
    good &= cudaStreamCreate(&stream) == cudaSuccess && cudaEventCreate(&event) == cudaSuccess;
    good &= cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess;
    good &= cudaLaunchHostFunc(stream, note, &calls) == cudaSuccess && cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    good &= cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
    good &= cudaGraphLaunch(exec, stream) == cudaSuccess && cudaGraphLaunch(exec, stream) == cudaSuccess;
    good &= cudaEventRecord(event, stream) == cudaSuccess && cudaEventSynchronize(event) == cudaSuccess && calls == 2;
    good &= cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS && cuCtxCreate(&context, 0, device) == CUDA_SUCCESS;
    good &= cuMemAlloc(&q, 8) == CUDA_SUCCESS && cuMemFree(q) == CUDA_SUCCESS && cuCtxDestroy(context) == CUDA_SUCCESS;
    printf("%s\n", good ? "all right" : "wrong");
    return !good;
}
