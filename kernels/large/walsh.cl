/* SPDX-License-Identifier: Apache-2.0 */
/* Walsh-Hadamard transform in place: each block transforms its own strip of global memory, and each pass reads the
 * results of the previous one. @strip: number of elements of a strip, a power of two. @pitch: distance from a strip to the
 * next, chosen so that the strips do not all use the same sets of a cache. */
__kernel void walsh(__global uint *data, uint strip, uint pitch)
{
    __global uint *mine = data + get_group_id(0) * pitch;

    for (uint half_size = 1; half_size < strip; half_size *= 2) {
        for (uint i = get_local_id(0); i < strip / 2; i += get_local_size(0)) {
            uint at = i / half_size * 2 * half_size + i % half_size;
            uint a = mine[at], b = mine[at + half_size];

            mine[at] = a + b;
            mine[at + half_size] = a - b;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
