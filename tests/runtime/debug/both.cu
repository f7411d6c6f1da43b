// SPDX-License-Identifier: Apache-2.0
// A program that uses OpenCL and CUDA: both have the same device and allocate from its memory.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <cstdio>
#include <cuda_runtime.h>
__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }
int main()
{
    const char *source = "kernel void add(global int *a) { a[get_global_id(0)] += 5; }";
    const size_t global = 32;
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_int error;
    int *managed, data[32];

    if (cudaMallocManaged(&managed, sizeof data) != cudaSuccess || clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    fill<<<1, 32>>>(managed);
    cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, managed, &error);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    printf("%d %d\n", managed[7], data[7]);
    return 0;
}
