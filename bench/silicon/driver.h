/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the CUDA driver that the programs here call. The driver is loaded at run time, so no SDK is needed. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>

typedef int CUresult, CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;
typedef unsigned long long CUdeviceptr;

/* DRIVER(X) expands X(name, parameters) for each function, by the name that the driver's library exports. */
#define DRIVER(X) \
    X(cuInit, (unsigned flags)) \
    X(cuDeviceGet, (CUdevice * device, int ordinal)) \
    X(cuDeviceGetName, (char *name, int size, CUdevice device)) \
    X(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device)) \
    X(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device)) \
    X(cuCtxSynchronize, (void)) \
    X(cuCtxSetLimit, (int limit, size_t value)) \
    X(cuModuleLoadData, (CUmodule * module, const void *image)) \
    X(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned count, int *options, void **values)) \
    X(cuModuleUnload, (CUmodule module)) \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name)) \
    X(cuMemAlloc_v2, (CUdeviceptr * pointer, size_t bytes)) \
    X(cuMemFree_v2, (CUdeviceptr pointer)) \
    X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes)) \
    X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes)) \
    X(cuMemsetD8_v2, (CUdeviceptr pointer, unsigned char value, size_t bytes)) \
    X(cuEventCreate, (CUevent * event, unsigned flags)) \
    X(cuEventRecord, (CUevent event, void *stream)) \
    X(cuEventElapsedTime, (float *milliseconds, CUevent from, CUevent to)) \
    X(cuLaunchKernel, (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
                       unsigned bz, unsigned shared, void *stream, void **parameters, void **extra)) \
    X(cuDriverGetVersion, (int *version)) \
    X(cuGetErrorName, (CUresult result, const char **name))

extern struct cuda_driver {
#define X(name, parameters) CUresult(*name) parameters;
    DRIVER(X)
#undef X
} cu;

/** Loads the driver and creates a context of the first device. Ends the program with status 2 if there is no driver, and with 1
 * if there is no device. */
CUdevice driver_open(void);
/** Prints @what and the name of the error, and ends the program with status 1, if @result is an error. */
void need(CUresult result, const char *what);
/** Returns the text of the file at @path, which the caller frees. Ends the program with status 2 if the file cannot be read, is
 * empty or is too long. */
char *read_file(const char *path);
/** Returns @bytes of cleared memory of the device. */
CUdeviceptr allocate(size_t bytes);
/** Returns attribute @number of @device. */
int attribute(CUdevice device, int number);

#endif
