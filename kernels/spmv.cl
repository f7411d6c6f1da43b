/* SPDX-License-Identifier: Apache-2.0 */
/* y = A * x for a sparse matrix in CSR format; each thread computes a row, of varying length. */
__kernel void spmv(__global const uint *row, __global const uint *column,
                   __global const float *value, __global const float *x, __global float *y,
                   uint n)
{
    uint i = get_global_id(0);

    if (i >= n)
        return;
    float sum = 0;
    for (uint e = row[i]; e < row[i + 1]; e++)
        sum += value[e] * x[column[e]];
    y[i] = sum;
}
