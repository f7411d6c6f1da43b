/* SPDX-License-Identifier: Apache-2.0 */
/* Optimised code without debug values: parameters have locations, other variables have none. */
__kernel void scale(float alpha, __global float *y, uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = alpha * y[i]; /* scales */
}
