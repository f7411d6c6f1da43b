/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of CUDA's runtime: the last error of each thread, and the names and texts of errors. */
#include "runtime/cuda/cu_priv.h"

/* The last error of the thread, which cudaGetLastError() returns. */
static _Thread_local cudaError_t last;

cudaError_t cu_return(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last = error;
    return error;
}

void cu_set_last(cudaError_t error)
{
    last = error;
}

CU_API cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;

    last = cudaSuccess;
    return error;
}

CU_API cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} rows[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorFileNotFound, "cudaErrorFileNotFound", "file not found"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

CU_API const char *cudaGetErrorName(cudaError_t error)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].error == error)
            return rows[i].name;
    return "unrecognized error code";
}

CU_API const char *cudaGetErrorString(cudaError_t error)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].error == error)
            return rows[i].text;
    return "unrecognized error code";
}
