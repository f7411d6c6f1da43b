/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's runtime: memory pools. A pool counts its memory. Memory that a program frees leaves the pool immediately, so a
 * pool reserves no more memory than it uses, and a release threshold has no effect.
 */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>
#include <string.h>

/** Attributes of pools, as in enum cudaMemPoolAttr. */
enum pool_attribute {
    REUSE_EVENTS = 1, REUSE_OPPORTUNISTIC, REUSE_INTERNAL, RELEASE_THRESHOLD, RESERVED_NOW, RESERVED_HIGH, USED_NOW, USED_HIGH
};
enum { LOCATION_NONE, LOCATION_DEVICE, LOCATION_HOST, LOCATION_NODE, ALLOCATION_PINNED = 1, ALLOCATION_MANAGED, ACCESS_READ_WRITE = 3 };

struct cu_pool {
    struct cu_pool *next;
    uint64_t used, used_high, limit; /* limit 0: none */
    uint64_t release_threshold;
    int reuse[3];
};

/* The default pool of the device, the pool from which cudaMallocAsync() allocates, and all pools that the program has created. They
 * are global, because a process has one device. */
static struct cu_pool default_pool = {.reuse = {1, 1, 1}};
static struct cu_pool *current, *pools;

struct location {
    int type, id;
};
struct pool_properties {
    int allocation, handles;
    struct location location;
    void *security;
    size_t limit;
    unsigned char reserved[56];
};
struct access {
    struct location location;
    int flags;
};

static bool is_pool(const struct cu_pool *pool)
{
    const struct cu_pool *p = pools;

    while (p != NULL && p != pool)
        p = p->next;
    return pool != NULL && (pool == &default_pool || p == pool);
}

struct cu_pool *cu_pool_current(void)
{
    return current != NULL ? current : &default_pool;
}

cudaError_t cu_pool_add(struct cu_pool *pool, uint64_t bytes)
{
    if (!is_pool(pool)) /* another thread has destroyed the pool */
        return cudaErrorInvalidValue;
    if (pool->limit != 0 && bytes > pool->limit - pool->used)
        return cudaErrorMemoryAllocation;
    pool->used += bytes;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    return cudaSuccess;
}

void cu_pool_remove(struct cu_pool *pool, uint64_t bytes)
{
    pool->used -= bytes;
}

void cu_pools_reset(void)
{
    while (pools != NULL) {
        struct cu_pool *p = pools;

        pools = p->next;
        cu_trace_released(p, p);
    }
    current = NULL;
    default_pool = (struct cu_pool){.reuse = {1, 1, 1}};
}

CU_API cudaError_t cudaDeviceGetDefaultMemPool(struct cu_pool **out, int device)
{
    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    *out = &default_pool;
    return cu_return(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

CU_API cudaError_t cudaDeviceGetMemPool(struct cu_pool **out, int device)
{
    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    *out = cu_pool_current();
    rt_unlock();
    return cu_return(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

CU_API cudaError_t cudaDeviceSetMemPool(int device, struct cu_pool *pool)
{
    cudaError_t error = device == 0 ? cudaSuccess : cudaErrorInvalidDevice;

    rt_lock();
    if (error == cudaSuccess && !is_pool(pool))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        current = pool;
    rt_unlock();
    return cu_return(error);
}

/** Returns the error of a request for the pool of a place and kind of memory. The only pools are those of device memory. */
static cudaError_t place_error(const struct location *location, int allocation)
{
    if (location == NULL || allocation < ALLOCATION_PINNED || allocation > ALLOCATION_MANAGED)
        return cudaErrorInvalidValue;
    if (location->type < (allocation == ALLOCATION_MANAGED ? LOCATION_NONE : LOCATION_DEVICE) || location->type > LOCATION_NODE)
        return cudaErrorInvalidValue;
    if (location->type == LOCATION_DEVICE && location->id != 0)
        return cudaErrorInvalidDevice;
    return location->type == LOCATION_DEVICE && allocation == ALLOCATION_PINNED ? cudaSuccess : cudaErrorNotSupported;
}

CU_API cudaError_t cudaMemGetDefaultMemPool(struct cu_pool **out, const struct location *location, int allocation)
{
    const cudaError_t error = out != NULL ? place_error(location, allocation) : cudaErrorInvalidValue;

    return error == cudaSuccess ? cudaDeviceGetDefaultMemPool(out, 0) : cu_return(error);
}

CU_API cudaError_t cudaMemGetMemPool(struct cu_pool **out, const struct location *location, int allocation)
{
    const cudaError_t error = out != NULL ? place_error(location, allocation) : cudaErrorInvalidValue;

    return error == cudaSuccess ? cudaDeviceGetMemPool(out, 0) : cu_return(error);
}

CU_API cudaError_t cudaMemSetMemPool(const struct location *location, int allocation, struct cu_pool *pool)
{
    const cudaError_t error = place_error(location, allocation);

    return error == cudaSuccess ? cudaDeviceSetMemPool(0, pool) : cu_return(error);
}

CU_API cudaError_t cudaMemPoolCreate(struct cu_pool **out, const struct pool_properties *p)
{
    struct cu_pool *pool;

    if (out == NULL || p == NULL || p->allocation != ALLOCATION_PINNED)
        return cu_return(cudaErrorInvalidValue);
    if (p->location.type != LOCATION_DEVICE || p->handles != 0) /* no memory of the host, no other processes */
        return cu_return(cudaErrorNotSupported);
    if (p->location.id != 0)
        return cu_return(cudaErrorInvalidDevice);
    pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    *pool = (struct cu_pool){.limit = p->limit, .reuse = {1, 1, 1}};
    rt_lock();
    pool->next = pools;
    pools = pool;
    cu_trace_created(pool, CU_THING_POOL, 0);
    rt_unlock();
    *out = pool;
    return cu_return(cudaSuccess);
}

CU_API cudaError_t cudaMemPoolDestroy(struct cu_pool *pool)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    for (struct cu_pool **at = &pools; pool != NULL && *at != NULL; at = &(*at)->next)
        if (*at == pool) {
            *at = pool->next;
            current = current == pool ? NULL : current;
            cu_memory_forget_pool(pool);
            cu_trace_released(pool, pool);
            error = cudaSuccess;
            break;
        }
    if (error != cudaSuccess)
        cu_trace_handle(pool);
    rt_unlock();
    return cu_return(error);
}

/** Reads or writes an attribute. Its value is an int if the attribute selects how memory is reused, else a number of 64 bits. */
static cudaError_t attribute_access(struct cu_pool *pool, int attribute, void *value, bool write)
{
    cudaError_t error = value != NULL ? cudaSuccess : cudaErrorInvalidValue;
    uint64_t number = 0;

    rt_lock();
    if (error == cudaSuccess && (!is_pool(pool) || attribute < REUSE_EVENTS || attribute > USED_HIGH))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess) {
    } else if (attribute <= REUSE_INTERNAL) {
        int *reuse = &pool->reuse[attribute - REUSE_EVENTS];

        memcpy(write ? reuse : value, write ? value : reuse, sizeof *reuse);
    } else if (write) {
        memcpy(&number, value, sizeof number);
        if (attribute == RELEASE_THRESHOLD)
            pool->release_threshold = number;
        else if ((attribute == RESERVED_HIGH || attribute == USED_HIGH) && number == 0) /* the mark can only be reset */
            pool->used_high = pool->used;
        else
            error = cudaErrorInvalidValue;
    } else {
        number = attribute == RELEASE_THRESHOLD                            ? pool->release_threshold
                 : attribute == RESERVED_HIGH || attribute == USED_HIGH ? pool->used_high
                                                                        : pool->used;
        memcpy(value, &number, sizeof number);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaMemPoolSetAttribute(struct cu_pool *pool, int attribute, void *value)
{
    return attribute_access(pool, attribute, value, true);
}

CU_API cudaError_t cudaMemPoolGetAttribute(struct cu_pool *pool, int attribute, void *value)
{
    return attribute_access(pool, attribute, value, false);
}

CU_API cudaError_t cudaMemPoolTrimTo(struct cu_pool *pool, size_t bytes)
{
    bool found;

    (void)bytes;
    rt_lock();
    found = is_pool(pool);
    rt_unlock();
    return cu_return(found ? cudaSuccess : cudaErrorInvalidValue);
}

/** The only device always has access to its own pool. */
CU_API cudaError_t cudaMemPoolSetAccess(struct cu_pool *pool, const struct access *list, size_t count)
{
    cudaError_t error = list != NULL || count == 0 ? cudaSuccess : cudaErrorInvalidValue;

    rt_lock();
    if (!is_pool(pool))
        error = cudaErrorInvalidValue;
    rt_unlock();
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        if (list[i].location.type != LOCATION_DEVICE || list[i].location.id != 0 || list[i].flags != ACCESS_READ_WRITE)
            error = cudaErrorInvalidDevice;
    return cu_return(error);
}

CU_API cudaError_t cudaMemPoolGetAccess(int *flags, struct cu_pool *pool, const struct location *location)
{
    cudaError_t error = flags != NULL && location != NULL ? cudaSuccess : cudaErrorInvalidValue;

    rt_lock();
    if (error == cudaSuccess && !is_pool(pool))
        error = cudaErrorInvalidValue;
    rt_unlock();
    if (error == cudaSuccess && (location->type != LOCATION_DEVICE || location->id != 0))
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess)
        *flags = ACCESS_READ_WRITE;
    return cu_return(error);
}

CU_API cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, struct cu_pool *pool, cudaStream_t stream)
{
    bool found;

    rt_lock();
    found = is_pool(pool);
    rt_unlock();
    return found ? cu_return(cu_pool_allocate(out, bytes, pool, stream)) : cu_return(cudaErrorInvalidValue);
}
