/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers that do not match, and waits that do not end. tests/check/bug_corpus/memory.cl describes the format. */

/* find: barrier-divergence @1 0xffffffff */
extern "C" __global__ void half_of_the_block_waits_bad(int *a, int n)
{
    if (threadIdx.x < 64)
        __syncthreads();                           /* @1 */
    else
        asm volatile("bar.sync 1;");
    a[threadIdx.x] = 0;
}
extern "C" __global__ void half_of_the_block_waits_good(int *a, int n)
{
    __syncthreads();
    a[threadIdx.x] = 0;
}

/* find: cross-lane-mismatch @12 0xffff */
extern "C" __global__ void a_shuffle_on_each_side_bad(int *a, int n)
{
    int i = threadIdx.x % 32, v = 0;
    if (i < 16)
        v = __shfl_down_sync(0xffffffff, i, 16);   /* @12 */
    else
        v = __shfl_up_sync(0xffffffff, 2 * i, 16);
    a[threadIdx.x] = v;
}
extern "C" __global__ void a_shuffle_on_each_side_good(int *a, int n)
{
    int i = threadIdx.x % 32;
    int v = __shfl_down_sync(0xffffffff, i, 16), w = __shfl_up_sync(0xffffffff, 2 * i, 16);
    a[threadIdx.x] = i < 16 ? v : w;
}

/* find: cross-lane-exited @33 0x55555555 */
extern "C" __global__ void a_shuffle_in_a_branch_bad(int *a, int n)
{
    int i = threadIdx.x % 32, v = 7;
    if (i % 2 == 0)
        v = __shfl_xor_sync(0xffffffff, i, 2);     /* @33 */
    a[threadIdx.x] = v;
}
extern "C" __global__ void a_shuffle_in_a_branch_good(int *a, int n)
{
    int i = threadIdx.x % 32, v = 7;
    if (i % 2 == 0)
        v = __shfl_xor_sync(0x55555555, i, 2);
    a[threadIdx.x] = v;
}

/* find: cross-lane-exited @34 0xffff */
extern "C" __global__ void half_of_the_warp_synchronises_bad(int *a, int n)
{
    int v = 1;
    if (threadIdx.x % 32 < 16) {
        __syncwarp();                              /* @34 */
        v = 2;
    }
    a[threadIdx.x] = v;
}
extern "C" __global__ void half_of_the_warp_synchronises_good(int *a, int n)
{
    if (threadIdx.x % 32 >= 16)
        return;                                    /* lanes that have exited are not members of the mask */
    __syncwarp();
    a[threadIdx.x] = 2 + __popc(__ballot_sync(0xffffffff, 1));
}

/* find: barrier-count @2 0xffffffff */
extern "C" __global__ void two_counts_bad(int *a, int n)
{
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 96;");
    else
        asm volatile("bar.sync 1, 128;");          /* @2 */
    a[threadIdx.x] = 1;
}
extern "C" __global__ void two_counts_good(int *a, int n)
{
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    a[threadIdx.x] = 1;
}

/* find: warpsync-self @3 0xfffffffe */
extern "C" __global__ void mask_without_self_bad(int *a, int n)
{
    __syncwarp(1 + a[150]);                        /* @3 */
    a[threadIdx.x] = 1;
}
extern "C" __global__ void mask_without_self_good(int *a, int n)
{
    __syncwarp(0xffffffff + a[150]);
    a[threadIdx.x] = 1;
}

/* find: deadlock @4 0x0000ffff */
extern "C" __global__ void members_elsewhere_bad(int *a, int n)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(0xffffffff);                    /* @4 */
    else
        __syncwarp(0xffff0001);
    a[threadIdx.x] = 1;
}
extern "C" __global__ void members_elsewhere_good(int *a, int n)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(0x0000ffff);
    __syncthreads();
    a[threadIdx.x] = 1;
}

/* find: livelock @5 0xffffffff */
extern "C" __global__ void loop_without_end_bad(int *a, int n)
{
    volatile int i = 0;
    while (i < 10) i = i * n;                      /* @5 */
    a[threadIdx.x] = i;
}
extern "C" __global__ void loop_without_end_good(int *a, int n)
{
    volatile int i = 0;
    while (i < 10) i = i * n + 1;
    a[threadIdx.x] = i;
}

/* find: spin-wait @6 0xffffffff */
extern "C" __global__ void flag_nobody_sets_bad(int *a, int n)
{
    while (*(volatile int *)&a[150] == 0)          /* @6 */
        ;
    a[threadIdx.x] = 1;
}
extern "C" __global__ void flag_nobody_sets_good(int *a, int n)
{
    if (threadIdx.x == 0)
        atomicExch(&a[150], 1);
    while (*(volatile int *)&a[150] == 0)
        ;
    a[threadIdx.x] = 1;
}

/* find: spin-wait @13 0xffffffff */
extern "C" __global__ void ticket_nobody_gives_bad(int *a, int n)
{
    while (atomicCAS(&a[150], 1, 2) == 0)          /* @13 */
        ;
    a[threadIdx.x] = 1;
}
extern "C" __global__ void ticket_nobody_gives_good(int *a, int n)
{
    if (threadIdx.x == 0)
        atomicExch(&a[150], 1);
    while (atomicCAS(&a[150], 1, 2) == 0)
        ;
    a[threadIdx.x] = 1;
}

/* find: spin-wait @14 0xffffffff */
extern "C" __global__ void sum_nobody_makes_bad(int *a, int n)
{
    while (atomicAdd(&a[150], 0) == 0)             /* @14 */
        ;
    a[threadIdx.x] = 1;
}
extern "C" __global__ void sum_nobody_makes_good(int *a, int n)
{
    if (threadIdx.x == 0)
        atomicExch(&a[150], 1);
    while (atomicAdd(&a[150], 0) == 0)
        ;
    a[threadIdx.x] = 1;
}

/* find: spin-wait @15 0xffffffff */
extern "C" __global__ void bits_nobody_sets_bad(int *a, int n)
{
    __shared__ int bits;
    bits = 0;
    __syncthreads();
    while (atomicOr(&bits, 0) == 0)                /* @15 */
        ;
    a[threadIdx.x] = 1;
}
extern "C" __global__ void bits_nobody_sets_good(int *a, int n)
{
    __shared__ int bits;
    bits = 0;
    __syncthreads();
    atomicOr(&bits, 1);
    while (atomicOr(&bits, 0) == 0)
        ;
    a[threadIdx.x] = 1;
}
