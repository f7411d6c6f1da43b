/* SPDX-License-Identifier: Apache-2.0 */
/* C = A * B from global memory, one element per thread; integers modulo 2^32. */
__kernel void product(__global const uint *a, __global const uint *b, __global uint *c, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1);
    uint sum = 0;

    for (uint k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
