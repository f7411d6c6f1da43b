/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime: functions that other functions implement, such as entry points of the driver interface, attributes of ranges of
 * memory, and copies in batches. */
#include "runtime/cuda/cu_driver_priv.h"

#include <string.h>

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream);
cudaError_t cudaSetDeviceFlags(unsigned flags);

CU_API cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, unsigned long long flags,
                                                    int *status)
{
    enum { FOUND, NOT_FOUND };

    (void)flags; /* as for cuGetProcAddress */
    if (name == NULL || out == NULL)
        return cu_return(cudaErrorInvalidValue);
    *out = cu_driver_symbol(name, (int)version);
    if (status != NULL)
        *status = *out != NULL ? FOUND : NOT_FOUND;
    return cu_return(cudaSuccess);
}

CU_API cudaError_t cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status)
{
    enum { VERSION = 13000 };

    return cudaGetDriverEntryPointByVersion(name, out, VERSION, flags, status);
}

CU_API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    enum { DEVICE_FLAGS_ARE_VALID = 1 };

    if (device != 0)
        return cu_return(cudaErrorInvalidDevice);
    if (flags > DEVICE_FLAGS_ARE_VALID)
        return cu_return(cudaErrorInvalidValue);
    return flags != 0 ? cudaSetDeviceFlags(device_flags) : cu_return(cudaSuccess);
}

/* ---- attributes of ranges of memory -------------------------------------------------------------------------------- */

/** Gets an attribute as if the program had not called cudaMemAdvise() and cudaMemPrefetchAsync(), which have no effect. */
CU_API cudaError_t cudaMemRangeGetAttribute(void *out, size_t out_bytes, int attribute, const void *pointer, size_t bytes)
{
    enum { READ_MOSTLY = 1, PREFERRED, ACCESSED_BY, LAST_PREFETCH, PREFERRED_TYPE, PREFERRED_ID, PREFETCH_TYPE, PREFETCH_ID };
    enum { NO_DEVICE = -2 };
    const int value = attribute == READ_MOSTLY || attribute == PREFERRED_TYPE || attribute == PREFETCH_TYPE ? 0 : NO_DEVICE;
    bool good;

    rt_lock();
    good = out != NULL && bytes != 0 && attribute >= READ_MOSTLY && attribute <= PREFETCH_ID && cu_memory_is_device(pointer);
    rt_unlock();
    if (!good || out_bytes < sizeof value || out_bytes % sizeof value != 0 ||
        (attribute != ACCESSED_BY && out_bytes != sizeof value))
        return cu_return(cudaErrorInvalidValue);
    for (size_t at = 0; at < out_bytes; at += sizeof value)
        memcpy((char *)out + at, &value, sizeof value);
    return cu_return(cudaSuccess);
}

CU_API cudaError_t cudaMemRangeGetAttributes(void **out, size_t *out_bytes, int *attributes, size_t count, const void *pointer,
                                             size_t bytes)
{
    const bool good = out != NULL && out_bytes != NULL && attributes != NULL && count != 0;
    cudaError_t error = good ? cudaSuccess : cudaErrorInvalidValue;

    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemRangeGetAttribute(out[i], out_bytes[i], attributes[i], pointer, bytes);
    return cu_return(error);
}

/** Copies in a stream. Attributes of the copies are hints about the order of accesses and about the place of memory. */
CU_API cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                                        const void *attributes, const size_t *indices, size_t attribute_count, cudaStream_t stream)
{
    enum { ANY_KIND = 4 };
    cudaError_t error = cudaSuccess;

    if (to == NULL || from == NULL || bytes == NULL || count == 0 || attributes == NULL || indices == NULL || attribute_count == 0 ||
        attribute_count > count)
        return cu_return(cudaErrorInvalidValue);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(to[i], from[i], bytes[i], ANY_KIND, stream);
    return error;
}
