/* SPDX-License-Identifier: Apache-2.0 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define FBITS(x) as_int((float)(x))
#define DBITS(x) as_long((double)(x))
#define SUM sum_of
#include "ops_sum.inc"

__kernel void ops(__global const int *in, __global int *out, int n)
{
    int i = get_global_id(0);

    if (i >= n)
        return;
    int a = in[i], b = in[n + i];
    long p = (long)in[2 * n + i] << 32 | (uint)in[3 * n + i];
    long q = (long)in[4 * n + i] << 32 | (uint)in[5 * n + i];
    float x = as_float(in[6 * n + i]), y = as_float(in[7 * n + i]);
    double u = (double)x * 1.25, v = (double)y * 0.75 + 3;
#define OP(k, e) out[k * n + i] = (e);
#include "ops.inc"
}
