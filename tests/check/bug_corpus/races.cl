/* SPDX-License-Identifier: Apache-2.0 */
/* Races in OpenCL, each with a counterpart that has none. races.cu describes the format. */

/* find: race @1a @1b 0xffffffff 0xffffffff */
kernel void tree_bad(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = t;                                  /* @1b */
    if (t < 64)
        s[t] += s[t + 64];                     /* @1a */
    barrier(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = s[t];
}
kernel void tree_good(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 64)
        s[t] += s[t + 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = s[t];
}

/* The tile is overwritten while other work-items still read it.
 * find: race @2a @2b 0xffffffff 0xffffffff */
kernel void tile_bad(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    int sum = 0;
    for (int k = 0; k < 2; k++) {
        s[t] = t + k;                          /* @2a */
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += s[t ^ 64];                      /* @2b */
    }
    g[get_global_id(0)] = sum;
}
kernel void tile_good(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    int sum = 0;
    for (int k = 0; k < 2; k++) {
        s[t] = t + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += s[t ^ 64];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    g[get_global_id(0)] = sum;
}

/* find: race @3a @3b 0xffffffff 0xffffffff */
kernel void fence_only_bad(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = t;                                  /* @3b */
    mem_fence(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = s[t ^ 32];                          /* @3a */
}
kernel void fence_only_good(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = s[t ^ 32];
}

/* find: race @4a @4a 0x1 0x1 */
kernel void counter_bad(global int *g)
{
    if (get_local_id(0) == 0)
        g[0] = g[0] + 1;                       /* @4a */
}
kernel void counter_good(global int *g)
{
    if (get_local_id(0) == 0)
        atomic_inc(&g[0]);
}

/* A histogram in local memory is read before all work-items have counted.
 * find: race @5a @5b 0xff 0x2aaa8 */
kernel void histogram_bad(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 32)
        atomic_inc(&s[t / 2 + 32]);            /* @5b */
    if (t >= 32 && t < 40)
        g[get_global_id(0)] = s[t + 1];                       /* @5a */
}
kernel void histogram_good(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 32)
        atomic_inc(&s[t / 2 + 32]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t >= 32 && t < 40)
        g[get_global_id(0)] = s[t + 1];
}

/* find: race @6a @6a 0xaaaaaaaa 0x55555555 */
kernel void half_word_bad(global uchar *c)
{
    if (get_group_id(0) == 0)
        c[get_local_id(0) / 2] = get_local_id(0); /* @6a */
}
kernel void half_word_good(global uchar *c)
{
    c[get_global_id(0)] = get_local_id(0);
}

/* A barrier orders only accesses to the memory that its flag names.
 * find: race @7a @7b 0xffffffff 0xffffffff */
kernel void local_flag_bad(global int *g)
{
    uint t = get_global_id(0);
    g[t] = t;                                  /* @7b */
    barrier(CLK_LOCAL_MEM_FENCE);              /* flag of @7 */
    g[1024 + t] = g[t ^ 64];                   /* @7a */
}
kernel void local_flag_good(global int *g)
{
    uint t = get_global_id(0);
    g[t] = t;
    barrier(CLK_GLOBAL_MEM_FENCE);
    g[1024 + t] = g[t ^ 64];
}

/* find: race @8a @8b 0xffffffff 0xffffffff */
kernel void global_flag_bad(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = t;                                  /* @8b */
    barrier(CLK_GLOBAL_MEM_FENCE);             /* flag of @8 */
    g[get_global_id(0)] = s[t ^ 64];           /* @8a */
}
kernel void global_flag_good(global int *g)
{
    local int s[128];
    uint t = get_local_id(0), i = get_global_id(0);
    s[t] = t;
    g[i] = t;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    g[1024 + i] = s[t ^ 64] + g[i ^ 64];
}

/* This holds for lanes of one warp, too. A later barrier with the flag orders the accesses before the one without.
 * find: race @9a @9b 0xffffffff 0xffffffff */
kernel void no_flag_bad(global int *g)
{
    local int s[128];
    uint t = get_local_id(0);
    s[t] = t;                                  /* @9b */
    barrier(0);                                /* flag of @9 */
    g[get_global_id(0)] = s[t ^ 1];            /* @9a */
}
kernel void no_flag_good(global int *g)
{
    local int s[128];
    uint t = get_local_id(0), i = get_global_id(0);
    s[t] = t;
    g[i] = t;
    barrier(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    g[1024 + i] = s[t ^ 1];
    barrier(CLK_GLOBAL_MEM_FENCE);
    g[2048 + i] = g[i ^ 64] + g[1024 + (i ^ 64)];
}

/* Atomics and fences can order the accesses that the barrier does not order.
 * find: race @10a @10b 0xffffffff 0xffffffff */
kernel void flag_in_a_loop_bad(global int *g)
{
    uint t = get_global_id(0);
    for (int k = 0; k < 3; k++) {
        g[t] = t + k;                          /* @10b */
        barrier(CLK_LOCAL_MEM_FENCE);          /* flag of @10 */
        g[1024 + t] += g[t ^ 64];              /* @10a */
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
kernel void flag_in_a_loop_good(global int *g)
{
    local int ready[128];
    uint i = get_local_id(0), t = get_global_id(0);
    ready[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    g[t] = t;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(&ready[i ^ 64]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (atomic_or(&ready[i], 0) != 0) {
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        g[1024 + t] = g[t ^ 64];
    }
    g[2048 + t] = t;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    g[3072 + t] = g[2048 + (t ^ 64)];
}

/* In OpenCL C volatile does not order accesses.
 * find: race @11a @11b 0xffffffff 0xffffffff */
kernel void volatile_local_bad(global int *g)
{
    local int s[128];
    volatile local int *v = s;
    uint t = get_local_id(0);
    v[t] = t;                                  /* @11b */
    g[get_global_id(0)] = v[t ^ 64];           /* @11a */
}
kernel void volatile_local_good(global int *g)
{
    local int s[128];
    volatile local int *v = s;
    uint t = get_local_id(0);
    v[t] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = v[t ^ 64];
}
