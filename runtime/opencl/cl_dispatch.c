/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatch table of the driver, through which OpenCL's loader calls its functions, and the functions that the loader
 * looks up by name. */
#include "runtime/opencl/cl_priv.h"

#include <string.h>

/* The dispatch table has functions that call the function of the same name and then check its error code. */
#define UNPACK(...) __VA_ARGS__
#define STATUS(name, parameters, arguments) \
    static cl_int CL_API_CALL checked_##name parameters \
    { \
        const cl_int error = name arguments; \
\
        cl_trace_call(#name, error); \
        return error; \
    }
#define OBJECT(type, name, parameters, arguments) \
    static type CL_API_CALL checked_##name(UNPACK parameters, cl_int *error) \
    { \
        cl_int result = CL_SUCCESS; \
        type object = name(UNPACK arguments, &result); \
\
        cl_put_error(error, result); \
        cl_trace_call(#name, result); \
        return object; \
    }
#define DIRECT(name)
#include "runtime/opencl/cl_calls.def"

/* The other members, but for the last one, are functions of extensions that the platform does not report. The members for Direct3D remain NULL. */
#define REFUSE(name) .name = (cl_api_##name)(void (*)(void))cl_refuse_call
#define REFUSE_BY(name, function) .name = (cl_api_##name)(void (*)(void))function
const struct _cl_icd_dispatch cl_dispatch = {
#define STATUS(name, parameters, arguments) .name = checked_##name,
#define OBJECT(type, name, parameters, arguments) .name = checked_##name,
#define DIRECT(name) .name = name,
#include "runtime/opencl/cl_calls.def"
    REFUSE_BY(clCreateFromGLBuffer, cl_refuse_gl_buffer),
    REFUSE_BY(clCreateFromGLTexture2D, cl_refuse_gl_texture),
    REFUSE_BY(clCreateFromGLTexture3D, cl_refuse_gl_texture),
    REFUSE_BY(clCreateFromGLTexture, cl_refuse_gl_texture),
    REFUSE_BY(clCreateFromGLRenderbuffer, cl_refuse_gl_buffer),
    REFUSE(clGetGLObjectInfo),
    REFUSE(clGetGLTextureInfo),
    REFUSE(clEnqueueAcquireGLObjects),
    REFUSE(clEnqueueReleaseGLObjects),
    REFUSE(clGetGLContextInfoKHR),
    REFUSE_BY(clCreateEventFromGLsyncKHR, cl_refuse_gl_sync),
    REFUSE(clCreateSubDevicesEXT),
    REFUSE(clRetainDeviceEXT),
    REFUSE(clReleaseDeviceEXT),
    REFUSE_BY(clCreateFromEGLImageKHR, cl_refuse_egl_image),
    REFUSE(clEnqueueAcquireEGLObjectsKHR),
    REFUSE(clEnqueueReleaseEGLObjectsKHR),
    REFUSE_BY(clCreateEventFromEGLSyncKHR, cl_refuse_egl_sync),
    .clGetKernelSubGroupInfoKHR = checked_clGetKernelSubGroupInfo,
};

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id *platforms, cl_uint *out)
{
    return clGetPlatformIDs(count, platforms, out);
}

/** Finds a function that is not called through the dispatch table, by its name. Returns NULL if there is none. */
static void *find(const char *name)
{
    if (name != NULL && strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        return (void *)(uintptr_t)clIcdGetPlatformIDsKHR;
    if (name != NULL && strcmp(name, "clGetPlatformInfo") == 0)
        return (void *)(uintptr_t)checked_clGetPlatformInfo;
    if (name != NULL && strcmp(name, "clGetKernelSubGroupInfoKHR") == 0) /* cl_khr_subgroups */
        return (void *)(uintptr_t)checked_clGetKernelSubGroupInfo;
    if (name != NULL && strcmp(name, "clCreateProgramWithILKHR") == 0) /* cl_khr_il_program */
        return (void *)(uintptr_t)checked_clCreateProgramWithIL;
    return NULL;
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return find(name);
}

void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    return platform == NULL || platform == &cl_the_platform ? find(name) : NULL;
}
