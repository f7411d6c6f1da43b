/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL program with three commands. The second command stores past the end of a buffer, the third one has no error. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
static const char *source =
    "__kernel void scale(__global int *a, int by, __local int *tile)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    int x = a[i];\n"
    "    x = x * by;\n"
    "    tile[get_local_id(0)] = x;\n"
    "    a[i] = tile[get_local_id(0)];\n"
    "}\n"
    "__kernel void past(__global int *a)\n"
    "{\n"
    "    a[get_global_id(0) + 64] = 1;\n"
    "}\n";
static cl_command_queue queue;
static cl_kernel make(cl_program program, const char *name, cl_mem memory)
{
    cl_kernel kernel = clCreateKernel(program, name, NULL);

    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    return kernel;
}
static cl_int run(cl_kernel kernel)
{
    const size_t global = 64, local = 32;
    cl_int status = 0;
    cl_event event;

    if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event) != CL_SUCCESS)
        return 1;
    clWaitForEvents(1, &event);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    clReleaseEvent(event);
    return status;
}
int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    int data[64], by = 3;

    clGetPlatformIDs(1, &platform, NULL);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    for (int i = 0; i < 64; i++)
        data[i] = i;
    cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, NULL);
    cl_kernel scale = make(program, "scale", memory);
    clSetKernelArg(scale, 1, sizeof by, &by);
    clSetKernelArg(scale, 2, 32 * sizeof(int), NULL);
    printf("%d", run(scale));
    printf(" %d", run(make(program, "past", memory)));
    printf(" %d", run(scale));
    clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    printf(" %d %d\n", data[5], data[63]);
    return 0;
}
