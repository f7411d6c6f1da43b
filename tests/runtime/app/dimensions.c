/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL program that launches one kernel in one, two and three dimensions, with and without an offset. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
static const char *source =
    "#include \"ids.h\"\n"
    "__kernel void ids(__global ulong *out)\n"
    "{\n"
    "    if (get_local_id(0) == 0)\n"
    "        for (uint i = 0; i < 3; i++)\n"
    "            out[i] = GET(get_global_offset(i) * 1000 + get_global_size(i));\n"
    "    out[3] = get_work_dim();\n"
    "}\n";
int main(void)
{
    const size_t global[3] = {4, 1, 1}, offset[3] = {7, 0, 2};
    unsigned long long out[4];
    cl_platform_id platform;
    cl_device_id device;

    clGetPlatformIDs(1, &platform, NULL);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    if (clBuildProgram(program, 1, &device, "-I include -g", NULL, NULL) != CL_SUCCESS)
        return 2;
    cl_mem memory = clCreateBuffer(context, 0, sizeof out, NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "ids", NULL);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    for (unsigned i = 0; i < 6; i++) {
        const unsigned dimensions = i % 3 + 1;

        clEnqueueNDRangeKernel(queue, kernel, dimensions, i < 3 ? NULL : offset, global, global, 0, NULL, NULL);
        if (clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) != CL_SUCCESS || out[3] != dimensions)
            return 3;
    }
    return 0;
}
