/* SPDX-License-Identifier: Apache-2.0 */
/* Counts byte values in a histogram for each block, and then adds this histogram to the global histogram. */
#define BINS 256

__kernel void histogram(__global const uint *data, __global uint *bins, uint n)
{
    __local uint mine[BINS];

    for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
        mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[data[i] & (BINS - 1)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < BINS; i += get_local_size(0)) {
        if (mine[i] != 0)
            atomic_add(&bins[i], mine[i]);
    }
}
