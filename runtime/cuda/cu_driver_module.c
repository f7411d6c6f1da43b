/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: modules, which are loaded from PTX, fat binaries with PTX and Lanewise's object files; linking;
 * kernels and launches. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *user);
cudaError_t cudaFuncSetAttribute(const void *stub, int attribute, int value);
cudaError_t cudaLaunchCooperativeKernel(const void *stub, cu_dim3 grid, cu_dim3 block, void **arguments, size_t shared_bytes,
                                        cudaStream_t stream);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *stub, int threads, size_t shared_bytes,
                                                                   unsigned flags);

/* ---- options of the compiler -------------------------------------------------------------------------------------- */

/** The program's buffers for messages, which it passes to cuModuleLoadDataEx and cuLinkCreate as options. */
struct logs {
    char *info, *error;
    unsigned info_bytes, error_bytes;
    void **error_size; /* value of the option with the buffer's size, which gets the size of the message; or NULL */
};
enum { OPTION_INFO = 3, OPTION_INFO_BYTES, OPTION_ERROR, OPTION_ERROR_BYTES };

static struct logs read_options(unsigned count, const int *options, void **values)
{
    struct logs logs = {.info = NULL};

    for (unsigned i = 0; i < count && options != NULL && values != NULL; i++)
        switch (options[i]) {
        case OPTION_INFO: logs.info = values[i]; break;
        case OPTION_INFO_BYTES:
            logs.info_bytes = (unsigned)(uintptr_t)values[i];
            values[i] = NULL; /* there are no messages but errors */
            break;
        case OPTION_ERROR: logs.error = values[i]; break;
        case OPTION_ERROR_BYTES:
            logs.error_bytes = (unsigned)(uintptr_t)values[i];
            logs.error_size = &values[i];
            values[i] = NULL;
            break;
        default: break; /* options for optimisation, targets and caches have no effect */
        }
    if (logs.info != NULL && logs.info_bytes != 0)
        logs.info[0] = '\0';
    if (logs.error != NULL && logs.error_bytes != 0)
        logs.error[0] = '\0';
    return logs;
}

/** Writes the machine's error message to the program's buffer for errors, or to standard error if there is none. */
static void report(const struct logs *logs)
{
    if (logs->error == NULL || logs->error_bytes == 0) {
        rt_complain("");
        return;
    }
    snprintf(logs->error, logs->error_bytes, "%s", lanewise_error(rt_machine()));
    if (logs->error_size != NULL)
        *logs->error_size = (void *)(uintptr_t)strlen(logs->error);
}

/* ---- modules ------------------------------------------------------------------------------------------------------ */

/** Returns true if a PTX text has a version that is later than those of CUDA 13. */
static bool is_later_ptx(const char *text, size_t bytes)
{
    enum { LAST_MAJOR = 9 };
    const char *at = memmem(text, bytes, ".version", strlen(".version"));

    return at != NULL && atoi(at + strlen(".version")) > LAST_MAJOR;
}

/** Loads a module from an image, and sets *@out to its handle. The caller holds the lock. */
static cudaError_t load_image_with(struct cu_module **out, const void *image, const struct logs *logs)
{
    lanewise_module *module;
    const void *text;
    void *owned;
    size_t bytes;
    bool is_object;
    cudaError_t error = cu_image_text(image, &text, &bytes, &is_object, &owned);

    if (error != cudaSuccess)
        return error;
    if (lanewise_load_text(rt_machine(), is_object ? "module.lwo" : "module.ptx", text, bytes, NULL, &module) != LANEWISE_OK) {
        report(logs);
        error = is_object                    ? cudaErrorInvalidKernelImage
                : is_later_ptx(text, bytes) ? cudaErrorUnsupportedPtxVersion
                                             : cudaErrorInvalidPtx;
    } else {
        error = cu_module_adopt(module, out);
    }
    free(owned);
    return error;
}

cudaError_t cu_module_load(struct cu_module **out, const void *image, unsigned count, int *options, void **values)
{
    const struct logs logs = read_options(count, options, values);
    cudaError_t error;

    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = load_image_with(out, image, &logs);
    rt_unlock();
    return error;
}

CU_API CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, int *options, void **values)
{
    const struct logs logs = read_options(count, options, values);
    CUresult result = cu_need_context();

    if (out == NULL || image == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    if (result == CUDA_SUCCESS)
        result = cu_result(load_image_with(out, image, &logs));
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}
CU_ALIAS(cuModuleLoadData, cuModuleLoadFatBinary);

char *cu_file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0 && (text = calloc(1, (size_t)size + 2)) != NULL &&
        fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    *bytes = size >= 0 ? (size_t)size : 0;
    return text;
}

CU_API CUresult cuModuleLoad(CUmodule *out, const char *path)
{
    CUresult result;
    size_t bytes;
    char *text;

    if (out == NULL || path == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    text = cu_file_read(path, &bytes);
    if (text == NULL)
        return cu_driver_return(CUDA_ERROR_FILE_NOT_FOUND);
    result = cuModuleLoadData(out, text);
    free(text);
    return cu_driver_return(result);
}

CU_API CUresult cuModuleUnload(CUmodule module)
{
    CUresult result = cu_need_context();

    rt_lock();
    if (result == CUDA_SUCCESS && !cu_module_unload(module))
        result = CUDA_ERROR_INVALID_HANDLE;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuModuleGetLoadingMode(int *out)
{
    enum { EAGER = 1 };

    if (out == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    *out = EAGER;
    return CUDA_SUCCESS;
}

CU_API CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    CUresult result = cu_need_context();

    if (out == NULL || name == NULL || *name == '\0')
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    if (result == CUDA_SUCCESS)
        result = cu_is_module(module) ? cu_result(cu_module_function(module, name, out)) : CUDA_ERROR_INVALID_HANDLE;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuModuleGetFunctionCount(unsigned *out, CUmodule module)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    rt_lock();
    if (result == CUDA_SUCCESS && !cu_is_module(module))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        *out = cu_module_function_count(module);
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuModuleGetGlobal(CUdeviceptr *out, size_t *bytes, CUmodule module, const char *name)
{
    CUresult result = cu_need_context();
    struct cu_function *kernel;
    uint64_t address = 0, size = 0;

    if (name == NULL || (out == NULL && bytes == NULL))
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    if (result == CUDA_SUCCESS)
        result = cu_is_module(module) ? cu_result(cu_module_variable(module, name, &address, &size)) : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_ERROR_NOT_FOUND && cu_module_function(module, name, &kernel) == cudaSuccess)
        result = CUDA_ERROR_INVALID_VALUE; /* the name is that of a kernel */
    rt_unlock();
    if (out != NULL)
        *out = address;
    if (bytes != NULL)
        *bytes = size;
    return cu_driver_return(result);
}
CU_ALIAS(cuModuleGetGlobal, cuModuleGetGlobal_v2);

/* ---- libraries, which are modules here ------------------------------------------------------------------------------ */

CU_API CUresult cuLibraryLoadData(CUmodule *out, const void *image, int *options, void **values, unsigned count,
                                  int *library_options, void **library_values, unsigned library_count)
{
    (void)library_options, (void)library_values, (void)library_count;
    return cuModuleLoadDataEx(out, image, count, options, values);
}

CU_API CUresult cuLibraryLoadFromFile(CUmodule *out, const char *path, int *options, void **values, unsigned count,
                                      int *library_options, void **library_values, unsigned library_count)
{
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    return cuModuleLoad(out, path);
}

CU_API CUresult cuLibraryUnload(CUmodule library)
{
    return cuModuleUnload(library);
}

CU_API CUresult cuLibraryGetKernel(CUfunction *out, CUmodule library, const char *name)
{
    return cuModuleGetFunction(out, library, name);
}

CU_API CUresult cuLibraryGetModule(CUmodule *out, CUmodule library)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = library;
    return cu_driver_return(result);
}

CU_API CUresult cuLibraryGetGlobal(CUdeviceptr *out, size_t *bytes, CUmodule library, const char *name)
{
    return cuModuleGetGlobal(out, bytes, library, name);
}

CU_API CUresult cuKernelGetFunction(CUfunction *out, CUfunction kernel)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = kernel;
    return cu_driver_return(result);
}

/* ---- linking ------------------------------------------------------------------------------------------------------ */

/** A link of the driver interface (CUlinkState): the PTX texts to link, and the result. */
struct link {
    struct link *next;
    struct logs logs;
    lanewise_text *texts; /* owned, with the names and texts */
    unsigned count;
    void *object;         /* result of cuLinkComplete, owned; or NULL */
};
enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBINARY };

/* All links that exist. A program may pass any value as a handle, so handles are looked up in this list. */
static struct link *links;

static struct link *link_of(const void *handle)
{
    for (struct link *l = links; l != NULL; l = l->next)
        if (l == handle)
            return l;
    return NULL;
}

CU_API CUresult cuLinkCreate(unsigned count, int *options, void **values, struct link **out)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;
    struct link *l = result == CUDA_SUCCESS ? calloc(1, sizeof *l) : NULL;

    if (l == NULL)
        return cu_driver_return(result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY);
    l->logs = read_options(count, options, values);
    rt_lock();
    l->next = links;
    links = l;
    rt_unlock();
    *out = l;
    return CUDA_SUCCESS;
}
CU_ALIAS(cuLinkCreate, cuLinkCreate_v2);

/** Adds a copy of a PTX text to a link. The caller holds the lock. */
static CUresult add_text(struct link *l, const char *name, const char *text, size_t bytes)
{
    lanewise_text *texts = realloc(l->texts, (l->count + 1u) * sizeof *texts);
    char *own_name = malloc(strlen(name) + 5), *own = malloc(bytes + 1);

    if (texts != NULL)
        l->texts = texts;
    if (texts == NULL || own_name == NULL || own == NULL) {
        free(own_name);
        free(own);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sprintf(own_name, "%s.ptx", name);
    memcpy(own, text, bytes);
    own[bytes] = '\0';
    texts[l->count++] = (lanewise_text){own_name, own, strlen(own)};
    return CUDA_SUCCESS;
}

CU_API CUresult cuLinkAddData(struct link *handle, int type, void *data, size_t bytes, const char *name, unsigned count,
                              int *options, void **values)
{
    CUresult result = cu_need_context();
    struct link *l;

    (void)count, (void)options, (void)values;
    if (data == NULL || bytes == 0)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    l = link_of(handle);
    if (result == CUDA_SUCCESS && l == NULL)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && type == INPUT_PTX) {
        result = add_text(l, name != NULL ? name : "input", data, strnlen(data, bytes));
    } else if (result == CUDA_SUCCESS && type == INPUT_FATBINARY) {
        const void *text;
        void *owned;
        size_t text_bytes;
        bool is_object;

        result = cu_result(cu_image_text(data, &text, &text_bytes, &is_object, &owned));
        if (result == CUDA_SUCCESS)
            result = is_object ? cudaErrorInvalidKernelImage : add_text(l, name != NULL ? name : "input", text, text_bytes);
        free(owned);
    } else if (result == CUDA_SUCCESS) {
        result = cudaErrorNoKernelImageForDevice; /* the image has only machine code of NVIDIA GPUs */
    }
    rt_unlock();
    return cu_driver_return(result);
}
CU_ALIAS(cuLinkAddData, cuLinkAddData_v2);

CU_API CUresult cuLinkAddFile(struct link *handle, int type, const char *path, unsigned count, int *options, void **values)
{
    size_t bytes;
    char *text = path != NULL ? cu_file_read(path, &bytes) : NULL;
    CUresult result = path == NULL ? CUDA_ERROR_INVALID_VALUE
                      : text == NULL
                          ? CUDA_ERROR_FILE_NOT_FOUND
                          : cuLinkAddData(handle, type, text, bytes + 1, path, count, options, values);

    free(text);
    return cu_driver_return(result);
}
CU_ALIAS(cuLinkAddFile, cuLinkAddFile_v2);

/** Links the texts. Sets *@out to an object file of Lanewise, which cuModuleLoadData() accepts; cuLinkDestroy() frees it. */
CU_API CUresult cuLinkComplete(struct link *handle, void **out, size_t *bytes)
{
    CUresult result = cu_need_context();
    lanewise_module *module;
    struct link *l;
    size_t size;

    if (out == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    rt_lock();
    l = link_of(handle);
    if (result == CUDA_SUCCESS && l == NULL)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && l->count == 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        lanewise_object_free(l->object);
        l->object = NULL;
        if (lanewise_link(rt_machine(), l->texts, l->count, &module) != LANEWISE_OK ||
            lanewise_module_object(module, &l->object, &size) != LANEWISE_OK) {
            report(&l->logs);
            result = cudaErrorInvalidPtx;
        } else {
            *out = l->object;
            if (bytes != NULL)
                *bytes = size;
        }
    }
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuLinkDestroy(struct link *handle)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;

    rt_lock();
    for (struct link **at = &links; *at != NULL; at = &(*at)->next)
        if (*at == handle) {
            struct link *l = *at;

            *at = l->next;
            for (unsigned i = 0; i < l->count; i++) {
                free((char *)(uintptr_t)l->texts[i].name);
                free((char *)(uintptr_t)l->texts[i].text);
            }
            free(l->texts);
            lanewise_object_free(l->object);
            free(l);
            result = CUDA_SUCCESS;
            break;
        }
    rt_unlock();
    return cu_driver_return(result);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------ */

CU_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
                               void **extra)
{
    const struct cudaKernelNodeParams p = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, parameters,
                                           extra};

    return CU_IN_CONTEXT(cu_launch(&p, NULL, 0, stream));
}

struct launch_config {
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    const struct cu_launch_attribute *attributes;
    unsigned attribute_count;
};

CU_API CUresult cuLaunchKernelEx(const struct launch_config *c, CUfunction function, void **parameters, void **extra)
{
    if (c == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    const struct cudaKernelNodeParams p = {function, {c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]},
                                           c->shared_bytes, parameters, extra};

    return CU_IN_CONTEXT(cu_launch(&p, c->attributes, c->attribute_count, c->stream));
}

CU_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                          CUstream stream, void **parameters)
{
    return CU_IN_CONTEXT(cudaLaunchCooperativeKernel(function, (cu_dim3){grid_x, grid_y, grid_z}, (cu_dim3){block_x, block_y, block_z},
                                                     parameters, shared_bytes, stream));
}

CU_API CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *user)
{
    return CU_IN_CONTEXT(cudaLaunchHostFunc(stream, function, user));
}

CU_API CUresult cuFuncGetAttribute(int *out, int attribute, CUfunction function)
{
    enum { MAX_THREADS, SHARED, CONSTANT, LOCAL, REGISTERS, PTX_VERSION, BINARY_VERSION, CACHE_MODE, MAX_DYNAMIC, CARVEOUT };
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;
    lanewise_kernel_needs needs;
    struct cu_function *f;

    rt_lock();
    if (result == CUDA_SUCCESS)
        result = cu_result(cu_function_get(function, &f));
    if (result == CUDA_SUCCESS) {
        lanewise_kernel_get_needs(f->kernel, &needs, sizeof needs);
        switch (attribute) {
        case MAX_THREADS: *out = (int)needs.max_threads; break;
        case SHARED: *out = (int)needs.shared_bytes; break;
        case LOCAL: *out = (int)needs.local_bytes; break;
        case REGISTERS: *out = (int)needs.vector_registers; break;
        case PTX_VERSION:
        case BINARY_VERSION: *out = 10 * CU_COMPUTE_MAJOR + CU_COMPUTE_MINOR; break;
        case CONSTANT:
        case CACHE_MODE: *out = 0; break;
        case MAX_DYNAMIC:
            *out = (int)cu_function_dynamic_limit(f, needs.shared_bytes);
            break;
        case CARVEOUT: *out = -1; break;
        default: *out = 0; result = attribute < 0 || attribute > 15 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
        }
    }
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    return CU_IN_CONTEXT(cudaFuncSetAttribute(function, attribute, value));
}

CU_API CUresult cuFuncSetCacheConfig(CUfunction function, int config)
{
    (void)function, (void)config;
    return cu_driver_return(cu_need_context());
}
CU_ALIAS(cuFuncSetCacheConfig, cuFuncSetSharedMemConfig);

CU_API CUresult cuFuncGetModule(CUmodule *out, CUfunction function)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;
    struct cu_function *f;

    rt_lock();
    if (result == CUDA_SUCCESS)
        result = cu_result(cu_function_get(function, &f));
    if (result == CUDA_SUCCESS)
        *out = f->module;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuFuncGetName(const char **out, CUfunction function)
{
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;
    struct cu_function *f;

    rt_lock();
    if (result == CUDA_SUCCESS)
        result = cu_result(cu_function_get(function, &f));
    if (result == CUDA_SUCCESS)
        *out = f->name;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction function, int threads,
                                                                     size_t shared_bytes, unsigned flags)
{
    return CU_IN_CONTEXT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads, shared_bytes, flags));
}

CU_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction function, int threads, size_t shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads, shared_bytes, 0);
}

/** Chooses the block size with which the largest number of threads is resident. The sizes tried are the largest possible one
 *  and all smaller multiples of 32. */
CU_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                          size_t (*shared_of)(int threads), size_t shared_bytes, int limit,
                                                          unsigned flags)
{
    int best = 0, most = 0, cores = 1, blocks = 0;
    CUresult result = grid != NULL && block != NULL ? cuFuncGetAttribute(&most, 0, function) : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    if (limit > 0 && limit < most)
        most = limit;
    *block = *grid = 0;
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
        result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, function, threads, shared_of != NULL ? shared_of(threads) : shared_bytes, flags);
        if (result != CUDA_SUCCESS)
            return cu_driver_return(result);
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks;
        }
    }
    result = CU_DRIVER(({ cudaError_t cudaDeviceGetAttribute(int *, int, int); cudaDeviceGetAttribute(&cores, 16, 0); }));
    *grid *= cores;
    return cu_driver_return(result);
}

CU_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, size_t (*shared_of)(int threads),
                                                 size_t shared_bytes, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared_bytes, limit, 0);
}
