/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inclusive prefix sums in three launches: each block scans its chunk tile by tile and writes
 * the chunk's sum; one block scans these sums; each block adds the sum of all earlier chunks.
 */
static uint scan_tile(__local uint *tile, uint value)
{
    uint lane = get_local_id(0), size = get_local_size(0);

    tile[lane] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < size; d *= 2) {
        uint other = lane >= d ? tile[lane - d] : 0;

        barrier(CLK_LOCAL_MEM_FENCE);
        value += other;
        tile[lane] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return value;
}

__kernel void scan_chunks(__global const uint *in, __global uint *out, __global uint *sums,
                          __local uint *tile, uint n, uint chunk)
{
    uint first = get_group_id(0) * chunk, end = min(first + chunk, n);
    uint lane = get_local_id(0), size = get_local_size(0), carry = 0;

    for (uint base = first; base < end; base += size) {
        uint i = base + lane;
        uint value = scan_tile(tile, i < end ? in[i] : 0) + carry;

        if (i < end)
            out[i] = value;
        carry += tile[size - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        sums[get_group_id(0)] = carry;
}

__kernel void scan_add(__global uint *out, __global const uint *sums, uint n, uint chunk)
{
    uint group = get_group_id(0), end = min((group + 1) * chunk, n);

    if (group == 0)
        return;
    for (uint i = group * chunk + get_local_id(0); i < end; i += get_local_size(0))
        out[i] += sums[group - 1];
}
