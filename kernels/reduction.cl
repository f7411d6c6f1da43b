/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sum of n numbers. Each block adds up its share and writes one partial sum; a second launch
 * of one block adds up the partial sums. Blocks may have any size: each step of the tree adds
 * the upper half to the lower half, and an odd middle element remains unchanged.
 */
__kernel void reduction(__global const float *in, __global float *out, __local float *share,
                        uint n)
{
    uint lane = get_local_id(0);
    float sum = 0;

    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    share[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint count = get_local_size(0); count > 1;) {
        uint keep = (count + 1) / 2;

        if (lane < count - keep)
            share[lane] += share[lane + keep];
        barrier(CLK_LOCAL_MEM_FENCE);
        count = keep;
    }
    if (lane == 0)
        out[get_group_id(0)] = share[0];
}
