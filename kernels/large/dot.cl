/* SPDX-License-Identifier: Apache-2.0 */
/* Dot product modulo 2^32, one partial sum per thread: two arrays are read once, 16 bytes per thread and access. */
__kernel void dot_product(__global const uint4 *a, __global const uint4 *b, __global uint *out, uint n)
{
    uint4 sum = 0;

    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += a[i] * b[i];
    out[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;
}
