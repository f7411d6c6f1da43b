/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatch table of the driver, through which OpenCL's loader calls its functions, and the functions that the loader
 * looks up by name. */
#include "runtime/opencl/cl_priv.h"

#include <string.h>

/* Members of the dispatch table. Each points to the function of the same name. */
#define FUNCTIONS(X) \
    X(clGetPlatformIDs) \
    X(clGetPlatformInfo) \
    X(clGetDeviceIDs) \
    X(clGetDeviceInfo) \
    X(clCreateContext) \
    X(clCreateContextFromType) \
    X(clRetainContext) \
    X(clReleaseContext) \
    X(clGetContextInfo) \
    X(clCreateCommandQueue) \
    X(clRetainCommandQueue) \
    X(clReleaseCommandQueue) \
    X(clGetCommandQueueInfo) \
    X(clSetCommandQueueProperty) \
    X(clCreateBuffer) \
    X(clCreateImage2D) \
    X(clCreateImage3D) \
    X(clRetainMemObject) \
    X(clReleaseMemObject) \
    X(clGetSupportedImageFormats) \
    X(clGetMemObjectInfo) \
    X(clGetImageInfo) \
    X(clCreateSampler) \
    X(clRetainSampler) \
    X(clReleaseSampler) \
    X(clGetSamplerInfo) \
    X(clCreateProgramWithSource) \
    X(clCreateProgramWithBinary) \
    X(clRetainProgram) \
    X(clReleaseProgram) \
    X(clBuildProgram) \
    X(clUnloadCompiler) \
    X(clGetProgramInfo) \
    X(clGetProgramBuildInfo) \
    X(clCreateKernel) \
    X(clCreateKernelsInProgram) \
    X(clRetainKernel) \
    X(clReleaseKernel) \
    X(clSetKernelArg) \
    X(clGetKernelInfo) \
    X(clGetKernelWorkGroupInfo) \
    X(clWaitForEvents) \
    X(clGetEventInfo) \
    X(clRetainEvent) \
    X(clReleaseEvent) \
    X(clGetEventProfilingInfo) \
    X(clFlush) \
    X(clFinish) \
    X(clEnqueueReadBuffer) \
    X(clEnqueueWriteBuffer) \
    X(clEnqueueCopyBuffer) \
    X(clEnqueueReadImage) \
    X(clEnqueueWriteImage) \
    X(clEnqueueCopyImage) \
    X(clEnqueueCopyImageToBuffer) \
    X(clEnqueueCopyBufferToImage) \
    X(clEnqueueMapBuffer) \
    X(clEnqueueMapImage) \
    X(clEnqueueUnmapMemObject) \
    X(clEnqueueNDRangeKernel) \
    X(clEnqueueTask) \
    X(clEnqueueNativeKernel) \
    X(clEnqueueMarker) \
    X(clEnqueueWaitForEvents) \
    X(clEnqueueBarrier) \
    X(clGetExtensionFunctionAddress) \
    X(clSetEventCallback) \
    X(clCreateSubBuffer) \
    X(clSetMemObjectDestructorCallback) \
    X(clCreateUserEvent) \
    X(clSetUserEventStatus) \
    X(clEnqueueReadBufferRect) \
    X(clEnqueueWriteBufferRect) \
    X(clEnqueueCopyBufferRect) \
    X(clCreateSubDevices) \
    X(clRetainDevice) \
    X(clReleaseDevice) \
    X(clCreateImage) \
    X(clCreateProgramWithBuiltInKernels) \
    X(clCompileProgram) \
    X(clLinkProgram) \
    X(clUnloadPlatformCompiler) \
    X(clGetKernelArgInfo) \
    X(clEnqueueFillBuffer) \
    X(clEnqueueFillImage) \
    X(clEnqueueMigrateMemObjects) \
    X(clEnqueueMarkerWithWaitList) \
    X(clEnqueueBarrierWithWaitList) \
    X(clGetExtensionFunctionAddressForPlatform) \
    X(clCreateCommandQueueWithProperties) \
    X(clCreatePipe) \
    X(clGetPipeInfo) \
    X(clSVMAlloc) \
    X(clSVMFree) \
    X(clEnqueueSVMFree) \
    X(clEnqueueSVMMemcpy) \
    X(clEnqueueSVMMemFill) \
    X(clEnqueueSVMMap) \
    X(clEnqueueSVMUnmap) \
    X(clCreateSamplerWithProperties) \
    X(clSetKernelArgSVMPointer) \
    X(clSetKernelExecInfo) \
    X(clCloneKernel) \
    X(clCreateProgramWithIL) \
    X(clEnqueueSVMMigrateMem) \
    X(clGetDeviceAndHostTimer) \
    X(clGetHostTimer) \
    X(clGetKernelSubGroupInfo) \
    X(clSetDefaultDeviceCommandQueue) \
    X(clSetProgramReleaseCallback) \
    X(clSetProgramSpecializationConstant) \
    X(clCreateBufferWithProperties) \
    X(clCreateImageWithProperties) \
    X(clSetContextDestructorCallback)

#define MEMBER(name) .name = name,
/* The other members, but for the last one, are functions of extensions that the platform does not report. The members for Direct3D remain NULL. */
#define REFUSE(name) .name = (cl_api_##name)(void (*)(void))cl_refuse_call
#define REFUSE_BY(name, function) .name = (cl_api_##name)(void (*)(void))function
const struct _cl_icd_dispatch cl_dispatch = {
    FUNCTIONS(MEMBER)
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
    .clGetKernelSubGroupInfoKHR = clGetKernelSubGroupInfo,
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
        return (void *)(uintptr_t)clGetPlatformInfo;
    if (name != NULL && strcmp(name, "clGetKernelSubGroupInfoKHR") == 0) /* cl_khr_subgroups */
        return (void *)(uintptr_t)clGetKernelSubGroupInfo;
    if (name != NULL && strcmp(name, "clCreateProgramWithILKHR") == 0) /* cl_khr_il_program */
        return (void *)(uintptr_t)clCreateProgramWithIL;
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
