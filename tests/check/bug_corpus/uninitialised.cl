/* SPDX-License-Identifier: Apache-2.0 */
/* Uninitialised values in OpenCL, each kernel with a correct counterpart. The kernels run with 2 blocks of 64 work-items. g has
 * 128 elements that the host filled, in 128 with their own index, and raw 128 that are not filled. "find:" above a kernel
 * gives the finding: its kind, the mark of its line, and the lanes when it first occurs. */

/* find: uninitialised-branch @1 0x20 */
kernel void hole_bad(global int *g, global int *in, global int *raw)
{
    local int s[64];
    int t = get_local_id(0);
    if (t != 4)
        s[t] = in[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (s[t ^ 1] > 9)                    /* @1 */
        g[get_global_id(0) / 2 * 2] = in[t];
}
kernel void hole_good(global int *g, global int *in, global int *raw)
{
    local int s[64];
    int t = get_local_id(0);
    s[t] = t != 4 ? in[t] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (s[t ^ 1] > 9)
        g[get_global_id(0) / 2 * 2] = in[t];
}

/* find: uninitialised-address @2 0xffffffff */
kernel void index_bad(global int *g, global int *in, global int *raw)
{
    g[raw[get_global_id(0)] & 127] = 1; /* @2 */
}
kernel void index_good(global int *g, global int *in, global int *raw)
{
    raw[get_global_id(0)] = in[get_global_id(0)];
    g[raw[get_global_id(0)] & 127] = 1;
}

/* find: uninitialised-address @3 0xffffffff */
kernel void copied_index_bad(global int *g, global int *in, global int *raw)
{
    local int s[64];
    int t = get_local_id(0);
    s[t] = raw[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    g[in[s[63 - t] & 63]] = t; /* @3 */
}
kernel void copied_index_good(global int *g, global int *in, global int *raw)
{
    local int s[64];
    int t = get_local_id(0);
    s[t] = in[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    g[in[s[63 - t] & 63]] = t;
}

/* find: uninitialised-atomic @4 0xffffffff */
kernel void sum_bad(global int *g, global int *in, global int *raw)
{
    local int sum;
    atomic_add(&sum, in[get_local_id(0)]); /* @4 */
    barrier(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = get_local_id(0);
}
kernel void sum_good(global int *g, global int *in, global int *raw)
{
    local int sum;
    if (get_local_id(0) == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, in[get_local_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = sum;
}

/* find: uninitialised-atomic @5 0xffffffff */
kernel void count_bad(global int *g, global int *in, global int *raw)
{
    atomic_add(&raw[in[get_global_id(0)]], 1); /* @5 */
}
kernel void count_good(global int *g, global int *in, global int *raw)
{
    raw[in[get_global_id(0)]] = 0;
    atomic_add(&raw[in[get_global_id(0)]], 1);
}

/* find: uninitialised-branch @6 0xffffffff */
kernel void private_bad(global int *g, global int *in, global int *raw)
{
    int t[8];
    int i = get_global_id(0);
    for (int k = 0; k < 7; k++)
        t[(in[i] + k) & 7] = k;
    if (t[(in[i] + 7) & 7] == 3)         /* @6 */
        g[i] = in[i] * 2;
}
kernel void private_good(global int *g, global int *in, global int *raw)
{
    int t[8];
    int i = get_global_id(0);
    for (int k = 0; k < 8; k++)
        t[(in[i] + k) & 7] = k;
    if (t[(in[i] + 7) & 7] == 3)
        g[i] = in[i] * 2;
}

/* One byte of a word is read uninitialised; other bytes of the word are written.
 * find: uninitialised-branch @7 0xffffffff */
kernel void byte_bad(global int *g, global int *in, global int *raw)
{
    global char *c = (global char *)raw + 4 * get_global_id(0);
    c[0] = 1;
    c[1] = 2;
    c[3] = 3;
    if ((*(volatile global int *)c & 0x10000) != 0) /* @7 */
        g[get_global_id(0)] = in[1];
}
kernel void byte_good(global int *g, global int *in, global int *raw)
{
    global char *c = (global char *)raw + 4 * get_global_id(0);
    c[0] = 1;
    c[1] = 2;
    c[3] = 3;
    if ((*(volatile global int *)c & 0x100) != 0) /* the tested bit is in a byte that was written */
        g[get_global_id(0)] = in[1];
}

/* find: uninitialised-output raw - */
kernel void output_bad(global int *g, global int *in, global int *raw)
{
    g[get_global_id(0)] = raw[get_global_id(0)] + in[get_global_id(0)];
}
kernel void output_good(global int *g, global int *in, global int *raw)
{
    raw[get_global_id(0)] = 3;
    g[get_global_id(0)] = raw[get_global_id(0)] + in[get_global_id(0)];
}

/* find: uninitialised-output @30 0x1 */
kernel void printed_bad(global int *g, global int *in, global int *raw)
{
    if (get_global_id(0) == 0)
        printf("%5d %.*f %s\n", in[1], 2, (float)raw[7], "of it"); /* @30 */
}
kernel void printed_good(global int *g, global int *in, global int *raw)
{
    if (get_global_id(0) == 0)
        printf("%5d %.*f %s\n", in[1], 2, (float)in[7], "of it");
}
