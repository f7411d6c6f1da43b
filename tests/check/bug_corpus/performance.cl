/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is slow. tests/check/bug_corpus/memory.cl describes the format; these findings have no lanes. */

/* find: uncoalesced @1 0x0 */
kernel void rows_by_lane_bad(global int *a, int n)
{
    int i = get_local_id(0) % 24, sum = 0;
    for (int k = 0; k < 8; k += 2)
        sum += a[i * 8 + k];                       /* @1 */
    a[i] = sum;
}
kernel void rows_by_lane_good(global int *a, int n)
{
    int i = get_local_id(0) % 24, sum = 0;
    for (int k = 0; k < 8; k += 2)
        sum += a[k * 24 + i];
    a[i] = sum;
}

/* find: uncoalesced @2 0x0 */
struct particle {
    int x, y, z, w, u, v, s, t;
};
kernel void array_of_structures_bad(global int *a, int n)
{
    int i = get_local_id(0) % 24;
    global struct particle *p = (global struct particle *)a;
    p[i].x = i;                                    /* @2 */
}
kernel void array_of_structures_good(global int *a, int n)
{
    int i = get_local_id(0) % 24;
    a[i] = i;
}

/* find: bank-conflict @3 0x0 */
kernel void column_of_a_tile_bad(global int *a, int n)
{
    local int tile[32 * 32];
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        tile[128 * k + i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = tile[i % 32 * 32 + i / 32];            /* @3 */
    if (get_group_id(0) == 0)
        a[i] = x;
}
kernel void column_of_a_tile_good(global int *a, int n)
{
    local int tile[32 * 33];
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        tile[128 * k + i] = i;
    if (i < 32)
        tile[1024 + i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = tile[i % 32 * 33 + i / 32];
    if (get_group_id(0) == 0)
        a[i] = x;
}

/* find: bank-conflict @4 0x0 */
kernel void every_other_word_bad(global int *a, int n)
{
    local int tile[256];
    int i = get_local_id(0);
    tile[i * 2] = i;                               /* @4 */
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        a[i] = tile[i / 2 * 2];
}
kernel void every_other_word_good(global int *a, int n)
{
    local int tile[256];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        a[i] = tile[i];
}

/* find: divergent-branch @5 0x0 */
kernel void odd_and_even_bad(global int *a, int n)
{
    int i = get_local_id(0);
    if (i & 1)                                     /* @5 */
        for (int k = 0; k < n; k++)
            a[i] = a[i] * 3 + k;
    else
        for (int k = 0; k < n; k++)
            a[i] = a[i] * 5 - k;
}
kernel void odd_and_even_good(global int *a, int n)
{
    int i = get_local_id(0);
    if (i & 32)
        for (int k = 0; k < n; k++)
            a[i] = a[i] * 3 + k;
    else
        for (int k = 0; k < n; k++)
            a[i] = a[i] * 5 - k;
}

/* find: local-traffic @6 0x0 */
kernel void index_known_late_bad(global int *a, int n)
{
    int p[16];
    for (int k = 0; k < 16; k++)
        p[k] = a[k] + k;
    if (get_group_id(0) == 0)
        a[get_local_id(0)] = p[(a[0] + get_local_id(0)) & 15]; /* @6 */
}
kernel void index_known_late_good(global int *a, int n)
{
    if (get_group_id(0) == 0)
        a[get_local_id(0)] = a[get_local_id(0)] + 1;
}
