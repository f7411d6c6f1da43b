/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the kernels of bench.cl on the first OpenCL device. bench/run compares Lanewise with the figures of this program. If
 * this device is a CPU with PoCL, bench/run limits it to one core. `inputs FOLDER` writes the inputs.
 *
 * reference BENCH_CL FOLDER REPEATS NAME... prints a line for each kernel: its name, and the seconds of each
 * repetition from launch to end.
 *
 * reference BENCH_CL FOLDER reads command lines, and answers each with a line, so that two programs can run
 * interleaved. "case NAME" compiles a case; the answer is "ready". "run" runs the case once; the answer is the time
 * in seconds. "result FILE" writes the words of the case's output to the file; the answer is "written". Any other
 * answer is an error message.
 *
 * GEMM_SIZE in the environment, a multiple of 16, is another size for the two gemms.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sizes.h"

struct peer {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    const char *folder;
};

/** A case that has been prepared and can run repeatedly. */
struct work {
    const char *name;
    cl_kernel k;
    cl_uint dimensions;
    size_t x, y, block_x, block_y;
    cl_mem output;
    size_t words;
    cl_mem levels, changed; /* buffers of bfs */
    int *level;             /* initial contents of `levels`; NULL for other cases */
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
    cl_kernel produced = clCreateKernel(peer->program, name, &error);

    check(error, "clCreateKernel");
    return produced;
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

static void launch_work(const struct peer *peer, const struct work *w)
{
    launch(peer, w->k, w->dimensions, w->x, w->y, w->block_x, w->block_y);
}

/** Restores the buffers that an earlier repetition has changed, and runs the case. Returns the seconds from launch to
 *  end. */
static double run_once(const struct peer *peer, const struct work *w)
{
    double start;
    int more = 1;

    if (strcmp(w->name, "hist") == 0) {
        static const int zeros[256];

        check(clEnqueueWriteBuffer(peer->queue, w->output, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
    }
    if (w->level == NULL) {
        start = now();
        launch_work(peer, w);
        return now() - start;
    }
    check(clEnqueueWriteBuffer(peer->queue, w->levels, CL_TRUE, 0, w->words * 4, w->level, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
    start = now();
    for (int current = 0; more; current++) {
        more = 0;
        check(clEnqueueWriteBuffer(peer->queue, w->changed, CL_TRUE, 0, 4, &more, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
        set_int(w->k, 5, current);
        launch_work(peer, w);
        check(clEnqueueReadBuffer(peer->queue, w->changed, CL_TRUE, 0, 4, &more, 0, NULL, NULL),
              "clEnqueueReadBuffer");
    }
    return now() - start;
}

static cl_mem output(const struct peer *peer, struct work *w, size_t words)
{
    void *zeros = calloc(words, 4);

    w->words = words;
    w->output = buffer(peer, words, zeros);
    free(zeros);
    return w->output;
}

static void shape(struct work *w, cl_uint dimensions, size_t x, size_t y, size_t block_x, size_t block_y)
{
    w->dimensions = dimensions;
    w->x = x;
    w->y = y;
    w->block_x = block_x;
    w->block_y = block_y;
}

static void make_vecadd(const struct peer *peer, struct work *w)
{
    size_t n = bench_size("vecadd");

    set_memory(w->k, 0, ramp(peer, n, 0, 1, n));
    set_memory(w->k, 1, ramp(peer, n, 0, 1, n));
    set_memory(w->k, 2, output(peer, w, n));
    set_int(w->k, 3, (cl_int)n);
    shape(w, 1, n, 1, 256, 1);
}

static void make_gemm(const struct peer *peer, struct work *w)
{
    const char *size = getenv("GEMM_SIZE");
    size_t n = size != NULL ? strtoul(size, NULL, 10) : bench_size("gemm");

    set_memory(w->k, 0, ramp(peer, n * n, 0, 0.5f, 7));
    set_memory(w->k, 1, ramp(peer, n * n, 0, 0.5f, 7));
    set_memory(w->k, 2, output(peer, w, n * n));
    set_int(w->k, 3, (cl_int)n);
    shape(w, 2, n, n, 16, 16);
}

static void make_reduce(const struct peer *peer, struct work *w)
{
    size_t n = bench_size("reduce");

    set_memory(w->k, 0, ramp(peer, n, 1, 0, n));
    set_memory(w->k, 1, output(peer, w, n / 256));
    check(clSetKernelArg(w->k, 2, 1024, NULL), "clSetKernelArg");
    set_int(w->k, 3, (cl_int)n);
    shape(w, 1, n, 1, 256, 1);
}

static void make_mandel(const struct peer *peer, struct work *w)
{
    size_t n = bench_size("mandel");

    set_memory(w->k, 0, output(peer, w, n * n));
    set_int(w->k, 1, (cl_int)n);
    set_int(w->k, 2, (cl_int)n);
    set_int(w->k, 3, 256);
    shape(w, 2, n, n, 16, 16);
}

static void make_nbody(const struct peer *peer, struct work *w)
{
    size_t n = bench_size("nbody");
    float *body = read_file(peer, "nbody_body.bin", 4 * n);

    set_memory(w->k, 0, buffer(peer, 4 * n, body));
    set_memory(w->k, 1, output(peer, w, 4 * n));
    set_int(w->k, 2, (cl_int)n);
    shape(w, 1, n, 1, 128, 1);
    free(body);
}

static void make_bfs(const struct peer *peer, struct work *w)
{
    size_t n = bench_size("bfs");
    int *row = malloc((n + 1) * 4), *column = read_file(peer, "bfs_column.bin", n * 8);

    w->level = read_file(peer, "bfs_level.bin", n);
    w->levels = output(peer, w, n);
    w->changed = buffer(peer, 1, NULL);
    for (size_t i = 0; i <= n; i++)
        row[i] = (int)(8 * i);
    set_memory(w->k, 0, buffer(peer, n + 1, row));
    set_memory(w->k, 1, buffer(peer, n * 8, column));
    set_memory(w->k, 2, w->levels);
    set_memory(w->k, 3, w->changed);
    set_int(w->k, 4, (cl_int)n);
    shape(w, 1, n, 1, 256, 1);
    free(row);
    free(column);
}

static void make_hist(const struct peer *peer, struct work *w)
{
    size_t n = bench_size("hist");
    void *data = read_file(peer, "hist_data.bin", n);

    set_memory(w->k, 0, buffer(peer, n, data));
    set_memory(w->k, 1, output(peer, w, 256));
    check(clSetKernelArg(w->k, 2, 1024, NULL), "clSetKernelArg");
    set_int(w->k, 3, (cl_int)n);
    shape(w, 1, n / 128 < 1024 ? 1024 : n / 128, 1, 256, 1);
    free(data);
}

static const struct {
    const char *name;
    void (*make)(const struct peer *peer, struct work *w);
} cases[] = {
    {"vecadd", make_vecadd}, {"gemm", make_gemm},   {"gemm_tiled", make_gemm}, {"reduce", make_reduce},
    {"mandel", make_mandel}, {"nbody", make_nbody}, {"bfs", make_bfs},         {"hist", make_hist},
};

/** Prepares the case and runs it once, because the first launch includes compilation. Returns false if there is no case
 *  of this name. */
static int begin(const struct peer *peer, const char *name, struct work *w)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, name) != 0)
            continue;
        *w = (struct work){.name = cases[i].name, .k = kernel(peer, name)};
        cases[i].make(peer, w);
        run_once(peer, w);
        return 1;
    }
    return 0;
}

/** Frees the memory of the case, because the next case needs much memory, too. The kernel's release frees the inputs. */
static void end(struct work *w)
{
    if (w->k == NULL)
        return;
    clReleaseKernel(w->k);
    clReleaseMemObject(w->output);
    if (w->changed != NULL)
        clReleaseMemObject(w->changed);
    free(w->level);
    *w = (struct work){.name = NULL};
}

static const char *write_result(const struct peer *peer, const struct work *w, const char *path)
{
    void *data = malloc(w->words * 4);
    FILE *file = fopen(path, "wb");
    const char *answer = "the reference cannot write the result file";

    if (data != NULL && file != NULL) {
        check(clEnqueueReadBuffer(peer->queue, w->output, CL_TRUE, 0, w->words * 4, data, 0, NULL, NULL),
              "clEnqueueReadBuffer");
        if (fwrite(data, 4, w->words, file) == w->words)
            answer = "written";
    }
    if (file != NULL)
        fclose(file);
    free(data);
    return answer;
}

static void answer_lines(const struct peer *peer)
{
    struct work w = {.name = NULL};
    char line[4200];

    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "case ", 5) == 0) {
            end(&w);
            printf("%s\n", begin(peer, line + 5, &w) ? "ready" : "the reference has no such case");
        } else if (w.k == NULL)
            printf("the reference expects a line \"case NAME\" first\n");
        else if (strcmp(line, "run") == 0)
            printf("%.6f\n", run_once(peer, &w));
        else if (strncmp(line, "result ", 7) == 0)
            printf("%s\n", write_result(peer, &w, line + 7));
        else
            printf("the reference does not understand this line: expected case, run or result\n");
        fflush(stdout);
    }
}

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

    if (argc < 3 || argc == 4) {
        fprintf(stderr, "usage: %s BENCH_CL FOLDER [REPEATS NAME...]\n", argv[0]);
        return 2;
    }
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
    if (argc == 3)
        answer_lines(&peer);
    for (int a = 4; a < argc; a++) {
        struct work w;

        if (!begin(&peer, argv[a], &w)) {
            fprintf(stderr, "reference: there is no case %s: run the program without a name for all cases\n", argv[a]);
            return 2;
        }
        printf("%s", w.name);
        for (int i = 0; i < atoi(argv[3]); i++)
            printf(" %.6f", run_once(&peer, &w));
        printf("\n");
        fflush(stdout);
        end(&w);
    }
    return 0;
}
