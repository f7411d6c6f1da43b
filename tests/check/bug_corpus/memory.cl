/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with invalid accesses, each with a correct counterpart, for tests/check/test_zoo.sh. "find:" above a kernel
 * gives the first finding: its kind, the mark of its line, and its lanes. The kernels run with 2 blocks of 128 threads,
 * and a has n = 200 elements, which are zero.
 */

/* find: out-of-bounds @1 0xffffff00 */
kernel void grid_past_the_end_bad(global int *a, int n)
{
    int i = get_global_id(0);
    a[i] = i;                                      /* @1 */
}
kernel void grid_past_the_end_good(global int *a, int n)
{
    int i = get_global_id(0);
    if (i < n)
        a[i] = i;
}

/* find: out-of-bounds @2 0x00000080 */
kernel void neighbour_of_the_last_bad(global int *a, int n)
{
    int i = get_global_id(0), next = 0;
    if (i >= n / 2 && i < n)
        next = a[i + 1];                           /* @2 */
    if (i < n / 2)
        a[i] = next + 1;
}
kernel void neighbour_of_the_last_good(global int *a, int n)
{
    int i = get_global_id(0), next = 0;
    if (i >= n / 2 && i + 1 < n)
        next = a[i + 1];
    if (i < n / 2)
        a[i] = next + 1;
}

/* find: out-of-bounds @3 0x00000001 */
kernel void neighbour_of_the_first_bad(global int *a, int n)
{
    int i = get_global_id(0);
    if (i < n)
        atomic_add(&a[i - 1], 1);                  /* @3 */
}
kernel void neighbour_of_the_first_good(global int *a, int n)
{
    int i = get_global_id(0);
    if (i < n)
        atomic_add(&a[max(i - 1, 0)], 1);
}

/* find: out-of-bounds @4 0x80000000 */
kernel void tile_without_its_edge_bad(global int *a, int n)
{
    local int tile[128];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = tile[i + 1];                       /* @4 */
    if (get_group_id(0) == 0)
        a[i] = right;
}
kernel void tile_without_its_edge_good(global int *a, int n)
{
    local int tile[129];
    int i = get_local_id(0);
    tile[i] = i;
    if (i == 0)
        tile[128] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = tile[i + 1];
    if (get_group_id(0) == 0)
        a[i] = right;
}

/* find: out-of-bounds @5 0xffffffff */
kernel void private_array_bad(global int *a, int n)
{
    int p[16];
    for (int k = 0; k < 16; k++)
        p[k] = a[k];
    p[a[0] + 100000] = 1;                          /* @5 */
    if (get_global_id(0) == 0)
        a[150] = p[a[1]];
}
kernel void private_array_good(global int *a, int n)
{
    int p[16];
    for (int k = 0; k < 16; k++)
        p[k] = a[k];
    p[(a[0] + 100000) & 15] = 1;
    if (get_global_id(0) == 0)
        a[150] = p[a[1]];
}

/* find: null-access @6 0xffffffff */
kernel void pointer_in_memory_bad(global int *a, int n)
{
    global int *p = *(global int *global *)(a + 2 * (get_local_id(0) & 31));
    int x = *p;                                    /* @6 */
    if (x == 12345)
        a[0] = x;
}
kernel void pointer_in_memory_good(global int *a, int n)
{
    global int *p = *(global int *global *)(a + 2 * (get_local_id(0) & 31));
    int x = p == 0 ? 0 : *p;
    if (x == 12345)
        a[0] = x;
}

/* find: misaligned @7 0xffffffff */
kernel void one_byte_off_bad(global int *a, int n)
{
    int i = get_local_id(0);
    if (get_group_id(0) == 0)
        *(global int *)((global char *)(a + i) + 1) = i; /* @7 */
}
kernel void one_byte_off_good(global int *a, int n)
{
    int i = get_local_id(0);
    if (get_group_id(0) == 0)
        *(global int *)((global char *)(a + i) + 4) = i;
}

/* find: misaligned @8 0xaaaaaaaa */
kernel void long_at_an_int_bad(global int *a, int n)
{
    int i = get_local_id(0);
    long x = *(global long *)(a + i);              /* @8 */
    if (x != 0)
        a[i] = 7;
}
kernel void long_at_an_int_good(global int *a, int n)
{
    int i = get_local_id(0);
    long x = *(global long *)(a + i / 2 * 2);
    if (x != 0)
        a[i] = 7;
}

/* find: misaligned @9 0xaaaaaaaa */
kernel void long_in_a_tile_bad(global int *a, int n)
{
    local int tile[256];
    int i = get_local_id(0);
    tile[i] = tile[i + 128] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    long x = *(local long *)(tile + i);            /* @9 */
    if (get_group_id(0) == 0)
        a[i] = (int)(x >> 32) - (int)x;
}
kernel void long_in_a_tile_good(global int *a, int n)
{
    local int tile[256];
    int i = get_local_id(0);
    tile[i] = tile[i + 128] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    long x = *(local long *)(tile + 2 * i);
    if (get_group_id(0) == 0)
        a[i] = (int)(x >> 32) - (int)x;
}

/* The access is in a function called by a function, which -O3 inlines into the kernel.
 * find: out-of-bounds @10 0xff000000 */
int element(global int *a, int i)
{
    return a[i];                                   /* @10 */
}
int next_two(global int *a, int i)
{
    return element(a, i + 80) + 1;                 /* call of element */
}
kernel void helper_bad(global int *a, int n)
{
    int i = get_global_id(0);
    a[i % 128] = next_two(a, i);                   /* call of next_two */
}
kernel void helper_good(global int *a, int n)
{
    int i = get_global_id(0);
    if (get_group_id(0) == 0)
        a[i] = i + 1;
}
