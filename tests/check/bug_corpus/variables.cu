/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as in tests/check/bug_corpus/variables.cl, in CUDA, with variables of the module
 */
__device__ int front[2048], counts[8], back[2048];
__constant__ int first[2048], weights[4], second[2048];

/* find: variable-bounds @1 0x80000000 */
extern "C" __global__ void past_a_tile_bad(int *a, int n)
{
    __shared__ int before[128], tile[128], after[128];
    int i = threadIdx.x;
    before[i] = n;
    tile[i] = n;
    after[i] = n;
    __syncthreads();
    tile[i + 1] = i;                               /* @1 */
    __syncthreads();
    if (blockIdx.x == 0)
        a[i] = tile[i] + before[i] + after[i];
}
extern "C" __global__ void past_a_tile_good(int *a, int n)
{
    __shared__ int before[128], tile[132], after[128];
    int i = threadIdx.x;
    before[i] = n;
    tile[i] = n;
    after[i] = n;
    __syncthreads();
    tile[i + 1] = i;
    __syncthreads();
    if (blockIdx.x == 0)
        a[i] = tile[i + 1] + before[i] + after[i];
}

/* find: variable-bounds @2 0x0000ffff */
extern "C" __global__ void dynamic_from_static_bad(int *a, int n)
{
    extern __shared__ int rest[];
    __shared__ int head[16];
    int i = threadIdx.x;
    rest[i] = n;
    head[i % 16] = i;
    __syncthreads();
    if (i < 16)
        a[i] += head[i + 16] + rest[i];            /* @2 */
}
extern "C" __global__ void dynamic_from_static_good(int *a, int n)
{
    extern __shared__ int rest[];
    __shared__ int head[32];
    int i = threadIdx.x;
    rest[i] = n;
    head[i % 32] = i;
    __syncthreads();
    if (i < 16)
        a[i] += head[i + 16] + rest[i];
}

/* find: variable-bounds @3 0xff000000 */
extern "C" __global__ void another_global_bad(int *a, int n)
{
    int i = threadIdx.x, k = i % 32 < 24 ? i % 8 : 1200 * (n / 100);
    front[i] = back[i] = n;
    counts[k] += i;                                /* @3 */
    a[i] = front[i] + back[i];
}
extern "C" __global__ void another_global_good(int *a, int n)
{
    int i = threadIdx.x, k = i % 8;
    front[i] = back[i] = n;
    counts[k] += i;
    a[i] = front[i] + back[i];
}

/* find: variable-bounds @4 0x0000ffff */
extern "C" __global__ void another_constant_bad(int *a, int n)
{
    int i = threadIdx.x, k = i % 32 < 16 ? 1200 * (n / 100) : i % 4;
    a[i] = first[i] + second[i] +
           weights[k];                             /* @4 */
}
extern "C" __global__ void another_constant_good(int *a, int n)
{
    int i = threadIdx.x, k = i % 4;
    a[i] = first[i] + second[i] +
           weights[k];
}
