/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invalid accesses in CUDA, with the heap, constants and pointers to any space. tests/check/bug_corpus/memory.cl
 * describes the format.
 */
struct node {
    node *next;
    int value;
};
__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* find: out-of-bounds @1 0xffffffff */
extern "C" __global__ void heap_too_small_bad(int *a, int n)
{
    int *p = (int *)malloc(4 * sizeof *p);
    for (int k = 0; k < 5; k++)
        p[k] = a[k];                               /* @1 */
    a[threadIdx.x] = p[a[0]];
    free(p);
}
extern "C" __global__ void heap_too_small_good(int *a, int n)
{
    int *p = (int *)malloc(5 * sizeof *p);
    for (int k = 0; k < 5; k++)
        p[k] = a[k];
    a[threadIdx.x] = p[a[0]];
    free(p);
}

/* find: use-after-free @2 0xffffffff */
extern "C" __global__ void freed_node_bad(int *a, int n)
{
    node *p = new node;
    p->next = 0;
    p->value = a[0];
    node *volatile keep = p;
    delete p;
    a[threadIdx.x] = keep->value;                  /* @2 */
}
extern "C" __global__ void freed_node_good(int *a, int n)
{
    node *p = new node;
    p->next = 0;
    p->value = a[0];
    node *volatile keep = p;
    a[threadIdx.x] = keep->value;
    delete p;
}

/* find: bad-free @3 0xffffffff */
extern "C" __global__ void freed_twice_bad(int *a, int n)
{
    void *volatile p = malloc(8);
    free(p);
    if (a[0] == 0)
        free(p);                                   /* @3 */
}
extern "C" __global__ void freed_twice_good(int *a, int n)
{
    void *volatile p = malloc(8);
    free(p);
    p = 0;
    if (a[0] == 0)
        free(p);
}

/* find: bad-free @4 0xffffffff */
extern "C" __global__ void inner_pointer_freed_bad(int *a, int n)
{
    volatile char *p = (volatile char *)malloc(64);
    *p = (char)a[0];
    free((char *)p + 16 + *p);                     /* @4 */
}
extern "C" __global__ void inner_pointer_freed_good(int *a, int n)
{
    volatile char *p = (volatile char *)malloc(64);
    *p = (char)a[0];
    free((char *)p + *p);
}

/* find: heap-leak @0 0x0 */
extern "C" __global__ void list_not_freed_bad(int *a, int n)
{
    node *p = 0;
    if (threadIdx.x == 5)
        for (int k = 0; k < 3; k++)
            p = new node{p, k};
    if (p != 0)
        a[0] = p->next->value;
}
extern "C" __global__ void list_not_freed_good(int *a, int n)
{
    node *p = 0;
    if (threadIdx.x == 5)
        for (int k = 0; k < 3; k++)
            p = new node{p, k};
    if (p != 0)
        a[0] = p->next->value;
    while (p != 0) {
        node *next = p->next;
        delete p;
        p = next;
    }
}

/* find: heap-leak @40 0x2 */
extern "C" __global__ void copy_not_freed_bad(int *a, int n)
{
    volatile int *p = (volatile int *)malloc(32); /* @40 */
    for (int i = 0; i < 8; i++)
        p[i] = a[i];
    a[threadIdx.x] = p[threadIdx.x % 8];
    if (threadIdx.x % 32 != 1)
        free((void *)p);
}
extern "C" __global__ void copy_not_freed_good(int *a, int n)
{
    volatile int *p = (volatile int *)malloc(32);
    for (int i = 0; i < 8; i++)
        p[i] = a[i];
    a[threadIdx.x] = p[threadIdx.x % 8];
    free((void *)p);
}

/* find: const-written @41 0xffffffff */
extern "C" __global__ void neighbour_read_bad(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        a[i] = __ldg(&a[i ^ 1]) + 1; /* @41 */
}
extern "C" __global__ void neighbour_read_good(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n / 2)
        a[i] = __ldg(&a[(i ^ 1) + n / 2]) + 1;
}

/* find: null-access @6 0xffffffff */
extern "C" __global__ void heap_exhausted_bad(int *a, int n)
{
    volatile int *p = (volatile int *)malloc((size_t)1 << (40 + a[0]));
    *p = 1;                                        /* @6 */
    a[1] = *p;
}
extern "C" __global__ void heap_exhausted_good(int *a, int n)
{
    volatile int *p = (volatile int *)malloc((size_t)1 << (40 + a[0]));
    if (p == 0)
        return;
    *p = 1;
    a[1] = *p;
}

/* find: read-only @7 0xffffffff */
extern "C" __global__ void constant_written_bad(int *a, int n)
{
    int *volatile p = const_cast<int *>(&table[a[0]]);
    *p = 9;                                        /* @7 */
}
extern "C" __global__ void constant_written_good(int *a, int n)
{
    const int *p = &table[a[0]];
    a[1] = *p;
}

/* find: out-of-bounds @8 0xfffff000 */
extern "C" __global__ void dynamic_shared_too_small_bad(int *a, int n)
{
    extern __shared__ int tile[];
    if (threadIdx.x < 32)
        tile[threadIdx.x + 116] = threadIdx.x;     /* @8 */
    __syncthreads();
    if (blockIdx.x == 0)
        a[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void dynamic_shared_too_small_good(int *a, int n)
{
    extern __shared__ int tile[];
    if (threadIdx.x < 32)
        tile[threadIdx.x + 96] = threadIdx.x;
    __syncthreads();
    if (blockIdx.x == 0)
        a[threadIdx.x] = tile[threadIdx.x];
}

/* find: out-of-bounds @9 0x00000010 */
__device__ __noinline__ static void put(int *where, int value)
{
    *where = value;                                /* @9 */
}
extern "C" __global__ void generic_into_shared_bad(int *a, int n)
{
    __shared__ int few[4];
    int i = threadIdx.x;
    if (i < 5)
        put(a[0] == 0 ? &few[i] : a, i);
    __syncthreads();
    a[0] = few[0];
}
extern "C" __global__ void generic_into_shared_good(int *a, int n)
{
    __shared__ int few[5];
    int i = threadIdx.x;
    if (i < 5)
        put(a[0] == 0 ? &few[i] : a, i);
    __syncthreads();
    a[0] = few[0];
}

/* find: out-of-bounds @10 0x00000100 */
extern "C" __global__ void atomic_behind_the_end_bad(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        atomicMax(&a[i], i);                       /* @10 */
}
extern "C" __global__ void atomic_behind_the_end_good(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMax(&a[i], i);
}

/* find: misaligned @11 0xaaaaaaaa */
extern "C" __global__ void double_at_a_float_bad(int *a, int n)
{
    double x = *(double *)(a + threadIdx.x);       /* @11 */
    if (x > 1)
        a[0] = 1;
}
extern "C" __global__ void double_at_a_float_good(int *a, int n)
{
    double x = *(double *)(a + threadIdx.x / 2 * 2);
    if (x > 1)
        a[0] = 1;
}
