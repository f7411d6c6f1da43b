/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the program's calls, for findings of class api (cu_trace.c). */
#ifndef CU_TRACE_PRIV_H
#define CU_TRACE_PRIV_H

#include "runtime/cuda/cu_priv.h"

/** Kinds of objects that a program creates and releases. */
enum cu_thing {
    CU_THING_MEMORY,
    CU_THING_HOST_MEMORY,
    CU_THING_STREAM,
    CU_THING_EVENT,
    CU_THING_GRAPH,
    CU_THING_EXEC,
    CU_THING_ARRAY,
    CU_THING_TEXTURE,
    CU_THING_SURFACE,
    CU_THING_POOL,
    CU_THING_MODULE,
    CU_THING_CONTEXT,
};
/** Records an object that the present call creates. @bytes: size of memory, else 0. Locked. */
void cu_trace_created(const void *handle, enum cu_thing thing, uint64_t bytes);
/** Records that the present call releases an object, and frees @structure, perhaps later, so that for some time no new object
 *  gets the handle. @structure may be NULL. Locked. */
void cu_trace_released(const void *handle, void *structure);
/** Called when the program destroys a context of the driver interface, with which a device releases the objects that were created in
 *  it. The objects that the driver interface has created are then no leaks. Locked. */
void cu_trace_context_ended(void);
/** These three functions describe the call in progress, for the finding if it fails: a handle or pointer that is not valid; why
 *  it fails; and the kernel that it launches. */
void cu_trace_handle(const void *handle);
void cu_trace_reason(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cu_trace_kernel(const char *name);
/** Reports that CUDA does not define the effect of the present call, although it succeeds, because of @reason. Locked. */
void cu_trace_undefined(const char *reason);
/** Called when a function that the program has called returns: reports an error that the arguments have caused. @name: name of the
 *  error. Not locked. */
void cu_trace_call(cudaError_t error, const char *name);
/** Called in the stub of a kernel, before its launch. */
void cu_trace_stub(void);
/** Called with the result of a launch. Records an error of a launch by <<<...>>>, which returns nothing. */
void cu_trace_launch(cudaError_t error);
/** Called when the program reads the last error of its thread. */
void cu_trace_read(void);

CU_API const char *cudaGetErrorName(cudaError_t error);
CU_API const char *cudaGetErrorString(cudaError_t error);

#endif
