/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the CPU time of a million calls of clSetKernelArg, and of 100,000 launches of an empty kernel, for
 * bench/programs/calls. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    const char *source = "kernel void empty(global int *a, int b) {}";
    const int arguments = 1000000, launches = 100000, b = 1;
    const size_t size = 32;
    cl_platform_id platform;
    cl_device_id device;
    double begin;

    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "empty", NULL);
    cl_mem memory = clCreateBuffer(context, 0, 4096, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    begin = seconds();
    for (int i = 0; i < arguments; i++)
        clSetKernelArg(kernel, 1, sizeof b, &b);
    printf("clSetKernelArg            %8.3f us\n", (seconds() - begin) / arguments * 1e6);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL);
    clFinish(queue);
    begin = seconds();
    for (int i = 0; i < launches; i++)
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL);
    clFinish(queue);
    printf("launch by OpenCL          %8.3f us\n", (seconds() - begin) / launches * 1e6);
    return 0;
}
