/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: launches whose block, shared memory and arguments are state of the function, as before CUDA 4. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENT_BYTES = 4096 };

struct cu_old_launch {
    cu_dim3 block;
    unsigned shared_bytes;
    size_t bytes; /* of the arguments */
    uint8_t arguments[ARGUMENT_BYTES];
};

/** Gets the state of a function, and creates it at first; locked. */
static CUresult state_of(CUfunction function, struct cu_old_launch **out)
{
    struct cu_function *f;
    CUresult result = cu_need_context();

    if (result == CUDA_SUCCESS)
        result = cu_result(cu_function_get(function, &f));
    if (result == CUDA_SUCCESS && f->old == NULL && (f->old = calloc(1, sizeof *f->old)) == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        *out = f->old;
    return result;
}

/** Copies @bytes at @from to the state of a function, at offset @at. If @is_valid is not set, changes nothing. */
static CUresult set(CUfunction function, bool is_valid, size_t at, const void *from, size_t bytes)
{
    struct cu_old_launch *old;
    CUresult result;

    rt_lock();
    result = state_of(function, &old);
    if (result == CUDA_SUCCESS && !is_valid)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        memcpy((uint8_t *)old + at, from, bytes);
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    const cu_dim3 block = {(unsigned)x, (unsigned)y, (unsigned)z};

    return set(function, x > 0 && y > 0 && z > 0, offsetof(struct cu_old_launch, block), &block, sizeof block);
}

CU_API CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes)
{
    return set(function, true, offsetof(struct cu_old_launch, shared_bytes), &bytes, sizeof bytes);
}

CU_API CUresult cuParamSetSize(CUfunction function, unsigned bytes)
{
    const size_t size = bytes;

    return set(function, bytes <= ARGUMENT_BYTES, offsetof(struct cu_old_launch, bytes), &size, sizeof size);
}

CU_API CUresult cuParamSetv(CUfunction function, int offset, const void *from, unsigned bytes)
{
    const bool is_valid = from != NULL && offset >= 0 && offset <= ARGUMENT_BYTES && bytes <= ARGUMENT_BYTES - (unsigned)offset;

    return set(function, is_valid, offsetof(struct cu_old_launch, arguments) + (size_t)offset, from, bytes);
}

CU_API CUresult cuParamSeti(CUfunction function, int offset, unsigned value)
{
    return cuParamSetv(function, offset, &value, sizeof value);
}

CU_API CUresult cuParamSetf(CUfunction function, int offset, float value)
{
    return cuParamSetv(function, offset, &value, sizeof value);
}

CU_API CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    enum { END, POINTER, BYTES }; /* entries of the list of cuLaunchKernel() */
    void *extra[] = {(void *)(uintptr_t)POINTER, NULL, (void *)(uintptr_t)BYTES, NULL, (void *)(uintptr_t)END};
    struct cu_old_launch *old, copy;
    CUresult result;

    if (width <= 0 || height <= 0)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    result = state_of(function, &old);
    if (result == CUDA_SUCCESS && old->block.x == 0)
        result = CUDA_ERROR_INVALID_VALUE; /* the block has no shape */
    if (result == CUDA_SUCCESS)
        copy = *old;
    rt_unlock();
    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    extra[1] = copy.arguments;
    extra[3] = &copy.bytes;
    const struct cudaKernelNodeParams p = {function, {(unsigned)width, (unsigned)height, 1}, copy.block, copy.shared_bytes, NULL, extra};

    return CU_IN_CONTEXT(cu_launch(&p, NULL, 0, stream));
}

CU_API CUresult cuLaunchGrid(CUfunction function, int width, int height)
{
    return cuLaunchGridAsync(function, width, height, NULL);
}

CU_API CUresult cuLaunch(CUfunction function)
{
    return cuLaunchGridAsync(function, 1, 1, NULL);
}
