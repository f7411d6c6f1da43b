/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: functions that have a function of the runtime with the same meaning. */
#include "runtime/cuda/cu_graph_priv.h"
#include "runtime/cuda/cu_driver_priv.h"

typedef struct cu_pool *CUmemoryPool;
typedef CUfunction CUkernel;

/* ---- memory pools ------------------------------------------------------------------------------------------------- */

CU_SAME(cuMemPoolCreate, cudaMemPoolCreate, (CUmemoryPool *out, const void *properties), (out, properties))
CU_SAME(cuMemPoolDestroy, cudaMemPoolDestroy, (CUmemoryPool pool), (pool))
CU_SAME(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value), (pool, attribute, value))
CU_SAME(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void *value), (pool, attribute, value))
CU_SAME(cuMemPoolTrimTo, cudaMemPoolTrimTo, (CUmemoryPool pool, size_t bytes), (pool, bytes))
CU_SAME(cuMemPoolSetAccess, cudaMemPoolSetAccess, (CUmemoryPool pool, const void *list, size_t count), (pool, list, count))
CU_SAME(cuMemPoolGetAccess, cudaMemPoolGetAccess, (int *flags, CUmemoryPool pool, const void *location), (flags, pool, location))
CU_SAME(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (CUmemoryPool *out, CUdevice device), (out, device))
CU_SAME(cuDeviceGetMemPool, cudaDeviceGetMemPool, (CUmemoryPool *out, CUdevice device), (out, device))
CU_SAME(cuDeviceSetMemPool, cudaDeviceSetMemPool, (CUdevice device, CUmemoryPool pool), (device, pool))
CU_SAME(cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool, (CUmemoryPool *out, const void *location, int allocation),
        (out, location, allocation))
CU_SAME(cuMemGetMemPool, cudaMemGetMemPool, (CUmemoryPool *out, const void *location, int allocation), (out, location, allocation))
CU_SAME(cuMemSetMemPool, cudaMemSetMemPool, (const void *location, int allocation, CUmemoryPool pool), (location, allocation, pool))
cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, CUmemoryPool pool, CUstream stream);
CU_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    return CU_IN_CONTEXT(cudaMallocFromPoolAsync((void **)out, bytes, pool, stream));
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

CU_SAME(cuMemHostGetFlags, cudaHostGetFlags, (unsigned *out, void *pointer), (out, pointer))
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                                 const void *attributes, const size_t *indices, size_t attribute_count, cudaStream_t stream);
cudaError_t cudaMemRangeGetAttribute(void *out, size_t out_bytes, int attribute, const void *pointer, size_t bytes);
cudaError_t cudaMemRangeGetAttributes(void **out, size_t *out_bytes, int *attributes, size_t count, const void *pointer,
                                      size_t bytes);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, const void *pointer, size_t bytes, unsigned flags);

static void *pointer_of(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

enum { IN_DEVICE = 3 };
/** All contexts have the same memory. */
CU_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    (void)to_context, (void)from_context;
    return CU_IN_CONTEXT(cudaMemcpy(pointer_of(to), pointer_of(from), bytes, IN_DEVICE));
}

CU_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                                  CUstream stream)
{
    (void)to_context, (void)from_context;
    return CU_IN_CONTEXT(cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes, IN_DEVICE, stream));
}

CU_API CUresult cuMemcpyBatchAsync_v2(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                                      const void *attributes, const size_t *indices, size_t attribute_count, CUstream stream)
{
    return CU_IN_CONTEXT(cudaMemcpyBatchAsync(to, from, bytes, count, attributes, indices, attribute_count, stream));
}

CU_API CUresult cuMemRangeGetAttribute(void *out, size_t out_bytes, int attribute, CUdeviceptr address, size_t bytes)
{
    return CU_IN_CONTEXT(cudaMemRangeGetAttribute(out, out_bytes, attribute, pointer_of(address), bytes));
}

CU_API CUresult cuMemRangeGetAttributes(void **out, size_t *out_bytes, int *attributes, size_t count, CUdeviceptr address,
                                        size_t bytes)
{
    return CU_IN_CONTEXT(cudaMemRangeGetAttributes(out, out_bytes, attributes, count, pointer_of(address), bytes));
}

CU_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags)
{
    return CU_IN_CONTEXT(cudaStreamAttachMemAsync(stream, pointer_of(address), bytes, flags));
}

/** Advice and prefetches have no effect. @location: type and number of a place. */
CU_API CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, int advice, uint64_t location)
{
    cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, uint64_t location);

    return CU_IN_CONTEXT(cudaMemAdvise(pointer_of(address), bytes, advice, location));
}

CU_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, uint64_t location, unsigned flags, CUstream stream)
{
    cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, uint64_t location);

    (void)flags, (void)stream;
    return CU_IN_CONTEXT(cudaMemPrefetchAsync(pointer_of(address), bytes, location));
}

/** Gets several attributes of a pointer. If it does not point to memory of CUDA, they are 0. */
CU_API CUresult cuPointerGetAttributes(unsigned count, const int *attributes, void **out, CUdeviceptr address)
{
    enum { CONTEXT = 1, DEVICE_POINTER = 3, HOST_POINTER = 4, BEGIN = 11, BYTES = 12 };
    CUresult cuPointerGetAttribute(void *, int, CUdeviceptr);
    CUresult result = count != 0 && attributes != NULL && out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;
    uint64_t begin, bytes;
    bool found = false;

    if (result == CUDA_SUCCESS) {
        rt_lock();
        found = lanewise_allocation(rt_machine(), address, &begin, &bytes) == LANEWISE_OK;
        rt_unlock();
    }
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const int a = attributes[i];

        if (found)
            result = cuPointerGetAttribute(out[i], a, address);
        else if (a == CONTEXT || a == DEVICE_POINTER || a == HOST_POINTER || a == BEGIN || a == BYTES)
            *(uint64_t *)out[i] = 0;
        else
            *(unsigned *)out[i] = 0;
    }
    return cu_driver_return(result);
}

/* ---- streams, kernels and graphs ----------------------------------------------------------------------------------- */

CU_SAME(cuStreamGetFlags, cudaStreamGetFlags, (CUstream stream, unsigned *out), (stream, out))
CU_SAME(cuStreamGetPriority, cudaStreamGetPriority, (CUstream stream, int *out), (stream, out))
CU_SAME(cuStreamGetId, cudaStreamGetId, (CUstream stream, unsigned long long *out), (stream, out))
CU_SAME(cuStreamGetDevice, cudaStreamGetDevice, (CUstream stream, CUdevice *out), (stream, out))
CU_SAME(cuStreamGetAttribute, cudaStreamGetAttribute, (CUstream stream, int id, void *value), (stream, id, value))
CU_SAME(cuStreamSetAttribute, cudaStreamSetAttribute, (CUstream stream, int id, const void *value), (stream, id, value))
CU_SAME(cuStreamCopyAttributes, cudaStreamCopyAttributes, (CUstream to, CUstream from), (to, from))
CU_SAME(cuKernelGetName, cudaFuncGetName, (const char **out, CUkernel kernel), (out, kernel))
CU_SAME(cuOccupancyAvailableDynamicSMemPerBlock, cudaOccupancyAvailableDynamicSMemPerBlock,
        (size_t *out, CUfunction function, int blocks, int threads), (out, function, blocks, threads))
CU_SAME(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams, (cudaGraphExec_t *out, cudaGraph_t graph, void *parameters),
        (out, graph, parameters))

/** A kernel of a library has the same handle as its function. */
CU_API CUresult cuKernelGetAttribute(int *out, int attribute, CUkernel kernel, CUdevice device)
{
    CUresult cuFuncGetAttribute(int *, int, CUfunction);

    return device == 0 ? cuFuncGetAttribute(out, attribute, kernel) : cu_driver_return(CUDA_ERROR_INVALID_DEVICE);
}

CU_API CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice device)
{
    CUresult cuFuncSetAttribute(CUfunction, int, int);

    return device == 0 ? cuFuncSetAttribute(kernel, attribute, value) : cu_driver_return(CUDA_ERROR_INVALID_DEVICE);
}

CU_API CUresult cuKernelSetCacheConfig(CUkernel kernel, int config, CUdevice device)
{
    CUresult cuFuncSetCacheConfig(CUfunction, int);

    return device == 0 ? cuFuncSetCacheConfig(kernel, config) : cu_driver_return(CUDA_ERROR_INVALID_DEVICE);
}
