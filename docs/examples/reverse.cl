// SPDX-License-Identifier: Apache-2.0
// Reverses the order of 64 numbers, through shared memory. The kernel has a bug: see docs/tutorial/first-check.md.
kernel void reverse(global const int *in, global int *out)
{
    local int tile[64];
    int i = get_local_id(0);

    tile[i] = in[i];
    // barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - i];
}
