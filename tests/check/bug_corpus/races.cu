/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races, each with a counterpart that has none, for tests/check/test_races.sh. A line "find:" above a kernel gives
 * the finding: its kind, the marks of the lines of both accesses, and their lanes.
 */
#define LANE (threadIdx.x & 31)
#define WARP (threadIdx.x >> 5)
#define MINE g[blockIdx.x * blockDim.x + threadIdx.x]

/* find: race @1a @1b 0xffffffff 0xffffffff */
extern "C" __global__ void load_behind_store_bad(int *g)
{
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;              /* @1b */
    MINE = s[threadIdx.x ^ 32];      /* @1a */
}
extern "C" __global__ void load_behind_store_good(int *g)
{
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    MINE = s[threadIdx.x ^ 32];
}

/* find: race @2a @2b 0xffffffff 0xffffffff */
extern "C" __global__ void store_behind_load_bad(int *g)
{
    __shared__ int s[128];
    int sum = 0;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    sum += s[threadIdx.x ^ 32];                /* @2b */
    s[threadIdx.x] = sum;                      /* @2a */
    __syncthreads();
    MINE = s[threadIdx.x];
}
extern "C" __global__ void store_behind_load_good(int *g)
{
    __shared__ int s[128];
    int sum = 0;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    sum += s[threadIdx.x ^ 32];
    __syncthreads();
    s[threadIdx.x] = sum;
    __syncthreads();
    MINE = s[threadIdx.x];
}

/* find: race @3a @3a 0xfffffffe 0x7fffffff */
extern "C" __global__ void same_place_bad(int *g)
{
    if (blockIdx.x != 0)
        return;
    if (WARP == 0)
        g[0] = threadIdx.x;                    /* @3a */
}
extern "C" __global__ void same_place_good(int *g)
{
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 31)
        g[0] = threadIdx.x;
}

/* find: race @4a @4a 0x1 0x1 */
extern "C" __global__ void blocks_bad(int *g)
{
    if (threadIdx.x == 0)
        g[0] = blockIdx.x + 1;                 /* @4a */
}
extern "C" __global__ void blocks_good(int *g)
{
    if (threadIdx.x == 0)
        g[blockIdx.x] = blockIdx.x + 1;
}

/* find: race @5a @5b 0x1 0x1 */
extern "C" __global__ void neighbour_bad(int *g)
{
    if (threadIdx.x != 0)
        return;
    int old = g[(blockIdx.x + 1) % gridDim.x]; /* @5b */
    g[blockIdx.x] = old + blockIdx.x + 1;      /* @5a */
}
extern "C" __global__ void neighbour_good(int *g)
{
    if (threadIdx.x != 0)
        return;
    int old = g[(blockIdx.x + 1) % gridDim.x];
    g[64 + blockIdx.x] = old + blockIdx.x + 1;
}

/* find: warp-synchronous @6a @6b 0xffffffff 0xffffffff */
extern "C" __global__ void lockstep_bad(int *g)
{
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;              /* @6b */
    MINE = s[threadIdx.x ^ 1];       /* @6a */
}
extern "C" __global__ void lockstep_good(int *g)
{
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    MINE = s[threadIdx.x ^ 1];
}

/* find: warp-synchronous @7a @7b 0xffff 0xffff0000 */
extern "C" __global__ void half_warp_bad(int *g)
{
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;              /* @7b */
    __syncwarp(LANE < 16 ? 0xffff : 0xffff0000);
    MINE = LANE < 16 ? s[threadIdx.x + 16] : 0; /* @7a */
}
extern "C" __global__ void half_warp_good(int *g)
{
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp(LANE < 16 ? 0xffff : 0xffff0000);
    MINE = LANE < 16 ? s[threadIdx.x ^ 8] : 0;
}

/* find: race @8a @8b 0x1 0x1 */
extern "C" __global__ void third_warp_bad(int *g)
{
    __shared__ int s;
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 0)
        s = g[0] + 1;                          /* @8b */
    if (WARP < 2)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    if (threadIdx.x == 64)
        g[1] = s;                              /* @8a */
}
extern "C" __global__ void third_warp_good(int *g)
{
    __shared__ int s;
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 0)
        s = g[0] + 1;
    if (WARP < 2)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    if (threadIdx.x == 32)
        g[1] = s;
}

/* find: race @9a @9b 0x1 0x1 */
extern "C" __global__ void producer_bad(int *g)
{
    __shared__ int s;
    if (blockIdx.x != 0)
        return;
    if (WARP == 0) {
        if (LANE == 0)
            s = 7;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        if (LANE == 0)
            s = 8;                             /* @9b */
    } else if (WARP == 1) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (LANE == 0)
            g[0] = s;                          /* @9a */
    }
}
extern "C" __global__ void producer_good(int *g)
{
    __shared__ int s;
    if (blockIdx.x != 0)
        return;
    if (WARP == 0) {
        if (LANE == 0)
            s = 7;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
        if (LANE == 0)
            s = 8;
    } else if (WARP == 1) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (LANE == 0)
            g[0] = s;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
}

/* find: race @10a @10b 0x1 0x1 */
extern "C" __global__ void atomic_and_load_bad(int *g)
{
    if (threadIdx.x == 0 && blockIdx.x != 0)
        atomicAdd(&g[0], 3);                   /* @10a */
    if (threadIdx.x == 0 && blockIdx.x == 0)
        g[1] = g[0];                           /* @10b */
}
extern "C" __global__ void atomic_and_load_good(int *g)
{
    if (threadIdx.x == 0 && blockIdx.x != 0)
        atomicAdd(&g[0], 3);
    if (threadIdx.x == 0 && blockIdx.x == 0)
        g[1] = atomicAdd(&g[0], 0);
}

/* find: atomic-scope @11a @11a 0x1 0x1 */
extern "C" __global__ void scope_bad(int *g)
{
    if (threadIdx.x == 0)
        atomicAdd_block(&g[0], 1);             /* @11a */
}
extern "C" __global__ void scope_good(int *g)
{
    atomicAdd_block(&g[blockIdx.x], 1);
    atomicAdd(&g[64], 1);
}

/* find: race @12a @12b 0x1 0x1 */
extern "C" __global__ void no_fence_bad(int *g)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        g[0] = 5;                              /* @12b */
        atomicExch(&g[1], 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(&g[1], 0) == 0)
            ;
        __threadfence();
        g[2] = g[0];                           /* @12a */
    }
}
extern "C" __global__ void no_fence_good(int *g)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        g[0] = 5;
        __threadfence();
        atomicExch(&g[1], 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(&g[1], 0) == 0)
            ;
        __threadfence();
        g[2] = g[0];
    }
}

/* find: race @13a @13b 0x1 0x1 */
extern "C" __global__ void small_fence_bad(int *g)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        g[0] = 5;                              /* @13b */
        __threadfence_block();
        atomicExch(&g[1], 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(&g[1], 0) == 0)
            ;
        __threadfence();
        g[2] = g[0];                           /* @13a */
    }
}
extern "C" __global__ void small_fence_good(int *g)
{
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 0) {
        g[0] = 5;
        __threadfence_block();
        atomicExch(&g[1], 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&g[1], 0) == 0)
            ;
        __threadfence_block();
        g[2] = g[0];
    }
}

/* find: missing-acquire @14a @14b 0x1 0x1 */
extern "C" __global__ void relaxed_flag_bad(int *g)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        g[0] = 5;                              /* @14b */
        __threadfence();
        atomicExch(&g[1], 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(&g[1], 0) == 0)
            ;
        g[2] = g[0];                           /* @14a */
    }
}
extern "C" __global__ void relaxed_flag_good(int *g)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        g[0] = 5;
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(&g[1]) : "memory");
    } else if (blockIdx.x == 1) {
        int seen;
        do
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&g[1]) : "memory");
        while (seen == 0);
        g[2] = g[0];
    }
}

/* find: race @15a @15a 0x1 0x1 */
extern "C" __global__ void lock_bad(int *g)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&g[1], 0, 1) != 0)
        ;
    __threadfence();
    g[0] += blockIdx.x + 1;                    /* @15a */
    atomicExch(&g[1], 0);
}
extern "C" __global__ void lock_good(int *g)
{
    if (LANE >= 4)
        return;
    for (bool done = false; !done;)
        if (atomicCAS(&g[1], 0, 1) == 0) {
            __threadfence();
            g[0] += blockIdx.x + 1;
            __threadfence();
            atomicExch(&g[1], 0);
            done = true;
        }
}

/* find: race @16a @16b 0x1 0x1 */
extern "C" __global__ void last_block_bad(int *g)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        g[1 + blockIdx.x] = blockIdx.x + 5;    /* @16b */
        last = atomicAdd(&g[0], 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 32)
        g[64] = g[1];                          /* @16a */
}
extern "C" __global__ void last_block_good(int *g)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        g[1 + blockIdx.x] = blockIdx.x + 5;
        __threadfence();
        last = atomicAdd(&g[0], 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 32)
        g[64] = g[1] + g[2];
}

/* find: race @17a @17a 0xaaaaaaaa 0x55555555 */
extern "C" __global__ void bytes_bad(char *c)
{
    if (blockIdx.x == 0)
        ((short *)c)[threadIdx.x / 2] = threadIdx.x; /* @17a */
}
extern "C" __global__ void bytes_good(char *c)
{
    c[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

/* find: benign-race @18a @18a 0xfffffffe 0x7fffffff */
extern "C" __global__ void found_bad(int *g)
{
    if (WARP == 0 && blockIdx.x == 0)
        g[0] = 1;                              /* @18a */
}
extern "C" __global__ void found_good(int *g)
{
    atomicOr(&g[0], 1);
}

/* A barrier of all blocks at g[0], of which one part may be missing. find: race @19a @19b 0x1 0x1 */
__device__ static void meet(int *g, int count, bool fences)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        if (fences)
            __threadfence();
        atomicAdd(&g[0], 1);
        while (atomicAdd(&g[0], 0) < count)
            ;
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void grid_bad(int *g)
{
    int *mine = &g[1 + blockIdx.x], *next = &g[1 + (blockIdx.x + 1) % gridDim.x];
    if (threadIdx.x == 32)
        *mine = 1;                             /* @19b */
    meet(g, gridDim.x, false);
    if (threadIdx.x == 64)
        g[64 + blockIdx.x] = *next;            /* @19a */
}
extern "C" __global__ void grid_good(int *g)
{
    int *mine = &g[1 + blockIdx.x], *next = &g[1 + (blockIdx.x + 1) % gridDim.x];
    if (threadIdx.x == 32)
        *mine = 1;
    meet(g, gridDim.x, true);
    if (threadIdx.x == 64)
        g[64 + blockIdx.x] = *next + g[1];
    meet(g, 2 * gridDim.x, true);
    if (threadIdx.x == 96 && blockIdx.x == 1)
        g[1] = 2;
}

/* find: warp-synchronous @20a @20a 0x3ffffffc 0xfffffff */
extern "C" __global__ void old_reduction_bad(int *g)
{
    __shared__ volatile int s[32];
    if (blockIdx.x != 0)
        return;
    if (WARP != 0)
        return;
    s[LANE] = LANE;
    __syncwarp();
    if (LANE < 30)
        s[LANE] = s[LANE] + s[LANE + 2];       /* @20a */
    __syncwarp();
    g[LANE] = s[LANE];
}
extern "C" __global__ void old_reduction_good(int *g)
{
    __shared__ volatile int s[32];
    if (blockIdx.x != 0)
        return;
    if (WARP != 0)
        return;
    s[LANE] = LANE;
    __syncwarp();
    int sum = LANE < 30 ? s[LANE] + s[LANE + 2] : s[LANE];
    __syncwarp();
    s[LANE] = sum;
    __syncwarp();
    g[LANE] = s[LANE ^ 1];
}

/* find: race @21a @21b 0x1 0x[cf]00 */
extern "C" __global__ void wide_bad(int *g)
{
    if (blockIdx.x != 0)
        return;
    if (WARP == 0)
        g[LANE] = LANE;                        /* @21b */
    if (threadIdx.x == 32)
        *(int4 *)&g[8] = make_int4(1, 2, 3, 4); /* @21a */
}
extern "C" __global__ void wide_good(int *g)
{
    if (blockIdx.x != 0)
        return;
    if (WARP == 0)
        g[LANE] = LANE;
    if (threadIdx.x == 32)
        *(int4 *)&g[32] = make_int4(1, 2, 3, 4);
}

/* find: volatile-race @22a @22a 0x1 0x1 */
extern "C" __global__ void volatile_bad(volatile int *g)
{
    if (threadIdx.x == 0)
        g[0] = blockIdx.x + 1;                 /* @22a */
}
extern "C" __global__ void volatile_good(volatile int *g)
{
    if (threadIdx.x == 0)
        g[blockIdx.x] = blockIdx.x + 1;
}

/* find: race @23a @23b 0x1 0x1 */
extern "C" __global__ void first_resets_bad(unsigned *g)
{
    if (threadIdx.x != 0)
        return;
    if (atomicAdd(&g[0], 1u) == 0)             /* @23a */
        g[0] = 0;                              /* @23b */
}
extern "C" __global__ void last_resets_good(unsigned *g)
{
    if (threadIdx.x != 0)
        return;
    if (atomicAdd(&g[0], 1u) == gridDim.x - 1)
        g[0] = 0;                              /* this block has read the additions of the other blocks */
    if (blockIdx.x == 0)
        atomicExch(&g[1], 1u);
    if (blockIdx.x != 1)
        return;
    unsigned seen;
    do
        asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(g + 1) : "memory");
    while (seen != 1);
    g[1] = 0;
}

/* find: warp-synchronous @24a @24b 0xffff 0xffff0000 */
extern "C" __global__ void ended_lanes_bad(int *g)
{
    __shared__ int s[128];
    if (LANE >= 16) {
        s[threadIdx.x] = threadIdx.x;          /* @24b */
        return;
    }
    __syncwarp(0xffff);
    MINE = s[threadIdx.x + 16];                /* @24a */
}
extern "C" __global__ void ended_lanes_good(int *g)
{
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (LANE >= 16)
        return;
    __syncwarp(0xffff);
    MINE = s[threadIdx.x + 16];
}

/* find: race @25a @25b 0xffff 0xffff0000 */
extern "C" __global__ void part_meets_bad(int *g)
{
    __shared__ int s[32];
    if (WARP == 0 && LANE >= 16)
        s[LANE] = LANE;                        /* @25b */
    else if (WARP < 2 && LANE < 16) {
        asm volatile("barrier.cta.sync 1, 32;" ::: "memory");
        if (WARP == 1)
            MINE = s[LANE + 16];               /* @25a */
    }
}
extern "C" __global__ void part_arrives_good(int *g)
{
    __shared__ int s[32];
    if (WARP != 0)
        return;
    if (LANE >= 16) {
        s[LANE] = LANE;
        asm volatile("barrier.cta.arrive 1, 32;" ::: "memory");
    } else {
        asm volatile("barrier.cta.sync 1, 32;" ::: "memory");
        MINE = s[LANE + 16];
    }
}

/* find: race @26a @26b 0xffffffff 0xffffffff */
extern "C" __global__ void ended_at_count_bad(int *g)
{
    __shared__ int s[32];
    if (WARP == 1) {
        s[LANE] = LANE;                        /* @26b */
        return;
    }
    asm volatile("bar.sync 1, 96;" ::: "memory");
    if (WARP == 2)
        MINE = s[LANE];                        /* @26a */
}
extern "C" __global__ void ended_at_count_good(int *g)
{
    __shared__ int s[32];
    if (WARP == 1) {
        s[LANE] = LANE;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        return;
    }
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (WARP == 2)
        MINE = s[LANE];
}

/* find: race @27a @27b 0xffffffff 0xffffffff */
extern "C" __global__ void clears_late_bad(int *g)
{
    __shared__ int s[32];
    if (WARP == 0)
        MINE = s[LANE];                        /* @27b */
    else if (WARP == 1)
        s[LANE] = 0;                           /* @27a */
}
extern "C" __global__ void clears_early_good(int *g)
{
    __shared__ int s[32];
    if (WARP == 1)
        s[LANE] = 0;
    __syncthreads();
    if (WARP == 0)
        MINE = s[LANE];
}

/* find: race @28a @28b 0x1 0xffffffff */
extern "C" __global__ void frees_early_bad(int *g)
{
    __shared__ int *s;
    if (threadIdx.x == 0)
        s = (int *)malloc(512);
    __syncthreads();
    s[threadIdx.x ^ 32] = threadIdx.x;         /* @28b */
    if (WARP != 0)
        __syncwarp();
    else if (LANE == 0)
        for (int i = 0; i < 400; i++)
            ((volatile int *)g)[blockIdx.x * 128] = i;
    if (threadIdx.x == 0)
        free(s);                               /* @28a */
}
extern "C" __global__ void frees_late_good(int *g)
{
    __shared__ int *s;
    if (threadIdx.x == 0)
        s = (int *)malloc(512);
    __syncthreads();
    s[threadIdx.x ^ 32] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        free(s);
}

/* find: race @29a @29b 0x1 0x1 */
extern "C" __global__ void two_sizes_bad(unsigned *g)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0)
        atomicAdd((unsigned long long *)g, 1ull);   /* @29b */
    else if (blockIdx.x == 1)
        atomicAdd(&g[1], 1u);                       /* @29a */
}
extern "C" __global__ void one_size_good(unsigned *g)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0)
        atomicAdd((unsigned long long *)g, 1ull);
    else if (blockIdx.x == 1)
        atomicAdd(&g[2], 1u);
}

/* find: volatile-race @30a @30b 0x1 0x2 */
extern "C" __global__ void waits_for_lane_bad(volatile int *g)
{
    __shared__ volatile int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 1)
        flag = 1;                              /* @30b */
    if (threadIdx.x == 0) {
        while (flag == 0)                      /* @30a */
            ;
        MINE = 1;
    }
}
extern "C" __global__ void waits_for_lane_good(volatile int *g)
{
    __shared__ unsigned flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 1)
        atomicExch(&flag, 1u);
    if (threadIdx.x == 0) {
        while (atomicAdd(&flag, 0u) == 0)
            ;
        MINE = 1;
    }
}

/* find: warp-synchronous @31a @31b 0x1 0x2 */
extern "C" __global__ void sums_lanes_bad(int *g)
{
    __shared__ volatile int s[128];
    int sum = 0;
    s[threadIdx.x] = threadIdx.x;              /* @31b */
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++)
            sum += s[i];                       /* @31a */
        MINE = sum;
    }
}
extern "C" __global__ void sums_lanes_good(int *g)
{
    __shared__ volatile int s[128];
    int sum = 0;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++)
            sum += s[i];
        MINE = sum;
    }
}
