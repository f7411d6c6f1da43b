/* SPDX-License-Identifier: Apache-2.0 */
/* Races in OpenCL, each with a twin that has none; as races.cu. */

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

/* The first tile is overwritten while others still read it.
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

/* Histogram in local memory, read before all have counted.
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
