/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: the table of its functions for cuGetProcAddress, which finds only these. */
#include "runtime/cuda/cu_driver_priv.h"

#include <string.h>

#define FUNCTIONS(X) \
    X(cuCtxCreate) \
    X(cuCtxDestroy) \
    X(cuCtxDisablePeerAccess) \
    X(cuCtxEnablePeerAccess) \
    X(cuCtxGetApiVersion) \
    X(cuCtxGetCacheConfig) \
    X(cuCtxGetCurrent) \
    X(cuCtxGetDevice) \
    X(cuCtxGetFlags) \
    X(cuCtxGetLimit) \
    X(cuCtxGetSharedMemConfig) \
    X(cuCtxGetStreamPriorityRange) \
    X(cuCtxPopCurrent) \
    X(cuCtxPushCurrent) \
    X(cuCtxSetCacheConfig) \
    X(cuCtxSetCurrent) \
    X(cuCtxSetLimit) \
    X(cuCtxSetSharedMemConfig) \
    X(cuCtxSynchronize) \
    X(cuDeviceCanAccessPeer) \
    X(cuDeviceComputeCapability) \
    X(cuDeviceGet) \
    X(cuDeviceGetAttribute) \
    X(cuDeviceGetByPCIBusId) \
    X(cuDeviceGetCount) \
    X(cuDeviceGetName) \
    X(cuDeviceGetPCIBusId) \
    X(cuDeviceGetUuid) \
    X(cuDevicePrimaryCtxGetState) \
    X(cuDevicePrimaryCtxRelease) \
    X(cuDevicePrimaryCtxReset) \
    X(cuDevicePrimaryCtxRetain) \
    X(cuDevicePrimaryCtxSetFlags) \
    X(cuDeviceTotalMem) \
    X(cuDriverGetVersion) \
    X(cuEventCreate) \
    X(cuEventDestroy) \
    X(cuEventElapsedTime) \
    X(cuEventQuery) \
    X(cuEventRecord) \
    X(cuEventRecordWithFlags) \
    X(cuEventSynchronize) \
    X(cuFuncGetAttribute) \
    X(cuFuncGetModule) \
    X(cuFuncGetName) \
    X(cuFuncSetAttribute) \
    X(cuFuncSetCacheConfig) \
    X(cuFuncSetSharedMemConfig) \
    X(cuGetErrorName) \
    X(cuGetErrorString) \
    X(cuGetExportTable) \
    X(cuGetProcAddress) \
    X(cuInit) \
    X(cuKernelGetFunction) \
    X(cuLaunchCooperativeKernel) \
    X(cuLaunchHostFunc) \
    X(cuLaunchKernel) \
    X(cuLaunchKernelEx) \
    X(cuLibraryGetGlobal) \
    X(cuLibraryGetKernel) \
    X(cuLibraryGetModule) \
    X(cuLibraryLoadData) \
    X(cuLibraryLoadFromFile) \
    X(cuLibraryUnload) \
    X(cuLinkAddData) \
    X(cuLinkAddFile) \
    X(cuLinkComplete) \
    X(cuLinkCreate) \
    X(cuLinkDestroy) \
    X(cuMemAdvise) \
    X(cuMemAlloc) \
    X(cuMemAllocAsync) \
    X(cuMemAllocHost) \
    X(cuMemAllocManaged) \
    X(cuMemAllocPitch) \
    X(cuMemFree) \
    X(cuMemFreeAsync) \
    X(cuMemFreeHost) \
    X(cuMemGetAddressRange) \
    X(cuMemGetInfo) \
    X(cuMemHostAlloc) \
    X(cuMemHostGetDevicePointer) \
    X(cuMemHostRegister) \
    X(cuMemHostUnregister) \
    X(cuMemPrefetchAsync) \
    X(cuMemcpy) \
    X(cuMemcpy2D) \
    X(cuMemcpy2DAsync) \
    X(cuMemcpy2DUnaligned) \
    X(cuMemcpy3D) \
    X(cuMemcpy3DAsync) \
    X(cuMemcpyAsync) \
    X(cuMemcpyDtoD) \
    X(cuMemcpyDtoDAsync) \
    X(cuMemcpyDtoH) \
    X(cuMemcpyDtoHAsync) \
    X(cuMemcpyHtoD) \
    X(cuMemcpyHtoDAsync) \
    X(cuMemsetD16) \
    X(cuMemsetD16Async) \
    X(cuMemsetD2D16) \
    X(cuMemsetD2D16Async) \
    X(cuMemsetD2D32) \
    X(cuMemsetD2D32Async) \
    X(cuMemsetD2D8) \
    X(cuMemsetD2D8Async) \
    X(cuMemsetD32) \
    X(cuMemsetD32Async) \
    X(cuMemsetD8) \
    X(cuMemsetD8Async) \
    X(cuModuleGetFunction) \
    X(cuModuleGetFunctionCount) \
    X(cuModuleGetGlobal) \
    X(cuModuleGetLoadingMode) \
    X(cuModuleLoad) \
    X(cuModuleLoadData) \
    X(cuModuleLoadDataEx) \
    X(cuModuleLoadFatBinary) \
    X(cuModuleUnload) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
    X(cuOccupancyMaxPotentialBlockSize) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags) \
    X(cuPointerGetAttribute) \
    X(cuProfilerStart) \
    X(cuProfilerStop) \
    X(cuStreamAddCallback) \
    X(cuStreamCreate) \
    X(cuStreamCreateWithPriority) \
    X(cuStreamDestroy) \
    X(cuStreamGetCtx) \
    X(cuStreamQuery) \
    X(cuStreamSynchronize) \
    X(cuStreamWaitEvent)

#define DECLARE(name) extern char name##_ __asm__(#name);
FUNCTIONS(DECLARE)

static const struct {
    const char *name;
    void *function;
} rows[] = {
#define ROW(name) {#name, &name##_},
    FUNCTIONS(ROW)
};

void *cu_driver_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].function;
    return NULL;
}
