/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the elements' products, modulo 2^32, one a thread: two arrays read once, 16 bytes a thread at a time. */
__kernel void dot_product(__global const uint4 *a, __global const uint4 *b, __global uint *out, uint n)
{
    uint4 sum = 0;

    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += a[i] * b[i];
    out[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;
}
