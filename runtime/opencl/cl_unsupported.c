/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for features that the device does not have: images, samplers, pipes, objects of OpenGL and EGL. The functions
 * check the handles, and then return the error that the specification names for such a device.
 */
#include "runtime/opencl/cl_priv.h"

/** Returns @error for a call with a handle of an object of @kind, or @invalid if the handle is not valid. */
static cl_int refuse(const void *handle, enum cl_kind kind, cl_int invalid, cl_int error)
{
    rt_lock();
    const bool is = cl_object_is(handle, kind);
    rt_unlock();
    return is ? error : invalid;
}

static void *refuse_object(cl_context context, cl_int *error)
{
    cl_put_error(error, refuse(context, CL_KIND_CONTEXT, CL_INVALID_CONTEXT, CL_INVALID_OPERATION));
    return NULL;
}

static cl_int refuse_command(cl_command_queue queue)
{
    return refuse(queue, CL_KIND_QUEUE, CL_INVALID_COMMAND_QUEUE, CL_INVALID_OPERATION);
}

/* ---- images ---------------------------------------------------------------------------------------------------- */

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                 const cl_image_desc *description, void *host, cl_int *error)
{
    (void)flags, (void)format, (void)description, (void)host;
    return refuse_object(context, error);
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                               const cl_image_format *format, const cl_image_desc *description, void *host,
                                               cl_int *error)
{
    (void)properties, (void)flags, (void)format, (void)description, (void)host;
    return refuse_object(context, error);
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t row, void *host, cl_int *error)
{
    (void)flags, (void)format, (void)width, (void)height, (void)row, (void)host;
    return refuse_object(context, error);
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t depth, size_t row, size_t slice, void *host, cl_int *error)
{
    (void)flags, (void)format, (void)width, (void)height, (void)depth, (void)row, (void)slice, (void)host;
    return refuse_object(context, error);
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint room,
                                              cl_image_format *formats, cl_uint *count)
{
    (void)flags, (void)type;
    if (room == 0 && formats != NULL)
        return CL_INVALID_VALUE;
    if (count != NULL)
        *count = 0;
    return refuse(context, CL_KIND_CONTEXT, CL_INVALID_CONTEXT, CL_SUCCESS);
}

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info info, size_t room, void *out, size_t *size)
{
    (void)image, (void)info, (void)room, (void)out, (void)size;
    return CL_INVALID_MEM_OBJECT; /* the object is no image, because all memory objects are buffers */
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                      const size_t *region, size_t row, size_t slice, void *host, cl_uint count,
                                      const cl_event *waits, cl_event *event)
{
    (void)image, (void)blocking, (void)origin, (void)region, (void)row, (void)slice, (void)host, (void)count, (void)waits;
    (void)event;
    return refuse_command(queue);
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                       const size_t *region, size_t row, size_t slice, const void *host, cl_uint count,
                                       const cl_event *waits, cl_event *event)
{
    (void)image, (void)blocking, (void)origin, (void)region, (void)row, (void)slice, (void)host, (void)count, (void)waits;
    (void)event;
    return refuse_command(queue);
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                                      const size_t *region, cl_uint count, const cl_event *waits, cl_event *event)
{
    (void)image, (void)color, (void)origin, (void)region, (void)count, (void)waits, (void)event;
    return refuse_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                      const size_t *to_origin, const size_t *region, cl_uint count, const cl_event *waits,
                                      cl_event *event)
{
    (void)from, (void)to, (void)from_origin, (void)to_origin, (void)region, (void)count, (void)waits, (void)event;
    return refuse_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
                                              const size_t *region, size_t offset, cl_uint count, const cl_event *waits,
                                              cl_event *event)
{
    (void)from, (void)to, (void)origin, (void)region, (void)offset, (void)count, (void)waits, (void)event;
    return refuse_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                              const size_t *origin, const size_t *region, cl_uint count,
                                              const cl_event *waits, cl_event *event)
{
    (void)from, (void)to, (void)offset, (void)origin, (void)region, (void)count, (void)waits, (void)event;
    return refuse_command(queue);
}

void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                    const size_t *origin, const size_t *region, size_t *row, size_t *slice, cl_uint count,
                                    const cl_event *waits, cl_event *event, cl_int *error)
{
    (void)image, (void)blocking, (void)flags, (void)origin, (void)region, (void)row, (void)slice, (void)count, (void)waits;
    (void)event;
    cl_put_error(error, refuse_command(queue));
    return NULL;
}

/* ---- samplers, pipes ------------------------------------------------------------------------------------------- */

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int *error)
{
    (void)normalized, (void)addressing, (void)filter;
    return refuse_object(context, error);
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties,
                                                     cl_int *error)
{
    (void)properties;
    return refuse_object(context, error);
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info info, size_t room, void *out, size_t *size)
{
    (void)sampler, (void)info, (void)room, (void)out, (void)size;
    return CL_INVALID_SAMPLER;
}

cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint packets,
                                const cl_pipe_properties *properties, cl_int *error)
{
    (void)flags, (void)packet, (void)packets, (void)properties;
    return refuse_object(context, error);
}

cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info info, size_t room, void *out, size_t *size)
{
    (void)pipe, (void)info, (void)room, (void)out, (void)size;
    return CL_INVALID_MEM_OBJECT;
}

/* ---- functions for objects of OpenGL and EGL ----------------------------------------------------------------------- */

cl_int CL_API_CALL cl_refuse_call(void)
{
    return CL_INVALID_OPERATION;
}

cl_mem CL_API_CALL cl_refuse_gl_buffer(cl_context context, cl_mem_flags flags, cl_uint name, cl_int *error)
{
    (void)flags, (void)name;
    return refuse_object(context, error);
}

cl_mem CL_API_CALL cl_refuse_gl_texture(cl_context context, cl_mem_flags flags, cl_uint target, cl_int level, cl_uint name,
                                        cl_int *error)
{
    (void)flags, (void)target, (void)level, (void)name;
    return refuse_object(context, error);
}

cl_mem CL_API_CALL cl_refuse_egl_image(cl_context context, void *display, void *image, cl_mem_flags flags,
                                       const intptr_t *properties, cl_int *error)
{
    (void)display, (void)image, (void)flags, (void)properties;
    return refuse_object(context, error);
}

cl_event CL_API_CALL cl_refuse_egl_sync(cl_context context, void *sync, void *display, cl_int *error)
{
    (void)sync, (void)display;
    return refuse_object(context, error);
}

cl_event CL_API_CALL cl_refuse_gl_sync(cl_context context, void *sync, cl_int *error)
{
    (void)sync;
    return refuse_object(context, error);
}
