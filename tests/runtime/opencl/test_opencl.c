/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the OpenCL driver through the system's OpenCL loader: results, events, and the errors that the specification defines. */
#include "tests/runtime/opencl/opencl_test.h"

#include <pthread.h>
#include <time.h>

static const char source[] =
    "kernel void add(global const int *a, global const int *b, global int *c, int n)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i < n)\n"
    "        c[i] = a[i] + b[i];\n"
    "}\n"
    "kernel void ids(global uint *out)\n"
    "{\n"
    "    uint at = (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) - get_global_offset(0);\n"
    "    out[4 * at] = get_global_id(0); out[4 * at + 1] = get_global_id(1);\n"
    "    out[4 * at + 2] = get_local_size(0) * 100 + get_work_dim(); out[4 * at + 3] = get_global_offset(0);\n"
    "}\n"
    "kernel void reverse(global int *data, local int *tile, long bias)\n"
    "{\n"
    "    int l = get_local_id(0), n = get_local_size(0);\n"
    "    tile[l] = data[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    data[get_global_id(0)] = tile[n - 1 - l] + (int)bias;\n"
    "}\n"
    "__attribute__((reqd_work_group_size(8, 1, 1))) kernel void eight(global int *out) { out[get_global_id(0)] = 8; }\n"
    "__attribute__((reqd_work_group_size(8, 2, 1))) kernel void flat(global int *out) { out[get_global_id(0)] = 8; }\n"
    "kernel void past(global int *out, int n) { out[get_global_id(0) + n] = 1; }\n";

static cl_program program;

static cl_kernel kernel_named(const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    OK(error);
    return kernel;
}

static cl_mem buffer_of(size_t bytes, const void *data)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(context, data != NULL ? CL_MEM_COPY_HOST_PTR : 0, bytes, (void *)(uintptr_t)data, &error);

    OK(error);
    return mem;
}

static int set_up(void **state)
{
    const char *text = source;
    cl_int error;

    (void)state;
    open_device(CL_QUEUE_PROFILING_ENABLE);
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    OK(error);
    OK(clBuildProgram(program, 1, &device, " ", NULL, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}

static void adds_two_buffers(void **state)
{
    enum { N = 1000 };
    static int a[N], b[N], c[N];
    const size_t global = 1024;
    const cl_int n = N;
    cl_kernel kernel = kernel_named("add");
    cl_mem mems[3];
    cl_event event;
    cl_ulong times[4];
    cl_int status;

    (void)state;
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = 7 * i;
    mems[0] = buffer_of(sizeof a, a);
    mems[1] = buffer_of(sizeof b, b);
    mems[2] = buffer_of(sizeof c, NULL);
    for (cl_uint i = 0; i < 3; i++)
        OK(clSetKernelArg(kernel, i, sizeof mems[i], &mems[i]));
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(kernel, 3, sizeof n, &n));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
    OK(clEnqueueReadBuffer(queue, mems[2], CL_TRUE, 0, sizeof c, c, 1, &event, NULL));
    for (int i = 0; i < N; i++)
        assert_int_equal(c[i], 8 * i);
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_COMPLETE);
    for (cl_uint i = 0; i < 4; i++)
        OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof times[i], &times[i], NULL));
    assert_true(times[0] <= times[1] && times[1] <= times[2] && times[2] < times[3]);
    OK(clReleaseEvent(event));
    for (int i = 0; i < 3; i++)
        OK(clReleaseMemObject(mems[i]));
    OK(clReleaseKernel(kernel));
}

static void ids_have_the_offset(void **state)
{
    const size_t offset[2] = {5, 100}, global[2] = {8, 4}, local[2] = {4, 2};
    cl_uint out[8 * 4 * 4];
    cl_kernel kernel = kernel_named("ids");
    cl_mem mem = buffer_of(sizeof out, NULL);

    (void)state;
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, offset, global, local, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (cl_uint y = 0; y < 4; y++)
        for (cl_uint x = 0; x < 8; x++) {
            const cl_uint *at = &out[4 * (8 * y + x)];

            assert_int_equal(at[0], 5 + x);
            assert_int_equal(at[1], 100 + y);
            assert_int_equal(at[2], 402);
            assert_int_equal(at[3], 5);
        }
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(kernel));
}

static void local_memory_and_long_arguments_work(void **state)
{
    int data[64];
    const size_t global = 64, local = 16;
    const cl_long bias = 1000;
    cl_kernel kernel = kernel_named("reverse");
    cl_mem mem;

    (void)state;
    for (int i = 0; i < 64; i++)
        data[i] = i;
    mem = buffer_of(sizeof data, data);
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    assert_int_equal(clSetKernelArg(kernel, 1, 0, NULL), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, 64, data), CL_INVALID_ARG_VALUE);
    OK(clSetKernelArg(kernel, 1, 64, NULL));
    assert_int_equal(clSetKernelArg(kernel, 2, 4, &bias), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 2, 8, NULL), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 3, 8, &bias), CL_INVALID_ARG_INDEX);
    OK(clSetKernelArg(kernel, 2, 8, &bias));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
    for (int i = 0; i < 64; i++)
        assert_int_equal(data[i], 1000 + i / 16 * 16 + 15 - i % 16);
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(kernel));
}

static void shapes_that_a_kernel_does_not_allow_are_refused(void **state)
{
    const size_t seven = 7, eight = 8, big = 2048, sixteen = 16, zero = 0;
    const cl_long bias = 0;
    cl_kernel kernel = kernel_named("eight");
    cl_mem mem = buffer_of(64 * 4, NULL);

    (void)state;
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &sixteen, &sixteen, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &seven, &eight, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 0, NULL, &eight, &eight, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, &eight, &eight, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(clEnqueueNDRangeKernel(queue, NULL, 1, NULL, &eight, &eight, 0, NULL, NULL), CL_INVALID_KERNEL);
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &zero, NULL, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &sixteen, NULL, 0, NULL, NULL));
    OK(clReleaseKernel(kernel));
    kernel = kernel_named("flat"); /* this kernel needs two dimensions */
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &eight, NULL, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    OK(clReleaseKernel(kernel));
    kernel = kernel_named("reverse");
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clSetKernelArg(kernel, 1, (size_t)-8, NULL));
    OK(clSetKernelArg(kernel, 2, sizeof bias, &bias));
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &eight, NULL, 0, NULL, NULL), CL_OUT_OF_RESOURCES);
    assert_int_equal(clGetKernelArgInfo(kernel, 0, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseKernel(kernel));
    kernel = kernel_named("ids");
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &big, &big, 0, NULL, NULL), CL_INVALID_WORK_ITEM_SIZE);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(mem));
}

static void boxes_are_copied_and_filled(void **state)
{
    enum { W = 8, H = 6 };
    uint8_t data[W * H], out[W * H], small[6] = {1, 2, 3, 4, 5, 6};
    const size_t origin[3] = {2, 1, 0}, zero[3] = {0, 0, 0}, region[3] = {3, 2, 1}, far[3] = {4, 3, 0};
    const uint16_t pattern = 0xabcd;
    cl_mem mem, other;

    (void)state;
    memset(data, 0, sizeof data);
    mem = buffer_of(sizeof data, data);
    other = buffer_of(sizeof data, data);
    OK(clEnqueueWriteBufferRect(queue, mem, CL_TRUE, origin, zero, region, W, 0, 3, 0, small, 0, NULL, NULL));
    OK(clEnqueueCopyBufferRect(queue, mem, other, origin, far, region, W, 0, W, 0, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, other, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            assert_int_equal(out[y * W + x], x >= 4 && x < 7 && y >= 3 && y < 5 ? small[(y - 3) * 3 + x - 4] : 0);
    memset(small, 0, sizeof small);
    OK(clEnqueueReadBufferRect(queue, other, CL_TRUE, far, zero, region, W, 0, 3, 0, small, 0, NULL, NULL));
    for (int i = 0; i < 6; i++)
        assert_int_equal(small[i], i + 1);
    OK(clEnqueueFillBuffer(queue, mem, &pattern, 2, 4, 8, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < 16; i++)
        assert_int_equal(out[i], i < 4 ? 0 : i < 12 ? (i % 2 != 0 ? 0xab : 0xcd) : i == 12 ? 3 : 0);
    assert_int_equal(clEnqueueFillBuffer(queue, mem, &pattern, 2, 1, 8, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(queue, mem, &pattern, 3, 3, 9, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyBuffer(queue, mem, mem, 0, 4, 8, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyBuffer(queue, mem, other, 41, 0, 8, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 48, 0, out, 0, NULL, NULL));
    OK(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 3, 0, out, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(queue, mem, other, 48, 0, 0, 0, NULL, NULL));
    OK(clEnqueueFillBuffer(queue, mem, &pattern, 2, 48, 0, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseMemObject(mem));
    OK(clReleaseMemObject(other));
}

static void mapped_memory_is_written_back(void **state)
{
    const int data[4] = {1, 2, 3, 4};
    int out[4], *map;
    cl_uint count;
    cl_int error;
    cl_mem mem = buffer_of(sizeof data, data);

    (void)state;
    map = clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 4, 8, 0, NULL, NULL, &error);
    OK(error);
    assert_int_equal(map[0], 2);
    map[1] = 30;
    OK(clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 1);
    OK(clEnqueueUnmapMemObject(queue, mem, map, 0, NULL, NULL));
    assert_int_equal(clEnqueueUnmapMemObject(queue, mem, map, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    assert_int_equal(out[1], 2);
    assert_int_equal(out[2], 30);
    OK(clReleaseMemObject(mem));
}

static void a_map_that_fails_is_no_map(void **state)
{
    cl_uint count;
    cl_int error;
    cl_mem mem = buffer_of(16, NULL);
    cl_event failed = clCreateUserEvent(context, &error);

    (void)state;
    OK(error);
    OK(clSetUserEventStatus(failed, -5));
    assert_null(clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 16, 1, &failed, NULL, &error));
    assert_int_equal(error, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 0);
    OK(clReleaseEvent(failed));
    OK(clReleaseMemObject(mem));
}

static void sub_buffers_share_memory(void **state)
{
    const cl_buffer_region region = {512, 512}, odd = {100, 8};
    int out[256];
    const int value = 77;
    cl_int error;
    cl_mem mem = buffer_of(1024, NULL), sub;

    (void)state;
    assert_null(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &error));
    assert_int_equal(error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    sub = clCreateSubBuffer(mem, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    OK(error);
    OK(clReleaseMemObject(mem)); /* the memory is not freed, because a sub-buffer uses it */
    assert_int_equal(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, 4, &value, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    OK(clEnqueueWriteBuffer(queue, sub, CL_TRUE, 8, 4, &value, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, sub, CL_TRUE, 0, 512, out, 0, NULL, NULL));
    assert_int_equal(out[2], 77);
    OK(clReleaseMemObject(sub));
}

static void CL_CALLBACK note(cl_event event, cl_int status, void *user)
{
    (void)event;
    *(cl_int *)user = status + 100;
}

static void a_user_event_holds_commands_back(void **state)
{
    cl_int error, status, seen = 0;
    int data = 5, out = 0;
    cl_mem mem = buffer_of(4, NULL);
    cl_event gate = clCreateUserEvent(context, &error), write, read;

    (void)state;
    OK(error);
    OK(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, 4, &data, 1, &gate, &write));
    OK(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, 4, &out, 0, NULL, &read));
    OK(clSetEventCallback(read, CL_COMPLETE, note, &seen));
    OK(clGetEventInfo(write, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_QUEUED);
    assert_int_equal(clSetUserEventStatus(gate, 1), CL_INVALID_VALUE);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);
    OK(clWaitForEvents(1, &read));
    assert_int_equal(out, 5);
    assert_int_equal(seen, 100 + CL_COMPLETE);
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(write));
    OK(clReleaseEvent(read));
    gate = clCreateUserEvent(context, &error); /* if this event fails, the commands that wait for it fail, too */
    OK(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, 4, &data, 1, &gate, &write));
    OK(clSetUserEventStatus(gate, -5));
    assert_int_equal(clWaitForEvents(1, &write), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(clGetEventInfo(write, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_true(status < 0);
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(write));
    OK(clReleaseMemObject(mem));
}

static void queues_out_of_order_run_what_is_ready(void **state)
{
    cl_int error, status;
    int data = 5;
    cl_command_queue own = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    cl_mem mem = buffer_of(4, NULL);
    cl_event gate = clCreateUserEvent(context, &error), held, ready, marker;

    (void)state;
    OK(clEnqueueWriteBuffer(own, mem, CL_FALSE, 0, 4, &data, 1, &gate, &held));
    OK(clEnqueueWriteBuffer(own, mem, CL_FALSE, 0, 4, &data, 0, NULL, &ready));
    OK(clEnqueueMarkerWithWaitList(own, 0, NULL, &marker));
    OK(clWaitForEvents(1, &ready));
    OK(clGetEventInfo(held, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_QUEUED);
    OK(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_QUEUED); /* the marker waits for all earlier commands */
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(own));
    OK(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_COMPLETE);
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(held));
    OK(clReleaseEvent(ready));
    OK(clReleaseEvent(marker));
    OK(clReleaseMemObject(mem));
    OK(clReleaseCommandQueue(own));
}

static void count_call(cl_program built, void *calls)
{
    (void)built;
    ++*(int *)calls;
}

/** Returns true if the device has a feature of OpenCL C. */
static bool has_feature(const char *name)
{
    static cl_name_version features[64];
    size_t bytes;

    OK(clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, sizeof features, features, &bytes));
    for (size_t i = 0; i < bytes / sizeof *features; i++)
        if (strcmp(features[i].name, name) == 0)
            return true;
    return false;
}

/* A queue that tested all its commands after each new one would take minutes. */
static void many_commands_wait_for_one_event(void **state)
{
    enum { COUNT = 200000 };
    cl_int error, value = 0;
    cl_event gate = clCreateUserEvent(context, &error), last;
    cl_command_queue loose = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    cl_mem buffer = clCreateBuffer(context, 0, sizeof value, NULL, &error);

    (void)state;
    for (cl_int i = 0; i < COUNT; i++)
        OK(clEnqueueFillBuffer(loose, buffer, &i, sizeof i, 0, sizeof i, 1, &gate, i == COUNT - 1 ? &last : NULL));
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    assert_int_equal(value, 0);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clEnqueueReadBuffer(loose, buffer, CL_TRUE, 0, sizeof value, &value, 1, &last, NULL));
    assert_int_equal(value, COUNT - 1);
    OK(clReleaseEvent(last));
    OK(clReleaseEvent(gate));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseCommandQueue(loose));
}

static void features_that_are_reported_compile(void **state)
{
    const char *text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                       "#if !defined cl_khr_fp16 || !defined cl_khr_subgroups || !defined __opencl_c_subgroups || \\\n"
                       "    !defined __opencl_c_work_group_collective_functions || !defined __opencl_c_fp64 || \\\n"
                       "    !defined __opencl_c_generic_address_space || !defined __opencl_c_atomic_scope_all_devices\n"
                       "#error a feature has no macro\n"
                       "#endif\n"
                       "global int count = 5;\n"
                       "kernel void k(global float *out)\n"
                       "{\n"
                       "    float *p = out + get_global_id(0);\n"
                       "    half h = sqrt((half)work_group_reduce_add(1));\n"
                       "    *p = h + sub_group_reduce_max((float)get_local_id(0)) * 10 + atomic_fetch_add((atomic_int *)&count, 0) * 1000;\n"
                       "}\n";
    const size_t global = 64, sizes[2] = {8, 9}, sub_groups = 3;
    size_t number, local[3];
    cl_uint most = 0;
    float out[64];
    cl_int error;
    cl_mem mem = buffer_of(sizeof out, NULL);
    cl_program own = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    cl_kernel kernel;

    (void)state;
    assert_true(has_feature("__opencl_c_work_group_collective_functions") && has_feature("__opencl_c_generic_address_space"));
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof most, &most, NULL));
    assert_int_equal(most, 32);
    OK(clBuildProgram(own, 1, &device, "-cl-std=CL3.0", NULL, NULL));
    kernel = clCreateKernel(own, "k", &error);
    OK(error);
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &global, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    assert_true(out[0] == 5318 && out[33] == 5638);
    OK(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof sizes, sizes, sizeof number, &number, NULL));
    assert_int_equal(number, 3);
    OK(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof sizes, sizes, sizeof number, &number, NULL));
    assert_int_equal(number, 32);
    cl_int (*of_extension)(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, const void *, size_t, void *, size_t *);
    cl_platform_id its_platform;
    OK(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof its_platform, &its_platform, NULL));
    void *address = clGetExtensionFunctionAddressForPlatform(its_platform, "clGetKernelSubGroupInfoKHR");
    memcpy(&of_extension, &address, sizeof of_extension);
    assert_non_null(of_extension);
    number = 0;
    OK(of_extension(kernel, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof sizes, sizes, sizeof number, &number, NULL));
    assert_int_equal(number, 32);
    OK(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof sub_groups, &sub_groups, sizeof local, local, NULL));
    assert_true(local[0] == 96 && local[1] == 1 && local[2] == 1);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 0, NULL, sizeof number, &number, NULL),
                     CL_INVALID_VALUE);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(own));
    OK(clReleaseMemObject(mem));
}

static void a_build_forgets_the_build_before(void **state)
{
    const char *text = "kernel void k(global int *p)\n{\n#ifdef BAD\n    *p = nothing;\n#endif\n}\n";
    cl_int error;
    size_t bytes, kernels;
    int calls = 0;
    cl_program p = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    (void)state;
    OK(error);
    OK(clBuildProgram(p, 0, NULL, NULL, count_call, &calls));
    assert_int_equal(calls, 1);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    assert_int_not_equal(bytes, 0);
    assert_int_equal(clBuildProgram(p, 0, NULL, "-DBAD", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    assert_int_equal(bytes, 0);
    assert_int_equal(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL), CL_INVALID_PROGRAM_EXECUTABLE);
    /* this call is refused and builds nothing */
    assert_int_equal(clBuildProgram(p, 1, NULL, NULL, count_call, &calls), CL_INVALID_VALUE);
    assert_int_equal(calls, 1);
    OK(clReleaseProgram(p));
}

static void programs_report_the_size_of_their_variables(void **state)
{
    const char *text = "global int a[10]; global char b; constant int c[4] = {1, 2, 3, 4};\n"
                       "kernel void k(global int *p) { a[*p] += 1; b += a[p[1]]; *p = a[*p] + b + c[*p]; }\n";
    size_t bytes = 1;
    cl_int error;
    cl_program p = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    (void)state;
    OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes, &bytes, NULL));
    assert_int_equal(bytes, 0); /* the program is not built */
    OK(clBuildProgram(p, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes, &bytes, NULL));
    assert_in_range(bytes, 41, 64);
    OK(clReleaseProgram(p));
}

static void a_build_that_fails_has_a_log(void **state)
{
    const char *text = "kernel void k(global int *p)\n{\n    *p = nothing;\n}\n";
    char log[4000];
    cl_int error;
    cl_build_status status;
    cl_program bad = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    (void)state;
    assert_int_equal(clBuildProgram(bad, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    OK(clGetProgramBuildInfo(bad, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "nothing"));
    OK(clGetProgramBuildInfo(bad, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_BUILD_ERROR);
    assert_null(clCreateKernel(bad, "k", &error));
    assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
    assert_int_equal(clBuildProgram(bad, 0, NULL, "no-dash", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    OK(clReleaseProgram(bad));
}

static void a_binary_can_be_loaded(void **state)
{
    size_t size;
    unsigned char *bytes;
    const unsigned char *const_bytes;
    cl_int error, status;
    cl_program copy;
    cl_kernel kernel;

    (void)state;
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    assert_true(size > 100);
    const_bytes = bytes = malloc(size);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    copy = clCreateProgramWithBinary(context, 1, &device, &size, &const_bytes, &status, &error);
    OK(error);
    OK(status);
    OK(clBuildProgram(copy, 0, NULL, NULL, NULL, NULL));
    kernel = clCreateKernel(copy, "add", &error);
    OK(error);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(copy));
    memset(bytes, 0x5a, 64);
    assert_null(clCreateProgramWithBinary(context, 1, &device, &size, &const_bytes, &status, &error));
    assert_int_equal(error, CL_INVALID_BINARY);
    free(bytes);
}

static void handles_from_queries_are_valid(void **state)
{
    const char *text = "kernel void k(global int *p) { *p = 1; }\n";
    cl_int error;
    cl_context own = clCreateContext(NULL, 1, &device, NULL, NULL, &error), found_context;
    cl_program p = clCreateProgramWithSource(own, 1, &text, NULL, &error), found_program;
    cl_kernel kernel;
    char name[8];
    cl_mem mem;

    (void)state;
    OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    kernel = clCreateKernel(p, "k", &error);
    OK(error);
    OK(clReleaseProgram(p));
    OK(clReleaseContext(own)); /* the kernel retains its program and its context */
    OK(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof found_program, &found_program, NULL));
    OK(clRetainProgram(found_program));
    OK(clGetProgramInfo(found_program, CL_PROGRAM_KERNEL_NAMES, sizeof name, name, NULL));
    assert_string_equal(name, "k");
    OK(clReleaseProgram(found_program));
    assert_int_equal(clReleaseProgram(found_program), CL_INVALID_PROGRAM);
    OK(clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof found_context, &found_context, NULL));
    mem = clCreateBuffer(found_context, 0, 4, NULL, &error);
    OK(error);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(mem));
}

static void released_handles_are_errors(void **state)
{
    cl_int error;
    cl_uint count;
    cl_mem mem = buffer_of(16, NULL);
    cl_event event = clCreateUserEvent(context, &error);

    (void)state;
    OK(clRetainMemObject(mem));
    OK(clGetMemObjectInfo(mem, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 2);
    OK(clReleaseMemObject(mem));
    OK(clReleaseMemObject(mem));
    OK(clReleaseEvent(event));
    OK(clFlush(queue));
    assert_int_equal(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    assert_null(clCreateBuffer(context, 0, 0, NULL, &error));
    assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
    assert_null(clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, NULL, &error));
    assert_int_equal(error, CL_INVALID_HOST_PTR);
    assert_null(clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
}

static void an_overrun_is_reported_and_the_program_continues(void **state)
{
    const size_t global = 4;
    const cl_int far = 1 << 20, near = 0;
    int out[4];
    cl_kernel kernel = kernel_named("past");
    cl_mem mem = buffer_of(sizeof out, NULL);

    (void)state;
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clSetKernelArg(kernel, 1, sizeof far, &far));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 1, sizeof near, &near));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], 1);
    OK(clReleaseMemObject(mem));
    OK(clReleaseKernel(kernel));
}

/** Main function of several threads that share the context. */
static void *thread_main(void *argument)
{
    int *good = argument;
    cl_int error, n = 64, out[64];
    const size_t global = 64;
    cl_command_queue own = clCreateCommandQueue(context, device, 0, &error);
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    int in[64];

    for (int round = 0; round < 20; round++) {
        cl_mem a, b;

        for (int i = 0; i < 64; i++)
            in[i] = i * round;
        a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
        b = clCreateBuffer(context, 0, sizeof out, NULL, &error);
        clSetKernelArg(kernel, 0, sizeof a, &a);
        clSetKernelArg(kernel, 1, sizeof a, &a);
        clSetKernelArg(kernel, 2, sizeof b, &b);
        clSetKernelArg(kernel, 3, sizeof n, &n);
        *good += clEnqueueNDRangeKernel(own, kernel, 1, NULL, &global, NULL, 0, NULL, NULL) == CL_SUCCESS &&
                 clEnqueueReadBuffer(own, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) == CL_SUCCESS &&
                 out[63] == 2 * 63 * round;
        clReleaseMemObject(a);
        clReleaseMemObject(b);
    }
    clReleaseKernel(kernel);
    clReleaseCommandQueue(own);
    return NULL;
}

static void several_threads_may_call(void **state)
{
    pthread_t threads[4];
    int good[4] = {0};

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_main, &good[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(good[i], 20);
    }
}

/** Objects that several threads share: queues, a buffer and a user event. */
struct shared {
    cl_command_queue queues[2];
    cl_mem mem;
    cl_event gate;
    pthread_mutex_t mutex;
    unsigned called, threads; /* numbers of callbacks that were called and of threads that have started */
};

static void CL_CALLBACK count_completion(cl_event event, cl_int status, void *context)
{
    struct shared *s = context;

    (void)event;
    pthread_mutex_lock(&s->mutex);
    s->called += status == CL_COMPLETE;
    pthread_mutex_unlock(&s->mutex);
}

/** Enqueues commands on shared queues, with events between threads; queries and releases objects meanwhile. */
static void *sharing_main(void *argument)
{
    struct shared *s = argument;
    unsigned slot;
    long wrong = 0;
    cl_event last = NULL;

    pthread_mutex_lock(&s->mutex);
    slot = s->threads++;
    pthread_mutex_unlock(&s->mutex);
    for (int round = 0; round < 25; round++) {
        const char *text = "kernel void one(global int *out) { out[get_global_id(0)] = 1; }";
        cl_command_queue own = s->queues[(slot + (unsigned)round) % 2];
        cl_event written, mapped;
        cl_int error, value = round;
        cl_uint count;
        cl_program p;
        int *at;

        wrong += clEnqueueFillBuffer(own, s->mem, &value, 4, slot * 64, 64, last != NULL, last != NULL ? &last : NULL, &written) != CL_SUCCESS;
        wrong += clSetEventCallback(written, CL_COMPLETE, count_completion, s) != CL_SUCCESS;
        if (last != NULL)
            clReleaseEvent(last);
        at = clEnqueueMapBuffer(s->queues[0], s->mem, CL_FALSE, CL_MAP_READ, slot * 64, 64, 1, &written, &mapped, &error);
        wrong += error != CL_SUCCESS;
        if (round == 5 && slot == 0)
            wrong += clSetUserEventStatus(s->gate, CL_COMPLETE) != CL_SUCCESS;
        if (round >= 6) { /* from round 6 on, the other threads wait here for thread 0 */
            wrong += clWaitForEvents(1, &s->gate) != CL_SUCCESS;
            wrong += clWaitForEvents(1, &mapped) != CL_SUCCESS || at[15] != round;
        }
        wrong += clGetMemObjectInfo(s->mem, CL_MEM_MAP_COUNT, sizeof count, &count, NULL) != CL_SUCCESS;
        wrong += clEnqueueUnmapMemObject(s->queues[0], s->mem, at, 0, NULL, NULL) != CL_SUCCESS;
        clRetainMemObject(s->mem);
        clReleaseMemObject(s->mem);
        if (round % 8 == 0) {
            p = clCreateProgramWithSource(context, 1, &text, NULL, &error);
            wrong += clBuildProgram(p, 0, NULL, NULL, NULL, NULL) != CL_SUCCESS;
            clReleaseProgram(p);
        }
        clFlush(own);
        clReleaseEvent(mapped);
        last = written;
    }
    clReleaseEvent(last);
    wrong += clFinish(s->queues[0]) != CL_SUCCESS || clFinish(s->queues[1]) != CL_SUCCESS;
    return (void *)wrong;
}

static void several_threads_may_share_queues_and_events(void **state)
{
    struct shared s = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[4];
    cl_event gated;
    cl_int error;

    (void)state;
    s.queues[0] = queue;
    s.queues[1] = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    OK(error);
    s.mem = buffer_of(256, NULL);
    s.gate = clCreateUserEvent(context, &error);
    OK(error);
    OK(clEnqueueMarkerWithWaitList(s.queues[1], 1, &s.gate, &gated));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sharing_main, &s), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;

        pthread_join(threads[i], &wrong);
        assert_int_equal((long)wrong, 0);
    }
    OK(clWaitForEvents(1, &gated));
    pthread_mutex_lock(&s.mutex);
    assert_int_equal(s.called, 100);
    pthread_mutex_unlock(&s.mutex);
    OK(clReleaseEvent(gated));
    OK(clReleaseEvent(s.gate));
    OK(clReleaseMemObject(s.mem));
    OK(clReleaseCommandQueue(s.queues[1]));
}

static void *launch_endless(void *kernel)
{
    const size_t one = 1;

    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    return NULL;
}

/** Main function of the test program if it is called with "endless": calls exit() while another thread executes a kernel that
 *  never ends. */
static int run_endless(void)
{
    const char *text = "kernel void endless(global volatile int *p) { for (;;) p[0]++; }\n";
    void *state = NULL;
    pthread_t thread;
    cl_kernel kernel;
    cl_mem mem;

    set_up(&state);
    program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    if (clBuildProgram(program, 0, NULL, NULL, NULL, NULL) != CL_SUCCESS)
        return 1;
    kernel = clCreateKernel(program, "endless", NULL);
    mem = clCreateBuffer(context, 0, 4, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof mem, &mem);
    if (pthread_create(&thread, NULL, launch_endless, kernel) != 0)
        return 1;
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    exit(0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_two_buffers),
        cmocka_unit_test(ids_have_the_offset),
        cmocka_unit_test(local_memory_and_long_arguments_work),
        cmocka_unit_test(shapes_that_a_kernel_does_not_allow_are_refused),
        cmocka_unit_test(boxes_are_copied_and_filled),
        cmocka_unit_test(mapped_memory_is_written_back),
        cmocka_unit_test(a_map_that_fails_is_no_map),
        cmocka_unit_test(sub_buffers_share_memory),
        cmocka_unit_test(a_user_event_holds_commands_back),
        cmocka_unit_test(queues_out_of_order_run_what_is_ready),
        cmocka_unit_test(many_commands_wait_for_one_event),
        cmocka_unit_test(features_that_are_reported_compile),
        cmocka_unit_test(a_build_forgets_the_build_before),
        cmocka_unit_test(programs_report_the_size_of_their_variables),
        cmocka_unit_test(a_build_that_fails_has_a_log),
        cmocka_unit_test(a_binary_can_be_loaded),
        cmocka_unit_test(handles_from_queries_are_valid),
        cmocka_unit_test(released_handles_are_errors),
        cmocka_unit_test(an_overrun_is_reported_and_the_program_continues),
        cmocka_unit_test(several_threads_may_call),
        cmocka_unit_test(several_threads_may_share_queues_and_events),
    };

    use_own_driver();
    if (argc > 1 && strcmp(argv[1], "endless") == 0)
        return run_endless();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
