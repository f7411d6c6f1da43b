/* SPDX-License-Identifier: Apache-2.0 */
/* y = A * x for a matrix in CSR format with random columns in a band. Each thread computes a row, so lanes access
 * different cache lines. The numbers are integers, so that sums do not depend on the order. */
__kernel void banded(__global const uint *row, __global const uint *column, __global const uint *value,
                     __global const uint *x, __global uint *y, uint n)
{
    uint i = get_global_id(0);
    uint sum = 0;

    if (i >= n)
        return;
    for (uint e = row[i]; e < row[i + 1]; e++)
        sum += value[e] * x[column[e]];
    y[i] = sum;
}
