/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers that some lanes never reach, or instead of which they reach another barrier. memory.cl describes the format. */

/* find: barrier-mismatch @1 0xffffffff */
kernel void a_barrier_on_each_side_bad(global int *a, int n)
{
    local int t[128];
    int i = get_local_id(0);
    if (i < 64) {
        t[i] = i;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_group_id(0) == 0)
            a[i] = t[i + 64];
    } else {
        t[i] = 3 * i;
        barrier(CLK_LOCAL_MEM_FENCE);              /* @1 */
        if (get_group_id(0) == 0)
            a[i] = t[i - 64] + 1;
    }
}
kernel void a_barrier_on_each_side_good(global int *a, int n)
{
    local int t[128];
    int i = get_local_id(0);
    t[i] = i < 64 ? i : 3 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0)
        a[i] = i < 64 ? t[i + 64] : t[i - 64] + 1;
}

/* find: barrier-exited @2 0xffffffff */
kernel void early_return_bad(global int *a, int n)
{
    local int t[128];
    int i = get_global_id(0);
    if (i >= n)
        return;
    t[get_local_id(0)] = i;
    barrier(CLK_LOCAL_MEM_FENCE);                  /* @2 */
    a[i] = t[get_local_id(0) ^ 1];
}
kernel void early_return_good(global int *a, int n)
{
    local int t[128];
    int i = get_global_id(0);
    t[get_local_id(0)] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        a[i] = t[get_local_id(0) ^ 1];
}

/* find: barrier-exited @3 0xffffffff */
kernel void fewer_rounds_bad(global int *a, int n)
{
    local int t[128];
    int i = get_local_id(0);
    for (int k = 0; k <= i / 64; k++) {
        t[i] = i + k;
        barrier(CLK_LOCAL_MEM_FENCE);              /* @3 */
    }
    if (get_group_id(0) == 0)
        a[i] = t[i];
}
kernel void fewer_rounds_good(global int *a, int n)
{
    local int t[128];
    int i = get_local_id(0);
    for (int k = 0; k < 2; k++) {
        if (k <= i / 64)
            t[i] = i + k;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_group_id(0) == 0)
        a[i] = t[i];
}
