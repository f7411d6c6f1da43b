/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silicon FIGURES.ptx: prints latencies and the read bandwidth of the first CUDA device, one line for each figure. FIGURES.ptx
 * is the output of figures.py. bench/fidelity measures the same figures on GPU models.
 */
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

enum { L2_BYTES = 38, SM_COUNT = 16, CORE_KHZ = 13, MEMORY_KHZ = 36, BUS_BITS = 37, SM_THREADS = 39 }; /* device attributes */
enum { CHAIN = 64, LOADS = 512 };

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

/** Measures the cycles of a load of a pointer chase, as Model.chase of bench/fidelity does. Between writing the ring and the
 * chase, @evict bytes of other memory are read, which replace the ring's lines in L2. */
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
    char name[256];

    if (argc != 2) {
        fprintf(stderr, "usage: silicon FIGURES.ptx\n");
        return 2;
    }
    char *text = read_file(argv[1]);
    CUdevice device = driver_open();
    int l2 = attribute(device, L2_BYTES), cores = attribute(device, SM_COUNT), threads = attribute(device, SM_THREADS);
    int core_khz = attribute(device, CORE_KHZ), memory_khz = attribute(device, MEMORY_KHZ), bits = attribute(device, BUS_BITS);

    need(cu.cuDeviceGetName(name, sizeof name, device), "device 0");
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
    double bytes = blocks * 256.0 * 512 * 16, peak = 2.0 * memory_khz * 1e3 * bits / 8;

    printf("share of peak bandwidth read\t%.2f\n", bytes / read_seconds(blocks, 512) / peak);
    free(text);
    return 0;
}
