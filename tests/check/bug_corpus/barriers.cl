/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers under branches that the work-items of a work-group take differently. memory.cl describes the format. */

/* find: barrier-divergence @1 0x3ff */
kernel void some_items_bad(global int *a, int n)
{
    local int s[128];
    int i = get_local_id(0);
    if (i < 10) {                                  /* branch of @1 */
        s[i] = i;
        barrier(CLK_LOCAL_MEM_FENCE);              /* @1 */
    }
    a[i] = s[i % 10];
}
kernel void some_items_good(global int *a, int n)
{
    local int s[128];
    int i = get_local_id(0);
    if (i < 10)
        s[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = s[i % 10];
}

/* find: barrier-divergence @2 0xffffffff */
kernel void one_on_each_side_bad(global int *a, int n)
{
    local int t[128];
    int i = get_local_id(0);
    if (i < 64) {                                  /* branch of @2 */
        t[i] = i;
        barrier(CLK_LOCAL_MEM_FENCE);              /* @2 */
        if (get_group_id(0) == 0)
            a[i] = t[i + 64];
    } else {
        t[i] = 3 * i;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_group_id(0) == 0)
            a[i] = t[i - 64] + 1;
    }
}
kernel void one_on_each_side_good(global int *a, int n)
{
    local int t[128];
    int i = get_local_id(0);
    if (get_group_id(0) == 0) {
        t[i] = i;
        barrier(CLK_LOCAL_MEM_FENCE);
        a[i] = t[i ^ 64];
    } else {
        t[i] = 3 * i;
        barrier(CLK_LOCAL_MEM_FENCE);
        a[i] = t[i ^ 64] + 1;
    }
}

static __attribute__((noinline)) int exchange(local int *s, int v)
{
    int i = get_local_id(0);
    s[i] = v;
    barrier(CLK_LOCAL_MEM_FENCE);                  /* @3 */
    v = s[i ^ 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return v;
}
/* find: barrier-divergence @3 0xaaaaaaaa */
kernel void in_a_function_bad(global int *a, int n)
{
    local int s[128];
    int i = get_local_id(0), v = 0;
    if (i & 1)                                     /* branch of @3 */
        v = exchange(s, i);
    a[i] = v;
}
kernel void in_a_function_good(global int *a, int n)
{
    local int s[128];
    int i = get_local_id(0), v = 0;
    for (int k = 0; k < n % 7; k++)
        v += exchange(s, i);
    a[i] = v;
}
