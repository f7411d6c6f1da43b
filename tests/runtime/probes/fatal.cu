/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of kernels that fail: the error, and what each later call returns. Each kind of failure is a group. */
#include "probe.h"

#include <assert.h>
#include <unistd.h>

__global__ void stores(int *p)
{
    *(volatile int *)p = 1;
}

__global__ void loads(int *p, int *to)
{
    *to = *(volatile int *)p;
}

__global__ void adds(int *p)
{
    atomicAdd(p, 1);
}

__global__ void traps(void)
{
    asm volatile("trap;");
}

__global__ void asserts(int n)
{
    assert(n == 7 && "seven");
}

__global__ void shared_store(unsigned offset)
{
    __shared__ int s[4];

    *(volatile int *)((char *)s + offset) = 1;
}

__global__ void generic_jump(int n)
{
    void (*f)(void) = (void (*)(void))(size_t)(n + 64);

    f();
}

__device__ __noinline__ int deep(int n)
{
    volatile int a[64];

    a[n & 63] = n;
    return n <= 0 ? a[0] : deep(n - 1) + a[n & 63];
}

__global__ void recursion(int n, int *to)
{
    *to = deep(n);
}

__global__ void fine(int *p)
{
    *p = 5;
}

static void after(const char *kind)
{
    char probe[100];
    int n = 3, *q = NULL, *a = NULL;
    S s = NULL;
    Z bytes, total;
    static char properties[4096];

#define AFTER(what, error) (snprintf(probe, sizeof probe, "%s: " what, kind), R(probe, error))
#define AFTER_NUMBER(what, number) (snprintf(probe, sizeof probe, "%s: " what, kind), N(probe, number))
    AFTER_NUMBER("synchronize", F("cudaDeviceSynchronize"));
    AFTER_NUMBER("peek", F("cudaPeekAtLastError"));
    AFTER_NUMBER("get", F("cudaGetLastError"));
    AFTER_NUMBER("get twice", F("cudaGetLastError"));
    AFTER("synchronize twice", F("cudaDeviceSynchronize"));
    AFTER("malloc", F("cudaMalloc", (void **)&q, Z(4)));
    AFTER("malloc host", F("cudaMallocHost", (void **)&q, Z(4)));
    AFTER("malloc managed", F("cudaMallocManaged", (void **)&q, Z(4), U(1)));
    AFTER("free null", F("cudaFree", nullptr));
    AFTER("free", F("cudaFree", (void *)&n));
    AFTER("copy", F("cudaMemcpy", (void *)&n, P(&n), Z(4), int(H2H)));
    AFTER("copy of 0 bytes", F("cudaMemcpy", (void *)&n, P(&n), Z(0), int(H2H)));
    AFTER("copy with kind 9", F("cudaMemcpy", (void *)&n, P(&n), Z(4), 9));
    AFTER("set", F("cudaMemset", (void *)a, 0, Z(4)));
    AFTER("memory info", F("cudaMemGetInfo", &bytes, &total));
    AFTER("create a stream", F("cudaStreamCreate", &s));
    AFTER("query the default stream", F("cudaStreamQuery", S(NULL)));
    AFTER("create an event", F("cudaEventCreate", &s));
    AFTER("get device", F("cudaGetDevice", &n));
    AFTER("set device", F("cudaSetDevice", 0));
    AFTER("set device 77", F("cudaSetDevice", 77));
    AFTER("device count", F("cudaGetDeviceCount", &n));
    AFTER("device properties", F("cudaGetDeviceProperties", (void *)properties, 0));
    AFTER("device attribute", F("cudaDeviceGetAttribute", &n, 1, 0));
    AFTER("limit", F("cudaDeviceGetLimit", &bytes, 0));
    AFTER("pointer attributes", F("cudaPointerGetAttributes", (void *)properties, P(&n)));
    AFTER("kernel attributes", F("cudaFuncGetAttributes", (void *)properties, P(fine)));
    AFTER("set kernel attribute", F("cudaFuncSetAttribute", P(fine), 8, 1024));
    AFTER("occupancy", F("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &n, P(fine), 32, Z(0)));
    AFTER("runtime version", F("cudaRuntimeGetVersion", &n));
    void *arguments[] = {&a};
    AFTER("launch again", F("cudaLaunchKernel", P(fine), size_of(1), size_of(1), (void **)arguments, Z(0), S(NULL)));
    AFTER("launch again with grid 0", F("cudaLaunchKernel", P(fine), size_of(0), size_of(1), (void **)arguments, Z(0), S(NULL)));
    AFTER("reset", F("cudaDeviceReset"));
    AFTER_NUMBER("get after reset", F("cudaGetLastError"));
    AFTER("malloc after reset", F("cudaMalloc", (void **)&a, Z(4)));
    AFTER("launch after reset", F("cudaLaunchKernel", P(fine), size_of(1), size_of(1), (void **)arguments, Z(0), S(NULL)));
    AFTER("synchronize after reset", F("cudaDeviceSynchronize"));
}

static int *memory(void)
{
    void *p = NULL;

    F("cudaMalloc", &p, Z(1024));
    return (int *)p;
}

/* All calls after these failures are probed. */
static void illegal_address(void)
{
    stores<<<1, 1>>>(NULL);
    N("illegal address: launch", F("cudaPeekAtLastError"));
    after("illegal address");
}

static void trap(void)
{
    traps<<<1, 1>>>();
    after("trap");
}

static void assertion(void)
{
    const char *text, *at;
    char message[600], probe[60];
    int count = 0;

    memory();
    catch_output(2);
    asserts<<<2, 2>>>(6);
    N("assertion: launch", F("cudaPeekAtLastError"));
    F("cudaDeviceSynchronize");
    text = take_output();
    for (at = text; (at = strstr(at, "fatal.cu:")) != NULL; at++) {
        /* the message without the folder of the source file and without the number of the line */
        snprintf(message, sizeof message, "%.*s", (int)strcspn(at, "\n"), at);
        if (strstr(message, "ssertion") == NULL)
            continue;
        for (char *c = message + 9; *c >= '0' && *c <= '9'; c++)
            *c = '#';
        snprintf(probe, sizeof probe, "assertion: message %d", ++count);
        T(probe, quoted(message));
    }
    after("assertion");
}

/* After these failures, only the error and the reset are probed. */
static void short_after(const char *kind)
{
    char probe[100];

    AFTER_NUMBER("launch", F("cudaPeekAtLastError"));
    AFTER_NUMBER("synchronize", F("cudaDeviceSynchronize"));
    AFTER_NUMBER("get", F("cudaGetLastError"));
    AFTER("synchronize twice", F("cudaDeviceSynchronize"));
    AFTER("reset", F("cudaDeviceReset"));
    AFTER("synchronize after reset", F("cudaDeviceSynchronize"));
}

static void far_address(void)
{
    stores<<<1, 1>>>((int *)0x123456789abc0ull);
    short_after("far address");
}

static void free_memory(void)
{
    int *p = memory(), *to = memory();
    void *large = NULL;

    F("cudaMalloc", &large, Z(64 << 20));
    F("cudaFree", large);
    (void)p;
    loads<<<1, 1>>>((int *)large, to);
    short_after("freed memory");
}

static void far_load(void)
{
    loads<<<1, 1>>>((int *)16, memory());
    short_after("load of address 16");
}

static void misaligned(void)
{
    stores<<<1, 1>>>((int *)((char *)memory() + 2));
    short_after("misaligned store");
}

static void misaligned_load(void)
{
    loads<<<1, 1>>>((int *)((char *)memory() + 1), memory());
    short_after("misaligned load");
}

static void misaligned_atomic(void)
{
    adds<<<1, 1>>>((int *)((char *)memory() + 2));
    short_after("misaligned atomic");
}

static void atomic_null(void)
{
    adds<<<1, 1>>>(NULL);
    short_after("atomic at null");
}

static void shared_far(void)
{
    shared_store<<<1, 1>>>(1 << 22);
    short_after("shared store far outside");
}

static void shared_misaligned(void)
{
    shared_store<<<1, 1>>>(1);
    short_after("misaligned shared store");
}

static void wrong_call(void)
{
    generic_jump<<<1, 1>>>(1 << 20);
    short_after("call of a wrong address");
}

static void host_pointer(void)
{
    int *p = (int *)malloc(4096);

    stores<<<1, 1>>>(p);
    short_after("store to memory of malloc()");
}

static void deep_recursion(void)
{
    recursion<<<1, 1>>>(100000, memory());
    short_after("deep recursion");
}

static void exit_while_failed(void)
{
    traps<<<1, 1>>>();
    F("cudaDeviceSynchronize");
    N("exit after a failure: free", F("cudaFree", nullptr));
}

/* Another process can use the device after one has failed. */
static void next_process(void)
{
    int *p = memory(), n = 0;

    fine<<<1, 1>>>(p);
    N("next process: copy", F("cudaMemcpy", (void *)&n, P(p), Z(4), int(D2H)));
    N("next process: value", n);
}

struct group fatal_groups[] = {
    {"illegal_address", illegal_address}, {"trap", trap}, {"assertion", assertion}, {"far_address", far_address},
    {"freed_memory", free_memory}, {"far_load", far_load}, {"misaligned", misaligned}, {"misaligned_load", misaligned_load},
    {"misaligned_atomic", misaligned_atomic}, {"atomic_null", atomic_null}, {"shared_far", shared_far},
    {"shared_misaligned", shared_misaligned}, {"wrong_call", wrong_call}, {"host_pointer", host_pointer},
    {"deep_recursion", deep_recursion}, {"exit_while_failed", exit_while_failed}, {"next_process", next_process}, {NULL, NULL}
};
