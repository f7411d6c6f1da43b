/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL program with images. The first launch copies an image. The second one stores to one texel from all work-items. The
 * third one reads an image that uses the memory of a buffer. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
static const char *source =
    "kernel void copy(read_only image2d_t in, write_only image2d_t out, sampler_t s, int one)\n"
    "{\n"
    "    int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
    "    uint4 v = read_imageui(in, s, p);\n"
    "    write_imageui(out, one ? 1 : p, v);\n"
    "}\n";
static cl_mem image_of(cl_context context, void *data, cl_mem buffer)
{
    const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    const cl_image_desc description = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4, .mem_object = buffer};

    return clCreateImage(context, data != NULL ? CL_MEM_COPY_HOST_PTR : 0, &format, &description, data, NULL);
}
int main(void)
{
    const size_t global[2] = {8, 4}, origin[3] = {0, 0, 0}, region[3] = {8, 4, 1};
    cl_platform_id platform;
    cl_device_id device;
    cl_uint data[32], got[32];
    int zero = 0, one = 1;

    clGetPlatformIDs(1, &platform, NULL);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel copy = clCreateKernel(program, "copy", NULL);
    for (cl_uint i = 0; i < 32; i++)
        data[i] = 100 + i;
    cl_mem in = image_of(context, data, NULL), out = image_of(context, NULL, NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, NULL);
    cl_mem shared = image_of(context, NULL, buffer);
    cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, NULL);
    clSetKernelArg(copy, 0, sizeof in, &in);
    clSetKernelArg(copy, 1, sizeof out, &out);
    clSetKernelArg(copy, 2, sizeof sampler, &sampler);
    clSetKernelArg(copy, 3, sizeof zero, &zero);
    clEnqueueNDRangeKernel(queue, copy, 2, NULL, global, NULL, 0, NULL, NULL);
    clEnqueueReadImage(queue, out, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL);
    clSetKernelArg(copy, 3, sizeof one, &one);
    clEnqueueNDRangeKernel(queue, copy, 2, NULL, global, NULL, 0, NULL, NULL);
    clSetKernelArg(copy, 0, sizeof shared, &shared);
    clSetKernelArg(copy, 3, sizeof zero, &zero);
    clEnqueueNDRangeKernel(queue, copy, 2, NULL, global, NULL, 0, NULL, NULL);
    clFinish(queue);
    printf("%u %u\n", got[0], got[31]);
    return 0;
}
