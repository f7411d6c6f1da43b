/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer: the kernels of bench.cl on the first OpenCL device, on one core when that is a
 * CPU with PoCL: reference BENCH_CL FOLDER REPEATS [NAME...]. Prints a line a kernel: name
 * and seconds of each repetition, from launch to end. Inputs are those of `inputs FOLDER`.
 * GEMM_SIZE in the environment, a multiple of 16, is another size than 512 for the two gemms.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct peer {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    const char *folder;
    int repeats;
};

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "reference: %s: OpenCL error %d\n", what, error);
        exit(1);
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static cl_mem buffer(const struct peer *peer, size_t count, const void *data)
{
    cl_int error;
    cl_mem memory = clCreateBuffer(peer->context,
                                   CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                                   count * 4, (void *)data, &error);

    check(error, "clCreateBuffer");
    return memory;
}

static cl_mem ramp(const struct peer *peer, size_t count, float start, float step, size_t modulo)
{
    float *data = malloc(count * 4);
    cl_mem memory;

    for (size_t i = 0; i < count; i++)
        data[i] = start + step * (float)(i % modulo);
    memory = buffer(peer, count, data);
    free(data);
    return memory;
}

static void *read_file(const struct peer *peer, const char *name, size_t count)
{
    char path[4096];
    void *data = malloc(count * 4);
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", peer->folder, name);
    file = fopen(path, "rb");
    if (file == NULL || data == NULL || fread(data, 4, count, file) != count) {
        fprintf(stderr, "reference: cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return data;
}

static cl_kernel kernel(const struct peer *peer, const char *name)
{
    cl_int error;
    cl_kernel made = clCreateKernel(peer->program, name, &error);

    check(error, "clCreateKernel");
    return made;
}

static void set_memory(cl_kernel k, cl_uint index, cl_mem memory)
{
    check(clSetKernelArg(k, index, sizeof memory, &memory), "clSetKernelArg");
}

static void set_int(cl_kernel k, cl_uint index, cl_int value)
{
    check(clSetKernelArg(k, index, sizeof value, &value), "clSetKernelArg");
}

static void launch(const struct peer *peer, cl_kernel k, cl_uint dimensions, size_t x, size_t y,
                   size_t block_x, size_t block_y)
{
    size_t global[2] = {x, y}, local[2] = {block_x, block_y};

    check(clEnqueueNDRangeKernel(peer->queue, k, dimensions, NULL, global, local, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
    check(clFinish(peer->queue), "clFinish");
}

static void repeat(const struct peer *peer, const char *name, cl_kernel k, cl_uint dimensions,
                   size_t x, size_t y, size_t block_x, size_t block_y)
{
    launch(peer, k, dimensions, x, y, block_x, block_y); /* the first compiles */
    printf("%s", name);
    for (int i = 0; i < peer->repeats; i++) {
        double start = now();

        launch(peer, k, dimensions, x, y, block_x, block_y);
        printf(" %.6f", now() - start);
    }
    printf("\n");
    fflush(stdout);
}

static void run_vecadd(const struct peer *peer, const char *name)
{
    size_t n = 16 << 20;
    cl_kernel k = kernel(peer, name);

    set_memory(k, 0, ramp(peer, n, 0, 1, n));
    set_memory(k, 1, ramp(peer, n, 0, 1, n));
    set_memory(k, 2, buffer(peer, n, NULL));
    set_int(k, 3, (cl_int)n);
    repeat(peer, name, k, 1, n, 1, 256, 1);
}

static void run_gemm(const struct peer *peer, const char *name)
{
    const char *size = getenv("GEMM_SIZE");
    size_t n = size != NULL ? strtoul(size, NULL, 10) : 512;
    cl_kernel k = kernel(peer, name);

    set_memory(k, 0, ramp(peer, n * n, 0, 0.5f, 7));
    set_memory(k, 1, ramp(peer, n * n, 0, 0.5f, 7));
    set_memory(k, 2, buffer(peer, n * n, NULL));
    set_int(k, 3, (cl_int)n);
    repeat(peer, name, k, 2, n, n, 16, 16);
}

static void run_reduce(const struct peer *peer, const char *name)
{
    size_t n = 8 << 20;
    cl_kernel k = kernel(peer, name);

    set_memory(k, 0, ramp(peer, n, 1, 0, n));
    set_memory(k, 1, buffer(peer, n / 256, NULL));
    check(clSetKernelArg(k, 2, 1024, NULL), "clSetKernelArg");
    set_int(k, 3, (cl_int)n);
    repeat(peer, name, k, 1, n, 1, 256, 1);
}

static void run_mandel(const struct peer *peer, const char *name)
{
    size_t n = 1024;
    cl_kernel k = kernel(peer, name);

    set_memory(k, 0, buffer(peer, n * n, NULL));
    set_int(k, 1, (cl_int)n);
    set_int(k, 2, (cl_int)n);
    set_int(k, 3, 256);
    repeat(peer, name, k, 2, n, n, 16, 16);
}

static void run_nbody(const struct peer *peer, const char *name)
{
    size_t n = 4096;
    float *body = read_file(peer, "nbody_body.bin", 4 * n);
    cl_kernel k = kernel(peer, name);

    set_memory(k, 0, buffer(peer, 4 * n, body));
    set_memory(k, 1, buffer(peer, 4 * n, NULL));
    set_int(k, 2, (cl_int)n);
    repeat(peer, name, k, 1, n, 1, 128, 1);
    free(body);
}

static void run_bfs(const struct peer *peer, const char *name)
{
    size_t n = 1 << 20;
    int *row = malloc((n + 1) * 4), *level = read_file(peer, "bfs_level.bin", n);
    int *column = read_file(peer, "bfs_column.bin", n * 8);
    cl_mem levels = buffer(peer, n, level), changed = buffer(peer, 1, NULL);
    cl_kernel k = kernel(peer, name);

    for (size_t i = 0; i <= n; i++)
        row[i] = (int)(8 * i);
    set_memory(k, 0, buffer(peer, n + 1, row));
    set_memory(k, 1, buffer(peer, n * 8, column));
    set_memory(k, 2, levels);
    set_memory(k, 3, changed);
    set_int(k, 4, (cl_int)n);
    printf("%s", name);
    for (int i = -1; i < peer->repeats; i++) {
        double start;
        int more = 1;

        check(clEnqueueWriteBuffer(peer->queue, levels, CL_TRUE, 0, n * 4, level, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
        start = now();
        for (int current = 0; more; current++) {
            more = 0;
            check(clEnqueueWriteBuffer(peer->queue, changed, CL_TRUE, 0, 4, &more, 0, NULL, NULL),
                  "clEnqueueWriteBuffer");
            set_int(k, 5, current);
            launch(peer, k, 1, n, 1, 256, 1);
            check(clEnqueueReadBuffer(peer->queue, changed, CL_TRUE, 0, 4, &more, 0, NULL, NULL),
                  "clEnqueueReadBuffer");
        }
        if (i >= 0)
            printf(" %.6f", now() - start);
    }
    printf("\n");
    fflush(stdout);
    free(row);
    free(level);
    free(column);
}

static void run_hist(const struct peer *peer, const char *name)
{
    size_t n = 8 << 20;
    void *data = read_file(peer, "hist_data.bin", n);
    cl_kernel k = kernel(peer, name);

    set_memory(k, 0, buffer(peer, n, data));
    set_memory(k, 1, buffer(peer, 256, NULL));
    check(clSetKernelArg(k, 2, 1024, NULL), "clSetKernelArg");
    set_int(k, 3, (cl_int)n);
    repeat(peer, name, k, 1, 65536, 1, 256, 1);
    free(data);
}

static const struct {
    const char *name;
    void (*run)(const struct peer *peer, const char *name);
} cases[] = {
    {"vecadd", run_vecadd}, {"gemm", run_gemm},   {"gemm_tiled", run_gemm}, {"reduce", run_reduce},
    {"mandel", run_mandel}, {"nbody", run_nbody}, {"bfs", run_bfs},         {"hist", run_hist},
};

int main(int argc, char **argv)
{
    static char source[65536];
    const char *text = source;
    struct peer peer = {.folder = argc > 2 ? argv[2] : ""};
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    size_t size;
    FILE *file;

    if (argc < 4) {
        fprintf(stderr, "usage: %s BENCH_CL FOLDER REPEATS [NAME...]\n", argv[0]);
        return 2;
    }
    peer.repeats = atoi(argv[3]);
    file = fopen(argv[1], "rb");
    if (file == NULL) {
        perror(argv[1]);
        return 2;
    }
    size = fread(source, 1, sizeof source - 1, file);
    fclose(file);
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    peer.context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    peer.queue = clCreateCommandQueue(peer.context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    peer.program = clCreateProgramWithSource(peer.context, 1, &text, &size, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(peer.program, 1, &device, "", NULL, NULL), "clBuildProgram");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int wanted = argc == 4;

        for (int a = 4; a < argc; a++)
            wanted |= strcmp(argv[a], cases[i].name) == 0;
        if (wanted)
            cases[i].run(&peer, cases[i].name);
    }
    return 0;
}
