/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the kernels of wide.cl on the first OpenCL device. bench/wide compares Lanewise with PoCL by this program.
 *
 * wide WIDE_CL list             prints the names of the cases, with the types of their outputs
 * wide WIDE_CL FOLDER REPEATS CASE
 *     runs the case REPEATS times after a first run that includes the compilation. Prints, in seconds, the elapsed time of the
 *     first run, in which another process may compile, and the CPU time of each repetition. Writes the outputs to
 *     FOLDER/CASE.bin.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ARGUMENTS = 8 };

/**
 * A case. `arguments` describes the arguments of the kernel in their order, separated by blanks:
 *
 *   f1024    buffer of 1024 random numbers: f float, d double, h half (bits), u 32-bit unsigned, s 16-bit unsigned, c bytes
 *   F1024    the same types in capitals: output, 0 before each run
 *   xu1024   random numbers, restored before each run; also an output
 *   i1024%9  random integers from 0 to 8
 *   r100*16  row offsets of a sparse matrix with 100 rows: rows with 16 elements on average, from 1 to 31
 *   =7       integer 7
 *   #        integer: number of the launch, from 0
 *   L1024    1024 bytes of local memory
 */
static const struct wide_case {
    const char *name, *kernel;
    unsigned dimensions, launches;
    size_t global[3], local[3];
    const char *arguments;
} cases[] = {
    {"stencil5_16x16", "stencil5", 2, 8, {1024, 1024}, {16, 16}, "f1048576 F1048576 =1024"},
    {"stencil5_32x8", "stencil5", 2, 8, {1024, 1024}, {32, 8}, "f1048576 F1048576 =1024"},
    {"stencil5_rows", "stencil5_rows", 1, 8, {1048576}, {256}, "f1048576 F1048576 =1024"},
    {"stencil9", "stencil9", 2, 4, {1024, 1024}, {16, 16}, "f1048576 F1048576 =1024"},
    {"stencil7_3d", "stencil7", 3, 4, {128, 128, 128}, {8, 8, 4}, "f2097152 F2097152 =128"},
    {"heat", "heat", 1, 4, {4194304}, {256}, "f4194304 F4194304 =4194304"},
    {"conway", "conway", 2, 2, {1024, 1024}, {16, 16}, "c1048576 C1048576 =1024"},
    {"spmv_row", "spmv_row", 1, 4, {65536}, {128}, "r65536*16 i1100000%65536 f1100000 f65536 F65536"},
    {"spmv_warp", "spmv_warp", 1, 1, {2097152}, {128}, "r65536*16 i1100000%65536 f1100000 f65536 F65536 L512"},
    {"transpose", "transpose", 2, 4, {1024, 1024}, {16, 16}, "f1048576 F1048576 =1024"},
    {"transpose_tiled", "transpose_tiled", 2, 4, {1024, 1024}, {16, 16}, "f1048576 F1048576 =1024"},
    {"gemm_double", "gemm_double", 2, 1, {256, 256}, {16, 16}, "d65536 d65536 D65536 =256"},
    {"gemm_half", "gemm_half", 2, 1, {256, 256}, {16, 16}, "h65536 h65536 H65536 =256"},
    {"floyd", "floyd", 2, 256, {256, 256}, {16, 16}, "xi65536%1000 =256 #"},
    {"bitonic", "bitonic", 1, 136, {65536}, {256}, "xu65536 #"},
    {"radix_block", "radix_block", 1, 1, {65536}, {256}, "u65536 U65536"},
    {"scan_steps", "scan_steps", 1, 2, {1048576}, {256}, "u1048576 U1048576"},
    {"scan_tree", "scan_tree", 1, 2, {524288}, {256}, "u1048576 U1048576"},
    {"arg_max", "arg_max", 1, 4, {65536}, {256}, "f4194304 U256 =4194304"},
    {"triad", "triad", 1, 4, {2097152}, {256}, "f2097152 f2097152 F2097152 =2097152"},
    {"fft", "fft", 1, 1, {1048576}, {256}, "f1048576 F2097152"},
    {"convolve", "convolve", 2, 1, {1024, 1024}, {16, 16}, "f1048576 f49 F1048576 =1024"},
    {"convolve_row", "convolve_row", 1, 2, {1048576}, {256}, "f1048576 f17 F1048576 =1048576"},
    {"gray", "gray", 1, 4, {2097152}, {256}, "c8388608 C2097152"},
    {"sobel", "sobel", 2, 2, {1024, 1024}, {16, 16}, "c1048576 C1048576 =1024"},
    {"box_short", "box_short", 2, 1, {1024, 1024}, {16, 16}, "s1048576 S1048576 =1024"},
    {"kmeans", "kmeans", 1, 1, {262144}, {256}, "f2097152 f128 U262144 =262144"},
    {"pathfinder", "pathfinder", 1, 4, {65536}, {256}, "i2097152%10 U65536 =65536 =32"},
    {"needle", "needle", 1, 1, {131072}, {64}, "c131072 c131072 U2048"},
    {"sha256", "sha256", 1, 1, {65536}, {128}, "u1048576 U524288"},
    {"xtea", "xtea", 1, 2, {524288}, {256}, "u1048576 U1048576 u4"},
    {"queens", "queens", 1, 16, {100}, {50}, "U100 =10"},
    {"collatz", "collatz", 1, 1, {262144}, {256}, "U262144"},
    {"search", "search", 1, 1, {524288}, {256}, "u1048576 u524288 U524288 =1048576"},
    {"mandel_double", "mandel_double", 2, 1, {512, 512}, {16, 16}, "U262144 =512 =200"},
    {"monte_carlo", "monte_carlo", 1, 1, {65536}, {256}, "u65536 U65536 =200"},
    {"black_scholes", "black_scholes", 1, 1, {524288}, {256}, "f524288 f524288 F524288"},
    {"histogram", "histogram", 1, 1, {2097152}, {256}, "u2097152 U1024"},
    {"histogram_local", "histogram_local", 1, 2, {65536}, {256}, "u4194304 U256 =4194304"},
    {"small", "small", 1, 5000, {1024}, {256}, "f1024 xf1024"},
};

/** A buffer argument of the case. */
struct argument {
    cl_mem memory;
    char type; /* f, d, h, u, s, c */
    size_t bytes;
    void *initial; /* contents before each run of an output; NULL for other buffers */
};

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "wide: %s: OpenCL error %d\n", what, error);
        exit(1);
    }
}

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "wide: no memory\n");
        exit(1);
    }
    return memory;
}

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static unsigned random_bits(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8 ^ *state << 16;
}

static size_t size_of(char type)
{
    return type == 'd' ? 8 : type == 'h' || type == 's' ? 2 : type == 'c' ? 1 : 4;
}

static void fill(void *data, char type, size_t count, unsigned *state)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned bits = random_bits(state);
        const double value = (double)(bits & 0xffffff) / 16777216.0;

        switch (type) {
        case 'f': ((float *)data)[i] = (float)value; break;
        case 'd': ((double *)data)[i] = value; break;
        case 'h': ((unsigned short *)data)[i] = (unsigned short)(0x3800 | (bits & 0x3ff)); break; /* 0.5 to 1 */
        case 's': ((unsigned short *)data)[i] = (unsigned short)bits; break;
        case 'c': ((unsigned char *)data)[i] = (unsigned char)bits; break;
        default: ((unsigned *)data)[i] = bits; break;
        }
    }
}

/** Creates the buffer that @word describes. */
static struct argument make_buffer(cl_context context, const char *word, unsigned *state)
{
    const int restored = *word == 'x', zero = word[0] >= 'A' && word[0] <= 'Z';
    const char kind = (char)(word[restored] | 32), *rest = word + restored + 1;
    char *end;
    size_t count = strtoul(rest, &end, 10);
    const size_t rows = count, parameter = *end != '\0' ? strtoul(end + 1, NULL, 10) : 0;
    struct argument a = {.type = kind == 'i' || kind == 'r' ? 'u' : kind};
    cl_int error;

    count += kind == 'r';
    a.bytes = count * size_of(a.type);
    unsigned *data = need(calloc(count + 1, size_of(a.type) < 4 ? 4 : size_of(a.type)));
    if (!zero)
        fill(data, a.type, count, state);
    for (size_t i = 0; i < count && kind == 'i'; i++)
        data[i] %= (unsigned)parameter;
    if (kind == 'r')
        for (size_t i = 0, at = 0; i <= rows; i++) {
            const size_t elements = 1 + data[i] % (2 * (unsigned)parameter - 1);

            data[i] = (unsigned)at;
            at += elements;
        }
    a.memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, a.bytes, data, &error);
    check(error, "clCreateBuffer");
    if (zero || restored)
        a.initial = data;
    else
        free(data);
    return a;
}

static double run_once(cl_command_queue queue, cl_kernel kernel, const struct wide_case *c, const struct argument *arguments, cl_uint count, cl_uint launch_argument,
                       clockid_t clock)
{
    double start;

    for (cl_uint i = 0; i < count; i++)
        if (arguments[i].initial != NULL)
            check(clEnqueueWriteBuffer(queue, arguments[i].memory, CL_TRUE, 0, arguments[i].bytes, arguments[i].initial, 0, NULL, NULL),
                  "clEnqueueWriteBuffer");
    start = now(clock);
    for (unsigned l = 0; l < c->launches; l++) {
        const cl_int number = (cl_int)l;

        if (launch_argument < count)
            check(clSetKernelArg(kernel, launch_argument, sizeof number, &number), "clSetKernelArg");
        check(clEnqueueNDRangeKernel(queue, kernel, c->dimensions, NULL, c->global, c->local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    }
    check(clFinish(queue), "clFinish");
    return now(clock) - start;
}

static void run(const struct wide_case *c, const char *source, const char *folder, unsigned repeats)
{
    struct argument arguments[MOST_ARGUMENTS] = {{0}};
    cl_uint count = 0, launch_argument = MOST_ARGUMENTS;
    char words[256], path[4096];
    unsigned state = 12345;
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, c->kernel, &error);
    check(error, "clCreateKernel");
    snprintf(words, sizeof words, "%s", c->arguments);
    for (char *word = strtok(words, " "); word != NULL && count < MOST_ARGUMENTS; word = strtok(NULL, " "), count++) {
        const cl_int number = atoi(word + 1);

        if (*word == '#')
            launch_argument = count;
        else if (*word == 'L')
            check(clSetKernelArg(kernel, count, (size_t)number, NULL), "clSetKernelArg");
        else if (*word == '=')
            check(clSetKernelArg(kernel, count, sizeof number, &number), "clSetKernelArg");
        else {
            arguments[count] = make_buffer(context, word, &state);
            check(clSetKernelArg(kernel, count, sizeof(cl_mem), &arguments[count].memory), "clSetKernelArg");
        }
    }
    for (unsigned r = 0; r <= repeats; r++)
        printf("%.6f\n", run_once(queue, kernel, c, arguments, count, launch_argument, r == 0 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID));
    snprintf(path, sizeof path, "%s/%s.bin", folder, c->name);
    FILE *file = need(fopen(path, "wb"));
    for (cl_uint i = 0; i < count; i++) {
        if (arguments[i].initial != NULL) {
            check(clEnqueueReadBuffer(queue, arguments[i].memory, CL_TRUE, 0, arguments[i].bytes, arguments[i].initial, 0, NULL, NULL), "clEnqueueReadBuffer");
            if (fwrite(arguments[i].initial, 1, arguments[i].bytes, file) != arguments[i].bytes) {
                fprintf(stderr, "wide: %s cannot be written\n", path);
                exit(1);
            }
            free(arguments[i].initial);
        }
        if (arguments[i].memory != NULL)
            clReleaseMemObject(arguments[i].memory);
    }
    fclose(file);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

/** Prints the name of a case, and the type of its outputs. */
static void print_case(const struct wide_case *c)
{
    char words[256];

    snprintf(words, sizeof words, "%s", c->arguments);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        if (*word == 'x' || (*word >= 'A' && *word <= 'Z' && *word != 'L')) {
            const char type = (char)(word[*word == 'x'] | 32);

            printf("%s %c\n", c->name, type == 'i' ? 'u' : type);
            return;
        }
}

int main(int argc, char **argv)
{
    static char source[1 << 17];
    FILE *file = argc >= 3 ? fopen(argv[1], "r") : NULL;

    if (file == NULL) {
        fprintf(stderr, "wide: usage: wide WIDE_CL list | FOLDER REPEATS CASE\n");
        return 2;
    }
    source[fread(source, 1, sizeof source - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (argc == 3) {
            print_case(&cases[i]);
        } else if (argc == 5 && strcmp(cases[i].name, argv[4]) == 0) {
            run(&cases[i], source, argv[2], (unsigned)atoi(argv[3]));
            return 0;
        }
    return argc != 3;
}
