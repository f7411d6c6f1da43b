/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer chase, which leaves the GPU model mostly idle: one warp executes one load after the other. */
__kernel void chase(__global const int *next, __global int *out, int n)
{
    int p = get_global_id(0);

    for (int i = 0; i < n; i++)
        p = next[p];
    out[get_global_id(0)] = p;
}
