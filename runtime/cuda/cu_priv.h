/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's runtime library over lanewise.h: types of its binary interface, as compilers call it, and declarations that
 * its files share. Functions have the names, and enumerations the numbers, of CUDA's documentation. Each call runs its
 * work to the end before it returns, so that streams are always in order.
 */
#ifndef CU_PRIV_H
#define CU_PRIV_H

#include "runtime/rt_priv.h"

#define CU_API __attribute__((visibility("default")))

/** Errors that functions return. cu_error.c has the texts of these and other errors. */
typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidKernelImage = 200,
    cudaErrorDeviceUninitialized = 201,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorInvalidPtx = 218,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorFileNotFound = 301,
    cudaErrorSymbolNotFound = 500,
    cudaErrorNotReady = 600,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorPeerAccessNotEnabled = 705,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801
};
/** Records an error for cudaGetLastError, and returns it. */
cudaError_t cu_return(cudaError_t error);
/** Sets what cudaGetLastError returns: functions of the driver interface leave it as it was. */
void cu_set_last(cudaError_t error);

typedef struct {
    unsigned x, y, z;
} cu_dim3;

/** Streams and events are handles of ours; NULL, 1 and 2 are the default streams. */
typedef struct cu_stream *cudaStream_t;
typedef struct cu_event *cudaEvent_t;
/** Returns true if the handle is a stream; locked. */
bool cu_is_stream(cudaStream_t stream);

enum { CU_SHARED_BYTES = 49152, CU_REGISTERS = 65536, CU_WARPS = 64, CU_COMPUTE_MAJOR = 7, CU_COMPUTE_MINOR = 5 };

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/** A fat binary that the program registered. It is loaded at the first use of one of its kernels or variables. */
struct cu_module;
/** A kernel, found by the address of its stub in the host's code. */
struct cu_function {
    struct cu_function *next;
    struct cu_module *module;
    const void *stub;
    char *name;
    lanewise_kernel *kernel; /* NULL: the module was not loaded yet */
    unsigned max_dynamic_bytes; /* value that cudaFuncSetAttribute has set; 0: CU_SHARED_BYTES */
};
/** Finds a kernel and loads its module; locked. */
cudaError_t cu_function_get(const void *stub, struct cu_function **out);
/** Marks all modules as not loaded: each is loaded anew at its next use; locked. */
void cu_modules_reset(void);
/** Frees all memory of the program; locked. */
void cu_memory_reset(void);
/** Frees all streams and events of the program; locked. */
void cu_streams_reset(void);
/** Finds a variable by the address of its shadow in the host; locked. */
cudaError_t cu_variable_get(const void *symbol, uint64_t *address, size_t *bytes);


/* ---- modules of the driver interface; all locked ------------------------------------------------------------------ */

enum { CU_OBJECT_MACHINE = 0x4c57 }; /* e_machine of our object files */

bool cu_is_module(const struct cu_module *module);
/** Returns true if the program has fat binaries, and so uses the runtime. */
bool cu_has_registered(void);
/** Drops a module and its functions. Returns false if @module is not a module. */
bool cu_module_unload(struct cu_module *module);
/**
 * Gets what an image consists of: a text with PTX, a fat binary with PTX, or our object file. An image has no size, so
 * only the sizes in its own headers limit what is read.
 * @owned  to be freed after @text was used; may be NULL
 */
cudaError_t cu_image_text(const void *image, const void **text, size_t *bytes, bool *is_object, void **owned);
/** Makes a handle of a module of the machine. */
cudaError_t cu_module_adopt(lanewise_module *module, struct cu_module **out);
/** Finds a kernel or variable by its name in the PTX. */
cudaError_t cu_module_function(struct cu_module *m, const char *name, struct cu_function **out);
cudaError_t cu_module_variable(struct cu_module *m, const char *name, uint64_t *address, uint64_t *bytes);
unsigned cu_module_function_count(const struct cu_module *m);

#endif
