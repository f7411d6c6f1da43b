/* SPDX-License-Identifier: Apache-2.0 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
#define BITS(h) ((int)as_ushort((half)(h)))
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define NEG(a) (-(a))
#define LESS(a, b) ((a) < (b))
#define FLESS(a, b) ((a) < (b))
#define SAME(a, b) ((a) == (b))
#define CHOOSE(c, a, b) ((c) ? (a) : (b))
#define OF_FLOAT(f) convert_half_rte(f)
#define OF_INT(i) convert_half(i)
#define TO_FLOAT(a) convert_float2((half2)(a)).y
#define TO_INT(a) convert_int(a)
#define FBITS(f) as_int(f)
#define HALF(n) ((half)(n))

__kernel void halves(__global const int *in, __global int *out, int n)
{
    int i = get_global_id(0);

    if (i >= n)
        return;
    half x = as_half((ushort)in[i]), y = as_half((ushort)in[n + i]);
    float f = as_float(in[2 * n + i]);
    int k = in[3 * n + i];
#define OP(c, e) out[c * n + i] = (e);
#include "half.inc"
    half2 v = (half2)(x, y), w = (half2)(y, x);
    out[20 * n + i] = as_int(v + w);
    out[21 * n + i] = as_int(v * w - v);
}
