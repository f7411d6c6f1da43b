/* SPDX-License-Identifier: Apache-2.0 */
/* All warps reach the same line at the same time. */
__kernel void wait(__global int *out, int n)
{
    __local int tile[128];
    int lid = get_local_id(0);
    tile[lid] = lid * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = tile[127 - lid]; /* behind the barrier */
    out[get_global_id(0)] = v + n;
}
