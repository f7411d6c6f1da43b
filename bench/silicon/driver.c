/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the CUDA driver at run time, and calls it: a call that fails ends the program. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

struct cuda_driver cu;

void need(CUresult result, const char *what)
{
    const char *name = "an unknown error";

    if (result == 0)
        return;
    if (cu.cuGetErrorName != NULL)
        (void)cu.cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (library == NULL) {
        fprintf(stderr, "the CUDA driver cannot be loaded: %s\n", dlerror());
        exit(2);
    }
#define X(name, parameters) \
    *(void **)&cu.name = dlsym(library, #name); \
    if (cu.name == NULL) { \
        fprintf(stderr, "the CUDA driver has no function %s\n", #name); \
        exit(2); \
    }
    DRIVER(X)
#undef X
}

char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    if (file == NULL || text == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    size_t size = fread(text, 1, 1 << 20, file);
    fclose(file);
    if (size == 0 || size == 1 << 20) { /* the terminating zero must fit after the text */
        fprintf(stderr, "%s: is empty, or longer than 1 MiB\n", path);
        exit(2);
    }
    return text;
}

CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer;

    need(cu.cuMemAlloc_v2(&pointer, bytes), "memory");
    need(cu.cuMemsetD8_v2(pointer, 0, bytes), "memory");
    return pointer;
}

int attribute(CUdevice device, int number)
{
    int value;

    need(cu.cuDeviceGetAttribute(&value, number, device), "an attribute of the device");
    return value;
}

CUdevice driver_open(void)
{
    CUdevice device;
    CUcontext context;

    load_driver();
    need(cu.cuInit(0), "the driver");
    need(cu.cuDeviceGet(&device, 0), "device 0");
    need(cu.cuCtxCreate_v2(&context, 0, device), "a context");
    return device;
}
