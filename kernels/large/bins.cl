/* SPDX-License-Identifier: Apache-2.0 */
/* Histogram of 256 bins: a block counts in local memory, then adds its counts to the global histogram. */
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void bins(__global const uint *in, __global uint *out, uint n)
{
    __local uint count[256];
    uint me = get_local_id(0);

    count[me] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&count[in[i] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[me], count[me]);
}
