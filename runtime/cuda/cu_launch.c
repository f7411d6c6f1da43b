/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, and the functions that compiled programs call for <<<...>>>. */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>
#include <string.h>

/** The launch configuration between <<< and >>>. The program pushes it, evaluates the arguments of the kernel's stub, and
 *  calls the stub, which pops it. There is a stack of configurations, because the evaluation of the arguments may launch
 *  another kernel. */
struct configuration {
    cu_dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};
enum { MAX_CONFIGURATIONS = 64 };
static _Thread_local struct {
    struct configuration stack[MAX_CONFIGURATIONS];
    unsigned count;
} configurations;

CU_API unsigned __cudaPushCallConfiguration(cu_dim3 grid, cu_dim3 block, size_t shared_bytes, cudaStream_t stream)
{
    if (configurations.count == MAX_CONFIGURATIONS)
        return cudaErrorInvalidConfiguration;
    if (cu_managed_waits()) /* the program evaluates the kernel's arguments, such as addresses of variables, after this call */
        cu_managed_load();
    configurations.stack[configurations.count++] = (struct configuration){grid, block, shared_bytes, stream};
    return 0;
}

CU_API cudaError_t __cudaPopCallConfiguration(cu_dim3 *grid, cu_dim3 *block, size_t *shared_bytes, cudaStream_t *stream)
{
    struct configuration c;

    if (configurations.count == 0)
        return cudaErrorInvalidConfiguration;
    c = configurations.stack[--configurations.count];
    *grid = c.grid;
    *block = c.block;
    *shared_bytes = c.shared_bytes;
    *stream = c.stream;
    cu_trace_stub();
    return cudaSuccess;
}

unsigned cu_function_dynamic_limit(const struct cu_function *f, unsigned static_bytes)
{
    return f->has_limit ? f->max_dynamic_bytes : static_bytes < CU_SHARED_BYTES ? CU_SHARED_BYTES - static_bytes : 0;
}

/** Returns the error of a launch whose grid or block has an invalid size. */
static cudaError_t refuse(const struct cudaKernelNodeParams *p, unsigned max_threads)
{
    const unsigned most = max_threads < LANEWISE_MAX_BLOCK_THREADS ? max_threads : LANEWISE_MAX_BLOCK_THREADS;

    cu_trace_reason("a grid of %u x %u x %u blocks of %u x %u x %u threads, of at most %u threads a block", p->grid.x, p->grid.y, p->grid.z,
                    p->block.x, p->block.y, p->block.z, most);
    return cudaErrorInvalidValue;
}

cudaError_t cu_kernel_check(const struct cudaKernelNodeParams *p, struct cu_function **f, lanewise_shape *shape)
{
    const cu_dim3 grid = p->grid, block = p->block;
    lanewise_kernel_needs needs;
    cudaError_t error = cu_device_error();

    *shape = (lanewise_shape){.grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z}, .shared_bytes = p->shared_bytes};
    if (error == cudaSuccess)
        error = cu_function_get(p->stub, f);
    if (error != cudaSuccess)
        return error;
    lanewise_kernel_get_needs((*f)->kernel, &needs, sizeof needs);
    cu_trace_kernel((*f)->name);
    for (unsigned i = 0; i < 3; i++)
        if (shape->grid[i] == 0 || shape->block[i] == 0 || (i != 0 && shape->grid[i] > 65535))
            return refuse(p, needs.max_threads);
    if (grid.x > INT32_MAX || block.x > 1024 || block.y > 1024 || block.z > 64 ||
        (uint64_t)block.x * block.y * block.z > LANEWISE_MAX_BLOCK_THREADS ||
        (uint64_t)block.x * block.y * block.z > needs.max_threads)
        return refuse(p, needs.max_threads);
    if (p->shared_bytes > cu_function_dynamic_limit(*f, needs.shared_bytes))
        cu_trace_reason("%u bytes of dynamic shared memory, of at most %u", p->shared_bytes,
                        cu_function_dynamic_limit(*f, needs.shared_bytes));
    if (p->shared_bytes > cu_function_dynamic_limit(*f, needs.shared_bytes) || (p->arguments != NULL && p->extra != NULL) ||
        (p->arguments == NULL && p->extra == NULL && lanewise_kernel_param_count((*f)->kernel) != 0))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/** Finds the arguments in the buffer that the list @extra of cuLaunchKernel names, and stores pointers to them. The buffer has
 *  the arguments in order, each at its alignment. */
static cudaError_t unpack(const struct cu_function *f, void **extra, void **arguments)
{
    enum { END, POINTER, BYTES };
    const unsigned count = lanewise_kernel_param_count(f->kernel);
    uint8_t *buffer = NULL;
    size_t bytes = 0, at = 0;

    for (; *extra != (void *)(uintptr_t)END; extra += 2) {
        if (*extra == (void *)(uintptr_t)POINTER)
            buffer = extra[1];
        else if (*extra == (void *)(uintptr_t)BYTES && extra[1] != NULL)
            memcpy(&bytes, extra[1], sizeof bytes);
        else
            return cudaErrorInvalidValue;
    }
    if (buffer == NULL && count != 0)
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; i++) {
        lanewise_param p;
        size_t align;

        lanewise_kernel_param(f->kernel, i, &p, offsetof(lanewise_param, structure));
        align = p.align != 0 ? p.align : 1;
        at = (at + align - 1) / align * align;
        if (at > bytes || p.bytes > bytes - at)
            return cudaErrorInvalidValue;
        arguments[i] = buffer + at;
        at += p.bytes;
    }
    return bytes > at ? cudaErrorLaunchOutOfResources : cudaSuccess;
}

cudaError_t cu_kernel_arguments(const struct cudaKernelNodeParams *p, void ***out)
{
    enum { ALIGN = 16 };
    struct cu_function *f;
    cudaError_t error = cu_function_get(p->stub, &f);
    const unsigned count = error == cudaSuccess ? lanewise_kernel_param_count(f->kernel) : 0;
    size_t at = (count + 1) * sizeof(void *), bytes = at + ALIGN;
    void **made, **from = p->arguments;

    for (unsigned i = 0; i < count; i++)
        bytes += (lanewise_kernel_param_bytes(f->kernel, i) + ALIGN - 1) / ALIGN * ALIGN;
    made = error == cudaSuccess ? malloc(bytes) : NULL;
    if (made == NULL)
        return error == cudaSuccess ? cudaErrorMemoryAllocation : error;
    if (p->extra != NULL) {
        error = unpack(f, p->extra, made);
        from = made;
    }
    if (error != cudaSuccess) {
        free(made);
        return error;
    }
    at = (at + ALIGN - 1) / ALIGN * ALIGN;
    for (unsigned i = 0; i < count; i++) {
        const size_t size = lanewise_kernel_param_bytes(f->kernel, i);

        memcpy((char *)made + at, from[i], size);
        made[i] = (char *)made + at;
        at += (size + ALIGN - 1) / ALIGN * ALIGN;
    }
    *out = made;
    return cudaSuccess;
}

cudaError_t cu_kernel_run(const struct cudaKernelNodeParams *p)
{
    void **unpacked = NULL;
    struct cu_function *f;
    struct rt_site site;
    lanewise_shape shape;
    cudaError_t error = cu_kernel_check(p, &f, &shape);

    if (error == cudaSuccess && p->extra != NULL)
        error = cu_kernel_arguments(p, &unpacked);
    if (error != cudaSuccess)
        return error;
    rt_site_take(&site);
    cu_registered_to_device();
    if (rt_launch(f->kernel, &shape, (const void *const *)(unpacked != NULL ? unpacked : p->arguments), &site) != LANEWISE_OK) {
        rt_complain("launch");
        error = cudaErrorLaunchFailure;
    } else {
        (void)rt_run(); /* if the kernel fails, the next call returns the error, as with a device that runs kernels in the background */
    }
    cu_registered_to_host();
    free(unpacked);
    return error;
}

cudaError_t cu_launch(const struct cudaKernelNodeParams *p, const struct cu_launch_attribute *list, unsigned count,
                      cudaStream_t stream)
{
    struct cu_work work = {.type = CU_KERNEL, .kernel = *p};
    struct cu_function *f;
    lanewise_shape shape;
    cudaError_t error = cudaSuccess;

    for (unsigned i = 0; i < count && list != NULL && error != cudaErrorNotSupported; i++) /* others are not for kernel nodes */
        error = cu_attribute_set(&work.attributes, list[i].id, &list[i].value);
    if (error == cudaErrorNotSupported)
        return cu_return(error);
    cu_stream_settle(stream);
    rt_lock();
    error = cu_attributes_cooperate(&work.attributes) ? cu_cooperative_check(p) : cudaSuccess;
    if (error == cudaSuccess)
        error = cu_kernel_check(p, &f, &shape); /* before the check of the stream, as an H100 does */
    if (error == cudaSuccess)
        error = cu_stream_submit(stream, &work);
    rt_unlock();
    cu_trace_launch(error);
    return cu_return(error);
}

static struct cudaKernelNodeParams launch_of(const void *stub, cu_dim3 grid, cu_dim3 block, void **arguments, size_t shared_bytes)
{
    const unsigned shared = shared_bytes < UINT32_MAX ? (unsigned)shared_bytes : UINT32_MAX;

    return (struct cudaKernelNodeParams){stub, grid, block, shared, arguments, NULL};
}

CU_API cudaError_t cudaLaunchKernel(const void *stub, cu_dim3 grid, cu_dim3 block, void **arguments, size_t shared_bytes,
                                    cudaStream_t stream)
{
    const struct cudaKernelNodeParams p = launch_of(stub, grid, block, arguments, shared_bytes);

    return cu_launch(&p, NULL, 0, stream);
}

/** This function and the next one are called by programs of nvcc 13. The handle of a kernel is its struct cu_function. */
CU_API cudaError_t __cudaGetKernel(void **out, const void *stub)
{
    struct cu_function *f = NULL;
    cudaError_t error;

    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_function_get(stub, &f);
    rt_unlock();
    *out = f;
    return cu_return(error);
}

CU_API cudaError_t __cudaLaunchKernel(void *kernel, cu_dim3 grid, cu_dim3 block, void **arguments, size_t shared_bytes,
                                      cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

/** Returns the number of blocks of @threads threads that can be resident in the whole device at the same time, without
 *  the timing model. emu_config.resident_warps, which has its default value, limits this number. */
static unsigned most_resident(unsigned threads)
{
    enum { RESIDENT_WARPS = 2048 };

    return RESIDENT_WARPS / ((threads + rt_warp_width() - 1) / rt_warp_width());
}

static uint64_t rounded(uint64_t x, unsigned unit)
{
    return unit != 0 ? (x + unit - 1) / unit * unit : x;
}

/** Returns how many blocks of a kernel fit on a core at the same time: by the keys of the GPU model or, without the timing model,
 *  by the limits that the device reports. */
static unsigned blocks_of_core(const lanewise_kernel_needs *needs, unsigned threads, uint64_t shared_bytes)
{
    const bool timed = cu_timing_number("core.warps", 0) != 0;
    const unsigned width = timed ? rt_warp_width() : 32, warps = (threads + width - 1) / width;
    const uint64_t a_warp = rounded((uint64_t)needs->vector_registers * width, cu_timing_number("core.register_unit", 1));
    const struct {
        uint64_t need, have;
    } limits[] = {
        {1, cu_timing_number("core.blocks", 32)},
        {rounded(warps, cu_timing_number("core.group", 1)), cu_timing_number("core.warps", CU_WARPS)},
        {threads, cu_timing_number("core.threads", CU_WARPS * 32)},
        {a_warp * warps, cu_timing_number("core.registers", CU_REGISTERS)},
        {rounded(shared_bytes, cu_timing_number("core.shared_unit", 1)), cu_timing_number("core.shared_bytes", 2 * CU_SHARED_BYTES)},
    };
    uint64_t blocks = UINT32_MAX;

    for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (limits[i].need != 0 && limits[i].have / limits[i].need < blocks)
            blocks = limits[i].have / limits[i].need;
    /* With narrow warps a block has more warps, so fewer blocks can be resident. */
    if (!timed && blocks > 1 && most_resident(threads) / cu_timing_number("core.count", CU_CORES) < blocks) {
        blocks = most_resident(threads) / cu_timing_number("core.count", CU_CORES);
        blocks = blocks != 0 ? blocks : 1;
    }
    return (unsigned)blocks;
}

cudaError_t cu_cooperative_check(const struct cudaKernelNodeParams *p)
{
    const unsigned threads = p->block.x * p->block.y * p->block.z;
    struct cu_function *f;
    lanewise_kernel_needs needs;
    lanewise_shape shape;
    cudaError_t error;

    rt_lock();
    error = cu_kernel_check(p, &f, &shape);
    if (error == cudaSuccess) {
        lanewise_kernel_get_needs(f->kernel, &needs, sizeof needs);
        uint64_t most = (uint64_t)blocks_of_core(&needs, threads, needs.shared_bytes + (uint64_t)p->shared_bytes) *
                        cu_timing_number("core.count", CU_CORES);

        if (cu_timing_number("core.count", 0) == 0 && most > most_resident(threads))
            most = most_resident(threads);
        if ((uint64_t)p->grid.x * p->grid.y > most / p->grid.z)
            error = cudaErrorCooperativeLaunchTooLarge;
    }
    rt_unlock();
    return error;
}

/** Argument of cudaLaunchKernelEx. */
struct cudaLaunchConfig {
    cu_dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    const struct cu_launch_attribute *attributes;
    unsigned attribute_count;
};

CU_API cudaError_t cudaLaunchKernelExC(const struct cudaLaunchConfig *config, const void *stub, void **arguments)
{
    if (config == NULL)
        return cu_return(cudaErrorInvalidValue);
    const struct cudaKernelNodeParams p = launch_of(stub, config->grid, config->block, arguments, config->shared_bytes);

    return cu_launch(&p, config->attributes, config->attribute_count, config->stream);
}

CU_API cudaError_t cudaLaunchCooperativeKernel(const void *stub, cu_dim3 grid, cu_dim3 block, void **arguments,
                                               size_t shared_bytes, cudaStream_t stream)
{
    const struct cudaKernelNodeParams p = launch_of(stub, grid, block, arguments, shared_bytes);
    const struct cu_launch_attribute cooperative = {.id = CU_COOPERATIVE, .value.number = 1};

    return cu_launch(&p, &cooperative, 1, stream);
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
        preferredShmemCarveout, clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth,
        clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed, reserved[16];
};

CU_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *stub)
{
    struct cu_function *f;
    lanewise_kernel_needs needs;
    cudaError_t error;

    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_function_get(stub, &f);
    if (error == cudaSuccess) {
        lanewise_kernel_get_needs(f->kernel, &needs, sizeof needs);
        *out = (struct cudaFuncAttributes){
            .sharedSizeBytes = needs.shared_bytes, .localSizeBytes = needs.local_bytes,
            .maxThreadsPerBlock = (int)needs.max_threads, .numRegs = (int)needs.vector_registers,
            .ptxVersion = 10 * CU_COMPUTE_MAJOR + CU_COMPUTE_MINOR, .binaryVersion = 10 * CU_COMPUTE_MAJOR + CU_COMPUTE_MINOR,
            .maxDynamicSharedSizeBytes = (int)cu_function_dynamic_limit(f, needs.shared_bytes),
            .preferredShmemCarveout = -1};
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaFuncSetAttribute(const void *stub, int attribute, int value)
{
    enum { MAX_DYNAMIC_SHARED = 8, CARVEOUT = 9, MOST_BYTES = 65536 };
    struct cu_function *f;
    cudaError_t error;

    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_function_get(stub, &f);
    if (error == cudaSuccess && attribute == MAX_DYNAMIC_SHARED) {
        if (value < 0 || value > MOST_BYTES)
            error = cudaErrorInvalidValue;
        f->has_limit = f->has_limit || error == cudaSuccess;
        f->max_dynamic_bytes = error == cudaSuccess ? (unsigned)value : f->max_dynamic_bytes;
    } else if (error == cudaSuccess && (attribute != CARVEOUT || value < -1 || value > 100)) {
        error = cudaErrorInvalidValue;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaFuncSetCacheConfig(const void *stub, int config)
{
    struct cu_function *f;
    cudaError_t error;

    if (!cu_is_cache_config(config))
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_function_get(stub, &f);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaFuncSetSharedMemConfig(const void *stub, int config)
{
    (void)stub, (void)config;
    return cudaSuccess;
}

CU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *stub, int threads,
                                                                          size_t shared_bytes, unsigned flags)
{
    struct cu_function *f;
    lanewise_kernel_needs needs;
    cudaError_t error;

    if (out == NULL || threads <= 0 || flags > 1)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_function_get(stub, &f);
    if (error == cudaSuccess) {
        lanewise_kernel_get_needs(f->kernel, &needs, sizeof needs);
        if ((unsigned)threads > LANEWISE_MAX_BLOCK_THREADS || shared_bytes > cu_function_dynamic_limit(f, needs.shared_bytes))
            *out = 0;
        else
            *out = (int)blocks_of_core(&needs, (unsigned)threads, needs.shared_bytes + (uint64_t)shared_bytes);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *stub, int threads, size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, stub, threads, shared_bytes, 0);
}

CU_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *stub, int blocks, int threads)
{
    struct cu_function *f;
    lanewise_kernel_needs needs;
    cudaError_t error;

    if (out == NULL || blocks <= 0 || threads <= 0)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_function_get(stub, &f);
    if (error == cudaSuccess) {
        const unsigned unit = cu_timing_number("core.shared_unit", 1);
        unsigned each = cu_timing_number("core.shared_bytes", 2 * CU_SHARED_BYTES) / (unsigned)blocks, most;

        lanewise_kernel_get_needs(f->kernel, &needs, sizeof needs);
        each -= each % (unit != 0 ? unit : 1);
        each = each > needs.shared_bytes ? each - needs.shared_bytes : 0;
        most = cu_function_dynamic_limit(f, needs.shared_bytes);
        *out = each < most ? each : most;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaFuncGetName(const char **out, const void *stub)
{
    struct cu_function *f;
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL)
        error = cu_function_get(stub, &f);
    if (error == cudaSuccess)
        *out = f->name;
    rt_unlock();
    return cu_return(error);
}

/** Gets the handle that the driver interface has for a kernel. */
CU_API cudaError_t cudaGetFuncBySymbol(struct cu_function **out, const void *stub)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL)
        error = cu_function_get(stub, out);
    rt_unlock();
    return cu_return(error);
}
