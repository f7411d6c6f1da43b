/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for features that the device does not have: pipes, objects of OpenGL and EGL. The functions check the handles, and then return the error that the specification names for such a device.
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

/* ---- pipes ----------------------------------------------------------------------------------------------------- */

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
