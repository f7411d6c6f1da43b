/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime and driver interface: memory and events of other processes. Each process has a device of its own here, so these
 * functions return cudaErrorNotSupported. */
#include "runtime/cuda/cu_driver_priv.h"

struct ipc_handle {
    char bytes[64];
};

/** Defines a function of the runtime that is not supported. */
#define NOT_SUPPORTED(NAME, PARAMETERS) \
    CU_API cudaError_t NAME PARAMETERS \
    { \
        return cu_return(cudaErrorNotSupported); \
    }
/** Defines a function of the driver interface that is not supported. */
#define DRIVER_NOT_SUPPORTED(NAME, PARAMETERS) \
    CU_API CUresult NAME PARAMETERS \
    { \
        const CUresult result = cu_need_context(); \
\
        return result == CUDA_SUCCESS ? CUDA_ERROR_NOT_SUPPORTED : result; \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"

NOT_SUPPORTED(cudaIpcGetMemHandle, (struct ipc_handle *out, void *pointer))
NOT_SUPPORTED(cudaIpcOpenMemHandle, (void **out, struct ipc_handle handle, unsigned flags))
NOT_SUPPORTED(cudaIpcCloseMemHandle, (void *pointer))
NOT_SUPPORTED(cudaIpcGetEventHandle, (struct ipc_handle *out, cudaEvent_t event))
NOT_SUPPORTED(cudaIpcOpenEventHandle, (cudaEvent_t *out, struct ipc_handle handle))
NOT_SUPPORTED(cudaMemPoolExportToShareableHandle, (void *out, void *pool, int type, unsigned flags))
NOT_SUPPORTED(cudaMemPoolImportFromShareableHandle, (void **out, void *handle, int type, unsigned flags))
NOT_SUPPORTED(cudaMemPoolExportPointer, (struct ipc_handle *out, void *pointer))
NOT_SUPPORTED(cudaMemPoolImportPointer, (void **out, void *pool, struct ipc_handle *from))
DRIVER_NOT_SUPPORTED(cuIpcGetMemHandle, (struct ipc_handle *out, CUdeviceptr address))
DRIVER_NOT_SUPPORTED(cuIpcOpenMemHandle, (CUdeviceptr *out, struct ipc_handle handle, unsigned flags))
DRIVER_NOT_SUPPORTED(cuIpcCloseMemHandle, (CUdeviceptr address))
DRIVER_NOT_SUPPORTED(cuIpcGetEventHandle, (struct ipc_handle *out, CUevent event))
DRIVER_NOT_SUPPORTED(cuIpcOpenEventHandle, (CUevent *out, struct ipc_handle handle))
CU_ALIAS(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);
