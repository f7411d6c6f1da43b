/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of launches, attributes of kernels, occupancy, order of streams, and of printf() in kernels. */
#include "probe.h"

static int no_kernel;

__global__ void empty(void)
{
}

__global__ void add(int *p, int n)
{
    if (p != NULL)
        atomicAdd(p, n);
}

__global__ void uses_shared(int *p)
{
    __shared__ int s[4096];

    s[threadIdx.x] = p != NULL ? p[0] : 1;
    __syncthreads();
    if (p != NULL)
        p[0] = s[threadIdx.x ^ 1];
}

__global__ void uses_local(int *p, int n)
{
    volatile int a[64];

    for (int i = 0; i < 64; i++)
        a[i] = n + i;
    if (p != NULL)
        p[0] = a[n & 63];
}

__global__ void __launch_bounds__(64) bounded(int *p)
{
    if (p != NULL)
        p[0] = 1;
}

__global__ void wait_long(int *p, long long cycles)
{
    const long long begin = clock64();

    while (clock64() - begin < cycles)
        ;
    if (p != NULL)
        p[0] = 1;
}

__global__ void double_it(int *p)
{
    p[0] = p[0] * 2 + 1;
}

__global__ void large_argument(struct grid a, double b, char c, int *p)
{
    p[0] = (int)a.x + (int)b + c;
}

static int launch(P kernel, struct grid grid, struct grid block, void **arguments, Z shared, S stream)
{
    return F("cudaLaunchKernel", kernel, grid, block, arguments, shared, stream);
}

static void configurations(void)
{
    int *p = NULL, n = 3;
    void *none[] = {&p, &n};
    P k = (P)add;

    R("launch", launch(k, size_of(1), size_of(1), none, 0, NULL));
    R("launch: grid x 0", launch(k, size_of(0), size_of(1), none, 0, NULL));
    R("launch: grid y 0", launch(k, size_of(1, 0), size_of(1), none, 0, NULL));
    R("launch: grid z 0", launch(k, size_of(1, 1, 0), size_of(1), none, 0, NULL));
    R("launch: block x 0", launch(k, size_of(1), size_of(0), none, 0, NULL));
    R("launch: block z 0", launch(k, size_of(1), size_of(1, 1, 0), none, 0, NULL));
    R("launch: block 1024", launch(k, size_of(1), size_of(1024), none, 0, NULL));
    R("launch: block 1025", launch(k, size_of(1), size_of(1025), none, 0, NULL));
    R("launch: block 32 by 33", launch(k, size_of(1), size_of(32, 33), none, 0, NULL));
    R("launch: block y 1025", launch(k, size_of(1), size_of(1, 1025), none, 0, NULL));
    R("launch: block z 64", launch(k, size_of(1), size_of(1, 1, 64), none, 0, NULL));
    R("launch: block z 65", launch(k, size_of(1), size_of(1, 1, 65), none, 0, NULL));
    R("launch: grid y 65535", launch(k, size_of(1, 65535), size_of(1), none, 0, NULL));
    R("launch: grid y 65536", launch(k, size_of(1, 65536), size_of(1), none, 0, NULL));
    R("launch: grid z 65536", launch(k, size_of(1, 1, 65536), size_of(1), none, 0, NULL));
    R("launch: grid x 2^31", launch(k, size_of(1u << 31), size_of(1), none, 0, NULL));
    R("launch: grid x 2^32 - 1", launch(k, size_of(~0u), size_of(1), none, 0, NULL));
    R("launch: shared 49152", launch(k, size_of(1), size_of(1), none, 49152, NULL));
    R("launch: shared 49153", launch(k, size_of(1), size_of(1), none, 49153, NULL));
    R("launch: shared 2^20", launch(k, size_of(1), size_of(1), none, 1 << 20, NULL));
    R("launch: shared 2^32", launch(k, size_of(1), size_of(1), none, Z(1) << 32, NULL));
    R("launch: shared SIZE_MAX", launch(k, size_of(1), size_of(1), none, SIZE_MAX, NULL));
    R("launch: static 16384, dynamic 32768", launch((P)uses_shared, size_of(1), size_of(2), none, 32768, NULL));
    R("launch: static 16384, dynamic 32769", launch((P)uses_shared, size_of(1), size_of(2), none, 32769, NULL));
    R("launch: bounds 64, block 64", launch((P)bounded, size_of(1), size_of(64), none, 0, NULL));
    R("launch: bounds 64, block 65", launch((P)bounded, size_of(1), size_of(65), none, 0, NULL));
    R("launch: null kernel", launch(NULL, size_of(1), size_of(1), none, 0, NULL));
    R("launch: no kernel", launch(&no_kernel, size_of(1), size_of(1), none, 0, NULL));
    R("launch: no parameters, null arguments", launch((P)empty, size_of(1), size_of(1), NULL, 0, NULL));
    R("launch: grid 0 and no kernel", launch(&no_kernel, size_of(0), size_of(1), none, 0, NULL));
    R("launch: grid 0 and block 0", launch(k, size_of(0), size_of(0), none, 0, NULL));
    R("launch: stream 1", launch(k, size_of(1), size_of(1), none, 0, S(1)));
    R("launch: stream 2", launch(k, size_of(1), size_of(1), none, 0, S(2)));
    R("launch: cooperative, grid 0", F("cudaLaunchCooperativeKernel", k, size_of(0), size_of(1), (void **)none, Z(0), S(NULL)));
    R("launch: cooperative", F("cudaLaunchCooperativeKernel", k, size_of(1), size_of(1), (void **)none, Z(0), S(NULL)));
    F("cudaDeviceSynchronize");
    empty<<<0, 1>>>();
    N("launch: <<<0, 1>>>", F("cudaGetLastError"));
    empty<<<1, 1025>>>();
    N("launch: <<<1, 1025>>>", F("cudaGetLastError"));
    empty<<<1, 1, 1 << 20>>>();
    N("launch: <<<1, 1, 2^20>>>", F("cudaGetLastError"));
    bounded<<<1, 65>>>(p);
    N("launch: <<<1, 65>>> with bounds 64", F("cudaGetLastError"));
    empty<<<1, 1>>>();
    N("launch: <<<1, 1>>>", F("cudaGetLastError"));
    R("launch: synchronize after wrong launches", F("cudaDeviceSynchronize"));
}

static void extended_null(void)
{
    R("launch: extended, null", F("cudaLaunchKernelExC", nullptr, (P)add, nullptr));
}

static void null_arguments(void)
{
    R("launch: null arguments", launch((P)add, size_of(1), size_of(1), NULL, 0, NULL));
}

static void destroyed_stream(void)
{
    int *p = NULL, n = 1;
    void *arguments[] = {&p, &n};
    S s = NULL;

    F("cudaStreamCreate", &s);
    F("cudaStreamDestroy", s);
    R("launch: destroyed stream", launch((P)add, size_of(1), size_of(1), arguments, 0, s));
}

static void large_shared(void)
{
    int *p = NULL, n = 1;
    void *arguments[] = {&p, &n};
    P k = (P)add;

    R("dynamic shared: set 65536", F("cudaFuncSetAttribute", k, 8, 65536));
    R("dynamic shared: launch 65536", launch(k, size_of(1), size_of(1), arguments, 65536, NULL));
    R("dynamic shared: launch 65537", launch(k, size_of(1), size_of(1), arguments, 65537, NULL));
    R("dynamic shared: set -1", F("cudaFuncSetAttribute", k, 8, -1));
    R("dynamic shared: set 2^20", F("cudaFuncSetAttribute", k, 8, 1 << 20));
    R("dynamic shared: set 0", F("cudaFuncSetAttribute", k, 8, 0));
    R("dynamic shared: launch 1 after 0", launch(k, size_of(1), size_of(1), arguments, 1, NULL));
    R("dynamic shared: set 1024", F("cudaFuncSetAttribute", k, 8, 1024));
    R("dynamic shared: launch 1025 after 1024", launch(k, size_of(1), size_of(1), arguments, 1025, NULL));
    R("dynamic shared: attribute 99", F("cudaFuncSetAttribute", k, 99, 1));
    R("dynamic shared: attribute 0", F("cudaFuncSetAttribute", k, 0, 1));
    R("dynamic shared: carveout 50", F("cudaFuncSetAttribute", k, 9, 50));
    R("dynamic shared: carveout -1", F("cudaFuncSetAttribute", k, 9, -1));
    R("dynamic shared: carveout -2", F("cudaFuncSetAttribute", k, 9, -2));
    R("dynamic shared: carveout 101", F("cudaFuncSetAttribute", k, 9, 101));
    R("dynamic shared: no kernel", F("cudaFuncSetAttribute", P(&no_kernel), 8, 1));
    R("dynamic shared: null kernel", F("cudaFuncSetAttribute", nullptr, 8, 1));
    R("cache config: 9", F("cudaFuncSetCacheConfig", k, 9));
    R("cache config: no kernel", F("cudaFuncSetCacheConfig", P(&no_kernel), 0));
}

struct function_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout, more[22];
};

static void kernel_attributes(void)
{
    static const struct {
        const char *name;
        P kernel;
    } rows[] = {{"empty", (P)empty}, {"add", (P)add}, {"uses_shared", (P)uses_shared}, {"uses_local", (P)uses_local},
                {"bounded", (P)bounded}, {"large_argument", (P)large_argument}};
    struct function_attributes a;
    char probe[80];

    R("kernel: attributes, null result", F("cudaFuncGetAttributes", nullptr, (P)add));
    R("kernel: attributes, no kernel", F("cudaFuncGetAttributes", &a, P(&no_kernel)));
    R("kernel: attributes, null kernel", F("cudaFuncGetAttributes", &a, nullptr));
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(&a, 0, sizeof a);
        F("cudaFuncGetAttributes", &a, rows[i].kernel);
#define SHOW(what, member) (snprintf(probe, sizeof probe, "kernel %s: " what, rows[i].name), N(probe, (long long)a.member))
        SHOW("bytes of shared memory", shared);
        SHOW("most threads", threads);
        SHOW("most bytes of dynamic shared memory", dynamic);
        SHOW("carveout", carveout);
        SHOW("bytes of local memory", local);
        SHOW("bytes of constant memory", constant);
        SHOW("cache mode", cache);
    }
    F("cudaFuncSetAttribute", (P)add, 8, 2048);
    F("cudaFuncGetAttributes", &a, (P)add);
    N("kernel add: dynamic shared memory after setting 2048", a.dynamic);
}

static void occupancy(void)
{
    static const struct {
        const char *name;
        P kernel;
        int threads;
        Z shared;
    } rows[] = {
        {"empty, 32 threads", (P)empty, 32, 0}, {"empty, 1 thread", (P)empty, 1, 0}, {"empty, 33 threads", (P)empty, 33, 0},
        {"empty, 96 threads", (P)empty, 96, 0}, {"empty, 128 threads", (P)empty, 128, 0}, {"empty, 256 threads", (P)empty, 256, 0},
        {"empty, 768 threads", (P)empty, 768, 0}, {"empty, 1024 threads", (P)empty, 1024, 0},
        {"uses_shared, 64 threads", (P)uses_shared, 64, 0}, {"bounded, 64 threads", (P)bounded, 64, 0},
        {"empty, 128 threads, 16384 bytes", (P)empty, 128, 16384}, {"empty, 128 threads, 49152 bytes", (P)empty, 128, 49152},
    };
    int n;
    char probe[80];

    R("occupancy: null", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", nullptr, (P)empty, 32, Z(0)));
    R("occupancy: 0 threads", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, (P)empty, 0, Z(0)));
    R("occupancy: -1 threads", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, (P)empty, -1, Z(0)));
    n = -7;
    R("occupancy: 1025 threads", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, (P)empty, 1025, Z(0)));
    N("occupancy: blocks of 1025 threads", n);
    n = -7;
    R("occupancy: bounds 64, 65 threads", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, (P)bounded, 65, Z(0)));
    N("occupancy: blocks of 65 threads, bounds 64", n);
    R("occupancy: no kernel", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, P(&no_kernel), 32, Z(0)));
    n = -7;
    R("occupancy: 49153 bytes", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, (P)empty, 32, Z(49153)));
    N("occupancy: blocks with 49153 bytes", n);
    n = -7;
    R("occupancy: 2^20 bytes", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, (P)empty, 32, Z(1) << 20));
    N("occupancy: blocks with 2^20 bytes", n);
    R("occupancy: flags 9", F("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", &n, (P)empty, 32, Z(0), U(9)));
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        n = -7;
        F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, rows[i].kernel, rows[i].threads, rows[i].shared);
        snprintf(probe, sizeof probe, "occupancy: blocks of %s", rows[i].name);
        N(probe, n);
    }
}

static void order(void)
{
    S blocking = NULL, other = NULL, event = NULL, second = NULL;
    int *p = NULL, zero = 0, result = -1;
    long long cycles = 20000000;
    void *long_arguments[] = {&p, &cycles}, *arguments[] = {&p};
    float ms = 0;

    F("cudaMalloc", (void **)&p, Z(4));
    F("cudaMemcpy", (void *)p, P(&zero), Z(4), int(H2D));
    F("cudaStreamCreate", &blocking);
    F("cudaStreamCreateWithFlags", &other, U(1));
    F("cudaEventCreate", &event);
    F("cudaEventCreate", &second);
    F("cudaEventRecord", second, S(NULL));
    R("order: launch of a long kernel", launch((P)wait_long, size_of(1), size_of(1), long_arguments, 0, blocking));
    F("cudaEventRecord", event, blocking);
    R("order: query of its stream", F("cudaStreamQuery", blocking));
    R("order: query of the default stream", F("cudaStreamQuery", S(NULL)));
    R("order: query of its event", F("cudaEventQuery", event));
    R("order: elapsed time of its event", F("cudaEventElapsedTime", &ms, second, event));
    R("order: a kernel in the default stream after it", launch((P)double_it, size_of(1), size_of(1), arguments, 0, NULL));
    R("order: destroy the stream at work", F("cudaStreamDestroy", blocking));
    F("cudaMemcpy", (void *)&result, P(p), Z(4), int(D2H));
    N("order: value after both", result);
    R("order: query after the copy", F("cudaStreamQuery", S(NULL)));
    R("order: query of the event after the copy", F("cudaEventQuery", event));
    R("order: free", F("cudaFree", (void *)p));
    F("cudaStreamDestroy", other);
}

/* ---- printf ------------------------------------------------------------------------------------------------------- */

__device__ int results[32];

__global__ void print_formats(const char *unknown)
{
    int n = 0;

    results[n++] = printf("plain\n");
    results[n++] = printf("s [%s] [%10s] [%-6s] [%.2s]\n", "abc", "right", "left", "cut");
    results[n++] = printf("d [%d] [%5d] [%-5d] [%05d] [%+d] [% d] [%i]\n", -3, 42, 42, 42, 7, 7, 9);
    results[n++] = printf("u [%u] [%x] [%X] [%#x] [%o] [%#o]\n", 4000000000u, 255, 255, 255, 8, 8);
    results[n++] = printf("l [%ld] [%lld] [%llu] [%llx] [%lu]\n", -5l, -6ll, 18446744073709551615ull, 1ull << 40, 3ul);
    results[n++] = printf("h [%hd] [%hu]\n", 70000, 70000);
    results[n++] = printf("f [%f] [%5.2f] [%.0f] [%10.3f] [%-10.1f] [%+.1f]\n", 1.5, 3.14159, 2.5, 2.0, 1.0, 1.0);
    results[n++] = printf("e [%e] [%.2E] [%g] [%G] [%a]\n", 12345.678, 0.001, 1e-10, 1e20, 1.0);
    results[n++] = printf("inf [%f] [%f] [%f] [%g]\n", __int_as_float(0x7f800000), -__int_as_float(0x7f800000),
                          __int_as_float(0x7fffffff), 0.0);
    results[n++] = printf("c [%c] [%3c] [%-3c]\n", 'a', 'b', 'c');
    results[n++] = printf("p [%p] [%p]\n", (void *)0, (void *)0x1234);
    results[n++] = printf("%% [%%] [%5%] 100%\n");
    results[n++] = printf("z [%zu] [%td] [%jd]\n", (size_t)5, (ptrdiff_t)-5, (long long)6);
    results[n++] = printf("star [%*d] [%-*d] [%.*f]\n", 5, 42, 5, 42, 2, 3.14159);
}

__global__ void print_missing(void)
{
    int n = 16;

    results[n++] = printf("missing [%d] [%d] [%s]\n", 1);
    results[n++] = printf("extra [%d]\n", 1, 2, 3);
    results[n++] = printf("unknown [%q] [%d]\n", 1, 2);
    results[n++] = printf("end %");
    results[n++] = printf("\n");
    results[n++] = printf("null [%s]\n", (const char *)0);
    results[n++] = printf("");
    results[n++] = printf("int as float [%f] float as int [%d]\n", 1, 1.0);
}

__global__ void print_order(void)
{
    printf("%d ", (int)threadIdx.x);
    if (threadIdx.x == 0)
        printf("zero ");
    printf("again %d ", (int)threadIdx.x);
}

static void show_results(const char *probe, int first, int count)
{
    int r[32];
    char text[300] = "";

    F("cudaMemcpyFromSymbol", (void *)r, P(results), Z(sizeof r), Z(0), int(D2H));
    for (int i = first; i < first + count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i == first ? "" : " ", r[i]);
    T(probe, text);
}

static void lines(const char *probe, const char *text)
{
    char name[80], line[600];

    for (int i = 1; *text != '\0'; i++) {
        const char *end = strchr(text, '\n');
        size_t bytes = end != NULL ? (size_t)(end - text) : strlen(text);

        snprintf(line, sizeof line, "%.*s", (int)bytes, text);
        snprintf(name, sizeof name, "%s, line %d", probe, i);
        T(name, quoted(line));
        text += bytes + (end != NULL);
    }
}

static void print(void)
{
    char text[8192];

    catch_output(1);
    print_formats<<<1, 1>>>(NULL);
    F("cudaDeviceSynchronize");
    strcpy(text, take_output());
    lines("printf", text);
    show_results("printf: results", 0, 14);
    catch_output(1);
    print_order<<<1, 4>>>();
    strcpy(text, take_output());
    T("printf: before synchronisation", quoted(text));
    catch_output(1);
    F("cudaDeviceSynchronize");
    strcpy(text, take_output());
    T("printf: by synchronisation", quoted(text));
}

static void print_wrong(void)
{
    char text[8192];

    catch_output(1);
    print_missing<<<1, 1>>>();
    F("cudaDeviceSynchronize");
    strcpy(text, take_output());
    lines("printf, wrong formats", text);
    show_results("printf: results of wrong formats", 16, 8);
}

struct group launch_groups[] = {
    {"configurations", configurations}, {"extended_null", extended_null}, {"null_arguments", null_arguments},
    {"destroyed_stream", destroyed_stream}, {"large_shared", large_shared}, {"kernel_attributes", kernel_attributes}, {"occupancy", occupancy}, {"order", order},
    {"print", print},
    {"print_wrong", print_wrong}, {NULL, NULL}
};
