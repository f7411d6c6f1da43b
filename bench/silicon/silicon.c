/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silicon FIGURES.ptx: latencies and read bandwidth of the first CUDA device, a line each, as bench/fidelity
 * measures them on GPU models. The driver is loaded when the program runs: no SDK is needed to build it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult, CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;
typedef unsigned long long CUdeviceptr;

/* The functions of the driver that are used, by the names that its library exports. */
#define DRIVER(X) \
    X(cuInit, (unsigned flags)) \
    X(cuDeviceGet, (CUdevice * device, int ordinal)) \
    X(cuDeviceGetName, (char *name, int size, CUdevice device)) \
    X(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device)) \
    X(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device)) \
    X(cuCtxSynchronize, (void)) \
    X(cuModuleLoadData, (CUmodule * module, const void *image)) \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name)) \
    X(cuMemAlloc_v2, (CUdeviceptr * pointer, size_t bytes)) \
    X(cuMemFree_v2, (CUdeviceptr pointer)) \
    X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes)) \
    X(cuMemsetD8_v2, (CUdeviceptr pointer, unsigned char value, size_t bytes)) \
    X(cuEventCreate, (CUevent * event, unsigned flags)) \
    X(cuEventRecord, (CUevent event, void *stream)) \
    X(cuEventElapsedTime, (float *milliseconds, CUevent from, CUevent to)) \
    X(cuLaunchKernel, (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
                       unsigned bz, unsigned shared, void *stream, void **parameters, void **extra)) \
    X(cuGetErrorName, (CUresult result, const char **name))

static struct {
#define X(name, parameters) CUresult(*name) parameters;
    DRIVER(X)
#undef X
} cu;

enum { L2_BYTES = 38, SM_COUNT = 16, CORE_KHZ = 13, MEMORY_KHZ = 36, BUS_BITS = 37, SM_THREADS = 39 }; /* attributes */
enum { CHAIN = 64, LOADS = 512 };

static void need(CUresult result, const char *what)
{
    const char *name = "an unknown error";

    if (result == 0)
        return;
    if (cu.cuGetErrorName != NULL)
        (void)cu.cuGetErrorName(result, &name);
    fprintf(stderr, "silicon: %s: %s\n", what, name);
    exit(1);
}

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (library == NULL) {
        fprintf(stderr, "silicon: no CUDA driver here: %s\n", dlerror());
        exit(2);
    }
#define X(name, parameters) \
    *(void **)&cu.name = dlsym(library, #name); \
    if (cu.name == NULL) { \
        fprintf(stderr, "silicon: the driver has no %s\n", #name); \
        exit(2); \
    }
    DRIVER(X)
#undef X
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    if (file == NULL || text == NULL) {
        fprintf(stderr, "silicon: %s: cannot be read\n", path);
        exit(2);
    }
    size_t size = fread(text, 1, 1 << 20, file);
    fclose(file);
    if (size == 0 || size == 1 << 20) { /* the text ends in a zero */
        fprintf(stderr, "silicon: %s: is empty, or longer than 1 MiB\n", path);
        exit(2);
    }
    return text;
}

static CUmodule module;
static CUdeviceptr out;

static void launch(const char *name, unsigned blocks, unsigned threads, void **parameters)
{
    CUfunction function;

    need(cu.cuModuleGetFunction(&function, module, name), name);
    need(cu.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL), name);
}

static double cycles(void)
{
    unsigned long long value;

    need(cu.cuCtxSynchronize(), "a kernel");
    need(cu.cuMemcpyDtoH_v2(&value, out, sizeof value), "the result");
    return (double)value;
}

static void chain(const char *kernel, const char *figure)
{
    void *parameters[] = {&out};

    launch(kernel, 1, 32, parameters);
    printf("%s\t%.2f\n", figure, cycles() / CHAIN);
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer;

    need(cu.cuMemAlloc_v2(&pointer, bytes), "memory");
    need(cu.cuMemsetD8_v2(pointer, 0, bytes), "memory");
    return pointer;
}

/** Does what Model.chase of bench/fidelity does. @evict: bytes read between the ring's making and the chase. */
static void chase(const char *kernel, const char *figure, unsigned bytes, unsigned stride, unsigned first, size_t evict)
{
    unsigned entries = bytes / stride, loads = LOADS, count = 4;
    CUdeviceptr ring = allocate(bytes), other = 0;
    void *fill[] = {&ring, &stride, &entries}, *run[] = {&out, &ring, &first, &loads};

    launch("fill", (entries + 63) / 64, 64, fill);
    if (evict != 0) {
        other = allocate(evict);
        launch("read", (unsigned)(evict / (256 * 64)), 256, (void *[]){&out, &other, &count});
    }
    launch(kernel, 1, 1, run);
    printf("%s\t%.2f\n", figure, cycles() / loads);
    need(cu.cuMemFree_v2(ring), "memory");
    if (other != 0)
        need(cu.cuMemFree_v2(other), "memory");
}

static double read_seconds(unsigned blocks, unsigned count)
{
    size_t bytes = (size_t)blocks * 256 * count * 16;
    CUdeviceptr data = allocate(bytes);
    CUevent from, to;
    float milliseconds, best = 1e9f;

    need(cu.cuEventCreate(&from, 0), "an event");
    need(cu.cuEventCreate(&to, 0), "an event");
    for (unsigned i = 0; i < 10; i++) {
        need(cu.cuEventRecord(from, NULL), "an event");
        launch("read", blocks, 256, (void *[]){&out, &data, &count});
        need(cu.cuEventRecord(to, NULL), "an event");
        need(cu.cuCtxSynchronize(), "read");
        need(cu.cuEventElapsedTime(&milliseconds, from, to), "an event");
        best = milliseconds < best ? milliseconds : best;
    }
    need(cu.cuMemFree_v2(data), "memory");
    return best / 1e3;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char name[256];
    int l2, cores, threads, memory_khz, bits, core_khz;

    if (argc != 2) {
        fprintf(stderr, "usage: silicon FIGURES.ptx\n");
        return 2;
    }
    char *text = read_file(argv[1]);
    load_driver();
    need(cu.cuInit(0), "the driver");
    need(cu.cuDeviceGet(&device, 0), "device 0");
    need(cu.cuDeviceGetName(name, sizeof name, device), "device 0");
    need(cu.cuDeviceGetAttribute(&l2, L2_BYTES, device), "L2 size");
    need(cu.cuDeviceGetAttribute(&cores, SM_COUNT, device), "SMs");
    need(cu.cuDeviceGetAttribute(&threads, SM_THREADS, device), "threads of an SM");
    need(cu.cuDeviceGetAttribute(&core_khz, CORE_KHZ, device), "clock");
    need(cu.cuDeviceGetAttribute(&memory_khz, MEMORY_KHZ, device), "memory clock");
    need(cu.cuDeviceGetAttribute(&bits, BUS_BITS, device), "bus");
    need(cu.cuCtxCreate_v2(&context, 0, device), "a context");
    need(cu.cuModuleLoadData(&module, text), argv[1]);
    out = allocate(16);
    printf("# device\t%s\n# cores\t%d\n# core MHz\t%d\n# L2 bytes\t%d\n# peak GB/s\t%.0f\n", name, cores, core_khz / 1000, l2,
           2.0 * memory_khz * 1e3 * bits / 8 / 1e9);
    chain("int_add", "dependent int add");
    chain("float_add", "dependent float add");
    chain("float_fma", "dependent float fma");
    chain("double_add", "dependent double add");
    chain("double_fma", "dependent double fma");
    chase("chase_shared", "load, shared memory", 4096, 8, 8, 0);
    chase("chase_l1", "load, L1", 4096, 128, 64, 0);
    chase("chase_l2", "load, L2", 32768, 128, 512, 0);
    chase("chase_l2", "load, DRAM", 600 * (4096 + 128), 4096 + 128, 8, ((size_t)l2 * 2 + 16383) / 16384 * 16384);
    unsigned blocks = (unsigned)(cores * (threads / 256));
    double more = read_seconds(blocks, 512), less = read_seconds(blocks, 256);
    printf("share of peak bandwidth read\t%.2f\n",
           blocks * 256.0 * 256 * 16 / (more - less) / (2.0 * memory_khz * 1e3 * bits / 8));
    free(text);
    return 0;
}
