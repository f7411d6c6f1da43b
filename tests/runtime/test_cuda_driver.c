/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the CUDA driver API: modules from PTX, launches, memory, contexts, linking and errors. The program opens libcuda.so.1 by
 * dlopen() and finds each function by its name, as libraries do, and does not use CUDA's headers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool failed;
static void *library;

/** Calls function @name of the driver with the other arguments, whose types must be equal to those of the function's
 *  parameters. */
#define CU(name, ...) ((int (*)())(uintptr_t)symbol(#name))(__VA_ARGS__)
#define IS(want, ...) is(want, __VA_ARGS__, #__VA_ARGS__)

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);

    if (found == NULL) {
        printf("no function %s\n", name);
        exit(1);
    }
    return found;
}

static void is(int want, int got, const char *what)
{
    if (want != got) {
        printf("%s: %d, expected %d\n", what, got, want);
        failed = true;
    }
}

static const char scale[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
    ".visible .const .align 4 .u32 bias = 100;\n"
    ".visible .global .align 4 .u32 total;\n"
    ".visible .entry scale(.param .u64 out, .param .u8 small, .param .u32 n)\n"
    "{\n"
    "    .reg .u32 %r<8>; .reg .u64 %d<4>; .reg .pred %p; .reg .u16 %h;\n"
    "    ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; ld.param.u8 %h, [small];\n"
    "    mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1; @%p ret;\n"
    "    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), twice, (a); ld.param.b32 %r3, [b]; }\n"
    "    ld.const.u32 %r4, [bias]; add.u32 %r3, %r3, %r4; cvt.u32.u16 %r5, %h; add.u32 %r3, %r3, %r5;\n"
    "    mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3;\n"
    "    red.global.add.u32 [total], 1;\n"
    "    ret;\n"
    "}\n";
static const char twice[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                            ".visible .func (.param .b32 r) twice(.param .b32 x)\n"
                            "{\n    .reg .u32 %r<3>;\n    ld.param.u32 %r1, [x]; shl.b32 %r2, %r1, 1; st.param.b32 [r], %r2; ret;\n}\n";

/** Registers a program that nvcc -rdc=true has linked: the wrapper's own container is empty, and the PTX of each file is in the list
 *  of the files. One of them is NVIDIA's library for launches by kernels, whose functions are built in. */
static void linked_files(unsigned long long memory)
{
    static const char device_library[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                                         ".extern .func __cuda_syscall_nothing;\n"
                                         ".visible .func user\n{\n    call __cuda_syscall_nothing; ret;\n}\n";
    static const struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } empty = {0xba55ed50, 1, 16, 0};
    static const void *const files[] = {device_library, scale, twice, NULL};
    static const struct {
        uint32_t magic, version;
        const void *data;
        const void *const *files;
    } wrapper = {0x466243b1, 2, &empty, files};
    static char scale_stub, missing_stub, total_stub;
    unsigned char small = 7;
    uint32_t n = 8, out[8] = {0}, total = 0;
    void *arguments[] = {&memory, &small, &n}, **handle;
    struct dim3 {
        unsigned x, y, z;
    } one = {1, 1, 1}, threads = {32, 1, 1};

    handle = ((void **(*)(const void *))(uintptr_t)symbol("__cudaRegisterFatBinary"))(&wrapper);
    CU(__cudaRegisterFunction, handle, &scale_stub, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
    CU(__cudaRegisterFunction, handle, &missing_stub, "_Z7nowherei", "_Z7nowherei", -1, NULL, NULL, NULL, NULL, NULL);
    CU(__cudaRegisterVar, handle, &total_stub, "total", "total", 0, (size_t)4, 0, 0);
    IS(0, CU(cudaLaunchKernel, &scale_stub, one, threads, arguments, (size_t)0, NULL));
    IS(0, CU(cudaMemcpy, out, (void *)(uintptr_t)memory, sizeof out, 2));
    IS(2 * 5 + 100 + 7, (int)out[5]);
    IS(0, CU(cudaMemcpyFromSymbol, &total, &total_stub, sizeof total, (size_t)0, 2));
    IS(8, (int)total);
    IS(98, CU(cudaLaunchKernel, &missing_stub, one, threads, NULL, (size_t)0, NULL)); /* prints the kernel's name */
    IS(98, CU(cudaGetLastError));
    ((void (*)(void **))(uintptr_t)symbol("__cudaUnregisterFatBinary"))(handle);
}

/** Functions of both interfaces, functions that are not supported, and names for a default stream of each thread. */
static void more_functions(void *function, unsigned long long memory)
{
    static const int attributes[] = {2, 3, 12};
    unsigned type = 0, flags = 99;
    unsigned long long address = 0, id = 0, other_id = 0;
    size_t bytes = 0, used = 99, threshold = 5;
    void *values[] = {&type, &address, &bytes}, *pool = NULL, *stream = NULL, *found = NULL, *host = NULL;
    const void *from[] = {NULL, NULL};
    void *to[] = {NULL, NULL};
    const size_t sizes[] = {8, 8}, first = 0;
    const char *name = NULL;
    int state = 9, priority = 9, value = 9, properties[22] = {1, 0, 1, 0}, policy[16];
    struct {
        size_t width, height, depth;
        int format;
        unsigned channels, flags;
    } wanted = {16, 4, 0, 32, 2, 0}, got = {0};
    void *array = NULL;

    IS(0, CU(cuPointerGetAttributes, 3u, attributes, values, memory));
    IS(1, type == 2 && address == memory && bytes >= 32);
    IS(0, CU(cuPointerGetAttributes, 3u, attributes, values, (unsigned long long)(uintptr_t)&type));
    IS(1, type == 0 && address == 0 && bytes == 0);
    IS(0, CU(cuStreamCreate, &stream, 1u));
    IS(0, CU(cuStreamGetFlags, stream, &flags));
    IS(1, (int)flags);
    IS(0, CU(cuStreamGetPriority_ptsz, stream, &priority));
    IS(0, priority);
    IS(0, CU(cuStreamGetId, stream, &id));
    IS(0, CU(cudaStreamGetId, NULL, &other_id));
    IS(1, id > 2 && other_id == 1);
    IS(0, CU(cuStreamGetAttribute, stream, 3, policy));
    IS(1, policy[0]);
    IS(0, CU(cuStreamCopyAttributes, stream, NULL));
    IS(1, CU(cuStreamGetAttribute, stream, 77, policy));

    IS(0, CU(cuMemPoolCreate, &pool, properties));
    IS(0, CU(cuMemPoolSetAttribute, pool, 4, &threshold));
    IS(0, CU(cuMemAllocFromPoolAsync, &address, (size_t)64, pool, stream));
    IS(0, CU(cuMemPoolGetAttribute, pool, 7, &used));
    IS(64, (int)used);
    IS(0, CU(cuMemHostAlloc, &host, (size_t)64, 2u));
    IS(0, CU(cuMemHostGetFlags, &flags, host));
    IS(2, (int)flags & 2);
    memset(host, 7, 64);
    from[0] = from[1] = host;
    to[0] = (void *)(uintptr_t)address;
    to[1] = (void *)(uintptr_t)(address + 8);
    IS(0, CU(cudaMemcpyBatchAsync_ptsz, to, from, sizes, (size_t)2, policy, &first, (size_t)1, stream));
    IS(0, CU(cuMemcpyPeer_ptds, address + 16, NULL, address + 8, NULL, (size_t)8));
    memset(host, 0, 64);
    IS(0, CU(cuMemcpyDtoH_v2_ptds, host, address, (size_t)24));
    IS(1, ((char *)host)[0] == 7 && ((char *)host)[23] == 7 && ((char *)host)[24] == 0);
    IS(0, CU(cuMemFreeAsync_ptsz, address, stream));
    IS(0, CU(cuMemFreeHost, host));
    IS(0, CU(cuMemPoolDestroy, pool));
    IS(0, CU(cuStreamDestroy_v2, stream));
    IS(0, CU(cuMemRangeGetAttribute, &value, sizeof value, 2, memory, (size_t)16));
    IS(-2, value);
    IS(0, CU(cuMemPrefetchAsync_v2, memory, (size_t)16, UINT64_C(1), 0u, NULL));

    IS(0, CU(cuKernelGetName, &name, function));
    IS(0, strcmp(name, "scale"));
    IS(0, CU(cuKernelGetAttribute, &value, 0, function, 0));
    IS(1024, value);
    IS(101, CU(cuKernelGetAttribute, &value, 0, function, 1));
    IS(0, CU(cuOccupancyAvailableDynamicSMemPerBlock, &bytes, function, 4, 32));
    IS(1, bytes > 0 && bytes <= 49152);
    IS(0, CU(cuArray3DCreate_v2, &array, &wanted));
    IS(0, CU(cuArray3DGetDescriptor_v2, &got, array));
    IS(0, memcmp(&got, &wanted, sizeof got));
    IS(0, CU(cuArrayDestroy, array));

    IS(0, CU(cudaGetDriverEntryPointByVersion, "cuMemcpyDtoH", &found, 13000u, 2ull, &state));
    IS(1, state == 0 && found == symbol("cuMemcpyDtoH_v2"));
    IS(1, symbol("cudaMemcpyToSymbol_ptds") == symbol("cudaMemcpyToSymbol"));
    IS(0, CU(cudaGetDriverEntryPoint, "cuNoSuchFunction", &found, 0ull, &state));
    IS(1, state == 1 && found == NULL);
    IS(0, CU(cudaInitDevice, 0, 0u, 0u));
    IS(801, CU(cuGreenCtxCreate, NULL));
    IS(801, CU(cuGreenCtxCreate, NULL));
    IS(801, CU(cudaImportExternalMemory, NULL));
    IS(801, CU(cudaGetLastError));
}

/** Captures work of a stream, and adds nodes to a graph. @extra: list of arguments that name @n, the number of threads that store. */
static void graphs(void *function, void *stream, unsigned long long memory, void **extra, uint32_t *n)
{
    struct {
        void *function;
        unsigned grid[3], block[3], shared;
        void **arguments, **extra, *kernel, *context;
    } kernel = {.kernel = function, .grid = {1, 1, 1}, .block = {32, 1, 1}, .extra = extra}, got;
    struct {
        unsigned long long to;
        size_t pitch;
        unsigned value, bytes;
        size_t width, height;
    } fill = {memory, 0, 6, 4, 16, 1};
    struct {
        size_t x, y, z, lod;
        int type;
        const void *host;
        unsigned long long device;
        void *array, *reserved;
        size_t pitch, height;
    } from = {.type = 2, .device = memory}, to = {.type = 1};
    struct {
        char from[sizeof from], to[sizeof to];
        size_t width, height, depth;
    } box = {.width = 64, .height = 1, .depth = 1};
    struct array {
        size_t width, height;
        int format;
        unsigned channels;
    };
    void *array = NULL, *none = NULL;
    void *graph = NULL, *exec = NULL, *nodes[3] = {NULL}, *found[4], *one_version = NULL, *other_version = NULL;
    uint32_t out[16] = {0};
    size_t count = 0;
    int status = -1, state;

    /* a capture; arguments are copied when the kernel is captured */
    IS(0, CU(cuStreamBeginCapture_v2, stream, 0));
    IS(0, CU(cuMemsetD32Async, memory, 5u, (size_t)16, stream));
    *n = 4;
    IS(0, CU(cuLaunchKernel, function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream, NULL, extra));
    *n = 0;
    IS(0, CU(cuMemsetD16Async, memory + 2, 1u, (size_t)1, stream));
    IS(0, CU(cuMemcpyDtoHAsync_v2, out, memory, sizeof out, stream));
    IS(0, CU(cuStreamIsCapturing, stream, &status));
    IS(1, status);
    IS(900, CU(cuStreamSynchronize, stream));
    IS(901, CU(cuStreamEndCapture, stream, &graph));
    IS(0, CU(cuStreamBeginCapture_v2, stream, 0));
    IS(0, CU(cuMemsetD32Async, memory, 5u, (size_t)16, stream));
    *n = 4;
    IS(0, CU(cuLaunchKernel, function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream, NULL, extra));
    *n = 0;
    IS(0, CU(cuMemsetD16Async, memory + 2, 1u, (size_t)1, stream));
    IS(0, CU(cuMemcpyDtoHAsync_v2, out, memory, sizeof out, stream));
    IS(0, CU(cuStreamEndCapture, stream, &graph));
    IS(0, CU(cuGraphGetNodes, graph, NULL, &count));
    IS(4, (int)count);
    IS(0, (int)out[0]);
    IS(0, CU(cuGraphInstantiateWithFlags, &exec, graph, 0ull));
    IS(0, CU(cuGraphLaunch, exec, stream));
    IS(1, out[0] == 0x10000 + 101 && out[3] == 107 && out[4] == 5);
    IS(0, CU(cuGraphExecDestroy, exec));
    IS(0, CU(cuGraphDestroy, graph));
    IS(1, CU(cuGraphDestroy, graph));

    /* a capture forbids the release of an array, which still exists then */
    IS(0, CU(cuArrayCreate_v2, &array, &(struct array){16, 16, 1, 1}));
    IS(0, CU(cuStreamBeginCapture_v2, stream, 0));
    IS(900, CU(cuArrayDestroy, array));
    CU(cuStreamEndCapture, stream, &none);
    IS(0, CU(cuArrayDestroy, array));
    IS(400, CU(cuArrayDestroy, array));

    /* nodes */
    to.host = out;
    memcpy(box.from, &from, sizeof from);
    memcpy(box.to, &to, sizeof to);
    IS(0, CU(cuGraphCreate, &graph, 0u));
    IS(0, CU(cuGraphAddMemsetNode, &nodes[0], graph, NULL, (size_t)0, &fill, NULL));
    *n = 2;
    IS(0, CU(cuGraphAddKernelNode_v2, &nodes[1], graph, nodes, (size_t)1, &kernel));
    IS(0, CU(cuGraphAddMemcpyNode, &nodes[2], graph, &nodes[1], (size_t)1, &box, NULL));
    IS(0, CU(cuGraphKernelNodeGetParams_v2, nodes[1], &got));
    IS(1, got.function == function && got.block[0] == 32 && got.arguments != NULL && *(uint32_t *)got.arguments[2] == 2 && got.extra == NULL);
    count = 4;
    IS(0, CU(cuGraphNodeGetDependencies, nodes[2], found, &count));
    IS(1, count == 1 && found[0] == nodes[1]);
    IS(0, CU(cuGraphInstantiateWithFlags, &exec, graph, 0ull));
    IS(0, CU(cuGraphLaunch, exec, NULL));
    IS(1, out[0] == 101 && out[1] == 103 && out[2] == 6);
    fill.value = 8;
    IS(0, CU(cuGraphExecMemsetNodeSetParams, exec, nodes[0], &fill, NULL));
    IS(0, CU(cuGraphLaunch, exec, NULL));
    IS(1, out[0] == 101 && out[2] == 8);
    IS(0, CU(cuGraphExecDestroy, exec));
    IS(0, CU(cuGraphDestroy, graph));

    /* the version of a function depends on the version of CUDA */
    IS(0, CU(cuGetProcAddress_v2, "cuGraphGetEdges", &one_version, 12000, UINT64_C(0), &state));
    IS(0, CU(cuGetProcAddress_v2, "cuGraphGetEdges", &other_version, 13000, UINT64_C(0), &state));
    IS(1, one_version == symbol("cuGraphGetEdges") && other_version == symbol("cuGraphGetEdges_v2"));
}

int main(void)
{
    void *context, *other = NULL, *module = NULL, *function = NULL, *stream, *begin, *end, *link, *object = NULL, *same = NULL;
    unsigned long long memory = 0, variable = 0, first = 0;
    size_t bytes = 0, available = 0, total = 0;
    int device = -1, count = 0, version = 0, value = 0, state = -1;
    uint32_t n = 8, out[16], counted = 0;
    uint8_t small = 7;
    void *arguments[] = {&memory, &small, &n};
    struct {
        unsigned long long out;
        uint8_t small;
        uint32_t n;
    } packed;
    size_t packed_bytes = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &packed_bytes, NULL};
    char text[200] = "", log[300] = "";
    int log_options[] = {5, 6};
    void *log_values[] = {log, (void *)sizeof log};
    const char *name = NULL;
    float milliseconds = -1;

    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    /* before initialisation */
    IS(3, CU(cuDeviceGetCount, &count));
    IS(3, CU(cuMemAlloc_v2, &memory, (size_t)16));
    IS(1, CU(cuInit, 5));
    IS(0, CU(cuInit, 0));
    IS(201, CU(cuMemAlloc_v2, &memory, (size_t)16));
    IS(0, CU(cuDriverGetVersion, &version));
    IS(13000, version);
    IS(0, CU(cuDeviceGetCount, &count));
    IS(1, count);
    IS(0, CU(cuDeviceGet, &device, 0));
    IS(101, CU(cuDeviceGet, &device, 1));
    IS(0, CU(cuDeviceGetName, text, (int)sizeof text, device));
    IS(0, strncmp(text, "Lanewise", 8));
    IS(0, CU(cuDeviceGetAttribute, &value, 75, device));
    IS(7, value);
    IS(0, CU(cuGetErrorName, 218, &name));
    IS(0, strcmp(name, "CUDA_ERROR_INVALID_PTX"));

    /* contexts */
    IS(0, CU(cuCtxCreate_v2, &context, 0u, device));
    IS(0, CU(cuCtxGetCurrent, &same));
    IS(1, same == context);
    IS(0, CU(cuCtxPopCurrent_v2, &same));
    IS(201, CU(cuCtxSynchronize));
    IS(0, CU(cuCtxPushCurrent_v2, context));
    IS(201, CU(cuCtxPushCurrent_v2, (void *)text));
    IS(0, CU(cuDevicePrimaryCtxRetain, &other, device));
    IS(0, CU(cuCtxSetCurrent, other));
    IS(0, CU(cuCtxSetCurrent, context));
    IS(0, CU(cuDevicePrimaryCtxRelease_v2, device));

    /* a module that calls a function which another module defines */
    IS(218, CU(cuModuleLoadDataEx, &module, scale, 2u, log_options, log_values));
    IS(1, strstr(log, "twice") != NULL);
    IS(1, (uintptr_t)log_values[1] == strlen(log)); /* the size of the message replaces that of the buffer */
    IS(0, CU(cuLinkCreate_v2, 0u, NULL, NULL, &link));
    IS(0, CU(cuLinkAddData_v2, link, 1, scale, sizeof scale, "scale", 0u, NULL, NULL));
    IS(0, CU(cuLinkAddData_v2, link, 1, twice, sizeof twice, NULL, 0u, NULL, NULL));
    IS(209, CU(cuLinkAddData_v2, link, 0, twice, sizeof twice, NULL, 0u, NULL, NULL));
    IS(0, CU(cuLinkComplete, link, &object, &bytes));
    IS(0, CU(cuModuleLoadData, &module, object));
    IS(0, CU(cuLinkDestroy, link));
    IS(400, CU(cuLinkDestroy, link));
    IS(0, CU(cuModuleGetFunction, &function, module, "scale"));
    IS(500, CU(cuModuleGetFunction, &same, module, "scales"));
    IS(0, CU(cuModuleGetGlobal_v2, &variable, &bytes, module, "total"));
    IS(4, (int)bytes);
    IS(500, CU(cuModuleGetGlobal_v2, &first, NULL, module, "totals"));
    IS(0, CU(cuFuncGetAttribute, &value, 0, function));
    IS(1024, value);

    /* memory and launches, with the arguments one by one and in one buffer */
    IS(0, CU(cuMemAlloc_v2, &memory, sizeof out));
    IS(0, CU(cuMemsetD32_v2, memory, 5u, sizeof out / sizeof *out));
    IS(0, CU(cuStreamCreate, &stream, 1u));
    IS(0, CU(cuEventCreate, &begin, 0u));
    IS(0, CU(cuEventCreate, &end, 0u));
    IS(0, CU(cuEventRecord, begin, stream));
    IS(0, CU(cuLaunchKernel, function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream, arguments, NULL));
    IS(0, CU(cuEventRecord, end, stream));
    IS(0, CU(cuEventSynchronize, end));
    IS(0, CU(cuEventElapsedTime, &milliseconds, begin, end));
    IS(1, milliseconds >= 0);
    IS(0, CU(cuMemcpyDtoH_v2, out, memory, sizeof out));
    IS(1, out[0] == 107 && out[7] == 121 && out[8] == 5);
    memset(&packed, 0, sizeof packed);
    packed.out = memory + 32;
    packed.small = 1;
    packed.n = 2;
    IS(0, CU(cuLaunchKernel, function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, NULL, NULL, extra));
    packed_bytes = 12; /* too short for the last argument */
    IS(1, CU(cuLaunchKernel, function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, NULL, NULL, extra));
    IS(1, CU(cuLaunchKernel, function, 1u, 1u, 1u, 2048u, 1u, 1u, 0u, NULL, arguments, NULL));
    IS(400, CU(cuLaunchKernel, text, 1u, 1u, 1u, 32u, 1u, 1u, 0u, NULL, arguments, NULL));
    IS(0, CU(cuMemcpyDtoHAsync_v2, out, memory, sizeof out, stream));
    IS(0, CU(cuStreamSynchronize, stream));
    IS(1, out[8] == 101 && out[9] == 103 && out[10] == 5);
    IS(0, CU(cuMemcpyDtoH_v2, &counted, variable, sizeof counted));
    IS(10, (int)counted);
    IS(0, CU(cuMemGetAddressRange_v2, &first, &bytes, memory + 20));
    IS(1, first == memory && bytes == sizeof out);
    IS(0, CU(cuMemGetInfo_v2, &available, &total));
    IS(1, available < total);

    /* a copy of a three-dimensional box between the host and the device */
    {
        struct {
            size_t x, y;
            int type;
            const void *host;
            unsigned long long device;
            void *array;
            size_t pitch;
        } from = {4, 1, 1, out, 0, NULL, 16}, to = {0, 0, 2, NULL, memory, NULL, 8};
        struct {
            char from[sizeof from], to[sizeof to];
            size_t width, height;
        } box = {.width = 8, .height = 2};

        for (uint32_t i = 0; i < 16; i++)
            out[i] = i;
        memcpy(box.from, &from, sizeof from);
        memcpy(box.to, &to, sizeof to);
        IS(0, CU(cuMemcpy2D_v2, &box));
        IS(0, CU(cuMemcpyDtoH_v2, out, memory, (size_t)16));
        IS(1, out[0] == 5 && out[1] == 6 && out[2] == 9 && out[3] == 10);
        /* copies and fills whose last row is not in the memory change nothing */
        out[5] = 77;
        box.height = 9;
        IS(1, CU(cuMemcpy2D_v2, &box));
        box.height = 2;
        to.pitch = (size_t)1 << 62;
        memcpy(box.to, &to, sizeof to);
        IS(1, CU(cuMemcpy2D_v2, &box));
        IS(1, CU(cuMemsetD2D8_v2, memory, (size_t)16, (unsigned char)3, (size_t)8, (size_t)5));
        IS(0, CU(cuMemcpyDtoH_v2, out, memory, (size_t)16));
        IS(1, out[0] == 5 && out[1] == 6 && out[2] == 9 && out[3] == 10);
    }

    /* the CUDA runtime uses the same device */
    {
        void *runtime = dlopen("libcudart.so.13", RTLD_NOW), *pointer = NULL;

        IS(0, ((int (*)())(uintptr_t)dlsym(runtime, "cudaMalloc"))(&pointer, (size_t)48));
        IS(0, CU(cuMemGetAddressRange_v2, &first, &bytes, (unsigned long long)(uintptr_t)pointer));
        IS(48, (int)bytes);
        IS(0, CU(cuMemFree_v2, first));
    }

    packed.small = 1;
    packed.out = memory;
    packed_bytes = sizeof packed;
    graphs(function, stream, memory, extra, &packed.n);
    linked_files(memory);
    more_functions(function, memory);

    /* the flags of the primary context, which its reset clears */
    {
        unsigned flags = 99;

        IS(0, CU(cuDevicePrimaryCtxSetFlags_v2, device, 4u));
        IS(0, CU(cuDevicePrimaryCtxGetState, device, &flags, &value));
        IS(4, (int)flags);
        IS(0, CU(cuDevicePrimaryCtxReset_v2, device));
        IS(0, CU(cuDevicePrimaryCtxGetState, device, &flags, &value));
        IS(0, (int)flags);
    }

    /* functions from cuGetProcAddress, names that do not exist, and the release of all objects */
    IS(0, CU(cuGetProcAddress_v2, "cuMemFree", &same, 12000, UINT64_C(0), &state));
    IS(1, same == symbol("cuMemFree") && state == 0);
    IS(500, CU(cuGetProcAddress_v2, "cuNoSuchFunction", &same, 12000, UINT64_C(0), &state));
    IS(1, state);
    IS(0, CU(cuMemFree_v2, memory));
    IS(1, CU(cuMemFree_v2, memory));
    IS(0, CU(cuModuleUnload, module));
    IS(400, CU(cuModuleUnload, module));
    IS(400, CU(cuLaunchKernel, function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, NULL, arguments, NULL));
    IS(218, CU(cuModuleLoadData, &module, ".version 6.3\n.target sm_75\nnonsense\n"));
    IS(200, CU(cuModuleLoadData, &module, "nonsense"));
    IS(209, CU(cuModuleLoadData, &module, "\177ELF\2\1\1 machine code of somebody, and enough bytes for a header of an object"));
    IS(301, CU(cuModuleLoad, &module, "/no/such.ptx"));
    IS(0, CU(cuStreamDestroy_v2, stream));
    IS(400, CU(cuStreamDestroy_v2, stream));
    IS(0, CU(cuCtxDestroy_v2, context));
    {
        struct {
            void *affinity;
            int affinity_count;
            void *graphics;
        } parameters = {NULL, 0, NULL};

        IS(0, CU(cuCtxCreate_v4, &other, &parameters, 0u, device));
        IS(0, CU(cuCtxDestroy_v2, other));
        parameters.affinity_count = 1;
        IS(801, CU(cuCtxCreate_v4, &other, &parameters, 0u, device));
    }
    IS(201, CU(cuCtxDestroy_v2, context));
    printf(failed ? "wrong\n" : "all right\n");
    return failed;
}
