/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the OpenCL driver through the system's OpenCL loader share: a context and a queue on Lanewise's device. */
#ifndef OPENCL_TEST_H
#define OPENCL_TEST_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver's machine exists until the process ends, so its memory is not a leak. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:emu_core_block_start\n";
}

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

#define OK(call) assert_int_equal((call), CL_SUCCESS)

/** Makes the loader use the driver in the folder of the program that LANEWISE names. To be called before any call of OpenCL. */
static void use_own_driver(void)
{
    const char *lanewise = getenv("LANEWISE");
    char folder[4096];

    if (lanewise != NULL && strrchr(lanewise, '/') != NULL) {
        snprintf(folder, sizeof folder, "%.*s/lanewise-icd", (int)(strrchr(lanewise, '/') - lanewise), lanewise);
        setenv("OCL_ICD_VENDORS", folder, 1);
    }
}

static void open_device(cl_command_queue_properties flags)
{
    cl_int error;

    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    OK(error);
    queue = clCreateCommandQueue(context, device, flags, &error);
    OK(error);
}

static void close_device(void)
{
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(context));
}

/** Set-up and tear-down of a group of tests that need nothing else. */
__attribute__((unused)) static int open_group(void **state)
{
    (void)state;
    open_device(0);
    return 0;
}
__attribute__((unused)) static int close_group(void **state)
{
    (void)state;
    close_device();
    return 0;
}

#endif
