/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers under branches that the threads of a block take differently. tests/check/bug_corpus/memory.cl describes the format. */

/* find: barrier-divergence @1 0x3ff */
extern "C" __global__ void some_lanes_bad(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    if (i < 10) {                                  /* branch of @1 */
        s[i] = i;
        __syncthreads();                           /* @1 */
    }
    a[i] = s[i % 10];
}
extern "C" __global__ void some_lanes_good(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    if (i < 10)
        s[i] = i;
    __syncthreads();
    a[i] = s[i % 10];
}

/* find: barrier-divergence @2 0xffffffff */
extern "C" __global__ void whole_warps_bad(int *a, int n)
{
    int i = threadIdx.x;
    if (i / 64 == 0)                               /* branch of @2 */
        __syncthreads();                           /* @2 */
    a[i] = 1;
}
extern "C" __global__ void whole_warps_good(int *a, int n)
{
    int i = threadIdx.x;
    if (blockIdx.x == 0)
        __syncthreads();
    a[i] = 1;
}

/* find: barrier-divergence @3 0xffffffff */
extern "C" __global__ void others_wait_later_bad(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    if (i < 64) {                                  /* branch of @3 */
        s[i] = i;
        __syncthreads();                           /* @3 */
        a[i + 1] = s[i ^ 1];
    }
    a[i] = i;
    __syncthreads();
    a[i] += 2;
}
/* no thread waits for threads that have ended, even if they took another branch before */
extern "C" __global__ void others_wait_later_good(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    s[i] = 0;
    if (i >= 120)
        return;
    if (n < 3) {
        a[i] = 4;
        return;
    }
    if (i >= 96) {
        a[i] = 9;
        return;
    }
    s[i] = i;
    __syncthreads();
    a[i] = s[i ^ 1];
    for (int k = 0; k < 3; k++) {
        __syncthreads();
        s[i] = a[i];
        __syncthreads();
        a[i] = s[i ^ 1];
        if (k == 1 && i >= 64)
            return;
    }
}

/* find: barrier-divergence @4 0xffffffff */
extern "C" __global__ void one_on_each_side_bad(int *a, int n)
{
    int i = threadIdx.x;
    if (i / 64 == 0) {                             /* branch of @4 */
        a[i] = 1;
        __syncthreads();                           /* @4 */
        a[i] = 3;
    } else {
        a[i] = 2;
        __syncthreads();
        a[i] = 5;
    }
    a[i] *= 7;
}
extern "C" __global__ void one_on_each_side_good(int *a, int n)
{
    int i = threadIdx.x;
    if (n / 64 == blockIdx.x) { /* all threads of a block take the same side */
        a[i] = 1;
        __syncthreads();
        a[i] = 3;
    } else {
        a[i] = 2;
        __syncthreads();
        a[i] = 5;
    }
    a[i] *= 7;
}

/* find: barrier-divergence @5 0xbdef7bde */
extern "C" __global__ void rounds_bad(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    for (int k = 0; k < i % 5; k++) {              /* branch of @5 */
        s[i] = k;
        __syncthreads();                           /* @5 */
        a[i] += s[i ^ 1];
    }
    a[i] += 1;
}
extern "C" __global__ void rounds_good(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    for (int o = 0; o < 3; o++) {
        for (int k = 0; k < 10; k++) { /* several iterations between two barriers */
            if (k % 4 == 3)
                __syncthreads();
            if (i < 10 + k)
                s[i] += k;
        }
        if (i < 30) /* the branch contains a barrier, which no thread reaches */
            for (int k = 0; k < i; k++) {
                a[i]++;
                if (n == k)
                    __syncthreads();
            }
        __syncthreads();
        for (int d = 64; d > 0; d /= 2) {
            if (i < d)
                s[i] += s[i + d];
            __syncthreads();
        }
    }
    a[i] += s[0];
}

/* find: barrier-divergence @6 0xffffffff */
extern "C" __global__ void another_round_bad(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    for (int k = 0; k < 5; k++) {
        if ((i / 64 + k) % 2)
            continue;
        s[i] = k;
        __syncthreads();                           /* @6 */
        a[i] += s[i ^ 1];
    }
    a[i] += 1;
}
extern "C" __global__ void another_round_good(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    for (int k = 0; k < 5; k++) {
        if ((n / 64 + k) % 2)
            continue;
        s[i] = k;
        __syncthreads();
        a[i] += s[i ^ 1];
    }
    a[i] += 1;
}

__device__ __noinline__ int exchange(int *s, int v)
{
    int i = threadIdx.x;
    s[i] = v;
    __syncthreads();                               /* @7 */
    v = s[i ^ 1];
    __syncthreads();
    return v;
}
/* find: barrier-divergence @7 0xaaaaaaaa */
extern "C" __global__ void in_a_function_bad(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x, v = 0;
    if (i & 1)                                     /* branch of @7 */
        v = exchange(s, i);
    a[i] = v;
}
extern "C" __global__ void in_a_function_good(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x, v = 0;
    if (n & 1)
        v = exchange(s, i);
    a[i] = v + exchange(s, i);
}

/* threads that return from a function do not end, so other threads wait for them */
__device__ __noinline__ void half(int *s, int *a)
{
    int i = threadIdx.x;
    if (i >= 32)                                   /* branch of @8 */
        return;
    s[i] = i;
    __syncthreads();                               /* @8 */
    a[i] = s[i ^ 1];
}
/* find: barrier-divergence @8 0xffffffff */
extern "C" __global__ void returned_bad(int *a, int n)
{
    __shared__ int s[128];
    half(s, a);
    a[threadIdx.x] += 1;
}
extern "C" __global__ void returned_good(int *a, int n)
{
    __shared__ int s[128];
    if (threadIdx.x >= 32)
        return;
    half(s, a);
    a[threadIdx.x] += 1;
}

/* find: barrier-divergence @9 0x3ff */
extern "C" __global__ void guarded_bad(int *a, int n)
{
    int i = threadIdx.x;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 10; @p bar.sync 0; }" :: "r"(i)); /* @9 */
    a[i] = 1;
}
/* at a barrier with a count, the program decides which threads arrive */
extern "C" __global__ void guarded_good(int *a, int n)
{
    int i = threadIdx.x;
    if (i < 64) {
        a[i] = 1;
        asm volatile("bar.sync 1, 64;");
        a[i] = 2;
    } else {
        a[i] = 3;
        asm volatile("bar.arrive 2, 128;");
    }
    if (i < 64)
        asm volatile("bar.sync 2, 128;");
    __syncthreads();
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 1000; @p bar.sync 0; }" :: "r"(n));
    a[i] += 1;
}

/* find: barrier-divergence @10 0xffffffff */
extern "C" __global__ void one_way_in_each_warp_bad(int *a, int n)
{
    __shared__ int count;
    int i = threadIdx.x;
    if (i == 0)
        count = 0;
    __syncthreads();
    if (atomicAdd(&count, 1) < 64)                 /* branch of @10 */
        __syncthreads();                           /* @10 */
    a[i] = 1;
}
extern "C" __global__ void one_way_in_each_warp_good(int *a, int n)
{
    __shared__ int count;
    int i = threadIdx.x;
    if (i == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    if (count >= 64)
        __syncthreads();
    a[i] = 1;
}

/* find: barrier-divergence @11 0xeeeeeeee */
extern "C" __global__ void rounds_under_a_branch_bad(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    s[i] = i;
    if (n > 0)
        for (int k = 0; k < i % 4 + 1; k++) {      /* branch of @11 */
            s[i] += k;
            __syncthreads();                       /* @11 */
        }
    a[i] = s[i ^ 1];
}
/* threads that end in a loop do not skip the barriers that other threads reach in later iterations */
extern "C" __global__ void rounds_under_a_branch_good(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    s[i] = i;
    for (int k = 0; k < 8; k++) {
        if (k % 2 == 1)
            __syncthreads();
        if (i == 5 + k)
            return;
        s[i] += k;
    }
    a[i] = s[i];
}

/* find: barrier-divergence @12 0xfffff */
extern "C" __global__ void under_two_branches_bad(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    s[i] = i;
    if (n > 0) {
        __syncthreads();
        if (i < 20) {                              /* branch of @12 */
            s[i] += 1;
            __syncthreads();                       /* @12 */
        }
    }
    a[i] = s[i];
}
extern "C" __global__ void under_two_branches_good(int *a, int n)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    s[i] = i;
    if (n > 0) {
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            if (i == k)
                return;
            s[i]++;
            __syncthreads();
            if (i == k + 40)
                return;
        }
        __syncthreads();
    }
    a[i] = s[i];
}

/* find: barrier-divergence @13 0x1 */
extern "C" __global__ void waits_alone_bad(int *a, int n)
{
    int i = threadIdx.x;
    for (int k = 0; k < n / 50; k++) {
        a[i] += k;
        __syncthreads();
        if (i == 0) {                              /* branch of @13 */
            while (atomicAdd(&a[128], 1) % 4 != 3) {
            }
            __syncthreads();                       /* @13 */
        }
        a[i] += 2;
    }
}
/* one thread waits in a loop between the barriers of each round, and the loop over the rounds ends the kernel */
extern "C" __global__ void waits_alone_good(int *a, int n)
{
    int i = threadIdx.x;
    for (int k = 0; k < n / 50; k++) {
        a[i] += k;
        __syncthreads();
        if (i == 0) {
            int now = atomicAdd(&a[128], 0);
            __threadfence();
            if (atomicAdd(&a[129], 1) == 2) {
                atomicExch(&a[129], 0);
                atomicAdd(&a[128], 1);
            } else {
                while (atomicAdd(&a[128], 0) == now && atomicAdd(&a[130], 1) % 4 != 3) {
                }
            }
            __threadfence();
        }
        __syncthreads();
    }
}

/* find: barrier-divergence @14 0xffffffff */
extern "C" __global__ void halves_bad(int *a, int n)
{
    __shared__ int s[128];
    unsigned i = threadIdx.x, d = 1;
    s[i] = n + i;
    __syncthreads();
    while (d < blockDim.x)
        d *= 2;
    for (d /= 2; d >= 32; d /= 2)
        if (i < d) {                               /* branch of @14 */
            s[i] += s[i + d];
            __syncthreads();                       /* @14 */
        }
    a[i] = s[0];
}
/* one branch of all threads controls each loop */
extern "C" __global__ void halves_good(int *a, int n)
{
    __shared__ int s[128];
    unsigned i = threadIdx.x, d = 1;
    s[i] = n + i;
    __syncthreads();
    while (d < blockDim.x)
        d *= 2;
    for (d /= 2; d != 0; d /= 2) {
        if (i < d && i + d < blockDim.x)
            s[i] += s[i + d];
        __syncthreads();
    }
    a[i] = s[0];
}
