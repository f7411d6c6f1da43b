/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that leave their variable and reach another one, each with a correct counterpart. tests/check/bug_corpus/memory.cl
 * describes the format. The compiler chooses the order of variables in memory, so there is a variable on each
 * side.
 */
constant int weights[4] = {1, 2, 3, 4};

/* find: variable-bounds @1 0x80000000 */
kernel void past_a_tile_bad(global int *a, int n)
{
    local int front[128], tile[128], back[128];
    int i = get_local_id(0);
    front[i] = n;
    tile[i] = n;
    back[i] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[i + 1] = i;                               /* @1 */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        a[i] = tile[i] + front[i] + back[i];
}
kernel void past_a_tile_good(global int *a, int n)
{
    local int front[128], tile[132], back[128];
    int i = get_local_id(0);
    front[i] = n;
    tile[i] = n;
    back[i] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[i + 1] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        a[i] = tile[i + 1] + front[i] + back[i];
}

/* find: variable-bounds @2 0x00000003 */
kernel void before_a_tile_bad(global int *a, int n)
{
    local int front[128], tile[128], back[128];
    int i = get_local_id(0), sum = 0;
    front[i] = n;
    tile[i] = n;
    back[i] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = tile[i - 2];                             /* @2 */
    if (get_group_id(0) == 0)
        a[i] = sum + front[i] + back[i];
}
kernel void before_a_tile_good(global int *a, int n)
{
    local int front[128], tile[128], back[128];
    int i = get_local_id(0), sum = 0;
    front[i] = n;
    tile[i] = n;
    back[i] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = tile[i >= 2 ? i - 2 : 0];
    if (get_group_id(0) == 0)
        a[i] = sum + front[i] + back[i];
}

/* find: variable-bounds @3 0xffffffff */
kernel void column_as_row_bad(global int *a, int n)
{
    local int front[128], table[4][32], back[128];
    int i = get_local_id(0);
    front[i] = back[i] = table[i / 32][i % 32] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 32)
        atomic_add(&table[4][i], 1);               /* @3 */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        a[i] = table[i / 32][i % 32] + front[i] + back[i];
}
kernel void column_as_row_good(global int *a, int n)
{
    local int front[128], table[4][32], back[128];
    int i = get_local_id(0);
    front[i] = back[i] = table[i / 32][i % 32] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 32)
        atomic_add(&table[3][i], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        a[i] = table[i / 32][i % 32] + front[i] + back[i];
}
