/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL kernels that read a list in shared virtual memory, and an image and a buffer that use the memory of another buffer. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
static const char *source =
    "struct node { ulong next; int value; };\n"
    "kernel void list(ulong first, global int *out, read_only image1d_buffer_t pixels, global int *part)\n"
    "{\n"
    "    int sum = 0;\n"
    "    for (const global struct node *n = (const global struct node *)first; n; n = (const global struct node *)n->next)\n"
    "        sum += n->value;\n"
    "    *out = sum + read_imagei(pixels, 1).x + part[0];\n"
    "    part[0] = 5;\n"
    "}\n";
struct node {
    cl_ulong next;
    cl_int value;
};
int main(void)
{
    const size_t one = 1;
    const cl_buffer_region region = {1024, 64};
    const cl_image_format format = {CL_R, CL_SIGNED_INT32};
    cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4};
    cl_int numbers[512] = {0}, result = 0;
    cl_platform_id platform;
    cl_device_id device;

    clGetPlatformIDs(1, &platform, NULL);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    if (clBuildProgram(program, 1, &device, NULL, NULL, NULL) != CL_SUCCESS)
        return 2;
    struct node *nodes = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 2 * sizeof *nodes, 0);
    struct node *last = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, sizeof *last, 0);
    nodes[1] = (struct node){(cl_ulong)(size_t)last, 20};
    *last = (struct node){0, 3};
    numbers[1] = 100;
    numbers[256] = 1000;
    cl_mem whole = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, NULL);
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    cl_mem out = clCreateBuffer(context, 0, sizeof result, NULL, NULL);
    description.buffer = whole;
    cl_mem pixels = clCreateImage(context, CL_MEM_READ_ONLY, &format, &description, NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "list", NULL);
    const cl_ulong first = (cl_ulong)(size_t)(nodes + 1);
    clSetKernelArg(kernel, 0, sizeof first, &first);
    clSetKernelArg(kernel, 1, sizeof out, &out);
    clSetKernelArg(kernel, 2, sizeof pixels, &pixels);
    clSetKernelArg(kernel, 3, sizeof part, &part);
    if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL) != CL_SUCCESS ||
        clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, &result, 0, NULL, NULL) != CL_SUCCESS)
        return 3;
    printf("%d\n", result);
    clSVMFree(context, nodes);
    clSVMFree(context, last);
    return 0;
}
