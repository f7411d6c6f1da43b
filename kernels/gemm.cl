/* SPDX-License-Identifier: Apache-2.0 */
/* C = A * B for square matrices. Each thread computes one element of C from global memory. */
__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int n)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    if (column >= n || row >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
