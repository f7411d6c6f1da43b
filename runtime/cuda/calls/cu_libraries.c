/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as handles: their parameters, the kernels of a module, and libraries, which are modules here. */
#include "runtime/cuda/cu_driver_priv.h"

#include <stdlib.h>

typedef CUfunction CUkernel;

cudaError_t cudaFuncSetAttribute(const void *stub, int attribute, int value);
cudaError_t cudaGetFuncBySymbol(struct cu_function **out, const void *stub);

/* ---- kernels -------------------------------------------------------------------------------------------------------- */

/** Gets the place of a parameter in the kernel's list of arguments. Each parameter begins at a multiple of its alignment. */
CU_API cudaError_t cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *bytes)
{
    cudaError_t error = offset != NULL ? cudaSuccess : cudaErrorInvalidValue;
    lanewise_param param = {.align = 1};
    struct cu_function *f;
    size_t at = 0;

    rt_lock();
    if (error == cudaSuccess)
        error = cu_function_get(stub, &f);
    if (error == cudaSuccess && index >= lanewise_kernel_param_count(f->kernel))
        error = cudaErrorInvalidValue;
    for (unsigned i = 0; error == cudaSuccess && i <= index; i++) {
        at += i != 0 ? param.bytes : 0;
        if (lanewise_kernel_param(f->kernel, i, &param, sizeof param) != LANEWISE_OK)
            error = cudaErrorInvalidValue;
        else if (param.align > 1)
            at = (at + param.align - 1) / param.align * param.align;
    }
    rt_unlock();
    if (error == cudaSuccess)
        *offset = at;
    if (error == cudaSuccess && bytes != NULL)
        *bytes = param.bytes;
    return cu_return(error);
}

CU_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    return CU_IN_CONTEXT(cudaFuncGetParamInfo(function, index, offset, bytes));
}
CU_ALIAS(cuFuncGetParamInfo, cuKernelGetParamInfo);

/** A function is loaded when its handle is created. */
CU_API CUresult cuFuncLoad(CUfunction function)
{
    struct cu_function *f;

    return CU_IN_CONTEXT(cudaGetFuncBySymbol(&f, function));
}

CU_API CUresult cuFuncIsLoaded(int *out, CUfunction function)
{
    enum { LOADED = 1 };
    const CUresult result = out != NULL ? cuFuncLoad(function) : cu_driver_return(CUDA_ERROR_INVALID_VALUE);

    if (result == CUDA_SUCCESS)
        *out = LOADED;
    return result;
}

/** A kernel has the same handle as its function. */
CU_API cudaError_t cudaGetKernel(CUkernel *out, const void *stub)
{
    return cudaGetFuncBySymbol(out, stub);
}

CU_API cudaError_t cudaKernelSetAttributeForDevice(CUkernel kernel, int attribute, int value, int device)
{
    return device == 0 ? cudaFuncSetAttribute(kernel, attribute, value) : cu_return(cudaErrorInvalidDevice);
}

CU_API CUresult cuKernelGetLibrary(CUmodule *out, CUkernel kernel)
{
    CUresult cuFuncGetModule(CUmodule *, CUfunction);

    return cuFuncGetModule(out, kernel);
}

/* ---- libraries ------------------------------------------------------------------------------------------------------- */

/** Returns whether @library is a module that cudaLibraryUnload() has not unloaded; locked. */
static cudaError_t library_error(const struct cu_module *library, bool arguments_are_valid)
{
    const cudaError_t error = cu_device_error();

    if (error != cudaSuccess || !arguments_are_valid)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    return cu_is_module(library) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

CU_API cudaError_t cudaLibraryLoadData(CUmodule *out, const void *image, int *options, void **values, unsigned count,
                                       int *library_options, void **library_values, unsigned library_count)
{
    (void)library_options, (void)library_values, (void)library_count;
    if (out == NULL || image == NULL)
        return cu_return(cudaErrorInvalidValue);
    return cu_return(cu_module_load(out, image, count, options, values));
}

CU_API cudaError_t cudaLibraryLoadFromFile(CUmodule *out, const char *path, int *options, void **values, unsigned count,
                                           int *library_options, void **library_values, unsigned library_count)
{
    cudaError_t error;
    size_t bytes;
    char *image;

    (void)library_options, (void)library_values, (void)library_count;
    if (out == NULL || path == NULL)
        return cu_return(cudaErrorInvalidValue);
    image = cu_file_read(path, &bytes);
    error = image != NULL ? cu_module_load(out, image, count, options, values) : cudaErrorFileNotFound;
    free(image);
    return cu_return(error);
}

CU_API cudaError_t cudaLibraryUnload(CUmodule library)
{
    cudaError_t error;

    rt_lock();
    error = library_error(library, true);
    if (error == cudaSuccess && !cu_module_unload(library))
        error = cudaErrorInvalidResourceHandle;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaLibraryGetKernel(CUkernel *out, CUmodule library, const char *name)
{
    cudaError_t error;

    rt_lock();
    error = library_error(library, out != NULL && name != NULL && *name != '\0');
    if (error == cudaSuccess)
        error = cu_module_function(library, name, out);
    rt_unlock();
    return cu_return(error);
}

/** Gets a variable of a library by @find. */
static cudaError_t get_variable(void **out, size_t *bytes, CUmodule library, const char *name,
                                cudaError_t (*find)(struct cu_module *, const char *, uint64_t *, uint64_t *))
{
    uint64_t address = 0, size = 0;
    cudaError_t error;

    rt_lock();
    error = library_error(library, name != NULL && (out != NULL || bytes != NULL));
    if (error == cudaSuccess)
        error = find(library, name, &address, &size);
    rt_unlock();
    if (error == cudaSuccess && out != NULL)
        *out = (void *)(uintptr_t)address;
    if (error == cudaSuccess && bytes != NULL)
        *bytes = size;
    return cu_return(error);
}

CU_API cudaError_t cudaLibraryGetGlobal(void **out, size_t *bytes, CUmodule library, const char *name)
{
    return get_variable(out, bytes, library, name, cu_module_variable);
}

CU_API cudaError_t cudaLibraryGetManaged(void **out, size_t *bytes, CUmodule library, const char *name)
{
    return get_variable(out, bytes, library, name, cu_module_managed);
}

CU_SAME(cuLibraryGetManaged, cudaLibraryGetManaged, (void **out, size_t *bytes, CUmodule library, const char *name),
        (out, bytes, library, name))

/** The device has no unified functions, whose addresses host and kernels can call. */
CU_API cudaError_t cudaLibraryGetUnifiedFunction(void **out, CUmodule library, const char *name)
{
    cudaError_t error;

    rt_lock();
    error = library_error(library, out != NULL && name != NULL);
    rt_unlock();
    return cu_return(error == cudaSuccess ? cudaErrorSymbolNotFound : error);
}

CU_SAME(cuLibraryGetUnifiedFunction, cudaLibraryGetUnifiedFunction, (void **out, CUmodule library, const char *name), (out, library, name))

CU_API cudaError_t cudaLibraryGetKernelCount(unsigned *count, CUmodule library)
{
    cudaError_t error;

    rt_lock();
    error = library_error(library, count != NULL);
    if (error == cudaSuccess)
        *count = cu_module_function_count(library);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaLibraryEnumerateKernels(CUkernel *out, unsigned count, CUmodule library)
{
    cudaError_t error;

    rt_lock();
    error = library_error(library, out != NULL && count != 0);
    if (error == cudaSuccess)
        error = cu_module_functions(library, count, out);
    rt_unlock();
    return cu_return(error);
}

CU_API CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned count, CUmodule module)
{
    return CU_IN_CONTEXT(cudaLibraryEnumerateKernels(out, count, module));
}
CU_ALIAS(cuModuleEnumerateFunctions, cuLibraryEnumerateKernels);

CU_API CUresult cuLibraryGetKernelCount(unsigned *count, CUmodule library)
{
    return CU_IN_CONTEXT(cudaLibraryGetKernelCount(count, library));
}

/* ---- the device ------------------------------------------------------------------------------------------------------ */

CU_SAME(cuDeviceGetP2PAttribute, cudaDeviceGetP2PAttribute, (int *out, int attribute, CUdevice device, CUdevice peer),
        (out, attribute, device, peer))
