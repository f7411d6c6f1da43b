/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread reads a table @count times, at an index that depends on the value read before. The table is as large as an
 * L1 cache. @mask: the number of its entries minus one. */
__kernel void lookup(__global const uint *table, __global uint *out, uint mask, uint count)
{
    uint i = get_global_id(0);
    uint at = i * 2654435761u >> 8, sum = 0;

    for (uint k = 0; k < count; k++) {
        uint value = table[at & mask];

        sum += value;
        at = at * 1664525u + value;
    }
    out[i] = sum;
}
