/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the OpenCL driver refuses wrong calls with the errors that the specification names, and changes nothing. */
#include <unistd.h>

#include "tests/runtime/opencl/opencl_test.h"

static cl_context other; /* another context, with a queue of its own */
static cl_command_queue other_queue;

static int set_up(void **state)
{
    cl_int error;

    (void)state;
    open_device(0);
    other = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    OK(error);
    other_queue = clCreateCommandQueue(other, device, 0, &error);
    OK(error);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    OK(clReleaseCommandQueue(other_queue));
    OK(clReleaseContext(other));
    close_device();
    return 0;
}

static cl_mem buffer_of(cl_context in, size_t bytes)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(in, 0, bytes, NULL, &error);

    OK(error);
    return mem;
}

static cl_program source_of(cl_context in, const char *text)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(in, 1, &text, NULL, &error);

    OK(error);
    return program;
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    OK(error);
    return kernel;
}

/* ---- shared virtual memory ------------------------------------------------------------------------------------------ */

static void assert_bytes(const uint8_t *at, uint8_t value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(at[i], value);
}

static void copies_that_leave_an_allocation_change_nothing(void **state)
{
    enum { BYTES = 64, MANY = 8192 };
    static uint8_t host[MANY];
    uint8_t *a = clSVMAlloc(context, 0, BYTES, 0), *b = clSVMAlloc(context, 0, BYTES, 0);
    uint8_t *foreign = clSVMAlloc(other, 0, BYTES, 0);
    const cl_int five = 5;

    (void)state;
    assert_true(a != NULL && b != NULL && foreign != NULL);
    memset(a, 1, BYTES);
    memset(b, 2, BYTES);
    memset(foreign, 3, BYTES);
    memset(host, 9, sizeof host);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, a, host, BYTES + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, a + 60, host, 5, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, a - 1, host, 5, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, a, host, MANY, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, foreign, host, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, host, a, BYTES + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, host, b + 64, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, a, b, BYTES + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, a, host, SIZE_MAX, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, a, a + 8, 9, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, host, host + 8, 9, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueSVMMemFill(queue, a, &five, sizeof five, BYTES + 4, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMemFill(queue, foreign, &five, sizeof five, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, a, BYTES + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, foreign, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueSVMUnmap(queue, foreign, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clFinish(queue));
    assert_bytes(a, 1, BYTES);
    assert_bytes(b, 2, BYTES);
    assert_bytes(foreign, 3, BYTES);
    assert_bytes(host, 9, sizeof host);
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, a + 1, host, BYTES - 1, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, host, b, BYTES, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, host + 100, host, BYTES, 0, NULL, NULL)); /* no shared memory at all */
    assert_bytes(a, 1, 1);
    assert_bytes(a + 1, 9, BYTES - 1);
    assert_bytes(host + 100, 2, BYTES);
    clSVMFree(context, a);
    clSVMFree(context, b);
    clSVMFree(other, foreign);
}

static void a_copy_to_memory_that_was_freed_meanwhile_fails(void **state)
{
    cl_int error, status;
    const cl_int five = 5;
    cl_event gate = clCreateUserEvent(context, &error), copy, fill;
    uint8_t *a = clSVMAlloc(context, 0, 64, 0), host[64];

    (void)state;
    OK(error);
    memset(host, 9, sizeof host);
    OK(clEnqueueSVMMemcpy(queue, CL_FALSE, a, host, sizeof host, 1, &gate, &copy));
    OK(clEnqueueSVMMemFill(queue, a, &five, sizeof five, 64, 0, NULL, &fill));
    clSVMFree(context, a);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(queue));
    OK(clGetEventInfo(copy, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_INVALID_VALUE);
    OK(clGetEventInfo(fill, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_INVALID_VALUE);
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(copy));
    OK(clReleaseEvent(fill));
}

/* ---- objects of another context ------------------------------------------------------------------------------------- */

static void arguments_of_another_context_are_refused(void **state)
{
    cl_program program = source_of(context, "kernel void k(read_only image2d_t in, sampler_t s, global float4 *out)\n"
                                            "{ out[0] = read_imagef(in, s, (int2)(0, 0)); }\n");
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_int error;
    cl_mem image = clCreateImage(other, 0, &format, &shape, NULL, &error), mem = buffer_of(other, 64), own = buffer_of(context, 64);
    cl_sampler sampler = clCreateSampler(other, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    cl_kernel kernel;

    (void)state;
    OK(error);
    OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    kernel = kernel_of(program, "k");
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof image, &image), CL_INVALID_CONTEXT);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_INVALID_CONTEXT);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof mem, &mem), CL_INVALID_CONTEXT);
    OK(clSetKernelArg(kernel, 2, sizeof own, &own));
    assert_int_equal(clEnqueueNDRangeKernel(other_queue, kernel, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clReleaseKernel(kernel));
    OK(clReleaseSampler(sampler));
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(mem));
    OK(clReleaseMemObject(own));
    OK(clReleaseProgram(program));
}

static void programs_of_another_context_are_refused(void **state)
{
    cl_program user = source_of(context, "#include \"five.h\"\nint f(int x);\nkernel void k(global int *out) { out[0] = f(FIVE); }\n");
    cl_program library = source_of(other, "int f(int x) { return x; }\n"), header = source_of(other, "#define FIVE 5\n");
    cl_program own_header = source_of(context, "#define FIVE 5\n"), inputs[2] = {user, library};
    const char *name = "five.h";
    cl_int error = CL_SUCCESS;

    (void)state;
    assert_int_equal(clCompileProgram(user, 0, NULL, "", 1, &header, &name, NULL, NULL), CL_INVALID_CONTEXT);
    OK(clCompileProgram(user, 0, NULL, "", 1, &own_header, &name, NULL, NULL));
    OK(clCompileProgram(library, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    assert_null(clLinkProgram(context, 0, NULL, "", 2, inputs, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_CONTEXT);
    OK(clReleaseProgram(user));
    OK(clReleaseProgram(library));
    OK(clReleaseProgram(header));
    OK(clReleaseProgram(own_header));
}

static void events_of_another_context_are_refused(void **state)
{
    cl_event event, user;
    cl_int error;

    (void)state;
    OK(clEnqueueMarkerWithWaitList(other_queue, 0, NULL, &event));
    user = clCreateUserEvent(context, &error);
    OK(error);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, &event, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueBarrierWithWaitList(queue, 1, &event, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueWaitForEvents(queue, 1, &event), CL_INVALID_CONTEXT);
    assert_int_equal(clWaitForEvents(2, (cl_event[]){user, event}), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueWaitForEvents(queue, 1, (cl_event[]){(cl_event)(void *)queue}), CL_INVALID_EVENT);
    assert_int_equal(clEnqueueWaitForEvents(queue, 0, NULL), CL_INVALID_VALUE);
    OK(clEnqueueWaitForEvents(queue, 1, &user));
    assert_int_equal(clSetDefaultDeviceCommandQueue((cl_context)(void *)queue, device, queue), CL_INVALID_CONTEXT);
    assert_int_equal(clSetDefaultDeviceCommandQueue(context, device, queue), CL_INVALID_OPERATION);
    OK(clReleaseEvent(event));
    OK(clReleaseEvent(user));
}

/* ---- maps ----------------------------------------------------------------------------------------------------------- */

static cl_int map_error(cl_mem mem, cl_map_flags flags, size_t offset, size_t bytes, void **pointer)
{
    cl_int error;
    void *result = clEnqueueMapBuffer(queue, mem, CL_TRUE, flags, offset, bytes, 0, NULL, NULL, &error);

    assert_true((result != NULL) == (error == CL_SUCCESS));
    if (pointer != NULL)
        *pointer = result;
    return error;
}

static void memory_is_mapped_once_for_writing(void **state)
{
    const cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
    cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16, .image_row_pitch = 64};
    const cl_buffer_region region = {512, 512};
    cl_mem mem = buffer_of(context, 2048), sub, image;
    void *a, *b, *c, *d, *e;
    size_t pitch;
    cl_int error;

    (void)state;
    sub = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    OK(error);
    shape.mem_object = mem;
    image = clCreateImage(context, 0, &format, &shape, NULL, &error);
    OK(error);
    OK(map_error(mem, CL_MAP_WRITE, 0, 16, &a));
    assert_int_equal(map_error(mem, CL_MAP_WRITE, 15, 4, NULL), CL_INVALID_OPERATION);
    assert_int_equal(map_error(mem, CL_MAP_WRITE_INVALIDATE_REGION, 0, 2048, NULL), CL_INVALID_OPERATION);
    OK(map_error(mem, CL_MAP_READ, 8, 16, &b)); /* only one of the two is for writing */
    OK(map_error(sub, CL_MAP_WRITE, 8, 8, &c));
    assert_int_equal(map_error(mem, CL_MAP_READ | CL_MAP_WRITE, 512, 9, NULL), CL_INVALID_OPERATION);
    OK(map_error(mem, CL_MAP_WRITE, 512 + 16, 16, &d));
    /* rows of the image are 16 of 64 bytes */
    e = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, (size_t[]){0, 1, 0}, (size_t[]){16, 7, 1}, &pitch, NULL, 0, NULL, NULL,
                          &error);
    OK(error);
    OK(clEnqueueUnmapMemObject(queue, image, e, 0, NULL, NULL));
    assert_null(clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, (size_t[]){0, 0, 0}, (size_t[]){16, 16, 1}, &pitch, NULL, 0, NULL,
                                  NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    OK(clEnqueueUnmapMemObject(queue, mem, a, 0, NULL, NULL));
    OK(map_error(mem, CL_MAP_WRITE, 15, 4, &a));
    assert_int_equal(clEnqueueUnmapMemObject(queue, mem, c, 0, NULL, NULL), CL_INVALID_VALUE); /* a map of the sub-buffer */
    OK(clReleaseMemObject(sub)); /* ends the map, too */
    OK(map_error(mem, CL_MAP_WRITE, 512, 16, &c));
    OK(clEnqueueUnmapMemObject(queue, mem, a, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(queue, mem, b, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(queue, mem, c, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(queue, mem, d, 0, NULL, NULL));
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(mem));
}

/* ---- released handles ------------------------------------------------------------------------------------------------ */

/** Lets the allocator use the memory that was freed last. */
static void use_freed_memory(void)
{
    void *at[200];

    for (size_t i = 0; i < 200; i++) {
        at[i] = malloc(16 + 8 * (i % 100));
        memset(at[i], 0x41, 16 + 8 * (i % 100));
    }
    for (size_t i = 0; i < 200; i++)
        free(at[i]);
}

/* The calls go through the loader, which reads the memory of a handle before it calls the driver. */
static void released_handles_are_refused(void **state)
{
    const char *text = "kernel void k(global int *out) { *out = 1; }\n";
    cl_int error;
    size_t bytes;
    int value;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        cl_context lone = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
        cl_command_queue line = clCreateCommandQueueWithProperties(context, device, NULL, &error);
        cl_mem buffer = clCreateBuffer(context, 0, 64, NULL, &error);
        cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
        cl_event event = clCreateUserEvent(context, &error);
        cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
        OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
        cl_kernel kernel = clCreateKernel(program, "k", &error);
        OK(error);

        OK(clReleaseKernel(kernel));
        OK(clReleaseProgram(program));
        OK(clReleaseMemObject(buffer));
        OK(clReleaseEvent(event));
        OK(clReleaseSampler(sampler));
        OK(clReleaseCommandQueue(line));
        OK(clReleaseContext(lone));
        use_freed_memory();
        assert_int_equal(clReleaseKernel(kernel), CL_INVALID_KERNEL);
        assert_int_equal(clReleaseProgram(program), CL_INVALID_PROGRAM);
        assert_int_equal(clReleaseMemObject(buffer), CL_INVALID_MEM_OBJECT);
        assert_int_equal(clReleaseEvent(event), CL_INVALID_EVENT);
        assert_int_equal(clReleaseSampler(sampler), CL_INVALID_SAMPLER);
        assert_int_equal(clReleaseCommandQueue(line), CL_INVALID_COMMAND_QUEUE);
        assert_int_equal(clReleaseContext(lone), CL_INVALID_CONTEXT);
        assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL), CL_INVALID_MEM_OBJECT);
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
        assert_int_equal(clWaitForEvents(1, &event), CL_INVALID_EVENT);
    }
}

static void the_device_grants_the_memory_that_it_reports(void **state)
{
    cl_ulong most, all;
    cl_mem buffers[5];
    cl_int error;

    (void)state;
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL));
    assert_true(most >= all / 4);
    for (unsigned round = 0; round < 2; round++) {
        unsigned count = 0;

        for (error = CL_SUCCESS; count < 5; count++) {
            buffers[count] = clCreateBuffer(context, 0, most, NULL, &error);
            if (error != CL_SUCCESS)
                break;
        }
        assert_int_equal(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
        assert_int_equal(count, 3 + (all / most == 4)); /* the fixture has some memory */
        assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE, most, 0));
        while (count-- != 0)
            OK(clReleaseMemObject(buffers[count]));
    }
}

/** Handles of many objects that exist one after the other: the memory of destroyed objects is used again. */
static void destroyed_objects_do_not_pile_up(void **state)
{
    cl_event first = NULL;
    bool again = false;
    cl_int error;

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        cl_event event = clCreateUserEvent(context, &error);
        OK(error);
        again = again || event == first;
        first = i == 0 ? event : first;
        OK(clReleaseEvent(event));
        assert_true(i > 1000 || i == 0 || event != first);
    }
    assert_true(again);
}

/* ---- programs ------------------------------------------------------------------------------------------------------- */

static void assert_no_altered_byte(cl_program program)
{
    size_t bytes;
    unsigned char *binary;
    cl_int error, status;
    cl_program copy;

    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    binary = malloc(bytes);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    for (size_t at = 0; at <= bytes; at += at < 100 || at + 100 > bytes ? 1 : 97) {
        if (at < bytes)
            binary[at] ^= 0x20;
        copy = clCreateProgramWithBinary(context, 1, &device, &bytes, (const unsigned char **)&binary, &status, &error);
        assert_int_equal(error, at < bytes ? CL_INVALID_BINARY : CL_SUCCESS);
        assert_int_equal(status, error);
        if (copy != NULL)
            OK(clReleaseProgram(copy));
        if (at < bytes)
            binary[at] ^= 0x20;
    }
    free(binary);
}

/** The commands of lanewise read the binary of a program as an object file. */
static void assert_is_object(cl_program program)
{
    char path[] = "/tmp/lanewise-binary-XXXXXX.lwo", line[200];
    const char *lanewise = getenv("LANEWISE") != NULL ? getenv("LANEWISE") : "./lanewise";
    const int file = mkstemps(path, 4);
    bool found = false;
    size_t bytes;
    char *binary;

    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    binary = malloc(bytes);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    assert_true(file >= 0 && write(file, binary, bytes) == (ssize_t)bytes);
    snprintf(line, sizeof line, "%s dis %s", lanewise, path);
    FILE *text = popen(line, "r");
    assert_non_null(text);
    while (fgets(line, sizeof line, text) != NULL)
        found = found || strcmp(line, ".kernel k\n") == 0;
    assert_int_equal(pclose(text), 0);
    assert_true(found);
    (void)close(file);
    (void)unlink(path);
    free(binary);
}

static void binaries_with_an_altered_byte_are_refused(void **state)
{
    cl_program program = source_of(context, "kernel void k(global int *out) { out[get_global_id(0)] = 5; }\n");

    (void)state;
    OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    assert_no_altered_byte(program);
    assert_is_object(program);
    OK(clCompileProgram(program, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    assert_no_altered_byte(program);
    OK(clReleaseProgram(program));
}

static void modules_of_later_versions_are_refused(void **state)
{
    const uint32_t module[5] = {0x07230203, 0x00010600, 0, 8, 0};
    char versions[100];
    cl_int error;

    (void)state;
    OK(clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof versions, versions, NULL));
    assert_null(clCreateProgramWithIL(context, module, sizeof module, &error));
    assert_int_equal(error, versions[0] != '\0' ? CL_INVALID_VALUE : CL_INVALID_OPERATION);
}

static void all_languages_that_the_device_names_are_compiled(void **state)
{
    cl_name_version all[20];
    size_t bytes;
    bool has_2_0 = false;

    (void)state;
    OK(clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof all, all, &bytes));
    for (size_t i = 0; i < bytes / sizeof *all; i++) {
        char option[40];
        cl_program program = source_of(context, "kernel void k(global int *out) { out[get_global_id(0)] = __OPENCL_C_VERSION__; }\n");

        snprintf(option, sizeof option, "-cl-std=CL%u.%u", CL_VERSION_MAJOR(all[i].version), CL_VERSION_MINOR(all[i].version));
        has_2_0 = has_2_0 || all[i].version == CL_MAKE_VERSION(2, 0, 0);
        /* OpenCL C 1.0 has no option */
        OK(clBuildProgram(program, 0, NULL, all[i].version == CL_MAKE_VERSION(1, 0, 0) ? "" : option, NULL, NULL));
        OK(clReleaseProgram(program));
    }
    assert_true(has_2_0);
}

static void options_that_write_files_are_refused(void **state)
{
    static const char *const options[] = {"-save-temps", "-fplugin=x.so", "-o x", "-cl-mad-enable -ox"};
    cl_program program = source_of(context, "kernel void k(global int *out) { *out = 5; }\n");

    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_int_equal(clBuildProgram(program, 1, &device, options[i], NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    OK(clBuildProgram(program, 1, &device, "-cl-opt-disable", NULL, NULL));
    OK(clReleaseProgram(program));
}

static void kernels_in_cpp_for_opencl_run(void **state)
{
    cl_program program = source_of(context, "template <class T> struct pair { T a, b; T sum() const { return a + b; } };\n"
                                            "kernel void k(global int *out) { out[0] = pair<int>{3, 4}.sum();\n"
                                            "    if (out[0] != 7) printf(\"%d\\n\", out[0]); }\n");
    cl_mem mem = buffer_of(context, 4);
    cl_kernel kernel;
    cl_int out = 0;

    (void)state;
    OK(clBuildProgram(program, 0, NULL, "-cl-std=CLC++", NULL, NULL));
    kernel = kernel_of(program, "k");
    OK(clSetKernelArg(kernel, 0, sizeof mem, &mem));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
    assert_int_equal(out, 7);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(mem));
    OK(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_that_leave_an_allocation_change_nothing),
        cmocka_unit_test(a_copy_to_memory_that_was_freed_meanwhile_fails),
        cmocka_unit_test(arguments_of_another_context_are_refused),
        cmocka_unit_test(programs_of_another_context_are_refused),
        cmocka_unit_test(events_of_another_context_are_refused),
        cmocka_unit_test(released_handles_are_refused),
        cmocka_unit_test(destroyed_objects_do_not_pile_up),
        cmocka_unit_test(the_device_grants_the_memory_that_it_reports),
        cmocka_unit_test(memory_is_mapped_once_for_writing),
        cmocka_unit_test(binaries_with_an_altered_byte_are_refused),
        cmocka_unit_test(modules_of_later_versions_are_refused),
        cmocka_unit_test(all_languages_that_the_device_names_are_compiled),
        cmocka_unit_test(options_that_write_files_are_refused),
        cmocka_unit_test(kernels_in_cpp_for_opencl_run),
    };

    use_own_driver();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
