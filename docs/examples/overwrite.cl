// SPDX-License-Identifier: Apache-2.0
// out[i] = weight * (in[i - 1] + in[i]). The kernel has a bug: see README.md.
kernel void weigh(global const int *in, global int *out, int weight)
{
    local int tile[32], scale;
    int i = get_local_id(0), sum;

    if (i == 0) {
        tile[0] = 0;
        scale = weight;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[i + 1] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = tile[i] + tile[i + 1];
    out[i] = sum * scale;
}
