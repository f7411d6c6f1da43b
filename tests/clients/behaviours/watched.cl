/* SPDX-License-Identifier: Apache-2.0 */
/* One lane of the second warp writes while the first one waits. */
kernel void watched(global uint *out)
{
    uint id = get_local_id(0);

    if (id == 40)
        out[0] = 7; /* one lane writes */
    barrier(CLK_LOCAL_MEM_FENCE); /* all meet */
    out[id + 1] = id; /* after the barrier */
}
