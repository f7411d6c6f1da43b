/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: initialisation, the device, contexts. */
#include "runtime/cuda/cu_driver_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cudaError_t cudaDeviceGetAttribute(int *out, int attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceGetLimit(size_t *out, int limit);
cudaError_t cudaDeviceSetLimit(int limit, size_t value);
cudaError_t cudaGetDeviceFlags(unsigned *out);
cudaError_t cudaSetDeviceFlags(unsigned flags);

enum { DRIVER_VERSION = 13000, MAX_CONTEXTS = 64 };

/** A context. A context has no memory or modules of its own, because the process has one device with one memory. */
struct cu_context {
    struct cu_context *next;
    unsigned flags, attached; /* attached: calls of cuCtxAttach() without a call of cuCtxDetach() */
    unsigned long long id;    /* 0: the primary context */
};

/* This state is global, because a process has one device. Each thread has a stack of contexts; the last one is current. */
static struct {
    bool initialised;
    struct cu_context *contexts;
    struct cu_context primary;
    unsigned primary_references;
    unsigned long long last_id;
} driver;
static _Thread_local struct {
    CUcontext stack[MAX_CONTEXTS];
    unsigned count;
} current;

CUresult cu_result(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return error;
    }
}

/** Returns true if the primary context exists: the program has retained it, or uses the runtime. */
static bool is_primary_active(void)
{
    return driver.primary_references != 0 || cu_runtime_use() == CU_USED;
}

/** Returns true if the handle is an existing context. The caller holds the lock. */
static bool is_context(CUcontext context)
{
    if (context == &driver.primary)
        return is_primary_active();
    for (const struct cu_context *c = driver.contexts; c != NULL; c = c->next)
        if (c == context)
            return true;
    return false;
}

/** Returns the thread's current context, or NULL if there is none. The primary context may be current even after it was
 *  destroyed. In a program that also uses the runtime, a thread without a context uses the primary context. Locked. */
static CUcontext current_context(void)
{
    while (current.count != 0 && current.stack[current.count - 1] != NULL && current.stack[current.count - 1] != &driver.primary &&
           !is_context(current.stack[current.count - 1]))
        current.count--; /* the context was destroyed */
    if (current.count != 0)
        return current.stack[current.count - 1];
    return cu_runtime_use() != CU_NOT_USED ? &driver.primary : NULL;
}

CUresult cu_need_driver(void)
{
    return driver.initialised || cu_runtime_use() != CU_NOT_USED ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cu_need_context(void)
{
    CUresult result;
    CUcontext context;

    rt_lock();
    result = cu_need_driver();
    context = current_context();
    if (result == CUDA_SUCCESS && context == NULL)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && !is_context(context))
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (result == CUDA_SUCCESS)
        result = cu_device_error();
    rt_unlock();
    return result;
}

/* ---- initialisation ---------------------------------------------------------------------------------------------- */

CU_API CUresult cuInit(unsigned flags)
{
    CUresult result = CUDA_SUCCESS;

    if (flags != 0)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    if (rt_machine() == NULL)
        result = CUDA_ERROR_NO_DEVICE;
    else
        driver.initialised = true;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuDriverGetVersion(int *out)
{
    if (out == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    *out = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult result;
    const char *name, *text;
} rows[] = {
#define LW_ERROR(number, runtime_name, name, text) {number, #name, text},
#define LW_DRIVER_ERROR(number, name, text) {number, #name, text},
#include "runtime/cuda/cu_errors.def"
};

CUresult cu_driver_return(CUresult result)
{
    const char *name = "an error";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].result == result)
            name = rows[i].name;
    if (!cu_is_driver_call())
        cu_trace_call(result, name);
    return result;
}

/** Sets *@out to the name of an error, or to its text. */
static CUresult describe(CUresult error, const char **out, bool text)
{
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].result == error)
            *out = text ? rows[i].text : rows[i].name;
    return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CU_API CUresult cuGetErrorName(CUresult error, const char **out)
{
    return cu_driver_return(describe(error, out, false));
}

CU_API CUresult cuGetErrorString(CUresult error, const char **out)
{
    return cu_driver_return(describe(error, out, true));
}

/** Returns true if the code at @address is in a shared library of NVIDIA, such as libnvrtc.so.13. */
static bool is_in_library_of_nvidia(const void *address)
{
    const char *slash;
    Dl_info info;

    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    slash = strrchr(info.dli_fname, '/');
    return strncmp(slash != NULL ? slash + 1 : info.dli_fname, "libnv", 5) == 0;
}

/** Called by the static runtime that nvcc links into programs by default, and by some libraries. The tables are not documented, so a
 *  program whose runtime needs one cannot run. Shared libraries of NVIDIA, such as its compiler libnvrtc, continue without a table. */
CU_API CUresult cuGetExportTable(const void **out, const void *id)
{
    (void)id;
    if (!is_in_library_of_nvidia(__builtin_return_address(0)))
        fprintf(stderr, "lanewise: the program or one of its libraries requests an undocumented table of NVIDIA's driver, which Lanewise does not "
                        "have: if the program is linked with the static CUDA runtime, link it with nvcc -cudart shared\n");
    if (out != NULL)
        *out = NULL;
    return cu_driver_return(CUDA_ERROR_NOT_SUPPORTED);
}

CU_API CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status)
{
    enum { FOUND, NOT_FOUND };

    (void)flags; /* @flags may select functions that use the stream of the thread, which is the default stream here */
    if (name == NULL || out == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    *out = cu_driver_symbol(name, version);
    if (status != NULL)
        *status = *out != NULL ? FOUND : NOT_FOUND;
    return cu_driver_return(*out != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CU_API CUresult cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, out, version, flags, NULL);
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

static CUresult need_device(CUdevice device, const void *out)
{
    return cu_need_driver() != CUDA_SUCCESS ? CUDA_ERROR_NOT_INITIALIZED
           : out == NULL                 ? CUDA_ERROR_INVALID_VALUE
           : device != 0                 ? CUDA_ERROR_INVALID_DEVICE
                                         : CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGet(CUdevice *out, int ordinal)
{
    CUresult result = need_device(ordinal, out);

    if (result == CUDA_SUCCESS)
        *out = 0;
    return cu_driver_return(result);
}

CU_API CUresult cuDeviceGetCount(int *out)
{
    CUresult result = need_device(0, out);

    if (result == CUDA_SUCCESS)
        *out = 1;
    return cu_driver_return(result);
}

CU_API CUresult cuDeviceGetName(char *out, int bytes, CUdevice device)
{
    CUresult result = need_device(device, out);
    char model[64];

    if (result != CUDA_SUCCESS || bytes <= 0)
        return cu_driver_return(result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    if (rt_machine() != NULL && lanewise_timing_value(rt_machine(), "name", model, sizeof model) == LANEWISE_OK)
        snprintf(out, (size_t)bytes, "Lanewise %s", model);
    else
        snprintf(out, (size_t)bytes, "Lanewise GPU emulator");
    rt_unlock();
    return CUDA_SUCCESS;
}

CU_API CUresult cuDeviceGetUuid(void *out, CUdevice device)
{
    CUresult result = need_device(device, out);

    if (result == CUDA_SUCCESS)
        memset(out, 0, 16);
    return cu_driver_return(result);
}
CU_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);

/** Windows gives devices such an identifier. Here it is zero, as in the properties of the device. */
CU_API CUresult cuDeviceGetLuid(char *out, unsigned *node_mask, CUdevice device)
{
    enum { LUID_BYTES = 8 };
    CUresult result = need_device(device, out);

    if (result == CUDA_SUCCESS && node_mask == NULL)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        memset(out, 0, LUID_BYTES);
        *node_mask = 0;
    }
    return cu_driver_return(result);
}

CU_API CUresult cuDeviceTotalMem(size_t *out, CUdevice device)
{
    CUresult result = need_device(device, out);

    if (result == CUDA_SUCCESS)
        *out = rt_memory_bytes();
    return cu_driver_return(result);
}
CU_ALIAS(cuDeviceTotalMem, cuDeviceTotalMem_v2);

CU_API CUresult cuDeviceGetAttribute(int *out, int attribute, CUdevice device)
{
    CUresult result = need_device(device, out);

    if (result == CUDA_SUCCESS)
        result = CU_DRIVER(cudaDeviceGetAttribute(out, attribute, device));
    return cu_driver_return(result);
}

CU_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult result = need_device(device, major != NULL ? minor : NULL);

    if (result == CUDA_SUCCESS) {
        *major = CU_COMPUTE_MAJOR;
        *minor = CU_COMPUTE_MINOR;
    }
    return cu_driver_return(result);
}

CU_API CUresult cuDeviceGetPCIBusId(char *out, int bytes, CUdevice device)
{
    CUresult result = need_device(device, out);

    if (result == CUDA_SUCCESS)
        snprintf(out, bytes > 0 ? (size_t)bytes : 0, "0000:00:00.0");
    return cu_driver_return(result);
}

CU_API CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *id)
{
    if (id == NULL || strcmp(id, "0000:00:00.0") != 0)
        return cu_driver_return(CUDA_ERROR_INVALID_DEVICE);
    return cuDeviceGet(out, 0);
}

CU_API CUresult cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer)
{
    CUresult result = need_device(device, out);

    (void)peer;
    if (result == CUDA_SUCCESS)
        *out = 0;
    return cu_driver_return(result);
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/** Makes a context the thread's current one. The caller holds the lock. */
static CUresult push(CUcontext context)
{
    if (current.count == MAX_CONTEXTS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    current.stack[current.count++] = context;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxCreate(CUcontext *out, unsigned flags, CUdevice device)
{
    CUresult result = need_device(device, out);
    struct cu_context *context;

    if (result == CUDA_SUCCESS && !cu_flags_are_valid(flags))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    context = calloc(1, sizeof *context);
    if (context == NULL)
        return cu_driver_return(CUDA_ERROR_OUT_OF_MEMORY);
    rt_lock();
    context->flags = flags;
    context->id = ++driver.last_id;
    result = cu_device_error();
    if (result == CUDA_SUCCESS)
        result = push(context);
    if (result == CUDA_SUCCESS) {
        context->next = driver.contexts;
        driver.contexts = context;
        *out = context;
        cu_trace_created(context, CU_THING_CONTEXT, 0);
    } else {
        free(context);
    }
    rt_unlock();
    return cu_driver_return(result);
}
CU_ALIAS(cuCtxCreate, cuCtxCreate_v2);

CU_API CUresult cuCtxCreate_v3(CUcontext *out, void *parameters, int count, unsigned flags, CUdevice device)
{
    (void)parameters;
    return cu_driver_return(count != 0 ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate(out, flags, device));
}

/** Parameters of a context that uses only a part of the device, or that is used together with graphics. */
struct context_parameters {
    void *affinity;
    int affinity_count;
    void *graphics;
};

CU_API CUresult cuCtxCreate_v4(CUcontext *out, const struct context_parameters *parameters, unsigned flags, CUdevice device)
{
    return cu_driver_return(parameters != NULL && (parameters->affinity_count != 0 || parameters->graphics != NULL)
               ? CUDA_ERROR_NOT_SUPPORTED
               : cuCtxCreate(out, flags, device));
}

/** Frees the context. Memory and modules that were created in it remain until the process ends, because reports may refer to
 *  them. */
CU_API CUresult cuCtxDestroy(CUcontext context)
{
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;

    if (context == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    for (struct cu_context **at = &driver.contexts; *at != NULL; at = &(*at)->next)
        if (*at == context) {
            *at = context->next;
            if (current.count != 0 && current.stack[current.count - 1] == context)
                current.count--;
            cu_trace_released(context, context);
            cu_trace_context_ended();
            result = CUDA_SUCCESS;
            break;
        }
    rt_unlock();
    return cu_driver_return(result);
}
CU_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);

CU_API CUresult cuCtxPushCurrent(CUcontext context)
{
    CUresult result;

    if (context == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    result = is_context(context) ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
    rt_unlock();
    return cu_driver_return(result);
}
CU_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);

CU_API CUresult cuCtxPopCurrent(CUcontext *out)
{
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;

    rt_lock();
    current_context();
    if (current.count != 0) {
        CUcontext context = current.stack[--current.count];

        if (out != NULL)
            *out = context;
        result = CUDA_SUCCESS;
    }
    rt_unlock();
    return cu_driver_return(result);
}
CU_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);

CU_API CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult result = cu_need_driver();

    rt_lock();
    if (result == CUDA_SUCCESS && context != NULL && !is_context(context))
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        current.count -= current.count != 0;
        if (context != NULL)
            result = push(context);
    }
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuCtxGetCurrent(CUcontext *out)
{
    CUresult result = cu_need_driver();

    if (result != CUDA_SUCCESS || out == NULL)
        return cu_driver_return(result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    *out = current_context();
    rt_unlock();
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetDevice(CUdevice *out)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = 0;
    return cu_driver_return(result);
}

CU_API CUresult cuCtxGetFlags(unsigned *out)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    rt_lock();
    if (result == CUDA_SUCCESS && current_context() == &driver.primary)
        result = CU_DRIVER(cudaGetDeviceFlags(out)); /* the flags of the device are those of its primary context */
    else if (result == CUDA_SUCCESS)
        *out = current_context()->flags;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuCtxSetFlags(unsigned flags)
{
    CUresult result = cu_flags_are_valid(flags) ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    rt_lock();
    if (result == CUDA_SUCCESS && current_context() == &driver.primary)
        result = CU_DRIVER(cudaSetDeviceFlags(flags));
    else if (result == CUDA_SUCCESS)
        current_context()->flags = flags;
    rt_unlock();
    return cu_driver_return(result);
}

/** Gets a number that no other context of the process has. Without @context, that of the current context. */
CU_API CUresult cuCtxGetId(CUcontext context, unsigned long long *out)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    rt_lock();
    if (result == CUDA_SUCCESS && context != NULL && !is_context(context))
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS)
        *out = (context != NULL ? context : current_context())->id + 1;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuCtxAttach(CUcontext *out, unsigned flags)
{
    CUresult result = out != NULL && flags == 0 ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    rt_lock();
    if (result == CUDA_SUCCESS) {
        *out = current_context();
        (*out)->attached++;
    }
    rt_unlock();
    return cu_driver_return(result);
}

/** Undoes cuCtxAttach(). The last call destroys a context that cuCtxCreate() has created. */
CU_API CUresult cuCtxDetach(CUcontext context)
{
    CUresult result = cu_need_context();
    bool is_last;

    rt_lock();
    is_last = result == CUDA_SUCCESS && current_context() == context && context->attached == 0;
    if (result == CUDA_SUCCESS && (current_context() != context || (is_last && context == &driver.primary)))
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && !is_last)
        context->attached--;
    rt_unlock();
    return result == CUDA_SUCCESS && is_last ? cuCtxDestroy(context) : cu_driver_return(result);
}

CU_API CUresult cuCtxGetApiVersion(CUcontext context, unsigned *out)
{
    (void)context;
    if (out == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    *out = 3020;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxSynchronize(void)
{
    return CU_IN_CONTEXT(cudaDeviceSynchronize());
}

CU_API CUresult cuCtxGetLimit(size_t *out, int limit)
{
    return CU_IN_CONTEXT(cudaDeviceGetLimit(out, limit));
}

CU_API CUresult cuCtxSetLimit(int limit, size_t value)
{
    return CU_IN_CONTEXT(cudaDeviceSetLimit(limit, value));
}

CU_API CUresult cuCtxGetCacheConfig(int *out)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = 0;
    return cu_driver_return(result);
}
CU_ALIAS(cuCtxGetCacheConfig, cuCtxGetSharedMemConfig);

CU_API CUresult cuCtxSetCacheConfig(int config)
{
    (void)config;
    return cu_driver_return(cu_need_context());
}
CU_ALIAS(cuCtxSetCacheConfig, cuCtxSetSharedMemConfig);

CU_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = 0;
    return cu_driver_return(cu_need_context());
}

CU_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    (void)peer, (void)flags;
    return cu_driver_return(CUDA_ERROR_INVALID_CONTEXT); /* there is no other device */
}

CU_API CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    (void)peer;
    return cu_driver_return(cudaErrorPeerAccessNotEnabled);
}

/* ---- the primary context ----------------------------------------------------------------------------------------- */

CU_API CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    CUresult result = need_device(device, out);

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    rt_lock();
    driver.primary_references++;
    *out = &driver.primary;
    rt_unlock();
    return CUDA_SUCCESS;
}

CU_API CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUresult result = need_device(device, &device);

    rt_lock();
    if (result == CUDA_SUCCESS && driver.primary_references == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        driver.primary_references--;
        cu_trace_context_ended();
    }
    rt_unlock();
    return cu_driver_return(result);
}
CU_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

CU_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    CUresult result = need_device(device, &device);

    return cu_driver_return(result == CUDA_SUCCESS ? CU_DRIVER(cudaSetDeviceFlags(flags)) : result);
}
CU_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

/** Resets the flags. Memory and modules remain, as after the end of another context. */
CU_API CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    rt_lock();
    cu_trace_context_ended();
    rt_unlock();
    return cuDevicePrimaryCtxSetFlags(device, 0);
}
CU_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

CU_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUresult result = need_device(device, flags != NULL ? active : NULL);

    if (result == CUDA_SUCCESS) {
        *active = is_primary_active();
        result = CU_DRIVER(cudaGetDeviceFlags(flags));
    }
    return cu_driver_return(result);
}

CU_API CUresult cuProfilerStart(void)
{
    return cu_driver_return(cu_need_context());
}

CU_API CUresult cuProfilerStop(void)
{
    return cu_driver_return(cu_need_context());
}
