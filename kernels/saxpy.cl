/* SPDX-License-Identifier: Apache-2.0 */
/* y = alpha * x + y in a grid-stride loop, for any size of grid and block. */
__kernel void saxpy(float alpha, __global const float *x, __global float *y, uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = alpha * x[i] + y[i];
}
