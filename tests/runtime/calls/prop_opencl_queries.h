/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of prop_opencl.c: queries, images, samplers, and functions that the device does not have. */
#ifndef PROP_OPENCL_QUERIES_H
#define PROP_OPENCL_QUERIES_H

#include "tests/runtime/calls/prop_opencl_objects.h"

/* ---- queries ---------------------------------------------------------------------------------------------------- */

/** Calls a query whose last parameters are the size of the result, a place for it, and a place for its size. */
#define QUERY(name, ...) \
    do { \
        const size_t capacity_ = PICK(capacities); \
        void *out_ = one_of(5) ? NULL : malloc(capacity_); /* the address sanitizer sees a write past the size */ \
        size_t size_ = 0; \
        const cl_int error_ = CALL(name, __VA_ARGS__, capacity_, out_, one_of(5) ? NULL : &size_); \
        free(out_); \
        if (error_ == CL_SUCCESS && out_ != NULL && size_ > capacity_) \
            wrong("the result of %zu bytes does not fit into %zu bytes", size_, capacity_); \
        if (out_ != NULL) /* it may have been too small */ \
            now.calm = false; \
        check(error_); \
    } while (0)
static const size_t capacities[] = {0, 1, 3, 4, 7, 8, 16, 24, 32, 64, 2048};

static cl_uint pick_name(cl_uint first, unsigned count)
{
    now.calm = now.calm && count != 0;
    return one_of(10) ? (cl_uint)next_random() : first + below(count + 1);
}

static void query(void)
{
    const size_t shape[3] = {below(40), below(40), PICK(sizes)};
    cl_device_id of = one_of(6) ? NULL : device;

    now.calm = false;
    switch (below(14)) {
    case 0: QUERY(clGetPlatformInfo, one_of(4) ? NULL : platform, pick_name(CL_PLATFORM_PROFILE, 8)); break;
    case 1: QUERY(clGetDeviceInfo, device, pick_name(CL_DEVICE_TYPE, 0x70)); break;
    case 2: QUERY(clGetContextInfo, handle_of(CONTEXT), pick_name(CL_CONTEXT_REFERENCE_COUNT, 4)); break;
    case 3: QUERY(clGetCommandQueueInfo, handle_of(QUEUE), pick_name(CL_QUEUE_CONTEXT, 8)); break;
    case 4: QUERY(clGetMemObjectInfo, handle_of(MEM), pick_name(CL_MEM_TYPE, 11)); break;
    case 5: {
        cl_program program = handle_of(PROGRAM);
        cl_uint name = pick_name(CL_PROGRAM_REFERENCE_COUNT, 12);

        if (name == CL_PROGRAM_BINARIES) { /* the place would have to hold a pointer to memory for the binary */
            unsigned char *none = NULL;
            size_t size;

            check(CALL(clGetProgramInfo, program, name, sizeof none, &none, &size));
        } else {
            QUERY(clGetProgramInfo, program, name);
        }
        break;
    }
    case 6: QUERY(clGetProgramBuildInfo, handle_of(PROGRAM), of, pick_name(CL_PROGRAM_BUILD_STATUS, 5)); break;
    case 7: QUERY(clGetKernelInfo, handle_of(KERNEL), pick_name(CL_KERNEL_FUNCTION_NAME, 6)); break;
    case 8: /* only the query that does not need the compiler */
        QUERY(clGetKernelArgInfo, handle_of(KERNEL), below(5), one_of(2) ? CL_KERNEL_ARG_ADDRESS_QUALIFIER : 0x1234);
        break;
    case 9: QUERY(clGetKernelWorkGroupInfo, handle_of(KERNEL), of, pick_name(CL_KERNEL_WORK_GROUP_SIZE, 6)); break;
    case 10:
        QUERY(clGetKernelSubGroupInfo, handle_of(KERNEL), of, pick_name(CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 6),
              below(4) * sizeof *shape,
              one_of(6) ? NULL : shape);
        break;
    case 11: QUERY(clGetEventInfo, handle_of(EVENT), pick_name(CL_EVENT_COMMAND_QUEUE, 5)); break;
    case 12: QUERY(clGetEventProfilingInfo, handle_of(EVENT), pick_name(CL_PROFILING_COMMAND_QUEUED, 5)); break;
    default: QUERY(clGetImageInfo, handle_of(MEM), pick_name(CL_IMAGE_FORMAT, 12));
    }
}

static void query_devices(void)
{
    cl_platform_id platforms[2];
    cl_device_id devices[2], created;
    cl_uint count, capacity = below(3);
    cl_ulong times[2];

    now.calm = false;
    switch (below(8)) {
    case 0: check(CALL(clGetPlatformIDs, capacity, one_of(3) ? NULL : platforms, one_of(3) ? NULL : &count)); break;
    case 1:
        check(CALL(clGetDeviceIDs, one_of(8) ? (cl_platform_id)(void *)times : platform, one_of(2) ? CL_DEVICE_TYPE_ALL
                   : next_random(), capacity,
                   one_of(3) ? NULL : devices, one_of(3) ? NULL : &count));
        break;
    case 2: check(CALL(clRetainDevice, one_of(3) ? NULL : device)); break;
    case 3: check(CALL(clReleaseDevice, one_of(3) ? NULL : device)); break;
    case 4: check(CALL(clGetDeviceAndHostTimer, one_of(3) ? NULL : device, &times[0], &times[1])); break;
    case 5: check(CALL(clGetHostTimer, one_of(3) ? NULL : device, &times[0])); break;
    case 6: {
        const cl_device_partition_property list[] = {one_of(2) ? CL_DEVICE_PARTITION_EQUALLY
                                                     : (cl_device_partition_property)next_random(), 1, 0};

        check(CALL(clCreateSubDevices, one_of(4) ? NULL : device, one_of(4) ? NULL : list, capacity, &created, &count));
        break;
    }
    default:
        check(CALL(clUnloadPlatformCompiler, one_of(3) ? NULL : platform));
        check(CALL(clUnloadCompiler));
        CALL(clGetExtensionFunctionAddress, one_of(2) ? NULL : "clGetPlatformInfo");
        CALL(clGetExtensionFunctionAddressForPlatform, one_of(2) ? NULL : platform, one_of(2) ? NULL
             : "clIcdGetPlatformIDsKHR");
    }
}

/* ---- images, samplers, pipes, and functions that the device does not have --------------------------------------------- */

static void add_image(cl_mem mem, cl_int error, cl_context context)
{
    if (check_object(mem, error))
        add_object(MEM, (struct object){.handle = mem, .context = context, .is_image = true});
}

static void create_image(void)
{
    static const cl_channel_type types[] = {CL_UNORM_INT8, CL_UNSIGNED_INT8, CL_FLOAT, CL_HALF_FLOAT, CL_SIGNED_INT16, 0,
                                            0x10ff};
    static const size_t lengths[] = {0, 1, 4, 7, 16, 33, 16385, SIZE_MAX, (size_t)1 << 40};
    const cl_image_format format = {.image_channel_order = one_of(4) ? CL_R + below(16) : CL_RGBA,
                                    .image_channel_data_type = PICK(types)};
    const unsigned limit = now.calm ? 6 : sizeof lengths / sizeof *lengths;
    const cl_context context = handle_of(CONTEXT);
    cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = lengths[below(limit)],
                                 .image_height = lengths[below(limit)]};
    const cl_mem_flags flags = one_of(3) ? CL_MEM_COPY_HOST_PTR : 0;
    uint8_t *data = flags != 0 && description.image_width <= 33 && description.image_height <= 33 ? host[now.thread] : NULL;
    cl_image_format formats[4];
    cl_uint count;
    cl_int error;
    cl_mem mem;

    if (is_full(MEM))
        return;
    now.is_open = true;
    if (!one_of(3)) {
        description.image_type = CL_MEM_OBJECT_BUFFER + below(9);
        description.image_depth = lengths[below(now.calm ? 4 : limit)];
        description.image_array_size = lengths[below(now.calm ? 4 : limit)];
        data = NULL; /* it might be too small */
        description.image_row_pitch = one_of(4) ? lengths[below(limit)] : 0;
        if (one_of(4))
            description.mem_object = handle_of(MEM);
        now.bad = 0;
    }
    switch (below(5)) {
    case 0: mem = CALL(clCreateImage, context, flags, one_of(9) ? NULL : &format, one_of(9) ? NULL : &description, data,
                       &error); break;
    case 1: mem = CALL(clCreateImageWithProperties, context, NULL, flags, &format, &description, data, &error); break;
    case 2: mem = CALL(clCreateImage2D, context, 0, &format, lengths[below(limit)], lengths[below(limit)], 0, NULL,
                       &error); break;
    case 3: mem = CALL(clCreateImage3D, context, 0, &format, lengths[below(limit)], lengths[below(limit)], lengths[below(4)],
                       0, 0, NULL, &error); break;
    default: check(CALL(clGetSupportedImageFormats, context, flags, description.image_type, below(4), one_of(3) ? NULL
                        : formats, &count)); return;
    }
    add_image(mem, error, context);
}

static void create_sampler(void)
{
    const cl_context context = handle_of(CONTEXT);
    const cl_sampler_properties list[] = {CL_SAMPLER_NORMALIZED_COORDS + below(4), below(3), 0};
    cl_sampler sampler;
    cl_int error;

    if (is_full(SAMPLER))
        return;
    now.is_open = true;
    sampler = one_of(2) ? CALL(clCreateSampler, context, below(2), CL_ADDRESS_NONE + below(6), CL_FILTER_NEAREST + below(3),
                               &error)
                        : CALL(clCreateSamplerWithProperties, context, one_of(3) ? NULL : list, &error);
    if (check_object(sampler, error))
        add_object(SAMPLER, (struct object){.handle = sampler, .context = context});
    now.bad = 0;
    now.calm = false;
    QUERY(clGetSamplerInfo, handle_of(SAMPLER), pick_name(CL_SAMPLER_REFERENCE_COUNT, 6));
}

static void copy_image(void)
{
    static const size_t lengths[] = {0, 1, 2, 7, 16, SIZE_MAX, (size_t)1 << 40};
    cl_command_queue queue = handle_of(QUEUE);
    cl_mem image = handle_of(MEM), other = handle_of(MEM);
    const size_t origin[3] = {PICK(lengths), PICK(lengths), one_of(2) ? 0 : PICK(lengths)}, region[3] = {lengths[below(5)],
            lengths[below(5)], lengths[below(5)]};
    const float color[4] = {0.5f, 1, 2, 3};
    size_t row, slice;
    uint8_t *data = host[now.thread]; /* large enough for 16 * 16 * 16 elements of 16 bytes */
    cl_event event = NULL, *place = pick_event(&event);
    void *pointer;
    cl_int error;

    now.is_open = true;
    now.calm = false;
    before_wait();
    switch (below(7)) {
    case 0: error = CALL(clEnqueueReadImage, queue, image, one_of(2), origin, region, 0, 0, data, 0, NULL, place); break;
    case 1: error = CALL(clEnqueueWriteImage, queue, image, one_of(2), origin, region, 0, 0, data, 0, NULL, place); break;
    case 2: error = CALL(clEnqueueCopyImage, queue, image, other, origin, origin, region, 0, NULL, place); break;
    case 3: error = CALL(clEnqueueCopyImageToBuffer, queue, image, other, origin, region, PICK(sizes), 0, NULL, place); break;
    case 4: error = CALL(clEnqueueCopyBufferToImage, queue, image, other, PICK(sizes), origin, region, 0, NULL, place); break;
    case 5: error = CALL(clEnqueueFillImage, queue, image, color, origin, region, 0, NULL, place); break;
    default:
        pointer = CALL(clEnqueueMapImage, queue, image, one_of(2), CL_MAP_READ, origin, region, &row, &slice, 0, NULL, place,
                       &error);
        if ((pointer != NULL) != (error == CL_SUCCESS))
            wrong("the pointer is %p, but the error %d", pointer, error);
    }
    now.bad = 0;
    if (after_enqueue(error, place, false, false) != REFUSED && is_checked())
        forget_all();
}

static void CL_CALLBACK run_native(void *arguments)
{
    (void)arguments;
}

static void call_refused(void)
{
    cl_context context;
    cl_int error;
    cl_mem mem;

    switch (below(6)) {
    case 0: check(CALL(clEnqueueNativeKernel, handle_of(QUEUE), run_native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL)); break;
    case 1:
        context = handle_of(CONTEXT);
        now.is_open = true;
        check(CALL(clSetDefaultDeviceCommandQueue, context, one_of(4) ? NULL : device, one_of(2) ? NULL : handle_of(QUEUE)));
        break;
    case 2: {
        size_t size;

        check(CALL(clGetPipeInfo, handle_of(MEM), CL_PIPE_PACKET_SIZE, 0, NULL, &size));
        break;
    }
    case 3:
        context = handle_of(CONTEXT);
        mem = CALL(clCreatePipe, context, 0, below(9), below(9), NULL, &error);
        add_image(mem, error, context);
        break;
    case 4:
        context = handle_of(CONTEXT);
        mem = ((cl_mem(CL_API_CALL *)(cl_context, cl_mem_flags, cl_uint,
                                      cl_int *))(void (*)(void))d->clCreateFromGLBuffer)(context, 0, 1, &error);
        begin_call("clCreateFromGLBuffer");
        add_image(mem, error, context);
        break;
    default:
        begin_call("clEnqueueAcquireGLObjects");
        check(((cl_int(CL_API_CALL *)(void))(void (*)(void))d->clEnqueueAcquireGLObjects)());
    }
}

#endif
