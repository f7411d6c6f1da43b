/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the length of each number's Collatz sequence, and the maximum: 64-bit integers, nested
 * divergence, an atomic maximum in global memory. */
__kernel void collatz(__global uint *length, __global uint *longest, uint n)
{
    uint i = get_global_id(0);

    if (i >= n)
        return;
    ulong x = i + 1;
    uint steps = 0;
    while (x != 1) {
        if (x % 2 == 0)
            x /= 2;
        else
            x = 3 * x + 1;
        steps++;
    }
    length[i] = steps;
    atomic_max(longest, steps);
}
