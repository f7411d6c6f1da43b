/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime: the device, with its properties, attributes and limits. */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNTIME_VERSION = 13000, DRIVER_VERSION = 13000, LAST_ATTRIBUTE = 147 };
static const char bus_id[] = "0000:00:00.0";
/** Limits, in the order of enum cudaLimit. A program can set those that are not fixed. The size of the buffer of printf has no
 *  effect, because kernels get as much as they need. */
enum { LIMIT_STACK, LIMIT_PRINTF, LIMIT_HEAP, LIMIT_DEPTH, LIMIT_PENDING, LIMIT_FETCH, LIMITS };
static const struct {
    size_t initial, most, unit; /* first value; largest possible value; a value is rounded up to a multiple of this */
    bool fixed;
} limit_rows[LIMITS] = {
    [LIMIT_STACK] = {1024, 1 << 19, 16, false},
    [LIMIT_PRINTF] = {1 << 20, SIZE_MAX, 1, false},
    [LIMIT_HEAP] = {8 << 20, SIZE_MAX, 1, false},
    [LIMIT_DEPTH] = {2, SIZE_MAX, 1, true},
    [LIMIT_PENDING] = {2048, 1 << 20, 1, false},
    [LIMIT_FETCH] = {64, 128, 1, false},
};
/* Settings that the program can change and read back, but that have no effect on the device. cudaDeviceReset() sets all
 * of them to 0. The lock protects them. */
static struct {
    unsigned flags, cache_config;
    struct {
        bool is_set;
        size_t value;
    } limits[LIMITS];
} settings;

CU_API cudaError_t cudaDeviceReset(void);
/** Stores @value at @out. If @out is NULL, returns an error instead. */
static cudaError_t get(int *out, int value)
{
    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    *out = value;
    return cudaSuccess;
}

/** Sets a member of the settings to @value. If @is_valid is false, returns an error instead. */
static cudaError_t set(unsigned *member, unsigned value, bool is_valid)
{
    rt_lock();
    *member = is_valid ? value : *member;
    rt_unlock();
    return cu_return(is_valid ? cudaSuccess : cudaErrorInvalidValue);
}

unsigned cu_timing_number(const char *key, unsigned otherwise)
{
    char text[32];

    return rt_machine() != NULL && lanewise_timing_value(rt_machine(), key, text, sizeof text) == LANEWISE_OK
               ? (unsigned)strtoul(text, NULL, 10)
               : otherwise;
}

/** Properties of the device, in the layout of CUDA 13. */
struct cudaDeviceProp {
    char name[256], uuid[16], luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount, integrated, canMapHostMemory;
    int textures[39]; /* maximum sizes of textures and surfaces */
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing,
        memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
        globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
        pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
        cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
        accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int others[4], memoryPoolsSupported, more[15], reserved[48];
    /* Members of CUDA 12 that CUDA 13 does not have; the header of `lanewise cc` declares them (lanewise_host.h). */
    int clockRate, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode, singleToDoublePrecisionPerfRatio,
        cooperativeMultiDeviceLaunch, maxTexture1DLinear;
};
_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "the size of CUDA 13");

/* Maximum sizes of textures and surfaces, in the order of cudaDeviceProp. The entries for mipmaps and gathers are 0, because the
 * device has none. */
static const int texture_sizes[39] = {
    131072, 0, 131072, 65536, 0, 0, 131072, 65000, 2097120, 0, 0, 16384, 16384, 16384, 8192, 8192, 16384, 32768,
    32768, 2048, 32768, 32768, 2048, 32768, 2046,
    32768, 131072, 65536, 16384, 16384, 16384, 32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046,
};

static void make_properties(struct cudaDeviceProp *p)
{
    char model[64];

    memset(p, 0, sizeof *p);
    if (rt_machine() != NULL && lanewise_timing_value(rt_machine(), "name", model, sizeof model) == LANEWISE_OK)
        snprintf(p->name, sizeof p->name, "Lanewise %s", model);
    else
        snprintf(p->name, sizeof p->name, "Lanewise GPU emulator");
    p->totalGlobalMem = rt_memory_bytes();
    p->sharedMemPerBlock = CU_SHARED_BYTES;
    p->regsPerBlock = p->regsPerMultiprocessor = CU_REGISTERS;
    p->warpSize = (int)rt_warp_width();
    p->memPitch = INT32_MAX;
    p->maxThreadsPerBlock = LANEWISE_MAX_BLOCK_THREADS;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = INT32_MAX;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = CU_COMPUTE_MAJOR;
    p->minor = CU_COMPUTE_MINOR;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    memcpy(p->textures, texture_sizes, sizeof texture_sizes);
    p->maxTexture1DLinear = 1 << 28;
    p->multiProcessorCount = (int)cu_timing_number("core.count", CU_CORES);
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
    p->concurrentManagedAccess = 1;
    p->asyncEngineCount = 1;
    p->memoryBusWidth = 256;
    p->l2CacheSize = 4 << 20;
    p->maxThreadsPerMultiProcessor = CU_WARPS * 32;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = 2 * CU_SHARED_BYTES;
    p->sharedMemPerBlockOptin = 65536;
    p->maxBlocksPerMultiProcessor = 32;
    p->clockRate = (int)rt_clock_mhz() * 1000;
    p->memoryClockRate = (int)cu_timing_number("clocks.dram", 1000) * 1000;
    p->deviceOverlap = p->cooperativeLaunch = p->memoryPoolsSupported = 1;
}

CU_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    if (device != 0)
        return cu_return(cudaErrorInvalidDevice);
    rt_lock();
    make_properties(out);
    rt_unlock();
    return cudaSuccess;
}

CU_API cudaError_t cudaDeviceGetAttribute(int *out, int attribute, int device)
{
    struct cudaDeviceProp p;
    int value = 0;

    if (out == NULL || attribute <= 0 || attribute > LAST_ATTRIBUTE)
        return cu_return(cudaErrorInvalidValue);
    if (device != 0)
        return cu_return(cudaErrorInvalidDevice);
    rt_lock();
    make_properties(&p);
    switch (attribute) { /* numbers of enum cudaDeviceAttr; all other attributes are 0 */
    case 1: value = p.maxThreadsPerBlock; break;
    case 2: case 3: case 4: value = p.maxThreadsDim[attribute - 2]; break;
    case 5: case 6: case 7: value = p.maxGridSize[attribute - 5]; break;
    case 8: value = CU_SHARED_BYTES; break;
    case 9: value = (int)p.totalConstMem; break;
    case 10: value = p.warpSize; break;
    case 11: value = INT32_MAX; break;
    case 12: case 82: value = CU_REGISTERS; break;
    case 13: value = (int)rt_clock_mhz() * 1000; break;
    case 14: value = (int)p.textureAlignment; break;
    case 15: case 19: case 31: case 41: case 83: case 89: value = 1; break;
    case 16: value = p.multiProcessorCount; break;
    case 21: value = texture_sizes[0]; break;
    case 22: case 23: value = texture_sizes[attribute - 20]; break;
    case 24: case 25: case 26: value = texture_sizes[attribute - 13]; break;
    case 36: value = (int)cu_timing_number("clocks.dram", 1000) * 1000; break;
    case 37: value = p.memoryBusWidth; break;
    case 38: value = p.l2CacheSize; break;
    case 39: value = p.maxThreadsPerMultiProcessor; break;
    case 40: value = p.asyncEngineCount; break;
    case 75: value = p.major; break;
    case 76: value = p.minor; break;
    case 79: case 80: case 95: case 102: case 115: value = 1; break;
    case 81: value = (int)p.sharedMemPerMultiprocessor; break;
    case 97: value = (int)p.sharedMemPerBlockOptin; break;
    case 106: value = 32; break;
    default: break;
    }
    rt_unlock();
    *out = value;
    return cudaSuccess;
}

CU_API cudaError_t cudaGetDeviceCount(int *out)
{
    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    *out = rt_machine() != NULL;
    rt_unlock();
    return cu_return(*out != 0 ? cudaSuccess : cudaErrorNoDevice);
}

CU_API cudaError_t cudaGetDevice(int *out)
{
    return get(out, 0);
}

CU_API cudaError_t cudaSetDevice(int device)
{
    return cu_return(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

/* The lowest three bits of the flags select how a thread waits, so at most one of these bits may be set. */
bool cu_flags_are_valid(unsigned flags)
{
    enum { WAIT_BITS = 7, ALL = 0xff };

    return (flags & ~(unsigned)ALL) == 0 && ((flags & WAIT_BITS) & ((flags & WAIT_BITS) - 1)) == 0;
}

CU_API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    return set(&settings.flags, flags, cu_flags_are_valid(flags));
}

CU_API cudaError_t cudaGetDeviceFlags(unsigned *out)
{
    return cu_return(get((int *)out, (int)settings.flags));
}

CU_API cudaError_t cudaChooseDevice(int *out, const struct cudaDeviceProp *wanted)
{
    return cu_return(get(wanted != NULL ? out : NULL, 0));
}

CU_API cudaError_t cudaDeviceGetPCIBusId(char *out, int bytes, int device)
{
    if (out == NULL || bytes < (int)sizeof bus_id)
        return cu_return(cudaErrorInvalidValue);
    if (device != 0)
        return cu_return(cudaErrorInvalidDevice);
    memcpy(out, bus_id, sizeof bus_id);
    return cu_return(cudaSuccess);
}

CU_API cudaError_t cudaDeviceGetByPCIBusId(int *out, const char *id)
{
    if (out == NULL || id == NULL)
        return cu_return(cudaErrorInvalidValue);
    return cu_return(strcmp(id, bus_id) != 0 ? cudaErrorInvalidDevice : get(out, 0));
}

CU_API cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error;

    rt_call_wait(rt_call_last());
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_capture_forbids_wait(NULL, true);
    if (error == cudaSuccess && !rt_run())
        error = cu_device_error();
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

CU_API cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

CU_API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cu_return(cudaSuccess);
}

CU_API cudaError_t cudaDeviceReset(void)
{
    cudaError_t error = cudaSuccess;

    rt_call_wait(rt_call_last());
    rt_lock();
    if (rt_machine() == NULL) {
        error = cudaErrorNoDevice;
    } else if (rt_stopped() && !rt_recover()) {
        error = cudaErrorLaunchFailure;
    } else {
        cu_captures_reset();
        cu_execs_reset();
        cu_graphs_reset();
        cu_memory_reset();
        cu_streams_reset();
        cu_modules_reset();
        memset(&settings, 0, sizeof settings);
        if (lanewise_heap_limit(rt_machine(), limit_rows[LIMIT_HEAP].initial) != LANEWISE_OK) {
            rt_complain("cudaDeviceReset");
            error = cudaErrorMemoryAllocation;
        }
        if (rt_machine() != NULL)
            (void)lanewise_stack_limit(rt_machine(), 0);
        if (rt_machine() != NULL)
            (void)lanewise_pending_limit(rt_machine(), (uint32_t)limit_rows[LIMIT_PENDING].initial);
    }
    rt_unlock();
    cu_user_objects_end();
    error = cu_return(error);
    if (error == cudaSuccess)
        cu_runtime_reset();
    return error;
}

bool cu_is_cache_config(int config)
{
    enum { PREFER_NONE, PREFER_EQUAL = 3 };

    return config >= PREFER_NONE && config <= PREFER_EQUAL;
}

CU_API cudaError_t cudaDeviceSetCacheConfig(int config)
{
    return set(&settings.cache_config, (unsigned)config, cu_is_cache_config(config));
}

CU_API cudaError_t cudaThreadSetCacheConfig(int config)
{
    return cudaDeviceSetCacheConfig(config);
}

CU_API cudaError_t cudaDeviceGetCacheConfig(int *out)
{
    return cu_return(get(out, (int)settings.cache_config));
}

CU_API cudaError_t cudaDeviceSetSharedMemConfig(int config)
{
    (void)config;
    return cudaSuccess;
}

/** Returns the value of a limit; locked. */
static size_t limit_value(int limit)
{
    return settings.limits[limit].is_set ? settings.limits[limit].value : limit_rows[limit].initial;
}

CU_API cudaError_t cudaDeviceGetLimit(size_t *out, int limit)
{
    cudaError_t error;

    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess && (out == NULL || limit < 0 || limit >= LIMITS))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *out = limit_value(limit);
    rt_unlock();
    return cu_return(error);
}

/** Sets the machine's stack for recursive functions to the limit; locked. The machine's default is larger than that of CUDA, and
 *  a smaller limit has no effect. The limit holds for modules that are loaded later, as the place of the stack is part of the code. */
static void set_stack(void)
{
    enum { DEFAULT = 8192 };
    const size_t bytes = limit_value(LIMIT_STACK) > DEFAULT ? limit_value(LIMIT_STACK) : 0;

    if (rt_machine() == NULL || lanewise_stack_limit(rt_machine(), (uint32_t)bytes) != LANEWISE_OK)
        return;
    if (bytes != 0 && cu_modules_loaded())
        fprintf(stderr, "lanewise: cudaDeviceSetLimit: kernels that are loaded already keep the size of their stack: set "
                        "cudaLimitStackSize before the first launch\n");
}

CU_API cudaError_t cudaDeviceSetLimit(int limit, size_t value)
{
    cudaError_t error;

    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess && (limit < 0 || limit >= LIMITS || value > limit_rows[limit].most)) {
        error = cudaErrorInvalidValue;
    } else if (error == cudaSuccess && limit_rows[limit].fixed) {
        error = value > limit_value(limit) ? cudaErrorNotSupported : cudaSuccess;
    } else if (error == cudaSuccess) {
        const size_t unit = limit_rows[limit].unit;

        /* A heap larger than the machine permits is as large as it permits. */
        if (limit == LIMIT_HEAP && lanewise_heap_limit(rt_machine(), value < UINT32_MAX ? value : UINT32_MAX) != LANEWISE_OK) {
            rt_complain("cudaDeviceSetLimit");
            error = cudaErrorMemoryAllocation; /* the machine could not be created */
        } else if (limit == LIMIT_PENDING && lanewise_pending_limit(rt_machine(), value != 0 ? (uint32_t)value : 1) != LANEWISE_OK) {
            rt_complain("cudaDeviceSetLimit");
            error = cudaErrorMemoryAllocation;
        } else {
            settings.limits[limit].is_set = true;
            settings.limits[limit].value = (value + unit - 1) / unit * unit;
            if (limit == LIMIT_STACK)
                set_stack();
        }
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaDriverGetVersion(int *out)
{
    return get(out, DRIVER_VERSION);
}

CU_API cudaError_t cudaRuntimeGetVersion(int *out)
{
    return get(out, RUNTIME_VERSION);
}

CU_API cudaError_t cudaDeviceCanAccessPeer(int *out, int device, int peer)
{
    return cu_return(out != NULL && (device != 0 || peer != 0) ? cudaErrorInvalidDevice : get(out, 0));
}

CU_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    return cu_return(peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

CU_API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return cu_return(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

CU_API cudaError_t cudaDeviceGetP2PAttribute(int *out, int attribute, int device, int peer)
{
    if (out == NULL || attribute <= 0)
        return cu_return(cudaErrorInvalidValue);
    (void)device, (void)peer;
    return cu_return(cudaErrorInvalidDevice); /* there are no two devices */
}

CU_API cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

CU_API cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}
