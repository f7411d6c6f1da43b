/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's driver interface (libcuda.so.1), implemented with the functions of the runtime. Driver interface and runtime are in
 * the same shared object, so that a program that uses both has one device. Names and numbers are those of CUDA's
 * documentation. CUDA's header renames some functions to names that end in _v2, because their first versions had 32-bit
 * addresses. Here both names are the same function.
 */
#ifndef CU_DRIVER_PRIV_H
#define CU_DRIVER_PRIV_H

#include "runtime/cuda/cu_trace_priv.h"

typedef int CUresult; /* the numbers are those of cudaError_t, except those that cu_result() replaces */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct cu_context *CUcontext;
typedef struct cu_module *CUmodule;
typedef struct cu_function *CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;

enum {
#define LW_ERROR(number, runtime_name, name, text) name = number,
#define LW_DRIVER_ERROR(number, name, text) name = number,
#include "runtime/cuda/cu_errors.def"
};

/** Returns the driver's number of an error of the runtime. */
CUresult cu_result(cudaError_t error);
/** Checks a result that a function returns to the program (cu_trace.c), and returns it. */
CUresult cu_driver_return(CUresult result);
/** Calls a function of the runtime and returns the driver's number of its error. The result of cudaGetLastError does not
 *  change. */
#define CU_DRIVER(call) \
    ({ \
        cudaError_t error_; \
        cu_driver_begin(); \
        error_ = (call); \
        cu_driver_end(); \
        cu_result(error_); \
    })
/** Returns CUDA_SUCCESS, or CUDA_ERROR_NOT_INITIALIZED if the process has not called cuInit or a function of the runtime. */
CUresult cu_need_driver(void);
/** Returns CUDA_SUCCESS, or an error if the thread has no context, the process has not called cuInit, or a kernel has failed. */
CUresult cu_need_context(void);
/** If the thread has a context, calls a function of the runtime as CU_DRIVER does. Otherwise returns the error of
 *  cu_need_context(). */
#define CU_IN_CONTEXT(call) \
    ({ \
        CUresult result_ = cu_need_context(); \
        if (result_ == CUDA_SUCCESS) \
            result_ = CU_DRIVER(call); \
        cu_driver_return(result_); \
    })
/** Defines a function of the driver that has the parameters of a function of the runtime, which this macro declares. */
#define CU_SAME(NAME, RUNTIME, PARAMETERS, ARGUMENTS) \
    cudaError_t RUNTIME PARAMETERS; \
    CU_API CUresult NAME PARAMETERS \
    { \
        return CU_IN_CONTEXT(RUNTIME ARGUMENTS); \
    }
/** Defines a second name of a function, under which newer headers call it. */
#define CU_ALIAS(name, other) extern __typeof__(name) other __attribute__((alias(#name), visibility("default")))

/** Finds a function of the driver interface by its name without a suffix such as _v2. @version: version of CUDA for which the
 *  program was compiled, such as 13000. Returns NULL if there is no such function. */
void *cu_driver_symbol(const char *name, int version);

/** Reads a file into memory, and appends two zero bytes. Returns NULL if the file cannot be read. The caller frees the memory. */
char *cu_file_read(const char *path, size_t *bytes);
/** Loads a module from an image, with options of cuModuleLoadDataEx(); not locked. */
cudaError_t cu_module_load(struct cu_module **out, const void *image, unsigned count, int *options, void **values);

/** Source or destination of a copy of three dimensions. */
struct cu_side {
    size_t x, y, z, lod;
    int type;
    const void *host;
    CUdeviceptr device;
    void *array, *reserved;
    size_t pitch, height;
};
struct cu_copy_3d {
    struct cu_side from, to;
    size_t width, height, depth;
};
struct cudaMemcpy3DParms;
/** Converts the parameters of a copy to those of the runtime, and back. */
CUresult cu_copy_of_driver(const struct cu_copy_3d *c, struct cudaMemcpy3DParms *out);
struct cu_copy_3d cu_copy_to_driver(const struct cudaMemcpy3DParms *p);

#endif
