/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of CUDA's runtime: the last error of each thread, the error of the device, and the names and texts of errors. */
#include "runtime/cuda/cu_trace_priv.h"

/* The last error of the thread, which cudaGetLastError() returns, and the number of calls of the driver interface in progress. */
static _Thread_local cudaError_t last;
static _Thread_local unsigned driver_calls;
static _Atomic enum cu_use use;

cudaError_t cu_return(cudaError_t error)
{
    if (driver_calls != 0)
        return error;
    use = CU_USED;
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last = error;
    cu_trace_call(error, cudaGetErrorName(error));
    return error;
}

bool cu_is_driver_call(void)
{
    return driver_calls != 0;
}

enum cu_use cu_runtime_use(void)
{
    return use;
}

void cu_runtime_reset(void)
{
    use = CU_RESET;
}

void cu_driver_begin(void)
{
    driver_calls++;
}

void cu_driver_end(void)
{
    driver_calls--;
}

cudaError_t cu_device_error(void)
{
    if (rt_machine() == NULL)
        return cudaErrorNoDevice;
    if (!rt_stopped())
        return cudaSuccess;
    switch (rt_fault()) { /* devices return these errors for kernels that fail in these ways (tests/runtime/devices/) */
    case LANEWISE_FAULT_OUT_OF_BOUNDS:
    case LANEWISE_FAULT_FREED:
    case LANEWISE_FAULT_READ_ONLY:
    case LANEWISE_FAULT_NULL_PAGE: return cudaErrorIllegalAddress;
    case LANEWISE_FAULT_MISALIGNED: return cudaErrorMisalignedAddress;
    case LANEWISE_FAULT_ASSERT: return cudaErrorAssert;
    case LANEWISE_FAULT_BAD_PC:
    case LANEWISE_FAULT_BAD_CALL: return cudaErrorIllegalInstruction;
    default: return cudaErrorLaunchFailure;
    }
}

CU_API cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;

    last = cudaSuccess;
    cu_trace_read();
    return error;
}

CU_API cudaError_t cudaPeekAtLastError(void)
{
    cu_trace_read();
    return last;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} rows[] = {
#define LW_ERROR(number, name, driver_name, text) {number, #name, text},
#define LW_RUNTIME_ERROR(number, name, text) {number, #name, text},
#include "runtime/cuda/cu_errors.def"
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
